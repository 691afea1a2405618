/* code_key.h - a byte string that identifies what a function computes, and an index of functions by it
 *
 * Two templates that compute the same have the same bytes, whatever their node numbers in their pools; then one code
 * serves both.
 */
#ifndef BG_CODE_KEY_H
#define BG_CODE_KEY_H

#include "expr.h"

/* Equal bytes mean equal functions. */
typedef struct code_key {
    strbuf bytes;
    bool fixed;
} code_key; /* fixed: the code contains an address and cannot be used elsewhere */

void key_add(code_key *key, const void *what, size_t n);
void key_number(code_key *key, uint32_t n);

/* Work arrays for keys of templates; zero before first use. */
typedef struct key_maker {
    VEC(uint32_t) number; /* by node: its number in the current key */
    VEC(uint64_t) hash;   /* by node of the current template */
} key_maker;
void key_maker_free(key_maker *m);
/* Adds the template, operation by operation from its leaves, in an order that does not depend on the pool: sums and
 * products give the same bits in either order of their operands. */
void key_template(key_maker *m, pool *p, code_key *key, node root);

/* Functions by key. number: chosen by the caller. */
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
/* UINTPTR_MAX: not found */
uintptr_t code_index_find(const code_index *x, const code_key *key);
void code_index_add(code_index *x, const code_key *key, uintptr_t number);
void code_index_free(code_index *x);

#endif
