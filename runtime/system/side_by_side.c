/* side_by_side.c - see side_by_side.h */
#include "side_by_side.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

struct work {
    size_t n, size, workers;
    bool (*one)(void *ctx, size_t i, void *result);
    void *ctx;
    char *result;
};

static void
do_share(const struct work *w, size_t worker)
{
    for (size_t i = worker; i < w->n; i += w->workers) {
        char *result = w->result + i * w->size;

        if (!w->one(w->ctx, i, result))
            memset(result, 0xff, w->size);
    }
}

size_t
side_by_side_workers(void)
{
    cpu_set_t allowed;

    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (size_t)CPU_COUNT(&allowed) : 1;
}

void
side_by_side(size_t n, size_t size, size_t workers, bool (*one)(void *ctx, size_t i, void *result), void *ctx,
             void *result)
{
    struct work w = { .n = n,
                      .size = size,
                      .workers = workers ? workers : side_by_side_workers(),
                      .one = one,
                      .ctx = ctx,
                      .result = result };
    size_t bytes = n * size + 1;
    void *shared = MAP_FAILED;
    pid_t *child;

    if (w.workers > n)
        w.workers = n ? n : 1;
    if (w.workers > 1)
        shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        w.workers = 1;
        do_share(&w, 0);
        return;
    }
    w.result = shared;
    memset(shared, 0xff, bytes);
    child = bg_calloc(w.workers, sizeof *child);
    for (size_t k = 0; k + 1 < w.workers; k++) {
        child[k] = fork();
        if (child[k] == 0) {
            do_share(&w, k);
            _exit(0);
        }
    }
    do_share(&w, w.workers - 1);
    for (size_t k = 0; k + 1 < w.workers; k++) {
        if (child[k] < 0) /* no process to be had: done here */
            do_share(&w, k);
        while (child[k] > 0 && waitpid(child[k], NULL, 0) < 0 && errno == EINTR)
            ;
    }
    memcpy(result, shared, n * size);
    munmap(shared, bytes);
    free(child);
}
