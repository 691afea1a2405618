/* frozen.h - replaces modulating signals by constants, as edits of the text
 *
 * A signal is frozen for certain readers; other readers go on reading it. In a reader's law the signal's name is
 * replaced by the number. Where the law reads it through another signal, the definition of that signal is first
 * substituted for its name.
 *
 * needs    a text in which each part is written once (no loops, no components)
 */
#ifndef BG_FROZEN_H
#define BG_FROZEN_H

#include "predict.h"
#include "subgraphs.h"

/* One request: --freeze NAME[@READER][=VALUE [UNIT]]. */
typedef struct freeze {
    /* reader NULL: the readers through which the signal closes a loop, or all readers where it closes none */
    const char *name, *reader;
    bool mean;    /* no value was given: use the mean over the windows */
    double value; /* SI */
} freeze;

/* Parses "tire_r.e=-45000", "theta@grav_x=2[deg]" or "N". Names are in the arena. False: *why (free() it). */
bool freeze_parse(const char *text, arena *a, freeze *out, char **why);
/* Mean of a variable over the windows of all runs, in SI; NAN where a run fails. */
double freeze_mean(const recording *run, size_t nruns, const char *name);

/* One replacement: the name of the frozen variable, and its reader. */
typedef struct frozen {
    const char *name, *reader;
    double value;
} frozen;
/* c: compilation of the text (STAGE_GRAPH). *text: free() it. False: *why (free() it). */
bool freeze_text(const compilation *c, const frozen *list, size_t n, char **text, size_t *length, char **why);

#endif
