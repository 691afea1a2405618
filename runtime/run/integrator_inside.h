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
#define NEAR_LIMIT 0.5    /* of the stable step: from here on a step counts as limited by stability */
#define RHO_EVERY 25      /* steps between two looks at the spectral radius */
enum { REMEMBERED = 16 }; /* combinations of modes of which it is kept: a converter repeats a few */
#define GROWTH 20         /* a step may be so much longer than the one before it, but for the second */
#define STATIC_STEPS 1000 /* of a model without states over the whole span */
#define REACH 2.9         /* stable step times spectral radius, away from the imaginary axis */

struct integrator {
    bg_model *model;
    size_t n;
    double rtol, start, stop;
    scales *scales;
    enum sim_solver want;
    enum kind kind, next;
    bool begun, restart;

    SUNContext context;
    N_Vector y[3]; /* start of the step before, start and end of the last one */
    double *f[3];  /* their rates (explicit only) */
    double *bend;  /* of a first step of the explicit method (integrator_dense.c) */
    bool bend_known;
    bool first, stopped; /* the last step: was the first of its method; ended because it had to, the libraries then do
                            not say how long the next is */
    double *bent[4];     /* [n] scratch of bend_of_step; NULL: no law bends sharply or has an infinite slope */
    bool unseen;         /* something may happen within little of the states */
    uint64_t bent_from, bent_pause; /* bends are looked for from this step on; how many are left out next */
    double set_out;                 /* length of the first step, or 0: the library finds one */
    double set_out_from;            /* where it begins */
    uint64_t set_out_at;            /* steps made before */
    uint64_t smooth_from;           /* the same, counted from the last sample too */
    bool switching;                 /* they are few from one switching to the next */
    bool between;                   /* ROSENBROCK has been at work */
    double t[3];
    bool history; /* y[0] and f[0] belong to the step before, on the same smooth piece */
    double *scratch, *scratch2;
    bool *rooted;                   /* [n] read by laws that may have an infinite slope; NULL: there are none */
    bool *emptied;                  /* [n] then: came to rest at such a zero in this run (integrator_rest.c) */
    double *iterate;                /* [3n] then: where BDF evaluated the rates last, and these; its weights */
    uint64_t rest_from, rest_pause; /* states at rest are looked for from this step on, as above */
    bool settles;   /* dense output may be settled: no law has an infinite slope, no mode is searched for */
    bool renews;    /* where ideal switches stand among them: the Jacobian is made anew in time */
    double *before; /* [2*nonzeros] then: its entries, and their greatest values; NULL: none yet */
    long renewed;   /* step at which it was made, */
    long every;     /* and after how many more it is made anew; 0: when the library says so */
    double *beside; /* [n] near the state: where the Jacobian is taken then, */
    double near;    /* how near, in parts of the usual distance; */
    long unsolved;  /* number of failures of the corrector when it was taken last */

    double *weight;    /* [n] */
    VEC(size_t) still; /* states without a rate */
    /* a factor on norms of errors, which are means over all states: those without a rate have no error, and would make
     * the mean too small */
    double of_moving;
    VEC(size_t) choosing; /* modes that choose a law: not whole numbers, which count, nor conditions of events */

    struct rosenbrock *rosenbrock;
    variational *variational;
    bool masses_move;
    bool rated[3]; /* f is known there; of explicit methods, where they set out: [2] */
    struct explicit_method *explicit;
    void *cvode;
    struct newton *newton; /* of BDF, where a law approaches a limit; else NULL */
    bool at_root;          /* the last step of its iteration was cut short at the zero of a root */
    struct roots *roots;   /* of BDF, where one may have an infinite slope and none approaches a limit; else NULL */
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
        double rho, reach, step; /* step: of the explicit method, by what its first one was there last, or 0 */
        unsigned left, pause;    /* switchings for which the radius is taken as it is; how many follow then */
    } remembered[REMEMBERED],    /* of combinations of modes, the latest */
        *now;                    /* of the present one, or NULL */
    unsigned next_remembered;
    uint64_t idle[REMEMBERED]; /* the latest combinations of modes in which states without a size showed none, */
    unsigned nidle;            /* and how many there were */
    double rho, reach;         /* spectral radius; stable step * rho: the leader's */
    unsigned until_rho;
    uint64_t listens_at, pause; /* from this step on rounding in rates may be looked at; how many follow then */
    /* counts of integrator_choice.c, in a row: explicit steps that stability limits; looks at which they were far too
     * short for what is left of the run; implicit steps that the explicit method could make too, and how many of these
     * it takes to change back. young: steps until BDF has found its step length */
    unsigned limited, creeping, easy, easy_needed, young;
    unsigned near_rest; /* steps in a row, so far, after each of which a state would pass the zero of a root soon */

    uint64_t steps, rhs, failures, switches;
    long cv_failures; /* of the instance since its last reset */
    strbuf method;

    double static_step;     /* of a model without states */
    size_t nelements;       /* whose powers its steps must follow, else 0 */
    double *power[5], *top; /* [nelements]; greatest |P| so far */
};

/* ---- integrator.c ---- */
static inline double *
integrator_state(const integrator *g, int i)
{
    return NV_DATA_S(g->y[i]);
}

/* What errors of x are weighed with: reciprocals of what is tolerated. */
void integrator_weights(const integrator *g, const double *x, double *w);
int integrator_evaluate(integrator *g, double t, const double *x, double *f);
bool integrator_need_linear(integrator *g);

/* Rates at the ends of a variational step, for its dense output. */
bool integrator_midpoint_rates(integrator *g);

/* States without a rate are what they were when the step began, to the last bit. */
void integrator_keep_still(const integrator *g, double *x);

/* ---- integrator_library.c ---- */
/* The present kind's method sets out at (t[2], y[2]), with a step that ends at `until` at the latest. False: there is
 * no Jacobian, or no rates there. */
bool integrator_prepare(integrator *g, double until);

/* ---- integrator_newton.c ---- */
/* Makes BDF's Newton iteration go on until it has clearly converged. like: a state. */
struct newton *newton_new(void *cvode, N_Vector like, SUNContext context);
void newton_free(struct newton *n);

/* ---- integrator_roots.c ---- */
/* Makes BDF iterate as laws with infinite slopes need it. stopped: the last step of the iteration was cut short at a
 * zero; like: a state. */
struct roots *roots_new(void *cvode, const bool *stopped, N_Vector like, SUNContext context);
void roots_free(struct roots *r);

/* ---- integrator_jacobian.c ---- */
/* Where the Jacobian of x is taken: beside it, where slopes may be infinite. */
const double *integrator_beside(integrator *g, const double *x);
/* What CVODES calls when it wants its linear system formed: the Jacobian is made anew where that is due. */
int integrator_linear_system(realtype t, N_Vector x, N_Vector f, SUNMatrix a, booleantype kept, booleantype *fresh,
                             realtype gamma, void *data, N_Vector t1, N_Vector t2, N_Vector t3);
/* BDF sets out: each step makes it anew until it is seen how it changes. */
void integrator_renew_from_start(integrator *g);

/* ---- integrator_explicit.c ---- */
struct explicit_method *explicit_new(size_t n, bool projects);
void explicit_free(struct explicit_method *e);
/* Sets out from (t[2], y[2]) with a step of the length in hand, or if that is 0 with one that it finds. False: there
 * are no rates. */
bool explicit_begin(integrator *g, double hand, double until);
/* Goes on with the step in hand, though states without a rate were set. */
void explicit_resume(integrator *g);
/* A step from (t[1], y[1]), whose rates are f[1], to y[2] and its rates f[2]. < 0: none could be made. */
int explicit_advance(integrator *g, double until, double least, double *t_end);
/* What a step's cubic lacks, in a first step: h s²(1-s)² times this is added at s. */
void explicit_bend(const integrator *g, double *to);
double explicit_next(const struct explicit_method *e);
const double *explicit_error(const struct explicit_method *e);

/* ---- integrator_rosenbrock.c ---- */
struct rosenbrock *rosenbrock_new(size_t n);
void rosenbrock_free(struct rosenbrock *r);
/* Sets out from (t[2], y[2]) with the rates f[2], with no longer a step than is in hand. */
void rosenbrock_begin(integrator *g, double hand);
/* A step from (t[1], y[1]), whose rates are f[1], to y[2]. < 0: none could be made. */
int rosenbrock_advance(integrator *g, double until, double least, double *t_end);
void rosenbrock_dense(const integrator *g, double t, double *x);
void rosenbrock_slope(const integrator *g, double t, double *slope); /* its derivative */
double rosenbrock_next(const struct rosenbrock *r);
const double *rosenbrock_error(const struct rosenbrock *r);

/* ---- integrator_rest.c ---- */
/* States within tolerance of the zero of a root that leads to it from both sides are put there, at the end of the last
 * step. True: there were some. */
bool integrator_come_to_rest(integrator *g);
/* Was state i put there and is there still, with the rates f? */
bool integrator_rests_at_root(const integrator *g, size_t i, const double *x, const double *f);

/* ---- integrator_radius.c ---- */

/* Numbers between -1 and 1, the same in every run. */
double integrator_scatter(size_t i, uint64_t seed);
/* A time in which the states move by what they are, as far as that is known; so far ahead rates are looked at. */
double integrator_look_time(const integrator *g);
void integrator_follow_rates(integrator *g, double t, const double *x, const double *f, bool all);
/* Sizes from what inputs will do later (without them a state that waits for a pulse would follow its first beginnings
 * below any meaning), and from what time alone makes of the rates within the time that the states take to move (what
 * sets out as an input passes through zero has rates of rounding only). */
void integrator_foresee_peaks(integrator *g, double t, const double *x);
void integrator_foresee_motion(integrator *g, double t, const double *x);
void integrator_spectral_radius(integrator *g, double t, const double *x, const double *f, int pairs);

/* What rounding makes of the rates at (t[2], y[2]): steps that are short for the rest of the run may follow nothing
 * else. Is more tolerated from now on? */
bool integrator_hears_noise(integrator *g);
/* The same, where steps are that short, now and then. */
void integrator_listen(integrator *g);

/* Behind a switching: what little is needed to see that it is what it was, and more where it is not. */
void integrator_radius_again(integrator *g, double t, const double *x, const double *f);

/* Behind a switching: may states that have no size show one? Not those that have no rate either, in modes in which they
 * were looked at. */
bool integrator_sizes_may_show(integrator *g, double t, const double *x);
/* Looks at them. */
void integrator_show_sizes(integrator *g, double t, const double *x);

/* Spectral radius and sizes where nothing is known of either: each needs the other. */
void integrator_find_sizes(integrator *g, double t, const double *x);

/* ---- integrator_choice.c ---- */
/* Behind a switching, so many steps after the one before: which implicit method goes on. At a root's infinite slope one
 * that stands on its Jacobian has no order. */
void integrator_set_out_implicit(integrator *g, uint64_t steps);
/* Nothing has switched for long: Rosenbrock's method leaves the rest to BDF. */
void integrator_give_way(integrator *g);
void integrator_change_to(integrator *g, enum kind next, const char *why);

/* `cut`: the step was shortened by where it had to end. */
void integrator_decide(integrator *g, bool cut);

/* ---- integrator_bends.c ---- */

/* A step of a model without states: as long as the powers look like polynomials of degree four. */
enum integrator_status integrator_static_step(integrator *g, double until);

/* The method's own error estimate believes in smooth rates. Where a law bends sharply (a junction begins to conduct, or
 * ends) it is as good as random, and blind where the bend is early in the step. So in such models a second one is
 * asked; of a smooth step it is of order six, and content. Does it refuse the step? */
bool integrator_bends(integrator *g, unsigned tries);

/* Does something happen within the step that its ends do not show? Then it is to be taken again, to where that begins.
 */
bool integrator_goes_unseen(integrator *g, unsigned tries);

#endif
