/* inactive.c - see inactive.h */
#include "inactive.h"

#include <math.h>
#include <string.h>

#include "metrics.h"
#include "reduce.h"
#include "writeout.h"

/* One element over all ranked times: in how many of them it can go, its greatest share, and its greatest share among
 * the elements that are no sources, which decides. */
struct verdict {
    uint32_t element, goes;
    double share, ranked;
};

/* The times of a run that are ranked: its windows, or all of it, and the regimes within it. */
struct times {
    VEC(double) from, to;
};

static bool
run_has_regime(const regime *r, const sim_options *o)
{
    return r->from >= o->start && r->to <= o->stop;
}

static void
gather_times(const sim_options *o, const inactive_options *io, struct times *out)
{
    for (size_t w = 0; w < o->nwindows; w++) {
        vec_push(&out->from, o->window_from[w]);
        vec_push(&out->to, o->window_to[w]);
    }
    if (!o->nwindows) {
        vec_push(&out->from, o->start);
        vec_push(&out->to, o->stop);
    }
    for (size_t k = 0; k < io->n; k++)
        if (run_has_regime(&io->regime[k], o)) {
            vec_push(&out->from, io->regime[k].from);
            vec_push(&out->to, io->regime[k].to);
        }
}

/* *n: number of times that were ranked. */
static bool
rank_times(compilation *c, const sim_options *o, const inactive_options *io, struct verdict *of, uint32_t *n)
{
    struct times t = { 0 };
    measure_options mo = { .metrics = METRIC(METRIC_ACTIVITY) };
    bool fine = true;

    gather_times(o, io, &t);
    for (size_t w = 0; w < t.from.n && fine; w++) {
        sim_options one = *o;
        sim_result run = { 0 };
        ranking k = { 0 };
        bg_model *m = model_another(c->model); /* its own: a run starts from the end of the instance's last one */
        measure *q;
        double total = 0;

        one.nwindows = 1;
        one.window_from = &t.from.at[w];
        one.window_to = &t.to.at[w];
        q = measure_new(m, &mo, &one);
        fine = q && simulate(m, &one, &run) && measure_ranking(q, &run, METRIC_ACTIVITY, &k);
        if (fine && run.t_end <= t.from.at[w]) { /* `stop when` ended the run before this window */
            *n -= 1;
            k.row.n = 0;
        } else if (fine) {
            ranking_decide(&k, io->share);
        }
        for (size_t i = 0; i < k.row.n; i++)
            total += k.row.at[i].source ? 0 : k.row.at[i].value;
        for (size_t i = 0; i < k.row.n; i++) {
            struct verdict *v = &of[k.row.at[i].element];

            v->goes += k.row.at[i].decision == DECISION_GOES;
            v->share = k.row.at[i].index > v->share ? k.row.at[i].index : v->share;
            v->ranked = total > 0 ? fmax(v->ranked, k.row.at[i].value / total) : v->ranked;
        }
        ranking_free(&k);
        measure_free(q);
        sim_result_free(&run);
        model_free(m);
    }
    *n += (uint32_t)t.from.n;
    vec_free(&t.from);
    vec_free(&t.to);
    return fine;
}

static int
by_element_share(const void *pa, const void *pb)
{
    const struct verdict *a = pa, *b = pb;

    if (a->share != b->share)
        return a->share < b->share ? -1 : 1;
    return a->element < b->element ? -1 : a->element > b->element;
}

static void
list_goers(const flat_model *f, struct verdict *of, uint32_t windows, arena *a, name_list *out, share_list *all)
{
    element_share *share = arena_new_array(a, element_share, f->element.n + 1);

    for (uint32_t i = 0; i < f->element.n; i++) {
        of[i].element = i;
        share[i] = (element_share){ arena_strdup(a, f->element.at[i].name), of[i].ranked };
    }
    all->at = share;
    all->n = f->element.n;
    if (f->element.n)
        qsort(of, f->element.n, sizeof *of, by_element_share);
    for (size_t i = 0; i < f->element.n; i++)
        if (of[i].goes == windows)
            vec_push(&out->name, arena_strdup(a, f->element.at[of[i].element].name));
}

bool
inactive_find(const recording *run, size_t nruns, const inactive_options *o, arena *a, name_list *out, share_list *all,
              const regime **beyond)
{
    struct verdict *of = NULL;
    bool *seen = bg_calloc(o->n + 1, sizeof *seen);
    uint32_t windows = 0;
    bool fine = true;

    *beyond = NULL;
    for (size_t r = 0; r < nruns && fine; r++) {
        compile_options co = recording_options(&run[r]);
        compilation c = { 0 };
        sim_options so = { 0 };

        fine = compile_text(&c, run[r].path, run[r].text, run[r].length, STAGE_MODEL, &co) &&
               sim_options_from_experiment(c.model, &so);
        if (fine) {
            if (!of)
                of = bg_calloc(c.flat->element.n + 1, sizeof *of);
            if (run[r].adjust)
                run[r].adjust(run[r].ctx, c.model, &so);
            for (size_t k = 0; k < o->n; k++)
                seen[k] |= run_has_regime(&o->regime[k], &so);
            fine = rank_times(&c, &so, o, of, &windows);
        }
        if (!fine)
            o->failed(o->ctx, c.sources);
        else if (r + 1 == nruns)
            list_goers(c.flat, of, windows, a, out, all);
        sim_options_free(&so);
        compile_free(&c);
    }
    for (size_t k = o->n; fine && k-- > 0;)
        if (!seen[k])
            *beyond = &o->regime[k];
    free(seen);
    free(of);
    return fine && !*beyond;
}

static uint64_t
name_hash(const char *name)
{
    return bg_hash_bytes(name, strlen(name), 0);
}

double
share_in(const share_list *list, const char *name, arena *a)
{
    const char *plain = written_name(a, name);

    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(written_name(a, list->at[i].name), plain))
            return list->at[i].share;
    return NAN;
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
    compile_options co = recording_options(run);
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
    compile_options co = recording_options(run);
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
