/* passive_model.h - is the linear model of a text passive?
 *
 * Decided by its port-Hamiltonian form (hamiltonian.h) at the start of the experiment: without inputs the stored energy
 * never grows. A model whose rates are not linear in its states, that switches, or that has more than MOST_STATES
 * states is not examined.
 */
#ifndef BG_PASSIVE_MODEL_H
#define BG_PASSIVE_MODEL_H

#include "compile.h"

enum model_passivity { PASSIVITY_NOT_LOOKED_AT, MODEL_PASSIVE, MODEL_NOT_PASSIVE, MODEL_PASSIVITY_UNKNOWN };

/* o: compile options of the text. If the answer is unknown, *why (free() it) is a sentence; otherwise NULL. */
enum model_passivity passive_model(const char *path, const char *text, size_t length, const compile_options *o,
                                   char **why);

#endif
