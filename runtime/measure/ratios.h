/* ratios.h - tables of bonds in the model's names: relative energy and junction activity, of one experiment or several
 *
 * Of several experiments each number is the greatest over them.
 */
#ifndef BG_RATIOS_H
#define BG_RATIOS_H

#include "metrics.h"

/* relative energy: of, type: the element that stores; from: its junction; to: the neighbour.
 * junction: of: the bond; type: NULL; from, to: its ends. */
enum { RATIO_ENERGY, RATIO_NEIGHBOUR, RATIO_9, RATIO_10 }; /* values of a row of relative energy: J, J, 1, 1 */
enum { RATIO_ACTIVITY, RATIO_FROM, RATIO_TO };             /* of a row of junction: J, 1, 1 */
enum { RATIO_VALUES = 4 };
typedef struct ratio_row {
    const char *of, *type, *from, *to;
    bool named;                 /* `of` is what the text calls the bond, not its ends */
    bool bond;                  /* junction: between two junctions; relative energy: the neighbour is one */
    double value[RATIO_VALUES]; /* NAN: there is none */
    size_t order;               /* as declared */
} ratio_row;

typedef struct ratio_table {
    enum metric metric;
    double total;       /* energies of the elements, or activities of the bonds, J */
    VEC(ratio_row) row; /* falling energy or activity */
    size_t nper;        /* of several: as in ranking */
    VEC(const ratio_row *) per;
    arena *arena;
} ratio_table;

void ratios_relative(const model_graph *g, const relative *r, ratio_table *out);
void ratios_junction(const model_graph *g, const junction_table *t, ratio_table *out);
/* The tables and what their names belong to must outlive the result. */
void ratios_combine(const ratio_table *one, size_t n, ratio_table *out);
void ratios_free(ratio_table *t);
/* All ratios of the row are below the limit. */
bool ratio_negligible(const ratio_table *t, const ratio_row *r, double limit);

#endif
