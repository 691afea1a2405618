/* causality_inside.h - the state of an assignment, shared by the files causality_*.c; no other file includes it */
#ifndef BG_CAUSALITY_INSIDE_H
#define BG_CAUSALITY_INSIDE_H

#include "rankcheck.h"
#include "domain.h"

enum {
    PATH_NOTES = 12,      /* bonds of a path that are printed */
    TERMS_PRINTED = 24,   /* terms of a relation that are printed */
    DEPENDENT_NOTES = 20, /* storage elements reported one by one */
    PRODUCTS_TRIED = 128, /* moduli tried for weights that are products of two */
    PATIENCE = 12,        /* rounds before all relations are computed at once */
    LOOK_BACK = 4096      /* greatest number of reasons followed to find what imposes a storage element */
};

struct assign {
    flat_model *f;
    const enum law_way *way;
    const bool *varying, *invertible, *stated;
    strokes s;
    uint32_t *coef;    /* [nend] residues */
    int8_t *preferred; /* [nport] strength that makes a storage port integral; open: not a storage port */
    bool one_way;      /* some resistor has fixed causality */
    bool *released;    /* [nport] one-way resistors that yield to a storage element */
    /* [nport] in-ports of modulated two-ports left undecided: they yield to a storage element, or lie in a loop */
    bool *may_divide;
    bool releasing; /* search for these */
    size_t nreleased;
    bool *forced;            /* [nport] storage ports made dependent by the rank check */
    bool *state_junction;    /* [njunction] */
    bool *asked;             /* [nport] storage ports whose dependence is to be explained */
    uint32_t *set_by;        /* [nport] the end that imposes it */
    VEC(uint32_t) order;     /* storage ports in the order in which they are tried */
    VEC(uint32_t) candidate; /* junctions on the output side of a modulated two-port */
    relations found;
    VEC(causal_relation) relation;
    VEC(causal_term) term; /* terms of the relations whose weights are known */
    VEC(struct ratio {
        uint32_t residue;
        inst def;
    })
    ratio;        /* distinct moduli, each followed by its inverse */
    map ratio_of; /* residue -> its index there */
};
enum outcome { RAN, CONTRADICTION, REPEAT };

enum mode {
    FINAL,
    LOOKING,      /* candidates for junction states need no strong end, to see which of them stay open */
    ANY_DIRECTION /* modulated two-ports may divide: counts the possible states */
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

/* The multiplying direction at an end of a two-port: the port's output is the modulus times its input on the other
 * side. */
enum strength causality_multiplying(const struct assign *a, const flat_element *el, uint32_t p);
bool causality_is_varying(const struct assign *a, size_t i);

/* Makes all decisions from the beginning. */
enum outcome causality_run(struct assign *a, bool report, enum mode mode);

/* Alternates strokes and rank check until no relation is left. False: a contradiction or a singular model, reported if
 * `report`. */
bool causality_settle(struct assign *a, bool report, enum mode mode);
size_t causality_count_states(const struct assign *a);

/* ---- causality_report.c ---- */
void causality_report_conflict(struct assign *a);
bool causality_check_cycles(struct assign *a);

/* Reports junctions to which nothing is connected. */
bool causality_check_lonely(struct assign *a);
void causality_report_relation(struct assign *a, const ranked_terms *row);
void causality_report_undetermined(struct assign *a, const relation *r);
void causality_report_dependent(struct assign *a, const causal *c);
void causality_report_dividing(struct assign *a);

/* ---- causality_relations.c ---- */
bool causality_is_dependent(const struct assign *a, uint32_t of);

/* Recognizes a residue as a small signed integer or fraction; false if it is neither. */
bool causality_small_number(uint32_t v, int *num, int *den);

/* Brings the relations into echelon form, in which the leading term of each depends on the others. Returns the number
 * of terms made dependent; relations without such a term are errors. */
size_t causality_resolve(struct assign *a, bool report);

/* ---- junction_states.c ---- */

/* Each junction state replaces a storage state: the common variable must be a function of storage and sources except
 * for modulated two-ports that are to multiply, and the number of states must equal that with two-ports allowed to
 * divide. A two-port that would cost a state yields instead. */
void causality_choose_junction_states(struct assign *a);

#endif
