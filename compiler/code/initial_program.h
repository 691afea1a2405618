/* initial_program.h - how initial values follow from the stated ones: shared by the instances of a model
 *
 * Formulas over a few numbers of their own (initial_number, then `read`), so that flat model, equations and pool are
 * not needed to evaluate them. Made once, when initial values are first needed.
 *
 * numbers  of states: as in the equations
 */
#ifndef BG_INITIAL_PROGRAM_H
#define BG_INITIAL_PROGRAM_H

#include "formula.h"
#include "kinds.h"
#include "routine.h"
#include "units.h"
#include "source.h"

struct flat_model;
struct causal;
struct equations;
struct layout;
struct program_list;

/* Numbers that formulas read. */
enum initial_number {
    INITIAL_TIME,
    INITIAL_OWN,   /* in the law of a storage port: the stored quantity */
    INITIAL_GIVEN, /* its effort (C) or flow (I) */
    INITIAL_READ   /* from here on: the entries of `read` */
};
struct initial_read {
    bool mode;
    uint32_t at; /* index of the mode, or the parameter */
};

/* The stored quantity as a function of effort or flow: `stored` if the law can be solved; else the root of law =
 * given. */
struct initial_law {
    bool solved;
    formula stored, law, slope;
};
struct initial_stated {
    formula value;
    span at;
    const unit *written; /* unit in which the text states it; NULL: none */
    var_id var;
    uint32_t state; /* the state that it sets; NONE: it is a condition on others */
    uint32_t law;   /* sets the state through this law; NONE: directly */
    bool last;      /* replaces earlier values; other values become conditions if the state has one */
};
/* The law of a storage port whose state remains zero. */
struct initial_zero {
    uint32_t state, port;
    formula law;
};
/* A storage port whose stored quantity is a state although `given`, its effort (C) or flow (I), is determined by
 * others, which have to agree with its law: see equations.loose. */
struct initial_loose {
    uint32_t state;
    var_id given;
    formula law; /* with its conditions written out, not as modes */
};

typedef struct initial_program {
    formula_book book;
    VEC(struct initial_read) read;
    VEC(struct initial_stated) stated; /* in order of precedence */
    VEC(struct initial_law) law;
    VEC(struct initial_zero) zero;
    VEC(struct initial_loose) loose;
    VEC(var_id) state;      /* by state: its variable */
    VEC(var_id) constraint; /* of residual sources: zero at the start */
} initial_program;

initial_program *initial_program_new(const struct flat_model *f, const struct causal *c, const struct equations *e);
void initial_program_free(initial_program *g);

/* What has to be evaluated besides states: the conditions that have to be solved, those if every law can be solved, or
 * (all) also for laws that may have no solution; then what is given to loose storage. Writes them into an empty list
 * with space for all; returns their number. */
size_t initial_conditions(const initial_program *g, bool all, var_id *list);
size_t initial_conditions_most(const initial_program *g);

/* Variables with stated values that are not states, and the states that determine them. */
typedef struct condition_program {
    VEC(var_id) var;
    VEC(uint32_t) state, first; /* states that the i-th depends on: state[first[i] .. first[i+1]) */
    routine *routine;
} condition_program;

/* made: receives the program of its routine. NULL with a diagnostic if its code fails. */
condition_program *condition_program_new(struct equations *e, struct layout at, const var_id *var, size_t n,
                                         struct program_list *made);
void condition_program_free(condition_program *g);

#endif
