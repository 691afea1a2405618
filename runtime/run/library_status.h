/* library_status.h - checks the status of set-up calls to the integrators' library */
#ifndef BG_LIBRARY_STATUS_H
#define BG_LIBRARY_STATUS_H

#include <sundials/sundials_context.h>

#include "base.h"

/* For a call that makes or sets something. Since its arguments are correct, the only possible error is lack of memory,
 * which ends like any other (base.h). */
static inline void
library_set(int status)
{
    if (status != 0)
        bg_out_of_memory(0);
}

/* The same for an object that a call returns. */
static inline void *
library_made(void *made)
{
    if (!made)
        bg_out_of_memory(0);
    return made;
}

/* The context of vectors and integrators. Some of what makes it does not ask whether it got memory. */
static inline SUNContext
library_context(void)
{
    enum { ROOM = 1 << 20 };
    SUNContext context;

    bg_need_room(ROOM);
    library_set(SUNContext_Create(NULL, &context));
    return context;
}

/* A handler of messages that prints none: a failure is also returned as a status, for which this program has a message
 * of its own. */
static inline void
library_says_nothing(int code, const char *module, const char *function, char *text, void *data)
{
    (void)code, (void)module, (void)function, (void)text, (void)data;
}

#endif
