/* plan.h - decides which bonds become modulated sources: the conditioning of a bond graph
 *
 * A link is what joins two junctions: a bond, or a two-port with its two bonds. A link that is locally inactive at one
 * end does not need the balance at that end: its effort (at a 1-junction) or flow (at a 0-junction) is left out there,
 * and the common variable of that junction acts on the other end through a modulated source, which includes the modulus
 * of the two-port. A link that is inactive at both ends is cut altogether. Only a causally weak end can be left out:
 * the end that determines the junction's common variable is refused. At a junction where no bond carries power none
 * counts as inactive. Bonds to elements are external: an inactive one means that the junction drives the element and
 * does not feel it (a trivial driven partition). Those are left to the reduction of elements and not conditioned.
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
}; /* to head: the source stands at the head and reads its signal at the tail */

typedef struct link {
    uint32_t bond;             /* of the flat model, or LINK_NONE */
    uint32_t element, port[2]; /* a two-port and its ports, in-port first; or LINK_NONE */
    uint32_t end[2];           /* junctions */
    const char *name;          /* name of the bond (or "a -> b"), or of the two-port */
    double activity, ratio[2]; /* ratio NAN: nothing flows at that junction */
    bool inactive[2], strong[2];
    enum link_fate fate;
    const char *refused; /* why an inactive link stays; NULL: it is active or does not stay */
    bool left;           /* conditioned in the plan, but kept in the text because both its ends are in one partition */
    const char *where;   /* likewise: the end that is refused although the other one is left out */
} link;

typedef struct link_plan {
    VEC(link) link;
    double limit;
    size_t conditioned, refused; /* how many */
} link_plan;

/* f, c: graph and causality of one compilation. l NULL: no ratios are known, every link stays. */
void plan_make(const flat_model *f, const causal *c, const local_ratios *l, double limit, arena *a, link_plan *out);
void plan_free(link_plan *p);
/* "from" or "to" (the end at which a modulated source stands), "both" (the link is cut), or NULL */
const char *link_conditioned(const link *x);

#endif
