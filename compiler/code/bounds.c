/* bounds.c - see bounds.h */
#include "bounds.h"

#include <math.h>
#include <string.h>

#include "course.h"
#include "mode_value.h"

#define STRAY 0.05        /* of a term's range: greatest deviation from a straight line within a step */
#define RANGE_WORK 200000 /* operations spent on ranges; the run is divided into as many parts as they allow */
#define RANGE_PARTS 256
#define PEAK_HALVINGS 60
#define INSIDE 1e-6 /* of a stretch of time: so far from its ends a mode is looked at */

struct term {
    uint32_t op, clock;
    double range, peak, width;
};

struct bounds {
    const bounds_form *form;
    const double *value;
    VEC(struct term) term;
    course *at;               /* [op.n] */
    struct bounds_line *line; /* by mode; NULL: nothing is known of them */
    double start, stop;
    const interval *state; /* [moving.n] their ranges; NULL: unbounded */
    interval *range;       /* [moving.n] scratch */
};

/* A mode that is a known function of time. Its value is monotonic in its difference; at the very ends of from..to it
 * may be that of the other side. */
static course
known_course(const struct bounds_op *o, const struct bounds_line *line, double from, double to)
{
    double inside = INSIDE * (to - from), first = line->offset + line->slope * (from + inside),
           last = line->offset + line->slope * (to - inside);

    first = mode_value(o->kind, o->table, first);
    last = mode_value(o->kind, o->table, last);
    return (course){ { fmin(first, last), fmax(first, last) }, interval_zero, interval_zero };
}

static course
mode_course(const bounds *b, const struct bounds_op *o, const double *modes, double from, double to)
{
    if (modes)
        return course_still(modes[o->a]);
    if (b->line && isfinite(b->line[o->a].offset) && mode_switches(o->kind))
        return known_course(o, &b->line[o->a], from, to);
    switch (o->kind) {
    case MODE_FLOOR:
    case MODE_GIVEN: return (course){ interval_everything, interval_zero, interval_zero };
    case MODE_PIECE: return (course){ { 0, (double)(o->table ? o->table->n : 0) }, interval_zero, interval_zero };
    case MODE_SIGN: return (course){ { -1, 1 }, interval_zero, interval_zero };
    default: return (course){ { 0, 1 }, interval_zero, interval_zero };
    }
}

/* Evaluates the first n operations over from..to. modes NULL: known are only those that are functions of time. */
static void
evaluate_operations(bounds *b, const double *modes, double from, double to, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const struct bounds_op *o = &b->form->op.at[k];
        course *at = b->at, *out = &at[k];

        switch (o->op) {
        case OP_TIME: *out = (course){ { from, to }, interval_point(1), interval_zero }; break;
        case OP_GIVEN: *out = course_still(b->value[o->a]); break;
        case OP_MODE: *out = mode_course(b, o, modes, from, to); break;
        case OP_STATE:
            *out = (course){ b->state ? b->state[o->b] : interval_everything, interval_zero, interval_zero };
            break;
        case OP_UNKNOWN: *out = (course){ interval_everything, interval_zero, interval_zero }; break;
        case EX_CONST: *out = course_still(o->value); break;
        case EX_SELECT: {
            const course *c = &at[o->a], *yes = &at[o->b], *no = &at[o->c];
            if (c->v.lo > 0 || c->v.hi < 0)
                *out = *yes;
            else if (interval_is_point(c->v))
                *out = *no;
            else
                *out = (course){ interval_join(yes->v, no->v), interval_join(yes->d, no->d),
                                 interval_join(yes->s, no->s) };
            break;
        }
        case EX_TABLE:
        case EX_TABLE_SLOPE:
            *out = course_table(o->table, o->op == EX_TABLE_SLOPE, &at[o->a], o->b == NONE ? NULL : &at[o->b]);
            break;
        default:
            *out = ex_ops[o->op].arity == 1 ? course_unary(o->op, &at[o->a])
                                            : course_binary(o->op, &at[o->a], &at[o->b]);
        }
        if (isnan(out->v.lo) || isnan(out->v.hi))
            out->v = interval_everything;
        if (isnan(out->d.lo) || isnan(out->d.hi))
            out->d = interval_everything;
        if (isnan(out->s.lo) || isnan(out->s.hi))
            out->s = interval_everything;
    }
}

bounds *
bounds_new(const bounds_form *form, const double *value)
{
    bounds *b = bg_calloc(1, sizeof *b);

    b->form = form;
    b->value = value;
    for (size_t k = 0; k < form->term.n; k++)
        vec_push(&b->term, ((struct term){ .op = form->term.at[k].op, .clock = form->term.at[k].clock }));
    b->at = bg_calloc(form->op.n + 1, sizeof *b->at);
    b->range = bg_calloc(form->moving.n + 1, sizeof *b->range);
    return b;
}

void
bounds_free(bounds *b)
{
    if (!b)
        return;
    vec_free(&b->term);
    free(b->line);
    free(b->range);
    free(b->at);
    free(b);
}

/* ---- ranges, peaks, steps ---- */

static double
interval_magnitude(interval x)
{
    return fmax(fabs(x.lo), fabs(x.hi));
}

void
bounds_over(bounds *b, struct bounds_line *line, double start, double stop)
{
    size_t parts = RANGE_WORK / (b->form->op.n + 1);
    interval *range = bg_calloc(b->term.n + 1, sizeof *range);
    double *most = bg_calloc(b->term.n + 1, sizeof *most);

    parts = parts < 8 ? 8 : parts > RANGE_PARTS ? RANGE_PARTS : parts;
    free(b->line);
    b->line = line;
    b->start = start;
    b->stop = stop;
    for (size_t p = 0; p < parts; p++) {
        double from = start + (stop - start) * (double)p / (double)parts,
               to = start + (stop - start) * (double)(p + 1) / (double)parts;

        evaluate_operations(b, NULL, from, to, b->form->op.n);
        for (size_t k = 0; k < b->term.n; k++) {
            const course *c = &b->at[b->term.at[k].op];

            range[k] = p ? interval_join(range[k], c->v) : c->v;
            if (p == 0 || interval_magnitude(c->v) > most[k]) {
                most[k] = interval_magnitude(c->v);
                b->term.at[k].peak = from;
                b->term.at[k].width = to - from;
            }
        }
    }
    for (size_t k = 0; k < b->term.n; k++)
        b->term.at[k].range = range[k].hi - range[k].lo;
    free(range);
    free(most);
}

/* The longest step of a term over an interval, where c is its course. */
static double
step_of(const struct term *t, const course *c)
{
    double slope = interval_magnitude(c->d), bend = interval_magnitude(c->s), stray = STRAY * t->range;

    if (bend == 0 || slope == 0)
        return INFINITY;
    if (!isfinite(bend) || !isfinite(stray))
        return isfinite(stray) && isfinite(slope) ? stray / slope : 0;
    return fmax(sqrt(8 * stray / bend), stray / slope);
}

double
bounds_step(bounds *b, const double *modes, double from, double to, bool all, size_t *clock)
{
    double least = INFINITY;
    size_t n = all ? b->term.n : b->form->driving_terms;

    *clock = NO_INDEX;
    if (n == 0)
        return least;
    evaluate_operations(b, modes, from, to, all ? b->form->op.n : b->form->driving_ops);
    for (size_t k = 0; k < n; k++) {
        double step = step_of(&b->term.at[k], &b->at[b->term.at[k].op]);

        if (step < least) {
            least = step;
            *clock = b->term.at[k].clock;
        }
    }
    return least;
}

size_t
bounds_peaks(bounds *b, double *time, double *width, size_t most)
{
    size_t n = b->form->driving_terms < most ? b->form->driving_terms : most;

    for (size_t k = 0; k < n; k++) {
        const struct term *t = &b->term.at[k];
        double from = t->peak, to = t->peak + t->width;

        for (int i = 0; i < PEAK_HALVINGS; i++) {
            double middle = from + (to - from) / 2, left;

            evaluate_operations(b, NULL, from, to, b->form->driving_ops);
            if (step_of(t, &b->at[t->op]) >= to - from)
                break;
            evaluate_operations(b, NULL, from, middle, b->form->driving_ops);
            left = interval_magnitude(b->at[t->op].v);
            evaluate_operations(b, NULL, middle, to, b->form->driving_ops);
            if (left >= interval_magnitude(b->at[t->op].v))
                to = middle;
            else
                from = middle;
        }
        time[k] = from + (to - from) / 2;
        width[k] = to - from;
    }
    return n;
}

/* ---- of states ---- */

#define BEND_PARTS 8     /* what varies much within such a part of a step can stay invisible to the method */
#define BEND_FAR 0.5     /* of its whole range */
#define SOMEWHERE 1.2345 /* a value of a state, to see which other quantities are unknown */

static double
interval_width(interval x)
{
    return x.hi - x.lo;
}

bounds *
bounds_of_bends(const bounds_form *form, const double *value, const double *modes, double start, double stop)
{
    bounds *b = bounds_new(form, value);
    size_t kept = 0;

    b->start = start;
    b->stop = stop;
    evaluate_operations(b, NULL, start, stop, b->form->op.n);
    for (size_t k = 0; k < b->term.n; k++)
        b->term.at[k].range = interval_width(b->at[b->term.at[k].op].v);
    for (size_t i = 0; i < b->form->moving.n; i++)
        b->range[i] = interval_point(SOMEWHERE);
    b->state = b->range;
    evaluate_operations(b, modes, start, start, b->form->op.n);
    for (size_t k = 0; k < b->term.n; k++)
        if (isfinite(b->term.at[k].range) && b->term.at[k].range > 0 && interval_width(b->at[b->term.at[k].op].v) == 0)
            b->term.at[kept++] = b->term.at[k];
    b->term.n = kept;
    if (kept > 0)
        return b;
    bounds_free(b);
    return NULL;
}

/* Ranges of the states over the part u..v of a step. The cubic through its ends lies between its control points. */
static void
states_over(bounds *b, double h, double u, double v, const double *const x[2], const double *const f[2])
{
    for (size_t i = 0; i < b->form->moving.n; i++) {
        uint32_t s = b->form->op.at[b->form->moving.at[i]].a;
        double change = x[1][s] - x[0][s], a = h * f[0][s], c = h * (f[0][s] + f[1][s]) - 2 * change,
               q = change - a - c; /* x0 + a w + q w^2 + c w^3 */
        double at_u = x[0][s] + u * (a + u * (q + u * c)), at_v = x[0][s] + v * (a + v * (q + v * c));
        double from_u = at_u + (v - u) / 3 * (a + u * (2 * q + 3 * u * c)),
               from_v = at_v - (v - u) / 3 * (a + v * (2 * q + 3 * v * c));

        b->range[i] = interval_join(interval_join(interval_point(at_u), interval_point(at_v)),
                                    interval_join(interval_point(from_u), interval_point(from_v)));
    }
}

static bool
moves_far(bounds *b, const double *modes, const double t[2], double u, double v, const double *const x[2],
          const double *const f[2])
{
    double h = t[1] - t[0];

    states_over(b, h, u, v, x, f);
    evaluate_operations(b, modes, t[0] + u * h, t[0] + v * h, b->form->op.n);
    for (size_t k = 0; k < b->term.n; k++)
        if (!(interval_width(b->at[b->term.at[k].op].v) <= BEND_FAR * b->term.at[k].range))
            return true;
    return false;
}

double
bounds_clear(bounds *b, const double *modes, const double t[2], const double *const x[2], const double *const f[2])
{
    if (!moves_far(b, modes, t, 0, 1, x, f))
        return 1;
    for (int k = 0; k < BEND_PARTS; k++)
        if (moves_far(b, modes, t, (double)k / BEND_PARTS, (double)(k + 1) / BEND_PARTS, x, f))
            return (double)(k > 0 ? k : 1) / BEND_PARTS;
    return 1;
}
