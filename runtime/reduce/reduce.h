/* reduce.h - makes a smaller model with nearly the same behaviour, as edits of the source text
 *
 * Elements are ranked by a metric. The smallest leading set of elements, without sources, that reaches the threshold
 * stays. The others are taken out with their bonds and with everything that is then dangling or unread (bonds: what is
 * negligible at its junctions is dropped or made one-way, bonds.h). A part that a remaining part reads stays. After
 * every round the graph is compared with the expected one, and the text is compiled and simulated; where that fails,
 * the most important of the parts taken out is put back until it works. One round ranks the model as given (papers 000
 * and 003); with more rounds the reduced model is ranked again.
 *
 * units    SI
 */
#ifndef BG_REDUCE_H
#define BG_REDUCE_H

#include "compile.h"
#include "metrics.h"
#include "rewrite.h"
#include "track.h"

/* Unit of the performance index for outputs without `within`: 1 % of their mean size. */
#define SHARE_WITHOUT_TOLERANCE 0.01

typedef struct reduce_options {
    const char *experiment;
    const struct elaborate_override *set;
    size_t nset;
    enum metric metric;
    size_t rounds;   /* greatest number of rounds; 0: one */
    bool components; /* rank whole components instead of their elements; only for activity and rms */
    const char *const *only;
    size_t nonly; /* try only these elements, whatever the threshold; 0: the threshold decides */
    /* 0 .. 1: the share that stays; for METRIC_JUNCTION and METRIC_RELATIVE the ratio below which a bond is
     * negligible */
    double threshold;
    /* Fills the run's options beyond the experiment's: tolerances, method, progress. */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
} reduce_options;

typedef struct reduce_operation {
    enum rewrite_kind kind;
    const char *name;
    int line, round;
    const char *why;
} reduce_operation; /* why: may be NULL */
typedef struct reduce_kept {
    const char *name;
    const char *why;
    int line, round;
} reduce_kept;
/* A trial of the error-bounded search: candidates taken out together. worst: the greatest error over its tolerance; NAN
 * if nothing ran. */
typedef struct reduce_trial {
    const char *names;
    int round;
    size_t n;
    bool accepted;
    double worst;
    const char *why;
} reduce_trial;
typedef struct reduce_error {
    const char *experiment;
    const char *output, *unit; /* unit in which values are shown, or NULL */
    double shown;              /* one shown unit in SI */
    double max, rms;           /* of the difference over the run */
    double avasim; /* performance index: 1 exact, 0 at the tolerance on average, negative outside; NAN: no tolerance */
    double within; /* NAN: not stated */
} reduce_error;

/* Where a `stop when` ended the runs of an experiment, the given model's first: errors refer to the time that both
 * cover. */
typedef struct reduce_end {
    const char *experiment;
    double at[2];
} reduce_end;

/* For reductions by eigenvalues: the new line of an output (the old one times a factor, plus a multiple of an input),
 * and the errors of the step response to that input and of the frequency response. before: with only the static gains
 * corrected. */
typedef struct reduce_line {
    const char *output, *input;
    double factor, direct;
    double end; /* of the full model's step */
    double step, response, step_before, response_before;
} reduce_line;

typedef struct reduction {
    arena *arena;
    char *text;
    size_t length;     /* the reduced source */
    VEC(edits) rounds; /* each refers to the text of the round before */
    VEC(reduce_operation) operation;
    VEC(reduce_kept) kept;
    VEC(reduce_trial) trial;
    VEC(reduce_error) error; /* after the last round, compared with the model as given */
    VEC(reduce_end) end;
    VEC(reduce_line) line;
    size_t states_before, states_after, elements_before, elements_after;
    uint64_t steps_before, steps_after, evaluations_before, evaluations_after; /* sums over all runs of a text */
    /* with a threshold: share of the given model's measure that the remaining elements have, without sources; NAN: does
     * not apply */
    double kept_share;
    const char *model;
    size_t simulations; /* number of simulations of the error-bounded search */
    /* number of sets of parts tried together, beyond the order of their errors (exchange.h) */
    size_t sets;
    VEC(const char *) not_tried; /* what could give a smaller model but was not tried */
} reduction;

/* Sets max, rms and performance index by the comparison of two runs; `within` is set already. */
void reduce_error_measure(reduce_error *e, track_difference t);
/* Adds the error of output y in an experiment, with copies of the names. within: NAN if none is stated. */
void reduction_note_error(reduction *r, const char *experiment, const flat_output *y, double within,
                          track_difference t);

enum reduce_result {
    REDUCE_DONE,
    REDUCE_FAILED,
    REDUCE_INTERNAL,
    REDUCE_NO_TOLERANCE
}; /* reduce_within: no output has a tolerance; *why */
/* c: the compiled model (STAGE_MODEL); its sources get the diagnostics. REDUCE_FAILED: see these. REDUCE_INTERNAL: see
 * *why (free() it). *out is filled; call reduction_free in any case. */
enum reduce_result reduce(compilation *c, const reduce_options *o, reduction *out, char **why);
void reduction_free(reduction *r);

/* ---- error-bounded: search for the smallest model whose observed outputs stay within their tolerances ----
 *
 * Candidates are elements (dropped, or clamped: the junction's common variable is zero) and, on request, bonds between
 * junctions and two-ports (dropped, or made one-way) and terms of sums (deleted, or replaced by their mean). With few
 * elements each is simulated alone, and the smallest error goes first; many elements are ordered by activity, terms by
 * predicted errors (term_candidates.h). Batches are taken out in that order: for terms as many as are predicted to fit,
 * otherwise twice as many after each success; half as many after each failure, so that a search costs about one
 * simulation for each candidate that stays. A round ends when each remaining candidate was refused alone, or without a
 * run where its predicted error is far too large. Rounds are repeated on the reduced text until nothing goes.
 *
 * Errors always compare with the model as given, so they do not add up over rounds, and they are the greatest over
 * whole trajectories (track.h). If the result were reduced again, its own errors would not count; the report says what
 * is left of each tolerance.
 */
/* Relative tolerance of the compared runs where the experiment has none. */
#define BOUNDED_RTOL 1e-8
enum within_kind { WITHIN_STATED, WITHIN_VALUE, WITHIN_SHARE };
typedef struct bounded_options {
    const char *const *experiment;
    size_t nexperiments; /* at least one, all of one model */
    const struct elaborate_override *set;
    size_t nset;
    /* A tolerance for observed outputs (all outputs where an experiment observes none): a value in SI for outputs of
     * the given unit (NULL: all), or a share of the output's greatest magnitude. It counts in place of what the
     * experiment states. */
    enum within_kind within;
    double tolerance;
    const char *unit;
    bool terms, bonds;      /* also try terms of sums; bonds between junctions and two-ports */
    bool components;        /* take out whole components instead of their elements */
    compile_shared *shared; /* of earlier and later compilations; NULL: the reduction has its own */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void (*failed)(void *ctx, const sources *s); /* called with the messages if the model as given does not run */
    void *ctx;
    size_t workers; /* number of trials that run in parallel; 0: one for each core. The result does not depend on it */
} bounded_options;
enum reduce_result reduce_within(const char *path, const char *text, size_t length, const bounded_options *o,
                                 reduction *out, char **why);
/* The place in the given text from which a place of the reduced text came. ctx: the reduction. */
size_t reduction_origin(void *ctx, size_t at);

/* Limit for the steps of a trial if the present text took `steps`: one that needs more has become stiff, or switches
 * continually. */
size_t reduction_steps(uint64_t steps);

/* Reports the lines that the edits of a round change and that none of its operations names; call before the round is
 * added. A part taken out of a component or loop changes the line with `without`, not its own. */
void reduction_name_edits(reduction *r, const sources *given, uint32_t file, const edits *e);

/* The text of an initial value that was removed from the model or an experiment, such as "q(0) = 1 [mm]" (s: sources of
 * the text before). NULL: the item is not an initial value. */
const char *reduction_said(arena *a, const sources *s, const rewrite_item *item);

#endif
