/* to_order.h - reduces a linear model to a given number of states: removes elements and fits the numbers of the others,
 * in the frequency domain
 *
 * The objective is the response from all inputs to all outputs; its H-infinity error is then proved and compared with
 * that of balanced truncation to as many states (yardstick.h). The result is an edit of the text: elements dropped or
 * clamped, and numbers in declarations of parameters. An array whose last items are no longer read is shortened.
 *
 * needs    linear laws, no signals that feed back. Fields stay as they are, and so do storage elements with dependent
 *          storage
 * units    SI
 */
#ifndef BG_TO_ORDER_H
#define BG_TO_ORDER_H

#include "joint.h"
#include "reduce.h"
#include "yardstick.h"

typedef struct order_options {
    const char *experiment; /* NULL: nothing is run */
    size_t states;
    const char *parameters; /* names separated by commas; NULL: all */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
} order_options;

typedef struct order_number {
    const char *name;
    double from, to; /* SI */
    int line;
} order_number;

typedef struct order_report {
    /* rows: balanced truncation, the remaining elements, refitted */
    yardstick yard;
    size_t tried, fits, exchanges, frequencies, states; /* counts of the search */
    VEC(order_number) number;                           /* that changed */
    VEC(char *) left;                                   /* "name: why" for parameters that were not moved */
} order_report;

enum order_result { ORDER_DONE, ORDER_REFUSED, ORDER_FAILED };
/* REFUSED: the method does not apply to the model, or the options do not fit it; FAILED: numerical failure. *why
 * (free() it) is a sentence. *r and *report are filled; call reduction_free and order_report_free in any case. */
enum order_result reduce_to_order(const char *path, const char *text, size_t length, const order_options *o,
                                  reduction *r, order_report *report, char **why);
void order_report_free(order_report *r);

#endif
