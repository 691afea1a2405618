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
/* WRITTEN_APART: what one experiment gives the model makes for another; no text says both. */
enum writing { WRITTEN, WRITTEN_APART, WRITTEN_NOT };
/* run: of one model, without overrides; that of the first is written, with its sizes. *text: free it, or *why. */
enum writing written_out(const recording *run, size_t nruns, arena *a, char **text, size_t *length, char **why);

#endif
