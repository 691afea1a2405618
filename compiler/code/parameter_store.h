/* parameter_store.h - the values of a model's parameters, of which one can be set at the cost of what follows from it
 *
 * units    SI
 * shapes   by variable of the flat model, which must outlive the store
 */
#ifndef BG_PARAMETER_STORE_H
#define BG_PARAMETER_STORE_H

#include "flat.h"

/* Which of a list of expressions read a variable: reader[first[v] .. first[v+1]). Free with readers_free. */
typedef struct readers {
    uint32_t *first, *reader;
} readers;
void readers_of(const flat_model *f, const inst *list, size_t n, readers *out);
void readers_free(readers *r);

typedef struct parameter_store parameter_store;
/* Values as the text says them. */
parameter_store *parameter_store_new(const flat_model *f);
void parameter_store_free(parameter_store *s);

double *parameter_store_values(parameter_store *s);
const bool *parameter_store_fixed(const parameter_store *s); /* set from outside: computed no longer */

/* The parameter of that name; VAR_NONE: there is none. */
var_id parameter_store_find(parameter_store *s, const char *name);
/* Sets v, a parameter, and computes again what is computed from it, in order of dependency. How many values were
 * written; which: *changed, v first, the store's until the next call. */
size_t parameter_store_set(parameter_store *s, var_id v, double value, const var_id **changed);

#endif
