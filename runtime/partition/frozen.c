/* frozen.c - see frozen.h */
#include "frozen.h"

#include <math.h>
#include <string.h>

#include "covered.h"
#include "edit.h"
#include "json.h"
#include "textrefs.h"

/* ---------------------------------------------------------------- parsing of --freeze */

bool
freeze_parse(const char *text, arena *a, freeze *out, char **why)
{
    const char *equal = strchr(text, '='), *stop = equal ? equal : text + strlen(text),
               *at = memchr(text, '@', (size_t)(stop - text));
    char *end;

    *why = NULL;
    *out = (freeze){ .name = arena_strndup(a, text, (size_t)((at ? at : stop) - text)),
                     .reader = at ? arena_strndup(a, at + 1, (size_t)(stop - at - 1)) : NULL,
                     .mean = !equal };
    if (!*out->name || (at && !*out->reader))
        *why = bg_format("--freeze is SIGNAL=VALUE or SIGNAL@READER=VALUE, not \"%s\"", text);
    if (*why || !equal)
        return !*why;
    out->value = strtod(equal + 1, &end);
    while (*end == ' ')
        end++;
    if (end == equal + 1 || !isfinite(out->value)) {
        *why = bg_format("--freeze %s: \"%s\" is not a number", out->name, equal + 1);
    } else if (*end == '[' && end[strlen(end) - 1] == ']') {
        unit_system *units = units_new();
        const char *no = NULL, *name = arena_strndup(a, end + 1, strlen(end) - 2);
        const unit *u = units ? unit_parse(units, name, &no) : NULL;

        if (u)
            out->value = unit_scale(u) * out->value + unit_offset(u);
        else
            *why = bg_format("--freeze %s: [%s] is not a unit", out->name, name);
        units_free(units);
    } else if (*end) {
        *why = bg_format("--freeze %s: \"%s\" is not a number, or its unit lacks brackets", out->name, equal + 1);
    }
    return !*why;
}

/* The text with one more recorded expression, so that the run reports it among the outputs. */
static bool
recording_more(const recording *r, const char *name, strbuf *out)
{
    compile_options co = { .experiment = r->experiment };
    compilation c = { 0 };
    bool fine = compile_text(&c, r->path, r->text, r->length, STAGE_PARSE, &co);

    for (size_t i = 0; fine && i < c.ast->ndecls; i++) {
        const ast_decl *x = &c.ast->decl[i];

        if (x->kind != AST_DECL_EXPERIMENT || strcmp(x->experiment->name, r->experiment))
            continue;
        strbuf_add(out, r->text, x->experiment->at.end - 1);
        strbuf_printf(out, " record %s; ", name);
        strbuf_puts(out, r->text + x->experiment->at.end - 1);
    }
    compile_free(&c);
    return out->n > 0;
}

double
freeze_mean(const recording *run, size_t nruns, const char *name)
{
    enum { POINTS = 5003 };
    double sum = 0, length = 0;
    bool fine = true;

    for (size_t i = 0; i < nruns && fine; i++) {
        const recording *r = &run[i];
        compile_options co = recording_options(r);
        compilation c = { 0 };
        sim_options so = { 0 };
        sim_result result = { 0 };
        strbuf text = { 0 };
        size_t n;

        fine = recording_more(r, name, &text) && compile_text(&c, r->path, text.at, text.n, STAGE_MODEL, &co) &&
               sim_options_from_experiment(c.model, &so);
        if (fine) {
            so.points = POINTS;
            so.outputs = true;
            if (r->adjust)
                r->adjust(r->ctx, c.model, &so);
            fine = covered_run(c.model, &so, &result);
        }
        n = fine ? model_noutputs(c.model) : 0;
        for (size_t k = 0; fine && k + 1 < result.points; k++) {
            double middle = (result.time[k] + result.time[k + 1]) / 2, step = result.time[k + 1] - result.time[k];
            bool in = so.nwindows == 0;

            for (size_t w = 0; w < so.nwindows; w++)
                in |= middle >= so.window_from[w] && middle <= so.window_to[w];
            if (in) {
                sum += step * (result.output[k * n + n - 1] + result.output[(k + 1) * n + n - 1]) / 2;
                length += step;
            }
        }
        sim_options_free(&so);
        sim_result_free(&result);
        compile_free(&c);
        strbuf_free(&text);
    }
    return fine && length > 0 ? sum / length : NAN;
}

/* ---------------------------------------------------------------- the text */

struct freezer {
    const compilation *c;
    text_names names;
    map value; /* interned name -> statement */
    arena *a;
    const char *text;
};

/* Is a variable the target, directly or through definitions? Cycles are walked once. An integral counts as a variable
 * of its own: freezing its argument does not fix its value. */
static bool
comes_down_to(const struct freezer *d, var_id v, var_id target, map *seen)
{
    const flat_model *f = d->c->flat;
    VEC(var_id) work = { 0 };
    bool found = false;

    vec_push(&work, v);
    while (work.n && !found) {
        const flat_var *x = &f->var.at[v = work.at[--work.n]];

        found = v == target;
        if (map_get(seen, v) != MAP_NONE || (x->kind != VAR_SIGNAL && x->kind != VAR_RATE))
            continue;
        map_set(seen, v, 1);
        if (x->kind == VAR_RATE)
            vec_push(&work, x->owner);
        for (uint32_t k = 0; inst_known(var_def(f, v)) && k < var_def(f, v).n; k++)
            vec_push(&work, inst_slots(f, var_def(f, v))[k]);
    }
    vec_free(&work);
    return found;
}

static const char *
frozen_number(const struct freezer *d, var_id v, double x)
{
    const unit *u = var_unit(d->c->flat, v);
    char digits[NUMBER_SIZE];
    const char *text = u && !unit_is_number(u)
                           ? arena_format(d->a, "%s [%s]", number_text(x, digits), unit_text(unit_dimension(u)))
                           : arena_strdup(d->a, number_text(x, digits));

    return x < 0 ? arena_format(d->a, "(%s)", text) : text;
}

/* The text of an expression with the target replaced by the number, and signals that read the target replaced by their
 * definitions. NULL: nothing in the expression reads the target. depth: nesting of signals, limited because a cycle
 * would never end. */
enum { DEEPEST = 50 };
static const char *frozen_text(struct freezer *d, const ast_expr *e, const ast_node *n, var_id target, double value,
                               int depth);

static const char *
replaced_name(struct freezer *d, const ast_ref *r, var_id target, double value, int depth)
{
    const char *name = arena_strndup(d->a, d->text + r->at.begin, r->at.end - r->at.begin), *inner;
    var_id v = text_variable(&d->names, name);
    map seen = { 0 };
    bool leads = v != VAR_NONE && comes_down_to(d, v, target, &seen);
    uint32_t k = r->nparts == 1 ? map_get(&d->value, map_ptr_key(r->part[0].name)) : MAP_NONE;

    map_free(&seen);
    if (!leads)
        return NULL;
    if (v == target || k == MAP_NONE || depth == DEEPEST)
        return frozen_number(d, target, value);
    inner = frozen_text(d, d->c->flat->ast->stmt[k]->value.value, NULL, target, value, depth + 1);
    return inner ? arena_format(d->a, "(%s)", inner) : frozen_number(d, target, value);
}

static const char *
frozen_text(struct freezer *d, const ast_expr *e, const ast_node *n, var_id target, double value, int depth)
{
    const char *text = arena_strndup(d->a, d->text + e->at.begin, e->at.end - e->at.begin), *result = NULL;
    text_refs r = { 0 };
    edits change = { 0 };
    strbuf b = { 0 };
    char *why = NULL;

    textrefs_of(e, n, (text_ref){ 0 }, &r);
    for (size_t i = 0; i < r.n; i++) {
        ast_part room;
        ast_ref ref = ast_expr_ref(r.at[i].expr, &room);
        const char *now = replaced_name(d, &ref, target, value, depth);

        if (now)
            edits_replace(&change, ref.at.begin - e->at.begin, ref.at.end - e->at.begin, now, strlen(now));
    }
    if (change.list.n && edits_seal(&change, strlen(text), &why)) {
        edits_apply(&change, text, strlen(text), &b);
        result = arena_strndup(d->a, b.at, b.n);
    }
    free(why);
    strbuf_free(&b);
    edits_free(&change);
    vec_free(&r);
    return result;
}

/* Freezes all expressions of one reader's law, one after the other on the text as it is. */
static bool
freeze_law(struct freezer *d, const ast_node *n, var_id target, double value, edits *e)
{
    bool any = false;

    for (int i = -2; i < n->own->block->nitems; i++) {
        const ast_expr *x = i == -2                                           ? n->own->linear
                            : i == -1                                         ? n->own->more->such_that
                            : n->own->block->item[i].kind == AST_LAW_EQUATION ? n->own->block->item[i].right
                                                                              : NULL;
        const char *now = x ? frozen_text(d, x, i < 0 ? NULL : n, target, value, 0) : NULL;

        if (!now)
            continue;
        edits_replace(e, x->at.begin, x->at.end, now, strlen(now));
        any = true;
    }
    return any;
}

static bool
freeze_one(const compilation *c, const frozen *z, strbuf *out, char **why)
{
    struct freezer d = { .c = c, .a = arena_new(), .text = source_text(c->sources, c->ast->file) };
    const ast_model *m = c->flat->ast;
    var_id target;
    edits e = { 0 };
    bool any = false;

    text_names_make(c->flat, &d.names);
    for (int i = 0; i < m->nstmt; i++)
        if (m->stmt[i]->kind == AST_STMT_VALUE)
            map_set(&d.value, map_ptr_key(m->stmt[i]->value.name), (uint32_t)i);
    target = text_variable(&d.names, z->name);
    for (int i = 0; i < m->nstmt && target != VAR_NONE; i++)
        for (int k = 0; m->stmt[i]->kind == AST_STMT_CHAIN && k < m->stmt[i]->nnodes; k++) {
            const ast_node *n = &ast_chain(m->stmt[i])[k];

            if (n->own->type && ast_node_nparts(n) && !strcmp(ast_node_name(n), z->reader))
                any |= freeze_law(&d, n, target, z->value, &e);
        }
    if (!any)
        *why = bg_format("the text of %s does not say where it reads %s", z->reader, z->name);
    else if (edits_seal(&e, source_length(c->sources, c->ast->file), why))
        edits_apply(&e, d.text, source_length(c->sources, c->ast->file), out);
    edits_free(&e);
    text_names_free(&d.names);
    map_free(&d.value);
    arena_free(d.a);
    return !*why;
}

bool
freeze_text(const compilation *c, const frozen *list, size_t n, char **text, size_t *length, char **why)
{
    const char *path = source_path(c->sources, c->ast->file);
    compile_options co = { .experiment = c->flat->experiment.name };
    strbuf now = { 0 };
    compilation again = { 0 };
    const compilation *at = c;
    bool fine = true;

    *why = NULL;
    for (size_t i = 0; i < n && fine; i++) {
        strbuf next = { 0 };

        fine = freeze_one(at, &list[i], &next, why);
        if (fine) {
            strbuf_free(&now);
            now = next;
            compile_free(&again);
            again = (compilation){ 0 };
            fine = compile_text(&again, path, now.at, now.n, STAGE_GRAPH, &co);
            if (!fine)
                *why = bg_format("with %s frozen in %s the text does not compile: %s", list[i].name, list[i].reader,
                                 diag_first_error(again.sources));
            at = &again;
        }
    }
    compile_free(&again);
    *text = fine ? bg_malloc(now.n + 1) : NULL;
    if (fine) {
        if (now.n)
            memcpy(*text, now.at, now.n);
        (*text)[now.n] = '\0';
        *length = now.n;
    }
    strbuf_free(&now);
    return fine;
}
