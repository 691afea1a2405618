/* wholes.h - fields and storage that goes along with other storage, as parts of a network
 *
 * Their coefficients are a matrix: of a field the inverse of its slopes; of storage that others go along with
 * (x_d = C_d G z) the sum C + G^T C_d G, all of them being moved together. With its eigenvectors Q in the place of the
 * ports, M = Q diag(c) Q^T, it is as many parts of one coefficient each,
 *     (s M - J) z = B u,  z = Q y:  (s diag(c) - Q^T J Q) y = Q^T B u.
 * They stay, all of them: what goes is an element, and these parts are none. What of a dissipative field's matrix is
 * skew gives no power and joins J.
 */
#ifndef BG_WHOLES_H
#define BG_WHOLES_H

#include "network.h"

/* k: of s, with J by the structure's rows and single coefficients where they are. False: *why (free it). */
bool network_wholes(bg_model *m, const structure *s, network *k, char **why);

#endif
