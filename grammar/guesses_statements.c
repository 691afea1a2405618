/* guesses_statements.c - recognizes equations, circuits and declarations of other languages
 *
 * in       the current token, the tokens that were possible, and the text of the statement
 * out      one message with the line of this language
 */
#include <ctype.h>
#include <string.h>

#include "guesses_inside.h"
#include "bg.tab.h"

static bool
is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* ---------------------------------------------------------------- equations */

/* The type with which the text declares a part of this name anywhere: "R", "1"; NULL. */
static const char *
declared_type(const struct parse *p, const char *name)
{
    const char *text = p->scan->text, *s = text;
    size_t n = strlen(name);

    while (n && (s = strstr(s, name)) != NULL) {
        const char *end = s, *begin;

        while (end > text && isspace((unsigned char)end[-1]))
            end--;
        if (end > text && end[-1] == ':' && !is_name(s[n])) {
            for (end--; end > text && isspace((unsigned char)end[-1]);)
                end--;
            for (begin = end; begin > text && is_name(begin[-1]);)
                begin--;
            if (begin < end)
                return arena_strndup(p->a, begin, (size_t)(end - begin));
        }
        s += n;
    }
    return NULL;
}

/* The text without the prefix `name.`: r.f becomes f. */
static const char *
own_words(const struct parse *p, const char *text, const char *name)
{
    size_t n = strlen(name);
    strbuf b = { 0 };
    const char *made;

    for (const char *s = text; *s;) {
        bool begins = s == text || (!is_name(s[-1]) && s[-1] != '.');

        if (begins && !strncmp(s, name, n) && s[n] == '.') {
            s += n + 1;
            continue;
        }
        strbuf_add(&b, s++, 1);
    }
    made = arena_strdup(p->a, b.at ? b.at : "");
    strbuf_free(&b);
    return made;
}

static bool
is_quantity(const char *word)
{
    return strlen(word) == 1 && strchr("efqp", *word);
}

/* r.e = R*r.f; v.f = 3; pump.size = 2; */
static bool
equation(struct parse *p, const struct pieces *x)
{
    const char *dot = strrchr(x->left, '.'), *name, *type, *what = dot ? dot + 1 : "";
    bool stores;

    if (!dot || !strncmp(x->left, "der(", 4))
        return false;
    name = arena_strndup(p->a, x->left, (size_t)(dot - x->left));
    type = declared_type(p, name);
    if (!is_quantity(what) && type && guess_is_word_in(" R C I Se Sf TF GY MR MC MI MSe MSf MTF MGY ", type))
        return guess_say(p, p->last.at, "the value of an element stands at its declaration",
                         arena_format(p->a, "Write `%s:%s = {V}` there.", type, name));
    if (!is_quantity(what)) {
        guess_say(p, p->last.at, "the values of a component stand at its declaration, or in an experiment",
                  arena_format(p->a, "Write `%s:%s(%s = {V});`, or in the experiment `let {L} = {V};`.",
                               type ? type : "Type", name, what));
        return true;
    }
    if (type && (!strcmp(type, "1") || !strcmp(type, "0")))
        return guess_say(p, p->last.at,
                         "an equation is not a statement: the flow of a 1-junction and the effort of a 0-junction "
                         "are set by a source",
                         arena_format(p->a, "Write `%s:name = {V} -> %s;`; its initial value is `{L}(0) = {V};`.",
                                      *type == '1' ? "Sf" : "Se", name));
    if (type && (!strcmp(type, "Se") || !strcmp(type, "Sf") || !strcmp(type, "MSe") || !strcmp(type, "MSf")))
        return guess_say(p, p->last.at, "an equation is not a statement: a source has its value where it is declared",
                         arena_format(p->a, "Write `%s:%s = {V}` there.", type, name));
    stores = type && strlen(type) && strchr("CI", type[strlen(type) - 1]) != NULL;
    return guess_say(p, p->last.at,
                     "an equation is not a statement: the law of an element stands where it is "
                     "declared",
                     arena_format(p->a, "Write `%s:%s { %s = %s; }` there%s.", type ? type : "R", name, what,
                                  own_words(p, x->value, name),
                                  stores ? "; its initial value is `{L}(0) = {V};`" : ""));
}

/* After `f(`: names, `)` and `=` */
static bool
defines_function(const char *s)
{
    s += strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789, \t");
    if (*s++ != ')')
        return false;
    s += strspn(s, " \t");
    return s[0] == '=' && s[1] != '=';
}

/* legs = MSe(torque) -> wheel; r1 = R(10); */
static bool
part_assigned(struct parse *p, const struct pieces *x)
{
    size_t n = strcspn(x->value, "(");
    const char *type = arena_strndup(p->a, x->value, n), *open = x->value + n, *arrow = strstr(open, "->"),
               *close = open, *other, *value;
    bool source = guess_is_word_in(" Se Sf MSe MSf ", type), two = guess_is_word_in(" TF GY MTF MGY ", type);

    if (!*open || !guess_is_word_in(" R C I Se Sf TF GY MR MC MI MSe MSf MTF MGY ", type))
        return false;
    for (const char *s = open; *s && s != arrow; s++)
        close = *s == ')' ? s : close;
    value = arena_strndup(p->a, open + 1, close > open ? (size_t)(close - open - 1) : 0);
    other = arrow ? arrow + 2 + strspn(arrow + 2, " ") : "junction";
    return guess_say(p, p->last.at, "a part is declared where it is bonded, with its type before its name",
                     two      ? arena_format(p->a, "Write `a -> %s:{L} = %s -> b;`.", type, value)
                     : source ? arena_format(p->a, "Write `%s:{L} = %s -> %s;`.", type, value, other)
                              : arena_format(p->a, "Write `%s -> %s:{L} = %s;`.", other, type, value));
}

/* k = 3; r.v == R*r.i; y += 1; f(x) = x^2; D(x) ~ v; */
static bool
assignment(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last, *before = &p->before;
    const char *text = p->scan->text + now->at.begin;
    struct pieces x = guess_pieces(p);

    if ((now->kind == '=' || now->kind == EQ) && e->name[ARROW] && !e->name['*'])
        return equation(p, &x) || part_assigned(p, &x) ||
               (strchr(x.value, '@') && guess_say(p, now->at, "a function is declared outside of models, with its word",
                                                  "Write before `model NAME {`: `function {L}(x) = x^2;`")) ||
               (before->at.begin == p->statement &&
                guess_say(p, now->at, "a value is declared before it is used",
                          "Write `parameter {L} = {V};`; for a value that changes during the run, `signal {L} = "
                          "{V};`."));
    if (now->kind == ':' && e->name[ARROW] && !e->name[':']) {
        const char *from = p->scan->text + p->statement, *to = memchr(from, ':', (size_t)(text + 1 - from));

        to += 1 + strspn(to + 1, " ");

        return guess_say(p, now->at, "a bond is written `->`, in the direction of power",
                         arena_format(p->a, "Write `%s -> %.*s;`.", x.word, (int)strcspn(to, ";\n"), to));
    }
    if (e->name[ARROW] && before->at.begin == p->statement && text[1] == '=' && now->kind && now->kind < 128 &&
        strchr("+-*/", now->kind))
        return guess_say(p, now->at, "a value has one equation; a counter is set at samples or events",
                         arena_format(p->a,
                                      "Write `every 10 [ms] { %s = %s %c {V}; }`, and `signal %s = 0;` before it.",
                                      x.word, x.word, now->kind, x.word));
    if (before->kind == '(' && before->at.begin == p->statement + strlen(x.word) && e->name[NUMBER] && !e->name[NAME] &&
        (now->kind == NAME || now->kind == VALUE_WORD)) {
        const char *end = strchr(text, '\n'), *tilde = memchr(text, '~', end ? (size_t)(end - text) : strlen(text));

        if (guess_is_word_in(" D Dt d dt der ddt ", x.word))
            return guess_say(p, (span){ p->file, p->statement, p->before.at.begin },
                             "a derivative is not a statement: declare the state as an `integral`",
                             tilde ? arena_format(p->a, "Write `signal {A} = integral(%.*s, 0);`.",
                                                  (int)strcspn(tilde + 1 + strspn(tilde + 1, " "), ";\n"),
                                                  tilde + 1 + strspn(tilde + 1, " "))
                                   : "Write `signal {A} = integral({V}, 0);`.");
        if (p->scan->braces < 2 && defines_function(text))
            return guess_say(p, (span){ p->file, p->statement, now->at.end },
                             "a function is declared outside of models, with its word",
                             arena_format(p->a, "Write before `model NAME {`: `function %s({A}) = {V};`", x.word));
    }
    return false;
}

/* ---------------------------------------------------------------- circuits */

/* .tran 1u 10m and similar lines */
static bool
dot_command(struct parse *p)
{
    static const struct {
        const char *words, *says, *help;
    } known[] = {
        { " tran dc op ac noise ", "a run is described by an experiment",
          "Write behind the model: `experiment try { stop = 10 [ms]; }`; frequencies are `bgc linearize FILE --bode "
          "FIGURE.svg`." },
        { " param params global ", "a value is declared with `parameter`", "Write `parameter {N} = {V};`." },
        { " ic nodeset ", "an initial value is given at `(0)`",
          "Write `out.e(0) = 5 [V];`, or of a coil `coil.f(0) = 1 [A];`." },
        { " model subckt include lib ends ", "a group of parts is a model; ready-made ones are imported",
          "Write `import electrical;` before the model and `Diode:D1;` in it; `bgc doc electrical` lists them." },
        { " end options option save print plot probe measure meas ", "this line has no place here",
          "Leave it out: a model ends with its `}`; show results by `output u = out.e;`." },
    };
    const char *word = p->scan->text + p->last.at.end;
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    char lower[16] = "";

    for (size_t k = 0; k < n && k + 1 < sizeof lower; k++)
        lower[k] = (char)tolower((unsigned char)word[k]);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (guess_is_word_in(known[k].words, lower))
            return guess_say(p, (span){ p->file, p->last.at.begin, p->last.at.end + (uint32_t)n }, known[k].says,
                             known[k].help);
    return false;
}

/* Vin in 0 SIN(0 10 50): there `in` is a name, here a reserved word */
static bool
circuit(struct parse *p)
{
    const struct seen_token *now = &p->last;
    struct pieces x = guess_pieces(p);

    if (now->at.begin == p->statement && now->kind == '.')
        return dot_command(p);
    if (now->at.begin == p->statement && now->kind == '*')
        return guess_say(p, now->at, "a comment begins with `//`", "Write `// text`.");
    if (now->kind == IN && p->before.at.begin == p->statement && strchr("RCLVI", *x.word))
        return guess_say(
            p, (span){ p->file, p->statement, p->before.at.end },
            "an element has a type and a name, and an arrow from the junction it is on, not names of nodes",
            arena_format(p->a, "Write `%s:%s = VALUE %s`, as in Se:Vin = 5 [V] -> 1:loop;",
                         *x.word == 'V'   ? "Se"
                         : *x.word == 'I' ? "Sf"
                         : *x.word == 'L' ? "I"
                                          : (char[]){ *x.word, 0 },
                         x.word, *x.word == 'V' || *x.word == 'I' ? "-> node;" : "behind `node ->`;"));
    return false;
}

/* ---------------------------------------------------------------- declarations and imports */

static bool
declaration(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last, *before = &p->before;
    struct pieces x = guess_pieces(p);
    bool declares = guess_is_word_in(" parameter constant signal input output ", x.word);

    if (now->kind == '.' && before->kind == NAME && declares && e->name['='] && guess_place(p) == MODEL_TEXT &&
        strcmp(x.word, "output") != 0 && strcmp(x.word, "signal") != 0)
        return guess_say(
            p, now->at, "a value has a name and a unit, and no type",
            arena_format(p->a, "Write `%s {D} = {V};`, with a unit `%s {D} = {V} [kg];`.", x.word, x.word));
    if (now->kind == '(' && before->kind == NAME && declares && e->name['='] && strstr(x.argument, "unit"))
        return guess_say(p, now->at, "a unit stands in brackets behind the value or the name",
                         arena_format(p->a, "Write `%s {N} = VALUE [kg];`.", x.word));
    if (now->kind == FROM && now->at.begin == p->statement) {
        const char *word = p->scan->text + now->at.end;
        int n;

        word += strspn(word, " \t");
        n = (int)strcspn(word, " \t;\n");
        return guess_say(p, now->at, "a file is imported whole, outside of models",
                         arena_format(p->a, "Write before `model NAME {`: `import %.*s;`", n > 40 ? 40 : n, word));
    }
    if (now->kind == ',' && !strcmp(x.word, "assert") && e->name[')'])
        return guess_say(
            p, now->at, "an assertion has its condition and its text without parentheses",
            arena_format(p->a, "Write `assert %.*s \"too large\";`.", (int)strcspn(x.argument, ","), x.argument));
    return false;
}

bool
guess_statement(struct parse *p, const struct expected *e)
{
    if (guess_place(p) != MODEL_TEXT)
        return false;
    return declaration(p, e) || circuit(p) || assignment(p, e);
}
