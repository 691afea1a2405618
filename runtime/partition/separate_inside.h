/* separate_inside.h - what the separate*.c files share; nobody else includes it */
#ifndef BG_SEPARATE_INSIDE_H
#define BG_SEPARATE_INSIDE_H

#include "edit.h"
#include "separate.h"
#include "textrefs.h"

typedef VEC(span) spans;

/* What a part reads of another: what the other records, by the name of the input here. owner NONE: nothing comes
 * of it, it is 0. held: the value of that text stays, and samples give the input to it. */
struct need {
    const char *text, *input;
    uint32_t owner;
    var_id var;
    bool held;
};
/* What a sample reads of another part, sampled there by a block in its place. */
struct sampled {
    const ast_stmt *block;
    const char *text, *name;
    uint32_t owner;
    var_id var;
};
/* A value of several parts as one block reads it. */
struct variant {
    const ast_stmt *block, *value;
    const char *name, *text;
};
/* A `when` that sets something behind the partition that first knows when its condition turns true. turned: what that
 * one records, 0 or 1, another at each turn; seen: what the others have seen of it. */
struct turn {
    const ast_stmt *block;
    uint32_t owner;
    const char *turned, *seen;
};
/* A `stop when` of experiments: the part that decides it, what that part records of it (0, then 1), and the input that
 * tells parts before it when. */
struct ending {
    const ast_expr *condition;
    uint32_t owner;
    const char *name, *time;
};
/* A reference that another name stands for. */
struct replaced {
    span at;
    const char *name;
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
    map value, part;         /* interned name -> statement; -> partition of an element, junction or bond */
    map jumps;               /* interned name of a value that events set -> 1 */
    map held;                /* of one that holds -> 1: samples alone set it, 0: others too */
    map over_time;           /* where references begin that are read over time: delay(x, T), der(x), integral(x) -> 1 */
    map made;                /* interned names made up -> 1 */
    VEC(const char *) input; /* of what parts read of others */
    map input_at;
    VEC(struct sampled) sampled;
    map sampled_at;
    VEC(struct ending) ending;
    map ending_at; /* where its condition begins */
    VEC(struct turn) turn;
    map turn_at;           /* where its block begins */
    const char *starts_at; /* an input: when the run begins */
    double *end;           /* [nruns] s: where the conditioned model ended */
    map asked;             /* name of an experiment that was asked for -> run */
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
    VEC(struct replaced) replaced;
    map replaced_at; /* where they begin -> 1: a condition is met once for each target */
    VEC(struct variant) variant;
    map variant_at;
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
/* The input that stands for a reference, met before; NULL: it is of this part. */
const char *part_input(const struct one *x, const ast_ref *r);
void part_add_need(struct one *x, struct need n);
/* Something here reads this: over definitions. */
void part_meet(struct one *x, const text_ref *t);
/* "vx.f" and "_sampled" -> "vx_f_sampled", or with a number behind it where that is taken. */
const char *part_new_name(struct splitter *d, const char *text, const char *tail);
/* " [m/s]", or nothing */
const char *part_unit(const struct splitter *d, var_id v);
const ast_stmt *part_statement(const struct splitter *d, const char *value);
/* The partition of what a reference names: of a part its own; of a value the one that alone determines it, or the last
 * that does where events set it, which are said there alone. NONE: none, or it has to be walked. */
uint32_t part_owner(const struct splitter *d, const ast_ref *r);
/* The last partition that determines a value; 0: none does. */
uint32_t part_of_value(const struct splitter *d, const char *value);
/* The partition in whose text a recorded expression, an assertion or an observed output stands: the last that it
 * reads. */
uint32_t part_of_expr(const struct splitter *d, const ast_expr *e);
/* Is the target of a jump set in this part? What depends on no partition is in each. */
bool part_sets(const struct one *x, const char *target);
/* Has it an initial value here? An integral over several partitions is made in each part that reads it. */
bool part_begins(const struct one *x, const char *target);
bool part_is_asked(const struct splitter *d, const ast_experiment *e);
/* Its number among the runs; MAP_NONE: it is not asked for. */
uint32_t part_run(const struct splitter *d, const ast_experiment *e);

/* ---- separate_samples.c ---- */
void samples_find(struct splitter *d);
/* Do samples alone set it, and does it hold between them? */
bool samples_hold(const struct splitter *d, const char *value);
/* Does a sample read it, or a jump that is told when? */
bool samples_read(const struct splitter *d, const text_ref *t);
void samples_meet(struct one *x, const text_ref *t);
void samples_meet_variants(struct one *x);
/* Values for samples, as statements. */
void samples_declare(const struct one *x, strbuf *out);
/* Jumps that sample in this part what the block reads in others. */
void samples_jumps(const struct one *x, const ast_stmt *block, strbuf *out);

/* ---- separate_turns.c ---- */
void turns_find(struct splitter *d);
/* NULL: each partition that the block sets something in finds out by itself. */
const struct turn *turns_of(const struct splitter *d, const ast_stmt *block);
/* Is this part told when? */
bool turns_told(const struct one *x, const ast_stmt *block);
/* Does the reference of a `when` stand in its condition? */
bool turns_decide(const text_ref *t);
/* What the part reads of others to tell when, added to read. */
void turns_meet(struct one *x, text_refs *read);
/* The part acts in this block: it needs to be told. */
void turns_listen(struct one *x, const ast_stmt *block);
void turns_declare(const struct one *x, strbuf *out);
/* The condition of the block in this part. */
const char *turns_condition(const struct one *x, const ast_stmt *block);
/* The jump by which this part tells others or remembers what it was told. */
void turns_note(const struct one *x, const ast_stmt *block, strbuf *out);
/* What an experiment gives a part that is told. */
void turns_start(const struct one *x, const ast_experiment *e, strbuf *out);

/* ---- separate_ends.c ---- */
void ends_find(struct splitter *d);
/* NULL: the item ends no run by what a part does. */
const struct ending *ends_of(const struct splitter *d, const ast_exp_item *item);
/* What the part reads of others to end: needs, or added to read. */
void ends_meet(struct one *x, text_refs *read);
void ends_declare(const struct one *x, strbuf *out);
/* What stands for the item in this part. */
const char *ends_item(const struct one *x, const struct ending *e);
/* Runs the conditioned model where its end must be known. */
bool ends_run(struct splitter *d, char **why);

/* ---- separate_experiments.c ---- */

/* The text of an expression, with inputs in the places of what they stand for. */
const char *part_with_inputs(const struct one *x, const ast_expr *e);

/* The experiments of the part: its own items, what is recorded, the inputs. Statements to be deleted are added. */
void part_experiments(struct one *x, spans *lost);

#endif
