/* norms.c - see norms.h */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "norms.h"
#include "response.h"

#define SCALE_WITHIN 1e-3  /* of the norm that a scattering form is scaled by: any near it will do */
#define SHARP 1e-8         /* of the norm of the scattering form, which is compared with 1 */
#define ON_AXIS 1e-9       /* relative to an eigenvalue: its real part counts as zero */
#define REFLECTS_MORE 1e-9 /* above 1: excess of a scattering form at a frequency that is more than rounding */
#define ROUNDING (100 * DBL_EPSILON) /* rounding error of the QR algorithm, relative to the norm of the matrix */

static int
compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The eigenvalues of H (m by m, overwritten) that may be on the imaginary axis: their frequencies >= 0, ascending.
 * NO_INDEX: no convergence. */
static size_t
axis_eigenvalues(size_t m, double *H, double *omega)
{
    double *re = bg_calloc(m + 1, sizeof *re), *im = bg_calloc(m + 1, sizeof *im), *L = bg_calloc(m * m + 1, sizeof *L),
           *R = bg_calloc(m * m + 1, sizeof *R);
    double *scale = bg_calloc(m + 1, sizeof *scale), *condition = bg_calloc(m + 1, sizeof *condition), size = 0;
    lapack_int low, high;
    size_t count = 0;
    bool fine = LAPACKE_dgeevx(LAPACK_COL_MAJOR, 'B', 'V', 'V', 'E', (lapack_int)m, H, (lapack_int)m, re, im, L,
                               (lapack_int)m, R, (lapack_int)m, &low, &high, scale, &size, condition, NULL) == 0;

    for (size_t i = 0; i < m && fine; i++)
        if (im[i] >= 0 &&
            fabs(re[i]) <= fmax(ON_AXIS * hypot(re[i], im[i]), ROUNDING * size / fmax(condition[i], DBL_EPSILON)))
            omega[count++] = im[i];
    if (count)
        qsort(omega, count, sizeof *omega, compare_double);
    free(re);
    free(im);
    free(L);
    free(R);
    free(scale);
    free(condition);
    return fine ? count : NO_INDEX;
}

/* Frequencies at which a singular value of the response may be gamma, ascending; returns their number, NO_INDEX if it
 * cannot be determined. */
static size_t
crossings(const state_space *s, double gamma, double *omega)
{
    size_t n = s->n, nu = s->nu, ny = s->ny, count = NO_INDEX;
    double *R = bg_calloc(nu * nu + 1, sizeof *R), *DT = dense_transpose(ny, nu, s->D),
           *BT = dense_transpose(n, nu, s->B), *CT = dense_transpose(ny, n, s->C);
    double *DC = bg_calloc(nu * n + 1, sizeof *DC), *RB = bg_calloc(nu * n + 1, sizeof *RB),
           *H = bg_calloc(4 * n * n + 1, sizeof *H), *copy = bg_calloc(nu * nu + 1, sizeof *copy);
    double *F = bg_calloc(n * n + 1, sizeof *F), *G = bg_calloc(n * n + 1, sizeof *G),
           *K = bg_calloc(n * n + 1, sizeof *K), *DDC = bg_calloc(ny * n + 1, sizeof *DDC);
    bool fine;

    for (size_t i = 0; i < nu; i++)
        R[i + nu * i] = gamma * gamma;
    dense_multiply(nu, ny, nu, -1, DT, s->D, 1, R);
    dense_multiply(nu, ny, n, 1, DT, s->C, 0, DC);
    memcpy(RB, BT, nu * n * sizeof *RB);
    memcpy(copy, R, nu * nu * sizeof *R);
    fine = dense_solve(nu, copy, n, DC); /* R^-1 D^T C */
    memcpy(copy, R, nu * nu * sizeof *R);
    fine = fine && dense_solve(nu, copy, n, RB); /* R^-1 B^T */
    memcpy(F, s->A, n * n * sizeof *F);
    dense_multiply(n, nu, n, 1, s->B, DC, 1, F);
    dense_multiply(n, nu, n, gamma, s->B, RB, 0, G); /* scaled by gamma, so that both blocks have the same size */
    memcpy(DDC, s->C, ny * n * sizeof *DDC);
    dense_multiply(ny, nu, n, 1, s->D, DC, 1, DDC);
    dense_multiply(n, ny, n, -1 / gamma, CT, DDC, 0, K);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            H[i + 2 * n * k] = F[i + n * k];
            H[i + 2 * n * (n + k)] = G[i + n * k];
            H[n + i + 2 * n * k] = K[i + n * k];
            H[n + i + 2 * n * (n + k)] = -F[k + n * i];
        }
    if (fine && dense_finite(4 * n * n, H))
        count = n ? axis_eigenvalues(2 * n, H, omega) : 0;
    void *const all[] = { R, DT, BT, CT, DC, RB, H, copy, F, G, K, DDC };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return count;
}

static void
raise_bound(responder *r, double omega, struct norm_bounds *b)
{
    double x = response_norm(r, omega);

    if (x > b->lower) {
        b->lower = x;
        b->omega = omega;
    }
}

/* The response at the frequencies of its eigenvalues, where peaks may be. False: not stable. */
static bool
first_bound(const state_space *s, responder *r, struct norm_bounds *b)
{
    size_t n = s->n;
    double *re = bg_calloc(n + 1, sizeof *re), *im = bg_calloc(n + 1, sizeof *im),
           *A = bg_malloc((n * n + 1) * sizeof *A);
    bool fine;

    memcpy(A, s->A, n * n * sizeof *A);
    fine = n == 0 ||
           LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)n, A, (lapack_int)n, re, im, NULL, 1, NULL, 1) == 0;
    for (size_t i = 0; i < n && fine; i++)
        fine = re[i] < 0;
    if (fine) {
        raise_bound(r, 0, b);
        raise_bound(r, INFINITY, b);
    }
    for (size_t i = 0; i < n && fine; i++) {
        if (im[i] > 0)
            raise_bound(r, im[i], b);
        raise_bound(r, hypot(re[i], im[i]), b);
    }
    free(re);
    free(im);
    free(A);
    return fine;
}

bool
hinf_norm(const state_space *s, double tolerance, struct norm_bounds *out)
{
    double *omega = bg_calloc(2 * s->n + 2, sizeof *omega), margin = tolerance;
    responder *r = responder_new(s);
    bool fine, proved = false;

    *out = (struct norm_bounds){ 0, 0, 0 };
    fine = r && first_bound(s, r, out);
    if (out->lower == 0) /* zero at more frequencies than a numerator has zeros: nothing is transmitted */
        proved = true;
    for (int round = 0; round < 100 && fine && !proved; round++) {
        double gamma = (1 + margin) * out->lower, before = out->lower;
        size_t count = crossings(s, gamma, omega);

        if (count == NO_INDEX) {
            fine = false;
        } else if (count == 0) {
            out->upper = gamma;
            proved = true;
        }
        for (size_t i = 0; i + 1 < count && fine && !proved; i++)
            raise_bound(r, (omega[i] + omega[i + 1]) / 2, out);
        for (size_t i = 0; i < count && fine && !proved; i++)
            raise_bound(r, omega[i], out);
        /* crossings that may be due to rounding: a larger margin decides */
        if (out->lower <= (1 + margin / 4) * before)
            margin *= 4;
    }
    free(omega);
    responder_free(r);
    return fine && proved && isfinite(out->upper);
}

enum passivity
passivity_of(const state_space *s, double *omega)
{
    size_t n = s->n, m = s->nu;
    struct norm_bounds b;
    state_space S = state_space_new(n, m, m);
    double *inner = bg_calloc(m * m + 1, sizeof *inner), *E = bg_calloc(m * m + 1, sizeof *E),
           *EC = bg_calloc(m * n + 1, sizeof *EC);
    enum passivity result = PASSIVITY_UNKNOWN;
    bool known = hinf_norm(s, SCALE_WITHIN, &b);

    *omega = NAN;
    for (size_t i = 0; i < m * m; i++) {
        E[i] = i % (m + 1) == 0;
        inner[i] = E[i] + (b.lower > 0 ? s->D[i] / b.lower : 0);
    }
    if (known && b.lower == 0) {
        result = PASSIVE;
    } else if (known && dense_solve(m, inner, m, E)) {
        double g = b.lower;

        /* 2 (1 + G/g)^-1 - 1, E = (1 + D/g)^-1: A - B E C/g, B E, -2 E C/g, 2 E - 1 */
        dense_multiply(m, m, n, 1 / g, E, s->C, 0, EC);
        memcpy(S.A, s->A, n * n * sizeof(double));
        dense_multiply(n, m, n, -1, s->B, EC, 1, S.A);
        dense_multiply(n, m, m, 1, s->B, E, 0, S.B);
        for (size_t i = 0; i < m * n; i++)
            S.C[i] = -2 * EC[i];
        for (size_t i = 0; i < m * m; i++)
            S.D[i] = 2 * E[i] - (i % (m + 1) == 0);
        if (!hinf_norm(&S, SHARP, &b))
            result = NOT_PASSIVE;
        else if (b.lower > 1 + REFLECTS_MORE)
            result = NOT_PASSIVE;
        else if (b.upper <= 1 + PASSIVE_WITHIN)
            result = PASSIVE;
        if (result == NOT_PASSIVE && b.lower > 1)
            *omega = b.omega;
    }
    free(inner);
    free(E);
    free(EC);
    state_space_free(&S);
    return result;
}
