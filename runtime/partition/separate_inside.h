/* separate_inside.h - what separate.c and separate_experiments.c share */
#ifndef BG_SEPARATE_INSIDE_H
#define BG_SEPARATE_INSIDE_H

#include "edit.h"
#include "separate.h"
#include "textrefs.h"

enum { NO_PART = UINT32_MAX };
typedef VEC(span) spans;

/* What a part reads of another: a reference as the text has it. */
struct need {
    const char *text, *input;
    uint32_t owner;
    var_id var;
};

struct splitter {
    const recording *run;
    size_t nruns;
    compilation c;  /* the conditioned text, as elaborated */
    link_plan plan; /* nothing of it is conditioned any more */
    subgraphs s;
    uint32_t *sole, *last; /* [var] the partition that alone determines it; the last one that does */
    text_names names;
    text_refs refs;
    map value, part; /* interned name -> statement; -> partition of an element, junction or bond */
    map jumps;       /* interned name of a value that events set -> 1 */
    arena *a;
    parts *out;
};

struct one {
    struct splitter *d;
    uint32_t k;
    VEC(struct need) need;
    map of_text;            /* hash of a reference's text -> need */
    map walked;             /* interned names of values whose definitions were walked -> 1 */
    VEC(const char *) work; /* values to be walked */
    VEC(text_ref) replaced; /* references that become inputs */
    map replaced_at;        /* where they begin -> 1: a condition is met once for each target */
    edits e;
    const char *text;
};

static inline uint64_t
part_key(const char *name)
{
    return map_ptr_key(name);
}

/* ---- separate.c ---- */

/* The text there, in the arena. */
const char *part_source(const struct one *x, span at);
/* Does the part read this of another? */
bool part_needs(const struct one *x, const char *text);
/* The last partition that determines a value; 0: none does. */
uint32_t part_of_value(const struct splitter *d, const char *value);
/* The partition in whose text a recorded expression, an assertion or an observed output stands: the last that it
 * reads. */
uint32_t part_of_expr(const struct splitter *d, const ast_expr *e);
bool part_is_asked(const struct splitter *d, const ast_experiment *e);

/* ---- separate_experiments.c ---- */

/* The experiments of the part: its own items, what is recorded, the inputs. Statements to be deleted are added. */
void part_experiments(struct one *x, spans *lost);

#endif
