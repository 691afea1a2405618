/* straighten.h - laws in pieces, each solved for the same variable
 *
 * A choked nozzle, f = if e > e1 then f1 else k*sqrt(e), leaves e open where f is f1. Where a state gives f, the law is
 * an ideal switch: f = f1, or e = (f/k)^2. Written so it is linear in e, whatever the pieces are.
 */
#ifndef BG_STRAIGHTEN_H
#define BG_STRAIGHTEN_H

#include "expr.h"

/* n = 0 with each of its pieces that depends on slot k written as k - solution = 0. NODE_NONE: one has no solution, or
 * n has no pieces. */
node straighten_pieces(pool *p, node n, uint32_t k);

#endif
