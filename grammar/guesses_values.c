/* guesses_values.c - recognizes values of other languages and suggests the equivalent
 *
 * in       the current token, the tokens that were possible, and the text of the statement
 * out      one message with the suggestion
 */
#include <string.h>

#include "guesses_inside.h"
#include "bg.tab.h"

static const char *
copied_token(const struct parse *p, const struct seen_token *t)
{
    return arena_strndup(p->a, p->scan->text + t->at.begin, t->at.end - t->at.begin);
}

static bool
is_value_next(const struct expected *e)
{
    return e->name[CALL_WORD] != NULL;
}

/* {1, 2, 3}; 1:5; a + ...; a .* b; 10 {ohm} */
static bool
by_sign(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last, *before = &p->before;
    bool operator_next = e->name['*'] && e->name['+'];

    if (now->kind == '{' && is_value_next(e))
        return guess_say(p, now->at, "a vector stands in brackets", "Write `[1, 2, 3]`, a matrix `[1, 2; 3, 4]`.");
    if (now->kind == '{' && before->kind == NUMBER && operator_next && !e->name['{']) {
        const char *word = p->scan->text + now->at.end;
        int n = (int)strcspn(word, "}\n");

        return guess_say(p, now->at, "a unit stands in brackets",
                         arena_format(p->a, "Write `%s [%.*s]`.", copied_token(p, before), n > 30 ? 30 : n, word));
    }
    if (now->kind == ':' && before->kind == NUMBER && operator_next && !e->name[DOTS])
        return guess_say(p, now->at, "a vector is written with its entries",
                         "Write `[1, 2, 3]`; equal entries are `parameter x[3] = 2;`, a formula for each stands in "
                         "`for i in 1..3 { signal x[i] = i^2; }`.");
    if (now->kind == ':' && operator_next && e->name[DOTS])
        return guess_say(p, now->at, "a range is written with two points", "Write `1..3`.");
    if (now->kind == '(' && e->name[OF] && e->name['{'])
        return guess_say(p, now->at, "an experiment names its model with `of`",
                         "Write `experiment NAME of {A} { stop = 10 [s]; }`.");
    if (now->kind == DOTS && is_value_next(e))
        return guess_say(p, now->at, "a statement continues on the next line, up to its `;`", "Leave the points out.");
    if (before->kind == '.' && now->kind && now->kind < 128 && strchr("*/^", now->kind))
        return guess_say(p, now->at, "operators have no point before them",
                         arena_format(p->a,
                                      "Write `%c`: a number times a vector, and a vector by a number, goes entry by "
                                      "entry.",
                                      now->kind));
    if (now->kind == '(' && operator_next && e->name['{'] && e->name[ARROW])
        return guess_say(p, now->at, "an initial value stands in a block or in a statement of its own",
                         "Write `C:c = 2 { q(0) = 1; }`, or `c.q(0) = 1;`; a product has its `*`.");
    return false;
}

/* np.sin(x); Modelica.Constants.pi; lambda x: x^2; sum(x for i in 1:3) */
static bool
by_word(struct parse *p, const struct expected *e)
{
    const struct seen_token *now = &p->last, *before = &p->before;
    const char *text = p->scan->text;
    bool operator_next = e->name['*'] && e->name['+'];

    if (now->kind == '(' && before->kind == NAME && operator_next && !e->name['('] && before->at.begin &&
        text[before->at.begin - 1] == '.')
        return guess_say(p, now->at, "functions have no module before their name",
                         arena_format(p->a, "Write `%s(...)`, as in sin(time/1 [s]).", copied_token(p, before)));
    if (now->kind == VALUE_WORD && before->kind == '.')
        return guess_say(p, now->at, "built-in names need no module before them",
                         arena_format(p->a, "Write `%s`.", copied_token(p, now)));
    if (now->kind == NAME && before->kind == NAME && operator_next && !strcmp(copied_token(p, before), "lambda"))
        return guess_say(p, before->at, "a function has a name and stands outside of models",
                         arena_format(p->a, "Write before `model NAME {`: `function f(%s) = %s^2;`",
                                      copied_token(p, now), copied_token(p, now)));
    if (now->kind == FOR && operator_next && e->name[')'])
        return guess_say(p, now->at, "sum, mean, min, max and norm take the entries of a vector, not a loop",
                         "Write `sum(v.f)` of a row of junctions `1:v[3];`, or `sum(a, b, c)`.");
    return false;
}

bool
guess_value(struct parse *p, const struct expected *e)
{
    return by_sign(p, e) || by_word(p, e);
}
