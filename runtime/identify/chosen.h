/* chosen.h - the parameters (and initial values and jumps) by which an analysis differentiates */
#ifndef BG_CHOSEN_H
#define BG_CHOSEN_H

#include "model.h"

typedef struct chosen {
    VEC(var_id) by;
    VEC(const char *) name;
    VEC(size_t) initial, jump; /* numbers of states; filled by chosen_everything alone */
} chosen;                      /* names belong to the model */

/* list: names separated by commas; NULL: all parameters that are given as numbers, those of components included
 * (parameters computed from others move with them). False: *why (free() it) names what is no parameter or no number. */
bool chosen_parameters(const bg_model *m, const char *list, chosen *c, char **why);
/* Likewise, with initial values of states ("spring.q(0)") and sizes of their jumps ("mass.p(+)": an amount added
 * whenever a reinit or a sample sets the state). list NULL: all of them; initial values only if `initial`. */
bool chosen_everything(const bg_model *m, const char *list, bool initial, chosen *c, char **why);
void chosen_free(chosen *c);

/* Marks the elements whose laws read parameter v, directly or through computed values: reads[elements]. */
void chosen_readers(const bg_model *m, var_id v, bool *reads);
/* Does output k of the model read v, directly or through computed values? */
bool chosen_output_reads(const bg_model *m, size_t k, var_id v);

#endif
