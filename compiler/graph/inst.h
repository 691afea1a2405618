/* inst.h - instances of templates: composition and compaction
 *
 * An inst is a template with the variables in its slots (flat.h). Composition substitutes definitions for variables.
 * The work is done once for each pattern of templates and equal slots, not for each element.
 */
#ifndef BG_INST_H
#define BG_INST_H

#include "flat.h"

typedef struct composer composer;
composer *composer_new(flat_model *f);
void composer_free(composer *c);

/* Replaces slot k of outer by inner[k] (root NODE_NONE: kept). The result's slots are distinct variables. */
inst inst_compose(composer *c, inst outer, const inst *inner);
/* The same expression with distinct slots; unused slots are removed. */
inst inst_compact(composer *c, inst i);
/* root over the slots of i, compacted; for sub-expressions and derivatives of i. */
inst inst_part(composer *c, node root, const var_id *slot, uint32_t n);
/* One variable as an expression. */
inst inst_var(flat_model *f, var_id v);
inst inst_const(flat_model *f, double value);
/* Sum of sign[i]*var[i], sorted by sign and variable so that equal sums have equal templates. n >= 1. */
inst inst_sum(composer *c, const var_id *var, const int8_t *sign, size_t n);
/* The slot of variable v in i, or NONE. */
uint32_t inst_slot_of(const flat_model *f, inst i, var_id v);
bool inst_equal(const flat_model *f, inst a, inst b);

#endif
