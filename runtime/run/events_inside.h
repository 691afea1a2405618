/* events_inside.h - declarations shared by the files events_*.c; no other file includes it */
#ifndef BG_EVENTS_INSIDE_H
#define BG_EVENTS_INSIDE_H

#include "events.h"
#include "samples.h"

/* ---- constants of all events_*.c; the size of a condition g is the greatest |g| seen so far (events.size) ---- */

/* A run ends with an error when one condition switches more than CHATTER_MOST times within CHATTER_SPAN of the run. An
 * ideal switch may do so CHATTER_NETS times as often: where it feeds a state through a law that is flat at zero, it
 * opens and closes at every step as long as source and state differ by less than the tolerance. */
#define CHATTER_MOST 500
#define CHATTER_NETS 4
#define CHATTER_SPAN 1e-9
/* From this number of switchings within CHATTER_SPAN, or of rounds at one instant, a condition is compared with its own
 * rounding error, which costs too much to do each time. */
#define CHATTERS 20
#define CHASING 4
/* of the run: an ideal switch that switches again within this time may follow errors of the states */
#define SOON_AGAIN 1e-6
#define ROUNDS 60     /* most rounds of switchings at one instant; follow_contradictions adds four for each condition */
#define NOTHING 1e-18 /* of a condition's size: a margin that is negative by less counts as zero */
/* of a condition's size: a mode that is contradicted by less than this stays; it is rounding, or the next step sees it
 */
#define CONTRADICTION 1e-11
#define AT_REST 1e-9 /* of a condition's size: the x of a sign(x) counts as zero below this */
/* of the run: an x that has always been zero has as its size what its friction alone would make of it in this time */
#define HELD_SIZE 1e-3
/* of the states' tolerances: two modes count as alike if until the end of the run their rates would part by less, and a
 * rate as zero that moves its state by less */
#define MOVES_NOTHING 1e-3
#define LOUDER 4.0 /* a condition held as rounding is released when it exceeds the rounding error by this factor */
#define AHEAD 1e-7 /* of the run: how far ahead the right limits of conditions are looked at, at most */

struct due { /* mode switches at t */
    double t;
    uint32_t mode;
};

/* Conditions that compare one quantity with a threshold each; from..to: those that are looked at. */
struct ladder {
    const uint32_t *rung; /* [n] */
    uint32_t n, from, to;
    double now, before; /* the quantity as in e->g, and as in e->g_before */
    double least, most; /* of it, where sizes were noted */
    double trail[3];    /* of it, at the places of events.trail */
};

struct events {
    bg_model *model;
    size_t n, nx;
    double start, stop, t;
    struct model_mode *mode;
    double *value;                          /* [n] values of the modes, in the model's memory */
    double *g, *size;                       /* [n] left less right side of each condition; greatest |g| so far */
    double *size_other, *sized;             /* [n] of ideal switches: the size in the other mode; the mode of `size` */
    double *sign;                           /* [n] MODE_EQUAL: the sign of g since it was last zero */
    double *g_before;                       /* [n] g before the present event */
    double *g_ahead, *x_ahead, *f, *f_half; /* g, states and rates a short time ahead, for right limits */
    VEC(uint32_t) watched, near, turn;      /* modes without known times; those looked at; those about to switch */
    struct ladder *ladder;                  /* [nladders], by the quantity compared */
    size_t nladders;
    double *quantity;                  /* [nladders] where conditions were evaluated last */
    struct model_threshold *threshold; /* [n] */
    VEC(uint32_t) rung;                /* modes with a threshold, ladder by ladder in ascending order */
    bool *marked;                      /* [n] its margin was not positive at the start of the step */
    unsigned *count;                   /* [n] switchings since `since`, for the guard against chattering */
    double *since;
    double *turned_at;                      /* [n] when it switched last, if it has two sides */
    VEC(struct due) heap;                   /* the next switching of each known mode */
    size_t *passed;                         /* [n] known pieces of tables: corners passed */
    double *next;                           /* [n] known floor() and lines in time: when it switches next */
    uint32_t *first_counting, *counting;    /* [n + 1], [n] known modes that read a known floor(), listed by it */
    double *value_before;                   /* [n] modes before the last switching */
    double *value_kept, *x_kept;            /* modes and states before a trial */
    VEC(uint32_t) on_border;                /* events_stay_on_border: conditions that are zero */
    double *g_try, *g_aside, *x_try, *kick; /* for trials with other modes or states */
    bool any_sign, any_domain;
    bool nets, starting; /* nets: the model has ideal switches; starting: x are initial values */
    double *quiet;       /* [n] |g| up to this is taken for rounding error */
    double *most;        /* [n] greatest |g| since the last switching, of corners and of conditions that chatter */
    /* [n] of ideal switches: switchings in a row, soon after one another, between which the tolerances can make |g| */
    unsigned *little;
    bool *noted;                    /* [n] `most` is kept for this one */
    bool *far;                      /* [n] not looked at, by events_rest_far */
    bool *plain;                    /* [n] a < or <= of the text, not tied to a sign(x): its margin is g or -g */
    bool *of_net;                   /* [n] set by the search for the modes of ideal switches, not here */
    VEC(uint32_t) gates, gates_end; /* modes known before the search, by level, and where each level ends (gates.h) */
    uint32_t gates_alone;           /* number of those, the first, that read no others */
    double *g_gates;                /* [2*gates] their conditions, now and a short time later */
    bool *follows;                  /* [n] sign(x) with a value between -1 and 1: x is zero because other signs stick */
    struct trail {
        uint64_t places, *last;    /* how many so far; [n] the last at which it was looked at */
        double t[3], (*margin)[3]; /* the last three; [n] relative margins there, NAN: unknown */
    } trail;
    double drift; /* greatest |x| among the x that stick, relative to its size */
    size_t last;  /* mode that switched last, or NO_INDEX */
    size_t nwhens, nreinits;
    struct model_when *when;
    bool *passing, any_passing; /* [n] an equality that passes from one side to the other at this instant */
    bool *held, *turned;        /* [nwhens] its condition was true when last evaluated; it has turned true just now */
    double *reinit;             /* [nwhens + nreinits] conditions of `when`, then the values that they set */
    void (*follow)(void *ctx, size_t when, bool first, const double *x); /* events_follow */
    void *follow_ctx;
    double (*moves)(void *ctx, const double *dx, double time); /* events_measure */
    void (*tolerated)(void *ctx, double *dx);
    void *moves_ctx;
    samples *samples; /* NULL: the text has none */
    size_t stopped;   /* `stop when` that turned true, or NO_INDEX */
    struct firing {
        double at, interval, since; /* of the last one; before it; `count` counts from here */
        unsigned count, closer;     /* closer: how many intervals in a row were shorter than the one before */
    } * firing;                     /* [nwhens] for the guard against events without end */
};

/* ---- events.c ---- */
double events_tiny(const events *e, double t); /* s: times that differ by less are one instant */

/* ---- events_known.c ---- */
struct due events_heap_pop(events *e);

/* Sets known mode k, and the modes that read it, to the values just after t; puts their next switchings into the heap.
 * True: one changed. */
bool events_set_known(events *e, uint32_t k, double t);
bool events_set_all_known(events *e, double t); /* the same for all known modes; t may also lie before the present */
void events_list_counting(events *e);           /* fills first_counting and counting; call once */

/* ---- events_conditions.c ---- */

/* Evaluates all conditions into g. False: one is not finite, or a root would be taken of a negative number. */
bool events_look(events *e, double t, const double *x, double *g);

/* Does the x of this sign(x), or of this condition on the same x, stick? */
bool events_sticks(const events *e, uint32_t k);

/* Modes that number pieces: of a table, or of floor(). The ends of a piece, and the piece that contains g. */
bool events_stepped(const struct model_mode *m);
double events_lower_corner(const struct model_mode *m, double piece);
double events_upper_corner(const struct model_mode *m, double piece);
double events_piece_of(const struct model_mode *m, double g);

/* How far mode k is from being contradicted by g; negative: it is. */
double events_margin_other(const events *e, uint32_t k, double g);
static inline double
events_margin_of(const events *e, uint32_t k, double g)
{
    return !e->plain[k] ? events_margin_other(e, k, g) : e->value[k] != 0 ? -g : g;
}
/* For modes that keep switching at (t, x): is g only the rounding error of condition k? Then k is held until |g| is
 * larger. */
bool events_rests(events *e, uint32_t k, double t, const double *x, double g);
void events_note_sizes(events *e, const double *g);

/* A time d ahead of (t, x) over which rates change by less than half, so that a straight line tells which way things
 * move: less than the fastest time constant. Leaves the rates at (t, x) in e->f, those at t + d/2 in e->f_half and the
 * state there in e->x_ahead. False: cannot be evaluated. */
bool events_ahead_of(events *e, double t, const double *x, double *d);

/* Puts into g_ahead the conditions at t + d, after a midpoint step, so that x moves even where its rate is still zero.
 */
bool events_look_ahead(events *e, double t, const double *x, double *d);

/* Has condition k become exactly zero by a jump (it was not at g_before)? Then it takes its value at zero, not that of
 * the side it came from. */
bool events_jumped_onto_other(const events *e, uint32_t k, double g);
static inline bool
events_jumped_onto(const events *e, uint32_t k, double g)
{
    return (!e->plain[k] || g == 0) && events_jumped_onto_other(e, k, g);
}

/* As events_look_ahead, for conditions that a jump has set to zero: g_ahead follows the derivative of g, and the
 * midpoint step only where that derivative is zero. So a body leaves a stop after an impact, however slowly. */
bool events_look_aside(events *e, double t, const double *x);

/* The value of mode k just after now, where its condition is g and moves towards `ahead`. resting: if it stays at zero,
 * it keeps the value it has. */
double events_right_value_other(const events *e, uint32_t k, double g, double ahead, bool resting);
static inline double
events_right_value(const events *e, uint32_t k, double g, double ahead, bool resting)
{
    return e->plain[k] && g != 0 ? g < 0 : events_right_value_other(e, k, g, ahead, resting);
}

/* Is g exactly where mode k switches? */
bool events_at_border_other(const events *e, uint32_t k, double g);
static inline bool
events_at_border(const events *e, uint32_t k, double g)
{
    return e->plain[k] ? g == 0 : events_at_border_other(e, k, g);
}
void events_report_chatter(events *e, uint32_t k, double t);

/* Counts a switching of k; false: there were too many, which is reported. */
bool events_allow(events *e, uint32_t k, double t);
/* g and ahead: as of events_right_value */
void events_set_mode(events *e, uint32_t k, double value, double g, double ahead);

/* ---- events_near.c ---- */

void events_make_ladders(events *e);
void events_free_ladders(events *e);
/* The conditions at (t, x), of ladders those that are looked at: what comes near is from now on. False: cannot be
 * evaluated. */
bool events_conditions(events *e, double t, const double *x, double *g);
void events_keep_before(events *e); /* g to g_before */
void events_note_quantities(events *e);
/* What is clear of its border, where e->g was evaluated, and not the nearest to it, is not looked at for now. */
void events_rest_far(events *e);

/* ---- events_stick.c ---- */

/* The x of sign(x) k has reached zero (g is its computed value): it sticks if it can, and slips on otherwise. */
void events_meet_zero(events *e, uint32_t k, double t, const double *x, double g);
/* Mode `stick` ends: s is the value of sign(x) that would be needed to hold x. */
void events_release(events *e, uint32_t stick, double t, const double *x, double s);

/* As events_look, but releases what sticks where no finite value of sign(x) holds it. */
bool events_look_released(events *e, double t, const double *x);

/* Sets sign(x) k to slip to this side (0: neither), with the conditions on the same x. */
void events_set_side(events *e, uint32_t k, double side);
/* Sets sign(x) k, whatever it was: an x (here g) within `slack` of zero may stick. True: it changed. */
bool events_settle_sign(events *e, uint32_t k, double t, const double *x, double g, double slack);
/* Sets each x that sticks to exactly zero, by impulses of its friction on the states. */
void events_hold_all(events *e, double t, double *x);

/* ---- events_together.c ---- */

/* Decides for all signs whose x are zero at (t, x) together which of them stick. True: a mode changed. */
bool events_stick_together(events *e, double t, const double *x);

/* ---- events_settle.c ---- */

/* Searches the modes of ideal switches, all those of a net together, that hold just after t. farther: a factor on how
 * far ahead the search looks. */
enum events_status events_search(events *e, double t, double *x, double farther);

/* Sets the gates as they are just after t, before a search: those that are contradicted, and those that are exactly
 * zero: all of them, those that read other gates (their values jump), or only those that a jump has made zero. States
 * that move are seen later, with the other conditions. */
enum gates_at_zero { ZERO_BY_JUMP, ZERO_OF_READERS, ZERO_OF_ALL };
void events_settle_gates(events *e, double t, const double *x, enum gates_at_zero which);

/* Where the equations have no solution in the present modes (a switch has opened, and the diode beside it has not
 * closed yet): switches one more mode, or only one of those that have just switched together, so that they have one. */
bool events_look_around(events *e, double t, const double *x);

/* Last resort: tries all combinations of the modes, if there are few, those with the fewest changes first. */
bool events_look_everywhere(events *e, double t, const double *x);

/* Tries whether conditions that are zero at (t, x) stay there, held by ideal switches: only such for which "equal"
 * gives another result than both sides do (a current that is compared with zero by l.f > 0 and by l.f < 0). False:
 * modes and x are as before. */
bool events_stay_on_border(events *e, double t, double *x);

/* Sets all watched modes, whatever they were, in rounds until they agree with their conditions, which may depend on
 * other modes. jumped: states have just been set, so a condition that is zero leaves zero in the direction of its
 * derivative. */
enum events_status events_settle_right(events *e, double t, double *x, bool jumped);

/* ---- events_act.c ---- */

/* Reports an assertion that does not hold, with the values that it reads. */
void events_fail_assertion(events *e, size_t w, double t, const double *x);

#endif
