/* vectors.h - loops over long vectors, also as operations of a serial N_Vector
 *
 * The operations of the library are scalar and take about 1 ns for each element and pass; these are compiled for
 * several instruction sets and selected when the program is loaded. Sums have a fixed order, so that a run gives the
 * same bits on every machine. Vectors passed to one call must be equal or disjoint.
 */
#ifndef BG_VECTORS_H
#define BG_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <nvector/nvector_serial.h>

/* For loops that profit from wide registers. Not with the address sanitizer: resolvers run before it is initialized. */
#if defined __GNUC__ && !defined __clang__ && defined __x86_64__ && defined __linux__ && \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VECTOR_CLONES
#endif

/* Precedes a loop whose vectors are equal or disjoint. */
#if defined __clang__
#define VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined __GNUC__
#define VECTOR_LOOP _Pragma("GCC ivdep")
#else
#define VECTOR_LOOP
#endif

/* Replaces the operations of v; vectors cloned from v have them too. */
void vectors_install(N_Vector v);
/* The first operation that vectors_install replaces: a clone for which there is no memory ends as bg_malloc does. The
 * library itself would crash. */
void vectors_check_memory(N_Vector v);

bool vec_finite(size_t n, const double *x);
double vec_wrms(size_t n, const double *x, const double *w);                  /* sqrt(sum (x w)^2 / n) */
double vec_wdot(size_t n, const double *x, const double *y, const double *w); /* sum x y w^2 / n */
/* z[j] = sum over i < 6 of c[j][i] x[i], for three z at once. The sum of the first three c is 1, and c[j][1] is not
 * read: so the common part of the first three x is kept to the last bit. */
void vec_combine3(size_t n, double c[3][6], const double *const x[6], double *const z[3]);
void vec_combine1(size_t n, const double c[6], const double *const x[6], double *z);
/* w = 1/(rtol |y| + atol) */
void vec_weights(size_t n, double rtol, double atol, const double *y, double *w);
/* size = max(size, |y|); w = 1/(rtol |y| + share max(size, least)) */
void vec_weights_sized(size_t n, double rtol, double share, const double *y, double *size, const double *least,
                       double *w);
/* z = x + a y */
void vec_axpy(size_t n, double a, const double *x, const double *y, double *z);
/* z = sum over j < m <= 8 of c[j] x[j]; one of these may be z */
void vec_combine(size_t n, int m, const double *c, const double *const *x, double *z);
/* sum of p, and greatest |p| in *top */
double vec_sum(size_t n, const double *p, double *top);

#endif
