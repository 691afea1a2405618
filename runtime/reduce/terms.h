/* terms.h - the terms of sums in a model's text: what may be deleted or replaced by its mean
 *
 * A term is an operand of + and - in the law of an element or source, in a modulation or in a signal: of the model
 * itself and of the components of its file that it uses, in loops and conditional parts too. It is a piece of text, and
 * changing it changes everything made from it: every instance of the component, every iteration of the loop.
 * Parameters, outputs, conditions and arguments of instances have no terms, nor have sums of numbers and parameters
 * alone. Sums inside terms are sums of their own.
 *
 * A resistive field states an action and its reaction as two terms, which change together: a term that stands in the
 * equations of two ports, or else the term of one port's equation that reads another port and that other port's term
 * that reads the first.
 *
 * cost     linear in the text
 */
#ifndef BG_TERMS_H
#define BG_TERMS_H

#include "rewrite.h"

enum term_change { TERM_STAYS, TERM_DELETED, TERM_MEAN };

typedef struct term {
    span at; /* with its brackets, without its sign */
    span op; /* the sign before it; SPAN_NONE: it is the first of its sum */
    bool minus;
    const char *owner; /* interned: the element or signal, as the text names it */
    bool of_value;
    const ast_model *model; /* the model whose text it is */
    bool inner;             /* that model is a component */
    bool varies;            /* it reads more than parameters */
    /* no number can replace it: in a transformer field, where flows are proportional to others, and in an energy, of
     * which the slopes count */
    bool no_number;
    const ast_expr *expr;
    uint32_t sum;
    uint32_t within;  /* the term that contains its sum; NONE: none */
    const char *port; /* interned: in a resistive field, the port whose equation it is in; else NULL */
    uint32_t with;    /* it changes only together with the terms of this number, the first of them; NONE: by itself */
    const char *text; /* as written, with its sign */
    const char *name; /* for reports: its owner, and the text */
    const char *const *element;
    size_t nelements; /* full names of the elements whose laws contain it; filled by term_candidates.h */
} term;
typedef struct term_sum {
    uint32_t first, n;
} term_sum;
typedef struct terms {
    VEC(term) term;
    VEC(term_sum) sum;
} terms; /* the terms of a sum are adjacent */

/* model: the model itself, then components of the file. */
void terms_find(const sources *s, const ast_file *file, const ast_model *const *model, size_t n, arena *a, terms *out);
void terms_free(terms *t);
/* The changes of the text for what is done to each term (mean: in SI). A term inside a deleted one is ignored. All in
 * the arena. */
size_t terms_changes(const terms *t, const enum term_change *what, const double *mean, arena *a, rewrite_change **out);

#endif
