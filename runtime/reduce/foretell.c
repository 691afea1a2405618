/* foretell.c - see foretell.h */
#include "foretell.h"

#include <string.h>

#include "side_by_side.h"
#include "unwritten.h"

struct foretelling {
    struct search *d;
    const struct ahead_trial *list;
    const struct demand *demand;
};

struct outcome
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

void
foretell_one(struct search *d, struct candidate **set, size_t nwith, const struct ahead_trial *trial,
             const struct demand *demand, struct outcome *out)
{
    int *reading = bg_malloc(trial->n * sizeof *reading + 1);
    size_t simulations = d->out->simulations;
    struct verdict v;

    memcpy(set + nwith, trial->more, trial->n * sizeof(struct candidate *));
    memcpy(reading, trial->reading, trial->n * sizeof *reading);
    exchange_readings(trial, reading);
    v = try_more(d, set, nwith + trial->n, demand);
    *out = outcome_of(&v, d->together.n);
    out->simulations = d->out->simulations - simulations;
    exchange_readings(trial, reading);
    free(reading);
    verdict_free(d, &v);
    d->out->simulations = simulations;
    free(d->error); /* an internal error will occur again in the trial itself */
    d->error = NULL;
}

static bool
foretell_ith(void *ctx, size_t i, void *result)
{
    const struct foretelling *f = ctx;
    struct candidate **set = bg_malloc((f->list[i].n + 1) * sizeof(struct candidate *));
    struct outcome y;

    foretell_one(f->d, set, 0, &f->list[i], f->demand, &y);
    memcpy(result, &y, sizeof y);
    free(set);
    return true;
}

size_t
foretell_workers(const struct search *d)
{
    return d->o->workers ? d->o->workers : side_by_side_workers();
}

void
foretell(struct search *d, const struct ahead_trial *list, size_t n, const struct demand *demand, struct outcome *out)
{
    struct foretelling f = { d, list, demand };
    unsigned char *raw = bg_malloc(n * sizeof *out + 1);

    side_by_side_in_turn(n, sizeof *out, foretell_workers(d), foretell_ith, &f, raw);
    for (size_t i = 0; i < n; i++) {
        /* 0xff: was not run */
        out[i] = (struct outcome){ 0 };
        if (raw[i * sizeof *out] != 0xff)
            memcpy(&out[i], raw + i * sizeof *out, sizeof *out);
    }
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
