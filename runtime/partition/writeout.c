/* writeout.c - see writeout.h */
#include "writeout.h"

#include <string.h>

#include "json.h"
#include "metrics.h"
#include "version.h"
#include "writeout_inside.h"

/* ---------------------------------------------------------------- names */

static void
copy_as_word(const char *from, size_t n, char *to)
{
    for (size_t i = 0; i < n; i++)
        if (from[i] != ']')
            *to++ = from[i] == '.' || from[i] == '[' || from[i] == ',' ? '_' : from[i];
    *to = '\0';
}

const char *
written_name(arena *a, const char *full)
{
    size_t n = strlen(full);
    bool quantity = n > 2 && full[n - 2] == '.' && strchr("efqp", full[n - 1]);
    char *out = arena_new_array(a, char, n + 1);

    copy_as_word(full, quantity ? n - 2 : n, out);
    if (quantity)
        strcat(out, full + n - 2);
    return out;
}

const char *
writer_part(const struct writer *d, const char *full)
{
    char *out = arena_new_array(d->a, char, strlen(full) + 1);

    copy_as_word(full, strlen(full), out);
    return out;
}

const char *
writer_junction(const struct writer *d, uint32_t j)
{
    return d->f->junction.at[j].implicit ? arena_format(d->a, "joint_%u", j)
                                         : writer_part(d, d->f->junction.at[j].name);
}

/* "gap" of "plate.gap" */
static const char *
port_part(const struct writer *d, uint32_t p)
{
    const char *name = port_own_name(d->f, p), *element = d->f->element.at[d->f->port.at[p].element].name;

    return !name ? NULL : writer_part(d, name + strlen(element) + 1);
}

const char *
writer_port(const struct writer *d, uint32_t p)
{
    const char *element = writer_part(d, d->f->element.at[d->f->port.at[p].element].name), *port = port_part(d, p);

    return port ? arena_format(d->a, "%s.%s", element, port) : element;
}

const char *
writer_print(const struct writer *d, inst i)
{
    strbuf b = { 0 };
    const char *text;

    flat_print(d->f, i, &b);
    text = arena_strdup(d->a, b.at ? b.at : "0");
    strbuf_free(&b);
    return text;
}

static bool
is_declared_name(const char *s)
{
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || strchr("_.[],", *s)))
            return false;
    return true;
}

static uint64_t
name_key(const char *name, size_t n)
{
    return bg_hash_bytes(name, n, 0);
}

/* A transformer field consists of pairs of ports; a port name appears once for each pair. */
static bool
is_pairs(const struct writer *d, const flat_element *e)
{
    return is_two_port(e) && e->nports && port_own_name(d->f, e->port0);
}

/* "rod.joint.e": the sum over the pairs of a transformer field at one of its ports, which the field's own text
 * defines. */
static bool
is_sum_of_pairs(const struct writer *d, var_id v)
{
    const char *name = var_name(d->f, v);
    size_t n = name ? strlen(name) : 0;

    return d->f->var.at[v].kind == VAR_SIGNAL && n > 2 && name[n - 2] == '.' &&
           map_get(&d->pair_port, name_key(name, n - 2)) != MAP_NONE;
}

/* Before names change. */
static void
find_pair_ports(struct writer *d)
{
    for (uint32_t i = 0; i < d->f->port.n; i++) {
        const char *name = port_own_name(d->f, i);

        if (name && is_pairs(d, &d->f->element.at[d->f->port.at[i].element]) &&
            map_get(&d->pair_port, name_key(name, strlen(name))) == MAP_NONE)
            map_set(&d->pair_port, name_key(name, strlen(name)), i);
    }
}

/* Parameters are declared before what reads them. */
static void
find_by_input(struct writer *d)
{
    const flat_model *f = d->f;
    bool more = true;

    d->by_input = bg_calloc(f->var.n + 1, sizeof *d->by_input);
    while (more) {
        more = false;
        for (var_id v = 1; v < f->var.n; v++) {
            const flat_var *x = &f->var.at[v];

            for (uint32_t k = 0;
                 x->kind == VAR_PARAM && !d->by_input[v] && inst_known(var_def(f, v)) && k < var_def(f, v).n; k++) {
                var_id of = inst_slots(f, var_def(f, v))[k];

                d->by_input[v] = d->by_input[of] || f->var.at[of].role == ROLE_INPUT;
                more |= d->by_input[v];
            }
        }
    }
}

/* Names delayed values, values of the last sample, and random numbers drawn by samples. */
static void
name_past(struct writer *d)
{
    flat_model *f = d->f;

    for (size_t i = 0; i < f->delay.n; i++) {
        const flat_delay *x = &f->delay.at[i];
        bool before = inst_known(x->before);

        var_say(f, x->var)->name = arena_format(d->a, "delay(%s, %s%s%s)", writer_print(d, x->of),
                                                writer_print(d, x->by), before ? ", " : "",
                                                before ? writer_print(d, x->before) : "");
    }
    for (size_t i = 0; i < f->draw.n; i++)
        var_say(f, f->draw.at[i].var)->name = arena_format(d->a, "%s(%s)", f->draw.at[i].normal ? "noise" : "uniform",
                                                           writer_print(d, f->draw.at[i].seed));
    for (size_t i = 0; i < f->reinit.n; i++)
        if (f->reinit.at[i].remembers)
            var_say(f, f->reinit.at[i].target)->name = arena_format(d->a, "previous(%s)",
                                                                    writer_print(d, f->reinit.at[i].value));
}

/* Renames the variables to the names of the text; a variable without a name there is substituted where it is read. In
 * the order of declaration, hidden variables first as deep as they are nested. */
static void
name_variables(struct writer *d)
{
    flat_model *f = d->f;

    for (var_id v = 1; v < f->var.n; v++) {
        flat_var *x = &f->var.at[v];
        char q = var_name(f, v) && *var_name(f, v) ? var_name(f, v)[strlen(var_name(f, v)) - 1] : 'e';

        switch (x->kind) {
        case VAR_COMMON:
            var_say(f, v)->name = arena_format(d->a, "%s.%c", writer_junction(d, x->owner),
                                               f->junction.at[x->owner].type ? 'f' : 'e');
            break;
        case VAR_PORT:
        case VAR_STORED: var_say(f, v)->name = arena_format(d->a, "%s.%c", writer_port(d, x->owner), q); break;
        case VAR_BOND:
            var_say(f, v)->name = arena_format(
                d->a, "%s.%c", f->bond.at[x->owner].name ? writer_part(d, f->bond.at[x->owner].name) : "?", q);
            break;
        case VAR_LITERAL: {
            char digits[NUMBER_SIZE];

            var_say(f, v)->name = var_unit(f, v) && !unit_is_number(var_unit(f, v))
                                      ? arena_format(d->a, "(%s [%s])", number_text(var_value(f, v), digits),
                                                     unit_text(unit_dimension(var_unit(f, v))))
                                      : arena_strdup(d->a, number_text(var_value(f, v), digits));
            break;
        }
        default:
            if (is_sum_of_pairs(d, v))
                var_say(f, v)->name = arena_format(
                    d->a, "%s.%c",
                    writer_port(d, map_get(&d->pair_port, name_key(var_name(f, v), strlen(var_name(f, v)) - 2))), q);
            else if (is_declared_name(var_name(f, v)))
                var_say(f, v)->name = writer_part(d, var_name(f, v));
            break;
        }
    }
    for (int round = 0; round < 3; round++) {
        name_past(d);
        for (var_id v = 1; v < f->var.n; v++) {
            flat_var *x = &f->var.at[v];

            if (x->kind == VAR_RATE)
                var_say(f, v)->name = arena_format(d->a, "der(%s)",
                                                   is_declared_name(var_name(f, x->owner)) ||
                                                           f->var.at[x->owner].kind != VAR_SIGNAL
                                                       ? var_name(f, x->owner)
                                                       : writer_print(d, var_def(f, x->owner)));
            else if (x->kind == VAR_INTEGRAL && !x->holds && !is_declared_name(var_name(f, v)))
                var_say(f, v)->name = arena_format(d->a, "integral(%s, %s)", writer_print(d, var_def(f, v)),
                                                   inst_known(var_init(f, v)) ? writer_print(d, var_init(f, v)) : "0");
        }
    }
}

void
writer_begin(struct writer *d)
{
    text_names_make(d->f, &d->names);
    d->given = bg_calloc(d->f->var.n + 1, sizeof *d->given);
    d->lets = bg_calloc(d->f->var.n + 1, sizeof *d->lets);
    for (var_id v = 0; v < d->f->var.n; v++)
        d->given[v] = var_name(d->f, v);
    find_pair_ports(d);
    find_by_input(d);
    name_variables(d);
}

void
writer_end(struct writer *d)
{
    text_names_free(&d->names);
    free(d->given);
    free(d->lets);
    map_free(&d->pair_port);
    free(d->by_input);
}

/* ---------------------------------------------------------------- values */

/* The declared unit where it is SI, otherwise the SI unit. */
static const char *
declared_unit(const struct writer *d, var_id v)
{
    const unit *u = var_unit(d->f, v), *display = var_display(d->f, v);

    if (display && unit_scale(display) == 1 && unit_offset(display) == 0 && *unit_text(display))
        return arena_format(d->a, " [%s]", unit_text(display));
    return u && !unit_is_number(u) ? arena_format(d->a, " [%s]", unit_text(unit_dimension(u))) : "";
}

/* Is it computed from other variables, and not from numbers alone? */
static bool
reads_variables(const flat_model *f, inst def)
{
    bool others = false;

    for (uint32_t k = 0; inst_known(def) && k < def.n; k++)
        others |= f->var.at[inst_slots(f, def)[k]].kind != VAR_LITERAL;
    return others;
}

/* Is it computed from values that may change, so that the text declares it as a signal? */
static bool
is_made(const struct writer *d, var_id v)
{
    const flat_var *x = &d->f->var.at[v];

    return x->kind != VAR_PARAM || d->by_input[v] || (x->role == ROLE_INPUT && reads_variables(d->f, var_def(d->f, v)));
}

/* A value that the model computes and experiments replace (for instance the input of a component in one) becomes an
 * input if every experiment gives it. False: not all do. */
static bool
find_lets(struct writer *d, char **why)
{
    const flat_model *f = d->f;

    for (size_t i = 0; i < d->nruns; i++)
        writer_count_lets(d, d->run[i].experiment);
    for (var_id v = 1; v < f->var.n; v++)
        if (d->lets[v] && d->lets[v] < d->nruns && is_made(d, v)) {
            *why = bg_format(
                "some of the experiments give \"%s\" a value, in others the model makes it: partition them separately",
                d->given[v]);
            return false;
        }
    return true;
}

static void
write_values(struct writer *d)
{
    flat_model *f = d->f;
    map output = { 0 };

    for (size_t i = 0; i < f->output.n; i++)
        if (f->output.at[i].def.n)
            map_set(&output, inst_slots(f, f->output.at[i].def)[0], (uint32_t)i);
    for (var_id v = 1; v < f->var.n; v++) {
        const flat_var *x = &f->var.at[v];
        uint32_t k = map_get(&output, v);
        const char *def = inst_known(var_def(f, v)) ? writer_print(d, var_def(f, v)) : "0";

        if (!is_declared_name(var_name(f, v)) || strchr(var_name(f, v), '.'))
            continue;
        if (d->lets[v] && is_made(d, v)) {
            strbuf_printf(d->out, "    input %s%s;\n", var_name(f, v), declared_unit(d, v));
        } else if (x->kind == VAR_PARAM) {
            const char *word = is_made(d, v)              ? "signal"
                               : x->role == ROLE_INPUT    ? "input"
                               : x->role == ROLE_CONSTANT ? "constant"
                                                          : "parameter";

            strbuf_printf(d->out, "    %s %s%s = %s;\n", word, var_name(f, v), declared_unit(d, v), def);
        } else if (x->kind == VAR_INTEGRAL && x->holds) {
            strbuf_printf(d->out, "    signal %s%s = %s;\n", var_name(f, v), declared_unit(d, v),
                          inst_known(var_init(f, v)) ? writer_print(d, var_init(f, v)) : "0");
        } else if (x->kind == VAR_INTEGRAL) {
            strbuf_printf(d->out, "    signal %s%s = integral(%s, %s);\n", var_name(f, v), declared_unit(d, v), def,
                          inst_known(var_init(f, v)) ? writer_print(d, var_init(f, v)) : "0");
        } else if (x->kind == VAR_SIGNAL && k != MAP_NONE) {
            const flat_output *o = &f->output.at[k];
            const char *shown = o->display ? unit_text(o->display) : NULL;

            strbuf_printf(d->out, "    output %s", var_name(f, v));
            if (shown && *shown)
                strbuf_printf(d->out, " [%s]", shown);
            strbuf_printf(d->out, "%s = %s;\n", shown && *shown ? "" : declared_unit(d, v), def);
        } else if (x->kind == VAR_SIGNAL) {
            const char *word = x->role == ROLE_OUTPUT && writer_observes(d, d->given[v]) ? "output" : "signal";

            strbuf_printf(d->out, "    %s %s%s = %s;\n", word, var_name(f, v), declared_unit(d, v), def);
        }
    }
    map_free(&output);
}

/* ---------------------------------------------------------------- the graph */

static void
put_initials(struct writer *d, uint32_t port, uint32_t junction)
{
    for (size_t i = 0; i < d->f->initial.n; i++) {
        const flat_initial *x = &d->f->initial.at[i];
        const char *part = port != NONE ? port_part(d, port) : NULL;

        if (x->port == port && x->junction == junction)
            strbuf_printf(d->out, " %s%s%s(0) = %s;", part ? part : "", part ? "." : "", quantity_letter(x->q),
                          writer_print(d, x->def));
    }
}

static bool
has_initial(const struct writer *d, uint32_t port, uint32_t junction)
{
    for (size_t i = 0; i < d->f->initial.n; i++)
        if (d->f->initial.at[i].port == port && d->f->initial.at[i].junction == junction)
            return true;
    return false;
}

static void
put_junctions(struct writer *d)
{
    for (uint32_t j = 0; j < d->f->junction.n; j++) {
        const flat_junction *x = &d->f->junction.at[j];

        strbuf_printf(d->out, "    %u:%s", x->type, writer_junction(d, j));
        if (x->domain)
            strbuf_printf(d->out, " in %s", d->f->domain.at[x->domain - 1].name);
        if (has_initial(d, NONE, j)) {
            strbuf_puts(d->out, " {");
            put_initials(d, NONE, j);
            strbuf_puts(d->out, " }\n");
        } else {
            strbuf_puts(d->out, ";\n");
        }
    }
}

/* Writes the law of one port; the port's own quantities are single letters where it is the only port. */
static void
write_law(struct writer *d, const flat_law *law, bool only)
{
    flat_port *p = &d->f->port.at[law->port];
    var_id own[3] = { p->e, p->f, p->stored };
    const char *before[3] = { NULL, NULL, NULL }, *part = port_part(d, law->port);

    for (int k = 0; k < 3 && only; k++)
        if (own[k] != VAR_NONE) {
            before[k] = var_name(d->f, own[k]);
            var_say(d->f, own[k])->name = k == 0 ? "e" : k == 1 ? "f" : port_has_momentum(d->f, law->port) ? "p" : "q";
        }
    strbuf_printf(d->out, " %s%s%s = %s;", part ? part : "", part ? "." : "", quantity_letter(law->out),
                  writer_print(d, law->def));
    for (int k = 0; k < 3; k++)
        if (before[k])
            var_say(d->f, own[k])->name = before[k];
}

/* Did this port of a transformer field already appear in another pair? */
static bool
is_repeated(const struct writer *d, uint32_t port)
{
    const char *name = port_own_name(d->f, port);

    return is_pairs(d, &d->f->element.at[d->f->port.at[port].element]) &&
           map_get(&d->pair_port, name_key(name, strlen(name))) != port;
}

/* Writes the flow of each port right of the arrow: the sum over its pairs. */
static void
put_port_flows(struct writer *d, const flat_element *e)
{
    for (uint32_t k = 1; k < e->nports; k += 2) {
        if (is_repeated(d, e->port0 + k))
            continue;
        for (uint32_t i = k; i < e->nports; i += 2)
            if (!strcmp(port_own_name(d->f, e->port0 + i), port_own_name(d->f, e->port0 + k))) {
                if (i == k)
                    strbuf_printf(d->out, " %s.f = ", port_part(d, e->port0 + k));
                strbuf_printf(d->out, "%s(%s)*%s.f", i == k ? "" : " + ",
                              writer_print(d, d->f->law.at[e->law0 + i / 2].def), port_part(d, e->port0 + i - 1));
            }
        strbuf_puts(d->out, ";");
    }
}

static void
put_field(struct writer *d, const flat_element *e)
{
    const char *name = writer_part(d, e->name);

    strbuf_printf(d->out, "    %s:%s { port", element_type_name(e->type), name);
    for (int side = 0; side < 2; side++) {
        bool first = true;

        for (uint32_t k = 0; k < e->nports; k++)
            if ((d->f->port.at[e->port0 + k].sign < 0) == side && !is_repeated(d, e->port0 + k)) {
                strbuf_printf(d->out, "%s %s", !first ? "," : side ? " ->" : "", port_part(d, e->port0 + k));
                first = false;
            }
    }
    strbuf_puts(d->out, ";");
    if (is_pairs(d, e))
        put_port_flows(d, e);
    for (uint32_t k = 0; k < e->nlaws && !is_pairs(d, e); k++)
        write_law(d, &d->f->law.at[e->law0 + k], false);
    for (uint32_t k = 0; k < e->nports; k++)
        put_initials(d, e->port0 + k, NONE);
    strbuf_puts(d->out, " }\n");
    for (uint32_t k = 0; k < e->nports; k++) {
        const flat_port *p = &d->f->port.at[e->port0 + k];
        const char *at = writer_junction(d, p->junction), *port = writer_port(d, e->port0 + k);

        if (is_repeated(d, e->port0 + k))
            continue;
        strbuf_printf(d->out, "    %s -> %s;\n", p->sign > 0 ? at : port, p->sign > 0 ? port : at);
    }
}

static void
write_element(struct writer *d, uint32_t i)
{
    const flat_element *e = &d->f->element.at[i];
    const flat_port *p = &d->f->port.at[e->port0];
    const flat_law *law = &d->f->law.at[e->law0];
    const char *name = writer_part(d, e->name), *at = e->nports ? writer_junction(d, p->junction) : "";
    const char *m = e->modulated ? "M" : "", *type = element_type_name(e->type);
    bool source = e->type == EL_SE || e->type == EL_SF;

    if (e->nports == 0)
        return;
    if (is_two_port(e) && !port_own_name(d->f, e->port0)) {
        strbuf_printf(d->out, "    %s -> %s%s:%s = %s -> %s;\n", at, m, type, name, writer_print(d, law->def),
                      writer_junction(d, p[1].junction));
        return;
    }
    if (e->nports > 1 || port_own_name(d->f, e->port0)) {
        put_field(d, e);
        return;
    }
    strbuf_printf(d->out, "    ");
    if (p->sign > 0)
        strbuf_printf(d->out, "%s -> ", at);
    strbuf_printf(d->out, "%s%s:%s", m, type, name);
    if (e->rests)
        strbuf_puts(d->out, " = 0");
    else if (source)
        strbuf_printf(d->out, law->kind == LAW_RESIDUAL ? " such that %s" : " = %s", writer_print(d, law->def));
    if (p->sign < 0)
        strbuf_printf(d->out, " -> %s", at);
    if (source || e->rests) {
        if (port_bond_name(d->f, p))
            strbuf_printf(d->out, " as %s", writer_part(d, port_bond_name(d->f, p)));
        strbuf_puts(d->out, ";\n");
        return;
    }
    strbuf_puts(d->out, " {");
    write_law(d, law, true);
    put_initials(d, e->port0, NONE);
    strbuf_puts(d->out, " }");
    if (port_bond_name(d->f, p))
        strbuf_printf(d->out, " as %s;", writer_part(d, port_bond_name(d->f, p)));
    strbuf_puts(d->out, "\n");
}

static void
put_targets(struct writer *d, const flat_when *x)
{
    strbuf_puts(d->out, " {");
    for (uint32_t k = 0; k < x->nreinits; k++) {
        const flat_reinit *r = &d->f->reinit.at[x->reinit0 + k];

        if (!r->remembers)
            strbuf_printf(d->out, " reinit %s = %s;", var_name(d->f, r->target), writer_print(d, r->value));
    }
    strbuf_puts(d->out, " }\n");
}

/* The condition of an assertion; in the model it is 1 where the assertion does not hold. */
static const char *
asserted(const struct writer *d, const flat_when *x)
{
    const ex_node *n = pool_node(d->f->pool, x->condition.root);
    inst holds = x->condition;

    if (n->op != EX_SELECT)
        return arena_format(d->a, "not (%s)", writer_print(d, holds));
    holds.root = n->a;
    return writer_print(d, holds);
}

/* `stop when` is left to the experiments. */
static void
put_whens(struct writer *d)
{
    for (size_t w = 0; w < d->f->when.n; w++) {
        const flat_when *x = &d->f->when.at[w];

        switch (x->kind) {
        case WHEN_ASSERTS:
            strbuf_printf(d->out, "    assert %s", asserted(d, x));
            if (x->says)
                strbuf_printf(d->out, " \"%s\"", x->says);
            strbuf_puts(d->out, ";\n");
            break;
        case WHEN_SAMPLES:
            strbuf_printf(d->out, "    every %s", writer_print(d, x->period));
            if (inst_known(x->offset))
                strbuf_printf(d->out, " offset %s", writer_print(d, x->offset));
            put_targets(d, x);
            break;
        case WHEN_TURNS:
        case WHEN_STOPS:
            strbuf_printf(d->out, "    when %s", writer_print(d, x->condition));
            put_targets(d, x);
            break;
        }
    }
}

static void
put_model(struct writer *d)
{
    strbuf_printf(d->out, "model %s", d->f->name);
    if (d->f->text && *d->f->text)
        strbuf_printf(d->out, " \"%s\"", d->f->text);
    strbuf_puts(d->out, " {\n");
    write_values(d);
    strbuf_puts(d->out, "\n");
    put_junctions(d);
    for (uint32_t i = 0; i < d->f->element.n; i++)
        write_element(d, i);
    for (uint32_t i = 0; i < d->f->bond.n; i++) {
        const flat_bond *b = &d->f->bond.at[i];

        strbuf_printf(d->out, "    %s -> %s", writer_junction(d, b->from), writer_junction(d, b->to));
        strbuf_printf(d->out, b->name ? " as %s;\n" : ";\n", b->name ? writer_part(d, b->name) : "");
    }
    put_whens(d);
    strbuf_puts(d->out, "}\n");
}

/* ---------------------------------------------------------------- all */

static void
put_file(struct writer *d)
{
    for (size_t i = 0; i < d->file->ndecls; i++) {
        const ast_decl *x = &d->file->decl[i];
        span at = x->kind == AST_DECL_FUNCTION   ? x->function->at
                  : x->kind == AST_DECL_DOMAIN   ? x->domain->at
                  : x->kind == AST_DECL_IMPORT   ? x->import->at
                  : x->kind == AST_DECL_CONSTANT ? x->constant->at
                                                 : SPAN_NONE;

        if (span_known(at))
            strbuf_printf(d->out, "%.*s\n", (int)(at.end - at.begin), d->text + at.begin);
    }
    put_model(d);
    for (size_t i = 0; i < d->file->ndecls; i++)
        if (d->file->decl[i].kind == AST_DECL_EXPERIMENT && d->file->decl[i].experiment->model == d->f->ast->name)
            writer_experiment(d, d->file->decl[i].experiment);
}

bool
is_written_out(const compilation *c)
{
    const ast_model *m = c->flat->ast;

    if (m->at.file != c->ast->file || m->nsize)
        return false;
    for (int i = 0; i < m->nstmt; i++)
        if (m->stmt[i]->kind == AST_STMT_FOR || m->stmt[i]->kind == AST_STMT_IF || m->stmt[i]->kind == AST_STMT_WITHOUT)
            return false;
    for (uint32_t i = 0; i < c->flat->element.n; i++)
        if (c->flat->element.at[i].parent != NONE || strchr(c->flat->element.at[i].name, '['))
            return false;
    for (uint32_t i = 0; i < c->flat->junction.n; i++)
        if (c->flat->junction.at[i].parent != NONE ||
            (!c->flat->junction.at[i].implicit && strchr(c->flat->junction.at[i].name, '[')))
            return false;
    return true;
}

enum writing
written_out(const recording *run, size_t nruns, arena *a, char **text, size_t *length, char **why)
{
    compilation c = { 0 }, again = { 0 };
    strbuf out = { 0 };
    struct writer d = { .run = run, .nruns = nruns, .a = a, .out = &out };
    /* what experiments set stays in the experiments */
    compile_options plain = { .experiment = run->experiment, .bare = true }, co = { .experiment = run->experiment };
    enum writing result = WRITTEN;

    *text = *why = NULL;
    if (!compile_text(&c, run->path, run->text, run->length, STAGE_GRAPH, &plain)) {
        *why = bg_format("the text cannot be read again: %s", diag_first_error(c.sources));
        result = WRITTEN_NOT;
    } else {
        d.f = c.flat;
        d.file = c.ast;
        d.text = source_text(c.sources, c.ast->file);
        writer_begin(&d);
        if (!find_lets(&d, why)) {
            result = WRITTEN_APART;
        } else {
            put_file(&d);
            if (!compile_text(&again, run->path, out.at, out.n, STAGE_GRAPH, &co)) {
                *why = bg_format("the model cannot be written out part by part: %s", diag_first_error(again.sources));
                result = WRITTEN_NOT;
            }
        }
        writer_end(&d);
    }
    if (result == WRITTEN) {
        *text = bg_malloc(out.n + 1);
        memcpy(*text, out.at, out.n + 1);
        *length = out.n;
    }
    strbuf_free(&out);
    compile_free(&again);
    compile_free(&c);
    return result;
}
