/* parse.c - from a text to its tree: token stream with error recovery, and parse_file
 *
 * After a syntax error the rest of the statement is skipped: to its `;`, to the brace that closes its block, or to a
 * word at the beginning of a line that begins a statement; blocks are skipped as a whole. The parser then gets the
 * token RESUME. Braces missing at the end of the text or before the next model are reported and supplied. So every
 * token is read once, and what comes before and after an error is in the tree.
 */
#include <string.h>

#include "parse.h"
#include "scan.h"
#include "bg.tab.h"

#define YYSTYPE BG_YYSTYPE
#define YYLTYPE span
#include "bg.lex.h"

struct token {
    int kind;
    span at;
    bool first;
    BG_YYSTYPE value;
};

/* Tokens read but not yet passed on, last one first. */
struct pending {
    VEC(struct token) stack;
    struct token last;
};

void
parse_error(struct parse *p, const char *code, span at, const char *fmt, ...)
{
    va_list ap;
    char *message;

    va_start(ap, fmt);
    message = arena_vformat(p->a, fmt, ap);
    va_end(ap);
    diag_error(p->s, code, at, "%s", message);
    p->broken = true;
    if (++p->errors > SOURCES_MAX_ERRORS)
        p->scan->stop = true;
}

/* ---------------------------------------------------------------- tokens */

static struct token
end_token(const struct parse *p)
{
    uint32_t end = p->scan->pos;

    return (struct token){ .kind = END_OF_TEXT, .at = { p->file, end, end }, .first = true };
}

/* Words reserved only where a statement begins with them and a value follows: elsewhere models may use them as
 * names. */
static int
reserved_word(const struct scan *s, int before, const struct token *t)
{
    const char *word = s->text + t->at.begin, *next = s->text + t->at.end, *end = s->text + s->length;
    size_t n = t->at.end - t->at.begin;
    int kind = n == 5 && !memcmp(word, "every", n) ? EVERY : n == 6 && !memcmp(word, "assert", n) ? ASSERT : NAME;

    if (kind == NAME || (before != ';' && before != '{' && before != '}') || !s->open.n ||
        s->open.at[s->open.n - 1].kind != '{')
        return NAME;
    while (next < end && (*next == ' ' || *next == '\t' || *next == '\r' || *next == '\n'))
        next++;
    if (next == end || (end - next > 2 && !memcmp(next, "as", 2) && strchr(" \t\r\n", next[2])))
        return NAME;
    return *next == '(' || *next == '_' || (*next >= '0' && *next <= '9') ||
                   ((*next | 0x20) >= 'a' && (*next | 0x20) <= 'z') ||
                   (*next == '-' && end - next > 1 && next[1] != '>')
               ? kind
               : NAME;
}

/* The next token of the text. */
static struct token
scan_token_at(struct parse *p)
{
    struct token t = { 0 };
    int before = p->scan->before;

    if (p->scan->stop || p->scan->errors > SOURCES_MAX_ERRORS)
        return end_token(p);
    t.kind = bg_scan_lex(&t.value, &t.at, p->scanner);
    if (!t.kind || p->scan->stop)
        return end_token(p);
    if (t.kind == NAME)
        t.kind = reserved_word(p->scan, before, &t);
    t.first = p->scan->first;
    if (t.first)
        p->scan->indent = t.at.begin - p->scan->line;
    p->scan->first = false;
    return t;
}

/* Closes all open blocks before t. */
static void
close_blocks(struct parse *p, struct token t)
{
    vec_push(&p->pending->stack, t);
    for (; p->scan->braces; p->scan->braces--)
        vec_push(&p->pending->stack,
                 ((struct token){ .kind = '}', .at = { p->file, t.at.begin, t.at.begin }, .first = true }));
    p->scan->open.n = 0;
    p->scan->misfit.opener.kind = 0;
    p->unclosed = SPAN_NONE;
}

static const struct open_bracket *
innermost_brace(const struct parse *p)
{
    for (size_t i = p->scan->open.n; i-- > 0;)
        if (p->scan->open.at[i].kind == '{')
            return &p->scan->open.at[i];
    return NULL;
}

/* Reports that blocks are still open at t: the end of the text, or a declaration. */
static void
say_unclosed(struct parse *p, const struct token *t)
{
    bool end = t->kind == END_OF_TEXT;
    const struct open_bracket *misfit = p->scan->misfit.opener.kind ? &p->scan->misfit.opener : NULL;
    const char *word = p->scan->text + t->at.begin;
    int n = (int)(t->at.end - t->at.begin);

    if (span_known(p->unclosed))
        return; /* reported where statements followed in a block of laws */
    if (end || misfit) {
        parse_error(p, "syntax-brace", misfit ? misfit->at : innermost_brace(p)->at, "this `{` is not closed");
        if (misfit)
            diag_note(p->s, p->scan->misfit.closer, "by its indentation, this `}` closes a block further out");
        if (end)
            diag_note(p->s, t->at, "the text ends here");
        else
            diag_note(p->s, t->at, "a `}` is missing before this `%.*s`", n, word);
        return;
    }
    parse_error(p, "syntax-brace", t->at, "a `}` is missing before this `%.*s`", n, word);
    diag_note(p->s, innermost_brace(p)->at, "this `{` is not closed");
}

/* Is it a function or import inside a model, judging by its indentation, and not one after an unclosed model? */
static bool
is_misplaced(const struct parse *p, const struct token *t)
{
    const struct open_bracket *b = innermost_brace(p);

    return (t->kind == FUNCTION || t->kind == IMPORT || t->kind == DOMAIN) && b &&
           t->at.begin - p->scan->line > b->indent;
}

/* Follows the head of a model or experiment with the token t. */
static void
follow_head(struct parse *p, const struct token *t)
{
    if (t->first && (t->kind == MODEL || t->kind == EXPERIMENT)) {
        p->head.last = t->kind;
        p->head.at = t->at;
        p->head.indent = p->scan->indent;
    } else if (p->head.last && (t->kind == '{' || t->kind == '}' || t->kind == ';')) {
        p->head.last = 0;
    } else if (p->head.last) {
        p->head.last = t->kind;
        p->head.at.end = t->at.end;
    }
}

/* Does t begin a statement where the head of a model or experiment is complete, but for its `{`? */
static bool
lacks_brace(const struct parse *p, const struct token *t)
{
    return t->first && (p->head.last == NAME || p->head.last == STRING || p->head.last == ')') && !p->scan->open.n &&
           (t->kind == NAME || t->kind == NUMBER || (begins_statement(t->kind) && !begins_declaration(t->kind)));
}

/* Reports that the `{` before t is missing, and supplies it: what follows stands in the model or experiment. */
static struct token
supply_brace(struct parse *p, struct token t)
{
    span at = { p->file, t.at.begin, t.at.begin };

    parse_error(p, "syntax-brace", p->head.at, "a `{` is missing behind this");
    diag_help(p->s, "Write `%.*s {`.", (int)(p->head.at.end - p->head.at.begin), p->scan->text + p->head.at.begin);
    vec_push(&p->pending->stack, t);
    vec_push(&p->scan->open, ((struct open_bracket){ '{', p->head.at, p->head.indent }));
    p->scan->braces++;
    p->head.last = 0;
    return (struct token){ .kind = '{', .at = at };
}

/* The next token, with braces balanced. */
static struct token
read_token(struct parse *p)
{
    for (;;) {
        size_t braces = p->scan->braces;
        struct token t;

        if (p->pending->stack.n)
            return p->pending->stack.at[--p->pending->stack.n];
        t = scan_token_at(p);
        if (t.kind == '}' && !braces) {
            parse_error(p, "syntax-brace", t.at, "there is no `{` that this `}` closes");
            continue;
        }
        if (t.kind == END_OF_TEXT && braces && !p->scan->stop) {
            say_unclosed(p, &t);
            close_blocks(p, t);
            continue;
        }
        if (begins_declaration(t.kind) && t.first && braces && !is_misplaced(p, &t)) {
            say_unclosed(p, &t);
            close_blocks(p, t);
            continue;
        }
        if (t.kind == '}' && braces == 1)
            p->unclosed = SPAN_NONE;
        if (lacks_brace(p, &t))
            return supply_brace(p, t);
        follow_head(p, &t);
        return t;
    }
}

/* Brackets other than braces are closed at the end of their statement. */
static void
forget_brackets(struct scan *s)
{
    while (s->open.n && s->open.at[s->open.n - 1].kind != '{')
        s->open.n--;
}

/* Skips the rest of a statement with an error, and returns RESUME. */
static struct token
resume(struct parse *p)
{
    struct token t = p->pending->last, out = { .kind = RESUME };
    bool again = t.at.end == p->resumed && !p->reuse && t.kind != '}' && t.kind != END_OF_TEXT;
    size_t depth = 0;

    p->recovering = false;
    for (bool at_hand = true;; at_hand = false) {
        bool in_matrix = p->scan->open.n && p->scan->open.at[p->scan->open.n - 1].kind == 'm';

        if (!at_hand)
            t = read_token(p);
        if (t.kind == END_OF_TEXT || (t.kind == '}' && !depth))
            break;
        if (at_hand && p->reuse)
            break;
        if (t.kind == '{') {
            depth++;
        } else if (t.kind == '}') {
            if (--depth)
                continue;
            /* the block ends the statement, unless it continues */
            t = read_token(p);
            if (t.kind != ELSE && t.kind != ARROW && t.kind != AS && t.kind != ';')
                break;
            if (t.kind == ';') {
                out.at = t.at;
                goto done;
            }
        } else if (!depth && t.kind == ';' && !in_matrix) {
            out.at = t.at;
            goto done;
        } else if (!depth && t.first && begins_statement(t.kind) &&
                   !(at_hand && (again || begins_declaration(t.kind)))) {
            break;
        }
    }
    p->resumed = t.at.end;
    out.at = (span){ p->file, t.at.begin, t.at.begin };
    vec_push(&p->pending->stack, t);
done:
    p->reuse = false;
    forget_brackets(p->scan);
    return out;
}

/* `expect` is not reserved: it is a keyword only at the beginning of an item of an experiment, unless followed by `=`
 * like a setting. */
static bool
begins_expectation(struct parse *p, const struct token *t)
{
    const struct scan *s = p->scan;
    struct token next;

    if (t->kind != NAME || !p->in_experiment || !p->item_begins || s->braces != 1 ||
        s->open.at[s->open.n - 1].kind != '{' || strcmp(t->value.name, "expect") != 0)
        return false;
    next = read_token(p);
    vec_push(&p->pending->stack, next);
    return next.kind != '=';
}

int
bg_yylex(BG_YYSTYPE *value, span *at, struct parse *p)
{
    struct token t;

    if (p->end_given) {
        *at = p->last.at;
        return 0;
    }
    t = p->recovering ? resume(p) : read_token(p);
    if (begins_expectation(p, &t))
        t.kind = EXPECT;
    if (begins_declaration(t.kind))
        p->in_experiment = t.kind == EXPERIMENT;
    p->item_begins = t.kind == '{' || t.kind == '}' || t.kind == ';' || t.kind == RESUME;
    if (t.kind == END_OF_TEXT)
        p->end_given = true;
    if (t.kind != RESUME) {
        bool in_matrix = p->scan->open.n && p->scan->open.at[p->scan->open.n - 1].kind == 'm';

        if (p->fresh ||
            ((p->last.kind == ';' || p->last.kind == '{' || p->last.kind == '}' || !p->last.kind) && !in_matrix))
            p->statement = t.at.begin;
        p->fresh = false;
        if (begins_declaration(t.kind))
            p->declaration = t.kind;
        p->units |= (t.kind == UNIT_TEXT && p->declaration != EXPERIMENT) || t.kind == IMPORT;
        p->before = p->last;
        p->last = (struct seen_token){ t.kind, t.at, t.first };
        p->pending->last = t;
    } else {
        p->fresh = true;
    }
    *value = t.value;
    *at = t.at;
    return t.kind;
}

/* Bison's own failures: only the limit of its stack can be reached. */
void
bg_yyerror(const span *at, struct parse *p, const char *message)
{
    (void)message;
    parse_error(p, "syntax-nesting", *at, "expressions or statements nest too deeply here");
    diag_help(p->s, "Give a part of it a name of its own.");
}

/* ---------------------------------------------------------------- whole files */

/* Is the text a model in YAML, as other bond graph tools write it? Its first line that is no comment begins a document,
 * a directive or a mapping. */
static bool
looks_like_yaml(const char *text, size_t n, span *line)
{
    static const char *const keys[] = { "metadata", "version", "root", "models" };
    const char *s = text, *end = text + n;

    while (s < end) {
        const char *eol = memchr(s, '\n', (size_t)(end - s)), *e;
        const char *w = s;

        if (!eol)
            eol = end;
        e = eol;
        while (e > s && (e[-1] == ' ' || e[-1] == '\t' || e[-1] == '\r'))
            e--;
        if (e == s || *s == '#') {
            s = eol < end ? eol + 1 : end;
            continue;
        }
        line->begin = (uint32_t)(s - text);
        line->end = (uint32_t)(e - text);
        if ((e - s >= 3 && !memcmp(s, "---", 3)) || (e - s >= 5 && !memcmp(s, "%YAML", 5)))
            return true;
        while (w < e && (*w == '_' || *w == '-' || (*w >= 'a' && *w <= 'z') || (*w >= 'A' && *w <= 'Z') ||
                         (*w >= '0' && *w <= '9')))
            w++;
        if (w == s || w == e || *w != ':')
            return false;
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if ((size_t)(w - s) == strlen(keys[k]) && !memcmp(s, keys[k], strlen(keys[k])))
                return true;
        return w + 1 == e;
    }
    return false;
}

/* A text that is not in this language at all gets one message. */
static bool
foreign(struct parse *p, const char *text, size_t n)
{
    span line = { p->file, 0, 0 };

    if (n >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2))) {
        parse_error(p, "syntax-encoding", line, "this text is in UTF-16");
        diag_help(p->s, "Save it as UTF-8.");
        return true;
    }
    if (looks_like_yaml(text, n, &line)) {
        parse_error(p, "syntax-yaml", line, "this is a YAML model of another tool, not a text of this language");
        diag_help(p->s, "`bgc import FILE` translates what BondGraphTools writes; a model of this language begins with "
                        "`model NAME {`.");
        return true;
    }
    return false;
}

static void
scan_begin(struct scan *scan, void **scanner)
{
    size_t skip = scan->length >= 3 && !memcmp(scan->text, "\xef\xbb\xbf", 3) ? 3 : 0;
    size_t n = scan->length - skip;

    scan->pos = (uint32_t)skip;
    scan->before_end = NONE;
    scan->first = true;
    /* flex reads a token again from its beginning at every zero byte in it, and needs two of them after the text */
    scan->buffer = bg_malloc(n + 2);
    memcpy(scan->buffer, scan->text + skip, n);
    for (char *z = scan->buffer, *end = z + n; z < end && (z = memchr(z, '\0', (size_t)(end - z))) != NULL; z++)
        *z = '\1';
    scan->buffer[n] = scan->buffer[n + 1] = '\0';
    bg_scan_lex_init_extra(scan, scanner);
    bg_scan__scan_buffer(scan->buffer, n + 2, *scanner);
}

static void
scan_end(struct scan *scan, void *scanner)
{
    bg_scan_lex_destroy(scanner);
    free(scan->buffer);
    vec_free(&scan->open);
    vec_free(&scan->comment);
}

ast_file *
parse_file(sources *s, names *n, arena *a, uint32_t file)
{
    ast_file *f = arena_alloc(a, sizeof *f);
    struct scan scan = { .say = s,
                         .names = n,
                         .a = a,
                         .file = file,
                         .text = source_text(s, file),
                         .length = source_length(s, file) };
    struct pending pending = { 0 };
    struct parse p = { .scan = &scan,
                       .s = s,
                       .n = n,
                       .a = a,
                       .file = file,
                       .pending = &pending,
                       .resumed = NONE,
                       .unclosed = SPAN_NONE };

    f->file = file;
    if (foreign(&p, scan.text, scan.length))
        return f;
    scan_begin(&scan, &p.scanner);
    p.last.at = p.before.at = (span){ file, 0, 0 };
    f->ok = !bg_yyparse(&p);
    experiments_complete(&p);
    f->ok = f->ok && !p.broken && !scan.broken;
    f->units = p.units;
    f->ndecls = (size_t)p.decls.n;
    f->decl = arena_new_array(a, ast_decl, f->ndecls);
    if (f->ndecls)
        memcpy(f->decl, p.decls.at, f->ndecls * sizeof *f->decl);
    free(p.decls.at);
    lists_free(&p);
    f->comment = arena_new_array(a, span, scan.comment.n);
    f->ncomments = scan.comment.n;
    if (scan.comment.n)
        memcpy(f->comment, scan.comment.at, scan.comment.n * sizeof *f->comment);
    f->named = arena_new_array(a, const char *, p.named.n);
    f->nnamed = p.named.n;
    if (p.named.n)
        memcpy(f->named, p.named.at, p.named.n * sizeof *f->named);
    vec_free(&p.named);
    vec_free(&pending.stack);
    scan_end(&scan, p.scanner);
    return f;
}

/* ---------------------------------------------------------------- scanning only */

bool
scan_reserved(const char *word, size_t n)
{
    return bg_word(word, n) != NAME;
}

static enum scan_kind
scan_kind_of(int kind)
{
    switch (kind) {
    case NAME: return SCAN_NAME;
    case NUMBER: return SCAN_NUMBER;
    case STRING: return SCAN_STRING;
    case UNIT_TEXT: return SCAN_UNIT;
    case VALUE_WORD: return SCAN_VALUE_WORD;
    case CALL_WORD: return SCAN_CALL_WORD;
    case INDEX: return SCAN_INDEX;
    case INDEX_END: return SCAN_INDEX_END;
    case MATRIX: return SCAN_MATRIX;
    case MATRIX_END: return SCAN_MATRIX_END;
    case ARROW:
    case DOTS:
    case LE:
    case GE:
    case EQ:
    case NE: return SCAN_SIGN;
    default: return kind < 256 ? SCAN_SIGN : SCAN_WORD;
    }
}

/* Names that act as keywords: `expect` at the beginning of an item of an experiment, and `at` after what is
 * expected. */
static void
mark_expectations(const char *text, scan_tokens *t)
{
    bool experiment = false, begins = false, expects = false;
    int braces = 0, brackets = 0;

    for (size_t i = 0, before = 0; i < t->n; i++) {
        scan_token *x = &t->at[i];
        size_t n = x->at.end - x->at.begin, next = i + 1;
        const char *s = text + x->at.begin;

        if (x->kind == SCAN_COMMENT)
            continue;
        while (next < t->n && t->at[next].kind == SCAN_COMMENT)
            next++;
        if (x->kind == SCAN_WORD && braces == 0 && n == 10 && !memcmp(s, "experiment", n))
            experiment = true;
        if (x->kind == SCAN_NAME && experiment && begins && braces == 1 && n == 6 && !memcmp(s, "expect", n) &&
            !(next < t->n && text[t->at[next].at.begin] == '=' && t->at[next].at.end - t->at[next].at.begin == 1)) {
            x->kind = SCAN_WORD;
            expects = true;
        } else if (expects && brackets == 0 && x->kind == SCAN_NAME && n == 2 && !memcmp(s, "at", n) &&
                   t->at[before].kind != SCAN_WORD &&
                   (t->at[before].kind != SCAN_SIGN || text[t->at[before].at.begin] == ')')) {
            x->kind = SCAN_WORD;
        }
        if (x->kind == SCAN_INDEX || x->kind == SCAN_MATRIX || (x->kind == SCAN_SIGN && *s == '('))
            brackets++;
        if (x->kind == SCAN_INDEX_END || x->kind == SCAN_MATRIX_END || (x->kind == SCAN_SIGN && *s == ')'))
            brackets--;
        if (x->kind == SCAN_SIGN)
            braces += (*s == '{') - (*s == '}');
        experiment = experiment && (braces > 0 || *s != '}');
        begins = x->kind == SCAN_SIGN && brackets == 0 && strchr("{};", *s) != NULL;
        if (begins)
            expects = false;
        before = i;
    }
}

void
scan_text(const sources *s, uint32_t file, scan_tokens *out)
{
    struct scan scan = { .file = file, .text = source_text(s, file), .length = source_length(s, file) };
    void *scanner;
    size_t comments = 0;
    BG_YYSTYPE value;
    span at;

    scan_begin(&scan, &scanner);
    for (;;) {
        int kind = bg_scan_lex(&value, &at, scanner);

        for (; comments < scan.comment.n; comments++)
            vec_push(out, ((scan_token){ SCAN_COMMENT, scan.comment.at[comments] }));
        if (!kind)
            break;
        vec_push(out, ((scan_token){ scan_kind_of(kind), at }));
    }
    mark_expectations(scan.text, out);
    scan_end(&scan, scanner);
}
