/* sweep.c - see sweep.h */
#include "sweep.h"

#include <math.h>
#include <string.h>

#include "json.h"
#include "metrics.h"
#include "picture.h"
#include "quote.h"
#include "report.h"
#include "side_by_side.h"

enum { MOST_VALUES = 10000 };

bool
sweep_parse(const char *text, sweep *out, char **why)
{
    const char *equal = strchr(text, '=');
    double from, to, n;
    int used = 0;

    *out = (sweep){ .arena = arena_new(), .shown = 1 };
    *why = NULL;
    if (!equal || equal == text || sscanf(equal + 1, "%lf:%lf:%lf%n", &from, &to, &n, &used) != 3 || !isfinite(from) ||
        !isfinite(to)) {
        *why = bg_format("--over is NAME=FROM:TO:N, as in k=100:200:11 or k=1:2:11[N/mm], not \"%s\"", text);
        return false;
    }
    if (n != floor(n) || n < 2 || n > MOST_VALUES) {
        *why = bg_format("--over %.*s: the number of values is a whole one from 2 to %d", (int)(equal - text), text,
                         MOST_VALUES);
        return false;
    }
    out->parameter = arena_strndup(out->arena, text, (size_t)(equal - text));
    text = equal + 1 + used;
    while (*text == ' ')
        text++;
    if (*text == '[' && text[strlen(text) - 1] == ']') {
        unit_system *units = units_new();
        const char *no = NULL;
        const unit *u;

        out->unit = arena_strndup(out->arena, text + 1, strlen(text) - 2);
        u = units ? unit_parse(units, out->unit, &no) : NULL;
        if (u)
            out->shown = unit_scale(u);
        else
            *why = bg_format("--over %s: [%s] is not a unit", out->parameter, out->unit);
        units_free(units);
    } else if (*text) {
        *why = bg_format("--over %s: \"%s\" is left over behind FROM:TO:N", out->parameter, text);
    }
    out->n = (size_t)n;
    out->value = arena_new_array(out->arena, double, out->n);
    out->subgraphs = arena_new_array(out->arena, size_t, out->n);
    out->partitions = arena_new_array(out->arena, size_t, out->n);
    for (size_t i = 0; i < out->n; i++)
        out->value[i] = out->shown * (from + (to - from) * (double)i / (double)(out->n - 1));
    return !*why;
}

/* The work for one value after the other, or for several in parallel. */
struct looking {
    const partition_options *o;
    sweep *s;
    bool shared; /* the parameter is set on instances of models compiled once; false: each value makes another graph */
    partitioning graphs;
    local_models models;
    size_t nlinks;
};

/* The recordings with the value as an override; free() the array. */
static recording *
with_value(const partition_options *o, sweep *s, size_t i)
{
    recording *run = bg_calloc(o->nruns, sizeof *run);

    for (size_t k = 0; k < o->nruns; k++) {
        struct elaborate_override *set = arena_new_array(s->arena, struct elaborate_override, o->run[k].nset + 1);

        run[k] = o->run[k];
        if (run[k].nset)
            memcpy(set, o->run[k].set, run[k].nset * sizeof *set);
        set[run[k].nset++] =
            (struct elaborate_override){ .name = s->parameter, .value = s->value[i], .said = "--over" };
        run[k].set = set;
    }
    return run;
}

/* Can the parameter be set on an instance, because no size or part of the model depends on it? */
static bool
is_of_instances(const struct looking *l)
{
    for (size_t k = 0; k < l->models.n; k++) {
        var_id v = model_parameter(l->models.c[k].model, l->s->parameter);

        if (v == VAR_NONE || l->models.c[k].flat->var.at[v].role == ROLE_CONSTANT)
            return false;
    }
    return true;
}

static enum partition_result
look_at_value(const struct looking *l, const partition_options *o, size_t i, partitioning *p)
{
    partition_options one = *o;
    recording *run = with_value(o, l->s, i);
    enum partition_result result;

    one.run = run;
    if (l->shared || i == 0) { /* the models were compiled with the first value */
        local_setting set = { l->s->parameter, l->s->value[i] };

        result = partition_look(&one, &l->graphs, &l->models, l->shared ? &set : NULL, p);
    } else {
        partitioning graphs = { 0 };
        local_models models = { 0 };

        *p = (partitioning){ 0 };
        result = partition_compile(&one, &graphs, &models);
        if (result == PARTITION_DONE)
            result = partition_look(&one, &graphs, &models, NULL, p);
        if (graphs.why) {
            p->why = graphs.why;
            graphs.why = NULL;
        }
        local_models_free(&models);
        partitioning_free(&graphs);
    }
    free(run);
    return result;
}

/* One row for each value: numbers of links, subgraphs and partitions, then the ratios at all ends. */
enum { LINKS, SUBGRAPHS, PARTITIONS, RATIOS };

static void
take_point(const struct looking *l, const partitioning *p, double *out)
{
    out[LINKS] = (double)p->plan.link.n;
    out[SUBGRAPHS] = (double)p->subgraphs.subgraph.n;
    out[PARTITIONS] = (double)p->subgraphs.partition.n;
    for (size_t k = 0; p->plan.link.n == l->nlinks && k < 2 * l->nlinks; k++)
        out[RATIOS + k] = p->plan.link.at[k / 2].ratio[k % 2];
}

static int
say_nothing(void *ctx, const sources *s)
{
    (void)ctx, (void)s;
    return 0;
}

static bool
look_aside(void *ctx, size_t i, void *result)
{
    struct looking *l = ctx;
    partition_options quiet = *l->o;
    partitioning p;
    bool fine;

    quiet.failed = say_nothing;
    fine = look_at_value(l, &quiet, i + 1, &p) == PARTITION_DONE;
    if (fine)
        take_point(l, &p, result);
    partitioning_free(&p);
    return fine;
}

/* Names the curves: the links and their ends, which do not depend on the value. */
static void
name_curves(sweep *s, const flat_model *f, const partitioning *p, bool **strong)
{
    size_t n = 2 * p->plan.link.n;

    s->model = arena_strdup(s->arena, f->name);
    *strong = bg_calloc(n + 1, sizeof **strong);
    for (size_t k = 0; k < n; k++) {
        const link *x = &p->plan.link.at[k / 2];
        sweep_curve c = { .name = arena_strdup(s->arena, x->name),
                          .at = arena_strdup(s->arena, junction_label(f, x->end[k % 2], NONE)) };

        (*strong)[k] = x->strong[k % 2];
        vec_push(&s->curve, c);
    }
}

/* Computes the rows of all values (n of them, as take_point() makes them) into *all. */
static enum partition_result
look_at_all(struct looking *l, double **all, size_t *row, bool **strong, char **why)
{
    sweep *s = l->s;
    partitioning p = { 0 };
    enum partition_result result = look_at_value(l, l->o, 0, &p);

    if (result == PARTITION_DONE) {
        l->nlinks = p.plan.link.n;
        *row = RATIOS + 2 * l->nlinks;
        *all = bg_calloc(s->n * *row + 1, sizeof **all);
        name_curves(s, l->graphs.graph.flat, &p, strong);
        take_point(l, &p, *all);
        side_by_side(s->n - 1, *row * sizeof **all, 0, look_aside, l, *all + *row);
    }
    for (size_t i = 1; i < s->n && result == PARTITION_DONE; i++) {
        double *x = *all + i * *row;

        if (isnan(x[LINKS])) { /* runs it again to print its messages */
            partitioning_free(&p);
            result = look_at_value(l, l->o, i, &p);
            if (result == PARTITION_DONE)
                take_point(l, &p, x);
        }
        if (result == PARTITION_DONE && x[LINKS] != (double)l->nlinks) {
            *why = bg_format("%s changes the graph of the model", s->parameter);
            result = PARTITION_USAGE;
        }
    }
    if (p.why && !*why) {
        *why = p.why;
        p.why = NULL;
    }
    partitioning_free(&p);
    return result;
}

static void
find_crossings(const sweep *s, sweep_curve *c)
{
    for (size_t i = 0; i + 1 < s->n; i++) {
        double a = c->ratio[i] - s->limit, b = c->ratio[i + 1] - s->limit;

        if ((a < 0) != (b < 0) && isfinite(a) && isfinite(b))
            vec_push(&c->crossing, s->value[i] + (s->value[i + 1] - s->value[i]) * a / (a - b));
    }
}

/* Keeps the curves that fall below the threshold somewhere, at ends that may be left out. */
static void
draw_curves(sweep *s, const double *all, size_t row, const bool *strong)
{
    size_t n = 0;

    for (size_t k = 0; k < s->curve.n; k++) {
        sweep_curve *c = &s->curve.at[n];
        bool below = false;

        for (size_t i = 0; i < s->n; i++)
            below |= all[i * row + RATIOS + k] < s->limit;
        if (!below || strong[k])
            continue;
        *c = s->curve.at[k];
        c->ratio = arena_new_array(s->arena, double, s->n);
        for (size_t i = 0; i < s->n; i++)
            c->ratio[i] = all[i * row + RATIOS + k];
        find_crossings(s, c);
        n++;
    }
    s->curve.n = n;
    for (size_t i = 0; i < s->n; i++) {
        s->subgraphs[i] = (size_t)all[i * row + SUBGRAPHS];
        s->partitions[i] = (size_t)all[i * row + PARTITIONS];
    }
}

enum partition_result
sweep_run(const partition_options *o, sweep *s, char **why)
{
    struct looking l = { .o = o, .s = s };
    partition_options first = *o;
    recording *run = with_value(o, s, 0);
    double *all = NULL;
    bool *strong = NULL;
    size_t row = 0;
    enum partition_result result;

    *why = NULL;
    s->limit = o->limit;
    first.run = run;
    result = partition_compile(&first, &l.graphs, &l.models);
    if (result == PARTITION_DONE) {
        l.shared = is_of_instances(&l);
        result = look_at_all(&l, &all, &row, &strong, why);
    } else if (l.graphs.why) {
        *why = l.graphs.why;
        l.graphs.why = NULL;
    }
    if (result == PARTITION_DONE)
        draw_curves(s, all, row, strong);
    local_models_free(&l.models);
    partitioning_free(&l.graphs);
    free(run);
    free(all);
    free(strong);
    return result;
}

/* ---------------------------------------------------------------- output */

static void
put_ratio_range(const double *ratio, size_t n, table *t)
{
    double least = INFINITY, greatest = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        least = fmin(least, ratio[i]);
        greatest = fmax(greatest, ratio[i]);
    }
    table_put(t, "%.3g %%", 100 * least);
    table_put(t, "%.3g %%", 100 * greatest);
}

void
sweep_text(const sweep *s, FILE *out)
{
    table t = { .columns = 5, .left = 2, .tail = true };

    fprintf(out, "%s: %zu values of %s from %.6g to %.6g%s%s%s\n", s->model, s->n, s->parameter, s->value[0] / s->shown,
            s->value[s->n - 1] / s->shown, s->unit ? " [" : "", s->unit ? s->unit : "", s->unit ? "]" : "");
    for (size_t i = 0, j; i < s->n; i = j) {
        for (j = i + 1; j < s->n && s->partitions[j] == s->partitions[i] && s->subgraphs[j] == s->subgraphs[i]; j++)
            ;
        fprintf(out, "  from %.6g: %zu subgraph%s in %zu partition%s\n", s->value[i] / s->shown, s->subgraphs[i],
                s->subgraphs[i] == 1 ? "" : "s", s->partitions[i], s->partitions[i] == 1 ? "" : "s");
    }
    if (s->curve.n == 0) {
        fprintf(out, "no bond that may be left out is below %.6g %% anywhere\n", 100 * s->limit);
        return;
    }
    table_put(&t, "bond");
    table_put(&t, "at");
    table_put(&t, "least");
    table_put(&t, "greatest");
    table_put(&t, "crosses %.6g %% at", 100 * s->limit);
    for (size_t k = 0; k < s->curve.n; k++) {
        const sweep_curve *c = &s->curve.at[k];
        strbuf b = { 0 };

        table_put(&t, "%s", c->name);
        table_put(&t, "%s", c->at);
        put_ratio_range(c->ratio, s->n, &t);
        for (size_t i = 0; i < c->crossing.n; i++)
            strbuf_printf(&b, "%s%.4g", i ? ", " : "", c->crossing.at[i] / s->shown);
        table_put(&t, "%s", b.n ? b.at : "");
        strbuf_free(&b);
    }
    table_print(&t, out, "  ");
}

static void
put_numbers(json *j, const char *key, const double *x, size_t n)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        json_number(j, x[i]);
    json_close(j, ']');
}

static void
put_counts(json *j, const char *key, const size_t *x, size_t n)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        json_count(j, x[i]);
    json_close(j, ']');
}

void
sweep_json(const sweep *s, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    json_key(&j, "model"), json_string(&j, s->model);
    json_key(&j, "parameter"), json_string(&j, s->parameter);
    json_key(&j, "threshold"), json_number(&j, s->limit);
    put_numbers(&j, "values", s->value, s->n);
    put_counts(&j, "subgraphs", s->subgraphs, s->n);
    put_counts(&j, "partitions", s->partitions, s->n);
    json_key(&j, "curves");
    json_open(&j, '[');
    for (size_t k = 0; k < s->curve.n; k++) {
        const sweep_curve *c = &s->curve.at[k];

        json_open(&j, '{');
        json_key(&j, "name"), json_string(&j, c->name);
        json_key(&j, "at"), json_string(&j, c->at);
        put_numbers(&j, "ratio", c->ratio, s->n);
        put_numbers(&j, "crossings", c->crossing.at, c->crossing.n);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

/* The axis is logarithmic, since ratios span decades; ratios of 0 are left out. */
bool
sweep_plot(const sweep *s, const char *path, char **why)
{
    const char *argv[] = { "gnuplot", "-d", "-", NULL };
    const char *dot = strrchr(path, '.'), *terminal = !dot                   ? ""
                                                      : !strcmp(dot, ".svg") ? "svg"
                                                      : !strcmp(dot, ".png") ? "pngcairo"
                                                                             : "pdfcairo";
    char *label = bg_format(s->unit ? "%s [%s]" : "%s", s->parameter, s->unit);
    strbuf b = { 0 };
    enum { COLOURS = 8 }; /* colours of gnuplot; beyond that dashes distinguish curves of one colour */
    bool fine;

    strbuf_puts(&b, "$ratio << EOD\n");
    for (size_t i = 0; i < s->n; i++) {
        strbuf_printf(&b, "%.9g", s->value[i] / s->shown);
        for (size_t k = 0; k < s->curve.n; k++)
            strbuf_printf(&b, s->curve.at[k].ratio[i] > 0 ? " %.9g" : " ?", 100 * s->curve.at[k].ratio[i]);
        strbuf_puts(&b, "\n");
    }
    strbuf_puts(&b, "EOD\n$crossing << EOD\n");
    for (size_t k = 0; k < s->curve.n; k++)
        for (size_t i = 0; i < s->curve.at[k].crossing.n; i++)
            strbuf_printf(&b, "%.9g %.9g\n", s->curve.at[k].crossing.at[i] / s->shown, 100 * s->limit);
    strbuf_puts(&b, "? ?\nEOD\n");
    strbuf_printf(&b,
                  "set terminal %s size %s\nset encoding utf8\nset termoption noenhanced\nset datafile missing "
                  "\"?\"\nset logscale y\n"
                  "set key outside right top Left reverse\nset grid\nset format y \"%%g\"\nset ylabel \"ratio "
                  "[%%]\"\nset xlabel ",
                  terminal, strcmp(terminal, "pdfcairo") ? "900,500" : "9in,5in");
    quote_z(&b, QUOTE_GNUPLOT, label);
    strbuf_printf(&b,
                  "\nplot %.9g with lines lw 2 lc rgb \"#808080\" dt 2 title \"threshold\", \\\n     $crossing using "
                  "1:2 with points pt 7 ps 1 "
                  "lc rgb \"#d55e00\" title \"crossed\"",
                  100 * s->limit);
    for (size_t k = 0; k < s->curve.n; k++) {
        char *title = bg_format("%s at %s", s->curve.at[k].name, s->curve.at[k].at);

        strbuf_printf(&b, ", \\\n     $ratio using 1:%zu with lines lw 1.6 lt %zu dt %zu title ", k + 2,
                      k % COLOURS + 1, k / COLOURS + 1);
        quote_z(&b, QUOTE_GNUPLOT, title);
        free(title);
    }
    strbuf_puts(&b, "\n");
    fine = picture_draw(argv, &b, path, "figures need gnuplot, which is not installed", why);
    strbuf_free(&b);
    free(label);
    return fine;
}

void
sweep_free(sweep *s)
{
    for (size_t k = 0; k < s->curve.n; k++)
        vec_free(&s->curve.at[k].crossing);
    vec_free(&s->curve);
    arena_free(s->arena);
    memset(s, 0, sizeof *s);
}
