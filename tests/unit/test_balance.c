/* test_balance.c - power is neither made nor lost: at every junction, over every model, in every experiment of every
 * example
 *
 * Efforts and flows of all ports and bonds are computed at points of the trajectory by a program of their own.
 */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "evaluate.h"
#include "program.h"
#include "simulate.h"
#include "compiled.h"

enum { POINTS = 21 };

static void
set_modes(bg_model *m, double t, const double *x)
{
    size_t n = model_nmodes(m);
    double *g = calloc(n + 1, sizeof *g), *mode = model_modes(m);

    for (int round = 0; round < 4 && n; round++) {
        assert_int_equal(model_conditions(m, t, x, g), 0);
        for (size_t k = 0; k < n; k++) {
            struct model_mode q = model_mode(m, k);

            mode[k] = q.kind == MODE_LESS         ? g[k] < 0
                      : q.kind == MODE_LESS_EQUAL ? g[k] <= 0
                      : q.kind == MODE_EQUAL      ? g[k] == 0
                      : q.kind == MODE_FLOOR      ? floor(g[k])
                      : q.kind == MODE_PIECE      ? ex_table_piece(q.table, g[k])
                                                  : mode[k];
        }
    }
    free(g);
}

/* Power at each junction from the values v of all variables (by variable). */
static void
check_junctions(const flat_model *f, const double *v, const char *file, double t)
{
    for (size_t j = 0; j < f->junction.n; j++) {
        const flat_junction *jn = &f->junction.at[j];
        double sum = 0, size = 0;

        for (uint32_t i = 0; i < jn->ninc; i++) {
            const flat_incidence *inc = &f->incidence.at[jn->inc0 + i];
            double e, w;

            if (inc->is_bond) {
                const flat_bond *b = &f->bond.at[inc->index];

                e = v[f->junction.at[b->from].common];
                w = v[b->own == VAR_NONE ? f->junction.at[b->to].common : b->own];
            } else {
                e = v[f->port.at[inc->index].e];
                w = v[f->port.at[inc->index].f];
            }
            sum += inc->sign * e * w;
            size += fabs(e * w);
        }
        if (!(fabs(sum) <= 1e-9 * size + 1e-300))
            fail_msg("%s: junction \"%s\" at %g s: power %g of %g is lost", file, jn->name, t, sum, size);
    }
}

static void
check_experiment(const char *path, const char *experiment)
{
    compilation c = { 0 };
    compile_options o = { .experiment = experiment };
    sim_options so = { .points = POINTS, .states = true, .activity = true, .rtol = 1e-8 };
    sim_result r = { 0 };

    if (!compile_path(&c, path, STAGE_MODEL, &o)) {
        diag_print(c.sources, stderr, false, DIAG_ERRORS);
        fail_msg("%s does not compile", path);
    }
    assert_true(sim_options_from_experiment(c.model, &so));
    if (!simulate(c.model, &so, &r)) {
        diag_print(c.sources, stderr, false, DIAG_ERRORS);
        fail_msg("%s, experiment %s does not run", path, experiment);
    }
    if (!(r.max_power_sum <= 1e-9))
        fail_msg("%s, experiment %s: the powers sum to %g of the greatest", path, experiment, r.max_power_sum);

    flat_model *f = c.flat;
    size_t nx = model_nstates(c.model);
    VEC(inst) target = { 0 };
    uint32_t *position = bg_malloc((f->var.n + 1) * sizeof *position);
    block_memory memory = { .start = bg_calloc(c.equations->unknown.n + 1, sizeof(double)),
                            .started = bg_calloc(c.equations->block.n + 1, sizeof(bool)) };
    double *value = bg_calloc(f->var.n + 1, sizeof *value), *v = bg_calloc(f->var.n + 1, sizeof *v), *out;
    size_t nvars = f->var.n;
    program *g;
    evaluator *ev;

    memset(position, 0xff, (f->var.n + 1) * sizeof *position);
    for (size_t i = 0; i < nx; i++)
        position[model_state(c.model, i).var] = (uint32_t)i;
    for (size_t k = 0; k < c.equations->mode.n; k++)
        position[c.equations->mode.at[k].var] = (uint32_t)k;
    for (var_id i = 0; i < nvars; i++)
        vec_push(&target, inst_var(f, i));
    for (var_id i = 0; i < nvars; i++)
        value[i] = model_value(c.model, f->var.at[i].kind == VAR_PARAM || f->var.at[i].kind == VAR_LITERAL
                                            ? inst_var(f, i)
                                            : inst_const(f, 0));
    g = program_plan(c.equations, target.at, NULL, (uint32_t)target.n);
    assert_true(program_code(g, (layout){ position }, false));
    ev = evaluator_new(g->routine, &memory);
    evaluator_set_parameters(ev, value);
    out = bg_calloc(target.n + 1, sizeof *out);
    for (size_t k = 0; k < r.points; k++) {
        const double *x = r.state + k * nx;

        set_modes(c.model, r.time[k], x);
        assert_int_equal(evaluator_run(ev, r.time[k], x, model_modes(c.model), out), 0);
        for (var_id i = 0; i < nvars; i++)
            v[i] = out[g->routine->out_index[i]];
        check_junctions(f, v, path, r.time[k]);
    }
    evaluator_free(ev);
    program_free(g);
    free(out);
    free(value);
    free(v);
    free(position);
    free(memory.start);
    free(memory.started);
    vec_free(&target);
    sim_options_free(&so);
    sim_result_free(&r);
    compile_free(&c);
}

static void
every_example(void **state)
{
    DIR *dir = opendir(BG_EXAMPLES);
    struct dirent *entry;
    int experiments = 0;

    (void)state;
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        size_t n = strlen(entry->d_name);
        char *path;
        compilation c = { 0 };

        if (n < 3 || strcmp(entry->d_name + n - 3, ".bg"))
            continue;
        path = bg_format("%s/%s", BG_EXAMPLES, entry->d_name);
        assert_true(compile_path(&c, path, STAGE_PARSE, NULL));
        for (size_t i = 0; i < c.ast->ndecls; i++)
            if (c.ast->decl[i].kind == AST_DECL_EXPERIMENT) {
                check_experiment(path, c.ast->decl[i].experiment->name);
                experiments++;
            }
        compile_free(&c);
        free(path);
    }
    closedir(dir);
    assert_true(experiments >= 9);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_example) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
