/* formula.h - expressions in closed form: what is left of templates when nothing more is made of them
 *
 * A formula is a template's operations in the order of the pool, over the numbers of variables. A book has each
 * template once, whatever the number of its formulas, and refers to no pool; tables (table_set) are read where they
 * lie.
 *
 * values   what ex_eval gives, bit for bit
 * threads  a book is only read once it is written; the room that values are worked out in is the caller's
 */
#ifndef BG_FORMULA_H
#define BG_FORMULA_H

#include <stdatomic.h>

#include "expr.h"

enum { FORMULA_ITSELF = UINT32_MAX };
typedef struct formula {
    uint32_t code;     /* number of the template, FORMULA_ITSELF: the value of variable `first` */
    uint32_t first, n; /* what stands in its slots: slot[first .. first+n) of the book */
} formula;

struct formula_op {
    uint8_t op;
    uint32_t a, b, c; /* operands among the operations before; of a slot its number; NODE_NONE: there is none */
    union {
        double value;
        const ex_table *table;
    };
};
typedef struct formula_book {
    VEC(struct formula_op) op;
    VEC(uint32_t) code; /* where the operations of each template begin; one more: where they end */
    VEC(uint32_t) slot;
    size_t room; /* doubles that a value is worked out in */
    map code_of; /* node -> code, while it is written */
} formula_book;

formula formula_write(formula_book *b, pool *p, node root, const uint32_t *slot, uint32_t n);
/* Nothing more is written. */
void formula_close(formula_book *b);
void formula_book_free(formula_book *b);
double formula_value(const formula_book *b, formula f, const double *value, double *room);

/* Its operations, the last of which gives the value: of a variable itself one, EX_SLOT with the slot 0. */
const struct formula_op *formula_ops(const formula_book *b, const formula *f, size_t *n);
/* As formula_value; room has the values of all operations then. Where the result is not finite although what the
 * formula reads is, *culprit is the first operation whose operands were; else NO_INDEX. */
double formula_explain(const formula_book *b, formula f, const double *value, double *room, size_t *culprit);
/* Operation k of it as text (ex_print), names of variables from name(ctx, variable). tables: those of its pool. */
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
typedef _Atomic(readers *) readers_later; /* made by the first who asks, in whatever thread */
const readers *readers_of(readers_later *at, const formula_book *b, const formula *list, size_t n, size_t nvars);
void readers_free(readers_later *at);

#endif
