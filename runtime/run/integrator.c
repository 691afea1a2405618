/* integrator.c - see integrator.h */
#include "integrator.h"

#include <arkode/arkode_erkstep.h>
#include <cvodes/cvodes.h>
#include <cvodes/cvodes_proj.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "activity.h"
#include "linear.h"
#include "quartic.h"
#include "scales.h"
#include "variational.h"
#include "vectors.h"

enum kind { STATIC, EXPLICIT, BDF, MIDPOINT }; /* STATIC: a model without states; MIDPOINT: variational.h */

/* Operation counts are in passes over one vector element; a nonzero of the Jacobian costs about one in a right side. */
#define STEP_OVERHEAD 10000.0 /* of either library, in the same unit: what counts for small models */
#define BDF_STEPS 2.5         /* steps of BDF for one explicit of the same accuracy (2 to 3 on smooth models) */
#define BDF_CARE \
    10 /* its local errors are held so much below the tolerance: there are many of them, and of one sign \
        */
#define LIMITED_STEPS 15 /* stability-limited steps in a row before BDF is considered */
#define NEAR_LIMIT 0.5   /* of the stable step: from here on a step counts as limited by stability */
#define CREEPING 50      /* times shorter steps than what the states do asks for, */
#define CREEPING_LOOKS 8 /* at so many looks in a row: something at rest rules them */
#define EASY_STEPS 20    /* cheap steps in a row before the way back is */
#define BDF_YOUTH 30     /* steps BDF needs to find its step length, in which nothing is decided */
#define RHO_EVERY 25
#define PEAKS 16        /* inputs looked at beforehand, at most */
#define SCOUT_YOUTH 3   /* pairs of products before a scout is believed */
#define SCOUT_LIFE 6    /* and after which it leads and the next one sets out */
#define FIRST_TIME 1e-3 /* of the run: in which rates are looked ahead where no time constant is known */
#define BESIDE \
    0.01 /* of the tolerated error: how far from the state the Jacobian is taken where slopes may be infinite */
#define REACH 2.9             /* stable step times spectral radius, away from the imaginary axis */
#define JACOBIAN_COMPILED 5e7 /* what its first use costs, in the same unit: some milliseconds */
#define STATIC_STEPS 1000     /* of a model without states over the whole span */
#define BEND 2.0              /* tolerances by which a step may differ from the integral of its rates */
#define BEND_AGAIN 0.1        /* and one that is taken again: among many lengths one is found that satisfies any rule */
#define BEND_TRIES 5          /* halvings after which a bend is straight; what is left is rounding in the rates, */
#define BEND_PAUSE 64         /* and is not looked at for so many steps, then twice as many */
#define UNSEEN_TRIES 60       /* steps shortened until nothing goes unseen in them */
#define FIRST_GROWTH 10000    /* the libraries': of a first step whose length they guessed */
#define GROWTH 20             /* a step may be so much longer than the one before it, but for the second */

struct integrator {
    bg_model *model;
    size_t n;
    double rtol, start, stop;
    scales *scales;
    enum sim_solver want;
    enum kind kind, next;
    bool begun, restart;

    SUNContext context;
    N_Vector y[3];   /* start of the step before, start and end of the last one */
    double *f[3];    /* their rates (explicit only) */
    double *f_third; /* rate a third into a first step */
    bool third;
    bool first, stopped; /* the last step: was the first of its method; ended because it had to, the libraries then do
                            not say how long the next is */
    double *bent[4];     /* [n] scratch of bend_of_step; NULL: no law bends sharply */
    bool unseen;         /* something may happen within little of the states */
    uint64_t bent_from, bent_pause; /* bends are looked for from this step on; how many are left out next */
    double set_out;                 /* length of the first step, or 0: the library finds one */
    double t[3];
    bool history; /* y[0] and f[0] belong to the step before, on the same smooth piece */
    double *scratch, *scratch2;
    bool *rooted;   /* [n] read by laws that may have an infinite slope; NULL: there are none */
    double *beside; /* [n] near the state: where the Jacobian is taken then */

    double *weight;    /* [n] */
    VEC(size_t) still; /* states without a rate */

    variational *variational;
    bool rated[3]; /* MIDPOINT: f is known there */
    void *arkode, *cvode;
    linear *linear;
    SUNMatrix matrix;
    SUNLinearSolver solver;

    double last_t;
    const double *last_f; /* latest evaluation asked for by the explicit method */
    bool failed;          /* an evaluation failed since the last accepted step */

    struct direction {
        double *v;
        double rho, reach;
        int age;
    } leader, scout; /* [n] vectors of the power iteration */
    bool scouting;
    double rho, reach; /* spectral radius; stable step * rho: the leader's */
    unsigned until_rho;
    unsigned limited, creeping, easy, easy_needed, young; /* young: steps until BDF has found its step length */

    uint64_t steps, rhs, failures, switches;
    long erk_failures, cv_failures; /* of instances since their last reset */
    strbuf method;

    double static_step;     /* of a model without states */
    size_t nelements;       /* whose powers its steps must follow, else 0 */
    double *power[5], *top; /* [nelements]; greatest |P| so far */
};

static void
silent(int code, const char *module, const char *function, char *text, void *data)
{
    (void)code, (void)module, (void)function, (void)text, (void)data;
}

static double *
state(const integrator *g, int i)
{
    return NV_DATA_S(g->y[i]);
}

/* ---- tolerances (scales.h) ---- */

static int
weights(N_Vector x, N_Vector w, void *data)
{
    const integrator *g = data;

    scales_weights(g->scales, NV_DATA_S(x), NV_DATA_S(w));
    if (g->kind == BDF)
        N_VScale(BDF_CARE, w, w);
    return 0;
}

static int
evaluate(integrator *g, double t, const double *x, double *f)
{
    int status = model_rhs(g->model, t, x, f);

    g->rhs++;
    if (status == 0 && !vec_finite(g->n, f))
        status = 1;
    g->failed |= status != 0;
    return status;
}

/* Numbers between -1 and 1, the same in every run. */
static double
scatter(size_t i, uint64_t seed)
{
    return (double)(int64_t)bg_hash_mix(i + 1, seed) * 0x1p-63;
}

/* Sizes from the rates f at (t, x); see scales.h. */
struct instant {
    integrator *g;
    double t;
};

static int
rates_there(void *ctx, const double *x, double *f)
{
    const struct instant *at = ctx;

    return evaluate(at->g, at->t, x, f);
}

static void
follow_rates(integrator *g, double t, const double *x, const double *f, bool all)
{
    struct instant at = { g, t };
    bool failed = g->failed;

    scales_from_rates(g->scales, x, f, fmin(g->rho > 0 ? 1 / g->rho : INFINITY, FIRST_TIME * (g->stop - g->start)), all,
                      rates_there, &at, (double *const[]){ g->scratch, g->scratch2 });
    g->failed = failed;
}

/* ---- spectral radius ----
 * Power iteration with J v by differences, v of norm 1 relative to the states' scales. The dominant eigenvalues are the
 * roots of the best J²v = a Jv + b v: pairs do not defeat that, nor does it depend on how the states are scaled against
 * one another (norms of J do). Dormand-Prince is stable up to 2.9 to 3.4 along most rays of the left half-plane, up to
 * 1 along the imaginary axis.
 *
 * A vector that has settled in one part of the model has died in the parts that are not coupled to it, and would not
 * see what becomes fast there, or that its own part has come to rest. So there are two: the leader, and a scout that
 * sets out along the rates, is iterated in turn with the leader, and takes its place when it finds more or has seen
 * enough. What is at rest is stable at any step: only what moves counts. */
#define CHANGE 1e-7         /* of the states' scales, by which J v is taken */
#define UNKNOWN_SCALE 1e-12 /* of a state that nothing has moved yet */

static bool
product(integrator *g, double t, const double *x, const double *f, const double *v, double *to)
{
    vec_axpy(g->n, CHANGE, x, v, g->scratch2);
    if (evaluate(g, t, g->scratch2, to) != 0)
        return false;
    vec_axpy(g->n, -1, to, f, to);
    for (size_t i = 0; i < g->n; i++)
        to[i] /= CHANGE;
    return true;
}

static void
any_direction(integrator *g, struct direction *d)
{
    for (size_t i = 0; i < g->n; i++)
        d->v[i] = scatter(i, 5) / g->weight[i];
}

/* `pairs` of products on d, whose rho and reach follow; g->weight are the scales' reciprocals. */
static void
iterate(integrator *g, double t, const double *x, const double *f, struct direction *d, int pairs)
{
    size_t n = g->n;
    double *v = d->v, *u = g->scratch, *w = g->f_third;

    for (int k = 0; k < pairs; k++) {
        double norm = vec_wrms(n, v, g->weight);

        if (!(norm > 0) || !isfinite(norm)) {
            any_direction(g, d);
            norm = vec_wrms(n, v, g->weight);
        }
        for (size_t i = 0; i < n; i++)
            v[i] /= norm;
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
        d->rho = second; /* v is an eigenvector nearly */
        if (det > 1e-8) {
            double sum = (wu - wv * uv) / det, less = (wv - wu * uv) / det * first, disc = sum * sum + 4 * less;
            if (disc < 0) {
                d->rho = sqrt(-less);
                d->reach = sum >= 0 ? 1 : fmin(REACH, 1 + 18 * (-sum / 2) / d->rho);
            } else {
                d->rho = (fabs(sum) + sqrt(disc)) / 2;
            }
        }
        memcpy(v, w, n * sizeof(double));
        d->age++;
    }
    g->third = false; /* its buffer was borrowed */
}

static void
scale_norm(integrator *g, const double *x)
{
    scales_of(g->scales, x, g->weight);
    for (size_t i = 0; i < g->n; i++)
        g->weight[i] = 1 / fmax(g->weight[i], UNKNOWN_SCALE);
}

static void
spectral_radius(integrator *g, double t, const double *x, const double *f, int pairs)
{
    struct direction *scout = &g->scout;
    bool failed = g->failed;

    scale_norm(g, x);
    if (pairs == 1 && g->scouting) {
        if (scout->age == 0)
            memcpy(scout->v, f, g->n * sizeof *f);
        iterate(g, t, x, f, scout, 1);
        if (scout->age >= SCOUT_LIFE || (scout->age >= SCOUT_YOUTH && scout->rho > g->leader.rho)) {
            struct direction d = g->leader;
            g->leader = *scout;
            *scout = d;
            scout->age = 0;
        }
    } else {
        iterate(g, t, x, f, &g->leader, pairs);
    }
    g->scouting = !g->scouting;
    g->rho = g->leader.rho;
    g->reach = g->leader.reach;
    g->failed = failed;
    g->until_rho = RHO_EVERY;
}

/* At the start nothing may have a size yet: what the rates would move each state by in a short time stands for it, and
 * what these states would move the others by. */
static void
first_radius(integrator *g, double t, const double *x, const double *f)
{
    double *scale = g->weight, *moved = g->scratch, *rate = g->scratch2;
    double time = FIRST_TIME * (g->stop - g->start);
    bool failed = g->failed;

    for (int k = 0; k < 4; k++) {
        scales_of(g->scales, x, scale);
        bool ok = true;
        for (int round = 0; round < 2 && ok; round++) {
            for (size_t i = 0; i < g->n; i++)
                moved[i] = x[i] + copysign(CHANGE * scale[i], scatter(i, 3));
            ok = evaluate(g, t, moved, rate) == 0;
            for (size_t i = 0; i < g->n && ok; i++)
                scale[i] = fmax(scale[i], time * (fabs(f[i]) + fabs(rate[i] - f[i]) / CHANGE));
        }
        for (size_t i = 0; i < g->n; i++)
            scale[i] = 1 / fmax(scale[i], UNKNOWN_SCALE);
        if (ok)
            break;
        time /= 1e3;
    }
    any_direction(g, &g->leader);
    iterate(g, t, x, f, &g->leader, 5);
    g->rho = g->leader.rho;
    g->reach = g->leader.reach;
    g->failed = failed;
}

/* ---- callbacks ---- */

/* After a step: back onto the constraints of residual sources, from which it drifts. */
static int
project_explicit(realtype t, N_Vector x, void *data)
{
    integrator *g = data;

    return model_project(g->model, t, NV_DATA_S(x));
}

static int
project_bdf(realtype t, N_Vector x, N_Vector correction, realtype epsilon, N_Vector error, void *data)
{
    integrator *g = data;
    double *to = NV_DATA_S(correction);

    (void)epsilon, (void)error;
    memcpy(to, NV_DATA_S(x), g->n * sizeof *to);
    if (model_project(g->model, t, to) != 0)
        return 1;
    for (size_t i = 0; i < g->n; i++)
        to[i] -= NV_DATA_S(x)[i];
    return 0;
}

/* ARKODE's explicit method gives up at once when a stage cannot be evaluated. Rates far beyond the tolerance make its
 * error test fail instead, and with it the step shrink. */
static int
explicit_rhs(realtype t, N_Vector x, N_Vector f, void *data)
{
    integrator *g = data;
    double *to = NV_DATA_S(f);

    g->last_t = t;
    g->last_f = to;
    int status = evaluate(g, t, NV_DATA_S(x), to);
    if (status <= 0)
        return status;
    double h = fmax(fabs(t - g->t[1]), DBL_MIN / DBL_EPSILON);
    scales_weights(g->scales, state(g, 1), g->weight);
    for (size_t i = 0; i < g->n; i++)
        to[i] = fmin(1e8 / g->weight[i] / h, 1e200);
    g->last_f = NULL;
    return 0;
}

static int
bdf_rhs(realtype t, N_Vector x, N_Vector f, void *data)
{
    return evaluate(data, t, NV_DATA_S(x), NV_DATA_S(f));
}

static int
stable_step(N_Vector x, realtype t, realtype *h, void *data)
{
    integrator *g = data;

    (void)x, (void)t;
    *h = g->rho > 0 ? g->reach / g->rho : 0;
    return 0;
}

/* x but for a hundredth of what is tolerated. At the zero of a root itself the Jacobian would say that nothing can
 * move, and the corrector would believe that it has converged; from here a change that counts is seen as one. */
static const double *
beside(integrator *g, const double *x)
{
    double *to = g->beside;

    scales_weights(g->scales, x, to);
    for (size_t i = 0; i < g->n; i++)
        to[i] = g->rooted[i] ? x[i] + BESIDE * (scatter(i, 53) < 0 ? -1 : 1) * (1 + fabs(scatter(i, 59))) / to[i]
                             : x[i];
    return to;
}

static int
linear_system(realtype t, N_Vector x, N_Vector f, SUNMatrix a, booleantype kept, booleantype *fresh, realtype gamma,
              void *data, N_Vector t1, N_Vector t2, N_Vector t3)
{
    integrator *g = data;

    (void)f, (void)a, (void)t1, (void)t2, (void)t3;
    *fresh = !kept || !linear_known(g->linear);
    if (*fresh) {
        int status = linear_evaluate(g->linear, t, g->rooted ? beside(g, NV_DATA_S(x)) : NV_DATA_S(x));
        if (status != 0)
            return status;
    }
    linear_form(g->linear, gamma);
    return 0;
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
    g->reach = REACH;
    if (n == 0 && powers) {
        g->nelements = model_nelements(m);
        for (int k = 0; k < 5; k++)
            g->power[k] = bg_calloc(g->nelements + 1, sizeof(double));
        g->top = bg_calloc(g->nelements + 1, sizeof(double));
    }
    g->static_step = (stop - start) / STATIC_STEPS;
    g->kind = g->next = n == 0 ? STATIC : solver == SIM_BDF ? BDF : solver == SIM_VARIATIONAL ? MIDPOINT : EXPLICIT;
    SUNContext_Create(NULL, &g->context);
    for (int i = 0; i < 3; i++) {
        g->y[i] = i ? N_VClone(g->y[0]) : N_VNew_Serial((sunindextype)n, g->context);
        if (i == 0)
            vectors_install(g->y[0]);
        g->f[i] = bg_calloc(n + 1, sizeof(double));
    }
    g->f_third = bg_calloc(n + 1, sizeof(double));
    g->scratch = bg_calloc(n + 1, sizeof(double));
    g->scratch2 = bg_calloc(n + 1, sizeof(double));
    g->rooted = bg_calloc(n + 1, sizeof *g->rooted);
    if (n > 0 && model_root_states(m, g->rooted)) {
        g->beside = bg_calloc(n + 1, sizeof(double));
    } else {
        free(g->rooted);
        g->rooted = NULL;
    }
    g->weight = bg_calloc(n + 1, sizeof(double));
    g->unseen = n > 0 && model_bends_over(m, start, stop);
    if (n > 0 && model_bends(m))
        for (int i = 0; i < 4; i++)
            g->bent[i] = bg_calloc(n + 1, sizeof(double));
    for (size_t i = 0; i < n; i++)
        if (model_state(m, i).holds)
            vec_push(&g->still, i);
    g->leader = (struct direction){ .v = bg_calloc(n + 1, sizeof(double)), .reach = REACH };
    g->scout = (struct direction){ .v = bg_calloc(n + 1, sizeof(double)), .reach = REACH };

    return g;
}

void
integrator_free(integrator *g)
{
    if (!g)
        return;
    if (g->arkode)
        ERKStepFree(&g->arkode);
    if (g->cvode)
        CVodeFree(&g->cvode);
    if (g->solver)
        SUNLinSolFree(g->solver);
    if (g->matrix)
        SUNMatDestroy(g->matrix);
    variational_free(g->variational);
    linear_free(g->linear);
    scales_free(g->scales);
    for (int i = 0; i < 3; i++) {
        N_VDestroy(g->y[i]);
        free(g->f[i]);
    }
    free(g->f_third);
    free(g->scratch);
    free(g->scratch2);
    free(g->beside);
    free(g->rooted);
    for (int i = 0; i < 4; i++)
        free(g->bent[i]);
    free(g->weight);
    vec_free(&g->still);
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

    if (g->kind == EXPLICIT && g->arkode) {
        ERKStepGetNumErrTestFails(g->arkode, &now);
        g->failures += (uint64_t)(now - g->erk_failures);
        g->erk_failures = now;
    } else if (g->kind == BDF && g->cvode) {
        CVodeGetNumErrTestFails(g->cvode, &now);
        g->failures += (uint64_t)(now - g->cv_failures);
        g->cv_failures = now;
    }
}

static bool
need_linear(integrator *g)
{
    return g->linear || (g->linear = linear_new(g->model));
}

bool
integrator_ready(const integrator *g)
{
    return (g->next != BDF && g->next != MIDPOINT) || g->linear;
}

/* Creates or resets the library's instance for the present kind, at (t[2], y[2]). */
static bool
prepare(integrator *g)
{
    double t = g->t[2];

    if (g->kind == EXPLICIT) {
        if (g->arkode) {
            ERKStepReInit(g->arkode, explicit_rhs, t, g->y[2]);
        } else {
            g->arkode = ERKStepCreate(explicit_rhs, t, g->y[2], g->context);
            ERKStepSetErrHandlerFn(g->arkode, silent, NULL);
            ERKStepSetUserData(g->arkode, g);
            ERKStepSetTableNum(g->arkode, ARKODE_DORMAND_PRINCE_7_4_5);
            ERKStepWFtolerances(g->arkode, weights);
            ERKStepSetMaxNumSteps(g->arkode, -1);
            ERKStepSetMaxHnilWarns(g->arkode, -1);
            ERKStepSetMaxErrTestFails(g->arkode, 25);
            ERKStepSetStabilityFn(g->arkode, stable_step, g);
            ERKStepSetCFLFraction(g->arkode, 0.95);
            if (model_projects(g->model))
                ERKStepSetPostprocessStepFn(g->arkode, project_explicit);
        }
        ERKStepSetInitStep(g->arkode, g->set_out);
        ERKStepSetMaxFirstGrowth(g->arkode, g->set_out > 0 ? GROWTH : FIRST_GROWTH);
        g->erk_failures = 0;
    } else if (g->kind == BDF) {
        if (!need_linear(g))
            return false;
        if (g->cvode) {
            CVodeReInit(g->cvode, t, g->y[2]);
        } else {
            g->cvode = CVodeCreate(CV_BDF, g->context);
            CVodeSetErrHandlerFn(g->cvode, silent, NULL);
            CVodeInit(g->cvode, bdf_rhs, t, g->y[2]);
            CVodeSetUserData(g->cvode, g);
            CVodeWFtolerances(g->cvode, weights);
            CVodeSetMaxNumSteps(g->cvode, -1);
            CVodeSetMaxHnilWarns(g->cvode, -1);
            CVodeSetMaxErrTestFails(g->cvode, 20);
            CVodeSetMaxConvFails(g->cvode, 20);
            g->matrix = linear_matrix(g->linear, g->context);
            g->solver = linear_solver(g->linear, g->context);
            CVodeSetLinearSolver(g->cvode, g->solver, g->matrix);
            CVodeSetLinSysFn(g->cvode, linear_system);
            if (model_projects(g->model)) {
                CVodeSetProjFn(g->cvode, project_bdf);
                CVodeSetProjErrEst(g->cvode, false);
            }
        }
        CVodeSetInitStep(g->cvode, g->set_out);
        g->cv_failures = 0;
        g->young = BDF_YOUTH;
    }
    if (g->kind == MIDPOINT && !g->variational) {
        if (!need_linear(g))
            return false;
        g->variational = variational_new(g->model, g->linear);
    }
    if (g->kind == MIDPOINT)
        variational_restart(g->variational);
    g->set_out = 0;
    g->restart = false;
    return true;
}

/* Spectral radius and sizes where nothing is known of either: each needs the other. */
static void
find_sizes(integrator *g, double t, const double *x)
{
    if (evaluate(g, t, x, g->f[2]) != 0)
        return;
    first_radius(g, t, x, g->f[2]);
    follow_rates(g, t, x, g->f[2], true);
    spectral_radius(g, t, x, g->f[2], 3);
    follow_rates(g, t, x, g->f[2], false);
    spectral_radius(g, t, x, g->f[2], 5);
}

/* Sizes from what inputs will do later; without them a state that waits for a pulse would follow its first beginnings
 * below any meaning. */
static void
foresee_peaks(integrator *g, double t, const double *x)
{
    double time[PEAKS], width[PEAKS], *f = g->f[2], *there = g->scratch;
    size_t n = scales_sized(g->scales) ? model_clock_peaks(g->model, time, width, PEAKS) : 0;

    if (n == 0 || evaluate(g, t, x, f) != 0)
        return;
    for (size_t k = 0; k < n; k++)
        if (evaluate(g, time[k], x, there) == 0)
            scales_peak(g->scales, f, there, fmin(g->rho > 0 ? 1 / g->rho : INFINITY, width[k]));
    scales_update(g->scales);
    g->failed = false;
}

bool
integrator_start(integrator *g, double t, const double *x)
{
    if (g->n && x != state(g, 2))
        memcpy(state(g, 2), x, g->n * sizeof(double));
    g->t[0] = g->t[1] = g->t[2] = t;
    g->history = g->third = false;
    g->limited = g->easy = 0;
    g->restart = true;
    gather_failures(g);
    bool first = !g->begun;
    if (first) {
        g->begun = true;
        if (g->n) {
            scales_begin(g->scales, x);
            find_sizes(g, t, x);
            foresee_peaks(g, t, x);
            scales_begun(g->scales);
        }
        strbuf_puts(&g->method, g->kind == STATIC     ? "no states"
                                : g->kind == BDF      ? "bdf"
                                : g->kind == MIDPOINT ? "variational"
                                                      : "explicit");
    }
    if ((g->kind == BDF || g->kind == MIDPOINT) && !need_linear(g))
        return false;
    g->rated[2] = false;
    if (!first && g->n && scales_unknown(g->scales)) {
        find_sizes(g, t, x);    /* what was at rest may move now, */
        foresee_peaks(g, t, x); /* from an input that is zero yet */
    } else if (g->kind == EXPLICIT && evaluate(g, t, x, g->f[2]) == 0 && !first)
        spectral_radius(g, t, x, g->f[2], 2);
    return true;
}

bool
integrator_resume(integrator *g, double t, const double *x)
{
    if (g->kind != EXPLICIT || !g->arkode || g->restart || g->next != g->kind || scales_unknown(g->scales))
        return integrator_start(g, t, x);
    if (x != state(g, 2))
        memcpy(state(g, 2), x, g->n * sizeof(double));
    g->t[0] = g->t[1] = g->t[2] = t;
    g->history = g->third = false;
    gather_failures(g);
    ERKStepReset(g->arkode, t, g->y[2]);
    g->erk_failures = 0;
    evaluate(g, t, x, g->f[2]);
    return true;
}

/* ---- which integrator ---- */

static double
rhs_cost(const integrator *g)
{
    return g->linear ? 1.1 * (double)linear_pattern(g->linear).nonzeros : 3.5 * (double)g->n;
}
static double
explicit_cost(const integrator *g)
{
    return STEP_OVERHEAD + 6 * rhs_cost(g) + 40 * (double)g->n;
}
static double
bdf_cost(const integrator *g)
{
    return STEP_OVERHEAD + 1.3 * (rhs_cost(g) + 16 * linear_fill(g->linear)) + 100 * (double)g->n +
           linear_flops(g->linear);
}

static void
change_to(integrator *g, enum kind next, const char *why)
{
    g->next = next;
    g->switches++;
    if (g->switches < 4)
        strbuf_printf(&g->method, " to %.6g s, then %s (%s; spectral radius %.3g 1/s)", g->t[2],
                      next == BDF ? "bdf" : "explicit", why, g->rho);
}

/* Length of step in which the states change by what a method of order five follows, over h: of the time T = 1/(rtol
 * |f|), in the error weights, in which they change by their own size about rtol^(1/5) T / 2. */
static double
change_over(integrator *g, double h)
{
    scales_weights(g->scales, state(g, 2), g->weight);
    return 0.5 * pow(g->rtol, 0.2) / fmax(g->rtol * vec_wrms(g->n, g->f[2], g->weight) * h, 1e-12);
}

/* Length of explicit step that accuracy alone would allow, over h. The error estimate tells it where fast modes are at
 * rest; at the limit of stability they may rule the estimate though nobody sees them. If they are damped, what the
 * states do tells. */
static double
accuracy_over(integrator *g, double h)
{
    N_Vector error = g->y[0]; /* dense output of this step does without the step before */

    g->history = false;
    scales_weights(g->scales, state(g, 2), g->weight);
    if (ERKStepGetEstLocalErrors(g->arkode, error) != 0)
        return 0;
    double by_error = pow(fmax(1.5 * vec_wrms(g->n, NV_DATA_S(error), g->weight), 1e-12), -0.2),
           by_change = change_over(g, h);
    return fmin(g->reach < REACH ? by_error : fmax(by_error, by_change), (g->stop - g->t[2]) / h);
}

/* `cut`: the step was shortened by where it had to end. */
static void
decide(integrator *g, bool cut)
{
    if (g->want != SIM_AUTO || g->kind == STATIC || cut)
        return;
    double h = g->t[2] - g->t[1];

    if (g->kind == EXPLICIT) {
        g->limited = h * g->rho > NEAR_LIMIT * g->reach ? g->limited + 1 : 0;
        if (g->until_rho == RHO_EVERY) {
            g->creeping = g->reach >= REACH && g->stop - g->t[2] > CREEPING * h && change_over(g, h) > CREEPING
                              ? g->creeping + 1
                              : 0;
            if (g->creeping >= CREEPING_LOOKS && need_linear(g)) {
                g->creeping = 0;
                change_to(g, BDF, "what is at rest limits the explicit steps");
                return;
            }
        }
        double left = (g->stop - g->t[2]) / h * explicit_cost(g);
        if (g->limited < LIMITED_STEPS || (!g->linear && left < JACOBIAN_COMPILED) || !need_linear(g))
            return;
        if (BDF_STEPS * bdf_cost(g) < accuracy_over(g, h) * explicit_cost(g))
            change_to(g, BDF, "stability limits the explicit steps");
        g->limited = 0;
    } else {
        double explicit_steps = fmax(1 / BDF_STEPS, h * g->rho / g->reach);
        if (g->young > 0) {
            g->young--;
            return;
        }
        g->easy = explicit_steps * explicit_cost(g) < 0.5 * bdf_cost(g) ? g->easy + 1 : 0;
        if (g->easy < g->easy_needed)
            return;
        g->easy_needed *= 2; /* so that the run does not go to and fro */
        change_to(g, EXPLICIT, "no longer stiff");
    }
}

/* ---- steps ---- */

static void
rotate(integrator *g, bool forward)
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
    double t = g->t[1], least = 2 * DBL_EPSILON * fabs(t); /* below it time hardly moves any more */
    int status;

    if (g->kind == EXPLICIT) {
        ERKStepSetMinStep(g->arkode, least);
        ERKStepSetStopTime(g->arkode, until);
        status = ERKStepEvolve(g->arkode, until, g->y[2], &t, ARK_ONE_STEP);
    } else {
        CVodeSetMinStep(g->cvode, least);
        CVodeSetStopTime(g->cvode, until);
        status = CVode(g->cvode, until, g->y[2], &t, CV_ONE_STEP);
    }
    g->t[2] = t;
    g->stopped = status == (g->kind == EXPLICIT ? ARK_TSTOP_RETURN : CV_TSTOP_RETURN);
    return status;
}

/* Greatest coefficient of degree four in the powers over [t, t+h] (five points of activity.h), each relative to the
 * greatest power so far. */
static bool
bend_of_powers(integrator *g, double t, double h, double *bend)
{
    const double s[5] = { 0, quartic_place[0], quartic_place[1], quartic_place[2], 1 };
    double none = 0;

    *bend = 0;
    for (int k = 0; k < 5; k++)
        if (model_powers(g->model, t + s[k] * h, &none, g->power[k]) != 0)
            return false;
    for (size_t i = 0; i < g->nelements; i++) {
        double c = 0;
        for (int k = 0; k < 5; k++) {
            double w = 1;
            for (int j = 0; j < 5; j++)
                if (j != k)
                    w *= s[k] - s[j];
            c += g->power[k][i] / w;
            g->top[i] = fmax(g->top[i], fabs(g->power[k][i]));
        }
        if (g->top[i] > 0)
            *bend = fmax(*bend, fabs(c) / g->top[i]);
    }
    return true;
}

/* A step of a model without states: as long as the powers look like polynomials of degree four. */
static enum integrator_status
static_step(integrator *g, double until)
{
    double t = g->t[2], allowed = sqrt(g->rtol), bend, h;

    for (;;) {
        h = fmin(g->static_step, until - t);
        if (g->nelements == 0)
            break;
        if (!bend_of_powers(g, t, h, &bend))
            return STEP_SINGULAR;
        if (bend <= allowed || h < 1e-9 * (g->stop - g->start)) {
            if (bend < allowed / 40)
                g->static_step = fmin(2 * g->static_step, (g->stop - g->start) / STATIC_STEPS);
            break;
        }
        g->static_step = h / 2;
    }
    g->t[1] = t;
    g->t[2] = until - (t + h) < 1e-6 * h ? until : t + h;
    g->steps++;
    return STEP_OK;
}

/* Rate at the end of a step: the explicit method's last stage. */
static void
end_rate(integrator *g)
{
    if (g->kind != EXPLICIT)
        return;
    if (fabs(g->last_t - g->t[2]) <= 4 * DBL_EPSILON * fabs(g->t[2]) && g->last_f)
        memcpy(g->f[2], g->last_f, g->n * sizeof(double));
    else
        evaluate(g, g->t[2], state(g, 2), g->f[2]);
}

/* The polynomial of dense output is held against the integral of the rates along it, by Lobatto's rules of four places
 * (two within) from the step's start to the other three: the greatest difference, in tolerances. */
static double
bend_of_step(integrator *g)
{
    static const double place[2] = { 0.27639320225002103036, 0.72360679774997896964 };
    static const double w[3][4] = {
        /* collocation at Lobatto's places (Hairer & Wanner II, table IV.5.8: Lobatto IIIA) */
        { 0.11030056647916491413, 0.18969943352083508587, -0.03390736422914388377, 0.01030056647916491413 },
        { 0.07303276685416841919, 0.45057403089581055044, 0.22696723314583158081, -0.02696723314583158081 },
        { 1.0 / 12, 5.0 / 12, 5.0 / 12, 1.0 / 12 }
    };
    double h = g->t[2] - g->t[1], most = 0, *at[4] = { state(g, 1), g->bent[0], g->bent[1], state(g, 2) };
    const double *f[4] = { g->f[1], g->bent[2], g->bent[3], g->f[2] };
    bool failed = g->failed, ok = true;

    for (int k = 0; k < 2 && ok; k++) {
        double t = g->t[1] + place[k] * h;

        ok = integrator_dense(g, t, at[1 + k]) && evaluate(g, t, at[1 + k], g->bent[2 + k]) == 0;
    }
    g->failed = failed;
    if (!ok)
        return 0;
    scales_weights(g->scales, state(g, 2), g->weight);
    for (size_t i = 0; i < g->n; i++)
        for (int k = 0; k < 3; k++) {
            double sum = w[k][0] * f[0][i] + w[k][1] * f[1][i] + w[k][2] * f[2][i] + w[k][3] * f[3][i];

            most = fmax(most, fabs(at[0][i] + h * sum - at[k + 1][i]) * g->weight[i]);
        }
    return most;
}

/* The method's own error estimate believes in smooth rates. Where a law bends sharply (a junction begins to conduct, or
 * ends) it is as good as random, and blind where the bend is early in the step. So in such models a second one is
 * asked; of a smooth step it is of order six, and content. Does it refuse the step? */
static bool
bends(integrator *g, unsigned tries)
{
    if (!g->bent[0] || g->kind != EXPLICIT || g->steps < g->bent_from)
        return false;
    double bend = bend_of_step(g), most = tries ? BEND_AGAIN : BEND;
    if (!(bend > most))
        return false;
    if (tries == BEND_TRIES) {
        g->bent_pause *= 2;
        g->bent_from = g->steps + g->bent_pause;
        return false;
    }
    g->set_out = (g->t[2] - g->t[1]) * fmin(0.5, fmax(0.1, 0.7 * sqrt(BEND / bend)));
    return true;
}

/* Does something happen within the step that its ends do not show? Then it is to be taken again, to where that begins.
 */
static bool
goes_unseen(integrator *g, unsigned tries)
{
    double *f[2] = { g->f[1], g->f[2] }, part;

    if (!g->unseen || tries >= UNSEEN_TRIES)
        return false;
    for (int i = 0; i < 2 && g->kind == BDF; i++) {
        struct _generic_N_Vector v = *g->y[2];
        struct _N_VectorContent_Serial content = *(N_VectorContent_Serial)g->y[2]->content;

        content.data = f[i];
        content.own_data = SUNFALSE;
        v.content = &content;
        if (CVodeGetDky(g->cvode, g->t[1 + i], 1, &v) != 0)
            return false;
    }
    part = model_clear(g->model, &g->t[1], (const double *const[]){ state(g, 1), state(g, 2) },
                       (const double *const[]){ f[0], f[1] });
    g->set_out = part * (g->t[2] - g->t[1]);
    return part < 1;
}

/* A step to `until`, however long that is. */
static enum integrator_status
midpoint_step(integrator *g, double until)
{
    bool first = g->restart;

    if (first && !prepare(g))
        return STEP_SINGULAR;
    rotate(g, true);
    g->rated[0] = g->rated[1];
    g->rated[1] = g->rated[2];
    g->t[2] = until;
    scales_of(g->scales, state(g, 1), g->weight);
    if (variational_step(g->variational, g->t[1], until, state(g, 1), g->weight, state(g, 2)) != 0) {
        rotate(g, false);
        g->t[1] = g->t[2];
        g->restart = true;
        return evaluate(g, g->t[2], state(g, 2), g->f[2]) != 0 ? STEP_SINGULAR : STEP_UNSOLVED;
    }
    g->rated[2] = false;
    g->steps++;
    if (--g->until_rho == 0 || g->until_rho > RHO_EVERY) {
        scales_update(g->scales);
        g->until_rho = RHO_EVERY;
    }
    return STEP_OK;
}

/* Rates at the ends of a variational step, for its dense output. */
static bool
midpoint_rates(integrator *g)
{
    for (int i = 1; i < 3; i++)
        if (!g->rated[i])
            g->rated[i] = evaluate(g, g->t[i], state(g, i), g->f[i]) == 0;
    return g->rated[1] && g->rated[2];
}

/* States without a rate are what they were when the step began, to the last bit. */
static void
keep_still(const integrator *g, double *x)
{
    const double *before = NV_DATA_S(g->y[1]);

    for (size_t k = 0; k < g->still.n; k++)
        x[g->still.at[k]] = before[g->still.at[k]];
}

enum integrator_status
integrator_step(integrator *g, double until)
{
    if (g->kind == STATIC)
        return static_step(g, until);
    if (g->kind == MIDPOINT)
        return midpoint_step(g, until);
    bool explicit_failed = false;
    unsigned tries = 0, unseen = 0;
    for (;;) {
        if (g->next != g->kind) {
            gather_failures(g);
            g->kind = g->next;
            g->restart = true;
            g->limited = g->easy = 0;
            g->history = false;
            if (g->kind == EXPLICIT)
                evaluate(g, g->t[2], state(g, 2), g->f[2]);
        }
        bool first = g->first = g->restart;
        if (first && !prepare(g))
            return STEP_SINGULAR;
        rotate(g, true);
        g->third = g->failed = false;
        int status = advance(g, until);
        if (status >= 0) {
            g->history = !first && g->kind == EXPLICIT;
            keep_still(g, state(g, 2));
            end_rate(g);
            if (!goes_unseen(g, unseen++) && !bends(g, tries++))
                break;
            rotate(g, false);
            g->history = false;
            g->restart = true;
            continue;
        }
        rotate(g, false); /* back to the last accepted point */
        g->history = false;
        if (g->kind == EXPLICIT && g->want == SIM_AUTO && !explicit_failed && !g->failed && need_linear(g)) {
            explicit_failed = true;
            change_to(g, BDF, "the explicit method failed");
            continue;
        }
        g->t[1] = g->t[2];
        return g->failed ? STEP_SINGULAR : STEP_SMALL;
    }
    g->steps++;
    g->failed = false;
    if (--g->until_rho == 0 || g->until_rho > RHO_EVERY) {
        double *f = g->kind == EXPLICIT ? g->f[2] : g->f[0];

        scales_update(g->scales);
        if (g->kind == EXPLICIT || evaluate(g, g->t[2], state(g, 2), f) == 0) {
            follow_rates(g, g->t[2], state(g, 2), f, false);
            if (g->want != SIM_BDF)
                spectral_radius(g, g->t[2], state(g, 2), f, 1);
        }
        g->until_rho = RHO_EVERY;
    }
    decide(g, g->t[2] == until);
    return STEP_OK;
}

double
integrator_next(const integrator *g)
{
    double h = INFINITY;

    if (g->kind == STATIC)
        return g->static_step;
    if (g->restart || g->next != g->kind || g->kind == MIDPOINT)
        return INFINITY;
    if (g->stopped)
        return g->first ? INFINITY : GROWTH * (g->t[2] - g->t[1]);
    if (g->kind == EXPLICIT ? ERKStepGetCurrentStep(g->arkode, &h) != 0 : CVodeGetCurrentStep(g->cvode, &h) != 0)
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
    return state(g, 1);
}
const double *
integrator_x1(const integrator *g)
{
    return state(g, 2);
}

/* ---- dense output of the explicit method ----
 * Polynomials through states and rates at step ends: of degree five over this step and the one before (error of the
 * order of the method's own, no further evaluation); of degree four in a first step, with the rate at a third of it. */
/* Hermite's basis at s for the places -r, 0 and 1, in steps of length h. */
static void
two_step_coefficients(double r, double h, double s, double c[6])
{
    double by_r = 1 / r, by_sum = 1 / (1 + r);
    double l[3] = { s * (s - 1) * by_r * by_sum, -(s + r) * (s - 1) * by_r, s * (s + r) * by_sum };
    double from[3] = { s + r, s, s - 1 }, slope[3] = { -by_r - by_sum, by_r - 1, 1 + by_sum };

    for (int a = 0; a < 3; a++) {
        c[a] = l[a] * l[a] * (1 - 2 * slope[a] * from[a]);
        c[a + 3] = l[a] * l[a] * from[a] * h;
    }
}

static void
first_step_coefficients(double h, double s, bool third, double c[6])
{
    double q = 1 - s;

    c[0] = (1 + 2 * s) * q * q;
    c[1] = s * s * (3 - 2 * s);
    c[2] = h * s * q * q;
    c[3] = -h * s * s * q;
    c[4] = c[5] = 0;
    if (third) { /* + k s²(1-s)², k from the slope at 1/3: 4/27 k = h f(1/3) - slope of the cubic */
        double k = s * s * q * q * 27 / 4;
        c[0] += k * 4 / 3;
        c[1] -= k * 4 / 3;
        c[2] += 0;
        c[3] += k * h / 3;
        c[4] = k * h;
    }
}

static bool
explicit_base(integrator *g, const double *x[6])
{
    double h = g->t[2] - g->t[1];

    x[0] = state(g, 0), x[1] = state(g, 1), x[2] = state(g, 2);
    x[3] = g->f[0], x[4] = g->f[1], x[5] = g->f[2];
    if (g->history && g->t[1] - g->t[0] > 0.02 * h)
        return true;
    if (g->kind == MIDPOINT && !midpoint_rates(g))
        return false;
    g->history = false;
    x[0] = state(g, 1), x[1] = state(g, 2), x[2] = g->f[1], x[3] = g->f[2], x[4] = g->f_third, x[5] = state(g, 1);
    if (!g->third && g->kind != MIDPOINT) {
        double c[6];
        bool failed = g->failed;
        first_step_coefficients(h, 1.0 / 3, false, c);
        const double *cubic[6] = { x[0], x[1], x[2], x[3], x[0], x[0] };
        vec_combine1(g->n, c, cubic, g->scratch);
        if (evaluate(g, g->t[1] + h / 3, g->scratch, g->f_third) != 0)
            return false;
        g->failed = failed;
        g->third = true;
    }
    return true;
}

bool
integrator_dense3(integrator *g, const double s[3], double t_end, double *const x[3])
{
    double h = g->t[2] - g->t[1], part = h != 0 ? (t_end - g->t[1]) / h : 0;

    if (g->kind == STATIC)
        return true;
    if (g->kind == BDF) {
        for (int i = 0; i < 3; i++)
            if (!integrator_dense(g, g->t[1] + s[i] * (t_end - g->t[1]), x[i]))
                return false;
        return true;
    }
    double c[3][6];
    const double *base[6];
    if (!explicit_base(g, base))
        return false;
    for (int i = 0; i < 3; i++) {
        if (g->history)
            two_step_coefficients((g->t[1] - g->t[0]) / h, h, s[i] * part, c[i]);
        else
            first_step_coefficients(h, s[i] * part, g->kind != MIDPOINT, c[i]);
    }
    vec_combine3(g->n, c, base, x);
    for (int i = 0; i < 3; i++)
        keep_still(g, x[i]);
    return true;
}

bool
integrator_dense(integrator *g, double t, double *x)
{
    size_t n = g->n;

    if (g->kind == STATIC)
        return true;
    if (t == g->t[2] || t == g->t[1]) {
        memcpy(x, state(g, t == g->t[2] ? 2 : 1), n * sizeof(double));
        return true;
    }
    if (g->kind == BDF) {
        struct _generic_N_Vector v = *g->y[2];
        struct _N_VectorContent_Serial content = *(N_VectorContent_Serial)g->y[2]->content;
        content.data = x;
        content.own_data = SUNFALSE;
        v.content = &content;
        bool known = CVodeGetDky(g->cvode, t, 0, &v) == 0;
        keep_still(g, x);
        return known;
    }
    double c[6], h = g->t[2] - g->t[1], s = (t - g->t[1]) / h;
    const double *base[6];
    if (!explicit_base(g, base))
        return false;
    if (g->history)
        two_step_coefficients((g->t[1] - g->t[0]) / h, h, s, c);
    else
        first_step_coefficients(h, s, g->kind != MIDPOINT, c);
    vec_combine1(n, c, base, x);
    keep_still(g, x);
    return true;
}

/* ---- reports ---- */

size_t
integrator_worst(integrator *g, double *ratio)
{
    size_t worst = 0;
    double most = -1;
    N_Vector e = g->y[0]; /* free: there is no step to interpolate in after a failure */

    *ratio = 0;
    if (g->kind == STATIC || g->kind == MIDPOINT)
        return 0;
    N_VConst(0, e);
    if (g->kind == EXPLICIT ? ERKStepGetEstLocalErrors(g->arkode, e) != 0 : CVodeGetEstLocalErrors(g->cvode, e) != 0)
        return 0;
    scales_weights(g->scales, state(g, 2), g->weight);
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
    if (g->kind == STATIC || g->kind == MIDPOINT || (g->want == SIM_AUTO && g->kind == BDF))
        return NULL;
    return g->kind == BDF ? "explicit" : "bdf";
}

char *
integrator_method(const integrator *g)
{
    if (g->switches < 4)
        return bg_strdup(g->method.at ? g->method.at : "explicit");
    return bg_format("%s, and %llu further changes", g->method.at, (unsigned long long)(g->switches - 3));
}
