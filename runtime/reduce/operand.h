/* operand.h - products and quotients of expressions, as text
 *
 * Brackets are written only where needed, and dividing by a reciprocal becomes a multiplication: r/(1/n) is n*r. Texts
 * are in the arena.
 */
#ifndef BG_OPERAND_H
#define BG_OPERAND_H

#include "ast.h"

enum operand_level {
    OPERAND_SUM,
    OPERAND_PRODUCT,
    OPERAND_SIGN,
    OPERAND_POWER,
    OPERAND_QUANTITY,
    OPERAND_NAME
}; /* a number with a unit */
typedef struct operand {
    const char *text;
    enum operand_level level;
    const char *inverse;
    enum operand_level inverse_level;
} operand; /* inverse NULL: not a reciprocal */

/* False where the text of the expression spans several lines. */
bool operand_of(const sources *s, const ast_expr *e, arena *a, operand *out);
operand operand_name(const char *text);
operand operand_product(arena *a, operand x, operand y);
operand operand_quotient(arena *a, operand x, operand y);
operand operand_square(arena *a, operand x);

#endif
