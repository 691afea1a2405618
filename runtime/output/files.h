/* files.h - results that are written whole or not at all
 *
 * A file is written beside its place and moved there when it is complete, with the permissions of the file it replaces.
 * "-" is standard output. No result replaces a file that was read (base/reading.h), nor another result of the same
 * command, by whatever name or link it is reached; nor a file that nobody may write. Only file_replace changes what was
 * read.
 * errors   false or NULL with errno set; file_error says in words also what is no errno of the system's
 */
#ifndef BG_FILES_H
#define BG_FILES_H

#include <stdio.h>
#include "base.h"

enum {
    FILE_IS_READ = 20001, /* the result would replace a file that the model reads */
    FILE_IS_RESULT,       /* ... or another result */
    FILE_CHANGED          /* the file is not any more what was read */
};
const char *file_error(int error); /* 0: a write failed before, and why is not known any more */

typedef struct outfile {
    FILE *out;
    char *path, *temporary;
} outfile;

bool outfile_open(outfile *f, const char *path); /* NULL or "-": standard output */
bool outfile_commit(outfile *f);                 /* false: nothing was changed */
void outfile_abort(outfile *f);                  /* also fine after commit */
/* A text; what would steer a terminal does not go to one. */
bool write_whole(const char *path, const char *text, size_t n);

/* Changes a file that holds `was` into `text`. It keeps permissions, owner, names and attributes: where a new file in
 * its place would lose one of them the text goes into the file itself, by a process of its own that no signal ends.
 * FILE_CHANGED: it held something else. */
bool file_replace(const char *path, const char *was, size_t nwas, const char *text, size_t n);

/* Could a result go to this path, as far as can be told without trying? NULL or "-": standard output. */
bool may_be_result(const char *path);
/* Are these two names of one file, or of one that is not there yet? */
bool same_file(const char *a, const char *b);
/* Does the name end in the suffix, like ".svg"? */
bool has_suffix(const char *path, const char *suffix);

#endif
