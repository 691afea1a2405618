/* expr.c - the pool of expressions and queries on it
 *
 * needs     operands of the same pool
 * provides  canonical nodes: constant factors in front, minus signs outside, constants of sums at the end, divisions
 *           outside, operands of commutative operations in order (slots, other nodes, constants)
 * keeps     the value wherever operands and result are finite, up to rounding; a result that is not finite is kept, to
 *           be reported where it arises
 */
#include <string.h>

#include "expr_pool.h"

/* ---------------------------------------------------------------- the pool */

pool *
pool_new(void)
{
    return pool_over(tables_new());
}

pool *
pool_over(table_set *tables)
{
    pool *p = bg_calloc(1, sizeof *p);

    p->tables = tables;
    p->mem = arena_new();
    p->scratch = bg_calloc(1, sizeof *p->scratch);
    memset(p->first_slot, 0xff, sizeof p->first_slot); /* NODE_NONE */
    p->zero = ex_const(p, 0);
    p->one = ex_const(p, 1);
    return p;
}

void
pool_free(pool *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->page.n; i++)
        free(p->page.at[i]);
    for (size_t i = 0; i < p->tape.n; i++)
        free(p->tape.at[i].at);
    vec_free(&p->page);
    tables_release(p->tables);
    vec_free(&p->tape);
    map_free(&p->tape_of);
    map_free(&p->derivative_of);
    map_free(&p->solved_of);
    vec_free(&p->solved);
    vec_free(&p->scratch->list);
    free(p->scratch->stamp);
    free(p->scratch->value);
    free(p->scratch->image);
    free(p->scratch);
    free(p->slot);
    free(p->hash);
    arena_free(p->mem);
    free(p);
}

const ex_node *
pool_node(const pool *p, node n)
{
    return &pool_entry(p, n)->n;
}

size_t
pool_count(const pool *p)
{
    return p->n;
}

static uint32_t
node_hash(const ex_node *e)
{
    uint64_t bits, h;

    memcpy(&bits, &e->value, sizeof bits);
    h = bg_hash_mix((uint64_t)e->a << 32 | e->b, (uint64_t)e->c << 32 | e->table);
    h = bg_hash_mix(h, bits ^ (uint64_t)e->op << 56);
    return (uint32_t)(h ^ h >> 32);
}

static bool
node_equal(const ex_node *x, const ex_node *y)
{
    return x->op == y->op && x->a == y->a && x->b == y->b && x->c == y->c && x->table == y->table &&
           memcmp(&x->value, &y->value, sizeof x->value) == 0;
}

static void
rehash(pool *p)
{
    size_t n = p->nslot ? 2 * p->nslot : 1024;
    uint32_t *slot = bg_malloc(n * sizeof *slot), *hash = bg_malloc(n * sizeof *hash);

    memset(slot, 0xff, n * sizeof *slot);
    for (size_t i = 0; i < p->nslot; i++) {
        size_t at;

        if (p->slot[i] == NODE_NONE)
            continue;
        for (at = p->hash[i] & (n - 1); slot[at] != NODE_NONE; at = (at + 1) & (n - 1))
            ;
        slot[at] = p->slot[i];
        hash[at] = p->hash[i];
    }
    free(p->slot);
    free(p->hash);
    p->slot = slot;
    p->hash = hash;
    p->nslot = n;
}

/* Is the operation itself discontinuous, or does it have a corner? */
static bool
op_switches(const ex_node *e)
{
    if (e->op == EX_TABLE || e->op == EX_TABLE_SLOPE)
        return e->b == NODE_NONE;
    return ex_ops[e->op].switches;
}

static void
entry_complete(const pool *p, struct entry *e)
{
    const node kid[3] = { e->n.a, e->n.b, e->n.c };
    int n = ex_operands(&e->n);

    e->n.switching = op_switches(&e->n);
    if (e->n.op == EX_SLOT) {
        e->bound = e->n.a + 1;
        e->slots = UINT64_C(1) << (e->n.a < 63 ? e->n.a : 63);
    }
    for (int i = 0; i < n; i++) {
        const struct entry *k = pool_entry(p, kid[i]);

        e->n.switching |= k->n.switching;
        if (e->n.depth <= k->n.depth)
            e->n.depth = k->n.depth + 1;
        if (e->bound < k->bound)
            e->bound = k->bound;
        e->slots |= k->slots;
    }
}

node
pool_intern(pool *p, ex_node e)
{
    uint32_t h = node_hash(&e);
    size_t at;
    struct entry *new;

    if (4 * p->n >= 3 * p->nslot)
        rehash(p);
    for (at = h & (p->nslot - 1); p->slot[at] != NODE_NONE; at = (at + 1) & (p->nslot - 1))
        if (p->hash[at] == h && node_equal(pool_node(p, p->slot[at]), &e))
            return p->slot[at];
    if (p->n >> PAGE_BITS == p->page.n)
        vec_push(&p->page, bg_malloc(PAGE * sizeof(struct entry)));
    new = pool_entry(p, (node)p->n);
    *new = (struct entry){ .n = e };
    entry_complete(p, new);
    p->slot[at] = (node)p->n;
    p->hash[at] = h;
    return (node)p->n++;
}

node
pool_raw(pool *p, enum ex_op op, node a, node b, node c)
{
    return pool_intern(p, (ex_node){ .op = (uint8_t)op, .a = a, .b = b, .c = c });
}

/* ---------------------------------------------------------------- asking */

static int
by_node_number(const void *x, const void *y)
{
    node a = *(const node *)x, b = *(const node *)y;

    return (a > b) - (a < b);
}

/* The distinct nodes of n in the work list, in no order; of more than `most` only some. Returns the least of them. */
static node
gather_nodes(const pool *p, node n, size_t most)
{
    struct scratch *s = p->scratch;
    node least = n;

    if (s->nstamp <= n) {
        size_t want = p->n + p->n / 2;

        s->stamp = bg_realloc(s->stamp, want * sizeof *s->stamp);
        memset(s->stamp + s->nstamp, 0, (want - s->nstamp) * sizeof *s->stamp);
        s->nstamp = want;
    }
    if (++s->now == 0) {
        memset(s->stamp, 0, s->nstamp * sizeof *s->stamp);
        s->now = 1;
    }
    s->list.n = 0;
    vec_push(&s->list, n);
    s->stamp[n] = s->now;
    for (size_t i = 0; i < s->list.n && s->list.n <= most; i++) {
        const ex_node *e = pool_node(p, s->list.at[i]);
        const node kid[3] = { e->a, e->b, e->c };

        if (s->list.at[i] < least)
            least = s->list.at[i];
        for (int j = 0, m = ex_operands(e); j < m; j++) {
            if (s->stamp[kid[j]] == s->now)
                continue;
            s->stamp[kid[j]] = s->now;
            vec_push(&s->list, kid[j]);
        }
    }
    return least;
}

const node *
pool_collect(const pool *p, node n, size_t *count)
{
    struct scratch *s = p->scratch;
    node least = gather_nodes(p, n, SIZE_MAX);

    if ((n - least) / 8 < s->list.n) { /* dense: scanning the stamps is faster than sorting */
        size_t m = 0;

        for (size_t i = least; i <= n; i++)
            if (s->stamp[i] == s->now)
                s->list.at[m++] = (node)i;
    } else {
        qsort(s->list.at, s->list.n, sizeof *s->list.at, by_node_number);
    }
    *count = s->list.n;
    return s->list.at;
}

double *
pool_values(const pool *p, node n)
{
    struct scratch *s = p->scratch;

    if (s->nvalue <= n) {
        s->nvalue = p->n + p->n / 2;
        s->value = bg_realloc(s->value, s->nvalue * sizeof *s->value);
    }
    return s->value;
}

node *
pool_images(const pool *p, node n)
{
    struct scratch *s = p->scratch;

    if (s->nimage <= n) {
        s->nimage = p->n + p->n / 2;
        s->image = bg_realloc(s->image, s->nimage * sizeof *s->image);
    }
    return s->image;
}

bool
pool_reads(const pool *p, node n, uint32_t k)
{
    if (!pool_may_read(p, n, k))
        return false;
    if (k < 63)
        return true;
    gather_nodes(p, n, SIZE_MAX);
    for (size_t i = 0; i < p->scratch->list.n; i++) {
        node at = p->scratch->list.at[i];

        if (ex_is_op(p, at, EX_SLOT) && pool_node(p, at)->a == k)
            return true;
    }
    return false;
}

uint32_t
ex_slot_bound(const pool *p, node n)
{
    return pool_entry(p, n)->bound;
}

void
ex_slots_used(const pool *p, node n, bool *used, uint32_t nslots)
{
    const struct entry *e = pool_entry(p, n);

    for (uint32_t k = 0; k < nslots; k++)
        used[k] = k < 63 && (e->slots >> k & 1);
    if (nslots <= 63 || !(e->slots >> 63))
        return;
    gather_nodes(p, n, SIZE_MAX);
    for (size_t i = 0; i < p->scratch->list.n; i++) {
        const ex_node *s = pool_node(p, p->scratch->list.at[i]);

        if (s->op == EX_SLOT && s->a < nslots)
            used[s->a] = true;
    }
}

size_t
ex_slots_read(const pool *p, node n, uint32_t nslots, uint32_t *slot)
{
    const struct entry *e = pool_entry(p, n);
    size_t nread = 0, nfirst;

    for (uint32_t k = 0; k < nslots && k < 63; k++)
        if (e->slots >> k & 1)
            slot[nread++] = k;
    if (nslots <= 63 || !(e->slots >> 63))
        return nread;
    nfirst = nread;
    gather_nodes(p, n, SIZE_MAX);
    for (size_t i = 0; i < p->scratch->list.n; i++) {
        const ex_node *s = pool_node(p, p->scratch->list.at[i]);

        if (s->op == EX_SLOT && s->a >= 63 && s->a < nslots)
            slot[nread++] = s->a;
    }
    qsort(slot + nfirst, nread - nfirst, sizeof *slot, by_node_number);
    return nread;
}

size_t
ex_size(const pool *p, node n)
{
    gather_nodes(p, n, SIZE_MAX);
    return p->scratch->list.n;
}

bool
ex_fits(const pool *p, node n, size_t most)
{
    gather_nodes(p, n, most);
    return p->scratch->list.n <= most;
}

const node *
ex_tape(pool *p, node n, size_t *count)
{
    uint32_t known = map_get(&p->tape_of, n);
    const node *at;
    struct tape t;

    if (known != MAP_NONE) {
        *count = p->tape.at[known].n;
        return p->tape.at[known].at;
    }
    at = pool_collect(p, n, &t.n);
    t.at = bg_malloc(t.n * sizeof *t.at);
    memcpy(t.at, at, t.n * sizeof *t.at);
    map_set(&p->tape_of, n, (uint32_t)p->tape.n);
    vec_push(&p->tape, t);
    *count = t.n;
    return t.at;
}
