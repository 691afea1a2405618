/* imports.c - loads the files that a file imports, and finds whose names it sees
 *
 * `import "tire.bg";` is a file beside the importing one. `import mechanics.translation;` is mechanics/translation.bg
 * of the standard library: in the folder of the environment variable BGC_STDLIB, else where it is installed (beside the
 * program, then under the prefix of the build), else beside the sources. A file sees the functions, constants and
 * models of the files that it imports itself.
 *
 * needs     the file's tree
 * provides  all trees, the file first, each once
 * reports   missing and faulty files, and circular imports, with the chain of imports
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "elab.h"
#include "library.h"
#include "reading.h"

enum { MOST_FILES = 1000, LONGEST_CHAIN = 8 };

struct opened {
    uint32_t module;
    size_t next;
};
struct loader {
    elab *el;
    map by_path;
    VEC(struct opened) open;
    map is_open;
};

static void
add_module(elab *el, const ast_file *file, uint32_t from, span at)
{
    module m = { .file = file, .from = from, .import_at = at };

    m.scope = arena_alloc(el->a, sizeof *m.scope);
    *m.scope = (scope){ .id = ++el->nscopes, .module = (uint32_t)el->module.n, .prefix = "", .origin = NONE };
    vec_push(&el->module, m);
}

/* Lists the chain of imports that leads to a file. */
static void
say_chain(elab *el, uint32_t m)
{
    for (int k = 0; k < LONGEST_CHAIN && span_known(el->module.at[m].import_at); k++) {
        diag_note(el->s, el->module.at[m].import_at, "\"%s\" is imported here",
                  source_path(el->s, el->module.at[m].file->file));
        m = el->module.at[m].from;
    }
}

static bool
is_regular_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The library's file, or NULL. */
static const char *
in_library(elab *el, const char *dotted)
{
    char *inner = arena_strdup(el->a, dotted), *root;

    for (char *c = inner; *c; c++)
        if (*c == '.')
            *c = '/';
    for (size_t k = 0; (root = reading_library(k)) != NULL; k++) {
        const char *path = *root ? arena_format(el->a, "%s/%s.bg", root, inner) : NULL;

        free(root);
        if (path && is_regular_file(path))
            return path;
    }
    return NULL;
}

struct library_names {
    elab *el;
    VEC(const char *) list;
};

static void
add_library_name(void *ctx, const char *name, const char *path)
{
    struct library_names *x = ctx;

    (void)path;
    vec_push(&x->list, arena_strdup(x->el->a, name));
}

/* Suggests the most similar name in the library, also by its last part; else lists all. */
static void
help_library(elab *el, const char *wrong)
{
    struct library_names x = { .el = el };
    const char *near, *last = strrchr(wrong, '.') ? strrchr(wrong, '.') + 1 : wrong;
    strbuf all = { 0 }, group = { 0 };

    library_each(add_library_name, &x);
    near = nearest_name(wrong, x.list.at, x.list.n);
    for (size_t k = 0; k < x.list.n && !near && *wrong; k++) /* mechanics, of mechanics.planar and others */
        if (!strncmp(x.list.at[k], wrong, strlen(wrong)))
            strbuf_printf(&group, "%s`import %s;`", group.n ? " or " : "", x.list.at[k]);
    for (size_t k = 0; k < x.list.n && !near && !group.n; k++) {
        const char *own = strrchr(x.list.at[k], '.') ? strrchr(x.list.at[k], '.') + 1 : x.list.at[k];

        if (!strncmp(own, last, strlen(own)) || !strncmp(own, last, strlen(last) > 3 ? strlen(last) : 4))
            near = x.list.at[k];
    }
    for (size_t k = 0; k < x.list.n; k++)
        strbuf_printf(&all, "%s%s", k ? ", " : "", x.list.at[k]);
    if (group.n)
        diag_help(el->s, "Write %s.", group.at);
    else if (near)
        diag_help(el->s,
                  "Write `import %s;`. The library has %s; a file beside this one is imported by its name in quotes: "
                  "import \"%s.bg\";",
                  near, all.at, wrong);
    else
        diag_help(el->s,
                  "The library has %s. A file beside this one is imported by its name in quotes: import \"%s.bg\";",
                  all.at ? all.at : "nothing", wrong);
    strbuf_free(&all);
    strbuf_free(&group);
    vec_free(&x.list);
}

/* The file's path, and the path shown in messages. NULL: an error was reported. */
static const char *
find_import_file(elab *el, uint32_t m, const ast_import *i, const char **shown)
{
    const char *path, *why = NULL;

    if (i->is_file) {
        *shown = path_beside(el, i->path_at.file, i->path);
        path = find_named(el, i->path_at, i->path, *shown, &why);
        if (why)
            diag_error(el->s, "import-missing", i->path_at, "there is no file \"%s\"%s", i->path,
                       strchr(source_path(el->s, el->module.at[m].file->file), '/') ? " beside this one" : "");
    } else {
        path = *shown = in_library(el, i->path);
        if (!path) {
            diag_error(el->s, "import-missing", i->path_at, "the standard library has no \"%s\"", i->path);
            help_library(el, i->path);
        }
    }
    if (!path) {
        say_chain(el, m);
        el->incomplete = true;
    }
    return path;
}

static void
say_circle(struct loader *l, uint32_t again, const ast_import *i)
{
    elab *el = l->el;
    strbuf text = { 0 };
    size_t begin = 0;

    while (l->open.at[begin].module != again)
        begin++;
    for (size_t k = begin; k < l->open.n; k++) {
        if (k - begin < LONGEST_CHAIN || k + 1 == l->open.n)
            strbuf_printf(&text, "%s -> ", source_path(el->s, el->module.at[l->open.at[k].module].file->file));
        else if (k - begin == LONGEST_CHAIN)
            strbuf_puts(&text, "... -> ");
    }
    diag_error(el->s, "import-circle", i->path_at, "files import each other in a circle: %s%s", text.at,
               source_path(el->s, el->module.at[again].file->file));
    strbuf_free(&text);
    el->incomplete = true;
}

static void
open_module(struct loader *l, uint32_t m)
{
    map_set(&l->is_open, m, 1);
    vec_push(&l->open, ((struct opened){ m, 0 }));
}

static void
import(struct loader *l, uint32_t m, const ast_import *i)
{
    elab *el = l->el;
    const char *shown, *path = find_import_file(el, m, i, &shown), *key;
    char real[PATH_MAX];
    uint32_t at;
    int file;
    ast_file *tree;

    if (!path)
        return;
    key = names_intern_z(el->names, realpath(path, real) ? real : path);
    at = map_get(&l->by_path, map_ptr_key(key));
    if (at != MAP_NONE) {
        if (map_get(&l->is_open, at) == 1)
            say_circle(l, at, i);
        else
            vec_push(&el->module.at[m].import, at);
        return;
    }
    at = (uint32_t)el->module.n;
    if (at >= MOST_FILES) {
        diag_error(el->s, "import-many", i->path_at, "more than %d files are imported", MOST_FILES);
        el->incomplete = true;
        return;
    }
    file = sources_read_as(el->s, path, shown);
    if (file < 0) {
        diag_error(el->s, "import-missing", i->path_at, "\"%s\" cannot be read: %s", i->path, strerror(errno));
        say_chain(el, m);
        el->incomplete = true;
        return;
    }
    tree = parse_file(el->s, el->names, el->a, (uint32_t)file);
    elaborate_note_named(el->s, tree);
    add_module(el, tree, m, i->path_at);
    vec_push(&el->module.at[m].import, at);
    map_set(&l->by_path, map_ptr_key(key), at);
    if (!tree->ok)
        el->incomplete = true;
    open_module(l, at);
}

/* The next declaration of a file that may be an import; NULL after the last. With an index, only declarations that are
 * neither models nor experiments are visited. */
static const ast_decl *
next_decl(const elab *el, struct opened *top)
{
    const ast_file *file = el->module.at[top->module].file;
    const elaborate_index *known = top->module == 0 && el->opt->index && el->opt->index->known ? el->opt->index : NULL;

    if (top->next == (known ? known->others.n : file->ndecls))
        return NULL;
    top->next++;
    return &file->decl[known ? known->others.at[top->next - 1] : top->next - 1];
}

void
load_imports(elab *el)
{
    struct loader l = { .el = el };
    char real[PATH_MAX];
    const char *path = source_path(el->s, el->file->file);

    add_module(el, el->file, NONE, SPAN_NONE);
    if (realpath(path, real))
        map_set(&l.by_path, map_ptr_key(names_intern_z(el->names, real)), 0);
    open_module(&l, 0);
    while (l.open.n) {
        struct opened *top = &l.open.at[l.open.n - 1];
        const ast_decl *d = next_decl(el, top);

        if (!d) {
            map_set(&l.is_open, top->module, 0);
            l.open.n--;
        } else if (d->kind == AST_DECL_IMPORT) {
            import(&l, top->module, d->import);
        }
    }
    map_free(&l.by_path);
    map_free(&l.is_open);
    vec_free(&l.open);
}

uint32_t
find_function(const elab *el, const scope *in, const char *name)
{
    const module *m = &el->module.at[in->module];
    uint32_t at = map_get(&m->functions, map_ptr_key(name));

    for (size_t k = 0; at == MAP_NONE && k < m->import.n; k++)
        at = map_get(&el->module.at[m->import.at[k]].functions, map_ptr_key(name));
    return at;
}

const ast_model *
find_model(const elab *el, const scope *in, const char *name, uint32_t *from)
{
    const module *m = &el->module.at[in->module];
    uint32_t at = map_get(&m->models, map_ptr_key(name));

    *from = in->module;
    for (size_t k = 0; at == MAP_NONE && k < m->import.n; k++) {
        *from = m->import.at[k];
        at = map_get(&el->module.at[*from].models, map_ptr_key(name));
    }
    return at == MAP_NONE ? NULL : el->module.at[*from].file->decl[at].model;
}

/* Reports a function or model that a second import has too, because it would be arbitrary which one is meant. */
bool
import_ambiguous(elab *el, const scope *in, const char *name, bool is_model, span where)
{
    const module *m = &el->module.at[in->module];
    span first = SPAN_NONE;

    if (map_get(is_model ? &m->models : &m->functions, map_ptr_key(name)) != MAP_NONE)
        return false;
    for (size_t k = 0; k < m->import.n; k++) {
        const module *other = &el->module.at[m->import.at[k]];
        uint32_t at = map_get(is_model ? &other->models : &other->functions, map_ptr_key(name));
        span here;

        if (at == MAP_NONE)
            continue;
        here = is_model ? other->file->decl[at].model->name_at : el->function.at[at].ast->name_at;
        if (span_known(first)) {
            diag_error(el->s, "import-clash", where, "two imports declare \"%s\"", name);
            diag_note(el->s, first, "one is here");
            diag_note(el->s, here, "another is here");
            return true;
        }
        first = here;
    }
    return false;
}
