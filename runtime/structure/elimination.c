/* elimination.c - see elimination.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elimination.h"

#define CANCELLED 1e-14 /* relative to the subtracted value: rounding, not a coefficient */
#define SAME 1e-10      /* for values of expressions at other points */
#define FAIR 1e-2       /* smallest pivot relative to the greatest coefficient of its row */
/* The other points: multiples of the golden ratio, whose fractional parts spread evenly and never repeat. */
#define GOLDEN 0.6180339887498949

struct row {
    sum s;
    bool used;
};

struct elimination {
    pool *pool;
    size_t ncolumns;
    VEC(struct row) row;
    sum open;
    uint32_t *pivot; /* [column] its row, NONE */
    struct occurrences {
        uint32_t *at;
        size_t n, cap;
    } * in;          /* [column] rows that may contain it */
    uint32_t *count; /* [column] number of rows that contain it */
    sum scratch;
    VEC(double) elsewhere; /* [slot] values at which expressions are compared */
};

elimination *
elimination_new(size_t ncolumns, pool *p)
{
    elimination *r = bg_calloc(1, sizeof *r);

    r->pool = p;
    r->ncolumns = ncolumns;
    r->pivot = bg_malloc((ncolumns + 1) * sizeof *r->pivot);
    memset(r->pivot, 0xff, (ncolumns + 1) * sizeof *r->pivot);
    r->in = bg_calloc(ncolumns + 1, sizeof *r->in);
    r->count = bg_calloc(ncolumns + 1, sizeof *r->count);
    return r;
}

void
elimination_free(elimination *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->row.n; i++)
        vec_free(&r->row.at[i].s);
    for (size_t i = 0; i < r->ncolumns; i++)
        vec_free(&r->in[i]);
    vec_free(&r->row);
    vec_free(&r->open);
    vec_free(&r->scratch);
    vec_free(&r->elsewhere);
    free(r->pivot);
    free(r->in);
    free(r->count);
    free(r);
}

/* The value of an expression at another point, where all variables have different values. */
static double
value_elsewhere(elimination *r, node text)
{
    uint32_t bound = ex_slot_bound(r->pool, text);

    while (r->elsewhere.n < bound) {
        double x = GOLDEN * (double)(r->elsewhere.n + 1);

        vec_push(&r->elsewhere, 0.5 + (x - floor(x)));
    }
    return ex_eval(r->pool, text, r->elsewhere.at);
}

term
elimination_added(elimination *r, term a, term b)
{
    double size = fabs(a.value) + fabs(b.value);

    b.value += a.value;
    if (fabs(b.value) <= CANCELLED * size)
        b.value = 0;
    if (!r->pool)
        return b;
    if (b.value == 0) { /* zero at this point only, or identically? */
        double x = value_elsewhere(r, a.text), y = value_elsewhere(r, b.text);

        if (fabs(x + y) <= SAME * (fabs(x) + fabs(y)) || (!isfinite(x + y) && size > 0)) {
            b.text = ex_const(r->pool, 0);
            return b;
        }
    }
    b.text = ex_add(r->pool, a.text, b.text);
    return b;
}

void
elimination_put(elimination *r, uint32_t column, double value, node text)
{
    for (size_t i = 0; i < r->open.n; i++)
        if (r->open.at[i].column == column) {
            r->open.at[i] = elimination_added(r, r->open.at[i], (term){ column, value, text });
            return;
        }
    vec_push(&r->open, ((term){ column, value, text }));
}

static int
by_column(const void *a, const void *b)
{
    const term *x = a, *y = b;

    return (x->column > y->column) - (x->column < y->column);
}

/* Is the coefficient zero? With expressions, one that only happens to be zero at the point counts. */
static bool
is_nothing(const elimination *r, const term *t)
{
    double x;

    return t->value == 0 && (!r->pool || (ex_is_const(r->pool, t->text, &x) && x == 0));
}

void
elimination_end(elimination *r)
{
    struct row row = { 0 };

    if (r->open.n)
        qsort(r->open.at, r->open.n, sizeof *r->open.at, by_column);
    for (size_t i = 0; i < r->open.n; i++) {
        const term *t = &r->open.at[i];

        if (is_nothing(r, t))
            continue;
        vec_push(&row.s, *t);
        vec_push(&r->in[t->column], (uint32_t)r->row.n);
        r->count[t->column]++;
    }
    r->open.n = 0;
    vec_push(&r->row, row);
}

enum { FACTORS_MOST = 64, POWERS_MOST = 8 }; /* limits for products in which equal factors are searched */

/* A product: a number times factors over factors. */
struct factors {
    double number;
    node up[FACTORS_MOST], down[FACTORS_MOST];
    size_t nup, ndown;
    bool full;
};

static void
add_term_factor(struct factors *f, node n, bool over)
{
    node *one = over ? f->down : f->up, *other = over ? f->up : f->down;
    size_t *none = over ? &f->ndown : &f->nup, *nother = over ? &f->nup : &f->ndown;

    for (size_t i = 0; i < *nother; i++)
        if (other[i] == n) { /* it is not zero at the point */
            other[i] = other[--*nother];
            return;
        }
    if (*none == FACTORS_MOST)
        f->full = true;
    else
        one[(*none)++] = n;
}

static void
add_term_factors(pool *p, struct factors *f, node n, bool over)
{
    struct todo {
        node n;
        bool over;
    };
    VEC(struct todo) todo = { 0 };
    double power;

    vec_push(&todo, ((struct todo){ n, over }));
    while (todo.n && !f->full) {
        struct todo t = todo.at[--todo.n];
        const ex_node *e = pool_node(p, t.n);

        if (e->op == EX_MUL || e->op == EX_DIV) {
            vec_push(&todo, ((struct todo){ e->b, t.over != (e->op == EX_DIV) }));
            vec_push(&todo, ((struct todo){ e->a, t.over }));
        } else if (e->op == EX_NEG) {
            f->number = -f->number;
            vec_push(&todo, ((struct todo){ e->a, t.over }));
        } else if (e->op == EX_POW && ex_is_const(p, e->b, &power) && power > 1 && power <= POWERS_MOST &&
                   power == floor(power)) {
            for (int i = 0; i < (int)power; i++)
                add_term_factor(f, e->a, t.over);
        } else if (e->op == EX_CONST) {
            f->number = t.over ? f->number / e->value : f->number * e->value;
        } else {
            add_term_factor(f, t.n, t.over);
        }
    }
    vec_free(&todo);
}

static node
product_of_factors(pool *p, node first, node *at, size_t n)
{
    if (n)
        qsort(at, n, sizeof *at, bg_compare_numbers);
    for (size_t i = 0, times; i < n; i += times) {
        for (times = 1; i + times < n && at[i + times] == at[i];)
            times++;
        first = ex_mul(p, first, times == 1 ? at[i] : ex_make(p, EX_POW, at[i], ex_const(p, (double)times), NODE_NONE));
    }
    return first;
}

node
elimination_product(pool *p, node a, node b, bool over)
{
    struct factors f = { .number = 1 };
    node up;

    add_term_factors(p, &f, a, false);
    add_term_factors(p, &f, b, over);
    if (f.full || !isfinite(f.number))
        return over ? ex_div(p, a, b) : ex_mul(p, a, b);
    up = product_of_factors(p, ex_const(p, f.number), f.up, f.nup);
    return f.ndown ? ex_div(p, up, product_of_factors(p, ex_const(p, 1), f.down, f.ndown)) : up;
}

/* target += factor * source, without the column `gone`, which cancels. */
static void
add_multiple(elimination *r, uint32_t target, double factor, node text, const sum *source, uint32_t gone)
{
    sum *to = &r->row.at[target].s, *out = &r->scratch, swap;
    size_t i = 0, k = 0;

    out->n = 0;
    while (i < to->n || k < source->n) {
        uint32_t a = i < to->n ? to->at[i].column : NONE, b = k < source->n ? source->at[k].column : NONE;
        term t;

        if (a < b) {
            vec_push(out, to->at[i]);
            i++;
            continue;
        }
        t.column = b;
        t.value = factor * source->at[k].value;
        t.text = r->pool ? elimination_product(r->pool, text, source->at[k].text, false) : NODE_NONE;
        if (a == b) {
            t = elimination_added(r, to->at[i], t);
            i++;
        } else if (b != gone) {
            vec_push(&r->in[b], target);
            r->count[b]++;
        }
        k++;
        if (b == gone || is_nothing(r, &t)) {
            r->count[b]--;
            continue;
        }
        vec_push(out, t);
    }
    swap = *to;
    *to = *out;
    *out = swap;
}

static const term *
find_term(const sum *s, uint32_t column)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (s->at[middle].column < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n && s->at[low].column == column ? &s->at[low] : NULL;
}

/* The pivot of a row: smallest `may`, then constants, then few other rows with that column; of sufficient size. */
static const term *
choose_pivot(const elimination *r, const sum *s, const uint8_t *may)
{
    const term *best = NULL;
    uint64_t best_cost = UINT64_MAX;
    double most = 0;

    for (size_t i = 0; i < s->n; i++)
        if (may[s->at[i].column])
            most = fmax(most, fabs(s->at[i].value));
    for (size_t i = 0; i < s->n; i++) {
        const term *t = &s->at[i];
        uint64_t cost;

        if (!may[t->column] || t->value == 0 || fabs(t->value) < FAIR * most)
            continue;
        cost = (uint64_t)may[t->column] << 40 | (uint64_t)(r->pool && !ex_is_const(r->pool, t->text, NULL)) << 39 |
               (uint64_t)(fabs(t->value) != 1) << 38 | r->count[t->column];
        if (cost < best_cost) {
            best_cost = cost;
            best = t;
        }
    }
    return best;
}

static void
pivot_on(elimination *r, uint32_t i, const term *chosen)
{
    uint32_t column = chosen->column;
    double value = chosen->value;
    node text = chosen->text;
    sum *own = &r->row.at[i].s;
    struct occurrences holds;

    /* scaled so that the pivot is 1 */
    for (size_t k = 0; k < own->n; k++) {
        term *t = &own->at[k];

        t->text = !r->pool              ? NODE_NONE
                  : t->column == column ? ex_const(r->pool, 1)
                                        : elimination_product(r->pool, t->text, text, true);
        t->value = t->column == column ? 1 : t->value / value;
    }
    r->pivot[column] = i;
    r->row.at[i].used = true;
    holds = r->in[column];
    memset(&r->in[column], 0, sizeof r->in[column]);
    for (size_t k = 0; k < holds.n; k++) {
        const term *t = holds.at[k] == i ? NULL : find_term(&r->row.at[holds.at[k]].s, column);

        if (t)
            add_multiple(r, holds.at[k], -t->value, r->pool ? ex_neg(r->pool, t->text) : NODE_NONE, &r->row.at[i].s,
                         column);
    }
    vec_push(&r->in[column], i);
    vec_free(&holds);
}

void
elimination_eliminate(elimination *r, const uint8_t *may)
{
    /* short rows first; among them those with a pivot of the smallest `may` */
    for (int level = 1; level < 4; level++) {
        uint8_t *now = bg_malloc(r->ncolumns + 1);
        bool any = false;

        for (size_t c = 0; c < r->ncolumns; c++) {
            now[c] = may[c] <= level ? may[c] : 0;
            any = any || now[c];
        }
        for (size_t limit = any ? 2 : SIZE_MAX; limit < SIZE_MAX;) {
            bool progress = false;
            size_t longer = SIZE_MAX;

            for (uint32_t i = 0; i < r->row.n; i++) {
                const term *t;

                if (r->row.at[i].used || !(t = choose_pivot(r, &r->row.at[i].s, now)))
                    continue;
                if (r->row.at[i].s.n > limit) {
                    longer = r->row.at[i].s.n < longer ? r->row.at[i].s.n : longer;
                    continue;
                }
                pivot_on(r, i, t);
                progress = true;
            }
            limit = progress ? 2 : longer;
        }
        free(now);
    }
}

bool
elimination_exchange(elimination *r, uint32_t solved, uint32_t free)
{
    uint32_t i = r->pivot[solved];
    const term *t = i == NONE ? NULL : find_term(&r->row.at[i].s, free);
    double most = 0;

    for (size_t k = 0; t && k < r->row.at[i].s.n; k++)
        most = fmax(most, fabs(r->row.at[i].s.at[k].value));
    if (!t || fabs(t->value) < FAIR * FAIR * most)
        return false;
    r->pivot[solved] = NONE;
    pivot_on(r, i, t);
    return true;
}

bool
elimination_solved(const elimination *r, uint32_t column)
{
    return r->pivot[column] != NONE;
}

bool
elimination_occurs(const elimination *r, uint32_t column)
{
    return r->count[column] > 0;
}

bool
elimination_left(const elimination *r, size_t *row, sum *s)
{
    while (*row < r->row.n && r->row.at[*row].used)
        ++*row;
    if (*row == r->row.n)
        return false;
    *s = r->row.at[(*row)++].s;
    return true;
}

/* The pivot has coefficient 1 in its row: the variable is minus the other terms. */
sum
elimination_express(const elimination *r, uint32_t column, term *one)
{
    if (!elimination_solved(r, column)) {
        *one = (term){ column, 1, r->pool ? ex_const(r->pool, 1) : NODE_NONE };
        return (sum){ one, 1, 1 };
    }
    return r->row.at[r->pivot[column]].s;
}
