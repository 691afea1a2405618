/* test_crew.c - each computation is done once, whatever the number of threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <cmocka.h>

#include "crew.h"

enum { MOST = 100 };

struct done {
    atomic_size_t times[MOST], order[MOST], n;
};

static void
do_one(void *ctx, size_t i)
{
    struct done *d = ctx;

    atomic_fetch_add(&d->times[i], 1);
    d->order[atomic_fetch_add(&d->n, 1)] = i;
}

static void
each_is_computed_once(void **unused)
{
    static const size_t of[] = { 0, 1, 2, 7, MOST }, workers[] = { 1, 2, 5, 200 };

    (void)unused;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
            struct done d = { .n = 0 };

            crew_each(of[k], workers[w], do_one, &d);
            assert_int_equal(d.n, of[k]);
            for (size_t i = 0; i < of[k]; i++)
                assert_int_equal(d.times[i], 1);
        }
}

static void
one_worker_keeps_the_order(void **unused)
{
    struct done d = { .n = 0 };

    (void)unused;
    crew_each(MOST, 1, do_one, &d);
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(d.order[i], i);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_computed_once),
        cmocka_unit_test(one_worker_keeps_the_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
