/* inactive.c - see inactive.h */
#include "inactive.h"

#include <string.h>

#include "metrics.h"
#include "reduce.h"
#include "writeout.h"

/* An element over all windows: in how many it goes, and its greatest share. */
struct verdict {
    uint32_t element, goes;
    double share;
};

static bool
rank_windows(compilation *c, const sim_options *o, double threshold, struct verdict *of)
{
    size_t n = o->nwindows ? o->nwindows : 1;
    double whole[2] = { o->start, o->stop };
    const double *from = o->nwindows ? o->window_from : whole, *to = o->nwindows ? o->window_to : whole + 1;
    measure_options mo = { .metrics = METRIC(METRIC_ACTIVITY) };
    bool fine = true;

    for (size_t w = 0; w < n && fine; w++) {
        sim_options one = *o;
        sim_result run = { 0 };
        ranking k = { 0 };
        measure *q;

        one.nwindows = 1;
        one.window_from = &from[w];
        one.window_to = &to[w];
        q = measure_new(c->model, &mo, &one);
        fine = q && simulate(c->model, &one, &run) && measure_ranking(q, &run, METRIC_ACTIVITY, &k);
        if (fine)
            ranking_decide(&k, threshold);
        for (size_t i = 0; i < k.row.n; i++) {
            struct verdict *v = &of[k.row.at[i].element];

            v->goes += k.row.at[i].decision == DECISION_GOES;
            v->share = k.row.at[i].index > v->share ? k.row.at[i].index : v->share;
        }
        ranking_free(&k);
        measure_free(q);
        sim_result_free(&run);
    }
    return fine;
}

static int
by_share(const void *pa, const void *pb)
{
    const struct verdict *a = pa, *b = pb;

    if (a->share != b->share)
        return a->share < b->share ? -1 : 1;
    return a->element < b->element ? -1 : a->element > b->element;
}

static void
list_goers(const flat_model *f, struct verdict *of, uint32_t windows, arena *a, name_list *out)
{
    for (uint32_t i = 0; i < f->element.n; i++)
        of[i].element = i;
    if (f->element.n)
        qsort(of, f->element.n, sizeof *of, by_share);
    for (size_t i = 0; i < f->element.n; i++)
        if (of[i].goes == windows)
            vec_push(&out->name, arena_strdup(a, f->element.at[of[i].element].name));
}

bool
inactive_find(const recording *run, size_t nruns, double share, arena *a, void (*failed)(void *ctx, const sources *s),
              void *ctx, name_list *out)
{
    struct verdict *of = NULL;
    uint32_t windows = 0;
    bool fine = true;

    for (size_t r = 0; r < nruns && fine; r++) {
        compile_options co = { .experiment = run[r].experiment, .set = run[r].set, .nset = run[r].nset };
        compilation c = { 0 };
        sim_options so = { 0 };

        fine = compile_text(&c, run[r].path, run[r].text, run[r].length, STAGE_MODEL, &co) &&
               sim_options_from_experiment(c.model, &so);
        if (fine) {
            if (!of)
                of = bg_calloc(c.flat->element.n + 1, sizeof *of);
            if (run[r].adjust)
                run[r].adjust(run[r].ctx, c.model, &so);
            windows += so.nwindows ? (uint32_t)so.nwindows : 1;
            fine = rank_windows(&c, &so, share, of);
        }
        if (!fine)
            failed(ctx, c.sources);
        else if (r + 1 == nruns)
            list_goers(c.flat, of, windows, a, out);
        sim_options_free(&so);
        compile_free(&c);
    }
    free(of);
    return fine;
}

static uint64_t
name_hash(const char *name)
{
    return bg_hash_bytes(name, strlen(name), 0);
}

name_list
names_beyond(const name_list *of, const name_list *other, arena *a)
{
    name_list list = { .of = of->of };
    map there = { 0 }; /* hash of a name -> 1 */

    for (size_t i = 0; i < other->name.n; i++)
        map_set(&there, name_hash(written_name(a, other->name.at[i])), 1);
    for (size_t i = 0; i < of->name.n; i++)
        if (map_get(&there, name_hash(written_name(a, of->name.at[i]))) == MAP_NONE)
            vec_push(&list.name, of->name.at[i]);
    map_free(&there);
    return list;
}

void
text_without(const recording *run, size_t nruns, const name_list *gone, arena *a, char **text, size_t *length,
             name_list *stay)
{
    compile_options co = { .experiment = run->experiment, .set = run->set, .nset = run->nset };
    reduce_options ro = { .experiment = run->experiment,
                          .set = run->set,
                          .nset = run->nset,
                          .metric = METRIC_ACTIVITY,
                          .only = gone->name.at,
                          .nonly = gone->name.n,
                          .adjust = run->adjust,
                          .ctx = run->ctx };
    compilation c = { 0 };
    reduction r = { 0 };
    char *why = NULL;

    *text = NULL;
    if (gone->name.n && compile_text(&c, run->path, run->text, run->length, STAGE_MODEL, &co) &&
        reduce(&c, &ro, &r, &why) == REDUCE_DONE && r.rounds.n && !text_fails(run, nruns, r.text, r.length, a)) {
        *text = r.text;
        *length = r.length;
        r.text = NULL;
    }
    for (size_t i = 0; i < r.kept.n; i++)
        vec_push(&stay->name, arena_strdup(a, r.kept.at[i].name));
    free(why);
    if (r.arena)
        reduction_free(&r);
    compile_free(&c);
}

bool
row_of(const recording *run, void (*failed)(void *ctx, const sources *s), void *ctx, table_row *out)
{
    compile_options co = { .experiment = run->experiment, .set = run->set, .nset = run->nset };
    compilation c = { 0 };
    sim_options so = { 0 };
    sim_result result = { 0 };
    bool fine = compile_text(&c, run->path, run->text, run->length, STAGE_MODEL, &co) &&
                sim_options_from_experiment(c.model, &so);

    if (fine) {
        if (run->adjust)
            run->adjust(run->ctx, c.model, &so);
        fine = simulate(c.model, &so, &result);
    }
    if (fine) {
        out->elements = c.flat->element.n;
        out->states = model_nstates(c.model);
        out->dependent = c.causal->dependent.n;
        out->loops = equations_nloops(c.equations);
        out->steps = result.steps;
        out->seconds = result.cpu_seconds;
    } else {
        failed(ctx, c.sources);
    }
    sim_options_free(&so);
    sim_result_free(&result);
    compile_free(&c);
    return fine;
}
