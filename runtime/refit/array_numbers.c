/* array_numbers.c - see array_numbers.h */
#include "array_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

static bool
is_literal(const ast_expr *e)
{
    return e->kind == AST_NUMBER || (e->kind == AST_NEG && e->un.a->kind == AST_NUMBER);
}

/* Does it consist of numbers without units of their own? */
static bool
is_plain(const ast_expr *e)
{
    if (is_literal(e))
        return true;
    if (e->kind != AST_MATRIX || (e->matrix.rows != 1 && e->matrix.cols != 1))
        return false;
    for (int i = 0; i < e->matrix.rows * e->matrix.cols; i++) {
        const ast_expr *x = e->matrix.entry[i], *number = x->kind == AST_NEG ? x->un.a : x;

        if (!is_literal(x) || ast_number_unit(number))
            return false;
    }
    return true;
}

const ast_stmt *
array_of(const compilation *c, const char *name, size_t *item)
{
    size_t n = strcspn(name, "[");
    char *end;
    const ast_model *m = c->flat->ast;

    if (name[n] != '[' || memchr(name, '.', n))
        return NULL;
    *item = strtoul(name + n + 1, &end, 10);
    if (*item == 0 || strcmp(end, "]") != 0)
        return NULL;
    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];

        if (s->kind == AST_STMT_VALUE && s->value.kind == AST_PARAMETER && s->value.nsize == 1 &&
            strlen(s->value.name) == n && !strncmp(s->value.name, name, n) && s->at.file == c->ast->file &&
            s->value.value && is_plain(s->value.value))
            return s;
    }
    return NULL;
}

static const ast_unit *
array_unit(const ast_stmt *array)
{
    const ast_expr *e = array->value.value, *number = e->kind == AST_NEG ? e->un.a : e;
    const ast_unit *own = e->kind == AST_MATRIX ? e->matrix.unit : ast_number_unit(number);

    return own ? own : array->value.unit;
}

double
array_scale(const compilation *c, const ast_stmt *array)
{
    const ast_unit *written = array_unit(array);
    const char *why;
    const unit *u = written ? unit_parse(c->units, written->text, &why) : NULL;

    if (!written)
        return 1;
    return u && unit_offset(u) == 0 ? unit_scale(u) : NAN;
}

void
array_write(const compilation *c, const ast_stmt *array, const double *value, size_t n, bool shorten, edits *e)
{
    const ast_expr *x = array->value.value, *number = x->kind == AST_NEG ? x->un.a : x;
    const ast_unit *own = x->kind == AST_MATRIX ? x->matrix.unit : ast_number_unit(number);
    const char *text = source_text(c->sources, x->at.file);
    size_t end = own ? own->at.begin : x->at.end;
    strbuf now = { 0 };

    while (end > x->at.begin && (text[end - 1] == ' ' || text[end - 1] == '\n'))
        end--;
    for (size_t i = 0; i < n; i++) {
        char *one = number_written(value[i]);

        strbuf_printf(&now, "%s%s", i ? ", " : "[", one);
        free(one);
    }
    strbuf_puts(&now, "]");
    edits_replace(e, x->at.begin, end, now.at, now.n);
    if (shorten) {
        char *size = bg_format("%zu", n);

        edits_replace(e, array->value.size[0]->at.begin, array->value.size[0]->at.end, size, strlen(size));
        free(size);
    }
    strbuf_free(&now);
}
