/* reach.c - see reach.h */
#include "reach.h"

#include <math.h>

#define WINDOW 32 /* initial length of the window, in steps */
#define WINDOW_HALVINGS 60
#define BETTER 1.5  /* a shorter window must allow steps longer by this factor to be worth it, twice */
#define LEAST 1e-13 /* of the run */

struct reach {
    bg_model *model;
    double start, stop;
    bool all;
    double from, to, step; /* within this window steps of this length are safe */
};

reach *
reach_new(bg_model *m, double start, double stop, bool all)
{
    reach *r;

    if (!model_nclocks(m))
        return NULL;
    r = bg_calloc(1, sizeof *r);
    *r = (reach){ .model = m, .start = start, .stop = stop, .all = all, .from = INFINITY };
    return r;
}

void
reach_free(reach *r)
{
    free(r);
}

void
reach_forget(reach *r)
{
    if (r)
        r->from = INFINITY;
}

double
reach_step(reach *r, double t, double h, double end)
{
    double window, step = 0, before = 0, least;
    size_t clock;
    int idle = 0;

    h = fmin(h, end - t);
    if (!r || (t >= r->from && t + h <= r->to && h <= r->step))
        return h;
    window = fmin(WINDOW * h, r->stop - t);
    least = LEAST * (r->stop - r->start);
    for (int k = 0; k < WINDOW_HALVINGS; k++, window /= 2) {
        step = model_clock_step(r->model, t, t + window, r->all, &clock);
        if (step >= h || step >= window || window <= least)
            break;
        idle = step > 0 && step < BETTER * before ? idle + 1 : 0;
        if (idle == 2)
            break;
        before = step;
    }
    r->from = t;
    if (!(step > 0)) { /* unbounded however short: no bound exists, and the integrator has to find it */
        r->to = t + WINDOW * h;
        r->step = INFINITY;
        return h;
    }
    r->to = t + window;
    r->step = fmax(step, least);
    return fmin(h, fmax(fmin(r->step, window), least));
}

bool
reach_clear(reach *r, double from, double to, size_t *clock)
{
    *clock = NO_INDEX;
    if (!r || (from >= r->from && to <= r->to && to - from <= r->step))
        return true;
    return model_clock_step(r->model, from, to, r->all, clock) >= to - from;
}
