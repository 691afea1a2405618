/* main.c - the bgc command
 *
 * A model passes from text to tree (grammar/), to a compiled model (compiler/, compile.c has its stages), to runs,
 * analyses and edits (runtime/). Here stand the table of the commands, and what holds for all of them.
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
    { "check", "FILE...",
      "Checks models up to their equations; reports errors, counts, dependent states and "
      "algebraic loops.\n"
      "With --json: an object for each file, each on a line of its own, in the order given. A file that cannot be read "
      "has none;\n"
      "the exit status is the greatest of all files.",
      COMMON | OPT(OPT_JSON) | OPT(OPT_EXPERIMENT) | OPT(OPT_SET) | OPT(OPT_DUMP) | OPT(OPT_OUTPUT) | OPT(OPT_WARN) |
          OPT(OPT_WERROR),
      1, SIZE_MAX, cmd_check,
      "  bgc check quarter_car.bg\n  bgc check --json *.bg | jq .diagnostics\n  bgc check --dump equations "
      "quarter_car.bg\n  bgc check --werror -Wno-port-unjoined *.bg\n" },
    { "run", "FILE",
      "Simulates an experiment. The columns are the outputs and the recorded expressions, in their units.\n"
      "For a folder written by `bgc partition -o DIR`: runs its partitions, independent ones in parallel; "
      "each writes a table\n"
      "NAME_EXPERIMENT.csv beside it. Beside other models no table that is there is replaced: nothing is run.\n"
      "-v and --json add the energy balance: supplied by sources, stored, dissipated, taken by jumps, and "
      "the residual of the\n"
      "integrator's steps.",
      COMMON | RUNNING | OPT(OPT_STOP) | OPT(OPT_STEP) | OPT(OPT_JSON) | OPT(OPT_OUTPUT) | OPT(OPT_STATES) |
          OPT(OPT_POINTS) | OPT(OPT_PLOT) | OPT(OPT_VERIFY) | OPT(OPT_VERIFY_WITHIN) | OPT(OPT_KEEP_PARTIAL),
      1, 1, cmd_run,
      "  bgc run quarter_car.bg > run.csv\n  bgc run quarter_car.bg -e smooth_curb --set m_s=300[kg] --plot run.svg\n"
      "  bgc run quarter_car.bg --json --states --points 1001 -o run.json\n  bgc run parts\n  bgc run sketch.bg --stop "
      "10\n"
      "  bgc run quarter_car.bg -e smooth_curb --verify -o run.csv\n" },
    { "rank", "FILE",
      "Ranks the elements by their importance in an experiment, or in several together.\n"
      "Metrics, several with commas between them:\n"
      "  activity         energy through the element in either direction; its share is the activity index\n"
      "  rms              root mean square of the power\n"
      "  kl               share in the Karhunen-Loeve expansion of the powers\n"
      "  kl-normalised    the same, with each element's power scaled to length 1 first\n"
      "  reaper           the expansion of the powers of all bonds: elements and connections in one list\n"
      "  relative-energy  which bonds matter to the elements that store energy\n"
      "  junction         each bond against the largest at its junctions\n"
      "The last two flag bonds below a ratio of --threshold (5%). With several experiments (-e A -e B, or "
      "--all) the greatest\n"
      "index of an element decides.\n"
      "With --by frequency: activity by octaves of the excitation, for instance of a chirp.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_METRIC) | OPT(OPT_THRESHOLD) | OPT(OPT_ALL) | OPT(OPT_BY) |
          OPT(OPT_SAMPLES) | OPT(OPT_WITHOUT_SOURCES) | OPT(OPT_OUTPUT) | OPT(OPT_VERIFY) | OPT(OPT_VERIFY_WITHIN),
      1, 1, cmd_rank,
      "  bgc rank quarter_car.bg\n  bgc rank quarter_car.bg -e smooth_curb -m activity,rms,kl --json\n"
      "  bgc rank quarter_car.bg --all --without-sources --threshold 95%\n  bgc rank quarter_car.bg -e smooth_curb -m "
      "junction --threshold 2%\n" },
    { "reduce", "FILE",
      "Takes the least important parts out of the source, runs the result to check it, and reports its errors.\n"
      "One of these chooses the parts:\n"
      "  --within          tolerances, or `observe OUTPUT within TOL` in the experiments (all, or those "
      "given by -e): searches\n"
      "                    the smallest model that meets them; --bonds and --terms also try bonds and terms of sums\n"
      "  --threshold, -m   a ranking: elements by activity or rms; by reaper, junction or relative-energy "
      "bonds too, which are\n"
      "                    dropped or become one-way sources\n"
      "  --modes, --band   eigenvalues to keep (numbers as in `bgc linearize`): takes out elements "
      "without effect on them, and\n"
      "                    subsystems that are not driven or not observed; corrects the static gain in "
      "the lines of outputs;\n"
      "                    --direct adds a direct term of the inputs, which stands for the fast modes taken out\n"
      "  --order N         a number of states of a linear model: searches elements to take out and "
      "parameters of the others\n"
      "                    together, in the frequency domain; reports the proved H-infinity error and "
      "that of balanced truncation\n"
      "Then, on request:\n"
      "  --refit           fits the remaining parameters (or --parameters a,b) to the outputs of the "
      "given model; the report has\n"
      "                    their old values\n"
      "  --inactive        takes out parts without any power in the experiment, which is exact\n"
      "  --simplify        folds parts that only pass a bond on, which is exact; with --threshold 100% it "
      "does only that\n"
      "If the reduced model is linear, the report says whether it is passive.\n"
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
      "Finds parts that drive others without a reaction from them. A bond is inactive at an end if its "
      "activity is below\n"
      "--threshold (5%) of the largest at that junction, in all windows of all experiments (-e A -e B, or "
      "--all). Bonds that\n"
      "are inactive at one end become signals. The report shows the subgraphs, which drives which, and "
      "which signals form a\n"
      "circle. The conditioned model is compiled and run, and the report gives its errors: a small ratio "
      "does not bound them.\n"
      "With -o DIR it writes the conditioned model, a model for each partition on which a requested "
      "quantity depends (observed\n"
      "outputs, or all; recorded or asserted quantities), driven by the recorded signals of those before "
      "it, and a drawing.\n"
      "`bgc run DIR` runs them again. Components, loops and arrays are written out part by part where "
      "needed; files that the\n"
      "model reads are copied to DIR/files. The report then compares the models (states, loops, steps, "
      "time), and the elements\n"
      "that --mora takes out of each partition and of the whole. reduced.bg is the model without these elements.\n"
      "With --over: the ratios as curves over a parameter, and where they cross the threshold.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_THRESHOLD) | OPT(OPT_ALL) | OPT(OPT_FREEZE) | OPT(OPT_MORA) |
          OPT(OPT_MORA_WINDOW) | OPT(OPT_POINTS) | OPT(OPT_OUTPUT) | OPT(OPT_OVER) | OPT(OPT_PLOT),
      1, 1, cmd_partition,
      "  bgc partition half_car.bg -e flat_smooth\n  bgc partition half_car.bg --all --threshold 8% --json\n"
      "  bgc partition half_car.bg -e flat_smooth --freeze theta=0 --freeze rear.N=45[kN] --freeze front.N -o parts && "
      "bgc run parts\n"
      "  bgc partition half_car.bg -e flat_smooth --over bumps=0:40:9[mm] --plot ratios.svg\n" },
    { "diff", "A.bg B.bg",
      "Compares two models part by part, and their experiments; with -e also their outputs over an "
      "experiment. Exit status 1\n"
      "if they differ.",
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
      "Linearizes a model at an operating point: A, B, C, D, the structured form (S, L, J_SS, J_SL, J_LS, "
      "J_LL, J_SU, J_LU),\n"
      "eigenvalues and the effects of parameters on them. The point is the start of the experiment, --at TIME, or\n"
      "--at equilibrium, with the states given by --state. The inputs are those of the model or, if it "
      "has none, its sources.\n"
      "  effects        change of each eigenvalue with each parameter, with unchanged states and inputs\n"
      "  effects_total  the same, with the equilibrium moving with the parameter\n"
      "  E_IC, E_R      |d(eigenvalue)/ds|, |d(eigenvalue)/dl|, by the derivatives of the laws of storage "
      "(1/I, 1/C) and of\n"
      "                 dissipators\n"
      "Equal eigenvalues are reported as clusters. Beyond 1500 states the twelve slowest are computed "
      "(--eigenvalues, --near).\n"
      "With ideal switches it is the model of the modes at that point, which are named. If these "
      "constrain states, there are\n"
      "effects but no structured form.\n"
      "With --mdk: second-order equations M q'' + D q' + K q = L u of the inertias' displacements, if "
      "springs move with the\n"
      "velocities of inertias alone; for inputs that are velocities also N times their integral; with "
      "--symbolic or --latex as\n"
      "expressions.\n"
      "--truncate and --against compare reduced models with this one: H-infinity errors between proved "
      "bounds, and passivity.",
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
      "Runs the experiments with expectations and reports whether they hold.\n"
      "    expect y at 2 [s] = 0.2 [m] within 1 [mm];       a value at a time (without `at`: at the end)\n"
      "    expect y from \"measured.csv\" within 1 [mm];    a trajectory: columns time and y, as bgc run "
      "writes them\n"
      "    expect y of \"full.bg\" within 1 [mm];           the same experiment of another model, over "
      "the whole run\n"
      "    expect activity of spring = 0.23 within 0.01;   an element's share of the activity, as bgc rank shows it\n"
      "Exit status 1 if one does not hold, 3 if an experiment does not run.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_JUNIT), 1, SIZE_MAX, cmd_test,
      "  bgc test quarter_car.bg\n  bgc test *.bg --junit results.xml\n  bgc test reduced.bg -e smooth_curb --json\n" },
    { "new", "FILE.bg", "Writes a first model that runs; never overwrites a file.", SPEAKING, 1, 1, cmd_new,
      "  bgc new slider.bg && bgc run slider.bg --plot slider.svg\n" },
    { "doc", "[MODULE[.MODEL] | FILE.bg [MODEL]]",
      "Lists the standard library. For a module or file it lists the models, for a model its ports, inputs, "
      "parameters and description.",
      OPT(OPT_JSON) | SPEAKING, 0, 2, cmd_doc,
      "  bgc doc\n  bgc doc hydraulic\n  bgc doc hydraulic.Cylinder\n  bgc doc Cylinder\n  bgc doc tire.bg Wheel "
      "--json\n" },
    { "explain", "[CODE...]",
      "Explains a message and what to write instead. Its code stands in brackets behind the message; without a code "
      "all are listed.",
      OPT(OPT_JSON) | SPEAKING, 0, SIZE_MAX, cmd_explain, "  bgc explain unit-clash\n  bgc explain | less\n" },
    { "man", "[COMMAND]",
      "Writes manual pages: that of a command, without one that of bgc, with -o all of them into a folder.",
      OPT(OPT_OUTPUT) | SPEAKING, 0, 1, cmd_man, "  bgc man check > bgc-check.1\n  bgc man -o man1\n" },
    { "completion", "bash|zsh", "Writes a script with which a shell completes commands and options.",
      OPT(OPT_OUTPUT) | SPEAKING, 1, 1, cmd_completion,
      "  bgc completion bash > ~/.local/share/bash-completion/completions/bgc\n" },
    { "import", "FILE", "Translates a YAML model file of BondGraphTools into this language.",
      SPEAKING | OPT(OPT_OUTPUT), 1, 1, cmd_import, "  bgc import modular.yaml -o modular.bg\n" },
    { "sensitivity", "FILE",
      "Measures how much parameters matter to the outputs that an experiment observes (to all outputs if "
      "it observes none):\n"
      "  sensitivity   root mean square of parameter times derivative, over that of the output, from the "
      "sensitivity equations\n"
      "                along one run\n"
      "  activity      share of the energy through the elements whose laws read the parameter: a cheap estimate\n"
      "  design        runs at all combinations of parameters 10 % up and down (or a fraction of them), "
      "with an analysis of\n"
      "                variance: sums of squares, F and p of main effects and two-factor interactions. "
      "The response is\n"
      "                sum|y - y0|/sum|y0| over the points of the grid\n"
      "A parameter is varied by a share of its value in SI units: a temperature by a share of its kelvins; one that is "
      "0 not\n"
      "at all, which is said.\n"
      "With --at TIME instead: derivatives of the outputs at that time, in SI units, by parameters, by "
      "initial values\n"
      "(spring.q(0)), and by an amount added whenever an event or a sample sets a state (mass.p(+)); all, "
      "or those given by\n"
      "--parameters. --method adjoint needs one backward pass for each output, forward one pass for each "
      "parameter; by default\n"
      "the cheaper one is used.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_OUTPUT) | OPT(OPT_POINTS) | OPT(OPT_PARAMETERS) | OPT(OPT_DELTA) |
          OPT(OPT_RESPONSE) | OPT(OPT_FRACTION) | OPT(OPT_AT) | OPT(OPT_METHOD) | OPT(OPT_STEP),
      1, 1, cmd_sensitivity,
      "  bgc sensitivity quarter_car.bg -e smooth_curb\n  bgc sensitivity linear_quarter_car.bg -e step --delta 5% "
      "--points 2001 --json\n"
      "  bgc sensitivity beam.bg --parameters E,rho,b --fraction 1\n"
      "  bgc sensitivity ball.bg --at 1.5 --parameters 'g,height(0),body.p(+)' --json\n" },
    { "identify", "FILE --data FILE.csv",
      "Estimates parameters from measured data: least squares over the parameters that are given as "
      "numbers (or those of\n"
      "--parameters; with --active the ones with most of the activity, chosen again during the search).\n"
      "The data have a column time and a column for each measured output, with units as in the output of "
      "bgc run (SI without);\n"
      "empty cells were not measured. Several experiments: -e A --data a.csv -e B --data b.csv, or --data A=a.csv.\n"
      "Parameters keep their sign unless --bounds allows another. The report has standard errors, and "
      "which parameters the data\n"
      "do not determine. The text, with the numbers changed in the units they were written in, goes to -o "
      "FILE, or to the input\n"
      "itself with --in-place.\n"
      "With `solver = variational` the model is its midpoint rule with exact derivatives, in steps of the "
      "data's spacing unless\n"
      "max_step is shorter.\n"
      "With --mdk no model is needed: estimates full symmetric mass, damping and stiffness matrices of M "
      "q'' + D q' + K q = L u\n"
      "from sampled forces u1, u2, ... and displacements y1, y2, ... (the force u3 acts on y3). Methods:\n"
      "  pem          least simulation error of the variational midpoint rule over symmetric positive "
      "semidefinite matrices\n"
      "  variational  its start: subspace identification, block companion form, inverse of the midpoint rule\n"
      "  companion    for comparison: subspace identification and the logarithm of its matrix, companion form\n"
      "  modal        the same, from the residues of its modes\n"
      "Estimates that are not positive definite or whose simulation diverges give exit status 3.",
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
    fputs("\n`bgc COMMAND -h` shows a command's options and examples.\nExit status: 0 done, 1 the model has errors, "
          "2 wrong usage, 3 the computation failed, 4 a file could not be read or written, 5 not enough memory.\n",
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
    codegen_loaded();
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

/* `bgc help`, or `bgc help run` (name), which is `bgc run -h`. */
static int
help(const char *name)
{
    const struct command *c = name ? command_named(name) : NULL;

    if (name && !c)
        return STATUS_USAGE;
    if (c)
        print_command_help(c, stdout);
    else
        print_usage(stdout);
    return STATUS_DONE;
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
    if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))
        return finish_command(help(argv[2]));
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
