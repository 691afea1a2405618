/* foretell.h - trials of a search, run in parallel before the search reaches them
 *
 * A trial that does not depend on the outcome of those before it can run at the same time on another core. The result
 * of a search does not depend on this: an outcome is used when the search reaches that very trial. For a part accepted
 * in the image (in_image.h) the outcome is final; any other outcome that is not a refusal is a hint only, and the trial
 * is repeated in its turn. Trials that do depend on each other: bounded_ahead.c.
 */
#ifndef BG_FORETELL_H
#define BG_FORETELL_H

#include "trial.h"

/* The outcome of a trial; no version is kept. `simulations` are counted when the search uses the outcome. */
struct outcome {
    bool refused;
    bool ran, fine, unwritten, in_image, undecided;
    double worst;
    size_t simulations, spent, before; /* in all; of the last text that was tried; before a text was made */
    bool lasts;
    text_key key; /* as in a verdict */
    char why[400];
    bool measured;
    double off[TOGETHER_MOST]; /* as in a verdict */
};
/* n: number of errors that verdicts know (together.h) */
struct outcome outcome_of(const struct verdict *v, size_t n);
/* Is it everything that is to be known about the trial? */
bool outcome_decides(const struct outcome *y);
/* Turns such an outcome into the verdict of the search. */
struct verdict outcome_use(struct search *d, const struct outcome *y);

/* A trial of n candidates, each with this reading. */
struct ahead_trial {
    struct candidate *const *more;
    const int *reading;
    size_t n;
};

/* Runs a trial in a process of its own or in this one: nothing of the search is changed. set: the candidates of the
 * trial behind nwith others. demand: as for try_set. */
void foretell_one(struct search *d, struct candidate **set, size_t nwith, const struct ahead_trial *trial,
                  const struct demand *demand, struct outcome *out);
/* Independent trials, at most so many in one call, each of at most `size` candidates. The processes have a copy of the
 * search as it is now: its base must stay until the end. */
typedef struct foretelling foretelling;
foretelling *foretell_begin(struct search *d, size_t most, size_t size, const struct demand *demand);
void foretell(foretelling *f, const struct ahead_trial *list, size_t n, struct outcome *out);
void foretell_end(foretelling *f);
/* How many trials can run at a time; with 1 there is nothing to gain. */
size_t foretell_workers(const struct search *d);

#endif
