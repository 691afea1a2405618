/* together.h - predicted effect on outputs of several parts taken out together
 *
 * To first order the effects of parts add up (part_errors.h), with their signs, at each time and in each output: two
 * parts with opposite effects may go together where neither may go alone, and a part that affects another output than
 * the one at its tolerance may go too. The prediction decides nothing: it selects the trials that are worth running
 * ahead (foretell.h).
 *
 * units    shares of the output's tolerance
 */
#ifndef BG_TOGETHER_H
#define BG_TOGETHER_H

#include "part_errors.h"

struct compilation;
struct search;
struct candidate;
struct version;

/* Greatest number of values kept. */
enum { TOGETHER_MOST = 640 };

struct together {
    part_moves *of;            /* by experiment */
    size_t n;                  /* number of values; 0: nothing is known */
    struct compilation *image; /* what `of` was predicted with, by experiment; kept when the search forgets it */
    double *tolerance;
};

/* of: by experiment, in the order of the outputs with a tolerance. Takes it over. Call before the present text is
 * freed: together_free. */
void together_open(struct search *d, part_moves *of);
void together_free(struct search *d);
/* Adds the effect of a candidate, with this reading, to n values. False: it is not known. */
bool together_add(const struct search *d, const struct candidate *x, int reading, double *sum);
/* Candidates that were accepted are taken out: later ones may have no effect any more. */
void together_take(struct search *d, struct candidate *const *taken, size_t n);
/* Has the candidate, with this reading, no effect beside those? */
bool together_is_idle(const struct search *d, const struct candidate *x, int reading);
/* The errors of a version that ran to its end: n values. */
void together_measure(const struct search *d, const struct version *v, double *off);
/* The greatest magnitude of n numbers */
double together_worst(const struct search *d, const double *sum);

#endif
