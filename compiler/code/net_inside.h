/* net_inside.h - declarations shared by the files of net.h; no other file includes it */
#ifndef BG_NET_INSIDE_H
#define BG_NET_INSIDE_H

#include <lapacke.h>

#include "net.h"
#include "staircase.h"

enum { ORDERS = 3 };
#define NET_NOISE 1e-13 /* relative to the sum of the magnitudes of an unknown's terms: less is rounding */
#define NET_SMALL \
    1e-3 /* SI: an unknown below this is judged like one of this size, so that less than 1e-16 never matters */
#define NET_FLOOR 1e-14 /* relative to the greatest value of its unit: a smaller flow counts as none */

/* Of an unknown's usual size: so far one at zero is moved for slopes within an iteration, which has to come nearer to
 * the solution. */
#define NET_BESIDE 1e-12
#define NET_LEFT 4 /* times its last step: how far from the solution a slow iteration ends */
/* Where slopes are taken as difference quotients, or beside a place at which there are none, states are moved by this
 * part of their size, or of the least size (SI). */
#define NET_PROBE 1e-6
#define NET_LEAST_SIZE 1e-3

/* Effect of a held unknown on a state. */
struct push {
    uint32_t state, held;
    double value;
};

/* One term of the sum `to`. */
struct term {
    uint32_t to, of;
    double value;
};

struct row_end {
    uint32_t row, end;
};

/* The terms of all nets in one combination of modes, for nets whose coefficients depend on modes alone (net_joined.c).
 */
struct in_modes {
    double *modes;
    struct known **known;    /* [n] of the nets */
    VEC(struct term) term;   /* of held unknowns by rows: of small nets, unordered, */
    VEC(struct term) wide;   /* and of large nets, row by row; */
    VEC(struct row_end) end; /* where those of each row end: most rows are zero, as nothing acts on them */
    VEC(struct term) watch;  /* of differences by held unknowns: magnitudes */
    VEC(struct push) push;   /* held: of all nets */
    VEC(uint32_t) rest;      /* states at rest */
};
struct joined {
    struct in_modes *now;       /* of the cache: the one that describes the nets as they are; else NULL */
    bool used;                  /* the last solution was computed with it */
    VEC(struct in_modes) cache; /* combinations that occurred: a converter repeats a few */
    size_t next;                /* of the cache: the one that is replaced next */
    VEC(uint32_t) reads;        /* modes that any net reads */
    const double *row;          /* the rows computed last, in the order of their computation */
    double *slack;              /* [nwatch] scratch */
};

/* Coefficient of a state in a constraint. */
struct slope {
    uint32_t constraint, state;
    double value;
};

/* What is known of a net in one combination of modes. */
struct known {
    double *key;    /* [nmodes] */
    double *a, *aw; /* coefficients of held unknowns: in conditions [3n*n], in differences [3nw*n] */
    VEC(struct push) push;
    staircase *now, *ahead; /* ahead: for this h; NULL until a search needs it */
    double h;
    VEC(uint32_t) rest; /* states that the constraints hold at zero; computed once */
    bool rest_known;
    VEC(struct slope) slope; /* of the constraints, computed at the same time */
};

/* Properties of a curved net that hold at every point, for one combination of modes. */
struct general {
    bool *may;            /* [3n*n + 3nw*n] coefficients that may be nonzero */
    uint32_t constraints; /* on states */
};

struct net {
    const net_part *q;
    /* the coefficients depend on more than parameters and modes: one combination is kept and computed again each
     * time */
    bool varies;
    VEC(struct known *) known;
    uint32_t last; /* of known: the most recently used */
    /* s; shortest time constant that the coefficients had, for curved nets now; INFINITY: none */
    double tau;
    double *size;                /* [2*nwatch] greatest magnitude of each difference so far, by mode: 0, not 0 */
    double *ahead;               /* [nwatch] differences at the last look ahead */
    struct known *now;           /* used by the last solve */
    double *settled;             /* [nmodes] modes at the last search */
    VEC(uint32_t) rest;          /* states at rest in these modes */
    bool bound;                  /* these modes constrain states */
    bool searched;               /* searched at least once */
    bool stays;                  /* during a search: nothing changed for it */
    double *guess;               /* [n] for curved nets: the last solution, at which conditions are linearized */
    double *tangent;             /* [3n*n + 3nw*n] coefficients there: of conditions, of differences */
    VEC(struct general) general; /* of curved nets */
    map general_of;              /* combination of modes -> index in general */
    /* of an iteration step: its length relative to the unknowns, the part of it that is taken, the length of the one
     * before */
    double whole, part, before;
    double near;      /* of an iteration: to how much of NET_BESIDE unknowns at zero are moved for slopes */
    bool walks, done; /* the step is to be shortened further; the solution is found */
    bool coarse;      /* slopes that are rounding beside the other terms of their condition count as zero */
    double *rows;     /* [3n] greatest magnitude of each condition so far, for zero unknowns */
};

struct nets {
    const net_form *form;
    nets_access access;
    double *modes, *held; /* held = modes + number of modes */
    size_t nmodes, nheld, nwatch, nrows, nx;
    struct net *net;
    size_t n;
    bool any_varies;
    struct joined joined;
    bool *watched;      /* by mode */
    double *raw, *raw0; /* [nrows] */
    struct rows_at {    /* rows for zero held unknowns, where they were evaluated last; without curved nets */
        bool known;
        double t, *x, *modes, *raw;
    } at_zero;
    double *raw_noise; /* [nrows] scratch */
    double *rounding;  /* [nrows] for curved nets: rounding errors of conditions at the last search */
    double *xsize;     /* [nx] greatest magnitude of each state so far, */
    const uint32_t *group, *unit;
    double *group_size; /* and of all states of the same unit */
    double *unit_size;  /* greatest magnitude of held unknowns, by unit */
    /* partial derivatives */
    jacobian *j;
    struct model_pattern pattern;
    double *value;          /* [nonzeros] at the last evaluation */
    bool shared;            /* which was for all nets, with the present unknowns (net_share_partials) */
    size_t ny, held0, row0; /* number of kept variables; where held columns and target rows begin in the pattern */
    double *by_y;           /* [ny*(nheld)] kept variables by held unknowns, negative */
    double *gy;
    lapack_int *pivot; /* factored matrix of the kept variables */
    /* the last solution */
    double solved_t, *solved_x, *solved_modes;
    bool solved;
    /* scratch */
    double *z, *c, *noise, *terms; /* terms: [nx] zeros between uses */
    double *from;                  /* [nheld] start of the step */
    /* of a search: modes at its start and while it tries others [2*nwatch]; states at its start [nx] */
    double *given, *x_given;
    uint32_t *which;     /* [nwatch] those that contradict, while modes are exchanged; */
    map seen;            /* combinations that were met */
    double *constrained; /* [ORDERS*nheld] terms of constraints */
    double *stepped;     /* [nheld] last step of an iteration */
    /* integrator's matrix */
    struct model_pattern matrix;
    int64_t *column, *row;
    uint32_t *net_of; /* [nheld] */
    int64_t *source;
};

bool net_need_partials(nets *s); /* compiles their code, once; false: failed, as reported */
struct known *net_known(nets *s, struct net *k, double t, const double *x);
/* Where several nets vary, evaluates partial derivatives for all at once: net_known takes these while s->shared. */
void net_share_partials(nets *s, double t, const double *x);
/* Slopes at unknowns next to zero are taken nearer to them from now on. False: it makes no difference, or no more. */
bool net_come_nearer(const nets *s, struct net *k);
int net_rows(nets *s, double t, const double *x);
/* Rows for zero held unknowns; for curved nets the tangents at the last solution, extrapolated to zero. Leaves the held
 * unknowns where the coefficients are to be evaluated. */
int net_rows_free(nets *s, double t, const double *x);
/* Update sizes: the held unknowns are a solution. Of one net, noise [n]: what is no more is rounding, and no size. */
void net_held_sizes(nets *s);
void net_note_sizes(nets *s, const struct net *k, const double *noise);
/* Possible rounding error of each unknown of a net, solved by r from raw. */
void net_noise(nets *s, const struct net *k, const staircase *r, const double *raw, double *to);
/* Where a net's unknowns balance what else moves a state (a blocked coil, coils in a ring without a source), rounding
 * is left of its rate. Of states at zero alone it would be all there is. */
void net_quiet_rates(const nets *s, double *dx);
void net_quiet_pushed(const nets *s, const struct push *push, size_t n, const double *held, double *dx);
bool net_settled(const nets *s, const struct net *k); /* are its modes those of its last search? */
/* The states that rest in its present modes, n of them. */
const uint32_t *net_resting(const nets *s, const struct net *k, size_t *n);
void net_forget(nets *s);
void net_sizes(nets *s, const double *x); /* updates sizes: x has occurred */
double net_size(const nets *s, size_t i); /* usual magnitude of state i */
/* Partial derivatives at (t, x), for the present modes and held unknowns, into s->value. */
int net_partials(nets *s, double t, const double *x);

/* Adds the coefficients of a net's rows [3n*n] and differences [3nw*n], from the last partial derivatives, to a and
 * aw. */
void net_coefficients(nets *s, const struct net *k, double *a, double *aw);
/* Sets sums of cancelling terms to zero. */
void net_drop_rounding(const struct net *k, double *a, double *aw);

/* ---- net_joined.c ---- */

void net_joined_free(struct joined *j);
void net_joined_forget(struct joined *j); /* what is known of nets has gone */
/* Joins the nets as they are solved in the present modes; net_known of any of them ends that. */
void net_join(nets *s);
/* Are they joined in the present modes, or have they been? */
bool net_joins(nets *s);
int net_joined_solve(nets *s, double t, const double *x);
/* Differences and rates that are rounding to zero, as nets_quiet and nets_rest. */
void net_joined_quiet(nets *s, double *g);
void net_joined_rest(const nets *s, double *dx);

/* ---- net_curved.c ---- */

/* What a curved net's conditions depend on in the present modes: beside a flat law or a blocking junction some
 * coefficients are as small as rounding; they count as zero. */
struct general net_general(nets *s, struct net *k, double t, const double *x);
/* Rounding errors of all rows at (t, x): their changes when states and time change by their own rounding errors, in
 * several directions. The rows themselves are then in s->raw. */
int net_rounding(nets *s, double t, const double *x, double *to);
/* Adds to these what the rows, which are in s->raw, change by when the unknowns change by next to nothing of the
 * greatest of their unit: beside an infinite slope that is much. */
int net_rounding_of_unknowns(nets *s, double t, const double *x, double *to);
/* Sets the unknowns to values of their usual sizes that are in no special relation; `number` selects among several such
 * points. */
void net_stand_anywhere(nets *s, int number);
void net_unknown_sizes(const nets *s, double *size); /* by unit, without the present unknowns */
/* Moves the held unknowns of curved nets by the steps in s->stepped, shortened until the residual decreases (Newton
 * steps for a root whose solution is zero would overshoot for ever). s->raw: the rows there. */
int net_shorten(nets *s, double t, const double *x, const double *size);

/* ---- net_slopes.c ---- */

/* Rows of the present constraints by states, in reduced echelon form: [nc*ns] for the states in `state`. */
struct slopes {
    uint32_t nc, ns;
    double *a;
    VEC(uint32_t) state;
};

void net_slopes_free(struct slopes *g);
/* Slopes of the present constraints at (t, x). terms (may be NULL): the coefficients of each constraint before
 * elimination. By differences if variables are kept, otherwise from the partial derivatives. */
bool net_slopes(nets *s, struct net *k, const struct known *w, double t, double *x, struct known *terms,
                struct slopes *g);
/* The only state of row r, or NONE. */
uint32_t net_single(const struct slopes *g, uint32_t r);
/* Finds the states that the constraints hold at zero, those alone in a constraint. Stored in w, once. */
bool net_find_rest(nets *s, struct net *k, struct known *w, double t, double *x);
/* Row r of o applied to b; *all: the sum of the magnitudes of its terms. */
double net_row_sum(const sparse_rows *o, uint32_t r, const double *b, double *all);

/* ---- net_kick.c ---- */

/* Moves the states by the impulses of the held unknowns (of one net, or of all bound ones) that the constraints of the
 * present modes require. *most: greatest change, relative to the states' sizes. */
int net_kick(nets *s, double t, double *x, struct net *only, double *most);

/* ---- net_constraints.c ---- */

#define NET_AHEAD 1e-5 /* of the shortest time constant of the coefficients: how far ahead a search looks */
#define NET_HOLDS 1e-8 /* of the sum of a constraint's terms: it is met if no more is left of them */
/* Does constraint r contain a condition itself, not only derivatives of conditions? */
bool net_is_of_values(const sparse_rows *constraint, uint32_t r);
/* Are the states x on the constraints of w, or, where `late` is given, on those of values, up to their motion within
 * that time? Rows with the held unknowns at zero are in s->raw. */
bool net_on_constraints(const nets *s, const struct net *k, const struct known *w, const double *x, const double *late);
/* Are they off them by no more than rounding? ahead: how far a search looks. */
bool net_off_by_rounding(nets *s, const struct net *k, const struct known *w, double t, const double *x, double ahead);
/* Where w makes a constraint of a condition and of its derivative, as a stop does of a position, and the states meet it
 * up to the integrator's error and rounding: sets the condition to exactly zero in s->raw. Impulses do not move
 * positions back, and closing what is left within a time h would take forces of its size by h^2. */
void net_drop_drift(nets *s, const struct net *k, const struct known *w, const double *x);

/* ---- net_search.c ---- */

double net_reach(const struct net *k, double ahead);           /* how far a search looks */
void net_keep_modes(nets *s, const struct net *k, double *to); /* [nwatch] */
void net_set_modes(nets *s, const struct net *k, const double *from);
/* Do the present modes hold at (t, x), once x is moved onto their constraints? */
bool net_admit(nets *s, struct net *k, double t, double *x, const double *x_given);
span net_place(const nets *s, const struct net *k); /* of its first ideal switch */

/* ---- net_others.c ---- */

/* Of the solutions of a curved net that move no state, that whose unknowns are nearest to those of the last one: where
 * it ended, since a law folds back there. Its modes are set. h: as of net_contradictions. */
bool net_take_nearest(nets *s, struct net *k, double t, const double *x, double h);

/* ---- net_pivot.c ---- */

double *net_mode_of(nets *s, const struct net *k, uint32_t w);
/* Distance to the side of zero that belongs to a mode: below, or not below; or at most zero, or above. */
double net_margin_of(nets *s, const struct net *k, uint32_t w, double g);
/* Differences a time h later, from the rows in s->raw (for zero held unknowns): returns the number that contradict
 * their modes, and which. */
int net_contradictions(nets *s, struct net *k, struct known *w, double h, uint32_t *which);
void net_exchange_all(nets *s, const struct net *k);
/* Exchanges modes until none contradicts a time h later. soft: each condition contains a small part of its other
 * branch. */
bool net_pivot(nets *s, struct net *k, double t, const double *x, double h, bool soft);

#endif
