/* wholes.h - fields, and storage with dependent storage, as parts of a network
 *
 * Their coefficients form a matrix: for a field the inverse of its slopes; for storage with dependent storage (x_d =
 * C_d G z) the sum C + G^T C_d G, since all of it moves together. Written in its eigenvectors Q instead of the ports, M
 * = Q diag(c) Q^T, it becomes as many parts with one coefficient each,
 *     (s M - J) z = B u,  z = Q y:  (s diag(c) - Q^T J Q) y = Q^T B u.
 * All of these parts stay: only elements can be removed, and these parts are none. The skew part of a dissipative
 * field's matrix carries no power and is added to J.
 */
#ifndef BG_WHOLES_H
#define BG_WHOLES_H

#include "network.h"

/* k: network of s, with J from the structure's rows and with single coefficients where they exist. False: *why (free()
 * it). */
bool network_wholes(bg_model *m, const structure *s, network *k, char **why);

#endif
