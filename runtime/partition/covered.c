/* covered.c - see covered.h */
#include "covered.h"

#include <math.h>

#define BEHIND 1.01

bool
covered_run(bg_model *m, sim_options *o, sim_result *r)
{
    double stop;

    if (!simulate(m, o, r))
        return false;
    stop = o->start + BEHIND * (r->t_end - o->start);
    if (!r->stopped || !(stop > o->start) || 2 * r->points >= o->points)
        return true;
    sim_result_free(r);
    o->stop = fmin(stop, o->stop);
    return simulate(m, o, r);
}
