/* test_instances.c - instances of one image, in threads of their own, give what models compiled by themselves give, bit
 * for bit: the parts of the image are made by whichever thread needs them first
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "compiled.h"

enum { THREADS = 4, POINTS = 40, MOST = 400000 };

/* Everything that was evaluated, in order. */
typedef VEC(double) record;

static void
note(record *r, const double *v, size_t n)
{
    for (size_t i = 0; i < n && r->n < MOST; i++)
        vec_push(r, v[i]);
}

/* All evaluations at points near the initial states, with the first parameters moved on the way. round: by how much */
static void
evaluate_all(bg_model *m, int round, record *out)
{
    size_t nx = model_nstates(m), ny = model_noutputs(m), ne = model_nelements(m), nm = model_nmodes(m),
           nz = model_jacobian_pattern(m).nonzeros, nb = model_nbond_values(m), most = nx + ny + ne + nm + nz + nb + 1;
    double *x = bg_calloc(nx + 1, sizeof *x), *v = bg_calloc(most, sizeof *v);
    struct model_pattern p;
    const flat_model *f = model_flat(m);
    var_id by[3];
    size_t nby = 0;
    partials *d;

    for (uint32_t i = 0; i < f->var.n && nby < 3; i++)
        if (f->var.at[i].kind == VAR_PARAM)
            by[nby++] = i;
    for (size_t k = 0; k < nby; k++)
        model_set(m, by[k], model_parameter_value(m, by[k]) * (1 + 0.01 * round));
    vec_push(out, model_initial(m, 0, x));
    d = model_partials(m, by, nby, ny);
    p = model_partials_pattern(d);
    for (int k = 0; k < POINTS; k++) {
        double t = 0.01 * k, *w = bg_calloc(p.nonzeros + 1, sizeof *w);

        for (size_t i = 0; i < nx; i++)
            x[i] += 1e-4 * sin(3.0 * k + (double)i);
        vec_push(out, model_rhs(m, t, x, v));
        note(out, v, nx);
        vec_push(out, model_outputs(m, t, x, v));
        note(out, v, ny);
        vec_push(out, model_powers(m, t, x, v));
        note(out, v, ne);
        vec_push(out, model_conditions(m, t, x, v));
        note(out, v, nm);
        vec_push(out, model_jacobian(m, t, x, v));
        note(out, v, nz);
        vec_push(out, model_bond_values(m, t, x, v));
        note(out, v, nb);
        vec_push(out, model_partials_at(m, d, t, x, w));
        note(out, w, p.nonzeros);
        free(w);
        if (k == POINTS / 2 && nby)
            model_set(m, by[0], model_parameter_value(m, by[0]) * 1.1);
        model_accept(m, t, x);
    }
    for (size_t k = 0; k < nm; k++) {
        struct model_mode q = model_mode(m, k);

        vec_push(out, q.known ? q.slope : 0);
        vec_push(out, q.known ? q.offset : 0);
    }
    free(x);
    free(v);
}

struct job {
    bg_model *m;
    int round;
    record got;
};

static void *
work(void *arg)
{
    struct job *j = arg;

    evaluate_all(j->m, j->round, &j->got);
    return NULL;
}

static void
load(compilation *c, const char *path, const char *experiment)
{
    compile_options o = { .experiment = experiment };

    if (!compile_path(c, path, STAGE_MODEL, &o)) {
        diag_print(c->sources, stderr, false, DIAG_ERRORS);
        fail_msg("%s does not compile", path);
    }
}

static void
check_file(const char *name, const char *experiment)
{
    char *path = bg_format("%s/%s", BG_EXAMPLES, name);
    compilation shared = { 0 };
    struct job job[THREADS] = { 0 };
    pthread_t thread[THREADS];

    load(&shared, path, experiment);
    for (int k = 0; k < THREADS; k++)
        job[k] = (struct job){ .m = model_another(shared.model), .round = k % 3 };
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, work, &job[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) {
        compilation alone = { 0 };
        record expected = { 0 };

        load(&alone, path, experiment);
        evaluate_all(alone.model, job[k].round, &expected);
        assert_true(expected.n > POINTS);
        assert_int_equal(expected.n, job[k].got.n);
        for (size_t i = 0; i < expected.n; i++)
            if (memcmp(&expected.at[i], &job[k].got.at[i], sizeof(double)))
                fail_msg("%s, instance %d: number %zu is %.17g, not %.17g", name, k, i, job[k].got.at[i],
                         expected.at[i]);
        model_free(job[k].m);
        vec_free(&job[k].got);
        vec_free(&expected);
        compile_free(&alone);
    }
    compile_free(&shared);
    free(path);
}

static void
instances_in_threads(void **state)
{
    (void)state;
    check_file("quarter_car.bg", "smooth_curb");
    check_file("damped_chain.bg", "push");
    check_file("../tests/run/diode_rectifier.bg", "x");
    check_file("../tests/run/double_pendulum.bg", "kick");
    check_file("../tests/run/stick_slip.bg", "run");
    check_file("../tests/run/table2d.bg", "cases");
    check_file("../tests/run/massless_network.bg", "push");
    check_file("../tests/run/pendulum_constraint.bg", "large");
    check_file("../tests/run/switchings_by_time.bg", "charge");
}

/* Long enough for the code to be exchanged, by whichever instance comes there first. */
static void *
work_long(void *arg)
{
    enum { TIMES = 400000 };
    struct job *j = arg;
    size_t nx = model_nstates(j->m);
    double *x = bg_calloc(nx + 1, sizeof *x), *dx = bg_calloc(nx + 1, sizeof *dx);

    model_initial(j->m, 0, x);
    for (int k = 0; k < TIMES; k++) {
        model_rhs(j->m, 1e-6 * k, x, dx);
        for (size_t i = 0; i < nx; i++)
            x[i] += 1e-6 * dx[i];
    }
    note(&j->got, x, nx);
    free(x);
    free(dx);
    return NULL;
}

static void
code_exchanged_while_it_runs(void **state)
{
    char *path = bg_format("%s/damped_chain.bg", BG_EXAMPLES);
    compilation c = { 0 };
    struct job job[2] = { 0 }, after = { 0 };
    pthread_t thread[2];

    (void)state;
    load(&c, path, "push");
    for (int k = 0; k < 2; k++) {
        job[k].m = model_another(c.model);
        assert_int_equal(pthread_create(&thread[k], NULL, work_long, &job[k]), 0);
    }
    for (int k = 0; k < 2; k++)
        pthread_join(thread[k], NULL);
    after.m = model_another(c.model); /* runs the better code from the start */
    work_long(&after);
    assert_true(after.got.n > 0);
    for (int k = 0; k < 2; k++) {
        assert_memory_equal(job[k].got.at, after.got.at, after.got.n * sizeof(double));
        model_free(job[k].m);
        vec_free(&job[k].got);
    }
    model_free(after.m);
    vec_free(&after.got);
    compile_free(&c);
    free(path);
}

/* The parameters are those that the first has when the other is made, and each moves its own. */
static void
parameters_are_taken_over(void **state)
{
    static const char text[] =
        "model one { parameter k = 2; parameter twice = 2*k; 1:v -> I:m = 1; v -> C:s = 1/twice; "
        "output y = twice; }\nexperiment e of one { stop = 1; }\n";
    compilation c = { 0 };
    compile_options o = { .experiment = "e" };
    double x[2] = { 0, 0 }, y;
    bg_model *b;

    (void)state;
    assert_true(compile_text(&c, "one.bg", text, sizeof text - 1, STAGE_MODEL, &o));
    model_set_parameter(c.model, "k", 3);
    b = model_another(c.model);
    assert_int_equal(model_outputs(b, 0, x, &y), 0);
    assert_true(y == 6);
    model_set_parameter(b, "k", 5);
    assert_int_equal(model_outputs(b, 0, x, &y), 0);
    assert_true(y == 10);
    assert_int_equal(model_outputs(c.model, 0, x, &y), 0);
    assert_true(y == 6);
    model_free(b);
    compile_free(&c);
}

static size_t
element_of(const compilation *c, const char *name)
{
    for (uint32_t i = 0; i < c->flat->element.n; i++)
        if (!strcmp(c->flat->element.at[i].name, name))
            return i;
    return SIZE_MAX;
}

static uint32_t
state_of(const bg_model *m, const char *name)
{
    for (uint32_t i = 0; i < model_nstates(m); i++)
        if (!strcmp(model_state(m, i).name, name))
            return i;
    return UINT32_MAX;
}

/* Two masses, a spring and a damper between them, drag on the first: what is taken out is not there in this instance,
 * and there in the others. By hand: dp1 = -F - D, dp2 = F, dq = v1 - v2, F = q/C + b (v1 - v2), D = d v1. */
static void
elements_taken_out(void **state)
{
    static const char text[] = "model two { 1:v1 -> I:m1 = 2; 1:v2 -> I:m2 = 4; 0:s; v1 -> s; s -> v2; s -> 1:w; "
                               "w -> C:spring = 1/8; w -> R:damper = 3; v1 -> R:drag = 0.5; output y = v2.f; }\n"
                               "experiment e of two { stop = 1; }\n";
    static const struct {
        const char *name;
        bool rests;
        double dp1, dp2, dq; /* at p1 = 6, p2 = 4, q = 0.25: v1 = 3, v2 = 1 */
    } without[] = { { NULL, false, -9.5, 8, 2 }, { "spring", false, -7.5, 6, 0 }, { "damper", false, -3.5, 2, 2 },
                    { "drag", false, -8, 8, 2 }, { "m1", true, 0, -1, -1 }, /* v1 is 0: F = 2 - 3; its momentum stays */
                    { "m2", true, -12.5, 0, 3 } };
    compilation c = { 0 };
    compile_options o = { .experiment = "e", .removable = true };

    (void)state;
    assert_true(compile_text(&c, "two.bg", text, sizeof text - 1, STAGE_MODEL, &o));
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        bg_model *m = model_another(c.model);
        uint32_t p1 = state_of(m, "m1.p"), p2 = state_of(m, "m2.p"), q = state_of(m, "spring.q");
        double x[3], dx[3];

        x[p1] = 6;
        x[p2] = 4;
        x[q] = 0.25;
        if (without[i].name) {
            size_t e = element_of(&c, without[i].name);

            assert_false(model_take_out(m, e, !without[i].rests));
            assert_true(model_take_out(m, e, without[i].rests));
        }
        assert_int_equal(model_rhs(m, 0, x, dx), 0);
        assert_float_equal(dx[p1], without[i].dp1, 1e-12);
        assert_float_equal(dx[p2], without[i].dp2, 1e-12);
        assert_float_equal(dx[q], without[i].dq, 1e-12);
        model_free(m);
    }
    compile_free(&c);
}

/* Chunks and schedule entries of a row of so many masses, each braked by a block of its own. */
static void
count_code(int n, unsigned *chunks, unsigned *entries)
{
    compilation c = { 0 };
    char text[500], *said;
    double *dx, *x;

    snprintf(text, sizeof text,
             "model row {\n constant n = %d;\n 1:v[n];\n 0:s[n];\n for i in 1..n {\n v[i] -> I:m[i] = i;\n v[i] -> "
             "s[i];\n s[i] -> R:a[i] { e = i*f + f^3; }\n s[i] -> R:b[i] { e = 2*f + f^3; }\n }\n output y = v[1].f;\n"
             "}\nexperiment x of row { stop = 1; }\n",
             n);
    assert_true(compile_text(&c, "row.bg", text, strlen(text), STAGE_MODEL, &(compile_options){ .experiment = "x" }));
    x = bg_calloc((size_t)n, sizeof *x);
    dx = bg_calloc((size_t)n, sizeof *dx);
    assert_int_equal(model_rhs(c.model, 0, x, dx), 0);
    said = model_statistics(c.model);
    assert_int_equal(sscanf(strstr(said, "kernels, "), "kernels, %u chunks, %u", chunks, entries), 2);
    free(said);
    free(x);
    free(dx);
    compile_free(&c);
}

/* Blocks of equal form have one code and are one run of the schedule, however many there are. */
static void
equal_blocks_are_a_loop(void **state)
{
    unsigned chunks[2], entries[2];

    (void)state;
    count_code(100, &chunks[0], &entries[0]);
    count_code(1000, &chunks[1], &entries[1]);
    assert_int_equal(chunks[0], chunks[1]);
    assert_int_equal(entries[0], entries[1]);
    assert_true(chunks[1] < 30 && entries[1] < 30);
}

static void *
speak(void *of)
{
    diag_warn(of, "said", SPAN_NONE, "by another thread");
    return NULL;
}

/* A thread that tries something in silence mutes nobody else; in silence begun twice, until it has ended twice. */
static void
muted_alone(void **state)
{
    sources *s = sources_new();
    pthread_t other;

    (void)state;
    diag_mute(s, true);
    diag_mute(s, true);
    diag_warn(s, "said", SPAN_NONE, "in a trial");
    assert_int_equal(pthread_create(&other, NULL, speak, s), 0);
    pthread_join(other, NULL);
    assert_int_equal(diag_count(s), 1);
    diag_mute(s, false);
    diag_warn(s, "said", SPAN_NONE, "in a trial still");
    assert_int_equal(diag_count(s), 1);
    diag_mute(s, false);
    diag_warn(s, "said", SPAN_NONE, "behind it");
    assert_int_equal(diag_count(s), 2);
    diag_silence(s);
    assert_int_equal(pthread_create(&other, NULL, speak, s), 0);
    pthread_join(other, NULL);
    diag_warn(s, "said", SPAN_NONE, "to nobody");
    assert_int_equal(diag_count(s), 2);
    sources_free(s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_in_threads),      cmocka_unit_test(code_exchanged_while_it_runs),
        cmocka_unit_test(parameters_are_taken_over), cmocka_unit_test(elements_taken_out),
        cmocka_unit_test(equal_blocks_are_a_loop),   cmocka_unit_test(muted_alone)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
