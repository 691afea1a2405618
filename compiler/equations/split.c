/* split.c - an open component's equations in block triangular form
 *
 * What a component's first equations determine alone (a flow that bonds force to zero, efforts that capacitors impose
 * on each other) must not appear to depend on what later equations read, especially the rates of dependent storage.
 *
 * source   btf_order: Davis & Palamadai Natarajan (2010), ACM TOMS 37(3), algorithm 907
 */
#include <btf.h>
#include <stdlib.h>
#include "blocks.h"

/* Unknowns of the group that a residual reads, through explicit definitions too. seen[v]: number of the last residual
 * that reached v. */
struct group_reads {
    VEC(var_id) stack;
    VEC(int32_t) found;
    uint32_t *seen, *local;
};

static void
read_inst(struct group_reads *r, const flat_model *f, inst i, uint32_t stamp)
{
    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = f->slot.at[i.first + k];

        if (r->seen[v] == stamp)
            continue;
        r->seen[v] = stamp;
        if (r->local[v])
            vec_push(&r->found, (int32_t)r->local[v] - 1);
        else
            vec_push(&r->stack, v);
    }
}

/* A law without a closed form is a group of its own. */
static void
read_group(struct group_reads *r, const flat_model *f, const struct groups *g, var_id v, uint32_t stamp)
{
    uint32_t group = group_of(g, v);

    for (uint32_t i = 0; group != NONE && i < group_size(g, group) && group_size(g, group) == 1; i++)
        read_inst(r, f, group_residual(g, group, i), stamp);
}

static void
split_group(equations *e, struct groups *g, uint32_t group, struct group_reads *r, uint32_t *stamp)
{
    struct group *old = &g->group.at[group];
    int32_t n = (int32_t)old->unknown.n, blocks, *column = bg_malloc(((size_t)n + 1) * sizeof *column);
    int32_t *row_of = bg_malloc((size_t)n * sizeof *row_of), *column_of = bg_malloc((size_t)n * sizeof *column_of);
    int32_t *bound = bg_malloc(((size_t)n + 1) * sizeof *bound), *work = bg_malloc(5 * (size_t)n * sizeof *work),
            matched;
    double steps;

    for (int32_t i = 0; i < n; i++)
        r->local[old->unknown.at[i]] = (uint32_t)i + 1;
    r->found.n = 0;
    for (int32_t i = 0; i < n; i++) { /* column i: what residual i reads */
        column[i] = (int32_t)r->found.n;
        read_inst(r, e->f, old->residual.at[i], ++*stamp);
        while (r->stack.n) {
            var_id v = r->stack.at[--r->stack.n];

            if (e->var.at[v].kind == DEF_EXPLICIT)
                read_inst(r, e->f, e->var.at[v].def, *stamp);
            else if (e->var.at[v].kind == DEF_NONE)
                read_group(r, e->f, g, v, *stamp);
        }
    }
    column[n] = (int32_t)r->found.n;
    for (int32_t i = 0; i < n; i++)
        r->local[old->unknown.at[i]] = 0;
    blocks = btf_order(n, column, r->found.at, 0, &steps, row_of, column_of, bound, &matched, work);
    if (matched == n && blocks > 1) {
        struct group parts = *old;
        defined *from = bg_malloc((size_t)n * sizeof *from); /* origin of each equation */

        for (int32_t i = 0; i < n; i++)
            from[i] = (defined){ e->var.at[parts.unknown.at[i]].by, e->var.at[parts.unknown.at[i]].of };

        *old = (struct group){ { 0 }, { 0 } };
        for (int32_t b = 0; b < blocks; b++) {
            uint32_t to = b ? group_new(g) : group;

            for (int32_t k = bound[b]; k < bound[b + 1]; k++) {
                e->defining = from[BTF_UNFLIP(column_of[k])];
                group_add(g, to, parts.unknown.at[row_of[k]], parts.residual.at[BTF_UNFLIP(column_of[k])]);
            }
        }
        free(from);
        vec_free(&parts.unknown);
        vec_free(&parts.residual);
    }
    free(column);
    free(row_of);
    free(column_of);
    free(bound);
    free(work);
}

void
groups_split(equations *e, struct groups *g)
{
    struct group_reads r = { 0 };
    uint32_t stamp = 0;
    size_t n = g->group.n;

    r.seen = bg_calloc(e->f->var.n + 1, sizeof *r.seen);
    r.local = bg_calloc(e->f->var.n + 1, sizeof *r.local);
    for (uint32_t k = 0; k < n; k++)
        if (g->group.at[k].unknown.n > 1)
            split_group(e, g, k, &r, &stamp);
    vec_free(&r.stack);
    vec_free(&r.found);
    free(r.seen);
    free(r.local);
}
