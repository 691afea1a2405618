/* bounded_taking.c - takes the candidates of a round out in their order, one batch after the other
 *
 * After a batch is refused, half of it is tried; after a single candidate is refused, the next one; after an
 * acceptance, the next batch. So the next trials are known as soon as the outcome of the present one is assumed, and
 * idle cores can run them (bounded_ahead.c).
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

bool
place_is_tried(const struct taking *t, const struct place *p)
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

struct place
place_pass_hopeless(const struct taking *t, struct place p)
{
    size_t i = p.i;

    while (place_is_tried(t, &p) && is_hopeless(t, &p))
        p.i++;
    return p.i > i ? arrive_at_place(t, p) : p;
}

struct place
place_after_refusal(const struct taking *t, struct place p)
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

struct place
place_after_acceptance(const struct taking *t, struct place p)
{
    size_t fitting;

    p.i += p.batch;
    fitting = t->o->predicts ? bounded_fitting(t->o, p.i, p.left) : 2 * p.batch;
    p.batch = fitting > 1 ? fitting : 1;
    p.refused = 0;
    return arrive_at_place(t, p);
}

double
taking_left(const struct taking *t, double worst)
{
    return t->begun < 1 ? (1 - worst) / (1 - t->begun) : 0;
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
    ahead_end(t);
    written_drop(t);
    in_image_forget(t->d, 0);
    verdict_free(t->d, t->best);
    *t->best = *v;
    unwritten_begin(t->d, &t->best->v, bounded_set_in(t->d, t->best, &t->set), t->n);
    in_image_use(t->d, &t->best->image);
}

bool
written_is(const struct taking *t, size_t n)
{
    const struct written *w = &t->written;
    bool same = w->there && w->n == n;

    for (size_t k = 0; k < n && same; k++)
        same = w->taken[k] == t->taken[k] && w->reading[k] == t->taken[k]->chosen;
    return same;
}

static void
written_forget(struct taking *t)
{
    free(t->written.taken);
    free(t->written.reading);
    t->written = (struct written){ 0 };
}

struct verdict
written_use(struct taking *t)
{
    struct verdict v = t->written.v;

    t->d->out->simulations += t->written.simulations;
    written_forget(t);
    return v;
}

void
written_drop(struct taking *t)
{
    if (t->written.there)
        verdict_free(t->d, &t->written.v);
    written_forget(t);
}

/* Turns what was accepted in the image into a text. last: no more will be taken out. False: the text is not accepted.
 */
static bool
settle_as_text(struct taking *t, bool last)
{
    struct search *d = t->d;
    struct verdict v;

    if (t->n == d->base_taken)
        return true;
    ahead_stop(t);
    d->next = last;
    v = written_is(t, t->n) ? written_use(t) : try_set(d, t->taken, t->n, t->o->demand);
    d->next = false;
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
    struct place p = place_pass_hopeless(t, t->at);

    for (size_t i = t->at.i; i < p.i; i++)
        bounded_refuse_unseen(t->d, at[i]);
    t->at = p;
    if (place_is_tried(t, &p))
        memcpy(t->taken + t->n, at + p.i, p.batch * sizeof(struct candidate *));
    if (place_is_tried(t, &p) && p.batch == 1)
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
    together_take(d, t->taken + t->n, t->at.batch);
    t->n += t->at.batch;
    /* if the error is the same, what went had no effect, and what was refused would be refused again */
    if (v->worst != t->worst)
        t->refused.n = 0;
    t->worst = v->worst;
    if (v->unwritten && !v->in_image)
        in_image_forget(d, t->n);
    t->at.left = taking_left(t, v->worst);
    if (!v->unwritten)
        accept_text(t, v);
    else if (t->n - d->base_taken >= MOST_UNWRITTEN && !settle_as_text(t, false))
        status = TAKING_ANEW;
    t->at = place_after_acceptance(t, t->at);
    return status;
}

static void
refuse(struct taking *t, struct verdict *v)
{
    struct candidate *x = t->o->at.at[t->at.i];

    if (t->at.batch == 1 && v->lasts && v->unwritten)
        vec_push(&t->refused, ((struct refused_one){ x, x->chosen, v->why }));
    verdict_free(t->d, v);
    t->at = place_after_refusal(t, t->at);
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
    for (set_out(t); place_is_tried(t, &t->at) && status == TAKING_DONE; set_out(t)) {
        struct verdict v = foretell_workers(d) > 1 ? ahead_try(t)
                                                   : try_more(d, t->taken, t->n + t->at.batch, o->demand);

        note_verdict(d, &v);
        t->last_fine = v.fine;
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
    return status == TAKING_DONE && !settle_as_text(t, true) ? d->error ? TAKING_INTERNAL : TAKING_ANEW : status;
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
        ahead_end(t);
        written_drop(t);
        verdict_free(d, best);
        *best = (struct verdict){ 0 };
        d->out->trial.n = trials;
        d->refused.n = refused;
        for (size_t i = 0; i < o->at.n; i++)
            o->at.at[i]->chosen = 0;
        t->n = t->refused.n = 0;
        t->worst = NAN;
        t->last_fine = false;
        d->exact = true;
        unwritten_begin(d, &d->now, &d->set, 0);
        status = take_in_turn(t);
    }
    ahead_end(t);
    written_drop(t);
    unwritten_end(d);
    vec_free(&t->set);
    vec_free(&t->refused);
    free(t->off);
    *n = t->n;
    free(t);
    return status != TAKING_INTERNAL;
}
