/* source.c - see source.h */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "quote.h"
#include "reading.h"
#include "source.h"

enum {
    LARGEST_TEXT = 1 << 30,
    LONGEST_QUOTE = 60,  /* longest quotation of a text in a message, in bytes */
    TAB_WIDTH = 4,       /* width of a tab in a printed source line */
    PRINTED_WIDTH = 150, /* longest part of a source line that is printed; the rest is "..." */
    READ_BLOCK = 1 << 16
};

struct text {
    char *path, *at;
    size_t n;
    uint32_t *line; /* start of each line */
    size_t nlines;
    char *written; /* of an option; NULL: it is a file */
    uint32_t from; /* where this begins in the text, or NONE */
    bool lent;     /* text and lines belong to the caller */
};

/* A thread that reports. Notes and helps belong to its last message. */
struct speaker {
    pthread_t thread;
    size_t said;  /* NO_INDEX: it was not stored */
    size_t muted; /* so often */
};

struct sources {
    pthread_mutex_t lock; /* protects the messages */
    VEC(struct text) text;
    VEC(diagnostic) diag;
    arena *messages;
    map said;       /* hash of each message, so that none is reported twice */
    size_t nerrors; /* all, stored or not */
    bool silent;
    size_t nkept;
    size_t nhidden; /* errors beyond SOURCES_MAX_ERRORS */
    VEC(struct speaker) speaker;
};

sources *
sources_new(void)
{
    sources *s = bg_calloc(1, sizeof *s);

    s->messages = arena_new();
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void
sources_free(sources *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->text.n; i++) {
        free(s->text.at[i].path);
        if (s->text.at[i].lent)
            continue;
        free(s->text.at[i].at);
        free(s->text.at[i].line);
        free(s->text.at[i].written);
    }
    for (size_t i = 0; i < s->diag.n; i++)
        free(s->diag.at[i].child);
    vec_free(&s->text);
    vec_free(&s->speaker);
    pthread_mutex_destroy(&s->lock);
    vec_free(&s->diag);
    map_free(&s->said);
    arena_free(s->messages);
    free(s);
}

/* ---------------------------------------------------------------- texts */

/* Takes over `text`, which is 0-terminated. */
static int
add_owned(sources *s, const char *path, char *text, size_t n)
{
    struct text t = { .path = bg_strdup(path), .at = text, .n = n };
    VEC(uint32_t) line = { 0 };

    vec_push(&line, 0);
    for (const char *p = text, *end = text + n; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        vec_push(&line, (uint32_t)(p + 1 - text));
    t.line = line.at;
    t.nlines = line.n;
    vec_push(&s->text, t);
    return (int)s->text.n - 1;
}

int
sources_add_text(sources *s, const char *path, const char *text, size_t n)
{
    char *copy;

    if (n > LARGEST_TEXT) {
        errno = EFBIG;
        return -1;
    }
    copy = bg_malloc(n + 1);
    if (n)
        memcpy(copy, text, n);
    copy[n] = '\0';
    return add_owned(s, path, copy, n);
}

int
sources_add_option(sources *s, const char *option, const char *written, const char *text, uint32_t from)
{
    int i = sources_add_text(s, option, text, strlen(text));

    if (i >= 0) {
        s->text.at[i].written = bg_strdup(written);
        s->text.at[i].from = from;
    }
    return i;
}

bool
source_behind_option(const sources *s, span at)
{
    const struct text *t = at.file < s->text.n ? &s->text.at[at.file] : NULL;

    return t && t->written && t->from != NONE && at.begin >= t->from + strlen(t->written);
}

int
sources_lend(sources *s, const sources *of, uint32_t file)
{
    struct text t = of->text.at[file];

    t.path = bg_strdup(t.path);
    t.lent = true;
    vec_push(&s->text, t);
    return (int)s->text.n - 1;
}

int
sources_read(sources *s, const char *path)
{
    return sources_read_as(s, path, strcmp(path, "-") ? path : "<stdin>");
}

int
sources_read_as(sources *s, const char *path, const char *shown)
{
    bool standard = !strcmp(path, "-");
    FILE *in = standard ? stdin : fopen(path, "rb");
    strbuf b = { 0 };
    int why = 0;

    if (!in)
        return -1;
    reading_note(fileno(in));
    for (;;) {
        size_t got;

        if (b.n + READ_BLOCK + 1 > b.cap)
            b.at = bg_vec_grow(b.at, &b.cap, b.n + READ_BLOCK + 1, 1);
        errno = 0;
        got = fread(b.at + b.n, 1, b.cap - b.n - 1, in);
        b.n += got;
        if (b.n > LARGEST_TEXT) {
            why = EFBIG;
            break;
        }
        if (ferror(in)) {
            why = errno ? errno : EIO;
            break;
        }
        if (feof(in))
            break;
    }
    if (!standard)
        fclose(in);
    if (why) {
        strbuf_free(&b);
        errno = why;
        return -1;
    }
    b.at[b.n] = '\0';
    return add_owned(s, shown, b.at, b.n);
}

const char *
source_path(const sources *s, uint32_t file)
{
    return file < s->text.n ? s->text.at[file].path : "";
}
const char *
source_text(const sources *s, uint32_t file)
{
    return file < s->text.n ? s->text.at[file].at : "";
}
size_t
source_length(const sources *s, uint32_t file)
{
    return file < s->text.n ? s->text.at[file].n : 0;
}
size_t
sources_count(const sources *s)
{
    return s->text.n;
}

/* The line (from 0) that contains pos. */
static size_t
line_of(const struct text *t, uint32_t pos)
{
    size_t low = 0, high = t->nlines;

    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;

        if (t->line[mid] <= pos)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* A position in the text of an option, as one in what is written; end: of a span. */
static uint32_t
place_in_option(const struct text *t, uint32_t pos, bool end)
{
    uint32_t n = (uint32_t)strlen(t->written);

    if (t->from == NONE)
        return end ? n : 0;
    return pos < t->from ? 0 : pos - t->from < n ? pos - t->from : n;
}

void
source_place(const sources *s, uint32_t file, uint32_t pos, int *line, int *column)
{
    *line = *column = 1;
    if (file < s->text.n && s->text.at[file].written) {
        *column = (int)place_in_option(&s->text.at[file], pos, false) + 1;
    } else if (file < s->text.n) {
        const struct text *t = &s->text.at[file];
        size_t l;

        if (pos > t->n)
            pos = (uint32_t)t->n;
        l = line_of(t, pos);
        *line = (int)l + 1;
        *column = (int)(pos - t->line[l]) + 1;
    }
}

/* Would source_one_line leave the text unchanged, without blanks, quotes or comments? This holds for most numbers and
 * names. */
static bool
is_one_line(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isspace((unsigned char)s[i]) || s[i] == '"' || s[i] == '/')
            return false;
    return true;
}

const char *
source_one_line(const sources *s, arena *a, span at)
{
    const char *text = source_text(s, at.file);
    size_t n = source_length(s, at.file);
    strbuf b = { 0 };
    const char *copy;
    bool quoted = false;

    if (at.end <= n && at.begin < at.end && is_one_line(text + at.begin, at.end - at.begin))
        return arena_strndup(a, text + at.begin, at.end - at.begin);
    for (size_t i = at.begin; i < at.end && i < n; i++) {
        bool blank = isspace((unsigned char)text[i]);

        if (!quoted && text[i] == '/' && i + 1 < at.end && text[i + 1] == '/') { /* skips a comment */
            while (i + 1 < at.end && text[i + 1] != '\n')
                i++;
            continue;
        }
        if (text[i] == '"' && !(quoted && text[i - 1] == '\\'))
            quoted = !quoted;
        if (!blank || quoted)
            strbuf_add(&b, text + i, 1);
        else if (b.n && b.at[b.n - 1] != ' ')
            strbuf_puts(&b, " ");
    }
    copy = arena_strdup(a, b.n ? b.at : "");
    strbuf_free(&b);
    return copy;
}

const char *
source_shortened(const sources *s, arena *a, span at)
{
    size_t keep = LONGEST_QUOTE - 3;

    if (at.end - at.begin <= LONGEST_QUOTE)
        return source_one_line(s, a, at);
    while (keep && ((unsigned char)source_text(s, at.file)[at.begin + keep] & 0xc0) == 0x80)
        keep--;
    return arena_format(a, "%s...", source_one_line(s, a, (span){ at.file, at.begin, at.begin + (uint32_t)keep }));
}

/* ---------------------------------------------------------------- diagnostics */

/* Shortens very long quotations (names of a million letters) in their middle. */
static char *
message_text(sources *s, const char *fmt, va_list ap)
{
    enum { MOST = 1000, HEAD = 700, TAIL = 250 };
    char *text = arena_vformat(s->messages, fmt, ap);
    size_t n = strlen(text), head = HEAD, tail = n - TAIL;

    if (n <= MOST)
        return text;
    while (head && ((unsigned char)text[head] & 0xC0) == 0x80) /* not within a character */
        head--;
    while (tail < n && ((unsigned char)text[tail] & 0xC0) == 0x80)
        tail++;
    return arena_format(s->messages, "%.*s...%s", (int)head, text, text + tail);
}

static struct speaker *
speaker_of(sources *s)
{
    pthread_t self = pthread_self();

    for (size_t i = 0; i < s->speaker.n; i++)
        if (pthread_equal(s->speaker.at[i].thread, self))
            return &s->speaker.at[i];
    vec_push(&s->speaker, ((struct speaker){ .thread = self, .said = NO_INDEX }));
    return &s->speaker.at[s->speaker.n - 1];
}

static void
say_locked(sources *s, enum severity severity, const char *code, span at, const char *fmt, va_list ap)
{
    struct speaker *speaker = speaker_of(s);
    char *message;
    uint64_t key;

    speaker->said = NO_INDEX;
    if (s->silent || speaker->muted)
        return;
    if (severity == SEV_ERROR) {
        s->nerrors++;
        if (s->nkept >= SOURCES_MAX_ERRORS) {
            s->nhidden++;
            return;
        }
    }
    message = message_text(s, fmt, ap);
    /* once for each place: an error in a loop or component occurs in every copy */
    key = bg_hash_bytes(code, strlen(code), (uint64_t)severity);
    if (!span_known(at))
        key = bg_hash_bytes(message, strlen(message), key);
    key = bg_hash_mix(key, (uint64_t)at.file << 32 | at.begin);
    key = bg_hash_mix(key, at.end);
    if (map_get(&s->said, key) != MAP_NONE)
        return;
    map_set(&s->said, key, 0);
    speaker->said = s->diag.n;
    s->nkept += severity == SEV_ERROR;
    vec_push(&s->diag, ((diagnostic){ .severity = severity, .code = code, .at = at, .message = message }));
}

static void
say_message(sources *s, enum severity severity, const char *code, span at, const char *fmt, va_list ap)
{
    pthread_mutex_lock(&s->lock);
    say_locked(s, severity, code, at, fmt, ap);
    pthread_mutex_unlock(&s->lock);
}

/* Has d this note or help already? The bonds of one statement may refer to the same declaration several times. */
static bool
says_already(const diagnostic *d, span at, const char *message)
{
    for (size_t i = 0; i < d->nchild; i++)
        if (!memcmp(&d->child[i].at, &at, sizeof at) && !strcmp(d->child[i].message, message))
            return true;
    return false;
}

static void
say_more(sources *s, bool help, span at, const char *fmt, va_list ap)
{
    size_t said;

    pthread_mutex_lock(&s->lock);
    if ((said = speaker_of(s)->said) < s->diag.n) {
        diagnostic *d = &s->diag.at[said];
        char *message = message_text(s, fmt, ap);

        if (!says_already(d, at, message)) {
            if (!(d->nchild & (d->nchild + 1))) /* capacity grows at 0, 1, 3, 7 ... entries */
                d->child = bg_realloc(d->child, 2 * (d->nchild + 1) * sizeof *d->child);
            d->child[d->nchild++] = (struct diag_child){ help, at, message };
        }
    }
    pthread_mutex_unlock(&s->lock);
}

#define SAY(severity) \
    do { \
        va_list ap; \
        va_start(ap, fmt); \
        say_message(s, (severity), code, at, fmt, ap); \
        va_end(ap); \
    } while (0)

void
diag_error(sources *s, const char *code, span at, const char *fmt, ...)
{
    SAY(SEV_ERROR);
}
void
diag_warn(sources *s, const char *code, span at, const char *fmt, ...)
{
    SAY(SEV_WARNING);
}
void
diag_info(sources *s, const char *code, span at, const char *fmt, ...)
{
    SAY(SEV_NOTE);
}

void
diag_note(sources *s, span at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_more(s, false, at, fmt, ap);
    va_end(ap);
}

void
diag_help(sources *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_more(s, true, SPAN_NONE, fmt, ap);
    va_end(ap);
}

void
diag_mute(sources *s, bool muted)
{
    struct speaker *speaker;

    pthread_mutex_lock(&s->lock);
    speaker = speaker_of(s);
    if (muted)
        speaker->muted++;
    else if (speaker->muted)
        speaker->muted--;
    pthread_mutex_unlock(&s->lock);
}

void
diag_silence(sources *s)
{
    s->silent = true;
}

size_t
diag_errors(const sources *s)
{
    return s->nerrors;
}

size_t
diag_warnings(const sources *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->diag.n; i++)
        n += s->diag.at[i].severity == SEV_WARNING;
    return n;
}

void
diag_drop_warnings(sources *s, bool (*drop)(void *ctx, const char *code), void *ctx)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->diag.n; i++) {
        diagnostic *d = &s->diag.at[i];

        if (d->severity == SEV_WARNING && drop(ctx, d->code))
            free(d->child);
        else
            s->diag.at[kept++] = *d;
    }
    s->diag.n = kept;
}

size_t
diag_count(const sources *s)
{
    return s->diag.n;
}
const diagnostic *
diag_at(const sources *s, size_t i)
{
    return i < s->diag.n ? &s->diag.at[i] : NULL;
}

const char *
diag_first_error(const sources *s)
{
    for (size_t i = 0; i < s->diag.n; i++)
        if (s->diag.at[i].severity == SEV_ERROR)
            return s->diag.at[i].message;
    return "";
}

/* ---------------------------------------------------------------- printing */

struct look {
    const char *bold, *red, *magenta, *cyan, *green, *off;
};

static const struct look plain_look = { "", "", "", "", "", "" };
static const struct look colored = { "\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m", "\033[0m" };

/* Adds bytes from..to of a line, one column for each character; returns the number of columns. */
static size_t
add_columns(strbuf *out, const char *line, size_t from, size_t to)
{
    size_t columns = 0;

    while (from < to) {
        size_t len = quote_printable(line + from, to - from);

        if (line[from] == '\t') {
            if (out)
                strbuf_printf(out, "%*s", TAB_WIDTH, "");
            columns += TAB_WIDTH;
            from++;
            continue;
        }
        if (out)
            strbuf_add(out, len ? line + from : "?", len ? len : 1);
        columns++;
        from += len ? len : 1;
    }
    return columns;
}

static bool
inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Prints the line in which a span begins, with the part of the span on it underlined. */
static void
print_line(const struct text *t, span at, bool numbered, FILE *out, const char *color, const char *off)
{
    uint32_t pos = at.begin > t->n ? (uint32_t)t->n : at.begin;
    size_t number = line_of(t, pos), begin = t->line[number];
    size_t end = number + 1 < t->nlines ? t->line[number + 1] - 1 : t->n;
    const char *line = t->at + begin;
    size_t len, from = pos - begin, to, first = 0, last;
    strbuf text = { 0 }, mark = { 0 };
    size_t indent, under;

    if (end > begin && t->at[end - 1] == '\r')
        end--;
    len = end - begin;
    if (from > len)
        from = len;
    to = at.end <= pos ? from : at.end - begin > len ? len : at.end - begin;
    last = len;
    if (len > PRINTED_WIDTH) {
        /* shows the span's beginning in the first third of the window */
        if (from > PRINTED_WIDTH / 3)
            first = from - PRINTED_WIDTH / 3;
        if (len - first > PRINTED_WIDTH)
            last = first + PRINTED_WIDTH;
        else
            first = len - PRINTED_WIDTH;
        while (first > 0 && first < from && inside_character(line[first]))
            first++;
        while (last < len && last > from && inside_character(line[last]))
            last--;
        if (to > last)
            to = last;
    }
    if (first)
        strbuf_puts(&text, "...");
    indent = text.n + add_columns(&text, line, first, from);
    under = add_columns(&text, line, from, to);
    add_columns(&text, line, to, last);
    if (last < len)
        strbuf_puts(&text, "...");
    if (numbered)
        fprintf(out, "%5zu", number + 1);
    fprintf(out, "%s|%s%s\n", numbered ? " " : "      ", text.n ? " " : "", text.n ? text.at : "");
    strbuf_puts(&mark, "^");
    for (size_t i = 1; i < under; i++)
        strbuf_puts(&mark, "~");
    fprintf(out, "      | %*s%s%s%s\n", (int)indent, "", color, mark.at, off);
    strbuf_free(&text);
    strbuf_free(&mark);
}

/* Prints an option as it was written, with the part that the span stands for underlined. */
static void
print_option(const struct text *t, span at, FILE *out, const char *color, const char *off)
{
    char *line = bg_format("%s %s", t->path, t->written);
    uint32_t begins[] = { 0 }, before = (uint32_t)strlen(t->path) + 1;
    struct text shown = { .at = line, .n = strlen(line), .line = begins, .nlines = 1 };

    at.begin = before + place_in_option(t, at.begin, false);
    at.end = before + place_in_option(t, at.end, true);
    print_line(&shown, at, false, out, color, off);
    free(line);
}

static void
print_one(const sources *s, FILE *out, const struct look *l, const char *kind, const char *color, span at,
          const char *message, const char *code)
{
    bool placed = span_known(at) && at.file < s->text.n;
    strbuf text = { 0 };

    if (placed) {
        int line, column;

        source_place(s, at.file, at.begin, &line, &column);
        strbuf_puts(&text, l->bold);
        quote_z(&text, QUOTE_LINE, source_path(s, at.file));
        if (!s->text.at[at.file].written)
            strbuf_printf(&text, ":%d:%d", line, column);
        strbuf_printf(&text, ":%s ", l->off);
    } else {
        strbuf_printf(&text, "%sbgc:%s ", l->bold, l->off);
    }
    strbuf_printf(&text, "%s%s:%s ", color, kind, l->off);
    quote_z(&text, QUOTE_LINE, message);
    if (code)
        strbuf_printf(&text, " [%s]", code);
    fprintf(out, "%s\n", text.at);
    strbuf_free(&text);
    if (placed && s->text.at[at.file].written)
        print_option(&s->text.at[at.file], at, out, color, l->off);
    else if (placed)
        print_line(&s->text.at[at.file], at, true, out, color, l->off);
}

/* Is it a note about the text that a check gives, such as the causality of elements or names? Where a run fails these
 * may explain why; the spelling of an element does not. */
static bool
is_of_text(const char *code, bool fails)
{
    static const char *const list[] = { "causality-derivative", "causality-divides", "modulated-spelling",
                                        "name-shadow", "without-again" };

    for (size_t i = 0; code && i < sizeof list / sizeof *list; i++)
        if (!strcmp(code, list[i]))
            return !fails || !strcmp(code, "modulated-spelling");
    return false;
}

void
diag_print(const sources *s, FILE *out, bool color, enum diag_extent extent)
{
    const struct look *l = color ? &colored : &plain_look;

    for (size_t i = 0; i < s->diag.n; i++) {
        const diagnostic *d = &s->diag.at[i];

        if (d->severity != SEV_ERROR &&
            (extent == DIAG_ERRORS || (extent == DIAG_RUN && is_of_text(d->code, s->nerrors > 0))))
            continue;
        switch (d->severity) {
        case SEV_ERROR: print_one(s, out, l, "error", l->red, d->at, d->message, d->code); break;
        case SEV_WARNING: print_one(s, out, l, "warning", l->magenta, d->at, d->message, d->code); break;
        case SEV_NOTE: print_one(s, out, l, "note", l->cyan, d->at, d->message, d->code); break;
        }
        for (size_t k = 0; k < d->nchild; k++) {
            const struct diag_child *c = &d->child[k];

            if (!c->help && span_known(c->at)) {
                print_one(s, out, l, "note", l->cyan, c->at, c->message, NULL);
            } else {
                char *text = quoted(QUOTE_LINE, c->message);

                fprintf(out, "      = %s%s:%s %s\n", c->help ? l->green : l->cyan, c->help ? "help" : "note", l->off,
                        text);
                free(text);
            }
        }
    }
    if (s->nhidden)
        fprintf(out, "bgc: %zu more error%s not shown\n", s->nhidden, s->nhidden == 1 ? " is" : "s are");
}

/* ---------------------------------------------------------------- similar names */

enum { LONGEST_NEAR = 64 }; /* longer names are not typing errors of each other */

/* Number of insertions, deletions, changes and swaps of neighbours that turn a into b, ignoring case; if it exceeds
 * limit, any number greater than limit. Works on the band of width 2*limit + 1 around the diagonal. */
static size_t
edit_distance(const char *a, size_t na, const char *b, size_t nb, size_t limit)
{
    size_t row[3][LONGEST_NEAR + 1];
    size_t *before = row[0], *above = row[1], *here = row[2];

    for (size_t j = 0; j <= nb; j++)
        above[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t from = i > limit ? i - limit : 1, to = i + limit < nb ? i + limit : nb;
        size_t best, *spare;

        here[from - 1] = from == 1 ? i : limit + 1;
        best = here[from - 1];
        for (size_t j = from; j <= to; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            size_t d = above[j - 1] + (x != y);

            if (here[j - 1] + 1 < d)
                d = here[j - 1] + 1;
            if (above[j] + 1 < d)
                d = above[j] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]) &&
                before[j - 2] + 1 < d)
                d = before[j - 2] + 1;
            here[j] = d;
            if (d < best)
                best = d;
        }
        if (best > limit)
            return limit + 1;
        if (to < nb)
            here[to + 1] = limit + 1;
        spare = before;
        before = above;
        above = here;
        here = spare;
    }
    return above[nb];
}

const char *
nearest_name(const char *wrong, const char *const *list, size_t n)
{
    size_t len = strlen(wrong), limit = (len + 1) / 3;
    const char *near = NULL;

    if (limit > 3)
        limit = 3;
    if (!len || len > LONGEST_NEAR)
        return NULL;
    limit++; /* from here on only smaller distances count */
    for (size_t i = 0; i < n && limit; i++) {
        size_t m = list[i] ? strlen(list[i]) : 0, d;

        if (!m || m > LONGEST_NEAR || (m > len ? m - len : len - m) >= limit || !strcmp(list[i], wrong))
            continue;
        d = edit_distance(wrong, len, list[i], m, limit - 1);
        if (d < limit && d < len && d < m) {
            near = list[i];
            limit = d;
        }
    }
    return near;
}

char *
names_instead(const char *wrong, const char *const *list, size_t n)
{
    enum { FEW = 10 };
    const char *near = nearest_name(wrong, list, n);
    strbuf b = { 0 };

    if (near)
        return bg_format("; did you mean \"%s\"?", near);
    for (size_t i = 0; i < n && n <= FEW; i++)
        strbuf_printf(&b, "%s%s", i == 0 ? "; it has " : i + 1 == n ? " and " : ", ", list[i]);
    return b.at ? b.at : bg_strdup("");
}
