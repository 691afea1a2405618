/* foretell.c - see foretell.h */
#include "foretell.h"

#include <string.h>

#include "side_by_side.h"
#include "unwritten.h"

struct foretelling {
    struct search *d;
    struct candidate **set;
    size_t nwith;
    const struct ahead_trial *list;
    const struct demand *demand;
    struct verdict *first;
};

static struct outcome
outcome_of(const struct verdict *v, size_t n)
{
    struct outcome y = { .fine = v->fine,
                         .ran = v->ran,
                         .unwritten = v->unwritten,
                         .in_image = v->in_image,
                         .refused = !v->fine && !v->internal && v->why && strlen(v->why) < sizeof y.why,
                         .worst = v->worst,
                         .lasts = v->lasts,
                         .key = v->key,
                         .spent = v->spent };

    if (y.refused)
        strcpy(y.why, v->why);
    y.measured = v->off != NULL;
    if (y.measured)
        memcpy(y.off, v->off, n * sizeof *y.off);
    return y;
}

static bool
is_as_supposed(enum supposed s, const struct outcome *y)
{
    return s == SUPPOSED_NOTHING || (s == SUPPOSED_REFUSED ? y->refused : y->fine && y->in_image);
}

/* Exchanges the candidates' readings with those of the trial; a second call restores them. */
static void
exchange_readings(const struct ahead_trial *trial, int *reading)
{
    for (size_t k = 0; k < trial->n; k++) {
        int chosen = trial->more[k]->chosen;

        trial->more[k]->chosen = reading[k];
        reading[k] = chosen;
    }
}

/* In a process of its own or in this one: the state of the search is left unchanged. */
static bool
foretell_one(void *ctx, size_t i, void *result, bool *last)
{
    struct foretelling *f = ctx;
    struct search *d = f->d;
    const struct ahead_trial *trial = &f->list[i];
    int *reading = bg_malloc(trial->n * sizeof *reading + 1);
    size_t simulations = d->out->simulations;
    struct outcome y;
    struct verdict v;

    memcpy(f->set + f->nwith, trial->more, trial->n * sizeof(struct candidate *));
    memcpy(reading, trial->reading, trial->n * sizeof *reading);
    exchange_readings(trial, reading);
    v = try_more(d, f->set, f->nwith + trial->n, f->demand);
    y = outcome_of(&v, d->together.n);
    y.simulations = d->out->simulations - simulations;
    exchange_readings(trial, reading);
    free(reading);
    *last = !is_as_supposed(trial->supposed, &y);
    memcpy(result, &y, sizeof y);
    if (i == 0 && f->first) {
        *f->first = v;
        return true;
    }
    verdict_free(d, &v);
    d->out->simulations = simulations;
    free(d->error); /* an internal error will occur again in the trial itself */
    d->error = NULL;
    return true;
}

size_t
foretell_workers(const struct search *d)
{
    return d->o->workers ? d->o->workers : side_by_side_workers();
}

void
foretell(struct search *d, struct candidate *const *with, size_t nwith, const struct ahead_trial *list, size_t n,
         const struct demand *demand, struct verdict *first, struct outcome *out)
{
    struct foretelling f = { .d = d, .nwith = nwith, .list = list, .demand = demand, .first = first };
    unsigned char *raw = bg_malloc(n * sizeof *out + 1);
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        most = list[i].n > most ? list[i].n : most;
    f.set = bg_malloc((nwith + most + 1) * sizeof(struct candidate *));
    if (nwith)
        memcpy(f.set, with, nwith * sizeof(struct candidate *));
    side_by_side_in_turn(n, sizeof *out, foretell_workers(d), foretell_one, &f, raw);
    for (size_t i = 0; i < n; i++) {
        /* 0xff: was not run */
        out[i] = (struct outcome){ 0 };
        if (raw[i * sizeof *out] != 0xff)
            memcpy(&out[i], raw + i * sizeof *out, sizeof *out);
    }
    free(f.set);
    free(raw);
}

bool
outcome_decides(const struct outcome *y)
{
    return y->refused || (y->fine && y->unwritten);
}

struct verdict
outcome_use(struct search *d, const struct outcome *y)
{
    /* another trial may have had the same text since */
    const refusal *known = y->lasts ? refusals_find(&d->known, y->key) : NULL;
    struct verdict v = { .fine = y->fine,
                         .ran = y->ran,
                         .worst = y->worst,
                         .unwritten = y->unwritten,
                         .in_image = y->in_image,
                         .lasts = y->lasts,
                         .key = y->key,
                         .off = y->measured ? y->off : NULL };

    v.why = v.fine ? NULL : known ? known->why : arena_strdup(d->out->arena, y->why);
    d->out->simulations += y->simulations - (known ? y->spent : 0);
    note_verdict(d, &v);
    return v;
}
