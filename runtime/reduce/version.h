/* version.h - a text compiled and run in every experiment, and the same text with a plan's edits applied: the unit of
 * work of every reduction
 *
 * ownership  a version owns its runs, its compilations unless they are lent, and `own`; texts of messages are in the
 *            arena
 */
#ifndef BG_VERSION_H
#define BG_VERSION_H

#include <pthread.h>

#include "columns.h"
#include "compile.h"
#include "rewrite.h"
#include "rewrite_initial.h"
#include "simulate.h"
#include "track.h"

typedef VEC(struct elaborate_override) overrides;

struct version {
    const char *text;
    size_t length;
    char *own;             /* the text, unless it belongs to the caller */
    bool lent;             /* the compilation is the caller's: run_version does not compile */
    compilation *c;        /* one for each experiment, like the following */
    const compilation *of; /* NULL, or compilations of one text: this version is that text with parts taken out, without
                              writing or parsing it again */
    const struct elaborate_taken *taken;
    const span *unstated;
    size_t ntaken, nunstated; /* parts, and initial values */
    sim_result *run;
    track *outputs; /* as the trier asks for */
    double rtol;    /* the largest tolerance of the runs */
};

/* How texts are tried: the same for all versions of one reduction. */
struct trier {
    const char *path;
    const char *const *experiment; /* NULL: the model has no experiment */
    size_t n;
    const compile_shared *shared; /* shared by all trials; NULL: nothing */
    /* Held by the thread that plans, writes or compiles a text, since names and units are common to all of them; not
     * during runs. NULL: there is one thread. */
    pthread_mutex_t *texts;
    arena *arena; /* of messages */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx; /* the user's */
    /* Whether the compiled text is worth a run: returns NULL, or why not. NULL: every text is. */
    const char *(*worth)(void *of, const compilation *c);
    /* so: run options of the experiment and the user; which outputs are recorded, and limits. */
    void (*prepare)(void *of, struct version *v, size_t experiment, sim_options *so);
    /* A better reason for an early end of a run than its diagnostics give; returns NULL if it has none. NULL: the
     * diagnostics are used. */
    const char *(*why)(void *of, const struct version *v, size_t experiment);
    void *of;
};

void trier_lock(const struct trier *r); /* r->texts, if it is there */
void trier_unlock(const struct trier *r);
/* Compiles and runs the text of v. Returns NULL, or why that fails; *at: in which experiment. */
const char *version_run(const struct trier *r, struct version *v, const overrides *set, size_t *at);
void version_free(const struct trier *r, struct version *v);
/* Where the runs of an experiment ended. False: both ran to the experiment's stop. */
bool version_ends(const struct version *a, const struct version *b, size_t experiment, double end[2]);

struct trial {
    rewrite plan;
    struct version v;
    overrides set;       /* overrides whose parameters still exist */
    const char *failure; /* NULL: it runs, or there was nothing to do */
    size_t at;           /* the experiment that failed */
    char *internal;
};

/* Applies the edits of t->plan, which is filled, to `now`: gives the text of t->v, and t->set. False: there are none.
 */
bool trial_write(const struct version *now, const overrides *set, struct trial *t);
/* Runs that text, and writes it first if that was not done. *initial: initial values that contradict each other at the
 * start are added to it; true: there were some, and a plan without them may succeed. */
bool trial_run(const struct trier *r, const struct version *now, const overrides *set, rewrite_changes *initial,
               struct trial *t);
/* Writes that text and compiles it only. */
void trial_compile(const struct trier *r, const struct version *now, const overrides *set, struct trial *t);
/* Checks that the graph of what was run is the present one after the plan's operations; else sets t->internal. */
bool trial_check(const struct trier *r, const struct version *now, const overrides *set, struct trial *t);
void trial_free(const struct trier *r, struct trial *t);

/* ---- the same for what runs by other means ---- */

/* Checks that the text `after` has the graph of `before` after the plan's operations. NULL, or the difference (free
 * it). */
char *reduction_check(const char *path, const char *before, size_t nbefore, const compile_options *of_before,
                      const rewrite *plan, const char *after, size_t nafter, const compile_options *of_after);
/* Copies those entries of `set` whose parameters the plan leaves to out (at most n). Returns how many. */
size_t reduction_remaining(const struct elaborate_override *set, size_t n, const rewrite *plan,
                           struct elaborate_override *out);
struct reduction;
/* Notes in the report where the runs of experiment k ended, if a `stop when` ended one of them. */
void reduction_note_end(struct reduction *r, const char *experiment, const struct version *a, const struct version *b,
                        size_t k);

#endif
