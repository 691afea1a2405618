/* test_effects.c - eigenvalues of random bond graphs moved by each parameter, and by each element's slope, against
 * differences of eigenvalues
 *
 * `test_effects FIRST COUNT` takes the graphs FIRST .. FIRST+COUNT-1 (generate.h): algebraic loops (J_LL is not 0),
 * dependent storage, transformers, gyrators, fields, nonlinear laws, at random states. Each is linearized there. Then,
 * for every eigenvalue that stands alone:
 *   - parameters: the model with the parameter a little larger and smaller, linearized anew, four times (differences of
 *     fourth order)
 *   - storage and dissipators: A = J_SX + (J_SS + J_SL (I - L J_LL)^-1 L J_LS) S made here from the matrices, with one
 *     slope moved
 * A and B made from the bond graph must be the Jacobian, too. To 1e-6 of the slope, or to what the differences
 * themselves can tell.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "dense.h"
#include "generate.h"
#include "linearize.h"

#define WITHIN 1e-6
#define STEP 3e-4 /* of a parameter */

struct tally {
    size_t graphs, linear, loops, dependent, gyrators, structured, as_equations, checks, sharp, elements, failures;
};

static void
failure(struct tally *t, const rgraph *g, const char *what)
{
    if (t->failures++ < 5)
        printf("graph %llu: %s\n", (unsigned long long)g->seed, what);
}

/* The eigenvalue of A nearest to z. False: none is known. */
static bool
nearest_eigenvalue(size_t n, const double *A, double complex z, double complex *to)
{
    modes m;
    bool fine = modes_find(n, A, &m);
    size_t best = 0;

    for (size_t i = 1; i < n && fine; i++)
        if (cabs(m.eigenvalue[i] - z) < cabs(m.eigenvalue[best] - z))
            best = i;
    if (fine)
        *to = m.eigenvalue[best];
    modes_free(&m);
    return fine;
}

/* How far eigenvalue i is from the next. */
static double
apart(const modes *m, size_t i)
{
    double d = INFINITY;

    for (size_t k = 0; k < m->count; k++)
        if (k != i)
            d = fmin(d, cabs(m->eigenvalue[k] - m->eigenvalue[i]));
    return d;
}

/* slope of fourth order from values at +h, -h, +2h, -2h. */
static double complex
slope_of(const double complex *z, double h)
{
    return (8 * (z[0] - z[1]) - (z[2] - z[3])) / (12 * h);
}

/* What the differences cannot tell: rounding of the eigenvalues, that of the matrix (seen from the fourth difference,
 * which is nothing else: loops are solved anew for each), and what the next order leaves, seen from the two steps. */
static double
doubt(const modes *m, size_t i, const double complex *z, double h)
{
    double rounding = 30 * DBL_EPSILON * m->size * fmin(m->condition[i], 1e8) / h +
                      cabs(z[2] + z[3] - 4 * (z[0] + z[1]) + 6 * m->eigenvalue[i]) / h;
    double complex near = (z[0] - z[1]) / (2 * h), far = (z[2] - z[3]) / (4 * h);

    /* the second differs from the first by 3 terms of h^2; of h^4 as many times smaller again, if all goes well, and up
     * to three times that where two eigenvalues meet not far away */
    return rounding + 3 * cabs(near - far) * fmin(1, cabs(near - far) / fmax(cabs(near), DBL_MIN));
}

static void
judge(struct tally *t, const rgraph *g, const char *what, double got, double want, double difference, double unsure)
{
    char text[240];

    t->checks++;
    t->sharp += unsure <= WITHIN / 10 * want;
    if (difference <= WITHIN * want + unsure)
        return;
    snprintf(text, sizeof text, "%s: %.12g, by differences %.12g (off by %.2g, doubtful to %.2g)", what, got, want,
             difference, unsure);
    failure(t, g, text);
}

/* ---------------------------------------------------------------- parameters */

static const double offset[4] = { 1, -1, 2, -2 };

/* How deep in components a parameter is: those outside first, since one that was set does not follow those it is
 * computed from any more. */
static size_t
depth_of(const char *name)
{
    size_t n = 0;

    for (; *name; name++)
        n += *name == '.';
    return n;
}

static void
check_parameter(struct tally *t, const rgraph *g, compilation *c, const linearization *l, const double *x, partials *p,
                size_t q)
{
    size_t n = l->space.n;
    double complex(*z)[4] = calloc(n + 1, sizeof *z);
    double was = l->effect.value[q], h = STEP * fabs(was);
    bool fine = was != 0;

    for (int k = 0; k < 4 && fine; k++) {
        state_space s = { 0 };

        fine = model_set_parameter(c->model, l->effect.parameter[q], was + offset[k] * h) &&
               state_space_at(c->model, p, 0, 0, 0, x, &s) == SPACE_DONE;
        for (size_t i = 0; i < n && fine; i++)
            fine = nearest_eigenvalue(n, s.A, l->modes.eigenvalue[i], &z[i][k]);
        state_space_free(&s);
    }
    model_set_parameter(c->model, l->effect.parameter[q], was);
    for (size_t i = 0; i < n && fine; i++) {
        double complex got = l->effect.at[q * n + i], want = slope_of(z[i], h);
        char what[120];

        if (l->modes.cluster[l->modes.cluster_of[i]].n > 1 || 8 * h * fmax(cabs(want), cabs(got)) > apart(&l->modes, i))
            continue;
        snprintf(what, sizeof what, "effect of %s on eigenvalue %zu", l->effect.parameter[q], i);
        judge(t, g, what, cabs(got), cabs(want), cabs(got - want), doubt(&l->modes, i, z[i], h));
    }
    free(z);
}

static void
check_parameters(struct tally *t, const rgraph *g, compilation *c, const linearization *l, const double *x)
{
    partials *p = model_partials(c->model, NULL, 0, 0);
    size_t deepest = 0;

    for (size_t q = 0; q < l->effect.nparameters; q++)
        deepest = depth_of(l->effect.parameter[q]) > deepest ? depth_of(l->effect.parameter[q]) : deepest;
    for (size_t depth = 0; depth <= deepest && p; depth++)
        for (size_t q = 0; q < l->effect.nparameters; q++)
            if (depth_of(l->effect.parameter[q]) == depth)
                check_parameter(t, g, c, l, x, p, q);
}

/* ---------------------------------------------------------------- elements */

/* A from the matrices, with one slope of storage (at < nz) or of a dissipator off. */
static bool
matrix_with(const structure *s, size_t at, double off, double *A)
{
    size_t n = s->n, nz = s->nz, nl = s->nl;
    double *S = calloc(nz * n + 1, sizeof *S), *L = calloc(nl * nl + 1, sizeof *L),
           *left = calloc(nl * nl + 1, sizeof *left);
    double *in = calloc(nl * n + 1, sizeof *in), *out = calloc(nl * n + 1, sizeof *out);
    bool fine;

    memcpy(S, s->matrix[M_S].value, nz * n * sizeof *S);
    memcpy(L, s->matrix[M_L].value, nl * nl * sizeof *L);
    if (at < nz)
        S[at + nz * s->storage_state[at]] += off;
    else
        L[(at - nz) + nl * (at - nz)] += off;
    /* d_out = L (J_LS S x + J_LX x + J_LL d_out) + L_X x */
    for (size_t i = 0; i < nl; i++)
        left[i + nl * i] = 1;
    dense_multiply(nl, nl, nl, -1, L, s->matrix[M_J_LL].value, 1, left);
    memcpy(in, s->matrix[M_J_LX].value, nl * n * sizeof *in);
    dense_multiply(nl, nz, n, 1, s->matrix[M_J_LS].value, S, 1, in);
    memcpy(out, s->matrix[M_L_X].value, nl * n * sizeof *out);
    dense_multiply(nl, nl, n, 1, L, in, 1, out);
    fine = dense_solve(nl, left, n, out);
    memcpy(A, s->matrix[M_J_SX].value, n * n * sizeof *A);
    dense_multiply(n, nz, n, 1, s->matrix[M_J_SS].value, S, 1, A);
    dense_multiply(n, nl, n, 1, s->matrix[M_J_SL].value, out, 1, A);
    free(S);
    free(L);
    free(left);
    free(in);
    free(out);
    return fine;
}

static void
check_elements(struct tally *t, const rgraph *g, const linearization *l)
{
    const structure *s = &l->structure;
    size_t n = s->n;
    double *A = calloc(n * n + 1, sizeof *A);
    double complex(*z)[4] = calloc(n + 1, sizeof *z);

    for (size_t j = 0; j < s->nz + s->nl; j++) {
        double is = j < s->nz ? s->matrix[M_S].value[j + s->nz * s->storage_state[j]]
                              : s->matrix[M_L].value[(j - s->nz) * (s->nl + 1)];
        double h = STEP * fabs(is);
        bool fine = is != 0;

        for (int k = 0; k < 4 && fine; k++) {
            fine = matrix_with(s, j, offset[k] * h, A);
            for (size_t i = 0; i < n && fine; i++)
                fine = nearest_eigenvalue(n, A, l->modes.eigenvalue[i], &z[i][k]);
        }
        for (size_t i = 0; i < n && fine; i++) {
            double got = j < s->nz ? l->E_IC[i + n * j] : l->E_R[i + n * (j - s->nz)], want = cabs(slope_of(z[i], h));
            char what[120];

            if (l->modes.cluster[l->modes.cluster_of[i]].n > 1 || 8 * h * fmax(want, got) > apart(&l->modes, i))
                continue;
            snprintf(what, sizeof what, "effect of the slope of %s on eigenvalue %zu",
                     j < s->nz ? linear_storage_name(l, j) : linear_dissipator_name(l, j - s->nz), i);
            judge(t, g, what, got, want, fabs(got - want), doubt(&l->modes, i, z[i], h));
            t->elements++;
        }
    }
    free(A);
    free(z);
}

/* ---------------------------------------------------------------- the whole */

static bool
has_entries(const structure_block *b)
{
    for (size_t i = 0; i < b->rows * b->columns; i++)
        if (b->value[i] != 0)
            return true;
    return false;
}

static void
check_graph(struct tally *t, uint64_t seed)
{
    rgraph *g = rg_generate(seed, 4 + (uint32_t)(seed % 9));
    compilation c = { 0 };
    uint64_t rng = seed;

    t->graphs++;
    if (compile_text(&c, "random.bg", g->text.at, g->text.n, STAGE_MODEL, &(compile_options){ .open = true }) &&
        model_nstates(c.model) > 0) {
        size_t n = model_nstates(c.model);
        double *x = calloc(n + 1, sizeof *x);
        linearization l = { 0 };

        for (size_t i = 0; i < n; i++)
            x[i] = rg_uniform(&rng, -0.5, 0.5);
        if (linearize_at(c.model, 0, x, &l) && l.modes_known) {
            char text[200];

            t->linear++;
            t->structured += !l.structure.why;
            t->as_equations += l.as_equations;
            t->loops += !l.structure.why && has_entries(&l.structure.matrix[M_J_LL]);
            t->dependent += c.flat->port.n > 0 && (l.as_equations || l.structure.nd > 0);
            for (size_t i = 0; i < g->element.n; i++)
                if (g->element.at[i].type == RG_GY) {
                    t->gyrators++;
                    break;
                }
            if (!l.structure.why && !(l.mismatch < 1e-8)) {
                snprintf(text, sizeof text, "A from the bond graph is off by %.3g of a row", l.mismatch);
                failure(t, g, text);
            }
            check_parameters(t, g, &c, &l, x);
            if (l.E_IC && !l.structure.nd)
                check_elements(t, g, &l);
        }
        linearization_free(&l);
        free(x);
    }
    compile_free(&c);
    rg_free(g);
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
    struct tally t = { 0 };

    for (uint64_t k = 0; k < count; k++)
        check_graph(&t, first + k);
    printf(
        "%zu graphs: %zu linearized (%zu with J_LL, %zu with dependent storage, %zu with gyrators), %zu with a "
        "structured form (%zu as the equations have it); "
        "%zu effects compared, %zu of them where differences tell more than is asked, %zu of elements; %zu failures\n",
        t.graphs, t.linear, t.loops, t.dependent, t.gyrators, t.structured, t.as_equations, t.checks, t.sharp,
        t.elements, t.failures);
    return t.failures > 0;
}
