/* reduce_command.h - what the files of bgc reduce share */
#ifndef BG_REDUCE_COMMAND_H
#define BG_REDUCE_COMMAND_H

#include "command.h"
#include "json.h"
#include "passive_model.h"
#include "to_order.h"

/* The text to its place and the report to its own; of: NULL, or of a reduction to a number of states. */
int reduction_write(const request *q, const loaded *l, reduction *r, const char *const *experiment, size_t nexperiments,
                    bool bounded, const order_report *of, const char *target);
void reduction_adjust(void *ctx, bg_model *m, sim_options *o); /* adjust_run without progress: many short runs */

/* Of the reduced text, where it is linear: does it take energy only? */
struct passive_word {
    enum model_passivity is;
    char *why; /* of an unknown one; free it */
};
struct passive_word passive_of(const loaded *l, const reduction *r, const char *experiment);
void passive_json(json *j, const struct passive_word *w);
void passive_put(const struct passive_word *w, FILE *out);

/* The report; verbose: with every trial. (reduce_report.c) */
void reduction_write_json(const reduction *r, bool bounded, const order_report *of, const struct passive_word *passive,
                          FILE *out);
void reduction_report(const reduction *r, bool bounded, const order_report *of, const struct passive_word *passive,
                      bool verbose, FILE *out);

void lines_write_json(json *j, const reduction *r); /* what the lines of outputs became */
int reduce_by_modes(const request *q, const char *target);
int reduce_by_order(const request *q, const char *target);
void order_write_json(json *j, const order_report *of);
void order_put(const order_report *of, FILE *out);

#endif
