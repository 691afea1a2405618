/* trial.c - see trial.h */
#include "trial.h"

#include <math.h>
#include <string.h>

#include "asked.h"
#include "columns.h"
#include "foretell.h"
#include "in_image.h"

/* ---------------------------------------------------------------- versions */

/* The outputs of an experiment with a tolerance: the observed ones, or all where it observes none and a tolerance is
 * asked for. Their numbers are the same in every text, since outputs are never removed. */
static void
find_held(struct search *d, const compilation *c, size_t experiment)
{
    const flat_experiment *e = &c->flat->experiment;

    for (size_t k = 0; k < e->observe.n; k++)
        vec_push(&d->held[experiment], e->observe.at[k].output);
    for (uint32_t k = 0; k < c->flat->output.n && e->observe.n == 0 && d->o->within != WITHIN_STATED; k++)
        vec_push(&d->held[experiment], k);
}

const char *
trial_too_far(const struct search *d, const track *k, size_t experiment)
{
    const flat_output *y = &d->first.c[experiment].flat->output.at[k->which[k->off]];
    const char *shown = unit_shown(y->unit, y->display);
    double scale = y->display ? unit_scale(y->display) : 1;

    return arena_format(d->out->arena, "error of %s in %s is %.3g%s%s%s at %.6g s", y->name,
                        d->o->experiment[experiment], k->by / scale, shown ? " [" : "", shown ? shown : "",
                        shown ? "]" : "", k->since);
}

static const char *
worth(void *of, const compilation *c)
{
    const struct demand *demand = ((const struct search *)of)->demand;

    return demand && (model_nstates(c->model) > demand->states ||
                      (model_nstates(c->model) == demand->states && c->flat->element.n >= demand->elements))
               ? "it is no smaller"
               : NULL;
}

static bool
is_recorded(const struct search *d, const struct version *v)
{
    return d->recording && v->c && v->c[0].model == d->recorded[0];
}

void
trial_record(struct search *d, const struct version *v)
{
    if (is_recorded(d, v))
        return;
    factors_drop(d->recording);
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        d->recorded[i] = v->c[i].model;
        model_need_run(d->recorded[i]);
    }
    d->recording = factors_begin(d->recorded, d->o->nexperiments, foretell_workers(d), d->o->adjust, d->o->ctx);
}

/* Follows the outputs with a tolerance; with a demand, only as long as they may still be close enough. */
static void
prepare_trial(void *of, struct version *v, size_t i, sim_options *so)
{
    struct search *d = of;

    if (!d->held[i].n)
        find_held(d, &v->c[i], i);
    v->outputs[i].which = d->held[i].at;
    v->outputs[i].n = d->held[i].n;
    if (d->demand) {
        v->outputs[i].against = &d->first.outputs[i];
        v->outputs[i].most = d->most[i];
        v->outputs[i].slack = d->slack;
    }
    if (d->most_steps)
        so->max_steps = d->most_steps[i];
    if (d->next && i + 1 == d->trier.n)
        trial_record(d, v); /* meanwhile */
    d->out->simulations++;
}

static const char *
why_ended(void *of, const struct version *v, size_t i)
{
    return v->outputs[i].beyond ? trial_too_far(of, &v->outputs[i], i) : NULL;
}

void
search_trier(struct search *d, const char *path, const compile_shared *shared, pthread_mutex_t *texts)
{
    d->trier = (struct trier){ .path = path,
                               .experiment = d->o->experiment,
                               .n = d->o->nexperiments,
                               .shared = shared,
                               .texts = texts,
                               .arena = d->out->arena,
                               .adjust = d->o->adjust,
                               .ctx = d->o->ctx,
                               .worth = worth,
                               .prepare = prepare_trial,
                               .why = why_ended,
                               .of = d };
}

track_difference
version_difference(const struct version *a, const struct version *b, const struct bound *x)
{
    return track_compare(&a->outputs[x->experiment], x->slot, &b->outputs[x->experiment], x->slot);
}

int
trial_line(const struct search *d, span at)
{
    int line = 0, unused;

    if (span_known(at))
        source_place(d->first.c[0].sources, d->first.c[0].ast->file, (uint32_t)reduction_origin(d->out, at.begin),
                     &line, &unused);
    return line;
}

double
error_over(double error, double tolerance)
{
    return error <= 0 ? 0 : error <= INFINITY && tolerance > 0 ? error / tolerance : INFINITY;
}

double
version_error(const struct search *d, const struct version *v)
{
    double most = 0;

    for (size_t i = 0; i < d->bound.n; i++)
        most = fmax(most, error_over(version_difference(&d->first, v, &d->bound.at[i]).max, d->bound.at[i].tolerance));
    return most;
}

/* ---------------------------------------------------------------- trying */

void
verdict_free(struct search *d, struct verdict *x)
{
    if (is_recorded(d, &x->v)) {
        factors_drop(d->recording);
        d->recording = NULL;
    }
    in_image_drop(d, &x->image);
    version_free(&d->trier, &x->v);
    rewrite_free(&x->plan);
}

/* Changes a term and those that change with it. */
static void
change_term(const struct search *d, const struct candidate *x, enum term_change *what, double *mean)
{
    uint32_t with = d->terms.terms.term.at[x->term].with;

    what[x->term] = x->reading[x->chosen].kind == REWRITE_TERM_MEAN ? TERM_MEAN : TERM_DELETED;
    for (uint32_t k = x->term; k < d->terms.terms.term.n && with != NONE; k++)
        if (d->terms.terms.term.at[k].with == with)
            what[k] = what[x->term];
    mean[x->term] = x->mean;
}

/* The plan for a set of candidates, without the initial values that contradict the remaining model. False: an internal
 * error. */
static bool
plan_candidates(struct search *d, struct candidate *const *set, size_t n, const rewrite_changes *initial, rewrite *plan)
{
    arena *a = arena_new();
    rewrite_change *change;
    enum term_change *what = arena_new_array(a, enum term_change, d->terms.terms.term.n + 1);
    double *mean = arena_new_array(a, double, d->terms.terms.term.n + 1);
    asked_list of = { 0 };
    bool fine, any_term = false;

    for (size_t i = 0; i < n; i++)
        if (set[i]->term == NONE) {
            asked_add(&of, set[i]->name, &set[i]->reading[set[i]->chosen]);
        } else {
            change_term(d, set[i], what, mean);
            any_term = true;
        }
    if (any_term) {
        size_t nchanges = terms_changes(&d->terms.terms, what, mean, a, &change);

        asked_add_changes(&of, change, nchanges);
    }
    asked_add_changes(&of, initial->at, initial->n);
    fine = asked_plan(&of, &d->now.c[0], plan);
    for (size_t i = 0; i < plan->item.n; i++) /* the arena will be released */
        plan->item.at[i].name = arena_strdup(d->out->arena, plan->item.at[i].name);
    if (!fine)
        d->error = bg_strdup(plan->error ? plan->error : "unknown");
    arena_free(a);
    return fine;
}

/* A run that `stop when` ends earlier or later than that of the model as given cannot be compared over the whole time:
 * the difference may be as large, relative to the run, as is allowed for outputs, or a usual share. */
static void
measure_ends(struct search *d, struct verdict *x, const struct version *v)
{
    double may = d->o->within == WITHIN_SHARE ? d->o->tolerance : SHARE_WITHOUT_TOLERANCE, end[2];

    for (size_t i = 0; i < d->o->nexperiments; i++) {
        const track *given = &d->first.outputs[i];
        double r;

        if (!version_ends(&d->first, v, i, end) || given->border.n == 0)
            continue;
        r = error_over(fabs(end[1] - end[0]), may * (end[0] - given->border.at[0]));
        if (!(r > x->worst || isnan(x->worst)))
            continue;
        x->worst = r;
        if (r > WITHIN)
            x->why = arena_format(d->out->arena, "%s would end at %.6g s in place of %.6g s", d->o->experiment[i],
                                  end[1], end[0]);
    }
}

void
trial_measure(struct search *d, struct verdict *x, const struct version *v)
{
    arena *a = d->out->arena;

    for (size_t i = 0; i < d->bound.n; i++) {
        const struct bound *b = &d->bound.at[i];
        double e = version_difference(&d->first, v, b).max, r = error_over(e, b->tolerance);

        if (r > x->worst || isnan(x->worst)) {
            const flat_output *y = &d->first.c[b->experiment].flat->output.at[b->output];
            const char *shown = unit_shown(y->unit, y->display);
            double scale = y->display ? unit_scale(y->display) : 1;

            x->worst = r;
            if (r > WITHIN)
                x->why = arena_format(a, "error of %s in %s would be %.3g%s%s%s, %.3g is allowed", y->name,
                                      d->o->experiment[b->experiment], e / scale, shown ? " [" : "", shown ? shown : "",
                                      shown ? "]" : "", b->tolerance / scale);
        }
    }
    measure_ends(d, x, v);
    if (x->worst <= WITHIN && d->together.n) {
        double *off = arena_new_array(a, double, d->together.n);

        together_measure(d, v, off);
        x->off = off;
    }
}

/* Key of everything that decides the outcome of a trial: its text, the overrides, the demand. */
static text_key
key_of_trial(const struct trial *t, const struct demand *demand)
{
    text_key k = text_key_of(t->v.text, t->v.length);

    for (size_t i = 0; i < t->set.n; i++)
        text_key_add(&k, t->set.at[i].name, strlen(t->set.at[i].name));
    if (demand)
        text_key_add(&k, demand, sizeof *demand);
    return k;
}

/* Runs what is written and judges it. */
static void
run_stated(struct search *d, const struct demand *demand, rewrite_changes *initial, struct trial *t, struct verdict *x,
           bool *more)
{
    size_t before = d->out->simulations;

    d->demand = demand;
    *more = trial_run(&d->trier, &d->now, &d->set, initial, t);
    d->demand = NULL;
    x->spent = d->out->simulations - before;
    if (t->failure && t->v.outputs[t->at].beyond) {
        x->ran = x->lasts = true;
        x->why = trial_too_far(d, &t->v.outputs[t->at], t->at);
        *more = false;
    } else if (t->failure) {
        x->why = t->failure;
        x->lasts = !t->v.c[t->at].model;
    } else {
        x->ran = true;
        trial_measure(d, x, &t->v);
        x->fine = x->worst <= WITHIN;
        x->lasts = !x->fine;
    }
}

/* Like try_set, without the initial values in `initial`. *more: further contradicting values were found, and another
 * try may succeed. */
static struct verdict
try_stated(struct search *d, struct candidate *const *set, size_t n, const struct demand *demand,
           rewrite_changes *initial, bool *more)
{
    arena *a = d->out->arena;
    struct verdict x = { .worst = NAN };
    struct trial t = { 0 };
    const refusal *known;
    bool planned;

    *more = false;
    trier_lock(&d->trier);
    planned = plan_candidates(d, set, n, initial, &t.plan);
    trier_unlock(&d->trier);
    if (!planned) {
        x.internal = true;
    } else if (t.plan.edits.list.n == 0) {
        const rewrite_block *b = t.plan.blocked.n ? &t.plan.blocked.at[0] : NULL;

        x.why = b ? arena_format(a, "%s (line %d)", b->why, trial_line(d, b->reader))
                  : "no piece of the text stands for it alone";
    } else {
        trial_write(&d->now, &d->set, &t);
        x.key = key_of_trial(&t, demand);
        known = refusals_find(&d->known, x.key);
        if (known)
            x.ran = known->ran, x.worst = known->worst, x.why = known->why, x.lasts = true;
        else
            run_stated(d, demand, initial, &t, &x, more);
        x.v = t.v;
    }
    x.plan = t.plan;
    vec_free(&t.set);
    return x;
}

struct verdict
try_set(struct search *d, struct candidate *const *set, size_t n, const struct demand *demand)
{
    rewrite_changes initial = { 0 };
    struct verdict x;
    bool more;

    for (;;) {
        x = try_stated(d, set, n, demand, &initial, &more);
        if (!more)
            break;
        verdict_free(d, &x);
    }
    vec_free(&initial);
    return x;
}

void
note_verdict(struct search *d, const struct verdict *x)
{
    if (x->lasts && !refusals_find(&d->known, x->key))
        refusals_note(&d->known, (refusal){ x->key, x->ran, x->worst, x->why });
}
