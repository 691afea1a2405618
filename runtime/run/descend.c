/* descend.c - see descend.h */
#include "descend.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "scales.h"
#include "vectors.h"

enum {
    AROUND = 4,        /* points over which rates are averaged: pairs on opposite sides of the state */
    STEPS = 200,       /* of the search with one radius */
    ASTRAY = 40,       /* steps that switch a mode without halving the rates: with so many the search ends */
    DENSE_STATES = 200 /* up to so many states the Jacobian of the states alone is averaged, as a dense matrix */
};
/* The radius over which rates are averaged, in parts of the states' sizes: the first, the last, and the ratio of each
 * to the one before. */
#define WIDEST 0.05
#define NARROWEST 1e-12
#define NARROWER 0.1
/* The search with one radius ends when even the longest step moves no state by more than this part of the radius, but
 * at least by the second part of its size, which is rounding. */
#define WITHIN 0.1
#define AT_REST 1e-12
/* A rate is at rest below this part of its terms. Beside terms of the same unit that are far greater it counts as
 * rounding of these: its terms are at least GREAT of the greatest of its unit. */
#define ROUNDING 1e-13
#define GREAT 1e-3
/* Remainders of the rates, in parts of their terms: one that is accepted if no step comes nearer, beside an infinite
 * slope, where rounding of the state is magnified; and one with which the next radius is tried, since steps may fail
 * with a large radius and succeed with a smaller one. */
#define NEARLY 1e-10
#define FEW 1e-3
#define SMALL 1e-6 /* of the greatest terms of its unit: least terms of a rate; a smaller one waits for the others */
#define SMALL_SIZE 1e-3 /* of the greatest state of its unit: least size of a state */
#define SHRUNK 1e-6     /* of its greatest size so far: least size of a state, even if it comes to rest at zero */
#define AT_ZERO 1e-8    /* of its greatest size: a state below it is set to zero if all others then stay at rest */
#define SIZES_RTOL 1e-6 /* tolerance for which the sizes of states are estimated */
#define RELATIVE 1e-6   /* of a state's size: change by which the terms of rates are measured */
#define HALFWAY 0.5     /* ratio of the remainder of its own equations that a step may leave to the rates before it */
#define LONGER 10       /* growth of the step length after each step */
#define LONGEST 1e6     /* of the slowest time: rounding in longer steps would lose what the motion conserves */
#define SHORTEST 1e-20  /* of the slowest time: no shorter step is tried */

struct descent {
    bg_model *model;
    linear *linear;
    events *events;
    const bool *active;
    size_t n;
    scales *scales;
    /* s: the time; time scale of the motion; time in which its terms would change the slowest state; length of a step
     */
    double t, motion, slow, h;
    double blur;                         /* the present radius */
    int astray;                          /* steps that switched a mode without halving the rates */
    double *size, *greatest;             /* [n] of states; so far */
    double *around[AROUND];              /* [n] points over which rates are averaged */
    double *f, *probe, *trial, *one, *d; /* [n] rates at x, at the trial, at a point; the step */
    double *terms, *most;                /* [n] terms of the rates; greatest of a unit */
    uint32_t *group;                     /* [n] states of one unit */
    /* [n*n] mean of the Jacobian by the states alone; NULL: too many states, the sparse one is used */
    double *jacobian, *matrix;
    lapack_int *pivot;
};

/* ---- means ---- */

/* Points within one to two radii of each state, on either side in turn. */
static void
place_neighbours(struct descent *s, const double *x)
{
    for (size_t k = 0; k < AROUND; k++)
        for (size_t i = 0; i < s->n; i++) {
            double part = 1 + (double)(bg_hash_mix(i + 1, 71 + k / 2) >> 40) * 0x1p-24;

            s->around[k][i] = x[i] + (k % 2 ? -1 : 1) * (bg_hash_mix(i + 1, 73 + k / 2) >> 63 ? -part : part) *
                                         s->blur * s->size[i];
        }
}

static bool
averaged_rates(struct descent *s, const double *x, double *f)
{
    place_neighbours(s, x);
    memset(f, 0, s->n * sizeof *f);
    for (size_t k = 0; k < AROUND; k++) {
        if (model_rhs(s->model, s->t, s->around[k], s->one) != 0)
            return false;
        vec_axpy(s->n, 1.0 / AROUND, f, s->one, f);
    }
    for (size_t i = 0; i < s->n; i++)
        if (!s->active[i])
            f[i] = 0;
    return vec_finite(s->n, f);
}

static bool
evaluate_jacobian(struct descent *s, const double *x)
{
    place_neighbours(s, x);
    if (!s->jacobian)
        return linear_evaluate_mean(s->linear, s->t, AROUND, s->around) == 0;
    memset(s->jacobian, 0, s->n * s->n * sizeof *s->jacobian);
    for (size_t k = 0; k < AROUND; k++) {
        if (linear_evaluate(s->linear, s->t, s->around[k]) != 0 || !linear_reduced(s->linear, s->matrix))
            return false;
        for (size_t i = 0; i < s->n * s->n; i++)
            s->jacobian[i] += s->matrix[i] / AROUND;
    }
    return true;
}

/* A step of length h of the implicit Euler method, linearised. */
static bool
euler(struct descent *s, double h)
{
    lapack_int n = (lapack_int)s->n;

    for (size_t i = 0; i < s->n; i++)
        s->d[i] = h * s->f[i];
    if (!s->jacobian) {
        linear_form(s->linear, h);
        return linear_factor(s->linear) == 0 && linear_solve(s->linear, s->d) == 0 && vec_finite(s->n, s->d);
    }
    for (size_t j = 0; j < s->n; j++)
        for (size_t i = 0; i < s->n; i++)
            s->matrix[j * s->n + i] = (i == j) - (s->active[i] && s->active[j] ? h * s->jacobian[j * s->n + i] : 0);
    return LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, s->matrix, n, s->pivot, s->d, n) == 0 && vec_finite(s->n, s->d);
}

/* ---- sizes ---- */

/* Raises each value to a share of the greatest of its unit, which remains in s->most. */
static void
lift(struct descent *s, double *v, double share)
{
    memset(s->most, 0, s->n * sizeof *s->most);
    for (size_t i = 0; i < s->n; i++)
        s->most[s->group[i]] = fmax(s->most[s->group[i]], v[i]);
    for (size_t i = 0; i < s->n; i++)
        v[i] = fmax(v[i], share * s->most[s->group[i]]);
}

/* Sizes from the available energy and from states of the same unit. If all states of a unit are zero, their size is how
 * far they move in the time scale of the motion, by their rates or by rates that follow from these. */
static void
find_sizes(struct descent *s, const double *x)
{
    bool any = true;

    scales_begin(s->scales, x);
    scales_of(s->scales, x, s->size);
    memcpy(s->trial, x, s->n * sizeof *s->trial);
    for (int round = 0; round < 3 && any && averaged_rates(s, s->trial, s->probe); round++) {
        any = false;
        for (size_t i = 0; i < s->n; i++)
            if (s->size[i] == 0)
                s->size[i] = s->motion * fabs(s->probe[i]);
        lift(s, s->size, SMALL_SIZE);
        for (size_t i = 0; i < s->n; i++) {
            any |= s->size[i] == 0;
            s->trial[i] += s->motion * s->probe[i];
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        s->greatest[i] = fmax(s->greatest[i], s->size[i]);
        s->size[i] = fmax(s->size[i], SHRUNK * s->greatest[i]);
    }
}

static bool
has_grown(const struct descent *s, const double *x)
{
    for (size_t i = 0; i < s->n; i++)
        if (fabs(x[i]) > 2 * s->size[i])
            return true;
    return false;
}

/* The terms of the rates at x, of which they are sums: how far small relative changes of the states move the rates, in
 * proportion to these changes. */
static void
measure_terms(struct descent *s, const double *x)
{
    for (size_t i = 0; i < s->n; i++)
        s->terms[i] = fabs(s->f[i]);
    for (uint64_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < s->n; i++)
            s->trial[i] = x[i] + RELATIVE * (double)(int64_t)bg_hash_mix(i + 1, 29 + k) * 0x1p-63 * s->size[i];
        if (!averaged_rates(s, s->trial, s->probe))
            continue;
        for (size_t i = 0; i < s->n; i++)
            s->terms[i] = fmax(s->terms[i], fabs(s->probe[i] - s->f[i]) / RELATIVE);
    }
    lift(s, s->terms, SMALL);
    s->slow = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->terms[i] > 0)
            s->slow = fmax(s->slow, s->size[i] / s->terms[i]);
}

/* What remains of the rates, or with `less` of the equations of an Euler step less: the greatest |f_i - less_i/h|,
 * relative to the terms. */
static double
left(const struct descent *s, const double *f, const double *less, double h)
{
    double r = 0;

    for (size_t i = 0; i < s->n; i++) {
        double v = fabs(less ? f[i] - less[i] / h : f[i]);

        if (v != 0)
            r = fmax(r, v / s->terms[i]);
    }
    return r;
}

/* ---- descending ---- */

/* Was the last step as long as steps may be, and moved no state by more than this part of its size? */
static bool
is_small(const struct descent *s, double part)
{
    if (!(s->h >= LONGEST * s->slow))
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (s->active[i] && !(fabs(s->d[i]) <= part * s->size[i]))
            return false;
    return true;
}

/* Are the rates only rounding, or does the longest step hardly change the states? */
static bool
is_at_rest(const struct descent *s, double part)
{
    bool quiet = true;

    for (size_t i = 0; i < s->n && quiet; i++)
        quiet = fabs(s->f[i]) <= ROUNDING * fmax(s->terms[i], GREAT * s->most[s->group[i]]);
    return quiet || is_small(s, part);
}

/* Takes the longest step from x, up to s->h, whose equations at its end are met to half of the rates at its start: such
 * steps approach rest in a dissipative model, and there is none where terms merely grow. If x is at rest, takes none
 * and sets *found. */
static bool
step(struct descent *s, double *x, double part, bool *found)
{
    double before, after = INFINITY;

    measure_terms(s, x);
    before = left(s, s->f, NULL, 1);
    if (!evaluate_jacobian(s, x))
        return false;
    for (;; s->h /= 4) {
        if (!(s->h > SHORTEST * s->slow))
            return false;
        if (!euler(s, s->h))
            continue;
        if (is_at_rest(s, part)) {
            *found = true;
            return true;
        }
        for (size_t i = 0; i < s->n; i++)
            s->trial[i] = s->active[i] ? x[i] + s->d[i] : x[i];
        if (averaged_rates(s, s->trial, s->probe))
            after = left(s, s->probe, s->d, s->h);
        if (after <= HALFWAY * before)
            break;
    }
    memcpy(x, s->trial, s->n * sizeof *x);
    if (!events_settle(s->events, s->t, x))
        memcpy(s->f, s->probe, s->n * sizeof *s->f);
    else if (!averaged_rates(s, x, s->f))
        return false;
    else if (left(s, s->f, NULL, 1) > HALFWAY * before)
        s->astray++;
    return true;
}

/* Steps until the mean rates are at rest. */
static bool
settle_at_rest(struct descent *s, double *x, double part)
{
    if (!averaged_rates(s, x, s->f))
        return false;
    s->astray = 0;
    for (int k = 0; k < STEPS && s->astray < ASTRAY; k++) {
        bool found = false;

        if (!step(s, x, part, &found))
            return left(s, s->f, NULL, 1) <= NEARLY;
        if (found)
            return true;
        s->h = fmin(LONGER * s->h, LONGEST * s->slow);
        if (has_grown(s, x)) {
            find_sizes(s, x);
            if (!averaged_rates(s, x, s->f))
                return false;
        }
    }
    return left(s, s->f, NULL, 1) <= NEARLY;
}

/* Sets these states of x to zero if the others are at rest then too. */
static bool
rests_without(struct descent *s, const bool *small, double *x)
{
    double *f = s->one;

    for (size_t i = 0; i < s->n; i++)
        s->trial[i] = small[i] ? 0 : x[i];
    if (model_rhs(s->model, s->t, s->trial, f) != 0)
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (s->active[i] && !(fabs(f[i]) <= fmax(fabs(s->f[i]), NEARLY * s->terms[i])))
            return false;
    memcpy(x, s->trial, s->n * sizeof *x);
    return true;
}

/* A small remainder of a state that should be zero would move a model with infinite slopes there. Sets such states
 * to exactly zero, all together or one after the other. */
static void
put_to_zero(struct descent *s, double *x)
{
    bool *small = bg_calloc(s->n, sizeof *small);
    VEC(size_t) which = { 0 };

    for (size_t i = 0; i < s->n; i++)
        if (s->active[i] && x[i] != 0 && fabs(x[i]) <= AT_ZERO * s->greatest[i]) {
            small[i] = true;
            vec_push(&which, i);
        }
    if (which.n && model_rhs(s->model, s->t, x, s->f) == 0 && !rests_without(s, small, x)) {
        memset(small, 0, s->n * sizeof *small);
        for (size_t k = 0; k < which.n; k++) {
            small[which.at[k]] = true;
            small[which.at[k]] = rests_without(s, small, x);
        }
    }
    free(small);
    vec_free(&which);
}

void
states_by_unit(bg_model *m, uint32_t *group)
{
    map units = { 0 };
    uint32_t count = 0;

    for (size_t i = 0; i < model_nstates(m); i++) {
        uint64_t key = map_ptr_key(model_state(m, i).unit);
        uint32_t g = map_get(&units, key);

        if (g == MAP_NONE)
            map_set(&units, key, g = count++);
        group[i] = g;
    }
    map_free(&units);
}

bool
descend(bg_model *m, linear *l, events *e, const bool *active, double t, double motion, double *x)
{
    size_t n = model_nstates(m);
    struct descent
        s = { .model = m, .linear = l, .events = e, .active = active, .n = n, .t = t, .motion = motion, .h = motion };
    double **vector[] = { &s.size,  &s.greatest, &s.f,         &s.probe,     &s.trial,     &s.one,      &s.d,
                          &s.terms, &s.most,     &s.around[0], &s.around[1], &s.around[2], &s.around[3] };
    bool ok = true;

    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        *vector[k] = bg_calloc(n, sizeof(double));
    s.group = bg_calloc(n, sizeof *s.group);
    s.scales = scales_new(m, SIZES_RTOL, 0);
    states_by_unit(m, s.group);
    if (n <= DENSE_STATES && linear_pattern(l).n > n) {
        s.jacobian = bg_malloc(n * n * sizeof *s.jacobian);
        s.matrix = bg_malloc(n * n * sizeof *s.matrix);
        s.pivot = bg_malloc(n * sizeof *s.pivot);
    }
    events_settle(e, t, x);
    for (s.blur = WIDEST; s.blur > NARROWEST && (ok || s.astray == ASTRAY || left(&s, s.f, NULL, 1) <= FEW);
         s.blur *= NARROWER) {
        find_sizes(&s, x);
        ok = settle_at_rest(&s, x, fmax(WITHIN * s.blur, AT_REST));
    }
    if (ok)
        put_to_zero(&s, x);
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(*vector[k]);
    free(s.group);
    scales_free(s.scales);
    free(s.jacobian);
    free(s.matrix);
    free(s.pivot);
    return ok;
}
