/* term_candidates.h - the terms of a text that may go, and what each is predicted to cost
 *
 * One run of each experiment with all terms weighed (elaborate.h) gives their values and, with sensitivity.h, what
 * deleting each or putting its mean in its place does to the observed outputs, to first order. A term that occurs
 * several times is one candidate: all occurrences change at once. Its mean is offered where one number does for all:
 * the occurrences' means differ by no more than a thousandth of the term's root mean square.
 *
 * Not offered: terms of what an experiment keeps, terms of the text that this model does not have (other alternatives
 * of `if`), and terms of components that another model uses which has experiments of its own.
 */
#ifndef BG_TERM_CANDIDATES_H
#define BG_TERM_CANDIDATES_H

#include "predict.h"
#include "readings.h"
#include "sensitivity.h"
#include "terms.h"

typedef struct term_candidate {
    uint32_t term;
    struct reading reading[2];
    int nreadings;    /* the smaller predicted error first; deletion where its is negligible or nothing is predicted */
    double predicted; /* of the first reading: see term_candidates.predicts */
    double mean;      /* SI, over all experiments */
} term_candidate;
typedef struct term_kept {
    const char *name;
    span at;
    const char *why;
} term_kept;

typedef struct term_candidates {
    terms terms;
    VEC(term_candidate) list;
    VEC(term_kept) kept; /* components whose terms stay */
    bool predicts; /* predicted is an error over its tolerance; else a share of the greatest other term, or an order */
    size_t simulations;
} term_candidates;

/* c: the text at hand, compiled for the first experiment; run[i], held[i], nheld[i]: of each. Texts of the result: in
 * the arena. */
void term_candidates_find(const compilation *c, const recording *run, size_t nruns, const held_output *const *held,
                          const size_t *nheld, arena *a, term_candidates *out);
void term_candidates_free(term_candidates *t);

#endif
