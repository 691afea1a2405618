/* errors.c - reports syntax errors in the modeller's words
 *
 * in       the current token, the one before, and the tokens that were possible
 * out      one message for the error, and whether the current token already begins the next statement
 */
#include <ctype.h>
#include <string.h>

#include "parse.h"
#include "bg.tab.h"

bool
begins_declaration(int kind)
{
    switch (kind) {
    case MODEL:
    case FUNCTION:
    case EXPERIMENT:
    case DOMAIN:
    case IMPORT: return true;
    default: return false;
    }
}

bool
begins_statement(int kind)
{
    switch (kind) {
    case PARAMETER:
    case CONSTANT:
    case SIGNAL:
    case INPUT:
    case OUTPUT:
    case PORT:
    case FOR:
    case WHEN:
    case REINIT:
    case LET:
    case OBSERVE:
    case EXPECT:
    case KEEP:
    case RECORD:
    case WINDOW:
    case START:
    case EVERY:
    case ASSERT: return true;
    default: return begins_declaration(kind);
    }
}

static bool
is_reserved_word(int kind)
{
    return kind == VALUE_WORD || kind == CALL_WORD || (kind >= MODEL && kind <= ASSERT);
}

/* Words between values: after one of them a value is missing. */
static bool
joins_values(int kind)
{
    switch (kind) {
    case THEN:
    case ELSE:
    case AND:
    case OR:
    case WITHIN:
    case AS:
    case SUCH:
    case THAT:
    case WITHOUT:
    case NOT:
    case IF: return true;
    default: return false;
    }
}

static const struct open_bracket *
innermost(const struct parse *p, char kind)
{
    const struct scan *s = p->scan;

    if (p->last.kind == '}')
        return s->dropped.kind == kind ? &s->dropped : NULL;
    return s->open.n && s->open.at[s->open.n - 1].kind == kind ? &s->open.at[s->open.n - 1] : NULL;
}

static const char *
token_text(const struct parse *p, span at)
{
    uint32_t n = at.end - at.begin;
    const char *text = p->scan->text + at.begin;

    if (!n || source_behind_option(p->s, at))
        return n ? "the end" : "the end of the text";
    if (n > 30) {
        n = 27;
        while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--;
        return arena_format(p->a, "`%.*s...`", (int)n, text);
    }
    return arena_format(p->a, "`%.*s`", (int)n, text);
}

static const char *
token_name(const struct parse *p, span at)
{
    return at.end - at.begin <= 30 ? arena_strndup(p->a, p->scan->text + at.begin, at.end - at.begin) : "name";
}

/* ---------------------------------------------------------------- what was possible */

enum { LISTED = 5 };

static void
add_alternative(const char **list, int *n, const char *what)
{
    for (int i = 0; i < *n && i <= LISTED; i++)
        if (!strcmp(list[i], what))
            return;
    if (*n <= LISTED)
        list[(*n)++] = what;
}

/* `a name`, "`;` or an operator", ... ; NULL: there are too many to help */
static const char *
alternatives(const struct parse *p, const struct expected *e)
{
    const char *list[LISTED + 1], *text;
    bool value = e->name[CALL_WORD], operator= e->name['*'] && e->name['+'], statement = e->name[PARAMETER];
    int n = 0;

    if (e->name[MODEL])
        return "a model, function, experiment, domain, constant or import";
    if (statement)
        add_alternative(list, &n, "a statement");
    else if (value)
        add_alternative(list, &n, "a value");
    else if (e->name[NAME])
        add_alternative(list, &n, e->name[NUMBER] ? "a part" : e->name[OF] && operator? "`at`" : "a name");
    for (int code = 0; code < EXPECTED_CODES; code++) {
        const char *name = e->name[code];

        if (e->name[NAME] && (code == START || code == WINDOW || code == RECORD))
            continue; /* names, too */
        if (!name || code == RESUME || code == NAME || code == INDEX || code == MATRIX || code == VALUE_WORD ||
            code == CALL_WORD)
            continue;
        if (statement && code != '}')
            continue;
        if (code == NUMBER && e->name[NAME])
            continue;
        if (value && (code == NUMBER || code == STRING || code == '(' || code == '-' || code == NOT || code == IF))
            continue;
        if (operator&&((code && code < 128 && strchr("+-*/^<>", code)) || code == LE || code == GE || code == EQ ||
                       code == NE || code == AND || code == OR))
            continue;
        if (code == '.' || code == UNIT_TEXT || (operator&& code == '('))
            continue;
        switch (code) {
        case NUMBER:
        case STRING:
        case END_OF_TEXT: add_alternative(list, &n, name); break;
        case INDEX_END:
        case MATRIX_END: add_alternative(list, &n, "`]`"); break;
        default:
            add_alternative(list, &n, code < 256 ? arena_format(p->a, "`%c`", code) : arena_format(p->a, "`%s`", name));
        }
    }
    if (operator)
        add_alternative(list, &n, "an operator");
    if (!n || n > LISTED)
        return NULL;
    text = list[0];
    for (int i = 1; i < n; i++)
        text = arena_format(p->a, "%s%s%s", text, i + 1 < n ? ", " : " or ", list[i]);
    return text;
}

/* ---------------------------------------------------------------- the message */

/* Errors with messages of their own: each function reports one kind, or returns false. */

static bool
one_of(int kind, const char *signs)
{
    return kind > 0 && kind < 128 && strchr(signs, kind) != NULL;
}

static bool
takes_value(const struct expected *e)
{
    return e->name[CALL_WORD] != NULL; /* possible only where an expression begins */
}

static bool
takes_operator(const struct expected *e)
{
    return e->name['*'] && e->name['+'];
}

static span
behind(const struct parse *p)
{
    return (span){ p->file, p->before.at.end, p->before.at.end };
}

enum { LONGEST_SHOWN = 60 };

/* The length of a token shown in a suggested line. */
static int
shown_length(span at)
{
    return at.end - at.begin < LONGEST_SHOWN ? (int)(at.end - at.begin) : LONGEST_SHOWN;
}

/* The name after the colon of `Wheel:front(`, which begins at head. */
static const char *
instance_name(const struct parse *p, const char *head, const char *open)
{
    const char *colon = memchr(head, ':', (size_t)(open - head));

    return arena_strndup(p->a, colon + 1, (size_t)(open - colon - 1));
}

/* Arguments must be given by name: reports the `(` in R:winding(4), Wheel:front(20), Wheel:side[i](axle). */
static bool
given_without_name(struct parse *p)
{
    const char *text = p->scan->text, *begin = text + p->statement, *now = text + p->last.at.begin, *open = NULL, *head;
    int name, value;

    for (const char *s = begin; s < now; s++)
        open = *s == '(' ? s : *s == ')' ? NULL : open;
    for (head = open; head && head > begin && (isalnum((unsigned char)head[-1]) || strchr("_:[]", head[-1]));)
        head--;
    if (!open || head == open || !memchr(head, ':', (size_t)(open - head)))
        return false;
    parse_error(p, "syntax-habit", (span){ p->file, (uint32_t)(open - text), p->last.at.end },
                "the values of a component are given by name");
    name = (int)(open - head < LONGEST_SHOWN ? open - head : LONGEST_SHOWN);
    value = (int)strcspn(open + 1, "),;{}\n");
    value = value < LONGEST_SHOWN ? value : LONGEST_SHOWN;
    if (p->before.kind == '(')
        diag_help(p->s, "Write `%.*s = %.*s` for an element, `%.*s(NAME = %.*s)` for a component.", name, head, value,
                  open + 1, name, head, value, open + 1);
    else
        diag_help(p->s,
                  "Write `%.*s = %.*s` for an element, `%.*s(NAME = %.*s)` for a component's parameter or input, and "
                  "`%.*s -> %s.PORT` for its port.",
                  name, head, value, open + 1, name, head, value, open + 1, value, open + 1,
                  instance_name(p, head, open));
    return true;
}

static bool
bracket_error(struct parse *p, const struct expected *e)
{
    static const struct {
        int closing;
        char kind;
        const char *written, *cannot_follow;
    } bracket[] = { { ')', '(', ")", ";{}]" }, { INDEX_END, 'i', "]", ";{})" }, { MATRIX_END, 'm', "]", "{})" } };
    const struct seen_token *now = &p->last;

    for (size_t i = 0; i < sizeof bracket / sizeof *bracket; i++) {
        const struct open_bracket *b = innermost(p, bracket[i].kind);

        if (e->name[bracket[i].closing] && !takes_value(e) && b && now->kind != UNIT_TEXT &&
            (now->first || now->kind == END_OF_TEXT || one_of(now->kind, bracket[i].cannot_follow))) {
            parse_error(p, "syntax-bracket", behind(p), "expected `%s`", bracket[i].written);
            diag_note(p->s, b->at, "this `%c` is not closed", p->scan->text[b->at.begin]);
            return true;
        }
    }
    if (now->kind == NUMBER && p->before.kind == '(' && e->name[NAME] && e->name[')'] && !takes_value(e) &&
        given_without_name(p))
        return true;
    if ((now->kind == INDEX || one_of(now->kind, ",).")) && e->name['='] && p->before.kind == NAME &&
        given_without_name(p))
        return true;
    if (now->kind == ')' && e->name['='] && p->before.kind == NAME &&
        !strncmp(p->scan->text + p->statement, "model", strlen("model"))) {
        parse_error(p, "syntax-habit", now->at, "a size needs a default value");
        diag_help(p->s, "Write `%.*s = 3`.", shown_length(p->before.at), p->scan->text + p->before.at.begin);
        return true;
    }
    if (now->kind == ')' && !e->name[')'] && !takes_value(e) && !innermost(p, '(') && !innermost(p, 'i') &&
        !innermost(p, 'm')) {
        if (!given_without_name(p))
            parse_error(p, "syntax-bracket", now->at, "there is no `(` that this `)` closes");
        return true;
    }
    return false;
}

/* if(c, a, b), as spreadsheets have it: reports the first `,`. */
static bool
choice_error(struct parse *p)
{
    const struct open_bracket *b = innermost(p, '(');
    const char *text = p->scan->text;
    uint32_t end = b ? b->at.begin : 0;

    while (end && text[end - 1] == ' ')
        end--;
    if (p->last.kind != ',' || end < 2 || memcmp(text + end - 2, "if", 2) != 0 ||
        (end > 2 && (isalnum((unsigned char)text[end - 3]) || text[end - 3] == '_')))
        return false;
    parse_error(p, "syntax-habit", p->last.at, "`if` is no function");
    diag_help(p->s, "A choice is written `if c then a else b`.");
    return true;
}

static bool
semicolon_error(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last;

    /* where a `;` alone would be an empty statement, none is missing */
    if (!e->name[';'] || e->name['}'] || e->name[MODEL])
        return false;
    if (now->kind == ',' && !e->name[',']) {
        parse_error(p, "syntax-semicolon", now->at, "a statement ends with `;`, not with `,`");
        return true;
    }
    if (now->kind == '}' || now->kind == END_OF_TEXT || begins_statement(now->kind) ||
        (now->first && (now->kind == NAME || now->kind == NUMBER || is_reserved_word(now->kind)))) {
        parse_error(p, "syntax-semicolon", behind(p), "expected `;` after this statement");
        if (now->kind == '}' && p->scan->text[now->at.end] == ';')
            p->said_to = now->at.end + 1; /* {e = f}; : the braces and the semicolon are exchanged */
        p->reuse = true;
        return true;
    }
    return false;
}

static bool
unit_error(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last, *before = &p->before;

    if (now->kind == UNIT_TEXT) {
        parse_error(p, "syntax-unit", now->at, "a unit stands behind a number or a declared name");
        if (before->kind == NAME)
            diag_help(p->s, "A computed value has the unit of its parts; `signal x [m] = ...;` declares one. An index "
                            "follows its name without a space: `v[3]`.");
        else if (before->kind == ')' || before->kind == INDEX_END)
            diag_help(p->s, "A computed value has the unit of its parts; `signal x [m] = ...;` declares one.");
        return true;
    }
    if ((now->kind != NAME && (now->kind != '(' || before->kind != NUMBER)) || now->first)
        return false;
    if (before->kind == NUMBER && takes_operator(e)) {
        parse_error(p, "syntax-unit", now->at, "expected an operator or a unit between the number and %s",
                    token_text(p, now->at));
        diag_help(p->s, "A unit stands in brackets, `5 [kg]`; a product has its `*`, `5*x`.");
        return true;
    }
    if (before->kind == NAME && e->name[UNIT_TEXT] && e->name['=']) {
        parse_error(p, "syntax-unit", now->at, "expected `=` or a unit before %s", token_text(p, now->at));
        diag_help(p->s, "A unit stands in brackets: `m [kg]`.");
        return true;
    }
    return false;
}

/* Reports a reserved word used as a name, once for each word. */
static bool
is_reserved(struct parse *p, const struct seen_token *word)
{
    if (word->kind == OF && p->before.kind == EXPERIMENT) {
        parse_error(p, "syntax", word->at, "the experiment has no name");
        diag_help(p->s, "Write `experiment NAME of MODEL { ... }`.");
    } else if (!p->reserved[word->kind] || word->kind == VALUE_WORD || word->kind == CALL_WORD) {
        parse_error(p, "syntax-reserved", word->at, "%s is a reserved word and cannot be a name",
                    token_text(p, word->at));
    }
    p->reserved[word->kind] = true;
    return true;
}

static bool
word_error(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last;

    if (now->kind == THEN && e->name['{'] && takes_operator(e)) {
        const char *end = strchr(p->scan->text + now->at.begin, '\n');

        parse_error(p, "syntax", now->at, "the statements of an `if` stand in braces");
        if (end) /* the rest of the line is in the other language */
            p->said_to = (uint32_t)(end - p->scan->text);
        diag_help(p->s, "Write `if n > 3 { ... } else { ... }`; `then` belongs to values.");
        return true;
    }
    if (is_reserved_word(now->kind) && e->name[NAME] && !e->name[now->kind] &&
        !(now->first && begins_statement(now->kind)) &&
        !((takes_value(e) || e->name[PARAMETER]) && joins_values(now->kind)))
        return is_reserved(p, now);
    if (now->kind == ARROW && is_reserved_word(p->before.kind) && p->before.at.begin == p->statement)
        return is_reserved(p, &p->before);
    return false;
}

static bool
comparison_error(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last;
    bool compares = now->kind == LE || now->kind == GE || now->kind == EQ || now->kind == NE || one_of(now->kind, "<>");

    if (now->kind == '<' && e->name[ARROW] && !takes_operator(e) && p->scan->text[now->at.end] == '-') {
        parse_error(p, "syntax", now->at, "`<-` is no arrow");
        diag_help(p->s, "Arrows are written `->`, in the direction of power: `Se:F = 3 -> v`.");
    } else if (compares && takes_operator(e)) {
        parse_error(p, "syntax-comparison", now->at, "comparisons do not chain");
        diag_help(p->s, "Write `a < b and b < c`.");
    } else if (now->kind == '=' && e->name[EQ]) {
        parse_error(p, "syntax-comparison", now->at, "`=` gives a value; a comparison is written `==`");
    } else if (now->kind == EQ && e->name['=']) {
        parse_error(p, "syntax-comparison", now->at, "`==` compares; a value is given with `=`");
    } else {
        return false;
    }
    return true;
}

static bool
value_error(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last;

    if (!takes_value(e))
        return false;
    if (joins_values(now->kind) || one_of(now->kind, ";),]}") || now->kind == INDEX_END || now->kind == MATRIX_END) {
        parse_error(p, "syntax-value", now->at, "a value is missing before %s", token_text(p, now->at));
        return true;
    }
    if (now->first && is_reserved_word(now->kind)) {
        parse_error(p, "syntax-value", behind(p), "a value is missing here");
        p->reuse = true;
        return true;
    }
    return false;
}

/* May a law begin here, and no statement? */
static bool
expects_law(const struct expected *e)
{
    return e->name[PORT] && !e->name[PARAMETER] && e->name['}'];
}

/* Is this behind a name with which a law begins? */
static bool
expects_rest_of_law(const struct expected *e)
{
    return e->name['='] && e->name['('] && !e->name['*'] && !e->name[SUCH];
}

/* Is the line that the present token stands in an equation, and no statement of a model? */
static bool
is_equation(const char *text, uint32_t at)
{
    uint32_t begin = at, end = at + (uint32_t)strcspn(text + at, ";}\n");
    bool equals = false;

    while (begin > 0 && !strchr(";{}\n", text[begin - 1]))
        begin--;
    for (uint32_t i = begin; i < end; i++) {
        if (text[i] == ':' || text[i] == '{' || (text[i] == '-' && text[i + 1] == '>'))
            return false;
        if (text[i] == '=')
            equals = equals || !(strchr("=<>!", i > begin ? text[i - 1] : ' ') || text[i + 1] == '=');
    }
    return equals;
}

/* Reports a law with more than one variable on its left: e + 2*f = 0; 2*f = e; (e + f) = 1; abs(f) = e; */
static bool
law_error(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last;

    if (p->scan->braces < 2 || is_reserved_word(now->kind) || !is_equation(p->scan->text, now->at.begin) ||
        !(expects_law(e) || expects_rest_of_law(e) || (p->before.kind == '(' && e->name[NUMBER])))
        return false;
    parse_error(p, "syntax", now->at, "a law has one variable alone on the left of its `=`");
    diag_help(p->s, "Solve the equation for one of its variables: `e = ...;` or `f = ...;`.");
    return true;
}

/* Reports statements of a model in a block of laws, whose `}` is probably missing: once for a block. */
static bool
laws_error(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last;
    const struct scan *s = p->scan;
    size_t brace = s->open.n;

    if (s->braces < 2 || !((expects_law(e) && (now->kind == NUMBER || now->kind == IF || now->kind == WITHOUT ||
                                               (now->first && begins_statement(now->kind)))) ||
                           (expects_rest_of_law(e) && (now->kind == ARROW || now->kind == ':'))))
        return false;
    while (brace && s->open.at[brace - 1].kind != '{')
        brace--;
    if (!brace)
        return false;
    if (p->unclosed.begin != s->open.at[brace - 1].at.begin) {
        p->unclosed = s->open.at[brace - 1].at;
        parse_error(p, "syntax-brace", now->at, "%s cannot stand in a block of laws", token_text(p, now->at));
        diag_note(p->s, p->unclosed, "the block begins here; is its `}` missing?");
    }
    return true;
}

/* Reports a name at the beginning of a statement that is followed by nothing possible. */
static bool
beginning_error(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last, *before = &p->before;

    if (before->at.begin != p->statement || before->kind != NAME || !e->name[':'] || !e->name[ARROW] ||
        (now->kind != NAME && !is_reserved_word(now->kind) && now->kind != NUMBER && now->kind != STRING))
        return false;
    parse_error(p, "syntax", before->at, "no statement begins with %s %s", token_text(p, before->at),
                token_text(p, now->at));
    if (!strcmp(token_name(p, before->at), "state"))
        diag_help(p->s, "A state is what an integral or a C or I stores: `signal x = integral(...);`.");
    else if (!strcmp(token_name(p, before->at), "sample"))
        diag_help(p->s, "What is sampled stands in `every 10 [ms] { u = ...; }`.");
    else if (now->kind == NAME && strchr("[(;", p->scan->text[now->at.end]))
        diag_help(p->s, "A part or component is declared by its type, a colon and its name: Write `%.*s:%.*s`.",
                  shown_length(before->at), p->scan->text + before->at.begin, shown_length(now->at),
                  p->scan->text + now->at.begin);
    else
        diag_help(p->s, "A part is declared as `TYPE:name`, a bond is written `a -> b`, a value `parameter k = 2;`.");
    return true;
}

/* In order of priority, if several would fit. */
static bool
special(struct parse *p, const struct expected *e)
{
    return law_error(p, e) || laws_error(p, e) || choice_error(p) || bracket_error(p, e) || semicolon_error(p, e) ||
           unit_error(p, e) || word_error(p, e) || comparison_error(p, e) || value_error(p, e) || beginning_error(p, e);
}

void
syntax_error(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last;
    const char *list;

    p->recovering = true;
    /* recovery stopped at this token because nothing better was found: not a new error */
    if (now->at.end == p->resumed || (p->scan->stop && p->end_given))
        return;
    /* an invalid character or misspelt token here, or just before the statement, has been reported */
    if (p->scan->broken && p->scan->error_at + 1 == p->statement) {
        const char *end = strchr(p->scan->text + now->at.begin, '\n');

        p->said_to = end ? (uint32_t)(end - p->scan->text) : p->said_to;
        return;
    }
    if (p->scan->broken && p->scan->error_at >= p->before.at.begin && p->scan->error_at < now->at.end)
        return;
    if (now->at.begin < p->said_to || guess(p, e) || special(p, e))
        return;
    list = alternatives(p, e);
    if (now->kind == END_OF_TEXT)
        parse_error(p, "syntax", now->at, "the text ends too early%s%s", list ? ": expected " : "", list ? list : "");
    else if (list)
        parse_error(p, "syntax", now->at, "expected %s, found %s", list, token_text(p, now->at));
    else
        parse_error(p, "syntax", now->at, "%s cannot stand here", token_text(p, now->at));
    if (!list && e->name[';'])
        diag_help(p->s, "Is a `;` missing before it?");
    if (e->name[MODEL] && (now->kind == NAME || now->kind == NUMBER || begins_statement(now->kind)))
        diag_help(p->s, "The statements of a model stand in `model NAME { ... }`.");
    else if (e->name[':'] && now->kind == NAME)
        diag_help(p->s, "A part is declared as `TYPE:name`, a bond is written `a -> b`.");
    else if (e->name[':'] && now->kind == '=' && p->before.at.begin != p->statement)
        diag_help(p->s, "A part has a type and a name: `%s:name = ...`, as in `v -> R:damper = 8;`.",
                  token_name(p, p->before.at));
    else if (e->name[':'] && now->kind == '=')
        diag_help(p->s, "A value is declared: `parameter %s = ...;`, `signal`, `constant`, `input` or `output`.",
                  token_name(p, p->before.at));
}

void
empty_statement(struct parse *p, span at)
{
    if (at.begin < p->said_to)
        return;
    parse_error(p, "syntax-empty", at, "nothing stands before this `;`");
    if (p->before.kind == '}')
        diag_help(p->s, "A block in braces ends its statement without a `;`.");
}
