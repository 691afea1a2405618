/* bounded.c - the smallest model found whose observed outputs stay within their tolerances
 *
 * A round speaks of one text: its candidates, in order of predicted error, are taken out in batches; what is accepted together is the next text.
 * Elements come before bonds, and these before terms, since a part less saves more than a term less: each is looked at where nothing before it can go.
 */
#include <math.h>
#include <string.h>

#include "bonds.h"
#include "columns.h"
#include "predict.h"
#include "readings.h"
#include "reduce.h"
#include "rewrite_initial.h"
#include "term_candidates.h"

/* Up to so many candidates each is simulated alone to know its error; of more, the activity is the prediction. */
enum { ALONE_MOST = 60 };
/* So many refusals one after another, in order of predicted error, end a round: what follows is predicted to matter more. */
enum { PATIENCE = 300 };
/* Share of the tolerance that counts as within: the rest is for integrators that take other steps. */
static const double WITHIN = 0.99;
/* Where errors are predicted: after so many refusals one after another, what is predicted to be so many times what is left of the tolerance is refused
 * without a run. */
enum { PATIENCE_PREDICTED = 8 };
static const double HOPELESS = 3;

struct version {
    const char *text; size_t length;
    char *own;                               /* the text, where it is not the caller's */
    compilation *c; sim_result *run;         /* one an experiment; NULL: none */
    track *outputs;                          /* of each run those that are held, in the order of d->held */
};

/* An output that is held to a tolerance in one experiment. */
struct bound {
    size_t experiment; uint32_t output;
    size_t slot;                 /* of its experiment's track */
    double stated;               /* SI; INFINITY: not stated */
    double tolerance;            /* what the difference to the model as given may be */
};

struct candidate {
    const char *name;            /* interned in the version at hand: element; else what it is called */
    uint32_t element, term;      /* in that version; UINT32_MAX */
    int line;
    struct reading reading[READINGS_MOST]; int nreadings, chosen;
    double mean;                 /* of a term */
    double predicted;            /* error over tolerance, or an activity */
};

struct verdict {
    bool fine, internal, ran;
    double worst;                /* greatest error over its tolerance */
    const char *why;
    struct version v;
    rewrite plan;
};

struct search {
    const bounded_options *o;
    reduction *out;
    const char *path;
    struct version first, now;
    VEC(struct bound) bound;
    VEC(uint32_t) *held;         /* by experiment: outputs that are held */
    VEC(struct elaborate_override) set;
    map kept_names;              /* hash of an element's name -> 1: some experiment keeps it */
    map clamped;                 /* hash of a name -> 1: a source of zero that this reduction made; where nothing needs it any more, it goes */
    term_candidates terms;       /* of the text at hand, in a round for terms */
    VEC(reduce_kept) refused;    /* alone, in the last round for elements and that for terms */
    size_t *most_steps;
    compile_shared *shared;      /* of all trials */
    int round;
    char *error;                 /* internal */
};

/* ---------------------------------------------------------------- versions */

static void
version_free(const struct search *d, struct version *v)
{
    for (size_t i = 0; v->c && i < d->o->nexperiments; i++) {
        sim_result_free(&v->run[i]);
        track_free(&v->outputs[i]);
        compile_free(&v->c[i]);
    }
    free(v->c);
    free(v->run);
    free(v->outputs);
    free(v->own);
    *v = (struct version){ 0 };
}

/* Takes the text over. */
static void
version_text(struct version *v, strbuf *text)
{
    if (!text->at)
        strbuf_puts(text, "");
    v->text = v->own = text->at;
    v->length = text->n;
    *text = (strbuf){ 0 };
}

/* Outputs of an experiment that are held: observed ones, all where it observes none and a tolerance is asked for. Their numbers are those of every text
 * on the way: outputs do not go. */
static void
find_held(struct search *d, const compilation *c, size_t experiment)
{
    const flat_experiment *e = &c->flat->experiment;

    for (size_t k = 0; k < e->observe.n; k++)
        vec_push(&d->held[experiment], e->observe.at[k].output);
    for (uint32_t k = 0; k < c->flat->output.n && e->observe.n == 0 && d->o->within != WITHIN_STATED; k++)
        vec_push(&d->held[experiment], k);
}

/* Compiles and runs the text in every experiment. NULL, or why it does not. *at: the experiment that it was. */
static const char *
run_version(struct search *d, struct version *v, const struct elaborate_override *set, size_t nset, size_t *at)
{
    size_t n = d->o->nexperiments;
    const char *why = NULL;

    v->c = bg_calloc(n, sizeof *v->c);
    v->run = bg_calloc(n, sizeof *v->run);
    v->outputs = bg_calloc(n, sizeof *v->outputs);
    for (size_t i = 0; i < n && !why; i++) {
        compile_options co = { .experiment = d->o->experiment[i], .set = set, .nset = nset, .shared = d->shared };
        compilation *c = &v->c[i];
        sim_options so = { 0 };

        *at = i;
        if (!compile_text(c, d->path, v->text, v->length, STAGE_MODEL, &co)) {
            why = arena_strdup(d->out->arena, diag_first_error(c->sources));
            continue;
        }
        if (sim_options_from_experiment(c->model, &so)) {
            if (!d->held[i].n)
                find_held(d, c, i);
            v->outputs[i].which = d->held[i].at;
            v->outputs[i].n = d->held[i].n;
            so.track = &v->outputs[i];
            if (d->o->adjust)
                d->o->adjust(d->o->ctx, c->model, &so);
            if (d->most_steps)
                so.max_steps = d->most_steps[i];
            if (!simulate(c->model, &so, &v->run[i]))
                why = arena_strdup(d->out->arena, diag_first_error(c->sources));
            d->out->simulations++;
        } else {
            why = arena_strdup(d->out->arena, diag_first_error(c->sources));
        }
        sim_options_free(&so);
    }
    return why;
}

/* Greatest difference of an output of two versions. */
static track_difference
difference(const struct version *a, const struct version *b, const struct bound *x)
{
    return track_compare(&a->outputs[x->experiment], x->slot, &b->outputs[x->experiment], x->slot);
}

static int
line_of(const struct search *d, span at)
{
    int line = 0, unused;

    if (span_known(at))
        source_place(d->first.c[0].sources, d->first.c[0].ast->file, (uint32_t)reduction_origin(d->out, at.begin), &line, &unused);
    return line;
}

static double over(double error, double tolerance) { return error <= 0 ? 0 : error <= INFINITY && tolerance > 0 ? error / tolerance : INFINITY; }

/* ---------------------------------------------------------------- tolerances */

static double
greatest(const struct version *v, const struct bound *x)
{
    return track_compare(&v->outputs[x->experiment], x->slot, NULL, 0).max;
}

/* Is the output of that unit's kind? Without a unit, any is. */
static bool
is_of_unit(const compilation *c, const flat_output *y, const char *written)
{
    const char *why;
    const unit *u = written ? unit_parse(c->units, written, &why) : NULL;

    return !written || (u && (y->unit ? unit_dimension(u) == unit_dimension(y->unit) : unit_is_number(u)));
}

/* By what was asked for and by what the experiment states, the smaller. */
static double
tolerance(const struct search *d, const struct version *v, const struct bound *x)
{
    const compilation *c = &v->c[x->experiment];
    const flat_output *y = &c->flat->output.at[x->output];

    if (d->o->within == WITHIN_SHARE)
        return fmin(x->stated, d->o->tolerance * greatest(v, x));
    return d->o->within == WITHIN_VALUE && is_of_unit(c, y, d->o->unit) ? fmin(x->stated, d->o->tolerance) : x->stated;
}

/* A tolerance in a unit must be of some output's kind; and something must be held. */
static char *
check_tolerances(const struct search *d)
{
    bool of_unit = d->o->within != WITHIN_VALUE, held = false;

    for (size_t i = 0; i < d->bound.n; i++) {
        const compilation *c = &d->first.c[d->bound.at[i].experiment];

        held |= d->bound.at[i].tolerance < INFINITY;
        of_unit = of_unit || is_of_unit(c, &c->flat->output.at[d->bound.at[i].output], d->o->unit);
    }
    if (!of_unit)
        return bg_format("no observed output is in [%s]", d->o->unit);
    return held ? NULL : bg_strdup("no output is held to a tolerance");
}

static void
find_bounds(struct search *d)
{
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        const compilation *c = &d->first.c[i];
        const flat_experiment *e = &c->flat->experiment;

        for (size_t k = 0; k < d->held[i].n; k++) {
            struct bound b = { .experiment = i, .output = d->held[i].at[k], .slot = k, .stated = INFINITY };

            if (k < e->observe.n && inst_known(e->observe.at[k].within))
                b.stated = model_value(c->model, e->observe.at[k].within);
            vec_push(&d->bound, b);
        }
    }
    for (size_t i = 0; i < d->bound.n; i++)
        d->bound.at[i].tolerance = tolerance(d, &d->first, &d->bound.at[i]);
}

/* ---------------------------------------------------------------- trying */

static void
verdict_free(const struct search *d, struct verdict *x)
{
    version_free(d, &x->v);
    rewrite_free(&x->plan);
}

/* The graph of the new text must be the old one's after the plan's operations. */
static char *
check_graph(const struct search *d, const struct version *v, const rewrite *plan, const struct elaborate_override *set, size_t nset)
{
    compile_options before = { .experiment = d->o->experiment[0], .set = d->set.at, .nset = d->set.n, .shared = d->shared };
    compile_options after = { .experiment = d->o->experiment[0], .set = set, .nset = nset, .shared = d->shared };

    return reduction_check(d->path, d->now.text, d->now.length, &before, plan, v->text, v->length, &after);
}

/* The plan for a set of candidates, without the initial values that contradict what is left. False: internal. */
static bool
make_plan(struct search *d, struct candidate *const *set, size_t n, const rewrite_changes *initial, rewrite *plan)
{
    const compilation *c = &d->now.c[0];
    arena *a = arena_new();
    const char **name = arena_new_array(a, const char *, n + 1);
    rewrite_change *change = arena_new_array(a, rewrite_change, n + 1);
    enum term_change *what = arena_new_array(a, enum term_change, d->terms.terms.term.n + 1);
    double *mean = arena_new_array(a, double, d->terms.terms.term.n + 1);
    rewrite_bond *bond = arena_new_array(a, rewrite_bond, n + 1);
    size_t nnames = 0, nchanges = 0, nbonds = 0;
    bool fine, any_term = false;

    for (size_t i = 0; i < n; i++) {
        const struct candidate *x = set[i];
        enum rewrite_kind kind = x->reading[x->chosen].kind;

        if (x->term != UINT32_MAX) {
            what[x->term] = kind == REWRITE_TERM_MEAN ? TERM_MEAN : TERM_DELETED;
            mean[x->term] = x->mean;
            any_term = true;
        } else if (x->reading[x->chosen].bond) {
            bond[nbonds++] = *x->reading[x->chosen].bond;
        } else if (kind == REWRITE_CLAMP) {
            change[nchanges++] = (rewrite_change){ .kind = REWRITE_CLAMP, .owner = x->name, .name = x->name };
        } else {
            name[nnames++] = x->name;
        }
    }
    if (any_term)
        nchanges = terms_changes(&d->terms.terms, what, mean, a, &change);
    if (initial->n) {
        rewrite_change *all = arena_new_array(a, rewrite_change, nchanges + initial->n);

        memcpy(all, change, nchanges * sizeof *all);
        memcpy(all + nchanges, initial->at, initial->n * sizeof *all);
        change = all;
        nchanges += initial->n;
    }
    fine = rewrite_plan_bonds(c->flat, c->ast, name, nnames, change, nchanges, bond, nbonds, plan);
    for (size_t i = 0; i < plan->item.n; i++)            /* the arena goes */
        plan->item.at[i].name = arena_strdup(d->out->arena, plan->item.at[i].name);
    if (!fine)
        d->error = bg_strdup(plan->error ? plan->error : "unknown");
    arena_free(a);
    return fine;
}

static void
measure_verdict(struct search *d, struct verdict *x)
{
    arena *a = d->out->arena;

    for (size_t i = 0; i < d->bound.n; i++) {
        const struct bound *b = &d->bound.at[i];
        double e = difference(&d->first, &x->v, b).max, r = over(e, b->tolerance);

        if (r > x->worst || isnan(x->worst)) {
            const flat_output *y = &d->first.c[b->experiment].flat->output.at[b->output];
            const char *shown = unit_shown(y->unit, y->display);
            double scale = y->display ? unit_scale(y->display) : 1;

            x->worst = r;
            if (r > WITHIN)
                x->why = arena_format(a, "error of %s in %s would be %.3g%s%s%s, %.3g may be", y->name, d->o->experiment[b->experiment], e / scale,
                                      shown ? " [" : "", shown ? shown : "", shown ? "]" : "", b->tolerance / scale);
        }
    }
}

/* As try_set, with what contradicts itself at the start left out. *more: further such values were found, so that another try may do. */
static struct verdict
try_stated(struct search *d, struct candidate *const *set, size_t n, rewrite_changes *initial, bool *more)
{
    arena *a = d->out->arena;
    struct verdict x = { .worst = NAN };
    struct elaborate_override *over_set = bg_calloc(d->set.n + 1, sizeof *over_set);
    strbuf text = { 0 };
    size_t nset, at;
    const char *why;

    *more = false;
    if (!make_plan(d, set, n, initial, &x.plan)) {
        x.internal = true;
    } else if (x.plan.edits.list.n == 0) {
        const rewrite_block *b = x.plan.blocked.n ? &x.plan.blocked.at[0] : NULL;

        x.why = b ? arena_format(a, "%s (line %d)", b->why, line_of(d, b->reader)) : "nothing of the text says it alone";
    } else {
        edits_apply(&x.plan.edits, d->now.text, d->now.length, &text);
        version_text(&x.v, &text);
        nset = reduction_remaining(d->set.at, d->set.n, &x.plan, over_set);
        why = run_version(d, &x.v, over_set, nset, &at);
        if (why) {
            x.why = arena_format(a, "%s: %s", x.v.c[at].model ? "the run fails" : "it does not compile", why);
            *more = x.v.c[at].model && rewrite_contradicted(&x.v.c[at], &x.plan.edits, &d->now.c[0], a, initial) > 0;
        } else {
            x.ran = true;
            measure_verdict(d, &x);
            x.fine = x.worst <= WITHIN;
            if (x.fine && (d->error = check_graph(d, &x.v, &x.plan, over_set, nset)))
                x.internal = true, x.fine = false;
        }
    }
    free(over_set);
    strbuf_free(&text);
    return x;
}

/* Takes a set out of the text at hand, compiles, runs and measures. */
static struct verdict
try_set(struct search *d, struct candidate *const *set, size_t n)
{
    rewrite_changes initial = { 0 };
    struct verdict x;
    bool more;

    for (;;) {
        x = try_stated(d, set, n, &initial, &more);
        if (!more)
            break;
        verdict_free(d, &x);
    }
    vec_free(&initial);
    return x;
}

static const char *
shown_name(const struct search *d, const struct candidate *x)
{
    enum rewrite_kind k = x->reading[x->chosen].kind;

    return arena_format(d->out->arena, "%s (%s)", x->name, rewrite_kind_name(k));
}

/* Why a candidate stays: for each of its readings. */
static void
note_refusal(struct search *d, const struct candidate *x, const struct verdict *v)
{
    arena *a = d->out->arena;
    const char *why = x->nreadings > 1 ? arena_format(a, "%s: %s", rewrite_kind_name(x->reading[x->chosen].kind), v->why) : v->why;
    reduce_kept *last = d->refused.n ? &d->refused.at[d->refused.n - 1] : NULL;

    if (last && !strcmp(last->name, x->name) && last->line == x->line)
        last->why = arena_format(a, "%s; %s", last->why, why);
    else
        vec_push(&d->refused, ((reduce_kept){ .name = arena_strdup(a, x->name), .why = why, .line = x->line, .round = d->round }));
}

static void
note_trial(struct search *d, struct candidate *const *set, size_t n, const struct verdict *x)
{
    arena *a = d->out->arena;
    reduce_trial t = { .round = d->round, .n = n, .accepted = x->fine, .worst = x->worst, .why = x->fine ? NULL : x->why };

    t.names = n == 1 ? shown_name(d, set[0]) : n == 2 ? arena_format(a, "%s, %s", shown_name(d, set[0]), shown_name(d, set[1]))
        : arena_format(a, "%s, %s and %zu more", shown_name(d, set[0]), shown_name(d, set[1]), n - 2);
    vec_push(&d->out->trial, t);
    if (n == 1 && !x->fine)
        note_refusal(d, set[0], x);
}

/* One candidate alone: its readings in their order until one will do. */
static struct verdict
try_alone(struct search *d, struct candidate *x)
{
    struct verdict v = { 0 };

    for (x->chosen = 0;; x->chosen++) {
        v = try_set(d, &x, 1);
        if (v.internal)
            return v;
        note_trial(d, &x, 1, &v);
        if (v.fine || x->chosen + 1 == x->nreadings)
            return v;
        verdict_free(d, &v);
    }
}

/* ---------------------------------------------------------------- candidates */

static recording *
recordings(const struct search *d)
{
    recording *r = bg_calloc(d->o->nexperiments, sizeof *r);

    for (size_t i = 0; i < d->o->nexperiments; i++)
        r[i] = (recording){ .path = d->path, .text = d->now.text, .length = d->now.length, .experiment = d->o->experiment[i],
                            .set = d->set.at, .nset = d->set.n, .adjust = d->o->adjust, .ctx = d->o->ctx };
    return r;
}

typedef VEC(struct candidate) candidates;

static void
find_elements(struct search *d, candidates *out)
{
    const flat_model *f = d->now.c[0].flat;
    factor *at = bg_calloc(f->element.n + 1, sizeof *at);
    bg_model **m = bg_calloc(d->o->nexperiments, sizeof *m);
    candidates zero = { 0 };
    bool known;

    for (size_t i = 0; i < d->o->nexperiments; i++)
        m[i] = d->now.c[i].model;
    known = predict_factors(m, d->o->nexperiments, d->o->adjust, d->o->ctx, at);

    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];
        struct candidate x = { .element = i, .term = UINT32_MAX };

        bool rests = map_get(&d->clamped, bg_hash_bytes(e->name, strlen(e->name), 0)) != MAP_NONE;

        if ((is_source(e) && !rests) || is_two_port(e) || !e->node || !e->node->ref.nparts ||
            map_get(&d->kept_names, bg_hash_bytes(e->name, strlen(e->name), 0)) != MAP_NONE)
            continue;
        x.name = e->name;
        x.line = line_of(d, rewrite_place(f, e->parent, e->node->at));
        x.predicted = known ? at[i].activity : (double)i;
        x.nreadings = readings_of(f, e, known ? &at[i] : NULL, d->out->arena, x.reading);
        if (rests)
            vec_push(&zero, x);
        else
            vec_push(out, x);
    }
    for (size_t i = 0; i < zero.n && out->n < ALONE_MOST; i++)       /* of many, one by one is too dear for what it saves */
        vec_push(out, zero.at[i]);
    vec_free(&zero);
    free(m);
    free(at);
}

/* Bonds between junctions and two-ports: dropped, or made one-way. */
static void
find_bonds(struct search *d, candidates *out)
{
    const compilation *c = &d->now.c[0];
    recording *r = recordings(d);
    bond_measure m;
    bond_candidates list = { 0 };

    if (bonds_measure(c->flat, r, d->o->nexperiments, METRIC_JUNCTION, 0, &m))
        bonds_find(c, &m, d->out->arena, &list);
    bonds_sort(&list);
    for (size_t i = 0; i < list.n; i++) {
        bond_candidate *kept = arena_new_array(d->out->arena, bond_candidate, 1);
        struct candidate x = { .name = list.at[i].name, .element = UINT32_MAX, .term = UINT32_MAX, .line = line_of(d, list.at[i].at), .predicted = (double)i };

        *kept = list.at[i];
        if ((kept->element != UINT32_MAX && !is_two_port(&c->flat->element.at[kept->element])) ||
            map_get(&d->kept_names, bg_hash_bytes(x.name, strlen(x.name), 0)) != MAP_NONE)
            continue;
        x.nreadings = bonds_all_readings(kept, d->out->arena, x.reading);
        vec_push(out, x);
    }
    vec_free(&list);
    bond_measure_free(&m);
    free(r);
}

/* What of a tolerance the text at hand leaves. */
static double
tolerance_left(const struct search *d, const struct bound *b)
{
    return fmax(b->tolerance - difference(&d->first, &d->now, b).max / WITHIN, 0);
}

/* The outputs that are held in each experiment, by what is left of their tolerances. Returns them all in one list. */
static held_output *
held_outputs(const struct search *d, const held_output **of, size_t *n)
{
    held_output *list = bg_calloc(d->bound.n + 1, sizeof *list), *next = list;

    for (size_t x = 0; x < d->o->nexperiments; x++) {
        of[x] = next;
        for (size_t i = 0; i < d->bound.n; i++)
            if (d->bound.at[i].experiment == x && d->bound.at[i].tolerance < INFINITY)
                *next++ = (held_output){ d->bound.at[i].output, tolerance_left(d, &d->bound.at[i]) };
        n[x] = (size_t)(next - of[x]);
    }
    return list;
}

static void
find_terms(struct search *d, candidates *out)
{
    recording *r = recordings(d);
    const held_output **of = bg_calloc(d->o->nexperiments, sizeof *of);
    size_t *n = bg_calloc(d->o->nexperiments, sizeof *n);
    held_output *held = held_outputs(d, of, n);

    term_candidates_free(&d->terms);
    term_candidates_find(&d->now.c[0], r, d->o->nexperiments, of, n, d->out->arena, &d->terms);
    d->out->simulations += d->terms.simulations;
    for (size_t i = 0; i < d->terms.list.n; i++) {
        const term_candidate *t = &d->terms.list.at[i];
        const term *x = &d->terms.terms.term.at[t->term];
        struct candidate c = { .name = x->name, .element = UINT32_MAX, .term = t->term, .line = line_of(d, x->at), .nreadings = t->nreadings,
                               .mean = t->mean, .predicted = t->predicted };

        memcpy(c.reading, t->reading, (size_t)t->nreadings * sizeof *c.reading);
        vec_push(out, c);
    }
    for (size_t i = 0; i < d->terms.kept.n; i++) {
        const term_kept *k = &d->terms.kept.at[i];

        vec_push(&d->refused, ((reduce_kept){ .name = k->name, .why = k->why, .line = line_of(d, k->at), .round = d->round }));
    }
    free(held);
    free(of);
    free(n);
    free(r);
}

static int
by_prediction(const void *pa, const void *pb)
{
    const struct candidate *a = *(struct candidate *const *)pa, *b = *(struct candidate *const *)pb;

    if (a->predicted != b->predicted)
        return a->predicted < b->predicted ? -1 : 1;
    return a < b ? -1 : a > b;           /* of equals, the first declared */
}

/* ---------------------------------------------------------------- rounds */

/* batch: the first. predicts: the candidates' errors, over what was left of the tolerances when the round began, were predicted, not measured. */
struct order { VEC(struct candidate *) at; size_t batch; bool predicts; };

/* From the i-th on, as many as should go together if errors add up to what is left. */
static size_t
fitting(const struct order *o, size_t i, double left)
{
    size_t n = 0;

    while (i + n < o->at.n && (left -= o->at.at[i + n]->predicted) >= 0)
        n++;
    return n;
}

/* To three digits: what differs by the integrator's error alone is equal, and then the order of declaration decides. */
static double
to_three_digits(double x)
{
    double power = x > 0 && isfinite(x) ? pow(10, floor(log10(x)) - 2) : 0;

    return power > 0 ? round(x / power) * power : x;
}

/* Each candidate alone: those that fail are out of this round. The first batch is what should go together if errors add up. */
static bool
order_by_error(struct search *d, candidates *list, struct order *o)
{
    for (size_t i = 0; i < list->n; i++) {
        struct candidate *x = &list->at[i];
        struct verdict v = try_alone(d, x);
        bool internal = v.internal;

        x->predicted = to_three_digits(v.worst);
        if (v.fine)
            vec_push(&o->at, x);
        verdict_free(d, &v);
        if (internal)
            return false;
    }
    if (o->at.n)
        qsort(o->at.at, o->at.n, sizeof *o->at.at, by_prediction);
    o->batch = fitting(o, 0, 1);
    return true;
}

static void
order_by_prediction(candidates *list, bool predicts, struct order *o)
{
    for (size_t i = 0; i < list->n; i++)
        vec_push(&o->at, &list->at[i]);
    if (o->at.n)
        qsort(o->at.at, o->at.n, sizeof *o->at.at, by_prediction);
    o->predicts = predicts;
    o->batch = predicts ? fitting(o, 0, 1) : 1;
}

/* What is left of the order is predicted to need far more than is left of the tolerances, and what was predicted to do better did not do: no run is
 * spent on it. */
static bool
is_hopeless(const struct order *o, size_t i, size_t refused, double left)
{
    return o->predicts && refused >= PATIENCE_PREDICTED && o->at.at[i]->predicted > HOPELESS * left;
}

/* The greatest error of the text at hand over its tolerance. */
static double
worst_so_far(const struct search *d)
{
    double most = 0;

    for (size_t i = 0; i < d->bound.n; i++)
        most = fmax(most, over(difference(&d->first, &d->now, &d->bound.at[i]).max, d->bound.at[i].tolerance));
    return most;
}

static void
refuse_rest(struct search *d, const struct order *o, size_t i)
{
    for (; i < o->at.n; i++) {
        const struct candidate *x = o->at.at[i];

        vec_push(&d->refused, ((reduce_kept){ .name = arena_strdup(d->out->arena, x->name), .why = x->reading[0].why, .line = x->line, .round = d->round }));
    }
}

/* Takes out as much of the ordered candidates as will go. *best: the last that was accepted, of *n candidates at the head of *taken. */
static bool
take_batches(struct search *d, const struct order *o, struct candidate **taken, size_t *n, struct verdict *best)
{
    size_t batch = o->batch ? o->batch : 1, refused = 0;
    double begun = o->predicts ? worst_so_far(d) : 0, left = 1;

    for (size_t i = 0; i < o->at.n && refused < PATIENCE;) {
        struct verdict v;

        if (is_hopeless(o, i, refused, left)) {
            refuse_rest(d, o, i);
            break;
        }
        batch = batch < o->at.n - i ? batch : o->at.n - i;
        memcpy(taken + *n, o->at.at + i, batch * sizeof *taken);
        for (int reading = 0;; reading++) {
            struct candidate *x = taken[*n];

            v = try_set(d, taken, *n + batch);
            if (v.internal) {
                verdict_free(d, &v);
                return false;
            }
            if (*n == 0 || v.fine)
                note_trial(d, taken, *n + batch, &v);
            else
                note_trial(d, taken + *n, batch, &v);
            if (v.fine || batch > 1 || x->chosen + 1 >= x->nreadings)
                break;
            verdict_free(d, &v);
            x->chosen++;
        }
        if (v.fine) {
            verdict_free(d, best);
            *best = v;
            *n += batch;
            i += batch;
            left = begun < 1 ? (1 - v.worst) / (1 - begun) : 0;
            batch = !o->predicts ? batch * 2 : fitting(o, i, left) > 1 ? fitting(o, i, left) : 1;
            refused = 0;
        } else {
            verdict_free(d, &v);
            if (batch == 1) {
                i++;
                refused++;
            }
            batch = (batch + 1) / 2;
        }
    }
    return true;
}

static const char *
why_taken(struct candidate *const *taken, size_t n, const rewrite_item *item)
{
    for (size_t i = 0; i < n; i++) {
        const struct reading *r = &taken[i]->reading[taken[i]->chosen];

        if (r->kind == item->kind && !strcmp(taken[i]->name, item->name))
            return r->why;
    }
    return NULL;
}

/* Trials may take as many steps as a version allows, at least: so reducing the result again, which then is the first, refuses nothing less. */
static void
allow_steps(struct search *d, const struct version *v)
{
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        size_t most = reduction_steps(v->run[i].steps);

        if (most > d->most_steps[i])
            d->most_steps[i] = most;
    }
}

/* The accepted text becomes the one at hand. */
static void
commit(struct search *d, struct candidate *const *taken, size_t n, struct verdict *best)
{
    reduction *r = d->out;
    struct elaborate_override *left = bg_calloc(d->set.n + 1, sizeof *left);
    size_t nleft = reduction_remaining(d->set.at, d->set.n, &best->plan, left);

    for (size_t i = 0; i < best->plan.item.n; i++) {
        const rewrite_item *x = &best->plan.item.at[i];

        if (x->kind == REWRITE_CLAMP)
            map_set(&d->clamped, bg_hash_bytes(x->name, strlen(x->name), 0), 1);
        const char *said = reduction_said(r->arena, d->now.c[0].sources, x);

        vec_push(&r->operation, ((reduce_operation){ .kind = x->kind, .name = x->name, .line = line_of(d, x->at), .round = (int)r->rounds.n + 1,
                                                     .why = said ? said : why_taken(taken, n, x) }));
    }
    reduction_name_edits(r, d->first.c[0].sources, d->first.c[0].ast->file, &best->plan.edits);
    vec_push(&r->rounds, best->plan.edits);
    best->plan.edits = (edits){ 0 };
    for (size_t i = 0; i < nleft; i++)
        d->set.at[i] = left[i];
    d->set.n = nleft;
    free(left);
    if (d->now.c != d->first.c)
        version_free(d, &d->now);
    d->now = best->v;
    best->v = (struct version){ 0 };
    allow_steps(d, &d->now);
}

enum step { STEP_CHANGED, STEP_NOTHING, STEP_INTERNAL };
enum subject { OF_ELEMENTS, OF_BONDS, OF_TERMS };

static enum step
do_round(struct search *d, enum subject what)
{
    candidates list = { 0 };
    struct order o = { .batch = 1 };
    struct verdict best = { 0 };
    struct candidate **taken;
    size_t n = 0;
    bool fine = true;

    d->round++;
    if (what == OF_TERMS)
        find_terms(d, &list);
    else if (what == OF_BONDS)
        find_bonds(d, &list);
    else
        find_elements(d, &list);
    if (what == OF_TERMS || list.n > ALONE_MOST)
        order_by_prediction(&list, what == OF_TERMS && d->terms.predicts, &o);
    else
        fine = order_by_error(d, &list, &o);
    taken = bg_calloc(list.n + 1, sizeof *taken);
    fine = fine && take_batches(d, &o, taken, &n, &best);
    if (fine && n)
        commit(d, taken, n, &best);
    verdict_free(d, &best);
    term_candidates_free(&d->terms);
    vec_free(&o.at);
    vec_free(&list);
    free(taken);
    return !fine ? STEP_INTERNAL : n ? STEP_CHANGED : STEP_NOTHING;
}

/* Elements until none goes, then bonds, then terms; after one of these went, elements again. */
static bool
search_all(struct search *d)
{
    for (;;) {
        enum step step;

        do {
            d->refused.n = 0;
            step = do_round(d, OF_ELEMENTS);
        } while (step == STEP_CHANGED);
        if (step == STEP_NOTHING && d->o->bonds)
            step = do_round(d, OF_BONDS);
        if (step == STEP_NOTHING && d->o->terms)
            step = do_round(d, OF_TERMS);
        if (step == STEP_INTERNAL)
            return false;
        if (step == STEP_NOTHING)
            break;
    }
    for (size_t i = 0; i < d->refused.n; i++)
        vec_push(&d->out->kept, d->refused.at[i]);
    return true;
}

/* ---------------------------------------------------------------- all of it */

static void
measure_result(struct search *d)
{
    reduction *r = d->out;

    for (size_t i = 0; i < d->bound.n; i++) {
        const struct bound *b = &d->bound.at[i];
        const flat_output *y = &d->first.c[b->experiment].flat->output.at[b->output];
        track_difference t = difference(&d->first, &d->now, b);
        const char *shown = unit_shown(y->unit, y->display);
        double of = b->tolerance < INFINITY ? b->tolerance : 0.01 * t.reference;

        vec_push(&r->error, ((reduce_error){
            .experiment = arena_strdup(r->arena, d->o->experiment[b->experiment]), .output = arena_strdup(r->arena, y->name),
            .unit = shown ? arena_strdup(r->arena, shown) : NULL, .shown = y->display ? unit_scale(y->display) : 1, .max = t.max, .rms = t.rms,
            .within = b->tolerance < INFINITY ? b->tolerance : NAN, .avasim = of > 0 ? 1 - t.mean / of : t.mean == 0 ? 1 : NAN }));
    }
    r->states_before = model_nstates(d->first.c[0].model);
    r->states_after = model_nstates(d->now.c[0].model);
    r->elements_before = d->first.c[0].flat->element.n;
    r->elements_after = d->now.c[0].flat->element.n;
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        r->steps_before += d->first.run[i].steps;
        r->steps_after += d->now.run[i].steps;
        r->evaluations_before += d->first.run[i].rhs_evaluations;
        r->evaluations_after += d->now.run[i].rhs_evaluations;
    }
}

static void
begin(struct search *d)
{
    d->now = d->first;
    find_bounds(d);
    d->most_steps = bg_calloc(d->o->nexperiments, sizeof *d->most_steps);
    allow_steps(d, &d->first);
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        const flat_model *f = d->first.c[i].flat;

        for (size_t k = 0; k < f->element.n; k++)
            if (f->element.at[k].keep)
                map_set(&d->kept_names, bg_hash_bytes(f->element.at[k].name, strlen(f->element.at[k].name), 0), 1);
    }
}

enum reduce_result
reduce_within(const char *path, const char *text, size_t length, const bounded_options *o, reduction *out, char **why)
{
    struct search d = { .o = o, .out = out, .path = path, .first = { .text = text, .length = length },
                        .held = bg_calloc(o->nexperiments + 1, sizeof *d.held), .shared = compile_shared_new() };
    enum reduce_result result = REDUCE_DONE;
    size_t at = 0;

    memset(out, 0, sizeof *out);
    *why = NULL;
    out->arena = arena_new();
    out->kept_share = NAN;
    for (size_t i = 0; i < o->nset; i++)
        vec_push(&d.set, o->set[i]);
    if (run_version(&d, &d.first, d.set.at, d.set.n, &at)) {
        if (o->failed)
            o->failed(o->ctx, d.first.c[at].sources);
        result = REDUCE_FAILED;
    } else {
        out->model = arena_strdup(out->arena, d.first.c[0].flat->name);
        begin(&d);
        if ((d.error = check_tolerances(&d)))
            result = REDUCE_NO_TOLERANCE;
        else if (!search_all(&d))
            result = REDUCE_INTERNAL;
        if (d.error && result == REDUCE_DONE)
            result = REDUCE_INTERNAL;
        out->text = bg_malloc(d.now.length + 1);
        memcpy(out->text, d.now.text, d.now.length);
        out->text[d.now.length] = '\0';
        out->length = d.now.length;
        measure_result(&d);
        if (d.now.c != d.first.c)
            version_free(&d, &d.now);
    }
    *why = d.error;
    version_free(&d, &d.first);
    vec_free(&d.bound);
    for (size_t i = 0; i < o->nexperiments; i++)
        vec_free(&d.held[i]);
    free(d.held);
    vec_free(&d.refused);
    vec_free(&d.set);
    map_free(&d.kept_names);
    map_free(&d.clamped);
    term_candidates_free(&d.terms);
    free(d.most_steps);
    compile_shared_free(d.shared);
    return result;
}
