/* asked.h - what is asked of a text, gathered part by part, and planned
 *
 * ownership  names, and what bonds and changes point to, are the caller's and outlive the plan
 */
#ifndef BG_ASKED_H
#define BG_ASKED_H

#include "compile.h"
#include "readings.h"
#include "rewrite_initial.h"

typedef struct asked_list {
    VEC(const char *) name; /* the most important first, as in a rewrite_request */
    rewrite_changes change;
    VEC(rewrite_bond) bond;
} asked_list; /* {0} is empty */

/* A part, read one way: dropped, clamped, or what is done to a bond of it. */
void asked_add(asked_list *a, const char *name, const struct reading *r);
void asked_add_bond(asked_list *a, rewrite_bond bond);
void asked_add_changes(asked_list *a, const rewrite_change *change, size_t n);
/* Plans it, of the text that c was compiled from. False: plan->error. Frees what was gathered. */
bool asked_plan(asked_list *a, const compilation *c, rewrite *plan);

#endif
