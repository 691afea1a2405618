/* reference.c - bond equations by brute force: Taylor series, full pivoting, and exact rank modulo a prime */
#include "reference.h"

#include <math.h>
#include <string.h>

#define NONE UINT32_MAX
enum { MAX_ORDER = 5, NCOEF = MAX_ORDER + 1 };

/* ---------------------------------------------------------------- numbers modulo 2^61 - 1 */
#define PRIME (((uint64_t)1 << 61) - 1)
__extension__ typedef unsigned __int128 wide;

static uint64_t
mod_add(uint64_t a, uint64_t b)
{
    uint64_t s = a + b;
    return s >= PRIME ? s - PRIME : s;
}
static uint64_t
mod_sub(uint64_t a, uint64_t b)
{
    return a >= b ? a - b : a + PRIME - b;
}
static uint64_t
mod_mul(uint64_t a, uint64_t b)
{
    wide w = (wide)a * b;
    return mod_add((uint64_t)(w & PRIME), (uint64_t)(w >> 61));
}
static uint64_t
mod_inverse(uint64_t a)
{
    uint64_t r = 1;
    for (uint64_t e = PRIME - 2; e; e >>= 1) {
        if (e & 1)
            r = mod_mul(r, a);
        a = mod_mul(a, a);
    }
    return r;
}
static uint64_t
residue_of(uint64_t kind, uint64_t a)
{
    return 1 + bg_hash_mix(kind * 0x9E3779B97F4A7C15u + 7, a) % (PRIME - 1);
}
/* Small whole numbers are themselves, all others anything. */
static uint64_t
residue_of_number(double v)
{
    if (v == floor(v) && fabs(v) < 100)
        return v < 0 ? PRIME - (uint64_t)-v : (uint64_t)v;
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return residue_of(1, bits);
}

/* ---------------------------------------------------------------- what one equation reads */
typedef VEC(uint32_t) list;

/* The nodes an expression is made of, ascending. mark is zero on entry and on return. */
static void
nodes_of(const rgraph *g, uint32_t root, uint8_t *mark, list *tape)
{
    static const uint8_t arity[] = { [RG_CONST] = 0, [RG_PARAM] = 0, [RG_VAR] = 0,  [RG_TIME] = 0, [RG_ADD] = 2,
                                     [RG_SUB] = 2,   [RG_MUL] = 2,   [RG_DIV] = 2,  [RG_NEG] = 1,  [RG_SIN] = 1,
                                     [RG_COS] = 1,   [RG_EXP] = 1,   [RG_SINH] = 1, [RG_ABS] = 1,  [RG_CUBE] = 1 };
    tape->n = 0;
    mark[root] = 1;
    for (uint32_t k = root + 1; k-- > 0;) {
        if (!mark[k])
            continue;
        const rg_node *n = &g->node.at[k];
        if (arity[n->op] > 0)
            mark[n->a] = 1;
        if (arity[n->op] > 1)
            mark[n->b] = 1;
        vec_push(tape, k);
        mark[k] = 0;
    }
    for (size_t i = 0, j = tape->n; i + 1 < j; i++) {
        uint32_t t = tape->at[i];
        tape->at[i] = tape->at[--j];
        tape->at[j] = t;
    }
}

/* ---------------------------------------------------------------- order of the pencil */
static uint64_t
determinant(uint64_t *a, size_t n)
{
    uint64_t det = 1;
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        while (p < n && !a[p * n + k])
            p++;
        if (p == n)
            return 0;
        if (p != k) {
            for (size_t c = k; c < n; c++) {
                uint64_t t = a[p * n + c];
                a[p * n + c] = a[k * n + c];
                a[k * n + c] = t;
            }
            det = mod_sub(0, det);
        }
        det = mod_mul(det, a[k * n + k]);
        uint64_t inv = mod_inverse(a[k * n + k]);
        for (size_t r = k + 1; r < n; r++) {
            if (!a[r * n + k])
                continue;
            uint64_t f = mod_mul(a[r * n + k], inv);
            for (size_t c = k + 1; c < n; c++)
                if (a[k * n + c])
                    a[r * n + c] = mod_sub(a[r * n + c], mod_mul(f, a[k * n + c]));
        }
    }
    return det;
}

/* Partials of all residuals by all variables at a random point. */
static void
partials_modulo(const rgraph *g, uint64_t *a, size_t n)
{
    uint8_t *mark = bg_calloc(g->node.n, 1);
    uint64_t *v = bg_calloc(g->node.n, sizeof *v), *d = bg_calloc(g->node.n, sizeof *d);
    list tape = { 0 };
    for (size_t row = 0; row < g->residual.n; row++) {
        nodes_of(g, g->residual.at[row], mark, &tape);
        for (size_t i = 0; i < tape.n; i++) {
            uint32_t k = tape.at[i];
            const rg_node *x = &g->node.at[k];
            switch (x->op) {
            case RG_CONST: v[k] = residue_of_number(x->value); break;
            case RG_PARAM: v[k] = residue_of(2, x->a); break;
            case RG_VAR: v[k] = residue_of(3, x->a); break;
            case RG_TIME: v[k] = residue_of(4, 0); break;
            case RG_ADD: v[k] = mod_add(v[x->a], v[x->b]); break;
            case RG_SUB: v[k] = mod_sub(v[x->a], v[x->b]); break;
            case RG_MUL: v[k] = mod_mul(v[x->a], v[x->b]); break;
            case RG_DIV: v[k] = mod_mul(v[x->a], mod_inverse(v[x->b])); break;
            case RG_NEG: v[k] = mod_sub(0, v[x->a]); break;
            case RG_CUBE: v[k] = mod_mul(v[x->a], mod_mul(v[x->a], v[x->a])); break;
            default: v[k] = residue_of((uint64_t)x->op + 16, v[x->a]); break;
            }
            d[k] = 0;
        }
        d[g->residual.at[row]] = 1;
        for (size_t i = tape.n; i-- > 0;) {
            uint32_t k = tape.at[i];
            const rg_node *x = &g->node.at[k];
            switch (x->op) {
            case RG_CONST:
            case RG_PARAM:
            case RG_TIME: break;
            case RG_VAR: a[row * n + x->a] = mod_add(a[row * n + x->a], d[k]); break;
            case RG_ADD:
                d[x->a] = mod_add(d[x->a], d[k]);
                d[x->b] = mod_add(d[x->b], d[k]);
                break;
            case RG_SUB:
                d[x->a] = mod_add(d[x->a], d[k]);
                d[x->b] = mod_sub(d[x->b], d[k]);
                break;
            case RG_MUL:
                d[x->a] = mod_add(d[x->a], mod_mul(d[k], v[x->b]));
                d[x->b] = mod_add(d[x->b], mod_mul(d[k], v[x->a]));
                break;
            case RG_DIV: {
                uint64_t inv = mod_inverse(v[x->b]);
                d[x->a] = mod_add(d[x->a], mod_mul(d[k], inv));
                d[x->b] = mod_sub(d[x->b], mod_mul(d[k], mod_mul(v[k], inv)));
                break;
            }
            case RG_NEG: d[x->a] = mod_sub(d[x->a], d[k]); break;
            case RG_CUBE: d[x->a] = mod_add(d[x->a], mod_mul(d[k], mod_mul(3, mod_mul(v[x->a], v[x->a])))); break;
            default: d[x->a] = mod_add(d[x->a], mod_mul(d[k], residue_of((uint64_t)x->op + 64, v[x->a]))); break;
            }
        }
    }
    free(mark);
    free(v);
    free(d);
    vec_free(&tape);
}

bool
reference_order(const rgraph *g, size_t *order)
{
    size_t n = g->var.n, nx = n - g->nalgebraic, points = nx + 1;
    uint64_t *a = bg_calloc(n * n, sizeof *a), *b = bg_calloc(n * n, sizeof *b);
    uint64_t *s = bg_calloc(points, sizeof *s), *d = bg_calloc(points, sizeof *d);
    partials_modulo(g, a, n);
    for (size_t k = 0; k < points; k++) {
        memcpy(b, a, n * n * sizeof *b);
        s[k] = residue_of(5, k);
        for (size_t i = 0; i < nx; i++) { /* rate - s*x = 0 */
            size_t row = g->nalgebraic + i;
            b[row * n + g->var.at[row].rate] = 1;
            b[row * n + row] = mod_sub(0, s[k]);
        }
        d[k] = determinant(b, n);
    }
    /* divided differences: the determinant's polynomial in Newton's form; its degree is that of the last that is not
     * zero */
    for (size_t j = 1; j < points; j++)
        for (size_t k = points - 1; k >= j; k--)
            d[k] = mod_mul(mod_sub(d[k], d[k - 1]), mod_inverse(mod_sub(s[k], s[k - j])));
    bool regular = false;
    *order = 0;
    for (size_t k = 0; k < points; k++)
        if (d[k]) {
            regular = true;
            *order = k;
        }
    free(a);
    free(b);
    free(s);
    free(d);
    return regular;
}

/* ---------------------------------------------------------------- Taylor series */
typedef long double real;
typedef struct series {
    real c[NCOEF];
} series;

static series
mul(const series *a, const series *b, unsigned k)
{
    series r = { { 0 } };
    for (unsigned i = 0; i <= k; i++)
        for (unsigned j = 0; j <= i; j++)
            r.c[i] += a->c[j] * b->c[i - j];
    return r;
}
static series
divide(const series *a, const series *b, unsigned k)
{
    series r = { { 0 } };
    for (unsigned i = 0; i <= k; i++) {
        real s = a->c[i];
        for (unsigned j = 0; j < i; j++)
            s -= r.c[j] * b->c[i - j];
        r.c[i] = s / b->c[0];
    }
    return r;
}
static series
exponential(const series *a, unsigned k)
{
    series r = { { expl(a->c[0]) } };
    for (unsigned i = 1; i <= k; i++) {
        for (unsigned j = 1; j <= i; j++)
            r.c[i] += (real)j * a->c[j] * r.c[i - j];
        r.c[i] /= i;
    }
    return r;
}
static void
sine_cosine(const series *a, unsigned k, series *s, series *c)
{
    *s = (series){ { sinl(a->c[0]) } };
    *c = (series){ { cosl(a->c[0]) } };
    for (unsigned i = 1; i <= k; i++) {
        for (unsigned j = 1; j <= i; j++) {
            s->c[i] += (real)j * a->c[j] * c->c[i - j];
            c->c[i] -= (real)j * a->c[j] * s->c[i - j];
        }
        s->c[i] /= i;
        c->c[i] /= i;
    }
}
static series
combine(real p, const series *a, real q, const series *b, unsigned k)
{
    series r = { { 0 } };
    for (unsigned i = 0; i <= k; i++)
        r.c[i] = p * a->c[i] + q * b->c[i];
    return r;
}
static void
accumulate(series *to, real p, const series *a, unsigned k)
{
    for (unsigned i = 0; i <= k; i++)
        to->c[i] += p * a->c[i];
}

/* Value of each node, and of the operation's derivative where it has one argument (in slope). */
static void
value_of(const rgraph *g, uint32_t k, const series *var, const series *time, unsigned order, series *v, series *slope)
{
    const rg_node *x = &g->node.at[k];
    switch (x->op) {
    case RG_CONST: v[k] = (series){ { x->value } }; break;
    case RG_PARAM: v[k] = (series){ { g->param.at[x->a] } }; break;
    case RG_VAR: v[k] = var[x->a]; break;
    case RG_TIME: v[k] = *time; break;
    case RG_ADD: v[k] = combine(1, &v[x->a], 1, &v[x->b], order); break;
    case RG_SUB: v[k] = combine(1, &v[x->a], -1, &v[x->b], order); break;
    case RG_MUL: v[k] = mul(&v[x->a], &v[x->b], order); break;
    case RG_DIV: v[k] = divide(&v[x->a], &v[x->b], order); break;
    case RG_NEG: v[k] = combine(-1, &v[x->a], 0, &v[x->a], order); break;
    case RG_SIN: sine_cosine(&v[x->a], order, &v[k], &slope[k]); break;
    case RG_COS:
        sine_cosine(&v[x->a], order, &slope[k], &v[k]);
        slope[k] = combine(-1, &slope[k], 0, &slope[k], order);
        break;
    case RG_EXP:
        v[k] = exponential(&v[x->a], order);
        slope[k] = v[k];
        break;
    case RG_SINH: {
        series minus = combine(-1, &v[x->a], 0, &v[x->a], order), up = exponential(&v[x->a], order),
               down = exponential(&minus, order);
        v[k] = combine(0.5L, &up, -0.5L, &down, order);
        slope[k] = combine(0.5L, &up, 0.5L, &down, order);
        break;
    }
    case RG_ABS: {
        real sign = v[x->a].c[0] < 0 ? -1 : 1;
        v[k] = combine(sign, &v[x->a], 0, &v[x->a], order);
        slope[k] = (series){ { sign } };
        break;
    }
    case RG_CUBE: {
        series square = mul(&v[x->a], &v[x->a], order);
        v[k] = mul(&square, &v[x->a], order);
        slope[k] = combine(3, &square, 0, &square, order);
        break;
    }
    }
}

/* ---------------------------------------------------------------- the equations and their derivatives at one point */
typedef struct solver {
    const rgraph *g;
    unsigned order;   /* equations and their first `order` derivatives */
    size_t m, nx, ns; /* algebraic variables, differential ones, given states */
    const uint32_t *state;
    const double *given;
    real t;
    series *var, *node, *slope, *adjoint;
    uint8_t *mark;
    list *tape; /* [m] nodes of each residual */
    /* unknowns, in the order of elimination: coefficients of degree order, .., 1, 0 of the algebraic variables, then
     * the differential ones at t */
    size_t rows, cols;
    real *a, *rhs;
    real condition;
} solver;

static size_t
column(const solver *s, uint32_t v, unsigned degree)
{
    return (size_t)(s->order - degree) * s->m + v;
}

/* Rates of differential variables follow from the algebraic ones: coefficient j+1 is the rate's coefficient j over j+1.
 */
static void
spread(solver *s)
{
    for (uint32_t v = (uint32_t)s->m; v < s->m + s->nx; v++)
        for (unsigned j = 0; j < s->order; j++)
            s->var[v].c[j + 1] = s->var[s->g->var.at[v].rate].c[j] / (j + 1);
}
/* Residuals into rhs (negated); the matrix too if asked. Returns the greatest residual. */
static real
equations(solver *s, bool matrix)
{
    const rgraph *g = s->g;
    series time = { { s->t, 1 } };
    real worst = 0;
    spread(s);
    if (matrix)
        memset(s->a, 0, s->rows * s->cols * sizeof *s->a);
    for (size_t i = 0; i < s->m; i++) {
        const list *tape = &s->tape[i];
        for (size_t k = 0; k < tape->n; k++) {
            value_of(g, tape->at[k], s->var, &time, s->order, s->node, s->slope);
            s->adjoint[tape->at[k]] = (series){ { 0 } };
        }
        for (unsigned j = 0; j <= s->order; j++) {
            real r = s->node[g->residual.at[i]].c[j];
            s->rhs[(size_t)j * s->m + i] = -r;
            if (!(fabsl(r) <= worst))
                worst = fabsl(r);
        }
        if (!matrix)
            continue;
        s->adjoint[g->residual.at[i]].c[0] = 1;
        for (size_t k = tape->n; k-- > 0;) {
            uint32_t at = tape->at[k];
            const rg_node *x = &g->node.at[at];
            const series *d = &s->adjoint[at];
            series q;
            switch (x->op) {
            case RG_CONST:
            case RG_PARAM:
            case RG_TIME: break;
            case RG_VAR:
                for (unsigned j = 0; j <= s->order; j++) {
                    real *row = s->a + ((size_t)j * s->m + i) * s->cols;
                    if (x->a < s->m) {
                        for (unsigned l = 0; l <= j; l++)
                            row[column(s, x->a, l)] += d->c[j - l];
                    } else {
                        row[(size_t)(s->order + 1) * s->m + (x->a - s->m)] += d->c[j];
                        for (unsigned l = 0; l + 1 <= j; l++)
                            row[column(s, g->var.at[x->a].rate, l)] += d->c[j - l - 1] / (l + 1);
                    }
                }
                break;
            case RG_ADD:
                accumulate(&s->adjoint[x->a], 1, d, s->order);
                accumulate(&s->adjoint[x->b], 1, d, s->order);
                break;
            case RG_SUB:
                accumulate(&s->adjoint[x->a], 1, d, s->order);
                accumulate(&s->adjoint[x->b], -1, d, s->order);
                break;
            case RG_NEG: accumulate(&s->adjoint[x->a], -1, d, s->order); break;
            case RG_MUL:
                q = mul(d, &s->node[x->b], s->order);
                accumulate(&s->adjoint[x->a], 1, &q, s->order);
                q = mul(d, &s->node[x->a], s->order);
                accumulate(&s->adjoint[x->b], 1, &q, s->order);
                break;
            case RG_DIV: {
                series w = divide(d, &s->node[x->b], s->order);
                accumulate(&s->adjoint[x->a], 1, &w, s->order);
                q = mul(&w, &s->node[at], s->order);
                accumulate(&s->adjoint[x->b], -1, &q, s->order);
                break;
            }
            default: q = mul(d, &s->slope[at], s->order); accumulate(&s->adjoint[x->a], 1, &q, s->order);
            }
        }
    }
    for (size_t i = 0; i < s->ns; i++) {
        size_t row = (size_t)(s->order + 1) * s->m + i;
        uint32_t v = s->state[i];
        s->rhs[row] = (real)s->given[i] - s->var[v].c[0];
        if (matrix)
            s->a[row * s->cols + (v < s->m ? column(s, v, 0) : (size_t)(s->order + 1) * s->m + (v - s->m))] = 1;
        if (!(fabsl(s->rhs[row]) <= worst))
            worst = fabsl(s->rhs[row]);
    }
    return worst;
}

static size_t
widest_entry(const real *row, size_t from, size_t to, const size_t *position)
{
    size_t at = SIZE_MAX;
    real best = 0;
    for (size_t c = from; c < to; c++)
        if (position[c] == SIZE_MAX && fabsl(row[c]) > best) {
            best = fabsl(row[c]);
            at = c;
        }
    return at;
}

/* Gauss with full pivoting inside each group of columns, the highest derivatives first. dx[c]: the correction;
 * determined[c]: column c's is the only one. A column left without a pivot is free (its correction 0), and all pivots
 * before it that read it are not determined. */
static void
eliminate(solver *s, real *dx, bool *determined)
{
    size_t rows = s->rows, cols = s->cols, done = 0;
    size_t *col = bg_calloc(rows + 1, sizeof *col);
    size_t *position = bg_calloc(cols + 1, sizeof *position); /* of a column among the pivots; SIZE_MAX: none */
    memset(position, 0xff, cols * sizeof *position);
    real least = HUGE_VALL, greatest = 0;
    for (size_t r = 0; r < rows; r++) {
        real big = 0;
        for (size_t c = 0; c < cols; c++)
            big = fmaxl(big, fabsl(s->a[r * cols + c]));
        if (big == 0)
            continue;
        for (size_t c = 0; c < cols; c++)
            s->a[r * cols + c] /= big;
        s->rhs[r] /= big;
    }
    size_t *widest = bg_calloc(
        rows + 1, sizeof *widest); /* of each row, its greatest entry among the group's columns without a pivot */
    for (unsigned group = 0; group <= s->order; group++) {
        size_t from = group * s->m, to = group == s->order ? cols : from + s->m;
        for (size_t r = done; r < rows; r++)
            widest[r] = widest_entry(s->a + r * cols, from, to, position);
        for (;;) {
            size_t pr = done;
            real best = 0;
            for (size_t r = done; r < rows; r++)
                if (widest[r] != SIZE_MAX && fabsl(s->a[r * cols + widest[r]]) > best) {
                    best = fabsl(s->a[r * cols + widest[r]]);
                    pr = r;
                }
            if (!(best > 1e-13L))
                break;
            size_t pc = widest[pr];
            least = fminl(least, best);
            greatest = fmaxl(greatest, best);
            for (size_t c = 0; c < cols; c++) {
                real x = s->a[pr * cols + c];
                s->a[pr * cols + c] = s->a[done * cols + c];
                s->a[done * cols + c] = x;
            }
            real x = s->rhs[pr];
            s->rhs[pr] = s->rhs[done];
            s->rhs[done] = x;
            widest[pr] = widest[done];
            position[pc] = done;
            col[done] = pc;
            const real *p = s->a + done * cols;
            for (size_t r = done + 1; r < rows; r++) {
                real *q = s->a + r * cols, f = q[pc] / p[pc];
                if (f != 0) {
                    for (size_t c = from; c < cols; c++)
                        q[c] -= f * p[c];
                    q[pc] = 0;
                    s->rhs[r] -= f * s->rhs[done];
                }
                if (f != 0 || widest[r] == pc)
                    widest[r] = widest_entry(q, from, to, position);
            }
            done++;
        }
    }
    free(widest);
    memset(dx, 0, cols * sizeof *dx);
    memset(determined, 0, cols * sizeof *determined);
    for (size_t k = done; k-- > 0;) {
        const real *p = s->a + k * cols;
        real sum = s->rhs[k];
        bool sure = true;
        for (size_t c = 0; c < cols; c++) {
            if (c == col[k] || fabsl(p[c]) < 1e-15L)
                continue;
            if (position[c] < k)
                continue; /* a pivot before this one: its column is zero here */
            sum -= p[c] * dx[c];
            sure &= determined[c];
        }
        dx[col[k]] = sum / p[col[k]];
        determined[col[k]] = sure;
    }
    s->condition = least > 0 ? greatest / least : HUGE_VALL;
    free(col);
    free(position);
}

static void
apply(solver *s, const real *dx, real factor)
{
    for (uint32_t v = 0; v < s->m; v++)
        for (unsigned j = 0; j <= s->order; j++)
            s->var[v].c[j] += factor * dx[column(s, v, j)];
    for (uint32_t v = 0; v < s->nx; v++)
        s->var[s->m + v].c[0] += factor * dx[(size_t)(s->order + 1) * s->m + v];
}
static bool
all_determined(const solver *s, const bool *determined)
{
    for (uint32_t v = 0; v < s->m; v++)
        if (!determined[column(s, v, 0)])
            return false;
    for (size_t v = 0; v < s->nx; v++)
        if (!determined[(size_t)(s->order + 1) * s->m + v])
            return false;
    for (size_t i = 0; i < s->ns; i++) /* the rate of a junction's variable is its first coefficient */
        if (s->state[i] < s->m && (s->order < 1 || !determined[column(s, s->state[i], 1)]))
            return false;
    return true;
}

/* Newton from the point in s->var, damped. */
static enum reference_outcome
newton(solver *s)
{
    real *dx = bg_calloc(s->cols, sizeof *dx);
    bool *determined = bg_calloc(s->cols, sizeof *determined);
    series *saved = bg_calloc(s->m + s->nx, sizeof *saved);
    enum reference_outcome out = REFERENCE_NO_CONVERGENCE;
    for (int iteration = 0; iteration < 200; iteration++) {
        real before = equations(s, true), scale = 1, step = 0;
        if (!isfinite((double)before))
            break;
        eliminate(s, dx, determined);
        for (uint32_t v = 0; v < s->m; v++) {
            step = fmaxl(step, fabsl(dx[column(s, v, 0)]));
            scale = fmaxl(scale, fabsl(s->var[v].c[0]));
        }
        if (before < 1e-15L * scale && step < 1e-15L * scale) {
            out = all_determined(s, determined) ? REFERENCE_FINE : REFERENCE_UNDETERMINED;
            break;
        }
        if (iteration > 3 && before < 1e-15L * scale && !all_determined(s, determined)) {
            out = REFERENCE_UNDETERMINED;
            break;
        }
        memcpy(saved, s->var, (s->m + s->nx) * sizeof *saved);
        real factor = 1;
        for (int halved = 0; halved < 12; halved++, factor /= 2) {
            memcpy(s->var, saved, (s->m + s->nx) * sizeof *saved);
            apply(s, dx, factor);
            real after = equations(s, false);
            if (after < before || (after < 1e-14L * scale && halved == 0))
                break;
        }
    }
    free(dx);
    free(determined);
    free(saved);
    return out;
}

enum reference_outcome
reference_at(const rgraph *g, double t, const uint32_t *state, const double *value, size_t nstates, const double *start,
             reference *r)
{
    solver s = { .g = g,
                 .m = g->nalgebraic,
                 .nx = g->var.n - g->nalgebraic,
                 .ns = nstates,
                 .state = state,
                 .given = value,
                 .t = t };
    *r = (reference){ 0 };
    s.var = bg_calloc(g->var.n, sizeof *s.var);
    s.node = bg_calloc(g->node.n, sizeof *s.node);
    s.slope = bg_calloc(g->node.n, sizeof *s.slope);
    s.adjoint = bg_calloc(g->node.n, sizeof *s.adjoint);
    s.mark = bg_calloc(g->node.n, 1);
    s.tape = bg_calloc(s.m + 1, sizeof *s.tape);
    for (size_t i = 0; i < s.m; i++)
        nodes_of(g, g->residual.at[i], s.mark, &s.tape[i]);
    bool junction_state = false;
    for (size_t i = 0; i < nstates; i++)
        junction_state |= state[i] < s.m;
    enum reference_outcome out = REFERENCE_UNDETERMINED;
    for (s.order = nstates < s.nx || junction_state ? 1 : 0; s.order <= MAX_ORDER && out == REFERENCE_UNDETERMINED;
         s.order++) {
        s.rows = (size_t)(s.order + 1) * s.m + nstates;
        s.cols = (size_t)(s.order + 1) * s.m + s.nx;
        s.a = bg_calloc(s.rows * s.cols + 1, sizeof *s.a);
        s.rhs = bg_calloc(s.rows + 1, sizeof *s.rhs);
        memset(s.var, 0, g->var.n * sizeof *s.var);
        for (size_t v = 0; v < g->var.n && start; v++)
            s.var[v].c[0] = start[v];
        for (size_t i = 0; i < nstates; i++)
            s.var[state[i]].c[0] = value[i];
        out = newton(&s);
        r->derivatives = s.order;
        free(s.a);
        free(s.rhs);
    }
    if (out == REFERENCE_FINE) {
        r->value = bg_calloc(g->var.n, sizeof *r->value);
        r->rate = bg_calloc(nstates + 1, sizeof *r->rate);
        r->power = bg_calloc(g->element.n + 1, sizeof *r->power);
        r->output = bg_calloc(g->output.n + 1, sizeof *r->output);
        for (size_t v = 0; v < g->var.n; v++) {
            r->value[v] = (double)s.var[v].c[0];
            r->scale = fmax(r->scale, fabs(r->value[v]));
        }
        for (size_t i = 0; i < nstates; i++)
            r->rate[i] = (double)(state[i] < s.m ? s.var[state[i]].c[1] : s.var[g->var.at[state[i]].rate].c[0]);
        for (size_t i = 0; i < g->element.n; i++)
            for (int k = 0; k < g->element.at[i].nports; k++) {
                const rg_port *p = &g->element.at[i].port[k];
                r->power[i] += (double)(p->sign * s.var[p->e].c[0] * s.var[p->f].c[0]);
            }
        series time = { { t } };
        list tape = { 0 };
        for (size_t i = 0; i < g->output.n; i++) {
            nodes_of(g, g->output.at[i].def, s.mark, &tape);
            for (size_t k = 0; k < tape.n; k++)
                value_of(g, tape.at[k], s.var, &time, 0, s.node, s.slope);
            r->output[i] = (double)s.node[g->output.at[i].def].c[0];
        }
        vec_free(&tape);
        r->condition = (double)s.condition;
    }
    for (size_t i = 0; i < s.m; i++)
        vec_free(&s.tape[i]);
    free(s.tape);
    free(s.mark);
    free(s.var);
    free(s.node);
    free(s.slope);
    free(s.adjoint);
    return out;
}
void
reference_free(reference *r)
{
    free(r->value);
    free(r->rate);
    free(r->power);
    free(r->output);
    *r = (reference){ 0 };
}
