/* refusals.c - see refusals.h */
#include "refusals.h"

/* Seeds of the two hashes: any that differ. */
enum { FIRST = 1, SECOND = 2 };

text_key
text_key_of(const char *text, size_t n)
{
    return (text_key){ bg_hash_bytes(text, n, FIRST), bg_hash_bytes(text, n, SECOND) };
}

void
text_key_add(text_key *k, const void *what, size_t n)
{
    k->first = bg_hash_bytes(what, n, k->first);
    k->second = bg_hash_bytes(what, n, k->second);
}

const refusal *
refusals_find(const refusals *r, text_key key)
{
    uint32_t i = map_get(&r->of, key.first);

    return i != MAP_NONE && r->at.at[i].key.second == key.second ? &r->at.at[i] : NULL;
}

void
refusals_note(refusals *r, refusal x)
{
    map_set(&r->of, x.key.first, (uint32_t)r->at.n);
    vec_push(&r->at, x);
}

void
refusals_free(refusals *r)
{
    map_free(&r->of);
    vec_free(&r->at);
}
