/* rewrite_cascade.c - what a removal includes: the requested parts, what then dangles, and what must stay */
#include <string.h>

#include "rewrite_inside.h"

/* Passes the present cuts, turned two-ports and held parts to the clean-up. */
static void
prepare_cleanup(struct plan *p)
{
    cleanup *c = &p->clean;

    for (size_t i = 0; i < p->part.n; i++) {
        const struct part *x = &p->part.at[i];
        cleanup_part *y = &c->part[i];

        y->kind = x->kind == TEXT_JUNCTION                 ? CLEANUP_JUNCTION
                  : x->kind == TEXT_TWO_PORT && !x->turned ? CLEANUP_TWO_PORT
                                                           : CLEANUP_OTHER;
        y->type = y->kind == CLEANUP_JUNCTION ? x->node->own->type[0] == '1'
                                              : y->kind == CLEANUP_TWO_PORT && strstr(x->node->own->type, "GY");
        y->least = y->kind == CLEANUP_TWO_PORT && !x->fixed ? 2 : 0;
        y->fixed = x->fixed;
        y->held = x->held;
        y->sources = 0;
        for (uint32_t k = y->link0; k < y->link0 + y->nlinks; k++)
            c->link[k].cut = p->link_cut[k] && !p->request[p->link_cut[k] - 1].off;
    }
    for (size_t i = 0; i < p->nbonds; i++)
        if (!p->request[i].off && p->bond[i].source && !p->bond[i].two_port)
            c->part[p->bond[i].forward ? p->request[i].right : p->request[i].left].sources++;
}

void
rewrite_cascade(struct plan *p)
{
    prepare_cleanup(p);
    cleanup_begin(&p->clean);
    for (size_t i = 0; i < p->nbonds; i++)
        if (!p->request[i].off) {
            cleanup_look(&p->clean, p->request[i].left);
            cleanup_look(&p->clean, p->request[i].right);
        }
    for (size_t i = 0; i < p->part.n; i++)
        if (p->part.at[i].wanted != NONE)
            cleanup_take(&p->clean, (uint32_t)i);
    cleanup_run(&p->clean);
    for (size_t i = 0; i < p->part.n; i++)
        p->part.at[i].gone = p->clean.part[i].gone;
}

static void
make_live(struct plan *p, uint32_t entity, uint32_t via)
{
    if (p->live[entity])
        return;
    p->live[entity] = true;
    p->via[entity] = via;
    vec_push(&p->work, entity);
}

void
rewrite_mark_live(struct plan *p)
{
    uint32_t n = rewrite_world(p) + 1;

    memset(p->live, 0, n * sizeof *p->live);
    p->work.n = 0;
    for (uint32_t i = 0; i < p->part.n; i++)
        if (!p->part.at[i].gone && p->part.at[i].kind != TEXT_BOND)
            make_live(p, i, NONE);
    for (uint32_t i = 0; i < p->value.n; i++)
        if (p->value.at[i].output || !p->value.at[i].read)
            make_live(p, rewrite_value_entity(p, i), NONE);
    make_live(p, rewrite_world(p), NONE);
    for (size_t i = 0; i < p->nbonds; i++)
        if (!p->request[i].off && p->bond[i].source)
            make_live(p, rewrite_find_part(p, p->bond[i].driver), NONE);
    while (p->work.n) {
        uint32_t i = p->work.at[--p->work.n];

        for (uint32_t k = p->reads0[i]; k < p->reads0[i + 1]; k++)
            make_live(p, p->reading.at[k].target, k);
        if (i < p->part.n && p->part.at[i].kind == TEXT_BOND)
            for (int k = 0; k < 2; k++)
                if (p->part.at[i].end[k] != NONE)
                    make_live(p, p->part.at[i].end[k], p->via[i]);
    }
}

/* The element to keep so that part i stays: i itself, or among the nearest removed ones around it the first in the
 * list. */
static uint32_t
holder_of_part(struct plan *p, uint32_t i, map *seen)
{
    uint32_t best = NONE;

    if (p->part.at[i].wanted != NONE)
        return i;
    p->work.n = 0;
    vec_push(&p->work, i);
    map_set(seen, i, 0);
    for (size_t from = 0; from < p->work.n && best == NONE;) {
        size_t to = p->work.n;

        for (; from < to; from++) {
            const cleanup_part *x = &p->clean.part[p->work.at[from]];

            for (uint32_t k = 0; k < x->nlinks; k++) {
                uint32_t j = p->clean.link[x->link0 + k].to;
                const struct part *y = &p->part.at[j];

                if (!y->gone || map_get(seen, j) != MAP_NONE)
                    continue;
                map_set(seen, j, 0);
                if (y->wanted == NONE)
                    vec_push(&p->work, j);
                else if (best == NONE || y->wanted < p->part.at[best].wanted)
                    best = j;
            }
        }
    }
    return best;
}

static void
block_part(struct plan *p, uint32_t element, span reader, const char *why)
{
    rewrite_block b = { p->part.at[element].name, reader, why };

    if (p->part.at[element].wanted == NONE)
        return;
    p->part.at[element].wanted = NONE;
    vec_push(&p->out->blocked, b);
}

/* A dangling part that is named stays where it is, which changes no equation: a junction, and both sides of a two-port.
 * True if this is new. */
static bool
hold_named(struct plan *p, uint32_t i)
{
    struct part *x = &p->part.at[i];
    bool any = false;

    if (x->wanted != NONE || x->thinned)
        return false;
    if (x->kind == TEXT_JUNCTION) {
        any = !x->held;
        x->held = true;
    }
    for (uint32_t k = 0; x->kind == TEXT_TWO_PORT && k < p->clean.part[i].nlinks; k++) {
        struct part *y = &p->part.at[p->clean.link[p->clean.part[i].link0 + k].to];

        if (y->kind != TEXT_JUNCTION || y->held || y->thinned)
            continue;
        y->held = any = true;
    }
    return any;
}

/* Keeps bonds whose name is read and, at last, those whose source would read a junction that is removed. */
static bool
keep_bonds(struct plan *p, bool last)
{
    bool any = false;

    for (size_t i = 0; i < p->nbonds; i++) {
        const rewrite_bond *b = &p->bond[i];
        struct request *r = &p->request[i];
        bool named = r->name != NONE && p->live[r->name];

        if (r->off || !(named || (last && b->source && p->part.at[rewrite_find_part(p, b->driver)].gone)))
            continue;
        r->off = any = true;
        if (b->two_port)
            p->part.at[b->forward ? r->right : r->left].turned = NULL;
        vec_push(
            &p->out->blocked,
            ((rewrite_block){ b->label, named && p->via[r->name] != NONE ? p->reading.at[p->via[r->name]].at : b->arrow,
                              named ? "it is read" : "nothing is left that its source could read" }));
    }
    return any;
}

bool
rewrite_keep_needed(struct plan *p)
{
    VEC(struct {
        uint32_t element;
        span reader;
        const char *why;
    })
    found = { 0 };
    map seen = { 0 }; /* shared: each region that went is searched once a round */
    bool any, held = false;

    for (uint32_t i = 0; i < p->part.n; i++) {
        const struct part *x = &p->part.at[i];
        bool stranded = (x->kind == TEXT_ELEMENT || x->turned) && !x->gone && p->clean.part[i].nlinks &&
                        !p->clean.part[i].degree;
        uint32_t e;

        if (!(x->gone && p->live[i]) && !stranded)
            continue;
        if (hold_named(p, i)) {
            held = true;
            continue;
        }
        e = holder_of_part(p, i, &seen);
        if (e == NONE)
            continue;
        vec_resize(&found, found.n + 1);
        found.at[found.n - 1].element = e;
        if (stranded) {
            found.at[found.n - 1].reader = x->at;
            found.at[found.n - 1].why = "an element bonded to it stays";
        } else {
            found.at[found.n - 1].reader = p->via[i] == NONE ? x->at : p->reading.at[p->via[i]].at;
            found.at[found.n - 1].why = "it is read";
        }
    }
    any = held || found.n > 0;
    map_free(&seen);
    for (size_t i = 0; i < found.n; i++)
        block_part(p, found.at[i].element, found.at[i].reader, found.at[i].why);
    vec_free(&found);
    return keep_bonds(p, !any) || any;
}
