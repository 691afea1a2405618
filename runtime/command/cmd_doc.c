/* cmd_doc.c - bgc doc: what the library or a file provides: ports, parameters, and the text of its comments */
#include <string.h>

#include "command.h"
#include "library.h"
#include "report.h"

/* A module of the library, or a file. */
struct module {
    char *name, *path;
};
struct modules {
    VEC(struct module) at;
};

static void
note_module(void *ctx, const char *name, const char *path)
{
    struct modules *m = ctx;

    vec_push(&m->at, ((struct module){ bg_strdup(name), bg_strdup(path) }));
}

static void
modules_free(struct modules *m)
{
    for (size_t i = 0; i < m->at.n; i++) {
        free(m->at.at[i].name);
        free(m->at.at[i].path);
    }
    vec_free(&m->at);
}

/* ---------------------------------------------------------------- comments */

static bool
only_blanks(const char *text, uint32_t from, uint32_t to, int lines)
{
    for (uint32_t i = from; i < to; i++) {
        if (text[i] == '\n')
            lines--;
        else if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    }
    return lines >= 0;
}

static void
add_comment(const char *text, span c, strbuf *out)
{
    uint32_t from = c.begin + 2 + (text[c.begin + 2] == ' '), to = c.end;

    while (to > from && (text[to - 1] == '\r' || text[to - 1] == ' '))
        to--;
    strbuf_printf(out, "%s%.*s", out->n ? "\n" : "", (int)(to > from ? to - from : 0), text + from);
}

/* The lines of comment right above the place, or with at 0 those at the beginning of the file. NULL: none. free()
 * it. */
static char *
comment_above(const compilation *c, uint32_t at)
{
    const char *text = source_text(c->sources, c->ast->file);
    size_t last = 0, first;
    strbuf b = { 0 };

    while (last < c->ast->ncomments && c->ast->comment[last].end <= at)
        last++;
    for (first = last; first > 0; first--) {
        uint32_t below = first == last ? at : c->ast->comment[first].begin;

        if (!only_blanks(text, c->ast->comment[first - 1].end, below, 1))
            break;
    }
    if (!at)
        for (first = last = 0; last < c->ast->ncomments; last++)
            if (!only_blanks(text, last ? c->ast->comment[last - 1].end : 0, c->ast->comment[last].begin, !!last))
                break;
    for (size_t i = first; i < last; i++)
        add_comment(text, c->ast->comment[i], &b);
    return b.at;
}

/* ---------------------------------------------------------------- one model */

static const char *const kinds[] = {
    [AST_PARAMETER] = "parameters", [AST_INPUT] = "inputs", [AST_SIGNAL] = "signals", [AST_OUTPUT] = "outputs"
};
static const enum ast_value_kind shown_kinds[] = { AST_INPUT, AST_PARAMETER, AST_SIGNAL, AST_OUTPUT };

static char *
text_of_span(const compilation *c, span at)
{
    return bg_format("%.*s", (int)(at.end - at.begin), source_text(c->sources, at.file) + at.begin);
}

/* "area [m^2] = 1 [mm^2]"; for a computed value only name and unit. */
static char *
value_line(const compilation *c, const ast_stmt *s)
{
    bool given = s->value.value && (s->value.kind == AST_PARAMETER || s->value.kind == AST_INPUT);
    strbuf b = { 0 };

    strbuf_puts(&b, s->value.name);
    for (int k = 0; k < s->value.nsize; k++) {
        char *size = text_of_span(c, s->value.size[k]->at);

        strbuf_printf(&b, "%s%s%s", k ? ", " : "[", size, k + 1 < s->value.nsize ? "" : "]");
        free(size);
    }
    if (s->value.unit)
        strbuf_printf(&b, " [%s]", s->value.unit->text);
    if (given) {
        char *value = text_of_span(c, s->value.value->at);

        strbuf_printf(&b, " = %s", value);
        free(value);
    }
    return b.at;
}

static void
print_values(const compilation *c, const ast_model *m, enum ast_value_kind kind, json *j)
{
    table t = { .columns = 2, .left = 2, .tail = true };
    bool any = false;

    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];
        char *line;

        if (s->kind != AST_STMT_VALUE || s->value.kind != kind)
            continue;
        line = value_line(c, s);
        if (j) {
            char *value = s->value.value ? text_of_span(c, s->value.value->at) : NULL;

            json_open(j, '{');
            json_key_string(j, "name", s->value.name);
            json_key_string(j, "unit", s->value.unit ? s->value.unit->text : NULL);
            json_key_string(j, "value", value);
            json_key_string(j, "text", s->value.text);
            json_close(j, '}');
            free(value);
        } else {
            if (!any)
                printf("\n%s\n", kinds[kind]);
            table_put(&t, "%s", line);
            table_put(&t, "%s", s->value.text ? s->value.text : "");
        }
        any = true;
        free(line);
    }
    if (!j)
        table_print(&t, stdout, "  ");
}

static void
print_ports(const compilation *c, const ast_model *m, json *j)
{
    bool any = false;

    for (int i = 0; i < m->nstmt; i++)
        for (int k = 0; m->stmt[i]->kind == AST_STMT_PORT && k < m->stmt[i]->port.n; k++) {
            const ast_node *n = &m->stmt[i]->port.junction[k];
            char *name = text_of_span(c, ast_node_ref_at(n));

            if (j) {
                json_open(j, '{');
                json_key_string(j, "name", name);
                json_key_string(j, "junction", n->own->type);
                json_key_string(j, "domain", n->own->more->domain);
                json_close(j, '}');
            } else {
                put_text(stdout, "%s  %s:%s%s%s\n", any ? "" : "\nports\n", n->own->type, name,
                         n->own->more->domain ? " in " : "", n->own->more->domain ? n->own->more->domain : "");
            }
            any = true;
            free(name);
        }
}

static void
print_model(const compilation *c, const char *module, const ast_model *m)
{
    char *comment = comment_above(c, m->at.begin);

    put_text(stdout, "%s%s%s%s%s%s\n", module, *module ? "." : "", m->name, m->text ? " \"" : "",
             m->text ? m->text : "", m->text ? "\"" : "");
    for (char *line = comment ? strtok(comment, "\n") : NULL; line; line = strtok(NULL, "\n"))
        put_text(stdout, "  %s\n", line);
    print_ports(c, m, NULL);
    for (int i = 0; i < m->nsize; i++) {
        char *value = text_of_span(c, m->size[i].value->at);

        put_text(stdout, "%s  %s = %s\n", i ? "" : "\nsizes\n", m->size[i].name, value);
        free(value);
    }
    for (size_t i = 0; i < sizeof shown_kinds / sizeof *shown_kinds; i++)
        print_values(c, m, shown_kinds[i], NULL);
    if (*module)
        put_text(stdout, "\nimport %s;\n", module);
    free(comment);
}

static void
json_model(json *j, const compilation *c, const ast_model *m)
{
    char *comment = comment_above(c, m->at.begin);

    json_open(j, '{');
    json_key_string(j, "name", m->name);
    json_key_string(j, "text", m->text);
    json_key_string(j, "comment", comment);
    json_key(j, "ports");
    json_open(j, '[');
    print_ports(c, m, j);
    json_close(j, ']');
    json_key(j, "sizes");
    json_open(j, '[');
    for (int i = 0; i < m->nsize; i++) {
        char *value = text_of_span(c, m->size[i].value->at);

        json_open(j, '{');
        json_key_string(j, "name", m->size[i].name);
        json_key_string(j, "value", value);
        json_close(j, '}');
        free(value);
    }
    json_close(j, ']');
    for (size_t i = 0; i < sizeof shown_kinds / sizeof *shown_kinds; i++) {
        json_key(j, kinds[shown_kinds[i]]);
        json_open(j, '[');
        print_values(c, m, shown_kinds[i], j);
        json_close(j, ']');
    }
    json_close(j, '}');
    free(comment);
}

/* ---------------------------------------------------------------- one module */

/* The first sentence of a text, or its first line. */
static int
first_sentence(const char *text)
{
    size_t line = strcspn(text, "\n");
    const char *stop = strstr(text, ". ");

    return stop && (size_t)(stop - text) < line ? (int)(stop - text + 1) : (int)line;
}

static void
print_module(const compilation *c, const char *name)
{
    char *about = comment_above(c, 0);
    table t = { .columns = 2, .left = 2, .tail = true };

    put_text(stdout, "%s%s%.*s\n", name, about ? "  " : "", about ? first_sentence(about) : 0, about ? about : "");
    free(about);
    for (size_t i = 0; i < c->ast->ndecls; i++) {
        const ast_decl *d = &c->ast->decl[i];

        switch (d->kind) {
        case AST_DECL_MODEL:
            table_put(&t, "%s", d->model->name);
            table_put(&t, "%s", d->model->text ? d->model->text : "");
            break;
        case AST_DECL_FUNCTION: {
            strbuf b = { 0 };

            for (int k = 0; k < d->function->nargs; k++)
                strbuf_printf(&b, "%s%s", k ? ", " : "", d->function->arg[k].name);
            table_put(&t, "%s(%s)", d->function->name, b.at ? b.at : "");
            table_put(&t, "function");
            strbuf_free(&b);
            break;
        }
        case AST_DECL_DOMAIN:
            table_put(&t, "domain %s", d->domain->name);
            table_put(&t, "%s, %s", d->domain->effort ? d->domain->effort : "effort",
                      d->domain->flow ? d->domain->flow : "flow");
            break;
        default: break;
        }
    }
    table_print(&t, stdout, "  ");
}

static char *
nearest_model(const compilation *c, const char *name)
{
    VEC(const char *) list = { 0 };
    const char *near;

    for (size_t i = 0; i < c->ast->ndecls; i++)
        if (c->ast->decl[i].kind == AST_DECL_MODEL)
            vec_push(&list, c->ast->decl[i].model->name);
    near = nearest_name(name, list.at, list.n);
    vec_free(&list);
    return near ? bg_strdup(near) : NULL;
}

/* Shows a module, or its model `name`. STATUS_USAGE: it has none; *near (free() it) is a similar name, or NULL. */
static int
show_module(const request *q, const struct module *m, const char *name, json *j, char **near)
{
    compilation c = { 0 };
    int status = STATUS_DONE;
    bool found = !name;

    if (!compile_path(&c, m->path, STAGE_PARSE, NULL)) {
        if (c.unreadable)
            status = complain_file(m->path);
        else
            print_diagnostics(q, c.sources), status = STATUS_MODEL;
    } else if (!name && !j) {
        print_module(&c, m->name);
    } else {
        for (size_t i = 0; i < c.ast->ndecls; i++) {
            const ast_decl *d = &c.ast->decl[i];

            if (d->kind != AST_DECL_MODEL || (name && strcmp(d->model->name, name)))
                continue;
            found = true;
            if (j)
                json_model(j, &c, d->model);
            else
                print_model(&c, has_suffix(m->name, ".bg") ? "" : m->name, d->model);
        }
        if (!found) {
            *near = nearest_model(&c, name);
            status = STATUS_USAGE;
        }
    }
    compile_free(&c);
    return status;
}

/* ---------------------------------------------------------------- lookup of the requested name */

/* The module with which the words begin ("mechanics.rotation" of "mechanics.rotation.Shaft"); *rest is what follows, or
 * NULL. */
static const struct module *
find_module(const struct modules *all, const char *asked, const char **rest)
{
    for (size_t i = 0; i < all->at.n; i++) {
        size_t n = strlen(all->at.at[i].name);

        if (!strncmp(asked, all->at.at[i].name, n) && (!asked[n] || asked[n] == '.')) {
            *rest = asked[n] ? asked + n + 1 : NULL;
            return &all->at.at[i];
        }
    }
    return NULL;
}

static int
not_found(const struct modules *all, const char *asked)
{
    VEC(const char *) list = { 0 };
    const char *near;

    for (size_t i = 0; i < all->at.n; i++)
        vec_push(&list, all->at.at[i].name);
    near = nearest_name(asked, list.at, list.n);
    if (near)
        complain("the standard library has no \"%s\"; did you mean \"%s\"?", asked, near);
    else
        complain("the standard library has no \"%s\"; `bgc doc` lists it", asked);
    vec_free(&list);
    return STATUS_USAGE;
}

/* Shows a model of this name from any module. */
static int
show_anywhere(const request *q, const struct modules *all, const char *name, json *j)
{
    int found = STATUS_USAGE;

    for (size_t i = 0; i < all->at.n; i++) {
        char *near = NULL;
        int status = show_module(q, &all->at.at[i], name, j, &near);

        free(near);
        if (status != STATUS_USAGE)
            found = status;
    }
    return found;
}

static int
show_asked(const request *q, const struct modules *all, const char *asked, json *j)
{
    const char *name = q->file.n > 1 ? q->file.at[1] : NULL;
    const struct module *m = NULL;
    struct module file = { (char *)asked, (char *)asked };
    char *near = NULL;
    int status;

    if (has_suffix(asked, ".bg") || strchr(asked, '/'))
        m = &file;
    else if ((m = find_module(all, asked, &name)) != NULL && !name && q->file.n > 1)
        name = q->file.at[1];
    status = m ? show_module(q, m, name, j, &near) : show_anywhere(q, all, asked, j);
    if (status == STATUS_USAGE && near)
        complain("%s has no model \"%s\"; did you mean \"%s\"?", m->name, name, near);
    else if (status == STATUS_USAGE && m)
        complain("%s has no model \"%s\"; `bgc doc %s` lists what it has", m->name, name, m->name);
    else if (status == STATUS_USAGE)
        not_found(all, asked);
    free(near);
    return status;
}

int
cmd_doc(const request *q)
{
    struct modules all = { { 0 } };
    json j = { .out = stdout }, *to = q->json ? &j : NULL;
    int status = STATUS_DONE;

    library_each(note_module, &all);
    if (to)
        json_open(to, '[');
    if (q->file.n)
        status = show_asked(q, &all, q->file.at[0], to);
    for (size_t i = 0; !q->file.n && i < all.at.n && status == STATUS_DONE; i++) {
        if (i && !to)
            putchar('\n');
        status = show_module(q, &all.at.at[i], NULL, to, NULL);
    }
    if (to)
        json_close(to, ']');
    modules_free(&all);
    return status;
}
