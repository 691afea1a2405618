/* verify.h - checks the numbers of a run by a second run with another method
 *
 * The experiment is run again with the other integrator and a tenth of the tolerances; outputs, states and activities
 * of both are compared. Both runs use the same equations and code, so this checks the integration: tolerances,
 * switchings, stiffness.
 */
#ifndef BG_VERIFY_H
#define BG_VERIFY_H

#include "command.h"

#define VERIFY_BOUND 1e-3 /* greatest accepted difference, relative to the greatest size of each number */

typedef struct verified {
    const char *first, *second; /* integrators */
    double rtol, second_rtol, bound;
    char *column, *element;       /* where the difference is largest; NULL: there is none */
    double difference, time;      /* greatest difference of a column over its greatest size, and its time */
    double activity_difference;   /* relative to the activity, or to a thousandth of the total if that is more */
    size_t events, second_events; /* number of switchings in both runs */
    /* a `stop when` ended one of the runs; only the common time is compared, and the ends: */
    bool stopped;
    double end[2], end_difference; /* s; their difference over the length of the first run */
    bool fine;
} verified;

/* l was run with the options o; r is its result with outputs, states or activities. Not STATUS_DONE: the second run
 * failed, which has been reported. */
int verify_run(const request *q, const loaded *l, const sim_options *o, const sim_result *r, verified *v);
/* Runs and verifies an experiment of a text, that of l or one made from it; `what` names it in the report. */
int verify_text(const request *q, const loaded *l, const char *what, const char *text, size_t length,
                const char *experiment);
/* Prints a line on standard error; STATUS_NUMBERS if a difference exceeds the bound. Call verified_free afterwards. */
int verify_report(const request *q, const verified *v);
void verify_json(json *j, const verified *v);
void verified_free(verified *v);

#endif
