/* source.h - source texts, places in them, and diagnostics
 *
 * A span is a half-open byte range of a text. It stays attached to everything made from that text up to the equations,
 * so that a solver failure can name a line and a rewrite can edit in place.
 *
 * ownership  the sources object owns texts and diagnostics; messages are copied
 */
#ifndef BG_SOURCE_H
#define BG_SOURCE_H

#include <stdio.h>
#include "base.h"

typedef struct span {
    uint32_t file, begin, end;
} span;
#define SPAN_NONE ((span){ NONE, 0, 0 })
static inline bool
span_known(span s)
{
    return s.file != NONE;
}
static inline span
span_join(span a, span b)
{
    if (!span_known(a))
        return b;
    if (!span_known(b) || a.file != b.file)
        return a;
    return (span){ a.file, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end };
}

enum severity { SEV_ERROR, SEV_WARNING, SEV_NOTE };

/* One message. Notes and helps of an error or warning follow it as children. */
typedef struct diagnostic {
    enum severity severity;
    const char *code; /* stable slug: "causality-conflict" */
    span at;          /* SPAN_NONE: refers to the run or file as a whole */
    char *message;
    struct diag_child {
        bool help;
        span at;
        char *message;
    } * child;
    size_t nchild;
} diagnostic;

typedef struct sources sources;
sources *sources_new(void);
void sources_free(sources *s);

/* Reads a file ("-" is standard input). Returns its number, or -1 with errno set (and no diagnostic).
 * Texts above 1 GiB are refused with EFBIG. */
int sources_read(sources *s, const char *path);
/* The same with `shown` as the name in messages. */
int sources_read_as(sources *s, const char *path, const char *shown);
int sources_add_text(sources *s, const char *path, const char *text, size_t n); /* copies */
/* A text that stands for what is `written` behind an option of the command line: messages show the option, and in it
 * the place of their span. from: where `written` begins in the text; NONE: not in it, then it is shown as a whole. */
int sources_add_option(sources *s, const char *option, const char *written, const char *text, uint32_t from);
/* Does the span lie behind what was written? There stands what makes it a statement. */
bool source_behind_option(const sources *s, span at);
int sources_lend(sources *s, const sources *of, uint32_t file); /* a text that must outlive s: it is not copied */
const char *source_path(const sources *s, uint32_t file);
const char *source_text(const sources *s, uint32_t file); /* 0-terminated */
size_t source_length(const sources *s, uint32_t file);
size_t sources_count(const sources *s);
/* The text of a span on one line, without comments; shortened for messages. In the arena. */
const char *source_one_line(const sources *s, arena *a, span at);
const char *source_shortened(const sources *s, arena *a, span at);
/* 1-based line and column (bytes) of a position */
void source_place(const sources *s, uint32_t file, uint32_t pos, int *line, int *column);

/* ---- diagnostics ----
 *
 * Errors beyond SOURCES_MAX_ERRORS (20) are counted, not stored. Children belong to the last message. Several threads
 * may report at a time: children then belong to the last message of the same thread.
 */
enum { SOURCES_MAX_ERRORS = 20 };
void diag_error(sources *s, const char *code, span at, const char *fmt, ...) BG_PRINTF(4, 5);
void diag_warn(sources *s, const char *code, span at, const char *fmt, ...) BG_PRINTF(4, 5);
/* a note that stands alone */
void diag_info(sources *s, const char *code, span at, const char *fmt, ...) BG_PRINTF(4, 5);
void diag_note(sources *s, span at, const char *fmt, ...) BG_PRINTF(3, 4);
void diag_help(sources *s, const char *fmt, ...) BG_PRINTF(2, 3);
/* Suppresses what this thread reports, without counting it, until unmuted as often as muted: for trials whose failure
 * is no error. */
void diag_mute(sources *s, bool muted);
/* Suppresses the reports of all threads from now on: for texts that are only trials. */
void diag_silence(sources *s);
size_t diag_errors(const sources *s); /* number of errors so far */
size_t diag_warnings(const sources *s);
/* Removes the warnings for whose code `drop` returns true. */
void diag_drop_warnings(sources *s, bool (*drop)(void *ctx, const char *code), void *ctx);
size_t diag_count(const sources *s);
/* The message of the first error; "" if there is none. */
const char *diag_first_error(const sources *s);
const diagnostic *diag_at(const sources *s, size_t i); /* order of report */
/* Prints all in the form `file:line:col: error: message [code]`, source line and underline, notes, helps. After runs
 * the notes about the text are left out, since a check shows them, unless they may explain an error. color: ANSI
 * escapes. */
enum diag_extent { DIAG_ALL, DIAG_RUN, DIAG_ERRORS };
void diag_print(const sources *s, FILE *out, bool color, enum diag_extent extent);

/* The name in list (n entries) most similar to `wrong`, or NULL if none is similar. For "did you mean". */
const char *nearest_name(const char *wrong, const char *const *list, size_t n);
/* What ends a sentence that there is no such name: `; did you mean "x"?`; where no name is near, and they are few, `;
 * it has x and y`; else nothing. free() it. */
char *names_instead(const char *wrong, const char *const *list, size_t n);

#endif
