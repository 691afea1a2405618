/* yaml_import.c - model files of BondGraphTools to texts of this language
 *
 * Their ports all take power, and bonds only say that efforts are equal and flows opposite; an arrow matters at
 * 1-junctions alone, whose ports are `non_inverting` (power arrives; the head of a bond) or `inverting` (power leaves;
 * the tail). So here
 *   - R, C and I stand at the head of an arrow, and sources at its tail, except where an inverting port turns them
 *     round. At a `non_inverting` port what an element takes is minus the junction's flow: a TF of -1 stands before it,
 *     unless it is a linear resistor, whose law is odd;
 *   - TF is e_1 = r*e_0: from port 0 to port 1 its ratio is 1/r; GY is e_1 = -R*f_0, e_0 = R*f_1 (since version 0.3.8;
 *     both ports take power): a ratio of -R. A 1-junction that counts one of their sides the other way turns the sign
 *     of the ratio;
 *   - BioChem/Y, a stoichiometry with unit weights, is a 1-junction whose port 0 is inverting;
 *   - `SS` components that `ports` exposes are the ports of the model, 0-junctions that pass on what arrives;
 *   - sources without a value are inputs, through all levels up to the root.
 *
 * needs     a tree of yaml.h
 * reports   by line: unknown components, parts, ports, models that contain themselves, and what has no counterpart
 * time      linear in the file; instances are not written out
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "scan.h"
#include "yaml.h"
#include "yaml_import.h"

enum { MOST_INPUTS = 10000, MOST_VALUES = 8, MOST_PARAMETERS = 4, MOST_SIDES = 3 };

enum kind { K_JUNCTION, K_ONE_PORT, K_SOURCE, K_TWO_PORT, K_REACTION, K_FIELD, K_PORT, K_INSTANCE };

/* One row a component: parameters by name, with the library's own value where it has one (NAN: it has none; what is not
 * stated becomes an input). Names that differ in case alone are different: r and R of a reaction. */
static const struct row {
    const char *library, *name;
    enum kind kind;
    const char *type;
    struct {
        const char *name;
        double otherwise;
    } param[MOST_PARAMETERS];
    const char *law; /* %0, %1, ... are the parameters */
} rows[] = {
    { "base", "0", K_JUNCTION, "0", { { NULL, 0 } }, NULL },
    { "base", "1", K_JUNCTION, "1", { { NULL, 0 } }, NULL },
    { "base", "R", K_ONE_PORT, "R", { { "r", 1000 } }, " = %0" },
    { "base", "C", K_ONE_PORT, "C", { { "C", 1000 } }, " = %0" },
    { "base", "I", K_ONE_PORT, "I", { { "L", 2000 } }, " = %0" },
    { "base", "Se", K_SOURCE, "Se", { { "e", NAN } }, " = %0" },
    { "base", "Sf", K_SOURCE, "Sf", { { "f", NAN } }, " = %0" },
    { "base", "TF", K_TWO_PORT, "TF", { { "r", 1 } }, " = 1/%0" },
    { "base", "GY", K_TWO_PORT, "GY", { { "R", 1 } }, " = -%0" },
    { "base", "SS", K_PORT, "0", { { NULL, 0 } }, NULL },
    { "BioChem",
      "Ce",
      K_ONE_PORT,
      "C",
      { { "k", NAN }, { "R", 8.314 }, { "T", NAN } },
      " { e = %1*%2*ln(%0*q); q(0) = 1; }" },
    { "BioChem",
      "Re",
      K_REACTION,
      "R",
      { { "r", NAN }, { "R", 8.314 }, { "T", NAN } },
      " { port fwd -> rev; fwd.f = %0*(exp(fwd.e/(%1*%2)) - exp(rev.e/(%1*%2))); rev.f = fwd.f; }" },
    { "BioChem", "Y", K_JUNCTION, "1", { { NULL, 0 } }, NULL },
    { "elec",
      "Di",
      K_ONE_PORT,
      "R",
      { { "Is", NAN }, { "n", 1 }, { "Vt", 0.0258563 } },
      " { f = %0*(exp(e/(%1*%2)) - 1); }" },
    { "elec",
      "BJT",
      K_FIELD,
      "R",
      { { "Is", 1e-12 }, { "beta_f", 100 }, { "beta_r", 5 }, { "Vt", 0.026 } },
      " { port collector, base, emitter;"
      " base.f = %0*((exp((base.e - emitter.e)/%3) - 1)/%1 + (exp((base.e - collector.e)/%3) - 1)/%2);"
      " emitter.f = %0*((exp((base.e - emitter.e)/%3) - exp((base.e - collector.e)/%3)) + (exp((base.e - "
      "emitter.e)/%3) - 1)/%1);"
      " collector.f = -%0*((exp((base.e - emitter.e)/%3) - 1)/%1 + (exp((base.e - collector.e)/%3) - 1)/%2)"
      " - %0*((exp((base.e - emitter.e)/%3) - exp((base.e - collector.e)/%3)) + (exp((base.e - emitter.e)/%3) - "
      "1)/%1); }" },
};

typedef struct component {
    const char *label, *name;           /* in the file; in the text */
    const struct row *row;              /* NULL: an instance */
    struct translated *model;           /* of an instance */
    const char *value[MOST_PARAMETERS]; /* text of each parameter */
    span at;
    enum kind kind;
    const char *port, *port_label; /* K_PORT: as a port of the model, in the text and in the file */
    size_t port_number;            /* ... and its place in the list of ports */
    const char *side[MOST_SIDES];  /* what has several ports: what port 0, 1, ... are joined to */
    bool turned[MOST_SIDES];       /* ... at a 1-junction that counts the other way */
    unsigned nbonds;
} component;

typedef struct translated {
    const yaml *node;
    const char *key, *name;
    VEC(component) part;
    map parts;         /* label -> index */
    map names, values; /* taken in the text: parts and values are separate */
    VEC(const char *) input;
    strbuf bonds, junctions;
    size_t nports;
    int mark; /* 0 new, 1 open, 2 done */
} translated;

struct import {
    sources *s;
    arena *a;
    const yaml *models;
    VEC(translated *) model;
    map by_key, names;
    strbuf *out;
    size_t ninputs;
    bool bad;
};

static void
fail(struct import *m, span at, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = arena_vformat(m->a, fmt, ap);
    va_end(ap);
    diag_error(m->s, "import", at, "%s", text);
    m->bad = true;
}

/* ---------------------------------------------------------------- names */

static uint64_t
text_key(const char *s)
{
    return bg_hash_bytes(s, strlen(s), 0);
}

/* A name of this language near to the label, and not taken yet. */
static const char *
fresh(struct import *m, map *taken, const char *label, const char *otherwise)
{
    strbuf b = { 0 };
    const char *name;

    if (!isalpha((unsigned char)label[0]) && label[0] != '_')
        strbuf_puts(&b, otherwise);
    for (const char *p = label; *p; p++) {
        char c = isalnum((unsigned char)*p) && (unsigned char)*p < 128 ? *p : '_';

        if (b.n || c != '_' || p[1])
            strbuf_add(&b, &c, 1);
    }
    if (!b.n)
        strbuf_puts(&b, otherwise);
    if (scan_reserved(b.at, b.n))
        strbuf_puts(&b, "_");
    name = arena_strdup(m->a, b.at);
    strbuf_free(&b);
    for (unsigned k = 2; map_get(taken, text_key(name)) != MAP_NONE; k++)
        name = arena_format(m->a, "%s_%u", arena_strdup(m->a, name), k);
    map_set(taken, text_key(name), 1);
    return name;
}

/* The words of a text; at most `most`. */
static size_t
words(struct import *m, const char *text, const char **word, size_t most)
{
    size_t n = 0;

    while (*text && n < most) {
        size_t len;

        while (isspace((unsigned char)*text))
            text++;
        len = strcspn(text, " \t");
        if (len)
            word[n++] = arena_strndup(m->a, text, len);
        text += len;
    }
    return n;
}

static const char *
new_input(struct import *m, translated *t, const char *name)
{
    const char *made = fresh(m, &t->values, name, "u");

    vec_push(&t->input, made);
    if (++m->ninputs == MOST_INPUTS)
        fail(m, t->node->at, "more than %d values are not stated; give them in the file", MOST_INPUTS);
    return made;
}

/* ---------------------------------------------------------------- components */

static bool
is_number(const char *text)
{
    char *end;
    double x = strtod(text, &end);

    return end != text && !*end && isfinite(x) && !strpbrk(text, "xXpP");
}

/* A number as this language writes it: digits on both sides of the point. */
static const char *
number_text(struct import *m, const char *text)
{
    strbuf b = { 0 };
    const char *made;
    bool negative = *text == '-';

    if (*text == '+' || *text == '-')
        text++;
    for (const char *p = text; *p; p++) {
        if (*p == '.' && (p == text || !isdigit((unsigned char)p[-1])))
            strbuf_puts(&b, "0");
        strbuf_add(&b, p, 1);
        if (*p == '.' && !isdigit((unsigned char)p[1]))
            strbuf_puts(&b, "0");
    }
    made = arena_format(m->a, negative ? "(-%s)" : "%s", b.at ? b.at : "0");
    strbuf_free(&b);
    return made;
}

/* A power of two numbers, `10**-12`, as that tool's library writes them. NULL: it is none. */
static const char *
power_text(struct import *m, const char *text)
{
    const char *stars = strstr(text, "**");
    const char *base = stars ? arena_strndup(m->a, text, (size_t)(stars - text)) : NULL;

    return stars && is_number(base) && is_number(stars + 2)
               ? arena_format(m->a, "(%s^%s)", number_text(m, base), number_text(m, stars + 2))
               : NULL;
}

static int
parameter_index(const struct row *row, const char *name, size_t len)
{
    int alike = -1;

    for (int k = 0; k < MOST_PARAMETERS && row->param[k].name; k++) {
        if (strlen(row->param[k].name) != len)
            continue;
        if (!strncmp(row->param[k].name, name, len))
            return k;
        if (!strncasecmp(row->param[k].name, name, len))
            alike = alike < 0 ? k : -2; /* of two, neither is meant */
    }
    return alike;
}

static void
read_values(struct import *m, translated *t, component *c, const char *const *word, size_t n)
{
    const struct row *row = c->row;
    int place = 0;

    for (size_t i = 0; i < n; i++) {
        const char *equals = strchr(word[i], '='), *text = equals ? equals + 1 : word[i];
        int k = equals ? parameter_index(row, word[i], (size_t)(equals - word[i])) : place++;

        if (k < 0 || k >= MOST_PARAMETERS || !row->param[k].name) {
            fail(m, c->at, "%s/%s has no parameter that \"%s\" could be", row->library, row->name, word[i]);
            continue;
        }
        if (is_number(text))
            c->value[k] = number_text(m, text);
        else if (power_text(m, text))
            c->value[k] = power_text(m, text);
        else
            diag_warn(m->s, "import", c->at, "the value \"%s\" of \"%s\" is not a number; it becomes an input", text,
                      c->label);
    }
    for (int k = 0; k < MOST_PARAMETERS && row->param[k].name; k++) {
        if (c->value[k])
            continue;
        if (isnan(row->param[k].otherwise))
            c->value[k] = new_input(
                m, t, k || row->param[1].name ? arena_format(m->a, "%s_%s", c->name, row->param[k].name) : c->name);
        else
            c->value[k] = arena_format(m->a, "%.15g", row->param[k].otherwise);
    }
}

static const struct row *
find_row(const char *library, size_t len, const char *name)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strlen(rows[k].library) == len && !strncasecmp(rows[k].library, library, len) &&
            !strcmp(rows[k].name, name))
            return &rows[k];
    return NULL;
}

static void
read_component(struct import *m, translated *t, const yaml *entry)
{
    const char *word[2 + MOST_VALUES];
    size_t n = entry->kind == YAML_SCALAR ? words(m, entry->text, word, 2 + MOST_VALUES) : 0;
    const char *slash = n > 1 ? strchr(word[1], '/') : NULL;
    component c = { .at = entry->at };
    uint32_t sub = n > 1 ? map_get(&m->by_key, text_key(word[1])) : MAP_NONE;

    if (n < 2) {
        fail(m, entry->at, "a component is a name and a type, as in `R1 base/R 10`");
        return;
    }
    c.label = word[0];
    if (map_get(&t->parts, text_key(c.label)) != MAP_NONE) {
        fail(m, entry->at, "there are two components called \"%s\"", c.label);
        return;
    }
    c.row = slash ? find_row(word[1], (size_t)(slash - word[1]), slash + 1) : NULL;
    if (!c.row && sub == MAP_NONE) {
        fail(m, entry->at, "\"%s\" is neither a model of this file nor a component that has a counterpart here",
             word[1]);
        return;
    }
    c.kind = c.row ? c.row->kind : K_INSTANCE;
    c.model = c.row ? NULL : m->model.at[sub];
    c.name = fresh(m, &t->names, c.label, c.kind == K_JUNCTION ? "j" : "x");
    map_set(&t->parts, text_key(c.label), (uint32_t)t->part.n);
    if (c.row)
        read_values(m, t, &c, word + 2, n - 2);
    vec_push(&t->part, c);
}

/* ---------------------------------------------------------------- bonds */

struct end {
    component *c;
    const char *port, *text;
    bool junction, one;
};

/* One side of a netlist entry: the component, and what an arrow is drawn to. */
static bool
read_end(struct import *m, translated *t, const yaml *entry, const char *text, struct end *e)
{
    size_t len = strcspn(text, ".");
    const char *label = arena_strndup(m->a, text, len);
    uint32_t at = map_get(&t->parts, text_key(label));

    if (at == MAP_NONE && strchr(text, '.')) { /* a name that has a point in it */
        at = map_get(&t->parts, text_key(text));
        len = strlen(text);
    }
    if (at == MAP_NONE) {
        fail(m, entry->at, "there is no component called \"%s\" in this model", label);
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
        for (size_t k = 0; k < sub->part.n && !port && e->port; k++) { /* by its place in the list */
            const component *x = &sub->part.at[k];
            char number[24];

            snprintf(number, sizeof number, "%zu", x->port_number);
            if (x->kind == K_PORT && x->port && !strcmp(number, e->port))
                port = x;
        }
        if (!port || (!e->port && nports != 1)) {
            fail(m, entry->at, e->port ? "\"%s\" has no port \"%s\"" : "\"%s\" has %s one port; say which%s",
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

/* Does power along this bond, tail to head, leave the 1-junction at this end? */
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

/* The law as a declaration: `R:R1 = 10`. */
static const char *
declared(struct import *m, const component *c, bool negative)
{
    return arena_format(m->a, "%s:%s%s", c->row->type, c->name, law_text(m, c, negative));
}

static const char *
ending(const char *text)
{
    size_t n = strlen(text);

    return n && text[n - 1] == '}' ? "" : ";";
}

/* An element to a junction, which counts the power as leaving or (a 1) arriving. */
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
            fail(m, entry->at, "port %d of \"%s\" is joined twice", side, c->label);
            return;
        }
        c->side[side] = j->text;
        c->turned[side] = j->one && leaves != (side == 0 || c->kind == K_FIELD);
        return;
    }
    if (c->nbonds > 1) {
        fail(m, entry->at, "\"%s\" has more than one bond; it takes one", c->label);
        return;
    }
    if (c->kind == K_SOURCE && !(j->one && leaves)) {
        text = declared(m, c, false);
        strbuf_printf(&t->bonds, "%s -> %s;\n", text, j->text);
        return;
    }
    /* the flow a source draws out of a 1-junction counts against the junction's own */
    text = declared(m, c, c->kind == K_SOURCE && c->row->type[1] == 'f');
    if (j->one && !leaves && (c->row->type[0] != 'R' || strchr(c->row->law, '{')))
        strbuf_printf(&t->bonds, "%s -> TF:%s = -1 -> %s%s\n", j->text,
                      fresh(m, &t->names, arena_format(m->a, "turned_%s", c->name), "turned"), text, ending(text));
    else
        strbuf_printf(&t->bonds, "%s -> %s%s\n", j->text, text, ending(text));
}

static void
read_bond(struct import *m, translated *t, const yaml *entry)
{
    const char *word[3];
    size_t n = entry->kind == YAML_SCALAR ? words(m, entry->text, word, 3) : 0;
    struct end a, b;

    if (n != 2) {
        fail(m, entry->at, "a bond is two names, as in `R1 node`");
        return;
    }
    if (!read_end(m, t, entry, word[0], &a) || !read_end(m, t, entry, word[1], &b))
        return;
    if (a.junction && b.junction) {
        bool forward = a.one ? leaves_one(&a, true) : b.one ? !leaves_one(&b, false) : true;

        if (a.one && b.one && leaves_one(&a, true) == leaves_one(&b, false)) {
            const char *turn = fresh(m, &t->names, "turned", "turned");

            strbuf_printf(&t->bonds, "%s -> TF:%s = -1 -> %s;\n", a.text, turn, b.text);
        } else {
            strbuf_printf(&t->bonds, "%s -> %s;\n", forward ? a.text : b.text, forward ? b.text : a.text);
        }
    } else if (a.junction) {
        join_element(m, t, entry, &b, &a, leaves_one(&a, true));
    } else if (b.junction) {
        join_element(m, t, entry, &a, &b, leaves_one(&b, false));
    } else {
        struct end node = { .text = fresh(m, &t->names, arena_format(m->a, "%s_%s", a.c->name, b.c->name), "node"),
                            .junction = true };

        strbuf_printf(&t->junctions, "0:%s;\n", node.text);
        join_element(m, t, entry, &a, &node, true);
        join_element(m, t, entry, &b, &node, true);
    }
}

/* ---------------------------------------------------------------- one model */

static void
each_entry(struct import *m, translated *t, const char *key, bool needed,
           void (*read)(struct import *, translated *, const yaml *))
{
    const yaml *list = yaml_find(t->node, key);

    if (!list) {
        if (needed)
            fail(m, t->node->at, "model \"%s\" has no %s", t->key, key);
        return;
    }
    if (list->kind != YAML_LIST && list->kind != YAML_EMPTY) {
        fail(m, list->at, "`%s` is a list, with an entry a line behind a dash", key);
        return;
    }
    for (const yaml *x = list->child; x; x = x->next)
        read(m, t, x);
}

static void
read_port(struct import *m, translated *t, const yaml *entry)
{
    const char *word[3];
    size_t n = entry->kind == YAML_SCALAR ? words(m, entry->text, word, 3) : 0;
    uint32_t at = n ? map_get(&t->parts, text_key(word[0])) : MAP_NONE;
    component *c = at == MAP_NONE ? NULL : &t->part.at[at];

    if (!n || n > 2) {
        fail(m, entry->at, "a port is a component and a name, as in `pin A`");
    } else if (!c || c->kind != K_PORT) {
        fail(m, entry->at,
             c ? "\"%s\" is not a component of type base/SS, the only ones that can be exposed"
               : "there is no component called \"%s\" in this model",
             word[0]);
    } else if (c->port) {
        fail(m, entry->at, "\"%s\" is exposed twice", word[0]);
    } else {
        c->port_label = word[n - 1];
        c->port_number = t->nports++;
        c->port = n == 2 && strcmp(word[0], word[1]) ? fresh(m, &t->names, word[1], "port") : c->name;
    }
}

/* A field takes power at each port, by the names that its law gives them. */
static void
join_field(struct import *m, translated *t, const component *c)
{
    static const char *const port[MOST_SIDES] = { "collector", "base", "emitter" };

    for (int side = 0; side < MOST_SIDES; side++)
        if (!c->side[side]) {
            fail(m, c->at, "\"%s\" needs a bond at each of its ports 0, 1 and 2", c->label);
            return;
        }
    strbuf_printf(&t->bonds, "%s\n", declared(m, c, false));
    for (int side = 0; side < MOST_SIDES; side++)
        if (c->turned[side])
            strbuf_printf(&t->bonds, "%s -> TF:%s = -1 -> %s.%s;\n", c->side[side],
                          fresh(m, &t->names, "turned", "turned"), c->name, port[side]);
        else
            strbuf_printf(&t->bonds, "%s -> %s.%s;\n", c->side[side], c->name, port[side]);
}

/* Two-ports are drawn once both of their sides are known. */
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
                fail(m, c->at, "\"%s\" has no bond", c->label);
            continue;
        }
        if (!in || !out) {
            fail(m, c->at, "\"%s\" needs a bond at port 0 and one at port 1", c->label);
            continue;
        }
        if (c->kind == K_TWO_PORT) {
            strbuf_printf(&t->bonds, "%s -> %s -> %s;\n", in, declared(m, c, c->turned[0] != c->turned[1]), out);
            continue;
        }
        strbuf_printf(&t->bonds, "%s\n", declared(m, c, false));
        for (int side = 0; side < 2; side++) {
            const char *a = side ? arena_format(m->a, "%s.rev", c->name) : in,
                       *b = side ? out : arena_format(m->a, "%s.fwd", c->name);

            if (c->turned[side])
                strbuf_printf(&t->bonds, "%s -> TF:%s = -1 -> %s;\n", a, fresh(m, &t->names, "turned", "turned"), b);
            else
                strbuf_printf(&t->bonds, "%s -> %s;\n", a, b);
        }
    }
}

/* Inputs of instances are inputs of the model that has them. */
static void
pass_inputs(struct import *m, translated *t, component *c, strbuf *arguments)
{
    for (size_t k = 0; k < c->model->input.n && !m->bad; k++) {
        const char *name = new_input(m, t, arena_format(m->a, "%s_%s", c->name, c->model->input.at[k]));

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

/* Parts and ports of a model, those of the models it has first (a stack of its own); false if one contains itself. */
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
    each_entry(m, root, "components", true, read_component);
    each_entry(m, root, "ports", false, read_port);
    while (open.n && !m->bad) {
        struct visit *top = &open.at[open.n - 1];
        translated *t = top->t, *sub = NULL;

        while (top->next < t->part.n && !sub) {
            component *c = &t->part.at[top->next++];

            if (c->kind == K_INSTANCE && c->model->mark == 1)
                fail(m, c->at, "model \"%s\" contains itself", c->model->key);
            else if (c->kind == K_INSTANCE && !c->model->mark)
                sub = c->model;
        }
        if (sub) {
            sub->mark = 1;
            each_entry(m, sub, "components", true, read_component);
            each_entry(m, sub, "ports", false, read_port);
            vec_push(&open, ((struct visit){ sub, 0 }));
            continue;
        }
        if (m->bad)
            break;
        each_entry(m, t, "netlist", false, read_bond);
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
        uint32_t at = tries[k] ? map_get(&m->by_key, text_key(tries[k])) : MAP_NONE;

        if (at != MAP_NONE) {
            translated *t = m->model.at[at];

            if (name && strcmp(t->key, name) != 0)
                t->name = fresh(m, &m->names, name, "model_");
            return t;
        }
    }
    if (m->model.n == 1)
        return m->model.at[0];
    fail(m, root ? root->at : m->models->at,
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
        fail(&m, (span){ file, 0, 0 }, "this is not a model file of BondGraphTools: it has no `models:`");
        return false;
    }
    if (version && version->kind == YAML_SCALAR && strcmp(version->text, "0.1") != 0)
        diag_warn(s, "import", version->at, "this file is of version %s; what is known here is 0.1", version->text);
    for (const yaml *x = m.models->child; x; x = x->next) {
        translated *t = arena_alloc(a, sizeof *t);

        if (map_get(&m.by_key, text_key(x->key)) != MAP_NONE) {
            fail(&m, x->at, "there are two models called \"%s\"", x->key);
            continue;
        }
        *t = (translated){ .node = x, .key = x->key, .name = NULL };
        map_set(&m.by_key, text_key(x->key), (uint32_t)m.model.n);
        vec_push(&m.model, t);
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        map_set(&m.names, text_key(rows[k].type), 1);
    root = m.bad ? NULL : find_root(&m, top);
    for (size_t k = 0; root && k < m.model.n; k++)
        if (!m.model.at[k]->name)
            m.model.at[k]->name = fresh(&m, &m.names, m.model.at[k]->key, "model_");
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
