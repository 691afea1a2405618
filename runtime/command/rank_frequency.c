/* rank_frequency.c - see rank_frequency.h */
#include "rank_frequency.h"

#include <math.h>
#include <string.h>

#include "frequency.h"
#include "mode_reduction.h"
#include "report.h"

/* The values shown: the activity over all bands, and in each band. */
struct by_frequency {
    const request *q;
    const loaded *l;
    frequency_table t;
    ranking all;
    ranking *band; /* [nbands] */
    double threshold;
};

/* Ranks the activities of one band, or of all together (band NO_INDEX). */
static void
rank_band(const struct by_frequency *s, size_t band, ranking *out)
{
    const flat_model *f = s->l->c.flat;
    sim_result r = { .activity = bg_calloc(f->element.n + 1, sizeof(double)) };

    for (uint32_t e = 0; e < f->element.n; e++)
        for (size_t b = 0; b < s->t.nbands; b++)
            r.activity[e] += band == NO_INDEX || b == band ? s->t.activity[e * s->t.nbands + b] : 0;
    ranking_make(s->l->c.model, &r, METRIC_ACTIVITY, out);
    ranking_decide(out, s->threshold);
    free(r.activity);
}

static const metric_row *
row_of_element(const ranking *r, uint32_t element)
{
    for (size_t i = 0; i < r->row.n; i++)
        if (r->row.at[i].element == element)
            return &r->row.at[i];
    return NULL;
}

static size_t
count_staying(const ranking *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->row.n; i++)
        n += r->row.at[i].decision == DECISION_STAYS || r->row.at[i].decision == DECISION_KEPT;
    return n;
}

static void
write_bands_json(const struct by_frequency *s, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    json_key_string(&j, "model", s->l->c.flat->name);
    json_key_string(&j, "experiment", s->l->experiment);
    json_key_string(&j, "metric", "activity");
    json_key_string(&j, "by", "frequency");
    json_key_string(&j, "unit", "J");
    json_key_number(&j, "total", s->all.total);
    json_key_number(&j, "threshold", s->threshold);
    json_key(&j, "bands");
    json_open(&j, '[');
    for (size_t b = 0; b < s->t.nbands; b++) {
        json_open(&j, '{');
        json_key_number(&j, "from", s->t.from[b]);
        json_key_number(&j, "to", s->t.to[b]);
        json_key_number(&j, "total", s->band[b].total);
        json_key(&j, "stay"), json_count(&j, count_staying(&s->band[b]));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "elements");
    json_open(&j, '[');
    for (size_t i = 0; i < s->all.row.n; i++) {
        const metric_row *x = &s->all.row.at[i];

        json_open(&j, '{');
        json_key_string(&j, "name", x->name);
        json_key_string(&j, "type", x->type);
        json_key_number(&j, "value", x->value);
        json_key_number(&j, "index", x->index);
        json_key_number(&j, "cumulative", x->cumulative);
        json_key(&j, "source"), json_bool(&j, x->source);
        json_key_string(&j, "decision", decision_name(x->decision));
        json_key(&j, "bands");
        json_open(&j, '[');
        for (size_t b = 0; b < s->t.nbands; b++) {
            const metric_row *y = row_of_element(&s->band[b], x->element);

            json_open(&j, '{');
            json_key_number(&j, "value", y->value);
            json_key_number(&j, "index", y->index);
            json_key_string(&j, "decision", decision_name(y->decision));
            json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static void
write_band_table(const struct by_frequency *s, FILE *out)
{
    table t = { .columns = 5 + (int)s->t.nbands, .left = 2 };

    table_put(&t, "element");
    table_put(&t, "type");
    table_put(&t, "activity [J]");
    table_put(&t, "index");
    table_put(&t, "at %.6g %%", 100 * s->threshold);
    for (size_t b = 0; b < s->t.nbands; b++)
        table_put(&t, "%.3g-%.3g Hz", s->t.from[b], s->t.to[b]);
    for (size_t i = 0; i < s->all.row.n; i++) {
        const metric_row *x = &s->all.row.at[i];

        table_put(&t, "%s", x->name);
        table_put(&t, "%s%s", x->type, x->source ? " (source)" : "");
        table_put(&t, "%.6g", x->value);
        table_put(&t, "%.2f %%", 100 * x->index);
        table_put(&t, "%s", x->source ? "-" : decision_name(x->decision));
        for (size_t b = 0; b < s->t.nbands; b++) {
            const metric_row *y = row_of_element(&s->band[b], x->element);

            table_put(&t, y->decision == DECISION_GOES ? "(%.2f %%)" : "%.2f %%", 100 * y->index);
        }
    }
    table_put(&t, "stay");
    table_put(&t, "%s", "");
    table_put(&t, "%s", "");
    table_put(&t, "%s", "");
    table_put(&t, "%zu", count_staying(&s->all));
    for (size_t b = 0; b < s->t.nbands; b++)
        table_put(&t, "%zu", count_staying(&s->band[b]));
    table_print(&t, out, "");
    fputs("in brackets: goes there. Of the linear model at the start, each frequency in its steady state, about the "
          "operating point\n",
          out);
}

static int
write_bands(struct by_frequency *s)
{
    const char *path = s->q->text[OPT_OUTPUT];
    outfile out;

    rank_band(s, NO_INDEX, &s->all);
    s->band = bg_calloc(s->t.nbands + 1, sizeof *s->band);
    for (size_t b = 0; b < s->t.nbands; b++)
        rank_band(s, b, &s->band[b]);
    if (!outfile_open(&out, path))
        return complain_file(path);
    if (s->q->json)
        write_bands_json(s, out.out);
    else
        write_band_table(s, out.out);
    return outfile_commit(&out) ? STATUS_DONE : complain_file(path);
}

int
rank_by_frequency(const request *q, double threshold)
{
    request opened = *q;
    loaded l;
    struct by_frequency s = { .q = q, .l = &l, .threshold = threshold };
    int status;

    opened.open = opened.ports = true;
    status = load_model(&opened, q->file.at[0], STAGE_MODEL, EXPERIMENT_NEEDED, &l);
    if (status == STATUS_DONE) {
        double *x = bg_calloc(model_nstates(l.c.model) + 1, sizeof *x), t = 0;
        sim_options o = { .points = FREQUENCY_SAMPLES + 1, .outputs = true };
        sim_result r = { 0 };
        linearization p = { 0 };

        if (!reduction_point(l.c.model, &t, x)) {
            print_diagnostics(q, l.c.sources);
            status = status_of(l.c.sources);
        } else if (!linearize_at(l.c.model, t, x, &p)) {
            complain("%s cannot be ranked by frequency: its linear model at %g s: %s", l.c.flat->name, t, p.why);
            status = STATUS_NUMBERS;
        } else if (!run_loaded(q, &l, RANKING_RTOL, &o, &r)) {
            status = status_of(l.c.sources);
        } else if (!frequency_table_make(l.c.model, &p, &r, &s.t)) {
            complain("%s cannot be ranked by frequency: %s", l.c.flat->name, s.t.why);
            status = STATUS_NUMBERS;
        } else {
            status = write_bands(&s);
        }
        for (size_t b = 0; b < s.t.nbands && s.band; b++)
            ranking_free(&s.band[b]);
        free(s.band);
        ranking_free(&s.all);
        frequency_table_free(&s.t);
        linearization_free(&p);
        sim_options_free(&o);
        sim_result_free(&r);
        free(x);
    }
    loaded_free(&l);
    return status;
}
