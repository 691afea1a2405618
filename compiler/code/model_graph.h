/* model_graph.h - the parts of a model as stored in its image: elements, ports, bonds, junctions, with names and places
 *
 * Made on first use and not changed afterwards; threads may read it at the same time. Numbers are those of the flat
 * model (flat.h), to which it does not refer.
 */
#ifndef BG_MODEL_GRAPH_H
#define BG_MODEL_GRAPH_H

#include "model.h"

struct model_element {
    const char *name;
    span at;
    enum element_type type : 8;
    bool linear;   /* its law has a single coefficient */
    bool keep;     /* the experiment keeps it */
    bool pseudo;   /* on bonds whose effort times flow is no power, or between such bonds and others */
    bool switched; /* ideal switch */
    uint32_t port0, nports;
    uint32_t ratio0, nratios; /* of a two-port: its moduli (model_ratio) */
    uint32_t instance;        /* the instance that made it; NONE: the model itself */
};
struct model_port {
    uint32_t element, junction;
    var_id e, f, stored; /* stored: VAR_NONE where nothing is */
    int8_t sign;         /* +1: arrow from the junction into the element; -1: out of it */
    bool momentum;       /* of storage: it stores a p, else a q */
    bool crossed;        /* p on a C, q on an I */
    const char *name;    /* "plate.gap", or the element's name */
    bool given;          /* its law gives the stored quantity: q or p on the left */
    bool inverse;        /* that law is a number divided by another */
    const char *own;     /* "plate.gap" for a field's port; NULL: the element's name suffices */
    const char *bond;    /* the name of its bond; NULL: it has none */
    const char *at;      /* label of its junction in tables, as seen from here */
};
struct model_bond {
    uint32_t from, to; /* junctions */
    const char *name;  /* NULL: none */
    const char *from_label, *to_label;
};
struct model_junction {
    uint8_t type; /* 0 or 1 */
    bool pseudo;
    var_id common;
    uint32_t instance;
    uint32_t inc0, ninc;
};
/* A port or one end of a bond at a junction. */
struct model_incidence {
    bool is_bond;
    uint32_t index;
};
/* An instance of a component, or (name NULL) one iteration of a loop. Enclosing ones come first. */
struct model_instance {
    const char *name, *type;
    uint32_t parent; /* NONE: the model itself */
};
/* An output of the text or, after these, a recorded expression. quantity: the domain's name of an effort or flow; NULL
 * for others */
struct model_output {
    const char *name, *quantity;
    const unit *unit, *display;
    span at;
};

/* An opened external input (flat.h): a parameter moves it, and another one its rate. */
struct model_opening {
    const char *name, *rate_name;
    var_id by, rate;
    uint32_t element; /* the source, NONE: an input of the text */
    uint32_t port;    /* of a source: the port whose law it is; NONE: none */
    bool reads_time;  /* the law itself reads time */
    bool moves;       /* it varies, and with time alone, including everything that it reads */
    const unit *unit, *display;
};

typedef struct model_graph {
    struct model_element *element;
    struct model_port *port;
    struct model_bond *bond;
    struct model_junction *junction;
    struct model_incidence *incidence;
    struct model_instance *instance;
    struct model_output *output;
    struct model_opening *opening;
    uint32_t *dependent; /* storage ports whose stored variable is not a state */
    size_t nelements, nports, nbonds, njunctions, ninstances, noutputs, nopenings, ndependent;
    size_t ndeclared;   /* number of outputs that are not recorded expressions */
    bool common_states; /* some states are common variables of junctions */
} model_graph;

const model_graph *model_graph_of(const bg_model *m);

/* The number of the output with that name; NO_INDEX: there is none. */
size_t model_output_find(const bg_model *m, const char *name);
/* Modulus k of the two-ports, for the values of all variables. */
double model_ratio(bg_model *m, uint32_t k, const double *value);
/* "a -> b", or the bond's name in the text */
const char *model_bond_label(arena *a, const struct model_bond *b);
/* A value of state i in the unit used in the text, such as "3 bar". */
shown_text model_state_shown(const bg_model *m, size_t i, double si);
/* Which variables are read directly: the laws of element e read read[of_element[e] .. of_element[e+1]); likewise
 * output k, and the definition of a parameter or signal. */
typedef struct model_reads {
    var_id *read;
    uint32_t *of_element, *of_output, *of_variable;
} model_reads;
const model_reads *model_reads_of(const bg_model *m);

#endif
