/* part_errors.h - what taking an element out does to outputs that are held, to first order, for all elements at once
 *
 * Without an element its junction lacks what the element imposed: its own variable (it is dropped) or the common one
 * (the junction rests). Along the trajectory of the model as it is, that is a small input b(t), and with the partial
 * derivatives A, C along it an output moves by
 *     dy(T) = integral over 0..T of w(t) b(t),   dw/dt = -A' w,   w(T) = C'(T)
 * so that one run backwards for an output and a time T tells of every element. T: some times, evenly spaced.
 *
 * b(t) is the column of the element's factor (compile_options.removable), where it has one. Of a storage the other
 * reading has none: what it takes up is its state's rate, and just that is no longer taken up.
 *
 * It is a prediction, for runs in which nothing switches, or where rates are the same before and after: laws with a
 * corner. The trapezoidal rule on an even grid.
 *
 * units    SI
 * cost     times T and outputs, times points of the grid, times (a solution, and a product for each element)
 */
#ifndef BG_PART_ERRORS_H
#define BG_PART_ERRORS_H

#include "sensitivity.h"

/* Greatest |dy|/tolerance without the element, by reading. INFINITY: unknown. */
typedef struct part_error {
    double dropped, rests;
} part_error;

/* dy itself, from which the effect of several parts together follows. Of output i at time[k]: at[2*e*n + k*nheld + i]
 * if element e is dropped, at[(2*e + 1)*n + k*nheld + i] if its junction rests; NAN: unknown. */
typedef struct part_moves {
    size_t ntimes, nheld, n; /* n: of both */
    double *time;
    float *at;
} part_moves;
void part_moves_free(part_moves *m);

/* m: compiled with removable elements. so: run options, with the grid set here. workers: the number of processes that
 * share the times T; the result does not depend on it. out: by element, raised to what this run predicts. moves: NULL,
 * not wanted. False: nothing is predicted, out is invalid and moves is empty. */
bool part_errors(bg_model *m, sim_options *so, const held_output *held, size_t nheld, size_t workers, part_error *out,
                 part_moves *moves);

#endif
