/* elaborate.h - from syntax tree to flat bond graph: resolves names, converts and checks units, brings bonds into
 * normal form
 *
 * reports  every error with its place; parts of the language that this compiler does not implement are refused by name
 */
#ifndef BG_ELABORATE_H
#define BG_ELABORATE_H

#include "flat.h"

/* --set NAME=VALUE, in SI; or with a formula: its statement, `let NAME = FORMULA`. */
struct elaborate_override {
    const char *name;
    double value;
    const char *formula; /* NULL: the value counts */
    const char *said,
        *written;        /* for messages: the option (NULL: --set), and what was written behind it (NULL: nothing) */
    uint32_t written_at; /* where that begins in the formula; NONE: it is not in it */
};

/* A part of the model itself that is taken out as by `without`: by name; or its effort or flow, "e" or "f", so that it
 * rests. */
struct elaborate_taken {
    const char *name, *variable; /* variable NULL: the part itself */
};

/* The declarations of a file, collected once for several elaborations of its models. {0} is empty. */
typedef struct elaborate_index {
    bool known;
    map models, experiments; /* interned name -> index of the declaration */
    VEC(uint32_t) others;    /* declarations of other kinds */
} elaborate_index;
void elaborate_index_free(elaborate_index *x);

typedef struct elaborate_options {
    const char *experiment; /* name; NULL: without an experiment */
    bool bare;              /* use only the model of the experiment and the sizes that it gives */
    const char *model;      /* the model, if there is no experiment; NULL: the first that is no component */
    const struct elaborate_override *set;
    size_t nset;
    const span *weigh;
    size_t nweigh; /* expressions of the file, operands of + or -, that get weights (flat.weight, in this order) */
    const struct elaborate_taken *taken; /* in addition to what the text takes out */
    size_t ntaken;
    const span *unstated; /* initial values in blocks of parts of the model itself, treated as not stated */
    size_t nunstated;
    bool expect; /* make what the experiment expects (flat_experiment.expect) */
    /* do not intern names of parts of arrays and components: this saves a look-up in the table of all names for each */
    bool names_apart;
    bool open;              /* inputs and sources can be moved (flat.opening) */
    bool ports;             /* after the outputs of the text: effort and flow of each port, then the opened inputs */
    elaborate_index *index; /* of the file, filled here or to be filled; NULL: none */
} elaborate_options;

/* Protects the files that the text names from being overwritten, whether or not this run reads them. */
void elaborate_note_named(const sources *s, const ast_file *f);

/* Elaborates the model of the experiment, if one is named; else the named model, or the first. NULL after errors, which
 * are reported. A file with syntax errors is not elaborated. */
flat_model *elaborate(sources *s, names *n, arena *a, unit_system *u, pool *p, const ast_file *file,
                      const elaborate_options *opt);

#endif
