/* refusals.h - remembers refused texts, so that none is run twice
 *
 * A round that took something out goes on with further candidates, each tried together with what went. The next round
 * tries them again, alone, in the text without what went: that is the same text, and its outcome is known.
 *
 * ownership  texts of messages belong to the caller and must outlive it
 */
#ifndef BG_REFUSALS_H
#define BG_REFUSALS_H

#include "base.h"

/* Key of a text and everything else that decides the outcome: two hashes, so that an accidental collision within a
 * search is out of the question. */
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

/* NULL: not known. Valid until the next one is added. */
const refusal *refusals_find(const refusals *r, text_key key);
void refusals_note(refusals *r, refusal x);
void refusals_free(refusals *r);

#endif
