/* lease.c - see lease.h */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "lease.h"

enum { TRIES = 200, NS_A_TRY = 5000000 };

/* Asks until no other process has the file open in a conflicting way. */
static void
ask(lease *l, int kind)
{
    static const struct timespec pause = { 0, NS_A_TRY };

    for (int k = 0; k < TRIES; k++) {
        errno = 0;
        if (fcntl(l->fd, F_SETLEASE, kind) == 0) {
            l->held = true;
            return;
        }
        if (errno != EAGAIN)
            return;
        nanosleep(&pause, NULL);
    }
}

bool
lease_take(lease *l, const char *path, bool to_write)
{
    l->held = false;
    l->fd = open(path, (to_write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (l->fd < 0)
        return false;
    /* the kernel reports a waiting process by a signal: use one that is ignored by default */
    fcntl(l->fd, F_SETSIG, SIGURG);
    ask(l, to_write ? F_WRLCK : F_RDLCK);
    if (l->held || errno != EAGAIN || to_write) /* a reader alone does no harm */
        return true;
    close(l->fd);
    errno = EBUSY;
    return false;
}

bool
lease_disturbed(const lease *l)
{
    return l->held && fcntl(l->fd, F_GETLEASE) == F_UNLCK;
}

void
lease_drop(lease *l)
{
    int why = errno;

    close(l->fd);
    errno = why;
}
