/* code_key.c - see code_key.h */
#include "code_key.h"

#include <string.h>

/* ---------------------------------------------------------------- keys */

void
key_add(code_key *key, const void *what, size_t n)
{
    strbuf_add(&key->bytes, what, n);
}

void
key_number(code_key *key, uint32_t n)
{
    key_add(key, &n, sizeof n);
}

/* A number for each node that depends on what it computes, not on its position in the pool. */
static void
hash_template(key_maker *m, const pool *p, const node *tape, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(p, tape[i]);
        uint64_t h = bg_hash_mix(e->op, 0), bits = 0;

        if (e->op == EX_CONST) {
            memcpy(&bits, &e->value, sizeof bits);
            h = bg_hash_mix(h, bits);
        } else if (e->op == EX_SLOT) {
            h = bg_hash_mix(h, e->a);
        } else if (e->op == EX_ADD || e->op == EX_MUL) {
            h = bg_hash_mix(h, m->hash.at[e->a] ^ m->hash.at[e->b]);
        } else {
            h = bg_hash_mix(bg_hash_mix(h, m->hash.at[e->a]), e->b == NODE_NONE ? 1 : m->hash.at[e->b]);
            h = bg_hash_mix(h, e->c == NODE_NONE ? e->table : m->hash.at[e->c]);
        }
        m->hash.at[tape[i]] = h;
        m->number.at[tape[i]] = NONE;
    }
}

static uint32_t
operand_number(const key_maker *m, node n)
{
    return n == NODE_NONE ? NONE : m->number.at[n];
}

/* Adds one operation whose operands are in the key. Operands are identified by the order in which they were added. */
static void
key_operation(key_maker *m, const pool *p, code_key *key, node n, uint32_t number, bool turned)
{
    const ex_node *e = pool_node(p, n);

    m->number.at[n] = number;
    key_number(key, e->op);
    if (e->op == EX_CONST) {
        key_add(key, &e->value, sizeof e->value);
        return;
    }
    if (e->op == EX_SLOT) {
        key_number(key, e->a);
        return;
    }
    key_number(key, operand_number(m, turned ? e->b : e->a));
    key_number(key, operand_number(m, turned ? e->a : e->b));
    key_number(key, operand_number(m, e->c));
    if (e->op == EX_TABLE || e->op == EX_TABLE_SLOPE) {
        key_number(key, e->table);
        key->fixed = true;
    }
}

void
key_template(key_maker *m, pool *p, code_key *key, node root)
{
    size_t count;
    const node *tape = ex_tape(p, root, &count);
    VEC(node) todo = { 0 };
    uint32_t next = 0;

    if (m->number.n <= root) {
        vec_resize(&m->number, pool_count(p));
        vec_resize(&m->hash, pool_count(p));
    }
    hash_template(m, p, tape, count);
    key_number(key, (uint32_t)count);
    vec_push(&todo, root);
    while (todo.n) {
        node n = todo.at[todo.n - 1];
        const ex_node *e = pool_node(p, n);
        bool turned = (e->op == EX_ADD || e->op == EX_MUL) && m->hash.at[e->a] > m->hash.at[e->b],
             leaf = e->op == EX_CONST || e->op == EX_SLOT;
        node operand[3] = { turned ? e->b : e->a, turned ? e->a : e->b, e->c };
        bool ready = true;

        for (int k = 2; k >= 0 && !leaf && m->number.at[n] == NONE; k--)
            if (operand[k] != NODE_NONE && m->number.at[operand[k]] == NONE) {
                vec_push(&todo, operand[k]);
                ready = false;
            }
        if (!ready)
            continue;
        todo.n--;
        if (m->number.at[n] == NONE)
            key_operation(m, p, key, n, next++, turned);
    }
    vec_free(&todo);
}

void
key_maker_free(key_maker *m)
{
    vec_free(&m->number);
    vec_free(&m->hash);
}

/* ---------------------------------------------------------------- index */

static uint64_t
hash_of(const code_key *key)
{
    return bg_hash_bytes(key->bytes.at, key->bytes.n, 0);
}

uintptr_t
code_index_find(const code_index *x, const code_key *key)
{
    for (uint32_t k = map_get(&x->by_hash, hash_of(key)); k != MAP_NONE; k = x->list.at[k].next)
        if (x->list.at[k].n == key->bytes.n && !memcmp(x->list.at[k].key, key->bytes.at, key->bytes.n))
            return x->list.at[k].number;
    return UINTPTR_MAX;
}

void
code_index_add(code_index *x, const code_key *key, uintptr_t number)
{
    uint64_t hash = hash_of(key);
    char *copy = bg_malloc(key->bytes.n + 1);

    memcpy(copy, key->bytes.at, key->bytes.n);
    vec_resize(&x->list, x->list.n + 1);
    x->list.at[x->list.n - 1].key = copy;
    x->list.at[x->list.n - 1].n = key->bytes.n;
    x->list.at[x->list.n - 1].number = number;
    x->list.at[x->list.n - 1].next = map_get(&x->by_hash, hash);
    map_set(&x->by_hash, hash, (uint32_t)x->list.n - 1);
}

void
code_index_free(code_index *x)
{
    for (size_t i = 0; i < x->list.n; i++)
        free(x->list.at[i].key);
    vec_free(&x->list);
    map_free(&x->by_hash);
}
