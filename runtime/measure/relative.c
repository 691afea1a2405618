/* relative.c - see relative.h
 *
 * ratio10 is the greatest value among the samples whose energy exceeds a share of the maximum energy, which is known
 * only at the end. So for each pair those samples are kept that may still be it: those to which no other sample is
 * superior in both energy and value (the front). Over many oscillations these are hundreds, for all pairs more than
 * caches hold; so samples are buffered, and those of one pair are added to its front together.
 */
#include "junction.h"
#include "relative.h"

#include <math.h>
#include <string.h>

struct candidate {
    double energy, value;
};
typedef VEC(struct candidate) front; /* energies descend, values ascend */

/* Buffered samples of a pair: those of a few hundred pairs fit into the cache. */
enum { WAITING_MOST = 32 };
struct waiting {
    struct candidate at[WAITING_MOST];
    size_t n;
};

struct relative_track {
    bg_model *model;
    size_t nvalues, states;  /* bond values; index where those of storage begin */
    double *base;            /* energies at the window's beginning */
    double *start, *top;     /* [rows] stored energy at the window's beginning, its maximum so far */
    double *from;            /* [rows] what is stored at the window's beginning */
    front *front;            /* [neighbours] */
    struct waiting *waiting; /* [neighbours] not in the front yet */
};

static size_t
channel(const model_graph *g, const relative_neighbour *k)
{
    return k->is_bond ? g->nports + k->index : k->index;
}

void
relative_begin(bg_model *m, relative *r)
{
    const model_graph *g = model_graph_of(m);
    struct relative_track *t = bg_calloc(1, sizeof *t);

    uint32_t *leader = junction_port_leaders(g);

    memset(r, 0, sizeof *r);
    r->track = t;
    t->model = m;
    t->nvalues = model_nbond_values(m);
    t->states = g->nports + g->nbonds;
    t->base = bg_calloc(t->nvalues + 1, sizeof *t->base);
    for (uint32_t i = 0; i < g->nports; i++) {
        const struct model_port *p = &g->port[i];
        const struct model_junction *j = &g->junction[p->junction];
        relative_row row = { .port = i, .first = r->neighbour.n };

        if (p->stored == VAR_NONE)
            continue;
        for (uint32_t k = 0; k < j->ninc; k++) {
            const struct model_incidence *inc = &g->incidence[j->inc0 + k];

            if (inc->is_bond || (inc->index != i && leader[inc->index] == inc->index))
                vec_push(&r->neighbour, ((relative_neighbour){ .is_bond = inc->is_bond, .index = inc->index }));
        }
        row.n = r->neighbour.n - row.first;
        vec_push(&r->row, row);
    }
    free(leader);
    t->start = bg_calloc(r->row.n + 1, sizeof *t->start);
    t->top = bg_calloc(r->row.n + 1, sizeof *t->top);
    t->from = bg_calloc(r->row.n + 1, sizeof *t->from);
    t->front = bg_calloc(r->neighbour.n + 1, sizeof *t->front);
    t->waiting = bg_calloc(r->neighbour.n + 1, sizeof *t->waiting);
}

/* Index of the first sample with less energy, searched from `near`: samples added together have similar energies. */
static size_t
first_below(const front *q, double energy, size_t near)
{
    size_t lo = 0, hi = q->n, step = 1;

    if (near < q->n && q->at[near].energy >= energy) {
        for (lo = near + 1; lo + step < q->n && q->at[lo + step].energy >= energy; step *= 2)
            lo += step + 1;
        hi = lo + step < q->n ? lo + step : q->n;
    } else if (near <= q->n) {
        for (hi = near; hi >= step && q->at[hi - step].energy < energy; step *= 2)
            hi -= step;
        lo = hi >= step ? hi - step + 1 : 0;
    }
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;

        if (q->at[middle].energy >= energy)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Returns its index, or where it would be. */
static size_t
add_to_front(front *q, double energy, double value, size_t near)
{
    size_t lo = first_below(q, energy, near), gone = 0;

    if (lo && q->at[lo - 1].value >= value)
        return lo;
    while (lo && q->at[lo - 1].energy == energy) /* equal energy and a smaller value */
        lo--;
    while (lo + gone < q->n && q->at[lo + gone].value <= value)
        gone++;
    if (gone == 0)
        vec_push(q, ((struct candidate){ 0, 0 }));
    memmove(q->at + lo + 1, q->at + lo + gone, (q->n - lo - (gone ? gone : 1)) * sizeof *q->at);
    if (gone)
        q->n -= gone - 1;
    q->at[lo] = (struct candidate){ energy, value };
    return lo;
}

/* least: samples with less energy can never count */
static void
add_waiting(struct waiting *w, front *q, double least)
{
    size_t near = NO_INDEX;

    while (q->n && q->at[q->n - 1].energy < least)
        q->n--;
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i].energy >= least)
            near = add_to_front(q, w->at[i].energy, w->at[i].value, near);
    w->n = 0;
}

/* Of two consecutive samples one is often superior in both. */
static void
add_front_candidate(struct waiting *w, front *q, struct candidate x, double least)
{
    const struct candidate *last = w->n ? &w->at[w->n - 1] : NULL;

    if (last && last->energy >= x.energy && last->value >= x.value)
        return;
    if (last && last->energy <= x.energy && last->value <= x.value)
        w->n--;
    w->at[w->n++] = x;
    if (w->n == WAITING_MOST)
        add_waiting(w, q, least);
}

void
relative_take(relative *r, bool first, const double *value, const double *energy)
{
    struct relative_track *t = r->track;
    const model_graph *g = model_graph_of(t->model);

    if (first)
        memcpy(t->base, energy, t->nvalues * sizeof *t->base);
    for (size_t i = 0; i < r->row.n; i++) {
        relative_row *row = &r->row.at[i];
        double stored = value[t->states + 2 * i], conjugate = value[t->states + 2 * i + 1];
        double change = energy[row->port] - t->base[row->port], now;

        bool pseudo = g->junction[g->port[row->port].junction].pseudo;

        if (first) {
            t->start[i] = pseudo ? 0 : model_stored_energy(t->model, row->port, stored, conjugate);
            t->from[i] = pseudo ? stored : 0;
        }
        /* for pseudo bonds only changes have a meaning: the zero of a temperature is far away */
        now = pseudo ? fabs(change) : isnan(t->start[i]) ? fabs(stored * conjugate) / 2 : t->start[i] + change;
        t->top[i] = fmax(t->top[i], now);
        row->change = fmax(row->change, fabs(change));
        row->stored = fmax(row->stored, fabs(stored - t->from[i]));
        for (size_t k = row->first; k < row->first + row->n; k++) {
            relative_neighbour *b = &r->neighbour.at[k];
            size_t c = channel(g, b);
            double moved = fabs(energy[c] - t->base[c]);

            b->change = fmax(b->change, moved);
            if (now > 0 && now >= RELATIVE_GUARD * t->top[i] && conjugate != 0)
                add_front_candidate(&t->waiting[k], &t->front[k], (struct candidate){ now, moved / fabs(conjugate) },
                                    RELATIVE_GUARD * t->top[i]);
        }
    }
}

void
relative_end(relative *r)
{
    struct relative_track *t = r->track;

    for (size_t i = 0; i < r->row.n; i++) {
        relative_row *row = &r->row.at[i];

        for (size_t k = row->first; k < row->first + row->n; k++) {
            relative_neighbour *b = &r->neighbour.at[k];
            front *q = &t->front[k];

            add_waiting(&t->waiting[k], q, RELATIVE_GUARD * t->top[i]);
            b->ratio9 = row->change > 0 ? b->change / row->change : NAN;
            b->ratio10 = q->n && row->stored > 0 ? q->at[q->n - 1].value / row->stored : NAN;
            vec_free(q);
        }
    }
    free(t->base);
    free(t->start);
    free(t->top);
    free(t->from);
    free(t->front);
    free(t->waiting);
    free(t);
    r->track = NULL;
}

void
relative_free(relative *r)
{
    if (r->track)
        relative_end(r);
    vec_free(&r->row);
    vec_free(&r->neighbour);
}
