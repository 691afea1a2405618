/* tuning.h - finds the numbers of a text that change coefficients of its network
 *
 * A coefficient that is a product of powers of parameters (1/k, rho*l/A) changes with these powers. Parameters that
 * enter in another way, or that also act on two-ports, sources or outputs, are not moved.
 */
#ifndef BG_TUNING_H
#define BG_TUNING_H

#include "chosen.h"
#include "network_fit.h"

typedef struct tuning_choice {
    tuning tuning;
    chosen parameter; /* in the order of the tuning's parameters */
    VEC(double) start;
    VEC(char *) left; /* "name: why" for parameters that are not moved */
} tuning_choice;

/* An element whose law is not linear; NULL: all are linear. */
const char *tuning_nonlinear(bg_model *m, const network *k);
/* k: network of m. list: names separated by commas; NULL: all. False: *why (free() it): an error in the list. Call
 * tuning_choice_free in any case. */
bool tuning_of(bg_model *m, const network *k, const char *list, tuning_choice *t, char **why);
void tuning_choice_free(tuning_choice *t, const network *k);

#endif
