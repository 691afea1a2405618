/* exchange.c - see exchange.h */
#include "exchange.h"

#include <math.h>
#include <string.h>

#include "side_by_side.h"

/* Options that alone err by more than so many tolerances are left out: errors that large cancel only by accident. */
static const double CANCELS_MOST = 100;
/* An option that does not run alone counts as so many tolerances: it may need another to go with it. */
static const double WITHOUT_RUN = 3;
/* So many options are combined, those that err least alone; so many sets are tried, those whose errors alone add up to
 * least. */
enum { MOST_OPTIONS = 16, MOST_SETS = 600, BLOCK = 32 };

/* The options of a set as bits; errors alone added up; at most so many states less; so many elements. */
struct set {
    uint32_t options;
    double sum;
    int storages, n;
};

struct exchange {
    struct search *d;
    struct option option[MOST_OPTIONS];
    size_t noptions;
    const struct set *block;
    struct demand best; /* what there is so far */
    uint32_t now, elements_now,
        two_ports; /* of the text at hand: states, elements, those that go by themselves where nothing is behind them */
    struct candidate **members; /* scratch */
};

struct found {
    bool fine;
    uint32_t states, elements;
    size_t simulations;
};

static double
weight(const struct option *x)
{
    return isfinite(x->alone) ? x->alone : WITHOUT_RUN;
}

static int
by_weight(const void *pa, const void *pb)
{
    const struct option *a = pa, *b = pb;
    double x = weight(a), y = weight(b);

    if (x != y)
        return x < y ? -1 : 1;
    return a->candidate != b->candidate ? (a->candidate < b->candidate ? -1 : 1) : a->reading - b->reading;
}

static int
by_sum(const void *pa, const void *pb)
{
    const struct set *a = pa, *b = pb;

    if (a->sum != b->sum)
        return a->sum < b->sum ? -1 : 1;
    return (a->options > b->options) - (a->options < b->options);
}

/* Chooses the members of a set, each by its reading. Returns how many. */
static size_t
choose(const struct exchange *x, uint32_t options, struct candidate **members)
{
    size_t n = 0;

    for (size_t i = 0; i < x->noptions; i++)
        if (options >> i & 1) {
            x->option[i].candidate->chosen = x->option[i].reading;
            members[n++] = x->option[i].candidate;
        }
    return n;
}

/* Runs in a process of its own, or between two rounds of this one. */
static bool
try_one(void *ctx, size_t i, void *result)
{
    struct exchange *x = ctx;
    struct search *d = x->d;
    size_t simulations = d->out->simulations, n = choose(x, x->block[i].options, x->members);
    struct verdict v = try_set(d, x->members, n, &x->best);
    struct found f = { .fine = v.fine };

    if (v.fine) {
        f.states = (uint32_t)model_nstates(v.v.c[0].model);
        f.elements = (uint32_t)v.v.c[0].flat->element.n;
    }
    f.simulations = d->out->simulations - simulations;
    d->out->simulations = simulations;
    free(d->error); /* internal: is met again where it counts */
    d->error = NULL;
    verdict_free(d, &v);
    memcpy(result, &f, sizeof f);
    return true;
}

/* Could it be smaller than what there is? */
static bool
may_be_smaller(const struct exchange *x, const struct set *s)
{
    size_t states = x->now > (uint32_t)s->storages ? x->now - (uint32_t)s->storages : 0,
           gone = (size_t)s->n + x->two_ports;

    return states < x->best.states || (states == x->best.states && x->elements_now < x->best.elements + gone);
}

/* All sets of options, each element read one way, that may be smaller than what there is */
static size_t
make_sets(const struct exchange *x, struct set *out)
{
    size_t count = 0;

    for (uint32_t bits = 1; bits < UINT32_C(1) << x->noptions; bits++) {
        struct set s = { .options = bits };
        bool twice = false;

        for (size_t i = 0; i < x->noptions && !twice; i++) {
            if (!(bits >> i & 1))
                continue;
            for (size_t k = 0; k < i; k++)
                twice |= (bits >> k & 1) && x->option[k].candidate == x->option[i].candidate;
            s.sum += weight(&x->option[i]);
            s.storages += (int)x->option[i].candidate->nstorages;
            s.n += (int)x->option[i].candidate->nelements;
        }
        if (!twice && may_be_smaller(x, &s))
            out[count++] = s;
    }
    return count;
}

void
note_not_tried(struct search *d, const char *what)
{
    for (size_t i = 0; i < d->out->not_tried.n; i++)
        if (!strcmp(d->out->not_tried.at[i], what))
            return;
    vec_push(&d->out->not_tried, what);
}

/* Takes the options that may be combined, and says what is left out. */
static void
take_options(struct exchange *x, const struct option *option, size_t n)
{
    struct option *all = bg_malloc(n * sizeof *all + 1);
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (!(isfinite(option[i].alone) && option[i].alone > CANCELS_MOST))
            all[count++] = option[i];
    if (count < n)
        note_not_tried(x->d,
                       arena_format(x->d->out->arena,
                                    "parts that alone err by more than %g times the tolerance, together with others",
                                    CANCELS_MOST));
    if (count)
        qsort(all, count, sizeof *all, by_weight);
    if (count > MOST_OPTIONS) {
        note_not_tried(x->d,
                       arena_format(x->d->out->arena, "sets that have others than the %d parts that err least alone",
                                    (int)MOST_OPTIONS));
        count = MOST_OPTIONS;
    }
    memcpy(x->option, all, count * sizeof *all);
    x->noptions = count;
    free(all);
}

/* Tries the sets of a block; the best of them, SIZE_MAX if none is better than what is there. */
static size_t
best_of_block(struct exchange *x, size_t n)
{
    struct found found;
    unsigned char raw[BLOCK * sizeof found];
    size_t best = SIZE_MAX;

    side_by_side(n, sizeof found, 0, try_one, x, raw);
    for (size_t i = 0; i < n; i++) {
        /* 0xff: the process ended */
        if (raw[i * sizeof found + offsetof(struct found, fine)] == 0xff)
            continue;
        memcpy(&found, raw + i * sizeof found, sizeof found);
        x->d->out->simulations += found.simulations;
        if (!found.fine || found.states > x->best.states ||
            (found.states == x->best.states && found.elements >= x->best.elements))
            continue;
        best = i;
        x->best = (struct demand){ found.states, found.elements };
    }
    return best;
}

static struct exchange
begin(struct search *d, const struct verdict *best)
{
    const compilation *now = &d->now.c[0], *c = best->v.c ? &best->v.c[0] : now;
    struct exchange x = { .d = d,
                          .now = (uint32_t)model_nstates(now->model),
                          .elements_now = (uint32_t)now->flat->element.n };

    x.best = (struct demand){ model_nstates(c->model), c->flat->element.n };
    for (size_t i = 0; i < now->flat->element.n; i++)
        x.two_ports += is_two_port(&now->flat->element.at[i]);
    return x;
}

/* The set found takes the place of what there is. Its trial is made again, since no version of it was kept. */
static bool
take_better(const struct exchange *x, uint32_t options, struct candidate **taken, size_t *n, struct verdict *best)
{
    size_t members = choose(x, options, x->members);
    struct verdict v = try_set(x->d, x->members, members, NULL);

    if (!v.fine) { /* a process had memory or time for it and this one has not, or internal: the search ends with that
                    */
        verdict_free(x->d, &v);
        return false;
    }
    memcpy(taken, x->members, members * sizeof *taken);
    *n = members;
    verdict_free(x->d, best);
    *best = v;
    return true;
}

bool
exchange(struct search *d, const struct option *option, size_t noptions, struct candidate **taken, size_t *n,
         struct verdict *best)
{
    struct exchange x = begin(d, best);
    uint32_t better = 0;
    size_t count, tried = 0;
    struct set *set;
    int *chosen = bg_malloc((*n + 1) * sizeof *chosen);

    for (size_t i = 0; i < *n; i++)
        chosen[i] = taken[i]->chosen;
    take_options(&x, option, noptions);
    set = bg_malloc(((size_t)1 << x.noptions) * sizeof *set);
    x.members = bg_malloc((MOST_OPTIONS + 1) * sizeof(struct candidate *));
    count = make_sets(&x, set);
    if (count)
        qsort(set, count, sizeof *set, by_sum);
    for (size_t i = 0; i < count && tried < MOST_SETS;) {
        struct set block[BLOCK];
        size_t size = 0, found;

        /* what was found meanwhile may leave some without use */
        for (; i < count && size < BLOCK; i++)
            if (may_be_smaller(&x, &set[i]))
                block[size++] = set[i];
        x.block = block;
        found = best_of_block(&x, size);
        if (found != SIZE_MAX)
            better = block[found].options;
        tried += size;
        if (tried >= MOST_SETS && i < count)
            note_not_tried(d, arena_format(d->out->arena,
                                           "sets beyond the first %d of a round, whose parts alone err by more in sum",
                                           (int)MOST_SETS));
    }
    d->out->sets += tried;
    for (size_t i = 0; i < *n; i++)
        taken[i]->chosen = chosen[i];
    better = better && take_better(&x, better, taken, n, best);
    free(set);
    free(x.members);
    free(chosen);
    return better;
}
