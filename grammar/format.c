/* format.c - the canonical layout of a text
 *
 * in       a text without syntax errors
 * out      the same tokens and comments in order, in the canonical layout; formatting the result changes nothing
 *
 * One statement a line, four columns a level, at most one blank line between statements, none at the ends of a block. A
 * block written on one line stays there, unless it is a model's or holds several statements of a loop or an `if`.
 * Continuation lines keep their distance from the first line of the statement. Columns that were aligned with more than
 * one space (`=`, units, texts, arrows, matrix entries, comments) keep their distance from what precedes them.
 */
#include <string.h>

#include "ast.h"
#include "scan.h"

enum { LEVEL = 4 }; /* columns for a level of blocks, and for a tab in the source */

/* Properties of each token, determined before the layout begins. */
struct place {
    uint32_t line;   /* in the source, from 0 */
    uint32_t indent; /* columns before the first token of that line */
    uint32_t column;
    bool one_line; /* `{` and `}`: of a block that stays on one line */
};

/* An open bracket or block, and its statement. */
struct level {
    char kind; /* '{' '(' 'i' 'm' */
    bool one_line;
    /* a block: the statement that contains it, to return to */
    int word;
    uint32_t source_indent;
    size_t indent;
    /* another bracket: its column in the source and in the layout */
    uint32_t column;
    size_t new_column;
};

enum statement_word { WORD_NONE, WORD_MODEL, WORD_FOR, WORD_IF, WORD_WHEN, WORD_WINDOW };

struct format {
    const char *text;
    const scan_token *token;
    struct place *place;
    size_t n;
    strbuf *out;
    size_t line_begin; /* in out */
    VEC(struct level) level;
    size_t indent;          /* column of the statements in the current block */
    uint32_t source_indent; /* of the line in which the current statement begins */
    bool shifted;           /* a continuation line was seen, and moved by `shift` */
    uint32_t shift;
    int word;    /* its first word */
    bool starts; /* the next token begins a statement */
};

static bool
is_text(const struct format *f, size_t i, const char *what)
{
    size_t n = strlen(what);

    return i < f->n && f->token[i].at.end - f->token[i].at.begin == n &&
           !memcmp(f->text + f->token[i].at.begin, what, n);
}

static bool
is_sign(const struct format *f, size_t i, const char *what)
{
    return i < f->n && f->token[i].kind == SCAN_SIGN && is_text(f, i, what);
}

static bool
is_word(const struct format *f, size_t i, const char *what)
{
    return i < f->n && f->token[i].kind == SCAN_WORD && is_text(f, i, what);
}

/* Is it `every` with a period? Otherwise it is a name. */
static bool
is_every(const struct format *f, size_t i)
{
    return i + 1 < f->n && f->token[i].kind == SCAN_NAME && is_text(f, i, "every") &&
           (f->token[i + 1].kind == SCAN_NAME || f->token[i + 1].kind == SCAN_NUMBER ||
            f->token[i + 1].kind == SCAN_VALUE_WORD || is_sign(f, i + 1, "("));
}

static int
statement_word(const struct format *f, size_t i)
{
    return is_word(f, i, "model")                    ? WORD_MODEL
           : is_word(f, i, "for")                    ? WORD_FOR
           : is_word(f, i, "if")                     ? WORD_IF
           : is_word(f, i, "when") || is_every(f, i) ? WORD_WHEN
           : is_word(f, i, "window")                 ? WORD_WINDOW
                                                     : WORD_NONE;
}

/* The next token that is no comment, or n. */
static size_t
next_token(const struct format *f, size_t i)
{
    for (i++; i < f->n && f->token[i].kind == SCAN_COMMENT; i++)
        ;
    return i;
}

/* Does the `}` at i end its statement? */
static bool
ends_statement(const struct format *f, size_t i)
{
    size_t next = next_token(f, i);

    return !is_word(f, next, "else") && !is_sign(f, next, "->") && !is_word(f, next, "as");
}

/* ---------------------------------------------------------------- before the layout */

/* Lines and columns of the tokens in the source. */
static void
find_places(struct format *f)
{
    uint32_t line = 0, column = 0, indent = 0, pos = 0;
    bool fresh = true;

    for (size_t i = 0; i < f->n; i++) {
        for (; pos < f->token[i].at.begin; pos++) {
            if (f->text[pos] == '\n') {
                line++;
                column = 0;
                fresh = true;
            } else {
                column += f->text[pos] == '\t' ? LEVEL : 1;
            }
        }
        if (fresh)
            indent = column;
        fresh = false;
        f->place[i] = (struct place){ .line = line, .column = column, .indent = indent };
        column += f->token[i].at.end - pos;
        pos = f->token[i].at.end;
    }
}

/* Determines the blocks that stay on one line. */
static void
find_one_line_blocks(struct format *f)
{
    struct block {
        size_t open;
        int word;
        size_t statements;
        bool broken;
    };
    VEC(struct block) stack = { 0 };
    int brackets = 0, word = WORD_NONE;
    bool starts = true;

    for (size_t i = 0; i < f->n; i++) {
        if (f->token[i].kind == SCAN_COMMENT)
            continue;
        if (starts)
            word = statement_word(f, i);
        starts = false;
        if (f->token[i].kind == SCAN_MATRIX)
            brackets++;
        else if (f->token[i].kind == SCAN_MATRIX_END)
            brackets--;
        if (is_sign(f, i, "{")) {
            vec_push(&stack, ((struct block){ .open = i, .word = word }));
            starts = true;
        } else if (is_sign(f, i, "}") && stack.n) {
            struct block b = stack.at[--stack.n];
            bool one = f->place[b.open].line == f->place[i].line && !b.broken && b.word != WORD_MODEL &&
                       (b.statements <= 1 || (b.word != WORD_FOR && b.word != WORD_IF && b.word != WORD_WHEN));

            f->place[b.open].one_line = f->place[i].one_line = one;
            word = b.word;
            if (stack.n)
                stack.at[stack.n - 1].broken |= !one;
            if (ends_statement(f, i)) {
                starts = true;
                if (stack.n)
                    stack.at[stack.n - 1].statements++;
            }
        } else if (is_sign(f, i, ";") && !brackets) {
            starts = true;
            if (stack.n)
                stack.at[stack.n - 1].statements++;
        }
    }
    vec_free(&stack);
}

/* ---------------------------------------------------------------- spaces within a line */

static bool
ends_value(const struct format *f, size_t i)
{
    switch (f->token[i].kind) {
    case SCAN_NAME:
    case SCAN_NUMBER:
    case SCAN_STRING:
    case SCAN_UNIT:
    case SCAN_VALUE_WORD:
    case SCAN_INDEX_END:
    case SCAN_MATRIX_END: return true;
    default: return is_sign(f, i, ")");
    }
}

/* Is the sign at i, after token `before`, between two values without spaces? */
static bool
tight_operator(const struct format *f, size_t before, size_t i)
{
    char top = f->level.n ? f->level.at[f->level.n - 1].kind : '{';

    if (f->token[i].kind != SCAN_SIGN)
        return false;
    if (is_text(f, i, "*") || is_text(f, i, "/") || is_text(f, i, "^"))
        return true;
    if (is_text(f, i, ".."))
        return f->word != WORD_WINDOW;
    if (is_text(f, i, "+") || is_text(f, i, "-"))
        return ends_value(f, before) && (top == 'i' || (top == '{' && f->word == WORD_FOR));
    return false;
}

/* Is there a space between the neighbours before and i? before_before: the token before both. */
static bool
spaced(const struct format *f, size_t before_before, size_t before, size_t i)
{
    enum scan_kind left = f->token[before].kind, right = f->token[i].kind;
    bool first = before_before == NO_INDEX;

    if (is_sign(f, before, "{") || is_sign(f, i, "{") || is_sign(f, i, "}"))
        return true;
    if (left == SCAN_INDEX || left == SCAN_MATRIX || right == SCAN_INDEX || right == SCAN_INDEX_END ||
        right == SCAN_MATRIX_END)
        return false;
    if (is_sign(f, before, "(") || is_sign(f, before, ".") || is_sign(f, before, ":"))
        return false;
    if (is_sign(f, i, ")") || is_sign(f, i, ".") || is_sign(f, i, ":") || is_sign(f, i, ",") || is_sign(f, i, ";"))
        return false;
    if (is_sign(f, before, ",") && f->level.n && f->level.at[f->level.n - 1].kind == 'i')
        return false;
    if (is_sign(f, before, "-") && (first || !ends_value(f, before_before)))
        return false;
    if (is_sign(f, i, "(") && (left == SCAN_NAME || left == SCAN_CALL_WORD || left == SCAN_INDEX_END))
        return false;
    return !tight_operator(f, before, i) && (first || !tight_operator(f, before_before, before));
}

/* Does more than one space before token i, after token `before`, align columns? */
static bool
lines_up(const struct format *f, size_t before, size_t i)
{
    char top = f->level.n ? f->level.at[f->level.n - 1].kind : '{';

    if (f->token[i].kind == SCAN_UNIT || f->token[i].kind == SCAN_STRING || is_sign(f, i, "=") || is_sign(f, i, "->"))
        return true;
    if (top == 'm')
        return f->token[before].kind == SCAN_MATRIX || is_sign(f, before, ",") || is_sign(f, before, ";");
    return f->token[before].kind == SCAN_WORD &&
           (f->token[i].kind == SCAN_NAME || f->token[i].kind == SCAN_VALUE_WORD || f->token[i].kind == SCAN_NUMBER);
}

/* ---------------------------------------------------------------- the layout */

static void
put_blanks(strbuf *out, size_t n)
{
    static const char blank[] = "                                ";

    for (; n > sizeof blank - 1; n -= sizeof blank - 1)
        strbuf_add(out, blank, sizeof blank - 1);
    strbuf_add(out, blank, n);
}

static void
new_line(struct format *f, size_t indent, bool blank_line)
{
    if (f->out->n)
        strbuf_puts(f->out, blank_line ? "\n\n" : "\n");
    f->line_begin = f->out->n;
    put_blanks(f->out, indent);
}

/* The column of a continuation line, at least `least` from the statement's first line. Lines to the right of an open
 * bracket move with it; all others by as much as the first of them. */
static size_t
continued_column(struct format *f, size_t i, uint32_t least)
{
    const struct level *l = f->level.n ? &f->level.at[f->level.n - 1] : NULL;
    uint32_t column = f->place[i].column, from = f->source_indent, beyond = column > from ? column - from : 0;

    if (l && l->kind != '{' && column > l->column)
        return column - l->column + l->new_column;
    if (!f->shifted && least) {
        f->shifted = true;
        f->shift = beyond < least ? least - beyond : 0;
    }
    if (beyond || least) /* a closing bracket under the statement's first line stays there */
        beyond += f->shifted ? f->shift : 0;
    return f->indent + (beyond > least ? beyond : least);
}

static void
put_token(struct format *f, size_t i)
{
    span at = f->token[i].at;

    if (f->token[i].kind == SCAN_UNIT) {
        const char *from = f->text + at.begin + 1, *to = f->text + at.end - 1;

        while (from < to && strchr(" \t\r\f\v", *from))
            from++;
        while (to > from && strchr(" \t\r\f\v", to[-1]))
            to--;
        strbuf_puts(f->out, "[");
        strbuf_add(f->out, from, (size_t)(to - from));
        strbuf_puts(f->out, "]");
    } else {
        strbuf_add(f->out, f->text + at.begin, at.end - at.begin);
    }
}

/* Updates brackets and statements after token i. */
static void
step_token(struct format *f, size_t i)
{
    enum scan_kind kind = f->token[i].kind;
    bool brace = is_sign(f, i, "{");

    f->starts = false;
    if (brace || kind == SCAN_INDEX || kind == SCAN_MATRIX || is_sign(f, i, "(")) {
        struct level l = { .kind = brace                 ? '{'
                                   : kind == SCAN_INDEX  ? 'i'
                                   : kind == SCAN_MATRIX ? 'm'
                                                         : '(',
                           .one_line = f->place[i].one_line,
                           .word = f->word,
                           .source_indent = f->source_indent,
                           .indent = f->indent,
                           .column = f->place[i].column,
                           .new_column = f->out->n - 1 - f->line_begin };

        vec_push(&f->level, l);
        if (brace) {
            f->starts = true;
            if (!l.one_line)
                f->indent += LEVEL;
        }
    } else if (kind == SCAN_INDEX_END || kind == SCAN_MATRIX_END || is_sign(f, i, ")")) {
        if (f->level.n)
            f->level.n--;
    } else if (is_sign(f, i, "}")) {
        f->starts = ends_statement(f, i);
    } else if (is_sign(f, i, ";")) {
        f->starts = !f->level.n || f->level.at[f->level.n - 1].kind == '{';
    }
}

/* Returns to the statement that contains the block closed by token i. */
static void
leave_block(struct format *f)
{
    if (f->level.n) {
        struct level l = f->level.at[--f->level.n];

        f->indent = l.indent;
        f->word = l.word;
        f->source_indent = l.source_indent;
    }
}

static void
lay_out_tokens(struct format *f)
{
    size_t item = NO_INDEX, before = NO_INDEX, before_before = NO_INDEX; /* item: token or comment */

    f->starts = true;
    for (size_t i = 0; i < f->n; item = i++) {
        bool comment = f->token[i].kind == SCAN_COMMENT,
             behind_comment = item != NO_INDEX && f->token[item].kind == SCAN_COMMENT;
        uint32_t lines = item == NO_INDEX ? 1 : f->place[i].line - f->place[item].line;
        bool closes = is_sign(f, i, "}");
        bool one_line = f->level.n && f->level.at[f->level.n - 1].kind == '{' && f->level.at[f->level.n - 1].one_line;
        bool blank = lines > 1 && f->starts && item != NO_INDEX && !is_sign(f, item, "{") && !closes;
        size_t gap = item == NO_INDEX ? 0
                                      : f->place[i].column - f->place[item].column -
                                            (f->token[item].at.end - f->token[item].at.begin);

        if (comment) {
            if (lines)
                new_line(f, f->starts ? f->indent : continued_column(f, i, LEVEL), blank);
            else
                put_blanks(f->out, gap > 1 ? gap : 1);
            put_token(f, i);
            continue;
        }
        if (closes)
            leave_block(f);
        if (f->starts && !closes) {
            f->word = statement_word(f, i);
            f->source_indent = f->place[i].indent;
            f->shifted = false;
        }
        if (behind_comment || (lines && !is_sign(f, i, "{") && !is_sign(f, i, ";") && !is_sign(f, i, ",") && !closes &&
                               !f->starts && !(is_word(f, i, "else") && is_sign(f, before, "}")))) {
            if (f->starts || closes || is_sign(f, i, "{") || (is_word(f, i, "else") && is_sign(f, before, "}")))
                new_line(f, f->indent, blank);
            else
                new_line(f,
                         continued_column(f, i, is_sign(f, i, ")") || f->token[i].kind == SCAN_MATRIX_END ? 0 : LEVEL),
                         false);
        } else if (before == NO_INDEX) {
            ;
        } else if (f->starts || closes) {
            if (one_line)
                strbuf_puts(f->out, " ");
            else
                new_line(f, f->indent, blank);
        } else if (spaced(f, before_before, before, i)) {
            put_blanks(f->out, !lines && gap > 1 && lines_up(f, before, i) ? gap : 1);
        } else if (!lines && gap > 1 && f->token[before].kind == SCAN_MATRIX && lines_up(f, before, i)) {
            put_blanks(f->out, gap);
        }
        put_token(f, i);
        step_token(f, i);
        before_before = before;
        before = i;
    }
    if (f->out->n)
        strbuf_puts(f->out, "\n");
}

void
format_file(const sources *s, const ast_file *file, strbuf *out)
{
    strbuf text = { 0 };
    struct format f = { .text = source_text(s, file->file), .out = &text };
    scan_tokens tokens = { 0 };

    scan_text(s, file->file, &tokens);
    f.token = tokens.at;
    f.n = tokens.n;
    f.place = bg_calloc(f.n, sizeof *f.place);
    find_places(&f);
    find_one_line_blocks(&f);
    lay_out_tokens(&f);
    strbuf_add(out, text.at ? text.at : "", text.n);
    free(f.place);
    vec_free(&f.level);
    vec_free(&tokens);
    strbuf_free(&text);
}
