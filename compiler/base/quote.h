/* quote.h - text of a model (names, titles, units, cells of tables, paths) where it comes out, so that nothing obeys it
 *
 * Such text is someone else's. Wherever it leaves the program it goes through `quote`, in the format of what it goes
 * into; no other place quotes. Bytes that are no UTF-8, and characters that steer a terminal or turn the order of a
 * line around, come out as `?` (in JSON as escapes, where a reader gets them back).
 *
 * sources    gnuplot 5.4 manual, "Quote marks" (nothing is substituted between single quotes); the DOT language,
 *            graphviz.org; RFC 8259 (JSON); RFC 4180 (CSV); OWASP, "CSV Injection" (cells that a spreadsheet computes)
 */
#ifndef BG_QUOTE_H
#define BG_QUOTE_H

#include "base.h"

enum quote_format {
    QUOTE_LINE,    /* a message, a cell of a table: one line for a terminal */
    QUOTE_LINES,   /* the same for several lines: line ends and tabs stay */
    QUOTE_GNUPLOT, /* 'text', its quotes as apostrophes */
    QUOTE_DOT,     /* "text", for names and plain labels of Graphviz */
    QUOTE_MARKUP,  /* between tags or in an attribute's quotes: HTML, SVG, Graphviz' HTML-like labels */
    QUOTE_TEX,     /* in running text */
    QUOTE_JSON,    /* "text" */
    QUOTE_SHELL,   /* a word of a command that a message shows for copying, in quotes where it needs them */
    QUOTE_CSV      /* a cell, in quotes where it needs them; one that would be computed begins with ' */
};

/* Adds the n bytes at s. */
void quote(strbuf *out, enum quote_format format, const char *s, size_t n);
void quote_z(strbuf *out, enum quote_format format, const char *s);
/* free() it */
char *quoted(enum quote_format format, const char *s);

/* Bytes of the character at s, which has n left, if it can be shown on a line as it is; else 0. */
size_t quote_printable(const char *s, size_t n);

#endif
