/* elimination.h - sparse linear relations between variables, solved for some of them: numbers, and expressions beside
 * them where asked for
 *
 * Rows say that a sum of coefficient times variable is zero. Pivoting on a column takes it out of all other rows, so
 * that in the end a variable is either free or a sum over free ones. Pivots are chosen for sparsity among coefficients
 * of fair size, constants first.
 *
 * expressions   over the pool's slots, a slot being a variable of the flat model; NODE_NONE where they are not wanted
 */
#ifndef BG_ELIMINATION_H
#define BG_ELIMINATION_H

#include "expr.h"

typedef struct term {
    uint32_t column;
    double value;
    node text;
} term;
typedef struct sum {
    term *at;
    size_t n, cap;
} sum; /* ascending columns */

typedef struct elimination elimination;

/* pool: NULL without expressions. */
elimination *elimination_new(size_t ncolumns, pool *p);
void elimination_free(elimination *r);
/* The sum of two coefficients of one column, zero if they cancel. With expressions, only if they cancel for any
 * numbers. */
term elimination_added(elimination *r, term a, term b);
/* a*b, or a/b (over), without factors that cancel, and in one order. */
node elimination_product(pool *p, node a, node b, bool over);
/* elimination_put adds a term to the row being made, elimination_end closes it. text: of the coefficient (ignored
 * without a pool). */
void elimination_put(elimination *r, uint32_t column, double value, node text);
void elimination_end(elimination *r);
/* Pivots on columns with may[column] >= 1, the least values first, as long as a row has such a column. A row without
 * one is left over. */
void elimination_eliminate(elimination *r, const uint8_t *may);
bool elimination_solved(const elimination *r, uint32_t column); /* it was a pivot */
bool elimination_occurs(const elimination *r, uint32_t column); /* some row holds it */
/* The next row without a pivot, from *row on: a condition that its sum is zero. False: there are no more. */
bool elimination_left(const elimination *r, size_t *row, sum *s);
/* Makes a solved variable free, and solves its row for a free variable instead. False: the row does not contain that
 * one. */
bool elimination_exchange(elimination *r, uint32_t solved, uint32_t free);
/* A variable as a sum over free variables. For a pivot: its row, in which it has the coefficient 1 and the other terms
 * are minus its value. Valid until the next elimination. */
sum elimination_express(const elimination *r, uint32_t column, term *one); /* one: room for a free variable's own */

#endif
