/* bounded_inside.h - what the bounded*.c files share; nobody else includes it */
#ifndef BG_BOUNDED_INSIDE_H
#define BG_BOUNDED_INSIDE_H

#include "bonds.h"
#include "columns.h"
#include "exchange.h"
#include "readings.h"
#include "trial.h"

/* Up to so many candidates each is simulated alone to know its error; of more, it is predicted (part_errors.h), and
 * where that cannot be, the activity stands for it. */
enum { ALONE_MOST = 60 };
typedef VEC(struct candidate) candidates;

/* ---- bounded_candidates.c ---- */
/* True: their errors are predicted, over what is left of the tolerances. */
bool bounded_find_elements(struct search *d, candidates *out);

/* Bonds between junctions and two-ports: dropped, or made one-way. */
void bounded_find_bonds(struct search *d, candidates *out);
void bounded_find_terms(struct search *d, candidates *out);
int bounded_by_prediction(const void *pa, const void *pb);

#endif
