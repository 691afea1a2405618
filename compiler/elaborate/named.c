/* named.c - finds the files that a text names: imports, tables and expected results, relative to it
 *
 * reports   files outside the folders where models may read (base/reading.h)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elab.h"
#include "quote.h"
#include "reading.h"

const char *
path_beside(elab *el, uint32_t file, const char *name)
{
    const char *path = source_path(el->s, file), *slash = strrchr(path, '/');

    if (*name == '/' || !slash)
        return name;
    return arena_format(el->a, "%.*s%s", (int)(slash - path + 1), path, name);
}

void
elaborate_note_named(const sources *s, const ast_file *f)
{
    const char *path = source_path(s, f->file), *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;

    for (size_t k = 0; k < f->nnamed; k++) {
        char *beside = bg_format("%.*s%s", *f->named[k] == '/' ? 0 : folder, path, f->named[k]);

        reading_note_named(beside);
        free(beside);
    }
}

/* real: the file's real path, which may differ because of links. */
static void
say_outside(elab *el, span at, const char *name, const char *path, const char *real)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? bg_format("%.*s", (int)(slash - path + (slash == path)), path) : bg_strdup("."),
         *there = realpath(folder, NULL), *word;
    size_t n = (size_t)(strrchr(real, '/') - real);
    bool linked = !there || strlen(there) != n || strncmp(there, real, n) != 0;

    if (linked) {
        free(folder);
        folder = bg_format("%.*s", n ? (int)n : 1, real);
    }
    word = quoted(QUOTE_SHELL, folder);
    diag_error(el->s, "read-outside", at, "\"%s\" %s outside of the folder of the model and is not read", name,
               linked ? "leads" : "lies");
    diag_help(el->s, "If you trust this model, allow it: --allow-read %s", word);
    free(folder);
    free(there);
    free(word);
}

const char *
find_named(elab *el, span at, const char *name, const char *path, const char **why)
{
    char *real;
    const char *found = NULL;

    *why = NULL;
    switch (reading_find(source_path(el->s, el->file->file), path, &real)) {
    case READING_FINE:
        found = arena_strdup(el->a, real);
        free(real);
        break;
    case READING_MISSING: *why = strerror(errno); break;
    case READING_FOLDER: *why = "it is a directory"; break;
    case READING_NO_FILE: *why = "it is not a regular file"; break;
    case READING_OUTSIDE:
        say_outside(el, at, name, path, real);
        free(real);
        break;
    }
    return found;
}
