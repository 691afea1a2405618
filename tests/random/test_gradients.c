/* test_gradients.c - outputs of random bond graphs at the end of a run, moved by parameters, initial values: along the
 * run, back along it, and by differences of runs
 *
 * `test_gradients FIRST COUNT` takes the graphs FIRST .. FIRST+COUNT-1 (generate.h) over a short time; more pairs may
 * follow. Forward and adjoint derivatives agree to 1e-8 of the greatest by each parameter; both agree with differences
 * of fourth order of whole runs to 1e-6 of the slope, or to what the differences themselves can tell.
 *
 * `test_gradients switched FIRST COUNT` takes circuits of ideal diodes and switches (circuits.h) over several seconds,
 * with all their values and times of switching as parameters.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adjoint.h"
#include "chosen.h"
#include "circuits.h"
#include "compile.h"
#include "forward.h"
#include "generate.h"

#define WITHIN 1e-6
#define BOTH 1e-8
#define NOTHING 1e-10 /* of the greatest slope of a graph: less may be rounding */
#define STEP 1e-3     /* of a parameter */
#define STOP 0.2      /* s */
#define SWITCHED_STEP 1e-4
#define SWITCHED_STOP 6.1
#define SWITCHED_WITHIN 1e-4 /* what begins at a border bends in the differences */
#define SWITCHED_BOTH 1e-6
#define RTOL 1e-12
#define LEFT (2 * RTOL) /* of the greatest value of a run: by which what has decayed, or rests at zero, is off */
#define TIMES 8         /* at which values of a run are looked at, the last its end */

struct tally {
    uint64_t seed;
    bool switched;     /* coils at rest behind diodes: by initial values there are slopes on one side alone */
    double stop, step; /* s; of a parameter */
    double within, both;
    double greatest, size; /* slope at the end; value along the run */
    size_t graphs, runs, columns, checks, sharp, failures;
};

static void
failure(struct tally *t, const char *what)
{
    if (t->failures++ < 10)
        printf("graph %llu: %s\n", (unsigned long long)t->seed, what);
}

/* Outputs at the end, with a parameter or an initial value moved by e. */
static bool
moved_run(const struct tally *t, bg_model *m, const chosen *c, size_t column, double e, const double *x0, double *y)
{
    sim_options o = { .stop = t->stop, .rtol = RTOL, .max_step = t->stop / 100 };
    double *x = calloc(model_nstates(m) + 1, sizeof *x), at = 0, end = t->stop;
    const char *name = column < c->by.n ? c->name.at[column] : NULL;
    forward f = { .model = m, .time = &end, .ntimes = 1, .output = y };
    bool fine;

    memcpy(x, x0, model_nstates(m) * sizeof *x);
    if (name) {
        at = model_parameter_value(m, c->by.at[column]);
        model_set_parameter(m, name, at + e);
    } else {
        x[c->initial.at[column - c->by.n]] += e;
        o.x0 = x;
    }
    fine = forward_run(&f, &o) && f.done == 1;
    if (name)
        model_set_parameter(m, name, at);
    free(x);
    return fine;
}

static void
by_differences(struct tally *t, bg_model *m, const chosen *c, size_t column, const double *x0, const double *y0,
               const double *slope, size_t columns)
{
    static const double offset[6] = { 0.5, -0.5, 1, -1, 2, -2 };
    size_t ny = model_noutputs(m);
    double at = column < c->by.n ? model_parameter_value(m, c->by.at[column]) : x0[c->initial.at[column - c->by.n]],
           h = t->step * (at != 0 ? fabs(at) : 1), *y = calloc(6 * ny + 1, sizeof *y);
    bool fine = true;
    char text[200];

    for (int k = 0; k < 6 && fine; k++)
        fine = moved_run(t, m, c, column, offset[k] * h, x0, y + k * ny);
    for (size_t i = 0; i < ny && fine; i++) {
        double slope_of[3], ratio, part, want, got = slope[i * columns + column], doubt;
        bool mixed;

        for (int k = 0; k < 3; k++)
            slope_of[k] = (y[2 * k * ny + i] - y[(2 * k + 1) * ny + i]) / (2 * offset[2 * k] * h);
        /* their error falls to a quarter with half the step; to a half where a law bends at this very point, f*abs(f);
         * somewhere between where it has some of both, and is known to what these two make of it */
        ratio = slope_of[1] != slope_of[2] ? (slope_of[0] - slope_of[1]) / (slope_of[1] - slope_of[2]) : 0.25;
        mixed = ratio > 0.28 && ratio < 0.47;
        ratio = ratio > 0.375 ? 0.5 : 0.25;
        part = ratio / (1 - ratio) * (slope_of[0] - slope_of[1]);
        want = slope_of[0] + part;
        doubt = (600 * RTOL * (fabs(y0[i]) + fabs(slope_of[0]) * h) + LEFT * t->size) / h +
                fabs(slope_of[0] - slope_of[1]) * (mixed ? 2.0 / 3 : 0.02);

        t->checks++;
        t->sharp += doubt <= WITHIN * fabs(want);
        if (fabs(got - want) <= t->within * fabs(want) + doubt + 1e-15 + NOTHING * t->greatest)
            continue;
        snprintf(text, sizeof text, "output %zu by column %zu (%s): %.12g, by differences %.12g (doubtful to %.2g)", i,
                 column, column < c->by.n ? c->name.at[column] : "initial", got, want, doubt);
        failure(t, text);
    }
    free(y);
}

/* Does a state start where others' initial values put it? That is found by iteration, to ten digits, of which
 * differences by a parameter leave too few. */
static bool
start_follows(const bg_model *m, const double *x0)
{
    for (size_t i = 0; i < model_nstates(m); i++)
        if (!model_state(m, i).stated && x0[i] != 0)
            return true;
    return false;
}

/* lost: switchings whose time has no slope. */
static void
not_run(const struct tally *t, const compilation *c, size_t lost)
{
    printf("graph %llu: not compared: %s\n", (unsigned long long)t->seed,
           lost                      ? "a condition only touches"
           : diag_errors(c->sources) ? diag_first_error(c->sources)
                                     : "it stops early");
}

static void
check_text(struct tally *t, const strbuf *text)
{
    compilation c = { 0 };
    chosen chosen_all = { 0 };
    char *why = NULL;
    double time[TIMES];
    sim_options o = { .stop = t->stop, .rtol = RTOL, .max_step = t->stop / 100 };

    t->graphs++;
    for (int k = 0; k < TIMES; k++)
        time[k] = k + 1 == TIMES ? t->stop : t->stop * (k + 1) / TIMES;
    if (!compile_text(&c, "random.bg", text->at, text->n, STAGE_MODEL, &(compile_options){ 0 })) {
        not_run(t, &c, 0);
        compile_free(&c);
        return;
    }
    if (chosen_everything(c.model, NULL, true, &chosen_all, &why) && model_noutputs(c.model)) {
        size_t ny = model_noutputs(c.model), nx = model_nstates(c.model), n = chosen_all.by.n,
               columns = n + chosen_all.initial.n;
        forward f = { .model = c.model,
                      .by = chosen_all.by.at,
                      .n = n,
                      .initial = chosen_all.initial.at,
                      .ninitial = chosen_all.initial.n,
                      .time = time,
                      .ntimes = TIMES,
                      .output = calloc(TIMES * ny + 1, sizeof(double)),
                      .derivative = calloc(TIMES * ny * columns + 1, sizeof(double)) };
        const double *output = f.output + (TIMES - 1) * ny, *derivative = f.derivative + (TIMES - 1) * ny * columns;
        uint32_t *which = calloc(ny + 1, sizeof *which);
        adjoint a = { .model = c.model,
                      .by = chosen_all.by.at,
                      .n = n,
                      .output = which,
                      .noutputs = ny,
                      .value = calloc(ny + 1, sizeof(double)),
                      .gradient = calloc(ny * n + 1, sizeof(double)),
                      .initial = calloc(ny * nx + 1, sizeof(double)),
                      .jump = calloc(ny * nx + 1, sizeof(double)) };
        double *x0 = calloc(nx + 1, sizeof *x0);
        bool fine;

        for (uint32_t i = 0; i < ny; i++)
            which[i] = i;
        fine = model_initial(c.model, 0, x0) && forward_run(&f, &o) && f.done == TIMES && f.lost == 0 &&
               adjoint_run(&a, &o);
        if (!fine)
            not_run(t, &c, f.lost);
        if (fine) {
            t->runs++;
            t->columns += columns;
            t->greatest = t->size = 0;
            for (size_t i = 0; i < ny * columns && t->switched; i++)
                t->greatest = fmax(t->greatest, fabs(derivative[i]));
            for (size_t i = 0; i < TIMES * ny && t->switched; i++)
                t->size = fmax(t->size, fabs(f.output[i]));
            for (size_t q = 0; q < columns; q++) {
                double size = 0;

                for (size_t i = 0; i < ny; i++)
                    size = fmax(size, fabs(derivative[i * columns + q]));
                for (size_t i = 0; i < ny; i++) {
                    double ahead = derivative[i * columns + q],
                           back = q < n ? a.gradient[i * n + q] : a.initial[i * nx + chosen_all.initial.at[q - n]];
                    char what[160];

                    if (fabs(ahead - back) <= t->both * size + 1e-12 * fabs(output[i]) + NOTHING * t->greatest)
                        continue;
                    snprintf(what, sizeof what, "output %zu by column %zu: forward %.12g, adjoint %.12g", i, q, ahead,
                             back);
                    failure(t, what);
                }
                if (q >= n ? !t->switched : !start_follows(c.model, x0))
                    by_differences(t, c.model, &chosen_all, q, x0, output, derivative, columns);
            }
        }
        free(f.output);
        free(f.derivative);
        free(which);
        free(a.value);
        free(a.gradient);
        free(a.initial);
        free(a.jump);
        free(x0);
    }
    free(why);
    chosen_free(&chosen_all);
    compile_free(&c);
}

static void
check_graph(struct tally *t)
{
    if (t->switched) {
        struct circuit c = { 0 };

        circuit_generate(&c, t->seed);
        circuit_write(&c, true, t->stop);
        check_text(t, &c.text);
        circuit_free(&c);
    } else {
        rgraph *g = rg_generate(t->seed, 5);

        check_text(t, &g->text);
        rg_free(g);
    }
}

int
main(int argc, char **argv)
{
    bool switched = argc > 1 && !strcmp(argv[1], "switched");
    struct tally t = { .switched = switched,
                       .stop = switched ? SWITCHED_STOP : STOP,
                       .step = switched ? SWITCHED_STEP : STEP,
                       .within = switched ? SWITCHED_WITHIN : WITHIN,
                       .both = switched ? SWITCHED_BOTH : BOTH };

    for (int k = 1 + switched; k + 1 < argc; k += 2) {
        uint64_t first = strtoull(argv[k], NULL, 10), count = strtoull(argv[k + 1], NULL, 10);

        for (t.seed = first; t.seed < first + count; t.seed++)
            check_graph(&t);
    }
    printf("%zu graphs, %zu ran; %zu columns, %zu slopes (%zu told to 1e-6 by differences), %zu failures\n", t.graphs,
           t.runs, t.columns, t.checks, t.sharp, t.failures);
    return t.failures > 0;
}
