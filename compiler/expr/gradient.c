/* gradient.c - derivatives of one template by many slots in one pass
 *
 * needs     a template without conditions: nothing may be propagated into an inactive branch
 * provides  simplified expressions; time linear in the template, for any number of slots
 *
 * Reverse accumulation: each operation passes the derivative of the result by it on to its operands.
 */
#include <string.h>

#include "expr_pool.h"

/* A constant factor or divisor of the whole (free of the requested slots) is kept outside the sums and multiplied
 * once. */
struct outside {
    node core, factor;
    bool divides;
};

static bool
is_asked(const node *reads, node n)
{
    return reads[n] != 0;
}

static struct outside
take_outside(const pool *p, node n, const node *reads)
{
    const ex_node *e = pool_node(p, n);

    if (e->op == EX_DIV && !is_asked(reads, e->b))
        return (struct outside){ e->a, e->b, true };
    if (e->op == EX_MUL && is_asked(reads, e->a) != is_asked(reads, e->b))
        return is_asked(reads, e->a) ? (struct outside){ e->a, e->b, false } : (struct outside){ e->b, e->a, false };
    return (struct outside){ n, NODE_NONE, false };
}

/* The derivative of operation n by its operand j. */
static node
partial(pool *p, node n, int j)
{
    return pool_slope(p, n, j == 0 ? p->one : p->zero, j == 1 ? p->one : p->zero, j == 2 ? p->one : p->zero);
}

void
ex_gradient(pool *p, node n, const uint32_t *slot, uint32_t nslots, node *out)
{
    size_t count, last;
    const node *found = pool_collect(p, n, &count);
    node *tape = bg_malloc(count * sizeof *tape), *change = bg_malloc(((size_t)n + 1) * sizeof *change),
         *reads = bg_calloc((size_t)n + 1, sizeof *reads);
    uint32_t bound = ex_slot_bound(p, n), *number = bg_malloc((bound + 1) * sizeof *number);
    struct outside o;

    memcpy(tape, found, count * sizeof *tape);
    for (uint32_t k = 0; k < bound; k++)
        number[k] = NONE;
    for (uint32_t k = 0; k < nslots; k++) {
        out[k] = p->zero;
        if (slot[k] < bound)
            number[slot[k]] = k;
    }
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(p, tape[i]);
        const node kid[3] = { e->a, e->b, e->c };

        change[tape[i]] = NODE_NONE;
        if (e->op == EX_SLOT)
            reads[tape[i]] = number[e->a] != NONE;
        for (int j = 0, m = ex_operands(e); j < m; j++)
            reads[tape[i]] |= reads[kid[j]];
    }
    o = take_outside(p, n, reads);
    change[o.core] = p->one;
    for (last = count; last > 0 && tape[last - 1] != o.core; last--)
        ;
    for (size_t i = last; i-- > 0;) {
        node at = tape[i];
        const ex_node *e = pool_node(p, at);
        const node kid[3] = { e->a, e->b, e->c };

        if (change[at] == NODE_NONE || !is_asked(reads, at))
            continue;
        if (e->op == EX_SLOT) {
            node whole = change[at];

            if (o.factor != NODE_NONE)
                whole = o.divides ? ex_div(p, whole, o.factor) : ex_mul(p, whole, o.factor);
            out[number[e->a]] = whole;
            continue;
        }
        for (int j = 0, m = ex_operands(e); j < m; j++) {
            node more;

            if (!is_asked(reads, kid[j]))
                continue;
            more = ex_mul(p, change[at], partial(p, at, j));
            change[kid[j]] = change[kid[j]] == NODE_NONE ? more : ex_add(p, more, change[kid[j]]);
        }
    }
    free(tape);
    free(change);
    free(reads);
    free(number);
}
