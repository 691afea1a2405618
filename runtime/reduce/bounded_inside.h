/* bounded_inside.h - declarations shared by the files bounded*.c; no other file includes it */
#ifndef BG_BOUNDED_INSIDE_H
#define BG_BOUNDED_INSIDE_H

#include "bonds.h"
#include "columns.h"
#include "exchange.h"
#include "readings.h"
#include "trial.h"

/* Up to this number, each candidate is simulated alone to measure its error; beyond it the error is predicted
 * (part_errors.h), or, where that is not possible, the activity is used instead. */
enum { ALONE_MOST = 60 };
typedef VEC(struct candidate) candidates;

/* The candidates of a round in their order. batch: size of the first batch. option: the error of each candidate alone,
 * where it was measured. predicts: the candidates' errors (relative to what was left of the tolerances when the round
 * began) were predicted, not measured. demand: the demand on trials; with many candidates a failing trial need not be
 * measured to its end. */
struct order {
    VEC(struct candidate *) at;
    size_t batch;
    bool predicts;
    const struct demand *demand;
    VEC(struct option) option;
};

/* ---- bounded.c ---- */
void bounded_note_trial(struct search *d, struct candidate *const *set, size_t n, const struct verdict *x);
/* Refuses a candidate without a run, by its predicted error. */
void bounded_refuse_unseen(struct search *d, const struct candidate *x);

/* ---- bounded_taking.c ---- */
/* The number of candidates from the i-th on that should go together if errors add up to what is left. */
size_t bounded_fitting(const struct order *o, size_t i, double left);
/* The overrides that still apply to an accepted text; *out is storage for them. */
const overrides *bounded_set_in(const struct search *d, const struct verdict *accepted, overrides *out);
/* Takes out as many of the ordered candidates as possible. *best: the last accepted version, without the first *n
 * candidates of *taken. False: an internal error. */
bool bounded_take(struct search *d, const struct order *o, struct candidate **taken, size_t *n, struct verdict *best);

/* ---- bounded_candidates.c ---- */
/* Returns true if errors are predicted, relative to what is left of the tolerances. */
bool bounded_find_elements(struct search *d, candidates *out);

/* Bonds between junctions and two-ports: to be dropped or made one-way. */
void bounded_find_bonds(struct search *d, candidates *out);
void bounded_find_terms(struct search *d, candidates *out);
int bounded_by_prediction(const void *pa, const void *pb);

#endif
