/* writeout_inside.h - what the writeout*.c files share; nobody else includes it */
#ifndef BG_WRITEOUT_INSIDE_H
#define BG_WRITEOUT_INSIDE_H

#include "textrefs.h"
#include "writeout.h"

struct writer {
    const recording *run; /* the experiments that were asked for */
    size_t nruns;
    flat_model *f; /* of a compilation of our own, whose names of variables become those of the text */
    const ast_file *file;
    const char *text;
    arena *a;
    map pair_port;      /* full name of a port of a transformer field -> the first of that name */
    bool *by_input;     /* [var] a parameter that reads an input: a signal, where an experiment gives that a formula */
    text_names names;   /* before variables got the names of the text */
    const char **given; /* [var] their names then */
    uint32_t *lets;     /* [var] so many of the experiments asked for give it */
    strbuf *out;
};

/* ---- writeout.c ---- */

/* Variables get the names that the text gives them. f is set; writer_end in any case. */
void writer_begin(struct writer *d);
void writer_end(struct writer *d);
/* Names of the text, in the arena: of a part, a junction, a port; an expression. */
const char *writer_part(const struct writer *d, const char *full);
const char *writer_junction(const struct writer *d, uint32_t j);
const char *writer_port(const struct writer *d, uint32_t p);
const char *writer_print(const struct writer *d, inst i);

/* ---- writeout_experiments.c ---- */

/* An experiment of the model, for the model as it is written. */
void writer_experiment(struct writer *d, const ast_experiment *x);
/* Counts in lets what an experiment gives. */
void writer_count_lets(struct writer *d, const char *experiment);
/* Does an experiment of the model observe this output of a component, by its full name? */
bool writer_observes(const struct writer *d, const char *name);

#endif
