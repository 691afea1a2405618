/* events_near.c - which conditions are looked at
 *
 * Where many conditions compare one quantity with a threshold each, a ladder has them in the order of these. Of a
 * ladder only those are looked at that are near the quantity: the nearest on each side, and more where it has come
 * close to them. All others agree with their modes, clear of their borders; what would be known of each of them (its
 * difference, and how great that has been) follows from the quantity, when it comes near.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events_inside.h"

#define CLEAR 1e-6      /* of a condition's size: nearer to its border it is looked at */
enum { NEAR_MOST = 8 }; /* of a ladder: when more than so many are looked at, it is seen which need not be */

static struct model_threshold
threshold_of(const events *e, uint32_t k)
{
    return e->threshold[k];
}

static int
compare_rungs(const void *a, const void *b, void *ctx)
{
    const events *e = ctx;
    uint32_t k = *(const uint32_t *)a, l = *(const uint32_t *)b;
    struct model_threshold x = threshold_of(e, k), y = threshold_of(e, l);

    if (x.of != y.of)
        return x.of < y.of ? -1 : 1;
    return x.at != y.at ? (x.at > y.at) - (x.at < y.at) : (k > l) - (k < l);
}

void
events_make_ladders(events *e)
{
    size_t n = model_nquantities(e->model);

    e->nladders = n;
    e->ladder = bg_calloc(n + 1, sizeof *e->ladder);
    e->quantity = bg_calloc(n + 1, sizeof *e->quantity);
    e->threshold = bg_calloc(e->n + 1, sizeof *e->threshold);
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];

        vec_push(&e->near, k);
        e->threshold[k] = model_threshold(e->model, k);
        if (e->threshold[k].of != NONE)
            vec_push(&e->rung, k);
    }
    if (!n)
        return;
    qsort_r(e->rung.at, e->rung.n, sizeof *e->rung.at, compare_rungs, e);
    for (size_t i = 0; i < e->rung.n; i++) {
        struct ladder *l = &e->ladder[threshold_of(e, e->rung.at[i]).of];

        if (l->n++ == 0)
            *l = (struct ladder){ .rung = e->rung.at + i, .n = 1, .least = INFINITY, .most = -INFINITY };
        l->to = l->n;
    }
}

void
events_free_ladders(events *e)
{
    free(e->ladder);
    free(e->quantity);
    free(e->threshold);
    vec_free(&e->rung);
    vec_free(&e->near);
}

/* How great its difference has been. */
static double
size_of_rung(const events *e, const struct ladder *l, uint32_t k)
{
    double at = threshold_of(e, k).at, size = e->size[k];

    return l->most >= l->least ? fmax(size, fmax(fabs(l->most - at), fabs(l->least - at))) : size;
}

static void
wake(events *e, const struct ladder *l, uint32_t k, double *g, double quantity)
{
    struct model_threshold at = threshold_of(e, k);
    size_t i = e->near.n;

    e->size[k] = size_of_rung(e, l, k);
    e->g[k] = model_past(at, l->now);
    e->g_before[k] = model_past(at, l->before);
    g[k] = model_past(at, quantity);
    e->far[k] = false;
    vec_push(&e->near, k);
    for (; i > 0 && e->near.at[i - 1] > k; i--)
        e->near.at[i] = e->near.at[i - 1];
    e->near.at[i] = k;
}

/* Is the quantity on the side of it on which it was last, and clear of it? */
static bool
is_clear(const events *e, const struct ladder *l, uint32_t k, double quantity, bool below)
{
    double past = quantity - threshold_of(e, k).at;

    return (below ? past : -past) > CLEAR * size_of_rung(e, l, k);
}

bool
events_conditions(events *e, double t, const double *x, double *g)
{
    if (!e->nladders)
        return model_conditions(e->model, t, x, g) == 0;
    if (model_conditions_apart(e->model, t, x, g, e->quantity) != 0)
        return false;
    for (size_t q = 0; q < e->nladders; q++) {
        struct ladder *l = &e->ladder[q];
        double now = e->quantity[q];

        if (g == e->g)
            l->now = now;
        for (uint32_t i = l->from; i < l->to; i++)
            g[l->rung[i]] = model_past(threshold_of(e, l->rung[i]), now);
        while (l->from > 0 &&
               (threshold_of(e, l->rung[l->from]).at >= now || !is_clear(e, l, l->rung[l->from - 1], now, true)))
            wake(e, l, l->rung[--l->from], g, now);
        while (l->to < l->n &&
               (threshold_of(e, l->rung[l->to - 1]).at <= now || !is_clear(e, l, l->rung[l->to], now, false)))
            wake(e, l, l->rung[l->to++], g, now);
    }
    return true;
}

void
events_keep_before(events *e)
{
    memcpy(e->g_before, e->g, e->n * sizeof(double));
    for (size_t q = 0; q < e->nladders; q++)
        e->ladder[q].before = e->ladder[q].now;
}

void
events_note_quantities(events *e)
{
    for (size_t q = 0; q < e->nladders; q++) {
        struct ladder *l = &e->ladder[q];

        l->least = fmin(l->least, l->now);
        l->most = fmax(l->most, l->now);
    }
}

/* Need it not be looked at, with the quantity where e->g has it? */
static bool
may_rest(const events *e, const struct ladder *l, uint32_t k, bool below)
{
    return is_clear(e, l, k, l->now, below) && events_margin_of(e, k, e->g[k]) > 0 && !e->marked[k] && !e->noted[k];
}

void
events_rest_far(events *e)
{
    bool any = false;

    for (size_t q = 0; q < e->nladders; q++) {
        struct ladder *l = &e->ladder[q];
        uint32_t from = l->from, to = l->to, next;

        if (to - from <= NEAR_MOST)
            continue;
        for (next = from; next < to && threshold_of(e, l->rung[next]).at < l->now; next++)
            ; /* the first that is not below */
        while (from + 1 < next && may_rest(e, l, l->rung[from], true))
            from++;
        while (to > next + 1 && may_rest(e, l, l->rung[to - 1], false))
            to--;
        for (uint32_t i = l->from; i < l->to; i++)
            e->far[l->rung[i]] = i < from || i >= to;
        any |= from > l->from || to < l->to;
        l->from = from;
        l->to = to;
    }
    if (any) {
        size_t n = 0;

        for (size_t i = 0; i < e->near.n; i++)
            if (!e->far[e->near.at[i]])
                e->near.at[n++] = e->near.at[i];
        e->near.n = n;
    }
}
