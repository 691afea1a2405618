/* least_squares.h - bounded, scaled nonlinear least squares with exact derivatives
 *
 * Levenberg-Marquardt on the triangular factor of the derivatives. The caller passes rows [dr/dtheta, r] one after the
 * other; they are reduced by orthogonal transformations, in blocks, to a triangle of the parameters' size, so that
 * memory does not grow with the data and the condition number is not squared. A parameter at a bound that would leave
 * it is fixed for the step; damping is in units of the columns' norms, which makes steps independent of the parameters'
 * units.
 *
 * Why no library: cminpack's lmstr takes rows one after the other and scales, but has no bounds, and cannot be told
 * between two steps that other parameters are held or that the residuals changed, which the search over active
 * parameters needs. NLopt has bounds, but its methods see the objective and its gradient only, and give no triangle for
 * standard errors and undetermined directions.
 *
 * source   Marquardt (1963), J. SIAM 11(2):431; More (1978), LNM 630:105 (scaling); Nielsen (1999), IMM-REP-1999-05
 *          (damping); Conn, Gould, Toint (1988), SIAM J. Numer. Anal. 25:433 (bounds by projection)
 * shapes   all arrays [n]; matrices by columns
 */
#ifndef BG_LEAST_SQUARES_H
#define BG_LEAST_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

/* ---- reduction of rows to a triangle: |J d + r|^2 = |R d + z|^2 + rest^2 for every d ---- */
typedef struct ls_rows {
    size_t n, count;   /* number of parameters; number of rows so far */
    size_t used, most; /* rows in `block` */
    double *block;     /* [most][n + 1], by columns: the triangle so far, then new rows */
    double *tau;
} ls_rows;
void ls_rows_open(ls_rows *s, size_t n);
void ls_rows_clear(ls_rows *s);
void ls_rows_free(ls_rows *s);
void ls_rows_add(ls_rows *s, const double *derivative, double residual);
/* Completes the triangle: R[n][n] (upper, by columns), z[n]; either may be NULL. Returns |r|^2. */
double ls_rows_triangle(ls_rows *s, double *triangle, double *z);

/* ---- the search ---- */
typedef struct ls_problem {
    size_t n;
    const double *low, *high; /* NULL: no bounds; entries may be infinite */
    /* Adds all rows at theta. False: there are no residuals at theta (a run failed, a matrix is not definite); the step
     * is then shortened. */
    bool (*evaluate)(void *ctx, const double *theta, ls_rows *rows);
    /* Called after each accepted step; true: the problem changed (other residuals, other parameters free) and has to be
     * evaluated again. May be NULL. */
    bool (*accepted)(void *ctx, double *theta);
    const bool *held; /* parameters that are held fixed, read before each step; NULL: none */
    void *ctx;
    double step_tolerance; /* relative; 0: 1e-10 */
    double cost_tolerance; /* smallest relative decrease that a step must predict; 0: 1e-14 */
    double cost_floor;     /* accuracy of the cost: below it, steps that gain little end the search */
    size_t most_steps;     /* 0: 200 */
    /* 0, or the greatest factor by which a parameter that keeps its sign changes in one step; others change by at most
     * as much of their size, or of 1 where they are smaller (parameters are scaled to their likely size). */
    double stride;
} ls_problem;

enum ls_end {
    LS_CONVERGED,
    LS_STEPS,   /* most_steps was not enough */
    LS_STUCK,   /* no step, however short, leads to residuals; theta is the best so far */
    LS_NO_START /* no residuals at the start */
};
typedef struct ls_result {
    enum ls_end end;
    double cost;      /* |r|^2 at theta */
    double *triangle; /* [n][n] R at theta; free() it */
    size_t rows;
    size_t evaluations, steps;
} ls_result;

/* theta: in the start (moved into its bounds), out the best point. */
void least_squares(const ls_problem *p, double *theta, ls_result *r);

#endif
