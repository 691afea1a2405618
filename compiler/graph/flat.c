/* flat.c - see flat.h */
#include <stdio.h>
#include <string.h>

#include "flat.h"

/* ---------------------------------------------------------------- making */

inst
flat_inst(flat_model *f, node root, const var_id *slot, uint32_t n)
{
    inst i = { root, (uint32_t)f->slot.n, n };

    vec_reserve(&f->slot, f->slot.n + n);
    if (n)
        memcpy(f->slot.at + f->slot.n, slot, n * sizeof *slot);
    f->slot.n += n;
    return i;
}

static var_id
add_var(flat_model *f, flat_var x)
{
    if (!f->said.n) {
        vec_push(&f->said, ((flat_said){ .at = SPAN_NONE, .def = INST_NONE, .init = INST_NONE }));
        vec_push(&f->unit, NULL);
    }
    vec_push(&f->var, x);
    return (var_id)(f->var.n - 1);
}

static uint32_t
new_said(flat_model *f, const char *name, span at)
{
    vec_push(&f->said, ((flat_said){ .name = name, .at = at, .def = INST_NONE, .init = INST_NONE }));
    return (uint32_t)f->said.n - 1;
}

var_id
flat_add_var(flat_model *f, enum var_kind kind, uint32_t owner, const char *name, span at)
{
    var_id v = add_var(f, (flat_var){ .kind = kind, .owner = owner });

    if (name)
        f->var.at[v].said = new_said(f, name, at);
    return v;
}

var_id
flat_add_literal(flat_model *f, double value, const char *name, span at)
{
    var_id v = add_var(f, (flat_var){ .kind = VAR_LITERAL, .owner = NONE, .said = (uint32_t)f->literal.n });

    vec_push(&f->literal, ((flat_literal){ .value = value, .at = at, .said = name ? new_said(f, name, at) : 0 }));
    return v;
}

flat_said *
var_say(flat_model *f, var_id v)
{
    flat_var *x = &f->var.at[v];
    uint32_t *said = x->kind == VAR_LITERAL ? &f->literal.at[x->said].said : &x->said;

    if (!*said) {
        span at = var_at(f, v);

        *said = new_said(f, NULL, at);
    }
    return &f->said.at[*said];
}

void
var_set_unit(flat_model *f, var_id v, const unit *u)
{
    enum { MOST_UNITS = 1 << 22 }; /* as many as flat_var can number */
    uint32_t k = (uint32_t)f->unit.n - 1;

    if (!u) {
        k = 0;
    } else if (f->unit.at[k] != u && (k = map_get(&f->unit_number, map_ptr_key(u))) == MAP_NONE) {
        k = (uint32_t)f->unit.n;
        if (k == MOST_UNITS)
            bg_out_of_memory(0);
        vec_push(&f->unit, u);
        map_set(&f->unit_number, map_ptr_key(u), k);
    }
    f->var.at[v].unit_index = k & (MOST_UNITS - 1);
}

uint32_t
flat_add_port(flat_model *f, flat_port p, const char *bond, const char *name)
{
    if (!f->port_said.n)
        vec_push(&f->port_said, ((flat_port_said){ NULL, NULL }));
    if (bond || name) {
        p.said = (uint32_t)f->port_said.n;
        vec_push(&f->port_said, ((flat_port_said){ bond, name }));
    }
    vec_push(&f->port, p);
    return (uint32_t)f->port.n - 1;
}

span
var_at(const flat_model *f, var_id v)
{
    const flat_var *x = &f->var.at[v];

    if (x->kind == VAR_LITERAL)
        return f->literal.at[x->said].at;
    if (x->said)
        return f->said.at[x->said].at;
    switch (x->kind) {
    case VAR_COMMON: return f->junction.at[x->owner].at;
    case VAR_PORT:
    case VAR_STORED: return element_at(&f->element.at[f->port.at[x->owner].element]);
    case VAR_BOND: return f->bond.at[x->owner].at;
    case VAR_RATE: return var_at(f, x->owner);
    default: return SPAN_NONE;
    }
}

void
flat_note_read(flat_model *f, bool junction, uint32_t index, span at)
{
    if (junction)
        f->junction.at[index].read = true;
    else
        f->element.at[index].read = true;
    map_set(&f->read_of, (uint64_t)index << 1 | junction, (uint32_t)f->read_at.n);
    vec_push(&f->read_at, at);
}

span
flat_read_at(const flat_model *f, bool junction, uint32_t index)
{
    uint32_t k = map_get(&f->read_of, (uint64_t)index << 1 | junction);

    return k == MAP_NONE ? SPAN_NONE : f->read_at.at[k];
}

/* ---------------------------------------------------------------- names */

struct flat_names {
    map of; /* variable -> its name */
    VEC(const char *) text;
};

static const char *
port_side(const flat_model *f, uint32_t port)
{
    const flat_element *el = &f->element.at[f->port.at[port].element];

    if (port_own_name(f, port) || !is_two_port(el))
        return "";
    return port == el->port0 ? ".in" : ".out";
}

const char *
var_name_at_port(const flat_model *f, var_id v, uint32_t port, arena *a)
{
    return arena_join(a, port_name(f, port), port_side(f, port), f->junction.at[f->var.at[v].owner].type ? ".f" : ".e",
                      NULL);
}

static const char *
put_name_together(const flat_model *f, const flat_var *x, arena *a)
{
    switch (x->kind) {
    case VAR_LITERAL: return source_shortened(f->sources, a, f->literal.at[x->said].at);
    case VAR_COMMON:
        return arena_join(a, f->junction.at[x->owner].name, f->junction.at[x->owner].type ? ".f" : ".e", NULL);
    case VAR_PORT:
        return arena_join(a, port_name(f, x->owner), port_side(f, x->owner),
                          f->junction.at[f->port.at[x->owner].junction].type ? ".e" : ".f", NULL);
    case VAR_STORED: return arena_join(a, port_name(f, x->owner), port_has_momentum(f, x->owner) ? ".p" : ".q", NULL);
    case VAR_BOND: {
        const flat_bond *b = &f->bond.at[x->owner];
        const flat_junction *from = &f->junction.at[b->from];
        const char *quantity = from->type ? ".e" : ".f";

        return b->name ? arena_join(a, b->name, quantity, NULL)
                       : arena_join(a, from->name, "-", f->junction.at[b->to].name, quantity, NULL);
    }
    case VAR_RATE: return arena_join(a, "der(", var_name(f, x->owner), ")", NULL);
    default: return NULL;
    }
}

const char *
var_name(const flat_model *f, var_id v)
{
    const char *name = var_said(f, v)->name;
    struct flat_names *known = f->name_of;
    uint32_t k;

    if (name)
        return name;
    if (!known)
        known = ((flat_model *)f)->name_of = bg_calloc(1, sizeof *known); /* only a cache: the model does not change */
    k = map_get(&known->of, v);
    if (k != MAP_NONE)
        return known->text.at[k];
    name = put_name_together(f, &f->var.at[v], f->arena);
    map_set(&known->of, v, (uint32_t)known->text.n);
    vec_push(&known->text, name);
    return name;
}

const char *
var_name_in(const flat_model *f, var_id v, arena *a)
{
    const char *name = var_said(f, v)->name;

    return name ? arena_strdup(a, name) : put_name_together(f, &f->var.at[v], a);
}

void
flat_free(flat_model *f)
{
    if (!f)
        return;
    vec_free(&f->var);
    vec_free(&f->unit);
    map_free(&f->unit_number);
    vec_free(&f->said);
    vec_free(&f->literal);
    map_free(&f->read_of);
    vec_free(&f->read_at);
    if (f->name_of) {
        map_free(&f->name_of->of);
        vec_free(&f->name_of->text);
        free(f->name_of);
    }
    vec_free(&f->slot);
    vec_free(&f->element);
    vec_free(&f->law);
    vec_free(&f->port);
    vec_free(&f->port_said);
    vec_free(&f->bond);
    vec_free(&f->junction);
    vec_free(&f->domain);
    vec_free(&f->incidence);
    vec_free(&f->initial);
    vec_free(&f->output);
    vec_free(&f->origin);
    vec_free(&f->when);
    vec_free(&f->reinit);
    vec_free(&f->draw);
    vec_free(&f->delay);
    vec_free(&f->weight);
    vec_free(&f->weighed);
    vec_free(&f->opening);
    vec_free(&f->experiment.window);
    vec_free(&f->experiment.observe);
    vec_free(&f->experiment.record);
    vec_free(&f->experiment.expect);
    free(f);
}

/* ---------------------------------------------------------------- connecting */

/* Compressed rows by counting: ports first, then bonds, each in order. */
static void
fill_incidence(flat_model *f)
{
    uint32_t total = 0;

    for (size_t j = 0; j < f->junction.n; j++)
        f->junction.at[j].ninc = 0;
    for (size_t p = 0; p < f->port.n; p++)
        f->junction.at[f->port.at[p].junction].ninc++;
    for (size_t b = 0; b < f->bond.n; b++) {
        f->junction.at[f->bond.at[b].from].ninc++;
        f->junction.at[f->bond.at[b].to].ninc++;
    }
    for (size_t j = 0; j < f->junction.n; j++) {
        f->junction.at[j].inc0 = total;
        total += f->junction.at[j].ninc;
        f->junction.at[j].ninc = 0;
    }
    f->incidence.n = 0;
    vec_resize(&f->incidence, total);
#define MEET(j, ...) \
    (f->incidence.at[f->junction.at[j].inc0 + f->junction.at[j].ninc++] = (flat_incidence){ __VA_ARGS__ })
    for (size_t p = 0; p < f->port.n; p++)
        MEET(f->port.at[p].junction, false, -f->port.at[p].sign, (uint32_t)p);
    for (size_t b = 0; b < f->bond.n; b++) {
        MEET(f->bond.at[b].from, true, -1, (uint32_t)b);
        MEET(f->bond.at[b].to, true, 1, (uint32_t)b);
    }
#undef MEET
}

struct walk {
    flat_model *f;
    uint32_t next; /* next position to assign */
    bool *seen_var, *seen_junction, *seen_element;
    uint32_t *queue;
    size_t head, tail;
};

static void
place_variable(struct walk *w, var_id v)
{
    if (v == VAR_NONE || w->seen_var[v])
        return;
    w->seen_var[v] = true;
    w->f->var.at[v].position = w->next++;
}

static void
place_inst(struct walk *w, inst i)
{
    if (inst_known(i))
        for (uint32_t k = 0; k < i.n; k++)
            place_variable(w, inst_slots(w->f, i)[k]);
}

static void
enter_junction(struct walk *w, uint32_t junction)
{
    if (w->seen_junction[junction])
        return;
    w->seen_junction[junction] = true;
    w->queue[w->tail++] = junction;
}

/* Positions of the element's own variables, then of those that its laws read; then the junctions behind it. */
static void
place_element(struct walk *w, uint32_t element)
{
    const flat_element *el = &w->f->element.at[element];

    if (w->seen_element[element])
        return;
    w->seen_element[element] = true;
    for (uint32_t k = 0; k < el->nports; k++) {
        const flat_port *p = &w->f->port.at[el->port0 + k];

        place_variable(w, p->stored);
        place_variable(w, p->e);
        place_variable(w, p->f);
        enter_junction(w, p->junction);
    }
    for (uint32_t k = 0; k < el->nlaws; k++)
        place_inst(w, w->f->law.at[el->law0 + k].def);
}

static void
place_junctions(struct walk *w)
{
    const flat_model *f = w->f;

    while (w->head < w->tail) {
        const flat_junction *j = &f->junction.at[w->queue[w->head++]];

        place_variable(w, j->common);
        for (uint32_t k = 0; k < j->ninc; k++) {
            const flat_incidence *i = &f->incidence.at[j->inc0 + k];

            if (i->is_bond) {
                place_variable(w, f->bond.at[i->index].own);
                enter_junction(w, f->bond.at[i->index].from);
                enter_junction(w, f->bond.at[i->index].to);
            } else {
                place_element(w, f->port.at[i->index].element);
            }
        }
    }
}

void
flat_connect(flat_model *f)
{
    struct walk w = { .f = f };

    fill_incidence(f);
    w.seen_var = bg_calloc(f->var.n, 1);
    w.seen_junction = bg_calloc(f->junction.n, 1);
    w.seen_element = bg_calloc(f->element.n, 1);
    w.queue = bg_calloc(f->junction.n, sizeof *w.queue);
    if (f->var.n)
        place_variable(&w, 0);
    for (size_t e = 0; e < f->element.n; e++) {
        const flat_element *el = &f->element.at[e];

        for (uint32_t k = 0; k < el->nports; k++)
            enter_junction(&w, f->port.at[el->port0 + k].junction);
        place_junctions(&w);
        place_element(&w, (uint32_t)e); /* an element without a port: its laws */
    }
    for (uint32_t j = 0; j < f->junction.n; j++) {
        enter_junction(&w, j);
        place_junctions(&w);
    }
    for (var_id v = 0; v < f->var.n; v++)
        place_variable(&w, v);
    free(w.seen_var);
    free(w.seen_junction);
    free(w.seen_element);
    free(w.queue);
}

/* ---------------------------------------------------------------- printing */

struct names_of {
    const flat_model *f;
    const var_id *slot;
    uint32_t n;
};

static const char *
slot_name(void *ctx, uint32_t k)
{
    const struct names_of *c = ctx;

    return k < c->n && c->slot[k] < c->f->var.n ? var_name(c->f, c->slot[k]) : "?";
}

void
flat_print(const flat_model *f, inst i, strbuf *out)
{
    struct names_of c = { f, NULL, i.n };

    if (!inst_known(i)) {
        strbuf_puts(out, "?");
        return;
    }
    c.slot = inst_slots(f, i);
    ex_print(f->pool, i.root, slot_name, &c, out);
}

static void
print_inst(const flat_model *f, const char *before, inst i, FILE *out)
{
    strbuf b = { 0 };

    flat_print(f, i, &b);
    fprintf(out, "%s%s", before, b.n ? b.at : "");
    strbuf_free(&b);
}

static const char *
name_or(const char *name, const char *other)
{
    return name ? name : other;
}

static void
dump_junctions(const flat_model *f, FILE *out)
{
    for (size_t j = 0; j < f->junction.n; j++) {
        const flat_junction *x = &f->junction.at[j];

        fprintf(out, "%u:%s%s:", x->type, x->name, x->implicit ? " (implicit)" : "");
        for (uint32_t k = 0; k < x->ninc; k++) {
            const flat_incidence *i = &f->incidence.at[x->inc0 + k];
            const char *sign = i->sign > 0 ? "+" : "-";

            if (!i->is_bond)
                fprintf(out, " %s%s", sign, f->element.at[f->port.at[i->index].element].name);
            else
                fprintf(out, " %s%s", sign,
                        f->junction.at[i->sign > 0 ? f->bond.at[i->index].from : f->bond.at[i->index].to].name);
        }
        fputc('\n', out);
    }
}

static void
dump_element(const flat_model *f, const flat_element *el, FILE *out)
{
    fprintf(out, "%s%s:%s", el->modulated ? "M" : "", element_type_name(el->type), el->name);
    for (uint32_t k = 0; k < el->nports; k++) {
        const flat_port *p = &f->port.at[el->port0 + k];

        fprintf(out, " %s %s%s%s", p->sign > 0 ? "<-" : "->", f->junction.at[p->junction].name,
                port_bond_name(f, p) ? " as " : "", name_or(port_bond_name(f, p), ""));
    }
    fprintf(out, "%s%s\n", el->linear ? " linear" : "", el->keep ? " keep" : "");
    for (uint32_t k = 0; k < el->nlaws; k++) {
        const flat_law *l = &f->law.at[el->law0 + k];

        if (l->kind == LAW_ASSIGN)
            fprintf(out, "    %s", quantity_letter(l->out));
        else
            fprintf(out, "    %s", l->kind == LAW_MODULUS ? "modulus" : "0");
        print_inst(f, " = ", l->def, out);
        fputc('\n', out);
    }
}

static void
dump_vars(const flat_model *f, FILE *out)
{
    static const char *const kind[] = { "time", "parameter", "literal", "signal", "integral", "common",
                                        "port", "bond",      "stored",  "rate",   "mode",     "auxiliary" };

    for (size_t v = 0; v < f->var.n; v++) {
        const flat_var *x = &f->var.at[v];

        if (x->kind == VAR_LITERAL)
            continue;
        fprintf(out, "%s %s", kind[x->kind], var_name(f, v));
        if (var_display(f, v) || var_unit(f, v))
            fprintf(out, " [%s]", unit_text(var_display(f, v) ? var_display(f, v) : var_unit(f, v)));
        if (inst_known(var_def(f, v)))
            print_inst(f, x->kind == VAR_INTEGRAL ? " rate " : " = ", var_def(f, v), out);
        if (inst_known(var_init(f, v)))
            print_inst(f, " from ", var_init(f, v), out);
        fputc('\n', out);
    }
}

static void
dump_output(const flat_model *f, const char *what, const flat_output *o, FILE *out)
{
    fprintf(out, "%s %s", what, o->name);
    if (o->display || o->unit)
        fprintf(out, " [%s]", unit_text(o->display ? o->display : o->unit));
    print_inst(f, " = ", o->def, out);
    fputc('\n', out);
}

static void
dump_flat_experiment(const flat_model *f, FILE *out)
{
    const flat_experiment *x = &f->experiment;
    const struct {
        const char *name;
        inst i;
    } set[] = { { "  start", x->start }, { "  stop", x->stop }, { "  rtol", x->rtol }, { "  atol", x->atol } };

    if (!x->name)
        return;
    fprintf(out, "experiment %s\n", x->name);
    for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
        if (inst_known(set[k].i)) {
            fputs(set[k].name, out);
            print_inst(f, " = ", set[k].i, out);
            fputc('\n', out);
        }
    }
    if (x->solver)
        fprintf(out, "  solver = %s\n", x->solver);
    if (x->equilibrium)
        fputs("  start from equilibrium\n", out);
    for (size_t k = 0; k < x->window.n; k++) {
        print_inst(f, "  window ", x->window.at[k].from, out);
        print_inst(f, " .. ", x->window.at[k].to, out);
        fputc('\n', out);
    }
    for (size_t k = 0; k < x->observe.n; k++) {
        fprintf(out, "  observe %s", f->output.at[x->observe.at[k].output].name);
        if (inst_known(x->observe.at[k].within))
            print_inst(f, " within ", x->observe.at[k].within, out);
        fputc('\n', out);
    }
    for (size_t k = 0; k < x->record.n; k++)
        dump_output(f, "  record", &x->record.at[k], out);
}

void
flat_dump(const flat_model *f, FILE *out)
{
    fprintf(out, "model %s\n", f->name);
    dump_junctions(f, out);
    for (size_t e = 0; e < f->element.n; e++)
        dump_element(f, &f->element.at[e], out);
    for (size_t b = 0; b < f->bond.n; b++) {
        const flat_bond *x = &f->bond.at[b];

        fprintf(out, "bond %s -> %s%s%s\n", f->junction.at[x->from].name, f->junction.at[x->to].name,
                x->name ? " as " : "", name_or(x->name, ""));
    }
    for (size_t k = 0; k < f->initial.n; k++) {
        const flat_initial *x = &f->initial.at[k];

        fprintf(out, "initial %s.%s",
                x->port != NONE ? f->element.at[f->port.at[x->port].element].name : f->junction.at[x->junction].name,
                quantity_letter(x->q));
        print_inst(f, " = ", x->def, out);
        fputc('\n', out);
    }
    dump_vars(f, out);
    for (size_t k = 0; k < f->output.n; k++)
        dump_output(f, "output", &f->output.at[k], out);
    dump_flat_experiment(f, out);
}

const char *
junction_label(const flat_model *f, uint32_t junction, uint32_t port)
{
    const flat_junction *j = &f->junction.at[junction];

    if (!j->implicit)
        return j->name;
    for (uint32_t k = 0; k < j->ninc; k++) {
        const flat_incidence *inc = &f->incidence.at[j->inc0 + k];

        if (!inc->is_bond && inc->index != port)
            return port_name(f, inc->index);
    }
    return j->name;
}

const flat_output *
flat_output_at(const flat_model *f, size_t k)
{
    return k < f->output.n ? &f->output.at[k] : &f->experiment.record.at[k - f->output.n];
}

size_t
flat_find_output(const flat_model *f, const char *name)
{
    for (size_t k = 0; k < f->output.n + f->experiment.record.n; k++)
        if (!strcmp(flat_output_at(f, k)->name, name))
            return k;
    return NO_INDEX;
}
