/* bonds.h - what may become of bonds between junctions and of two-ports, as changes of the text
 *
 * Rideout and Stein: a bond that is negligible at one of its ends does without that end's balance, and what that end
 * imposes goes on one way, by a modulated source of the junction's common variable (effort of a 0, flow of a 1) on the
 * other end; one that is negligible at both goes. Between `0:a -> 1:b` that is `MSe:a_on_b = a.e -> b` or `a ->
 * MSf:b_on_a = b.f`. Of a two-port one bond goes and the two-port becomes the source: `a -> TF:t = n -> b` is `MSe:t =
 * a.e/n -> b`. A bond that brings the common variable into its junction (is strong there) is not negligible there: it
 * only may go as a whole.
 *
 * Looked at are bonds that the model's text says once: not those of components, loops, arrays and conditional parts.
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
}; /* forward: negligible at its tail, so that it only acts along the arrow */
typedef struct bond_candidate {
    const char *name; /* of a bond its label; of a two-port or element, interned */
    span at;
    uint32_t bond, element; /* of the flat model, the other NONE */
    const char *from, *to;  /* the junctions; NULL: none */
    double ratio[2]; /* at its tail and its head (of a two-port: of its bonds); NAN: there is none. Of an element: the
                        first */
    bool negligible[2]; /* there */
    bool may[BOND_WAYS];
    rewrite_bond change[BOND_WAYS]; /* not of a two-port or element that is dropped: those go by name */
} bond_candidate;
typedef VEC(bond_candidate) bond_candidates;

/* How much each bond and port matters, the greatest over several runs. METRIC_JUNCTION: activity over the greatest at
 * the junction. METRIC_RELATIVE: the greater of ratio9 and ratio10 to what stores beside it; from and to are the same.
 * METRIC_ACTIVITY: the activity itself, of a port that is one bond with others theirs together. METRIC_REAPER: the
 * share of it and of all that matters less, sources left out; from and to are the same. NAN: nothing
 * to compare with. */
typedef struct bond_measure {
    enum metric metric;
    double limit;      /* below it is negligible */
    double *from, *to; /* [nbond] */
    double *port;      /* [nport] */
} bond_measure;

/* c: compiled (STAGE_CAUSALITY at least). m: of the same model, NULL: nothing is negligible. Elements with one port are
 * there too. In the order of declaration; texts in the arena. */
void bonds_find(const compilation *c, const bond_measure *m, arena *a, bond_candidates *out);
/* Runs the recordings and measures. False where they do not run. bond_measure_free it in any case. */
bool bonds_measure(const flat_model *f, const recording *r, size_t n, enum metric metric, double limit,
                   bond_measure *out);
void bond_measure_free(bond_measure *m);

/* By junction activity or reaper: negligible at both ends, it is dropped, else one-way, the rest where that fails; at
 * one end, by junction activity, one-way. By relative energy: dropped. Returns how many readings there are, 0: it
 * stays. why: in the arena. */
int bonds_readings(const bond_candidate *x, enum metric metric, arena *a, struct reading out[READINGS_MOST]);
/* What a search tries of a bond or two-port: all that it may. */
int bonds_all_readings(const bond_candidate *x, arena *a, struct reading out[READINGS_MOST]);
/* Rising by the least ratio; of equals, the first stays first. */
void bonds_sort(bond_candidates *list);

#endif
