/* subgraphs.h - the subgraphs that remain when the conditioned bonds are cut, and the signals between them
 *
 * A subgraph is a set of junctions and elements that bonds connect. A signal goes from one subgraph to another where a
 * conditioned link acts (the common variable of the junction at its signal end), and where a law, a modulus, a residual
 * source or a jump reads a variable of another subgraph; those signals were in the model before and count in the same
 * way. A signal is named by what is read: a declared signal or integral that a single subgraph determines by its own
 * name, otherwise the variables in its definition. Subgraphs whose signals form a loop have to be simulated together:
 * they are one partition.
 *
 * A link that is cut altogether belongs to no subgraph; a two-port that becomes a source belongs to the subgraph of the
 * source.
 *
 * source   Rideout and Stein, steps 3 and 4
 * cost     linear in the graph and its expressions. A signal that several subgraphs determine is walked once for each
 *          element that reads it; in a loop the conditioned links are followed once from each subgraph to which signals
 *          return
 */
#ifndef BG_SUBGRAPHS_H
#define BG_SUBGRAPHS_H

#include "plan.h"

/* A variable of one subgraph read in another: one crossing for each reader, or for each conditioned link. */
typedef struct crossing {
    const char *name; /* as an expression names it: "theta", "rear.ktire.e" */
    var_id var;
    uint32_t from, to; /* subgraphs */
    uint32_t link;     /* a conditioned link of the plan; LINK_NONE: the signal was in the model before */
    /* the element, the two-port or the jump's target that reads it; for a conditioned link its name */
    const char *reader;
    uint32_t element; /* the reading element, or LINK_NONE */
    bool closes;      /* one of the signals that close a loop: see signal_loop */
    uint32_t freeze;  /* of a frozen crossing: 1 + number of the freeze */
} crossing;

/* Makes a signal a constant where `reader` reads it. reader NULL: where the signal closes loops, or everywhere where it
 * closes none. */
typedef struct signal_freeze {
    var_id var;
    const char *reader;
} signal_freeze;

/* A loop of signals between subgraphs. The crossings that close it are the original signals that lead back against the
 * conditioned links (or all in the loop, where no conditioned link gives a direction); where conditioned links alone
 * form a loop, these too. Without all of them there is no loop. */
typedef struct signal_loop {
    uint32_t partition;
    VEC(uint32_t) subgraph;
    VEC(uint32_t) crossing;
} signal_loop;

typedef struct subgraph {
    const char *name; /* "S1", numbered in the order of declaration */
    VEC(uint32_t) junction, element;
    VEC(uint32_t) drives; /* subgraphs, ascending */
    uint32_t partition;
} subgraph;

/* One subgraph, or the subgraphs of a loop. */
typedef struct partition {
    VEC(uint32_t) subgraph;
    VEC(uint32_t) before;
    bool driving, driven;
} partition; /* before: partitions that drive this one */

typedef struct subgraphs {
    VEC(subgraph) subgraph;
    VEC(crossing) crossing; /* between two subgraphs, in the order of declaration */
    VEC(crossing) frozen;   /* crossings removed by freezes */
    VEC(signal_loop) loop;
    VEC(partition) partition;           /* in an order in which they can be run */
    uint32_t *of_junction, *of_element; /* subgraph of each; NONE: it belongs to a link that was cut */
    /* the subgraph that alone determines the variable; NONE: none does (parameters, time); MANY_SUBGRAPHS: several
     * do */
    uint32_t *of_var;
} subgraphs;
enum { MANY_SUBGRAPHS = UINT32_MAX - 1 };

/* f: as elaborated, before its conditions became modes (STAGE_GRAPH), of the same text as the plan. freeze: variables
 * as subgraphs_original gives them. Names are in the arena. */
void subgraphs_find(const flat_model *f, const link_plan *p, const signal_freeze *freeze, size_t nfreezes, arena *a,
                    subgraphs *out);
/* The variable under whose name crossings list v, where v only repeats another: an input of a component is the signal
 * that is given to it. */
var_id subgraphs_original(const flat_model *f, const subgraphs *s, var_id v);
/* For each variable the partition that alone determines it (NONE, MANY_SUBGRAPHS as in of_var), and the last partition
 * that contributes to it. Arrays of nvar. */
void subgraphs_by_partition(const flat_model *f, const subgraphs *s, uint32_t *sole, uint32_t *last);
void subgraphs_free(subgraphs *s);

#endif
