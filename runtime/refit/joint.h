/* joint.h - chooses which parts of a network to remove, taking into account that the others are fitted afterwards
 *
 * While there are many states, every part goes that can go within a share of the error of balanced truncation, those
 * that remove most states first; the share grows when nothing is left within it. Then, state by state, the best few
 * sets of each size are kept (beam search): of each, the parts with the smallest predicted error after fitting
 * (network_prospects) are removed, in both ways, and the rest is fitted. At the requested size, parts next to the
 * remaining ones are exchanged for others as long as that lowers the error. Dissipators have no state: those next to
 * remaining parts come back, and are removed in the end where that hardly changes the error. The last few sets are
 * fitted for their greatest error.
 *
 * Deterministic: no random numbers, no clock.
 */
#ifndef BG_JOINT_H
#define BG_JOINT_H

#include "network_fit.h"

typedef struct joint_options {
    size_t states;    /* at most */
    double yardstick; /* the relative error to aim at */
} joint_options;

typedef struct joint_result {
    uint8_t *fate;      /* [parts] */
    double *theta;      /* [parameters] */
    double error;       /* greatest relative error over all frequencies considered */
    size_t states;      /* that stay */
    size_t tried, fits; /* sets evaluated to first order, and sets fitted */
    size_t exchanges;   /* exchanges that lowered the error */
} joint_result;

/* False: no set with so few states has a response. Call joint_result_free in any case. */
bool joint_search(const network *k, const tuning *t, const frequencies *f, const joint_options *o, joint_result *r);
void joint_result_free(joint_result *r);

#endif
