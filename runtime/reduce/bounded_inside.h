/* bounded_inside.h - declarations shared by the files bounded*.c; no other file includes it */
#ifndef BG_BOUNDED_INSIDE_H
#define BG_BOUNDED_INSIDE_H

#include "bonds.h"
#include "columns.h"
#include "exchange.h"
#include "foretell.h"
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

/* So many parts are accepted before a text without them is made: factors of 0 still take part in every step of a
 * run. */
enum { MOST_UNWRITTEN = 24 };

/* What is tried next: `batch` candidates of the order from the i-th on; a single one with one reading. refused: number
 * of refusals in a row before it. left: what is left of the tolerances, relative to the beginning of the round. */
struct place {
    size_t i, batch, refused;
    int reading;
    double left;
};

/* A candidate that was refused without a text, together with what was accepted in the image. */
struct refused_one {
    struct candidate *candidate;
    int chosen;
    const char *why;
};

/* A text that was made before the search needed it: without taken[0..n) of the round, each with its reading. Its
 * simulations are counted when it is used. */
struct written {
    bool there;
    struct verdict v;
    struct candidate **taken;
    int *reading;
    size_t n, simulations;
};

struct ahead;
struct taking {
    struct search *d;
    const struct order *o;
    struct candidate **taken; /* the first n of them are accepted */
    size_t n;
    struct place at;
    double begun;                    /* error of the text at the beginning of the round */
    double *off;                     /* errors of what was accepted (together.h) */
    bool measured;                   /* it is known */
    struct verdict *best;            /* the version without the first d->base_taken of them */
    overrides set;                   /* in that text */
    double worst;                    /* greatest error of the last accepted trial */
    bool last_fine;                  /* the last trial was accepted */
    VEC(struct refused_one) refused; /* since the last acceptance that made a difference */
    struct ahead *ahead;             /* NULL: no trials run ahead */
    struct written written;
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

/* The sequence of places. Is there a trial at this one? */
bool place_is_tried(const struct taking *t, const struct place *p);
struct place place_after_refusal(const struct taking *t, struct place p);
struct place place_after_acceptance(const struct taking *t, struct place p);
/* The next place after candidates that get no run. */
struct place place_pass_hopeless(const struct taking *t, struct place p);
/* Is the text without the first n of t->taken there? */
bool written_is(const struct taking *t, size_t n);
/* Its verdict, which the caller owns from now on. */
struct verdict written_use(struct taking *t);
void written_drop(struct taking *t);
/* What is left of the tolerances after a greatest error `worst`. */
double taking_left(const struct taking *t, double worst);

/* ---- bounded_ahead.c ---- */
/* The verdict on the candidates at the place, while helpers try what is likely to come next. */
struct verdict ahead_try(struct taking *t);
/* Nothing of it is needed any more. */
void ahead_stop(const struct taking *t);
/* Ends the helpers: call before the base changes, and at the end. */
void ahead_end(struct taking *t);

/* ---- bounded_candidates.c ---- */
/* Returns true if errors are predicted, relative to what is left of the tolerances. */
bool bounded_find_elements(struct search *d, candidates *out);

/* Bonds between junctions and two-ports: to be dropped or made one-way. */
void bounded_find_bonds(struct search *d, candidates *out);
void bounded_find_terms(struct search *d, candidates *out);
int bounded_by_prediction(const void *pa, const void *pb);

#endif
