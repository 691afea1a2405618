/* staircase.h - what linear equations determine, and what they ask of states, for one combination of modes
 *
 * n unknowns z, n conditions r with their first two derivatives in time (the unknowns resting): r = b0 + A0 z, r' = b1
 * + A1 z, r'' = b2 + A2 z. A combination of conditions in which no unknown is left is a constraint on states; its
 * derivative takes its place. Ends when each unknown is determined or nothing is left to differentiate. Unknowns that
 * only sums are determined of get the values of least squares (parallel switches share evenly).
 *
 * shapes   A: row 3i+k is derivative k of condition i; operators are over b in that order, [3n]
 * scale    cancellation is judged entry by entry; rows are scaled to 1, so that units do not matter
 * source   shuffle algorithm: Luenberger (1978), Automatica 14(5), with derivatives taken beforehand
 */
#ifndef BG_STAIRCASE_H
#define BG_STAIRCASE_H

#include "base.h"

typedef struct sparse_rows {
    uint32_t n;
    uint32_t *start, *column;
    double *value;
} sparse_rows;

typedef struct staircase {
    uint32_t n, free;       /* unknowns; of them not determined */
    sparse_rows solve;      /* z = -solve b */
    sparse_rows kick;       /* impulse of z that moves states onto the constraints: p = -kick b */
    sparse_rows constraint; /* operators that are zero on the constraints; */
    uint32_t *order;        /* how often each can still be differentiated with effect: 0 where it only must hold */
} staircase;

/* a: [3n*n] */
staircase *staircase_new(uint32_t n, const double *a);
void staircase_free(staircase *r);
/* Of the conditions a short time h on: r + h r' + h^2/2 r'' = 0 alone. Regular wherever the circuit is passive. */
staircase *staircase_ahead(uint32_t n, const double *a, double h);

void sparse_apply(const sparse_rows *s, const double *b, double *to); /* to = s b */

#endif
