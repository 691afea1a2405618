/* shared_points.h - numbers at points that several threads pass in the same order: each is computed once
 *
 * Whoever comes to a point first computes its numbers for all. One that comes while they are being computed computes
 * those of the next point meanwhile, and its own copy if they are still not there then: nobody waits, since a thread
 * may be delayed. So numbers must depend on the point alone.
 */
#ifndef BG_SHARED_POINTS_H
#define BG_SHARED_POINTS_H

#include <stdbool.h>
#include <stddef.h>

/* Points whose numbers are kept at a time. A thread that is further ahead than that computes its own. */
enum { SHARED_POINTS_KEPT = 16 };
/* Computes the numbers of the k-th point. place: which of the kept ones they are, SHARED_POINTS_KEPT: those of this
 * thread alone. False: they do not exist. */
typedef bool (*shared_points_compute)(void *ctx, size_t k, size_t place, double *out);

/* The memory for so many threads and numbers of a point; free() it. */
void *shared_points_new(size_t users, size_t numbers);
struct shared_points {
    void *memory;             /* NULL: each computes its own numbers */
    size_t users, numbers, n; /* n: of points */
    size_t user;              /* this one */
    double *own;              /* room for the numbers of one point */
};
/* The numbers of the k-th point and their place, which remain until this thread asks for those of the next one; NULL:
 * they do not exist. */
const double *shared_points_at(const struct shared_points *s, size_t k, shared_points_compute compute, void *ctx,
                               size_t *place);

#endif
