/* test_no_memory.c - one allocation after the other fails, in check, run, rank, reduce and fmt
 *
 * usage    test_no_memory BGC FAIL_ALLOC.so [HOW-MANY [COMMAND...]]
 *          HOW-MANY of each command, evenly over its allocations, each in a run of its own; 0: every one; places: the
 *          first from each place in the code, by six callers. These two fork where it fails (fail_alloc.c). COMMAND:
 *          those of the list below that begin so, like "run"; else all.
 *
 * Each time the command ends by itself, in time: done (a library did without), or with the status for want of memory,
 * and then it says so and says nothing of the model. What it wrote is whole: the input as it was, the result complete
 * or absent, nothing else left.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../child.h"

enum { NO_MEMORY = 5 };
static const double LIMIT = 60; /* s: longer is a hang, also on a machine at work */

static const char model[] =
    "model m \"a swing\" {\n    parameter k = 2;\n    1:v { f(0) = 1; }\n    v -> I:mass = 1;\n    v -> C:spring = "
    "1/k;\n    v -> R:damper { e = 0.2*f + 0.01*f^3; }\n"
    "    v -> R:small = 0.00001;\n    MSe:s = if time < 0.5 then 1 else 0 -> v;\n    output o = v.f;\n}\n"
    "experiment e of m { stop = 1; observe o within 0.1; }\n";

static const char *const commands[] = { "check m.bg",
                                        "check --json m.bg",
                                        "fmt m.bg -o out.bg",
                                        "run m.bg -o out.csv",
                                        "run m.bg --solver bdf --states --json -o out.json",
                                        "rank m.bg -o out.json --json",
                                        "reduce m.bg --threshold 99% -o out.bg",
                                        "reduce m.bg --dry-run" };
enum { NCOMMANDS = sizeof commands / sizeof *commands };

static char *folder;
static int failures;

static void
complain(const char *command, long k, const char *what, const child_result *r)
{
    failures++;
    printf("bgc %s, allocation %ld: %s\n", command, k, what);
    if (r && r->err.n)
        printf("%.600s\n", r->err.at);
}

/* What stands in the folder beside the model: its text; NULL: nothing. More than one file is left behind. */
static char *
result(const char *command, long k, size_t *n)
{
    DIR *d = opendir(folder);
    char *found = NULL;
    text t = { 0 };

    *n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char *path = format("%s/%s", folder, e->d_name);

        if (!strncmp(e->d_name, "out.", 4) && strlen(e->d_name) <= 8 && file_read(path, &t)) {
            found = t.at;
            *n = t.n;
        } else if (strcmp(e->d_name, "m.bg") && strcmp(e->d_name, "count") && strcmp(e->d_name, "places") &&
                   *e->d_name != '.') {
            complain(command, k, format("it left %s behind", e->d_name), NULL);
        } else if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && *e->d_name == '.') {
            complain(command, k, format("it left %s behind", e->d_name), NULL);
        }
        if (!strncmp(e->d_name, "out.", 4))
            unlink(path);
        free(path);
    }
    if (d)
        closedir(d);
    return found;
}

static void
run(const char *bgc, const char *command, child_result *r)
{
    char *line = format("%s %s", bgc, command);
    int n;
    char **argv = words(line, &n);

    if (!child_run(argv, folder, LIMIT, false, r))
        exit(2);
    free(argv);
    free(line);
}

/* What the command was meant to give. */
struct meant {
    const char *command;
    char *whole; /* its result; NULL: none */
    size_t n;
    bool comparable;
};

/* Looks at how it ended where call k failed. */
static void
judge(const struct meant *m, long k, const child_result *r)
{
    char *out, *path = format("%s/m.bg", folder);
    text now = { 0 };
    size_t n;

    out = result(m->command, k, &n);
    if (r->status != 0 && r->status != NO_MEMORY)
        complain(m->command, k, r->status < 0 ? r->why : format("status %d", r->status), r);
    else if (r->status == NO_MEMORY && !strstr(r->err.at, "memory"))
        complain(m->command, k, "nothing said of memory", r);
    else if (r->status == NO_MEMORY && strstr(r->err.at, "m.bg:"))
        complain(m->command, k, "the model was blamed", r);
    if (out && m->comparable && (n != m->n || memcmp(out, m->whole, n)))
        complain(m->command, k, "the result is not what it is with enough memory", NULL);
    if (!file_read(path, &now) || strcmp(now.at, model))
        complain(m->command, k, "the input was changed", NULL);
    free(now.at);
    free(out);
    free(path);
}

static void
one_failure(const char *bgc, const struct meant *m, long k)
{
    char *number = format("%ld", k);
    child_result r;

    setenv("BG_FAIL_AT", number, 1);
    run(bgc, m->command, &r);
    unsetenv("BG_FAIL_AT");
    judge(m, k, &r);
    child_free(&r);
    free(number);
}

/* Starts it so that it forks where a call fails; the ends of its pipes. */
static pid_t
start_forking(const char *bgc, const char *command, const char *aside, FILE **told, int *go)
{
    char *line = format("%s %s", bgc, command), *path = format("%s/told", aside), *path_go = format("%s/go", aside);
    char *says = format("%s/says", aside);
    int n, null = open("/dev/null", O_RDWR), err = open(says, O_WRONLY | O_CREAT | O_APPEND, 0600);
    char **argv = words(line, &n);
    pid_t pid;

    if (mkfifo(path, 0600) != 0 || mkfifo(path_go, 0600) != 0 || null < 0 || err < 0 || (pid = fork()) < 0) {
        perror(aside);
        exit(2);
    }
    if (pid == 0) {
        dup2(null, 0);
        dup2(null, 1);
        dup2(err, 2);
        if (chdir(folder) == 0)
            execv(argv[0], argv);
        _exit(127);
    }
    close(null);
    close(err);
    *told = fopen(path, "r");
    *go = open(path_go, O_WRONLY);
    unlink(path);
    unlink(path_go);
    free(argv);
    free(line);
    free(path);
    free(path_go);
    free(says);
    return pid;
}

/* Every call, or the first from each place, in one run. How many there were. */
static long
fail_all(const char *bgc, const struct meant *m, bool of_places)
{
    char *aside = temp_directory(), *err = format("%s/err", aside), *places = format("%s/places", aside), line[64];
    struct {
        long *at;
        size_t n;
    } later = { 0 };
    long done = 0, k;
    FILE *told;
    int go, status;
    pid_t pid;

    setenv("BG_FAIL_FORK", aside, 1);
    if (of_places)
        setenv("BG_FAIL_PLACES", places, 1);
    pid = start_forking(bgc, m->command, aside, &told, &go);
    unsetenv("BG_FAIL_FORK");
    unsetenv("BG_FAIL_PLACES");
    for (; fgets(line, sizeof line, told); done++) {
        child_result r = { 0 };
        char *end;

        k = strtol(line, &end, 10);
        if (!strcmp(end, " later\n")) {
            later.at = resize(later.at, (later.n + 1) * sizeof *later.at);
            later.at[later.n++] = k;
        } else if (file_read(err, &r.err)) {
            status = atoi(end);
            r.status = status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
            snprintf(r.why, sizeof r.why, status == -1 ? "it hangs" : "signal %d", status & 0x7f);
            judge(m, k, &r);
            free(r.err.at);
        }
        if (write(go, "", 1) != 1)
            break;
    }
    fclose(told);
    close(go);
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        child_result r = { 0 };
        char *says = format("%s/says", aside), *what = format("the run that forks ends with status %#x", status);

        file_read(says, &r.err);
        complain(m->command, done, what, &r);
        free(r.err.at);
        free(what);
        free(says);
    }
    free(result(m->command, 0, &(size_t){ 0 }));
    for (size_t i = 0; i < later.n; i++)
        one_failure(bgc, m, later.at[i]);
    free(later.at);
    tree_remove(aside);
    free(aside);
    free(err);
    free(places);
    return done;
}

/* Runs it with enough memory, and counts. False: it fails. */
static bool
count_calls(const char *bgc, struct meant *m, long *all)
{
    char *count = format("%s/count", folder);
    text t = { 0 };
    child_result r;
    bool fine;

    setenv("BG_FAIL_COUNT", count, 1);
    run(bgc, m->command, &r);
    unsetenv("BG_FAIL_COUNT");
    m->whole = result(m->command, 0, &m->n);
    fine = r.status == 0 && file_read(count, &t);
    if (fine)
        *all = atol(t.at);
    else
        complain(m->command, 0, "it does not work with enough memory", &r);
    child_free(&r);
    free(t.at);
    unlink(count);
    free(count);
    return fine;
}

static void
one_command(const char *bgc, const char *command, const char *how_many)
{
    struct meant m = { .command = command, .comparable = !strstr(command, "rank") };
    long all, done = 0, most = atol(how_many), step;

    if (count_calls(bgc, &m, &all)) {
        step = most > 0 && all > most ? all / most : 1;
        if (most > 0)
            for (long k = 1; k <= all; k += step, done++)
                one_failure(bgc, &m, k);
        else
            done = fail_all(bgc, &m, !strcmp(how_many, "places"));
        printf("bgc %s: %ld of %ld allocations failed\n", command, done, all);
        fflush(stdout);
    }
    free(m.whole);
}

static bool
is_wanted(const char *command, int n, char **wanted)
{
    for (int i = 0; i < n; i++)
        if (!strncmp(command, wanted[i], strlen(wanted[i])))
            return true;
    return n == 0;
}

int
main(int argc, char **argv)
{
    char *path;

    if (argc < 3)
        return 2;
    folder = temp_directory();
    path = format("%s/m.bg", folder);
    if (!file_write(path, model, strlen(model)))
        return 2;
    setenv("LD_PRELOAD", argv[2], 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    for (int i = 0; i < NCOMMANDS; i++)
        if (is_wanted(commands[i], argc > 4 ? argc - 4 : 0, argv + 4))
            one_command(argv[1], commands[i], argc > 3 ? argv[3] : "0");
    unsetenv("LD_PRELOAD");
    tree_remove(folder);
    free(folder);
    free(path);
    printf("%d failures\n", failures);
    return failures != 0;
}
