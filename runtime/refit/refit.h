/* refit.h - after a reduction, the numbers of what stayed fitted to what the full model does
 *
 * The outputs that the reduction reports on are brought as near to those of the text as given as they come, in the
 * experiments themselves: least squares over uniform grids with exact derivatives (identify.h), each output weighed by
 * its tolerance, or its size without one. Parameters keep their sign. Only numbers in the lines of parameters change.
 * An output that a fit brings out of a tolerance which it kept, or leaves further off than it was, counts for more in
 * the next; where that does not help, or nothing gets better, the fit is not taken. The search is given a number of
 * steps: each costs a run of every experiment with the derivatives by all its numbers.
 */
#ifndef BG_REFIT_H
#define BG_REFIT_H

#include "reduce.h"

typedef struct refit_options {
    const char *const *experiment;
    size_t nexperiments;
    const char *parameters; /* names with commas; NULL: all numbers of the text that are left */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
} refit_options;

enum refit_result { REFIT_DONE, REFIT_NOT_TAKEN, REFIT_FAILED };
/* given: the text that *r came from. The changes are a round of *r, an operation each ("refit", with the number that
 * was); errors are measured anew; *why (free it) where the search did not come to its end. NOT_TAKEN, FAILED: *r is as
 * it was, *why says why; FAILED: what was asked for cannot be done. */
enum refit_result reduction_refit(const char *path, const char *given, size_t ngiven, const refit_options *o,
                                  reduction *r, char **why);

#endif
