/* crew.c - see crew.h */
#include "crew.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "base.h"

/* What the program is asked to do concerns the thread that may stop its work between two steps (interrupt.h). */
static bool
make_thread(pthread_t *thread, void *(*work)(void *), void *ctx)
{
    sigset_t all, before;
    bool made;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    made = pthread_create(thread, NULL, work, ctx) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return made;
}

/* ---------------------------------------------------------------- so many computations */

struct share {
    void (*one)(void *ctx, size_t i);
    void *ctx;
    size_t i;
    pthread_t thread;
    bool made;
};

static void *
compute_share(void *of)
{
    struct share *s = of;

    s->one(s->ctx, s->i);
    return NULL;
}

void
crew_share(size_t n, void (*one)(void *ctx, size_t i), void *ctx)
{
    struct share *s = bg_calloc(n + 1, sizeof *s);

    for (size_t i = 0; i < n; i++) {
        s[i] = (struct share){ .one = one, .ctx = ctx, .i = i };
        s[i].made = i + 1 < n && make_thread(&s[i].thread, compute_share, &s[i]);
    }
    for (size_t i = n; i-- > 0;)
        if (!s[i].made)
            one(ctx, i);
    for (size_t i = 0; i < n; i++)
        if (s[i].made)
            pthread_join(s[i].thread, NULL);
    free(s);
}

struct each {
    void (*one)(void *ctx, size_t i);
    void *ctx;
    size_t n;
    atomic_size_t begun;
};

static void
take_each(void *of, size_t worker)
{
    struct each *e = of;
    size_t i;

    (void)worker;
    while ((i = atomic_fetch_add(&e->begun, 1)) < e->n)
        e->one(e->ctx, i);
}

void
crew_each(size_t n, size_t workers, void (*one)(void *ctx, size_t i), void *ctx)
{
    struct each e = { .one = one, .ctx = ctx, .n = n };

    crew_share(n < workers ? n : workers, take_each, &e);
}

/* ---------------------------------------------------------------- work as it is decided upon */

struct member {
    crew *of;
    size_t which;
    pthread_t thread;
};

struct crew {
    void (*work)(void *ctx, crew *c, size_t which);
    void *ctx;
    size_t n;
    struct member *member;
    sem_t news, result;
    atomic_bool stopped;
};

static void *
work_along(void *of)
{
    struct member *m = of;

    m->of->work(m->of->ctx, m->of, m->which);
    return NULL;
}

crew *
crew_begin(size_t n, void (*work)(void *ctx, crew *c, size_t which), void *ctx)
{
    crew *c = bg_calloc(1, sizeof *c);

    c->work = work;
    c->ctx = ctx;
    c->member = bg_calloc(n + 1, sizeof *c->member);
    sem_init(&c->news, 0, 0);
    sem_init(&c->result, 0, 0);
    for (size_t k = 0; k < n; k++) {
        c->member[k] = (struct member){ .of = c, .which = k };
        if (!make_thread(&c->member[k].thread, work_along, &c->member[k]))
            break;
        c->n++;
    }
    return c;
}

void
crew_stop(crew *c)
{
    atomic_store(&c->stopped, true);
    crew_announce(c);
}

bool
crew_is_stopped(const crew *c)
{
    return atomic_load(&c->stopped);
}

void
crew_finish(crew *c)
{
    for (size_t k = 0; k < c->n; k++)
        pthread_join(c->member[k].thread, NULL);
    sem_destroy(&c->news);
    sem_destroy(&c->result);
    free(c->member);
    free(c);
}

void
crew_end(crew *c)
{
    crew_stop(c);
    crew_finish(c);
}

static void
await(sem_t *sign)
{
    while (sem_wait(sign) != 0 && errno == EINTR)
        ;
}

void
crew_announce(crew *c)
{
    for (size_t k = 0; k < c->n; k++)
        sem_post(&c->news);
}

void
crew_await_news(crew *c)
{
    await(&c->news);
}

void
crew_report(crew *c)
{
    sem_post(&c->result);
}

void
crew_await_result(crew *c)
{
    if (c->n)
        await(&c->result);
}
