/* compile.h - the passes in their order, from text to compiled model
 *
 * verifiers  the result of a pass is checked against its rules before the next pass reads it, in debug and sanitizer
 *            builds (BGC_VERIFY) or if the environment has BGC_VERIFY, as it has in tests
 * ownership  a compilation owns all it points to; compile_free releases it. Zero it before the first call.
 */
#ifndef BG_COMPILE_H
#define BG_COMPILE_H

#include "causality.h"
#include "compiled.h"
#include "elaborate.h"
#include "equations.h"

/* Shared by successive compilations: unit tables, machine code. It must outlive them; one thread at a time. */
typedef struct compile_shared {
    unit_system *units;
    struct code_store *code;
    bool lent; /* the units belong to another */
} compile_shared;
/* units: those of an earlier compilation, which outlives it; NULL: they are read. */
compile_shared *compile_shared_new(unit_system *units);
void compile_shared_free(compile_shared *s); /* NULL is fine */

typedef struct compilation {
    sources *sources;
    names *names;
    arena *arena;
    unit_system *units;
    pool *pool;
    uint32_t file; /* number of the compiled file among the sources */
    ast_file *ast;
    flat_model *flat;
    causal *causal;
    struct equations *equations;
    bg_model *model;
    elaborate_index index;     /* declarations of the file; filled by the file's first compilation */
    elaborate_index *declared; /* the index in use */
    bool shared_units;         /* the units belong to compile_shared */
    bool lent;                 /* names, units and tree belong to another compilation: compile_another */
    bool unreadable;           /* the file could not be read: errno tells why */
    /* a model with ports, compiled alone: its equations depend on what is connected to it, so that compilation ends at
     * the graph */
    bool component;
} compilation;

typedef struct compile_options {
    const char *experiment; /* NULL: none */
    bool bare;              /* use only the model of the experiment and the sizes that it gives */
    const char *model;      /* the model, if there is no experiment; NULL: the first that is no component */
    const struct elaborate_override *set;
    size_t nset;
    bool long_run; /* optimise all code */
    const span *weigh;
    size_t nweigh; /* operands to weight (elaborate.h) */
    const struct elaborate_taken *taken;
    const span *unstated;
    size_t ntaken, nunstated;     /* parts taken out, initial values not stated (elaborate.h) */
    bool expect;                  /* make what the experiment expects (elaborate.h) */
    bool removable;               /* an instance can do without an element: model_take_out */
    bool names_apart;             /* parts need not be found by their names (elaborate.h) */
    bool open, ports;             /* inputs and sources can be moved; ports are outputs too (elaborate.h) */
    const compile_shared *shared; /* NULL: nothing */
} compile_options;

enum compile_stage { STAGE_PARSE, STAGE_GRAPH, STAGE_CAUSALITY, STAGE_EQUATIONS, STAGE_MODEL };

/* Compiles a file up to and including the named stage. False after errors, which are in sources. o may be NULL. */
bool compile_path(compilation *c, const char *path, enum compile_stage upto, const compile_options *o);
/* Continues a compilation that was stopped after parsing. */
bool compile_go_on(compilation *c, enum compile_stage upto, const compile_options *o);
bool compile_text(compilation *c, const char *path, const char *text, size_t n, enum compile_stage upto,
                  const compile_options *o);
/* Compiles another model or experiment of the file of `of`, which has an elaborated model, without parsing the text
 * again. c is empty, gets messages of its own, and is freed before `of`. */
bool compile_another(compilation *c, const compilation *of, enum compile_stage upto, const compile_options *o);
/* Keeps the model, with units and texts for messages, and frees what it was made from: tree, graph, strokes, equations,
 * templates (model_close). False with a diagnostic: nothing has changed. */
bool compile_close(compilation *c);
void compile_free(compilation *c);

/* The k-th pass whose result can be printed: its name for `--dump`, and its stage. NULL after the last. */
const char *compile_dumped(size_t k, enum compile_stage *stage);
/* Prints it. c must have reached that stage. */
void compile_dump(const compilation *c, const char *name, FILE *out);

#endif
