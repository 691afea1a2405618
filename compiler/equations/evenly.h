/* evenly.h - equal resistors that saturate in a row share evenly
 *
 * Of two choked nozzles that one flow goes through, and whose flow does not depend on their pressure any more, only the
 * sum of the pressures is determined. An equal slope of both, however small, would divide it evenly: that is the
 * solution which is taken, among those that there are.
 *
 *   f = L(e1), f = L(e2), L rises or falls, but is flat somewhere      e2 = e1
 *
 * The same with efforts and flows exchanged, and behind transformers and gyrators of constant and equal ratio. Laws are
 * equal that are the same expression with the same numbers and variables: parameters of their own can be made
 * different.
 */
#ifndef BG_EVENLY_H
#define BG_EVENLY_H

#include "blocks.h"

/* Replaces laws of resistors in groups. needs: the definitions and groups of everything but rates
 * cost     nothing but a look at each law if no two resistors have such laws */
void evenly_share(equations *e, struct groups *g);

#endif
