/* mdk.h - estimates full symmetric mass, damping and stiffness matrices from sampled forces and displacements
 *
 *     M q'' + D q' + K q = L u,   all n coordinates measured at t = k h, noise on the measurements
 *
 * The variational midpoint rule turns this into Md q(k) + Dd q(k-1) + Kd q(k-2) = fd(k), where fd(k) = h/4 L (u(k) + 2
 * u(k-1) + u(k-2)) and Md, Dd, Kd are linear in M, D, K. So discrete estimates become continuous ones without a matrix
 * logarithm, and symmetric ones stay symmetric. Methods:
 *   MDK_VARIATIONAL  subspace identification of (fd, y), block companion form, equal gains, symmetric part
 *   MDK_PEM          the same, then minimization of the simulation's squared error over symmetric positive semidefinite
 *                    M, D, K (the search is over factors L L') and the first two positions, with exact derivatives
 *   MDK_COMPANION    subspace identification of (u, y), zero-order hold inverted by the logarithm, companion form of
 *                    [C; CA]
 *   MDK_MODAL        likewise, from the residues of its complex modes
 *
 * cost       mean over times and coordinates of ((y - q)/std y)^2, with q by the midpoint rule from two fitted
 *            positions; for every method
 * starts     subspace steps with several lengths of the horizon; a start that is not definite is moved to the nearest
 *            definite one
 * units      SI
 * source     Bruschetta, Picci, Saccon (2014), Automatica 50:858, (2.7)-(2.10), (4.7)-(4.13); De Angelis, Lus, Betti,
 *            Longman (2002), J. Appl. Mech. 69:617 (modes)
 */
#ifndef BG_MDK_H
#define BG_MDK_H

#include <stdbool.h>
#include <stddef.h>

enum mdk_method { MDK_PEM, MDK_VARIATIONAL, MDK_COMPANION, MDK_MODAL };

typedef struct mdk_data {
    size_t n, m, samples; /* coordinates, forces (m <= n) */
    double step;          /* s */
    const double *u, *y;  /* by channels: [m][samples], [n][samples] */
    const size_t *at;     /* [m] the coordinate on which each force acts */
} mdk_data;

typedef struct mdk_result {
    size_t n;
    double *M, *D, *K; /* [n][n]; free with mdk_free */
    double cost;
    double noise;           /* estimate of the cost that noise alone would cause, from the subspace step */
    bool positive_definite; /* all three */
    double lowest[3];       /* least eigenvalue of M, D, K over the greatest */
    bool clipped;           /* the start was not definite */
    size_t block_rows;
    size_t evaluations, steps; /* number of simulations; steps of the refinement */
} mdk_result;

/* block_rows 0: chosen here. False: *why (free() it) says what the data lack, or why the estimate is invalid. */
bool mdk_identify(const mdk_data *d, enum mdk_method method, size_t block_rows, mdk_result *r, char **why);
void mdk_free(mdk_result *r);

/* The relations (2.8) and (2.10) for `count` entries. */
void midpoint_discrete(size_t count, double h, const double *M, const double *D, const double *K, double *Md,
                       double *Dd, double *Kd);
void midpoint_continuous(size_t count, double h, const double *Md, const double *Dd, const double *Kd, double *M,
                         double *D, double *K);

#endif
