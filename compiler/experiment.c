/* experiment.c - the experiment's items, and what is set from outside
 *
 * `let` and --set replace the text's values before these are made; the rest is resolved once the model stands.
 * Expressions here read parameters and constants; `let` of an input may read time.
 */
#include <string.h>

#include "elab.h"

/* ---------------------------------------------------------------- which model, which experiment */

static const char *
nearest_decl(const elab *el, enum ast_decl_kind kind, const char *wrong)
{
    const char **list, *near;
    size_t n = 0;

    if (errors_are_many(el))
        return NULL;
    list = bg_calloc(el->file->ndecls, sizeof *list);
    for (size_t k = 0; k < el->file->ndecls; k++) {
        const ast_decl *d = &el->file->decl[k];

        if (d->kind == kind)
            list[n++] = kind == AST_DECL_MODEL ? d->model->name : d->experiment->name;
    }
    near = nearest_name(wrong, list, n);
    if (!near && n == 1)
        near = list[0];
    free(list);
    return near;
}

static const ast_model *
find_model(const elab *el, const char *name)
{
    uint32_t at = map_get(&el->models, map_ptr_key(name));

    return at == MAP_NONE ? NULL : el->file->decl[at].model;
}

void
check_experiments(elab *el)
{
    for (size_t k = 0; k < el->file->ndecls; k++) {
        const ast_experiment *x = el->file->decl[k].experiment;
        const char *near;

        if (el->file->decl[k].kind != AST_DECL_EXPERIMENT || find_model(el, x->model))
            continue;
        diag_error(el->s, "experiment-model", x->model_at, "no model is called \"%s\"", x->model);
        near = nearest_decl(el, AST_DECL_MODEL, x->model);
        if (near)
            diag_help(el->s, "Did you mean \"%s\"?", near);
    }
}

static bool
is_component(const ast_model *m)
{
    for (int k = 0; k < m->nstmt; k++)
        if (m->stmt[k]->kind == AST_STMT_PORT)
            return true;
    return false;
}

/* Without an experiment: the first model that is no component, else the first. */
static const ast_model *
first_model(const elab *el)
{
    const ast_model *first = NULL;

    for (size_t k = 0; k < el->file->ndecls; k++) {
        if (el->file->decl[k].kind != AST_DECL_MODEL)
            continue;
        if (!is_component(el->file->decl[k].model))
            return el->file->decl[k].model;
        if (!first)
            first = el->file->decl[k].model;
    }
    return first;
}

bool
choose_model(elab *el, const ast_model **model)
{
    const char *name = el->opt->experiment, *near;
    uint32_t at;

    if (!name) {
        *model = first_model(el);
        if (!*model && diag_errors(el->s) == el->errors_before)
            diag_error(el->s, "model-missing", (span){ el->file->file, 0, 0 }, "this file has no model");
        return *model != NULL;
    }
    at = map_get(&el->experiments, map_ptr_key(names_intern_z(el->names, name)));
    if (at == MAP_NONE) {
        diag_error(el->s, "experiment-unknown", SPAN_NONE, "no experiment is called \"%s\"", name);
        near = nearest_decl(el, AST_DECL_EXPERIMENT, name);
        if (near)
            diag_help(el->s, "Did you mean \"%s\"?", near);
        return false;
    }
    el->experiment = el->file->decl[at].experiment;
    *model = find_model(el, el->experiment->model);
    return *model != NULL;
}

/* ---------------------------------------------------------------- let and --set */

static const char *
said_by(elab *el, const char *name, span at)
{
    return span_known(at) ? "let" : arena_format(el->a, "--set %s", name);
}

static void
unknown_target(elab *el, const char *name, span at, bool of_part)
{
    const char *near;

    if (refused_before(el, &el->model_scope, name))
        return;
    diag_error(el->s, "name-unknown", at, "%s: %s is called \"%s\"", said_by(el, name, at), of_part ? "no element, junction or signal" : "no parameter or input", name);
    near = of_part ? nearest_part(el, &el->model_scope, name) : nearest_value(el, &el->model_scope, name);
    if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
}

static void
override_value(elab *el, const char *name, span name_at, const ast_expr *e, double x)
{
    uint32_t at = find_value(el, &el->model_scope, name);
    value *v = at == NONE ? NULL : &el->value.at[at];

    if (!v) {
        unknown_target(el, name, name_at, false);
        return;
    }
    if (v->kind != AST_PARAMETER && v->kind != AST_INPUT) {
        diag_error(el->s, "let-target", name_at, "%s: \"%s\" is %s; parameters and inputs can be given values", said_by(el, name, name_at), name,
                   v->kind == AST_CONSTANT ? "a constant" : v->kind == AST_SIGNAL ? "a signal" : "an output");
        diag_note(el->s, v->at, "declared here");
        return;
    }
    if (!e) {
        v->set = true;
        v->set_value = x;
        return;
    }
    if (v->let) {
        diag_error(el->s, "let-twice", name_at, "\"%s\" is given a value twice", name);
        diag_note(el->s, v->expr->at, "the first one is here");
        return;
    }
    v->let = true;
    v->expr = e;
}

static bool
override_quantity(elab *el, const part *x, const char *name, enum quantity *q, const char **has)
{
    const char *const known[] = { el->n_e, el->n_f, el->n_q, el->n_p };
    bool may[4] = { false };

    *has = "it has no initial value";
    if (x->kind == PART_JUNCTION) {
        may[el->f->junction.at[x->index].type ? Q_FLOW : Q_EFFORT] = true;
        *has = el->f->junction.at[x->index].type ? "it has f(0)" : "it has e(0)";
    } else if (x->kind == PART_ELEMENT && el->f->element.at[x->index].type == EL_C) {
        may[Q_DISPLACEMENT] = may[Q_EFFORT] = true;
        *has = "it has q(0) or e(0)";
    } else if (x->kind == PART_ELEMENT && el->f->element.at[x->index].type == EL_I) {
        may[Q_MOMENTUM] = may[Q_FLOW] = true;
        *has = "it has p(0) or f(0)";
    }
    for (int k = 0; k < 4; k++) {
        if (known[k] == name && may[k]) {
            *q = (enum quantity)k;
            return true;
        }
    }
    return false;
}

static void
store_override(elab *el, uint64_t key, initial_override o, const char *name)
{
    uint32_t before = map_get(&el->override_of, key);

    if (before != MAP_NONE && !o.set) {
        diag_error(el->s, "let-twice", o.at, "the initial value of \"%s\" is given twice", name);
        diag_note(el->s, el->override.at[before].at, "the first one is here");
        return;
    }
    map_set(&el->override_of, key, (uint32_t)el->override.n);
    vec_push(&el->override, o);
}

/* x(0) */
static void
override_integral(elab *el, const char *name, span at, initial_override o)
{
    uint32_t v = find_value(el, &el->model_scope, name);

    if (v == NONE) {
        unknown_target(el, name, at, true);
        return;
    }
    if (el->value.at[v].kind != AST_SIGNAL || !is_integral(el, el->value.at[v].expr)) {
        diag_error(el->s, "let-target", at, "%s: \"%s\" has no initial value; a signal that is an integral(...) has one", said_by(el, name, at), name);
        diag_note(el->s, el->value.at[v].at, "declared here");
        return;
    }
    store_override(el, value_key(v), o, name);
}

/* spring.q(0) */
static void
override_stored(elab *el, const char *name, const char *quantity, span at, initial_override o)
{
    uint32_t p = find_part(el, &el->model_scope, name);
    const char *has;

    if (p == NONE) {
        unknown_target(el, name, at, true);
    } else if (!override_quantity(el, &el->part.at[p], quantity, &o.q, &has)) {
        diag_error(el->s, "initial-quantity", at, "%s: \"%s\" has no initial value %s(0): %s", said_by(el, name, at), name, quantity, has);
        diag_note(el->s, el->part.at[p].at, "declared here");
    } else {
        store_override(el, part_key(p), o, name);
    }
}

static void
apply_let(elab *el, const ast_exp_item *item)
{
    const ast_part *p = item->ref.part;

    if (refuse_unbuilt_ref(el, &item->ref))
        return;
    if (item->initial && item->ref.nparts <= 2) {
        initial_override o = { .expr = item->a, .at = item->ref.at };

        if (item->ref.nparts == 1)
            override_integral(el, p[0].name, item->ref.at, o);
        else
            override_stored(el, p[0].name, p[1].name, item->ref.at, o);
    } else if (item->ref.nparts == 1) {
        override_value(el, p[0].name, item->ref.at, item->a, 0);
    } else if (!refused_before(el, &el->model_scope, p[0].name)) {
        not_built(el, item->ref.at, "values inside components are");
    }
}

/* Text of --set: k, x(0) or spring.q(0) */
static void
apply_set(elab *el, const struct elaborate_override *set)
{
    size_t n = strlen(set->name);
    bool initial = n > 3 && !strcmp(set->name + n - 3, "(0)");
    const char *dot = memchr(set->name, '.', n);
    initial_override o = { .set = true, .set_value = set->value, .at = SPAN_NONE };

    if (initial)
        n -= 3;
    if (!initial)
        override_value(el, names_intern(el->names, set->name, n), SPAN_NONE, NULL, set->value);
    else if (!dot)
        override_integral(el, names_intern(el->names, set->name, n), SPAN_NONE, o);
    else
        override_stored(el, names_intern(el->names, set->name, (size_t)(dot - set->name)),
                        names_intern(el->names, dot + 1, n - (size_t)(dot + 1 - set->name)), SPAN_NONE, o);
}

void
apply_experiment_lets(elab *el)
{
    for (int k = 0; el->experiment && k < el->experiment->nitems; k++)
        if (el->experiment->item[k].kind == AST_EXP_LET)
            apply_let(el, &el->experiment->item[k]);
    for (size_t k = 0; k < el->opt->nset; k++)
        apply_set(el, &el->opt->set[k]);
}

/* ---------------------------------------------------------------- settings */

static const char *const settings[] = { "start", "stop", "rtol", "atol", "solver" };
static const char *const solvers[] = { "auto", "explicit", "bdf" };
enum { NSETTINGS = sizeof settings / sizeof *settings, NSOLVERS = sizeof solvers / sizeof *solvers };

static int
index_of(const char *name, const char *const *list, int n)
{
    for (int k = 0; k < n; k++)
        if (!strcmp(list[k], name))
            return k;
    return -1;
}

static void
make_solver(elab *el, const ast_expr *e)
{
    const char *name = e->kind == AST_STRING ? e->string : e->kind == AST_REF && e->ref.nparts == 1 ? e->ref.part[0].name : NULL;
    int k = name ? index_of(name, solvers, NSOLVERS) : -1;

    if (k >= 0) {
        el->f->experiment.solver = solvers[k];
        return;
    }
    diag_error(el->s, "experiment-solver", e->at, "the solver is auto, explicit or bdf");
    if (name && nearest_name(name, solvers, NSOLVERS))
        diag_help(el->s, "Did you mean \"%s\"?", nearest_name(name, solvers, NSOLVERS));
}

static void
make_setting(elab *el, const ast_exp_item *item, span *seen)
{
    flat_experiment *x = &el->f->experiment;
    inst *const into[] = { &x->start, &x->stop, &x->rtol, &x->atol };
    const unit *const want[] = { el->second, el->second, el->one, NULL };
    const char *name = item->ref.part[0].name;
    int k = item->ref.nparts == 1 ? index_of(name, settings, NSETTINGS) : -1;

    if (k < 0) {
        const char *near = nearest_name(name, settings, NSETTINGS);

        diag_error(el->s, "experiment-setting", item->ref.at, "an experiment has no setting \"%s\"", text_of(el, item->ref.at));
        if (near)
            diag_help(el->s, "Did you mean \"%s\"?", near);
        else
            diag_help(el->s, "It has start, stop, rtol, atol and solver; parameters are set by: let %s = ...;", name);
        return;
    }
    if (span_known(seen[k])) {
        diag_error(el->s, "experiment-twice", item->ref.at, "\"%s\" is set twice", name);
        diag_note(el->s, seen[k], "the first one is here");
        return;
    }
    seen[k] = item->ref.at;
    if (!item->a)
        return;
    if (!strcmp(name, "solver"))
        make_solver(el, item->a);
    else
        initial_value(el, &el->model_scope, item->a, arena_format(el->a, "\"%s\"", name), want[k], into[k]);
}

/* ---------------------------------------------------------------- windows, outputs, elements */

static void
make_window(elab *el, const ast_exp_item *item)
{
    flat_window w = { INST_NONE, INST_NONE };

    initial_value(el, &el->model_scope, item->a, "the begin of a window", el->second, &w.from);
    initial_value(el, &el->model_scope, item->b, "the end of a window", el->second, &w.to);
    vec_push(&el->f->experiment.window, w);
}

static uint32_t
find_output(elab *el, const map *outputs, const ast_ref *r)
{
    const char *name = r->part[0].name, **list, *near;
    uint32_t at = r->nparts == 1 ? map_get(outputs, map_ptr_key(name)) : MAP_NONE, other;
    size_t n = el->f->output.n;

    if (at != MAP_NONE)
        return at;
    diag_error(el->s, "observe-output", r->at, "the model has no output \"%s\"", text_of(el, r->at));
    other = r->nparts == 1 ? find_value(el, &el->model_scope, name) : NONE;
    if (other != NONE) {
        diag_note(el->s, el->value.at[other].at, "\"%s\" is declared here, but not as an output", name);
        return NONE;
    }
    list = bg_calloc(n, sizeof *list);
    for (size_t k = 0; k < n; k++)
        list[k] = el->f->output.at[k].name;
    near = errors_are_many(el) ? NULL : nearest_name(name, list, n);
    if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
    free(list);
    return NONE;
}

/* A tolerance is a difference: 0.5 [degC] would be 273.65 K. */
static bool
offset_in_tolerance(elab *el, const ast_expr *e)
{
    const unit *u = e->kind == AST_NUMBER ? read_unit(el, e->number.unit) : NULL;

    if (!u || unit_offset(u) == 0)
        return false;
    diag_error(el->s, "unit-offset", e->at, "[%s] has an offset; a tolerance is a difference and is written in [%s]", unit_text(u), unit_text(unit_dimension(u)));
    return true;
}

static void
make_observe(elab *el, const map *outputs, const ast_exp_item *item, map *seen)
{
    flat_observe o = { .within = INST_NONE, .at = item->at };

    if (refuse_unbuilt_ref(el, &item->ref))
        return;
    o.output = find_output(el, outputs, &item->ref);
    if (o.output == NONE)
        return;
    if (map_get(seen, o.output) != MAP_NONE) {
        diag_error(el->s, "experiment-twice", item->ref.at, "\"%s\" is observed twice", item->ref.part[0].name);
        diag_note(el->s, el->f->experiment.observe.at[map_get(seen, o.output)].at, "the first one is here");
        return;
    }
    if (item->b && !offset_in_tolerance(el, item->b)) {
        const flat_output *y = &el->f->output.at[o.output];
        const unit *u = y->display;

        /* of a unit with an offset, the tolerance is in its SI unit */
        if (!u || unit_offset(u) != 0)
            u = y->unit;
        initial_value(el, &el->model_scope, item->b, arena_format(el->a, "the tolerance of \"%s\"", y->name), u, &o.within);
    }
    map_set(seen, o.output, (uint32_t)el->f->experiment.observe.n);
    vec_push(&el->f->experiment.observe, o);
}

static void
make_keep(elab *el, const ast_exp_item *item)
{
    for (int k = 0; k < item->nrefs; k++) {
        const ast_ref *r = &item->refs[k];
        const char *near;
        uint32_t p;

        if (refuse_unbuilt_ref(el, r))
            continue;
        p = find_part(el, &el->model_scope, r->part[0].name);
        if (r->nparts > 1 && !refused_before(el, &el->model_scope, r->part[0].name)) {
            not_built(el, r->at, "elements inside components are");
        } else if (p == NONE && refused_before(el, &el->model_scope, r->part[0].name)) {
            continue;
        } else if (p == NONE) {
            diag_error(el->s, "name-unknown", r->at, "no element is called \"%s\"", r->part[0].name);
            near = nearest_part(el, &el->model_scope, r->part[0].name);
            if (near)
                diag_help(el->s, "Did you mean \"%s\"?", near);
        } else if (el->part.at[p].kind != PART_ELEMENT) {
            diag_error(el->s, "keep-element", r->at, "\"%s\" is a %s; keep takes elements", r->part[0].name,
                       el->part.at[p].kind == PART_BOND ? "bond" : "junction");
            diag_note(el->s, el->part.at[p].at, "declared here");
        } else {
            el->f->element.at[el->part.at[p].index].keep = true;
        }
    }
}

static void
make_record(elab *el, const ast_exp_item *item)
{
    for (int k = 0; k < item->nexprs; k++) {
        const ast_expr *e = item->exprs[k];
        builder b = builder_new(el, &el->model_scope, READ_ALL, "record");
        val v = resolve(&b, e, true);

        as_number(el, &v);
        if (!v.bad) {
            flat_output o = { whole_text_of(el, e->at), builder_inst(&b, v.n), v.fit == FIT_UNIT ? v.unit : NULL, v.written, e->at };

            vec_push(&el->f->experiment.record, o);
        }
        builder_free(&b);
    }
}

void
make_experiment(elab *el)
{
    const ast_experiment *x = el->experiment;
    span seen[NSETTINGS], equilibrium = SPAN_NONE;
    map outputs = { 0 }, observed = { 0 };

    if (!x)
        return;
    for (int k = 0; k < NSETTINGS; k++)
        seen[k] = SPAN_NONE;
    for (size_t k = 0; k < el->f->output.n; k++)
        map_set(&outputs, map_ptr_key(el->f->output.at[k].name), (uint32_t)k);
    el->f->ast_experiment = x;
    el->f->experiment.name = x->name;
    el->f->experiment.at = x->at;
    for (int k = 0; k < x->nitems; k++) {
        const ast_exp_item *item = &x->item[k];

        switch (item->kind) {
        case AST_EXP_SET:     make_setting(el, item, seen); break;
        case AST_EXP_LET:     break;                       /* done before */
        case AST_EXP_WINDOW:  make_window(el, item); break;
        case AST_EXP_OBSERVE: make_observe(el, &outputs, item, &observed); break;
        case AST_EXP_KEEP:    make_keep(el, item); break;
        case AST_EXP_RECORD:  make_record(el, item); break;
        case AST_EXP_EQUILIBRIUM:
            if (span_known(equilibrium)) {
                diag_error(el->s, "experiment-twice", item->at, "\"start from equilibrium\" stands here twice");
                diag_note(el->s, equilibrium, "the first one is here");
            }
            equilibrium = item->at;
            el->f->experiment.equilibrium = true;
            el->f->experiment.equilibrium_at = item->at;
            break;
        }
    }
    if (!span_known(seen[index_of("stop", settings, NSETTINGS)])) {
        diag_error(el->s, "experiment-stop", x->name_at, "experiment \"%s\" does not say when it stops", x->name);
        diag_help(el->s, "Add: stop = 10 [s];");
    }
    map_free(&outputs);
    map_free(&observed);
}
