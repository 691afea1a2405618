/* transfer.c - see transfer.h
 *
 * Zeros: Emami-Naeini & Van Dooren (1982), Automatica 18(4):415, for one input and one output: infinite zeros are
 * removed one by one, exactly, before any eigenvalue is computed (as eigenvalues of a pencil, a chain of them would
 * appear as large finite ones).
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block_form.h"
#include "dense.h"
#include "modes.h"
#include "response.h"
#include "transfer.h"

#define INFINITE_ZERO 1e-12          /* relative to the input vector: a direct response below this is rounding */
#define EQUAL 1e-10                  /* relative: parts that count as equal when sorting */
#define CANCELS 1e-6                 /* relative to a pole: a zero cancels it */
#define ROUNDING (100 * DBL_EPSILON) /* relative to the norm of the matrix */
/* Frequencies at which the gain may be taken, as ratios of neighbours about the mean of poles and zeros: they span nine
 * times it, enough to get away from a zero. */
enum { GAIN_LOOKS = 8 };
#define GAIN_RATIO 1.37

/* Removes pairs of equal zeros and poles from both lists. */
static void
cancel(double complex *zero, size_t *nzeros, double complex *pole, size_t *npoles, double size)
{
    for (size_t i = 0; i < *nzeros;) {
        size_t best = *npoles;

        for (size_t k = 0; k < *npoles; k++)
            if (cabs(zero[i] - pole[k]) <= (pole[k] == 0 ? ROUNDING * size : CANCELS * cabs(pole[k])) &&
                (best == *npoles || cabs(zero[i] - pole[k]) < cabs(zero[i] - pole[best])))
                best = k;
        if (best == *npoles) {
            i++;
            continue;
        }
        zero[i] = zero[--*nzeros];
        pole[best] = pole[--*npoles];
    }
}

static int
compare_complex(const void *a, const void *b)
{
    double complex x = *(const double complex *)a, y = *(const double complex *)b;
    double p = fabs(cimag(x)), q = fabs(cimag(y));

    if (fabs(p - q) > EQUAL * (p + q))
        return p > q ? -1 : 1;
    if (fabs(creal(x) - creal(y)) > EQUAL * (cabs(x) + cabs(y)))
        return creal(x) < creal(y) ? -1 : 1;
    return (cimag(x) < cimag(y)) - (cimag(x) > cimag(y));
}

/* x' = A x + b u, y = c x + d u, the n by n matrix in an array of leading dimension lead. */
struct channel {
    size_t n, lead;
    double *A, *b, *c, d;
};

/* Removes one infinite zero. With y = 0 and coordinates in which y depends on the last state alone, that state is 0,
 * and what drives it becomes the output of the remaining system, which has one state less and the same finite zeros. v:
 * the reflection that maps c to the last state. */
static void
deflate(struct channel *g, double *v)
{
    size_t n = g->n;
    double length = dense_norm(n, g->c), sum = 0, *A = g->A;

    memcpy(v, g->c, n * sizeof *v);
    v[n - 1] += v[n - 1] < 0 ? -length : length;
    for (size_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    /* A <- H A H, b <- H b, H = 1 - 2 v v^T/(v^T v) */
    for (size_t k = 0; k <= n && sum > 0; k++) {
        double *column = k < n ? A + g->lead * k : g->b, dot = 0;

        for (size_t i = 0; i < n; i++)
            dot += v[i] * column[i];
        for (size_t i = 0; i < n; i++)
            column[i] -= 2 * dot / sum * v[i];
    }
    for (size_t i = 0; i < n && sum > 0; i++) {
        double dot = 0;

        for (size_t k = 0; k < n; k++)
            dot += A[i + g->lead * k] * v[k];
        for (size_t k = 0; k < n; k++)
            A[i + g->lead * k] -= 2 * dot / sum * v[k];
    }
    for (size_t k = 0; k + 1 < n; k++)
        g->c[k] = A[n - 1 + g->lead * k];
    g->d = g->b[n - 1];
    g->n--;
}

/* [A b; 0 0] for one input, x' = A x + b u with u constant: (n + 1) by (n + 1). */
static double *
with_input(const state_space *s, size_t input)
{
    size_t n = s->n, m = n + 1;
    double *E = bg_calloc(m * m + 1, sizeof *E);

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++)
            E[i + m * k] = s->A[i + n * k];
        E[i + m * n] = s->B[i + n * input];
    }
    return E;
}

/* The sizes of the states that an input drives. */
static double *
driven_scales(const state_space *s, size_t input)
{
    double *E = with_input(s, input), *scale = bg_calloc(s->n + 2, sizeof *scale);
    block_form f;

    block_form_make(s->n + 1, E, &f);
    memcpy(scale, f.scale, (s->n + 1) * sizeof *scale);
    block_form_free(&f);
    free(E);
    return scale;
}

/* The finite zeros of a channel: eigenvalues of the motion that leaves the output zero. False: no convergence. */
static bool
find_zeros(const state_space *s, size_t input, size_t output, double *size, double complex *zero, size_t *nzeros)
{
    size_t n = s->n;
    struct channel g = { n,
                         n,
                         bg_malloc((n * n + 1) * sizeof(double)),
                         bg_calloc(n + 1, sizeof(double)),
                         bg_calloc(n + 1, sizeof(double)),
                         s->D[output + s->ny * input] };
    double *v = bg_calloc(n + 1, sizeof *v), *scale = driven_scales(s, input), in = 0;
    bool fine = true;
    modes m = { 0 };

    *nzeros = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++)
            g.A[i + n * k] = s->A[i + n * k] == 0 ? 0 : s->A[i + n * k] * (scale[k] / scale[i]);
        g.b[i] = s->B[i + n * input] / scale[i];
        g.c[i] = s->C[output + s->ny * i] * scale[i];
    }
    *size = dense_norm(n * n, g.A);
    in = dense_norm(n, g.b);
    while (g.n > 0 && fabs(g.d) <= INFINITE_ZERO * in && dense_norm(g.n, g.c) > 0) {
        deflate(&g, v);
        if (dense_norm(g.n, g.c) <= ROUNDING * *size && fabs(g.d) <= ROUNDING * in) {
            g.n = 0; /* the input has no effect on the output */
            g.d = 0;
        }
    }
    if (g.n > 0 && g.d != 0) {
        double *Z = bg_calloc(g.n * g.n + 1, sizeof *Z);

        for (size_t i = 0; i < g.n; i++)
            for (size_t k = 0; k < g.n; k++)
                Z[i + g.n * k] = g.A[i + g.lead * k] - g.b[i] * g.c[k] / g.d;
        fine = modes_find(g.n, Z, &m);
        for (size_t i = 0; i < g.n && fine; i++)
            zero[(*nzeros)++] = m.eigenvalue[i];
        free(Z);
    }
    modes_free(&m);
    free(g.A);
    free(g.b);
    free(g.c);
    free(v);
    free(scale);
    return fine;
}

/* The gain, from the value at a point of the right half plane whose distance is about that of poles and zeros. */
static bool
find_gain(const state_space *s, size_t input, size_t output, struct zeros_poles *out)
{
    responder *r = responder_new(s);
    double complex *G = bg_calloc(s->ny * s->nu + 1, sizeof *G), product = 1;
    double middle = 0, best = 0, at = 1;
    size_t count = 0;
    bool fine = r != NULL;

    for (size_t i = 0; i < out->npoles + out->nzeros; i++) {
        double complex x = i < out->npoles ? out->pole[i] : out->zero[i - out->npoles];

        if (x != 0) {
            middle += log(cabs(x));
            count++;
        }
    }
    middle = count ? exp(middle / (double)count) : 1;
    for (int k = 0; k < GAIN_LOOKS; k++) {
        double here = middle * pow(GAIN_RATIO, k - (GAIN_LOOKS - 1) / 2.0), nearest = INFINITY;

        for (size_t i = 0; i < out->nzeros; i++)
            nearest = fmin(nearest, cabs(here - out->zero[i]) / (here + cabs(out->zero[i])));
        if (nearest > best) {
            best = nearest;
            at = here;
        }
    }
    fine = fine && transfer_at(r, at, G);
    for (size_t i = 0; i < out->nzeros || i < out->npoles; i++) {
        if (i < out->npoles)
            product *= at - out->pole[i];
        if (i < out->nzeros)
            product /= at - out->zero[i];
    }
    if (fine)
        out->gain = creal(G[output + s->ny * input] * product);
    responder_free(r);
    free(G);
    return fine;
}

static void
find_dc(const state_space *s, size_t input, size_t output, bool at_zero, struct zeros_poles *out)
{
    double complex product = out->gain;

    for (size_t i = 0; i < out->nzeros; i++)
        product *= -out->zero[i];
    for (size_t i = 0; i < out->npoles; i++)
        product /= -out->pole[i];
    for (size_t i = 0; i < out->npoles; i++)
        if (out->pole[i] == 0)
            product = INFINITY * (out->gain < 0 ? -1 : 1);
    out->dc = out->gain == 0 ? 0 : creal(product);
    if (!at_zero) { /* no pole at 0 that cancels: the value itself */
        responder *r = responder_new(s);
        double complex *G = bg_calloc(s->ny * s->nu + 1, sizeof *G);

        if (r && transfer_at(r, 0, G))
            out->dc = creal(G[output + s->ny * input]);
        responder_free(r);
        free(G);
    }
    out->dc += 0.0; /* not -0 */
}

bool
transfer_function(const state_space *s, size_t input, size_t output, struct zeros_poles *out)
{
    size_t n = s->n;
    double size = 0;
    bool fine, at_zero = false;
    modes m = { 0 };

    *out = (struct zeros_poles){ .zero = bg_calloc(n + 1, sizeof(double complex)),
                                 .pole = bg_calloc(n + 1, sizeof(double complex)) };
    fine = modes_find(n, s->A, &m) && find_zeros(s, input, output, &size, out->zero, &out->nzeros);
    for (size_t i = 0; i < n && fine; i++) {
        out->pole[out->npoles++] = m.eigenvalue[i];
        at_zero = at_zero || m.eigenvalue[i] == 0;
    }
    if (fine) {
        cancel(out->zero, &out->nzeros, out->pole, &out->npoles, size);
        fine = find_gain(s, input, output, out);
        if (fine && out->gain == 0) /* the input has no effect on the output */
            out->nzeros = out->npoles = 0;
    }
    if (fine)
        find_dc(s, input, output, at_zero, out);
    modes_free(&m);
    if (out->nzeros)
        qsort(out->zero, out->nzeros, sizeof *out->zero, compare_complex);
    if (out->npoles)
        qsort(out->pole, out->npoles, sizeof *out->pole, compare_complex);
    return fine;
}

void
zeros_poles_free(struct zeros_poles *z)
{
    free(z->zero);
    free(z->pole);
    *z = (struct zeros_poles){ 0 };
}

/* exp(M) by scaling and squaring with a diagonal Pade approximant of order 8 (Golub & Van Loan, 11.3), of a matrix
 * halved until its norm is at most SMALL: there the approximant is exact to rounding. */
static bool
matrix_exponential(size_t n, double *M)
{
    enum { ORDER = 8 };
    const double SMALL = 0.25;
    double size = dense_norm(n * n, M), factor = 1;
    int squarings = size > SMALL ? (int)ceil(log2(size / SMALL)) : 0;
    double *X = bg_calloc(n * n + 1, sizeof *X), *N = bg_calloc(n * n + 1, sizeof *N),
           *D = bg_calloc(n * n + 1, sizeof *D), *T = bg_calloc(n * n + 1, sizeof *T);
    bool fine;

    for (size_t i = 0; i < n * n; i++)
        M[i] = ldexp(M[i], -squarings);
    for (size_t i = 0; i < n; i++)
        X[i + n * i] = N[i + n * i] = D[i + n * i] = 1;
    for (int k = 1; k <= ORDER; k++) {
        factor *= (double)(ORDER - k + 1) / (double)(k * (2 * ORDER - k + 1));
        dense_multiply(n, n, n, 1, M, X, 0, T);
        memcpy(X, T, n * n * sizeof *X);
        for (size_t i = 0; i < n * n; i++) {
            N[i] += factor * X[i];
            D[i] += (k % 2 ? -factor : factor) * X[i];
        }
    }
    fine = dense_solve(n, D, n, N);
    for (int k = 0; k < squarings; k++) {
        dense_multiply(n, n, n, 1, N, N, 0, T);
        memcpy(N, T, n * n * sizeof *N);
    }
    memcpy(M, N, n * n * sizeof *M);
    free(X);
    free(N);
    free(D);
    free(T);
    return fine;
}

bool
time_response(const state_space *s, size_t input, bool impulse, double h, size_t points, double *y)
{
    size_t n = s->n, m = n + 1;
    double *E = with_input(s, input), *x = bg_calloc(m + 1, sizeof *x), *next = bg_calloc(m + 1, sizeof *next);
    block_form f;
    bool fine;

    if (impulse)
        memset(E + m * n, 0, m * sizeof *E);
    /* scaled: the number of squarings goes by rates, not by the units of states */
    block_form_make(m, E, &f);
    for (size_t i = 0; i < m; i++) {
        size_t state = f.order[i];

        x[i] = (state == n ? !impulse : impulse ? s->B[state + n * input] : 0) / f.scale[state];
    }
    for (size_t i = 0; i < m * m; i++)
        E[i] = h * f.M[i];
    fine = matrix_exponential(m, E);
    for (size_t k = 0; k < points && fine; k++) {
        for (size_t i = 0; i < s->ny; i++) {
            double sum = impulse ? 0 : s->D[i + s->ny * input];

            for (size_t j = 0; j < m; j++)
                if (f.order[j] < n)
                    sum += s->C[i + s->ny * f.order[j]] * f.scale[f.order[j]] * x[j];
            y[k * s->ny + i] = sum;
        }
        dense_multiply(m, m, 1, 1, E, x, 0, next);
        memcpy(x, next, m * sizeof *x);
    }
    block_form_free(&f);
    free(E);
    free(x);
    free(next);
    return fine;
}
