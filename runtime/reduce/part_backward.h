/* part_backward.h - the backward runs of part_errors.h: data of the model for them, and one share of the times T
 *
 * Only part_errors.c and part_backward.c include it.
 */
#ifndef BG_PART_BACKWARD_H
#define BG_PART_BACKWARD_H

#include <stdatomic.h>

#include "factor.h"
#include "part_errors.h"
#include "shared_points.h"

/* Points of the grid, and number of times T: fewer where there is much to compute or store, so that it takes some
 * seconds at most; with fewer than TIMES_LEAST there is no prediction. */
enum { POINTS = 501, TIMES_MOST = 40, TIMES_LEAST = 4 };

/* What those that share the times T tell each other. */
struct division {
    atomic_size_t left[TIMES_MOST]; /* by share: points that it has not passed */
    atomic_uint owner[TIMES_MOST];  /* by time: the share that computes its runs, from 1 on; 0: open */
    float *moves;                   /* as in part_moves, if they are asked for */
};

/* The LU factors of the step to a point, and the points at which their pivots were chosen, and those tried first (0: in
 * the first runs' own factors). */
struct step_factor {
    factor *of;
    size_t tried, chosen;
    bool fine;
};

/* Data of the model for the backward runs. */
struct backward {
    bg_model *model;
    partials *of;
    var_id *by; /* the factors, which it differentiates by */
    size_t nby;
    struct model_pattern pattern;
    size_t nx, n;        /* states; and kept variables */
    size_t first_output; /* its row */
    size_t nelements;
    struct model_removal *part; /* by element */
    size_t *column_of;          /* of its factor, in the pattern */
    struct shared_points points;
    const double *value, *rate; /* partial derivatives; rates of states: at the present point */
    int64_t *column, *row;      /* of the transposed matrix of states and kept variables */
    uint32_t *from;             /* its entries in the pattern */
    double *matrix;
    factor *analysed;          /* of this pattern, never of numbers */
    factor *begins;            /* where runs begin */
    struct step_factor *steps; /* of the points that are kept, for all shares; behind them, one of this share alone */
    struct step_factor own, *step; /* step: to the present point */
    factor *pivots;                /* as they were at the last point */
    size_t pivots_of;              /* where they were chosen; NO_INDEX: nowhere yet */
    const held_output *held;
    /* number of backward runs that have begun: those of the latest times T, one for each output */
    size_t nheld, ntimes, begun;
    size_t times, share, shares; /* number of times T so far; this share, of so many */
    size_t time[TIMES_MOST];     /* those of the runs that have begun here */
    struct division *division;
    const sim_result *run; /* forwards */
    part_moves *moves;     /* NULL: not computed */
    size_t room;           /* capacity in runs */
    double *w, *right;     /* [run][n], in the order in which they begin */
    double *moved;         /* see moved_at */
};

/* False: there is no prediction. To be closed in any case. */
bool backward_open(struct backward *b, bg_model *m, const held_output *held, size_t nheld);
void backward_close(struct backward *b);
/* The transposed pattern and factors for it, which all shares use. */
void backward_turn_pattern(struct backward *b);
void backward_release_pattern(struct backward *b);
/* The runs of one share. *out: a leading zero, then one error for each element. */
bool backward_run_share(struct backward *b, size_t i, part_error *out);

/* The point of the grid at which the runs of a time begin: the last point, and others evenly spaced before it. */
size_t backward_begins_at(const struct backward *b, size_t time);
void backward_set_modes(const struct backward *b, size_t point);
/* The error in *out for the k-th number of an element: of its factor, or of the rate of its state. */
double *backward_of_reading(const struct backward *b, part_error *out, size_t e, int k);
bool backward_knows_reading(const struct backward *b, size_t e, int k);
void backward_raise(double *to, double error);

#endif
