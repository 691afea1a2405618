/* test_closed.c - a closed model (compile_close) gives what one gives that still has what it was compiled from, bit for
 * bit, message for message, in one thread and in two
 *
 * Memory that is given back is overwritten at once, and out of bounds with the sanitizers, so that whoever looks at
 * what the model was compiled from finds nothing of use there. Of each model that takes part (some of tests/run; `all`
 * of them, or the one that is named, by hand): runs with activities, a parameter set by number and another run, and
 * what measures and messages ask for.
 */
#include <dirent.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "simulate.h"

enum { THREADS = 2, POINTS = 5, MOST_STEPS = 300, LEAST_MODELS = 250 };
#ifdef __SANITIZE_ADDRESS__
enum { EVERY = 24 }; /* a part of the models: minutes else */
#else
enum { EVERY = 5 }; /* all of them, by hand: test_closed all */
#endif

/* All numbers and texts, in their order */
typedef struct record {
    VEC(double) number;
    strbuf text;
} record;

static void
note(record *r, const double *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++)
        vec_push(&r->number, v[i]);
}

static void
note_text(record *r, const char *text)
{
    strbuf_puts(&r->text, text ? text : "(none)");
    strbuf_puts(&r->text, "\n");
}

static void
record_free(record *r)
{
    vec_free(&r->number);
    strbuf_free(&r->text);
}

static void
note_run(bg_model *m, record *to)
{
    sim_options o = { 0 };
    sim_result r = { 0 };
    bool fine = sim_options_from_experiment(m, &o);

    o.points = POINTS;
    o.max_steps = MOST_STEPS;
    o.outputs = o.states = o.modes = o.activity = true;
    fine = fine && simulate(m, &o, &r);
    vec_push(&to->number, fine);
    if (fine) {
        note(to, r.output, r.points * model_noutputs(m));
        note(to, r.state, r.points * model_nstates(m));
        note(to, r.mode, r.points * model_nmodes(m));
        note(to, r.activity, model_nelements(m));
        note(to, r.event, r.nevents);
        vec_push(&to->number, (double)r.steps);
    }
    sim_result_free(&r);
    sim_options_free(&o);
}

/* What is asked for beside runs, at the initial states. texts: messages too, which threads would mix */
static void
note_point(bg_model *m, record *to, bool texts)
{
    const model_graph *g = model_graph_of(m);
    size_t nx = model_nstates(m), nv = model_nvariables(m), nb = model_nbond_values(m);
    struct model_pattern p = model_jacobian_pattern(m);
    double *x = bg_calloc(nx + 1, sizeof *x), *v = bg_calloc(nv + nb + p.nonzeros + 2 * g->nports + 1, sizeof *v);
    bool *fed = bg_calloc(nx + 1, sizeof *fed);
    char *text = NULL;
    span at;

    vec_push(&to->number, model_initial(m, 0, x));
    if (model_variables(m, 0, x, v))
        note(to, v, nv);
    if (model_jacobian(m, 0, x, v) == 0)
        note(to, v, p.nonzeros);
    if (model_bond_values(m, 0, x, v) == 0)
        note(to, v, nb);
    if (model_port_values(m, 0, x, v) == 0)
        note(to, v, 2 * g->nports);
    for (size_t i = 0; i < nx; i++)
        vec_push(&to->number, model_energy_curvature(m, i, x));
    vec_push(&to->number, model_root_states(m, fed));
    for (size_t k = 0; k < model_nmodes(m); k++)
        vec_push(&to->number, model_condition_noise(m, k, 0, x));
    for (size_t k = 0; k < model_npoles(m) && texts; k++) {
        note_text(to, model_pole(m, k).var);
        note_text(to, model_pole(m, k).text);
    }
    for (size_t k = 0; k < model_nmodes(m) && texts; k++)
        note_text(to, model_mode(m, k).text);
    for (uint32_t k = 0; k < nv && texts; k++)
        note_text(to, model_variable(m, k).name);
    for (size_t i = 0; i < nx && texts; i++)
        note_text(to, model_state_shown(m, i, x[i]).text);
    for (size_t i = 0; i < nx; i++)
        x[i] = NAN;
    at = model_explain(m, 0, x, &text);
    vec_push(&to->number, at.begin);
    note_text(to, text);
    free(text);
    for (size_t k = 0; k < g->noutputs && texts; k++) {
        note_text(to, text = model_explain_output(m, k, 0, x));
        free(text);
    }
    free(x);
    free(v);
    free(fed);
}

static void
note_all(bg_model *m, record *to, bool texts)
{
    note_run(m, to);
    note_point(m, to, texts);
    for (var_id v = 0; v < model_nvariables(m); v++)
        if (model_variable(m, v).number) {
            model_set(m, v, 1.01 * model_parameter_value(m, v));
            break;
        }
    note_run(m, to);
}

static void
note_messages(const sources *s, size_t from, record *to)
{
    for (size_t i = from; i < diag_count(s); i++)
        note_text(to, diag_at(s, i)->message);
}

static void
assert_same(const char *path, const char *how, const record *a, const record *b)
{
    if (a->number.n != b->number.n)
        fail_msg("%s, %s: %zu numbers, not %zu", path, how, b->number.n, a->number.n);
    for (size_t i = 0; i < a->number.n; i++)
        if (memcmp(&a->number.at[i], &b->number.at[i], sizeof(double)) &&
            !(isnan(a->number.at[i]) && isnan(b->number.at[i])))
            fail_msg("%s, %s: number %zu is %.17g, not %.17g", path, how, i, b->number.at[i], a->number.at[i]);
    if (a->text.n != b->text.n || (a->text.n && memcmp(a->text.at, b->text.at, a->text.n)))
        fail_msg("%s, %s: \"%s\" is not \"%s\"", path, how, b->text.at, a->text.at);
}

struct job {
    bg_model *m;
    record got;
};

static void *
work(void *arg)
{
    struct job *j = arg;

    note_all(j->m, &j->got, false);
    return NULL;
}

static bool
load(compilation *c, const char *path, const char *experiment)
{
    return compile_path(c, path, STAGE_MODEL, &(compile_options){ .experiment = experiment });
}

/* Of the model as it is compiled: alone, then for comparison with threads. */
static void
record_open(const char *path, const char *experiment, record *alone, record *beside)
{
    compilation c = { 0 };
    bg_model *m;
    size_t said;

    assert_true(load(&c, path, experiment));
    said = diag_count(c.sources);
    note_all(m = model_another(c.model), alone, true);
    model_free(m);
    note_messages(c.sources, said, alone);
    note_all(m = model_another(c.model), beside, false);
    model_free(m);
    compile_free(&c);
}

static bool
check(const char *path, const char *experiment)
{
    record open = { 0 }, beside = { 0 }, closed = { 0 };
    struct job job[THREADS] = { 0 };
    pthread_t thread[THREADS];
    compilation c = { 0 };
    bg_model *m;
    size_t said;

    if (!load(&c, path, experiment)) {
        compile_free(&c);
        return false;
    }
    record_open(path, experiment, &open, &beside);
    said = diag_count(c.sources);
    assert_true(compile_close(&c));
    assert_null(c.flat);
    assert_null(c.pool);
    note_all(m = model_another(c.model), &closed, true);
    model_free(m);
    note_messages(c.sources, said, &closed);
    assert_same(path, "alone", &open, &closed);
    for (int k = 0; k < THREADS; k++) {
        job[k].m = model_another(c.model);
        assert_int_equal(pthread_create(&thread[k], NULL, work, &job[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) {
        assert_same(path, "beside another", &beside, &job[k].got);
        model_free(job[k].m);
        record_free(&job[k].got);
    }
    record_free(&open);
    record_free(&beside);
    record_free(&closed);
    compile_free(&c);
    return true;
}

/* The first experiment of a file. free() it; NULL: there is none. */
static char *
first_experiment(const char *path)
{
    compilation c = { 0 };
    char *name = NULL;

    if (compile_path(&c, path, STAGE_PARSE, NULL))
        for (size_t i = 0; i < c.ast->ndecls && !name; i++)
            if (c.ast->decl[i].kind == AST_DECL_EXPERIMENT)
                name = bg_strdup(c.ast->decl[i].experiment->name);
    compile_free(&c);
    return name;
}

static const char *only; /* of main: the one file to look at, or `all` */

static bool
takes_part(const char *name, size_t n)
{
    if (!only)
        return bg_hash_bytes(name, n, 0) % EVERY == 0;
    return !strcmp(only, "all") || !strcmp(only, name);
}

static void
closed_models_give_the_same(void **state)
{
    DIR *dir = opendir(BG_EXAMPLES "/../tests/run");
    unsigned models = 0;

    (void)state;
    assert_non_null(dir);
    mallopt(M_PERTURB, 0x5a);
    for (struct dirent *e; (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        char *path, *experiment;

        if (n < 3 || strcmp(e->d_name + n - 3, ".bg") || !takes_part(e->d_name, n))
            continue;
        path = bg_format("%s/../tests/run/%s", BG_EXAMPLES, e->d_name);
        if ((experiment = first_experiment(path)))
            models += check(path, experiment);
        free(experiment);
        free(path);
    }
    closedir(dir);
    assert_true(only || models >= LEAST_MODELS / EVERY / 2);
}

/* What an analysis asks for and nobody asked for before is refused in words, not looked for where it was. */
static void
what_needs_the_source_is_refused(void **state)
{
    static const char text[] = "model one { parameter k = 2; 1:v -> I:m = 1; v -> C:s = 1/k; output y = s.q; }\n"
                               "experiment e of one { stop = 1; }\n";
    compilation c = { 0 };
    var_id k;

    (void)state;
    assert_true(
        compile_text(&c, "one.bg", text, sizeof text - 1, STAGE_MODEL, &(compile_options){ .experiment = "e" }));
    k = model_parameter(c.model, "k");
    assert_non_null(model_partials(c.model, &k, 1, 0));
    assert_true(compile_close(&c));
    assert_true(model_parameter(c.model, "k") == k);
    assert_non_null(model_partials(c.model, &k, 1, 0));
    assert_null(model_partials(c.model, &k, 1, 1));
    assert_string_equal(diag_first_error(c.sources),
                        "derivatives by parameters: not available once the model's source was released");
    assert_null(model_curvature(c.model, &k, 1));
    compile_free(&c);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(closed_models_give_the_same),
                                        cmocka_unit_test(what_needs_the_source_is_refused) };

    only = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
