/* rewrite_without_cascade.c - what goes of components, loops and arrays: what then dangles, and what must stay */
#include <string.h>

#include "rewrite_without_inside.h"

static bool
is_two_port_element(const flat_element *e)
{
    if ((e->type != EL_TF && e->type != EL_GY) || e->nports != 2)
        return false;
    for (int i = 0; i < e->node->own->block->nitems; i++)
        if (e->node->own->block->item[i].kind == AST_LAW_PORT)
            return false; /* a field: it stands with fewer bonds too */
    return true;
}

static uint32_t
part_of_element(const struct taking *t, uint32_t e)
{
    return (uint32_t)t->f->junction.n + e;
}

void
without_gather_links(struct taking *t)
{
    const flat_model *f = t->f;
    cleanup *c = &t->clean;

    cleanup_init(c, f->junction.n + f->element.n, f->incidence.n + f->port.n);
    for (uint32_t j = 0; j < f->junction.n; j++) {
        const flat_junction *x = &f->junction.at[j];

        c->part[j].kind = x->implicit ? CLEANUP_OTHER : CLEANUP_JUNCTION;
        c->part[j].type = x->type;
        c->part[j].fixed = x->port;
        c->part[j].nlinks = x->ninc;
    }
    for (uint32_t e = 0; e < f->element.n; e++) {
        const flat_element *x = &f->element.at[e];
        cleanup_part *y = &c->part[part_of_element(t, e)];
        bool passes = is_two_port_element(x);

        y->kind = passes ? CLEANUP_TWO_PORT : CLEANUP_OTHER;
        y->type = x->type == EL_GY;
        y->least = passes ? 2 : 0;
        y->nlinks = x->nports;
    }
    cleanup_rows(c);
    for (uint32_t j = 0; j < f->junction.n; j++)
        for (uint32_t k = 0; k < f->junction.at[j].ninc; k++) {
            const flat_incidence *x = &f->incidence.at[f->junction.at[j].inc0 + k];
            const flat_bond *b = x->is_bond ? &f->bond.at[x->index] : NULL;

            cleanup_put(c, j,
                        (cleanup_link){ .to = b ? (b->from == j ? b->to : b->from)
                                                : part_of_element(t, f->port.at[x->index].element) });
        }
    for (uint32_t p = 0; p < f->port.n; p++)
        cleanup_put(c, part_of_element(t, f->port.at[p].element), (cleanup_link){ .to = f->port.at[p].junction });
}

static bool
is_in(const flat_model *f, uint32_t origin, uint32_t instance)
{
    while (origin != NONE && origin != instance)
        origin = f->origin.at[origin].parent;
    return origin == instance;
}

/* All of an instance that the text itself loses. */
static void
take_instance(struct taking *t, uint32_t instance)
{
    const flat_model *f = t->f;

    for (uint32_t p = 0; p < f->junction.n + f->element.n; p++)
        if (is_in(f, p < f->junction.n ? f->junction.at[p].parent : f->element.at[p - f->junction.n].parent,
                  instance)) {
            t->by_text[p] = true;
            cleanup_take(&t->clean, p);
        }
}

/* What the text itself loses goes with what it takes along; what dangles by that, the text's planner knows. */
static void
take_named(struct taking *t, const char *const *gone, size_t ngone)
{
    const flat_model *f = t->f;

    for (size_t k = 0; k < ngone; k++) {
        uint32_t e = map_get(&t->element_of, map_ptr_key(gone[k])), j = map_get(&t->junction_of, map_ptr_key(gone[k])),
                 o = map_get(&t->instance_of, map_ptr_key(gone[k]));

        if (e != MAP_NONE)
            t->by_text[part_of_element(t, e)] = true, cleanup_take(&t->clean, part_of_element(t, e));
        else if (j != MAP_NONE)
            t->by_text[j] = true, cleanup_take(&t->clean, j);
        else if (o != MAP_NONE)
            take_instance(t, o);
    }
    cleanup_settle(&t->clean);
    for (uint32_t e = 0; e < f->element.n; e++)
        if (t->clean.part[part_of_element(t, e)].kind == CLEANUP_TWO_PORT)
            cleanup_look(&t->clean, part_of_element(t, e));
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (f->junction.at[j].thinned && !t->clean.part[j].gone)
            cleanup_look(&t->clean, j);
}

void
without_cascade(struct taking *t, const char *const *gone, size_t ngone)
{
    const flat_model *f = t->f;

    cleanup_begin(&t->clean);
    take_named(t, gone, ngone);
    for (uint32_t e = 0; e < f->element.n; e++)
        if (t->wanted[e] != NONE)
            cleanup_take(&t->clean, part_of_element(t, e));
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (t->inside[j] != NONE)
            cleanup_take(&t->clean, j);
    cleanup_run(&t->clean);
    for (uint32_t j = 0; j < f->junction.n; j++)
        t->junction_gone[j] = t->clean.part[j].gone;
    for (uint32_t e = 0; e < f->element.n; e++)
        t->element_gone[e] = t->clean.part[part_of_element(t, e)].gone;
}

static void
block_element(struct taking *t, uint32_t e, span reader, const char *why)
{
    rewrite_block b = { t->f->element.at[e].name, reader, why };

    if (t->inside[part_of_element(t, e)] != NONE) {
        without_keep_instance(t, t->inside[part_of_element(t, e)], reader, why);
        return;
    }
    t->wanted[e] = NONE;
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

        if ((t->wanted[e] == NONE && !t->clamped[e]) || t->inside[part_of_element(t, e)] != NONE)
            continue;
        at = map_get(&t->mentioned, map_ptr_key(x->name));
        if (at == MAP_NONE && t->mentioned_base.n) {
            base = bg_strdup(x->name);
            base[strcspn(base, ".[")] = 0;
            at = map_get(&t->mentioned_base, map_ptr_key(names_intern_z(t->f->names, base)));
            free(base);
        }
        if (x->read && !t->clamped[e]) /* its effort and flow stay; whether more is read, the compiler says */
            block_element(t, e, flat_read_at(t->f, false, e), "it is read");
        else if (at != MAP_NONE)
            block_element(t, e, t->mention.at[at], "another experiment names it");
    }
}

/* The wanted element nearest to junction j among what went, the most important of those on one junction; NONE without
 * one. */
static uint32_t
holder(struct taking *t, uint32_t j, map *seen)
{
    const flat_model *f = t->f;
    uint32_t best = NONE;

    t->open.n = 0;
    vec_push(&t->open, j);
    map_set(seen, j, 1);
    for (size_t at = 0; at < t->open.n && best == NONE; at++) {
        const flat_junction *x = &f->junction.at[t->open.at[at]];

        for (uint32_t k = 0; k < x->ninc; k++) {
            const flat_incidence *i = &f->incidence.at[x->inc0 + k];
            uint32_t e = i->is_bond ? NONE : f->port.at[i->index].element;

            if (e != NONE && t->wanted[e] != NONE && (best == NONE || t->wanted[e] < t->wanted[best]))
                best = e;
            for (uint32_t p = 0; p < (e == NONE ? 2 : f->element.at[e].nports); p++) {
                uint32_t other = e == NONE ? (p ? f->bond.at[i->index].to : f->bond.at[i->index].from)
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

/* The element that a bond without a junction joins to e, if it stays; else NONE. */
static uint32_t
stranded(const struct taking *t, uint32_t e)
{
    const flat_model *f = t->f;
    const flat_element *x = &f->element.at[e];

    for (uint32_t p = x->port0; p < x->port0 + x->nports; p++) {
        const flat_junction *j = &f->junction.at[f->port.at[p].junction];

        for (uint32_t k = 0; j->implicit && k < j->ninc; k++) {
            const flat_incidence *i = &f->incidence.at[j->inc0 + k];
            uint32_t other = i->is_bond ? NONE : f->port.at[i->index].element;

            if (other != NONE && !t->element_gone[other])
                return other;
        }
    }
    return NONE;
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

        if (!t->junction_gone[j] || !x->read || t->by_text[j] || t->inside[j] != NONE ||
            (e = holder(t, j, &seen)) == NONE)
            continue;
        block_element(t, e, flat_read_at(f, true, j), "a junction that only it holds is read");
        any = true;
    }
    for (uint32_t k = 0; k < f->element.n; k++) {
        const flat_element *x = &f->element.at[k];
        uint32_t e;

        if (!t->element_gone[k] || t->wanted[k] != NONE || t->by_text[f->junction.n + k] || !(x->read || x->keep))
            continue;
        e = holder(t, f->port.at[x->port0].junction, &seen);
        if (e == NONE)
            continue;
        block_element(t, e, x->read ? flat_read_at(f, false, k) : element_at(x),
                      x->read ? "a two-port that only it holds is read" : "a two-port that only it holds is kept");
        any = true;
    }
    for (uint32_t k = 0; k < f->element.n; k++) {
        uint32_t e = t->wanted[k] == NONE ? NONE : stranded(t, k);

        if (e == NONE)
            continue;
        block_element(t, k, element_at(&f->element.at[e]), "an element bonded to it stays");
        any = true;
    }
    map_free(&seen);
    return any;
}
