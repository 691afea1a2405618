/* subprocess.c - see subprocess.h */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interrupt.h"
#include "subprocess.h"

struct pipes {
    int in[2], out[2], told[2];
};

static void
close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
close_pipes(struct pipes *p)
{
    for (int k = 0; k < 2; k++) {
        close_end(&p->in[k]);
        close_end(&p->out[k]);
        close_end(&p->told[k]);
    }
}

static bool
open_pipes(struct pipes *p)
{
    *p = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
    if (pipe2(p->in, O_CLOEXEC) == 0 && pipe2(p->out, O_CLOEXEC) == 0 && pipe2(p->told, O_CLOEXEC) == 0)
        return true;
    close_pipes(p);
    return false;
}

static _Noreturn void
become(const char *const *argv, const struct pipes *p, pid_t parent)
{
    int why;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* if this program is killed it cannot stop the child itself */
    if (getppid() != parent)          /* ... and it was killed already */
        _exit(127);
    signal(SIGPIPE, SIG_DFL);
    dup2(p->in[0], STDIN_FILENO);
    dup2(p->out[1], STDOUT_FILENO);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    why = errno;
    (void)!write(p->told[1], &why, sizeof why); /* a successful exec closes this pipe without writing */
    _exit(127);
}

/* Writes and reads as the program allows, until it closes its output. False: errno. */
static bool
exchange_bytes(struct pipes *p, const char *input, size_t n, strbuf *out)
{
    char buffer[1 << 16];

    fcntl(p->in[1], F_SETFL, O_NONBLOCK);
    while (p->out[0] >= 0) {
        struct pollfd f[2] = { { p->out[0], POLLIN, 0 }, { n ? p->in[1] : -1, POLLOUT, 0 } };
        ssize_t done;

        if (!n)
            close_end(&p->in[1]);
        if (poll(f, 2, -1) < 0) {
            if (errno == EINTR)
                continue;
            return false;
        }
        if (f[1].revents) {
            done = write(p->in[1], input, n);
            if (done > 0)
                input += done, n -= (size_t)done;
            else if (errno != EINTR && errno != EAGAIN)
                n = 0; /* it stopped reading, which its status will tell */
        }
        if (f[0].revents) {
            done = read(p->out[0], buffer, sizeof buffer);
            if (done > 0)
                strbuf_add(out, buffer, (size_t)done);
            else if (done == 0)
                close_end(&p->out[0]);
            else if (errno != EINTR)
                return false;
        }
    }
    return true;
}

int
run_program(const char *const *argv, const char *input, size_t n, strbuf *out)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    struct pipes p;
    int status = 0, why = 0;
    bool fine;
    pid_t child, this = getpid();

    if (!open_pipes(&p))
        return -1;
    /* a program that stops reading is reported by its status, not by a signal to this process */
    sigaction(SIGPIPE, &ignore, &before);
    interrupt_hold();
    child = fork();
    if (child == 0)
        become(argv, &p, this);
    why = errno;
    if (child > 0)
        interrupt_stops(child);
    interrupt_release();
    close_end(&p.in[0]);
    close_end(&p.out[1]);
    close_end(&p.told[1]);
    if (child < 0) {
        close_pipes(&p);
        sigaction(SIGPIPE, &before, NULL);
        errno = why;
        return -1;
    }
    fine = exchange_bytes(&p, input, n, out);
    why = fine ? 0 : errno;
    if (!fine)
        kill(child, SIGTERM);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    interrupt_stops(0);
    if (fine && read(p.told[0], &why, sizeof why) != (ssize_t)sizeof why)
        why = 0;
    close_pipes(&p);
    sigaction(SIGPIPE, &before, NULL);
    if (why) {
        errno = why;
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
