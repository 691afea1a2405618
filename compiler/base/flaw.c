/* flaw.c - see flaw.h */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "flaw.h"

bool
flaw_found(char **flaw, const char *fmt, ...)
{
    va_list ap;

    if (*flaw)
        return false;
    va_start(ap, fmt);
    if (vasprintf(flaw, fmt, ap) < 0)
        *flaw = bg_format("(no memory to say what)");
    va_end(ap);
    return false;
}
