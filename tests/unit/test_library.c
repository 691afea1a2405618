/* test_library.c - libbgc as a guest in another program: what it cannot do it says, and leaves the host as it was */
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bgc.h"

extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int n) __attribute__((weak));

static const char text[] = "model m {\n"
                           "    parameter k = 4;\n"
                           "    parameter k2 = 2*k;\n"
                           "    1:v { f(0) = 1; }\n"
                           "    v -> I:mass = 1;\n"
                           "    v -> C:spring = 1/k2;\n"
                           "    output x = spring.q;\n"
                           "}\n"
                           "experiment e of m { stop = 1; rtol = 1e-10; }\n";

static bgc_model *
opened(void)
{
    bgc_model *m = bgc_open_text("m.bg", text, strlen(text), NULL);

    assert_non_null(m);
    assert_true(bgc_ok(m));
    return m;
}

/* x = sin(w t)/w with w^2 = k2 */
static void
assert_swings(bgc_model *m, double w)
{
    bgc_run *r = bgc_simulate(m, NULL);

    assert_non_null(r);
    assert_true(fabs(bgc_run_value(r, 500, bgc_output_find(m, "x")) - sin(w) / w) < 1e-8);
    bgc_run_free(r);
}

/* What it was compiled from is gone: it swings as before, by names and numbers. */
static void
test_without_source(void **state)
{
    bgc_model *m = opened();

    (void)state;
    assert_true(bgc_let_go_of_source(m));
    assert_true(bgc_let_go_of_source(m));
    assert_swings(m, sqrt(8));
    assert_true(bgc_set(m, "k", 2));
    assert_swings(m, 2);
    assert_false(bgc_set(m, "mass", 2));
    assert_false(bgc_set_at(m, bgc_state_count(m) + 1000, 2));
    assert_string_equal(bgc_model_name(m), "m");
    assert_string_equal(bgc_element_name(m, 1), "spring");
    bgc_free(m);
}

static size_t
in_use(void)
{
    struct mallinfo2 i = mallinfo2();

    return i.uordblks + i.hblkhd;
}

/* What the code of a closed model was generated with goes too: it is several times what a small model holds. */
static void
test_closed_is_small(void **state)
{
    bgc_model *m = opened();
    size_t before = in_use();

    (void)state;
    assert_true(bgc_let_go_of_source(m));
    assert_true(in_use() < before + 2000000);
    bgc_free(m);
}

static void
test_parameters_by_number(void **state)
{
    bgc_model *m = opened();
    size_t k = bgc_parameter_find(m, "k");

    (void)state;
    assert_swings(m, sqrt(8));
    assert_true(bgc_set_at(m, k, 2));
    assert_swings(m, 2);
    assert_true(bgc_set(m, "k2", 9)); /* follows k no longer */
    assert_true(bgc_set_at(m, k, 100));
    assert_swings(m, 3);
    assert_true(bgc_parameter_find(m, "spring") == SIZE_MAX);
    assert_false(bgc_set(m, "spring", 1));
    assert_false(bgc_set_at(m, SIZE_MAX, 1));
    bgc_free(m);
}

/* More points than any memory holds: the call fails and says so, the host goes on. */
static void
test_no_memory(void **state)
{
    bgc_model *m, *other;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* it ends the program itself, and what the model held is lost by contract */
#endif
    m = opened();
    assert_null(bgc_simulate(m, &(bgc_run_options){ .points = SIZE_MAX / 4 }));
    assert_false(bgc_ok(m));
    assert_int_equal(bgc_diagnostic_count(m), 1);
    assert_string_equal(bgc_diagnostic_at(m, 0).code, "no-memory");
    assert_int_equal(bgc_state_count(m), 0);
    assert_null(bgc_simulate(m, NULL));
    assert_false(bgc_set(m, "k", 1));
    other = opened();
    assert_swings(other, sqrt(8));
    bgc_free(other);
    bgc_free(m);
}

static void
test_threads_of_blas(void **state)
{
    bgc_model *m;

    (void)state;
    if (!openblas_get_num_threads || !openblas_set_num_threads)
        skip();
    openblas_set_num_threads(2);
    if (openblas_get_num_threads() != 2)
        skip(); /* one processor */
    m = opened();
    assert_swings(m, sqrt(8));
    assert_int_equal(openblas_get_num_threads(), 2);
    bgc_free(m);
}

static void
test_notes_have_places(void **state)
{
    static const char twice[] = "model m {\n"
                                "    parameter k = 4;\n"
                                "    parameter k = 5;\n"
                                "    1:v -> I:mass = 1;\n"
                                "    v -> Se:push;\n"
                                "}\n";
    bgc_model *m = bgc_open_text("twice.bg", twice, strlen(twice), NULL);
    size_t notes = 0, helps = 0;

    (void)state;
    assert_non_null(m);
    assert_false(bgc_ok(m));
    for (size_t i = 0; i < bgc_diagnostic_count(m); i++)
        for (size_t k = 0; k < bgc_note_count(m, i); k++) {
            bgc_diagnostic x = bgc_note_at(m, i, k);

            assert_string_equal(x.code, bgc_diagnostic_at(m, i).code);
            if (x.severity == BGC_HELP) {
                helps++;
                assert_non_null(x.message);
            } else if (!strcmp(x.code, "name-twice")) {
                notes++;
                assert_string_equal(x.file, "twice.bg");
                assert_int_equal(x.line, 2);
                assert_int_equal(x.column, 15);
                assert_int_equal(x.end_column, 16);
            }
        }
    assert_int_equal(notes, 1);
    assert_true(helps > 0);
    assert_int_equal(bgc_note_count(m, SIZE_MAX), 0);
    assert_null(bgc_note_at(m, 0, SIZE_MAX).message);
    bgc_free(m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters_by_number), cmocka_unit_test(test_without_source),
        cmocka_unit_test(test_closed_is_small),      cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_threads_of_blas),      cmocka_unit_test(test_notes_have_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
