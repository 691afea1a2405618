/* together.h - what parts taken out together are predicted to do to outputs that are held
 *
 * To first order what each does adds up (part_errors.h), with its sign, at each time and in each output: two that push
 * an output opposite ways go where neither may go alone, and what moves another output than the one that is at its
 * tolerance may go too. It decides nothing: it tells which of the trials to come are worth being made ahead
 * (foretell.h).
 *
 * units    parts of the tolerance of the output
 */
#ifndef BG_TOGETHER_H
#define BG_TOGETHER_H

#include "part_errors.h"

struct search;
struct candidate;
struct version;

/* More numbers than this are not looked at. */
enum { TOGETHER_MOST = 640 };

struct together {
    part_moves *of; /* by experiment */
    size_t n;       /* numbers in all; 0: nothing is known */
    double *tolerance;
};

/* of: by experiment, in the order of the outputs that are held to a tolerance. Takes it over. */
void together_open(struct search *d, part_moves *of);
void together_free(struct search *d);
/* Adds what a candidate does, read so, to n numbers. False: it is not known. */
bool together_add(const struct search *d, const struct candidate *x, int reading, double *sum);
/* How far off a version is that ran to its end: n numbers. */
void together_measure(const struct search *d, const struct version *v, double *off);
/* The greatest magnitude of n numbers */
double together_worst(const struct search *d, const double *sum);

#endif
