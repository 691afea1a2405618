/* sweep.h - how a partitioning depends on a parameter: ratios as curves, and where they cross the threshold
 *
 * The model is partitioned for each value like in partition_find, without texts. It is compiled once where the
 * parameter can be set on an instance, and several values are computed in parallel; the result does not depend on how
 * many, nor on the order. There is a curve for each end of a link that may be left out and is inactive for at least one
 * value; between two values it is taken as straight.
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
    const char *model, *parameter, *unit; /* unit as given; NULL: SI */
    double shown;                         /* one shown unit in SI */
    double limit;
    size_t n;
    double *value;                  /* [n] SI */
    size_t *subgraphs, *partitions; /* [n] how many */
    VEC(sweep_curve) curve;
} sweep;

/* Parses "bumps=0:40:9" or "bumps=0:40:9[mm]": nine values, both ends included. False: *why (free() it). */
bool sweep_parse(const char *text, sweep *out, char **why);
/* o: as for partition_find. out: from sweep_parse. Call sweep_free in any case. */
enum partition_result sweep_run(const partition_options *o, sweep *out, char **why);
void sweep_text(const sweep *s, FILE *out);
void sweep_json(const sweep *s, FILE *out);
/* Plots the curves and the threshold, with a point at each crossing; .svg, .png or .pdf. False: *why (free() it). */
bool sweep_plot(const sweep *s, const char *path, char **why);
void sweep_free(sweep *s);

#endif
