/* cmd_rank.c - bgc rank: importance of elements, by one or several metrics, over one or several experiments
 *
 * Each experiment is simulated once, whatever is asked for.
 */
#include <math.h>
#include <string.h>

#include "command.h"
#include "crew.h"
#include "rank_frequency.h"
#include "side_by_side.h"
#include "verify.h"
#include "report.h"

/* One experiment, run. */
struct study {
    loaded l;
    sim_options o;
    sim_result r;
    measure *measure;
    bool begins, ran; /* where several run side by side */
};

struct studies {
    const request *q;
    enum metric metric[METRIC_COUNT];
    size_t nmetrics;
    measure_options o;
    double threshold, limit;
    VEC(struct study *) study;
    VEC(const char *) name; /* of the experiments */
};

/* ---------------------------------------------------------------- JSON */

/* The request, for any metric. */
static void
write_head(json *j, const struct studies *s, enum metric m, double total)
{
    json_key_string(j, "metric", metric_name(m));
    json_key_string(j, "unit", s->study.n > 1 && metric_ranks(m) ? "1" : metric_unit(m));
    if (s->study.n > 1)
        json_key_string(j, "values",
                        metric_ranks(m) ? "greatest index over the experiments" : "greatest over the experiments");
    json_key_number(j, "total", total);
}

static void
write_elements(json *j, const struct studies *s, const ranking *k)
{
    json_key(j, "elements");
    json_open(j, '[');
    for (size_t i = 0; i < k->row.n; i++) {
        const metric_row *x = &k->row.at[i];

        json_open(j, '{');
        json_key_string(j, "name", x->name);
        json_key_string(j, "type", x->type);
        json_key_number(j, "value", x->value);
        json_key_number(j, "index", x->index);
        json_key_number(j, "cumulative", x->cumulative);
        json_key(j, "source"), json_bool(j, x->source);
        json_key_string(j, "decision", decision_name(x->decision));
        if (k->nper > 1) {
            json_key(j, "experiments");
            json_open(j, '[');
            for (size_t e = 0; e < k->nper; e++) {
                const metric_row *one = k->per.at[i * k->nper + e];

                if (!one)
                    continue;
                json_open(j, '{');
                json_key_string(j, "name", s->name.at[e]);
                json_key_number(j, "value", one->value);
                json_key_number(j, "index", one->index);
                json_key_number(j, "cumulative", one->cumulative);
                json_close(j, '}');
            }
            json_close(j, ']');
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
write_ranking(json *j, const struct studies *s, const ranking *k)
{
    write_head(j, s, k->metric, k->total);
    json_key_number(j, "threshold", s->threshold);
    if (metric_expands(k->metric))
        json_key(j, "samples"), json_count(j, measure_samples(s->study.at[0]->measure, k->metric));
    write_elements(j, s, k);
}

static void
write_ratio_experiments(json *j, const struct studies *s, const ratio_table *t, size_t row,
                        const char *const key[RATIO_VALUES])
{
    if (t->nper < 2)
        return;
    json_key(j, "experiments");
    json_open(j, '[');
    for (size_t e = 0; e < t->nper; e++) {
        const ratio_row *one = t->per.at[row * t->nper + e];

        if (!one)
            continue;
        json_open(j, '{');
        json_key_string(j, "name", s->name.at[e]);
        for (int k = 0; k < RATIO_VALUES; k++)
            if (key[k])
                json_key_number(j, key[k], one->value[k]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* The storage elements, and the neighbours of each. */
static void
write_relative(json *j, const struct studies *s, const ratio_table *t)
{
    static const char *const key[RATIO_VALUES] = { NULL, "energy", "ratio9", "ratio10" }, *const alias[RATIO_VALUES] = {
        NULL, NULL, "energy_ratio", "stored_ratio"
    };
    double total = 0, sum = 0;
    size_t next;

    for (size_t i = 0; i < t->row.n; i = next) {
        total += t->row.at[i].value[RATIO_ENERGY];
        for (next = i; next < t->row.n && !strcmp(t->row.at[next].of, t->row.at[i].of) &&
                       !strcmp(t->row.at[next].from, t->row.at[i].from);)
            next++;
    }
    write_head(j, s, t->metric, total);
    json_key_number(j, "limit", s->limit);
    json_key(j, "samples"), json_count(j, RELATIVE_SAMPLES);
    json_key(j, "elements");
    json_open(j, '[');
    for (size_t i = 0; i < t->row.n; i = next) {
        const ratio_row *x = &t->row.at[i];

        sum += x->value[RATIO_ENERGY];
        json_open(j, '{');
        json_key_string(j, "name", x->of);
        json_key_string(j, "type", x->type);
        json_key_string(j, "junction", x->from);
        json_key_number(j, "value", x->value[RATIO_ENERGY]);
        json_key_number(j, "index", total > 0 ? x->value[RATIO_ENERGY] / total : 0);
        json_key_number(j, "cumulative", total > 0 ? fmin(sum / total, 1) : 0);
        json_key(j, "neighbours");
        json_open(j, '[');
        for (next = i; next < t->row.n && !strcmp(t->row.at[next].of, x->of) && !strcmp(t->row.at[next].from, x->from);
             next++) {
            const ratio_row *y = &t->row.at[next];

            json_open(j, '{');
            json_key_string(j, "name", y->to);
            json_key_string(j, "kind", y->bond ? "bond" : "element");
            for (int k = 0; k < RATIO_VALUES; k++)
                if (key[k])
                    json_key_number(j, key[k], y->value[k]);
            for (int k = 0; k < RATIO_VALUES; k++)
                if (alias[k])
                    json_key_number(j, alias[k], y->value[k]);
            json_key(j, "negligible"), json_bool(j, ratio_negligible(t, y, s->limit));
            write_ratio_experiments(j, s, t, next, key);
            json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
write_junction(json *j, const struct studies *s, const ratio_table *t)
{
    static const char *const key[RATIO_VALUES] = { "activity", "ratio_from", "ratio_to", NULL };

    write_head(j, s, t->metric, t->total);
    json_key_number(j, "limit", s->limit);
    json_key(j, "bonds");
    json_open(j, '[');
    for (size_t i = 0; i < t->row.n; i++) {
        const ratio_row *x = &t->row.at[i];

        json_open(j, '{');
        json_key_string(j, "name", x->of);
        json_key_string(j, "from", x->from);
        json_key_string(j, "to", x->to);
        json_key(j, "internal"), json_bool(j, x->bond);
        for (int k = 0; k < RATIO_VALUES; k++)
            if (key[k])
                json_key_number(j, key[k], x->value[k]);
        json_key(j, "negligible"), json_bool(j, ratio_negligible(t, x, s->limit));
        write_ratio_experiments(j, s, t, i, key);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* ---------------------------------------------------------------- one metric */

static bool
rank_all(const struct studies *s, enum metric m, ranking *one)
{
    for (size_t e = 0; e < s->study.n; e++)
        if (!measure_ranking(s->study.at[e]->measure, &s->study.at[e]->r, m, &one[e])) {
            complain("%s: the singular value decomposition of the powers does not converge", s->name.at[e]);
            return false;
        }
    return true;
}

static void
put_expansion(size_t samples, bool normalised, FILE *out)
{
    if (samples)
        fprintf(out, "%zu uniform samples of the powers", samples);
    else
        fputs("from the integrals of all products of two powers", out);
    fprintf(out, ", not centred%s\n", normalised ? ", each element's brought to length 1" : "");
}

/* Explains numbers where the table alone does not. */
static void
print_notes(const struct studies *s, enum metric m, FILE *out)
{
    if (metric_expands(m))
        put_expansion(measure_samples(s->study.at[0]->measure, m), m == METRIC_KL_NORMALISED, out);
    if (m == METRIC_RELATIVE)
        put_text(
            out,
            "%d uniform samples; ratio10, of what is stored, where an element stores at least %g %% of its maximum\n",
            RELATIVE_SAMPLES, 100 * RELATIVE_GUARD);
    if (s->study.n > 1) {
        fputs(metric_ranks(m) ? "decided by the greatest index over " : "greatest over ", out);
        for (size_t e = 0; e < s->study.n; e++)
            put_text(out, "%s%s", e == 0 ? "" : e + 1 == s->study.n ? " and " : ", ", s->name.at[e]);
        fputc('\n', out);
    }
}

static bool
put_ranking(const struct studies *s, enum metric m, json *j, FILE *out)
{
    size_t n = s->study.n;
    ranking *one = bg_calloc(n, sizeof *one), all = { 0 }, *r = one;
    bool ok = rank_all(s, m, one);

    if (ok && n > 1) {
        ranking_combine(one, n, &all);
        r = &all;
    }
    if (ok) {
        ranking_decide(r, s->threshold);
        if (j) {
            write_ranking(j, s, r);
        } else {
            report_ranking(out, r, s->name.at, s->threshold, is_terminal(out), color_on(out));
            print_notes(s, m, out);
        }
    }
    for (size_t e = 0; e < n; e++)
        ranking_free(&one[e]);
    free(one);
    ranking_free(&all);
    return ok;
}

static void
put_ratio_table(const struct studies *s, enum metric m, json *j, FILE *out)
{
    size_t n = s->study.n;
    ratio_table *one = bg_calloc(n, sizeof *one), all = { 0 }, *t = one;

    for (size_t e = 0; e < n; e++) {
        const struct study *x = s->study.at[e];

        if (m == METRIC_RELATIVE) {
            ratios_relative(model_graph_of(x->l.c.model), measure_relative(x->measure), &one[e]);
        } else {
            junction_table ratios;

            measure_junction(x->measure, &x->r, &ratios);
            ratios_junction(model_graph_of(x->l.c.model), &ratios, &one[e]);
            junction_free(&ratios);
        }
    }
    if (n > 1) {
        ratios_combine(one, n, &all);
        t = &all;
    }
    if (!j) {
        report_ratios(out, t, s->limit, is_terminal(out), color_on(out));
        print_notes(s, m, out);
    } else if (m == METRIC_RELATIVE) {
        write_relative(j, s, t);
    } else {
        ranking *by_element = bg_calloc(n, sizeof *by_element), joined = { 0 };

        write_junction(j, s, t);
        if (rank_all(s, METRIC_JUNCTION, by_element)) {
            if (n > 1)
                ranking_combine(by_element, n, &joined);
            ranking_decide(n > 1 ? &joined : by_element, s->threshold);
            write_elements(j, s, n > 1 ? &joined : by_element);
        }
        for (size_t e = 0; e < n; e++)
            ranking_free(&by_element[e]);
        ranking_free(&joined);
        free(by_element);
    }
    for (size_t e = 0; e < n; e++)
        ratios_free(&one[e]);
    free(one);
    ratios_free(&all);
}

static bool
put_metric(const struct studies *s, enum metric m, json *j, FILE *out)
{
    if (metric_ranks(m))
        return put_ranking(s, m, j, out);
    put_ratio_table(s, m, j, out);
    return true;
}

static int
write_result(const struct studies *s)
{
    const char *path = s->q->text[OPT_OUTPUT];
    const struct study *first = s->study.at[0];
    outfile out;
    bool ok = true;

    if (!outfile_open(&out, path))
        return complain_file(path);
    if (s->q->json) {
        json j = { .out = out.out };

        json_open(&j, '{');
        json_key_string(&j, "model", first->l.c.flat->name);
        json_key_string(&j, "experiment", s->study.n > 1 ? NULL : first->l.experiment);
        if (s->study.n > 1) {
            json_key(&j, "experiments");
            json_open(&j, '[');
            for (size_t e = 0; e < s->name.n; e++)
                json_string(&j, s->name.at[e]);
            json_close(&j, ']');
        }
        if (s->nmetrics == 1) {
            ok = put_metric(s, s->metric[0], &j, out.out);
        } else {
            json_key(&j, "metrics");
            json_open(&j, '[');
            for (size_t k = 0; ok && k < s->nmetrics; k++) {
                json_open(&j, '{');
                ok = put_metric(s, s->metric[k], &j, out.out);
                json_close(&j, '}');
            }
            json_close(&j, ']');
        }
        json_close(&j, '}');
    } else {
        for (size_t k = 0; ok && k < s->nmetrics; k++) {
            if (k)
                fputc('\n', out.out);
            ok = put_metric(s, s->metric[k], NULL, out.out);
        }
    }
    if (!ok) {
        outfile_abort(&out);
        return STATUS_NUMBERS;
    }
    return outfile_commit(&out) ? STATUS_DONE : complain_file(path);
}

/* ---------------------------------------------------------------- the request */

/* "activity,rms,kl" */
static int
read_metrics(struct studies *s)
{
    const char *list = s->q->text[OPT_METRIC] ? s->q->text[OPT_METRIC] : "activity", *all[METRIC_COUNT];
    bool shares = false, ratios = false;

    for (int m = 0; m < METRIC_COUNT; m++)
        all[m] = metric_name((enum metric)m);
    for (;;) {
        size_t n = strcspn(list, ",");
        char *name = bg_format("%.*s", (int)n, list);
        enum metric m;
        bool known = metric_find(name, &m);

        if (!known) {
            const char *near = nearest_name(name, all, METRIC_COUNT);

            if (near)
                complain("there is no metric \"%s\"; did you mean \"%s\"?", name, near);
            else
                complain("there is no metric \"%s\"; there are activity, rms, kl, kl-normalised, reaper, "
                         "relative-energy and junction",
                         name);
        }
        free(name);
        if (!known)
            return STATUS_USAGE;
        if (!(s->o.metrics & METRIC(m)))
            s->metric[s->nmetrics++] = m;
        s->o.metrics |= METRIC(m);
        *(metric_ranks(m) ? &shares : &ratios) = true;
        if (!list[n])
            break;
        list += n + 1;
    }
    if (s->q->text[OPT_THRESHOLD] && shares && ratios) {
        complain(
            "--threshold is the share that stays, or the ratio below which a bond is negligible: rank by %s separately",
            s->o.metrics & METRIC(METRIC_RELATIVE) ? "relative-energy" : "junction");
        return STATUS_USAGE;
    }
    return STATUS_DONE;
}

static int
read_request(struct studies *s)
{
    const request *q = s->q;
    const char *by = q->text[OPT_BY];
    double share;

    if (read_metrics(s) != STATUS_DONE)
        return STATUS_USAGE;
    if (q->text[OPT_THRESHOLD]) {
        if (!parse_share(q->text[OPT_THRESHOLD], &share)) {
            complain("the threshold is a share like 99%% or 0.99, not \"%s\"", q->text[OPT_THRESHOLD]);
            return STATUS_USAGE;
        }
        s->threshold = s->limit = share;
    }
    if (by && strcmp(by, "element") && strcmp(by, "component") && strcmp(by, "frequency")) {
        complain("--by is element, component or frequency, not \"%s\"", by);
        return STATUS_USAGE;
    }
    if (by && !strcmp(by, "frequency") && (s->nmetrics != 1 || s->metric[0] != METRIC_ACTIVITY)) {
        complain("--by frequency is of activity alone");
        return STATUS_USAGE;
    }
    if (by && !strcmp(by, "frequency") &&
        (q->experiment.n > 1 ||
         (q->given & (OPT(OPT_ALL) | OPT(OPT_VERIFY) | OPT(OPT_SAMPLES) | OPT(OPT_WITHOUT_SOURCES))))) {
        complain("--by frequency is of one experiment, without --all, --verify, --samples and --without-sources");
        return STATUS_USAGE;
    }
    if ((q->given & OPT(OPT_ALL)) && q->experiment.n) {
        complain("--all takes every experiment, -e only the named ones: use one of them");
        return STATUS_USAGE;
    }
    s->o.components = by && !strcmp(by, "component");
    s->o.without_sources = (q->given & OPT(OPT_WITHOUT_SOURCES)) != 0;
    s->o.samples = q->samples;
    return STATUS_DONE;
}

static int
measure_study(const struct studies *s, const request *q, struct study *x)
{
    x->measure = measure_new(x->l.c.model, &s->o, &x->o);
    if (!x->measure) {
        print_diagnostics(q, x->l.c.sources);
        return status_of(x->l.c.sources);
    }
    return run_loaded(q, &x->l, RANKING_RTOL, &x->o, &x->r) ? STATUS_DONE : status_of(x->l.c.sources);
}

/* Samples are spread over the planned run: if `stop when` ends it early, it is run again up to its end. */
static int
measure_up_to_end(const struct studies *s, struct study *x)
{
    request q = *s->q;

    q.given |= OPT(OPT_STOP);
    q.stop = x->r.t_end;
    measure_free(x->measure);
    sim_result_free(&x->r);
    sim_options_free(&x->o);
    x->o = (sim_options){ 0 };
    return measure_study(s, &q, x);
}

/* What follows a run */
static int
end_study(const struct studies *s, struct study *x)
{
    int status = STATUS_DONE;

    if (x->r.stopped && x->o.nsamplers)
        status = measure_up_to_end(s, x);
    if (status == STATUS_DONE && s->q->given & OPT(OPT_VERIFY)) {
        verified v;

        status = verify_run(s->q, &x->l, &x->o, &x->r, &v);
        if (status == STATUS_DONE)
            status = verify_report(s->q, &v);
        verified_free(&v);
    }
    return status;
}

static int
run_study(const struct studies *s, struct study *x)
{
    int status = measure_study(s, s->q, x);

    return status == STATUS_DONE ? end_study(s, x) : status;
}

/* Without a progress bar: several would write over one another. */
static void
set_study_up(const struct studies *s, struct study *x)
{
    struct run_settings settings = { .q = s->q, .default_rtol = RANKING_RTOL, .shown = -1 };

    x->measure = measure_new(x->l.c.model, &s->o, &x->o);
    x->begins = x->measure && run_set_up(&settings, &x->l, &x->o);
    x->o.progress = NULL;
}

static void
run_beside(void *ctx, size_t i)
{
    const struct studies *s = ctx;
    struct study *x = s->study.at[i];

    x->ran = x->begins && simulate(x->l.c.model, &x->o, &x->r);
}

/* Runs all studies, as many at a time as there are cores, and reports them in their order up to one that fails. */
static int
run_studies(struct studies *s)
{
    int status = STATUS_DONE;

    for (size_t i = 0; i < s->study.n; i++)
        set_study_up(s, s->study.at[i]);
    crew_each(s->study.n, side_by_side_workers(), run_beside, s);
    for (size_t i = 0; i < s->study.n && status == STATUS_DONE; i++) {
        struct study *x = s->study.at[i];

        run_report(s->q, &x->l, &x->r, x->ran);
        status = x->ran ? end_study(s, x) : status_of(x->l.c.sources);
    }
    return status;
}

static struct study *
new_study(struct studies *s)
{
    struct study *x = bg_calloc(1, sizeof *x);

    vec_push(&s->study, x);
    return x;
}

/* For several experiments the file is read once. */
static int
run_several(struct studies *s, loaded *file)
{
    request parsing = *s->q;
    int status;

    parsing.text[OPT_EXPERIMENT] = NULL;
    status = load_model(&parsing, s->q->file.at[0], STAGE_PARSE, EXPERIMENT_OPTIONAL, file);
    if (status != STATUS_DONE)
        return status;
    for (size_t i = 0; i < s->q->experiment.n; i++) {
        bool again = false;

        for (size_t k = 0; k < s->name.n; k++)
            again |= !strcmp(s->name.at[k], s->q->experiment.at[i]);
        if (!again)
            vec_push(&s->name, s->q->experiment.at[i]);
    }
    if (s->q->experiment.n == 0 && file->experiment) {
        vec_push(&s->name, file->experiment);
        for (size_t i = 0; i < file->others.n; i++)
            vec_push(&s->name, file->others.at[i]);
    }
    if (s->name.n == 0)
        vec_push(&s->name, NULL); /* there is none; the message says so */
    for (size_t i = 0; i < s->name.n && status == STATUS_DONE; i++) {
        struct study *x = new_study(s);

        status = load_experiment(s->q, file, s->name.at[i], STAGE_MODEL, &x->l);
    }
    for (size_t i = 1; i < s->study.n && status == STATUS_DONE; i++) {
        const char *first = s->study.at[0]->l.c.flat->name, *other = s->study.at[i]->l.c.flat->name;

        if (strcmp(first, other)) {
            complain("experiment %s is of %s, %s of %s: name those of one model with -e", s->name.at[0], first,
                     s->name.at[i], other);
            status = STATUS_USAGE;
        }
    }
    if (status == STATUS_DONE)
        status = s->study.n > 1 ? run_studies(s) : run_study(s, s->study.at[0]);
    return status;
}

static int
run_one_study(struct studies *s)
{
    struct study *x = new_study(s);
    int status = load_model(s->q, s->q->file.at[0], STAGE_MODEL, EXPERIMENT_NEEDED, &x->l);

    vec_push(&s->name, x->l.experiment);
    return status == STATUS_DONE ? run_study(s, x) : status;
}

int
cmd_rank(const request *q)
{
    struct studies s = { .q = q, .threshold = DEFAULT_THRESHOLD, .limit = DEFAULT_LIMIT };
    loaded file = { 0 };
    int status = read_request(&s);

    if (status == STATUS_DONE && q->text[OPT_BY] && !strcmp(q->text[OPT_BY], "frequency"))
        return rank_by_frequency(q, s.threshold);
    if (status == STATUS_DONE)
        status = (q->given & OPT(OPT_ALL)) || q->experiment.n > 1 ? run_several(&s, &file) : run_one_study(&s);
    if (status == STATUS_DONE)
        status = write_result(&s);
    for (size_t i = 0; i < s.study.n; i++) {
        struct study *x = s.study.at[i];

        measure_free(x->measure);
        sim_options_free(&x->o);
        sim_result_free(&x->r);
        loaded_free(&x->l);
        free(x);
    }
    vec_free(&s.study);
    vec_free(&s.name);
    loaded_free(&file);
    return status;
}
