/* nullspace.c - sparse elimination modulo 2^31-1 on doubly linked rows and columns */
#include <string.h>

#include "nullspace.h"
#include "residue.h"

enum { BUCKETS = 64 }; /* rows by length; the last bucket has all longer ones */

struct entry {
    uint32_t row, col, value, row_next, row_prev, col_next, col_prev;
};
struct pivot {
    uint32_t col, value, first, n;
}; /* the row's other entries are others[first .. first + n) */
typedef VEC(uint32_t) list;

struct nullspace {
    uint32_t rows, cols;
    VEC(struct entry) entry;
    map at; /* (row, col) -> entry; an entry that became 0 is unlinked and kept */
    uint32_t *row_head, *row_n, *col_head, *col_n;
    bool *done; /* [rows] */
    list bucket[BUCKETS + 1];
    VEC(struct pivot) pivot;
    VEC(struct nullspace_entry) others;
    uint32_t *pivot_of; /* [cols] */
    list free_column;
    uint32_t *use0, *use; /* pivots whose rows contain column c: use[use0[c] .. use0[c+1]) */
    uint32_t *x;          /* [cols] */
    bool *queued;         /* [pivots] */
    list heap;
    VEC(struct nullspace_entry) vector;
};

nullspace *
nullspace_new(uint32_t rows, uint32_t cols)
{
    nullspace *n = bg_calloc(1, sizeof *n);

    n->rows = rows;
    n->cols = cols;
    n->row_head = bg_malloc(rows * sizeof *n->row_head);
    n->col_head = bg_malloc(cols * sizeof *n->col_head);
    n->row_n = bg_calloc(rows, sizeof *n->row_n);
    n->col_n = bg_calloc(cols, sizeof *n->col_n);
    n->done = bg_calloc(rows, sizeof *n->done);
    n->pivot_of = bg_malloc(cols * sizeof *n->pivot_of);
    n->x = bg_calloc(cols, sizeof *n->x);
    for (uint32_t i = 0; i < rows; i++)
        n->row_head[i] = NONE;
    for (uint32_t i = 0; i < cols; i++)
        n->col_head[i] = n->pivot_of[i] = NONE;
    return n;
}

void
nullspace_free(nullspace *n)
{
    if (!n)
        return;
    vec_free(&n->entry);
    map_free(&n->at);
    free(n->row_head);
    free(n->row_n);
    free(n->col_head);
    free(n->col_n);
    free(n->done);
    for (int b = 0; b <= BUCKETS; b++)
        vec_free(&n->bucket[b]);
    vec_free(&n->pivot);
    vec_free(&n->others);
    free(n->pivot_of);
    vec_free(&n->free_column);
    free(n->use0);
    free(n->use);
    free(n->x);
    free(n->queued);
    vec_free(&n->heap);
    vec_free(&n->vector);
    free(n);
}

static void
link_entry(nullspace *n, uint32_t i)
{
    struct entry *e = &n->entry.at[i];

    e->row_prev = e->col_prev = NONE;
    e->row_next = n->row_head[e->row];
    e->col_next = n->col_head[e->col];
    if (e->row_next != NONE)
        n->entry.at[e->row_next].row_prev = i;
    if (e->col_next != NONE)
        n->entry.at[e->col_next].col_prev = i;
    n->row_head[e->row] = n->col_head[e->col] = i;
    n->row_n[e->row]++;
    n->col_n[e->col]++;
}

static void
unlink_entry(nullspace *n, uint32_t i)
{
    struct entry *e = &n->entry.at[i];

    if (e->row_prev == NONE)
        n->row_head[e->row] = e->row_next;
    else
        n->entry.at[e->row_prev].row_next = e->row_next;
    if (e->row_next != NONE)
        n->entry.at[e->row_next].row_prev = e->row_prev;
    if (e->col_prev == NONE)
        n->col_head[e->col] = e->col_next;
    else
        n->entry.at[e->col_prev].col_next = e->col_next;
    if (e->col_next != NONE)
        n->entry.at[e->col_next].col_prev = e->col_prev;
    n->row_n[e->row]--;
    n->col_n[e->col]--;
}

void
nullspace_add(nullspace *n, uint32_t row, uint32_t col, uint32_t value)
{
    uint64_t key = (uint64_t)row << 32 | col;
    uint32_t i, before;

    if (!value)
        return;
    i = map_get(&n->at, key);
    if (i == MAP_NONE) {
        i = (uint32_t)n->entry.n;
        vec_push(&n->entry, ((struct entry){ .row = row, .col = col }));
        map_set(&n->at, key, i);
    }
    before = n->entry.at[i].value;
    n->entry.at[i].value = gf_add(before, value);
    if (!before)
        link_entry(n, i);
    else if (!n->entry.at[i].value)
        unlink_entry(n, i);
}

static void
enter_bucket(nullspace *n, uint32_t row)
{
    uint32_t b = n->row_n[row] < BUCKETS ? n->row_n[row] : BUCKETS;

    if (b)
        vec_push(&n->bucket[b], row);
}

/* The shortest remaining row; entries of rows that have moved to another bucket are skipped. */
static uint32_t
shortest_row(nullspace *n)
{
    for (uint32_t b = 1; b <= BUCKETS; b++)
        while (n->bucket[b].n) {
            uint32_t row = n->bucket[b].at[--n->bucket[b].n];

            if (!n->done[row] && (n->row_n[row] == b || (b == BUCKETS && n->row_n[row] > b)))
                return row;
        }
    return NONE;
}

static void
eliminate_row(nullspace *n, uint32_t row)
{
    uint32_t best = n->row_head[row], inverse, i, next;
    struct pivot p;

    for (i = best; i != NONE; i = n->entry.at[i].row_next)
        if (n->col_n[n->entry.at[i].col] < n->col_n[n->entry.at[best].col])
            best = i;
    p = (struct pivot){ n->entry.at[best].col, n->entry.at[best].value, (uint32_t)n->others.n, 0 };
    inverse = gf_inv(p.value);
    for (i = n->row_head[row]; i != NONE; i = next) {
        next = n->entry.at[i].row_next;
        if (i != best)
            vec_push(&n->others, ((struct nullspace_entry){ n->entry.at[i].col, n->entry.at[i].value }));
        unlink_entry(n, i);
        n->entry.at[i].value = 0;
    }
    p.n = (uint32_t)n->others.n - p.first;
    for (i = n->col_head[p.col]; i != NONE; i = next) {
        uint32_t target = n->entry.at[i].row, factor = gf_neg(gf_mul(n->entry.at[i].value, inverse));

        next = n->entry.at[i].col_next;
        unlink_entry(n, i);
        n->entry.at[i].value = 0;
        for (uint32_t k = p.first; k < p.first + p.n; k++)
            nullspace_add(n, target, n->others.at[k].col, gf_mul(factor, n->others.at[k].value));
        enter_bucket(n, target);
    }
    n->pivot_of[p.col] = (uint32_t)n->pivot.n;
    n->done[row] = true;
    vec_push(&n->pivot, p);
}

void
nullspace_eliminate(nullspace *n)
{
    uint32_t row;

    for (uint32_t r = n->rows; r-- > 0;)
        enter_bucket(n, r);
    while ((row = shortest_row(n)) != NONE)
        eliminate_row(n, row);
    for (uint32_t c = 0; c < n->cols; c++)
        if (n->pivot_of[c] == NONE)
            vec_push(&n->free_column, c);
    n->use0 = bg_calloc(n->cols + 1u, sizeof *n->use0);
    n->use = bg_malloc(n->others.n * sizeof *n->use);
    n->queued = bg_calloc(n->pivot.n, sizeof *n->queued);
    for (size_t k = 0; k < n->others.n; k++)
        n->use0[n->others.at[k].col]++;
    for (uint32_t c = 0, sum = 0; c <= n->cols; c++) {
        sum += c < n->cols ? n->use0[c] : 0;
        n->use0[c] = sum;
    }
    for (size_t k = n->pivot.n; k-- > 0;)
        for (uint32_t i = 0; i < n->pivot.at[k].n; i++)
            n->use[--n->use0[n->others.at[n->pivot.at[k].first + i].col]] = (uint32_t)k;
}

const uint32_t *
nullspace_free_columns(const nullspace *n, size_t *count)
{
    *count = n->free_column.n;
    return n->free_column.at;
}

/* ---- heap of pivots, latest first: a pivot's row contains only columns that are free or later pivots ---- */

static void
heap_push_row(nullspace *n, uint32_t k)
{
    size_t i;

    if (n->queued[k])
        return;
    n->queued[k] = true;
    vec_push(&n->heap, k);
    for (i = n->heap.n - 1; i > 0 && n->heap.at[(i - 1) / 2] < k; i = (i - 1) / 2)
        n->heap.at[i] = n->heap.at[(i - 1) / 2];
    n->heap.at[i] = k;
}

static uint32_t
heap_pop(nullspace *n)
{
    uint32_t top = n->heap.at[0], last = n->heap.at[--n->heap.n];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < n->heap.n) {
        if (child + 1 < n->heap.n && n->heap.at[child + 1] > n->heap.at[child])
            child++;
        if (n->heap.at[child] <= last)
            break;
        n->heap.at[i] = n->heap.at[child];
        i = child;
    }
    if (n->heap.n)
        n->heap.at[i] = last;
    n->queued[top] = false;
    return top;
}

static void
vector_set(nullspace *n, uint32_t col, uint32_t value)
{
    n->x[col] = value;
    vec_push(&n->vector, ((struct nullspace_entry){ col, value }));
    for (uint32_t i = n->use0[col]; i < n->use0[col + 1]; i++)
        heap_push_row(n, n->use[i]);
}

const struct nullspace_entry *
nullspace_vector(nullspace *n, uint32_t c, size_t *count)
{
    n->vector.n = 0;
    vector_set(n, c, 1);
    while (n->heap.n) {
        const struct pivot *p = &n->pivot.at[heap_pop(n)];
        uint32_t sum = 0;

        for (uint32_t i = p->first; i < p->first + p->n; i++)
            sum = gf_add(sum, gf_mul(n->others.at[i].value, n->x[n->others.at[i].col]));
        if (sum)
            vector_set(n, p->col, gf_neg(gf_mul(sum, gf_inv(p->value))));
    }
    for (size_t i = 0; i < n->vector.n; i++)
        n->x[n->vector.at[i].col] = 0;
    *count = n->vector.n;
    return n->vector.at;
}
