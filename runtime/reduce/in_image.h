/* in_image.h - trials that compile nothing: what goes is a factor of 0 in the image of the text at hand
 *
 * An element that determines what its junction adds up is not there where it gives zero, and one that determines what
 * its junction's bonds share rests there. Both are a parameter of the equations that there are, so that an instance of
 * one image runs instead of a text that is written, read and compiled: one part less, or many.
 *
 * What is refused so is refused as in unwritten.h. What is accepted so is written, compiled, run and checked some time
 * later, many parts at once (bounded.c), and nothing is accepted in the end but such a text.
 */
#ifndef BG_IN_IMAGE_H
#define BG_IN_IMAGE_H

#include "trial.h"

/* The verdict on the parts taken[0..n) of the round: those that the base lacks (d->base_taken) and further ones, all of
 * them plain (unwritten.h). False: the equations would be others, or the run does not decide it, as it is too near to
 * what may be. */
bool in_image_try(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand,
                  struct verdict *out);
/* The base so compiled, by experiment, as long as nothing was accepted yet; NULL: it cannot be. */
compilation *in_image_base(struct search *d);
/* Before the base goes, or is another; and where taken[0..n) are accepted of which some cannot be taken out so: the
 * next image is compiled without them. */
void in_image_forget(struct search *d, size_t n);

#endif
