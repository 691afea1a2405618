/* code_store.h - machine code kept from one generator to the next, by what it computes
 *
 * threads  one at a time; it outlives the generators that use it
 */
#ifndef BG_CODE_STORE_H
#define BG_CODE_STORE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct code_store code_store;
code_store *code_store_new(void);
void code_store_free(code_store *s);
size_t code_store_count(const code_store *s); /* functions that are kept */
/* So many generators used it that optimising what they have in common is worth its time. */
bool code_store_is_busy(const code_store *s);
/* Can code be made for it? False: *why tells (malloc'ed). */
bool code_store_ready(code_store *s, char **why);
bool code_store_full(const code_store *s);

#endif
