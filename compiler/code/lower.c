/* lower.c - see lower.h */
#include "lower.h"

#include <stdlib.h>

enum { PIECE = 600 }; /* nodes a function of a chunk: about 1000 instructions */

void
lowering_free(lowering *l)
{
    vec_free(&l->site);
    vec_free(&l->slot);
    vec_free(&l->once);
}

/* ---------------------------------------------------------------- operations */

static code_value
lower_number(const lowering *l, double v)
{
    return l->back->number(l->of, v);
}

static code_value
two(const lowering *l, bool once, enum ex_op op, code_value a, code_value b)
{
    return l->back->operate(l->of, once, op, (code_value[]){ a, b });
}

static code_value
one(const lowering *l, bool once, enum ex_op op, code_value a)
{
    return l->back->operate(l->of, once, op, &a);
}

static code_value
choose_value(const lowering *l, bool once, code_value flag, code_value yes, code_value no)
{
    return l->back->operate(l->of, once, EX_SELECT, (code_value[]){ flag, yes, no });
}

/* In the order of the cases of the evaluator's power(). */
static code_value
integer_power(const lowering *l, bool once, code_value x, int n)
{
    code_value r = NULL;

    for (unsigned m = (unsigned)abs(n); m;) {
        if (m & 1)
            r = r ? two(l, once, EX_MUL, r, x) : x;
        if (m >>= 1)
            x = two(l, once, EX_MUL, x, x);
    }
    return n < 0 ? two(l, once, EX_DIV, lower_number(l, 1), r) : r;
}

/* Exponents with code of their own in ex_signed_power and ex_absolute_power. */
static bool
has_own_form(enum ex_op op, double exponent)
{
    return op == EX_SPOW ? exponent == 2 || exponent == 1.5 || exponent == 0.5
                         : exponent == 1 || exponent == 0.5 || exponent == -0.5;
}

static code_value
signed_power(const lowering *l, bool once, enum ex_op op, code_value x, double exponent)
{
    code_value m = one(l, once, EX_ABS, x), least;

    if (op == EX_APOW && exponent == 1)
        return m;
    if (op == EX_SPOW && exponent == 2)
        return two(l, once, EX_MUL, x, m);
    if (exponent < 0) {
        least = lower_number(l, EX_LEAST_BASE);
        m = choose_value(l, once, two(l, once, EX_LT, m, least), least, m);
    }
    m = one(l, once, EX_SQRT, m);
    if (op == EX_APOW)
        return exponent < 0 ? two(l, once, EX_DIV, lower_number(l, 1), m) : m;
    return exponent == 0.5 ? l->back->with_sign(l->of, once, m, x) : two(l, once, EX_MUL, x, m);
}

/* a < b ? a : b for the operands in this order; a if it is not a number. */
static code_value
lesser(const lowering *l, bool once, code_value low, code_value high, code_value x, code_value y)
{
    code_value r = choose_value(l, once, two(l, once, EX_LT, low, high), x, y);

    return choose_value(l, once, two(l, once, EX_NE, x, x), x, r);
}

static code_value
number_of_flag(lowering *l, node n)
{
    struct site *s = &l->site.at[n];

    if (!s->number)
        s->number = choose_value(l, s->once, s->flag, lower_number(l, 1), lower_number(l, 0));
    return s->number;
}

static code_value
flag_of(lowering *l, node n)
{
    struct site *s = &l->site.at[n];

    if (!s->flag)
        s->flag = two(l, s->once, EX_NE, s->number, lower_number(l, 0));
    return s->flag;
}

/* The flag of a condition; NULL if the operation is not a condition. */
static code_value
condition(lowering *l, bool once, const ex_node *e)
{
    switch (e->op) {
    case EX_LT:
    case EX_LE:
    case EX_EQ:
    case EX_NE: {
        code_value a = number_of_flag(l, e->a);

        return two(l, once, e->op, a, number_of_flag(l, e->b));
    }
    case EX_AND:
    case EX_OR: {
        code_value a = flag_of(l, e->a);

        return two(l, once, e->op, a, flag_of(l, e->b));
    }
    case EX_NOT: return one(l, once, EX_NOT, flag_of(l, e->a));
    default: return NULL;
    }
}

static code_value
operation(lowering *l, bool once, const ex_node *e)
{
    code_value x, y = NULL, r;
    double c;
    int n;

    if (e->op == EX_SELECT) {
        x = flag_of(l, e->a);
        y = number_of_flag(l, e->b);
        return choose_value(l, once, x, y, number_of_flag(l, e->c));
    }
    x = number_of_flag(l, e->a);
    if (e->b != NODE_NONE)
        y = number_of_flag(l, e->b);
    switch (e->op) {
    case EX_ADD:
    case EX_SUB:
    case EX_MUL:
    case EX_DIV: return two(l, once, e->op, x, y);
    case EX_NEG:
    case EX_SQRT:
    case EX_FLOOR:
    case EX_CEIL:
    case EX_ABS: return one(l, once, e->op, x);
    case EX_MIN: return lesser(l, once, x, y, x, y);
    case EX_MAX: return lesser(l, once, y, x, x, y);
    case EX_SIGN:
        r = choose_value(l, once, two(l, once, EX_LT, x, lower_number(l, 0)), lower_number(l, -1), x);
        return choose_value(l, once, two(l, once, EX_LT, lower_number(l, 0), x), lower_number(l, 1), r);
    case EX_POW:
        if (ex_is_const(l->p, e->b, &c) && ex_integer_power(c, &n))
            return integer_power(l, once, x, n);
        break;
    case EX_SPOW:
    case EX_APOW:
        if (ex_is_const(l->p, e->b, &c) && has_own_form(e->op, c))
            return signed_power(l, once, e->op, x, c);
        break;
    case EX_TABLE:
    case EX_TABLE_SLOPE: return l->back->look_up(l->of, once, e->op, pool_table(l->p, e->table), y, x);
    default: break;
    }
    return l->back->call(l->of, once, e->op, (code_value[]){ x, y });
}

/* ---------------------------------------------------------------- templates */

/* The value of a template; l->slot and l->once give its slots. */
static code_value
lower(lowering *l, node root)
{
    size_t count;
    const node *tape = ex_tape(l->p, root, &count);

    if (l->site.n <= root)
        vec_resize(&l->site, pool_count(l->p));
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(l->p, tape[i]);
        struct site *s = &l->site.at[tape[i]];

        *s = (struct site){ .once = true };
        if (e->op == EX_CONST) {
            s->number = lower_number(l, e->value);
        } else if (e->op == EX_SLOT) {
            s->number = l->slot.at[e->a];
            s->once = l->once.at[e->a];
        } else {
            s->once = l->site.at[e->a].once && (e->b == NODE_NONE || l->site.at[e->b].once) &&
                      (e->c == NODE_NONE || l->site.at[e->c].once);
            s->flag = condition(l, s->once, e);
            if (!s->flag)
                s->number = operation(l, s->once, e);
        }
    }
    return number_of_flag(l, root);
}

code_value
lower_kernel(lowering *l, node root, const struct gen_slot *slot, const bool *used, uint32_t nslots)
{
    l->back->begin_kernel(l->of);
    vec_resize(&l->slot, nslots);
    vec_resize(&l->once, nslots);
    for (uint32_t k = 0; k < nslots; k++) {
        if (!used[k])
            continue;
        l->once.at[k] = slot[k].space == SP_TIME || (!slot[k].table && slot[k].stride == 0);
        l->slot.at[k] = slot[k].space == SP_TIME ? l->back->time(l->of) : l->back->origin(l->of, &slot[k], k);
        if (!l->once.at[k])
            l->slot.at[k] = l->back->member(l->of, &slot[k], l->slot.at[k]);
    }
    return l->back->end_kernel(l->of, lower(l, root));
}

/* ---------------------------------------------------------------- chunks */

/* A function of a chunk while it is filled. Values read or written are remembered, so that memory is read once. */
struct piece {
    const map *place;
    size_t nodes;
    map known; /* space and index -> where in value */
    VEC(code_value) value;
};

static code_value
piece_end(lowering *l, struct piece *p)
{
    map_free(&p->known);
    vec_free(&p->value);
    *p = (struct piece){ .place = p->place };
    return l->back->end_chunk(l->of);
}

static struct gen_ref
where(const struct piece *p, struct gen_ref r)
{
    return p->place ? (struct gen_ref){ r.space, map_get(p->place, lower_place(r)) } : r;
}

static void
remember_value(struct piece *p, struct gen_ref r, code_value v)
{
    map_set(&p->known, lower_place(r), (uint32_t)p->value.n);
    vec_push(&p->value, v);
}

static code_value
read_slot(lowering *l, struct piece *p, struct gen_ref r)
{
    uint32_t known;
    code_value v;

    if (r.space == SP_TIME)
        return l->back->time(l->of);
    known = map_get(&p->known, lower_place(r));
    if (known != MAP_NONE)
        return p->value.at[known];
    v = l->back->load(l->of, where(p, r));
    remember_value(p, r, v);
    return v;
}

static void
assign(lowering *l, struct piece *p, const struct gen_assign *a)
{
    uint32_t bound = ex_slot_bound(l->p, a->root);
    size_t count;
    const node *tape = ex_tape(l->p, a->root, &count);
    code_value v;

    vec_resize(&l->slot, bound);
    vec_resize(&l->once, bound);
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(l->p, tape[i]);

        if (e->op == EX_SLOT) {
            l->slot.at[e->a] = read_slot(l, p, a->slot[e->a]);
            l->once.at[e->a] = false;
        }
    }
    v = lower(l, a->root);
    l->back->store(l->of, where(p, a->to), v);
    remember_value(p, a->to, v);
    p->nodes += count;
}

uint32_t
lower_name_place(map *place, struct gen_ref r, int32_t *at)
{
    uint32_t k = map_get(place, lower_place(r));

    if (r.space != SP_TIME && k == MAP_NONE) {
        k = (uint32_t)place->n;
        map_set(place, lower_place(r), k);
        at[k] = (int32_t)r.index;
    }
    return k;
}

code_value
lower_chunk(lowering *l, const struct gen_assign *a, size_t n, const map *place)
{
    struct piece piece = { .place = place };
    VEC(code_value) done = { 0 };
    code_value f;

    l->back->begin_chunk(l->of, place != NULL);
    for (size_t i = 0; i < n; i++) {
        if (piece.nodes >= PIECE) {
            vec_push(&done, piece_end(l, &piece));
            l->back->begin_chunk(l->of, place != NULL);
        }
        assign(l, &piece, &a[i]);
    }
    vec_push(&done, piece_end(l, &piece));
    f = done.n == 1 ? done.at[0] : l->back->join(l->of, place != NULL, done.at, done.n);
    vec_free(&done);
    return f;
}
