/* integrator_choice.c - chooses between explicit, BDF and Rosenbrock by their costs */
#include <math.h>
#include <string.h>

#include "integrator_inside.h"

/* The unit of all costs is the time of one addition to one element of a long vector. All of them are measured. */
#define STEP_OVERHEAD 10000.0  /* of a step, whatever the model's size; it dominates in small models */
#define RATES_NONZERO 1.1      /* of evaluating the rates, for each nonzero of the Jacobian */
#define RATES_STATE 3.5        /* the same for each state, while the Jacobian is not known */
#define EXPLICIT_STATE 40      /* of the vector operations in an explicit step, for each state */
#define BDF_STATE 100          /* the same in an implicit step */
#define SOLVE_NONZERO 4        /* of solving with the factors, for each of their nonzeros */
#define FACTOR_OPERATION 0.5   /* of an operation in factoring */
#define EXPLICIT_EVALUATIONS 6 /* of the rates in an explicit step */
#define BDF_ITERATIONS 1.3     /* Newton's iterations in a step of BDF, on average: each evaluates and solves */
#define BDF_NONZERO 16         /* of solving in these, with the work of SUNDIALS, for each nonzero of the factors */
#define BDF_STEPS 2.5          /* steps of BDF for one explicit step of the same accuracy (2 to 3 on smooth models) */
#define BDF_FACTORS 0.1        /* factorisations for each step of BDF, once it has its step length */
/* Rosenbrock's method replaces BDF if fewer steps of BDF than this lie between two switchings; */
#define OFTEN_BDF 200
#define OFTEN_ROSENBROCK 100 /* BDF replaces Rosenbrock's method after this many of its steps without a switching */
#define ROSENBROCK_SAVES 7   /* steps of BDF for one of Rosenbrock's between switchings (4 to 10) */
#define LIMITED_STEPS 15     /* stability-limited steps in a row before BDF is considered */
/* If the moving states would allow steps CREEPING times as long as the actual ones, at CREEPING_CHECKS checks in a row,
 * a state at rest limits the steps. */
#define CREEPING 50
#define CREEPING_CHECKS 8
#define RESTING 15         /* the same, if a state was about to pass the zero of a root after so many steps in a row */
#define SOON 1e-4          /* of the run: longest time between two switchings that may be errors of explicit steps, */
#define SOON_SWITCHINGS 20 /* and number of these in a row */
#define ERROR_SAFETY 1.5   /* factor of the error estimate before a step length is computed from it */
#define NO_CHANGE 1e-12    /* in tolerances: smaller errors, or changes of the states, count as this */
/* The explicit method is taken back if its cost is less than this part of that of the present one. It has to be clearly
 * cheaper, since the change itself costs steps. */
#define EASY 0.5
#define FOLLOWS 0.5 /* of rtol^(1/5) T: the step with which a method of order five follows states that change in T */
#define JACOBIAN_COMPILED 5e7 /* cost of its first use, in the same unit: some milliseconds */

static double
rhs_cost(const integrator *g)
{
    return g->linear ? RATES_NONZERO * (double)linear_pattern(g->linear).nonzeros : RATES_STATE * (double)g->n;
}

static double
explicit_cost(const integrator *g)
{
    return STEP_OVERHEAD + EXPLICIT_EVALUATIONS * rhs_cost(g) + EXPLICIT_STATE * (double)g->n;
}

static double
bdf_cost(const integrator *g)
{
    return STEP_OVERHEAD + BDF_ITERATIONS * (rhs_cost(g) + BDF_NONZERO * linear_fill(g->linear)) +
           BDF_STATE * (double)g->n + linear_flops(g->linear);
}

/* Cost of a step with so many evaluations, solutions and factorisations. */
static double
implicit_step(const integrator *g, double evaluations, double solutions, double factors)
{
    return STEP_OVERHEAD + evaluations * rhs_cost(g) + SOLVE_NONZERO * solutions * linear_fill(g->linear) +
           BDF_STATE * (double)g->n + FACTOR_OPERATION * factors * linear_flops(g->linear);
}

/* Each stage evaluates the rates and solves; the Jacobian costs about one more evaluation, the derivative by time two.
 */
static double
rosenbrock_cost(const integrator *g)
{
    enum { ROSENBROCK_STAGES = 8, JACOBIAN = 1, BY_TIME = 2 };

    return implicit_step(g, ROSENBROCK_STAGES + JACOBIAN + BY_TIME, ROSENBROCK_STAGES, 1);
}

void
integrator_set_out_implicit(integrator *g, uint64_t steps)
{
    bool often = !g->rooted && steps < (g->kind == BDF ? OFTEN_BDF : OFTEN_ROSENBROCK) &&
                 rosenbrock_cost(g) < ROSENBROCK_SAVES * implicit_step(g, BDF_ITERATIONS, BDF_ITERATIONS, BDF_FACTORS);

    g->kind = g->next = often ? ROSENBROCK : BDF;
    if (often && !g->between)
        strbuf_puts(&g->method, ", rosenbrock from one switching to the next");
    g->between |= often;
}

void
integrator_give_way(integrator *g)
{
    if (g->kind == ROSENBROCK && g->next == ROSENBROCK && g->steps - g->smooth_from >= OFTEN_ROSENBROCK)
        g->next = BDF;
}

void
integrator_change_to(integrator *g, enum kind next, const char *why)
{
    g->next = next;
    g->switches++;
    if (g->switches < 4)
        strbuf_printf(&g->method, " to %.6g s, then %s (%s; spectral radius %.3g 1/s)", g->t[2],
                      next == BDF ? "bdf" : "explicit", why, g->rho);
}

enum { ORDER = 5 }; /* of the explicit method */

/* Step length with which a method of order five can follow the change of the states, divided by h. The states change by
 * their own size in the time T = 1/(rtol |f|), |f| the norm of the rates in the error weights; the length is about
 * FOLLOWS rtol^(1/5) T. */
static double
change_over(integrator *g, double h)
{
    scales_weights(g->scales, integrator_state(g, 2), g->weight);
    return FOLLOWS * pow(g->rtol, 1.0 / ORDER) / fmax(g->rtol * vec_wrms(g->n, g->f[2], g->weight) * h, NO_CHANGE);
}

/* Explicit step length that accuracy alone would allow, divided by h. The error estimate tells it while the fast modes
 * are at rest. At the limit of stability they may dominate the estimate although their amplitudes are far below the
 * tolerance. If they are damped, the rates of the states tell more. */
static double
accuracy_over(integrator *g, double h)
{
    scales_weights(g->scales, integrator_state(g, 2), g->weight);
    double by_error = pow(fmax(ERROR_SAFETY * vec_wrms(g->n, explicit_error(g->explicit), g->weight), NO_CHANGE),
                          -1.0 / ORDER),
           by_change = change_over(g, h);
    return fmin(g->reach < REACH ? by_error : fmax(by_error, by_change), (g->stop - g->t[2]) / h);
}

void
integrator_decide_by_switchings(integrator *g, double since)
{
    g->soon = g->rooted && g->begun && since <= SOON * (g->stop - g->start) ? g->soon + 1 : 0;
    if (g->soon < SOON_SWITCHINGS || g->want != SIM_AUTO || g->kind != EXPLICIT || g->next != EXPLICIT ||
        !integrator_need_linear(g))
        return;
    g->soon = 0;
    integrator_change_to(g, BDF, "conditions beside a root switch at each explicit step");
}

void
integrator_decide(integrator *g, bool cut)
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
        }
        if ((g->creeping >= CREEPING_CHECKS || g->near_rest >= RESTING) && integrator_need_linear(g)) {
            g->creeping = g->near_rest = 0;
            integrator_change_to(g, BDF, "a state at rest limits the explicit steps");
            return;
        }
        double left = (g->stop - g->t[2]) / h * explicit_cost(g);
        if (g->limited < LIMITED_STEPS || (!g->linear && left < JACOBIAN_COMPILED) || !integrator_need_linear(g))
            return;
        if (BDF_STEPS * bdf_cost(g) < accuracy_over(g, h) * explicit_cost(g))
            integrator_change_to(g, BDF, "stability limits the explicit steps");
        g->limited = 0;
    } else {
        double explicit_steps = fmax(g->kind == BDF ? 1 / BDF_STEPS : 1, h * g->rho / g->reach),
               cost = g->kind == BDF ? bdf_cost(g) : rosenbrock_cost(g);
        if (g->young > 0) {
            g->young--;
            return;
        }
        g->easy = explicit_steps * explicit_cost(g) < EASY * cost ? g->easy + 1 : 0;
        if (g->easy < g->easy_needed)
            return;
        g->easy_needed *= 2; /* the run must not alternate between methods */
        integrator_change_to(g, EXPLICIT, "no longer stiff");
    }
}
