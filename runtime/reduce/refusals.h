/* refusals.h - texts that a search refused, so that none of them is run a second time
 *
 * A round that takes something out goes on with further candidates, each tried together with what went; the next round
 * tries them again, alone, in the text without what went. That is the same text, and what came of it is known.
 *
 * ownership  texts of messages are the caller's and outlive it
 */
#ifndef BG_REFUSALS_H
#define BG_REFUSALS_H

#include "base.h"

/* Of a text and all that decides what comes of it: two hashes, so that no two of a search are alike by accident. */
typedef struct text_key {
    uint64_t first, second;
} text_key;
text_key text_key_of(const char *text, size_t n);
void text_key_add(text_key *k, const void *what, size_t n);

typedef struct refusal {
    text_key key;
    bool ran;
    double worst;
    const char *why;
} refusal;
typedef struct refusals {
    map of; /* first hash -> index */
    VEC(refusal) at;
} refusals; /* {0} is empty */

/* NULL: not known. Holds until the next is noted. */
const refusal *refusals_find(const refusals *r, text_key key);
void refusals_note(refusals *r, refusal x);
void refusals_free(refusals *r);

#endif
