/* shared_points.h - numbers at points that several processes pass in the same order: each is computed once
 *
 * Whoever comes to a point first computes its numbers, in memory that all processes share. One that comes while they
 * are being computed computes those of the next point meanwhile, and its own copy if they are still not there then:
 * nobody waits, since a process may be delayed or have died. So numbers must depend on the point alone.
 */
#ifndef BG_SHARED_POINTS_H
#define BG_SHARED_POINTS_H

#include <stdbool.h>
#include <stddef.h>

/* Computes the numbers of the k-th point. False: they do not exist. */
typedef bool (*shared_points_compute)(void *ctx, size_t k, double *out);

/* Bytes of shared zeroes that it takes for so many processes and numbers of a point. */
size_t shared_points_bytes(size_t processes, size_t numbers);
struct shared_points {
    void *memory;                 /* of so many bytes; NULL: each process computes its own numbers */
    size_t processes, numbers, n; /* n: of points */
    size_t process;               /* this one */
    double *own;                  /* room for the numbers of one point */
};
/* The numbers of the k-th point, which remain until this process asks for those of the next one; NULL: they do not
 * exist. */
const double *shared_points_at(const struct shared_points *s, size_t k, shared_points_compute compute, void *ctx);

#endif
