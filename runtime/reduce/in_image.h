/* in_image.h - trials that compile nothing: a part is taken out by a factor of 0 in the image of the present text
 *
 * An element that imposes what its junction adds up has no effect when it imposes zero; one that imposes the variable
 * its junction's bonds share brings the junction to rest. In both cases the factor is a parameter of the equations, so
 * that an instance of one image runs instead of a text that is written, read and compiled. One or many parts can be
 * taken out.
 *
 * Candidates refused in this way are refused as in unwritten.h. Accepted ones are written, compiled, run and checked
 * later, many at once (bounded.c); in the end only such a text is accepted.
 */
#ifndef BG_IN_IMAGE_H
#define BG_IN_IMAGE_H

#include "trial.h"

/* The verdict on the parts taken[0..n) of the round: those already missing in the base (d->base_taken) and further
 * ones, all of them plain (unwritten.h). False: other equations would be needed, or the run is too close to the
 * tolerance to decide. */
bool in_image_try(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand,
                  struct verdict *out);
/* Can it be taken out there, with this reading, if nothing else hinders that? Also true if that is not known yet. */
bool in_image_can(const struct search *d, const struct candidate *x, int reading);
/* The base compiled in this way, by experiment, as long as nothing has been accepted; NULL: that is not possible. */
compilation *in_image_base(struct search *d);
/* Call before the base is freed or replaced, and when parts taken[0..n) are accepted that cannot be taken out in this
 * way: the next image is compiled without them. */
void in_image_forget(struct search *d, size_t n);
/* Compiles the image of a text that is likely to be the next base, with all code that its trials need. */
void in_image_ahead(const struct search *d, const struct version *of, const overrides *set, struct in_image *out);
/* Takes it over if it exists, when that text is the base. */
void in_image_use(struct search *d, struct in_image *ahead);
void in_image_drop(const struct search *d, struct in_image *m);
/* The images of one base for the searches of several threads (search.images): each is compiled once. images_new: with
 * that of d. */
struct images *images_new(const struct search *d);
void images_free(const struct search *d, struct images *x);
/* One more uses it, or one less; the last frees it. NULL is fine. */
struct removable *in_image_share(struct removable *x);
void in_image_leave(const struct search *d, struct removable *x);

#endif
