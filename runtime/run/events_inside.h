/* events_inside.h - what the events_*.c files share; nobody else includes it */
#ifndef BG_EVENTS_INSIDE_H
#define BG_EVENTS_INSIDE_H

#include "events.h"
#include "samples.h"

#define CHATTER_MOST 500 /* switchings of one condition within CHATTER_SPAN of the run */
#define CHATTER_NETS \
    4 /* so many times as many of an ideal switch: beside a law that is flat at zero it opens and shuts \
         at each step while a state that follows a source differs from it by less than tolerances */
#define CHATTER_SPAN 1e-9
#define CHATTERS 20         /* of these switchings: from here on it may be rounding that turns the condition */
#define CHASING 4           /* rounds, from which on it is looked at whether it is rounding that turns them */
#define ROUNDS 60           /* of switchings that follow from one another at one time; four more for each condition */
#define NOTHING 1e-18       /* of a condition's size: so far beyond its border it is on it still */
#define CONTRADICTION 1e-11 /* of a condition's size: below it is rounding, and the next step tells */
#define AT_REST 1e-9        /* of the size of what may stick: slower it rests */
#define HELD_SIZE 1e-3      /* of the run: in that time friction alone makes an x of usual size */
#define LOUDER 4.0          /* times what was found to be rounding is none */
#define AHEAD 1e-7          /* of the run: how far right limits look at most */

struct due {
    double t;
    uint32_t mode;
};

struct events {
    bg_model *model;
    size_t n, nx;
    double start, stop, t;
    struct model_mode *mode;
    double *value;                          /* the model's frozen values */
    double *g, *size;                       /* [n] differences; greatest |g| so far */
    double *sign;                           /* [n] of a MODE_EQUAL's g since its last zero */
    double *g_before;                       /* conditions as they were last looked at before what happens now */
    double *g_ahead, *x_ahead, *f, *f_half; /* forward evaluation, for right limits */
    VEC(uint32_t) watched, turn;            /* turn: those that are to switch */
    bool *marked;
    unsigned *count;
    double *since; /* [n] switchings since that time, for the guard */
    VEC(struct due) heap;
    size_t *passed;                         /* [n] corners passed, of known pieces */
    double *value_before;                   /* [n] modes before the last switching */
    double *g_try, *g_aside, *x_try, *kick; /* what would be, were a mode or the state another */
    bool any_sign;
    bool nets, starting; /* the model has ideal switches; x are initial values */
    double *quiet;       /* [n] up to this size a condition is rounding */
    double *most;        /* [n] greatest |g| since it turned last, of a corner or of what chatters */
    bool *of_net;        /* [n] modes that the search for theirs sets */
    bool *follows;       /* [n] signs, neither 1 nor -1, whose x are zero because others stick */
    double drift;        /* greatest |x| that sticks, in parts of its size */
    size_t last;         /* mode that switched last, or NO_INDEX */
    size_t nwhens, nreinits;
    struct model_when *when;
    bool *held, *turned; /* [nwhens] condition was true when last seen; turned true just now */
    double *reinit;      /* [nwhens + nreinits] */
    void (*follow)(void *ctx, size_t when, bool first, const double *x); /* events_follow */
    void *follow_ctx;
    double (*moves)(void *ctx, const double *dx, double time); /* events_measure */
    void (*tolerated)(void *ctx, double *dx);
    void *moves_ctx;
    samples *samples; /* NULL: the text has none */
    size_t stopped;   /* `stop when` that turned true, or NO_INDEX */
    struct firing {
        double at, interval, since;
        unsigned count, closer;
    } * firing; /* [nwhens] for the guard */
};

/* ---- events.c ---- */
double events_tiny(const events *e, double t);

/* ---- events_known.c ---- */
struct due events_heap_pop(events *e);

/* Sets a known mode for just after t and puts its next switching into the heap. */
bool events_set_known(events *e, uint32_t k, double t);

/* ---- events_conditions.c ---- */
bool events_look(events *e, double t, const double *x, double *g);

/* Of a sign, and of a condition on the same x. */
bool events_sticks(const events *e, uint32_t k);

/* Modes that count pieces: of a table, or whole numbers. Where a piece begins and ends, and which one g is in. */
bool events_stepped(const struct model_mode *m);
double events_lower_corner(const struct model_mode *m, double piece);
double events_upper_corner(const struct model_mode *m, double piece);
double events_piece_of(const struct model_mode *m, double g);
double events_margin_of(const events *e, uint32_t k, double g);
/* Modes have been chasing each other at (t, x): is g what rounding leaves of k's condition there? Then k rests until g
 * is larger. */
bool events_rests(events *e, uint32_t k, double t, const double *x, double g);
void events_note_sizes(events *e, const double *g);

/* How far ahead of (t, x) a straight line tells which way things go: not so far that the rates along it turn round,
 * which they do within the fastest time constant. Leaves the rates at (t, x) in e->f, those half of the way ahead in
 * f_half, the state there in x_ahead. False: not evaluable. */
bool events_ahead_of(events *e, double t, const double *x, double *d);

/* Which way g goes from (t, x): its values a short time ahead, by a midpoint step so that a start from rest counts too.
 */
bool events_look_ahead(events *e, double t, const double *x, double *d);

/* Has a condition jumped onto its border from elsewhere (g_before)? It does not rest there: it is what it says there.
 */
bool events_jumped_onto(const events *e, uint32_t k, double g);
/* The same for what a jump left at a border (e->g is zero there): g_ahead is where the derivative of g leads, and only
 * where that is zero the midpoint step. So an impact counts as leaving however slow it is. */
bool events_look_aside(events *e, double t, const double *x);

/* Value of mode k just after g, where g moves to `ahead` next. resting: on a border that it came to by an event, it
 * stays on that event's side. */
double events_right_value(const events *e, uint32_t k, double g, double ahead, bool resting);
bool events_at_border(const events *e, uint32_t k, double g);
void events_report_chatter(events *e, uint32_t k, double t);

/* Counts a switching of k; false when there were too many. */
bool events_allow(events *e, uint32_t k, double t);
void events_set_mode(events *e, uint32_t k, double value, double g, double ahead);

/* ---- events_stick.c ---- */

/* x of sign k is at zero, g its value as seen: sticks if it can, else slips on. */
void events_meet_zero(events *e, uint32_t k, double t, const double *x, double g);
void events_release(events *e, uint32_t stick, double t, const double *x, double s);

/* look(), giving up what sticks although nothing finite keeps it there. */
bool events_look_released(events *e, double t, const double *x);

/* x of sign k leaves zero to this side: so do the conditions on it. */
void events_set_side(events *e, uint32_t k, double side);
/* Sets sign k from scratch: x within `slack` of zero may stick. g is its x. */
bool events_settle_sign(events *e, uint32_t k, double t, const double *x, double g, double slack);
void events_hold_all(events *e, double t, double *x);

/* ---- events_together.c ---- */

/* Which of the signs whose x are zero at (t, x) stick, all of them decided together. True if a mode changed. */
bool events_stick_together(events *e, double t, const double *x);

/* ---- events_settle.c ---- */

/* Sets the modes of ideal switches for just behind t, all those of a net together. */
enum events_status events_search(events *e, double t, double *x, double farther);

/* With the modes as they are the equations have no solution (a switch opened, and the diode beside it has not closed
 * yet): looks for one mode more, or of several that switched together one alone, with which they have. */
bool events_look_around(events *e, double t, const double *x);

/* Where exchanging modes leads nowhere: all combinations of those that were (or of all, while there are few) are tried,
 * those with few exchanges first. */
bool events_look_everywhere(events *e, double t, const double *x);

/* Sets watched modes from scratch until they agree with themselves (a condition may depend on what another mode
 * changes). */
enum events_status events_settle_right(events *e, double t, double *x, bool jumped);

/* ---- events_act.c ---- */

/* An assertion that does not hold: said with what it reads. */
void events_fail_assertion(events *e, size_t w, double t, const double *x);

#endif
