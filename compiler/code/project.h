/* project.h - moves states onto constraints by the smallest change
 *
 * Newton's method on c(x) = 0 with the step of least norm, every state weighted by its largest value so far;
 * constraints without common states are solved separately. Redundant constraints are allowed.
 */
#ifndef BG_PROJECT_H
#define BG_PROJECT_H

#include <stdint.h>

typedef struct projector projector;
typedef int projector_values(void *ctx, const double *x, double *c);

/* Which constraints and states belong together: shared by instances. position: index of states in x, by variable. */
struct equations;
typedef struct projection projection;
projection *projection_new(const struct equations *e, const uint32_t *position);
void projection_free(projection *p);

projector *projector_new(const projection *of);
void projector_free(projector *p);
void projector_forget(projector *p); /* how large states were */
/* 0: x is on the constraints up to rounding; 1: no convergence, x is unchanged. */
int projector_run(projector *p, projector_values *values, void *ctx, double *x);

#endif
