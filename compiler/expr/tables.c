/* tables.c - tables of points, stored apart from the pool: images and machine code read them in place
 *
 * needs     points with ascending x
 * provides  tables whose addresses stay valid until the last user releases them
 */
#include <stdatomic.h>
#include <string.h>

#include "expr_pool.h"

struct table_set {
    VEC(ex_table *) table;
    atomic_size_t users;
};

table_set *
tables_new(void)
{
    table_set *s = bg_calloc(1, sizeof *s);

    atomic_init(&s->users, 1);
    return s;
}

table_set *
tables_keep(table_set *s)
{
    atomic_fetch_add(&s->users, 1);
    return s;
}

void
tables_release(table_set *s)
{
    if (!s || atomic_fetch_sub(&s->users, 1) > 1)
        return;
    for (size_t i = 0; i < s->table.n; i++) {
        ex_table *t = s->table.at[i];

        free((char *)t->name);
        free(t->x);
        free(t->y);
        free(t->bend);
        free(t->end);
        free(t);
    }
    vec_free(&s->table);
    free(s);
}

table_set *
pool_tables(const pool *p)
{
    return p->tables;
}

const ex_table *
pool_table(const pool *p, uint32_t i)
{
    return p->tables->table.at[i];
}

uint32_t
pool_add_table(pool *p, ex_table t)
{
    table_set *s = p->tables;
    ex_table *own = bg_malloc(sizeof *own);

    *own = t;
    own->name = t.name ? bg_strdup(t.name) : NULL;
    own->number = (uint32_t)s->table.n;
    vec_push(&s->table, own);
    return own->number;
}

double *
ex_spline_bends(const double *x, const double *y, size_t n)
{
    double *bend = bg_calloc(n, sizeof *bend), *part = bg_calloc(n, sizeof *part);

    /* slopes are continuous: a tridiagonal system */
    for (size_t i = 1; i + 1 < n; i++) {
        double h = x[i] - x[i - 1], next = x[i + 1] - x[i], pivot = 2 * (h + next) - h * part[i - 1];

        part[i] = next / pivot;
        bend[i] = (6 * ((y[i + 1] - y[i]) / next - (y[i] - y[i - 1]) / h) - h * bend[i - 1]) / pivot;
    }
    for (size_t i = n - 1; i-- > 1;)
        bend[i] -= part[i] * bend[i + 1];
    free(part);
    return bend;
}

static double *
copied_points(const double *x, size_t n)
{
    double *y = bg_malloc(n * sizeof *y);

    memcpy(y, x, n * sizeof *y);
    return y;
}

uint32_t
pool_add_spline(pool *p, ex_table t)
{
    ex_table ends = { .name = t.name }, second = { .name = t.name, .n = t.n };

    t.bend = bg_malloc(t.n * sizeof *t.bend);
    t.end = bg_malloc(t.n * sizeof *t.end);
    for (size_t from = 0, i = 1; i <= t.n; i++) {
        double *bend;

        if (i < t.n && t.x[i] > t.x[i - 1])
            continue;
        bend = ex_spline_bends(t.x + from, t.y + from, i - from);
        memcpy(t.bend + from, bend, (i - from) * sizeof *bend);
        free(bend);
        if (from == 0)
            t.end[t.nends++] = t.x[0];
        if (t.x[i - 1] > t.end[t.nends - 1]) /* otherwise it would jump at its first or last point */
            t.end[t.nends++] = t.x[i - 1];
        from = i;
    }
    ends.n = second.nends = t.nends;
    ends.x = copied_points(t.end, t.nends);
    ends.y = copied_points(t.end, t.nends);
    second.x = copied_points(t.x, t.n);
    second.y = copied_points(t.bend, t.n);
    second.end = copied_points(t.end, t.nends);
    t.ends = second.ends = pool_add_table(p, ends);
    t.second = pool_add_table(p, second);
    return pool_add_table(p, t);
}
