/* tuning.h - which numbers of a text move which coefficients of its network, and how
 *
 * A coefficient that is a product of powers of parameters (1/k, rho*l/A) goes with these powers; parameters that do
 * something else, or act on two-ports, sources or outputs too, are left as they are.
 */
#ifndef BG_TUNING_H
#define BG_TUNING_H

#include "chosen.h"
#include "network_fit.h"

typedef struct tuning_choice {
    tuning tuning;
    chosen parameter; /* in the order of the tuning's */
    VEC(double) start;
    VEC(char *) left; /* "name: why" of those that are not moved */
} tuning_choice;

/* Whose law is not linear; NULL: all are. */
const char *tuning_nonlinear(bg_model *m, const network *k);
/* k: of m. list: names with commas; NULL: all. False: *why (free it): the list.
 * tuning_choice_free it in any case. */
bool tuning_of(bg_model *m, const network *k, const char *list, tuning_choice *t, char **why);
void tuning_choice_free(tuning_choice *t, const network *k);

#endif
