/* backend.h - what code is made with: one table of operations, that each back end fills
 *
 * Templates are walked once, by lower.c, which knows what is the same for all members of a kernel, how powers are
 * multiplied out and how long chunks are cut; it makes its code through this table. A back end says what the operations
 * are in its language: machine code through LLVM (codegen_llvm.c), C (emit_c.c). All of them give what ex_eval gives,
 * bit for bit.
 *
 * A value stands for a number or, where an operation gives a condition, for a flag; what it points to is the back
 * end's. `once`: the operation stands before the loop of a kernel, since its operands are the same for all members.
 */
#ifndef BG_BACKEND_H
#define BG_BACKEND_H

#include "codegen.h"

typedef const void *code_value;

typedef struct backend {
    /* ---- operations ---- */
    code_value (*number)(void *of, double v);
    /* +, -, *, /, negation, sqrt, floor, ceil, abs of numbers; <, <=, ==, != of numbers, not true of what is no number
     * but for !=: flags; and, or, not of flags; EX_SELECT: flag, number, number */
    code_value (*operate)(void *of, bool once, enum ex_op op, const code_value *operand);
    code_value (*with_sign)(void *of, bool once, code_value m, code_value x); /* m >= 0 with the sign of x */
    code_value (*call)(void *of, bool once, enum ex_op op,
                       const code_value *operand); /* the others, of one or two operands */
    /* EX_TABLE, EX_TABLE_SLOPE. piece NULL: searched */
    code_value (*look_up)(void *of, bool once, enum ex_op op, const ex_table *t, code_value piece, code_value x);
    code_value (*time)(void *of);

    /* ---- kernels ---- */
    void (*begin_kernel)(void *of);
    /* Slot k before the loop: its value, where all members have the same; else what `member` needs. */
    code_value (*origin)(void *of, const struct gen_slot *s, uint32_t k);
    code_value (*member)(void *of, const struct gen_slot *s, code_value origin);
    code_value (*end_kernel)(void *of, code_value result); /* the function */

    /* ---- chunks: located, they are told where their data stand (codegen.h): a reference's index is then the number
     * of the place ---- */
    void (*begin_chunk)(void *of, bool located);
    code_value (*load)(void *of, struct gen_ref r);
    void (*store)(void *of, struct gen_ref to, code_value v);
    code_value (*end_chunk)(void *of);
    code_value (*join)(void *of, bool located, const code_value *function, size_t n); /* one that calls them in turn */
} backend;

/* The table of a file whose functions are called as the operations are. */
#define BACKEND_OF_THIS_FILE \
    { \
        .number = number, .operate = operate, .with_sign = with_sign, .call = call, .look_up = look_up, .time = now, \
        .begin_kernel = begin_kernel, .origin = origin, .member = member, .end_kernel = end_kernel, \
        .begin_chunk = begin_chunk, .load = load, .store = store, .end_chunk = end_chunk, .join = join \
    }

#endif
