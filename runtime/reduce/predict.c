/* predict.c - see predict.h */
#include <math.h>
#include <string.h>

#include <stdatomic.h>

#include "predict.h"
#include "compiled.h"
#include "crew.h"
#include "side_by_side.h"

/* ---------------------------------------------------------------- factors */

/* The two greatest terms summed at a junction, and the owner of the greatest. */
struct top {
    double first, second;
    uint32_t whose;
};

static void
meet(struct top *t, uint32_t whose, double x)
{
    if (x > t->first || (x == t->first && t->whose == NONE)) {
        t->second = t->first;
        t->first = x;
        t->whose = whose;
    } else if (x > t->second) {
        t->second = x;
    }
}

/* The two smallest sums in which an effort or flow takes part beyond a junction, and where the smallest is. */
struct least {
    double first, second;
    uint32_t where;
};

static void
note_least(struct least *l, uint32_t where, double x)
{
    if (x < l->first || l->where == NONE) {
        l->second = l->first;
        l->first = x;
        l->where = where;
    } else if (x < l->second) {
        l->second = x;
    }
}

/* The neighbouring junction of the other kind at incidence i of junction k; NONE: none. */
static uint32_t
neighbour(const flat_model *f, uint32_t k, uint32_t i)
{
    const flat_incidence *x = &f->incidence.at[i];
    const flat_bond *b = x->is_bond ? &f->bond.at[x->index] : NULL;
    uint32_t far = !b ? NONE : b->from == k ? b->to : b->from;

    return b && f->junction.at[far].type != f->junction.at[k].type ? far : NONE;
}

static double
beside(const struct top *t, uint32_t whose)
{
    return t->whose == whose ? t->second : t->first;
}
static double
share_of(double x, double of)
{
    return of > 0 ? x / of : x > 0 ? INFINITY : 0;
}

static int
port_channels(void *ctx, double t, const double *x, const double *power, double *value)
{
    (void)power;
    return model_port_values(ctx, t, x, value);
}

/* The runs of several experiments: numbers_of_run of each in `all`. */
struct factors_run {
    size_t n, each;
    bg_model *const *given;
    bg_model **model; /* those that run: instances beside the given ones where threads do it */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
    double *all;
    bool *fine;
    atomic_size_t begun;
    crew *beside; /* NULL: none */
};

static size_t
numbers_of_run(const flat_model *f)
{
    return 2 * f->port.n + f->element.n;
}

static bool
is_dropped(void *of)
{
    return crew_is_stopped(of);
}

/* The integrals over a run of the squares of each port's effort and flow, then of each element's |P|. */
static bool
record_one(const factors_run *x, size_t i)
{
    bg_model *m = x->model[i];
    const flat_model *f = model_flat(m);
    activity_extra extra = { 2 * f->port.n, port_channels, m, NULL };
    sim_options so = { 0 };
    sim_result r = { 0 };
    double *out = x->all + i * x->each;
    bool fine = sim_options_from_experiment(m, &so);

    if (fine) {
        if (x->adjust)
            x->adjust(x->ctx, m, &so);
        so.activity = true;
        so.extra = &extra;
        if (!so.told_to_stop)
            so.told_to_stop = side_by_side_useless;
        fine = simulate(m, &so, &r);
    }
    if (fine) {
        memcpy(out, r.square + f->element.n, 2 * f->port.n * sizeof *out);
        memcpy(out + 2 * f->port.n, r.activity, f->element.n * sizeof *out);
    }
    sim_result_free(&r);
    sim_options_free(&so);
    return fine;
}

/* Records what no other thread has begun with. */
static void
record_open(factors_run *r)
{
    size_t i;

    while ((i = atomic_fetch_add(&r->begun, 1)) < r->n)
        r->fine[i] = record_one(r, i);
}

static void
record_beside(void *ctx, crew *c, size_t which)
{
    (void)which;
    side_by_side_watch(is_dropped, c);
    record_open(ctx);
}

factors_run *
factors_begin(bg_model *const *m, size_t n, size_t workers, void (*adjust)(void *ctx, bg_model *m, sim_options *o),
              void *ctx)
{
    factors_run *r = bg_calloc(1, sizeof *r);

    *r = (factors_run){ .n = n, .each = numbers_of_run(model_flat(m[0])), .given = m, .adjust = adjust, .ctx = ctx };
    r->all = bg_calloc(n * r->each + 1, sizeof *r->all);
    r->fine = bg_calloc(n + 1, sizeof *r->fine);
    r->model = bg_calloc(n + 1, sizeof(bg_model *));
    if (workers == 0)
        workers = side_by_side_workers();
    for (size_t i = 0; i < n; i++)
        r->model[i] = workers > 1 ? model_another(m[i]) : m[i];
    if (workers > 1)
        r->beside = crew_begin(n < workers ? n : workers, record_beside, r);
    return r;
}

void
factors_await(factors_run *r)
{
    if (r && r->beside)
        crew_finish(r->beside);
    if (r)
        r->beside = NULL;
}

static void
free_run(factors_run *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->model[i] != r->given[i])
            model_free(r->model[i]);
    free(r->model);
    free(r->fine);
    free(r->all);
    free(r);
}

/* Sums over all runs: squares of e and flow of each port, |P| of each element. */
static bool
add_runs(const flat_model *f, const factors_run *r, double *e, double *flow, double *absolute)
{
    bool fine = true;

    for (size_t i = 0; i < r->n; i++) {
        const double *of = r->all + i * r->each;

        for (uint32_t p = 0; p < f->port.n; p++) {
            e[p] += of[2 * p];
            flow[p] += of[2 * p + 1];
        }
        for (uint32_t k = 0; k < f->element.n; k++)
            absolute[k] += of[2 * f->port.n + k];
        fine = fine && r->fine[i];
    }
    return fine;
}

/* The terms summed at each junction, by incidence, and by neighbour of the other kind (numbered after the
 * incidences). */
static void
find_junction_sums(const flat_model *f, const double *e, const double *flow, const double *common, struct top *sum)
{
    for (uint32_t k = 0; k < f->junction.n; k++) {
        const flat_junction *j = &f->junction.at[k];

        sum[k].whose = NONE;
        for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
            const flat_incidence *x = &f->incidence.at[i];
            uint32_t far = neighbour(f, k, i);

            if (!x->is_bond)
                meet(&sum[k], i, j->type == 1 ? e[x->index] : flow[x->index]);
            else if (far != NONE)
                meet(&sum[k], far + (uint32_t)f->incidence.n, common[far]);
        }
    }
}

/* Is the junction's common variable imposed, whatever the sum? */
static bool
common_is_imposed(const flat_model *f, const flat_junction *j)
{
    for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
        const flat_incidence *x = &f->incidence.at[i];

        if (!x->is_bond && f->element.at[f->port.at[x->index].element].type == (j->type == 1 ? EL_SF : EL_SE))
            return true;
    }
    return false;
}

/* The common variable of a junction is a term at its neighbours of the other kind: the smallest sum among those. */
static void
find_least(const flat_model *f, const struct top *sum, struct least *least)
{
    for (uint32_t k = 0; k < f->junction.n; k++) {
        const flat_junction *j = &f->junction.at[k];

        least[k] = (struct least){ INFINITY, INFINITY, NONE };
        for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
            uint32_t far = neighbour(f, k, i);

            if (far != NONE && !common_is_imposed(f, &f->junction.at[far]))
                note_least(&least[k], far, beside(&sum[far], k + (uint32_t)f->incidence.n));
        }
    }
}

/* The factors that follow from the sums of the runs. */
static bool
factors_from_sums(const flat_model *f, const factors_run *r, factor *out)
{
    double *e = bg_calloc(f->port.n + 1, sizeof *e), *flow = bg_calloc(f->port.n + 1, sizeof *flow);
    double *absolute = bg_calloc(f->element.n + 1, sizeof *absolute),
           *common = bg_calloc(f->junction.n + 1, sizeof *common);
    struct top *sum = bg_calloc(f->junction.n + 1, sizeof *sum);
    struct least *least = bg_calloc(f->junction.n + 1, sizeof *least);
    bool fine = add_runs(f, r, e, flow, absolute);

    for (uint32_t i = 0; i < f->element.n; i++)
        out[i] = (factor){ absolute[i], f->element.at[i].nports > 1 ? 0 : INFINITY,
                           f->element.at[i].nports > 1 ? 0 : INFINITY };
    for (uint32_t p = 0; p < f->port.n && fine; p++) {
        const flat_junction *j = &f->junction.at[f->port.at[p].junction];

        e[p] = sqrt(e[p]);
        flow[p] = sqrt(flow[p]);
        common[f->port.at[p].junction] = j->type == 1 ? flow[p] : e[p];
    }
    if (fine) {
        find_junction_sums(f, e, flow, common, sum);
        find_least(f, sum, least);
    }
    for (uint32_t k = 0; k < f->junction.n && fine; k++) {
        const flat_junction *j = &f->junction.at[k];
        double most = -1, beyond = INFINITY;

        for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
            uint32_t far = neighbour(f, k, i);

            if (far == NONE)
                continue;
            most = fmax(most, beside(&sum[far], k + (uint32_t)f->incidence.n));
            beyond = fmin(beyond, least[far].where == k ? least[far].second : least[far].first);
        }
        for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
            const flat_incidence *x = &f->incidence.at[i];
            factor *o = x->is_bond ? NULL : &out[f->port.at[x->index].element], at = { 0, INFINITY, INFINITY };
            double own;

            if (!o)
                continue;
            own = j->type == 1 ? e[x->index] : flow[x->index];
            if (j->ninc > 1)
                at.own = share_of(own, beside(&sum[k], i));
            /* through a neighbour it acts on junctions of this kind: if it is negligible there, it does not matter
             * here */
            if (isfinite(beyond))
                at.own = fmin(at.own, share_of(own, beyond));
            if (most >= 0)
                at.common = share_of(common[k], most);
            /* for an element with several ports the port where it matters most counts */
            o->own = f->element.at[f->port.at[x->index].element].nports > 1 ? fmax(o->own, at.own) : at.own;
            o->common = f->element.at[f->port.at[x->index].element].nports > 1 ? fmax(o->common, at.common) : at.common;
        }
    }
    free(e);
    free(flow);
    free(absolute);
    free(common);
    free(sum);
    free(least);
    return fine;
}

void
factors_drop(factors_run *r)
{
    if (!r)
        return;
    if (r->beside)
        crew_end(r->beside);
    free_run(r);
}

bool
factors_end(factors_run *r, factor *out)
{
    bool fine;

    record_open(r);
    factors_await(r);
    fine = factors_from_sums(model_flat(r->given[0]), r, out);
    free_run(r);
    return fine;
}

bool
predict_factors(bg_model *const *m, size_t n, size_t workers, void (*adjust)(void *ctx, bg_model *m, sim_options *o),
                void *ctx, factor *out)
{
    return factors_end(factors_begin(m, n, workers, adjust, ctx), out);
}
