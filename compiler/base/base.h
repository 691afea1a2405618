/* base.h - memory by lifetime, growing arrays, hash maps, interned names
 *
 * errors   running out of memory ends the program with a message and the status EXIT_NO_MEMORY; no function below
 *          returns NULL for lack of memory
 * threads  no globals; one compilation for each thread
 */
#ifndef BG_BASE_H
#define BG_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if defined __GNUC__
#define BG_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define BG_PRINTF(f, a)
#endif

/* Values that number nothing: NONE for 32-bit numbers of elements, variables and nodes, NO_INDEX for size_t indexes of
 * arrays. Names such as VAR_NONE have the same value and tell what is numbered. A function that returns an int index,
 * or the status of an evaluation, returns -1 instead. Numbering begins at 0. */
#define NONE UINT32_MAX
#define NO_INDEX SIZE_MAX

enum { EXIT_NO_MEMORY = 5 };

/* Called once before the program ends for lack of memory, to remove unfinished files; NULL: nothing. It must not
 * allocate. */
extern void (*bg_before_no_memory)(void);
/* For use inside another program: where this thread continues (longjmp, 1) instead of ending the program when memory
 * runs out. Whatever was being made is lost. NULL: nowhere. */
extern _Thread_local jmp_buf *bg_memory_refuge;
/* Ends the program for lack of `size` bytes (0: unknown), or jumps to bg_memory_refuge. */
_Noreturn void bg_out_of_memory(size_t size);
/* For use inside another program, before calls of libraries that end it or crash when they get no memory: are `size`
 * bytes free? Yes, unasked, where there is no refuge: the command checks every allocation. */
bool bg_has_room(size_t size);
/* If not, bg_out_of_memory. */
void bg_need_room(size_t size);
void *bg_malloc(size_t size);
void *bg_calloc(size_t n, size_t size);
void *bg_realloc(void *p, size_t size);
char *bg_strdup(const char *s);                        /* free() it */
char *bg_format(const char *fmt, ...) BG_PRINTF(1, 2); /* free() it */

char *bg_program_folder(void); /* folder of the running program; NULL if unknown; free() it */
double bg_cpu_seconds(void);   /* CPU time of this thread so far; for reports, never for decisions */
double bg_wall_seconds(void);  /* time since some moment before the start; for limits of time and progress */

/* ---- arena: everything in it is released together ---- */
typedef struct arena arena;
arena *arena_new(void);
void arena_free(arena *a);                /* NULL is fine */
void *arena_alloc(arena *a, size_t size); /* zeroed, aligned for pointers and double */
char *arena_strndup(arena *a, const char *s, size_t n);
char *arena_strdup(arena *a, const char *s);
/* Concatenates the texts up to NULL; for names, many times faster than a format. */
char *arena_join(arena *a, ...);
char *arena_format(arena *a, const char *fmt, ...) BG_PRINTF(2, 3);
char *arena_vformat(arena *a, const char *fmt, va_list ap);
#define arena_new_array(a, T, n) ((T *)arena_alloc((a), (size_t)(n) * sizeof(T)))

/* ---- growing array: VEC(int) v = {0}; vec_push(&v, 3); v.at[0]; vec_free(&v) ---- */
#define VEC(T) \
    struct { \
        T *at; \
        size_t n, cap; \
    }
/* x may read n: it is evaluated before n changes */
#define vec_push(v, x) (vec_reserve((v), (v)->n + 1), (void)((v)->at[(v)->n] = (x)), (void)(v)->n++)
#define vec_reserve(v, want) \
    ((want) > (v)->cap ? (void)((v)->at = bg_vec_grow((v)->at, &(v)->cap, (want), sizeof *(v)->at)) : (void)0)
/* makes n entries, the new ones zero */
#define vec_resize(v, want) \
    (vec_reserve((v), (want)), bg_vec_zero((v)->at, (v)->n, (want), sizeof *(v)->at), (void)((v)->n = (want)))
#define vec_free(v) (free((v)->at), (void)((v)->at = NULL), (void)((v)->n = (v)->cap = 0))
void *bg_vec_grow(void *at, size_t *cap, size_t want, size_t size);
void bg_vec_zero(void *at, size_t from, size_t to, size_t size);

/* ---- growing text ---- */
typedef struct strbuf {
    char *at;
    size_t n, cap;
} strbuf; /* at is 0-terminated after something was added */
void strbuf_add(strbuf *b, const char *s, size_t n);
void strbuf_puts(strbuf *b, const char *s);
void strbuf_printf(strbuf *b, const char *fmt, ...) BG_PRINTF(2, 3);
void strbuf_free(strbuf *b);

/* ---- map from 64-bit keys to 32-bit values; open addressing ---- */
typedef struct map {
    struct map_slot *at;
    size_t n, cap;
} map; /* {0} is empty */
#define MAP_NONE NONE
uint32_t map_get(const map *m, uint64_t key); /* MAP_NONE when absent */
void map_set(map *m, uint64_t key, uint32_t value);
void map_clear(map *m); /* empty, with the room that it has */
void map_free(map *m);
#define map_ptr_key(p) ((uint64_t)(uintptr_t)(p))
uint64_t bg_hash_bytes(const void *p, size_t n, uint64_t seed);
/* Of two uint32_t (variables, nodes, other numbers), for qsort and bsearch: ascending. */
int bg_compare_numbers(const void *a, const void *b);

/* ---- index_set: finds numbers of records stored elsewhere by a hash of their contents; four to eight bytes an entry.
 * {0} is empty. The caller tests the candidates until one matches:
 *     for (size_t i = hash; (k = index_set_at(&s, i)) != MAP_NONE; i++) ---- */
typedef struct index_set {
    uint32_t *at; /* 1 + the number */
    size_t n, cap;
} index_set;
static inline uint32_t
index_set_at(const index_set *s, size_t i)
{
    return s->cap ? s->at[i & (s->cap - 1)] - 1 : MAP_NONE;
}
/* hash_of: the hash of a record that was added before */
void index_set_add(index_set *s, uint64_t hash, uint32_t k, uint64_t (*hash_of)(const void *ctx, uint32_t k),
                   const void *ctx);
void index_set_free(index_set *s);

static inline uint64_t
bg_hash_mix(uint64_t a, uint64_t b)
{
    uint64_t h = a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2));

    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    return h;
}

/* ---- names: equal strings are equal pointers ---- */
typedef struct names names;
names *names_new(void);
void names_free(names *n);
const char *names_intern(names *n, const char *s, size_t len);
const char *names_intern_z(names *n, const char *s);

#endif
