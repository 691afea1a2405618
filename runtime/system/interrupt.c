/* interrupt.c - see interrupt.h
 *
 * The handler may run in any thread and at any point: it reads plain flags and calls only functions of
 * signal-safety(7).
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "interrupt.h"

/* GRACE: seconds for work to reach the end of a step after a request to stop; then the program ends without
 * deferring */
enum { MOST_FILES = 64, GRACE = 5 };

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGALRM };

static char *volatile file[MOST_FILES];
static volatile sig_atomic_t child, held, waiting, deferred, asked;

static void
clean_up_files(void)
{
    for (int i = 0; i < MOST_FILES; i++)
        if (file[i])
            unlink(file[i]);
    if (child)
        kill((pid_t)child, SIGTERM);
}

static void
end_by(int sig)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };
    sigset_t this;

    sigemptyset(&this);
    sigaddset(&this, sig);
    sigaction(sig, &plain, NULL);
    pthread_sigmask(SIG_UNBLOCK, &this, NULL);
    raise(sig);
}

static void
on_signal(int sig)
{
    int why = errno;

    if (held) {
        waiting = sig;
    } else if (deferred && !asked && (sig == SIGINT || sig == SIGTERM || sig == SIGHUP)) {
        asked = sig;
        alarm(GRACE);
    } else {
        clean_up_files();
        end_by(sig == SIGALRM && asked ? asked : sig);
    }
    errno = why;
}

void
interrupt_install(void)
{
    struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;

    sigfillset(&a.sa_mask);
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
        if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &a, NULL);
    atexit(clean_up_files);
    bg_before_no_memory = clean_up_files;
}

void
interrupt_defer(bool on)
{
    deferred = on;
    if (!on && asked)
        alarm(0);
}

int
interrupt_asked(void)
{
    return asked;
}

void
interrupt_finish(void)
{
    if (!asked)
        return;
    clean_up_files();
    end_by(asked);
}

void
interrupt_hold(void)
{
    held++;
}

void
interrupt_release(void)
{
    int sig = waiting;

    if (--held || !sig)
        return;
    waiting = 0;
    raise(sig);
}

bool
interrupt_removes(char *path)
{
    for (int i = 0; i < MOST_FILES; i++)
        if (!file[i]) {
            file[i] = path;
            return true;
        }
    return false;
}

void
interrupt_forgets(const char *path)
{
    for (int i = 0; i < MOST_FILES; i++) {
        char *at = file[i];

        if (at && !strcmp(at, path)) {
            file[i] = NULL;
            free(at);
            return;
        }
    }
}

void
interrupt_stops(pid_t pid)
{
    child = pid;
}
