/* code_store.h - keeps machine code for later generators, by what it computes
 *
 * threads  any number, each with generators of its own, which the store outlives
 */
#ifndef BG_CODE_STORE_H
#define BG_CODE_STORE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct code_store code_store;
code_store *code_store_new(void);
void code_store_free(code_store *s);
size_t code_store_count(const code_store *s); /* number of stored functions */
/* Do so many generators use it that optimising their common code is worth the time? */
bool code_store_is_busy(code_store *s);
/* Can code be generated? False: *why (free() it) says why not. */
bool code_store_ready(code_store *s, char **why);
bool code_store_full(const code_store *s);
/* Processes that are forked from this one from now on, and this one, use what any of them compiles. */
void code_store_share(code_store *s);

#endif
