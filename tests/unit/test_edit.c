/* test_edit.c - edits of one text: order, borders, contradictions, where text came from */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "edit.h"
#include "textdiff.h"

static void
expect(edits *e, const char *text, const char *want)
{
    char *why;
    strbuf out = { 0 };

    assert_true(edits_seal(e, strlen(text), &why));
    assert_null(why);
    edits_apply(e, text, strlen(text), &out);
    assert_string_equal(out.at ? out.at : "", want);
    strbuf_free(&out);
    edits_free(e);
}

static void
refuse(edits *e, size_t length, const char *part)
{
    char *why;

    assert_false(edits_seal(e, length, &why));
    assert_non_null(why);
    assert_non_null(strstr(why, part));
    free(why);
    edits_free(e);
}

static void
nothing(void **state)
{
    edits e = { 0 };

    (void)state;
    edits_delete(&e, 3, 3);
    edits_insert(&e, 3, "", 0);
    expect(&e, "abcdef", "abcdef");
    expect(&e, "", "");
}

static void
deletions_merge(void **state)
{
    edits e = { 0 };

    (void)state;
    edits_delete(&e, 4, 6);
    edits_delete(&e, 1, 3);
    edits_delete(&e, 2, 5);
    edits_delete(&e, 2, 3);
    expect(&e, "abcdefgh", "agh");
}

static void
insertion_at_border_survives(void **state)
{
    edits e = { 0 };

    (void)state;
    edits_delete(&e, 2, 4);
    edits_insert(&e, 2, "<", 1);
    edits_insert(&e, 4, ">", 1);
    expect(&e, "abcdef", "ab<>ef");

    /* between two deletions that touch */
    edits_delete(&e, 0, 3);
    edits_delete(&e, 3, 6);
    edits_insert(&e, 3, "x", 1);
    expect(&e, "abcdef", "x");
}

static void
insertions_keep_their_order(void **state)
{
    edits e = { 0 };

    (void)state;
    edits_insert(&e, 1, "1", 1);
    edits_insert(&e, 1, "2", 1);
    edits_insert(&e, 0, "0", 1);
    edits_insert(&e, 3, "3", 1);
    expect(&e, "abc", "0a12bc3");
}

static void
contradictions(void **state)
{
    edits e = { 0 };

    (void)state;
    edits_delete(&e, 1, 4);
    edits_insert(&e, 2, "x", 1);
    refuse(&e, 6, "inside the deletion");
    edits_delete(&e, 1, 3);
    edits_delete(&e, 2, 5);
    edits_insert(&e, 3, "x", 1); /* a border of the first, inside the second */
    refuse(&e, 6, "inside the deletion");
    edits_replace(&e, 1, 4, "x", 1);
    edits_replace(&e, 2, 5, "y", 1);
    refuse(&e, 6, "different replacements");
    edits_replace(&e, 1, 4, "x", 1);
    edits_replace(&e, 1, 4, "y", 1);
    refuse(&e, 6, "different replacements");
    edits_delete(&e, 0, 2);
    edits_replace(&e, 1, 4, "x", 1);
    refuse(&e, 6, "half inside");
    edits_delete(&e, 3, 6);
    edits_replace(&e, 1, 4, "x", 1);
    refuse(&e, 6, "cuts into");
    edits_replace(&e, 1, 4, "x", 1);
    edits_insert(&e, 2, "y", 1);
    refuse(&e, 6, "inside the replacement");
    edits_delete(&e, 4, 9);
    edits_insert(&e, 9, "y", 1);
    refuse(&e, 6, "outside");
}

static void
replacements(void **state)
{
    edits e = { 0 };

    (void)state;
    edits_replace(&e, 1, 3, "XYZ", 3);
    edits_replace(&e, 1, 3, "XYZ", 3); /* the same twice is one */
    edits_replace(&e, 3, 4, "", 0);
    expect(&e, "abcdef", "aXYZef");
    edits_replace(&e, 2, 3, "x", 1); /* inside a deletion: dropped */
    edits_delete(&e, 1, 4);
    expect(&e, "abcdef", "aef");
    edits_delete(&e, 2, 5);
    edits_replace(&e, 2, 3, "x", 1);
    expect(&e, "abcdef", "abf");
}

static void
origins(void **state)
{
    edits e = { 0 };
    char *why;

    (void)state;
    edits_delete(&e, 2, 4); /* abcdefgh -> ab<>efXXh */
    edits_insert(&e, 4, "<>", 2);
    edits_replace(&e, 6, 7, "XX", 2);
    assert_true(edits_seal(&e, 8, &why));
    assert_int_equal(edits_origin(&e, 0), 0);
    assert_int_equal(edits_origin(&e, 1), 1);
    assert_int_equal(edits_origin(&e, 2), 4);
    assert_int_equal(edits_origin(&e, 3), 4);
    assert_int_equal(edits_origin(&e, 4), 4);
    assert_int_equal(edits_origin(&e, 5), 5);
    assert_int_equal(edits_origin(&e, 6), 6);
    assert_int_equal(edits_origin(&e, 7), 6);
    assert_int_equal(edits_origin(&e, 8), 7);
    edits_free(&e);
    assert_true(edits_seal(&e, 8, &why));
    assert_int_equal(edits_origin(&e, 5), 5);
    edits_free(&e);
}

/* Many edits at random against the same done on a list of bytes. */
static void
random_edits(void **state)
{
    enum { N = 200 };
    uint32_t seed = 7;

    (void)state;
    for (int round = 0; round < 300; round++) {
        char text[N + 1], want[4 * N + 1];
        bool gone[N] = { false }, before[N + 1] = { false };
        edits e = { 0 };
        size_t n = 0;

        for (int i = 0; i < N; i++)
            text[i] = (char)('a' + i % 26);
        text[N] = '\0';
        for (int i = 0; i < 30; i++) {
            seed = seed * 1664525u + 1013904223u;
            size_t at = seed >> 8 & 127, length = seed >> 20 & 15;

            edits_delete(&e, at, at + length);
            for (size_t k = at; k < at + length; k++)
                gone[k] = true;
        }
        for (size_t at = 0; at <= N; at += 7)
            if (at == 0 || at == N || !(gone[at - 1] && gone[at])) {
                edits_insert(&e, at, "^", 1);
                before[at] = true;
            }
        for (size_t i = 0; i <= N; i++) {
            if (before[i])
                want[n++] = '^';
            if (i < N && !gone[i])
                want[n++] = text[i];
        }
        want[n] = '\0';
        expect(&e, text, want);
    }
}

static size_t
origin(void *ctx, size_t at)
{
    return edits_origin(ctx, at);
}

static void
unified_diff(void **state)
{
    const char *old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm";
    edits e = { 0 };
    strbuf text = { 0 };
    char *why, *printed;
    size_t n;
    FILE *out = open_memstream(&printed, &n);

    (void)state;
    edits_delete(&e, 2, 4);        /* line b */
    edits_insert(&e, 24, "> ", 2); /* line m, the last, unended */
    assert_true(edits_seal(&e, strlen(old), &why));
    edits_apply(&e, old, strlen(old), &text);
    textdiff_print(out, "old", old, strlen(old), "new", text.at, text.n, origin, &e, false);
    fclose(out);
    assert_string_equal(printed, "--- old\n+++ new\n@@ -1,5 +1,4 @@\n a\n-b\n c\n d\n e\n@@ -10,4 +9,4 @@\n j\n k\n l\n"
                                 "-m\n\\ No newline at end of file\n+> m\n\\ No newline at end of file\n");
    free(printed);
    strbuf_free(&text);
    edits_free(&e);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nothing),
                                        cmocka_unit_test(deletions_merge),
                                        cmocka_unit_test(insertion_at_border_survives),
                                        cmocka_unit_test(insertions_keep_their_order),
                                        cmocka_unit_test(contradictions),
                                        cmocka_unit_test(replacements),
                                        cmocka_unit_test(origins),
                                        cmocka_unit_test(random_edits),
                                        cmocka_unit_test(unified_diff) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
