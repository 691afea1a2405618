/* test_foretell.c - a search by tolerances says the same on one core and on any number of them
 *
 * Two models: one of few elements, each tried alone; and one of many, of which some are not tried, by what is predicted
 * of them, and others behind them are, as nothing can be predicted. What has to be the same is everything that a report
 * shows: the text, what went, each trial with its error, how many simulations it took.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "reduce.h"

/* Masses in a row between nonlinear springs and dampers, as statements of their own, so that each is a candidate. The
 * last spring ends at `end`: there is a junction of that name, or none. */
static void
put_masses(strbuf *b, int n, int stiffness, const char *end)
{
    strbuf_puts(b, "model chain {\n    Se:push = sin(3*time) -> v1;\n");
    for (int i = 1; i <= n; i++) {
        strbuf_printf(b, "    1:v%d -> I:m%d = %g;\n", i, i, 1 + 0.01 * i);
        if (i == n && !end)
            break;
        strbuf_printf(b, "    v%d -> 0:s%d;\n    s%d -> 1:d%d;\n", i, i, i, i);
        strbuf_printf(b, "    d%d -> C:c%d { e = %d*q + 10*q^3; }\n", i, i, stiffness + i);
        strbuf_printf(b, "    d%d -> R:r%d = %g;\n", i, i, 0.002 * i);
        if (i < n)
            strbuf_printf(b, "    s%d -> v%d;\n", i, i + 1);
        else
            strbuf_printf(b, "    s%d -> %s;\n", i, end);
    }
    strbuf_puts(b, "    output x = integral(v1.f);\n");
}

static void
put_experiment(strbuf *b, const char *observed)
{
    strbuf_printf(b, "}\nexperiment run of chain { stop = 1; rtol = 1e-6; %s }\n", observed);
}

static char *
chain(int n)
{
    strbuf b = { 0 };

    put_masses(&b, n, 90, NULL);
    put_experiment(&b, "observe x within 0.02;");
    return b.at;
}

/* A wall that moves, with pairs of resistors of which neither imposes anything: they are solved for together, so that
 * there is nothing that a factor could take out. The springs are so stiff that all masses move. */
static char *
chain_at_wall(int n)
{
    strbuf b = { 0 };

    put_masses(&b, n, 4000, "w");
    strbuf_puts(&b, "    Sf:wall = 0.1*sin(2*time) -> 1:w;\n    output force = wall.e;\n");
    for (int i = 1; i <= 3; i++) {
        strbuf_printf(&b, "    w -> 0:z%d;\n    z%d -> R:p%d { e = %d*f + f^3; }\n", i, i, i, i);
        strbuf_printf(&b, "    z%d -> R:t%d { e = %g*f + f^3; }\n", i, i, i + 0.5);
    }
    put_experiment(&b, "observe x within 0.0001; observe force within 0.001;");
    return b.at;
}

static reduction
reduced(const char *text, size_t workers)
{
    const char *experiment = "run";
    bounded_options o = { .experiment = &experiment, .nexperiments = 1, .workers = workers };
    reduction r;
    char *why = NULL;

    if (reduce_within("chain.bg", text, strlen(text), &o, &r, &why) != REDUCE_DONE)
        fail_msg("%s", why ? why : "the model as given does not run");
    return r;
}

static void
same(const reduction *a, const reduction *b)
{
    assert_string_equal(a->text, b->text);
    assert_int_equal(a->simulations, b->simulations);
    assert_int_equal(a->steps_after, b->steps_after);
    assert_int_equal(a->operation.n, b->operation.n);
    assert_int_equal(a->trial.n, b->trial.n);
    assert_int_equal(a->kept.n, b->kept.n);
    for (size_t i = 0; i < a->trial.n; i++) {
        const reduce_trial *x = &a->trial.at[i], *y = &b->trial.at[i];

        assert_string_equal(x->names, y->names);
        assert_int_equal(x->accepted, y->accepted);
        assert_memory_equal(&x->worst, &y->worst, sizeof x->worst);
        assert_string_equal(x->why ? x->why : "", y->why ? y->why : "");
    }
    for (size_t i = 0; i < a->kept.n; i++)
        assert_string_equal(a->kept.at[i].why, b->kept.at[i].why);
}

/* On one core, and on so many others. */
static void
one_core_or(const size_t *workers, size_t n, char *text)
{
    reduction alone = reduced(text, 1);

    assert_true(alone.kept.n > 0 && alone.operation.n > 0);
    for (size_t i = 0; i < n; i++) {
        reduction side = reduced(text, workers[i]);

        same(&alone, &side);
        reduction_free(&side);
    }
    reduction_free(&alone);
    free(text);
}

static void
test_few(void **state)
{
    (void)state;
    one_core_or((const size_t[]){ 3 }, 1, chain(6));
}

static void
test_many(void **state)
{
    (void)state;
    one_core_or((const size_t[]){ 2, 3, 7 }, 3, chain_at_wall(31));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
