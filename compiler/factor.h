/* factor.h - LU of square systems whose pattern is known: dense when small or full, KLU else
 *
 * shapes   row[k], column[k]: place of value[k], k < nonzeros; equal places add up
 * scaling  rows and columns by powers of two, so that Pa beside m^3/s does no harm
 */
#ifndef BG_FACTOR_H
#define BG_FACTOR_H

#include "base.h"

typedef struct factor factor;
factor *factor_new(uint32_t n, const uint32_t *row, const uint32_t *column, size_t nonzeros);
void factor_free(factor *f);
/* True when regular; else *singular is a column that depends on those before it. */
bool factor_numeric(factor *f, const double *value, uint32_t *singular);
void factor_solve(const factor *f, double *b);          /* in place */

#endif
