/* bounded_candidates.c - what may go of a text: elements, bonds, terms, zero sources */
#include <math.h>
#include <string.h>

#include "bounded_inside.h"
#include "components.h"
#include "compiled.h"
#include "foretell.h"
#include "in_image.h"
#include "part_errors.h"

static recording *
recordings(const struct search *d)
{
    recording *r = bg_calloc(d->o->nexperiments, sizeof *r);

    for (size_t i = 0; i < d->o->nexperiments; i++)
        r[i] = (recording){ .path = d->trier.path,
                            .text = d->now.text,
                            .length = d->now.length,
                            .experiment = d->o->experiment[i],
                            .set = d->set.at,
                            .nset = d->set.n,
                            .adjust = d->o->adjust,
                            .ctx = d->o->ctx,
                            .shared = d->trier.shared };
    return r;
}

/* A source that adds to a sum, a weight say: without it the sum is one less. One that imposes the variable of its
 * junction is what makes the model run. */
static bool
adds(const flat_model *f, const flat_element *e)
{
    int type = f->junction.at[f->port.at[e->port0].junction].type;

    return (e->type == EL_SE && type == 1) || (e->type == EL_SF && type == 0);
}

/* A source of zero, as the text says it: by this reduction, or by a number. */
static bool
is_zero(const struct search *d, const flat_element *e)
{
    const flat_model *f = d->now.c[0].flat;
    const flat_law *law = is_source(e) ? port_law(f, e->port0) : NULL;

    if (map_get(&d->clamped, bg_hash_bytes(e->name, strlen(e->name), 0)) != MAP_NONE)
        return true;
    for (uint32_t k = 0; law && k < law->def.n; k++)
        if (f->var.at[inst_slots(f, law->def)[k]].kind != VAR_LITERAL)
            return false;
    return law && inst_known(law->def) && model_value(d->now.c[0].model, law->def) == 0;
}

/* What a source of zero imposes is zero at all bonds of its junction, so that each adds nothing at its other end and
 * may go; with the last one the source goes too. */
static int
zero_branches(const struct search *d, const flat_element *e, const bond_candidates *bonds, struct reading *out, int n)
{
    const flat_model *f = d->now.c[0].flat;
    uint32_t j = f->port.at[e->port0].junction;

    for (size_t i = 0; i < bonds->n && n < READINGS_MOST; i++) {
        const bond_candidate *x = &bonds->at[i];
        bond_candidate *kept;

        if (x->bond == UINT32_MAX || (f->bond.at[x->bond].from != j && f->bond.at[x->bond].to != j) ||
            !x->may[BOND_DROP])
            continue;
        kept = arena_new_array(d->out->arena, bond_candidate, 1);
        *kept = *x;
        out[n++] = (struct reading){ .kind = REWRITE_DROP_BOND,
                                     .bond = &kept->change[BOND_DROP],
                                     .why = arena_format(d->out->arena, "the %s that it brings is zero",
                                                         f->junction.at[j].type ? "flow" : "effort") };
    }
    return n;
}

/* Whole components; in[element]: it is part of one, and no candidate by itself. */
static void
find_components(struct search *d, const factor *at, bool *in, candidates *out)
{
    component_list list = { 0 };
    uint32_t *of = components_find(&d->now.c[0], &list);
    double *moved = bg_calloc(list.n + 1, sizeof *moved);

    for (size_t e = 0; e < d->now.c[0].flat->element.n; e++) {
        in[e] = of[e] != UINT32_MAX;
        if (in[e])
            moved[of[e]] += at ? at[e].activity : (double)e;
    }
    for (size_t i = 0; i < list.n; i++) {
        const component *x = &list.at[i];
        struct candidate c = { .name = x->name,
                               .element = UINT32_MAX,
                               .term = UINT32_MAX,
                               .nelements = (uint32_t)x->nelements,
                               .nstorages = (uint32_t)x->nstorages,
                               .line = trial_line(d, x->at),
                               .predicted = moved[i],
                               .nreadings = 1 };

        c.reading[0] = (struct reading){ .kind = REWRITE_ELEMENT };
        if (!x->keep && map_get(&d->kept_names, bg_hash_bytes(x->name, strlen(x->name), 0)) == MAP_NONE)
            vec_push(out, c);
    }
    free(moved);
    free(of);
    vec_free(&list);
}

/* What of a tolerance the text at hand leaves. */
static double
tolerance_left(const struct search *d, const struct bound *b)
{
    return fmax(b->tolerance - version_difference(&d->first, &d->now, b).max / WITHIN, 0);
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

/* Of two readings the one that is predicted to do less comes first; dropping where it costs no more than this, whatever
 * resting does: less text for hardly more error. */
static const double NEGLIGIBLE = 0.05;
/* A second reading that is predicted to miss by more than this is not worth a run. */
static const double DOUBTFUL = 3;

static double
of_reading(const struct reading *r, const part_error *at)
{
    return r->bond ? INFINITY : r->kind == REWRITE_CLAMP ? at->rests : at->dropped;
}

/* Is nothing predicted of any of its readings? */
static bool
is_unforeseen(const struct candidate *x, const part_error *at)
{
    for (int k = 0; x->element != UINT32_MAX && k < x->nreadings; k++)
        if (isfinite(of_reading(&x->reading[k], &at[x->element])))
            return false;
    return true;
}

static void
order_readings(const struct search *d, struct candidate *x, const part_error *at)
{
    for (int k = 0; k < x->nreadings; k++) {
        struct reading *r = &x->reading[k];
        double e = of_reading(r, at);

        if (isfinite(e))
            r->why = arena_format(d->out->arena, "%s%spredicted error %.2g of the tolerance left", r->why ? r->why : "",
                                  r->why ? ", " : "", e);
    }
    if (x->nreadings == 2) {
        const struct reading first = x->reading[0];
        bool drops = first.kind != REWRITE_CLAMP && at->dropped <= NEGLIGIBLE;

        if (!drops && (of_reading(&x->reading[1], at) < of_reading(&first, at) ||
                       (first.kind == REWRITE_CLAMP && at->dropped <= NEGLIGIBLE))) {
            x->reading[0] = x->reading[1];
            x->reading[1] = first;
        }
        if (isfinite(of_reading(&x->reading[1], at)) && of_reading(&x->reading[1], at) > DOUBTFUL)
            x->nreadings = 1;
    }
    x->predicted = of_reading(&x->reading[0], at);
}

/* Errors to first order in place of activities. False: they are not known, and all is left as it was. */
static bool
predict_errors(struct search *d, candidates *list)
{
    compilation *c = in_image_base(d);
    const held_output **of = bg_calloc(d->o->nexperiments, sizeof *of);
    size_t *n = bg_calloc(d->o->nexperiments, sizeof *n);
    held_output *held = held_outputs(d, of, n);
    part_error *at = bg_calloc(d->now.c[0].flat->element.n + 1, sizeof *at);
    part_moves *moves = foretell_workers(d) > 1 ? bg_calloc(d->o->nexperiments, sizeof *moves) : NULL;
    bool known = c != NULL;

    for (size_t i = 0; i < d->o->nexperiments && known; i++) {
        sim_options so = { 0 };

        known = model_nelements(c[i].model) == d->now.c[0].flat->element.n &&
                sim_options_from_experiment(c[i].model, &so);
        if (known && d->o->adjust)
            d->o->adjust(d->o->ctx, c[i].model, &so);
        known = known && part_errors(c[i].model, &so, of[i], n[i], foretell_workers(d), at, moves ? &moves[i] : NULL);
        d->out->simulations++;
        sim_options_free(&so);
    }
    for (size_t i = 0; i < list->n && known; i++) {
        struct candidate *x = &list->at[i];

        x->unforeseen = is_unforeseen(x, at);
        if (!x->unforeseen)
            order_readings(d, x, &at[x->element]);
    }
    if (moves && known)
        together_open(d, moves);
    else
        free(moves);
    free(at);
    free(held);
    free(of);
    free(n);
    return known;
}

static bool
all_foreseen(const candidates *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].unforeseen)
            return false;
    return true;
}

bool
bounded_find_elements(struct search *d, candidates *out)
{
    const flat_model *f = d->now.c[0].flat;
    factor *at = bg_calloc(f->element.n + 1, sizeof *at);
    bg_model **m = bg_calloc(d->o->nexperiments, sizeof *m);
    candidates zero = { 0 };
    bond_candidates bonds = { 0 };
    bool known, predicts, *in = bg_calloc(f->element.n + 1, sizeof *in);

    for (size_t i = 0; i < d->o->nexperiments; i++)
        m[i] = d->now.c[i].model;
    known = predict_factors(m, d->o->nexperiments, foretell_workers(d), d->o->adjust, d->o->ctx, at);

    if (d->o->components)
        find_components(d, known ? at : NULL, in, out);
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];
        struct candidate x = { .element = i,
                               .term = UINT32_MAX,
                               .nelements = 1,
                               .nstorages = e->type == EL_C || e->type == EL_I };

        bool rests = is_zero(d, e);

        if (in[i] || (is_source(e) && !rests && !adds(f, e)) || is_two_port(e) || !e->node || !e->node->nparts ||
            map_get(&d->kept_names, bg_hash_bytes(e->name, strlen(e->name), 0)) != MAP_NONE)
            continue;
        x.name = e->name;
        x.line = trial_line(d, rewrite_place(f, e->parent, ast_node_at(e->node)));
        x.predicted = known ? at[i].activity : (double)i;
        x.nreadings = readings_of(f, e, known ? &at[i] : NULL, d->out->arena, x.reading);
        if (rests && !adds(f, e) && !bonds.n)
            bonds_find(&d->now.c[0], NULL, d->out->arena, &bonds);
        if (rests && !adds(f, e))
            x.nreadings = zero_branches(d, e, &bonds, x.reading, x.nreadings);
        if (rests)
            vec_push(&zero, x);
        else
            vec_push(out, x);
    }
    for (size_t i = 0; i < zero.n && out->n < ALONE_MOST; i++) /* of many, one by one is too dear for what it saves */
        vec_push(out, zero.at[i]);
    vec_free(&zero);
    vec_free(&bonds);
    free(m);
    free(at);
    free(in);
    predicts = out->n > ALONE_MOST && predict_errors(d, out);
    if (out->n > ALONE_MOST && !known && !(predicts && all_foreseen(out)))
        note_not_tried(d, "parts in the order of their powers, which are not all finite along the run: as they are "
                          "declared");
    return predicts;
}

void
bounded_find_bonds(struct search *d, candidates *out)
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
        struct candidate x = { .name = list.at[i].name,
                               .element = UINT32_MAX,
                               .term = UINT32_MAX,
                               .line = trial_line(d, list.at[i].at),
                               .predicted = (double)i };

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

void
bounded_find_terms(struct search *d, candidates *out)
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
        struct candidate c = { .name = x->name,
                               .element = UINT32_MAX,
                               .term = t->term,
                               .line = trial_line(d, x->at),
                               .nreadings = t->nreadings,
                               .mean = t->mean,
                               .predicted = t->predicted };

        memcpy(c.reading, t->reading, (size_t)t->nreadings * sizeof *c.reading);
        vec_push(out, c);
    }
    for (size_t i = 0; i < d->terms.kept.n; i++) {
        const term_kept *k = &d->terms.kept.at[i];

        vec_push(&d->refused,
                 ((reduce_kept){ .name = k->name, .why = k->why, .line = trial_line(d, k->at), .round = d->round }));
    }
    free(held);
    free(of);
    free(n);
    free(r);
}

int
bounded_by_prediction(const void *pa, const void *pb)
{
    const struct candidate *a = *(struct candidate *const *)pa, *b = *(struct candidate *const *)pb;

    if (a->unforeseen != b->unforeseen)
        return a->unforeseen ? 1 : -1;
    if (a->predicted != b->predicted)
        return a->predicted < b->predicted ? -1 : 1;
    return a < b ? -1 : a > b; /* of equals, the first declared */
}
