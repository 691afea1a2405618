/* mdk.h - full symmetric mass, damping and stiffness matrices from sampled forces and displacements
 *
 *     M q'' + D q' + K q = L u,   all n coordinates measured at t = k h, noise on the measurements
 *
 * The variational midpoint rule turns this into  Md q(k) + Dd q(k-1) + Kd q(k-2) = fd(k)  with fd(k) = h/4 L (u(k) + 2
 * u(k-1) + u(k-2)) and Md, Dd, Kd linear in M, D, K, so that discrete estimates become continuous ones without a matrix
 * logarithm, and symmetric ones stay symmetric. Methods:
 *   MDK_VARIATIONAL  subspace identification of (fd, y), block companion form, gains made equal, symmetric part
 *   MDK_PEM          that, then the sum of squares of the simulation's error minimised over symmetric M, D, K that are
 *                    positive semidefinite (factors L L' are what is searched) and the first two positions, exact
 *                    derivatives
 *   MDK_COMPANION    subspace identification of (u, y), zero-order hold undone by the logarithm, companion form of [C;
 *                    CA]
 *   MDK_MODAL        the same, from the residues of its complex modes
 *
 * cost       mean over times and coordinates of ((y - q)/std y)^2, q by the midpoint rule from two fitted positions;
 *            for every method
 * starts     block rows of the subspace step from several lengths of horizon; a start that is not definite is clipped
 *            to the nearest that is
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
    const size_t *at;     /* [m] coordinate that each force acts on */
} mdk_data;

typedef struct mdk_result {
    size_t n;
    double *M, *D, *K; /* [n][n]; free with mdk_free */
    double cost;
    double noise;           /* what the cost would be of noise alone, as the subspace step sees it */
    bool positive_definite; /* all three */
    double lowest[3];       /* least eigenvalue of M, D, K over the greatest */
    bool clipped;           /* the start was not definite */
    size_t block_rows;
    size_t evaluations, steps; /* simulations; of the refinement */
} mdk_result;

/* block_rows 0: chosen. False: *why (free it) says what the data lack, or why what came out is no answer. */
bool mdk_identify(const mdk_data *d, enum mdk_method method, size_t block_rows, mdk_result *r, char **why);
void mdk_free(mdk_result *r);

/* The relations (2.8) and (2.10), entry by entry: count entries. */
void midpoint_discrete(size_t count, double h, const double *M, const double *D, const double *K, double *Md,
                       double *Dd, double *Kd);
void midpoint_continuous(size_t count, double h, const double *Md, const double *Dd, const double *Kd, double *M,
                         double *D, double *K);

#endif
