/* cmd_linearize.c - bgc linearize: the linear model at operating points */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "events.h"
#include "figure.h"
#include "first_solution.h"
#include "linear_export.h"
#include "linear_figures.h"
#include "linear_report.h"
#include "linear_symbolic.h"
#include "second_order_report.h"

typedef VEC(double) points;

/* --at TIME, --at equilibrium (NAN); without it the start, -INFINITY. */
static int
read_points(const request *q, points *p)
{
    for (size_t i = 0; i < q->at.n; i++) {
        char *end;
        double t = strtod(q->at.at[i], &end);

        if (!strcmp(q->at.at[i], "equilibrium")) {
            t = NAN;
        } else if (end == q->at.at[i] || *end || !isfinite(t)) {
            complain("--at is a time in s or `equilibrium`, not \"%s\"", q->at.at[i]);
            return STATUS_USAGE;
        }
        vec_push(p, t);
    }
    if (!q->at.n)
        vec_push(p, -INFINITY);
    return STATUS_DONE;
}

/* given: for the model that the command is about; a model compared with it may lack some of these states. */
static int
give_states(const request *q, const bg_model *m, bool given, double *x)
{
    size_t n = model_nstates(m);

    for (size_t i = 0; i < q->state.n; i++) {
        const char *text = q->state.at[i], *equal = strchr(text, '=');
        char *end, *name;
        double value = equal ? strtod(equal + 1, &end) : 0;
        size_t k = 0;

        if (!equal || equal == text || end == equal + 1 || *end || !isfinite(value)) {
            complain("--state is NAME=VALUE, in SI units, not \"%s\"", text);
            return STATUS_USAGE;
        }
        name = bg_format("%.*s", (int)(equal - text), text);
        while (k < n && strcmp(model_state(m, k).name, name))
            k++;
        if (k == n && !given) {
            free(name);
            continue;
        }
        if (k == n) {
            const char **list = bg_calloc(n + 1, sizeof *list);
            char *instead;

            for (size_t s = 0; s < n; s++)
                list[s] = model_state(m, s).name;
            instead = names_instead(name, list, n);
            complain("%s has no state \"%s\"%s", model_name(m), name, instead);
            free(instead);
            free(list);
            free(name);
            return STATUS_USAGE;
        }
        free(name);
        x[k] = value;
    }
    return STATUS_DONE;
}

/* Finds the states at a point; *t: its time. */
static int
go_to(const request *q, loaded *l, double point, bool given, double *t, double *x)
{
    bg_model *m = l->c.model;
    sim_options o = { 0 };
    sim_result r = { 0 };
    double start = 0;
    int status = STATUS_DONE;

    if (l->experiment) {
        if (!sim_options_from_experiment(m, &o))
            status = status_of(l->c.sources);
        start = o.start;
        if (isfinite(point) && point < start) {
            complain("experiment %s begins at %g s: there is nothing at %g s", l->experiment, start, point);
            status = STATUS_USAGE;
        } else if (isfinite(point) && point > o.stop) {
            complain("experiment %s ends at %g s: there is nothing at %g s", l->experiment, o.stop, point);
            status = STATUS_USAGE;
        }
    } else if (isfinite(point) && point != 0) {
        complain("%s has no experiment that reaches %g s", l->path, point);
        status = STATUS_USAGE;
    }
    *t = isfinite(point) ? point : start;
    if (status == STATUS_DONE && isfinite(point) && point > start) {
        struct run_settings settings = { .q = q, .shown = -1, .default_rtol = RANKING_RTOL };

        adjust_run(&settings, m, &o);
        o.stop = point;
        free((void *)o.window_from);
        free((void *)o.window_to);
        o.window_from = o.window_to = NULL;
        o.nwindows = 0;
        if (simulate(m, &o, &r))
            memcpy(x, r.x_end, model_nstates(m) * sizeof *x);
        else
            status = status_of(l->c.sources);
        progress_done(&settings);
    } else if (status == STATUS_DONE) {
        bool rests = isnan(point) || (l->experiment && o.equilibrium);

        if (!first_point(m, *t, rests, x))
            status = status_of(l->c.sources);
    }
    if (status == STATUS_DONE)
        status = give_states(q, m, given, x);
    if (status == STATUS_DONE && q->state.n) { /* the modes for these states */
        events *e = events_new(m, *t, *t + 1);

        if (events_start(e, *t, x) == EVENTS_FAILED || diag_errors(l->c.sources)) {
            complain("%s has no modes that hold at these states", l->path);
            status = STATUS_NUMBERS;
        }
        events_free(e);
    }
    sim_options_free(&o);
    sim_result_free(&r);
    return status;
}

/* IN:OUT, by name, or `all`. */
typedef struct pair {
    size_t at[2];
} pair;
typedef VEC(pair) pairs;

static bool
find_name(const linearization *l, bool output, const char *name, size_t n, size_t *at)
{
    size_t count = output ? l->space.ny : l->input.n;
    VEC(const char *) list = { 0 };
    char *text, *instead;

    for (size_t i = 0; i < count; i++) {
        const char *is = output ? model_output_name(l->model, i) : l->input.at[i].name;

        if (strlen(is) == n && !strncmp(is, name, n)) {
            *at = i;
            vec_free(&list);
            return true;
        }
        vec_push(&list, is);
    }
    text = bg_format("%.*s", (int)n, name);
    instead = names_instead(text, list.at, list.n);
    complain("%s has no %s \"%s\"%s", model_name(l->model), output ? "output" : "input", text, instead);
    free(instead);
    free(text);
    vec_free(&list);
    return false;
}

static int
read_pairs(const request *q, const linearization *l, pairs *out)
{
    for (size_t i = 0; i < q->transfer.n; i++) {
        const char *text = q->transfer.at[i], *colon = strrchr(text, ':');
        pair p;

        if (!strcmp(text, "all")) {
            for (p.at[0] = 0; p.at[0] < l->input.n; p.at[0]++)
                for (p.at[1] = 0; p.at[1] < l->space.ny; p.at[1]++)
                    vec_push(out, p);
            continue;
        }
        if (!colon) {
            complain("--tf is INPUT:OUTPUT or `all`, not \"%s\"", text);
            return STATUS_USAGE;
        }
        if (!find_name(l, false, text, (size_t)(colon - text), &p.at[0]) ||
            !find_name(l, true, colon + 1, strlen(colon + 1), &p.at[1]))
            return STATUS_USAGE;
        vec_push(out, p);
    }
    return STATUS_DONE;
}

/* ---------------------------------------------------------------- comparison with reduced models */

/* Inputs and outputs of `small` in the order of the full model. */
static int
same_ports(const linearization *full, const linearization *small, state_space *out)
{
    size_t n = small->space.n;

    *out = state_space_new(n, full->space.nu, full->space.ny);
    memcpy(out->A, small->space.A, n * n * sizeof(double));
    for (size_t i = 0; i < full->input.n; i++) {
        size_t at;

        if (!find_name(small, false, full->input.at[i].name, strlen(full->input.at[i].name), &at))
            return STATUS_USAGE;
        memcpy(out->B + n * i, small->space.B + n * at, n * sizeof(double));
        for (size_t y = 0; y < full->space.ny; y++) {
            const char *name = model_output_name(full->model, y);
            size_t row;

            if (!find_name(small, true, name, strlen(name), &row))
                return STATUS_USAGE;
            for (size_t k = 0; k < n; k++)
                out->C[y + full->space.ny * k] = small->space.C[row + small->space.ny * k];
            out->D[y + full->space.ny * i] = small->space.D[row + small->space.ny * at];
        }
    }
    return STATUS_DONE;
}

/* Linearizes another model and compares it; `over` gets it too, for figures. */
static int
compare_with(const request *q, const char *path, double point, const linearization *full, yardstick *y, overlays *over)
{
    loaded l;
    int status = load_model(q, path, STAGE_MODEL, EXPERIMENT_OPTIONAL, &l);

    if (status == STATUS_DONE) {
        double *x = bg_calloc(model_nstates(l.c.model) + 1, sizeof *x), t;
        linearization p = { 0 };
        state_space small = { 0 };

        status = go_to(q, &l, point, false, &t, x);
        if (status == STATUS_DONE && !linearize_at(l.c.model, t, x, &p)) {
            complain("%s cannot be linearized at %g s: %s", path, t, p.why);
            status = STATUS_NUMBERS;
        }
        if (status == STATUS_DONE)
            status = same_ports(full, &p, &small);
        if (status == STATUS_DONE && !y->why)
            yardstick_against(y, path, &small);
        print_diagnostics(q, l.c.sources);
        vec_push(over, ((overlay){ path, small }));
        linearization_free(&p);
        free(x);
    }
    loaded_free(&l);
    return status;
}

static int
measure_reductions(const request *q, double point, const linearization *p, yardstick *y, overlays *over)
{
    int status = STATUS_DONE;

    if (!yardstick_open(&p->space, y) && !y->why)
        y->why = bg_strdup("the norm is not known");
    for (size_t i = 0; i < q->truncate.n && !y->why; i++)
        yardstick_truncate(y, q->truncate.at[i]);
    for (size_t i = 0; i < q->against.n && status == STATUS_DONE; i++)
        status = compare_with(q, q->against.at[i], point, p, y, over);
    return status;
}

/* ---------------------------------------------------------------- figures */

static const enum option figure_option[] = { OPT_BODE, OPT_STEP_FIGURE, OPT_POLES, OPT_EFFECTS };
enum { FIGURES = sizeof figure_option / sizeof *figure_option };

/* With several points "a.svg" becomes a_1.svg, a_2.svg, ... */
static char *
figure_name(const char *path, size_t point, size_t npoints)
{
    const char *dot = strrchr(path, '.');

    return npoints < 2 ? bg_strdup(path) : bg_format("%.*s_%zu%s", (int)(dot - path), path, point + 1, dot);
}

static int
check_figures(const request *q)
{
    for (int i = 0; i < FIGURES; i++)
        if (q->text[figure_option[i]] && !figure_form_known(q->text[figure_option[i]])) {
            complain("%s: a figure's name ends in .svg, .png or .pdf", q->text[figure_option[i]]);
            return STATUS_USAGE;
        }
    if (q->text[OPT_EXPORT] && !linear_export_known(q->text[OPT_EXPORT])) {
        complain("%s: matrices go into a file whose name ends in .csv, .m or .npz", q->text[OPT_EXPORT]);
        return STATUS_USAGE;
    }
    return STATUS_DONE;
}

static int
draw_linear(const request *q, const linearization *p, const figure_choice *c, size_t point, size_t npoints)
{
    int status = STATUS_DONE;

    for (int i = 0; i < FIGURES && status == STATUS_DONE; i++) {
        const char *path = q->text[figure_option[i]];
        char *name = path ? figure_name(path, point, npoints) : NULL, *why = NULL;
        bool fine = !name || (i == 0   ? draw_bode(p, c, name, &why)
                              : i == 1 ? draw_steps(p, c, name, &why)
                              : i == 2 ? draw_poles(p, name, &why)
                                       : draw_effects(p, name, &why));

        if (!fine) {
            complain("%s", why);
            status = STATUS_FILE;
        }
        free(name);
        free(why);
    }
    return status;
}

static int
write_export(const char *path, const linear_points *all)
{
    outfile out;
    char *why = NULL;
    int status = STATUS_DONE;

    if (!outfile_open(&out, path))
        return complain_file(path);
    if (!linear_export(all, path, out.out, &why)) {
        complain("%s: %s", path, why);
        status = STATUS_FILE;
    } else if (!outfile_commit(&out)) {
        status = complain_file(path);
    }
    outfile_abort(&out);
    free(why);
    return status;
}

/* ---------------------------------------------------------------- the complete command */

/* Reports options that need the whole of A where only some eigenvalues are computed. */
static int
check_sparse(const request *q, const linearization *p)
{
    static const struct {
        enum option option;
        const char *name;
    } whole[] = {
        { OPT_TF, "tf" },     { OPT_TRUNCATE, "truncate" }, { OPT_AGAINST, "against" },   { OPT_EXPORT, "export" },
        { OPT_BODE, "bode" }, { OPT_STEP_FIGURE, "step" },  { OPT_SYMBOLIC, "symbolic" }, { OPT_LATEX, "latex" },
        { OPT_MDK, "mdk" }
    };

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (q->given & OPT(whole[i].option)) {
            complain("--%s needs the whole matrix: %s", whole[i].name, p->structure.why);
            return STATUS_USAGE;
        }
    return STATUS_DONE;
}

static int
show(const request *q, const loaded *l, const points *at, size_t number, linearization *p, FILE *out, json *j)
{
    double point = at->at[number];
    overlays over = { 0 };
    pairs list = { 0 };
    linear_view v = { .experiment = l->experiment };
    yardstick reductions = { 0 };
    int status = p->sparse ? check_sparse(q, p) : STATUS_DONE;
    char *why = NULL;

    if (status == STATUS_DONE)
        status = read_pairs(q, p, &list);
    if (status == STATUS_DONE && (q->truncate.n || q->against.n)) {
        status = measure_reductions(q, point, p, &reductions, &over);
        v.reductions = &reductions;
    }
    v.ntransfer = list.n;
    v.transfer = (const size_t(*)[2])(const void *)list.at;
    if (status == STATUS_DONE && (q->given & OPT(OPT_MDK))) {
        if (!second_order_report(p, l->experiment, (q->given & OPT(OPT_SYMBOLIC)) != 0,
                                 (q->given & OPT(OPT_LATEX)) != 0, out, q->json ? j : NULL, &why)) {
            complain("%s: %s", l->c.flat->name, why);
            status = STATUS_NUMBERS;
        }
    } else if (status == STATUS_DONE && (q->given & (OPT(OPT_SYMBOLIC) | OPT(OPT_LATEX)))) {
        if (q->json)
            json_open(j, '{');
        if (!linear_symbolic(p, (q->given & OPT(OPT_LATEX)) != 0, out, q->json ? j : NULL, &why)) {
            complain("%s has no structured form: %s", l->c.flat->name, why);
            status = STATUS_NUMBERS;
        }
        if (q->json)
            json_close(j, '}');
    } else if (status == STATUS_DONE && q->json) {
        linear_json(p, &v, j);
    } else if (status == STATUS_DONE) {
        linear_text(p, &v, out);
    }
    if (status == STATUS_DONE)
        status = draw_linear(q, p, &(figure_choice){ v.ntransfer, v.transfer, &over }, number, at->n);
    free(why);
    vec_free(&list);
    overlays_free(&over);
    yardstick_free(&reductions);
    return status;
}

int
cmd_linearize(const request *q)
{
    request opened = *q;
    loaded l;
    points at = { 0 };
    linear_points all = { 0 };
    outfile out;
    double *x = NULL;
    int status;

    opened.open = true;
    status = check_figures(q);
    if (status == STATUS_DONE)
        status = read_points(q, &at);
    if (status != STATUS_DONE) {
        vec_free(&at);
        return status;
    }
    status = load_model(&opened, q->file.at[0], STAGE_MODEL, EXPERIMENT_OPTIONAL, &l);
    if (status == STATUS_DONE && !outfile_open(&out, q->text[OPT_OUTPUT])) {
        status = complain_file(q->text[OPT_OUTPUT]);
    } else if (status == STATUS_DONE) {
        json j = { .out = out.out };

        x = bg_calloc(model_nstates(l.c.model) + 1, sizeof *x);
        if (q->json && at.n > 1)
            json_open(&j, '[');
        for (size_t i = 0; i < at.n && status == STATUS_DONE; i++) {
            linearization p = { 0 };
            char *why = NULL;
            double t;

            status = go_to(&opened, &l, at.at[i], true, &t, x);
            if (status == STATUS_DONE &&
                !linearize_some(l.c.model, t, x, (mode_request){ q->eigenvalues, q->near[0] + q->near[1] * I }, &p)) {
                complain("%s cannot be linearized at %g s: %s", l.c.flat->name, t, p.why);
                status = STATUS_NUMBERS;
            }
            if (status == STATUS_DONE)
                status = show(&opened, &l, &at, i, &p, out.out, &j);
            if (status == STATUS_DONE && q->text[OPT_EXPORT] && !linear_points_add(&all, &p, &why)) {
                complain("%s: %s", q->text[OPT_EXPORT], why);
                status = STATUS_NUMBERS;
            }
            free(why);
            linearization_free(&p);
        }
        if (q->json && at.n > 1)
            json_close(&j, ']');
        print_diagnostics(q, l.c.sources);
        if (status == STATUS_DONE && q->text[OPT_EXPORT])
            status = write_export(q->text[OPT_EXPORT], &all);
        if (status == STATUS_DONE && !outfile_commit(&out))
            status = complain_file(q->text[OPT_OUTPUT]);
        outfile_abort(&out);
    }
    free(x);
    linear_points_free(&all);
    vec_free(&at);
    loaded_free(&l);
    return status;
}
