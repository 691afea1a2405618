/* maker.h - makes an image and its parts from what a model was compiled from
 *
 * threads  hold the maker's lock to use anything that the maker has (the pool grows, slots move); the lock is recursive
 */
#ifndef BG_MAKER_H
#define BG_MAKER_H

#include "curvature.h"
#include "image.h"

struct flat_model;
struct causal;
struct equations;

typedef struct maker maker;

maker *maker_new(struct flat_model *f, struct causal *c, struct equations *e, bool long_run);
void maker_free(maker *k);
void maker_lock(maker *k);
void maker_unlock(maker *k);
image *image_new(maker *k);
/* Makes all parts that runs, measures and messages may ask for and that do not exist yet. From then on the maker reads
 * nothing of what the model was compiled from, and makes nothing more. False with a diagnostic if the code of a part
 * fails. */
bool image_close(image *m, maker *k);

/* Parts, made on first use. */
const void *image_have(image *m, maker *k, enum image_later what);
#define IMAGE_PART(type, name, what) \
    static inline const type *name(image *m, maker *k) \
    { \
        return image_have(m, k, what); \
    }
IMAGE_PART(image_variables, image_variables_of, LATER_VARIABLES)
IMAGE_PART(image_states, image_states_of, LATER_STATES)
IMAGE_PART(image_unknowns, image_unknowns_of, LATER_UNKNOWNS)
IMAGE_PART(image_parameters, image_parameters_of, LATER_PARAMETERS)
IMAGE_PART(image_graph, image_graph_of, LATER_GRAPH)
IMAGE_PART(model_reads, image_reads_of, LATER_READS)
IMAGE_PART(expression_program, image_expressions_of, LATER_EXPRESSIONS)
IMAGE_PART(expression_poles, image_poles_of, LATER_POLES)
IMAGE_PART(image_clocks, image_clocks_of, LATER_CLOCKS)
IMAGE_PART(image_roots, image_roots_of, LATER_ROOTS)
IMAGE_PART(projection, image_projection_of, LATER_PROJECTION)
IMAGE_PART(initial_program, image_initial_of, LATER_INITIAL)
IMAGE_PART(storage_program, image_storage_of, LATER_STORAGE)
IMAGE_PART(interpret_program, image_numbers_of, LATER_NUMBERS)
/* NULL with a diagnostic when their code fails. */
IMAGE_PART(jacobian_form, image_jacobian_of, LATER_JACOBIAN)
IMAGE_PART(jacobian_form, image_net_partials_of, LATER_NET_PARTIALS)
routine *image_part(image *m, maker *k, enum model_part part);
/* Derivatives by these parameters. NULL with a diagnostic if the image is closed and they were not asked for before. */
const partials_form *image_partials(image *m, maker *k, const var_id *by, size_t n, size_t noutputs, bool held);
/* For these variables, in their order; for a closed image others may be among them. */
const condition_program *image_conditions(image *m, maker *k, const var_id *var, size_t n);
/* Owned by the caller. NULL with a diagnostic if the image is closed. */
curvature *image_curvature(const image *m, maker *k, const var_id *by, size_t n, bool held);

/* Makes optimised code for a routine, unless another instance has asked for it meanwhile, or the maker is closed.
 * False after an error. */
bool maker_improve(maker *k, routine *r);

/* What was made so far: counts, and the CPU time used. */
struct maker_counts {
    size_t classes, kernels, chunks, items;
    double seconds;
};
struct maker_counts maker_count(maker *k);
/* The time alone. While another thread makes a part, the time is that of an earlier call: nobody waits for it. */
double maker_seconds(maker *k);

#endif
