/* simulate.h - advances a compiled model over an experiment's span and gathers what was asked for
 *
 * units    SI; shapes as in model.h
 * errors   false with a diagnostic in the model's sources (code "run-...": the element, the state, the source line and
 *          the time)
 */
#ifndef BG_SIMULATE_H
#define BG_SIMULATE_H

#include "activity.h"
#include "audit.h"
#include "track.h"

/* Relative tolerances that mean something: below, rounding decides; above, the error estimate itself is no estimate. */
#define LEAST_RTOL 1e-13
#define GREATEST_RTOL 0.1
/* Where nothing is said. */
#define SIM_RTOL 1e-6
#define SIM_MOST_STEPS 50000000

enum sim_solver { SIM_AUTO, SIM_EXPLICIT, SIM_BDF, SIM_VARIATIONAL };

/* Followed along a run: where it starts, each smooth piece (modes are those of the piece; dense gives the states within
 * it), and what happens between two pieces. False ends the run; the diagnostic is the follower's. */
typedef bool sim_dense(void *of, double t, double *x);
void sim_scales(void *of, double *scale); /* how large the states are (scales.h); of: what a piece is given */
typedef struct sim_follower {
    bool (*start)(void *ctx, double t, const double *x);
    bool (*piece)(void *ctx, double t0, double t1, sim_dense *dense, void *of);
    bool (*jump)(void *ctx, double t, const double *before, const double *modes_before, const double *after);
    void (*fire)(void *ctx, size_t when, bool first, const double *x); /* before a jump: that `when` acts on x, modes as
                                                                           they are; first: sample. May be NULL */
    void *ctx;
} sim_follower;

typedef struct sim_options {
    double start, stop;
    double rtol, atol; /* <= 0: defaults (rtol 1e-6; atol from rtol and the states' sizes) */
    enum sim_solver solver;
    size_t points;       /* uniform grid from start to stop, both included; 0: no trajectories; at least 2 else */
    bool outputs;        /* outputs on the grid */
    bool finite_outputs; /* one without a finite value ends the run; else the run goes on, and nunfinite tells */
    bool states;         /* states on the grid */
    bool parted;         /* keeps the times at which what is computed may jump */
    bool modes;          /* modes on the grid: those that a point's outputs are taken with */
    bool activity;       /* integrals of |P| and P^2 and P for each element over the windows */
    const activity_extra *extra; /* further channels to integrate with the powers, or NULL */
    const activity_sampler *sampler;
    size_t nsamplers; /* of the channels, over the windows */
    track *track;     /* keeps outputs over the whole span, its `which` and n being set; NULL: none */
    size_t nwindows;
    const double *window_from, *window_to; /* none: the whole span */
    size_t max_steps;                      /* 0: 50 million */
    double max_seconds;                    /* of the clock on the wall, for the run; 0: as long as it takes */
    double max_step;                       /* s; 0: as far as the tolerance allows. SIM_VARIATIONAL needs it */
    const double *station; /* of SIM_VARIATIONAL: times at which a step has to end, ascending; nstations */
    size_t nstations;
    bool equilibrium; /* start from equilibrium */
    const double *x0; /* NULL: from model_initial */
    bool goes_on; /* x0 is of a motion under way, the instance's modes and solutions hold; else they are forgotten: a
                     run does not depend on those before */
    void (*progress)(void *ctx, double t, uint64_t steps);
    void *ctx;                  /* now and then; may be NULL */
    const sim_follower *follow; /* may be NULL */
    bool audit;                 /* accounts for energy (audit.h); not beside a follower */
    int (*told_to_stop)(
        void); /* looked at between steps: where it is not 0 the run ends there, with an error; may be NULL */
} sim_options;

typedef struct sim_result {
    size_t points;
    double *time;            /* [points] */
    double *output;          /* [points][noutputs], or NULL */
    double *state;           /* [points][nstates], or NULL */
    double *mode;            /* [points][nmodes], or NULL */
    double *activity;        /* [nelements] J: union over windows; behind them, here and below, the extra channels */
    double *square;          /* [nelements] integral of P^2, W^2 s */
    double *net;             /* [nelements] integral of P, J */
    double window_length;    /* s, of the union of windows */
    double *x_start, *x_end; /* [nstates] */
    size_t nunfinite; /* outputs that were not finite somewhere on the grid: each has an error ("run-output") though the
                         run went on */
    size_t nevents;
    double *event; /* times at which something switched */
    size_t nparted;
    double *parted;      /* these, those of samples, and where delayed values jump; or NULL */
    size_t nsamples;     /* taken by `every` */
    double t_end;        /* where the run ended: o.stop, or where its `stop when` turned true */
    audit_totals audit;  /* where it was asked for */
    const char *stopped; /* the condition that did so, or NULL */
    uint64_t steps, rhs_evaluations, jacobians, factorizations, switches, error_failures;
    double max_power_sum; /* greatest |sum of all powers| over the step ends, relative to the greatest |P| so far */
    double cpu_seconds;   /* of the integration, without compiling */
    char *method;         /* "explicit", "bdf", "explicit to 0.31 s, then bdf": what was done and why it switched */
} sim_result;

/* Runs. The result is filled (zeroed first); sim_result_free it also after false. */
bool simulate(bg_model *m, const sim_options *o, sim_result *r);
void sim_result_free(sim_result *r);

/* x (in: initial values; out: equilibrium with the inputs of time t). All rates of states that are not only_outputs
 * vanish; what this leaves free keeps its initial value (noted if unstated). False: the error names the states that
 * cannot rest. */
bool equilibrium(bg_model *m, double t, double *x);

/* Fills the numeric options from the flat model's experiment: start, stop, tolerances, windows (arrays malloc'ed into
 * *o, free with sim_options_free). False with a diagnostic if they make no sense (stop before start, window outside,
 * tolerance not positive). */
bool sim_options_from_experiment(bg_model *m, sim_options *o);
void sim_options_free(sim_options *o);

#endif
