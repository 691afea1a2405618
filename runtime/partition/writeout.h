/* writeout.h - writes out components, loops, arrays and conditional parts: each part stands once in the model's own
 * text
 *
 * This allows a change of one part that the original text makes together with others. Full names become plain ones:
 * `front.spring[2]` becomes front_spring_2. Values are in SI. Experiments are kept, with names changed in the same way.
 * Comments and layout are lost, and functions are substituted where they were called.
 */
#ifndef BG_WRITEOUT_H
#define BG_WRITEOUT_H

#include "predict.h"

/* "front.spring[2].q" -> "front_spring_2.q"; in the arena. */
const char *written_name(arena *a, const char *full);
/* Does each part already stand once in the model's text? */
bool is_written_out(const compilation *c);
/* WRITTEN_APART: experiments give sizes that make different models, so that no single text serves all. */
enum writing { WRITTEN, WRITTEN_APART, WRITTEN_NOT };
/* run: recordings of one model, without overrides; the model is written with the sizes of the first. *text: free() it,
 * or *why. */
enum writing written_out(const recording *run, size_t nruns, arena *a, char **text, size_t *length, char **why);

#endif
