/* mdk_parts.h - declarations shared by the files of mdk */
#ifndef BG_MDK_PARTS_H
#define BG_MDK_PARTS_H

#include "mdk.h"
#include "subspace.h"

/* Standard deviation of coordinate i over the compared samples; the first two serve only to form fd. */
double mdk_spread(const mdk_data *d, size_t i);

/* Minimizes the cost from definite r->M, D, K. fd: [m][samples - 2]. False: *why says why the search failed. */
bool mdk_refine(const mdk_data *d, const double *fd, mdk_result *r, char **why);
/* The cost of r->M, D, K as they are; NAN where the simulation diverges. */
void mdk_cost(const mdk_data *d, const double *fd, mdk_result *r);

#endif
