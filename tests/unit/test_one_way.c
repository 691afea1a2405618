/* test_one_way.c - bonds dropped and made one-way, and what only passes them on folded: the new texts, byte for byte
 *
 * Each text is compiled, its graph compared with what it must be, and its layout is as canonical as that of the text
 * before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "bonds.h"
#include "fold.h"
#include "operand.h"

static compilation
read_text(const char *text)
{
    compilation c = { 0 };

    if (!compile_text(&c, "case.bg", text, strlen(text), STAGE_CAUSALITY, NULL)) {
        diag_print(c.sources, stderr, false, DIAG_ALL);
        fail();
    }
    return c;
}

static void
check_after(const char *before, const rewrite *r, const char *want)
{
    compilation given = { 0 }, after = { 0 };
    strbuf out = { 0 }, laid = { 0 };
    char *why = NULL;

    edits_apply(&r->edits, before, strlen(before), &out);
    assert_string_equal(out.at, want);
    assert_true(compile_text(&given, "case.bg", before, strlen(before), STAGE_GRAPH, NULL));
    if (!compile_text(&after, "case.bg", out.at, out.n, STAGE_GRAPH, NULL)) {
        diag_print(after.sources, stderr, false, DIAG_ALL);
        fail();
    }
    if (!rewrite_check(given.flat, r, after.flat, &why))
        fprintf(stderr, "%s\n", why);
    assert_null(why);
    format_file(after.sources, after.ast, &laid);
    assert_string_equal(laid.at, out.at);
    strbuf_free(&out);
    strbuf_free(&laid);
    compile_free(&given);
    compile_free(&after);
}

/* "fc" by which way; several are separated by commas: "v1 -> fc forward, s backward". */
static void
expect(const char *text, const char *what, const char *want)
{
    compilation c = read_text(text);
    arena *a = arena_new();
    bond_candidates list = { 0 };
    rewrite_bond bond[8];
    const char *name[8];
    size_t nbonds = 0, nnames = 0;
    rewrite r;

    bonds_find(&c, NULL, a, &list);
    while (*what) {
        size_t n = strcspn(what, ","), split = n;
        bool found = false;
        enum bond_way way;

        while (split && what[split - 1] != ' ')
            split--;
        way = what[split] == 'd' ? BOND_DROP : what[split] == 'f' ? BOND_FORWARD : BOND_BACKWARD;
        for (size_t i = 0; i < list.n && !found; i++) {
            const bond_candidate *x = &list.at[i];

            found = strlen(x->name) == split - 1 && !strncmp(x->name, what, split - 1);
            if (!found)
                continue;
            assert_true(x->may[way]);
            if (way == BOND_DROP && x->element != UINT32_MAX)
                name[nnames++] = x->name;
            else
                bond[nbonds++] = x->change[way];
        }
        assert_true(found);
        what += n;
        what += strspn(what, ", ");
    }
    assert_true(rewrite_plan(
        &(rewrite_request){ .f = c.flat, .file = c.ast, .name = name, .n = nnames, .bond = bond, .nbonds = nbonds },
        &r));
    check_after(text, &r, want);
    rewrite_free(&r);
    vec_free(&list);
    arena_free(a);
    compile_free(&c);
}

static void
may_not(const char *text, const char *name, enum bond_way way)
{
    compilation c = read_text(text);
    arena *a = arena_new();
    bond_candidates list = { 0 };
    bool found = false;

    bonds_find(&c, NULL, a, &list);
    for (size_t i = 0; i < list.n; i++)
        if (!strcmp(list.at[i].name, name)) {
            found = true;
            assert_false(list.at[i].may[way]);
        }
    assert_true(found);
    vec_free(&list);
    arena_free(a);
    compile_free(&c);
}

/* All folds of one round. */
static void
folded(const char *text, const char *want)
{
    compilation c = { 0 };
    arena *a = arena_new();
    folds list = { 0 };
    const fold **all;
    rewrite r;

    assert_true(compile_text(&c, "case.bg", text, strlen(text), STAGE_GRAPH, NULL));
    folds_find(&c, a, &list);
    all = bg_calloc(list.n + 1, sizeof *all);
    for (size_t i = 0; i < list.n; i++)
        all[i] = &list.at[i];
    assert_true(folds_plan(&c, all, list.n, &r));
    check_after(text, &r, want);
    rewrite_free(&r);
    free(all);
    vec_free(&list);
    arena_free(a);
    compile_free(&c);
}

/* ---------------------------------------------------------------- bonds */

#define TWO(chain) \
    "model m {\n    1:v -> I:heavy = 9;\n" chain "    w -> I:light = 1;\n    s -> C:spring = 2;   // between\n}\n"

static void
chains(void **state)
{
    (void)state;
    /* 1 -> 0: the flow goes on, or the effort comes back */
    expect(TWO("    v -> 0:s -> 1:w;\n"), "v -> s forward", TWO("    MSf:v_on_s = v.f -> 0:s -> 1:w;\n"));
    expect(TWO("    v -> 0:s -> 1:w;\n"), "v -> s backward", TWO("    v -> MSe:s_on_v = s.e;\n    0:s -> 1:w;\n"));
    /* 0 -> 1 */
    expect(TWO("    v -> 0:s -> 1:w;\n"), "s -> w forward",
           "model m {\n    1:v -> I:heavy = 9;\n    v -> 0:s;\n    MSe:s_on_w = s.e -> 1:w;\n    w -> I:light = 1;\n   "
           " s -> C:spring = 2;   // between\n}\n");
    expect(TWO("    v -> 0:s -> 1:w;\n"), "s -> w backward",
           "model m {\n    1:v -> I:heavy = 9;\n    v -> 0:s -> MSf:w_on_s = w.f;\n    1:w -> I:light = 1;\n    s -> "
           "C:spring = 2;   // between\n}\n");
    /* both at once, and arrows the other way */
    expect(TWO("    v -> 0:s -> 1:w;\n"), "v -> s forward, s -> w backward",
           "model m {\n    1:v -> I:heavy = 9;\n    MSf:v_on_s = v.f -> 0:s -> MSf:w_on_s = w.f;\n    1:w -> I:light = "
           "1;\n    s -> C:spring = 2;   // between\n}\n");
    expect(TWO("    1:w -> 0:s -> v;\n"), "s -> v backward", TWO("    1:w -> 0:s -> MSf:v_on_s = v.f;\n"));
    expect(TWO("    1:w -> 0:s -> v;\n"), "s -> v forward",
           "model m {\n    1:v -> I:heavy = 9;\n    1:w -> 0:s;\n    MSe:s_on_v = s.e -> v;\n    w -> I:light = 1;\n   "
           " s -> C:spring = 2;   // between\n}\n");
    /* dropped: s keeps its spring, bare names vanish */
    expect(TWO("    v -> 0:s;\n    s -> 1:w;\n"), "v -> s drop",
           "model m {\n    1:v -> I:heavy = 9;\n    0:s -> 1:w;\n    w -> I:light = 1;\n    s -> C:spring = 2;   // "
           "between\n}\n");
}

static void
like_junctions(void **state)
{
    const char *flows =
        "model m {\n    1:v -> I:heavy = 9;\n    v -> 1:w;\n    w -> I:light = 1;\n    w -> R:drag = 2;\n}\n";
    const char *efforts =
        "model m {\n    0:p -> C:tank = 9;\n    p -> 0:q;\n    q -> C:cup = 1;\n    q -> R:leak = 2;\n}\n";

    (void)state;
    expect(flows, "v -> w forward",
           "model m {\n    1:v -> I:heavy = 9;\n    MSf:v_on_w = v.f -> 1:w;\n    w -> I:light = 1;\n    w -> R:drag = "
           "2;\n}\n");
    expect(efforts, "p -> q forward",
           "model m {\n    0:p -> C:tank = 9;\n    MSe:p_on_q = p.e -> 0:q;\n    q -> C:cup = 1;\n    q -> R:leak = "
           "2;\n}\n");
    /* what brings w its flow is not negligible there */
    may_not(flows, "v -> w", BOND_BACKWARD);
    may_not(efforts, "p -> q", BOND_BACKWARD);
}

static void
names_and_blocks(void **state)
{
    (void)state;
    expect("model m {\n    1:v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n    v -> s as joint;\n    R:v_on_s = 3;\n    "
           "v -> v_on_s;\n}\n",
           "joint forward",
           "model m {\n    1:v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n    MSf:v_on_s_2 = v.f -> s as joint;\n    "
           "R:v_on_s = 3;\n    v -> v_on_s;\n}\n");
    expect("model m {\n    1:v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n    v -> s as joint;\n}\n", "joint backward",
           "model m {\n    1:v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n    v -> MSe:s_on_v = s.e as joint;\n}\n");
    expect("model m {\n    1:v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n    v -> s as joint;\n}\n", "joint drop",
           "model m {\n    1:v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n}\n");
    /* what is read stays */
    expect("model m {\n    1:v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n    v -> s as joint;\n    output p = "
           "joint.e;\n}\n",
           "joint drop",
           "model m {\n    1:v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n    v -> s as joint;\n    output p = "
           "joint.e;\n}\n");
    /* a block ends its statement */
    expect(
        "model m {\n    0:s -> 1:v { f(0) = 3; }\n    v -> I:heavy = 9;\n    s -> C:spring = 2;\n}\n", "s -> v forward",
        "model m {\n    MSe:s_on_v = s.e -> 1:v { f(0) = 3; }\n    v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n}\n");
    expect("model m {\n    0:s -> 1:v { f(0) = 3; }\n    v -> I:heavy = 9;\n    s -> C:spring = 2;\n}\n",
           "s -> v backward",
           "model m {\n    0:s -> MSf:v_on_s = v.f;\n    1:v { f(0) = 3; }\n    v -> I:heavy = 9;\n    s -> C:spring = "
           "2;\n}\n");
    expect("model m {\n    Se:push = 1 -> 1:v { f(0) = 3; } -> 0:s;\n    v -> I:heavy = 9;\n    s -> C:spring = 2;\n   "
           " s -> R:leak = 1;\n}\n",
           "v -> s drop",
           "model m {\n    Se:push = 1 -> 1:v { f(0) = 3; }\n    v -> I:heavy = 9;\n    0:s -> C:spring = 2;\n    s -> "
           "R:leak = 1;\n}\n");
}

static void
of_components(void **state)
{
    const char *text =
        "model part {\n    port 0:end;\n    end -> C:spring = 2;\n    end -> R:leak = 1;\n}\n"
        "model m {\n    1:v -> I:heavy = 9;\n    part:p;\n    v -> p;\n    1:w -> I:light = 1;\n    p.end -> w;\n}\n";

    (void)state;
    expect(text, "p.end -> w backward",
           "model part {\n    port 0:end;\n    end -> C:spring = 2;\n    end -> R:leak = 1;\n}\n"
           "model m {\n    1:v -> I:heavy = 9;\n    part:p;\n    v -> p;\n    1:w -> I:light = 1;\n    p.end -> "
           "MSf:w_on_p_end = w.f;\n}\n");
    expect(text, "p.end -> w forward",
           "model part {\n    port 0:end;\n    end -> C:spring = 2;\n    end -> R:leak = 1;\n}\n"
           "model m {\n    1:v -> I:heavy = 9;\n    part:p;\n    v -> p;\n    1:w -> I:light = 1;\n    MSe:p_end_on_w "
           "= p.end.e -> w;\n}\n");
}

/* ---------------------------------------------------------------- two-ports */

#define HUNG(line) \
    "model m {\n    parameter a = 3;\n    parameter b = 2;\n    1:v -> I:heavy = 9;\n" line \
    "    s -> C:spring = 2;\n}\n"

static void
two_ports(void **state)
{
    (void)state;
    /* TF: e_in = n*e_out, f_out = n*f_in */
    expect(HUNG("    v -> TF:t = a -> 0:s;\n"), "t forward", HUNG("    MSf:t = a*v.f -> 0:s;\n"));
    expect(HUNG("    v -> TF:t = a -> 0:s;\n"), "t backward",
           "model m {\n    parameter a = 3;\n    parameter b = 2;\n    1:v -> I:heavy = 9;\n    v -> MSe:t = a*s.e;\n  "
           "  0:s -> C:spring = 2;\n}\n");
    expect(HUNG("    0:s -> TF:t = a -> v;\n"), "t forward",
           "model m {\n    parameter a = 3;\n    parameter b = 2;\n    1:v -> I:heavy = 9;\n    MSe:t = s.e/a -> v;\n  "
           "  0:s -> C:spring = 2;\n}\n");
    expect(HUNG("    0:s -> TF:t = a -> v;\n"), "t backward", HUNG("    0:s -> MSf:t = v.f/a;\n"));
    /* GY: e_in = r*f_out, e_out = r*f_in */
    expect(HUNG("    v -> GY:t = a -> 1:s;\n"), "t forward", HUNG("    MSe:t = a*v.f -> 1:s;\n"));
    expect(HUNG("    v -> GY:t = a -> 1:s;\n"), "t backward",
           "model m {\n    parameter a = 3;\n    parameter b = 2;\n    1:v -> I:heavy = 9;\n    v -> MSe:t = a*s.f;\n  "
           "  1:s -> C:spring = 2;\n}\n");
    /* the modulus in brackets only where it must, a reciprocal multiplied */
    expect(HUNG("    v -> TF:t = a + b -> 0:s;\n"), "t forward", HUNG("    MSf:t = (a + b)*v.f -> 0:s;\n"));
    expect(HUNG("    v -> TF:t = 1/a -> 0:s;\n"), "t forward", HUNG("    MSf:t = v.f/a -> 0:s;\n"));
    expect(HUNG("    v -> TF:t = -1/a -> 0:s;\n"), "t forward", HUNG("    MSf:t = -v.f/a -> 0:s;\n"));
    expect(HUNG("    v -> MTF:t = -sin(a*time/1 [s]) -> 0:s;\n"), "t forward",
           HUNG("    MSf:t = -sin(a*time/1 [s])*v.f -> 0:s;\n"));
    expect(HUNG("    0:s -> TF:t = a/b -> v;\n"), "t backward", HUNG("    0:s -> MSf:t = v.f/(a/b);\n"));
    expect(HUNG("    0:s -> TF:t = a^2 -> v;\n"), "t backward", HUNG("    0:s -> MSf:t = v.f/a^2;\n"));
    /* declared on a line of its own */
    expect(HUNG("    TF:t = 2;\n    v -> t;\n    t -> 0:s;\n"), "t forward",
           HUNG("    MSf:t = 2*v.f;\n    t -> 0:s;\n"));
    /* dropped, with what nothing reads any more */
    expect(
        "model m {\n    parameter a = 3;\n    parameter b = 2;\n    1:v -> I:heavy = b;\n    v -> TF:t = a -> 0:s;\n   "
        " s -> C:spring = 2;\n    s -> R:r = 1;\n}\n",
        "t drop",
        "model m {\n    parameter b = 2;\n    1:v -> I:heavy = b;\n    0:s -> C:spring = 2;\n    s -> R:r = 1;\n}\n");
}

/* ---------------------------------------------------------------- folds */

static void
passing_junctions(void **state)
{
    (void)state;
    folded("model m {\n    Se:u = 1 -> 1:a -> 1:v;\n    v -> I:m = 1;\n    v -> 0:b -> R:r = 2;\n}\n",
           "model m {\n    Se:u = 1 -> 1:v;\n    v -> I:m = 1;\n    v -> R:r = 2;\n}\n");
    /* two statements: what stands before goes where the rest stood, or the other way round */
    folded("model m {\n    Se:u = 1 -> 1:v;\n    v -> I:m = 1;\n    v -> 0:s;\n    s -> C:c = 2;   // c\n}\n",
           "model m {\n    Se:u = 1 -> 1:v;\n    v -> I:m = 1;\n    v -> C:c = 2;   // c\n}\n");
    folded("model m {\n    1:j;\n    Se:u = 1 -> 1:v -> j;\n    v -> I:m = 1;\n    j -> C:c { e = q^3; }\n}\n",
           "model m {\n    Se:u = 1 -> 1:v -> C:c { e = q^3; }\n    v -> I:m = 1;\n}\n");
    /* what is read, has two bonds in, or is named by another experiment stays */
    folded("model m {\n    Se:u = 1 -> 1:v;\n    v -> I:m = 1;\n    v -> 1:s -> C:c = 2;\n    output o = s.f;\n}\n",
           "model m {\n    Se:u = 1 -> 1:v;\n    v -> I:m = 1;\n    v -> 1:s -> C:c = 2;\n    output o = s.f;\n}\n");
    folded("model m {\n    Se:u = 1 -> 1:v;\n    v -> I:m = 1;\n    v -> 1:s -> C:c = 2;\n}\nexperiment e of m {\n    "
           "let s.f(0) = 1;\n}\n",
           "model m {\n    Se:u = 1 -> 1:v;\n    v -> I:m = 1;\n    v -> 1:s -> C:c = 2;\n}\nexperiment e of m {\n    "
           "let s.f(0) = 1;\n}\n");
    folded("model m {\n    Se:u = 1 -> 1:v;\n    v -> I:m = 1;\n    v -> 1:s;\n    Se:w = 2 -> s;\n}\n",
           "model m {\n    Se:u = 1 -> 1:v;\n    v -> I:m = 1;\n    v -> 1:s;\n    Se:w = 2 -> s;\n}\n");
}

#define BEHIND(line) "model m {\n    parameter n = 3;\n    parameter k = 2;\n    1:v -> I:m = n*k;\n" line "}\n"

static void
folded_two_ports(void **state)
{
    (void)state;
    /* e_in = n*e_out, f_out = n*f_in */
    folded(BEHIND("    v -> TF:t = n -> R:x = k;\n"), BEHIND("    v -> R:x = n^2*k;\n"));
    folded(BEHIND("    v -> TF:t = n -> C:x = 1/k;\n"), BEHIND("    v -> C:x = 1/(k*n^2);\n"));
    folded(BEHIND("    v -> TF:t = 1/n -> C:x = 1/k;\n"), BEHIND("    v -> C:x = n^2/k;\n"));
    folded(BEHIND("    v -> TF:t = -n -> I:x = k;\n"), BEHIND("    v -> I:x = n^2*k;\n"));
    folded(BEHIND("    v -> TF:t = n -> Se:x = k;\n"), BEHIND("    v -> Se:x = n*k;\n"));
    folded(BEHIND("    v -> TF:t = n -> Sf:x = k;\n"), BEHIND("    v -> Sf:x = k/n;\n"));
    folded(BEHIND("    Se:x = k -> TF:t = n -> v;\n"), BEHIND("    Se:x = k/n -> v;\n"));
    folded(BEHIND("    Sf:x = k -> TF:t = n -> v;\n"), BEHIND("    Sf:x = n*k -> v;\n"));
    /* e_in = r*f_out, e_out = r*f_in */
    folded(BEHIND("    v -> GY:t = n -> R:x = k + 1;\n"), BEHIND("    v -> R:x = n^2/(k + 1);\n"));
    folded(BEHIND("    v -> GY:t = n -> C:x = k;\n"), BEHIND("    v -> I:x = n^2*k;\n"));
    folded(BEHIND("    v -> GY:t = n + 1 -> I:x = k;\n"), BEHIND("    v -> C:x = k/(n + 1)^2;\n"));
    folded(BEHIND("    v -> GY:t = n -> Se:x = k;\n"), BEHIND("    v -> Sf:x = k/n;\n"));
    folded(BEHIND("    Se:x = k -> GY:t = n -> v;\n"), BEHIND("    Sf:x = k/n -> v;\n"));
    folded(BEHIND("    Sf:x = k -> GY:t = n -> v;\n"), BEHIND("    Se:x = n*k -> v;\n"));
    /* a modulus that varies: not before what stores */
    folded(BEHIND("    v -> MTF:t = cos(time/1 [s]) -> R:x = k;\n"), BEHIND("    v -> MR:x = cos(time/1 [s])^2*k;\n"));
    folded(BEHIND("    v -> MTF:t = cos(time/1 [s]) -> C:x = k;\n"),
           BEHIND("    v -> MTF:t = cos(time/1 [s]) -> C:x = k;\n"));
    /* in series */
    folded(BEHIND("    v -> TF:t = n -> TF:u = k -> R:r { e = f^3; }\n"),
           BEHIND("    v -> TF:t = n*k -> R:r { e = f^3; }\n"));
    folded(BEHIND("    v -> GY:t = n -> GY:u = k -> R:r { e = f^3; }\n"),
           BEHIND("    v -> TF:t = n/k -> R:r { e = f^3; }\n"));
    folded(BEHIND("    v -> GY:t = n -> TF:u = k -> R:r { e = f^3; }\n"),
           BEHIND("    v -> GY:t = n/k -> R:r { e = f^3; }\n"));
    folded(BEHIND("    v -> TF:t = n -> GY:u = k -> R:r { e = f^3; }\n"),
           BEHIND("    v -> GY:t = n*k -> R:r { e = f^3; }\n"));
    /* what is read is not another quantity suddenly; laws in blocks and initial values stay */
    folded(BEHIND("    v -> TF:t = n -> C:x = k;\n    output q = x.q;\n"),
           BEHIND("    v -> TF:t = n -> C:x = k;\n    output q = x.q;\n"));
    folded(BEHIND("    v -> TF:t = n -> C:x = k { q(0) = 1; }\n"),
           BEHIND("    v -> TF:t = n -> C:x = k { q(0) = 1; }\n"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(chains),           cmocka_unit_test(like_junctions),
                                        cmocka_unit_test(names_and_blocks), cmocka_unit_test(of_components),
                                        cmocka_unit_test(two_ports),        cmocka_unit_test(passing_junctions),
                                        cmocka_unit_test(folded_two_ports) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
