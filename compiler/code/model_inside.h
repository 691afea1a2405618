/* model_inside.h - declarations shared by the files model_*.c; no other file includes it */
#ifndef BG_MODEL_INSIDE_H
#define BG_MODEL_INSIDE_H

#include "bounds.h"
#include "evaluate.h"
#include "initial.h"
#include "maker.h"
#include "net.h"
#include "project.h"
#include "storage.h"

/* An instance of an image: everything that a run writes. One thread at a time. */
struct bg_model {
    image *image;
    maker *maker;
    bool owner; /* owner of both: the first instance, to be freed last */
    evaluator *evaluator[PART_COUNT];
    double *scratch[PART_COUNT]; /* outputs in the order of the classes */
    jacobian *jacobian;
    VEC(partials *) partials;
    partials *weighed; /* one of them, for flat.weight */
    projector *projector;
    nets *nets; /* NULL: no ideal switches */
    jacobian *net_partials;
    block_memory memory;
    parameter_store *parameters;
    double *value;          /* of parameters and literals, by variable */
    const bool *overridden; /* likewise: set from outside */
    VEC(uint32_t) still;    /* states of elements taken out, which do not change */
    double *modes;
    double *slope, *offset, *by;           /* of known modes */
    double *threshold, *quantity;          /* of modes with a threshold; [quantities] scratch */
    bounds *bounds, *bends;                /* of the clocks; of expressions of states that may vary strongly */
    double *ratio_room;                    /* work array for moduli */
    double *storage_number, *storage_room; /* work arrays for energies; NULL: none was needed yet */
    double *determinant;                   /* by block, at the last check of poles; NULL: no pole is a determinant */
    bool held;
    double held_at;   /* time is constant there, */
    bool *held_fixed; /* and these states may not jump: none */
    void (*give)(void *ctx, double t, double *modes);
    void *give_ctx;
    bool gives_not;
    bool chose; /* a solution was chosen since the last model_forget */
};

/* ---- model.c ---- */

/* A new instance. Takes over the parameters. */
bg_model *model_of(image *of, maker *k, parameter_store *parameters);

/* Tests the sum of 0 times each value, which is NAN if one of them is not finite. */
bool model_all_finite(const double *v, size_t n);

/* The time that equations read; updates the modes that depend on it. */
double model_time_of(const bg_model *m, double t);
int model_run_part(bg_model *m, enum model_part part, double t, const double *x, double *out);
int model_run_permuted(bg_model *m, enum model_part part, double t, const double *x, double *out);

/* ---- model_explain.c ---- */

void model_print_formula(const bg_model *m, const formula_book *b, formula f, strbuf *out);

#endif
