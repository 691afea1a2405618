/* library.c - see library.h */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "library.h"
#include "reading.h"

enum { DEEPEST_FOLDER = 4 };

struct module_file {
    char *name, *path;
};
struct found {
    VEC(struct module_file) list;
};

static void
look_in(struct found *f, const char *folder, const char *prefix, int depth)
{
    DIR *d = opendir(folder);
    struct dirent *x;
    struct stat st;

    while (d && (x = readdir(d)) != NULL) {
        size_t n = strlen(x->d_name);
        char *path = bg_format("%s/%s", folder, x->d_name);

        if (x->d_name[0] == '.' || stat(path, &st) != 0) {
            free(path);
            continue;
        }
        if (S_ISDIR(st.st_mode) && depth < DEEPEST_FOLDER) {
            char *inner = bg_format("%s%s.", prefix, x->d_name);

            look_in(f, path, inner, depth + 1);
            free(inner);
        } else if (S_ISREG(st.st_mode) && n > 3 && !strcmp(x->d_name + n - 3, ".bg")) {
            vec_push(&f->list,
                     ((struct module_file){ bg_format("%s%.*s", prefix, (int)(n - 3), x->d_name), bg_strdup(path) }));
        }
        free(path);
    }
    if (d)
        closedir(d);
}

static int
by_module_name(const void *pa, const void *pb)
{
    return strcmp(((const struct module_file *)pa)->name, ((const struct module_file *)pb)->name);
}

void
library_each(void (*see)(void *ctx, const char *name, const char *path), void *ctx)
{
    struct found f = { 0 };
    char *root;

    /* the first that is there, as for imports */
    for (size_t k = 0; !f.list.n && (root = reading_library(k)) != NULL; k++) {
        if (*root)
            look_in(&f, root, "", 0);
        free(root);
    }
    if (f.list.n)
        qsort(f.list.at, f.list.n, sizeof *f.list.at, by_module_name);
    for (size_t k = 0; k < f.list.n; k++) {
        see(ctx, f.list.at[k].name, f.list.at[k].path);
        free(f.list.at[k].name);
        free(f.list.at[k].path);
    }
    vec_free(&f.list);
}
