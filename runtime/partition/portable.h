/* portable.h - texts that run in another folder: what the command line gave is said in them, what they read lies beside
 * them
 *
 * A file that the text names (an import, a table) is copied into the subfolder PORTABLE_FILES, and the text names it
 * there; a copied import is treated likewise. What is in the standard library, is not there, or may not be read stays
 * as it is named.
 */
#ifndef BG_PORTABLE_H
#define BG_PORTABLE_H

#include "predict.h"

#define PORTABLE_FILES "files"

/* The overrides of the recordings as `let` in their experiments, in SI. NULL: there are none. Else free it. */
char *text_with_overrides(const recording *run, size_t nruns, const flat_model *f, size_t *length);

/* What was copied into a folder. {0} is none; portable_free it. */
typedef struct portable {
    const char *folder;
    map place;        /* hash of where a file lies -> its number among the names */
    VEC(char *) name; /* in the subfolder */
} portable;

/* The text as it has to be in the folder. root: the file that it was made from, beside which it names files. kept(ctx,
 * name): such a table is not there yet, it stays as it is named. Free the text. NULL: a file cannot be copied, which
 * *why says (free it). */
char *portable_text(portable *p, const char *root, const char *text, size_t length,
                    bool (*kept)(void *ctx, const char *name), void *ctx, size_t *new_length, char **why);
void portable_free(portable *p);

#endif
