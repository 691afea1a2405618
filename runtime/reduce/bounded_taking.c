/* bounded_taking.c - takes the candidates of a round out in their order, one batch after the other
 *
 * After a batch is refused, half of it is tried; after a single candidate is refused, the next one; after an
 * acceptance, the next batch. So the next trials are known as soon as the outcome of the present one is assumed: idle
 * cores run the trials that come next if outcomes stay as they are (foretell.h).
 */
#include <math.h>
#include <string.h>

#include "bounded_inside.h"
#include "foretell.h"
#include "in_image.h"
#include "unwritten.h"

/* A round ends after so many refusals in a row, in order of predicted error: later candidates are predicted to matter
 * more. */
enum { PATIENCE = 300 };

/* With predicted errors: after so many refusals in a row, a candidate predicted to need this multiple of what is left
 * of the tolerance is refused without a run. */
enum { PATIENCE_PREDICTED = 8 };
static const double HOPELESS = 3;

/* So many parts are accepted before a text without them is made: factors of 0 still take part in every step of a
 * run. */
enum { MOST_UNWRITTEN = 24 };

/* Limits of trials ahead: a few for each core, so that none waits for a long one, and twice as many each time that all
 * assumptions held; where outcomes are predicted, as many as the list has room for. */
enum { MOST_AHEAD = 32, AHEAD_OF_CORE = 4 };

/* A candidate that was refused without a text, together with what was accepted in the image. */
struct refused_one {
    struct candidate *candidate;
    int chosen;
    const char *why;
};

/* What is tried next: `batch` candidates of the order from the i-th on; a single one with one reading. refused: number
 * of refusals in a row before it. left: what is left of the tolerances, relative to the beginning of the round. */
struct place {
    size_t i, batch, refused;
    int reading;
    double left;
};

/* Trials ahead from a place on; those from `next` on have not been used yet. */
struct ahead {
    struct ahead_trial trial[MOST_AHEAD];
    struct place at[MOST_AHEAD];
    struct outcome outcome[MOST_AHEAD];
    size_t n, next, block;
};

struct taking {
    struct search *d;
    const struct order *o;
    struct candidate **taken; /* the first n of them are accepted */
    size_t n;
    struct place at;
    double begun;                    /* error of the text at the beginning of the round */
    double *off;                     /* errors of what was accepted (together.h) */
    bool measured;                   /* it is known */
    struct verdict *best;            /* the version without the first d->base_taken of them */
    overrides set;                   /* in that text */
    double worst;                    /* greatest error of the last accepted trial */
    enum supposed last;              /* outcome of the last trial */
    VEC(struct refused_one) refused; /* since the last acceptance that made a difference */
    struct ahead ahead;
};
enum taking_status { TAKING_DONE, TAKING_INTERNAL, TAKING_ANEW };

size_t
bounded_fitting(const struct order *o, size_t i, double left)
{
    size_t n = 0;

    while (i + n < o->at.n && !o->at.at[i + n]->unforeseen && (left -= o->at.at[i + n]->predicted) >= 0)
        n++;
    return n;
}

/* ---------------------------------------------------------------- the sequence of places */

/* A candidate is hopeless if it is predicted to need far more than is left of the tolerances and better ones failed: it
 * gets no run. */
static bool
is_hopeless(const struct taking *t, const struct place *p)
{
    const struct candidate *x = t->o->at.at[p->i];

    return t->o->predicts && !x->unforeseen && p->refused >= PATIENCE_PREDICTED && x->predicted > HOPELESS * p->left;
}

static bool
goes_on(const struct taking *t, const struct place *p)
{
    return p->i < t->o->at.n && p->refused < PATIENCE;
}

/* Limits the batch to the candidates there are, and sets the reading of a single one. */
static struct place
arrive_at_place(const struct taking *t, struct place p)
{
    if (p.i < t->o->at.n) {
        p.batch = p.batch < t->o->at.n - p.i ? p.batch : t->o->at.n - p.i;
        p.reading = t->o->at.at[p.i]->chosen;
    }
    return p;
}

/* The next place after hopeless candidates. */
static struct place
pass_hopeless(const struct taking *t, struct place p)
{
    size_t i = p.i;

    while (goes_on(t, &p) && is_hopeless(t, &p))
        p.i++;
    return p.i > i ? arrive_at_place(t, p) : p;
}

static struct place
after_refusal(const struct taking *t, struct place p)
{
    if (p.batch == 1 && p.reading + 1 < t->o->at.at[p.i]->nreadings) {
        p.reading++;
        return p;
    }
    if (p.batch == 1) {
        p.i++;
        p.refused++;
    }
    p.batch = (p.batch + 1) / 2;
    return arrive_at_place(t, p);
}

static struct place
after_acceptance(const struct taking *t, struct place p)
{
    size_t fitting;

    p.i += p.batch;
    fitting = t->o->predicts ? bounded_fitting(t->o, p.i, p.left) : 2 * p.batch;
    p.batch = fitting > 1 ? fitting : 1;
    p.refused = 0;
    return arrive_at_place(t, p);
}

/* ---------------------------------------------------------------- ahead */

static void
forget_ahead(struct ahead *a)
{
    a->n = a->next = a->block = 0;
}

/* What is left of the tolerances after a greatest error `worst`. */
static double
left_at(const struct taking *t, double worst)
{
    return t->begun < 1 ? (1 - worst) / (1 - t->begun) : 0;
}

/* A path of assumed outcomes from the present place: the candidates accepted along it, and their error. */
struct way {
    struct candidate **with;
    int *reading;
    size_t n;
    double *off, *beyond; /* beyond: scratch */
    bool measured;
};

static struct way
way_begin(const struct taking *t, arena *a)
{
    size_t most = t->o->at.n + 1, n = t->d->together.n;
    struct way w = { .with = arena_new_array(a, struct candidate *, most),
                     .reading = arena_new_array(a, int, most),
                     .off = arena_new_array(a, double, n + 1),
                     .beyond = arena_new_array(a, double, n + 1),
                     .measured = t->measured };

    if (w.measured)
        memcpy(w.off, t->off, n * sizeof *w.off);
    return w;
}

/* Appends the candidates at a place to the path. */
static void
set_foot(const struct taking *t, const struct place *p, struct way *w)
{
    for (size_t k = 0; k < p->batch; k++) {
        w->with[w->n + k] = t->o->at.at[p->i + k];
        w->reading[w->n + k] = p->batch == 1 ? p->reading : w->with[w->n + k]->chosen;
    }
}

/* The assumed outcome of the trial at a place: the predicted one, or else the last outcome. */
static enum supposed
suppose(const struct taking *t, const struct place *p, struct way *w)
{
    const struct search *d = t->d;
    bool known = w->measured;

    if (known)
        memcpy(w->beyond, w->off, d->together.n * sizeof *w->beyond);
    for (size_t k = 0; k < p->batch && known; k++)
        known = together_add(d, w->with[w->n + k], w->reading[w->n + k], w->beyond);
    if (known)
        return together_worst(d, w->beyond) <= WITHIN ? SUPPOSED_ACCEPTED : SUPPOSED_REFUSED;
    return t->last == SUPPOSED_ACCEPTED ? SUPPOSED_ACCEPTED : SUPPOSED_REFUSED;
}

static struct place
go_on_accepted(const struct taking *t, struct place p, struct way *w)
{
    double *off = w->off;

    w->n += p.batch;
    if (w->measured) {
        w->off = w->beyond;
        w->beyond = off;
        p.left = left_at(t, together_worst(t->d, w->off));
    }
    return after_acceptance(t, p);
}

/* Lists the trials that come next if each ends as assumed. */
static size_t
list_ahead(struct taking *t, arena *of)
{
    struct ahead *a = &t->ahead;
    struct way w = way_begin(t, of);
    struct place p = t->at;
    size_t n = 0, most = w.measured ? MOST_AHEAD : a->block;

    while (n < most && goes_on(t, &p)) {
        struct ahead_trial *x = &a->trial[n];

        if (n > 0 && t->n + w.n - t->d->base_taken >= MOST_UNWRITTEN)
            break; /* from there on another text is the base */
        a->at[n++] = p;
        set_foot(t, &p, &w);
        *x = (struct ahead_trial){ .n = w.n + p.batch, .supposed = suppose(t, &p, &w) };
        x->more = memcpy(arena_new_array(of, struct candidate *, x->n), w.with, x->n * sizeof *w.with);
        x->reading = memcpy(arena_new_array(of, int, x->n), w.reading, x->n * sizeof *w.reading);
        p = pass_hopeless(t, x->supposed == SUPPOSED_ACCEPTED ? go_on_accepted(t, p, &w) : after_refusal(t, p));
    }
    return n;
}

static struct verdict
look_ahead(struct taking *t)
{
    struct ahead *a = &t->ahead;
    size_t least = AHEAD_OF_CORE * foretell_workers(t->d), block = a->block ? 2 * a->block : least;
    arena *of = arena_new();
    struct verdict v;

    a->block = block < MOST_AHEAD ? block : MOST_AHEAD;
    a->n = list_ahead(t, of);
    a->next = 1;
    foretell(t->d, t->taken, t->n, a->trial, a->n, t->o->demand, &v, a->outcome);
    arena_free(of);
    return v;
}

/* The verdict on the candidates at the place. */
static struct verdict
try_next(struct taking *t)
{
    struct ahead *a = &t->ahead;
    const struct place *p = &t->at, *seen = &a->at[a->next];

    if (a->next < a->n && (seen->i != p->i || seen->batch != p->batch || seen->reading != p->reading))
        forget_ahead(a); /* less is left than was assumed */
    if (a->next < a->n && outcome_decides(&a->outcome[a->next]))
        return outcome_use(t->d, &a->outcome[a->next++]);
    if (a->next == a->n && foretell_workers(t->d) > 1)
        return look_ahead(t);
    a->next += a->next < a->n;
    return try_more(t->d, t->taken, t->n + p->batch, t->o->demand);
}

/* Keeps the trials ahead only as long as outcomes agree with the assumptions. */
static void
note_last(struct taking *t, const struct verdict *v)
{
    struct ahead *a = &t->ahead;

    t->last = !v->fine ? SUPPOSED_REFUSED : v->in_image ? SUPPOSED_ACCEPTED : SUPPOSED_NOTHING;
    if (a->next > 0 && a->next <= a->n && t->last != a->trial[a->next - 1].supposed)
        forget_ahead(a);
}

/* ---------------------------------------------------------------- texts */

const overrides *
bounded_set_in(const struct search *d, const struct verdict *accepted, overrides *out)
{
    vec_resize(out, d->set.n);
    out->n = reduction_remaining(d->set.at, d->set.n, &accepted->plan, out->at);
    return out;
}

static void
accept_text(struct taking *t, struct verdict *v)
{
    in_image_forget(t->d, 0);
    verdict_free(t->d, t->best);
    *t->best = *v;
    unwritten_begin(t->d, &t->best->v, bounded_set_in(t->d, t->best, &t->set), t->n);
}

/* Turns what was accepted in the image into a text. False: the text is not accepted. */
static bool
settle_as_text(struct taking *t)
{
    struct search *d = t->d;
    struct verdict v;

    if (t->n == d->base_taken)
        return true;
    v = try_set(d, t->taken, t->n, t->o->demand);
    if (!v.fine) {
        verdict_free(d, &v);
        return false;
    }
    accept_text(t, &v);
    /* records the refusals under the text that they refer to, also for the next round */
    for (size_t i = 0; i < t->refused.n; i++) {
        const struct refused_one *x = &t->refused.at[i];
        int chosen = x->candidate->chosen;

        x->candidate->chosen = x->chosen;
        t->taken[t->n] = x->candidate;
        note_verdict(d, &(struct verdict){ .ran = true,
                                           .worst = NAN,
                                           .why = x->why,
                                           .lasts = true,
                                           .key = unwritten_key(d, t->taken, t->n + 1, t->o->demand) });
        x->candidate->chosen = chosen;
    }
    return true;
}

/* ---------------------------------------------------------------- the trials in turn */

/* Skips hopeless candidates, and appends the candidates at the place to the accepted ones. */
static void
set_out(struct taking *t)
{
    struct candidate **at = t->o->at.at;
    struct place p = pass_hopeless(t, t->at);

    for (size_t i = t->at.i; i < p.i; i++)
        bounded_refuse_unseen(t->d, at[i]);
    t->at = p;
    if (goes_on(t, &p))
        memcpy(t->taken + t->n, at + p.i, p.batch * sizeof(struct candidate *));
    if (goes_on(t, &p) && p.batch == 1)
        at[p.i]->chosen = p.reading;
}

static void
note_off(struct taking *t, const double *off)
{
    t->measured = off != NULL;
    if (t->measured)
        memmove(t->off, off, t->d->together.n * sizeof *off);
}

static enum taking_status
accept(struct taking *t, struct verdict *v)
{
    struct search *d = t->d;
    enum taking_status status = TAKING_DONE;

    note_off(t, v->off);
    t->n += t->at.batch;
    /* if the error is the same, what went had no effect, and what was refused would be refused again */
    if (v->worst != t->worst)
        t->refused.n = 0;
    t->worst = v->worst;
    if (v->unwritten && !v->in_image)
        in_image_forget(d, t->n);
    t->at.left = left_at(t, v->worst);
    if (!v->unwritten)
        accept_text(t, v);
    else if (t->n - d->base_taken >= MOST_UNWRITTEN && !settle_as_text(t))
        status = TAKING_ANEW;
    t->at = after_acceptance(t, t->at);
    return status;
}

static void
refuse(struct taking *t, struct verdict *v)
{
    struct candidate *x = t->o->at.at[t->at.i];

    if (t->at.batch == 1 && v->lasts && v->unwritten)
        vec_push(&t->refused, ((struct refused_one){ x, x->chosen, v->why }));
    verdict_free(t->d, v);
    t->at = after_refusal(t, t->at);
}

static enum taking_status
take_in_turn(struct taking *t)
{
    struct search *d = t->d;
    const struct order *o = t->o;
    enum taking_status status = TAKING_DONE;

    t->begun = o->predicts ? version_error(d, &d->now) : 0;
    if (d->together.n)
        together_measure(d, &d->now, t->off);
    note_off(t, d->together.n ? t->off : NULL);
    t->at = arrive_at_place(t, (struct place){ .batch = o->batch ? o->batch : 1, .left = 1 });
    for (set_out(t); goes_on(t, &t->at) && status == TAKING_DONE; set_out(t)) {
        struct verdict v = try_next(t);

        note_verdict(d, &v);
        note_last(t, &v);
        if (v.internal) {
            verdict_free(d, &v);
            return TAKING_INTERNAL;
        }
        if (t->n == 0 || v.fine)
            bounded_note_trial(d, t->taken, t->n + t->at.batch, &v);
        else
            bounded_note_trial(d, t->taken + t->n, t->at.batch, &v);
        if (v.fine)
            status = accept(t, &v);
        else
            refuse(t, &v);
    }
    return status == TAKING_DONE && !settle_as_text(t) ? d->error ? TAKING_INTERNAL : TAKING_ANEW : status;
}

bool
bounded_take(struct search *d, const struct order *o, struct candidate **taken, size_t *n, struct verdict *best)
{
    struct taking *t = bg_calloc(1, sizeof *t);
    size_t trials = d->out->trial.n, refused = d->refused.n;
    enum taking_status status;

    *t = (struct taking){ .d = d, .o = o, .taken = taken, .best = best, .worst = NAN };
    t->off = bg_calloc(d->together.n + 1, sizeof *t->off);
    status = take_in_turn(t);
    if (status == TAKING_ANEW) {
        verdict_free(d, best);
        *best = (struct verdict){ 0 };
        d->out->trial.n = trials;
        d->refused.n = refused;
        for (size_t i = 0; i < o->at.n; i++)
            o->at.at[i]->chosen = 0;
        t->n = t->refused.n = 0;
        t->worst = NAN;
        t->last = SUPPOSED_NOTHING;
        forget_ahead(&t->ahead);
        d->exact = true;
        unwritten_begin(d, &d->now, &d->set, 0);
        status = take_in_turn(t);
    }
    unwritten_end(d);
    vec_free(&t->set);
    vec_free(&t->refused);
    free(t->off);
    *n = t->n;
    free(t);
    return status != TAKING_INTERNAL;
}
