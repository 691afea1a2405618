/* causality.h - who determines what: strokes, states, dependent storage, open components
 *
 * A port or bond is strong at a junction when it brings the common variable (effort into a 0, flow into a 1); each
 * junction has exactly one strong incidence or is open. Sources, one-way laws, varying two-ports (multiplying),
 * storages (integral, breadth-first), junction states, in this order; resistors are never chosen. Fields are decided
 * port by port; a transformer field is so many two-ports. Then the rank check of open components, which makes storage
 * dependent where equations would be singular.
 */
#ifndef BG_CAUSALITY_H
#define BG_CAUSALITY_H

#include "flat.h"

enum strength { ST_OPEN = 0, ST_WEAK = -1, ST_STRONG = 1 };

/* What the rank check found of a dependent storage: its imposed variable (effort of C, flow of I) is the sum of weight
 * * output, the outputs being efforts or flows that sources and storages give. A weight is a small fraction, or plus or
 * minus a product of up to two moduli or inverse moduli of two-ports; relations with other weights are not kept. */
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
    int8_t *port; /* [nport] enum strength at its junction: strong = the element brings the common variable */
    int8_t *bond_from, *bond_to;  /* [nbond] strength at either end */
    uint32_t *strong;             /* [njunction] position in flat.incidence of the strong one, NONE: open */
    bool *state;                  /* [nport] storage port with its stored variable as a state (else dependent) */
    VEC(uint32_t) junction_state; /* junctions whose common variable is a state (section 3) */
    VEC(uint32_t) dependent;      /* storage ports, dependent */
    VEC(causal_relation) relation;
    VEC(causal_term) term;
    /* open components: junctions of component k are open_junction[component[k] .. component[k+1]) */
    VEC(uint32_t) component, open_junction;
    int8_t *drawn; /* [nport] strength for drawing: as port, and where open derived afterwards for the picture */
    int8_t *drawn_from, *drawn_to; /* [nbond] likewise */
} causal;

/* What causality needs to know of a one-port's law; filled by the equations stage from the templates. */
enum law_way {
    WAY_EITHER,       /* can be written either way, or goes into a block */
    WAY_GIVES_EFFORT, /* effort is a function of flow, not the reverse */
    WAY_GIVES_FLOW
};
/* Returns NULL after reporting errors: causality-conflict (two sources; the path of bonds between them as notes),
 * causality-cycle (undetermined circulating flow or effort through bonds of one kind), causality-singular (rank check
 * without a storage to make dependent; the relation spelled out). Dependent storage is reported as a note of its own
 * (causality-derivative, with who sets it), dividing two-ports likewise.
 *   way[port]       of R ports
 *   varying[el]     two-ports whose modulus is not parameter-only
 *   invertible[port] storage: the stored variable can be computed from the imposed one in closed form
 *   stated[port]    storage with an initial value of its own */
causal *causality(flat_model *f, const enum law_way *way, const bool *varying, const bool *invertible,
                  const bool *stated);
void causal_free(causal *c);
void causal_dump(const flat_model *f, const causal *c, FILE *out);

#endif
