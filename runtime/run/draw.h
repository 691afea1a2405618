/* draw.h - random numbers that depend on a seed and a count alone
 *
 * Counter-based: number k of a seed is the same on every machine, whatever was drawn before; it uses only +, -, *, /
 * and the square root, which IEEE 754 defines to the last bit.
 *
 * source   Philox4x32-10: Salmon, Moraes, Dror, Shaw (2011), Parallel random numbers: as easy as 1, 2, 3, SC'11. Normal
 *          quantile: Wichura (1988), Algorithm AS 241, Applied Statistics 37:477-484
 */
#ifndef BG_DRAW_H
#define BG_DRAW_H

#include <stdint.h>

/* Four random words from four words of count and two of key. */
void draw_words(const uint32_t count[4], const uint32_t key[2], uint32_t out[4]);
double draw_uniform(int64_t seed, int64_t k); /* in (0, 1) */
double draw_normal(int64_t seed, int64_t k);  /* mean 0, standard deviation 1 */
double normal_quantile(double p);             /* 0 < p < 1 */

#endif
