/* source.h - source texts, places in them, and what is said about them
 *
 * A span is a half-open byte range of one text and stays attached to what was made from it up to the
 * equations, so that a solver failure can name a line and a rewrite can edit in place.
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

/* One message. Notes and helps that belong to an error or warning follow it as children. */
typedef struct diagnostic {
    enum severity severity;
    const char *code; /* stable slug: "causality-conflict" */
    span at;          /* SPAN_NONE: about the run or file as a whole */
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
/* The same, and messages call it `shown`. */
int sources_read_as(sources *s, const char *path, const char *shown);
int sources_add_text(sources *s, const char *path, const char *text, size_t n); /* copies */
int sources_lend(sources *s, const sources *of,
                 uint32_t file); /* a text of another's, which must outlive s: nothing is copied */
const char *source_path(const sources *s, uint32_t file);
const char *source_text(const sources *s, uint32_t file); /* 0-terminated */
size_t source_length(const sources *s, uint32_t file);
size_t sources_count(const sources *s);
/* The text of a span on one line, without comments; shortened as messages show it. In the arena. */
const char *source_one_line(const sources *s, arena *a, span at);
const char *source_shortened(const sources *s, arena *a, span at);
/* 1-based line and column (bytes) of a position */
void source_place(const sources *s, uint32_t file, uint32_t pos, int *line, int *column);

/* ---- diagnostics ----
 * Each error stays; more than SOURCES_MAX_ERRORS (20) are counted, not kept. Children go to the last message. Several
 * threads may say something at a time: children go to the last message of theirs. */
enum { SOURCES_MAX_ERRORS = 20 };
void diag_error(sources *s, const char *code, span at, const char *fmt, ...) BG_PRINTF(4, 5);
void diag_warn(sources *s, const char *code, span at, const char *fmt, ...) BG_PRINTF(4, 5);
void diag_info(sources *s, const char *code, span at, const char *fmt, ...) BG_PRINTF(4, 5); /* a note of its own */
void diag_note(sources *s, span at, const char *fmt, ...) BG_PRINTF(3, 4);
void diag_help(sources *s, const char *fmt, ...) BG_PRINTF(2, 3);
/* Nothing that this thread says is kept or counted until it is heard again as often as it was muted: a trial that fails
 * is nobody's mistake. */
void diag_mute(sources *s, bool muted);
/* The same for whoever speaks, from now on: texts that are nothing but trials. */
void diag_silence(sources *s);
size_t diag_errors(const sources *s); /* how many errors so far */
size_t diag_warnings(const sources *s);
/* Takes those warnings out again of whose code drop says so. */
void diag_drop_warnings(sources *s, bool (*drop)(void *ctx, const char *code), void *ctx);
size_t diag_count(const sources *s);
/* The message of the first error, of the sources; "" without one. */
const char *diag_first_error(const sources *s);
const diagnostic *diag_at(const sources *s, size_t i); /* order of report */
/* Prints all in the form `file:line:col: error: message [code]`, source line and underline, notes, helps. Runs leave
 * out the notes about the text, which a check has said, unless they may be why there is an error. color: ANSI escapes.
 */
enum diag_extent { DIAG_ALL, DIAG_RUN, DIAG_ERRORS };
void diag_print(const sources *s, FILE *out, bool color, enum diag_extent extent);

/* The name in list (n entries) nearest to what was written, or NULL if none is near. For "did you mean". */
const char *nearest_name(const char *wrong, const char *const *list, size_t n);

#endif
