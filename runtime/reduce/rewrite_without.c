/* rewrite_without.c - takes parts of components, loops and arrays out, by `without` */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "rewrite_without.h"

enum { NOBODY = UINT32_MAX };

/* A name as `without` writes it: "drag[" 3 "]", "m[" 3 "].f", or "hub.bearing" without a last number. */
struct entry {
    const char *head, *tail;
    uint32_t number;
    bool numbered;
    uint32_t group;
    size_t order;
};
/* One list of them: a statement of the model, or behind an instance. */
struct group {
    const ast_stmt *after;
    const ast_node *node;
    const ast_stmt *old;
    bool used;
};

struct taking {
    const flat_model *f;
    const ast_file *file;
    const char *text;
    size_t length;
    rewrite *r;
    without_lost *lost;
    map element_of, junction_of; /* interned name -> index */
    map top;                     /* statements that stand in the model itself */
    uint32_t *wanted;            /* [element] place in the list, NOBODY */
    bool *clamped;               /* [element] its junction's common variable is taken out instead */
    bool *element_gone, *junction_gone;
    uint32_t *degree; /* [junction] */
    uint32_t *passed; /* [junction] its bonds before this do not keep it */
    bool *at_rest,
        *looked;   /* [junction] its effort (0) or flow (1) is zero; whether its first dead ends were looked for */
    bool *by_text; /* [junction + element]: the planner of the text took it, and said so */
    map mentioned, mentioned_base; /* by other experiments: whole name, first name -> item in their list */
    VEC(span) mention;
    VEC(uint32_t) open;
    VEC(struct entry) entry;
    VEC(struct group) group;
    map heads; /* hash of head and tail -> order of the first entry with them */
};

/* ---------------------------------------------------------------- where elements come from */

/* The outermost instance or round around; NOBODY: the model itself. */
static uint32_t
outermost(const flat_model *f, uint32_t origin)
{
    while (origin != NOBODY && f->origin.at[origin].parent != NOBODY)
        origin = f->origin.at[origin].parent;
    return origin;
}

static const ast_stmt *
top_statement(const flat_model *f, const flat_element *e)
{
    uint32_t o = outermost(f, e->parent);

    return o == NOBODY ? e->stmt : f->origin.at[o].stmt;
}

static void
gather_statements(const flat_model *f, map *top)
{
    for (int k = 0; k < f->ast->nstmt; k++)
        map_set(top, map_ptr_key(f->ast->stmt[k]), (uint32_t)k);
}

static void
gather_bonded(const ast_stmt *s, map *bonded)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int k = 0; k < s->chain.nnodes; k++)
            if (s->chain.node[k].ref.nparts)
                map_set(bonded, map_ptr_key(s->chain.node[k].ref.part[0].name), 1);
        break;
    case AST_STMT_FOR:
        for (int k = 0; k < s->loop.n; k++)
            gather_bonded(s->loop.body[k], bonded);
        break;
    case AST_STMT_IF:
        for (int k = 0; k < s->cond.nthen; k++)
            gather_bonded(s->cond.then[k], bonded);
        for (int k = 0; k < s->cond.nother; k++)
            gather_bonded(s->cond.other[k], bonded);
        break;
    case AST_STMT_VALUE:
    case AST_STMT_PORT:
    case AST_STMT_WITHOUT:
    case AST_STMT_WHEN: break;
    }
}

/* First names that stand in bonds within loops and ifs. Nesting is bounded by the parser. */
static void
gather_inner_bonds(const flat_model *f, map *bonded)
{
    for (int k = 0; k < f->ast->nstmt; k++)
        if (f->ast->stmt[k]->kind == AST_STMT_FOR || f->ast->stmt[k]->kind == AST_STMT_IF)
            gather_bonded(f->ast->stmt[k], bonded);
}

void
without_elements(const flat_model *f, const char *const *name, size_t n, bool *is)
{
    map top = { 0 }, element_of = { 0 }, bonded = { 0 };

    gather_statements(f, &top);
    gather_inner_bonds(f, &bonded);
    for (uint32_t e = 0; e < f->element.n; e++)
        map_set(&element_of, map_ptr_key(f->element.at[e].name), e);
    for (size_t k = 0; k < n; k++) {
        uint32_t e = map_get(&element_of, map_ptr_key(name[k]));

        is[k] = e != MAP_NONE && (f->element.at[e].parent != NOBODY || strchr(name[k], '[') ||
                                  map_get(&top, map_ptr_key(f->element.at[e].stmt)) == MAP_NONE ||
                                  map_get(&bonded, map_ptr_key(f->element.at[e].name)) != MAP_NONE);
    }
    map_free(&top);
    map_free(&element_of);
    map_free(&bonded);
}

static bool
stands_in_model(const struct taking *t, const ast_stmt *s)
{
    return map_get(&t->top, map_ptr_key(s)) != MAP_NONE;
}

/* ---------------------------------------------------------------- what other experiments name */

/* "front.spring[2]" of the first n names; NULL where an index is no plain number. */
static const char *
literal_name(const flat_model *f, const ast_ref *ref, int n)
{
    strbuf b = { 0 };
    const char *name = NULL;
    bool plain = true;

    for (int k = 0; k < n; k++) {
        const ast_part *p = &ref->part[k];

        strbuf_printf(&b, "%s%s", k ? "." : "", p->name);
        for (int i = 0; i < p->nindex; i++) {
            plain &= p->index[i].from->kind == AST_NUMBER && !p->index[i].to;
            if (plain)
                strbuf_printf(&b, "%s%.0f%s", i ? "," : "[", p->index[i].from->number.value,
                              i + 1 == p->nindex ? "]" : "");
        }
    }
    if (plain)
        name = names_intern(f->names, b.at, b.n);
    strbuf_free(&b);
    return name;
}

static void
mention(struct taking *t, const ast_ref *ref, int n)
{
    const char *name;

    if (n < 1)
        return;
    name = literal_name(t->f, ref, n);
    map_set(name ? &t->mentioned : &t->mentioned_base, map_ptr_key(name ? name : ref->part[0].name),
            (uint32_t)t->mention.n);
    vec_push(&t->mention, ref->at);
}

static void
mention_read(void *ctx, const ast_ref *ref)
{
    mention(ctx, ref, ref->nparts - 1);
}

/* The experiment that is run was elaborated and its readers are known; the others are read from the text. */
static void
read_experiments(struct taking *t)
{
    for (size_t d = 0; d < t->file->ndecls; d++) {
        const ast_experiment *x = t->file->decl[d].kind == AST_DECL_EXPERIMENT ? t->file->decl[d].experiment : NULL;

        if (!x || x == t->f->ast_experiment || x->model != t->f->ast->name)
            continue;
        for (int k = 0; k < x->nitems; k++) {
            for (int i = 0; i < x->item[k].nexprs; i++)
                ast_each_ref(x->item[k].exprs[i], mention_read, t);
            for (int i = 0; i < x->item[k].nrefs; i++)
                mention(t, &x->item[k].refs[i], x->item[k].refs[i].nparts);
        }
    }
}

/* ---------------------------------------------------------------- what goes */

static bool
is_two_port_element(const flat_element *e)
{
    if ((e->type != EL_TF && e->type != EL_GY) || e->nports != 2)
        return false;
    for (int i = 0; i < e->node->nitems; i++)
        if (e->node->item[i].kind == AST_LAW_PORT)
            return false; /* a field: it stands with fewer bonds too */
    return true;
}

static void
thin(struct taking *t, uint32_t j)
{
    t->degree[j]--;
    if (!t->junction_gone[j])
        vec_push(&t->open, j);
}

static void
drop_element(struct taking *t, uint32_t e)
{
    const flat_element *x = &t->f->element.at[e];

    if (t->element_gone[e])
        return;
    t->element_gone[e] = true;
    for (uint32_t k = 0; k < x->nports; k++)
        thin(t, t->f->port.at[x->port0 + k].junction);
}

static void
drop_junction(struct taking *t, uint32_t j)
{
    const flat_junction *x = &t->f->junction.at[j];

    if (t->junction_gone[j])
        return;
    t->junction_gone[j] = true;
    for (uint32_t k = 0; k < x->ninc; k++) {
        const flat_incidence *i = &t->f->incidence.at[x->inc0 + k];

        if (i->is_bond) {
            const flat_bond *b = &t->f->bond.at[i->index];

            thin(t, b->from == j ? b->to : b->from);
        } else if (is_two_port_element(&t->f->element.at[t->f->port.at[i->index].element])) {
            drop_element(t, t->f->port.at[i->index].element);
        }
    }
}

/* As compiler/elaborate/without.c, in the flat model. The junction that incidence i of junction j leads to, straight or
 * through one two-port; NOBODY: none. *near: the two-port or bond is still there. *like: it adds up what this one's
 * bond has zero of. */
static uint32_t
leads_to(const struct taking *t, uint32_t j, uint32_t i, bool *near, bool *like)
{
    const flat_model *f = t->f;
    const flat_incidence *x = &f->incidence.at[f->junction.at[j].inc0 + i];
    bool turned = false;
    uint32_t far;

    if (x->is_bond) {
        far = f->bond.at[x->index].from == j ? f->bond.at[x->index].to : f->bond.at[x->index].from;
        *near = !t->junction_gone[far];
    } else {
        const flat_element *e = &f->element.at[f->port.at[x->index].element];

        *near = !t->element_gone[f->port.at[x->index].element];
        if (!is_two_port_element(e))
            return NOBODY;
        turned = e->type == EL_GY;
        far = f->port.at[e->port0 + (e->port0 == x->index)].junction;
    }
    if (f->junction.at[far].implicit)
        return NOBODY;
    *like = (f->junction.at[far].type == f->junction.at[j].type) != turned;
    return far;
}

static bool
may_go(const flat_junction *j)
{
    return !j->port && !j->implicit;
}

static bool
rests_alone(struct taking *t, uint32_t j)
{
    uint32_t n = t->f->junction.at[j].ninc;
    bool near, like;

    for (uint32_t i = 0; i < n && !t->looked[j]; i++) {
        uint32_t far = leads_to(t, j, i, &near, &like);

        if (near && far != NOBODY && !like && !t->junction_gone[far] && t->degree[far] == 1 &&
            may_go(&t->f->junction.at[far]))
            t->at_rest[j] = true;
    }
    t->looked[j] = true;
    for (; t->at_rest[j] && t->passed[j] < n; t->passed[j]++) {
        uint32_t far = leads_to(t, j, t->passed[j], &near, &like);

        if (near && (far == NOBODY || like))
            return false;
    }
    return t->at_rest[j];
}

static bool
dangles(struct taking *t, uint32_t j)
{
    const flat_junction *x = &t->f->junction.at[j];
    bool near, like;

    if (!may_go(x))
        return false;
    for (uint32_t i = 0; i < x->ninc && t->degree[j] == 1; i++) {
        uint32_t far = leads_to(t, j, i, &near, &like);

        if (!near || far == NOBODY)
            continue;
        if (like)
            return true;
        if (!t->at_rest[far] && may_go(&t->f->junction.at[far])) {
            t->at_rest[far] = true;
            vec_push(&t->open, far);
        }
    }
    return !t->degree[j] || rests_alone(t, j);
}

static void
cascade(struct taking *t, const char *const *gone, size_t ngone)
{
    const flat_model *f = t->f;

    t->open.n = 0;
    memset(t->element_gone, 0, f->element.n * sizeof *t->element_gone);
    memset(t->junction_gone, 0, f->junction.n * sizeof *t->junction_gone);
    memset(t->at_rest, 0, f->junction.n * sizeof *t->at_rest);
    memset(t->looked, 0, f->junction.n * sizeof *t->looked);
    memset(t->passed, 0, f->junction.n * sizeof *t->passed);
    for (uint32_t j = 0; j < f->junction.n; j++)
        t->degree[j] = f->junction.at[j].ninc;
    for (size_t k = 0; k < ngone; k++) {
        uint32_t e = map_get(&t->element_of, map_ptr_key(gone[k])), j = map_get(&t->junction_of, map_ptr_key(gone[k]));

        if (e != MAP_NONE) {
            t->by_text[f->junction.n + e] = true;
            drop_element(t, e);
        } else if (j != MAP_NONE) {
            t->by_text[j] = true;
            drop_junction(t, j);
        }
    }
    t->open.n = 0; /* what dangles by that, the text's planner knows */
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (f->junction.at[j].thinned && !t->junction_gone[j])
            vec_push(&t->open, j);
    for (uint32_t e = 0; e < f->element.n; e++)
        if (t->wanted[e] != NOBODY)
            drop_element(t, e);
    while (t->open.n) {
        uint32_t j = t->open.at[--t->open.n];

        if (!t->junction_gone[j] && dangles(t, j))
            drop_junction(t, j);
    }
}

static void
block(struct taking *t, uint32_t e, span reader, const char *why)
{
    rewrite_block b = { t->f->element.at[e].name, reader, why };

    t->wanted[e] = NOBODY;
    t->clamped[e] = false;
    vec_push(&t->r->blocked, b);
}

static void
block_named(struct taking *t)
{
    for (uint32_t e = 0; e < t->f->element.n; e++) {
        const flat_element *x = &t->f->element.at[e];
        char *base;
        uint32_t at;

        if (t->wanted[e] == NOBODY && !t->clamped[e])
            continue;
        at = map_get(&t->mentioned, map_ptr_key(x->name));
        if (at == MAP_NONE && t->mentioned_base.n) {
            base = bg_strdup(x->name);
            base[strcspn(base, ".[")] = 0;
            at = map_get(&t->mentioned_base, map_ptr_key(names_intern_z(t->f->names, base)));
            free(base);
        }
        if (x->read && !t->clamped[e]) /* its effort and flow stay; whether more is read, the compiler says */
            block(t, e, x->read_at, "it is read");
        else if (at != MAP_NONE)
            block(t, e, t->mention.at[at], "another experiment names it");
    }
}

/* The wanted element nearest to junction j among what went, the most important of those on one junction; NOBODY without
 * one. */
static uint32_t
holder(struct taking *t, uint32_t j, map *seen)
{
    const flat_model *f = t->f;
    uint32_t best = NOBODY;

    t->open.n = 0;
    vec_push(&t->open, j);
    map_set(seen, j, 1);
    for (size_t at = 0; at < t->open.n && best == NOBODY; at++) {
        const flat_junction *x = &f->junction.at[t->open.at[at]];

        for (uint32_t k = 0; k < x->ninc; k++) {
            const flat_incidence *i = &f->incidence.at[x->inc0 + k];
            uint32_t e = i->is_bond ? NOBODY : f->port.at[i->index].element;

            if (e != NOBODY && t->wanted[e] != NOBODY && (best == NOBODY || t->wanted[e] < t->wanted[best]))
                best = e;
            for (uint32_t p = 0; p < (e == NOBODY ? 2 : f->element.at[e].nports); p++) {
                uint32_t other = e == NOBODY ? (p ? f->bond.at[i->index].to : f->bond.at[i->index].from)
                                             : f->port.at[f->element.at[e].port0 + p].junction;

                if (t->junction_gone[other] && map_get(seen, other) == MAP_NONE) {
                    map_set(seen, other, 1);
                    vec_push(&t->open, other);
                }
            }
        }
    }
    return best;
}

/* The element that a bond without a junction joins to e, if it stays; else NOBODY. */
static uint32_t
stranded(const struct taking *t, uint32_t e)
{
    const flat_model *f = t->f;
    const flat_element *x = &f->element.at[e];

    for (uint32_t p = x->port0; p < x->port0 + x->nports; p++) {
        const flat_junction *j = &f->junction.at[f->port.at[p].junction];

        for (uint32_t k = 0; j->implicit && k < j->ninc; k++) {
            const flat_incidence *i = &f->incidence.at[j->inc0 + k];
            uint32_t other = i->is_bond ? NOBODY : f->port.at[i->index].element;

            if (other != NOBODY && !t->element_gone[other])
                return other;
        }
    }
    return NOBODY;
}

/* Keeps what something that stays names. True if anything was kept. */
static bool
keep_needed(struct taking *t)
{
    const flat_model *f = t->f;
    map seen = { 0 };
    bool any = false;

    for (uint32_t j = 0; j < f->junction.n; j++) {
        const flat_junction *x = &f->junction.at[j];
        uint32_t e;

        if (!t->junction_gone[j] || !x->read || t->by_text[j] || (e = holder(t, j, &seen)) == NOBODY)
            continue;
        block(t, e, x->read_at, "a junction that only it holds is read");
        any = true;
    }
    for (uint32_t k = 0; k < f->element.n; k++) {
        const flat_element *x = &f->element.at[k];
        uint32_t e;

        if (!t->element_gone[k] || t->wanted[k] != NOBODY || t->by_text[f->junction.n + k] || !(x->read || x->keep))
            continue;
        e = holder(t, f->port.at[x->port0].junction, &seen);
        if (e == NOBODY)
            continue;
        block(t, e, x->read ? x->read_at : x->at,
              x->read ? "a two-port that only it holds is read" : "a two-port that only it holds is kept");
        any = true;
    }
    for (uint32_t k = 0; k < f->element.n; k++) {
        uint32_t e = t->wanted[k] == NOBODY ? NOBODY : stranded(t, k);

        if (e == NOBODY)
            continue;
        block(t, k, f->element.at[e].at, "an element bonded to it stays");
        any = true;
    }
    map_free(&seen);
    return any;
}

/* ---------------------------------------------------------------- lines of loops */

static void
note(struct taking *t, enum rewrite_kind kind, const char *name, span at)
{
    rewrite_item x = { .kind = kind, .name = name, .at = at };

    vec_push(&t->r->item, x);
}

/* The loop whose body has the statement, if it is a line of its own there: one bond from a junction to the element.
 * NULL otherwise. */
static const ast_stmt *
line_of_loop(const struct taking *t, const flat_element *e)
{
    const flat_origin *o = e->parent == NOBODY ? NULL : &t->f->origin.at[e->parent];
    const ast_node *other;

    for (uint32_t k = e->parent; k != NOBODY; k = t->f->origin.at[k].parent)
        if (t->f->origin.at[k].model)
            return NULL; /* of a component, which others may use */
    if (!o || e->stmt->kind != AST_STMT_CHAIN || e->stmt->chain.nnodes != 2 || e->stmt->chain.bond ||
        e->at.file != t->file->file)
        return NULL;
    other = &e->stmt->chain.node[e->stmt->chain.node == e->node];
    if (other->type)
        return NULL; /* it declares more */
    for (int k = 0; k < o->stmt->loop.n; k++)
        if (o->stmt->loop.body[k] == e->stmt)
            return o->stmt;
    return NULL;
}

/* Value of an index that is a number, the loop's variable, or the one plus or minus the other. */
static bool
index_value(const ast_expr *x, const char *variable, double round, double *value)
{
    double b;

    switch (x->kind) {
    case AST_NUMBER: *value = x->number.value; return true;
    case AST_REF: *value = round; return x->ref.nparts == 1 && x->ref.part[0].name == variable;
    case AST_BINARY:
        if ((x->bin.op != AST_ADD && x->bin.op != AST_SUB) || x->bin.a->kind == AST_BINARY ||
            x->bin.b->kind == AST_BINARY || !index_value(x->bin.a, variable, round, value) ||
            !index_value(x->bin.b, variable, round, &b))
            return false;
        *value += x->bin.op == AST_ADD ? b : -b;
        return true;
    default: return false;
    }
}

/* Does the junction stay that round `round` of the loop bonds the line's element to? */
static bool
junction_stays(const struct taking *t, const ast_stmt *loop, const ast_ref *ref, double round)
{
    const ast_part *p = &ref->part[0];
    char *name;
    double value;
    uint32_t j;

    if (ref->nparts != 1 || p->nindex > 1 ||
        (p->nindex && (p->index[0].to || !index_value(p->index[0].from, loop->loop.var, round, &value))))
        return false;
    name = p->nindex ? bg_format("%s[%.0f]", p->name, value) : bg_strdup(p->name);
    j = map_get(&t->junction_of, map_ptr_key(names_intern_z(t->f->names, name)));
    free(name);
    return j != MAP_NONE && !t->junction_gone[j];
}

/* Do the junctions stay that copies were on which went before, by a list that says so? */
static bool
earlier_stay(const struct taking *t, const flat_element *e, const ast_stmt *loop)
{
    const ast_node *other = &e->stmt->chain.node[e->stmt->chain.node == e->node];
    const ast_part *own = &e->node->ref.part[0];
    const ast_model *m = t->f->ast;

    for (int k = 0; k < m->nstmt; k++)
        for (int i = 0; m->stmt[k]->kind == AST_STMT_WITHOUT && i < m->stmt[k]->without.n; i++) {
            const ast_part *p = &m->stmt[k]->without.ref[i].part[0];
            double from, to;

            if (p->name != own->name)
                continue;
            if (p->nindex != 1 || own->nindex != 1 || own->index[0].from->kind != AST_REF ||
                own->index[0].from->ref.part[0].name != loop->loop.var || p->index[0].from->kind != AST_NUMBER ||
                (p->index[0].to && p->index[0].to->kind != AST_NUMBER))
                return false;
            from = p->index[0].from->number.value;
            to = p->index[0].to ? p->index[0].to->number.value : from;
            for (double round = from; round <= to; round++)
                if (!junction_stays(t, loop, &other->ref, round))
                    return false;
        }
    return true;
}

struct counted {
    uint32_t copies, going;
    bool whole, looked, kept;
};

/* Lines of loops all of whose copies go. Their elements need no `without`; whole[e] is set. */
static void
drop_lines(struct taking *t, bool *whole)
{
    const flat_model *f = t->f;
    map of_node = { 0 }, left = { 0 };
    VEC(struct counted) count = { 0 };

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t e = 0; e < f->element.n; e++) {
            uint64_t key = map_ptr_key(f->element.at[e].node);
            uint32_t at = map_get(&of_node, key);

            if (pass && at != MAP_NONE) {
                whole[e] = count.at[at].copies == count.at[at].going && line_of_loop(t, &f->element.at[e]);
                continue;
            }
            if (at == MAP_NONE) {
                at = (uint32_t)count.n;
                map_set(&of_node, key, at);
                vec_push(&count, ((struct counted){ 0 }));
            }
            count.at[at].copies++;
            count.at[at].going += t->wanted[e] != NOBODY;
        }
    }
    /* `without` cleans up after what it takes, a line that goes does not: the junctions that the copies are and were on
     * must stay */
    for (uint32_t e = 0; e < f->element.n; e++) {
        struct counted *c = &count.at[map_get(&of_node, map_ptr_key(f->element.at[e].node))];

        if (!whole[e])
            continue;
        c->kept |= t->junction_gone[f->port.at[f->element.at[e].port0].junction] ||
                   (!c->looked && !earlier_stay(t, &f->element.at[e], line_of_loop(t, &f->element.at[e])));
        c->looked = true;
    }
    for (uint32_t e = 0; e < f->element.n; e++)
        whole[e] = whole[e] && !count.at[map_get(&of_node, map_ptr_key(f->element.at[e].node))].kept;
    for (uint32_t e = 0; e < f->element.n; e++) {
        const ast_stmt *loop = whole[e] ? line_of_loop(t, &f->element.at[e]) : NULL;
        uint32_t at = map_get(&of_node, map_ptr_key(f->element.at[e].node)), n;

        if (!loop || count.at[at].whole)
            continue;
        count.at[at].whole = true;
        n = map_get(&left, map_ptr_key(loop));
        n = n == MAP_NONE ? (uint32_t)loop->loop.n - 1 : n - 1;
        map_set(&left, map_ptr_key(loop), n);
        /* the last line takes an outermost loop with it */
        if (!n && stands_in_model(t, loop)) {
            vec_push(&t->lost->list, loop->at);
            note(t, REWRITE_BOND, arena_format(t->f->arena, "for %s", loop->loop.var), loop->at);
        } else
            vec_push(&t->lost->list, f->element.at[e].stmt->at);
    }
    map_free(&of_node);
    map_free(&left);
    vec_free(&count);
}

/* ---------------------------------------------------------------- lists of names */

/* Is the text, n long, the name of a variable behind a part: ".e" or ".f"? */
static bool
is_variable(const char *name, size_t n)
{
    return n > 2 && name[n - 2] == '.' && (name[n - 1] == 'e' || name[n - 1] == 'f');
}

/* "drag[3]" -> "drag[", 3, "]"; "x[1,2].f" -> "x[1,", 2, "].f" */
static struct entry
split_name(struct taking *t, const char *name, uint32_t group)
{
    size_t n = strlen(name), end = is_variable(name, n) ? n - 2 : n, begin;
    struct entry x = { .group = group };

    begin = end = end ? end - 1 : 0;
    if (n && name[end] == ']')
        while (begin && isdigit((unsigned char)name[begin - 1]))
            begin--;
    if (begin < end && end - begin < 10) {
        x.numbered = true;
        x.number = (uint32_t)strtoul(name + begin, NULL, 10);
        x.head = names_intern(t->f->names, name, begin);
        x.tail = names_intern_z(t->f->names, name + end);
    } else {
        x.head = names_intern(t->f->names, name, n);
        x.tail = names_intern_z(t->f->names, "");
    }
    return x;
}

static void
add_entry(struct taking *t, const char *name, uint32_t group)
{
    struct entry x = split_name(t, name, group);
    uint64_t key = bg_hash_mix(map_ptr_key(x.head), map_ptr_key(x.tail));
    uint32_t order = map_get(&t->heads, key);

    if (order == MAP_NONE) {
        order = (uint32_t)t->entry.n;
        map_set(&t->heads, key, order);
    }
    x.order = order;
    vec_push(&t->entry, x);
}

static int
entry_order(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int
list_length(const struct group *g)
{
    return g->old ? g->old->without.n : g->node ? g->node->nwithout : 0;
}

static const ast_ref *
list_ref(const struct group *g, int k)
{
    return g->old ? &g->old->without.ref[k] : &g->node->without[k];
}

/* An entry of a list as it was; what held an element at zero that goes now is left out. */
static void
add_old_entry(struct taking *t, const char *name, uint32_t group)
{
    const struct group *g = &t->group.at[group];
    size_t n = strlen(name);

    if (is_variable(name, n)) {
        char *element = g->node ? bg_format("%s.%.*s", g->node->ref.part[0].name, (int)n - 2, name)
                                : bg_format("%.*s", (int)n - 2, name);
        uint32_t e = map_get(&t->element_of, map_ptr_key(names_intern_z(t->f->names, element)));

        free(element);
        if (e != MAP_NONE && t->wanted[e] != NOBODY)
            return;
    }
    add_entry(t, name, group);
}

/* Whether a part of the text's own names, with a plain range behind its last name (or the last before an e or f): its
 * items become entries. */
static bool
add_old(struct taking *t, const ast_ref *ref, uint32_t group)
{
    const ast_part *end = &ref->part[ref->nparts - 1];
    bool variable = ref->nparts > 1 && !end->nindex && (!strcmp(end->name, "e") || !strcmp(end->name, "f"));
    int n = variable && ref->part[ref->nparts - 2].nindex ? ref->nparts - 1 : ref->nparts;
    const ast_part *last = &ref->part[n - 1];
    const char *before, *name;
    double from, to;

    if (last->nindex != 1 || !last->index[0].to) {
        name = literal_name(t->f, ref, ref->nparts);
        if (name)
            add_old_entry(t, name, group);
        return name != NULL;
    }
    if (last->index[0].from->kind != AST_NUMBER || last->index[0].to->kind != AST_NUMBER)
        return false;
    from = last->index[0].from->number.value;
    to = last->index[0].to->number.value;
    before = n > 1 ? literal_name(t->f, ref, n - 1) : "";
    if (!before || !(from >= 0 && to >= from && to < 1e8))
        return false;
    for (double i = from; i <= to; i++) {
        char *text = bg_format("%s%s%s[%.0f]%s%s", before, *before ? "." : "", last->name, i,
                               n < ref->nparts ? "." : "", n < ref->nparts ? end->name : "");

        add_old_entry(t, text, group);
        free(text);
    }
    return true;
}

static void
put_word(strbuf *b, const char *word)
{
    strbuf_printf(b, "%s%s", b->n ? ", " : "", word);
}

/* The entries first .. end of one group as a list, ranges compressed, behind the words kept as they are. */
static void
put_entries(const struct taking *t, size_t first, size_t end, strbuf *b)
{
    for (size_t k = first; k < end;) {
        const struct entry *x = &t->entry.at[k];
        size_t to = k;
        char *word;

        while (to + 1 < end && t->entry.at[to + 1].head == x->head && t->entry.at[to + 1].tail == x->tail &&
               x->numbered && t->entry.at[to + 1].number <= t->entry.at[to].number + 1)
            to++;
        if (!x->numbered)
            word = bg_strdup(x->head);
        else if (t->entry.at[to].number == x->number)
            word = bg_format("%s%u%s", x->head, x->number, x->tail);
        else
            word = bg_format("%s%u..%u%s", x->head, x->number, t->entry.at[to].number, x->tail);
        put_word(b, word);
        free(word);
        k = to + 1;
    }
}

static uint32_t
find_group(struct taking *t, const ast_node *instance)
{
    for (uint32_t k = 0; k < t->group.n; k++)
        if (t->group.at[k].node == instance)
            return k;
    vec_push(&t->group, ((struct group){ .node = instance }));
    return (uint32_t)t->group.n - 1;
}

/* The list that takes element e out, and what it is called there. */
static uint32_t
group_of(struct taking *t, uint32_t e, const char **name)
{
    const flat_model *f = t->f;
    const flat_element *x = &f->element.at[e];
    uint32_t o = outermost(f, x->parent), g;
    const flat_origin *first = o == NOBODY ? NULL : &f->origin.at[o];

    *name = x->name;
    if (first && first->model && !strchr(first->name, '[') && stands_in_model(t, first->stmt)) {
        g = find_group(t, first->node);
        *name += strlen(first->name) + 1;
    } else {
        g = find_group(t, NULL);
        if (!t->group.at[g].after || top_statement(f, x)->at.begin > t->group.at[g].after->at.begin)
            t->group.at[g].after = top_statement(f, x);
    }
    t->group.at[g].used = true;
    return g;
}

/* A name that a line of a loop declared which goes as a whole: no list may have it any more. */
static bool
names_dropped(const ast_ref *ref, const map *dropped)
{
    return map_get(dropped, map_ptr_key(ref->part[0].name)) != MAP_NONE;
}

static void
insert_statement(struct taking *t, const struct group *g, const char *list)
{
    const char *x = t->text;
    size_t line, at, end, after;
    strbuf b = { 0 };

    /* a statement of an if or loop around stands for it: the list goes behind the outermost */
    for (int k = 0; k < t->f->ast->nstmt; k++)
        if (t->f->ast->stmt[k]->at.begin <= g->after->at.begin && g->after->at.end <= t->f->ast->stmt[k]->at.end) {
            end = t->f->ast->stmt[k]->at.end;
            line = t->f->ast->stmt[k]->at.begin;
            goto found;
        }
    end = g->after->at.end;
    line = g->after->at.begin;
found:
    while (line > 0 && x[line - 1] != '\n')
        line--;
    for (at = line; x[at] == ' ' || x[at] == '\t'; at++)
        ;
    for (after = end; after < t->length && (x[after] == ' ' || x[after] == '\t'); after++)
        ;
    if (after + 1 < t->length && x[after] == '/' && x[after + 1] == '/')
        while (after < t->length && x[after] != '\n')
            after++;
    if (after < t->length && (x[after] == '\n' || x[after] == '\r')) {
        strbuf_puts(&b, "\n");
        strbuf_add(&b, x + line, at - line);
        end = after;
    } else {
        strbuf_puts(&b, " ");
    }
    strbuf_printf(&b, "without %s;", list);
    edits_insert(&t->r->edits, end, b.at, b.n);
    strbuf_free(&b);
}

/* What the lists have already: items as entries, what cannot be read so as it is. */
static void
take_over(struct taking *t, const map *dropped)
{
    for (uint32_t g = 0; g < t->group.n; g++) {
        struct group *x = &t->group.at[g];
        strbuf kept = { 0 };

        for (int k = 0; k < list_length(x); k++) {
            const ast_ref *ref = list_ref(x, k);

            if (names_dropped(ref, dropped) || (x->used && add_old(t, ref, g)))
                continue;
            put_word(&kept, arena_strndup(t->f->arena, t->text + ref->at.begin, ref->at.end - ref->at.begin));
        }
        x->used |= list_length(x) > 0;
        if (kept.n)
            vec_push(&t->entry, ((struct entry){ .head = arena_strdup(t->f->arena, kept.at), .tail = "", .group = g }));
        strbuf_free(&kept);
    }
}

/* Writes each list anew. */
static void
write_lists(struct taking *t)
{
    size_t first = 0, end;

    if (t->entry.n)
        qsort(t->entry.at, t->entry.n, sizeof *t->entry.at, entry_order);
    for (first = 0; first < t->entry.n; first = end) {
        struct group *x = &t->group.at[t->entry.at[first].group];
        strbuf list = { 0 };

        for (end = first; end < t->entry.n && t->entry.at[end].group == t->entry.at[first].group; end++)
            ;
        put_entries(t, first, end, &list);
        if (list_length(x)) {
            const ast_ref *a = list_ref(x, 0), *z = list_ref(x, list_length(x) - 1);

            edits_replace(&t->r->edits, a->at.begin, z->at.end, list.at, list.n);
        } else if (x->node) {
            char *text = bg_format(" without %s", list.at);

            edits_insert(&t->r->edits, x->node->at.end, text, strlen(text));
            free(text);
        } else {
            insert_statement(t, x, list.at);
        }
        x->used = false;
        strbuf_free(&list);
    }
    for (uint32_t g = 0; g < t->group.n; g++)
        if (t->group.at[g].used && t->group.at[g].old) {
            span at = t->group.at[g].old->at; /* nothing is left of it */

            vec_push(&t->lost->list, at);
            note(t, REWRITE_WITHOUT, arena_strndup(t->f->arena, t->text + at.begin, at.end - at.begin - 1), at);
        }
}

/* The model's own statement: the last that stands in it. */
static void
find_old_lists(struct taking *t, const map *dropped, bool wanted)
{
    const ast_model *m = t->f->ast;
    const ast_stmt *last = NULL;

    for (int k = 0; k < m->nstmt; k++) {
        if (m->stmt[k]->kind != AST_STMT_WITHOUT)
            continue;
        last = m->stmt[k];
        for (int i = 0; i < last->without.n; i++)
            if (names_dropped(&last->without.ref[i], dropped)) {
                vec_push(&t->group, ((struct group){ .old = last }));
                break;
            }
    }
    if (wanted && last) {
        for (uint32_t g = 0; g < t->group.n; g++)
            if (t->group.at[g].old == last)
                return;
        vec_push(&t->group, ((struct group){ .old = last }));
    }
}

/* ---------------------------------------------------------------- let and expect of the experiments */

/* Does it, or what it stores, go by a `without` of this plan? */
static bool
goes(const struct taking *t, const char *name)
{
    uint32_t e = map_get(&t->element_of, map_ptr_key(name)), j = map_get(&t->junction_of, map_ptr_key(name));

    if (e != MAP_NONE && t->clamped[e])
        return true;
    return e != MAP_NONE ? t->element_gone[e] && !t->by_text[t->f->junction.n + e]
                         : j != MAP_NONE && t->junction_gone[j] && !t->by_text[j];
}

/* element: of an activity, a name without a quantity behind it */
struct expecting {
    const struct taking *t;
    const ast_ref *element;
    const char *gone;
};

static void
expects_gone(void *ctx, const ast_ref *r)
{
    struct expecting *w = ctx;

    for (int n = r == w->element ? r->nparts : r->nparts - 1; n > 0 && !w->gone; n--) {
        const char *name = literal_name(w->t->f, r, n);

        if (name && goes(w->t, name))
            w->gone = name;
    }
}

/* `let spring[1].q(0)` of what goes, and what is expected of it, in any experiment of the model. */
static void
drop_items(struct taking *t)
{
    for (size_t d = 0; d < t->file->ndecls; d++) {
        const ast_experiment *x = t->file->decl[d].kind == AST_DECL_EXPERIMENT ? t->file->decl[d].experiment : NULL;

        for (int k = x ? x->inherited : 0; x && x->model == t->f->ast->name && k < x->nitems; k++) {
            const ast_exp_item *item = &x->item[k];
            const char *name = item->kind == AST_EXP_LET && item->initial && item->ref.nparts > 1
                                   ? literal_name(t->f, &item->ref, item->ref.nparts - 1)
                                   : NULL;
            struct expecting expecting = { t, item->expect ? &item->expect->element : NULL, NULL };

            if (item->kind == AST_EXP_EXPECT) {
                ast_each_expected(item, expects_gone, &expecting);
                if (expecting.gone) {
                    vec_push(&t->lost->list, item->at);
                    note(t, REWRITE_EXPECT, expecting.gone, item->at);
                }
            }
            if (!name || !goes(t, name))
                continue;
            vec_push(&t->lost->list, item->at);
            note(t, REWRITE_LET, name, item->at);
        }
    }
}

static void
note_initials(struct taking *t, const char *name, const ast_node *n)
{
    for (int i = 0; n && i < n->nitems; i++)
        if (n->item[i].kind == AST_LAW_INITIAL)
            note(t, REWRITE_INITIAL, name, n->item[i].at);
}

static void
make_items(struct taking *t)
{
    const flat_model *f = t->f;

    for (uint32_t e = 0; e < f->element.n; e++) {
        if (!t->clamped[e])
            continue;
        note(t, REWRITE_CLAMP, f->element.at[e].name, rewrite_place(f, f->element.at[e].parent, f->element.at[e].at));
        t->r->item.at[t->r->item.n - 1].owner = f->element.at[e].name;
        note_initials(t, f->element.at[e].name, f->element.at[e].node);
    }

    for (uint32_t e = 0; e < f->element.n; e++) {
        const flat_element *x = &f->element.at[e];

        if (!t->element_gone[e] || t->by_text[f->junction.n + e])
            continue;
        note(t, t->wanted[e] != NOBODY ? REWRITE_ELEMENT : REWRITE_TWO_PORT, x->name,
             rewrite_place(f, x->parent, x->at));
        note_initials(t, x->name, x->node);
    }
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (t->junction_gone[j] && !t->by_text[j] && !f->junction.at[j].implicit) {
            note(t, REWRITE_JUNCTION, f->junction.at[j].name,
                 rewrite_place(f, f->junction.at[j].parent, f->junction.at[j].at));
            note_initials(t, f->junction.at[j].name, f->junction.at[j].node);
        }
}

static bool
shares_flow(const flat_model *f, uint32_t e)
{
    return f->junction.at[f->port.at[f->element.at[e].port0].junction].type == 1;
}

static void
make_edits(struct taking *t)
{
    const flat_model *f = t->f;
    bool *whole = bg_calloc(f->element.n, sizeof *whole), top = false;
    const char *name;
    map dropped = { 0 };

    drop_lines(t, whole);
    for (uint32_t e = 0; e < f->element.n; e++) {
        if (whole[e] && t->wanted[e] != NOBODY)
            map_set(&dropped, map_ptr_key(f->element.at[e].node->ref.part[0].name), 1);
        else if (t->wanted[e] != NOBODY || t->clamped[e])
            top = true; /* a list of the model may be asked for */
    }
    find_old_lists(t, &dropped, top);
    for (uint32_t e = 0; e < f->element.n; e++)
        if ((t->wanted[e] != NOBODY || t->clamped[e]) && !whole[e])
            group_of(t, e, &name);
    take_over(t, &dropped);
    for (uint32_t e = 0; e < f->element.n; e++) {
        if ((t->wanted[e] != NOBODY || t->clamped[e]) && !whole[e]) {
            uint32_t g = group_of(t, e, &name);

            if (t->clamped[e])
                name = arena_format(t->f->arena, "%s.%s", name, shares_flow(f, e) ? "f" : "e");
            add_entry(t, name, g);
        }
    }
    write_lists(t);
    drop_items(t);
    make_items(t);
    map_free(&dropped);
    free(whole);
}

bool
without_plan(const flat_model *f, const ast_file *file, const char *const *wanted, size_t n, const char *const *clamped,
             size_t nclamped, const char *const *gone, size_t ngone, without_lost *lost, rewrite *r)
{
    struct taking t = { .f = f,
                        .file = file,
                        .text = source_text(f->sources, file->file),
                        .length = source_length(f->sources, file->file),
                        .r = r,
                        .lost = lost };
    size_t all = f->element.n + f->junction.n;
    bool fine = true;

    t.wanted = bg_malloc((f->element.n + 1) * sizeof *t.wanted);
    t.clamped = bg_calloc(f->element.n + 1, sizeof *t.clamped);
    t.element_gone = bg_calloc(f->element.n, sizeof *t.element_gone);
    t.junction_gone = bg_calloc(f->junction.n, sizeof *t.junction_gone);
    t.degree = bg_calloc(f->junction.n, sizeof *t.degree);
    t.passed = bg_calloc(f->junction.n, sizeof *t.passed);
    t.at_rest = bg_calloc(f->junction.n, sizeof *t.at_rest);
    t.looked = bg_calloc(f->junction.n, sizeof *t.looked);
    t.by_text = bg_calloc(all, sizeof *t.by_text);
    for (uint32_t e = 0; e < f->element.n; e++) {
        map_set(&t.element_of, map_ptr_key(f->element.at[e].name), e);
        t.wanted[e] = NOBODY;
    }
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (!f->junction.at[j].implicit)
            map_set(&t.junction_of, map_ptr_key(f->junction.at[j].name), j);
    for (size_t k = 0; k < n && fine; k++) {
        uint32_t e = map_get(&t.element_of, map_ptr_key(wanted[k]));

        if (e == MAP_NONE) {
            r->error = bg_format("model \"%s\" has no element \"%s\"", f->name, wanted[k]);
            fine = false;
        } else {
            t.wanted[e] = (uint32_t)k;
        }
    }
    for (size_t k = 0; k < nclamped && fine; k++) {
        uint32_t e = map_get(&t.element_of, map_ptr_key(clamped[k]));

        if (e != MAP_NONE && t.wanted[e] == NOBODY)
            t.clamped[e] = true;
    }
    gather_statements(f, &t.top);
    if (fine) {
        read_experiments(&t);
        block_named(&t);
        do
            cascade(&t, gone, ngone);
        while (keep_needed(&t));
        make_edits(&t);
    }
    free(t.wanted);
    free(t.clamped);
    free(t.element_gone);
    free(t.junction_gone);
    free(t.degree);
    free(t.passed);
    free(t.at_rest);
    free(t.looked);
    free(t.by_text);
    map_free(&t.top);
    map_free(&t.element_of);
    map_free(&t.junction_of);
    map_free(&t.mentioned);
    map_free(&t.mentioned_base);
    map_free(&t.heads);
    vec_free(&t.mention);
    vec_free(&t.open);
    vec_free(&t.entry);
    vec_free(&t.group);
    return fine;
}
