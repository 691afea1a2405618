/* verify.h - every number of a run a second time, by another way
 *
 * The same experiment is run with the other integrator and a tenth of the tolerances; outputs, states and activities of
 * both are compared. Both ways share the equations and their code, so that what is checked is the integration:
 * tolerances, switchings, stiffness.
 */
#ifndef BG_VERIFY_H
#define BG_VERIFY_H

#include "command.h"

#define VERIFY_BOUND 1e-3 /* of each number's greatest size */

typedef struct verified {
    const char *first, *second; /* integrators */
    double rtol, second_rtol, bound;
    char *column, *element;        /* where the difference is largest; NULL: there is none */
    double difference, time;       /* of the columns, over the column's greatest size; where that is */
    double activity_difference;    /* over the activity, or a thousandth of the total where that is more */
    size_t events, second_events;  /* switchings of both runs */
    bool stopped;                  /* a `stop when` ended one of them; compared is what both have, and the ends: */
    double end[2], end_difference; /* s; over the length of the first */
    bool fine;
} verified;

/* How many points a run has that is to be verified and whose table has `points`: numbers are compared on a grid at
 * least as fine as the usual one, of which the table's is a part. verify_thin leaves the table's. */
size_t verify_points(size_t points);
void verify_thin(const bg_model *m, sim_result *r, size_t points);

/* l was run with the options o, whose result with outputs or states or activities is r. STATUS_DONE, else the second
 * run did not work, which has been said. */
int verify_run(const request *q, const loaded *l, const sim_options *o, const sim_result *r, verified *v);
/* Runs and verifies an experiment of a text that l is of, or that was made of it: `what` names it in the report. */
int verify_text(const request *q, const loaded *l, const char *what, const char *text, size_t length,
                const char *experiment);
/* A line on standard error; STATUS_NUMBERS where a difference is beyond the bound. verified_free it afterwards. */
int verify_report(const request *q, const verified *v);
void verify_json(json *j, const verified *v);
void verified_free(verified *v);

#endif
