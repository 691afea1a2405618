/* quote.c - see quote.h */
#include <string.h>

#include "quote.h"

/* Effect of a character on a display. */
enum effect { PLAIN, STEERS, REORDERS, BROKEN };
struct character {
    size_t n;
    uint32_t code;
    enum effect effect;
};

/* The character at s; a single byte where it is invalid UTF-8: overlong, half a surrogate pair, or cut off. */
static struct character
character_at(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    struct character c = { 1, s[0], BROKEN };
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    uint32_t code;

    if (!n || n > left)
        return c;
    code = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return c;
        code = code << 6 | (s[i] & 0x3f);
    }
    if ((n == 3 && code < 0x800) || (n == 4 && (code < 0x10000 || code > 0x10ffff)) ||
        (code >= 0xd800 && code < 0xe000))
        return c;
    c.n = n;
    c.code = code;
    if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        c.effect = STEERS;
    /* invisible or changing direction, so that a line could be misread; line and paragraph separators; tags */
    else if (code == 0x61c || (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
             (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
             (code >= 0xe0000 && code <= 0xe007f))
        c.effect = REORDERS;
    else
        c.effect = PLAIN;
    return c;
}

size_t
quote_printable(const char *s, size_t n)
{
    struct character c = character_at(s, n);

    return c.effect == PLAIN ? c.n : 0;
}

static const char *
in_markup(uint32_t code)
{
    return code == '&'    ? "&amp;"
           : code == '<'  ? "&lt;"
           : code == '>'  ? "&gt;"
           : code == '"'  ? "&quot;"
           : code == '\'' ? "&#39;"
                          : NULL;
}

static const char *
in_tex(uint32_t code)
{
    switch (code) {
    case '\\': return "\\textbackslash{}";
    case '^': return "\\textasciicircum{}";
    case '~': return "\\textasciitilde{}";
    case '<': return "\\textless{}";
    case '>': return "\\textgreater{}";
    case '|': return "\\textbar{}";
    case '"': return "\\textquotedbl{}";
    case '\'': return "\\textquotesingle{}";
    case '`': return "\\textasciigrave{}";
    case '-': return "-{}"; /* no ligature */
    case '{': return "\\{";
    case '}': return "\\}";
    case '$': return "\\$";
    case '&': return "\\&";
    case '#': return "\\#";
    case '_': return "\\_";
    case '%': return "\\%";
    }
    return NULL;
}

/* The replacement of the character in this format; NULL: itself. */
static const char *
replacement(enum quote_format format, uint32_t code)
{
    switch (format) {
    /* an apostrophe: gnuplot 5.4 sometimes takes a doubled quote for the end, against its manual */
    case QUOTE_GNUPLOT: return code == '\'' ? "\xe2\x80\x99" : NULL;
    /* labels interpret \N, \G and the like, and entities */
    case QUOTE_DOT: return code == '"' ? "\\\"" : code == '\\' ? "\\\\" : code == '&' ? "&amp;" : NULL;
    case QUOTE_MARKUP: return in_markup(code);
    case QUOTE_TEX: return in_tex(code);
    case QUOTE_JSON: return code == '"' ? "\\\"" : code == '\\' ? "\\\\" : NULL;
    case QUOTE_SHELL: return code == '\'' ? "'\\''" : NULL;
    case QUOTE_CSV: return code == '"' ? "\"\"" : NULL;
    case QUOTE_LINE:
    case QUOTE_LINES: return NULL;
    }
    return NULL;
}

static void
put_unshown(strbuf *out, enum quote_format format, struct character c)
{
    if (format == QUOTE_LINES && (c.code == '\n' || c.code == '\t') && c.effect == STEERS)
        strbuf_printf(out, "%c", (int)c.code);
    else if (format != QUOTE_JSON)
        strbuf_puts(out, c.code == '\t' ? " " : "?");
    else if (c.effect == BROKEN)
        strbuf_puts(out, "\\ufffd");
    else if (c.code == '\n' || c.code == '\t')
        strbuf_puts(out, c.code == '\n' ? "\\n" : "\\t");
    else if (c.code < 0x10000)
        strbuf_printf(out, "\\u%04x", c.code);
    else
        strbuf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c.code >> 10), 0xdc00 + (c.code & 0x3ff));
}

/* Would a spreadsheet evaluate the cell? It skips blanks, and reads full-width characters as ordinary ones. */
static bool
computed(const char *s, size_t n)
{
    static const char *const begin[] = { "=",           "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
                                         "\xef\xbc\xa0" };

    while (n && strchr(" \t\r\n", *s) && *s)
        s++, n--;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (n >= strlen(begin[i]) && !memcmp(s, begin[i], strlen(begin[i])))
            return true;
    return false;
}

static bool
needs_quotes(enum quote_format format, const char *s, size_t n)
{
    static const char words[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";

    for (size_t i = 0; i < n; i++) {
        bool separates = s[i] == '"' || s[i] == ',' || s[i] == ';' || s[i] == '\n' || s[i] == '\r';

        if (!s[i] || (format == QUOTE_CSV ? separates : !strchr(words, s[i])))
            return true;
    }
    return !n && format == QUOTE_SHELL;
}

static const char *
mark_around(enum quote_format format, const char *s, size_t n)
{
    switch (format) {
    case QUOTE_GNUPLOT: return "'";
    case QUOTE_DOT:
    case QUOTE_JSON: return "\"";
    case QUOTE_SHELL: return needs_quotes(format, s, n) ? "'" : "";
    case QUOTE_CSV: return needs_quotes(format, s, n) ? "\"" : "";
    default: return "";
    }
}

void
quote(strbuf *out, enum quote_format format, const char *s, size_t n)
{
    const char *mark = mark_around(format, s, n);
    size_t brackets = 0;

    strbuf_puts(out, mark);
    if (format == QUOTE_CSV && computed(s, n))
        strbuf_puts(out, "'");
    for (size_t i = 0; i < n;) {
        struct character c = character_at(s + i, n - i);
        const char *other = c.effect == PLAIN ? replacement(format, c.code) : NULL;

        if (c.effect != PLAIN)
            put_unshown(out, format, c);
        else if (other)
            strbuf_puts(out, other);
        /* gnuplot copies text into SVG, where this end of a CDATA section must not appear */
        else if (format == QUOTE_GNUPLOT && c.code == '>' && brackets >= 2)
            strbuf_puts(out, " >");
        else
            strbuf_add(out, s + i, c.n);
        brackets = c.effect == PLAIN && c.code == ']' ? brackets + 1 : 0;
        i += c.n;
    }
    strbuf_puts(out, mark);
}

void
quote_z(strbuf *out, enum quote_format format, const char *s)
{
    quote(out, format, s, strlen(s));
}

char *
quoted(enum quote_format format, const char *s)
{
    strbuf b = { 0 };

    strbuf_add(&b, "", 0);
    quote_z(&b, format, s);
    return b.at;
}
