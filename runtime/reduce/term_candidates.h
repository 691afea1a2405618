/* term_candidates.h - the terms of a text that may be deleted or replaced, and the predicted error of each
 *
 * One run of each experiment with weighted terms (elaborate.h) gives their values and, with sensitivity.h, the
 * first-order effect on the observed outputs of deleting each term or replacing it by its mean. A term that occurs
 * several times is one candidate: all occurrences change together. Its mean is offered where one number serves all
 * occurrences: their means differ by at most a thousandth of the term's root mean square.
 *
 * Not offered: terms of parts that an experiment keeps, terms of the text that this model does not contain (other
 * alternatives of `if`), and terms of components that another model with experiments of its own uses.
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
    /* the smaller predicted error first; deletion first where its error is negligible or nothing is predicted */
    int nreadings;
    double predicted; /* for the first reading: see term_candidates.predicts */
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
    VEC(term_kept) kept; /* components whose terms are not offered */
    /* `predicted` is an error over its tolerance; otherwise a share of the greatest other term, or an order */
    bool predicts;
    size_t simulations;
} term_candidates;

/* c: the present text, compiled for the first experiment; run[i], held[i], nheld[i]: of each experiment. Texts of the
 * result are in the arena. */
void term_candidates_find(const compilation *c, const recording *run, size_t nruns, const held_output *const *held,
                          const size_t *nheld, arena *a, term_candidates *out);
void term_candidates_free(term_candidates *t);

#endif
