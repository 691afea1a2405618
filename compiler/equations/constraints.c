/* constraints.c - see constraints.h */
#include <stdlib.h>
#include <string.h>
#include "constraints.h"

enum { MAX_DIFFERENTIATIONS = 3, NIL = UINT32_MAX };

/* Of a search for an unknown: a source, the step before, and the unknown that led here from it. */
struct step { uint32_t source, up, unknown; };

struct matcher {
    struct constraints *k;
    struct rates *r;
    map source_of;               /* unknown -> source */
    VEC(uint32_t) stamp;         /* by variable: last search that saw it */
    VEC(uint32_t) group_stamp;
    uint32_t search;
    VEC(var_id) todo;
    VEC(uint32_t) *reached;      /* by source: unknowns its residual depends on; empty until asked for */
    bool *known;                 /* by source: reached is complete */
    uint32_t *owner;             /* by unknown: the source whose residual determines it */
    uint32_t *seen;              /* by source: last augmentation */
};

void constraints_add(struct constraints *k, struct groups *g, var_id unknown, inst residual, uint32_t port)
{
    uint32_t group = group_new(g);

    group_add(g, group, unknown, residual);
    vec_push(&k->source, ((struct residual_source){ unknown, group, port, VAR_NONE }));
}

void constraints_free(struct constraints *k)
{
    vec_free(&k->source);
}

static void look_at(struct matcher *m, inst i)
{
    for (uint32_t s = 0; s < i.n; s++) {
        var_id v = m->r->e->f->slot.at[i.first + s];

        if (m->stamp.at[v] == m->search)
            continue;
        m->stamp.at[v] = m->search;
        vec_push(&m->todo, v);
    }
}

/* What an expression depends on. visit is called for each source whose unknown is; true from it stops. *states (may be NULL): a state is. */
static bool walk(struct matcher *m, inst from, bool *states, bool (*visit)(struct matcher *m, uint32_t s, uint32_t found), uint32_t s)
{
    equations *e = m->r->e;
    struct groups *g = m->r->g;

    vec_resize(&m->stamp, e->var.n);
    vec_resize(&m->group_stamp, g->group.n);
    m->search++;
    m->todo.n = 0;
    look_at(m, from);
    while (m->todo.n) {
        var_id v = m->todo.at[--m->todo.n];
        uint32_t group, source;

        if (e->var.at[v].kind == DEF_EXPLICIT) {
            look_at(m, e->var.at[v].def);
            continue;
        }
        if (states && e->var.at[v].kind == DEF_STATE)
            *states = true;
        source = map_get(&m->source_of, v);
        if (source != MAP_NONE) {
            if (visit(m, s, source))
                return true;
            continue;
        }
        group = e->var.at[v].kind == DEF_NONE ? group_of(g, v) : NIL;
        if (group == NIL || m->group_stamp.at[group] == m->search)
            continue;
        m->group_stamp.at[group] = m->search;
        for (uint32_t i = 0; i < group_size(g, group); i++)
            look_at(m, group_residual(g, group, i));
    }
    return false;
}

static inst residual_of(const struct matcher *m, uint32_t s) { return group_residual(m->r->g, m->k->source.at[s].group, 0); }

static bool is_own(struct matcher *m, uint32_t s, uint32_t found) { (void)m; return found == s; }
static bool is_any(struct matcher *m, uint32_t s, uint32_t found) { (void)m, (void)s, (void)found; return true; }
static bool note_reached(struct matcher *m, uint32_t s, uint32_t found) { vec_push(&m->reached[s], found); return false; }

static void learn(struct matcher *m, uint32_t s)
{
    if (m->known[s])
        return;
    m->reached[s].n = 0;
    walk(m, residual_of(m, s), NULL, note_reached, s);
    m->known[s] = true;
}

/* Gives source `first`'s residual an unknown, moving others on where that takes it (a breadth-first search, so that no recursion is needed). */
static bool augment(struct matcher *m, uint32_t first, uint32_t mark)
{
    VEC(struct step) queue = { 0 };
    bool done = false;

    vec_push(&queue, ((struct step){ first, NIL, NIL }));
    m->seen[first] = mark;
    for (size_t i = 0; i < queue.n && !done; i++) {
        uint32_t s = queue.at[i].source;

        learn(m, s);
        for (size_t n = 0; n < m->reached[s].n && !done; n++) {
            uint32_t u = m->reached[s].at[n], owner = m->owner[u];

            if (owner == NIL) {
                /* along the way back everyone takes the unknown that led to the next */
                for (uint32_t at = (uint32_t)i; at != NIL; at = queue.at[at].up) {
                    m->owner[u] = queue.at[at].source;
                    u = queue.at[at].unknown;
                }
                done = true;
            } else if (m->seen[owner] != mark) {
                m->seen[owner] = mark;
                vec_push(&queue, ((struct step){ owner, (uint32_t)i, u }));
            }
        }
    }
    vec_free(&queue);
    return done;
}

static const flat_element *element_of(const struct matcher *m, uint32_t s)
{
    const flat_model *f = m->r->e->f;

    return &f->element.at[f->port.at[m->k->source.at[s].port].element];
}

/* Puts d/dt of the residual in its place; the first time the residual becomes a variable. */
static void raise(struct matcher *m, uint32_t s)
{
    struct rates *r = m->r;
    equations *e = r->e;
    flat_model *f = e->f;
    struct residual_source *x = &m->k->source.at[s];
    uint32_t rates;
    var_id d;

    if (x->condition == VAR_NONE) {
        char *name = bg_format("condition of %s", element_of(m, s)->name);

        x->condition = eq_new_var(e, VAR_AUX, NIL, names_intern_z(f->names, name), element_of(m, s)->at, f->var.at[x->unknown].position);
        eq_define(e, x->condition, group_residual(r->g, x->group, 0));
        free(name);
    }
    vec_push(&e->constraint, x->condition);
    d = rate_of(r, x->condition);
    define_rates(r);
    x->condition = d;
    group_set_residual(r->g, x->group, 0, d == VAR_NONE ? inst_const(f, 0) : inst_var(f, d));
    /* its own rate, where something asked for it, follows from the new residual */
    rates = map_get(&r->group_of, x->group);
    if (rates != MAP_NONE) {
        inst residual = differentiate(r, group_residual(r->g, x->group, 0));

        group_set_residual(r->g, rates, 0, residual);
        define_rates(r);
    }
    memset(m->known, 0, m->k->source.n * sizeof *m->known);
}

/* Rebuilds a residual whose operators above its branches are selections and signs, each branch by make(). */
struct branches {
    struct matcher *m;
    uint32_t s;
    VEC(node) branch;
    VEC(node) made;              /* parallel: what stands for it in the residual */
    map index;                   /* node -> its number */
    VEC(var_id) slot;            /* of the residual: as they were, then those of what stands for branches */
};

static void find_branches(struct branches *b, node root)
{
    pool *p = b->m->r->e->f->pool;
    VEC(node) todo = { 0 };
    map seen = { 0 };

    vec_push(&todo, root);
    while (todo.n) {
        node at = todo.at[--todo.n];
        const ex_node *x = pool_node(p, at);

        if (map_get(&seen, at) != MAP_NONE)
            continue;
        map_set(&seen, at, 1);
        if (x->op == EX_NEG) {
            vec_push(&todo, x->a);
        } else if (x->op == EX_SELECT) {
            vec_push(&todo, x->b);
            vec_push(&todo, x->c);
        } else {
            map_set(&b->index, at, (uint32_t)b->branch.n);
            vec_push(&b->branch, at);
            vec_push(&b->made, at);
        }
    }
    map_free(&seen);
    vec_free(&todo);
}

/* The residual with branch i as with[i]. */
static node rebuild(const struct branches *b, node root, const node *with)
{
    pool *p = b->m->r->e->f->pool;
    size_t n;
    const node *tape = ex_tape(p, root, &n);
    VEC(node) old = { 0 }, of = { 0 };
    map at = { 0 };              /* node -> its place on the tape */
    node result;

    for (size_t i = 0; i < n; i++) {     /* making nodes may move the tape */
        vec_push(&old, tape[i]);
        map_set(&at, tape[i], (uint32_t)i);
    }
    for (size_t i = 0; i < n; i++) {
        const ex_node *x = pool_node(p, old.at[i]);
        uint32_t branch = map_get(&b->index, old.at[i]);

        if (branch != MAP_NONE)
            vec_push(&of, with[branch]);
        else if (x->op == EX_NEG)
            vec_push(&of, ex_neg(p, of.at[map_get(&at, x->a)]));
        else if (x->op == EX_SELECT)
            vec_push(&of, ex_make(p, EX_SELECT, x->a, of.at[map_get(&at, x->b)], of.at[map_get(&at, x->c)]));
        else
            vec_push(&of, old.at[i]);    /* a condition */
    }
    result = of.at[n - 1];
    vec_free(&old);
    vec_free(&of);
    map_free(&at);
    return result;
}

/* In one branch the residual may be a function of states alone (an ideal diode in series with a coil blocks: its current is zero). There the branch is
 * differentiated until the source's unknown turns up, and kept as a constraint that is zero in the other branches. */
static void raise_branches(struct matcher *m, uint32_t s)
{
    struct rates *r = m->r;
    equations *e = r->e;
    flat_model *f = e->f;
    const struct residual_source *x = &m->k->source.at[s];
    inst residual = residual_of(m, s);
    struct branches b = { .m = m, .s = s };
    VEC(node) alone = { 0 };
    bool any = false;

    if (pool_node(f->pool, residual.root)->op != EX_SELECT && pool_node(f->pool, residual.root)->op != EX_NEG)
        return;
    find_branches(&b, residual.root);
    for (uint32_t k = 0; k < residual.n; k++)
        vec_push(&b.slot, f->slot.at[residual.first + k]);
    for (size_t i = 0; i < b.branch.n && b.branch.n > 1 && r->ok; i++) {
        inst branch = inst_part(e->composer, b.branch.at[i], b.slot.at, residual.n);
        size_t kept = e->constraint.n;
        bool states = false, found = walk(m, branch, &states, is_any, s);

        for (int times = 0; !found && states && times < MAX_DIFFERENTIATIONS && r->ok; times++) {
            uint32_t position = f->var.at[x->unknown].position;
            char *name = bg_format("condition of %s", element_of(m, s)->name);
            const char *kept_name = names_intern_z(f->names, name);
            var_id value = eq_new_var(e, VAR_AUX, NIL, kept_name, element_of(m, s)->at, position);
            var_id constraint = eq_new_var(e, VAR_AUX, NIL, kept_name, element_of(m, s)->at, position), d;

            free(name);
            eq_define(e, value, branch);
            /* zero wherever another branch holds */
            alone.n = 0;
            for (size_t k = 0; k < b.branch.n; k++)
                vec_push(&alone, k == i ? ex_slot(f->pool, (uint32_t)b.slot.n) : ex_const(f->pool, 0));
            vec_push(&b.slot, value);
            eq_define(e, constraint, inst_part(e->composer, rebuild(&b, residual.root, alone.at), b.slot.at, (uint32_t)b.slot.n));
            b.slot.n--;
            vec_push(&e->constraint, constraint);
            d = rate_of(r, value);
            define_rates(r);
            if (d == VAR_NONE)
                break;
            branch = inst_var(f, d);
            states = false;
            found = walk(m, branch, &states, is_any, s);
            if (found) {
                b.made.at[i] = ex_slot(f->pool, (uint32_t)b.slot.n);
                vec_push(&b.slot, d);
                any = true;
            }
        }
        if (!found)
            e->constraint.n = kept;
    }
    if (any) {
        inst made = inst_part(e->composer, rebuild(&b, residual.root, b.made.at), b.slot.at, (uint32_t)b.slot.n);

        group_set_residual(r->g, x->group, 0, inst_compose(e->composer, made, NULL));
        memset(m->known, 0, m->k->source.n * sizeof *m->known);
    }
    vec_free(&b.branch);
    vec_free(&b.made);
    vec_free(&b.slot);
    map_free(&b.index);
    vec_free(&alone);
}

static void report_free(struct matcher *m, uint32_t s)
{
    equations *e = m->r->e;
    const flat_element *el = element_of(m, s);
    bool effort = el->type == EL_SE;
    const struct residual_source *x = &m->k->source.at[s];

    learn(m, s);
    if (m->reached[s].n) {
        const flat_element *other = element_of(m, m->reached[s].at[0]);

        diag_error(e->f->sources, "residual-twice", el->at, "the condition of %s:%s determines \"%s\", which has a condition of its own already", element_type_name(el->type),
                   el->name, other->name);
        diag_note(e->f->sources, other->at, "\"%s\" is here", other->name);
    } else {
        diag_error(e->f->sources, "residual-free", el->at, "the %s of %s:%s changes nothing that its condition reads", effort ? "effort" : "flow", element_type_name(el->type),
                   el->name);
        diag_note(e->f->sources, port_law(e->f, x->port)->at, "the condition is here");
    }
    diag_help(e->f->sources, "A condition must depend on the source it belongs to, directly or through at most %d derivatives in time.", MAX_DIFFERENTIATIONS);
}

/* Finds an unknown for source s's residual, differentiating it where that takes it. */
static bool settle(struct matcher *m, uint32_t s)
{
    size_t kept = m->r->e->constraint.n;
    uint32_t mark = s + 1;

    for (int times = 0;; times++) {
        if (augment(m, s, mark))
            return true;
        /* differentiated only while the residual is a function of states alone: others already have what it could determine */
        if (m->reached[s].n || times == MAX_DIFFERENTIATIONS)
            break;
        raise(m, s);
        if (!m->r->ok)
            return false;
        memset(m->seen, 0, m->k->source.n * sizeof *m->seen);
    }
    m->r->e->constraint.n = kept;
    report_free(m, s);
    return false;
}

bool constraints_make(struct constraints *k, struct rates *r)
{
    struct matcher m = { .k = k, .r = r };
    size_t n = k->source.n;
    bool *found, ok = true;

    if (!n)
        return true;
    found = bg_calloc(n, sizeof *found);
    m.reached = bg_calloc(n, sizeof *m.reached);
    m.known = bg_calloc(n, sizeof *m.known);
    m.owner = bg_malloc(n * sizeof *m.owner);
    m.seen = bg_calloc(n, sizeof *m.seen);
    for (uint32_t s = 0; s < n; s++) {
        map_set(&m.source_of, k->source.at[s].unknown, s);
        m.owner[s] = NIL;
    }
    /* nearly all read their own unknown */
    for (uint32_t s = 0; s < n; s++)
        if (walk(&m, residual_of(&m, s), NULL, is_own, s)) {
            m.owner[s] = s;
            found[s] = true;
        }
    for (uint32_t s = 0; s < n && r->ok; s++)
        if (found[s])
            raise_branches(&m, s);
    for (uint32_t s = 0; s < n && r->ok; s++)
        ok = (found[s] || settle(&m, s)) && ok;
    free(found);
    for (uint32_t s = 0; s < n; s++)
        vec_free(&m.reached[s]);
    free(m.reached);
    free(m.known);
    free(m.owner);
    free(m.seen);
    map_free(&m.source_of);
    vec_free(&m.stamp);
    vec_free(&m.group_stamp);
    vec_free(&m.todo);
    return ok;
}
