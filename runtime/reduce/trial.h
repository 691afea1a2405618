/* trial.h - one trial of the search by tolerances: a text without some candidates, compiled, run and compared with the
 * tolerances
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

/* Share of the tolerance that counts as within it; the rest allows for integrators with other steps. */
static const double WITHIN = 0.99;

/* An output with a tolerance in one experiment. */
struct bound {
    size_t experiment;
    uint32_t output;
    size_t slot;      /* in the track of its experiment */
    double stated;    /* SI; INFINITY: not stated */
    double tolerance; /* greatest allowed difference to the model as given */
};

struct candidate {
    const char *name;              /* interned in the present version: element or component; otherwise a label */
    uint32_t element, term;        /* in that version; NONE */
    uint32_t nelements, nstorages; /* number of elements in it: more than one for a component */
    int line;
    struct reading reading[READINGS_MOST];
    int nreadings, chosen;
    double mean;      /* of a term */
    double predicted; /* error over tolerance, or an activity */
    bool unforeseen;  /* `predicted` is an activity although other candidates have errors: comes after them */
};

/* A text, compiled with removable elements (in_image.h). */
struct in_image {
    compilation *c; /* one for each experiment; NULL: not compiled */
    map of;         /* hash of an element's name -> its number */
    bool unfit;     /* it cannot be compiled so */
    size_t taken;   /* number of the round's candidates that it lacks, counted from the beginning of the round */
};

struct verdict {
    bool fine, internal, ran;
    double worst; /* greatest error over its tolerance */
    const char *why;
    struct version v;
    rewrite plan;
    bool unwritten; /* no text was made: v and plan are empty */
    bool in_image;  /* nor was anything compiled */
    bool undecided; /* only a text would decide, and none was to be made */
    bool lasts;     /* a refusal that depends on the text alone: trying it again gives the same result */
    text_key key;
    size_t spent;          /* simulations of that text */
    size_t before;         /* simulations of trials without a text, before that was made */
    struct in_image image; /* of its text, where that was compiled ahead */
    const double *off;     /* for a version within its tolerances: its errors (together.h); NULL: not computed */
};

/* What else is required of a trial, so that no time is spent on a text that would not be taken: it has fewer states,
 * or as many states and fewer elements; and its run stops as soon as an output is certainly too far off. */
struct demand {
    size_t states, elements;
};
/* Its run stops as soon as an output is certainly too far off, whatever the size of the text. */
static const struct demand HASTY = { SIZE_MAX, SIZE_MAX };

struct search {
    const bounded_options *o;
    reduction *out;
    struct trier trier;
    const struct demand *demand; /* of the present trial; NULL: none */
    double slack;                /* the run stops when an output's error exceeds this multiple of its tolerance; 0: 1 */
    struct version first, now;
    const struct version *base; /* in a round: the version without what was accepted so far */
    const overrides *base_set;
    text_key base_key;
    size_t base_taken;        /* number of the round's candidates that it lacks */
    struct in_image image;    /* of the base */
    atomic_bool *refuses;     /* set as soon as the present trial is likely to be refused; NULL: nobody asks */
    factors_run *recording;   /* of what is `now` or will be in the next round; NULL: not begun */
    bg_model **recorded;      /* its models */
    bool no_text;             /* the present trial is to make no text */
    bool next;                /* the text of the present trial will be `now` if it is accepted */
    struct together together; /* predictions for the candidates of a round */
    /* accept each candidate by its text, because a set accepted in the image failed as a text */
    bool exact;
    VEC(struct bound) bound;
    VEC(uint32_t) * held; /* by experiment: outputs that are held */
    double **most;        /* by experiment: greatest allowed difference of each of them */
    overrides set;
    map kept_names; /* hash of an element's name -> 1: some experiment keeps it */
    /* hash of a name -> 1: a source of zero that this reduction made; removed as soon as nothing needs it */
    map clamped;
    map means; /* hash of a number that stands for a term, as a term of its own -> the operation that put it there */
    term_candidates terms;    /* of the present text, in a round for terms */
    VEC(reduce_kept) refused; /* alone, in the last round for elements and in that for terms */
    refusals known;           /* texts that were refused for good */
    size_t *most_steps;
    int round;
    char *error; /* internal */
};

/* How its versions are run: d's options, reduction and path are set. */
void search_trier(struct search *d, const char *path, const compile_shared *shared);
/* Greatest difference of an output of two versions */
track_difference version_difference(const struct version *a, const struct version *b, const struct bound *x);
double error_over(double error, double tolerance);
/* The greatest error of a version over its tolerance */
double version_error(const struct search *d, const struct version *v);
/* The line of the text as given; 0: unknown */
int trial_line(const struct search *d, span at);

/* Takes a set of candidates out of the present text, each with its chosen reading, compiles, runs and measures the
 * result. demand: NULL, none. */
struct verdict try_set(struct search *d, struct candidate *const *set, size_t n, const struct demand *demand);
/* Makes the code that every run needs, before processes are made that would each make it. */
void trial_need(bg_model *m);
/* Begins with the runs of a version that the next round for elements needs, if it has not begun with them. */
void trial_record(struct search *d, const struct version *v);
/* The output that is too far off, for messages: its error and its tolerance. */
const char *trial_too_far(const struct search *d, const track *k, size_t experiment);
/* Compares the run with the tolerances: sets x->worst, and x->why if an error is too large. */
void trial_measure(struct search *d, struct verdict *x, const struct version *v);
/* Takes the outcome into account: remembers a refusal. */
void note_verdict(struct search *d, const struct verdict *x);
void verdict_free(struct search *d, struct verdict *x);

#endif
