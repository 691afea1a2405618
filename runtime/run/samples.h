/* samples.h - the times at which `every` samples, and the random numbers that it draws
 *
 * Samples are taken at offset + k*period with integer k (not negative if the text gives an offset), from the run's
 * start to its end, both included. A random number depends on its seed and on k alone.
 *
 * units    s
 */
#ifndef BG_SAMPLES_H
#define BG_SAMPLES_H

#include "model.h"

typedef struct samples samples;

/* NULL if the text has no samples. */
samples *samples_new(bg_model *m, double start, double stop);
void samples_free(samples *s);
/* Checks periods, offsets and seeds, and that no more samples are due than a run may take steps (most): each ends a
 * step. A run that a condition may stop earlier is let go. False: an error was reported. */
bool samples_check(const samples *s, size_t most, sources *to);

/* The time of the next sample; INFINITY: there is none. */
double samples_next(const samples *s);
/* Takes the samples due until t: sets the numbers that they draw in modes. False: none was due. */
bool samples_take(samples *s, double t, double *modes);
/* Was a sample of this `when` among those taken last? Was it its first? */
bool samples_taken(const samples *s, size_t when);
bool samples_first(const samples *s, size_t when);
/* Number of samples taken. */
size_t samples_count(const samples *s);

/* "x = 1.2, T = 3" for what condition `when` reads, from the values of all variables. */
void samples_values(const bg_model *m, size_t when, const double *value, strbuf *out);

#endif
