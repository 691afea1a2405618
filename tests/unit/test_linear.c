/* test_linear.c - linear models at operating points
 *
 * The examples of Orbak, Eskinat, Turkay (2004): matrices and effects as printed, and numbers computed independently
 * (tests/linear), whose sensitivities agree with finite differences. Nonlinear models: their rates written down again
 * here, differentiated by a complex step. Effects: finite differences of the eigenvalues of models with other
 * parameters.
 */
#include <cjson/cJSON.h>
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "dense.h"
#include "events.h"
#include "linearize.h"
#include "simulate.h"
#include "transfer.h"

/* ---------------------------------------------------------------- helpers */

static char *
whole_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);

    if (!in)
        fail_msg("%s is not there", path);
    assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
    fclose(in);
    return text;
}

static cJSON *
expected(const char *name)
{
    char *path = bg_format("%s/%s", BG_LINEAR, name), *text = whole_file(path);
    cJSON *j = cJSON_Parse(text);

    assert_non_null(j);
    free(path);
    free(text);
    return j;
}

static double
entry(const cJSON *m, int i, int k)
{
    return cJSON_GetArrayItem(cJSON_GetArrayItem(m, i), k)->valuedouble;
}

static double
item(const cJSON *v, int i)
{
    return cJSON_GetArrayItem(v, i)->valuedouble;
}

static void
close_to(double x, double wanted, double tolerance, const char *what, size_t i, size_t k)
{
    if (!(fabs(x - wanted) <= tolerance))
        fail_msg("%s[%zu][%zu]: %.15g, not %.15g", what, i, k, x, wanted);
}

/* A matrix by columns against the first rows of a JSON one. */
static void
same_matrix(const double *A, size_t rows, size_t columns, size_t lead, const cJSON *want, double tolerance,
            const char *what)
{
    assert_non_null(A);
    assert_non_null(want);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            close_to(A[i + lead * k], entry(want, (int)i, (int)k), tolerance, what, i, k);
}

static void
open_text(compilation *c, const char *text, const char *experiment)
{
    if (!compile_text(c, "case.bg", text, strlen(text), STAGE_MODEL,
                      &(compile_options){ .experiment = experiment, .open = true })) {
        diag_print(c->sources, stderr, false, DIAG_ALL);
        fail_msg("it does not compile");
    }
}

static void
open_example(compilation *c, const char *name)
{
    char *path = bg_format("%s/%s.bg", BG_EXAMPLES, name);

    assert_true(compile_path(c, path, STAGE_MODEL, &(compile_options){ .open = true }));
    free(path);
}

static void
at_start(compilation *c, linearization *l)
{
    double *x = calloc(model_nstates(c->model) + 1, sizeof *x);

    assert_true(model_initial(c->model, 0, x));
    if (!linearize_at(c->model, 0, x, l))
        fail_msg("%s", l->why);
    free(x);
}

/* The diagonal of a matrix against a list. */
static void
same_diagonal(const structure_block *b, const cJSON *want, const char *what)
{
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++)
            close_to(b->value[i + b->rows * k], i == k ? item(want, (int)i) : 0, 1e-15, what, i, k);
}

/* ---------------------------------------------------------------- the paper */

static const cJSON *
get(const cJSON *j, const char *key)
{
    return cJSON_GetObjectItem(j, key);
}

/* What every file of expected numbers has. rows: eigenvalues it lists. */
static void
same_as_file(const linearization *l, const cJSON *j, size_t rows)
{
    const structure *s = &l->structure;
    size_t n = s->n;

    assert_null(s->why);
    assert_true(l->mismatch < 1e-14);
    same_matrix(l->space.A, n, n, n, get(j, "A"), 1e-14, "A");
    same_matrix(s->matrix[M_A].value, n, n, n, get(j, "A"), 1e-14, "A");
    same_diagonal(&s->matrix[M_S], get(j, "S_diag"), "S");
    same_diagonal(&s->matrix[M_L], get(j, "L_diag"), "L");
    same_matrix(s->matrix[M_J_SS].value, n, s->nz, n, get(j, "J_SS"), 0, "J_SS");
    same_matrix(s->matrix[M_J_SL].value, n, s->nl, n, get(j, "J_SL"), 0, "J_SL");
    same_matrix(s->matrix[M_J_LS].value, s->nl, s->nz, s->nl, get(j, "J_LS"), 0, "J_LS");
    same_matrix(s->matrix[M_J_LL].value, s->nl, s->nl, s->nl, get(j, "J_LL"), 0, "J_LL");
    for (size_t i = 0; i < rows; i++) {
        close_to(creal(l->modes.eigenvalue[i]), item(get(get(j, "eigenvalues"), "re"), (int)i), 1e-13, "Re", i, 0);
        close_to(cimag(l->modes.eigenvalue[i]), item(get(get(j, "eigenvalues"), "im"), (int)i), 1e-13, "Im", i, 0);
    }
    same_matrix(l->E_IC, rows, s->nz, n, get(j, "E_IC"), 1e-12, "E_IC");
    same_matrix(l->E_R, rows, s->nl, n, get(j, "E_R"), 1e-12, "E_R");
    same_matrix(l->E_IC_physical, rows, s->nz, n, get(j, "E_IC_physical"), 1e-12, "E_IC_physical");
    same_matrix(l->E_R_physical, rows, s->nl, n, get(j, "E_R_physical"), 1e-12, "E_R_physical");
    if (get(j, "E_IC_relative"))
        same_matrix(l->E_IC_relative, rows, s->nz, n, get(j, "E_IC_relative"), 1e-12, "E_IC_relative");
    if (get(j, "E_R_relative"))
        same_matrix(l->E_R_relative, rows, s->nl, n, get(j, "E_R_relative"), 1e-12, "E_R_relative");
    for (size_t i = 0; i < rows && get(j, "participation"); i++)
        for (size_t k = 0; k < n; k++) {
            double complex p = l->modes.U[k + n * i] * l->modes.W[i + n * k];

            close_to(creal(p), entry(get(get(j, "participation"), "re"), (int)i, (int)k), 1e-12, "participation", i, k);
            close_to(cimag(p), entry(get(get(j, "participation"), "im"), (int)i, (int)k), 1e-12, "participation", i, k);
        }
}

/* effects of parameters in the order of the elements: storage, then dissipators */
static void
same_effects(const linearization *l, const cJSON *j, size_t rows, const char *const *parameter)
{
    static const char *const key[] = { "dlam_dparam_storage", "dlam_dparam_dissipation" };
    size_t at = 0, n = l->modes.n;

    for (int kind = 0; kind < 2; kind++)
        for (size_t e = 0; e < (kind ? l->structure.nl : l->structure.nz); e++, at++) {
            size_t p = 0;

            while (p < l->effect.nparameters && strcmp(l->effect.parameter[p], parameter[at]))
                p++;
            assert_true(p < l->effect.nparameters);
            for (size_t i = 0; i < rows; i++) {
                close_to(creal(l->effect.at[p * n + i]), entry(get(get(j, key[kind]), "re"), (int)i, (int)e), 1e-12,
                         parameter[at], i, e);
                close_to(cimag(l->effect.at[p * n + i]), entry(get(get(j, key[kind]), "im"), (int)i, (int)e), 1e-12,
                         parameter[at], i, e);
            }
        }
}

static void
test_three_masses(void **state)
{
    static const char *const parameter[] = { "m1", "m2", "m3", "k1", "k2", "k3", "k4", "k5",
                                             "k6", "b1", "b2", "b3", "b4", "b5", "b6" };
    cJSON *j = expected("ex51.json"), *printed = cJSON_GetObjectItem(j, "printed");
    compilation c = { 0 };
    linearization l;

    (void)state;
    open_example(&c, "three_masses_effects");
    at_start(&c, &l);
    same_as_file(&l, j, 6);
    same_effects(&l, j, 6, parameter);
    for (int i = 0; i < 3; i++) { /* (26), (27) to the digits printed */
        for (int k = 0; k < 9; k++)
            close_to(l.E_IC[2 * i + 9 * k], entry(get(printed, "E_IC_rows_135"), i, k), 5e-5, "(26)", (size_t)i,
                     (size_t)k);
        for (int k = 0; k < 6; k++)
            close_to(l.E_R[2 * i + 9 * k], entry(get(printed, "E_R_rows_135"), i, k), 5e-5, "(27)", (size_t)i,
                     (size_t)k);
    }
    /* three redundant states: exact zeros, a cluster with as many eigenvectors, which nothing moves */
    assert_true(l.modes.nclusters == 7 && l.modes.cluster[6].n == 3 && !l.modes.cluster[6].defective &&
                l.nconserved == 3);
    for (size_t i = 6; i < 9; i++) {
        assert_true(l.modes.eigenvalue[i] == 0);
        for (size_t k = 0; k < 9; k++)
            close_to(l.E_IC[i + 9 * k], 0, 1e-13, "E_IC of zeros", i, k);
    }
    linearization_free(&l);
    compile_free(&c);
    cJSON_Delete(j);
}

static double complex
inner_product(const double complex *v, const double complex *u, size_t n)
{
    double complex sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += conj(v[i]) * u[i];
    return sum;
}

/* (30), (31): chains of generalized vectors, A u2 = i u2 + u1 and v1^H A = i v1^H + v2^H, dual to each other; both are
 * in the spaces found. One sign of v3 is printed wrong: v3 is the conjugate of v1. */
static void
same_chains(const linearization *l)
{
    static const double complex u[4][4] = { { 0, 0, -0.25 * I, 0.25 },
                                            { 0.5, -0.5 * I, 0, -0.25 * I },
                                            { 0, 0, 0.25 * I, 0.25 },
                                            { 0.5, 0.5 * I, 0, 0.25 * I } };
    static const double complex v[4][4] = { { 0, -1, -2 * I, 2 },
                                            { 1, -I, 0, 0 },
                                            { 0, -1 /* printed +1 */, 2 * I, 2 },
                                            { 1, I, 0, 0 } };
    static const double complex v3_printed[4] = { 0, 1, 2 * I, 2 };

    for (size_t k = 0; k < 4; k++) {
        bool second = k % 2 == 1;

        for (size_t i = 0; i < 4; i++) {
            double complex right = (k < 2 ? -I : I) * u[k][i] - (second ? u[k - 1][i] : 0),
                           left = (k < 2 ? -I : I) * conj(v[k][i]) - (second ? 0 : conj(v[k + 1][i])), in = 0, out = 0;

            for (size_t c = 0; c < 4; c++) {
                right += l->space.A[i + 4 * c] * u[k][c];
                left += conj(v[k][c]) * l->space.A[c + 4 * i];
            }
            assert_true(cabs(right) < 1e-15 && cabs(left) < 1e-15);
            for (size_t j = k / 2 * 2; j < k / 2 * 2 + 2; j++)
                for (size_t c = 0; c < 4; c++) {
                    in += l->modes.U[i + 4 * j] * l->modes.W[j + 4 * c] * u[k][c];
                    out += conj(v[k][c]) * l->modes.U[c + 4 * j] * l->modes.W[j + 4 * i];
                }
            assert_true(cabs(in - u[k][i]) < 1e-7 && cabs(out - conj(v[k][i])) < 1e-7);
            assert_true(cabs(inner_product(v[i], u[k], 4) - (i == k)) < 1e-15);
        }
    }
    assert_true(cabs(inner_product(v3_printed, u[3], 4)) > 0.5);
}

static void
test_one_way(void **state)
{
    static const double u[4] = { 0, 0, -1, 1 }; /* (30): u1 = (0, 0, -i, 1)/4, here of length 1 */
    cJSON *j = expected("ex52.json");
    compilation c = { 0 };
    linearization l;

    (void)state;
    open_example(&c, "two_oscillators_one_way");
    at_start(&c, &l);
    same_matrix(l.space.A, 4, 4, 4, get(j, "A"), 0, "A");
    same_matrix(l.structure.J, 4, 4, 4, get(j, "J"), 0, "J");
    same_diagonal(&l.structure.matrix[M_S], get(j, "S_diag"), "S");
    same_chains(&l);
    assert_true(l.modes.nclusters == 2 && l.modes.cluster[0].n == 2 && l.modes.cluster[0].defective &&
                l.modes.cluster[1].defective);
    assert_true(!l.holder[0] && !l.holder[1]);
    for (size_t i = 0; i < 4; i++)
        assert_true(cabs(l.modes.eigenvalue[i] - (i < 2 ? I : -I)) < 1e-14);
    same_matrix(l.E_IC, 4, 4, 4, get(j, "E_IC_jordan_diagonal"), 1e-8, "(32)");
    /* the eigenvector, up to a factor */
    for (size_t i = 0; i < 4; i++) {
        double complex factor = l.modes.U[3], want = u[i] * (i == 2 ? I : 1);

        assert_true(cabs(l.modes.U[i] / factor - want) < 1e-7);
    }
    linearization_free(&l);
    compile_free(&c);
    cJSON_Delete(j);
}

/* (38), (39): vectors of length 1, up to a phase; the printed v are conjugates of rows of W. Columns 2 and 4 are the
 * conjugates of 1 and 3. */
static void
same_vectors(const linearization *l)
{
    static const double complex u[5][5] = {
        { -0.4193 + 0.3969 * I, 0.4193 - 0.3969 * I, 0.2329 + 0.0361 * I, 0.4658 + 0.0722 * I, -0.2329 - 0.0361 * I },
        { -0.4193 - 0.3969 * I, 0.4193 + 0.3969 * I, 0.2329 - 0.0361 * I, 0.4658 - 0.0722 * I, -0.2329 + 0.0361 * I },
        { 0.3906 + 0.4252 * I, 0.3906 + 0.4252 * I, 0.1836 - 0.3646 * I, 0, 0.1836 - 0.3646 * I },
        { 0.3906 - 0.4252 * I, 0.3906 - 0.4252 * I, 0.1836 + 0.3646 * I, 0, 0.1836 + 0.3646 * I },
        { 0, 0, -0.5774, 0.5774, 0.5774 }
    };
    static const double complex v[5][5] = {
        { -0.0838 + 0.5413 * I, 0.0838 - 0.5413 * I, 0.3075 + 0.3248 * I, 0.6149 + 0.6495 * I, -0.3075 - 0.3248 * I },
        { -0.0838 - 0.5413 * I, 0.0838 + 0.5413 * I, 0.3075 - 0.3248 * I, 0.6149 - 0.6495 * I, -0.3075 + 0.3248 * I },
        { 0.4135 + 0.2082 * I, 0.4135 + 0.2082 * I, 0.4821 - 0.4429 * I, 0, 0.4821 - 0.4429 * I },
        { 0.4135 - 0.2082 * I, 0.4135 - 0.2082 * I, 0.4821 + 0.4429 * I, 0, 0.4821 + 0.4429 * I },
        { 0, 0, -0.5774, 0.5774, 0.5774 }
    };

    for (size_t k = 0; k < 5; k++) {
        const double complex *U = l->modes.U + 5 * k;
        double complex phase = inner_product(U, u[k], 5); /* of the printed column to the one found */

        assert_true(fabs(cabs(phase) - 1) < 1e-4);
        for (size_t i = 0; i < 5; i++) {
            assert_true(cabs(U[i] * phase - u[k][i]) < 1.5e-4);
            assert_true(cabs(conj(l->modes.W[k + 5 * i] / phase) - v[k][i]) < 1.5e-4);
        }
    }
}

static void
test_two_masses(void **state)
{
    static const char *const parameter[] = { "m1", "m2", "k1", "k2", "k3", "b1", "b2", "b3" };
    cJSON *j = expected("ex53.json"), *printed = cJSON_GetObjectItem(j, "printed");
    compilation c = { 0 };
    linearization l;

    (void)state;
    open_example(&c, "two_masses_modes");
    at_start(&c, &l);
    same_as_file(&l, j, 4);
    same_effects(&l, j, 4, parameter);
    for (int i = 0; i < 3; i++) { /* (40), (41) */
        for (int k = 0; k < 5; k++)
            close_to(l.E_IC[2 * i + 5 * k], entry(get(printed, "E_IC_rows_135"), i, k), 5e-5, "(40)", (size_t)i,
                     (size_t)k);
        for (int k = 0; k < 3; k++)
            close_to(l.E_R[2 * i + 5 * k], entry(get(printed, "E_R_rows_135"), i, k), 5e-5, "(41)", (size_t)i,
                     (size_t)k);
    }
    same_vectors(&l);
    linearization_free(&l);
    compile_free(&c);
    cJSON_Delete(j);
}

/* J_LL is not 0, and no parameter is 1. */
static void
test_dampers_in_series(void **state)
{
    static const char *const parameter[] = { "m1", "m2", "k0", "k", "ba", "bb" };
    cJSON *j = expected("jll_formula.json");
    compilation c = { 0 };
    linearization l;

    (void)state;
    open_example(&c, "dampers_in_series");
    at_start(&c, &l);
    same_as_file(&l, j, 4);
    same_effects(&l, j, 4, parameter);
    linearization_free(&l);
    compile_free(&c);
    cJSON_Delete(j);
}

/* ---------------------------------------------------------------- nonlinear models against a complex step */

/* A model again, by hand: rates and outputs of states, inputs and parameters, all complex. */
struct by_hand {
    const char *text;
    const char *state[4];
    size_t n;
    const char *input[2];
    size_t nu;
    const char *parameter[12];
    double value[12];
    size_t np;
    size_t ny;
    void (*f)(const double complex *x, const double complex *u, const double complex *p, double complex *dx,
              double complex *y);
    double x[4], u[2];
};

/* A motor through a gyrator on a crank: a mass whose lever arm depends on the angle hangs on it (dependent inertia), a
 * hardening spring, drag by the square; the coil saturates. */
static void
crank(const double complex *x, const double complex *u, const double complex *p, double complex *dx, double complex *y)
{
    /* x: lambda (flux), h (momentum of the rotor alone), theta; p: L, a, R, K, Jr, m, r, k, c, g */
    double complex i = x[0] / p[0] + p[1] * cpow(x[0], 3), w = x[1] / p[4], arm = p[6] * ccos(x[2]),
                   slope = -p[6] * csin(x[2]);
    double complex torque = p[3] * i - p[7] * x[2] - p[8] * w * w * w - arm * p[5] * p[9];
    /* (Jr + m arm^2) w' + m arm arm' w^2 = torque */
    double complex dw = (torque - p[5] * arm * slope * w * w) / (p[4] + p[5] * arm * arm);

    dx[0] = u[0] - p[2] * i - p[3] * w;
    dx[1] = p[4] * dw;
    dx[2] = w;
    y[0] = arm * w;
    y[1] = i;
}

/* A coil with a core that moves (a mixed field: flux linkage and stroke), behind two resistors that form an algebraic
 * loop. */
static void
solenoid(const double complex *x, const double complex *u, const double complex *p, double complex *dx,
         double complex *y)
{
    /* x: flux, stroke, momentum; p: A (energy flux^2 (1 + stroke/s)/(2A) + k (stroke - d0)^2/2), m, k, b, Ra, Rb, d0, s
     */
    double complex i = x[0] * (1 + x[1] / p[7]) / p[0], v = x[2] / p[1], e = (u[0] - p[4] * i) / (1 + p[4] / p[5]);

    dx[0] = e;
    dx[1] = v;
    dx[2] = u[1] - x[0] * x[0] / (2 * p[0] * p[7]) - p[2] * (x[1] - p[6]) - p[3] * v;
    y[0] = e / p[5];
    y[1] = v * v;
}

/* A tank whose outflow goes as the square root through a transformer (a piston) against a spring whose ratio depends on
 * its own stroke, with a cubic algebraic loop of two resistors. */
static void
piston(const double complex *x, const double complex *u, const double complex *p, double complex *dx, double complex *y)
{
    /* x: volume, stroke, momentum; p: C, a, s, m, k, b, q. pressure = ratio*force, ratio a*(1 + s*stroke) */
    double complex pressure = x[0] / p[0], n = p[1] * (1 + p[2] * x[1]), v = x[2] / p[3];

    dx[0] = u[0] - v / n - p[6] * csqrt(pressure);
    dx[1] = v;
    dx[2] = pressure / n - p[4] * x[1] * x[1] * x[1] - p[5] * v;
    y[0] = pressure;
    y[1] = v / n;
}

static const struct by_hand models[] = {
    { .text = "model crank {\n"
              "    parameter L = 0.4; parameter a = 0.7; parameter R = 1.3; parameter K = 0.9; parameter Jr = 0.5; "
              "parameter m = 1.7; parameter r = 0.6;\n"
              "    parameter k = 2.1; parameter c = 0.3; parameter g = 9.81; input u = 0.8;\n"
              "    1:i -> I:coil { f = p/L + a*p^3; } Se:supply = u -> i; i -> R:wire = R; i -> GY:motor = K -> 1:w;\n"
              "    w -> I:rotor = Jr; w -> C:spring { e = k*q; } w -> R:drag { e = c*f^3; }\n"
              "    1:v -> I:load = m; Se:weight = -m*g -> v; w -> MTF:arm = r*cos(spring.q) -> v;\n"
              "    output y1 = v.f; output y2 = coil.f;\n}\n",
      .state = { "coil.p", "rotor.p", "spring.q" },
      .n = 3,
      .input = { "u" },
      .nu = 1,
      .parameter = { "L", "a", "R", "K", "Jr", "m", "r", "k", "c", "g" },
      .value = { 0.4, 0.7, 1.3, 0.9, 0.5, 1.7, 0.6, 2.1, 0.3, 9.81 },
      .np = 10,
      .ny = 2,
      .f = crank,
      .x = { 0.31, 0.42, 0.27 },
      .u = { 0.8 } },
    { .text = "model solenoid {\n"
              "    parameter A = 1.5; parameter m = 0.8; parameter k = 3.2; parameter b = 0.4; parameter Ra = 0.7; "
              "parameter Rb = 1.1; parameter d0 = 0.9;\n"
              "    parameter s = 2.3; input u = 1.2; input F = 0.3;\n"
              "    C:coil { port flux, core; energy = flux.p^2*(1 + core.q/s)/(2*A) + k*(core.q - d0)^2/2; }\n"
              "    1:lead; Se:supply = u -> lead; lead -> R:first = Ra; lead -> 0:node -> R:second = Rb; node -> "
              "coil.flux;\n"
              "    1:v -> coil.core; v -> I:mass = m; v -> R:damper = b; Se:force = F -> v;\n"
              "    output y1 = second.f; output y2 = v.f^2;\n}\n",
      .state = { "coil.flux.p", "coil.core.q", "mass.p" },
      .n = 3,
      .input = { "u", "F" },
      .nu = 2,
      .parameter = { "A", "m", "k", "b", "Ra", "Rb", "d0", "s" },
      .value = { 1.5, 0.8, 3.2, 0.4, 0.7, 1.1, 0.9, 2.3 },
      .np = 8,
      .ny = 2,
      .f = solenoid,
      .x = { 0.7, 1.1, -0.2 },
      .u = { 1.2, 0.3 } },
    { .text = "model piston {\n"
              "    parameter C = 0.6; parameter a = 0.5; parameter s = 0.35; parameter m = 1.2; parameter k = 2.5; "
              "parameter b = 0.45; parameter kv = 0.2;\n"
              "    input u = 0.9;\n"
              "    0:tank -> C:water = C; Sf:pump = u -> tank; tank -> R:leak { f = kv*sqrt(e); }\n"
              "    tank -> MTF:rod = a*(1 + s*spring.q) -> 1:v; v -> I:mass = m; v -> C:spring { e = k*q^3; } v -> "
              "R:damper = b;\n"
              "    output y1 = tank.e; output y2 = v.f/(a*(1 + s*spring.q));\n}\n",
      .state = { "water.q", "spring.q", "mass.p" },
      .n = 3,
      .input = { "u" },
      .nu = 1,
      .parameter = { "C", "a", "s", "m", "k", "b", "kv" },
      .value = { 0.6, 0.5, 0.35, 1.2, 2.5, 0.45, 0.2 },
      .np = 7,
      .ny = 2,
      .f = piston,
      .x = { 0.7, 0.4, 0.25 },
      .u = { 0.9 } },
};

/* Derivative of rates and outputs by one of x, u, p: which 0, 1, 2. */
static void
complex_step(const struct by_hand *h, const double *x, const double *p, int which, size_t at, double *d)
{
    const double step = 1e-40;
    double complex X[4] = { 0 }, U[2] = { 0 }, P[12] = { 0 }, out[8] = { 0 };

    for (size_t i = 0; i < h->n; i++)
        X[i] = x[i];
    for (size_t i = 0; i < h->nu; i++)
        U[i] = h->u[i];
    for (size_t i = 0; i < h->np; i++)
        P[i] = p[i];
    (which == 0 ? X : which == 1 ? U : P)[at] += step * I;
    h->f(X, U, P, out, out + h->n);
    for (size_t i = 0; i < h->n + h->ny; i++)
        d[i] = cimag(out[i]) / step;
}

static size_t
row_named(const linearization *l, const char *name)
{
    size_t i = 0;

    while (i < l->space.n && strcmp(linear_state_name(l, i), name))
        i++;
    if (i == l->space.n)
        fail_msg("no state %s", name);
    return i;
}

static size_t
input_named(const linearization *l, const char *name)
{
    size_t i = 0;

    while (i < l->input.n && strcmp(l->input.at[i].name, name))
        i++;
    assert_true(i < l->input.n);
    return i;
}

static void
hand_matrix(const struct by_hand *h, const double *x, const double *p, double *A)
{
    double d[8];

    for (size_t k = 0; k < h->n; k++) {
        complex_step(h, x, p, 0, k, d);
        memcpy(A + h->n * k, d, h->n * sizeof *d);
    }
}

/* Newton's method on the rates, from x. */
static void
hand_rest(const struct by_hand *h, const double *p, double *x)
{
    for (int round = 0; round < 50; round++) {
        double complex X[4] = { 0 }, U[2] = { 0 }, P[12] = { 0 }, out[8];
        double A[16], step[4];

        for (size_t i = 0; i < h->n; i++)
            X[i] = x[i];
        for (size_t i = 0; i < h->nu; i++)
            U[i] = h->u[i];
        for (size_t i = 0; i < h->np; i++)
            P[i] = p[i];
        h->f(X, U, P, out, out + h->n);
        for (size_t i = 0; i < h->n; i++)
            step[i] = creal(out[i]);
        hand_matrix(h, x, p, A);
        assert_true(dense_solve(h->n, A, 1, step));
        for (size_t i = 0; i < h->n; i++)
            x[i] -= step[i];
    }
}

/* Eigenvalue i of the model by hand with parameter q off by h; at rest: where it rests then. */
static double complex
hand_eigenvalue(const struct by_hand *h, const double *at, size_t q, double off, bool rests, size_t i)
{
    double p[12], x[4], A[16];
    double complex z;
    modes m;

    memcpy(p, h->value, sizeof p);
    p[q] += off;
    memcpy(x, at, h->n * sizeof *x);
    if (rests)
        hand_rest(h, p, x);
    hand_matrix(h, x, p, A);
    assert_true(modes_find(h->n, A, &m));
    z = m.eigenvalue[i];
    modes_free(&m);
    return z;
}

/* c (s - A)^-1 b + d of the model by hand, by elimination with the greatest pivot of each column. */
static double complex
hand_response(const struct by_hand *h, const double *x, size_t input, size_t output, double complex s)
{
    double complex M[4][5] = { { 0 } }, z[4], y;
    double d[8];

    for (size_t k = 0; k < h->n; k++) {
        complex_step(h, x, h->value, 0, k, d);
        for (size_t i = 0; i < h->n; i++)
            M[i][k] = (i == k ? s : 0) - d[i];
    }
    complex_step(h, x, h->value, 1, input, d);
    y = d[h->n + output];
    for (size_t i = 0; i < h->n; i++)
        M[i][h->n] = d[i];
    for (size_t k = 0; k < h->n; k++) {
        size_t best = k;

        for (size_t i = k; i < h->n; i++)
            best = cabs(M[i][k]) > cabs(M[best][k]) ? i : best;
        for (size_t c = 0; c <= h->n; c++) {
            double complex swap = M[k][c];

            M[k][c] = M[best][c];
            M[best][c] = swap;
        }
        for (size_t i = 0; i < h->n; i++) {
            double complex factor = i == k ? 0 : M[i][k] / M[k][k];

            for (size_t c = 0; c <= h->n; c++)
                M[i][c] -= factor * M[k][c];
        }
    }
    for (size_t i = 0; i < h->n; i++)
        z[i] = M[i][h->n] / M[i][i];
    for (size_t k = 0; k < h->n; k++) {
        complex_step(h, x, h->value, 0, k, d);
        y += d[h->n + output] * z[k];
    }
    return y;
}

/* Zeros, poles and gains: their product is the response by hand at some points, which vanishes at the zeros. */
static void
check_transfer(const struct by_hand *h, const linearization *l, const double *x)
{
    static const double complex point[] = { 1, 0.3 + 2 * I, -0.2 + 0.7 * I, 5 };

    for (size_t u = 0; u < h->nu; u++)
        for (size_t y = 0; y < h->ny; y++) {
            struct zeros_poles z;
            double size = 0;

            assert_true(transfer_function(&l->space, input_named(l, h->input[u]), y, &z));
            for (size_t k = 0; k < sizeof point / sizeof *point; k++) {
                double complex want = hand_response(h, x, u, y, point[k]), got = z.gain;

                for (size_t i = 0; i < z.nzeros; i++)
                    got *= point[k] - z.zero[i];
                for (size_t i = 0; i < z.npoles; i++)
                    got /= point[k] - z.pole[i];
                size = fmax(size, cabs(want));
                if (!(cabs(got - want) <= 1e-9 * (cabs(want) + 1e-6)))
                    fail_msg("response of %s to input %zu, output %zu: %g%+gi, by hand %g%+gi", h->state[0], u, y,
                             creal(got), cimag(got), creal(want), cimag(want));
            }
            for (size_t i = 0; i < z.nzeros; i++)
                assert_true(cabs(hand_response(h, x, u, y, z.zero[i])) <= 1e-7 * (1 + size));
            if (isfinite(z.dc))
                close_to(z.dc, creal(hand_response(h, x, u, y, 0)), 1e-9 * (1 + fabs(z.dc)), "gain at rest", u, y);
            zeros_poles_free(&z);
        }
}

/* The state order by hand need not be that here: which row is which. */
static void
check_by_hand(const struct by_hand *h, const linearization *l, const double *x, bool rests)
{
    size_t row[4], n = h->n;

    assert_int_equal(l->space.n, n);
    assert_null(l->structure.why);
    if (!(l->mismatch < 1e-13))
        fail_msg("the two ways differ by %g", l->mismatch);
    for (size_t i = 0; i < n; i++)
        row[i] = row_named(l, h->state[i]);
    for (int which = 0; which < 2; which++)
        for (size_t k = 0; k < (which ? h->nu : n); k++) {
            size_t column = which ? input_named(l, h->input[k]) : row[k];
            double d[8];

            complex_step(h, x, h->value, which, k, d);
            for (size_t i = 0; i < n; i++)
                close_to((which ? l->space.B : l->space.A)[row[i] + n * column], d[i], 1e-12 * (1 + fabs(d[i])),
                         which ? "B" : "A", i, k);
            for (size_t i = 0; i < h->ny; i++)
                close_to((which ? l->space.D : l->space.C)[i + h->ny * column], d[n + i], 1e-12 * (1 + fabs(d[n + i])),
                         which ? "D" : "C", i, k);
        }
    check_transfer(h, l, x);
    for (size_t q = 0; q < h->np; q++) {
        size_t p = 0;

        while (p < l->effect.nparameters && strcmp(l->effect.parameter[p], h->parameter[q]))
            p++;
        assert_true(p < l->effect.nparameters);
        for (size_t i = 0; i < n; i++)
            for (int total = 0; total < (rests ? 2 : 1); total++) {
                double off = 1e-5 * h->value[q];
                double complex got = (total ? l->effect.total : l->effect.at)[p * n + i];
                double complex slope =
                    (8 * (hand_eigenvalue(h, x, q, off, total, i) - hand_eigenvalue(h, x, q, -off, total, i)) -
                     (hand_eigenvalue(h, x, q, 2 * off, total, i) - hand_eigenvalue(h, x, q, -2 * off, total, i))) /
                    (12 * off);

                if (!(cabs(got - slope) <= 1e-7 * (cabs(slope) + 0.1)))
                    fail_msg("%s of %s on eigenvalue %zu: %.10g%+.10gi, by differences %.10g%+.10gi",
                             total ? "total effect" : "effect", h->parameter[q], i, creal(got), cimag(got),
                             creal(slope), cimag(slope));
            }
    }
}

static void
test_nonlinear(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        const struct by_hand *h = &models[k];
        compilation c = { 0 };
        linearization l;
        double x[4], rest[4];

        open_text(&c, h->text, NULL);
        assert_true(model_initial(c.model, 0, x));
        for (size_t i = 0; i < h->n; i++)
            for (size_t s = 0; s < h->n; s++)
                if (!strcmp(model_state(c.model, s).name, h->state[i]))
                    x[s] = h->x[i];
        if (!linearize_at(c.model, 0, x, &l))
            fail_msg("%s", l.why);
        assert_false(l.equilibrium);
        check_by_hand(h, &l, h->x, false);
        linearization_free(&l);
        /* and at rest */
        memcpy(rest, h->x, sizeof rest);
        hand_rest(h, h->value, rest);
        for (size_t i = 0; i < h->n; i++)
            for (size_t s = 0; s < h->n; s++)
                if (!strcmp(model_state(c.model, s).name, h->state[i]))
                    x[s] = rest[i];
        if (!linearize_at(c.model, 0, x, &l))
            fail_msg("%s", l.why);
        assert_true(l.equilibrium && l.effect.has_total);
        check_by_hand(h, &l, rest, true);
        linearization_free(&l);
        compile_free(&c);
    }
}

/* ---------------------------------------------------------------- expressions */

/* The entries' expressions against the numbers: at the point, and with another value of each parameter against the
 * linear model there. */
static void
check_expressions(compilation *c, const double *x)
{
    flat_model *f = c->flat;
    linearization l;
    structure s;
    double *v = calloc(f->var.n + 1, sizeof *v);
    size_t n = model_nstates(c->model), np;
    char **parameter;

    if (!linearize_at(c->model, 0, x, &l))
        fail_msg("%s", l.why);
    structure_make(c->model, 0, x, l.order, true, l.as_equations, false, &s);
    if (s.why)
        fail_msg("%s", s.why);
    assert_true(model_variables(c->model, 0, x, v));
    for (int k = 0; k < M_COUNT; k++) {
        const structure_block *text = &s.matrix[k], *number = &l.structure.matrix[k];

        assert_true(text->rows == number->rows && text->columns == number->columns);
        for (size_t i = 0; i < text->rows * text->columns; i++)
            close_to(ex_eval(f->pool, text->text[i], v), number->value[i], 1e-12 * (1 + fabs(number->value[i])),
                     structure_matrix_name(k), i % text->rows, i / text->rows);
    }
    np = l.effect.nparameters;
    parameter = calloc(np + 1, sizeof *parameter);
    for (size_t p = 0; p < np; p++)
        parameter[p] = strdup(l.effect.parameter[p]);
    for (size_t p = 0; p < np; p++) {
        double was = l.effect.value[p];
        linearization other;

        assert_true(model_set_parameter(c->model, parameter[p], 1.3 * was));
        assert_true(model_variables(c->model, 0, x, v));
        if (!linearize_at(c->model, 0, x, &other))
            fail_msg("%s", other.why);
        for (size_t i = 0; i < n * n; i++)
            close_to(ex_eval(f->pool, s.matrix[M_A].text[i], v), other.space.A[i], 1e-11 * (1 + fabs(other.space.A[i])),
                     parameter[p], i % n, i / n);
        linearization_free(&other);
        assert_true(model_set_parameter(c->model, parameter[p], was));
    }
    for (size_t p = 0; p < np; p++)
        free(parameter[p]);
    free(parameter);
    free(v);
    structure_free(&s);
    linearization_free(&l);
}

static void
test_expressions(void **state)
{
    static const char *const example[] = {
        "three_masses_effects", "two_masses_modes", "dampers_in_series", "two_oscillators_one_way", "lever",
        "motor_generator",      "macro_micro",      "two_capacitors",    "resistor_loops",          "wheatstone"
    };

    (void)state;
    for (size_t k = 0; k < sizeof example / sizeof *example; k++) {
        compilation c = { 0 };
        double *x;

        open_example(&c, example[k]);
        x = calloc(model_nstates(c.model) + 1, sizeof *x);
        assert_true(model_initial(c.model, 0, x));
        check_expressions(&c, x);
        free(x);
        compile_free(&c);
    }
    /* nonlinear: a field, a modulated transformer, dependent storage that moves and that rests */
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        for (int rests = 0; rests < 2; rests++) {
            const struct by_hand *h = &models[k];
            compilation c = { 0 };
            double x[4] = { 0 };

            open_text(&c, h->text, NULL);
            assert_true(model_initial(c.model, 0, x));
            for (size_t i = 0; i < h->n; i++)
                for (size_t s = 0; s < h->n; s++)
                    if (!strcmp(model_state(c.model, s).name, h->state[i]))
                        x[s] = rests && !strcmp(h->state[i], "rotor.p") ? 0 : h->x[i];
            check_expressions(&c, x);
            compile_free(&c);
        }
}

/* ---------------------------------------------------------------- ideal switches */

/* A against differences of the rates with the modes as they are: what switches determine is solved for anew in each of
 * these. */
static void
check_switched(const char *text)
{
    compilation c = { 0 };
    linearization l;
    events *e;
    size_t n;
    double *x, *up, *down, *moved;

    open_text(&c, text, NULL);
    n = model_nstates(c.model);
    x = calloc(n + 1, sizeof *x);
    up = calloc(n + 1, sizeof *up);
    down = calloc(n + 1, sizeof *down);
    moved = calloc(n + 1, sizeof *moved);
    assert_true(model_initial(c.model, 0, x));
    e = events_new(c.model, 0, 1); /* the modes that hold at the start */
    assert_true(events_start(e, 0, x) != EVENTS_FAILED);
    events_free(e);
    if (!linearize_at(c.model, 0, x, &l))
        fail_msg("%s", l.why);
    assert_true(l.switched && l.modes_known);
    for (size_t k = 0; k < n; k++) {
        double h = 1e-4 * (fabs(x[l.order[k]]) + 1e-3);

        memcpy(moved, x, n * sizeof *x);
        moved[l.order[k]] = x[l.order[k]] + h;
        assert_int_equal(model_rhs(c.model, 0, moved, up), 0);
        moved[l.order[k]] = x[l.order[k]] - h;
        assert_int_equal(model_rhs(c.model, 0, moved, down), 0);
        for (size_t i = 0; i < n; i++) {
            double slope = (up[l.order[i]] - down[l.order[i]]) / (2 * h);

            close_to(l.space.A[i + n * k], slope, 1e-6 * (fabs(slope) + 1), "A of a switched circuit", i, k);
        }
    }
    linearization_free(&l);
    compile_free(&c);
    free(x);
    free(up);
    free(down);
    free(moved);
}

static void
test_switched(void **state)
{
    (void)state;
    /* conducting and blocking, with a resistor whose slope depends on the state and one that is found by iteration */
    check_switched("model a { Se:s = 5 -> 1:a; a -> R:r { e = f + 0.3*f^3; } a -> Se:diode such that min(diode.f, "
                   "-diode.e); a -> 0:out; out -> C:C = 2 { q(0) = 1; }\n"
                   "out -> R:load { f = 0.2*e + 0.1*e^3; } output v = out.e; }\n");
    check_switched("model b { Se:s = -5 -> 1:a; a -> R:r = 1; a -> Se:diode such that min(diode.f, -diode.e); a -> "
                   "0:out; out -> C:C = 2 { q(0) = 1; }\n"
                   "out -> R:load { f = 0.2*e + 0.1*e^3; } output v = out.e; }\n");
    /* two ways for a coil's current */
    check_switched("model c { Se:s = 12 -> 1:a; a -> Sf:contact such that if time < 1 then contact.e else contact.f; a "
                   "-> 0:n; Se:diode such that min(diode.f, diode.e) -> n;\n"
                   "n -> 1:l -> I:L { f = 2*p + p^3; p(0) = 0.4; } l -> 0:out -> C:C = 0.5; out -> R:load = 2; output "
                   "i = l.f; }\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_three_masses), cmocka_unit_test(test_one_way),
                                        cmocka_unit_test(test_two_masses),   cmocka_unit_test(test_dampers_in_series),
                                        cmocka_unit_test(test_nonlinear),    cmocka_unit_test(test_expressions),
                                        cmocka_unit_test(test_switched) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
