/* frequency.h - activity by frequency: which elements matter at which of the frequencies that drive a run
 *
 * Inputs, and sources that vary by themselves, are decomposed over the run into harmonics of 1/length. For each
 * harmonic alone the linear model at the start gives the steady state: complex efforts E and flows F of all ports, and
 * with them an element's power, the sum of Re(E F*)/2 + Re(E F exp(2i w t))/2 over its ports. The mean of its magnitude
 * times the length of the run is the element's activity at that frequency: for each second of the run R abs(F)^2/2
 * of a resistor, and abs(E F)/pi of a storage element (Louca 2016 has both for a quarter car).
 *
 * Only the motion about the operating point counts. The harmonics are treated separately, so that their activities add
 * up to that of a run only where they hardly overlap in time, as in a chirp.
 *
 * units    SI; frequencies in Hz
 */
#ifndef BG_FREQUENCY_H
#define BG_FREQUENCY_H

#include "linearize.h"
#include "simulate.h"

enum { FREQUENCY_SAMPLES = 16384 };

/* Bands are octaves, starting at 1/length; bands at either end with less than a millionth of the total are left out. */
typedef struct frequency_table {
    size_t nelements, nbands;
    double *from, *to; /* [nbands] Hz */
    double *activity;  /* [nelements][nbands] J */
    char *why;         /* why there is none: a sentence */
} frequency_table;

/* m: compiled with open inputs and with ports (elaborate.h). l: linearized at the start of the run. r: its outputs at
 * FREQUENCY_SAMPLES + 1 points. False: see out->why. Call frequency_table_free in any case. */
bool frequency_table_make(bg_model *m, const linearization *l, const sim_result *r, frequency_table *out);
void frequency_table_free(frequency_table *t);

#endif
