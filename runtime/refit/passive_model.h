/* passive_model.h - whether a linear model, given as text, takes energy only
 *
 * By its port-Hamiltonian form (hamiltonian.h) where the experiment begins: without inputs the stored energy only
 * falls. A model whose rates are not linear in its states, that switches or that has more states than MOST_STATES is
 * not looked at.
 */
#ifndef BG_PASSIVE_MODEL_H
#define BG_PASSIVE_MODEL_H

#include "compile.h"

enum model_passivity { PASSIVITY_NOT_LOOKED_AT, MODEL_PASSIVE, MODEL_NOT_PASSIVE, MODEL_PASSIVITY_UNKNOWN };

/* o: as the text is compiled otherwise. Of an unknown one *why (free it) is a sentence; else NULL. */
enum model_passivity passive_model(const char *path, const char *text, size_t length, const compile_options *o,
                                   char **why);

#endif
