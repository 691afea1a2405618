/* output_lines.h - what a reduction does to the lines of outputs, so that gains at rest are those of the full model
 *
 * Each line is multiplied by one factor: its gain from the first input that has one at rest is right then (Orbak,
 * Eskinat, Turkay 2004, 4.1). With `direct` a part of every input is added too, which answers at once as stiff modes
 * that went do (their static correction): of an output y = a c + sum d_u u all gains at rest are right for any a with
 * d_u = G_u(0) - a c_u(0), and a is the one for which the steps of all inputs err least, each relative to the greatest
 * value of its own; their greatest error is convex in a. Nothing is added where that does not help, where an output has
 * no finite gain at rest, or where the full model has no steps that settle.
 *
 * units    SI; times in s
 */
#ifndef BG_OUTPUT_LINES_H
#define BG_OUTPUT_LINES_H

#include "edit.h"
#include "linearize.h"
#include "reduce.h"

/* For which steps and frequencies errors are looked at. */
enum { STEP_POINTS = 2001, FREQUENCY_POINTS = 200, FREQUENCY_DECADES = 4 };
/* Time between points of a step, 12 of the slowest time constant in all; 0: no step settles. *slow: 1 over it. */
double step_interval(const linearization *full, double *slow);

/* The number there of what the other linear model has as its input i; NO_INDEX: it has no such input. */
size_t same_input(const linearization *there, const linearization *here, size_t i);

typedef struct output_line {
    const char *output;
    double factor;  /* of the line as it was */
    double *direct; /* [nu] of the full model's inputs, SI; 0: none */
    bool direct_any;
} output_line;
typedef struct output_lines {
    VEC(output_line) line; /* [ny] */
} output_lines;
void output_lines_free(output_lines *l);

/* c: the text that small is of. Fills l and the edits; notes: lines for people. */
void output_lines_correct(const compilation *c, const linearization *full, const linearization *small, bool direct,
                          output_lines *l, edits *e, strbuf *notes);
/* The small model with only the factors that gains at rest ask for. state_space_free it. */
state_space output_lines_gains_only(const linearization *full, const linearization *small);

#endif
