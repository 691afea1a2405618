/* net_quiet.c - sets differences and rates that are only rounding to zero; see net.h */
#include <math.h>

#include "net_inside.h"

#define ROUNDING 1e-14 /* of the terms of a rate, where held unknowns are among them: less is rounding */

void
net_noise(nets *s, const struct net *k, const staircase *r, const double *raw, double *to)
{
    for (uint32_t i = 0; i < r->n; i++) {
        double sum = 0, least = NET_FLOOR * s->unit_size[s->unit[k->q->held0 + i]];

        for (uint32_t e = r->solve.start[i]; e < r->solve.start[i + 1]; e++) {
            uint32_t c = r->solve.column[e];

            sum += fabs(r->solve.value[e] * (k->guess ? s->rounding[ORDERS * k->q->held0 + c] / NET_NOISE : raw[c]));
        }
        if (k->varies && !k->guess)
            sum = fabs(s->held[k->q->held0 + i]);
        /* an unknown that a condition sets to zero is zero: beside it, the other side's unit may be far smaller */
        to[i] = k->guess && sum == 0 ? 0 : fmax(NET_NOISE * sum, least);
        if (k->guess) /* near slopes that are zero or infinite, the iteration leaves more than rounding */
            to[i] = fmax(to[i], NET_LEFT * fabs(s->stepped[k->q->held0 + i]));
    }
}

void
nets_quiet(nets *s, double *g)
{
    if (s->joined.used) {
        net_held_sizes(s);
        net_joined_quiet(s, g);
        return;
    }
    for (size_t k = 0; k < s->n; k++) {
        const struct net *q = &s->net[k];
        double *noise = s->c;

        if (!q->now)
            continue;
        net_noise(s, q, q->now->now, s->raw + ORDERS * q->q->held0, noise);
        net_note_sizes(s, q, noise);
        for (uint32_t i = 0; i < q->q->nwatch; i++) {
            double *at = &g[s->form->watch[q->q->watch0 + i]], slack = 0;

            for (uint32_t j = 0; j < q->q->n; j++)
                slack += fabs(q->now->aw[(size_t)ORDERS * i * q->q->n + j]) * noise[j];
            if (fabs(*at) <= slack)
                *at = 0;
        }
    }
}

static void
note_terms(const nets *s, const struct push *push, size_t n, const double *z)
{
    for (size_t i = 0; i < n; i++)
        s->terms[push[i].state] += fabs(push[i].value * z[push[i].held]);
}

static void
drop_balanced(const nets *s, const struct push *push, size_t n, double *dx)
{
    for (size_t i = 0; i < n; i++) {
        double *terms = &s->terms[push[i].state], *rate = &dx[push[i].state];

        if (fabs(*rate) < ROUNDING * *terms)
            *rate = 0;
        *terms = 0;
    }
}

void
net_quiet_pushed(const nets *s, const struct push *push, size_t n, const double *held, double *dx)
{
    note_terms(s, push, n, held);
    drop_balanced(s, push, n, dx);
}

void
net_quiet_rates(const nets *s, double *dx)
{
    for (size_t k = 0; k < s->n; k++)
        if (s->net[k].now)
            note_terms(s, s->net[k].now->push.at, s->net[k].now->push.n, s->held + s->net[k].q->held0);
    for (size_t k = 0; k < s->n; k++)
        if (s->net[k].now)
            drop_balanced(s, s->net[k].now->push.at, s->net[k].now->push.n, dx);
}
