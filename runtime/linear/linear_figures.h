/* linear_figures.h - figures of linear models: frequency and step responses, eigenvalues, effects
 *
 * Effects are relative to the parameter: |parameter * d(eigenvalue)/d(parameter)|.
 *
 * errors   false: *why (free() it), and the file is unchanged
 */
#ifndef BG_LINEAR_FIGURES_H
#define BG_LINEAR_FIGURES_H

#include "linearize.h"

/* Systems with the inputs and outputs of l, drawn dashed over it. */
typedef struct overlay {
    const char *name;
    state_space space;
} overlay;
typedef VEC(overlay) overlays;
void overlays_free(overlays *o);

/* The pairs to draw: ntransfer pairs of input and output; 0: all. */
typedef struct figure_choice {
    size_t ntransfer;
    const size_t (*transfer)[2];
    const overlays *over;
} figure_choice;

bool draw_bode(const linearization *l, const figure_choice *c, const char *path, char **why);
bool draw_steps(const linearization *l, const figure_choice *c, const char *path, char **why);
bool draw_poles(const linearization *l, const char *path, char **why);
bool draw_effects(const linearization *l, const char *path, char **why);

#endif
