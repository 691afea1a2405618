/* files.c - see files.h */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "interrupt.h"
#include "lease.h"
#include "quote.h"
#include "reading.h"

/* Results written by this process. */
static VEC(file_identity) results;

const char *
file_error(int error)
{
    switch (error) {
    case 0: return "could not be written";
    case FILE_IS_READ: return "the model reads this file; a result does not replace it";
    case FILE_IS_RESULT: return "another result is written to this file";
    case FILE_CHANGED: return "the file was changed by someone else while this ran; nothing is written";
    case EBUSY: return "another program is writing into it; nothing is written";
    }
    return strerror(error);
}

static bool
is_result(const file_identity *i)
{
    for (size_t k = 0; k < results.n; k++)
        if (file_identity_same(&results.at[k], i))
            return true;
    return false;
}

/* May this file be changed? Permissions count for root too: read-only is taken as the user's wish. */
static bool
may_change(const char *path, const struct stat *st)
{
    if ((st->st_mode & 0222) && access(path, W_OK) == 0)
        return true;
    errno = EACCES;
    return false;
}

/* May a result replace what is at the path, if anything? */
static bool
may_replace(const char *path)
{
    file_identity i;
    struct stat st;

    if (stat(path, &st) != 0 || !file_identify(-1, path, &i))
        return true;
    if (S_ISDIR(st.st_mode))
        errno = EISDIR;
    else if (i.regular && reading_noted(&i))
        errno = FILE_IS_READ;
    else if (i.regular && is_result(&i))
        errno = FILE_IS_RESULT;
    else
        return !i.regular || may_change(path, &st);
    return false;
}

bool
is_written_in_place(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* May a new file be made beside the path, if one is needed? */
static bool
may_make_beside(const char *path)
{
    char *real = realpath(path, NULL), *slash, *folder = real ? real : bg_strdup(path);
    bool fine = is_written_in_place(path);

    slash = strrchr(folder, '/');
    if (slash)
        slash[1] = '\0';
    fine = fine || access(slash ? folder : ".", W_OK | X_OK) == 0;
    free(folder);
    return fine;
}

bool
may_be_result(const char *path)
{
    file_identity i;

    if (path && strcmp(path, "-"))
        return may_replace(path) && may_make_beside(path);
    if (!file_identify(STDOUT_FILENO, NULL, &i) || !reading_noted(&i))
        return true;
    errno = FILE_IS_READ;
    return false;
}

/* Makes a temporary file beside the path, with the permissions of the existing file, or the usual ones. */
static bool
open_temporary(outfile *f)
{
    struct stat st;
    char *kept;
    int fd, why;

    f->temporary = bg_format("%s.XXXXXX", f->path);
    kept = bg_strdup(f->temporary);
    interrupt_hold();
    fd = mkostemp(f->temporary, O_CLOEXEC);
    why = errno;
    strcpy(kept, f->temporary);
    if (fd >= 0 && !interrupt_removes(kept)) {
        unlink(f->temporary);
        close(fd);
        fd = -1;
        why = EMFILE;
    }
    interrupt_release();
    if (fd < 0) {
        free(kept);
        free(f->temporary);
        f->temporary = NULL;
        errno = why;
        return false;
    }
    if (stat(f->path, &st) == 0) {
        if (st.st_uid != geteuid() || st.st_gid != getegid())
            (void)!fchown(fd, st.st_uid, st.st_gid);
        (void)!fchmod(fd, st.st_mode & 07777);
    } else {
        mode_t mask = umask(0);

        umask(mask);
        (void)!fchmod(fd, 0666 & ~mask);
    }
    f->out = fdopen(fd, "wb");
    if (!f->out) {
        why = errno;
        close(fd);
        errno = why;
    }
    return f->out != NULL;
}

static bool
open_beside(outfile *f, const char *path)
{
    char *real = realpath(path, NULL);
    int why;

    f->path = bg_strdup(real ? real : path);
    free(real);
    if (open_temporary(f))
        return true;
    why = errno;
    outfile_abort(f);
    errno = why;
    return false;
}

bool
outfile_open(outfile *f, const char *path)
{

    memset(f, 0, sizeof *f);
    if (!may_be_result(path))
        return false;
    if (!path || !strcmp(path, "-")) {
        f->out = stdout;
        return true;
    }
    if (is_written_in_place(path)) {
        f->out = fopen(path, "wb");
        return f->out != NULL;
    }
    return open_beside(f, path);
}

/* Checks that everything is on the disk, and closes the file. */
static bool
finish_writing(outfile *f)
{
    bool fine;
    int why;

    errno = 0;
    fine = fflush(f->out) == 0 && !ferror(f->out);
    if (!fine && !errno && f->out != stdout)
        (void)!write(fileno(f->out), "", 1); /* sets errno to the reason of earlier failures */
    if (f->temporary && fine)
        fine = fsync(fileno(f->out)) == 0 || errno == EINVAL;
    why = fine ? 0 : errno;
    if (f->out != stdout)
        fine = fclose(f->out) == 0 && fine;
    f->out = NULL;
    if (why)
        errno = why;
    return fine;
}

/* The temporary file no longer belongs to the program: it was renamed or is gone. */
static void
forget_temporary(outfile *f)
{
    interrupt_forgets(f->temporary);
    free(f->temporary);
    f->temporary = NULL;
}

bool
outfile_commit(outfile *f)
{
    bool fine;
    int why;

    if (!f->out)
        return true;
    fine = finish_writing(f);
    if (f->temporary && fine) {
        file_identity i;

        interrupt_hold();
        /* the file that it replaces may have been read since it was opened */
        fine = may_replace(f->path) && file_identify(-1, f->temporary, &i) && rename(f->temporary, f->path) == 0;
        if (fine) {
            vec_push(&results, i);
            forget_temporary(f);
        }
        interrupt_release();
    }
    why = errno;
    outfile_abort(f);
    errno = fine ? 0 : why;
    return fine;
}

void
outfile_abort(outfile *f)
{
    if (f->out && f->out != stdout)
        fclose(f->out);
    if (f->temporary) {
        unlink(f->temporary);
        forget_temporary(f);
    }
    free(f->path);
    memset(f, 0, sizeof *f);
}

bool
write_whole(const char *path, const char *text, size_t n)
{
    outfile f;

    if (!outfile_open(&f, path))
        return false;
    if (f.out == stdout && isatty(STDOUT_FILENO) == 1) {
        strbuf shown = { 0 };

        quote(&shown, QUOTE_LINES, text, n);
        fwrite(shown.at, 1, shown.n, f.out);
        strbuf_free(&shown);
    } else {
        fwrite(text, 1, n, f.out);
    }
    return outfile_commit(&f);
}

/* ---------------------------------------------------------------- changes in place */

/* Does the open file contain exactly this text? */
static bool
holds(int fd, const char *text, size_t n)
{
    char buffer[1 << 16];
    size_t at = 0;
    ssize_t got;

    while ((got = pread(fd, buffer, sizeof buffer, (off_t)at)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || (size_t)got > n - at || memcmp(buffer, text + at, (size_t)got))
            return false;
        at += (size_t)got;
    }
    return at == n;
}

/* Is this path the file that the stat data describe? */
static bool
is_the_file(const char *path, const struct stat *st)
{
    struct stat here;

    return lstat(path, &here) == 0 && here.st_dev == st->st_dev && here.st_ino == st->st_ino;
}

static bool
is_open_file(const char *path, int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && is_the_file(path, &st);
}

static bool
file_holds(const char *path, const char *text, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool same = fd >= 0 && holds(fd, text, n);

    if (fd >= 0)
        close(fd);
    return same;
}

static bool
put_all(int fd, const char *text, size_t n)
{
    size_t at = 0;

    while (at < n) {
        ssize_t done = pwrite(fd, text + at, n - at, (off_t)at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += (size_t)done;
    }
    return ftruncate(fd, (off_t)n) == 0;
}

/* Writes the text into the open file; if that fails, restores the old contents. Returns an errno. */
static int
overwrite(int fd, const char *was, size_t nwas, const char *text, size_t n)
{
    int why;

    /* allocates space first, so that a full disk is noticed before anything is changed */
    if (n > nwas && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)n) != 0 && errno != EOPNOTSUPP)
        return errno;
    if (put_all(fd, text, n) && (fsync(fd) == 0 || errno == EINVAL))
        return 0;
    why = errno;
    return put_all(fd, was, nwas) ? why : EIO;
}

/* Exit status of the process below for an error without an errno. */
enum { STATUS_CHANGED = 254 };

static int
overwrite_if_it_holds(const char *path, const char *was, size_t nwas, const char *text, size_t n)
{
    lease l;
    int why;

    if (!lease_take(&l, path, true))
        return errno;
    why = holds(l.fd, was, nwas) ? overwrite(l.fd, was, nwas, text, n) : STATUS_CHANGED;
    lease_drop(&l);
    return why;
}

/* A separate process for the change, so that signals to this process or its group do not interrupt it. */
static bool
overwrite_apart(const char *path, const char *was, size_t nwas, const char *text, size_t n)
{
    int status = 0, why;
    pid_t child = fork();

    if (child == 0) {
        setsid();
        why = overwrite_if_it_holds(path, was, nwas, text, n);
        _exit(why > 0 && why < 256 ? why : why ? EIO : 0);
    }
    why = child < 0 ? errno : 0;
    if (child > 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        why = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
    }
    errno = why == STATUS_CHANGED ? FILE_CHANGED : why;
    return !why;
}

/* Has the file properties that a new one would lack: other names, another owner, attributes? */
static bool
is_more_than_text(const char *path, const struct stat *st)
{
    char list[1 << 12];
    ssize_t n;

    if (st->st_nlink > 1 || (geteuid() != 0 && (st->st_uid != geteuid() || st->st_gid != getegid())))
        return true;
    n = listxattr(path, list, sizeof list);
    if (n < 0)
        return errno == ERANGE;
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(list + at) + 1)
        if (strncmp(list + at, "security.", 9))
            return true;
    return false;
}

/* Is the temporary file, which was in the file's place until now, what was read, and does nobody write into it? Someone
 * who looked the file up just before may still be opening it: hence a second check. */
static bool
came_out_as_read(const outfile *f, const lease *l, const char *was, size_t nwas)
{
    static const struct timespec moment = { 0, 10000000 };

    for (int look = 0; look < 2; look++) {
        if (look > 0)
            nanosleep(&moment, NULL);
        if (!is_open_file(f->temporary, l->fd) || !holds(l->fd, was, nwas) || lease_disturbed(l))
            return false;
    }
    return true;
}

/* Moves the file that came out back to its place. What then comes out is the text that was put there, or a newer file
 * that someone saved meanwhile; the newer one stays in place. What is known to be old is left as the temporary file; if
 * nothing is known, nothing is removed. */
static void
put_back(outfile *f, const char *text, size_t n)
{
    struct stat expected, put;
    bool ours = true;

    for (;;) {
        bool back = lstat(f->temporary, &put) == 0 &&
                    renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0;

        if (!back) {
            (void)!renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_NOREPLACE);
            forget_temporary(f);
            return;
        }
        if (ours ? file_holds(f->temporary, text, n) : is_the_file(f->temporary, &expected))
            return;
        ours = false;
        expected = put;
    }
}

/* Exchanges the file with the temporary one; what comes out must be what was read, otherwise they are exchanged
 * back. */
static bool
change_places(outfile *f, const char *was, size_t nwas, const char *text, size_t n)
{
    lease l;
    bool fine = false;

    if (!lease_take(&l, f->path, false))
        return false;
    if (!holds(l.fd, was, nwas)) {
        errno = FILE_CHANGED;
    } else if (renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0) {
        fine = came_out_as_read(f, &l, was, nwas);
        if (fine) {
            unlink(f->temporary);
            forget_temporary(f);
        } else {
            put_back(f, text, n);
            errno = FILE_CHANGED;
        }
    }
    lease_drop(&l);
    return fine;
}

static bool
replace_whole(const char *path, const char *was, size_t nwas, const char *text, size_t n)
{
    outfile f = { 0 };
    bool fine;
    int why;

    if (!open_beside(&f, path))
        return false;
    fwrite(text, 1, n, f.out);
    fine = finish_writing(&f) && change_places(&f, was, nwas, text, n);
    why = errno;
    outfile_abort(&f);
    errno = why;
    return fine;
}

bool
file_replace(const char *path, const char *was, size_t nwas, const char *text, size_t n)
{
    struct stat st;
    bool fine = false, apart;
    int why;

    if (stat(path, &st) != 0)
        return false;
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return false;
    }
    if (!may_change(path, &st))
        return false;
    interrupt_hold();
    apart = is_more_than_text(path, &st);
    if (!apart) {
        fine = replace_whole(path, was, nwas, text, n);
        /* the folder is read-only, or the file system cannot exchange files */
        apart = !fine && (errno == EACCES || errno == EPERM || errno == EINVAL || errno == ENOSYS);
    }
    if (apart)
        fine = overwrite_apart(path, was, nwas, text, n);
    why = errno;
    interrupt_release();
    errno = why;
    return fine;
}

/* ---------------------------------------------------------------- names */

/* The real path of a file that does not exist yet: that of its folder, with its name. */
static char *
real_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? bg_format("%.*s", (int)(slash - path + 1), path) : bg_strdup("."),
         *real = realpath(folder, NULL);
    char *all = real ? bg_format("%s/%s", real, name) : bg_strdup(path);

    free(folder);
    free(real);
    return all;
}

bool
same_file(const char *a, const char *b)
{
    struct stat x, y;
    bool there, same;
    char *p, *q;

    if (!strcmp(a, "-") || !strcmp(b, "-"))
        return false;
    there = stat(a, &x) == 0;
    if (there != (stat(b, &y) == 0))
        return false;
    if (there)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    p = real_name(a);
    q = real_name(b);
    same = !strcmp(p, q);
    free(p);
    free(q);
    return same;
}

bool
has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);

    return n >= m && !strcmp(path + n - m, suffix);
}
