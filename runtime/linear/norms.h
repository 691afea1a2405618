/* norms.h - bounds that hold over all frequencies: H-infinity norms, passivity
 *
 * Both ends of a norm are proved. The lower is attained at a frequency. Above the upper no singular value goes: the
 * Hamiltonian matrix of that level has no eigenvalue on the imaginary axis, each eigenvalue being granted the error
 * that its condition number allows the QR algorithm (Boyd, Balakrishnan, Kabamba 1989; Bruinsma & Steinbuch 1990).
 */
#ifndef BG_NORMS_H
#define BG_NORMS_H

#include "state_space.h"

/* lower <= norm <= upper. upper <= (1 + tolerance) lower, or as close as rounding lets it be told. omega [1/s], where
 * lower is attained, may be infinite. */
struct norm_bounds {
    double lower, upper, omega;
};
/* False: not asymptotically stable, or eigenvalues do not converge. */
bool hinf_norm(const state_space *s, double tolerance, struct norm_bounds *out);

/* Does a system take energy only - is G + G^H nowhere negative - where its inputs and outputs are the two variables of
 * its ports? By its scattering form (1 - G/g)/(1 + G/g), g its norm, which must not exceed 1. That it does is seen at a
 * frequency; that it does not is proved to PASSIVE_WITHIN, since it is 1 wherever G is 0, as at rest or at high
 * frequencies. */
enum passivity { PASSIVE, NOT_PASSIVE, PASSIVITY_UNKNOWN };
#define PASSIVE_WITHIN 1e-4
/* s: stable, with as many inputs as outputs. omega: a frequency at which it is not passive (NAN: at none; then it is
 * unstable when joined to a port that reflects nothing). */
enum passivity passivity_of(const state_space *s, double *omega);

#endif
