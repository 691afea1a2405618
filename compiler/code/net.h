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
    /* Conditions of all rows (three each), then differences of all watches (three each), for the present values of the
     * held unknowns. */
    int (*rows)(void *ctx, double t, const double *x, double *out);
    /* Derivatives of the rates, then of what `rows` gives, by states and held unknowns. NULL with a diagnostic if its
     * code fails. */
    jacobian *(*partials)(void *ctx);
} nets_access;

/* modes: of the model; the held unknowns behind them. */
nets *nets_new(const net_form *form, double *modes, nets_access a);
void nets_free(nets *s);
void nets_reset(nets *s);  /* parameters have changed */
void nets_forget(nets *s); /* what runs left behind */

/* Held unknowns at (t, x) for the modes as they are. 0, 1 (no solution there) or -1. */
int nets_solve(nets *s, double t, const double *x);
/* The operators of the last solution's modes: the held unknowns are minus their product with the conditions (three
 * each), taken with the unknowns at zero. False: there is no solution. */
bool nets_combine(nets *s, const double *rows, double *held);
/* What of the unknowns their conditions do not determine, and is shared evenly: 1 less what nets_combine makes of the
 * conditions by the unknowns [unknowns][unknowns], columns one behind the other. After a solution; false: there is
 * none.
 */
bool nets_share(const nets *s, double *share);
/* Sets rates to exactly zero where a condition holds the state, or where the unknowns cancel all but rounding. Call
 * after the rates were evaluated with the solved unknowns. */
void nets_rest(const nets *s, double *dx);
/* Sets differences of watched modes that are only rounding to zero, by mode. Call after an evaluation with the solved
 * unknowns. */
void nets_quiet(nets *s, double *g);
/* Moves x back onto the present constraints after an integrator's step. */
int nets_project(nets *s, double t, double *x);
/* The same for the present modes, whether a search has met them or not. */
int nets_kick(nets *s, double t, double *x);
bool nets_watches(const nets *s, uint32_t mode); /* is it set by the search? */
bool nets_vary(
    const nets *s); /* whether coefficients of unknowns depend on time or states; known after the first solution */

/* Sets the modes of all nets as just after t, and moves x where they require it. ahead: a time within which nothing
 * else happens. farther: 1, or how much farther than usual to look, if a contradiction grows so slowly that it was
 * taken for rounding. stated (NULL except at the start): states whose jumps are judged; the others may be moved. */
enum nets_status nets_search(nets *s, double t, double *x, double ahead, double farther, const bool *stated,
                             nets_report *r);

/* ---- the integrator's matrix: states, kept variables and held unknowns (model.h) ---- */
struct model_pattern nets_pattern(nets *s);
int nets_jacobian(nets *s, double t, const double *x, double *value);

#endif
