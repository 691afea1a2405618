/* factor.h - LU factorisation of sparse square systems: own LU for tiny ones, LAPACK for small and full ones, else KLU
 *
 * shapes   compressed columns: rows of column j are row[column[j] .. column[j+1]), ascending; values in the same order
 * scaling  rows and columns are scaled by powers of two, so that units (Pa beside m^3/s) do not matter
 * source   KLU: Davis & Palamadai Natarajan (2010), ACM Trans. Math. Softw. 37(3):36
 */
#ifndef BG_FACTOR_H
#define BG_FACTOR_H

#include "base.h"

typedef struct factor factor;

/* The pattern must outlive the factor. tiny_pivot: scaled pivots up to this count as zero (0: only exact zeros). */
factor *factor_new(size_t n, const int64_t *column, const int64_t *row, double tiny_pivot);
void factor_free(factor *f);
/* True if the matrix is regular; else *singular is a column that depends on those before it. */
bool factor_numeric(factor *f, const double *value, size_t *singular);
/* How often pivots were chosen: factor_numeric keeps those of the last matrix as long as they are good. */
size_t factor_choices(const factor *f);
bool factor_solve(factor *f, double *b);
/* The same for several, one behind the other. */
bool factor_solve_several(factor *f, size_t count, double *b); /* in place; only after factor_numeric returned true */
bool factor_solve_transposed(factor *f, double *b);            /* the same with the matrix transposed */

/* ---- several factors of one pattern, for several threads ---- */

/* One for matrices of the same pattern as those of f, which must outlive it. */
factor *factor_beside(const factor *f);
/* f takes over the pivots of another one of the same pattern: factor_numeric then tries these first. */
void factor_follow(factor *f, const factor *of);
/* Like factor_solve_several, in the memory of another factor of the same pattern: several threads may solve with f. */
bool factor_solve_beside(const factor *f, factor *room, size_t count, double *b);

/* For a matrix that is singular here but not everywhere (of junctions that block in series only the sum of their
 * efforts is determined): the Newton step from z for the residual r, such that z - *step solves the equations in the
 * least-squares sense. whole: the result has the least norm, so that unknowns are shared evenly; otherwise the step
 * has. *left (may be NULL): the residual, relative to the unknowns and scaled alike. Takes n^3 operations. False: there
 * is none. */
bool factor_shared_step(const factor *f, const double *value, const double *r, const double *z, bool whole,
                        double *step, double *left);
/* The determinant of the last regular matrix; it is limited to the range of doubles, with the right sign. 0: there was
 * none. */
double factor_determinant(const factor *f);
int factor_sense(const factor *f);    /* the sign alone */
double factor_fill(const factor *f);  /* nonzeros of L+U, estimated before the first factorisation */
double factor_flops(const factor *f); /* of one factorisation */

#endif
