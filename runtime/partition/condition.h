/* condition.h - the conditioned text: links cut as edits of the source, compiled and run before it counts
 *
 * All links of the plan at once; where the result does not compile or run, in halves, and a link that fails alone
 * stays, with the reason. What something reads stays too. The graph of the new text is checked against what the edits
 * must make of the old one.
 */
#ifndef BG_CONDITION_H
#define BG_CONDITION_H

#include "plan.h"

/* of: compiled with its causality (STAGE_CAUSALITY) from the text of the recordings. The fates of links that stay after
 * all are changed, with the reason, in the arena. *text: free it; NULL where nothing is conditioned. at_once: all of
 * them or none; then no fate changes because of a run. False: an internal error, *why (free it). */
bool condition_text(const compilation *of, const recording *run, size_t nruns, link_plan *p, bool at_once, arena *a,
                    char **text, size_t *length, char **why);

/* Why a text made from that of the recordings does not compile or run, in the arena; NULL: it does. What needs very
 * many steps has failed. */
const char *text_fails(const recording *run, size_t nruns, const char *text, size_t length, arena *a);

/* ---- what a change of the text costs ---- */
typedef struct run_error {
    const char *experiment, *name, *unit; /* of an output or a state; unit as shown, or NULL */
    bool state, asked; /* asked: an output that is observed, any where none is, or what is recorded */
    double shown;      /* what one of it is in SI */
    double max, rms;   /* of the difference over the run */
    double size;       /* root mean square of the trajectory as given */
    bool stopped;      /* a `stop when` ended one of the runs: compared is what both have */
    double end[2];     /* s: where they ended, as given first */
} run_error;
typedef VEC(run_error) run_errors;
/* Runs that several texts are compared with. NULL: one failed, which `failed` was told. runs_free. */
typedef struct kept_runs kept_runs;
kept_runs *runs_keep(const recording *r, size_t n, void (*failed)(void *ctx, const sources *s), void *ctx);
void runs_free(kept_runs *k);
/* As compare_runs, with these as the first. */
bool runs_compare(const kept_runs *before, const recording *after, const char *(*renamed)(arena *a, const char *name),
                  arena *a, void (*failed)(void *ctx, const sources *s), void *ctx, run_errors *out);
/* Runs both and compares outputs and states of the same name (`renamed`: what a name of the first became in the second;
 * NULL: itself). False: a run failed, which `failed` was told. Names in the arena. */
bool compare_runs(const recording *before, const recording *after, size_t n,
                  const char *(*renamed)(arena *a, const char *name), arena *a,
                  void (*failed)(void *ctx, const sources *s), void *ctx, run_errors *out);

#endif
