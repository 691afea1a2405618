/* joint.h - which parts of a network go, with what the others gain by fitting taken into account
 *
 * While there are many states, what may go within a share of the error that balanced truncation makes goes, that which
 * takes most states along first; the share grows where nothing is left within it. Then, state by state, the best few
 * sets of each size are kept (a beam): of each the parts whose going promises least after fitting (network_prospects)
 * are tried, both ways, and fitted. At the size asked for parts come back that stand beside those that stay, others go
 * in their place, as long as that lessens the error. Dissipators cost no state: those beside what stays come back, and
 * go in the end where the error hardly notices. The last few sets are fitted for their greatest error.
 *
 * Deterministic: nothing is drawn, no clock decides.
 */
#ifndef BG_JOINT_H
#define BG_JOINT_H

#include "network_fit.h"

typedef struct joint_options {
    size_t states;    /* at most */
    double yardstick; /* the relative error that is aimed at */
} joint_options;

typedef struct joint_result {
    uint8_t *fate;      /* [parts] */
    double *theta;      /* [parameters] */
    double error;       /* greatest relative error over the frequencies looked at */
    size_t states;      /* that stay */
    size_t tried, fits; /* sets looked at to first order, and fitted */
    size_t exchanges;   /* that were better */
} joint_result;

/* False: nothing of so few states has a response. joint_result_free it in any case. */
bool joint_search(const network *k, const tuning *t, const frequencies *f, const joint_options *o, joint_result *r);
void joint_result_free(joint_result *r);

#endif
