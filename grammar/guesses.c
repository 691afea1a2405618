/* guesses.c - recognizes statements of other languages and suggests the line of this language
 *
 * in       the current token, the tokens that were possible, and the text of the statement
 * out      one message with that line; the rest of the line, which is in the same language, causes no further messages
 */
#include <ctype.h>
#include <string.h>

#include "guesses_inside.h"
#include "bg.tab.h"

enum { LONGEST_PIECE = 50 };

/* Words that begin or end a section, reported once for a model. */
static const char sections[] =
    " equation equations algorithm variables begin end endmodel parameters inputs outputs connections nodes branches ";

/* {N}, {V}, {A}, {L}, {D} in help: the name after the word, the text after =, in parentheses, before =, the last name
 * of that. */
static const struct habit {
    const char *words;
    int in;
    const char *says, *help;
} habits[] = {
    { " param params par Parameter real Real Integer integer int double float var variable val num number Number ",
      MODEL_TEXT, "a value is declared with `parameter`, `constant`, `signal`, `input` or `output`",
      "Write `parameter {N} = {V};`; a value that changes during the run is a `signal`." },
    { " const Constant constants define ", MODEL_TEXT | FILE_TEXT,
      "a value that is not meant to be changed is a `constant`", "Write `constant {N} = {V};`." },
    { " let set ", MODEL_TEXT, "`let` belongs to experiments; a model declares its values",
      "Write `parameter {N} = {V};`." },
    { " initial init Initial start_value ", MODEL_TEXT, "an initial value is given at `(0)`",
      "Write `{N}(0) = {V};`: of a spring `spring.q(0) = {V};`, of a mass `mass.f(0) = {V};`, of a signal "
      "`x = integral(...)` `x(0) = {V};`." },
    { " initial init set param parameter Parameter ", EXPERIMENT_TEXT, "an experiment gives values with `let`",
      "Write `let {N} = {V};`, and of an initial value `let spring.q(0) = {V};`." },
    { " der ddt ", MODEL_TEXT, "a derivative is not a statement: declare the state as an `integral`",
      "Write `signal {A} = integral({V}, 0);`: its rate and its initial value." },
    { " connect bond Connect ", MODEL_TEXT, "bonds are written with an arrow",
      "Write `a -> b;`, in the direction of power." },
    { " print disp display plot show probe monitor ", MODEL_TEXT, "a result is shown as an output",
      "Write `output y = {A};`." },
    { " print disp display plot show output outputs ", EXPERIMENT_TEXT, "an experiment adds columns with `record`",
      "Write `record {R};`." },
    { " simulate simulation run sim solve tran transient ", ANY_TEXT, "a run is described by an experiment",
      "Write `experiment try { stop = 10 [s]; }` behind the model, and: bgc run FILE." },
    { " include using use require load ", ANY_TEXT, "other files are imported",
      "Write `import hydraulic;` for the library, `import \"other.bg\";` for a file beside this one." },
    { " class block component package module system submodel circuit ", ANY_TEXT, "a group of parts is a model",
      "Write `model {N} { ... }`; with ports it is a component of others." },
    { " extends inherit inherits ", MODEL_TEXT, "a model uses another one as a component, with ports to bond to",
      "Write `{N}:part(k = 2);`, and join its ports, `a -> part.hub;`." },
    { " annotation Documentation icon Icon ", ANY_TEXT, "notes for drawings and other tools are not part of a model",
      "Leave the line out. A comment begins with `//`; the length of a run stands in `experiment try { stop = 10 "
      "[s]; }`." },
    { " Ground ground GND gnd ", MODEL_TEXT, "ground is not drawn: it is the other end of each element on a junction",
      "Leave the line out, and write `node -> R:r = 10;` for an element between node and ground." },
    { " final protected public private static replaceable redeclare inner outer each flow stream global local partial "
      "encapsulated discrete mutable export extern ",
      MODEL_TEXT,
      "a value is declared with `parameter`, `constant`, `signal`, `input` or `output`, and nothing before it",
      "Write `parameter {D} = {V};`; a value that changes during the run is a `signal`." },
    { " def fun func Function ", ANY_TEXT, "a function is one expression, outside of models",
      "Write `function f(x) = 2*x;`." },
    { sections, MODEL_TEXT | FILE_TEXT, "a model has no sections: all its statements stand between its braces",
      "Write `model NAME { ... }`, statements in any order." },
    { " while repeat loop do until ", MODEL_TEXT, "actions during a run are events or samples",
      "Write `when CONDITION { reinit spring.q = 0; }` or `every 10 [ms] { u = 2*x; }`; parts are repeated by `for i "
      "in "
      "1..3 { ... }`." },
    { " from ", FILE_TEXT, "functions and constants need no import",
      "Write `sin(x)`, `sqrt(x)`, `pi`; files are imported by `import hydraulic;` or `import \"other.bg\";`." },
    { " junction junction0 junction1 zero one OneJunction ZeroJunction J0 J1 Junction ", MODEL_TEXT,
      "a junction is declared by its type, 0 or 1, and its name",
      "Write `1:{N};` for a common flow, `0:{N};` for a common effort." },
    { " return ", ANY_TEXT, "a function is one expression, without `return`", "Write `function f(x) = 2*x;`." },
};

static const char *
line_end(const struct parse *p, uint32_t at)
{
    const char *text = p->scan->text + at, *end = strchr(text, '\n');

    return end ? end : text + strlen(text);
}

/* [from, to) without blanks at its ends; `otherwise` if it is empty or long. */
static const char *
piece(const struct parse *p, const char *from, const char *to, const char *otherwise)
{
    while (from < to && isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return from < to && to - from <= LONGEST_PIECE ? arena_strndup(p->a, from, (size_t)(to - from)) : otherwise;
}

/* Up to a closing parenthesis that was opened before. */
static const char *
open_end(const char *s, const char *end)
{
    int open = 0;

    for (; s < end && open >= 0; s++)
        open += (*s == '(') - (*s == ')');
    return open < 0 ? s - 1 : s;
}

static const char *
name_end(const char *s, const char *end)
{
    while (s < end && (isalnum((unsigned char)*s) || *s == '_' || *s == '.'))
        s++;
    return s;
}

bool
guess_is_word_in(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *s = words; n && (s = strstr(s, word)) != NULL; s += n)
        if (s[-1] == ' ' && s[n] == ' ')
            return true;
    return false;
}

struct pieces
guess_pieces(const struct parse *p)
{
    const char *s = p->scan->text + p->statement, *end = line_end(p, p->statement), *stop = s, *equal, *begin, *open,
               *close, *rest;
    struct pieces x;

    while (stop < end && *stop != ';' && *stop != '{' && *stop != '}')
        stop++;
    rest = name_end(s, stop);
    x.word = piece(p, s, rest, "");
    while (rest < stop && isspace((unsigned char)*rest))
        rest++;
    x.name = piece(p, rest, name_end(rest, stop), "NAME");
    if (guess_is_word_in(" parameter variable constant equation ", x.name)) { /* real parameter b */
        rest = name_end(rest, stop);
        while (rest < stop && isspace((unsigned char)*rest))
            rest++;
        x.name = piece(p, rest, name_end(rest, stop), "NAME");
    }
    equal = memchr(s, '=', (size_t)(stop - s));
    begin = !equal ? stop : equal + 1 < stop && equal[1] == '=' ? equal + 2 : equal + 1; /* v == R*i, as in Simscape */
    x.value = equal ? piece(p, begin, open_end(begin, stop), "VALUE") : "VALUE";
    x.left = piece(p, s, !equal ? stop : equal > s && equal[-1] == ':' ? equal - 1 : equal, "NAME");
    open = memchr(s, '(', (size_t)(stop - s));
    close = open ? memchr(open, ')', (size_t)(stop - open)) : NULL;
    x.argument = close ? piece(p, open + 1, close, "x") : "x";
    return x;
}

/* The declared name in `final parameter Real k(unit = "kg")`: the last word before a parenthesis. */
static const char *
last_word(const struct parse *p, const char *text)
{
    const char *end = text + strcspn(text, "([{"), *begin;

    while (end > text && !isalnum((unsigned char)end[-1]) && end[-1] != '_')
        end--;
    begin = end;
    while (begin > text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
        begin--;
    return begin < end ? arena_strndup(p->a, begin, (size_t)(end - begin)) : "NAME";
}

static const char *
filled(const struct parse *p, const char *help, const struct pieces *x)
{
    strbuf b = { 0 };
    const char *text;

    for (; *help; help++) {
        if (help[0] != '{' || !help[1] || help[2] != '}') {
            strbuf_add(&b, help, 1);
            continue;
        }
        strbuf_puts(&b, help[1] == 'N'   ? x->name
                        : help[1] == 'V' ? x->value
                        : help[1] == 'A' ? x->argument
                        : help[1] == 'L' ? x->left
                        : help[1] == 'D' ? last_word(p, x->left)
                        : help[1] == 'R' ? (strcmp(x->argument, "x") ? x->argument : x->name)
                                         : x->word);
        help += 2;
    }
    text = arena_strndup(p->a, b.at ? b.at : "", b.n);
    strbuf_free(&b);
    return text;
}

/* One message covers everything up to the end of the line. */
static bool
line_is_said(struct parse *p)
{
    p->said_to = p->scan->quiet_to = (uint32_t)(line_end(p, p->last.at.begin) - p->scan->text);
    return true;
}

bool
guess_say(struct parse *p, span at, const char *says, const char *help)
{
    struct pieces x = guess_pieces(p);

    parse_error(p, "syntax-habit", at, "%s", says);
    diag_help(p->s, "%s", filled(p, help, &x));
    return line_is_said(p);
}

static span
first_word(const struct parse *p, const struct pieces *x)
{
    return (span){ p->file, p->statement, p->statement + (uint32_t)strlen(x->word) };
}

int
guess_place(const struct parse *p)
{
    return p->scan->braces == 0 ? FILE_TEXT : p->declaration == EXPERIMENT ? EXPERIMENT_TEXT : MODEL_TEXT;
}

/* Recognized by the first word of the statement. */
static bool
by_first_word(struct parse *p)
{
    struct pieces x = guess_pieces(p);
    const char *word = x.word;
    int in = guess_place(p);

    if (p->last.at.begin > p->statement + strlen(x.word) + 40)
        return false;
    if (in == MODEL_TEXT && guess_is_word_in(" Real real double Double ", x.word) && strstr(x.argument, "start"))
        return guess_say(p, first_word(p, &x), "a state with an initial value and a rate is an `integral`",
                         "Write `signal {D} = integral(RATE, {V});`; no type stands before a name.");
    if (!strcmp(x.word, "import") && guess_is_word_in(" numpy math cmath scipy sympy matplotlib ", x.name))
        word = "from";
    for (size_t k = 0; k < sizeof habits / sizeof *habits; k++) {
        bool section = habits[k].words == sections, again = section && p->section_said;

        if (!(habits[k].in & in) || !guess_is_word_in(habits[k].words, word))
            continue;
        p->section_said |= section;
        return again ? line_is_said(p) : guess_say(p, first_word(p, &x), habits[k].says, habits[k].help);
    }
    return false;
}

/* R r1 = 10; Resistor r1(R = 10); R1 1 0 10k */
static bool
by_element(struct parse *p)
{
    static const struct {
        const char *words, *type;
    } made[] = { { " R Resistor resistor Damper damper MR ", "R" },
                 { " C Capacitor capacitor Spring spring MC ", "C" },
                 { " I L Inductor inductor Mass mass Inertia inertia MI ", "I" },
                 { " Se SE MSe VoltageSource ForceSource ", "Se" },
                 { " Sf SF MSf CurrentSource ", "Sf" },
                 { " TF MTF Transformer transformer ", "TF" },
                 { " GY MGY Gyrator gyrator ", "GY" } };
    const struct seen_token *now = &p->last;
    struct pieces x = guess_pieces(p);
    const char *w = x.word;

    if (guess_place(p) != MODEL_TEXT || (now->kind != NAME && now->kind != NUMBER && now->kind != '(') ||
        p->before.at.begin != p->statement)
        return false;
    for (size_t k = 0; k < sizeof made / sizeof *made; k++)
        if (now->kind != NUMBER && guess_is_word_in(made[k].words, w))
            return guess_say(p, now->at, "a part is declared as `TYPE:name`, and an arrow joins it to a junction",
                             arena_format(p->a, "Write `junction -> %s:%s = %s;`.", made[k].type,
                                          now->kind == '(' ? "name" : "{N}", now->kind == '(' ? "{A}" : "{V}"));
    if (*w && strchr("RCLVI", *w) && (now->kind == NUMBER || (now->kind == NAME && isdigit((unsigned char)w[1]))) &&
        (isdigit((unsigned char)w[1]) || isalpha((unsigned char)w[1])))
        return guess_say(
            p, first_word(p, &x),
            "an element has a type and a name, and an arrow from the junction it is on, not numbers of nodes",
            arena_format(p->a, "Write `node -> %s:%s = VALUE;`, as in node -> R:R1 = 10 [kohm];",
                         w[0] == 'L'   ? "I"
                         : w[0] == 'V' ? "Se"
                         : w[0] == 'I' ? "Sf"
                                       : (char[]){ w[0], 0 },
                         w));
    return false;
}

/* Expressions and loops of other languages. */
static bool
by_token(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last, *before = &p->before;
    const char *text = p->scan->text + now->at.begin;
    size_t n = now->at.end - now->at.begin;
    struct pieces x = guess_pieces(p);
    bool operator= e->name['*'] && e->name['+'];

    if (now->kind == ',' && before->kind == NUMBER && before->at.end == now->at.begin &&
        isdigit((unsigned char)text[1]))
        return guess_say(p, now->at, "a decimal point is a point",
                         arena_format(p->a, "Write `%.*s.%.*s`.", (int)(before->at.end - before->at.begin),
                                      p->scan->text + before->at.begin, (int)strspn(text + 1, "0123456789"), text + 1));
    if (!strcmp(x.word, "for") && (now->kind == '=' || now->kind == '(' || now->kind == ':' || now->kind == '{') &&
        (e->name[IN] || e->name[DOTS] || now->kind == '('))
        return guess_say(p, now->at, "a loop runs over a range of whole numbers", "Write `for i in 1..3 { ... }`.");
    if (!strcmp(x.word, "every") && now->kind == '{' && before->at.begin == p->statement)
        return guess_say(p, now->at, "`every` has its period before the braces", "Write `every 10 [ms] { u = ...; }`.");
    if (!strcmp(x.word, "when") && now->kind == THEN)
        return guess_say(p, now->at, "the assignments of `when` stand in braces",
                         "Write `when CONDITION { reinit spring.q = 0; }`.");
    if (now->kind == NAME && ((n == 6 && !memcmp(text, "elseif", 6)) || (n == 4 && !memcmp(text, "elif", 4)) ||
                              (n == 5 && !memcmp(text, "elsif", 5))))
        return guess_say(p, now->at, "this is written `else if`", "Write `if a then x else if b then y else z`.");
    if (e->name[ELSE] && operator&&(now->kind == ';' || now->kind == ')' || now->kind == '}'))
        return guess_say(p, now->at, "an `if` among values needs its `else`", "Write `if CONDITION then a else b`.");
    if ((now->kind == ':' && e->name[THEN]) || (now->kind == IF && operator))
        return guess_say(p, now->at, "a choice is written with `if`, `then` and `else`",
                         "Write `if CONDITION then a else b`.");
    if (now->kind == '(' && before->kind == NAME && e->name['='] &&
        (!strcmp(x.word, "signal") || !strcmp(x.word, "parameter") || !strcmp(x.word, "output")))
        return guess_say(p, now->at, "a value takes no arguments; a function stands outside of models",
                         arena_format(p->a,
                                      "Write `function %s({A}) = {V};`, or `signal %s = ...;` for a value that changes "
                                      "during the run.",
                                      x.name, x.name));
    if (now->kind == '.' && before->kind == ')')
        return guess_say(p, now->at, "a quantity is read of a part by its name",
                         "Write `cell.e`, of an array `cell[3].e`; parentheses hold arguments of functions.");
    if (now->kind == '>' && before->kind == '-' && before->at.end < now->at.begin)
        return guess_say(p, (span){ p->file, before->at.begin, now->at.end }, "an arrow has no blank inside",
                         "Write `->`.");
    if (now->kind == '.' && (!strcmp(x.word, "output") || !strcmp(x.word, "signal")))
        return guess_say(p, now->at, "what is shown gets a name", arena_format(p->a, "Write `%s y = {N};`.", x.word));
    if ((now->kind == NUMBER || now->kind == NAME) && before->kind == NAME &&
        e->name['('] && operator&& !now->first && strcmp(x.word, "expect") != 0)
        return guess_say(
            p, now->at, "an operator is missing between two values; the arguments of a function stand in parentheses",
            arena_format(p->a, "Write `%.*s(%.*s)` or `%.*s*%.*s`.", (int)(before->at.end - before->at.begin),
                         p->scan->text + before->at.begin, (int)n, text, (int)(before->at.end - before->at.begin),
                         p->scan->text + before->at.begin, (int)n, text));
    if (now->kind == NUMBER && operator&& e->name[MATRIX_END])
        return guess_say(p, now->at, "entries are separated by commas, rows by semicolons", "Write `[1, 2, 3]`.");
    if (now->kind == '-' && e->name[ARROW] && !operator)
        return guess_say(p, now->at, "a bond is written `->`, in the direction of power", "Write `a -> b;`.");
    return false;
}

/* `expect` and `observe` with wrong continuations. */
static bool
by_expectation(struct parse *p, const struct expected *e, const char *word)
{
    const struct seen_token *now = &p->last;

    bool otherwise = e->name[WITHIN] || e->name['='] || e->name[STRING] || now->kind == WITHIN ||
                     (e->name[';'] && now->kind == NAME && !now->first);

    if (now->at.begin == p->statement || !otherwise)
        return false;
    if (!strcmp(word, "expect"))
        return guess_say(
            p, now->at, "an expectation is a value within a tolerance",
            "Write `expect x at 2 [s] = 3 within 0.1;`, without `at` for the value at the end, or `expect x "
            "from \"data.csv\" within 0.1;`.");
    if (!strcmp(word, "observe"))
        return guess_say(p, now->at, "`observe` takes one output and its tolerance",
                         "Write `observe x;` or `observe x within 1 [%];`.");
    return false;
}

/* Experiments and surroundings of models in other languages. */
static bool
guess_by_place(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last, *before = &p->before;
    struct pieces x = guess_pieces(p);
    int in = guess_place(p);

    if (in == EXPERIMENT_TEXT) {
        if (by_expectation(p, e, x.word))
            return true;
        if (!strcmp(x.word, "window") && (now->kind == '=' || now->kind == ';' || now->kind == ','))
            return guess_say(p, now->at, "a window goes from a time to a time", "Write `window 1 [s] .. 3 [s];`.");
        if (now->kind == ':' && e->name['='])
            return guess_say(p, now->at, "a setting is given with `=`",
                             arena_format(p->a, "Write `%s = VALUE;`.", x.word));
        if (now->kind == '.' && e->name['='] && before->at.begin == p->statement)
            return guess_say(p, now->at, "an experiment gives values with `let`", "Write `let {L} = {V};`.");
        if (now->kind == NUMBER && !strcmp(x.word, "let"))
            return guess_say(p, now->at, "a value is given with `=`", "Write `let {N} = VALUE;`.");
    }
    if (in != FILE_TEXT && now->at.begin == p->statement &&
        (now->kind == FUNCTION || now->kind == IMPORT || now->kind == DOMAIN))
        return guess_say(p, now->at, "functions, imports and domains stand outside of models and experiments",
                         "Move this line before `model NAME {`.");
    if (in == MODEL_TEXT && now->kind == '-' && now->at.begin == p->statement && p->scan->text[now->at.end] == '-')
        return guess_say(p, now->at, "a comment begins with `//`", "Write `// text`.");
    if (in == MODEL_TEXT && !strcmp(x.word, "port") && e->name[':'] && before->kind == NAME)
        return guess_say(p, now->at, "a port is a junction that bonds from outside may join",
                         "Write `port 1:{N};` or `port 0:{N};`.");
    if (in == MODEL_TEXT && now->kind == ',' && before->kind != NUMBER &&
        (!strcmp(x.word, "input") || !strcmp(x.word, "parameter") || !strcmp(x.word, "signal")) && e->name[';'])
        return guess_say(p, now->at, "one value a statement",
                         arena_format(p->a, "Write `%s {N}; %s ...;`.", x.word, x.word));
    if (p->declaration == MODEL && e->name['{'] && (now->kind == NAME || now->kind == ':' || now->kind == ';') &&
        p->scan->braces == 0)
        return guess_say(p, now->at, "the statements of a model stand in braces",
                         "Write `model {N} { ... }`; another model is used in it as `Other:name(k = 2);`.");
    if (p->declaration == FUNCTION && p->scan->braces <= 1 &&
        ((now->kind == '{' && e->name['=']) || (now->kind == '=' && e->name['('])))
        return guess_say(p, now->at, "a function is one expression", "Write `function f(x) = 2*x;`.");
    if (now->kind == '{' && p->declaration == EXPERIMENT && before->kind == EXPERIMENT)
        return guess_say(p, now->at, "an experiment has a name", "Write `experiment try { stop = 10 [s]; }`.");
    if (in == FILE_TEXT && e->name[MODEL] && begins_statement(now->kind) && !begins_declaration(now->kind))
        return guess_say(p, now->at,
                         "parameters, signals and outputs stand in a model; a value for all models of a file is a "
                         "constant",
                         "Write `constant {N} = {V};`, or in the model `model m { ... }`.");
    return false;
}

bool
guess(struct parse *p, const struct expected *e)
{
    return guess_statement(p, e) || guess_by_place(p, e) || guess_value(p, e) || by_token(p, e) || by_first_word(p) ||
           by_element(p);
}
