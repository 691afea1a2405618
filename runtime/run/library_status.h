/* library_status.h - what the integrators' library says of being set up */
#ifndef BG_LIBRARY_STATUS_H
#define BG_LIBRARY_STATUS_H

#include "base.h"

/* A call that makes or sets something has succeeded. Its arguments being ours, only a want of memory is left: that ends
 * as any other does (base.h). */
static inline void
library_set(int status)
{
    if (status != 0)
        bg_out_of_memory(0);
}

/* The same of what is made. */
static inline void *
library_made(void *made)
{
    if (!made)
        bg_out_of_memory(0);
    return made;
}

#endif
