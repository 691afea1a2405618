/* partition_compare.c - compares the model with its partitions and with what a threshold leaves of them */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "partition_inside.h"

recording *
partition_recordings(const struct worker *d, const recording *like, const char *path, const char *text, size_t length)
{
    recording *r = bg_calloc(d->o->nruns, sizeof *r);

    for (size_t i = 0; i < d->o->nruns; i++) {
        r[i] = like[i];
        r[i].path = path ? path : like[i].path;
        r[i].text = text;
        r[i].length = length;
    }
    return r;
}

static bool
add_model_row(struct worker *d, const recording *r, const char *name)
{
    table_row row = { .name = name };

    if (!row_of(r, partition_run_failed, d, &row))
        return false;
    vec_push(&d->out->table, row);
    return true;
}

static enum partition_result
add_inactive(struct worker *d, const recording *r, const char *name, const regime *also, size_t n)
{
    inactive_options io = { .share = d->o->mora, .regime = also, .n = n, .failed = partition_run_failed, .ctx = d };
    name_list list = { .of = name };
    share_list all = { .of = name };
    const regime *beyond;
    bool fine = inactive_find(r, d->o->nruns, &io, d->a, &list, &all, &beyond);

    vec_push(&d->out->inactive, list);
    vec_push(&d->out->share, all);
    if (beyond)
        return partition_usage(
            d, bg_format("--mora-window %.6g..%.6g s lies within none of the runs", beyond->from, beyond->to));
    return fine ? PARTITION_DONE : PARTITION_FAILED;
}

bool
partition_without(struct worker *d, const recording *r, const name_list *gone, smaller *out)
{
    recording *less;
    bool fine = true;

    *out = (smaller){ 0 };
    text_without(r, d->o->nruns, gone, d->a, &out->text, &out->length, &out->cost.stay);
    if (!out->text)
        return true;
    if (!d->as_given && !(d->as_given = runs_keep(d->o->run, d->o->nruns, partition_run_failed, d)))
        return false;
    less = partition_recordings(d, r, NULL, out->text, out->length);
    fine = runs_compare(d->as_given, less, d->written && r->text != d->o->run->text ? written_name : NULL, d->a,
                        partition_run_failed, d, &out->cost.error);
    free(less);
    return fine;
}

void
smaller_free(smaller *x)
{
    free(x->text);
    vec_free(&x->cost.error);
    vec_free(&x->cost.stay.name);
    *x = (smaller){ 0 };
}

/* Adds the row of a smaller model, and its errors. name: of its file; NULL: it has none. Takes over the contents of
 * x. */
static enum partition_result
add_smaller(struct worker *d, const recording *r, smaller *x, const char *row, const char *name, without *out)
{
    enum partition_result result = PARTITION_DONE;

    if (x->text) {
        recording *less = partition_recordings(d, r, NULL, x->text, x->length);

        if (!add_model_row(d, less, row))
            result = PARTITION_FAILED;
        else if (name)
            result = partition_write_portable(d, name, x->text, x->length);
        free(less);
    }
    *out = x->cost;
    x->cost = (without){ 0 };
    return result;
}

/* The size of an output: the greater of its values in this run and in the model as given, because conditioning may have
 * brought it to rest. */
static double
output_size(const partitioning *p, const run_error *x)
{
    double size = x->size;

    for (size_t k = 0; k < p->error.n; k++)
        if (!p->error.at[k].state && !strcmp(p->error.at[k].name, x->name) &&
            !strcmp(p->error.at[k].experiment, x->experiment))
            size = fmax(size, p->error.at[k].size);
    return size;
}

/* Error of a part against the conditioned model, over the outputs recorded for it: the greatest rms error as a share of
 * the output's rms. */
static bool
compare_part(struct worker *d, const recording *r, part *x)
{
    run_errors e = { 0 };
    bool fine = compare_runs(d->run, r, d->o->nruns, NULL, d->a, partition_run_failed, d, &e);

    x->replay = NAN;
    for (size_t i = 0; fine && i < e.n; i++) {
        const run_error *y = &e.at[i];

        if (y->stopped && y->end[0] != y->end[1]) /* the time that one of the two lacks counts as an error */
            x->replay = fmax(isnan(x->replay) ? 0 : x->replay, fabs(y->end[1] - y->end[0]) / fabs(y->end[0]));
        if (!e.at[i].state && output_size(d->out, &e.at[i]) > 0)
            x->replay = fmax(isnan(x->replay) ? 0 : x->replay, e.at[i].rms / output_size(d->out, &e.at[i]));
    }
    vec_free(&e);
    return fine;
}

/* A part that was left out adds all elements that could be ranked. */
static void
add_left_out(struct worker *d, const part *x, name_list *all)
{
    const subgraphs *s = &d->out->subgraphs;
    const flat_model *f = d->out->graph.flat;

    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];
        uint32_t k = s->of_element[i];

        if (k == NONE || is_source(e) || is_two_port(e))
            continue;
        for (size_t n = 0; n < s->partition.at[s->subgraph.at[k].partition].subgraph.n; n++)
            if (!strcmp(s->subgraph.at[s->partition.at[s->subgraph.at[k].partition].subgraph.at[n]].name, x->name))
                vec_push(&all->name, d->written ? written_name(d->a, e->name) : e->name);
    }
}

static enum partition_result
compare_parts(struct worker *d, name_list *all)
{
    partitioning *p = d->out;
    bool fine = true;

    for (size_t i = 0; i < p->parts.part.n && fine; i++) {
        part *x = &p->parts.part.at[i];
        char *path = bg_format("%s/%s.bg", d->o->folder, x->name);
        recording *r = partition_recordings(d, d->run, path, x->text, x->length);

        if (x->wanted) {
            fine = add_model_row(d, r, x->name) && add_inactive(d, r, x->name, NULL, 0) == PARTITION_DONE &&
                   compare_part(d, r, x);
            for (size_t k = 0; fine && k < p->inactive.at[p->inactive.n - 1].name.n; k++)
                vec_push(&all->name, p->inactive.at[p->inactive.n - 1].name.at[k]);
        }
        if (!x->wanted)
            add_left_out(d, x, all);
        free(r);
        free(path);
    }
    return fine ? PARTITION_DONE : PARTITION_FAILED;
}

enum partition_result
partition_compare(struct worker *d)
{
    partitioning *p = d->out;
    enum partition_result result;
    smaller x;

    if (!d->o->folder)
        return PARTITION_DONE;
    if (!add_model_row(d, d->o->run, "as given"))
        return PARTITION_FAILED;
    result = add_inactive(d, d->o->run, "as given", d->o->regime, d->o->nregimes);
    if (result != PARTITION_DONE)
        return result;
    result = partition_without(d, d->o->run, &p->inactive.at[0], &x)
                 ? add_smaller(d, d->o->run, &x, "as given, reduced", NULL, &p->less_whole)
                 : PARTITION_FAILED;
    smaller_free(&x);
    if (result == PARTITION_DONE && p->changed && !add_model_row(d, d->run, "conditioned"))
        result = PARTITION_FAILED;
    if (result != PARTITION_DONE || p->parts.part.n == 0)
        return result;
    p->all_inactive.of = "all partitions";
    result = compare_parts(d, &p->all_inactive);
    if (result == PARTITION_DONE)
        result = partition_without(d, d->run, &p->all_inactive, &x) && partition_add_whole(d, &x)
                     ? add_smaller(d, d->run, &x, "conditioned, reduced", "reduced", &p->less_parts)
                     : PARTITION_FAILED;
    smaller_free(&x);
    return result;
}
