/* equilibrium_inside.h - declarations shared by the files of the search for equilibria */
#ifndef BG_EQUILIBRIUM_INSIDE_H
#define BG_EQUILIBRIUM_INSIDE_H

#include "events.h"
#include "linear.h"
#include "scales.h"

#define NAMED 5 /* greatest number of states named in a message */

typedef struct rest {
    bg_model *model;
    size_t n;
    double t;
    bool *active;      /* [n] takes part */
    double *f, *gross; /* [n] rates; sums of the magnitudes of their terms */
    scales *scales;
    double *size, *rounding;              /* [n] scales of the states; rounding errors of rates */
    double *trial, *step, *probe, *first; /* first: [n] gross at the beginning of a march */
    uint32_t *group;                      /* [n] number for the unit of each state */
    linear *linear;
    events *events;
    /* singular values of the scaled reduced Jacobian */
    bool svd;
    double *u, *sigma, *vt, *row_scale, *column_scale;
    size_t rank;
    bool *rooted;          /* [n] read by laws with an infinite slope; NULL: there are none */
    double *aside, motion; /* [n] beside(); time scale of the model at the start */
} rest;

/* With zeros for states that take no part. False: rates are not finite. */
bool rest_rates(rest *s, const double *x, double *f);
/* The greatest rate relative to its terms (s->gross), without rounding errors. */
double rest_residual(const rest *s, const double *f);

/* ---- equilibrium_free.c ---- */

/* Does the model stay at x, or does the motion leave it? */
bool rest_stays(rest *s, const double *x);
/* Decomposes the Jacobian of the states alone, scaled to rows and columns of size one. */
bool rest_decompose(rest *s, const double *x);
/* Makes the smallest corrections that conserve totals, with the decomposed Jacobian, as long as they reduce the
 * residual. */
double rest_polish(rest *s, double *x);
/* Reports the states that the equilibrium x does not determine and that have no stated initial value. */
void rest_report_free(rest *s, const double *x);

#endif
