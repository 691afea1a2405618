/* test_codegen_c.c - the C that `--dump c` prints compiles without warnings and gives the rates that machine code
 * gives, bit for bit; where equations are solved together, with a Newton's method of its own, to rounding
 */
#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "codegen_c.h"
#include "compile.h"

typedef void rates_function(double t, const double *x, double *w, const double *p, const double *m, double *dx);

/* Solves the blocks of a text: solve_k by Newton's method from zero, with Gauss's elimination. */
static const char newton[] =
    "#include <stdlib.h>\n"
    "typedef void block_function(double, const double *, double *, const double *, const double *, double *);\n"
    "void newton(double t, const double *x, double *w, const double *p, const double *m, int n, int w0,\n"
    "    const int64_t *column, const int64_t *row, block_function *residuals, block_function *partials);\n"
    "void newton(double t, const double *x, double *w, const double *p, const double *m, int n, int w0,\n"
    "    const int64_t *column, const int64_t *row, block_function *residuals, block_function *partials)\n"
    "{\n"
    "    double *a = malloc(sizeof(double) * (size_t)(n * n + n + column[n] + 1)), *r = a + n * n, *v = r + n;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        w[w0 + i] = 0;\n"
    "    for (int round = 0; round < 60; round++) {\n"
    "        residuals(t, x, w, p, m, r);\n"
    "        partials(t, x, w, p, m, v);\n"
    "        for (int i = 0; i < n * n; i++)\n"
    "            a[i] = 0;\n"
    "        for (int j = 0; j < n; j++)\n"
    "            for (int64_t k = column[j]; k < column[j + 1]; k++)\n"
    "                a[row[k] * n + j] += v[k];\n"
    "        for (int j = 0; j < n; j++) {\n"
    "            int best = j;\n"
    "            for (int i = j + 1; i < n; i++)\n"
    "                if (fabs(a[i * n + j]) > fabs(a[best * n + j]))\n"
    "                    best = i;\n"
    "            for (int k = 0; k < n; k++) {\n"
    "                double s = a[j * n + k]; a[j * n + k] = a[best * n + k]; a[best * n + k] = s;\n"
    "            }\n"
    "            double s = r[j]; r[j] = r[best]; r[best] = s;\n"
    "            for (int i = j + 1; i < n; i++) {\n"
    "                double f = a[i * n + j] / a[j * n + j];\n"
    "                for (int k = j; k < n; k++)\n"
    "                    a[i * n + k] -= f * a[j * n + k];\n"
    "                r[i] -= f * r[j];\n"
    "            }\n"
    "        }\n"
    "        for (int j = n - 1; j >= 0; j--) {\n"
    "            for (int k = j + 1; k < n; k++)\n"
    "                r[j] -= a[j * n + k] * r[k];\n"
    "            r[j] /= a[j * n + j];\n"
    "            w[w0 + j] -= r[j];\n"
    "        }\n"
    "    }\n"
    "    free(a);\n"
    "}\n";

struct written {
    void *library;
    rates_function *rates;
    const double *p;
    size_t blocks, room;
};

/* solve_k for each block that the text leaves open: what it says of them is read from it. */
static size_t
add_solvers(strbuf *t)
{
    size_t n = 0;
    char *text = bg_strdup(t->at);

    for (const char *at = text; (at = strstr(at, "/* Block ")); at++) {
        unsigned k, unknowns, w0;

        assert_int_equal(sscanf(at, "/* Block %u: the %u unknowns from w[%u]", &k, &unknowns, &w0), 3);
        strbuf_puts(t, n++ ? "" : newton);
        strbuf_printf(t,
                      "void solve_%u(double t, const double *x, double *w, const double *p, const double *m)\n"
                      "{\n    newton(t, x, w, p, m, %u, %u, columns_%u, rows_%u, residuals_%u, partials_%u);\n}\n",
                      k, unknowns, w0, k, k, k, k);
    }
    free(text);
    return n;
}

static struct written
build(bg_model *m, const char *name)
{
    char dir[] = "/tmp/bgc_c_XXXXXX", *source, *library, *command;
    char *text = model_c(m);
    struct written r = { 0 };
    strbuf t = { 0 };
    unsigned room;
    FILE *f;

    assert_non_null(mkdtemp(dir));
    source = bg_format("%s/model.c", dir);
    library = bg_format("%s/model.so", dir);
    command = bg_format("cc -std=c11 -O1 -ffp-contract=off -Wall -Werror -shared -fPIC -o %s %s -lm", library, source);
    strbuf_puts(&t, text);
    r.blocks = add_solvers(&t);
    assert_non_null(f = fopen(source, "w"));
    fputs(t.at, f);
    fclose(f);
    if (system(command) != 0)
        fail_msg("%s: its C does not compile: %s", name, source);
    assert_non_null(r.library = dlopen(library, RTLD_NOW | RTLD_LOCAL));
    *(void **)&r.rates = dlsym(r.library, "rates");
    r.p = dlsym(r.library, "parameters");
    assert_int_equal(sscanf(strstr(t.at, "/* w: room for"), "/* w: room for %u", &room), 1);
    r.room = room;
    unlink(source);
    unlink(library);
    rmdir(dir);
    strbuf_free(&t);
    free(text);
    free(source);
    free(library);
    free(command);
    return r;
}

/* points: how many of them the model has rates at */
static int
compare(bg_model *m, const char *name, size_t *blocks)
{
    enum { POINTS = 12 };
    struct written c = build(m, name);
    size_t nx = model_nstates(m);
    double *x = bg_calloc(nx + 1, sizeof *x), *expected = bg_calloc(nx + 1, sizeof *x),
           *dx = bg_calloc(nx + 1, sizeof *x), *w = bg_calloc(c.room + 1, sizeof *w);
    int points = 0;

    *blocks += c.blocks;
    model_initial(m, 0, x);
    for (int k = 0; k < POINTS; k++) {
        double t = 0.07 * k, size = 0;

        for (size_t i = 0; i < nx; i++)
            x[i] += 1e-3 * sin(5.0 * k + (double)i);
        if (model_rhs(m, t, x, expected) != 0)
            continue;
        c.rates(t, x, w, c.p, model_modes(m), dx);
        points++;
        for (size_t i = 0; i < nx; i++)
            size = fmax(size, fabs(expected[i]));
        for (size_t i = 0; i < nx; i++)
            if (c.blocks ? !(fabs(dx[i] - expected[i]) <= 1e-8 * size) : memcmp(&dx[i], &expected[i], sizeof *dx) != 0)
                fail_msg("%s, %s at %g s: %.17g, not %.17g", name, model_state(m, i).name, t, dx[i], expected[i]);
    }
    dlclose(c.library);
    free(x);
    free(expected);
    free(dx);
    free(w);
    return points;
}

static int
check(const char *path, const char *experiment, size_t *blocks)
{
    compilation c = { 0 };
    compile_options o = { .experiment = experiment };
    int points;

    if (!compile_path(&c, path, STAGE_MODEL, &o)) {
        diag_print(c.sources, stderr, false, DIAG_ERRORS);
        fail_msg("%s does not compile", path);
    }
    points = compare(c.model, path, blocks);
    compile_free(&c);
    return points;
}

/* The first experiment of each */
static void
every_example(void **state)
{
    DIR *dir = opendir(BG_EXAMPLES);
    struct dirent *entry;
    size_t blocks = 0;
    int points = 0;

    (void)state;
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        size_t n = strlen(entry->d_name);
        char *path;
        compilation c = { 0 };
        const char *first = NULL;

        if (n < 3 || strcmp(entry->d_name + n - 3, ".bg"))
            continue;
        path = bg_format("%s/%s", BG_EXAMPLES, entry->d_name);
        assert_true(compile_path(&c, path, STAGE_PARSE, NULL));
        for (size_t i = 0; i < c.ast->ndecls && !first; i++)
            if (c.ast->decl[i].kind == AST_DECL_EXPERIMENT)
                first = c.ast->decl[i].experiment->name;
        points += check(path, first, &blocks);
        compile_free(&c);
        free(path);
    }
    closedir(dir);
    assert_true(points > 300);
    assert_true(blocks > 0);
}

/* Kernels through tables, pieces of tables, functions, signed powers, delays and switches */
static void
other_kinds(void **state)
{
    static const char *const name[] = { "many_alike",      "table2d", "stick_slip", "diode_rectifier",
                                        "double_pendulum", "spline",  "spline" };
    static const char *const of[] = { NULL, "cases", NULL, NULL, "kick", "e", "ends" };
    size_t blocks = 0;

    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char *path = bg_format("%s/../tests/run/%s.bg", BG_EXAMPLES, name[i]);

        assert_true(check(path, of[i], &blocks) > 0);
        free(path);
    }
}

static void
check_text(const char *name, const strbuf *t)
{
    compilation c = { 0 };
    compile_options o = { .experiment = "e" };
    size_t blocks = 0;

    if (!compile_text(&c, "m.bg", t->at, t->n, STAGE_MODEL, &o)) {
        diag_print(c.sources, stderr, false, DIAG_ERRORS);
        fail_msg("%s does not compile", name);
    }
    assert_true(compare(c.model, name, &blocks) > 0);
    compile_free(&c);
}

/* All that is no plain arithmetic */
static void
functions(void **state)
{
    strbuf t = { 0 };

    (void)state;
    strbuf_puts(&t, "model m {\n1:v -> I:a = 1;\n");
    strbuf_puts(&t, "v -> R:r { e = spow(f, 1.5) + spow(f, 0.7)*sin(f) + spow(f, 0.5) + min(f, atan2(f, 2)) +\n");
    strbuf_puts(&t, "max(f, -0.0) + exp(-f^2)*sqrt(1 + f^2) + tanh(f) + ln(2 + f) + log10(3 + f) + sinh(f) +\n");
    strbuf_puts(&t, "(1 + f^2)^(-3) + (2 + f)^0.3 + (if f > 0.001 and not (f > 2) or f < -1 then f else abs(f)); }\n");
    strbuf_puts(&t, "}\nexperiment e of m { stop = 1; }\n");
    check_text("functions", &t);
    strbuf_free(&t);
}

/* Springs between masses far from each other in the order of the text: kernels that read through tables */
static void
tables_of_positions(void **state)
{
    enum { MASSES = 200 };
    strbuf t = { 0 };

    (void)state;
    strbuf_printf(&t, "model m {\n1:v[%d]; 0:s[%d];\n", MASSES, MASSES);
    for (int k = 1; k <= MASSES; k++)
        strbuf_printf(&t, "v[%d] -> I:m%d = %d;\nv[%d] -> s[%d] -> v[%d]; s[%d] -> C:k%d { e = %d*q + q^3; }\n", k, k,
                      k % 7 + 1, k, k, (k * 37 + 11) % MASSES + 1 == k ? k % MASSES + 1 : (k * 37 + 11) % MASSES + 1, k,
                      k, k % 5 + 1);
    strbuf_puts(&t, "}\nexperiment e of m { stop = 1; }\n");
    check_text("tables", &t);
    strbuf_free(&t);
}

/* Whatever a text says, its comment ends where it should. */
static void
comments(void **state)
{
    static const char *const said[] = { "a*/ b", "a/* b", "*/", "/", "*", "", "a\nb", "**//*/" };

    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        strbuf b = { 0 };

        c_comment(&b, said[i]);
        assert_ptr_equal(strstr(b.at, "*/"), b.at + b.n - 2);
        assert_null(strstr(b.at + 2, "/*"));
        assert_null(strchr(b.at, '\n'));
        strbuf_free(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_example), cmocka_unit_test(other_kinds),
                                        cmocka_unit_test(functions), cmocka_unit_test(tables_of_positions),
                                        cmocka_unit_test(comments) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
