/* test_parameters.c - parameters set one after the other: rates, outputs, derivatives and known switchings are those of
 * a model that was compiled with these values
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "state_space.h"

enum { PARAMETERS = 40, MASSES = 12 };

static uint64_t state_of_draw = 7;
static unsigned
below(unsigned n)
{
    state_of_draw = state_of_draw * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state_of_draw >> 33) % n);
}

/* Parameters computed from earlier and later ones, in any order of declaration; masses and springs that read them; a
 * source that switches at a known time; a resistor in a loop. */
static void
write_model(strbuf *t)
{
    strbuf_puts(t, "model many {\n");
    for (int k = PARAMETERS - 1; k >= 0; k--)
        if (k < 8 || below(3) == 0)
            strbuf_printf(t, "    parameter p%d = %g;\n", k, 1 + 0.1 * k);
        else
            strbuf_printf(t, "    parameter p%d = 0.5*p%u + 1/(1 + p%u^2);\n", k, below((unsigned)k),
                          below((unsigned)k));
    strbuf_puts(t, "    1:v[12]; 0:s[12];\n    MSe:push = (if time < p9 then p3 else -p4) -> v[1];\n");
    for (int k = 1; k <= MASSES; k++) {
        strbuf_printf(t,
                      "    v[%d] -> I:m%d = p%u + p%u;\n    v[%d] -> s[%d];\n    s[%d] -> C:k%d { e = p%u*q + q^3; }\n",
                      k, k, below(PARAMETERS), below(PARAMETERS), k, k, k, k, below(PARAMETERS));
        strbuf_printf(t, "    s[%d] -> R:d%d { f = p%u*e + 0.01*e^3; }\n", k, k, below(PARAMETERS));
        if (k > 1)
            strbuf_printf(t, "    s[%d] -> v[%d];\n", k - 1, k);
    }
    strbuf_puts(t, "    output y = p20*k1.e;\n}\nexperiment e of many { stop = 1; }\n");
}

static void
compile_set(compilation *c, const strbuf *t, const struct elaborate_override *set, size_t n)
{
    compile_options o = { .experiment = "e", .set = set, .nset = n };

    if (!compile_text(c, "case.bg", t->at, t->n, STAGE_MODEL, &o))
        diag_print(c->sources, stderr, false, false);
    assert_non_null(c->model);
}

static void
compare(bg_model *a, bg_model *b)
{
    enum { MOST = 64 };
    size_t n = model_nstates(a);
    double x[MOST], f[MOST], g[MOST], y, z;
    struct model_pattern p = model_jacobian_pattern(a);
    double *ja = bg_calloc(p.nonzeros + 1, sizeof *ja), *jb = bg_calloc(p.nonzeros + 1, sizeof *jb);

    assert_true(n <= MOST && n == model_nstates(b));
    for (size_t i = 0; i < n; i++)
        x[i] = 0.1 * sin(1.0 + (double)i);
    assert_int_equal(model_rhs(a, 0.3, x, f), 0);
    assert_int_equal(model_rhs(b, 0.3, x, g), 0);
    assert_memory_equal(f, g, n * sizeof *f);
    assert_int_equal(model_outputs(a, 0.3, x, &y), 0);
    assert_int_equal(model_outputs(b, 0.3, x, &z), 0);
    assert_memory_equal(&y, &z, sizeof y);
    assert_int_equal(model_jacobian_pattern(b).nonzeros, p.nonzeros);
    assert_int_equal(model_jacobian(a, 0.3, x, ja), 0);
    assert_int_equal(model_jacobian(b, 0.3, x, jb), 0);
    for (size_t k = 0; k < p.nonzeros; k++)
        assert_true(fabs(ja[k] - jb[k]) <= 1e-13 * fabs(jb[k]));
    for (size_t k = 0; k < model_nmodes(a); k++) {
        struct model_mode one = model_mode(a, k), other = model_mode(b, k);

        assert_true(one.known == other.known);
        if (one.known) {
            assert_true(one.slope == other.slope);
            assert_true(one.offset == other.offset);
        }
    }
    free(ja);
    free(jb);
}

static void
test_set_one_after_the_other(void **state)
{
    strbuf text = { 0 };
    compilation kept = { 0 };
    struct elaborate_override set[PARAMETERS];
    char name[PARAMETERS][8];
    size_t n = 0;

    (void)state;
    write_model(&text);
    compile_set(&kept, &text, NULL, 0);
    for (int round = 0; round < 12; round++) {
        unsigned k = below(PARAMETERS);
        compilation fresh = { 0 };
        size_t i = 0;

        snprintf(name[n], sizeof name[n], "p%u", k);
        while (i < n && strcmp(set[i].name, name[n]) != 0)
            i++;
        if (i == n)
            set[n++] = (struct elaborate_override){ .name = name[i] };
        set[i].value = 0.7 + 0.01 * (double)below(100);
        assert_true(model_set_parameter(kept.model, name[i], set[i].value));
        assert_true(model_parameter_value(kept.model, model_parameter(kept.model, name[i])) == set[i].value);
        compile_set(&fresh, &text, set, n);
        compare(kept.model, fresh.model);
        compile_free(&fresh);
    }
    assert_false(model_set_parameter(kept.model, "none", 1));
    compile_free(&kept);
    strbuf_free(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_one_after_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
