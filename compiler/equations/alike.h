/* alike.h - unknowns of a block that others are multiples of, left out of it
 *
 * What stands behind a gyrator or a transformer is a multiple of what stands before it, and n equal laws that one
 * variable goes into (n junctions in a row) say n times the same. Newton's method has no need of such unknowns, and
 * where exponentials block it is led astray by them: of n alike in a row their sum alone is then known to all digits
 * that there are, though each is an n-th of it.
 *
 *   a u + b v = 0, a and b numbers      v = -(a/b) u
 *   F(u, x) = 0 and F(v, x) = 0         v = u where F rises, or falls, all along
 */
#ifndef BG_ALIKE_H
#define BG_ALIKE_H

#include "equations.h"

/* Variables with what they are by unknowns that stay. */
typedef struct alike {
    VEC(struct same {
        var_id v;
        inst def;
    })
    same;
    map of; /* variable -> its place there */
} alike;

/* Of the block being made, the last one: its unknowns from unknown0 on, its residuals from residual0 on. Those left out
 * are explicit definitions then. Blocks without exponentials and logarithms stay as they are. */
void alike_leave_out(equations *e, uint32_t unknown0, uint32_t residual0, alike *found);
/* A definition over unknowns of the block, by those that stay. */
inst alike_replace(equations *e, const alike *found, inst d);
void alike_free(alike *found);

#endif
