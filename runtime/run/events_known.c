/* events_known.c - switchings at known times: a heap of what comes next */
#include <math.h>

#include "events_inside.h"

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

bool
events_set_known(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    double before = e->value[k], now;

    if (m->kind == MODE_GIVEN)
        return false;
    if (m->slope == 0) {
        now = m->kind == MODE_PIECE        ? ex_table_piece(m->table, m->offset)
              : m->kind == MODE_FLOOR      ? floor(m->offset)
              : m->kind == MODE_SIGN       ? (m->offset > 0) - (m->offset < 0)
              : m->kind == MODE_LESS       ? m->offset < 0
              : m->kind == MODE_LESS_EQUAL ? m->offset <= 0
                                           : m->offset == 0;
    } else if (m->kind == MODE_PIECE) {
        size_t p = e->passed[k], n = m->table->n;
        while (p < n && corner_time(m, p) <= t + events_tiny(e, t))
            p++;
        e->passed[k] = p;
        now = m->slope > 0 ? (double)p : (double)(n - p);
        if (p < n && corner_time(m, p) <= e->stop)
            heap_push(e, (struct due){ corner_time(m, p), k });
    } else if (m->kind == MODE_FLOOR) {
        double up = m->slope > 0, g = m->offset + m->slope * t;
        now = up ? floor(g) : ceil(g) - 1; /* just after t, if g is a whole number now */
        double next = (now + up - m->offset) / m->slope;
        if (next <= t + events_tiny(e, t)) { /* it is one but for rounding */
            g = m->offset + m->slope * (t + 2 * events_tiny(e, t));
            now = up ? floor(g) : ceil(g) - 1;
            next = fmax((now + up - m->offset) / m->slope, t + 2 * events_tiny(e, t));
        }
        if (next <= e->stop)
            heap_push(e, (struct due){ next, k });
    } else {
        double zero = -m->offset / m->slope;
        bool after = zero <= t + events_tiny(e, t);
        now = m->kind == MODE_EQUAL  ? 0
              : m->kind == MODE_SIGN ? (after == (m->slope > 0) ? 1 : -1)
                                     : after == (m->slope < 0);
        if (!after && m->kind != MODE_EQUAL && zero <= e->stop)
            heap_push(e, (struct due){ zero, k });
    }
    e->value[k] = now;
    return now != before;
}
