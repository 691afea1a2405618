/* code_share.c - see code_share.h */
#include "code_share.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base.h"

/* Bytes of shared memory. The system provides pages only when they are written: a reduction of a model with a thousand
 * elements uses 1 MB of them. */
enum { ROOM = 64 << 20 };
/* Every part of a parcel begins at a multiple of this: it is aligned for every type, and parcels of two processes have
 * no cache line in common. */
enum { ALIGNED = 64 };
/* The linker's names (linker_name) are shorter; an object with a longer one would not be shared. */
enum { LONGEST_SYMBOL = 64 };

/* The head of an object in the share. Behind it, each from a multiple of ALIGNED on: for each function the length of
 * its key and the key; the object. */
struct parcel {
    atomic_size_t bytes;  /* of all this, up to the next head; 0: not written yet */
    atomic_bool whole;    /* everything is written */
    size_t n, keys, size; /* number of functions; bytes of their keys; bytes of the object */
    char symbol[LONGEST_SYMBOL];
};

/* The shared memory. A process that adds a parcel first raises `used` by its bytes: these are then its own. */
struct memory {
    atomic_size_t used; /* greater than the capacity where a parcel did not fit */
    _Alignas(ALIGNED) char at[];
};

struct code_share {
    struct memory *memory;
    size_t seen;      /* this process has the functions of the parcels before this place in its index */
    code_index index; /* by key: the place of the parcel that has the function */
};

static size_t
aligned(size_t n)
{
    return (n + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Bytes for parcels */
static const size_t capacity = ROOM - sizeof(struct memory);

code_share *
code_share_new(void)
{
    void *p = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    code_share *s;

    if (p == MAP_FAILED)
        return NULL;
    s = bg_calloc(1, sizeof *s);
    s->memory = p;
    return s;
}

void
code_share_free(code_share *s)
{
    if (!s)
        return;
    munmap(s->memory, ROOM);
    code_index_free(&s->index);
    free(s);
}

static char *
keys_of(struct parcel *p)
{
    return (char *)p + aligned(sizeof *p);
}

void
code_share_put(code_share *s, const struct code_parcel *x)
{
    size_t keys = 0, bytes, at;
    struct parcel *p;
    char *next;

    for (size_t i = 0; i < x->n; i++)
        keys += sizeof(size_t) + x->key[i].bytes.n;
    bytes = aligned(sizeof *p) + aligned(keys) + aligned(x->size);
    if (strlen(x->symbol) >= LONGEST_SYMBOL || bytes > capacity)
        return;
    at = atomic_fetch_add(&s->memory->used, bytes);
    if (at > capacity - bytes)
        return;
    p = (struct parcel *)(s->memory->at + at);
    atomic_store(&p->bytes, bytes);
    p->n = x->n;
    p->keys = keys;
    p->size = x->size;
    strcpy(p->symbol, x->symbol);
    next = keys_of(p);
    for (size_t i = 0; i < x->n; i++) {
        memcpy(next, &x->key[i].bytes.n, sizeof(size_t));
        memcpy(next + sizeof(size_t), x->key[i].bytes.at, x->key[i].bytes.n);
        next += sizeof(size_t) + x->key[i].bytes.n;
    }
    memcpy(keys_of(p) + aligned(keys), x->object, x->size);
    atomic_store(&p->whole, true);
}

/* Reads the key at a place, without copying its bytes, and moves the place behind it. */
static code_key
next_key(char **at)
{
    code_key key = { 0 };

    memcpy(&key.bytes.n, *at, sizeof(size_t));
    key.bytes.at = *at + sizeof(size_t);
    *at += sizeof(size_t) + key.bytes.n;
    return key;
}

/* Adds the functions of parcels that have come since the last call to the index. It stops at a parcel whose length is
 * not there yet; one that is not whole is left out for good, since it is not looked at again. */
static void
look_for_parcels(code_share *s)
{
    size_t used = atomic_load(&s->memory->used), end = used < capacity ? used : capacity;

    while (s->seen < end) {
        struct parcel *p = (struct parcel *)(s->memory->at + s->seen);
        size_t bytes = atomic_load(&p->bytes);

        if (bytes == 0)
            return;
        if (atomic_load(&p->whole)) {
            char *at = keys_of(p);

            for (size_t i = 0; i < p->n; i++) {
                code_key key = next_key(&at);

                code_index_add(&s->index, &key, s->seen);
            }
        }
        s->seen += bytes;
    }
}

bool
code_share_find(code_share *s, const code_key *key, struct code_parcel *out)
{
    uintptr_t found;
    struct parcel *p;
    code_key *keys;
    char *at;

    look_for_parcels(s);
    if ((found = code_index_find(&s->index, key)) == UINTPTR_MAX)
        return false;
    p = (struct parcel *)(s->memory->at + found);
    at = keys_of(p);
    keys = bg_calloc(p->n, sizeof *keys);
    for (size_t i = 0; i < p->n; i++)
        keys[i] = next_key(&at);
    *out = (struct code_parcel){ .object = keys_of(p) + aligned(p->keys),
                                 .symbol = p->symbol,
                                 .size = p->size,
                                 .n = p->n,
                                 .key = keys };
    return true;
}
