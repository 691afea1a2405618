/* separate_inside.h - declarations shared by the files separate*.c; no other file includes it */
#ifndef BG_SEPARATE_INSIDE_H
#define BG_SEPARATE_INSIDE_H

#include "edit.h"
#include "separate.h"
#include "textrefs.h"

typedef VEC(span) spans;

/* A value that a part reads from another part: the expression that the other records, and the name of the input here.
 * owner NONE: no part can provide it, it is 0. held: the declaration in the text stays, and samples set it from the
 * input. */
struct need {
    const char *text, *input;
    uint32_t owner;
    var_id var;
    bool held;
};
/* A value of another part that a sampled block reads; that part samples it by a block at the same place of its text. */
struct sampled {
    const ast_stmt *block;
    const char *text, *name;
    uint32_t owner;
    var_id var;
};
/* A value that depends on several parts, as one block reads it. */
struct variant {
    const ast_stmt *block, *value;
    const char *name, *text;
};
/* A `when` that also sets something in partitions after the one that first knows when its condition turns true. turned:
 * a value which that partition records and flips between 0 and 1 at each event; seen: the last value of it that the
 * other partitions have acted on. */
struct turn {
    const ast_stmt *block;
    uint32_t owner;
    const char *turned, *seen;
};
/* A `stop when` of experiments: the part that decides it, the expression that this part records (0, then 1), and the
 * input that tells earlier parts when. */
struct ending {
    const ast_expr *condition;
    uint32_t owner;
    const char *name, *time;
};
/* A reference that is replaced by another name. */
struct replaced {
    span at;
    const char *name;
};

struct splitter {
    const recording *run;
    size_t nruns;
    compilation c;  /* the conditioned text, as elaborated */
    link_plan plan; /* with no link conditioned any more */
    subgraphs s;
    uint32_t *sole, *last; /* [var] the partition that alone determines it; the last one that contributes to it */
    text_names names;
    text_refs refs;
    map value, part; /* interned name -> statement; -> partition of an element, junction or bond */
    map jumps;       /* interned name of a value that events set -> 1 */
    /* of a value that is held between samples -> 1: set by samples alone, 0: by other events too */
    map held;
    /* start of each reference that is read over time, as in delay(x, T), der(x), integral(x) -> 1 */
    map over_time;
    map made;                /* interned names that were invented -> 1 */
    VEC(const char *) input; /* names of the inputs for what parts read of others */
    map input_at;
    VEC(struct sampled) sampled;
    map sampled_at;
    VEC(struct ending) ending;
    map ending_at; /* where its condition begins in the text */
    VEC(struct turn) turn;
    map turn_at;           /* where its block begins in the text */
    const char *starts_at; /* name of an input: the time at which the run starts */
    double *end;           /* [nruns] s: where the run of the conditioned model ended */
    map asked;             /* name of an experiment that was asked for -> its run */
    arena *a;
    parts *out;
};

struct one {
    struct splitter *d;
    uint32_t k;
    VEC(struct need) need;
    map of_text;            /* hash of a reference's text -> need */
    map walked;             /* interned names of values whose definitions were walked -> 1 */
    VEC(const char *) work; /* values whose definitions are still to be walked */
    VEC(struct replaced) replaced;
    map replaced_at; /* start of each replaced reference -> 1: a condition is met once for each target */
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

/* The text of a span, in the arena. */
const char *part_source(const struct one *x, span at);
/* Does the part read this expression from another part? */
bool part_needs(const struct one *x, const char *text);
/* The input that stands for a reference already met; NULL: it belongs to this part. */
const char *part_input(const struct one *x, const ast_ref *r);
void part_add_need(struct one *x, struct need n);
/* Notes that something in this part reads t, directly or through definitions. */
void part_meet(struct one *x, const text_ref *t);
/* Makes a name: "vx.f" and "_sampled" give "vx_f_sampled", with a number appended where that is taken. */
const char *part_new_name(struct splitter *d, const char *text, const char *tail);
/* The unit as " [m/s]", or nothing. */
const char *part_unit(const struct splitter *d, var_id v);
const ast_stmt *part_statement(const struct splitter *d, const char *value);
/* The partition that owns what a reference names. Of a part: its own. Of a value: the one that alone determines it;
 * where events set it, the last one that contributes, since only that one declares it. NONE: there is none, or the
 * definition has to be walked. */
uint32_t part_owner(const struct splitter *d, const ast_ref *r);
/* The last partition that contributes to a value; 0 where none does. */
uint32_t part_of_value(const struct splitter *d, const char *value);
/* The partition whose text gets a recorded expression, an assertion or an observed output: the last one that it
 * reads. */
uint32_t part_of_expr(const struct splitter *d, const ast_expr *e);
/* Is the target of a jump set in this part? A target that depends on no partition is set in each. */
bool part_sets(const struct one *x, const char *target);
/* Does it have an initial value here? An integral over several partitions is computed in each part that reads it. */
bool part_begins(const struct one *x, const char *target);
bool part_is_asked(const struct splitter *d, const ast_experiment *e);
/* Number of the experiment among the runs; MAP_NONE: it was not asked for. */
uint32_t part_run(const struct splitter *d, const ast_experiment *e);

/* ---- separate_samples.c ---- */
void samples_find(struct splitter *d);
/* Is the value set by samples alone and held between them? */
bool samples_hold(const struct splitter *d, const char *value);
/* Is the reference read by a sample, or by a jump whose time another part tells? */
bool samples_read(const struct splitter *d, const text_ref *t);
void samples_meet(struct one *x, const text_ref *t);
void samples_meet_variants(struct one *x);
/* Declares the values for samples, as statements. */
void samples_declare(const struct one *x, strbuf *out);
/* Writes the jumps that sample, in this part, what the block reads in others. */
void samples_jumps(const struct one *x, const ast_stmt *block, strbuf *out);

/* ---- separate_turns.c ---- */
void turns_find(struct splitter *d);
/* NULL: each partition in which the block sets something finds the event by itself. */
const struct turn *turns_of(const struct splitter *d, const ast_stmt *block);
/* Is this part told by another one when the block acts? */
bool turns_told(const struct one *x, const ast_stmt *block);
/* Does the reference of a `when` stand in its condition? */
bool turns_decide(const text_ref *t);
/* Adds to `read` what the part reads of others to decide the condition. */
void turns_meet(struct one *x, text_refs *read);
/* The part acts in this block and has to be told when. */
void turns_listen(struct one *x, const ast_stmt *block);
void turns_declare(const struct one *x, strbuf *out);
/* The condition of the block as it stands in this part. */
const char *turns_condition(const struct one *x, const ast_stmt *block);
/* Writes the jump by which this part tells the others, or remembers what it was told. */
void turns_note(const struct one *x, const ast_stmt *block, strbuf *out);
/* What an experiment sets in a part that is told by others. */
void turns_start(const struct one *x, const ast_experiment *e, strbuf *out);

/* ---- separate_ends.c ---- */
void ends_find(struct splitter *d);
/* NULL: the item does not end a run by a condition on the parts' variables. */
const struct ending *ends_of(const struct splitter *d, const ast_exp_item *item);
/* Adds what the part needs of others for a `stop when`, to its needs or to `read`. */
void ends_meet(struct one *x, text_refs *read);
void ends_declare(const struct one *x, strbuf *out);
/* What replaces the item in this part. */
const char *ends_item(const struct one *x, const struct ending *e);
/* Runs the conditioned model where the time of its end must be known. */
bool ends_run(struct splitter *d, char **why);

/* ---- separate_experiments.c ---- */

/* The text of an expression, with references to other parts replaced by inputs. */
const char *part_with_inputs(const struct one *x, const ast_expr *e);

/* Writes the experiments of the part: its own items, recordings and inputs. Adds the statements to delete to `lost`. */
void part_experiments(struct one *x, spans *lost);

#endif
