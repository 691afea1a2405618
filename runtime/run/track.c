/* track.c - see track.h */
#include "track.h"

#include <math.h>
#include <string.h>

#include "quartic.h"

/* Parts of a piece smaller than 2^-DEEPEST are not divided: a polynomial of degree four varies by less than rounding
 * in them. */
enum { DEEPEST = 12 };
/* Relative accuracy of the greatest difference. */
static const double SHARP = 1e-6;

void
track_free(track *k)
{
    vec_free(&k->border);
    vec_free(&k->value);
    free(k->all);
    free(k->last);
    *k = (track){ 0 };
}

static size_t
row_width(const track *k)
{
    return k->n + k->nstates;
}

static int
evaluate_outputs(track *k, bg_model *m, double t, const double *x, double *out)
{
    int status;

    if (!k->all)
        k->all = bg_calloc(model_noutputs(m) + 1, sizeof *k->all);
    status = k->n ? model_outputs(m, t, x, k->all) : 0;
    for (size_t i = 0; i < k->n && status == 0; i++) {
        out[i] = k->all[k->which ? k->which[i] : i];
        if (!isfinite(out[i])) {
            k->t = t;
            status = TRACK_NOT_FINITE;
        }
    }
    if (k->nstates)
        memcpy(out + k->n, x, k->nstates * sizeof *out);
    return status;
}

/* Value of output j in piece i at a time within it */
static double
value_in_piece(const track *k, size_t i, size_t j, double t)
{
    static const double end[2] = { 0, 1 };
    double from = k->border.at[2 * i], s = (t - from) / (k->border.at[2 * i + 1] - from), sum = 0;

    /* Lagrange's form: a single value needs no coefficients */
    for (int a = 0; a < 5; a++) {
        double at = a == 0   ? end[0]
                    : a == 4 ? end[1]
                             : quartic_place[a - 1],
               part = k->value.at[(5 * i + (size_t)a) * row_width(k) + j];

        for (int b = 0; b < 5; b++) {
            double other = b == 0 ? end[0] : b == 4 ? end[1] : quartic_place[b - 1];

            if (b != a)
                part *= (s - other) / (at - other);
        }
        sum += part;
    }
    return sum;
}

double
track_value(const track *k, size_t i, double t)
{
    size_t piece = 0, beyond = k->border.n / 2;

    while (beyond - piece > 1) { /* it begins at t or before; those from `beyond` on begin later */
        size_t middle = piece + (beyond - piece) / 2;

        if (k->border.at[2 * middle] <= t)
            piece = middle;
        else
            beyond = middle;
    }
    return beyond ? value_in_piece(k, piece, i, t) : NAN;
}

/* Does an output differ from the other run's by more than the limit, at a time inside a piece of both? Borders are
 * excluded, since jumps have two values there. */
static bool
is_beyond(track *k, double t, const double *value)
{
    const track *o = k->against;

    while (2 * k->piece + 1 < o->border.n && o->border.at[2 * k->piece + 1] <= t)
        k->piece++;
    if (2 * k->piece + 1 >= o->border.n || !(o->border.at[2 * k->piece] < t))
        return false;
    for (size_t j = 0; j < k->n; j++) {
        double by = fabs(value[j] - value_in_piece(o, k->piece, j, t));

        if (by > k->most[j] && !k->by) {
            k->since = t;
            k->off = j;
            k->by = by;
        }
        if (by > k->most[j] * fmax(k->slack, 1)) {
            k->beyond = true;
            k->t = t;
            return true;
        }
    }
    return false;
}

int
track_begin(track *k, bg_model *m, double t, const double *x)
{
    if (!k->last)
        k->last = bg_calloc(row_width(k) + 1, sizeof *k->last);
    k->t = t;
    return evaluate_outputs(k, m, t, x, k->last);
}

int
track_step(track *k, bg_model *m, double t, const double *const x[4])
{
    size_t from = k->value.n, w = row_width(k);
    double h = t - k->t;

    if (w == 0) /* a model without outputs */
        return 0;
    if (k->full || from + 5 * w > TRACK_MOST_VALUES) {
        k->full = true;
        return 0;
    }
    vec_push(&k->border, k->t);
    vec_push(&k->border, t);
    vec_resize(&k->value, from + 5 * w);
    memcpy(k->value.at + from, k->last, w * sizeof *k->last);
    for (size_t i = 0; i < 4; i++) {
        int status = evaluate_outputs(k, m, i < 3 ? k->t + quartic_place[i] * h : t, x[i],
                                      k->value.at + from + (i + 1) * w);

        if (status != 0)
            return status;
        if (k->against && i < 3 && is_beyond(k, k->t + quartic_place[i] * h, k->value.at + from + (i + 1) * k->n))
            return TRACK_BEYOND;
    }
    memcpy(k->last, k->value.at + from + 4 * w, w * sizeof *k->last);
    k->t = t;
    return 0;
}

/* ---------------------------------------------------------------- comparing */

/* Output i of a track, read piece by piece. */
struct reader {
    const track *of;
    size_t output, piece;
    double c[5];
    const quartic_tables *tables;
};

static double
from_of(const struct reader *r)
{
    return r->of->border.at[2 * r->piece];
}
static double
to_of(const struct reader *r)
{
    return r->of->border.at[2 * r->piece + 1];
}

static void
read_piece(struct reader *r)
{
    double value[5];

    if (2 * r->piece >= r->of->border.n)
        return;
    for (size_t k = 0; k < 5; k++)
        value[k] = r->of->value.at[(5 * r->piece + k) * row_width(r->of) + r->output];
    quartic_monomial(r->tables, value, r->c);
}

static void
next_piece(struct reader *r)
{
    r->piece++;
    read_piece(r);
}

static struct reader
open_reader(const track *t, size_t output, const quartic_tables *tables)
{
    struct reader r = { .of = t, .output = output, .tables = tables };

    read_piece(&r);
    return r;
}

/* Value at t, which is in the present piece. */
static double
at_time(const struct reader *r, double t)
{
    double from = from_of(r), to = to_of(r);

    return quartic_value(r->c, to > from ? fmin(fmax((t - from) / (to - from), 0), 1) : 1);
}

/* Greatest magnitude of a polynomial, if it is above *most; *where in 0..1. */
static void
find_greatest(const double b[5], double lo, double width, int depth, double *most, double *where)
{
    double bound = 0, left[5], right[5];

    for (int k = 0; k < 5; k++)
        bound = fmax(bound, fabs(b[k]));
    if (fabs(b[0]) > *most)
        *most = fabs(b[0]), *where = lo;
    if (fabs(b[4]) > *most)
        *most = fabs(b[4]), *where = lo + width;
    if (!(bound > *most * (1 + SHARP)) || depth == DEEPEST)
        return;
    quartic_halves(b, left, right);
    find_greatest(left, lo, width / 2, depth + 1, most, where);
    find_greatest(right, lo + width / 2, width / 2, depth + 1, most, where);
}

/* Integral of the magnitude over an interval of length 1. */
static double
integral_of_magnitude(const double b[5], int depth)
{
    double sum = 0, left[5], right[5];
    bool above = false, below = false;

    for (int k = 0; k < 5; k++) {
        sum += b[k] / 5; /* each Bernstein polynomial has that integral */
        above |= b[k] > 0;
        below |= b[k] < 0;
    }
    if (!(above && below) || depth == DEEPEST)
        return fabs(sum);
    quartic_halves(b, left, right);
    return (integral_of_magnitude(left, depth + 1) + integral_of_magnitude(right, depth + 1)) / 2;
}

static double
integral_of_square(const double c[5])
{
    double sum = 0;

    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            sum += c[i] * c[j] / (i + j + 1);
    return fmax(sum, 0);
}

track_difference
track_compare(const track *a, size_t i, const track *b, size_t j)
{
    quartic_tables tables;
    track_difference d = { 0 };
    double length = 0;

    quartic_make_tables(&tables);
    struct reader ra = open_reader(a, i, &tables), rb = open_reader(b ? b : a, b ? j : i, &tables);
    while (2 * ra.piece < ra.of->border.n && 2 * rb.piece < rb.of->border.n) {
        double from = fmax(from_of(&ra), from_of(&rb)), to = fmin(to_of(&ra), to_of(&rb)), h = to - from, value[5],
               own[5], bern[5], c[5], where = 0;
        double before = d.max;

        for (int k = 0; k < 5 && h >= 0; k++) {
            double t = k == 0 ? from : k == 4 ? to : from + quartic_place[k - 1] * h;

            own[k] = at_time(&ra, t);
            value[k] = b ? own[k] - at_time(&rb, t) : own[k];
            if (!isfinite(value[k])) {
                d.max = d.rms = d.mean = NAN;
                d.at = t;
                return d;
            }
        }
        if (h >= 0) {
            quartic_bernstein(&tables, value, bern);
            find_greatest(bern, 0, 1, 0, &d.max, &where);
            if (d.max > before)
                d.at = from + where * h;
            quartic_monomial(&tables, value, c);
            d.rms += h * integral_of_square(c);
            d.mean += h * integral_of_magnitude(bern, 0);
            quartic_bernstein(&tables, own, bern);
            d.reference += h * integral_of_magnitude(bern, 0);
            length += h;
        }
        /* if both pieces end together both advance: at a common switching the values of each side are compared */
        bool past_a = to_of(&ra) <= to, past_b = to_of(&rb) <= to;
        if (past_a)
            next_piece(&ra);
        if (past_b)
            next_piece(&rb);
    }
    if (length > 0) {
        d.rms = sqrt(d.rms / length);
        d.mean /= length;
        d.reference /= length;
    }
    return d;
}
