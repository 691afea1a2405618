/* code_share.h - objects of machine code that processes with one store have made, for each other
 *
 * Processes are forked from one that has made the share, each with a copy of the store as it was. Whoever compiles an
 * object puts it into memory that all of them see, with the keys of its functions; whoever lacks a function looks there
 * first. A parcel is written once and never changed. A process may be killed while it writes: nobody reads what is not
 * whole, and if not even its size was written, nothing is shared any more.
 *
 * threads  one at a time in each process
 */
#ifndef BG_CODE_SHARE_H
#define BG_CODE_SHARE_H

#include "code_key.h"

typedef struct code_share code_share;
/* NULL: memory cannot be shared. */
code_share *code_share_new(void);
void code_share_free(code_share *s); /* NULL is fine */

/* An object: `symbol` is its table of the addresses of n functions, which have these keys. */
struct code_parcel {
    const char *object, *symbol;
    size_t size, n;
    const code_key *key;
};
void code_share_put(code_share *s, const struct code_parcel *p);
/* The object with that function, from any process. The caller frees out->key, whose bytes lie in the share like the
 * rest. */
bool code_share_find(code_share *s, const code_key *key, struct code_parcel *out);

#endif
