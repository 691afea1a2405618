/* clocks.c - see clocks.h */
#include "clocks.h"

#include "walks.h"

/* How an expression depends on time: not at all, linearly, otherwise; or on states: within bounds (an arctangent of
 * them), in any way, or by the sine of what has no bounds, which may go through many periods. */
enum course { UNKNOWN, STILL, LINEAR, TIMED, BOUNDED, MOVING, WAVING };

struct finder {
    equations *e;
    VEC(uint8_t) of_var, of_node; /* by variable; by place in a list of nodes */
    VEC(uint32_t) place;          /* by node: 1 + its place in the current list; 0: not in it */
    const node *tape;
    size_t ntape;
    map found;            /* hash of an inst -> its place in out */
    bool *read, *watched; /* by variable: rates read it; conditions that are watched do */
    clock_list *out;
    bend_list *bends;
};

/* That of an operation on what depends on states; most: the most of its operands. */
static enum course
course_moving(enum ex_op op, const enum course operand[3], enum course most)
{
    if (most == WAVING)
        return WAVING;
    switch (op) {
    case EX_SIN:
    case EX_COS:
    case EX_TAN: return most == BOUNDED ? BOUNDED : WAVING;
    case EX_TANH:
    case EX_ATAN:
    case EX_ATAN2:
    case EX_ASIN:
    case EX_ACOS:
    case EX_SIGN: return BOUNDED;
    case EX_ADD:
    case EX_SUB:
    case EX_MUL:
    case EX_NEG:
    case EX_ABS: break;
    case EX_DIV: return operand[1] == STILL ? most : MOVING;
    default: return MOVING;
    }
    for (int k = 0; k < ex_ops[op].arity; k++)
        if (operand[k] == LINEAR || operand[k] == TIMED)
            return MOVING;
    return most;
}

static enum course
course_of_node(const pool *p, const ex_node *x, const enum course operand[3])
{
    enum course most = STILL;

    for (int k = 0; k < ex_ops[x->op].arity; k++)
        if (operand[k] > most)
            most = operand[k];
    if (most >= BOUNDED)
        return course_moving(x->op, operand, most);
    if (most != LINEAR)
        return most;
    switch (x->op) {
    case EX_ADD:
    case EX_SUB:
    case EX_NEG: return LINEAR;
    case EX_MUL: return operand[0] == LINEAR && operand[1] == LINEAR ? TIMED : LINEAR;
    case EX_DIV: return operand[1] == LINEAR ? TIMED : LINEAR;
    case EX_SELECT: return operand[0] == LINEAR ? TIMED : LINEAR;
    case EX_TABLE: /* within one piece */ return x->b == NODE_NONE || pool_table(p, x->table)->nends ? TIMED : LINEAR;
    default: return TIMED;
    }
}

/* The dependence of a node in the current list. */
static enum course
course_at(const struct finder *d, node n)
{
    return (enum course)d->of_node.at[d->place.at[n] - 1];
}

/* The dependences of all nodes of an expression, by place in its list; the last one is that of the expression. */
static enum course
follow_expression(struct finder *d, inst i)
{
    flat_model *f = d->e->f;
    const var_id *slot = inst_slots(f, i);
    size_t n;
    const node *tape;

    for (size_t k = 0; k < d->ntape; k++)
        d->place.at[d->tape[k]] = 0;
    tape = d->tape = ex_tape(f->pool, i.root, &n);
    d->ntape = n;
    vec_resize(&d->of_node, n);
    for (size_t k = 0; k < n; k++) {
        const ex_node *x = pool_node(f->pool, tape[k]);
        const node child[3] = { x->a, x->b, x->c };
        enum course operand[3] = { STILL, STILL, STILL };

        if (d->place.n <= tape[k])
            vec_resize(&d->place, pool_count(f->pool));
        d->place.at[tape[k]] = (uint32_t)k + 1;
        if (x->op == EX_SLOT) {
            d->of_node.at[k] = d->of_var.at[slot[x->a]];
            continue;
        }
        for (int c = 0; c < 3; c++)
            if (child[c] != NODE_NONE && x->op != EX_CONST)
                operand[c] = course_at(d, child[c]);
        d->of_node.at[k] = (uint8_t)course_of_node(f->pool, x, operand);
    }
    return n ? (enum course)d->of_node.at[n - 1] : STILL;
}

/* Determines v and the variables that it needs, with an explicit stack, since definitions may be long chains. */
static void
follow_variable(struct finder *d, var_id v)
{
    equations *e = d->e;
    VEC(var_id) todo = { 0 };

    vec_push(&todo, v);
    while (todo.n) {
        var_id at = todo.at[todo.n - 1];
        const eq_var *x = &e->var.at[at];
        const var_id *slot;
        bool ready = true;

        if (d->of_var.at[at] != UNKNOWN) {
            todo.n--;
            continue;
        }
        if (x->kind != DEF_EXPLICIT) {
            d->of_var.at[at] = at == 0 ? LINEAR : x->kind == DEF_GIVEN || x->kind == DEF_NONE ? STILL : MOVING;
            todo.n--;
            continue;
        }
        slot = inst_slots(e->f, x->def);
        for (uint32_t k = 0; k < x->def.n; k++)
            if (d->of_var.at[slot[k]] == UNKNOWN) {
                vec_push(&todo, slot[k]);
                ready = false;
            }
        if (ready) {
            d->of_var.at[at] = (uint8_t)follow_expression(d, x->def);
            todo.n--;
        }
    }
    vec_free(&todo);
}

static void
add_clock(struct finder *d, inst part, span at, bool driving)
{
    const var_id *slot = inst_slots(d->e->f, part);
    uint64_t key = bg_hash_bytes(slot, part.n * sizeof *slot, part.root);
    uint32_t there = map_get(&d->found, key);

    if (there != MAP_NONE) {
        d->out->at[there].driving |= driving;
        return;
    }
    map_set(&d->found, key, (uint32_t)d->out->n);
    vec_push(d->out, ((eq_clock){ part, at, driving }));
}

/* Marks what the rates of the states read, or what conditions read. */
static bool *
read_by(const equations *e, bool rates)
{
    definition_walk r;
    var_id v;

    definition_walk_begin(&r, e);
    for (size_t i = 0; i < e->state.n && rates; i++)
        definition_walk_add(&r, e->state.at[i].rate);
    for (size_t k = 0; k < e->mode.n && !rates; k++)
        if (!e->mode.at[k].known)
            definition_walk_read(&r, e->mode.at[k].g);
    while (definition_walk_next(&r, &v))
        ;
    vec_free(&r.todo);
    return r.met;
}

/* Finds the maximal parts of an expression that depend on time nonlinearly. Variables are handled in their own
 * definition. */
static void
find_clocks_in(struct finder *d, inst i, span at, bool driving, bool watched)
{
    flat_model *f = d->e->f;
    const var_id *slot = inst_slots(f, i);
    VEC(node) todo = { 0 };
    map seen = { 0 };

    for (uint32_t k = 0; k < i.n; k++)
        follow_variable(d, slot[k]);
    if (follow_expression(d, i) >= TIMED)
        vec_push(&todo, i.root);
    while (todo.n) {
        node n = todo.at[--todo.n];
        const ex_node *x = pool_node(f->pool, n);
        enum course c = course_at(d, n);

        if (c < TIMED || x->op == EX_SLOT || map_get(&seen, n) != MAP_NONE)
            continue;
        map_set(&seen, n, 1);
        if (c == TIMED) {
            add_clock(d, inst_part(d->e->composer, n, slot, i.n), at, driving);
            slot = inst_slots(f, i); /* may have moved */
            continue;
        }
        if ((driving || watched) && ex_ops[x->op].sharp)
            vec_push(d->bends, ((eq_bend){ inst_part(d->e->composer, n, slot, i.n), false, driving }));
        else if ((driving || watched) && x->op == EX_DIV && course_at(d, x->b) >= BOUNDED)
            vec_push(d->bends, ((eq_bend){ inst_part(d->e->composer, x->b, slot, i.n), true, driving }));
        slot = inst_slots(f, i); /* may have moved */
        x = pool_node(f->pool, n);
        for (int k = 0; k < ex_ops[x->op].arity; k++) {
            node child = k == 0 ? x->a : k == 1 ? x->b : x->c;

            if (child != NODE_NONE) /* a table without a piece */
                vec_push(&todo, child);
        }
    }
    vec_free(&todo);
    map_free(&seen);
}

static enum course
course_in_time(struct finder *d, inst i)
{
    const var_id *slot = inst_slots(d->e->f, i);

    for (uint32_t k = 0; k < i.n; k++)
        follow_variable(d, slot[k]);
    return follow_expression(d, i);
}

/* Unknowns of blocks are WAVING if one of their equations is; what reads them is looked at again. */
static void
follow_blocks(struct finder *d)
{
    equations *e = d->e;
    bool any = false;

    for (size_t b = 0; b < e->block.n; b++)
        for (uint32_t k = 0; k < e->block.at[b].n; k++)
            any |= course_in_time(d, e->residual.at[e->block.at[b].residual0 + k]) == WAVING;
    for (uint32_t v = 0; v < e->var.n && any; v++)
        if (e->var.at[v].kind == DEF_EXPLICIT)
            d->of_var.at[v] = UNKNOWN;
    for (size_t u = 0; u < e->unknown.n && any; u++)
        d->of_var.at[e->unknown.at[u]] = WAVING;
}

/* The conditions that are WAVING, by mode; NULL: none. */
static bool *
find_waving(struct finder *d)
{
    equations *e = d->e;
    bool *waving = NULL;

    follow_blocks(d);
    for (size_t k = 0; k < e->mode.n; k++) {
        if (e->mode.at[k].known || course_in_time(d, e->mode.at[k].g) != WAVING)
            continue;
        if (!waving)
            waving = bg_calloc(e->mode.n, sizeof *waving);
        waving[k] = true;
    }
    return waving;
}

bool *
clocks_find(equations *e, clock_list *out, bend_list *bends)
{
    bool *waving;
    struct finder d = { .e = e, .out = out, .bends = bends, .read = read_by(e, true), .watched = read_by(e, false) };

    vec_resize(&d.of_var, e->var.n);
    for (uint32_t v = 0; v < e->var.n; v++)
        if (e->var.at[v].kind == DEF_EXPLICIT)
            find_clocks_in(&d, e->var.at[v].def, equations_place(e, v), d.read[v], d.watched[v]);
    for (size_t b = 0; b < e->block.n; b++)
        for (uint32_t k = 0; k < e->block.at[b].n; k++)
            find_clocks_in(&d, e->residual.at[e->block.at[b].residual0 + k], e->block.at[b].at,
                           d.read[e->unknown.at[e->block.at[b].unknown0]],
                           d.watched[e->unknown.at[e->block.at[b].unknown0]]);
    for (size_t k = 0; k < e->mode.n; k++)
        if (!e->mode.at[k].known)
            find_clocks_in(&d, e->mode.at[k].g, e->mode.at[k].at, false, true);
    for (size_t k = 0; k < e->power.n; k++)
        find_clocks_in(&d, e->power.at[k], element_at(&e->f->element.at[k]), false, false);
    waving = find_waving(&d);
    vec_free(&d.of_var);
    vec_free(&d.of_node);
    vec_free(&d.place);
    map_free(&d.found);
    free(d.read);
    free(d.watched);
    return waving;
}
