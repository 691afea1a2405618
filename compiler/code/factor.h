/* factor.h - LU of square systems whose pattern is known: own LU when tiny, LAPACK when small and full, KLU else
 *
 * shapes   compressed columns: rows of column j are row[column[j] .. column[j+1]), ascending; values in the same order
 * scaling  rows and columns by powers of two, so that Pa beside m^3/s does no harm
 * source   KLU: Davis & Palamadai Natarajan (2010), ACM Trans. Math. Softw. 37(3):36
 */
#ifndef BG_FACTOR_H
#define BG_FACTOR_H

#include "base.h"

typedef struct factor factor;

/* The pattern must outlive the factor. tiny_pivot: scaled pivots up to here count as zero (0: only exact zeros do). */
factor *factor_new(size_t n, const int64_t *column, const int64_t *row, double tiny_pivot);
void factor_free(factor *f);
/* True when regular; else *singular is a column that depends on those before it. */
bool factor_numeric(factor *f, const double *value, size_t *singular);
bool factor_solve(factor *f, double *b);
/* The same for several, one behind the other. */
bool factor_solve_several(factor *f, size_t count, double *b); /* in place; after a factor_numeric that was true */
bool factor_solve_transposed(factor *f, double *b);            /* the same with the matrix transposed */
/* Where the matrix is singular, though not elsewhere (of junctions that block in a row only the sum of their efforts is
 * determined): the step of Newton's method from z with the residual r, such that z - *step solves the equations in the
 * least squares. whole: what comes of it is least, and shared evenly; else the step is least. *left (may be NULL): the
 * residual in parts of the unknowns that are there, scaled alike. Takes the cube of n. False: there is none. */
bool factor_shared_step(const factor *f, const double *value, const double *r, const double *z, bool whole,
                        double *step, double *left);
/* Of the last matrix that was regular, at least its sign: what is beyond all doubles stays within them. 0: there was
 * none. */
double factor_determinant(const factor *f);
int factor_sense(const factor *f);    /* the sign alone */
double factor_fill(const factor *f);  /* nonzeros of L+U, estimated before the first factorisation */
double factor_flops(const factor *f); /* of one factorisation */

#endif
