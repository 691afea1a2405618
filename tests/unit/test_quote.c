/* test_quote.c - text of a model in each format: every byte, every class of character, read back by the rules of the
 * format */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include "quote.h"

enum { FORMATS = QUOTE_CSV + 1 };

static void
is(enum quote_format format, const char *text, const char *want)
{
    char *have = quoted(format, text);

    assert_string_equal(have, want);
    free(have);
}

static void
known(void **state)
{
    (void)state;
    is(QUOTE_LINE, "a\tb\x1b[31m\n\x7f \xc2\x9b \xe2\x80\xae \xff", "a b?[31m?? ? ? ?");
    is(QUOTE_LINES, "a\tb\x1b\nc\r", "a\tb?\nc?");
    is(QUOTE_GNUPLOT, "`x` 'y' \\ \"z\"", "'`x` \xe2\x80\x99y\xe2\x80\x99 \\ \"z\"'");
    is(QUOTE_GNUPLOT, "a]]>b]>c]]]>", "'a]] >b]>c]]] >'");
    is(QUOTE_DOT, "a\"b\\N&amp;", "\"a\\\"b\\\\N&amp;amp;\"");
    is(QUOTE_MARKUP, "<a href='x'>\"&", "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
    is(QUOTE_TEX, "\\input{a}$_%^5~--",
       "\\textbackslash{}input\\{a\\}\\$\\_\\%\\textasciicircum{}5\\textasciitilde{}-{}-{}");
    is(QUOTE_JSON, "\"\\\n\t\x01\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81",
       "\"\\\"\\\\\\n\\t\\u0001\\u007f\\u009b\\u202e\\udb40\\udc41\"");
    is(QUOTE_JSON, "\xff", "\"\\ufffd\"");
    is(QUOTE_SHELL, "../data/x-1.csv", "../data/x-1.csv");
    is(QUOTE_SHELL, "a b'; rm -rf ~", "'a b'\\''; rm -rf ~'");
    is(QUOTE_SHELL, "", "''");
    is(QUOTE_CSV, "spring.q [m]", "spring.q [m]");
    is(QUOTE_CSV, "-body.f [m/s]", "'-body.f [m/s]");
    is(QUOTE_CSV, "min(a,b)", "\"min(a,b)\"");
    is(QUOTE_CSV, "=1+\"x\",2", "\"'=1+\"\"x\"\",2\"");
    is(QUOTE_CSV, " \t=1", "'  =1");
    is(QUOTE_CSV,
       "\xef\xbc\x9d"
       "1",
       "'\xef\xbc\x9d"
       "1");
}

/* Text without what a terminal obeys, which is all that may come out in any format. */
static void
harmless(enum quote_format format, const char *s)
{
    for (const unsigned char *u = (const unsigned char *)s; *u; u++) {
        if (*u == '\n' || *u == '\t')
            assert_int_equal(format, QUOTE_LINES);
        else
            assert_true(*u >= 0x20 && *u != 0x7f);
        assert_false(*u == 0xc2 && u[1] < 0xa0);
        assert_false(*u == 0xe2 && u[1] == 0x80 && ((u[2] >= 0x8b && u[2] <= 0x8f) || (u[2] >= 0xa8 && u[2] <= 0xae)));
    }
    for (size_t n = strlen(s), i = 0; i < n;) {
        size_t k = s[i] == '\n' || s[i] == '\t' ? 1 : quote_printable(s + i, n - i);

        assert_true(k > 0);
        i += k;
    }
}

/* By the rules of each: where the text ends, nothing earlier does. */
static void
ends_where_it_should(enum quote_format format, const char *s)
{
    size_t n = strlen(s);

    switch (format) {
    case QUOTE_GNUPLOT:
        assert_true(n >= 2 && s[0] == '\'' && s[n - 1] == '\'' && !memchr(s + 1, '\'', n - 2));
        assert_null(strstr(s, "]]>"));
        break;
    case QUOTE_DOT:
        assert_true(n >= 2 && s[0] == '"' && s[n - 1] == '"');
        for (size_t i = 1; i < n - 1; i++) {
            assert_int_not_equal(s[i], '"');
            if (s[i] == '\\') { /* only these two follow, so that no \N or \G is left */
                i++;
                assert_true(i < n - 1 && (s[i] == '"' || s[i] == '\\'));
            }
        }
        break;
    case QUOTE_MARKUP:
        assert_int_equal(strcspn(s, "<>\"'"), n);
        for (const char *p = s; (p = strchr(p, '&')) != NULL; p++)
            assert_non_null(strchr(p, ';'));
        break;
    case QUOTE_TEX:
        for (size_t i = 0; i < n; i++) {
            assert_null(strchr("$&#^~%", s[i]));
            if (s[i] == '\\' && strchr("{}$&#_%", s[i + 1]))
                i++;
            else
                assert_int_not_equal(s[i], '_');
        }
        break;
    case QUOTE_SHELL:
        if (s[0] != '\'') {
            assert_int_equal(strcspn(s, " \t\n`$&|;<>()[]{}*?!~\"'\\#="), n);
            break;
        }
        for (size_t i = 1; i < n; i++) {
            while (i < n && s[i] != '\'')
                i++;
            assert_true(i < n);
            if (i + 1 == n)
                break;
            assert_true(!strncmp(s + i, "'\\''", 4));
            i += 3;
        }
        break;
    case QUOTE_CSV:
        assert_null(strchr("=+-@", s[s[0] == '"']) && s[s[0] == '"'] ? s : NULL);
        if (s[0] == '"') {
            for (size_t i = 1; i < n - 1; i++)
                if (s[i] == '"')
                    assert_true(s[++i] == '"' && i < n - 1);
            assert_int_equal(s[n - 1], '"');
        } else {
            assert_int_equal(strcspn(s, "\",;\n\r"), n);
        }
        break;
    default: break;
    }
}

static void
read_back_json(const char *s, const char *text)
{
    cJSON *j = cJSON_Parse(s);

    assert_true(cJSON_IsString(j));
    for (size_t i = 0; text[i]; i++)
        if ((unsigned char)text[i] >= 0x80)
            goto done; /* not valid as UTF-8 perhaps */
    assert_string_equal(cJSON_GetStringValue(j), text);
done:
    cJSON_Delete(j);
}

static void
try_all(const char *text)
{
    for (int f = 0; f < FORMATS; f++) {
        char *s = quoted((enum quote_format)f, text);

        harmless((enum quote_format)f, s);
        ends_where_it_should((enum quote_format)f, s);
        if (f == QUOTE_JSON)
            read_back_json(s, text);
        free(s);
    }
}

static void
every_byte(void **state)
{
    (void)state;
    for (int a = 1; a < 256; a++) {
        const char one[] = { (char)a, 0 }, between[] = { 'x', (char)a, 'y', 0 };

        try_all(one);
        try_all(between);
        for (int b = 1; b < 256; b++) {
            const char two[] = { (char)a, (char)b, 0 };

            try_all(two);
        }
    }
    try_all("");
}

/* Three characters of those that mean something somewhere, in every order. */
static void
every_meaning(void **state)
{
    static const char *const part[] = { "'",
                                        "\"",
                                        "\\",
                                        "`",
                                        "$",
                                        "&",
                                        "<",
                                        ">",
                                        "]]>",
                                        "#",
                                        "%",
                                        "^^",
                                        "~",
                                        "_",
                                        "{",
                                        "}",
                                        "=",
                                        "+",
                                        "-",
                                        "@",
                                        ",",
                                        ";",
                                        "\n",
                                        "\r",
                                        "\t",
                                        " ",
                                        "a",
                                        "N",
                                        "\xc2\x9b",
                                        "\xe2\x80\xae",
                                        "\xef\xbb\xbf",
                                        "\xff",
                                        "\xc3",
                                        "\xed\xa0\x80",
                                        "\xf0\x9f\x92\xa3",
                                        "\xef\xbc\x8b" };
    enum { N = sizeof part / sizeof *part };

    (void)state;
    for (size_t i = 0; i < N * N * N; i++) {
        char text[32];

        snprintf(text, sizeof text, "%s%s%s", part[i % N], part[i / N % N], part[i / N / N]);
        try_all(text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(known), cmocka_unit_test(every_byte),
                                        cmocka_unit_test(every_meaning) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
