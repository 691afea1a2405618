/* coefficient_rates.h - time derivatives of the coefficients of linear relations, along the motion at the operating
 * point
 *
 * A coefficient is an expression over variables of the flat model. Its rate is the sum of its derivatives by these
 * times their rates: of a state by its equation, of a signal by its definition, of a velocity by the model's
 * acceleration.
 */
#ifndef BG_COEFFICIENT_RATES_H
#define BG_COEFFICIENT_RATES_H

#include "structure_relations.h"

typedef struct coefficient_rates coefficient_rates;

coefficient_rates *coefficient_rates_new(struct relations *w);
void coefficient_rates_free(coefficient_rates *r);
/* Zero without expressions. If the equations do not determine a rate: relations_fail. */
struct slope coefficient_rate(coefficient_rates *r, struct slope a);

#endif
