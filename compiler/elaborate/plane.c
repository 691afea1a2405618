/* plane.c - tables over two quantities: table2d("map.csv", x, y), table2d([...], [...], [...; ...], x, y)
 *
 * Bilinear between the points, constant outside, expressed by tables of one dimension: the sum over all columns of the
 * column at x times a hat function at y, which is 1 at the column's own y and 0 at its neighbours'. So slopes are exact
 * and corners are located, as in any table.
 *
 * in       a file whose first row has the y after one cell, and whose first column has the x; that cell may have the
 *          units of x, y and of the values in brackets, in this order: `n [rpm], throttle [1], M [N.m]` in quotes
 * cost     two tables for each column
 */
#include <math.h>
#include <string.h>

#include "elab.h"

static void
plane_free(plane *p)
{
    free(p->x);
    free(p->y);
    free(p->z);
}

static uint32_t
add_table(elab *el, const char *name, const double *x, const double *y, size_t n, size_t step)
{
    ex_table t = { .name = name, .n = n, .x = bg_calloc(n, sizeof *t.x), .y = bg_calloc(n, sizeof *t.y) };

    for (size_t k = 0; k < n; k++) {
        t.x[k] = x[k];
        t.y[k] = y[k * step];
    }
    return pool_add_table(el->pool, t);
}

/* Makes columns and hat functions in turn, once for equal points; returns the first. */
static uint32_t
plane_tables(elab *el, const plane *p)
{
    uint64_t key = bg_hash_bytes(p->x, p->rows * sizeof *p->x, map_ptr_key(p->z_unit));
    uint32_t first;

    key = bg_hash_mix(key, p->rows);
    key = bg_hash_bytes(p->y, p->cols * sizeof *p->y, key);
    key = bg_hash_bytes(p->z, p->rows * p->cols * sizeof *p->z, key);
    if ((first = map_get(&el->planes, key)) != MAP_NONE)
        return first;
    for (size_t j = 0; j < p->cols; j++) {
        size_t from = j ? j - 1 : 0, to = j + 1 < p->cols ? j + 1 : j;
        double hat[3] = { 0 };
        uint32_t made = add_table(el, arena_format(el->a, "%s, %zu", p->name, j + 2), p->x, p->z + j, p->rows, p->cols);

        if (!j)
            first = made;
        set_table_unit(el, made, p->z_unit);
        hat[j - from] = 1;
        made = add_table(el, arena_format(el->a, "%s, share of column %zu", p->name, j + 2), p->y + from, hat,
                         to - from + 1, 1);
        set_table_unit(el, made, el->one);
    }
    map_set(&el->planes, key, first);
    return first;
}

static node
plane_node(elab *el, const plane *p, node x, node y)
{
    uint32_t first = plane_tables(el, p);
    node sum = NODE_NONE;

    for (uint32_t j = 0; j < p->cols; j++) {
        node column = ex_table_node(el->pool, EX_TABLE, first + 2 * j, x, NODE_NONE);
        node hat = ex_table_node(el->pool, EX_TABLE, first + 2 * j + 1, y, NODE_NONE);
        node term = p->cols > 1 ? ex_mul(el->pool, column, hat) : column;

        sum = j ? ex_add(el->pool, sum, term) : term;
    }
    return sum;
}

/* ---------------------------------------------------------------- points in the text */

/* The numbers of a vector or matrix written in the text. NULL after an error. */
static double *
written_points(builder *b, const ast_expr *e, val *v)
{
    elab *el = b->el;
    bool structure = b->structure, units = b->units;
    double *to;

    b->structure = true;
    b->units = false;
    *v = resolve(b, e, true);
    b->structure = structure;
    b->units = units;
    if (v->bad)
        return NULL;
    to = v->m ? bg_calloc((size_t)v->m->rows * v->m->cols, sizeof *to) : NULL;
    for (size_t k = 0; to && k < (size_t)v->m->rows * v->m->cols; k++)
        if (!ex_is_const(el->pool, v->m->at[k], &to[k])) {
            free(to);
            to = NULL;
        }
    if (!to)
        diag_error(el->s, "table-call", e->at, "the points of a table are numbers, written out: [0, 10, 20] [rpm]");
    return to;
}

static bool
rise(elab *el, const double *x, size_t n, const ast_expr *e)
{
    for (size_t k = 1; k < n; k++)
        if (!(x[k] > x[k - 1])) {
            diag_error(el->s, "table-order", e->at, "the points of a table must increase; entry %zu does not", k + 1);
            return false;
        }
    return true;
}

static bool
read_written(builder *b, const ast_expr *e, plane *p)
{
    elab *el = b->el;
    val x, y, z;

    if (!(p->x = written_points(b, e->call.arg[0], &x)) || !(p->y = written_points(b, e->call.arg[1], &y)) ||
        !(p->z = written_points(b, e->call.arg[2], &z)))
        return false;
    p->rows = (size_t)x.m->rows * x.m->cols;
    p->cols = (size_t)y.m->rows * y.m->cols;
    if ((size_t)z.m->rows * z.m->cols != p->rows * p->cols || (p->rows > 1 && p->cols > 1 && z.m->rows != p->rows)) {
        diag_error(el->s, "matrix-size", e->call.arg[2]->at, "%zu by %zu values are needed, a row for each entry of %s",
                   p->rows, p->cols, text_of(el, e->call.arg[0]->at));
        return false;
    }
    if (!rise(el, p->x, p->rows, e->call.arg[0]) || !rise(el, p->y, p->cols, e->call.arg[1]))
        return false;
    p->x_unit = x.fit == FIT_UNIT ? x.unit : NULL;
    p->y_unit = y.fit == FIT_UNIT ? y.unit : NULL;
    p->z_unit = z.fit == FIT_UNIT ? z.unit : NULL;
    p->name = "table2d";
    return true;
}

val
look_up_plane(builder *b, const ast_expr *e)
{
    elab *el = b->el;
    plane p = { 0 };
    bool written = e->call.nargs == 5, fine;
    val x, y, r = val_bad(el);

    if (!written && e->call.nargs != 3) {
        diag_error(el->s, "call-arguments", e->at,
                   "table2d takes a file and what is looked up by rows and by columns, or the points themselves");
        diag_help(el->s, "Write table2d(\"map.csv\", x, y), or table2d([0, 1], [0, 10], [1, 2; 3, 4], x, y).");
        return r;
    }
    if (!written && e->call.arg[0]->kind != AST_STRING) {
        diag_error(el->s, "table-call", e->call.arg[0]->at,
                   "the first argument of table2d is the name of a CSV file, in quotes");
        return r;
    }
    fine = written ? read_written(b, e, &p) : read_plane(el, e, e->call.arg[0]->string, &p);
    x = resolve(b, e->call.arg[e->call.nargs - 2], false);
    y = resolve(b, e->call.arg[e->call.nargs - 1], false);
    need_number(el, &x, e->call.arg[e->call.nargs - 2]->at);
    need_number(el, &y, e->call.arg[e->call.nargs - 1]->at);
    fine = fine && !x.bad && !y.bad;
    fine = fine && claim_given(b, x, e->call.arg[e->call.nargs - 2]->at, p.x_unit, "the first quantity of the table") &&
           claim_given(b, y, e->call.arg[e->call.nargs - 1]->at, p.y_unit, "the second quantity of the table") &&
           may_write_out(el, 2 * p.cols, e->at);
    if (fine) {
        r = val_unit(NODE_NONE, p.z_unit);
        r.n = plane_node(el, &p, x.n, y.n);
    }
    plane_free(&p);
    return r;
}
