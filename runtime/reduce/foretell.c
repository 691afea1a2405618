/* foretell.c - see foretell.h */
#include "foretell.h"

#include <string.h>

#include "side_by_side.h"
#include "unwritten.h"

/* A trial in shared memory. */
struct slot {
    atomic_uint state; /* see side_team_take */
    size_t n;
    struct outcome outcome;
};

struct foretelling {
    struct search *d;
    const struct demand *demand;
    size_t most, size;
    side_team *team;
    /* in shared memory: number of slots in use, the slots, and by slot `size` candidates and their readings */
    atomic_size_t *used;
    struct slot *slot;
    struct candidate **candidate;
    int *reading;
    struct candidate **set;
};

struct outcome
outcome_of(const struct verdict *v, size_t n)
{
    struct outcome y = { .fine = v->fine,
                         .ran = v->ran,
                         .unwritten = v->unwritten,
                         .in_image = v->in_image,
                         .undecided = v->undecided,
                         .refused = !v->fine && !v->internal && v->why && strlen(v->why) < sizeof y.why,
                         .worst = v->worst,
                         .lasts = v->lasts,
                         .key = v->key,
                         .spent = v->spent,
                         .before = v->before };

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

/* Runs an open trial. False: there is none. */
static bool
foretell_next(const foretelling *f, size_t worker)
{
    for (size_t k = 0; k < atomic_load(f->used); k++) {
        struct slot *x = &f->slot[k];

        if (!side_team_take(&x->state, worker))
            continue;
        foretell_one(f->d, f->set, 0,
                     &(struct ahead_trial){ f->candidate + k * f->size, f->reading + k * f->size, x->n }, f->demand,
                     &x->outcome);
        atomic_store(&x->state, SIDE_DONE);
        return true;
    }
    return false;
}

static void
foretell_along(void *ctx, side_team *team, size_t worker)
{
    for (;;) {
        if (side_team_orphaned(team))
            return;
        if (foretell_next(ctx, worker))
            side_team_report(team);
        else
            side_team_await_news(team);
    }
}

size_t
foretell_workers(const struct search *d)
{
    return d->o->workers ? d->o->workers : side_by_side_workers();
}

foretelling *
foretell_begin(struct search *d, size_t most, size_t size, const struct demand *demand)
{
    foretelling *f = bg_calloc(1, sizeof *f);
    size_t candidates = most * size * sizeof(struct candidate *), slots = most * sizeof *f->slot;

    *f = (foretelling){ .d = d, .demand = demand, .most = most, .size = size };
    factors_await(d->recording); /* a process made now would find the locks of its threads taken for ever */
    f->team = side_team_new(sizeof *f->used + slots + candidates + most * size * sizeof *f->reading,
                            foretell_workers(d) - 1);
    f->used = side_team_memory(f->team);
    f->slot = (struct slot *)(f->used + 1);
    f->candidate = (struct candidate **)(f->slot + most);
    f->reading = (int *)(f->candidate + most * size);
    f->set = bg_calloc(size + 1, sizeof *f->set);
    side_team_begin(f->team, foretell_along, f);
    return f;
}

void
foretell_end(foretelling *f)
{
    side_team_free(f->team);
    free(f->set);
    free(f);
}

/* Waits until all trials are done. One that a process was at that has died is for another one. */
static void
await_all(const foretelling *f, size_t n)
{
    for (size_t k = 0; k < n; k++)
        while (atomic_load(&f->slot[k].state) != SIDE_DONE) {
            unsigned of = SIDE_TAKEN + (unsigned)side_team_await_result(f->team);

            for (size_t i = k; i < n && of > SIDE_TAKEN; i++) {
                unsigned its = of;

                atomic_compare_exchange_strong(&f->slot[i].state, &its, SIDE_OPEN);
            }
            while (foretell_next(f, 0))
                ;
        }
}

void
foretell(foretelling *f, const struct ahead_trial *list, size_t n, struct outcome *out)
{
    for (size_t k = 0; k < n; k++) {
        f->slot[k].n = list[k].n;
        memcpy(f->candidate + k * f->size, list[k].more, list[k].n * sizeof(struct candidate *));
        memcpy(f->reading + k * f->size, list[k].reading, list[k].n * sizeof *f->reading);
        atomic_store(&f->slot[k].state, SIDE_OPEN);
    }
    atomic_store(f->used, n);
    side_team_announce(f->team);
    while (foretell_next(f, 0))
        ;
    await_all(f, n);
    for (size_t k = 0; k < n; k++)
        out[k] = f->slot[k].outcome;
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
