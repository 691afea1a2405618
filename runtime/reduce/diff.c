/* diff.c - the differences of two models
 *
 * Each model becomes a list of parts with their properties as text; the lists are matched by kind and name through a
 * hash map.
 */
#include <string.h>

#include "diff.h"

enum { PROPERTIES = 4 };

struct item {
    enum diff_what what;
    char *name;
    struct {
        const char *label;
        char *text;
    } property[PROPERTIES];
    int n;
    bool matched;
};
struct items {
    VEC(struct item) at;
    map by_name;
};

const char *
diff_what_name(enum diff_what w)
{
    static const char *const name[] = {
        [DIFF_ELEMENT] = "element",      [DIFF_JUNCTION] = "junction", [DIFF_BOND] = "bond",
        [DIFF_PARAMETER] = "parameter",  [DIFF_SIGNAL] = "signal",     [DIFF_OUTPUT] = "output",
        [DIFF_EXPERIMENT] = "experiment"
    };
    return name[w];
}

static uint64_t
key_of_item(enum diff_what what, const char *name)
{
    return bg_hash_bytes(name, strlen(name), (uint64_t)what + 1);
}

/* Of parallel bonds or equal names only the first is listed. */
static struct item *
put_item(struct items *l, enum diff_what what, char *name)
{
    struct item x = { .what = what, .name = name };
    uint64_t key = key_of_item(what, name);

    if (map_get(&l->by_name, key) != MAP_NONE) {
        free(name);
        return NULL;
    }
    map_set(&l->by_name, key, (uint32_t)l->at.n);
    vec_push(&l->at, x);
    return &l->at.at[l->at.n - 1];
}

static void
property(struct item *x, const char *label, strbuf *text)
{
    x->property[x->n].label = label;
    x->property[x->n].text = bg_strdup(text->at ? text->at : "");
    x->n++;
    strbuf_free(text);
    *text = (strbuf){ 0 };
}

static char *
junction_name(const flat_model *f, uint32_t j)
{
    const flat_junction *x = &f->junction.at[j];
    strbuf b = { 0 };
    bool any = false;

    if (!x->implicit)
        return bg_strdup(x->name);
    strbuf_puts(&b, "the bond of ");
    for (uint32_t k = 0; k < x->ninc; k++) {
        const flat_incidence *i = &f->incidence.at[x->inc0 + k];

        if (!i->is_bond) {
            strbuf_printf(&b, "%s%s", any ? ", " : "", f->element.at[f->port.at[i->index].element].name);
            any = true;
        }
    }
    return b.at;
}

static void
put_expression(const flat_model *f, inst i, strbuf *b)
{
    if (inst_known(i))
        flat_print(f, i, b);
}

static void
list_elements(const flat_model *f, struct items *l)
{
    strbuf *initial = bg_calloc(f->element.n, sizeof *initial);

    for (size_t i = 0; i < f->initial.n; i++) {
        const flat_initial *x = &f->initial.at[i];
        strbuf *b;

        if (x->port == NONE)
            continue;
        b = &initial[f->port.at[x->port].element];
        strbuf_printf(b, "%s%s(0) = ", b->n ? ", " : "", quantity_letter(x->q));
        put_expression(f, x->def, b);
    }
    for (size_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];
        struct item *x = put_item(l, DIFF_ELEMENT, bg_strdup(e->name));
        strbuf b = { 0 };

        if (!x)
            continue;
        strbuf_printf(&b, "%s%s", e->modulated ? "M" : "", element_type_name(e->type));
        property(x, "type", &b);
        for (uint32_t k = 0; k < e->nports; k++) {
            const flat_port *p = &f->port.at[e->port0 + k];
            char *j = junction_name(f, p->junction);

            strbuf_printf(&b, "%s%s %s", k ? ", " : "", p->sign > 0 ? "from" : "to", j);
            free(j);
        }
        property(x, "bonds", &b);
        for (uint32_t k = 0; k < e->nlaws; k++) {
            const flat_law *law = &f->law.at[e->law0 + k];

            if (k)
                strbuf_puts(&b, "; ");
            if (law->kind == LAW_ASSIGN)
                strbuf_printf(&b, "%s = ", quantity_letter(law->out));
            put_expression(f, law->def, &b);
            if (law->kind == LAW_RESIDUAL)
                strbuf_puts(&b, " = 0");
        }
        property(x, "law", &b);
        property(x, "initial value", &initial[i]);
    }
    for (size_t i = 0; i < f->element.n; i++)
        strbuf_free(&initial[i]);
    free(initial);
}

static void
list_junctions(const flat_model *f, struct items *l)
{
    for (size_t i = 0; i < f->junction.n; i++) {
        struct item *x = f->junction.at[i].implicit ? NULL
                                                    : put_item(l, DIFF_JUNCTION, bg_strdup(f->junction.at[i].name));
        strbuf b = { 0 };

        if (!x)
            continue;
        strbuf_printf(&b, "%d", f->junction.at[i].type);
        property(x, "type", &b);
    }
    for (size_t i = 0; i < f->bond.n; i++) {
        char *from = junction_name(f, f->bond.at[i].from), *to = junction_name(f, f->bond.at[i].to);

        put_item(l, DIFF_BOND, bg_format("%s -> %s", from, to));
        free(from);
        free(to);
    }
}

static bool
has_name(const map *m, const char *name)
{
    return map_get(m, bg_hash_bytes(name, strlen(name), 0)) != MAP_NONE;
}

static void
list_values(const flat_model *f, struct items *l)
{
    map outputs = { 0 }, declared = { 0 };
    strbuf b = { 0 };

    for (size_t i = 0; i < f->output.n; i++)
        map_set(&outputs, bg_hash_bytes(f->output.at[i].name, strlen(f->output.at[i].name), 0), 1);
    for (int i = 0; i < f->ast->nstmt; i++)
        if (f->ast->stmt[i]->kind == AST_STMT_VALUE) {
            const char *name = f->ast->stmt[i]->value.name;

            map_set(&declared, bg_hash_bytes(name, strlen(name), 0), 1);
        }
    for (size_t i = 0; i < f->var.n; i++) {
        const flat_var *v = &f->var.at[i];
        struct item *x;

        if ((v->kind != VAR_PARAM && v->kind != VAR_SIGNAL) || !var_name(f, i) || has_name(&outputs, var_name(f, i)) ||
            !has_name(&declared, var_name(f, i)))
            continue;
        if (!(x = put_item(l, v->kind == VAR_PARAM ? DIFF_PARAMETER : DIFF_SIGNAL, bg_strdup(var_name(f, i)))))
            continue;
        put_expression(f, var_def(f, i), &b);
        property(x, "value", &b);
    }
    for (size_t i = 0; i < f->output.n; i++) {
        struct item *x = put_item(l, DIFF_OUTPUT, bg_strdup(f->output.at[i].name));

        if (!x)
            continue;
        put_expression(f, f->output.at[i].def, &b);
        property(x, "value", &b);
        if (f->output.at[i].display)
            strbuf_puts(&b, unit_text(f->output.at[i].display));
        property(x, "unit", &b);
    }
    map_free(&outputs);
    map_free(&declared);
}

static void
free_items(struct items *l)
{
    for (size_t i = 0; i < l->at.n; i++) {
        free(l->at.at[i].name);
        for (int k = 0; k < l->at.at[i].n; k++)
            free(l->at.at[i].property[k].text);
    }
    vec_free(&l->at);
    map_free(&l->by_name);
}

static char *
list_changes(const struct item *a, const struct item *b)
{
    strbuf s = { 0 };

    for (int k = 0; k < a->n && k < b->n; k++) {
        const char *x = a->property[k].text, *y = b->property[k].text;

        if (strcmp(x, y))
            strbuf_printf(&s, "%s%s: %s -> %s", s.n ? "; " : "", a->property[k].label, *x ? x : "none",
                          *y ? y : "none");
    }
    return s.at;
}

void
diff_make(const flat_model *a, const flat_model *b, diff *out)
{
    struct items x = { { 0 }, { 0 } }, y = { { 0 }, { 0 } };

    memset(out, 0, sizeof *out);
    list_elements(a, &x);
    list_junctions(a, &x);
    list_values(a, &x);
    list_elements(b, &y);
    list_junctions(b, &y);
    list_values(b, &y);
    for (size_t i = 0; i < x.at.n; i++) {
        const struct item *p = &x.at.at[i];
        uint32_t k = map_get(&y.by_name, key_of_item(p->what, p->name));
        char *change;

        if (k == MAP_NONE) {
            vec_push(&out->removed, ((diff_entry){ p->what, bg_strdup(p->name), NULL }));
            continue;
        }
        y.at.at[k].matched = true;
        if ((change = list_changes(p, &y.at.at[k])) != NULL)
            vec_push(&out->changed, ((diff_entry){ p->what, bg_strdup(p->name), change }));
    }
    for (size_t k = 0; k < y.at.n; k++)
        if (!y.at.at[k].matched)
            vec_push(&out->added, ((diff_entry){ y.at.at[k].what, bg_strdup(y.at.at[k].name), NULL }));
    free_items(&x);
    free_items(&y);
}

void
diff_free(diff *d)
{
    for (size_t i = 0; i < d->removed.n; i++)
        free(d->removed.at[i].name);
    for (size_t i = 0; i < d->added.n; i++)
        free(d->added.at[i].name);
    for (size_t i = 0; i < d->changed.n; i++) {
        free(d->changed.at[i].name);
        free(d->changed.at[i].change);
    }
    vec_free(&d->removed);
    vec_free(&d->added);
    vec_free(&d->changed);
}
