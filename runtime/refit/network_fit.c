/* network_fit.c - see network_fit.h */
#include "network_fit.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "least_squares.h"
#include "response.h"

enum { DENSE = 1200 };
/* The dense grid goes from BELOW times the slowest eigenvalue to a hundred times the fastest. Eigenvalues below
 * SLOWEST times the fastest count as zero. */
static const double BELOW = 1e-3, RANGE = 1e5, SLOWEST = 1e-7;
/* The search for one set of parts: it ends with a step that changes the logarithms of coefficients by less, or promises
 * to lower the cost by less, relatively. */
static const double LEAST_STEP = 1e-5, LEAST_GAIN = 1e-6;
/* The search for the least greatest error: a round that lowers it by a smaller share does not count as progress, after
 * so many of these it ends, and each round has so many steps. */
static const double PROGRESS = 1e-4;
enum { ROUNDS_WITHOUT = 25, ROUND_STEPS = 4 };
/* Peaks above this share of the greatest error join the frequencies that are fitted, unless one of these is nearer
 * than NEAR, in the logarithm. No weight falls below LEAST_WEIGHT in a round, so that each can grow again. */
static const double PEAK = 0.7, NEAR = 0.01, LEAST_WEIGHT = 1e-4;
/* Of the greatest diagonal of the normal equations: added to all, since parts may act alike. */
static const double REGULAR = 1e-6;
static const double FARTHEST = 9.3; /* greatest distance of a logarithm from its start: four decades */

/* ---------------------------------------------------------------- frequencies */

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
frobenius(const double complex *G, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += creal(G[i]) * creal(G[i]) + cimag(G[i]) * cimag(G[i]);
    return sqrt(sum);
}

/* A logarithmic grid from far below the slowest eigenvalue to far above the fastest, finer about each resonance. */
static void
list_dense(const double complex *eigenvalue, size_t n, frequencies *f)
{
    static const double about[] = { -2, -1, -0.5, 0, 0.5, 1, 2 };
    double slow = INFINITY, fast = 0;

    for (size_t i = 0; i < n; i++) {
        double size = cabs(eigenvalue[i]);

        if (size > 0)
            slow = fmin(slow, size);
        fast = fmax(fast, size);
    }
    if (!(fast > 0))
        slow = fast = 1;
    slow = fmax(slow, SLOWEST * fast);
    f->dense = bg_calloc(DENSE + 7 * n + 1, sizeof *f->dense);
    for (int i = 0; i < DENSE; i++)
        f->dense[f->ndense++] = slow * BELOW * pow(RANGE * fast / slow, (double)i / (DENSE - 1));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof about / sizeof *about; k++) {
            double omega = cimag(eigenvalue[i]) + about[k] * creal(eigenvalue[i]);

            if (cimag(eigenvalue[i]) > 0 && omega > 0)
                f->dense[f->ndense++] = omega;
        }
    qsort(f->dense, f->ndense, sizeof *f->dense, by_value);
}

bool
frequencies_of(const state_space *s, const double complex *eigenvalue, size_t neigenvalues, size_t count,
               frequencies *f)
{
    size_t size = s->ny * s->nu;
    responder *r = responder_new(s);
    double *along, total = 0, next = 0;
    bool fine = r != NULL;

    *f = (frequencies){ .size = size };
    list_dense(eigenvalue, neigenvalues, f);
    f->dense_G = bg_calloc(f->ndense * size + 1, sizeof *f->dense_G);
    for (size_t i = 0; i < f->ndense && fine; i++) {
        fine = response_at(r, f->dense[i], f->dense_G + i * size);
        f->scale = fmax(f->scale, frobenius(f->dense_G + i * size, size));
    }
    along = bg_calloc(f->ndense + 1, sizeof *along);
    /* first the length of the response's path, then that length per logarithm of frequency */
    for (int round = 0; round < 2 && fine; round++) {
        double way = total;

        total = 0;
        for (size_t i = 1; i < f->ndense; i++) {
            double moved = 0;

            for (size_t k = 0; k < size; k++)
                moved = hypot(moved, cabs(f->dense_G[i * size + k] - f->dense_G[(i - 1) * size + k]));
            if (round)
                moved += 0.5 * way * log(f->dense[i] / f->dense[i - 1]) / log(f->dense[f->ndense - 1] / f->dense[0]);
            along[i] = total += moved;
        }
    }
    f->omega = bg_calloc(count + 1, sizeof *f->omega);
    f->G = bg_calloc((count + 1) * size, sizeof *f->G);
    f->weight = bg_calloc(count + 1, sizeof *f->weight);
    for (size_t i = 0; i < f->ndense && fine && f->n < count; i++)
        if (along[i] >= next) {
            f->omega[f->n] = f->dense[i];
            memcpy(f->G + f->n * size, f->dense_G + i * size, size * sizeof *f->G);
            f->weight[f->n++] = 1;
            while (next <= along[i] && total > 0)
                next += total / (double)count;
        }
    free(along);
    responder_free(r);
    return fine && f->scale > 0;
}

static void *
copied_responses(const void *of, size_t bytes)
{
    void *copy = bg_malloc(bytes + 1);

    if (bytes)
        memcpy(copy, of, bytes);
    return copy;
}

frequencies
frequencies_copy(const frequencies *f)
{
    frequencies c = *f;

    c.omega = copied_responses(f->omega, f->n * sizeof *f->omega);
    c.G = copied_responses(f->G, f->n * f->size * sizeof *f->G);
    c.weight = copied_responses(f->weight, f->n * sizeof *f->weight);
    c.dense = copied_responses(f->dense, f->ndense * sizeof *f->dense);
    c.dense_G = copied_responses(f->dense_G, f->ndense * f->size * sizeof *f->dense_G);
    return c;
}

void
frequencies_free(frequencies *f)
{
    free(f->omega);
    free(f->G);
    free(f->weight);
    free(f->dense);
    free(f->dense_G);
    *f = (frequencies){ 0 };
}

/* ---------------------------------------------------------------- errors and their derivatives */

struct fitting {
    const network *k;
    const tuning *t;
    const uint8_t *fate;
    const frequencies *f;
    network_piece piece;
    size_t nmoved, *moved; /* parameters that the piece depends on */
    size_t *column;        /* [parameters] their columns; NO_INDEX */
    double *theta;         /* [parameters] */
    double *factor;        /* [parts] */
    double complex *G, *from, *to;
    double *row; /* [nmoved] of a real part and an imaginary part */
};

static void
fitting_open(struct fitting *x, const network *k, const tuning *t, const uint8_t *fate, const frequencies *f,
             const double *theta)
{
    *x = (struct fitting){ .k = k, .t = t, .fate = fate, .f = f };
    network_piece_of(k, fate, &x->piece);
    x->moved = bg_calloc(t->nparameters + 1, sizeof *x->moved);
    x->column = bg_malloc((t->nparameters + 1) * sizeof *x->column);
    memset(x->column, 0xff, (t->nparameters + 1) * sizeof *x->column);
    for (size_t i = 0; i < x->piece.n; i++)
        for (size_t j = 0; j < t->of[x->piece.member[i]].n && fate[x->piece.member[i]] == PART_STAYS; j++) {
            size_t p = t->of[x->piece.member[i]].at[j].parameter;

            if (x->column[p] == NO_INDEX) {
                x->column[p] = x->nmoved;
                x->moved[x->nmoved++] = p;
            }
        }
    x->theta = copied_responses(theta, t->nparameters * sizeof *theta);
    x->factor = bg_calloc(k->n + 1, sizeof *x->factor);
    x->G = bg_calloc(f->size + 1, sizeof *x->G);
    x->from = bg_calloc(x->piece.n * k->nu + 1, sizeof *x->from);
    x->to = bg_calloc(x->piece.n * k->ny + 1, sizeof *x->to);
    x->row = bg_calloc(2 * x->nmoved + 1, sizeof *x->row);
}

static void
fitting_close(struct fitting *x)
{
    network_piece_free(&x->piece);
    free(x->moved);
    free(x->column);
    free(x->theta);
    free(x->factor);
    free(x->G);
    free(x->from);
    free(x->to);
    free(x->row);
}

static void
set_factors(struct fitting *x)
{
    for (size_t i = 0; i < x->k->n; i++) {
        double sum = 0;

        for (size_t j = 0; j < x->t->of[i].n; j++)
            sum += x->t->of[i].at[j].power * x->theta[x->t->of[i].at[j].parameter];
        x->factor[i] = exp(sum);
    }
}

/* Derivatives of entry (y, u) by each moved parameter, real parts then imaginary ones, times weight. */
static void
derive(struct fitting *x, double omega, size_t y, size_t u, double weight)
{
    const network *k = x->k;

    memset(x->row, 0, 2 * x->nmoved * sizeof *x->row);
    for (size_t i = 0; i < x->piece.n; i++) {
        size_t part = x->piece.member[i];
        double complex d;

        if (x->fate[part] != PART_STAYS || !x->t->of[part].n)
            continue;
        d = x->to[i + x->piece.n * y] * (k->part[part].storage ? I * omega : 1) - k->F[y + k->ny * part];
        d *= -weight * x->from[i + x->piece.n * u] * x->factor[part] * k->part[part].coefficient;
        for (size_t j = 0; j < x->t->of[part].n; j++) {
            const tuned *q = &x->t->of[part].at[j];

            x->row[x->column[q->parameter]] += q->power * creal(d);
            x->row[x->nmoved + x->column[q->parameter]] += q->power * cimag(d);
        }
    }
}

static bool
evaluate_response(void *ctx, const double *theta, ls_rows *rows)
{
    struct fitting *x = ctx;
    const frequencies *f = x->f;

    for (size_t i = 0; i < x->nmoved; i++)
        x->theta[x->moved[i]] = theta[i];
    set_factors(x);
    for (size_t i = 0; i < f->n; i++) {
        double weight = f->weight[i] / f->scale;

        if (!network_at(x->k, &x->piece, x->fate, x->factor, f->omega[i], x->G, x->from, x->to, NULL))
            return false;
        for (size_t u = 0; u < x->k->nu; u++)
            for (size_t y = 0; y < x->k->ny; y++) {
                double complex e = weight * (x->G[y + x->k->ny * u] - f->G[i * f->size + y + x->k->ny * u]);

                derive(x, f->omega[i], y, u, weight);
                ls_rows_add(rows, x->row, creal(e));
                ls_rows_add(rows, x->row + x->nmoved, cimag(e));
            }
    }
    return true;
}

double
network_error(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, const double *theta)
{
    struct fitting x;
    double sum = 0;

    fitting_open(&x, k, t, fate, f, theta);
    set_factors(&x);
    for (size_t i = 0; i < f->n; i++) {
        if (!network_at(k, &x.piece, fate, x.factor, f->omega[i], x.G, x.from, x.to, NULL)) {
            sum = INFINITY;
            break;
        }
        for (size_t j = 0; j < f->size; j++)
            sum += pow(f->weight[i] / f->scale * cabs(x.G[j] - f->G[i * f->size + j]), 2);
    }
    fitting_close(&x);
    return sqrt(sum / (double)f->n);
}

double
network_fit(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, size_t steps, double *theta)
{
    struct fitting x;
    double *at, *low, *high, error;
    ls_result r = { 0 };

    fitting_open(&x, k, t, fate, f, theta);
    at = bg_calloc(x.nmoved + 1, sizeof *at);
    low = bg_calloc(x.nmoved + 1, sizeof *low);
    high = bg_calloc(x.nmoved + 1, sizeof *high);
    for (size_t i = 0; i < x.nmoved; i++) {
        at[i] = theta[x.moved[i]];
        low[i] = -FARTHEST;
        high[i] = FARTHEST;
    }
    if (x.nmoved) {
        least_squares(&(ls_problem){ .n = x.nmoved,
                                     .low = low,
                                     .high = high,
                                     .evaluate = evaluate_response,
                                     .ctx = &x,
                                     .step_tolerance = LEAST_STEP,
                                     .cost_tolerance = LEAST_GAIN,
                                     .most_steps = steps },
                      at, &r);
        error = r.end == LS_NO_START ? INFINITY : sqrt(r.cost / (double)f->n);
        for (size_t i = 0; i < x.nmoved; i++)
            theta[x.moved[i]] = at[i];
    } else {
        error = network_error(k, t, fate, f, theta);
    }
    free(r.triangle);
    free(at);
    free(low);
    free(high);
    fitting_close(&x);
    return error;
}

/* ---------------------------------------------------------------- the greatest error */

/* Largest singular value of a small matrix (overwritten). */
static double
greatest_singular(size_t ny, size_t nu, double complex *E)
{
    double *all = bg_calloc(ny + nu + 1, sizeof *all), *work = bg_calloc(ny + nu + 1, sizeof *work), out;

    if (ny * nu == 1)
        out = cabs(E[0]);
    else
        out = LAPACKE_zgesvd(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)ny, (lapack_int)nu, E, (lapack_int)ny, all, NULL,
                             1, NULL, 1, work) == 0
                  ? all[0]
                  : INFINITY;
    free(all);
    free(work);
    return out;
}

/* Errors at the given frequencies; returns the greatest. */
static double
errors_at(struct fitting *x, const double *omega, const double complex *G, size_t n, double *error)
{
    double worst = 0;

    set_factors(x);
    for (size_t i = 0; i < n; i++) {
        error[i] = INFINITY;
        if (network_at(x->k, &x->piece, x->fate, x->factor, omega[i], x->G, x->from, x->to, NULL)) {
            for (size_t j = 0; j < x->f->size; j++)
                x->G[j] -= G[i * x->f->size + j];
            error[i] = greatest_singular(x->k->ny, x->k->nu, x->G) / x->f->scale;
        }
        worst = fmax(worst, error[i]);
    }
    return worst;
}

static double
network_worst(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, const double *theta)
{
    struct fitting x;
    double *error = bg_calloc(f->ndense + 1, sizeof *error), worst;

    fitting_open(&x, k, t, fate, f, theta);
    worst = errors_at(&x, f->dense, f->dense_G, f->ndense, error);
    fitting_close(&x);
    free(error);
    return worst;
}

static void
add_frequency(frequencies *f, size_t dense, double weight)
{
    f->omega = bg_realloc(f->omega, (f->n + 1) * sizeof *f->omega);
    f->G = bg_realloc(f->G, (f->n + 1) * f->size * sizeof *f->G);
    f->weight = bg_realloc(f->weight, (f->n + 1) * sizeof *f->weight);
    f->omega[f->n] = f->dense[dense];
    memcpy(f->G + f->n * f->size, f->dense_G + dense * f->size, f->size * sizeof *f->G);
    f->weight[f->n++] = weight;
}

/* Adds the peaks of the errors that are not near an existing frequency. */
static void
add_peaks(frequencies *f, const double *error, double least)
{
    for (size_t i = 1; i + 1 < f->ndense; i++) {
        bool near = false;
        double weight = 1, nearest = INFINITY;

        if (error[i] < least || error[i] < error[i - 1] || error[i] <= error[i + 1])
            continue;
        for (size_t k = 0; k < f->n; k++) {
            double far = fabs(log(f->omega[k] / f->dense[i]));

            near = near || far < NEAR;
            if (far < nearest) {
                nearest = far;
                weight = f->weight[k];
            }
        }
        if (!near)
            add_frequency(f, i, weight);
    }
}

double
network_fit_worst(const network *k, const tuning *t, const uint8_t *fate, frequencies *f, size_t rounds, double *theta)
{
    double *error = bg_calloc(f->ndense + 1, sizeof *error),
           *best = copied_responses(theta, t->nparameters * sizeof *theta), least;
    size_t since = 0;

    least = network_worst(k, t, fate, f, theta);
    for (size_t round = 0; round < rounds && since < ROUNDS_WITHOUT; round++) {
        struct fitting x;
        double worst, now, sum = 0;

        fitting_open(&x, k, t, fate, f, theta);
        now = errors_at(&x, f->dense, f->dense_G, f->ndense, error);
        if (now < (1 - PROGRESS) * least)
            since = 0;
        else
            since++;
        if (now < least) {
            least = now;
            memcpy(best, theta, t->nparameters * sizeof *theta);
        }
        add_peaks(f, error, PEAK * now);
        free(error);
        error = bg_calloc((f->ndense > f->n ? f->ndense : f->n) + 1, sizeof *error);
        worst = errors_at(&x, f->omega, f->G, f->n, error);
        fitting_close(&x);
        if (!isfinite(worst) || worst == 0)
            break;
        /* squared weights are proportional to the errors; none becomes zero, since its frequency may matter again */
        for (size_t i = 0; i < f->n; i++) {
            f->weight[i] = fmax(f->weight[i] * sqrt(error[i] / worst), LEAST_WEIGHT);
            sum += f->weight[i] * f->weight[i] / (double)f->n;
        }
        for (size_t i = 0; i < f->n; i++)
            f->weight[i] /= sqrt(sum);
        network_fit(k, t, fate, f, ROUND_STEPS, theta);
    }
    memcpy(theta, best, t->nparameters * sizeof *theta);
    free(error);
    free(best);
    return least;
}

/* ---------------------------------------------------------------- prospects */

/* Rows of the errors' derivatives and, for each prospect, its errors before fitting. */
struct outlook {
    size_t rows, columns, ncandidates, entries; /* sizes of the response */
    double *J, *error;                          /* rows by columns; rows by candidates */
};

static bool
coefficient_may_go(const struct fitting *x, size_t part)
{
    return x->k->part[part].storage && !x->k->part[part].locked && x->fate[part] == PART_STAYS;
}

static bool
look_at_prospect(struct fitting *x, size_t every, prospect *p, struct outlook *o)
{
    const network *k = x->k;
    const frequencies *f = x->f;
    size_t n = x->piece.n, row = 0;
    double complex *diagonal = bg_calloc(n + 1, sizeof *diagonal);
    bool fine = true;

    set_factors(x);
    for (size_t i = 0; i < f->n && fine; i += every) {
        double weight = f->weight[i] / f->scale;

        fine = network_at(k, &x->piece, x->fate, x->factor, f->omega[i], x->G, x->from, x->to, diagonal);
        for (size_t u = 0; u < k->nu && fine; u++)
            for (size_t y = 0; y < k->ny; y++, row += 2) {
                double complex e = weight * (x->G[y + k->ny * u] - f->G[i * f->size + y + k->ny * u]);
                size_t c = 0;

                derive(x, f->omega[i], y, u, weight);
                for (size_t j = 0; j < o->columns; j++) {
                    o->J[row + o->rows * j] = x->row[j];
                    o->J[row + 1 + o->rows * j] = x->row[o->columns + j];
                }
                for (size_t m = 0; m < n; m++) {
                    size_t part = x->piece.member[m];
                    double complex product = weight * x->to[m + n * y] * x->from[m + n * u],
                                   pi = I * f->omega[i] * x->factor[part] * k->part[part].coefficient,
                                   own = diagonal[m], after[2];

                    if (!coefficient_may_go(x, part))
                        continue;
                    after[0] = e - product / own;
                    after[1] = e + product * pi / (1 - pi * own);
                    for (int way = 0; way < 2; way++, c++) {
                        p[c].part = part;
                        p[c].fate = way ? PART_GETS_NOTHING : PART_GIVES_NOTHING;
                        o->error[row + o->rows * c] = creal(after[way]);
                        o->error[row + 1 + o->rows * c] = cimag(after[way]);
                    }
                }
            }
    }
    free(diagonal);
    return fine;
}

/* The error of a prospect after the parameters are fitted to first order, within a limited distance. */
static void
judge_prospect(const struct outlook *o, prospect *p)
{
    size_t n = o->columns, m = o->rows;
    double *N = bg_calloc(n * n + 1, sizeof *N), *g = bg_calloc(n * o->ncandidates + 1, sizeof *g),
           *d = bg_calloc(n * o->ncandidates + 1, sizeof *d), most = 0;
    bool fine;

    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;

            for (size_t i = 0; i < m; i++)
                sum += o->J[i + m * a] * o->J[i + m * b];
            N[a + n * b] = N[b + n * a] = sum;
            if (a == b)
                most = fmax(most, sum);
        }
    for (size_t a = 0; a < n; a++)
        N[a * (n + 1)] += REGULAR * most;
    for (size_t c = 0; c < o->ncandidates; c++)
        for (size_t a = 0; a < n; a++)
            for (size_t i = 0; i < m; i++)
                g[a + n * c] += o->J[i + m * a] * o->error[i + m * c];
    memcpy(d, g, n * o->ncandidates * sizeof *d);
    fine = n == 0 || LAPACKE_dposv(LAPACK_COL_MAJOR, 'U', (lapack_int)n, (lapack_int)o->ncandidates, N, (lapack_int)n,
                                   d, (lapack_int)n) == 0;
    for (size_t c = 0; c < o->ncandidates; c++) {
        double sum = 0;

        for (size_t i = 0; i < m; i++)
            sum += o->error[i + m * c] * o->error[i + m * c];
        for (size_t a = 0; a < n && fine; a++)
            sum -= g[a + n * c] * d[a + n * c];
        p[c].error = isfinite(sum) ? sqrt(fmax(sum, 0) * 2 * (double)o->entries / (double)m) : INFINITY;
    }
    free(N);
    free(g);
    free(d);
}

prospect *
network_prospects(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, size_t every,
                  const double *theta, size_t *n)
{
    struct fitting x;
    struct outlook o;
    prospect *p;
    bool fine;

    fitting_open(&x, k, t, fate, f, theta);
    *n = 0;
    for (size_t i = 0; i < x.piece.n; i++)
        *n += coefficient_may_go(&x, x.piece.member[i]) ? 2 : 0;
    p = bg_calloc(*n + 1, sizeof *p);
    o = (struct outlook){ .rows = 2 * f->size * ((f->n + every - 1) / every),
                          .columns = x.nmoved,
                          .ncandidates = *n,
                          .entries = f->size };
    o.J = bg_calloc(o.rows * o.columns + 1, sizeof *o.J);
    o.error = bg_calloc(o.rows * *n + 1, sizeof *o.error);
    fine = look_at_prospect(&x, every, p, &o);
    if (fine)
        judge_prospect(&o, p);
    free(o.J);
    free(o.error);
    fitting_close(&x);
    if (fine)
        return p;
    free(p);
    return NULL;
}
