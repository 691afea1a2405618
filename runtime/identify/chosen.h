/* chosen.h - the parameters that an analysis moves, and what hangs on them
 */
#ifndef BG_CHOSEN_H
#define BG_CHOSEN_H

#include "model.h"

typedef struct chosen {
    VEC(var_id) by;
    VEC(const char *) name;
    VEC(size_t) initial, jump; /* states, of chosen_everything */
} chosen;                      /* names are the model's */

/* list: separated by commas, or NULL for all parameters that are given as numbers (those computed from others move with
 * them), those of components too. False: *why names what is not a parameter, or not a number (free it). */
bool chosen_parameters(const bg_model *m, const char *list, chosen *c, char **why);
/* The same with initial values of states, "spring.q(0)", and sizes of their jumps, "mass.p(+)": what is added whenever
 * a reinit or a sample sets the state. Without a list all of them; initial values if they are given. */
bool chosen_everything(const bg_model *m, const char *list, bool initial, chosen *c, char **why);
void chosen_free(chosen *c);

/* Elements whose laws read parameter v, directly or through what is computed from it: reads[elements]. */
void chosen_readers(const bg_model *m, var_id v, bool *reads);
/* Does output k of the model read it so? */
bool chosen_output_reads(const bg_model *m, size_t k, var_id v);

#endif
