/* influence.h - which elements still influence outputs when others are taken out
 *
 * What is taken out may cut a model in two: springs and dampers between bodies, say. Elements behind the cut have no
 * effect on outputs before it, whatever part_errors.h predicts for each of them alone. Partial derivatives that are
 * not zero, in the model with the factors of what was taken out set to zero, tell how far each output reaches.
 *
 * They are looked at in some points of a run: a derivative that happens to be zero in all of them misleads. So this
 * decides nothing; it selects the trials that are worth running ahead (foretell.h).
 */
#ifndef BG_INFLUENCE_H
#define BG_INFLUENCE_H

#include "sensitivity.h"

typedef struct influence influence;
/* m: compiled with removable elements; must outlive it. run: with states and modes. NULL: it cannot be told. */
influence *influence_new(bg_model *m, const held_output *held, size_t nheld, const sim_result *run);
void influence_free(influence *x); /* NULL is fine */
/* The element is dropped, or its junction rests. */
void influence_take_out(influence *x, size_t element, bool rests);
/* Would taking it out too, in this way, have an effect on one of the outputs? */
bool influence_of(influence *x, size_t element, bool rests);

#endif
