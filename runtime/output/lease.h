/* lease.h - keeps other programs from changing a file for a moment
 *
 * While the lease is held, a program that opens the file for writing waits, and lease_disturbed reports it (fcntl(2),
 * F_SETLEASE). Files of another owner and some file systems have no leases: then the file is only opened.
 */
#ifndef BG_LEASE_H
#define BG_LEASE_H

#include "base.h"

typedef struct lease {
    int fd;
    bool held;
} lease;

/* Opens for reading (writers wait) or also for writing (readers wait too). Waits up to a second for a program that is
 * writing into the file. False with errno set; EBUSY: it is still being written. Free with lease_drop. */
bool lease_take(lease *l, const char *path, bool to_write);
bool lease_disturbed(const lease *l);
void lease_drop(lease *l); /* keeps errno */

#endif
