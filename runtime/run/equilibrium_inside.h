/* equilibrium_inside.h - what the files of the search for equilibria share */
#ifndef BG_EQUILIBRIUM_INSIDE_H
#define BG_EQUILIBRIUM_INSIDE_H

#include "events.h"
#include "linear.h"
#include "scales.h"

#define NAMED 5 /* states named in a message */

typedef struct rest {
    bg_model *model;
    size_t n;
    double t;
    bool *active;      /* [n] takes part */
    double *f, *gross; /* [n] rates; size of the terms they are made of */
    scales *scales;
    double *size, *rounding;              /* [n] scales of the states; rates that are only rounding */
    double *trial, *step, *probe, *first; /* first: [n] gross where a march began */
    uint32_t *group;                      /* [n] states of one unit */
    linear *linear;
    events *events;
    /* singular values of the scaled reduced Jacobian */
    bool svd;
    double *u, *sigma, *vt, *row_scale, *column_scale;
    size_t rank;
    bool *rooted;          /* [n] read by laws with an infinite slope; NULL: there are none */
    double *aside, motion; /* [n] beside(); the model's time at the start */
} rest;

/* With zeros for states that take no part. False: they are not finite. */
bool rest_rates(rest *s, const double *x, double *f);
/* The greatest rate in parts of its terms (s->gross), but for rounding. */
double rest_residual(const rest *s, const double *f);

/* ---- equilibrium_free.c ---- */

/* Would the model stay at x, or does motion lead away from it? */
bool rest_stays(rest *s, const double *x);
/* Decomposes the Jacobian of the states alone, scaled to rows and columns of size one. */
bool rest_decompose(rest *s, const double *x);
/* Corrections of least size among those that leave totals as they are, with the decomposed Jacobian, while they help.
 */
double rest_polish(rest *s, double *x);
/* Says which states the equilibrium x leaves free though nobody states a value for them. */
void rest_report_free(rest *s, const double *x);

#endif
