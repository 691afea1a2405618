/* operand.c - see operand.h */
#include <string.h>

#include "operand.h"

static enum operand_level
level_of(const ast_expr *e)
{
    switch (e->kind) {
    case AST_NUMBER: return ast_number_unit(e) ? OPERAND_QUANTITY : OPERAND_NAME;
    case AST_REF:
    case AST_CALL: return OPERAND_NAME;
    case AST_NEG: return OPERAND_SIGN;
    case AST_BINARY:
        return e->op == AST_POW ? OPERAND_POWER : e->op == AST_MUL || e->op == AST_DIV ? OPERAND_PRODUCT : OPERAND_SUM;
    default: return OPERAND_SUM;
    }
}

static bool
is_one(const ast_expr *e)
{
    return e->kind == AST_NUMBER && e->number.value == 1 && !ast_number_unit(e);
}

static const char *
operand_text(const sources *s, const ast_expr *e, arena *a)
{
    return arena_strndup(a, source_text(s, e->at.file) + e->at.begin, e->at.end - e->at.begin);
}

/* The text in brackets unless it binds at least as tightly as `least`. */
static const char *
bound(arena *a, const char *text, enum operand_level level, enum operand_level least)
{
    return level >= least ? text : arena_format(a, "(%s)", text);
}

bool
operand_of(const sources *s, const ast_expr *e, arena *a, operand *out)
{
    const ast_expr *one = e->kind == AST_BINARY && e->op == AST_DIV ? e->bin.a : NULL;
    bool minus = one && one->kind == AST_NEG;

    *out = (operand){ .text = operand_text(s, e, a), .level = level_of(e) };
    if (strchr(out->text, '\n'))
        return false;
    if (minus)
        one = one->un.a;
    if (one && is_one(one)) {
        out->inverse = operand_text(s, e->bin.b, a);
        out->inverse_level = level_of(e->bin.b);
        if (minus) {
            out->inverse = arena_format(a, "-%s", bound(a, out->inverse, out->inverse_level, OPERAND_POWER));
            out->inverse_level = OPERAND_SIGN;
        }
    }
    return true;
}

operand
operand_name(const char *text)
{
    return (operand){ .text = text, .level = OPERAND_NAME };
}

static operand
text_product(arena *a, operand x, operand y)
{
    bool joins = y.level == OPERAND_PRODUCT && y.text[0] != '-'; /* a*(b*c) is a*b*c */

    if (!strcmp(x.text, "1"))
        return y;
    if (!strcmp(y.text, "1"))
        return x;
    return (operand){ .text = arena_format(a, "%s*%s", bound(a, x.text, x.level, OPERAND_PRODUCT),
                                           joins ? y.text : bound(a, y.text, y.level, OPERAND_POWER)),
                      .level = OPERAND_PRODUCT };
}

static operand
quotient(arena *a, operand x, operand y)
{
    operand q = { .text = arena_format(a, "%s/%s", bound(a, x.text, x.level, OPERAND_PRODUCT),
                                       bound(a, y.text, y.level, OPERAND_POWER)),
                  .level = OPERAND_PRODUCT };

    if (!strcmp(y.text, "1"))
        return x;
    if (x.inverse)
        return quotient(a, operand_name("1"),
                        text_product(a, (operand){ .text = x.inverse, .level = x.inverse_level }, y));
    if (y.level == OPERAND_SIGN && y.text[0] == '-' && x.text[0] != '-')
        q.text = arena_format(a, "-%s/%s", bound(a, x.text, x.level, OPERAND_PRODUCT), y.text + 1);
    if (!strcmp(x.text, "1")) {
        q.inverse = y.text;
        q.inverse_level = y.level;
    }
    return q;
}

static operand
inverse_of(operand x)
{
    return (operand){ .text = x.inverse, .level = x.inverse_level };
}

operand
operand_product(arena *a, operand x, operand y)
{
    return x.inverse   ? operand_quotient(a, y, inverse_of(x))
           : y.inverse ? operand_quotient(a, x, inverse_of(y))
                       : text_product(a, x, y);
}

operand
operand_quotient(arena *a, operand x, operand y)
{
    return y.inverse ? operand_product(a, inverse_of(y), x) : quotient(a, x, y);
}

operand
operand_square(arena *a, operand x)
{
    if (x.inverse)
        return quotient(a, operand_name("1"), operand_square(a, inverse_of(x)));
    if (x.level == OPERAND_SIGN && x.text[0] == '-' && x.text[1] != '(' && x.text[1] != '-') /* (-x)^2 */
        return (operand){ .text = arena_format(a, "%s^2", x.text + 1), .level = OPERAND_POWER };
    return (operand){ .text = arena_format(a, "%s^2", bound(a, x.text, x.level, OPERAND_NAME)),
                      .level = OPERAND_POWER };
}
