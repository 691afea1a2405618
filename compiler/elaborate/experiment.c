/* experiment.c - items of the experiment: settings, windows, observed outputs, what is kept and recorded
 *
 * Resolved after the model is made. Expressions here read parameters and constants.
 */
#include <string.h>

#include "elab.h"

/* ---------------------------------------------------------------- choice of model and experiment */

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

void
check_experiments(elab *el)
{
    for (size_t k = 0; k < el->file->ndecls; k++) {
        const ast_experiment *x = el->file->decl[k].experiment;
        const char *near;
        uint32_t from;

        if (el->file->decl[k].kind != AST_DECL_EXPERIMENT || find_model(el, el->file_scope, x->model, &from) ||
            el->incomplete)
            continue;
        diag_error(el->s, "experiment-model", x->model_at, "no model is called \"%s\"", x->model);
        near = nearest_decl(el, AST_DECL_MODEL, x->model);
        if (near)
            diag_help(el->s, "Did you mean \"%s\"?", near);
    }
}

/* Without an experiment: the requested model, or the first that is no component, else the first. */
static const ast_model *
first_model_of_file(const elab *el)
{
    const ast_model *first = NULL;

    if (el->opt->model) {
        uint32_t at = map_get(&el->module.at[0].models, map_ptr_key(names_intern_z(el->names, el->opt->model)));

        return at == MAP_NONE ? NULL : el->file->decl[at].model;
    }
    for (size_t k = 0; k < el->file->ndecls; k++) {
        if (el->file->decl[k].kind != AST_DECL_MODEL)
            continue;
        if (!ast_is_component(el->file->decl[k].model))
            return el->file->decl[k].model;
        if (!first)
            first = el->file->decl[k].model;
    }
    return first;
}

bool
choose_model(elab *el, const ast_model **model, uint32_t *from)
{
    const char *name = el->opt->experiment, *near;
    uint32_t at;

    *from = 0;

    if (!name) {
        *model = first_model_of_file(el);
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
    el->gives_sizes = el->file->decl[at].experiment;
    el->experiment = el->opt->bare ? NULL : el->gives_sizes;
    *model = find_model(el, el->file_scope, el->gives_sizes->model, from);
    return *model != NULL;
}

/* ---------------------------------------------------------------- settings */

static const char *const settings[] = { "start", "stop", "rtol", "atol", "solver", "max_step", "max_time" };
static const char *const solvers[] = { "auto", "explicit", "bdf", "variational" };
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
    const char *name = e->kind == AST_STRING ? e->string : ast_expr_name(e);
    int k = name ? index_of(name, solvers, NSOLVERS) : -1;

    if (k >= 0) {
        el->f->experiment.solver = solvers[k];
        return;
    }
    diag_error(el->s, "experiment-solver", e->at, "the solver is auto, explicit, bdf or variational");
    if (name && habit_solver(name))
        diag_help(el->s, "%s", habit_solver(name));
    else if (name && nearest_name(name, solvers, NSOLVERS))
        diag_help(el->s, "Did you mean \"%s\"?", nearest_name(name, solvers, NSOLVERS));
}

/* Those of the run's ends are compared once both are there. */
static void
check_setting(elab *el, const char *name, inst i, span at)
{
    if (!strcmp(name, "rtol") || !strcmp(name, "atol"))
        check_positive(el, "experiment-tolerance", name, "", i, at);
    else if (!strncmp(name, "max_", 4))
        check_positive(el, "experiment-limit", name, " s", i, at);
}

static void
make_setting(elab *el, const ast_exp_item *item, span *seen, span *given)
{
    flat_experiment *x = &el->f->experiment;
    inst *const into[] = { &x->start, &x->stop, &x->rtol, &x->atol, NULL, &x->max_step, &x->max_time };
    const unit *const want[] = { el->second, el->second, el->one, NULL, NULL, el->second, el->second };
    const char *name = item->ref.part[0].name;
    int k = item->ref.nparts == 1 ? index_of(name, settings, NSETTINGS) : -1;

    if (k < 0) {
        const char *near = nearest_name(name, settings, NSETTINGS);

        diag_error(el->s, "experiment-setting", item->ref.at, "an experiment has no setting \"%s\"",
                   text_of(el, item->ref.at));
        if (habit_setting(name))
            diag_help(el->s, "%s", habit_setting(name));
        else if (find_value(el, el->model_scope, name) != NONE)
            diag_help(el->s, "A parameter or input is given a value by: let %s = ...;", name);
        else if (near)
            diag_help(el->s, "Did you mean \"%s\"?", near);
        else
            diag_help(
                el->s,
                "It has start, stop, rtol, atol, solver, max_step and max_time; parameters are set by: let %s = ...;",
                name);
        if ((near && !strcmp(near, "stop")) || (habit_setting(name) && strstr(habit_setting(name), "stop")))
            seen[index_of("stop", settings, NSETTINGS)] = item->ref.at; /* it is not missing, it is misspelt */
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
    given[k] = item->a->at;
    if (!strcmp(name, "solver"))
        make_solver(el, item->a);
    else if (!initial_value(el, el->model_scope, item->a, arena_format(el->a, "\"%s\"", name), want[k], into[k]).bad)
        check_setting(el, name, *into[k], item->a->at);
}

/* ---------------------------------------------------------------- windows, outputs, elements */

static void
make_window(elab *el, const ast_exp_item *item)
{
    flat_window w = { INST_NONE, INST_NONE };

    initial_value(el, el->model_scope, item->a, "the begin of a window", el->second, &w.from);
    initial_value(el, el->model_scope, item->b, "the end of a window", el->second, &w.to);
    vec_push(&el->f->experiment.window, w);
    note_timed(el, TIMED_WINDOW, w.from, w.to, span_join(item->a->at, item->b->at));
}

/* Outputs by their variables. */
struct observing {
    elab *el;
    map *outputs, *seen;
    const ast_exp_item *item;
};

enum { MOST_LISTED = 8 };

/* "x, y and z" */
static const char *
joined_names(elab *el, const char *const *list, size_t n)
{
    strbuf b = { 0 };
    const char *text;

    for (size_t k = 0; k < n; k++)
        strbuf_printf(&b, "%s%s", !k ? "" : k + 1 == n ? " and " : ", ", list[k]);
    text = arena_strdup(el->a, b.at ? b.at : "");
    strbuf_free(&b);
    return text;
}

static void
unknown_output(elab *el, const ast_ref *r)
{
    const char *name = r->part[0].name, **list, *near;
    size_t n = el->f->output.n;
    uint32_t other = r->nparts == 1 ? find_value(el, el->model_scope, name) : NONE;

    diag_error(el->s, "observe-output", r->at, "the model has no output \"%s\"", text_of(el, r->at));
    if (other != NONE) {
        diag_note(el->s, el->value.at[other].at, "\"%s\" is declared here, but not as an output", name);
        return;
    }
    list = bg_calloc(n, sizeof *list);
    for (size_t k = 0; k < n; k++)
        list[k] = el->f->output.at[k].name;
    near = errors_are_many(el) ? NULL : nearest_name(name, list, n);
    if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
    else if (r->nparts > 1)
        diag_help(el->s, "Declare one in the model: output y = %s;", text_of(el, r->at));
    else if (n && n <= MOST_LISTED && !errors_are_many(el))
        diag_help(el->s, n == 1 ? "Its output is %s." : "Its outputs are %s.", joined_names(el, list, n));
    else if (!n)
        diag_help(el->s, "It has none yet. Declare one in the model, as in: output %s = PART.e;", name);
    free(list);
}

/* A tolerance is a difference: 0.5 [degC] would be 273.65 K. */
bool
offset_in_tolerance(elab *el, const ast_expr *e)
{
    const unit *u = e->kind == AST_NUMBER ? read_unit(el, ast_number_unit(e)) : NULL;

    if (!u || unit_offset(u) == 0)
        return false;
    diag_error(el->s, "unit-offset", e->at, "[%s] has an offset; a tolerance is a difference and is written in [%s]",
               unit_text(u), unit_text(unit_dimension(u)));
    return true;
}

/* Reports `within 1 [%]`: it does not tell the share of what. */
static bool
share_as_tolerance(elab *el, const value *v, const ast_expr *e, const flat_output *y, const unit *u)
{
    const unit *given = e->kind == AST_NUMBER ? read_unit(el, ast_number_unit(e)) : NULL;
    const unit *shown = y->display ? y->display : u;

    if (!given || !u || unit_is_number(u) || !unit_is_number(given))
        return false;
    if (in_doubt(el, v))
        return true;
    diag_error(el->s, "tolerance-share", e->at,
               "a tolerance needs the unit of its output and is not a share of it: \"%s\" is in [%s]", y->name,
               unit_text(shown));
    if (unit_dimension(u) == el->kelvin)
        diag_help(el->s,
                  "Write within 0.5 [K]. A share of a temperature would be counted from absolute zero: 1 [%%] of "
                  "20 [degC] is 2.9 [K].");
    else
        diag_help(el->s, "Write within 0.1 [%s], as much as it may be off.", unit_text(shown));
    return true;
}

static bool
observe_item(void *ctx, uint32_t index, uint32_t entry)
{
    struct observing *w = ctx;
    elab *el = w->el;
    const ast_exp_item *item = w->item;
    const value *v = &el->value.at[index];
    var_id x = v->var + entry;
    flat_observe o = { .output = map_get(w->outputs, x), .within = INST_NONE, .at = item->at };

    if (!is_output(v)) {
        unknown_output(el, &item->ref);
        return false;
    }
    if (o.output == MAP_NONE) { /* an output of a component */
        o.output = (uint32_t)el->f->output.n;
        add_output(el, v, entry);
        map_set(w->outputs, x, o.output);
    }
    if (map_get(w->seen, o.output) != MAP_NONE) {
        diag_error(el->s, "experiment-twice", item->ref.at, "\"%s\" is observed twice",
                   el->f->output.at[o.output].name);
        diag_note(el->s, el->f->experiment.observe.at[map_get(w->seen, o.output)].at, "the first one is here");
        return false;
    }
    if (item->b) {
        const flat_output *y = &el->f->output.at[o.output];
        const unit *u = y->display;

        /* for a unit with an offset, the tolerance is in the SI unit */
        if (!u || unit_offset(u) != 0)
            u = y->unit;
        if (share_as_tolerance(el, v, item->b, y, u))
            return false;
        if (initial_value(el, el->model_scope, item->b, arena_format(el->a, "the tolerance of \"%s\"", y->name), u,
                          &o.within)
                .bad)
            return false;
        check_tolerance(el, y->name, o.within, item->b->at);
    }
    map_set(w->seen, o.output, (uint32_t)el->f->experiment.observe.n);
    vec_push(&el->f->experiment.observe, o);
    return true;
}

static bool
observe_place(void *ctx, const path_end *p)
{
    struct observing *w = ctx;

    if (p->kind == PLACE_PART) {
        unknown_output(w->el, &w->item->ref);
        return false;
    }
    return each_item(w->el, p, w->item->ref.at, false, observe_item, w);
}

static void
make_observe(elab *el, map *outputs, const ast_exp_item *item, map *seen)
{
    struct observing w = { .el = el, .outputs = outputs, .seen = seen, .item = item };
    scope *in = el->model_scope;
    const char *name = item->ref.part[0].name;

    if (item->ref.nparts == 1 ? find_family(el, in, name, false) == NONE : find_part(el, in, name) == NONE) {
        if (!refused_before(el, in, name))
            unknown_output(el, &item->ref);
        return;
    }
    if (!(item->b && offset_in_tolerance(el, item->b)))
        each_place(el, in, in, &item->ref, true, observe_place, &w);
}

struct keeping {
    elab *el;
    const ast_ref *ref;
    span at;
};

static bool
keep_item(void *ctx, uint32_t index, uint32_t entry)
{
    struct keeping *w = ctx;
    part *p = &w->el->part.at[index];

    (void)entry;
    if (p->kind == DECLARED_JUNCTION || p->kind == DECLARED_BOND) {
        diag_error(w->el->s, "keep-element", w->at, "\"%s\" is a %s; keep takes elements", p->name,
                   p->kind == DECLARED_BOND ? "bond" : "junction");
        diag_note(w->el->s, part_at(p), "declared here");
        diag_help(w->el->s, "Name the elements on it: keep mass, spring;");
        return false;
    }
    if (p->gone) {
        diag_error(w->el->s, "part-gone", w->at, "\"%s\" was taken out, but is to be kept", p->name);
        diag_note(w->el->s, part_gone_at(w->el, p), "taken out here");
        return false;
    }
    p->keep = true;
    return true;
}

static bool
keep_place(void *ctx, const path_end *p)
{
    struct keeping *w = ctx;

    if (p->used < w->ref->nparts) {
        diag_error(w->el->s, "keep-element", w->at, "\"%s\" is no element; keep takes elements and components",
                   text_of(w->el, w->at));
        return false;
    }
    return each_item(w->el, p, w->at, false, keep_item, w);
}

static void
make_keep(elab *el, const ast_exp_item *item)
{
    scope *in = el->model_scope;

    for (int k = 0; k < item->nrefs; k++) {
        const ast_ref *r = &item->refs[k];
        struct keeping w = { el, r, r->at };
        const char *name = r->part[0].name, *near;

        if (own_family(el, in, name, true) == NONE) {
            if (refused_before(el, in, name))
                continue;
            diag_error(el->s, "name-unknown", r->at, "no element is called \"%s\"", name);
            near = nearest_part(el, in, name);
            if (near)
                diag_help(el->s, "Did you mean \"%s\"?", near);
            continue;
        }
        each_place(el, in, in, r, false, keep_place, &w);
    }
}

/* Everything inside a kept component is kept; a component comes before its contents. */
static void
keep_insides(elab *el)
{
    for (size_t k = 0; k < el->part.n; k++) {
        part *p = &el->part.at[k];
        const scope *s = scope_of_text(p->in);

        if (s->outer && el->part.at[s->instance].keep)
            p->keep = true;
        if (p->keep && p->kind == DECLARED_ELEMENT && p->index != NONE)
            el->f->element.at[p->index].keep = true;
    }
}

static void
record_item(elab *el, builder *b, const ast_expr *e, node n, const val *v, const char *name)
{
    flat_output o = { name, v->m ? builder_entry(b, n) : builder_inst(b, n), v->fit == FIT_UNIT ? v->unit : NULL,
                      v->written, e->at };

    vec_push(&el->f->experiment.record, o);
}

/* A vector is recorded entry by entry. */
static void
make_record(elab *el, const ast_exp_item *item)
{
    for (int k = 0; k < item->nexprs; k++) {
        const ast_expr *e = item->exprs[k];
        builder b = builder_new(el, el->model_scope, READ_ALL, "record");
        val v = resolve(&b, e, true);
        const char *name = whole_text_of(el, e->at);

        if (!v.m)
            as_number(el, &v);
        if (!v.bad && !v.m)
            record_item(el, &b, e, v.n, &v, name);
        for (uint32_t i = 0; !v.bad && v.m && i < v.m->rows; i++)
            for (uint32_t j = 0; j < v.m->cols; j++)
                record_item(el, &b, e, v.m->at[(size_t)i * v.m->cols + j], &v,
                            v.m->rank == 1 ? arena_format(el->a, "%s[%u]", name, i + 1)
                                           : arena_format(el->a, "%s[%u,%u]", name, i + 1, j + 1));
        builder_free(&b);
    }
}

void
make_experiment(elab *el)
{
    const ast_experiment *x = el->experiment;
    span seen[NSETTINGS], given[NSETTINGS], equilibrium = SPAN_NONE;
    map outputs = { 0 }, observed = { 0 };

    if (!x)
        return;
    for (int k = 0; k < NSETTINGS; k++)
        seen[k] = given[k] = SPAN_NONE;
    for (size_t k = 0; k < el->f->output.n; k++)
        map_set(&outputs, inst_slots(el->f, el->f->output.at[k].def)[0], (uint32_t)k);
    el->f->ast_experiment = x;
    el->f->experiment.name = x->name;
    el->f->experiment.at = x->at;
    for (int k = 0; k < x->nitems; k++) {
        const ast_exp_item *item = &x->item[k];

        switch (item->kind) {
        case AST_EXP_SET: make_setting(el, item, seen, given); break;
        case AST_EXP_LET: break; /* done before */
        case AST_EXP_WINDOW: make_window(el, item); break;
        case AST_EXP_OBSERVE: make_observe(el, &outputs, item, &observed); break;
        case AST_EXP_KEEP: make_keep(el, item); break;
        case AST_EXP_RECORD: make_record(el, item); break;
        case AST_EXP_EXPECT: break; /* made last, after the records */
        case AST_EXP_STOP_WHEN: make_stop_when(el, item->a); break;
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
    for (int k = 0; k < x->nitems; k++)
        if (x->item[k].kind == AST_EXP_EXPECT)
            make_expect(el, &x->item[k]);
    check_times(el, given[index_of("start", settings, NSETTINGS)], given[index_of("stop", settings, NSETTINGS)]);
    keep_insides(el);
    if (!span_known(seen[index_of("stop", settings, NSETTINGS)])) {
        diag_error(el->s, "experiment-stop", x->name_at, "experiment \"%s\" does not say when it stops", x->name);
        diag_help(el->s, "Add: stop = 10 [s];");
    }
    map_free(&outputs);
    map_free(&observed);
}
