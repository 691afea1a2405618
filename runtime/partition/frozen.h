/* frozen.h - modulating signals replaced by constants, as edits of the text
 *
 * A signal is frozen where certain readers read it, others go on reading it. In a reader's law its name becomes the
 * number; a signal through which it is read is put into the law in the place of its own name first.
 *
 * needs    a text that says each part once
 */
#ifndef BG_FROZEN_H
#define BG_FROZEN_H

#include "predict.h"
#include "subgraphs.h"

/* What is asked for: --freeze NAME[@READER][=VALUE [UNIT]]. */
typedef struct freeze {
    const char *name, *reader; /* reader NULL: where it closes a loop, or everywhere where it closes none */
    bool mean;                 /* no value: its mean over the windows */
    double value;              /* SI */
} freeze;

/* "tire_r.e=-45000", "theta@grav_x=2[deg]", "N". False: *why (free it). Names in the arena. */
bool freeze_parse(const char *text, arena *a, freeze *out, char **why);
/* The mean of a variable over the windows of all runs, in SI; NAN where a run fails. */
double freeze_mean(const recording *run, size_t nruns, const char *name);

/* One place: the variable that is frozen, by name, and its reader. */
typedef struct frozen {
    const char *name, *reader;
    double value;
} frozen;
/* c: of the text (STAGE_GRAPH). *text: free it. False: *why (free it). */
bool freeze_text(const compilation *c, const frozen *list, size_t n, char **text, size_t *length, char **why);

#endif
