/* expr_pool.h - how the pool stores its nodes: shared by the files of expr.h
 *
 * Nodes are stored in pages, so that their addresses stay valid while the pool grows. The work arrays are indexed by
 * node number and belong to one call at a time; ex_make never uses them.
 */
#ifndef BG_EXPR_POOL_H
#define BG_EXPR_POOL_H

#include "expr.h"

enum {
    PAGE_BITS = 10,
    PAGE = 1 << PAGE_BITS,
    FIRST_SLOTS = 32 /* slots found without the hash table: nearly all that templates have */
};

struct entry {
    ex_node n;
    uint32_t bound; /* 1 + greatest slot number in it; 0: no slots */
    uint64_t slots; /* bit min(k, 63) for each slot k in it */
};

struct scratch {
    uint32_t *stamp; /* by node: number of the call that last visited it */
    uint32_t now;
    size_t nstamp;
    double *value; /* by node */
    size_t nvalue;
    node *image; /* by node */
    size_t nimage;
    VEC(node) list; /* result of pool_collect */
};

struct tape {
    node *at;
    size_t n;
};

/* Result of ex_solve; solution NODE_NONE: there is none. */
struct solved {
    node solution, divisor;
};

struct pool {
    VEC(struct entry *) page;
    size_t n;
    uint32_t *slot; /* hash table of node numbers, NODE_NONE empty */
    uint32_t *hash; /* and their hashes */
    size_t nslot;
    node zero, one;
    node first_slot[FIRST_SLOTS]; /* NODE_NONE: not made yet */
    table_set *tables;
    map tape_of; /* node -> tape */
    VEC(struct tape) tape;
    map derivative_of; /* (node, slot) -> node */
    map solved_of;     /* (node, slot) -> solved: laws of equal form are solved once */
    VEC(struct solved) solved;
    struct scratch *scratch;
    arena *mem;
};

static inline struct entry *
pool_entry(const pool *p, node n)
{
    return &p->page.at[n >> PAGE_BITS][n & (PAGE - 1)];
}

/* Can slot k occur in n? Exact for k < 63. */
static inline bool
pool_may_read(const pool *p, node n, uint32_t k)
{
    const struct entry *e = pool_entry(p, n);

    return k < e->bound && (e->slots >> (k < 63 ? k : 63) & 1);
}

/* The distinct nodes of n in ascending order, in the work list: valid until the next call. */
const node *pool_collect(const pool *p, node n, size_t *count);
/* Work arrays of values and images for nodes 0 .. n. */
double *pool_values(const pool *p, node n);
node *pool_images(const pool *p, node n);
/* The derivative of operation n, given those of its operands da, db, dc. */
node pool_slope(pool *p, node n, node da, node db, node dc);
/* The operation of e with other operands. */
node pool_remake(pool *p, const ex_node *e, node a, node b, node c);
/* The number of this node, which is added if it is new; does not simplify. */
node pool_intern(pool *p, ex_node e);
node pool_raw(pool *p, enum ex_op op, node a, node b, node c);
/* Does slot k occur in n? */
bool pool_reads(const pool *p, node n, uint32_t k);

/* x^exponent, by multiplications if ex_integer_power says so */
double ex_power(double x, double exponent);
/* The value of an operation for its operands' values; op must not be a leaf. table may be NULL except for EX_TABLE. */
double ex_apply(enum ex_op op, double a, double b, double c, const ex_table *table);
bool ex_is_op(const pool *p, node n, enum ex_op op);
/* A function of one operand. */
static inline node
ex_call(pool *p, enum ex_op op, node a)
{
    return ex_make(p, op, a, NODE_NONE, NODE_NONE);
}
/* Number of operands a, b, c that are nodes. */
static inline int
ex_operands(const ex_node *e)
{
    return e->op == EX_SLOT || e->a == NODE_NONE ? 0 : e->b == NODE_NONE ? 1 : e->c == NODE_NONE ? 2 : 3;
}

#endif
