/* events_known.c - switchings at known times: a heap of what comes next */
#include <math.h>
#include <string.h>

#include "events_inside.h"
#include "mode_value.h"

static void
heap_push(events *e, struct due d)
{
    size_t i = e->heap.n;

    vec_push(&e->heap, d);
    while (i > 0 && e->heap.at[(i - 1) / 2].t > d.t) {
        e->heap.at[i] = e->heap.at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    e->heap.at[i] = d;
}

struct due
events_heap_pop(events *e)
{
    struct due top = e->heap.at[0], last = e->heap.at[--e->heap.n];
    size_t i = 0, n = e->heap.n;

    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && e->heap.at[child + 1].t < e->heap.at[child].t)
            child++;
        if (e->heap.at[child].t >= last.t)
            break;
        e->heap.at[i] = e->heap.at[child];
        i = child;
    }
    if (n > 0)
        e->heap.at[i] = last;
    return top;
}

static double
corner_time(const struct model_mode *m, size_t passed)
{
    const ex_table *t = m->table;
    double x = m->slope > 0 ? t->x[passed] : t->x[t->n - 1 - passed];

    return (x - m->offset) / m->slope;
}

static double
line_zero(const events *e, uint32_t k)
{
    const struct model_mode *m = &e->mode[k];
    double offset = m->offset + (m->by != 0 ? m->by * e->value[m->count] : 0);

    return -offset / m->slope;
}

/* A condition that is linear in time, and may read the value of a floor(). It is set again when that floor() switches,
 * so a zero after that time is left out. */
static double
set_line(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    double zero = line_zero(e, k), until = m->by != 0 ? fmin(e->next[m->count], e->stop) : e->stop;
    bool after = zero <= t + events_tiny(e, t);

    if (m->kind == MODE_EQUAL)
        e->any_passing |= e->passing[k] = fabs(zero - t) <= events_tiny(e, t);
    if (!after && (m->kind != MODE_EQUAL || e->nwhens > 0) && zero <= until && zero != e->next[k])
        heap_push(e, (struct due){ zero, k });
    e->next[k] = zero;
    return m->kind == MODE_EQUAL  ? 0
           : m->kind == MODE_SIGN ? (after == (m->slope > 0) ? 1 : -1)
                                  : after == (m->slope < 0);
}

static double
set_floor(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    double up = m->slope > 0, g = m->offset + m->slope * t;
    double now = up ? floor(g) : ceil(g) - 1; /* just after t, if g is a whole number now */
    double next = (now + up - m->offset) / m->slope;

    if (next <= t + events_tiny(e, t)) { /* g is a whole number but for rounding */
        g = m->offset + m->slope * (t + 2 * events_tiny(e, t));
        now = up ? floor(g) : ceil(g) - 1;
        next = fmax((now + up - m->offset) / m->slope, t + 2 * events_tiny(e, t));
    }
    if (next <= e->stop)
        heap_push(e, (struct due){ next, k });
    e->next[k] = next;
    return now;
}

static double
set_piece(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    size_t p = e->passed[k], n = m->table->n;

    while (p < n && corner_time(m, p) <= t + events_tiny(e, t))
        p++;
    e->passed[k] = p;
    if (p < n && corner_time(m, p) <= e->stop)
        heap_push(e, (struct due){ corner_time(m, p), k });
    return m->slope > 0 ? (double)p : (double)(n - p);
}

bool
events_set_known(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    double before = e->value[k], offset = m->offset;
    bool changed;

    if (m->kind == MODE_GIVEN)
        return false;
    if (m->slope == 0 && m->by != 0)
        offset += m->by * e->value[m->count];
    if (m->slope == 0 && m->kind == MODE_FLOOR)
        e->next[k] = INFINITY;
    e->value[k] = m->slope == 0           ? mode_value(m->kind, m->table, offset)
                  : m->kind == MODE_PIECE ? set_piece(e, k, t)
                  : m->kind == MODE_FLOOR ? set_floor(e, k, t)
                                          : set_line(e, k, t);
    changed = e->value[k] != before;
    for (uint32_t i = e->first_counting[k]; i < e->first_counting[k + 1]; i++)
        changed |= events_set_known(e, e->counting[i], t);
    return changed;
}

bool
events_set_all_known(events *e, double t)
{
    bool changed = false;

    e->heap.n = 0;
    memset(e->passed, 0, e->n * sizeof *e->passed);
    for (uint32_t k = 0; k < e->n; k++)
        e->next[k] = NAN;
    for (uint32_t k = 0; k < e->n; k++)
        if (e->mode[k].known && e->mode[k].by == 0) /* those that read a floor() are set with it */
            changed |= events_set_known(e, k, t);
    return changed;
}

void
events_list_counting(events *e)
{
    uint32_t *to = e->first_counting = bg_calloc(e->n + 2, sizeof *to);

    e->counting = bg_calloc(e->n + 1, sizeof *e->counting);
    for (uint32_t k = 0; k < e->n; k++)
        if (e->mode[k].known && e->mode[k].by != 0)
            to[e->mode[k].count + 2]++;
    for (uint32_t k = 0; k < e->n; k++)
        to[k + 1] += to[k];
    for (uint32_t k = 0; k < e->n; k++)
        if (e->mode[k].known && e->mode[k].by != 0)
            e->counting[to[e->mode[k].count + 1]++] = k;
}
