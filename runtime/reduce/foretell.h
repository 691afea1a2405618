/* foretell.h - refusals of a search found side by side, before it comes to them
 *
 * Most trials of a search end in a refusal, and a refusal changes nothing: the trials after it can run beside it, on
 * other cores. What a search finds does not depend on it: of what is accepted in the image (in_image.h) the outcome is
 * all there is; another outcome that is no refusal is only a hint, and the trial is made when its turn comes.
 */
#ifndef BG_FORETELL_H
#define BG_FORETELL_H

#include "trial.h"

/* What came of a trial; no version is kept. `simulations` count as the search's when it makes use of the outcome. */
struct outcome {
    bool refused;
    bool ran, fine, unwritten, in_image;
    double worst;
    size_t simulations, spent; /* in all; of the last text that was tried */
    bool lasts;
    text_key key; /* as in a verdict */
    char why[400];
};
/* The refusal as the search meets it. */
struct verdict outcome_use(struct search *d, const struct outcome *y);

/* One trial of a list: this candidate, read this way. */
struct ahead_trial {
    struct candidate *candidate;
    int reading;
};

/* The outcomes of trials of `with` and each of the list. demand: as of try_set. until_fine: what comes after a trial
 * that is no refusal is of no use. Nothing of the search is changed. */
void foretell(struct search *d, struct candidate *const *with, size_t nwith, const struct ahead_trial *list, size_t n,
              const struct demand *demand, bool until_fine, struct outcome *out);
/* Do cores lie idle otherwise? */
bool foretell_pays(void);

/* Trials of a round in their order, looked ahead */
struct ahead {
    const struct demand *demand;
    struct outcome *at;
    size_t n, next, block;
    int refused;
};
/* The verdict on taken[0..n] (the last one new), of which the following trials are the rest of `order` from `i` on,
 * should all be refused. */
struct verdict ahead_try(struct search *d, struct ahead *a, struct candidate *const *order, size_t norder, size_t i,
                         struct candidate **taken, size_t n);
/* Something was taken out: what was looked at ahead holds no longer. */
void ahead_forget(struct ahead *a);
void ahead_free(struct ahead *a);

#endif
