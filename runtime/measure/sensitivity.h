/* sensitivity.h - first-order effect of small changes of the equations on outputs, along a known trajectory
 *
 * A change moves weights (flat.weight: factors and offsets of terms of the text) by given amounts for the whole run.
 * With J the model's partial derivatives along the trajectory, the states change by
 *     d/dt dx = f_x dx + f_z dz + f_w dw,   0 = g_x dx + g_z dz + g_w dw,   dy = y_x dx + y_z dz + y_w dw
 * (z: kept algebraic variables). Solved by the trapezoidal rule on the trajectory's grid: one factorisation for each
 * step, with all changes as right sides. dx is 0 at the start, or that of the equilibrium where the run starts from one
 * and J determines its change.
 *
 * It is a prediction: modes are those of the trajectory, so that times of switchings do not move and jumps leave dx
 * unchanged; motion faster than the grid is approximated coarsely.
 *
 * units    SI
 * cost     points times (one factorisation, and one solution for each change)
 */
#ifndef BG_SENSITIVITY_H
#define BG_SENSITIVITY_H

#include "simulate.h"

/* The change of a weight: 2*i is the factor of flat.weight[i], 2*i + 1 its offset. */
typedef struct weight_move {
    uint32_t weight;
    double by;
} weight_move;
typedef struct weight_change {
    const weight_move *move;
    size_t n;
} weight_change;
/* An output of the text and its tolerance (0: it must not change). */
typedef struct held_output {
    uint32_t output;
    double tolerance;
} held_output;

/* m: compiled with weighable operands; r: its run, with states and modes on the grid. greatest[i]: raised to the
 * greatest
 * dy|/tolerance of change i. False: J cannot be evaluated or solved with at some point; greatest is then invalid. */
bool sensitivity(bg_model *m, const sim_result *r, bool equilibrium, const weight_change *change, size_t n,
                 const held_output *held, size_t nheld, double *greatest);

#endif
