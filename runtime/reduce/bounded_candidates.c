/* bounded_candidates.c - candidates of a text: elements, bonds, terms, sources of zero */
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

/* Is it a source that adds to a sum, such as a weight? Without it the sum has one term less. A source that imposes the
 * common variable of its junction drives the model instead. */
static bool
adds(const flat_model *f, const flat_element *e)
{
    int type = f->junction.at[f->port.at[e->port0].junction].type;

    return (e->type == EL_SE && type == 1) || (e->type == EL_SF && type == 0);
}

/* Is it a source of zero in the text: made by this reduction, or given as a number? */
static bool
is_zero_source(const struct search *d, const flat_element *e)
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

/* A source of zero makes the common variable of its junction zero, so that each bond there adds nothing at its other
 * end and may be dropped; with the last one the source is dropped too. */
static int
zero_branches(const struct search *d, const flat_element *e, const bond_candidates *bonds, struct reading *out, int n)
{
    const flat_model *f = d->now.c[0].flat;
    uint32_t j = f->port.at[e->port0].junction;

    for (size_t i = 0; i < bonds->n && n < READINGS_MOST; i++) {
        const bond_candidate *x = &bonds->at[i];
        bond_candidate *kept;

        if (x->bond == NONE || (f->bond.at[x->bond].from != j && f->bond.at[x->bond].to != j) || !x->may[BOND_DROP])
            continue;
        kept = arena_new_array(d->out->arena, bond_candidate, 1);
        *kept = *x;
        out[n++] = (struct reading){ .kind = REWRITE_DROP_BOND,
                                     .bond = &kept->change[BOND_DROP],
                                     .why = arena_format(d->out->arena, "the %s that it adds is zero",
                                                         f->junction.at[j].type ? "flow" : "effort") };
    }
    return n;
}

static bool
is_kept_by_name(const struct search *d, const char *name)
{
    return map_get(&d->kept_names, bg_hash_bytes(name, strlen(name), 0)) != MAP_NONE;
}

/* Adds whole components. of[element]: the component that contains it, so that it is no candidate by itself; NULL: none.
 * at NULL: powers are not known. */
static void
add_components(struct search *d, const component_list *list, const uint32_t *of, const factor *at, candidates *out)
{
    double *moved = bg_calloc(list->n + 1, sizeof *moved);

    for (size_t e = 0; e < d->now.c[0].flat->element.n && of; e++)
        if (of[e] != NONE)
            moved[of[e]] += at ? at[e].activity : (double)e;
    for (size_t i = 0; i < list->n; i++) {
        const component *x = &list->at[i];
        struct candidate c = { .name = x->name,
                               .element = NONE,
                               .term = NONE,
                               .nelements = (uint32_t)x->nelements,
                               .nstorages = (uint32_t)x->nstorages,
                               .line = trial_line(d, x->at),
                               .predicted = moved[i],
                               .nreadings = 1 };

        c.reading[0] = (struct reading){ .kind = REWRITE_ELEMENT };
        if (!x->keep && !is_kept_by_name(d, x->name))
            vec_push(out, c);
    }
    free(moved);
}

/* What the present text leaves of a tolerance. */
static double
tolerance_left(const struct search *d, const struct bound *b)
{
    return fmax(b->tolerance - version_difference(&d->first, &d->now, b).max / WITHIN, 0);
}

/* The outputs with a tolerance in each experiment, with what is left of it. Returns all of them in one list. */
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

/* The reading with the smaller predicted error comes first; but dropping comes first whenever its error is below this
 * share of the tolerance, because it makes the text shorter. */
static const double NEGLIGIBLE = 0.05;
/* A second reading with a predicted error above this multiple of the tolerance is not tried. */
static const double DOUBTFUL = 3;

static double
of_reading(const struct reading *r, const part_error *at)
{
    return r->bond ? INFINITY : r->kind == REWRITE_CLAMP ? at->rests : at->dropped;
}

/* Is there a prediction for none of its readings? */
static bool
is_unforeseen(const struct candidate *x, const part_error *at)
{
    for (int k = 0; x->element != NONE && k < x->nreadings; k++)
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

/* Predicted first-order errors, by element. */
struct foreseen {
    part_error *at;
    part_moves *moves; /* by experiment; NULL: not used */
    bool known;
};

static struct foreseen
find_errors(struct search *d)
{
    compilation *c = in_image_base(d);
    size_t most = d->o->nexperiments, *n = bg_calloc(most, sizeof *n), nelements = d->now.c[0].flat->element.n,
           ready = 0;
    const held_output **of = bg_calloc(most, sizeof *of);
    held_output *held = held_outputs(d, of, n);
    sim_options *so = bg_calloc(most, sizeof *so);
    part_run *run = bg_calloc(most, sizeof *run);
    struct foreseen x = { .at = bg_calloc(nelements + 1, sizeof *x.at),
                          .moves = foretell_workers(d) > 1 ? bg_calloc(most, sizeof *x.moves) : NULL };

    while (c && ready < most && model_nelements(c[ready].model) == nelements &&
           sim_options_from_experiment(c[ready].model, &so[ready])) {
        run[ready] = (part_run){ c[ready].model, &so[ready], of[ready], n[ready] };
        if (d->o->adjust)
            d->o->adjust(d->o->ctx, c[ready].model, &so[ready]);
        ready++;
    }
    ready = part_errors(run, ready, foretell_workers(d), x.at, x.moves);
    x.known = c && ready == most;
    d->out->simulations += !c ? 0 : x.known ? most : ready + 1;
    for (size_t i = 0; i < most; i++)
        sim_options_free(&so[i]);
    free(so);
    free(run);
    free(held);
    free(of);
    free(n);
    return x;
}

/* Replaces activities by predicted errors where these are known. */
static void
use_errors(struct search *d, struct foreseen *x, candidates *list)
{
    for (size_t i = 0; i < list->n && x->known; i++) {
        struct candidate *of = &list->at[i];

        of->unforeseen = is_unforeseen(of, x->at);
        if (!of->unforeseen)
            order_readings(d, of, &x->at[of->element]);
    }
    if (x->moves && x->known) {
        together_open(d, x->moves);
    } else {
        for (size_t i = 0; x->moves && i < d->o->nexperiments; i++)
            part_moves_free(&x->moves[i]);
        free(x->moves);
    }
    free(x->at);
}

static bool
all_foreseen(const candidates *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].unforeseen)
            return false;
    return true;
}

/* Is it an element that may be taken out by itself? */
static bool
is_part(const struct search *d, const flat_element *e, bool zero)
{
    return (!is_source(e) || zero || adds(d->now.c[0].flat, e)) && !is_two_port(e) && e->node &&
           ast_node_nparts(e->node) && !is_kept_by_name(d, e->name);
}

/* at NULL: powers are not known. Sources of zero come last, as long as each candidate is tried alone. */
static void
add_element_candidates(struct search *d, const uint32_t *of, const factor *at, candidates *out)
{
    const flat_model *f = d->now.c[0].flat;
    candidates zeros = { 0 };
    bond_candidates bonds = { 0 };

    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];
        struct candidate x = { .element = i,
                               .term = NONE,
                               .nelements = 1,
                               .nstorages = e->type == EL_C || e->type == EL_I };
        bool zero = is_zero_source(d, e);

        if ((of && of[i] != NONE) || !is_part(d, e, zero))
            continue;
        x.name = e->name;
        x.line = trial_line(d, rewrite_place(f, e->parent, ast_node_at(e->node)));
        x.predicted = at ? at[i].activity : (double)i;
        x.nreadings = readings_of(f, e, at ? &at[i] : NULL, d->out->arena, x.reading);
        if (zero && !adds(f, e) && !bonds.n)
            bonds_find(&d->now.c[0], NULL, d->out->arena, &bonds);
        if (zero && !adds(f, e))
            x.nreadings = zero_branches(d, e, &bonds, x.reading, x.nreadings);
        vec_push(zero ? &zeros : out, x);
    }
    /* among many candidates, trying each of them alone costs more than it saves */
    for (size_t i = 0; i < zeros.n && out->n < ALONE_MOST; i++)
        vec_push(out, zeros.at[i]);
    vec_free(&zeros);
    vec_free(&bonds);
}

/* Are there too many candidates to try each alone? */
static bool
are_many(const struct search *d, const component_list *list, const uint32_t *of)
{
    const flat_model *f = d->now.c[0].flat;
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++)
        n += !list->at[i].keep && !is_kept_by_name(d, list->at[i].name);
    for (uint32_t i = 0; i < f->element.n && n <= ALONE_MOST; i++) {
        const flat_element *e = &f->element.at[i];

        n += !(of && of[i] != NONE) && !is_zero_source(d, e) && is_part(d, e, false);
    }
    return n > ALONE_MOST;
}

bool
bounded_find_elements(struct search *d, candidates *out)
{
    factor *at = bg_calloc(d->now.c[0].flat->element.n + 1, sizeof *at);
    component_list list = { 0 };
    uint32_t *of = d->o->components ? components_find(&d->now.c[0], &list) : NULL;
    struct foreseen errors = { 0 };
    bool known, many;

    model_lock(d->now.c[0].model); /* its runs go on */
    many = are_many(d, &list, of);
    model_unlock(d->now.c[0].model);
    trial_record(d, &d->now);
    if (many)
        errors = find_errors(d); /* meanwhile */
    known = factors_end(d->recording, at);
    d->recording = NULL;
    add_components(d, &list, of, known ? at : NULL, out);
    add_element_candidates(d, of, known ? at : NULL, out);
    if (many)
        use_errors(d, &errors, out);
    if (many && !known && !(errors.known && all_foreseen(out)))
        note_not_tried(d, "parts in the order of their powers, since some are not finite: the order of their "
                          "declaration is used");
    vec_free(&list);
    free(of);
    free(at);
    return errors.known;
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
                               .element = NONE,
                               .term = NONE,
                               .line = trial_line(d, list.at[i].at),
                               .predicted = (double)i };

        *kept = list.at[i];
        if ((kept->element != NONE && !is_two_port(&c->flat->element.at[kept->element])) || is_kept_by_name(d, x.name))
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
                               .element = NONE,
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
    return a < b ? -1 : a > b; /* of equal ones the first declared comes first */
}
