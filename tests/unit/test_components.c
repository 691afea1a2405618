/* test_components.c - components, imports, arrays, loops, what is taken out of them, and reductions inside them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "compile.h"
#include "rewrite.h"

/* ---------------------------------------------------------------- a text and its graph */

static void
dump(const flat_model *f, strbuf *b)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    flat_dump(f, out);
    fclose(out);
    strbuf_add(b, text, n);
    free(text);
}

static bool
elaborated(compilation *c, const char *path, const char *text, const char *experiment,
           const struct elaborate_override *set, size_t nset)
{
    compile_options o = { .experiment = experiment, .set = set, .nset = nset };

    *c = (compilation){ 0 };
    return compile_text(c, path, text, strlen(text), STAGE_GRAPH, &o);
}

/* Every line given is in the dump; one that begins with ! is not. */
static void
has_lines(const char *path, const char *text, const char *experiment, const char *const *line)
{
    compilation c;
    strbuf b = { 0 };

    if (!elaborated(&c, path, text, experiment, NULL, 0)) {
        diag_print(c.sources, stderr, false, DIAG_ALL);
        fail_msg("not elaborated:\n%s", text);
    }
    dump(c.flat, &b);
    for (; *line; line++) {
        bool absent = **line == '!';

        if ((strstr(b.at, *line + absent) != NULL) == absent)
            fail_msg("%s line\n%s\nin\n%s", absent ? "there is a" : "no", *line + absent, b.at);
    }
    strbuf_free(&b);
    compile_free(&c);
}
#define HAS(text, ...) has_lines("test.bg", text, NULL, (const char *const[]){ __VA_ARGS__, NULL })
#define HAS_IN(experiment, text, ...) has_lines("test.bg", text, experiment, (const char *const[]){ __VA_ARGS__, NULL })

/* The text is refused with this code in this line, counted from 1; message: part of it or of what stands under it. */
static void
refuses(const char *text, const char *experiment, const char *code, int line, const char *message)
{
    compilation c;
    bool said = false;

    if (elaborated(&c, "test.bg", text, experiment, NULL, 0))
        fail_msg("elaborated in spite of [%s]:\n%s", code, text);
    for (size_t k = 0; k < diag_count(c.sources); k++) {
        const diagnostic *d = diag_at(c.sources, k);
        int at = 0, column;
        bool here = strstr(d->message, message) != NULL;

        for (size_t i = 0; i < d->nchild; i++)
            here = here || strstr(d->child[i].message, message);
        if (span_known(d->at))
            source_place(c.sources, d->at.file, d->at.begin, &at, &column);
        said = said || (!strcmp(d->code, code) && at == line && here);
    }
    if (!said) {
        diag_print(c.sources, stderr, false, DIAG_ALL);
        fail_msg("not said: [%s] in line %d, \"%s\", of:\n%s", code, line, message, text);
    }
    compile_free(&c);
}

#define WHEEL \
    "model Wheel {\n" \
    "  port 1:hub;\n" \
    "  parameter k = 200 [kN/m];\n" \
    "  input brake [N] = 0;\n" \
    "  hub -> I:mass = 2 [kg];\n" \
    "  hub -> 1:rim;\n" \
    "  rim -> C:spring = 1/k { q(0) = 3 [mm]; }\n" \
    "  rim -> R:damper = 5 [N.s/m];\n" \
    "  MSe:force = brake -> hub;\n" \
    "}\n"

/* ---------------------------------------------------------------- components */

static void
instances(void **state)
{
    (void)state;
    HAS(WHEEL "model car {\n  1:body;\n  Se:push = 1 [N] -> body;\n  Wheel:front(k = 50 [kN/m], brake = 2*body.f*1 "
              "[N.s/m]);\n  Wheel:rear;\n"
              "  body -> 0:axle -> front.hub;\n  rear.hub -> axle;\n  output e [N] = front.spring.e + rear.damper.e;\n "
              " output k = front.k;\n}\n",
        "1:front.hub:", "C:front.spring <- front.rim linear\n    q = front.spring.e/front.k",
        "parameter front.k [kN/m] = 50000\n", "parameter rear.k [kN/m] = 200000\n", "parameter rear.brake [N] = 0\n",
        "signal front.brake", "bond axle -> front.hub", "bond rear.hub -> axle",
        "signal e [N] = front.spring.e + rear.damper.e", "signal k [N/m] = front.k", "initial rear.spring.q = 0.003");
    /* in a chain a component stands for its only port, or between for its two */
    HAS(WHEEL "model Link {\n  port 0:a, 0:b;\n  a -> 1:t -> b;\n  t -> C:c = 1;\n}\n"
              "model car {\n  1:body -> Link:l -> 1:other -> Wheel:w;\n  other -> R:r = 1;\n  body -> I:m = 1;\n}\n",
        "bond body -> l.a", "bond l.b -> other", "bond other -> w.hub");
    /* inside components, with sizes */
    HAS("model Row(n = 2) {\n  port 0:a;\n  for i in 1..n { a -> R:r[i] = i; }\n}\n"
        "model Rack(rows = 1) {\n  port 0:a;\n  Row:row[rows](n = rows + 1);\n  for i in 1..rows { row[i].a -> 1:w[i] "
        "-> a; w[i] -> R:s[i] = 2; }\n}\n"
        "model all {\n  Rack:left;\n  Rack:right(rows = 2);\n  left.a -> Se:u = 1;\n  right.a -> Se:v = 1;\n  output y "
        "= right.row[2].r[3].e;\n}\n",
        "R:left.row[1].r[2] <- left.row[1].a", "!R:left.row[1].r[3]", "R:right.row[2].r[3] <- right.row[2].a",
        "signal y = right.row[2].a.e");
    HAS_IN("x",
           WHEEL "model car {\n  1:body -> I:m = 1;\n  Wheel:w[2];\n  for i in 1..2 { body -> w[i]; }\n  signal s = "
                 "integral(body.f);\n}\n"
                 "experiment x of car {\n  stop = 1;\n  let w[1].k = 7 [kN/m];\n  let w[2].spring.q(0) = 9 [mm];\n  "
                 "let w[1].brake = time*1 [N/s];\n  keep w[2], w[1].mass;\n"
                 "  record w[1].spring.q, w[2].k;\n}\n",
           "parameter w[1].k [kN/m] = 7000", "initial w[2].spring.q = 0.009", "initial w[1].spring.q = 0.003",
           "I:w[1].mass <- w[1].hub linear keep", "R:w[2].damper <- w[2].rim linear keep",
           "!R:w[1].damper <- w[1].rim linear keep", "record w[1].spring.q [m] = w[1].spring.q");
}

static void
component_mistakes(void **state)
{
    (void)state;
    refuses(WHEEL "model car {\n  1:b -> Wheel:w(kk = 2);\n}\n", NULL, "argument-unknown", 12,
            "no parameter or input called \"kk\"");
    refuses(WHEEL "model car {\n  1:b -> Wheel:w(k = 2, k = 3);\n}\n", NULL, "argument-twice", 12, "twice");
    refuses(WHEEL "model car {\n  Wheel:w;\n  1:b -> w.rim;\n}\n", NULL, "bond-inside", 13, "join its ports");
    refuses(WHEEL "model car {\n  Wheel:w;\n  1:b -> w.hob;\n}\n", NULL, "name-unknown", 13, "Did you mean \"w.hub\"?");
    refuses(WHEEL "model car {\n  1:b -> Wheel:w;\n  output y = w.sprong.q;\n}\n", NULL, "name-unknown", 13,
            "\"w\" (Wheel) has no part called \"sprong\"");
    refuses(WHEEL "model car {\n  1:b -> Wheel:w;\n  output y = w.kk;\n}\n", NULL, "name-unknown", 13,
            "has no value called \"kk\"");
    refuses(WHEEL "model car {\n  1:b -> Wheel:w = 3;\n}\n", NULL, "component-law", 12, "no law of its own");
    refuses("model A {\n  port 0:x;\n  B:b;\n}\nmodel B {\n  port 0:y;\n  A:a;\n}\nmodel m {\n  A:top;\n}\n", "none",
            "experiment-unknown", 0, "");
    refuses("model m {\n  A:top;\n}\nmodel A {\n  port 0:x;\n  B:b;\n}\nmodel B {\n  port 0:y;\n  A:a;\n}\n", NULL,
            "component-circle", 10, "A -> B -> A");
    refuses("model L {\n  port 0:a, 0:b;\n}\nmodel m {\n  1:v -> L:l;\n}\n", NULL, "bond-component", 5,
            "a bond says which one");
    refuses("model m {\n  R:x(k = 3) = 1;\n}\n", NULL, "type-arguments", 2, "only components");
}

/* ---------------------------------------------------------------- arrays, loops, conditions */

static void
arrays(void **state)
{
    (void)state;
    HAS("model m(n = 3) {\n  for i in 1..n { v[i] -> I:mass[i] = if i == (n + 1)/2 then 2*m[i] else m[i]; }\n"
        "  for i in 1..n-1 { v[i] -> 0:link[i] -> v[i+1]; link[i] -> C:spring[i] = 1/k; }\n"
        "  1:v[n];\n  parameter m[n] = 2 [kg];\n  parameter k = 100 [N/m];\n  if n > 2 { v[n] -> R:end = 1; } else { "
        "v[1] -> R:begin = 1; }\n"
        "  output y[n] [m/s] = v.f;\n  output last = v[n].f;\n}\n",
        "1:v[3]:", "I:mass[2] <- v[2] linear\n    p = 2*m[2]*v[2].f", "I:mass[1] <- v[1] linear\n    p = m[1]*v[1].f",
        "bond link[2] -> v[3]", "R:end <- v[3]", "!R:begin", "output y[2] [m/s] = y[2]", "parameter m[3] [kg] = 2\n");
    HAS("model m {\n  parameter v[3] = [1, 2, 3] [mm];\n  parameter K[2,3] = [1, 2, 3; 4, 5, 6];\n  signal a[2] = "
        "K*v;\n  signal d = v*v;\n  signal b[3] = a*K;\n"
        "  signal q = v[2]*K[2,3];\n  signal h[3] = -v/2 + b;\n  signal s[2] = v[2..3];\n}\n",
        "parameter v[2] [mm] = 0.002", "signal a[2] [m] = K[2,1]*v[1] + K[2,2]*v[2] + K[2,3]*v[3]",
        "signal d [m^2] = v[1]^2 + v[2]^2 + v[3]^2", "signal q [m] = v[2]*K[2,3]", "signal s[2] [m] = v[3]");
    HAS("model m {\n  for i in 1..2 { for j in 1..2 { 1:x[i,j] -> R:r[i,j] = i + 2*j; signal s[i,j] = x[i,j].f; x[i,j] "
        "-> 0:all; } }\n  all -> Se:u = 1;\n"
        "  output y = s[2,1];\n}\n",
        "R:r[2,1] <- x[2,1]", "bond x[1,2] -> all", "signal y = s[2,1]");
    /* sizes are set from outside and by experiments */
    HAS_IN("x",
           "model m(n = 2) {\n  1:v[n];\n  for i in 1..n { v[i] -> R:r[i] = 1; }\n  Se:u = 1 -> v[n];\n}\nexperiment x "
           "of m { stop = 1; let n = 3; }\n",
           "R:r[3] <- v[3]");
    HAS_IN("x",
           "model m {\n  input u[3] [N] = 0;\n  parameter k[2] = 1;\n  output y[3] = u;\n  1:v -> R:r = k[1] + k[2];\n "
           " Se:f = u[2] -> v;\n}\n"
           "experiment x of m {\n  stop = 1;\n  let u[2] = 100 [N];\n  let k = [3, 4];\n  let u[3] = time*1 [N/s];\n  "
           "observe y[2] within 1;\n  record y;\n}\n",
           "parameter u[2] [N] = 100", "signal u[3] [N]", "parameter k[2] = 4", "observe y[2] within 1",
           "record y[3] [N] = y[3]");
    {
        static const struct elaborate_override set[] = { { .name = "n", .value = 4 },
                                                         { .name = "m[2]", .value = 7 },
                                                         { .name = "w[3].k", .value = 9 },
                                                         { .name = "w[1].c.q(0)", .value = 5 } };
        const char *text = "model W {\n  port 1:a;\n  parameter k = 1;\n  a -> C:c = k;\n}\nmodel m(n = 1) {\n  "
                           "parameter m[n] = 1;\n  1:v -> I:i = m[2];\n  W:w[n];\n"
                           "  for i in 1..n { v -> w[i]; }\n}\n";
        compilation c;
        strbuf b = { 0 };

        assert_true(elaborated(&c, "test.bg", text, NULL, set, 4));
        dump(c.flat, &b);
        assert_non_null(strstr(b.at, "parameter m[2] = 7\n"));
        assert_non_null(strstr(b.at, "parameter w[3].k = 9\n"));
        assert_non_null(strstr(b.at, "initial w[1].c.q = 5\n"));
        strbuf_free(&b);
        compile_free(&c);
    }
}

static void
array_mistakes(void **state)
{
    (void)state;
    refuses("model m {\n  1:v[3];\n  v[4] -> R:r = 1;\n}\n", NULL, "index-range", 3,
            "has no item 4; it goes from 1 to 3");
    refuses("model m {\n  parameter k[2,2] = 1;\n  signal s = k[1,3];\n}\n", NULL, "index-range", 3,
            "index 2 of \"k\" is 3; it goes from 1 to 2");
    refuses("model m {\n  for i in 1..3 { 1:a[2*i]; a[2*i] -> R:r[i] = 1; }\n  a[3] -> R:s = 1;\n}\n", NULL,
            "index-range", 3, "there is no a[3]");
    refuses("model m(n = 5) {\n  1:v[n/2];\n}\n", NULL, "known-number", 2, "must be a whole number; it is 2.5");
    refuses("model m {\n  parameter n = 5;\n  1:v[n];\n}\n", NULL, "known-number", 3,
            "must be known while the model is built");
    refuses("model m {\n  for i in 1..10^12 { 1:v[i]; }\n}\n", NULL, "model-size", 2, "1000000000000 times");
    refuses("model m {\n  1:v[10^9];\n}\n", NULL, "model-size", 2, "at most");
    refuses("model m {\n  for i in 1..2000 { for j in 1..2000 { for k in 1..2000 { } } }\n}\n", NULL, "model-size", 2,
            "larger than");
    refuses("model m {\n  parameter K[2000,2000] = 1;\n}\n", NULL, "model-size", 2, "the most is");
    refuses("model m {\n  for i in 1..2 { 1:v[i]; R:r = 1; }\n}\n", NULL, "loop-index", 2, "Write R:r[i]");
    refuses("model m {\n  1:v[3] -> R:r = 1;\n}\n", NULL, "declare-chain", 2, "in a loop");
    refuses("model m {\n  parameter k[3] = [1, 2];\n}\n", NULL, "matrix-size", 2,
            "\"k\" is a vector of 3, but this is a vector of 2");
    refuses("model m {\n  parameter k = [1, 2];\n}\n", NULL, "matrix-size", 2, "An array says its size");
    refuses("model m {\n  parameter k[2] = [1, 2];\n  parameter l[3] = 1;\n  signal s = k*l;\n}\n", NULL, "matrix-size",
            4, "cannot be multiplied");
    refuses("model m {\n  parameter k[2] = [1, 2];\n  signal s = sin(k);\n}\n", NULL, "matrix-number", 3,
            "a vector of 2");
    refuses("model m {\n  parameter k[2] = [1 [kg], 2 [m]];\n}\n", NULL, "unit-clash", 2, "entries of one matrix");
    refuses("model m {\n  1:v[2];\n  1:v;\n}\n", NULL, "name-twice", 3, "\"v\"");
    refuses("model m {\n  for i in 1..2 { 1:v[1]; }\n}\n", NULL, "name-twice", 2, "\"v[1]\"");
    refuses("model m {\n  constant a = b;\n  constant b = a;\n  1:v[a];\n}\n", NULL, "known-number", 3, "too deeply");
    refuses("model m {\n  if time > 1 { 1:v; }\n}\n", NULL, "name-unknown", 2, "");
}

/* ---------------------------------------------------------------- without */

static void
taken_out(void **state)
{
    (void)state;
    HAS("model m(n = 6) {\n  1:v[n];\n  for i in 1..n { v[i] -> I:mass[i] = 1; v[i] -> R:drag[i] = 2; }\n  for i in "
        "1..n-1 { v[i] -> 0:link[i] -> v[i+1]; link[i] -> C:s[i] = 1; }\n"
        "  without drag[2..4], drag[n], mass[3];\n  without link[5];\n}\n",
        "1:v[3]: +link[2] -link[3]\n", "!R:drag[3]", "R:drag[5] <- v[5]", "!0:link[5]", "!I:mass[3]", "!C:s[5]");
    HAS(WHEEL "model car {\n  1:b -> I:m = 1;\n  b -> 0:x -> Wheel:w without spring, damper;\n  0:y -> Wheel:z;\n  b "
              "-> y;\n}\n",
        "!1:w.rim", "!R:w.damper", "R:z.damper");
    HAS(WHEEL "model car {\n  1:b -> I:m = 1;\n  Wheel:w[3];\n  for i in 1..3 { b -> w[i]; }\n  without w[2], "
              "w[3].spring;\n}\n",
        "!I:w[2].mass", "C:w[1].spring", "!C:w[3].spring", "R:w[3].damper");
    refuses(WHEEL "model car {\n  1:b -> Wheel:w without spring;\n  output y = w.spring.q;\n}\n", NULL, "part-gone", 13,
            "taken out");
    refuses("model m {\n  1:v -> R:r = 1;\n  without q;\n}\n", NULL, "name-unknown", 3, "\"q\"");
    refuses("model m {\n  1:v -> R:r = 1 as b;\n  without b;\n}\n", NULL, "without-bond", 3, "is a bond");
}

/* ---------------------------------------------------------------- imports */

static char folder[] = "/tmp/bg_importsXXXXXX";

static void
write_file(const char *name, const char *text)
{
    char *path = bg_format("%s/%s", folder, name);
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    free(path);
}

static void
imports(void **state)
{
    char *main_path, *library, *command;

    (void)state;
    assert_non_null(mkdtemp(folder));
    main_path = bg_format("%s/main.bg", folder);
    library = bg_format("%s/lib", folder);
    mkdir(library, 0700);
    write_file("tire.bg", "import \"inner.bg\";\nconstant two = 2;\nfunction twice(x) = base*x;\nmodel Tire {\n  port "
                          "1:hub;\n  hub -> R:r = twice(3);\n}\n");
    write_file("inner.bg", "constant base = 5;\n");
    write_file("other.bg", "constant two = 3;\nmodel Tire {\n  port 1:hub;\n}\nmodel Own {\n  port 1:a;\n}\n");
    write_file("circle.bg", "import \"circle2.bg\";\n");
    write_file("circle2.bg", "import \"circle.bg\";\n");
    write_file("lib/part.bg", "model Part {\n  port 1:a;\n  a -> R:r = 8;\n}\n");
    setenv("BGC_STDLIB", library, 1);
    has_lines(main_path,
              "import \"tire.bg\";\nimport part;\nmodel car {\n  1:b -> I:m = two;\n  b -> 0:x -> Tire:t;\n  x -> "
              "Part:p;\n}\n",
              NULL, (const char *const[]){ "R:t.r <- t.hub linear", "R:p.r <- p.a", "p = two*b.f", NULL });
    {
        static const struct {
            const char *text, *code, *message;
        } wrong[] = {
            { "import \"none.bg\";\nmodel m { }\n", "import-missing", "there is no file \"none.bg\"" },
            { "import mechanics.none;\nmodel m { }\n", "import-missing", "no \"mechanics.none\"" },
            { "import \"circle.bg\";\nmodel m { }\n", "import-circle", "circle.bg -> " },
            { "import \"tire.bg\";\nimport \"other.bg\";\nmodel m {\n  1:v -> Tire:t;\n}\n", "import-clash",
              "\"Tire\"" },
            { "import \"tire.bg\";\nimport \"other.bg\";\nmodel m {\n  1:v -> R:r = two;\n}\n", "import-clash",
              "\"two\"" },
            { "import \"tire.bg\";\nmodel m {\n  1:v -> R:r = base;\n}\n", "name-unknown", "\"base\"" },
        };

        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            compilation c;
            bool said = false;

            assert_false(elaborated(&c, main_path, wrong[k].text, NULL, NULL, 0));
            for (size_t i = 0; i < diag_count(c.sources); i++)
                said = said || (!strcmp(diag_at(c.sources, i)->code, wrong[k].code) &&
                                strstr(diag_at(c.sources, i)->message, wrong[k].message));
            if (!said)
                diag_print(c.sources, stderr, false, DIAG_ALL);
            assert_true(said);
            compile_free(&c);
        }
    }
    /* a matrix beside the file */
    write_file("K.csv", "1,2,3\n4,5,6\n");
    write_file("v.csv", "x [mm]\n1\n2\n");
    has_lines(main_path,
              "model m {\n  parameter K[2,3] [N/m] = table(\"K.csv\");\n  parameter v[2] [m] = table(\"v.csv\");\n}\n",
              NULL, (const char *const[]){ "parameter K[2,1] [N/m] = 4\n", "parameter v[2] [m] = 0.002\n", NULL });
    /* a clash harms where the name is used only */
    has_lines(main_path,
              "import \"tire.bg\";\nimport \"other.bg\";\nmodel car {\n  1:b -> I:m = 1;\n  b -> Own:o;\n}\n", NULL,
              (const char *const[]){ "1:o.a", NULL });
    unsetenv("BGC_STDLIB");
    command = bg_format("rm -r %s", folder);
    assert_int_equal(system(command), 0);
    free(command);
    free(library);
    free(main_path);
}

/* ---------------------------------------------------------------- reductions */

/* What the text becomes without the named elements; checked by graph; nothing more to do the second time. */
static void
reduced(const char *text, const char *experiment, const char *names_text, const char *want, const char *blocked)
{
    compilation a, b;
    char *list = bg_strdup(names_text), *save = NULL, *why;
    const char *name[100];
    strbuf out = { 0 };
    size_t n = 0;
    rewrite r;

    if (!elaborated(&a, "test.bg", text, experiment, NULL, 0)) {
        diag_print(a.sources, stderr, false, DIAG_ALL);
        fail_msg("not elaborated:\n%s", text);
    }
    for (char *w = strtok_r(list, " ", &save); w; w = strtok_r(NULL, " ", &save))
        name[n++] = names_intern_z(a.names, w);
    if (!rewrite_plan(&(rewrite_request){ .f = a.flat, .file = a.ast, .name = name, .n = n }, &r))
        fail_msg("%s", r.error);
    edits_apply(&r.edits, text, strlen(text), &out);
    assert_string_equal(out.at, want);
    if (blocked) {
        assert_true(r.blocked.n > 0);
        assert_string_equal(r.blocked.at[0].element, blocked);
    } else {
        assert_int_equal(r.blocked.n, 0);
    }
    if (!elaborated(&b, "test.bg", out.at, experiment, NULL, 0)) {
        diag_print(b.sources, stderr, false, DIAG_ALL);
        fail_msg("not elaborated:\n%s", out.at);
    }
    if (!rewrite_check(a.flat, &r, b.flat, &why))
        fail_msg("%s", why);
    rewrite_free(&r);
    assert_true(rewrite_plan(&(rewrite_request){ .f = b.flat, .file = b.ast }, &r));
    assert_int_equal(r.edits.list.n, 0);
    rewrite_free(&r);
    strbuf_free(&out);
    free(list);
    compile_free(&a);
    compile_free(&b);
}

#define LOOP_HEAD "model m {\n    1:v[6];\n    for i in 1..6 {\n        v[i] -> I:mass[i] = 1;\n"
#define LOOP_DRAG "        v[i] -> R:drag[i] = 2;   // air\n"
#define LOOP_END \
    "    }\n    for i in 1..5 {\n        v[i] -> 0:link[i] -> v[i+1];\n        link[i] -> C:s[i] = 1;\n    }\n"

static void
reductions(void **state)
{
    (void)state;
    /* some copies: behind the loop; then the list is extended, ranges compressed, and with the last the line goes */
    reduced(LOOP_HEAD LOOP_DRAG LOOP_END "}\n", NULL, "drag[4] drag[2] drag[3]",
            LOOP_HEAD LOOP_DRAG "    }\n    without drag[2..4];\n    for i in 1..5 {\n        v[i] -> 0:link[i] -> "
                                "v[i+1];\n        link[i] -> C:s[i] = 1;\n    }\n}\n",
            NULL);
    reduced(LOOP_HEAD LOOP_DRAG LOOP_END "    without drag[2..4]; // few\n}\n", NULL, "drag[6] drag[5] s[1]",
            LOOP_HEAD LOOP_DRAG LOOP_END "    without drag[2..6], s[1]; // few\n}\n", NULL);
    reduced(LOOP_HEAD LOOP_DRAG LOOP_END "    without drag[2..4];\n}\n", NULL, "drag[1] drag[5] drag[6]",
            LOOP_HEAD LOOP_END "}\n", NULL);
    reduced(LOOP_HEAD LOOP_DRAG LOOP_END "    without drag[2..4], mass[2];\n}\n", NULL,
            "drag[1] drag[5] drag[6] mass[3]", LOOP_HEAD LOOP_END "    without mass[2..3];\n}\n", NULL);
    /* inside a component */
    reduced(WHEEL "model car {\n    1:b -> I:m = 1;\n    Wheel:w(k = 3 [kN/m]); // one\n    b -> w.hub;\n}\n", NULL, "",
            WHEEL "model car {\n    1:b -> I:m = 1;\n    Wheel:w(k = 3 [kN/m]); // one\n    b -> w.hub;\n}\n", NULL);
}

static void
component_reductions(void **state)
{
    const char *head = WHEEL "experiment x of car { stop = 1; }\n";
    char *before, *after;

    (void)state;
    before = bg_format("%s%s", head,
                       "model car {\n    1:b -> I:m = 1;\n    b -> R:air = 1;\n    Wheel:w(k = 3 [kN/m]); // one\n    "
                       "b -> w.hub;\n}\n");
    after = bg_format(
        "%s%s", head,
        "model car {\n    1:b -> I:m = 1;\n    Wheel:w(k = 3 [kN/m]) without damper; // one\n    b -> w.hub;\n}\n");
    reduced(before, "x", "w.damper air", after, NULL);
    free(before);
    before = after;
    after = bg_format("%s%s", head,
                      "model car {\n    1:b -> I:m = 1;\n    Wheel:w(k = 3 [kN/m]) without damper, spring; // one\n    "
                      "b -> w.hub;\n}\n");
    reduced(before, "x", "w.spring", after, NULL);
    free(before);
    free(after);
    /* arrays of components */
    before = bg_format("%s%s", head,
                       "model car {\n    1:b -> I:m = 1;\n    for i in 1..3 {\n        Wheel:w[i];\n        b -> "
                       "w[i];\n    }\n    output y = w[2].spring.q;\n}\n");
    after = bg_format("%s%s", head,
                      "model car {\n    1:b -> I:m = 1;\n    for i in 1..3 {\n        Wheel:w[i];\n        b -> "
                      "w[i];\n    }\n    without w[1].damper, w[3].spring;\n"
                      "    output y = w[2].spring.q;\n}\n");
    reduced(before, "x", "w[1].damper w[3].spring w[2].spring", after, "w[2].spring");
    free(before);
    free(after);
    /* initial values of the experiment go with what they set */
    before = bg_format("%s%s", WHEEL,
                       "model car {\n    1:b -> I:m = 1;\n    b -> Wheel:w;\n}\nexperiment x of car {\n    stop = 1;\n "
                       "   let w.spring.q(0) = 1 [mm];\n}\n");
    after = bg_format("%s%s", WHEEL,
                      "model car {\n    1:b -> I:m = 1;\n    b -> Wheel:w without spring;\n}\nexperiment x of car {\n  "
                      "  stop = 1;\n}\n");
    reduced(before, "x", "w.spring", after, NULL);
    free(before);
    free(after);
}

/* ---------------------------------------------------------------- time */

static void
grows_linearly(void **state)
{
    static const char format[] = "model m(n = %d) {\n  parameter m[n] = 1;\n  1:v[n];\n  for i in 1..n { v[i] -> "
                                 "I:mass[i] = m[i]; v[i] -> R:drag[i] = 0.1; }\n"
                                 "  for i in 1..n-1 { v[i] -> 0:link[i] -> v[i+1]; link[i] -> C:spring[i] = 0.01; "
                                 "link[i] -> R:damper[i] = 5; }\n}\n";
    double seconds[2];

    (void)state;
    for (int k = 0; k < 2; k++) {
        char *text = bg_format(format, k ? 50000 : 12500);
        struct timespec a, b;
        compilation c;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        assert_true(elaborated(&c, "test.bg", text, NULL, NULL, 0));
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        seconds[k] = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        print_message("%zu elements: %.3f s\n", c.flat->element.n, seconds[k]);
        compile_free(&c);
        free(text);
    }
    assert_true(seconds[1] < 12 * seconds[0]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(instances),     cmocka_unit_test(component_mistakes),
                                        cmocka_unit_test(arrays),        cmocka_unit_test(array_mistakes),
                                        cmocka_unit_test(taken_out),     cmocka_unit_test(imports),
                                        cmocka_unit_test(reductions),    cmocka_unit_test(component_reductions),
                                        cmocka_unit_test(grows_linearly) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
