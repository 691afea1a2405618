/* exchange.h - searches for sets of elements that can be taken out together although their order of errors misses them
 *
 * Taking out one element after the other, smallest error first, misses two kinds of smaller models: elements whose
 * errors cancel (a coil and a capacitor in resonance), and an element that saves a state where one that saves none was
 * taken before it. Here whole sets are tried. Smallest means: the fewest states, then the fewest elements.
 */
#ifndef BG_EXCHANGE_H
#define BG_EXCHANGE_H

#include "foretell.h"

/* A candidate of a round with one reading, and its error alone over its tolerance: INFINITY where it did not run or was
 * not tried alone. */
struct option {
    struct candidate *candidate;
    int reading;
    double alone;
};

/* Looks for a set of options that leaves fewer states than *best does, or as many states and fewer elements. taken: the
 * *n candidates of the round that *best takes out (0 with an empty *best). Both are replaced where a better set is
 * found, and true is returned. Sets that were not tried are noted in the report. */
bool exchange(struct search *d, const struct option *option, size_t noptions, struct candidate **taken, size_t *n,
              struct verdict *best);
/* Notes in the report, once, what was not tried. The text must outlive the reduction or be in its arena. */
void note_not_tried(struct search *d, const char *what);

#endif
