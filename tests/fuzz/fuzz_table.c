/* fuzz_table.c - any bytes as the CSV file that a model reads as a table, by name, by number and as a matrix
 *
 * What is accepted is evaluated at a few places; a refusal comes with an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

static const char *const models[] = {
    "model m { MSe:s = table(\"t.csv\", 2, time) -> 1:v; v -> R:r = 1; output o = v.f; } experiment e of m { stop = 1; "
    "}",
    "model m { MSe:s = table(\"t.csv\", \"force\", time) -> 1:v; v -> R:r = 1; output o [m/s] = v.f; } experiment e of "
    "m { stop = 1; }",
    "model m { parameter K[2,2] [N/m] = table(\"t.csv\"); 1:v; v -> R:r = K[1,2]; output o = v.f; }",
};

static const char *
folder(void)
{
    static char name[] = "/tmp/bgc_fuzz_XXXXXX", *made;

    if (!made)
        made = mkdtemp(name);
    must(made != NULL, "no folder for the table", NULL);
    return made;
}

static void
leave(void)
{
    char *path = bg_format("%s/t.csv", folder());

    unlink(path);
    rmdir(folder());
    free(path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    char *table = bg_format("%s/t.csv", folder()), *model = bg_format("%s/m.bg", folder());
    FILE *out;

    if (!begun)
        atexit(leave);
    begun = true;
    if (size <= LONGEST && (out = fopen(table, "wb"))) {
        bool written = fwrite(data, 1, size, out) == size;

        must(fclose(out) == 0 && written, "the table cannot be written", NULL);
        for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
            compilation c = { 0 };

            fuzz_compile(&c, model, models[i], strlen(models[i]), STAGE_EQUATIONS);
            print_nowhere(c.sources);
            fuzz_free(&c);
        }
    }
    free(table);
    free(model);
    return 0;
}
