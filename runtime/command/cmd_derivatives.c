/* cmd_derivatives.c - bgc sensitivity --at TIME: derivatives of outputs by parameters, initial values, sizes of jumps
 */
#include <math.h>
#include <string.h>

#include "adjoint.h"
#include "chosen.h"
#include "columns.h"
#include "command.h"
#include "forward.h"
#include "report.h"
#include "sensitivity_command.h"

struct derivatives {
    const request *q;
    loaded *l;
    bg_model *m;
    sim_options o;
    chosen c;
    const uint32_t *output;
    size_t noutputs, nx, columns; /* columns: parameters, initial values, jumps, in this order */
    bool adjoint;
    double *value, *slope; /* [outputs]; [outputs][columns] */
    size_t lost;
};

static char *
column_name(const struct derivatives *d, size_t k)
{
    if (k < d->c.by.n)
        return bg_strdup(d->c.name.at[k]);
    k -= d->c.by.n;
    if (k < d->c.initial.n)
        return bg_format("%s(0)", model_state(d->m, d->c.initial.at[k]).name);
    return bg_format("%s(+)", model_state(d->m, d->c.jump.at[k - d->c.initial.n]).name);
}

static bool
by_forward(struct derivatives *d)
{
    size_t ny = model_noutputs(d->m);
    forward f = { .model = d->m,
                  .by = d->c.by.at,
                  .n = d->c.by.n,
                  .initial = d->c.initial.at,
                  .ninitial = d->c.initial.n,
                  .jump = d->c.jump.at,
                  .njumps = d->c.jump.n,
                  .time = &d->o.stop,
                  .ntimes = 1,
                  .output = bg_calloc(ny + 1, sizeof(double)),
                  .derivative = bg_calloc(ny * d->columns + 1, sizeof(double)) };
    bool fine = forward_run(&f, &d->o);

    for (size_t i = 0; i < d->noutputs && fine; i++) {
        d->value[i] = f.output[d->output[i]];
        for (size_t k = 0; k < d->columns; k++)
            d->slope[i * d->columns + k] = f.derivative[d->output[i] * d->columns + k];
    }
    d->lost = f.lost;
    free(f.output);
    free(f.derivative);
    return fine;
}

static bool
by_adjoint(struct derivatives *d)
{
    adjoint a = { .model = d->m,
                  .by = d->c.by.at,
                  .n = d->c.by.n,
                  .output = d->output,
                  .noutputs = d->noutputs,
                  .value = d->value,
                  .gradient = bg_calloc(d->noutputs * d->c.by.n + 1, sizeof(double)),
                  .initial = bg_calloc(d->noutputs * d->nx + 1, sizeof(double)),
                  .jump = bg_calloc(d->noutputs * d->nx + 1, sizeof(double)) };
    bool fine = adjoint_run(&a, &d->o);

    for (size_t i = 0; i < d->noutputs && fine; i++) {
        double *to = d->slope + i * d->columns;

        for (size_t k = 0; k < d->c.by.n; k++)
            *to++ = a.gradient[i * d->c.by.n + k];
        for (size_t k = 0; k < d->c.initial.n; k++)
            *to++ = a.initial[i * d->nx + d->c.initial.at[k]];
        for (size_t k = 0; k < d->c.jump.n; k++)
            *to++ = a.jump[i * d->nx + d->c.jump.at[k]];
    }
    d->lost = a.lost;
    free(a.gradient);
    free(a.initial);
    free(a.jump);
    return fine;
}

static void
write_derivatives_json(const struct derivatives *d, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    json_key(&j, "model"), json_string(&j, model_name(d->m));
    json_key(&j, "experiment"), json_string(&j, d->l->experiment);
    json_key(&j, "time"), json_number(&j, d->o.stop);
    json_key(&j, "method"), json_string(&j, d->adjoint ? "adjoint" : "forward");
    json_key(&j, "outputs");
    json_open(&j, '[');
    for (size_t i = 0; i < d->noutputs; i++) {
        json_open(&j, '{');
        json_key(&j, "name"), json_string(&j, model_graph_of(d->m)->output[d->output[i]].name);
        json_key(&j, "value"), json_number(&j, d->value[i]);
        json_key(&j, "derivatives");
        json_open(&j, '[');
        for (size_t k = 0; k < d->columns; k++) {
            char *name = column_name(d, k);

            json_open(&j, '{');
            json_key(&j, "name"), json_string(&j, name);
            json_key(&j, "value"), json_number(&j, d->slope[i * d->columns + k]);
            json_close(&j, '}');
            free(name);
        }
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static void
write_derivatives_text(const struct derivatives *d, FILE *out)
{
    table t = { .columns = (int)d->noutputs + 1, .left = 1 };

    fprintf(out, "derivatives at %.9g s, SI units\n", d->o.stop);
    table_put(&t, "by");
    for (size_t i = 0; i < d->noutputs; i++)
        table_put(&t, "%s", model_graph_of(d->m)->output[d->output[i]].name);
    table_put(&t, "value");
    for (size_t i = 0; i < d->noutputs; i++)
        table_put(&t, "%.6g", d->value[i]);
    for (size_t k = 0; k < d->columns; k++) {
        char *name = column_name(d, k);

        table_put(&t, "%s", name);
        for (size_t i = 0; i < d->noutputs; i++)
            table_put(&t, "%.6g", d->slope[i * d->columns + k]);
        free(name);
    }
    table_print(&t, out, "");
}

static int
report_derivatives(const struct derivatives *d)
{
    outfile out;

    if (!outfile_open(&out, d->q->text[OPT_OUTPUT]))
        return complain_file(d->q->text[OPT_OUTPUT]);
    if (d->q->json)
        write_derivatives_json(d, out.out);
    else
        write_derivatives_text(d, out.out);
    return outfile_commit(&out) ? STATUS_DONE : complain_file(d->q->text[OPT_OUTPUT]);
}

/* Checks that --at lies within the experiment, and reads --method. */
static int
read_at_and_method(struct derivatives *d)
{
    const char *method = d->q->text[OPT_METHOD], *text = d->q->at.at[0];
    char *end;
    double at = strtod(text, &end);

    if (method && strcmp(method, "forward") && strcmp(method, "adjoint")) {
        complain("derivatives are taken forward or adjoint, not by \"%s\"", method);
        return STATUS_USAGE;
    }
    if (d->q->at.n > 1 || end == text || *end || !(at > d->o.start) || at > d->o.stop) {
        complain("--at is a time of the experiment after its start, in s (%g to %g), not \"%s\"", d->o.start, d->o.stop,
                 d->q->at.n > 1 ? d->q->at.at[1] : text);
        return STATUS_USAGE;
    }
    d->o.stop = at;
    d->adjoint = method ? !strcmp(method, "adjoint") : d->columns > d->noutputs;
    if (d->o.equilibrium && d->c.initial.n) {
        complain("%s starts from equilibrium: its initial values are found, not given", d->l->experiment);
        return STATUS_USAGE;
    }
    return STATUS_DONE;
}

int
derivatives_at(const request *q, loaded *l, const sim_options *o, const uint32_t *output, size_t noutputs)
{
    struct derivatives d = { .q = q,
                             .l = l,
                             .m = l->c.model,
                             .o = *o,
                             .output = output,
                             .noutputs = noutputs,
                             .nx = model_nstates(l->c.model) };
    char *why;
    int status;

    if (!chosen_everything(d.m, q->text[OPT_PARAMETERS], !o->equilibrium, &d.c, &why)) {
        complain("%s", why);
        free(why);
        chosen_free(&d.c);
        return STATUS_USAGE;
    }
    d.o.nwindows = 0;
    d.columns = d.c.by.n + d.c.initial.n + d.c.jump.n;
    d.value = bg_calloc(noutputs + 1, sizeof *d.value);
    d.slope = bg_calloc(noutputs * d.columns + 1, sizeof *d.slope);
    status = read_at_and_method(&d);
    if (status == STATUS_DONE) {
        status = (d.adjoint ? by_adjoint : by_forward)(&d) ? report_derivatives(&d) : status_of(l->c.sources);
        if (d.lost && !q->quiet)
            complain("%zu switchings are left out of the derivatives: their conditions only touch zero", d.lost);
        print_diagnostics(q, l->c.sources);
    }
    chosen_free(&d.c);
    free(d.value);
    free(d.slope);
    return status;
}
