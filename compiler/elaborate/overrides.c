/* overrides.c - `x.q(0) = ...;` in models, `let` and --set: values, initial values and sizes given elsewhere
 *
 * They replace what blocks and declarations say, before that is made. For initial values the experiment takes
 * precedence, then the outermost model. `let` of an input may read time.
 */
#include <string.h>

#include "elab.h"

/* The source of a value: an expression of the experiment or (of_model) of a statement, or a number or formula from
 * outside (said: the option). in: scope for names. */
struct giving {
    elab *el;
    scope *in;
    bool of_model;
    const ast_ref *ref;
    const char *name;
    const ast_expr *e;
    double x;
    enum quantity q;
    const char *said;
    bool placed; /* messages show the option itself */
};

/* What messages begin with. */
static const char *
said_by(elab *el, const struct giving *g)
{
    return g->of_model ? arena_format(el->a, "%s(0): ", g->name)
           : !g->said  ? "let: "
           : g->placed ? ""
                       : arena_format(el->a, "%s %s: ", g->said, g->name);
}

static void
unknown_target(elab *el, const struct giving *g, bool of_part)
{
    const char *name = g->ref->part[0].name, *near;

    if (refused_before(el, g->in, name))
        return;
    diag_error(el->s, "name-unknown", g->ref->at, "%s%s is called \"%s\"", said_by(el, g),
               of_part ? "no element, junction or signal" : "no parameter or input", name);
    near = of_part ? nearest_part(el, g->in, name) : nearest_value(el, g->in, name);
    if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
    else if (!of_part && find_part(el, g->in, name) != NONE)
        diag_note(el->s, part_at(&el->part.at[find_part(el, g->in, name)]),
                  "this \"%s\" is no value; what stands behind its `=` can be changed if it is a parameter", name);
}

static bool
may_override(struct giving *g, const value *v)
{
    elab *el = g->el;

    if (v->kind == AST_PARAMETER || v->kind == AST_INPUT)
        return true;
    diag_error(el->s, "let-target", g->ref->at, "%s\"%s\" is %s; parameters and inputs can be given values",
               said_by(el, g), v->name,
               v->kind == AST_CONSTANT ? "a constant"
               : v->kind == AST_SIGNAL ? "a signal"
                                       : "an output");
    diag_note(el->s, v->at, "declared here");
    return false;
}

/* Of two statements the outer one takes precedence. */
static bool
given_by_model(struct giving *g, const initial_override *before, const char *name, const char *what)
{
    elab *el = g->el;

    if (g->in->depth == before->in->depth) {
        diag_error(el->s, "initial-twice", g->ref->at, "%s\"%s\" is given twice", what, name);
        diag_note(el->s, before->at, "the first one is here");
    }
    return g->in->depth < before->in->depth;
}

static void
store_override(struct giving *g, uint64_t key, const char *name, const char *what)
{
    elab *el = g->el;
    uint32_t before = map_get(&el->override_of, key);
    const initial_override *other = before == MAP_NONE ? NULL : &el->override.at[before];
    initial_override o = { .expr = g->e,
                           .in = g->in,
                           .of_model = g->of_model,
                           .set_value = g->x,
                           .set = !g->e,
                           .at = g->said && g->e ? g->e->at : g->ref->at,
                           .q = g->q };

    if (other && g->of_model && !given_by_model(g, other, name, what))
        return;
    if (other && !other->of_model && !g->said) {
        diag_error(el->s, "let-twice", g->ref->at, "%s\"%s\" is given twice", what, name);
        diag_note(el->s, other->at, "the first one is here");
        return;
    }
    map_set(&el->override_of, key, (uint32_t)el->override.n);
    vec_push(&el->override, o);
}

/* Is there an initial value in a block of the same model too? port: of a field, else NULL. */
static bool
stands_in_block(struct giving *g, const part *p, const char *port)
{
    elab *el = g->el;

    for (int k = 0; g->of_model && p->in->id == g->in->id && p->node && k < p->node->own->block->nitems; k++) {
        const ast_law_item *item = &p->node->own->block->item[k];
        ast_part room;

        if (item->kind != AST_LAW_INITIAL || (port && ast_law_left(item, &room).part[0].name != port))
            continue;
        diag_error(el->s, "initial-twice", g->ref->at, "\"%s\" has two initial values", p->name);
        diag_note(el->s, item->at, "the other one is here");
        return true;
    }
    return false;
}

/* A value as a whole. */
static void
override_whole(struct giving *g, value *v)
{
    elab *el = g->el;

    if (!g->e) {
        v->set = true;
        v->set_value = g->x;
    } else if (v->let && !g->said) {
        diag_error(el->s, "let-twice", g->ref->at, "\"%s\" is given a value twice", v->name);
        diag_note(el->s, v->expr->at, "the first one is here");
    } else {
        v->let = true;
        v->set = v->given = false;
        v->expr = g->e;
        v->expr_in = g->in;
    }
}

static bool
override_item(void *ctx, uint32_t index, uint32_t entry)
{
    struct giving *g = ctx;
    value *v = &g->el->value.at[index];

    if (!may_override(g, v))
        return false;
    if (!v->rank) {
        override_whole(g, v);
        return true;
    }
    v->entries_set = true;
    store_override(g, entry_key(index, entry), var_name(g->el->f, v->var + entry), "the value of ");
    return true;
}

static void
override_value(struct giving *g, const path_end *p)
{
    const family *f = &g->el->family.at[p->family];

    if (f->block && !g->ref->part[g->ref->nparts - 1].nindex) {
        if (may_override(g, &g->el->value.at[f->first]))
            override_whole(g, &g->el->value.at[f->first]);
        return;
    }
    each_item(g->el, p, g->ref->at, false, override_item, g);
}

static bool
override_quantity(elab *el, const part *x, const char *name, enum quantity *q, const char **has)
{
    const char *const known_names[] = { el->n_e, el->n_f, el->n_q, el->n_p };
    bool may[4] = { false };

    *has = "it has no initial value";
    if (x->kind == DECLARED_JUNCTION) {
        may[x->junction ? Q_FLOW : Q_EFFORT] = true;
        *has = x->junction ? "it has f(0)" : "it has e(0)";
    } else if (x->kind == DECLARED_ELEMENT && x->element == EL_C) {
        may[Q_DISPLACEMENT] = may[Q_EFFORT] = true;
        *has = "it has q(0) or e(0)";
    } else if (x->kind == DECLARED_ELEMENT && x->element == EL_I) {
        may[Q_MOMENTUM] = may[Q_FLOW] = true;
        *has = "it has p(0) or f(0)";
    }
    for (int k = 0; k < 4; k++) {
        if (known_names[k] == name && may[k]) {
            *q = (enum quantity)k;
            return true;
        }
    }
    return false;
}

/* x(0) */
static bool
override_integral(void *ctx, uint32_t index, uint32_t entry)
{
    struct giving *g = ctx;
    elab *el = g->el;
    const value *v = &el->value.at[index];

    (void)entry;
    if (v->kind != AST_SIGNAL || v->rank || !is_integral(el, v->expr)) {
        diag_error(el->s, "let-target", g->ref->at,
                   "%s\"%s\" has no initial value; a signal that is an integral(...) has one", said_by(el, g), v->name);
        diag_note(el->s, v->at, "declared here");
        return false;
    }
    if (g->of_model && v->gone)
        return true;
    if (g->of_model && v->in->id == g->in->id && v->expr->call.nargs > 1) {
        diag_error(el->s, "initial-twice", g->ref->at, "\"%s\" has two initial values", v->name);
        diag_note(el->s, v->expr->call.arg[1]->at, "the other one is here");
        return false;
    }
    store_override(g, value_key(index), v->name, "the initial value of ");
    return true;
}

/* spring.q(0) */
static bool
override_stored(void *ctx, uint32_t index, uint32_t entry)
{
    struct giving *g = ctx;
    elab *el = g->el;
    const part *p = &el->part.at[index];
    const char *quantity = g->ref->part[g->ref->nparts - 1].name, *has;

    (void)entry;
    if (g->of_model && (p->gone || p->rests))
        return true; /* was taken out together with its part */
    if (p->gone) {
        diag_error(el->s, "part-gone", g->ref->at, "%s\"%s\" was taken out", said_by(el, g), p->name);
        diag_note(el->s, part_gone_at(el, p), "taken out here");
        return false;
    }
    if (p->rests) {
        diag_error(el->s, "part-gone", g->ref->at, "%sthe %s of \"%s\" was taken out; it has no initial value",
                   said_by(el, g), p->rest == Q_FLOW ? "flow" : "effort", p->name);
        diag_note(el->s, part_rests_at(el, p), "taken out here");
        return false;
    }
    if (!override_quantity(el, p, quantity, &g->q, &has)) {
        diag_error(el->s, "initial-quantity", g->ref->at, "%s\"%s\" has no initial value %s(0): %s", said_by(el, g),
                   p->name, quantity, has);
        diag_note(el->s, part_at(p), "declared here");
        return false;
    }
    if (stands_in_block(g, p, NULL))
        return false;
    store_override(g, part_key(index), p->name, "the initial value of ");
    return true;
}

/* plate.gap.q(0) */
static bool
override_port(void *ctx, uint32_t index, uint32_t entry)
{
    struct giving *g = ctx;
    elab *el = g->el;
    const part *p = &el->part.at[index];
    const ast_part *name = &g->ref->part[g->ref->nparts - 2];
    const char *const quantity[] = { el->n_e, el->n_f, el->n_q, el->n_p };
    uint32_t port = p->index != NONE && is_field(el, p->index) ? find_field_port(el, p->index, name->name) : NONE;

    (void)entry;
    if (g->of_model && p->gone)
        return true;
    if (p->index != NONE && field_broken(el, p->index))
        return false;
    if (port != NONE) {
        port = single_field_port(el, g->in, p->index, name);
        if (port == NONE)
            return false;
    }
    for (int k = 0; port != NONE && k < 4; k++) {
        if (quantity[k] == name[1].name && field_initial_quantity(el, port, (enum quantity)k)) {
            port = single_field_port(el, g->in, p->index, name);
            if (port == NONE || (!name->nindex && stands_in_block(g, p, name->name)))
                return false;
            g->q = (enum quantity)k;
            store_override(g, field_key(port), el->field_port.at[port].full, "the initial value of ");
            return true;
        }
    }
    diag_error(el->s, "initial-quantity", g->ref->at, "%sthere is no initial value of this name", said_by(el, g));
    diag_note(el->s, part_at(p), "\"%s\" is declared here", p->name);
    return false;
}

static void
give_value(struct giving *g, bool initial)
{
    elab *el = g->el;
    const ast_ref *r = g->ref;
    scope *in = g->in;
    const char *name = r->part[0].name;
    ast_ref moved;
    path_end p;

    if (!initial && r->nparts == 1 && find_known(in, name, NULL)) {
        if (r->part[0].nindex)
            diag_error(el->s, "let-target", r->at, "%s\"%s\" is a size, one number; it takes no index", said_by(el, g),
                       name);
        return; /* a size: handled earlier */
    }
    if (r->nparts == 1 ? find_family(el, in, name, false) == NONE : find_part(el, in, name) == NONE) {
        unknown_target(el, g, initial);
        return;
    }
    p = follow(el, in, in, r, true, g->of_model ? FOLLOW_GONE : 0);
    if (p.kind == PLACE_PART && initial && r->part[r->nparts - 1].nindex) {
        if (!index_of_quantity(el, r, &moved))
            return;
        g->ref = r = &moved;
        p = follow(el, in, in, r, true, g->of_model ? FOLLOW_GONE : 0);
    }
    if (p.kind == PLACE_VALUE && initial)
        each_item(el, &p, r->at, false, override_integral, g);
    else if (p.kind == PLACE_VALUE)
        override_value(g, &p);
    else if (p.kind == PLACE_PART && initial && p.used == r->nparts - 1)
        each_item(el, &p, r->at, false, override_stored, g);
    else if (p.kind == PLACE_PART && initial && p.used == r->nparts - 2)
        each_item(el, &p, r->at, false, override_port, g);
    else if (p.kind == PLACE_PART)
        diag_error(el->s, "let-target", r->at, "%s\"%s\" is no parameter, input or initial value", said_by(el, g),
                   g->name);
}

static const char *
option_of(const struct elaborate_override *o)
{
    return o->said ? o->said : "--set";
}

/* A formula is parsed like an item of an experiment: what stands before it. */
static const char before_item[] = "experiment set of set {\n";

/* The text of an option: with a formula an experiment, else what was written. */
static uint32_t
option_text(elab *el, size_t k)
{
    const struct elaborate_override *o = &el->opt->set[k];

    if (!el->option_text)
        el->option_text = arena_new_array(el->a, uint32_t, el->opt->nset);
    if (!el->option_text[k]) {
        char *text = bg_format(o->formula ? "%s%s\n;\n}\n" : "%s%s", before_item, o->formula ? o->formula : o->written);
        uint32_t from = o->written_at == NONE ? NONE : (uint32_t)strlen(before_item) + o->written_at;

        el->option_text[k] = 1 + (uint32_t)sources_add_option(el->s, option_of(o), o->written ? o->written : o->name,
                                                              text, from);
        free(text);
    }
    return el->option_text[k] - 1;
}

/* The name in an option; SPAN_NONE if it does not come from a command line. */
static span
place_of_name(elab *el, size_t k)
{
    const struct elaborate_override *o = &el->opt->set[k];
    uint32_t from = (uint32_t)strlen(before_item) + (o->written_at == NONE ? 0 : o->written_at);

    return o->written ? (span){ option_text(el, k), from, from + (uint32_t)strlen(o->name) } : SPAN_NONE;
}

/* Parses the target of --set: k, front.k, m[2], x(0) or spring.q(0) */
static ast_ref
set_target(elab *el, size_t k, bool *initial, bool *fine)
{
    const char *name = el->opt->set[k].name;
    size_t n = strlen(name);

    *initial = n > 3 && !strcmp(name + n - 3, "(0)");
    return text_ref(el, name, *initial ? n - 3 : n, place_of_name(el, k), fine);
}

/* The formula of an override, parsed like an item of an experiment. NULL after an error. */
static const ast_expr *
formula_of(elab *el, size_t k)
{
    const ast_file *file;

    if (!el->formula)
        el->formula = arena_new_array(el->a, const ast_expr *, el->opt->nset);
    if (el->formula[k])
        return el->formula[k];
    file = parse_file(el->s, el->names, el->a, option_text(el, k));
    if (file->ok && file->ndecls == 1 && file->decl[0].kind == AST_DECL_EXPERIMENT &&
        file->decl[0].experiment->nitems == 1)
        el->formula[k] = file->decl[0].experiment->item[0].a;
    else if (file->ok)
        diag_error(el->s, "let-target", place_of_name(el, k), "this is not a formula");
    return el->formula[k];
}

bool
from_outside(const elab *el, span at)
{
    for (size_t k = 0; el->option_text && k < el->opt->nset; k++)
        if (el->option_text[k] && el->option_text[k] - 1 == at.file)
            return true;
    return false;
}

void
override_size(elab *el, scope *in, known_value *size)
{
    for (int k = 0; el->gives_sizes && k < el->gives_sizes->nitems; k++) {
        const ast_exp_item *item = &el->gives_sizes->item[k];

        if (item->kind == AST_EXP_LET && !item->initial && item->ref.nparts == 1 &&
            item->ref.part[0].name == size->name)
            known_number(el, in, item->a, arena_format(el->a, "size \"%s\"", size->name), false, &size->value, NULL);
    }
    for (size_t k = 0; k < el->opt->nset; k++)
        if (!strcmp(el->opt->set[k].name, size->name)) {
            const ast_expr *e = el->opt->set[k].formula ? formula_of(el, k) : NULL;

            if (!el->opt->set[k].formula)
                size->value = el->opt->set[k].value;
            else if (e)
                known_number(el, in, e, arena_format(el->a, "size \"%s\"", size->name), false, &size->value, NULL);
        }
}

void
apply_initials(elab *el)
{
    for (size_t k = 0; k < el->initial.n; k++) {
        const initial_made *x = &el->initial.at[k];
        struct giving g = { .el = el,
                            .in = x->in,
                            .of_model = true,
                            .ref = &x->stmt->initial.ref,
                            .name = text_of(el, x->stmt->initial.ref.at),
                            .e = x->stmt->initial.value };

        if (!scope_gone(el, x->in))
            give_value(&g, true);
    }
}

void
apply_experiment_lets(elab *el)
{
    for (int k = 0; el->experiment && k < el->experiment->nitems; k++) {
        const ast_exp_item *item = &el->experiment->item[k];
        struct giving g = { .el = el,
                            .in = el->model_scope,
                            .ref = &item->ref,
                            .name = text_of(el, item->ref.at),
                            .e = item->a };

        if (item->kind == AST_EXP_LET)
            give_value(&g, item->initial);
    }
    for (size_t k = 0; k < el->opt->nset; k++) {
        bool initial, fine;
        ast_ref r = set_target(el, k, &initial, &fine);
        struct giving g = { .el = el,
                            .in = el->model_scope,
                            .ref = &r,
                            .name = el->opt->set[k].name,
                            .x = el->opt->set[k].value,
                            .said = option_of(&el->opt->set[k]),
                            .placed = el->opt->set[k].written != NULL };

        if (el->opt->set[k].formula && !(g.e = formula_of(el, k)))
            continue;
        if (fine)
            give_value(&g, initial);
        else
            diag_error(el->s, "let-target", r.at, "%s\"%s\" is not a name such as k, m[2], front.k or spring.q(0)",
                       said_by(el, &g), g.name);
    }
}
