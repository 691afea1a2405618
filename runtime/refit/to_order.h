/* to_order.h - a linear model brought down to a number of states: elements go and the numbers of the others are fitted,
 * together, in frequency
 *
 * What is wanted is the response from all inputs to all outputs; its H-infinity error is proved afterwards, beside that
 * of balanced truncation to as many states (yardstick.h). The result is an edit of the text: elements dropped or
 * clamped, and numbers in the lines of parameters. An array whose last items nothing reads any more is as long as what
 * is read.
 *
 * needs    linear laws, no signals that feed back; fields stay as they are, and so does storage that goes along with
 *          other storage, with that
 * units    SI
 */
#ifndef BG_TO_ORDER_H
#define BG_TO_ORDER_H

#include "joint.h"
#include "reduce.h"
#include "yardstick.h"

typedef struct order_options {
    const char *experiment; /* NULL: none, nothing is run */
    size_t states;
    const char *parameters; /* names with commas; NULL: all */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
} order_options;

typedef struct order_number {
    const char *name;
    double from, to; /* SI */
    int line;
} order_number;

typedef struct order_report {
    yardstick yard;                                     /* rows: balanced truncation, what is left, refitted */
    size_t tried, fits, exchanges, frequencies, states; /* of the search */
    VEC(order_number) number;                           /* that changed */
    VEC(char *) left;                                   /* "name: why" of parameters that were not moved */
} order_report;

enum order_result { ORDER_DONE, ORDER_REFUSED, ORDER_FAILED };
/* REFUSED: the model is not one that this can reduce, or the options do not fit it; FAILED: no numbers. *why (free it)
 * is a sentence. *r and *report are filled; reduction_free and order_report_free them in any case. */
enum order_result reduce_to_order(const char *path, const char *text, size_t length, const order_options *o,
                                  reduction *r, order_report *report, char **why);
void order_report_free(order_report *r);

#endif
