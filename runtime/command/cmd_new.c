/* cmd_new.c - bgc new: writes a first file, which runs as it is */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "scan.h"

static const char first_text[] =
    "// A mass on a spring with a damper, pushed for half a second.\n"
    "//   bgc check %1$s              is it a model?\n"
    "//   bgc run %1$s --plot %2$s.svg   what does it do?\n"
    "//   bgc rank %1$s               which elements matter?\n"
    "model %3$s {\n"
    "    parameter m = 2   [kg]    \"mass\";\n"
    "    parameter k = 200 [N/m]   \"stiffness\";\n"
    "    parameter b = 8   [N.s/m] \"damping\";\n"
    "    input     F   [N] = 0;\n"
    "\n"
    "    1:v;                 // all that moves with one velocity\n"
    "    MSe:push = F -> v;   // arrows: where power goes when effort and flow are positive\n"
    "    v -> I:mass = m;\n"
    "    v -> C:spring = 1/k;\n"
    "    v -> R:damper = b;\n"
    "\n"
    "    output x [mm] = spring.q;\n"
    "}\n"
    "\n"
    "experiment push of %3$s {\n"
    "    stop = 2 [s];\n"
    "    let F = if time < 0.5 [s] then 10 [N] else 0;\n"
    "}\n";

/* The file's name without folder and extension, as a name of the language. */
static char *
name_from_path(const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *dot = strrchr(base, '.');
    size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    char *name;

    if (!strcmp(path, "-"))
        return bg_strdup("first");
    name = bg_format("%s%.*s", isalpha((unsigned char)*base) && !scan_reserved(base, n) ? "" : "model_", (int)n, base);
    for (char *s = name; *s; s++)
        if (!isalnum((unsigned char)*s) || (unsigned char)*s > 127)
            *s = '_';
    return name;
}

int
cmd_new(const request *q)
{
    const char *path = q->file.at[0];
    char *name = name_from_path(path), *text = bg_format(first_text, path, name, name);
    int status = STATUS_DONE;
    struct stat there;

    if (strcmp(path, "-") && lstat(path, &there) == 0) {
        errno = EEXIST;
        status = complain_file(path);
    } else if (!write_whole(path, text, strlen(text))) {
        status = complain_file(path);
    } else if (strcmp(path, "-") && !q->quiet) {
        complain("%s has a first model; its head says how to run it", path);
    }
    free(name);
    free(text);
    return status;
}
