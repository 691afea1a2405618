/* samples.c - see samples.h */
#include "samples.h"

#include <float.h>
#include <math.h>

#include "draw.h"
#include "model_graph.h"

#define AT_START 1e-9   /* of a period: a sample so near to the start is at the start */
#define MOST_COUNT 9e15 /* of periods since time 0: beyond it a double does not distinguish two samples */
#define MOST_SEED 9007199254740992.0
#define MOST_TOLD 12 /* values in a message */

struct block {
    size_t when;
    double period, offset, next;
    int64_t k;
    bool taken, first;
};

struct samples {
    bg_model *model;
    double start, stop, next;
    VEC(struct block) block;
    VEC(struct model_draw) draw;
    size_t count;
};

static double
next_time(const samples *s, const struct block *b)
{
    double t = b->offset + (double)b->k * b->period;

    return t > s->stop + AT_START * b->period ? INFINITY : fmin(t, s->stop);
}

static bool
makes_sense(const samples *s, const struct block *b)
{
    double size = fmax(fabs(s->start), fmax(fabs(s->stop), s->stop - s->start));

    return b->period > 64 * DBL_EPSILON * size && isfinite(b->period) && isfinite(b->offset) &&
           fabs((s->start - b->offset) / b->period) < MOST_COUNT;
}

static void
find_next(samples *s)
{
    s->next = INFINITY;
    for (size_t i = 0; i < s->block.n; i++)
        s->next = fmin(s->next, s->block.at[i].next);
}

samples *
samples_new(bg_model *m, double start, double stop)
{
    samples *s = NULL;

    for (size_t w = 0; w < model_nwhens(m); w++) {
        struct model_when q = model_when(m, w);
        struct block b = { .when = w, .period = q.period, .offset = q.offset, .next = INFINITY, .first = true };

        if (q.kind != WHEN_SAMPLES)
            continue;
        if (!s) {
            s = bg_calloc(1, sizeof *s);
            s->model = m;
            s->start = start;
            s->stop = stop;
        }
        if (makes_sense(s, &b)) {
            b.k = (int64_t)ceil((start - b.offset) / b.period - AT_START);
            if (q.begins && b.k < 0)
                b.k = 0;
            b.next = fmax(next_time(s, &b), start);
        }
        vec_push(&s->block, b);
    }
    if (!s)
        return NULL;
    for (size_t k = 0; k < model_ndraws(m); k++)
        vec_push(&s->draw, model_draw(m, k));
    find_next(s);
    return s;
}

void
samples_free(samples *s)
{
    if (!s)
        return;
    vec_free(&s->block);
    vec_free(&s->draw);
    free(s);
}

static bool
may_stop_early(const bg_model *m)
{
    for (size_t w = 0; w < model_nwhens(m); w++)
        if (model_when(m, w).kind == WHEN_STOPS)
            return true;
    return false;
}

bool
samples_check(const samples *s, size_t most, sources *to)
{
    bool fine = true, whole = s && !may_stop_early(s->model);

    for (size_t i = 0; s && i < s->block.n; i++) {
        const struct block *b = &s->block.at[i];
        double due = (s->stop - b->next) / b->period;

        if (makes_sense(s, b) && !(whole && due > (double)most))
            continue;
        fine = false;
        if (makes_sense(s, b)) {
            diag_error(to, "run-every", model_when(s->model, b->when).at,
                       "samples every %.6g s are %.3g until %.6g s, more than the %zu steps that a run may take",
                       b->period, due, s->stop, most);
            diag_help(to, "Is the period in the unit that was meant? A number without one is in seconds. Otherwise "
                          "shorten the run, or allow more with --max-steps.");
            continue;
        }
        diag_error(to, "run-every", model_when(s->model, b->when).at,
                   "samples every %.6g s, from %.6g s on, cannot be taken in a run from %.6g s to %.6g s", b->period,
                   b->offset, s->start, s->stop);
        diag_help(to, "A period must be positive and long enough to separate two samples.");
    }
    for (size_t k = 0; s && k < s->draw.n; k++) {
        double seed = s->draw.at[k].seed;

        if (seed == floor(seed) && fabs(seed) <= MOST_SEED)
            continue;
        fine = false;
        diag_error(to, "run-seed", s->draw.at[k].at, "%.6g is not a seed: a seed is a whole number", seed);
    }
    return fine;
}

double
samples_next(const samples *s)
{
    return s ? s->next : INFINITY;
}
size_t
samples_count(const samples *s)
{
    return s ? s->count : 0;
}

static struct block *
block_of(const samples *s, size_t when)
{
    for (size_t i = 0; s && i < s->block.n; i++)
        if (s->block.at[i].when == when)
            return &s->block.at[i];
    return NULL;
}

bool
samples_taken(const samples *s, size_t when)
{
    const struct block *b = block_of(s, when);

    return b && b->taken;
}

bool
samples_first(const samples *s, size_t when)
{
    const struct block *b = block_of(s, when);

    return b && b->first;
}

bool
samples_take(samples *s, double t, double *modes)
{
    if (!s || !(s->next <= t))
        return false;
    for (size_t i = 0; i < s->block.n; i++) {
        struct block *b = &s->block.at[i];

        b->first = b->first && !b->taken;
        b->taken = b->next <= t;
        if (!b->taken)
            continue;
        for (size_t k = 0; k < s->draw.n; k++) {
            const struct model_draw *d = &s->draw.at[k];

            if (d->when == b->when)
                modes[d->mode] = d->normal ? draw_normal((int64_t)d->seed, b->k) : draw_uniform((int64_t)d->seed, b->k);
        }
        b->k++;
        b->next = next_time(s, b);
        s->count++;
    }
    find_next(s);
    return true;
}

/* The unit in which v is declared, else that of a quantity it is compared with: a pressure beside 6 [bar] is shown
 * in bar. */
static const unit *
written_beside(const bg_model *m, const var_id *list, size_t n, const struct model_variable *v)
{
    for (size_t k = 0; k < n && v->unit && !v->display; k++) {
        const unit *u = model_variable(m, list[k]).display;

        if (u && unit_dimension(u) == unit_dimension(v->unit))
            return u;
    }
    return v->display;
}

void
samples_values(const bg_model *m, size_t when, const double *value, strbuf *out)
{
    const var_id *list;
    size_t n, told = 0;

    model_when_reads(m, when, &list, &n);
    for (size_t k = 0; k < n && told < MOST_TOLD; k++) {
        const struct model_variable v = model_variable(m, list[k]);

        if (v.kind == VAR_MODE || v.kind == VAR_LITERAL || v.kind == VAR_AUX || !v.name)
            continue;
        strbuf_printf(out, "%s%s = %s", told++ ? ", " : "", v.name,
                      value_shown(v.unit, written_beside(m, list, n, &v), value[list[k]]).text);
    }
}
