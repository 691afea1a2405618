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
#include "interrupt.h"

#define SPEAKING (OPT(OPT_QUIET) | OPT(OPT_VERBOSE))
#define COMMON (SPEAKING | OPT(OPT_ALLOW_READ))
#define RUNNING (OPT(OPT_EXPERIMENT) | OPT(OPT_SET) | OPT(OPT_SOLVER) | OPT(OPT_RTOL) | OPT(OPT_ATOL) | OPT(OPT_MAX_TIME) | OPT(OPT_MAX_STEPS))

static const struct command commands[] = {
    { "check", "FILE...", "Reads models up to their equations: mistakes, counts, dependent states, algebraic loops.",
      COMMON | OPT(OPT_JSON) | OPT(OPT_EXPERIMENT) | OPT(OPT_SET) | OPT(OPT_DUMP) | OPT(OPT_OUTPUT), 1, SIZE_MAX, cmd_check,
      "  bgc check quarter_car.bg\n  bgc check --json *.bg | jq .diagnostics\n  bgc check --dump equations quarter_car.bg\n" },
    { "run", "FILE", "Simulates an experiment. The columns are the outputs and the recorded expressions, in their units.\n"
      "Of a folder that `bgc partition -o DIR` wrote: its partitions, those that do not wait for each other side by side; each writes a table.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_OUTPUT) | OPT(OPT_STATES) | OPT(OPT_POINTS) | OPT(OPT_PLOT) | OPT(OPT_VERIFY)
      | OPT(OPT_VERIFY_WITHIN), 1, 1, cmd_run,
      "  bgc run quarter_car.bg > run.csv\n  bgc run quarter_car.bg -e smooth_curb --set m_s=300[kg] --plot run.svg\n"
      "  bgc run quarter_car.bg --json --states --points 1001 -o run.json\n  bgc run parts\n"
      "  bgc run quarter_car.bg -e smooth_curb --verify -o run.csv\n" },
    { "rank", "FILE", "Ranks the elements by how much they matter in an experiment, or in several together.\n"
      "Metrics, several with commas between them:\n"
      "  activity         energy that went through, whichever way; its share is the activity index\n"
      "  rms              root mean square of the power\n"
      "  kl               share in the Karhunen-Loeve expansion of the powers\n"
      "  kl-normalised    the same, each element's power brought to length 1 first\n"
      "  relative-energy  which bonds matter to the elements that store energy\n"
      "  junction         each bond against the largest at its junctions\n"
      "The last two flag bonds below a ratio of --threshold (5%). Of several experiments\n"
      "(-e A -e B, or --all) the greatest index of an element decides.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_METRIC) | OPT(OPT_THRESHOLD) | OPT(OPT_ALL) | OPT(OPT_BY) | OPT(OPT_SAMPLES)
      | OPT(OPT_WITHOUT_SOURCES) | OPT(OPT_OUTPUT) | OPT(OPT_VERIFY) | OPT(OPT_VERIFY_WITHIN), 1, 1, cmd_rank,
      "  bgc rank quarter_car.bg\n  bgc rank quarter_car.bg -e smooth_curb -m activity,rms,kl --json\n"
      "  bgc rank quarter_car.bg --all --without-sources --threshold 95%\n  bgc rank quarter_car.bg -e smooth_curb -m junction --threshold 2%\n" },
    { "reduce", "FILE",
      "Takes out of the source what matters least, checks the result by running it, and says what it costs.\n"
      "With --within, or where an experiment says `observe OUTPUT within TOL` and no threshold is asked for: as much as the tolerances of\n"
      "all such experiments allow (or of those named with -e); with --bonds and --terms more than elements. With --threshold: the elements that\n"
      "matter least by a metric, activity or rms; by junction or relative-energy also bonds, which go or become sources that act one way.\n"
      "--simplify folds at the end, exactly, what only passes a bond on; with --threshold 100% it does that alone.\n"
      "The text goes to -o FILE, to the input itself with --in-place, else to standard output.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_METRIC) | OPT(OPT_THRESHOLD) | OPT(OPT_WITHIN) | OPT(OPT_TERMS) | OPT(OPT_BONDS) |
          OPT(OPT_SIMPLIFY) | OPT(OPT_OUTPUT) | OPT(OPT_DRY_RUN) | OPT(OPT_IN_PLACE), 1, 1, cmd_reduce,
      "  bgc reduce quarter_car.bg -o reduced.bg\n  bgc reduce quarter_car.bg -e smooth_curb --within 5[mm] --terms --dry-run\n"
      "  bgc reduce quarter_car.bg -e smooth_curb --within 2% -v\n  bgc reduce quarter_car.bg -e smooth_curb --threshold 99% --dry-run\n"
      "  bgc reduce quarter_car.bg -e smooth_curb -m rms --in-place && git diff\n"
      "  bgc reduce half_car.bg -e flat_smooth -m junction --threshold 2% --dry-run\n  bgc reduce half_car.bg --within 1% --bonds --simplify\n" },
    { "partition", "FILE",
      "Finds what hardly feels the rest: compares each bond with the largest at its junctions (below --threshold, 5%, it is inactive there), makes\n"
      "one-way signals of the inactive ones, and says into which subgraphs the model falls, which drives which, and which signals lead in a circle.\n"
      "Of several experiments (-e A -e B, or --all) and windows a bond is inactive where it is so in each.\n"
      "The conditioned model is compiled and run before it counts, and the report says what it costs. With -o DIR it is written there, and a model\n"
      "for each partition, which the recorded signals of those before it drive; components, loops and arrays are written out part by part where needed.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_THRESHOLD) | OPT(OPT_ALL) | OPT(OPT_FREEZE) | OPT(OPT_MORA) | OPT(OPT_POINTS)
      | OPT(OPT_OUTPUT), 1, 1, cmd_partition,
      "  bgc partition half_car.bg -e flat_smooth\n  bgc partition half_car.bg --all --threshold 8% --json\n"
      "  bgc partition half_car.bg -e flat_smooth --freeze theta=0 --freeze rear.N=45[kN] --freeze front.N -o parts && bgc run parts\n" },
    { "diff", "A.bg B.bg", "Compares two models part by part; with -e, their outputs over an experiment too.",
      COMMON | RUNNING | OPT(OPT_JSON) | OPT(OPT_POINTS), 2, 2, cmd_diff,
      "  bgc diff full.bg reduced.bg\n  bgc diff full.bg reduced.bg -e smooth_curb --json\n" },
    { "graph", "FILE", "Draws the bond graph with half arrows and causal strokes: .svg, .png, .pdf, or .dot for Graphviz.",
      COMMON | OPT(OPT_EXPERIMENT) | OPT(OPT_SET) | OPT(OPT_OUTPUT), 1, 1, cmd_graph,
      "  bgc graph quarter_car.bg -o quarter_car.svg\n  bgc graph quarter_car.bg | dot -Tx11\n" },
    { "fmt", "FILE...", "Prints models in the canonical layout, comments kept.",
      SPEAKING | OPT(OPT_OUTPUT) | OPT(OPT_IN_PLACE) | OPT(OPT_CHECK), 1, SIZE_MAX, cmd_fmt,
      "  bgc fmt quarter_car.bg\n  bgc fmt --in-place *.bg\n  bgc fmt --check *.bg\n" },
    { "import", "FILE", "Translates a YAML model file of BondGraphTools into this language.", SPEAKING | OPT(OPT_OUTPUT), 1, 1, cmd_import,
      "  bgc import modular.yaml -o modular.bg\n" }
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

static void
print_usage(FILE *out)
{
    fputs("usage: bgc COMMAND [options] FILE...\n\nBond graphs kept as text: checks, runs, ranks and reduces them.\n\ncommands\n", out);
    for (int i = 0; i < NCOMMANDS; i++) {
        size_t n = strcspn(commands[i].what, ":.\n");

        fprintf(out, "  %-8s %.*s\n", commands[i].name, (int)n, commands[i].what);
    }
    fputs("\n`bgc COMMAND -h` shows a command's options and examples.\n"
          "Exit status: 0 done, 1 the model has errors, 2 wrong usage, 3 the numbers failed, 4 a file could not be read or written, 5 not enough memory.\n",
          out);
}

static const struct command *
find_command(const char *name)
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

/* A stream that is closed must not become the next file that is opened: reading and writing it fails instead. */
static bool
open_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

/* What was printed must have been written; a run that was told to stop ends by the signal that told it. */
static int
finish(int status)
{
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == STATUS_DONE)
        status = complain_file("-");
    interrupt_finish();
    return status;
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
    /* a reader that stops early (head, less) ends us quietly; a limit of file sizes is an error of the write */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    interrupt_install();
    if (argc < 2) {
        print_usage(stderr);
        return STATUS_USAGE;
    }
    if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
        print_usage(stdout);
        return finish(STATUS_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        puts("bgc " BGC_VERSION);
        return finish(STATUS_DONE);
    }
    if (!(c = find_command(argv[1])))
        return STATUS_USAGE;
    status = request_parse(&q, c, argc - 2, argv + 2);
    if (status == STATUS_DONE && q.given & OPT(OPT_HELP))
        print_command_help(c, stdout);
    else if (status == STATUS_DONE)
        status = c->run(&q);
    request_free(&q);
    return finish(status);
}
