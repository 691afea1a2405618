/* foretell.c - see foretell.h */
#include "foretell.h"

#include <string.h>

#include "side_by_side.h"
#include "unwritten.h"

/* So many refusals one after another are taken for a run of them; so many trials are then looked at together, and twice
 * as many each time that all are refused, since a process costs about a fifth of a small trial. */
enum { RUN_OF_REFUSALS = 2, LEAST_BLOCK = 4, MOST_BLOCK = 32 };

struct foretelling {
    struct search *d;
    struct candidate **set;
    size_t n; /* the last: the one that varies */
    const struct ahead_trial *list;
    const struct demand *demand;
    bool until_fine, fine;
};

static bool
foretell_one(void *ctx, size_t i, void *result)
{
    struct foretelling *f = ctx;
    struct search *d = f->d;
    struct candidate *x = f->list[i].candidate;
    int chosen = x->chosen;
    size_t simulations = d->out->simulations;
    struct outcome y = { 0 };
    struct verdict v;

    if (f->fine && f->until_fine)
        return false;
    f->set[f->n - 1] = x;
    x->chosen = f->list[i].reading;
    v = try_more(d, f->set, f->n, f->demand);
    y.fine = v.fine;
    y.ran = v.ran;
    y.unwritten = v.unwritten;
    y.in_image = v.in_image;
    y.refused = !v.fine && !v.internal && v.why && strlen(v.why) < sizeof y.why;
    y.worst = v.worst;
    y.lasts = v.lasts;
    y.key = v.key;
    y.spent = v.spent;
    y.simulations = d->out->simulations - simulations;
    if (y.refused)
        strcpy(y.why, v.why);
    f->fine |= v.fine;
    verdict_free(d, &v);
    x->chosen = chosen;
    d->out->simulations = simulations;
    free(d->error); /* internal: is met again where it counts */
    d->error = NULL;
    memcpy(result, &y, sizeof y);
    return true;
}

bool
foretell_pays(void)
{
    return side_by_side_workers() > 1;
}

void
foretell(struct search *d, struct candidate *const *with, size_t nwith, const struct ahead_trial *list, size_t n,
         const struct demand *demand, bool until_fine, struct outcome *out)
{
    struct foretelling f = { .d = d, .n = nwith + 1, .list = list, .demand = demand, .until_fine = until_fine };
    unsigned char *raw = bg_malloc(n * sizeof *out + 1);

    f.set = bg_malloc(f.n * sizeof(struct candidate *));
    if (nwith)
        memcpy(f.set, with, nwith * sizeof(struct candidate *));
    side_by_side(n, sizeof *out, 0, foretell_one, &f, raw);
    for (size_t i = 0; i < n; i++) {
        /* 0xff: not done */
        out[i] = (struct outcome){ 0 };
        if (raw[i * sizeof *out] != 0xff)
            memcpy(&out[i], raw + i * sizeof *out, sizeof *out);
    }
    free(f.set);
    free(raw);
}

struct verdict
outcome_use(struct search *d, const struct outcome *y)
{
    /* it may have become known since */
    const refusal *known = y->lasts ? refusals_find(&d->known, y->key) : NULL;
    struct verdict v = { .fine = y->fine,
                         .ran = y->ran,
                         .worst = y->worst,
                         .unwritten = y->unwritten,
                         .in_image = y->in_image,
                         .lasts = y->lasts,
                         .key = y->key };

    v.why = v.fine ? NULL : known ? known->why : arena_strdup(d->out->arena, y->why);
    d->out->simulations += y->simulations - (known ? y->spent : 0);
    note_verdict(d, &v);
    return v;
}

/* ---------------------------------------------------------------- a round */

static void
look_ahead(struct search *d, struct ahead *a, struct candidate *const *order, size_t norder, size_t i,
           struct candidate *const *taken, size_t n)
{
    struct ahead_trial *list;

    a->block = a->block ? a->block * 2 < MOST_BLOCK ? a->block * 2 : MOST_BLOCK : LEAST_BLOCK;
    list = bg_malloc(a->block * sizeof *list);
    a->n = a->next = 0;
    for (size_t k = i; k < norder; k++)
        for (int reading = order[k]->chosen; reading < order[k]->nreadings && a->n < a->block; reading++)
            list[a->n++] = (struct ahead_trial){ order[k], reading };
    a->at = bg_realloc(a->at, a->n * sizeof *a->at + 1);
    foretell(d, taken, n, list, a->n, a->demand, true, a->at);
    free(list);
}

void
ahead_forget(struct ahead *a)
{
    a->n = a->next = a->block = 0;
    a->refused = 0;
}

void
ahead_free(struct ahead *a)
{
    free(a->at);
}

struct verdict
ahead_try(struct search *d, struct ahead *a, struct candidate *const *order, size_t norder, size_t i,
          struct candidate **taken, size_t n)
{
    struct verdict v;

    if (a->next == a->n && a->refused >= RUN_OF_REFUSALS && foretell_pays())
        look_ahead(d, a, order, norder, i, taken, n);
    if (a->next < a->n) {
        const struct outcome *y = &a->at[a->next++];

        if (y->refused || (y->fine && y->unwritten)) {
            a->refused++;
            return outcome_use(d, y);
        }
    }
    v = try_more(d, taken, n + 1, a->demand);
    a->refused = v.fine || v.internal ? 0 : a->refused + 1;
    return v;
}
