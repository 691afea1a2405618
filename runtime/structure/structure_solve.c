/* structure_solve.c - solves structure.c for dependent storage and for outputs of dissipators: numbers by dense
 * matrices, expressions by elimination */
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "structure_relations.h"

/* A part of a row: the coefficients of row i of a block, from a column on. */
struct row_part {
    const structure_block *b;
    size_t first;
};

static void
put_parts(elimination *r, size_t i, const struct row_part *part, size_t n)
{
    for (size_t p = 0; p < n; p++)
        for (size_t k = 0; k < part[p].b->columns; k++) {
            size_t at = i + part[p].b->rows * k;

            elimination_put(r, (uint32_t)(part[p].first + k), part[p].b->value[at], part[p].b->text[at]);
        }
}

/* Stores a solved column in row i of some blocks. */
static void
take_parts(struct relations *w, const elimination *r, size_t column, size_t i, structure_block *const *to,
           const size_t *first, size_t n)
{
    term unused;
    sum row = elimination_express(r, (uint32_t)column, &unused);

    for (size_t p = 0; p < n; p++)
        for (size_t k = 0; k < to[p]->columns; k++)
            to[p]->text[i + to[p]->rows * k] = ex_const(w->pool, 0);
    for (size_t k = 0; k < row.n; k++)
        for (size_t p = n; p-- > 0;)
            if (row.at[k].column >= first[p]) {
                if (row.at[k].column != column)
                    to[p]->text[i + to[p]->rows * (row.at[k].column - first[p])] = ex_neg(w->pool, row.at[k].text);
                break;
            }
}

/* G, the outputs of dependent storage by states: through outputs of independent storage, and directly. */
static structure_block
dependent_by_states(struct relations *w, const struct dependence *d)
{
    structure *s = w->s;
    const structure_block *S = &s->matrix[M_S];
    structure_block G = block_new(w, s->nd, s->n);

    for (size_t i = 0; i < s->nd; i++)
        for (size_t k = 0; k < s->n; k++) {
            block_add(w, &G, i, k, d->G_X.value[i + s->nd * k], d->G_X.text[i + s->nd * k]);
            for (size_t j = 0; j < s->nz; j++)
                block_add(w, &G, i, k, d->G_S.value[i + s->nd * j] * S->value[j + s->nz * k],
                          ex_mul(w->pool, d->G_S.text[i + s->nd * j], S->text[j + s->nz * k]));
        }
    return G;
}

void
relations_write_dependent(struct relations *w, struct dependence *d)
{
    structure *s = w->s;
    structure_block *M = s->matrix;
    size_t n = s->n, nd = s->nd, nl = s->nl;
    /* columns: dx/dt, rates of dependent storage, inputs of dissipators; then the remaining ones: z, d_out, u, x */
    size_t dependent = n, in = dependent + nd,
           first[4] = { in + nl, in + nl + s->nz, in + 2 * nl + s->nz, in + 2 * nl + s->nz + s->nu };
    structure_block *const state[4] = { &M[M_J_SS], &M[M_J_SL], &M[M_J_SU], &M[M_J_SX] }, *const into[4] = {
        &M[M_J_LS], &M[M_J_LL], &M[M_J_LU], &M[M_J_LX]
    };
    elimination *r = elimination_new(first[3] + n, w->pool);
    uint8_t *may = bg_calloc(first[3] + n + 1, 1);
    structure_block G = dependent_by_states(w, d);

    for (size_t c = 0; c < first[0]; c++)
        may[c] = c < dependent ? WANTED : c < in ? INNER : EITHER;
    for (size_t i = 0; i < n; i++) {
        elimination_put(r, (uint32_t)i, w->rests[i] ? 0 : -1, ex_const(w->pool, w->rests[i] ? 0 : -1));
        put_parts(r, i,
                  (struct row_part[]){ { state[0], first[0] },
                                       { state[1], first[1] },
                                       { state[2], first[2] },
                                       { state[3], first[3] },
                                       { &d->J_SD, dependent } },
                  5);
        elimination_end(r);
    }
    for (size_t i = 0; i < nd; i++) {
        elimination_put(r, (uint32_t)(dependent + i), -1, ex_const(w->pool, -1));
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < nd; j++)
                elimination_put(r, (uint32_t)k, d->C.value[i + nd * j] * G.value[j + nd * k],
                                ex_mul(w->pool, d->C.text[i + nd * j], G.text[j + nd * k]));
        elimination_end(r);
    }
    for (size_t i = 0; i < nl; i++) {
        elimination_put(r, (uint32_t)(in + i), -1, ex_const(w->pool, -1));
        put_parts(r, i,
                  (struct row_part[]){ { into[0], first[0] },
                                       { into[1], first[1] },
                                       { into[2], first[2] },
                                       { into[3], first[3] },
                                       { &d->J_LD, dependent } },
                  5);
        elimination_end(r);
    }
    elimination_eliminate(r, may);
    for (size_t i = 0; i < n + nl && w->fine; i++) {
        size_t column = i < n ? i : in + i - n;

        if (!elimination_solved(r, (uint32_t)column))
            relations_fail(w, "dependent storage leaves a rate undetermined here");
        else
            take_parts(w, r, column, i < n ? i : i - n, i < n ? state : into, first, 4);
    }
    block_free(&G);
    elimination_free(r);
    free(may);
}

void
relations_include_dependent(struct relations *w, struct dependence *d)
{
    structure *s = w->s;
    size_t n = s->n, nd = s->nd, nl = s->nl;
    static const enum structure_matrix state_row[] = { M_J_SS, M_J_SL, M_J_SU, M_J_SX },
                                       in_row[] = { M_J_LS, M_J_LL, M_J_LU, M_J_LX };
    double *F = bg_calloc(n * n + 1, sizeof *F), *CG = bg_calloc(nd * n + 1, sizeof *CG),
           *LCG = bg_calloc(nl * n + 1, sizeof *LCG);

    s->G = bg_calloc(nd * n + 1, sizeof(double));
    s->G_S = bg_calloc(nd * s->nz + 1, sizeof(double));
    memcpy(s->G_S, d->G_S.value, nd * s->nz * sizeof(double));
    memcpy(s->G, d->G_X.value, nd * n * sizeof(double));
    dense_multiply(nd, s->nz, n, 1, d->G_S.value, s->matrix[M_S].value, 1, s->G);
    dense_multiply(nd, nd, n, 1, s->C_d, s->G, 0, CG);
    /* (E0 - J_SD C G) dx/dt = the other terms */
    for (size_t i = 0; i < n; i++)
        F[i + n * i] = !w->rests[i];
    dense_multiply(n, nd, n, -1, d->J_SD.value, CG, 1, F);
    for (int k = 0; k < 5 && w->fine; k++) {
        structure_block *b = k < 4 ? &s->matrix[state_row[k]] : &d->J_SD;
        double *copy = bg_calloc(n * n + 1, sizeof *copy);

        memcpy(copy, F, n * n * sizeof *copy);
        if (n && b->columns && !dense_solve(n, copy, b->columns, b->value))
            relations_fail(w, "dependent storage leaves a rate undetermined here");
        free(copy);
    }
    dense_multiply(nl, nd, n, 1, d->J_LD.value, CG, 0, LCG);
    for (int k = 0; k < 5; k++) {
        structure_block *b = k < 4 ? &s->matrix[in_row[k]] : &d->J_LD,
                        *rate = k < 4 ? &s->matrix[state_row[k]] : &d->J_SD;

        dense_multiply(nl, n, b->columns, 1, LCG, rate->value, 1, b->value);
    }
    free(F);
    free(CG);
    free(LCG);
}

void
relations_solve_dissipators(struct relations *w, const struct dependence *d)
{
    structure *s = w->s;
    const structure_block *M = s->matrix;
    size_t n = s->n, nl = s->nl, nz = s->nz, nu = s->nu, nd = s->nd, wide = nz + nu + n + nd + nl;
    double *left = bg_calloc(nl * nl + 1, sizeof *left), *given = bg_calloc(nl * wide + 1, sizeof *given),
           *out = bg_calloc(n * wide + 1, sizeof *out);
    const double *of_z = given, *of_x;

    /* d_out = (I - L J_LL)^-1 (L (J_LS z + J_LU u + J_LX x + J_LD rate) + L_X x + 1) */
    for (size_t i = 0; i < nl; i++) {
        left[i + nl * i] = 1;
        given[i + nl * (nz + nu + n + nd + i)] = 1;
    }
    dense_multiply(nl, nl, nl, -1, M[M_L].value, M[M_J_LL].value, 1, left);
    dense_multiply(nl, nl, nz, 1, M[M_L].value, M[M_J_LS].value, 1, given);
    dense_multiply(nl, nl, nu, 1, M[M_L].value, M[M_J_LU].value, 1, given + nl * nz);
    memcpy(given + nl * (nz + nu), M[M_L_X].value, nl * n * sizeof(double));
    dense_multiply(nl, nl, n, 1, M[M_L].value, M[M_J_LX].value, 1, given + nl * (nz + nu));
    dense_multiply(nl, nl, nd, 1, M[M_L].value, d->J_LD.value, 1, given + nl * (nz + nu + n));
    if (nl && !dense_solve(nl, left, wide, given))
        relations_fail(w, "the efforts and flows of dissipators are not determined here");
    memcpy(out, M[M_J_SS].value, n * nz * sizeof(double));
    memcpy(out + n * nz, M[M_J_SU].value, n * nu * sizeof(double));
    memcpy(out + n * (nz + nu), M[M_J_SX].value, n * n * sizeof(double));
    memcpy(out + n * (nz + nu + n), d->J_SD.value, n * nd * sizeof(double));
    dense_multiply(n, nl, wide, 1, M[M_J_SL].value, given, 1, out);
    of_x = given + nl * (nz + nu);
    s->J = bg_calloc(n * nz + 1, sizeof(double));
    s->H = bg_calloc(n * nd + 1, sizeof(double));
    s->K = bg_calloc(n * nl + 1, sizeof(double));
    s->D_in = bg_calloc(nl * n + 1, sizeof(double));
    memcpy(s->J, out, n * nz * sizeof(double));
    memcpy(s->H, out + n * (nz + nu + n), n * nd * sizeof(double));
    memcpy(s->K, out + n * (nz + nu + n + nd), n * nl * sizeof(double));
    memcpy(s->matrix[M_B].value, out + n * nz, n * nu * sizeof(double));
    memcpy(s->matrix[M_A].value, out + n * (nz + nu), n * n * sizeof(double));
    dense_multiply(n, nz, n, 1, s->J, M[M_S].value, 1, s->matrix[M_A].value);
    /* d_in = (J_LS S + J_LX) x + J_LL d_out */
    if (nl) {
        double *d_out = bg_calloc(nl * n + 1, sizeof *d_out);

        memcpy(d_out, of_x, nl * n * sizeof(double));
        dense_multiply(nl, nz, n, 1, of_z, M[M_S].value, 1, d_out);
        memcpy(s->D_in, M[M_J_LX].value, nl * n * sizeof(double));
        dense_multiply(nl, nz, n, 1, M[M_J_LS].value, M[M_S].value, 1, s->D_in);
        dense_multiply(nl, nl, n, 1, M[M_J_LL].value, d_out, 1, s->D_in);
        free(d_out);
    }
    free(left);
    free(given);
    free(out);
}

void
relations_write_out(struct relations *w)
{
    structure *s = w->s;
    structure_block *M = s->matrix;
    size_t n = s->n, nz = s->nz, nl = s->nl;
    /* columns: dx/dt, z, d_out, d_in; then x, u */
    size_t z = n, d = n + nz, in = d + nl, x = in + nl, u = x + n;
    elimination *r = elimination_new(u + s->nu, w->pool);
    uint8_t *may = bg_calloc(u + s->nu + 1, 1);

    for (size_t c = 0; c < x; c++)
        may[c] = c < n ? EITHER : c >= d ? WANTED : INNER;
    for (size_t i = 0; i < n; i++) {
        elimination_put(r, (uint32_t)i, -1, ex_const(w->pool, -1));
        put_parts(r, i,
                  (struct row_part[]){ { &M[M_J_SS], z }, { &M[M_J_SL], d }, { &M[M_J_SX], x }, { &M[M_J_SU], u } }, 4);
        elimination_end(r);
    }
    for (size_t i = 0; i < nl; i++) {
        elimination_put(r, (uint32_t)(in + i), -1, ex_const(w->pool, -1));
        put_parts(r, i,
                  (struct row_part[]){ { &M[M_J_LS], z }, { &M[M_J_LL], d }, { &M[M_J_LX], x }, { &M[M_J_LU], u } }, 4);
        elimination_end(r);
        elimination_put(r, (uint32_t)(d + i), -1, ex_const(w->pool, -1));
        put_parts(r, i, (struct row_part[]){ { &M[M_L], in }, { &M[M_L_X], x } }, 2);
        elimination_end(r);
    }
    for (size_t i = 0; i < nz; i++) {
        elimination_put(r, (uint32_t)(z + i), -1, ex_const(w->pool, -1));
        put_parts(r, i, (struct row_part[]){ { &M[M_S], x } }, 1);
        elimination_end(r);
    }
    elimination_eliminate(r, may);
    for (size_t i = 0; i < n; i++)
        take_parts(w, r, i, i, (structure_block *const[]){ &M[M_A], &M[M_B] }, (const size_t[]){ x, u }, 2);
    elimination_free(r);
    free(may);
}
