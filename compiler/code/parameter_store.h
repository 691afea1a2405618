/* parameter_store.h - the values of parameters, of which one can be set at the cost of what follows from it
 *
 * units    SI
 * shapes   by variable of the flat model
 * threads  a program is only read once a store of it is there; a store is one thread's
 */
#ifndef BG_PARAMETER_STORE_H
#define BG_PARAMETER_STORE_H

#include "formula.h"
#include "kinds.h"

struct flat_model;
struct inst;

/* How parameters are computed from each other, in closed form: what instances share. */
typedef struct parameter_program parameter_program;
parameter_program *parameter_program_new(const struct flat_model *f);
void parameter_program_free(parameter_program *p);
/* Another expression over parameters, before the first store. */
formula parameter_program_add(parameter_program *p, const struct flat_model *f, struct inst i);
/* Which of a list of these read a variable. */
const readers *parameter_program_readers(const parameter_program *p, readers_later *at, const formula *list, size_t n);
typedef struct parameter_store parameter_store;
/* Values as the text says them. */
parameter_store *parameter_store_new(parameter_program *p, const struct flat_model *f);
/* Values as another store has them. */
parameter_store *parameter_store_another(const parameter_store *s);
void parameter_store_free(parameter_store *s);

double *parameter_store_values(parameter_store *s);
const bool *parameter_store_fixed(const parameter_store *s); /* set from outside: computed no longer */
double parameter_store_value(parameter_store *s, formula f); /* of an added expression */

/* Sets v, a parameter, and computes again what is computed from it, in order of dependency. How many values were
 * written; which: *changed, v first, the store's until the next call. */
size_t parameter_store_set(parameter_store *s, var_id v, double value, const var_id **changed);

#endif
