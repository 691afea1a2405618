/* bounded_ahead.c - trials that run ahead of the search on other cores
 *
 * From the present place the outcomes of trials span a tree: after an acceptance another trial comes next than after a
 * refusal. What is predicted of several parts together (together.h) says how likely each outcome is, and so how likely
 * each trial of the tree is to be needed. The most likely ones are the plan. Helpers, which are threads with a copy of
 * the search as it was when its base was made, work on it, and the search's own thread too where a helper has begun
 * with the present trial. Outcomes are kept, so that a trial is not lost where the search reaches it on another way
 * than was planned; one that has dropped out of the plan is broken off.
 *
 * Helpers make no text: where only that decides, the search does. What is accepted in the end becomes a text too. Where
 * the plan shows what that will be, the search makes the text while helpers still try (struct written).
 *
 * The result of the search does not depend on any of this: see foretell.h.
 */
#include <math.h>
#include <string.h>

#include "bounded_inside.h"
#include "crew.h"
#include "in_image.h"
#include "side_by_side.h"
#include "unwritten.h"

/* Trials of one plan, and of all plans of one base; trials not yet finished that a plan has for each thread, so that
 * none waits while another is busy with a long one. */
enum { PLAN_MOST = 64, TRIALS_MOST = 1024, PLANNED_OF_CORE = 8 };
/* A trial less likely to be needed than this is not planned. */
static const double LEAST_CHANCE = 0.01;

/* An outcome is as likely as not where the predicted error is EVEN of the tolerance, and the odds grow by e with each
 * SPREAD; but no prediction is more certain than this. This share of the hidden error counts: the part often leaves
 * alone what exceeds the error at the times of predictions. From 151 trials of four models. Without a prediction:
 * outcomes repeat themselves. */
static const double EVEN = 0.945, SPREAD = 0.03, CERTAIN = 0.98, OF_HIDDEN = 0.3, REPEATS = 0.8;

/* A text is made ahead if it is as likely as this, and no more than so many trials for each thread come before it: it
 * takes as long as two of them, and the later it begins the fewer turn out otherwise. */
static const double WRITTEN_CHANCE = 0.5;
enum { BEFORE_TEXT = 3 };

/* What is tried: the candidates that the base lacks, `before` with their readings, and the batch at the place. image:
 * d->image.taken. */
struct tried {
    struct place at;
    size_t image, nbefore;
    struct candidate *before[MOST_UNWRITTEN];
    int reading[MOST_UNWRITTEN];
};

/* A trial. Who takes it writes its outcome; it is read when the trial is done. */
enum { JOB_OPEN, JOB_TAKEN, JOB_DONE };
struct job {
    struct tried is;
    atomic_uint state;
    atomic_bool unwanted; /* whoever works on it may break it off */
    atomic_bool refuses;  /* it is likely to be refused, but not decided yet */
    struct outcome outcome;
};

/* The planned trials in the order of their chances; each comes after `parent`, if that ends so. Helpers read it while
 * it changes: at worst another trial is begun than the most likely one. */
struct shared {
    atomic_size_t planned;
    atomic_uint changes; /* of the plan, begun and ended: odd while it changes */
    struct {
        atomic_uint job, parent;
        atomic_bool accepted;
    } plan[PLAN_MOST];
    struct job job[TRIALS_MOST];
};

/* What only the search's own thread knows of a planned trial. */
struct node {
    uint32_t job;
    struct place at;
    double chance, accepted; /* that it is needed; that it is accepted */
    bool grown[2];           /* what comes after its refusal, and its acceptance, is in the plan or not to be there */
    const double *off;       /* errors before it, if they are known */
    double *beyond;          /* with it, if that is foreseen */
    bool known, foreseen;
    double hidden; /* by so much the greatest error exceeds that at the times of predictions */
};

/* The planned trial with whose outcome, an acceptance or a refusal, a text becomes due. */
struct ending {
    size_t at;
    bool accepted;
};

/* A thread's copy of the search, with a report of its own, and room for the candidates of a trial. */
struct helper {
    struct search d;
    reduction out;
    struct candidate **set;
};

struct ahead {
    crew *crew;
    struct helper *helper; /* one more, for the search's own thread */
    size_t nhelpers;
    struct shared *shared;
    struct candidate *candidate; /* those of the round as they were then, by number */
    size_t njobs, nnodes;
    struct node node[PLAN_MOST];
    double *off; /* of all nodes */
    bool wanted[TRIALS_MOST];
};

/* ---------------------------------------------------------------- trials */

enum ended { ENDED_REFUSED, ENDED_ACCEPTED, ENDED_OTHERWISE, ENDED_NOT };

static enum ended
ended(struct job *x)
{
    const struct outcome *y = &x->outcome;

    if (atomic_load(&x->state) != JOB_DONE || y->undecided)
        return ENDED_NOT;
    return y->refused ? ENDED_REFUSED : y->fine && y->unwritten ? ENDED_ACCEPTED : ENDED_OTHERWISE;
}

/* Has it been found out that only its text decides? */
static bool
awaits_text(struct job *x)
{
    return atomic_load(&x->state) == JOB_DONE && x->outcome.undecided;
}

/* How it has ended or is about to end */
static enum ended
will_end(struct job *x)
{
    enum ended e = ended(x);

    return e == ENDED_NOT && atomic_load(&x->refuses) ? ENDED_REFUSED : e;
}

/* Is the search still likely to reach the k-th planned trial? */
static bool
is_reachable(struct shared *s, size_t k)
{
    while (k > 0) {
        size_t parent = atomic_load(&s->plan[k].parent);
        enum ended e = parent < k ? will_end(&s->job[atomic_load(&s->plan[parent].job)]) : ENDED_OTHERWISE;

        if (e != ENDED_NOT && e != (atomic_load(&s->plan[k].accepted) ? ENDED_ACCEPTED : ENDED_REFUSED))
            return false;
        k = parent;
    }
    return true;
}

static bool
take(struct job *x)
{
    unsigned open = JOB_OPEN;

    return atomic_load(&x->state) == JOB_OPEN && atomic_compare_exchange_strong(&x->state, &open, JOB_TAKEN);
}

/* Takes the most likely planned trial that nobody works on. Returns its place in the plan, or NO_INDEX. */
static size_t
take_job(struct shared *s, uint32_t *job)
{
    size_t n = atomic_load(&s->planned);

    for (size_t k = 0; k < n; k++) {
        struct job *x;

        *job = atomic_load(&s->plan[k].job);
        x = &s->job[*job];
        if (is_reachable(s, k) && take(x))
            return k;
    }
    return NO_INDEX;
}

/* A trial under way, and whether it was broken off. */
struct under_way {
    struct ahead *a;
    const crew *of; /* whose helper runs it; NULL: the search does */
    struct job *job;
    size_t at; /* in the plan, for the search */
    bool broken;
};

/* Is the trial in the plan only where the search is not likely to come? */
static bool
is_off_the_way(const struct under_way *w)
{
    struct shared *s = w->a->shared;
    unsigned changes = atomic_load(&s->changes);
    size_t n = atomic_load(&s->planned), found = 0;

    for (size_t k = 0; k < n; k++) {
        if (&s->job[atomic_load(&s->plan[k].job)] != w->job)
            continue;
        if (is_reachable(s, k))
            return false;
        found++;
    }
    return found > 0 && changes % 2 == 0 && changes == atomic_load(&s->changes);
}

static bool
is_useless(void *ctx)
{
    struct under_way *w = ctx;

    if (!w->broken)
        w->broken = w->of ? atomic_load(&w->job->unwanted) || crew_is_stopped(w->of) || is_off_the_way(w)
                          : !is_reachable(w->a->shared, w->at);
    return w->broken;
}

/* Runs a trial with a copy of the search. */
static void
run_job(const struct taking *t, struct helper *h, struct under_way w)
{
    struct search *d = &h->d;
    struct job *job = w.job;
    const struct tried *x = &job->is;
    size_t n = x->nbefore + x->at.batch;
    struct candidate *own = bg_malloc(n * sizeof *own), **more = bg_malloc(n * sizeof(struct candidate *));
    int *reading = bg_malloc(n * sizeof *reading);

    for (size_t k = 0; k < n; k++) {
        const struct candidate *of = k < x->nbefore ? x->before[k] : t->o->at.at[x->at.i + k - x->nbefore];

        own[k] = t->ahead->candidate[of->number];
        more[k] = &own[k];
        reading[k] = k < x->nbefore ? x->reading[k] : x->at.batch == 1 ? x->at.reading : own[k].chosen;
        own[k].chosen = reading[k];
    }
    memcpy(h->set, t->taken, d->base_taken * sizeof(struct candidate *));
    memcpy(h->set + d->base_taken, more, n * sizeof(struct candidate *));
    in_image_forget(d, x->image);
    d->refuses = &job->refuses;
    d->no_text = true;
    side_by_side_watch(is_useless, &w);
    foretell_one(d, h->set, d->base_taken, &(struct ahead_trial){ more, reading, n }, t->o->demand, &job->outcome);
    side_by_side_watch(NULL, NULL);
    d->refuses = NULL;
    d->no_text = false;
    atomic_store(&job->state, w.broken ? JOB_OPEN : JOB_DONE);
    free(own);
    free(more);
    free(reading);
}

static void
work_ahead(void *ctx, crew *c, size_t which)
{
    const struct taking *t = ctx;
    struct helper *h = &t->ahead->helper[which];
    struct shared *s = t->ahead->shared;

    while (!crew_is_stopped(c)) {
        uint32_t job;

        if (take_job(s, &job) == NO_INDEX) {
            crew_await_news(c);
        } else {
            run_job(t, h, (struct under_way){ .a = t->ahead, .of = c, .job = &s->job[job] });
            crew_report(c);
        }
    }
}

/* ---------------------------------------------------------------- the plan */

static bool
is_same_trial(const struct tried *a, const struct tried *b)
{
    bool same = a->at.i == b->at.i && a->at.batch == b->at.batch &&
                (a->at.batch > 1 || a->at.reading == b->at.reading) && a->image == b->image && a->nbefore == b->nbefore;

    for (size_t k = 0; k < a->nbefore && same; k++)
        same = a->before[k] == b->before[k] && a->reading[k] == b->reading[k];
    return same;
}

/* The number of that trial: a known one, or a new one. */
static uint32_t
find_job(struct ahead *a, const struct tried *x)
{
    for (size_t k = a->njobs; k-- > 0;)
        if (is_same_trial(&a->shared->job[k].is, x))
            return (uint32_t)k;
    a->shared->job[a->njobs].is = *x;
    return (uint32_t)a->njobs++;
}

/* Predicts the errors with the batch, and how likely they are to be small enough. */
static void
foresee(const struct taking *t, struct node *x)
{
    const struct search *d = t->d;
    double error;
    bool idle = true;

    x->foreseen = x->known;
    if (x->known)
        memcpy(x->beyond, x->off, d->together.n * sizeof *x->beyond);
    for (size_t k = 0; k < x->at.batch && (idle || x->foreseen); k++) {
        const struct candidate *c = t->o->at.at[x->at.i + k];
        int reading = x->at.batch == 1 ? x->at.reading : c->chosen;

        if (together_is_idle(d, c, reading))
            continue;
        idle = false;
        x->foreseen = x->foreseen && together_add(d, c, reading, x->beyond);
    }
    error = x->foreseen ? together_worst(d, x->beyond) + OF_HIDDEN * x->hidden : NAN;
    x->accepted = idle           ? CERTAIN
                  : x->foreseen  ? 1 / (1 + exp((error - EVEN) / SPREAD))
                  : t->last_fine ? REPEATS
                                 : 1 - REPEATS;
    x->accepted = fmin(fmax(x->accepted, 1 - CERTAIN), CERTAIN);
}

static double
hidden_error(const struct search *d, double worst, const double *off)
{
    return fmax(worst - together_worst(d, off), 0);
}

static void
add_node(const struct taking *t, const struct tried *of, size_t parent, bool accepted, struct node x)
{
    struct ahead *a = t->ahead;
    struct shared *s = a->shared;
    size_t n = a->nnodes++;
    struct job *job = &s->job[x.job = find_job(a, of)];

    x.beyond = a->off + n * t->d->together.n;
    foresee(t, &x);
    if (ended(job) == ENDED_ACCEPTED && job->outcome.measured) {
        memcpy(x.beyond, job->outcome.off, t->d->together.n * sizeof *x.beyond);
        x.foreseen = true;
        x.hidden = hidden_error(t->d, job->outcome.worst, x.beyond);
    }
    a->node[n] = x;
    atomic_store(&s->plan[n].job, x.job);
    atomic_store(&s->plan[n].parent, (unsigned)parent);
    atomic_store(&s->plan[n].accepted, accepted);
}

/* The chance of what comes after a planned trial if that ends so; 0: it is in the plan already, or cannot be. */
static double
chance_after(struct ahead *a, const struct node *x, bool accepted)
{
    enum ended e = will_end(&a->shared->job[x->job]);

    if (x->grown[accepted])
        return 0;
    if (awaits_text(&a->shared->job[x->job]))
        return accepted ? 0 : x->chance; /* another text would be the base */
    if (e != ENDED_NOT)
        return e == (accepted ? ENDED_ACCEPTED : ENDED_REFUSED) ? x->chance : 0;
    return x->chance * (accepted ? x->accepted : 1 - x->accepted);
}

/* Plans what comes after the k-th trial. */
static void
grow(const struct taking *t, size_t k, bool accepted)
{
    struct ahead *a = t->ahead;
    struct node *x = &a->node[k], next = { .off = x->off, .known = x->known, .hidden = x->hidden };
    struct job *job = &a->shared->job[x->job];
    struct tried of = job->is;
    struct place p = x->at;

    next.chance = chance_after(a, x, accepted);
    x->grown[accepted] = true;
    if (!accepted) {
        p = place_after_refusal(t, p);
    } else {
        bool known = ended(job) == ENDED_ACCEPTED, in_image = true;
        size_t n = of.nbefore + p.batch;

        if (n >= MOST_UNWRITTEN)
            return; /* from there on another text is the base */
        for (size_t c = 0; c < p.batch; c++) {
            struct candidate *more = t->o->at.at[p.i + c];
            int reading = p.batch == 1 ? p.reading : more->chosen;

            of.before[of.nbefore + c] = more;
            of.reading[of.nbefore + c] = reading;
            in_image = in_image && in_image_can(t->d, more, reading);
        }
        of.nbefore = n;
        if (known ? !job->outcome.in_image : !in_image)
            of.image = t->d->base_taken + n;
        if (known || x->foreseen)
            p.left = taking_left(t, known ? job->outcome.worst : together_worst(t->d, x->beyond));
        next.off = x->beyond;
        next.known = x->foreseen;
        p = place_after_acceptance(t, p);
    }
    next.at = of.at = place_pass_hopeless(t, p);
    if (place_is_tried(t, &next.at))
        add_node(t, &of, k, accepted, next);
}

/* The present trial, at the head of the plan. */
static void
plan_head(const struct taking *t)
{
    struct tried of = { .at = t->at, .image = t->d->image.taken, .nbefore = t->n - t->d->base_taken };
    struct node head = { .at = t->at, .chance = 1, .off = t->off, .known = t->measured };

    for (size_t k = 0; k < of.nbefore; k++) {
        of.before[k] = t->taken[t->d->base_taken + k];
        of.reading[k] = of.before[k]->chosen;
    }
    if (t->measured)
        head.hidden = hidden_error(t->d, isnan(t->worst) ? t->begun : t->worst, t->off);
    t->ahead->nnodes = 0;
    add_node(t, &of, 0, false, head);
}

/* Marks the trials of the plan as wanted, and those alone. */
static void
mark_wanted(struct ahead *a)
{
    memset(a->wanted, 0, a->njobs * sizeof *a->wanted);
    for (size_t k = 0; k < a->nnodes; k++)
        a->wanted[a->node[k].job] = true;
    for (size_t k = 0; k < a->njobs; k++)
        atomic_store(&a->shared->job[k].unwanted, !a->wanted[k]);
}

static size_t
after(const struct ahead *a, size_t k, bool accepted)
{
    for (size_t i = k + 1; i < a->nnodes; i++)
        if (atomic_load(&a->shared->plan[i].parent) == k && atomic_load(&a->shared->plan[i].accepted) == accepted)
            return i;
    return NO_INDEX;
}

/* The last trial of the plan before what is accepted becomes a text, along the most likely outcomes: it or what was
 * accepted before it is the last part. False: that is too uncertain, or too far off. */
static bool
foresee_text(const struct ahead *a, struct ending *out)
{
    double chance = 1;
    size_t open = 0;

    *out = (struct ending){ 0 };
    for (size_t k = 0; k != NO_INDEX; k = after(a, k, out->accepted)) {
        const struct node *x = &a->node[k];
        enum ended e = will_end(&a->shared->job[x->job]);

        out->at = k;
        out->accepted = e == ENDED_NOT ? x->accepted > 0.5 : e == ENDED_ACCEPTED;
        open += e == ENDED_NOT;
        if (e == ENDED_NOT)
            chance *= out->accepted ? x->accepted : 1 - x->accepted;
        if (e == ENDED_OTHERWISE || awaits_text(&a->shared->job[x->job]) || chance < WRITTEN_CHANCE ||
            open > BEFORE_TEXT * (a->nhelpers + 1))
            return false;
    }
    return a->node[out->at].grown[out->accepted];
}

/* The candidates of that text in *w, which must be empty. */
static void
list_written(const struct taking *t, const struct ending *of, struct written *w)
{
    const struct ahead *a = t->ahead;
    const struct tried *x = &a->shared->job[a->node[of->at].job].is;
    size_t base = t->d->base_taken, more = of->accepted ? x->at.batch : 0;

    w->taken = bg_calloc(base + x->nbefore + more + 1, sizeof *w->taken);
    w->reading = bg_calloc(base + x->nbefore + more + 1, sizeof *w->reading);
    for (; w->n < base; w->n++) {
        w->taken[w->n] = t->taken[w->n];
        w->reading[w->n] = t->taken[w->n]->chosen;
    }
    for (size_t k = 0; k < x->nbefore; k++) {
        w->taken[w->n] = x->before[k];
        w->reading[w->n++] = x->reading[k];
    }
    for (size_t k = 0; k < more; k++) {
        w->taken[w->n] = t->o->at.at[x->at.i + k];
        w->reading[w->n] = more == 1 ? x->at.reading : w->taken[w->n]->chosen;
        w->n++;
    }
}

static bool
is_same_written(const struct written *a, const struct written *b)
{
    return a->n == b->n && !memcmp(a->taken, b->taken, a->n * sizeof(struct candidate *)) &&
           !memcmp(a->reading, b->reading, a->n * sizeof *a->reading);
}

/* Is there a text to be made now? Its candidates replace those of the last one, and the trial that leads to it leaves
 * the text to the search. */
static bool
plan_text(struct taking *t, struct ending *of)
{
    struct written next = { 0 };
    struct ahead *a = t->ahead;
    bool is_new;

    if (t->d->exact || !foresee_text(a, of))
        return false;
    list_written(t, of, &next);
    is_new = next.n > t->d->base_taken && !(t->written.taken && is_same_written(&next, &t->written));
    if (is_new) {
        written_drop(t);
        t->written = next;
    } else {
        free(next.taken);
        free(next.reading);
    }
    return is_new;
}

enum task { TASK_ANY, TASK_PRESENT, TASK_TEXT };

/* What the search does next, if the present trial has not ended: a text; that trial, with which it has begun since no
 * helper has, so that what it accepts as a text need not run again; or any. */
static enum task
choose_task(struct taking *t, struct ending *text)
{
    struct ahead *a = t->ahead;
    struct job *head = &a->shared->job[a->node[0].job];

    if (ended(head) != ENDED_NOT || awaits_text(head))
        return TASK_ANY;
    return plan_text(t, text) ? TASK_TEXT : take(head) ? TASK_PRESENT : TASK_ANY;
}

static enum task
make_plan(struct taking *t, struct ending *text)
{
    struct ahead *a = t->ahead;
    size_t open = 0, most = PLANNED_OF_CORE * foretell_workers(t->d);
    enum task task;

    atomic_fetch_add(&a->shared->changes, 1);
    plan_head(t);
    for (size_t seen = 0; a->nnodes < PLAN_MOST;) {
        double best = 0;
        size_t at = 0;
        bool accepted = false;

        for (; seen < a->nnodes; seen++)
            open += ended(&a->shared->job[a->node[seen].job]) == ENDED_NOT;
        for (size_t k = 0; k < 2 * a->nnodes && open < most; k++) {
            double chance = chance_after(a, &a->node[k / 2], k % 2);

            if (chance > best) {
                best = chance;
                at = k / 2;
                accepted = k % 2;
            }
        }
        if (best < LEAST_CHANCE)
            break;
        grow(t, at, accepted);
    }
    mark_wanted(a);
    task = choose_task(t, text);
    atomic_store(&a->shared->planned, a->nnodes);
    atomic_fetch_add(&a->shared->changes, 1);
    crew_announce(a->crew);
    return task;
}

/* ---------------------------------------------------------------- a text made ahead */

/* A text under way. */
struct writing {
    struct ahead *a;
    struct ending of;
    bool broken;
};

static bool
is_text_useless(void *ctx)
{
    struct writing *w = ctx;
    struct shared *s = w->a->shared;
    enum ended e = will_end(&s->job[w->a->node[w->of.at].job]);

    w->broken = w->broken || !is_reachable(s, w->of.at) ||
                (e != ENDED_NOT && e != ENDED_OTHERWISE && (e == ENDED_ACCEPTED) != w->of.accepted);
    return w->broken;
}

static void
exchange_chosen(struct written *w)
{
    for (size_t k = 0; k < w->n; k++) {
        int chosen = w->taken[k]->chosen;

        w->taken[k]->chosen = w->reading[k];
        w->reading[k] = chosen;
    }
}

/* Compiles what the trials that follow a text need, if there will be any: where as many parts are taken out as one text
 * may lack, it is not the last one. */
static void
compile_ahead(struct taking *t)
{
    struct written *w = &t->written;
    overrides set = { 0 };

    if (w->v.fine && w->n - t->d->base_taken >= MOST_UNWRITTEN && t->o->demand) {
        in_image_ahead(t->d, &w->v.v, bounded_set_in(t->d, &w->v, &set), &w->v.image);
        vec_free(&set);
    }
}

/* Makes the text of the candidates in t->written. */
static void
write_ahead(struct taking *t, const struct ending *of)
{
    struct search *d = t->d;
    struct written *w = &t->written;
    struct writing under_way = { .a = t->ahead, .of = *of };
    size_t before = d->out->simulations;

    exchange_chosen(w);
    side_by_side_watch(is_text_useless, &under_way);
    w->v = try_set(d, w->taken, w->n, t->o->demand);
    compile_ahead(t);
    side_by_side_watch(NULL, NULL);
    exchange_chosen(w);
    w->simulations = d->out->simulations - before;
    d->out->simulations = before;
    w->there = !under_way.broken && !w->v.internal;
    if (!w->there) {
        verdict_free(d, &w->v); /* the list remains: it is not tried ahead again */
        free(d->error);         /* an internal error will occur again where the text is needed */
        d->error = NULL;
    }
}

/* ---------------------------------------------------------------- the search */

/* What has been refused is looked up by the search alone. */
static void
open_helper(const struct taking *t, struct helper *h)
{
    struct search *d = &h->d;

    *d = *t->d;
    h->out = *t->d->out;
    h->out.arena = arena_new();
    h->set = bg_calloc(d->base_taken + MOST_UNWRITTEN + t->o->at.n + 1, sizeof(struct candidate *));
    d->out = &h->out;
    d->trier.arena = h->out.arena;
    d->trier.of = d;
    d->known = (refusals){ 0 };
    d->image = (struct in_image){ 0 };
}

static void
close_helper(struct helper *h)
{
    in_image_forget(&h->d, 0);
    arena_free(h->out.arena);
    free(h->set);
}

static void
begin_ahead(struct taking *t)
{
    struct ahead *a = bg_calloc(1, sizeof *a);
    size_t ncandidates = 0;

    if (!t->d->exact && t->o->demand)
        in_image_base(t->d); /* compiled here, so that all helpers share it */
    a->shared = bg_calloc(1, sizeof *a->shared);
    a->off = bg_calloc(PLAN_MOST * t->d->together.n + 1, sizeof *a->off);
    for (size_t i = 0; i < t->o->at.n; i++)
        if (t->o->at.at[i]->number >= ncandidates)
            ncandidates = t->o->at.at[i]->number + 1;
    a->candidate = bg_calloc(ncandidates + 1, sizeof *a->candidate);
    for (size_t i = 0; i < t->o->at.n; i++)
        a->candidate[t->o->at.at[i]->number] = *t->o->at.at[i];
    a->nhelpers = foretell_workers(t->d) - 1;
    a->helper = bg_calloc(a->nhelpers + 1, sizeof *a->helper);
    t->d->images = images_new(t->d);
    for (size_t k = 0; k <= a->nhelpers; k++)
        open_helper(t, &a->helper[k]);
    t->ahead = a;
    a->crew = crew_begin(a->nhelpers, work_ahead, t);
}

void
ahead_stop(const struct taking *t)
{
    if (t->ahead)
        crew_stop(t->ahead->crew);
}

void
ahead_end(struct taking *t)
{
    struct ahead *a = t->ahead;

    if (!a)
        return;
    crew_end(a->crew);
    for (size_t k = 0; k <= a->nhelpers; k++)
        close_helper(&a->helper[k]);
    images_free(t->d, t->d->images);
    t->d->images = NULL;
    free(a->helper);
    free(a->candidate);
    free(a->shared);
    free(a->off);
    free(a);
    t->ahead = NULL;
}

/* The verdict on the present trial by its text. */
static struct verdict
text_verdict(struct taking *t, const struct outcome *y)
{
    struct search *d = t->d;
    size_t n = t->n + t->at.batch;

    d->out->simulations += y->before;
    return written_is(t, n) ? written_use(t) : try_set(d, t->taken, n, t->o->demand);
}

/* Tries the present candidates. False: only a text decides, and others should know that first. */
static bool
try_present(struct taking *t, struct job *head, struct verdict *v)
{
    struct search *d = t->d;
    size_t before = d->out->simulations;

    d->refuses = &head->refuses;
    d->no_text = true;
    *v = try_more(d, t->taken, t->n + t->at.batch, t->o->demand);
    d->no_text = false;
    d->refuses = NULL;
    head->outcome = outcome_of(v, d->together.n);
    if (v->undecided)
        d->out->simulations = before;
    atomic_store(&head->state, JOB_DONE);
    return !v->undecided;
}

struct verdict
ahead_try(struct taking *t)
{
    struct search *d = t->d;
    struct verdict known;

    if (t->ahead && t->ahead->njobs + PLAN_MOST > TRIALS_MOST)
        ahead_end(t);
    if (!t->ahead && try_known(d, t->taken, t->n + t->at.batch, t->o->demand, &known))
        return known; /* helpers come when there is work for them */
    if (!t->ahead)
        begin_ahead(t);
    for (;;) {
        struct ahead *a = t->ahead;
        struct ending text = { 0 };
        enum task task = make_plan(t, &text);
        struct job *head = &a->shared->job[a->node[0].job];
        struct verdict v;
        size_t at;
        uint32_t job;

        if (ended(head) != ENDED_NOT && outcome_decides(&head->outcome))
            return outcome_use(d, &head->outcome);
        if (awaits_text(head))
            return text_verdict(t, &head->outcome);
        if (ended(head) == ENDED_OTHERWISE)
            return try_more(d, t->taken, t->n + t->at.batch, t->o->demand);
        if (task == TASK_TEXT) {
            write_ahead(t, &text);
        } else if (task == TASK_PRESENT) {
            if (try_present(t, head, &v))
                return v;
        } else if ((at = take_job(a->shared, &job)) != NO_INDEX) {
            run_job(t, &a->helper[a->nhelpers], (struct under_way){ .a = a, .job = &a->shared->job[job], .at = at });
        } else {
            crew_await_result(a->crew);
        }
    }
}
