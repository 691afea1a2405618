/* side_by_side.c - see side_by_side.h */
#include "side_by_side.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

/* Milliseconds after which one that waits for another process looks whether that has ended. */
enum { AWAIT = 100 };

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

static void
wait_for(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

void *
side_memory_new(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

void
side_memory_free(void *p, size_t bytes)
{
    munmap(p, bytes);
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
        shared = side_memory_new(bytes);
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
    side_memory_free(shared, bytes);
    free(child);
}

/* ---------------------------------------------------------------- one computation in parallel to this process */

struct side_run {
    struct work work;
    size_t bytes;
    pid_t child; /* < 0: none */
    void *own;   /* its result, if this process has computed it */
};

side_run *
side_run_begin(size_t size, size_t workers, bool (*one)(void *ctx, size_t i, void *result), void *ctx)
{
    side_run *r = bg_calloc(1, sizeof *r);

    if (workers == 0)
        workers = side_by_side_workers();
    r->work = (struct work){ .n = 1, .size = size, .workers = 1, .one = one, .ctx = ctx };
    r->bytes = size + 1;
    r->work.result = workers > 1 ? side_memory_new(r->bytes) : NULL;
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
side_run_drop(side_run *r)
{
    if (r->child > 0) {
        kill(r->child, SIGKILL);
        wait_for(r->child);
    }
    if (r->work.result)
        side_memory_free(r->work.result, r->bytes);
    free(r->own);
    free(r);
}

void
side_run_settle(side_run *r)
{
    struct work here = r->work;

    if (r->child > 0 || r->own)
        return;
    here.result = r->own = bg_calloc(1, r->bytes);
    do_share(&here, 0);
}

void
side_run_end(side_run *r, void *result)
{
    char *shared = r->work.result;

    if (r->child > 0) {
        wait_for(r->child);
        memcpy(result, shared, r->work.size);
    } else {
        side_run_settle(r);
        memcpy(result, r->own, r->work.size);
    }
    if (shared)
        side_memory_free(shared, r->bytes);
    free(r->own);
    free(r);
}

/* ---------------------------------------------------------------- teams */

/* What processes tell each other, at the beginning of the shared memory: there is news; a result is there. */
struct signs {
    sem_t news, result;
};

struct side_team {
    struct signs *signs;
    size_t bytes, workers; /* of shared memory; processes beside this one */
    pid_t *child;          /* 0: ended; < 0: could not be made */
    pid_t parent;
    bool shared; /* the memory is shared, otherwise this process has it alone */
};

enum { MEMORY_AT = (sizeof(struct signs) + 63) / 64 * 64 };

side_team *
side_team_new(size_t bytes, size_t workers)
{
    side_team *t = bg_calloc(1, sizeof *t);

    t->bytes = MEMORY_AT + bytes;
    t->signs = workers ? side_memory_new(t->bytes) : NULL;
    t->shared = t->signs != NULL;
    t->workers = t->shared ? workers : 0;
    t->child = bg_calloc(t->workers + 1, sizeof *t->child);
    t->parent = getpid();
    if (t->shared) {
        sem_init(&t->signs->news, 1, 0);
        sem_init(&t->signs->result, 1, 0);
    } else {
        t->signs = bg_calloc(1, t->bytes);
    }
    return t;
}

void *
side_team_memory(const side_team *t)
{
    return (char *)t->signs + MEMORY_AT;
}

void
side_team_begin(side_team *t, void (*work)(void *ctx, side_team *t, size_t worker), void *ctx)
{
    for (size_t k = 0; k < t->workers; k++) {
        t->child[k] = fork();
        if (t->child[k] == 0) {
            work(ctx, t, k + 1);
            _exit(0);
        }
    }
}

static void
wait_for_team(side_team *t)
{
    for (size_t k = 0; k < t->workers; k++)
        if (t->child[k] > 0)
            wait_for(t->child[k]);
    t->workers = 0;
}

void
side_team_stop(const side_team *t)
{
    for (size_t k = 0; k < t->workers; k++)
        if (t->child[k] > 0)
            kill(t->child[k], SIGKILL);
}

void
side_team_free(side_team *t)
{
    side_team_stop(t);
    wait_for_team(t);
    if (t->shared)
        side_memory_free(t->signs, t->bytes);
    else
        free(t->signs);
    free(t->child);
    free(t);
}

void
side_team_announce(side_team *t)
{
    for (size_t k = 0; k < t->workers; k++)
        sem_post(&t->signs->news);
}

bool
side_team_orphaned(const side_team *t)
{
    return getppid() != t->parent;
}

/* Waits for at most so many milliseconds. */
static void
wait_until(sem_t *sign, long milliseconds)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += milliseconds * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    sem_timedwait(sign, &end);
}

void
side_team_await_news(side_team *t)
{
    wait_until(&t->signs->news, AWAIT);
    if (side_team_orphaned(t))
        _exit(1);
}

bool
side_team_take(atomic_uint *state, size_t worker)
{
    unsigned open = SIDE_OPEN;

    return atomic_load(state) == SIDE_OPEN &&
           atomic_compare_exchange_strong(state, &open, SIDE_TAKEN + (unsigned)worker);
}

void
side_team_report(side_team *t)
{
    sem_post(&t->signs->result);
}

size_t
side_team_await_result(side_team *t)
{
    wait_until(&t->signs->result, AWAIT);
    for (size_t k = 0; k < t->workers; k++)
        if (t->child[k] > 0 && waitpid(t->child[k], NULL, WNOHANG) == t->child[k]) {
            t->child[k] = 0;
            return k + 1;
        }
    return 0;
}

/* ---------------------------------------------------------------- is it still needed? */

static _Thread_local bool (*useless)(void *ctx);
static _Thread_local void *useless_ctx;

void
side_by_side_watch(bool (*is_useless)(void *ctx), void *ctx)
{
    useless = is_useless;
    useless_ctx = ctx;
}

int
side_by_side_useless(void)
{
    return useless && useless(useless_ctx);
}
