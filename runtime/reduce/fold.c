/* fold.c - see fold.h */
#include <ctype.h>
#include <string.h>

#include "fold.h"
#include "metrics.h"
#include "operand.h"

/* A node of one of the model's own chains. */
struct place {
    uint32_t stmt, node;
};

struct finder {
    const compilation *c;
    arena *a;
    const char *text;
    map named;      /* interned name that something reads, keeps, or gives an initial value -> 1 */
    map element_of; /* interned name -> element */
    map first;      /* interned name -> its first place; next[] continues */
    VEC(struct place) place;
    VEC(uint32_t) next; /* [place], NONE: the last */
    map last;           /* interned name -> its last place */
    folds *out;
};

/* ---------------------------------------------------------------- names that stay */

static void
name_is_used(struct finder *d, const char *name)
{
    map_set(&d->named, map_ptr_key(name), 1);
}

static bool
is_name_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Notes every name followed by a dot: in an expression that is a part. Units, numbers, texts and comments are
 * skipped. */
static void
scan_names(struct finder *d, span at)
{
    const char *t = d->text;

    for (uint32_t i = at.begin; i < at.end;) {
        uint32_t from = i;

        if (t[i] == '/' && i + 1 < at.end && t[i + 1] == '/') {
            while (i < at.end && t[i] != '\n')
                i++;
        } else if (t[i] == '"') {
            for (i++; i < at.end && t[i] != '"' && t[i] != '\n'; i++)
                ;
            i++;
        } else if (t[i] == '[' && i > at.begin && !is_name_letter(t[i - 1])) {
            while (i < at.end && t[i] != ']' && t[i] != '\n')
                i++;
        } else if (is_name_letter(t[i])) {
            while (i < at.end && (is_name_letter(t[i]) || (isdigit((unsigned char)t[from]) && t[i] == '.')))
                i++;
            if (!isdigit((unsigned char)t[from]) && (from == at.begin || t[from - 1] != '.')) {
                uint32_t k = i;

                while (k < at.end && isspace((unsigned char)t[k]))
                    k++;
                if (k < at.end && (t[k] == '.' || t[k] == '['))
                    name_is_used(d, names_intern(d->c->names, t + from, i - from));
            }
        } else {
            i++;
        }
    }
}

/* Notes names in `without`, and in chains of loops and conditional parts. The parser limits nesting. */
static void
gather_named(struct finder *d, const ast_stmt *s, bool nested)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int k = 0; k < s->nnodes; k++) {
            const ast_node *n = &ast_chain(s)[k];

            if (nested && ast_node_nparts(n))
                name_is_used(d, ast_node_name(n));
            for (int i = 0; i < n->own->more->nwithout; i++)
                if (n->own->more->without[i].nparts)
                    name_is_used(d, n->own->more->without[i].part[0].name);
        }
        break;
    case AST_STMT_WITHOUT:
        for (int k = 0; k < s->without.n; k++)
            if (s->without.ref[k].nparts)
                name_is_used(d, s->without.ref[k].part[0].name);
        break;
    case AST_STMT_FOR:
        for (int k = 0; k < s->loop.n; k++)
            gather_named(d, s->loop.body[k], true);
        break;
    case AST_STMT_IF:
        for (int k = 0; k < s->cond.nthen; k++)
            gather_named(d, s->cond.then[k], true);
        for (int k = 0; k < s->cond.nother; k++)
            gather_named(d, s->cond.other[k], true);
        break;
    case AST_STMT_VALUE:
    case AST_STMT_PORT:
    case AST_STMT_INITIAL:
    case AST_STMT_WHEN: break;
    }
}

static void
gather_model(struct finder *d)
{
    const ast_model *m = d->c->flat->ast;

    scan_names(d, m->at);
    for (size_t i = 0; i < d->c->ast->ndecls; i++) {
        const ast_experiment *x = d->c->ast->decl[i].kind == AST_DECL_EXPERIMENT ? d->c->ast->decl[i].experiment : NULL;

        if (!x || x->model != m->name)
            continue;
        scan_names(d, x->at);
        for (int k = 0; k < x->nitems; k++)
            for (int j = 0; x->item[k].kind == AST_EXP_KEEP && j < x->item[k].nrefs; j++)
                if (x->item[k].refs[j].nparts)
                    name_is_used(d, x->item[k].refs[j].part[0].name);
    }
    for (uint32_t i = 0; i < (uint32_t)m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];

        gather_named(d, s, false);
        for (uint32_t k = 0; s->kind == AST_STMT_CHAIN && k < (uint32_t)s->nnodes; k++) {
            const ast_node *n = &ast_chain(s)[k];
            uint32_t at = (uint32_t)d->place.n, before;

            if (ast_node_nparts(n) != 1 || ast_node_nindex(n)) {
                if (ast_node_nparts(n))
                    name_is_used(d, ast_node_name(n));
                continue;
            }
            vec_push(&d->place, ((struct place){ i, k }));
            vec_push(&d->next, NONE);
            before = map_get(&d->last, map_ptr_key(ast_node_name(n)));
            if (before == MAP_NONE)
                map_set(&d->first, map_ptr_key(ast_node_name(n)), at);
            else
                d->next.at[before] = at;
            map_set(&d->last, map_ptr_key(ast_node_name(n)), at);
        }
    }
    for (uint32_t i = 0; i < d->c->flat->element.n; i++)
        map_set(&d->element_of, map_ptr_key(d->c->flat->element.at[i].name), i);
}

static bool
is_named(const struct finder *d, const char *name)
{
    return map_get(&d->named, map_ptr_key(name)) != MAP_NONE;
}

/* ---------------------------------------------------------------- junctions */

static const ast_stmt *
stmt_of(const struct finder *d, struct place p)
{
    return d->c->flat->ast->stmt[p.stmt];
}
static const ast_node *
chain_node_of(const struct finder *d, struct place p)
{
    return &ast_chain(stmt_of(d, p))[p.node];
}

static span
between(span a, span b)
{
    return (span){ a.file, a.begin, b.begin };
}

/* The text of the span; NULL: it spans several lines. */
static const char *
line_text(const struct finder *d, span at)
{
    const char *t = arena_strndup(d->a, d->text + at.begin, at.end - at.begin);

    return strchr(t, '\n') ? NULL : t;
}

static void
edit_to(fold *x, span at, const char *text)
{
    x->edit[x->nedits].at = at;
    x->edit[x->nedits++].text = text;
}

static void
fold_changes(fold *x, uint32_t stmt)
{
    x->stmt[x->nstmts++] = stmt;
}

/* Chain a ends in the junction and chain b begins with it: joins them where the longer of the two stands. */
static bool
join_chains(struct finder *d, struct place a, struct place b, fold *x)
{
    const ast_stmt *sa = stmt_of(d, a), *sb = stmt_of(d, b);
    const ast_node *ja = chain_node_of(d, a), *jb = chain_node_of(d, b);
    const char *text;

    if (a.stmt == b.stmt || sa->named || sb->named)
        return false;
    if (sa->nnodes == 2) {
        text = line_text(d, ast_node_at(&ast_chain(sa)[0]));
        edit_to(x, ast_node_at(jb), text);
        x->lost[x->nlost++] = sa->at;
    } else {
        text = line_text(d, (span){ sb->at.file, ast_chain(sb)[1].begin, sb->at.end });
        edit_to(x, (span){ sa->at.file, ja->begin, sa->at.end }, text);
        x->lost[x->nlost++] = sb->at;
    }
    fold_changes(x, a.stmt);
    fold_changes(x, b.stmt);
    return text != NULL;
}

static void
find_junction(struct finder *d, uint32_t i)
{
    const flat_model *f = d->c->flat;
    const flat_junction *j = &f->junction.at[i];
    struct place in = { NONE, 0 }, out = { NONE, 0 }, alone = { NONE, 0 };
    fold x = { .name = j->name, .at = j->at };
    int sum = 0, arrows = 0, elements = 0;

    for (uint32_t k = 0; k < j->ninc; k++) {
        const flat_incidence *y = &f->incidence.at[j->inc0 + k];

        if (!y->is_bond && port_own_name(f, y->index))
            return; /* the element is a field: a chain names the port */
        elements += !y->is_bond && !is_two_port(&f->element.at[f->port.at[y->index].element]);
    }
    if (elements == 2 && j->type == 0)
        return; /* between two elements there is a 1-junction, written or implied */
    if (j->implicit || j->parent != NONE || j->port || j->thinned || j->ninc != 2 || !j->node ||
        ast_has_block(j->node) || j->node->own->more->domain || is_named(d, j->name))
        return;
    for (uint32_t k = 0; k < 2; k++)
        sum += f->incidence.at[j->inc0 + k].sign;
    if (sum)
        return;
    for (uint32_t k = map_get(&d->first, map_ptr_key(j->name)); k != MAP_NONE; k = d->next.at[k]) {
        struct place p = d->place.at[k];
        bool has_in = p.node > 0, has_out = (int)p.node + 1 < stmt_of(d, p)->nnodes;

        arrows += has_in + has_out;
        if (has_in)
            in = p;
        if (has_out)
            out = p;
        if (!has_in && !has_out)
            alone = p;
    }
    if (arrows != 2 || in.stmt == NONE || out.stmt == NONE)
        return;
    if (in.stmt == out.stmt && in.node == out.node) {
        edit_to(&x, between(ast_node_at(chain_node_of(d, in)), ast_node_at(&ast_chain(stmt_of(d, in))[in.node + 1])),
                "");
        fold_changes(&x, in.stmt);
        x.within = true;
    } else if (!join_chains(d, in, out, &x)) {
        return;
    }
    if (alone.stmt != NONE) {
        x.lost[x.nlost++] = stmt_of(d, alone)->at;
        fold_changes(&x, alone.stmt);
    }
    vec_push(d->out, x);
}

/* ---------------------------------------------------------------- two-ports */

/* The element that a node of the model itself declares as `= expr` and that nothing names; NULL: it is not such a
 * node. */
static const flat_element *
plain_element(const struct finder *d, const ast_node *n)
{
    const flat_model *f = d->c->flat;
    uint32_t e = n->own->type && ast_node_nparts(n) == 1 && !ast_node_nindex(n)
                     ? map_get(&d->element_of, map_ptr_key(ast_node_name(n)))
                     : MAP_NONE;
    const flat_element *x = e == MAP_NONE ? NULL : &f->element.at[e];

    return x && x->node == n && x->parent == NONE && x->linear && !x->keep && !x->thinned && !ast_has_block(n) &&
                   n->own->linear && !n->own->more->domain && !is_named(d, x->name) &&
                   d->next.at[map_get(&d->first, map_ptr_key(x->name))] == NONE
               ? x
               : NULL;
}

static bool
constant_modulus(const struct finder *d, const flat_element *t)
{
    return inst_is_parameter(d->c->flat, d->c->flat->law.at[t->law0].def);
}

/* Element e as it appears through the two-port that connects it. before: e is a source that stands before the
 * two-port. */
static const char *
seen_through(const struct finder *d, const flat_element *t, const flat_element *e, bool before)
{
    bool gyrates = t->type == EL_GY, varies = !constant_modulus(d, t);
    enum element_type type = e->type;
    arena *a = d->a;
    operand n, x, value;

    if (!operand_of(d->c->sources, t->node->own->linear, a, &n) ||
        !operand_of(d->c->sources, e->node->own->linear, a, &x))
        return NULL;
    /* TF: e_in = n*e_out, f_out = n*f_in. GY: e_in = r*f_out, e_out = r*f_in. */
    switch (e->type) {
    case EL_R:
        value = gyrates ? operand_quotient(a, operand_square(a, n), x) : operand_product(a, operand_square(a, n), x);
        break;
    case EL_C:
        value = gyrates ? operand_product(a, operand_square(a, n), x) : operand_quotient(a, x, operand_square(a, n));
        type = gyrates ? EL_I : EL_C;
        break;
    case EL_I:
        value = gyrates ? operand_quotient(a, x, operand_square(a, n)) : operand_product(a, operand_square(a, n), x);
        type = gyrates ? EL_C : EL_I;
        break;
    case EL_SE:
        value = gyrates || before ? operand_quotient(a, x, n) : operand_product(a, n, x);
        type = gyrates ? EL_SF : EL_SE;
        break;
    case EL_SF:
        value = gyrates || before ? operand_product(a, n, x) : operand_quotient(a, x, n);
        type = gyrates ? EL_SE : EL_SF;
        break;
    default: return NULL;
    }
    if (varies && (e->type == EL_C || e->type == EL_I))
        return NULL; /* its stored quantity would have to change with the modulus */
    return arena_format(a, "%s%s:%s = %s", e->modulated || varies ? "M" : "", element_type_name(type), e->name,
                        value.text);
}

/* Two two-ports in series. */
static const char *
series(const struct finder *d, const flat_element *t, const flat_element *u)
{
    arena *a = d->a;
    operand n, m, value;
    bool gyrates = (t->type == EL_GY) != (u->type == EL_GY);

    if (!operand_of(d->c->sources, t->node->own->linear, a, &n) ||
        !operand_of(d->c->sources, u->node->own->linear, a, &m))
        return NULL;
    value = t->type == EL_GY ? operand_quotient(a, n, m) : operand_product(a, n, m);
    return arena_format(a, "%s%s:%s = %s", t->modulated || u->modulated ? "M" : "", gyrates ? "GY" : "TF", t->name,
                        value.text);
}

static void
fold_nodes(struct finder *d, uint32_t stmt, const ast_node *first, const ast_node *second, const flat_element *goes,
           const flat_element *stays, const char *text)
{
    fold x = { .name = goes->name, .owner = stays->name, .why = text, .at = element_at(goes) };

    if (!text)
        return;
    edit_to(&x, span_join(ast_node_at(first), ast_node_at(second)), text);
    fold_changes(&x, stmt);
    vec_push(d->out, x);
}

/* Folds the two-ports of a chain. A node takes part in one fold at a time. */
static void
find_two_ports(struct finder *d, uint32_t stmt)
{
    const ast_stmt *s = d->c->flat->ast->stmt[stmt];

    for (int k = 0; k < s->nnodes; k++) {
        const ast_node *n = &ast_chain(s)[k], *next = k + 1 < s->nnodes ? n + 1 : NULL, *before = k > 0 ? n - 1 : NULL;
        const flat_element *t = plain_element(d, n), *e;

        if (!t || !is_two_port(t) || t->nports != 2)
            continue;
        e = next ? plain_element(d, next) : NULL;
        if (e && is_two_port(e) && e->nports == 2) {
            fold_nodes(d, stmt, n, next, e, t, series(d, t, e));
            return;
        }
        if (e && e->nports == 1 && before) {
            fold_nodes(d, stmt, n, next, t, e, seen_through(d, t, e, false));
            return;
        }
        e = before ? plain_element(d, before) : NULL;
        if (e && e->nports == 1 && is_source(e) && next) {
            fold_nodes(d, stmt, before, n, t, e, seen_through(d, t, e, true));
            return;
        }
    }
}

void
folds_find(const compilation *c, arena *a, folds *out)
{
    struct finder d = { .c = c, .a = a, .text = source_text(c->sources, c->ast->file), .out = out };
    const flat_model *f = c->flat;

    if (f->ast->at.file != c->ast->file)
        return; /* the text of an import is never changed */
    gather_model(&d);
    for (uint32_t i = 0; i < (uint32_t)f->ast->nstmt; i++)
        if (f->ast->stmt[i]->kind == AST_STMT_CHAIN && !f->ast->stmt[i]->named)
            find_two_ports(&d, i);
    for (uint32_t i = 0; i < f->junction.n; i++)
        find_junction(&d, i);
    map_free(&d.named);
    map_free(&d.element_of);
    map_free(&d.first);
    map_free(&d.last);
    vec_free(&d.place);
    vec_free(&d.next);
}

/* ---------------------------------------------------------------- the plan */

bool
folds_plan(const compilation *c, const fold *const *list, size_t n, rewrite *r)
{
    map changed = { 0 }; /* statement -> 1: only nodes were removed from it, 2: changed otherwise */
    VEC(span) lost = { 0 };
    const char *text = source_text(c->sources, c->ast->file);
    size_t length = source_length(c->sources, c->ast->file);
    bool fine;

    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < n; i++) {
        const fold *x = list[i];
        bool taken = false;

        for (int k = 0; k < x->nstmts; k++) {
            uint32_t how = map_get(&changed, x->stmt[k]);

            taken |= how != MAP_NONE && !(how == 1 && x->within && k == 0);
        }
        if (taken)
            continue;
        for (int k = 0; k < x->nstmts; k++)
            map_set(&changed, x->stmt[k], x->within && k == 0 ? 1 : 2);
        for (int k = 0; k < x->nedits; k++)
            if (*x->edit[k].text)
                edits_replace(&r->edits, x->edit[k].at.begin, x->edit[k].at.end, x->edit[k].text,
                              strlen(x->edit[k].text));
            else
                edits_delete(&r->edits, x->edit[k].at.begin, x->edit[k].at.end);
        for (int k = 0; k < x->nlost; k++)
            vec_push(&lost, x->lost[k]);
        vec_push(&r->item, ((rewrite_item){ .kind = REWRITE_FOLD, .name = x->name, .at = x->at, .owner = x->owner }));
    }
    rewrite_delete_statements(&r->edits, text, length, lost.at, lost.n);
    fine = edits_seal(&r->edits, length, &r->error);
    map_free(&changed);
    vec_free(&lost);
    return fine;
}
