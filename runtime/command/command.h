/* command.h - shared by the commands of bgc: options, loading, messages, exit status
 *
 * Standard output contains the result and nothing else; diagnostics and progress go to standard error.
 */
#ifndef BG_COMMAND_H
#define BG_COMMAND_H

#include "compile.h"
#include "files.h"
#include "json.h"
#include "simulate.h"

enum exit_status {
    STATUS_DONE = 0,
    STATUS_MODEL = 1, /* the model has errors */
    STATUS_USAGE = 2,
    STATUS_NUMBERS = 3,            /* the solver failed */
    STATUS_FILE = 4,               /* a file could not be read or written */
    STATUS_MEMORY = EXIT_NO_MEMORY /* 5: not enough memory */
};

/* Default number of points of a run's table, and relative tolerance of runs whose powers, derivatives or differences
 * are computed. */
enum { RUN_POINTS = 501 };
#define RANKING_RTOL 1e-9
#define DEFAULT_THRESHOLD 0.99 /* share of the activity that stays */
#define DEFAULT_LIMIT 0.05     /* smaller ratios are negligible */

/* One row for each option: the table for the parser, the help of each command and the commands' own option sets. */
enum option {
    OPT_HELP,
    OPT_QUIET,
    OPT_VERBOSE,
    OPT_JSON,
    OPT_EXPERIMENT,
    OPT_SET,
    OPT_OUTPUT,
    OPT_METRIC,
    OPT_THRESHOLD,
    OPT_DRY_RUN,
    OPT_IN_PLACE,
    OPT_ALL,
    OPT_BY,
    OPT_SAMPLES,
    OPT_WITHOUT_SOURCES,
    OPT_DUMP,
    OPT_STATES,
    OPT_POINTS,
    OPT_SOLVER,
    OPT_RTOL,
    OPT_ATOL,
    OPT_PLOT,
    OPT_CHECK,
    OPT_WITHIN,
    OPT_TERMS,
    OPT_BONDS,
    OPT_SIMPLIFY,
    OPT_INACTIVE,
    OPT_ALLOW_READ,
    OPT_MAX_TIME,
    OPT_MAX_STEPS,
    OPT_VERIFY,
    OPT_VERIFY_WITHIN,
    OPT_AT,
    OPT_STATE,
    OPT_SYMBOLIC,
    OPT_LATEX,
    OPT_TF,
    OPT_MODES,
    OPT_BAND,
    OPT_DIRECT,
    OPT_TRUNCATE,
    OPT_AGAINST,
    OPT_EXPORT,
    OPT_BODE,
    OPT_STEP_FIGURE,
    OPT_POLES,
    OPT_EFFECTS,
    OPT_NEAR,
    OPT_EIGENVALUES,
    OPT_ROUNDS,
    OPT_INPUT,
    OPT_STOP,
    OPT_FREEZE,
    OPT_MORA,
    OPT_MORA_WINDOW,
    OPT_OVER,
    OPT_DATA,
    OPT_MDK,
    OPT_STEP,
    OPT_METHOD,
    OPT_HORIZON,
    OPT_PARAMETERS,
    OPT_DELTA,
    OPT_RESPONSE,
    OPT_FRACTION,
    OPT_ACTIVE,
    OPT_BOUNDS,
    OPT_WEIGHT,
    OPT_STARTS,
    OPT_JUNIT,
    OPT_REFIT,
    OPT_ORDER,
    OPT_KEEP_PARTIAL,
    OPT_WARN,
    OPT_WERROR,
    OPT_COUNT
};
__extension__ typedef unsigned __int128 option_set; /* there are more than 64 */
#define OPT(o) ((option_set)1 << (o))
_Static_assert(OPT_COUNT <= 128, "an option is a bit");

struct command;
typedef struct request {
    const struct command *command;
    VEC(const char *) file;
    VEC(const char *) set, input, warn;
    VEC(const char *) at, state, transfer, against; /* of linearize */
    VEC(size_t) truncate;
    size_t eigenvalues; /* 0: not given */
    double near[2];     /* re, im, 1/s */
    VEC(const char *) freeze, mora_window;
    VEC(const char *) experiment; /* all that were given; text[OPT_EXPERIMENT] is the last */
    VEC(const char *) data, bounds;
    option_set given;                          /* OPT() bits */
    const char *text[OPT_COUNT];               /* argument, for options that take one */
    double rtol, atol;                         /* 0: not given */
    double stop;                               /* s */
    size_t points, samples, max_steps, rounds; /* 0: not given */
    double max_seconds, verify_bound;          /* of a run, likewise */
    size_t horizon, fraction, starts, order;
    double delta; /* share */
    double step;  /* s */
    enum sim_solver solver;
    bool json, quiet, verbose;
    bool expect; /* compile also what experiments expect */
    bool open;   /* compile with inputs and sources that can be moved (for linear analysis) */
    bool ports;  /* with the efforts and flows of ports as outputs */
} request;

struct command {
    const char *name, *operands, *what;
    option_set options;
    size_t least, most; /* allowed number of files */
    int (*run)(const request *q);
    const char *examples; /* lines */
};

/* Spelling of an option and its help text; letter 0 and argument NULL where it has none. */
struct option_row {
    const char *name;
    char letter;
    const char *argument, *what;
};
/* of that command: an option may say something else in another one */
struct option_row option_row_of(const struct command *c, enum option o);
const struct command *command_at(size_t i);            /* in the order of the help; NULL after the last */
const struct command *command_named(const char *name); /* NULL, with a message, if there is none */

int cmd_check(const request *q);
int cmd_run(const request *q);
int cmd_rank(const request *q);
int cmd_reduce(const request *q);
int cmd_diff(const request *q);
int cmd_partition(const request *q);
int cmd_graph(const request *q);
int cmd_fmt(const request *q);
int cmd_import(const request *q);
int cmd_linearize(const request *q);
int cmd_identify(const request *q);
int cmd_sensitivity(const request *q);
int cmd_test(const request *q);
int cmd_doc(const request *q);
int cmd_explain(const request *q);
int cmd_new(const request *q);
int cmd_man(const request *q);
int cmd_completion(const request *q);

/* Reads the arguments after the command's name. STATUS_DONE, or STATUS_USAGE with a message. */
int request_parse(request *q, const struct command *c, int argc, char **argv);
void request_free(request *q);
void print_command_help(const struct command *c, FILE *out);

/* Call first in main: settings that memory.c cannot make earlier. */
void prepare_memory(void);

/* One line on standard error: `bgc: ...`. */
void complain(const char *fmt, ...) BG_PRINTF(1, 2);
int complain_file(const char *path); /* prints errno's message; returns STATUS_FILE */
bool color_on(FILE *f);
bool is_terminal(FILE *f);

/* ---- loading ---- */
enum experiment_choice {
    EXPERIMENT_NONE,     /* not needed */
    EXPERIMENT_OPTIONAL, /* the named one, else the first */
    EXPERIMENT_NEEDED    /* the named one, else the only one; several or none is an error of usage */
};
typedef struct loaded {
    compilation c;
    const char *path; /* as shown in messages */
    const char *text; /* owned by the sources */
    size_t length;
    const char *experiment; /* NULL: none */
    VEC(struct elaborate_override) set;
    VEC(const char *) set_unit; /* parallel to set: the unit's text, or NULL */
    VEC(const char *) others;   /* further experiments of the file (EXPERIMENT_OPTIONAL without -e) */
    arena *arena;
    compile_shared *shared; /* with compilations of texts that came of this one; NULL: nothing */
} loaded;

/* Compiles a file up to a stage. If that fails, the messages are printed; otherwise the caller prints the diagnostics
 * when it is done (print_diagnostics). Free *l in any case. */
int load_model(const request *q, const char *path, enum compile_stage upto, enum experiment_choice choice, loaded *l);
/* The same for another experiment of a loaded file (STAGE_PARSE suffices), without reading its text again. */
int load_experiment(const request *q, const loaded *file, const char *experiment, enum compile_stage upto, loaded *l);
void loaded_free(loaded *l);
void print_diagnostics(const request *q, const sources *s);
/* STATUS_NUMBERS if a run has failed according to the diagnostics, else STATUS_MODEL. */
int status_of(const sources *s);

/* ---- running ---- */
/* Options of a run: those of the experiment, then those of the request; default_rtol where neither has one (0: the
 * integrator's own). */
struct run_settings {
    const request *q;
    double default_rtol;
    double begin, end, since, said;
    uint64_t steps;
    int shown;
};
void adjust_run(void *settings, bg_model *m, sim_options *o);
void progress_done(struct run_settings *s);
/* Runs the loaded model and prints all diagnostics. `o` says what to record (outputs, states, activity, points); free
 * it with sim_options_free. */
bool run_loaded(const request *q, loaded *l, double default_rtol, sim_options *o, sim_result *r);
/* run_loaded in its parts, for several runs side by side: the options, then simulate, then its diagnostics and numbers.
 */
bool run_set_up(struct run_settings *s, const loaded *l, sim_options *o);
void run_report(const request *q, const loaded *l, const sim_result *r, bool fine);
/* Figures and comparisons take a grid at least as fine as the usual one that contains the rows of the table: each
 * interval between rows is divided into run_finer(rows). run_thin leaves of the result what is in the table. */
size_t run_finer(size_t points);
void run_thin(const bg_model *m, sim_result *r, size_t each, bool whole);
/* "99%" or "0.99" */
bool parse_share(const char *text, double *value);

#endif
