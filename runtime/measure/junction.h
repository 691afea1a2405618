/* junction.h - each bond against the largest at its junction
 *
 * The ratio of a bond at a junction is its activity over the greatest activity of the bonds there, those to elements
 * included. A bond between two junctions has a ratio at each end: a constraint's term that is small at one of them goes
 * one way only, small at both it may go (Rideout, Louca and Stein).
 */
#ifndef BG_JUNCTION_H
#define BG_JUNCTION_H

#include "model_graph.h"

typedef struct junction_row {
    bool is_bond;
    uint32_t index;              /* of the flat model: bond between junctions, or port */
    double activity;             /* J */
    double ratio_from, ratio_to; /* NAN where that end is an element, or nothing flows at that junction */
} junction_row;
typedef struct junction_table {
    VEC(junction_row) row;
    double total;
} junction_table; /* falling activity; of equals, the first declared */

/* The ports of the flat model that are one bond of the text: an input of a transformer field has a port for each
 * output. leader[port]: the first of them. */
uint32_t *junction_port_leaders(const model_graph *g);

/* activity: of the bond values (model.h), those of ports of one bond added up in its leader's place */
void junction_ratios(const model_graph *g, const double *activity, junction_table *out);
void junction_free(junction_table *t);

#endif
