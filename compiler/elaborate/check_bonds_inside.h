/* check_bonds_inside.h - declarations shared by the files check_bonds*.c; no other file includes it */
#ifndef BG_CHECK_BONDS_INSIDE_H
#define BG_CHECK_BONDS_INSIDE_H

#include "elab.h"

/* The unit of an expression: known*X^(num/den), where X is the unit of symbol sym; sym NONE: just known. known NULL:
 * fits any unit; one: a bare 1, which fits any unit in sums and is no factor. stated: it depends on a unit in the text
 * (without any stated unit nothing is reported: such models use plain numbers). bare: a number or parameter without
 * unit. written: it depends on a number, parameter or constant with a unit, beside which a bare number is a pure
 * factor. loose: a bare number multiplies an expression of variables alone and so fits any unit; known is the unit
 * without it. factor: a bare number was taken as a pure factor. */
typedef struct measure {
    const unit *known;
    uint32_t sym;
    int num, den;
    bool one, stated, bare, written, loose, factor;
} measure;

struct region {
    const unit *effort, *flow; /* NULL: not known yet */
    bool apart;                /* a pseudo bond without declared units: neither follows from the other */
    uint32_t from;             /* equation that determined it; NONE: its domain did */
};
enum equation_kind { EQ_LAW, EQ_INITIAL, EQ_SIGNAL, EQ_REINIT, EQ_DELAY };

struct equation {
    enum equation_kind kind;
    uint32_t index;   /* index in flat.law, initial, var, reinit or delay */
    uint32_t unknown; /* number of regions and signals that it reads and whose units are unknown */
    bool queued;
};

/* The result of evaluating an equation. */
struct finding {
    uint32_t sym;
    const unit *is;         /* the solved symbol; NONE: none */
    bool clash, impossible; /* units differ; the required unit does not exist */
    node a, b;              /* what disagrees; NODE_NONE: the two sides */
    const unit *ua, *ub;
};

struct check {
    elab *el;
    flat_model *f;
    const unit *watt;
    uint32_t *root;        /* region of a junction */
    struct region *region; /* by root */
    uint32_t opened;       /* a region treated as unknown; NONE */
    measure *at;           /* by node, work array */
    VEC(struct equation) eq;
    /* An item is a region (its root) or a signal (junctions + variable). The equations that read it, and whether an
     * error was reported at it or at what its unit follows from: what contradicts it then is no error of its own. */
    uint32_t *reader0, *reader;
    bool *said;
    struct items *behind; /* for a walk over what follows */
    bool *follows;        /* by variable: the unit of the signal was found here, the text states none */
    VEC(uint32_t) queue;
    size_t head;
    struct finding found;
    bool shows;    /* the equation defines an output that has a unit */
    bool any_unit; /* only compared with zero: alternatives need not have the same unit */
};
static const measure anything = { .sym = NONE }, bare_number = { .sym = NONE, .bare = true };

/* The regions and signals without unit that an equation reads, each once. */
struct items {
    const struct check *c;
    uint32_t *stamp, now; /* [items] */
    VEC(uint32_t) item;
};

/* ---- check_bonds.c ---- */
uint32_t bonds_in_port(const flat_model *f, const flat_law *law);
void bonds_look(struct check *c, const struct equation *e);
void bonds_list_items(struct items *t, const struct equation *e);
void bonds_list_read(struct items *t, inst i);

/* The variable that has the unit of what the equation gives, unless it states its own; VAR_NONE for bonds. A signal
 * that holds has the unit of what it is set to. */
var_id bonds_takes_unit(const flat_model *f, const struct equation *e);

/* ---- check_bonds_measure.c ---- */
measure bonds_plain(const unit *u);
measure bonds_stated(const unit *u);
measure bonds_times(const struct check *c, measure a, measure b, int sign);

/* The region of a bond variable; NONE for others. */
uint32_t bonds_region_of(const struct check *c, var_id v);
measure bonds_variable(const struct check *c, var_id v);

/* a and b have one unit: known ones must agree; with one symbol unknown it is solved. Returns the unit of both. */
measure bonds_same_unit(struct check *c, node na, measure a, node nb, measure b);
measure bonds_expression(struct check *c, inst i);

/* ---- check_bonds_report.c ---- */
void bonds_verify(struct check *c);

#endif
