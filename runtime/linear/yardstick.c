/* yardstick.c - see yardstick.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gramians.h"
#include "yardstick.h"

#define SHARP 1e-9 /* relative distance of the two bounds of a norm */

bool
yardstick_open(const state_space *full, yardstick *y)
{
    double omega;

    *y = (yardstick){ 0 };
    if (!full->nu || !full->ny)
        y->why = bg_strdup(full->nu ? "there are no outputs" : "there are no inputs");
    else if (!stable_part(full, &y->full, &y->why))
        return false;
    else if (!hinf_norm(&y->full, SHARP, &y->norm))
        y->why = bg_strdup("eigenvalues do not converge");
    else if (!(y->sigma = hankel_values(&y->full)))
        y->why = bg_strdup("the Gramians cannot be found");
    else
        y->ports = full->nu == full->ny && passivity_of(&y->full, &omega) == PASSIVE;
    return !y->why;
}

static void
judge_row(yardstick *y, yardstick_row *r, const state_space *small)
{
    state_space difference = difference_of(&y->full, small);

    if (!hinf_norm(&difference, SHARP, &r->error))
        r->why = bg_strdup("it is not stable");
    r->passivity = y->ports ? passivity_of(small, &r->omega) : PASSIVITY_UNKNOWN;
    state_space_free(&difference);
}

void
yardstick_truncate(yardstick *y, size_t order)
{
    yardstick_row r = { .name = bg_strdup("balanced truncation"),
                        .order = order,
                        .truncation = true,
                        .bound = 0,
                        .omega = NAN };
    state_space small = { 0 };

    if (order > y->full.n) {
        r.why = bg_format("the model transmits through %zu states", y->full.n);
        r.bound = NAN;
    } else if (!balanced_truncation(&y->full, order, &small)) {
        r.why = bg_format("value %zu is rounding", order);
        r.bound = NAN;
    } else {
        for (size_t i = order; i < y->full.n; i++)
            r.bound += 2 * y->sigma[i];
        judge_row(y, &r, &small);
    }
    state_space_free(&small);
    vec_push(&y->row, r);
}

void
yardstick_against(yardstick *y, const char *name, const state_space *small)
{
    yardstick_row r = { .name = bg_strdup(name), .order = small->n, .bound = NAN, .omega = NAN };
    state_space stable = { 0 };

    if (stable_part(small, &stable, &r.why))
        judge_row(y, &r, &stable);
    state_space_free(&stable);
    vec_push(&y->row, r);
}

void
yardstick_free(yardstick *y)
{
    for (size_t i = 0; i < y->row.n; i++) {
        free(y->row.at[i].name);
        free(y->row.at[i].why);
    }
    vec_free(&y->row);
    state_space_free(&y->full);
    free(y->sigma);
    free(y->why);
    *y = (yardstick){ 0 };
}

const char *
yardstick_passive(const yardstick *y, const yardstick_row *r)
{
    return !y->ports ? "-" : r->passivity == PASSIVE ? "yes" : r->passivity == NOT_PASSIVE ? "no" : "not known";
}
