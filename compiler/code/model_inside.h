/* model_inside.h - what the model_*.c files share; nobody else includes it */
#ifndef BG_MODEL_INSIDE_H
#define BG_MODEL_INSIDE_H

#include "bounds.h"
#include "evaluate.h"
#include "initial.h"
#include "maker.h"
#include "net.h"
#include "project.h"
#include "storage.h"

/* An instance of an image: what a run writes. One thread at a time. */
struct bg_model {
    image *image;
    maker *maker;
    bool owner; /* of these two: the first instance, the last to go */
    evaluator *evaluator[PART_COUNT];
    double *scratch[PART_COUNT]; /* outputs as the classes order them */
    jacobian *jacobian;
    VEC(partials *) partials;
    partials *weighed; /* one of them, by flat.weight */
    projector *projector;
    nets *nets; /* NULL: no ideal switches */
    jacobian *net_partials;
    block_memory memory;
    parameter_store *parameters;
    double *value;          /* theirs, of literals too, by variable */
    const bool *overridden; /* likewise: set from outside */
    VEC(uint32_t) still;    /* states of what was taken out: they stay as they are */
    double *modes;
    double *slope, *offset;                /* of known modes */
    bounds *bounds, *bends;                /* of the clocks; of what may bend within little of the states */
    double *ratio_room;                    /* scratch of moduli */
    double *storage_number, *storage_room; /* scratch of energies; NULL: none was asked for */
    double *determinant;                   /* by block, of the last look at the poles; NULL: none of them is one */
    bool held;
    double held_at; /* time stands still there */
    void (*give)(void *ctx, double t, double *modes);
    void *give_ctx;
    bool gives_not;
    bool chose; /* which of several solutions it sets out from, since it was last told to forget */
};

/* ---- model.c ---- */

/* An instance. Takes the parameters over. */
bg_model *model_of(image *of, maker *k, parameter_store *parameters);

/* 0 times each value added up: not a number if one is not finite */
bool model_all_finite(const double *v, size_t n);

/* The time that equations read, with what depends on it put into the modes. */
double model_time_of(const bg_model *m, double t);
int model_run_part(bg_model *m, enum model_part part, double t, const double *x, double *out);
int model_run_permuted(bg_model *m, enum model_part part, double t, const double *x, double *out);

/* ---- model_explain.c ---- */

void model_print_formula(const bg_model *m, const formula_book *b, formula f, strbuf *out);

#endif
