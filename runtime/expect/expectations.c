/* expectations.c - see expectations.h */
#include "expectations.h"

#include <math.h>
#include <string.h>

#include "columns.h"
#include "forward.h"
#include "measured.h"
#include "compiled.h"

/* A value expected at a time. */
struct moment {
    double t, wanted;
    uint32_t of;
};

struct session {
    compilation *c;
    const expect_options *o;
    expectations *e;
    sim_options run;
    VEC(struct moment) moment;
    track track; /* of all outputs, for comparison with another model */
    double *output, *activity;
    size_t ny;
};

static int
by_moment(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;

    return x->t != y->t ? (x->t > y->t) - (x->t < y->t) : (x->of > y->of) - (x->of < y->of);
}

static const flat_output *
subject(const struct session *s, const flat_expect *x)
{
    return &s->c->flat->experiment.record.at[x->record];
}

/* The index of the expected quantity among the model's outputs. */
static size_t
output_place(const struct session *s, const flat_expect *x)
{
    return s->c->flat->output.n + x->record;
}

/* ---------------------------------------------------------------- expected values and times */

static bool
want_value(struct session *s, const flat_expect *x, uint32_t i)
{
    double t = inst_known(x->time) ? model_value(s->c->model, x->time) : s->run.stop,
           slack = TIME_SLACK * (s->run.stop - s->run.start);

    if (!(t >= s->run.start - slack && t <= s->run.stop + slack)) {
        diag_error(s->c->sources, "expect-time", x->at, "%.6g s is not within the experiment, %.6g .. %.6g s", t,
                   s->run.start, s->run.stop);
        return false;
    }
    vec_push(&s->moment,
             ((struct moment){ fmin(fmax(t, s->run.start), s->run.stop), model_value(s->c->model, x->value), i }));
    return true;
}

static char *
take_trajectory(struct session *s, const flat_expect *x, uint32_t i, const measured *m)
{
    size_t which = measured_column(m, x->name);
    const flat_output *o = subject(s, x);
    struct timed *order;
    const unit *u;
    char *why = NULL;

    if (which == NO_INDEX)
        return bg_format("there is no column %s", x->name);
    if (!measured_unit(m, s->c->units, which, &u, &why))
        return why;
    if (u && o->unit && unit_dimension(u) != unit_dimension(o->unit))
        return bg_format("column %s is in [%s], the model in [%s]", x->name, m->unit[which],
                         unit_text(o->display ? o->display : o->unit));
    order = bg_calloc(m->rows + 1, sizeof *order);
    if (measured_times(m, s->c->units, s->run.start, s->run.stop, order, &why))
        for (size_t k = 0; k < m->rows; k++) {
            double v = measured_si(u, m->value[which * m->rows + order[k].row]);

            if (!isnan(v))
                vec_push(&s->moment, ((struct moment){ order[k].t, v, i }));
        }
    free(order);
    return why;
}

static void
want_trajectory(struct session *s, const flat_expect *x, uint32_t i)
{
    sources *text = sources_new();
    int file = sources_read(text, x->path);
    measured m = { 0 };
    char *why = NULL;

    if (file < 0)
        why = bg_format("it cannot be read");
    else if (measured_read(source_text(text, (uint32_t)file), source_length(text, (uint32_t)file), &m, &why))
        why = take_trajectory(s, x, i, &m);
    if (why)
        s->e->list.at[i].why = bg_format("%s: %s", x->file, why);
    free(why);
    measured_free(&m);
    sources_free(text);
}

static bool
gather_expected(struct session *s)
{
    const flat_experiment *x = &s->c->flat->experiment;
    bool fine = true;

    for (uint32_t i = 0; i < x->expect.n; i++) {
        const flat_expect *e = &x->expect.at[i];
        expectation r = { .of = e, .within = model_value(s->c->model, e->within), .time = NAN };

        if (!(r.within >= 0) || isinf(r.within)) {
            diag_error(s->c->sources, "expect-tolerance", e->at,
                       "the tolerance of \"%s\" is %g; it is a number from 0 on", e->name, r.within);
            fine = false;
        }
        vec_push(&s->e->list, r);
        if (e->kind == AST_EXPECT_VALUE)
            fine &= want_value(s, e, i);
        else if (e->kind == AST_EXPECT_FILE)
            want_trajectory(s, e, i);
        else if (e->kind == AST_EXPECT_ACTIVITY && s->activity == NULL)
            s->activity = bg_calloc(model_nelements(s->c->model) + 1, sizeof *s->activity);
        else if (e->kind == AST_EXPECT_MODEL)
            s->run.track = &s->track;
    }
    if (s->moment.n)
        qsort(s->moment.at, s->moment.n, sizeof *s->moment.at, by_moment);
    return fine;
}

/* ---------------------------------------------------------------- comparing */

/* Compares one more value for r; the worst one counts. */
static void
compare_value(expectation *r, double value, double wanted, double t)
{
    double off = fabs(value - wanted);

    if (r->moments++ && (off <= r->off || isnan(r->off)))
        return;
    r->value = value;
    r->wanted = wanted;
    r->off = off;
    r->time = t;
}

static void
expect_activities(struct session *s)
{
    double all = 0;

    for (size_t i = 0; i < model_nelements(s->c->model); i++)
        all += s->activity[i];
    for (size_t i = 0; i < s->e->list.n; i++) {
        expectation *r = &s->e->list.at[i];

        if (r->of->kind != AST_EXPECT_ACTIVITY)
            continue;
        if (all > 0)
            compare_value(r, s->activity[r->of->element] / all, model_value(s->c->model, r->of->value), NAN);
        else
            r->why = bg_format("no energy flows in this run");
    }
}

static char *
compare_tracks(const struct session *s, compilation *other, expectation *r)
{
    size_t k = flat_find_output(other->flat, r->of->name);
    const flat_output *here = subject(s, r->of), *there = k == NO_INDEX ? NULL : flat_output_at(other->flat, k);
    sim_options o = { 0 };
    sim_result run = { 0 };
    track outputs = { .n = model_noutputs(other->model) };
    char *why = NULL;

    if (!there)
        return bg_format("its experiment %s has no output and records no expression \"%s\"",
                         s->c->flat->experiment.name, r->of->name);
    if (here->unit && there->unit &&
        strcmp(unit_text(unit_dimension(here->unit)), unit_text(unit_dimension(there->unit))) != 0)
        return bg_format("\"%s\" is in [%s] there, in [%s] here", r->of->name, unit_text(there->unit),
                         unit_text(here->unit));
    if (!sim_options_from_experiment(other->model, &o)) {
        why = bg_strdup(diag_first_error(other->sources));
    } else if (o.start != s->run.start || o.stop != s->run.stop) {
        why = bg_format("its experiment goes from %.6g to %.6g s, this one from %.6g to %.6g s", o.start, o.stop,
                        s->run.start, s->run.stop);
    } else {
        o.track = &outputs;
        if (s->o->adjust)
            s->o->adjust(s->o->ctx, other->model, &o);
        if (!simulate(other->model, &o, &run)) {
            why = bg_strdup(diag_first_error(other->sources));
        } else {
            track_difference d = track_compare(&s->track, output_place(s, r->of), &outputs, k);

            r->off = d.max;
            r->time = d.at;
            r->moments = 1;
        }
    }
    sim_options_free(&o);
    sim_result_free(&run);
    track_free(&outputs);
    return why;
}

static void
compare_model(struct session *s, expectation *r)
{
    compile_options o = { .experiment = s->c->flat->experiment.name };
    compilation other = { 0 };
    char *why;

    if (compile_path(&other, r->of->path, STAGE_MODEL, &o))
        why = compare_tracks(s, &other, r);
    else
        why = other.unreadable ? bg_format("it cannot be read") : bg_strdup(diag_first_error(other.sources));
    if (why)
        r->why = bg_format("%s: %s", r->of->file, why);
    free(why);
    compile_free(&other);
}

static void
compare_all(struct session *s, const forward *f)
{
    for (size_t i = 0; i < s->moment.n; i++) {
        const struct moment *m = &s->moment.at[i];
        expectation *r = &s->e->list.at[m->of];
        bool at_end = r->of->kind == AST_EXPECT_VALUE && !inst_known(r->of->time);

        if (i < f->done || at_end)
            compare_value(r, s->output[i * s->ny + output_place(s, r->of)], m->wanted, at_end ? f->end : m->t);
        else if (!r->why)
            r->why = bg_format("%.9g s is after the end of the run at %.9g s", m->t, f->end);
    }
    if (s->activity)
        expect_activities(s);
    for (size_t i = 0; i < s->e->list.n; i++) {
        expectation *r = &s->e->list.at[i];

        if (r->of->kind == AST_EXPECT_MODEL)
            compare_model(s, r);
        if (!r->why && r->moments == 0)
            r->why = bg_format("%s: column %s has no values", r->of->file, r->of->name);
        r->holds = !r->why && r->off <= r->within;
    }
}

/* ---------------------------------------------------------------- the complete comparison */

bool
expectations_run(compilation *c, const expect_options *o, expectations *e)
{
    struct session s = { .c = c, .o = o, .e = e };
    forward f = { .model = c->model };
    double *time = NULL;
    bool fine;

    memset(e, 0, sizeof *e);
    fine = sim_options_from_experiment(c->model, &s.run);
    if (fine && o->adjust)
        o->adjust(o->ctx, c->model, &s.run);
    fine = fine && gather_expected(&s);
    if (fine) {
        s.ny = model_noutputs(c->model);
        s.track.n = s.ny;
        s.output = bg_calloc(s.moment.n * s.ny + 1, sizeof *s.output);
        f.time = time = bg_calloc(s.moment.n + 1, sizeof *time);
        f.ntimes = s.moment.n;
        f.output = s.output;
        f.activity = s.activity;
        for (size_t i = 0; i < s.moment.n; i++)
            time[i] = s.moment.at[i].t;
        fine = forward_run(&f, &s.run);
        e->seconds = f.seconds;
    }
    if (fine)
        compare_all(&s, &f);
    sim_options_free(&s.run);
    track_free(&s.track);
    vec_free(&s.moment);
    free(s.output);
    free(s.activity);
    free(time);
    return fine;
}

void
expectations_free(expectations *e)
{
    for (size_t i = 0; i < e->list.n; i++)
        free(e->list.at[i].why);
    vec_free(&e->list);
}
