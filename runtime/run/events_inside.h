/* events_inside.h - declarations shared by the files events_*.c; no other file includes it */
#ifndef BG_EVENTS_INSIDE_H
#define BG_EVENTS_INSIDE_H

#include "events.h"
#include "samples.h"

#define CHATTER_MOST 500 /* greatest number of switchings of one condition within CHATTER_SPAN of the run */
/* Ideal switches may switch so many times as often: beside a law that is flat at zero, one opens and closes at each
 * step while a state that follows a source differs from it by less than the tolerance. */
#define CHATTER_NETS 4
#define CHATTER_SPAN 1e-9
#define CHATTERS 20   /* number of these switchings after which they may be due to rounding */
#define CHASING 4     /* rounds of switchings at one time, after which they may be due to rounding */
#define ROUNDS 60     /* greatest number of successive switchings at one time; four more for each condition */
#define NOTHING 1e-18 /* relative to a condition's size: within this distance it counts as on its border */
/* relative to a condition's size: a smaller contradiction is rounding, and the next step decides */
#define CONTRADICTION 1e-11
#define AT_REST 1e-9 /* relative to the size of what may stick: below it counts as at rest */
#define HELD_SIZE \
    1e-3 /* relative to the run: the usual size of a velocity that sticks is what friction alone gives it in this time \
          */
#define LOUDER 4.0 /* factor above known rounding errors from which a value is not rounding */
#define AHEAD 1e-7 /* relative to the run: greatest distance that right limits look ahead */

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
    double *sign;                           /* [n] for MODE_EQUAL: sign of g since its last zero */
    double *g_before;                       /* conditions as evaluated before the present event */
    double *g_ahead, *x_ahead, *f, *f_half; /* at a point ahead, for right limits */
    VEC(uint32_t) watched, turn;            /* turn: those that are going to switch */
    bool *marked;
    unsigned *count;
    double *since; /* [n] time since which switchings are counted, for the guard */
    VEC(struct due) heap;
    size_t *passed;                         /* [n] corners passed, for known pieces */
    double *next;                           /* [n] when a known floor(), or a condition on a line, switches next */
    uint32_t *first_counting, *counting;    /* [n + 1], [n] known modes that read a known floor(), by that */
    double *value_before;                   /* [n] modes before the last switching */
    double *value_kept, *x_kept;            /* of events_stay_on_border: values and states before its trials */
    VEC(uint32_t) on_border;                /* of events_stay_on_border: the conditions concerned */
    double *g_try, *g_aside, *x_try, *kick; /* trial values for another mode or state */
    bool any_sign, any_domain;
    bool nets, starting; /* nets: the model has ideal switches; starting: x are initial values */
    double *quiet;       /* [n] up to this size a condition is rounding */
    double *most;        /* [n] greatest |g| since the last switching, for corners and chattering conditions */
    bool *noted;         /* [n] is `most` kept for this one? */
    bool *plain;         /* [n] one of the text with two sides: its margin is g or -g */
    bool *of_net;        /* [n] modes that the search of a net sets */
    bool *follows;       /* [n] signs with values between -1 and 1 whose x are zero because others stick */
    double drift;        /* greatest |x| that sticks, relative to its size */
    size_t last;         /* mode that switched last, or NO_INDEX */
    size_t nwhens, nreinits;
    struct model_when *when;
    bool *held, *turned; /* [nwhens] the condition was true at the last evaluation; turned true just now */
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

/* Sets a known mode to its value just after t, with those that read it, and puts the next switching into the heap. */
bool events_set_known(events *e, uint32_t k, double t);
bool events_set_all_known(events *e, double t); /* the same for all, from any time before; true: one changed */
void events_list_counting(events *e);           /* once */

/* ---- events_conditions.c ---- */
bool events_look(events *e, double t, const double *x, double *g);

/* For a sign, and for a condition on the same x. */
bool events_sticks(const events *e, uint32_t k);

/* Modes that count pieces: of a table, or integers. The limits of a piece, and the piece that contains g. */
bool events_stepped(const struct model_mode *m);
double events_lower_corner(const struct model_mode *m, double piece);
double events_upper_corner(const struct model_mode *m, double piece);
double events_piece_of(const struct model_mode *m, double g);
double events_margin_other(const events *e, uint32_t k, double g);
static inline double
events_margin_of(const events *e, uint32_t k, double g)
{
    return !e->plain[k] ? events_margin_other(e, k, g) : e->value[k] != 0 ? -g : g;
}
/* Modes switch each other endlessly at (t, x): is g only the rounding error of k's condition? Then k is held until g is
 * larger. */
bool events_rests(events *e, uint32_t k, double t, const double *x, double g);
void events_note_sizes(events *e, const double *g);

/* The distance ahead of (t, x) for which a straight line tells the direction of motion: short enough that rates do not
 * reverse, within the fastest time constant. Leaves the rates at (t, x) in e->f, those half way ahead in f_half, the
 * state there in x_ahead. False: cannot be evaluated. */
bool events_ahead_of(events *e, double t, const double *x, double *d);

/* The direction of g from (t, x): its values a short time ahead, by a midpoint step, so that a start from rest counts
 * too. */
bool events_look_ahead(events *e, double t, const double *x, double *d);

/* Has the condition jumped onto its border (from g_before)? Then it does not rest there but has its value at the
 * border. */
bool events_jumped_onto_other(const events *e, uint32_t k, double g);
static inline bool
events_jumped_onto(const events *e, uint32_t k, double g)
{
    return (!e->plain[k] || g == 0) && events_jumped_onto_other(e, k, g);
}
/* The same for a condition that a jump left on its border (e->g is zero): g_ahead is the point to which the derivative
 * of g leads, and only where that is zero the midpoint step. So an impact counts as leaving, however slow it is. */
bool events_look_aside(events *e, double t, const double *x);

/* Value of mode k just after g, if g moves to `ahead` next. resting: on a border that it reached by an event, it keeps
 * the side of that event. */
double events_right_value_other(const events *e, uint32_t k, double g, double ahead, bool resting);
static inline double
events_right_value(const events *e, uint32_t k, double g, double ahead, bool resting)
{
    return e->plain[k] && g != 0 ? g < 0 : events_right_value_other(e, k, g, ahead, resting);
}
bool events_at_border_other(const events *e, uint32_t k, double g);
static inline bool
events_at_border(const events *e, uint32_t k, double g)
{
    return e->plain[k] ? g == 0 : events_at_border_other(e, k, g);
}
void events_report_chatter(events *e, uint32_t k, double t);

/* Counts a switching of k; false: there were too many. */
bool events_allow(events *e, uint32_t k, double t);
void events_set_mode(events *e, uint32_t k, double value, double g, double ahead);

/* ---- events_stick.c ---- */

/* x of sign k is at zero; g is its evaluated value: sticks if possible, otherwise slips on. */
void events_meet_zero(events *e, uint32_t k, double t, const double *x, double g);
void events_release(events *e, uint32_t stick, double t, const double *x, double s);

/* Like events_look, but releases what sticks if no finite value keeps it there. */
bool events_look_released(events *e, double t, const double *x);

/* x of sign k leaves zero to this side; sets the conditions on it too. */
void events_set_side(events *e, uint32_t k, double side);
/* Sets sign k without regard to its earlier value: x within `slack` of zero may stick. g is its x. */
bool events_settle_sign(events *e, uint32_t k, double t, const double *x, double g, double slack);
void events_hold_all(events *e, double t, double *x);

/* ---- events_together.c ---- */

/* Decides for all signs whose x are zero at (t, x) together which of them stick. True: a mode changed. */
bool events_stick_together(events *e, double t, const double *x);

/* ---- events_settle.c ---- */

/* Sets the modes of ideal switches to their values just after t, all those of a net together. */
enum events_status events_search(events *e, double t, double *x, double farther);

/* The equations have no solution in the present modes (a switch opened, and the diode beside it has not closed yet):
 * searches one further mode to switch, or one of several that switched together, with which they have. */
bool events_look_around(events *e, double t, const double *x);

/* If exchanging modes fails, tries all combinations of the modes that were exchanged (or of all, if there are few),
 * those with few exchanges first. */
bool events_look_everywhere(events *e, double t, const double *x);

/* May conditions that are on their borders at (t, x) be what they say exactly there, because ideal switches then keep
 * them there? So a current that two conditions compare with zero (l.f > 0 or l.f < 0) ends there, as where only one
 * does. Looked at where what they say there is what they say on neither side. False: modes and x are as before. */
bool events_stay_on_border(events *e, double t, double *x);

/* Sets watched modes without regard to earlier values until they are consistent (a condition may depend on another
 * mode). */
enum events_status events_settle_right(events *e, double t, double *x, bool jumped);

/* ---- events_act.c ---- */

/* Reports a violated assertion, with the values that it reads. */
void events_fail_assertion(events *e, size_t w, double t, const double *x);

#endif
