/* unwritten.h - refuses candidates without writing a text
 *
 * Nearly all trials of a search are refused, and most of the cost of a trial is planning, writing and parsing its text.
 * A text without an element has the same graph as the present text elaborated with an additional `without` for that
 * element. If an output of that model is so far off that different integration steps cannot explain it, the trial is
 * refused; otherwise its text is made and decides. Where the part can be taken out of the existing equations, not even
 * these are made again (in_image.h). Whatever is accepted in the end is a text that was parsed, run and checked.
 */
#ifndef BG_UNWRITTEN_H
#define BG_UNWRITTEN_H

#include "trial.h"

/* An error above this multiple of the tolerance is refused for certain: with tolerances of a hundred times the
 * integrator's or more, other steps change an error by a few thousandths. */
static const double BEYOND_DOUBT = 1.02;
/* An error below the tolerance by this factor is accepted provisionally; the margin is smaller than for a refusal,
 * because the text is checked later and a refusal is not. */
static const double LIKELY = 1.005;

/* Like try_set for taken[0..n); d->base already lacks the first d->base_taken of them, and those accepted since are not
 * yet in a text. With d->no_text the verdict may be `undecided`. */
struct verdict try_more(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand);
/* Is it known already that it would be refused? Then *out is what try_more would return. */
bool try_known(const struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand,
               struct verdict *out);
/* Sets the base: candidates are taken from the text `base` with the overrides `set`, which is the text of the round
 * without the first `taken` of its candidates. Both must stay valid until unwritten_end. */
void unwritten_begin(struct search *d, const struct version *base, const overrides *set, size_t taken);
/* Call before the base is freed. */
void unwritten_end(struct search *d);
/* The element of the base that a candidate means, if `without` gives the same graph as the text without it: an element
 * that the model itself declares under a plain name and that nothing reads. NULL: it is not one. */
const flat_element *unwritten_plain(const struct search *d, const struct candidate *x);
/* Such candidates in the form that elaboration takes (free() it). */
struct elaborate_taken *unwritten_taken(const struct search *d, struct candidate *const *part, size_t n);
/* Key under which such a refusal of a candidate is remembered, for the present base. */
text_key unwritten_key(const struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand);

#endif
