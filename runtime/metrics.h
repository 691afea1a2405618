/* metrics.h - how much each element matters, from its power over a run
 *
 * activity  integral of |P| over the windows, J          (Louca's activity; index = share of the total)
 * rms       square root of the mean of P^2 over them, W
 *
 * Sources count in the total and are marked; two-ports and what else conserves power do not appear.
 */
#ifndef BG_METRICS_H
#define BG_METRICS_H

#include "simulate.h"

enum metric { METRIC_ACTIVITY, METRIC_RMS, METRIC_COUNT };

typedef struct metric_row {
    uint32_t element;            /* of the flat model */
    const char *name, *type;
    bool source;
    double value;                /* SI */
    double index;                /* share of the total */
    double cumulative;           /* of this and all above */
} metric_row;

typedef struct ranking {
    enum metric metric;
    double total;
    VEC(metric_row) row;         /* falling; of equals, the first declared leads */
} ranking;

const char *metric_name(enum metric m);
const char *metric_unit(enum metric m);
/* False if it is not a metric of this program. */
bool metric_find(const char *name, enum metric *m);

/* From a run that gathered activity. */
void ranking_make(const flat_model *f, const sim_result *r, enum metric m, ranking *out);
void ranking_free(ranking *r);

bool is_source(const flat_element *e);
bool is_two_port(const flat_element *e);

#endif
