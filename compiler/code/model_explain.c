/* model_explain.c - where and why an evaluation fails, in the words of the text */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_inside.h"

#define ROUNDING 1e-13 /* of a number */

/* Of a block: a root stands there as its inverse, a power above 1. */
static bool
has_root(pool *p, node n, bool of_block)
{
    size_t count;
    const node *tape = ex_tape(p, n, &count);
    double b;

    for (size_t i = 0; i < count; i++) {
        const ex_node *x = pool_node(p, tape[i]);

        if (x->op == EX_SQRT ||
            ((x->op == EX_SPOW || x->op == EX_POW) && (!ex_is_const(p, x->b, &b) || (b > 0 && b < 1))) ||
            (of_block && x->op == EX_SPOW))
            return true;
    }
    return false;
}

void
model_read_by(const flat_model *f, inst d, var_list *todo)
{
    for (uint32_t k = 0; k < d.n; k++)
        vec_push(todo, f->slot.at[d.first + k]);
}

static bool
root_states(const bg_model *m, bool *fed)
{
    const equations *e = m->maker->e;
    map roots = { 0 }; /* template -> has one */
    bool *seen = bg_calloc(e->var.n + 1, sizeof *seen), *seen_block = bg_calloc(e->block.n + 1, sizeof *seen_block),
         any = false;
    var_list todo = { 0 };

    memset(fed, 0, e->state.n * sizeof *fed);
    for (size_t i = 0; i < e->var.n + e->residual.n; i++) {
        bool of_block = i >= e->var.n;
        inst d = of_block ? e->residual.at[i - e->var.n] : e->var.at[i].def;
        uint64_t key = (uint64_t)d.root << 1 | of_block;

        if (!of_block && e->var.at[i].kind != DEF_EXPLICIT)
            continue;
        if (map_get(&roots, key) == MAP_NONE)
            map_set(&roots, key, has_root(m->maker->f->pool, d.root, of_block));
        if (map_get(&roots, key))
            model_read_by(m->maker->f, d, &todo);
    }
    while (todo.n) {
        var_id v = todo.at[--todo.n];
        const eq_var *d = &e->var.at[v];

        if (seen[v])
            continue;
        seen[v] = true;
        if (d->kind == DEF_STATE) {
            fed[m->image->position[v]] = any = true;
        } else if (d->kind == DEF_EXPLICIT) {
            model_read_by(m->maker->f, d->def, &todo);
        } else if (d->kind == DEF_BLOCK && !seen_block[d->index]) {
            seen_block[d->index] = true;
            for (uint32_t i = 0; i < e->block.at[d->index].n; i++)
                model_read_by(m->maker->f, e->residual.at[e->block.at[d->index].residual0 + i], &todo);
        }
    }
    map_free(&roots);
    vec_free(&todo);
    free(seen);
    free(seen_block);
    return any;
}

bool
model_root_states(bg_model *m, bool *fed)
{
    bool any;

    maker_lock(m->maker);
    any = root_states(m, fed);
    maker_unlock(m->maker);
    return any;
}

static const char *
slot_name(void *ctx, uint32_t slot)
{
    const void *const *pair = ctx;
    const flat_model *f = pair[0];
    const inst *i = pair[1];

    return f->var.at[f->slot.at[i->first + slot]].name;
}

/* Place of an unknown of blocks in a part of m; UINT32_MAX: it has none there. */
static uint32_t
place_in(const bg_model *m, int part, var_id unknown)
{
    return m->evaluator[part] ? evaluator_routine(m->evaluator[part])->w_position[unknown] : UINT32_MAX;
}

/* Numbers of parameters and of the unknowns of blocks, as compiled code found them last. */
static void
fill_known(const bg_model *m, double *v)
{
    const interpret_program *g = image_numbers(m->image, m->maker);

    memcpy(v, m->value, m->image->nvars * sizeof *v);
    for (size_t i = 0; i < g->unknown.n; i++)
        for (int k = 0; k < PART_COUNT; k++) {
            var_id u = g->unknown.at[i];
            uint32_t place = place_in(m, k, u);

            if (place != UINT32_MAX) {
                v[u] = evaluator_variables(m->evaluator[k])[place];
                break;
            }
        }
}

bool
model_variables(bg_model *m, double t, const double *x, double *v)
{
    const interpret_program *g = image_numbers(m->image, m->maker);
    bool fine = model_need(m, PART_RHS) && model_run_part(m, PART_RHS, t, x, m->scratch[PART_RHS]) == 0;

    /* blocks that the rates do not need */
    for (size_t i = 0; i < m->image->nunknowns && fine; i++)
        if (place_in(m, PART_RHS, g->unknown.at[i]) == UINT32_MAX) {
            fine = model_need(m, PART_BONDS) && model_run_part(m, PART_BONDS, t, x, m->scratch[PART_BONDS]) == 0 &&
                   model_need(m, PART_OUTPUTS) && model_run_part(m, PART_OUTPUTS, t, x, m->scratch[PART_OUTPUTS]) == 0;
            break;
        }
    if (!fine)
        return false;
    fill_known(m, v);
    return interpret(g, t, x, m->modes, v, false) == VAR_NONE;
}

/* A part of an expression, with the numbers of all variables. */
static double
part_value(bg_model *m, inst d, node part, const double *number)
{
    double *slot = bg_calloc((size_t)d.n + 1, sizeof *slot), value;

    for (uint32_t k = 0; k < d.n; k++)
        slot[k] = number[m->maker->f->slot.at[d.first + k]];
    value = ex_eval(m->maker->f->pool, part, slot);
    free(slot);
    return value;
}

/* The first operation of an expression that has no finite value though its operands have. */
static node
culprit_of(bg_model *m, inst d, const double *number)
{
    double *slot = bg_calloc((size_t)d.n + 1, sizeof *slot);
    node culprit = NODE_NONE;

    for (uint32_t k = 0; k < d.n; k++)
        slot[k] = number[m->maker->f->slot.at[d.first + k]];
    ex_eval_explain(m->maker->f->pool, d.root, slot, &culprit);
    free(slot);
    return culprit;
}

/* Greatest of the numbers that are computed in this unit. */
static double
greatest_of_unit(const bg_model *m, const unit *of, const double *number)
{
    double most = 0;

    for (var_id i = 0; i < m->image->nvars; i++) {
        const struct model_variable one = model_variable(m, i);

        if (one.by != DEF_BY_NOTHING && one.unit == of && isfinite(number[i]))
            most = fmax(most, fabs(number[i]));
    }
    return most;
}

/* An expression, while other instances may make more of them. */
static double
value_of(bg_model *m, inst d, const double *number)
{
    double value;

    maker_lock(m->maker);
    value = part_value(m, d, d.root, number);
    maker_unlock(m->maker);
    return value;
}

double
model_condition_noise(bg_model *m, size_t k, double t, const double *x)
{
    inst g = model_mode_watched(m, k);
    double *number = bg_calloc(m->image->nvars + 1, sizeof *number), noise = 0;

    if (model_variables(m, t, x, number)) {
        double value = value_of(m, g, number);

        for (uint32_t i = 0; i < g.n; i++) {
            var_id v = m->maker->f->slot.at[g.first + i];
            double before = number[v];

            if (model_variable(m, v).by == DEF_BY_NOTHING)
                continue;
            number[v] += ROUNDING * greatest_of_unit(m, model_variable(m, v).unit, number);
            noise += fabs(value_of(m, g, number) - value);
            number[v] = before;
        }
    }
    free(number);
    return isfinite(noise) ? noise : 0;
}

/* def: of what is called so */
static char *
describe(bg_model *m, const char *called, inst def, node culprit, const double *number)
{
    flat_model *f = m->maker->f;
    const void *pair[2] = { f, &def };
    const ex_node *x = pool_node(f->pool, culprit == NODE_NONE ? def.root : culprit);
    strbuf b = { 0 };
    const char *what = "no finite value";

    switch (x->op) {
    case EX_DIV: what = part_value(m, def, x->b, number) == 0 ? "division by zero" : "overflow"; break;
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
    strbuf_printf(&b, "\"%s\": %s in ", called, what);
    ex_print(f->pool, culprit == NODE_NONE ? def.root : culprit, slot_name, pair, &b);
    return b.at;
}

/* The law in which a root is taken of a negative number; MODE g of it is negative. */
static const eq_mode *
outside(bg_model *m, double t, const double *x)
{
    const eq_mode *found = NULL;
    double *g;

    if (!m->image->nmodes)
        return NULL;
    g = bg_calloc(m->image->nmodes, sizeof *g);
    if (model_need(m, PART_CONDITIONS) && model_conditions(m, t, x, g) == 0)
        for (size_t k = 0; k < m->image->nmodes && !found; k++)
            if (m->maker->e->mode.at[k].kind == MODE_DOMAIN && g[k] < 0)
                found = &m->maker->e->mode.at[k];
    free(g);
    return found;
}

static char *
explain_output(bg_model *m, size_t k, double t, const double *x)
{
    flat_model *f = m->maker->f;
    double *v = bg_calloc(f->var.n + 1, sizeof *v);
    const char *called = k < f->output.n ? f->output.at[k].name : f->experiment.record.at[k - f->output.n].name;
    inst def = m->maker->e->output.at[k];
    VEC(double) slot = { 0 };
    node culprit = NODE_NONE;
    char *text = NULL;

    fill_known(m, v);
    interpret(image_numbers(m->image, m->maker), t, x, m->modes, v, true);
    for (size_t depth = 0; depth <= f->var.n && !text; depth++) {
        var_id next = VAR_NONE;

        slot.n = 0;
        for (uint32_t i = 0; i < def.n; i++) {
            var_id s = inst_slots(f, def)[i];

            vec_push(&slot, v[s]);
            if (!isfinite(v[s]) && next == VAR_NONE)
                next = s;
        }
        if (next != VAR_NONE && m->maker->e->var.at[next].kind == DEF_EXPLICIT) {
            called = f->var.at[next].name;
            def = m->maker->e->var.at[next].def;
            continue;
        }
        culprit = NODE_NONE;
        if (next != VAR_NONE || isfinite(ex_eval_explain(f->pool, def.root, slot.at, &culprit)))
            break;
        text = describe(m, called, def, culprit, v);
    }
    vec_free(&slot);
    free(v);
    return text;
}

char *
model_explain_output(bg_model *m, size_t k, double t, const double *x)
{
    char *text;

    maker_lock(m->maker);
    text = explain_output(m, k, t, x);
    maker_unlock(m->maker);
    return text;
}

/* The circle of signals that v stands for, NULL if it is none. */
static const char *
circle_of(const bg_model *m, var_id v)
{
    for (size_t k = 0; k < m->maker->e->circle.n; k++)
        if (m->maker->e->circle.at[k].v == v)
            return m->maker->e->circle.at[k].path;
    return NULL;
}

static span
explain(bg_model *m, double t, const double *x, char **text)
{
    double *v = bg_calloc(m->image->nvars + 1, sizeof *v);
    node culprit = NODE_NONE;
    span at = SPAN_NONE;
    var_id bad;

    fill_known(m, v);
    bad = interpret(image_numbers(m->image, m->maker), t, x, m->modes, v, false);
    if (bad != VAR_NONE)
        culprit = culprit_of(m, m->maker->e->var.at[bad].def, v);
    *text = NULL;
    if (bad != VAR_NONE) {
        const char *path = circle_of(m, bad);

        at = m->maker->f->var.at[bad].at;
        if (path && culprit != NODE_NONE && pool_node(m->maker->f->pool, culprit)->op == EX_DIV)
            *text = bg_format("a loop of signals that no values satisfy, or any: %s", path);
        else
            *text = describe(m, m->maker->f->var.at[bad].name, m->maker->e->var.at[bad].def, culprit, v);
    } else if (m->memory.failed != UINT32_MAX) {
        const eq_block *b = &m->maker->e->block.at[m->memory.failed];
        var_id u = m->maker->e->unknown.at[b->unknown0 + (m->memory.failed_row < b->n ? m->memory.failed_row : 0)];

        at = m->maker->f->var.at[u].at;
        if (circle_of(m, m->maker->e->unknown.at[b->unknown0]))
            *text = bg_format("a loop of signals that no values were found for: %s",
                              circle_of(m, m->maker->e->unknown.at[b->unknown0]));
        else if (m->memory.failed_singular)
            *text = bg_format("the equation%s that \"%s\" is solved from do%s not determine it here",
                              b->n == 1 ? "" : "s", m->maker->f->var.at[u].name, b->n == 1 ? "es" : "");
        else
            *text =
                b->n == 1
                    ? bg_format("no value of \"%s\" was found that satisfies its equation", m->maker->f->var.at[u].name)
                    : bg_format("no values were found that satisfy the %u equations of \"%s\" and what depends on it",
                                b->n, m->maker->f->var.at[u].name);
    }
    if (!*text) {
        const eq_mode *q = outside(m, t, x);
        strbuf b = { 0 };

        if (q) {
            const ex_node *g = pool_node(m->maker->f->pool, q->g.root);

            at = q->at;
            flat_print(m->maker->f, g->op == EX_SELECT ? (inst){ g->b, q->g.first, q->g.n } : q->g, &b);
            *text = bg_format("root of a negative number, %s", b.at);
        }
        strbuf_free(&b);
    }
    free(v);
    return at;
}

span
model_explain(bg_model *m, double t, const double *x, char **text)
{
    span at;

    maker_lock(m->maker);
    at = explain(m, t, x, text);
    maker_unlock(m->maker);
    return at;
}
