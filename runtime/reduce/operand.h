/* operand.h - products and quotients of what a text says, as text
 *
 * Brackets stand only where they are needed, and a reciprocal that is divided by is multiplied with: r/(1/n) is n*r.
 * Texts live in the arena.
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
}; /* a quantity: a number with a unit */
typedef struct operand {
    const char *text;
    enum operand_level level;
    const char *inverse;
    enum operand_level inverse_level;
} operand; /* inverse: NULL: not a reciprocal */

/* False where the text of the expression goes over several lines. */
bool operand_of(const sources *s, const ast_expr *e, arena *a, operand *out);
operand operand_name(const char *text);
operand operand_product(arena *a, operand x, operand y);
operand operand_quotient(arena *a, operand x, operand y);
operand operand_square(arena *a, operand x);

#endif
