/* elaborate.h - from syntax tree to flat bond graph: names resolved, units converted and checked, bonds in normal form
 *
 * reports  every mistake with its place; what the language has and this compiler does not build yet is refused by name
 */
#ifndef BG_ELABORATE_H
#define BG_ELABORATE_H

#include "flat.h"

/* --set NAME=VALUE, SI; or with a formula: its text, and what messages call where it stands */
struct elaborate_override {
    const char *name;
    double value;
    const char *formula, *said;
};

/* A part of the model itself that is taken out as by a statement `without`: by name; or its effort or flow, "e" or "f",
 * so that it rests. */
struct elaborate_taken {
    const char *name, *variable; /* variable: NULL, the part */
};

/* What a file declares, for who elaborates many of its models: found out once. {0} is empty. */
typedef struct elaborate_index {
    bool known;
    map models, experiments; /* interned name -> number of the declaration */
    VEC(uint32_t) others;    /* declarations of neither kind */
} elaborate_index;
void elaborate_index_free(elaborate_index *x);

typedef struct elaborate_options {
    const char *experiment; /* name, or NULL: without one */
    bool bare;              /* of the experiment its model and the sizes it gives, nothing else */
    const char *model;      /* without an experiment: which model; NULL: the first that is no component */
    const struct elaborate_override *set;
    size_t nset;
    const span *weigh;
    size_t nweigh; /* expressions of the file that are operands of + or -, to be weighed (flat.weight, in this order) */
    const struct elaborate_taken *taken; /* besides what the text takes out */
    size_t ntaken;
    const span *unstated; /* initial values in the blocks of parts of the model: as if the text did not state them */
    size_t nunstated;
    bool expect;      /* what the experiment expects is made (flat_experiment.expect) */
    bool names_apart; /* names of parts of arrays and components are texts of their own: else equal names are one
                         pointer, which costs a look into the table of all names for each */
    bool open;        /* inputs and sources can be moved (flat.opening) */
    bool
        ports; /* behind the outputs of the text stand effort and flow of each port, then what was opened as an input */
    elaborate_index *index; /* of the file, filled or to be filled; NULL: none is kept */
} elaborate_options;

/* What the file names is kept from being written over, whether this run reads it or another model or experiment does.
 */
void elaborate_note_named(const sources *s, const ast_file *f);

/* Elaborates the model of the file (of the experiment where one is named; else the one named, or the first).
 * NULL when errors were reported. A file whose tree has syntax errors is not elaborated. */
flat_model *elaborate(sources *s, names *n, arena *a, unit_system *u, pool *p, const ast_file *file,
                      const elaborate_options *opt);

#endif
