/* course.c - see course.h */
#include "course.h"

#include <math.h>

/* ---- intervals ---- */

const interval interval_everything = { -INFINITY, INFINITY }, interval_zero = { 0, 0 };

static double
bounded_product(double x, double y)
{
    return x == 0 || y == 0 ? 0 : x * y;
}

static interval
add_intervals(interval x, interval y)
{
    return (interval){ x.lo + y.lo, x.hi + y.hi };
}
static interval
negative(interval x)
{
    return (interval){ -x.hi, -x.lo };
}
static interval
sub(interval x, interval y)
{
    return add_intervals(x, negative(y));
}
interval
interval_join(interval x, interval y)
{
    return (interval){ fmin(x.lo, y.lo), fmax(x.hi, y.hi) };
}
interval
interval_point(double x)
{
    return (interval){ x, x };
}
bool
interval_is_point(interval x)
{
    return x.lo == x.hi;
}
static bool
is_still(const course *c)
{
    return interval_is_point(c->d) && c->d.lo == 0 && interval_is_point(c->s) && c->s.lo == 0;
}

static interval
mul(interval x, interval y)
{
    double a = bounded_product(x.lo, y.lo), b = bounded_product(x.lo, y.hi), c = bounded_product(x.hi, y.lo),
           d = bounded_product(x.hi, y.hi);

    return (interval){ fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)) };
}

static interval
scaled_interval(double k, interval x)
{
    return mul(interval_point(k), x);
}

static interval
square(interval x)
{
    double a = x.lo * x.lo, b = x.hi * x.hi;

    return (interval){ x.lo <= 0 && x.hi >= 0 ? 0 : fmin(a, b), fmax(a, b) };
}

static interval
reciprocal(interval x)
{
    return x.lo > 0 || x.hi < 0 ? (interval){ 1 / x.hi, 1 / x.lo } : interval_everything;
}

/* For a function that rises. */
static interval
rising(double (*f)(double), interval x)
{
    interval y = { f(x.lo), f(x.hi) };

    return isnan(y.lo) || isnan(y.hi) ? interval_everything : y;
}

static interval
sine(interval x)
{
    double lo = sin(x.lo), hi = sin(x.hi);
    interval y = { fmin(lo, hi), fmax(lo, hi) };

    if (!(x.hi - x.lo < 2 * M_PI))
        return (interval){ -1, 1 };
    if (M_PI / 2 + 2 * M_PI * ceil((x.lo - M_PI / 2) / (2 * M_PI)) <= x.hi)
        y.hi = 1;
    if (-M_PI / 2 + 2 * M_PI * ceil((x.lo + M_PI / 2) / (2 * M_PI)) <= x.hi)
        y.lo = -1;
    return y;
}

static interval
cosine(interval x)
{
    return sine(add_intervals(x, interval_point(M_PI / 2)));
}

/* x^n: any x if n is whole, else x from 0 on. */
static interval
interval_power(interval x, double n)
{
    double a = pow(x.lo, n), b = pow(x.hi, n);
    bool even = fmod(n, 2) == 0;

    if (n == 0)
        return interval_point(1);
    if ((n != floor(n) && x.lo < 0) || (n < 0 && x.lo <= 0 && x.hi >= 0) || isnan(a) || isnan(b))
        return interval_everything;
    return (interval){ even && x.lo <= 0 && x.hi >= 0 ? 0 : fmin(a, b), fmax(a, b) };
}

/* g(u), from the ranges of g and its derivatives over u. */
static course
chain(const course *u, interval g, interval g1, interval g2)
{
    return (course){ g, mul(g1, u->d), add_intervals(mul(g2, square(u->d)), mul(g1, u->s)) };
}

static course
multiply_courses(const course *x, const course *y)
{
    return (
        course){ mul(x->v, y->v), add_intervals(mul(x->d, y->v), mul(x->v, y->d)),
                 add_intervals(add_intervals(mul(x->s, y->v), mul(x->v, y->s)), scaled_interval(2, mul(x->d, y->d))) };
}

static course
inverse(const course *x)
{
    interval r = reciprocal(x->v), r2 = square(r);

    return chain(x, r, negative(r2), scaled_interval(2, mul(r2, r)));
}

static course
unbounded(interval v)
{
    return (course){ v, interval_everything, interval_everything };
}
course
course_still(double x)
{
    return (course){ interval_point(x), interval_zero, interval_zero };
}

static course
exponential(const course *u)
{
    interval g = rising(exp, u->v);

    return chain(u, g, g, g);
}

static course
course_logarithm(const course *u)
{
    interval r = reciprocal(u->v);

    if (!(u->v.lo > 0))
        return unbounded(interval_everything);
    return chain(u, rising(log, u->v), r, negative(square(r)));
}

/* ---- operations ---- */

course
course_unary(uint8_t op, const course *u)
{
    interval v = u->v, g, r;

    switch (op) {
    case EX_NEG: return (course){ negative(v), negative(u->d), negative(u->s) };
    case EX_SQRT:
        return chain(u, interval_power(v, 0.5), scaled_interval(0.5, interval_power(v, -0.5)),
                     scaled_interval(-0.25, interval_power(v, -1.5)));
    case EX_EXP: return exponential(u);
    case EX_LN: return course_logarithm(u);
    case EX_LOG10: {
        course l = course_logarithm(u), k = course_still(1 / M_LN10);
        return multiply_courses(&l, &k);
    }
    case EX_SIN: return chain(u, sine(v), cosine(v), negative(sine(v)));
    case EX_COS: return chain(u, cosine(v), negative(sine(v)), negative(cosine(v)));
    case EX_TAN:
        if (floor(v.lo / M_PI + 0.5) != floor(v.hi / M_PI + 0.5))
            return unbounded(interval_everything);
        g = rising(tan, v);
        r = add_intervals(interval_point(1), square(g));
        return chain(u, g, r, scaled_interval(2, mul(g, r)));
    case EX_ASIN:
    case EX_ACOS:
        if (v.lo <= -1 || v.hi >= 1)
            return unbounded((interval){ -M_PI, M_PI });
        r = interval_power(sub(interval_point(1), square(v)), -0.5);
        g = rising(asin, v);
        if (op == EX_ASIN)
            return chain(u, g, r, mul(v, interval_power(r, 3)));
        return chain(u, sub(interval_point(M_PI / 2), g), negative(r), negative(mul(v, interval_power(r, 3))));
    case EX_ATAN:
        r = reciprocal(add_intervals(interval_point(1), square(v)));
        return chain(u, rising(atan, v), r, scaled_interval(-2, mul(v, square(r))));
    case EX_SINH: {
        interval c = { v.lo <= 0 && v.hi >= 0 ? 1 : fmin(cosh(v.lo), cosh(v.hi)), fmax(cosh(v.lo), cosh(v.hi)) };
        g = rising(sinh, v);
        return chain(u, g, c, g);
    }
    case EX_COSH: {
        interval c = { v.lo <= 0 && v.hi >= 0 ? 1 : fmin(cosh(v.lo), cosh(v.hi)), fmax(cosh(v.lo), cosh(v.hi)) };
        return chain(u, c, rising(sinh, v), c);
    }
    case EX_TANH:
        g = rising(tanh, v);
        r = sub(interval_point(1), square(g));
        return chain(u, g, r, scaled_interval(-2, mul(g, r)));
    case EX_ASINH:
        r = interval_power(add_intervals(interval_point(1), square(v)), -0.5);
        return chain(u, rising(asinh, v), r, negative(mul(v, interval_power(r, 3))));
    case EX_NOT:
        return is_still(u) && interval_is_point(v) ? course_still(v.lo == 0)
                                                   : (course){ { 0, 1 }, interval_zero, interval_zero };
    case EX_FLOOR:
        return is_still(u) && interval_is_point(v) ? course_still(floor(v.lo))
                                                   : unbounded((interval){ floor(v.lo), floor(v.hi) });
    case EX_CEIL:
        return is_still(u) && interval_is_point(v) ? course_still(ceil(v.lo))
                                                   : unbounded((interval){ ceil(v.lo), ceil(v.hi) });
    case EX_ABS:
        return v.lo >= 0 ? *u : v.hi <= 0 ? course_unary(EX_NEG, u) : unbounded((interval){ 0, fmax(-v.lo, v.hi) });
    case EX_SIGN: return v.lo > 0 ? course_still(1) : v.hi < 0 ? course_still(-1) : unbounded((interval){ -1, 1 });
    default: return unbounded(interval_everything);
    }
}

static course
course_of_condition(bool surely, bool never)
{
    return surely ? course_still(1) : never ? course_still(0) : (course){ { 0, 1 }, interval_zero, interval_zero };
}

course
course_binary(uint8_t op, const course *x, const course *y)
{
    switch (op) {
    case EX_ADD: return (course){ add_intervals(x->v, y->v), add_intervals(x->d, y->d), add_intervals(x->s, y->s) };
    case EX_SUB: return (course){ sub(x->v, y->v), sub(x->d, y->d), sub(x->s, y->s) };
    case EX_MUL: return multiply_courses(x, y);
    case EX_DIV: {
        course r = inverse(y);
        return multiply_courses(x, &r);
    }
    case EX_POW:
        if (is_still(y) && interval_is_point(y->v)) {
            double n = y->v.lo;
            return chain(x, interval_power(x->v, n), scaled_interval(n, interval_power(x->v, n - 1)),
                         n == 1 ? interval_zero : scaled_interval(n * (n - 1), interval_power(x->v, n - 2)));
        } else {
            course l = course_logarithm(x), m = multiply_courses(&l, y);
            return exponential(&m);
        }
    case EX_ATAN2:
        if (x->v.lo > 0 || x->v.hi < 0 || y->v.lo > 0) {
            course r = inverse(y), q = multiply_courses(x, &r), angle = course_unary(EX_ATAN, &q);
            if (y->v.lo > 0)
                return angle;
            r = inverse(x), q = multiply_courses(y, &r), angle = course_unary(EX_ATAN, &q);
            angle = course_unary(EX_NEG, &angle);
            angle.v = add_intervals(angle.v, interval_point(x->v.lo > 0 ? M_PI / 2 : -M_PI / 2));
            return angle;
        }
        return unbounded((interval){ -M_PI, M_PI });
    case EX_LT: return course_of_condition(x->v.hi < y->v.lo, x->v.lo >= y->v.hi);
    case EX_LE: return course_of_condition(x->v.hi <= y->v.lo, x->v.lo > y->v.hi);
    case EX_EQ:
    case EX_NE: {
        bool apart = x->v.hi < y->v.lo || x->v.lo > y->v.hi,
             same = interval_is_point(x->v) && interval_is_point(y->v) && x->v.lo == y->v.lo;
        return op == EX_EQ ? course_of_condition(same, apart) : course_of_condition(apart, same);
    }
    case EX_AND:
        return course_of_condition(x->v.lo != 0 && y->v.lo != 0, (interval_is_point(x->v) && x->v.lo == 0) ||
                                                                     (interval_is_point(y->v) && y->v.lo == 0));
    case EX_OR:
        return course_of_condition(x->v.lo > 0 || y->v.lo > 0,
                                   interval_is_point(x->v) && x->v.lo == 0 && interval_is_point(y->v) && y->v.lo == 0);
    case EX_MIN:
        return x->v.hi <= y->v.lo   ? *x
               : y->v.hi <= x->v.lo ? *y
                                    : unbounded((interval){ fmin(x->v.lo, y->v.lo), fmin(x->v.hi, y->v.hi) });
    case EX_MAX:
        return x->v.hi <= y->v.lo   ? *y
               : y->v.hi <= x->v.lo ? *x
                                    : unbounded((interval){ fmax(x->v.lo, y->v.lo), fmax(x->v.hi, y->v.hi) });
    default: return unbounded(interval_everything);
    }
}

/* The first of n non-decreasing numbers that is x or more; n if there is none. */
static size_t
first_from(const double *at, size_t n, double x)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (at[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Over the points around x: chords, and the deviations of a cubic and its derivatives from them. inside: x is
 * between the table's ends. */
static course
smooth(const ex_table *t, bool slopes, const course *x, bool inside)
{
    interval v = { INFINITY, -INFINITY }, slope = v, bend = v;
    size_t first = first_from(t->x, t->n, x->v.lo);
    course c;

    first = first < 1 ? 1 : first >= t->n ? t->n - 1 : first;
    while (first > 1 && !(t->x[first] > t->x[first - 1])) /* the last point stands twice */
        first--;
    for (size_t i = first; i < t->n; i++) {
        double h = t->x[i] - t->x[i - 1], k = (t->y[i] - t->y[i - 1]) / h, most;

        if (!(h > 0))
            continue;
        if (t->x[i - 1] > x->v.hi && v.lo <= v.hi)
            break;
        most = t->bend ? fmax(fabs(t->bend[i - 1]), fabs(t->bend[i])) : 0;
        v = interval_join(v, (interval){ fmin(t->y[i - 1], t->y[i]) - most * h * h / 8,
                                         fmax(t->y[i - 1], t->y[i]) + most * h * h / 8 });
        slope = interval_join(slope, (interval){ k - most * h / 2, k + most * h / 2 });
        if (t->bend)
            bend = interval_join(bend,
                                 (interval){ fmin(t->bend[i - 1], t->bend[i]), fmax(t->bend[i - 1], t->bend[i]) });
    }
    if (!t->bend)
        bend = interval_zero;
    c = !slopes   ? chain(x, v, slope, bend)
        : t->bend ? (course){ slope, mul(bend, x->d), interval_everything }
                  : unbounded(slope);
    if (inside)
        return c;
    v = !slopes ? interval_join(interval_point(t->y[0]), interval_point(t->y[t->n - 1])) : interval_zero;
    return (course){ interval_join(c.v, v), interval_join(c.d, interval_zero), interval_join(c.s, interval_zero) };
}

course
course_table(const ex_table *t, bool slopes, const course *x, const course *piece)
{
    interval v = interval_everything, slope = { 0, 0 };

    if (t->n == 0)
        return unbounded(interval_everything);
    if (t->nends > 1 && !(piece && interval_is_point(piece->v) && (piece->v.lo < 1 || piece->v.lo >= (double)t->nends)))
        return smooth(t, slopes, x, piece && interval_is_point(piece->v));
    if (piece && interval_is_point(piece->v)) {
        double k = ex_table_slope(t, piece->v.lo, x->v.lo);
        interval y = { ex_table_at(t, piece->v.lo, x->v.lo), ex_table_at(t, piece->v.lo, x->v.hi) };

        if (slopes)
            return course_still(k);
        return (course){ (interval){ fmin(y.lo, y.hi), fmax(y.lo, y.hi) }, scaled_interval(k, x->d),
                         scaled_interval(k, x->s) };
    }
    v = interval_point(t->y[0]);
    for (size_t i = 1; i < t->n; i++) {
        v = interval_join(v, interval_point(t->y[i]));
        slope = interval_join(slope, interval_point((t->y[i] - t->y[i - 1]) / (t->x[i] - t->x[i - 1])));
    }
    if (slopes)
        return (course){ slope, interval_zero, interval_zero };
    return (course){ v, mul(slope, x->d), mul(slope, x->s) };
}
