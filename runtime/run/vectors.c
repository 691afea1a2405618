/* vectors.c - see vectors.h */
#include "vectors.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "library_status.h"

#define LANES 16 /* partial sums: enough to hide the latency of wide additions */

/* One loop over the whole vector, with the kernel compiled for several instruction sets. */
#define EACH VECTOR_LOOP for (size_t i = 0; i < n; i++)

VECTOR_CLONES static void
k_linearsum(size_t n, double a, const double *x, double b, const double *y, double *z)
{
    EACH z[i] = a * x[i] + b * y[i];
}
VECTOR_CLONES static void
k_sum(size_t n, const double *x, const double *y, double *z)
{
    EACH z[i] = x[i] + y[i];
}
VECTOR_CLONES static void
k_difference(size_t n, const double *x, const double *y, double *z)
{
    EACH z[i] = x[i] - y[i];
}
VECTOR_CLONES void
vec_axpy(size_t n, double a, const double *x, const double *y, double *z)
{
    EACH z[i] = x[i] + a * y[i];
}
VECTOR_CLONES static void
k_scale(size_t n, double c, const double *x, double *z)
{
    EACH z[i] = c * x[i];
}
VECTOR_CLONES static void
k_const(size_t n, double c, double *z)
{
    EACH z[i] = c;
}
VECTOR_CLONES static void
k_abs(size_t n, const double *x, double *z)
{
    EACH z[i] = fabs(x[i]);
}
VECTOR_CLONES static void
k_inv(size_t n, const double *x, double *z)
{
    EACH z[i] = 1.0 / x[i];
}
VECTOR_CLONES static void
k_addconst(size_t n, const double *x, double b, double *z)
{
    EACH z[i] = x[i] + b;
}
VECTOR_CLONES static void
k_prod(size_t n, const double *x, const double *y, double *z)
{
    EACH z[i] = x[i] * y[i];
}
VECTOR_CLONES static void
k_div(size_t n, const double *x, const double *y, double *z)
{
    EACH z[i] = x[i] / y[i];
}

static double
total(double s[LANES])
{
    for (size_t width = LANES / 2; width > 0; width /= 2)
        for (size_t j = 0; j < width; j++)
            s[j] += s[j + width];
    return s[0];
}

VECTOR_CLONES double
vec_wrms(size_t n, const double *x, const double *w)
{
    double s[LANES] = { 0 }, r = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            double e = x[i + j] * w[i + j];
            s[j] += e * e;
        }
    for (; i < n; i++)
        r += x[i] * w[i] * (x[i] * w[i]);
    if (n >= LANES)
        r += total(s);
    return n ? sqrt(r / (double)n) : 0;
}

VECTOR_CLONES double
vec_wdot(size_t n, const double *x, const double *y, const double *w)
{
    double s[LANES] = { 0 }, r = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            s[j] += x[i + j] * y[i + j] * (w[i + j] * w[i + j]);
    for (; i < n; i++)
        r += x[i] * y[i] * (w[i] * w[i]);
    if (n >= LANES)
        r += total(s);
    return n ? r / (double)n : 0;
}

/* Adding one to the exponent field changes the sign bit only for the exponent of infinities and NaN. */
VECTOR_CLONES bool
vec_finite(size_t n, const double *x)
{
    const uint64_t exponent = UINT64_C(0x7ff0000000000000), one = UINT64_C(0x0010000000000000);
    uint64_t carry = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        carry |= (bits & exponent) + one;
    }
    return carry >> 63 == 0;
}

VECTOR_CLONES double
vec_sum(size_t n, const double *p, double *top)
{
    double s[LANES] = { 0 }, t[LANES] = { 0 }, r = 0, m = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            double a = fabs(p[i + j]);
            s[j] += p[i + j];
            t[j] = t[j] > a ? t[j] : a;
        }
    for (; i < n; i++) {
        r += p[i];
        m = m > fabs(p[i]) ? m : fabs(p[i]);
    }
    if (n >= LANES) {
        r += total(s);
        for (size_t j = 0; j < LANES; j++)
            m = m > t[j] ? m : t[j];
    }
    *top = m;
    return r;
}

VECTOR_CLONES void
vec_weights(size_t n, double rtol, double atol, const double *y, double *w)
{
    EACH w[i] = 1 / (rtol * fabs(y[i]) + atol);
}

VECTOR_CLONES void
vec_weights_sized(size_t n, double rtol, double share, const double *y, double *size, const double *least, double *w)
{
    EACH
    {
        double a = fabs(y[i]), s = size[i] > a ? size[i] : a, f = s > least[i] ? s : least[i];
        size[i] = s;
        w[i] = 1 / (rtol * a + share * f);
    }
}

VECTOR_CLONES void
vec_combine3(size_t n, double c[3][6], const double *const x[6], double *const z[3])
{
    const double *a = x[0], *b = x[1], *d = x[2], *e = x[3], *f = x[4], *g = x[5];
    double *u = z[0], *v = z[1], *w = z[2];
    double u0 = c[0][0], u2 = c[0][2], u3 = c[0][3], u4 = c[0][4], u5 = c[0][5];
    double v0 = c[1][0], v2 = c[1][2], v3 = c[1][3], v4 = c[1][4], v5 = c[1][5];
    double w0 = c[2][0], w2 = c[2][2], w3 = c[2][3], w4 = c[2][4], w5 = c[2][5];

    EACH
    {
        double q = b[i], p = a[i] - q, r = d[i] - q, s = e[i], t = f[i], y = g[i];
        u[i] = q + ((u0 * p + u2 * r) + (u3 * s + u4 * t) + u5 * y);
        v[i] = q + ((v0 * p + v2 * r) + (v3 * s + v4 * t) + v5 * y);
        w[i] = q + ((w0 * p + w2 * r) + (w3 * s + w4 * t) + w5 * y);
    }
}

VECTOR_CLONES void
vec_combine1(size_t n, const double c[6], const double *const x[6], double *z)
{
    const double *a = x[0], *b = x[1], *d = x[2], *e = x[3], *f = x[4], *g = x[5];
    double c0 = c[0], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5];

    EACH z[i] = b[i] + ((c0 * (a[i] - b[i]) + c2 * (d[i] - b[i])) + (c3 * e[i] + c4 * f[i]) + c5 * g[i]);
}

/* ---- sums of 3 to 8 vectors in one pass ---- */
#define TERM(j) (c##j * (x##j[i]))
#define LOAD(j) \
    const double *x##j = x[j]; \
    double c##j = c[j]
VECTOR_CLONES static void
k_combine3(size_t n, const double *c, const double *const *x, double *z)
{
    LOAD(0);
    LOAD(1);
    LOAD(2);
    EACH z[i] = TERM(0) + TERM(1) + TERM(2);
}
VECTOR_CLONES static void
k_combine4(size_t n, const double *c, const double *const *x, double *z)
{
    LOAD(0);
    LOAD(1);
    LOAD(2);
    LOAD(3);
    EACH z[i] = (TERM(0) + TERM(1)) + (TERM(2) + TERM(3));
}
VECTOR_CLONES static void
k_combine5(size_t n, const double *c, const double *const *x, double *z)
{
    LOAD(0);
    LOAD(1);
    LOAD(2);
    LOAD(3);
    LOAD(4);
    EACH z[i] = (TERM(0) + TERM(1)) + (TERM(2) + TERM(3)) + TERM(4);
}
VECTOR_CLONES static void
k_combine6(size_t n, const double *c, const double *const *x, double *z)
{
    LOAD(0);
    LOAD(1);
    LOAD(2);
    LOAD(3);
    LOAD(4);
    LOAD(5);
    EACH z[i] = (TERM(0) + TERM(1)) + (TERM(2) + TERM(3)) + (TERM(4) + TERM(5));
}
VECTOR_CLONES static void
k_combine7(size_t n, const double *c, const double *const *x, double *z)
{
    LOAD(0);
    LOAD(1);
    LOAD(2);
    LOAD(3);
    LOAD(4);
    LOAD(5);
    LOAD(6);
    EACH z[i] = (TERM(0) + TERM(1)) + (TERM(2) + TERM(3)) + (TERM(4) + TERM(5)) + TERM(6);
}
VECTOR_CLONES static void
k_combine8(size_t n, const double *c, const double *const *x, double *z)
{
    LOAD(0);
    LOAD(1);
    LOAD(2);
    LOAD(3);
    LOAD(4);
    LOAD(5);
    LOAD(6);
    LOAD(7);
    EACH z[i] = (TERM(0) + TERM(1)) + (TERM(2) + TERM(3)) + (TERM(4) + TERM(5)) + (TERM(6) + TERM(7));
}

void
vec_combine(size_t n, int m, const double *c, const double *const *x, double *z)
{
    switch (m) {
    case 0: k_const(n, 0, z); break;
    case 1:
        if (c[0] == 1) {
            if (x[0] != z)
                memcpy(z, x[0], n * sizeof(double));
        } else {
            k_scale(n, c[0], x[0], z);
        }
        break;
    case 2: k_linearsum(n, c[0], x[0], c[1], x[1], z); break;
    case 3: k_combine3(n, c, x, z); break;
    case 4: k_combine4(n, c, x, z); break;
    case 5: k_combine5(n, c, x, z); break;
    case 6: k_combine6(n, c, x, z); break;
    case 7: k_combine7(n, c, x, z); break;
    default: k_combine8(n, c, x, z); break;
    }
}

/* ---- operations of an N_Vector ---- */
#define DATA(v) NV_DATA_S(v)
#define SIZE(v) ((size_t)NV_LENGTH_S(v))

static void
op_scale(realtype c, N_Vector x, N_Vector z)
{
    if (c == 1) {
        if (DATA(x) != DATA(z))
            memcpy(DATA(z), DATA(x), SIZE(z) * sizeof(double));
    } else {
        k_scale(SIZE(z), c, DATA(x), DATA(z));
    }
}
static void
op_linearsum(realtype a, N_Vector x, realtype b, N_Vector y, N_Vector z)
{
    size_t n = SIZE(z);

    if (b == 1 && a == 1)
        k_sum(n, DATA(x), DATA(y), DATA(z));
    else if (a == 1 && b == -1)
        k_difference(n, DATA(x), DATA(y), DATA(z));
    else if (a == 1)
        vec_axpy(n, b, DATA(x), DATA(y), DATA(z));
    else if (b == 1)
        vec_axpy(n, a, DATA(y), DATA(x), DATA(z));
    else
        k_linearsum(n, a, DATA(x), b, DATA(y), DATA(z));
}
static void
op_const(realtype c, N_Vector z)
{
    k_const(SIZE(z), c, DATA(z));
}
static void
op_abs(N_Vector x, N_Vector z)
{
    k_abs(SIZE(z), DATA(x), DATA(z));
}
static void
op_inv(N_Vector x, N_Vector z)
{
    k_inv(SIZE(z), DATA(x), DATA(z));
}
static void
op_addconst(N_Vector x, realtype b, N_Vector z)
{
    k_addconst(SIZE(z), DATA(x), b, DATA(z));
}
static void
op_prod(N_Vector x, N_Vector y, N_Vector z)
{
    k_prod(SIZE(z), DATA(x), DATA(y), DATA(z));
}
static void
op_div(N_Vector x, N_Vector y, N_Vector z)
{
    k_div(SIZE(z), DATA(x), DATA(y), DATA(z));
}
static realtype
op_wrmsnorm(N_Vector x, N_Vector w)
{
    return vec_wrms(SIZE(x), DATA(x), DATA(w));
}

/* Terms with coefficient zero (the zeros of a Butcher table) are left out. The first vector may be the result. */
static int
op_linearcombination(int m, realtype *coef, N_Vector *vec, N_Vector z)
{
    const double *x[8];
    double c[8];
    int k = 0;
    size_t n = SIZE(z);

    for (int j = 0; j < m; j++) {
        if (coef[j] == 0)
            continue;
        c[k] = coef[j];
        x[k++] = DATA(vec[j]);
        if (k == 8 && j + 1 < m) { /* the sum so far becomes the first term */
            k_combine8(n, c, x, DATA(z));
            c[0] = 1;
            x[0] = DATA(z);
            k = 1;
        }
    }
    vec_combine(n, k, c, x, DATA(z));
    return 0;
}

static int
op_scaleaddmulti(int m, realtype *a, N_Vector x, N_Vector *y, N_Vector *z)
{
    for (int j = 0; j < m; j++)
        vec_axpy(SIZE(x), a[j], DATA(y[j]), DATA(x), DATA(z[j]));
    return 0;
}

static N_Vector
op_clone(N_Vector v)
{
    return library_made(N_VClone_Serial(v));
}

void
vectors_check_memory(N_Vector v)
{
    v->ops->nvclone = op_clone;
}

void
vectors_install(N_Vector v)
{
    vectors_check_memory(v);
    v->ops->nvlinearsum = op_linearsum;
    v->ops->nvscale = op_scale;
    v->ops->nvconst = op_const;
    v->ops->nvabs = op_abs;
    v->ops->nvinv = op_inv;
    v->ops->nvaddconst = op_addconst;
    v->ops->nvprod = op_prod;
    v->ops->nvdiv = op_div;
    v->ops->nvwrmsnorm = op_wrmsnorm;
    v->ops->nvlinearcombination = op_linearcombination;
    v->ops->nvscaleaddmulti = op_scaleaddmulti;
}
