/* mdk_parts.h - what the files of mdk share */
#ifndef BG_MDK_PARTS_H
#define BG_MDK_PARTS_H

#include "mdk.h"
#include "subspace.h"

/* Standard deviation of coordinate i over the samples that are compared: the first two only serve fd. */
double mdk_spread(const mdk_data *d, size_t i);

/* From definite r->M, D, K to the least cost. fd: [m][samples - 2]. False: *why says why the search ended without an
 * answer. */
bool mdk_refine(const mdk_data *d, const double *fd, mdk_result *r, char **why);
/* The cost of r->M, D, K as they are, NAN where the simulation diverges. */
void mdk_cost(const mdk_data *d, const double *fd, mdk_result *r);

#endif
