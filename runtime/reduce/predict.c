/* predict.c - what trajectories say about candidates before anything is taken out */
#include <math.h>
#include <string.h>

#include "predict.h"

enum { RECORD_POINTS = 503 };       /* no round number: see REDUCE_POINTS */

/* Runs with further recorded expressions. *value: [points][n], malloc'ed; *length: of the run, s. False: the text or the run does not take them. */
static bool
record(const recording *r, const char *const *expression, size_t n, double **value, size_t *points, double *length)
{
    compilation parsed = { 0 }, c = { 0 };
    compile_options co = { .experiment = r->experiment, .set = r->set, .nset = r->nset };
    sim_options so = { 0 };
    sim_result run = { 0 };
    strbuf text = { 0 };
    size_t at = 0;
    bool fine = false;

    *value = NULL;
    if (n && compile_text(&parsed, r->path, r->text, r->length, STAGE_PARSE, NULL))
        for (size_t i = 0; i < parsed.ast->ndecls; i++)
            if (parsed.ast->decl[i].kind == AST_DECL_EXPERIMENT && !strcmp(parsed.ast->decl[i].experiment->name, r->experiment))
                at = parsed.ast->decl[i].experiment->at.end - 1;     /* its closing brace */
    if (at) {
        strbuf_add(&text, r->text, at);
        strbuf_puts(&text, "\nrecord ");
        for (size_t i = 0; i < n; i++)
            strbuf_printf(&text, "%s1*(%s)", i ? ",\n" : "", expression[i]);
        strbuf_puts(&text, ";\n");
        strbuf_add(&text, r->text + at, r->length - at);
        fine = compile_text(&c, r->path, text.at, text.n, STAGE_MODEL, &co) && sim_options_from_experiment(c.model, &so);
    }
    if (fine) {
        size_t all = model_noutputs(c.model);

        so.points = RECORD_POINTS;
        so.outputs = so.finite_outputs = true;
        if (r->adjust)
            r->adjust(r->ctx, c.model, &so);
        fine = simulate(c.model, &so, &run) && all >= n;
        if (fine) {
            *points = run.points;
            *length = so.stop - so.start;
            *value = bg_calloc(run.points * n + 1, sizeof **value);
            for (size_t i = 0; i < run.points; i++)
                memcpy(*value + i * n, run.output + i * all + (all - n), n * sizeof **value);
        }
        sim_options_free(&so);
    }
    sim_result_free(&run);
    strbuf_free(&text);
    compile_free(&c);
    compile_free(&parsed);
    return fine;
}

/* ---------------------------------------------------------------- factors */

/* The two greatest of what is summed or met at a junction, and whose the greatest is. */
struct top { double first, second; uint32_t whose; };

static void
meet(struct top *t, uint32_t whose, double x)
{
    if (x > t->first || (x == t->first && t->whose == UINT32_MAX)) {
        t->second = t->first;
        t->first = x;
        t->whose = whose;
    } else if (x > t->second) {
        t->second = x;
    }
}

/* The two smallest of what an effort or flow meets beyond a junction, and where the smallest is. */
struct least { double first, second; uint32_t where; };

static void
stand(struct least *l, uint32_t where, double x)
{
    if (x < l->first || l->where == UINT32_MAX) {
        l->second = l->first;
        l->first = x;
        l->where = where;
    } else if (x < l->second) {
        l->second = x;
    }
}

/* The neighbour of the other kind that incidence i of junction k bonds it to; UINT32_MAX: none. */
static uint32_t
neighbour(const flat_model *f, uint32_t k, uint32_t i)
{
    const flat_incidence *x = &f->incidence.at[i];
    const flat_bond *b = x->is_bond ? &f->bond.at[x->index] : NULL;
    uint32_t far = !b ? UINT32_MAX : b->from == k ? b->to : b->from;

    return b && f->junction.at[far].type != f->junction.at[k].type ? far : UINT32_MAX;
}

static double beside(const struct top *t, uint32_t whose) { return t->whose == whose ? t->second : t->first; }
static double share(double x, double of) { return of > 0 ? x / of : x > 0 ? INFINITY : 0; }

/* Mean squares over all experiments of each port's effort and flow, and each element's activity. */
static bool
gather(const flat_model *f, const recording *r, size_t n, double *e, double *flow, double *absolute)
{
    VEC(char *) text = { 0 };
    bool fine = true;

    for (uint32_t p = 0; p < f->port.n; p++) {
        vec_push(&text, bg_format("%s.e", port_name(f, p)));
        vec_push(&text, bg_format("%s.f", port_name(f, p)));
    }
    for (size_t x = 0; x < n && fine; x++) {
        double *value, length;
        size_t points;

        fine = record(&r[x], (const char *const *)text.at, text.n, &value, &points, &length);
        for (size_t i = 0; fine && i < points; i++) {
            double weight = length / (double)points;

            for (uint32_t p = 0; p < f->port.n; p++) {
                double a = value[i * text.n + 2 * p], b = value[i * text.n + 2 * p + 1];

                e[p] += weight * a * a;
                flow[p] += weight * b * b;
                absolute[f->port.at[p].element] += weight * fabs(a * b);
            }
        }
        free(value);
    }
    for (size_t i = 0; i < text.n; i++)
        free(text.at[i]);
    vec_free(&text);
    return fine;
}

/* What is summed at each junction, by incidence, and by neighbour of the other kind (numbered behind the incidences). */
static void
find_sums(const flat_model *f, const double *e, const double *flow, const double *common, struct top *sum)
{
    for (uint32_t k = 0; k < f->junction.n; k++) {
        const flat_junction *j = &f->junction.at[k];

        sum[k].whose = UINT32_MAX;
        for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
            const flat_incidence *x = &f->incidence.at[i];
            uint32_t far = neighbour(f, k, i);

            if (!x->is_bond)
                meet(&sum[k], i, j->type == 1 ? e[x->index] : flow[x->index]);
            else if (far != UINT32_MAX)
                meet(&sum[k], far + (uint32_t)f->incidence.n, common[far]);
        }
    }
}

/* Is the junction's shared variable given, whatever is summed there? */
static bool
is_given(const flat_model *f, const flat_junction *j)
{
    for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
        const flat_incidence *x = &f->incidence.at[i];

        if (!x->is_bond && f->element.at[f->port.at[x->index].element].type == (j->type == 1 ? EL_SF : EL_SE))
            return true;
    }
    return false;
}

/* A junction's shared variable is summed at its neighbours of the other kind: the least that it stands beside there. */
static void
find_least(const flat_model *f, const struct top *sum, struct least *least)
{
    for (uint32_t k = 0; k < f->junction.n; k++) {
        const flat_junction *j = &f->junction.at[k];

        least[k] = (struct least){ INFINITY, INFINITY, UINT32_MAX };
        for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
            uint32_t far = neighbour(f, k, i);

            if (far != UINT32_MAX && !is_given(f, &f->junction.at[far]))
                stand(&least[k], far, beside(&sum[far], k + (uint32_t)f->incidence.n));
        }
    }
}

bool
predict_factors(const flat_model *f, const recording *r, size_t n, factor *out)
{
    double *e = bg_calloc(f->port.n + 1, sizeof *e), *flow = bg_calloc(f->port.n + 1, sizeof *flow);
    double *absolute = bg_calloc(f->element.n + 1, sizeof *absolute), *common = bg_calloc(f->junction.n + 1, sizeof *common);
    struct top *sum = bg_calloc(f->junction.n + 1, sizeof *sum);
    struct least *least = bg_calloc(f->junction.n + 1, sizeof *least);
    bool fine = gather(f, r, n, e, flow, absolute);

    for (uint32_t i = 0; i < f->element.n; i++)
        out[i] = (factor){ absolute[i], INFINITY, INFINITY };
    for (uint32_t p = 0; p < f->port.n && fine; p++) {
        const flat_junction *j = &f->junction.at[f->port.at[p].junction];

        e[p] = sqrt(e[p]);
        flow[p] = sqrt(flow[p]);
        common[f->port.at[p].junction] = j->type == 1 ? flow[p] : e[p];
    }
    if (fine) {
        find_sums(f, e, flow, common, sum);
        find_least(f, sum, least);
    }
    for (uint32_t k = 0; k < f->junction.n && fine; k++) {
        const flat_junction *j = &f->junction.at[k];
        double most = -1, beyond = INFINITY;

        for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
            uint32_t far = neighbour(f, k, i);

            if (far == UINT32_MAX)
                continue;
            most = fmax(most, beside(&sum[far], k + (uint32_t)f->incidence.n));
            beyond = fmin(beyond, least[far].where == k ? least[far].second : least[far].first);
        }
        for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
            const flat_incidence *x = &f->incidence.at[i];
            factor *o = x->is_bond ? NULL : &out[f->port.at[x->index].element];
            double own;

            if (!o)
                continue;
            own = j->type == 1 ? e[x->index] : flow[x->index];
            if (j->ninc > 1)
                o->own = share(own, beside(&sum[k], i));
            /* through a neighbour it acts on junctions of this kind again: where it counts for nothing there, it does not matter here */
            if (isfinite(beyond))
                o->own = fmin(o->own, share(own, beyond));
            if (most >= 0)
                o->common = share(common[k], most);
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
