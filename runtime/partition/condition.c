/* condition.c - see condition.h */
#include "condition.h"

#include <math.h>
#include <string.h>

#include "asked.h"
#include "bonds.h"
#include "columns.h"
#include "reduce.h"
#include "version.h"

struct conditioner {
    const compilation *of;
    link_plan *p;
    arena *a;
    struct trier trier;
    struct version given;
    overrides set;
    bond_candidates candidate;
    const bond_candidate **of_link; /* [link] */
};

static enum bond_way
way_of(const link *x)
{
    return x->fate == LINK_GOES ? BOND_DROP : x->fate == LINK_TO_HEAD ? BOND_FORWARD : BOND_BACKWARD;
}

static void
link_stays(struct conditioner *d, size_t i, const char *why)
{
    link *x = &d->p->link.at[i];

    x->fate = LINK_STAYS;
    x->refused = why;
    x->where = NULL;
    d->p->conditioned--;
    d->p->refused++;
}

static bool
plan_conditions(struct conditioner *d, const size_t *at, size_t n, rewrite *plan)
{
    asked_list a = { 0 };

    for (size_t i = 0; i < n; i++) {
        const link *x = &d->p->link.at[at[i]];

        if (x->fate == LINK_GOES && x->element != LINK_NONE)
            asked_add(&a, x->name, &(struct reading){ .kind = REWRITE_ELEMENT });
        else
            asked_add_bond(&a, d->of_link[at[i]]->change[way_of(x)]);
    }
    return asked_plan(&a, d->of, plan);
}

/* A conditioned text that is unstable may oscillate ever faster: a run of so many steps counts as failed. */
enum { TRIAL_STEPS = 200000 };

static void
prepare_condition(void *of, struct version *v, size_t i, sim_options *so)
{
    (void)of;
    v->outputs[i].n = model_noutputs(v->c[i].model);
    if (so->max_steps == 0)
        so->max_steps = TRIAL_STEPS;
}

/* A trier that runs texts as the recordings are run. experiment: [nruns], filled. */
static struct trier
trier_of(const recording *run, size_t nruns, const char **experiment, arena *a)
{
    for (size_t i = 0; i < nruns; i++)
        experiment[i] = run[i].experiment;
    return (struct trier){ .path = run->path,
                           .experiment = experiment,
                           .n = nruns,
                           .shared = run->shared,
                           .arena = a,
                           .adjust = run->adjust,
                           .ctx = run->ctx,
                           .prepare = prepare_condition };
}

/* The values set on the command line: the same for all recordings. */
static overrides
set_of(const recording *run)
{
    overrides set = { 0 };

    for (size_t i = 0; i < run->nset; i++)
        vec_push(&set, run->set[i]);
    return set;
}

const char *
text_fails(const recording *run, size_t nruns, const char *text, size_t length, arena *a)
{
    const char **experiment = bg_calloc(nruns + 1, sizeof *experiment);
    struct trier r = trier_of(run, nruns, experiment, a);
    struct version v = { .text = text, .length = length };
    overrides set = set_of(run);
    size_t at;
    const char *why = version_run(&r, &v, &set, &at);

    if (why)
        why = arena_format(a, "without it, %s: %s", v.c[at].model ? "the run fails" : "it does not compile", why);
    version_free(&r, &v);
    vec_free(&set);
    free(experiment);
    return why;
}

static void
try_links(struct conditioner *d, const size_t *at, size_t n, struct trial *t)
{
    *t = (struct trial){ 0 };
    if (!plan_conditions(d, at, n, &t->plan)) {
        t->internal = bg_strdup(t->plan.error);
        return;
    }
    trial_run(&d->trier, &d->given, &d->set, NULL, t);
    if (t->failure)
        t->failure = arena_format(d->a, "without it, %s", t->failure);
    else if (t->v.run)
        trial_check(&d->trier, &d->given, &d->set, t);
}

/* Finds the candidate of the text that corresponds to each link, and the links that no edit can express. */
static void
find_link_candidates(struct conditioner *d)
{
    map of_bond = { 0 }, of_element = { 0 };

    bonds_find(d->of, NULL, d->a, &d->candidate);
    for (size_t i = 0; i < d->candidate.n; i++) {
        const bond_candidate *c = &d->candidate.at[i];

        if (c->bond != NONE)
            map_set(&of_bond, c->bond, (uint32_t)i);
        else
            map_set(&of_element, c->element, (uint32_t)i);
    }
    d->of_link = bg_calloc(d->p->link.n + 1, sizeof *d->of_link);
    for (size_t i = 0; i < d->p->link.n; i++) {
        const link *x = &d->p->link.at[i];
        uint32_t k = x->bond != LINK_NONE ? map_get(&of_bond, x->bond) : map_get(&of_element, x->element);

        if (x->fate == LINK_STAYS)
            continue;
        if (k != MAP_NONE && d->candidate.at[k].may[way_of(x)])
            d->of_link[i] = &d->candidate.at[k];
        else
            link_stays(d, i, "the text does not say it once, by names that an expression can read");
    }
    map_free(&of_bond);
    map_free(&of_element);
}

/* Records the links that the rewriting left in place because something reads them. */
static void
note_blocked(struct conditioner *d, const rewrite *plan)
{
    map blocked = { 0 };

    for (size_t i = 0; i < plan->blocked.n; i++)
        map_set(&blocked, bg_hash_bytes(plan->blocked.at[i].element, strlen(plan->blocked.at[i].element), 0),
                (uint32_t)i);
    for (size_t i = 0; i < d->p->link.n; i++) {
        const link *x = &d->p->link.at[i];
        const char *label = !d->of_link[i] ? NULL : d->of_link[i]->name;
        uint32_t k = !label || x->fate == LINK_STAYS ? MAP_NONE
                                                     : map_get(&blocked, bg_hash_bytes(label, strlen(label), 0));

        if (k != MAP_NONE)
            link_stays(d, i, plan->blocked.at[k].why);
    }
    map_free(&blocked);
}

bool
condition_text(const compilation *of, const recording *run, size_t nruns, link_plan *p, bool at_once, arena *a,
               char **text, size_t *length, char **why)
{
    const char **experiment = bg_calloc(nruns + 1, sizeof *experiment);
    struct conditioner d = { .of = of,
                             .p = p,
                             .a = a,
                             .trier = trier_of(run, nruns, experiment, a),
                             .given = { .text = run->text, .length = run->length },
                             .set = set_of(run) };
    size_t *taken = bg_calloc(p->link.n + 1, sizeof *taken), *all = bg_calloc(p->link.n + 1, sizeof *all), ntaken = 0,
           n = 0, batch;
    struct trial best = { 0 };
    bool fine = true;

    *text = *why = NULL;
    *length = 0;
    find_link_candidates(&d);
    for (size_t i = 0; i < p->link.n; i++)
        if (p->link.at[i].fate != LINK_STAYS)
            all[n++] = i;
    batch = n;
    for (size_t i = 0; i < n && fine;) {
        size_t many = batch < n - i ? batch : n - i;
        struct trial t;

        memcpy(taken + ntaken, all + i, many * sizeof *taken);
        try_links(&d, taken, ntaken + many, &t);
        if (t.internal) {
            *why = t.internal;
            t.internal = NULL;
            fine = false;
        } else if (!t.failure) {
            trial_free(&d.trier, &best);
            best = t;
            ntaken += many;
            i += many;
            batch *= 2;
            continue;
        } else if (at_once) {
            i = n;
        } else if (many == 1) {
            link_stays(&d, all[i], t.failure);
            i++;
        }
        batch = (many + 1) / 2;
        trial_free(&d.trier, &t);
    }
    if (fine && ntaken && best.plan.edits.list.n) {
        note_blocked(&d, &best.plan);
        *text = best.v.own;
        *length = best.v.length;
        best.v.own = NULL;
    }
    trial_free(&d.trier, &best);
    vec_free(&d.candidate);
    free(d.of_link);
    vec_free(&d.set);
    free(experiment);
    free(taken);
    free(all);
    return fine;
}

/* ---------------------------------------------------------------- what it costs */

struct ran {
    compilation c;
    track track;
    double end;
    bool stopped;
};

static bool
run_text(const recording *r, struct ran *x, void (*failed)(void *ctx, const sources *s), void *ctx)
{
    compile_options co = recording_options(r);
    sim_options so = { 0 };
    sim_result run = { 0 };
    bool fine = compile_text(&x->c, r->path, r->text, r->length, STAGE_MODEL, &co) &&
                sim_options_from_experiment(x->c.model, &so);

    if (fine) {
        if (r->adjust)
            r->adjust(r->ctx, x->c.model, &so);
        x->track.n = model_noutputs(x->c.model);
        x->track.nstates = model_nstates(x->c.model);
        so.track = &x->track;
        so.points = 0;
        fine = simulate(x->c.model, &so, &run);
        x->end = run.t_end;
        x->stopped = run.stopped != NULL;
    }
    if (!fine)
        failed(ctx, x->c.sources);
    sim_options_free(&so);
    sim_result_free(&run);
    return fine;
}

static void
ran_free(struct ran *x)
{
    track_free(&x->track);
    compile_free(&x->c);
}

/* What a track records: outputs, then states. */
struct kept {
    const char *name, *unit;
    const unit *display;
    bool state;
};

/* Does the experiment ask for the output? */
static bool
output_is_asked(const flat_model *f, size_t k)
{
    bool asked = f->experiment.observe.n == 0 || k >= f->output.n;

    for (size_t i = 0; i < f->experiment.observe.n; i++)
        asked |= f->experiment.observe.at[i].output == k;
    return asked;
}

static struct kept
kept(const struct ran *x, size_t k)
{
    const flat_output *o;
    struct model_state s;

    if (k < x->track.n) {
        o = flat_output_at(x->c.flat, k);
        return (struct kept){ o->name, unit_shown(o->unit, o->display), o->display, false };
    }
    s = model_state(x->c.model, k - x->track.n);
    return (struct kept){ s.name, unit_shown(s.unit, s.display), s.display, true };
}

static void
compare_runs_of(const struct ran *a, const struct ran *b, const char *experiment,
                const char *(*renamed)(arena *a, const char *name), arena *mem, run_errors *out)
{
    map at = { 0 }, said = { 0 };

    for (size_t k = b->track.n + b->track.nstates; k-- > 0;) {
        const char *name = kept(b, k).name;

        map_set(&at, bg_hash_bytes(name, strlen(name), 0), (uint32_t)k);
    }
    for (size_t k = 0; k < a->track.n + a->track.nstates; k++) {
        struct kept one = kept(a, k);
        const char *name = renamed ? renamed(mem, one.name) : one.name;
        uint64_t key = bg_hash_bytes(name, strlen(name), 0);
        uint32_t m = map_get(&at, key);
        track_difference e;

        if (m == MAP_NONE || map_get(&said, key) != MAP_NONE)
            continue;
        map_set(&said, key, 1);
        e = track_compare(&a->track, k, &b->track, m);
        vec_push(out, ((run_error){ .experiment = experiment,
                                    .name = arena_strdup(mem, one.name),
                                    .unit = one.unit ? arena_strdup(mem, one.unit) : NULL,
                                    .state = one.state,
                                    .asked = !one.state && output_is_asked(a->c.flat, k),
                                    .shown = one.display ? unit_scale(one.display) : 1,
                                    .max = e.max,
                                    .rms = e.rms,
                                    .stopped = a->stopped || b->stopped,
                                    .end = { a->end, b->end },
                                    .size = track_compare(&a->track, k, NULL, 0).rms }));
    }
    map_free(&at);
    map_free(&said);
}

struct kept_runs {
    size_t n;
    const recording *of;
    struct ran at[];
};

kept_runs *
runs_keep(const recording *r, size_t n, void (*failed)(void *ctx, const sources *s), void *ctx)
{
    kept_runs *k = bg_calloc(1, sizeof *k + n * sizeof *k->at);

    k->n = n;
    k->of = r;
    for (size_t i = 0; i < n; i++)
        if (!run_text(&r[i], &k->at[i], failed, ctx)) {
            runs_free(k);
            return NULL;
        }
    return k;
}

void
runs_free(kept_runs *k)
{
    for (size_t i = 0; k && i < k->n; i++)
        ran_free(&k->at[i]);
    free(k);
}

bool
runs_compare(const kept_runs *before, const recording *after, const char *(*renamed)(arena *a, const char *name),
             arena *a, void (*failed)(void *ctx, const sources *s), void *ctx, run_errors *out)
{
    bool fine = true;

    for (size_t i = 0; i < before->n && fine; i++) {
        struct ran y = { 0 };

        fine = run_text(&after[i], &y, failed, ctx);
        if (fine)
            compare_runs_of(&before->at[i], &y, before->of[i].experiment, renamed, a, out);
        ran_free(&y);
    }
    return fine;
}

bool
compare_runs(const recording *before, const recording *after, size_t n,
             const char *(*renamed)(arena *a, const char *name), arena *a, void (*failed)(void *ctx, const sources *s),
             void *ctx, run_errors *out)
{
    kept_runs *k = runs_keep(before, n, failed, ctx);
    bool fine = k && runs_compare(k, after, renamed, a, failed, ctx, out);

    runs_free(k);
    return fine;
}
