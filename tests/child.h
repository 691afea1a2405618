/* child.h - runs programs for the tests, and the few file helpers both drivers need
 *
 * A program gets no shell, an empty standard input, a process group of its own and a time limit; everything it writes
 * is gathered (up to CHILD_MAX_OUTPUT). Out of memory ends the driver.
 */
#ifndef BG_TEST_CHILD_H
#define BG_TEST_CHILD_H

#include <stdbool.h>
#include <stddef.h>

enum { CHILD_MAX_OUTPUT = 256 << 20 };

typedef struct text {
    char *at;
    size_t n;
} text; /* at is 0-terminated */

typedef struct child_result {
    int status;    /* exit status, or -1: see why */
    char why[128]; /* "was killed by signal 11", "did not end within 60 s", "" */
    text out, err; /* err is empty when merged into out */
} child_result;

/* argv[0] is a path or found along PATH; dir: where it runs (NULL: here). False if it could not be started. */
bool child_run(char *const argv[], const char *dir, double seconds, bool merge, child_result *r);
void child_free(child_result *r);

/* Is there a report of a sanitizer in it? */
bool child_sanitizer(const child_result *r);

/* Whole files. False with a message on standard error. */
bool file_read(const char *path, text *t);
bool file_write(const char *path, const char *at, size_t n);

/* A new directory under TMPDIR; tree_remove takes it and the files directly in it away. free() the path. */
char *temp_directory(void);
void tree_remove(const char *dir);

char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2), nonnull(1))); /* free() it */
void *allocate(size_t n);                                                             /* zeroed */
void *resize(void *p, size_t n);

/* Cuts s at blanks in place; "quoted words" stay whole. Returns a NULL-ended array to free(). */
char **words(char *s, int *n);

/* Is the text as wanted? `...` in what is wanted stands for any text within a line, and alone on a line for any number
 * of lines. */
bool lines_agree(const char *want, const char *have);

/* Shows the first line in which the two texts differ. */
void show_difference(const char *label, const char *want, const char *have);

#endif
