/* simulate_inside.h - what the simulate_*.c files share: a run under way; nobody else includes it */
#ifndef BG_SIMULATE_INSIDE_H
#define BG_SIMULATE_INSIDE_H

#include <time.h>

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

#define LIMIT_EVERY 16 /* steps, or pieces of them, between looks at the clock */

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
    } looked;       /* the margin at the end of the last step, while no mode has changed */
    pieces *pieces; /* NULL: steps are looked at as they are */
    reach *reach;   /* NULL: nothing happens that depends on time alone */
    bool blocks;
    double fold;    /* where blocks leave their branch in a step that is taken anew up to there; else INFINITY */
    unsigned folds; /* times that it was taken anew */
    double *x, *x_probe, *inner[3]; /* present state; scratch; states inside a step */
    double *x_first;                /* the state that the first step set out from */
    double *x_most;     /* greatest magnitude of each state so far, in a model with constraints; else NULL */
    VEC(double) border; /* of the union of windows: from, to, from, to, ... ascending */
    size_t next_border;
    bool inside; /* of a window */
    size_t grid; /* next grid point */
    size_t station;
    VEC(double) event;
    VEC(double) parted;
    bool bent;    /* it is only that delayed values bend here */
    bool resumes; /* what happened at the present time left the equations as they were */
    bool ended;
    double ended_at;                 /* by `stop when` */
    double piece_from, *piece_begin; /* for delays: where the piece at hand begins, and its state there */
    double *x_before, *modes_before; /* for a follower: where the last piece ended, and its modes */
    delays *delays;                  /* NULL: the model has none */
    const sim_follower *follow;      /* the options', or the audit */
    sim_follower audited;
    audit *audit;
    watch *watch;
    struct timespec began;
    size_t unlooked; /* steps and pieces since the last look at the clock */
} run;

struct crossing {
    bool found, at_start;
    bool cut; /* nothing contradicts there: just behind it blocks have no solution that leads on */
    double t, t_seen;
};

/* ---- simulate.c ---- */
double run_tiny(const run *s, double t);

/* ---- simulate_fail.c ---- */
bool run_fail_evaluation(run *s, double t, const double *x);
bool run_fail_small_step(run *s);
bool run_fail_steps(run *s, double t);

/* At the rate so far there will be more switchings than steps are allowed: better said now than in an hour. Who allows
 * a number of steps is believed. */
bool run_never_ends(const run *s);
bool run_fail_switchings(run *s);

/* The explicit method was asked for, and creeps: better said now than in an hour. Who allows a number of steps is
 * believed. */
bool run_creeps(const run *s, size_t step);
bool run_fail_stiff(run *s);
bool run_fail_unsolved(run *s);

/* A state has grown beyond all numbers in the step from t0. */
bool run_fail_overflow(run *s, double t0);
bool run_fail_time(run *s, size_t steps);
bool run_fail_told(run *s);

/* Has the time that the run may take passed? Not every step looks at the clock. */
bool run_out_of_time(run *s);

/* ---- simulate_record.c ---- */
bool run_emit(run *s, double t, const double *x);

/* Takes what the smooth piece [t0, t1] of the last step gives; its end state is s->x. */
bool run_take_step(run *s, double t0, double t1);
void run_warn_unresolved(const run *s);

/* ---- simulate_crossing.c ---- */

/* Looks for the first condition in the last step that contradicts its mode. The state at t_seen is left in x_probe. */
bool run_find_crossing(run *s, struct crossing *c);
/* Looks for a place in the last step where the rates leap, since the branch of a block's solution ends: c->cut, just
 * before it. At the very start of the step it is none. */
void run_find_fold(run *s, struct crossing *c);

/* The model cannot be evaluated beyond (t, x): perhaps because a condition should have switched there. Then the state
 * moves on past that border by an Euler step below anything the tolerance sees. */
enum events_status run_switch_at_edge(run *s);

#endif
