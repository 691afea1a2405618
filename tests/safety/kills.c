/* kills.c - commands ended at random moments: nothing is half written, nothing is lost, nothing stays behind
 *
 *   bg_kills BGC examples/quarter_car.bg N [SEED [EDITS]]      N kills of commands on a copy of the model
 *
 * Each command runs once to its end, which tells its time and what it writes. Then it is ended over and over, by
 * SIGKILL, SIGTERM and SIGINT in turn, half of the times anywhere in its run and half of them near its end, where it
 * writes. After each the file that it writes holds what it held before or all of the new (with --keep-partial also its
 * first rows); the model too, under each of its names. After SIGTERM and SIGINT there is no other file (but the first
 * rows in out.csv.partial), and no process of its group; SIGKILL may leave what was not complete beside its place, and
 * nothing else. Each command that changes a file in place also runs, EDITS times, while someone else edits the file at
 * a random moment: the edit is there afterwards.
 */
#include "../child.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

/* What is written where, and how: the model itself, under a second name too; rows as far as there are when it is told
 * to stop. */
enum { IN_PLACE = 1, LINKED = 2, PARTS = 4 };
struct task {
    const char *arguments, *result;
    int how;
};

static const struct task tasks[] = {
    { "run -e smooth_curb m.bg -o out.csv --points 2001", "out.csv", 0 },
    { "run -e smooth_curb m.bg -o out.csv --points 2001 --keep-partial", "out.csv", PARTS },
    { "run -e smooth_curb m.bg --plot out.svg", "out.svg", 0 },
    { "run -e smooth_curb m.bg --plot out.png", "out.png", 0 },
    { "graph m.bg -o out.svg", "out.svg", 0 },
    { "graph m.bg -o out.dot", "out.dot", 0 },
    { "reduce -e smooth_curb m.bg --threshold 99% -o out.bg", "out.bg", 0 },
    { "reduce -e smooth_curb m.bg --threshold 99% --in-place", "m.bg", IN_PLACE },
    { "reduce -e smooth_curb m.bg --threshold 99% --in-place", "m.bg", IN_PLACE | LINKED },
    { "fmt m.bg -o out.bg", "out.bg", 0 },
    { "fmt --in-place m.bg", "m.bg", IN_PLACE },
    { "fmt --in-place m.bg", "m.bg", IN_PLACE | LINKED },
};
enum { NTASKS = sizeof tasks / sizeof *tasks, MOST_SECONDS = 120 };
static const char old_result[] = "what stood here before\n";

static char *bgc, *dir;
static text model;
static int failures;
static unsigned long long state;

static double
some(void)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 9007199254740992.0;
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
wait_for(double seconds)
{
    struct timespec t = { (time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds)) };

    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

static char *
in_dir(const char *name)
{
    return format("%s/%s", dir, name);
}

/* Everything as it was before the command: the model, and an older result. */
static void
prepare(const struct task *t)
{
    char *path = in_dir("m.bg"), *other = in_dir("other.bg"), *result = in_dir(t->result);

    unlink(path);
    unlink(other);
    if (!file_write(path, model.at, model.n) || ((t->how & LINKED) && link(path, other) != 0) ||
        (!(t->how & IN_PLACE) && !file_write(result, old_result, sizeof old_result - 1)))
        exit(2);
    free(path);
    free(other);
    free(result);
}

static pid_t
start(const struct task *t)
{
    pid_t child = fork();

    if (child == 0) {
        char *copy = format("%s %s", bgc, t->arguments);
        int n, null = open("/dev/null", O_RDWR);
        char **argv = words(copy, &n);

        signal(SIGINT, SIG_DFL); /* a driver in the background of a shell has it ignored */
        setpgid(0, 0);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        if (chdir(dir) == 0)
            execv(argv[0], argv);
        _exit(127);
    }
    setpgid(child, child);
    return child;
}

static bool
holds(const char *name, const char *want, size_t n)
{
    char *path = in_dir(name);
    text t;
    bool same;

    if (!file_read(path, &t))
        exit(2);
    same = t.n == n && !memcmp(t.at, want, n);
    free(t.at);
    free(path);
    return same;
}

/* The first rows of a table, each of them whole? */
static bool
holds_rows(const char *name, const text *table)
{
    char *path = in_dir(name);
    text t;
    bool fine;

    if (!file_read(path, &t))
        exit(2);
    fine = t.n > 0 && t.n < table->n && !memcmp(t.at, table->at, t.n) && t.at[t.n - 1] == '\n';
    free(t.at);
    free(path);
    return fine;
}

static void
fail(const struct task *t, int sig, double at, const char *what)
{
    printf("FAILED: `%s`%s, signal %d after %.4f s: %s\n", t->arguments, (t->how & LINKED) ? " (two names)" : "", sig,
           at, what);
    failures++;
}

/* Is it there under each name, the old or the new? */
static void
look_at_text(const struct task *t, const text *new, int sig, double at)
{
    const char *old = (t->how & IN_PLACE) ? model.at : old_result;
    size_t n = (t->how & IN_PLACE) ? model.n : sizeof old_result - 1;

    /* a process of its own writes into a file with several names, and is not long about it */
    for (double end = now() + 60;
         (t->how & LINKED) && now() < end && !holds(t->result, old, n) && !holds(t->result, new->at, new->n);)
        wait_for(0.01);
    if (!holds(t->result, old, n) && !holds(t->result, new->at, new->n) &&
        !((t->how & PARTS) && holds_rows(t->result, new)))
        fail(t, sig, at, "the result is neither the old nor the new");
    if (!(t->how & IN_PLACE) && !holds("m.bg", model.at, model.n))
        fail(t, sig, at, "the model has changed");
    if ((t->how & LINKED) && !holds("other.bg", old, n) && !holds("other.bg", new->at, new->n))
        fail(t, sig, at, "the other name has another text");
}

static void
look_at_folder(const struct task *t, const text *new, int sig, double at)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d)) != NULL) {
        size_t n = strlen(t->result);
        bool partial = !strncmp(e->d_name, t->result, n) && e->d_name[n] == '.' && strlen(e->d_name) == n + 7;

        if (e->d_name[0] == '.' || !strcmp(e->d_name, "m.bg") || !strcmp(e->d_name, t->result) ||
            ((t->how & LINKED) && !strcmp(e->d_name, "other.bg")))
            continue;
        if (sig && !strcmp(e->d_name, "out.csv.partial")) {
            if (sig == SIGKILL || (t->how & PARTS) || !holds_rows(e->d_name, new))
                fail(t, sig, at, "out.csv.partial is there, or holds something else than first rows");
        } else if (!partial || sig != SIGKILL) {
            char *what = format("%s stays behind", e->d_name);

            fail(t, sig, at, what);
            free(what);
        }
        {
            char *path = in_dir(e->d_name);

            unlink(path);
            free(path);
        }
    }
    closedir(d);
}

/* gnuplot and dot end with the command. */
static void
look_at_group(const struct task *t, pid_t group, int sig, double at)
{
    for (double end = now() + 60; kill(-group, 0) == 0; wait_for(0.01))
        if (now() > end) {
            fail(t, sig, at, "a process stays behind");
            kill(-group, SIGKILL);
            return;
        }
}

static bool
ends_as_it_should(int status, int sig)
{
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == sig);
}

/* Runs it to its end; its time, and what it writes. */
static double
run_whole(const struct task *t, text *new)
{
    double begin = now();
    char *path = in_dir(t->result);
    int status;
    pid_t child;

    prepare(t);
    child = start(t);
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !file_read(path, new)) {
        printf("`%s` fails by itself (status %d)\n", t->arguments, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        exit(2);
    }
    free(path);
    return now() - begin;
}

static void
kill_once(const struct task *t, const text *new, double seconds, int sig)
{
    double at = some() < 0.5 ? some() * 1.1 * seconds : (0.7 + 0.4 * some()) * seconds;
    pid_t child;
    int status;

    prepare(t);
    child = start(t);
    wait_for(at);
    kill(child, sig);
    for (double end = now() + MOST_SECONDS; waitpid(child, &status, WNOHANG) == 0; wait_for(0.002))
        if (now() > end) {
            fail(t, sig, at, "it does not end");
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            break;
        }
    if (!ends_as_it_should(status, sig)) {
        printf("wait status %#x\n", (unsigned)status);
        fail(t, sig, at, "it ends otherwise than by the signal");
    }
    look_at_group(t, child, sig, at);
    look_at_text(t, new, sig, at);
    look_at_folder(t, new, sig, at);
}

enum saving { NEW_FILE, INTO, INTO_SLOWLY, NSAVINGS };

/* As editors save a file: a new one in its place, or into it, some after they looked at it. */
static bool
save(const char *path, const char *edited, enum saving how)
{
    size_t n = strlen(edited);
    char *beside;
    bool fine;
    int fd;

    switch (how) {
    case INTO: return file_write(path, edited, n);
    case INTO_SLOWLY:
        fd = open(path, O_WRONLY);
        wait_for(some() * 0.01);
        return fd >= 0 && ftruncate(fd, 0) == 0 && write(fd, edited, n) == (ssize_t)n && close(fd) == 0;
    default:
        beside = in_dir("saved");
        fine = file_write(beside, edited, n) && rename(beside, path) == 0;
        free(beside);
        return fine;
    }
}

static void
edit_once(const struct task *t, double seconds, enum saving how)
{
    static const char edit[] = "// edited\n", *const what[] = { "an edit is lost (new file)",
                                                                "an edit is lost (into it)",
                                                                "an edit is lost (slowly)" };
    double at = (0.2 + 0.9 * some()) * seconds;
    char *edited = format("%s%s", model.at, edit), *path = in_dir("m.bg");
    pid_t child;
    int status;
    text now_there;

    prepare(t);
    child = start(t);
    wait_for(at);
    if (!save(path, edited, how) || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        !file_read(path, &now_there))
        exit(2);
    if (now_there.n < sizeof edit || strcmp(now_there.at + now_there.n - sizeof edit + 1, edit) != 0)
        fail(t, 0, at, what[how]);
    free(now_there.at);
    free(edited);
    free(path);
    look_at_folder(t, NULL, 0, at);
}

int
main(int argc, char **argv)
{
    static const int signals[] = { SIGKILL, SIGTERM, SIGINT };
    int count, edits, done = 0, edited = 0;

    if (argc < 4 || (count = atoi(argv[3])) < 1) {
        fputs("usage: bg_kills BGC MODEL N [SEED [EDITS]]\n", stderr);
        return 2;
    }
    state = argc > 4 ? strtoull(argv[4], NULL, 10) : (unsigned long long)time(NULL);
    edits = argc > 5 ? atoi(argv[5]) : (count + NTASKS - 1) / NTASKS;
    printf("seed %llu\n", state);
    bgc = realpath(argv[1], NULL);
    if (!bgc || !file_read(argv[2], &model)) {
        perror(argv[1]);
        return 2;
    }
    /* blank lines at the end, so that `fmt` has something to change */
    model.at = resize(model.at, model.n + 4);
    memcpy(model.at + model.n, "\n\n\n", 4);
    model.n += 3;
    dir = temp_directory();
    for (int i = 0; i < NTASKS; i++) {
        text new = { 0 };
        double seconds = run_whole(&tasks[i], &new);
        int share = count * (i + 1) / NTASKS - count * i / NTASKS;
        char *result = in_dir(tasks[i].result);

        for (int k = 0; k < share; k++, done++)
            kill_once(&tasks[i], &new, seconds, signals[done % 3]);
        for (int k = 0; (tasks[i].how & IN_PLACE) && k < edits; k++, edited++)
            edit_once(&tasks[i], seconds, (enum saving)(k % NSAVINGS));
        unlink(result);
        free(result);
        free(new.at);
    }
    printf("%d kills, %d edits, %d failures\n", done, edited, failures);
    tree_remove(dir);
    free(dir);
    free(bgc);
    free(model.at);
    return failures != 0;
}
