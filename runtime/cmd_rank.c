/* cmd_rank.c - bgc rank: how much each element matters */
#include <string.h>

#include "command.h"
#include "report.h"

static void
write_json(const loaded *l, const ranking *k, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    json_key(&j, "model"), json_string(&j, l->c.flat->name);
    json_key(&j, "experiment"), json_string(&j, l->experiment);
    json_key(&j, "metric"), json_string(&j, metric_name(k->metric));
    json_key(&j, "unit"), json_string(&j, metric_unit(k->metric));
    json_key(&j, "total"), json_number(&j, k->total);
    json_key(&j, "elements");
    json_open(&j, '[');
    for (size_t i = 0; i < k->row.n; i++) {
        const metric_row *x = &k->row.at[i];

        json_open(&j, '{');
        json_key(&j, "name"), json_string(&j, x->name);
        json_key(&j, "type"), json_string(&j, x->type);
        json_key(&j, "value"), json_number(&j, x->value);
        json_key(&j, "index"), json_number(&j, x->index);
        json_key(&j, "cumulative"), json_number(&j, x->cumulative);
        json_key(&j, "source"), json_bool(&j, x->source);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

int
cmd_rank(const request *q)
{
    loaded l;
    sim_options o = { .activity = true };
    sim_result r = { 0 };
    ranking k;
    enum metric m = METRIC_ACTIVITY;
    int status;

    if (q->text[OPT_METRIC] && !metric_find(q->text[OPT_METRIC], &m)) {
        complain("there is no metric \"%s\"; there are activity and rms", q->text[OPT_METRIC]);
        return STATUS_USAGE;
    }
    status = load(q, q->file.at[0], STAGE_MODEL, EXPERIMENT_NEEDED, &l);
    if (status == STATUS_DONE) {
        if (!run_loaded(q, &l, RANKING_RTOL, &o, &r)) {
            status = status_of(l.c.sources);
        } else {
            outfile out;

            ranking_make(l.c.flat, &r, m, &k);
            if (!outfile_open(&out, q->text[OPT_OUTPUT])) {
                status = complain_file(q->text[OPT_OUTPUT]);
            } else {
                if (q->json)
                    write_json(&l, &k, out.out);
                else
                    report_ranking(out.out, &k, is_terminal(out.out), color_on(out.out));
                if (!outfile_commit(&out))
                    status = complain_file(q->text[OPT_OUTPUT]);
            }
            ranking_free(&k);
        }
        sim_options_free(&o);
        sim_result_free(&r);
    }
    loaded_free(&l);
    return status;
}
