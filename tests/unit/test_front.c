/* test_front.c - text to tree and back: scanning, trees, messages, recovery, limits, layout, and what they stand on
 *
 * BG_SHARED  names a folder with models in cases/models; without it those are left out
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>

#include <cmocka.h>

#include "ast.h"
#include "scan.h"

/* ---------------------------------------------------------------- helpers */

struct front {
    sources *s;
    names *n;
    arena *a;
    ast_file *f;
    char *tree;
};

static char *
tree_text(const sources *s, const ast_file *f)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    assert_non_null(out);
    ast_dump(s, f, out);
    fclose(out);
    return text;
}

static char *
messages(const sources *s)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    assert_non_null(out);
    diag_print(s, out, false, DIAG_ALL);
    fclose(out);
    return text;
}

static struct front
front_of(const char *text, size_t n)
{
    struct front x = { sources_new(), names_new(), arena_new(), NULL, NULL };

    x.f = parse_file(x.s, x.n, x.a, (uint32_t)sources_add_text(x.s, "t.bg", text, n));
    x.tree = tree_text(x.s, x.f);
    return x;
}

static struct front
front(const char *text)
{
    return front_of(text, strlen(text));
}

static void
front_end(struct front *x)
{
    free(x->tree);
    sources_free(x->s);
    names_free(x->n);
    arena_free(x->a);
}

/* The text parses and its tree is this (without the first line). */
static void
assert_tree(const char *text, const char *tree)
{
    struct front x = front(text);
    char *said = messages(x.s);

    assert_string_equal(said, "");
    assert_true(x.f->ok);
    assert_string_equal(strchr(x.tree, '\n') + 1, tree);
    free(said);
    front_end(&x);
}

/* The same for the only statement of a model. */
static void
assert_stmt(const char *stmt, const char *tree)
{
    char *text = bg_format("model m {\n%s\n}\n", stmt), *whole = bg_format("model m\n%s", tree);

    assert_tree(text, whole);
    free(text);
    free(whole);
}

static void
assert_expr(const char *expr, const char *tree)
{
    char *stmt = bg_format("signal y = %s;", expr), *whole = bg_format("  signal y\n    value\n%s", tree);

    assert_stmt(stmt, whole);
    free(stmt);
    free(whole);
}

/* The first message of a text: where it points, its slug, and words in it. */
static void
assert_error(const char *text, int line, int column, const char *code, const char *words)
{
    struct front x = front(text);
    const diagnostic *d;
    int l, c;

    assert_false(x.f->ok);
    assert_true(diag_errors(x.s) > 0);
    d = diag_at(x.s, 0);
    source_place(x.s, d->at.file, d->at.begin, &l, &c);
    if (l != line || c != column || strcmp(d->code, code) != 0 || !strstr(d->message, words))
        fail_msg("%s\nsaid %d:%d %s [%s], not %d:%d %s [%s]", text, l, c, d->message, d->code, line, column, words,
                 code);
    front_end(&x);
}

/* ---------------------------------------------------------------- base.h */

static void
test_memory(void **state)
{
    arena *a = arena_new();
    VEC(int) v = { 0 };
    strbuf b = { 0 };
    char *s;

    (void)state;
    for (size_t i = 0; i < 3000; i++) {
        unsigned char *p = arena_alloc(a, i * 7);

        assert_int_equal((uintptr_t)p % sizeof(max_align_t *), 0);
        for (size_t k = 0; k < i * 7; k += 13)
            assert_int_equal(p[k], 0);
        memset(p, 0xff, i * 7);
    }
    assert_string_equal(arena_format(a, "%d-%s", 7, "x"), "7-x");
    assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
    for (int i = 0; i < 1000; i++)
        vec_push(&v, i);
    vec_resize(&v, 2000);
    assert_int_equal(v.at[999], 999);
    assert_int_equal(v.at[1999], 0);
    vec_free(&v);
    for (int i = 0; i < 100; i++)
        strbuf_printf(&b, "%d,", i);
    assert_int_equal(b.n, strlen(b.at));
    strbuf_free(&b);
    s = bg_format("%100s", "x");
    assert_int_equal(strlen(s), 100);
    free(s);
    arena_free(a);
    arena_free(NULL);
}

/* All numbers with one last digit meet at one place. */
static uint64_t
last_digit(const void *ctx, uint32_t k)
{
    return ((const uint32_t *)ctx)[k] % 10;
}

static void
test_index_set(void **state)
{
    enum { N = 500 };
    uint32_t record[N], k;
    index_set s = { 0 };

    (void)state;
    assert_int_equal(index_set_at(&s, 3), MAP_NONE);
    for (uint32_t i = 0; i < N; i++) {
        record[i] = 7 * i;
        index_set_add(&s, last_digit(record, i), i, last_digit, record);
    }
    for (uint32_t i = 0; i < N; i++) {
        size_t at = last_digit(record, i);

        while ((k = index_set_at(&s, at)) != MAP_NONE && record[k] != 7 * i)
            at++;
        assert_int_equal(k, i);
    }
    for (size_t at = 3; (k = index_set_at(&s, at)) != MAP_NONE; at++)
        assert_int_not_equal(record[k], 13);
    index_set_free(&s);
}

static void
test_maps_and_names(void **state)
{
    map m = { 0 };
    names *n = names_new();
    const char *first = names_intern_z(n, "mass");

    (void)state;
    assert_int_equal(map_get(&m, 5), MAP_NONE);
    for (uint32_t i = 0; i < 5000; i++)
        map_set(&m, (uint64_t)i << 32, i);
    map_set(&m, 0, 77);
    assert_int_equal(m.n, 5000);
    assert_int_equal(map_get(&m, 0), 77);
    assert_int_equal(map_get(&m, UINT64_C(4999) << 32), 4999);
    assert_int_equal(map_get(&m, 1), MAP_NONE);
    map_free(&m);
    for (int i = 0; i < 5000; i++) {
        char *s = bg_format("name%d", i);

        names_intern_z(n, s);
        free(s);
    }
    assert_ptr_equal(first, names_intern(n, "mass_s", 4));
    assert_ptr_not_equal(first, names_intern_z(n, "mas"));
    assert_string_equal(names_intern(n, "", 0), "");
    names_free(n);
}

static void
test_nearest_name(void **state)
{
    static const char *const list[] = { "spring_s", "damper_s", "mass_s", "wheel", "b", NULL };

    (void)state;
    assert_string_equal(nearest_name("sprign_s", list, 6), "spring_s");
    assert_string_equal(nearest_name("spring_t", list, 6), "spring_s");
    assert_string_equal(nearest_name("Wheel", list, 6), "wheel");
    assert_string_equal(nearest_name("whel", list, 6), "wheel");
    assert_null(nearest_name("c", list, 6));
    assert_null(nearest_name("gravity", list, 6));
    assert_null(nearest_name("", list, 6));
}

/* ---------------------------------------------------------------- source.h */

static void
test_printing(void **state)
{
    sources *s = sources_new();
    uint32_t f = (uint32_t)sources_add_text(s, "a.bg", "one\n\ttwo \xc3\xa4 three\r\nfour\n", 24);
    char *said;

    (void)state;
    diag_error(s, "a-slug", (span){ f, 12, 100 }, "wrong %d", 1);
    diag_note(s, (span){ f, 0, 3 }, "because");
    diag_help(s, "Do this.");
    diag_error(s, "a-slug", (span){ f, 12, 100 }, "wrong %d", 1); /* said already */
    diag_warn(s, "b-slug", (span){ f, 23, 23 }, "at the end");
    diag_error(s, "c-slug", SPAN_NONE, "all of it");
    said = messages(s);
    assert_string_equal(said, "a.bg:2:9: error: wrong 1 [a-slug]\n"
                              "    2 |     two \xc3\xa4 three\n"
                              "      |           ^~~~~\n"
                              "a.bg:1:1: note: because\n"
                              "    1 | one\n"
                              "      | ^~~\n"
                              "      = help: Do this.\n"
                              "a.bg:3:5: warning: at the end [b-slug]\n"
                              "    3 | four\n"
                              "      |     ^\n"
                              "bgc: error: all of it [c-slug]\n");
    free(said);
    sources_free(s);
}

static void
test_long_lines_and_many_errors(void **state)
{
    sources *s = sources_new();
    char *text = bg_malloc(10000), *said;
    uint32_t f;

    (void)state;
    memset(text, 'x', 10000);
    f = (uint32_t)sources_add_text(s, "a.bg", text, 10000);
    free(text);
    for (uint32_t i = 0; i < 50; i++)
        diag_error(s, "slug", (span){ f, 5000 + i, 9000 }, "number %u", i);
    assert_int_equal(diag_errors(s), 50);
    assert_int_equal(diag_count(s), SOURCES_MAX_ERRORS);
    said = messages(s);
    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) < 200);
    free(said);
    said = messages(s);
    assert_non_null(strstr(said, "30 more errors are not shown"));
    free(said);
    assert_int_equal(sources_read(s, "/no/such/file.bg"), -1);
    assert_int_equal(sources_read(s, "/"), -1);
    sources_free(s);
}

/* ---------------------------------------------------------------- scanning */

static void
test_brackets(void **state)
{
    (void)state;
    assert_expr("v[3]", "      read v[#]\n        index\n          number 3\n");
    assert_expr("m[i, j+1].q", "      read m[##].q\n        index\n          read i\n        index\n          +\n      "
                               "      read j\n            number 1\n");
    assert_expr("m[1][2]", "      read m[##]\n        index\n          number 1\n        index\n          number 2\n");
    assert_expr("5 [kg.m^2]", "      number 5 [kg.m^2]\n");
    assert_expr("1/8[N/m]", "      /\n        number 1\n        number 8 [N/m]\n");
    assert_expr("[1, -2; a[1], 4] [ N/m ]",
                "      matrix 2 x 2 [N/m]\n        number 1\n        negative\n          number 2\n"
                "        read a[#]\n          index\n            number 1\n        number 4\n");
    assert_stmt("parameter k[2] [N/m] = 3 [N/mm] \"a \\\"text\\\"\";",
                "  parameter k [N/m] \"a \\\"text\\\"\"\n    size\n      number 2\n    value\n      number 3 [N/mm]\n");
    assert_stmt("input u [\xce\xa9];", "  input u [\xce\xa9]\n");
}

static void
test_numbers(void **state)
{
    (void)state;
    assert_expr("1e-3", "      number 0.001\n");
    assert_expr("2.5E6", "      number 2500000\n");
    assert_stmt("without s[5..9];", "  without s[#]\n    index range\n      number 5\n      number 9\n");
    assert_stmt("0:x -> 1:v;", "  chain\n    part 0: x\n    part 1: v\n");
    assert_stmt("0 : x->1 : v;", "  chain\n    part 0: x\n    part 1: v\n");
}

static void
test_scan_text(void **state)
{
    sources *s = sources_new();
    scan_tokens t = { 0 };
    const char *text = "model m { // c\n v[1] -> I:m = 3 [kg]; }";
    static const enum scan_kind kind[] = { SCAN_WORD,   SCAN_NAME,      SCAN_SIGN, SCAN_COMMENT, SCAN_NAME, SCAN_INDEX,
                                           SCAN_NUMBER, SCAN_INDEX_END, SCAN_SIGN, SCAN_NAME,    SCAN_SIGN, SCAN_NAME,
                                           SCAN_SIGN,   SCAN_NUMBER,    SCAN_UNIT, SCAN_SIGN,    SCAN_SIGN };

    (void)state;
    scan_text(s, (uint32_t)sources_add_text(s, "t.bg", text, strlen(text)), &t);
    assert_int_equal(t.n, sizeof kind / sizeof *kind);
    for (size_t i = 0; i < t.n; i++)
        assert_int_equal(t.at[i].kind, kind[i]);
    assert_true(scan_reserved("start", 5));
    assert_true(scan_reserved("as", 2));
    assert_false(scan_reserved("stop", 4));
    assert_false(scan_reserved("a", 1));
    assert_false(scan_reserved("zz", 2));
    vec_free(&t);
    sources_free(s);
}

/* ---------------------------------------------------------------- trees */

static void
test_precedence(void **state)
{
    (void)state;
    assert_expr("-x^2", "      negative\n        ^\n          read x\n          number 2\n");
    assert_expr("2^-x", "      ^\n        number 2\n        negative\n          read x\n");
    assert_expr("a^b^c", "      ^\n        read a\n        ^\n          read b\n          read c\n");
    assert_expr("a - b - c", "      -\n        -\n          read a\n          read b\n        read c\n");
    assert_expr("a + b*c < d and not e or f",
                "      or\n        and\n          <\n            +\n              read a\n              *\n            "
                "    read b\n                read c\n"
                "            read d\n          not\n            read e\n        read f\n");
    assert_expr("if a then b else if c then d else e + 1",
                "      if\n        read a\n        read b\n        if\n          read c\n          read d\n          "
                "+\n            read e\n            number 1\n");
    assert_expr("integral(body.f, 1 [m]) + table(\"a\\\\b.csv\", 2, time)",
                "      +\n        call integral\n          read body.f\n          number 1 [m]\n        call table\n   "
                "       text \"a\\\\b.csv\"\n"
                "          number 2\n          read time\n");
}

static void
test_chains(void **state)
{
    (void)state;
    assert_stmt("a -> GY:emf = k -> 1:rotor as shaft;",
                "  chain as shaft\n    reference a\n    part GY: emf\n      law\n        read k\n    part 1: rotor\n");
    assert_stmt("Se:l such that x.e - 1 -> node;", "  chain\n    part Se: l\n      such that\n        -\n          "
                                                   "read x.e\n          number 1\n    reference node\n");
    assert_stmt("v -> C:s = 1/k { q(0) = 1 [mm]; }",
                "  chain\n    reference v\n    part C: s\n      law\n        /\n          number 1\n          read k\n "
                "     initial q\n        number 1 [mm]\n");
    assert_stmt("R:x { port a[2], b -> c; a.f = b.e; energy = 0; }",
                "  chain\n    part R: x\n      port left a\n        size\n          number 2\n      port left b\n      "
                "port right c\n"
                "      equation a.f\n        read b.e\n      equation energy\n        number 0\n");
    assert_stmt("1:w { f(0) = 1; } -> b as c;",
                "  chain as c\n    part 1: w\n      initial f\n        number 1\n    reference b\n");
    assert_stmt("0:room[n] in heat;", "  chain\n    part 0: room[#]\n      index\n        read n\n      in heat\n");
    assert_stmt("Wheel:front[i](k = 2, brake = pedal) without rim, hub.bearing[1..2];",
                "  chain\n    part Wheel: front[#]\n      index\n        read i\n      argument k\n        number 2\n  "
                "    argument brake\n        read pedal\n"
                "      without rim\n      without hub.bearing[#]\n        index range\n          number 1\n          "
                "number 2\n");
}

static void
test_statements(void **state)
{
    (void)state;
    assert_stmt("port 1:hub, 0:patch in heat;", "  ports\n    part 1: hub\n    part 0: patch\n      in heat\n");
    assert_stmt("for i in 1..n-1 { 1:v[i]; }",
                "  for i\n    from\n      number 1\n    to\n      -\n        read n\n        number 1\n    chain\n     "
                " part 1: v[#]\n        index\n          read i\n");
    assert_stmt("if n > 3 { 1:a; } else if n == 2 { } else { 1:b; }",
                "  if\n    condition\n      >\n        read n\n        number 3\n    chain\n      part 1: a\n  else\n  "
                "  if\n      condition\n        ==\n"
                "          read n\n          number 2\n    else\n      chain\n        part 1: b\n");
    assert_stmt("when time >= 1 [s] { reinit a.q = 0; reinit b = 1; }",
                "  when\n    condition\n      >=\n        read time\n        number 1 [s]\n    reinit a.q\n      "
                "number 0\n    reinit b\n      number 1\n");
    assert_stmt("parameter R;", "  parameter R\n");
}

static void
test_declarations(void **state)
{
    (void)state;
    assert_tree("function f(t [s], x) [m] = t;", "function f [m]\n  argument t [s]\n  argument x\n  read t\n");
    assert_tree("domain heat { effort T [K]; flow q [W]; power = flow; }",
                "domain heat\n  effort T [K]\n  flow q [W]\n  power\n    read flow\n");
    assert_tree("import mechanics.translation; import \"tire.bg\"; constant g = 9.81 [m/s^2];",
                "import mechanics.translation\nimport \"tire.bg\"\nconstant g\n  value\n    number 9.8100000000000005 "
                "[m/s^2]\n");
    assert_tree("model truck(n = 10, k = 2) \"text\" { }",
                "model truck \"text\"\n  size n\n    number 10\n  size k\n    number 2\n");
    assert_tree("experiment e of m { start = 1; stop = 2 [s]; start from equilibrium; let u[2] = 1; let s.q(0) = e;"
                " window 1 .. 2; observe y[2] within 1 [mm]; observe z; keep a, b[1..2]; record x, y.f; }",
                "experiment e of m\n  set start\n    number 1\n  set stop\n    number 2 [s]\n  start from "
                "equilibrium\n  let u[#]\n    index\n      number 2\n"
                "    number 1\n  let initial s.q\n    read e\n  window\n    number 1\n    number 2\n  observe y[#]\n   "
                " index\n      number 2\n    number 1 [mm]\n"
                "  observe z\n  keep a\n  keep b[#]\n    index range\n      number 1\n      number 2\n  record\n    "
                "read x\n    read y.f\n");
    assert_tree("", "");
    assert_tree("\xef\xbb\xbf// only a comment", "");
}

/* What a span covers, as text. */
static void
assert_span(const struct front *x, span at, const char *text)
{
    assert_int_equal(at.end - at.begin, strlen(text));
    assert_memory_equal(source_text(x->s, at.file) + at.begin, text, strlen(text));
}

static void
test_spans(void **state)
{
    struct front x = front("model m { // note  \n  a[1] -> C:s = 1/(k) { q(0) = 1; } as b;\n  parameter k = 3 [N/m];\n "
                           " Wheel:w(k = 2) in d;\n}");
    const ast_model *m = x.f->decl[0].model;
    const ast_stmt *c = m->stmt[0];

    (void)state;
    assert_true(x.f->ok);
    assert_int_equal(x.f->ncomments, 1);
    assert_span(&x, x.f->comment[0], "// note");
    assert_span(&x, m->name_at, "m");
    assert_span(&x, c->at, "a[1] -> C:s = 1/(k) { q(0) = 1; } as b;");
    assert_span(&x, ast_chain_bond(c).at, "as b");
    assert_span(&x, ast_arrow_at(ast_chain(c), 1), "->");
    assert_span(&x, ast_node_at(&ast_chain(c)[0]), "a[1]");
    assert_span(&x, ast_chain(c)[0].ref->part[0].brackets->at, "[1]");
    assert_span(&x, ast_node_at(&ast_chain(c)[1]), "C:s = 1/(k) { q(0) = 1; }");
    assert_span(&x, ast_chain(c)[1].own->linear->at, "1/(k)");
    assert_span(&x, ast_chain(c)[1].own->block->at, "{ q(0) = 1; }");
    assert_span(&x, ast_chain(c)[1].own->block->item[0].at, "q(0) = 1;");
    assert_span(&x, m->stmt[1]->value.value->at, "3 [N/m]");
    assert_span(&x, ast_number_unit(m->stmt[1]->value.value)->at, "[N/m]");
    assert_span(&x, ast_chain(m->stmt[2])[0].own->more->args_at, "(k = 2)");
    assert_span(&x, ast_chain(m->stmt[2])[0].own->more->domain_at, "d");
    front_end(&x);
}

/* ---------------------------------------------------------------- messages */

static void
test_lexical_errors(void **state)
{
    (void)state;
    assert_error("model m { parameter a = 1.; }", 1, 25, "syntax-number", "digits on both sides");
    assert_error("model m { parameter a = 1.e3; }", 1, 25, "syntax-number", "digits on both sides");
    assert_error("model m { parameter a = .5; }", 1, 25, "syntax-number", "digits on both sides");
    assert_error("model m { parameter a = 1e999; }", 1, 25, "syntax-number", "too large");
    assert_error("model m { parameter a = 5kg; }", 1, 25, "syntax-number", "ends where letters begin");
    assert_error("model m { a --> b; }", 1, 13, "syntax-arrow", "written `->`");
    assert_error("model m { a => b; }", 1, 13, "syntax-arrow", "written `->`");
    assert_error("model m { a \xe2\x86\x92 b; }", 1, 13, "syntax-character", "not part of the language");
    assert_error("model m { 1:v; $ }", 1, 16, "syntax-character", "`$`");
    assert_error("model m { 1:v; /* x */ }", 1, 16, "syntax-comment", "begins with `//`");
    assert_error("model m { 1:v; } /* x", 1, 18, "syntax-comment", "not closed");
    assert_error("model m { 1:v; } # x", 1, 18, "syntax-comment", "begins with `//`");
    assert_error("model m \"text {\n 1:v;\n}", 1, 9, "syntax-string", "not closed");
    assert_error("model m { parameter a = 5 [kg;\n}", 1, 27, "syntax-unit", "`]`");
    assert_error("model m { parameter a = 5 [ ]; }", 1, 27, "syntax-unit", "empty");
    assert_error("model m { parameter a = b && c; }", 1, 27, "syntax-operator", "`and`");
    assert_error("model m { parameter a = b**c; }", 1, 26, "syntax-operator", "`^`");
}

static void
test_syntax_errors(void **state)
{
    (void)state;
    assert_error("model m {\n    parameter a = 5 [kg]\n    parameter b = 3;\n}", 2, 25, "syntax-semicolon",
                 "expected `;`");
    assert_error("model m {\n    1:v\n    v -> I:m = 3;\n}", 2, 8, "syntax-semicolon", "expected `;`");
    assert_error("model m { C:x { e = q } }", 1, 22, "syntax-semicolon", "expected `;`");
    assert_error("model m { parameter a = 5 kg; }", 1, 27, "syntax-unit", "a unit between");
    assert_error("model m { parameter a kg = 5; }", 1, 23, "syntax-unit", "a unit before");
    assert_error("model m { v [3] -> I:m; }", 1, 13, "syntax-unit", "behind a number");
    assert_error("model m { signal y = (3 + 4; }", 1, 28, "syntax-bracket", "expected `)`");
    assert_error("model m { signal y = v[3; }", 1, 25, "syntax-bracket", "expected `]`");
    assert_error("model m { signal y = 3); }", 1, 23, "syntax-bracket", "no `(`");
    assert_error("model m { signal y = [1, 2\n}", 1, 27, "syntax-bracket", "expected `]`");
    assert_error("model m { C:x { e = (q } }", 1, 23, "syntax-bracket", "expected `)`");
    assert_error("model m { 1:from; }", 1, 13, "syntax-reserved", "`from` is a reserved word");
    assert_error("model m { signal time = 3; }", 1, 18, "syntax-reserved", "`time`");
    assert_error("model m { signal y = a.port; }", 1, 24, "syntax-reserved", "`port`");
    assert_error("model m { signal y = ; }", 1, 22, "syntax-value", "missing before `;`");
    assert_error("model m { signal y = if a then else 3; }", 1, 32, "syntax-value", "missing before `else`");
    assert_error("model m { signal y = a < b < c; }", 1, 28, "syntax-comparison", "do not chain");
    assert_error("model m { if a = 3 { 1:x; } }", 1, 16, "syntax-comparison", "`==`");
    assert_error("model m { parameter a == 3; }", 1, 23, "syntax-comparison", "`=`");
    assert_error("model m { if a then b else c; }", 1, 16, "syntax", "in braces");
    assert_error("model m { signal y; }", 1, 18, "syntax-value", "no value");
    assert_error("model m { v; }", 1, 11, "syntax-chain", "alone");
    assert_error("model m { 2:v; }", 1, 11, "syntax-type", "type 2");
    assert_error("model m { C:x { q(1) = 3; } }", 1, 19, "syntax-initial", "`(0)`");
    assert_error("model m { 1:v;; }", 1, 15, "syntax-empty", "nothing stands");
    assert_error("model m { C:x { e = q; }; }", 1, 25, "syntax-empty", "nothing stands");
    assert_error("model m { signal y = [1, 2; 3]; }", 1, 29, "syntax-matrix", "1 entry");
    assert_error("model m { signal y = [[1, 2], [3, 4]]; }", 1, 23, "syntax-matrix", "not a matrix");
    assert_error("model m { signal y = a[1, 2, 3]; }", 1, 23, "syntax-index", "two indices");
    assert_error("model m { x = 3; }", 1, 13, "syntax-habit", "declared before it is used");
    assert_error("1:v;", 1, 1, "syntax", "expected a model");
    assert_error("experiment e { }", 1, 12, "experiment-model", "does not name its model");
    assert_error("experiment e of m { start from rest; }", 1, 32, "syntax", "equilibrium");
    assert_error("domain h { effort T [K]; }", 1, 8, "syntax-domain", "flow");
    assert_error("domain h { effort T [K]; effort S [K]; flow f [W]; }", 1, 26, "syntax-domain", "twice");
    assert_error("domain h { voltage T [K]; flow f [W]; }", 1, 12, "syntax-domain", "`voltage`");
    assert_error("model m {\n  for i in 1..3 {\n    1:v[i];\n\nmodel k { }\n", 5, 1, "syntax-brace",
                 "before this `model`");
    assert_error("model m {\n  1:v;\n", 1, 9, "syntax-brace", "not closed");
    assert_error("model m { 1:v; } }", 1, 18, "syntax-brace", "no `{`");
}

static void
test_other_formats(void **state)
{
    struct front x = front("---\nmodel: rlc\ncomponents: []\n");

    (void)state;
    assert_int_equal(diag_errors(x.s), 1);
    front_end(&x);
    assert_error("# a comment\nmetadata:\n  version: 1\n", 2, 1, "syntax-yaml", "YAML");
    assert_error("%YAML 1.2\n", 1, 1, "syntax-yaml", "YAML");
    assert_error("\xff\xfem\n", 1, 1, "syntax-encoding", "UTF-16");
}

static void
test_recovery(void **state)
{
    struct front x = front("model a {\n"
                           "    1:v\n"                              /* 1 */
                           "    v -> I:m = ;\n"                     /* 2 */
                           "    C x { e = q; f = 3; }\n"            /* 3 */
                           "    R:r { e = 3 f; port ; e = f; }\n"   /* 4, 5 */
                           "    for i 1..3 { 1:w; 1:x; }\n"         /* 6 */
                           "    if (a { 1:w; } else { 1:x; }\n"     /* 7 */
                           "    parameter K = [1, 2; 3 4; 5, 6];\n" /* 8 */
                           "    parameter good = 3;\n"
                           "}\n"
                           "experiment e of a {\n"
                           "    stop 3;\n" /* 9 */
                           "    rtol = 1;\n"
                           "}\n"
                           "model b(n) { 1:v; }\n" /* 10 */
                           "model c { 1:v; }\n");

    (void)state;
    assert_int_equal(diag_errors(x.s), 10);
    assert_false(x.f->ok);
    assert_non_null(strstr(x.tree, "  parameter good\n"));
    assert_non_null(strstr(x.tree, "      equation e\n        read f\n"));
    assert_non_null(strstr(x.tree, "  set rtol\n"));
    assert_non_null(strstr(x.tree, "model c\n  chain\n    part 1: v\n"));
    front_end(&x);
}

/* ---------------------------------------------------------------- limits */

static char *
repeated(const char *before, const char *s, size_t times, const char *behind)
{
    strbuf b = { 0 };

    strbuf_puts(&b, before);
    for (size_t i = 0; i < times; i++)
        strbuf_puts(&b, s);
    strbuf_puts(&b, behind);
    return b.at;
}

static void
limit(const char *before, const char *s, size_t times, const char *behind, const char *words)
{
    char *text = repeated(before, s, times, behind);
    struct front x = front(text);

    if (words) {
        assert_false(x.f->ok);
        assert_string_equal(diag_at(x.s, 0)->code, "syntax-nesting");
        assert_non_null(strstr(diag_at(x.s, 0)->message, words));
    } else {
        assert_true(x.f->ok);
    }
    front_end(&x);
    free(text);
}

static void
test_limits(void **state)
{
    char *text, *more;

    (void)state;
    limit("model m { signal y = ", "(", 300, "", "nest deeper");
    text = repeated("", ")", 198, "; }");
    more = repeated("1", "", 0, text);
    limit("model m { signal y = ", "(", 198, more, NULL);
    free(text);
    free(more);
    limit("model m { signal y = ", "a[", 100000, "", "nest deeper");
    limit("model m { ", "for i in 1..2 { ", 300, "", "nest deeper");
    limit("model m { signal y = ", "-", 100000, "x; }", "nest");
    limit("model m { signal y = ", "not ", 100000, "x; }", "nest");
    limit("model m { signal y = ", "a^", 100000, "x; }", "nest");
    limit("model m { signal y = ", "if a then b else ", 100000, "x; }", "nest");
    limit("model m { signal y = ", "a + ", 1900, "x; }", NULL);
    limit("model m { signal y = ", "a + ", 100000, "x; }", "levels");
    limit("model m { ", "if a { } else ", 150, "{ } }", NULL);
    limit("model m { ", "if a { } else ", 300, "{ } }", "nest deeper");
    limit("model m { ", "if a { } else ", 100000, "{ } }", "nest");
    limit("model m { ", "1:v; ", 100000, "}", NULL);
    limit("model m { x", " -> x", 100000, "; }", NULL);
    limit("model m { signal y = f(0", ", 1", 100000, "); }", NULL);
}

/* Bytes of no meaning: no crash, one bounded list of messages, in time proportional to them. */
static void
test_garbage(void **state)
{
    static const char *const pieces[] = { "[", "[a",  "\"", "\"\\", "/*", "*",    "{",    "}",
                                          ";", "#\n", "1 ", "1.",   "..", "\x01", "\xff", "a[1][1]" };
    size_t n = 300000;
    char *text = bg_malloc(n);
    struct front x;

    (void)state;
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
        for (size_t i = 0; i < n; i++)
            text[i] = pieces[k][i % strlen(pieces[k])];
        x = front_of(text, n);
        assert_false(x.f->ok);
        assert_true(diag_count(x.s) <= SOURCES_MAX_ERRORS);
        front_end(&x);
    }
    memset(text, 0, n);
    x = front_of(text, n);
    assert_false(x.f->ok);
    front_end(&x);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(i * i * 2654435761u >> 13);
    x = front_of(text, n);
    assert_false(x.f->ok);
    front_end(&x);
    free(text);
}

/* ---------------------------------------------------------------- layout */

/* Laid out, the text is as expected (NULL: whatever), has the same tree and comments, and is laid out as it stands. */
static void
assert_layout(const char *name, const char *text, const char *expected)
{
    struct front x = front(text), y;
    strbuf once = { 0 }, twice = { 0 };

    if (!x.f->ok)
        fail_msg("%s: does not parse", name);
    format_file(x.s, x.f, &once);
    if (expected)
        assert_string_equal(once.at, expected);
    y = front(once.at);
    assert_true(y.f->ok);
    assert_string_equal(x.tree, y.tree);
    assert_int_equal(x.f->ncomments, y.f->ncomments);
    for (size_t i = 0; i < x.f->ncomments; i++) {
        span a = x.f->comment[i], b = y.f->comment[i];

        assert_int_equal(a.end - a.begin, b.end - b.begin);
        assert_memory_equal(source_text(x.s, a.file) + a.begin, source_text(y.s, b.file) + b.begin, a.end - a.begin);
    }
    format_file(y.s, y.f, &twice);
    assert_string_equal(once.at, twice.at);
    strbuf_free(&once);
    strbuf_free(&twice);
    front_end(&x);
    front_end(&y);
}

static void
test_layout(void **state)
{
    (void)state;
    assert_layout("spacing", "model   m{parameter k=2*3[  N/m ]   \"t\" ;1:v;v->C:s=1/k{q(0)=1[m];}}", NULL);
    assert_layout("statements",
                  "model m\n{\n\n1:v;1:w; // both\n\n\n\n  // own\nv->I:m=3[kg];\n  v -> C:s = 1/k{q(0)=1[m];}\n for i "
                  "in 1 .. n-1 {1:a[i];1:b[ i+1 ];}\n"
                  "if n>3{1:x;}else{1:y;}\n// last\n\n}\nexperiment e of m{stop=1[s];window 1 [s]..2 [s];}",
                  "model m {\n    1:v;\n    1:w; // both\n\n    // own\n    v -> I:m = 3 [kg];\n    v -> C:s = 1/k { "
                  "q(0) = 1 [m]; }\n"
                  "    for i in 1..n-1 {\n        1:a[i];\n        1:b[i+1];\n    }\n    if n > 3 { 1:x; } else { 1:y; "
                  "}\n    // last\n}\n"
                  "experiment e of m { stop = 1 [s]; window 1 [s] .. 2 [s]; }\n");
    assert_layout("operators", "model m { signal y=-a^-2*( b+c )-d/e>=f and not(g)or h(i,j); }",
                  "model m {\n    signal y = -a^-2*(b + c) - d/e >= f and not (g) or h(i, j);\n}\n");
    assert_layout("columns",
                  "model m {\n    parameter a   = 1  [m]   \"x\";   // c\n    parameter bcd = 22 [m/s] \"y\";\n}\n",
                  "model m {\n    parameter a   = 1  [m]   \"x\";   // c\n    parameter bcd = 22 [m/s] \"y\";\n}\n");
    assert_layout("continuation",
                  "function f(x)=\n  if x>0 then 1\n      else 2;\nmodel m {\n  parameter K[2,2] =\n    [ 1,  20;\n    "
                  " 30,  4];\n}\n",
                  "function f(x) =\n    if x > 0 then 1\n        else 2;\nmodel m {\n    parameter K[2,2] =\n        "
                  "[1,  20;\n         30,  4];\n}\n");
    assert_layout("brackets",
                  "model m {\n  signal y=f (a,\n              b,\n   c);\n  W:w(\n  k = 1,\n  l = 2\n);\n}\n",
                  "model m {\n    signal y = f(a,\n                 b,\n        c);\n    W:w(\n        k = 1,\n        "
                  "l = 2\n    );\n}\n");
    assert_layout(
        "comments",
        "// a\n\nmodel m // b\n{ // c\n  1:v // d\n  // e\n  ; // f\n  C:x { // g\n e = q; // h\n } // i\n}\n// j",
        NULL);
    assert_layout("branches", "model m { if a { 1:x; } // c\n else { 1:y;\n } }", NULL);
    assert_layout(
        "blocks",
        "model m { C:x\n { e = q;\n port a; } -> b as c; for i in 1..2 { for j in 1..2 { 1:a[i]; 1:b[i]; } } }", NULL);
    assert_layout("nothing", "", NULL);
    assert_layout("line ends", "model m {\r\n    1:v;  \r\n}\r\n", "model m {\n    1:v;\n}\n");
}

static void
test_shared_models(void **state)
{
    const char *shared = getenv("BG_SHARED");
    char *folder = bg_format("%s/cases/models", shared ? shared : "");
    DIR *d = shared ? opendir(folder) : NULL;
    struct dirent *e;
    size_t models = 0;

    (void)state;
    if (!d) {
        free(folder);
        skip();
    }
    while ((e = readdir(d)) != NULL) {
        size_t n = strlen(e->d_name);

        if (n > 3 && !strcmp(e->d_name + n - 3, ".bg")) {
            char *path = bg_format("%s/%s", folder, e->d_name);
            sources *s = sources_new();
            int file = sources_read(s, path);

            assert_true(file >= 0);
            assert_layout(path, source_text(s, (uint32_t)file), NULL);
            models++;
            sources_free(s);
            free(path);
        }
    }
    closedir(d);
    free(folder);
    assert_true(models > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_index_set),
        cmocka_unit_test(test_maps_and_names), cmocka_unit_test(test_nearest_name),
        cmocka_unit_test(test_printing),       cmocka_unit_test(test_long_lines_and_many_errors),
        cmocka_unit_test(test_brackets),       cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_scan_text),      cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_chains),         cmocka_unit_test(test_statements),
        cmocka_unit_test(test_declarations),   cmocka_unit_test(test_spans),
        cmocka_unit_test(test_lexical_errors), cmocka_unit_test(test_syntax_errors),
        cmocka_unit_test(test_other_formats),  cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_layout),         cmocka_unit_test(test_shared_models),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
