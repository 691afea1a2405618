/* plan.h - which bonds become modulated sources: the conditioning of a bond graph
 *
 * What joins two junctions is a link: a bond, or a two-port with its two bonds. A link that is locally inactive at one
 * end does without that end's balance: there its effort (of a 1) or flow (of a 0) is left out, and the common variable
 * of that junction acts on the other end as a modulated source, with the two-port's modulus in it. Inactive at both
 * ends it goes. Only a causally weak end can be left out: one that brings the junction's common variable is refused.
 * A junction at which no bond has power says nothing of its bonds: none is inactive there. Bonds to elements are
 * external: an inactive one drives its element and does not feel it (a trivial driven partition), which is for the
 * reduction of elements to use, not for conditioning.
 *
 * source   Rideout and Stein, Tables 1 and 2
 */
#ifndef BG_PLAN_H
#define BG_PLAN_H

#include "causality.h"
#include "local.h"

enum { LINK_NONE = NONE };
enum link_end { LINK_TAIL, LINK_HEAD };
enum link_fate {
    LINK_STAYS,
    LINK_TO_HEAD,
    LINK_TO_TAIL,
    LINK_GOES
}; /* to head: the source stands there, its signal comes from the tail */

typedef struct link {
    uint32_t bond;             /* of the flat model, or LINK_NONE */
    uint32_t element, port[2]; /* a two-port and its ports, in-port first; or LINK_NONE */
    uint32_t end[2];           /* junctions */
    const char *name;          /* of the bond (or "a -> b"), or of the two-port */
    double activity, ratio[2]; /* ratio NAN: nothing flows at that junction */
    bool inactive[2], strong[2];
    enum link_fate fate;
    const char *refused; /* why it stays though it is inactive; NULL: it does not, or is active */
    bool left;           /* a conditioned one that the text keeps as it is: both its ends are in one partition */
    const char *where;   /* the end that is refused though the other is left out, likewise */
} link;

typedef struct link_plan {
    VEC(link) link;
    double limit;
    size_t conditioned, refused; /* how many */
} link_plan;

/* f, c: graph and causality of one compilation. l NULL: nothing is known, everything stays. */
void plan_make(const flat_model *f, const causal *c, const local_ratios *l, double limit, arena *a, link_plan *out);
void plan_free(link_plan *p);
/* "from", "to" (the end at which a modulated source stands), "both" (it goes) or NULL */
const char *link_conditioned(const link *x);

#endif
