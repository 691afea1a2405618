/* test_foretell.c - a search by tolerances says the same on one core and on all of them
 *
 * Two models: one of few elements, each tried alone; one of many, taken by activity, most of which stay. What has to be
 * the same is everything that a report shows: the text, what went, each trial with its error, how many simulations it
 * took.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "reduce.h"
#include "side_by_side.h"

/* Masses in a row between nonlinear springs and dampers, as statements of their own, so that each is a candidate */
static char *
chain(int n, double within)
{
    strbuf b = { 0 };

    strbuf_puts(&b, "model chain {\n    Se:push = sin(3*time) -> v1;\n");
    for (int i = 1; i <= n; i++) {
        strbuf_printf(&b, "    1:v%d -> I:m%d = %g;\n", i, i, 1 + 0.01 * i);
        if (i < n) {
            strbuf_printf(&b, "    v%d -> 0:s%d -> v%d;\n    s%d -> 1:d%d;\n", i, i, i + 1, i, i);
            strbuf_printf(&b, "    d%d -> C:c%d { e = %d*q + 10*q^3; }\n    d%d -> R:r%d = %g;\n", i, i, 90 + i, i, i,
                          0.002 * i);
        }
    }
    strbuf_printf(
        &b,
        "    output x = integral(v1.f);\n}\nexperiment run of chain { stop = 1; rtol = 1e-6; observe x within %g; }\n",
        within);
    return b.at;
}

static reduction
reduced(const char *text)
{
    const char *experiment = "run";
    bounded_options o = { .experiment = &experiment, .nexperiments = 1 };
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

static void
one_core_or_all(int masses, double within)
{
    char *text = chain(masses, within);
    cpu_set_t all, one;
    reduction side, alone;
    int first = 0;

    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    side = reduced(text);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(side_by_side_workers(), 1);
    alone = reduced(text);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_true(side.kept.n > 0 && side.operation.n > 0);
    same(&side, &alone);
    reduction_free(&side);
    reduction_free(&alone);
    free(text);
}

static void
test_few(void **state)
{
    (void)state;
    one_core_or_all(6, 0.02);
}
#ifndef __SANITIZE_ADDRESS__ /* two minutes with it, over what test_few goes over too */
static void
test_many(void **state)
{
    (void)state;
    one_core_or_all(21, 0.004);
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_many),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
