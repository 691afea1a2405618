/* interpret.c - see interpret.h */
#include "interpret.h"

#include <math.h>
#include <stdlib.h>

#include "equations.h"

static void
mark_moved(interpret_program *g, const flat_model *f, inst i)
{
    const var_id *reads = inst_slots(f, i);

    for (uint32_t k = 0; k < i.n; k++)
        g->moves[reads[k]] = true;
}

/* Marks everything from which rates, conditions, constraints and blocks are computed. */
static void
mark_moves(interpret_program *g, const equations *e)
{
    g->moves = bg_calloc(e->var.n + 1, sizeof *g->moves);
    for (size_t i = 0; i < e->state.n; i++)
        if (!e->state.at[i].only_outputs)
            g->moves[e->state.at[i].rate] = true;
    for (size_t i = 0; i < e->residual.n; i++)
        mark_moved(g, e->f, e->residual.at[i]);
    for (size_t i = 0; i < e->mode.n; i++)
        mark_moved(g, e->f, e->mode.at[i].g);
    for (size_t i = 0; i < e->constraint.n; i++)
        g->moves[e->constraint.at[i]] = true;
    for (size_t i = 0; i < e->row.n; i++)
        if (e->row.at[i].r.d[0] != VAR_NONE)
            g->moves[e->row.at[i].r.d[0]] = true;
    for (size_t i = g->var.n; i-- > 0;)
        if (g->moves[g->var.at[i]])
            mark_moved(g, e->f, e->var.at[g->var.at[i]].def);
}

interpret_program *
interpret_program_new(const equations *e, const uint32_t *position)
{
    const flat_model *f = e->f;
    interpret_program *g = bg_calloc(1, sizeof *g);

    vec_resize(&g->state, e->state.n);
    for (size_t i = 0; i < e->state.n; i++)
        g->state.at[position[e->state.at[i].var]] = e->state.at[i].var;
    for (size_t k = 0; k < e->mode.n; k++)
        vec_push(&g->mode, e->mode.at[k].var);
    for (size_t k = 0; k < e->held.n; k++)
        vec_push(&g->mode, e->held.at[k]);
    for (size_t i = 0; i < e->unknown.n; i++)
        vec_push(&g->unknown, e->unknown.at[i]);
    for (uint32_t i = 0; i < e->var.n; i++)
        if (e->var.at[i].kind == DEF_EXPLICIT)
            vec_push(&g->var, i);
    if (g->var.n)
        qsort_r(g->var.at, g->var.n, sizeof *g->var.at, eq_compare_rank, (void *)e);
    for (size_t i = 0; i < g->var.n; i++) {
        inst d = e->var.at[g->var.at[i]].def;

        vec_push(&g->def, formula_write(&g->book, f->pool, d.root, inst_slots(f, d), d.n));
    }
    formula_close(&g->book);
    mark_moves(g, e);
    return g;
}

void
interpret_program_free(interpret_program *g)
{
    if (!g)
        return;
    formula_book_free(&g->book);
    vec_free(&g->var);
    vec_free(&g->def);
    vec_free(&g->state);
    vec_free(&g->mode);
    vec_free(&g->unknown);
    free(g->moves);
    free(g);
}

var_id
interpret(const interpret_program *g, double t, const double *x, const double *modes, double *v, bool all)
{
    double *room = bg_malloc((g->book.room + 1) * sizeof *room);
    var_id bad = VAR_NONE;

    v[0] = t;
    for (size_t i = 0; i < g->state.n; i++)
        v[g->state.at[i]] = x[i];
    for (size_t k = 0; k < g->mode.n; k++)
        v[g->mode.at[k]] = modes[k];
    for (size_t i = 0; i < g->var.n && (all || bad == VAR_NONE || !g->moves[bad]); i++) {
        const formula *d = &g->def.at[i];
        const uint32_t *reads = formula_reads(&g->book, d);
        var_id to = g->var.at[i];
        bool known = true;

        for (uint32_t k = 0; k < d->n; k++)
            known = known && isfinite(v[reads[k]]);
        v[to] = known ? formula_value(&g->book, *d, v, room) : NAN;
        if (known && !isfinite(v[to]) && (bad == VAR_NONE || (g->moves[to] && !g->moves[bad])))
            bad = to;
    }
    free(room);
    return bad;
}
