/* metrics.c - how much each element matters, from its power over a run */
#include <math.h>
#include <string.h>

#include "metrics.h"

static const struct { const char *name, *unit; } metrics[METRIC_COUNT] = {
    [METRIC_ACTIVITY] = { "activity", "J" },
    [METRIC_RMS]      = { "rms", "W" }
};

const char *metric_name(enum metric m) { return metrics[m].name; }
const char *metric_unit(enum metric m) { return metrics[m].unit; }

bool
metric_find(const char *name, enum metric *m)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (!strcmp(name, metrics[i].name)) {
            *m = (enum metric)i;
            return true;
        }
    return false;
}

bool is_source(const flat_element *e) { return e->type == EL_SE || e->type == EL_SF; }
bool is_two_port(const flat_element *e) { return e->type == EL_TF || e->type == EL_GY; }

static int
by_value(const void *pa, const void *pb)
{
    const metric_row *a = pa, *b = pb;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->element < b->element ? -1 : a->element > b->element;
}

void
ranking_make(const flat_model *f, const sim_result *r, enum metric m, ranking *out)
{
    double sum = 0;

    memset(out, 0, sizeof *out);
    out->metric = m;
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];
        metric_row row = { .element = i, .name = e->name, .type = element_type_name(e->type), .source = is_source(e) };

        if (is_two_port(e))
            continue;
        row.value = m == METRIC_ACTIVITY ? r->activity[i] : r->window_length > 0 ? sqrt(r->square[i] / r->window_length) : 0;
        vec_push(&out->row, row);
    }
    if (out->row.n)
        qsort(out->row.at, out->row.n, sizeof *out->row.at, by_value);
    for (size_t i = out->row.n; i-- > 0;)            /* small ones first: less is lost */
        out->total += out->row.at[i].value;
    for (size_t i = 0; i < out->row.n; i++) {
        metric_row *row = &out->row.at[i];

        sum += row->value;
        row->index = out->total > 0 ? row->value / out->total : 0;
        row->cumulative = out->total > 0 ? i + 1 == out->row.n ? 1 : fmin(sum / out->total, 1) : 0;
    }
}

void
ranking_free(ranking *r)
{
    vec_free(&r->row);
}
