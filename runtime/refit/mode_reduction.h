/* mode_reduction.h - reduces a model to the part that determines chosen eigenvalues (Orbak, Eskinat, Turkay 2004, 4.1)
 *
 * Storage elements and dissipators are removed if their relative effect on every chosen eigenvalue is negligible
 * compared with the greatest. So are subsystems that are then not driven by any input or not seen by any output. This
 * changes the static gain, which is corrected in the expression of the output, on request with a direct feedthrough of
 * the inputs (output_lines.h). Dissipators are chosen by their effects. Step 4 of the paper, taken literally, chooses
 * them by causal paths instead (their input comes from remaining storage only), which keeps some without effect on any
 * chosen eigenvalue: both choices are reported. For comparison the report has the H-infinity error of balanced
 * truncation to as many states, with its bound, and the step error with a direct feedthrough where that is smaller.
 *
 * units    SI
 */
#ifndef BG_MODE_REDUCTION_H
#define BG_MODE_REDUCTION_H

#include "linearize.h"
#include "reduce.h"

/* The operating point of the reduction: the start of the experiment, at equilibrium if it says so. False:
 * diagnostics. */
bool reduction_point(bg_model *m, double *t, double *x);

/* Adds a plan's items and edits as a round of *r; file: number of the text that it changes, in s. */
void record_reduction(reduction *r, const sources *s, uint32_t file, rewrite *plan);

typedef struct mode_choice {
    bool *keep;
    size_t n;
} mode_choice; /* [eigenvalue] */

/* Parses "3,4" (numbers from 1; conjugates are included), "slowest 2", "strongest 2" (greatest |residue/Re| from any
 * input to any output, relative to the greatest there), or a band of frequencies in Hz. NULL, or an error message
 * (free() it). */
char *choose_modes(const linearization *l, const char *list, mode_choice *out);
char *choose_band(const linearization *l, const char *band, mode_choice *out);

/* Reduces the text. keep: an element that has to stay because something reads it adds the eigenvalues that it affects
 * most. direct: outputs may get a feedthrough of the inputs. notes: lines for people are appended. Errors in *r are
 * those of unit steps. False: *why (free() it). *r is filled; call reduction_free in any case. */
bool reduce_to_modes(const char *path, const char *text, size_t length, const compile_options *o,
                     const linearization *l, mode_choice *keep, bool direct, reduction *r, strbuf *notes, char **why);

#endif
