/* sweep.h - how far a partitioning holds: ratios as curves over a parameter, and where they cross the threshold
 *
 * The model is looked at for each value as partition_find does, without texts: compiled once where the parameter is a
 * number of it, and several values side by side. What comes out does not depend on how many, nor on the order. A curve
 * is a link's ratio at an end that may be left out and that is inactive for one of the values at least; between two
 * values it is taken as straight.
 */
#ifndef BG_SWEEP_H
#define BG_SWEEP_H

#include "partition.h"

typedef struct sweep_curve {
    const char *name, *at;
    double *ratio;
    VEC(double) crossing;
} sweep_curve; /* ratio: [n] */
typedef struct sweep {
    arena *arena;
    const char *model, *parameter, *unit; /* unit as given, NULL: SI */
    double shown;                         /* what one of it is in SI */
    double limit;
    size_t n;
    double *value;                  /* [n] SI */
    size_t *subgraphs, *partitions; /* [n] how many */
    VEC(sweep_curve) curve;
} sweep;

/* "bumps=0:40:9" or "bumps=0:40:9[mm]": nine values, both ends included. False: *why (free it). */
bool sweep_parse(const char *text, sweep *out, char **why);
/* o: as for partition_find. out: parsed. sweep_free it in any case. */
enum partition_result sweep_run(const partition_options *o, sweep *out, char **why);
void sweep_text(const sweep *s, FILE *out);
void sweep_json(const sweep *s, FILE *out);
/* The curves, the threshold and the crossings as points on it; .svg, .png or .pdf. False: *why (free it). */
bool sweep_plot(const sweep *s, const char *path, char **why);
void sweep_free(sweep *s);

#endif
