/* fail_alloc.c - preloaded: one allocation of a program fails
 *
 * BG_FAIL_AT=K      the K-th call of malloc, calloc, realloc or an aligned one returns NULL
 * BG_FAIL_COUNT=F   how many there were is written to the file F at exit
 * BG_FAIL_PLACES=F  and to F the number of the first call from each place: a place is what called it, and what called
 *                   that, CALLERS deep
 * BG_FAIL_FORK=D    at every call (with BG_FAIL_PLACES: at those it names) the program forks, and in the child it
 * fails; what the child says goes to D/err. `K STATUS` (as waitpid has it; -1: it hangs, and was killed) is written to
 * the pipe D/told, and the program goes on when a byte comes through D/go. Where the folder that it works in has other
 * files than at first, which the child would take away, there is no child: `K later`. One run tries all of them, some
 * milliseconds each.
 *
 * By glibc's own names for its allocator. Nothing here allocates; the unwinder does when it begins, which is not
 * counted.
 */
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

enum { CALLERS = 6, MOST_PLACES = 1 << 18, HANGS = 60 /* s */ };

static atomic_long calls;
static long fail_at = -1; /* -1: the environment has not been read */
static int places = -1;   /* the file for them; -1: nobody asks */
static uint64_t seen[MOST_PLACES];
static size_t nseen;
static _Thread_local int unwinding; /* or forking: what is allocated for that is not counted */
static int told = -1, go, errors, folder;
static pid_t first;
static size_t files;

/* Call k, if none came from this place before. False: one did. */
static int
note_place(long k)
{
    void *caller[CALLERS + 2];
    uint64_t hash = 1469598103934665603u;
    char line[32];
    size_t at;
    int n;

    unwinding = 1;
    n = backtrace(caller, CALLERS + 2);
    unwinding = 0;
    for (int i = 2; i < n; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)caller[i]) * 1099511628211u;
    for (at = hash % MOST_PLACES; seen[at]; at = (at + 1) % MOST_PLACES)
        if (seen[at] == hash)
            return 0;
    if (nseen + 1 < MOST_PLACES) {
        seen[at] = hash;
        nseen++;
    }
    snprintf(line, sizeof line, "%ld\n", k);
    if (write(places, line, strlen(line)) < 0)
        _exit(1);
    return 1;
}

/* Bytes that the entries of the working folder take. */
static size_t
count_files(void)
{
    char entries[4096];
    size_t all = 0;
    long n;

    lseek(folder, 0, SEEK_SET);
    while ((n = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        all += (size_t)n;
    return all;
}

static int
open_in(const char *in, const char *name, int how)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", in, name);
    return open(path, how | O_CLOEXEC, 0600);
}

static void
begin_forking(const char *in)
{
    told = open_in(in, "told", O_WRONLY);
    go = open_in(in, "go", O_RDONLY);
    errors = open_in(in, "err", O_RDWR | O_CREAT | O_APPEND);
    folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    first = getpid();
    files = count_files();
}

static int
wait_for(pid_t child)
{
    static const struct timespec moment = { 0, 500000 };
    time_t begin = time(NULL);
    int status;

    while (waitpid(child, &status, WNOHANG) == 0) {
        nanosleep(&moment, NULL);
        if (time(NULL) - begin <= HANGS)
            continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return -1;
    }
    return status;
}

/* Is this the child, in which call k fails? */
static int
fork_here(long k)
{
    char line[64], byte;
    pid_t child;

    if (getpid() != first)
        return 0;
    if (count_files() != files) {
        snprintf(line, sizeof line, "%ld later\n", k);
    } else {
        (void)!ftruncate(errors, 0);
        unwinding = 1;
        child = fork();
        unwinding = 0;
        if (child == 0) {
            dup2(errors, STDERR_FILENO);
            dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
            return 1;
        }
        snprintf(line, sizeof line, "%ld %d\n", k, wait_for(child));
    }
    if (write(told, line, strlen(line)) < 0 || read(go, &byte, 1) != 1)
        _exit(1);
    return 0;
}

static int
fails(void)
{
    int new = 1;
    long k;

    if (unwinding)
        return 0;
    k = atomic_fetch_add(&calls, 1) + 1;
    if (fail_at < 0) {
        const char *at = getenv("BG_FAIL_AT"), *file = getenv("BG_FAIL_PLACES"), *in = getenv("BG_FAIL_FORK");

        fail_at = at ? atol(at) : 0;
        if (file)
            places = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (in)
            begin_forking(in);
    }
    if (places >= 0)
        new = note_place(k);
    if (told < 0 ? k != fail_at : !new || !fork_here(k))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *
malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}
void *
calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}
void *
realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}
void *
memalign(size_t align, size_t n)
{
    return fails() ? NULL : __libc_memalign(align, n);
}
void *
aligned_alloc(size_t align, size_t n)
{
    return fails() ? NULL : __libc_memalign(align, n);
}

int
posix_memalign(void **p, size_t align, size_t n)
{
    void *at = fails() ? NULL : __libc_memalign(align, n);

    if (!at)
        return ENOMEM;
    *p = at;
    return 0;
}

__attribute__((destructor)) static void
tell(void)
{
    const char *path = getenv("BG_FAIL_COUNT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

    if (file < 0)
        return;
    dprintf(file, "%ld\n", atomic_load(&calls));
    close(file);
}
