/* identify.h - estimates named parameters of a model from measured data
 *
 * Minimizes the sum of squares of (output - datum)*weight over all data of one or several runs, over the parameters
 * within their bounds, by least_squares.h with the exact derivatives of forward.h. Parameters are scaled by their
 * starting values, so that the search does not depend on units.
 *
 * Where outputs oscillate many times, a search can end in a local minimum with a wrong number of oscillations. So a
 * search that leaves much unexplained, or does not converge, is repeated from the start over a first part of the data's
 * time, then over twice that time, and so on; the better result counts.
 *
 * With `active` only those parameters move whose elements carry most of the activity; activities are computed again as
 * the search moves, and the set follows. What the data do not determine are the singular directions of the weighted
 * derivatives by relative change, at the end of the search: those along which the outputs do not change, or change less
 * than would be visible in the residuals.
 *
 * evaluations  runs of the model: one for each plain run, and one more for each parameter whose derivatives are
 *              computed with it; for each experiment
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
    double *x0;       /* [states] initial values where some of them are estimated; else NULL */
} fit_run;

/* A number in the text: all parameters that get their value from it move together. */
typedef struct fit_parameter {
    const char *name; /* name of the first of them; or "spring.q(0)" */
    VEC(const char *) all;
    VEC(size_t) state;       /* for each run: the state whose initial value it is; empty: a parameter */
    double start, low, high; /* SI; infinite without a bound */
} fit_parameter;

/* Bounds of a parameter for which none are given: it keeps its sign, or may have any where it starts at zero. */
void fit_keep_sign(fit_parameter *p);

typedef struct fit {
    VEC(fit_run) run;
    VEC(fit_parameter) parameter;
    bool active;
    double threshold;      /* share of the activity that the moving parameters must carry */
    size_t starts;         /* number of starting points; 1: only the given one */
    double step_tolerance; /* 0: 1e-6 */
    double cost_tolerance; /* smallest relative decrease that a step must predict; 0: 1e-14 */
    size_t most_steps;     /* 0: 100 */
    bool near;             /* the start is near the minimum: a large residual there is not a reason to search again */
} fit;

typedef struct fit_direction {
    double *part;
} fit_direction; /* [parameters] relative change, length 1 */
/* A column whose mean would be nearer to its data than the fitted output is: root mean squares, SI. */
typedef struct fit_poor {
    size_t run, column;
    double fitted, mean;
} fit_poor;
typedef struct fit_result {
    /* [parameters] SI; standard error, NAN where the data do not determine it or it was held fixed */
    double *value, *deviation;
    double *correlation;  /* [parameters][parameters], NAN likewise */
    bool *active, *bound; /* moved at the end; ended at a bound */
    VEC(fit_direction) unknown;
    double cost; /* weighted sum of squares */
    size_t data, evaluations, steps;
    size_t same, other, failed; /* further starts that ended at this minimum, at another one, or failed */
    bool grown;                 /* it was found by the search over a growing part of the data */
    bool converged;
    double avasim;   /* 1: exact, 0: mean deviation of 1 %, negative beyond; mean over columns */
    double residual; /* weighted root mean square */
    VEC(fit_poor) poor;
} fit_result;

/* False: the model does not run at the start, *why (free() it); the models' diagnostics say more. The models keep the
 * estimated values. */
bool fit_search(fit *f, fit_result *r, char **why);
void fit_free(fit *f);
void fit_result_free(fit_result *r);

#endif
