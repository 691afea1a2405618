/* elaborate.c - from syntax tree to flat bond graph
 *
 * needs     a tree without syntax errors
 * provides  the normal form of flat.h, or NULL after reporting every mistake that could be found
 * order     names of the file; the model and experiment asked for; names of the model; bonds and ports (their variables exist from here on);
 *           functions, callees first; values fixed before the run, in the order of what they read; units of bonds; the other values; laws;
 *           initial values; outputs; the experiment
 * time      linear in the text
 */
#include "elab.h"

static void
make_outputs(elab *el)
{
    node slot = ex_slot(el->pool, 0);

    for (size_t k = 0; k < el->value.n; k++) {
        const value *v = &el->value.at[k];

        if (v->kind == AST_OUTPUT)
            vec_push(&el->f->output, ((flat_output){ v->name, flat_inst(el->f, slot, &v->var, 1), el->f->var.at[v->var].unit, v->declared, v->at }));
    }
}

static void
intern_names(elab *el)
{
    const char *why;

    el->n_e = names_intern_z(el->names, "e");
    el->n_f = names_intern_z(el->names, "f");
    el->n_q = names_intern_z(el->names, "q");
    el->n_p = names_intern_z(el->names, "p");
    el->n_power = names_intern_z(el->names, "power");
    el->n_time = names_intern_z(el->names, "time");
    el->n_pi = names_intern_z(el->names, "pi");
    el->n_der = names_intern_z(el->names, "der");
    el->n_integral = names_intern_z(el->names, "integral");
    el->n_table = names_intern_z(el->names, "table");
    el->second = unit_parse(el->u, "s", &why);
    el->second = el->second ? unit_dimension(el->second) : NULL;
    el->one = unit_one(el->u);
}

static void
elaborate_model(elab *el, const ast_model *m)
{
    scope *in = &el->model_scope;

    el->f->name = m->name;
    el->f->text = m->text;
    el->f->at = m->at;
    el->f->ast = m;
    in->model = m;
    declare_model(el, in, m);
    apply_experiment_lets(el);
    make_structure(el, in, m);
    make_functions(el);
    make_values(el, true);
    make_bond_units(el, in);
    make_values(el, false);
    for (uint32_t e = 0; e < el->f->element.n; e++)
        make_law(el, in, e);
    for (size_t j = 0; j < el->f->junction.n; j++)
        check_junction(el, &el->f->junction.at[j]);
    for (uint32_t p = 0; p < el->part.n; p++)
        if (el->part.at[p].kind != PART_BOND)
            make_initial(el, in, p);
    override_integrals(el);
    make_outputs(el);
    make_experiment(el);
}

static void
release(elab *el)
{
    for (size_t k = 0; k < el->function.n; k++) {
        vec_free(&el->function.at[k].captured);
        vec_free(&el->function.at[k].callee);
    }
    vec_free(&el->value);
    vec_free(&el->part);
    vec_free(&el->link);
    vec_free(&el->function);
    vec_free(&el->override);
    map_free(&el->values);
    map_free(&el->parts);
    map_free(&el->functions);
    map_free(&el->models);
    map_free(&el->experiments);
    map_free(&el->literals);
    map_free(&el->rates);
    map_free(&el->hidden_rates);
    map_free(&el->override_of);
    map_free(&el->shadow_said);
    map_free(&el->refused);
    tables_free(el);
}

flat_model *
elaborate(sources *s, names *n, arena *a, unit_system *u, pool *p, const ast_file *file, const elaborate_options *opt)
{
    static const elaborate_options none;
    elab el = { .s = s, .names = n, .a = a, .u = u, .pool = p, .file = file, .opt = opt ? opt : &none };
    flat_model *f;
    const ast_model *model = NULL;

    if (!file->ok)
        return NULL;
    f = el.f = bg_calloc(1, sizeof *f);
    *f = (flat_model){ .pool = p, .arena = a, .names = n, .sources = s, .units = u };
    f->experiment.start = f->experiment.stop = f->experiment.rtol = f->experiment.atol = INST_NONE;
    el.errors_before = diag_errors(s);
    el.file_scope = (scope){ .id = 1 };
    el.model_scope = (scope){ .id = 2, .parent = &el.file_scope };
    intern_names(&el);
    flat_add_var(f, VAR_TIME, NONE, "time", SPAN_NONE);
    f->var.at[0].unit = el.second;
    declare_file(&el);
    check_experiments(&el);
    if (choose_model(&el, &model))
        elaborate_model(&el, model);
    release(&el);
    if (!model || diag_errors(s) > el.errors_before) {
        flat_free(f);
        return NULL;
    }
    flat_connect(f);
    return f;
}
