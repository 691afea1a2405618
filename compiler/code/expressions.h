/* expressions.h - conditions, outputs and divisors as formulas: shared by instances, for messages and to distinguish
 * rounding from a change of sign
 *
 * names  variables have their names from the image (image_variables): texts are made from formulas on request, except
 *        those of conditions, which runs need
 */
#ifndef BG_EXPRESSIONS_H
#define BG_EXPRESSIONS_H

#include "formula.h"
#include "model.h"

struct equations;
struct pole_list;

/* A cycle of signals, from v back to v. */
struct expression_circle {
    var_id v;
    const char *path;
};

typedef struct expression_program {
    formula_book book;
    VEC(formula) mode;   /* the watched value of each condition */
    VEC(formula) output; /* those of the text, then recorded ones */
    VEC(const char *) mode_text;
    VEC(struct expression_circle) circle;
    arena *arena; /* texts */
} expression_program;

expression_program *expression_program_new(const struct equations *e);
void expression_program_free(expression_program *p); /* NULL is fine */

/* Poles (model.h). divisor: unless the pole is the determinant of a block. */
struct expression_pole {
    struct model_pole pole; /* without its text */
    formula divisor;
    uint32_t block; /* NONE: none */
};
typedef struct expression_poles {
    formula_book book;
    VEC(struct expression_pole) pole;
    _Atomic(char *) *text; /* [pole.n] NULL: not made yet */
    bool determinants;     /* some are */
    arena *arena;          /* names */
} expression_poles;

expression_poles *expression_poles_new(const struct equations *e, const struct pole_list *list);
void expression_poles_free(expression_poles *p); /* NULL is fine */

#endif
