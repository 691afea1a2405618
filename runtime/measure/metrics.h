/* metrics.h - importance of elements from their power over a run (METRICS.md has the definitions)
 *
 * activity            integral of |P| over the windows, J
 * rms                 square root of the mean of P^2 over them, W
 * kl, kl-normalised   importance by the Karhunen-Loeve expansion of the powers (kl.h), a share
 * reaper              the same for all connections: the powers of all bonds, those between junctions included
 * relative-energy     at the junctions of storage elements: which bonds matter to them (relative.h)
 * junction            each bond against the largest at its junction (junction.h)
 *
 * The first five give rankings: sources count in the total and are marked, unless left out. Two-ports and other
 * elements that conserve power do not appear, except the bonds of two-ports in reaper. Ranked are elements or, by
 * component, the instances that the model declares and its own elements; by reaper bonds.
 */
#ifndef BG_METRICS_H
#define BG_METRICS_H

#include "junction.h"
#include "relative.h"
#include "simulate.h"

enum metric {
    METRIC_ACTIVITY,
    METRIC_RMS,
    METRIC_KL,
    METRIC_KL_NORMALISED,
    METRIC_REAPER,
    METRIC_RELATIVE,
    METRIC_JUNCTION,
    METRIC_COUNT
};
#define METRIC(m) (1u << (m))
/* Up to this many rows the expansion is exact, from the integrals of all products of two powers; with more rows, or on
 * request, this many uniform samples are used. */
enum { KL_MOST_EXACT = 1500, KL_SAMPLES = 501 };

const char *metric_name(enum metric m);
const char *metric_unit(enum metric m); /* "1" for a pure number */
/* Is it a Karhunen-Loeve expansion? */
static inline bool
metric_expands(enum metric m)
{
    return m == METRIC_KL || m == METRIC_KL_NORMALISED || m == METRIC_REAPER;
}
/* False: there is no metric of that name. */
bool metric_find(const char *name, enum metric *m);
/* Do integrals alone suffice, so that the run needs no option but `activity`? */
static inline bool
metric_is_integral(enum metric m)
{
    return m == METRIC_ACTIVITY || m == METRIC_RMS;
}
static inline bool
metric_ranks(enum metric m)
{
    return m <= METRIC_REAPER;
}

/* ---- rankings ---- */
enum decision { DECISION_STAYS, DECISION_GOES, DECISION_KEPT, DECISION_SOURCE };

typedef struct metric_row {
    /* number in the flat model; for a component its first element; for a bond its index among bond values (model.h) */
    uint32_t element;
    const char *name, *type;
    bool source, keep;
    double value;           /* SI */
    double index;           /* share of the total */
    double cumulative;      /* share of this row and all above */
    enum decision decision; /* ranking_decide */
    size_t slot;            /* ranking_combine */
} metric_row;

typedef struct ranking {
    enum metric metric;
    double total;
    VEC(metric_row) row; /* in descending value; of equals, the first declared comes first */
    size_t nper;         /* for several experiments: their rows, NULL if one has none; per.at[row*nper + experiment] */
    VEC(const metric_row *) per;
} ranking;

/* Ranks elements, from a run that recorded activity; m: metric_is_integral. */
void ranking_make(const bg_model *of, const sim_result *r, enum metric m, ranking *out);
/* Among the rows that are not sources, the smallest leading set whose share reaches the threshold stays. What an
 * experiment keeps stays in any case. */
void ranking_decide(ranking *r, double threshold);
/* Combines several experiments: the value of a row is its greatest index over them. The rankings must outlive the
 * result. */
void ranking_combine(const ranking *one, size_t n, ranking *out);
void ranking_free(ranking *r);

/* ---- a run measured by any set of metrics ---- */
typedef struct measure_options {
    unsigned metrics; /* METRIC() bits */
    size_t samples;   /* samples for kl; 0: exact, unless there are too many rows */
    bool components, without_sources;
} measure_options;
typedef struct measure measure;

/* Adds what the metrics need to the options of the run; free it after the run. NULL: an error, with a diagnostic. */
measure *measure_new(bg_model *m, const measure_options *o, sim_options *run);
void measure_free(measure *q);
/* Call after the run. False: the expansion did not converge. */
bool measure_ranking(measure *q, const sim_result *r, enum metric m, ranking *out);
/* Number of samples used for the expansion of a metric; 0: it is exact */
size_t measure_samples(const measure *q, enum metric m);
const relative *measure_relative(measure *q); /* METRIC_RELATIVE; belongs to q */
void measure_junction(const measure *q, const sim_result *r, junction_table *out);

#endif
