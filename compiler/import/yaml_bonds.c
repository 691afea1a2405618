/* yaml_bonds.c - translates bonds of a model file to arrows in the direction of power */
#include <string.h>

#include "yaml_inside.h"

struct end {
    component *c;
    const char *port, *text;
    bool junction, one;
};

/* Reads one side of a netlist entry: the component, and the end of the arrow. */
static bool
read_end(struct import *m, translated *t, const yaml *entry, const char *text, struct end *e)
{
    size_t len = strcspn(text, ".");
    const char *label = arena_strndup(m->a, text, len);
    uint32_t at = map_get(&t->parts, yaml_text_key(label));

    if (at == MAP_NONE && strchr(text, '.')) { /* a name that contains a point */
        at = map_get(&t->parts, yaml_text_key(text));
        len = strlen(text);
    }
    if (at == MAP_NONE) {
        yaml_fail(m, entry->at, "there is no component called \"%s\" in this model", label);
        return false;
    }
    *e = (struct end){ .c = &t->part.at[at], .port = text[len] == '.' ? text + len + 1 : NULL };
    e->c->nbonds++;
    e->one = e->c->kind == K_JUNCTION && e->c->row->type[0] == '1';
    e->junction = e->c->kind == K_JUNCTION || e->c->kind == K_PORT || e->c->kind == K_INSTANCE;
    e->text = e->c->kind == K_PORT && e->c->port ? e->c->port : e->c->name;
    if (e->c->kind == K_INSTANCE) {
        const translated *sub = e->c->model;
        const component *port = NULL;
        size_t nports = 0;

        for (size_t k = 0; k < sub->part.n; k++) {
            const component *x = &sub->part.at[k];

            if (x->kind != K_PORT || !x->port)
                continue;
            nports++;
            if (!e->port || !strcmp(x->port_label, e->port) || !strcmp(x->label, e->port))
                port = x;
        }
        for (size_t k = 0; k < sub->part.n && !port && e->port; k++) { /* by its index in the list */
            const component *x = &sub->part.at[k];
            char number[24];

            snprintf(number, sizeof number, "%zu", x->port_number);
            if (x->kind == K_PORT && x->port && !strcmp(number, e->port))
                port = x;
        }
        if (!port || (!e->port && nports != 1)) {
            yaml_fail(m, entry->at, e->port ? "\"%s\" has no port \"%s\"" : "\"%s\" has %s one port; say which%s",
                      e->c->label,
                      e->port  ? e->port
                      : nports ? "more than"
                               : "not",
                      e->port ? "" : ", as in name.port");
            return false;
        }
        e->text = arena_format(m->a, "%s.%s", e->c->name, port->port);
    }
    return true;
}

/* Does the power of this bond, from tail to head, leave the 1-junction at this end? */
static bool
leaves_one(const struct end *e, bool tail)
{
    if (e->port && !strcmp(e->port, "inverting"))
        return true;
    if (e->port && !strcmp(e->port, "non_inverting"))
        return false;
    if (e->c->row && !strcmp(e->c->row->name, "Y"))
        return e->port && !strcmp(e->port, "0");
    return tail;
}

static const char *
law_text(struct import *m, const component *c, bool negative)
{
    strbuf b = { 0 };
    const char *text;

    for (const char *p = c->row->law; *p; p++) {
        if (*p == '%' && p[1]) {
            strbuf_puts(&b, c->value[*++p - '0']);
        } else {
            strbuf_add(&b, p, 1);
            if (*p == '=' && negative && p[1] == ' ' && p[2] == '-')
                p += 2, strbuf_puts(&b, " ");
            else if (*p == '=' && negative)
                strbuf_puts(&b, " -");
        }
    }
    text = arena_strdup(m->a, b.at);
    strbuf_free(&b);
    return text;
}

const char *
yaml_declared(struct import *m, const component *c, bool negative)
{
    return arena_format(m->a, "%s:%s%s", c->row->type, c->name, law_text(m, c, negative));
}

static const char *
closing_mark(const char *text)
{
    size_t n = strlen(text);

    return n && text[n - 1] == '}' ? "" : ";";
}

/* Connects an element to a junction, at which its power counts as leaving or (at a 1-junction) arriving. */
static void
join_element(struct import *m, translated *t, const yaml *entry, struct end *e, const struct end *j, bool leaves)
{
    component *c = e->c;
    const char *text;

    if (c->kind == K_TWO_PORT || c->kind == K_REACTION || c->kind == K_FIELD) {
        int sides = c->kind == K_FIELD ? 3 : 2, side = 0;

        while (side + 1 < sides && c->side[side])
            side++;
        if (e->port && e->port[0] >= '0' && e->port[0] < '0' + sides && !e->port[1])
            side = e->port[0] - '0';
        if (c->side[side]) {
            yaml_fail(m, entry->at, "port %d of \"%s\" is joined twice", side, c->label);
            return;
        }
        c->side[side] = j->text;
        c->turned[side] = j->one && leaves != (side == 0 || c->kind == K_FIELD);
        return;
    }
    if (c->nbonds > 1) {
        yaml_fail(m, entry->at, "\"%s\" has more than one bond; it takes one", c->label);
        return;
    }
    if (c->kind == K_SOURCE && !(j->one && leaves)) {
        text = yaml_declared(m, c, false);
        strbuf_printf(&t->bonds, "%s -> %s;\n", text, j->text);
        return;
    }
    /* the flow of a source at a 1-junction has the opposite sign there */
    text = yaml_declared(m, c, c->kind == K_SOURCE && c->row->type[1] == 'f');
    if (j->one && !leaves && (c->row->type[0] != 'R' || strchr(c->row->law, '{')))
        strbuf_printf(&t->bonds, "%s -> TF:%s = -1 -> %s%s\n", j->text,
                      yaml_fresh(m, &t->names, arena_format(m->a, "turned_%s", c->name), "turned"), text,
                      closing_mark(text));
    else
        strbuf_printf(&t->bonds, "%s -> %s%s\n", j->text, text, closing_mark(text));
}

void
yaml_read_bond(struct import *m, translated *t, const yaml *entry)
{
    const char *word[3];
    size_t n = entry->kind == YAML_SCALAR ? yaml_words(m, entry->text, word, 3) : 0;
    struct end a, b;

    if (n != 2) {
        yaml_fail(m, entry->at, "a bond is two names, as in `R1 node`");
        return;
    }
    if (!read_end(m, t, entry, word[0], &a) || !read_end(m, t, entry, word[1], &b))
        return;
    if (a.junction && b.junction) {
        bool forward = a.one ? leaves_one(&a, true) : b.one ? !leaves_one(&b, false) : true;

        if (a.one && b.one && leaves_one(&a, true) == leaves_one(&b, false)) {
            const char *turn = yaml_fresh(m, &t->names, "turned", "turned");

            strbuf_printf(&t->bonds, "%s -> TF:%s = -1 -> %s;\n", a.text, turn, b.text);
        } else {
            strbuf_printf(&t->bonds, "%s -> %s;\n", forward ? a.text : b.text, forward ? b.text : a.text);
        }
    } else if (a.junction) {
        join_element(m, t, entry, &b, &a, leaves_one(&a, true));
    } else if (b.junction) {
        join_element(m, t, entry, &a, &b, leaves_one(&b, false));
    } else {
        struct end node = { .text = yaml_fresh(m, &t->names, arena_format(m->a, "%s_%s", a.c->name, b.c->name), "node"),
                            .junction = true };

        strbuf_printf(&t->junctions, "0:%s;\n", node.text);
        join_element(m, t, entry, &a, &node, true);
        join_element(m, t, entry, &b, &node, true);
    }
}
