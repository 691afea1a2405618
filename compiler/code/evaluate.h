/* evaluate.h - runs programs: schedule, linear and nonlinear blocks
 *
 * A block's iteration starts from the solution at the last accepted point, fixed until the next one, so that the result
 * is a function of (t, x).
 */
#ifndef BG_EVALUATE_H
#define BG_EVALUATE_H

#include "program.h"

/* What the blocks of all programs of a model share. */
typedef struct block_memory {
    double *start; /* by unknown of equations: solution at the last accepted point */
    bool *started; /* by block: there is one */
    bool any_accepted;
    uint32_t failed;     /* last block that failed, UINT32_MAX: none */
    uint32_t failed_row; /* its unknown that is not determined, or its worst residual */
    bool failed_singular;
} block_memory;

typedef struct evaluator evaluator;

evaluator *evaluator_new(program *g, block_memory *memory);
void evaluator_free(evaluator *v);
/* Parameter values changed: constant matrices are factored anew. */
void evaluator_reset(evaluator *v);
/* Runs the schedule. 0, or 1 when a block has no solution (memory tells which). out may be NULL if the program has no
 * targets. */
int evaluator_run(evaluator *v, double t, const double *x, const double *modes, double *out);
/* Materialised variables after a run. */
const double *evaluator_variables(const evaluator *v);
/* Determinants of the blocks' matrices at the last run, by block of the equations; of blocks that are not in the
 * program nothing is written. */
void evaluator_determinants(const evaluator *v, double *by_block);
/* Keeps the blocks' solutions of the last run as starts. */
void evaluator_accept(evaluator *v);

#endif
