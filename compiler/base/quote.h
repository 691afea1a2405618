/* quote.h - quotes text of a model (names, titles, units, table cells, paths) for output, so that no program executes
 * it
 *
 * Such text may come from anyone. Wherever it leaves the program it goes through `quote`, in the format of the output;
 * no other place quotes. Invalid UTF-8, and characters that control a terminal or reverse the direction of a line,
 * become `?` (in JSON escapes, which a reader decodes).
 *
 * sources    gnuplot 5.4 manual, "Quote marks" (nothing is substituted between single quotes); the DOT language,
 *            graphviz.org; RFC 8259 (JSON); RFC 4180 (CSV); OWASP, "CSV Injection" (cells that a spreadsheet computes)
 */
#ifndef BG_QUOTE_H
#define BG_QUOTE_H

#include "base.h"

enum quote_format {
    QUOTE_LINE,    /* a message, a cell of a table: one line for a terminal */
    QUOTE_LINES,   /* the same for several lines: line ends and tabs are kept */
    QUOTE_GNUPLOT, /* 'text', its quotes as apostrophes */
    QUOTE_DOT,     /* "text", for names and plain labels of Graphviz */
    QUOTE_MARKUP,  /* between tags or in an attribute's quotes: HTML, SVG, Graphviz' HTML-like labels */
    QUOTE_TEX,     /* in running text */
    QUOTE_JSON,    /* "text" */
    QUOTE_SHELL,   /* a word of a command that a message shows for copying, in quotes where it needs them */
    QUOTE_CSV      /* a cell, quoted if necessary; one that a spreadsheet would evaluate begins with ' */
};

/* Adds the n bytes at s. */
void quote(strbuf *out, enum quote_format format, const char *s, size_t n);
void quote_z(strbuf *out, enum quote_format format, const char *s);
/* free() it */
char *quoted(enum quote_format format, const char *s);

/* Number of bytes of the character at s, which has n bytes left, if it is printable; else 0. */
size_t quote_printable(const char *s, size_t n);

#endif
