/* compiled.h - a model together with what it was compiled from
 *
 * For who edits or writes the text, draws the graph or derives expressions. What runs, measures or identifies a model
 * has no need of it (model.h, model_graph.h).
 */
#ifndef BG_COMPILED_H
#define BG_COMPILED_H

#include "causality.h"
#include "equations.h"
#include "model_graph.h"

/* Takes nothing over; f, c, e must outlive it unless it is closed (model_close). Nothing below is asked of a closed
 * model. long_run: optimise all code. */
bg_model *model_new(flat_model *f, causal *c, equations *e, bool long_run);

const flat_model *model_flat(const bg_model *m);
const equations *model_equations(const bg_model *m);
const causal *model_causal(const bg_model *m);
inst model_mode_watched(const bg_model *m, size_t k); /* g, as an expression */
double model_value(const bg_model *m, inst i);        /* of a parameter expression */

/* LLVM IR of the rate equations, for --dump ir. free() it. */
char *model_ir(bg_model *m);
/* The rate equations in C, for --dump c. free() it. */
char *model_c(bg_model *m);

#endif
