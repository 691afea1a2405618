/* command_options.c - the options of all commands, and their parser */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "command_inside.h"

static const struct option_row option_rows[OPT_COUNT] = {
    [OPT_HELP] = { "help", 'h', NULL, "this text" },
    [OPT_QUIET] = { "quiet", 'q', NULL, "errors only on standard error" },
    [OPT_VERBOSE] = { "verbose", 'v', NULL, "details of the computation on standard error" },
    [OPT_JSON] = { "json", 0, NULL, "the result as JSON, in SI units" },
    [OPT_EXPERIMENT] = { "experiment", 'e', "NAME", "the experiment; needed where the file has several" },
    [OPT_SET] = { "set", 0, "NAME=VALUE",
                  "another value of a parameter or input, SI or with a unit: k=3[N/mm]; a formula: 'u=24*sin(time)'" },
    [OPT_INPUT] = { "input", 0, "NAME=FILE.csv",
                    "an input from the column of its name over the first column, time; FILE.csv:COLUMN names another "
                    "column" },
    [OPT_OUTPUT] = { "output", 'o', "FILE", "file for the result; - is standard output" },
    [OPT_METRIC] = { "metric", 'm', "METRIC", "how importance is measured (activity)" },
    [OPT_THRESHOLD] = { "threshold", 0, "SHARE",
                        "share that the remaining elements must reach (99%); of ratios: below it a bond is "
                        "negligible (5%)" },
    [OPT_ALL] = { "all", 0, NULL, "all experiments of the file together" },
    [OPT_BY] = { "by", 0, "WHAT", "what is ranked" },
    [OPT_SAMPLES] = { "samples", 0, "N",
                      "take kl from N uniform samples of the powers (the paper's 501), not from their exact "
                      "integrals" },
    [OPT_WITHOUT_SOURCES] = { "without-sources", 0, NULL, "leave the sources out of the total" },
    [OPT_WITHIN] = { "within", 0, "TOL",
                     "tolerance of the observed outputs, in place of those in the text: 1[mm], 0.001 (SI), 2% of their "
                     "greatest size" },
    [OPT_TERMS] = { "terms", 0, NULL,
                    "also delete terms of sums or replace them by their mean, in components and loops too" },
    [OPT_BONDS] = { "bonds", 0, NULL, "also drop bonds between junctions and two-ports, or make them one-way" },
    [OPT_ROUNDS] = { "rounds", 0, "N",
                     "with a threshold: rank the remaining model again, N times in all, or until nothing more goes "
                     "(all); 1" },
    [OPT_INACTIVE] = { "inactive", 0, NULL,
                       "take out parts without any power in the experiment, which costs no accuracy: junctions at "
                       "rest, sources of zero" },
    [OPT_SIMPLIFY] = { "simplify", 0, NULL,
                       "fold parts that only pass a bond on: junctions, two-ports before one element" },
    [OPT_DRY_RUN] = { "dry-run", 0, NULL, "print the difference, write nothing" },
    [OPT_IN_PLACE] = { "in-place", 0, NULL, "change the input file itself" },
    [OPT_DUMP] = { "dump", 0, "STAGE", "print a stage: ast, graph, causality, equations, ir (LLVM), c or variables" },
    [OPT_STATES] = { "states", 0, NULL, "add every state to the columns" },
    [OPT_POINTS] = { "points", 0, "N", "points of the table, both ends included (501)" },
    [OPT_STOP] = { "stop", 0, "T",
                   "end of the run, s or with a unit: 20[ms]; needed where the file has no experiment" },
    [OPT_SOLVER] = { "solver", 0, "NAME", "auto, explicit, bdf or variational" },
    [OPT_RTOL] = { "rtol", 0, "X", "relative tolerance of the integrator" },
    [OPT_ATOL] = { "atol", 0, "X", "absolute tolerance of the integrator" },
    [OPT_MAX_TIME] = { "max-time", 0, "SECONDS", "limit of the run time, s; beyond it the run is an error (none)" },
    [OPT_VERIFY] = { "verify", 0, NULL,
                     "run again with the other integrator and a tenth of the tolerances; status 3 where numbers "
                     "differ" },
    [OPT_VERIFY_WITHIN] = { "verify-within", 0, "SHARE",
                            "the same; how far each may differ, of its greatest size (0.1%)" },
    [OPT_MAX_STEPS] = { "max-steps", 0, "N", "a run of more steps is an error (50 million)" },
    [OPT_KEEP_PARTIAL] = { "keep-partial", 0, NULL,
                           "the rows of a run that fails, or is told to stop (Ctrl-C), go to FILE, not to "
                           "FILE.partial" },
    [OPT_PLOT] = { "plot", 0, "FILE", "draw the columns as curves, however few the --points: .svg, .png or .pdf" },
    [OPT_FREEZE] = { "freeze", 0, "NAME=VALUE",
                     "replace a signal between subgraphs, or its cause, by a constant (no VALUE: its mean); "
                     "NAME@READER: in one reader only" },
    [OPT_OVER] = { "over", 0, "NAME=A:B:N",
                   "ratios as curves over N values of a parameter from A to B: k=1:2:11[N/mm]" },
    [OPT_MORA] = { "mora", 0, "SHARE", "share that the remaining elements of a partition must reach (97%)" },
    [OPT_MORA_WINDOW] = { "mora-window", 0, "A..B [s]",
                          "the remaining elements of the given model must reach that share in this time too; may be "
                          "given several times" },
    [OPT_CHECK] = { "check", 0, NULL, "write nothing; status 1 if a file is not in canonical layout" },
    [OPT_AT] = { "at", 0, "TIME", "a time of the experiment, s, or `equilibrium`; several times for several points" },
    [OPT_STATE] = { "state", 0, "NAME=VALUE", "a state there, SI; several times for several states" },
    [OPT_SYMBOLIC] = { "symbolic", 0, NULL, "the structured form with expressions for entries" },
    [OPT_LATEX] = { "latex", 0, NULL, "the same as LaTeX" },
    [OPT_TF] = { "tf", 0, "IN:OUT",
                 "zeros, poles and gain from an input to an output; several times, `all` for every pair" },
    [OPT_TRUNCATE] = { "truncate", 0, "N",
                       "balanced truncation to N states: its H-infinity error and bound; several times" },
    [OPT_AGAINST] = { "against", 0, "FILE",
                      "another model with these inputs and outputs: its H-infinity error; several times" },
    [OPT_EXPORT] = { "export", 0, "FILE", "the matrices as .csv, .m (MATLAB, Octave) or .npz (NumPy)" },
    [OPT_BODE] = { "bode", 0, "FILE", "draw frequency responses: .svg, .png or .pdf" },
    [OPT_STEP_FIGURE] = { "step", 0, "FILE", "draw step responses" },
    [OPT_POLES] = { "poles", 0, "FILE", "draw the eigenvalues, coloured by their strongest effect" },
    [OPT_EFFECTS] = { "effects", 0, "FILE", "draw the effect of every parameter on every eigenvalue" },
    [OPT_EIGENVALUES] = { "eigenvalues", 0, "N",
                          "only N eigenvalues, those nearest to --near, by sparse matrices (all, up to 1500 states)" },
    [OPT_NEAR] = { "near", 0, "RE[,IM]", "where eigenvalues are sought, 1/s (0)" },
    [OPT_MODES] = { "modes", 0, "LIST",
                    "eigenvalues to keep: 3,4 as `bgc linearize` numbers them; `slowest 2`; `strongest 2` by "
                    "residues" },
    [OPT_BAND] = { "band", 0, "A..B [Hz]", "eigenvalues to keep: those of this band of frequencies" },
    [OPT_DIRECT] = { "direct", 0, NULL,
                     "with --modes or --band: add a direct term of the inputs to outputs where it makes step "
                     "responses more accurate" },
    [OPT_DATA] = { "data", 0, "FILE.csv", "measured data: named columns with units; may be given several times" },
    [OPT_MDK] = { "mdk", 0, NULL, "mass, damping and stiffness matrices" },
    [OPT_STEP] = { "step", 0, "H", "longest step of the integrator, s (no limit)" },
    [OPT_METHOD] = { "method", 0, "NAME", "how it is computed" },
    [OPT_HORIZON] = { "horizon", 0, "N",
                      "of --mdk: number of samples that the subspace step looks ahead (chosen "
                      "automatically)" },
    [OPT_PARAMETERS] = { "parameters", 0, "A,B,...", "the parameters to vary (all that are given as numbers)" },
    [OPT_DELTA] = { "delta", 0, "SHARE", "change of the parameters in a design, up and down (10%)" },
    [OPT_RESPONSE] = { "response", 0, "NAME",
                       "response that a design compares: l1_deviation (default), squared_deviation, rms_deviation" },
    [OPT_FRACTION] = { "fraction", 0, "P", "a design of 2^(k-P) runs instead of 2^k" },
    [OPT_ACTIVE] = { "active", 0, NULL, "move only the parameters that carry most of the activity (--threshold, 92%)" },
    [OPT_BOUNDS] = { "bounds", 0, "NAME=LO:HI", "bounds of a parameter; may be given several times" },
    [OPT_WEIGHT] = { "weight", 0, "HOW",
                     "weights of the columns: 1/std (default), none, 1/rms, 1/range, or from a CSV file of "
                     "deviations" },
    [OPT_STARTS] = { "starts", 0, "N", "search from N starts and take the best result (1)" },
    [OPT_REFIT] = { "refit", 0, NULL,
                    "fit the remaining parameters (--parameters, else all) to the outputs of the given model" },
    [OPT_ORDER] = { "order", 0, "N",
                    "reduce a linear model to N states: finds the elements to take out and the parameters of the "
                    "others together" },
    [OPT_JUNIT] = { "junit", 0, "FILE", "expectations and results as JUnit XML, for build servers" },
    [OPT_WARN] = { "warn", 'W', "WHICH",
                   "which warnings are given: none, all, no-CODE or CODE, one after the other; -Wno-junction-single" },
    [OPT_WERROR] = { "werror", 0, NULL, "exit status 1 if there are warnings" },
    [OPT_ALLOW_READ] = { "allow-read", 0, "DIR",
                         "let the model read files (imports, tables) of this folder too; may be given several "
                         "times" }
};

/* What an option is in one command, where the row above is that of others. */
static const struct {
    const char *command;
    enum option option;
    const char *argument, *what;
} own_rows[] = {
    { "rank", OPT_EXPERIMENT, "NAME", "the experiment; several times for several together" },
    { "reduce", OPT_EXPERIMENT, "NAME", "the experiment; several times for several together, with tolerances" },
    { "partition", OPT_EXPERIMENT, "NAME", "the experiment; several times for several together" },
    { "identify", OPT_EXPERIMENT, "NAME", "the experiment; several times for several, each with its --data" },
    { "test", OPT_EXPERIMENT, "NAME", "only this experiment; several times for several (all that expect something)" },
    { "partition", OPT_OUTPUT, "DIR", "folder for the models of the partitions" },
    { "man", OPT_OUTPUT, "DIR", "folder for all pages" },
    { "partition", OPT_THRESHOLD, "SHARE", "below this share of the largest at its junction a bond is inactive (5%)" },
    { "identify", OPT_THRESHOLD, "SHARE", "with --active: share of the activity whose parameters move (92%)" },
    { "rank", OPT_BY, "WHAT", "element (default), component or frequency" },
    { "reduce", OPT_BY, "WHAT", "element (default) or component" },
    { "partition", OPT_POINTS, "N", "points of the runs that are compared, both ends included (501)" },
    { "sensitivity", OPT_POINTS, "N", "points of the runs at which outputs are compared, both ends included (501)" },
    { "partition", OPT_PLOT, "FILE", "draw the curves of --over: .svg, .png or .pdf" },
    { "linearize", OPT_MDK, NULL, "mass, damping and stiffness matrices of the model" },
    { "identify", OPT_MDK, NULL, "full mass, damping and stiffness matrices from data alone, without a model" },
    { "identify", OPT_STEP, "H",
      "longest step of a run, s; of --mdk the time between samples, where the data have no column time" },
    { "identify", OPT_METHOD, "NAME", "of --mdk: pem (default), variational, companion or modal" },
    { "sensitivity", OPT_METHOD, "NAME", "of --at: adjoint or forward (whichever is cheaper)" },
    { "sensitivity", OPT_AT, "TIME", "a time of the experiment, s: derivatives of the outputs at it" },
    { "reduce", OPT_PARAMETERS, "A,B,...", "of --refit and --order: the parameters to fit (all given as numbers)" },
};

struct option_row
option_row_of(const struct command *c, enum option o)
{
    struct option_row row = option_rows[o];

    for (size_t i = 0; i < sizeof own_rows / sizeof *own_rows; i++)
        if (own_rows[i].option == o && !strcmp(own_rows[i].command, c->name)) {
            row.argument = own_rows[i].argument;
            row.what = own_rows[i].what;
        }
    return row;
}

void
print_command_help(const struct command *c, FILE *out)
{
    fprintf(out, "usage: bgc %s [options] %s\n\n%s\n\noptions\n", c->name, c->operands, c->what);
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct option_row o = option_row_of(c, (enum option)i);
        char left[48];

        if (i != OPT_HELP && !(c->options & OPT(i)))
            continue;
        snprintf(left, sizeof left, "%s%c%s--%s%s%s", o.letter ? "-" : " ", o.letter ? o.letter : ' ',
                 o.letter ? ", " : "  ", o.name, o.argument ? " " : "", o.argument ? o.argument : "");
        fprintf(out, "  %-26s %s\n", left, o.what);
    }
    fprintf(out, "\nexamples\n%s", c->examples);
}

int
command_wrong(const request *q, const char *fmt, ...)
{
    char *before = bg_format("bgc %s: ", q->command->name);
    va_list ap;

    va_start(ap, fmt);
    command_say(before, fmt, ap);
    va_end(ap);
    free(before);
    fprintf(stderr, "`bgc %s -h` shows how it is used\n", q->command->name);
    return STATUS_USAGE;
}

static int
find_option(const request *q, const char *name, size_t n, char letter)
{
    for (int i = 0; i < OPT_COUNT; i++) {
        if (i != OPT_HELP && !(q->command->options & OPT(i)))
            continue;
        if (letter ? option_rows[i].letter == letter
                   : strlen(option_rows[i].name) == n && !strncmp(option_rows[i].name, name, n))
            return i;
    }
    return -1;
}

static int
unknown_option(const request *q, const char *written, size_t n)
{
    const char *list[OPT_COUNT], *near;
    size_t count = 0;
    char *name = bg_format("%.*s", (int)n, written);
    int status;

    for (int i = 0; i < OPT_COUNT; i++)
        if (i == OPT_HELP || q->command->options & OPT(i))
            list[count++] = option_rows[i].name;
    near = nearest_name(name, list, count);
    status = near ? command_wrong(q, "there is no option --%s; did you mean --%s?", name, near)
                  : command_wrong(q, "there is no option --%s", name);
    free(name);
    return status;
}

static bool
parse_number(const char *text, double *value)
{
    char *end;

    if (!*text || isspace((unsigned char)*text))
        return false;
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}

/* "10", "20[ms]": s */
static bool
parse_time(const char *text, double *value)
{
    const char *why, *bracket = strchr(text, '[');
    size_t n = strlen(text);
    unit_system *units;
    const unit *u;
    char *number, *unit_written;
    bool fine;

    if (!bracket)
        return parse_number(text, value);
    units = text[n - 1] == ']' ? units_new() : NULL;
    number = bg_format("%.*s", (int)(bracket - text), text);
    number[strcspn(number, " ")] = '\0';
    unit_written = bg_format("%.*s", units ? (int)(n - (size_t)(bracket - text) - 2) : 0, bracket + 1);
    u = units ? unit_parse(units, unit_written, &why) : NULL;
    fine = u && unit_dimension(u) == unit_dimension(unit_parse(units, "s", &why)) && parse_number(number, value);
    if (fine)
        *value *= unit_scale(u);
    free(number);
    free(unit_written);
    units_free(units);
    return fine;
}

bool
parse_share(const char *text, double *value)
{
    char *end;

    if (!*text || isspace((unsigned char)*text))
        return false;
    *value = strtod(text, &end);
    if (end == text)
        return false;
    while (*end == ' ')
        end++;
    if (*end == '%') {
        *value /= 100;
        end++;
    }
    return !*end && *value >= 0 && *value <= 1;
}

static const double MOST_COUNT = 1e6, MOST_ROWS = 1e8; /* of states, rounds, ...; of a table's rows */
static const double MOST_WHOLE = 1e15;                 /* up to here doubles count exactly */

static bool
parse_whole(const char *text, double least, double most, double *value)
{
    return parse_number(text, value) && *value >= least && *value <= most && *value == floor(*value);
}

/* "-2" or "-2,30" */
static bool
parse_pair(const char *text, double value[2])
{
    char *end;

    value[0] = strtod(text, &end);
    value[1] = 0;
    return end != text && (!*end || (*end == ',' && parse_number(end + 1, &value[1]))) && isfinite(value[0]);
}

static int
accept_option(request *q, int o, const char *value)
{
    double x;

    if (value && !*value)
        return command_wrong(q, "--%s needs a value: %s", option_rows[o].name, option_row_of(q->command, o).argument);
    q->given |= OPT(o);
    q->text[o] = value;
    switch (o) {
    case OPT_QUIET: q->quiet = true; break;
    case OPT_VERBOSE: q->verbose = true; break;
    case OPT_JSON: q->json = true; break;
    case OPT_SET: vec_push(&q->set, value); break;
    case OPT_INPUT: vec_push(&q->input, value); break;
    case OPT_WARN: vec_push(&q->warn, value); break;
    case OPT_AT: vec_push(&q->at, value); break;
    case OPT_STATE: vec_push(&q->state, value); break;
    case OPT_TF: vec_push(&q->transfer, value); break;
    case OPT_AGAINST: vec_push(&q->against, value); break;
    case OPT_TRUNCATE:
        if (!parse_whole(value, 0, MOST_COUNT, &x))
            return command_wrong(q, "--truncate is a number of states, not \"%s\"", value);
        vec_push(&q->truncate, (size_t)x);
        break;
    case OPT_EIGENVALUES:
        if (!parse_whole(value, 1, MOST_COUNT, &x))
            return command_wrong(q, "--eigenvalues is a whole number from 1 on, not \"%s\"", value);
        q->eigenvalues = (size_t)x;
        break;
    case OPT_NEAR:
        if (!parse_pair(value, q->near))
            return command_wrong(q, "--near is RE or RE,IM in 1/s, not \"%s\"", value);
        break;
    case OPT_FREEZE: vec_push(&q->freeze, value); break;
    case OPT_MORA_WINDOW: vec_push(&q->mora_window, value); break;
    case OPT_EXPERIMENT: vec_push(&q->experiment, value); break;
    case OPT_DATA: vec_push(&q->data, value); break;
    case OPT_DELTA:
        if (!parse_share(value, &q->delta) || !(q->delta > 0 && q->delta < 1))
            return command_wrong(q, "--delta is a share between 0 and 1, like 10%%, not \"%s\"", value);
        break;
    case OPT_FRACTION:
        if (!parse_whole(value, 0, 16, &x))
            return command_wrong(q, "--fraction is a whole number from 0 to 16, not \"%s\"", value);
        q->fraction = (size_t)x;
        break;
    case OPT_BOUNDS: vec_push(&q->bounds, value); break;
    case OPT_STARTS:
        if (!parse_whole(value, 1, 10000, &x))
            return command_wrong(q, "--starts is a whole number from 1 on, not \"%s\"", value);
        q->starts = (size_t)x;
        break;
    case OPT_STEP:
        if (!parse_number(value, &q->step) || q->step <= 0)
            return command_wrong(q, "--step is a time in s above 0, not \"%s\"", value);
        break;
    case OPT_HORIZON:
        if (!parse_whole(value, 2, MOST_COUNT, &x))
            return command_wrong(q, "--horizon is a whole number from 2 on, not \"%s\"", value);
        q->horizon = (size_t)x;
        break;
    case OPT_ALLOW_READ:
        if (!reading_allow(value))
            return command_wrong(q, "--allow-read %s: %s", value, strerror(errno));
        break;
    case OPT_SAMPLES:
        if (!parse_whole(value, 2, MOST_ROWS, &x))
            return command_wrong(q, "--samples is a whole number from 2 on, not \"%s\"", value);
        q->samples = (size_t)x;
        break;
    case OPT_STOP:
        if (!parse_time(value, &q->stop))
            return command_wrong(q, "--stop is a time, 10 or 20[ms], not \"%s\"", value);
        break;
    case OPT_ROUNDS:
        if (strcmp(value, "all") && (!parse_whole(value, 1, MOST_COUNT, &x)))
            return command_wrong(q, "--rounds is a whole number from 1 on, or all, not \"%s\"", value);
        q->rounds = strcmp(value, "all") ? (size_t)x : NO_INDEX;
        break;
    case OPT_ORDER:
        if (!parse_whole(value, 1, MOST_COUNT, &x))
            return command_wrong(q, "--order is a whole number of states from 1 on, not \"%s\"", value);
        q->order = (size_t)x;
        break;
    case OPT_POINTS:
        if (!parse_whole(value, 2, MOST_ROWS, &x))
            return command_wrong(q, "--points is a whole number from 2 on, not \"%s\"", value);
        q->points = (size_t)x;
        break;
    case OPT_VERIFY_WITHIN:
        if (!parse_share(value, &q->verify_bound) || q->verify_bound == 0)
            return command_wrong(q, "--verify-within is a share like 0.1%% or 0.001, not \"%s\"", value);
        q->given |= OPT(OPT_VERIFY);
        break;
    case OPT_MAX_STEPS:
        if (!parse_whole(value, 1, MOST_WHOLE, &x))
            return command_wrong(q, "--max-steps is a whole number from 1 on, not \"%s\"", value);
        q->max_steps = (size_t)x;
        break;
    case OPT_MAX_TIME:
        if (!parse_number(value, &x) || x <= 0)
            return command_wrong(q, "--max-time is a number of seconds above 0, not \"%s\"", value);
        q->max_seconds = x;
        break;
    case OPT_RTOL:
    case OPT_ATOL:
        if (!parse_number(value, &x) || x <= 0)
            return command_wrong(q, "--%s is a number above 0, not \"%s\"", option_rows[o].name, value);
        if (o == OPT_RTOL && !(x >= LEAST_RTOL && x <= GREATEST_RTOL))
            return command_wrong(q, "--rtol is a relative tolerance between %g and %g, not \"%s\"", LEAST_RTOL,
                                 GREATEST_RTOL, value);
        *(o == OPT_RTOL ? &q->rtol : &q->atol) = x;
        break;
    case OPT_SOLVER:
        if (!strcmp(value, "auto"))
            q->solver = SIM_AUTO;
        else if (!strcmp(value, "explicit"))
            q->solver = SIM_EXPLICIT;
        else if (!strcmp(value, "bdf"))
            q->solver = SIM_BDF;
        else if (!strcmp(value, "variational"))
            q->solver = SIM_VARIATIONAL;
        else
            return command_wrong(q, "there is no solver \"%s\"; there are auto, explicit, bdf and variational", value);
        break;
    default: break;
    }
    return STATUS_DONE;
}

/* Reads one argument that begins with `-`. *i advances if the option's value is an argument of its own. */
static int
take_option(request *q, int argc, char **argv, int *i)
{
    const char *a = argv[*i];

    if (a[1] == '-') {
        const char *equal = strchr(a, '=');
        size_t n = equal ? (size_t)(equal - a - 2) : strlen(a + 2);
        int o = find_option(q, a + 2, n, 0);

        if (o < 0)
            return unknown_option(q, a + 2, n);
        if (!option_rows[o].argument)
            return equal ? command_wrong(q, "--%s takes no value", option_rows[o].name) : accept_option(q, o, NULL);
        if (equal)
            return accept_option(q, o, equal + 1);
        if (*i + 1 >= argc)
            return command_wrong(q, "--%s needs a value: %s", option_rows[o].name,
                                 option_row_of(q->command, o).argument);
        return accept_option(q, o, argv[++*i]);
    }
    for (const char *s = a + 1; *s; s++) {
        int o = find_option(q, NULL, 0, *s), status;

        if (o < 0)
            return command_wrong(q, "there is no option -%c", *s);
        if (!option_rows[o].argument) {
            if ((status = accept_option(q, o, NULL)) != STATUS_DONE)
                return status;
            continue;
        }
        if (s[1])
            return accept_option(q, o, s + 1);
        if (*i + 1 >= argc)
            return command_wrong(q, "-%c needs a value: %s", *s, option_row_of(q->command, o).argument);
        return accept_option(q, o, argv[++*i]);
    }
    return STATUS_DONE;
}

/* Input files are changed only with --in-place. */
static bool
keeps_input(const request *q, const char *target, size_t i)
{
    return !target || !same_file(q->file.at[i], target);
}

static int
missing_operand(const request *q)
{
    const struct command *c = q->command;

    if (c->least == 2)
        return command_wrong(q, "two files are needed");
    if (!strcmp(c->operands, "FILE") || !strcmp(c->operands, "FILE..."))
        return command_wrong(q, "a file is needed (- is standard input)");
    return command_wrong(q, "%s is needed", c->operands);
}

int
request_parse(request *q, const struct command *c, int argc, char **argv)
{
    bool only_files = false;

    memset(q, 0, sizeof *q);
    q->command = c;
    for (int i = 0; i < argc; i++) {
        int status;

        if (!only_files && !strcmp(argv[i], "--")) {
            only_files = true;
        } else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
            if ((status = take_option(q, argc, argv, &i)) != STATUS_DONE)
                return status;
        } else {
            vec_push(&q->file, argv[i]);
        }
    }
    if (q->given & OPT(OPT_HELP))
        return STATUS_DONE;
    for (size_t i = 0; i < q->file.n; i++)
        if (!*q->file.at[i])
            return command_wrong(q, "the name \"\" is empty");
    if (q->file.n < c->least)
        return missing_operand(q);
    if (q->file.n > c->most)
        return command_wrong(q, "one file%s at a time; \"%s\" is too many", c->most == 2 ? " and another" : "",
                             q->file.at[c->most]);
    if ((q->given & OPT(OPT_IN_PLACE)) && q->text[OPT_OUTPUT])
        return command_wrong(q, "--in-place and -o are two places for one result");
    for (size_t i = 0; i < q->file.n; i++) {
        if ((q->given & OPT(OPT_IN_PLACE)) && !strcmp(q->file.at[i], "-"))
            return command_wrong(q, "standard input cannot be changed in place");
        if (keeps_input(q, q->text[OPT_OUTPUT], i) && keeps_input(q, q->text[OPT_PLOT], i))
            continue;
        return command_wrong(q, "the result would replace the input \"%s\"%s", q->file.at[i],
                             c->options & OPT(OPT_IN_PLACE) ? "; --in-place says that it may be changed" : "");
    }
    if (q->text[OPT_OUTPUT] && q->text[OPT_PLOT] && same_file(q->text[OPT_OUTPUT], q->text[OPT_PLOT]))
        return command_wrong(q, "the table and the figure would both be \"%s\"", q->text[OPT_PLOT]);
    return STATUS_DONE;
}

void
request_free(request *q)
{
    vec_free(&q->file);
    vec_free(&q->set);
    vec_free(&q->input);
    vec_free(&q->warn);
    vec_free(&q->at);
    vec_free(&q->state);
    vec_free(&q->transfer);
    vec_free(&q->against);
    vec_free(&q->truncate);
    vec_free(&q->freeze);
    vec_free(&q->mora_window);
    vec_free(&q->experiment);
    vec_free(&q->data);
    vec_free(&q->bounds);
}
