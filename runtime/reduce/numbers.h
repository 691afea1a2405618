/* numbers.h - where the number of a parameter stands in a text, and how another is written in its place
 *
 * units    a parameter's value in SI is scale*written + offset, in the unit that the text gives
 */
#ifndef BG_NUMBERS_H
#define BG_NUMBERS_H

#include "compile.h"

typedef struct number_place {
    bool known;
    span at;
    double written, scale, offset;
} number_place;

/* Of parameter v of the model of c. known: false if it is no number of the file itself (a formula, an import).
 * Parameters of several instances whose number stands where the component is declared have one place. */
number_place number_find(const compilation *c, var_id v, const char *name);
/* Of the initial value of a state, `p(0) = 0.5` in an element, integral(v, 0.5). */
number_place number_initial(const compilation *c, size_t state);
/* With ten digits, or fewer that say the same. free() it */
char *number_written(double x);

#endif
