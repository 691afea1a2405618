/* codegen_c.c - see codegen_c.h */
#include "codegen_c.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char spaces[] = {
    [SP_TIME] = 't', [SP_X] = 'x', [SP_W] = 'w', [SP_P] = 'p', [SP_M] = 'm', [SP_OUT] = 'o'
};

void
c_code_begin(c_code *c)
{
    *c = (c_code){ .arena = arena_new() };
}

void
c_code_end(c_code *c)
{
    strbuf_free(&c->functions);
    strbuf_free(&c->before);
    strbuf_free(&c->inside);
    vec_free(&c->table);
    arena_free(c->arena);
}

void
c_number(strbuf *out, double v)
{
    char text[32];

    if (!isfinite(v)) {
        strbuf_puts(out, isnan(v) ? "NAN" : v > 0 ? "INFINITY" : "-INFINITY");
        return;
    }
    snprintf(text, sizeof text, "%.17g", v);
    strbuf_puts(out, text);
    if (!strpbrk(text, ".e"))
        strbuf_puts(out, ".0");
}

void
c_comment(strbuf *out, const char *text)
{
    strbuf_puts(out, "/* ");
    for (const char *at = text; *at; at++) {
        bool ends = at > text && (*at == '/' || *at == '*') && (at[-1] == '/' || at[-1] == '*');

        if (ends)
            strbuf_puts(out, " ");
        strbuf_printf(out, "%c", (unsigned char)*at < ' ' ? ' ' : *at);
    }
    strbuf_puts(out, " */");
}

/* ---------------------------------------------------------------- values */

static __attribute__((format(printf, 2, 3))) const char *
c_text_of(c_code *c, const char *format, ...)
{
    va_list args;
    char text[128];

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return arena_strdup(c->arena, text);
}

/* Declares a new value: its name, and the line up to its expression. */
static const char *
declare(c_code *c, bool once, const char *type, strbuf **line)
{
    const char *name = c_text_of(c, "v%u", (unsigned)c->nvalues++);

    *line = once && c->kernel ? &c->before : &c->inside;
    strbuf_printf(*line, "%sconst %s %s = ", *line == &c->inside && c->kernel ? "        " : "    ", type, name);
    return name;
}

static code_value
number(void *of, double v)
{
    strbuf b = { 0 };
    const char *text;

    c_number(&b, v);
    text = c_text_of(of, signbit(v) ? "(%s)" : "%s", b.at);
    strbuf_free(&b);
    return text;
}

static const char *
operator_text(enum ex_op op)
{
    switch (op) {
    case EX_ADD: return "+";
    case EX_SUB: return "-";
    case EX_MUL: return "*";
    case EX_DIV: return "/";
    case EX_LT: return "<";
    case EX_LE: return "<=";
    case EX_EQ: return "==";
    case EX_NE: return "!=";
    case EX_AND: return "&&";
    case EX_OR: return "||";
    default: return NULL;
    }
}

static code_value
operate(void *of, bool once, enum ex_op op, const code_value *operand)
{
    const char *sign = operator_text(op), *x = operand[0], *name;
    bool flag = op == EX_LT || op == EX_LE || op == EX_EQ || op == EX_NE || op == EX_AND || op == EX_OR || op == EX_NOT;
    strbuf *line;

    name = declare(of, once, flag ? "int" : "double", &line);
    if (sign)
        strbuf_printf(line, "%s %s %s;\n", x, sign, (const char *)operand[1]);
    else if (op == EX_SELECT)
        strbuf_printf(line, "%s ? %s : %s;\n", x, (const char *)operand[1], (const char *)operand[2]);
    else if (op == EX_NEG || op == EX_NOT)
        strbuf_printf(line, "%s%s;\n", op == EX_NEG ? "-" : "!", x);
    else
        strbuf_printf(line, "%s(%s);\n", op == EX_ABS ? "fabs" : ex_ops[op].name, x);
    return name;
}

static code_value
with_sign(void *of, bool once, code_value m, code_value x)
{
    strbuf *line;
    const char *name = declare(of, once, "double", &line);

    strbuf_printf(line, "copysign(%s, %s);\n", (const char *)m, (const char *)x);
    return name;
}

static code_value
call(void *of, bool once, enum ex_op op, const code_value *operand)
{
    c_code *c = of;
    strbuf *line;
    const char *name = declare(c, once, "double", &line), *x = operand[0], *y = operand[1];

    c->helper[op] = true;
    strbuf_printf(line, "%s(%s", op == EX_LN ? "log" : op == EX_POW ? "pow" : ex_ops[op].name, x);
    if (y)
        strbuf_printf(line, ", %s", y);
    strbuf_puts(line, ");\n");
    return name;
}

static code_value
look_up(void *of, bool once, enum ex_op op, const ex_table *t, code_value piece, code_value x)
{
    c_code *c = of;
    strbuf *line;
    const char *name = declare(c, once, "double", &line);
    size_t k = 0;

    while (k < c->table.n && c->table.at[k] != t)
        k++;
    if (k == c->table.n)
        vec_push(&c->table, t);
    c->helper[op] = true;
    strbuf_printf(line, "%s(&tables[%zu], %s, %s);\n", op == EX_TABLE ? "table_at" : "table_slope", k,
                  piece ? (const char *)piece : "-1.0", (const char *)x);
    return name;
}

static code_value
now(void *of)
{
    (void)of;
    return "t";
}

/* ---------------------------------------------------------------- functions */

static void
begin_text(c_code *c)
{
    c->before.n = c->inside.n = 0;
    c->nvalues = 0;
}

static code_value
finish_function(c_code *c, const char *kind, const char *parameters, const char *middle, const char *end)
{
    const char *name = c_text_of(c, "%s_%u", kind, (unsigned)c->nfunctions++);

    strbuf_printf(&c->functions, "static void\n%s(%s)\n{\n", name, parameters);
    if (c->before.n)
        strbuf_add(&c->functions, c->before.at, c->before.n);
    strbuf_puts(&c->functions, middle);
    if (c->inside.n)
        strbuf_add(&c->functions, c->inside.at, c->inside.n);
    strbuf_printf(&c->functions, "%s}\n\n", end);
    return name;
}

static void
begin_kernel(void *of)
{
    c_code *c = of;

    c->kernel = true;
    begin_text(c);
}

static code_value
origin(void *of, const struct gen_slot *s, uint32_t k)
{
    c_code *c = of;
    strbuf *line;
    const char *name;

    if (s->table) {
        name = declare(c, true, "int32_t *const", &line);
        strbuf_printf(line, "table[%u];\n", (unsigned)k);
    } else if (s->stride) {
        name = declare(c, true, "int64_t", &line);
        strbuf_printf(line, "base[%u];\n", (unsigned)k);
    } else {
        name = declare(c, true, "double", &line);
        strbuf_printf(line, "%c[base[%u]];\n", spaces[s->space], (unsigned)k);
    }
    return name;
}

static code_value
member(void *of, const struct gen_slot *s, code_value from)
{
    strbuf *line;
    const char *name = declare(of, false, "double", &line);

    if (s->table)
        strbuf_printf(line, "%c[%s[i]];\n", spaces[s->space], (const char *)from);
    else if (s->stride == 1)
        strbuf_printf(line, "%c[%s + i];\n", spaces[s->space], (const char *)from);
    else
        strbuf_printf(line, "%c[%s + %d * i];\n", spaces[s->space], (const char *)from, (int)s->stride);
    return name;
}

static code_value
end_kernel(void *of, code_value result)
{
    c_code *c = of;

    strbuf_printf(&c->inside, "        o[obase + i] = %s;\n", (const char *)result);
    return finish_function(
        c, "kernel",
        "double t, const double *x, const double *w, const double *p, const double *m, double *o,\n"
        "    const int64_t *base, const int32_t *const *table, int64_t obase, int64_t begin, int64_t end",
        "    for (int64_t i = begin; i < end; i++) {\n", "    }\n");
}

static const char *
chunk_parameters(bool located)
{
    return located ? "double t, const double *x, double *w, const double *p, const double *m, double *o, const int32_t "
                     "*at"
                   : "double t, const double *x, double *w, const double *p, const double *m, double *o";
}

static void
begin_chunk(void *of, bool located)
{
    c_code *c = of;

    c->kernel = false;
    c->located = located;
    begin_text(c);
}

static code_value
load(void *of, struct gen_ref r)
{
    c_code *c = of;
    strbuf *line;
    const char *name = declare(c, false, "double", &line);

    strbuf_printf(line, c->located ? "%c[at[%u]];\n" : "%c[%u];\n", spaces[r.space], (unsigned)r.index);
    return name;
}

static void
store(void *of, struct gen_ref to, code_value v)
{
    c_code *c = of;

    strbuf_printf(&c->inside, c->located ? "    %c[at[%u]] = %s;\n" : "    %c[%u] = %s;\n", spaces[to.space],
                  (unsigned)to.index, (const char *)v);
}

static code_value
end_chunk(void *of)
{
    c_code *c = of;

    return finish_function(c, "chunk", chunk_parameters(c->located), "", "");
}

static code_value
join(void *of, bool located, const code_value *function, size_t n)
{
    c_code *c = of;

    begin_text(c);
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&c->inside, "    %s(t, x, w, p, m, o%s);\n", (const char *)function[i], located ? ", at" : "");
    return finish_function(c, "chunk", chunk_parameters(located), "", "");
}

const backend codegen_c = BACKEND_OF_THIS_FILE;

/* ---------------------------------------------------------------- what stands above */

/* Functions that the C library lacks, as in eval.c. */
struct helper {
    enum ex_op op;
    const char *text;
};
static const struct helper helpers[] = {
    { EX_SPOW, "static double\n"
               "spow(double x, double e)\n"
               "{\n"
               "    double m = fabs(x);\n\n"
               "    if (e == 2)\n        return x * m;\n"
               "    if (e == 0.5)\n        return copysign(sqrt(m), x);\n"
               "    if (e == 1.5)\n        return x * sqrt(m);\n"
               "    if (e < 0 && m < LEAST_BASE)\n        m = LEAST_BASE;\n"
               "    return copysign(pow(m, e), x);\n"
               "}\n\n" },
    { EX_APOW, "static double\n"
               "apow(double x, double e)\n"
               "{\n"
               "    double m = fabs(x);\n\n"
               "    if (e == 1)\n        return m;\n"
               "    if (e == 0.5)\n        return sqrt(m);\n"
               "    if (e < 0 && m < LEAST_BASE)\n        m = LEAST_BASE;\n"
               "    return e == -0.5 ? 1 / sqrt(m) : pow(m, e);\n"
               "}\n\n" },
    { EX_TABLE,
      "static double\n"
      "table_at(const struct table *f, double piece, double x)\n"
      "{\n"
      "    size_t i;\n\n"
      "    if (piece < 0 && isnan(x))\n        return x;\n"
      "    if (piece < 0)\n        piece = table_piece(f, x);\n"
      "    i = (size_t)piece;\n"
      "    if (i >= 1 && i < f->n && f->x[i] > f->x[i - 1])\n"
      "        return f->y[i - 1] + (x - f->x[i - 1]) * ((f->y[i] - f->y[i - 1]) / (f->x[i] - f->x[i - 1]));\n"
      "    return f->y[i < f->n ? i : f->n - 1];\n"
      "}\n\n" },
    { EX_TABLE_SLOPE, "static double\n"
                      "table_slope(const struct table *f, double piece, double x)\n"
                      "{\n"
                      "    size_t i;\n\n"
                      "    if (piece < 0 && isnan(x))\n        return x;\n"
                      "    if (piece < 0)\n        piece = table_piece(f, x);\n"
                      "    i = (size_t)piece;\n"
                      "    if (i >= 1 && i < f->n && f->x[i] > f->x[i - 1])\n"
                      "        return (f->y[i] - f->y[i - 1]) / (f->x[i] - f->x[i - 1]);\n"
                      "    return 0;\n"
                      "}\n\n" },
};

/* The same for models with a smooth table. It has ends, and is divided where an x stands twice. */
static const char smooth_pieces[] =
    "/* numbers before it are at most x; those from it on are greater */\n"
    "static size_t\n"
    "up_to(const double *at, size_t n, double x)\n"
    "{\n"
    "    size_t lo = 0;\n\n"
    "    while (lo < n) {\n"
    "        size_t mid = lo + (n - lo) / 2;\n\n"
    "        if (at[mid] <= x)\n            lo = mid + 1;\n"
    "        else\n            n = mid;\n"
    "    }\n"
    "    return lo;\n"
    "}\n\n"
    "static double\n"
    "table_piece(const struct table *f, double x)\n"
    "{\n"
    "    return (double)(f->nends ? up_to(f->end, f->nends, x) : up_to(f->x, f->n, x));\n"
    "}\n\n"
    "/* The points around a piece; of a smooth table, the points around x within the piece. 0 where the table is "
    "constant. */\n"
    "static int\n"
    "piece_inside(const struct table *f, double piece, double x, size_t *i)\n"
    "{\n"
    "    size_t first, last;\n\n"
    "    if (!(piece >= 1) || piece >= (double)(f->nends ? f->nends : f->n))\n        return 0;\n"
    "    *i = (size_t)piece;\n"
    "    if (f->nends) {\n"
    "        first = up_to(f->x, f->n, f->end[*i - 1]);\n"
    "        last = up_to(f->x, f->n, f->end[*i]) - 1;\n"
    "        last -= last > first && f->x[last] == f->x[last - 1];\n"
    "        *i = up_to(f->x, f->n, x);\n"
    "        *i = *i < first ? first : *i > last ? last : *i;\n"
    "    }\n"
    "    return f->x[*i] > f->x[*i - 1];\n"
    "}\n\n";
static const struct helper smooth_helpers[] = {
    { EX_TABLE,
      "static double\n"
      "table_at(const struct table *f, double piece, double x)\n"
      "{\n"
      "    size_t i;\n\n"
      "    if (piece < 0 && isnan(x))\n        return x;\n"
      "    if (piece < 0)\n        piece = table_piece(f, x);\n"
      "    if (piece_inside(f, piece, x, &i)) {\n"
      "        double h = f->x[i] - f->x[i - 1], a = f->x[i] - x, b = x - f->x[i - 1],\n"
      "               line = f->y[i - 1] + b * ((f->y[i] - f->y[i - 1]) / h);\n\n"
      "        return f->bend ? line - a * b / (6 * h) * (f->bend[i - 1] * (h + a) + f->bend[i] * (h + b)) : line;\n"
      "    }\n"
      "    return f->y[piece < 1 ? 0 : !f->nends && piece < (double)f->n ? (size_t)piece : f->n - 1];\n"
      "}\n\n" },
    { EX_TABLE_SLOPE, "static double\n"
                      "table_slope(const struct table *f, double piece, double x)\n"
                      "{\n"
                      "    size_t i;\n"
                      "    double h, a, b, slope;\n\n"
                      "    if (piece < 0 && isnan(x))\n        return x;\n"
                      "    if (piece < 0)\n        piece = table_piece(f, x);\n"
                      "    if (!piece_inside(f, piece, x, &i))\n        return 0;\n"
                      "    h = f->x[i] - f->x[i - 1];\n"
                      "    a = f->x[i] - x;\n"
                      "    b = x - f->x[i - 1];\n"
                      "    slope = (f->y[i] - f->y[i - 1]) / h;\n"
                      "    return f->bend ? slope + (f->bend[i - 1] * (h * h - 3 * a * a) + f->bend[i] * (3 * b * b - "
                      "h * h)) / (6 * h)\n"
                      "                   : slope;\n"
                      "}\n\n" },
};

static void
write_column(strbuf *out, const char *name, size_t k, const double *v, size_t n)
{
    strbuf_printf(out, "static const double table_%zu_%s[] = {", k, name);
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(out, i % 6 ? ", " : i ? ",\n    " : "\n    ");
        c_number(out, v[i]);
    }
    strbuf_puts(out, "\n};\n");
}

/* The points of a table; of a smooth one also its second derivatives and the ends of its pieces. */
static void
write_columns(strbuf *out, size_t k, const ex_table *t)
{
    c_comment(out, t->name);
    strbuf_puts(out, "\n");
    write_column(out, "x", k, t->x, t->n);
    write_column(out, "y", k, t->y, t->n);
    if (t->bend)
        write_column(out, "bend", k, t->bend, t->n);
    if (t->nends)
        write_column(out, "end", k, t->end, t->nends);
}

static void
write_tables(const c_code *c, bool smooth, strbuf *out)
{
    for (size_t k = 0; k < c->table.n; k++)
        write_columns(out, k, c->table.at[k]);
    strbuf_printf(out, "static const struct table {\n    const double *x, *y%s;\n    size_t n%s;\n} tables[] = {\n",
                  smooth ? ", *bend, *end" : "", smooth ? ", nends" : "");
    for (size_t k = 0; k < c->table.n; k++) {
        const ex_table *t = c->table.at[k];

        strbuf_printf(out, "    { table_%zu_x, table_%zu_y, ", k, k);
        if (smooth)
            strbuf_printf(out, t->bend ? "table_%zu_bend, " : "NULL, ", k);
        if (smooth)
            strbuf_printf(out, t->nends ? "table_%zu_end, " : "NULL, ", k);
        strbuf_printf(out, smooth ? "%zu, %zu },\n" : "%zu },\n", t->n, t->nends);
    }
    strbuf_puts(out, "};\n\n");
    strbuf_puts(out, smooth ? smooth_pieces
                            : "/* points before it are at most x; those from it on are greater */\n"
                              "static double\n"
                              "table_piece(const struct table *f, double x)\n"
                              "{\n"
                              "    size_t lo = 0, hi = f->n;\n\n"
                              "    while (lo < hi) {\n"
                              "        size_t mid = lo + (hi - lo) / 2;\n\n"
                              "        if (f->x[mid] <= x)\n            lo = mid + 1;\n"
                              "        else\n            hi = mid;\n"
                              "    }\n"
                              "    return (double)lo;\n"
                              "}\n\n");
}

void
c_code_head(const c_code *c, strbuf *out)
{
    bool smooth = false;

    for (size_t k = 0; k < c->table.n; k++)
        smooth |= c->table.at[k]->nends > 0;
    strbuf_puts(out, "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    if (c->table.n)
        write_tables(c, smooth, out);
    if (c->helper[EX_SPOW] || c->helper[EX_APOW])
        strbuf_printf(out, "#define LEAST_BASE %.17g\n\n", EX_LEAST_BASE);
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        const char *text = helpers[i].text;

        for (size_t k = 0; smooth && k < sizeof smooth_helpers / sizeof *smooth_helpers; k++)
            if (smooth_helpers[k].op == helpers[i].op)
                text = smooth_helpers[k].text;
        if (c->helper[helpers[i].op])
            strbuf_puts(out, text);
    }
}
