/* formula.c - see formula.h */
#include "formula.h"

#include <math.h>

#include "expr_pool.h"

static uint32_t
operand(const node *at, node n)
{
    return n == NODE_NONE ? NODE_NONE : at[n];
}

static uint32_t
write_code(formula_book *b, pool *p, node root)
{
    size_t count;
    const node *tape = ex_tape(p, root, &count);
    node *at = pool_images(p, root); /* node -> index among these operations */

    if (!b->code.n)
        vec_push(&b->code, 0);
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(p, tape[i]);
        struct formula_op o = { .op = e->op };

        at[tape[i]] = (uint32_t)i;
        if (e->op == EX_SLOT) {
            o.a = e->a;
        } else if (e->op == EX_CONST) {
            o.value = e->value;
        } else {
            o.a = operand(at, e->a);
            o.b = operand(at, e->b);
            o.c = operand(at, e->c);
            o.table = e->op == EX_TABLE || e->op == EX_TABLE_SLOPE ? pool_table(p, e->table) : NULL;
        }
        vec_push(&b->op, o);
    }
    vec_push(&b->code, (uint32_t)b->op.n);
    b->room = count > b->room ? count : b->room;
    return (uint32_t)b->code.n - 2;
}

formula
formula_write(formula_book *b, pool *p, node root, const uint32_t *slot, uint32_t n)
{
    const ex_node *e = pool_node(p, root);
    formula f = { .n = n };

    if (e->op == EX_SLOT)
        return (formula){ FORMULA_ITSELF, slot[e->a], 1 };
    f.code = map_get(&b->code_of, root);
    if (f.code == MAP_NONE)
        map_set(&b->code_of, root, f.code = write_code(b, p, root));
    f.first = (uint32_t)b->slot.n;
    for (uint32_t k = 0; k < n; k++)
        vec_push(&b->slot, slot[k]);
    return f;
}

void
formula_close(formula_book *b)
{
    map_free(&b->code_of);
}

void
formula_book_free(formula_book *b)
{
    vec_free(&b->op);
    vec_free(&b->code);
    vec_free(&b->slot);
    map_free(&b->code_of);
}

const struct formula_op *
formula_ops(const formula_book *b, const formula *f, size_t *n)
{
    static const struct formula_op itself = { .op = EX_SLOT };

    if (f->code == FORMULA_ITSELF) {
        *n = 1;
        return &itself;
    }
    *n = b->code.at[f->code + 1] - b->code.at[f->code];
    return b->op.at + b->code.at[f->code];
}

double
formula_value(const formula_book *b, formula f, const double *value, double *room)
{
    const struct formula_op *o;
    const uint32_t *slot;
    size_t n;

    if (f.code == FORMULA_ITSELF)
        return value[f.first];
    o = formula_ops(b, &f, &n);
    slot = b->slot.at ? b->slot.at + f.first : NULL;
    for (size_t i = 0; i < n; i++, o++) {
        if (o->op == EX_CONST)
            room[i] = o->value;
        else if (o->op == EX_SLOT)
            room[i] = value[slot[o->a]];
        else if (o->table)
            room[i] = ex_apply(o->op, room[o->a], o->b == NODE_NONE ? -1 : room[o->b], 0, o->table);
        else
            room[i] = ex_apply(o->op, room[o->a], o->b == NODE_NONE ? 0 : room[o->b],
                               o->c == NODE_NONE ? 0 : room[o->c], NULL);
    }
    return room[n - 1];
}

/* ---------------------------------------------------------------- explanations for messages */

/* Walks from the result through operands that are not finite; a branch not taken does not count. */
double
formula_explain(const formula_book *b, formula f, const double *value, double *room, size_t *culprit)
{
    size_t n;
    const struct formula_op *ops = formula_ops(b, &f, &n);
    bool *blamed;
    double result = formula_value(b, f, value, room);

    *culprit = NO_INDEX;
    if (f.code == FORMULA_ITSELF || isfinite(result))
        return result;
    blamed = bg_calloc(n, sizeof *blamed); /* operations that contribute to the result */
    blamed[n - 1] = true;
    for (size_t i = n; i-- > 0;) {
        const struct formula_op *o = &ops[i];
        const uint32_t operand[3] = { o->a, o->b, o->c };
        bool passed_on = false;

        if (!blamed[i] || o->op == EX_SLOT)
            continue;
        for (int j = 0; j < 3 && o->op != EX_CONST; j++) {
            bool taken = o->op != EX_SELECT || j == 0 || (room[o->a] != 0) == (j == 1);

            if (operand[j] != NODE_NONE && taken && !isfinite(room[operand[j]])) {
                blamed[operand[j]] = true;
                passed_on = true;
            }
        }
        if (!passed_on)
            *culprit = i; /* the last one found is the first in order of evaluation */
    }
    free(blamed);
    return result;
}

struct names_of {
    const uint32_t *variable; /* by slot */
    const char *(*name)(void *ctx, uint32_t variable);
    void *ctx;
};

static const char *
formula_slot_name(void *ctx, uint32_t slot)
{
    const struct names_of *c = ctx;

    return c->name(c->ctx, c->variable[slot]);
}

void
formula_print(const formula_book *b, formula f, size_t k, table_set *tables,
              const char *(*name)(void *ctx, uint32_t variable), void *ctx, strbuf *out)
{
    size_t n;
    const struct formula_op *ops = formula_ops(b, &f, &n);
    struct names_of of = { formula_reads(b, &f), name, ctx };
    pool *p = pool_over(tables_keep(tables)); /* makes the template again */
    node *made = bg_malloc(n * sizeof *made);

    for (size_t i = 0; i <= k; i++) {
        const struct formula_op *o = &ops[i];
        ex_node e = { .op = o->op, .a = NODE_NONE, .b = NODE_NONE, .c = NODE_NONE };

        if (o->op == EX_CONST) {
            e.value = o->value;
        } else if (o->op == EX_SLOT) {
            e.a = o->a;
        } else {
            e.a = operand(made, o->a);
            e.b = operand(made, o->b);
            e.c = operand(made, o->c);
            e.table = o->table ? o->table->number : 0;
        }
        made[i] = pool_intern(p, e);
    }
    ex_print(p, made[k], formula_slot_name, &of, out);
    free(made);
    pool_free(p);
}

/* ---------------------------------------------------------------- who reads what */

static readers *
find_readers(const formula_book *b, const formula *list, size_t n, size_t nvars)
{
    readers *r = bg_malloc(sizeof *r);
    uint32_t *first = bg_calloc(nvars + 2, sizeof *first), *reader, total = 0;

    /* counts are stored one place ahead, so that filling moves each start to its place */
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < list[i].n; k++, total++)
            first[formula_reads(b, &list[i])[k] + 2]++;
    for (size_t v = 2; v < nvars + 2; v++)
        first[v] += first[v - 1];
    reader = bg_calloc((size_t)total + 1, sizeof *reader);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < list[i].n; k++)
            reader[first[formula_reads(b, &list[i])[k] + 1]++] = (uint32_t)i;
    *r = (readers){ first, reader };
    return r;
}

static void
release_readers(readers *r)
{
    if (r) {
        free(r->first);
        free(r->reader);
    }
    free(r);
}

const readers *
readers_of(readers_later *at, const formula_book *b, const formula *list, size_t n, size_t nvars)
{
    readers *r = atomic_load(at), *other = NULL;

    if (r)
        return r;
    r = find_readers(b, list, n, nvars);
    if (atomic_compare_exchange_strong(at, &other, r))
        return r;
    release_readers(r); /* another thread was first */
    return other;
}

void
readers_free(readers_later *at)
{
    release_readers(atomic_load(at));
}
