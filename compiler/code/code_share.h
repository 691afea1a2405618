/* code_share.h - machine code that one process has compiled, for the others
 *
 * The processes of a search compile models that differ little, so most functions that one of them needs have been
 * compiled by another. All of them are forked from the process that made the share. Each has its own code store
 * (code_store.h), which was copied when it was forked; what is compiled later, each also puts into memory that all of
 * them see: the object, with the keys of its functions. Before a process compiles a function, it looks there.
 *
 * What is in the share is never changed, so that no locks are needed. A process may be killed at any time, also while
 * it adds an object: an object that is not complete is skipped, and where not even its length was written, nothing
 * behind it is found any more. Functions that are not found are compiled again, as without a share.
 *
 * threads  one at a time in each process
 */
#ifndef BG_CODE_SHARE_H
#define BG_CODE_SHARE_H

#include "code_key.h"

typedef struct code_share code_share;
/* Call before the processes are forked. NULL: the system gives no shared memory. */
code_share *code_share_new(void);
void code_share_free(code_share *s); /* NULL is fine */

/* An object file with n functions. */
struct code_parcel {
    const char *object;  /* its bytes */
    const char *symbol;  /* the name of its table of addresses, one for each function */
    size_t size, n;      /* bytes of the object; functions */
    const code_key *key; /* of each function, in the order of the table */
};
/* Adds an object. It is left out if the share is full. */
void code_share_put(code_share *s, const struct code_parcel *p);
/* Finds the object that has the function with this key. False: there is none. The caller frees out->key; the bytes of
 * keys, the object and the symbol remain in the share. */
bool code_share_find(code_share *s, const code_key *key, struct code_parcel *out);

#endif
