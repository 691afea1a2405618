/* joint.c - see joint.h */
#include "joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BEAM = 4,         /* sets kept of each size */
    BRANCHES = 6,     /* prospects fitted for each set */
    COARSE_STEPS = 3, /* steps of a fit while there are many states */
    ROUGH_STEPS = 8,  /* of a fit of one set among many */
    FINE_STEPS = 40,  /* of the fit of a set that is kept */
    LAST = 2,         /* sets fitted for their greatest error */
    LAST_ROUNDS = 60, /* rounds of weights in that fit */
    EXCHANGES = 12    /* at most */
};
/* shares of the aim: an error that does not count, and what may go at once; factor by which that grows */
static const double UNSEEN_SHARE_OF_AIM = 1e-3, WITHIN_SHARE_OF_AIM = 0.3, GROWS = 1.6;
/* ratios of errors: an exchange below the first is accepted, a first-order prediction above the second is not tried */
static const double BETTER = 0.995, HOPELESS = 2;
static const double HARDLY = 1.01; /* a ratio of errors above this means that a dissipator is missed */

struct set {
    uint8_t *fate;
    double *theta;
    double error;
    size_t states;
};

struct searcher {
    const network *k;
    const tuning *t;
    const frequencies *f;
    const joint_options *o;
    joint_result *r;
};

typedef VEC(struct set) set_list;

static struct set
set_copy(const struct searcher *s, const struct set *x)
{
    struct set c = *x;

    c.fate = bg_malloc(s->k->n + 1);
    memcpy(c.fate, x->fate, s->k->n);
    c.theta = bg_calloc(s->t->nparameters + 1, sizeof *c.theta);
    memcpy(c.theta, x->theta, s->t->nparameters * sizeof *c.theta);
    return c;
}

static void
set_free(struct set *x)
{
    free(x->fate);
    free(x->theta);
}

static void
list_free(set_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        set_free(&l->at[i]);
    vec_free(l);
}

static bool
is_beside(const network *k, const network_piece *p, size_t part)
{
    for (size_t i = 0; i < p->n; i++)
        if (k->J[part + k->n * p->member[i]] != 0 || k->J[p->member[i] + k->n * part] != 0)
            return true;
    return false;
}

static bool
is_in_piece(const network_piece *p, size_t part)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->member[i] == part)
            return true;
    return false;
}

/* Number of states of a piece; SIZE_MAX: it lacks something that has to stay. */
static size_t
count_states(const network_piece *p)
{
    return p->whole ? p->states : SIZE_MAX;
}

/* Removes what is no longer connected to both inputs and outputs; restores dissipators next to remaining parts. */
static void
tidy(const struct searcher *s, struct set *x, bool dissipators)
{
    network_piece p;

    network_piece_of(s->k, x->fate, &p);
    for (size_t i = 0; i < s->k->n; i++)
        if (x->fate[i] != PART_GIVES_NOTHING && !is_in_piece(&p, i))
            x->fate[i] = PART_GIVES_NOTHING;
    for (size_t i = 0; i < s->k->n && dissipators; i++)
        if (!s->k->part[i].storage && x->fate[i] != PART_STAYS && isfinite(s->k->part[i].coefficient) &&
            is_beside(s->k, &p, i))
            x->fate[i] = PART_STAYS;
    x->states = count_states(&p);
    network_piece_free(&p);
}

static size_t
states_of(const struct searcher *s, const uint8_t *fate)
{
    network_piece p;
    size_t n;

    network_piece_of(s->k, fate, &p);
    n = count_states(&p);
    network_piece_free(&p);
    return n;
}

static void
fit(const struct searcher *s, struct set *x, size_t steps)
{
    s->r->fits++;
    x->error = network_fit(s->k, s->t, x->fate, s->f, steps, x->theta);
    if (isnan(x->error))
        x->error = INFINITY;
}

static prospect *
prospects(const struct searcher *s, const struct set *x, size_t *n)
{
    prospect *p = network_prospects(s->k, s->t, x->fate, s->f, x->states > 40 ? 2 : 1, x->theta, n);

    if (!p)
        *n = 0;
    s->r->tried += *n;
    return p;
}

static int
least_error_first(const void *a, const void *b)
{
    const prospect *x = a, *y = b;

    if (x->error != y->error)
        return x->error < y->error ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->fate > y->fate) - (x->fate < y->fate);
}

static struct set
set_after(const struct searcher *s, const struct set *x, const prospect *p)
{
    struct set c = set_copy(s, x);

    c.fate[p->part] = (uint8_t)p->fate;
    tidy(s, &c, true);
    return c;
}

/* Removes many states at once, as long as there are many. */
static void
coarsen(const struct searcher *s, struct set *x)
{
    double within = WITHIN_SHARE_OF_AIM * s->o->yardstick;
    size_t enough = s->o->states + (s->o->states > 12 ? s->o->states / 2 : 6);

    while (x->states > enough) {
        size_t n, best = NO_INDEX, least = x->states, most = 0;
        prospect *p = prospects(s, x, &n);

        if (n)
            qsort(p, n, sizeof *p, least_error_first);
        if (!n || !isfinite(p[0].error)) {
            free(p);
            return;
        }
        while (best == NO_INDEX && most != n) {
            for (most = 0; most < n && p[most].error <= within; most++) {
                uint8_t was = x->fate[p[most].part];
                size_t left;

                x->fate[p[most].part] = (uint8_t)p[most].fate;
                left = states_of(s, x->fate);
                x->fate[p[most].part] = was;
                if (left < least && left >= enough) {
                    least = left;
                    best = most;
                }
            }
            if (best == NO_INDEX && most < n)
                within = fmax(GROWS * within, p[most].error);
        }
        if (best != NO_INDEX) {
            struct set c = set_after(s, x, &p[best]);

            fit(s, &c, COARSE_STEPS);
            set_free(x);
            *x = c;
        }
        free(p);
        if (best == NO_INDEX)
            return;
    }
}

static bool
is_known(const struct searcher *s, const set_list *l, const struct set *x)
{
    for (size_t i = 0; i < l->n; i++)
        if (!memcmp(l->at[i].fate, x->fate, s->k->n))
            return true;
    return false;
}

/* Inserts x into the list of its size, which keeps the best ones. Takes over x. */
static void
keep_set(const struct searcher *s, set_list *l, struct set *x, size_t most)
{
    size_t at = 0;

    if (!isfinite(x->error) || is_known(s, l, x)) {
        set_free(x);
        return;
    }
    while (at < l->n && l->at[at].error <= x->error)
        at++;
    vec_push(l, *x);
    for (size_t i = l->n - 1; i > at; i--)
        l->at[i] = l->at[i - 1];
    l->at[at] = *x;
    if (l->n > most)
        set_free(&l->at[--l->n]);
}

/* Removes one more part from x, for each with a predicted error within the limit, fits, and inserts the results into
 * the lists of their sizes. */
static void
branch(const struct searcher *s, const struct set *x, set_list *of, size_t branches, double limit)
{
    size_t n, made = 0;
    prospect *p = prospects(s, x, &n);

    if (n)
        qsort(p, n, sizeof *p, least_error_first);
    for (size_t i = 0; i < n && made < branches && p[i].error < limit; i++) {
        struct set c = set_after(s, x, &p[i]);

        if (c.states >= x->states || c.states == 0 || is_known(s, &of[c.states], &c)) {
            set_free(&c);
            continue;
        }
        fit(s, &c, ROUGH_STEPS);
        keep_set(s, &of[c.states], &c, BEAM);
        made++;
    }
    free(p);
}

/* ---------------------------------------------------------------- exchange */

/* Restores a storage part next to the remaining ones; or the parts behind one that gives nothing, which then gets
 * nothing. */
static bool
returned(const struct searcher *s, const struct set *x, size_t part, struct set *out)
{
    const network *k = s->k;
    network_piece p;
    size_t between = NO_INDEX;
    bool near;

    if (!k->part[part].storage || x->fate[part] == PART_STAYS || !isfinite(k->part[part].coefficient))
        return false;
    network_piece_of(k, x->fate, &p);
    near = is_beside(k, &p, part) || is_in_piece(&p, part);
    for (size_t i = 0; i < k->n && !near && between == NO_INDEX; i++)
        if (k->part[i].storage && x->fate[i] == PART_GIVES_NOTHING && i != part &&
            (k->J[part + k->n * i] != 0 || k->J[i + k->n * part] != 0) && is_beside(k, &p, i))
            between = i;
    network_piece_free(&p);
    if (!near && between == NO_INDEX)
        return false;
    *out = set_copy(s, x);
    out->fate[part] = PART_STAYS;
    if (!near)
        out->fate[between] = PART_GETS_NOTHING;
    tidy(s, out, true);
    return true;
}

/* The best set with as many states as x that one restored and one removed part give. */
static bool
exchange_part(const struct searcher *s, struct set *x)
{
    set_list found = { 0 };
    bool better;

    for (size_t part = 0; part < s->k->n; part++) {
        struct set more;
        set_list *of;

        if (!returned(s, x, part, &more))
            continue;
        if (more.states == SIZE_MAX) {
            set_free(&more);
            continue;
        }
        fit(s, &more, ROUGH_STEPS);
        of = bg_calloc(more.states + 1, sizeof *of);
        if (isfinite(more.error) && more.states > x->states)
            branch(s, &more, of, 3, HOPELESS * x->error);
        for (size_t i = 0; i <= more.states; i++) {
            for (size_t c = 0; c < of[i].n; c++)
                if (i <= s->o->states) {
                    struct set copy = set_copy(s, &of[i].at[c]);

                    keep_set(s, &found, &copy, BEAM);
                }
            list_free(&of[i]);
        }
        free(of);
        set_free(&more);
    }
    for (size_t i = 0; i < found.n; i++)
        fit(s, &found.at[i], FINE_STEPS);
    better = false;
    for (size_t i = 0; i < found.n; i++)
        if (found.at[i].error < BETTER * x->error) {
            set_free(x);
            *x = set_copy(s, &found.at[i]);
            better = true;
        }
    list_free(&found);
    return better;
}

static bool
may_be_spared(const network *k, const struct set *x, size_t i)
{
    return !k->part[i].storage && !k->part[i].locked && x->fate[i] == PART_STAYS;
}

/* Removes dissipators that hardly change the error. */
static void
spare(const struct searcher *s, struct set *x)
{
    for (size_t i = s->k->n; i-- > 0;)
        for (int way = 0; way < 2 && may_be_spared(s->k, x, i); way++) {
            struct set c = set_copy(s, x);

            c.fate[i] = way ? PART_GETS_NOTHING : PART_GIVES_NOTHING;
            tidy(s, &c, false);
            if (c.states == x->states)
                fit(s, &c, FINE_STEPS);
            if (c.states == x->states && c.error <= fmax(HARDLY * x->error, UNSEEN_SHARE_OF_AIM * s->o->yardstick)) {
                set_free(x);
                *x = c;
            } else {
                set_free(&c);
            }
        }
}

/* ---------------------------------------------------------------- the whole */

/* Sets with at most o->states states, the best first. */
static void
narrow(const struct searcher *s, struct set *start, set_list *out)
{
    size_t most = start->states;
    set_list *of = bg_calloc(most + 1, sizeof *of);

    keep_set(s, &of[most], start, BEAM);
    for (size_t n = most; n > s->o->states; n--)
        for (size_t i = 0; i < of[n].n; i++)
            branch(s, &of[n].at[i], of, BRANCHES, INFINITY);
    for (size_t n = 0; n <= most; n++) {
        for (size_t i = 0; i < of[n].n && n <= s->o->states; i++) {
            struct set copy = set_copy(s, &of[n].at[i]);

            fit(s, &copy, FINE_STEPS);
            keep_set(s, out, &copy, BEAM);
        }
        list_free(&of[n]);
    }
    free(of);
}

bool
joint_search(const network *k, const tuning *t, const frequencies *f, const joint_options *o, joint_result *r)
{
    struct searcher s = { k, t, f, o, r };
    struct set x = { bg_calloc(k->n + 1, 1), bg_calloc(t->nparameters + 1, sizeof(double)), 0, 0 };
    set_list last = { 0 };
    bool fine;

    *r = (joint_result){ .error = INFINITY };
    tidy(&s, &x, false);
    coarsen(&s, &x);
    narrow(&s, &x, &last);
    for (int round = 0; last.n && round < EXCHANGES && exchange_part(&s, &last.at[0]); round++)
        r->exchanges++;
    for (size_t i = 0; i < last.n && i < LAST; i++) {
        frequencies own;
        double error;

        spare(&s, &last.at[i]);
        own = frequencies_copy(f);
        error = network_fit_worst(k, t, last.at[i].fate, &own, LAST_ROUNDS, last.at[i].theta);
        if (error < r->error) {
            joint_result old = *r;

            *r = (joint_result){ last.at[i].fate, last.at[i].theta, error,        last.at[i].states,
                                 old.tried,       old.fits,         old.exchanges };
            last.at[i].fate = old.fate;
            last.at[i].theta = old.theta;
        }
        frequencies_free(&own);
    }
    list_free(&last);
    fine = isfinite(r->error);
    return fine;
}

void
joint_result_free(joint_result *r)
{
    free(r->fate);
    free(r->theta);
    *r = (joint_result){ 0 };
}
