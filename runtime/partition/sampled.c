/* sampled.c - see sampled.h */
#include "sampled.h"

#include <math.h>
#include <string.h>

#include "csv.h"
#include "expr.h"

enum { FIRST_PARTS = 4 }; /* intervals into which a smooth stretch is first divided */
/* Used where all samples are written: a jump greater than this share of a column's range counts as one. */
static const double CORNER = 1e-5;
/* Of the mean distance of samples: one so close to an event was taken at it. */
static const double AT_EVENT = 1e-6;

struct samples {
    const columns *c, *sides;
    size_t m, n, most;    /* columns; rows */
    double *time, *value; /* [n], [m][most]: the samples, and two rows for each corner of a column */
    bool *kept;           /* [n] rows to be written */
    double *range;        /* [m] */
};

static double *
sample_column(const struct samples *s, size_t k)
{
    return s->value + k * s->most;
}

static void
add_sample_row(struct samples *s, double t, const double *value)
{
    s->time[s->n] = t;
    for (size_t k = 0; k < s->m; k++)
        sample_column(s, k)[s->n] = value[k];
    s->n++;
}

/* Extrapolates by the parabola (or lower polynomial, where there are few) through `count` samples from i in direction
 * `by`: its value and slope at t. */
static void
beyond(const columns *c, size_t k, size_t i, int by, size_t count, double t, double *value, double *slope)
{
    double x[3] = { 0 }, d[3] = { 0 };
    size_t n = count < 3 ? count : 3;

    for (size_t j = 0; j < n; j++) {
        size_t at = by > 0 ? i + j : i - j;

        x[j] = c->time[at];
        d[j] = column_at(&c->column.at[k], at);
    }
    for (size_t order = 1; order < n; order++) /* divided differences */
        for (size_t j = n - 1; j >= order; j--)
            d[j] = (d[j] - d[j - 1]) / (x[j] - x[j - order]);
    *value = d[0];
    *slope = 0;
    if (n > 1) {
        *value += d[1] * (t - x[0]);
        *slope += d[1];
    }
    if (n > 2) {
        *value += d[2] * (t - x[0]) * (t - x[1]);
        *slope += d[2] * (2 * t - x[0] - x[1]);
    }
}

/* An event between two samples: `left` is the last one before it, `right` the first one after it, `begin` the first one
 * after the previous corner. pair: the row of `sides` before it; NO_INDEX: not known. */
struct place {
    double t;
    size_t begin, left, right, pair;
};

/* Does column k have a corner there? Without samples on both sides this cannot be told. */
static bool
has_corner(const struct samples *s, const struct place *p, size_t k, double some)
{
    double value[2], slope[2];

    if (p->left < p->begin || p->left >= p->right || p->right >= s->c->points)
        return false;
    beyond(s->c, k, p->left, -1, p->left - p->begin + 1, p->t, &value[0], &slope[0]);
    beyond(s->c, k, p->right, 1, s->c->points - p->right, p->t, &value[1], &slope[1]);
    return fabs(slope[1] - slope[0]) * (s->c->time[p->right] - s->c->time[p->left]) > some;
}

/* Computes both sides of an event. True: some column has a corner or jump there, and two rows were added. */
static bool
add_corner_rows(struct samples *s, const struct place *p, double share)
{
    const columns *c = s->c;
    double *side[2] = { bg_calloc(s->m + 1, sizeof(double)), bg_calloc(s->m + 1, sizeof(double)) };
    bool corner = false;

    for (size_t k = 0; k < s->m; k++) {
        double some = (share > 0 ? share : CORNER) * s->range[k], slope;

        for (int i = 0; i < 2; i++)
            if (p->pair != NO_INDEX)
                side[i][k] = column_at(&s->sides->column.at[k], p->pair + (size_t)i);
            else if (i == 0)
                beyond(c, k, p->left, -1, p->left - p->begin + 1, p->t, &side[0][k], &slope);
            else
                beyond(c, k, p->right, 1, c->points - p->right, p->t, &side[1][k], &slope);
        corner |= s->range[k] > 0 && (fabs(side[1][k] - side[0][k]) > some || has_corner(s, p, k, some));
    }
    if (corner) {
        s->kept[s->n] = s->kept[s->n + 1] = true;
        add_sample_row(s, p->t, side[0]);
        add_sample_row(s, p->t, side[1]);
    }
    free(side[0]);
    free(side[1]);
    return corner;
}

static void
add_samples(struct samples *s, size_t from, size_t to)
{
    double *value = bg_calloc(s->m + 1, sizeof *value);

    for (size_t i = from; i < to; i++) {
        for (size_t k = 0; k < s->m; k++)
            value[k] = column_at(&s->c->column.at[k], i);
        add_sample_row(s, s->c->time[i], value);
    }
    free(value);
}

/* Collects the samples, with two rows at each event that is visible in a column. A sample at the time of an event
 * belongs to neither side. */
static void
gather_samples(struct samples *s, const double *event, size_t nevents, double share)
{
    const columns *c = s->c;
    double tiny = c->points > 1 ? AT_EVENT * (c->time[c->points - 1] - c->time[0]) / (double)c->points : 0;
    size_t done = 0, pair = 0, begin = 0;

    for (size_t e = 0; e < nevents; e++) {
        struct place p = { .t = event[e], .begin = begin, .pair = NO_INDEX };
        size_t left;

        while (pair < s->sides->points && s->sides->time[pair] < p.t)
            pair += 2;
        if (pair < s->sides->points && s->sides->time[pair] == p.t)
            p.pair = pair;
        for (p.right = done; p.right < c->points && c->time[p.right] <= p.t + tiny; p.right++)
            ;
        for (left = p.right; left > done && c->time[left - 1] >= p.t - tiny; left--)
            ;
        p.left = left - 1; /* wraps around where there is no sample; the comparison with `right` handles that */
        if (p.pair == NO_INDEX && (p.right >= c->points || left <= begin || left < done ||
                                   (e + 1 < nevents && event[e + 1] <= c->time[p.right])))
            continue;
        add_samples(s, done, left);
        done = left;
        if (add_corner_rows(s, &p, share))
            begin = done = p.right;
    }
    add_samples(s, done, c->points);
}

/* Distance of the samples of a stretch from the splines through the kept rows. refine: where the distance between two
 * kept rows is above the share, the middle sample is kept too; *more says whether there were such. */
static double
distance(struct samples *s, size_t from, size_t to, double share, bool *more)
{
    size_t n = 0, *row = bg_calloc(to - from + 1, sizeof *row);
    double *x = bg_calloc(to - from, sizeof *x), *y = bg_calloc(to - from, sizeof *y), worst = 0;
    double end[2] = { s->time[from], s->time[to - 1] };

    *more = false;
    for (size_t i = from; i < to; i++)
        if (s->kept[i])
            row[n++] = i;
    for (size_t k = 0; k < s->m; k++) {
        const double *value = sample_column(s, k);
        ex_table t = { .n = n, .x = x, .y = y, .end = end, .nends = 2 };

        if (!(s->range[k] > 0))
            continue;
        for (size_t i = 0; i < n; i++) {
            x[i] = s->time[row[i]];
            y[i] = value[row[i]];
        }
        t.bend = ex_spline_bends(x, y, n);
        for (size_t p = 0; p + 1 < n; p++) {
            double far = 0;

            for (size_t i = row[p] + 1; i < row[p + 1]; i++)
                far = fmax(far, fabs(ex_table_at(&t, 1, s->time[i]) - value[i]) / s->range[k]);
            worst = fmax(worst, far);
            if (share > 0 && far > share) {
                s->kept[row[p] + (row[p + 1] - row[p]) / 2] = true;
                *more = true;
            }
        }
        free(t.bend);
    }
    free(row);
    free(x);
    free(y);
    return worst;
}

/* Chooses the rows of one smooth stretch; returns the remaining distance. */
static double
thin(struct samples *s, size_t from, size_t to, double share)
{
    bool more = true;
    double far = 0;

    s->kept[from] = s->kept[to - 1] = true;
    for (size_t i = 1; i < FIRST_PARTS; i++)
        s->kept[from + i * (to - 1 - from) / FIRST_PARTS] = true;
    for (size_t i = from; i < to && !(share > 0); i++)
        s->kept[i] = true;
    while (more)
        far = distance(s, from, to, share, &more);
    return far;
}

static size_t
write_rows(FILE *out, const struct samples *s)
{
    columns some = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->kept[i]) {
            s->time[n] = s->time[i];
            for (size_t k = 0; k < s->m; k++)
                sample_column(s, k)[n] = sample_column(s, k)[i];
            n++;
        }
    some.points = n;
    some.time = s->time;
    for (size_t k = 0; k < s->m; k++) {
        column x = s->c->column.at[k];

        x.at = sample_column(s, k);
        x.stride = 1;
        vec_push(&some.column, x);
    }
    csv_write(out, &some);
    vec_free(&some.column);
    return n;
}

double
sampled_write(FILE *out, const columns *c, const columns *sides, const double *event, size_t nevents, double share,
              size_t *points)
{
    struct samples s = { .c = c, .sides = sides, .m = c->column.n, .most = c->points + 2 * nevents + 1 };
    double far = 0;

    s.time = bg_calloc(s.most, sizeof *s.time);
    s.value = bg_calloc(s.most * s.m + 1, sizeof *s.value);
    s.kept = bg_calloc(s.most, sizeof *s.kept);
    s.range = bg_calloc(s.m + 1, sizeof *s.range);
    for (size_t k = 0; k < s.m; k++) {
        double least = INFINITY, greatest = -INFINITY;

        for (size_t i = 0; i < c->points; i++) {
            least = fmin(least, column_at(&c->column.at[k], i));
            greatest = fmax(greatest, column_at(&c->column.at[k], i));
        }
        for (size_t i = 0; i < sides->points; i++) {
            least = fmin(least, column_at(&sides->column.at[k], i));
            greatest = fmax(greatest, column_at(&sides->column.at[k], i));
        }
        s.range[k] = greatest > least ? greatest - least : 0;
    }
    gather_samples(&s, event, nevents, share);
    for (size_t from = 0, i = 1; i <= s.n; i++) {
        if (i < s.n && s.time[i] > s.time[i - 1])
            continue;
        far = fmax(far, thin(&s, from, i, share));
        from = i;
    }
    *points = write_rows(out, &s);
    free(s.time);
    free(s.value);
    free(s.kept);
    free(s.range);
    return far;
}
