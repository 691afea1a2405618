/* writeout.h - a model with its components, loops, arrays and conditional parts written out: each part once, in the
 * model's own text
 *
 * For changes of one part that the text makes with others. Full names become plain ones, `front.spring[2]`
 * front_spring_2; values are in SI; experiments are kept, with their names changed likewise. Comments and layout of the
 * model are lost, functions are put in where they were called.
 */
#ifndef BG_WRITEOUT_H
#define BG_WRITEOUT_H

#include "predict.h"

/* "front.spring[2].q" -> "front_spring_2.q"; in the arena. */
const char *written_name(arena *a, const char *full);
/* Does the text of the model say each part once already? */
bool is_written_out(const compilation *c);
/* run: without overrides. *text: free it. False: *why (free it) says what cannot be written out. */
bool written_out(const recording *run, arena *a, char **text, size_t *length, char **why);

#endif
