/* side_by_side.c - see side_by_side.h */
#include "side_by_side.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

/* State of computations in turn, shared by all workers: the next one; those from `end` on are not needed. */
struct turns {
    atomic_size_t next, end;
};

struct work {
    size_t n, size, workers;
    bool (*one)(void *ctx, size_t i, void *result);
    bool (*one_in_turn)(void *ctx, size_t i, void *result, bool *last);
    void *ctx;
    char *result;
    struct turns *turns;
    atomic_size_t *at; /* by worker: the computation that it works on */
};

/* What this thread computes in turn; NULL: nothing. */
static _Thread_local const struct work *under_way;
static _Thread_local size_t under_way_at;

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

static void
wait_for(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Memory shared by processes; NULL: there is none. */
static void *
share_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
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
    void *shared = NULL;
    pid_t *child;

    if (w.workers > n)
        w.workers = n ? n : 1;
    if (w.workers > 1)
        shared = share_memory(bytes);
    if (!shared) {
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
        if (child[k] < 0) /* no process can be made: computed here */
            do_share(&w, k);
        else
            wait_for(child[k]);
    }
    memcpy(result, shared, n * size);
    munmap(shared, bytes);
    free(child);
}

/* ---------------------------------------------------------------- one computation in parallel to this process */

struct side_run {
    struct work work;
    size_t bytes;
    pid_t child; /* < 0: none */
};

side_run *
side_run_begin(size_t size, size_t workers, bool (*one)(void *ctx, size_t i, void *result), void *ctx)
{
    side_run *r = bg_calloc(1, sizeof *r);

    if (workers == 0)
        workers = side_by_side_workers();
    r->work = (struct work){ .n = 1, .size = size, .workers = 1, .one = one, .ctx = ctx };
    r->bytes = size + 1;
    r->work.result = workers > 1 ? share_memory(r->bytes) : NULL;
    if (r->work.result)
        memset(r->work.result, 0xff, r->bytes);
    r->child = r->work.result ? fork() : -1;
    if (r->child == 0) {
        do_share(&r->work, 0);
        _exit(0);
    }
    return r;
}

void
side_run_end(side_run *r, void *result)
{
    char *shared = r->work.result;

    if (r->child > 0) {
        wait_for(r->child);
        memcpy(result, shared, r->work.size);
    } else {
        r->work.result = result;
        do_share(&r->work, 0);
    }
    if (shared)
        munmap(shared, r->bytes);
    free(r);
}

/* ---------------------------------------------------------------- computations in turn */

int
side_by_side_useless(void)
{
    return under_way && under_way_at >= atomic_load(&under_way->turns->end);
}

static void
do_turns(const struct work *w, size_t worker)
{
    const struct work *outer = under_way;
    size_t outer_at = under_way_at;

    under_way = w;
    /* this process takes the first one before others exist */
    for (size_t i = worker == 0 ? 0 : atomic_fetch_add(&w->turns->next, 1); i < atomic_load(&w->turns->end);
         i = atomic_fetch_add(&w->turns->next, 1)) {
        char *result = w->result + i * w->size;
        bool last = false;
        size_t end = atomic_load(&w->turns->end);

        atomic_store(&w->at[worker], i);
        under_way_at = i;
        if (!w->one_in_turn(w->ctx, i, result, &last))
            memset(result, 0xff, w->size);
        while (last && i + 1 < end && !atomic_compare_exchange_weak(&w->turns->end, &end, i + 1))
            ;
    }
    under_way = outer;
    under_way_at = outer_at;
}

/* Waits for the processes and stops those whose results are not needed. A result may make others unnecessary: the
 * process with the earliest computation is waited for first. */
static void
gather_workers(const struct work *w, pid_t *child)
{
    for (;;) {
        size_t first = 0, end = atomic_load(&w->turns->end);

        for (size_t k = 1; k < w->workers; k++) {
            if (child[k] > 0 && atomic_load(&w->at[k]) >= end) {
                kill(child[k], SIGKILL);
                wait_for(child[k]);
                child[k] = -1;
            }
            if (child[k] > 0 && (first == 0 || atomic_load(&w->at[k]) < atomic_load(&w->at[first])))
                first = k;
        }
        if (first == 0)
            return;
        wait_for(child[first]);
        child[first] = -1;
    }
}

void
side_by_side_in_turn(size_t n, size_t size, size_t workers, bool (*one)(void *ctx, size_t i, void *result, bool *last),
                     void *ctx, void *result)
{
    struct work w = { .n = n,
                      .size = size,
                      .workers = workers ? workers : side_by_side_workers(),
                      .one_in_turn = one,
                      .ctx = ctx };
    size_t bytes;
    char *shared = NULL;
    pid_t *child;

    if (w.workers > n)
        w.workers = n ? n : 1;
    bytes = sizeof *w.turns + w.workers * sizeof *w.at + n * size;
    if (w.workers > 1)
        shared = share_memory(bytes);
    if (!shared) {
        w.workers = 1;
        shared = bg_calloc(1, bytes);
    }
    w.turns = (struct turns *)shared;
    w.at = (atomic_size_t *)(w.turns + 1);
    w.result = (char *)(w.at + w.workers);
    atomic_init(&w.turns->next, 1);
    atomic_init(&w.turns->end, n);
    for (size_t k = 0; k < w.workers; k++)
        atomic_init(&w.at[k], 0);
    memset(w.result, 0xff, n * size);
    child = bg_calloc(w.workers, sizeof *child);
    for (size_t k = 1; k < w.workers; k++) {
        child[k] = fork(); /* without another process, the existing ones do all the work */
        if (child[k] == 0) {
            do_turns(&w, k);
            _exit(0);
        }
    }
    do_turns(&w, 0);
    gather_workers(&w, child);
    memcpy(result, w.result, n * size);
    if (w.workers > 1)
        munmap(shared, bytes);
    else
        free(shared);
    free(child);
}
