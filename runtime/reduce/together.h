/* together.h - predicts the errors of outputs when several parts are taken out together
 *
 * part_errors.h predicts by how much each output moves, at some times, if one part is taken out. To first order these
 * moves add up, with their signs. So two parts that move an output in opposite directions may go together where neither
 * may go alone, and a part may still go if it moves another output than the one that is at its tolerance.
 *
 * A search on several cores tries what is likely to come next before the outcome of the present trial is known; the
 * prediction tells which outcome that is likely to have (bounded_ahead.c). It accepts and refuses nothing itself.
 *
 * What is predicted is one value for each output with a tolerance and each time, in every experiment, as a multiple of
 * the output's tolerance; it is an array of `n` doubles, ordered by experiment, time and output.
 */
#ifndef BG_TOGETHER_H
#define BG_TOGETHER_H

#include "part_errors.h"

struct removable;
struct search;
struct candidate;
struct version;

/* Greatest number of values that are predicted: the outcome of every trial has room for so many (foretell.h), which is
 * enough for sixteen outputs at the forty times of part_errors.c, all experiments together. With more there are no
 * predictions. */
enum { TOGETHER_MOST = 640 };

struct together {
    part_moves *of;          /* by experiment: the moves of outputs by each part */
    size_t n;                /* number of values; 0: there are no predictions */
    struct removable *image; /* what `of` refers to: it remains until together_free even if the search forgets it */
    double *tolerance;       /* of each value's output */
};

/* Begins the predictions of a round. of: by experiment, of the outputs with a tolerance in their order; owned from now
 * on. */
void together_open(struct search *d, part_moves *of);
/* Ends them: call before the text of the round is freed. */
void together_free(struct search *d);
/* Adds the moves by a candidate with this reading to `sum`. False: they are not known. */
bool together_add(const struct search *d, const struct candidate *x, int reading, double *sum);
/* Notes that candidates were accepted: what they alone connected with an output has no effect on it any more. */
void together_take(struct search *d, struct candidate *const *taken, size_t n);
/* Has the candidate, with this reading, no effect on any output after what was accepted? */
bool together_is_idle(const struct search *d, const struct candidate *x, int reading);
/* The values that a version really has, which ran to its end: what is predicted for further parts is added to them. */
void together_measure(const struct search *d, const struct version *v, double *off);
/* The greatest magnitude of the values */
double together_worst(const struct search *d, const double *sum);

#endif
