/* separate.c - see separate.h */
#include "separate.h"

#include <string.h>

#include "metrics.h"
#include "rewrite.h"
#include "textrefs.h"

enum { NO_PART = UINT32_MAX };

/* What a part reads of another: a reference as the text has it. */
struct need {
    const char *text, *input;
    uint32_t owner;
    var_id var;
};

struct splitter {
    const recording *run;
    size_t nruns;
    compilation c;  /* the conditioned text, as elaborated */
    link_plan plan; /* nothing of it is conditioned any more */
    subgraphs s;
    uint32_t *sole, *last; /* [var] the partition that alone determines it; the last one that does */
    text_names names;
    text_refs refs;
    map value, part; /* interned name -> statement; -> partition of an element, junction or bond */
    map reads0;      /* interned reader -> 1 + first of refs by its kind */
    arena *a;
    parts *out;
};

static uint64_t
key_of(const char *name)
{
    return map_ptr_key(name);
}

/* ---------------------------------------------------------------- who owns what */

/* All links stay: the conditioned graph as it is. */
static void
plan_nothing(const flat_model *f, link_plan *out)
{
    *out = (link_plan){ 0 };
    for (uint32_t i = 0; i < f->bond.n; i++)
        vec_push(
            &out->link,
            ((link){ .bond = i, .element = LINK_NONE, .end = { f->bond.at[i].from, f->bond.at[i].to }, .name = "" }));
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];

        for (uint32_t k = 0; is_two_port(e) && k + 1 < e->nports; k += 2)
            vec_push(&out->link,
                     ((link){ .bond = LINK_NONE,
                              .element = i,
                              .end = { f->port.at[e->port0 + k].junction, f->port.at[e->port0 + k + 1].junction },
                              .name = e->name }));
    }
}

static uint32_t
partition_of(const struct splitter *d, uint32_t number)
{
    return number == NO_SUBGRAPH ? NO_PART : d->s.subgraph.at[number].partition;
}

static void
own(struct splitter *d)
{
    const flat_model *f = d->c.flat;
    const ast_model *m = f->ast;

    for (uint32_t i = 0; i < f->element.n; i++)
        map_set(&d->part, key_of(names_intern_z(d->c.names, f->element.at[i].name)),
                partition_of(d, d->s.of_element[i]));
    for (uint32_t i = 0; i < f->junction.n; i++)
        if (!f->junction.at[i].implicit)
            map_set(&d->part, key_of(names_intern_z(d->c.names, f->junction.at[i].name)),
                    partition_of(d, d->s.of_junction[i]));
    for (uint32_t i = 0; i < f->bond.n; i++)
        if (f->bond.at[i].name)
            map_set(&d->part, key_of(names_intern_z(d->c.names, f->bond.at[i].name)),
                    partition_of(d, d->s.of_junction[f->bond.at[i].from]));
    for (uint32_t i = 0; i < f->port.n; i++)
        if (f->port.at[i].bond_name)
            map_set(&d->part, key_of(names_intern_z(d->c.names, f->port.at[i].bond_name)),
                    partition_of(d, d->s.of_junction[f->port.at[i].junction]));
    for (int i = 0; i < m->nstmt; i++)
        if (m->stmt[i]->kind == AST_STMT_VALUE && (m->stmt[i]->value.value || m->stmt[i]->value.kind != AST_OUTPUT))
            map_set(&d->value, key_of(m->stmt[i]->value.name), (uint32_t)i);
}

static const ast_stmt *
statement_of(const struct splitter *d, const char *value)
{
    uint32_t i = map_get(&d->value, key_of(value));

    return i == MAP_NONE ? NULL : d->c.flat->ast->stmt[i];
}

/* The partition of what a reference names: of a part its own; of a value the one that alone determines it. NO_PART:
 * none, or it has to be walked. */
static uint32_t
owner_of(const struct splitter *d, const ast_ref *r)
{
    uint32_t k;

    if (r->nparts > 1)
        return (k = map_get(&d->part, key_of(r->part[0].name))) == MAP_NONE ? NO_PART : k;
    k = text_variable(&d->names, r->part[0].name);
    return k == VAR_NONE || d->sole[k] >= MANY_SUBGRAPHS ? NO_PART : d->sole[k];
}

static uint32_t
last_of(const struct splitter *d, const char *value)
{
    var_id v = text_variable(&d->names, value);

    return v == VAR_NONE || d->last[v] == NO_SUBGRAPH ? 0 : d->last[v];
}

/* ---------------------------------------------------------------- one part */

struct one {
    struct splitter *d;
    uint32_t k;
    VEC(struct need) need;
    map of_text;            /* hash of a reference's text -> need */
    map walked;             /* interned names of values whose definitions were walked -> 1 */
    VEC(const char *) work; /* values to be walked */
    VEC(text_ref) replaced; /* references that become inputs */
    map replaced_at;        /* where they begin -> 1: a condition is met once for each target */
    edits e;
    const char *text;
};

static const char *
text_of(const struct one *x, span at)
{
    return arena_strndup(x->d->a, x->text + at.begin, at.end - at.begin);
}

/* "vx.f" -> "vx_f", or with a number behind it where that is taken. */
static const char *
input_name(const struct one *x, const char *text)
{
    arena *a = x->d->a;
    char *plain = arena_strdup(a, text);
    const char *name;

    for (char *s = plain; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9')))
            *s = '_';
    name = names_intern_z(x->d->c.names, plain);
    for (int i = 2; statement_of(x->d, name); i++)
        name = names_intern_z(x->d->c.names, arena_format(a, "%s_%d", plain, i));
    return name;
}

static void
add_need(struct one *x, const ast_ref *r, uint32_t owner)
{
    const char *text = text_of(x, r->at);
    uint64_t key = bg_hash_bytes(text, strlen(text), 0);

    if (map_get(&x->of_text, key) != MAP_NONE)
        return;
    map_set(&x->of_text, key, (uint32_t)x->need.n);
    vec_push(&x->need, ((struct need){ text, r->nparts == 1 ? text : input_name(x, text), owner,
                                       text_variable(&x->d->names, text) }));
}

static bool
is_needed(const struct one *x, const char *text)
{
    return map_get(&x->of_text, bg_hash_bytes(text, strlen(text), 0)) != MAP_NONE;
}

static void
meet(struct one *x, const text_ref *t)
{
    const ast_ref *r = t->ref;
    uint32_t owner = owner_of(x->d, r);
    const ast_stmt *s;

    if (owner != NO_PART && owner != x->k) {
        add_need(x, r, owner);
        if (r->nparts > 1 && t->kind != READS_EXPERIMENT && map_get(&x->replaced_at, r->at.begin) == MAP_NONE) {
            map_set(&x->replaced_at, r->at.begin, 1);
            vec_push(&x->replaced, *t);
        }
    } else if (r->nparts == 1 && (s = statement_of(x->d, r->part[0].name)) &&
               map_get(&x->walked, key_of(s->value.name)) == MAP_NONE) {
        map_set(&x->walked, key_of(s->value.name), 1);
        vec_push(&x->work, s->value.name);
    }
}

static bool
stands_here(const struct one *x, const text_ref *t)
{
    const struct splitter *d = x->d;
    uint32_t k;

    switch (t->kind) {
    case READS_PART: return map_get(&d->part, key_of(t->reader)) == x->k;
    case READS_JUMP:
        if ((k = map_get(&d->part, key_of(t->reader))) != MAP_NONE)
            return k == x->k;
        return last_of(d, t->reader) == x->k;
    case READS_VALUE:
    case READS_EXPERIMENT: break;
    }
    return false;
}

/* The partition in whose text a recorded expression, or an observed output, stands: the last that it reads. */
static uint32_t
place_of_expr(const struct splitter *d, const ast_expr *e)
{
    text_refs r = { 0 };
    uint32_t last = 0;

    textrefs_of(e, NULL, (text_ref){ 0 }, &r);
    for (size_t i = 0; i < r.n; i++) {
        uint32_t k = r.at[i].ref->nparts > 1 ? owner_of(d, r.at[i].ref) : last_of(d, r.at[i].ref->part[0].name);

        last = k != NO_PART && k > last ? k : last;
    }
    vec_free(&r);
    return last;
}

static bool
is_chosen(const struct splitter *d, const ast_experiment *e)
{
    for (size_t i = 0; i < d->nruns; i++)
        if (!strcmp(d->run[i].experiment, e->name))
            return true;
    return false;
}

/* Does one that was chosen take items from the text of e? */
static bool
is_needed_base(const struct splitter *d, const ast_experiment *e)
{
    for (size_t i = 0; i < d->c.ast->ndecls; i++) {
        const ast_experiment *x = d->c.ast->decl[i].kind == AST_DECL_EXPERIMENT ? d->c.ast->decl[i].experiment : NULL;

        for (int k = 0; x && is_chosen(d, x) && k < x->nbases; k++)
            if (x->bases[k] == e)
                return true;
    }
    return false;
}

/* What the part reads of others: from its elements, jumps, outputs and recorded expressions through the values that
 * they read. */
static void
find_needs(struct one *x)
{
    struct splitter *d = x->d;
    const ast_model *m = d->c.flat->ast;
    text_refs r = { 0 };

    for (size_t i = 0; i < d->refs.n; i++)
        if (stands_here(x, &d->refs.at[i]))
            meet(x, &d->refs.at[i]);
    for (int i = 0; i < m->nstmt; i++)
        if (m->stmt[i]->kind == AST_STMT_VALUE && m->stmt[i]->value.kind == AST_OUTPUT &&
            last_of(d, m->stmt[i]->value.name) == x->k) {
            map_set(&x->walked, key_of(m->stmt[i]->value.name), 1);
            vec_push(&x->work, m->stmt[i]->value.name);
        }
    for (size_t i = 0; i < d->c.ast->ndecls; i++) {
        const ast_experiment *e = d->c.ast->decl[i].kind == AST_DECL_EXPERIMENT ? d->c.ast->decl[i].experiment : NULL;

        for (int k = 0; e && e->model == m->name && is_chosen(d, e) && k < e->nitems; k++)
            for (int n = 0; e->item[k].kind == AST_EXP_RECORD && n < e->item[k].nexprs; n++)
                if (place_of_expr(d, e->item[k].exprs[n]) == x->k)
                    textrefs_of(e->item[k].exprs[n], NULL,
                                (text_ref){ .kind = READS_EXPERIMENT, .reader = e->name, .item = &e->item[k] }, &r);
    }
    for (size_t i = 0; i < r.n; i++)
        meet(x, &r.at[i]);
    while (x->work.n) {
        const ast_stmt *s = statement_of(d, x->work.at[--x->work.n]);

        r.n = 0;
        textrefs_of(s->value.value, NULL, (text_ref){ .kind = READS_VALUE, .reader = s->value.name }, &r);
        for (size_t i = 0; i < r.n; i++)
            meet(x, &r.at[i]);
    }
    vec_free(&r);
}

static const char *
unit_behind(const struct splitter *d, var_id v)
{
    const unit *u = v == VAR_NONE ? NULL : d->c.flat->var.at[v].unit;

    return u && !unit_is_number(u) ? arena_format(d->a, " [%s]", unit_text(unit_dimension(u))) : "";
}

/* The statement becomes an input; parts' references become names of inputs, declared at the model's beginning. */
static void
edit_needs(struct one *x)
{
    struct splitter *d = x->d;
    const ast_model *m = d->c.flat->ast;
    strbuf declared = { 0 };

    for (size_t i = 0; i < x->replaced.n; i++) {
        span at = x->replaced.at[i].ref->at;
        const char *text = text_of(x, at),
                   *name = x->need.at[map_get(&x->of_text, bg_hash_bytes(text, strlen(text), 0))].input;

        edits_replace(&x->e, at.begin, at.end, name, strlen(name));
    }
    for (size_t i = 0; i < x->need.n; i++) {
        const struct need *n = &x->need.at[i];
        const ast_stmt *s = statement_of(d, names_intern_z(d->c.names, n->text));
        const char *line = arena_format(d->a, "input %s%s;", n->input, unit_behind(d, n->var));

        if (s)
            edits_replace(&x->e, s->at.begin, s->at.end, line, strlen(line));
        else
            strbuf_printf(&declared, "%s\n    ", line);
    }
    if (declared.n && m->nstmt)
        edits_insert(&x->e, m->stmt[0]->at.begin, declared.at, declared.n);
    strbuf_free(&declared);
}

typedef VEC(span) spans;

/* Is it a signal of others that nothing here reads? */
static bool
is_of_others(const struct one *x, const ast_stmt *s)
{
    var_id v = text_variable(&x->d->names, s->value.name);

    return s->value.kind == AST_SIGNAL && v != VAR_NONE && x->d->sole[v] != x->k && x->d->sole[v] != NO_SUBGRAPH &&
           map_get(&x->walked, key_of(s->value.name)) == MAP_NONE;
}

/* Of a jump that sets several the targets of others go, of one that sets others' alone all of it. */
static void
drop_targets(struct one *x, const ast_stmt *s, spans *lost)
{
    int here = 0;

    for (int k = 0; k < s->when.n; k++)
        here += stands_here(x, &(text_ref){ .kind = READS_JUMP, .reader = s->when.reinit[k].target.part[0].name });
    if (!here)
        vec_push(lost, s->at);
    for (int k = 0; here && k < s->when.n; k++)
        if (!stands_here(x, &(text_ref){ .kind = READS_JUMP, .reader = s->when.reinit[k].target.part[0].name }))
            edits_delete(&x->e, s->when.reinit[k].at.begin, s->when.reinit[k].at.end);
}

/* Outputs and jumps of others; an output that is read here has become an input. Signals of others read nothing any
 * more: what is still read by elements that go must be there until they do. */
static void
drop_statements(struct one *x, spans *lost)
{
    const struct splitter *d = x->d;
    const ast_model *m = d->c.flat->ast;

    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];
        text_ref t = { .kind = READS_JUMP };

        if (s->kind == AST_STMT_VALUE && s->value.kind == AST_OUTPUT && !s->value.value) {
            if (last_of(d, s->value.name) != x->k)
                vec_push(lost, s->at);
        } else if (s->kind == AST_STMT_VALUE && !is_needed(x, s->value.name)) {
            if (s->value.kind == AST_OUTPUT && last_of(d, s->value.name) != x->k)
                vec_push(lost, s->at);
            else if (is_of_others(x, s))
                edits_replace(&x->e, s->value.value->at.begin, s->value.value->at.end, "0", 1);
        }
        if (s->kind == AST_STMT_WHEN && s->when.n) {
            drop_targets(x, s, lost);
        } else if (s->kind == AST_STMT_INITIAL) {
            t.reader = s->initial.ref.part[0].name;
            if (!stands_here(x, &t))
                vec_push(lost, s->at);
        }
    }
}

static bool
keeps_ref(const struct one *x, const ast_ref *r)
{
    uint32_t k = r->nparts ? map_get(&x->d->part, key_of(r->part[0].name)) : MAP_NONE;

    return k == x->k;
}

/* The text of an expression, with inputs in the places of what they stand for. */
static const char *
with_inputs(const struct one *x, const ast_expr *e)
{
    text_refs r = { 0 };
    edits change = { 0 };
    strbuf b = { 0 };
    const char *text;
    char *why = NULL;

    textrefs_of(e, NULL, (text_ref){ 0 }, &r);
    for (size_t i = 0; i < r.n; i++) {
        span at = r.at[i].ref->at;
        const char *of = text_of(x, at), *name;

        if (r.at[i].ref->nparts < 2 || !is_needed(x, of))
            continue;
        name = x->need.at[map_get(&x->of_text, bg_hash_bytes(of, strlen(of), 0))].input;
        edits_replace(&change, at.begin - e->at.begin, at.end - e->at.begin, name, strlen(name));
    }
    text = text_of(x, e->at);
    if (change.list.n && edits_seal(&change, strlen(text), &why)) {
        edits_apply(&change, text, strlen(text), &b);
        text = arena_strndup(x->d->a, b.at, b.n);
    }
    free(why);
    strbuf_free(&b);
    edits_free(&change);
    vec_free(&r);
    return text;
}

/* One item of an experiment that lists several things: those of this part. NULL: none, it goes. */
static const char *
remaining(const struct one *x, const ast_exp_item *item)
{
    strbuf b = { 0 };
    const char *text = NULL;

    for (int n = 0; n < item->nexprs + item->nrefs; n++) {
        bool expr = n < item->nexprs;

        if (expr ? place_of_expr(x->d, item->exprs[n]) != x->k : !keeps_ref(x, &item->refs[n - item->nexprs]))
            continue;
        strbuf_printf(&b, "%s%s", b.n ? ", " : "",
                      expr ? with_inputs(x, item->exprs[n]) : text_of(x, item->refs[n - item->nexprs].at));
    }
    if (b.n)
        text = arena_format(x->d->a, "%s %s;", item->kind == AST_EXP_RECORD ? "record" : "keep", b.at);
    strbuf_free(&b);
    return text;
}

static void
edit_experiment(struct one *x, const ast_experiment *e, spans *lost)
{
    struct splitter *d = x->d;
    part *self = &d->out->part.at[x->k];
    strbuf more = { 0 };

    for (int i = 0; i < e->nitems; i++) {
        const ast_exp_item *item = &e->item[i];

        if (item->kind == AST_EXP_OBSERVE && item->ref.nparts && last_of(d, item->ref.part[0].name) != x->k)
            vec_push(lost, item->at);
        if (item->kind == AST_EXP_EXPECT) /* of the whole, which no part is */
            vec_push(lost, item->at);
        if (item->kind == AST_EXP_RECORD || item->kind == AST_EXP_KEEP) {
            const char *rest = remaining(x, item);

            if (!rest)
                vec_push(lost, item->at);
            else if (strcmp(rest, text_of(x, item->at)))
                edits_replace(&x->e, item->at.begin, item->at.end, rest, strlen(rest));
        }
    }
    for (size_t i = 0; i < x->need.n; i++)
        strbuf_printf(&more, "    let %s = spline(\"%s\", \"%s\", time);\n", x->need.at[i].input,
                      part_csv(&d->out->part.at[x->need.at[i].owner], e->name, d->a), x->need.at[i].text);
    for (size_t i = 0; i < self->recorded.n; i++)
        strbuf_printf(&more, "%s%s", i ? ", " : "    record ", self->recorded.at[i]);
    if (self->recorded.n)
        strbuf_puts(&more, ";\n");
    if (more.n) {
        size_t at = e->at.end - 1;

        while (at && (x->text[at - 1] == ' ' || x->text[at - 1] == '\t'))
            at--;
        if (at && x->text[at - 1] != '\n')
            edits_insert(&x->e, e->at.end - 1, "\n", 1);
        edits_insert(&x->e, at && x->text[at - 1] == '\n' ? at : e->at.end - 1, more.at, more.n);
    }
    strbuf_free(&more);
}

static void
edit_experiments(struct one *x, spans *lost)
{
    const struct splitter *d = x->d;
    const ast_model *m = d->c.flat->ast;

    for (size_t i = 0; i < d->c.ast->ndecls; i++) {
        const ast_experiment *e = d->c.ast->decl[i].kind == AST_DECL_EXPERIMENT ? d->c.ast->decl[i].experiment : NULL;

        if (!e)
            continue;
        if (e->model == m->name && is_chosen(d, e))
            edit_experiment(x, e, lost);
        else if (!is_needed_base(d, e))
            vec_push(lost, e->at);
    }
}

/* Signals of others that nothing ever read. */
static bool
drop_signals(const struct one *x, strbuf *text, char **why)
{
    const struct splitter *d = x->d;
    compilation c = { 0 };
    spans lost = { 0 };
    edits e = { 0 };
    bool fine = compile_text(&c, d->run[0].path, text->at, text->n, STAGE_PARSE, NULL);

    for (size_t i = 0; fine && i < c.ast->ndecls; i++) {
        const ast_model *m = c.ast->decl[i].kind == AST_DECL_MODEL ? c.ast->decl[i].model : NULL;

        for (int k = 0; m && !strcmp(m->name, d->c.flat->name) && k < m->nstmt; k++) {
            const ast_stmt *s = m->stmt[k]->kind == AST_STMT_VALUE
                                    ? statement_of(d, names_intern_z(d->c.names, m->stmt[k]->value.name))
                                    : NULL;

            if (s && is_of_others(x, s) && !is_needed(x, s->value.name))
                vec_push(&lost, m->stmt[k]->at);
        }
    }
    if (!fine)
        *why = bg_format("the text of a partition cannot be read again: %s", diag_first_error(c.sources));
    else
        rewrite_delete_statements(&e, text->at, text->n, lost.at, lost.n);
    if (fine && lost.n && (fine = edits_seal(&e, text->n, why))) {
        strbuf after = { 0 };

        edits_apply(&e, text->at, text->n, &after);
        strbuf_free(text);
        *text = after;
    }
    vec_free(&lost);
    edits_free(&e);
    compile_free(&c);
    return fine;
}

/* Takes the elements of the others out of the text, once nothing here reads them. */
static bool
take_out_others(struct one *x, strbuf *text, char **why)
{
    struct splitter *d = x->d;
    const recording *r = &d->run[0];
    compile_options co = { .model = d->c.flat->name }; /* its experiments read tables that are not written yet */
    compilation c = { 0 };
    rewrite plan = { 0 };
    VEC(const char *) name = { 0 };
    bool fine = compile_text(&c, r->path, text->at, text->n, STAGE_GRAPH, &co);

    if (!fine)
        *why = bg_format("the text of a partition cannot be read again: %s", diag_first_error(c.sources));
    for (uint32_t i = 0; fine && i < c.flat->element.n; i++) {
        const char *element = c.flat->element.at[i].name;
        uint32_t k = map_get(&d->part, key_of(names_intern_z(d->c.names, element)));

        if (k != x->k)
            vec_push(&name, names_intern_z(c.names, element));
    }
    if (fine && !rewrite_plan(&(rewrite_request){ .f = c.flat, .file = c.ast, .name = name.at, .n = name.n }, &plan)) {
        *why = bg_strdup(plan.error);
        fine = false;
    }
    if (fine) {
        strbuf after = { 0 };

        edits_apply(&plan.edits, text->at, text->n, &after);
        strbuf_free(text);
        *text = after;
    }
    rewrite_free(&plan);
    vec_free(&name);
    compile_free(&c);
    return fine && drop_signals(x, text, why);
}

static void
one_free(struct one *x)
{
    vec_free(&x->need);
    map_free(&x->of_text);
    map_free(&x->walked);
    map_free(&x->replaced_at);
    vec_free(&x->work);
    vec_free(&x->replaced);
    edits_free(&x->e);
}

static bool
make_text(struct one *x, char **why)
{
    struct splitter *d = x->d;
    part *p = &d->out->part.at[x->k];
    spans lost = { 0 };
    strbuf text = { 0 };
    bool fine;

    edit_needs(x);
    drop_statements(x, &lost);
    edit_experiments(x, &lost);
    rewrite_delete_statements(&x->e, x->text, d->run[0].length, lost.at, lost.n);
    vec_free(&lost);
    fine = edits_seal(&x->e, d->run[0].length, why);
    if (fine) {
        edits_apply(&x->e, x->text, d->run[0].length, &text);
        fine = take_out_others(x, &text, why);
    }
    if (fine) {
        p->text = bg_malloc(text.n + 1);
        memcpy(p->text, text.at, text.n + 1);
        p->length = text.n;
    }
    strbuf_free(&text);
    return fine;
}

/* ---------------------------------------------------------------- all */

static int
by_number(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

    return a < b ? -1 : a > b;
}

static void
name_parts(struct splitter *d, const char *(*name_of)(void *ctx, const flat_model *f, const subgraph *s), void *ctx)
{
    for (size_t k = 0; k < d->s.partition.n; k++) {
        part x = { .name = name_of(ctx, d->c.flat, &d->s.subgraph.at[d->s.partition.at[k].subgraph.at[0]]) };

        vec_push(&d->out->part, x);
    }
}

/* What parts that are wanted read is recorded, once each. */
static void
pass_on(struct splitter *d, struct one *x)
{
    map said = { 0 };

    for (size_t k = 0; k < d->out->part.n; k++)
        for (size_t i = 0; i < x[k].need.n && d->out->part.at[k].wanted; i++) {
            const struct need *n = &x[k].need.at[i];
            uint64_t key = bg_hash_bytes(n->text, strlen(n->text), n->owner);

            if (map_get(&said, key) == MAP_NONE)
                vec_push(&d->out->part.at[n->owner].recorded, n->text);
            map_set(&said, key, 1);
        }
    map_free(&said);
}

/* Who reads whom. */
static void
find_reads(struct splitter *d, struct one *x)
{
    for (size_t k = 0; k < d->out->part.n; k++)
        for (size_t i = 0; i < x[k].need.n; i++)
            vec_push(&d->out->part.at[k].reads, x[k].need.at[i].owner);
    for (size_t k = 0; k < d->out->part.n; k++) {
        part *p = &d->out->part.at[k];
        size_t n = 0;

        if (p->reads.n)
            qsort(p->reads.at, p->reads.n, sizeof *p->reads.at, by_number);
        for (size_t i = 0; i < p->reads.n; i++)
            if (i == 0 || p->reads.at[i] != p->reads.at[i - 1])
                p->reads.at[n++] = p->reads.at[i];
        p->reads.n = n;
    }
}

/* Parts with an output that an experiment observes (any output where none observes any) or with something that it
 * records, and those that they need; all where nothing is asked for. */
static void
find_wanted(struct splitter *d)
{
    const ast_model *m = d->c.flat->ast;
    map observed = { 0 };
    bool any = false;

    for (size_t i = 0; i < d->c.ast->ndecls; i++) {
        const ast_experiment *e = d->c.ast->decl[i].kind == AST_DECL_EXPERIMENT ? d->c.ast->decl[i].experiment : NULL;

        for (int k = 0; e && e->model == m->name && is_chosen(d, e) && k < e->nitems; k++)
            if (e->item[k].kind == AST_EXP_OBSERVE && e->item[k].ref.nparts)
                map_set(&observed, key_of(e->item[k].ref.part[0].name), 1);
            else
                for (int n = 0; n < e->item[k].nexprs && d->out->part.n; n++)
                    d->out->part.at[place_of_expr(d, e->item[k].exprs[n])].wanted = true;
    }
    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];
        part *p;

        if (s->kind != AST_STMT_VALUE || s->value.kind != AST_OUTPUT || d->out->part.n == 0)
            continue;
        p = &d->out->part.at[last_of(d, s->value.name)];
        p->wanted |= observed.n == 0 || map_get(&observed, key_of(s->value.name)) != MAP_NONE;
    }
    for (size_t k = 0; k < d->out->part.n; k++)
        any |= d->out->part.at[k].wanted;
    for (size_t k = 0; k < d->out->part.n && !any; k++)
        d->out->part.at[k].wanted = true;
    for (size_t k = d->out->part.n; k-- > 0;)
        for (size_t i = 0; i < d->out->part.at[k].reads.n && d->out->part.at[k].wanted; i++)
            d->out->part.at[d->out->part.at[k].reads.at[i]].wanted = true;
    map_free(&observed);
}

bool
separate_text(const recording *run, size_t nruns,
              const char *(*name_of)(void *ctx, const flat_model *f, const subgraph *s), void *ctx, arena *a,
              parts *out, char **why)
{
    struct splitter d = { .run = run, .nruns = nruns, .a = a, .out = out };
    compile_options co = recording_options(run);
    struct one *x = NULL;
    bool fine = compile_text(&d.c, run->path, run->text, run->length, STAGE_GRAPH, &co);

    *out = (parts){ 0 };
    *why = fine ? NULL : bg_format("the conditioned text cannot be read again: %s", diag_first_error(d.c.sources));
    if (fine) {
        const flat_model *f = d.c.flat;

        plan_nothing(f, &d.plan);
        subgraphs_find(f, &d.plan, NULL, 0, a, &d.s);
        d.sole = bg_malloc((f->var.n + 1) * sizeof *d.sole);
        d.last = bg_malloc((f->var.n + 1) * sizeof *d.last);
        subgraphs_by_partition(f, &d.s, d.sole, d.last);
        text_names_make(f, &d.names);
        textrefs_gather(f->ast, d.c.ast, &d.refs);
        own(&d);
        name_parts(&d, name_of, ctx);
        x = bg_calloc(out->part.n + 1, sizeof *x);
        for (uint32_t k = 0; k < out->part.n; k++) {
            x[k].d = &d;
            x[k].k = k;
            x[k].text = run->text;
            find_needs(&x[k]);
        }
        find_reads(&d, x);
        find_wanted(&d);
        pass_on(&d, x);
        for (uint32_t k = 0; k < out->part.n && fine; k++)
            if (out->part.at[k].wanted)
                fine = make_text(&x[k], why);
        for (uint32_t k = 0; k < out->part.n; k++)
            one_free(&x[k]);
    }
    free(x);
    free(d.sole);
    free(d.last);
    text_names_free(&d.names);
    vec_free(&d.refs);
    map_free(&d.value);
    map_free(&d.part);
    plan_free(&d.plan);
    subgraphs_free(&d.s);
    compile_free(&d.c);
    return fine;
}

void
parts_free(parts *p)
{
    for (size_t i = 0; i < p->part.n; i++) {
        free(p->part.at[i].text);
        vec_free(&p->part.at[i].recorded);
        vec_free(&p->part.at[i].reads);
    }
    vec_free(&p->part);
}

const char *
part_csv(const part *p, const char *experiment, arena *a)
{
    return arena_format(a, "%s_%s.csv", p->name, experiment);
}
