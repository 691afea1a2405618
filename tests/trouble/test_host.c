/* test_host.c - a host program of libbgc goes on when memory runs out
 *
 * usage    test_host MODEL EXPERIMENT [HOW-MANY]
 *          HOW-MANY (30) of the allocations of the library fail, evenly over all of them, each in a process of its own;
 *          0: every one. Then limits on memory, from hardly any to enough.
 *
 * Each time the call fails and its diagnostic says why, or the library did without; and a second model, for which there
 * is memory again, runs. Allocations inside other libraries are not made to fail one by one: some of these crash or end
 * the program where a small one fails. Before their work the library asks for room, which the limits test.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bgc.h"

enum { POINTS = 11, MOST_PARTS = 32, PATIENCE = 60 /* s */, NEVER = 0 };
enum outcome { DONE, SAID, SILENT, NO_SECOND, NO_HANDLE };

/* ---------------------------------------------------------------- allocations that fail */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static struct {
    uintptr_t begin, end;
} part[MOST_PARTS]; /* where the library is loaded */
static int nparts;
static long calls, fail_at;

static int
note_parts(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int k = 0; strstr(info->dlpi_name, "libbgc") && k < info->dlpi_phnum && nparts < MOST_PARTS; k++)
        if (info->dlpi_phdr[k].p_type == PT_LOAD) {
            part[nparts].begin = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
            part[nparts].end = part[nparts].begin + info->dlpi_phdr[k].p_memsz;
            nparts++;
        }
    return 0;
}

static int
fails(const void *caller)
{
    for (int i = 0; i < nparts; i++)
        if ((uintptr_t)caller >= part[i].begin && (uintptr_t)caller < part[i].end && ++calls == fail_at) {
            errno = ENOMEM;
            return 1;
        }
    return 0;
}

void *
malloc(size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

/* ---------------------------------------------------------------- what a host does */

/* Numbers and names are handed out without a way to say that memory ran out, so they take none. */
static bool
looks_up(bgc_model *m)
{
    long before = calls;
    size_t k = bgc_parameter_find(m, "nothing");

    for (size_t i = 0, n = bgc_state_count(m); i < n; i++)
        (void)bgc_state_name(m, i);
    for (size_t i = 0, n = bgc_output_count(m); i < n; i++)
        (void)bgc_output_find(m, bgc_output_name(m, i));
    for (size_t i = 0, n = bgc_element_count(m); i < n; i++)
        (void)bgc_element_name(m, i);
    (void)bgc_set_at(m, k, 1);
    return calls == before;
}

static void
use(bgc_model *m, bool *done)
{
    size_t n = bgc_state_count(m);
    double *x = __libc_calloc(2 * n + 1, sizeof *x);
    bgc_run *r;

    *done = looks_up(m) && bgc_initial(m, 0, x) && bgc_rates(m, 0, x, x + n);
    r = bgc_simulate(m, &(bgc_run_options){ .points = POINTS });
    *done = *done && r && bgc_run_points(r) == POINTS;
    bgc_run_free(r);
    *done = *done && bgc_let_go_of_source(m);
    free(x);
}

static enum outcome
work(const char *path, const char *experiment)
{
    bgc_model *m = bgc_open(path, experiment);
    bool done = false, said = false;

    if (!m)
        return NO_HANDLE;
    if (bgc_ok(m))
        use(m, &done);
    for (size_t i = 0; i < bgc_diagnostic_count(m); i++)
        said |= !strcmp(bgc_diagnostic_at(m, i).code, "no-memory");
    bgc_free(m);
    return done ? DONE : said ? SAID : SILENT;
}

/* In a process of its own: allocation k fails, or the process may have so many bytes more than it has. */
static int
try(const char *path, const char *experiment, long k, size_t more)
{
    pid_t child;
    int status;

    fflush(stdout);
    if ((child = fork()) == 0) {
        struct rlimit limit;
        enum outcome first;
        long pages = 0;
        FILE *f = fopen("/proc/self/statm", "r");

        if (f && fscanf(f, "%ld", &pages) == 1)
            fclose(f);
        alarm(PATIENCE);
        getrlimit(RLIMIT_AS, &limit);
        if (more) {
            limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
            setrlimit(RLIMIT_AS, &limit);
        }
        fail_at = calls + k;
        first = work(path, experiment);
        fail_at = NEVER;
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_AS, &limit);
        _exit((int)(first == SAID && work(path, experiment) != DONE ? NO_SECOND : first));
    }
    waitpid(child, &status, 0);
    return status;
}

static int
judge(const char *what, double size, int status)
{
    static const char *const text[] = { "", "", "nothing says why", "a second model does not run" };

    if (WIFEXITED(status) && (WEXITSTATUS(status) < SILENT || WEXITSTATUS(status) == NO_HANDLE))
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) <= NO_SECOND)
        printf("%s %g: %s\n", what, size, text[WEXITSTATUS(status)]);
    else
        printf("%s %g: the host ended, status %x\n", what, size, (unsigned)status);
    return 1;
}

int
main(int argc, char **argv)
{
    long most = argc > 3 ? atol(argv[3]) : 30, all;
    int failures = 0;

    if (argc < 3)
        return 2;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    for (int mb = 1; mb <= 256; mb *= 2)
        failures += judge("limit, MB more:", mb, try(argv[1], argv[2], NEVER, (size_t)mb << 20));
    dl_iterate_phdr(note_parts, NULL);
    if (work(argv[1], argv[2]) != DONE) {
        printf("the model does not run, or names of it are made when they are asked for\n");
        return 1;
    }
    all = calls;
    if (all == 0) {
        printf("no allocation of the library was seen\n");
        return 1;
    }
    for (long k = 1, step = most ? all / most + 1 : 1; k <= all; k += step)
        failures += judge("allocation", (double)k, try(argv[1], argv[2], k, 0));
    return failures > 0;
}
