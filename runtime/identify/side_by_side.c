/* side_by_side.c - see side_by_side.h */
#include "side_by_side.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

static void
work(size_t first, size_t stride, size_t n, size_t width, bool (*one)(void *ctx, size_t i, double *result), void *ctx, double *result)
{
    for (size_t i = first; i < n; i += stride)
        if (!one(ctx, i, result + i * width))
            for (size_t k = 0; k < width; k++)
                result[i * width + k] = NAN;
}

void
side_by_side(size_t n, size_t width, size_t workers, bool (*one)(void *ctx, size_t i, double *result), void *ctx, double *result)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = workers ? workers : cores > 0 ? (size_t)cores : 1, bytes = (n * width + 1) * sizeof *result;
    double *shared = MAP_FAILED;
    pid_t *child;

    if (count > n)
        count = n;
    if (count > 1)
        shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        work(0, 1, n, width, one, ctx, result);
        return;
    }
    for (size_t i = 0; i < n * width; i++)
        shared[i] = NAN;
    child = bg_calloc(count, sizeof *child);
    for (size_t w = 1; w < count; w++) {
        child[w] = fork();
        if (child[w] == 0) {
            work(w, count, n, width, one, ctx, shared);
            _exit(0);
        }
    }
    work(0, count, n, width, one, ctx, shared);
    for (size_t w = 1; w < count; w++) {
        if (child[w] < 0)                /* no process to be had: done here */
            work(w, count, n, width, one, ctx, shared);
        while (child[w] > 0 && waitpid(child[w], NULL, 0) < 0 && errno == EINTR)
            ;
    }
    memcpy(result, shared, n * width * sizeof *result);
    munmap(shared, bytes);
    free(child);
}
