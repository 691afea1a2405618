/* yaml_import.c - see yaml_import.h
 *
 * In BondGraphTools all ports take power, and a bond only states that efforts are equal and flows opposite. The
 * direction of an arrow matters at 1-junctions alone, whose ports are `non_inverting` (power arrives; the head of a
 * bond) or `inverting` (power leaves; the tail). So the translation follows these rules:
 *   - R, C and I stand at the head of an arrow and sources at its tail, except where an inverting port reverses this.
 * At a `non_inverting` port an element takes minus the junction's flow: a TF of -1 is put before it, unless it is a
 *     linear resistor, whose law is odd;
 *   - TF is e_1 = r*e_0: from port 0 to port 1 its ratio is 1/r; GY is e_1 = -R*f_0, e_0 = R*f_1 (since version 0.3.8;
 *     both ports take power): a ratio of -R. A 1-junction that counts one of their sides with the opposite sign changes
 *     the sign of the ratio;
 *   - BioChem/Y, a stoichiometry with unit weights, is a 1-junction whose port 0 is inverting;
 *   - `SS` components that `ports` exposes are the ports of the model, 0-junctions that pass on what arrives;
 *   - sources without a value become inputs, through all levels up to the root.
 *
 * needs     a tree of yaml.h
 * reports   by line: unknown components, parts, ports, models that contain themselves, and what has no counterpart
 * time      linear in the file; instances are not written out
 */
#include <string.h>

#include "yaml_inside.h"

void
yaml_fail(struct import *m, span at, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = arena_vformat(m->a, fmt, ap);
    va_end(ap);
    diag_error(m->s, "import", at, "%s", text);
    m->bad = true;
}

/* ---------------------------------------------------------------- one model */

static void
each_entry(struct import *m, translated *t, const char *key, bool needed,
           void (*read)(struct import *, translated *, const yaml *))
{
    const yaml *list = yaml_find(t->node, key);

    if (!list) {
        if (needed)
            yaml_fail(m, t->node->at, "model \"%s\" has no %s", t->key, key);
        return;
    }
    if (list->kind != YAML_LIST && list->kind != YAML_EMPTY) {
        yaml_fail(m, list->at, "`%s` is a list, with an entry a line behind a dash", key);
        return;
    }
    for (const yaml *x = list->child; x; x = x->next)
        read(m, t, x);
}

static void
read_port(struct import *m, translated *t, const yaml *entry)
{
    const char *word[3];
    size_t n = entry->kind == YAML_SCALAR ? yaml_words(m, entry->text, word, 3) : 0;
    uint32_t at = n ? map_get(&t->parts, yaml_text_key(word[0])) : MAP_NONE;
    component *c = at == MAP_NONE ? NULL : &t->part.at[at];

    if (!n || n > 2) {
        yaml_fail(m, entry->at, "a port is a component and a name, as in `pin A`");
    } else if (!c || c->kind != K_PORT) {
        yaml_fail(m, entry->at,
                  c ? "\"%s\" is not a component of type base/SS, the only ones that can be exposed"
                    : "there is no component called \"%s\" in this model",
                  word[0]);
    } else if (c->port) {
        yaml_fail(m, entry->at, "\"%s\" is exposed twice", word[0]);
    } else {
        c->port_label = word[n - 1];
        c->port_number = t->nports++;
        c->port = n == 2 && strcmp(word[0], word[1]) ? yaml_fresh(m, &t->names, word[1], "port") : c->name;
    }
}

/* A field takes power at each port; ports have the names used in its law. */
static void
join_field(struct import *m, translated *t, const component *c)
{
    static const char *const port[MOST_SIDES] = { "collector", "base", "emitter" };

    for (int side = 0; side < MOST_SIDES; side++)
        if (!c->side[side]) {
            yaml_fail(m, c->at, "\"%s\" needs a bond at each of its ports 0, 1 and 2", c->label);
            return;
        }
    strbuf_printf(&t->bonds, "%s\n", yaml_declared(m, c, false));
    for (int side = 0; side < MOST_SIDES; side++)
        if (c->turned[side])
            strbuf_printf(&t->bonds, "%s -> TF:%s = -1 -> %s.%s;\n", c->side[side],
                          yaml_fresh(m, &t->names, "turned", "turned"), c->name, port[side]);
        else
            strbuf_printf(&t->bonds, "%s -> %s.%s;\n", c->side[side], c->name, port[side]);
}

/* Two-ports are connected once both of their sides are known. */
static void
join_two_ports(struct import *m, translated *t)
{
    for (size_t k = 0; k < t->part.n; k++) {
        component *c = &t->part.at[k];
        const char *in = c->side[0], *out = c->side[1];

        if (c->kind == K_JUNCTION || c->kind == K_PORT || c->kind == K_INSTANCE)
            continue;
        if (c->kind == K_FIELD) {
            join_field(m, t, c);
            continue;
        }
        if (c->kind != K_TWO_PORT && c->kind != K_REACTION) {
            if (!c->nbonds)
                yaml_fail(m, c->at, "\"%s\" has no bond", c->label);
            continue;
        }
        if (!in || !out) {
            yaml_fail(m, c->at, "\"%s\" needs a bond at port 0 and one at port 1", c->label);
            continue;
        }
        if (c->kind == K_TWO_PORT) {
            strbuf_printf(&t->bonds, "%s -> %s -> %s;\n", in, yaml_declared(m, c, c->turned[0] != c->turned[1]), out);
            continue;
        }
        strbuf_printf(&t->bonds, "%s\n", yaml_declared(m, c, false));
        for (int side = 0; side < 2; side++) {
            const char *a = side ? arena_format(m->a, "%s.rev", c->name) : in,
                       *b = side ? out : arena_format(m->a, "%s.fwd", c->name);

            if (c->turned[side])
                strbuf_printf(&t->bonds, "%s -> TF:%s = -1 -> %s;\n", a, yaml_fresh(m, &t->names, "turned", "turned"),
                              b);
            else
                strbuf_printf(&t->bonds, "%s -> %s;\n", a, b);
        }
    }
}

/* Inputs of instances become inputs of the model that contains them. */
static void
pass_inputs(struct import *m, translated *t, component *c, strbuf *arguments)
{
    for (size_t k = 0; k < c->model->input.n && !m->bad; k++) {
        const char *name = yaml_new_input(m, t, arena_format(m->a, "%s_%s", c->name, c->model->input.at[k]));

        strbuf_printf(arguments, "%s%s = %s", k ? ", " : "", c->model->input.at[k], name);
    }
}

static void
write_model(struct import *m, translated *t)
{
    strbuf parts = { 0 };
    bool nothing = true;

    for (size_t k = 0; k < t->part.n; k++)
        if (t->part.at[k].kind == K_PORT && t->part.at[k].port)
            strbuf_printf(&parts, "port 0:%s;\n", t->part.at[k].port);
    for (size_t k = 0; k < t->part.n; k++) {
        component *c = &t->part.at[k];

        if (c->kind == K_JUNCTION || (c->kind == K_PORT && !c->port))
            strbuf_printf(&parts, "%s:%s;\n", c->row->type, c->name);
        if (c->kind == K_INSTANCE) {
            strbuf arguments = { 0 };

            pass_inputs(m, t, c, &arguments);
            strbuf_printf(&parts, arguments.n ? "%s:%s(%s);\n" : "%s:%s;\n", c->model->name, c->name, arguments.at);
            strbuf_free(&arguments);
        }
    }
    strbuf_printf(m->out, "\nmodel %s {\n", t->name);
    for (size_t k = 0; k < t->input.n; k++)
        strbuf_printf(m->out, "input %s;\n", t->input.at[k]);
    if ((parts.n || t->junctions.n) && t->input.n)
        strbuf_puts(m->out, "\n");
    strbuf_add(m->out, parts.at ? parts.at : "", parts.n);
    strbuf_add(m->out, t->junctions.at ? t->junctions.at : "", t->junctions.n);
    nothing = !parts.n && !t->junctions.n && !t->input.n;
    if (t->bonds.n)
        strbuf_puts(m->out, nothing ? "" : "\n");
    strbuf_add(m->out, t->bonds.at ? t->bonds.at : "", t->bonds.n);
    strbuf_puts(m->out, "}\n");
    strbuf_free(&parts);
}

/* ---------------------------------------------------------------- the file */

/* Collects parts and ports of a model, after those of the models that it uses (with an explicit stack); false if one
 * contains itself. */
struct visit {
    translated *t;
    size_t next;
};

static void
translate(struct import *m, translated *root)
{
    VEC(struct visit) open = { 0 };

    vec_push(&open, ((struct visit){ root, 0 }));
    root->mark = 1;
    each_entry(m, root, "components", true, yaml_read_component);
    each_entry(m, root, "ports", false, read_port);
    while (open.n && !m->bad) {
        struct visit *top = &open.at[open.n - 1];
        translated *t = top->t, *sub = NULL;

        while (top->next < t->part.n && !sub) {
            component *c = &t->part.at[top->next++];

            if (c->kind == K_INSTANCE && c->model->mark == 1)
                yaml_fail(m, c->at, "model \"%s\" contains itself", c->model->key);
            else if (c->kind == K_INSTANCE && !c->model->mark)
                sub = c->model;
        }
        if (sub) {
            sub->mark = 1;
            each_entry(m, sub, "components", true, yaml_read_component);
            each_entry(m, sub, "ports", false, read_port);
            vec_push(&open, ((struct visit){ sub, 0 }));
            continue;
        }
        if (m->bad)
            break;
        each_entry(m, t, "netlist", false, yaml_read_bond);
        join_two_ports(m, t);
        if (!m->bad)
            write_model(m, t);
        t->mark = 2;
        open.n--;
    }
    vec_free(&open);
}

static translated *
find_root(struct import *m, const yaml *file)
{
    const yaml *root = yaml_find(file, "root");
    const char *name = root && root->kind == YAML_SCALAR ? root->text : NULL;
    const char *tries[] = { name, "/", "", name ? arena_format(m->a, "/%s", name) : NULL };

    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        uint32_t at = tries[k] ? map_get(&m->by_key, yaml_text_key(tries[k])) : MAP_NONE;

        if (at != MAP_NONE) {
            translated *t = m->model.at[at];

            if (name && strcmp(t->key, name) != 0)
                t->name = yaml_fresh(m, &m->names, name, "model_");
            return t;
        }
    }
    if (m->model.n == 1)
        return m->model.at[0];
    yaml_fail(m, root ? root->at : m->models->at,
              name ? "there is no model called \"%s\"" : "the file does not say which model is its root", name);
    return NULL;
}

bool
yaml_import(sources *s, arena *a, uint32_t file, strbuf *out)
{
    struct import m = { .s = s, .a = a, .out = out };
    const yaml *top = yaml_read(s, a, file), *version;
    translated *root;

    if (!top)
        return false;
    m.models = yaml_find(top, "models");
    version = yaml_find(top, "version");
    if (!m.models || m.models->kind != YAML_MAP) {
        yaml_fail(&m, (span){ file, 0, 0 }, "this is not a model file of BondGraphTools: it has no `models:`");
        return false;
    }
    if (version && version->kind == YAML_SCALAR && strcmp(version->text, "0.1") != 0)
        diag_warn(s, "import", version->at, "this file is of version %s; what is known here is 0.1", version->text);
    for (const yaml *x = m.models->child; x; x = x->next) {
        translated *t = arena_alloc(a, sizeof *t);

        if (map_get(&m.by_key, yaml_text_key(x->key)) != MAP_NONE) {
            yaml_fail(&m, x->at, "there are two models called \"%s\"", x->key);
            continue;
        }
        *t = (translated){ .node = x, .key = x->key, .name = NULL };
        map_set(&m.by_key, yaml_text_key(x->key), (uint32_t)m.model.n);
        vec_push(&m.model, t);
    }
    yaml_take_types(&m);
    root = m.bad ? NULL : find_root(&m, top);
    for (size_t k = 0; root && k < m.model.n; k++)
        if (!m.model.at[k]->name)
            m.model.at[k]->name = yaml_fresh(&m, &m.names, m.model.at[k]->key, "model_");
    strbuf_puts(out, "// Translated from a model file of BondGraphTools by `bgc import`.\n");
    if (root)
        translate(&m, root);
    for (size_t k = 0; k < m.model.n; k++) {
        translated *t = m.model.at[k];

        if (root && !t->mark && !m.bad)
            diag_warn(s, "import", t->node->at, "model \"%s\" is not used and not translated", t->key);
        vec_free(&t->part);
        map_free(&t->parts);
        map_free(&t->names);
        map_free(&t->values);
        vec_free(&t->input);
        strbuf_free(&t->bonds);
        strbuf_free(&t->junctions);
    }
    vec_free(&m.model);
    map_free(&m.by_key);
    map_free(&m.names);
    return !m.bad;
}
