/* structure_relations.h - the linear relations of a bond graph at a point, and what is derived from them
 *
 * Used by the structured form, the pencil and the second-order form. The variables of the bond graph are columns of
 * linear relations: balances, bonds, two-ports, signals, laws of sources (structure_relations.c). Storage elements and
 * dissipators are first left out: their outputs are free variables and their inputs are solved for (structure.c). Then
 * their laws are inserted (structure_laws.c), and dependent storage and outputs of dissipators are solved for
 * (structure_solve.c).
 */
#ifndef BG_STRUCTURE_RELATIONS_H
#define BG_STRUCTURE_RELATIONS_H

#include "elimination.h"
#include "equations.h"
#include "structure.h"

enum { NEVER, INNER, WANTED, EITHER }; /* preference of a column as a pivot: 1 first */
/* Kind of a free column; FREE_LOOSE: left open by the relations, only in a pencil. */
enum { FREE_NONE, FREE_Z, FREE_D, FREE_U, FREE_X, FREE_RATE, FREE_LOOSE };

struct relations {
    bg_model *m;
    flat_model *f;
    const equations *e;
    const causal *c;
    structure *s;
    pool *pool; /* NULL without text */
    double *v;  /* values of all variables */
    elimination *r;
    size_t
        nvars; /* of the flat model; further columns: sources' own parts, then residuals of junctions that are states */
    size_t ncolumns;
    uint8_t *may;
    uint8_t *seen; /* variables whose definition is already a row */
    VEC(var_id) todo;
    uint32_t *row_of;       /* [var] row of x where it is a state's variable, NONE */
    uint32_t *rate;         /* [n] column of dx/dt; NONE: zero */
    bool *rests;            /* [n] the balance does not determine dx/dt: a junction of dependent storage */
    uint32_t *kind, *index; /* [column] a FREE_* and its number */
    bool *block_seen;
    bool outputs;        /* rows of outputs too */
    const var_id *input; /* [ninput] variables that are u, instead of the sources' own parts; NULL: those */
    size_t ninput;
    uint8_t *acts;     /* [var] it is one of them */
    bool as_equations; /* dependent storage from the model's own equations */
    bool fine;
};

/* Effect of the rates of dependent storage before they are eliminated: J_SD (n by nd), J_LD (nl by nd); outputs of
 * dependent storage: G_S, G_X, G_U; its laws. */
struct dependence {
    structure_block J_SD, J_LD, G_S, G_X, G_U, C;
};

/* ---- shared helpers ---- */
void relations_fail(struct relations *w, const char *fmt, ...) BG_PRINTF(2, 3);
node relations_number(const struct relations *w, double x); /* as an expression, NODE_NONE without text */
struct slope {
    double value;
    node text;
};
/* Derivative of an expression by its slot k, at the point. */
struct slope relations_slope(struct relations *w, inst i, uint32_t k);
bool relations_moves(const struct relations *w, var_id v); /* false for time, parameters, constants and modes */
void relations_need(struct relations *w, var_id v);        /* its definition has to be among the rows */
/* Of storage: the effort or flow that the stored quantity determines, and the one that is its rate. */
var_id port_gives(const flat_model *f, uint32_t port);
var_id port_rate(const flat_model *f, uint32_t port);

structure_block block_new(const struct relations *w, size_t rows, size_t columns);
void block_free(structure_block *b);
void block_add(struct relations *w, structure_block *b, size_t row, size_t column, double value, node text);

/* Destinations of the coefficients of a solved variable, by the kind of their column; a NULL block must get none. */
struct receivers {
    structure_block *z, *d, *u, *x, *rate, *loose;
};
void relations_spread(struct relations *w, uint32_t column, size_t row, const struct receivers *to, double factor,
                      const char *what);
void relations_spread_sum(struct relations *w, const sum *s, size_t row, const struct receivers *to, double factor,
                          const char *what); /* of a row as it stands */

/* Collects and eliminates the relations at a point, and determines the direction of each dissipator. Set what w asks
 * for before. Call relations_close in any case. */
void relations_open(struct relations *w, bg_model *m, double t, const double *x, const size_t *order, structure *s);
void relations_close(struct relations *w);
void relations_set_free(struct relations *w, uint32_t column, uint32_t kind, size_t index);

/* ---- the parts, in order ---- */
void relations_collect(struct relations *w);
/* The J, without the rates of dependent storage. */
void relations_matrices(struct relations *w, struct dependence *d);
/* S, L, L_X with the requested inputs after x; d->C. */
void relations_laws(struct relations *w, struct dependence *d);
/* Slopes of storage laws by port: from stored quantity to output (gives), or back. Other dependences: by_x. */
void relations_storage_laws(struct relations *w, const uint32_t *port, size_t n, bool gives, structure_block *slope,
                            const size_t *column, structure_block *by_x);
/* Eliminates dependent storage from the expressions of the J; call before it is eliminated from their numbers. */
void relations_write_dependent(struct relations *w, struct dependence *d);
void relations_include_dependent(struct relations *w, struct dependence *d);
/* J, D_in, K, H, and with them A and B. */
void relations_solve_dissipators(struct relations *w, const struct dependence *d);
void relations_write_out(struct relations *w); /* A and B as expressions */
void dependence_free(struct dependence *d);

#endif
