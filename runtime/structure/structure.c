/* structure.c - see structure.h and structure_relations.h */
#include <stdlib.h>
#include <string.h>

#include "structure_relations.h"
#include "compiled.h"

/* ---------------------------------------------------------------- free variables */

void
relations_set_free(struct relations *w, uint32_t column, uint32_t kind, size_t index)
{
    w->may[column] = NEVER;
    if (w->kind[column] == FREE_NONE || kind == FREE_X) {
        w->kind[column] = kind;
        w->index[column] = (uint32_t)index;
    }
}

static void
count_parts(struct relations *w)
{
    const flat_model *f = w->f;
    structure *s = w->s;

    s->storage = bg_calloc(f->port.n + 1, sizeof *s->storage);
    s->dissipator = bg_calloc(f->port.n + 1, sizeof *s->dissipator);
    s->dependent = bg_calloc(f->port.n + 1, sizeof *s->dependent);
    s->source = bg_calloc(f->opening.n + 1, sizeof *s->source);
    s->storage_state = bg_calloc(f->port.n + 1, sizeof *s->storage_state);
    s->flow_in = bg_calloc(f->port.n + 1, sizeof *s->flow_in);
    /* storage in the order of the states */
    for (size_t i = 0; i < s->n; i++)
        for (uint32_t p = 0; p < f->port.n; p++)
            if (f->port.at[p].stored != VAR_NONE && w->c->state[p] && w->row_of[f->port.at[p].stored] == i) {
                s->storage_state[s->nz] = i;
                s->storage[s->nz++] = p;
            }
    for (uint32_t p = 0; p < f->port.n; p++) {
        if (f->element.at[f->port.at[p].element].type == EL_R)
            s->dissipator[s->nl++] = p;
        if (f->port.at[p].stored != VAR_NONE && !w->c->state[p])
            s->dependent[s->nd++] = p;
    }
    for (uint32_t i = 0; i < f->opening.n && !w->input; i++)
        if (f->opening.at[i].element != NONE)
            s->source[s->nu++] = i;
}

/* Finds the column of each state, and that of its rate. */
static void
find_states(struct relations *w, const size_t *order)
{
    size_t n = w->s->n;
    uint32_t *row_of_state = bg_calloc(n + 1, sizeof *row_of_state);

    for (size_t i = 0; i < n; i++)
        row_of_state[order[i]] = (uint32_t)i;
    for (size_t i = 0; i < n; i++)
        w->row_of[model_state(w->m, i).var] = row_of_state[i];
    for (size_t i = 0; i < n; i++) {
        const eq_state *q = &w->e->state.at[i];
        uint32_t row = w->row_of[q->var];

        w->rate[row] = q->rate;
        if (w->f->var.at[q->var].kind == VAR_COMMON && !w->as_equations) {
            w->rate[row] = (uint32_t)(w->nvars + w->s->nu + row);
            w->rests[row] = true;
        }
    }
    free(row_of_state);
}

static void
mark_columns(struct relations *w)
{
    const flat_model *f = w->f;
    structure *s = w->s;

    for (uint32_t v = 0; v < w->nvars; v++)
        w->may[v] = relations_moves(w, v) ? INNER : NEVER;
    for (size_t i = 0; i < s->nl; i++)
        for (int side = 0; side < 2; side++) {
            const flat_port *p = &f->port.at[s->dissipator[i]];
            var_id v = side ? p->e : p->f;

            /* its preferred input: its junction's common variable */
            w->may[v] = f->junction.at[p->junction].common == v ? WANTED : EITHER;
        }
    for (size_t i = 0; i < s->n; i++)
        if (w->rate[i] != NONE && w->rate[i] >= w->nvars)
            w->may[w->rate[i]] = INNER;
    for (size_t i = 0; i < s->nd && !w->as_equations; i++)
        relations_set_free(w, port_rate(f, s->dependent[i]), FREE_RATE, i);
    for (size_t i = 0; i < s->nz; i++)
        relations_set_free(w, port_gives(f, s->storage[i]), FREE_Z, i);
    for (size_t i = 0; i < s->nu; i++)
        relations_set_free(w, w->input ? w->input[i] : (uint32_t)(w->nvars + i), FREE_U, i);
    for (uint32_t v = 0; v < w->nvars; v++)
        if (w->row_of[v] != NONE)
            relations_set_free(w, v, FREE_X, w->row_of[v]);
}

static bool
is_loose(const struct relations *w, uint32_t column)
{
    return !elimination_solved(w->r, column) && w->kind[column] == FREE_NONE;
}

/* Both variables of dissipator i were solved for: one of them is exchanged for a free one of another dissipator, which
 * had two free ones or gets one in the same way. */
static bool
loosen(struct relations *w, size_t i, bool *tried)
{
    const structure *s = w->s;
    const flat_port *p = &w->f->port.at[s->dissipator[i]];

    tried[i] = true;
    for (int round = 0; round < 2; round++)
        for (int side = 0; side < 2; side++) {
            var_id own = side ? p->e : p->f;

            if (!elimination_solved(w->r, own))
                continue;
            for (size_t k = 0; k < s->nl; k++) {
                const flat_port *q = &w->f->port.at[s->dissipator[k]];

                for (int other = 0; other < 2 && !tried[k]; other++) {
                    var_id v = other ? q->e : q->f;
                    bool both = is_loose(w, q->e) && is_loose(w, q->f);

                    if (!is_loose(w, v) || (round == 0) != both || !elimination_exchange(w->r, own, v))
                        continue;
                    if (both || loosen(w, k, tried))
                        return true;
                    elimination_exchange(w->r, v, own);
                }
            }
        }
    return false;
}

/* Determines the direction of each dissipator: its output is a variable that is not a pivot. */
static void
direct(struct relations *w)
{
    const flat_model *f = w->f;
    structure *s = w->s;
    bool *done = bg_calloc(s->nl + 1, sizeof *done), *tried = bg_calloc(s->nl + 1, sizeof *tried), progress = true;

    for (size_t i = 0; i < s->nl; i++) {
        const flat_port *p = &f->port.at[s->dissipator[i]];

        memset(tried, 0, s->nl * sizeof *tried);
        if (!is_loose(w, p->e) && !is_loose(w, p->f))
            loosen(w, i, tried);
    }
    free(tried);
    while (progress) {
        progress = false;
        for (int round = 0; round < 2 && !progress; round++)
            for (size_t i = 0; i < s->nl; i++) {
                const flat_port *p = &f->port.at[s->dissipator[i]];
                bool e = is_loose(w, p->e), flow = is_loose(w, p->f);
                bool rather = f->junction.at[p->junction].common == p->f; /* input is the flow, output the effort */

                if (done[i] || (!e && !flow) || (round == 0 && e && flow))
                    continue;
                s->flow_in[i] = e && flow ? rather : e;
                relations_set_free(w, s->flow_in[i] ? p->e : p->f, FREE_D, i);
                done[i] = progress = true;
            }
    }
    for (size_t i = 0; i < s->nl; i++)
        if (!done[i])
            relations_fail(w, "the junctions leave %s nothing to determine", port_name(f, s->dissipator[i]));
    free(done);
}

void
relations_matrices(struct relations *w, struct dependence *d)
{
    structure *s = w->s;
    structure_block *M = s->matrix;

    M[M_J_SS] = block_new(w, s->n, s->nz);
    M[M_J_SL] = block_new(w, s->n, s->nl);
    M[M_J_SU] = block_new(w, s->n, s->nu);
    M[M_J_SX] = block_new(w, s->n, s->n);
    M[M_J_LS] = block_new(w, s->nl, s->nz);
    M[M_J_LL] = block_new(w, s->nl, s->nl);
    M[M_J_LU] = block_new(w, s->nl, s->nu);
    M[M_J_LX] = block_new(w, s->nl, s->n);
    M[M_A] = block_new(w, s->n, s->n);
    M[M_B] = block_new(w, s->n, s->nu);
    *d = (struct dependence){ block_new(w, s->n, s->nd), block_new(w, s->nl, s->nd), block_new(w, s->nd, s->nz),
                              block_new(w, s->nd, s->n), block_new(w, s->nd, s->nu), { 0 } };
    for (size_t i = 0; i < s->n; i++)
        if (w->rate[i] != NONE && (w->rate[i] >= w->nvars || relations_moves(w, w->rate[i])))
            relations_spread(w, w->rate[i], i,
                             &(struct receivers){ &M[M_J_SS], &M[M_J_SL], &M[M_J_SU], &M[M_J_SX], &d->J_SD, NULL }, 1,
                             "a rate");
    for (size_t i = 0; i < s->nl; i++) {
        const flat_port *p = &w->f->port.at[s->dissipator[i]];

        relations_spread(w, s->flow_in[i] ? p->f : p->e, i,
                         &(struct receivers){ &M[M_J_LS], &M[M_J_LL], &M[M_J_LU], &M[M_J_LX], &d->J_LD, NULL }, 1,
                         port_name(w->f, s->dissipator[i]));
    }
    for (size_t i = 0; i < s->nd; i++)
        relations_spread(w, port_gives(w->f, s->dependent[i]), i,
                         &(struct receivers){ &d->G_S, NULL, &d->G_U, &d->G_X, NULL, NULL }, 1,
                         port_name(w->f, s->dependent[i]));
    for (int k = 0; k < 4 && w->outputs; k++)
        s->output[k] = block_new(w, w->f->output.n, k == 0 ? s->nz : k == 1 ? s->nl : k == 2 ? s->nu : s->n);
    for (size_t i = 0; i < w->f->output.n && w->outputs; i++)
        relations_spread(w, w->f->slot.at[w->f->output.at[i].def.first], i,
                         &(struct receivers){ &s->output[0], &s->output[1], &s->output[2], &s->output[3], NULL, NULL },
                         1, w->f->output.at[i].name);
}

void
dependence_free(struct dependence *d)
{
    structure_block *const all[] = { &d->J_SD, &d->J_LD, &d->G_S, &d->G_X, &d->G_U, &d->C };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        block_free(all[i]);
}

static bool
any(const structure_block *b)
{
    for (size_t i = 0; i < b->rows * b->columns; i++)
        if (b->value[i] != 0)
            return true;
    return false;
}

void
relations_open(struct relations *w, bg_model *m, double t, const double *x, const size_t *order, structure *s)
{
    flat_model *f = (flat_model *)model_flat(m); /* only its pool grows */
    size_t ncolumns;

    *s = (structure){ .n = model_nstates(m) };
    w->m = m, w->f = f, w->e = model_equations(m), w->c = model_causal(m), w->s = s;
    w->nvars = f->var.n;
    w->fine = true;
    w->v = bg_calloc(f->var.n + 1, sizeof *w->v);
    w->row_of = bg_malloc((f->var.n + 1) * sizeof *w->row_of);
    memset(w->row_of, 0xff, (f->var.n + 1) * sizeof *w->row_of);
    w->rate = bg_malloc((s->n + 1) * sizeof *w->rate);
    memset(w->rate, 0xff, (s->n + 1) * sizeof *w->rate);
    w->rests = bg_calloc(s->n + 1, sizeof *w->rests);
    for (size_t i = 0; i < f->opening.n; i++)
        s->nu += f->opening.at[i].element != NONE;
    ncolumns = w->nvars + s->nu + s->n;
    find_states(w, order);
    s->nu = w->ninput;
    count_parts(w);
    if (w->input)
        w->acts = bg_calloc(w->nvars + 1, 1);
    for (size_t i = 0; i < w->ninput; i++)
        w->acts[w->input[i]] = 1;
    w->may = bg_calloc(ncolumns + 1, 1);
    w->seen = bg_calloc(w->nvars + 1, 1);
    w->block_seen = bg_calloc(w->e->block.n + 1, sizeof *w->block_seen);
    w->kind = bg_calloc(ncolumns + 1, sizeof *w->kind);
    w->index = bg_calloc(ncolumns + 1, sizeof *w->index);
    w->ncolumns = ncolumns;
    w->r = elimination_new(ncolumns, w->pool);
    if (!model_variables(m, t, x, w->v))
        relations_fail(w, "not all variables have finite values here");
    if (w->fine) {
        mark_columns(w);
        relations_collect(w);
        if (w->as_equations)
            s->nd = 0;
    }
    if (w->fine) {
        elimination_eliminate(w->r, w->may);
        direct(w);
    }
}

void
relations_close(struct relations *w)
{
    elimination_free(w->r);
    vec_free(&w->todo);
    free(w->v);
    free(w->row_of);
    free(w->rate);
    free(w->rests);
    free(w->acts);
    free(w->may);
    free(w->seen);
    free(w->block_seen);
    free(w->kind);
    free(w->index);
}

void
structure_make(bg_model *m, double t, const double *x, const size_t *order, bool text, bool as_equations, bool outputs,
               structure *s)
{
    struct relations w = { .pool = text ? ((flat_model *)model_flat(m))->pool : NULL,
                           .outputs = outputs,
                           .as_equations = as_equations };
    struct dependence d = { 0 };

    relations_open(&w, m, t, x, order, s);
    if (w.fine)
        relations_matrices(&w, &d);
    if (w.fine)
        relations_laws(&w, &d);
    if (w.fine && s->nd && text)
        relations_write_dependent(&w, &d);
    if (w.fine)
        relations_include_dependent(&w, &d);
    if (w.fine)
        relations_solve_dissipators(&w, &d);
    if (w.fine && text)
        relations_write_out(&w);
    if (w.fine)
        s->modulated = any(&s->matrix[M_J_SX]) || any(&s->matrix[M_J_LX]) || any(&s->matrix[M_L_X]);
    dependence_free(&d);
    relations_close(&w);
}

void
structure_free(structure *s)
{
    void *const all[] = { s->storage, s->dissipator, s->dependent, s->source, s->storage_state, s->flow_in, s->C_d,
                          s->G,       s->G_S,        s->H,         s->J,      s->D_in,          s->K,       s->why };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (int k = 0; k < M_COUNT; k++)
        block_free(&s->matrix[k]);
    for (int k = 0; k < 4; k++)
        block_free(&s->output[k]);
    *s = (structure){ 0 };
}

const char *
structure_matrix_name(enum structure_matrix k)
{
    static const char *const name[M_COUNT] = { "S",    "L",    "J_SS", "J_SL", "J_SU", "J_SX", "J_LS",
                                               "J_LL", "J_LU", "J_LX", "L_X",  "A",    "B" };

    return name[k];
}
