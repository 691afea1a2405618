/* integrator.c - see integrator.h */
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrator_inside.h"
#include "library_status.h"

/* The local error of a step is kept below the tolerance divided by these factors.
 * BDF: errors of successive steps often have the same sign and add up. They are kept smaller still (BDF_BENT_CARE)
 * where they shift switchings or bends of laws in time, since everything that follows is shifted too; but not in models
 * with roots, where a state that comes to rest would make the steps ever shorter. Rosenbrock: its steps along a slow
 * decay are long, and the error of each is near the tolerance. Any method, if switchings follow one another within few
 * steps: each shifts the next, so the errors add up. */
#define BDF_CARE 10
#define BDF_BENT_CARE 30
#define ROSENBROCK_CARE 3
#define SWITCHING_CARE 10
#define SWITCHING_STEPS 20 /* fewer steps than this are "few" */

/* Of the run: if the last explicit step was shorter than this, BDF starts with the same length. A first step chosen by
 * the library is never as short as that, since it is bounded by the rounding of the time at which the run ends. */
#define BEGINS 1e-12
/* of the present step length: two switchings closer than this give no information about step lengths */
#define NEARLY_ONE_TIME 1e-3
#define LEAST_SINCE 100 /* in roundings of the time: switchings closer than this are simultaneous */
#define EASY_STEPS 20   /* after so many cheap steps in a row BDF is replaced by the explicit method */
#define BEND_PAUSE 64   /* steps without a check for bends; twice as many after each check that ends without a result */

/* ---- tolerances (scales.h) ---- */

void
integrator_weights(const integrator *g, const double *x, double *w)
{
    double care = g->kind == BDF ? (!g->rooted && (g->bent[0] || model_nmodes(g->model) > 0) ? BDF_BENT_CARE : BDF_CARE)
                  : g->switching ? SWITCHING_CARE
                  : g->kind == ROSENBROCK ? ROSENBROCK_CARE
                                          : 1;

    scales_weights(g->scales, x, w);
    care *= g->of_moving;
    for (size_t i = 0; i < g->n && care > 1; i++)
        w[i] *= care;
}

int
integrator_evaluate(integrator *g, double t, const double *x, double *f)
{
    int status = model_rhs(g->model, t, x, f);

    g->rhs++;
    if (status == 0 && !vec_finite(g->n, f))
        status = 1;
    g->failed |= status != 0;
    return status;
}

/* ---- making and freeing ---- */

integrator *
integrator_new(bg_model *m, double rtol, double atol, enum sim_solver solver, double start, double stop, bool powers)
{
    integrator *g = bg_calloc(1, sizeof *g);
    size_t n = model_nstates(m);

    g->model = m;
    g->n = n;
    g->rtol = rtol;
    g->scales = scales_new(m, rtol, atol);
    g->want = solver;
    g->start = start;
    g->stop = stop;
    g->easy_needed = EASY_STEPS;
    g->bent_pause = BEND_PAUSE / 2;
    g->pause = 1;
    g->reach = REACH;
    if (n == 0 && powers) {
        g->nelements = model_nelements(m);
        for (int k = 0; k < 5; k++)
            g->power[k] = bg_calloc(g->nelements + 1, sizeof(double));
        g->top = bg_calloc(g->nelements + 1, sizeof(double));
    }
    g->static_step = (stop - start) / STATIC_STEPS;
    g->kind = g->next = n == 0 ? STATIC : solver == SIM_BDF ? BDF : solver == SIM_VARIATIONAL ? MIDPOINT : EXPLICIT;
    g->context = library_context();
    for (int i = 0; i < 3; i++) {
        g->y[i] = library_made(i ? N_VClone(g->y[0]) : N_VNew_Serial((sunindextype)n, g->context));
        if (i == 0)
            vectors_install(g->y[0]);
        g->f[i] = bg_calloc(n + 1, sizeof(double));
    }
    g->bend = bg_calloc(n + 1, sizeof(double));
    g->scratch = bg_calloc(n + 1, sizeof(double));
    g->scratch2 = bg_calloc(n + 1, sizeof(double));
    g->rooted = bg_calloc(n + 1, sizeof *g->rooted);
    if (n > 0 && model_root_states(m, g->rooted)) {
        g->near = 1;
        g->strayed = INFINITY;
        g->beside = bg_calloc(n + 1, sizeof(double));
        g->emptied = bg_calloc(n + 1, sizeof *g->emptied);
        g->iterate = bg_calloc(3 * n + 1, sizeof *g->iterate);
    } else {
        free(g->rooted);
        g->rooted = NULL;
    }
    g->renews = g->rooted && model_has_nets(m);
    g->settles = !g->rooted && !model_has_nets(m);
    g->weight = bg_calloc(n + 1, sizeof(double));
    g->unseen = n > 0 && model_bends_over(m, start, stop);
    if (n > 0 && (model_bends(m) || g->rooted))
        for (int i = 0; i < 4; i++)
            g->bent[i] = bg_calloc(n + 1, sizeof(double));
    for (size_t i = 0; i < n; i++)
        if (model_state(m, i).holds)
            vec_push(&g->still, i);
    g->of_moving = g->still.n < n ? sqrt((double)n / (double)(n - g->still.n)) : 1;
    for (size_t k = 0; k < model_nmodes(m); k++)
        if (model_mode(m, k).kind != MODE_FLOOR && !model_mode(m, k).apart)
            vec_push(&g->choosing, k);
    g->leader = (struct direction){ .v = bg_calloc(n + 1, sizeof(double)), .reach = REACH };
    g->scout = (struct direction){ .v = bg_calloc(n + 1, sizeof(double)), .reach = REACH };

    return g;
}

void
integrator_masses_move(integrator *g, bool moving)
{
    g->masses_move = moving;
}

void
integrator_free(integrator *g)
{
    if (!g)
        return;
    explicit_free(g->explicit);
    if (g->cvode)
        CVodeFree(&g->cvode);
    newton_free(g->newton);
    roots_free(g->roots);
    if (g->solver)
        SUNLinSolFree(g->solver);
    if (g->matrix)
        SUNMatDestroy(g->matrix);
    variational_free(g->variational);
    rosenbrock_free(g->rosenbrock);
    linear_free(g->linear);
    scales_free(g->scales);
    for (int i = 0; i < 3; i++) {
        N_VDestroy(g->y[i]);
        free(g->f[i]);
    }
    free(g->bend);
    free(g->scratch);
    free(g->scratch2);
    free(g->beside);
    free(g->emptied);
    free(g->iterate);
    free(g->rooted);
    free(g->before);
    for (int i = 0; i < 4; i++)
        free(g->bent[i]);
    free(g->weight);
    vec_free(&g->still);
    vec_free(&g->choosing);
    free(g->leader.v);
    free(g->scout.v);
    for (int k = 0; k < 5; k++)
        free(g->power[k]);
    free(g->top);
    SUNContext_Free(&g->context);
    strbuf_free(&g->method);
    free(g);
}

static void
gather_failures(integrator *g)
{
    long now = 0;

    if (g->kind == BDF && g->cvode) {
        library_set(CVodeGetNumErrTestFails(g->cvode, &now));
        g->failures += (uint64_t)(now - g->cv_failures);
        g->cv_failures = now;
    }
}

bool
integrator_need_linear(integrator *g)
{
    return g->linear || (g->linear = linear_new(g->model));
}

bool
integrator_ready(const integrator *g)
{
    return g->next == STATIC || g->next == EXPLICIT || g->linear;
}

/* First step after a switching, from the present step length; 0: no estimate. The time constants mostly stay what they
 * were; if not, the step fails and is shortened. It is not longer than the time since the previous switching: if the
 * switchings are those of a clock, the next one is about as far away. If that time is almost zero, two conditions
 * switched nearly at once, and it says nothing. */
static double
step_in_hand(const integrator *g, double t)
{
    double h = (g->kind == EXPLICIT || g->kind == ROSENBROCK) && g->begun && g->next == g->kind ? integrator_next(g)
                                                                                                : INFINITY,
           since = t - g->set_out_from;

    return h < g->stop - g->start && since > fmax(NEARLY_ONE_TIME * h, LEAST_SINCE * DBL_EPSILON * fabs(t))
               ? fmin(h, since)
               : 0;
}

bool
integrator_start(integrator *g, double t, const double *x)
{
    integrator_decide_by_switchings(g, t - g->set_out_from);
    g->set_out = step_in_hand(g, t);
    g->set_out_from = t;
    if (g->begun)
        integrator_listen(g);
    uint64_t steps = g->steps - g->set_out_at;
    g->switching = g->begun && steps < SWITCHING_STEPS;
    g->set_out_at = g->smooth_from = g->steps;
    if (g->n && x != integrator_state(g, 2))
        memcpy(integrator_state(g, 2), x, g->n * sizeof(double));
    g->t[0] = g->t[1] = g->t[2] = t;
    g->history = g->bend_known = false;
    g->limited = g->easy = 0;
    g->restart = true;
    gather_failures(g);
    bool first = !g->begun;
    if (!first && g->next == g->kind && (g->kind == BDF || g->kind == ROSENBROCK) && g->linear)
        integrator_set_out_implicit(g, steps);
    if (first) {
        g->begun = true;
        if (g->n) {
            scales_begin(g->scales, x);
            integrator_find_sizes(g, t, x);
            integrator_foresee_peaks(g, t, x);
            scales_begun(g->scales);
        }
        strbuf_puts(&g->method, g->kind == STATIC     ? "no states"
                                : g->kind == BDF      ? "bdf"
                                : g->kind == MIDPOINT ? "variational"
                                                      : "explicit");
    }
    if (g->kind != STATIC && g->kind != EXPLICIT && !integrator_need_linear(g))
        return false;
    g->rated[2] = false;
    g->now = NULL;
    if (!first && integrator_sizes_may_show(g, t, x)) {
        integrator_show_sizes(g, t, x);
    } else if (g->kind == EXPLICIT) {
        g->rated[2] = integrator_evaluate(g, t, x, g->f[2]) == 0;
        if (g->rated[2] && !first)
            integrator_radius_again(g, t, x, g->f[2]);
        if (g->now && g->now->step > 0 && !g->bent[0])
            g->set_out = g->now->step;
    }
    return true;
}

bool
integrator_start_short(integrator *g, double t, const double *x, double step)
{
    bool ok = integrator_start(g, t, x);

    g->set_out = g->set_out > 0 ? fmin(g->set_out, step) : step;
    return ok;
}

bool
integrator_resume(integrator *g, double t, const double *x)
{
    if (!(g->kind == EXPLICIT && g->explicit) && !(g->kind == ROSENBROCK && g->rosenbrock))
        return integrator_start(g, t, x);
    if (g->restart || g->next != g->kind || scales_unknown(g->scales))
        return integrator_start(g, t, x);
    if (x != integrator_state(g, 2))
        memcpy(integrator_state(g, 2), x, g->n * sizeof(double));
    g->t[0] = g->t[1] = g->t[2] = t;
    g->smooth_from = g->steps;
    g->history = g->bend_known = false;
    if (integrator_evaluate(g, t, x, g->f[2]) != 0)
        return integrator_start(g, t, x);
    if (g->kind == ROSENBROCK)
        rosenbrock_begin(g, rosenbrock_next(g->rosenbrock));
    else
        explicit_resume(g);
    return true;
}

/* ---- steps ---- */

static void
rotate_points(integrator *g, bool forward)
{
    int from = forward ? 0 : 2, to = forward ? 2 : 0;
    N_Vector y = g->y[from];
    double *f = g->f[from], t = g->t[from];

    g->y[from] = g->y[1];
    g->f[from] = g->f[1];
    g->t[from] = g->t[1];
    g->y[1] = g->y[to];
    g->f[1] = g->f[to];
    g->t[1] = g->t[to];
    g->y[to] = y;
    g->f[to] = f;
    g->t[to] = t;
}

static int
advance(integrator *g, double until)
{
    double t = g->t[1], least = 2 * DBL_EPSILON * fabs(t); /* shorter steps hardly advance time */
    int status;

    if (g->kind == ROSENBROCK || g->kind == EXPLICIT) {
        status = (g->kind == EXPLICIT ? explicit_advance : rosenbrock_advance)(g, until, least, &t);
        if (status == 0)
            g->t[2] = t;
        return status;
    }
    library_set(CVodeSetMinStep(g->cvode, least));
    library_set(CVodeSetStopTime(g->cvode, until));
    status = CVode(g->cvode, until, g->y[2], &t, CV_ONE_STEP);
    g->t[2] = t;
    g->stopped = status == CV_TSTOP_RETURN;
    return status;
}

/* One step to `until`, whatever its length. */
static enum integrator_status
midpoint_step(integrator *g, double until)
{
    bool first = g->restart;

    if (first && !integrator_prepare(g, until))
        return STEP_SINGULAR;
    rotate_points(g, true);
    g->rated[0] = g->rated[1];
    g->rated[1] = g->rated[2];
    g->t[2] = until;
    scales_of(g->scales, integrator_state(g, 1), g->weight);
    if (variational_step(g->variational, g->t[1], until, integrator_state(g, 1), g->weight, integrator_state(g, 2)) !=
        0) {
        rotate_points(g, false);
        g->t[1] = g->t[2];
        g->restart = true;
        return integrator_evaluate(g, g->t[2], integrator_state(g, 2), g->f[2]) != 0 ? STEP_SINGULAR : STEP_UNSOLVED;
    }
    g->rated[2] = false;
    g->steps++;
    if (--g->until_rho == 0 || g->until_rho > RHO_EVERY) {
        scales_update(g->scales);
        g->until_rho = RHO_EVERY;
    }
    return STEP_OK;
}

bool
integrator_midpoint_rates(integrator *g)
{
    for (int i = 1; i < 3; i++)
        if (!g->rated[i])
            g->rated[i] = integrator_evaluate(g, g->t[i], integrator_state(g, i), g->f[i]) == 0;
    return g->rated[1] && g->rated[2];
}

void
integrator_keep_still(const integrator *g, double *x)
{
    const double *before = NV_DATA_S(g->y[1]);

    for (size_t k = 0; k < g->still.n; k++)
        x[g->still.at[k]] = before[g->still.at[k]];
}

enum integrator_status
integrator_step(integrator *g, double until)
{
    if (g->kind == STATIC)
        return integrator_static_step(g, until);
    if (g->kind == MIDPOINT)
        return midpoint_step(g, until);
    bool explicit_failed = false, heard = false;
    unsigned tries = 0, unseen = 0;
    for (;;) {
        if (g->next != g->kind) {
            gather_failures(g);
            if (g->next == BDF && g->t[2] - g->t[1] < BEGINS * (g->stop - g->start))
                g->set_out = g->t[2] - g->t[1];
            g->kind = g->next;
            g->restart = true;
            g->limited = g->easy = 0;
            g->history = false;
            g->rated[2] = false;
        }
        bool first = g->first = g->restart;
        /* a first step is not checked against the time at which it must end */
        g->set_out = fmin(g->set_out, until - g->t[2]);
        if (first && !integrator_prepare(g, until))
            return STEP_SINGULAR;
        rotate_points(g, true);
        g->bend_known = g->failed = false;
        bool stopped = g->stopped;
        int status = advance(g, until);
        if (status >= 0) {
            g->history = !first && (!stopped || g->bent[0]) && g->kind == EXPLICIT;
            integrator_keep_still(g, integrator_state(g, 2));
            if (g->kind == ROSENBROCK)
                integrator_evaluate(g, g->t[2], integrator_state(g, 2), g->f[2]);
            if (!integrator_goes_unseen(g, unseen++) && !integrator_bends(g, tries++))
                break;
            rotate_points(g, false);
            g->history = false;
            g->restart = true;
            continue;
        }
        rotate_points(g, false); /* back to the last accepted point */
        g->history = false;
        if (!g->failed && !heard && integrator_hears_noise(g)) {
            heard = g->restart = true;
            continue;
        }
        if (g->kind == EXPLICIT && g->want == SIM_AUTO && !explicit_failed && !g->failed && integrator_need_linear(g)) {
            explicit_failed = true;
            integrator_change_to(g, BDF, "the explicit method failed");
            continue;
        }
        g->t[1] = g->t[2];
        return g->failed ? STEP_SINGULAR : STEP_SMALL;
    }
    if (g->first && g->kind == EXPLICIT && g->now)
        g->now->step = explicit_next(g->explicit);
    /* States set to zero moved by less than their tolerance. The explicit method continues from there; the others start
     * anew, since they keep earlier steps. */
    g->restart |= integrator_come_to_rest(g) && g->kind != EXPLICIT;
    g->steps++;
    g->failed = false;
    if (--g->until_rho == 0 || g->until_rho > RHO_EVERY) {
        bool rated = g->kind != BDF;
        double *f = rated ? g->f[2] : g->f[0];

        scales_update(g->scales);
        integrator_listen(g);
        if (rated || integrator_evaluate(g, g->t[2], integrator_state(g, 2), f) == 0) {
            /* first the radius: it tells for how long these rates act */
            integrator_spectral_radius(g, g->t[2], integrator_state(g, 2), f, 1);
            integrator_follow_rates(g, g->t[2], integrator_state(g, 2), f, false);
        }
        g->until_rho = RHO_EVERY;
    }
    integrator_decide(g, g->t[2] == until);
    integrator_give_way(g);
    return STEP_OK;
}

bool
integrator_implicit(const integrator *g)
{
    return g->kind == BDF || g->kind == ROSENBROCK;
}

double
integrator_next(const integrator *g)
{
    double h = INFINITY;

    if (g->kind == STATIC)
        return g->static_step;
    if (g->restart || g->next != g->kind || g->kind == MIDPOINT)
        return INFINITY;
    if (g->kind == ROSENBROCK)
        return rosenbrock_next(g->rosenbrock);
    if (g->kind == EXPLICIT)
        return explicit_next(g->explicit);
    if (g->stopped)
        return g->first ? INFINITY : GROWTH * (g->t[2] - g->t[1]);
    if (CVodeGetCurrentStep(g->cvode, &h) != 0)
        return INFINITY;
    return h > 0 ? h : INFINITY;
}

double
integrator_t0(const integrator *g)
{
    return g->t[1];
}

double
integrator_t1(const integrator *g)
{
    return g->t[2];
}

const double *
integrator_x0(const integrator *g)
{
    return integrator_state(g, 1);
}

const double *
integrator_x1(const integrator *g)
{
    return integrator_state(g, 2);
}

/* ---- reports ---- */

void
integrator_scales(const integrator *g, double *scale)
{
    scales_of(g->scales, integrator_state(g, 2), scale);
}

double
integrator_moves(integrator *g, const double *f, double time)
{
    double most = 0;

    scales_weights(g->scales, integrator_state(g, 2), g->weight);
    for (size_t i = 0; i < g->n; i++)
        most = fmax(most, (f ? fabs(f[i]) : fmax(fabs(g->f[1][i]), fabs(g->f[2][i]))) * time * g->weight[i]);
    return most;
}

void
integrator_tolerates(integrator *g, double *dx)
{
    scales_weights(g->scales, integrator_state(g, 2), dx);
    for (size_t i = 0; i < g->n; i++)
        dx[i] = dx[i] > 0 ? 1 / dx[i] : 0;
}

size_t
integrator_worst(integrator *g, double *ratio)
{
    size_t worst = 0;
    double most = -1;
    N_Vector e = g->y[0]; /* may be overwritten: after a failure there is no step to interpolate */

    *ratio = 0;
    if (g->kind == STATIC || g->kind == MIDPOINT)
        return 0;
    N_VConst(0, e);
    if (g->kind == ROSENBROCK)
        memcpy(NV_DATA_S(e), rosenbrock_error(g->rosenbrock), g->n * sizeof(double));
    else if (g->kind == EXPLICIT)
        memcpy(NV_DATA_S(e), explicit_error(g->explicit), g->n * sizeof(double));
    else if (CVodeGetEstLocalErrors(g->cvode, e) != 0)
        return 0;
    scales_weights(g->scales, integrator_state(g, 2), g->weight);
    for (size_t i = 0; i < g->n; i++) {
        double r = fabs(NV_DATA_S(e)[i]) * g->weight[i];
        if (!(r <= most)) {
            most = r;
            worst = i;
            if (isnan(r))
                break;
        }
    }
    *ratio = most;
    return worst;
}

void
integrator_counts(integrator *g, sim_result *r)
{
    gather_failures(g);
    r->steps = g->steps;
    r->rhs_evaluations = g->rhs + (g->variational ? variational_evaluations(g->variational) : 0);
    r->error_failures = g->failures;
    r->switches = g->switches;
    if (g->linear) {
        r->jacobians = linear_evaluations(g->linear);
        r->factorizations = linear_factorizations(g->linear);
    }
}

double
integrator_stiff(const integrator *g)
{
    double h = g->t[2] - g->t[1];

    return g->kind == EXPLICIT && g->want == SIM_EXPLICIT && h > 0 && h * g->rho > NEAR_LIMIT * g->reach
               ? (g->stop - g->t[2]) / h
               : 0;
}

const char *
integrator_other(const integrator *g)
{
    if (g->kind == STATIC || g->kind == MIDPOINT || (g->want == SIM_AUTO && g->kind != EXPLICIT))
        return NULL;
    return g->kind != EXPLICIT ? "explicit" : "bdf";
}

char *
integrator_method(const integrator *g)
{
    if (g->switches < 4)
        return bg_strdup(g->method.at ? g->method.at : "explicit");
    return bg_format("%s, and %llu further changes", g->method.at, (unsigned long long)(g->switches - 3));
}
