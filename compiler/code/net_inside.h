/* net_inside.h - what the files of net.h share; nobody else includes it */
#ifndef BG_NET_INSIDE_H
#define BG_NET_INSIDE_H

#include <lapacke.h>

#include "net.h"
#include "staircase.h"

enum { ORDERS = 3 };
#define NET_NOISE 1e-13 /* of the sum of magnitudes that an unknown is made of: what rounding leaves of zero */
#define NET_SMALL 1e-3  /* no unknown is so small that less than 1e-16 of it matters */
#define NET_FLOOR 1e-14 /* of the greatest value of its unit: less is never a flow */

/* How a held unknown moves a state. */
struct push {
    uint32_t state, held;
    double value;
};

/* What a state is multiplied by in a constraint. */
struct slope {
    uint32_t constraint, state;
    double value;
};

/* One combination of modes. */
struct known {
    double *key;    /* [nmodes] */
    double *a, *aw; /* by held unknowns: conditions [3n*n], differences [3nw*n] */
    VEC(struct push) push;
    staircase *now, *ahead; /* ahead: NULL until a search asks, for this h: */
    double h;
    VEC(uint32_t) rest; /* states that the constraints hold at zero; known once */
    bool rest_known;
    VEC(struct slope) slope; /* of the constraints, then too */
};

/* Of a curved net with one combination of modes, wherever one stands. */
struct general {
    bool *may;            /* [3n*n + 3nw*n] coefficients that may be other than zero */
    uint32_t constraints; /* on states */
};

struct net {
    const net_part *q;
    bool varies; /* the coefficients depend on more than parameters and modes: one combination is kept, made anew each
                    time */
    VEC(struct known *) known;
    uint32_t last;               /* of known: most recently used */
    double tau;                  /* s; shortest time that the coefficients had, of curved nets: have; INFINITY: none */
    double *size;                /* [nwatch] greatest difference so far */
    double *ahead;               /* [nwatch] differences at the last look ahead */
    struct known *now;           /* of the last solve */
    double *settled;             /* [nmodes] modes since the last search, */
    VEC(uint32_t) rest;          /* and the states at rest in them */
    bool bound;                  /* they have constraints */
    bool searched;               /* once at least */
    bool stays;                  /* of a search: nothing has changed for it */
    double *guess;               /* [n] of curved nets: the last solution, at which their conditions are made linear */
    double *tangent;             /* [3n*n + 3nw*n] coefficients there: of conditions, of differences */
    VEC(struct general) general; /* of curved nets */
    map general_of;              /* combination of modes -> which of them */
    double whole, part, before;  /* of a step: its length in parts of the unknowns, how much of it is taken, the length
                                    of the one before; */
    bool walks, done;            /* not yet short enough; the solution is found */
    double *rows;                /* [3n] greatest magnitude of each condition so far, its unknowns at zero */
};

struct nets {
    const net_form *form;
    nets_access access;
    double *modes, *held; /* held = modes + number of modes */
    size_t nmodes, nheld, nwatch, nrows, nx;
    struct net *net;
    size_t n;
    bool any_varies;
    bool *watched;      /* by mode */
    double *raw, *raw0; /* [nrows] */
    double *raw_noise;  /* [nrows] scratch */
    double *rounding;   /* [nrows] of curved nets, at the last search: what rounding leaves of conditions */
    double *xsize;      /* [nx] greatest magnitude so far, */
    const uint32_t *group, *unit;
    double *group_size; /* and that of the states of the same unit */
    double *unit_size;  /* the greatest magnitude of held unknowns of a unit */
    /* partial derivatives */
    jacobian *j;
    struct model_pattern pattern;
    double *value;          /* [nonzeros] at the last evaluation */
    size_t ny, held0, row0; /* kept variables; where held columns and target rows begin in the pattern */
    double *by_y;           /* [ny*(nheld)] kept variables by held unknowns, negative */
    double *gy;
    lapack_int *pivot; /* kept variables by themselves, factored */
    /* the last solution */
    double solved_t, *solved_x, *solved_modes;
    bool solved;
    /* scratch */
    double *z, *c, *noise, *terms; /* terms: [nx] zeros between two uses */
    double *from;                  /* [nheld] where it begins */
    double *stepped;               /* [nheld] of the last step of an iteration */
    /* integrator's matrix */
    struct model_pattern matrix;
    int64_t *column, *row;
    uint32_t *net_of; /* [nheld] */
    int64_t *source;
};

bool net_need_partials(nets *s); /* compiles their code, once; false: it fails, and that is said */
struct known *net_known(nets *s, struct net *k, double t, const double *x);
int net_rows(nets *s, double t, const double *x);
/* Rows with the held unknowns at zero; of curved nets what their tangents at the last solution say of zero. Leaves the
 * held unknowns where the coefficients are to be taken. */
int net_rows_free(nets *s, double t, const double *x);
void net_held_sizes(nets *s); /* the held unknowns are a solution */
/* What may be rounding in each unknown of a net, solved by r from raw. */
void net_noise(nets *s, const struct net *k, const staircase *r, const double *raw, double *to);
bool net_settled(const nets *s, const struct net *k); /* are its modes those of its last search? */
void net_forget(nets *s);
void net_sizes(nets *s, const double *x); /* x has been seen */
double net_size(const nets *s, size_t i); /* usual magnitude of state i */
/* Partial derivatives at (t, x), with modes and held unknowns as they are, into s->value. */
int net_partials(nets *s, double t, const double *x);
/* The states moved by the impulses of the held unknowns (of one net, or of all that are bound) that the present modes'
 * constraints ask for. *most: greatest change, in parts of the states' sizes. */
int net_kick(nets *s, double t, double *x, struct net *only, double *most);

/* Coefficients of a net's rows [3n*n] and differences [3nw*n] are added to a and aw, from the partial derivatives last
 * evaluated. */
void net_coefficients(nets *s, const struct net *k, double *a, double *aw);
/* Makes zero what sums of terms that cancel have left. */
void net_drop_rounding(const struct net *k, double *a, double *aw);

/* ---- net_curved.c ---- */

/* What a curved net's conditions depend on in the present modes: beside a flat law or a junction that blocks
 * coefficients are as small as rounding, and are none. */
struct general net_general(nets *s, struct net *k, double t, const double *x);
/* What rounding leaves of all rows at (t, x): what they change by as states and time change by theirs, this way and
 * that. The rows themselves are in s->raw then. */
int net_rounding(nets *s, double t, const double *x, double *to);
/* A place for the unknowns that is like no other, `number` of some: they have their usual sizes. */
void net_stand_anywhere(nets *s, int number);
void net_unknown_sizes(const nets *s, double *size); /* by unit, but for the unknowns as they are */
/* Moves the held unknowns of curved nets by the steps in s->stepped, shortened (a root whose solution is zero is
 * stepped over for ever) until what is left falls. s->raw: the rows there. */
int net_shorten(nets *s, double t, const double *x, const double *size);

/* ---- net_slopes.c ---- */

/* Rows of the present constraints by states, reduced by Gauss and Jordan: [nc*ns] for the states in `state`. */
struct slopes {
    uint32_t nc, ns;
    double *a;
    VEC(uint32_t) state;
};

void net_slopes_free(struct slopes *g);
/* Slopes of the present constraints at (t, x). terms (may be NULL): what each constraint has of which state, as it is.
 * By differences where variables are kept, else by the partial derivatives. */
bool net_slopes(nets *s, struct net *k, const struct known *w, double t, double *x, struct known *terms,
                struct slopes *g);
/* The only state of row r, or UINT32_MAX. */
uint32_t net_single(const struct slopes *g, uint32_t r);
/* States that the constraints hold at zero: alone in one of them. Into w, once. */
bool net_find_rest(nets *s, struct net *k, struct known *w, double t, double *x);
/* Row r of o applied to b; *all: the sum of the magnitudes of its terms. */
double net_row_sum(const sparse_rows *o, uint32_t r, const double *b, double *all);

/* ---- net_pivot.c ---- */

double *net_mode_of(nets *s, const struct net *k, uint32_t w);
/* Which side of zero a mode is for: below, or not; or below and zero, or above. */
double net_margin_of(nets *s, const struct net *k, uint32_t w, double g);
/* Differences a time h on, from the rows in s->raw (held unknowns zero): gives how many contradict their modes, and
 * which. */
int net_contradictions(nets *s, struct net *k, struct known *w, double h, uint32_t *which);
/* Exchanges modes until none contradicts a time h on. soft: each condition with a little of its other side. */
bool net_pivot(nets *s, struct net *k, double t, const double *x, double h, bool soft);

#endif
