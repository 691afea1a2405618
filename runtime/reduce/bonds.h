/* bonds.h - possible changes of bonds between junctions and of two-ports, as edits of the text
 *
 * Rideout and Stein: a bond that is negligible at one of its ends does not need the balance at that end. Its action on
 * the other end is kept as a modulated source of the junction's common variable (effort of a 0-junction, flow of a
 * 1-junction); a bond that is negligible at both ends is dropped. Between `0:a -> 1:b` the sources are `MSe:a_on_b =
 * a.e -> b` or `a -> MSf:b_on_a = b.f`. Of a two-port one bond is dropped and the two-port becomes the source: `a ->
 * TF:t = n -> b` becomes `MSe:t = a.e/n -> b`. The bond that determines the common variable of a junction (the strong
 * one) is not negligible there: it may only be dropped as a whole.
 *
 * Only bonds that the model's text writes once are considered: not those in components, loops, arrays and conditional
 * parts.
 */
#ifndef BG_BONDS_H
#define BG_BONDS_H

#include "compile.h"
#include "metrics.h"
#include "predict.h"
#include "readings.h"

enum bond_way {
    BOND_DROP,
    BOND_FORWARD,
    BOND_BACKWARD,
    BOND_WAYS
}; /* forward: negligible at its tail, so that it acts only in the direction of the arrow */
typedef struct bond_candidate {
    const char *name; /* label of a bond; name of a two-port or element, interned */
    span at;
    uint32_t bond, element; /* in the flat model; one of the two is NONE */
    const char *from, *to;  /* its junctions; NULL: none */
    /* ratio at its tail and its head (of a two-port: at its bonds); NAN: there is none. An element has only the
     * first */
    double ratio[2];
    bool negligible[2]; /* there */
    bool may[BOND_WAYS];
    rewrite_bond change[BOND_WAYS]; /* unused for a two-port or element that is dropped: those are dropped by name */
} bond_candidate;
typedef VEC(bond_candidate) bond_candidates;

/* Importance of each bond and port, the greatest over several runs. METRIC_JUNCTION: activity over the greatest
 * activity at the junction. METRIC_RELATIVE: the greater of ratio9 and ratio10 to the storage elements at the junction;
 * from and to are equal. METRIC_ACTIVITY: the activity itself; ports that are one bond with others have the sum.
 * METRIC_REAPER: the share of the activity of the bond and of all less important ones, without sources; from and to are
 * equal. NAN: there is nothing to compare with. */
typedef struct bond_measure {
    enum metric metric;
    double limit;      /* smaller values are negligible */
    double *from, *to; /* [nbond] */
    double *port;      /* [nport] */
} bond_measure;

/* c: compiled (STAGE_CAUSALITY at least). m: of the same model; NULL: nothing is negligible. Elements with one port are
 * listed too. In the order of declaration; texts are in the arena. */
void bonds_find(const compilation *c, const bond_measure *m, arena *a, bond_candidates *out);
/* Runs the recordings and measures. False: they do not run. Call bond_measure_free in any case. */
bool bonds_measure(const flat_model *f, const recording *r, size_t n, enum metric metric, double limit,
                   bond_measure *out);
void bond_measure_free(bond_measure *m);

/* Readings by the metric. Junction activity and reaper: a bond negligible at both ends is dropped, or made one-way
 * where dropping fails. Junction activity: one negligible at one end is made one-way. Relative energy: dropped. Returns
 * the number of readings; 0: the bond stays. why: in the arena. */
int bonds_readings(const bond_candidate *x, enum metric metric, arena *a, struct reading out[READINGS_MOST]);
/* All readings of a bond or two-port that are possible, for a search. */
int bonds_all_readings(const bond_candidate *x, arena *a, struct reading out[READINGS_MOST]);
/* Sorts by the smaller ratio, ascending; stable. */
void bonds_sort(bond_candidates *list);

#endif
