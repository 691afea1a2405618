/* condition.h - the conditioned text: the links of a plan cut as edits of the source, then compiled and run
 *
 * All links of the plan are cut at once. If the resulting text does not compile or run, the links are tried in halves;
 * a link that fails alone is kept, and the reason is recorded in its fate. A link whose variables something else reads
 * is kept too. The graph of the new text is compared with the graph that the edits should have made of the old one.
 */
#ifndef BG_CONDITION_H
#define BG_CONDITION_H

#include "plan.h"

/* Makes the conditioned text.
 *
 * of       compiled with its causality (STAGE_CAUSALITY) from the text of the recordings
 * p        the fates of links that have to stay are changed; the reasons are in the arena
 * at_once  cut all links or none; then no fate changes because of a run
 * *text    free() it; NULL where nothing is conditioned
 * returns  false on an internal error: *why (free() it)
 */
bool condition_text(const compilation *of, const recording *run, size_t nruns, link_plan *p, bool at_once, arena *a,
                    char **text, size_t *length, char **why);

/* Why a text made from that of the recordings does not compile or run (in the arena); NULL if it does. A text whose run
 * needs very many steps counts as failed. */
const char *text_fails(const recording *run, size_t nruns, const char *text, size_t length, arena *a);

/* ---- what a change of the text costs ---- */
typedef struct run_error {
    const char *experiment, *name, *unit; /* name of an output or state; the unit it is shown in, or NULL */
    /* asked: an output that is observed (any output where none is observed), or a recorded quantity */
    bool state, asked;
    double shown;    /* one shown unit in SI */
    double max, rms; /* of the difference over the run, SI */
    double size;     /* root mean square of the trajectory of the model as given, SI */
    bool stopped;    /* a `stop when` ended one of the runs; only the time that both cover is compared */
    double end[2];   /* s: where the runs ended, the model as given first */
} run_error;
typedef VEC(run_error) run_errors;
/* Runs of one text, kept so that several other texts can be compared with them. NULL where a run failed; `failed` was
 * then called. Release with runs_free. */
typedef struct kept_runs kept_runs;
kept_runs *runs_keep(const recording *r, size_t n, void (*failed)(void *ctx, const sources *s), void *ctx);
void runs_free(kept_runs *k);
/* Like compare_runs, with the kept runs as the first of the two. */
bool runs_compare(const kept_runs *before, const recording *after, const char *(*renamed)(arena *a, const char *name),
                  arena *a, void (*failed)(void *ctx, const sources *s), void *ctx, run_errors *out);
/* Runs both texts and compares outputs and states of the same name. renamed: what a name of the first text is called in
 * the second; NULL: the same. Names are in the arena. False: a run failed, and `failed` was called. */
bool compare_runs(const recording *before, const recording *after, size_t n,
                  const char *(*renamed)(arena *a, const char *name), arena *a,
                  void (*failed)(void *ctx, const sources *s), void *ctx, run_errors *out);

#endif
