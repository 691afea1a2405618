/* poles.c - see poles.h */
#include "poles.h"

struct finder {
    equations *e;
    VEC(uint8_t)
    seen, moves; /* by variable: visited; depends on time, states or unknowns (0: not known yet, 1: no, 2: yes) */
    VEC(var_id) todo;
    map found; /* hash of an inst -> 1 */
    pole_list *out;
};

enum { NOT_KNOWN, STILL, MOVING };

/* What is known of a value: nothing, at least zero, above zero. */
enum sign_known { ANY, NOT_NEGATIVE, POSITIVE };

static enum sign_known
sign_of(const pool *p, node n)
{
    const ex_node *x = pool_node(p, n);
    enum sign_known a, b;
    int power;

    switch (x->op) {
    case EX_CONST: return x->value > 0 ? POSITIVE : x->value == 0 ? NOT_NEGATIVE : ANY;
    case EX_EXP:
    case EX_COSH: return POSITIVE;
    case EX_ABS: return NOT_NEGATIVE;
    case EX_SQRT: return sign_of(p, x->a) == POSITIVE ? POSITIVE : NOT_NEGATIVE;
    case EX_POW:
        if (sign_of(p, x->a) == POSITIVE)
            return POSITIVE;
        b = ex_is_const(p, x->b, NULL) ? NOT_NEGATIVE : ANY;
        return b == NOT_NEGATIVE && ex_integer_power(pool_node(p, x->b)->value, &power) && power % 2 == 0 ? NOT_NEGATIVE
                                                                                                          : ANY;
    case EX_ADD:
        a = sign_of(p, x->a);
        b = sign_of(p, x->b);
        return a == ANY || b == ANY ? ANY : a == POSITIVE || b == POSITIVE ? POSITIVE : NOT_NEGATIVE;
    case EX_MUL:
        if (x->a == x->b)
            return NOT_NEGATIVE;
        a = sign_of(p, x->a);
        b = sign_of(p, x->b);
        return a == ANY || b == ANY ? ANY : a < b ? a : b;
    case EX_DIV:
        a = sign_of(p, x->a);
        b = sign_of(p, x->b);
        return b == POSITIVE ? a : ANY;
    default: return ANY;
    }
}

/* Expressions are walked with an explicit stack, except for the sign: greatest depth of that recursion. */
enum { DEEPEST_SIGN = 64 };

bool
poles_may_be_zero(const pool *p, node n)
{
    return pool_node(p, n)->depth > DEEPEST_SIGN || sign_of(p, n) != POSITIVE;
}

/* Does the variable depend on more than parameters? With an explicit stack, since definitions may be long chains. */
static bool
moves(struct finder *d, var_id v)
{
    equations *e = d->e;
    VEC(var_id) todo = { 0 };

    vec_push(&todo, v);
    while (todo.n) {
        var_id at = todo.at[todo.n - 1];
        const eq_var *x = &e->var.at[at];
        bool ready = true, moving = false;

        if (d->moves.at[at] != NOT_KNOWN) {
            todo.n--;
            continue;
        }
        if (x->kind != DEF_EXPLICIT) {
            d->moves.at[at] = at == 0 || x->kind == DEF_STATE || x->kind == DEF_BLOCK ? MOVING : STILL;
            todo.n--;
            continue;
        }
        for (uint32_t k = 0; k < x->def.n; k++) {
            var_id s = inst_slots(e->f, x->def)[k];

            moving = moving || d->moves.at[s] == MOVING;
            if (d->moves.at[s] == NOT_KNOWN && !moving) {
                vec_push(&todo, s);
                ready = false;
            }
        }
        if (ready || moving) {
            while (todo.at[todo.n - 1] != at)
                todo.n--;
            d->moves.at[at] = moving ? MOVING : STILL;
            todo.n--;
        }
    }
    vec_free(&todo);
    return d->moves.at[v] == MOVING;
}

static void
add_pole(struct finder *d, inst part, var_id var, span at)
{
    const var_id *slot = inst_slots(d->e->f, part);
    uint64_t key = bg_hash_bytes(slot, part.n * sizeof *slot, part.root);
    bool moving = false;

    for (uint32_t k = 0; k < part.n && !moving; k++)
        moving = moves(d, inst_slots(d->e->f, part)[k]);
    if (!moving || map_get(&d->found, key) != MAP_NONE)
        return;
    map_set(&d->found, key, 1);
    vec_push(d->out, ((eq_pole){ part, var, at, NONE }));
}

/* Do the coefficients of the block's unknowns vary? */
static bool
matrix_moves(struct finder *d, const eq_block *b)
{
    equations *e = d->e;
    VEC(var_id) slot = { 0 };
    bool moving = false;

    for (uint32_t i = 0; i < b->n && !moving; i++) {
        inst r = e->residual.at[b->residual0 + i];

        slot.n = 0;
        for (uint32_t k = 0; k < r.n; k++)
            vec_push(&slot, inst_slots(e->f, r)[k]);
        for (uint32_t k = 0; k < r.n && !moving; k++) {
            const eq_var *x = &e->var.at[slot.at[k]];
            inst c;

            if (x->kind != DEF_BLOCK || &e->block.at[x->index] != b)
                continue;
            c = inst_part(e->composer, ex_derivative(e->f->pool, r.root, k), slot.at, r.n);
            for (uint32_t j = 0; j < c.n && !moving; j++)
                moving = moves(d, inst_slots(e->f, c)[j]);
        }
    }
    vec_free(&slot);
    return moving;
}

/* Adds the determinant of a needed block, if it may become zero. */
static void
add_block_pole(struct finder *d, uint32_t block)
{
    const eq_block *b = &d->e->block.at[block];
    var_id v = d->e->unknown.at[b->unknown0];

    if (b->linear && !b->constant && matrix_moves(d, b))
        vec_push(d->out, ((eq_pole){ inst_var(d->e->f, v), v, var_at(d->e->f, v), block }));
}

/* Adds the divisors of an expression; what it reads is visited next. */
static void
find_poles_in(struct finder *d, inst i, var_id var, span at)
{
    flat_model *f = d->e->f;
    VEC(node) divisor = { 0 };
    VEC(var_id) slot = { 0 };
    size_t n;
    const node *tape;
    int power;

    for (uint32_t k = 0; k < i.n; k++) {
        vec_push(&slot, inst_slots(f, i)[k]);
        vec_push(&d->todo, slot.at[k]);
    }
    tape = ex_tape(f->pool, i.root, &n);
    for (size_t k = 0; k < n; k++) {
        const ex_node *x = pool_node(f->pool, tape[k]);

        if (x->op == EX_DIV && poles_may_be_zero(f->pool, x->b))
            vec_push(&divisor, x->b);
        else if (x->op == EX_POW && ex_is_const(f->pool, x->b, NULL) && pool_node(f->pool, x->b)->value < 0 &&
                 ex_integer_power(pool_node(f->pool, x->b)->value, &power) && power % 2)
            vec_push(&divisor, x->a);
        else if (x->op == EX_TAN)
            vec_push(&divisor, ex_make(f->pool, EX_COS, x->a, NODE_NONE, NODE_NONE));
    }
    for (size_t k = 0; k < divisor.n; k++)
        add_pole(d, inst_part(d->e->composer, divisor.at[k], slot.at, i.n), var, at);
    vec_free(&divisor);
    vec_free(&slot);
}

void
poles_find(equations *e, pole_list *out)
{
    struct finder d = { .e = e, .out = out };
    flat_model *f = e->f;

    vec_resize(&d.seen, e->var.n);
    vec_resize(&d.moves, e->var.n);
    for (size_t i = 0; i < e->state.n; i++)
        vec_push(&d.todo, e->state.at[i].rate);
    for (size_t k = 0; k < e->power.n; k++)
        find_poles_in(&d, e->power.at[k], VAR_NONE, element_at(&f->element.at[k]));
    for (size_t b = 0; b < e->block.n; b++)
        for (uint32_t k = 0; k < e->block.at[b].n; k++)
            find_poles_in(&d, e->residual.at[e->block.at[b].residual0 + k], VAR_NONE, e->block.at[b].at);
    while (d.todo.n) {
        var_id v = d.todo.at[--d.todo.n];

        if (d.seen.at[v])
            continue;
        d.seen.at[v] = 1;
        if (e->var.at[v].kind == DEF_EXPLICIT)
            find_poles_in(&d, e->var.at[v].def, v, equations_place(e, v));
        else if (e->var.at[v].kind == DEF_BLOCK && e->unknown.at[e->block.at[e->var.at[v].index].unknown0] == v)
            add_block_pole(&d, e->var.at[v].index);
    }
    vec_free(&d.seen);
    vec_free(&d.moves);
    vec_free(&d.todo);
    map_free(&d.found);
}
