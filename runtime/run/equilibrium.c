/* equilibrium.c - states at which nothing moves, with the inputs of one time; see simulate.h
 *
 * Newton's method with a line search (KINSOL) comes first where the Jacobian is regular, round by round with the modes
 * that hold. Its result counts unless motion would lead away from it (an upright pendulum). Else, and where motion
 * leaves something free, pseudo-transient continuation: implicit Euler steps (I/h - J) d = f whose length h grows as
 * the rates shrink, so that the iteration follows the model's own motion first and becomes Newton's method in the end.
 * It needs no more than the integrator's matrix, and what the motion conserves (a total mass, a momentum) keeps its
 * initial value even where J is singular. Modes follow after every step. What neither finds is looked for with means of
 * the rates (descend.h), then by a long run. Up to 600 states a singular value
 * decomposition then gives corrections of least size that keep these totals, down to rounding, and the directions that
 * stay free.
 *
 * Kelley & Keyes (1998), SIAM J. Numer. Anal. 35(2):508-523
 */
#include "simulate.h"

#include <kinsol/kinsol.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <string.h>

#include "descend.h"
#include "equilibrium_inside.h"
#include "first_solution.h"
#include "library_status.h"
#include "shown.h"
#include "vectors.h"

#define ITERATIONS 400
#define CLOSE 1e-9    /* of the terms in a rate: an equilibrium, though perhaps not to rounding */
#define ROUNDED 1e-13 /* of the states' scales: smaller changes of states, and their effects, are rounding */
/* of the terms in rates: the goal of Newton's method, which is rounding; `measure_rates` decides */
#define RATES_VANISH 1e-12
#define STEPS_VANISH 1e-15 /* of the states: least step */
/* sizes of the states, each: no bound of the step length, only the line search shortens steps */
#define LONGEST_STEP 1e6
/* Relative change of the states by which terms of rates and their rounding are measured: well above rounding, small
 * enough that rates change in proportion. */
#define PROBE 1e-6
/* s: limits of the time scale of the motion; faster changes are rounding of terms that cancel. */
#define SHORTEST_MOTION 1e-12
#define LONGEST_MOTION 1e9
#define AT_REST 1e-13       /* residual of the pseudo-transient steps at which rounding stops them */
#define MOST_IDLE 40        /* pseudo-transient steps without progress */
#define SHORTEST_PART 1e-12 /* of the first pseudo-transient step: shorter steps have no effect */
#define NEAR_REST 1e-3      /* residual below which sizes of terms are measured at every step, and corrections begin */
#define POLISHED 1e-14      /* residual at which corrections stop */
#define WAIT_RTOL 1e-7      /* of the long run after all else failed: its end is only a start for Newton's method */
#define NO_TERMS 1e-300     /* keeps a quotient of two zeros finite */
#define DENSE_STATES 600
#define DENSE_UNKNOWNS 1200
#define REGULAR 1e9      /* a step beyond this times the states' sizes means that the Jacobian is singular */
#define MOVED 1e-6       /* of a state, and */
#define MOVED_AMONG 1e-9 /* of the greatest of its unit: what ideal switches may move it by and agree with it */
#define NEWTON_ROUNDS 20 /* of modes */
/* of a state: distance from zero at which the Jacobian is evaluated if slopes may be infinite */
#define ASIDE 1e-6
#define STRIDES 3        /* steps in which the motion is followed to find its time scale */
#define WAITS 14         /* runs of growing length in which a model may come to rest by itself, */
#define WAIT_STEPS 50000 /* of so many steps */
#define WAITED 1e-3      /* of the terms in a rate: below it Newton's method may finish the search */
#define LESS 1e-3        /* of the terms at the start of a march: goal for the rates */
/* Ratios of the rates' residual from one pseudo-transient step to the next: a step that brings it below the first makes
 * progress; one that leaves it below the second, which is the same but for rounding, may be followed by a longer one;
 * a correction that leaves more than the third is the last. */
#define PROGRESS 0.9
#define NO_HIGHER 1.01
#define CORRECTED 0.1
/* A pseudo-transient step is taken if the residual grows by less than HIGHER, or is below NO_MATTER: far from rest, or
 * near it, it need not fall at every step. Else a step SHORTER is tried. */
#define HIGHER 4
#define NO_MATTER 0.5
#define SHORTER 8
/* The motion has a time scale as soon as a rate changes by this share of its terms. The time tried is multiplied by
 * LATER each time; so is the length of the runs in which a model may come to rest. */
#define CHANGED 0.5
#define LATER 10
/* From the stage FROM_WAIT on such a run is worse if the rates do not fall to this share; after MOST_WORSE of them the
 * model does not come to rest. */
#define FALLEN 0.5
#define FROM_WAIT 4
#define MOST_WORSE 3
/* Growth of the step: as the residual falls, within limits. */
#define LEAST_GROWTH 4
#define MOST_GROWTH 100

bool
rest_rates(rest *s, const double *x, double *f)
{
    if (model_rhs(s->model, s->t, x, f) != 0 || !vec_finite(s->n, f))
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (!s->active[i])
            f[i] = 0;
    return true;
}

/* A state that is zero except for rounding has no size of its own. Rates below those that a change of ROUNDED of the
 * states' scales (scales.h, from the available energy) would cause count as zero: a standing car has horizontal
 * momenta of 1e-20, whose rates no longer cancel. */
static void
measure_rounding(rest *s, const double *x)
{
    const double relative = PROBE;

    scales_begin(s->scales, x);
    scales_of(s->scales, x, s->size);
    memset(s->rounding, 0, s->n * sizeof *s->rounding);
    for (uint64_t trial = 0; trial < 2; trial++) {
        for (size_t i = 0; i < s->n; i++)
            s->trial[i] = x[i] + (bg_hash_mix(i + 1, 31 + trial) >> 63 ? relative : -relative) * s->size[i];
        if (!rest_rates(s, s->trial, s->probe))
            continue;
        for (size_t i = 0; i < s->n; i++)
            s->rounding[i] = fmax(s->rounding[i], ROUNDED * fabs(s->probe[i] - s->f[i]) / relative);
    }
}

/* Size of the terms in each rate: the effect of relative changes of the states (random signs, twice), divided by
 * 1e-6. */
static void
measure_rates(rest *s, const double *x)
{
    const double relative = PROBE;

    measure_rounding(s, x);
    for (uint64_t trial = 0; trial < 2; trial++) {
        for (size_t i = 0; i < s->n; i++)
            s->trial[i] = x[i] * (bg_hash_mix(i + 1, 29 + trial) >> 63 ? 1 + relative : 1 - relative);
        if (!rest_rates(s, s->trial, s->probe))
            continue;
        for (size_t i = 0; i < s->n; i++)
            s->gross[i] = fmax(s->gross[i], fmax(fabs(s->f[i]), fabs(s->probe[i] - s->f[i]) / relative));
    }
}

double
rest_residual(const rest *s, const double *f)
{
    double r = 0;

    for (size_t i = 0; i < s->n; i++)
        if (fabs(f[i]) > s->rounding[i])
            r = fmax(r, fabs(f[i]) / fmax(s->gross[i], fabs(f[i])));
    return r;
}

/* The time scale of the motion, from the product of J with the rates. */
static double
time_scale(rest *s, const double *x)
{
    double most = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->active[i] && x[i] != 0)
            most = fmax(most, s->gross[i] / fabs(x[i]));
    if (!(most > 0)) {
        const struct model_pattern p = linear_pattern(s->linear);
        const double *v = linear_values(s->linear);
        for (size_t k = 0; k < p.nonzeros; k++)
            most = fmax(most, fabs(v[k]));
    }
    return most > 0 && isfinite(most) ? 1 / most : 1;
}

/* Moves s->trial by h along its rates, in several strides, since an inertia at rest only passes on what it received
 * before. At the end s->probe has its rates. */
static bool
stride(rest *s, const double *x, double h)
{
    bool ok = true;

    memcpy(s->trial, x, s->n * sizeof(double));
    memcpy(s->probe, s->f, s->n * sizeof(double));
    for (int k = 0; k < STRIDES && ok; k++) {
        vec_axpy(s->n, h / STRIDES, s->trial, s->probe, s->trial);
        ok = rest_rates(s, s->trial, s->probe);
    }
    return ok;
}

/* The time in which the rates change by about half when the model moves along them; states that are zero have no
 * size to measure it. If they change in no time, the rates are rounding of terms that cancel. */
static double
motion_time(rest *s, const double *x)
{
    const double shortest = SHORTEST_MOTION, longest = LONGEST_MOTION;
    bool *is_rate = bg_calloc(s->n, sizeof *is_rate), any = false, moved = false;
    double h;

    for (size_t i = 0; i < s->n; i++) {
        is_rate[i] = s->gross[i] > 0;
        any |= is_rate[i];
    }
    for (h = any ? shortest : 1; any && !moved && h < longest && stride(s, x, h); h *= moved ? 1 : LATER) {
        any = false;
        for (size_t i = 0; i < s->n; i++) {
            bool changed = is_rate[i] && fabs(s->probe[i] - s->f[i]) > CHANGED * s->gross[i];

            is_rate[i] = is_rate[i] && !(changed && h == shortest);
            any |= is_rate[i];
            moved |= changed && h > shortest;
        }
    }
    free(is_rate);
    return h;
}

/* Where the Jacobian is evaluated: away from the zeros of roots, where it is infinite, by a part of the states'
 * present or expected sizes. */
static const double *
away_from_roots(rest *s, const double *x)
{
    if (!s->rooted)
        return x;
    for (size_t i = 0; i < s->n; i++)
        s->aside[i] = s->rooted[i] ? x[i] + ASIDE * (1 + (double)(bg_hash_mix(i + 1, 3) >> 40) * 0x1p-24) *
                                                fmax(fabs(x[i]), s->motion * s->gross[i])
                                   : x[i];
    return s->aside;
}

/* Returns the scaled residual reached, relative to the greatest terms on the way. */
static double
step_on(rest *s, double *x)
{
    double h = 0, r, best, shortest = 0;
    int idle = 0;

    best = r = rest_residual(s, s->f);
    for (int k = 0; k < ITERATIONS && r > AT_REST && idle < MOST_IDLE; k++) {
        if (linear_evaluate(s->linear, s->t, away_from_roots(s, x)) != 0)
            return INFINITY;
        if (h == 0) {
            h = s->rooted ? fmin(s->motion, time_scale(s, x)) : time_scale(s, x);
            shortest = h * SHORTEST_PART;
        }
        linear_form(s->linear, h);
        bool good = linear_factor(s->linear) == 0;
        if (good) {
            for (size_t i = 0; i < s->n; i++)
                s->step[i] = h * s->f[i];
            good = linear_solve(s->linear, s->step) == 0 && vec_finite(s->n, s->step);
        }
        double now = INFINITY;
        if (good) {
            for (size_t i = 0; i < s->n; i++)
                s->trial[i] = s->active[i] ? x[i] + s->step[i] : x[i];
            good = rest_rates(s, s->trial, s->probe);
        }
        if (good) {
            for (size_t i = 0; i < s->n; i++) /* terms may grow on the way: 1e-12 is relative to terms that cancel */
                s->gross[i] = fmax(s->gross[i], fabs(s->probe[i]));
            now = rest_residual(s, s->probe);
            good = now <= HIGHER * fmax(r, best) || now <= NO_MATTER;
        }
        if (!good) {
            h /= SHORTER;
            idle++;
            if (h < shortest)
                break;
            continue;
        }
        memcpy(x, s->trial, s->n * sizeof(double));
        bool switched = events_settle(s->events, s->t, x);
        if (!rest_rates(s, x, s->f))
            return INFINITY;
        if (k % 8 == 0 || now < NEAR_REST)
            measure_rates(s, x);
        now = rest_residual(s, s->f);
        idle = now < PROGRESS * best || switched ? 0 : idle + 1;
        if (now < r)
            h *= fmin(MOST_GROWTH, fmax(LEAST_GROWTH, r / now));
        else if (now < NO_HIGHER * r)
            h *= 2;
        else
            h /= 2;
        if (now < best)
            best = now;
        else if (best < CLOSE && now >= best)
            return now; /* rounding has the word */
        r = now;
    }
    return r;
}

/* Are the rates below the terms of the same unit at the start of the way, in s->first? A way that led far off may
 * have met terms beside which every rate looks small. */
static bool
are_less(const rest *s)
{
    double *most = bg_calloc(s->n + 1, sizeof *most);
    bool less = true;

    for (size_t i = 0; i < s->n; i++)
        most[s->group[i]] = fmax(most[s->group[i]], s->first[i]);
    for (size_t i = 0; i < s->n && less; i++)
        less = most[s->group[i]] == 0 || fabs(s->f[i]) <= LESS * most[s->group[i]];
    free(most);
    return less;
}

/* Pseudo-transient steps from x towards rest. Returns the scaled residual reached. */
static double
march(rest *s, double *x)
{
    double r;

    events_settle(s->events, s->t, x);
    if (!rest_rates(s, x, s->f))
        return INFINITY;
    measure_rates(s, x);
    memcpy(s->first, s->gross, s->n * sizeof(double));
    r = step_on(s, x);
    return r > CLOSE || are_less(s) ? r : INFINITY;
}

/* The residual r that was reached at x; INFINITY where ideal switches agree with no x, or with one elsewhere alone: a
 * mass that has passed its stop. */
static double
consistent(rest *s, const double *x, double r)
{
    double *to = s->probe, *most;
    bool fine;

    if (!(r <= CLOSE))
        return r;
    memcpy(to, x, s->n * sizeof *to);
    fine = events_consistent(s->events, s->t, to);
    most = bg_calloc(s->n + 1, sizeof *most);
    for (size_t i = 0; i < s->n; i++)
        most[s->group[i]] = fmax(most[s->group[i]], fabs(x[i]));
    for (size_t i = 0; i < s->n && fine; i++)
        fine = fabs(to[i] - x[i]) <= MOVED * fmax(fabs(x[i]), fabs(to[i])) + MOVED_AMONG * most[s->group[i]];
    free(most);
    return fine ? r : INFINITY;
}

/* ---- the model's own motion ---- */

/* Runs the model with time standing still, for longer and longer, until it rests. That finds equilibria that
 * Newton's method cannot find: states that stick or conduct, a law with zero slope, a limit cycle on the way.
 * Returns the scaled residual reached. */
static double
wait(rest *s, double *x)
{
    double length, r = INFINITY, before = INFINITY;
    int worse = 0;

    if (linear_evaluate(s->linear, s->t, x) != 0 || !rest_rates(s, x, s->f))
        return INFINITY;
    memset(s->gross, 0, s->n * sizeof *s->gross);
    measure_rates(s, x);
    length = motion_time(s, x);
    for (int stage = 0; stage < WAITS && worse < MOST_WORSE; stage++, length *= LATER) {
        sim_options o = { .start = s->t,
                          .stop = s->t + length,
                          .rtol = WAIT_RTOL,
                          .x0 = x,
                          .goes_on = true,
                          .max_steps = WAIT_STEPS };
        sim_result result;
        bool ok = o.stop > o.start && simulate(s->model, &o, &result);

        if (ok)
            memcpy(x, result.x_end, s->n * sizeof *x);
        if (o.stop > o.start)
            sim_result_free(&result);
        if (!ok || !rest_rates(s, x, s->f))
            break;
        measure_rates(s, x);
        r = rest_residual(s, s->f);
        if (r <= CLOSE)
            break;
        if (r < WAITED) { /* close enough for Newton's method to finish */
            double *kept = bg_malloc(s->n * sizeof *kept), polished;

            memcpy(kept, x, s->n * sizeof *kept);
            polished = consistent(s, x, march(s, x));
            if (polished <= CLOSE) {
                free(kept);
                r = polished;
                break;
            }
            memcpy(x, kept, s->n * sizeof *x);
            free(kept);
        }
        worse = stage >= FROM_WAIT && r > FALLEN * before ? worse + 1 : 0;
        before = r;
    }
    return r;
}

/* ---- Newton's method ---- */

static int
newton_rates(N_Vector x, N_Vector f, void *data)
{
    return rest_rates(data, NV_DATA_S(x), NV_DATA_S(f)) ? 0 : 1;
}

static int
newton_jacobian(N_Vector x, N_Vector f, SUNMatrix j, void *data, N_Vector t1, N_Vector t2)
{
    rest *s = data;
    int status = linear_evaluate(s->linear, s->t, away_from_roots(s, NV_DATA_S(x)));

    (void)f, (void)j, (void)t1, (void)t2;
    if (status == 0)
        linear_form_newton(s->linear, s->active);
    return status;
}

/* Is the effect of a change of all rates by their own size on the states bounded? scale: 1/size of the states */
static bool
is_regular(rest *s, const double *x, const double *scale)
{
    if (linear_evaluate(s->linear, s->t, away_from_roots(s, x)) != 0)
        return false;
    linear_form_newton(s->linear, s->active);
    if (linear_factor(s->linear) != 0)
        return false;
    for (uint64_t trial = 0; trial < 2; trial++) {
        for (size_t i = 0; i < s->n; i++)
            s->step[i] = !s->active[i] ? 0 : bg_hash_mix(i + 1, 41 + trial) >> 63 ? s->gross[i] : -s->gross[i];
        if (linear_solve(s->linear, s->step) != 0)
            return false;
        for (size_t i = 0; i < s->n; i++)
            if (!(fabs(s->step[i]) * scale[i] < REGULAR))
                return false;
    }
    return true;
}

/* Solves for rest from x with the present modes. */
static bool
newton_solve(rest *s, double *x, N_Vector u, N_Vector scale, N_Vector rate_scale, SUNContext context)
{
    void *kin = library_made(KINCreate(context));
    SUNMatrix a = library_made(linear_matrix(s->linear, context));
    SUNLinearSolver solver = library_made(linear_solver(s->linear, context));
    bool ok;

    memcpy(NV_DATA_S(u), x, s->n * sizeof(double));
    library_set(KINInit(kin, newton_rates, u));
    library_set(KINSetLinearSolver(kin, solver, a));
    library_set(KINSetJacFn(kin, newton_jacobian));
    library_set(KINSetErrHandlerFn(kin, library_says_nothing, NULL));
    library_set(KINSetUserData(kin, s));
    library_set(KINSetMaxSetupCalls(kin, 1)); /* the Jacobian of every iterate */
    library_set(KINSetFuncNormTol(kin, RATES_VANISH));
    library_set(KINSetScaledStepTol(kin, STEPS_VANISH));
    library_set(KINSetMaxNewtonStep(kin, LONGEST_STEP * sqrt((double)s->n)));
    library_set(KINSetNumMaxIters(kin, ITERATIONS / 4));
    ok = KINSol(kin, u, KIN_LINESEARCH, scale, rate_scale) >= 0;
    for (size_t i = 0; i < s->n && ok; i++)
        if (s->active[i])
            x[i] = NV_DATA_S(u)[i];
    KINFree(&kin);
    SUNLinSolFree(solver);
    SUNMatDestroy(a);
    return ok;
}

/* Newton's method from x. Returns the scaled residual reached, INFINITY if it is not applicable. */
static double
newton_rest(rest *s, double *x)
{
    SUNContext context;
    N_Vector u = NULL, scale = NULL, rate_scale = NULL;
    double r = INFINITY, h;
    bool ok;

    events_settle(s->events, s->t, x);
    if (!rest_rates(s, x, s->f) || linear_evaluate(s->linear, s->t, away_from_roots(s, x)) != 0)
        return INFINITY;
    measure_rates(s, x);
    h = time_scale(s, x);
    context = library_context();
    u = library_made(N_VNew_Serial((sunindextype)s->n, context));
    vectors_check_memory(u);
    scale = library_made(N_VClone(u));
    rate_scale = library_made(N_VClone(u));
    ok = true;
    for (int round = 0; ok && round < NEWTON_ROUNDS; round++) {
        for (size_t i = 0; i < s->n; i++) {
            double size = fmax(fabs(x[i]), h * s->gross[i]);

            NV_DATA_S(scale)[i] = s->active[i] && size > 0 ? 1 / size : 1;
            NV_DATA_S(rate_scale)[i] = s->active[i] && s->gross[i] > 0 ? 1 / s->gross[i] : 1;
        }
        ok = is_regular(s, x, NV_DATA_S(scale)) && newton_solve(s, x, u, scale, rate_scale, context);
        bool switched = ok && events_settle(s->events, s->t, x);

        ok = ok && rest_rates(s, x, s->f);
        if (!ok)
            break;
        measure_rates(s, x);
        r = rest_residual(s, s->f);
        if (!switched || r <= CLOSE)
            break;
    }
    N_VDestroy(u);
    N_VDestroy(scale);
    N_VDestroy(rate_scale);
    SUNContext_Free(&context);
    return ok ? r : INFINITY;
}

/* ---- the whole ---- */

static void
report_failure(rest *s)
{
    sources *src = model_sources(s->model);
    size_t worst[NAMED], count = 0;
    strbuf list = { 0 };

    for (size_t i = 0; i < s->n; i++) { /* the largest scaled rates, by insertion */
        double r = fabs(s->f[i]) / fmax(s->gross[i], fabs(s->f[i]) + NO_TERMS);
        size_t k = count;
        if (!(r > CLOSE) || fabs(s->f[i]) <= s->rounding[i])
            continue;
        while (k > 0 && fabs(s->f[worst[k - 1]]) / fmax(s->gross[worst[k - 1]], NO_TERMS) < r)
            k--;
        if (k >= NAMED)
            continue;
        count += count < NAMED;
        memmove(worst + k + 1, worst + k, (count - k - 1) * sizeof *worst);
        worst[k] = i;
    }
    for (size_t k = 0; k < count; k++) {
        struct model_state state = model_state(s->model, worst[k]);

        strbuf_printf(&list, "%s\"%s\" (%s per second)", k ? ", " : "", state.name,
                      value_shown(state.unit, NULL, s->f[worst[k]]).text);
    }
    if (count > 0) {
        diag_error(src, "run-equilibrium", model_state(s->model, worst[0]).at,
                   "no equilibrium found at %.6g s: these do not come to rest: %s", s->t, list.at);
        for (size_t k = 1; k < count; k++)
            diag_note(src, model_state(s->model, worst[k]).at, "\"%s\" is here", model_state(s->model, worst[k]).name);
        diag_help(src, "Neither Newton's method nor a long run with the inputs of that time reached one. If a force, "
                       "a flow or a voltage has nothing to balance it, start from given values instead.");
    } else {
        diag_error(src, "run-equilibrium", model_place(s->model),
                   "no equilibrium found at %.6g s: the equations have no finite solution there", s->t);
    }
    strbuf_free(&list);
}

bool
equilibrium(bg_model *m, double t, double *x)
{
    size_t n = model_nstates(m), active = 0;
    rest s = { .model = m, .n = n, .t = t };
    /* states with constraints move only in directions that these allow */
    bool ok = false, tied = model_nconstraints(m) > 0;

    if (n == 0)
        return true;
    if (!model_need(m, PART_RHS) || (model_nmodes(m) > 0 && !model_need(m, PART_CONDITIONS)) ||
        !(s.linear = linear_new(m)))
        return false;
    s.active = bg_calloc(n, sizeof *s.active);
    for (size_t i = 0; i < n; i++) {
        s.active[i] = !model_state(m, i).only_outputs;
        active += s.active[i];
    }
    double **vector[] = { &s.f,         &s.gross,        &s.trial, &s.step,     &s.probe, &s.sigma,
                          &s.row_scale, &s.column_scale, &s.size,  &s.rounding, &s.first };
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        *vector[k] = bg_calloc(n, sizeof(double));
    s.group = bg_calloc(n, sizeof *s.group);
    states_by_unit(m, s.group);
    s.scales = scales_new(m, CLOSE, 0);
    s.events = events_new(m, t, t + 1);
    s.rooted = bg_calloc(n, sizeof *s.rooted);
    s.aside = bg_calloc(n, sizeof *s.aside);
    if (!model_root_states(m, s.rooted)) {
        free(s.rooted);
        s.rooted = NULL;
    }
    events_settle(s.events, t, x);
    model_hold(m, t);
    if (rest_rates(&s, x, s.f)) {
        measure_rates(&s, x);
        s.motion = motion_time(&s, x);
    }

    /* the search continues from the solution at the stated values */
    if (first_solution(m, s.events, t, x) != FIRST_ALONE)
        model_accept(m, t, x);
    diag_mute(model_sources(m), true); /* what one attempt fails at, another may pass */

    double *given = bg_malloc(n * sizeof *given);
    memcpy(given, x, n * sizeof *given);
    double r = !active ? 0 : tied ? INFINITY : consistent(&s, x, newton_rest(&s, x));
    if (!tied && (!(r <= CLOSE) || (active && !rest_stays(&s, x)))) {
        double *found = r <= CLOSE ? bg_malloc(n * sizeof *found) : NULL, before = r;

        if (found)
            memcpy(found, x, n * sizeof *found);
        memcpy(x, given, n * sizeof *given);
        memset(s.gross, 0, n * sizeof *s.gross);
        r = consistent(&s, x, march(&s, x));
        if (found && !(r <= CLOSE)) { /* an unstable equilibrium is better than none */
            memcpy(x, found, n * sizeof *found);
            events_settle(s.events, t, x);
            r = rest_rates(&s, x, s.f) ? before : INFINITY;
        }
        free(found);
    }
    bool descended = false;
    if (!tied && active && !(r <= CLOSE)) {
        double *found = bg_malloc(n * sizeof *found);

        memcpy(found, given, n * sizeof *found);
        descended = descend(m, s.linear, s.events, s.active, t, s.motion, found) && consistent(&s, found, 0) == 0 &&
                    rest_stays(&s, found);
        if (descended) {
            memcpy(x, found, n * sizeof *x);
            r = 0;
        }
        free(found);
    }
    if (!(r <= CLOSE) && active) {
        double *marched = bg_malloc(n * sizeof *marched), was = r;

        memcpy(marched, x, n * sizeof *marched);
        memcpy(x, given, n * sizeof *given);
        r = wait(&s, x);
        if (!(r <= CLOSE)) { /* reports the attempt that came nearer */
            if (was < r)
                memcpy(x, marched, n * sizeof *marched);
            if (!rest_rates(&s, x, s.f))
                memset(s.f, 0, n * sizeof *s.f);
        }
        free(marched);
    }
    free(given);
    if (!tied && !descended && n <= DENSE_STATES && linear_pattern(s.linear).n <= DENSE_UNKNOWNS && active &&
        r < NEAR_REST) {
        s.u = bg_calloc(n * n, sizeof(double));
        s.vt = bg_calloc(n * n, sizeof(double));
        for (int k = 0; k < 4; k++) { /* again while the point still changes */
            double before = r;
            if (!rest_decompose(&s, x))
                break;
            s.svd = true;
            r = rest_polish(&s, x);
            bool switched = events_settle(s.events, t, x);
            if (!rest_rates(&s, x, s.f)) {
                r = INFINITY;
                break;
            }
            r = rest_residual(&s, s.f);
            if (!switched && (r < POLISHED || r > CORRECTED * before))
                break;
        }
    }
    model_let_go(m);
    diag_mute(model_sources(m), false);
    if (r <= CLOSE) {
        ok = true;
        if (model_has_blocks(m))
            model_accept(m, t, x);
        if (s.svd)
            rest_report_free(&s, x);
    } else {
        report_failure(&s);
    }
    free(s.active);
    free(s.group);
    free(s.rooted);
    free(s.aside);
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(*vector[k]);
    free(s.u);
    free(s.vt);
    scales_free(s.scales);
    events_free(s.events);
    linear_free(s.linear);
    return ok;
}
