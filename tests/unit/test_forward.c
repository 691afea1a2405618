/* test_forward.c - derivatives of outputs by parameters along runs, against central differences of whole runs and
 * against closed forms; back along them, against the same forward
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "adjoint.h"
#include "chosen.h"
#include "compile.h"
#include "forward.h"

enum { TIMES = 23 };

static bool
run(const char *text, const char *name, double value, const chosen *c, double *output, double *derivative)
{
    compilation m = { 0 };
    sim_options o = { 0 };
    double time[TIMES];
    forward f;
    bool fine;

    if (!compile_text(&m, "case.bg", text, strlen(text), STAGE_MODEL, &(compile_options){ .experiment = "e" })) {
        diag_print(m.sources, stderr, false, DIAG_ALL);
        return false;
    }
    if (name)
        assert_true(model_set_parameter(m.model, name, value));
    assert_true(sim_options_from_experiment(m.model, &o));
    o.rtol = 1e-11;
    for (int i = 0; i < TIMES; i++)
        time[i] = o.start + (o.stop - o.start) * i / (TIMES - 1);
    f = (forward){ .model = m.model,
                   .by = c ? c->by.at : NULL,
                   .n = c ? c->by.n : 0,
                   .time = time,
                   .ntimes = TIMES,
                   .output = output,
                   .derivative = derivative };
    fine = forward_run(&f, &o) && f.done == TIMES && f.lost == 0;
    if (f.lost)
        print_message("%zu lost\n", f.lost);
    if (!fine)
        diag_print(m.sources, stderr, false, DIAG_ALL);
    sim_options_free(&o);
    compile_free(&m);
    return fine;
}

/* At the end of the run, by everything that can be chosen: the adjoint's against the forward ones, 1e-8 of the greatest
 * by each. */
static void
against_adjoint(const char *text)
{
    compilation m = { 0 };
    sim_options o = { 0 };
    chosen c;
    char *why;
    forward f;
    adjoint a;
    size_t ny, nx, columns;
    uint32_t *output;

    assert_true(compile_text(&m, "case.bg", text, strlen(text), STAGE_MODEL, &(compile_options){ .experiment = "e" }));
    assert_true(sim_options_from_experiment(m.model, &o));
    assert_true(chosen_everything(m.model, NULL, !o.equilibrium, &c, &why));
    o.rtol = 1e-9;
    ny = model_noutputs(m.model);
    nx = model_nstates(m.model);
    f = (forward){ .model = m.model,
                   .by = c.by.at,
                   .n = c.by.n,
                   .initial = c.initial.at,
                   .ninitial = c.initial.n,
                   .jump = c.jump.at,
                   .njumps = c.jump.n,
                   .time = &o.stop,
                   .ntimes = 1 };
    columns = forward_columns(&f);
    f.output = calloc(ny, sizeof *f.output);
    f.derivative = calloc(ny * columns, sizeof *f.derivative);
    assert_true(forward_run(&f, &o));
    output = calloc(ny, sizeof *output);
    for (uint32_t k = 0; k < ny; k++)
        output[k] = k;
    a = (adjoint){ .model = m.model, .by = c.by.at, .n = c.by.n, .output = output, .noutputs = ny };
    a.value = calloc(ny, sizeof *a.value);
    a.gradient = calloc(ny * c.by.n + 1, sizeof *a.gradient);
    a.initial = calloc(ny * nx + 1, sizeof *a.initial);
    a.jump = calloc(ny * nx + 1, sizeof *a.jump);
    assert_true(adjoint_run(&a, &o));
    for (size_t k = 0; k < ny; k++) {
        assert_true(a.value[k] == f.output[k]);
        for (size_t q = 0; q < columns; q++) {
            size_t i = q - c.by.n, j = i - c.initial.n;
            double ahead = f.derivative[k * columns + q], size = 0,
                   back = q < c.by.n        ? a.gradient[k * c.by.n + q]
                          : i < c.initial.n ? a.initial[k * nx + c.initial.at[i]]
                                            : a.jump[k * nx + c.jump.at[j]];

            for (size_t l = 0; l < ny; l++)
                size = fmax(size, fabs(f.derivative[l * columns + q]));
            if (!(fabs(ahead - back) <= 1e-8 * size + 1e-10))
                fail_msg("output %zu, column %zu: forward %.12g, adjoint %.12g", k, q, ahead, back);
        }
    }
    free(f.output);
    free(f.derivative);
    free(output);
    free(a.value);
    free(a.gradient);
    free(a.initial);
    free(a.jump);
    sim_options_free(&o);
    chosen_free(&c);
    compile_free(&m);
}

/* Every derivative by every parameter within rel of central differences of so great a part of the parameter, in parts
 * of its greatest size. */
static void
against_differences(const char *text, double part, double rel)
{
    compilation m = { 0 };
    double *y, *dy, *high, *low;
    size_t n, ny;
    chosen c;
    char *why;

    against_adjoint(text);
    assert_true(compile_text(&m, "case.bg", text, strlen(text), STAGE_MODEL, &(compile_options){ .experiment = "e" }));
    assert_true(chosen_parameters(m.model, NULL, &c, &why));
    n = c.by.n;
    ny = model_noutputs(m.model);
    y = calloc(TIMES * ny, sizeof *y);
    high = calloc(TIMES * ny, sizeof *y);
    low = calloc(TIMES * ny, sizeof *y);
    dy = calloc(TIMES * ny * n, sizeof *dy);
    assert_true(run(text, NULL, 0, &c, y, dy));
    for (size_t q = 0; q < n; q++) {
        double at = model_parameter_value(m.model, c.by.at[q]), e = part * fabs(at);

        assert_true(run(text, c.name.at[q], at + e, NULL, high, NULL));
        assert_true(run(text, c.name.at[q], at - e, NULL, low, NULL));
        for (size_t k = 0; k < ny; k++) {
            double size = 0, most = 0;

            for (size_t i = 0; i < TIMES; i++) {
                most = fmax(most, fabs(y[i * ny + k]));
                size = fmax(size, fabs(high[i * ny + k] - low[i * ny + k]) / (2 * e));
            }
            for (size_t i = 0; i < TIMES; i++) {
                double slope = (high[i * ny + k] - low[i * ny + k]) / (2 * e), exact = dy[(i * ny + k) * n + q];

                if (!(fabs(exact - slope) <= rel * size + 1e-10 * most / e))
                    fail_msg("%s, output %zu, point %zu: %.10g, by differences %.10g (size %.3g)", c.name.at[q], k, i,
                             exact, slope, size);
            }
        }
    }
    free(y);
    free(dy);
    free(high);
    free(low);
    chosen_free(&c);
    compile_free(&m);
}

/* A hardening spring, an algebraic loop of dampers, a dependent mass, a computed parameter, an initial value that is a
 * parameter. */
static void
test_smooth(void **state)
{
    (void)state;
    against_differences(
        "model all { parameter m = 2; parameter n = 0.7; parameter k0 = 50; parameter k = 2*k0 + k0*n; parameter b = "
        "3; parameter c = 0.4;\n"
        "parameter q0 = 0.2; parameter F = 5; parameter w = 3;\n"
        "1:v -> I:mass = m; v -> C:spring { e = k*q + 100*q^3; q(0) = q0; } Se:force = F*sin(w*time) -> v;\n"
        "v -> 0:s; s -> 1:d1 -> R:damper1 = b; d1 -> 0:t; t -> R:leak { f = c*e + 0.1*e^3; } t -> 1:d2 -> R:damper2 = "
        "2*b;\n"
        "v -> TF:lever = n -> 1:u; u -> I:tip = 0.5*m;\n"
        "output x = spring.q; output y = leak.e + n*mass.f; }\n"
        "experiment e of all { stop = 2; }\n",
        1e-5, 1e-6);
}

/* Stiff: a fast mode of 1e5/s beside a slow one; the integrator takes BDF. */
static void
test_stiff(void **state)
{
    (void)state;
    against_differences(
        "model all { parameter R = 1; parameter C = 1; parameter r = 1e-3; parameter c = 1e-2; parameter U = 2;\n"
        "Se:u = U -> 1:i; i -> R:big = R; i -> 0:a; a -> C:slow = C; a -> 1:j; j -> R:small = r; j -> C:fast = c;\n"
        "output ua = slow.e; output uf = fast.e; output i = i.f; }\n"
        "experiment e of all { stop = 3; }\n",
        3e-4, 1e-6);
}

/* A step at a time that is a parameter, a stop that acts beyond a gap, a ball that bounces: times of switchings move.
 */
static void
test_switching(void **state)
{
    (void)state;
    against_differences(
        "model all { parameter m = 1; parameter k = 30; parameter t0 = 0.33; parameter F = 4; parameter gap = 0.1; "
        "parameter ks = 200;\n"
        "parameter b = 0.8;\n"
        "1:v -> I:mass = m; v -> C:spring = 1/k; v -> R:damper = b; Se:force = if time > t0 then F else 0 -> v;\n"
        "v -> C:stop { e = if q > gap then ks*(q - gap) else 0; }\n"
        "output x = spring.q; output f = mass.f; }\n"
        "experiment e of all { stop = 2; }\n",
        1e-5, 1e-6);
    against_differences("model ball { parameter m = 0.5; parameter g = 9.81; parameter h0 = 1; parameter r = 0.8;\n"
                        "1:v -> I:mass { f = p/m; p(0) = 0; } Se:weight = -m*g -> v; signal h = integral(v.f, h0);\n"
                        "when h < 0 and v.f < 0 { reinit mass.p = -r*mass.p; }\n"
                        "output height = h; output speed = v.f; }\n"
                        "experiment e of ball { stop = 1.3; }\n",
                        1e-5, 1e-6);
}

/* From equilibrium: it moves with the parameters. */
static void
test_equilibrium(void **state)
{
    (void)state;
    against_differences(
        "model all { parameter m = 3; parameter k = 200; parameter k3 = 4000; parameter g = 9.81; parameter b = 5; "
        "parameter F = 7;\n"
        "1:v -> I:mass = m; v -> C:spring { e = k*q + k3*q^3; } v -> R:damper = b; Se:weight = m*g -> v;\n"
        "Se:push = if time > 0.5 then F else 0 -> v; output x = spring.q; output way = integral(v.f); }\n"
        "experiment e of all { stop = 2; start from equilibrium; }\n",
        1e-5, 1e-6);
}

/* Three tanks and a closed pipe: what they hold together is conserved, so the equilibrium is that of the total. */
static void
test_equilibrium_of_totals(void **state)
{
    (void)state;
    against_differences(
        "model all { parameter a = 2; parameter b = 3; parameter q0 = 4; parameter R = 2; parameter F = 1;\n"
        "0:x -> C:A = a { q(0) = q0; } x -> 1:p; p -> R:pipe = R; p -> 0:y; y -> C:B = b { q(0) = 1.5; }\n"
        "y -> 1:s; s -> R:valve = 2*R; s -> 0:z; z -> C:D { e = q + 0.3*q^3; q(0) = 0.2; }\n"
        "Se:lift = F -> p; output ea = A.e; output qd = D.q; output total = A.q + B.q + D.q; }\n"
        "experiment e of all { stop = 2; start from equilibrium; }\n",
        1e-5, 1e-6);
}

/* A sampled PI controller with a filtered derivative, its period and offset being parameters; the measurement is
 * sampled by another clock; a rate limit switches. */
static void
test_samples(void **state)
{
    (void)state;
    against_differences(
        "model all { parameter T = 0.0931; parameter kp = 2; parameter ki = 1.5; parameter kd = 0.1; parameter R = 1; "
        "parameter L = 0.7; parameter r = 1.2; parameter i0 = 0.3; parameter T2 = 0.0413; parameter off = 0.017;\n"
        "signal u = 0; signal I = 0; signal y = 0; MSe:drive = u -> 1:l; l -> R:R = R; l -> I:L = L { f(0) = i0; }\n"
        "every T2 offset off { y = 0.6*previous(y) + 0.4*l.f; }\n"
        "every T { I = I + ki*T*(r - y); u = kp*(r - y) + I + kd*((r - y) - previous(r - y))/T; }\n"
        "output i = l.f; output q = integral(l.f^2); }\n"
        "experiment e of all { stop = 1.9; }\n",
        1e-6, 1e-6);
}

/* The variational integrator: its derivatives are those of what it computes, however long its steps. */
static void
test_equal_steps(void **state)
{
    (void)state;
    against_differences(
        "model all { parameter m = 2; parameter M = 3; parameter k = 50; parameter k3 = 400; parameter b = 1; "
        "parameter "
        "c = 0.4; parameter p0 = 0.3; parameter F = 5; parameter w = 3; parameter n = 0.7;\n"
        "1:a -> I:ma = m { p(0) = p0; } 1:v -> I:mb = M; a -> 0:s -> v; s -> 1:d; d -> C:spring { e = k*q + k3*q^3; "
        "q(0) = 0.2; } d -> R:damper { e = b*f + c*f^3; }\n"
        "Se:force = F*sin(w*time) -> v; v -> TF:lever = n -> 1:u; u -> I:tip = 0.5*m; u -> C:ground = 1/k;\n"
        "output x = spring.q; output y = ground.q + spring.e; output z = ma.p; }\n"
        "experiment e of all { stop = 2.2; solver = variational; max_step = 0.05; }\n",
        1e-5, 1e-8);
}

/* q = q0 exp(-t/(RC)): dq/dR = q t/(R^2 C). */
static void
test_closed_form(void **state)
{
    const char *text = "model rc { parameter R = 2; parameter C = 0.5; parameter q0 = 3; 1:i -> C:c { e = q/C; q(0) = "
                       "q0; } i -> R:r = R; output q = c.q; }\n"
                       "experiment e of rc { stop = 2; }\n";
    double y[TIMES], dy[TIMES * 3];
    compilation m = { 0 };
    chosen c;
    char *why;

    (void)state;
    assert_true(compile_text(&m, "case.bg", text, strlen(text), STAGE_MODEL, &(compile_options){ .experiment = "e" }));
    assert_true(chosen_parameters(m.model, "R,C,q0", &c, &why));
    assert_true(run(text, NULL, 0, &c, y, dy));
    for (int i = 0; i < TIMES; i++) {
        double t = 2.0 * i / (TIMES - 1), q = 3 * exp(-t);

        assert_true(fabs(y[i] - q) < 1e-9);
        assert_true(fabs(dy[3 * i] - q * t / 2) < 1e-9);
        assert_true(fabs(dy[3 * i + 1] - q * t / 0.5) < 1e-9);
        assert_true(fabs(dy[3 * i + 2] - q / 3) < 1e-9);
    }
    chosen_free(&c);
    assert_false(chosen_parameters(m.model, "R,CC", &c, &why));
    assert_non_null(strstr(why, "CC"));
    free(why);
    chosen_free(&c);
    compile_free(&m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_closed_form),
                                        cmocka_unit_test(test_smooth),
                                        cmocka_unit_test(test_stiff),
                                        cmocka_unit_test(test_switching),
                                        cmocka_unit_test(test_equilibrium),
                                        cmocka_unit_test(test_samples),
                                        cmocka_unit_test(test_equilibrium_of_totals),
                                        cmocka_unit_test(test_equal_steps) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
