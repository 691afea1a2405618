/* library.c - the public interface over the stages */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "compile.h"
#include "bgc.h"
#include "columns.h"
#include "simulate.h"

enum { DEFAULT_POINTS = 501 };

struct bgc_model {
    compilation c;
    char *experiment;
    bool ok;
    map output; /* hash of the name -> output */
};

struct bgc_run {
    sim_result r;
    size_t noutputs, nstates, nelements;
};

/* The experiment asked for, or the first there is. */
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

/* The tree tells the experiments; then the whole way. */
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
    for (uint32_t k = 0; m->ok && k < model_noutputs(m->c.model); k++) {
        const char *name = model_output(m->c.flat, k)->name;
        uint64_t key = bg_hash_bytes(name, strlen(name), 0);

        if (map_get(&m->output, key) == MAP_NONE)
            map_set(&m->output, key, k);
    }
}

bgc_model *
bgc_open(const char *path, const char *experiment)
{
    bgc_model *m = bg_calloc(1, sizeof *m);

    if (compile_path(&m->c, path, STAGE_PARSE, NULL)) {
        compile_all(m, experiment);
    } else if (m->c.unreadable) {
        int why = errno;

        if (!m->c.sources)
            m->c.sources = sources_new();
        diag_error(m->c.sources, "file-unreadable", SPAN_NONE, "%s: %s", path, strerror(why));
    }
    return m;
}

bgc_model *
bgc_open_text(const char *name, const char *text, size_t n, const char *experiment)
{
    bgc_model *m = bg_calloc(1, sizeof *m);

    if (compile_text(&m->c, name, text, n, STAGE_PARSE, NULL))
        compile_all(m, experiment);
    return m;
}

bool
bgc_ok(const bgc_model *m)
{
    return m->ok;
}

void
bgc_free(bgc_model *m)
{
    if (!m)
        return;
    compile_free(&m->c);
    map_free(&m->output);
    free(m->experiment);
    free(m);
}

size_t
bgc_diagnostic_count(const bgc_model *m)
{
    return m->c.sources ? diag_count(m->c.sources) : 0;
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
    d = diag_at(m->c.sources, i);
    out.severity = severity[d->severity];
    out.code = d->code;
    out.message = d->message;
    if (span_known(d->at) && d->at.file < sources_count(m->c.sources)) {
        out.file = source_path(m->c.sources, d->at.file);
        source_place(m->c.sources, d->at.file, d->at.begin, &out.line, &out.column);
        source_place(m->c.sources, d->at.file, d->at.end, &out.end_line, &out.end_column);
    }
    return out;
}

const char *
bgc_model_name(const bgc_model *m)
{
    return m->ok ? m->c.flat->name : NULL;
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
    return i < bgc_output_count(m) ? model_output(m->c.flat, i)->name : NULL;
}
size_t
bgc_element_count(const bgc_model *m)
{
    return m->ok ? m->c.flat->element.n : 0;
}
const char *
bgc_element_name(const bgc_model *m, size_t i)
{
    return i < bgc_element_count(m) ? m->c.flat->element.at[i].name : NULL;
}

size_t
bgc_output_find(const bgc_model *m, const char *name)
{
    uint32_t k = map_get(&m->output, bg_hash_bytes(name, strlen(name), 0));

    return k == MAP_NONE ? SIZE_MAX : k;
}

bool
bgc_set(bgc_model *m, const char *parameter, double value)
{
    return m->ok && model_set_parameter(m->c.model, parameter, value);
}
bool
bgc_initial(bgc_model *m, double t, double *x)
{
    return m->ok && model_initial(m->c.model, t, x);
}
bool
bgc_rates(bgc_model *m, double t, const double *x, double *dx)
{
    return m->ok && model_rhs(m->c.model, t, x, dx) == 0;
}
bool
bgc_outputs(bgc_model *m, double t, const double *x, double *y)
{
    return m->ok && model_outputs(m->c.model, t, x, y) == 0;
}

bgc_run *
bgc_simulate(bgc_model *m, const bgc_run_options *o)
{
    static const bgc_run_options none = { 0 };
    sim_options s = { 0 };
    bgc_run *r;
    bool fine;

    if (!o)
        o = &none;
    if (!m->ok || !sim_options_from_experiment(m->c.model, &s)) {
        sim_options_free(&s);
        return NULL;
    }
    s.points = o->points ? o->points : DEFAULT_POINTS;
    s.outputs = s.states = true;
    s.activity = o->activity;
    if (o->rtol > 0)
        s.rtol = o->rtol;
    if (o->atol > 0)
        s.atol = o->atol;
    r = bg_calloc(1, sizeof *r);
    r->noutputs = model_noutputs(m->c.model);
    r->nstates = model_nstates(m->c.model);
    r->nelements = model_nelements(m->c.model);
    fine = simulate(m->c.model, &s, &r->r);
    sim_options_free(&s);
    if (!fine) {
        bgc_run_free(r);
        return NULL;
    }
    return r;
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
