/* linear_symbolic.c - see linear_symbolic.h */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "linear_symbolic.h"
#include "report.h"
#include "compiled.h"

/* ---------------------------------------------------------------- names in LaTeX */

struct naming {
    const flat_model *f;
    char **made;
}; /* [var] made when first needed: names in LaTeX, or negative numbers for literals of the text */

static const char *
latex_slot(void *ctx, uint32_t slot)
{
    struct naming *n = ctx;
    const flat_var *v = &n->f->var.at[slot];

    if (v->kind != VAR_LITERAL || *var_name(n->f, slot) != '-')
        return var_name(n->f, slot);
    if (!n->made[slot])
        n->made[slot] = bg_format("(%s)", var_name(n->f, slot));
    return n->made[slot];
}

/* Single letters and names of Greek letters are symbols, other words are set upright. */
static void
put_latex_word(strbuf *out, const char *s, size_t n)
{
    static const char *const greek[] = { "alpha", "beta",  "gamma",  "delta",  "epsilon", "zeta", "eta",
                                         "theta", "kappa", "lambda", "mu",     "nu",      "xi",   "pi",
                                         "rho",   "sigma", "tau",    "phi",    "chi",     "psi",  "omega",
                                         "Gamma", "Delta", "Theta",  "Lambda", "Phi",     "Psi",  "Omega" };
    bool digits = true;

    for (size_t i = 0; i < sizeof greek / sizeof *greek; i++)
        if (strlen(greek[i]) == n && !strncmp(greek[i], s, n)) {
            strbuf_printf(out, "\\%s", greek[i]);
            return;
        }
    for (size_t i = 0; i < n; i++)
        digits = digits && isdigit((unsigned char)s[i]);
    if (n == 1 || digits) {
        strbuf_printf(out, "%.*s", (int)n, s);
        return;
    }
    strbuf_puts(out, "\\mathrm{");
    for (size_t i = 0; i < n; i++)
        strbuf_printf(out, strchr("_#&%${}", s[i]) ? "\\%c" : "%c", s[i]);
    strbuf_puts(out, "}");
}

/* A number of the text with its unit, such as "4 [N.s/m]": upright, products with a thin space. */
static char *
latex_literal(const char *text)
{
    const char *bracket = strchr(text, '['), *exponent = strpbrk(text, "eE");
    size_t n = strcspn(text, " [");
    strbuf out = { 0 };

    if (exponent && exponent < text + n)
        strbuf_printf(&out, "%.*s \\cdot 10^{%d}", (int)(exponent - text), text, atoi(exponent + 1));
    else
        strbuf_printf(&out, "%.*s", (int)n, text);
    if (!bracket)
        return out.at;
    strbuf_puts(&out, "\\,\\mathrm{");
    for (const char *c = bracket + 1; *c && *c != ']'; c++) {
        size_t power = strspn(c + 1, "+-0123456789");

        if (*c == '^') {
            strbuf_printf(&out, "^{%.*s}", (int)power, c + 1);
            c += power;
        } else {
            strbuf_printf(&out, strchr("_#&%${}", *c) ? "\\%c" : strchr(".* ", *c) ? "\\," : "%c", *c);
        }
    }
    strbuf_puts(&out, "}");
    return out.at;
}

/* k_s1 becomes k with the index s1; m1 and m[1] become m with the index 1; spring.q becomes q with the index spring;
 * der(x) becomes x with a dot. */
static char *
latex_name(const char *name)
{
    const char *dot = strrchr(name, '.'), *low = strchr(name, '_'), *open = strchr(name, '['), *base = name,
               *index = NULL;
    size_t nbase = strlen(name), nindex = 0;
    strbuf out = { 0 };

    if (!strncmp(name, "der(", 4)) {
        char *of = bg_format("%.*s", (int)nbase - 5, name + 4), *inside = latex_name(of);

        strbuf_printf(&out, "\\dot{%s}", inside);
        free(of);
        free(inside);
        return out.at;
    }
    if (dot && dot > name && dot[1]) {
        base = dot + 1;
        nbase = strlen(base);
        index = name;
        nindex = (size_t)(dot - name);
    } else if (low && low > name && low[1]) {
        nbase = (size_t)(low - name);
        index = low + 1;
        nindex = strlen(index);
    } else if (open && open > name && name[nbase - 1] == ']') {
        nindex = (size_t)(name + nbase - 1 - open) - 1;
        nbase = (size_t)(open - name);
        index = open + 1;
    } else {
        size_t letters = strcspn(name, "0123456789");

        if (letters > 0 && letters < nbase && strspn(name + letters, "0123456789") == nbase - letters) {
            index = name + letters;
            nindex = nbase - letters;
            nbase = letters;
        }
    }
    put_latex_word(&out, base, nbase);
    if (nindex) {
        strbuf_puts(&out, "_{");
        put_latex_word(&out, index, nindex);
        strbuf_puts(&out, "}");
    }
    return out.at;
}

static const char *
slot_latex(void *ctx, uint32_t slot)
{
    struct naming *n = ctx;

    /* inside an expression it has to be a single factor */
    if (!n->made[slot] && n->f->var.at[slot].kind == VAR_LITERAL) {
        char *number = latex_literal(var_name(n->f, slot));

        n->made[slot] = strchr(number, '\\') || *number == '-' ? bg_format("\\left(%s\\right)", number)
                                                               : bg_strdup(number);
        free(number);
    } else if (!n->made[slot]) {
        n->made[slot] = latex_name(var_name(n->f, slot));
    }
    return n->made[slot];
}

/* ---------------------------------------------------------------- matrices */

static char *
entry_text(struct naming *naming, const structure_block *b, size_t row, size_t column, bool latex)
{
    const ex_node *e = pool_node(naming->f->pool, b->text[row + b->rows * column]);
    strbuf text = { 0 };

    if (e->op == EX_SLOT && naming->f->var.at[e->a].kind == VAR_LITERAL)
        return (latex ? latex_literal : bg_strdup)(var_name(naming->f, e->a));
    (latex ? ex_latex : ex_print)(naming->f->pool, b->text[row + b->rows * column], latex ? slot_latex : latex_slot,
                                  naming, &text);
    return text.at;
}

static void
put_entries_json(struct naming *naming, const structure_block *b, bool latex, json *j)
{
    json_open(j, '[');
    for (size_t r = 0; r < b->rows; r++) {
        json_open(j, '[');
        for (size_t c = 0; c < b->columns; c++) {
            char *text = entry_text(naming, b, r, c, latex);

            json_string(j, text);
            free(text);
        }
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void
matrix_latex(struct naming *naming, const char *name, const structure_block *b, FILE *out)
{
    const char *low = strchr(name, '_');

    if (low)
        fprintf(out, "%.*s_{%s} = \\begin{bmatrix}\n", (int)(low - name), name, low + 1);
    else
        fprintf(out, "%s = \\begin{bmatrix}\n", name);
    for (size_t r = 0; r < b->rows; r++)
        for (size_t c = 0; c < b->columns; c++) {
            char *text = entry_text(naming, b, r, c, true);

            put_text(out, "%s%s%s", c ? " & " : "  ", text, c + 1 == b->columns ? " \\\\\n" : "");
            free(text);
        }
    fputs("\\end{bmatrix}\n", out);
}

static void
matrix_table(struct naming *naming, const char *name, const structure_block *b, FILE *out)
{
    table t = { .columns = (int)b->columns, .left = (int)b->columns };

    fprintf(out, "%s\n", name);
    for (size_t r = 0; r < b->rows; r++)
        for (size_t c = 0; c < b->columns; c++) {
            char *text = entry_text(naming, b, r, c, false);

            table_put(&t, "%s", text);
            free(text);
        }
    table_print(&t, out, "  ");
}

bool
linear_symbolic(linearization *l, bool latex, FILE *out, json *j, char **why)
{
    const flat_model *f = model_flat(l->model);
    struct naming naming = { f, bg_calloc(f->var.n + 1, sizeof *naming.made) };
    double *x = linearization_states(l);
    structure s;

    structure_make(l->model, l->time, x, l->order, true, l->as_equations, false, &s);
    free(x);
    *why = l->structure.why ? bg_strdup(l->structure.why) : s.why ? bg_strdup(s.why) : NULL;
    if (!*why && j)
        json_key(j, "symbolic"), json_open(j, '{');
    for (int k = 0; k < M_COUNT && !*why; k++) {
        const structure_block *b = &s.matrix[k];

        if ((k == M_J_SX || k == M_J_LX || k == M_L_X) && !s.modulated)
            continue;
        if (j)
            json_key(j, structure_matrix_name(k)), put_entries_json(&naming, b, latex, j);
        else if (b->rows && b->columns)
            (latex ? matrix_latex : matrix_table)(&naming, structure_matrix_name(k), b, out);
    }
    if (!*why && j)
        json_close(j, '}');
    for (size_t v = 0; v < f->var.n; v++)
        free(naming.made[v]);
    free(naming.made);
    structure_free(&s);
    return !*why;
}

void
linear_symbolic_matrix(const linearization *l, const char *name, const structure_block *b, bool latex, FILE *out,
                       json *j)
{
    const flat_model *f = model_flat(l->model);
    struct naming naming = { f, bg_calloc(f->var.n + 1, sizeof *naming.made) };

    if (j)
        json_key(j, name), put_entries_json(&naming, b, latex, j);
    else if (b->rows && b->columns)
        (latex ? matrix_latex : matrix_table)(&naming, name, b, out);
    for (size_t v = 0; v < f->var.n; v++)
        free(naming.made[v]);
    free(naming.made);
}
