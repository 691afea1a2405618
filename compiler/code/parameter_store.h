/* parameter_store.h - values of parameters; setting one recomputes only what depends on it
 *
 * units    SI
 * shapes   by variable of the flat model
 * threads  a program is read-only once it has a store; a store belongs to one thread
 */
#ifndef BG_PARAMETER_STORE_H
#define BG_PARAMETER_STORE_H

#include "formula.h"
#include "kinds.h"

struct flat_model;
struct inst;

/* How parameters are computed from each other, as formulas: shared by instances. */
typedef struct parameter_program parameter_program;
parameter_program *parameter_program_new(const struct flat_model *f);
void parameter_program_free(parameter_program *p);
/* Adds another expression over parameters; call before the first store. */
formula parameter_program_add(parameter_program *p, const struct flat_model *f, struct inst i);
/* Which formulas of a list read a variable. */
const readers *parameter_program_readers(const parameter_program *p, readers_later *at, const formula *list, size_t n);
typedef struct parameter_store parameter_store;
/* A store with the values of the text. */
parameter_store *parameter_store_new(parameter_program *p, const struct flat_model *f);
/* A store with the values of another one. */
parameter_store *parameter_store_another(const parameter_store *s);
void parameter_store_free(parameter_store *s);

double *parameter_store_values(parameter_store *s);
const bool *parameter_store_fixed(const parameter_store *s); /* set from outside: no longer computed */
double parameter_store_value(parameter_store *s, formula f); /* value of an added expression */

/* Sets parameter v and recomputes what depends on it, in order of dependency. Returns the number of values written;
 * *changed: which, v first, valid until the next call. */
size_t parameter_store_set(parameter_store *s, var_id v, double value, const var_id **changed);

#endif
