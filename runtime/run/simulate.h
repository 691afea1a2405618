/* simulate.h - runs a compiled model over the time of an experiment and records what was asked for
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

/* Limits of meaningful relative tolerances: below, rounding dominates; above, the error estimate is not valid. */
#define LEAST_RTOL 1e-13
#define GREATEST_RTOL 0.1
/* Defaults. */
#define SIM_RTOL 1e-6
#define SIM_MOST_STEPS 50000000
/* of a run's length: a stated time (of a window, a datum, an expectation) so close to the run's end belongs to it */
#define TIME_SLACK 1e-9

enum sim_solver { SIM_AUTO, SIM_EXPLICIT, SIM_BDF, SIM_VARIATIONAL };

/* Follows a run: called at its start, for each smooth piece (with the modes of the piece; dense gives the states within
 * it), and for what happens between two pieces. False ends the run; the follower has reported why. */
typedef bool sim_dense(void *of, double t, double *x);
void sim_scales(void *of, double *scale); /* sizes of the states (scales.h); of: as passed with a piece */
typedef struct sim_follower {
    bool (*start)(void *ctx, double t, const double *x);
    bool (*piece)(void *ctx, double t0, double t1, sim_dense *dense, void *of);
    bool (*jump)(void *ctx, double t, const double *before, const double *modes_before, const double *after);
    /* before `when` acts on x, with the present modes; first: a first sample. May be NULL */
    void (*fire)(void *ctx, size_t when, bool first, const double *x);
    void *ctx;
} sim_follower;

typedef struct sim_options {
    double start, stop;
    double rtol, atol; /* <= 0: defaults (rtol 1e-6; atol from rtol and the states' sizes) */
    enum sim_solver solver;
    /* number of points of a uniform grid from start to stop, both included, at least 2; 0: no trajectories */
    size_t points;
    bool outputs; /* outputs on the grid */
    /* an output that is not finite ends the run; otherwise the run continues, and nunfinite counts them */
    bool finite_outputs;
    bool states;                 /* states on the grid */
    bool parted;                 /* records the times at which computed values may jump */
    bool modes;                  /* modes on the grid, as used for the outputs there */
    bool activity;               /* integrals of |P|, P^2 and P for each element over the windows */
    const activity_extra *extra; /* further channels to integrate, or NULL */
    const activity_sampler *sampler;
    size_t nsamplers; /* of the channels, over the windows */
    track *track;     /* records outputs over the whole run; its `which` and n must be set; NULL: none */
    size_t nwindows;
    const double *window_from, *window_to; /* none: the whole run */
    size_t max_steps;                      /* 0: 50 million */
    double max_seconds;                    /* s of wall-clock time for the run; 0: no limit */
    double max_step;                       /* s; 0: as the tolerance allows. Required by SIM_VARIATIONAL */
    const double *station; /* for SIM_VARIATIONAL: ascending times at which a step has to end; nstations */
    size_t nstations;
    bool equilibrium; /* starts from an equilibrium */
    const double *x0; /* NULL: from model_initial */
    /* x0 continues a motion, and the instance's modes and solutions are valid; otherwise they are reset, so that a run
     * does not depend on earlier ones */
    bool goes_on;
    void (*progress)(void *ctx, double t, uint64_t steps);
    void *ctx;                  /* called now and then; may be NULL */
    const sim_follower *follow; /* may be NULL */
    bool audit;                 /* makes an energy balance (audit.h); not possible with a follower */
    int (*told_to_stop)(void);  /* read between steps: nonzero ends the run with an error; may be NULL */
} sim_options;

typedef struct sim_result {
    size_t points;
    double *time;            /* [points] */
    double *output;          /* [points][noutputs], or NULL */
    double *state;           /* [points][nstates], or NULL */
    double *mode;            /* [points][nmodes], or NULL */
    double *activity;        /* [nelements] J: over all windows; followed, here and below, by the extra channels */
    double *square;          /* [nelements] integral of P^2, W^2 s */
    double *net;             /* [nelements] integral of P, J */
    double window_length;    /* s, of all windows together */
    double *x_start, *x_end; /* [nstates] */
    /* number of outputs that were not finite somewhere on the grid: each has an error ("run-output") although the run
     * continued */
    size_t nunfinite;
    size_t nevents;
    double *event; /* times at which something switched */
    size_t nparted;
    double *parted;      /* these times, those of samples, and jumps of delayed values; or NULL */
    size_t nsamples;     /* number of samples taken by `every` */
    double t_end;        /* end of the run: o.stop, or where `stop when` turned true */
    audit_totals audit;  /* if asked for */
    const char *stopped; /* the condition of the `stop when` that ended it, or NULL */
    uint64_t steps, rhs_evaluations, jacobians, factorizations, switches, error_failures;
    double max_power_sum; /* greatest |sum of all powers| at ends of steps, relative to the greatest |P| so far */
    double cpu_seconds;   /* of the integration, without compilation */
    char *method;         /* "explicit", "bdf", "explicit to 0.31 s, then bdf": the methods used and why they changed */
} sim_result;

/* Runs the model. The result is filled (zeroed first); call sim_result_free in any case. */
bool simulate(bg_model *m, const sim_options *o, sim_result *r);
void sim_result_free(sim_result *r);

/* x (in: initial values; out: an equilibrium with the inputs of time t). All rates except those of only_outputs states
 * vanish; states that this does not determine keep their initial values (with a note if these are not stated). False:
 * the error names the states that cannot be at rest. */
bool equilibrium(bg_model *m, double t, double *x);

/* Fills the numeric options from the experiment: start, stop, tolerances, windows (allocated in *o, free with
 * sim_options_free). False with a diagnostic if they are invalid (stop before start, window outside, tolerance not
 * positive). */
bool sim_options_from_experiment(bg_model *m, sim_options *o);
void sim_options_free(sim_options *o);

#endif
