/* define.h - variables of the equations and their definitions, while they are built */
#ifndef BG_DEFINE_H
#define BG_DEFINE_H

#include "equations.h"

void eq_sync(equations *e); /* e->var follows e->f->var */
/* The time derivative of v, called der(v). */
var_id eq_new_rate(equations *e, var_id v);
var_id eq_new_var(equations *e, enum var_kind kind, uint32_t owner, const char *name, span at, uint32_t position);
void eq_define(equations *e, var_id v, inst def);
void eq_note(equations *e, var_id v); /* sets e->defining, the origin of the next definitions, to that of v */

#endif
