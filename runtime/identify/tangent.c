/* tangent.c - see tangent.h */
#include "tangent.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "factor.h"

/* rows of partial derivatives for a variable that ideal switches determine (model_partials_held) */
enum { ORDERS = 3 };
enum { SIDE_BY_SIDE = 4 }; /* columns solved for together: as many as KLU handles at once */
#define ROOT6 2.4494897427831780982
static const double stage[3] = { (4 - ROOT6) / 10, (4 + ROOT6) / 10, 1 };
static const double radau[3][3] = { { (88 - 7 * ROOT6) / 360, (296 - 169 * ROOT6) / 1800, (-2 + 3 * ROOT6) / 225 },
                                    { (296 + 169 * ROOT6) / 1800, (88 + 7 * ROOT6) / 360, (-2 - 3 * ROOT6) / 225 },
                                    { (16 - ROOT6) / 36, (16 + ROOT6) / 36, 1.0 / 9 } };

/* One entry of the step's matrix. In a state's row: 1 on the diagonal, minus h times `part` times entry `from` of the
 * partial derivatives at `place`; in a variable's row that entry itself. */
struct entry {
    uint32_t from;
    uint8_t place;
    bool variable, diagonal, both; /* both: half of it is taken at place 1 */
    double part;
};

/* Quantities that ideal switches determine, as further variables, with their conditions as equations: the columns of
 * the partial derivatives in the order x, z, w, q, the rows of conditions combined. */
struct held {
    size_t n, first; /* of the rows of conditions, in their original order */
    struct model_pattern given;
    int64_t *column, *row;           /* joined */
    uint32_t *to;                    /* [given] where an entry goes; for a row of conditions the first of n entries */
    double *value, *combined, *unit; /* given; n by ORDERS*n */
    size_t *own;                     /* [n] for each unknown, where its n rows of conditions begin in its column */
    double *share;                   /* n by n: model_held_share */
};

struct tangent {
    bg_model *m;
    partials *partials;
    struct held held; /* n 0: the model has no ideal switches */
    struct model_pattern pattern;
    size_t nx, nz, n, ny, nq, first_output;
    bool equal;
    size_t places, size; /* places at which partial derivatives are taken; size of the step's matrix */
    double h;
    double *value[3];
    double *terms_of[3];   /* likewise: magnitudes of the sums of terms; NULL: it is no sum */
    int64_t *column, *row; /* of the step's matrix */
    VEC(struct entry) entry;
    VEC(int64_t) rows;
    double *matrix, *right, *terms;
    factor *step;
    int64_t *inner_column, *inner_row;
    uint32_t *inner_from;
    double *inner_value, *z;
    factor *inner; /* g_z */
};

/* ---------------------------------------------------------------- matrices */

static void
add_tangent_entry(tangent *g, size_t row, struct entry e)
{
    vec_push(&g->rows, (int64_t)row);
    vec_push(&g->entry, e);
}

/* Three stages of states and variables. */
static void
open_radau(tangent *g)
{
    size_t n = g->n;

    for (size_t j = 0; j < 3; j++)
        for (size_t c = 0; c < n; c++) {
            for (size_t i = 0; i < 3; i++)
                for (int64_t k = g->pattern.column[c]; k < g->pattern.column[c + 1]; k++) {
                    size_t r = (size_t)g->pattern.row[k];

                    if (r < n && (r < g->nx || i == j))
                        add_tangent_entry(g, i * n + r,
                                          (struct entry){ .from = (uint32_t)k,
                                                          .place = (uint8_t)j,
                                                          .variable = r >= g->nx,
                                                          .diagonal = r < g->nx && r == c && i == j,
                                                          .part = radau[i][j] });
                }
            g->column[j * n + c + 1] = (int64_t)g->entry.n;
        }
}

/* The states at the midpoint, and the variables at the times of both ends. */
static void
open_equal(tangent *g)
{
    size_t nx = g->nx, nz = g->nz, at = 0;

    for (size_t c = 0; c < nx; c++) {
        for (uint8_t i = 0; i < 3; i++) /* rates, variables at the start, at the end */
            for (int64_t k = g->pattern.column[c]; k < g->pattern.column[c + 1]; k++) {
                size_t r = (size_t)g->pattern.row[k];

                if (i == 0 && r < nx)
                    add_tangent_entry(
                        g, r, (struct entry){ .from = (uint32_t)k, .diagonal = r == c, .both = true, .part = 0.25 });
                else if (i > 0 && r >= nx && r < g->n)
                    add_tangent_entry(
                        g, r + (i - 1u) * nz,
                        (struct entry){ .from = (uint32_t)k, .place = (uint8_t)(i - 1), .variable = true });
            }
        g->column[++at] = (int64_t)g->entry.n;
    }
    for (uint8_t i = 0; i < 2; i++)
        for (size_t c = nx; c < g->n; c++) {
            for (int64_t k = g->pattern.column[c]; k < g->pattern.column[c + 1]; k++) {
                size_t r = (size_t)g->pattern.row[k];

                if (r < g->n)
                    add_tangent_entry(
                        g, r < nx ? r : r + i * nz,
                        (struct entry){ .from = (uint32_t)k, .place = i, .variable = r >= nx, .part = 0.25 });
            }
            g->column[++at] = (int64_t)g->entry.n;
        }
}

/* g_z alone, for outputs at a point. */
static void
open_inner(tangent *g)
{
    size_t count = 0;

    g->inner_column = bg_calloc(g->nz + 1, sizeof *g->inner_column);
    g->inner_row = bg_calloc(g->pattern.nonzeros + 1, sizeof *g->inner_row);
    g->inner_from = bg_calloc(g->pattern.nonzeros + 1, sizeof *g->inner_from);
    g->inner_value = bg_calloc(g->pattern.nonzeros + 1, sizeof *g->inner_value);
    g->z = bg_calloc(g->nz + 1, sizeof *g->z);
    for (size_t c = 0; c < g->nz; c++) {
        for (int64_t k = g->pattern.column[g->nx + c]; k < g->pattern.column[g->nx + c + 1]; k++) {
            size_t r = (size_t)g->pattern.row[k];

            if (r >= g->nx && r < g->n) {
                g->inner_row[count] = (int64_t)(r - g->nx);
                g->inner_from[count++] = (uint32_t)k;
            }
        }
        g->inner_column[c + 1] = (int64_t)count;
    }
    g->inner = factor_new(g->nz, g->inner_column, g->inner_row, 0);
}

/* The pattern, with the quantities that ideal switches determine among the variables. */
static void
add_held(tangent *g, size_t nq, size_t ny)
{
    struct held *h = &g->held;
    size_t nw = h->n, nz, at = 0;

    h->given = g->pattern;
    h->first = h->given.n - ORDERS * nw;
    nz = h->first - ny - nq - nw - h->given.nx;
    h->column = bg_calloc(h->given.n + 1, sizeof *h->column);
    h->row = bg_calloc(h->given.nonzeros * (nw + 1) + nw * nw + 1, sizeof *h->row);
    h->own = bg_calloc(nw + 1, sizeof *h->own);
    h->share = bg_calloc(nw * nw + 1, sizeof *h->share);
    h->to = bg_calloc(h->given.nonzeros + 1, sizeof *h->to);
    h->value = bg_calloc(h->given.nonzeros + 1, sizeof *h->value);
    h->combined = bg_calloc(nw * ORDERS * nw + 1, sizeof *h->combined);
    h->unit = bg_calloc(ORDERS * nw + 1, sizeof *h->unit);
    g->pattern = (struct model_pattern){ .n = h->first, .nx = h->given.nx, .column = h->column, .row = h->row };
    for (size_t c = 0; c < h->first; c++) {
        size_t first_w = g->pattern.nx + nz, held = 0,
               from = c < first_w || c >= first_w + nw + nq ? c
                      : c < first_w + nw                    ? c + nq
                                                            : c - nw;
        bool unknown = c >= first_w && c < first_w + nw, conditions = unknown;

        for (int64_t k = h->given.column[from]; k < h->given.column[from + 1]; k++)
            conditions = conditions || (size_t)h->given.row[k] >= h->first;
        for (int pass = 0; pass < 3; pass++) { /* rates and variables, conditions, outputs: rows ascend */
            if (pass == 1 && conditions) {
                held = at;
                if (unknown)
                    h->own[c - first_w] = at;
                for (size_t i = 0; i < nw; i++)
                    h->row[at++] = (int64_t)(first_w + i);
            }
            for (int64_t k = h->given.column[from]; k < h->given.column[from + 1]; k++) {
                size_t r = (size_t)h->given.row[k];

                if (pass == (r < first_w ? 0 : 2) && r < h->first) {
                    h->to[k] = (uint32_t)at;
                    h->row[at++] = (int64_t)r;
                } else if (pass == 1 && r >= h->first) {
                    h->to[k] = (uint32_t)held;
                }
            }
        }
        h->column[c + 1] = (int64_t)at;
    }
    g->pattern.nonzeros = at;
}

/* Partial derivatives at a point, in the order of the pattern, stored as those of `place`. */
static bool
take_partials(tangent *g, double t, const double *x, size_t place)
{
    struct held *h = &g->held;
    double *value = g->value[place], *terms = g->terms_of[place];

    if (model_partials_at(g->m, g->partials, t, x, h->n ? h->value : value) != 0)
        return false;
    if (!h->n)
        return true;
    for (size_t r = 0; r < ORDERS * h->n; r++) {
        h->unit[r] = 1;
        if (!model_held_by(g->m, h->unit, h->combined + h->n * r))
            return false;
        h->unit[r] = 0;
    }
    memset(value, 0, g->pattern.nonzeros * sizeof *value);
    memset(terms, 0, g->pattern.nonzeros * sizeof *terms);
    for (size_t k = 0; k < h->given.nonzeros; k++) {
        size_t r = (size_t)h->given.row[k];

        for (size_t i = 0; i < h->n && r >= h->first; i++) {
            double term = h->combined[i + h->n * (r - h->first)] * h->value[k];

            value[h->to[k] + i] += term;
            terms[h->to[k] + i] += fabs(term);
        }
        if (r < h->first) {
            value[h->to[k]] = h->value[k];
            terms[h->to[k]] = fabs(h->value[k]);
        }
    }
    if (!model_held_share(g->m, h->share))
        return false;
    for (size_t j = 0; j < h->n; j++)
        for (size_t i = 0; i < h->n; i++) {
            value[h->own[j] + i] += h->share[i + h->n * j];
            terms[h->own[j] + i] += fabs(h->share[i + h->n * j]);
        }
    return true;
}

tangent *
tangent_new(bg_model *m, const var_id *by, size_t n, bool equal_steps)
{
    tangent *g;
    partials *p = (model_nheld(m) ? model_partials_held : model_partials)(m, by, n, model_noutputs(m));

    if (!p)
        return NULL;
    g = bg_calloc(1, sizeof *g);
    *g = (tangent){ .m = m, .partials = p, .pattern = model_partials_pattern(p), .nq = n, .equal = equal_steps };
    g->held.n = model_nheld(m);
    if (g->held.n)
        add_held(g, n, model_noutputs(m));
    g->nx = model_nstates(m);
    g->ny = model_noutputs(m);
    g->first_output = g->pattern.n - g->ny;
    g->n = g->first_output - n;
    g->nz = g->n - g->nx;
    g->places = equal_steps ? 2 : 3;
    g->size = equal_steps ? g->nx + 2 * g->nz : 3 * g->n;
    for (int i = 0; i < 3; i++) {
        g->value[i] = bg_calloc(g->pattern.nonzeros + 1, sizeof(double));
        g->terms_of[i] = g->held.n ? bg_calloc(g->pattern.nonzeros + 1, sizeof(double)) : NULL;
    }
    g->column = bg_calloc(g->size + 1, sizeof *g->column);
    (equal_steps ? open_equal : open_radau)(g);
    g->row = bg_calloc(g->entry.n + 1, sizeof *g->row);
    if (g->entry.n)
        memcpy(g->row, g->rows.at, g->entry.n * sizeof *g->row);
    vec_free(&g->rows);
    g->matrix = bg_calloc(g->entry.n + 1, sizeof *g->matrix);
    g->right = bg_calloc(SIDE_BY_SIDE * g->size + 1, sizeof *g->right);
    g->terms = bg_calloc(g->size + 1, sizeof *g->terms);
    g->step = factor_new(g->size, g->column, g->row, 0);
    open_inner(g);
    return g;
}

void
tangent_free(tangent *g)
{
    if (!g)
        return;
    for (int i = 0; i < 3; i++) {
        free(g->value[i]);
        free(g->terms_of[i]);
    }
    free(g->held.column);
    free(g->held.row);
    free(g->held.to);
    free(g->held.value);
    free(g->held.combined);
    free(g->held.unit);
    free(g->held.own);
    free(g->held.share);
    factor_free(g->step);
    factor_free(g->inner);
    vec_free(&g->entry);
    vec_free(&g->rows);
    free(g->column);
    free(g->row);
    free(g->matrix);
    free(g->right);
    free(g->terms);
    free(g->inner_column);
    free(g->inner_row);
    free(g->inner_from);
    free(g->inner_value);
    free(g->z);
    free(g);
}

struct model_pattern
tangent_pattern(const tangent *g)
{
    return g->pattern;
}
const double *
tangent_values(const tangent *g)
{
    return g->value[0];
}

/* ---------------------------------------------------------------- a step */

size_t
tangent_states(const tangent *g)
{
    return g->equal ? 1 : 3;
}

bool
tangent_gather(const tangent *g, double t0, double t1, sim_dense *dense, void *of, double *x)
{
    if (g->equal) {
        double *end = g->right; /* [nx] at least */

        if (!dense(of, t0, x) || !dense(of, t1, end))
            return false;
        for (size_t i = 0; i < g->nx; i++)
            x[i] = (x[i] + end[i]) / 2;
        return true;
    }
    for (size_t i = 0; i < 3; i++)
        if (!dense(of, i == 2 ? t1 : t0 + stage[i] * (t1 - t0), x + i * g->nx))
            return false;
    return true;
}

bool
tangent_step(tangent *g, double t0, double t1, const double *x)
{
    double h = g->h = t1 - t0;
    size_t singular;

    for (size_t i = 0; i < g->places; i++) {
        double t = g->equal ? (i ? t1 : t0) : i == 2 ? t1 : t0 + stage[i] * h;

        if (!take_partials(g, t, g->equal ? x : x + i * g->nx, i))
            return false;
    }
    for (size_t k = 0; k < g->entry.n; k++) {
        const struct entry *e = &g->entry.at[k];
        double v = g->value[e->place][e->from] + (e->both ? g->value[1][e->from] : 0);

        g->matrix[k] = e->variable ? v : e->diagonal - h * e->part * v;
    }
    return factor_numeric(g->step, g->matrix, &singular);
}

/* Calls `take` with what entry k of a parameter's column, at place j, adds to row r of a step's right side. of: the
 * partial derivatives, or the magnitudes of their terms. */
static void
parameter_column(const tangent *g, double *const *of, size_t q, double *right,
                 void (*take)(double *to, double by, double *sum), double *sum)
{
    size_t n = g->n, nx = g->nx;

    for (size_t j = 0; j < g->places; j++)
        for (int64_t k = g->pattern.column[n + q]; k < g->pattern.column[n + q + 1]; k++) {
            size_t r = (size_t)g->pattern.row[k];
            double v = of[j][k];

            if (r >= n)
                continue;
            if (r >= nx)
                take(right + (g->equal ? r + j * g->nz : j * n + r), -v, sum);
            else if (g->equal)
                take(right + r, g->h / 4 * v, sum);
            else
                for (size_t i = 0; i < 3; i++)
                    take(right + i * n + r, g->h * radau[i][j] * v, sum);
        }
}

static void
put_term(double *to, double by, double *sum)
{
    (void)sum;
    *to += by;
}

static void
gather_sum(double *from, double by, double *sum)
{
    *sum += *from * by;
}

static void
gather_size(double *from, double by, double *sum)
{
    *sum += fabs(*from * by);
}

static void
put_size(double *to, double by, double *sum)
{
    (void)sum;
    *to += fabs(by);
}

static double *const *
sizes(const tangent *g)
{
    return g->held.n ? g->terms_of : g->value;
}

/* Turns a solution x of the step's equations, with parameter q in their right sides (NO_INDEX: none), into right sides
 * of the size of the rounding errors of all terms of each equation, with random signs: their solution estimates the
 * rounding errors of x. */
static void
off_by_rounding(tangent *g, bool transposed, size_t q, double *x)
{
    double *const *of = sizes(g), none = 0;

    memset(g->terms, 0, g->size * sizeof *g->terms);
    if (q != NO_INDEX)
        parameter_column(g, of, q, g->terms, put_size, &none);
    for (size_t c = 0; c < g->size; c++)
        for (int64_t k = g->column[c]; k < g->column[c + 1]; k++) {
            const struct entry *e = &g->entry.at[k];
            size_t r = (size_t)g->row[k];
            double v = fabs(of[e->place][e->from]) + (e->both ? fabs(of[1][e->from]) : 0);

            v = e->variable ? v : e->diagonal + fabs(g->h * e->part) * v;
            g->terms[transposed ? c : r] += fabs(v * x[transposed ? r : c]);
        }
    for (size_t i = 0; i < g->size; i++)
        x[i] = bg_hash_mix(i + 1, 1) & 1 ? DBL_EPSILON * g->terms[i] : -DBL_EPSILON * g->terms[i];
}

/* At most SIDE_BY_SIDE columns. */
static bool
forward_some(tangent *g, const size_t *q, size_t count, double *s, double *rounding)
{
    size_t nx = g->nx;
    double none = 0;

    memset(g->right, 0, count * g->size * sizeof *g->right);
    for (size_t k = 0; k < count; k++) {
        double *right = g->right + k * g->size;

        for (size_t i = 0; i < (g->equal ? 1 : 3); i++)
            memcpy(right + i * g->n, s + k * nx, nx * sizeof *s);
        if (q[k] != NO_INDEX)
            parameter_column(g, g->value, q[k], right, put_term, &none);
    }
    if (!factor_solve_several(g->step, count, g->right))
        return false;
    for (size_t k = 0; k < count; k++) {
        const double *right = g->right + k * g->size;

        for (size_t i = 0; i < nx; i++)
            s[k * nx + i] = g->equal ? 2 * right[i] - s[k * nx + i] : right[2 * g->n + i];
    }
    if (!rounding)
        return true;
    for (size_t k = 0; k < count; k++)
        off_by_rounding(g, false, q[k], g->right + k * g->size);
    if (!factor_solve_several(g->step, count, g->right))
        return false;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < nx; i++)
            rounding[k * nx + i] += fabs(g->right[k * g->size + (g->equal ? i : 2 * g->n + i)]);
    return true;
}

bool
tangent_forward(tangent *g, const size_t *q, size_t count, double *s, double *rounding)
{
    bool fine = true;

    for (size_t k = 0; k < count && fine; k += SIDE_BY_SIDE)
        fine = forward_some(g, q + k, count - k < SIDE_BY_SIDE ? count - k : SIDE_BY_SIDE, s + k * g->nx,
                            rounding ? rounding + k * g->nx : NULL);
    return fine;
}

/* Estimates the rounding errors of a backward step whose solution is in g->right. */
static bool
back_rounding(tangent *g, double *lambda, double *gradient)
{
    double *off = g->right + g->size;

    memcpy(off, g->right, g->size * sizeof *off);
    off_by_rounding(g, true, NO_INDEX, off);
    if (!factor_solve_transposed(g->step, off))
        return false;
    for (size_t i = 0; i < g->nx; i++)
        lambda[i] += g->equal ? fabs(off[i]) : fabs(off[i] + off[g->n + i] + off[2 * g->n + i]);
    for (size_t q = 0; q < g->nq; q++) {
        double size = 0, sum = 0;

        parameter_column(g, sizes(g), q, g->right, gather_size, &size);
        parameter_column(g, g->value, q, off, gather_sum, &sum);
        gradient[q] += DBL_EPSILON * size + fabs(sum);
    }
    return true;
}

bool
tangent_back(tangent *g, double *lambda, double *gradient, double *lambda_rounding, double *gradient_rounding)
{
    size_t nx = g->nx;

    memset(g->right, 0, g->size * sizeof *g->right);
    for (size_t i = 0; i < nx; i++)
        g->right[(g->equal ? 0 : 2 * g->n) + i] = (g->equal ? 2 : 1) * lambda[i];
    if (!factor_solve_transposed(g->step, g->right))
        return false;
    for (size_t i = 0; i < nx; i++)
        lambda[i] = g->equal ? g->right[i] - lambda[i] : g->right[i] + g->right[g->n + i] + g->right[2 * g->n + i];
    for (size_t q = 0; q < g->nq; q++)
        parameter_column(g, g->value, q, g->right, gather_sum, &gradient[q]);
    return !lambda_rounding || back_rounding(g, lambda_rounding, gradient_rounding);
}

/* ---------------------------------------------------------------- derivatives of outputs at a point */

bool
tangent_point(tangent *g, double t, const double *x)
{
    size_t singular;

    if (!take_partials(g, t, x, 0))
        return false;
    for (size_t c = 0; c < g->nz; c++)
        for (int64_t k = g->inner_column[c]; k < g->inner_column[c + 1]; k++)
            g->inner_value[k] = g->value[0][g->inner_from[k]];
    return g->nz == 0 || factor_numeric(g->inner, g->inner_value, &singular);
}

/* Adds `by` times column c: to the right side of z where that is wanted, and to rows first .. first+n of rates or
 * outputs. */
static void
add_tangent_column(const tangent *g, size_t c, double by, double *z, size_t first, size_t n, double *to)
{
    for (int64_t k = g->pattern.column[c]; k < g->pattern.column[c + 1] && by != 0; k++) {
        size_t r = (size_t)g->pattern.row[k];

        if (z && r >= g->nx && r < g->n)
            z[r - g->nx] -= g->value[0][k] * by;
        else if (r >= first && r < first + n)
            to[r - first] += g->value[0][k] * by;
    }
}

/* Rows first .. first+n for changes s of the states, and a change of parameter q. */
static bool
rows_by(tangent *g, size_t q, const double *s, size_t first, size_t n, double *to)
{
    memset(g->z, 0, g->nz * sizeof *g->z);
    memset(to, 0, n * sizeof *to);
    for (size_t c = 0; c < g->nx; c++)
        add_tangent_column(g, c, s[c], g->z, first, n, to);
    if (q != NO_INDEX)
        add_tangent_column(g, g->n + q, 1, g->z, first, n, to);
    if (g->nz && !factor_solve(g->inner, g->z))
        return false;
    for (size_t c = 0; c < g->nz; c++)
        add_tangent_column(g, g->nx + c, g->z[c], NULL, first, n, to);
    return true;
}

bool
tangent_outputs(tangent *g, size_t q, const double *s, double *dy)
{
    return rows_by(g, q, s, g->first_output, g->ny, dy);
}

bool
tangent_rates(tangent *g, size_t q, const double *s, double *ds)
{
    return rows_by(g, q, s, 0, g->nx, ds);
}

/* Column c of outputs and of the variables' equations times their weights; magnitudes of its terms are added to
 * *terms. */
static double
weighed_column(const tangent *g, size_t c, const double *weight, const double *z, double *terms)
{
    double sum = 0, size = 0;

    for (int64_t k = g->pattern.column[c]; k < g->pattern.column[c + 1]; k++) {
        size_t r = (size_t)g->pattern.row[k];

        double term = r >= g->first_output          ? g->value[0][k] * weight[r - g->first_output]
                      : z && r >= g->nx && r < g->n ? -g->value[0][k] * z[r - g->nx]
                                                    : 0;

        sum += term;
        size += fabs(term);
    }
    *terms += size;
    return sum;
}

bool
tangent_outputs_back(tangent *g, const double *weight, double *lambda, double *terms, double *gradient)
{
    double none = 0;

    for (size_t c = 0; c < g->nz; c++)
        g->z[c] = weighed_column(g, g->nx + c, weight, NULL, &none);
    if (g->nz && !factor_solve_transposed(g->inner, g->z))
        return false;
    for (size_t c = 0; c < g->nx; c++)
        lambda[c] += weighed_column(g, c, weight, g->z, &terms[c]);
    for (size_t q = 0; q < g->nq; q++)
        gradient[q] += weighed_column(g, g->n + q, weight, g->z, &none);
    return true;
}
