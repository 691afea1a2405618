/* trial.h - one trial of the search by tolerances, and the state of that search
 *
 * A trial takes some candidates out of the present text, compiles and runs what is left, and compares its outputs with
 * those of the model as given. Its verdict says whether all of them are within their tolerances.
 *
 * A trial need not make a text. Cheaper ways are tried first, which decide unless the greatest error is close to its
 * tolerance: a factor of 0 in equations that are compiled already (in_image.h), or the same text elaborated without the
 * parts (unwritten.h). What is accepted in these ways becomes a text later, many parts at once.
 *
 * ownership  versions and verdicts own what they point to, except texts of messages, which belong to the reduction
 */
#ifndef BG_TRIAL_H
#define BG_TRIAL_H

#include "predict.h"
#include "reduce.h"
#include "refusals.h"
#include "side_by_side.h"
#include "term_candidates.h"
#include "together.h"
#include "version.h"

/* An output is within its tolerance if its error is at most this share of it. A reader who runs the result with another
 * integrator, or on another machine, gets other steps and so a slightly different error: that is still within. */
static const double WITHIN = 0.99;

/* An output with a tolerance in one experiment. */
struct bound {
    size_t experiment;
    uint32_t output;
    size_t slot;      /* its place among the outputs that are recorded in this experiment (track.h) */
    double stated;    /* the tolerance in the text of the model, SI; INFINITY: none */
    double tolerance; /* the greatest difference to the model as given that is allowed, SI */
};

/* What may be taken out of the present text: an element, a whole component, a bond, or a term of a sum. */
struct candidate {
    size_t number;                         /* its place in the list of the round */
    const char *name;                      /* of an element or component: the one in the present text; else a label */
    uint32_t element, term;                /* their numbers in the present text; NONE: it is something else */
    uint32_t nelements, nstorages;         /* how many elements it contains, and how many of them are storages */
    int line;                              /* of the text as given */
    struct reading reading[READINGS_MOST]; /* the ways in which it may be taken out, the better one first */
    int nreadings, chosen;                 /* chosen: the one that the present trial uses */
    double mean;                           /* of a term, in time */
    double predicted; /* by which candidates are ordered: its predicted error over the tolerance, or its activity */
    bool unforeseen;  /* other candidates have a predicted error and this one has an activity: it comes after them */
};

/* A text, compiled with removable elements (in_image.h), for all who use it at a time; it goes with the last of them.
 */
struct removable {
    compilation *c; /* one for each experiment */
    map of;         /* hash of an element's name -> its number */
    atomic_size_t users;
};
struct in_image {
    struct removable *is; /* NULL: not compiled */
    bool unfit;           /* it cannot be compiled with removable elements */
    size_t taken;         /* how many of the candidates accepted in this round it lacks */
};

struct verdict {
    bool fine;       /* accepted: every output is within its tolerance */
    bool internal;   /* neither accepted nor refused, because of an internal error (search.error) */
    bool ran;        /* an error was measured, or the run stopped because one was too great */
    double worst;    /* the greatest error over its tolerance; NAN: not measured */
    const char *why; /* why it was refused */
    struct version v;
    rewrite plan;   /* the edits that make its text from the present one */
    bool unwritten; /* no text was made: v and plan are empty */
    bool in_image;  /* nor was anything compiled: parts were taken out by factors */
    bool undecided; /* its text would have to decide, but search.no_text forbids to make it */
    bool lasts;     /* refused for a reason that lies in its text, so that it would be refused again: see `key` */
    text_key key;   /* identifies the text and what else decides the outcome (refusals.h) */
    size_t spent;   /* simulations, of the text or the factors that decided */
    size_t before;  /* simulations without a text, where these did not decide and a text was made */
    struct in_image image; /* of its text, where that was compiled ahead */
    const double *off;     /* the errors of a version within its tolerances (together.h); NULL: not computed */
};

/* A trial that must meet a demand is ended as soon as it is clear that it would not be taken: before its run, unless it
 * has fewer states, or as many states and fewer elements; and during its run when an output is too far off. */
struct demand {
    size_t states, elements;
};
/* Of any size: it only ends when an output is too far off. */
static const struct demand HASTY = { SIZE_MAX, SIZE_MAX };

struct search {
    const bounded_options *o;
    reduction *out;            /* the report */
    struct trier trier;        /* how texts are compiled and run */
    struct version first, now; /* the model as given; the present text: that of the last round */
    overrides set;             /* --set, as far as the present text has those parameters */
    VEC(struct bound) bound;   /* outputs with a tolerance, in all experiments */
    VEC(uint32_t) * held;      /* by experiment: numbers of the outputs that are recorded */
    double **most;             /* by experiment: of each of them, the error at which a run may stop */
    size_t *most_steps;        /* by experiment: a run may take so many steps */
    int round;                 /* counted from 1 */
    map kept_names;            /* hash of an element's name -> 1: an experiment keeps it */
    map clamped;               /* hash of a name -> 1: a source of zero that this reduction has made */
    map means;                 /* hash of a number that replaced a term -> the operation of the report that did it */
    VEC(reduce_kept) refused;  /* candidates refused alone: what the report says of those that stay */
    refusals known;            /* trials that would be refused again */
    bool exact;  /* from now on no trial without a text: a set accepted without one has failed as a text */
    char *error; /* an internal error */

    /* the present round */
    const struct version *base; /* the text that trials start from: `now`, or one without some accepted candidates */
    const overrides *base_set;  /* the overrides for it */
    text_key base_key;          /* of both */
    size_t base_taken;          /* how many candidates accepted in this round it lacks */
    struct in_image image;      /* of the base */
    struct images *images;      /* where images of the base are kept for several threads; NULL: there is one thread */
    struct together together;   /* predictions for the candidates */
    term_candidates terms;      /* of the present text, in a round for terms */

    /* the present trial */
    const struct demand *demand; /* NULL: none */
    double slack;                /* its run stops when an error is so many times its tolerance; 0: 1 */
    bool no_text;                /* it must not make a text */
    bool next;                   /* its text will be `now` if it is accepted */
    atomic_bool *refuses;        /* set as soon as the trial is likely to be refused; NULL: nobody reads it */

    /* runs of the text that is `now` or will be, for the powers of its elements */
    factors_run *recording; /* NULL: not begun */
    bg_model **recorded;    /* its models, by experiment */
};

/* Sets d->trier. d->o and d->out must be there. */
void search_trier(struct search *d, const char *path, const compile_shared *shared, pthread_mutex_t *texts);
/* The greatest difference of an output between two versions */
track_difference version_difference(const struct version *a, const struct version *b, const struct bound *x);
double error_over(double error, double tolerance);
/* The greatest error of a version over its tolerance */
double version_error(const struct search *d, const struct version *v);
/* The line of the text as given; 0: unknown */
int trial_line(const struct search *d, span at);

/* Takes a set of candidates out of the present text, each with its chosen reading, and decides by the text without
 * them. demand: NULL, none. */
struct verdict try_set(struct search *d, struct candidate *const *set, size_t n, const struct demand *demand);
/* Begins, in another thread, with the runs that tell the powers of a version's elements, which the next round needs. */
void trial_record(struct search *d, const struct version *v);
/* The output that is too far off, for messages: its error and its tolerance. */
const char *trial_too_far(const struct search *d, const track *k, size_t experiment);
/* Compares a version that ran to its end with the tolerances: sets x->worst, x->off, and x->why if an error is too
 * great. */
void trial_measure(struct search *d, struct verdict *x, const struct version *v);
/* Remembers a refusal that lasts. */
void note_verdict(struct search *d, const struct verdict *x);
void verdict_free(struct search *d, struct verdict *x);

#endif
