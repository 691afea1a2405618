/* readings.c - see readings.h */
#include "readings.h"

#include <math.h>

/* The common variable's factor must be smaller than the other one by this ratio before the element is clamped;
 * otherwise it is dropped. Factors above 1 are not compared. */
static const double CLEARLY = 0.9;

static bool
clampable(const flat_model *f, const flat_element *e)
{
    return (e->type == EL_I || e->type == EL_C || e->type == EL_R) && e->nports == 1 && e->node &&
           e->node->own->more->nargs == 0 && !f->junction.at[f->port.at[e->port0].junction].implicit;
}

int
readings_of(const flat_model *f, const flat_element *e, const factor *at, arena *a, struct reading out[READINGS_MOST])
{
    bool common = f->junction.at[f->port.at[e->port0].junction].type == 1;
    /* little power, but the greatest term of a sum: the common variable is small, even if it is part of no sum */
    bool stiff = at && !isfinite(at->common) && isfinite(at->own) && at->own > 1;
    bool rests_first = stiff || (at && at->common < CLEARLY * fmin(at->own, 1));
    struct reading drop = { .kind = REWRITE_ELEMENT }, clamp = { .kind = REWRITE_CLAMP };
    int n = 0;

    if (at && isfinite(at->own))
        drop.why = arena_format(a, "its %s is %.2g of the greatest in the same sum", common ? "effort" : "flow",
                                at->own);
    if (at && isfinite(at->common))
        clamp.why = arena_format(a, "the %s of its junction is %.2g of its neighbours'", common ? "flow" : "effort",
                                 at->common);
    if (stiff)
        clamp.why = arena_format(a, "of little power, its %s is %.2g of the greatest in the same sum",
                                 common ? "effort" : "flow", at->own);
    if (!clampable(f, e)) {
        out[n++] = drop;
    } else if (rests_first) {
        out[n++] = clamp;
        out[n++] = drop;
    } else {
        out[n++] = drop;
        /* a resistor at rest only follows the storage element at its junction */
        if (e->type != EL_R)
            out[n++] = clamp;
    }
    return n;
}
