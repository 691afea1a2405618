/* fail_alloc.c - preloaded: one allocation of a program fails
 *
 * BG_FAIL_AT=K      the K-th call of malloc, calloc, realloc or an aligned one returns NULL
 * BG_FAIL_COUNT=F   how many there were is written to the file F at exit
 * BG_FAIL_PLACES=F  and to F the number of the first call from each place: a place is what called it, and what called
 *                   that, CALLERS deep
 *
 * By glibc's own names for its allocator. Nothing here allocates; the unwinder does when it begins, which is not
 * counted.
 */
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

enum { CALLERS = 6, MOST_PLACES = 1 << 18 };

static atomic_long calls;
static long fail_at = -1; /* -1: the environment has not been read */
static int places = -1;   /* the file for them; -1: nobody asks */
static uint64_t seen[MOST_PLACES];
static size_t nseen;
static _Thread_local int unwinding;

/* Call k, if none came from this place before. */
static void
note_place(long k)
{
    void *caller[CALLERS + 2];
    uint64_t hash = 1469598103934665603u;
    char line[32];
    size_t at;
    int n;

    unwinding = 1;
    n = backtrace(caller, CALLERS + 2);
    unwinding = 0;
    for (int i = 2; i < n; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)caller[i]) * 1099511628211u;
    for (at = hash % MOST_PLACES; seen[at]; at = (at + 1) % MOST_PLACES)
        if (seen[at] == hash)
            return;
    if (nseen + 1 < MOST_PLACES) {
        seen[at] = hash;
        nseen++;
    }
    snprintf(line, sizeof line, "%ld\n", k);
    if (write(places, line, strlen(line)) < 0)
        _exit(1);
}

static int
fails(void)
{
    long k;

    if (unwinding)
        return 0;
    k = atomic_fetch_add(&calls, 1) + 1;
    if (fail_at < 0) {
        const char *at = getenv("BG_FAIL_AT"), *file = getenv("BG_FAIL_PLACES");

        fail_at = at ? atol(at) : 0;
        if (file)
            places = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    }
    if (places >= 0)
        note_place(k);
    if (k != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *
malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}
void *
calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}
void *
realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}
void *
memalign(size_t align, size_t n)
{
    return fails() ? NULL : __libc_memalign(align, n);
}
void *
aligned_alloc(size_t align, size_t n)
{
    return fails() ? NULL : __libc_memalign(align, n);
}

int
posix_memalign(void **p, size_t align, size_t n)
{
    void *at = fails() ? NULL : __libc_memalign(align, n);

    if (!at)
        return ENOMEM;
    *p = at;
    return 0;
}

__attribute__((destructor)) static void
tell(void)
{
    const char *path = getenv("BG_FAIL_COUNT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

    if (file < 0)
        return;
    dprintf(file, "%ld\n", atomic_load(&calls));
    close(file);
}
