/* elaborate.h - from syntax tree to flat bond graph: names resolved, units converted and checked, bonds in normal form
 *
 * reports  every mistake with its place; what the language has and this compiler does not build yet is refused by name
 */
#ifndef BG_ELABORATE_H
#define BG_ELABORATE_H

#include "flat.h"

struct elaborate_override { const char *name; double value; };   /* --set name=value, SI */

typedef struct elaborate_options {
    const char *experiment;          /* name, or NULL: without one */
    const char *model;               /* without an experiment: which model; NULL: the first that is no component */
    const struct elaborate_override *set; size_t nset;
    const span *weigh; size_t nweigh;        /* expressions of the file that are operands of + or -, to be weighed (flat.weight, in this order) */
    bool open;                       /* inputs and sources can be moved (flat.opening) */
} elaborate_options;

/* Elaborates the model of the file (of the experiment where one is named; else the one named, or the first).
 * NULL when errors were reported. A file whose tree has syntax errors is not elaborated. */
flat_model *elaborate(sources *s, names *n, arena *a, unit_system *u, pool *p, const ast_file *file, const elaborate_options *opt);

#endif
