/* test_variables.c - which equation defines each variable, for a model whose strokes follow by hand
 *
 * source   Karnopp, Margolis, Rosenberg, System Dynamics, ch. 5: a 1-junction has the flow of the one bond that brings
 *          it, and its balance gives that bond's effort; a 0-junction the other way round; TF passes flow to flow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"

static const char text[] = "model m {\n"
                           "    parameter k = 2 [N];\n"
                           "    1:v -> I:mass = 2; v -> R:damper = 3; v -> C:spring = 1/5;\n"
                           "    Se:push = k -> v;\n"
                           "    v -> TF:lever = 2 -> 1:w; w -> R:far { e = 2*f; }\n"
                           "    w -> I:dependent = 1;\n"
                           "    0:n; Sf:in = 1 -> n; n -> R:a = 1; n -> C:store = 1;\n"
                           "    n -> GY:g = 3 -> 1:x; x -> R:b = 2;\n"
                           "    signal y = 2*mass.p;\n"
                           "    output z = y + integral(y);\n"
                           "}\n"
                           "experiment e of m { stop = 1; }\n";

struct expected {
    const char *name;
    bool state;
    enum defined_by by;
    const char *equation;
    int line;
};

static const struct expected expected[] = {
    { "k", false, DEF_BY_NOTHING, NULL, 0 },
    { "y", false, DEF_BY_TEXT, NULL, 9 },
    { "integral(y)", true, DEF_BY_TEXT, NULL, 10 },
    { "v.f", false, DEF_BY_LAW, "mass", 3 },     /* the mass brings the flow p/m */
    { "mass.p", true, DEF_BY_BALANCE, "v", 3 },  /* and gets what the others leave */
    { "spring.q", true, DEF_BY_LAW, "mass", 3 }, /* its rate is that flow */
    { "spring.e", false, DEF_BY_LAW, "spring", 3 },
    { "damper.e", false, DEF_BY_LAW, "damper", 3 },
    { "push.e", false, DEF_BY_LAW, "push", 4 },
    { "lever.in.e", false, DEF_BY_TWO_PORT, "lever", 5 },
    { "w.f", false, DEF_BY_TWO_PORT, "lever", 5 },
    { "lever.out.e", false, DEF_BY_BALANCE, "w", 5 },
    { "far.e", false, DEF_BY_LAW, "far", 5 },
    { "dependent.p", false, DEF_BY_LAW, "dependent", 6 }, /* its flow is the lever's */
    { "dependent.e", false, DEF_BY_RATE, "dependent.p", 6 },
    { "n.e", false, DEF_BY_LAW, "store", 7 },
    { "store.q", true, DEF_BY_BALANCE, "n", 7 },
    { "a.f", false, DEF_BY_LAW, "a", 7 },
    { "in.f", false, DEF_BY_LAW, "in", 7 },
    { "x.f", false, DEF_BY_TWO_PORT, "g", 8 }, /* a gyrator: effort of n to flow of x */
    { "g.in.f", false, DEF_BY_TWO_PORT, "g", 8 },
    { "g.out.e", false, DEF_BY_BALANCE, "x", 8 },
};

static void
defined_by_hand(void **state)
{
    compilation c = { 0 };
    compile_options o = { .experiment = "e" };
    size_t found = 0;

    (void)state;
    assert_true(compile_text(&c, "m.bg", text, sizeof text - 1, STAGE_MODEL, &o));
    for (uint32_t i = 0; i < model_nvariables(c.model); i++) {
        struct model_variable v = model_variable(c.model, i);

        for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
            const struct expected *x = &expected[k];
            int line = 0, column;

            if (strcmp(x->name, v.name) != 0 || v.kind == VAR_LITERAL)
                continue;
            found++;
            if (span_known(v.equation_at))
                source_place(c.sources, v.equation_at.file, v.equation_at.begin, &line, &column);
            if (v.state != x->state || v.by != x->by || line != x->line ||
                (x->equation ? !v.equation || strcmp(v.equation, x->equation) != 0 : v.equation != NULL))
                fail_msg("%s: %s, by %d of %s, line %d", v.name, v.state ? "state" : "no state", (int)v.by,
                         v.equation ? v.equation : "nothing", line);
        }
    }
    assert_int_equal(found, sizeof expected / sizeof *expected);
    compile_free(&c);
}

/* Two resistors in a loop: what is solved together has equations of its own, each once. */
static void
solved_together(void **state)
{
    static const char loop[] =
        "model m { Se:u = 1 -> 1:i; i -> R:r1 { e = f + f^3; } i -> 0:n; n -> R:r2 { f = e + e^3; } "
        "n -> R:r3 { e = 2*f + f^5; } }\nexperiment e of m { stop = 1; }\n";
    compilation c = { 0 };
    compile_options o = { .experiment = "e" };
    size_t laws = 0, balances = 0;

    (void)state;
    assert_true(compile_text(&c, "m.bg", loop, sizeof loop - 1, STAGE_MODEL, &o));
    for (uint32_t i = 0; i < model_nvariables(c.model); i++) {
        struct model_variable v = model_variable(c.model, i);

        laws += v.by == DEF_BY_LAW;
        balances += v.by == DEF_BY_BALANCE;
        assert_true(v.by == DEF_BY_NOTHING || v.by == DEF_BY_LAW || v.by == DEF_BY_BALANCE);
    }
    assert_int_equal(laws, 4);     /* u, r1, r2, r3 */
    assert_int_equal(balances, 2); /* i, n */
    compile_free(&c);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(defined_by_hand), cmocka_unit_test(solved_together) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
