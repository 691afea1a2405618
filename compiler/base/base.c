/* base.c - see base.h */
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

void (*bg_before_no_memory)(void);
_Thread_local jmp_buf *bg_memory_refuge;

_Noreturn void
bg_out_of_memory(size_t size)
{
    static bool again;

    if (bg_memory_refuge)
        longjmp(*bg_memory_refuge, 1);
    if (again) /* the code that ends the program ran out of memory too */
        _exit(EXIT_NO_MEMORY);
    again = true;
    if (size)
        fprintf(stderr, "bgc: out of memory (%zu bytes more were needed)\n", size);
    else
        fprintf(stderr, "bgc: out of memory\n");
    if (bg_before_no_memory)
        bg_before_no_memory();
    /* no exit handlers: a caller that held a lock while allocating (of the list of handlers itself, when a library adds
     * one) would wait for itself */
    _exit(EXIT_NO_MEMORY);
}

bool
bg_has_room(size_t size)
{
    void *volatile room; /* otherwise the compiler may leave both calls out */
    bool has;

    if (!bg_memory_refuge)
        return true;
    room = malloc(size);
    has = room;
    free(room);
    return has;
}

void
bg_need_room(size_t size)
{
    if (!bg_has_room(size))
        bg_out_of_memory(size);
}

void *
bg_malloc(size_t size)
{
    void *p = malloc(size ? size : 1);

    if (!p)
        bg_out_of_memory(size);
    return p;
}

void *
bg_calloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        bg_out_of_memory(n > SIZE_MAX / (size ? size : 1) ? SIZE_MAX : n * size);
    return p;
}

void *
bg_realloc(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);

    if (!p)
        bg_out_of_memory(size);
    return p;
}

char *
bg_strdup(const char *s)
{
    size_t n = strlen(s) + 1;

    return memcpy(bg_malloc(n), s, n);
}

/* Length of the formatted text. */
static size_t
formatted_length(const char *fmt, va_list ap)
{
    char some[64];
    va_list again;
    int n;

    va_copy(again, ap);
    n = vsnprintf(some, sizeof some, fmt, again);
    va_end(again);
    return n < 0 ? 0 : (size_t)n;
}

char *
bg_format(const char *fmt, ...)
{
    va_list ap;
    size_t n;
    char *s;

    va_start(ap, fmt);
    n = formatted_length(fmt, ap);
    s = bg_malloc(n + 1);
    vsnprintf(s, n + 1, fmt, ap);
    va_end(ap);
    return s;
}

/* ---------------------------------------------------------------- arena */

enum { ARENA_FIRST = 1 << 12, ARENA_LARGEST = 1 << 20 };

/* Objects fill it from the front; texts, which need no alignment, from the end. Free: at[used .. size). */
struct chunk {
    struct chunk *next;
    size_t used, size;
    alignas(double) alignas(void *) unsigned char at[];
};
enum { ARENA_ALIGN = alignof(double) > alignof(void *) ? alignof(double) : alignof(void *) };

struct arena {
    struct chunk *chunk;
    size_t next_size;
};

arena *
arena_new(void)
{
    arena *a = bg_calloc(1, sizeof *a);

    a->next_size = ARENA_FIRST;
    return a;
}

void
arena_free(arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->chunk, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

static struct chunk *
chunk_new(size_t size)
{
    struct chunk *c;

    if (size > SIZE_MAX - sizeof *c)
        bg_out_of_memory(size);
    c = bg_calloc(1, sizeof *c + size); /* fresh memory is zero: arena_alloc promises that */
    c->size = size;
    return c;
}

/* A chunk with that many free bytes. */
static struct chunk *
chunk_for(arena *a, size_t size)
{
    struct chunk *c = a->chunk;

    if (c && c->size - c->used >= size)
        return c;
    if (size > a->next_size / 2) {
        /* gets a chunk of its own behind the current one, which stays in use */
        struct chunk *big = chunk_new(size);

        if (c) {
            big->next = c->next;
            c->next = big;
        } else {
            a->chunk = big;
        }
        return big;
    }
    c = chunk_new(a->next_size);
    c->next = a->chunk;
    a->chunk = c;
    if (a->next_size < ARENA_LARGEST)
        a->next_size *= 2;
    return c;
}

void *
arena_alloc(arena *a, size_t size)
{
    struct chunk *c;

    if (size > SIZE_MAX - ARENA_ALIGN)
        bg_out_of_memory(size);
    size = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (!size)
        size = ARENA_ALIGN;
    c = chunk_for(a, size);
    c->used += size;
    return c->at + (c->used - size);
}

static char *
arena_text(arena *a, size_t size)
{
    struct chunk *c = chunk_for(a, size);

    c->size -= size;
    return (char *)c->at + c->size;
}

char *
arena_strndup(arena *a, const char *s, size_t n)
{
    char *copy;

    if (n == NO_INDEX)
        bg_out_of_memory(n);
    copy = arena_text(a, n + 1);

    if (n)
        memcpy(copy, s, n);
    return copy;
}

char *
arena_strdup(arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *
arena_join(arena *a, ...)
{
    enum { FEW = 8 }; /* whose lengths are kept */
    va_list ap;
    size_t length[FEW], n = 0, k = 0;
    char *s, *end;

    va_start(ap, a);
    for (const char *part; (part = va_arg(ap, const char *)); k++) {
        size_t is = strlen(part);

        if (k < FEW)
            length[k] = is;
        n += is;
    }
    va_end(ap);
    end = s = arena_text(a, n + 1);
    va_start(ap, a);
    k = 0;
    for (const char *part; (part = va_arg(ap, const char *)); k++) {
        size_t is = k < FEW ? length[k] : strlen(part);

        memcpy(end, part, is);
        end += is;
    }
    va_end(ap);
    *end = '\0';
    return s;
}

char *
arena_vformat(arena *a, const char *fmt, va_list ap)
{
    size_t n = formatted_length(fmt, ap);
    char *s = arena_text(a, n + 1);

    vsnprintf(s, n + 1, fmt, ap);
    return s;
}

char *
arena_format(arena *a, const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    s = arena_vformat(a, fmt, ap);
    va_end(ap);
    return s;
}

/* ---------------------------------------------------------------- growing array */

void *
bg_vec_grow(void *at, size_t *cap, size_t want, size_t size)
{
    size_t n = *cap < 8 ? 8 : *cap;

    while (n < want) {
        if (n > SIZE_MAX / 2)
            bg_out_of_memory(SIZE_MAX);
        n *= 2;
    }
    if (n > SIZE_MAX / size)
        bg_out_of_memory(SIZE_MAX);
    *cap = n;
    return bg_realloc(at, n * size);
}

void
bg_vec_zero(void *at, size_t from, size_t to, size_t size)
{
    if (to > from)
        memset((unsigned char *)at + from * size, 0, (to - from) * size);
}

/* ---------------------------------------------------------------- growing text */

void
strbuf_add(strbuf *b, const char *s, size_t n)
{
    if (n > SIZE_MAX - b->n - 1)
        bg_out_of_memory(SIZE_MAX);
    if (b->n + n + 1 > b->cap)
        b->at = bg_vec_grow(b->at, &b->cap, b->n + n + 1, 1);
    if (n)
        memcpy(b->at + b->n, s, n);
    b->n += n;
    b->at[b->n] = '\0';
}

void
strbuf_puts(strbuf *b, const char *s)
{
    strbuf_add(b, s, strlen(s));
}

void
strbuf_printf(strbuf *b, const char *fmt, ...)
{
    va_list ap;
    size_t n;

    va_start(ap, fmt);
    n = formatted_length(fmt, ap);
    if (b->n + n + 1 > b->cap)
        b->at = bg_vec_grow(b->at, &b->cap, b->n + n + 1, 1);
    vsnprintf(b->at + b->n, n + 1, fmt, ap);
    b->n += n;
    va_end(ap);
}

void
strbuf_free(strbuf *b)
{
    free(b->at);
    *b = (strbuf){ 0 };
}

/* ---------------------------------------------------------------- hashing */

int
bg_compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

uint64_t
bg_hash_bytes(const void *p, size_t n, uint64_t seed)
{
    const unsigned char *s = p;
    uint64_t h = bg_hash_mix(seed, n), word;

    for (; n >= sizeof word; n -= sizeof word, s += sizeof word) {
        memcpy(&word, s, sizeof word);
        h = bg_hash_mix(h, word);
    }
    if (n) {
        word = 0;
        memcpy(&word, s, n);
        h = bg_hash_mix(h, word);
    }
    return h;
}

/* Key and value together, so that a look-up in a large map has one cache miss. */
struct map_slot {
    uint64_t key;
    uint32_t value;
    bool used;
};

/* The slot of a key, or the free slot where it would be put; the table is never full. */
static struct map_slot *
map_slot(const map *m, uint64_t key)
{
    size_t mask = m->cap - 1;
    size_t i = (size_t)bg_hash_mix(key, 0) & mask;

    while (m->at[i].used && m->at[i].key != key)
        i = (i + 1) & mask;
    return &m->at[i];
}

uint32_t
map_get(const map *m, uint64_t key)
{
    const struct map_slot *s;

    if (!m->n)
        return MAP_NONE;
    s = map_slot(m, key);
    return s->used ? s->value : MAP_NONE;
}

static void
map_grow(map *m)
{
    map big = { .n = m->n, .cap = m->cap ? 2 * m->cap : 16 };

    big.at = bg_calloc(big.cap, sizeof *big.at);
    for (size_t i = 0; i < m->cap; i++)
        if (m->at[i].used)
            *map_slot(&big, m->at[i].key) = m->at[i];
    map_free(m);
    *m = big;
}

void
map_set(map *m, uint64_t key, uint32_t value)
{
    struct map_slot *s;

    if (4 * (m->n + 1) > 3 * m->cap)
        map_grow(m);
    s = map_slot(m, key);
    m->n += !s->used;
    *s = (struct map_slot){ key, value, true };
}

void
map_clear(map *m)
{
    if (m->n)
        memset(m->at, 0, m->cap * sizeof *m->at);
    m->n = 0;
}

void
map_free(map *m)
{
    free(m->at);
    *m = (map){ 0 };
}

static void
index_set_put(index_set *s, size_t i, uint32_t k)
{
    while (s->at[i & (s->cap - 1)])
        i++;
    s->at[i & (s->cap - 1)] = k + 1;
}

void
index_set_add(index_set *s, uint64_t hash, uint32_t k, uint64_t (*hash_of)(const void *ctx, uint32_t k),
              const void *ctx)
{
    if (2 * (s->n + 1) > s->cap) {
        index_set big = { .n = s->n, .cap = s->cap ? 2 * s->cap : 16 };

        big.at = bg_calloc(big.cap, sizeof *big.at);
        for (size_t i = 0; i < s->cap; i++)
            if (s->at[i])
                index_set_put(&big, hash_of(ctx, s->at[i] - 1), s->at[i] - 1);
        index_set_free(s);
        *s = big;
    }
    s->n++;
    index_set_put(s, hash, k);
}

void
index_set_free(index_set *s)
{
    free(s->at);
    *s = (index_set){ 0 };
}

/* ---------------------------------------------------------------- names */

/* Texts lie in blocks; a name is found by its block and its place there, which together take half of a pointer. A text
 * that fits into no block has one of its own. */
enum { NAME_BLOCK_BITS = 16, NAME_BLOCK = 1 << NAME_BLOCK_BITS, MOST_NAME_BLOCKS = 1 << (32 - NAME_BLOCK_BITS) };

struct name_slot {
    uint32_t hash;
    uint32_t place; /* 1 + block << NAME_BLOCK_BITS + offset; 0: free */
};

struct names {
    VEC(char *) block;
    size_t used; /* of the last one, in bytes */
    struct name_slot *slot;
    size_t n, cap;
};

names *
names_new(void)
{
    names *t = bg_calloc(1, sizeof *t);

    t->used = NAME_BLOCK;
    t->cap = 256;
    t->slot = bg_calloc(t->cap, sizeof *t->slot);
    return t;
}

void
names_free(names *t)
{
    if (!t)
        return;
    for (size_t k = 0; k < t->block.n; k++)
        free(t->block.at[k]);
    vec_free(&t->block);
    free(t->slot);
    free(t);
}

static const char *
name_at(const names *t, uint32_t place)
{
    return t->block.at[(place - 1) >> NAME_BLOCK_BITS] + ((place - 1) & (NAME_BLOCK - 1));
}

/* The free slot for a name with that hash. */
static struct name_slot *
free_slot(const names *t, uint32_t hash)
{
    size_t k = hash & (t->cap - 1);

    while (t->slot[k].place)
        k = (k + 1) & (t->cap - 1);
    return &t->slot[k];
}

static void
names_grow(names *t)
{
    struct name_slot *old = t->slot;
    size_t cap = t->cap;

    t->cap *= 2;
    t->slot = bg_calloc(t->cap, sizeof *t->slot);
    for (size_t i = 0; i < cap; i++)
        if (old[i].place)
            *free_slot(t, old[i].hash) = old[i];
    free(old);
}

/* Copies a name; its place. */
static uint32_t
name_put(names *t, const char *s, size_t len)
{
    size_t at = t->used;
    char *copy;

    if (len >= NAME_BLOCK - at) {
        if (t->block.n == MOST_NAME_BLOCKS - 1 || len == NO_INDEX)
            bg_out_of_memory(len);
        vec_push(&t->block, bg_malloc(len < NAME_BLOCK ? NAME_BLOCK : len + 1));
        at = 0;
    }
    copy = t->block.at[t->block.n - 1] + at;
    if (len)
        memcpy(copy, s, len);
    copy[len] = '\0';
    t->used = len < NAME_BLOCK ? at + len + 1 : NAME_BLOCK;
    return 1 + (uint32_t)((t->block.n - 1) << NAME_BLOCK_BITS | at);
}

const char *
names_intern(names *t, const char *s, size_t len)
{
    uint32_t hash = (uint32_t)bg_hash_bytes(s, len, 0), place;

    for (size_t k = hash & (t->cap - 1); t->slot[k].place; k = (k + 1) & (t->cap - 1))
        if (t->slot[k].hash == hash) {
            const char *is = name_at(t, t->slot[k].place);

            if (strlen(is) == len && !memcmp(is, s, len))
                return is;
        }
    if (4 * (t->n + 1) > 3 * t->cap)
        names_grow(t);
    t->n++;
    place = name_put(t, s, len);
    *free_slot(t, hash) = (struct name_slot){ hash, place };
    return name_at(t, place);
}

const char *
names_intern_z(names *t, const char *s)
{
    return names_intern(t, s, strlen(s));
}

static double
clock_seconds(clockid_t clock)
{
    static const double nanosecond = 1e-9;
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + nanosecond * (double)t.tv_nsec;
}

double
bg_cpu_seconds(void)
{
    return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

double
bg_wall_seconds(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

char *
bg_program_folder(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash;

    if (n <= 0)
        return NULL;
    path[n] = 0;
    slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    return bg_strdup(path);
}
