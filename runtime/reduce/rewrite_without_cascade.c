/* rewrite_without_cascade.c - what goes of components, loops and arrays: what then dangles, and what must stay */
#include <string.h>

#include "rewrite_without_inside.h"

static bool
is_two_port_element(const flat_element *e)
{
    if ((e->type != EL_TF && e->type != EL_GY) || e->nports != 2)
        return false;
    for (int i = 0; i < e->node->nitems; i++)
        if (e->node->item[i].kind == AST_LAW_PORT)
            return false; /* a field: it stands with fewer bonds too */
    return true;
}

static void
thin(struct taking *t, uint32_t j)
{
    t->degree[j]--;
    if (!t->junction_gone[j])
        vec_push(&t->open, j);
}

static void
drop_element(struct taking *t, uint32_t e)
{
    const flat_element *x = &t->f->element.at[e];

    if (t->element_gone[e])
        return;
    t->element_gone[e] = true;
    for (uint32_t k = 0; k < x->nports; k++)
        thin(t, t->f->port.at[x->port0 + k].junction);
}

static void
drop_junction(struct taking *t, uint32_t j)
{
    const flat_junction *x = &t->f->junction.at[j];

    if (t->junction_gone[j])
        return;
    t->junction_gone[j] = true;
    for (uint32_t k = 0; k < x->ninc; k++) {
        const flat_incidence *i = &t->f->incidence.at[x->inc0 + k];

        if (i->is_bond) {
            const flat_bond *b = &t->f->bond.at[i->index];

            thin(t, b->from == j ? b->to : b->from);
        } else if (is_two_port_element(&t->f->element.at[t->f->port.at[i->index].element])) {
            drop_element(t, t->f->port.at[i->index].element);
        }
    }
}

/* As compiler/elaborate/without.c, in the flat model. The junction that incidence i of junction j leads to, straight or
 * through one two-port; NOBODY: none. *near: the two-port or bond is still there. *like: it adds up what this one's
 * bond has zero of. */
static uint32_t
leads_to(const struct taking *t, uint32_t j, uint32_t i, bool *near, bool *like)
{
    const flat_model *f = t->f;
    const flat_incidence *x = &f->incidence.at[f->junction.at[j].inc0 + i];
    bool turned = false;
    uint32_t far;

    if (x->is_bond) {
        far = f->bond.at[x->index].from == j ? f->bond.at[x->index].to : f->bond.at[x->index].from;
        *near = !t->junction_gone[far];
    } else {
        const flat_element *e = &f->element.at[f->port.at[x->index].element];

        *near = !t->element_gone[f->port.at[x->index].element];
        if (!is_two_port_element(e))
            return NOBODY;
        turned = e->type == EL_GY;
        far = f->port.at[e->port0 + (e->port0 == x->index)].junction;
    }
    if (f->junction.at[far].implicit)
        return NOBODY;
    *like = (f->junction.at[far].type == f->junction.at[j].type) != turned;
    return far;
}

static bool
may_go(const flat_junction *j)
{
    return !j->port && !j->implicit;
}

static bool
rests_alone(struct taking *t, uint32_t j)
{
    uint32_t n = t->f->junction.at[j].ninc;
    bool near, like;

    for (uint32_t i = 0; i < n && !t->looked[j]; i++) {
        uint32_t far = leads_to(t, j, i, &near, &like);

        if (near && far != NOBODY && !like && !t->junction_gone[far] && t->degree[far] == 1 &&
            may_go(&t->f->junction.at[far]))
            t->at_rest[j] = true;
    }
    t->looked[j] = true;
    for (; t->at_rest[j] && t->passed[j] < n; t->passed[j]++) {
        uint32_t far = leads_to(t, j, t->passed[j], &near, &like);

        if (near && (far == NOBODY || like))
            return false;
    }
    return t->at_rest[j];
}

static bool
dangles(struct taking *t, uint32_t j)
{
    const flat_junction *x = &t->f->junction.at[j];
    bool near, like;

    if (!may_go(x))
        return false;
    for (uint32_t i = 0; i < x->ninc && t->degree[j] == 1; i++) {
        uint32_t far = leads_to(t, j, i, &near, &like);

        if (!near || far == NOBODY)
            continue;
        if (like)
            return true;
        if (!t->at_rest[far] && may_go(&t->f->junction.at[far])) {
            t->at_rest[far] = true;
            vec_push(&t->open, far);
        }
    }
    return !t->degree[j] || rests_alone(t, j);
}

void
without_cascade(struct taking *t, const char *const *gone, size_t ngone)
{
    const flat_model *f = t->f;

    t->open.n = 0;
    memset(t->element_gone, 0, f->element.n * sizeof *t->element_gone);
    memset(t->junction_gone, 0, f->junction.n * sizeof *t->junction_gone);
    memset(t->at_rest, 0, f->junction.n * sizeof *t->at_rest);
    memset(t->looked, 0, f->junction.n * sizeof *t->looked);
    memset(t->passed, 0, f->junction.n * sizeof *t->passed);
    for (uint32_t j = 0; j < f->junction.n; j++)
        t->degree[j] = f->junction.at[j].ninc;
    for (size_t k = 0; k < ngone; k++) {
        uint32_t e = map_get(&t->element_of, map_ptr_key(gone[k])), j = map_get(&t->junction_of, map_ptr_key(gone[k]));

        if (e != MAP_NONE) {
            t->by_text[f->junction.n + e] = true;
            drop_element(t, e);
        } else if (j != MAP_NONE) {
            t->by_text[j] = true;
            drop_junction(t, j);
        }
    }
    t->open.n = 0; /* what dangles by that, the text's planner knows */
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (f->junction.at[j].thinned && !t->junction_gone[j])
            vec_push(&t->open, j);
    for (uint32_t e = 0; e < f->element.n; e++)
        if (t->wanted[e] != NOBODY)
            drop_element(t, e);
    while (t->open.n) {
        uint32_t j = t->open.at[--t->open.n];

        if (!t->junction_gone[j] && dangles(t, j))
            drop_junction(t, j);
    }
}

static void
block(struct taking *t, uint32_t e, span reader, const char *why)
{
    rewrite_block b = { t->f->element.at[e].name, reader, why };

    t->wanted[e] = NOBODY;
    t->clamped[e] = false;
    vec_push(&t->r->blocked, b);
}

void
without_block_named(struct taking *t)
{
    for (uint32_t e = 0; e < t->f->element.n; e++) {
        const flat_element *x = &t->f->element.at[e];
        char *base;
        uint32_t at;

        if (t->wanted[e] == NOBODY && !t->clamped[e])
            continue;
        at = map_get(&t->mentioned, map_ptr_key(x->name));
        if (at == MAP_NONE && t->mentioned_base.n) {
            base = bg_strdup(x->name);
            base[strcspn(base, ".[")] = 0;
            at = map_get(&t->mentioned_base, map_ptr_key(names_intern_z(t->f->names, base)));
            free(base);
        }
        if (x->read && !t->clamped[e]) /* its effort and flow stay; whether more is read, the compiler says */
            block(t, e, x->read_at, "it is read");
        else if (at != MAP_NONE)
            block(t, e, t->mention.at[at], "another experiment names it");
    }
}

/* The wanted element nearest to junction j among what went, the most important of those on one junction; NOBODY without
 * one. */
static uint32_t
holder(struct taking *t, uint32_t j, map *seen)
{
    const flat_model *f = t->f;
    uint32_t best = NOBODY;

    t->open.n = 0;
    vec_push(&t->open, j);
    map_set(seen, j, 1);
    for (size_t at = 0; at < t->open.n && best == NOBODY; at++) {
        const flat_junction *x = &f->junction.at[t->open.at[at]];

        for (uint32_t k = 0; k < x->ninc; k++) {
            const flat_incidence *i = &f->incidence.at[x->inc0 + k];
            uint32_t e = i->is_bond ? NOBODY : f->port.at[i->index].element;

            if (e != NOBODY && t->wanted[e] != NOBODY && (best == NOBODY || t->wanted[e] < t->wanted[best]))
                best = e;
            for (uint32_t p = 0; p < (e == NOBODY ? 2 : f->element.at[e].nports); p++) {
                uint32_t other = e == NOBODY ? (p ? f->bond.at[i->index].to : f->bond.at[i->index].from)
                                             : f->port.at[f->element.at[e].port0 + p].junction;

                if (t->junction_gone[other] && map_get(seen, other) == MAP_NONE) {
                    map_set(seen, other, 1);
                    vec_push(&t->open, other);
                }
            }
        }
    }
    return best;
}

/* The element that a bond without a junction joins to e, if it stays; else NOBODY. */
static uint32_t
stranded(const struct taking *t, uint32_t e)
{
    const flat_model *f = t->f;
    const flat_element *x = &f->element.at[e];

    for (uint32_t p = x->port0; p < x->port0 + x->nports; p++) {
        const flat_junction *j = &f->junction.at[f->port.at[p].junction];

        for (uint32_t k = 0; j->implicit && k < j->ninc; k++) {
            const flat_incidence *i = &f->incidence.at[j->inc0 + k];
            uint32_t other = i->is_bond ? NOBODY : f->port.at[i->index].element;

            if (other != NOBODY && !t->element_gone[other])
                return other;
        }
    }
    return NOBODY;
}

bool
without_keep_needed(struct taking *t)
{
    const flat_model *f = t->f;
    map seen = { 0 };
    bool any = false;

    for (uint32_t j = 0; j < f->junction.n; j++) {
        const flat_junction *x = &f->junction.at[j];
        uint32_t e;

        if (!t->junction_gone[j] || !x->read || t->by_text[j] || (e = holder(t, j, &seen)) == NOBODY)
            continue;
        block(t, e, x->read_at, "a junction that only it holds is read");
        any = true;
    }
    for (uint32_t k = 0; k < f->element.n; k++) {
        const flat_element *x = &f->element.at[k];
        uint32_t e;

        if (!t->element_gone[k] || t->wanted[k] != NOBODY || t->by_text[f->junction.n + k] || !(x->read || x->keep))
            continue;
        e = holder(t, f->port.at[x->port0].junction, &seen);
        if (e == NOBODY)
            continue;
        block(t, e, x->read ? x->read_at : x->at,
              x->read ? "a two-port that only it holds is read" : "a two-port that only it holds is kept");
        any = true;
    }
    for (uint32_t k = 0; k < f->element.n; k++) {
        uint32_t e = t->wanted[k] == NOBODY ? NOBODY : stranded(t, k);

        if (e == NOBODY)
            continue;
        block(t, k, f->element.at[e].at, "an element bonded to it stays");
        any = true;
    }
    map_free(&seen);
    return any;
}
