/* simulate_options.c - options of a run from its experiment */
#include <math.h>
#include <string.h>

#include "simulate_inside.h"

/* A time that an experiment sets, if it does. */
static bool
positive_setting(bg_model *m, inst given, const char *name, double *to)
{
    double value = inst_known(given) ? model_value(m, given) : 0;

    if (inst_known(given) && !(value > 0 && isfinite(value))) {
        diag_error(model_sources(m), "experiment-limit", model_run_place(m), "%s = %.3g s is not positive", name,
                   value);
        return false;
    }
    if (inst_known(given))
        *to = value;
    return true;
}

bool
sim_options_from_experiment(bg_model *m, sim_options *o)
{
    const flat_model *f = model_flat(m);
    const flat_experiment *e = &f->experiment;
    span at = model_run_place(m);

    if (inst_known(e->start))
        o->start = model_value(m, e->start);
    if (inst_known(e->stop))
        o->stop = model_value(m, e->stop);
    if (inst_known(e->rtol)) {
        o->rtol = model_value(m, e->rtol);
        if (!(o->rtol >= LEAST_RTOL && o->rtol <= GREATEST_RTOL)) {
            diag_error(f->sources, "experiment-tolerance", at,
                       "rtol = %.3g is no tolerance; take one between %g and %g", o->rtol, LEAST_RTOL, GREATEST_RTOL);
            return false;
        }
    }
    if (inst_known(e->atol)) {
        o->atol = model_value(m, e->atol);
        if (!(o->atol > 0 && isfinite(o->atol))) {
            diag_error(f->sources, "experiment-tolerance", at, "atol = %.3g is not positive", o->atol);
            return false;
        }
    }
    if (!positive_setting(m, e->max_step, "max_step", &o->max_step) ||
        (o->max_seconds <= 0 && !positive_setting(m, e->max_time, "max_time", &o->max_seconds)))
        return false;
    o->equilibrium |= e->equilibrium;
    if (e->solver)
        o->solver = strcmp(e->solver, "explicit") == 0      ? SIM_EXPLICIT
                    : strcmp(e->solver, "bdf") == 0         ? SIM_BDF
                    : strcmp(e->solver, "variational") == 0 ? SIM_VARIATIONAL
                                                            : SIM_AUTO;
    if (!isfinite(o->start) || !isfinite(o->stop) || !(o->stop > o->start)) {
        if (e->name && !inst_known(e->stop))
            diag_error(f->sources, "experiment-span", at, "experiment \"%s\" has no stop", e->name);
        else
            diag_error(f->sources, "experiment-span", at, "stop (%.6g s) is not after start (%.6g s)", o->stop,
                       o->start);
        return false;
    }
    if (e->window.n) {
        double *from = bg_calloc(e->window.n, sizeof *from), *to = bg_calloc(e->window.n, sizeof *to);
        o->nwindows = e->window.n;
        o->window_from = from;
        o->window_to = to;
        for (size_t i = 0; i < e->window.n; i++) {
            from[i] = model_value(m, e->window.at[i].from);
            to[i] = model_value(m, e->window.at[i].to);
            double slack = 1e-9 * (o->stop - o->start);
            if (!(to[i] > from[i]) || from[i] < o->start - slack || to[i] > o->stop + slack) {
                diag_error(f->sources, "experiment-window", at, "window %.6g .. %.6g s is not within %.6g .. %.6g s",
                           from[i], to[i], o->start, o->stop);
                sim_options_free(o);
                return false;
            }
        }
    }
    return true;
}

void
sim_options_free(sim_options *o)
{
    free((void *)(uintptr_t)o->window_from);
    free((void *)(uintptr_t)o->window_to);
    o->window_from = o->window_to = NULL;
    o->nwindows = 0;
}
