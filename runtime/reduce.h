/* reduce.h - a smaller model that behaves alike, as edits of the source text
 *
 * Elements are ranked by a metric; the smallest leading set of those that are not sources that reaches the threshold stays, the rest go
 * with their bonds, and so does what they leave dangling or unread. What a survivor reads stays. Every round is checked against the graph it must
 * give, compiled and simulated; where that fails, the most important of what went is put back until it works. Rounds are repeated on the
 * reduced text until one changes nothing: reducing the result again gives the same bytes.
 *
 * units    SI
 */
#ifndef BG_REDUCE_H
#define BG_REDUCE_H

#include "../compiler/compile.h"
#include "metrics.h"
#include "rewrite.h"

enum { REDUCE_POINTS = 5001 };       /* of the grid on which trajectories are compared */

typedef struct reduce_options {
    const char *experiment;
    const struct elaborate_override *set; size_t nset;
    enum metric metric;
    double threshold;                /* 0 .. 1 */
    /* Fills the run's options beyond the experiment's: tolerances, method, progress. */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o); void *ctx;
} reduce_options;

typedef struct reduce_operation { enum rewrite_kind kind; const char *name; int line, round; } reduce_operation;
typedef struct reduce_kept { const char *name; const char *why; int line, round; } reduce_kept;
typedef struct reduce_error {
    const char *output, *unit;       /* unit as shown, or NULL */
    double shown;                    /* what one of it is in SI */
    double max, rms;                 /* of the difference over the run */
    double avasim;                   /* performance index: 1 exact, 0 at the tolerance on average, below 0 outside; NAN: no tolerance to compare with */
    double within;                   /* NAN: not given */
} reduce_error;

typedef struct reduction {
    arena *arena;
    char *text; size_t length;       /* the reduced source */
    VEC(edits) rounds;               /* each on the text before it */
    VEC(reduce_operation) operation;
    VEC(reduce_kept) kept;
    VEC(reduce_error) error;         /* after the last round, against the model as given */
    size_t states_before, states_after, elements_before, elements_after;
    double cpu_before, cpu_after;
    const char *model;
} reduction;

enum reduce_result { REDUCE_DONE, REDUCE_FAILED, REDUCE_INTERNAL };
/* c: the compiled model (STAGE_MODEL), whose sources get the diagnostics. REDUCE_FAILED: they say why. REDUCE_INTERNAL: *why (free it).
 * *out is filled; reduction_free it in any case. */
enum reduce_result reduce(compilation *c, const reduce_options *o, reduction *out, char **why);
void reduction_free(reduction *r);
/* Place in the given text that a place of the reduced text came from. ctx: the reduction. */
size_t reduction_origin(void *ctx, size_t at);

/* Difference of two trajectories of n points with the given strides. */
struct trajectory_error { double max, rms, mean, reference; };       /* mean of |difference|, of |a| */
struct trajectory_error trajectory_compare(const double *a, size_t stride_a, const double *b, size_t stride_b, size_t n);

#endif
