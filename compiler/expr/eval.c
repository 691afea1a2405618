/* eval.c - values of expressions, by a loop over their nodes; tables
 *
 * needs     a value for each slot that occurs
 * provides  the same value as generated code, bit for bit, if both use the same libm
 */
#include <math.h>

#include "expr_pool.h"

/* ---------------------------------------------------------------- tables */

/* Number of the n ascending values that are <= x. */
static size_t
up_to(const double *at, size_t n, double x)
{
    size_t lo = 0, hi = n; /* those before lo are <= x, those from hi on are > x */

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (at[mid] <= x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

double
ex_table_piece(const ex_table *t, double x)
{
    return (double)(t->nends ? up_to(t->end, t->nends, x) : up_to(t->x, t->n, x));
}

/* The points around a piece (in a smooth table around x within it); false where the table is constant. */
static bool
piece_inside(const ex_table *t, double piece, double x, size_t *i)
{
    size_t first, last;

    if (!(piece >= 1) || piece >= (double)(t->nends ? t->nends : t->n))
        return false;
    *i = (size_t)piece;
    if (t->nends) {
        first = up_to(t->x, t->n, t->end[*i - 1]);
        last = up_to(t->x, t->n, t->end[*i]) - 1;
        last -= last > first && t->x[last] == t->x[last - 1];
        *i = up_to(t->x, t->n, x);
        *i = *i < first ? first : *i > last ? last : *i;
    }
    return t->x[*i] > t->x[*i - 1];
}

static double
slope_of(const ex_table *t, size_t i)
{
    return (t->y[i] - t->y[i - 1]) / (t->x[i] - t->x[i - 1]);
}

double
ex_table_at(const ex_table *t, double piece, double x)
{
    size_t i;

    if (t->n == 0)
        return NAN;
    if (piece < 0) {
        if (isnan(x))
            return x;
        piece = ex_table_piece(t, x);
    }
    if (piece_inside(t, piece, x, &i)) {
        double line = t->y[i - 1] + (x - t->x[i - 1]) * slope_of(t, i), h = t->x[i] - t->x[i - 1], a = t->x[i] - x,
               b = x - t->x[i - 1];

        return t->bend ? line - a * b / (6 * h) * (t->bend[i - 1] * (h + a) + t->bend[i] * (h + b)) : line;
    }
    return t->y[piece < 1 ? 0 : !t->nends && piece < (double)t->n ? (size_t)piece : t->n - 1];
}

double
ex_table_slope(const ex_table *t, double piece, double x)
{
    size_t i;

    if (piece < 0) {
        if (isnan(x))
            return x;
        piece = ex_table_piece(t, x);
    }
    if (!piece_inside(t, piece, x, &i))
        return 0;
    if (t->bend) {
        double h = t->x[i] - t->x[i - 1], a = t->x[i] - x, b = x - t->x[i - 1];

        return slope_of(t, i) + (t->bend[i - 1] * (h * h - 3 * a * a) + t->bend[i] * (3 * b * b - h * h)) / (6 * h);
    }
    return slope_of(t, i);
}

/* ---------------------------------------------------------------- operations */

bool
ex_integer_power(double exponent, int *n)
{
    if (!(fabs(exponent) <= EX_POWER_UNROLLED) || exponent != floor(exponent) || exponent == 0)
        return false;
    *n = (int)exponent;
    return true;
}

/* By repeated squaring, lowest bit first; generated code multiplies in the same order. */
double
ex_power(double x, double exponent)
{
    int n;
    double r = 1;

    if (!ex_integer_power(exponent, &n))
        return pow(x, exponent);
    for (unsigned m = (unsigned)abs(n); m; m >>= 1, x *= x)
        if (m & 1)
            r *= x;
    return n < 0 ? 1 / r : r;
}

/* Generated code does the same for the exponents with a case of their own here. */
double
ex_signed_power(double x, double exponent)
{
    double m = fabs(x);

    if (exponent == 2)
        return x * m;
    if (exponent == 0.5)
        return copysign(sqrt(m), x);
    if (exponent == 1.5)
        return x * sqrt(m);
    if (exponent < 0 && m < EX_LEAST_BASE)
        m = EX_LEAST_BASE;
    return copysign(pow(m, exponent), x);
}

double
ex_absolute_power(double x, double exponent)
{
    double m = fabs(x);

    if (exponent == 1)
        return m;
    if (exponent == 0.5)
        return sqrt(m);
    if (exponent < 0 && m < EX_LEAST_BASE)
        m = EX_LEAST_BASE;
    return exponent == -0.5 ? 1 / sqrt(m) : pow(m, exponent);
}

double
ex_eval(pool *p, node n, const double *slot)
{
    double *v = pool_values(p, n);
    size_t count;
    const node *tape = ex_tape(p, n, &count);

    for (size_t i = 0; i < count; i++) {
        node at = tape[i];
        const ex_node *e = pool_node(p, at);

        if (e->op == EX_CONST)
            v[at] = e->value;
        else if (e->op == EX_SLOT)
            v[at] = slot[e->a];
        else if (e->op == EX_TABLE || e->op == EX_TABLE_SLOPE)
            v[at] = ex_apply(e->op, v[e->a], e->b == NODE_NONE ? -1 : v[e->b], 0, pool_table(p, e->table));
        else
            v[at] = ex_apply(e->op, v[e->a], e->b == NODE_NONE ? 0 : v[e->b], e->c == NODE_NONE ? 0 : v[e->c], NULL);
    }
    return v[n];
}
