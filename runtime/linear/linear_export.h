/* linear_export.h - the matrices of linear models for other programs
 *
 * .csv   [A B; C D] with the names of rows and columns, a block for each operating point, its time in the first column
 * .m     a script for MATLAB and Octave: names, time, A, B, C, D (of several points A(:,:,k) and so on)
 * .npz   arrays for NumPy: the same names; matrices n by m, of several points k by n by m
 *
 * units  SI
 */
#ifndef BG_LINEAR_EXPORT_H
#define BG_LINEAR_EXPORT_H

#include <stdio.h>

#include "linearize.h"

/* Linear models of one model, one for each point; copied, names are the model's. */
typedef struct linear_points {
    size_t n, nu, ny;
    const char **state, **input, **output;
    VEC(double) time;
    VEC(state_space) space;
} linear_points;

bool linear_export_known(const char *path); /* by its suffix */
/* False: *why (free it), with l's inputs not those of the points before. */
bool linear_points_add(linear_points *p, const linearization *l, char **why);
void linear_points_free(linear_points *p);
/* Into an open file; its errors stay with the file. False: *why (free it), too much for the format. */
bool linear_export(const linear_points *p, const char *path, FILE *out, char **why);

#endif
