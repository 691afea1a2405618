/* crossing_inside.h - what the crossing*.c files share; nobody else includes it */
#ifndef BG_CROSSING_INSIDE_H
#define BG_CROSSING_INSIDE_H

#include "crossing.h"

/* Steps of central differences by parameters and states, relative to their size. */
#define MOVE 1e-5
/* A state that is zero is moved by this share of its rate times the length of the run. */
#define RUN_SHARE 1e-3

struct crossings {
    bg_model *m;
    const var_id *by;
    size_t n, nx, nmodes, nwhens, nreinits, lost;
    double length;
    VEC(firing) fired;
    uint32_t *sets;      /* [nmodes] modes that one net of ideal switches reads are of one set (joined.h) */
    size_t *cause;       /* [nmodes] by the first mode of each set: the condition that determines its time */
    double *away, *size; /* [nmodes] of these: distance in time from its border; sizes of conditions */
    double *scale, *moved, *g[2], *reinit[2], *kick[2], *given, *ahead;
};

double *crossing_copy(const double *x, size_t n);
void set_crossing_modes(crossings *w, const double *modes);

#endif
