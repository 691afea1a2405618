/* shared_points.c - see shared_points.h */
#include "shared_points.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

enum { KEPT = SHARED_POINTS_KEPT, CACHE_LINE = 64 };

/* begun, there: 1 + the number of the point that is computed here, and that is there. */
struct kept {
    _Alignas(CACHE_LINE) atomic_size_t begun;
    atomic_size_t there;
};

/* The point that a thread has come to: it may still read its numbers. */
struct passing {
    _Alignas(CACHE_LINE) atomic_size_t at;
};

static size_t
padded(size_t numbers)
{
    size_t line = CACHE_LINE / sizeof(double);

    return (numbers + line - 1) / line * line;
}

/* The memory: struct kept[KEPT], struct passing[users], then KEPT times the numbers of a point. */
void *
shared_points_new(size_t users, size_t numbers)
{
    size_t bytes = KEPT * sizeof(struct kept) + users * sizeof(struct passing) +
                   KEPT * padded(numbers) * sizeof(double);
    void *memory = aligned_alloc(CACHE_LINE, bytes);

    if (!memory)
        bg_out_of_memory(bytes);
    return memset(memory, 0, bytes);
}

static struct kept *
kept_of(const struct shared_points *s, size_t k)
{
    return (struct kept *)s->memory + k % KEPT;
}

static struct passing *
passing_of(const struct shared_points *s, size_t user)
{
    return (struct passing *)((struct kept *)s->memory + KEPT) + user;
}

static double *
numbers_of(const struct shared_points *s, size_t k)
{
    return (double *)passing_of(s, s->users) + k % KEPT * padded(s->numbers);
}

static bool
is_there(const struct shared_points *s, size_t k)
{
    return atomic_load(&kept_of(s, k)->there) == k + 1;
}

/* Has every thread passed the point that was kept in the same place before? */
static bool
has_place(const struct shared_points *s, size_t k)
{
    for (size_t i = 0; i < s->users; i++)
        if (atomic_load(&passing_of(s, i)->at) + KEPT <= k)
            return false;
    return true;
}

/* Computes the numbers of a point for all, unless another one has begun with that. */
static void
compute_for_all(const struct shared_points *s, size_t k, shared_points_compute compute, void *ctx)
{
    struct kept *x;
    size_t before;

    if (k >= s->n || !has_place(s, k))
        return;
    x = kept_of(s, k);
    before = atomic_load(&x->begun);
    if (before != k + 1 && atomic_compare_exchange_strong(&x->begun, &before, k + 1) &&
        compute(ctx, k, k % KEPT, numbers_of(s, k)))
        atomic_store(&x->there, k + 1);
}

const double *
shared_points_at(const struct shared_points *s, size_t k, shared_points_compute compute, void *ctx, size_t *place)
{
    *place = k % KEPT;
    if (s->memory) {
        atomic_store(&passing_of(s, s->user)->at, k);
        for (size_t next = k; next <= k + 1; next++) {
            if (!is_there(s, k))
                compute_for_all(s, next, compute, ctx);
            if (is_there(s, k))
                return numbers_of(s, k);
        }
    }
    *place = KEPT;
    return compute(ctx, k, KEPT, s->own) ? s->own : NULL;
}
