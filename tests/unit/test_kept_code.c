/* test_kept_code.c - a model is the same with code that is kept for others and without: order of states, rates, powers,
 * to the last bit
 *
 * Steps depend on sums over states, and what a reduction does depends on steps: neither may depend on whether trials
 * share their code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"

static const char *const example[] = { "half_car", "quarter_car", "rcl_ladder", "serca", "roll_plane_car", "dc_motor" };

static void
compiled(compilation *c, const char *path, const compile_shared *shared)
{
    compile_options o = { .shared = shared };

    if (!compile_path(c, path, STAGE_MODEL, &o))
        fail_msg("%s does not compile", path);
}

static void
same(const char *path, const compile_shared *shared)
{
    compilation alone = { 0 }, kept = { 0 };
    double *x, *a, *b;
    size_t n, powers;

    compiled(&alone, path, NULL);
    compiled(&kept, path, shared);
    n = model_nstates(alone.model);
    powers = model_nelements(alone.model);
    assert_int_equal(model_nstates(kept.model), n);
    x = calloc(n + 1, sizeof *x);
    a = calloc(n + powers + 1, sizeof *a);
    b = calloc(n + powers + 1, sizeof *b);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(model_state(alone.model, i).name, model_state(kept.model, i).name);
        x[i] = 0.01 + 0.001 * (double)i;
    }
    assert_int_equal(model_rhs(alone.model, 0.1, x, a), model_rhs(kept.model, 0.1, x, b));
    assert_int_equal(model_powers(alone.model, 0.1, x, a + n), model_powers(kept.model, 0.1, x, b + n));
    assert_memory_equal(a, b, (n + powers) * sizeof *a);
    free(x);
    free(a);
    free(b);
    compile_free(&kept);
    compile_free(&alone);
}

static void
kept_and_alone(void **state)
{
    compile_shared *shared = compile_shared_new(NULL);

    (void)state;
    for (size_t k = 0; k < sizeof example / sizeof *example; k++) {
        char *path = bg_format("%s/%s.bg", BG_EXAMPLES, example[k]);

        same(path, shared);
        free(path);
    }
    compile_shared_free(shared);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(kept_and_alone) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
