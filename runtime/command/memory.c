/* memory.c - what the command does where memory is short
 *
 * Threads: OpenBLAS starts a thread for each processor when it is loaded, before main, and waits for them at exit;
 * where a limit on memory kept some from starting it waits for ever. Nothing here has matrices that threads would help
 * with. It asks how many processors there are: while libraries are loaded there is one. (Its environment variable would
 * be read too early for us to set.)
 *
 * Allocation: many a library takes memory and does not ask whether there was any (LLVM, the XML reader of the units,
 * the integrators), or says that its files cannot be read. Every allocation of the process is checked here instead: one
 * that fails ends the program as bg_malloc does.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* ---- threads ---- */

static cpu_set_t all_processors;
static int processors_known;

static void
leave_one_processor(void)
{
    cpu_set_t one;
    int i = 0;

    if (sched_getaffinity(0, sizeof all_processors, &all_processors) != 0)
        return;
    while (i + 1 < CPU_SETSIZE && !CPU_ISSET(i, &all_processors))
        i++;
    CPU_ZERO(&one);
    CPU_SET(i, &one);
    processors_known = sched_setaffinity(0, sizeof one, &one) == 0;
}

/* ---- allocation ---- */

/* A sanitizer's allocator ends the program by itself. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#endif

#ifndef SANITIZED

/* Replaces the C library's function for all loaded libraries. It calls the next one that the linker finds (for instance
 * of a preloaded checker), or the C library's own until that is known. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
} next = { __libc_malloc, __libc_calloc, __libc_realloc, __libc_memalign };

static void *
checked(void *p, size_t n)
{
    if (!p && n)
        bg_out_of_memory(n);
    return p;
}

void *
malloc(size_t n)
{
    return checked(next.malloc(n), n);
}
void *
calloc(size_t n, size_t size)
{
    return checked(next.calloc(n, size), n && size > SIZE_MAX / n ? SIZE_MAX : n * size);
}
void *
realloc(void *p, size_t n)
{
    return checked(next.realloc(p, n), n);
}
void *
memalign(size_t align, size_t n)
{
    return checked(next.memalign(align, n), n);
}
void *
aligned_alloc(size_t align, size_t n)
{
    return memalign(align, n);
}

int
posix_memalign(void **p, size_t align, size_t n)
{
    *p = memalign(align, n);
    return 0;
}

static void
find_next_library(void)
{
    void *found;

    /* POSIX allows converting between function and object pointers; C does not */
    if ((found = dlsym(RTLD_NEXT, "malloc")))
        memcpy(&next.malloc, &found, sizeof found);
    if ((found = dlsym(RTLD_NEXT, "calloc")))
        memcpy(&next.calloc, &found, sizeof found);
    if ((found = dlsym(RTLD_NEXT, "realloc")))
        memcpy(&next.realloc, &found, sizeof found);
    if ((found = dlsym(RTLD_NEXT, "memalign")))
        memcpy(&next.memalign, &found, sizeof found);
}
#else
static void
find_next_library(void)
{
}
#endif

/* ---- before main and in main ---- */

static void
prepare(void)
{
    find_next_library();
    leave_one_processor();
}

/* Runs before the constructors of libraries, which allocate too. */
__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(void) = prepare;

/* By default glibc takes the first large array that is freed as a sign that such arrays are needed often, and keeps
 * later ones in one heap: there they are copied as they grow, and the space that they leave is lost to others. With
 * pages of their own they grow without a copy and give their memory back. */
static void
give_large_arrays_pages(void)
{
#ifdef __GLIBC__
    enum { LARGE = 1 << 20, KEPT_FOR_SMALL = 32 << 20 };

    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, KEPT_FOR_SMALL);
#endif
}

void
prepare_memory(void)
{
    give_large_arrays_pages();
    if (processors_known)
        sched_setaffinity(0, sizeof all_processors, &all_processors);
}
