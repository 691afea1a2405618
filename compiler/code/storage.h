/* storage.h - energies of storage laws, one port at a time: shared by the instances of a model
 *
 * Laws as formulas over a few numbers of their own (storage_number, then `read`), so that flat model and pool are not
 * needed to evaluate them. Made once, when an energy is first needed.
 *
 * units    stored quantity (q or p) in SI, its conjugate (effort for q, flow for p), energy in J
 * ports    storage ports have numbers of their own, in the order of ports
 */
#ifndef BG_STORAGE_H
#define BG_STORAGE_H

#include "formula.h"
#include "kinds.h"

struct equations;
struct flat_model;

/* Numbers that laws read. */
enum storage_number {
    STORAGE_OWN,   /* the stored quantity */
    STORAGE_OTHER, /* its conjugate */
    STORAGE_READ   /* from here on: the entries of `read` */
};
struct storage_read {
    enum { READ_PARAMETER, READ_STATE, READ_MODE, READ_ELSE } from;
    uint32_t at; /* the variable, the index of the state in x, or that of the mode */
};
struct storage_law {
    formula law;
    bool linear;   /* written as a single coefficient */
    bool assigned; /* gives a quantity of the port as a function of others */
    bool alone;    /* depends on nothing that varies except its own port */
    /* of varying quantities it depends on the stored one alone, or on the conjugate alone; both: on nothing */
    bool stored, other;
    uint32_t moved; /* STORAGE_OWN or STORAGE_OTHER: the only one that it reads; NONE: both, or none */
    uint32_t own;   /* index in x of the stored quantity; NONE: it is no state */
};

typedef struct storage_program {
    formula_book book;
    VEC(struct storage_read) read;
    VEC(struct storage_law) law; /* by port of storage */
    uint32_t *of_port;           /* by port: its number among storage ports; NONE: no storage */
} storage_program;

/* The variable that is the derivative of the energy by the stored quantity. */
var_id storage_conjugate(const struct flat_model *f, uint32_t port);
/* position: index of states in x and of modes, by variable */
storage_program *storage_program_new(const struct equations *e, const uint32_t *position);
void storage_program_free(storage_program *g);

/* Data of an instance. number, room: work arrays for storage_numbers and for the book. */
typedef struct storage_at {
    const storage_program *g;
    const double *value; /* of parameters and literals, by variable */
    const double *x, *modes;
    double *number, *room;
} storage_at;
size_t storage_numbers(const storage_program *g);

/* Energy taken up between two points {stored, conjugate}; NAN if the law depends on more than its own port and
 * parameters (for a linear law the coefficient at the end is used). */
double storage_energy(const storage_at *s, const struct storage_law *law, const double from[2], const double to[2]);
/* Second derivative of the energy by the stored quantity, for the present states and modes: 1/C, 1/m. NAN if the law
 * reads what is no state, or has no slope there. */
double storage_curvature(const storage_at *s, const struct storage_law *law);

#endif
