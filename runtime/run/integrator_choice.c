/* integrator_choice.c - chooses between explicit, BDF and Rosenbrock by their costs */
#include <math.h>
#include <string.h>

#include "integrator_inside.h"

/* Costs are in passes over one vector element. A nonzero of the Jacobian costs about one in an evaluation of the
 * rates; where the Jacobian is not known, each state counts as a few of them. The vectors of a step cost some passes
 * for each state, solving with the factors some for each of their nonzeros; an operation of factoring costs half of
 * one. All of these are measured. */
#define STEP_OVERHEAD 10000.0 /* of a step of either library; it dominates in small models */
#define RATES_NONZERO 1.1
#define RATES_STATE 3.5
#define EXPLICIT_STATE 40
#define BDF_STATE 100
#define SOLVE_NONZERO 4
#define FACTOR_OPERATION 0.5
#define EXPLICIT_EVALUATIONS 6 /* of the rates in an explicit step */
#define BDF_ITERATIONS 1.3     /* Newton's iterations in a step of BDF, on average: each evaluates and solves */
#define BDF_NONZERO 16         /* solving in them, with what SUNDIALS does around it */
#define BDF_STEPS 2.5          /* steps of BDF for one explicit step of the same accuracy (2 to 3 on smooth models) */
#define BDF_FACTORS 0.1        /* factorisations for each step of BDF, once it has its step length */
/* greatest number of steps of BDF between switchings for which Rosenbrock's method replaces it, */
#define OFTEN_BDF 200
#define OFTEN_ROSENBROCK 100 /* and for which it stays */
#define ROSENBROCK_SAVES 7   /* steps of BDF for one of Rosenbrock's between switchings (4 to 10) */
#define LIMITED_STEPS 15     /* stability-limited steps in a row before BDF is considered */
#define CREEPING 50          /* ratio of the step that the states would allow to the actual one, */
#define CREEPING_LOOKS 8     /* at so many checks in a row: a state at rest limits the steps */
#define RESTING 15           /* the same, or steps in a row to and fro about the zero of a root, within its tolerance */
#define ERROR_SAFETY 1.5     /* factor of the error estimate before a step length is computed from it */
#define NO_CHANGE 1e-12      /* in tolerances: error, or change of the states, that limits no step */
#define EASY 0.5             /* ratio of its costs to those of the present one at which the explicit method is taken: */
                             /* clearly cheaper, since changing costs steps */
#define FOLLOWS 0.5          /* of rtol^(1/5) times the states' own time: step in which order five follows them */
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

/* A stage evaluates the rates and solves; the Jacobian costs about one more evaluation, the derivative by time two. */
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

/* Step length in which a method of order five can follow the change of the states, over h. The states change by
 * their own size, in the error weights, in the time T = 1/(rtol / |f|); the length is about FOLLOWS rtol^(1/5) T. */
static double
change_over(integrator *g, double h)
{
    scales_weights(g->scales, integrator_state(g, 2), g->weight);
    return FOLLOWS * pow(g->rtol, 1.0 / ORDER) / fmax(g->rtol * vec_wrms(g->n, g->f[2], g->weight) * h, NO_CHANGE);
}

/* Explicit step length that accuracy alone would allow, over h. The error estimate gives it if fast modes are at
 * rest. At the stability limit such modes may dominate the estimate although they are not visible; if they are
 * damped, the change of the states gives it. */
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
        if ((g->creeping >= CREEPING_LOOKS || g->near_rest >= RESTING) && integrator_need_linear(g)) {
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
        g->easy_needed *= 2; /* so that the run does not alternate between methods */
        integrator_change_to(g, EXPLICIT, "no longer stiff");
    }
}
