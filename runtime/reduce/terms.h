/* terms.h - the terms of sums that a model's text says: what may be deleted or replaced by its mean
 *
 * A term is an operand of + and - in the law of an element or source, in a modulation or in a signal: of the
 * model itself and of the components of its file that it is made of, in loops and conditional parts too. It is a piece
 * of the text, and one change of that changes all that the text makes of it: every instance of the component, every
 * round of the loop. Parameters, outputs, conditions and what instances are given have no terms; sums of numbers and
 * parameters alone have none either. Sums inside terms are sums of their own.
 *
 * What a resistive field says twice, an action and its reaction, goes together: a term that stands in the equations of
 * two ports, and else the term of one port's equation that reads another port and that port's that reads the first.
 *
 * cost     linear in the text
 */
#ifndef BG_TERMS_H
#define BG_TERMS_H

#include "rewrite.h"

enum term_change { TERM_STAYS, TERM_DELETED, TERM_MEAN };

typedef struct term {
    span at; /* with its brackets, without its sign */
    span op; /* the sign before it; SPAN_NONE: first of its sum */
    bool minus;
    const char *owner; /* interned: the element or signal, as its text calls it */
    bool of_value;
    const ast_model *model; /* whose text it is */
    bool inner;             /* that is a component of the model */
    bool varies;            /* reads more than parameters */
    bool no_number; /* none can stand for it: of a transformer field, whose flows are proportional to others, or of an
                       energy, whose slopes count */
    const ast_expr *expr;
    uint32_t sum;
    uint32_t within;  /* the term that its sum is in, NONE: none */
    const char *port; /* interned: of a resistive field, whose equation; else NULL */
    uint32_t with;    /* it only goes with those of the same number: the first of them; NONE: by itself */
    const char *text; /* as written, with its sign */
    const char *name; /* for reports: whose it is, and the text */
    const char *const *element;
    size_t nelements; /* those whose laws it is in, by full name; filled by who knows (term_candidates.h) */
} term;
typedef struct term_sum {
    uint32_t first, n;
} term_sum;
typedef struct terms {
    VEC(term) term;
    VEC(term_sum) sum;
} terms; /* a sum's terms stand together */

/* model: the model itself, then components of the file. */
void terms_find(const sources *s, const ast_file *file, const ast_model *const *model, size_t n, arena *a, terms *out);
void terms_free(terms *t);
/* The changes of the text, for what is to be done with each term (mean: in SI). A term inside one that goes is left
 * alone. All in the arena. */
size_t terms_changes(const terms *t, const enum term_change *what, const double *mean, arena *a, rewrite_change **out);

#endif
