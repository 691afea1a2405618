/* files.c - results that are written whole or not at all */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"

bool
outfile_open(outfile *f, const char *path)
{
    struct stat st;
    char *real;
    int fd;

    memset(f, 0, sizeof *f);
    if (!path || !strcmp(path, "-")) {
        f->out = stdout;
        return true;
    }
    /* a pipe or a device is written to, not replaced; a link stays a link */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        if (S_ISDIR(st.st_mode)) {
            errno = EISDIR;
            return false;
        }
        f->out = fopen(path, "wb");
        return f->out != NULL;
    }
    real = realpath(path, NULL);
    f->path = bg_strdup(real ? real : path);
    free(real);
    f->temporary = bg_format("%s.XXXXXX", f->path);
    if ((fd = mkstemp(f->temporary)) < 0) {
        int why = errno;

        free(f->temporary);
        f->temporary = NULL;
        outfile_abort(f);
        errno = why;
        return false;
    }
    if (stat(f->path, &st) == 0) {
        (void)!fchmod(fd, st.st_mode & 07777);
    } else {
        mode_t mask = umask(0);

        umask(mask);
        (void)!fchmod(fd, 0666 & ~mask);
    }
    f->out = fdopen(fd, "wb");
    if (!f->out) {
        close(fd);
        outfile_abort(f);
        return false;
    }
    return true;
}

bool
outfile_commit(outfile *f)
{
    bool fine;
    int why;

    if (!f->out)
        return true;
    errno = 0;
    fine = !ferror(f->out) && fflush(f->out) == 0;
    if (f->temporary && fine)
        fine = fsync(fileno(f->out)) == 0 || errno == EINVAL;
    if (f->out != stdout)
        fine = fclose(f->out) == 0 && fine;
    f->out = NULL;
    if (f->temporary && fine)
        fine = rename(f->temporary, f->path) == 0;
    why = errno;
    if (fine) {
        free(f->temporary);
        f->temporary = NULL;
    }
    outfile_abort(f);
    errno = fine ? 0 : why ? why : EIO;
    return fine;
}

void
outfile_abort(outfile *f)
{
    if (f->out && f->out != stdout)
        fclose(f->out);
    if (f->temporary)
        unlink(f->temporary);
    free(f->temporary);
    free(f->path);
    memset(f, 0, sizeof *f);
}

bool
write_whole(const char *path, const char *text, size_t n)
{
    outfile f;

    if (!outfile_open(&f, path))
        return false;
    fwrite(text, 1, n, f.out);
    return outfile_commit(&f);
}

bool
same_file(const char *a, const char *b)
{
    struct stat x, y;

    if (!strcmp(a, "-") || !strcmp(b, "-"))
        return false;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool
has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);

    return n >= m && !strcmp(path + n - m, suffix);
}

int
run_program(const char *const *argv, const char *input, size_t n, int out)
{
    int in[2], told[2], status = 0, why = 0;
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    pid_t child;

    if (pipe2(in, O_CLOEXEC) != 0)
        return -1;
    if (pipe2(told, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return -1;
    }
    child = fork();
    if (child == 0) {
        dup2(in[0], STDIN_FILENO);
        if (out >= 0)
            dup2(out, STDOUT_FILENO);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        why = errno;
        (void)!write(told[1], &why, sizeof why);     /* a successful exec closes this pipe unwritten */
        _exit(127);
    }
    why = errno;
    close(in[0]);
    close(told[1]);
    if (child < 0) {
        close(in[1]);
        close(told[0]);
        errno = why;
        return -1;
    }
    /* a program that stops reading shows in its status, not as a signal to us */
    sigaction(SIGPIPE, &ignore, &before);
    while (n) {
        ssize_t done = write(in[1], input, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            break;
        input += done;
        n -= (size_t)done;
    }
    close(in[1]);
    sigaction(SIGPIPE, &before, NULL);
    if (read(told[0], &why, sizeof why) != (ssize_t)sizeof why)
        why = 0;
    close(told[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (why) {
        errno = why;
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
