/* track.h - outputs over a whole run, piece by piece, so that two runs are compared between their steps and on both
 * sides of what switches in either
 *
 * In each piece of a step (quartic.h) an output is the polynomial of degree four through its five values; at a
 * switching one piece ends with the values before it and the next begins with those after it. The greatest difference
 * of two tracks, and the integrals of its square and of its magnitude, are those of the polynomials over the union of
 * both tracks' borders, not of samples.
 *
 * units    SI
 */
#ifndef BG_TRACK_H
#define BG_TRACK_H

#include "model.h"

/* More values than this are not kept: 512 MB. */
enum { TRACK_MOST_VALUES = 1 << 26 };

typedef struct track {
    const uint32_t *which;
    size_t n;           /* outputs that are kept, by number in the model; the caller's. NULL: the first n */
    size_t nstates;     /* so many of the states are kept too, behind the outputs: from number n on in what follows */
    VEC(double) border; /* piece i is from border[2i] to border[2i+1] */
    VEC(double) value;  /* of piece i, place k, output j: value[(5*i + k)*(n + nstates) + j] */
    bool full;          /* the run went on, but no more was kept */
    /* Another run's track of the same outputs, and what each may differ from it: a run that is further off at some
     * moment ends there. NULL: none. */
    const struct track *against;
    const double *most;
    double slack; /* it ends only where it is so many times further off; 0: once */
    bool beyond;  /* it ended so. At `since`, output number `off` of those that are kept was off first, by `by` */
    double since;
    size_t off;
    double by;
    size_t piece;       /* of `against`, that the last moment was in */
    double *all, *last; /* scratch: every output at one moment; the kept ones at the end of the last piece */
    double t;           /* where the last call ended, or the place that is not finite */
} track;

/* Status beyond those of model.h: an output that is kept has no finite value at (t, x), `all` has the outputs there;
 * `beyond`. */
enum { TRACK_NOT_FINITE = 2, TRACK_BEYOND = 3 };

void track_free(track *t);
/* A stretch begins at (t, x): at the start and after each switching. Status as the evaluations of model.h. */
int track_begin(track *k, bg_model *m, double t, const double *x);
/* A piece from where the last call ended to t; x[0..2] at the places of quartic.h, x[3] at its end. */
int track_step(track *k, bg_model *m, double t, const double *const x[4]);

typedef struct track_difference {
    double max, at;   /* greatest |a - b| and when; not a number where one of them is not */
    double rms, mean; /* of a - b: root of the mean square, mean of the magnitude, over the time that both cover */
    double reference; /* mean of |a| */
} track_difference;

/* Of kept output i of a and j of b; b NULL: of a against zero. */
track_difference track_compare(const track *a, size_t i, const track *b, size_t j);

/* Kept output i at a time; where it jumps there, behind that. */
double track_value(const track *k, size_t i, double t);

#endif
