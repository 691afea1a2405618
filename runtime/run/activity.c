/* activity.c - see activity.h. A run may have 10^7 steps. 64 steps are summed plainly, and these partial sums with
 * compensation (Neumaier), so rounding stays near 64 ulp of a partial sum. */
#include "activity.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "quartic.h"
#include "vectors.h"

#define FLUSH_AFTER 64
/* Of a window: a step that ends at an event so little before the window's end counts as ending there. */
#define AS_GOOD 1e-9
#define BLOCK 256 /* elements in one block of the check for changes of sign */
/* Of a step: accuracy of a zero, as a bracket or as a Newton step. The integral of |P| is stationary with respect to
 * the place of a zero, so 1e-9 would be enough. */
#define BRACKETED 1e-12
#define LOCATED 1e-10
enum { DEGREE = 4, MOST_HALVINGS = 60 };

#define WEIGHT_END QUARTIC_WEIGHT_END
#define WEIGHT_SIDE QUARTIC_WEIGHT_SIDE
#define WEIGHT_MIDDLE QUARTIC_WEIGHT_MIDDLE

enum { ABSOLUTE, SQUARE, NET, SUMS };

/* Where a sampler is: sample `next` of the `count` samples in its window. */
struct cursor {
    activity_sampler s;
    size_t window, next, count, index;
};

struct activity {
    bg_model *model;
    activity_extra extra;
    size_t elements, n; /* channels: elements, then extra ones */
    /* of an element's channel; NULL: channels are in order, as extra channels and samplers need them */
    const uint32_t *place;
    VEC(double) border;
    struct cursor *cursor;
    size_t ncursors;
    double *value, *energy; /* of a sample */
    double t;
    double *power[5];    /* at the step's start, inside, end */
    double *block[SUMS]; /* since the last flush */
    double *total[SUMS], *lost[SUMS];
    unsigned since_flush;
    quartic_tables tables;
    struct crossings {
        double value[5][BLOCK], result[BLOCK];
    } * batch;
    double top, imbalance;
};

activity *
activity_new(bg_model *m, const activity_extra *extra)
{
    activity *a = bg_calloc(1, sizeof *a);

    a->model = m;
    if (extra)
        a->extra = *extra;
    a->elements = model_nelements(m);
    a->n = a->elements + a->extra.n;
    a->place = a->extra.n || a->extra.step ? NULL : model_power_places(m);
    for (int k = 0; k < 5; k++)
        a->power[k] = bg_calloc(a->n + 1, sizeof(double));
    for (int k = 0; k < SUMS; k++) {
        a->block[k] = bg_calloc(a->n + 1, sizeof(double));
        a->total[k] = bg_calloc(a->n + 1, sizeof(double));
        a->lost[k] = bg_calloc(a->n + 1, sizeof(double));
    }
    a->batch = bg_calloc(1, sizeof *a->batch);
    quartic_make_tables(&a->tables);
    return a;
}

void
activity_free(activity *a)
{
    if (!a)
        return;
    for (int k = 0; k < 5; k++)
        free(a->power[k]);
    for (int k = 0; k < SUMS; k++) {
        free(a->block[k]);
        free(a->total[k]);
        free(a->lost[k]);
    }
    free(a->batch);
    free(a->cursor);
    free(a->value);
    free(a->energy);
    vec_free(&a->border);
    free(a);
}

/* Sum and maximum of the powers at a step's end. False if they are not finite. */
static bool
watch_balance(activity *a, const double *p)
{
    double top, sum = fabs(vec_sum(a->elements, p, &top));

    if (top > a->top)
        a->top = top;
    if (sum > a->imbalance * a->top && a->top > 0)
        a->imbalance = sum / a->top;
    return isfinite(sum);
}

static int
evaluate_powers(activity *a, double t, const double *x, double *power)
{
    int status = a->place ? model_powers_unordered(a->model, t, x, power) : model_powers(a->model, t, x, power);

    return status == 0 && a->extra.n ? a->extra.evaluate(a->extra.ctx, t, x, power, power + a->elements) : status;
}

int
activity_begin(activity *a, double t, const double *x)
{
    a->t = t;
    int status = evaluate_powers(a, t, x, a->power[0]);
    return status == 0 && !watch_balance(a, a->power[0]) ? 1 : status;
}

VECTOR_CLONES static void
flush(size_t n, double *restrict block, double *restrict total, double *restrict lost)
{
    for (size_t i = 0; i < n; i++) {
        double b = block[i], t = total[i], s = t + b;
        lost[i] += fabs(t) >= fabs(b) ? (t - s) + b : (b - s) + t;
        total[i] = s;
        block[i] = 0;
    }
}

static void
flush_all(activity *a)
{
    for (int k = 0; k < SUMS; k++)
        flush(a->n, a->block[k], a->total[k], a->lost[k]);
    a->since_flush = 0;
}

/* Adds the integrals of one step as if nothing changed sign. flag[i] is not 0 where a sign change is possible.
 * Returns whether there is any. */
VECTOR_CLONES static bool
add_smooth(size_t n, double h, const double *const power[5], double *const sum[SUMS], const double table[3][5],
           int64_t *restrict flag)
{
    const double *p0 = power[0], *p1 = power[1], *p2 = power[2], *p3 = power[3], *p4 = power[4];
    double *restrict absolute = sum[ABSOLUTE], *restrict square = sum[SQUARE], *restrict net = sum[NET];
    double we = h * WEIGHT_END, ws = h * WEIGHT_SIDE, wm = h * WEIGHT_MIDDLE;
    double c00 = table[0][0], c01 = table[0][1], c02 = table[0][2], c03 = table[0][3], c04 = table[0][4];
    double c10 = table[1][0], c11 = table[1][1], c12 = table[1][2];
    int64_t any = 0;

    VECTOR_LOOP
    for (size_t i = 0; i < n; i++) {
        double a = p0[i], b = p1[i], c = p2[i], d = p3[i], e = p4[i];
        double integral = we * (a + e) + ws * (b + d) + wm * c;
        double b1 = (c00 * a + c01 * b) + (c02 * c + c03 * d) + c04 * e;
        double b2 = c10 * (a + e) + c11 * (b + d) + c12 * c; /* the nodes are symmetric */
        double b3 = (c00 * e + c01 * d) + (c02 * c + c03 * b) + c04 * a;
        double low = a < e ? a : e, high = a < e ? e : a;
        double low2 = b1 < b3 ? b1 : b3, high2 = b1 < b3 ? b3 : b1;
        low = low < low2 ? low : low2;
        high = high > high2 ? high : high2;
        low = low < b2 ? low : b2;
        high = high > b2 ? high : b2;
        int64_t cross = low * high < 0 ? 1 : 0; /* underflow to 0: powers too small to matter */
        flag[i] = cross;
        any |= cross;
        net[i] += integral;
        square[i] += we * (a * a + e * e) + ws * (b * b + d * d) + wm * (c * c);
        absolute[i] += fabs(integral);
    }
    return any != 0;
}

/* The zero between lo and hi; `rising` if the polynomial is negative at lo. Newton's method kept inside the bracket. */
static double
zero_between(const double c[5], double lo, double hi, bool rising)
{
    double s = lo + (hi - lo) / 2;

    for (int k = 0; k < MOST_HALVINGS && hi - lo > BRACKETED; k++) {
        double v = quartic_value(c, s), slope = ((4 * c[4] * s + 3 * c[3]) * s + 2 * c[2]) * s + c[1];
        if (v == 0)
            return s;
        if ((v < 0) == rising)
            lo = s;
        else
            hi = s;
        double next = s - v / slope;
        if (!(next > lo && next < hi))
            next = lo + (hi - lo) / 2;
        if (fabs(next - s) < LOCATED)
            return next;
        s = next;
    }
    return s;
}

/* Zeros of the polynomial in (0, 1), ascending; at most 4. The Bernstein form is halved until each part has at most
 * one change of sign. */
static int
zeros(const double bernstein[5], const double c[5], double out[4])
{
    enum { DEEPEST = 10 }; /* lobes shorter than a thousandth of the step are neglected */
    struct part {
        double b[5], lo, width;
        int depth;
    } stack[DEEPEST + 2];
    int top = 0, found = 0;

    memcpy(stack[0].b, bernstein, sizeof stack[0].b);
    stack[0].lo = 0;
    stack[0].width = 1;
    stack[0].depth = 0;
    top = 1;
    while (top > 0 && found < 4) {
        struct part p = stack[--top];
        int changes = 0;
        double first = 0, last = 0;

        for (int i = 0; i < 5; i++) {
            if (p.b[i] == 0)
                continue;
            changes += last != 0 && (p.b[i] < 0) != (last < 0);
            last = p.b[i];
            if (first == 0)
                first = last;
        }
        if (changes == 0)
            continue;
        if (changes == 1 || p.depth == DEEPEST) {
            if (changes % 2)
                out[found++] = zero_between(c, p.lo, p.lo + p.width, first < 0);
            continue;
        }
        struct part left = p, right = p;
        quartic_halves(p.b, left.b, right.b);
        left.width = right.width = p.width / 2;
        right.lo = p.lo + p.width / 2;
        left.depth = right.depth = p.depth + 1;
        stack[top++] = right;
        stack[top++] = left;
    }
    return found;
}

/* All values at the nodes have one sign: does the polynomial change sign between them? Checks its minimum. A dip of
 * relative depth d has an area of about d^(3/2). Dips below DIP are neglected: most are squares that touch zero and
 * become negative only by interpolation. */
#define DIP 3e-5
static bool
power_dips(const double p[5], const double c[5], double *where)
{
    const double place[5] = { 0, quartic_place[0], quartic_place[1], quartic_place[2], 1 };
    double sign = p[2] < 0 ? -1 : 1, top = 0;
    int k = 1;

    for (int i = 0; i < 5; i++)
        top = fmax(top, fabs(p[i]));
    if (fabs(p[2]) < fabs(p[k]))
        k = 2;
    if (fabs(p[3]) < fabs(p[k]))
        k = 3;
    double s = place[k];
    for (int i = 0; i < 3; i++) {
        double slope = ((4 * c[4] * s + 3 * c[3]) * s + 2 * c[2]) * s + c[1],
               bend = (12 * c[4] * s + 6 * c[3]) * s + 2 * c[2];
        if (!(bend * sign > 0))
            return false;
        s = fmin(fmax(s - slope / bend, 0), 1);
    }
    *where = s;
    return sign * quartic_value(c, s) < -DIP * top;
}

/* Integral of |P| over a step of length 1 from the five values. */
static double
exact_absolute(const activity *a, const double p[5])
{
    double c[5], zero[4], lowest;
    bool one_sign = true;
    int n = 0;

    quartic_monomial(&a->tables, p, c);
    for (int i = 0; i < 5; i++)
        one_sign &= p[i] != 0 && (p[i] < 0) == (p[0] < 0);
    if (!one_sign) {
        double b[5];
        quartic_bernstein(&a->tables, p, b);
        n = zeros(b, c, zero);
    } else if (power_dips(p, c, &lowest)) {
        zero[0] = zero_between(c, 0, lowest, p[0] < 0);
        zero[1] = zero_between(c, lowest, 1, p[0] > 0);
        n = 2;
    }
    double sum = 0, before = 0;
    for (int k = 0; k <= n; k++) {
        double here = quartic_integral(c, k < n ? zero[k] : 1);
        sum += fabs(here - before);
        before = here;
    }
    return sum;
}

/* Integrals of |P| over a step of length 1 with one change of sign. Newton's method from the secant between the two
 * nodes, without branches. The integral is stationary with respect to the zero: an error of 1e-6 there gives one of
 * 1e-12. */
VECTOR_CLONES static void
one_crossing(size_t n, double (*restrict value)[BLOCK], double *restrict result, const double t[5][5])
{
    const double s1 = quartic_place[0], s2 = quartic_place[1], s3 = quartic_place[2];

    VECTOR_LOOP
    for (size_t i = 0; i < n; i++) {
        double a = value[0][i], b = value[1][i], c = value[2][i], d = value[3][i], e = value[4][i];
        double c1 = (t[1][0] * a + t[1][1] * b) + (t[1][2] * c + t[1][3] * d) + t[1][4] * e;
        double c2 = (t[2][0] * a + t[2][1] * b) + (t[2][2] * c + t[2][3] * d) + t[2][4] * e;
        double c3 = (t[3][0] * a + t[3][1] * b) + (t[3][2] * c + t[3][3] * d) + t[3][4] * e;
        double c4 = (t[4][0] * a + t[4][1] * b) + (t[4][2] * c + t[4][3] * d) + t[4][4] * e;
        double lo = 0, hi = s1, vlo = a, vhi = b; /* the interval with the change of sign */
        lo = a * b > 0 ? s1 : lo, hi = a * b > 0 ? s2 : hi, vlo = a * b > 0 ? b : vlo, vhi = a * b > 0 ? c : vhi;
        lo = a * c > 0 ? s2 : lo, hi = a * c > 0 ? s3 : hi, vlo = a * c > 0 ? c : vlo, vhi = a * c > 0 ? d : vhi;
        lo = a * d > 0 ? s3 : lo, hi = a * d > 0 ? 1 : hi, vlo = a * d > 0 ? d : vlo, vhi = a * d > 0 ? e : vhi;
        double s = lo + (hi - lo) * (vlo / (vlo - vhi));
        for (int k = 0; k < 3; k++) {
            double v = (((c4 * s + c3) * s + c2) * s + c1) * s + a;
            double slope = ((4 * c4 * s + 3 * c3) * s + 2 * c2) * s + c1;
            double next = s - v / slope;
            next = next > lo ? next : lo;
            s = next < hi ? next : hi;
        }
        double to_s = s * (a + s * (c1 / 2 + s * (c2 / 3 + s * (c3 / 4 + s * (c4 / 5)))));
        double to_1 = a + (c1 / 2 + (c2 / 3 + (c3 / 4 + c4 / 5)));
        result[i] = fabs(to_s) + fabs(to_1 - to_s);
    }
}

/* Corrects the contribution that add_smooth computed without a change of sign. */
static void
add_crossings(activity *a, size_t n, double h, const double *const p[5], const int64_t *flag, double *absolute)
{
    struct crossings *q = a->batch;
    uint16_t which[BLOCK + 1];
    size_t flagged = 0, once = 0;

    for (size_t i = 0; i < n; i++) {
        which[flagged] = (uint16_t)i;
        flagged += (size_t)flag[i];
    }
    for (size_t j = 0; j < flagged; j++) {
        size_t i = which[j];
        double v[5] = { p[0][i], p[1][i], p[2][i], p[3][i], p[4][i] };
        int changes = 0;

        for (int k = 0; k < 4; k++)
            changes += v[k] * v[k + 1] <= 0;
        if (changes == 1) {
            for (int k = 0; k < 5; k++)
                q->value[k][once] = v[k];
            which[once++] = (uint16_t)i;
        } else {
            double smooth = WEIGHT_END * (v[0] + v[4]) + WEIGHT_SIDE * (v[1] + v[3]) + WEIGHT_MIDDLE * v[2];
            absolute[i] += h * (exact_absolute(a, v) - fabs(smooth));
        }
    }
    one_crossing(once, q->value, q->result, (const double(*)[5])a->tables.monomial);
    for (size_t j = 0; j < once; j++) {
        double smooth = WEIGHT_END * (q->value[0][j] + q->value[4][j]) +
                        WEIGHT_SIDE * (q->value[1][j] + q->value[3][j]) + WEIGHT_MIDDLE * q->value[2][j];
        absolute[which[j]] += h * (q->result[j] - fabs(smooth));
    }
}

/* ---- samples ---- */

/* Samples of window w (border[2w] .. border[2w+1]) if n samples are distributed over all windows. */
static size_t
samples_of_window(size_t n, const double *border, size_t nborders, size_t w)
{
    double whole = 0, part = border[2 * w + 1] - border[2 * w];

    for (size_t i = 0; i + 1 < nborders; i += 2)
        whole += border[i + 1] - border[i];
    double k = 1 + floor((double)(n - 1) * (part / whole) + 0.5);
    return k > 2 ? (size_t)k : 2;
}

void
activity_sample_over(activity *a, const activity_sampler *s, size_t n, const double *border, size_t nborders)
{
    if (n == 0 || nborders < 2)
        return;
    for (size_t i = 0; i < nborders; i++)
        vec_push(&a->border, border[i]);
    a->cursor = bg_calloc(n, sizeof *a->cursor);
    a->ncursors = n;
    a->place = NULL;
    for (size_t i = 0; i < n; i++) {
        a->cursor[i].s = s[i];
        a->cursor[i].count = samples_of_window(s[i].n, border, nborders, 0);
    }
    a->value = bg_calloc(a->n + 1, sizeof(double));
    a->energy = bg_calloc(a->n + 1, sizeof(double));
}

/* Weighted sums of the five values. */
VECTOR_CLONES static void
weigh(size_t n, const double *const p[5], const double w[5], double *restrict out)
{
    const double *p0 = p[0], *p1 = p[1], *p2 = p[2], *p3 = p[3], *p4 = p[4];
    double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4];

    VECTOR_LOOP
    for (size_t i = 0; i < n; i++)
        out[i] = (w0 * p0[i] + w1 * p1[i]) + (w2 * p2[i] + w3 * p3[i]) + w4 * p4[i];
}

/* Values of all channels at the part s of the present step (of length h), and their energies up to there. */
static void
sample_at(activity *a, double h, double s)
{
    double value[5] = { 0 }, integral[5] = { 0 }, power = 1;

    for (int j = 0; j <= DEGREE; j++, power *= s)
        for (int k = 0; k < 5; k++) {
            value[k] += a->tables.monomial[j][k] * power;
            integral[k] += h * a->tables.monomial[j][k] * power * s / (j + 1);
        }
    weigh(a->n, (const double *const *)a->power, value, a->value);
    weigh(a->n, (const double *const *)a->power, integral, a->energy);
    for (size_t i = 0; i < a->n; i++)
        a->energy[i] += a->total[NET][i] + (a->lost[NET][i] + a->block[NET][i]);
}

/* The samples of the present step, which ends at t. A sample at its end belongs to the next step, since modes may
 * change there, unless the window ends there. */
static void
take_samples(activity *a, struct cursor *c, double t)
{
    double h = t - a->t;

    while (2 * c->window + 1 < a->border.n) {
        double from = a->border.at[2 * c->window], to = a->border.at[2 * c->window + 1];
        bool last = c->next + 1 == c->count;
        double at = last ? to : from + (to - from) * ((double)c->next / (double)(c->count - 1));
        double slack = 16 * DBL_EPSILON * fmax(fabs(t), fabs(a->border.at[a->border.n - 1] - a->border.at[0]));

        if (last ? at > t + fmax(slack, AS_GOOD * (to - from)) : at >= t - slack)
            return;
        sample_at(a, h, h > 0 ? fmin(fmax((at - a->t) / h, 0), 1) : 1);
        c->s.take(c->s.ctx, &(activity_sample){ c->index, c->window, c->next == 0, at, a->value, a->energy });
        c->index++;
        c->next++;
        if (last) {
            c->window++;
            c->next = 0;
            if (2 * c->window + 1 < a->border.n)
                c->count = samples_of_window(c->s.n, a->border.at, a->border.n, c->window);
        }
    }
}

int
activity_step(activity *a, double t, const double *const x[4])
{
    double h = t - a->t;

    for (int k = 0; k < 4; k++) {
        int status = evaluate_powers(a, k < 3 ? a->t + quartic_place[k] * h : t, x[k], a->power[k + 1]);
        if (status != 0)
            return status;
    }
    if (a->extra.step)
        a->extra.step(a->extra.ctx, h, (const double *const *)a->power);
    for (size_t k = 0; k < a->ncursors; k++)
        take_samples(a, &a->cursor[k], t);
    for (size_t from = 0; from < a->n; from += BLOCK) {
        size_t n = a->n - from < BLOCK ? a->n - from : BLOCK;
        int64_t flag[BLOCK];
        double *sum[SUMS];
        const double *p[5];

        for (int k = 0; k < 5; k++)
            p[k] = a->power[k] + from;
        for (int k = 0; k < SUMS; k++)
            sum[k] = a->block[k] + from;
        if (add_smooth(n, h, p, sum, (const double(*)[5])a->tables.bernstein, flag))
            add_crossings(a, n, h, p, flag, sum[ABSOLUTE]);
    }
    if (!watch_balance(a, a->power[4]))
        return 1;
    double *swap = a->power[0];
    a->power[0] = a->power[4];
    a->power[4] = swap;
    a->t = t;
    if (++a->since_flush == FLUSH_AFTER)
        flush_all(a);
    return 0;
}

void
activity_totals(activity *a, double *absolute, double *square, double *net)
{
    double *to[SUMS] = { absolute, square, net };

    flush_all(a);
    for (int k = 0; k < SUMS; k++)
        for (size_t i = 0; i < a->n; i++)
            to[k][i] = a->total[k][a->place ? a->place[i] : i] + a->lost[k][a->place ? a->place[i] : i];
}

double
activity_imbalance(const activity *a)
{
    return a->imbalance;
}
