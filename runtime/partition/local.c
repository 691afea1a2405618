/* local.c - see local.h */
#include "local.h"

#include <math.h>
#include <string.h>

#include "metrics.h"

static void
study_new(const flat_model *f, const char *experiment, double from, double to, local_study *out)
{
    double **bond[] = { &out->bond_activity, &out->bond_from, &out->bond_to },
           **port[] = { &out->port_activity, &out->port };

    *out = (local_study){ .experiment = experiment, .from = from, .to = to };
    for (size_t k = 0; k < 3; k++) {
        *bond[k] = bg_malloc((f->bond.n + 1) * sizeof(double));
        for (size_t i = 0; i < f->bond.n; i++)
            (*bond[k])[i] = k ? NAN : 0;
    }
    for (size_t k = 0; k < 2; k++) {
        *port[k] = bg_malloc((f->port.n + 1) * sizeof(double));
        for (size_t i = 0; i < f->port.n; i++)
            (*port[k])[i] = k ? NAN : 0;
    }
}

static void
study_free(local_study *s)
{
    free(s->bond_activity);
    free(s->bond_from);
    free(s->bond_to);
    free(s->port_activity);
    free(s->port);
}

static void
take(const flat_model *f, const junction_table *t, local_study *out)
{
    for (size_t i = 0; i < t->row.n; i++) {
        const junction_row *x = &t->row.at[i];

        if (x->is_bond) {
            out->bond_activity[x->index] = x->activity;
            out->bond_from[x->index] = x->ratio_from;
            out->bond_to[x->index] = x->ratio_to;
        } else {
            out->port_activity[x->index] = x->activity;
            out->port[x->index] = f->port.at[x->index].sign > 0 ? x->ratio_from : x->ratio_to;
        }
    }
}

/* Where nothing flows in one window, the others decide. */
static double
greater(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

/* One run, over the windows of the experiment one after the other. The runs are those of the whole experiment, so that
 * steps are the same in each. */
static bool
run_windows(compilation *c, const recording *r, sim_options *o, local_ratios *out)
{
    size_t n = o->nwindows ? o->nwindows : 1;
    double whole[2] = { o->start, o->stop };
    const double *from = o->nwindows ? o->window_from : whole, *to = o->nwindows ? o->window_to : whole + 1;
    bool fine = true;

    for (size_t w = 0; w < n && fine; w++) {
        measure_options mo = { .metrics = METRIC(METRIC_JUNCTION) };
        sim_options one = *o;
        sim_result run = { 0 };
        measure *q;

        one.nwindows = 1;
        one.window_from = &from[w];
        one.window_to = &to[w];
        q = measure_new(c->model, &mo, &one);
        fine = q && simulate(c->model, &one, &run);
        if (fine && from[w] < run.t_end) { /* not all that its `stop when` left out */
            junction_table t;
            local_study s;

            measure_junction(q, &run, &t);
            study_new(c->flat, r->experiment, from[w], fmin(to[w], run.t_end), &s);
            take(c->flat, &t, &s);
            vec_push(&out->study, s);
            junction_free(&t);
        }
        measure_free(q);
        sim_result_free(&run);
    }
    return fine;
}

static void
sum_up(local_ratios *l)
{
    local_study *g = &l->greatest;
    double *bond = bg_calloc(l->nbonds + 1, sizeof *bond), *port = bg_calloc(l->nports + 1, sizeof *port);

    for (size_t s = 0; s < l->study.n; s++) {
        const local_study *x = &l->study.at[s];
        bool fresh = s == 0 || strcmp(l->study.at[s - 1].experiment, x->experiment);

        for (size_t i = 0; i < l->nbonds; i++) {
            bond[i] = x->bond_activity[i] + (fresh ? 0 : bond[i]);
            g->bond_activity[i] = fmax(g->bond_activity[i], bond[i]);
            g->bond_from[i] = greater(g->bond_from[i], x->bond_from[i]);
            g->bond_to[i] = greater(g->bond_to[i], x->bond_to[i]);
        }
        for (size_t i = 0; i < l->nports; i++) {
            port[i] = x->port_activity[i] + (fresh ? 0 : port[i]);
            g->port_activity[i] = fmax(g->port_activity[i], port[i]);
            g->port[i] = greater(g->port[i], x->port[i]);
        }
    }
    free(bond);
    free(port);
}

enum local_result
local_measure(const flat_model *f, const recording *r, size_t n, void (*failed)(void *ctx, const sources *s), void *ctx,
              local_ratios *out, const char **other)
{
    enum local_result result = LOCAL_DONE;

    *out = (local_ratios){ .nbonds = f->bond.n, .nports = f->port.n };
    study_new(f, "", NAN, NAN, &out->greatest);
    for (size_t i = 0; i < n && result == LOCAL_DONE; i++) {
        compile_options co = recording_options(&r[i]);
        compilation c = { 0 };
        sim_options so = { 0 };

        if (!compile_text(&c, r[i].path, r[i].text, r[i].length, STAGE_MODEL, &co) ||
            !sim_options_from_experiment(c.model, &so))
            result = LOCAL_FAILED;
        else if (c.flat->bond.n != f->bond.n || c.flat->port.n != f->port.n || c.flat->junction.n != f->junction.n)
            result = LOCAL_OTHER_GRAPH;
        else {
            if (r[i].adjust)
                r[i].adjust(r[i].ctx, c.model, &so);
            if (!run_windows(&c, &r[i], &so, out))
                result = LOCAL_FAILED;
        }
        if (result == LOCAL_FAILED && failed)
            failed(ctx, c.sources);
        if (result == LOCAL_OTHER_GRAPH)
            *other = r[i].experiment;
        sim_options_free(&so);
        compile_free(&c);
    }
    sum_up(out);
    return result;
}

void
local_free(local_ratios *l)
{
    for (size_t i = 0; i < l->study.n; i++)
        study_free(&l->study.at[i]);
    vec_free(&l->study);
    study_free(&l->greatest);
    memset(l, 0, sizeof *l);
}
