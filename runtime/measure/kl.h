/* kl.h - importance of columns by the Karhunen-Loeve expansion
 *
 * S (rows: samples, columns: powers) = U diag(sigma) V'. Alternatively, with integrals instead of samples, sigma^2 and
 * V are the eigenvalues and eigenvectors of the matrix of integrals of products of two powers. The importance of column
 * i is the sum over j of sigma_j^2 |v_ij|, as a share of all. Columns are not centred. Where singular values coincide
 * the v_ij are not unique, and neither is the importance.
 */
#ifndef BG_KL_H
#define BG_KL_H

#include <stdbool.h>
#include <stddef.h>

/* The importance from known integrals: g[i*n + j] = integral of P_i P_j, overwritten; only the upper triangle (of rows)
 * is read. */
bool kl_importance_exact(double *g, size_t n, bool normalised, double *importance);

/* s: [columns][rows], one column after the other; overwritten. normalised: columns are first scaled to length 1.
 * importance: [columns], sums to 1, or all 0 if S is 0. False: the decomposition did not converge or S is not
 * finite. */
bool kl_importance(double *s, size_t rows, size_t columns, bool normalised, double *importance);

#endif
