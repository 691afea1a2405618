/* check_bonds_inside.h - what the check_bonds*.c files share; nobody else includes it */
#ifndef BG_CHECK_BONDS_INSIDE_H
#define BG_CHECK_BONDS_INSIDE_H

#include "elab.h"

/* known*X^(num/den), X the unit of symbol sym; sym NONE: just known. known NULL: fits any; one: a bare 1, any in sums
 * and no factor. stated: a unit of the text takes part. Where none does, nothing is said: models without units are in
 * plain numbers. bare: a number or parameter without unit. written: a number, parameter or constant with one takes
 * part, beside which a bare number is a pure factor. loose: a bare number multiplies what is made of variables alone,
 * and so fits any; known is the unit without it. factor: a bare number was taken for a pure factor. */
typedef struct measure {
    const unit *known;
    uint32_t sym;
    int num, den;
    bool one, stated, bare, written, loose, factor;
} measure;

struct region {
    const unit *effort, *flow; /* NULL: not known yet */
    bool apart;                /* a pseudo bond that does not say its units: neither follows from the other */
    uint32_t from;             /* equation that fixed it; NONE: its domain */
    bool said;                 /* a clash was reported */
};
enum equation_kind { EQ_LAW, EQ_INITIAL, EQ_SIGNAL, EQ_REINIT };

struct equation {
    enum equation_kind kind;
    uint32_t index;   /* in flat.law, initial, var, reinit */
    uint32_t unknown; /* regions and signals it reads and that are not known */
    bool queued;
};

/* What one look at an equation finds. */
struct finding {
    uint32_t sym;
    const unit *is;         /* a symbol solved; NONE: none */
    bool clash, impossible; /* units differ; what would be needed is no unit */
    node a, b;              /* what clashes, NODE_NONE: the two sides */
    const unit *ua, *ub;
};

struct check {
    elab *el;
    flat_model *f;
    const unit *watt;
    uint32_t *root;        /* of a junction */
    struct region *region; /* by root */
    uint32_t opened;       /* a region looked at as if nothing were known of it, NONE */
    measure *at;           /* by node, scratch */
    VEC(struct equation) eq;
    uint32_t *reader0,
        *reader; /* equations that read an item: a region (its root) or a signal (junctions + variable) */
    VEC(uint32_t) queue;
    size_t head;
    struct finding found;
    bool shows; /* the equation gives an output that has a unit */
};
static const measure anything = { .sym = NONE }, bare_number = { .sym = NONE, .bare = true };

/* Calls see for each region and each signal without unit that e reads, once each. */
struct items {
    const struct check *c;
    uint32_t *stamp, now;
    VEC(uint32_t) item;
};

/* ---- check_bonds.c ---- */
uint32_t bonds_in_port(const flat_model *f, const flat_law *law);
void bonds_look(struct check *c, const struct equation *e);
void bonds_list_items(struct items *t, const struct equation *e);

/* The value that a variable is one of, or NULL. Values are in the order of their variables. */
const value *bonds_value_of(const elab *el, var_id v);

/* ---- check_bonds_measure.c ---- */
measure bonds_plain(const unit *u);
measure bonds_stated(const unit *u);
measure bonds_times(const struct check *c, measure a, measure b, int sign);

/* The region a bond variable belongs to, NONE for others. */
uint32_t bonds_region_of(const struct check *c, var_id v);
measure bonds_variable(const struct check *c, var_id v);

/* a and b are in one unit: both known, they must agree; with one symbol open, it is solved. Returns what both are. */
measure bonds_same_unit(struct check *c, node na, measure a, node nb, measure b);
measure bonds_expression(struct check *c, inst i);

/* ---- check_bonds_report.c ---- */
void bonds_verify(struct check *c);

#endif
