/* sensitivity.h - what a small change of the equations does to the outputs, to first order, along a trajectory that is
 * known
 *
 * A change moves weights (flat.weight: factors and offsets of terms of the text) by given amounts for the whole run.
 * With J the model's partial derivatives along the trajectory, the states move by
 *     d/dt dx = f_x dx + f_z dz + f_w dw,   0 = g_x dx + g_z dz + g_w dw,   dy = y_x dx + y_z dz + y_w dw
 * (z: algebraic variables that are kept). Solved by the trapezoidal rule on the trajectory's grid: one factorisation a
 * step, in which all changes are right sides. dx is 0 at the start, or that of the equilibrium where the run starts
 * from one and J says how that moves.
 *
 * It is a prediction: modes stay as they are on the trajectory, so that the times of switchings do not move, and jumps
 * at them leave dx alone; motion faster than the grid is followed coarsely.
 *
 * units    SI
 * cost     points times (a factorisation, and a solution for each change)
 */
#ifndef BG_SENSITIVITY_H
#define BG_SENSITIVITY_H

#include "simulate.h"

/* Which weight changes by how much: 2*i is the factor of flat.weight[i], 2*i + 1 its offset. */
typedef struct weight_move {
    uint32_t weight;
    double by;
} weight_move;
typedef struct weight_change {
    const weight_move *move;
    size_t n;
} weight_change;
/* An output of the text, and what it may move by (0: not at all). */
typedef struct held_output {
    uint32_t output;
    double tolerance;
} held_output;

/* m: compiled with weighable operands; r: its run, with states and modes on the grid. greatest[i]: raised to the
 * greatest |dy|/tolerance of change i. False: J cannot be evaluated or solved with at some point; greatest is invalid
 * then. */
bool sensitivity(bg_model *m, const sim_result *r, bool equilibrium, const weight_change *change, size_t n,
                 const held_output *held, size_t nheld, double *greatest);

#endif
