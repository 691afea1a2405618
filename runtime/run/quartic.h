/* quartic.h - polynomials of degree four over an interval of length 1, given by five values: at its ends and at three
 * inner places
 *
 * The places are those of Lobatto's rule, which integrates degree seven exactly. Steps of a run are divided into such
 * pieces (activity.h, track.h).
 */
#ifndef BG_QUARTIC_H
#define BG_QUARTIC_H

/* The three inner places. */
extern const double quartic_place[3];
#define QUARTIC_WEIGHT_END 0.05
#define QUARTIC_WEIGHT_SIDE (49.0 / 180)
#define QUARTIC_WEIGHT_MIDDLE (16.0 / 45)

/* Tables that convert the five values to the three inner Bernstein coefficients (the outer ones are the outer values),
 * and to the coefficients of the powers of s. */
typedef struct quartic_tables {
    double bernstein[3][5], monomial[5][5];
} quartic_tables;
void quartic_make_tables(quartic_tables *t);

/* The conversion for one polynomial. */
void quartic_bernstein(const quartic_tables *t, const double value[5], double out[5]);
void quartic_monomial(const quartic_tables *t, const double value[5], double out[5]);
/* Value at s and integral from 0 to s, from the coefficients of the powers. */
double quartic_value(const double c[5], double s);
double quartic_integral(const double c[5], double s);
/* The integral over 0..1 of the product of two polynomials with values v and w is the sum over r of
 * (root[r]·v)(root[r]·w). */
void quartic_product_root(const quartic_tables *t, double root[5][5]);
/* Halves Bernstein coefficients (de Casteljau): those of the left and of the right half. */
void quartic_halves(const double b[5], double left[5], double right[5]);

#endif
