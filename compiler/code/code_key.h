/* code_key.h - what a function computes, as bytes, and functions found by them
 *
 * Two templates that compute the same have the same bytes, whatever the numbers of their nodes in their pools; then the
 * code of one serves both.
 */
#ifndef BG_CODE_KEY_H
#define BG_CODE_KEY_H

#include "expr.h"

/* What a function computes, as bytes: equal bytes, equal functions. */
typedef struct code_key {
    strbuf bytes;
    bool fixed;
} code_key; /* fixed: the code contains an address, and is of no use elsewhere */

void key_add(code_key *key, const void *what, size_t n);
void key_number(code_key *key, uint32_t n);

/* Scratch for keys of templates; zero before its first use */
typedef struct key_maker {
    VEC(uint32_t) number; /* by node: its number in the key that is being made */
    VEC(uint64_t) hash;   /* by node, of that key's template */
} key_maker;
void key_maker_free(key_maker *m);
/* Adds the template, operation by operation, from its leaves, in an order that does not depend on the pool: sums and
 * products have the same bits in either order of their operands. */
void key_template(key_maker *m, pool *p, code_key *key, node root);

/* Functions by what they compute. number: of the caller's choice. */
typedef struct code_index {
    map by_hash;
    VEC(struct {
        char *key;
        size_t n;
        uintptr_t number;
        uint32_t next;
    })
    list;
} code_index;
/* UINTPTR_MAX: not there */
uintptr_t code_index_find(const code_index *x, const code_key *key);
void code_index_add(code_index *x, const code_key *key, uintptr_t number);
void code_index_free(code_index *x);

#endif
