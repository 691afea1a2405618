/* yaml_components.c - translates components of a model file: names, kinds, parameters */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "yaml_inside.h"

static const struct row rows[] = {
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

void
yaml_take_types(struct import *m)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        map_set(&m->names, yaml_text_key(rows[k].type), 1);
}

/* ---------------------------------------------------------------- names */

uint64_t
yaml_text_key(const char *s)
{
    return bg_hash_bytes(s, strlen(s), 0);
}

const char *
yaml_fresh(struct import *m, map *taken, const char *label, const char *otherwise)
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
    for (unsigned k = 2; map_get(taken, yaml_text_key(name)) != MAP_NONE; k++)
        name = arena_format(m->a, "%s_%u", arena_strdup(m->a, name), k);
    map_set(taken, yaml_text_key(name), 1);
    return name;
}

size_t
yaml_words(struct import *m, const char *text, const char **word, size_t most)
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

const char *
yaml_new_input(struct import *m, translated *t, const char *name)
{
    const char *made = yaml_fresh(m, &t->values, name, "u");

    vec_push(&t->input, made);
    if (++m->ninputs == MOST_INPUTS)
        yaml_fail(m, t->node->at, "more than %d values are not stated; give them in the file", MOST_INPUTS);
    return made;
}

/* ---------------------------------------------------------------- components */

static bool
is_number_text(const char *text)
{
    char *end;
    double x = strtod(text, &end);

    return end != text && !*end && isfinite(x) && !strpbrk(text, "xXpP");
}

/* A number in this language's spelling: digits on both sides of the point. */
static const char *
number_in_si(struct import *m, const char *text)
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

/* A power of two numbers, such as `10**-12` in that tool's library. NULL: it is none. */
static const char *
power_text(struct import *m, const char *text)
{
    const char *stars = strstr(text, "**");
    const char *base = stars ? arena_strndup(m->a, text, (size_t)(stars - text)) : NULL;

    return stars && is_number_text(base) && is_number_text(stars + 2)
               ? arena_format(m->a, "(%s^%s)", number_in_si(m, base), number_in_si(m, stars + 2))
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
            alike = alike < 0 ? k : -2; /* two candidates: neither is taken */
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
            yaml_fail(m, c->at, "%s/%s has no parameter that \"%s\" could be", row->library, row->name, word[i]);
            continue;
        }
        if (is_number_text(text))
            c->value[k] = number_in_si(m, text);
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
            c->value[k] = yaml_new_input(
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

void
yaml_read_component(struct import *m, translated *t, const yaml *entry)
{
    const char *word[2 + MOST_VALUES];
    size_t n = entry->kind == YAML_SCALAR ? yaml_words(m, entry->text, word, 2 + MOST_VALUES) : 0;
    const char *slash = n > 1 ? strchr(word[1], '/') : NULL;
    component c = { .at = entry->at };
    uint32_t sub = n > 1 ? map_get(&m->by_key, yaml_text_key(word[1])) : MAP_NONE;

    if (n < 2) {
        yaml_fail(m, entry->at, "a component is a name and a type, as in `R1 base/R 10`");
        return;
    }
    c.label = word[0];
    if (map_get(&t->parts, yaml_text_key(c.label)) != MAP_NONE) {
        yaml_fail(m, entry->at, "there are two components called \"%s\"", c.label);
        return;
    }
    c.row = slash ? find_row(word[1], (size_t)(slash - word[1]), slash + 1) : NULL;
    if (!c.row && sub == MAP_NONE) {
        yaml_fail(m, entry->at, "\"%s\" is neither a model of this file nor a component that has a counterpart here",
                  word[1]);
        return;
    }
    c.kind = c.row ? c.row->kind : K_INSTANCE;
    c.model = c.row ? NULL : m->model.at[sub];
    c.name = yaml_fresh(m, &t->names, c.label, c.kind == K_JUNCTION ? "j" : "x");
    map_set(&t->parts, yaml_text_key(c.label), (uint32_t)t->part.n);
    if (c.row)
        read_values(m, t, &c, word + 2, n - 2);
    vec_push(&t->part, c);
}
