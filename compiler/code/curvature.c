/* curvature.c - see curvature.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curvature.h"
#include "equations.h"
#include "factor.h"
#include "moves.h"
#include "walks.h"

/* Non-zero derivatives of a template: by slot a, and by pairs of slots a <= b. d: over the slots by number */
struct first {
    uint32_t a;
    formula d;
};
struct second {
    uint32_t a, b;
    formula d;
};
struct shape {
    uint32_t first, nfirst, second, nsecond;
};

/* Entries at the point. Columns: 0..nx states, nx..nx+ny computed variables, then VAR_PARAM by var id. */
struct slope {
    uint32_t row, column;
    double value;
};
struct bend {
    uint32_t row, a, b;
    double value;
};

/* An equation: the variables in its slots, and its template's derivatives */
struct row {
    uint32_t slot0, n, shape;
};

struct curvature {
    size_t nby, nvars;
    size_t nx, ny;       /* nx: states, followed by held unknowns */
    uint32_t *column_of; /* [var] its column; NONE: it is constant */
    uint32_t *rate;      /* [nx] column of each state's rate, or of each held unknown's condition; NONE: constant */
    VEC(struct row) row; /* [ny] definition or residual */
    VEC(var_id) slot;
    VEC(uint32_t) own; /* [ny] column of the variable that a definition defines; NONE: a residual */
    formula_book book;
    double *room;
    VEC(struct shape) shape;
    VEC(struct first) firsts;
    VEC(struct second) seconds;
    VEC(struct slope) slope;
    VEC(struct bend) bend;
    /* G_y and its transpose, in compressed columns; where their numbers come from */
    int64_t *column[2], *index[2];
    uint32_t *from[2];
    double *value[2];
    factor *factor[2];
    moves_program moves;
    double *move;                        /* their derivatives at the point */
    double complex *right, *left, *grad; /* [nx + ny + vars] */
    double *work;
};

/* While it is made */
struct making {
    curvature *c;
    const equations *e;
    VEC(inst) row;
    map shape_of; /* root -> index */
};

/* The variables in y that rates and outputs need. */
static void
gather_read(struct making *w)
{
    curvature *c = w->c;
    const equations *e = w->e;
    VEC(var_id) y = { 0 };
    definition_walk need;
    var_id v;

    definition_walk_begin(&need, e);
    for (size_t i = 0; i < e->state.n; i++)
        definition_walk_add(&need, e->state.at[i].rate);
    for (size_t i = e->state.n; i < c->nx; i++)
        if (e->row.at[i - e->state.n].r.d[0] != VAR_NONE)
            definition_walk_add(&need, e->row.at[i - e->state.n].r.d[0]);
    while (definition_walk_next(&need, &v)) {
        const eq_var *d = &e->var.at[v];

        if (d->kind == DEF_EXPLICIT) {
            vec_push(&y, v);
            vec_push(&w->row, d->def);
        } else if (d->kind == DEF_BLOCK) {
            const eq_block *b = &e->block.at[d->index];

            for (uint32_t i = 0; i < b->n; i++) {
                vec_push(&y, e->unknown.at[b->unknown0 + i]);
                vec_push(&w->row, e->residual.at[b->residual0 + i]);
            }
        }
    }
    definition_walk_free(&need);
    c->ny = y.n;
    for (size_t i = 0; i < y.n; i++)
        c->column_of[y.at[i]] = (uint32_t)(c->nx + i);
    for (size_t i = 0; i < y.n; i++)
        vec_push(&c->own, e->var.at[y.at[i]].kind == DEF_EXPLICIT ? (uint32_t)(c->nx + i) : NONE);
    vec_free(&y);
}

static bool
is_zero_node(const pool *p, node n)
{
    double x;

    return ex_is_const(p, n, &x) && x == 0;
}

/* Over the slots by number. All formulas share one list of slots, 0, 1, ...; add_rows places it. */
static formula
over_slots(struct making *w, node d, const uint32_t *number)
{
    formula f = formula_write(&w->c->book, w->e->f->pool, d, number, 0);

    if (f.code != FORMULA_ITSELF)
        f.first = 0;
    return f;
}

/* number: 0, 1, ... as many as i has slots */
static uint32_t
shape_of(struct making *w, inst i, const uint32_t *number)
{
    curvature *c = w->c;
    pool *p = w->e->f->pool;
    uint32_t known = map_get(&w->shape_of, i.root);
    struct shape s = { (uint32_t)c->firsts.n, 0, (uint32_t)c->seconds.n, 0 };

    if (known != MAP_NONE)
        return known;
    for (uint32_t a = 0; a < i.n; a++) {
        node d = ex_derivative(p, i.root, a);

        if (is_zero_node(p, d))
            continue;
        vec_push(&c->firsts, ((struct first){ a, over_slots(w, d, number) }));
        for (uint32_t b = a; b < i.n && !ex_is_const(p, d, NULL); b++) {
            node dd = ex_derivative(p, d, b);

            if (!is_zero_node(p, dd))
                vec_push(&c->seconds, ((struct second){ a, b, over_slots(w, dd, number) }));
        }
    }
    s.nfirst = (uint32_t)c->firsts.n - s.first;
    s.nsecond = (uint32_t)c->seconds.n - s.second;
    map_set(&w->shape_of, i.root, (uint32_t)c->shape.n);
    vec_push(&c->shape, s);
    return (uint32_t)c->shape.n - 1;
}

static void
add_curvature_rows(struct making *w)
{
    const flat_model *f = w->e->f;
    VEC(uint32_t) number = { 0 };

    for (size_t r = 0; r < w->row.n; r++) {
        inst i = w->row.at[r];
        struct row to = { (uint32_t)w->c->slot.n, i.n, 0 };

        for (uint32_t k = (uint32_t)number.n; k < i.n; k++)
            vec_push(&number, k);
        for (uint32_t k = 0; k < i.n; k++)
            vec_push(&w->c->slot, inst_slots(f, i)[k]);
        to.shape = shape_of(w, i, number.at);
        vec_push(&w->c->row, to);
    }
    formula_close(&w->c->book);
    for (uint32_t k = 0; k < number.n; k++)
        vec_push(&w->c->book.slot, k);
    vec_free(&number);
}

static int
compare_place(const void *a, const void *b, void *ctx)
{
    const curvature *c = ctx;
    const struct slope *x = &c->slope.at[*(const uint32_t *)a], *y = &c->slope.at[*(const uint32_t *)b];

    return x->column != y->column ? (x->column > y->column) - (x->column < y->column)
                                  : (x->row > y->row) - (x->row < y->row);
}

static int
compare_transposed(const void *a, const void *b, void *ctx)
{
    const curvature *c = ctx;
    const struct slope *x = &c->slope.at[*(const uint32_t *)a], *y = &c->slope.at[*(const uint32_t *)b];

    return x->row != y->row ? (x->row > y->row) - (x->row < y->row) : (x->column > y->column) - (x->column < y->column);
}

/* The pattern of G_y, from the entries of the first point in its columns. The slots of a row are distinct variables. */
static void
make_curvature_pattern(curvature *c)
{
    VEC(uint32_t) in = { 0 };

    for (uint32_t k = 0; k < c->slope.n; k++)
        if (c->slope.at[k].column >= c->nx && c->slope.at[k].column < c->nx + c->ny)
            vec_push(&in, k);
    for (int way = 0; way < 2; way++) {
        c->column[way] = bg_calloc(c->ny + 1, sizeof(int64_t));
        c->index[way] = bg_calloc(in.n + 1, sizeof(int64_t));
        c->from[way] = bg_calloc(in.n + 1, sizeof(uint32_t));
        c->value[way] = bg_calloc(in.n + 1, sizeof(double));
        if (in.n)
            qsort_r(in.at, in.n, sizeof *in.at, way ? compare_transposed : compare_place, c);
        for (size_t i = 0; i < in.n; i++) {
            const struct slope *s = &c->slope.at[in.at[i]];
            size_t column = way ? s->row : s->column - c->nx, row = way ? s->column - c->nx : s->row;

            c->index[way][i] = (int64_t)row;
            c->from[way][i] = in.at[i];
            c->column[way][column + 1]++;
        }
        for (size_t i = 0; i < c->ny; i++)
            c->column[way][i + 1] += c->column[way][i];
        c->factor[way] = factor_new(c->ny, c->column[way], c->index[way], 0);
    }
    vec_free(&in);
}

curvature *
curvature_new(equations *e, const uint32_t *position, const var_id *by, size_t n, bool held)
{
    curvature *c = bg_calloc(1, sizeof *c);
    struct making w = { .c = c, .e = e };
    const flat_model *f = e->f;

    c->nx = e->state.n + (held ? e->held.n : 0);
    c->nby = n;
    c->nvars = f->var.n;
    c->column_of = bg_malloc((e->var.n + 1) * sizeof *c->column_of);
    memset(c->column_of, 0xff, (e->var.n + 1) * sizeof *c->column_of);
    for (size_t i = 0; i < e->state.n; i++)
        c->column_of[e->state.at[i].var] = position[e->state.at[i].var];
    for (size_t i = e->state.n; i < c->nx; i++)
        c->column_of[e->held.at[i - e->state.n]] = (uint32_t)i;
    gather_read(&w);
    add_curvature_rows(&w);
    moves_make(&c->moves, f, by, n);
    for (uint32_t v = 0; v < f->var.n; v++)
        if (c->moves.first[v + 1] > c->moves.first[v])
            c->column_of[v] = (uint32_t)(c->nx + c->ny) + v;
    c->rate = bg_calloc(c->nx + 1, sizeof *c->rate);
    for (size_t i = 0; i < e->state.n; i++)
        c->rate[position[e->state.at[i].var]] = c->column_of[e->state.at[i].rate];
    for (size_t i = e->state.n; i < c->nx; i++) {
        var_id condition = e->row.at[i - e->state.n].r.d[0];

        c->rate[i] = condition == VAR_NONE ? NONE : c->column_of[condition];
    }
    c->move = bg_calloc(c->moves.by.n + 1, sizeof *c->move);
    c->room = bg_calloc(c->book.room + 1, sizeof *c->room);
    c->right = bg_calloc(c->nx + c->ny + c->nvars + 1, sizeof *c->right);
    c->left = bg_calloc(c->ny + 1, sizeof *c->left);
    c->grad = bg_calloc(c->nx + c->ny + c->nvars + 1, sizeof *c->grad);
    c->work = bg_calloc(2 * c->ny + 1, sizeof *c->work);
    vec_free(&w.row);
    map_free(&w.shape_of);
    return c;
}

void
curvature_free(curvature *c)
{
    if (!c)
        return;
    for (int way = 0; way < 2; way++) {
        factor_free(c->factor[way]);
        free(c->column[way]);
        free(c->index[way]);
        free(c->from[way]);
        free(c->value[way]);
    }
    vec_free(&c->row);
    vec_free(&c->slot);
    vec_free(&c->own);
    formula_book_free(&c->book);
    vec_free(&c->shape);
    vec_free(&c->firsts);
    vec_free(&c->seconds);
    vec_free(&c->slope);
    vec_free(&c->bend);
    moves_free(&c->moves);
    free(c->move);
    free(c->room);
    free(c->column_of);
    free(c->rate);
    free(c->right);
    free(c->left);
    free(c->grad);
    free(c->work);
    free(c);
}

bool
curvature_at(curvature *c, const double *v, const bool *fixed)
{
    VEC(double) slot = { 0 };
    bool fine = true;
    size_t singular;

    c->slope.n = c->bend.n = 0;
    for (uint32_t r = 0; r < c->ny; r++) {
        const struct row *i = &c->row.at[r];
        struct shape s = c->shape.at[i->shape];
        const var_id *var = c->slot.at + i->slot0;

        slot.n = 0;
        for (uint32_t k = 0; k < i->n; k++)
            vec_push(&slot, v[var[k]]);
        for (uint32_t k = 0; k < s.nfirst; k++) {
            const struct first *d = &c->firsts.at[s.first + k];
            double x;

            if (c->column_of[var[d->a]] == NONE)
                continue;
            x = formula_value(&c->book, d->d, slot.at, c->room);
            fine = fine && isfinite(x);
            vec_push(&c->slope, ((struct slope){ r, c->column_of[var[d->a]], x }));
        }
        if (c->own.at[r] != NONE)
            vec_push(&c->slope, ((struct slope){ r, c->own.at[r], -1 }));
        for (uint32_t k = 0; k < s.nsecond; k++) {
            const struct second *d = &c->seconds.at[s.second + k];
            uint32_t a = c->column_of[var[d->a]], b = c->column_of[var[d->b]];
            double x;

            if (a == NONE || b == NONE)
                continue;
            x = formula_value(&c->book, d->d, slot.at, c->room);
            fine = fine && isfinite(x);
            if (x != 0)
                vec_push(&c->bend, ((struct bend){ r, a, b, d->a == d->b ? x / 2 : x })); /* both orders are added */
        }
    }
    vec_free(&slot);
    if (!c->factor[0])
        make_curvature_pattern(c);
    for (int way = 0; way < 2 && fine; way++) {
        for (size_t k = 0; k < (size_t)c->column[way][c->ny]; k++)
            c->value[way][k] = c->slope.at[c->from[way][k]].value;
        fine = c->ny == 0 || factor_numeric(c->factor[way], c->value[way], &singular);
    }
    if (fine)
        moves_slopes(&c->moves, v, fixed, c->move);
    return fine;
}

/* b = G_y^-1 b, or b = G_y^-T b. */
static bool
solve_slopes(curvature *c, int way, double complex *b)
{
    double *re = c->work, *im = c->work + c->ny;

    for (size_t i = 0; i < c->ny; i++) {
        re[i] = creal(b[i]);
        im[i] = cimag(b[i]);
    }
    if (c->ny && (!factor_solve(c->factor[way], re) || !factor_solve(c->factor[way], im)))
        return false;
    for (size_t i = 0; i < c->ny; i++)
        b[i] = re[i] + im[i] * I;
    return true;
}

bool
curvature_gradient(curvature *c, const double complex *left, const double complex *right, double complex *by_state,
                   double complex *by_parameter)
{
    size_t nx = c->nx, ny = c->ny;
    double complex *y = c->right + nx;

    memset(c->right, 0, (nx + ny + c->nvars) * sizeof *c->right);
    memset(c->grad, 0, (nx + ny + c->nvars) * sizeof *c->grad);
    memset(c->left, 0, ny * sizeof *c->left);
    memcpy(c->right, right, nx * sizeof *right);
    for (size_t k = 0; k < c->slope.n; k++)
        if (c->slope.at[k].column < nx)
            y[c->slope.at[k].row] -= c->slope.at[k].value * right[c->slope.at[k].column];
    for (size_t i = 0; i < nx; i++)
        if (c->rate[i] != NONE && c->rate[i] >= nx && c->rate[i] < nx + ny)
            c->left[c->rate[i] - nx] -= left[i];
    if (!solve_slopes(c, 0, y) || !solve_slopes(c, 1, c->left))
        return false;
    for (size_t k = 0; k < c->bend.n; k++) {
        const struct bend *b = &c->bend.at[k];
        double complex l = c->left[b->row] * b->value;

        c->grad[b->b] += l * c->right[b->a];
        c->grad[b->a] += l * c->right[b->b];
    }
    /* how the computed variables change with states and parameters */
    memcpy(c->left, c->grad + nx, ny * sizeof *c->left);
    if (!solve_slopes(c, 1, c->left))
        return false;
    for (size_t k = 0; k < c->slope.n; k++) {
        const struct slope *s = &c->slope.at[k];

        if (s->column < nx || s->column >= nx + ny)
            c->grad[s->column] -= c->left[s->row] * s->value;
    }
    if (by_state)
        memcpy(by_state, c->grad, nx * sizeof *by_state);
    if (by_parameter) {
        memset(by_parameter, 0, c->nby * sizeof *by_parameter);
        for (size_t v = 0; v < c->nvars; v++)
            for (uint32_t m = c->moves.first[v]; m < c->moves.first[v + 1]; m++)
                by_parameter[c->moves.by.at[m]] += c->move[m] * c->grad[nx + ny + v];
    }
    return true;
}
