/* numbers.c - see numbers.h */
#include "numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

static number_place
number_at(const compilation *c, span at, const unit *u)
{
    number_place p = { .scale = u ? unit_scale(u) : 1, .offset = u ? unit_offset(u) : 0 };
    const char *text = source_text(c->sources, at.file) + at.begin, *from = text;
    char *end;

    if (at.file != c->ast->file)
        return p;
    while (*from == '-' || *from == ' ') /* a sign is part of the number */
        from++;
    p.written = strtod(from, &end);
    if (end == from || memchr(text, '-', (size_t)(from - text)))
        p.written = -p.written;
    p.known = end > from;
    p.at = (span){ at.file, at.begin, at.begin + (uint32_t)(end - text) };
    return p;
}

static const ast_model *
model_called(const ast_file *file, const char *name, size_t n)
{
    for (size_t i = 0; i < file->ndecls; i++)
        if (file->decl[i].kind == AST_DECL_MODEL && strlen(file->decl[i].model->name) == n &&
            !strncmp(file->decl[i].model->name, name, n))
            return file->decl[i].model;
    return NULL;
}

/* The node that declares the instance, as in Wheel:front(...); NULL: there is none, or it is in a loop. */
static const ast_node *
find_instance(const ast_model *m, const char *name, size_t n)
{
    for (int k = 0; k < m->nstmt; k++)
        for (int i = 0; m->stmt[k]->kind == AST_STMT_CHAIN && i < m->stmt[k]->nnodes; i++) {
            const ast_node *x = &ast_chain(m->stmt[k])[i];

            if (x->own->type && ast_node_nparts(x) == 1 && !ast_node_nindex(x) && strlen(ast_node_name(x)) == n &&
                !strncmp(ast_node_name(x), name, n))
                return x;
        }
    return NULL;
}

/* Where the parameter is written, and the unit of its declaration: as argument of its instance, or else where its model
 * declares it. NULL: neither is in this file. */
static const ast_expr *
find_written(const compilation *c, const char *name, const ast_unit **declared)
{
    const ast_model *m = model_called(c->ast, c->flat->name, strlen(c->flat->name));
    const ast_node *instance = NULL;
    const ast_expr *given = NULL, *own = NULL;

    for (size_t n; m && name[n = strcspn(name, ".")]; name += n + 1) {
        instance = find_instance(m, name, n);
        m = instance ? model_called(c->ast, instance->own->type, strlen(instance->own->type)) : NULL;
    }
    for (int k = 0; m && k < m->nstmt; k++) {
        const ast_stmt *x = m->stmt[k];

        if (x->kind == AST_STMT_VALUE && (x->value.kind == AST_PARAMETER || x->value.kind == AST_SIGNAL) &&
            !x->value.nsize && !strcmp(x->value.name, name)) {
            own = x->value.value;
            *declared = x->value.unit;
        }
    }
    for (int i = 0; instance && i < instance->own->more->nargs; i++)
        if (!strcmp(instance->own->more->arg[i].name, name))
            given = instance->own->more->arg[i].value;
    if (given)
        *declared = NULL;
    return own ? (given ? given : own) : NULL;
}

/* The place of an expression that is a single number. declared: the unit where the number has none of its own. */
static number_place
place_of_number(const compilation *c, const ast_expr *e, const ast_unit *declared)
{
    const ast_expr *number = e && e->kind == AST_NEG ? e->un.a : e;
    const char *why;

    if (!number || number->kind != AST_NUMBER)
        return (number_place){ 0 };
    if (ast_number_unit(number))
        declared = ast_number_unit(number);
    return number_at(c, e->at, declared ? unit_parse(c->units, declared->text, &why) : NULL);
}

static number_place
place_in_tree(const compilation *c, const char *name)
{
    const ast_unit *declared = NULL;
    const ast_expr *e = find_written(c, name, &declared);

    return place_of_number(c, e, declared);
}

/* The literal from which alone v is computed; VAR_NONE: the text has none. */
static var_id
only_literal(const flat_model *f, var_id v)
{
    inst d = var_def(f, v);
    var_id w;

    if (!inst_known(d) || d.n != 1)
        return VAR_NONE;
    w = f->slot.at[d.first];
    return f->var.at[w].kind == VAR_LITERAL && span_known(var_at(f, w)) ? w : VAR_NONE;
}

number_place
number_find(const compilation *c, var_id v, const char *name)
{
    const flat_model *f = c->flat;
    var_id literal = only_literal(f, v);

    return literal == VAR_NONE ? place_in_tree(c, name) : number_at(c, var_at(f, literal), var_display(f, literal));
}

struct stated {
    span at;
    const ast_expr *value;
};

static void
see_stated(void *ctx, const ast_expr *e)
{
    struct stated *s = ctx;

    if (!s->value && e->at.file == s->at.file && e->at.begin >= s->at.begin && e->at.end <= s->at.end)
        s->value = e; /* the outermost reference comes first */
}

/* The right side of `q(0) = ...` at a span, in an element or in an experiment. */
static const ast_expr *
find_initial_text(const compilation *c, span at)
{
    struct stated s = { .at = at };

    ast_visit_file(c->ast, see_stated, &s);
    return s.value;
}

/* The second argument of integral(v, x0), where the model itself declares the signal. */
static const ast_expr *
find_start(const compilation *c, const char *name, const ast_unit **declared)
{
    const ast_expr *e = find_written(c, name, declared);

    return e && e->kind == AST_CALL && !strcmp(e->call.name, "integral") && e->call.nargs == 2 ? e->call.arg[1] : NULL;
}

number_place
number_initial(const compilation *c, size_t state)
{
    const flat_model *f = c->flat;
    const flat_var *v = &f->var.at[model_state(c->model, state).var];
    const ast_unit *declared = NULL;
    span at = { 0 };
    size_t same = 0;

    if (v->kind == VAR_INTEGRAL)
        return place_of_number(c, find_start(c, var_name(f, model_state(c->model, state).var), &declared), declared);
    for (size_t i = 0; i < f->initial.n; i++)
        if (f->initial.at[i].port == v->owner && f->initial.at[i].q >= Q_DISPLACEMENT)
            at = f->initial.at[i].at;
    for (size_t i = 0; i < f->initial.n; i++)
        same += f->initial.at[i].at.file == at.file && f->initial.at[i].at.begin == at.begin;
    /* for a component with several instances the number would be the start of all of them */
    return same == 1 && at.end > at.begin ? place_of_number(c, find_initial_text(c, at), NULL) : (number_place){ 0 };
}

char *
number_written(double x)
{
    char full[NUMBER_SIZE], *text = bg_format("%.10g", x);

    /* fewer digits where they say the same */
    number_text(x, full);
    if (strlen(full) < strlen(text)) {
        free(text);
        text = bg_strdup(full);
    }
    return text;
}
