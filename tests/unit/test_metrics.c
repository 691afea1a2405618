/* test_metrics.c - samples of powers in windows, the Karhunen-Loeve expansion, relative energy, decisions */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "kl.h"
#include "metrics.h"

/* a spring that swings: q = cos 2t */
static const char swing[] = "model swing { 1:v -> I:mass = 1 [kg]; v -> C:spring { e = 4 [N/m]*q; } }\n"
                            "experiment e of swing { stop = 4 [s]; rtol = 1e-11; let spring.q(0) = 1 [m]; window 0.5 "
                            "[s] .. 1 [s]; window 2 [s] .. 3 [s]; }\n";

/* e f of the spring: 4 cos 2t times -2 sin 2t */
static double
expected_power(double t)
{
    return -4 * sin(4 * t);
}
static double
expected_energy(double from, double to)
{
    return cos(4 * to) - cos(4 * from);
}

static double
random_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

struct seen {
    size_t n, element;
    double before;
};

static void
look(void *ctx, const activity_sample *s)
{
    struct seen *w = ctx;
    double from = s->window == 0 ? 0.5 : 2, to = s->window == 0 ? 1 : 3;
    size_t k = s->window == 0 ? w->n : w->n - 11, count = s->window == 0 ? 11 : 21;

    assert_int_equal(s->index, w->n);
    assert_int_equal(s->first, w->n == 0 || w->n == 11);
    assert_float_equal(s->t, from + (to - from) * (double)k / (double)(count - 1), 1e-12);
    assert_float_equal(s->value[w->element], expected_power(s->t), 1e-7);
    assert_float_equal(s->energy[w->element], (s->window ? expected_energy(0.5, 1) : 0) + expected_energy(from, s->t),
                       1e-8);
    w->n++;
}

static void
samples_are_shared_among_windows(void **unused)
{
    compilation c = { 0 };
    sim_options o = { 0 };
    sim_result r = { 0 };
    struct seen w = { 0 };
    activity_sampler sampler = { 31, look, &w };

    (void)unused;
    assert_true(
        compile_text(&c, "swing.bg", swing, strlen(swing), STAGE_MODEL, &(compile_options){ .experiment = "e" }));
    assert_true(sim_options_from_experiment(c.model, &o));
    o.activity = true;
    o.sampler = &sampler;
    o.nsamplers = 1;
    while (strcmp(c.flat->element.at[w.element].name, "spring"))
        w.element++;
    assert_true(simulate(c.model, &o, &r));
    assert_int_equal(w.n, 32);
    assert_float_equal(r.net[w.element], expected_energy(0.5, 1) + expected_energy(2, 3), 1e-9);
    sim_options_free(&o);
    sim_result_free(&r);
    compile_free(&c);
}

static void
expansion_of_two_columns(void **unused)
{
    /* S'S = [9 6; 6 20] */
    double s[] = { 3, 0, 0, 2, 4, 0 }, w[2], half = sqrt(5.5 * 5.5 + 36), big = 14.5 + half, small = 14.5 - half;
    double angle = atan2(big - 9, 6), i0 = big * fabs(cos(angle)) + small * fabs(sin(angle)),
           i1 = big * fabs(sin(angle)) + small * fabs(cos(angle));

    (void)unused;
    assert_true(kl_importance(s, 3, 2, false, w));
    assert_float_equal(w[0], i0 / (i0 + i1), 1e-14);
    assert_float_equal(w[1], i1 / (i0 + i1), 1e-14);
}

static void
expansion_of_odd_shapes(void **unused)
{
    double wide[] = { 2, -1, 0.5, 1e-3 }, w[4], zero[6] = { 0 }, bad[] = { 1, INFINITY, 2, 3 },
           huge[] = { 3e200, 0, 0, 4e200 };

    (void)unused;
    assert_true(kl_importance(wide, 1, 4, false, w)); /* one sample: in the ratio of the values */
    for (int i = 0; i < 4; i++)
        assert_float_equal(w[i], fabs((double[]){ 2, -1, 0.5, 1e-3 }[i]) / 3.501, 1e-14);
    assert_true(kl_importance(zero, 3, 2, true, w));
    assert_true(w[0] == 0 && w[1] == 0);
    assert_false(kl_importance(bad, 2, 2, false, w));
    assert_true(kl_importance(huge, 2, 2, false, w));
    assert_float_equal(w[0], 9.0 / 25, 1e-14);
    double scaled[] = { 1, 2, 3, 10, 20, 30 };
    assert_true(kl_importance(scaled, 3, 2, true, w));
    assert_float_equal(w[0], 0.5, 1e-14);
}

/* Random trajectories against the definition applied to all of them at once. */
static void
relative_energy_keeps_what_counts(void **unused)
{
    enum { SAMPLES = 400 };
    compilation c = { 0 };
    relative r;
    uint64_t state = 1;

    (void)unused;
    assert_true(
        compile_text(&c, "swing.bg", swing, strlen(swing), STAGE_MODEL, &(compile_options){ .experiment = "e" }));
    size_t n = model_nbond_values(c.model), states = c.flat->port.n + c.flat->bond.n;
    double(*value)[SAMPLES] = calloc(n, sizeof *value), (*energy)[SAMPLES] = calloc(n, sizeof *energy);

    for (int round = 0; round < 20; round++) {
        relative_begin(c.model, &r);
        for (size_t k = 0; k < SAMPLES; k++) {
            double v[16], e[16];

            assert_true(n <= 16);
            for (size_t i = 0; i < n; i++) {
                v[i] = value[i][k] = 2 * random_number(&state) - 1;
                /* coarse, so that equal energies happen */
                e[i] = energy[i][k] = k == 0 ? 0 : floor(40 * random_number(&state)) / 8;
            }
            relative_take(&r, k == 0, v, e);
        }
        relative_end(&r);
        for (size_t i = 0; i < r.row.n; i++) {
            const relative_row *row = &r.row.at[i];
            double start = model_stored_energy(c.model, row->port, value[states + 2 * i][0],
                                               value[states + 2 * i + 1][0]),
                   top = 0, stored = 0;

            for (size_t k = 0; k < SAMPLES; k++) {
                top = fmax(top, start + energy[row->port][k]);
                stored = fmax(stored, fabs(value[states + 2 * i][k]));
            }
            for (size_t b = row->first; b < row->first + row->n; b++) {
                const relative_neighbour *x = &r.neighbour.at[b];
                size_t ch = x->is_bond ? c.flat->port.n + x->index : x->index;
                double most = 0;

                for (size_t k = 0; k < SAMPLES; k++)
                    if (start + energy[row->port][k] >= RELATIVE_GUARD * top)
                        most = fmax(most, fabs(energy[ch][k] / value[states + 2 * i + 1][k]));
                assert_float_equal(x->ratio10, most / stored, 1e-9 * most / stored);
            }
        }
        relative_free(&r);
    }
    free(value);
    free(energy);
    compile_free(&c);
}

static void
stored_energies(void **unused)
{
    static const char text[] =
        "model m { 1:v -> I:linear = 3; v -> C:cubic { e = 2*q + 4*q^3; } v -> C:inverse { q = e + e^3; }\n"
        "  v -> C:timed { e = q*(1 + time); } }\n"
        "experiment e of m { stop = 1 [s]; }\n";
    compilation c = { 0 };

    (void)unused;
    assert_true(compile_text(&c, "m.bg", text, sizeof text - 1, STAGE_MODEL, &(compile_options){ .experiment = "e" }));
    for (uint32_t p = 0; p < c.flat->port.n; p++) {
        const char *name = c.flat->element.at[c.flat->port.at[p].element].name;

        if (!strcmp(name, "linear"))
            assert_float_equal(model_stored_energy(c.model, p, 6, 2), 6, 1e-12);
        else if (!strcmp(name, "cubic"))
            assert_float_equal(model_stored_energy(c.model, p, -2, -36), 4 + 16, 1e-12);
        else if (!strcmp(name, "inverse")) /* e q - (e^2/2 + e^4/4) at e = 2, q = 10 */
            assert_float_equal(model_stored_energy(c.model, p, 10, 2), 20 - 6, 1e-12);
        else if (!strcmp(name, "timed"))
            assert_true(isnan(model_stored_energy(c.model, p, 1, 1)));
    }
    compile_free(&c);
}

/* A law that switches bends as its condition says now: 4 where it is stretched, 9 where it is pressed. */
static void
energy_bends(void **unused)
{
    static const char text[] =
        "model m { 1:v -> I:mass = 3; v -> C:stop { e = if q > 0 then 4*q else 9*q; q(0) = 2; } }\n"
        "experiment e of m { stop = 1 [s]; }\n";
    compilation c = { 0 };
    double x[2], bend[2] = { 4, 9 };
    size_t stop;

    (void)unused;
    assert_true(compile_text(&c, "m.bg", text, sizeof text - 1, STAGE_MODEL, &(compile_options){ .experiment = "e" }));
    assert_true(model_initial(c.model, 0, x));
    assert_int_equal(model_nmodes(c.model), 1);
    stop = strcmp(model_state(c.model, 0).name, "stop.q") ? 1 : 0;
    for (int k = 0; k < 2; k++) {
        double g;

        x[stop] = k == 0 ? 2 : -2;
        assert_int_equal(model_conditions(c.model, 0, x, &g), 0);
        model_modes(c.model)[0] = g < 0;
        assert_float_equal(model_energy_curvature(c.model, stop, x), bend[k], 1e-6);
    }
    compile_free(&c);
}

static ranking
make(const double *index, const bool *source, const bool *keep, size_t n)
{
    static const char *const name[] = { "a", "b", "c", "d" };
    ranking r = { .metric = METRIC_ACTIVITY };

    for (uint32_t i = 0; i < n; i++)
        vec_push(&r.row, ((metric_row){ .element = i,
                                        .name = name[i],
                                        .type = "R",
                                        .value = index[i],
                                        .index = index[i],
                                        .source = source[i],
                                        .keep = keep[i] }));
    return r;
}

static void
decisions(void **unused)
{
    const bool none[4] = { false }, source[4] = { true }, keep[4] = { false, false, false, true };
    ranking r = make((const double[]){ 100, 90, 9, 1 }, source, none, 4);

    (void)unused;
    ranking_decide(&r, 0.99); /* 1 of 100 may go, the source does not count */
    assert_int_equal(r.row.at[0].decision, DECISION_SOURCE);
    assert_int_equal(r.row.at[2].decision, DECISION_STAYS);
    assert_int_equal(r.row.at[3].decision, DECISION_GOES);
    ranking_decide(&r, 1);
    assert_int_equal(r.row.at[3].decision, DECISION_STAYS);
    ranking_free(&r);
    r = make((const double[]){ 100, 90, 9, 1 }, source, keep, 4);
    ranking_decide(&r, 0.89);
    assert_int_equal(r.row.at[2].decision, DECISION_GOES);
    assert_int_equal(r.row.at[3].decision, DECISION_KEPT);
    ranking_free(&r);
}

static void
experiments_together(void **unused)
{
    const bool none[4] = { false };
    ranking one[2] = { make((const double[]){ 0.6, 0.3, 0.1 }, none, none, 3),
                       make((const double[]){ 0.1, 0.2, 0.3, 0.4 }, none, none, 4) },
            all;

    (void)unused;
    ranking_combine(one, 2, &all);
    assert_int_equal(all.row.n, 4);
    assert_string_equal(all.row.at[0].name, "a");
    assert_string_equal(all.row.at[1].name, "d");
    assert_float_equal(all.row.at[0].value, 0.6, 0);
    assert_float_equal(all.total, 1.6, 1e-15);
    assert_ptr_equal(all.per.at[0], &one[0].row.at[0]);
    assert_null(all.per.at[2]); /* d is not in the first */
    assert_ptr_equal(all.per.at[3], &one[1].row.at[3]);
    ranking_free(&all);
    ranking_free(&one[0]);
    ranking_free(&one[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(samples_are_shared_among_windows),
                                        cmocka_unit_test(expansion_of_two_columns),
                                        cmocka_unit_test(expansion_of_odd_shapes),
                                        cmocka_unit_test(relative_energy_keeps_what_counts),
                                        cmocka_unit_test(stored_energies),
                                        cmocka_unit_test(energy_bends),
                                        cmocka_unit_test(decisions),
                                        cmocka_unit_test(experiments_together) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
