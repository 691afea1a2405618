/* scopes.c - finding names, the nearest of them, and the text of a place for messages */
#include <ctype.h>
#include <string.h>

#include "elab.h"

enum { LONGEST_QUOTE = 60 };

uint32_t
find_value(const elab *el, const scope *in, const char *name)
{
    for (; in; in = in->parent) {
        uint32_t at = map_get(&el->values, scope_key(in, name));

        if (at != MAP_NONE)
            return at;
    }
    return NONE;
}

uint32_t
find_part(const elab *el, const scope *in, const char *name)
{
    return map_get(&el->parts, scope_key(in, name));
}

bool
refused_before(const elab *el, const scope *in, const char *name)
{
    return el->incomplete || map_get(&el->refused, scope_key(in, name)) != MAP_NONE;
}

bool
errors_are_many(const elab *el)
{
    return diag_errors(el->s) > SOURCES_MAX_ERRORS;
}

const char *
nearest_value(const elab *el, const scope *in, const char *wrong)
{
    const char **list, *near;
    size_t n = 0;

    if (errors_are_many(el))
        return NULL;
    list = bg_calloc(el->value.n + 1, sizeof *list);
    for (size_t k = 0; k < el->value.n; k++)
        if (el->value.at[k].in == in || el->value.at[k].in == in->parent)
            list[n++] = el->value.at[k].name;
    list[n++] = "time";
    near = nearest_name(wrong, list, n);
    free(list);
    return near;
}

const char *
nearest_part(const elab *el, const scope *in, const char *wrong)
{
    const char **list, *near;

    (void)in;
    if (errors_are_many(el))
        return NULL;
    list = bg_calloc(el->part.n, sizeof *list);
    for (size_t k = 0; k < el->part.n; k++)
        list[k] = el->part.at[k].name;
    near = nearest_name(wrong, list, el->part.n);
    free(list);
    return near;
}

const char *
whole_text_of(elab *el, span at)
{
    const char *text = source_text(el->s, at.file);
    size_t n = source_length(el->s, at.file);
    strbuf b = { 0 };
    const char *copy;

    for (size_t i = at.begin; i < at.end && i < n; i++) {
        bool blank = isspace((unsigned char)text[i]);

        if (!blank)
            strbuf_add(&b, text + i, 1);
        else if (b.n && b.at[b.n - 1] != ' ')
            strbuf_puts(&b, " ");
    }
    copy = arena_strdup(el->a, b.n ? b.at : "");
    strbuf_free(&b);
    return copy;
}

const char *
text_of(elab *el, span at)
{
    size_t keep = LONGEST_QUOTE - 3;

    if (at.end - at.begin <= LONGEST_QUOTE)
        return whole_text_of(el, at);
    while (keep && ((unsigned char)source_text(el->s, at.file)[at.begin + keep] & 0xc0) == 0x80)
        keep--;
    return arena_format(el->a, "%s...", whole_text_of(el, (span){ at.file, at.begin, at.begin + (uint32_t)keep }));
}

const unit *
read_unit(elab *el, const ast_unit *written)
{
    const char *why;
    const unit *u;

    if (!written)
        return NULL;
    u = unit_parse(el->u, written->text, &why);
    if (!u)
        diag_error(el->s, "unit-unknown", written->at, "%s", why);
    return u;
}

void
not_built(elab *el, span at, const char *what)
{
    diag_error(el->s, "not-built", at, "%s not built yet", what);
}

bool
refuse_unbuilt_ref(elab *el, const ast_ref *r)
{
    for (int k = 0; k < r->nparts; k++) {
        if (r->part[k].nindex) {
            if (!refused_before(el, &el->model_scope, r->part[0].name))
                not_built(el, r->part[k].index_at, "arrays and indexes are");
            return true;
        }
    }
    return false;
}

inst
set_inst(elab *el, double x)
{
    return flat_inst(el->f, ex_const(el->pool, x), NULL, 0);
}

void
said_twice(elab *el, span at, const char *name, span before)
{
    diag_error(el->s, "name-twice", at, "\"%s\" is declared twice", name);
    diag_note(el->s, before, "the first one is here");
}
