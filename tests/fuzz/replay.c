/* replay.c - gives a harness every file of the folders named, without libFuzzer: what was found once stays mended
 *
 * usage    replay_NAME FILE-OR-FOLDER...
 * A fault ends the program in the harness or a sanitizer; the file that was at hand has been named on standard output.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static size_t inputs;

static void
give_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    uint8_t *data = bg_malloc(LONGEST + 1);
    size_t n;

    if (!in) {
        perror(path);
        exit(1);
    }
    n = fread(data, 1, LONGEST + 1, in);
    fclose(in);
    data = bg_realloc(data, n); /* so that a sanitizer sees a byte too many read */
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, n);
    free(data);
    inputs++;
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct dirent **entry;
        struct stat st;
        int n;

        if (stat(argv[i], &st) == 0 && S_ISREG(st.st_mode)) {
            give_file(argv[i]);
            continue;
        }
        if ((n = scandir(argv[i], &entry, NULL, alphasort)) < 0) {
            perror(argv[i]);
            return 1;
        }
        for (int k = 0; k < n; k++) {
            char *path = bg_format("%s/%s", argv[i], entry[k]->d_name);

            if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
                give_file(path);
            free(path);
            free(entry[k]);
        }
        free(entry);
    }
    printf("%zu inputs\n", inputs);
    return 0;
}
