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

/* Processes whose work is done or no longer needed. The system takes milliseconds to end a process with much memory:
 * nobody waits for that. */
static _Thread_local VEC(pid_t) ending;

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

static pid_t
make_process(void)
{
    size_t n = 0;
    pid_t child;

    for (size_t i = 0; i < ending.n; i++)
        if (waitpid(ending.at[i], NULL, WNOHANG) == 0)
            ending.at[n++] = ending.at[i];
    ending.n = n;
    child = fork();
    if (child == 0)
        ending.n = 0; /* they are no children of this one */
    return child;
}

void
side_by_side_end(void)
{
    for (size_t i = 0; i < ending.n; i++)
        wait_for(ending.at[i]);
    vec_free(&ending);
}

/* Waits for at most so many milliseconds. False: nothing came. */
static bool
wait_until(sem_t *sign, long milliseconds)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += milliseconds * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return sem_timedwait(sign, &end) == 0;
}

/* A process that has done its share says so, or has died. */
static void
wait_for_share(sem_t *done, pid_t child)
{
    while (!wait_until(done, AWAIT))
        if (waitpid(child, NULL, WNOHANG) != 0)
            return;
    vec_push(&ending, child);
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

/* So much of shared memory that what follows is aligned for every type, and in other cache lines. */
static size_t
aligned_bytes(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
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
    size_t signs, bytes;
    sem_t *done = NULL;
    pid_t *child;

    if (w.workers > n)
        w.workers = n ? n : 1;
    signs = aligned_bytes(w.workers * sizeof *done);
    bytes = signs + n * size;
    if (w.workers > 1)
        done = side_memory_new(bytes);
    if (!done) {
        w.workers = 1;
        do_share(&w, 0);
        return;
    }
    w.result = (char *)done + signs;
    memset(w.result, 0xff, n * size);
    child = bg_calloc(w.workers, sizeof *child);
    for (size_t k = 0; k + 1 < w.workers; k++) {
        sem_init(&done[k], 1, 0);
        child[k] = make_process();
        if (child[k] == 0) {
            do_share(&w, k);
            sem_post(&done[k]);
            _exit(0);
        }
    }
    do_share(&w, w.workers - 1);
    for (size_t k = 0; k + 1 < w.workers; k++) {
        if (child[k] < 0) /* no process can be made: computed here */
            do_share(&w, k);
        else
            wait_for_share(&done[k], child[k]);
    }
    memcpy(result, w.result, n * size);
    side_memory_free(done, bytes);
    free(child);
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

side_team *
side_team_new(size_t bytes, size_t workers)
{
    side_team *t = bg_calloc(1, sizeof *t);

    t->bytes = aligned_bytes(sizeof *t->signs) + bytes;
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
    return (char *)t->signs + aligned_bytes(sizeof *t->signs);
}

void
side_team_begin(side_team *t, void (*work)(void *ctx, side_team *t, size_t worker), void *ctx)
{
    for (size_t k = 0; k < t->workers; k++) {
        t->child[k] = make_process();
        if (t->child[k] == 0) {
            work(ctx, t, k + 1);
            _exit(0);
        }
    }
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
    for (size_t k = 0; k < t->workers; k++)
        if (t->child[k] > 0)
            vec_push(&ending, t->child[k]);
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
