/* norms.h - bounds over all frequencies: H-infinity norms, passivity
 *
 * Both bounds of a norm are proved. The lower one is attained at a frequency. No singular value exceeds the upper one:
 * the Hamiltonian matrix of that level has no eigenvalue on the imaginary axis, where each eigenvalue is allowed the
 * error of the QR algorithm that its condition number implies (Boyd, Balakrishnan, Kabamba 1989; Bruinsma & Steinbuch
 * 1990).
 */
#ifndef BG_NORMS_H
#define BG_NORMS_H

#include "state_space.h"

/* lower <= norm <= upper. upper <= (1 + tolerance) lower, or as close as rounding allows. omega [1/s], where lower is
 * attained, may be infinite. */
struct norm_bounds {
    double lower, upper, omega;
};
/* False: not asymptotically stable, or the eigenvalue iteration did not converge. */
bool hinf_norm(const state_space *s, double tolerance, struct norm_bounds *out);

/* Is a system passive, G + G^H >= 0, if its inputs and outputs are the two variables of its ports? By its scattering
 * form (1 - G/g)/(1 + G/g), with g its norm, whose norm must not exceed 1. A violation is seen at a frequency;
 * passivity is proved up to PASSIVE_WITHIN, because the norm is exactly 1 wherever G is 0, as at zero or high
 * frequencies. */
enum passivity { PASSIVE, NOT_PASSIVE, PASSIVITY_UNKNOWN };
#define PASSIVE_WITHIN 1e-4
/* s: stable, with as many inputs as outputs. omega: a frequency at which it is not passive (NAN: there is none; then it
 * is unstable when connected to a matched port). */
enum passivity passivity_of(const state_space *s, double *omega);

#endif
