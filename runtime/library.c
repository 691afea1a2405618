/* library.c - see bgc.h */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "compile.h"
#include "bgc.h"
#include "columns.h"
#include "first_solution.h"
#include "simulate.h"

enum { DEFAULT_POINTS = 501 };

/* Absent from other BLAS. */
extern void openblas_set_num_threads(int n) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

struct bgc_model {
    compilation c;
    char *experiment;
    bool ok;
    bool closed;  /* what it was compiled from has been freed */
    bool starved; /* memory ran out: it is inconsistent and must not even be freed */
    map output;   /* hash of the name -> output */
};

struct bgc_run {
    sim_result r;
    size_t noutputs, nstates, nelements;
};

/* ---------------------------------------------------------------- calls on behalf of a host program */

/* Makes the call, and returns even if memory runs out: the model is then starved. Restores the host's BLAS threads. */
static void
as_guest(bgc_model *m, void (*call)(void *ctx), void *ctx)
{
    int threads = openblas_get_num_threads ? openblas_get_num_threads() : 0;
    jmp_buf *before = bg_memory_refuge, here;

    if (setjmp(here) == 0) {
        bg_memory_refuge = &here;
        call(ctx);
    } else {
        m->starved = true;
        m->ok = false;
    }
    bg_memory_refuge = before;
    if (openblas_set_num_threads && openblas_get_num_threads && openblas_get_num_threads() != threads)
        openblas_set_num_threads(threads);
}

/* ---------------------------------------------------------------- opening */

/* The requested experiment, or the first. */
static char *
pick_experiment(const ast_file *file, const char *wanted)
{
    if (wanted)
        return bg_strdup(wanted);
    for (size_t i = 0; i < file->ndecls; i++)
        if (file->decl[i].kind == AST_DECL_EXPERIMENT)
            return bg_strdup(file->decl[i].experiment->name);
    return NULL;
}

/* Parses first, to know the experiments; then compiles. */
static void
compile_all(bgc_model *m, const char *wanted)
{
    compilation first = m->c;
    compile_options o = { 0 };

    m->experiment = pick_experiment(first.ast, wanted);
    o.experiment = m->experiment;
    m->c = (compilation){ 0 };
    m->ok = compile_text(&m->c, source_path(first.sources, first.ast->file),
                         source_text(first.sources, first.ast->file), source_length(first.sources, first.ast->file),
                         STAGE_MODEL, &o);
    compile_free(&first);
    if (m->ok) { /* names and parameters are looked up later where running out of memory is not handled */
        (void)model_graph_of(m->c.model);
        (void)model_parameter(m->c.model, "");
        if (model_nstates(m->c.model) > 0)
            (void)model_state(m->c.model, 0);
    }
    for (uint32_t k = 0; m->ok && k < model_noutputs(m->c.model); k++) {
        const char *name = model_graph_of(m->c.model)->output[k].name;
        uint64_t key = bg_hash_bytes(name, strlen(name), 0);

        if (map_get(&m->output, key) == MAP_NONE)
            map_set(&m->output, key, k);
    }
}

struct opening {
    bgc_model *m;
    const char *path, *text, *experiment; /* text NULL: read the file at path */
    size_t n;
};

static void
open_now(void *ctx)
{
    struct opening *o = ctx;
    compilation *c = &o->m->c;

    if (o->text ? compile_text(c, o->path, o->text, o->n, STAGE_PARSE, NULL)
                : compile_path(c, o->path, STAGE_PARSE, NULL)) {
        compile_all(o->m, o->experiment);
    } else if (c->unreadable) {
        int why = errno;

        if (!c->sources)
            c->sources = sources_new();
        diag_error(c->sources, "file-unreadable", SPAN_NONE, "%s: %s", o->path, strerror(why));
    }
}

static bgc_model *
open_as_guest(const char *path, const char *text, size_t n, const char *experiment)
{
    bgc_model *m = calloc(1, sizeof *m);
    struct opening o = { m, path, text, experiment, n };

    if (m)
        as_guest(m, open_now, &o);
    return m;
}

bgc_model *
bgc_open(const char *path, const char *experiment)
{
    return open_as_guest(path, NULL, 0, experiment);
}

bgc_model *
bgc_open_text(const char *name, const char *text, size_t n, const char *experiment)
{
    return open_as_guest(name, text, n, experiment);
}

bool
bgc_ok(const bgc_model *m)
{
    return m->ok;
}

static void
close_now(void *ctx)
{
    bgc_model *m = ctx;

    m->closed = compile_close(&m->c);
}

bool
bgc_let_go_of_source(bgc_model *m)
{
    if (m->ok && !m->closed)
        as_guest(m, close_now, m);
    return m->ok && m->closed;
}

void
bgc_free(bgc_model *m)
{
    if (!m)
        return;
    if (!m->starved) {
        compile_free(&m->c);
        map_free(&m->output);
        free(m->experiment);
    }
    free(m);
}

size_t
bgc_diagnostic_count(const bgc_model *m)
{
    if (m->starved)
        return 1;
    return m->c.sources ? diag_count(m->c.sources) : 0;
}

static void
set_place(const sources *s, span at, bgc_diagnostic *out)
{
    if (!span_known(at) || at.file >= sources_count(s))
        return;
    out->file = source_path(s, at.file);
    source_place(s, at.file, at.begin, &out->line, &out->column);
    source_place(s, at.file, at.end, &out->end_line, &out->end_column);
}

bgc_diagnostic
bgc_diagnostic_at(const bgc_model *m, size_t i)
{
    static const enum bgc_severity
        severity[] = { [SEV_ERROR] = BGC_ERROR, [SEV_WARNING] = BGC_WARNING, [SEV_NOTE] = BGC_NOTE };
    bgc_diagnostic out = { 0 };
    const diagnostic *d;

    if (i >= bgc_diagnostic_count(m))
        return out;
    if (m->starved)
        return (bgc_diagnostic){ .severity = BGC_ERROR,
                                 .code = "no-memory",
                                 .message = "there is not enough memory for this model" };
    d = diag_at(m->c.sources, i);
    out.severity = severity[d->severity];
    out.code = d->code;
    out.message = d->message;
    set_place(m->c.sources, d->at, &out);
    return out;
}

size_t
bgc_note_count(const bgc_model *m, size_t i)
{
    return m->starved || i >= bgc_diagnostic_count(m) ? 0 : diag_at(m->c.sources, i)->nchild;
}

bgc_diagnostic
bgc_note_at(const bgc_model *m, size_t i, size_t k)
{
    bgc_diagnostic out = { 0 };
    const struct diag_child *x;

    if (k >= bgc_note_count(m, i))
        return out;
    x = &diag_at(m->c.sources, i)->child[k];
    out.severity = x->help ? BGC_HELP : BGC_NOTE;
    out.code = diag_at(m->c.sources, i)->code;
    out.message = x->message;
    set_place(m->c.sources, x->at, &out);
    return out;
}

const char *
bgc_model_name(const bgc_model *m)
{
    return m->ok ? model_name(m->c.model) : NULL;
}
const char *
bgc_experiment_name(const bgc_model *m)
{
    return m->ok ? m->experiment : NULL;
}
size_t
bgc_state_count(const bgc_model *m)
{
    return m->ok ? model_nstates(m->c.model) : 0;
}
const char *
bgc_state_name(const bgc_model *m, size_t i)
{
    return i < bgc_state_count(m) ? model_state(m->c.model, i).name : NULL;
}
size_t
bgc_output_count(const bgc_model *m)
{
    return m->ok ? model_noutputs(m->c.model) : 0;
}
const char *
bgc_output_name(const bgc_model *m, size_t i)
{
    return i < bgc_output_count(m) ? model_graph_of(m->c.model)->output[i].name : NULL;
}
size_t
bgc_element_count(const bgc_model *m)
{
    return m->ok ? model_nelements(m->c.model) : 0;
}
const char *
bgc_element_name(const bgc_model *m, size_t i)
{
    return i < bgc_element_count(m) ? model_graph_of(m->c.model)->element[i].name : NULL;
}

size_t
bgc_output_find(const bgc_model *m, const char *name)
{
    uint32_t k = map_get(&m->output, bg_hash_bytes(name, strlen(name), 0));

    return k == MAP_NONE ? SIZE_MAX : k;
}

/* ---------------------------------------------------------------- parameters, evaluation, runs */

enum task { SET, INITIAL, RATES, OUTPUTS };
struct evaluation {
    bg_model *model;
    enum task task;
    var_id parameter;
    double t;
    const double *x;
    double *out;
    bool fine;
};

static void
evaluate_now(void *ctx)
{
    struct evaluation *e = ctx;

    switch (e->task) {
    case SET:
        model_set(e->model, e->parameter, e->t);
        e->fine = true;
        break;
    case INITIAL: e->fine = first_point(e->model, e->t, false, e->out); break;
    case RATES: e->fine = model_rhs(e->model, e->t, e->x, e->out) == 0; break;
    case OUTPUTS: e->fine = model_outputs(e->model, e->t, e->x, e->out) == 0; break;
    }
}

static bool
evaluate_as_guest(bgc_model *m, struct evaluation e)
{
    if (!m->ok)
        return false;
    e.model = m->c.model;
    as_guest(m, evaluate_now, &e);
    return m->ok && e.fine;
}

size_t
bgc_parameter_find(const bgc_model *m, const char *name)
{
    var_id v = m->ok ? model_parameter(m->c.model, name) : VAR_NONE;

    return v == VAR_NONE ? SIZE_MAX : v;
}

bool
bgc_set_at(bgc_model *m, size_t parameter, double value)
{
    if (!m->ok || parameter >= VAR_NONE || !model_is_parameter(m->c.model, (var_id)parameter))
        return false;
    return evaluate_as_guest(m, (struct evaluation){ .task = SET, .parameter = (var_id)parameter, .t = value });
}

bool
bgc_set(bgc_model *m, const char *parameter, double value)
{
    return bgc_set_at(m, bgc_parameter_find(m, parameter), value);
}

bool
bgc_initial(bgc_model *m, double t, double *x)
{
    return evaluate_as_guest(m, (struct evaluation){ .task = INITIAL, .t = t, .out = x });
}
bool
bgc_rates(bgc_model *m, double t, const double *x, double *dx)
{
    return evaluate_as_guest(m, (struct evaluation){ .task = RATES, .t = t, .x = x, .out = dx });
}
bool
bgc_outputs(bgc_model *m, double t, const double *x, double *y)
{
    return evaluate_as_guest(m, (struct evaluation){ .task = OUTPUTS, .t = t, .x = x, .out = y });
}

struct simulation {
    bgc_model *m;
    const bgc_run_options *o;
    bgc_run *run;
};

static void
simulate_now(void *ctx)
{
    struct simulation *w = ctx;
    const bgc_run_options *o = w->o;
    bg_model *model = w->m->c.model;
    sim_options s = { 0 };
    bgc_run *r;

    if (!sim_options_from_experiment(model, &s)) {
        sim_options_free(&s);
        return;
    }
    s.points = o->points ? o->points : DEFAULT_POINTS;
    s.outputs = s.states = true;
    s.activity = o->activity;
    if (o->rtol > 0)
        s.rtol = o->rtol;
    if (o->atol > 0)
        s.atol = o->atol;
    r = bg_calloc(1, sizeof *r);
    r->noutputs = model_noutputs(model);
    r->nstates = model_nstates(model);
    r->nelements = model_nelements(model);
    if (simulate(model, &s, &r->r))
        w->run = r;
    else
        bgc_run_free(r);
    sim_options_free(&s);
}

bgc_run *
bgc_simulate(bgc_model *m, const bgc_run_options *o)
{
    static const bgc_run_options none = { 0 };
    struct simulation w = { m, o ? o : &none, NULL };

    if (m->ok)
        as_guest(m, simulate_now, &w);
    return m->ok ? w.run : NULL;
}

size_t
bgc_run_points(const bgc_run *r)
{
    return r->r.points;
}
double
bgc_run_time(const bgc_run *r, size_t point)
{
    return point < r->r.points ? r->r.time[point] : NAN;
}

double
bgc_run_value(const bgc_run *r, size_t point, size_t output)
{
    return point < r->r.points && output < r->noutputs && r->r.output ? r->r.output[point * r->noutputs + output] : NAN;
}

double
bgc_run_state(const bgc_run *r, size_t point, size_t state)
{
    return point < r->r.points && state < r->nstates && r->r.state ? r->r.state[point * r->nstates + state] : NAN;
}

double
bgc_run_activity(const bgc_run *r, size_t element)
{
    return r->r.activity && element < r->nelements ? r->r.activity[element] : NAN;
}
uint64_t
bgc_run_steps(const bgc_run *r)
{
    return r->r.steps;
}

void
bgc_run_free(bgc_run *r)
{
    if (!r)
        return;
    sim_result_free(&r->r);
    free(r);
}
