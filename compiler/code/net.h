/* net.h - solves the nets of ideal switches for given modes, and finds consistent modes
 *
 * The held unknowns (equations/switched.h) are stored after the modes in the array that all programs read. Solving
 * writes them there; everything else is then evaluated as usual. For each combination of modes that occurred, the
 * equations that determine the unknowns and the constraints on states are kept (staircase.h).
 *
 * A search finds modes that agree with the signs of all watched differences of the net just after an instant. What it
 * tries, in this order:
 *
 * ahead     Modes are exchanged by pivoting (all that contradict, then the first alone: Murty 1974; Judice and Pires
 *           1994) in the equations a short time h later, r + h r' + h^2/2 r'' = 0. These are regular if the circuit is
 *           passive. Where values are zero, rates decide; unknowns of order 1/h, where states must jump, are impulses.
 *
 * verified  These impulses move the states onto the constraints of the modes (charge and momentum are conserved, energy
 *           does not increase), and the differences must agree there, up to rounding.
 *
 * parted    If they do not, and the states met what the conditions demand of values (a mass has reached a stop, but is
 *           pulled away from it): the same once more, from the states as they were moved.
 *
 * softened  If that fails, the same with conditions that contain a small part of their other branch: then switches in
 *           series, in parallel, or in loops with stiff sources have one solution whatever the modes.
 *
 * complete  If that fails for several h, all combinations are tried as long as there are not too many; of many, those
 * of switches that differ.
 *
 * shared    Of equivalent modes, those are taken that leave most to be shared evenly.
 *
 * At an event few of a thousand nets change: those whose modes still agree are checked together and not searched.
 */
#ifndef BG_NET_H
#define BG_NET_H

#include "jacobian.h"
#include "net_form.h"

typedef struct nets nets;

typedef struct nets_access {
    void *ctx;
    /* Conditions of all rows (three each), then differences of all watches (three each), for the present held
     * unknowns. out NULL: they are only computed. */
    int (*rows)(void *ctx, double t, const double *x, double *out);
    /* Where they then are, in the order in which they are computed: row i at (*place)[i]. */
    const double *(*unordered)(void *ctx, const uint32_t **place);
    /* Derivatives of the rates, then of the results of `rows`, by states and held unknowns. NULL with a diagnostic if
     * the code fails. */
    jacobian *(*partials)(void *ctx);
} nets_access;

/* modes: of the model; the held unknowns follow them. */
nets *nets_new(const net_form *form, double *modes, nets_access a);
void nets_free(nets *s);
void nets_reset(nets *s);  /* parameters have changed */
void nets_forget(nets *s); /* what runs left behind */

/* Solves for the held unknowns at (t, x) in the present modes. 0, 1 (no solution there) or -1. */
int nets_solve(nets *s, double t, const double *x);
/* The operators for the modes of the last solution: the held unknowns are minus their product with the conditions
 * (three each) for zero unknowns. False: there is no solution. */
bool nets_combine(nets *s, const double *rows, double *held);
/* The part of the unknowns that their conditions do not determine, and that is shared evenly: 1 minus nets_combine of
 * the conditions by the unknowns, [unknowns][unknowns] by columns. Call after a solution; false: there is none. */
bool nets_share(const nets *s, double *share);
/* Sets rates to exactly zero where a condition holds the state, or where the unknowns cancel everything except
 * rounding. Call after rates were evaluated with the solved unknowns. */
void nets_rest(const nets *s, double *dx);
/* Sets watched differences that are only rounding to zero, by mode. Call after an evaluation with the solved
 * unknowns. */
void nets_quiet(nets *s, double *g);
/* Moves x back onto the present constraints after an integrator's step. */
int nets_project(nets *s, double t, double *x);
/* The same for the present modes, even if no search has found them. */
int nets_kick(nets *s, double t, double *x);
bool nets_have_limits(const nets *s); /* approach.h */
bool nets_curved(const nets *s);
bool nets_watches(const nets *s, uint32_t mode); /* is it set by the search? */
/* Do coefficients of unknowns depend on time or states? Known after the first solution. */
bool nets_vary(const nets *s);

/* Sets the modes of all nets as just after t, and moves x where they require it. ahead: a time within which nothing
 * else happens. farther: 1, or how much farther than usual to look, if a contradiction grows so slowly that it was
 * taken for rounding. stated (NULL except at the start): states whose jumps are judged; the others may be moved. */
enum nets_status nets_search(nets *s, double t, double *x, double ahead, double farther, const bool *stated,
                             nets_report *r);

/* ---- where a run begins: nets with several solutions ---- */

size_t nets_count(const nets *s);
span nets_place(const nets *s, size_t net);
/* Solutions at (t, x) that move no state, the present one first: for nets_take one behind the other in *others, to be
 * freed. 0: it is the only one, by its matrix, or none was found. ahead: as of nets_search. most: combinations of modes
 * that are tried; *tried: so many were. */
size_t nets_others(nets *s, size_t net, double t, const double *x, double ahead, size_t most, double **others,
                   size_t *tried);
size_t nets_wide(const nets *s, size_t net); /* numbers of one of them */
/* Sets its modes; the caller must make the others agree with them. */
void nets_take(nets *s, size_t net, const double *one);
/* Do the present modes of all nets hold at (t, x), where no state is moved? */
bool nets_hold(nets *s, double t, const double *x, double ahead);

/* ---- the integrator's matrix: states, kept variables and held unknowns (model.h) ---- */
struct model_pattern nets_pattern(nets *s);
int nets_jacobian(nets *s, double t, const double *x, double *value);

#endif
