/* causality.h - causality: strokes, states, dependent storage, open components
 *
 * A port or bond is strong at a junction if it determines the common variable (brings effort to a 0-junction, flow to a
 * 1-junction). Each junction has exactly one strong incidence, or is open. Order of decisions: sources, one-way laws,
 * modulated two-ports (in multiplying direction), storage elements (integral causality, breadth-first), junction
 * states. The causality of resistors is never chosen. Fields are decided port by port; a transformer field counts as
 * several two-ports. Then the rank check of open components makes storage dependent where equations would be singular.
 */
#ifndef BG_CAUSALITY_H
#define BG_CAUSALITY_H

#include "flat.h"

enum strength { ST_OPEN = 0, ST_WEAK = -1, ST_STRONG = 1 };

/* A relation found by the rank check for a dependent storage port: its imposed variable (effort of C, flow of I) is the
 * sum of weight * output, where the outputs are efforts or flows given by sources and storage elements. A weight is a
 * small fraction, or plus or minus a product of up to two moduli or inverse moduli of two-ports; relations with other
 * weights are not stored. */
typedef struct causal_relation {
    uint32_t port, first, n;
} causal_relation;
typedef struct causal_term {
    uint32_t port;
    double weight;
    inst modulus[2];
    bool inverse[2];
    int nmoduli;
} causal_term;

typedef struct causal {
    int8_t *port; /* [nport] enum strength at its junction; strong: the element determines the common variable */
    int8_t *bond_from, *bond_to;  /* [nbond] strength at both ends */
    uint32_t *strong;             /* [njunction] index in flat.incidence of the strong one; NONE: open */
    bool *state;                  /* [nport] a storage port whose stored variable is a state (else it is dependent) */
    VEC(uint32_t) junction_state; /* junctions whose common variable is a state (see junction_states.c) */
    VEC(uint32_t) dependent;      /* dependent storage ports */
    VEC(causal_relation) relation;
    VEC(causal_term) term;
    /* open components: junctions of component k are open_junction[component[k] .. component[k+1]) */
    VEC(uint32_t) component, open_junction;
    int8_t *drawn;                 /* [nport] strength for drawings: as port; for open ports derived afterwards */
    int8_t *drawn_from, *drawn_to; /* [nbond] likewise */
} causal;

/* What causality needs to know of a one-port's law; the equations stage determines it from the templates. */
enum law_way {
    WAY_EITHER,       /* solvable in both directions, or solved in a block */
    WAY_GIVES_EFFORT, /* effort is a function of flow, not the reverse */
    WAY_GIVES_FLOW
};
/* Assigns causality. Returns NULL after reporting errors: causality-conflict (two sources; the path of bonds between
 * them as notes), causality-cycle (undetermined circulating flow or effort through bonds of one kind),
 * causality-singular (rank check without a storage element to make dependent; the relation is written out). Dependent
 * storage is reported by a note (causality-derivative, with the element that imposes it), dividing two-ports likewise.
 *   way[port]       of R ports
 *   varying[el]     two-ports whose modulus depends on more than parameters
 *   invertible[port] storage: the stored variable can be computed from the imposed one in closed form
 *   stated[port]    storage with an initial value of its own */
causal *causality(flat_model *f, const enum law_way *way, const bool *varying, const bool *invertible,
                  const bool *stated);
void causal_free(causal *c);
void causal_dump(const flat_model *f, const causal *c, FILE *out);

#endif
