/* audit.h - the energy balance of a run
 *
 * The energy supplied by sources is stored, dissipated, or taken by jumps. Powers add up to zero at every instant, for
 * any laws and any states, so that their sum proves nothing. The audit instead compares, for each storage element, the
 * energy that flowed into it (its power, integrated over the dense output) with the change of stored energy according
 * to its law: they differ by what the integrator's steps add or lose.
 *
 * units    J, W, s
 * cost     four evaluations of all powers a step, and of all storage at events; none unless it is asked for
 */
#ifndef BG_AUDIT_H
#define BG_AUDIT_H

#include "model.h"

typedef struct audit audit;

/* supplied = stored + dissipated + jumps + residual, over true bonds. */
typedef struct audit_totals {
    bool known;        /* false: the run did not start, or a power was not finite */
    double supplied;   /* by sources, including ideal switches */
    double stored;     /* increase from start to end */
    double dissipated; /* by resistors */
    double jumps;      /* taken by jumps of stored quantities (negative: supplied by them) */
    double residual;   /* sum over all storage elements */
    /* size with which the residual is compared: the greatest energy stored, or passed through sources, or through
     * resistors */
    double size;
    size_t worst;
    double worst_residual; /* element with the greatest residual; NO_INDEX: there is no storage */
    /* number of elements on bonds whose power is not effort times flow; they are left out above */
    size_t pseudo;
} audit_totals;

/* equal_steps: no tolerance determined the steps. */
audit *audit_new(bg_model *m, double rtol, bool equal_steps, double start, double stop);
void audit_free(audit *a);

/* Called at the start from x; for a smooth piece, over which `dense` gives the states; for events at t. False: cannot
 * be evaluated. */
bool audit_start(void *a, double t, const double *x);
bool audit_piece(void *a, double t0, double t1, bool (*dense)(void *of, double t, double *x), void *of);
bool audit_jump(void *a, double t, const double *before, const double *modes_before, const double *after);

/* Call after the run, which ended at t with x: totals, with a warning if the residual exceeds what the tolerance
 * explains, and notes on elements that gave power although they should take it. */
audit_totals audit_close(audit *a, double t, const double *x);

#endif
