/* junction.h - the activity of each bond relative to the largest at its junction
 *
 * The ratio of a bond at a junction is its activity over the greatest activity of the bonds there, bonds to elements
 * included. A bond between two junctions has a ratio at each end: if it is small at one end, the bond acts in one
 * direction only; if it is small at both, the bond may be removed (Rideout, Louca and Stein).
 */
#ifndef BG_JUNCTION_H
#define BG_JUNCTION_H

#include "model_graph.h"

typedef struct junction_row {
    bool is_bond;
    uint32_t index;              /* in the flat model: a bond between junctions, or a port */
    double activity;             /* J */
    double ratio_from, ratio_to; /* NAN where that end is an element, or nothing flows at that junction */
} junction_row;
typedef struct junction_table {
    VEC(junction_row) row;
    double total;
} junction_table; /* in descending activity; of equals, the first declared */

/* Ports of the flat model that are one bond in the text: an input of a transformer field has a port for each output.
 * leader[port]: the first of them. */
uint32_t *junction_port_leaders(const model_graph *g);

/* activity: of bond values (model.h); ports of one bond are added up in place of their leader */
void junction_ratios(const model_graph *g, const double *activity, junction_table *out);
void junction_free(junction_table *t);

#endif
