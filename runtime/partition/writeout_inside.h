/* writeout_inside.h - declarations shared by the files writeout*.c; no other file includes it */
#ifndef BG_WRITEOUT_INSIDE_H
#define BG_WRITEOUT_INSIDE_H

#include "textrefs.h"
#include "writeout.h"

struct writer {
    const recording *run; /* the experiments that were asked for */
    size_t nruns;
    flat_model *f; /* a compilation of its own, in which variables are renamed to the names of the text */
    const ast_file *file;
    const char *text;
    arena *a;
    map pair_port; /* full name of a port of a transformer field -> the first port of that name */
    /* [var] a parameter that reads an input: written as a signal where an experiment gives it a formula */
    bool *by_input;
    text_names names;   /* variables by their names before renaming */
    const char **given; /* [var] their names before renaming */
    uint32_t *lets;     /* [var] number of requested experiments that give it a value */
    strbuf *out;
};

/* ---- writeout.c ---- */

/* Renames the variables to the names of the text. Needs f; writer_end in any case. */
void writer_begin(struct writer *d);
void writer_end(struct writer *d);
/* Names in the new text (in the arena) of a part, a junction or a port; the text of an expression. */
const char *writer_part(const struct writer *d, const char *full);
const char *writer_junction(const struct writer *d, uint32_t j);
const char *writer_port(const struct writer *d, uint32_t p);
const char *writer_print(const struct writer *d, inst i);

/* ---- writeout_experiments.c ---- */

/* Writes an experiment for the model as it is written out. */
void writer_experiment(struct writer *d, const ast_experiment *x);
/* Counts in `lets` the values that an experiment gives. */
void writer_count_lets(struct writer *d, const char *experiment);
/* Does an experiment observe this output of a component, given by its full name? */
bool writer_observes(const struct writer *d, const char *name);

#endif
