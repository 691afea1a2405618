/* readings.h - what little power of an element may mean, and so what an edit may make of it
 *
 * Drop it: its own variable is small beside what is summed at its junction. Clamp it: the variable that the junction
 * shares is small, a body at rest, a rigid spring; the element becomes a source of zero. The smaller factor (predict.h)
 * is read first, the other where that does not do.
 */
#ifndef BG_READINGS_H
#define BG_READINGS_H

#include "predict.h"
#include "rewrite.h"

enum { READINGS_MOST = 3 };
/* REWRITE_ELEMENT or REWRITE_CLAMP here; why: may be NULL. bond: what is done to a bond (bonds.h), else NULL */
struct reading {
    enum rewrite_kind kind;
    const char *why;
    const rewrite_bond *bond;
};

/* at: the element's factors, NULL if they are not known. Returns how many readings there are, one at least. why: in the
 * arena. */
int readings_of(const flat_model *f, const flat_element *e, const factor *at, arena *a,
                struct reading out[READINGS_MOST]);

#endif
