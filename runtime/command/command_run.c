/* command_run.c - runs a loaded experiment, with a progress bar */
#include <math.h>
#include <string.h>

#include "command_inside.h"
#include "compiled.h"

static const double PROGRESS_AFTER = 0.5, PROGRESS_EVERY = 2; /* s */
static const double NO_JUMP = 1e-12; /* of the energies of a run: energy that jumps took is only rounding */

/* The progress bar, for long runs. On other outputs than a terminal, time and steps are printed. */
static void
show_progress(void *ctx, double t, uint64_t steps)
{
    struct run_settings *s = ctx;
    int percent = s->end > s->begin ? (int)(100 * (t - s->begin) / (s->end - s->begin)) : 0;
    double now = bg_wall_seconds();

    if (now - s->since < PROGRESS_AFTER || (percent == s->shown && now - s->said < PROGRESS_EVERY))
        return;
    fprintf(stderr, "\r[%-30.*s] %3d %%", percent * 30 / 100, "##############################", percent);
    if (percent == s->shown)
        fprintf(stderr, " at %.9g s, %llu steps, %.3g a second  ", t, (unsigned long long)steps,
                (double)(steps - s->steps) / (now - s->said));
    s->shown = percent;
    s->said = now;
    s->steps = steps;
    fflush(stderr);
}

void
progress_done(struct run_settings *s)
{
    if (s->shown >= 0)
        fprintf(stderr, "\r%100s\r", "");
    s->shown = -1;
}

void
adjust_run(void *settings, bg_model *m, sim_options *o)
{
    struct run_settings *s = settings;
    const request *q = s->q;

    if (q->rtol > 0)
        o->rtol = q->rtol;
    else if (!inst_known(model_flat(m)->experiment.rtol) && s->default_rtol > 0)
        o->rtol = s->default_rtol;
    if (q->atol > 0)
        o->atol = q->atol;
    if (q->given & OPT(OPT_SOLVER))
        o->solver = q->solver;
    if (q->given & OPT(OPT_STEP))
        o->max_step = q->step;
    if (q->max_steps)
        o->max_steps = q->max_steps;
    if (q->max_seconds > 0)
        o->max_seconds = q->max_seconds;
    s->begin = o->start;
    s->end = o->stop;
    if (!q->quiet && is_terminal(stderr)) {
        s->since = s->said = bg_wall_seconds();
        s->steps = 0;
        o->progress = show_progress;
        o->ctx = s;
    }
}

static void
print_audit(const flat_model *f, const audit_totals *a)
{
    fprintf(stderr, "energy: %.6g J supplied = %.6g J stored + %.6g J dissipated", a->supplied, a->stored,
            a->dissipated);
    if (fabs(a->jumps) > NO_JUMP * a->size)
        fprintf(stderr, " + %.6g J taken by jumps", a->jumps);
    if (a->worst != NO_INDEX)
        fprintf(stderr, "; %.1e of %.3g J missing by the steps, most in \"%s\"",
                a->size > 0 ? fabs(a->residual) / a->size : 0, a->size, f->element.at[a->worst].name);
    if (a->pseudo)
        fprintf(stderr, "; %zu elements on pseudo bonds take no part", a->pseudo);
    fputc('\n', stderr);
}

/* Is the end that the command line gives behind the start? Else says so. */
static bool
ends_after_start(const request *q, const loaded *l, const sim_options *o)
{
    const char *text = q->text[OPT_STOP];
    span at;

    if (!text || o->stop > o->start)
        return true;
    at = (span){ (uint32_t)sources_add_option(l->c.sources, "--stop", text, text, 0), 0, (uint32_t)strlen(text) };
    diag_error(l->c.sources, "run-span", at, "the run's end (%.6g s) is not after its start (%.6g s)", o->stop,
               o->start);
    return false;
}

bool
run_set_up(struct run_settings *s, const loaded *l, sim_options *o)
{
    const request *q = s->q;
    sim_options wanted = *o;
    bool fine;

    if (q->given & OPT(OPT_STOP))
        o->stop = q->stop;
    fine = sim_options_from_experiment(l->c.model, o);
    if (fine) {
        o->stop = q->given & OPT(OPT_STOP) ? q->stop : o->stop;
        fine = ends_after_start(q, l, o);
    }
    if (fine) {
        o->points = wanted.points;
        o->outputs = wanted.outputs;
        o->finite_outputs = wanted.finite_outputs;
        o->states = wanted.states;
        o->activity = wanted.activity;
        o->audit = wanted.audit;
        o->extra = wanted.extra;
        o->sampler = wanted.sampler;
        o->nsamplers = wanted.nsamplers;
        adjust_run(s, l->c.model, o);
    }
    return fine;
}

void
run_report(const request *q, const loaded *l, const sim_result *r, bool fine)
{
    print_diagnostics(q, l->c.sources);
    if (fine && q->verbose) {
        char *text = model_statistics(l->c.model);

        fprintf(stderr, "%s: %s\n", l->c.flat->name, text);
        free(text);
        fprintf(stderr, "%s: %s; %llu steps, %llu evaluations of the rates, %llu Jacobians, %zu events, %.3f s\n",
                l->experiment ? l->experiment : "run", r->method ? r->method : "no integration",
                (unsigned long long)r->steps, (unsigned long long)r->rhs_evaluations, (unsigned long long)r->jacobians,
                r->nevents, r->cpu_seconds);
        if (r->audit.known)
            print_audit(l->c.flat, &r->audit);
        if (r->activity)
            fprintf(stderr, "powers sum to %.1e of the greatest\n", r->max_power_sum);
    }
}

bool
run_loaded(const request *q, loaded *l, double default_rtol, sim_options *o, sim_result *r)
{
    struct run_settings s = { .q = q, .default_rtol = default_rtol, .shown = -1 };
    bool fine;

    memset(r, 0, sizeof *r);
    fine = run_set_up(&s, l, o) && simulate(l->c.model, o, r);
    progress_done(&s);
    run_report(q, l, r, fine);
    return fine;
}

size_t
run_finer(size_t points)
{
    size_t each = (RUN_POINTS - 1 + points - 2) / (points - 1);

    return each > 1 ? each : 1;
}

void
run_thin(const bg_model *m, sim_result *r, size_t each, bool whole)
{
    size_t n = 0, ny = model_noutputs(m), nx = model_nstates(m);

    for (size_t i = 0; i < r->points; i++) {
        /* the last point of a whole run is its end, also where `stop when` ended it */
        if (i % each && !(whole && i + 1 == r->points))
            continue;
        r->time[n] = r->time[i];
        if (r->output)
            memmove(r->output + n * ny, r->output + i * ny, ny * sizeof(double));
        if (r->state)
            memmove(r->state + n * nx, r->state + i * nx, nx * sizeof(double));
        n++;
    }
    r->points = n;
}
