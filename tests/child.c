/* child.c - see child.h */
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *
allocate(size_t n)
{
    void *p = calloc(1, n ? n : 1);

    if (!p) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return p;
}

void *
resize(void *p, size_t n)
{
    p = realloc(p, n ? n : 1);
    if (!p) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return p;
}

char *
format(const char *fmt, ...)
{
    va_list ap, again;
    int n;
    char *s;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    s = allocate((size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

static void
append(text *t, const char *s, size_t n)
{
    if (t->n + n > CHILD_MAX_OUTPUT)
        n = CHILD_MAX_OUTPUT - t->n;
    t->at = resize(t->at, t->n + n + 1);
    memcpy(t->at + t->n, s, n);
    t->n += n;
    t->at[t->n] = 0;
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In the new process: never returns. */
static void
become(char *const argv[], const char *dir, int out, int err)
{
    int null = open("/dev/null", O_RDONLY);

    setpgid(0, 0);
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(126);
    setenv("LC_ALL", "C", 1);
    if (dir && chdir(dir) != 0) {
        perror(dir);
        _exit(126);
    }
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

bool
child_run(char *const argv[], const char *dir, double seconds, bool merge, child_result *r)
{
    int out[2], err[2], status;
    bool late = false;
    double end = now() + seconds;
    pid_t pid;

    memset(r, 0, sizeof *r);
    append(&r->out, "", 0);
    append(&r->err, "", 0);
    if (pipe2(out, O_CLOEXEC) != 0)
        return false;
    if (pipe2(err, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return false;
    }
    pid = fork();
    if (pid == 0)
        become(argv, dir, out[1], merge ? out[1] : err[1]);
    close(out[1]);
    close(err[1]);
    if (pid < 0) {
        close(out[0]);
        close(err[0]);
        return false;
    }
    setpgid(pid, pid); /* both sides set it: whoever comes first */

    struct pollfd p[2] = { { out[0], POLLIN, 0 }, { err[0], POLLIN, 0 } };
    text *into[2] = { &r->out, &r->err };
    while (p[0].fd >= 0 || p[1].fd >= 0) {
        double left = end - now();

        if (left <= 0 && !late) {
            late = true;
            kill(-pid, SIGKILL);
        }
        if (late && left < -2) /* someone else holds the pipe open */
            break;
        if (poll(p, 2, late ? 100 : (int)(1000 * left) + 1) < 0 && errno != EINTR)
            break;
        for (int i = 0; i < 2; i++) {
            char buf[1 << 16];
            ssize_t n;

            if (p[i].fd < 0 || !p[i].revents)
                continue;
            p[i].revents = 0;
            n = read(p[i].fd, buf, sizeof buf);
            if (n > 0)
                append(into[i], buf, (size_t)n);
            else if (n == 0 || errno != EINTR)
                p[i].fd = -1;
        }
    }
    close(out[0]);
    close(err[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    r->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (late) {
        r->status = -1;
        snprintf(r->why, sizeof r->why, "did not end within %g s", seconds);
    } else if (WIFSIGNALED(status)) {
        snprintf(r->why, sizeof r->why, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (r->status == 127) {
        snprintf(r->why, sizeof r->why, "could not be started");
        r->status = -1;
    }
    return true;
}

void
child_free(child_result *r)
{
    free(r->out.at);
    free(r->err.at);
    memset(r, 0, sizeof *r);
}

bool
child_sanitizer(const child_result *r)
{
    static const char *const marks[] = { "AddressSanitizer", "LeakSanitizer", "UndefinedBehaviorSanitizer",
                                         ": runtime error: " };

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strstr(r->err.at, marks[i]) || strstr(r->out.at, marks[i]))
            return true;
    return false;
}

bool
file_read(const char *path, text *t)
{
    FILE *f = fopen(path, "rb");
    char buf[1 << 16];
    size_t n;

    memset(t, 0, sizeof *t);
    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    append(t, "", 0);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        append(t, buf, n);
    if (ferror(f)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        free(t->at);
        fclose(f);
        return false;
    }
    fclose(f);
    return true;
}

bool
file_write(const char *path, const char *at, size_t n)
{
    FILE *f = fopen(path, "wb");
    bool ok;

    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    ok = fwrite(at, 1, n, f) == n;
    if (fclose(f) != 0)
        ok = false;
    if (!ok)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return ok;
}

char *
temp_directory(void)
{
    const char *base = getenv("TMPDIR");
    char *path = format("%s/bg-test-XXXXXX", base && *base ? base : "/tmp");

    if (!mkdtemp(path)) {
        perror(path);
        exit(2);
    }
    return path;
}

void
tree_remove(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    if (d) {
        while ((e = readdir(d)) != NULL) {
            char *path;

            if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                continue;
            path = format("%s/%s", dir, e->d_name);
            if (unlink(path) != 0 &&
                (errno == EISDIR || errno == EPERM)) /* links and files; never what a link points to */
                tree_remove(path);
            free(path);
        }
        closedir(d);
    }
    rmdir(dir);
}

char **
words(char *s, int *n)
{
    char **w = allocate(sizeof *w);
    int k = 0;

    for (;;) {
        char end = ' ';

        while (*s == ' ' || *s == '\t')
            s++;
        if (!*s)
            break;
        if (*s == '"' || *s == '\'')
            end = *s++;
        w = resize(w, ((size_t)k + 2) * sizeof *w);
        w[k++] = s;
        while (*s && (end == ' ' ? *s != ' ' && *s != '\t' : *s != end))
            s++;
        if (*s)
            *s++ = 0;
    }
    w[k] = NULL;
    *n = k;
    return w;
}

/* Does a line agree with a pattern in which `...` stands for any text? */
static bool
line_agrees(const char *want, size_t nw, const char *have, size_t nh)
{
    const char *gap = nw >= 3 ? memmem(want, nw, "...", 3) : NULL;

    if (!gap)
        return nw == nh && memcmp(want, have, nw) == 0;

    size_t before = (size_t)(gap - want);

    if (nh < before || memcmp(want, have, before) != 0)
        return false;
    want += before + 3, nw -= before + 3;
    have += before, nh -= before;
    for (size_t skip = 0; skip <= nh; skip++)
        if (line_agrees(want, nw, have + skip, nh - skip))
            return true;
    return false;
}

bool
lines_agree(const char *want, const char *have)
{
    while (*want) {
        size_t nw = strcspn(want, "\n"), nh = strcspn(have, "\n");

        if (nw == 3 && memcmp(want, "...", 3) == 0) {
            want += nw + (want[nw] == '\n');
            if (!*want)
                return true;
            for (;; have += strcspn(have, "\n") + 1) {
                if (lines_agree(want, have))
                    return true;
                if (!have[strcspn(have, "\n")])
                    return false;
            }
        }
        if (!*have || !line_agrees(want, nw, have, nh))
            return false;
        want += nw + (want[nw] == '\n');
        have += nh + (have[nh] == '\n');
    }
    return !*have;
}

void
show_difference(const char *label, const char *want, const char *have)
{
    int line = 1;

    for (;;) {
        size_t a = strcspn(want, "\n"), b = strcspn(have, "\n");

        if (!line_agrees(want, a, have, b) || !want[a] || !have[b]) {
            printf("  %s, line %d\n    expected: %.*s%s\n    written:  %.*s%s\n", label, line, (int)a, want,
                   *want ? "" : "(end)", (int)b, have, *have ? "" : "(end)");
            return;
        }
        want += a + 1;
        have += b + 1;
        line++;
    }
}
