/* scales.c - see scales.h */
#include "scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joined.h"
#include "model_graph.h"
#include "vectors.h"

#define ATOL_SHARE 1e-3   /* of rtol and the scale */
#define SHARE 1e-3        /* of a unit's largest state, of a part's energy scale */
#define SHARE_OF_ALL 1e-3 /* of the model's energy relative to the part's */
/* What is small beside others is followed nevertheless: scales found by comparison with the largest of a unit, or with
 * SHARE_BELOW of a part's energy scale, are limited to OWN times the greatest |x| so far. */
#define OWN 100
#define SHARE_BELOW 0.03
/* Rounding in sums with the largest state affects the others by this; a tight rtol would demand less. */
#define ROUNDING 1e-14
#define ELSEWHERE 1e-5 /* of that: by what is stored in other parts, which only signals join to it */
#define LEAST 1e-18    /* where nothing is known */
#define FAST 0.01      /* of the time in which a peak acts: a state that settles faster is moved by less */
#define NEARER 1e-4    /* of a move: ratio of the next one */
#define AT_REST 10     /* times the change by rounding: a state that never was larger is at rest except for rounding */
#define PROBE 1e-7     /* of a state's scale: change by which the terms of its rates are measured */

enum { LOOKS = 80 }; /* number of moves, each NEARER times the last, so that one is short enough for every law */

struct scales {
    bg_model *model;
    size_t n;
    double rtol, atol;
    bool sized;
    double *size, *least; /* [n] greatest |x| so far, initial estimate from rates; estimate from other states */
    double *drift;        /* [n] how far rounding in its rate may move it until the end */
    /* [n] least scale; for a state moved by rounding alone, the scale that makes this the tolerance */
    double *allow;
    double
        /* [n] later estimates for states without energy. Not fed back, since scales that depend on each other have
         * no bound */
        *moved_by;
    bool *pseudo; /* [n] on pseudo bonds: its stored quantity has no energy */
    bool *holds;  /* [n] has no rate: it needs no size */
    size_t known; /* of the first ones the sizes are, or need not be */
    bool begun;   /* the sizes of the start are known */
    uint32_t *unit_of,
        *alike_of, /* [n] states in sums with it: those of its unit; what is stored is in sums with that of its part */
        *part_of;  /* [n] states of one unit; connected parts of the graph, one more for states without energy */
    size_t nunits, nparts;
    double *unit_size, *energy; /* greatest of each; energy: sqrt(2E), which does not overflow */
    double *curvature;          /* [n] of the energy; 0: not known */
    size_t without;             /* states that have none */
};

/* ---- connected parts of the graph ---- */

/* Junctions connected by bonds, two-ports or fields belong to one part; by bonds alone, to one wire. */
static uint32_t *
find_parts(const model_graph *g, bool bonds_alone)
{
    uint32_t *parent = joined_new(g->njunctions);

    for (size_t b = 0; b < g->nbonds; b++)
        joined_join(parent, g->bond[b].from, g->bond[b].to);
    if (bonds_alone)
        return parent;
    for (size_t i = 0; i < g->nelements; i++)
        for (uint32_t k = 1; k < g->element[i].nports; k++) {
            const struct model_port *p = &g->port[g->element[i].port0];

            joined_join(parent, p[k].junction, p[0].junction);
        }
    return parent;
}

/* The unit of state i, as a number that states of one unit share. Without a unit: what is stored alike on junctions
 * that bonds connect; other states stand alone. */
static uint64_t
unit_key(const model_graph *g, uint32_t *wires, const struct model_state *x, size_t i)
{
    if (x->unit)
        return map_ptr_key(x->unit);
    if (x->kind == VAR_STORED)
        return 1 + 2 * (uint64_t)joined_first(wires, x->junction) + g->port[x->port].momentum;
    return 1 + 2 * g->njunctions + i;
}

static uint32_t
number_of_key(map *m, uint64_t key, size_t *n)
{
    uint32_t k = map_get(m, key);

    if (k == MAP_NONE) {
        k = (uint32_t)(*n)++;
        map_set(m, key, k);
    }
    return k;
}

scales *
scales_new(bg_model *m, double rtol, double atol)
{
    scales *s = bg_calloc(1, sizeof *s);
    const model_graph *g = model_graph_of(m);
    uint32_t *parent = find_parts(g, false), *wires = find_parts(g, true);
    map units = { 0 }, parts = { 0 };
    size_t n = model_nstates(m);

    s->model = m;
    s->n = n;
    s->rtol = rtol;
    s->atol = atol;
    s->sized = !(atol > 0);
    s->size = bg_calloc(n + 1, sizeof *s->size);
    s->least = bg_calloc(n + 1, sizeof *s->least);
    s->drift = bg_calloc(n + 1, sizeof *s->drift);
    s->allow = bg_calloc(n + 1, sizeof *s->allow);
    s->moved_by = bg_calloc(n + 1, sizeof *s->moved_by);
    s->curvature = bg_calloc(n + 1, sizeof *s->curvature);
    s->pseudo = bg_calloc(n + 1, sizeof *s->pseudo);
    s->holds = bg_calloc(n + 1, sizeof *s->holds);
    s->unit_of = bg_calloc(n + 1, sizeof *s->unit_of);
    s->alike_of = bg_calloc(n + 1, sizeof *s->alike_of);
    s->part_of = bg_calloc(n + 1, sizeof *s->part_of);
    for (size_t i = 0; i < n; i++) {
        struct model_state x = model_state(m, i);
        bool stored = x.kind == VAR_STORED;

        s->pseudo[i] = stored && g->junction[x.junction].pseudo;
        s->holds[i] = x.holds;
        uint64_t key = unit_key(g, wires, &x, i), part = stored ? joined_first(parent, x.junction) : NONE;

        s->unit_of[i] = number_of_key(&units, key, &s->nunits);
        s->alike_of[i] = stored ? number_of_key(&units, bg_hash_mix(key, 1 + part), &s->nunits) : s->unit_of[i];
        s->part_of[i] = number_of_key(&parts, 1 + part, &s->nparts);
    }
    s->unit_size = bg_calloc(s->nunits + 1, sizeof *s->unit_size);
    s->energy = bg_calloc(s->nparts + 1, sizeof *s->energy);
    map_free(&units);
    map_free(&parts);
    free(parent);
    free(wires);
    return s;
}

void
scales_free(scales *s)
{
    if (!s)
        return;
    free(s->size);
    free(s->least);
    free(s->drift);
    free(s->allow);
    free(s->moved_by);
    free(s->curvature);
    free(s->pseudo);
    free(s->holds);
    free(s->unit_of);
    free(s->alike_of);
    free(s->part_of);
    free(s->unit_size);
    free(s->energy);
    free(s);
}

bool
scales_sized(const scales *s)
{
    return s->sized;
}

bool
scales_unknown(scales *s)
{
    while (s->known < s->n && (s->holds[s->known] || s->size[s->known] != 0))
        s->known++;
    return s->sized && s->known < s->n;
}

bool
scales_idle(const scales *s, const double *f)
{
    for (size_t i = s->known; i < s->n; i++)
        if (f[i] != 0 && s->size[i] == 0 && !s->holds[i])
            return false;
    return true;
}

void
scales_begin(scales *s, const double *x)
{
    s->without = s->known = 0;
    for (size_t i = 0; i < s->n; i++) {
        double h = s->sized && !s->pseudo[i] ? model_energy_curvature(s->model, i, x) : 0;

        s->size[i] = fabs(x[i]);
        s->curvature[i] = isfinite(h) ? fabs(h) : 0;
        s->without += s->curvature[i] == 0 && !s->holds[i];
    }
    scales_update(s);
}

void
scales_begun(scales *s)
{
    s->begun = true;
}

static bool
moved_by_rounding(const scales *s, size_t i)
{
    return s->size[i] < AT_REST * s->drift[i];
}

void
scales_update(scales *s)
{
    double rounding = fmin(ROUNDING / (s->rtol * ATOL_SHARE), 1), share = fmax(SHARE, rounding), all = 0;

    if (!s->sized)
        return;
    memset(s->unit_size, 0, s->nunits * sizeof *s->unit_size);
    memset(s->energy, 0, s->nparts * sizeof *s->energy);
    for (size_t i = 0; i < s->n; i++) {
        double *energy = &s->energy[s->part_of[i]], *largest = &s->unit_size[s->unit_of[i]],
               *alike = &s->unit_size[s->alike_of[i]];

        *largest = fmax(*largest, s->size[i]);
        *alike = fmax(*alike, s->size[i]);
        *energy = fmax(*energy, sqrt(s->curvature[i]) * s->size[i]);
        all = fmax(all, *energy);
    }
    for (size_t i = 0; i < s->n; i++) {
        double unit_size = s->unit_size[s->unit_of[i]], alike = s->unit_size[s->alike_of[i]],
               energy = s->energy[s->part_of[i]], by_energy = 0, below = 0;

        if (s->curvature[i] > 0) {
            by_energy = share * energy / sqrt(s->curvature[i]);
            below = fmax(SHARE_BELOW * energy, share * SHARE_OF_ALL * all) / sqrt(s->curvature[i]);
        }
        s->least[i] = fmin(fmax(share * unit_size, below), OWN * s->size[i]);
        s->least[i] = fmax(s->least[i], fmax(rounding * fmax(alike, ELSEWHERE * unit_size), by_energy));
        s->least[i] = fmax(s->least[i], fmax(share * s->moved_by[i], LEAST));
        s->allow[i] = moved_by_rounding(s, i) ? fmax(s->least[i], s->drift[i] / (s->rtol * ATOL_SHARE)) : s->least[i];
    }
}

void
scales_weights(scales *s, const double *x, double *w)
{
    if (s->sized)
        vec_weights_sized(s->n, s->rtol, s->rtol * ATOL_SHARE, x, s->size, s->allow, w);
    else
        vec_weights(s->n, s->rtol, s->atol, x, w);
}

void
scales_of(const scales *s, const double *x, double *scale)
{
    for (size_t i = 0; i < s->n; i++)
        scale[i] = s->sized ? fmax(fabs(x[i]), fmax(s->size[i], s->least[i] > LEAST ? s->least[i] : 0))
                            : fabs(x[i]) + s->atol / s->rtol;
}

/* Each state's own time constant: how long it would continue at its rate if all states moved by their rates. For an
 * exponential law far from its operating range (a diode with the whole mains across it) this is the only limit of
 * such a rate's effect, and it appears only in moves that are short enough. So each move is shorter, until two give
 * the same result. Beside the infinite slope of a root no two do, each shorter move gives a shorter time, though not as
 * much shorter as itself: there the first move that is clearly shorter than its time counts. d: the move of the states
 * along rate, which is that at x; settles: the times, INFINITY where unknown. */
static void
find_times(const scales *s, const double *x, const double *d, const double *rate, double time,
           int (*evaluate)(void *ctx, const double *x, double *f), void *ctx, double *settles)
{
    double *moved = bg_malloc((2 * s->n + 1) * sizeof *moved), *there = moved + s->n;
    const double all = time;
    double before = INFINITY; /* the move before */
    bool open = true;

    for (size_t i = 0; i < s->n; i++)
        settles[i] = INFINITY;
    for (int look = 0; look < LOOKS && open; look++, before = time, time *= NEARER) {
        for (size_t i = 0; i < s->n; i++)
            moved[i] = x[i] + (isfinite(d[i]) ? time * d[i] : 0);
        open = evaluate(ctx, moved, there) != 0;
        if (open)
            continue;
        for (size_t i = 0; i < s->n; i++) {
            double settled = time * fabs(d[i]) / fabs(there[i] - rate[i]);

            if (!isfinite(d[i]) || moved[i] == x[i])
                continue;
            settled = isfinite(settled) ? fmin(settled, all) : all;
            if (isfinite(settles[i]) && settles[i] > 2 * before && settled <= settles[i] / 2 &&
                settled > 2 * NEARER * settles[i])
                continue;
            open |= !(settled > settles[i] / 2 && settled < 2 * settles[i]);
            settles[i] = settled;
        }
    }
    free(moved);
}

void
scales_peak(scales *s, const double *x, const double *f, double time,
            int (*evaluate)(void *ctx, const double *x, double *f), void *ctx)
{
    double *rate = bg_malloc((3 * s->n + 1) * sizeof *rate), *d = rate + s->n, *settles = d + s->n;

    if (s->sized && evaluate(ctx, x, rate) == 0) {
        for (size_t i = 0; i < s->n; i++)
            d[i] = rate[i] - f[i];
        find_times(s, x, d, rate, time, evaluate, ctx, settles);
        for (size_t i = 0; i < s->n; i++)
            if (isfinite(d[i]))
                s->size[i] = fmax(s->size[i], (settles[i] < FAST * time ? settles[i] : time) * fabs(d[i]));
    }
    free(rate);
}

/* The terms in the rate of a sticking state cancel to rounding, whatever the states are. Its size is the effect of
 * the friction once it slips. */
static void
size_of_what_sticks(scales *s, const double *x, const double *f, double time,
                    int (*evaluate)(void *ctx, const double *x, double *f), void *ctx, double *rate)
{
    size_t n = model_nmodes(s->model);
    double *modes = model_modes(s->model), *held = bg_malloc((n + 1) * sizeof *held);
    bool any = false;

    memcpy(held, modes, n * sizeof *modes);
    for (size_t k = 0; k < n; k++) {
        struct model_mode m = model_mode(s->model, k);

        if (m.kind != MODE_STICK || modes[k] == 0)
            continue;
        any = true;
        modes[k] = 0;
        if (modes[m.partner] == 0)
            modes[m.partner] = 1;
    }
    if (any && evaluate(ctx, x, rate) == 0)
        for (size_t i = 0; i < s->n; i++)
            if (s->size[i] == 0 && isfinite(rate[i] - f[i]))
                s->size[i] = time * fabs(rate[i] - f[i]);
    memcpy(modes, held, n * sizeof *modes);
    free(held);
}

void
scales_beside_roots(scales *s, const double *x, const double *f, double time,
                    int (*evaluate)(void *ctx, const double *x, double *f), void *ctx, double *size)
{
    find_times(s, x, f, f, time, evaluate, ctx, size);
    for (size_t i = 0; i < s->n; i++)
        size[i] = (!s->begun || s->size[i] == 0) && isfinite(f[i]) && isfinite(size[i]) ? size[i] * fabs(f[i]) : 0;
}

void
scales_not_far_below(scales *s, const double *size)
{
    if (!s->sized)
        return;
    for (size_t i = 0; i < s->n; i++)
        if (s->size[i] < SHARE * size[i])
            s->size[i] = size[i];
    scales_update(s);
}

void
scales_from_rates(scales *s, const double *x, const double *f, double time, bool all,
                  int (*evaluate)(void *ctx, const double *x, double *f), void *ctx, double *const scratch[2])
{
    double *moved = scratch[0], *rate = scratch[1], *settles;

    if (!s->sized || (!all && s->without == 0))
        return;
    settles = bg_malloc((s->n + 1) * sizeof *settles);
    for (size_t i = 0; i < s->n; i++)
        settles[i] = INFINITY;
    if (all)
        find_times(s, x, f, f, time, evaluate, ctx, settles);
    /* products of the Jacobian with two vectors of random signs, so that terms hardly cancel in both */
    for (uint64_t trial = 0; trial < 2; trial++) {
        for (size_t i = 0; i < s->n; i++) {
            double step = PROBE * (all ? fabs(x[i]) : fmax(s->size[i], s->curvature[i] > 0 ? s->least[i] : 0));

            moved[i] = x[i] + ((int64_t)bg_hash_mix(i + 1, 17 + trial) < 0 ? -step : step);
        }
        if (evaluate(ctx, moved, rate) != 0)
            continue;
        for (size_t i = 0; i < s->n; i++) {
            double *to = all ? &s->size[i] : &s->moved_by[i];

            if (all ? !s->begun || s->size[i] == 0 : s->curvature[i] == 0)
                *to = fmax(*to, (settles[i] < FAST * time ? settles[i] : time) *
                                    (fabs(f[i]) + fabs(rate[i] - f[i]) / PROBE));
        }
    }
    if (all)
        size_of_what_sticks(s, x, f, time, evaluate, ctx, rate);
    free(settles);
    scales_update(s);
}

bool
scales_rounded(scales *s, const double *f, const double *noise, double time)
{
    bool more = false;

    for (size_t i = 0; i < s->n && s->sized; i++) {
        double drift = time * noise[i];

        if (!(drift > s->drift[i]) || !isfinite(drift) || fabs(f[i]) > AT_REST * noise[i])
            continue;
        s->drift[i] = drift;
        more |= moved_by_rounding(s, i) && drift > s->rtol * ATOL_SHARE * s->allow[i];
    }
    if (more)
        scales_update(s);
    return more;
}
