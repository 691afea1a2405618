/* compiled.h - a model together with what it was compiled from
 *
 * For code that edits or writes the text, draws the graph or derives expressions. Code that runs, measures or
 * identifies a model does not need it (model.h, model_graph.h).
 */
#ifndef BG_COMPILED_H
#define BG_COMPILED_H

#include "causality.h"
#include "equations.h"
#include "model_graph.h"

/* Takes over nothing; f, c, e must outlive the model unless it is closed (model_close). The functions below must not be
 * called for a closed model. long_run: optimise all code. */
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
