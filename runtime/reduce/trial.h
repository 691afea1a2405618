/* trial.h - a text with candidates taken out, compiled, run and held against the tolerances: what a search by
 * tolerances consists of
 *
 * ownership  versions and verdicts own what they point to, but for texts of messages, which are the reduction's.
 */
#ifndef BG_TRIAL_H
#define BG_TRIAL_H

#include "predict.h"
#include "reduce.h"
#include "refusals.h"
#include "term_candidates.h"
#include "together.h"
#include "version.h"

/* Share of the tolerance that counts as within it: the rest allows for integrators that take other steps. */
static const double WITHIN = 0.99;

/* An output that is held to a tolerance in one experiment. */
struct bound {
    size_t experiment;
    uint32_t output;
    size_t slot;      /* of its experiment's track */
    double stated;    /* SI; INFINITY: not stated */
    double tolerance; /* what the difference to the model as given may be */
};

struct candidate {
    const char *name;              /* interned in the version at hand: element or component; else what it is called */
    uint32_t element, term;        /* in that version; NONE */
    uint32_t nelements, nstorages; /* that it is: more than one of a component */
    int line;
    struct reading reading[READINGS_MOST];
    int nreadings, chosen;
    double mean;      /* of a term */
    double predicted; /* error over tolerance, or an activity */
    bool unforeseen;  /* an activity, where others have errors: comes behind them */
};

struct verdict {
    bool fine, internal, ran;
    double worst; /* greatest error over its tolerance */
    const char *why;
    struct version v;
    rewrite plan;
    bool unwritten; /* no text was made: v and plan are empty */
    bool in_image;  /* nor was anything compiled */
    bool lasts;     /* a refusal that depends on the text alone: trying it again gives the same result */
    text_key key;
    size_t spent;      /* simulations of that text */
    const double *off; /* if it is within its tolerances: its errors (together.h); NULL: not wanted */
};

/* What else is required of a trial, so that no time is spent on a text that would not be taken: it has fewer states,
 * or as many states and fewer elements; and its run stops as soon as an output is certainly too far off. */
struct demand {
    size_t states, elements;
};
/* Its run stops as soon as an output is certainly too far off, whatever the size of the text. */
static const struct demand HASTY = { SIZE_MAX, SIZE_MAX };

/* The base, compiled so that a run may do without its elements (in_image.h). */
struct in_image {
    compilation *c; /* one an experiment; NULL: not there */
    map of;         /* hash of an element's name -> its number */
    bool unfit;     /* it cannot be */
    size_t taken;   /* so many of the round's candidates are not in it: of these further than the base's */
};

struct search {
    const bounded_options *o;
    reduction *out;
    struct trier trier;
    const struct demand *demand; /* of the trial at hand; NULL: none */
    double slack;                /* it stops when the error of an output is so many times its tolerance; 0: once */
    struct version first, now;
    const struct version *base; /* in a round: the text at hand without what was accepted so far */
    const overrides *base_set;
    text_key base_key;
    size_t base_taken; /* so many of the round's candidates are what was accepted in it */
    struct in_image image;
    struct together together; /* what is predicted of the candidates of a round */
    bool exact;               /* each acceptance by its text: what was accepted in the image was none as a text */
    VEC(struct bound) bound;
    VEC(uint32_t) * held; /* by experiment: outputs that are held */
    double **most;        /* by experiment: what each of them may differ by */
    overrides set;
    map kept_names; /* hash of an element's name -> 1: some experiment keeps it */
    map clamped; /* hash of a name -> 1: a source of zero that this reduction made; where nothing needs it any more, it
                    goes */
    map means;   /* hash of a number that stands for a term, as a term of its own -> the operation that put it there */
    term_candidates terms;    /* of the text at hand, in a round for terms */
    VEC(reduce_kept) refused; /* alone, in the last round for elements and that for terms */
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
/* The output that is too far off, for messages: its error and its tolerance. */
const char *trial_too_far(const struct search *d, const track *k, size_t experiment);
/* Compares the run with the tolerances: sets x->worst, and x->why if an error is too large. */
void trial_measure(struct search *d, struct verdict *x, const struct version *v);
/* What came of it decides: a refusal is kept in mind. */
void note_verdict(struct search *d, const struct verdict *x);
void verdict_free(const struct search *d, struct verdict *x);

#endif
