/* simulate_options.c - options of a run from its experiment */
#include <math.h>
#include <string.h>

#include "simulate_inside.h"

/* Sets a time from an experiment, if it states one. */
static bool
positive_setting(bg_model *m, struct model_setting given, const char *name, double *to)
{
    if (!given.there)
        return true;
    if (!(given.value > 0 && isfinite(given.value))) {
        diag_error(model_sources(m), "experiment-limit", model_run_place(m), "%s = %.3g s is not positive", name,
                   given.value);
        return false;
    }
    *to = given.value;
    return true;
}

bool
sim_options_from_experiment(bg_model *m, sim_options *o)
{
    const struct model_experiment given = model_experiment(m), *e = &given;
    sources *said = model_sources(m);
    span at = model_run_place(m);

    if (e->start.there)
        o->start = e->start.value;
    if (e->stop.there)
        o->stop = e->stop.value;
    if (e->rtol.there) {
        o->rtol = e->rtol.value;
        if (!(o->rtol >= LEAST_RTOL && o->rtol <= GREATEST_RTOL)) {
            diag_error(said, "experiment-tolerance", at, "rtol = %.3g is no tolerance; take one between %g and %g",
                       o->rtol, LEAST_RTOL, GREATEST_RTOL);
            return false;
        }
    }
    if (e->atol.there) {
        o->atol = e->atol.value;
        if (!(o->atol > 0 && isfinite(o->atol))) {
            diag_error(said, "experiment-tolerance", at, "atol = %.3g is not positive", o->atol);
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
        if (e->name && !e->stop.there)
            diag_error(said, "experiment-span", at, "experiment \"%s\" has no stop", e->name);
        else
            diag_error(said, "experiment-span", at, "stop (%.6g s) is not after start (%.6g s)", o->stop, o->start);
        return false;
    }
    if (e->nwindows) {
        double *from = bg_calloc(e->nwindows, sizeof *from), *to = bg_calloc(e->nwindows, sizeof *to);
        o->nwindows = e->nwindows;
        o->window_from = from;
        o->window_to = to;
        for (size_t i = 0; i < e->nwindows; i++) {
            model_window(m, i, &from[i], &to[i]);
            double slack = TIME_SLACK * (o->stop - o->start);
            if (!(to[i] > from[i]) || from[i] < o->start - slack || to[i] > o->stop + slack) {
                diag_error(said, "experiment-window", at, "window %.6g .. %.6g s is not within %.6g .. %.6g s", from[i],
                           to[i], o->start, o->stop);
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
