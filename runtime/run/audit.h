/* audit.h - where the energy of a run comes from and goes to
 *
 * What sources supply is stored, dissipated, or taken by jumps. Powers add up to zero at every instant whatever the
 * laws and however wrong the states, so that their sum proves nothing. The audit compares instead, for each storage
 * element, the energy that flowed into it (its power, integrated over the dense output) with what its law says is
 * stored at the ends: they differ by what the integrator's steps add or lose.
 *
 * units    J, W, s
 * cost     four evaluations of all powers a step, and of all storage at events; nothing where it is not asked for
 */
#ifndef BG_AUDIT_H
#define BG_AUDIT_H

#include "model.h"

typedef struct audit audit;

/* supplied = stored + dissipated + jumps + residual, over true bonds. */
typedef struct audit_totals {
    bool known;        /* false: the run did not begin, or a power had no finite value */
    double supplied;   /* by sources, ideal switches among them */
    double stored;     /* at the end more than at the start */
    double dissipated; /* by resistors */
    double jumps;      /* taken by jumps of what is stored (given by them: negative) */
    double residual;   /* of all storage elements */
    double size; /* that the residual is compared with: the most that was stored, or went through sources, or through
                    resistors */
    size_t worst;
    double worst_residual; /* the element with the greatest residual; NO_INDEX: there is no storage */
    size_t pseudo;         /* elements on bonds whose power is not effort times flow: taken part in nothing above */
} audit_totals;

/* equal_steps: no tolerance ruled the steps. */
audit *audit_new(bg_model *m, double rtol, bool equal_steps, double start, double stop);
void audit_free(audit *a);

/* The run starts from x; a smooth piece of it, over which `dense` gives the states; what events did at t. False: it
 * cannot be evaluated. */
bool audit_start(void *a, double t, const double *x);
bool audit_piece(void *a, double t0, double t1, bool (*dense)(void *of, double t, double *x), void *of);
bool audit_jump(void *a, double t, const double *before, const double *modes_before, const double *after);

/* After the run, which ended at t with x: totals, with a warning where the residual is more than the tolerance explains
 * and notes on elements that give power though they should take it. */
audit_totals audit_close(audit *a, double t, const double *x);

#endif
