/* cleanup.c - see cleanup.h */
#include <stdlib.h>

#include "cleanup.h"

void
cleanup_init(cleanup *c, size_t nparts, size_t nlinks)
{
    *c = (cleanup){ .part = bg_calloc(nparts + 1, sizeof *c->part),
                    .nparts = nparts,
                    .link = bg_calloc(nlinks + 1, sizeof *c->link) };
}

void
cleanup_free(cleanup *c)
{
    free(c->part);
    free(c->link);
    vec_free(&c->work);
    vec_free(&c->bared);
    *c = (cleanup){ 0 };
}

void
cleanup_rows(cleanup *c)
{
    uint32_t total = 0;

    for (size_t i = 0; i < c->nparts; i++) {
        c->part[i].link0 = total;
        total += c->part[i].nlinks;
        c->part[i].nlinks = 0;
    }
}

void
cleanup_put(cleanup *c, uint32_t part, cleanup_link l)
{
    c->link[c->part[part].link0 + c->part[part].nlinks++] = l;
}

void
cleanup_begin(cleanup *c)
{
    cleanup_settle(c);
    for (size_t i = 0; i < c->nparts; i++) {
        cleanup_part *x = &c->part[i];

        x->gone = x->at_rest = x->looked = false;
        x->passed = 0;
        x->degree = x->sources;
        for (uint32_t k = 0; k < x->nlinks; k++)
            x->degree += !c->link[x->link0 + k].cut;
    }
}

void
cleanup_settle(cleanup *c)
{
    c->work.n = c->bared.n = 0;
}

void
cleanup_look(cleanup *c, uint32_t part)
{
    vec_push(&c->work, part);
}

void
cleanup_take(cleanup *c, uint32_t part)
{
    cleanup_part *x = &c->part[part];

    if (x->gone)
        return;
    x->gone = true;
    for (uint32_t k = 0; k < x->nlinks; k++) {
        const cleanup_link *l = &c->link[x->link0 + k];

        if (l->cut || l->to == NONE)
            continue;
        c->part[l->to].degree--;
        if (!c->part[l->to].gone)
            cleanup_look(c, l->to);
        if (x->kind == CLEANUP_OTHER)
            vec_push(&c->bared, l->to);
    }
}

static bool
part_may_go(const cleanup_part *x)
{
    return x->kind == CLEANUP_JUNCTION && !x->fixed && !(x->held && x->degree);
}

static bool
link_is_there(const cleanup *c, const cleanup_link *l)
{
    return !l->cut && (l->to == NONE || !c->part[l->to].gone);
}

/* The junction at the other end of a link of junction i, directly or through one two-port; NONE: none. *like: it sums
 * the variable of which this junction's bond is zero. */
static uint32_t
leads_to(const cleanup *c, uint32_t i, const cleanup_link *l, bool *like)
{
    const cleanup_part *x = &c->part[i], *y;
    uint32_t far = l->to;
    bool gyrates = false;

    if (far == NONE)
        return NONE;
    y = &c->part[far];
    if (y->kind == CLEANUP_TWO_PORT && y->nlinks == 2) {
        const cleanup_link *side = &c->link[y->link0];

        if (side[0].cut || side[1].cut)
            return NONE;
        gyrates = y->type;
        far = side[side[0].to == i].to;
    }
    if (far == NONE || c->part[far].kind != CLEANUP_JUNCTION)
        return NONE;
    *like = (x->type == c->part[far].type) != gyrates;
    return far;
}

/* Is junction i at rest, and does everything around it sum zero? Each link is visited once: what keeps a junction keeps
 * it until it is removed. */
static bool
rests_alone(cleanup *c, uint32_t i)
{
    cleanup_part *x = &c->part[i];
    const cleanup_link *link = &c->link[x->link0];
    bool like;

    if (x->sources)
        return false;
    for (uint32_t k = 0; k < x->nlinks && !x->looked; k++) {
        uint32_t far = link_is_there(c, &link[k]) ? leads_to(c, i, &link[k], &like) : NONE;

        if (far != NONE && !like && !c->part[far].gone && c->part[far].degree == 1 && part_may_go(&c->part[far]))
            x->at_rest = true;
    }
    x->looked = true;
    for (; x->at_rest && x->passed < x->nlinks; x->passed++)
        if (link_is_there(c, &link[x->passed]) && (leads_to(c, i, &link[x->passed], &like) == NONE || like))
            return false;
    return x->at_rest;
}

static void
put_at_rest(cleanup *c, uint32_t i)
{
    if (c->part[i].at_rest || !part_may_go(&c->part[i]))
        return;
    c->part[i].at_rest = true;
    cleanup_look(c, i);
}

/* Does part i, which lost a link or is at rest, dangle? */
static bool
dangles(cleanup *c, uint32_t i)
{
    const cleanup_part *x = &c->part[i];
    bool like;

    if (x->kind != CLEANUP_JUNCTION)
        return x->degree < x->least;
    if (!part_may_go(x))
        return false;
    for (uint32_t k = 0; k < x->nlinks && x->degree == 1; k++) {
        const cleanup_link *l = &c->link[x->link0 + k];
        uint32_t far = link_is_there(c, l) ? leads_to(c, i, l, &like) : NONE;

        if (far == NONE)
            continue;
        if (like)
            return true;
        put_at_rest(c, far);
    }
    return !x->degree || rests_alone(c, i);
}

static void
take_dangling(cleanup *c)
{
    while (c->work.n) {
        uint32_t i = c->work.at[--c->work.n];

        if (!c->part[i].gone && dangles(c, i))
            cleanup_take(c, i);
    }
}

/* Does the component of part i consist of removable junctions and two-ports only? `seen` marks visited parts; they are
 * left in the list. */
static bool
is_island(cleanup *c, uint32_t i, bool *seen)
{
    bool alone = true;

    vec_push(&c->work, i);
    seen[i] = true;
    for (size_t k = 0; k < c->work.n; k++) {
        const cleanup_part *x = &c->part[c->work.at[k]];

        alone &= x->kind != CLEANUP_OTHER && !x->fixed && !x->held && !x->sources;
        for (uint32_t n = 0; n < x->nlinks && x->kind != CLEANUP_OTHER; n++) {
            const cleanup_link *l = &c->link[x->link0 + n];

            alone &= l->cut || l->to != NONE;
            if (!link_is_there(c, l) || l->to == NONE || seen[l->to])
                continue;
            /* an element is listed beside each junction that it connects */
            seen[l->to] = c->part[l->to].kind != CLEANUP_OTHER;
            vec_push(&c->work, l->to);
        }
    }
    return alone;
}

/* Removes components without any element. */
static void
take_islands(cleanup *c)
{
    bool *seen = bg_calloc(c->nparts + 1, sizeof *seen);

    for (size_t k = 0; k < c->bared.n; k++) {
        uint32_t i = c->bared.at[k];

        if (c->part[i].gone || seen[i] || c->part[i].kind == CLEANUP_OTHER)
            continue;
        c->work.n = 0;
        if (is_island(c, i, seen))
            for (size_t n = 0; n < c->work.n; n++)
                c->part[c->work.at[n]].gone = true;
    }
    cleanup_settle(c);
    free(seen);
}

void
cleanup_run(cleanup *c)
{
    take_dangling(c);
    take_islands(c);
}
