/* formula.h - expressions independent of the pool, for images
 *
 * A formula has the operations of a template in the pool's order, over numbers of variables. A book stores each
 * template once, whatever the number of its formulas, and refers to no pool; tables (table_set) are read in place.
 *
 * values   equal to those of ex_eval, bit for bit
 * threads  a finished book is only read; work arrays belong to the caller
 */
#ifndef BG_FORMULA_H
#define BG_FORMULA_H

#include <stdatomic.h>

#include "expr.h"

enum { FORMULA_ITSELF = UINT32_MAX };
typedef struct formula {
    uint32_t code;     /* number of the template; FORMULA_ITSELF: the value of variable `first` */
    uint32_t first, n; /* the variables in its slots: slot[first .. first+n) of the book */
} formula;

struct formula_op {
    uint8_t op;
    uint32_t a, b, c; /* operands, by number of earlier operations; for a slot its number; NODE_NONE: absent */
    union {
        double value;
        const ex_table *table;
    };
};
typedef struct formula_book {
    VEC(struct formula_op) op;
    VEC(uint32_t) code; /* start of the operations of each template; one more: their end */
    VEC(uint32_t) slot;
    size_t room; /* size of the work array for a value, in doubles */
    map code_of; /* node -> code; only while the book is written */
} formula_book;

formula formula_write(formula_book *b, pool *p, node root, const uint32_t *slot, uint32_t n);
/* Finishes the book. */
void formula_close(formula_book *b);
void formula_book_free(formula_book *b);
double formula_value(const formula_book *b, formula f, const double *value, double *room);

/* Its operations, of which the last gives the value; a variable itself has one, EX_SLOT with slot 0. */
const struct formula_op *formula_ops(const formula_book *b, const formula *f, size_t *n);
/* Like formula_value; `room` then holds the values of all operations. If the result is not finite although the
 * variables are, *culprit is the first operation whose operands were finite; else NO_INDEX. */
double formula_explain(const formula_book *b, formula f, const double *value, double *room, size_t *culprit);
/* Its operation k as text (ex_print), names of variables from name(ctx, variable). tables: those of its pool. */
void formula_print(const formula_book *b, formula f, size_t k, table_set *tables,
                   const char *(*name)(void *ctx, uint32_t variable), void *ctx, strbuf *out);

/* The variables that a formula reads. */
static inline const uint32_t *
formula_reads(const formula_book *b, const formula *f)
{
    return f->code == FORMULA_ITSELF ? &f->first : b->slot.at + f->first;
}

/* Which formulas of a list read a variable: reader[first[v] .. first[v+1]). */
typedef struct readers {
    uint32_t *first, *reader;
} readers;
typedef _Atomic(readers *) readers_later; /* computed on first use, in any thread */
const readers *readers_of(readers_later *at, const formula_book *b, const formula *list, size_t n, size_t nvars);
void readers_free(readers_later *at);

#endif
