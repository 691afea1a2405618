/* yaml_inside.h - declarations shared by the files yaml_*.c; no other file includes it */
#ifndef BG_YAML_INSIDE_H
#define BG_YAML_INSIDE_H

#include "scan.h"
#include "yaml.h"
#include "yaml_import.h"

enum { MOST_INPUTS = 10000, MOST_VALUES = 8, MOST_PARAMETERS = 4, MOST_SIDES = 3 };
enum kind { K_JUNCTION, K_ONE_PORT, K_SOURCE, K_TWO_PORT, K_REACTION, K_FIELD, K_PORT, K_INSTANCE };

/* One row for each component: parameters by name, with the library's default (NAN: there is none; a value that is not
 * given becomes an input). Names that differ only in case are different: r and R of a reaction. */
struct row {
    const char *library, *name;
    enum kind kind;
    const char *type;
    struct {
        const char *name;
        double otherwise;
    } param[MOST_PARAMETERS];
    const char *law; /* %0, %1, ... are the parameters */
};

typedef struct component {
    const char *label, *name;           /* in the file; in the translated text */
    const struct row *row;              /* NULL: an instance */
    struct translated *model;           /* of an instance */
    const char *value[MOST_PARAMETERS]; /* text of each parameter */
    span at;
    enum kind kind;
    const char *port, *port_label; /* K_PORT: name as a port of the model, in the text and in the file */
    size_t port_number;            /* ... and its index in the list of ports */
    const char *side[MOST_SIDES];  /* for several ports: what port 0, 1, ... are connected to */
    bool turned[MOST_SIDES];       /* ... at a 1-junction that counts with the opposite sign */
    unsigned nbonds;
} component;

typedef struct translated {
    const yaml *node;
    const char *key, *name;
    VEC(component) part;
    map parts;         /* label -> index */
    map names, values; /* names used in the text: parts and values are separate */
    VEC(const char *) input;
    strbuf bonds, junctions;
    size_t nports;
    int mark; /* 0 new, 1 open, 2 done */
} translated;

struct import {
    sources *s;
    arena *a;
    const yaml *models;
    VEC(translated *) model;
    map by_key, names;
    strbuf *out;
    size_t ninputs;
    bool bad;
};

/* ---- yaml_import.c ---- */
void yaml_fail(struct import *m, span at, const char *fmt, ...);

/* ---- yaml_components.c ---- */

/* Reserves the names of element types, which cannot name parts. */
void yaml_take_types(struct import *m);

uint64_t yaml_text_key(const char *s);

/* A free name of this language similar to the label. */
const char *yaml_fresh(struct import *m, map *taken, const char *label, const char *otherwise);

/* The words of a text; at most `most`. */
size_t yaml_words(struct import *m, const char *text, const char **word, size_t most);
const char *yaml_new_input(struct import *m, translated *t, const char *name);
void yaml_read_component(struct import *m, translated *t, const yaml *entry);

/* ---- yaml_bonds.c ---- */

/* The part's declaration with its law: `R:R1 = 10`. */
const char *yaml_declared(struct import *m, const component *c, bool negative);
void yaml_read_bond(struct import *m, translated *t, const yaml *entry);

#endif
