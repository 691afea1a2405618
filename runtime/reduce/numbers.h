/* numbers.h - finds where a parameter's number stands in a text, and writes another one in its place
 *
 * units    a parameter's value in SI is scale*written + offset, in the unit given in the text
 */
#ifndef BG_NUMBERS_H
#define BG_NUMBERS_H

#include "compile.h"

typedef struct number_place {
    bool known;
    span at;
    double written, scale, offset;
} number_place;

/* The place for parameter v of the model of c. known is false if it is no number of the file itself (a formula, an
 * import). Parameters of several instances whose number stands in the component's declaration share one place. */
number_place number_find(const compilation *c, var_id v, const char *name);
/* The place of a state's initial value: `p(0) = 0.5` in an element, integral(v, 0.5). */
number_place number_initial(const compilation *c, size_t state);
/* With ten digits, or fewer where they give the same value. free() it. */
char *number_written(double x);

#endif
