/* reading.h - which files may be read on behalf of a model, and which were read
 *
 * A model may come from anyone, and it names files: imports, tables. They are read where they lie (links are followed)
 * if that is in or below the folder of the compiled file, in the standard library, or in an allowed folder. What the
 * user names is read from anywhere. Every file read is remembered by device, number and time of birth, so that no
 * result overwrites one, whatever its path.
 *
 * globals  both lists belong to the process: folders are allowed before the first compilation; the list of files read
 *          has a lock
 */
#ifndef BG_READING_H
#define BG_READING_H

#include "base.h"

/* Allows models to read in this folder and below. False: errno. */
bool reading_allow(const char *folder);
/* Allows models to read this file, which the user named. False: errno. */
bool reading_allow_file(const char *path);

/* Folders of the standard library in the order of the search: the environment variable BGC_STDLIB, the installed one
 * (beside the program, then under the prefix of the build), the sources. NULL after the last; free() *inner. */
char *reading_library(size_t k);

enum reading { READING_FINE, READING_MISSING, READING_FOLDER, READING_NO_FILE, READING_OUTSIDE };
/* May a model in the file `root` (a path; for a name without folder or standard input the working folder) have `path`
 * read? *real (free() it) is its real path if the result is FINE or OUTSIDE. MISSING: errno. NO_FILE: a pipe or a
 * device, which could block the compiler for ever. */
enum reading reading_find(const char *root, const char *path, char **real);

/* Identifies a file under any name. Numbers are reused, so the time of birth is included where the system knows it. */
typedef struct file_identity {
    uint64_t device, number;
    int64_t born;
    uint32_t born_ns;
    bool regular;
} file_identity;
/* Of the open file fd, or with fd < 0 of the file at path. False: errno. */
bool file_identify(int fd, const char *path, file_identity *i);
bool file_identity_same(const file_identity *a, const file_identity *b);

void reading_note(int fd);                  /* this open file is being read */
void reading_note_named(const char *path);  /* a model names this file; notes it if it exists */
bool reading_noted(const file_identity *i); /* was it noted? Only regular files are. */

#endif
