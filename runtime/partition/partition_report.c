/* partition_report.c - see partition_report.h */
#include "partition_report.h"

#include <math.h>
#include <string.h>

#include "json.h"
#include "metrics.h"
#include "report.h"

static const char *label(const flat_model *f, uint32_t junction) { return junction_label(f, junction, UINT32_MAX); }

/* ---------------------------------------------------------------- rows: bonds, then ports */

/* A bond as it is listed: between two junctions, or between a junction and an element. of: its link, NULL for an external one. */
struct row { const char *name, *from, *to; const link *of; bool is_bond; uint32_t index; double activity; size_t order; };
typedef VEC(struct row) rows;

static int
by_activity(const void *pa, const void *pb)
{
    const struct row *a = pa, *b = pb;

    if (a->activity != b->activity)
        return a->activity > b->activity ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static double
ratio_of(const local_study *s, const flat_model *f, const struct row *x, enum link_end end)
{
    if (x->is_bond)
        return end == LINK_TAIL ? s->bond_from[x->index] : s->bond_to[x->index];
    return (f->port.at[x->index].sign > 0) == (end == LINK_TAIL) ? s->port[x->index] : NAN;
}

static double
activity_of(const local_study *s, const struct row *x)
{
    return x->is_bond ? s->bond_activity[x->index] : s->port_activity[x->index];
}

static void
make_rows(const partition_report *r, arena *a, rows *out)
{
    const flat_model *f = r->f;
    const link **of_port = bg_calloc(f->port.n + 1, sizeof *of_port);

    for (size_t i = 0; i < r->plan->link.n; i++) {
        const link *x = &r->plan->link.at[i];

        if (x->bond != LINK_NONE)
            vec_push(out, ((struct row){ x->name, label(f, x->end[0]), label(f, x->end[1]), x, true, x->bond,
                                         r->local->greatest.bond_activity[x->bond], out->n }));
        else
            of_port[x->port[0]] = of_port[x->port[1]] = x;
    }
    for (uint32_t i = 0; i < f->port.n; i++) {
        const flat_port *p = &f->port.at[i];
        const char *at = junction_label(f, p->junction, i), *element = port_name(f, i);
        const char *from = p->sign > 0 ? at : element, *to = p->sign > 0 ? element : at;

        vec_push(out, ((struct row){ p->bond_name ? p->bond_name : arena_format(a, "%s -> %s", from, to), from, to, of_port[i], false, i,
                                     r->local->greatest.port_activity[i], out->n }));
    }
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_activity);
    free(of_port);
}

/* ---------------------------------------------------------------- JSON */

static void
key_number(json *j, const char *key, double x)
{
    json_key(j, key);
    json_number(j, x);
}

static void
key_string(json *j, const char *key, const char *s)
{
    json_key(j, key);
    json_string(j, s);
}

static void
write_bonds(json *j, const partition_report *r)
{
    arena *a = arena_new();
    rows list = { 0 };

    make_rows(r, a, &list);
    json_key(j, "bonds");
    json_open(j, '[');
    for (size_t i = 0; i < list.n; i++) {
        const struct row *x = &list.at[i];

        json_open(j, '{');
        key_string(j, "name", x->name);
        key_string(j, "from", x->from);
        key_string(j, "to", x->to);
        json_key(j, "internal"), json_bool(j, x->of != NULL);
        key_number(j, "activity", x->activity);
        key_number(j, "ratio_from", ratio_of(&r->local->greatest, r->f, x, LINK_TAIL));
        key_number(j, "ratio_to", ratio_of(&r->local->greatest, r->f, x, LINK_HEAD));
        key_string(j, "conditioned", x->of ? link_conditioned(x->of) : NULL);
        json_key(j, "left_within"), json_bool(j, x->of && x->of->left);
        key_string(j, "refused", !x->of ? NULL : x->of->refused ? x->of->refused : x->of->where);
        if (r->local->study.n > 1) {
            json_key(j, "windows");
            json_open(j, '[');
            for (size_t k = 0; k < r->local->study.n; k++) {
                const local_study *s = &r->local->study.at[k];

                json_open(j, '{');
                key_string(j, "experiment", s->experiment);
                key_number(j, "start", s->from);
                key_number(j, "stop", s->to);
                key_number(j, "activity", activity_of(s, x));
                key_number(j, "ratio_from", ratio_of(s, r->f, x, LINK_TAIL));
                key_number(j, "ratio_to", ratio_of(s, r->f, x, LINK_HEAD));
                json_close(j, '}');
            }
            json_close(j, ']');
        }
        json_close(j, '}');
    }
    json_close(j, ']');
    vec_free(&list);
    arena_free(a);
}

static void
write_crossing(json *j, const subgraphs *s, const crossing *x)
{
    json_open(j, '{');
    key_string(j, "name", x->name);
    key_string(j, "from", s->subgraph.at[x->from].name);
    key_string(j, "to", s->subgraph.at[x->to].name);
    key_string(j, "reader", x->reader);
    json_key(j, "conditioned"), json_bool(j, x->link != LINK_NONE);
    json_close(j, '}');
}

static void
write_subgraphs(json *j, const partition_report *r)
{
    const subgraphs *s = r->subgraphs;

    json_key(j, "subgraphs");
    json_open(j, '[');
    for (size_t i = 0; i < s->subgraph.n; i++) {
        const subgraph *x = &s->subgraph.at[i];

        json_open(j, '{');
        key_string(j, "name", x->name);
        json_key(j, "elements");
        json_open(j, '[');
        for (size_t k = 0; k < x->element.n; k++)
            json_string(j, r->f->element.at[x->element.at[k]].name);
        json_close(j, ']');
        json_key(j, "junctions");
        json_open(j, '[');
        for (size_t k = 0; k < x->junction.n; k++)
            if (!r->f->junction.at[x->junction.at[k]].implicit)
                json_string(j, r->f->junction.at[x->junction.at[k]].name);
        json_close(j, ']');
        json_key(j, "drives");
        json_open(j, '[');
        for (size_t k = 0; k < x->drives.n; k++)
            json_string(j, s->subgraph.at[x->drives.at[k]].name);
        json_close(j, ']');
        json_key(j, "driving"), json_bool(j, s->partition.at[x->partition].driving);
        json_key(j, "driven"), json_bool(j, s->partition.at[x->partition].driven);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
write_loops(json *j, const subgraphs *s)
{
    json_key(j, "loops");
    json_open(j, '[');
    for (size_t i = 0; i < s->loop.n; i++) {
        const signal_loop *x = &s->loop.at[i];
        map said = { 0 };

        json_open(j, '{');
        json_key(j, "subgraphs");
        json_open(j, '[');
        for (size_t k = 0; k < x->subgraph.n; k++)
            json_string(j, s->subgraph.at[x->subgraph.at[k]].name);
        json_close(j, ']');
        json_key(j, "signals");
        json_open(j, '[');
        for (size_t k = 0; k < x->crossing.n; k++) {
            const crossing *c = &s->crossing.at[x->crossing.at[k]];

            if (map_get(&said, c->var) == MAP_NONE)
                json_string(j, c->name);
            map_set(&said, c->var, 1);
        }
        json_close(j, ']');
        json_key(j, "closed_by");
        json_open(j, '[');
        for (size_t k = 0; k < x->crossing.n; k++)
            write_crossing(j, s, &s->crossing.at[x->crossing.at[k]]);
        json_close(j, ']');
        json_close(j, '}');
        map_free(&said);
    }
    json_close(j, ']');
}

static const part *
part_named(const partition_report *r, const partition *x)
{
    for (size_t i = 0; i < r->parts->part.n; i++)
        for (size_t k = 0; k < x->subgraph.n; k++)
            if (!strcmp(r->parts->part.at[i].name, r->subgraphs->subgraph.at[x->subgraph.at[k]].name))
                return &r->parts->part.at[i];
    return NULL;
}

static void
write_partitions(json *j, const partition_report *r)
{
    const subgraphs *s = r->subgraphs;

    json_key(j, "partitions");
    json_open(j, '[');
    for (size_t i = 0; i < s->partition.n; i++) {
        const partition *x = &s->partition.at[i];

        json_open(j, '{');
        key_string(j, "name", s->subgraph.at[x->subgraph.at[0]].name);
        json_key(j, "subgraphs");
        json_open(j, '[');
        for (size_t k = 0; k < x->subgraph.n; k++)
            json_string(j, s->subgraph.at[x->subgraph.at[k]].name);
        json_close(j, ']');
        json_key(j, "driving"), json_bool(j, x->driving);
        json_key(j, "driven"), json_bool(j, x->driven);
        if (part_named(r, x)) {
            json_key(j, "file");
            json_string(j, part_named(r, x)->name);
            json_key(j, "wanted"), json_bool(j, part_named(r, x)->wanted);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
write_errors(json *j, const partition_report *r, const char *key, bool states)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < r->error->n; i++) {
        const run_error *e = &r->error->at[i];

        if (e->state != states)
            continue;
        json_open(j, '{');
        key_string(j, "experiment", e->experiment);
        key_string(j, states ? "state" : "output", e->name);
        key_number(j, "max", e->max);
        key_number(j, "rms", e->rms);
        key_number(j, "of_rms", e->size);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* What conditioning costs, what was frozen, and the models beside each other. */
static void
write_costs(json *j, const partition_report *r)
{
    json_key(j, "frozen");
    json_open(j, '[');
    for (size_t i = 0; i < r->frozen->n; i++) {
        json_open(j, '{');
        key_string(j, "signal", r->frozen->at[i].name);
        key_string(j, "reader", r->frozen->at[i].reader);
        key_number(j, "value", r->frozen->at[i].value);
        json_close(j, '}');
    }
    json_close(j, ']');
    write_errors(j, r, "errors", false);
    write_errors(j, r, "state_errors", true);
    json_key(j, "models");
    json_open(j, '[');
    for (size_t i = 0; i < r->table->n; i++) {
        const table_row *t = &r->table->at[i];

        json_open(j, '{');
        key_string(j, "name", t->name);
        json_key(j, "elements"), json_count(j, t->elements);
        json_key(j, "states"), json_count(j, t->states);
        json_key(j, "dependent_states"), json_count(j, t->dependent);
        json_key(j, "algebraic_loops"), json_count(j, t->loops);
        json_key(j, "steps"), json_count(j, t->steps);
        key_number(j, "seconds", t->seconds);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "inactive");
    json_open(j, '[');
    for (size_t i = 0; i < r->inactive->n; i++) {
        json_open(j, '{');
        key_string(j, "of", r->inactive->at[i].of);
        json_key(j, "elements");
        json_open(j, '[');
        for (size_t k = 0; k < r->inactive->at[i].name.n; k++)
            json_string(j, r->inactive->at[i].name.at[k]);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "recordings");
    json_open(j, '[');
    for (size_t i = 0; i < r->runs->n; i++) {
        json_open(j, '{');
        key_string(j, "name", r->runs->at[i].name);
        key_string(j, "experiment", r->runs->at[i].experiment);
        json_key(j, "points"), json_count(j, r->runs->at[i].points);
        key_number(j, "sampling_error", r->runs->at[i].sampling);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void
partition_report_json(const partition_report *r, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    key_string(&j, "model", r->model);
    json_key(&j, "experiments");
    json_open(&j, '[');
    for (size_t k = 0; k < r->local->study.n; k++)
        if (k == 0 || strcmp(r->local->study.at[k].experiment, r->local->study.at[k - 1].experiment))
            json_string(&j, r->local->study.at[k].experiment);
    json_close(&j, ']');
    key_number(&j, "threshold", r->plan->limit);
    key_string(&j, "one_piece", r->one_piece);
    write_bonds(&j, r);
    write_subgraphs(&j, r);
    json_key(&j, "signals");
    json_open(&j, '[');
    for (size_t i = 0; i < r->subgraphs->crossing.n; i++)
        write_crossing(&j, r->subgraphs, &r->subgraphs->crossing.at[i]);
    json_close(&j, ']');
    write_loops(&j, r->subgraphs);
    write_partitions(&j, r);
    write_costs(&j, r);
    json_close(&j, '}');
}

/* ---------------------------------------------------------------- for people */

static void
put_ratio(table *t, double x)
{
    if (isnan(x))
        table_put(t, "-");
    else
        table_put(t, "%.3g %%", 100 * x);
}

/* What becomes of a link, in the words of the model. */
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
        table_put(t, "acts on %s only, by %s.%c%s", label(f, to), label(f, from), f->junction.at[from].type ? 'f' : 'e',
                  x->left ? " (stays a bond within its partition)" : "");
}

static void
put_links(const partition_report *r, bool all, FILE *out)
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
        const char *from = junction_label(r->f, x->end[0], x->port[0]), *to = junction_label(r->f, x->end[1], x->port[1]);

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

/* Names with commas between them, in lines of about so many columns that begin with blanks. */
enum { LINE_WIDTH = 140 };
struct line { FILE *out; size_t at, indent; bool some; };

static void
put_name(struct line *l, const char *name)
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
            put_name(&l, r->f->element.at[x->element.at[k]].name);
        if (x->element.n == 0)
            for (size_t k = 0; k < x->junction.n; k++)
                put_name(&l, label(r->f, x->junction.at[k]));
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
            fprintf(out, "%s %s", k == 0 ? "" : k + 1 == x->subgraph.n ? " and" : ",", s->subgraph.at[x->subgraph.at[k]].name);
        fputs(", which stay one partition while one of these does\n", out);
        for (size_t k = 0; k < x->crossing.n; k++) {
            const crossing *c = &s->crossing.at[x->crossing.at[k]];
            struct line l = { .out = out, .indent = 6 };

            if (done[k])
                continue;
            l.at = (size_t)fprintf(out, "  %s: %s to %s (", c->name, s->subgraph.at[c->from].name, s->subgraph.at[c->to].name);
            for (size_t m = k; m < x->crossing.n; m++) {
                const crossing *other = &s->crossing.at[x->crossing.at[m]];

                if (other->var != c->var || other->to != c->to)
                    continue;
                done[m] = true;
                put_name(&l, other->reader);
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

/* Of several windows or experiments: the ratio at each end that is inactive in one of them, in all of them. */
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
            table_put(&t, "%s", label(r->f, x->end[k]));
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
        fprintf(out, "frozen: %s is %.6g in %s\n", r->frozen->at[i].name, r->frozen->at[i].value, r->frozen->at[i].reader);
}

/* Outputs, and the state that is furthest off (all states, verbose). */
static void
put_errors(const partition_report *r, bool verbose, FILE *out)
{
    table t = { .columns = 5, .left = 2 };
    const run_error *worst = NULL;

    if (!r->conditioned)
        return;
    fputs("what it costs, the conditioned model against the given one; a small ratio is no bound for this\n", out);
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
        table_put(&t, e->unit ? "%s [%s]%s" : "%s%.0s%s", e->name, e->unit ? e->unit : "", e == worst ? " (worst state)" : "");
        table_put(&t, "%.4g", e->max / e->shown);
        table_put(&t, "%.4g", e->rms / e->shown);
        if (e->size > 0)
            table_put(&t, "%.3g %%", 100 * e->rms / e->size);
        else
            table_put(&t, "-");
    }
    table_print(&t, out, "  ");
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
        const folder_run *run = NULL;

        for (size_t k = 0; k < r->runs->n && !run; k++)
            run = !strcmp(r->runs->at[k].name, x->name) ? &r->runs->at[k] : NULL;
        table_put(&t, "%s", x->name);
        table_put(&t, "%zu", x->elements);
        table_put(&t, "%zu", x->states);
        table_put(&t, "%zu", x->dependent);
        table_put(&t, "%zu", x->loops);
        table_put(&t, "%llu", (unsigned long long)x->steps);
        table_put(&t, "%.3g", x->seconds);
        if (run && !isnan(run->sampling))
            table_put(&t, "%zu points, within %.1e of their range", run->points, run->sampling);
        else
            table_put(&t, "%s", "");
    }
    table_print(&t, out, "  ");
    for (size_t i = 0; i < r->parts->part.n; i++)
        if (!r->parts->part.at[i].wanted)
            fprintf(out, "no output that is asked for needs %s\n", r->parts->part.at[i].name);
}

static void
put_inactive(const partition_report *r, FILE *out)
{
    if (r->inactive->n < 2)
        return;
    fprintf(out, "elements beyond %.6g %% of the activity\n", 100 * r->mora);
    for (size_t i = 0; i < r->inactive->n; i++) {
        struct line l = { .out = out, .indent = 4 };

        l.at = (size_t)fprintf(out, "  %s: ", r->inactive->at[i].of);
        for (size_t k = 0; k < r->inactive->at[i].name.n; k++)
            put_name(&l, r->inactive->at[i].name.at[k]);
        fputs(r->inactive->at[i].name.n ? "\n" : "none\n", out);
    }
}

void
partition_report_text(const partition_report *r, bool verbose, FILE *out)
{
    const subgraphs *s = r->subgraphs;

    fprintf(out, "%s: %zu subgraph%s in %zu partition%s; %zu of %zu bonds and two-ports are conditioned\n", r->model, s->subgraph.n,
            s->subgraph.n == 1 ? "" : "s", s->partition.n, s->partition.n == 1 ? "" : "s", r->plan->conditioned, r->plan->link.n);
    if (r->one_piece)
        fprintf(out, "one piece: %s\n", r->one_piece);
    put_links(r, verbose, out);
    put_boundaries(r, out);
    put_subgraphs(r, out);
    put_loops(r, out);
    put_frozen(r, out);
    put_errors(r, verbose, out);
    put_models(r, out);
    put_inactive(r, out);
}
