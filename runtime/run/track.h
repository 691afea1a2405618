/* track.h - outputs over a whole run, piece by piece, so that two runs can be compared between their steps and on both
 * sides of every switching
 *
 * In each piece of a step (quartic.h) an output is the polynomial of degree four through its five values; at a
 * switching one piece ends with the values before it and the next begins with those after it. The greatest difference
 * of two tracks, and the integrals of its square and magnitude, are those of the polynomials over the union of both
 * tracks' borders.
 *
 * units    SI
 */
#ifndef BG_TRACK_H
#define BG_TRACK_H

#include "model.h"

/* Greatest number of values: 512 MB. */
enum { TRACK_MOST_VALUES = 1 << 26 };

typedef struct track {
    const uint32_t *which;
    size_t n;           /* numbers of the recorded outputs in the model; belongs to the caller. NULL: the first n */
    size_t nstates;     /* number of states recorded after the outputs: from index n on */
    VEC(double) border; /* piece i is from border[2i] to border[2i+1] */
    VEC(double) value;  /* of piece i, place k, output j: value[(5*i + k)*(n + nstates) + j] */
    bool full;          /* the limit was reached: the run continued without recording */
    /* The track of another run of the same outputs, and the allowed difference of each: a run that deviates by more
     * ends. NULL: none. */
    const struct track *against;
    const double *most;
    double slack; /* factor on the allowed differences; 0: 1 */
    /* it ended for that reason: at time `since`, recorded output `off` was the first to deviate, by `by` */
    bool beyond;
    double since;
    size_t off;
    double by;
    size_t piece;       /* piece of `against` that contained the last moment */
    double *all, *last; /* work arrays: every output at one moment; the recorded ones at the end of the last piece */
    double t;           /* end of the last call, or the time of a value that is not finite */
} track;

/* Status in addition to those of model.h: a recorded output is not finite at (t, x), `all` has the outputs there;
 * `beyond`. */
enum { TRACK_NOT_FINITE = 2, TRACK_BEYOND = 3 };

void track_free(track *t);
/* A smooth stretch begins at (t, x): at the start and after each switching. Status as the evaluations of model.h. */
int track_begin(track *k, bg_model *m, double t, const double *x);
/* A piece from the end of the last call to t; x[0..2] at the places of quartic.h, x[3] at its end. */
int track_step(track *k, bg_model *m, double t, const double *const x[4]);

typedef struct track_difference {
    double max, at;   /* greatest |a - b| and its time; NAN if one of them is not a number */
    double rms, mean; /* of a - b: root mean square and mean magnitude, over the time that both cover */
    double reference; /* mean of |a| */
} track_difference;

/* For recorded output i of a and j of b; b NULL: a against zero. */
track_difference track_compare(const track *a, size_t i, const track *b, size_t j);

/* Recorded output i at a time; after the jump, if it jumps there. */
double track_value(const track *k, size_t i, double t);

#endif
