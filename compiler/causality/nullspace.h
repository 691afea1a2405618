/* nullspace.h - null space of a sparse matrix modulo 2^31-1 (used inside causality only)
 *
 * Exact elimination; the pivot is in the shortest row, and there in the column with the fewest entries. Rows with one
 * or two entries, nearly all in a bond graph, cause no fill-in. Each basis vector is computed from its free column
 * alone, in time proportional to the entries that it touches.
 */
#ifndef BG_NULLSPACE_H
#define BG_NULLSPACE_H

#include "base.h"

typedef struct nullspace nullspace;
nullspace *nullspace_new(uint32_t rows, uint32_t cols);
void nullspace_free(nullspace *n);
void nullspace_add(nullspace *n, uint32_t row, uint32_t col, uint32_t value); /* accumulates */
void nullspace_eliminate(nullspace *n);
/* Free columns, ascending: one basis vector for each. */
const uint32_t *nullspace_free_columns(const nullspace *n, size_t *count);
/* The vector that is 1 in free column c and 0 in the other free columns. Entries are valid until the next call. */
struct nullspace_entry {
    uint32_t col, value;
};
const struct nullspace_entry *nullspace_vector(nullspace *n, uint32_t c, size_t *count);

#endif
