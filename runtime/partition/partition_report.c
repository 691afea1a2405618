/* partition_report.c - a partitioning as tables and sentences: see partition_report.h */
#include "partition_report.h"

#include <math.h>
#include <string.h>

#include "metrics.h"
#include "report.h"

static void
put_ratio(table *t, double x)
{
    if (isnan(x))
        table_put(t, "-");
    else
        table_put(t, "%.3g %%", 100 * x);
}

/* What happens to a link, in the words of the model. */
static void
put_fate(const partition_report *r, const link *x, table *t)
{
    const flat_model *f = r->f;
    uint32_t from = x->end[x->fate == LINK_TO_TAIL], to = x->end[x->fate == LINK_TO_HEAD];

    if (x->fate == LINK_GOES)
        table_put(t, "goes");
    else if (x->fate == LINK_STAYS)
        table_put(t, "stays: %s", x->refused);
    else
        table_put(t, "acts on %s only, by %s.%c%s", junction_label(f, to, NONE), junction_label(f, from, NONE),
                  f->junction.at[from].type ? 'f' : 'e', x->left ? " (stays a bond within its partition)" : "");
}

static void
print_links(const partition_report *r, bool all, FILE *out)
{
    table t = { .columns = 5, .left = 1, .tail = true };

    if (!all && r->plan->conditioned + r->plan->refused == 0)
        return;
    table_put(&t, "bond");
    table_put(&t, "activity [J]");
    table_put(&t, "ratio from");
    table_put(&t, "ratio to");
    table_put(&t, "at %.6g %%", 100 * r->plan->limit);
    for (size_t i = 0; i < r->plan->link.n; i++) {
        const link *x = &r->plan->link.at[i];
        bool plain = x->fate == LINK_STAYS && !x->refused;
        const char *from = junction_label(r->f, x->end[0], x->port[0]),
                   *to = junction_label(r->f, x->end[1], x->port[1]);

        if (plain && !all)
            continue;
        if (x->element != LINK_NONE)
            table_put(&t, "%s -> %s -> %s", from, x->name, to);
        else if (strstr(x->name, "->"))
            table_put(&t, "%s", x->name);
        else
            table_put(&t, "%s (%s -> %s)", x->name, from, to);
        table_put(&t, "%.6g", x->activity);
        put_ratio(&t, x->ratio[0]);
        put_ratio(&t, x->ratio[1]);
        if (plain)
            table_put(&t, "%s", "");
        else
            put_fate(r, x, &t);
    }
    table_print(&t, out, "  ");
}

/* Names separated by commas, wrapped at about this many columns; each line begins with blanks. */
enum { LINE_WIDTH = 140 };
struct line {
    FILE *out;
    size_t at, indent;
    bool some;
};

static void
print_name(struct line *l, const char *name)
{
    size_t n = strlen(name);

    if (l->some)
        fputs(",", l->out);
    if (l->some && l->at + n + 3 > LINE_WIDTH) {
        fprintf(l->out, "\n%*s", (int)l->indent, "");
        l->at = l->indent;
    } else if (l->some) {
        fputs(" ", l->out);
    }
    fputs(name, l->out);
    l->at += n + 2;
    l->some = true;
}

static void
put_subgraphs(const partition_report *r, FILE *out)
{
    const subgraphs *s = r->subgraphs;

    for (size_t i = 0; i < s->subgraph.n; i++) {
        const subgraph *x = &s->subgraph.at[i];
        struct line l = { .out = out, .indent = 4, .at = 4 };

        fprintf(out, "  %s", x->name);
        for (size_t k = 0; k < x->drives.n; k++)
            fprintf(out, "%s%s", k == 0 ? ", drives " : ", ", s->subgraph.at[x->drives.at[k]].name);
        fputs("\n    ", out);
        for (size_t k = 0; k < x->element.n; k++)
            print_name(&l, r->f->element.at[x->element.at[k]].name);
        if (x->element.n == 0)
            for (size_t k = 0; k < x->junction.n; k++)
                print_name(&l, junction_label(r->f, x->junction.at[k], NONE));
        fputs("\n", out);
    }
}

/* "theta: S4 to S1 (grav_x, rear.rt_xx)" */
static void
put_loops(const partition_report *r, FILE *out)
{
    const subgraphs *s = r->subgraphs;

    for (size_t i = 0; i < s->loop.n; i++) {
        const signal_loop *x = &s->loop.at[i];
        bool *done = bg_calloc(x->crossing.n + 1, sizeof *done);

        fputs("signals lead in a circle through", out);
        for (size_t k = 0; k < x->subgraph.n; k++)
            fprintf(out, "%s %s",
                    k == 0                   ? ""
                    : k + 1 == x->subgraph.n ? " and"
                                             : ",",
                    s->subgraph.at[x->subgraph.at[k]].name);
        fputs("; they stay one partition while one of these signals exists\n", out);
        for (size_t k = 0; k < x->crossing.n; k++) {
            const crossing *c = &s->crossing.at[x->crossing.at[k]];
            struct line l = { .out = out, .indent = 6 };

            if (done[k])
                continue;
            l.at = (size_t)fprintf(out, "  %s: %s to %s (", c->name, s->subgraph.at[c->from].name,
                                   s->subgraph.at[c->to].name);
            for (size_t m = k; m < x->crossing.n; m++) {
                const crossing *other = &s->crossing.at[x->crossing.at[m]];

                if (other->var != c->var || other->to != c->to)
                    continue;
                done[m] = true;
                print_name(&l, other->reader);
            }
            fputs(")\n", out);
        }
        free(done);
    }
}

static double
link_ratio(const link *x, const local_study *s, int end)
{
    return x->bond != LINK_NONE ? (end ? s->bond_to : s->bond_from)[x->bond] : s->port[x->port[end]];
}

static bool
is_boundary(const partition_report *r, const link *x, int end)
{
    bool below = false;

    for (size_t s = 0; s < r->local->study.n; s++)
        below |= link_ratio(x, &r->local->study.at[s], end) < r->plan->limit;
    return below && !x->strong[end];
}

/* For several windows or experiments: the ratio at each end that is inactive in one of them, for all of them. */
static void
put_boundaries(const partition_report *r, FILE *out)
{
    size_t n = r->local->study.n;
    table t = { .columns = (int)n + 2, .left = 2 };
    bool any = false;

    for (size_t i = 0; i < r->plan->link.n; i++)
        any |= is_boundary(r, &r->plan->link.at[i], 0) || is_boundary(r, &r->plan->link.at[i], 1);
    if (n < 2 || !any)
        return;
    table_put(&t, "inactive somewhere");
    table_put(&t, "at");
    for (size_t s = 0; s < n; s++)
        table_put(&t, "%s", r->local->study.at[s].experiment);
    table_put(&t, "%s", "");
    table_put(&t, "%s", "");
    for (size_t s = 0; s < n; s++)
        table_put(&t, "%.4g..%.4g s", r->local->study.at[s].from, r->local->study.at[s].to);
    for (size_t i = 0; i < r->plan->link.n; i++) {
        const link *x = &r->plan->link.at[i];

        for (int k = 0; k < 2; k++) {
            if (!is_boundary(r, x, k))
                continue;
            table_put(&t, "%s", x->name);
            table_put(&t, "%s", junction_label(r->f, x->end[k], NONE));
            for (size_t s = 0; s < n; s++)
                put_ratio(&t, link_ratio(x, &r->local->study.at[s], k));
        }
    }
    table_print(&t, out, "  ");
}

static void
put_frozen(const partition_report *r, FILE *out)
{
    for (size_t i = 0; i < r->frozen->n; i++)
        fprintf(out, "frozen: %s is %.6g in %s\n", r->frozen->at[i].name, r->frozen->at[i].value,
                r->frozen->at[i].reader);
}

/* Where runs ended that have a `stop when`. */
static void
put_ends(const run_errors *list, const char *of, FILE *out)
{
    const char *said = NULL;

    for (size_t i = 0; i < list->n; i++) {
        const run_error *e = &list->at[i];

        if (!e->stopped || (said && !strcmp(said, e->experiment)))
            continue;
        said = e->experiment;
        fprintf(out, "  %s in %s ends at %.6g s, the given model at %.6g s; the common span is compared\n", of, said,
                e->end[1], e->end[0]);
    }
}

/* Errors of outputs, and of the state with the greatest error (of all states if verbose). */
static void
put_errors(const partition_report *r, bool verbose, FILE *out)
{
    table t = { .columns = 5, .left = 2 };
    const run_error *worst = NULL;

    if (!r->conditioned)
        return;
    fputs("errors of the conditioned model against the given one; a small ratio does not bound them\n", out);
    table_put(&t, "experiment");
    table_put(&t, "output or state");
    table_put(&t, "maximum error");
    table_put(&t, "rms error");
    table_put(&t, "of its rms");
    for (size_t i = 0; i < r->error->n; i++) {
        const run_error *e = &r->error->at[i];

        if (e->state && e->size > 0 && (!worst || e->rms / e->size > worst->rms / worst->size))
            worst = e;
    }
    for (size_t i = 0; i < r->error->n; i++) {
        const run_error *e = &r->error->at[i];

        if (e->state && !verbose && e != worst)
            continue;
        table_put(&t, "%s", e->experiment);
        table_put(&t, e->unit ? "%s [%s]%s" : "%s%.0s%s", e->name, e->unit ? e->unit : "",
                  e == worst ? " (worst state)" : "");
        table_put(&t, "%.4g", e->max / e->shown);
        table_put(&t, "%.4g", e->rms / e->shown);
        if (e->size > 0)
            table_put(&t, "%.3g %%", 100 * e->rms / e->size);
        else
            table_put(&t, "-");
    }
    table_print(&t, out, "  ");
    put_ends(r->error, "conditioned", out);
}

/* How a part was driven, and the error that this causes. */
static void
put_feeding(const partition_report *r, const char *name, table *t)
{
    const folder_run *run = NULL;
    const part *x = NULL;

    for (size_t k = 0; k < r->runs->n && !run; k++)
        run = !strcmp(r->runs->at[k].name, name) ? &r->runs->at[k] : NULL;
    for (size_t k = 0; k < r->parts->part.n && !x; k++)
        x = !strcmp(r->parts->part.at[k].name, name) ? &r->parts->part.at[k] : NULL;
    if (run && x && !isnan(run->sampling) && x->reads.n && !isnan(x->replay))
        table_put(t, "splines through %zu points, within %.1e of their range; its outputs, driven, within %.2g %%",
                  run->points, run->sampling, 100 * x->replay);
    else if (run && !isnan(run->sampling))
        table_put(t, "splines through %zu points, within %.1e of their range", run->points, run->sampling);
    else
        table_put(t, "%s", "");
}

static void
put_models(const partition_report *r, FILE *out)
{
    table t = { .columns = 8, .left = 1, .tail = true };

    if (r->table->n == 0)
        return;
    table_put(&t, "model");
    table_put(&t, "elements");
    table_put(&t, "states");
    table_put(&t, "dependent");
    table_put(&t, "loops");
    table_put(&t, "steps");
    table_put(&t, "time [s]");
    table_put(&t, "recorded signals");
    for (size_t i = 0; i < r->table->n; i++) {
        const table_row *x = &r->table->at[i];

        table_put(&t, "%s", x->name);
        table_put(&t, "%zu", x->elements);
        table_put(&t, "%zu", x->states);
        table_put(&t, "%zu", x->dependent);
        table_put(&t, "%zu", x->loops);
        table_put(&t, "%llu", (unsigned long long)x->steps);
        table_put(&t, "%.3g", x->seconds);
        put_feeding(r, x->name, &t);
    }
    table_print(&t, out, "  ");
    for (size_t i = 0; i < r->parts->part.n; i++)
        if (!r->parts->part.at[i].wanted)
            fprintf(out, "left out: %s, which no requested output needs\n", r->parts->part.at[i].name);
}

static void
put_name_lines(FILE *out, const char *head, const name_list *list)
{
    struct line l = { .out = out, .indent = 4 };

    l.at = (size_t)fprintf(out, "  %s: ", head);
    for (size_t k = 0; k < list->name.n; k++)
        print_name(&l, list->name.at[k]);
    fputs(list->name.n ? "\n" : "none\n", out);
}

static void
put_reduced(const run_errors *e, const char *of, table *t)
{
    for (size_t i = 0; i < e->n; i++) {
        const run_error *x = &e->at[i];

        if (x->state)
            continue;
        table_put(t, "%s", of);
        table_put(t, "%s", x->experiment);
        table_put(t, x->unit ? "%s [%s]" : "%s%.0s", x->name, x->unit ? x->unit : "");
        table_put(t, "%.4g", x->max / x->shown);
        table_put(t, "%.4g", x->rms / x->shown);
        if (x->size > 0)
            table_put(t, "%.3g %%", 100 * x->rms / x->size);
        else
            table_put(t, "-");
    }
}

/* Why elements that are inactive in the model as given stay in the partitions. */
static void
print_kept(const kept_parts *list, FILE *out)
{
    for (size_t i = 0; i < list->n; i++) {
        const kept_part *x = &list->at[i];

        fprintf(out, "  %s stays: %.2g %% of the model's activity", x->name, 100 * x->share);
        if (!isnan(x->share_of_part))
            fprintf(out, ", %.2g %% of %s's", 100 * x->share_of_part, x->part);
        if (x->output)
            fprintf(out, "; without it %s in %s would be %.3g %% off, not %.3g %%\n", x->output, x->experiment,
                    100 * x->off, 100 * x->off_before);
        else
            fputs("; without it the conditioned model does not run\n", out);
    }
}

static void
put_inactive(const partition_report *r, FILE *out)
{
    table t = { .columns = 6, .left = 3 };
    name_list more;
    arena *a;

    if (r->inactive->n < 2)
        return;
    a = arena_new();
    more = names_beyond(r->all_inactive, &r->inactive->at[0], a);
    fprintf(out, "elements beyond %.6g %% of the activity%s%s\n", 100 * r->mora,
            r->local->study.n > 1 ? ", in every window" : "",
            r->regimes ? "; for the given model also in the times of --mora-window" : "");
    for (size_t i = 0; i < r->inactive->n; i++)
        put_name_lines(out, r->inactive->at[i].of, &r->inactive->at[i]);
    fprintf(out, "all partitions together, with those left out: %zu; the given model: %zu\n",
            r->all_inactive->name.n - r->of_whole->name.n, r->inactive->at[0].name.n);
    put_name_lines(out, "only by partitions", &more);
    if (r->of_whole->name.n)
        put_name_lines(out, "only in the given model, and not needed by any requested output: they go too",
                       r->of_whole);
    print_kept(r->kept, out);
    fprintf(out, "so %zu go from the conditioned model%s\n", r->all_inactive->name.n,
            r->kept->n ? "" : ", including all that go from the given model");
    if (r->less_whole->stay.name.n)
        put_name_lines(out, "these stay in the given model, which does not run without them", &r->less_whole->stay);
    if (r->less_parts->stay.name.n)
        put_name_lines(out, "these stay in the conditioned model, which does not run without them",
                       &r->less_parts->stay);
    if (r->less_whole->error.n || r->less_parts->error.n) {
        fputs("without them, against the given model\n", out);
        table_put(&t, "model");
        table_put(&t, "experiment");
        table_put(&t, "output");
        table_put(&t, "maximum error");
        table_put(&t, "rms error");
        table_put(&t, "of its rms");
        put_reduced(&r->less_whole->error, "as given, reduced", &t);
        put_reduced(&r->less_parts->error, "conditioned, reduced", &t);
        table_print(&t, out, "  ");
        put_ends(&r->less_whole->error, "as given, reduced", out);
        put_ends(&r->less_parts->error, "conditioned, reduced", out);
    }
    vec_free(&more.name);
    arena_free(a);
}

void
partition_report_text(const partition_report *r, bool verbose, FILE *out)
{
    const subgraphs *s = r->subgraphs;

    fprintf(out, "%s: %zu subgraph%s in %zu partition%s; %zu of %zu bonds and two-ports are conditioned\n", r->model,
            s->subgraph.n, s->subgraph.n == 1 ? "" : "s", s->partition.n, s->partition.n == 1 ? "" : "s",
            r->plan->conditioned, r->plan->link.n);
    if (r->one_piece)
        fprintf(out, "one piece: %s\n", r->one_piece);
    print_links(r, verbose, out);
    if (r->next && r->next_ratio < 1)
        fprintf(out, "above %.4g %% %s would be conditioned too, which holds a subgraph together\n",
                100 * r->next_ratio, r->next->name);
    put_boundaries(r, out);
    put_subgraphs(r, out);
    put_loops(r, out);
    put_frozen(r, out);
    put_errors(r, verbose, out);
    put_models(r, out);
    put_inactive(r, out);
}
