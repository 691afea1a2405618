/* inactive.h - finds the elements that fall below a threshold on activity, and the model without them
 *
 * Every window of every experiment is ranked on its own, and so is each regime that was asked for. An element is
 * inactive only where it is inactive in all of them, so that an element that matters in one regime of the response
 * stays. Sources are not ranked; elements that an experiment keeps stay.
 *
 * source   Louca et al. (MORA), as Rideout and Stein apply it before and after partitioning
 */
#ifndef BG_INACTIVE_H
#define BG_INACTIVE_H

#include "condition.h"

/* Names are in the arena. */
typedef struct name_list {
    const char *of;
    VEC(const char *) name;
} name_list;

/* The greatest share of the activity that each element has in any ranked window; names are in the arena. */
typedef struct element_share {
    const char *name;
    double share;
} element_share;
typedef struct share_list {
    const char *of;
    const element_share *at;
    size_t n;
} share_list;

/* One model of a comparison: its sizes, and the cost of running its first experiment. */
typedef struct table_row {
    const char *name;
    size_t elements, states, dependent, loops;
    uint64_t steps;
    double seconds;
} table_row;

/* A time interval within a run, s. */
typedef struct regime {
    double from, to;
} regime;

/* What to rank: the windows, and n regimes in each run that contains them. */
typedef struct inactive_options {
    double share; /* the elements that stay must add up to this share */
    const regime *regime;
    size_t n;
    void (*failed)(void *ctx, const sources *s);
    void *ctx;
} inactive_options;

/* Runs the recordings and ranks their elements. out: the inactive ones, the least active first. all: shares of every
 * element. False: a run failed and `failed` was called; or *beyond is a regime that lies within no run (else NULL). */
bool inactive_find(const recording *run, size_t nruns, const inactive_options *o, arena *a, name_list *out,
                   share_list *all, const regime **beyond);
/* Share of an element; NAN where the list does not have it. The names of a model that was written out differ, as in
 * names_beyond. */
double share_in(const share_list *list, const char *name, arena *a);

/* The names of one list that the other one lacks. A model that was written out has names of its own: `front_spring` for
 * front.spring. */
name_list names_beyond(const name_list *of, const name_list *other, arena *a);

/* Makes the text without these elements (dropped, or at rest: reduce.h), as many of them as can go so that it still
 * runs. *text: free() it; NULL where none can go. stay: the elements that have to stay. */
void text_without(const recording *run, size_t nruns, const name_list *gone, arena *a, char **text, size_t *length,
                  name_list *stay);

/* Fills all of a row but its name. */
bool row_of(const recording *run, void (*failed)(void *ctx, const sources *s), void *ctx, table_row *out);

#endif
