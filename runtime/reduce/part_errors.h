/* part_errors.h - first-order effect on outputs of taking an element out, for all elements at once
 *
 * Without an element its junction lacks what the element imposed: its own variable (the element is dropped) or the
 * common variable (the junction rests). Along the trajectory of the full model this is a small input b(t), and with the
 * partial derivatives A, C along it an output changes by
 *     dy(T) = integral over 0..T of w(t) b(t),   dw/dt = -A' w,   w(T) = C'(T)
 * so that one backward run for an output and a time T gives the effect of every element. T: some evenly spaced times.
 *
 * b(t) is the column of the element's factor (compile_options.removable), if it has one. A storage element has no
 * factor for the other reading: there b(t) is the rate of its state, which is no longer taken up.
 *
 * The prediction is valid for runs without switching, or where rates are continuous at switchings (laws with a corner).
 * It uses the trapezoidal rule on an even grid.
 *
 * units    SI
 * cost     times T and outputs, times points of the grid, times (one solution, and one product for each element)
 */
#ifndef BG_PART_ERRORS_H
#define BG_PART_ERRORS_H

#include "influence.h"

/* Greatest |dy|/tolerance without the element, by reading. INFINITY: unknown. */
typedef struct part_error {
    double dropped, rests;
} part_error;

/* dy itself, from which the effect of several parts together follows. For output i at time[k]: at[2*e*n + k*nheld + i]
 * if element e is dropped, at[(2*e + 1)*n + k*nheld + i] if its junction rests; NAN: unknown. The model must outlive
 * it.
 */
typedef struct part_moves {
    size_t ntimes, nheld, n; /* n = ntimes*nheld */
    double *time;
    float *at;
    influence *influence; /* NULL: unknown */
} part_moves;
void part_moves_free(part_moves *m);

/* A run: of a model that is compiled with removable elements, all of them the same in each; with these options, the
 * grid is set here. */
typedef struct part_run {
    bg_model *model;
    sim_options *so;
    const held_output *held;
    size_t nheld;
} part_run;
/* workers: number of threads, which run several experiments side by side and then share the times T of each; the result
 * does not depend on it. out: by element; raised to what the runs predict. moves: by run; NULL: not computed. Returns
 * for how many runs, from the first one on, there is a prediction; if that is not all of them, out is invalid and the
 * further moves are empty. */
size_t part_errors(const part_run *list, size_t n, size_t workers, part_error *out, part_moves *moves);

#endif
