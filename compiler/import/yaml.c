/* yaml.c - see yaml.h; works line by line
 *
 * A line belongs to the innermost open map or list with its indentation. A key or dash without a value takes what the
 * next, deeper line contains. No recursion.
 */
#include <ctype.h>
#include <string.h>

#include "yaml.h"

struct frame {
    size_t indent;
    yaml *container;
};

struct reader {
    sources *s;
    arena *a;
    uint32_t file;
    const char *text;
    VEC(struct frame) open;
    yaml *root, *waiting; /* waiting: a key or dash without a value yet */
    yaml *scalar;         /* the last plain scalar, which deeper lines continue */
    size_t skip;          /* deeper lines than this belong to a line with an error; NO_INDEX: none */
    bool bad;
};

static void
refuse_line(struct reader *r, size_t begin, size_t end, const char *what)
{
    diag_error(r->s, "yaml", (span){ r->file, (uint32_t)begin, (uint32_t)(end > begin ? end : begin + 1) }, "%s", what);
    r->bad = true;
}

static yaml *
new_item(struct reader *r, yaml *to, span at)
{
    yaml *x = arena_alloc(r->a, sizeof *x);

    x->at = at;
    x->parent = to;
    if (to->last)
        to->last->next = x;
    else
        to->child = x;
    to->last = x;
    to->n++;
    return x;
}

/* End (after the quote) of a quoted text that begins at i, or 0. */
static size_t
quoted_end(const char *t, size_t i, size_t end)
{
    char quote = t[i++];

    while (i < end) {
        if (quote == '"' && t[i] == '\\' && i + 1 < end)
            i += 2;
        else if (t[i] == quote && quote == '\'' && i + 1 < end && t[i + 1] == '\'')
            i += 2;
        else if (t[i++] == quote)
            return i;
    }
    return 0;
}

static const char *
unquoted(struct reader *r, size_t begin, size_t end)
{
    const char *t = r->text;
    strbuf b = { 0 };
    char quote = begin < end ? t[begin] : 0;
    const char *copy;

    if (quote != '"' && quote != '\'')
        return arena_strndup(r->a, t + begin, end - begin);
    for (size_t i = begin + 1; i + 1 < end; i++) {
        if (quote == '"' && t[i] == '\\' && i + 2 < end)
            i++;
        else if (quote == '\'' && t[i] == '\'' && i + 2 < end)
            i++;
        strbuf_add(&b, t + i, 1);
    }
    copy = arena_strdup(r->a, b.at ? b.at : "");
    strbuf_free(&b);
    return copy;
}

/* Position after the colon of `key:` at i, or 0. *key_end: end of the key. */
static size_t
key_end(const char *t, size_t i, size_t end, size_t *at)
{
    size_t k = i;

    if (k < end && (t[k] == '"' || t[k] == '\'')) {
        k = quoted_end(t, i, end);
        if (!k)
            return 0;
        *at = k;
        while (k < end && t[k] == ' ')
            k++;
        return k < end && t[k] == ':' && (k + 1 == end || t[k + 1] == ' ') ? k + 1 : 0;
    }
    for (; k < end; k++)
        if (t[k] == ':' && (k + 1 == end || t[k + 1] == ' ')) {
            *at = k;
            return k + 1;
        }
    return 0;
}

static void
set_scalar(struct reader *r, yaml *x, size_t begin, size_t end)
{
    const char *t = r->text;
    bool quote = t[begin] == '"' || t[begin] == '\'';

    x->at = (span){ r->file, (uint32_t)begin, (uint32_t)end };
    if ((end - begin == 1 && t[begin] == '~') || (end - begin == 4 && !memcmp(t + begin, "null", 4)))
        return;
    if (quote && quoted_end(t, begin, end) != end) {
        refuse_line(r, begin, end, "the quotes of this text do not close on its line");
        return;
    }
    x->kind = YAML_SCALAR;
    x->text = unquoted(r, begin, end);
    r->scalar = quote ? NULL : x;
}

/* [a, b] on one line */
static void
flow_list(struct reader *r, yaml *x, size_t begin, size_t end)
{
    const char *t = r->text;
    size_t i = begin + 1;

    x->kind = YAML_LIST;
    while (i < end - 1) {
        size_t stop;

        while (i < end - 1 && (t[i] == ' ' || t[i] == ','))
            i++;
        if (i >= end - 1)
            break;
        if (t[i] == '[' || t[i] == '{') {
            refuse_line(r, i, end, "lists inside a list in brackets are not understood");
            return;
        }
        stop = t[i] == '"' || t[i] == '\'' ? quoted_end(t, i, end - 1) : 0;
        if (!stop)
            for (stop = i; stop < end - 1 && t[stop] != ','; stop++)
                ;
        begin = i;
        i = stop;
        while (stop > begin && t[stop - 1] == ' ')
            stop--;
        set_scalar(r, new_item(r, x, (span){ r->file, (uint32_t)begin, (uint32_t)stop }), begin, stop);
    }
    r->scalar = NULL;
}

static void
set_value(struct reader *r, yaml *x, size_t begin, size_t end)
{
    const char *t = r->text;

    r->waiting = NULL;
    if (t[begin] == '[' && t[end - 1] == ']')
        flow_list(r, x, begin, end);
    else if (t[begin] == '{' && t[end - 1] == '}' && end - begin <= 3)
        x->kind = YAML_MAP;
    else if (strchr("[{&*!|>%@`", t[begin]))
        refuse_line(r, begin, end,
                    "this part of YAML is not understood: model files have keys, dashes and plain values");
    else
        set_scalar(r, x, begin, end);
}

/* The container to which a line with this indentation belongs, or NULL after an error. */
static yaml *
container(struct reader *r, size_t indent, bool dash, size_t begin, size_t end)
{
    struct frame *top;

    while (r->open.n) {
        top = &r->open.at[r->open.n - 1];
        if (indent > top->indent || (indent == top->indent && (top->container->kind == YAML_MAP || dash)))
            break;
        r->open.n--;
    }
    top = r->open.n ? &r->open.at[r->open.n - 1] : NULL;
    if (top && indent == top->indent && (top->container->kind == YAML_LIST) == dash)
        return top->container;
    if (!top && !r->root->kind) {
        r->root->kind = dash ? YAML_LIST : YAML_MAP;
        vec_push(&r->open, ((struct frame){ indent, r->root }));
        return r->root;
    }
    if (!top || !r->waiting || r->waiting->parent != top->container) {
        refuse_line(r, begin, end, "the indentation of this line fits no line before it");
        return NULL;
    }
    r->waiting->kind = dash ? YAML_LIST : YAML_MAP;
    vec_push(&r->open, ((struct frame){ indent, r->waiting }));
    return r->waiting;
}

/* Reads a significant line, from its first letter to its last, without comments and blanks. */
static void
read_line(struct reader *r, size_t indent, size_t begin, size_t end)
{
    const char *t = r->text;

    for (;;) {
        bool dash = t[begin] == '-' && (begin + 1 == end || t[begin + 1] == ' ');
        size_t at = 0, behind = dash ? begin + 1 : key_end(t, begin, end, &at);
        yaml *in, *x;

        if (!behind) {
            if (r->waiting) {
                set_value(r, r->waiting, begin, end);
            } else if (r->scalar) {
                r->scalar->text = arena_format(r->a, "%s %s", r->scalar->text, unquoted(r, begin, end));
                r->scalar->at.end = (uint32_t)end;
            } else {
                refuse_line(r, begin, end,
                            "this line is neither a key, as in `root: rlc`, nor an entry, as in `- R base/R 1`");
            }
            return;
        }
        in = container(r, indent, dash, begin, end);
        if (!in)
            return;
        x = new_item(r, in, (span){ r->file, (uint32_t)begin, (uint32_t)(dash ? behind : at) });
        if (!dash)
            x->key = unquoted(r, begin, at);
        r->waiting = x;
        r->scalar = NULL;
        at = begin;
        for (begin = behind; begin < end && t[begin] == ' '; begin++)
            ;
        if (begin == end)
            return;
        if (!dash || !(key_end(t, begin, end, &(size_t){ 0 }) ||
                       (t[begin] == '-' && (begin + 1 == end || t[begin + 1] == ' ')))) {
            set_value(r, x, begin, end);
            return;
        }
        indent += begin - at; /* `- key: value`: a map inside the entry */
    }
}

/* Lines that belong to a line with an error are skipped. */
static void
line(struct reader *r, size_t indent, size_t begin, size_t end)
{
    size_t errors = diag_errors(r->s);

    if (r->skip != NO_INDEX && indent > r->skip)
        return;
    r->skip = NO_INDEX;
    read_line(r, indent, begin, end);
    if (diag_errors(r->s) > errors)
        r->skip = indent;
}

/* End of a line's contents, before its comment and trailing blanks. */
static size_t
contents_end(const char *t, size_t begin, size_t end)
{
    size_t i = begin;

    while (i < end) {
        if ((t[i] == '"' || t[i] == '\'') && (i == begin || t[i - 1] == ' ' || t[i - 1] == '[' || t[i - 1] == ',')) {
            size_t close = quoted_end(t, i, end);

            i = close ? close : i + 1;
        } else if (t[i] == '#' && (i == begin || t[i - 1] == ' ' || t[i - 1] == '\t')) {
            break;
        } else {
            i++;
        }
    }
    while (i > begin && isspace((unsigned char)t[i - 1]))
        i--;
    return i;
}

const yaml *
yaml_read(sources *s, arena *a, uint32_t file)
{
    size_t n = source_length(s, file), i = 0;
    struct reader r = { .s = s, .a = a, .file = file, .text = source_text(s, file), .skip = NO_INDEX };

    r.root = arena_alloc(a, sizeof *r.root);
    r.root->at = (span){ file, 0, 0 };
    while (i < n) {
        const char *stop = memchr(r.text + i, '\n', n - i);
        size_t next = stop ? (size_t)(stop - r.text) + 1 : n, begin = i, end;

        while (begin < next && r.text[begin] == ' ')
            begin++;
        end = contents_end(r.text, begin, next);
        if (end > begin && r.text[begin] == '\t')
            refuse_line(&r, begin, end, "YAML is indented by blanks, not by tabs");
        else if (end > begin &&
                 !(begin == i && end - begin >= 3 &&
                   (!memcmp(r.text + begin, "---", 3) || !memcmp(r.text + begin, "...", 3))) &&
                 r.text[begin] != '%')
            line(&r, begin - i, begin, end);
        i = next;
    }
    vec_free(&r.open);
    return r.bad ? NULL : r.root;
}

const yaml *
yaml_find(const yaml *in, const char *key)
{
    if (!in || in->kind != YAML_MAP)
        return NULL;
    for (const yaml *x = in->child; x; x = x->next)
        if (!strcmp(x->key, key))
            return x;
    return NULL;
}
