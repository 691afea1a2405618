/* asked.h - collects the requested changes of a text part by part, and plans them
 *
 * ownership  names, and what bonds and changes point to, belong to the caller and must outlive the plan
 */
#ifndef BG_ASKED_H
#define BG_ASKED_H

#include "compile.h"
#include "readings.h"
#include "rewrite_initial.h"

typedef struct asked_list {
    VEC(const char *) name; /* the most important first, as in rewrite_request */
    rewrite_changes change;
    VEC(rewrite_bond) bond;
} asked_list; /* {0} is empty */

/* Adds a part with one reading: dropped, clamped, or a change of one of its bonds. */
void asked_add(asked_list *a, const char *name, const struct reading *r);
void asked_add_bond(asked_list *a, rewrite_bond bond);
void asked_add_changes(asked_list *a, const rewrite_change *change, size_t n);
/* Plans the changes for the text that c was compiled from. False: plan->error. Frees what was collected. */
bool asked_plan(asked_list *a, const compilation *c, rewrite *plan);

#endif
