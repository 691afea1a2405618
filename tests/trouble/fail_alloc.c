/* fail_alloc.c - preloaded: one allocation of a program fails
 *
 * BG_FAIL_AT=K      the K-th call of malloc, calloc, realloc or an aligned one returns NULL
 * BG_FAIL_COUNT=F   how many there were is written to the file F at exit
 *
 * By glibc's own names for its allocator. Nothing here allocates.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <fcntl.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

static atomic_long calls;
static long fail_at = -1; /* -1: the environment has not been read */

static int
fails(void)
{
    long k = atomic_fetch_add(&calls, 1) + 1;

    if (fail_at < 0) {
        const char *at = getenv("BG_FAIL_AT");

        fail_at = at ? atol(at) : 0;
    }
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
