/* net_kick.c - moves the states onto the constraints of nets; the states that rest there */
#include <math.h>

#include "net_inside.h"

enum { PROJECTIONS = 4 };
#define ON_CONSTRAINT 1e-14 /* relative to the states: a projection ends when it moves them by no more */

/* Sets to zero, in an array over the states, those that rest in the present modes. */
static void
rest(const nets *s, double *of_states)
{
    for (size_t k = 0; k < s->n; k++) {
        size_t n;
        const uint32_t *at = net_resting(s, &s->net[k], &n);

        for (size_t i = 0; i < n; i++)
            of_states[at[i]] = 0;
    }
}

void
nets_rest(const nets *s, double *dx)
{
    if (s->joined.used) {
        net_joined_rest(s, dx);
        return;
    }
    net_quiet_rates(s, dx);
    rest(s, dx);
}

int
net_kick(nets *s, double t, double *x, struct net *only, double *most)
{
    int status;
    bool seen;

    *most = 0;
    if (!net_need_partials(s))
        return -1;
    seen = s->any_varies; /* else only constraints ask for rows */
    status = seen ? net_rows_free(s, t, x) : 0;
    if (status)
        return status;
    for (size_t k = 0; k < s->n; k++) {
        struct net *q = &s->net[k];
        struct known *w;

        if (only ? q != only : !q->bound)
            continue;
        q->now = w = net_known(s, q, t, x);
        if (!w)
            return 1;
        if (!w->now->constraint.n)
            continue;
        if (!seen && (status = net_rows_free(s, t, x)) != 0)
            return status;
        seen = true;
        sparse_apply(&w->now->kick, s->raw + ORDERS * q->q->held0, s->z);
        for (size_t i = 0; i < w->push.n; i++) {
            uint32_t at = w->push.at[i].state;
            double d = -w->push.at[i].value * s->z[w->push.at[i].held];

            x[at] += d;
            if (!isfinite(x[at]))
                return 1;
            if (d != 0)
                *most = fmax(*most, fabs(d) / fmax(net_size(s, at), fabs(x[at])));
        }
    }
    return 0;
}

static int
project(nets *s, double t, double *x)
{
    for (int round = 0; round < PROJECTIONS; round++) {
        double most = 0;
        int status = net_kick(s, t, x, NULL, &most);

        if (status)
            return status;
        if (most <= ON_CONSTRAINT)
            break;
    }
    rest(s, x);
    return 0;
}

int
nets_project(nets *s, double t, double *x)
{
    bool any = false;

    net_sizes(s, x);
    for (size_t k = 0; k < s->n; k++)
        any |= s->net[k].now && s->net[k].now->now->constraint.n > 0;
    return any ? project(s, t, x) : 0;
}

int
nets_kick(nets *s, double t, double *x)
{
    bool *bound = bg_calloc(s->n + 1, sizeof *bound);
    int status = nets_solve(s, t, x); /* finds the states at rest in these modes too */

    for (size_t k = 0; k < s->n; k++) {
        bound[k] = s->net[k].bound;
        s->net[k].bound = true;
    }
    if (status == 0)
        status = project(s, t, x);
    for (size_t k = 0; k < s->n; k++)
        s->net[k].bound = bound[k];
    free(bound);
    return status;
}
