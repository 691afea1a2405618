/* staircase.h - what linear equations determine, and what they require of states, for one combination of modes
 *
 * n unknowns z, n conditions r with their first two time derivatives for constant unknowns: r = b0 + A0 z, r' = b1 + A1
 * z, r'' = b2 + A2 z. A combination of conditions that contains no unknown is a constraint on states; its derivative
 * replaces it. This ends when each unknown is determined or nothing is left to differentiate. Unknowns of which only
 * sums are determined get the least-squares values (parallel switches share evenly).
 *
 * shapes   A: row 3i+k is derivative k of condition i; operators are over b in that order, [3n]
 * scale    cancellation is judged entry by entry; rows are scaled to 1, so that units do not matter
 * source   shuffle algorithm: Luenberger (1978), Automatica 14(5), with derivatives taken in advance
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
    uint32_t n, free;         /* number of unknowns; number of undetermined ones */
    sparse_rows solve;        /* z = -solve b */
    sparse_rows kick;         /* impulse of z that moves states onto the constraints: p = -kick b */
    sparse_rows constraint;   /* operators that are zero on the constraints; */
    uint32_t *order;          /* how often each can still be differentiated with effect; 0: it only has to hold */
    sparse_rows by_condition; /* solve, by the 3n conditions; made when it is asked for */
} staircase;

/* a: [3n*n] */
staircase *staircase_new(uint32_t n, const double *a);
void staircase_free(staircase *r);
/* For the conditions a short time h later: r + h r' + h^2/2 r'' = 0 alone. Regular if the circuit is passive. */
staircase *staircase_ahead(uint32_t n, const double *a, double h);

void sparse_apply(const sparse_rows *s, const double *b, double *to); /* to = s b */
/* to = solve b, where few of b are not zero. */
void staircase_solve_few(staircase *r, const double *b, double *to);

#endif
