/* samples.h - when `every` takes its samples, and the numbers it draws
 *
 * Samples are taken at offset + k*period, k whole (not negative where the text says an offset), from the run's start to
 * its end, both included. A number drawn depends on its seed and on k alone.
 *
 * units    s
 */
#ifndef BG_SAMPLES_H
#define BG_SAMPLES_H

#include "model.h"

typedef struct samples samples;

/* NULL where the text takes no samples. */
samples *samples_new(bg_model *m, double start, double stop);
void samples_free(samples *s);
/* Do periods, offsets and seeds make sense? False: said. */
bool samples_check(const samples *s, sources *to);

/* The next sample, INFINITY: there is none. */
double samples_next(const samples *s);
/* Takes what is due until t: sets what it draws in modes. False: nothing was due. */
bool samples_take(samples *s, double t, double *modes);
/* Was a sample of this `when` among those taken last? And was it its first? */
bool samples_taken(const samples *s, size_t when);
bool samples_first(const samples *s, size_t when);
/* Samples taken in all. */
size_t samples_count(const samples *s);

/* "x = 1.2, T = 3" of what condition `when` reads, by the numbers of all variables. */
void samples_values(const bg_model *m, size_t when, const double *value, strbuf *out);

#endif
