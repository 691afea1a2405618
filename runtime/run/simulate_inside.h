/* simulate_inside.h - a run in progress, shared by the files simulate_*.c; no other file includes it */
#ifndef BG_SIMULATE_INSIDE_H
#define BG_SIMULATE_INSIDE_H

#include "simulate.h"
#include "activity.h"
#include "delays.h"
#include "events.h"
#include "integrator.h"
#include "pieces.h"
#include "quartic.h"
#include "reach.h"
#include "variational.h"
#include "vectors.h"
#include "watch.h"

#define LIMIT_EVERY 16 /* number of steps, or pieces of them, between checks of the clock */

typedef struct run {
    bg_model *model;
    const sim_options *o;
    sim_result *r;
    sources *sources;
    size_t nx, ny, ne;
    double start, stop, t, rtol;
    size_t max_steps;
    integrator *integrator;
    events *events;
    activity *activity;
    struct look {
        double t, m;
    } looked;            /* the margin at the end of the last step, as long as no mode has changed */
    int places;          /* of a piece of a step, behind its beginning, at which conditions are looked at */
    bool waves;          /* conditions may go through many periods in a step: */
    double pace;         /* 1/s: how fast relative margins have moved lately */
    pieces *pieces;      /* NULL: steps are not divided */
    reach *reach;        /* NULL: nothing depends on time alone */
    bool blocks, curved; /* blocks; nets of curved laws: solutions that may end */
    /* the last step is repeated up to here, INFINITY: it is not; and how often that was done. nearer: something within
     * it is doubtful. fold: a block leaves its branch there */
    double nearer, fold;
    unsigned doubts, folds;
    unsigned doubted; /* steps that were repeated for a doubtful switching since doubted_from */
    double doubted_from;
    double *x, *x_probe, *inner[3]; /* present state; work array; states inside a step */
    double *x_first;                /* the state at the beginning of the first step */
    double *x_most;     /* greatest magnitude of each state so far, in a model with constraints; else NULL */
    VEC(double) border; /* borders of the windows: from, to, from, to, ... ascending */
    size_t next_border;
    bool inside; /* inside a window */
    size_t grid; /* next grid point */
    size_t station;
    VEC(double) event;
    VEC(double) parted;
    bool bent;       /* only delayed values have a corner here */
    bool resumes;    /* the event at the present time did not change the equations */
    bool stiff_told; /* the note about many explicit steps stands */
    bool ended;
    double ended_at;                 /* the time at which `stop when` turned true */
    double piece_from, *piece_begin; /* for delays: start of the current piece, and the state there */
    double *x_before, *modes_before; /* for a follower: end of the last piece, and its modes */
    delays *delays;                  /* NULL: the model has none */
    const sim_follower *follow;      /* that of the options, or of the audit */
    sim_follower audited;
    audit *audit;
    watch *watch;
    double began;    /* bg_wall_seconds at the start */
    size_t unlooked; /* steps and pieces since the last check of the clock */
} run;

struct crossing {
    bool found, at_start;
    /* no condition contradicts there: just after it, blocks or curved nets have no solution that continues the
     * present one; t_seen is there */
    bool cut;
    bool doubtful; /* one seems to, by no more than the interpolation's error may do: the step has to end there, at t */
    double t, t_seen;
};

/* ---- simulate.c ---- */
double run_tiny(const run *s, double t);

/* ---- simulate_fail.c ---- */
bool run_fail_evaluation(run *s, double t, const double *x);
bool run_fail_small_step(run *s);
bool run_fail_steps(run *s, double t);

/* At the present rate there will be more switchings than steps allowed: reports this at once instead of after an hour.
 * Not if the user set a number of steps. */
bool run_never_ends(const run *s);
bool run_fail_switchings(run *s);

/* The explicit method was requested where stability alone limits its steps, and the run needs more of them than it may
 * take: an error at once instead of after an hour. Needs it fewer, but very many, that is said once, and the run goes
 * on. Neither if the user set a number of steps. */
bool run_creeps(run *s, size_t step);
bool run_fail_unsolved(run *s);

/* Reports a state that overflowed in the step from t0. */
bool run_fail_overflow(run *s, double t0);
bool run_fail_time(run *s, size_t steps);
bool run_fail_told(run *s);

/* Has the allowed wall-clock time passed? Not every call reads the clock. */
bool run_out_of_time(run *s);

/* ---- simulate_record.c ---- */
bool run_emit(run *s, double t, const double *x);
/* The last point. */
bool run_emit_end(run *s);

/* Records the smooth piece [t0, t1] of the last step; its end state is s->x. */
bool run_take_step(run *s, double t0, double t1);
void run_warn_unresolved(const run *s);

/* ---- simulate_crossing.c ---- */

/* Finds the first condition in the last step that contradicts its mode. Leaves the state at t_seen in x_probe. */
bool run_find_crossing(run *s, struct crossing *c);
/* Conditions that turn at one instant with the one that was found at c->t: moves c->t_seen and the state there, `seen`,
 * behind them all. */
void run_see_instant(run *s, struct crossing *c, double *seen);
/* At the end of a step: switches what turns at the known instant there, and is before its border by rounding only. */
enum events_status run_switch_at_known(run *s);
/* Finds a place in the last step where the rates jump because the branch of a block's solution ends: c->cut, just
 * before it. A jump at the beginning of the step does not count. False: in so short a step no jump matters. */
bool run_find_fold(run *s, struct crossing *c);
/* Does the solution end within `most` ahead of (t, x), along the rates there, which are then in inner[0]? *at: s,
 * within which it does. */
bool run_fold_ahead(run *s, double most, double *at);
/* If it does, by less than what is tolerated of the states: moves these to just behind that place. */
bool run_pass_fold(run *s);

/* The model cannot be evaluated beyond (t, x), perhaps because a condition should have switched there. Moves the state
 * across that border by an Euler step that is far below the tolerance. */
enum events_status run_switch_at_edge(run *s);

#endif
