/* lease.h - a file whose text others leave alone for a moment
 *
 * While it is held, whoever opens the file to write into it waits, and lease_disturbed tells that someone does
 * (fcntl(2), F_SETLEASE). A file of another owner, and some file systems, have no leases: then it is only an open file.
 */
#ifndef BG_LEASE_H
#define BG_LEASE_H

#include "base.h"

typedef struct lease {
    int fd;
    bool held;
} lease;

/* Opens to read (writers wait) or also to write (readers wait too). Someone who writes into it just now is waited for,
 * a second at most. False with errno set; EBUSY: it is still written into. Free with lease_drop. */
bool lease_take(lease *l, const char *path, bool to_write);
bool lease_disturbed(const lease *l);
void lease_drop(lease *l); /* keeps errno */

#endif
