/* resolve.c - translates an expression to a template over variables: resolves names, checks units, inlines functions
 *
 * needs     declared values and parts; values made in order of dependency (for units that are not stated); functions
 *           made
 * provides  a template over slots in the order of first use
 * bounds    recursion is only for nesting (chains of operators and of else-ifs are loops) and stops at DEEPEST
 */
#include <math.h>
#include <string.h>

#include "elab.h"
#include "expr_pool.h"

enum { DEEPEST = 1000 }; /* levels of nesting of one expression */

/* ---------------------------------------------------------------- operators of the text */

static const struct {
    enum ex_op op;
    bool turned;
    const char *verb;
} of_tree[] = { [AST_ADD] = { EX_ADD, false, "added" },      [AST_SUB] = { EX_SUB, false, "subtracted" },
                [AST_MUL] = { EX_MUL, false, "multiplied" }, [AST_DIV] = { EX_DIV, false, "divided" },
                [AST_POW] = { EX_POW, false, "raised" },     [AST_LT] = { EX_LT, false, "compared" },
                [AST_LE] = { EX_LE, false, "compared" },     [AST_GT] = { EX_LT, true, "compared" },
                [AST_GE] = { EX_LE, true, "compared" },      [AST_EQ] = { EX_EQ, false, "compared" },
                [AST_NE] = { EX_NE, false, "compared" },     [AST_AND] = { EX_AND, false, "joined" },
                [AST_OR] = { EX_OR, false, "joined" } };

enum ex_op
tree_operation(enum ast_binary op)
{
    return of_tree[op].op;
}

bool
tree_turned(enum ast_binary op)
{
    return of_tree[op].turned;
}

const char *
tree_verb(enum ast_binary op)
{
    return of_tree[op].verb;
}

/* ---------------------------------------------------------------- the builder */

builder
builder_new(elab *el, scope *in, enum reads reads, const char *who)
{
    return (builder){ .el = el, .in = in, .reads = reads, .who = who, .own = NONE, .every = NONE };
}

void
builder_free(builder *b)
{
    if (b->slot.at != b->few)
        vec_free(&b->slot);
    map_free(&b->slot_of);
    map_free(&b->calls);
    for (size_t k = 0; k < b->call_memo.n; k++)
        free(b->call_memo.at[k].arg);
    vec_free(&b->call_memo);
}

static void
add_slot(builder *b, var_id v)
{
    if (b->slot.n < FEW_SLOTS) {
        b->slot.at = b->few;
        b->slot.cap = FEW_SLOTS;
    } else if (b->slot.at == b->few) {
        b->slot.cap = 4 * FEW_SLOTS;
        b->slot.at = bg_malloc(b->slot.cap * sizeof *b->slot.at);
        memcpy(b->slot.at, b->few, sizeof b->few);
    }
    vec_push(&b->slot, v);
}

node
builder_slot(builder *b, var_id v)
{
    uint32_t at = MAP_NONE;

    if (b->slot.n <= FEW_SLOTS) {
        for (size_t k = 0; k < b->slot.n; k++)
            if (b->slot.at[k] == v)
                at = (uint32_t)k;
    } else {
        at = map_get(&b->slot_of, v);
    }
    if (at == MAP_NONE) {
        at = (uint32_t)b->slot.n;
        add_slot(b, v);
        if (b->slot.n == FEW_SLOTS + 1)
            for (size_t k = 0; k < FEW_SLOTS; k++)
                map_set(&b->slot_of, b->slot.at[k], (uint32_t)k);
        if (b->slot.n > FEW_SLOTS)
            map_set(&b->slot_of, v, at);
    }
    return ex_slot(b->el->pool, at);
}

inst
builder_inst(builder *b, node root)
{
    uint32_t n = (uint32_t)b->slot.n, kept = 0;
    flat_model *f = b->el->f;
    bool few[FEW_SLOTS], *used = few;
    inst i;

    if (!n)
        return flat_inst(f, root, NULL, 0);
    if (n > FEW_SLOTS)
        used = bg_calloc(n, sizeof *used);
    ex_slots_used(f->pool, root, used, n);
    for (uint32_t k = 0; k < n; k++)
        kept += used[k];
    if (kept == n) {
        i = flat_inst(f, root, b->slot.at, n);
    } else {
        var_id *slot = bg_calloc(kept, sizeof *slot);
        node *to = bg_calloc(n, sizeof *to);

        kept = 0;
        for (uint32_t k = 0; k < n; k++) {
            to[k] = NODE_NONE;
            if (used[k]) {
                to[k] = ex_slot(f->pool, kept);
                slot[kept++] = b->slot.at[k];
            }
        }
        i = flat_inst(f, ex_substitute(f->pool, root, to, n), slot, kept);
        free(slot);
        free(to);
    }
    if (used != few)
        free(used);
    return i;
}

static int
slot_order(const void *a, const void *b)
{
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}

/* Visits only what the entry reads: a vector's builder has the slots of all entries. */
inst
builder_entry(builder *b, node root)
{
    flat_model *f = b->el->f;
    VEC(node) open = { 0 };
    VEC(uint32_t) used = { 0 };
    map seen = { 0 };
    node *to;
    inst i;

    vec_push(&open, root);
    while (open.n) {
        node n = open.at[--open.n];
        const ex_node *x = pool_node(f->pool, n);
        const node below[] = { x->a, x->b, x->c };

        if (map_get(&seen, n) != MAP_NONE)
            continue;
        map_set(&seen, n, 0);
        if (x->op == EX_SLOT)
            vec_push(&used, x->a);
        else
            for (int k = 0; k < ex_operands(x); k++)
                vec_push(&open, below[k]);
    }
    if (used.n)
        qsort(used.at, used.n, sizeof *used.at, slot_order);
    to = bg_calloc(used.n ? used.at[used.n - 1] + 1 : 0, sizeof *to);
    for (uint32_t k = 0; k < used.n; k++)
        to[used.at[k]] = ex_slot(f->pool, k);
    root = ex_substitute(f->pool, root, to, used.n ? used.at[used.n - 1] + 1 : 0);
    for (size_t k = 0; k < used.n; k++)
        used.at[k] = b->slot.at[used.at[k]];
    i = flat_inst(f, root, used.at, (uint32_t)used.n);
    free(to);
    vec_free(&used);
    vec_free(&open);
    map_free(&seen);
    return i;
}

bool
only_parameters(const flat_model *f, const var_id *slot, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (slot[k] >= f->var.n || (f->var.at[slot[k]].kind != VAR_PARAM && f->var.at[slot[k]].kind != VAR_LITERAL))
            return false;
    return true;
}

/* ---------------------------------------------------------------- numbers */

static uint64_t
place_hash(span at)
{
    return bg_hash_mix((uint64_t)at.begin << 32 | at.end, at.file);
}

static uint64_t
hash_of_literal(const void *ctx, uint32_t v)
{
    return place_hash(var_at(((const elab *)ctx)->f, v));
}

/* at: of the number or its negation, by which the literal is remembered. */
static node
literal(builder *b, span at, double si, const unit *u)
{
    elab *el = b->el;
    uint32_t v;

    for (size_t i = place_hash(at); (v = index_set_at(&el->literals, i)) != MAP_NONE; i++) {
        span there = var_at(el->f, v);

        if (there.begin == at.begin && there.end == at.end && there.file == at.file)
            return builder_slot(b, v);
    }
    v = flat_add_literal(el->f, si, NULL, at);
    if (u) {
        var_set_unit(el->f, v, unit_dimension(u));
        var_say(el->f, v)->display = u;
    }
    index_set_add(&el->literals, place_hash(at), v, hash_of_literal, el);
    return builder_slot(b, v);
}

/* sign*number with its unit. key: the number or its negation. alone: it is data, whatever its value. */
static val
number_value(builder *b, const ast_expr *e, const ast_expr *key, double sign, bool whole, bool alone)
{
    elab *el = b->el;
    double x = sign * e->number.value;
    val v = { .fit = x == 0 ? FIT_ZERO : FIT_BARE, .zero = zero_of_number(x) };

    if (ast_number_unit(e)) {
        const unit *u = read_unit(el, ast_number_unit(e));

        if (!u)
            return val_bad(el);
        if (unit_offset(u) != 0 && !whole) {
            diag_error(el->s, "unit-offset", e->at,
                       "[%s] has an offset and stands only where it is the whole value; in sums, products and "
                       "tolerances write [%s]",
                       unit_text(u), unit_text(unit_dimension(u)));
            diag_help(el->s, "As a temperature it is %.10g [%s], as a difference %.10g [%s].",
                      unit_scale(u) * x + unit_offset(u), unit_text(unit_dimension(u)), unit_scale(u) * x,
                      unit_text(unit_dimension(u)));
            return val_bad(el);
        }
        x = unit_scale(u) * x + unit_offset(u);
        if (!isfinite(x)) {
            diag_error(el->s, "number-range", e->at, "this value is too large: in [%s] it is more than 1.8e308",
                       unit_text(unit_dimension(u)));
            return val_bad(el);
        }
        v = (val){ .fit = FIT_UNIT,
                   .unit = unit_dimension(u),
                   .stated = !unit_is_number(u),
                   .said = u,
                   .zero = unit_offset(u) != 0 ? ZERO_POINT : zero_of_number(x) };
        v.n = b->structure && (whole || !b->units || !v.stated) ? ex_const(el->pool, x) : literal(b, key->at, x, u);
        return v;
    }
    /* 0, 1, 2, -1, -2 in a formula belong to its form (q^2/2, max(x, 0)); other numbers could be parameters */
    if (b->structure || (!alone && (x == 0 || fabs(x) == 1 || fabs(x) == 2)))
        v.n = ex_const(el->pool, x);
    else
        v.n = literal(b, key->at, x, NULL);
    return v;
}

/* ---------------------------------------------------------------- operators */

static val
resolve_power(builder *b, val base, const ast_expr *a, const ast_expr *exponent)
{
    elab *el = b->el;
    bool structure = b->structure;
    val x, r;

    b->structure = true; /* x^2 and x^3 are different laws, not different data */
    x = resolve(b, exponent, false);
    b->structure = structure;
    need_number(el, &base, a->at);
    need_number(el, &x, exponent->at);
    r = units_power(el, base, a->at, x, exponent->at);
    if (!r.bad)
        r.n = ex_make(el->pool, EX_POW, base.n, x.n, NODE_NONE);
    return r;
}

static val
relation(builder *b, const ast_expr *e, val x, val y)
{
    elab *el = b->el;
    bool turned = tree_turned(e->op);
    val r;

    need_number(el, &x, e->bin.a->at);
    need_number(el, &y, e->bin.b->at);
    r = units_together(el, tree_verb(e->op), x, e->bin.a->at, y, e->bin.b->at);
    if (r.bad)
        return r;
    return (val){ .n = ex_make(el->pool, tree_operation(e->op), turned ? y.n : x.n, turned ? x.n : y.n, NODE_NONE),
                  .fit = FIT_ANY,
                  .condition = true };
}

static val
combine_operands(builder *b, const ast_expr *e, val x, val y)
{
    elab *el = b->el;
    span xa = e->bin.a->at, ya = e->bin.b->at;
    val r;

    if ((x.m || y.m) && e->op <= AST_DIV)
        return combine_matrices(b, e, x, y);
    switch (e->op) {
    case AST_AND:
    case AST_OR:
        need_condition(b, &x, xa);
        need_condition(b, &y, ya);
        if (x.bad || y.bad)
            return val_bad(el);
        return (val){ .n = ex_make(el->pool, tree_operation(e->op), x.n, y.n, NODE_NONE),
                      .fit = FIT_ANY,
                      .condition = true };
    case AST_ADD:
    case AST_SUB:
    case AST_MUL:
    case AST_DIV:
        need_number(el, &x, xa);
        need_number(el, &y, ya);
        r = e->op == AST_MUL   ? units_multiply(el, x, y)
            : e->op == AST_DIV ? units_divide(el, x, y)
                               : units_together(el, tree_verb(e->op), x, xa, y, ya);
        if (e->op == AST_ADD || e->op == AST_SUB)
            r.zero = zero_of_sum(e->op == AST_ADD, x, y);
        if (!r.bad)
            r.n = ex_make(el->pool, tree_operation(e->op), x.n, y.n, NODE_NONE);
        return r;
    default: return relation(b, e, x, y);
    }
}

/* a + b - c ...: goes down the left side in a loop, then back up. */
static val
binary(builder *b, const ast_expr *e)
{
    VEC(const ast_expr *) spine = { 0 };
    val v;

    for (; e->kind == AST_BINARY; e = e->bin.a)
        vec_push(&spine, e);
    v = resolve(b, e, spine.at[spine.n - 1]->op >= AST_LT && spine.at[spine.n - 1]->op <= AST_NE);
    while (spine.n) {
        const ast_expr *up = spine.at[--spine.n];
        bool compares = up->op >= AST_LT && up->op <= AST_NE;

        if (up->op == AST_POW) {
            v = resolve_power(b, v, up->bin.a, up->bin.b);
        } else {
            val right = resolve(b, up->bin.b, compares);

            if (b->el->opt->nweigh && (up->op == AST_ADD || up->op == AST_SUB)) {
                v = weighed_operand(b, up->bin.a, v);
                right = weighed_operand(b, up->bin.b, right);
            }
            v = combine_operands(b, up, v, right);
        }
    }
    vec_free(&spine);
    return v;
}

struct branch {
    const ast_expr *e;
    val c, a;
};

/* if ... else if ... else: resolves the last value first, then goes back up. */
static val
choice(builder *b, const ast_expr *e, bool whole)
{
    elab *el = b->el;
    VEC(struct branch) branch = { 0 };
    const ast_expr *last;
    val v;

    for (; e->kind == AST_IF; e = e->cond.b) {
        struct branch x = { .e = e };
        double known_condition;
        bool sized;

        /* known while the model is built: the other branch may read what does not exist, as m[i - 1] for the first i */
        if (known_number(el, b->in, e->cond.c, "", true, &known_condition, &sized) && sized) {
            if (known_condition == 0)
                continue;
            e = e->cond.a;
            break;
        }

        x.c = resolve(b, e->cond.c, false);
        need_condition(b, &x.c, e->cond.c->at);
        x.a = resolve(b, e->cond.a, whole);
        need_number(el, &x.a, e->cond.a->at);
        vec_push(&branch, x);
    }
    last = e;
    v = resolve(b, last, whole);
    need_number(el, &v, last->at);
    while (branch.n) {
        struct branch *x = &branch.at[--branch.n];
        node other = v.n;

        if (b->any_unit && !x->a.bad && !v.bad)
            v.fit = FIT_ANY;
        else
            v = units_together(el, "alternatives", x->a, x->e->cond.a->at, v, last->at);
        if (x->c.bad)
            v.bad = true;
        if (!v.bad)
            v.n = ex_make(el->pool, EX_SELECT, x->c.n, x->a.n, other);
        if (v.fit == FIT_ZERO)
            v.fit = FIT_BARE;
        last = x->e->cond.a;
    }
    vec_free(&branch);
    return v;
}

static val
negation(builder *b, const ast_expr *e, bool whole)
{
    elab *el = b->el;
    val v;

    if (e->un.a->kind == AST_NUMBER && (whole || !ast_number_unit(e->un.a)))
        return number_value(b, e->un.a, e, -1, whole, false);
    v = resolve(b, e->un.a, false);
    if (v.m)
        return may_write_out(el, (uint64_t)v.m->rows * v.m->cols, e->at) ? negate_matrix(el, v) : val_bad(el);
    need_number(el, &v, e->un.a->at);
    if (!v.bad)
        v.n = ex_neg(el->pool, v.n);
    return v;
}

static val
resolve_inside(builder *b, const ast_expr *e, bool whole)
{
    elab *el = b->el;
    ast_part room;
    ast_ref ref;
    val v;

    switch (e->kind) {
    case AST_NUMBER: return number_value(b, e, e, 1, whole, false);
    case AST_STRING:
        diag_error(el->s, "text-value", e->at, "a text is not a value; texts name the file of a table");
        return val_bad(el);
    case AST_REF: ref = ast_expr_ref(e, &room); return read_ref(b, &ref);
    case AST_NEG: return negation(b, e, whole);
    case AST_NOT:
        v = resolve(b, e->un.a, false);
        need_condition(b, &v, e->un.a->at);
        if (!v.bad)
            v.n = ex_make(el->pool, EX_NOT, v.n, NODE_NONE, NODE_NONE);
        return v;
    case AST_BINARY: return binary(b, e);
    case AST_IF: return choice(b, e, whole);
    case AST_CALL: return resolve_call(b, e);
    case AST_MATRIX: break;
    }
    return make_matrix(b, e);
}

val
resolve(builder *b, const ast_expr *e, bool whole)
{
    elab *el = b->el;
    val v;

    if (el->depth >= DEEPEST) {
        diag_error(el->s, "nesting", e->at, "this expression nests deeper than %d levels", DEEPEST);
        return val_bad(el);
    }
    el->depth++;
    v = resolve_inside(b, e, whole);
    el->depth--;
    return v;
}

val
resolve_law(builder *b, const ast_expr *e)
{
    val v;

    if (e->kind == AST_NUMBER)
        return number_value(b, e, e, 1, true, true);
    if (e->kind == AST_NEG && e->un.a->kind == AST_NUMBER)
        return number_value(b, e->un.a, e, -1, true, true);
    v = resolve(b, e, true);
    need_single(b->el, &v, e->at);
    return v;
}
