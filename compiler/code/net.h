/* net.h - solves for what ideal switches determine, with given modes, and finds the modes
 *
 * The held unknowns (equations/switched.h) stand behind the modes in the array that all programs read. Solving writes
 * them there; everything else is then evaluated as ever. For each combination of modes seen, what its equations
 * determine and what they ask of states is kept (staircase.h).
 *
 * A search looks for modes with which all of the differences that the net's modes are the signs of agree, just behind
 * an instant:
 *   ahead     modes are exchanged by pivoting (all that contradict, then the first alone: Murty 1974; Judice and Pires
 *             1994) in the equations a short time h on, r + h r' + h^2/2 r'' = 0, which are regular where the circuit
 *             is passive, and in which rates decide where values are zero; the unknowns of order 1/h that they have
 *             where states must jump are the impulses
 *   verified  the states are moved onto the constraints of these modes by those impulses (charge and momentum are
 *             conserved, energy does not rise), and the differences must agree there, to rounding
 *   softened  where that leads nowhere, the same with conditions that have a little of their other side each: what is
 * in a row, side by side, or in a loop with stiff sources then has one solution whatever the modes complete  where that
 * fails for several h, all combinations are tried while there are not too many; of many, those of what is not alike
 *   shared    modes of which either will do are those that leave most to be shared evenly
 * Of a thousand nets few change at an event: those whose modes agree as they are, are looked at together and not
 * searched.
 */
#ifndef BG_NET_H
#define BG_NET_H

#include "jacobian.h"
#include "net_form.h"

typedef struct nets nets;

typedef struct nets_access {
    void *ctx;
    /* Conditions of all rows (three each), then differences of all watches (three each), with the held unknowns as they
     * are. */
    int (*rows)(void *ctx, double t, const double *x, double *out);
    /* Of rates, then of what rows gives, by states and held unknowns. NULL with a diagnostic where its code fails. */
    jacobian *(*partials)(void *ctx);
} nets_access;

/* modes: of the model; the held unknowns behind them. */
nets *nets_new(const net_form *form, double *modes, nets_access a);
void nets_free(nets *s);
void nets_reset(nets *s);  /* parameters have changed */
void nets_forget(nets *s); /* what runs left behind */

/* Held unknowns at (t, x) for the modes as they are. 0, 1 (no solution there) or -1. */
int nets_solve(nets *s, double t, const double *x);
/* What the conditions (three each) say of the held unknowns, by the last solution's modes: these are minus that, where
 * the conditions are the values with the unknowns at zero. False: there is no solution. */
bool nets_combine(nets *s, const double *rows, double *held);
/* Rates of states that a condition holds at zero are zero exactly, as are those that the unknowns cancel but for
 * rounding. After rates with the held unknowns solved for. */
void nets_rest(const nets *s, double *dx);
/* Differences of watched modes, by mode, that are rounding are zero. After an evaluation with the held unknowns solved
 * for. */
void nets_quiet(nets *s, double *g);
/* Moves x back onto the constraints that hold, from where an integrator left it. */
int nets_project(nets *s, double t, double *x);
/* The same for the modes as they are, whether a search has seen them or not. */
int nets_kick(nets *s, double t, double *x);
bool nets_watches(const nets *s, uint32_t mode); /* is it set by the search? */
bool
nets_vary(const nets *s); /* do coefficients of unknowns move with time or states? Known after the first solution */

/* Sets the modes of all nets for just behind t, and moves x where they ask for it. ahead: a time in which nothing else
 * happens. farther: 1, or how much farther than usual to look, where a contradiction grows so slowly that it was taken
 * for rounding. stated (NULL but at the start): states whose jumps are judged; others may be moved. */
enum nets_status nets_search(nets *s, double t, double *x, double ahead, double farther, const bool *stated,
                             nets_report *r);

/* ---- the integrator's matrix: states, kept variables and held unknowns (model.h) ---- */
struct model_pattern nets_pattern(nets *s);
int nets_jacobian(nets *s, double t, const double *x, double *value);

#endif
