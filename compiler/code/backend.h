/* backend.h - the table of operations that each back end of code generation implements
 *
 * lower.c walks the templates once. It knows which operations are the same for all members of a kernel, how powers are
 * multiplied out and how long chunks may be, and makes code through this table. A back end implements the operations in
 * its language: machine code through LLVM (codegen_llvm.c), C (codegen_c.c). All give the results of ex_eval, bit for
 * bit.
 *
 * A value represents a number or, for operations that give a condition, a flag; what it points to belongs to the back
 * end. `once`: the operation stands before the loop of a kernel, because its operands are the same for all members.
 */
#ifndef BG_BACKEND_H
#define BG_BACKEND_H

#include "codegen.h"

typedef const void *code_value;

typedef struct backend {
    /* ---- operations ---- */
    code_value (*number)(void *of, double v);
    /* +, -, *, /, negation, sqrt, floor, ceil, abs of numbers; <, <=, ==, != of numbers, which give flags (with NAN
     * only != is true); and, or, not of flags; EX_SELECT: flag, number, number */
    code_value (*operate)(void *of, bool once, enum ex_op op, const code_value *operand);
    code_value (*with_sign)(void *of, bool once, code_value m, code_value x); /* m >= 0 with the sign of x */
    code_value (*call)(void *of, bool once, enum ex_op op,
                       const code_value *operand); /* all others, with one or two operands */
    /* EX_TABLE, EX_TABLE_SLOPE. piece NULL: has to be searched */
    code_value (*look_up)(void *of, bool once, enum ex_op op, const ex_table *t, code_value piece, code_value x);
    code_value (*time)(void *of);

    /* ---- kernels ---- */
    void (*begin_kernel)(void *of);
    /* Slot k before the loop: its value, if all members have the same; otherwise the data that `member` needs. */
    code_value (*origin)(void *of, const struct gen_slot *s, uint32_t k);
    code_value (*member)(void *of, const struct gen_slot *s, code_value origin);
    code_value (*end_kernel)(void *of, code_value result); /* the function */

    /* ---- chunks. located: the code does not contain the places of its data but gets them as an argument (codegen.h);
     * the index in a reference is then the number of the place ---- */
    void (*begin_chunk)(void *of, bool located);
    code_value (*load)(void *of, struct gen_ref r);
    void (*store)(void *of, struct gen_ref to, code_value v);
    code_value (*end_chunk)(void *of);
    /* a function that calls them one after the other */
    code_value (*join)(void *of, bool located, const code_value *function, size_t n);
} backend;

/* The table for a file whose functions have the names of the operations. */
#define BACKEND_OF_THIS_FILE \
    { \
        .number = number, .operate = operate, .with_sign = with_sign, .call = call, .look_up = look_up, .time = now, \
        .begin_kernel = begin_kernel, .origin = origin, .member = member, .end_kernel = end_kernel, \
        .begin_chunk = begin_chunk, .load = load, .store = store, .end_chunk = end_chunk, .join = join \
    }

#endif
