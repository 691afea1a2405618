/* unwritten.h - refusals found without writing a text
 *
 * Nearly all trials of a search are refused, and most of what one costs is that its text is planned, written and read
 * again. One element less is said in another way too: the text that is there, elaborated as if a statement `without`
 * named the element, which is the same graph. Where an output of that goes so far off that no other steps of an
 * integrator would bring it back, the trial is refused; else it is made by its text, which decides. Whatever is
 * accepted is a text that was read, run and checked.
 */
#ifndef BG_UNWRITTEN_H
#define BG_UNWRITTEN_H

#include "trial.h"

/* What of a tolerance is beyond doubt too much. Other steps of the integrator change an error by parts in a thousand
 * of it where tolerances are a hundred times those of the run or more. */
static const double BEYOND_DOUBT = 1.02;

/* As try_set, of `taken[0..n)`, of which all but the last were accepted, together, as d->base. */
struct verdict try_one_more(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand);
/* From here on `base` is the text that candidates are taken from, `set` what is set in it. They outlive that. */
void unwritten_begin(struct search *d, const struct version *base, const overrides *set);

#endif
