/* linear_export.h - exports the matrices of linear models for other programs
 *
 * .csv   [A B; C D] with names of rows and columns, one block for each operating point, with its time in the first
 *        column
 * .m     a script for MATLAB and Octave: names, time, A, B, C, D (with several points A(:,:,k) and so on)
 * .npz   arrays for NumPy with the same names: n by m, or with k points k by n by m
 *
 * units  SI
 */
#ifndef BG_LINEAR_EXPORT_H
#define BG_LINEAR_EXPORT_H

#include <stdio.h>

#include "linearize.h"

/* Linear models of one model, one for each point. They are copied; names belong to the model. */
typedef struct linear_points {
    size_t n, nu, ny;
    const char **state, **input, **output;
    VEC(double) time;
    VEC(state_space) space;
} linear_points;

bool linear_export_known(const char *path); /* decides by the suffix */
/* False: l's inputs are not those of the points before, *why (free() it). */
bool linear_points_add(linear_points *p, const linearization *l, char **why);
void linear_points_free(linear_points *p);
/* Writes into an open file; errors of the file stay with it. False: too large for the format, *why (free() it). */
bool linear_export(const linear_points *p, const char *path, FILE *out, char **why);

#endif
