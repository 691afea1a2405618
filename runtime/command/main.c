/* main.c - the bgc command
 *
 * A model passes through the stages from left to right; each is a file of its name:
 *   grammar/ bg.l, bg.y    text to tree
 *   compiler/ elaborate, causality, equations, codegen, model     tree to compiled model
 *   runtime/ simulate, metrics, reduce, rewrite, edit             trajectories, decisions, edits
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "codegen.h"
#include "interrupt.h"

#define SPEAKING (OPT(OPT_QUIET) | OPT(OPT_VERBOSE))
#define COMMON (SPEAKING | OPT(OPT_ALLOW_READ))
#define RUNNING \
    (OPT(OPT_EXPERIMENT) | OPT(OPT_SET) | OPT(OPT_INPUT) | OPT(OPT_SOLVER) | OPT(OPT_RTOL) | OPT(OPT_ATOL) | \
     OPT(OPT_MAX_TIME) | OPT(OPT_MAX_STEPS))

static const struct command commands[] = {
    { "check", "FILE...", "Reads models up to their equations: mistakes, counts, dependent states, algebraic loops.",
      COMMON | OPT(OPT_JSON) | OPT(OPT_EXPERIMENT) | OPT(OPT_SET) | OPT(OPT_DUMP) | OPT(OPT_OUTPUT) | OPT(OPT_WARN) |
          OPT(OPT_WERROR),
      1, SIZE_MAX, cmd_check,
      "  bgc check quarter_car.bg\n  bgc check --json *.bg | jq .diagnostics\n  bgc check --dump equations "
      "quarter_car.bg\n  bgc check --werror -Wno-port-unjoined *.bg\n" },
    { "run", "FILE",
      "Simulates an experiment. The columns are the outputs and the recorded expressions, in their units.\n"
      "Of a folder that `bgc partition -o DIR` wrote: its partitions, those that do not wait for each other side by "
      "side; each writes a table.\n"
      "With -v and with --json it accounts for energy: what sources supplied, what is stored, dissipated, taken by "
      "jumps,\n"
      "and what the integrator's steps lost or made.",
      COMMON | RUNNING | OPT(OPT_STOP) | OPT(OPT_STEP) | OPT(OPT_JSON) | OPT(OPT_OUTPUT) | OPT(OPT_STATES) |
          OPT(OPT_POINTS) | OPT(OPT_PLOT) | OPT(OPT_VERIFY) | OPT(OPT_VERIFY_WITHIN) | OPT(OPT_KEEP_PARTIAL),
      1, 1, cmd_run,
      "  bgc run quarter_car.bg > run.csv\n  bgc run quarter_car.bg -e smooth_curb --set m_s=300[kg] --plot run.svg\n"
      "  bgc run quarter_car.bg --json --states --points 1001 -o run.json\n  bgc run parts\n  bgc run sketch.bg --stop "
      "10\n"
      "  bgc run quarter_car.bg -e smooth_curb --verify -o run.csv\n" },
    { "rank", "FILE",
      "Ranks the elements by how much they matter in an experiment, or in several together.\n"
      "Metrics, several with commas between them:\n"
      "  activity         energy that went through, whichever way; its share is the activity index\n"
      "  rms              root mean square of the power\n"
      "  kl               share in the Karhunen-Loeve expansion of the powers\n"
      "  kl-normalised    the same, each element's power brought to length 1 first\n"
      "  reaper           the expansion of the powers of all bonds: elements and how they are joined in one list\n"
      "  relative-energy  which bonds matter to the elements that store energy\n"
      "  junction         each bond against the largest at its junctions\n"
      "With --by frequency: activity at the frequencies of what drives the experiment, a chirp say, by octaves.\n"
      "The last two flag bonds below a ratio of --threshold (5%). Of several experiments\n"
      "(-e A -e B, or --all) the greatest index of an element decides.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_METRIC) | OPT(OPT_THRESHOLD) | OPT(OPT_ALL) | OPT(OPT_BY) |
          OPT(OPT_SAMPLES) | OPT(OPT_WITHOUT_SOURCES) | OPT(OPT_OUTPUT) | OPT(OPT_VERIFY) | OPT(OPT_VERIFY_WITHIN),
      1, 1, cmd_rank,
      "  bgc rank quarter_car.bg\n  bgc rank quarter_car.bg -e smooth_curb -m activity,rms,kl --json\n"
      "  bgc rank quarter_car.bg --all --without-sources --threshold 95%\n  bgc rank quarter_car.bg -e smooth_curb -m "
      "junction --threshold 2%\n" },
    { "reduce", "FILE",
      "Takes out of the source what matters least, checks the result by running it, and says what it costs.\n"
      "With --within, or where an experiment says `observe OUTPUT within TOL` and no threshold is asked for: as much "
      "as the tolerances of\n"
      "all such experiments allow (or of those named with -e); with --bonds and --terms more than elements. With "
      "--threshold: the elements that\n"
      "matter least by a metric, activity or rms; by reaper, junction or relative-energy also bonds, which go or "
      "become "
      "sources that act one way.\n"
      "With --modes or --band: what no chosen eigenvalue feels goes, and so do subsystems that are not driven or not "
      "seen; the gain at rest is put right in\n"
      "the line of the output. --direct adds there what part of each input makes steps err least: it answers at once, "
      "as "
      "stiff modes that went do.\n"
      "What each eigenvalue feels: `bgc linearize`.\n"
      "With --refit the parameters of what stays (or --parameters a,b) are then fitted to the outputs of the model as "
      "given, over the experiments;\n"
      "numbers in the lines of parameters change, and the report has those that were.\n"
      "With --order N a linear model is brought down to N states: elements go and the numbers of the others are fitted "
      "in frequency, both searched\n"
      "together; beside the proved H-infinity error stands that of balanced truncation.\n"
      "Where what is left is linear, the report says whether it is passive.\n"
      "--inactive takes out, exactly, what no power goes through in the experiment, by itself or after the rest.\n"
      "--simplify folds at the end, exactly, what only passes a bond on; with --threshold 100% it does that alone.\n"
      "The text goes to -o FILE, to the input itself with --in-place, else to standard output.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_METRIC) | OPT(OPT_THRESHOLD) | OPT(OPT_WITHIN) | OPT(OPT_TERMS) |
          OPT(OPT_BONDS) | OPT(OPT_BY) | OPT(OPT_MODES) | OPT(OPT_BAND) | OPT(OPT_DIRECT) | OPT(OPT_SIMPLIFY) |
          OPT(OPT_INACTIVE) | OPT(OPT_ROUNDS) | OPT(OPT_REFIT) | OPT(OPT_ORDER) | OPT(OPT_PARAMETERS) |
          OPT(OPT_OUTPUT) | OPT(OPT_DRY_RUN) | OPT(OPT_IN_PLACE) | OPT(OPT_VERIFY) | OPT(OPT_VERIFY_WITHIN),
      1, 1, cmd_reduce,
      "  bgc reduce quarter_car.bg -o reduced.bg\n  bgc reduce quarter_car.bg -e smooth_curb --within 2% --verify -o "
      "reduced.bg\n"
      "  bgc reduce quarter_car.bg -e smooth_curb --within 5[mm] --terms --dry-run\n"
      "  bgc reduce quarter_car.bg -e smooth_curb --within 2% -v\n  bgc reduce quarter_car.bg -e smooth_curb "
      "--threshold 99% --dry-run\n"
      "  bgc reduce quarter_car.bg -e smooth_curb --within 1% --refit --parameters b_s,k_s1 --dry-run\n"
      "  bgc reduce quarter_car.bg -e smooth_curb -m rms --in-place && git diff\n"
      "  bgc reduce half_car.bg -e flat_smooth -m junction --threshold 2% --dry-run\n  bgc reduce half_car.bg --within "
      "1% --bonds --simplify\n"
      "  bgc reduce two_masses_modes.bg --modes 3,4 --dry-run\n  bgc reduce two_masses_modes.bg --modes 3,4 --direct "
      "--dry-run\n  bgc reduce macro_micro.bg --band 0..10 --dry-run\n"
      "  bgc reduce damped_chain.bg -e push --order 10 --refit --dry-run\n" },
    { "partition", "FILE",
      "Finds what hardly feels the rest: compares each bond with the largest at its junctions (below --threshold, 5%, "
      "it is inactive there), makes\n"
      "one-way signals of the inactive ones, and says into which subgraphs the model falls, which drives which, and "
      "which signals lead in a circle.\n"
      "Of several experiments (-e A -e B, or --all) and windows a bond is inactive where it is so in each.\n"
      "The conditioned model is compiled and run before it counts, and the report says what it costs: a small ratio is "
      "no bound for that. With -o DIR\n"
      "it is written there, and a model for each partition that something asked for needs (outputs that are observed, "
      "or all; what is recorded or asserted),\n"
      "which the recorded signals of those before it drive, and a drawing; `bgc run DIR` runs them again. Components, "
      "loops and arrays are written\n"
      "out part by part where needed, what the model reads is copied to DIR/files. The report then has the models "
      "beside each other (states, loops,\n"
      "steps, time) and what --mora takes out of each partition and of the whole; reduced.bg is without what goes from "
      "the "
      "partitions, and from the\n"
      "whole where no output misses it. With --over: the ratios as curves over a parameter, and where they cross the "
      "threshold.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_THRESHOLD) | OPT(OPT_ALL) | OPT(OPT_FREEZE) | OPT(OPT_MORA) |
          OPT(OPT_MORA_WINDOW) | OPT(OPT_POINTS) | OPT(OPT_OUTPUT) | OPT(OPT_OVER) | OPT(OPT_PLOT),
      1, 1, cmd_partition,
      "  bgc partition half_car.bg -e flat_smooth\n  bgc partition half_car.bg --all --threshold 8% --json\n"
      "  bgc partition half_car.bg -e flat_smooth --freeze theta=0 --freeze rear.N=45[kN] --freeze front.N -o parts && "
      "bgc run parts\n"
      "  bgc partition half_car.bg -e flat_smooth --over bumps=0:40:9[mm] --plot ratios.svg\n" },
    { "diff", "A.bg B.bg",
      "Compares two models part by part and their experiments; with -e, their outputs over an experiment too. Status 1 "
      "where they differ.",
      COMMON | RUNNING | OPT(OPT_JSON), 2, 2, cmd_diff,
      "  bgc diff full.bg reduced.bg\n  bgc diff full.bg reduced.bg -e smooth_curb --json\n" },
    { "graph", "FILE",
      "Draws the bond graph with half arrows and causal strokes: .svg, .png, .pdf, or .dot for Graphviz.",
      COMMON | OPT(OPT_EXPERIMENT) | OPT(OPT_SET) | OPT(OPT_OUTPUT), 1, 1, cmd_graph,
      "  bgc graph quarter_car.bg -o quarter_car.svg\n  bgc graph quarter_car.bg | dot -Tx11\n" },
    { "fmt", "FILE...", "Prints models in the canonical layout, comments kept.",
      SPEAKING | OPT(OPT_OUTPUT) | OPT(OPT_IN_PLACE) | OPT(OPT_CHECK), 1, SIZE_MAX, cmd_fmt,
      "  bgc fmt quarter_car.bg\n  bgc fmt --in-place *.bg\n  bgc fmt --check *.bg\n" },
    { "linearize", "FILE",
      "The linear model at an operating point: A, B, C, D and the structured form (S, L, J_SS, J_SL, J_LS, J_LL, J_SU, "
      "J_LU), eigenvalues and\n"
      "what moves them. The point is the experiment's start, or where it is at --at TIME, or --at equilibrium, with "
      "the states that --state gives.\n"
      "Inputs are those of the model; where it has none, its sources. `effects` says how each eigenvalue moves with "
      "each parameter while states and\n"
      "inputs stay; effects_total, at equilibria, lets the equilibrium move too. E_IC, E_R: |d(eigenvalue)/ds|, "
      "|d(eigenvalue)/dl| by the slopes of\n"
      "storage (1/I, 1/C) and of dissipators. Equal eigenvalues are found as clusters. Beyond 1500 states the twelve "
      "slowest are found (--eigenvalues, --near).\n"
      "With ideal switches it is the model of the modes that hold there, which are named; where they constrain states, "
      "with effects and without structure.\n"
      "With --mdk the same as second order equations of the inertias' displacements, M q'' + D q' + K q = L u, where "
      "springs move with the velocities\n"
      "of inertias alone; of inputs that are velocities also N times their integral. --symbolic and --latex go with "
      "it.\n"
      "--truncate and --against put reduced models beside this one: H-infinity errors between proved bounds, and "
      "whether they are passive.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_OUTPUT) | OPT(OPT_AT) | OPT(OPT_STATE) | OPT(OPT_SYMBOLIC) |
          OPT(OPT_LATEX) | OPT(OPT_TF) | OPT(OPT_TRUNCATE) | OPT(OPT_AGAINST) | OPT(OPT_EXPORT) | OPT(OPT_BODE) |
          OPT(OPT_STEP_FIGURE) | OPT(OPT_POLES) | OPT(OPT_EFFECTS) | OPT(OPT_EIGENVALUES) | OPT(OPT_NEAR) |
          OPT(OPT_MDK),
      1, 1, cmd_linearize,
      "  bgc linearize macro_micro.bg\n  bgc linearize quarter_car.bg -e smooth_curb --at equilibrium --json | jq "
      ".eigenvalues\n"
      "  bgc linearize quarter_car.bg -e smooth_curb --at 1 --at 1.2 --tf step:y_s\n  bgc linearize two_masses.bg "
      "--symbolic\n"
      "  bgc linearize rcl_ladder.bg --truncate 10 --against reduced.bg --bode compared.svg\n"
      "  bgc linearize three_masses.bg --mdk\n  bgc linearize three_masses_effects.bg --poles poles.svg --effects "
      "effects.png --export model.npz\n" },
    { "test", "FILE...",
      "Runs the experiments that expect something, and says whether it is so.\n"
      "    expect y at 2 [s] = 0.2 [m] within 1 [mm];       a value at a time (without `at`: at the end)\n"
      "    expect y from \"measured.csv\" within 1 [mm];    a trajectory: columns time and y, as bgc run writes them\n"
      "    expect y of \"full.bg\" within 1 [mm];           the same experiment of another model, over the whole run\n"
      "    expect activity of spring = 0.23 within 0.01;   an element's share of the activity, as bgc rank shows it\n"
      "Status 1 where something does not hold, 3 where an experiment does not run.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_JUNIT), 1, SIZE_MAX, cmd_test,
      "  bgc test quarter_car.bg\n  bgc test *.bg --junit results.xml\n  bgc test reduced.bg -e smooth_curb --json\n" },
    { "new", "FILE.bg", "Writes a first model, which runs as it is; never over a file that is there.", SPEAKING, 1, 1,
      cmd_new, "  bgc new slider.bg && bgc run slider.bg --plot slider.svg\n" },
    { "doc", "[MODULE[.MODEL] | FILE.bg [MODEL]]",
      "Lists what the standard library has; of a module or file its models, of a model its ports, inputs, parameters "
      "and what its comment says.",
      OPT(OPT_JSON) | SPEAKING, 0, 2, cmd_doc,
      "  bgc doc\n  bgc doc hydraulic\n  bgc doc hydraulic.Cylinder\n  bgc doc Cylinder\n  bgc doc tire.bg Wheel "
      "--json\n" },
    { "explain", "[CODE...]",
      "Says what a message means and what to write. The code stands in brackets behind the message; without one all "
      "are "
      "listed.",
      OPT(OPT_JSON) | SPEAKING, 0, SIZE_MAX, cmd_explain, "  bgc explain unit-clash\n  bgc explain | less\n" },
    { "man", "[COMMAND]",
      "Writes pages of the manual. Of a command, without one of bgc; with -o all of them into a folder.",
      OPT(OPT_OUTPUT) | SPEAKING, 0, 1, cmd_man, "  bgc man check > bgc-check.1\n  bgc man -o man1\n" },
    { "completion", "bash|zsh", "Writes what a shell needs to complete commands and options.",
      OPT(OPT_OUTPUT) | SPEAKING, 1, 1, cmd_completion,
      "  bgc completion bash > ~/.local/share/bash-completion/completions/bgc\n" },
    { "import", "FILE", "Translates a YAML model file of BondGraphTools into this language.",
      SPEAKING | OPT(OPT_OUTPUT), 1, 1, cmd_import, "  bgc import modular.yaml -o modular.bg\n" },
    { "sensitivity", "FILE",
      "Which parameters matter to the outputs that an experiment observes (all outputs where it observes none), by "
      "three measures:\n"
      "  sensitivity   root mean square of parameter times derivative over that of the output, from the sensitivity "
      "equations along one run\n"
      "  activity      share of the energy that went through the elements whose laws read the parameter, the cheap "
      "estimate\n"
      "  design        runs at all combinations of parameters 10 % up and down (or a fraction of them), analysed by "
      "variance: sums of squares, F\n"
      "                and p of main effects and two-factor interactions. The response is sum|y - y0|/sum|y0| over the "
      "points of the grid\n"
      "With --at TIME instead: derivatives of the outputs then, in SI units, by parameters, by initial values "
      "(spring.q(0)) and by what is added\n"
      "whenever an event or a sample sets a state (mass.p(+)); all, or those that --parameters names. --method adjoint "
      "goes back along the run once\n"
      "for each output, forward once for each parameter; taken is what is less.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_OUTPUT) | OPT(OPT_POINTS) | OPT(OPT_PARAMETERS) | OPT(OPT_DELTA) |
          OPT(OPT_RESPONSE) | OPT(OPT_FRACTION) | OPT(OPT_AT) | OPT(OPT_METHOD) | OPT(OPT_STEP),
      1, 1, cmd_sensitivity,
      "  bgc sensitivity quarter_car.bg -e smooth_curb\n  bgc sensitivity linear_quarter_car.bg -e step --delta 5% "
      "--points 2001 --json\n"
      "  bgc sensitivity beam.bg --parameters E,rho,b --fraction 1\n"
      "  bgc sensitivity ball.bg --at 1.5 --parameters 'g,height(0),body.p(+)' --json\n" },
    { "identify", "FILE --data FILE.csv",
      "What measured data say about parameters.\n"
      "The outputs named in the data's head, and its column time, are what the model is fitted to: least squares over "
      "the parameters given as numbers\n"
      "(or --parameters, or with --active those that carry the activity, a set that follows the search). Columns have "
      "units as in the output of bgc\n"
      "run (SI without), empty cells were not measured. Several experiments: -e A --data a.csv -e B --data b.csv, or "
      "--data A=a.csv. Parameters keep\n"
      "their sign unless --bounds says where they may go. The report has standard errors and what the data do not "
      "tell; the text, with\n"
      "the numbers changed in the units they were written in, goes to -o FILE, or to the input itself with "
      "--in-place.\n"
      "With `solver = variational` the model is its midpoint rule, in steps of the data's spacing unless max_step says "
      "less, with its exact derivatives.\n"
      "With --mdk no model is needed: full symmetric mass, damping and stiffness matrices of M q'' + D q' + K q = L u "
      "from sampled forces u1, u2, ...\n"
      "and displacements y1, y2, ... (the force u3 acts on y3). Methods:\n"
      "  pem          simulation error of the variational midpoint rule, least over symmetric matrices that are "
      "positive semidefinite\n"
      "  variational  its start: subspace identification, block companion form, inverse of the midpoint rule\n"
      "  companion    for comparison: subspace identification and the logarithm of its matrix, companion form\n"
      "  modal        the same, from the residues of its modes\n"
      "Estimates that are not positive definite or whose simulation diverges are no answer: status 3.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_OUTPUT) | OPT(OPT_IN_PLACE) | OPT(OPT_DRY_RUN) | OPT(OPT_DATA) |
          OPT(OPT_PARAMETERS) | OPT(OPT_ACTIVE) | OPT(OPT_THRESHOLD) | OPT(OPT_BOUNDS) | OPT(OPT_WEIGHT) |
          OPT(OPT_STARTS) | OPT(OPT_MDK) | OPT(OPT_STEP) | OPT(OPT_METHOD) | OPT(OPT_HORIZON),
      0, 1, cmd_identify,
      "  bgc identify quarter_car.bg -e smooth_curb --data drive.csv --dry-run\n  bgc identify motor.bg --data "
      "step.csv --parameters R,L -o fitted.bg\n"
      "  bgc identify car.bg -e step --data a.csv -e shaken --data b.csv --active --json\n"
      "  bgc identify --mdk --data truss.csv --step 0.005\n  bgc identify --mdk --data truss.csv --step 0.005 --method "
      "companion --json\n" }
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

static void
print_usage(FILE *out)
{
    fputs("usage: bgc COMMAND [options] FILE...\n\nBond graphs kept as text: checks, runs, ranks and reduces "
          "them.\n\ncommands\n",
          out);
    for (int i = 0; i < NCOMMANDS; i++) {
        size_t n = strcspn(commands[i].what, ":.\n");

        fprintf(out, "  %-11s %.*s\n", commands[i].name, (int)n, commands[i].what);
    }
    fputs("\n`bgc COMMAND -h` shows a command's options and examples.\n"
          "Exit status: 0 done, 1 the model has errors, 2 wrong usage, 3 the numbers failed, 4 a file could not be "
          "read or written, 5 not enough memory.\n",
          out);
}

const struct command *
command_at(size_t i)
{
    return i < NCOMMANDS ? &commands[i] : NULL;
}

const struct command *
command_named(const char *name)
{
    const char *list[NCOMMANDS], *near;

    for (int i = 0; i < NCOMMANDS; i++) {
        if (!strcmp(commands[i].name, name))
            return &commands[i];
        list[i] = commands[i].name;
    }
    near = nearest_name(name, list, NCOMMANDS);
    if (near)
        complain("there is no command \"%s\"; did you mean \"%s\"?", name, near);
    else
        complain("there is no command \"%s\"; `bgc -h` lists them", name);
    return NULL;
}

/* A closed standard stream must not become the next opened file: reading or writing it fails instead. */
static bool
open_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

/* Checks that the output was written; a run that was interrupted ends by the signal that interrupted it. */
static int
finish_command(int status)
{
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == STATUS_DONE)
        status = complain_file("-");
    interrupt_finish();
    return status;
}

/* LAPACK's report of an argument that it refuses, say a matrix that is not finite. Its own goes to standard output,
 * among the results; its callers see from the status that nothing came of the call. */
void xerbla_(const char *routine, const int *argument, size_t length);

void
xerbla_(const char *routine, const int *argument, size_t length)
{
    (void)routine, (void)argument, (void)length;
}

int
main(int argc, char **argv)
{
    const struct command *c;
    request q;
    int status;

    prepare_memory();
    if (!open_streams())
        return STATUS_FILE;
    /* a reader that stops early (head, less) ends this program silently; a file size limit is reported as an error of
     * writing */
    codegen_owns_llvm = true;
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    interrupt_install();
    if (argc < 2) {
        print_usage(stderr);
        return STATUS_USAGE;
    }
    if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
        print_usage(stdout);
        return finish_command(STATUS_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        puts("bgc " BGC_VERSION);
        return finish_command(STATUS_DONE);
    }
    if (!(c = command_named(argv[1])))
        return STATUS_USAGE;
    status = request_parse(&q, c, argc - 2, argv + 2);
    if (status == STATUS_DONE && q.given & OPT(OPT_HELP))
        print_command_help(c, stdout);
    else if (status == STATUS_DONE)
        status = c->run(&q);
    request_free(&q);
    return finish_command(status);
}
