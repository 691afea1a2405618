/* nullspace.h - columns of a sparse matrix modulo 2^31-1 that depend on each other (inside causality only)
 *
 * Exact elimination, the shortest row first and in it the column met least often: rows with one or two entries, nearly
 * all there are in a bond graph, cost no fill. Every vector of the basis is found from its free column alone, in
 * proportion to what it touches.
 */
#ifndef BG_NULLSPACE_H
#define BG_NULLSPACE_H

#include "base.h"

typedef struct nullspace nullspace;
nullspace *nullspace_new(uint32_t rows, uint32_t cols);
void nullspace_free(nullspace *n);
void nullspace_add(nullspace *n, uint32_t row, uint32_t col, uint32_t value); /* accumulates */
void nullspace_eliminate(nullspace *n);
/* Free columns, ascending: one vector each. */
const uint32_t *nullspace_free_columns(const nullspace *n, size_t *count);
/* The vector that is 1 in free column c and 0 in the other free ones. Entries stay valid until the next call. */
struct nullspace_entry {
    uint32_t col, value;
};
const struct nullspace_entry *nullspace_vector(nullspace *n, uint32_t c, size_t *count);

#endif
