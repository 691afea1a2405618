/* ratios.h - tables of bonds in the model's names: relative energy and junction activity, of one or several experiments
 *
 * With several experiments each number is the greatest over them.
 */
#ifndef BG_RATIOS_H
#define BG_RATIOS_H

#include "metrics.h"

/* relative energy: of, type: the storage element; from: its junction; to: the neighbour. junction: of: the bond; type:
 * NULL; from, to: its ends. */
enum { RATIO_ENERGY, RATIO_NEIGHBOUR, RATIO_9, RATIO_10 }; /* values of a row of relative energy: J, J, 1, 1 */
enum { RATIO_ACTIVITY, RATIO_FROM, RATIO_TO };             /* values of a row of junction: J, 1, 1 */
enum { RATIO_VALUES = 4 };
typedef struct ratio_row {
    const char *of, *type, *from, *to;
    bool named;                 /* `of` is the label of the bond in the text, not made of its ends */
    bool bond;                  /* junction: it joins two junctions; relative energy: the neighbour is a bond */
    double value[RATIO_VALUES]; /* NAN: there is none */
    size_t order;               /* as declared */
} ratio_row;

typedef struct ratio_table {
    enum metric metric;
    double total;       /* energies of the elements, or activities of the bonds, J */
    VEC(ratio_row) row; /* in descending energy or activity */
    size_t nper;        /* with several experiments: as in ranking */
    VEC(const ratio_row *) per;
    arena *arena;
} ratio_table;

void ratios_relative(const model_graph *g, const relative *r, ratio_table *out);
void ratios_junction(const model_graph *g, const junction_table *t, ratio_table *out);
/* The tables and what their names belong to must outlive the result. */
void ratios_combine(const ratio_table *one, size_t n, ratio_table *out);
void ratios_free(ratio_table *t);
/* Are all ratios of the row below the limit? */
bool ratio_negligible(const ratio_table *t, const ratio_row *r, double limit);

#endif
