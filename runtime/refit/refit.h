/* refit.h - after a reduction, fits the numbers of the reduced text to the behaviour of the full model
 *
 * The reported outputs are fitted to those of the full text in the experiments themselves: least squares over uniform
 * grids with exact derivatives (identify.h), each output weighted by its tolerance, or by its size where it has none.
 * Parameters keep their sign. Only numbers in declarations of parameters change. If a fit takes an output out of a
 * tolerance that it kept, or makes its error larger than before, that output gets a greater weight in the next fit; if
 * that does not help, or nothing improves, the fit is rejected. The number of steps is limited, because each step runs
 * every experiment with the derivatives by all numbers.
 */
#ifndef BG_REFIT_H
#define BG_REFIT_H

#include "reduce.h"

typedef struct refit_options {
    const char *const *experiment;
    size_t nexperiments;
    const char *parameters; /* names separated by commas; NULL: all numbers left in the text */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
} refit_options;

enum refit_result { REFIT_DONE, REFIT_NOT_TAKEN, REFIT_FAILED };
/* given: the text that *r was made from. The changes become a round of *r, one operation each ("refit", with the former
 * number); errors are measured again; *why (free() it) where the search did not converge. NOT_TAKEN, FAILED: *r is
 * unchanged, *why says why; FAILED: the request cannot be carried out. */
enum refit_result reduction_refit(const char *path, const char *given, size_t ngiven, const refit_options *o,
                                  reduction *r, char **why);

#endif
