/* unwritten.h - refusals found without writing a text
 *
 * Nearly all trials of a search are refused, and most of what one costs is that its text is planned, written and read
 * again. One element less is said in another way too: the text that is there, elaborated as if a statement `without`
 * named the element, which is the same graph. Where an output of that goes so far off that no other steps of an
 * integrator would bring it back, the trial is refused; else it is made by its text, which decides. Where the part can
 * be taken out of the equations that there are, not even these are made again (in_image.h). Whatever is accepted in the
 * end is a text that was read, run and checked.
 */
#ifndef BG_UNWRITTEN_H
#define BG_UNWRITTEN_H

#include "trial.h"

/* What of a tolerance is beyond doubt too much. Other steps of the integrator change an error by parts in a thousand
 * of it where tolerances are a hundred times those of the run or more. */
static const double BEYOND_DOUBT = 1.02;
/* What is so much less than may be is accepted until its text says so: less has to be left than for a refusal, which
 * nothing looks at again. */
static const double LIKELY = 1.005;

/* As try_set, of `taken[0..n)`, of which the first d->base_taken are what d->base lacks; those that were accepted since
 * are not yet in a text. */
struct verdict try_more(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand);
/* From here on `base` is the text that candidates are taken from, `set` what is set in it: the round's without the
 * first `taken` of its candidates. They outlive that. */
void unwritten_begin(struct search *d, const struct version *base, const overrides *set, size_t taken);
/* Before the base goes. */
void unwritten_end(struct search *d);
/* The element of the base that a candidate is, where `without` says the same as the text without it: an element that
 * the model itself declares under a plain name, and that nothing reads. NULL: another. */
const flat_element *unwritten_plain(const struct search *d, const struct candidate *x);
/* As elaboration is asked to take them out of the base: such candidates (free it). */
struct elaborate_taken *unwritten_taken(const struct search *d, struct candidate *const *part, size_t n);
/* By what such a refusal of a candidate is known, in the base as it is. */
text_key unwritten_key(const struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand);

#endif
