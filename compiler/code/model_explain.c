/* model_explain.c - explains where and why an evaluation fails, with the names of the text */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_inside.h"

#define ROUNDING 1e-13 /* of a number */

bool
model_root_states(bg_model *m, bool *fed)
{
    const image_roots *r = image_roots_of(m->image, m->maker);

    memcpy(fed, r->fed, m->image->nstates * sizeof *fed);
    return r->any;
}

/* Position of a block unknown in a part of m; NONE: the part does not contain it. */
static uint32_t
place_in(const bg_model *m, int part, var_id unknown)
{
    return m->evaluator[part] ? evaluator_routine(m->evaluator[part])->w_position[unknown] : NONE;
}

/* Numbers of parameters and block unknowns as compiled code left them. Call this before model_variables. */
static void
fill_known(const bg_model *m, double *v)
{
    static const enum model_part first[] = { PART_RHS, PART_BONDS, PART_OUTPUTS };
    enum { NFIRST = sizeof first / sizeof *first };

    memcpy(v, m->value, m->image->nvars * sizeof *v);
    for (size_t i = 0; i < m->image->nunknowns; i++)
        for (int k = 0; k < NFIRST + PART_COUNT; k++) {
            int part = k < NFIRST ? (int)first[k] : k - NFIRST;
            var_id u = m->image->unknown[i];
            uint32_t place = place_in(m, part, u);

            if (place != NONE) {
                v[u] = evaluator_variables(m->evaluator[part])[place];
                break;
            }
        }
}

bool
model_variables(bg_model *m, double t, const double *x, double *v)
{
    const interpret_program *g = image_numbers_of(m->image, m->maker);
    bool fine = model_need(m, PART_RHS) && model_run_part(m, PART_RHS, t, x, m->scratch[PART_RHS]) == 0;

    /* blocks that the rates do not need */
    for (size_t i = 0; i < m->image->nunknowns && fine; i++)
        if (place_in(m, PART_RHS, m->image->unknown[i]) == NONE) {
            fine = model_need(m, PART_BONDS) && model_run_part(m, PART_BONDS, t, x, m->scratch[PART_BONDS]) == 0 &&
                   model_need(m, PART_OUTPUTS) && model_run_part(m, PART_OUTPUTS, t, x, m->scratch[PART_OUTPUTS]) == 0;
            break;
        }
    if (!fine)
        return false;
    fill_known(m, v);
    return interpret(g, t, x, m->modes, v, false) == VAR_NONE;
}

/* ---------------------------------------------------------------- formulas in words */

static const char *
name_of(void *ctx, uint32_t v)
{
    const image_variables *all = ctx;

    return all->at[v].name;
}

static void
print_operation(const bg_model *m, const formula_book *b, formula f, size_t operation, strbuf *out)
{
    formula_print(b, f, operation, m->image->tables, name_of, (void *)image_variables_of(m->image, m->maker), out);
}

void
model_print_formula(const bg_model *m, const formula_book *b, formula f, strbuf *out)
{
    size_t n;

    formula_ops(b, &f, &n);
    print_operation(m, b, f, n - 1, out);
}

/* The definition of v; NULL if it has none. */
static const formula *
definition_of(const interpret_program *g, var_id v)
{
    for (size_t i = 0; i < g->var.n; i++)
        if (g->var.at[i] == v)
            return &g->def.at[i];
    return NULL;
}

/* The first operation with a non-finite value and finite operands; false: there is none. */
static bool
describe(const bg_model *m, const char *called, const formula_book *b, formula def, const double *number, char **text,
         enum ex_op *failed)
{
    double *room = bg_calloc(b->room + 1, sizeof *room), value;
    size_t n, culprit;
    const struct formula_op *o = formula_ops(b, &def, &n);
    const char *what = "no finite value";
    strbuf out = { 0 };

    value = formula_explain(b, def, number, room, &culprit);
    if (culprit == NO_INDEX && isfinite(value)) {
        free(room);
        return false;
    }
    if (culprit == NO_INDEX)
        culprit = n - 1;
    o += culprit;
    switch (o->op) {
    case EX_DIV: what = room[o->b] == 0 ? "division by zero" : "overflow"; break;
    case EX_ADD:
    case EX_SUB:
    case EX_MUL: what = "overflow"; break;
    case EX_LN:
    case EX_LOG10: what = "logarithm of a number that is not positive"; break;
    case EX_SQRT: what = "square root of a negative number"; break;
    case EX_POW: what = "power without a value"; break;
    case EX_EXP:
    case EX_SINH:
    case EX_COSH: what = "overflow"; break;
    case EX_ASIN:
    case EX_ACOS: what = "angle of a number outside -1..1"; break;
    default: break;
    }
    *failed = o->op;
    strbuf_printf(&out, "\"%s\": %s in ", called, what);
    print_operation(m, b, def, culprit, &out);
    *text = out.at;
    free(room);
    return true;
}

/* ---------------------------------------------------------------- rounding */

/* The greatest of the numbers computed in this unit. */
static double
greatest_of_unit(const image_variables *all, size_t n, const unit *of, const double *number)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        if (all->at[i].by != DEF_BY_NOTHING && all->at[i].unit == of && isfinite(number[i]))
            most = fmax(most, fabs(number[i]));
    return most;
}

double
model_condition_noise(bg_model *m, size_t k, double t, const double *x)
{
    const expression_program *e = image_expressions_of(m->image, m->maker);
    const image_variables *all = image_variables_of(m->image, m->maker);
    formula g = e->mode.at[k];
    const uint32_t *reads = formula_reads(&e->book, &g);
    double *number = bg_calloc(m->image->nvars + 1, sizeof *number), *room = bg_calloc(e->book.room + 1, sizeof *room),
           noise = 0;

    if (model_variables(m, t, x, number)) {
        double value = formula_value(&e->book, g, number, room);

        for (uint32_t i = 0; i < g.n; i++) {
            var_id v = reads[i];
            double before = number[v];

            if (all->at[v].by == DEF_BY_NOTHING)
                continue;
            number[v] += ROUNDING * greatest_of_unit(all, m->image->nvars, all->at[v].unit, number);
            noise += fabs(formula_value(&e->book, g, number, room) - value);
            number[v] = before;
        }
    }
    free(room);
    free(number);
    return isfinite(noise) ? noise : 0;
}

/* ---------------------------------------------------------------- why it fails */

/* The condition for the root of a negative number; NO_INDEX: none */
static size_t
domain_that_is_left(bg_model *m, double t, const double *x)
{
    size_t found = NO_INDEX;
    double *g;

    if (!m->image->nmodes)
        return NO_INDEX;
    g = bg_calloc(m->image->nmodes, sizeof *g);
    if (model_need(m, PART_CONDITIONS) && model_conditions(m, t, x, g) == 0)
        for (size_t k = 0; k < m->image->nmodes && found == NO_INDEX; k++)
            if (m->image->mode[k].kind == MODE_DOMAIN && g[k] < 0)
                found = k;
    free(g);
    return found;
}

char *
model_explain_output(bg_model *m, size_t k, double t, const double *x)
{
    const expression_program *e = image_expressions_of(m->image, m->maker);
    const interpret_program *g = image_numbers_of(m->image, m->maker);
    const formula_book *book = &e->book;
    double *v = bg_calloc(m->image->nvars + 1, sizeof *v);
    const char *called = model_graph_of(m)->output[k].name;
    formula def = e->output.at[k];
    char *text = NULL;
    enum ex_op failed;

    fill_known(m, v);
    interpret(g, t, x, m->modes, v, true);
    for (size_t depth = 0; depth <= m->image->nvars && !text; depth++) {
        const uint32_t *reads = formula_reads(book, &def);
        const formula *next_def = NULL;
        var_id next = VAR_NONE;

        for (uint32_t i = 0; i < def.n && next == VAR_NONE; i++)
            if (!isfinite(v[reads[i]]))
                next = reads[i];
        if (next != VAR_NONE && (next_def = definition_of(g, next))) {
            called = image_variables_of(m->image, m->maker)->at[next].said;
            def = *next_def;
            book = &g->book;
            continue;
        }
        if (next != VAR_NONE || !describe(m, called, book, def, v, &text, &failed))
            break;
    }
    free(v);
    return text;
}

/* The circle of signals that v represents, NULL if it does not. */
static const char *
circle_of(const bg_model *m, var_id v)
{
    const expression_program *e = image_expressions_of(m->image, m->maker);

    for (size_t k = 0; k < e->circle.n; k++)
        if (e->circle.at[k].v == v)
            return e->circle.at[k].path;
    return NULL;
}

static char *
explain_block(const bg_model *m, span *at)
{
    const struct image_block *b = &m->image->block[m->memory.failed];
    uint32_t row = m->memory.failed_row < b->n ? m->memory.failed_row : 0;
    const struct model_pole *u = &image_unknowns_of(m->image, m->maker)->at[b->unknown0 + row];
    const char *circle = circle_of(m, m->image->unknown[b->unknown0]);

    *at = u->at;
    if (circle)
        return bg_format("no values were found for this loop of signals: %s", circle);
    if (m->memory.failed_singular)
        return bg_format("the equation%s that \"%s\" is solved from do%s not determine it here", b->n == 1 ? "" : "s",
                         u->var, b->n == 1 ? "es" : "");
    if (b->n == 1)
        return bg_format("no value of \"%s\" was found that satisfies its equation", u->var);
    return bg_format("no values were found that satisfy the %u equations of \"%s\" and what depends on it", b->n,
                     u->var);
}

static char *
explain_variable(const bg_model *m, var_id bad, const double *number, span *at)
{
    const interpret_program *g = image_numbers_of(m->image, m->maker);
    const struct model_variable *v = &image_variables_of(m->image, m->maker)->at[bad];
    const char *path = circle_of(m, bad);
    char *text = NULL;
    enum ex_op failed;

    *at = v->said_at;
    if (describe(m, v->said, &g->book, *definition_of(g, bad), number, &text, &failed) && path && failed == EX_DIV) {
        free(text);
        return bg_format("this loop of signals has no solution, or infinitely many: %s", path);
    }
    return text;
}

/* A condition, or what a floor() or mod() is taken of, that has no finite value. */
static char *
explain_condition(const bg_model *m, const double *number, span *at)
{
    const expression_program *e = image_expressions_of(m->image, m->maker);
    double *room = bg_calloc(e->book.room + 1, sizeof *room);
    char *text = NULL;
    enum ex_op failed;

    for (size_t k = 0; k < m->image->nmodes && !text; k++) {
        strbuf called = { 0 };

        if (isfinite(formula_value(&e->book, e->mode.at[k], number, room)))
            continue;
        if (m->image->mode[k].kind == MODE_FLOOR)
            strbuf_puts(&called, "floor(");
        model_print_formula(m, &e->book, e->mode.at[k], &called);
        if (m->image->mode[k].kind == MODE_FLOOR)
            strbuf_puts(&called, ")");
        *at = m->image->mode[k].at;
        describe(m, called.at, &e->book, e->mode.at[k], number, &text, &failed);
        strbuf_free(&called);
    }
    free(room);
    return text;
}

span
model_explain(bg_model *m, double t, const double *x, char **text)
{
    const interpret_program *g = image_numbers_of(m->image, m->maker);
    double *v = bg_calloc(m->image->nvars + 1, sizeof *v);
    span at = SPAN_NONE;
    var_id bad;

    fill_known(m, v);
    bad = interpret(g, t, x, m->modes, v, false);
    *text = NULL;
    if (bad != VAR_NONE && g->moves[bad])
        *text = explain_variable(m, bad, v, &at);
    else if (m->memory.failed != NONE)
        *text = explain_block(m, &at);
    if (!*text) {
        size_t k = domain_that_is_left(m, t, x);

        if (k != NO_INDEX) {
            const expression_program *e = image_expressions_of(m->image, m->maker);
            size_t n;
            const struct formula_op *o = formula_ops(&e->book, &e->mode.at[k], &n);
            strbuf b = { 0 };

            at = m->image->mode[k].at;
            print_operation(m, &e->book, e->mode.at[k], o[n - 1].op == EX_SELECT ? o[n - 1].b : n - 1, &b);
            *text = bg_format("root of a negative number, %s", b.at);
            strbuf_free(&b);
        }
    }
    if (!*text)
        *text = explain_condition(m, v, &at);
    free(v);
    return at;
}
