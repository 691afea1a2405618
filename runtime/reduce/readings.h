/* readings.h - the two readings of an element with little power, and the edits that they mean
 *
 * Drop: its own variable is small compared with the other terms at its junction. Clamp: the junction's common variable
 * is small (a body at rest, a rigid spring), and the element becomes a source of zero. The reading with the smaller
 * factor (predict.h) comes first; the other one is tried where the first is not accepted.
 */
#ifndef BG_READINGS_H
#define BG_READINGS_H

#include "predict.h"
#include "rewrite.h"

enum { READINGS_MOST = 3 };
/* here REWRITE_ELEMENT or REWRITE_CLAMP; why may be NULL. bond: the change of a bond (bonds.h), or NULL */
struct reading {
    enum rewrite_kind kind;
    const char *why;
    const rewrite_bond *bond;
};

/* at: the element's factors; NULL: not known. Returns the number of readings, at least one. why: in the arena. */
int readings_of(const flat_model *f, const flat_element *e, const factor *at, arena *a,
                struct reading out[READINGS_MOST]);

#endif
