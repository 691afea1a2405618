/* evaluate.h - runs routines: schedule, linear and nonlinear blocks
 *
 * An evaluator has what running one routine writes: variables, parameter data, factors. One thread at a time.
 * A block's iteration starts from the solution at the last accepted point, fixed until the next one, so that the result
 * is a function of (t, x).
 */
#ifndef BG_EVALUATE_H
#define BG_EVALUATE_H

#include "routine.h"

/* Shared by all evaluators of an instance. */
typedef struct block_memory {
    double *start;      /* by unknown of equations: solution at the last accepted point */
    double *seen;       /* by residual, in the order of the unknowns: greatest size of its terms, */
    double *reached;    /* and of an unknown; both at accepted points */
    bool *started;      /* by block: there is such a solution, */
    uint32_t *of_round; /* number of the round of acceptance that it is from */
    uint32_t round;
    int8_t *sense; /* by block: sign of its determinant at the last accepted point; 0: unknown; NULL: not needed */
    double *modes; /* [nmodes] at the last accepted point */
    size_t nmodes;
    bool left;  /* since it was last cleared, a solution did not continue the one at the last accepted point: with the
                   same modes, a determinant changed its sign in between */
    bool leapt; /* likewise, a solution was far from that one: its branch may have ended in between */
    uint32_t failed;     /* last block that failed, NONE: none */
    uint32_t failed_row; /* its undetermined unknown, or its residual with the greatest error */
    bool failed_singular;
    /* Makes optimised code for a routine that runs long. NULL: the code is not improved. False after an error. */
    bool (*optimise)(void *ctx, routine *r);
    void *ctx;
} block_memory;

typedef struct evaluator evaluator;

evaluator *evaluator_new(routine *g, block_memory *memory);
void evaluator_free(evaluator *v);
const routine *evaluator_routine(const evaluator *v);
/* Computes parameter data from the values of parameters and literals (by variable); constant matrices are factored
 * again. Call before the first run. */
void evaluator_set_parameters(evaluator *v, const double *value);
/* The same for what depends on the n changed parameters. False: nothing does. */
bool evaluator_follow_parameters(evaluator *v, const double *value, const uint32_t *changed, size_t n);
/* Removes what runs left behind, except parameter data. */
void evaluator_forget(evaluator *v);
/* Runs the schedule. 0, or 1 when a block has no solution (memory tells which). out may be NULL if the routine has no
 * targets. */
int evaluator_run(evaluator *v, double t, const double *x, const double *modes, double *out);
/* Materialised variables after a run. */
const double *evaluator_variables(const evaluator *v);
/* Determinants of the blocks' matrices at the last run, by block of the equations. Entries of blocks that are not in
 * the routine are left as they are. */
void evaluator_determinants(const evaluator *v, double *by_block);
/* Keeps the solutions of the last run as starts, for blocks that no evaluator has accepted in this round. */
void evaluator_accept(evaluator *v);
/* Has it blocks that no evaluator has accepted in this round? */
bool evaluator_lacks(const evaluator *v);

/* ---- block k of the routine alone, with everything else as at the last run of the schedule (solutions.h). Its
 * unknowns are restored afterwards. ---- */
void evaluator_residuals(evaluator *v, uint32_t k, const double *z, double *r);
/* Newton's method from z0. False: it finds no solution, or one that is not isolated. */
bool evaluator_solve_from(evaluator *v, uint32_t k, const double *z0, double *z);
/* Newton's step at z, which is to be subtracted. False: the matrix is singular there. */
bool evaluator_step(evaluator *v, uint32_t k, const double *z, double *step);
/* For one unknown: a zero between lo and hi, where the residual has the sign of `below` and the opposite sign. */
bool evaluator_solve_between(evaluator *v, uint32_t k, double lo, double hi, double below, double *z);
/* The size of the unknowns at which their terms in a residual reach the terms without unknowns: the least and the
 * greatest over the residuals; INFINITY and 0 if there is none. */
void evaluator_start_sizes(evaluator *v, uint32_t k, double *least, double *greatest);
/* Sets its unknowns to z again, where a search has moved them. */
void evaluator_put_back(evaluator *v, uint32_t k, const double *z);

#endif
