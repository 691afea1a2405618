/* elimination.h - sparse linear relations between variables, solved for some of them; numeric, and symbolic on request
 *
 * Each row states that a sum of coefficient times variable is zero. A pivot on a column eliminates it from all other
 * rows, so that in the end each variable is either free or a sum over free ones. Pivots are chosen for sparsity among
 * coefficients of sufficient size, constants first.
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
/* The sum of two coefficients of one column, zero if they cancel. With expressions, only if they cancel for all
 * values. */
term elimination_added(elimination *r, term a, term b);
/* a*b, or a/b (over), with cancelled factors and in a canonical order. */
node elimination_product(pool *p, node a, node b, bool over);
/* elimination_put adds a term to the row being built, elimination_end completes it. text: expression of the coefficient
 * (ignored without a pool). */
void elimination_put(elimination *r, uint32_t column, double value, node text);
void elimination_end(elimination *r);
/* Pivots on columns with may[column] >= 1, smallest values first, as long as a row has such a column. Rows without one
 * are left over. */
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
/* one: storage for a free variable's own term */
sum elimination_express(const elimination *r, uint32_t column, term *one);

#endif
