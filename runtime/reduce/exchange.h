/* exchange.h - sets of elements that fit together though they do not in the order of their errors
 *
 * A search that takes out one after the other, the smallest error first, misses two kinds of smaller models: parts
 * whose errors cancel (a coil and a capacitor in resonance), and a part that saves a state where one that saves none
 * was taken before it. Here sets are tried as such. Smallest means: the fewest states, of these the fewest elements.
 */
#ifndef BG_EXCHANGE_H
#define BG_EXCHANGE_H

#include "foretell.h"

/* A candidate of a round read one way, and what its error alone over its tolerance was: INFINITY where it did not run
 * or was not tried alone. */
struct option {
    struct candidate *candidate;
    int reading;
    double alone;
};

/* Looks for a set of options that leaves fewer states than *best does, or as many and fewer elements. taken: *n of the
 * round's candidates that *best takes out, 0 with nothing in *best; both are replaced where a better set is found, and
 * true is returned. What was not tried is added to the report. */
bool exchange(struct search *d, const struct option *option, size_t noptions, struct candidate **taken, size_t *n,
              struct verdict *best);
/* Adds what was not tried to the report, once. The text outlives the reduction or is in its arena. */
void note_not_tried(struct search *d, const char *what);

#endif
