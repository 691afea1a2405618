/* first_solution.c - see first_solution.h */
#include "first_solution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_graph.h"
#include "shown.h"
#include "simulate.h"

/* Of a sum of powers: sums that differ by less are equal */
#define AS_MUCH 1e-9
/* Of unknowns, and of powers: solutions that differ by less are the same */
#define SAME 1e-6
/* W: smaller than any power of a modelled device. Below it, solutions differ by rounding beside laws that are flat
 * or steep at zero. */
#define NO_POWER 1e-18
/* Of the greatest state of a unit: what rounding may move one by */
#define ROUNDING 1e-12
enum {
    NAMED = 4,           /* solutions, or moved states, that are listed */
    MOST_CANDIDATES = 8, /* of modes */
    MOST_TRIED = 64,     /* modes that are changed one by one: each needs some evaluations */
    MOST_SETS = 256,     /* combinations of modes of ideal switches, of all nets that may have several solutions, */
    MOST_NETS = 4096     /* and nets that are looked at */
};

struct candidate {
    double power;
    double *mark; /* identification: unknowns of the block, or powers */
    double *modes;
    size_t one; /* which of a net's solutions */
};

struct choosing {
    bg_model *model;
    events *events;
    double t;
    const double *x;
    struct model_choice *choice;
    size_t nmodes, nmark, nelements;
    bool by_powers; /* candidates are identified by powers, which have one unit */
    double *power;  /* [nelements] */
    struct candidate *at;
    size_t n; /* candidates so far, all different */
};

static void
begin_choosing(struct choosing *c, size_t most, size_t nmark)
{
    double *room = bg_calloc(most * (nmark + c->nmodes) + 1, sizeof *room);

    c->at = bg_calloc(most, sizeof *c->at);
    c->n = 0;
    c->nmark = nmark;
    for (size_t i = 0; i < most; i++) {
        c->at[i].mark = room + i * (nmark + c->nmodes);
        c->at[i].modes = c->at[i].mark + nmark;
    }
}

static void
free_choosing(struct choosing *c)
{
    free(c->at[0].mark);
    free(c->at);
}

static bool
is_same_mark(const struct choosing *c, const double *a, const double *b)
{
    double most = 0;

    /* a power far below the greatest may be rounding */
    for (size_t i = 0; i < c->nmark && c->by_powers; i++)
        most = fmax(most, fmax(fabs(a[i]), fabs(b[i])));
    for (size_t i = 0; i < c->nmark; i++)
        if (!(fabs(a[i] - b[i]) <= fmax(SAME * fmax(most, fmax(fabs(a[i]), fabs(b[i]))), c->by_powers ? NO_POWER : 0)))
            return false;
    return true;
}

/* Adds the solution evaluated with the present modes, unless it is known already. */
static void
add_solution(struct choosing *c)
{
    struct candidate *now = &c->at[c->n];

    now->power = 0;
    for (size_t i = 0; i < c->nelements; i++)
        now->power += fabs(c->power[i]);
    if (!isfinite(now->power))
        return;
    for (size_t j = 0; j < c->n; j++)
        if (is_same_mark(c, now->mark, c->at[j].mark))
            return;
    memcpy(now->modes, model_modes(c->model), c->nmodes * sizeof(double));
    c->n++;
}

static size_t
best_of(const struct choosing *c)
{
    size_t best = 0;

    for (size_t i = 1; i < c->n; i++)
        if (c->at[i].power < (1 - AS_MUCH) * c->at[best].power)
            best = i;
    return best;
}

/* ---- blocks ---- */

static void
say_block(const struct choosing *c, size_t chosen)
{
    struct model_variable v = model_variable(c->model, model_choice_unknown(c->choice, 0));
    strbuf list = { 0 };

    for (size_t i = 0; i < c->n && i < NAMED; i++)
        strbuf_printf(&list, "%s%s",
                      i == 0          ? ""
                      : i + 1 == c->n ? " or "
                                      : ", ",
                      value_shown(v.unit, NULL, c->at[i].mark[0]).text);
    if (c->n > NAMED)
        strbuf_printf(&list, " or another");
    diag_info(
        model_sources(c->model), "run-several", v.at,
        "the equations that \"%s\" is solved from have several solutions at %.6g s: it may be %s; the one with the "
        "least power is taken, %s",
        v.name, c->t, list.at, value_shown(v.unit, NULL, c->at[chosen].mark[0]).text);
    strbuf_free(&list);
}

static enum first_solution
found(const struct choosing *c, size_t best)
{
    return c->n < 2 ? FIRST_ALONE : best == 0 ? FIRST_KEPT : FIRST_CHANGED;
}

/* The present block's solution with the least power. */
static enum first_solution
choose_block(struct choosing *c, const struct model_solutions *s)
{
    double *modes = model_modes(c->model);
    size_t best;

    begin_choosing(c, s->n + 1, s->unknowns);
    c->by_powers = false;
    if (model_chosen(c->choice, c->power, c->at[0].mark))
        add_solution(c);
    for (size_t i = 0; i < s->n && c->n > 0; i++) {
        memcpy(modes, c->at[0].modes, c->nmodes * sizeof *modes);
        model_choose(c->choice, s->other + i * s->unknowns);
        if (events_agree(c->events, c->t, c->x) && model_chosen(c->choice, c->power, c->at[c->n].mark))
            add_solution(c);
    }
    best = best_of(c);
    model_choose(c->choice, best > 0 ? c->at[best].mark : NULL);
    if (c->n > 0)
        memcpy(modes, c->at[best].modes, c->nmodes * sizeof *modes);
    if (c->n > 1)
        say_block(c, best);
    free_choosing(c);
    return found(c, best);
}

/* ---- modes: of laws in pieces each is a law of its own ---- */

/* Powers with the present modes, if these are not the first candidate's. */
static void
add_powers(struct choosing *c)
{
    struct candidate *now = &c->at[c->n];

    if (c->n > 0 && !memcmp(model_modes(c->model), c->at[0].modes, c->nmodes * sizeof(double)))
        return;
    if (model_powers(c->model, c->t, c->x, now->mark) != 0)
        return;
    memcpy(c->power, now->mark, c->nelements * sizeof *c->power);
    add_solution(c);
}

/* Adds solutions with another value of mode k; `tried` counts them. */
static size_t
try_mode(struct choosing *c, uint32_t k, const double *first)
{
    double *modes = model_modes(c->model), other[MOST_CANDIDATES];
    size_t n = events_others(c->events, k, other, MOST_CANDIDATES);

    for (size_t i = 0; i < n && c->n < MOST_CANDIDATES; i++) {
        modes[k] = other[i];
        if (events_agree(c->events, c->t, c->x) && memcmp(modes, first, c->nmodes * sizeof *modes) != 0) {
            double *others = bg_malloc(c->nmodes * sizeof *others);

            memcpy(others, modes, c->nmodes * sizeof *modes);
            if (c->n == 0) {
                memcpy(modes, first, c->nmodes * sizeof *modes);
                add_powers(c);
                memcpy(modes, others, c->nmodes * sizeof *modes);
            }
            if (c->n > 0)
                add_powers(c);
            free(others);
        }
        memcpy(modes, first, c->nmodes * sizeof *modes);
    }
    return n;
}

/* The first mode that differs between the first candidate and another. */
static void
say_modes(const struct choosing *c, size_t chosen)
{
    size_t k = 0, other = chosen > 0 ? chosen : 1;

    while (k + 1 < c->nmodes && c->at[other].modes[k] == c->at[0].modes[k])
        k++;
    struct model_mode m = model_mode(c->model, k);

    diag_info(model_sources(c->model), "run-several", m.at,
              "several solutions satisfy all equations at %.6g s: they differ in the piece of this law that holds; the "
              "one with the least power is taken, %.6g W in all",
              c->t, c->at[chosen].power);
}

static enum first_solution
choose_with_modes(struct choosing *c)
{
    double *first = bg_malloc(c->nmodes * sizeof *first);
    size_t best = 0, tried = 0;

    memcpy(first, model_modes(c->model), c->nmodes * sizeof *first);
    begin_choosing(c, MOST_CANDIDATES + 1, c->nelements);
    c->by_powers = true;
    for (uint32_t k = 0; k < c->nmodes && tried < MOST_TRIED; k++)
        tried += try_mode(c, k, first);
    if (c->n > 1) {
        best = best_of(c);
        memcpy(model_modes(c->model), c->at[best].modes, c->nmodes * sizeof *first);
        say_modes(c, best);
    }
    free_choosing(c);
    free(first);
    return found(c, best);
}

/* ---- nets of ideal switches: combinations of modes, and values in each where laws are curved ---- */

/* Adds solution `one` of the net if all other modes agree with it, or agree after settling. */
static void
try_solution(struct choosing *c, size_t net, const double *others, size_t one, const double *first)
{
    double *modes = model_modes(c->model), *set = bg_malloc(c->nmodes * sizeof *set);

    memcpy(modes, first, c->nmodes * sizeof *modes);
    model_net_take(c->model, net, others, one);
    memcpy(set, modes, c->nmodes * sizeof *set);
    if (events_agree(c->events, c->t, c->x) && (!memcmp(set, modes, c->nmodes * sizeof *set) ||
                                                model_nets_hold(c->model, c->t, c->x, events_ahead(c->events)))) {
        struct candidate *now = &c->at[c->n];
        size_t before = c->n;

        if (model_powers(c->model, c->t, c->x, now->mark) == 0) {
            memcpy(c->power, now->mark, c->nelements * sizeof *c->power);
            add_solution(c);
        }
        if (c->n > before)
            c->at[before].one = one;
    }
    free(set);
}

static void
say_net(const struct choosing *c, size_t net, size_t chosen)
{
    strbuf list = { 0 };

    for (size_t i = 0; i < c->n && i < NAMED; i++)
        strbuf_printf(&list, "%s%.6g W", i == 0 ? "" : i + 1 == c->n ? " or " : ", ", c->at[i].power);
    if (c->n > NAMED)
        strbuf_printf(&list, " or another");
    diag_info(
        model_sources(c->model), "run-several", model_net_place(c->model, net),
        "several solutions satisfy all equations at %.6g s, for this switch and those it acts on, with %s in all; "
        "the one with the least power is taken, %.6g W",
        c->t, list.at, c->at[chosen].power);
    strbuf_free(&list);
}

static enum first_solution
choose_net(struct choosing *c, size_t net, size_t *left)
{
    double *first = bg_malloc(c->nmodes * sizeof *first), *others;
    size_t tried, best = 0,
                  n = model_net_others(c->model, net, c->t, c->x, events_ahead(c->events), *left, &others, &tried);
    enum first_solution result = FIRST_ALONE;

    *left -= tried < *left ? tried : *left;
    memcpy(first, model_modes(c->model), c->nmodes * sizeof *first);
    if (n > 1) {
        begin_choosing(c, n, c->nelements);
        c->by_powers = true;
        for (size_t i = 0; i < n; i++)
            try_solution(c, net, others, i, first);
        memcpy(model_modes(c->model), first, c->nmodes * sizeof *first);
        best = best_of(c);
        if (c->n > 0) {
            memcpy(model_modes(c->model), c->at[best].modes, c->nmodes * sizeof *first);
            model_net_take(c->model, net, others, c->at[best].one);
        }
        if (c->n > 1)
            say_net(c, net, best);
        result = found(c, best);
        free_choosing(c);
    }
    free(others);
    free(first);
    return result;
}

enum first_solution
first_solution(bg_model *m, events *e, double t, const double *x)
{
    struct choosing c = { .model = m,
                          .events = e,
                          .t = t,
                          .x = x,
                          .nmodes = model_nmodes(m),
                          .nelements = model_nelements(m) };
    struct model_solutions s;
    enum first_solution most = FIRST_ALONE, one;
    size_t net = 0, left = MOST_SETS;

    if (!model_chooses(m))
        return FIRST_ALONE;
    c.power = bg_calloc(c.nelements + 1, sizeof *c.power);
    if (model_has_blocks(m)) {
        c.choice = model_choice_new(m, t, x, false);
        while (model_choice_next(c.choice, &s)) {
            one = choose_block(&c, &s);
            most = one > most ? one : most;
        }
        model_choice_free(c.choice);
    }
    for (; net < model_nnets(m) && net < MOST_NETS && left > 0; net++) {
        one = choose_net(&c, net, &left);
        most = one > most ? one : most;
    }
    if (net < model_nnets(m))
        diag_info(
            model_sources(m), "run-several", model_net_place(m, net),
            "several solutions were not looked for at %.6g s in the last %zu of %zu groups of ideal switches, from "
            "this one on: the first that was found is taken",
            t, model_nnets(m) - net, model_nnets(m));
    if (c.nmodes > 0) {
        one = choose_with_modes(&c);
        most = one > most ? one : most;
    }
    free(c.power);
    return most;
}

/* By state: the greatest of `from` among those of its unit. To be freed. */
static double *
greatest_of_units(const bg_model *m, const double *from, const double *x)
{
    size_t n = model_nstates(m);
    double *most = bg_calloc(2 * n + 1, sizeof *most), *of_unit = most + n;
    map units = { 0 };

    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < n; i++) {
            uint64_t key = map_ptr_key(model_state(m, i).unit);
            uint32_t k = map_get(&units, key);

            if (k == MAP_NONE)
                map_set(&units, key, k = (uint32_t)units.n);
            of_unit[k] = fmax(of_unit[k], fmax(fabs(from[i]), fabs(x[i])));
            most[i] = of_unit[k];
        }
    map_free(&units);
    return most;
}

void
first_moved(const bg_model *m, const double *from, const double *x)
{
    double *most = greatest_of_units(m, from, x);
    size_t moved = 0;

    for (size_t i = 0; i < model_nstates(m); i++) {
        struct model_state s = model_state(m, i);

        if (!(fabs(x[i] - from[i]) > SAME * fmax(fabs(x[i]), fabs(from[i]))) ||
            !(fabs(x[i] - from[i]) > ROUNDING * most[i]) || moved++ >= NAMED)
            continue;
        diag_info(model_sources(m), "run-moved", s.at,
                  "\"%s\" starts at %s, not at %s: the ideal switches leave it no other value", s.name,
                  model_state_shown(m, i, x[i]).text, model_state_shown(m, i, from[i]).text);
    }
    if (moved > NAMED)
        diag_info(model_sources(m), "run-moved", model_place(m), "%zu other states are moved at the start as well",
                  moved - NAMED);
    free(most);
}

/* What ideal switches do at (t, x), and what sticks there. An equilibrium has found its modes by itself, but for those
 * of ideal switches. */
static bool
find_modes(bg_model *m, events *e, double t, bool rests, double *x)
{
    bool open = model_has_nets(m) || (model_nmodes(m) > 0 && !rests);
    enum events_status status = open ? events_start(e, t, x) : EVENTS_SAME;

    if (status == EVENTS_FAILED && !diag_errors(model_sources(m)))
        diag_error(model_sources(m), "run-no-mode", model_place(m), "no modes hold at %.6g s", t);
    return status != EVENTS_FAILED && status != EVENTS_STOP;
}

bool
first_point(bg_model *m, double t, bool rests, double *x)
{
    events *e;
    bool fine;

    model_forget(m);
    if (!model_initial(m, t, x) || (model_nmodes(m) > 0 && !model_need(m, PART_CONDITIONS)) ||
        (model_has_blocks(m) && !(model_need(m, PART_RHS) && model_need(m, PART_OUTPUTS))) ||
        (rests && !equilibrium(m, t, x)))
        return false;
    e = events_new(m, t, t + 1);
    fine = find_modes(m, e, t, rests, x) &&
           (first_solution(m, e, t, x) != FIRST_CHANGED || find_modes(m, e, t, rests, x));
    events_free(e);
    return fine;
}
