/* maker_inside.h - declarations shared by the maker's files; no other file includes it */
#ifndef BG_MAKER_INSIDE_H
#define BG_MAKER_INSIDE_H

#include <pthread.h>

#include "causality.h"
#include "clocks.h"
#include "equations.h"
#include "gates.h"
#include "maker.h"
#include "poles.h"
#include "program.h"
#include "program_thresholds.h"
#include "walks.h"

struct maker {
    pthread_mutex_t lock;
    flat_model *f; /* NULL, like the others, after it is closed */
    causal *c;
    equations *e;
    bool long_run;
    uint32_t *state_of; /* state number -> number in the equations */
    program *program[PART_COUNT];
    program_list other; /* those of derivatives and conditions */
    clock_list clock;
    bend_list bend;
    pole_list pole;
    gate_list gate;
    thresholds thresholds;
    bool clocks_known, poles_known, *waving;
    double compile_seconds;
    _Atomic double seconds;     /* see maker_seconds */
    struct maker_counts closed; /* as it was then */
};

/* ---- maker_parts.c ---- */

/* Adds the targets that net.h calls rows. */
void model_add_net_rows(const equations *e, target_list *target);
program *model_plan_part(maker *k, enum model_part part);

/* ---- maker_graph.c ---- */
image_graph *image_graph_make(const maker *k);
model_reads *image_reads_make(const maker *k);
image_states *image_states_make(const image *m, const maker *k);
image_variables *image_variables_make(const maker *k);
image_unknowns *image_unknowns_make(const maker *k);
image_parameters *image_parameters_make(const maker *k);

/* ---- maker_roots.c ---- */
image_roots *image_roots_make(const image *m, const maker *k);

#endif
