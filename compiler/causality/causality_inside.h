/* causality_inside.h - what the causality_*.c files share: the state of an assignment; nobody else includes it */
#ifndef BG_CAUSALITY_INSIDE_H
#define BG_CAUSALITY_INSIDE_H

#include "rankcheck.h"
#include "domain.h"

enum {
    PATH_NOTES = 12,      /* bonds of a path that are printed */
    TERMS_PRINTED = 24,   /* of a relation */
    DEPENDENT_NOTES = 20, /* storages reported one by one */
    PRODUCTS_TRIED = 128, /* moduli, for weights that are products of two */
    PATIENCE = 12,        /* rounds before all relations are looked for at once */
    LOOK_BACK = 4096      /* reasons looked at to name who sets a storage */
};

struct assign {
    flat_model *f;
    const enum law_way *way;
    const bool *varying, *invertible, *stated;
    strokes s;
    uint32_t *coef;    /* [nend] residues */
    int8_t *preferred; /* [nport] strength that makes a storage integral; open: no storage */
    bool one_way;      /* some resistor has a fixed causality */
    bool *released;    /* [nport] one-way resistors that give way to a storage */
    bool *may_divide;  /* [nport] in-ports of varying two-ports that are not decided: they give way to a storage, or lie
                          in a loop */
    bool releasing;    /* look for these */
    size_t nreleased;
    bool *forced;            /* [nport] storages made dependent by the rank check */
    bool *state_junction;    /* [njunction] */
    bool *asked;             /* [nport] storages whose refusal is to be explained */
    uint32_t *set_by;        /* [nport] the end found behind it */
    VEC(uint32_t) order;     /* storage ports as they are tried */
    VEC(uint32_t) candidate; /* junctions on the giving side of a varying two-port */
    relations found;
    VEC(causal_relation) relation;
    VEC(causal_term) term; /* of what was found, where the weights are known */
    VEC(struct ratio {
        uint32_t residue;
        inst def;
    })
    ratio;        /* distinct moduli, each followed by its inverse */
    map ratio_of; /* residue -> its place there */
};
enum outcome { RAN, CONTRADICTION, REPEAT };

enum mode {
    FINAL,
    LOOKING,      /* candidates for junction states need no strong end, to see which of them stay open */
    ANY_DIRECTION /* varying two-ports may divide: how many states are there? */
};

struct ranked {
    uint64_t rank;
    uint32_t of, coef;
};
typedef VEC(struct ranked) ranked_terms;

/* ---- causality.c ---- */
const flat_element *causality_element_of(const struct assign *a, uint32_t port);
bool causality_is_storage(const struct assign *a, uint32_t port);
enum strength causality_integral(const struct assign *a, uint32_t port);
const char *causality_common_name(const struct assign *a, uint32_t j);

/* Multiplying direction at an end of a two-port: what the port brings is modulus times what it gets on the other side.
 */
enum strength causality_multiplying(const struct assign *a, const flat_element *el, uint32_t p);
bool causality_is_varying(const struct assign *a, size_t i);

/* All decisions from the beginning. */
enum outcome causality_run(struct assign *a, bool report, enum mode mode);

/* Strokes and rank check until no relation is left. False: a contradiction or a singular model, reported if asked to.
 */
bool causality_settle(struct assign *a, bool report, enum mode mode);
size_t causality_count_states(const struct assign *a);

/* ---- causality_report.c ---- */
void causality_report_conflict(struct assign *a);
bool causality_check_cycles(struct assign *a);

/* Junctions that nothing is joined to. */
bool causality_check_lonely(struct assign *a);
void causality_report_relation(struct assign *a, const ranked_terms *row);
void causality_report_undetermined(struct assign *a, const relation *r);
void causality_report_dependent(struct assign *a, const causal *c);
void causality_report_dividing(struct assign *a);

/* ---- causality_relations.c ---- */
bool causality_is_dependent(const struct assign *a, uint32_t of);

/* A residue as a small signed whole number or fraction; false if it is none. */
bool causality_small_number(uint32_t v, int *num, int *den);

/* The relations in echelon form, the leading term of each the one that depends on the rest. Returns how many terms were
 * made dependent; relations without any are errors. */
size_t causality_resolve(struct assign *a, bool report);

/* ---- junction_states.c ---- */

/* Junction states take the place of states one for one: the common variable must be a function of storages and sources,
 * were it not for the two-ports that are to multiply, and the number of states is the one found when two-ports may
 * divide. A two-port that costs a state instead is one that gives way. */
void causality_choose_junction_states(struct assign *a);

#endif
