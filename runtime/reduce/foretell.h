/* foretell.h - trials of a search side by side, before it comes to them
 *
 * A trial that does not depend on what comes of those before it can run beside them, on other cores. What a search
 * finds does not depend on it: an outcome is used where the search comes to that very trial, and of what is accepted in
 * the image (in_image.h) the outcome is all there is; another outcome that is no refusal is only a hint, and the trial
 * is made when its turn comes.
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
    bool measured;
    double off[TOGETHER_MOST]; /* as in a verdict */
};
/* Is it all that is to be known of the trial? */
bool outcome_decides(const struct outcome *y);
/* Such an outcome as the search meets it. */
struct verdict outcome_use(struct search *d, const struct outcome *y);

/* What those after a trial of a list hold for: that it is refused; that it is accepted in the image; whatever comes of
 * it. */
enum supposed { SUPPOSED_NOTHING, SUPPOSED_REFUSED, SUPPOSED_ACCEPTED };

/* One trial of a list: n candidates go beyond what is taken, each of them read this way. */
struct ahead_trial {
    struct candidate *const *more;
    const int *reading;
    size_t n;
    enum supposed supposed;
};

/* The outcomes of trials of `with` and each of the list. demand: as of try_set. What comes after a trial that did not
 * do what was supposed is of no use. first: the verdict on the first of the list, or NULL: it is an outcome as all of
 * them. Nothing of the search is changed. */
void foretell(struct search *d, struct candidate *const *with, size_t nwith, const struct ahead_trial *list, size_t n,
              const struct demand *demand, struct verdict *first, struct outcome *out);
/* How many can run at a time: with 1 nothing is to be had from it. */
size_t foretell_workers(const struct search *d);

#endif
