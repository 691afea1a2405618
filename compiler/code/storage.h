/* storage.h - energies of storage laws, evaluated one port at a time: what the instances of a model share
 *
 * Laws in closed form over a few numbers of their own (storage_number, then `read`), so that neither flat model nor
 * pool is needed to work them out. Made once, when an energy is first asked for.
 *
 * units    what the port stores (q or p) in SI, its conjugate (effort of a q, flow of a p), energy in J
 * ports    those of storage are numbered among themselves, in the order of ports
 */
#ifndef BG_STORAGE_H
#define BG_STORAGE_H

#include "formula.h"
#include "kinds.h"

struct equations;
struct flat_model;

/* What laws read */
enum storage_number {
    STORAGE_OWN,   /* what the port stores */
    STORAGE_OTHER, /* its conjugate */
    STORAGE_READ   /* and those behind: what `read` lists */
};
struct storage_read {
    enum { READ_PARAMETER, READ_STATE, READ_MODE, READ_ELSE } from;
    uint32_t at; /* the variable, the place of the state in x, or which mode */
};
struct storage_law {
    formula law;
    bool linear;        /* written as one coefficient */
    bool assigned;      /* gives a quantity of the port from others */
    bool alone;         /* reads nothing that moves but its own port */
    bool stored, other; /* of what moves it reads what is stored alone, the conjugate alone; both: nothing */
    uint32_t moved;     /* STORAGE_OWN or STORAGE_OTHER: the one that it reads, once; NONE: both, or none */
    uint32_t own;       /* the place in x of what is stored; NONE: it is no state */
};

typedef struct storage_program {
    formula_book book;
    VEC(struct storage_read) read;
    VEC(struct storage_law) law; /* by port of storage */
    uint32_t *of_port;           /* by port: its number among those of storage; NONE: it stores nothing */
} storage_program;

/* The variable that is the derivative of the stored energy by what a port of storage stores. */
var_id storage_conjugate(const struct flat_model *f, uint32_t port);
/* position: of states in x and of modes, by variable */
storage_program *storage_program_new(const struct equations *e, const uint32_t *position);
void storage_program_free(storage_program *g);

/* What an instance knows. number, room: scratch of storage_numbers and of the book's room. */
typedef struct storage_at {
    const storage_program *g;
    const double *value; /* of parameters and literals, by variable */
    const double *x, *modes;
    double *number, *room;
} storage_at;
size_t storage_numbers(const storage_program *g);

/* Energy taken up from one point to another, each {stored, conjugate}; NAN where the law reads more than its own port
 * and parameters (of a linear law: what the coefficient is at the end). */
double storage_energy(const storage_at *s, const struct storage_law *law, const double from[2], const double to[2]);
/* Second derivative of the energy by what the port stores, at the states and modes as they are: 1/C, 1/m. NAN where the
 * law reads what is no state, or has no slope there. */
double storage_curvature(const storage_at *s, const struct storage_law *law);

#endif
