/* fuzz_options.c - any arguments for the command itself, one a line, in a folder that holds a model, a table and a YAML
 * file
 *
 * The exit status is one of those documented, and but for 0 something was said. No argument leads out of the folder,
 * and no program is found.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

int bgc_main(int argc, char **argv); /* the command's main */

enum { MOST_ARGUMENTS = 12, MOST_BYTES = 400, WORST = 5 };

static char place[] = "/tmp/bgc_fuzz_XXXXXX";
static int messages = -1;

static void
put(const char *name, const char *text)
{
    FILE *out = fopen(name, "w");

    must(out != NULL, "no file can be written", name);
    fputs(text, out);
    fclose(out);
}

static int
take_away(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void
leave(void)
{
    nftw(place, take_away, 8, FTW_DEPTH | FTW_PHYS);
}

static void
fill(void)
{
    put("m.bg",
        "model m { parameter k = 1; input u = 0; MSe:push = u -> 1:v { f(0) = 1; } v -> I:mass = 1; v -> R:r = k; "
        "v -> C:small = 1000; output o = v.f; }\n"
        "experiment e of m { stop = 1; observe o within 0.1; expect o at 0 = 1 within 0.1; }\n"
        "experiment f of m { stop = 2; }\n");
    put("n.bg", "model m { 1:v { f(0) = 1; } v -> I:mass = 1; v -> R:r = 1; output o = v.f; }\nexperiment e of m { "
                "stop = 1; }\n");
    put("t.csv", "time,x\n0,1\n1,2\n");
    put("d.csv", "time,o\n0,1\n0.5,0.5\n1,0.3\n");
    put("y.yaml", "version: \"0.1\"\nmodels:\n  /:\n    components:\n      C: base:C?C=1\n      R: base:R?r=1\n    "
                  "netlist:\n      - [C, R]\nroot: /\n");
}

static void
begin(void)
{
    must(mkdtemp(place) && chdir(place) == 0, "no folder to work in", place);
    atexit(leave);
    setenv("PATH", "/nowhere", 1);
    messages = open("messages", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(messages >= 0, "no messages", NULL);
    if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout))
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[MOST_ARGUMENTS + 2] = { "bgc" }, *text;
    int argc = 1, kept, status;

    if (size == 0 || size > MOST_BYTES || memchr(data, '/', size) || memchr(data, 0, size))
        return 0;
    if (messages < 0)
        begin();
    text = bg_malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    for (char *at = text, *end; argc <= MOST_ARGUMENTS && at; at = end) {
        if ((end = strchr(at, '\n')))
            *end++ = 0;
        argv[argc++] = at;
    }
    fill();
    kept = dup(2);
    must(ftruncate(messages, 0) == 0 && lseek(messages, 0, SEEK_SET) == 0, "no messages", NULL);
    dup2(messages, 2);
    status = bgc_main(argc, argv);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    must(status >= 0 && status <= WORST, "an exit status that is not documented", (const char *)data);
    must(status == 0 || lseek(messages, 0, SEEK_END) > 0 || memmem(data, size, "diff", 4) ||
             memmem(data, size, "check", 5),
         "it failed and said nothing", NULL);
    free(text);
    return 0;
}
