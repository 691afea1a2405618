/* initial_program.h - how initial values follow from what the text states: what the instances of a model share
 *
 * Formulas in closed form over a few numbers of their own (initial_number, then `read`), so that neither flat model nor
 * equations nor pool are needed to work them out. Made once, when initial values are first asked for.
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

/* What formulas read */
enum initial_number {
    INITIAL_TIME,
    INITIAL_OWN,   /* in the law of a storage: what it stores */
    INITIAL_GIVEN, /* its effort (C) or flow (I) */
    INITIAL_READ   /* and those behind: what `read` lists */
};
struct initial_read {
    bool mode;
    uint32_t at; /* which mode; else the parameter */
};

/* What a storage stores, from its effort or flow: `stored` where the law can be solved; else the root of law = given */
struct initial_law {
    bool solved;
    formula stored, law, slope;
};
struct initial_stated {
    formula value;
    span at;
    const unit *written; /* in which the text says it; NULL: in none */
    var_id var;
    uint32_t state; /* whose value it is; NONE: of none, it is a condition on others */
    uint32_t law;   /* through this one; NONE: as it is */
    bool last;      /* replaces what was stated before; others become conditions where the state has a value */
};
/* The law of a storage whose state is left at zero */
struct initial_zero {
    uint32_t state, port;
    formula law;
};

typedef struct initial_program {
    formula_book book;
    VEC(struct initial_read) read;
    VEC(struct initial_stated) stated; /* in the order in which they count */
    VEC(struct initial_law) law;
    VEC(struct initial_zero) zero;
    VEC(var_id) state;      /* by state: its variable */
    VEC(var_id) constraint; /* of residual sources: zero at the start */
} initial_program;

initial_program *initial_program_new(const struct flat_model *f, const struct causal *c, const struct equations *e);
void initial_program_free(initial_program *g);

/* The conditions that solving these asks for: where every law can be solved; all: those of laws too that may have no
 * solution. In their order, to a list that is empty; its room is that of all. */
size_t initial_conditions(const initial_program *g, bool all, var_id *list);
size_t initial_conditions_most(const initial_program *g);

/* Variables that have stated values and are no states, and what determines them */
typedef struct condition_program {
    VEC(var_id) var;
    VEC(uint32_t) state, first; /* states that the i-th depends on: state[first[i] .. first[i+1]) */
    routine *routine;
} condition_program;

/* made: gets the program of its routine. NULL with a diagnostic when there is no code for it. */
condition_program *condition_program_new(struct equations *e, struct layout at, const var_id *var, size_t n,
                                         struct program_list *made);
void condition_program_free(condition_program *g);

#endif
