/* partition_json.c - a partitioning as JSON: see partition_report.h */
#include <math.h>
#include <string.h>

#include "json.h"
#include "metrics.h"
#include "partition_report.h"

/* ---------------------------------------------------------------- rows: bonds, then ports */

/* One listed bond, between two junctions or between a junction and an element. of: its link; NULL for a bond to an
 * element. */
struct row {
    const char *name, *from, *to;
    const link *of;
    bool is_bond;
    uint32_t index;
    double activity;
    size_t order;
};
typedef VEC(struct row) rows;

static int
by_row_activity(const void *pa, const void *pb)
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
            vec_push(out,
                     ((struct row){ x->name, junction_label(f, x->end[0], NONE), junction_label(f, x->end[1], NONE), x,
                                    true, x->bond, r->local->greatest.bond_activity[x->bond], out->n }));
        else
            of_port[x->port[0]] = of_port[x->port[1]] = x;
    }
    for (uint32_t i = 0; i < f->port.n; i++) {
        const flat_port *p = &f->port.at[i];
        const char *at = junction_label(f, p->junction, i), *element = port_name(f, i);
        const char *from = p->sign > 0 ? at : element, *to = p->sign > 0 ? element : at;

        vec_push(out,
                 ((struct row){ port_bond_name(f, p) ? port_bond_name(f, p) : arena_format(a, "%s -> %s", from, to),
                                from, to, of_port[i], false, i, r->local->greatest.port_activity[i], out->n }));
    }
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_row_activity);
    free(of_port);
}

/* ---------------------------------------------------------------- JSON */

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
        json_key_string(j, "name", x->name);
        json_key_string(j, "from", x->from);
        json_key_string(j, "to", x->to);
        json_key(j, "internal"), json_bool(j, x->of != NULL);
        json_key_number(j, "activity", x->activity);
        json_key_number(j, "ratio_from", ratio_of(&r->local->greatest, r->f, x, LINK_TAIL));
        json_key_number(j, "ratio_to", ratio_of(&r->local->greatest, r->f, x, LINK_HEAD));
        json_key_string(j, "conditioned", x->of ? link_conditioned(x->of) : NULL);
        json_key(j, "left_within"), json_bool(j, x->of && x->of->left);
        json_key_string(j, "refused", !x->of ? NULL : x->of->refused ? x->of->refused : x->of->where);
        if (r->local->study.n > 1) {
            json_key(j, "windows");
            json_open(j, '[');
            for (size_t k = 0; k < r->local->study.n; k++) {
                const local_study *s = &r->local->study.at[k];

                json_open(j, '{');
                json_key_string(j, "experiment", s->experiment);
                json_key_number(j, "start", s->from);
                json_key_number(j, "stop", s->to);
                json_key_number(j, "activity", activity_of(s, x));
                json_key_number(j, "ratio_from", ratio_of(s, r->f, x, LINK_TAIL));
                json_key_number(j, "ratio_to", ratio_of(s, r->f, x, LINK_HEAD));
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
    json_key_string(j, "name", x->name);
    json_key_string(j, "from", s->subgraph.at[x->from].name);
    json_key_string(j, "to", s->subgraph.at[x->to].name);
    json_key_string(j, "reader", x->reader);
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
        json_key_string(j, "name", x->name);
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
        json_key_string(j, "name", s->subgraph.at[x->subgraph.at[0]].name);
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
            json_key_number(j, "replay_error", part_named(r, x)->wanted ? part_named(r, x)->replay : NAN);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
write_errors(json *j, const run_errors *list, const char *key, bool states)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < list->n; i++) {
        const run_error *e = &list->at[i];

        if (e->state != states)
            continue;
        json_open(j, '{');
        json_key_string(j, "experiment", e->experiment);
        json_key_string(j, states ? "state" : "output", e->name);
        json_key_number(j, "max", e->max);
        json_key_number(j, "rms", e->rms);
        json_key_number(j, "of_rms", e->size);
        if (e->stopped) {
            json_key_number(j, "end_given", e->end[0]);
            json_key_number(j, "end", e->end[1]);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
write_names(json *j, const char *key, const name_list *list)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < list->name.n; i++)
        json_string(j, list->name.at[i]);
    json_close(j, ']');
}

/* What MORA takes out of all partitions together, and what it takes out of the whole model. */
static void
write_all_inactive(json *j, const partition_report *r)
{
    arena *a = arena_new();
    name_list more = { 0 }, less = { 0 };

    if (r->inactive->n > 1) {
        more = names_beyond(r->all_inactive, &r->inactive->at[0], a);
        less = names_beyond(&r->inactive->at[0], r->all_inactive, a);
    }
    json_key(j, "inactive_of_partitions");
    json_open(j, '{');
    write_names(j, "elements", r->all_inactive);
    write_names(j, "beyond_whole", &more);
    write_names(j, "of_whole", r->of_whole);
    write_names(j, "only_whole", &less);
    json_key(j, "kept");
    json_open(j, '[');
    for (size_t i = 0; i < r->kept->n; i++) {
        const kept_part *x = &r->kept->at[i];

        json_open(j, '{');
        json_key_string(j, "name", x->name);
        json_key_number(j, "share", x->share);
        json_key_string(j, "partition", isnan(x->share_of_part) ? NULL : x->part);
        json_key_number(j, "share_of_partition", x->share_of_part);
        json_key_string(j, "output", x->output);
        json_key_string(j, "experiment", x->experiment);
        json_key_number(j, "off", x->output ? x->off : NAN);
        json_key_number(j, "off_before", x->output ? x->off_before : NAN);
        json_close(j, '}');
    }
    json_close(j, ']');
    write_names(j, "stay", &r->less_parts->stay);
    write_errors(j, &r->less_parts->error, "errors", false);
    json_close(j, '}');
    json_key(j, "inactive_of_whole");
    json_open(j, '{');
    write_names(j, "stay", &r->less_whole->stay);
    write_errors(j, &r->less_whole->error, "errors", false);
    json_close(j, '}');
    vec_free(&more.name);
    vec_free(&less.name);
    arena_free(a);
}

/* The errors of conditioning, the frozen signals, and the comparison of the models. */
static void
write_costs(json *j, const partition_report *r)
{
    json_key(j, "frozen");
    json_open(j, '[');
    for (size_t i = 0; i < r->frozen->n; i++) {
        json_open(j, '{');
        json_key_string(j, "signal", r->frozen->at[i].name);
        json_key_string(j, "reader", r->frozen->at[i].reader);
        json_key_number(j, "value", r->frozen->at[i].value);
        json_close(j, '}');
    }
    json_close(j, ']');
    write_errors(j, r->error, "errors", false);
    write_errors(j, r->error, "state_errors", true);
    json_key(j, "models");
    json_open(j, '[');
    for (size_t i = 0; i < r->table->n; i++) {
        const table_row *t = &r->table->at[i];

        json_open(j, '{');
        json_key_string(j, "name", t->name);
        json_key(j, "elements"), json_count(j, t->elements);
        json_key(j, "states"), json_count(j, t->states);
        json_key(j, "dependent_states"), json_count(j, t->dependent);
        json_key(j, "algebraic_loops"), json_count(j, t->loops);
        json_key(j, "steps"), json_count(j, t->steps);
        json_key_number(j, "seconds", t->seconds);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "inactive");
    json_open(j, '[');
    for (size_t i = 0; i < r->inactive->n; i++) {
        json_open(j, '{');
        json_key_string(j, "of", r->inactive->at[i].of);
        write_names(j, "elements", &r->inactive->at[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
    write_all_inactive(j, r);
    json_key(j, "recordings");
    json_open(j, '[');
    for (size_t i = 0; i < r->runs->n; i++) {
        json_open(j, '{');
        json_key_string(j, "name", r->runs->at[i].name);
        json_key_string(j, "experiment", r->runs->at[i].experiment);
        json_key(j, "points"), json_count(j, r->runs->at[i].points);
        json_key_number(j, "sampling_error", r->runs->at[i].sampling);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void
partition_report_json(const partition_report *r, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    json_key_string(&j, "model", r->model);
    json_key(&j, "experiments");
    json_open(&j, '[');
    for (size_t k = 0; k < r->local->study.n; k++)
        if (k == 0 || strcmp(r->local->study.at[k].experiment, r->local->study.at[k - 1].experiment))
            json_string(&j, r->local->study.at[k].experiment);
    json_close(&j, ']');
    json_key_number(&j, "threshold", r->plan->limit);
    json_key_string(&j, "one_piece", r->one_piece);
    json_key_string(&j, "next", r->next && r->next_ratio < 1 ? r->next->name : NULL);
    json_key_number(&j, "next_ratio", r->next && r->next_ratio < 1 ? r->next_ratio : NAN);
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
