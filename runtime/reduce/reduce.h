/* reduce.h - a smaller model that behaves alike, as edits of the source text
 *
 * Elements are ranked by a metric; the smallest leading set of those that are not sources that reaches the threshold
 * stays, the rest go (or, by bonds, what is negligible at its junctions goes or acts one way: bonds.h) with their
 * bonds, and so does what they leave dangling or unread. What a survivor reads stays. Every round is checked against
 * the graph it must give, compiled and simulated; where that fails, the most important of what went is put back until
 * it works. One round speaks of the model as given (papers 000 and 003); with more, the next ones rank what is left
 * anew.
 *
 * units    SI
 */
#ifndef BG_REDUCE_H
#define BG_REDUCE_H

#include "compile.h"
#include "metrics.h"
#include "rewrite.h"

#define SHARE_WITHOUT_TOLERANCE 0.01 /* performance index of outputs without `within`: 1 % of their mean size */

typedef struct reduce_options {
    const char *experiment;
    const struct elaborate_override *set;
    size_t nset;
    enum metric metric;
    size_t rounds;   /* at most; 0: one */
    bool components; /* whole components take the place of their elements; of activity and rms */
    const char *const *only;
    size_t nonly;     /* only these elements are tried, whatever the threshold; none: the threshold decides */
    double threshold; /* 0 .. 1: the share that stays; for METRIC_JUNCTION and METRIC_RELATIVE the ratio below which a
                         bond is negligible */
    /* Fills the run's options beyond the experiment's: tolerances, method, progress. */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
} reduce_options;

typedef struct reduce_operation {
    enum rewrite_kind kind;
    const char *name;
    int line, round;
    const char *why;
} reduce_operation; /* why: or NULL */
typedef struct reduce_kept {
    const char *name;
    const char *why;
    int line, round;
} reduce_kept;
/* A trial of the error-bounded search: candidates taken out together. worst: the greatest error over its tolerance;
 * NAN if nothing ran. */
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
    const char *output, *unit; /* unit as shown, or NULL */
    double shown;              /* what one of it is in SI */
    double max, rms;           /* of the difference over the run */
    double avasim; /* performance index: 1 exact, 0 at the tolerance on average, below 0 outside; NAN: no tolerance to
                      compare with */
    double within; /* NAN: not given */
} reduce_error;

/* Where a `stop when` ended the runs of an experiment, the given model's first: errors are of the time that both
 * cover. */
typedef struct reduce_end {
    const char *experiment;
    double at[2];
} reduce_end;

/* For reductions by eigenvalues: the new line of an output (a factor on the old one, and a part of an input added),
 * and the errors of steps of that input and of the frequency response; before: with only the gains at rest corrected.
 */
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
    VEC(edits) rounds; /* each on the text before it */
    VEC(reduce_operation) operation;
    VEC(reduce_kept) kept;
    VEC(reduce_trial) trial;
    VEC(reduce_error) error; /* after the last round, against the model as given */
    VEC(reduce_end) end;
    VEC(reduce_line) line;
    size_t states_before, states_after, elements_before, elements_after;
    uint64_t steps_before, steps_after, evaluations_before, evaluations_after; /* of all runs of a text */
    double kept_share; /* by a threshold: the share of the given model's measure that the remaining elements have,
                          without sources; NAN: does not apply */
    const char *model;
    size_t simulations;          /* that the error-bounded search took */
    size_t sets;                 /* sets of parts tried together, beyond the order of their errors (exchange.h) */
    VEC(const char *) not_tried; /* what could give a smaller model and was not looked at */
} reduction;

enum reduce_result {
    REDUCE_DONE,
    REDUCE_FAILED,
    REDUCE_INTERNAL,
    REDUCE_NO_TOLERANCE
}; /* reduce_within: what was asked for holds no output; *why */
/* c: the compiled model (STAGE_MODEL); its sources get the diagnostics. REDUCE_FAILED: see these. REDUCE_INTERNAL: see
 * *why (free it). *out is filled; call reduction_free in any case. */
enum reduce_result reduce(compilation *c, const reduce_options *o, reduction *out, char **why);
void reduction_free(reduction *r);

/* ---- error-bounded: the smallest model that a search finds whose observed outputs stay within their tolerances ----
 *
 * Candidates are elements (dropped, or clamped: the junction's common variable rests) and, on request, bonds between
 * junctions and two-ports (dropped, or made one-way) and terms of sums (deleted, or replaced by their mean). While
 * there are few elements, each is simulated alone and the smallest error goes first; many are taken by activity, terms
 * by predicted errors (term_candidates.h). From that order batches are taken out: of terms what is predicted to fit,
 * else twice as large after each success; half as large after each failure, so that a search costs about one simulation
 * for each candidate that stays. An order's end is reached when each candidate was refused alone, or without a run
 * where its predicted error leaves no hope; rounds are repeated on the reduced text until nothing goes.
 *
 * Errors are always against the model as given, so they do not add up over rounds, and the greatest of whole
 * trajectories (track.h). What the result used up of a tolerance would be free again if the result were reduced again:
 * the report says what is left. */
/* Relative tolerance of the runs that are compared, if the experiment has none. */
#define BOUNDED_RTOL 1e-8
enum within_kind { WITHIN_STATED, WITHIN_VALUE, WITHIN_SHARE };
typedef struct bounded_options {
    const char *const *experiment;
    size_t nexperiments; /* at least one, all of one model */
    const struct elaborate_override *set;
    size_t nset;
    /* A tolerance for observed outputs (all outputs where an experiment observes none): a value in SI of outputs of the
     * unit (NULL: all), or a share of the output's greatest magnitude. A smaller one that the experiment states counts.
     */
    enum within_kind within;
    double tolerance;
    const char *unit;
    bool terms, bonds; /* look at terms of sums, at bonds between junctions and two-ports too */
    bool components;   /* whole components take the place of their elements */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void (*failed)(void *ctx, const sources *s); /* the model as given does not run: its messages */
    void *ctx;
    size_t workers; /* number of trials that run in parallel; 0: one a core. The result does not depend on it */
} bounded_options;
enum reduce_result reduce_within(const char *path, const char *text, size_t length, const bounded_options *o,
                                 reduction *out, char **why);
/* The place in the given text from which a place of the reduced text came. ctx: the reduction. */
size_t reduction_origin(void *ctx, size_t at);

/* How many steps a trial may take if the present text took `steps`: one that needs more has become stiff, or switches
 * all the time. */
size_t reduction_steps(uint64_t steps);

/* Reports the lines that the edits of a round change and that none of its operations names; call before the round is
 * added. A part taken out of a component or loop changes the line with `without`, not its own. */
void reduction_name_edits(reduction *r, const sources *given, uint32_t file, const edits *e);

/* The text of an initial value that was removed, "q(0) = 1 [mm]", from the model or an experiment (s: of the text
 * before). NULL: the item is not an initial value. */
const char *reduction_said(arena *a, const sources *s, const rewrite_item *item);

#endif
