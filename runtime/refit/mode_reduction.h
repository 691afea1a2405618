/* mode_reduction.h - the part of a model that makes chosen eigenvalues (Orbak, Eskinat, Turkay 2004, 4.1)
 *
 * What no chosen eigenvalue feels goes: storage and dissipators whose relative effect on each is nothing beside the
 * greatest. So does what is then neither driven by an input nor seen by an output: the other subsystems. The gain at
 * rest that this changes is put right in the line of the output, on request with a part of the inputs that answers at
 * once (output_lines.h). Dissipators are told by their effects; by causal paths
 * (step 4 of the paper, taken literally) those count whose input comes from storage that stays alone, which keeps some
 * that no chosen eigenvalue feels: both are reported. Beside the result stands the H-infinity error of balanced
 * truncation to as many states, with its bound, and, where that is better, what the step would err with a part of the
 * input in the output's line.
 *
 * units    SI
 */
#ifndef BG_MODE_REDUCTION_H
#define BG_MODE_REDUCTION_H

#include "linearize.h"
#include "reduce.h"

/* The point that is reduced at: where the experiment begins, at rest if it says so. False: diagnostics. */
bool reduction_point(bg_model *m, double *t, double *x);

/* A plan's items and edits as a round of *r; file: of the text that it changes, in s. */
void record_reduction(reduction *r, const sources *s, uint32_t file, rewrite *plan);

typedef struct mode_choice {
    bool *keep;
    size_t n;
} mode_choice; /* [eigenvalue] */

/* "3,4" (numbers from 1, conjugates come along), "slowest 2", "strongest 2" (greatest |residue/Re| of any input to any
 * output, of the greatest there); or a band of frequencies in Hz. NULL, or what is wrong (free it). */
char *choose_modes(const linearization *l, const char *list, mode_choice *out);
char *choose_band(const linearization *l, const char *band, mode_choice *out);

/* Reduces the text. keep: what is read and stays for it adds the eigenvalues that it affects most. direct: outputs may
 * get a part of the inputs. notes: lines for people, added. Errors in *r are those of unit steps. False: *why (free
 * it); *r is filled, reduction_free it in any case. */
bool reduce_to_modes(const char *path, const char *text, size_t length, const compile_options *o,
                     const linearization *l, mode_choice *keep, bool direct, reduction *r, strbuf *notes, char **why);

#endif
