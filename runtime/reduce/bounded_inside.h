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

/* The candidates of a round in their order. batch: the first. option: what each candidate's error alone was, where it
 * was measured. predicts: the candidates' errors, over what was left of the tolerances when the round began, were
 * predicted, not measured. demand: of trials: of many candidates nobody needs to know by how much one fails. */
struct order {
    VEC(struct candidate *) at;
    size_t batch;
    bool predicts;
    const struct demand *demand;
    VEC(struct option) option;
};

/* ---- bounded.c ---- */
void bounded_note_trial(struct search *d, struct candidate *const *set, size_t n, const struct verdict *x);
/* It stays, by what is predicted of it. */
void bounded_refuse_unseen(struct search *d, const struct candidate *x);

/* ---- bounded_taking.c ---- */
/* From the i-th on, as many as should go together if errors add up to what is left. */
size_t bounded_fitting(const struct order *o, size_t i, double left);
/* What is still set in an accepted text; *out is room for it. */
const overrides *bounded_set_in(const struct search *d, const struct verdict *accepted, overrides *out);
/* Takes out as much of the ordered candidates as will go. *best: the last that was accepted, of *n candidates at the
 * head of *taken. False: internal. */
bool bounded_take(struct search *d, const struct order *o, struct candidate **taken, size_t *n, struct verdict *best);

/* ---- bounded_candidates.c ---- */
/* True: their errors are predicted, over what is left of the tolerances. */
bool bounded_find_elements(struct search *d, candidates *out);

/* Bonds between junctions and two-ports: dropped, or made one-way. */
void bounded_find_bonds(struct search *d, candidates *out);
void bounded_find_terms(struct search *d, candidates *out);
int bounded_by_prediction(const void *pa, const void *pb);

#endif
