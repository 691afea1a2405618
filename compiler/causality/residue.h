/* residue.h - exact arithmetic modulo the prime 2^31-1 on expressions of the model (used inside causality only)
 *
 * Decides without a tolerance whether a structure vanishes: every parameter gets a random residue, equal expressions
 * get equal residues, rational operations are exact, and the result of any other operation is a random residue that
 * depends on the operation and its operands. What is zero for all parameter values is zero here; anything else is zero
 * with a probability of about 1e-9.
 */
#ifndef BG_RESIDUE_H
#define BG_RESIDUE_H

#include "flat.h"

#define GF_P 2147483647u

static inline uint32_t
gf_add(uint32_t a, uint32_t b)
{
    uint32_t c = a + b;
    return c >= GF_P ? c - GF_P : c;
}
static inline uint32_t
gf_neg(uint32_t a)
{
    return a ? GF_P - a : 0;
}
static inline uint32_t
gf_sub(uint32_t a, uint32_t b)
{
    return gf_add(a, gf_neg(b));
}
static inline uint32_t
gf_mul(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b % GF_P);
}
static inline uint32_t
gf_sign(int s)
{
    return s < 0 ? GF_P - 1 : 1;
}
uint32_t gf_power(uint32_t a, uint64_t n);
static inline uint32_t
gf_inv(uint32_t a)
{
    return a == 1 || a == GF_P - 1 ? a : gf_power(a, GF_P - 2);
} /* a != 0 */

typedef struct residues {
    flat_model *f;
    map of_var;
    VEC(uint32_t) value;
} residues;
void residues_init(residues *r, flat_model *f);
void residues_free(residues *r);
uint32_t residue_of(residues *r, inst i);

#endif
