/* inst.c - see inst.h */
#include <stdlib.h>
#include <string.h>
#include "inst.h"

/* Result of composing one pattern: the outer template and for each slot its local number. */
struct memo {
    uint32_t key, nkey, next;
    node root;
};

enum { FEW_TERMS = 16 }; /* a sum is sorted in place, and its template is known by the number of added terms */

struct composer {
    flat_model *f;
    node sum[FEW_TERMS + 1][FEW_TERMS + 1]; /* [terms][number of them added], all distinct; NODE_NONE: not made yet */
    VEC(var_id) list;                       /* the slot list under construction */
    /* of each variable: its number in the list, valid if its stamp is the list's epoch; in use while the list is long
     */
    VEC(uint32_t) stamp, local;
    uint32_t epoch;
    VEC(uint32_t) pattern;
    VEC(uint32_t) keys;
    VEC(struct memo) memo;
    map index;
    VEC(node) outer_map, inner_map;
    VEC(uint32_t) read;
};

composer *
composer_new(flat_model *f)
{
    composer *c = bg_calloc(1, sizeof *c);

    c->f = f;
    memset(c->sum, 0xff, sizeof c->sum); /* NODE_NONE */
    return c;
}

void
composer_free(composer *c)
{
    if (!c)
        return;
    vec_free(&c->stamp);
    vec_free(&c->local);
    vec_free(&c->list);
    vec_free(&c->pattern);
    vec_free(&c->keys);
    vec_free(&c->memo);
    vec_free(&c->outer_map);
    vec_free(&c->inner_map);
    vec_free(&c->read);
    map_free(&c->index);
    free(c);
}

/* A list up to this length is searched from its beginning. Nearly all are so short that nothing is kept for each
 * variable of the model. */
enum { SHORT_LIST = 16 };

static void
begin_list(composer *c)
{
    c->list.n = 0;
}

static void
count_slot(composer *c, uint32_t k)
{
    c->stamp.at[c->list.at[k]] = c->epoch;
    c->local.at[c->list.at[k]] = k;
}

/* The list becomes longer than SHORT_LIST. */
static void
begin_numbers(composer *c)
{
    if (c->stamp.n < c->f->var.n) {
        vec_resize(&c->stamp, c->f->var.n);
        vec_resize(&c->local, c->f->var.n);
    }
    if (++c->epoch == 0) {
        memset(c->stamp.at, 0, c->stamp.n * sizeof *c->stamp.at);
        c->epoch = 1;
    }
    for (uint32_t k = 0; k < c->list.n; k++)
        count_slot(c, k);
}

/* The number of a variable in the list; NONE: it is not in it. */
static uint32_t
number_in_list(const composer *c, var_id v)
{
    if (c->list.n > SHORT_LIST)
        return c->stamp.at[v] == c->epoch ? c->local.at[v] : NONE;
    for (uint32_t k = 0; k < c->list.n; k++)
        if (c->list.at[k] == v)
            return k;
    return NONE;
}

static uint32_t
slot_number(composer *c, var_id v)
{
    uint32_t k = number_in_list(c, v);

    if (k != NONE)
        return k;
    k = (uint32_t)c->list.n;
    vec_push(&c->list, v);
    if (k == SHORT_LIST)
        begin_numbers(c);
    else if (k > SHORT_LIST)
        count_slot(c, k);
    return k;
}

static struct memo *
find_memo(composer *c, uint64_t hash)
{
    uint32_t i = map_get(&c->index, hash);

    for (; i != MAP_NONE; i = c->memo.at[i].next) {
        struct memo *m = &c->memo.at[i];

        if (m->nkey == c->pattern.n && !memcmp(c->keys.at + m->key, c->pattern.at, m->nkey * sizeof(uint32_t)))
            return m;
    }
    return NULL;
}

static node
remember_template(composer *c, uint64_t hash, node root)
{
    struct memo m = { (uint32_t)c->keys.n, (uint32_t)c->pattern.n, map_get(&c->index, hash), root };

    for (size_t i = 0; i < c->pattern.n; i++)
        vec_push(&c->keys, c->pattern.at[i]);
    map_set(&c->index, hash, (uint32_t)c->memo.n);
    vec_push(&c->memo, m);
    return root;
}

inst
inst_compose(composer *c, inst outer, const inst *inner)
{
    flat_model *f = c->f;

    begin_list(c);
    c->pattern.n = 0;
    vec_push(&c->pattern, outer.root);
    for (uint32_t k = 0; k < outer.n; k++) {
        if (inner && inner[k].root != NODE_NONE) {
            vec_push(&c->pattern, inner[k].root);
            vec_push(&c->pattern, inner[k].n);
            for (uint32_t i = 0; i < inner[k].n; i++)
                vec_push(&c->pattern, slot_number(c, f->slot.at[inner[k].first + i]));
        } else {
            vec_push(&c->pattern, NODE_NONE);
            vec_push(&c->pattern, slot_number(c, f->slot.at[outer.first + k]));
        }
    }

    uint64_t hash = bg_hash_bytes(c->pattern.at, c->pattern.n * sizeof(uint32_t), 0x9e3779b97f4a7c15u);
    struct memo *m = find_memo(c, hash);
    node root;

    if (m) {
        root = m->root;
    } else {
        size_t at = 1;

        vec_resize(&c->outer_map, outer.n);
        for (uint32_t k = 0; k < outer.n; k++) {
            if (c->pattern.at[at] == NODE_NONE) {
                c->outer_map.at[k] = ex_slot(f->pool, c->pattern.at[at + 1]);
                at += 2;
            } else {
                uint32_t n = c->pattern.at[at + 1];

                vec_resize(&c->inner_map, n);
                for (uint32_t i = 0; i < n; i++)
                    c->inner_map.at[i] = ex_slot(f->pool, c->pattern.at[at + 2 + i]);
                c->outer_map.at[k] = ex_substitute(f->pool, c->pattern.at[at], c->inner_map.at, n);
                at += 2 + n;
            }
        }
        root = remember_template(c, hash, ex_substitute(f->pool, outer.root, c->outer_map.at, outer.n));
    }
    return flat_inst(f, root, c->list.at, (uint32_t)c->list.n);
}

inst
inst_part(composer *c, node root, const var_id *slot, uint32_t n)
{
    flat_model *f = c->f;
    uint32_t bound = ex_slot_bound(f->pool, root);

    /* a field's law of n terms has n parts that are single parameters: these need no search of all n slots */
    if (pool_node(f->pool, root)->op == EX_SLOT)
        return inst_var(f, slot[bound - 1]);
    if (bound < n)
        n = bound;
    vec_reserve(&c->read, n);
    c->read.n = ex_slots_read(f->pool, root, n, c->read.at);
    begin_list(c);
    c->pattern.n = 0;
    vec_push(&c->pattern, root);
    for (size_t k = 0; k < c->read.n; k++)
        vec_push(&c->pattern, slot_number(c, slot[c->read.at[k]]));

    uint64_t hash = bg_hash_bytes(c->pattern.at, c->pattern.n * sizeof(uint32_t), 0x517cc1b727220a95u);
    struct memo *m = find_memo(c, hash);

    if (m)
        return flat_inst(f, m->root, c->list.at, (uint32_t)c->list.n);
    vec_reserve(&c->outer_map, n);
    for (size_t k = 0; k < c->read.n; k++)
        c->outer_map.at[c->read.at[k]] = ex_slot(f->pool, c->pattern.at[1 + k]);
    root = remember_template(c, hash, ex_substitute(f->pool, root, c->outer_map.at, n));
    return flat_inst(f, root, c->list.at, (uint32_t)c->list.n);
}

inst
inst_compact(composer *c, inst i)
{
    return inst_part(c, i.root, inst_slots(c->f, i), i.n);
}

inst
inst_var(flat_model *f, var_id v)
{
    return flat_inst(f, ex_slot(f->pool, 0), &v, 1);
}

inst
inst_const(flat_model *f, double value)
{
    return flat_inst(f, ex_const(f->pool, value), NULL, 0);
}

struct term {
    var_id var;
    int8_t sign;
};

static int
compare_terms(const void *a, const void *b)
{
    const struct term *x = a, *y = b;

    if (x->sign != y->sign)
        return y->sign - x->sign;
    return (x->var > y->var) - (x->var < y->var);
}

/* Insertion sort: most sums are already in order, or nearly. */
static void
sort_few(struct term *term, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct term t = term[i];
        size_t k = i;

        for (; k > 0 && compare_terms(&term[k - 1], &t) > 0; k--)
            term[k] = term[k - 1];
        term[k] = t;
    }
}

static node
sum_of(composer *c, const struct term *term, size_t n)
{
    pool *p = c->f->pool;
    node sum = NODE_NONE;

    for (size_t i = 0; i < n; i++) {
        node s = ex_slot(p, number_in_list(c, term[i].var));

        if (sum == NODE_NONE)
            sum = term[i].sign > 0 ? s : ex_neg(p, s);
        else
            sum = term[i].sign > 0 ? ex_add(p, sum, s) : ex_sub(p, sum, s);
    }
    return sum;
}

inst
inst_sum(composer *c, const var_id *var, const int8_t *sign, size_t n)
{
    struct term few[FEW_TERMS], *term = n <= FEW_TERMS ? few : bg_malloc(n * sizeof *term);
    size_t added = 0;
    node sum, *known;

    for (size_t i = 0; i < n; i++) {
        term[i] = (struct term){ var[i], sign[i] };
        added += sign[i] > 0;
    }
    if (term == few)
        sort_few(term, n);
    else
        qsort(term, n, sizeof *term, compare_terms);
    begin_list(c);
    for (size_t i = 0; i < n; i++)
        slot_number(c, term[i].var);
    known = term == few && c->list.n == n ? &c->sum[n][added] : NULL;
    sum = known && *known != NODE_NONE ? *known : sum_of(c, term, n);
    if (known)
        *known = sum;
    if (term != few)
        free(term);
    return flat_inst(c->f, sum, c->list.at, (uint32_t)c->list.n);
}

uint32_t
inst_slot_of(const flat_model *f, inst i, var_id v)
{
    for (uint32_t k = 0; k < i.n; k++)
        if (f->slot.at[i.first + k] == v)
            return k;
    return NONE;
}

bool
inst_equal(const flat_model *f, inst a, inst b)
{
    return a.root == b.root && a.n == b.n &&
           (a.n == 0 || !memcmp(inst_slots(f, a), inst_slots(f, b), a.n * sizeof(var_id)));
}
