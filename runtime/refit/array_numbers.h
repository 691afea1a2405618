/* array_numbers.h - writes numbers for the items of a parameter array into its declaration
 *
 * For `parameter m[n] = 4 [kg];` or `= [4, 4, 5] [kg];` in the model itself. The array is written as a list of numbers
 * that ends with the last requested item.
 */
#ifndef BG_ARRAY_NUMBERS_H
#define BG_ARRAY_NUMBERS_H

#include "compile.h"
#include "edit.h"

/* For "m[3]" the declaration of m, and item 3; NULL: this file has no such parameter array made of numbers alone. */
const ast_stmt *array_of(const compilation *c, const char *name, size_t *item);
/* The scale of its unit (SI over written value); NAN: the unit has an offset or is unknown. */
double array_scale(const compilation *c, const ast_stmt *array);
/* value [n]: of the items, in the written unit. shorten: the array is declared with n items. */
void array_write(const compilation *c, const ast_stmt *array, const double *value, size_t n, bool shorten, edits *e);

#endif
