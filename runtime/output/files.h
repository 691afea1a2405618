/* files.h - writes result files completely or not at all
 *
 * A file is written under a temporary name beside its place and renamed when it is complete; it gets the permissions of
 * the file that it replaces. "-" is standard output. A result never replaces a file that was read (base/reading.h),
 * another result of the same command (under any name or link), or a write-protected file. Only file_replace changes a
 * file that was read.
 * errors   false or NULL with errno set; file_error also describes errors that have no errno
 */
#ifndef BG_FILES_H
#define BG_FILES_H

#include <stdio.h>
#include "base.h"

enum {
    FILE_IS_READ = 20001, /* the result would replace a file that the model reads */
    FILE_IS_RESULT,       /* ... or another result of the command */
    FILE_CHANGED          /* the file has changed since it was read */
};
const char *file_error(int error); /* 0: a write failed earlier, and its reason is lost */

typedef struct outfile {
    FILE *out;
    char *path, *temporary;
} outfile;

bool outfile_open(outfile *f, const char *path); /* NULL or "-": standard output */
bool outfile_commit(outfile *f);                 /* false: nothing was changed */
void outfile_abort(outfile *f);                  /* may also be called after commit */
/* Writes a text; control sequences are not sent to a terminal. */
bool write_whole(const char *path, const char *text, size_t n);

/* Changes a file with the contents `was` into `text`. Permissions, owner, names and attributes are kept: where a new
 * file would lose one of them, the text is written into the file itself, by a separate process that signals do not end.
 * FILE_CHANGED: the contents were different. */
bool file_replace(const char *path, const char *was, size_t nwas, const char *text, size_t n);

/* Could a result be written to this path, as far as can be told without trying? NULL or "-": standard output. */
bool may_be_result(const char *path);
/* Is it a pipe or a device, which is written to and not replaced? */
bool is_written_in_place(const char *path);
/* Do two paths name one file (which may not exist yet)? */
bool same_file(const char *a, const char *b);
/* Does the name end in the suffix, like ".svg"? */
bool has_suffix(const char *path, const char *suffix);

#endif
