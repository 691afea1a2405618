/* vectors.c - vectors and matrices in expressions: `*` is the matrix product, and for two vectors the dot product
 *
 * They are written out: each entry is an ordinary expression, and all entries have one unit.
 */
#include <stdlib.h>
#include <string.h>

#include "elab.h"

val
matrix_of(elab *el, uint8_t rank, uint32_t rows, uint32_t cols, const node *at)
{
    matrix *m = arena_alloc(el->a, sizeof *m);
    size_t n = (size_t)rows * cols;

    *m = (matrix){ rank, rows, cols, arena_new_array(el->a, node, n + 1) };
    if (at && n)
        memcpy(m->at, at, n * sizeof *at);
    return (val){ .n = ex_const(el->pool, 0), .m = m, .fit = FIT_ANY };
}

bool
may_write_out(elab *el, uint64_t n, span at)
{
    if (n <= MOST_WRITTEN && el->written + n <= MOST_WRITTEN) {
        el->written += n;
        return true;
    }
    if (!el->written_too_much)
        diag_error(el->s, "model-size", at, "the vectors and matrices of this model expand to more than %d operations",
                   MOST_WRITTEN);
    el->written_too_much = true;
    return false;
}

const char *
size_words(elab *el, const val *v)
{
    if (!v->m)
        return "one number";
    if (v->m->rank == 1)
        return arena_format(el->a, "a vector of %u", v->m->rows);
    return arena_format(el->a, "a matrix of %u by %u", v->m->rows, v->m->cols);
}

static bool
size_clash(elab *el, const ast_expr *e, const char *verb, val x, val y)
{
    diag_error(el->s, "matrix-size", e->at, "%s and %s cannot be %s", size_words(el, &x), size_words(el, &y), verb);
    if (x.m)
        diag_note(el->s, e->bin.a->at, "\"%s\" is %s", text_of(el, e->bin.a->at), size_words(el, &x));
    if (y.m)
        diag_note(el->s, e->bin.b->at, "\"%s\" is %s", text_of(el, e->bin.b->at), size_words(el, &y));
    return false;
}

/* The same value with the unit of another. */
static val
with_fit(val v, val fits)
{
    fits.n = v.n;
    fits.m = v.m;
    return fits;
}

static val
sum(elab *el, const ast_expr *e, val x, val y, val fits)
{
    val r;

    if (!x.m || !y.m || x.m->rank != y.m->rank || x.m->rows != y.m->rows || x.m->cols != y.m->cols) {
        size_clash(el, e, tree_verb(e->op), x, y);
        return val_bad(el);
    }
    r = matrix_of(el, x.m->rank, x.m->rows, x.m->cols, NULL);
    for (size_t k = 0; k < (size_t)x.m->rows * x.m->cols; k++)
        r.m->at[k] = ex_make(el->pool, tree_operation(e->op), x.m->at[k], y.m->at[k], NODE_NONE);
    return with_fit(r, fits);
}

static val
scaled_entries(elab *el, enum ex_op op, val m, node by, bool by_left, val fits)
{
    val r = matrix_of(el, m.m->rank, m.m->rows, m.m->cols, NULL);

    for (size_t k = 0; k < (size_t)m.m->rows * m.m->cols; k++)
        r.m->at[k] = by_left ? ex_make(el->pool, op, by, m.m->at[k], NODE_NONE)
                             : ex_make(el->pool, op, m.m->at[k], by, NODE_NONE);
    return with_fit(r, fits);
}

/* The product of an a by n and an n by b matrix; a vector is a row on the left, a column on the right. */
static val
matrix_product(elab *el, const ast_expr *e, val x, val y, val fits)
{
    uint32_t a = x.m->rank == 1 ? 1 : x.m->rows, n = x.m->rank == 1 ? x.m->rows : x.m->cols,
             b = y.m->rank == 1 ? 1 : y.m->cols;
    uint8_t rank = (uint8_t)(x.m->rank + y.m->rank - 2);
    val r;

    if (n != y.m->rows) {
        size_clash(el, e, tree_verb(e->op), x, y);
        return val_bad(el);
    }
    if (!may_write_out(el, (uint64_t)a * (n + 1), e->at) || !may_write_out(el, (uint64_t)a * (n + 1) * b, e->at))
        return val_bad(el);
    r = matrix_of(el, rank ? rank : 1, rank == 1 ? a * b : a, rank == 2 ? b : 1, NULL);
    for (uint32_t i = 0; i < a; i++) {
        for (uint32_t j = 0; j < b; j++) {
            node total = ex_const(el->pool, 0);

            for (uint32_t k = 0; k < n; k++) {
                node term = ex_mul(el->pool, x.m->at[(size_t)i * n + k], y.m->at[(size_t)k * b + j]);

                total = k ? ex_make(el->pool, EX_ADD, total, term, NODE_NONE) : term;
            }
            r.m->at[(size_t)i * b + j] = total;
        }
    }
    if (!rank) {
        r.n = r.m->at[0];
        r.m = NULL;
    }
    return with_fit(r, fits);
}

val
combine_matrices(builder *b, const ast_expr *e, val x, val y)
{
    elab *el = b->el;
    val fits;

    if (x.bad || y.bad)
        return val_bad(el);
    if (!x.m)
        need_number(el, &x, e->bin.a->at);
    if (!y.m)
        need_number(el, &y, e->bin.b->at);
    if (!may_write_out(el, (x.m ? (uint64_t)x.m->rows * x.m->cols : 0) + (y.m ? (uint64_t)y.m->rows * y.m->cols : 0),
                       e->at))
        return val_bad(el);
    switch (e->op) {
    case AST_ADD:
    case AST_SUB:
        fits = units_together(el, tree_verb(e->op), x, e->bin.a->at, y, e->bin.b->at);
        return fits.bad ? fits : sum(el, e, x, y, fits);
    case AST_MUL:
        fits = units_multiply(el, x, y);
        if (fits.bad)
            return fits;
        if (x.m && y.m)
            return matrix_product(el, e, x, y, fits);
        return x.m ? scaled_entries(el, EX_MUL, x, y.n, false, fits) : scaled_entries(el, EX_MUL, y, x.n, true, fits);
    default:
        fits = units_divide(el, x, y);
        if (fits.bad)
            return fits;
        if (!y.m)
            return scaled_entries(el, EX_DIV, x, y.n, false, fits);
        diag_error(el->s, "matrix-size", e->at, "nothing can be divided by %s", size_words(el, &y));
        return val_bad(el);
    }
}

val
negate_matrix(elab *el, val v)
{
    val r = matrix_of(el, v.m->rank, v.m->rows, v.m->cols, NULL);

    for (size_t k = 0; k < (size_t)v.m->rows * v.m->cols; k++)
        r.m->at[k] = ex_neg(el->pool, v.m->at[k]);
    return with_fit(r, v);
}

/* Converts an entry from the unit after the matrix to SI. */
static bool
entry_in_unit(elab *el, val *v, const ast_expr *entry, const unit *u)
{
    if (v->fit != FIT_ZERO && v->fit != FIT_BARE) {
        diag_error(el->s, "matrix-unit", entry->at,
                   "the unit behind the matrix holds for all entries; this one has its own");
        return false;
    }
    v->n = ex_mul(el->pool, ex_const(el->pool, unit_scale(u)), v->n);
    if (unit_offset(u) != 0)
        v->n = ex_make(el->pool, EX_ADD, v->n, ex_const(el->pool, unit_offset(u)), NODE_NONE);
    v->fit = FIT_UNIT;
    v->unit = unit_dimension(u);
    v->stated = !unit_is_number(u);
    return true;
}

val
make_matrix(builder *b, const ast_expr *e)
{
    elab *el = b->el;
    size_t n = (size_t)e->matrix.rows * (size_t)e->matrix.cols;
    const unit *u = read_unit(el, e->matrix.unit);
    node *at = bg_calloc(n, sizeof *at);
    val fits = { .fit = FIT_ZERO }, r;
    uint32_t rows = (uint32_t)e->matrix.rows, cols = (uint32_t)e->matrix.cols;

    if (e->matrix.unit && !u)
        fits.bad = true;
    for (size_t k = 0; k < n; k++) {
        const ast_expr *x = e->matrix.entry[k];
        val v = resolve(b, x, true);

        need_number(el, &v, x->at);
        if (v.bad || (u && !entry_in_unit(el, &v, x, u)))
            fits.bad = true;
        if (!fits.bad)
            fits = units_together(el, "entries of one matrix", fits, e->at, v, x->at);
        at[k] = v.n;
    }
    if (fits.bad) {
        free(at);
        return val_bad(el);
    }
    if (fits.fit == FIT_ZERO)
        fits.fit = FIT_BARE;
    r = rows == 1 || cols == 1 ? matrix_of(el, 1, rows * cols, 1, at) : matrix_of(el, 2, rows, cols, at);
    free(at);
    return with_fit(r, fits);
}
