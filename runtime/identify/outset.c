/* outset.c - see outset.h */
#include "outset.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "crossing.h"
#include "dense.h"
#include "factor.h"

struct outset {
    bg_model *m;
    const var_id *by;
    size_t n, nx, nz;
    double start;
    double *other;
    int64_t *column, *row;
    double *value, *right;
    factor *factor;
    bool regular;
    /* where the system is singular: the rates by states with the conserved quantities; these by rows; how many */
    double *whole, *conserved, *scale, *from;
    size_t nconserved;
};

enum { DENSE_STATES = 600 }; /* up to so many states conserved quantities are found, from singular values: n^3 */
#define FAR 30               /* times a small step of a parameter: outset_initial says why */
#define TINY_PIVOT 1e-13     /* of the scaled matrix: below it equations follow from others */
#define NOTHING 1e-11        /* of the greatest singular value */

outset *
outset_new(bg_model *m, const var_id *by, size_t n, double start)
{
    outset *o = bg_calloc(1, sizeof *o);

    *o = (outset){ .m = m, .by = by, .n = n, .nx = model_nstates(m), .start = start };
    o->other = bg_calloc(o->nx + 1, sizeof(double));
    return o;
}

void
outset_free(outset *o)
{
    if (!o)
        return;
    factor_free(o->factor);
    free(o->other);
    free(o->column);
    free(o->row);
    free(o->value);
    free(o->right);
    free(o->whole);
    free(o->conserved);
    free(o->scale);
    free(o->from);
    free(o);
}

bool
outset_initial(outset *o, size_t q, double *s)
{
    const char *name = model_variable(o->m, o->by[q]).name;
    double at = model_parameter_value(o->m, o->by[q]), e = FAR * parameter_step(o->m, o->by[q]);
    bool fine = true;

    /* fourth order with wide steps: initial values that are solved for come from iterations, accurate to ten digits */
    memset(s, 0, o->nx * sizeof *s);
    for (int k = -2; k <= 2 && fine; k++) {
        if (k == 0)
            continue;
        model_set_parameter(o->m, name, at + k * e);
        fine = model_initial(o->m, o->start, o->other);
        for (size_t i = 0; i < o->nx && fine; i++)
            s[i] += (k == 1 ? 8 : k == -1 ? -8 : k == 2 ? -1 : 1) * o->other[i] / (12 * e);
    }
    model_set_parameter(o->m, name, at);
    return fine;
}

/* Does an equilibrium leave the state as it is? */
static bool
state_stays(const outset *o, size_t i)
{
    struct model_state s = model_state(o->m, i);

    return s.only_outputs || s.holds;
}

/* Scales rows and columns by powers of two, so that units do not matter: row[i]*A*column[j]. */
static void
scale_by_powers(size_t n, double *A, double *row)
{
    for (size_t i = 0; i < n; i++) {
        double most = 0;

        for (size_t j = 0; j < n; j++)
            most = fmax(most, fabs(A[i + n * j]));
        row[i] = most > 0 ? ldexp(1, -ilogb(most)) : 1;
        for (size_t j = 0; j < n; j++)
            A[i + n * j] *= row[i];
    }
}

/* Makes A s = -b and w s = w s0 one regular system: A + u w, where u spans what A does not reach. */
static bool
keep_conserved(outset *o, tangent *g)
{
    size_t n = o->nx;
    double *sigma = bg_calloc(n + 1, sizeof *sigma), *u = bg_calloc(n * n + 1, sizeof *u),
           *copy = bg_calloc(n * n + 1, sizeof *copy), *super = bg_calloc(n + 1, sizeof *super), none = 0;
    bool fine = true;

    o->whole = bg_calloc(n * n + 1, sizeof *o->whole);
    o->scale = bg_calloc(n + 1, sizeof *o->scale);
    o->from = bg_calloc(n + 1, sizeof *o->from);
    memset(o->other, 0, n * sizeof *o->other);
    for (size_t c = 0; c < n && fine; c++) {
        o->other[c] = 1;
        fine = tangent_rates(g, NO_INDEX, o->other, o->whole + n * c);
        o->other[c] = 0;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < n && state_stays(o, i); c++)
            o->whole[i + n * c] = i == c;
    scale_by_powers(n, o->whole, o->scale);
    memcpy(copy, o->whole, n * n * sizeof *copy);
    fine = fine && LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'A', 'N', (lapack_int)n, (lapack_int)n, copy, (lapack_int)n, sigma,
                                  u, (lapack_int)n, &none, 1, super) == 0;
    o->conserved = u;
    for (size_t k = 0; k < n && fine; k++) {
        if (sigma[k] > NOTHING * sigma[0])
            continue;
        o->nconserved++; /* the last columns of u */
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < n; c++)
                o->whole[i + n * c] += u[i + n * k] * u[c + n * k] * o->scale[c];
    }
    free(sigma);
    free(copy);
    free(super);
    return fine;
}

bool
outset_rests(outset *o, tangent *g, double t, const double *x)
{
    struct model_pattern p = tangent_pattern(g);
    size_t n = p.n - model_noutputs(o->m) - o->n, count = 0, singular;
    const double *value = tangent_values(g);

    if (!tangent_point(g, t, x))
        return false;
    o->nz = n - o->nx;
    o->column = bg_calloc(n + 1, sizeof *o->column);
    o->row = bg_calloc(p.nonzeros + 1, sizeof *o->row);
    o->value = bg_calloc(p.nonzeros + 1, sizeof *o->value);
    o->right = bg_calloc(n + 1, sizeof *o->right);
    for (size_t c = 0; c < n; c++) {
        for (int64_t k = p.column[c]; k < p.column[c + 1]; k++) {
            size_t r = (size_t)p.row[k];

            if (r >= n)
                continue;
            o->row[count] = (int64_t)r;
            o->value[count++] = r < o->nx && state_stays(o, r) ? r == c : value[k];
        }
        o->column[c + 1] = (int64_t)count;
    }
    o->factor = factor_new(n, o->column, o->row, TINY_PIVOT);
    o->regular = factor_numeric(o->factor, o->value, &singular);
    return o->regular || (o->nx <= DENSE_STATES && keep_conserved(o, g));
}

/* Solves a system that is regular only with the conserved quantities. */
static bool
conserved_equilibrium(outset *o, tangent *g, size_t q, double *s)
{
    size_t n = o->nx;
    double *copy = bg_calloc(n * n + 1, sizeof *copy);
    bool fine;

    memset(o->other, 0, n * sizeof *o->other);
    fine = tangent_rates(g, q, o->other, o->from);
    for (size_t i = 0; i < n; i++)
        o->from[i] = o->scale[i] * (state_stays(o, i) ? s[i] : -o->from[i]);
    for (size_t k = n - o->nconserved; k < n; k++) {
        const double *u = o->conserved + n * k;
        double total = 0;

        for (size_t i = 0; i < n; i++)
            total += u[i] * o->scale[i] * s[i];
        for (size_t i = 0; i < n; i++)
            o->from[i] += u[i] * total;
    }
    memcpy(copy, o->whole, n * n * sizeof *copy);
    fine = fine && dense_solve(n, copy, 1, o->from);
    if (fine)
        memcpy(s, o->from, n * sizeof *s);
    free(copy);
    return fine;
}

bool
outset_equilibrium(outset *o, tangent *g, size_t q, double *s)
{
    struct model_pattern p = tangent_pattern(g);
    size_t n = o->nx + o->nz;

    if (!o->regular)
        return conserved_equilibrium(o, g, q, s);
    memset(o->right, 0, n * sizeof *o->right);
    for (int64_t k = p.column[n + q]; k < p.column[n + q + 1]; k++)
        if ((size_t)p.row[k] < n)
            o->right[p.row[k]] -= tangent_values(g)[k];
    for (size_t i = 0; i < o->nx; i++)
        if (state_stays(o, i))
            o->right[i] = s[i];
    if (!factor_solve(o->factor, o->right))
        return false;
    memcpy(s, o->right, o->nx * sizeof *s);
    return true;
}
