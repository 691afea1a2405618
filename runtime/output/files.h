/* files.h - results that are written whole or not at all
 *
 * A file is written beside its place and moved there when it is complete, with the permissions of the file it replaces. "-" is standard output.
 * errors   false or NULL with errno set
 */
#ifndef BG_FILES_H
#define BG_FILES_H

#include <stdio.h>
#include "base.h"

typedef struct outfile { FILE *out; char *path, *temporary; } outfile;

bool outfile_open(outfile *f, const char *path);         /* NULL or "-": standard output */
bool outfile_commit(outfile *f);                         /* false: nothing was changed */
void outfile_abort(outfile *f);                          /* also fine after commit */
bool write_whole(const char *path, const char *text, size_t n);

/* Are these two names of one file? */
bool same_file(const char *a, const char *b);
/* Does the name end in the suffix, like ".svg"? */
bool has_suffix(const char *path, const char *suffix);

/* Runs a program (found along PATH, no shell) with the text on its standard input. Its output goes to `out`, a file descriptor, or where
 * it goes anyway when out < 0. Returns its exit status, -1 if it could not be run (errno; ENOENT: not installed). */
int run_program(const char *const *argv, const char *input, size_t n, int out);

#endif
