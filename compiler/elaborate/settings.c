/* settings.c - numbers of experiments, delays and samples that are constant, and make no sense
 *
 * What depends on parameters is checked by the run, which alone knows their values.
 *
 * reports   experiment-span, experiment-tolerance, experiment-limit, experiment-window, expect-time, expect-tolerance,
 *           delay-time, every-period: each at the number itself, all of them
 */
#include <math.h>

#include "elab.h"

/* of a run's length: a time so close to its end belongs to it */
static const double TIME_ROUNDING = 1e-9;

bool
known_setting(const elab *el, inst i, double *x)
{
    const flat_model *f = el->f;
    double few[FEW_SLOTS];

    if (!inst_known(i) || i.n > FEW_SLOTS)
        return false;
    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = inst_slots(f, i)[k];

        if (f->var.at[v].kind != VAR_LITERAL)
            return false;
        few[k] = var_value(f, v);
    }
    *x = ex_eval(el->pool, i.root, few);
    return true;
}

void
note_timed(elab *el, enum timed_kind kind, inst from, inst to, span at)
{
    vec_push(&el->timed, ((timed_item){ kind, from, to, at }));
}

void
check_positive(elab *el, const char *code, const char *name, const char *in, inst i, span at)
{
    double x;

    if (known_setting(el, i, &x) && !(x > 0 && isfinite(x)))
        diag_error(el->s, code, at, "%s = %.6g%s is not positive", name, x, in);
}

void
check_tolerance(elab *el, const char *name, inst i, span at)
{
    double x;

    if (known_setting(el, i, &x) && !(x >= 0 && isfinite(x)))
        diag_error(el->s, "expect-tolerance", at, "the tolerance of \"%s\" is %g; it is a number from 0 on", name, x);
}

static void
check_timed(elab *el, const timed_item *x, double start, double stop)
{
    double from, to, slack = TIME_ROUNDING * (stop - start);

    if (x->kind == TIMED_EXPECT) {
        if (known_setting(el, x->from, &from) && !(from >= start - slack && from <= stop + slack))
            diag_error(el->s, "expect-time", x->at, "%.6g s is not within the experiment, %.6g .. %.6g s", from, start,
                       stop);
        return;
    }
    if (!known_setting(el, x->from, &from) || !known_setting(el, x->to, &to))
        return;
    if (!(to > from)) {
        diag_error(el->s, "experiment-window", x->at, "window %.6g .. %.6g s ends before it begins", from, to);
        if (to < from)
            diag_help(el->s, "The ends are swapped: window %.6g [s] .. %.6g [s];", to, from);
    } else if (from < start - slack || to > stop + slack) {
        diag_error(el->s, "experiment-window", x->at, "window %.6g .. %.6g s is not within %.6g .. %.6g s", from, to,
                   start, stop);
    }
}

/* Times are compared only with ends of the run that are constant themselves. */
void
check_times(elab *el, span start_at, span stop_at)
{
    const flat_experiment *x = &el->f->experiment;
    double start = 0, stop = INFINITY;
    bool from = !inst_known(x->start) || known_setting(el, x->start, &start), to = known_setting(el, x->stop, &stop);

    if (from && !isfinite(start))
        diag_error(el->s, "experiment-span", start_at, "start is no number: %g s", start);
    else if (to && !isfinite(stop))
        diag_error(el->s, "experiment-span", stop_at, "stop is no number: %g s", stop);
    else if (from && to && !(stop > start))
        diag_error(el->s, "experiment-span", stop_at, "stop (%.6g s) is not after start (%.6g s)", stop, start);
    else
        for (size_t k = 0; k < el->timed.n; k++)
            check_timed(el, &el->timed.at[k], from ? start : -INFINITY, to ? stop : INFINITY);
}

void
check_delays(elab *el)
{
    const flat_model *f = el->f;
    double x;

    for (size_t k = 0; k < f->delay.n; k++)
        if (known_setting(el, f->delay.at[k].by, &x) && !(x > 0 && isfinite(x)))
            diag_error(
                el->s, "delay-time", f->delay.at[k].at,
                "\"%s\" is delayed by %.6g s: a delay must be positive and long enough for time to advance by it",
                var_name(f, f->delay.at[k].var), x);
    for (size_t k = 0; k < f->when.n; k++)
        if (known_setting(el, f->when.at[k].period, &x) && !(x > 0 && isfinite(x)))
            diag_error(el->s, "every-period", f->when.at[k].at, "a period must be positive, and is %.6g s", x);
}
