/* reduce_command.h - declarations shared by the files of bgc reduce */
#ifndef BG_REDUCE_COMMAND_H
#define BG_REDUCE_COMMAND_H

#include "command.h"
#include "json.h"
#include "passive_model.h"
#include "to_order.h"

/* Writes the text and the report to their places; of: NULL, or the report of a reduction to a number of states. */
int reduction_write(const request *q, const loaded *l, reduction *r, const char *const *experiment, size_t nexperiments,
                    bool bounded, const order_report *of, const char *target);
void reduction_adjust(void *ctx, bg_model *m, sim_options *o); /* adjust_run without progress, for many short runs */

/* Is the reduced model passive, if it is linear? */
struct passive_word {
    enum model_passivity is;
    char *why; /* why it is unknown; free() it */
};
struct passive_word passive_of(const loaded *l, const reduction *r, const char *experiment);
void passive_json(json *j, const struct passive_word *w);
void passive_put(const struct passive_word *w, FILE *out);

/* Writes the report; verbose: with every trial. (reduce_report.c) */
void reduction_write_json(const reduction *r, bool bounded, const order_report *of, const struct passive_word *passive,
                          FILE *out);
void reduction_report(const reduction *r, bool bounded, const order_report *of, const struct passive_word *passive,
                      bool verbose, FILE *out);

void lines_write_json(json *j, const reduction *r); /* writes the changes of the outputs' expressions */
int reduce_by_modes(const request *q, const char *target);
int reduce_by_order(const request *q, const char *target);
void order_write_json(json *j, const order_report *of);
void order_put(const order_report *of, FILE *out);

#endif
