/* codegen_c.h - the back end for C (backend.h)
 *
 * C11 with <math.h> and <stdint.h>; compile with -ffp-contract=off for exactly the results of bgc.
 */
#ifndef BG_CODEGEN_C_H
#define BG_CODEGEN_C_H

#include "backend.h"

typedef struct c_code {
    strbuf functions;      /* finished ones */
    strbuf before, inside; /* of the current function: before the loop of a kernel, and inside */
    VEC(const ex_table *) table;
    bool helper[EX_NOPS]; /* functions that are not in the C library, by the operation that calls them */
    arena *arena;         /* texts of the values */
    uint32_t nvalues, nfunctions;
    bool kernel, located;
} c_code;

extern const backend codegen_c; /* for a c_code; functions are names */
void c_code_begin(c_code *c);
void c_code_end(c_code *c);
/* Writes what precedes the functions: headers, helpers, tables. */
void c_code_head(const c_code *c, strbuf *out);
/* Writes a number so that it reads back equal. */
void c_number(strbuf *out, double v);
/* Writes a text as a comment that it cannot end. */
void c_comment(strbuf *out, const char *text);

#endif
