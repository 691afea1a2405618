/* codegen_c.h - the back end that writes C (backend.h)
 *
 * C11 with <math.h> and <stdint.h>; give the compiler -ffp-contract=off for the very bits that bgc computes.
 */
#ifndef BG_CODEGEN_C_H
#define BG_CODEGEN_C_H

#include "backend.h"

typedef struct c_code {
    strbuf functions;      /* those that are done */
    strbuf before, inside; /* of the one being written: before the loop of a kernel, in it */
    VEC(const ex_table *) table;
    bool helper[EX_NOPS]; /* functions that are no C library's, by the operation that calls them */
    arena *arena;         /* of the values: texts */
    uint32_t nvalues, nfunctions;
    bool kernel, located;
} c_code;

extern const backend codegen_c; /* of a c_code; functions are their names */
void c_code_begin(c_code *c);
void c_code_end(c_code *c);
/* What stands above the functions: headers, helpers, tables. */
void c_code_head(const c_code *c, strbuf *out);
/* A number that reads back as it is */
void c_number(strbuf *out, double v);
/* A text as a comment, which ends where it should */
void c_comment(strbuf *out, const char *text);

#endif
