/* test_terms.c - terms of sums in source texts: which there are, and the text without some of them
 *
 * Each expected text is what a person would write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "terms.h"

/* The law of C:c in a model around it, as it stands after changes. what: a letter a term in the order found: s stays, d
 * deleted, m mean (2.5 for the first, -2.5 for the second, ...). */
static void
changed(const char *law, const char *what, const char *expected)
{
    char *text = bg_format("model m {\n    parameter a = 2;\n    1:v;\n    v -> I:m = 1;\n    v -> C:c { e = %s; }\n   "
                           " v -> R:r = a;\n}\n",
                           law);
    char *wanted = bg_format("model m {\n    parameter a = 2;\n    1:v;\n    v -> I:m = 1;\n    v -> C:c { e = %s; }\n "
                             "   v -> R:r = a;\n}\n",
                             expected);
    compilation c = { 0 };
    enum term_change change[16] = { 0 };
    double mean[16] = { 0 };
    rewrite_change *list = NULL;
    size_t nchanges;
    rewrite plan;
    terms t;
    strbuf out = { 0 };

    assert_true(compile_text(&c, "case.bg", text, strlen(text), STAGE_GRAPH, NULL));
    terms_find(c.sources, c.ast, &(const ast_model *){ c.ast->decl[0].model }, 1, c.arena, &t);
    if (t.term.n != strlen(what))
        fail_msg("%s: %zu terms, not %zu", law, t.term.n, strlen(what));
    for (size_t i = 0; i < t.term.n; i++) {
        change[i] = what[i] == 'd' ? TERM_DELETED : what[i] == 'm' ? TERM_MEAN : TERM_STAYS;
        mean[i] = i % 2 ? -2.5 : 2.5;
    }
    nchanges = terms_changes(&t, change, mean, c.arena, &list);
    assert_true(
        rewrite_plan(&(rewrite_request){ .f = c.flat, .file = c.ast, .change = list, .nchanges = nchanges }, &plan));
    edits_apply(&plan.edits, text, strlen(text), &out);
    assert_string_equal(out.at, wanted);
    rewrite_free(&plan);
    terms_free(&t);
    strbuf_free(&out);
    compile_free(&c);
    free(text);
    free(wanted);
}

static void
test_delete(void **state)
{
    (void)state;
    changed("a*q + 3*q^3", "sd", "a*q");
    changed("a*q + 3*q^3", "ds", "3*q^3");
    changed("a*q - 3*q^3", "ds", "-3*q^3");
    changed("a*q + q^2 - q^3", "sds", "a*q - q^3");
    changed("a*q + q^2 - q^3", "dsd", "q^2");
    changed("a*q + q^2 - q^3", "dds", "-q^3");
    changed("a*q - q^2 + q^3", "dds", "q^3");
    changed("a*q + q^2", "dd", "0");
    changed("(a*q) + (q^2)", "ds", "(q^2)");
    changed("(a*q + q^3)*2 + q", "sdsd", "(a*q)*2"); /* the outer two come first, then those inside */
}

static void
test_mean(void **state)
{
    (void)state;
    changed("a*q + 3*q^3", "ms", "2.5 + 3*q^3");
    changed("a*q + 3*q^3", "sm", "a*q - 2.5");
    changed("a*q - 3*q^3", "sm", "a*q + 2.5");
    changed("a*q - 3*q^3", "dm", "2.5");
    changed("a*q + q^2 - q^3", "smd", "a*q - 2.5");
    changed("a*q + q^2 - q^3", "ssm", "a*q + q^2 - 2.5");
}

/* Sums of parameters have no terms; nor have conditions and exponents. What is inside a term that goes is left alone.
 */
static void
test_places(void **state)
{
    (void)state;
    changed("q/(a + 1)", "", "q/(a + 1)");
    changed("if q + a > 1 then q else 2*q", "", "if q + a > 1 then q else 2*q");
    changed("if q > 1 then q + a else 2*q", "sd", "if q > 1 then q else 2*q");
    changed("q - (q - q^3)", "sdsd", "q");
    changed("q - (q - q^3)", "sssd", "q - (q)");
    changed("sin(q + 0.1*q^2)", "sd", "sin(q)");
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_delete), cmocka_unit_test(test_mean),
                                        cmocka_unit_test(test_places) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
