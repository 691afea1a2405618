/* staircase.c - see staircase.h */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "staircase.h"

#define CANCELLED 1e-12 /* of the two terms of a difference: a smaller difference is rounding */
/* of a row's greatest entry, with derivatives of different orders added by weights: a smaller rest is zero */
#define NO_PIVOT 1e-15
#define GREATER 1e-9 /* of a row: pivots within this are equal, and the first is taken */
enum { ORDERS = 3 };

/* One equation: a z + op b = 0. kick: the same rows for impulses, a p + kick b = 0; NULL as long as none is. pivot: the
 * unknown for which it is solved. count: unknowns in it, while rows are eliminated. */
struct row {
    double *a, *op, *kick;
    uint32_t pivot, count;
    bool dead;
};

struct elimination {
    uint32_t n, no;  /* unknowns; length of operators */
    uint32_t length; /* of a row: n + no, with kicks n + 2no */
    struct row *row;
    uint32_t nrows;
    bool *solved; /* [n] */
    double *memory;
    uint32_t *terms; /* [n + 2no] scratch: which terms of a pivot's row are not zero */
};

static double
less(double x, double y, double cancelled)
{
    double d = x - y;

    return fabs(d) <= cancelled * (fabs(x) + fabs(y)) ? 0 : d;
}

/* The terms of a row that are not zero: a, op and kick lie one behind the other. */
static uint32_t
find_row_terms(const struct elimination *e, const struct row *pivot)
{
    uint32_t found = 0;

    for (uint32_t j = 0; j < e->length; j++)
        if (pivot->a[j] != 0)
            e->terms[found++] = j;
    return found;
}

/* nterms: of the pivot's row, by find_terms. */
static void
subtract_row(const struct elimination *e, struct row *from, const struct row *pivot, uint32_t nterms, double cancelled)
{
    double f = from->a[pivot->pivot];

    if (f == 0)
        return;
    for (uint32_t i = 0; i < nterms; i++) {
        uint32_t j = e->terms[i];
        double before = from->a[j], now = less(before, f * pivot->a[j], cancelled);

        from->a[j] = now;
        if (j < e->n)
            from->count += (uint32_t)(now != 0) - (uint32_t)(before != 0);
    }
    from->count -= from->a[pivot->pivot] != 0;
    from->a[pivot->pivot] = 0;
}

static void
scale_row(const struct elimination *e, struct row *r, double by)
{
    for (uint32_t j = 0; j < e->n; j++)
        r->a[j] *= by;
    for (uint32_t j = 0; j < e->no; j++)
        r->op[j] *= by;
    for (uint32_t j = 0; j < e->no && r->kick; j++)
        r->kick[j] *= by;
}

/* The unknown of row r whose entry is largest relative to its column. */
static bool
largest_in_row(const struct elimination *e, const struct row *r, const double *column, uint32_t *unknown)
{
    double best = 0, most = 0;
    bool found = false;

    for (uint32_t j = 0; j < e->n; j++)
        most = fmax(most, fabs(r->a[j] * column[j]));
    for (uint32_t j = 0; j < e->n; j++)
        if (r->a[j] != 0 && fabs(r->a[j] * column[j]) / most > best + GREATER) {
            best = fabs(r->a[j] * column[j]) / most;
            *unknown = j;
            found = true;
        }
    return found;
}

/* Row and column of the next pivot among the rows without one. An equation in one unknown comes first, so that zeros
 * stay exact; else the entry that is largest relative to its row and its column: relative to its row, every row has one
 * of 1, and the first row's is taken. */
static bool
next_pivot(const struct elimination *e, const double *column, uint32_t *at, uint32_t *unknown)
{
    for (uint32_t i = 0; i < e->nrows; i++) {
        const struct row *r = &e->row[i];

        if (r->pivot != NONE || r->dead || r->count != 1)
            continue;
        *at = i;
        *unknown = 0;
        while (r->a[*unknown] == 0)
            ++*unknown;
        return true;
    }
    for (*at = 0; *at < e->nrows; ++*at) {
        const struct row *r = &e->row[*at];

        if (r->pivot == NONE && !r->dead && r->count > 0 && largest_in_row(e, r, column, unknown))
            return true;
    }
    return false;
}

static void
count_unknowns(const struct elimination *e, struct row *r)
{
    r->count = 0;
    for (uint32_t j = 0; j < e->n; j++)
        r->count += r->a[j] != 0;
}

/* Gauss-Jordan elimination as far as pivots exist. */
static void
eliminate(struct elimination *e, double cancelled)
{
    uint32_t at, unknown;
    double *column = bg_calloc(e->n + 1, sizeof *column);

    for (uint32_t j = 0; j < e->n; j++) {
        for (uint32_t i = 0; i < e->nrows; i++)
            if (!e->row[i].dead)
                column[j] = fmax(column[j], fabs(e->row[i].a[j]));
        column[j] = column[j] > 0 ? 1 / column[j] : 1;
    }
    for (uint32_t i = 0; i < e->nrows; i++)
        count_unknowns(e, &e->row[i]);
    while (next_pivot(e, column, &at, &unknown)) {
        struct row *p = &e->row[at];

        scale_row(e, p, 1 / p->a[unknown]);
        p->a[unknown] = 1;
        p->pivot = unknown;
        e->solved[unknown] = true;
        uint32_t nterms = find_row_terms(e, p);
        for (uint32_t i = 0; i < e->nrows; i++)
            if (i != at && !e->row[i].dead)
                subtract_row(e, &e->row[i], p, nterms, cancelled);
    }
    free(column);
}

static struct elimination
begin_elimination(uint32_t n)
{
    struct elimination e = { .n = n, .no = ORDERS * n, .nrows = n, .length = n + ORDERS * n };

    e.row = bg_calloc(n + 1, sizeof *e.row);
    e.solved = bg_calloc(n + 1, sizeof *e.solved);
    e.memory = bg_calloc((size_t)n * e.length + 1, sizeof(double));
    e.terms = bg_calloc(e.length + e.no + 1, sizeof *e.terms);
    for (uint32_t i = 0; i < n; i++) {
        double *row = e.memory + (size_t)i * e.length;

        e.row[i] = (struct row){ row, row + n, NULL, NONE, 0, false };
    }
    return e;
}

/* Room for kicks, when a condition is differentiated: of a large net it is nearly half. */
static void
give_kicks(struct elimination *e)
{
    uint32_t length = e->n + 2 * e->no;
    double *memory;

    if (e->length == length)
        return;
    memory = bg_calloc((size_t)e->n * length + 1, sizeof(double));
    for (uint32_t i = 0; i < e->n; i++) {
        double *row = memory + (size_t)i * length;

        memcpy(row, e->row[i].a, e->length * sizeof *row);
        e->row[i].a = row;
        e->row[i].op = row + e->n;
        e->row[i].kick = row + e->n + e->no;
    }
    free(e->memory);
    e->memory = memory;
    e->length = length;
}

static void
end(struct elimination *e)
{
    free(e->row);
    free(e->solved);
    free(e->memory);
    free(e->terms);
}

static void
normalise(const struct elimination *e, struct row *r)
{
    double most = 0;
    int exponent;

    for (uint32_t j = 0; j < e->n; j++)
        most = fmax(most, fabs(r->a[j]));
    if (most == 0)
        return;
    frexp(most, &exponent);
    scale_row(e, r, ldexp(1, -exponent));
}

/* ---- the result ---- */

static void
add_row(sparse_rows *s, uint32_t *capacity, const double *value, uint32_t n)
{
    uint32_t at = s->start[s->n];

    for (uint32_t j = 0; j < n; j++) {
        if (value[j] == 0)
            continue;
        if (at == *capacity) {
            *capacity = 2 * *capacity + 16;
            s->column = bg_realloc(s->column, *capacity * sizeof *s->column);
            s->value = bg_realloc(s->value, *capacity * sizeof *s->value);
        }
        s->column[at] = j;
        s->value[at++] = value[j];
    }
    s->start[++s->n] = at;
}

static sparse_rows
sparse_new(uint32_t rows)
{
    return (sparse_rows){ .start = bg_calloc(rows + 1, sizeof(uint32_t)) };
}

static void
sparse_free(sparse_rows *s)
{
    free(s->start);
    free(s->column);
    free(s->value);
}

void
sparse_apply(const sparse_rows *s, const double *b, double *to)
{
    for (uint32_t i = 0; i < s->n; i++) {
        double sum = 0;

        for (uint32_t k = s->start[i]; k < s->start[i + 1]; k++)
            sum += s->value[k] * b[s->column[k]];
        to[i] = sum;
    }
}

static sparse_rows
turned(const sparse_rows *s, uint32_t columns)
{
    sparse_rows t = { columns, bg_calloc(columns + 2, sizeof *t.start), NULL, NULL };
    uint32_t all = s->start[s->n];

    t.column = bg_malloc((all + 1) * sizeof *t.column);
    t.value = bg_malloc((all + 1) * sizeof *t.value);
    for (uint32_t e = 0; e < all; e++)
        t.start[s->column[e] + 2]++;
    for (uint32_t c = 0; c < columns; c++)
        t.start[c + 1] += t.start[c];
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t e = s->start[i]; e < s->start[i + 1]; e++) {
            uint32_t at = t.start[s->column[e] + 1]++;

            t.column[at] = i;
            t.value[at] = s->value[e];
        }
    return t;
}

void
staircase_solve_few(staircase *r, const double *b, double *to)
{
    const sparse_rows *by = &r->by_condition;

    if (!by->start)
        r->by_condition = turned(&r->solve, ORDERS * r->n);
    memset(to, 0, r->n * sizeof *to);
    for (uint32_t c = 0; c < by->n; c++)
        for (uint32_t e = by->start[c]; b[c] != 0 && e < by->start[c + 1]; e++)
            to[by->column[e]] += by->value[e] * b[c];
}

/* Operators of all unknowns, [n*no]; for free ones the least-norm solution. field: 0 solve, 1 kick. */
static double *
operators(const struct elimination *e, int field)
{
    double *out = bg_calloc((size_t)e->n * e->no + 1, sizeof *out), *gram, *right;
    VEC(uint32_t) free_ = { 0 };
    uint32_t nf, n = e->n, no = e->no;

    for (uint32_t i = 0; i < e->nrows; i++)
        if (e->row[i].pivot != NONE)
            memcpy(out + (size_t)e->row[i].pivot * no, field ? e->row[i].kick : e->row[i].op, no * sizeof *out);
    for (uint32_t j = 0; j < n; j++)
        if (!e->solved[j])
            vec_push(&free_, j);
    nf = (uint32_t)free_.n;
    if (!nf)
        return out;
    /* The pivots are z_p = -(P b + N z_f). |z|^2 is least for z_f = -(N'N + 1)^-1 N' P b. */
    gram = bg_calloc((size_t)nf * nf, sizeof *gram);
    right = bg_calloc((size_t)nf * no, sizeof *right);
    for (uint32_t i = 0; i < e->nrows; i++) {
        const struct row *r = &e->row[i];

        if (r->pivot == NONE)
            continue;
        for (uint32_t s = 0; s < nf; s++) {
            double a = r->a[free_.at[s]];

            if (a == 0)
                continue;
            for (uint32_t t = 0; t < nf; t++)
                gram[t * nf + s] += a * r->a[free_.at[t]];
            for (uint32_t j = 0; j < no; j++)
                right[(size_t)j * nf + s] += a * out[(size_t)r->pivot * no + j];
        }
    }
    for (uint32_t s = 0; s < nf; s++)
        gram[s * nf + s] += 1;
    LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', (lapack_int)nf, (lapack_int)no, gram, (lapack_int)nf, right, (lapack_int)nf);
    for (uint32_t s = 0; s < nf; s++)
        for (uint32_t j = 0; j < no; j++)
            out[(size_t)free_.at[s] * no + j] = right[(size_t)j * nf + s];
    for (uint32_t i = 0; i < e->nrows; i++) {
        const struct row *r = &e->row[i];

        if (r->pivot == NONE)
            continue;
        for (uint32_t s = 0; s < nf; s++)
            if (r->a[free_.at[s]] != 0)
                for (uint32_t j = 0; j < no; j++)
                    out[(size_t)r->pivot * no + j] -= r->a[free_.at[s]] * right[(size_t)j * nf + s];
    }
    free(gram);
    free(right);
    vec_free(&free_);
    return out;
}

/* The rows as they were solved: nothing is free. */
static void
add_solved(const struct elimination *e, int field, sparse_rows *to)
{
    const double **of = bg_calloc(e->n + 1, sizeof *of);
    uint32_t capacity = 0;

    for (uint32_t i = 0; i < e->n; i++) {
        const double *op = field ? e->row[i].kick : e->row[i].op;

        of[e->row[i].pivot] = op;
        for (uint32_t j = 0; j < e->no; j++)
            capacity += op[j] != 0;
    }
    to->column = bg_malloc((capacity + 1) * sizeof *to->column);
    to->value = bg_malloc((capacity + 1) * sizeof *to->value);
    for (uint32_t j = 0; j < e->n; j++)
        add_row(to, &capacity, of[j], e->no);
    free(of);
}

static void
add_determined(const struct elimination *e, int field, sparse_rows *to)
{
    double *op = operators(e, field);
    uint32_t capacity = 0;

    for (uint32_t j = 0; j < e->n; j++)
        add_row(to, &capacity, op + (size_t)j * e->no, e->no);
    free(op);
}

static void
finish_elimination(staircase *r, const struct elimination *e)
{
    r->n = e->n;
    for (uint32_t j = 0; j < e->n; j++)
        r->free += !e->solved[j];
    for (int field = 0; field < 2; field++) {
        sparse_rows *to = field ? &r->kick : &r->solve;

        *to = sparse_new(e->n);
        if (field && e->length == e->n + e->no)
            to->n = e->n; /* no impulses: rows without entries */
        else if (r->free == 0)
            add_solved(e, field, to);
        else
            add_determined(e, field, to);
    }
}

/* Row i has no unknown left: its operator is a constraint. Replaces the row by its derivative, as far as derivatives
 * exist. */
static void
differentiate_row(struct elimination *e, struct row *r, const double *a)
{
    bool more = false;

    give_kicks(e);
    memcpy(r->kick, r->op, e->no * sizeof *r->kick);
    for (uint32_t i = 0; i < e->n; i++) {
        double *op = r->op + ORDERS * i;

        r->dead |= op[ORDERS - 1] != 0; /* no third derivative */
        for (int k = ORDERS - 1; k > 0; k--)
            op[k] = op[k - 1];
        op[0] = 0;
    }
    memset(r->a, 0, e->n * sizeof *r->a);
    for (uint32_t k = 0; k < e->no && !r->dead; k++) {
        if (r->op[k] == 0)
            continue;
        for (uint32_t j = 0; j < e->n; j++) {
            double x = r->op[k] * a[(size_t)k * e->n + j];

            r->a[j] = less(r->a[j], -x, CANCELLED);
            more |= r->a[j] != 0;
        }
    }
    if (!r->dead)
        normalise(e, r);
    for (uint32_t i = 0; i < e->nrows && !r->dead; i++)
        if (&e->row[i] != r && e->row[i].pivot != NONE && r->a[e->row[i].pivot] != 0)
            subtract_row(e, r, &e->row[i], find_row_terms(e, &e->row[i]), CANCELLED);
}

static bool
is_zero_row(const double *v, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++)
        if (v[j] != 0)
            return false;
    return true;
}

staircase *
staircase_new(uint32_t n, const double *a)
{
    struct elimination e = begin_elimination(n);
    staircase *r = bg_calloc(1, sizeof *r);
    uint32_t capacity = 0;

    r->constraint = sparse_new(ORDERS * n + 1);
    r->order = bg_calloc(ORDERS * n + 1, sizeof *r->order);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(e.row[i].a, a + (size_t)ORDERS * i * n, n * sizeof(double));
        e.row[i].op[ORDERS * i] = 1;
        normalise(&e, &e.row[i]);
    }
    for (bool more = true; more;) {
        eliminate(&e, CANCELLED);
        more = false;
        for (uint32_t i = 0; i < n; i++) {
            struct row *q = &e.row[i];

            if (q->pivot != NONE || q->dead)
                continue;
            if (is_zero_row(q->op, e.no)) {
                q->dead = true;
                continue;
            }
            r->order[r->constraint.n] = 1;
            add_row(&r->constraint, &capacity, q->op, e.no);
            differentiate_row(&e, q, a);
            if (q->dead)
                r->order[r->constraint.n - 1] = 0;
            more |= !q->dead;
        }
    }
    finish_elimination(r, &e);
    end(&e);
    return r;
}

staircase *
staircase_ahead(uint32_t n, const double *a, double h)
{
    struct elimination e = begin_elimination(n);
    staircase *r = bg_calloc(1, sizeof *r);
    const double weight[ORDERS] = { 1, h, h * h / 2 };

    r->constraint = sparse_new(0);
    r->order = bg_calloc(1, sizeof *r->order);
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < ORDERS; k++) {
            for (uint32_t j = 0; j < n; j++)
                e.row[i].a[j] += weight[k] * a[((size_t)ORDERS * i + k) * n + j];
            e.row[i].op[ORDERS * i + k] = weight[k];
        }
        normalise(&e, &e.row[i]);
    }
    eliminate(&e, NO_PIVOT);
    finish_elimination(r, &e);
    end(&e);
    return r;
}

void
staircase_free(staircase *r)
{
    if (!r)
        return;
    sparse_free(&r->solve);
    sparse_free(&r->kick);
    sparse_free(&r->constraint);
    sparse_free(&r->by_condition);
    free(r->order);
    free(r);
}
