/* local.c - see local.h */
#include "local.h"

#include <math.h>
#include <string.h>

#include "metrics.h"
#include "compiled.h"

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
take_table(const flat_model *f, const junction_table *t, local_study *out)
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

/* One run, window after window. The whole experiment is run each time, so that the steps are the same for every window;
 * each run has an instance of its own, since an instance would start from where it last ended. */
static bool
run_windows(const bg_model *of, const recording *r, sim_options *o, local_ratios *out)
{
    size_t n = o->nwindows ? o->nwindows : 1;
    double whole[2] = { o->start, o->stop };
    const double *from = o->nwindows ? o->window_from : whole, *to = o->nwindows ? o->window_to : whole + 1;
    bool fine = true;

    for (size_t w = 0; w < n && fine; w++) {
        measure_options mo = { .metrics = METRIC(METRIC_JUNCTION) };
        sim_options one = *o;
        sim_result run = { 0 };
        bg_model *m = model_another(of);
        measure *q;

        one.nwindows = 1;
        one.window_from = &from[w];
        one.window_to = &to[w];
        q = measure_new(m, &mo, &one);
        fine = q && simulate(m, &one, &run);
        if (fine && from[w] < run.t_end) { /* skip the windows that `stop when` cut off */
            junction_table t;
            local_study s;

            measure_junction(q, &run, &t);
            study_new(model_flat(m), r->experiment, from[w], fmin(to[w], run.t_end), &s);
            take_table(model_flat(m), &t, &s);
            vec_push(&out->study, s);
            junction_free(&t);
        }
        measure_free(q);
        sim_result_free(&run);
        model_free(m);
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
            g->bond_from[i] = fmax(g->bond_from[i], x->bond_from[i]);
            g->bond_to[i] = fmax(g->bond_to[i], x->bond_to[i]);
        }
        for (size_t i = 0; i < l->nports; i++) {
            port[i] = x->port_activity[i] + (fresh ? 0 : port[i]);
            g->port_activity[i] = fmax(g->port_activity[i], port[i]);
            g->port[i] = fmax(g->port[i], x->port[i]);
        }
    }
    free(bond);
    free(port);
}

enum local_result
local_compile(const flat_model *f, const recording *r, size_t n, void (*failed)(void *ctx, const sources *s), void *ctx,
              local_models *out, const char **other)
{
    *out = (local_models){ bg_calloc(n + 1, sizeof *out->c), 0 };
    for (size_t i = 0; i < n; i++) {
        compile_options co = recording_options(&r[i]);
        compilation *c = &out->c[out->n++];

        if (!compile_text(c, r[i].path, r[i].text, r[i].length, STAGE_MODEL, &co)) {
            failed(ctx, c->sources);
            return LOCAL_FAILED;
        }
        if (c->flat->bond.n != f->bond.n || c->flat->port.n != f->port.n || c->flat->junction.n != f->junction.n) {
            *other = r[i].experiment;
            return LOCAL_OTHER_GRAPH;
        }
    }
    return LOCAL_DONE;
}

void
local_models_free(local_models *m)
{
    for (size_t i = 0; i < m->n; i++)
        compile_free(&m->c[i]);
    free(m->c);
    *m = (local_models){ 0 };
}

enum local_result
local_measure(const local_models *l, const recording *r, const local_setting *set,
              void (*failed)(void *ctx, const sources *s), void *ctx, local_ratios *out)
{
    const flat_model *f = l->c[0].flat;
    bool fine = true;

    *out = (local_ratios){ .nbonds = f->bond.n, .nports = f->port.n };
    study_new(f, "", NAN, NAN, &out->greatest);
    for (size_t i = 0; i < l->n && fine; i++) {
        bg_model *m = set ? model_another(l->c[i].model) : l->c[i].model;
        sim_options so = { 0 };

        if (set)
            model_set_parameter(m, set->parameter, set->value);
        fine = sim_options_from_experiment(m, &so);
        if (fine && r[i].adjust)
            r[i].adjust(r[i].ctx, m, &so);
        fine = fine && run_windows(m, &r[i], &so, out);
        if (!fine)
            failed(ctx, l->c[i].sources);
        sim_options_free(&so);
        if (set)
            model_free(m);
    }
    sum_up(out);
    return fine ? LOCAL_DONE : LOCAL_FAILED;
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
