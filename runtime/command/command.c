/* command.c - see command.h */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command_inside.h"

void
command_say(const char *before, const char *fmt, va_list ap)
{
    char *text, *clean;

    if (vasprintf(&text, fmt, ap) < 0)
        return;
    clean = quoted(QUOTE_LINE, text);
    fprintf(stderr, "%s%s\n", before, clean);
    free(clean);
    free(text);
}

void
complain(const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    va_start(ap, fmt);
    command_say("bgc: ", fmt, ap);
    va_end(ap);
}

/* The length of the path's folder if there is no such folder; 0: there is, or it is the current one. */
static int
missing_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash && slash != path ? bg_format("%.*s", (int)(slash - path), path) : NULL;
    int length = folder && access(folder, F_OK) != 0 ? (int)(slash - path) : 0;

    free(folder);
    return length;
}

int
complain_file(const char *path)
{
    int error = errno, folder = error == ENOENT && path ? missing_folder(path) : 0;

    if (folder)
        complain("%s: there is no folder %.*s", path, folder, path);
    else
        complain("%s: %s", path && strcmp(path, "-") ? path : "standard input or output", file_error(error));
    return STATUS_FILE;
}

bool
is_terminal(FILE *f)
{
    return isatty(fileno(f)) == 1;
}

bool
color_on(FILE *f)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return !(no && *no) && !(term && !strcmp(term, "dumb")) && is_terminal(f);
}

void
print_diagnostics(const request *q, const sources *s)
{
    fflush(stdout);
    if (s && diag_count(s))
        diag_print(s, stderr, color_on(stderr),
                   q->quiet                       ? DIAG_ERRORS
                   : q->command->run == cmd_check ? DIAG_ALL
                                                  : DIAG_RUN);
}

int
status_of(const sources *s)
{
    bool first = true;

    for (size_t i = 0; i < diag_count(s); i++) {
        const diagnostic *d = diag_at(s, i);

        if (d->severity != SEV_ERROR)
            continue;
        /* the first error tells whether the command line is wrong */
        if (first && span_known(d->at) && !strncmp(source_path(s, d->at.file), "--", 2))
            return STATUS_USAGE;
        first = false;
        if (d->code && !strncmp(d->code, "run-", 4))
            return STATUS_NUMBERS;
    }
    return STATUS_MODEL;
}
