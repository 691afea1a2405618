/* identify.h - named parameters of a model from measured data
 *
 * The outputs of one or several runs are brought as near to the data as they come: the sum of squares of (output -
 * datum)*weight over all data, least over the parameters within their bounds, by least_squares.h with the exact
 * derivatives of forward.h. Parameters are searched in parts of their starting values, so that the search does not see
 * units.
 *
 * A search that leaves much unexplained, or does not come to an end, has lost its way, as it does where outputs swing
 * many times: it is made once more from the start, through a first part of the data's time, twice as much, and so on;
 * the better end counts.
 *
 * With `active` only those move whose elements carry most of the activity; as the search moves, activities are taken
 * anew and the set follows. What the data cannot tell are the singular directions of the weighted derivatives by
 * relative change, at the end of the search: those along which nothing changes, or less than what would show through
 * the residuals.
 *
 * evaluations  runs of the model: one for each plain run, and one more for each parameter whose derivatives are
 *              followed with it; for each experiment
 * source       Louca (study of activity and identification): the set that follows the search; Golub, Van Loan: Matrix
 *              Computations, 5.5
 */
#ifndef BG_IDENTIFY_H
#define BG_IDENTIFY_H

#include "model.h"
#include "simulate.h"

/* Data of one experiment. */
typedef struct fit_run {
    bg_model *model;
    sim_options o;
    size_t ntimes;
    double *time; /* s, ascending, within the run */
    size_t ncolumns;
    uint32_t *output; /* of the model */
    double *datum;    /* [ncolumns][ntimes] SI, NAN where nothing was measured */
    double *weight;   /* [ncolumns] 1/SI unit */
    double *x0;       /* [states] where initial values are moved: where it starts; NULL */
} fit_run;

/* A number of the text: all parameters that it gives move together. */
typedef struct fit_parameter {
    const char *name; /* of the first; "spring.q(0)" */
    VEC(const char *) all;
    VEC(size_t) state;       /* in each run: the state whose initial value it is; empty: a parameter */
    double start, low, high; /* SI; infinite without a bound */
} fit_parameter;

typedef struct fit {
    VEC(fit_run) run;
    VEC(fit_parameter) parameter;
    bool active;
    double threshold;      /* share of the activity that those that move carry */
    size_t starts;         /* 1: the start alone */
    double step_tolerance; /* 0: 1e-6 */
    double cost_tolerance; /* relative decrease that a step must promise; 0: 1e-14 */
    size_t most_steps;     /* 0: 100 */
    bool near;             /* it starts near its end: what is left unexplained there stays so */
} fit;

typedef struct fit_direction {
    double *part;
} fit_direction; /* [parameters] relative change, length 1 */
typedef struct fit_result {
    double *value, *deviation; /* [parameters] SI; standard error, NAN where the data do not tell or it was held */
    double *correlation;       /* [parameters][parameters], NAN likewise */
    bool *active, *bound;      /* moved at the end; ended at a bound */
    VEC(fit_direction) unknown;
    double cost; /* sum of squares, weighted */
    size_t data, evaluations, steps;
    size_t same, other, failed; /* of further starts: that ended at this minimum, at another, nowhere */
    bool grown;                 /* it is the end of a search through more and more of the data */
    bool converged;
    double avasim;   /* 1 exact, 0 at 1 % mean deviation, below 0 outside; mean over columns */
    double residual; /* root mean square, weighted */
} fit_result;

/* False: no run at the start, *why (free it); the models' diagnostics say more. Models are left with the values found.
 */
bool fit_search(fit *f, fit_result *r, char **why);
void fit_free(fit *f);
void fit_result_free(fit_result *r);

#endif
