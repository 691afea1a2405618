/* reading.h - which files a model may have read for it, and which were read
 *
 * A model is a text by someone else, who names files in it: imports, tables. They are read where they lie, links
 * followed, in the folder of the file that the compiler was given or below it, in the standard library, or in a folder
 * that was allowed. What the user names himself is read from anywhere. Every file read is remembered by device, number
 * and time of birth, so that no result is written over one, whatever it is called.
 *
 * globals  both lists are the process': folders are allowed before the first compilation; the list of files read has a
 *          lock
 */
#ifndef BG_READING_H
#define BG_READING_H

#include "base.h"

/* Lets models read in this folder and below it. False: errno. */
bool reading_allow(const char *folder);
/* Lets models read this file, which the user names himself. False: errno. */
bool reading_allow_file(const char *path);

/* Folders of the standard library, in the order in which they are searched: that of the environment variable
 * BGC_STDLIB, where it is installed (beside the program, then under the prefix of the build), where its sources are.
 * NULL after the last; *inner is to be freed. */
char *reading_library(size_t k);

enum reading { READING_FINE, READING_MISSING, READING_FOLDER, READING_NO_FILE, READING_OUTSIDE };
/* May a model whose file is `root` (a path; a name without folder, or of standard input: the working folder) have
 * `path` read? *real is where it lies if that is FINE or OUTSIDE (free it). MISSING: errno. NO_FILE: a pipe or a
 * device, which could keep the compiler waiting for ever. */
enum reading reading_find(const char *root, const char *path, char **real);

/* Which file it is, by whatever name; numbers are given again, so that the time of birth belongs to it where the system
 * knows that. */
typedef struct file_identity {
    uint64_t device, number;
    int64_t born;
    uint32_t born_ns;
    bool regular;
} file_identity;
/* Of the open file fd, or with fd < 0 of the file that the path leads to. False: errno. */
bool file_identify(int fd, const char *path, file_identity *i);
bool file_identity_same(const file_identity *a, const file_identity *b);

void reading_note(int fd);                  /* this open file is being read */
void reading_note_named(const char *path);  /* this one, if it is there, is named by a model */
bool reading_noted(const file_identity *i); /* was it? Only regular files are noted. */

#endif
