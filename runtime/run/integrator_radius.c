/* integrator_radius.c - sizes of states, and the spectral radius of the Jacobian from products with it */
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrator_inside.h"

/* Leader and scout: two vectors of the power iteration, explained at "spectral radius" below. */
#define SCOUT_YOUTH 3 /* pairs of products after which a scout's estimate counts, */
#define SCOUT_LIFE 6  /* and after which the scout becomes the leader and the next one starts */
/* If a new estimate differs from the last one made in the same modes by less than this part of it, the radius is used
 * for twice as many switchings into these modes before it is estimated again, at most for MOST_PAUSE. */
#define SAME_RADIUS 0.1
enum { MOST_PAUSE = 32 };
#define DIFFERENT 1e-8 /* two directions are independent if the square of the sine between them is above this */
/* Longest stable step times |lambda|, for a pair of eigenvalues with damping ratio zeta: 1 + DAMPED_REACH zeta, up to
 * REACH.
 */
#define DAMPED_REACH 18
/* Of the run: how far ahead rates are evaluated if no time constant is known yet. */
#define FIRST_TIME 1e-3
/* If the rates cannot be evaluated so far ahead, the time is divided by SOONER, at most SOONER_TRIES times. */
#define SOONER 1e3
enum { SOONER_TRIES = 4 };

double
integrator_scatter(size_t i, uint64_t seed)
{
    return (double)(int64_t)bg_hash_mix(i + 1, seed) * 0x1p-63;
}

#define PEAKS 16 /* greatest number of inputs evaluated in advance */

/* For rates_there: the rates of integrator g at time t, as scales.h wants them. */
struct instant {
    integrator *g;
    double t;
};

static int
rates_there(void *ctx, const double *x, double *f)
{
    const struct instant *at = ctx;

    return integrator_evaluate(at->g, at->t, x, f);
}

double
integrator_look_time(const integrator *g)
{
    return fmin(g->rho > 0 ? 1 / g->rho : INFINITY, FIRST_TIME * (g->stop - g->start));
}

void
integrator_follow_rates(integrator *g, double t, const double *x, const double *f, bool all)
{
    struct instant at = { g, t };
    bool failed = g->failed;

    scales_from_rates(g->scales, x, f, integrator_look_time(g), all, rates_there, &at,
                      (double *const[]){ g->scratch, g->scratch2 });
    g->failed = failed;
}

/* Updates sizes from the rates that inputs at a later time t would cause at x, which act for `time`; f: the present
 * rates. Conditions on time alone are set as they will be at t: a branch evaluated outside its range may be larger than
 * any value of the law. */
static void
foresee_rates(integrator *g, double t, const double *x, const double *f, double time)
{
    struct instant at = { g, t };
    size_t n = model_nmodes(g->model);
    double *modes = model_modes(g->model), *held = bg_malloc((n + 1) * sizeof *held);

    memcpy(held, modes, n * sizeof *held);
    model_modes_at(g->model, t);
    scales_peak(g->scales, x, f, time, rates_there, &at);
    memcpy(modes, held, n * sizeof *held);
    free(held);
}

void
integrator_foresee_peaks(integrator *g, double t, const double *x)
{
    double time[PEAKS], width[PEAKS], *f = g->f[2];
    size_t n = scales_sized(g->scales) ? model_clock_peaks(g->model, time, width, PEAKS) : 0;

    if (n == 0 || integrator_evaluate(g, t, x, f) != 0)
        return;
    for (size_t k = 0; k < n; k++)
        foresee_rates(g, time[k], x, f, fmin(g->rho > 0 ? 1 / g->rho : INFINITY, width[k]));
    scales_update(g->scales);
    g->failed = false;
}

void
integrator_foresee_motion(integrator *g, double t, const double *x)
{
    double *f = g->f[2], time = integrator_look_time(g);

    if (!scales_sized(g->scales) || !(t + time < g->stop) || integrator_evaluate(g, t, x, f) != 0)
        return;
    foresee_rates(g, t + time, x, f, time);
    scales_update(g->scales);
    g->failed = false;
}

/* Rounding in the rates is measured at PLACES points before and after the present time, by evaluating the rates
 * ROUNDINGS times at times and states that differ by up to ULPS units in the last place. The points differ from the
 * present one by up to the part ASIDE of the states, and of the past or the remaining run. */
#define ULPS 4
#define ROUNDINGS 4
#define PLACES 8
#define ASIDE 1e-3
#define ALIKE 100  /* greatest ratio of the rounding that counts to that found after the present time */
#define SHORT 1e-5 /* of the remaining run: only steps shorter than this may be following rounding */
#define PAUSE 25   /* steps until the next check after one that found rounding; doubled after each that found none */

/* noise[n]: the rounding in the rates at (t, x). scratch: [3n]. False: they cannot be evaluated. */
static bool
noise_at(integrator *g, double t, const double *x, double *noise, double *scratch)
{
    size_t n = g->n;
    double *f = scratch, *last = f + n, *moved = last + n,
           nearly = ULPS * DBL_EPSILON * fmax(fabs(t), g->stop - g->start);

    memset(noise, 0, n * sizeof *noise);
    for (int k = 0; k < ROUNDINGS; k++) {
        for (size_t i = 0; i < n; i++)
            moved[i] = x[i] * (1 + ULPS * DBL_EPSILON * integrator_scatter(i, 60 + (uint64_t)k));
        if (integrator_evaluate(g, t + k * k * nearly, moved, f) != 0)
            return false;
        for (size_t i = 0; i < n && k > 0; i++)
            noise[i] = fmax(noise[i], fabs(f[i] - last[i]));
        memcpy(last, f, n * sizeof *last);
    }
    return true;
}

/* Rounding is of similar size at points before and after the present time, although it does not appear at each of them.
 * At a pole, or where a law with an infinite slope starts from zero, rates also differ between neighbouring
 * floating-point numbers, but by amounts that vary much from point to point: that is not rounding. For each state the
 * second greatest difference counts, since the greatest may be a jump. */
bool
integrator_hears_noise(integrator *g)
{
    const double *x = integrator_state(g, 2);
    double t = g->t[2];
    size_t n = g->n;
    bool failed = g->failed, more = false;

    if (!scales_sized(g->scales))
        return false;
    double *f = bg_calloc(9 * n + 1, sizeof *f), *noise = f + n, *most = noise + n, *second = most + n,
           *ahead = second + n, *there = ahead + n, *scratch = there + n, aside = ASIDE;
    for (int k = 0; k < PLACES; k++) {
        for (size_t i = 0; i < n; i++)
            there[i] = x[i] * (1 + aside * integrator_scatter(i, 59));
        if (noise_at(g, k % 2 ? t + aside * (g->stop - t) : t - aside * (t - g->start), there, noise, scratch))
            for (size_t i = 0; i < n; i++) {
                second[i] = fmax(second[i], fmin(noise[i], most[i]));
                most[i] = fmax(most[i], noise[i]);
                if (k % 2)
                    ahead[i] = fmax(ahead[i], noise[i]);
            }
        aside /= 2;
    }
    for (size_t i = 0; i < n; i++)
        second[i] = fmin(second[i], ALIKE * ahead[i]);
    if (integrator_evaluate(g, t, x, f) == 0)
        more = scales_rounded(g->scales, f, second, g->stop - g->start);
    free(f);
    g->failed = failed;
    return more;
}

void
integrator_listen(integrator *g)
{
    if (g->steps < g->listens_at || !(g->t[2] - g->t[1] < SHORT * (g->stop - g->t[2])))
        return;
    g->pause = integrator_hears_noise(g) ? PAUSE : 2 * g->pause;
    g->listens_at = g->steps + g->pause;
}

/* ---- spectral radius ----
 * Power iteration. The product J v is a difference of rates; v has norm 1 relative to the states' scales. The dominant
 * eigenvalues are the roots z of z² = a z + b, with a and b from the least squares fit of J²v by a Jv + b v. Unlike the
 * growth of |v| alone, this converges for complex pairs too, and unlike norms of J it does not depend on how the states
 * are scaled relative to one another. The longest stable step of Dormand-Prince times |z| is 2.9 to 3.4 for most
 * directions of z in the left half-plane, and 1 on the imaginary axis.
 *
 * A vector that has converged in one part of the model is zero in parts that are not coupled to it. It would not show
 * that eigenvalues there have become large, nor that its own part has come to rest. So there are two vectors: the
 * "leader", whose estimate is used, and a "scout", which starts along the present rates. They are iterated in turn, and
 * the scout replaces the leader once it has found a greater radius or has been iterated often enough. Rates are those
 * of parts that move, and any step is stable for a part that is at rest.
 */
#define CHANGE 1e-7         /* of the states' scales: length of the difference that gives J v */
#define UNKNOWN_SCALE 1e-12 /* least scale: that of a state that has not moved yet */

static bool
product(integrator *g, double t, const double *x, const double *f, const double *v, double *to)
{
    vec_axpy(g->n, CHANGE, x, v, g->scratch2);
    if (integrator_evaluate(g, t, g->scratch2, to) != 0)
        return false;
    vec_axpy(g->n, -1, to, f, to);
    for (size_t i = 0; i < g->n; i++)
        to[i] = integrator_rests_at_root(g, i, x, f) ? 0 : to[i] / CHANGE;
    return true;
}

static void
any_direction(integrator *g, struct direction *d)
{
    for (size_t i = 0; i < g->n; i++)
        d->v[i] = integrator_scatter(i, 5) / g->weight[i];
}

/* Updates d's rho and reach by `pairs` of products with J. g->weight: reciprocals of the scales. */
static void
iterate_power(integrator *g, double t, const double *x, const double *f, struct direction *d, int pairs)
{
    size_t n = g->n;
    double *v = d->v, *u = g->scratch, *w = g->bend;

    for (int k = 0; k < pairs; k++) {
        double norm = vec_wrms(n, v, g->weight);

        if (!(norm > 0) || !isfinite(norm)) {
            any_direction(g, d);
            norm = vec_wrms(n, v, g->weight);
        }
        for (size_t i = 0; i < n; i++)
            v[i] = integrator_rests_at_root(g, i, x, f) ? 0 : v[i] / norm;
        if (!product(g, t, x, f, v, u))
            break;
        double first = vec_wrms(n, u, g->weight);
        if (!(first > 0)) {
            d->rho = 0;
            break;
        }
        for (size_t i = 0; i < n; i++)
            u[i] /= first;
        double uv = vec_wdot(n, u, v, g->weight);
        if (!product(g, t, x, f, u, w))
            break;
        double second = vec_wrms(n, w, g->weight), wu = vec_wdot(n, w, u, g->weight), wv = vec_wdot(n, w, v, g->weight);
        double det = 1 - uv * uv;
        d->reach = REACH;
        d->rho = second; /* if v is almost an eigenvector: v and Jv are parallel, and there is no fit */
        if (det > DIFFERENT) {
            double sum = (wu - wv * uv) / det, less = (wv - wu * uv) / det * first, disc = sum * sum + 4 * less;
            if (disc < 0) {
                d->rho = sqrt(-less);
                d->reach = sum >= 0 ? 1 : fmin(REACH, 1 + DAMPED_REACH * (-sum / 2) / d->rho);
            } else {
                d->rho = (fabs(sum) + sqrt(disc)) / 2;
            }
        }
        memcpy(v, w, n * sizeof(double));
        d->age++;
    }
    g->bend_known = false; /* g->bend served as scratch */
}

static void
scale_norm(integrator *g, const double *x)
{
    scales_of(g->scales, x, g->weight);
    for (size_t i = 0; i < g->n; i++)
        g->weight[i] = 1 / fmax(g->weight[i], UNKNOWN_SCALE);
}

void
integrator_spectral_radius(integrator *g, double t, const double *x, const double *f, int pairs)
{
    struct direction *scout = &g->scout;
    bool failed = g->failed;

    scale_norm(g, x);
    if (pairs == 1 && g->scouting) {
        if (scout->age == 0)
            memcpy(scout->v, f, g->n * sizeof *f);
        iterate_power(g, t, x, f, scout, 1);
        if (scout->age >= SCOUT_LIFE || (scout->age >= SCOUT_YOUTH && scout->rho > g->leader.rho)) {
            struct direction d = g->leader;
            g->leader = *scout;
            *scout = d;
            scout->age = 0;
        }
    } else {
        iterate_power(g, t, x, f, &g->leader, pairs);
    }
    g->scouting = !g->scouting;
    g->rho = g->leader.rho;
    g->reach = g->leader.reach;
    g->failed = failed;
    g->until_rho = RHO_EVERY;
}

static uint64_t
present_modes(const integrator *g)
{
    const double *mode = model_modes(g->model);
    uint64_t modes = 0;

    for (size_t k = 0; k < g->choosing.n; k++)
        modes = bg_hash_mix(modes, (uint64_t)(int64_t)mode[g->choosing.at[k]]);
    return modes;
}

/* The record of the present combination of modes, or a free one. */
static struct remembered *
remembered_now(integrator *g)
{
    struct remembered *r;
    uint64_t modes = present_modes(g);

    for (int i = 0; i < REMEMBERED; i++)
        if (g->remembered[i].pause > 0 && g->remembered[i].modes == modes)
            return &g->remembered[i];
    r = &g->remembered[g->next_remembered++ % REMEMBERED];
    *r = (struct remembered){ .modes = modes, .rho = -1 };
    return r;
}

void
integrator_radius_again(integrator *g, double t, const double *x, const double *f)
{
    struct remembered *r = g->now = remembered_now(g);
    bool failed = g->failed;

    if (r->left > 0) {
        r->left--;
    } else {
        scale_norm(g, x);
        iterate_power(g, t, x, f, &g->leader, 1);
        if (!(fabs(g->leader.rho - r->rho) <= SAME_RADIUS * r->rho)) {
            iterate_power(g, t, x, f, &g->leader, 2);
            r->pause = 1;
        } else if (r->pause < MOST_PAUSE) {
            r->pause *= 2;
        }
        r->left = g->rooted ? 0 : r->pause - 1; /* near an infinite slope it varies with the states */
        r->rho = g->leader.rho;
        r->reach = g->leader.reach;
    }
    g->rho = r->rho;
    g->reach = r->reach;
    g->failed = failed;
    g->until_rho = RHO_EVERY;
}

/* The spectral radius at the start, when the scales of states may not be known. The scale of a state is here how far
 * the rates would move it in a short time, and how far states that moved so would move it by their effect on its rate.
 */
static void
first_radius(integrator *g, double t, const double *x, const double *f)
{
    double *scale = g->weight, *moved = g->scratch, *rate = g->scratch2;
    double time = FIRST_TIME * (g->stop - g->start);
    bool failed = g->failed;

    for (int k = 0; k < SOONER_TRIES; k++) {
        scales_of(g->scales, x, scale);
        bool ok = true;
        for (int round = 0; round < 2 && ok; round++) {
            for (size_t i = 0; i < g->n; i++)
                moved[i] = x[i] + copysign(CHANGE * scale[i], integrator_scatter(i, 3));
            ok = integrator_evaluate(g, t, moved, rate) == 0;
            for (size_t i = 0; i < g->n && ok; i++)
                scale[i] = fmax(scale[i], time * (fabs(f[i]) + fabs(rate[i] - f[i]) / CHANGE));
        }
        for (size_t i = 0; i < g->n; i++)
            scale[i] = 1 / fmax(scale[i], UNKNOWN_SCALE);
        if (ok)
            break;
        time /= SOONER;
    }
    any_direction(g, &g->leader);
    iterate_power(g, t, x, f, &g->leader, 5);
    g->rho = g->leader.rho;
    g->reach = g->leader.reach;
    g->failed = failed;
}

/* size[n]: of states of models with infinite slopes (scales_beside_roots). */
static void
find_sizes_beside_roots(integrator *g, double t, const double *x, double *size)
{
    struct instant at = { g, t };
    bool failed = g->failed;

    scales_beside_roots(g->scales, x, g->f[2], FIRST_TIME * (g->stop - g->start), rates_there, &at, size);
    g->failed = failed;
}

void
integrator_find_sizes(integrator *g, double t, const double *x)
{
    double *size = NULL;

    if (integrator_evaluate(g, t, x, g->f[2]) != 0)
        return;
    if (g->rooted && scales_sized(g->scales)) {
        size = bg_malloc((g->n + 1) * sizeof *size);
        find_sizes_beside_roots(g, t, x, size);
    }
    first_radius(g, t, x, g->f[2]);
    integrator_follow_rates(g, t, x, g->f[2], true);
    if (size)
        scales_not_far_below(g->scales, size);
    free(size);
    integrator_spectral_radius(g, t, x, g->f[2], 3);
    integrator_follow_rates(g, t, x, g->f[2], false);
    integrator_spectral_radius(g, t, x, g->f[2], 5);
}

bool
integrator_sizes_may_show(integrator *g, double t, const double *x)
{
    bool idle = false;
    uint64_t modes;

    if (g->n == 0 || !scales_unknown(g->scales))
        return false;
    modes = present_modes(g);
    for (unsigned i = 0; i < REMEMBERED && i < g->nidle && !idle; i++)
        idle = g->idle[i] == modes;
    return !idle || integrator_evaluate(g, t, x, g->f[2]) != 0 || !scales_idle(g->scales, g->f[2]);
}

void
integrator_show_sizes(integrator *g, double t, const double *x)
{
    uint64_t modes = present_modes(g);

    integrator_find_sizes(g, t, x);    /* a state that was at rest may move now, */
    integrator_foresee_peaks(g, t, x); /* or later, by an input that is still zero */
    integrator_foresee_motion(g, t, x);
    for (unsigned i = 0; i < REMEMBERED && i < g->nidle; i++)
        if (g->idle[i] == modes)
            return;
    g->idle[g->nidle++ % REMEMBERED] = modes;
}
