/* events_dips.c - margins that go below zero and come back between the places at which conditions are evaluated */
#include <math.h>

#include "events_inside.h"

/* A dip is followed while its parabola goes below this part of the lowest value, or below this part of its fall, by
 * which a parabola through so distant places may be wrong. */
#define OF_LOWEST 0.3
#define OF_FALL 0.03

/* The relative margin of mode k, which was not looked at, at one of the last three places: by the quantity of its
 * ladder. NAN: it has none. */
static double
margin_then(const events *e, uint32_t k, int place)
{
    struct model_threshold at = e->threshold[k];

    if (at.of == NONE)
        return NAN;
    return events_margin_of(e, k, model_past(at, e->ladder[at.of].trail[place])) / (e->size[k] > 0 ? e->size[k] : 1);
}

void
events_trail(events *e, double t, bool first)
{
    struct trail *r = &e->trail;

    r->places += first ? 2 : 1; /* at the first one, none was looked at just before */
    for (int i = 0; i < 2; i++)
        r->t[i] = r->t[i + 1];
    r->t[2] = t;
    for (size_t q = 0; q < e->nladders; q++) {
        double *of = e->ladder[q].trail;

        of[0] = first ? NAN : of[1];
        of[1] = first ? NAN : of[2];
        of[2] = e->ladder[q].now;
    }
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        double *m = r->margin[k];

        for (int place = 0; place < 2 && r->last[k] + 1 != r->places; place++) /* it was not looked at then */
            m[place + 1] = margin_then(e, k, place);
        r->last[k] = r->places;
        m[0] = m[1];
        m[1] = m[2];
        m[2] = events_relative_margin(e, k);
    }
}

double
events_trail_end(const events *e)
{
    return e->trail.places > 0 ? e->trail.t[2] : NAN;
}

double
events_pace(const events *e, const bool *these, double t)
{
    double most = 0;

    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];

        if (these[k] && e->plain[k] && !e->of_net[k] &&
            e->trail.last[k] == e->trail.places) /* fmax leaves out what is not known */
            most = fmax(most, fabs(events_relative_margin(e, k) - e->trail.margin[k][2]));
    }
    return most / (t - e->trail.t[2]);
}

bool
events_dip_lowest(const struct dip *d, double *t)
{
    const double *at = d->t, *m = d->margin;
    double u = (m[1] - m[0]) / (at[1] - at[0]), v = (m[2] - m[1]) / (at[2] - at[1]), bend = (v - u) / (at[2] - at[0]),
           least = fmin(m[0], fmin(m[1], m[2])), value;

    /* not finite: it switches nowhere, or was not seen */
    if (!(least > 0 && fmax(m[0], m[2]) > DIP_DEPTH) || !(bend > 0) || !isfinite(bend))
        return false;
    *t = (at[0] + at[1]) / 2 - u / (2 * bend);
    value = m[0] + (*t - at[0]) * (u + bend * (*t - at[1]));
    return *t > at[0] && *t < at[2] && *t != at[1] &&
           value <= fmax(OF_LOWEST * least, OF_FALL * (fmax(m[0], m[2]) - least));
}

bool
events_next_dip(const events *e, size_t *from, struct dip *d)
{
    bool found = false;
    double t;

    for (int i = 0; i < 3; i++)
        d->t[i] = e->trail.t[i];
    while (*from < e->near.n && !found) {
        d->mode = e->near.at[(*from)++];
        for (int i = 0; i < 3; i++)
            d->margin[i] = e->trail.margin[d->mode][i];
        found = e->trail.last[d->mode] == e->trail.places && events_dip_lowest(d, &t);
    }
    return found;
}
