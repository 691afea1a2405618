/* output_lines.h - corrects the expressions of outputs after a reduction, so that static gains are those of the full
 * model
 *
 * Each output is multiplied by one factor that corrects its gain from the first input with a static gain (Orbak,
 * Eskinat, Turkay 2004, 4.1). With `direct` a multiple of every input is added as well, which stands for the removed
 * fast modes (static correction): for an output y = a c + sum d_u u all static gains are right for any a with d_u =
 * G_u(0) - a c_u(0). The chosen a minimizes the greatest error of the step responses to all inputs, each relative to
 * its own greatest value; that error is convex in a. Nothing is added where it does not help, where an output has no
 * finite static gain, or where step responses of the full model do not settle.
 *
 * units    SI; times in s
 */
#ifndef BG_OUTPUT_LINES_H
#define BG_OUTPUT_LINES_H

#include "edit.h"
#include "linearize.h"
#include "reduce.h"

/* Sampling of step responses and frequency responses for errors. */
enum { STEP_POINTS = 2001, FREQUENCY_POINTS = 200, FREQUENCY_DECADES = 4 };
/* Time between points of a step response, which covers 12 of the slowest time constant; 0: no step response settles.
 * *slow: 1 over that time constant. */
double step_interval(const linearization *full, double *slow);

/* The number in `there` of input i of `here`; NO_INDEX: it has no such input. */
size_t same_input(const linearization *there, const linearization *here, size_t i);

typedef struct output_line {
    const char *output;
    double factor;  /* factor on the expression as it was */
    double *direct; /* [nu] multiples of the full model's inputs, SI; 0: none */
    bool direct_any;
} output_line;
typedef struct output_lines {
    VEC(output_line) line; /* [ny] */
} output_lines;
void output_lines_free(output_lines *l);

/* c: the text that `small` is the model of. Fills l and the edits; notes: lines for people are appended. */
void output_lines_correct(const compilation *c, const linearization *full, const linearization *small, bool direct,
                          output_lines *l, edits *e, strbuf *notes);
/* The small model with corrected static gains only. state_space_free it. */
state_space output_lines_gains_only(const linearization *full, const linearization *small);

#endif
