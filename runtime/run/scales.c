/* scales.c - see scales.h */
#include "scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joined.h"
#include "model_graph.h"
#include "vectors.h"

/* The rules by which a state gets its scale are listed in scales.h. Energies enter as sqrt(2E): a state x whose energy
 * has the second derivative H stores sqrt(H) |x|, so E is the scale of x when divided by sqrt(H). */
#define ATOL_SHARE 1e-3 /* tolerated error of a state near zero, in rtol times its scale */
/* Least scale of a state: of the largest state of its unit, and of the energy of its part of the graph. */
#define SHARE 1e-3
#define SHARE_OF_ALL 1e-3 /* factor on that for the energy of the whole model */
/* A state that is small compared with others still has to be followed. So scales found by comparison with the largest
 * state of its unit, with SHARE_BELOW of the energy of its part or with that of the whole model are limited to OWN
 * times its greatest |x| so far. */
#define OWN 100
#define SHARE_BELOW 0.03
/* Of the largest state of a unit: rounding error of sums of such states. A scale below it would make steps follow
 * rounding, at a small rtol. */
#define ROUNDING 1e-14
/* Factor on that for states in other parts of the graph, which are joined to this one by signals alone. */
#define ELSEWHERE 1e-5
#define LEAST 1e-18 /* scale of a state of which nothing is known */
#define FAST 0.01   /* a state is moved for its own time constant only, if that is shorter than this part of the time */
#define NEARER 1e-4 /* ratio of one trial move to the one before it, in find_times */
#define AT_REST 10  /* a state never larger than this times the drift by rounding is at rest except for rounding */
#define PROBE 1e-7  /* of a state's scale: change that shows how large the terms of the rates are */

enum { LOOKS = 80 }; /* greatest number of trial moves; the last ones are below the rounding of any state */

struct scales {
    bg_model *model;
    size_t n;
    double rtol, atol;
    bool sized;    /* tolerances come from the sizes, since no atol was stated */
    double *size;  /* [n] greatest |x| so far; at first an estimate from the rates */
    double *least; /* [n] lower bound of the scale, from other states */
    double *drift; /* [n] how far rounding in its rate may move the state until the end of the run */
    double *allow; /* [n] `least`, or for a state moved by rounding alone, the scale whose tolerance is its drift */
    /* [n] estimates from rates, for states without energy. Kept apart from the sizes, from which they are computed:
     * sizes that depend on one another would grow without bound. */
    double *moved_by;
    bool *pseudo;       /* [n] stored on pseudo bonds, where H is not the second derivative of an energy */
    bool *holds;        /* [n] has no rate, and needs no size */
    size_t known;       /* states below this number have a size, or need none */
    bool begun;         /* the sizes at the start of the run are known */
    uint32_t *unit_of;  /* [n] number of its unit */
    uint32_t *alike_of; /* [n] of the states with which it stands in sums: its unit; a stored one: that, in its part */
    uint32_t *part_of;  /* [n] of the connected part of the graph; all states that are not stored have one number */
    size_t nunits, nparts;
    double *unit_size; /* greatest size of each unit (and of the numbers of alike_of) */
    double *energy;    /* greatest energy of each part, as sqrt(2E), which does not overflow */
    double *curvature; /* [n] second derivative of the energy; 0: none is known */
    size_t without;    /* number of states whose curvature is 0 */
};

/* ---- connected parts of the graph ---- */

/* Sets of junctions: those connected by bonds, two-ports or fields are a part; by bonds alone, a wire. */
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

/* A number that the states with the unit of state i share. If it has none: those stored on the same wire, momenta and
 * displacements apart; other states share it with none. */
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

/* settles[n]: each state's own time constant, |d| over the rate at which its rate changes while all states move along
 * d; INFINITY: unknown. rate[n]: the rates at x. For an exponential law far from its operating range (a diode with the
 * full mains voltage across it) this alone limits the effect of a huge rate, and only moves that are short enough show
 * it. So shorter and shorter moves are tried, until two of them give the same time. Near the infinite slope of a root
 * no two moves do: each shorter move gives a shorter time, though by less than the ratio of the moves. There the first
 * move that is clearly shorter than the time found with it counts. */
static void
find_times(const scales *s, const double *x, const double *d, const double *rate, double time,
           int (*evaluate)(void *ctx, const double *x, double *f), void *ctx, double *settles)
{
    double *moved = bg_malloc((2 * s->n + 1) * sizeof *moved), *there = moved + s->n;
    const double all = time;
    double before = INFINITY; /* the previous move, as a time along d */
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

/* The rate of a sticking state is the rounding of terms that cancel. Its size is how far friction would move it within
 * `time` if it slipped. */
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
    /* Products of the Jacobian with two vectors of random signs show how large the terms of each rate are: it is
     * unlikely that they cancel in both. */
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
