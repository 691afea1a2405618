/* net_constraints.c - are the states on the constraints of a net, up to rounding and the integrator's error? */
#include <math.h>

#include "net_inside.h"

#define NOTHING 1e-28 /* of a net's greatest condition: less is rounding in a condition of any other unit too */

/* Bound of the rounding error of constraint r, from the greatest values so far of the conditions in it and of the
 * unknowns' terms in these. */
static double
constraint_noise(const nets *s, const struct net *k, const struct known *w, uint32_t r)
{
    const sparse_rows *o = &w->now->constraint;
    uint32_t n = k->q->n;
    double all = 0;

    for (uint32_t e = o->start[r]; e < o->start[r + 1]; e++) {
        const double *a = w->a + (size_t)o->column[e] * n;
        double most = k->rows[o->column[e]];

        for (uint32_t j = 0; j < n; j++)
            most = fmax(most, fabs(a[j]) * s->unit_size[s->unit[k->q->held0 + j]]);
        all += fabs(o->value[e]) * most;
    }
    return 10 * NET_NOISE * all;
}

bool
net_is_of_values(const sparse_rows *constraint, uint32_t r)
{
    bool any = false;

    for (uint32_t e = constraint->start[r]; e < constraint->start[r + 1]; e++)
        any |= constraint->column[e] % ORDERS == 0;
    return any;
}

/* The change of constraint r within a time: its conditions' derivatives with the same coefficients. */
static double
change_within(const nets *s, const struct net *k, const sparse_rows *constraint, uint32_t r, double time)
{
    double rate = 0;

    for (uint32_t e = constraint->start[r]; e < constraint->start[r + 1]; e++)
        if (constraint->column[e] % ORDERS + 1 < ORDERS)
            rate += constraint->value[e] * s->raw[ORDERS * k->q->held0 + constraint->column[e] + 1];
    return fabs(rate) * time;
}

/* How far each constraint of w may be off at x, by the integrator's error and rounding; in s->constrained. */
static const double *
find_slack(const nets *s, const struct net *k, const struct known *w, const double *x)
{
    double *slack = s->constrained, most = 0;

    for (uint32_t r = 0; r < w->now->constraint.n; r++)
        slack[r] = 0;
    for (uint32_t i = 0; i < ORDERS * k->q->n; i++)
        most = fmax(most, k->rows[i]);
    for (size_t i = 0; i < w->slope.n; i++)
        slack[w->slope.at[i].constraint] += NET_HOLDS * fabs(w->slope.at[i].value) *
                                            fmax(net_size(s, w->slope.at[i].state), fabs(x[w->slope.at[i].state]));
    for (uint32_t r = 0; r < w->now->constraint.n; r++)
        slack[r] += constraint_noise(s, k, w, r) + NOTHING * most;
    return slack;
}

/* The rounding of constraint r beside what unknowns of usual size make of it within a time long beside `ahead`. States
 * that have always been zero have no size of their own (a mass between two stops). */
static double
rounding_within(const nets *s, const struct net *k, const struct known *w, uint32_t r, double ahead)
{
    const sparse_rows *c = &w->now->constraint;
    uint32_t n = k->q->n;
    double usual = 0;

    for (uint32_t e = c->start[r]; e < c->start[r + 1]; e++) {
        double part = fabs(c->value[e]);

        for (uint32_t row = c->column[e]; row == c->column[e] || row % ORDERS != 0; row++, part *= ahead / NET_AHEAD)
            for (uint32_t j = 0; j < n; j++)
                usual += part * fabs(w->a[(size_t)row * n + j]) * s->unit_size[s->unit[k->q->held0 + j]];
    }
    return NET_HOLDS * usual;
}

bool
net_on_constraints(const nets *s, const struct net *k, const struct known *w, const double *x, const double *late)
{
    const sparse_rows *c = &w->now->constraint;
    const double *slack = find_slack(s, k, w, x);
    bool on = true;

    for (uint32_t r = 0; r < c->n && on; r++) {
        double all, sum = net_row_sum(c, r, s->raw + ORDERS * k->q->held0, &all);

        if (!late || net_is_of_values(c, r))
            on = fabs(sum) <=
                 slack[r] + (late ? change_within(s, k, c, r, *late) + rounding_within(s, k, w, r, *late) : 0);
    }
    return on;
}

/* Is the derivative of this condition in a constraint too? */
static bool
is_derived(const sparse_rows *c, uint32_t column)
{
    bool found = false;

    for (uint32_t e = 0; e < c->start[c->n] && column % ORDERS + 1 < ORDERS; e++)
        found |= c->column[e] == column + 1;
    return found;
}

void
net_drop_drift(nets *s, const struct net *k, const struct known *w, const double *x)
{
    const sparse_rows *c = &w->now->constraint;
    const double *slack;

    if (!w->rest_known || !c->n)
        return;
    slack = find_slack(s, k, w, x);
    for (uint32_t r = 0; r < c->n; r++) {
        double *row = s->raw + ORDERS * k->q->held0 + c->column[c->start[r]];

        if (c->start[r + 1] == c->start[r] + 1 && *row != 0 && fabs(c->value[c->start[r]] * *row) <= slack[r] &&
            is_derived(c, c->column[c->start[r]]))
            *row = 0;
    }
}

bool
net_off_by_rounding(nets *s, const struct net *k, const struct known *w, double t, const double *x, double ahead)
{
    const sparse_rows *c = &w->now->constraint;
    bool all = net_rows_free(s, t, x) == 0;

    for (uint32_t r = 0; r < c->n && all; r++) {
        double terms;

        all = fabs(net_row_sum(c, r, s->raw + ORDERS * k->q->held0, &terms)) <= rounding_within(s, k, w, r, ahead);
    }
    return all;
}
