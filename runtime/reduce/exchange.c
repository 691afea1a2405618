/* exchange.c - see exchange.h */
#include "exchange.h"

#include <math.h>
#include <string.h>

#include "in_image.h"
#include "unwritten.h"

/* Options with an error above this multiple of the tolerance are left out: such errors cancel only by accident. */
static const double CANCELS_MOST = 100;
/* An option that does not run alone counts as this multiple of the tolerance: it may need another one to go with it. */
static const double WITHOUT_RUN = 3;
/* An option that raises the error by less than this share of the tolerance is neutral: it uses up nothing and goes with
 * every set. Where only neutral options went, the next round tries the sets. */
static const double NEUTRAL = 1e-3;
/* Limits: number of options that are combined, those with the smallest errors alone; number of sets, those with the
 * smallest sums of errors. */
enum { MOST_OPTIONS = 16, MOST_SETS = 600, BLOCK = 32 };

/* A set: options as bits, sum of errors alone, upper bound of the states saved, number of elements. */
struct set {
    uint32_t options;
    double sum;
    int storages, n;
};

struct exchange {
    struct search *d;
    struct option option[MOST_OPTIONS];
    size_t noptions;
    VEC(struct option) neutral; /* taken out with every set */
    int neutral_storages, neutral_elements;
    double begun;       /* error of the present text */
    struct demand best; /* the best result so far */
    struct verdict better;
    uint32_t better_options;
    uint32_t now, elements_now,
        /* in the present text: states, elements, and two-ports, which are taken out by clean-up where nothing is behind
         * them */
        two_ports;
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

/* The members of a set, and the reading of each. Returns their number. */
static size_t
members_of(const struct exchange *x, uint32_t options, struct candidate **members, int *reading)
{
    size_t n = 0;

    for (size_t i = 0; i < x->neutral.n; i++) {
        reading[n] = x->neutral.at[i].reading;
        members[n++] = x->neutral.at[i].candidate;
    }
    for (size_t i = 0; i < x->noptions; i++)
        if (options >> i & 1) {
            reading[n] = x->option[i].reading;
            members[n++] = x->option[i].candidate;
        }
    return n;
}

/* Can the set be smaller than the best result? */
static bool
may_be_smaller(const struct exchange *x, const struct set *s)
{
    size_t storages = (size_t)(s->storages + x->neutral_storages),
           gone = (size_t)(s->n + x->neutral_elements) + x->two_ports,
           states = x->now > storages ? x->now - storages : 0;

    return states < x->best.states || (states == x->best.states && x->elements_now < x->best.elements + gone);
}

/* All sets of options, with one reading for each element, that can be smaller than the best result. */
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

static bool
is_neutral(const struct exchange *x, const struct candidate *c)
{
    for (size_t i = 0; i < x->neutral.n; i++)
        if (x->neutral.at[i].candidate == c)
            return true;
    return false;
}

static void
find_neutral(struct exchange *x, const struct option *option, size_t noptions, struct candidate *const *taken,
             size_t ntaken)
{
    for (size_t i = 0; i < noptions; i++)
        for (size_t k = 0; k < ntaken && option[i].alone <= x->begun + NEUTRAL; k++)
            if (taken[k] == option[i].candidate && taken[k]->chosen == option[i].reading) {
                vec_push(&x->neutral, option[i]);
                x->neutral_storages += (int)taken[k]->nstorages;
                x->neutral_elements += (int)taken[k]->nelements;
            }
}

/* Chooses the options to combine, and notes what is left out. */
static void
take_options(struct exchange *x, const struct option *option, size_t n)
{
    struct option *all = bg_malloc(n * sizeof *all + 1);
    size_t count = 0;
    bool any_large = false;

    for (size_t i = 0; i < n; i++) {
        bool large = isfinite(option[i].alone) && option[i].alone > CANCELS_MOST;

        any_large = any_large || large;
        if (!large && !is_neutral(x, option[i].candidate))
            all[count++] = option[i];
    }
    if (any_large)
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

/* A set within its tolerances: its text tells whether it is smaller than the best result. */
static void
take_smaller(struct exchange *x, uint32_t options, struct candidate **members, const int *reading, size_t n)
{
    struct verdict v;

    for (size_t k = 0; k < n; k++)
        members[k]->chosen = reading[k];
    v = try_set(x->d, members, n, &x->best);
    if (v.fine) {
        verdict_free(x->d, &x->better);
        x->better = v;
        x->better_options = options;
        x->best = (struct demand){ model_nstates(v.v.c[0].model), v.v.c[0].flat->element.n };
    } else {
        verdict_free(x->d, &v);
    }
}

/* Tries the sets of a block in parallel; those that fit again in turn. */
static void
try_block(struct exchange *x, const struct set *block, size_t n)
{
    struct search *d = x->d;
    size_t most = x->neutral.n + MOST_OPTIONS;
    struct candidate **members = bg_malloc(n * most * sizeof(struct candidate *) + 1);
    int *reading = bg_malloc(n * most * sizeof *reading + 1);
    struct ahead_trial trial[BLOCK];
    struct outcome *outcome = bg_calloc(n + 1, sizeof *outcome);

    for (size_t i = 0; i < n; i++) {
        struct candidate **of = members + i * most;
        int *as = reading + i * most;

        trial[i] = (struct ahead_trial){ of, as, members_of(x, block[i].options, of, as) };
    }
    foretell(d, trial, n, &HASTY, outcome);
    for (size_t i = 0; i < n && !d->error; i++)
        if (!outcome_decides(&outcome[i]) || outcome_use(d, &outcome[i]).fine)
            take_smaller(x, block[i].options, members + i * most, reading + i * most, trial[i].n);
    free(members);
    free(reading);
    free(outcome);
}

static struct exchange
begin_exchange(struct search *d, const struct verdict *best)
{
    const compilation *now = &d->now.c[0], *c = best->v.c ? &best->v.c[0] : now;
    struct exchange x = { .d = d,
                          .begun = version_error(d, &d->now),
                          .now = (uint32_t)model_nstates(now->model),
                          .elements_now = (uint32_t)now->flat->element.n };

    x.best = (struct demand){ model_nstates(c->model), c->flat->element.n };
    for (size_t i = 0; i < now->flat->element.n; i++)
        x.two_ports += is_two_port(&now->flat->element.at[i]);
    return x;
}

/* Replaces the best result by the set found. */
static void
take_better(struct exchange *x, struct candidate **taken, size_t *n, struct verdict *best)
{
    int *reading = bg_malloc((x->neutral.n + MOST_OPTIONS) * sizeof *reading);

    *n = members_of(x, x->better_options, taken, reading);
    for (size_t i = 0; i < *n; i++)
        taken[i]->chosen = reading[i];
    free(reading);
    verdict_free(x->d, best);
    *best = x->better;
}

bool
exchange(struct search *d, const struct option *option, size_t noptions, struct candidate **taken, size_t *n,
         struct verdict *best)
{
    struct exchange x = begin_exchange(d, best);
    size_t count, tried = 0;
    struct set *set;
    int *chosen;

    find_neutral(&x, option, noptions, taken, *n);
    if (*n > 0 && x.neutral.n == *n && best->worst <= x.begun + NEUTRAL) {
        vec_free(&x.neutral);
        return false;
    }
    chosen = bg_malloc((noptions + 1) * sizeof *chosen);
    for (size_t i = 0; i < noptions; i++)
        chosen[i] = option[i].candidate->chosen;
    take_options(&x, option, noptions);
    set = bg_malloc(((size_t)1 << x.noptions) * sizeof *set);
    count = make_sets(&x, set);
    if (count)
        qsort(set, count, sizeof *set, by_sum);
    unwritten_begin(d, &d->now, &d->set, 0);
    in_image_base(d); /* compiled here, so that all processes share it */
    for (size_t i = 0; i < count && tried < MOST_SETS && !d->error;) {
        struct set block[BLOCK];
        size_t size = 0;

        /* sets that can no longer be smaller are skipped */
        for (; i < count && size < BLOCK; i++)
            if (may_be_smaller(&x, &set[i]))
                block[size++] = set[i];
        try_block(&x, block, size);
        tried += size;
        if (tried >= MOST_SETS && i < count)
            note_not_tried(d, arena_format(d->out->arena,
                                           "sets beyond the first %d of a round, whose parts alone err by more in sum",
                                           (int)MOST_SETS));
    }
    unwritten_end(d);
    d->out->sets += tried;
    for (size_t i = 0; i < noptions; i++)
        option[i].candidate->chosen = chosen[i];
    if (x.better_options)
        take_better(&x, taken, n, best);
    vec_free(&x.neutral);
    free(set);
    free(chosen);
    return x.better_options != 0;
}
