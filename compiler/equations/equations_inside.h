/* equations_inside.h - declarations shared by the files equations*.c; no other file includes it */
#ifndef BG_EQUATIONS_INSIDE_H
#define BG_EQUATIONS_INSIDE_H

#include "blocks.h"
#include "constraints.h"
#include "equations.h"
#include "freeze.h"
#include "jumps.h"
#include "parameters.h"
#include "stick.h"
#include "switched.h"
#include "rates.h"
#include "rest.h"

struct terms {
    VEC(var_id) var;
    VEC(int8_t) sign;
};

/* Ideal diodes and switches found among the elements. */
struct switches {
    switch_group *at;
    size_t n, cap;
};

/* Laws of one-ports solved for the variable that their stroke requires: the first of many equal ones is solved. from:
 * the slots of `root` by their places in the law; after the law's slots comes its output. */
struct closed_form {
    node law, root;
    uint32_t nslots, out, asked, n, from[4];
};
struct closed_forms {
    map index; /* hash -> at; a form whose hash is in use is not stored */
    VEC(struct closed_form) at;
};

/* ---- equations_elements.c ---- */

/* Defines what an element gives at each of its ports, or adds to the groups of open components. */
void equations_define_element(equations *e, struct groups *g, struct rates *r, struct constraints *k,
                              struct switches *sw, struct closed_forms *forms, uint32_t element,
                              const uint32_t *component_group);

/* Multiplies what an element imposes by a parameter of 1, if that has a definition of its own: equations.part. */
void equations_weigh_element(equations *e, uint32_t element);

/* law - its left side, as one expression */
inst equations_law_residual(equations *e, const flat_law *law);

/* v = a*b or a/b of two variables' expressions */
inst equations_combine(equations *e, enum ex_op op, inst a, inst b);

/* ---- equations.c ---- */

/* The output of a source, or of a storage element with a state of its own. */
var_id equations_output_var(const flat_model *f, uint32_t port);

/* ---- equations_prepare.c ---- */
var_id equations_quantity_var(const flat_port *p, enum quantity q);
/* Does a condition choose between alternatives? */
bool equations_reads_mode(const flat_model *f, inst i);

/* Has the law a piece on which its value does not depend on slot k? Then it has no inverse there. */
bool equations_is_flat_in(pool *p, node n, uint32_t k);

/* Which storage ports are loose: see equations.loose. */
bool *equations_loose_storage(const equations *e, const causal *c);

/* ---- equations_junctions.c ---- */
void equations_add_term(struct terms *t, var_id v, int8_t sign);

/* Sum of the terms; beyond SUM_TERMS through a tree of sums with variables of their own. */
inst equations_sum_of(equations *e, struct terms *t, uint32_t junction);

/* Finds junctions whose common variables are equal because of bonds between junctions of one kind, and names them by
 * the one that determines the value (in an open component by any): with a single name, terms that cancel are
 * recognized. */
void equations_find_equal(equations *e);
bool equations_define_junction(equations *e, struct groups *g, uint32_t j, const uint32_t *component_group);

#endif
