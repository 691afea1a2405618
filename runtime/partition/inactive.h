/* inactive.h - the elements of a model that a threshold on activity leaves out, and the model without them
 *
 * Ranked is each window of each experiment on its own, and each of the times given besides: an element is inactive
 * where it is so in all of them, so that what matters in one regime of the response stays. Sources are not ranked; what
 * an experiment keeps stays.
 *
 * source   Louca et al. (MORA), as Rideout and Stein apply it before and after partitioning
 */
#ifndef BG_INACTIVE_H
#define BG_INACTIVE_H

#include "condition.h"

/* Names in the arena. */
typedef struct name_list {
    const char *of;
    VEC(const char *) name;
} name_list;

/* The greatest share of activity of each element over all times that were ranked; names in the arena. */
typedef struct element_share {
    const char *name;
    double share;
} element_share;
typedef struct share_list {
    const char *of;
    const element_share *at;
    size_t n;
} share_list;

/* One model of a comparison: its sizes, and what the run of its first experiment took. */
typedef struct table_row {
    const char *name;
    size_t elements, states, dependent, loops;
    uint64_t steps;
    double seconds;
} table_row;

/* A time within a run, s. */
typedef struct regime {
    double from, to;
} regime;

/* What is asked: besides the windows n regimes, each in the runs that it lies within. */
typedef struct inactive_options {
    double share; /* what stays must add up to this */
    const regime *regime;
    size_t n;
    void (*failed)(void *ctx, const sources *s);
    void *ctx;
} inactive_options;

/* Runs the recordings. What has the least greatest share of a window's activity leads. all: of every element. False: a
 * run failed, which `failed` was told, or a regime lies within none: *beyond, else NULL. */
bool inactive_find(const recording *run, size_t nruns, const inactive_options *o, arena *a, name_list *out,
                   share_list *all, const regime **beyond);
/* NAN: the element is none of the list's. Of a model that was written out the names differ, as for names_beyond. */
double share_in(const share_list *list, const char *name, arena *a);

/* The names of one list that another has not. A model that was written out has names of its own, `front_spring` for
 * front.spring. */
name_list names_beyond(const name_list *of, const name_list *other, arena *a);

/* The text without these elements (dropped, or at rest: reduce.h), as many of them as it runs without. *text: free it;
 * NULL where none goes. stay: those that have to stay after all. */
void text_without(const recording *run, size_t nruns, const name_list *gone, arena *a, char **text, size_t *length,
                  name_list *stay);

/* Fills a row but its name. */
bool row_of(const recording *run, void (*failed)(void *ctx, const sources *s), void *ctx, table_row *out);

#endif
