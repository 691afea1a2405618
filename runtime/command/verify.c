/* verify.c - see verify.h */
#include "verify.h"

#include <math.h>
#include <string.h>

#include "columns.h"
#include "report.h"

/* Limits for the second run, relative to the first and absolute: an explicit integrator on a stiff model would not
 * end. */
enum { TIMES_STEPS = 200, LEAST_STEPS = 200000 };
/* relative to the greatest value of its dimension: a smaller column counts as zero */
static const double ZERO_SHARE = 1e-9;
static const double ACTIVITY_SHARE = 1e-3; /* relative to the total: smaller activities are compared with this */
static const double TENTH = 0.1;
#define USUAL_RTOL 1e-6 /* the integrator's default */

static const char *
method_of(const sim_result *r)
{
    return !r->method || !strncmp(r->method, "no states", 9) ? "no states"
           : strstr(r->method, "bdf")                        ? "bdf"
                                                             : "explicit";
}

/* Makes the second run in `again`. False: its messages say why. */
static bool
run_again(const request *q, loaded *again, const sim_options *o, size_t steps, enum sim_solver solver, double rtol,
          sim_result *r)
{
    sim_options s = { .stop = o->stop }; /* for a file without an experiment */
    bool fine = sim_options_from_experiment(again->c.model, &s);

    if (fine) {
        s.start = o->start;
        s.stop = o->stop;
        s.points = o->points;
        s.outputs = o->outputs;
        s.states = o->states;
        s.activity = o->activity;
        s.solver = solver;
        s.rtol = rtol;
        s.atol = (q->atol > 0 ? q->atol : s.atol) * TENTH;
        s.max_step = o->max_step;
        s.max_seconds = o->max_seconds;
        s.max_steps = steps;
        fine = simulate(again->c.model, &s, r);
    }
    sim_options_free(&s);
    return fine;
}

/* ---- comparison ---- */

/* Does t lie between the times of the same switching in both runs? There they may differ by the size of the jump. *k:
 * start of the search; t must ascend. */
static bool
between_switchings(const sim_result *a, const sim_result *b, double t, double most, size_t *k)
{
    size_t n = a->nevents < b->nevents ? a->nevents : b->nevents;

    while (*k < n && fmax(a->event[*k], b->event[*k]) < t)
        (*k)++;
    return *k < n && fmin(a->event[*k], b->event[*k]) <= t && fabs(a->event[*k] - b->event[*k]) <= most;
}

struct greatest {
    const unit *dimension;
    double size;
};

static double
column_size(const column *c, size_t points)
{
    double most = 0;

    for (size_t i = 0; i < points; i++)
        if (isfinite(column_at(c, i)))
            most = fmax(most, fabs(column_at(c, i)));
    return most;
}

static void
compare_columns(bg_model *ma, bg_model *mb, const sim_result *ra, const sim_result *rb, double span_length, verified *v)
{
    columns a, b;
    VEC(struct greatest) group = { 0 };

    columns_make(ma, ra, &a);
    columns_make(mb, rb, &b);
    for (size_t k = 0; k < a.column.n; k++) {
        const unit *d = a.column.at[k].unit ? unit_dimension(a.column.at[k].unit) : NULL;
        double size = column_size(&a.column.at[k], a.points);
        size_t g = 0;

        while (g < group.n && group.at[g].dimension != d)
            g++;
        if (g == group.n)
            vec_push(&group, ((struct greatest){ d, 0 }));
        group.at[g].size = fmax(group.at[g].size, size);
    }
    for (size_t k = 0; k < a.column.n && k < b.column.n; k++) {
        const unit *d = a.column.at[k].unit ? unit_dimension(a.column.at[k].unit) : NULL;
        double size = fmax(column_size(&a.column.at[k], a.points), column_size(&b.column.at[k], b.points));
        size_t g = 0, switching = 0;

        while (g < group.n && group.at[g].dimension != d)
            g++;
        size = fmax(size, ZERO_SHARE * (g < group.n ? group.at[g].size : 0));
        for (size_t i = 0; i < a.points && i < b.points; i++) {
            double x = column_at(&a.column.at[k], i), y = column_at(&b.column.at[k], i), difference;

            if (a.time[i] != b.time[i]) /* the last row of a run that `stop when` ended */
                break;
            if (between_switchings(ra, rb, a.time[i], v->bound * span_length, &switching))
                continue;
            difference = isfinite(x) && isfinite(y)   ? (size > 0 ? fabs(x - y) / size : 0)
                         : isfinite(x) == isfinite(y) ? 0
                                                      : INFINITY;
            if (difference > v->difference || (!v->column && difference >= v->difference)) {
                free(v->column);
                v->column = bg_strdup(a.column.at[k].name);
                v->difference = difference;
                v->time = a.time[i];
            }
        }
    }
    vec_free(&group);
    columns_free(&a);
    columns_free(&b);
}

static void
verify_activities(const flat_model *f, const sim_result *a, const sim_result *b, verified *v)
{
    double total = 0;

    for (size_t i = 0; i < f->element.n; i++)
        total += a->activity[i];
    for (size_t i = 0; i < f->element.n && total > 0; i++) {
        double difference = fabs(a->activity[i] - b->activity[i]) / fmax(a->activity[i], ACTIVITY_SHARE * total);

        if (difference > v->activity_difference || !v->element) {
            free(v->element);
            v->element = bg_strdup(f->element.at[i].name);
            v->activity_difference = difference;
        }
    }
}

static void
compare_ends(const sim_result *a, const sim_result *b, double start, verified *v)
{
    v->stopped = a->stopped || b->stopped;
    v->end[0] = a->t_end;
    v->end[1] = b->t_end;
    if (v->stopped && v->end[0] != v->end[1])
        v->end_difference = fabs(v->end[1] - v->end[0]) / (v->end[0] - start);
}

/* ---- the complete verification ---- */

int
verify_run(const request *q, const loaded *l, const sim_options *o, const sim_result *r, verified *v)
{
    double rtol = o->rtol > 0 ? o->rtol : USUAL_RTOL;
    size_t steps = TIMES_STEPS * r->steps > LEAST_STEPS ? (size_t)(TIMES_STEPS * r->steps) : LEAST_STEPS;
    sim_result second = { 0 };
    loaded again;
    bool fine;
    int status;

    *v = (verified){ .first = method_of(r),
                     .rtol = rtol,
                     .second_rtol = fmax(rtol * TENTH, LEAST_RTOL),
                     .events = r->nevents,
                     .bound = q->verify_bound > 0 ? q->verify_bound : VERIFY_BOUND };
    if ((status = load_experiment(q, l, l->experiment, STAGE_MODEL, &again)) != STATUS_DONE) {
        loaded_free(&again);
        return status;
    }
    fine = run_again(q, &again, o, steps, strstr(v->first, "bdf") ? SIM_EXPLICIT : SIM_BDF, v->second_rtol, &second);
    if (!fine && strstr(v->first, "bdf")) { /* stiff model: uses the same method, which chooses its own steps */
        sim_result_free(&second);
        loaded_free(&again);
        if ((status = load_experiment(q, l, l->experiment, STAGE_MODEL, &again)) != STATUS_DONE) {
            loaded_free(&again);
            return status;
        }
        fine = run_again(q, &again, o, steps, SIM_BDF, v->second_rtol, &second);
    }
    if (fine) {
        compare_ends(r, &second, o->start, v);
        v->second = method_of(&second);
        v->second_events = second.nevents;
        compare_columns(l->c.model, again.c.model, r, &second, o->stop - o->start, v);
        if (r->activity && second.activity)
            verify_activities(l->c.flat, r, &second, v);
        v->fine = v->difference <= v->bound && v->activity_difference <= v->bound && v->end_difference <= v->bound;
    } else {
        print_diagnostics(q, again.c.sources);
        complain("--verify: the second run, with a tenth of the tolerances, fails");
        status = STATUS_NUMBERS;
    }
    sim_result_free(&second);
    loaded_free(&again);
    return status;
}

int
verify_text(const request *q, const loaded *l, const char *what, const char *text, size_t length,
            const char *experiment)
{
    loaded of = { .path = l->path, .text = text, .length = length }, one;
    sim_options o = { .points = RUN_POINTS, .outputs = true, .states = true, .activity = true };
    sim_result r = { 0 };
    verified v = { 0 };
    int status = load_experiment(q, &of, experiment, STAGE_MODEL, &one);

    if (status == STATUS_DONE && !run_loaded(q, &one, RANKING_RTOL, &o, &r))
        status = status_of(one.c.sources);
    else if (status == STATUS_DONE)
        status = verify_run(q, &one, &o, &r, &v);
    if (status == STATUS_DONE) {
        if (!q->quiet || !v.fine)
            complain("%s, %s", what, experiment);
        status = verify_report(q, &v);
    }
    verified_free(&v);
    sim_result_free(&r);
    sim_options_free(&o);
    loaded_free(&one);
    return status;
}

int
verify_report(const request *q, const verified *v)
{
    bool said = !q->quiet || !v->fine;

    if (said) {
        complain("%s at rtol %.3g against %s at rtol %.3g:", v->first, v->rtol, v->second, v->second_rtol);
        if (v->column)
            put_text(stderr, "  columns     differ by %.2g of their greatest size at most: %s at %.6g s\n",
                     v->difference, v->column, v->time);
        if (v->element)
            put_text(stderr, "  activities  differ by %.2g at most: %s\n", v->activity_difference, v->element);
        if (v->stopped)
            put_text(stderr, "  ends        at %.9g s and %.9g s\n", v->end[0], v->end[1]);
        if (v->events != v->second_events)
            fprintf(stderr, "  switchings  %zu and %zu\n", v->events, v->second_events);
        fprintf(stderr, "  %s %.3g\n", v->fine ? "all within" : "more than", v->bound);
    }
    return v->fine ? STATUS_DONE : STATUS_NUMBERS;
}

void
verify_json(json *j, const verified *v)
{
    json_key(j, "verified");
    json_open(j, '{');
    json_key(j, "methods");
    json_open(j, '[');
    json_string(j, v->first), json_string(j, v->second);
    json_close(j, ']');
    json_key(j, "rtol");
    json_open(j, '[');
    json_number(j, v->rtol), json_number(j, v->second_rtol);
    json_close(j, ']');
    json_key(j, "column"), json_string(j, v->column);
    json_key(j, "difference"), json_number(j, v->difference);
    json_key(j, "time"), json_number(j, v->time);
    json_key(j, "element"), json_string(j, v->element);
    json_key(j, "activity_difference"), json_number(j, v->activity_difference);
    json_key(j, "ends");
    json_open(j, '[');
    for (int i = 0; i < 2 && v->stopped; i++)
        json_number(j, v->end[i]);
    json_close(j, ']');
    json_key(j, "bound"), json_number(j, v->bound);
    json_key(j, "within"), json_bool(j, v->fine);
    json_close(j, '}');
}

void
verified_free(verified *v)
{
    free(v->column);
    free(v->element);
    *v = (verified){ 0 };
}
