/* separate.c - see separate.h */
#include "separate.h"

#include <string.h>

#include "metrics.h"
#include "rewrite.h"
#include "separate_inside.h"

/* ---------------------------------------------------------------- ownership of variables */

/* A plan in which all links stay: the conditioned graph as it is. */
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
    return number == NONE ? NONE : d->s.subgraph.at[number].partition;
}

static void
own(struct splitter *d)
{
    const flat_model *f = d->c.flat;
    const ast_model *m = f->ast;

    for (uint32_t i = 0; i < f->element.n; i++)
        map_set(&d->part, part_key(names_intern_z(d->c.names, f->element.at[i].name)),
                partition_of(d, d->s.of_element[i]));
    for (uint32_t i = 0; i < f->junction.n; i++)
        if (!f->junction.at[i].implicit)
            map_set(&d->part, part_key(names_intern_z(d->c.names, f->junction.at[i].name)),
                    partition_of(d, d->s.of_junction[i]));
    for (uint32_t i = 0; i < f->bond.n; i++)
        if (f->bond.at[i].name)
            map_set(&d->part, part_key(names_intern_z(d->c.names, f->bond.at[i].name)),
                    partition_of(d, d->s.of_junction[f->bond.at[i].from]));
    for (uint32_t i = 0; i < f->port.n; i++)
        if (port_bond_name(f, &f->port.at[i]))
            map_set(&d->part, part_key(names_intern_z(d->c.names, port_bond_name(f, &f->port.at[i]))),
                    partition_of(d, d->s.of_junction[f->port.at[i].junction]));
    for (int i = 0; i < m->nstmt; i++)
        if (m->stmt[i]->kind == AST_STMT_VALUE && (m->stmt[i]->value.value || m->stmt[i]->value.kind != AST_OUTPUT))
            map_set(&d->value, part_key(m->stmt[i]->value.name), (uint32_t)i);
    for (size_t i = 0; i < f->reinit.n; i++)
        if (f->var.at[f->reinit.at[i].target].kind == VAR_INTEGRAL)
            map_set(&d->jumps, part_key(names_intern_z(d->c.names, var_name(f, f->reinit.at[i].target))), 1);
}

const ast_stmt *
part_statement(const struct splitter *d, const char *value)
{
    uint32_t i = map_get(&d->value, part_key(value));

    return i == MAP_NONE ? NULL : d->c.flat->ast->stmt[i];
}

uint32_t
part_owner(const struct splitter *d, const ast_ref *r)
{
    uint32_t k;

    if (r->nparts > 1)
        return (k = map_get(&d->part, part_key(r->part[0].name))) == MAP_NONE ? NONE : k;
    k = text_variable(&d->names, r->part[0].name);
    if (k != VAR_NONE && d->sole[k] == MANY_SUBGRAPHS && map_get(&d->jumps, part_key(r->part[0].name)) != MAP_NONE)
        return d->last[k];
    return k == VAR_NONE || d->sole[k] >= MANY_SUBGRAPHS ? NONE : d->sole[k];
}

uint32_t
part_of_value(const struct splitter *d, const char *value)
{
    var_id v = text_variable(&d->names, value);

    return v == VAR_NONE || d->last[v] == NONE ? 0 : d->last[v];
}

/* ---------------------------------------------------------------- one part */

const char *
part_source(const struct one *x, span at)
{
    return arena_strndup(x->d->a, x->text + at.begin, at.end - at.begin);
}

const char *
part_new_name(struct splitter *d, const char *text, const char *tail)
{
    char *plain = arena_strdup(d->a, text);
    const char *name;

    for (char *s = plain; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9')))
            *s = '_';
    name = names_intern_z(d->c.names, arena_format(d->a, "%s%s", plain, tail));
    for (int i = 2; part_statement(d, name) || map_get(&d->made, part_key(name)) != MAP_NONE; i++)
        name = names_intern_z(d->c.names, arena_format(d->a, "%s%s_%d", plain, tail, i));
    map_set(&d->made, part_key(name), 1);
    return name;
}

void
part_add_need(struct one *x, struct need n)
{
    uint64_t key = bg_hash_bytes(n.text, strlen(n.text), 0);

    if (map_get(&x->of_text, key) != MAP_NONE)
        return;
    map_set(&x->of_text, key, (uint32_t)x->need.n);
    vec_push(&x->need, n);
}

/* The input's name: the same in all parts that read the same expression. */
static const char *
input_name(struct splitter *d, const char *text)
{
    uint64_t key = bg_hash_bytes(text, strlen(text), 0);
    uint32_t i = map_get(&d->input_at, key);

    if (i == MAP_NONE) {
        map_set(&d->input_at, key, i = (uint32_t)d->input.n);
        vec_push(&d->input, part_new_name(d, text, ""));
    }
    return d->input.at[i];
}

static void
add_need(struct one *x, const ast_ref *r, uint32_t owner)
{
    struct splitter *d = x->d;
    const char *text = part_source(x, r->at);
    bool held = r->nparts == 1 && owner < x->k && samples_hold(d, r->part[0].name);

    if (part_needs(x, text))
        return;
    if (owner > x->k) /* of a part that runs later: the value has no effect, as in 0*x.e */
        owner = NONE;
    part_add_need(x, (struct need){ text,
                                    held             ? part_new_name(d, text, "_sampled")
                                    : r->nparts == 1 ? text
                                                     : input_name(d, text),
                                    owner, text_variable(&d->names, text), held });
}

bool
part_needs(const struct one *x, const char *text)
{
    return map_get(&x->of_text, bg_hash_bytes(text, strlen(text), 0)) != MAP_NONE;
}

/* Walks the definition of a value; does nothing where the name is not that of a value. */
static void
walk_definition(struct one *x, const char *name)
{
    const ast_stmt *s = part_statement(x->d, name);

    if (!s || map_get(&x->walked, part_key(s->value.name)) != MAP_NONE)
        return;
    map_set(&x->walked, part_key(s->value.name), 1);
    vec_push(&x->work, s->value.name);
}

const char *
part_input(const struct one *x, const ast_ref *r)
{
    const char *text = part_source(x, r->at);
    uint32_t i = map_get(&x->of_text, bg_hash_bytes(text, strlen(text), 0));

    return i == MAP_NONE ? NULL : x->need.at[i].input;
}

void
part_meet(struct one *x, const text_ref *t)
{
    ast_part room;
    const ast_ref ref = ast_expr_ref(t->expr, &room), *r = &ref;
    uint32_t owner = part_owner(x->d, r);

    if (owner != NONE && owner != x->k) {
        add_need(x, r, owner);
        if (r->nparts > 1 && t->kind != READS_EXPERIMENT && map_get(&x->replaced_at, r->at.begin) == MAP_NONE) {
            map_set(&x->replaced_at, r->at.begin, 1);
            vec_push(&x->replaced, ((struct replaced){ r->at, part_input(x, r) }));
        }
    } else if (r->nparts == 1) {
        walk_definition(x, r->part[0].name);
    }
}

bool
part_sets(const struct one *x, const char *target)
{
    const struct splitter *d = x->d;
    uint32_t k = map_get(&d->part, part_key(target));
    var_id v = k == MAP_NONE ? text_variable(&d->names, target) : VAR_NONE;

    if (k != MAP_NONE)
        return k == x->k;
    return v == VAR_NONE ? x->k == 0 : d->last[v] == NONE || d->last[v] == x->k;
}

bool
part_begins(const struct one *x, const char *target)
{
    return part_sets(x, target) || (map_get(&x->walked, part_key(target)) != MAP_NONE && !part_needs(x, target));
}

static bool
stands_here(const struct one *x, const text_ref *t)
{
    switch (t->kind) {
    case READS_PART: return map_get(&x->d->part, part_key(t->reader)) == x->k;
    case READS_JUMP: return part_sets(x, t->reader);
    case READS_VALUE:
    case READS_EXPERIMENT: break;
    }
    return false;
}

uint32_t
part_of_expr(const struct splitter *d, const ast_expr *e)
{
    text_refs r = { 0 };
    uint32_t last = 0;

    textrefs_of(e, NULL, (text_ref){ 0 }, &r);
    for (size_t i = 0; i < r.n; i++) {
        ast_part room;
        ast_ref ref = ast_expr_ref(r.at[i].expr, &room);
        uint32_t k = ref.nparts > 1 ? part_owner(d, &ref) : part_of_value(d, ref.part[0].name);

        last = k != NONE && k > last ? k : last;
    }
    vec_free(&r);
    return last;
}

uint32_t
part_run(const struct splitter *d, const ast_experiment *e)
{
    return map_get(&d->asked, bg_hash_bytes(e->name, strlen(e->name), 0));
}

bool
part_is_asked(const struct splitter *d, const ast_experiment *e)
{
    return part_run(d, e) != MAP_NONE;
}

static bool
is_assertion(const ast_stmt *s)
{
    return s->kind == AST_STMT_WHEN && s->when.assertion;
}

/* Notes what a law or jump in this part reads. */
static void
meet_reference(struct one *x, const text_ref *t)
{
    const ast_stmt *s = t->kind == READS_JUMP ? t->item : NULL;
    bool told = s && s->kind == AST_STMT_WHEN && s->when.cond && turns_told(x, s);

    if (told)
        turns_listen(x, s);
    if (!told || !turns_decide(t))
        (samples_read(x->d, t) ? samples_meet : part_meet)(x, t);
    if (s)
        walk_definition(x, t->reader);
}

/* Collects what the part reads of others: from its elements, jumps, outputs, assertions and recorded expressions,
 * through the definitions of the values that they read. */
static void
find_part_needs(struct one *x)
{
    struct splitter *d = x->d;
    const ast_model *m = d->c.flat->ast;
    text_refs r = { 0 };

    for (size_t i = 0; i < d->refs.n; i++)
        if (stands_here(x, &d->refs.at[i]))
            meet_reference(x, &d->refs.at[i]);
    for (int i = 0; i < m->nstmt; i++)
        if (m->stmt[i]->kind == AST_STMT_VALUE && m->stmt[i]->value.kind == AST_OUTPUT &&
            part_of_value(d, m->stmt[i]->value.name) == x->k) {
            map_set(&x->walked, part_key(m->stmt[i]->value.name), 1);
            vec_push(&x->work, m->stmt[i]->value.name);
        } else if (is_assertion(m->stmt[i]) && part_of_expr(d, m->stmt[i]->when.cond) == x->k) {
            textrefs_of(m->stmt[i]->when.cond, NULL, (text_ref){ .kind = READS_VALUE }, &r);
        }
    for (size_t i = 0; i < d->c.ast->ndecls; i++) {
        const ast_experiment *e = d->c.ast->decl[i].kind == AST_DECL_EXPERIMENT ? d->c.ast->decl[i].experiment : NULL;

        for (int k = 0; e && e->model == m->name && part_is_asked(d, e) && k < e->nitems; k++)
            for (int n = 0; e->item[k].kind == AST_EXP_RECORD && n < e->item[k].nexprs; n++)
                if (part_of_expr(d, e->item[k].exprs[n]) == x->k)
                    textrefs_of(e->item[k].exprs[n], NULL,
                                (text_ref){ .kind = READS_EXPERIMENT, .reader = e->name, .item = &e->item[k] }, &r);
    }
    ends_meet(x, &r);
    turns_meet(x, &r);
    for (size_t i = 0; i < r.n; i++)
        part_meet(x, &r.at[i]);
    samples_meet_variants(x);
    while (x->work.n) {
        const ast_stmt *s = part_statement(d, x->work.at[--x->work.n]);

        r.n = 0;
        textrefs_of(s->value.value, NULL, (text_ref){ .kind = READS_VALUE, .reader = s->value.name }, &r);
        for (size_t i = 0; i < r.n; i++)
            part_meet(x, &r.at[i]);
    }
    vec_free(&r);
}

const char *
part_unit(const struct splitter *d, var_id v)
{
    const unit *u = v == VAR_NONE ? NULL : var_unit(d->c.flat, v);

    return u && !unit_is_number(u) ? arena_format(d->a, " [%s]", unit_text(unit_dimension(u))) : "";
}

/* Replaces references to other parts by inputs, which are declared at the beginning of the model; a declared value of
 * another part becomes an input in place. */
static void
edit_needs(struct one *x)
{
    struct splitter *d = x->d;
    const ast_model *m = d->c.flat->ast;
    strbuf declared = { 0 };

    for (size_t i = 0; i < x->replaced.n; i++) {
        const struct replaced *r = &x->replaced.at[i];

        edits_replace(&x->e, r->at.begin, r->at.end, r->name, strlen(r->name));
    }
    for (size_t i = 0; i < x->need.n; i++) {
        const struct need *n = &x->need.at[i];
        const ast_stmt *s = part_statement(d, names_intern_z(d->c.names, n->text));
        const char *line = arena_format(d->a, "input %s%s%s;", n->input, part_unit(d, n->var),
                                        n->owner == NONE ? " = 0" : "");

        if (s && !n->held)
            edits_replace(&x->e, s->at.begin, s->at.end, line, strlen(line));
        else
            strbuf_printf(&declared, "%s\n    ", line);
        if (s && n->held && s->value.kind == AST_OUTPUT) /* of another */
            edits_replace(&x->e, s->at.begin, s->at.begin + strlen("output"), "signal", strlen("signal"));
    }
    samples_declare(x, &declared);
    turns_declare(x, &declared);
    ends_declare(x, &declared);
    if (declared.n && m->nstmt)
        edits_insert(&x->e, m->stmt[0]->at.begin, declared.at, declared.n);
    strbuf_free(&declared);
}

/* Is it a signal of other parts that nothing here reads? */
static bool
signal_is_unread(const struct one *x, const ast_stmt *s)
{
    var_id v = text_variable(&x->d->names, s->value.name);

    return s->value.kind == AST_SIGNAL && v != VAR_NONE && x->d->sole[v] != x->k && x->d->sole[v] != NONE &&
           map_get(&x->walked, part_key(s->value.name)) == MAP_NONE;
}

/* The input through which samples set a target of another part that is also held here; NULL: it is no such target. */
static const char *
held_input(const struct one *x, const ast_ref *target)
{
    uint32_t i = target->nparts > 1 || part_sets(x, target->part[0].name)
                     ? MAP_NONE
                     : map_get(&x->of_text, bg_hash_bytes(target->part[0].name, strlen(target->part[0].name), 0));

    return i == MAP_NONE || !x->need.at[i].held ? NULL : x->need.at[i].input;
}

/* Removes from a jump the targets of other parts, or the whole jump where only other parts' targets remain, except for
 * what they need from this part. */
static void
drop_targets(struct one *x, const ast_stmt *s, spans *lost)
{
    strbuf more = { 0 };
    int here = 0;

    for (int k = 0; k < s->when.n; k++)
        here += part_sets(x, s->when.reinit[k].target.part[0].name) || held_input(x, &s->when.reinit[k].target);
    samples_jumps(x, s, &more);
    if (s->when.cond && (here || more.n || turns_of(x->d, s)))
        turns_note(x, s, &more);
    if (!here && more.n) {
        const char *head = s->when.cond ? arena_format(x->d->a, "when %s", turns_condition(x, s))
                                        : part_source(x, s->when.head),
                   *text = arena_format(x->d->a, "%s { %s}", head, more.at);

        edits_replace(&x->e, s->at.begin, s->at.end, text, strlen(text));
    } else if (!here) {
        vec_push(lost, s->at);
    } else if (more.n) {
        edits_insert(&x->e, s->at.end - 1, more.at, more.n);
    }
    if (here && s->when.cond && turns_told(x, s)) {
        const char *condition = turns_condition(x, s);

        edits_replace(&x->e, s->when.cond->at.begin, s->when.cond->at.end, condition, strlen(condition));
    }
    for (int k = 0; here && k < s->when.n; k++) {
        const struct ast_reinit *r = &s->when.reinit[k];
        const char *input = held_input(x, &r->target);

        if (input)
            edits_replace(&x->e, r->value->at.begin, r->value->at.end, input, strlen(input));
        else if (!part_sets(x, r->target.part[0].name))
            edits_delete(&x->e, r->at.begin, r->at.end);
    }
    strbuf_free(&more);
}

/* Removes outputs and jumps of other parts; an output that is read here has already become an input. Signals of other
 * parts are left until the elements that read them are gone. */
static void
drop_statements(struct one *x, spans *lost)
{
    const struct splitter *d = x->d;
    const ast_model *m = d->c.flat->ast;

    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];

        if (s->kind == AST_STMT_VALUE && s->value.kind == AST_OUTPUT && !s->value.value) {
            if (part_of_value(d, s->value.name) != x->k)
                vec_push(lost, s->at);
        } else if (s->kind == AST_STMT_VALUE && !part_needs(x, s->value.name)) {
            if (s->value.kind == AST_OUTPUT && part_of_value(d, s->value.name) != x->k)
                vec_push(lost, s->at);
            else if (signal_is_unread(x, s))
                edits_replace(&x->e, s->value.value->at.begin, s->value.value->at.end, "0", 1);
        }
        if (is_assertion(s) && part_of_expr(d, s->when.cond) != x->k)
            vec_push(lost, s->at);
        if (s->kind == AST_STMT_WHEN && s->when.n) {
            drop_targets(x, s, lost);
        } else if (s->kind == AST_STMT_INITIAL) {
            if (!part_begins(x, s->initial.ref.part[0].name) && !held_input(x, &s->initial.ref))
                vec_push(lost, s->at);
        }
    }
}

/* Removes signals of other parts that nothing ever read. */
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
                                    ? part_statement(d, names_intern_z(d->c.names, m->stmt[k]->value.name))
                                    : NULL;

            if (s && signal_is_unread(x, s) && !part_needs(x, s->value.name))
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

/* Takes the elements of the other parts out of the text, once nothing here reads them. */
static bool
take_out_others(struct one *x, strbuf *text, char **why)
{
    struct splitter *d = x->d;
    const recording *r = &d->run[0];
    compile_options co = { .model = d->c.flat->name }; /* its experiments read tables that do not exist yet */
    compilation c = { 0 };
    rewrite plan = { 0 };
    VEC(const char *) name = { 0 };
    bool fine = compile_text(&c, r->path, text->at, text->n, STAGE_GRAPH, &co);

    if (!fine)
        *why = bg_format("the text of a partition cannot be read again: %s", diag_first_error(c.sources));
    for (uint32_t i = 0; fine && i < c.flat->element.n; i++) {
        const char *element = c.flat->element.at[i].name;
        uint32_t k = map_get(&d->part, part_key(names_intern_z(d->c.names, element)));

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
    vec_free(&x->variant);
    map_free(&x->variant_at);
    edits_free(&x->e);
}

static bool
make_part_text(struct one *x, char **why)
{
    struct splitter *d = x->d;
    part *p = &d->out->part.at[x->k];
    spans lost = { 0 };
    strbuf text = { 0 };
    bool fine;

    edit_needs(x);
    drop_statements(x, &lost);
    part_experiments(x, &lost);
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
by_part_number(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

    return a < b ? -1 : a > b;
}

static void
name_partitions(struct splitter *d, const char *(*name_of)(void *ctx, const flat_model *f, const subgraph *s),
                void *ctx)
{
    for (size_t k = 0; k < d->s.partition.n; k++) {
        part x = { .name = name_of(ctx, d->c.flat, &d->s.subgraph.at[d->s.partition.at[k].subgraph.at[0]]) };

        vec_push(&d->out->part, x);
    }
}

/* Records, once each, what other wanted parts read. */
static void
pass_on(struct splitter *d, struct one *x)
{
    map said = { 0 };

    for (size_t k = 0; k < d->out->part.n; k++)
        for (size_t i = 0; i < x[k].need.n && d->out->part.at[k].wanted; i++) {
            const struct need *n = &x[k].need.at[i];
            uint64_t key = bg_hash_bytes(n->text, strlen(n->text), n->owner);

            if (n->owner != NONE && map_get(&said, key) == MAP_NONE)
                vec_push(&d->out->part.at[n->owner].recorded, n->text);
            map_set(&said, key, 1);
        }
    map_free(&said);
}

/* Who reads whom. */
static void
list_reads(struct splitter *d, struct one *x)
{
    for (size_t k = 0; k < d->out->part.n; k++)
        for (size_t i = 0; i < x[k].need.n; i++)
            if (x[k].need.at[i].owner != NONE)
                vec_push(&d->out->part.at[k].reads, x[k].need.at[i].owner);
    for (size_t k = 0; k < d->out->part.n; k++) {
        part *p = &d->out->part.at[k];
        size_t n = 0;

        if (p->reads.n)
            qsort(p->reads.at, p->reads.n, sizeof *p->reads.at, by_part_number);
        for (size_t i = 0; i < p->reads.n; i++)
            if (i == 0 || p->reads.at[i] != p->reads.at[i - 1])
                p->reads.at[n++] = p->reads.at[i];
        p->reads.n = n;
    }
}

/* Wanted are the parts with an observed output (any output where none is observed), with something recorded or
 * asserted, with a condition that ends the run, and the parts that those need; all parts where nothing is asked for. */
static void
find_wanted(struct splitter *d)
{
    const ast_model *m = d->c.flat->ast;
    map observed = { 0 };
    bool any = false;

    for (size_t i = 0; i < d->c.ast->ndecls; i++) {
        const ast_experiment *e = d->c.ast->decl[i].kind == AST_DECL_EXPERIMENT ? d->c.ast->decl[i].experiment : NULL;

        for (int k = 0; e && e->model == m->name && part_is_asked(d, e) && k < e->nitems; k++)
            if (ends_of(d, &e->item[k]))
                d->out->part.at[ends_of(d, &e->item[k])->owner].wanted = true;
            else if (e->item[k].kind == AST_EXP_OBSERVE && e->item[k].ref.nparts)
                map_set(&observed, part_key(e->item[k].ref.part[0].name), 1);
            else
                for (int n = 0; n < e->item[k].nexprs && d->out->part.n; n++)
                    d->out->part.at[part_of_expr(d, e->item[k].exprs[n])].wanted = true;
    }
    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];
        part *p;

        if (is_assertion(s) && d->out->part.n)
            d->out->part.at[part_of_expr(d, s->when.cond)].wanted = true;
        if (s->kind != AST_STMT_VALUE || s->value.kind != AST_OUTPUT || d->out->part.n == 0)
            continue;
        p = &d->out->part.at[part_of_value(d, s->value.name)];
        p->wanted |= observed.n == 0 || map_get(&observed, part_key(s->value.name)) != MAP_NONE;
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
        for (size_t i = 0; i < nruns; i++)
            map_set(&d.asked, bg_hash_bytes(run[i].experiment, strlen(run[i].experiment), 0), (uint32_t)i);
        samples_find(&d);
        turns_find(&d);
        ends_find(&d);
        fine = ends_run(&d, why);
        name_partitions(&d, name_of, ctx);
        x = bg_calloc(out->part.n + 1, sizeof *x);
        for (uint32_t k = 0; k < out->part.n; k++) {
            x[k].d = &d;
            x[k].k = k;
            x[k].text = run->text;
            find_part_needs(&x[k]);
        }
        for (size_t i = 0; i < d.sampled.n; i++) /* a part that samples for others has to act when they do */
            turns_listen(&x[d.sampled.at[i].owner], d.sampled.at[i].block);
        list_reads(&d, x);
        find_wanted(&d);
        pass_on(&d, x);
        for (uint32_t k = 0; k < out->part.n && fine; k++)
            if (out->part.at[k].wanted)
                fine = make_part_text(&x[k], why);
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
    map_free(&d.jumps);
    map_free(&d.held);
    map_free(&d.over_time);
    map_free(&d.made);
    vec_free(&d.sampled);
    map_free(&d.sampled_at);
    vec_free(&d.ending);
    map_free(&d.ending_at);
    vec_free(&d.turn);
    map_free(&d.turn_at);
    free(d.end);
    map_free(&d.asked);
    vec_free(&d.input);
    map_free(&d.input_at);
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
