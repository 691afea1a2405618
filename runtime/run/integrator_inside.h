/* integrator_inside.h - what the integrator_*.c files share; nobody else includes it */
#ifndef BG_INTEGRATOR_INSIDE_H
#define BG_INTEGRATOR_INSIDE_H

#include <cvodes/cvodes.h>

#include "integrator.h"
#include "activity.h"
#include "linear.h"
#include "quartic.h"
#include "scales.h"
#include "variational.h"
#include "vectors.h"

enum kind { STATIC, EXPLICIT, BDF, ROSENBROCK, MIDPOINT }; /* STATIC: a model without states; MIDPOINT: variational.h */
#define NEAR_LIMIT 0.5    /* of the longest stable step: a longer step counts as limited by stability */
#define RHO_EVERY 25      /* steps between two estimates of the spectral radius */
enum { REMEMBERED = 16 }; /* latest combinations of modes whose radius is kept: a converter repeats a few */
#define GROWTH 20         /* greatest ratio of a step to the one before it, except for the second step of a start */
#define STATIC_STEPS 1000 /* least number of steps of a model without states */
/* Longest stable step of the explicit method times the spectral radius, for a dominant eigenvalue that is not near the
 * imaginary axis. */
#define REACH 2.9

struct integrator {
    bg_model *model;
    size_t n;
    double rtol, start, stop;
    scales *scales;
    enum sim_solver want;
    enum kind kind, next;
    bool begun, restart;

    SUNContext context;
    N_Vector y[3]; /* states at the start of the previous step, and at the start and the end of the last one */
    double *f[3];  /* their rates (explicit only) */
    double *bend;  /* term of degree four of the dense output of a first explicit step (integrator_dense.c) */
    bool bend_known;
    bool first;           /* the last step was the first one of its method */
    bool stopped;         /* it was cut short by the time at which it had to end: its length says nothing of the next */
    double *bent[4];      /* [n] scratch of bend_of_step; NULL: no law bends sharply or has an infinite slope */
    bool unseen;          /* rates may rise and fall again while the states change little (model_bends_over) */
    uint64_t bent_from;   /* bends are checked for from this step on; */
    uint64_t bent_pause;  /* the number of steps to leave out after the next check that ends without a result */
    double set_out;       /* length of the first step after a start; 0: the method finds one */
    double set_out_from;  /* time of the last start */
    uint64_t set_out_at;  /* number of steps before the last start */
    uint64_t smooth_from; /* number of steps before the last start or the last sample */
    bool switching;       /* switchings follow one another within few steps */
    bool between;         /* Rosenbrock's method was used already, and is named in `method` */
    double t[3];
    bool history; /* y[0] and f[0] are the start of the previous step, and nothing switched since */
    double *scratch, *scratch2;
    /* laws with infinite slopes (roots at zero) */
    bool *rooted;  /* [n] states that such laws read; NULL: there are none, and the other arrays of this group are NULL
                      too */
    bool *emptied; /* [n] states that came to rest at such a zero in this run (integrator_rest.c) */
    double *iterate;     /* [3n] states and rates of BDF's last evaluation, and its weights */
    uint64_t rest_from;  /* states at rest are looked for from this step on; */
    uint64_t rest_pause; /* the number of steps to leave out after the next check that finds none */
    bool settles;        /* dense output may be settled: there are no such laws, and no modes are searched for */
    bool renews;    /* there are such laws and ideal switches: the Jacobian is evaluated again before it is outdated */
    double *before; /* [2*nonzeros] then: its entries, and their greatest absolute values; NULL: none yet */
    long renewed;   /* BDF's step in which it was evaluated last; */
    long every;     /* the number of steps after which it is evaluated again; 0: the library decides */
    double *beside; /* [n] the point near the state at which the Jacobian is evaluated; */
    double near;    /* its distance from the state, in usual distances; */
    double strayed; /* its greatest distance: by how many tolerances BDF's corrector moved the states last; */
    long unsolved;  /* number of failures of BDF's corrector when it was evaluated last */

    double *weight;    /* [n] */
    VEC(size_t) still; /* states without a rate */
    /* Norms of errors are means over all states. States without a rate have no error and would make the mean too small:
     * this factor makes it the mean over the others. */
    double of_moving;
    VEC(size_t) choosing; /* modes that select the branch of a law; not those of floor(), nor conditions of events */

    struct rosenbrock *rosenbrock;
    variational *variational;
    bool masses_move;
    bool rated[3]; /* are the rates f[i] known? Explicit methods: [2] alone, of the point from which they start */
    struct explicit_method *explicit;
    void *cvode;
    /* BDF's own iterations; NULL: that of the library. */
    struct newton *newton; /* if a law approaches a limit (integrator_newton.c) */
    bool at_root;          /* the last correction of its iteration was cut short at the zero of a root */
    struct roots *roots;   /* if a law may have an infinite slope and none approaches a limit (integrator_roots.c) */
    linear *linear;
    SUNMatrix matrix;
    SUNLinearSolver solver;

    bool failed; /* an evaluation failed since the last accepted step */

    struct direction {
        double *v;
        double rho, reach;
        int age;
    } leader, scout; /* [n] vectors of the power iteration */
    bool scouting;
    struct remembered {
        uint64_t modes;
        double rho, reach;
        double step;    /* length that the explicit method proposed after its first step in these modes; 0: none */
        unsigned left;  /* further switchings for which rho is used without a new estimate; */
        unsigned pause; /* that number after the next estimate that confirms rho */
    } remembered[REMEMBERED], /* the latest combinations of modes */
        *now;                 /* the present one, or NULL */
    unsigned next_remembered;
    uint64_t idle[REMEMBERED]; /* the latest combinations of modes in which states of unknown size were examined, */
    unsigned nidle;            /* and how many were entered */
    double rho, reach;         /* the leader's spectral radius; longest stable step * rho */
    unsigned until_rho;        /* steps until its next estimate */
    uint64_t listens_at;       /* rounding in the rates may be measured from this step on; */
    uint64_t pause;            /* the number of steps left out before that */
    /* counts of integrator_choice.c, in a row */
    unsigned limited;     /* explicit steps that stability limits */
    unsigned creeping;    /* checks at which explicit steps were far shorter than the moving states would allow */
    unsigned easy;        /* implicit steps that would have been cheaper as explicit ones; */
    unsigned easy_needed; /* number of these before the method changes back */
    unsigned young;       /* steps until BDF has found its step length */
    unsigned near_rest;   /* steps after each of which a state was about to pass the zero of a root */
    unsigned soon;        /* switchings, each a short time after the previous one */

    uint64_t steps, rhs, failures, switches;
    long cv_failures; /* those of CVODES since its last start that `failures` has */
    strbuf method;

    /* a model without states */
    double static_step;     /* its step length */
    size_t nelements;       /* elements whose powers the steps must resolve, or 0 */
    double *power[5], *top; /* [nelements] powers at five times in a step; greatest |power| so far */
};

/* ---- integrator.c ---- */
static inline double *
integrator_state(const integrator *g, int i)
{
    return NV_DATA_S(g->y[i]);
}

/* w[n]: reciprocals of the errors of the states x that the present method tolerates in one step. */
void integrator_weights(const integrator *g, const double *x, double *w);
int integrator_evaluate(integrator *g, double t, const double *x, double *f);
bool integrator_need_linear(integrator *g);

/* Rates at the ends of a variational step, for its dense output. */
bool integrator_midpoint_rates(integrator *g);

/* Sets states without a rate in x to their values at the start of the step: interpolation would change their last
 * digits. */
void integrator_keep_still(const integrator *g, double *x);

/* ---- integrator_library.c ---- */
/* Starts the method of the present kind at (t[2], y[2]), with a step that does not pass `until`. False: there is no
 * Jacobian, or the rates there cannot be evaluated. */
bool integrator_prepare(integrator *g, double until);

/* ---- integrator_newton.c ---- */
/* Replaces BDF's convergence test by one that small states pass only if they have converged too. like: a state vector.
 */
struct newton *newton_new(void *cvode, N_Vector like, SUNContext context);
void newton_free(struct newton *n);

/* ---- integrator_dense.c ---- */
/* Flows of fast modes are small differences of large terms, such as those of a reaction near its equilibrium: an error
 * of the states within their tolerance may be a large relative error of such a flow. This estimates that error, for
 * flows that act during a step of this length. Above CANCELS, flows count as such differences. */
double integrator_cancellation(const integrator *g, double step);
#define CANCELS 1e-4

/* ---- integrator_roots.c ---- */
/* Replaces BDF's Newton iteration by one for laws with infinite slopes. It reads g->at_root and sets g->strayed. */
struct roots *roots_new(integrator *g);
void roots_free(struct roots *r);

/* ---- integrator_jacobian.c ---- */
/* The point at which the Jacobian of the state x is evaluated: near x, if slopes may be infinite; otherwise x. */
const double *integrator_beside(integrator *g, const double *x);
/* CVODES calls this to form I - gamma J. The Jacobian is evaluated again if it has to be. */
int integrator_linear_system(realtype t, N_Vector x, N_Vector f, SUNMatrix a, booleantype kept, booleantype *fresh,
                             realtype gamma, void *data, N_Vector t1, N_Vector t2, N_Vector t3);
/* BDF starts: the Jacobian is evaluated in each step until it is known how fast it changes. */
void integrator_renew_from_start(integrator *g);

/* ---- integrator_explicit.c ---- */
struct explicit_method *explicit_new(size_t n, bool projects);
void explicit_free(struct explicit_method *e);
/* Starts at (t[2], y[2]) with a step of the length `hand`; 0: it finds a length. False: the rates there cannot be
 * evaluated. */
bool explicit_begin(integrator *g, double hand, double until);
/* Continues with the present step length after states without a rate were set. */
void explicit_resume(integrator *g);
/* One accepted step from (t[1], y[1]) with the rates f[1], to the state y[2] with the rates f[2]. < 0: no step could be
 * made. */
int explicit_advance(integrator *g, double until, double least, double *t_end);
/* The term of degree four of dense output in a first step: h s²(1-s)² times this is added to the cubic at s in [0, 1].
 */
void explicit_bend(const integrator *g, double *to);
double explicit_next(const struct explicit_method *e);
const double *explicit_error(const struct explicit_method *e);

/* ---- integrator_rosenbrock.c ---- */
struct rosenbrock *rosenbrock_new(size_t n);
void rosenbrock_free(struct rosenbrock *r);
/* Starts at (t[2], y[2]) with the rates f[2] and a step of the length `hand` at most. */
void rosenbrock_begin(integrator *g, double hand);
/* One accepted step from (t[1], y[1]) with the rates f[1], to the state y[2]. < 0: no step could be made. */
int rosenbrock_advance(integrator *g, double until, double least, double *t_end);
void rosenbrock_dense(const integrator *g, double t, double *x);
void rosenbrock_slope(const integrator *g, double t, double *slope); /* its derivative */
double rosenbrock_next(const struct rosenbrock *r);
const double *rosenbrock_error(const struct rosenbrock *r);

/* ---- integrator_rest.c ---- */
/* At the end of the last step: sets states to exactly zero that are within their tolerance of the zero of a root, if
 * the root drives them to zero from both sides. True: there were some. */
bool integrator_come_to_rest(integrator *g);
/* Was state i set to zero by integrator_come_to_rest, and is it still there with a rate of zero? f: the rates at x. */
bool integrator_rests_at_root(const integrator *g, size_t i, const double *x, const double *f);

/* ---- integrator_radius.c ---- */

/* Numbers between -1 and 1, the same in every run. */
double integrator_scatter(size_t i, uint64_t seed);
/* How far ahead rates are evaluated to see what moves: the reciprocal of the spectral radius, as far as that is known.
 */
double integrator_look_time(const integrator *g);
/* Updates the sizes of states from the rates f at (t, x); all: see scales_from_rates. */
void integrator_follow_rates(integrator *g, double t, const double *x, const double *f, bool all);
/* Updates them from later values of inputs. Without that, a state at rest before a pulse would have almost no
 * tolerance, and its first insignificant digits would shorten the steps. _motion: from the values a time
 * integrator_look_time ahead, since the rates are rounding only at the instant at which an input passes through zero.
 */
void integrator_foresee_peaks(integrator *g, double t, const double *x);
void integrator_foresee_motion(integrator *g, double t, const double *x);
void integrator_spectral_radius(integrator *g, double t, const double *x, const double *f, int pairs);

/* Measures the rounding in the rates at (t[2], y[2]), which may be all that very short steps follow. True: a tolerance
 * was raised because of it. */
bool integrator_hears_noise(integrator *g);
/* Does so now and then while the steps are very short. */
void integrator_listen(integrator *g);

/* After a switching: the spectral radius. One pair of products confirms the radius that these modes had before; only if
 * it differs, more are made. */
void integrator_radius_again(integrator *g, double t, const double *x, const double *f);

/* After a switching: may sizes of states be found that were unknown so far? Not if the rates of these states are zero
 * and they were examined in the same modes before. */
bool integrator_sizes_may_show(integrator *g, double t, const double *x);
/* Finds them. */
void integrator_show_sizes(integrator *g, double t, const double *x);

/* Finds spectral radius and sizes when neither is known. Each needs the other, so they are found in turn. */
void integrator_find_sizes(integrator *g, double t, const double *x);

/* ---- integrator_choice.c ---- */
/* After a switching, `steps` after the previous one: chooses the implicit method. A Rosenbrock method loses its order
 * where the Jacobian is infinite, so models with roots keep BDF. */
void integrator_set_out_implicit(integrator *g, uint64_t steps);
/* Replaces Rosenbrock's method by BDF once nothing has switched for many steps. */
void integrator_give_way(integrator *g);
void integrator_change_to(integrator *g, enum kind next, const char *why);

/* After each step: should the other kind of method go on? cut: the step was shortened by the time at which it had to
 * end. */
void integrator_decide(integrator *g, bool cut);
/* After a switching, a time `since` behind the one before. Beside a root in one direction, through which a vessel
 * follows what feeds it by less than the tolerances, the errors of explicit steps may switch it again and again. */
void integrator_decide_by_switchings(integrator *g, double since);

/* ---- integrator_bends.c ---- */

/* A step of a model without states: so short that a polynomial of degree four follows the powers. */
enum integrator_status integrator_static_step(integrator *g, double until);

/* Does a second error estimate reject the step? The method's own estimate holds for smooth rates. If a law bends
 * sharply within the step (a diode begins or ceases to conduct), it may have any value, and it misses a bend early in
 * the step. The second one compares the dense output with the integral of the rates along it. Where the rates are
 * smooth it is of order six and far below the tolerance. tries: how often this step was rejected by it. */
bool integrator_bends(integrator *g, unsigned tries);

/* May a function in the rates rise and fall again within the step, so that its ends do not show it (model_clear)? Then
 * the step is to be taken again, as far as the place where that begins. */
bool integrator_goes_unseen(integrator *g, unsigned tries);

#endif
