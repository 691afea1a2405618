/* subgraphs.h - what is left joined by bonds when the conditioned ones are cut, and the signals between
 *
 * A subgraph is a set of junctions and elements that bonds join. Signals go from one to another where a conditioned
 * link acts (the common variable of the junction that it comes from), and where a law, a modulus, a condition of a
 * residual source or a jump reads a variable of another: those were there before and count as much. A signal is named
 * by what is read: of a declared signal or integral that one subgraph alone determines its own name, else the variables
 * in it. Subgraphs whose signals lead in a circle must be simulated together: they are one partition.
 *
 * A link that goes as a whole belongs to no subgraph; a two-port that becomes a source belongs where the source stands.
 *
 * source   Rideout and Stein, steps 3 and 4
 * cost     linear in graph and expressions; a signal that several subgraphs determine is walked once for each element
 *          that reads it, and in
 *            a loop the conditioned links are followed once from each subgraph that signals lead back to
 */
#ifndef BG_SUBGRAPHS_H
#define BG_SUBGRAPHS_H

#include "plan.h"

/* A variable of one subgraph read in another: once for each reader, or for each link of a conditioned one. */
typedef struct crossing {
    const char *name; /* as an expression says it: "theta", "rear.ktire.e" */
    var_id var;
    uint32_t from, to; /* subgraphs */
    uint32_t link;     /* of the plan: a conditioned one; LINK_NONE: it was there before */
    const char
        *reader;      /* the element, the two-port or the jump's target that reads it; of a conditioned link its name */
    uint32_t element; /* the reader, or LINK_NONE */
    bool closes;      /* it is in a loop and one of those that close it: see loop */
    uint32_t freeze;  /* of a frozen one: 1 + which freeze */
} crossing;

/* A signal that is to be a constant where `reader` reads it; NULL: where it closes loops, or everywhere where it closes
 * none. */
typedef struct signal_freeze {
    var_id var;
    const char *reader;
} signal_freeze;

/* Subgraphs that signals join in a circle. Those that close it are the signals that were there before and lead back
 * against the conditioned links (or, where none of these decides, go round by themselves), and where conditioned links
 * alone go round these too. Without all of them nothing goes round. */
typedef struct signal_loop {
    uint32_t partition;
    VEC(uint32_t) subgraph;
    VEC(uint32_t) crossing;
} signal_loop;

typedef struct subgraph {
    const char *name; /* "S1": in the order of declaration */
    VEC(uint32_t) junction, element;
    VEC(uint32_t) drives; /* subgraphs, ascending */
    uint32_t partition;
} subgraph;

/* One subgraph, or those of a loop. */
typedef struct partition {
    VEC(uint32_t) subgraph;
    VEC(uint32_t) before;
    bool driving, driven;
} partition; /* before: partitions that drive it */

typedef struct subgraphs {
    VEC(subgraph) subgraph;
    VEC(crossing) crossing; /* between two subgraphs, in the order of declaration */
    VEC(crossing) frozen;   /* that were taken out by freezes */
    VEC(signal_loop) loop;
    VEC(partition) partition;           /* in an order in which they can be run */
    uint32_t *of_junction, *of_element; /* NONE: of a link that went */
    uint32_t *of_var; /* the subgraph that alone determines it; NONE: none does (parameters, time); MANY_SUBGRAPHS */
} subgraphs;
enum { MANY_SUBGRAPHS = UINT32_MAX - 1 };

/* f: as elaborated, before its conditions became modes (STAGE_GRAPH), of the same text as the plan's. freeze: of what
 * subgraphs_original gives. Names in the arena. */
void subgraphs_find(const flat_model *f, const link_plan *p, const signal_freeze *freeze, size_t nfreezes, arena *a,
                    subgraphs *out);
/* What crossings call a variable that only repeats another: an input of a component is the signal given to it. */
var_id subgraphs_original(const flat_model *f, const subgraphs *s, var_id v);
/* For each variable the partition that alone determines it (NONE, MANY_SUBGRAPHS as of_var), and the last of
 * those that do. Arrays of nvar. */
void subgraphs_by_partition(const flat_model *f, const subgraphs *s, uint32_t *sole, uint32_t *last);
void subgraphs_free(subgraphs *s);

#endif
