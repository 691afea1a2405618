/* cmd_sensitivity.c - bgc sensitivity: importance of parameters, by three measures */
#include <math.h>
#include <string.h>

#include "chosen.h"
#include "command.h"
#include "columns.h"
#include "factorial.h"
#include "forward.h"
#include "report.h"
#include "sensitivity_command.h"
#include "side_by_side.h"
#include "compiled.h"

static const double LEAST_SHOWN = 1e-4;   /* a smaller probability is shown as "< 0.0001" */
static const double DEFAULT_CHANGE = 0.1; /* of a parameter: half the distance of the two levels of a design */

/* Greatest number of runs of a full design; beyond it a fraction is used. */
enum { MOST_RUNS = 1024 };

static const char *const responses[] = { "l1_deviation", "squared_deviation", "rms_deviation" };
enum { NRESPONSES = sizeof responses / sizeof *responses };

struct study {
    const request *q;
    loaded *l;
    bg_model *m;
    sim_options o;
    chosen c;
    size_t points, ny;
    VEC(uint32_t) output; /* outputs that are compared */
    int response;
    double delta;
    double *time;
    double *nominal, *derivative; /* [points][ny], [points][ny][parameters] */
    double *value;                /* of the parameters */
    double *size;                 /* measure of sensitivity */
    double *activity;             /* share */
    design design;
    double *result;
    anova anova;
    bool designed;
};

/* The observed outputs, or all where the experiment observes none. */
static void
pick_outputs(struct study *s)
{
    const flat_model *f = model_flat(s->m);

    for (size_t i = 0; i < f->experiment.observe.n; i++)
        vec_push(&s->output, f->experiment.observe.at[i].output);
    for (uint32_t k = 0; f->experiment.observe.n == 0 && k < s->ny; k++)
        vec_push(&s->output, k);
}

/* Deviation of a run from the nominal one: mean over the outputs. */
static double
deviation(const struct study *s, const double *y)
{
    double mean = 0;

    for (size_t k = 0; k < s->output.n; k++) {
        double top = 0, bottom = 0, value;

        for (size_t i = 0; i < s->points; i++) {
            double y0 = s->nominal[i * s->ny + s->output.at[k]], d = y[i * s->ny + s->output.at[k]] - y0;

            top += s->response == 0 ? fabs(d) : d * d;
            bottom += s->response == 0 ? fabs(y0) : y0 * y0;
        }
        value = s->response == 2 ? sqrt(top / bottom) : top / bottom;
        mean += value / (double)s->output.n;
    }
    return mean;
}

/* One run of the design. */
static bool
one_run(void *ctx, size_t i, void *result)
{
    struct study *s = ctx;
    double response = NAN;
    uint64_t levels = design_levels(&s->design, i);
    forward f = { .model = s->m,
                  .time = s->time,
                  .ntimes = s->points,
                  .output = bg_calloc(s->points * s->ny + 1, sizeof(double)) };
    bool fine;

    for (size_t k = 0; k < s->c.by.n; k++)
        model_set_parameter(s->m, s->c.name.at[k], s->value[k] * (levels >> k & 1 ? 1 + s->delta : 1 - s->delta));
    fine = forward_run(&f, &s->o);
    if (fine)
        response = deviation(s, f.output);
    memcpy(result, &response, sizeof response);
    for (size_t k = 0; k < s->c.by.n; k++)
        model_set_parameter(s->m, s->c.name.at[k], s->value[k]);
    free(f.output);
    return isfinite(response);
}

static int
run_design(struct study *s)
{
    size_t k = s->c.by.n, dropped = 0, runs, failed = NO_INDEX;

    if (s->q->given & OPT(OPT_FRACTION))
        dropped = s->q->fraction;
    else
        while (k > dropped && k - dropped > 10)
            dropped++;
    if (!design_make(k, dropped, &s->design)) {
        if (s->q->given & OPT(OPT_FRACTION)) {
            complain("a fraction of 1/2^%zu cannot tell the effects of %zu parameters apart", dropped, k);
            return STATUS_USAGE;
        }
        complain("%zu parameters are too many for a design of %d runs; --parameters names those that are to be moved",
                 k, MOST_RUNS);
        return STATUS_DONE; /* the other measures are still valid */
    }
    runs = design_runs(&s->design);
    s->result = bg_calloc(runs + 1, sizeof *s->result);
    side_by_side(runs, sizeof *s->result, 0, one_run, s, s->result);
    for (size_t i = 0; i < runs && failed == NO_INDEX; i++)
        if (isnan(s->result[i]))
            failed = i;
    if (failed != NO_INDEX) {
        double again;

        one_run(s, failed, &again); /* again, for its messages */
        print_diagnostics(s->q, s->l->c.sources);
        complain("run %zu of the design fails: parameters %.3g %% up or down are too far; --delta takes less",
                 failed + 1, 100 * s->delta);
        return STATUS_NUMBERS;
    }
    anova_make(&s->design, s->result, &s->anova);
    s->designed = true;
    return STATUS_DONE;
}

/* The nominal run with derivatives and the elements' activities. */
static int
run_nominal(struct study *s)
{
    size_t n = s->c.by.n, elements = model_nelements(s->m);
    forward f = { .model = s->m, .by = s->c.by.at, .n = n, .time = s->time, .ntimes = s->points };
    sim_options powers = s->o;
    sim_result r = { 0 };
    bool *reads = bg_calloc(elements + 1, sizeof *reads), fine;
    double total = 0;

    f.output = s->nominal = bg_calloc(s->points * s->ny + 1, sizeof(double));
    f.derivative = s->derivative = bg_calloc(s->points * s->ny * n + 1, sizeof(double));
    fine = forward_run(&f, &s->o);
    if (fine && f.lost && !s->q->quiet)
        complain("%zu switchings are left out of the derivatives: their conditions only touch zero", f.lost);
    for (size_t q = 0; q < n && fine; q++) {
        for (size_t k = 0; k < s->output.n; k++) {
            double top = 0, bottom = 0;

            for (size_t i = 0; i < s->points; i++) {
                double d = s->derivative[(i * s->ny + s->output.at[k]) * n + q] * s->value[q],
                       y = s->nominal[i * s->ny + s->output.at[k]];

                top += d * d;
                bottom += y * y;
            }
            s->size[q] += (bottom > 0 ? sqrt(top / bottom) : 0) / (double)s->output.n;
        }
    }
    powers.points = 0;
    powers.activity = true;
    fine = fine && simulate(s->m, &powers, &r);
    for (size_t e = 0; e < elements && fine; e++) {
        enum element_type type = model_flat(s->m)->element.at[e].type;

        if (type != EL_SE && type != EL_SF)
            total += r.activity[e];
    }
    for (size_t q = 0; q < n && fine; q++) {
        chosen_readers(s->m, s->c.by.at[q], reads);
        for (size_t e = 0; e < elements; e++) {
            enum element_type type = model_flat(s->m)->element.at[e].type;

            if (reads[e] && type != EL_SE && type != EL_SF && total > 0)
                s->activity[q] += r.activity[e] / total;
        }
    }
    sim_result_free(&r);
    free(reads);
    return fine ? STATUS_DONE : status_of(s->l->c.sources);
}

/* A share of 0 is 0: such a parameter is moved by none of the measures. */
static bool
is_varied(const struct study *s, size_t q)
{
    return s->value[q] != 0;
}

/* Is it a temperature? It is varied by a share of its kelvins, which is much for one that is written in degC. */
static bool
varies_temperature(const struct study *s, size_t q)
{
    const unit *u = model_variable(s->m, s->c.by.at[q]).unit;

    return u && !strcmp(unit_text(u), "K");
}

static void
write_sensitivity_json(const struct study *s, FILE *out)
{
    json j = { .out = out };
    size_t n = s->c.by.n;

    json_open(&j, '{');
    json_key(&j, "model"), json_string(&j, model_name(s->m));
    json_key(&j, "experiment"), json_string(&j, s->l->experiment);
    json_key(&j, "response"), json_string(&j, responses[s->response]);
    json_key(&j, "outputs");
    json_open(&j, '[');
    for (size_t k = 0; k < s->output.n; k++)
        json_string(&j, model_graph_of(s->m)->output[s->output.at[k]].name);
    json_close(&j, ']');
    json_key(&j, "delta"), json_number(&j, s->delta);
    json_key(&j, "runs"), json_count(&j, s->designed ? design_runs(&s->design) : 0);
    json_key(&j, "parameters");
    json_open(&j, '[');
    for (size_t q = 0; q < n; q++) {
        json_open(&j, '{');
        json_key(&j, "name"), json_string(&j, s->c.name.at[q]);
        json_key(&j, "value"), json_number(&j, s->value[q]);
        json_key(&j, "varied"), json_bool(&j, is_varied(s, q));
        json_key(&j, "change"), json_number(&j, fabs(s->delta * s->value[q]));
        json_key(&j, "sensitivity"), json_number(&j, is_varied(s, q) ? s->size[q] : NAN);
        json_key(&j, "activity"), json_number(&j, s->activity[q]);
        if (s->designed) {
            json_key(&j, "sum_sq"), json_number(&j, is_varied(s, q) ? s->anova.effect[q].sum : NAN);
            json_key(&j, "F"), json_number(&j, is_varied(s, q) ? s->anova.effect[q].F : NAN);
            json_key(&j, "p"), json_number(&j, is_varied(s, q) ? s->anova.effect[q].p : NAN);
        }
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "interactions");
    json_open(&j, '[');
    for (size_t e = n; s->designed && e < s->anova.n; e++) {
        const effect *x = &s->anova.effect[e];

        json_open(&j, '{');
        json_key(&j, "a"), json_string(&j, s->c.name.at[x->a]);
        json_key(&j, "b"), json_string(&j, s->c.name.at[x->b]);
        json_key(&j, "sum_sq"), json_number(&j, x->sum);
        json_key(&j, "F"), json_number(&j, x->F);
        json_key(&j, "p"), json_number(&j, x->p);
        json_key(&j, "alias"), json_bool(&j, x->alias != NO_INDEX);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "error");
    json_open(&j, '{');
    json_key(&j, "sum_sq"), json_number(&j, s->designed ? s->anova.error : NAN);
    json_key(&j, "dof"), json_count(&j, s->designed ? s->anova.error_freedom : 0);
    json_close(&j, '}');
    json_key(&j, "total"), json_number(&j, s->designed ? s->anova.total : NAN);
    json_key(&j, "rank_correlation"), json_number(&j, rank_correlation(n, s->size, s->activity));
    json_close(&j, '}');
}

static void
put_p(table *t, double p)
{
    if (isnan(p))
        table_put(t, "-");
    else if (p < LEAST_SHOWN)
        table_put(t, "< 0.0001");
    else
        table_put(t, "%.4f", p);
}

static void
write_sensitivity_text(const struct study *s, FILE *out)
{
    size_t n = s->c.by.n;
    double rho = rank_correlation(n, s->size, s->activity);
    table t = { .columns = 6, .left = 1 }, pairs = { .columns = 4, .left = 1 };

    table_put(&t, "parameter"), table_put(&t, "sensitivity"), table_put(&t, "activity"),
        table_put(&t, "share of squares"), table_put(&t, "F"), table_put(&t, "p");
    for (size_t q = 0; q < n; q++) {
        table_put(&t, "%s", s->c.name.at[q]);
        if (is_varied(s, q))
            table_put(&t, "%.4g", s->size[q]);
        else
            table_put(&t, "-");
        table_put(&t, "%.2f %%", 100 * s->activity[q]);
        if (s->designed && is_varied(s, q)) {
            table_put(&t, "%.2f %%", 100 * s->anova.effect[q].sum / s->anova.total);
            table_put(&t, "%.4g", s->anova.effect[q].F);
            put_p(&t, s->anova.effect[q].p);
        } else {
            table_put(&t, "-"), table_put(&t, "-"), table_put(&t, "-");
        }
    }
    table_print(&t, out, "");
    for (size_t q = 0; q < n; q++) {
        if (!is_varied(s, q))
            fprintf(out, "%s is 0, and a share of 0 is 0: it is not varied, which does not say that it has no effect\n",
                    s->c.name.at[q]);
        else if (varies_temperature(s, q))
            fprintf(out, "%s is %.4g K and varied by a share of that: by %.3g K\n", s->c.name.at[q], s->value[q],
                    s->delta * s->value[q]);
    }
    if (isfinite(rho))
        fprintf(out, "rank correlation of sensitivity and activity %.3f\n", rho);
    if (!s->designed)
        return;
    fprintf(out, "design: %zu runs of %zu parameters at -/+ %.3g %%, response %s\n", design_runs(&s->design), n,
            100 * s->delta, responses[s->response]);
    if (s->anova.n > n) {
        table_put(&pairs, "interaction"), table_put(&pairs, "share of squares"), table_put(&pairs, "F"),
            table_put(&pairs, "p");
        for (size_t e = n; e < s->anova.n; e++) {
            const effect *x = &s->anova.effect[e];

            table_put(&pairs, "%s*%s%s", s->c.name.at[x->a], s->c.name.at[x->b],
                      x->alias != NO_INDEX ? " (not apart)" : "");
            table_put(&pairs, "%.2f %%", 100 * x->sum / s->anova.total);
            table_put(&pairs, "%.4g", x->F);
            put_p(&pairs, x->p);
        }
        table_print(&pairs, out, "");
    }
    fprintf(out, "error: %.2f %% of the squares, %zu degrees of freedom\n", 100 * s->anova.error / s->anova.total,
            s->anova.error_freedom);
}

static int
report_sensitivity(const struct study *s)
{
    outfile out;

    if (!outfile_open(&out, s->q->text[OPT_OUTPUT]))
        return complain_file(s->q->text[OPT_OUTPUT]);
    if (s->q->json)
        write_sensitivity_json(s, out.out);
    else
        write_sensitivity_text(s, out.out);
    return outfile_commit(&out) ? STATUS_DONE : complain_file(s->q->text[OPT_OUTPUT]);
}

static int
study_model(struct study *s)
{
    struct run_settings settings = { .q = s->q, .default_rtol = RANKING_RTOL, .shown = -1 };
    char *why;
    int status;

    s->ny = model_noutputs(s->m);
    pick_outputs(s);
    if (s->output.n == 0) {
        complain("%s has no outputs to be sensitive", model_name(s->m));
        return STATUS_USAGE;
    }
    if (!sim_options_from_experiment(s->m, &s->o))
        return status_of(s->l->c.sources);
    adjust_run(&settings, s->m, &s->o);
    s->o.progress = NULL;
    if (s->q->given & OPT(OPT_AT))
        return derivatives_at(s->q, s->l, &s->o, s->output.at, s->output.n);
    if (!chosen_parameters(s->m, s->q->text[OPT_PARAMETERS], &s->c, &why)) {
        complain("%s", why);
        free(why);
        return STATUS_USAGE;
    }
    s->points = s->q->points ? s->q->points : RUN_POINTS;
    s->time = bg_calloc(s->points, sizeof *s->time);
    for (size_t i = 0; i < s->points; i++)
        s->time[i] = i + 1 == s->points ? s->o.stop
                                        : s->o.start + (s->o.stop - s->o.start) * (double)i / (double)(s->points - 1);
    s->value = bg_calloc(s->c.by.n + 1, sizeof *s->value);
    s->size = bg_calloc(s->c.by.n + 1, sizeof *s->size);
    s->activity = bg_calloc(s->c.by.n + 1, sizeof *s->activity);
    for (size_t k = 0; k < s->c.by.n; k++)
        s->value[k] = model_parameter_value(s->m, s->c.by.at[k]);
    if ((status = run_nominal(s)) == STATUS_DONE && (status = run_design(s)) == STATUS_DONE) {
        status = report_sensitivity(s);
        print_diagnostics(s->q, s->l->c.sources);
    } else if (status != STATUS_USAGE && !s->result) {
        print_diagnostics(s->q, s->l->c.sources);
    }
    return status;
}

int
cmd_sensitivity(const request *q)
{
    const char *response = q->text[OPT_RESPONSE] ? q->text[OPT_RESPONSE] : responses[0];
    struct study s = { .q = q, .delta = q->given & OPT(OPT_DELTA) ? q->delta : DEFAULT_CHANGE };
    loaded l;
    int status;

    while (s.response < NRESPONSES && strcmp(responses[s.response], response))
        s.response++;
    if (s.response == NRESPONSES) {
        complain("there is no response \"%s\"; there are l1_deviation, squared_deviation and rms_deviation", response);
        return STATUS_USAGE;
    }
    status = load_model(q, q->file.at[0], STAGE_MODEL, EXPERIMENT_NEEDED, &l);
    s.l = &l;
    if (status == STATUS_DONE) {
        s.m = l.c.model;
        status = study_model(&s);
    }
    sim_options_free(&s.o);
    chosen_free(&s.c);
    vec_free(&s.output);
    free(s.time);
    free(s.nominal);
    free(s.derivative);
    free(s.value);
    free(s.size);
    free(s.activity);
    free(s.result);
    free(s.anova.effect);
    loaded_free(&l);
    return status;
}
