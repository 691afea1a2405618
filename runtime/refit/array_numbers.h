/* array_numbers.h - numbers of the items of parameter arrays, written where the array is declared
 *
 * `parameter m[n] = 4 [kg];` or `= [4, 4, 5] [kg];` of the model itself. The array gets its numbers one by one, and
 * ends with the last item that is asked for.
 */
#ifndef BG_ARRAY_NUMBERS_H
#define BG_ARRAY_NUMBERS_H

#include "compile.h"
#include "edit.h"

/* "m[3]": the declaration of m, item 3; NULL: no such parameter array in this file with numbers alone. */
const ast_stmt *array_of(const compilation *c, const char *name, size_t *item);
/* The unit's scale: SI over what is written; NAN: it has an offset or is not known. */
double array_scale(const compilation *c, const ast_stmt *array);
/* value [n]: of the items, as written. shorten: the array is declared with n items. */
void array_write(const compilation *c, const ast_stmt *array, const double *value, size_t n, bool shorten, edits *e);

#endif
