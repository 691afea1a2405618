/* coefficient_rates.h - how the coefficients of linear relations change in time at the point, along the motion there
 *
 * A coefficient is an expression over variables of the flat model; its rate is the sum of its derivatives by these,
 * each times the rate of the variable: of a state what the equations say, of a signal by its definition, of a velocity
 * the acceleration that the model has for it.
 */
#ifndef BG_COEFFICIENT_RATES_H
#define BG_COEFFICIENT_RATES_H

#include "structure_relations.h"

typedef struct coefficient_rates coefficient_rates;

coefficient_rates *coefficient_rates_new(struct relations *w);
void coefficient_rates_free(coefficient_rates *r);
/* Without expressions: zero. A rate that the equations do not have: relations_fail. */
struct slope coefficient_rate(coefficient_rates *r, struct slope a);

#endif
