/* linearize.c - see linearize.h */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block_form.h"
#include "curvature.h"
#include "dense.h"
#include "effects.h"
#include "linearize.h"
#include "model_graph.h"

#define CLEAN 1e-7      /* coefficients of conserved combinations below this are set to zero, the greatest being 1 */
#define ONE_MATRIX 1e-9 /* relative to a row: both ways give the same matrix */
#define ROUNDING 1e-14  /* relative to a matrix */
#define SINGULAR (1e3 * DBL_EPSILON) /* times n, relative to the greatest singular value: a null direction */
#define GREATER (1 + 1e-6) /* ratio of coefficients: a pivot is preferred only if it is greater than by rounding */
#define ALWAYS_RESTS 1e-12 /* SI: a rate below this is zero, whatever its terms */
#define RESTS 1e-7         /* relative to the terms of a rate: the rate counts as zero */
/* of a state's size, or of 1: how far from the given point a second one is at which the model must be linear too */
#define ANOTHER_POINT 0.1

const char *
linear_state_name(const linearization *l, size_t i)
{
    return model_state(l->model, l->order[i]).name;
}
const char *
linear_storage_name(const linearization *l, size_t i)
{
    return model_graph_of(l->model)->port[l->structure.storage[i]].name;
}
const char *
linear_dissipator_name(const linearization *l, size_t i)
{
    return model_graph_of(l->model)->port[l->structure.dissipator[i]].name;
}

double complex
mode_residue(const linearization *l, size_t i, size_t input, size_t output)
{
    const modes *m = &l->modes;
    double complex c = 0, b = 0;

    for (size_t k = 0; k < m->n; k++) {
        c += l->space.C[output + l->space.ny * k] * m->U[k + m->n * i];
        b += m->W[i + m->count * k] * l->space.B[k + l->space.n * input];
    }
    return c * b;
}

/* Is it a spring? Its domain tells, if its effort is a force or a torque; otherwise a law written as 1/k. */
const char *
linear_storage_parameter(const linearization *l, size_t i)
{
    const struct model_port *p = &model_graph_of(l->model)->port[l->structure.storage[i]];
    const unit *u = model_variable(l->model, p->e).unit;

    if (p->momentum)
        return "I";
    if (u && (!strcmp(unit_text(u), "N") || !strcmp(unit_text(u), "m.kg.s-2") || !strcmp(unit_text(u), "kg.m.s-2")))
        return "k";
    return !p->given || p->inverse ? "k" : "C";
}

struct place {
    var_id var;
    bool integral;
    size_t at;
};

static int
by_text_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->integral != y->integral)
        return x->integral - y->integral;
    return (x->var > y->var) - (x->var < y->var);
}

/* Orders the states: elements in the order of the text, then the others. */
static void
find_order(linearization *l, size_t n)
{
    struct place *place = bg_calloc(n + 1, sizeof *place);

    for (size_t i = 0; i < n; i++) {
        const struct model_state s = model_state(l->model, i);

        place[i] = (struct place){ s.port != NONE ? s.port : s.var, s.port == NONE, i };
    }
    if (n)
        qsort(place, n, sizeof *place, by_text_place);
    l->order = bg_calloc(n + 1, sizeof *l->order);
    for (size_t i = 0; i < n; i++)
        l->order[i] = place[i].at;
    free(place);
}

/* ---------------------------------------------------------------- A, B, C, D */

/* Columns of the partial derivatives: parameters, then inputs with their rates. */
struct columns_of {
    var_id *by;
    size_t n, nparameters, first; /* first: column of the first input */
};

/* sparse: parameters are listed, but get no columns. */
static void
list_columns(const linearization *l, struct columns_of *c)
{
    const model_graph *g = model_graph_of(l->model);
    size_t nvars = model_nvariables(l->model);

    c->by = bg_malloc((nvars + 2 * g->nopenings + 1) * sizeof *c->by);
    c->n = 0;
    for (uint32_t v = 0; v < nvars; v++) {
        const struct model_variable x = model_variable(l->model, v);

        if (x.role == ROLE_PARAMETER && x.kind == VAR_PARAM)
            c->by[c->n++] = v;
    }
    c->nparameters = c->n;
    c->first = l->sparse ? 0 : c->n;
    for (size_t i = 0; i < g->nopenings; i++) {
        c->by[c->n++] = g->opening[i].by;
        c->by[c->n++] = g->opening[i].rate;
    }
}

static bool
column_is_zero(const state_space *s, size_t column)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->B[i + s->n * column] != 0)
            return false;
    for (size_t i = 0; i < s->ny; i++)
        if (s->D[i + s->ny * column] != 0)
            return false;
    return true;
}

static void
copy_column(linearization *l, const state_space *all, size_t from)
{
    size_t to = l->space.nu++;

    for (size_t i = 0; i < all->n; i++)
        l->space.B[i + all->n * to] = all->B[l->order[i] + all->n * from];
    for (size_t i = 0; i < all->ny; i++)
        l->space.D[i + all->ny * to] = all->D[i + all->ny * from];
}

/* Copies from the model's order into the order used here; picks the columns of inputs. */
static void
pick(linearization *l, const state_space *all, const struct columns_of *c)
{
    const model_graph *g = model_graph_of(l->model);
    size_t n = all->n;
    bool declared = false;

    for (size_t i = 0; i < g->nopenings; i++)
        declared = declared || g->opening[i].element == NONE;
    l->space = (state_space){ n,
                              0,
                              all->ny,
                              all->A ? bg_calloc(n * n + 1, sizeof(double)) : NULL,
                              bg_calloc(n * 2 * g->nopenings + 1, sizeof(double)),
                              bg_calloc(all->ny * n + 1, sizeof(double)),
                              bg_calloc(all->ny * 2 * g->nopenings + 1, sizeof(double)) };
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n && all->A; k++)
            l->space.A[i + n * k] = all->A[l->order[i] + n * l->order[k]];
        for (size_t k = 0; k < all->ny; k++)
            l->space.C[k + all->ny * i] = all->C[k + all->ny * l->order[i]];
    }
    for (size_t i = 0; i < g->nopenings; i++) {
        const struct model_opening *o = &g->opening[i];
        size_t column = c->first + 2 * i;

        if (declared != (o->element == NONE))
            continue;
        /* an input of which only the rate is read gets only the column of its rate */
        if (!column_is_zero(all, column) || column_is_zero(all, column + 1)) {
            vec_push(&l->input, ((linear_input){ o->name, o->unit, o->element }));
            copy_column(l, all, column);
        }
        if (!column_is_zero(all, column + 1)) {
            vec_push(&l->input, ((linear_input){ o->rate_name, NULL, o->element }));
            copy_column(l, all, column + 1);
        }
    }
}

/* ---------------------------------------------------------------- comparison of structure and equations */

/* Difference of two rows, one of each; differences below the rounding of the whole matrix do not count. */
static double
row_mismatch(const double *one, const double *other, size_t n, double rounding)
{
    double size = fmax(DBL_MIN, rounding), worst = 0;

    for (size_t k = 0; k < n; k++) {
        size = fmax(size, fabs(one[k]));
        worst = fmax(worst, fabs(one[k] - other[k]));
    }
    return worst <= rounding ? 0 : worst / size;
}

/* out: A with states scaled against each other, so that units do not matter. Returns the scales; free() them. */
static double *
scaled_copy(size_t n, const double *A, double *out)
{
    double *scale = bg_calloc(n + 1, sizeof *scale);
    block_form f;

    block_form_make(n, A, &f);
    memcpy(scale, f.scale, n * sizeof *scale);
    block_form_free(&f);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            out[i + n * k] = A[i + n * k] == 0 ? 0 : A[i + n * k] * (scale[k] / scale[i]);
    return scale;
}

/* Relative to each row, with states scaled as balancing scales them. */
static void
compare_ways(linearization *l, const state_space *all, const struct columns_of *c)
{
    const structure *s = &l->structure;
    size_t n = s->n, wide = n > s->nu ? n : s->nu;
    double *balanced = bg_malloc((n * n + 1) * sizeof *balanced), *scale, *B = bg_calloc(n * s->nu + 1, sizeof *B);
    double *one = bg_calloc(wide + 1, sizeof *one), *other = bg_calloc(wide + 1, sizeof *other), round_A, round_B;

    l->mismatch = s->why ? NAN : 0;
    scale = scaled_copy(n, l->space.A, balanced);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s->nu; k++)
            B[i + n * k] = all->B[l->order[i] + n * (c->first + 2 * s->source[k])] / scale[i];
    round_A = ROUNDING * dense_norm(n * n, balanced);
    round_B = ROUNDING * dense_norm(n * s->nu, B);
    for (size_t i = 0; i < n && !s->why; i++) {
        for (size_t k = 0; k < n; k++) {
            one[k] = balanced[i + n * k];
            other[k] = s->matrix[M_A].value[i + n * k] * scale[k] / scale[i];
        }
        l->mismatch = fmax(l->mismatch, row_mismatch(one, other, n, round_A));
        for (size_t k = 0; k < s->nu; k++) {
            one[k] = B[i + n * k];
            other[k] = s->matrix[M_B].value[i + n * k] / scale[i];
        }
        l->mismatch = fmax(l->mismatch, row_mismatch(one, other, s->nu, round_B));
    }
    free(balanced);
    free(scale);
    free(B);
    free(one);
    free(other);
}

/* ---------------------------------------------------------------- conserved quantities */

/* The change of the k-th conserved combination by given changes of the states [n]; rounding gives 0. */
static double
feed(const linearization *l, size_t k, const double *by)
{
    size_t n = l->space.n;
    double sum = 0, size = 0;

    for (size_t i = 0; i < n; i++) {
        sum += l->conserved[k * n + i] * by[i];
        size += fabs(l->conserved[k * n + i] * by[i]);
    }
    return fabs(sum) > CLEAN * size ? sum : 0;
}

bool
linear_fed_by(const linearization *l, size_t k, size_t input)
{
    return feed(l, k, l->space.B + l->space.n * input) != 0;
}

bool
linear_is_integrator(const linearization *l, size_t k)
{
    bool found = !l->equilibrium && feed(l, k, l->rate) != 0; /* at rest, rates are rounding */

    for (size_t u = 0; u < l->space.nu && !found; u++)
        found = linear_fed_by(l, k, u);
    return found;
}

/* Combines the conserved combinations so that each input changes only one of them: this separates integrators from
 * combinations that nothing changes. */
static void
part_integrators(linearization *l)
{
    size_t n = l->space.n, ways = l->space.nu + !l->equilibrium;
    bool *taken = bg_calloc(l->nconserved + 1, sizeof *taken);

    for (size_t u = 0; u < ways; u++) {
        const double *by = u < l->space.nu ? l->space.B + n * u : l->rate;
        size_t with = l->nconserved;
        double most = 0;

        for (size_t k = 0; k < l->nconserved; k++)
            if (!taken[k] && with == l->nconserved && feed(l, k, by) != 0) {
                with = k;
                most = feed(l, k, by);
            }
        if (with == l->nconserved)
            continue;
        taken[with] = true;
        for (size_t k = 0; k < l->nconserved; k++) {
            double part = taken[k] ? 0 : feed(l, k, by) / most;

            for (size_t i = 0; i < n && part != 0; i++)
                l->conserved[k * n + i] -= part * l->conserved[with * n + i];
        }
    }
    free(taken);
}

/* The left null space of A in reduced echelon form: each row has one state that the others lack. */
static void
find_conserved(linearization *l)
{
    size_t n = l->space.n, rank = 0;
    double *balanced = bg_malloc((n * n + 1) * sizeof *balanced), *A, *sigma = bg_calloc(n + 1, sizeof *sigma),
           *V = bg_calloc(n * n + 1, sizeof *V);
    double *work = bg_calloc(n + 1, sizeof *work), *row = bg_calloc(n + 1, sizeof *row), *scale;

    scale = scaled_copy(n, l->space.A, balanced);
    A = dense_transpose(n, n, balanced);
    if (n && LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'A', (lapack_int)n, (lapack_int)n, A, (lapack_int)n, sigma, NULL, 1,
                            V, (lapack_int)n, work) == 0) {
        while (rank < n && sigma[rank] > SINGULAR * (double)n * sigma[0])
            rank++;
        l->nconserved = n - rank;
        l->conserved = bg_calloc(l->nconserved * n + 1, sizeof(double));
        for (size_t k = 0; k < l->nconserved; k++)
            for (size_t i = 0; i < n; i++)
                l->conserved[k * n + i] = V[rank + k + n * i] / scale[i];
        /* Gauss-Jordan elimination, last states first, so that later states are expressed by earlier ones */
        for (size_t k = 0; k < l->nconserved; k++) {
            size_t at = n, with = k;
            double best = 0;

            for (size_t j = k; j < l->nconserved; j++)
                for (size_t i = n; i-- > 0;)
                    if (fabs(l->conserved[j * n + i]) > GREATER * best) {
                        best = fabs(l->conserved[j * n + i]);
                        at = i;
                        with = j;
                    }
            if (at == n)
                break;
            memcpy(row, l->conserved + with * n, n * sizeof *row);
            memcpy(l->conserved + with * n, l->conserved + k * n, n * sizeof *row);
            for (size_t i = 0; i < n; i++)
                l->conserved[k * n + i] = row[i] / row[at];
            for (size_t j = 0; j < l->nconserved; j++) {
                double factor = l->conserved[j * n + at];

                for (size_t i = 0; i < n && j != k; i++)
                    l->conserved[j * n + i] -= factor * l->conserved[k * n + i];
            }
        }
        part_integrators(l);
        for (size_t i = 0; i < l->nconserved * n; i++)
            if (fabs(l->conserved[i]) < CLEAN)
                l->conserved[i] = 0;
            else if (fabs(l->conserved[i] - round(l->conserved[i])) < CLEAN)
                l->conserved[i] = round(l->conserved[i]);
    }
    free(A);
    free(sigma);
    free(V);
    free(work);
    free(row);
    free(scale);
    free(balanced);
}

/* ---------------------------------------------------------------- some eigenvalues of large models */

/* Brings the rows into the order used here. */
static void
permute_rows(const linearization *l, modes *m)
{
    double complex *U = bg_calloc(m->n * m->count + 1, sizeof *U), *W = bg_calloc(m->n * m->count + 1, sizeof *W);

    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < m->count; k++) {
            U[i + m->n * k] = m->U[l->order[i] + m->n * k];
            W[k + m->count * i] = m->W[k + m->count * l->order[i]];
        }
    free(m->U);
    free(m->W);
    m->U = U;
    m->W = W;
}

static void
find_some(linearization *l, const sparse_jacobian *A, mode_request which)
{
    size_t n = l->space.n, count = which.count ? which.count : SPARSE_COUNT;

    l->structure.why = n > DENSE_MOST ? bg_format("%zu states: matrices are written for up to %d", n, DENSE_MOST)
                                      : bg_strdup("only some eigenvalues were asked for");
    l->modes_known = sparse_modes_find(A, which.near, count, &l->modes, &l->few);
    if (l->modes_known)
        permute_rows(l, &l->modes);
}

/* ---------------------------------------------------------------- the complete linearization */

/* size: [n] the magnitude of the greatest term of each rate, in the order used here. */
static bool
at_rest(linearization *l, const double *size)
{
    bool rests = true;

    for (size_t i = 0; i < l->space.n && rests; i++)
        rests = model_state(l->model, l->order[i]).only_outputs || fabs(l->rate[i]) <= RESTS * size[i] ||
                fabs(l->rate[i]) < ALWAYS_RESTS;
    return rests;
}

static void
size_terms(const linearization *l, const sparse_jacobian *A, double *size)
{
    size_t n = l->space.n;
    size_t *row_of = bg_calloc(n + 1, sizeof *row_of);

    for (size_t i = 0; i < n; i++)
        row_of[l->order[i]] = i;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && l->space.A; k++)
            size[i] = fmax(size[i], fabs(l->space.A[i + n * k] * l->x[k]));
    for (size_t c = 0; c < n && !l->space.A; c++)
        for (int64_t k = A->column[c]; k < A->column[c + 1]; k++)
            if ((size_t)A->row[k] < n)
                size[row_of[A->row[k]]] = fmax(size[row_of[A->row[k]]], fabs(A->value[k] * l->x[row_of[c]]));
    free(row_of);
}

/* Does A stay the same when the states move a little, in mixed directions? The directions are cosines of angles that
 * have no common period, so that no two states have the same part in them. */
static bool
bends_nowhere(bg_model *m, double t, const double *x)
{
    size_t n = model_nstates(m);
    double complex *left = bg_calloc(n + 1, sizeof *left), *right = bg_calloc(n + 1, sizeof *right),
                   *by = bg_calloc(n + 1, sizeof *by);
    curvature *c = model_curvature(m, NULL, 0);
    bool fine = model_curvature_at(m, c, t, x);

    for (size_t i = 0; i < n; i++) {
        left[i] = cos(1 + 1.3 * (double)i);
        right[i] = sin(2 + 0.7 * (double)i);
    }
    fine = fine && curvature_gradient(c, left, right, by, NULL);
    for (size_t i = 0; i < n && fine; i++)
        fine = by[i] == 0;
    curvature_free(c);
    free(left);
    free(right);
    free(by);
    return fine;
}

bool
linear_everywhere(bg_model *m, double t, const double *x)
{
    size_t n = model_nstates(m);
    double *beside = bg_calloc(n + 1, sizeof *beside);
    bool fine;

    for (size_t i = 0; i < n; i++)
        beside[i] = x[i] + ANOTHER_POINT * (1 + fabs(x[i])) * cos(3 + 0.9 * (double)i);
    fine = bends_nowhere(m, t, x) && bends_nowhere(m, t, beside);
    free(beside);
    return fine;
}

/* Computes everything that needs A as a whole. held: for ideal switches; NULL: there are none. */
static void
find_all(linearization *l, double t, const double *x, const state_space *all, const struct columns_of *c,
         const held_space *held)
{
    structure_make(l->model, t, x, l->order, false, false, false, &l->structure);
    compare_ways(l, all, c);
    if (!(l->mismatch < ONE_MATRIX) && l->structure.nd) {
        structure_free(&l->structure);
        l->as_equations = true;
        structure_make(l->model, t, x, l->order, false, true, false, &l->structure);
        compare_ways(l, all, c);
    }
    if (held && !held->regular && !(l->mismatch < ONE_MATRIX)) {
        structure_free(&l->structure);
        l->structure.why = bg_strdup("ideal switches constrain states in the mode that holds there");
        l->as_equations = false;
        l->mismatch = NAN;
    }
    l->modes_known = modes_find(l->space.n, l->space.A, &l->modes);
    find_conserved(l);
}

bool
linearize_some(bg_model *m, double t, const double *x, mode_request which, linearization *l)
{
    size_t n = model_nstates(m), ny = model_graph_of(m)->ndeclared;
    struct columns_of c = { 0 };
    state_space all = { 0 };
    sparse_jacobian A = { 0 };
    held_space held = { 0 };
    double *rate = bg_calloc(n + 1, sizeof *rate);
    partials *p;
    enum space_result result;

    *l = (linearization){ .model = m,
                          .time = t,
                          .mismatch = NAN,
                          .sparse = n > DENSE_MOST || (which.count && !model_nheld(m)) };
    find_order(l, n);
    list_columns(l, &c);
    l->x = bg_calloc(n + 1, sizeof *l->x);
    l->rate = bg_calloc(n + 1, sizeof *l->rate);
    l->switched = model_nheld(m) > 0;
    p = (l->switched ? model_partials_held : model_partials)(m, c.by + (c.nparameters - c.first),
                                                             c.n - (c.nparameters - c.first), ny);
    if (l->switched && l->sparse) {
        l->why = bg_format("ideal switches are in it, and %zu states: up to %d are linearized with them", n,
                           DENSE_MOST);
    } else if (!p || model_rhs(m, t, x, rate) != 0) {
        l->why = bg_strdup("the rates have no finite values there");
    } else {
        size_t nu = c.n - (c.nparameters - c.first);

        for (size_t i = 0; i < n; i++) {
            l->x[i] = x[l->order[i]];
            l->rate[i] = rate[l->order[i]];
        }
        result = l->switched ? state_space_held(m, p, nu, ny, t, x, &all, &held)
                 : l->sparse ? state_space_sparse(m, p, nu, ny, t, x, &all, &A)
                             : state_space_at(m, p, nu, ny, t, x, &all);
        if (result != SPACE_DONE)
            l->why = bg_strdup(result == SPACE_SINGULAR ? "algebraic variables are not determined there"
                                                        : "a partial derivative is not finite there");
    }
    if (!l->why) {
        double *size = bg_calloc(n + 1, sizeof *size);

        pick(l, &all, &c);
        size_terms(l, &A, size);
        l->equilibrium = at_rest(l, size);
        free(size);
        if (l->sparse)
            find_some(l, &A, which);
        else
            find_all(l, t, x, &all, &c, l->switched ? &held : NULL);
        if (l->modes_known)
            effects_find(l, c.by, c.nparameters, &all, l->switched ? &held : NULL);
    }
    state_space_free(&all);
    sparse_jacobian_free(&A);
    held_space_free(&held);
    free(c.by);
    free(rate);
    return !l->why;
}

bool
linearize_at(bg_model *m, double t, const double *x, linearization *l)
{
    return linearize_some(m, t, x, (mode_request){ 0 }, l);
}

double *
linearization_states(const linearization *l)
{
    double *x = bg_calloc(l->space.n + 1, sizeof *x);

    for (size_t i = 0; i < l->space.n; i++)
        x[l->order[i]] = l->x[i];
    return x;
}

void
linearization_free(linearization *l)
{
    void *const owned[] = { l->x,
                            l->rate,
                            l->order,
                            l->effect.parameter,
                            l->effect.value,
                            l->effect.at,
                            l->effect.total,
                            l->holder,
                            l->E_IC,
                            l->E_R,
                            l->E_IC_physical,
                            l->E_R_physical,
                            l->E_IC_relative,
                            l->E_R_relative,
                            l->E_D,
                            l->conserved,
                            l->few,
                            l->why };

    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    vec_free(&l->input);
    state_space_free(&l->space);
    structure_free(&l->structure);
    modes_free(&l->modes);
    *l = (linearization){ 0 };
}
