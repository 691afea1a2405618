/* odd.c - recognizes odd continuous laws written with sign, abs or if
 *
 * needs     a template
 * provides  the same function, with sign(x)*g(abs(x)), g(0) = 0, rewritten without conditions (at 0 it then has a value
 *           even where the text has none, as in e/sqrt(abs(e))): such a law passes zero without sticking or switching
 * keeps     signs that jump (friction), and abs alone (it has a corner)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr_pool.h"

enum { MOST_FACTORS = 32 };

/* base^power; for is_abs and is_sign the base is their argument */
struct factor {
    node base;
    double power;
    enum { PLAIN, ABS, SIGN } is;
};
struct product {
    struct factor at[MOST_FACTORS];
    int n;
    bool ok;
};

static bool
is_op(const pool *p, node n, enum ex_op op)
{
    return pool_node(p, n)->op == op;
}

/* Index of kid in a list of nodes before place i, which ascends. */
static size_t
tape_place(const node *tape, size_t i, node kid)
{
    size_t lo = 0, hi = i;

    while (lo + 1 < hi) {
        size_t mid = (lo + hi) / 2;

        if (tape[mid] <= kid)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The operation of tape[i], applied to the images of its operands. */
static node
image_of(pool *p, const node *tape, const node *image, size_t i)
{
    ex_node e = *pool_node(p, tape[i]);
    node kid[3] = { e.a, e.b, e.c };
    bool same = true;

    for (int k = 0, m = ex_operands(&e); k < m; k++) {
        node to = image[tape_place(tape, i, kid[k])];

        same = same && to == kid[k];
        kid[k] = to;
    }
    return same ? tape[i] : pool_remake(p, &e, kid[0], kid[1], kid[2]);
}

/* A copy of the list of nodes, with space for as many images: the pool may move its lists while nodes are made. */
static node *
own_tape(pool *p, node n, size_t *count)
{
    const node *shared = ex_tape(p, n, count);
    node *tape = bg_malloc(2 * *count * sizeof *tape);

    memcpy(tape, shared, *count * sizeof *tape);
    return tape;
}

/* n with every x (as x or -x) replaced */
static node
put_for(pool *p, node n, node x, node with)
{
    size_t count;
    node *tape = own_tape(p, n, &count), *image = tape + count, opposite = ex_neg(p, x), r;

    for (size_t i = 0; i < count; i++)
        image[i] = tape[i] == x ? with : tape[i] == opposite ? ex_neg(p, with) : image_of(p, tape, image, i);
    r = image[count - 1];
    free(tape);
    return r;
}

/* ---------------------------------------------------------------- products */

static void
add_product_factor(struct product *f, node base, double power, int kind)
{
    if (f->n == MOST_FACTORS)
        f->ok = false;
    else
        f->at[f->n++] = (struct factor){ base, power, kind };
}

static node make_power(pool *p, node base, double power);

/* |n|^power, or sign(n)^power: magnitude and sign of a product are the products of its factors' */
static void
gather_parts(pool *p, node n, double power, int kind, struct product *f)
{
    VEC(struct factor) todo = { 0 };

    vec_push(&todo, ((struct factor){ n, power, PLAIN }));
    while (todo.n && f->ok) {
        struct factor t = todo.at[--todo.n];
        const ex_node *e = pool_node(p, t.base);

        if (e->op == EX_MUL || e->op == EX_DIV) {
            vec_push(&todo, ((struct factor){ e->a, t.power, PLAIN }));
            vec_push(&todo, ((struct factor){ e->b, e->op == EX_DIV ? -t.power : t.power, PLAIN }));
        } else {
            add_product_factor(f, t.base, t.power, kind);
        }
    }
    vec_free(&todo);
}

/* Splits n^power into factors. Under a root only factors that cannot be negative are split off: |x|, and even powers of
 * x; the rest stays together. */
static void
gather_factors(pool *p, node n, double power, struct product *f)
{
    VEC(struct factor) todo = { 0 };

    vec_push(&todo, ((struct factor){ n, power, PLAIN }));
    while (todo.n && f->ok) {
        struct factor t = todo.at[--todo.n];
        const ex_node *e = pool_node(p, t.base);
        bool whole = t.power == floor(t.power);
        double c;

        if (e->op == EX_MUL && whole) {
            vec_push(&todo, ((struct factor){ e->a, t.power, PLAIN }));
            vec_push(&todo, ((struct factor){ e->b, t.power, PLAIN }));
        } else if (e->op == EX_DIV && whole) {
            vec_push(&todo, ((struct factor){ e->a, t.power, PLAIN }));
            vec_push(&todo, ((struct factor){ e->b, -t.power, PLAIN }));
        } else if (e->op == EX_NEG && whole) {
            vec_push(&todo, ((struct factor){ e->a, t.power, PLAIN }));
            if (fmod(t.power, 2) != 0)
                add_product_factor(f, ex_const(p, -1), 1, PLAIN);
        } else if (e->op == EX_ABS) {
            gather_parts(p, e->a, t.power, ABS, f);
        } else if (e->op == EX_SIGN && whole) {
            gather_parts(p, e->a, t.power, SIGN, f);
        } else if (e->op == EX_SPOW && whole && ex_is_const(p, e->b, &c)) {
            add_product_factor(f, e->a, t.power, SIGN);
            add_product_factor(f, e->a, t.power * c, ABS);
        } else if (e->op == EX_POW && ex_is_const(p, e->b, &c) && (whole || (c == floor(c) && fmod(c, 2) == 0)) &&
                   (c == floor(c) || is_op(p, e->a, EX_ABS))) {
            if (whole && c == floor(c))
                vec_push(&todo, ((struct factor){ e->a, t.power * c, PLAIN }));
            else if (is_op(p, e->a, EX_ABS))
                add_product_factor(f, pool_node(p, e->a)->a, t.power * c, ABS);
            else
                add_product_factor(f, e->a, t.power * c, ABS);
        } else if ((e->op == EX_SQRT || (e->op == EX_POW && ex_is_const(p, e->b, &c))) && whole) {
            struct product inner = { .ok = true };
            node rest = p->one;

            gather_factors(p, e->a, 1, &inner);
            c = e->op == EX_SQRT ? 0.5 : c;
            for (int i = 0; i < inner.n; i++) {
                struct factor g = inner.at[i];
                bool even = g.is == PLAIN && g.power == floor(g.power) && fmod(g.power, 2) == 0 &&
                            !ex_is_const(p, g.base, NULL);

                if (g.is == ABS || even)
                    add_product_factor(f, g.base, t.power * c * g.power, ABS);
                else
                    rest = ex_mul(p, rest, make_power(p, g.is == SIGN ? ex_call(p, EX_SIGN, g.base) : g.base, g.power));
            }
            if (rest != p->one)
                add_product_factor(f, ex_make(p, EX_POW, rest, ex_const(p, c), NODE_NONE), t.power, PLAIN);
            f->ok = f->ok && inner.ok;
        } else if (t.base != p->one) {
            add_product_factor(f, t.base, t.power, PLAIN);
        }
    }
    vec_free(&todo);
}

static node
make_power(pool *p, node base, double power)
{
    return ex_make(p, EX_POW, base, ex_const(p, power), NODE_NONE);
}

static node
as_node(pool *p, const struct factor *f)
{
    return make_power(p,
                      f->is == ABS    ? ex_call(p, EX_ABS, f->base)
                      : f->is == SIGN ? ex_call(p, EX_SIGN, f->base)
                                      : f->base,
                      f->power);
}

/* Combines the factors that are powers of x, its sign and |x| into one power of x; false if the result would not be 0
 * at 0, or nothing is gained. */
static bool
join_powers(pool *p, struct product *f, node x)
{
    node opposite = ex_neg(p, x), joined;
    double total = 0;
    bool odd = false, turned = false;
    int formal = 0, plain = 0, left = 0;
    struct factor other[MOST_FACTORS];

    for (int i = 0; i < f->n; i++) {
        struct factor t = f->at[i];
        bool minus = t.base == opposite && t.base != x, odd_power = t.power == floor(t.power) && fmod(t.power, 2) != 0;

        if (t.base != x && !minus) {
            other[left++] = t;
            continue;
        }
        if (t.is != ABS && t.power != floor(t.power))
            return false;
        turned ^= minus && t.is != ABS && odd_power;
        odd ^= t.is != ABS && odd_power;
        formal += t.is != PLAIN;
        plain += t.is != ABS;
        total += t.is == SIGN ? 0 : t.power;
    }
    if (!formal || !plain || !(total > 0))
        return false;
    if (odd)
        joined = ex_make(p, EX_SPOW, x, ex_const(p, total), NODE_NONE);
    else
        joined = make_power(p, total == floor(total) && fmod(total, 2) == 0 ? x : ex_call(p, EX_ABS, x), total);
    memcpy(f->at, other, (size_t)left * sizeof *other);
    f->n = left;
    add_product_factor(f, turned ? ex_neg(p, joined) : joined, 1, PLAIN);
    return true;
}

/* sign(x) times the rest of a product that is 0 at x = 0 */
static bool
free_sign(pool *p, struct product *f, int k)
{
    node x = f->at[k].base, rest = p->one;

    if (fmod(f->at[k].power, 2) == 0)
        return false;
    for (int i = 0; i < f->n; i++)
        if (i != k)
            rest = ex_mul(p, rest, as_node(p, &f->at[i]));
    if (put_for(p, rest, x, p->zero) != p->zero)
        return false;
    rest = put_for(p, rest, ex_call(p, EX_ABS, x), ex_make(p, EX_APOW, x, p->one, NODE_NONE));
    f->n = 0;
    add_product_factor(f, rest, 1, PLAIN);
    add_product_factor(f, ex_make(p, EX_SPOW, x, p->zero, NODE_NONE), 1, PLAIN);
    return true;
}

static node
of_product(pool *p, node n)
{
    struct product f = { .ok = true };
    bool any = false;
    node r = p->one;

    gather_factors(p, n, 1, &f);
    for (int i = 0; i < f.n && f.ok; i++)
        if (f.at[i].is != PLAIN && join_powers(p, &f, f.at[i].base)) {
            any = true;
            i = -1; /* the following factors have moved */
        }
    for (int i = 0; i < f.n && f.ok; i++)
        if (f.at[i].is == SIGN && free_sign(p, &f, i)) {
            any = true;
            i = -1;
        }
    if (!any || !f.ok)
        return n;
    for (int i = 0; i < f.n; i++)
        r = ex_mul(p, r, as_node(p, &f.at[i]));
    return r;
}

/* ---------------------------------------------------------------- both branches of an `if` */

/* n without constant factors; *turned: their product is negative */
static node
without_numbers(const pool *p, node n, bool *turned)
{
    for (double c;;) {
        const ex_node *e = pool_node(p, n);
        bool product = e->op == EX_MUL || e->op == EX_DIV;

        if (e->op == EX_NEG) {
            *turned ^= true;
            n = e->a;
        } else if (product && ex_is_const(p, e->b, &c) && c != 0) {
            *turned ^= c < 0;
            n = e->a;
        } else if (e->op == EX_MUL && ex_is_const(p, e->a, &c) && c != 0) {
            *turned ^= c < 0;
            n = e->b;
        } else {
            return n;
        }
    }
}

/* if x > 0 then g(x) else -g(-x), with g(0) = 0: sign(x)*g(|x|) */
static node
of_select(pool *p, node n)
{
    const ex_node *e = pool_node(p, n), *c = pool_node(p, e->a);
    node x, above, below, absolute;
    bool turned = false;

    if (c->op != EX_LT && c->op != EX_LE)
        return n;
    above = e->b;
    below = e->c;
    x = without_numbers(p, ex_sub(p, c->b, c->a), &turned); /* the condition is x > 0 or x >= 0 */
    if (turned) {
        node other = above;

        above = below;
        below = other;
    }
    if (ex_is_const(p, x, NULL) || ex_neg(p, put_for(p, below, x, ex_neg(p, x))) != above ||
        put_for(p, above, x, p->zero) != p->zero)
        return n;
    absolute = ex_call(p, EX_ABS, x);
    return of_product(p, ex_mul(p, ex_call(p, EX_SIGN, x), put_for(p, above, x, absolute)));
}

/* g(max(x, 0)) - g(max(-x, 0)), with g(0) = 0: sign(x)*g(|x|) */
static node
of_halves(pool *p, node n)
{
    node above = pool_node(p, n)->a, below = pool_node(p, n)->b, half = NODE_NONE, x = NODE_NONE;
    size_t count;
    const node *tape = ex_tape(p, above, &count);

    for (size_t i = 0; i < count && half == NODE_NONE; i++) {
        const ex_node *e = pool_node(p, tape[i]);

        if (e->op == EX_MAX && (e->a == p->zero || e->b == p->zero)) {
            half = tape[i];
            x = e->a == p->zero ? e->b : e->a;
        }
    }
    if (half == NODE_NONE || ex_is_const(p, x, NULL) || put_for(p, above, half, p->zero) != p->zero ||
        put_for(p, above, x, ex_neg(p, x)) != below)
        return n;
    return of_product(p, ex_mul(p, ex_call(p, EX_SIGN, x), put_for(p, above, half, ex_call(p, EX_ABS, x))));
}

node
ex_odd(pool *p, node n)
{
    size_t count;
    node *tape, *image, r;
    bool formal = pool_node(p, n)->switching;

    tape = own_tape(p, n, &count);
    image = tape + count;
    for (size_t i = 0; i < count; i++)
        formal = formal || is_op(p, tape[i], EX_SQRT) || is_op(p, tape[i], EX_POW);
    for (size_t i = 0; i < count; i++) {
        node made = image_of(p, tape, image, i);

        if (formal && (is_op(p, made, EX_MUL) || is_op(p, made, EX_DIV)))
            made = of_product(p, made);
        else if (is_op(p, made, EX_SELECT))
            made = of_select(p, made);
        else if (formal && is_op(p, made, EX_SUB))
            made = of_halves(p, made);
        image[i] = made;
    }
    r = image[count - 1];
    free(tape);
    return r;
}
