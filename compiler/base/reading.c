/* reading.c - see reading.h */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "reading.h"

static VEC(char *) allowed; /* real paths */
static VEC(file_identity) read_files;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool
reading_allow(const char *folder)
{
    struct stat st;
    char *real;

    if (stat(folder, &st) != 0)
        return false;
    if (!S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    real = realpath(folder, NULL);
    if (!real)
        return false;
    vec_push(&allowed, real);
    return true;
}

char *
reading_library(size_t k)
{
    const char *named = getenv("BGC_STDLIB");
    char *program, *path;

    switch (k) {
    case 0: return bg_strdup(named ? named : "");
    case 1:
        program = bg_program_folder();
        path = program ? bg_format("%s/../share/bgc/stdlib", program) : bg_strdup("");
        free(program);
        return path;
    case 2: return bg_strdup(BGC_STDLIB_INSTALLED);
    case 3: return bg_strdup(BGC_STDLIB_SOURCE);
    }
    return NULL;
}

bool
reading_allow_file(const char *path)
{
    char *real = realpath(path, NULL);

    if (real)
        vec_push(&allowed, real);
    return real != NULL;
}

static bool
is_below(const char *folder, const char *real)
{
    size_t n = strlen(folder);

    while (n && folder[n - 1] == '/')
        n--;
    return !strncmp(folder, real, n) && (real[n] == '/' || !real[n]);
}

static bool
is_below_link(const char *folder, const char *real)
{
    char *there = *folder ? realpath(folder, NULL) : NULL;
    bool below = there && is_below(there, real);

    free(there);
    return below;
}

static bool
may_be_read(const char *root, const char *real)
{
    const char *slash = strrchr(root, '/');
    char *own = slash ? bg_format("%.*s", (int)(slash - root + 1), root) : bg_strdup("."), *library;
    bool fine = is_below_link(own, real);

    free(own);
    for (size_t k = 0; k < allowed.n && !fine; k++)
        fine = is_below(allowed.at[k], real);
    for (size_t k = 0; !fine && (library = reading_library(k)) != NULL; k++) {
        fine = is_below_link(library, real);
        free(library);
    }
    return fine;
}

enum reading
reading_find(const char *root, const char *path, char **real)
{
    struct stat st = { 0 };

    *real = realpath(path, NULL);
    if (!*real)
        return READING_MISSING;
    if (!may_be_read(root, *real))
        return READING_OUTSIDE;
    if (stat(*real, &st) == 0 && S_ISREG(st.st_mode))
        return READING_FINE;
    free(*real);
    *real = NULL;
    return S_ISDIR(st.st_mode) ? READING_FOLDER : READING_NO_FILE;
}

bool
file_identify(int fd, const char *path, file_identity *i)
{
    struct statx x;

    if (statx(fd < 0 ? AT_FDCWD : fd, fd < 0 ? path : "", fd < 0 ? 0 : AT_EMPTY_PATH,
              STATX_TYPE | STATX_INO | STATX_BTIME, &x) != 0)
        return false;
    *i = (file_identity){ .device = (uint64_t)x.stx_dev_major << 32 | x.stx_dev_minor,
                          .number = x.stx_ino,
                          .regular = S_ISREG(x.stx_mode) };
    if (x.stx_mask & STATX_BTIME) {
        i->born = x.stx_btime.tv_sec;
        i->born_ns = x.stx_btime.tv_nsec;
    }
    return true;
}

bool
file_identity_same(const file_identity *a, const file_identity *b)
{
    return a->device == b->device && a->number == b->number && a->born == b->born && a->born_ns == b->born_ns;
}

static void
note_file(const file_identity *i)
{
    if (!i->regular || reading_noted(i))
        return;
    pthread_mutex_lock(&lock);
    vec_push(&read_files, *i);
    pthread_mutex_unlock(&lock);
}

void
reading_note(int fd)
{
    file_identity i;

    if (file_identify(fd, NULL, &i))
        note_file(&i);
}

void
reading_note_named(const char *path)
{
    file_identity i;

    if (file_identify(-1, path, &i))
        note_file(&i);
}

bool
reading_noted(const file_identity *i)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < read_files.n && !found; k++)
        found = file_identity_same(&read_files.at[k], i);
    pthread_mutex_unlock(&lock);
    return found;
}
