/* elaborate.c - see elaborate.h: the order of the steps
 *
 * needs     a tree without syntax errors
 * provides  the normal form of flat.h, or NULL after reporting every error that could be found
 * order     imports; names of the files; the requested model and experiment; names of the model, with loops and
 *           components expanded; what `without` takes out; bonds and ports (their variables exist from here on); what
 *           the experiment sets; functions, callees first; values fixed before the run, in order of dependency; units
 *           of bonds; the other values; laws; initial values; outputs; the experiment
 * time      linear in the text and in what loops and components make of it
 */
#include "elab.h"

/* The unit of `output NAME [unit];`, or that of the signal's declaration. */
static const unit *
shown_unit(elab *el, const value *v, const unit *is)
{
    const unit *u = v->shown ? read_unit(el, v->shown->value.unit) : NULL;

    if (!u)
        return v->declared;
    if (is && unit_dimension(u) != is) {
        diag_error(el->s, "unit-clash", v->shown->value.unit->at, "\"%s\" is in %s; it cannot be shown in %s", v->name,
                   unit_said(el, v->declared ? v->declared : is), unit_said(el, u));
        diag_note(el->s, v->at, "declared here");
    }
    return u;
}

void
add_output(elab *el, const value *v, uint32_t entry)
{
    var_id x = v->var + entry;
    const unit *is = var_unit(el->f, x), *display = shown_unit(el, v, is);

    vec_push(&el->f->output, ((flat_output){ var_name(el->f, x), flat_inst(el->f, ex_slot(el->pool, 0), &x, 1),
                                             is || !display ? is : unit_dimension(display), display, v->at }));
}

bool
is_output(const value *v)
{
    return v->kind == AST_OUTPUT || v->shown;
}

/* Outputs of the model itself, in the order of the statements; outputs of its components are read by path. */
struct output_place {
    uint32_t at;
    uint32_t value;
};

static int
by_text(const void *pa, const void *pb)
{
    const struct output_place *a = pa, *b = pb;

    return a->at != b->at ? (a->at < b->at ? -1 : 1) : a->value < b->value ? -1 : a->value > b->value;
}

static void
make_outputs(elab *el)
{
    VEC(struct output_place) place = { 0 };

    for (uint32_t k = 0; k < el->value.n; k++) {
        const value *v = &el->value.at[k];

        if (is_output(v) && !v->in->outer && !v->gone)
            vec_push(&place, ((struct output_place){ (v->shown ? v->shown : v->stmt)->at.begin, k }));
    }
    if (el->shown.n && place.n)
        qsort(place.at, place.n, sizeof *place.at, by_text);
    for (size_t k = 0; k < place.n; k++)
        for (uint32_t i = 0; i < el->value.at[place.at[k].value].count; i++)
            add_output(el, &el->value.at[place.at[k].value], i);
    vec_free(&place);
}

static void
intern_names(elab *el)
{
    const char *why;

    el->n_e = names_intern_z(el->names, "e");
    el->n_f = names_intern_z(el->names, "f");
    el->n_q = names_intern_z(el->names, "q");
    el->n_p = names_intern_z(el->names, "p");
    el->n_in = names_intern_z(el->names, "in");
    el->n_out = names_intern_z(el->names, "out");
    el->n_power = names_intern_z(el->names, "power");
    el->n_time = names_intern_z(el->names, "time");
    el->n_pi = names_intern_z(el->names, "pi");
    el->n_der = names_intern_z(el->names, "der");
    el->n_integral = names_intern_z(el->names, "integral");
    el->n_table = names_intern_z(el->names, "table");
    el->second = unit_parse(el->u, "s", &why);
    el->second = el->second ? unit_dimension(el->second) : NULL;
    el->watt = unit_parse(el->u, "W", &why);
    el->watt = el->watt ? unit_dimension(el->watt) : NULL;
    el->kelvin = unit_parse(el->u, "K", &why);
    el->kelvin = el->kelvin ? unit_dimension(el->kelvin) : NULL;
    el->one = unit_one(el->u);
}

static void
elaborate_model(elab *el, const ast_model *m, uint32_t from)
{
    scope *in = arena_alloc(el->own, sizeof *in);

    *in = (scope){ .id = ++el->nscopes,
                   .parent = el->module.at[from].scope,
                   .model = m,
                   .module = from,
                   .prefix = "",
                   .origin = NONE,
                   .instance = NONE };
    el->model_scope = in;
    el->f->name = m->name;
    el->f->text = m->text;
    el->f->at = m->at;
    el->f->ast = m;
    declare_model(el, in, m);
    show_signals(el);
    add_taken(el, in);
    take_out_parts(el);
    make_structure(el);
    apply_initials(el);
    apply_experiment_lets(el);
    spread_domains(el);
    make_functions(el);
    make_domain_powers(el);
    make_values(el, true);
    make_values(el, false);
    for (uint32_t e = 0; e < el->f->element.n; e++) {
        el->law_of = e;
        make_law(el, element_scope(el, e), e);
    }
    el->law_of = NONE;
    for (size_t j = 0; j < el->f->junction.n; j++)
        check_junction(el, &el->f->junction.at[j]);
    for (uint32_t p = 0; p < el->part.n; p++)
        if ((el->part.at[p].kind == DECLARED_JUNCTION || el->part.at[p].kind == DECLARED_ELEMENT) &&
            el->part.at[p].index != NONE)
            make_initial(el, el->part.at[p].in, p);
    override_integrals(el);
    override_fields(el);
    make_whens(el);
    check_bonds(el);
    make_when_conditions(el);
    check_quantities(el);
    check_turning(el);
    make_outputs(el);
    check_fields(el);
    make_experiment(el);
    check_delays(el);
    weights_end(el);
    open_ends(el);
}

/* Saves the index for elaborations of other models of the file. */
static void
keep_index(elab *el)
{
    elaborate_index *x = el->opt->index;

    if (!x || x->known || diag_errors(el->s) > el->errors_before)
        return;
    x->models = el->module.at[0].models;
    x->experiments = el->experiments;
    for (uint32_t k = 0; k < el->file->ndecls; k++)
        if (el->file->decl[k].kind != AST_DECL_MODEL && el->file->decl[k].kind != AST_DECL_EXPERIMENT)
            vec_push(&x->others, k);
    x->known = el->index_lent = true;
}

void
elaborate_index_free(elaborate_index *x)
{
    map_free(&x->models);
    map_free(&x->experiments);
    vec_free(&x->others);
    *x = (elaborate_index){ 0 };
}

static void
release_elab(elab *el)
{
    if (el->index_lent) {
        el->module.at[0].models = (map){ 0 };
        el->experiments = (map){ 0 };
    }
    for (size_t k = 0; k < el->function.n; k++) {
        vec_free(&el->function.at[k].captured);
        vec_free(&el->function.at[k].callee);
    }
    for (size_t k = 0; k < el->module.n; k++) {
        map_free(&el->module.at[k].functions);
        map_free(&el->module.at[k].models);
        vec_free(&el->module.at[k].import);
    }
    vec_free(&el->module);
    vec_free(&el->value);
    vec_free(&el->family);
    vec_free(&el->array);
    vec_free(&el->item);
    vec_free(&el->chain);
    vec_free(&el->without);
    vec_free(&el->shown);
    vec_free(&el->idle);
    vec_free(&el->initial);
    vec_free(&el->element_part);
    vec_free(&el->part);
    vec_free(&el->link);
    vec_free(&el->said);
    vec_free(&el->taken);
    map_free(&el->taken_by);
    vec_free(&el->function);
    vec_free(&el->override);
    index_set_free(&el->families);
    map_free(&el->items);
    map_free(&el->numbers);
    vec_free(&el->field);
    vec_free(&el->field_port);
    vec_free(&el->field_pair);
    map_free(&el->field_of);
    map_free(&el->field_ports);
    vec_free(&el->when);
    vec_free(&el->claim);
    vec_free(&el->timed);
    vec_free(&el->table_unit);
    vec_free(&el->named_quantity);
    vec_free(&el->remembered);
    map_free(&el->weights);
    vec_free(&el->weighed_in);
    map_free(&el->experiments);
    map_free(&el->domains);
    vec_free(&el->domain_function);
    index_set_free(&el->literals);
    map_free(&el->rates);
    map_free(&el->hidden_rates);
    map_free(&el->override_of);
    map_free(&el->shadow_said);
    map_free(&el->told);
    vec_free(&el->torn);
    map_free(&el->refused);
    strbuf_free(&el->name_room);
    arena_free(el->own);
    tables_free(el);
}

flat_model *
elaborate(sources *s, names *n, arena *a, unit_system *u, pool *p, const ast_file *file, const elaborate_options *opt)
{
    static const elaborate_options none;
    elab el = { .s = s, .names = n, .a = a, .u = u, .pool = p, .file = file, .opt = opt ? opt : &none, .law_of = NONE };
    flat_model *f;
    const ast_model *model = NULL;
    uint32_t from;

    if (!file->ok)
        return NULL;
    f = el.f = bg_calloc(1, sizeof *f);
    *f = (flat_model){ .pool = p, .arena = a, .names = n, .sources = s, .units = u };
    f->experiment.start = f->experiment.stop = f->experiment.rtol = f->experiment.atol = INST_NONE;
    f->experiment.max_step = f->experiment.max_time = INST_NONE;
    el.own = arena_new();
    el.last_family = arena_new_array(el.own, uint32_t, LAST_FAMILIES);
    vec_push(&el.array, (family_array){ 0 });
    el.errors_before = diag_errors(s);
    intern_names(&el);
    weights_begin(&el);
    flat_add_var(f, VAR_TIME, NONE, "time", SPAN_NONE);
    var_set_unit(f, 0, el.second);
    load_imports(&el);
    el.file_scope = el.model_scope = el.module.at[0].scope;
    declare_files(&el);
    if (!el.index_lent)
        check_experiments(&el);
    keep_index(&el);
    if (choose_model(&el, &model, &from))
        elaborate_model(&el, model, from);
    release_elab(&el);
    if (!model || diag_errors(s) > el.errors_before) {
        flat_free(f);
        return NULL;
    }
    flat_connect(f);
    return f;
}
