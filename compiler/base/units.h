/* units.h - units of measure, based on udunits2
 *
 * A unit has a dimension in SI and, as it was written, scale and offset to SI. Equal dimensions are equal pointers.
 * This module corrects properties of udunits2 that surprise users: `deg` is added; reciprocal units are not
 * convertible; fractional exponents are read here; radians are pure numbers; Hz is 1/s.
 */
#ifndef BG_UNITS_H
#define BG_UNITS_H

#include "source.h"

typedef struct unit_system unit_system;
typedef struct unit unit; /* immutable, owned by the system */

unit_system *units_new(void); /* NULL if udunits2's data cannot be read */
void units_free(unit_system *u);
/* text: between brackets. NULL and *why (static or owned by the system) if it is not a unit. */
const unit *unit_parse(unit_system *u, const char *text, const char **why);
const char *unit_text(const unit *x); /* as written, or a readable SI form */
/* In base units: kg.m/s^2 of N and of kN */
const char *unit_base_text(unit_system *u, const unit *x);
double unit_scale(const unit *x); /* value_SI = scale*value + offset */
double unit_offset(const unit *x);
/* Is a number in it the number in SI: [N.m], but not [mm] or [degC]? */
static inline bool
unit_is_coherent(const unit *x)
{
    return unit_scale(x) == 1 && unit_offset(x) == 0;
}
const unit *unit_dimension(const unit *x); /* the coherent SI unit of the same dimension; compare pointers */
bool unit_is_number(const unit *x);        /* dimensionless (rad, degree, percent too) */
bool unit_is_whole(const unit *x);         /* the exponents of its base units are integers */
const unit *unit_one(unit_system *u);
/* On dimensions */
const unit *unit_multiply(unit_system *u, const unit *a, const unit *b);
const unit *unit_divide(unit_system *u, const unit *a, const unit *b);
const unit *unit_power(unit_system *u, const unit *a, int num,
                       int den); /* NULL if an exponent of a base unit is not a multiple of 1/60 */

#endif
