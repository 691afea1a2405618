/* portable.h - makes a text run in another folder: values of the command line are written into it, files it reads are
 * copied
 *
 * Each file that the text names (an import, a table) is copied into the subfolder PORTABLE_FILES, and the text names
 * the copy; copied imports are treated in the same way. A file of the standard library, a missing file, and one that
 * may not be read stay as they are named.
 */
#ifndef BG_PORTABLE_H
#define BG_PORTABLE_H

#include "predict.h"

#define PORTABLE_FILES "files"

/* The text with the overrides of the recordings as `let` in their experiments, in SI. free() it. NULL: there are
 * none. */
char *text_with_overrides(const recording *run, size_t nruns, const flat_model *f, size_t *length);

/* The files copied into one folder. {0} is empty; portable_free it. */
typedef struct portable {
    const char *folder;
    map place;        /* hash of a file's path -> its number among the names */
    VEC(char *) name; /* in the subfolder */
} portable;

/* The text as it has to stand in the folder. root: the file from which it was made; names of files are relative to it.
 * kept(ctx, name): is this a table that does not exist yet and keeps its name? free() the text. NULL: a file cannot be
 * copied, *why (free() it) says why. */
char *portable_text(portable *p, const char *root, const char *text, size_t length,
                    bool (*kept)(void *ctx, const char *name), void *ctx, size_t *new_length, char **why);
void portable_free(portable *p);

#endif
