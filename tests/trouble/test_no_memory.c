/* test_no_memory.c - one allocation after the other fails, in check, run, rank, reduce and fmt
 *
 * usage    test_no_memory BGC FAIL_ALLOC.so [HOW-MANY [COMMAND...]]
 *          HOW-MANY of each command, evenly over its allocations; 0: every one; places: the first from each place in
 *          the code, by six callers; what libraries do before main counts in the first command only. COMMAND: those of
 * the list below that begin so, like "run"; else all.
 *
 * Each time the command ends by itself, in time: done (a library did without), or with the status for want of memory,
 * and then it says so and says nothing of the model. What it wrote is whole: the input as it was, the result complete
 * or absent, nothing else left.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void
one_failure(const char *bgc, const char *command, long k, const char *whole, size_t nwhole, bool comparable)
{
    char *number = format("%ld", k), *out, *path = format("%s/m.bg", folder);
    text now = { 0 };
    child_result r;
    size_t n;

    setenv("BG_FAIL_AT", number, 1);
    run(bgc, command, &r);
    out = result(command, k, &n);
    if (r.status != 0 && r.status != NO_MEMORY)
        complain(command, k, r.status < 0 ? r.why : format("status %d", r.status), &r);
    else if (r.status == NO_MEMORY && !strstr(r.err.at, "memory"))
        complain(command, k, "nothing said of memory", &r);
    else if (r.status == NO_MEMORY && strstr(r.err.at, "m.bg:"))
        complain(command, k, "the model was blamed", &r);
    if (out && comparable && (n != nwhole || memcmp(out, whole, n)))
        complain(command, k, "the result is not what it is with enough memory", NULL);
    if (!file_read(path, &now) || strcmp(now.at, model))
        complain(command, k, "the input was changed", NULL);
    free(now.at);
    free(out);
    child_free(&r);
    free(number);
    free(path);
}

/* Runs it with enough memory, and counts. Its result is *whole; the places' calls are in *place. False: it fails. */
static bool
count_calls(const char *bgc, const char *command, long *all, text *place, char **whole, size_t *n)
{
    char *count = format("%s/count", folder), *places = format("%s/places", folder);
    text t = { 0 };
    child_result r;
    bool fine;

    unsetenv("BG_FAIL_AT");
    setenv("BG_FAIL_COUNT", count, 1);
    setenv("BG_FAIL_PLACES", places, 1);
    run(bgc, command, &r);
    unsetenv("BG_FAIL_COUNT");
    unsetenv("BG_FAIL_PLACES");
    *whole = result(command, 0, n);
    fine = r.status == 0 && file_read(count, &t) && file_read(places, place);
    if (fine)
        *all = atol(t.at);
    else
        complain(command, 0, "it does not work with enough memory", &r);
    child_free(&r);
    free(t.at);
    free(count);
    free(places);
    return fine;
}

static long
calls_before_main(const char *bgc)
{
    text place = { 0 };
    char *whole;
    size_t n;
    long all = 0;

    count_calls(bgc, "--version", &all, &place, &whole, &n);
    free(whole);
    free(place.at);
    return all;
}

static void
one_command(const char *bgc, const char *command, const char *how_many, long *before)
{
    bool comparable = !strstr(command, "rank");
    long all, done = 0, most = atol(how_many), step;
    text place = { 0 };
    char *whole;
    size_t n;

    if (!count_calls(bgc, command, &all, &place, &whole, &n)) {
        free(whole);
        return;
    }
    step = most > 0 && all > most ? all / most : 1;
    if (!strcmp(how_many, "places"))
        for (char *at = place.at, *end; *at; at = end + (*end != 0)) {
            long k = strtol(at, &end, 10);

            if (k <= *before)
                continue;
            one_failure(bgc, command, k, whole, n, comparable);
            done++;
        }
    else
        for (long k = 1; k <= all; k += step, done++)
            one_failure(bgc, command, k, whole, n, comparable);
    if (!*before) /* libraries set themselves up before the command begins: once is enough */
        *before = calls_before_main(bgc);
    printf("bgc %s: %ld of %ld allocations failed\n", command, done, all);
    fflush(stdout);
    free(whole);
    free(place.at);
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
    long before = 0; /* calls that the first command has tried, and all others begin with */
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
            one_command(argv[1], commands[i], argc > 3 ? argv[3] : "0", &before);
    unsetenv("LD_PRELOAD");
    tree_remove(folder);
    free(folder);
    free(path);
    printf("%d failures\n", failures);
    return failures != 0;
}
