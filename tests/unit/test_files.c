/* test_files.c - results: whole or not at all, never over what was read; files changed in place stay what they are */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <pthread.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

#include "files.h"
#include "reading.h"
#include "source.h"

static char dir[] = "/tmp/test_files_XXXXXX";

static const char *
path_of(const char *name)
{
    static char path[4][512];
    static int k;

    k = (k + 1) % 4;
    snprintf(path[k], sizeof path[k], "%s/%s", dir, name);
    return path[k];
}

static void
make(const char *name, const char *text)
{
    FILE *f;

    unlink(path_of(name));
    f = fopen(path_of(name), "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void
holds(const char *name, const char *want)
{
    char have[64] = "";
    FILE *f = fopen(path_of(name), "rb");

    assert_non_null(f);
    have[fread(have, 1, sizeof have - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(have, want);
}

static size_t
count(void)
{
    DIR *d = opendir(dir);
    size_t n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

/* A new folder for each test. */
static int
begin(void **state)
{
    (void)state;
    memcpy(dir, "/tmp/test_files_XXXXXX", sizeof dir);
    return mkdtemp(dir) ? 0 : -1;
}

static int
end(void **state)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    (void)state;
    while ((e = readdir(d)) != NULL)
        unlink(path_of(e->d_name));
    closedir(d);
    return rmdir(dir);
}

static void
read_it(const char *name)
{
    sources *s = sources_new();

    assert_true(sources_read(s, path_of(name)) >= 0);
    sources_free(s);
}

static void
refused(const char *name, int why)
{
    outfile f;

    errno = 0;
    assert_false(outfile_open(&f, path_of(name)));
    assert_int_equal(errno, why);
    assert_false(may_be_result(path_of(name)));
}

static void
what_is_read_is_not_replaced(void **state)
{
    outfile f;

    (void)state;
    make("t.csv", "0,1\n");
    make("later.csv", "0,1\n");
    make("other.csv", "x\n");
    assert_int_equal(link(path_of("t.csv"), path_of("hard.csv")), 0);
    assert_int_equal(symlink(path_of("t.csv"), path_of("soft.csv")), 0);
    read_it("t.csv");
    refused("t.csv", FILE_IS_READ);
    refused("hard.csv", FILE_IS_READ);
    refused("soft.csv", FILE_IS_READ);
    /* read after the result was begun */
    assert_true(outfile_open(&f, path_of("later.csv")));
    fputs("new", f.out);
    read_it("later.csv");
    assert_false(outfile_commit(&f));
    assert_int_equal(errno, FILE_IS_READ);
    holds("later.csv", "0,1\n");
    assert_true(write_whole(path_of("other.csv"), "new", 3));
    holds("other.csv", "new");
    assert_int_equal(count(), 5);
}

static void
one_result_a_file(void **state)
{
    (void)state;
    assert_true(write_whole(path_of("a"), "one", 3));
    refused("a", FILE_IS_RESULT);
    holds("a", "one");
    assert_true(same_file(path_of("x"), path_of("./x")));
    assert_false(same_file(path_of("x"), path_of("y")));
    assert_int_equal(count(), 1);
}

static void
read_only_stays(void **state)
{
    (void)state;
    make("a", "old");
    chmod(path_of("a"), 0444);
    refused("a", EACCES);
    assert_false(file_replace(path_of("a"), "old", 3, "new", 3));
    assert_int_equal(errno, EACCES);
    holds("a", "old");
    assert_int_equal(count(), 1);
}

static void
aborted(void **state)
{
    outfile f;

    (void)state;
    make("a", "old");
    assert_true(outfile_open(&f, path_of("a")));
    fputs("half", f.out);
    outfile_abort(&f);
    holds("a", "old");
    assert_int_equal(count(), 1);
}

/* A limit of file sizes stands for a full disk. */
static void
no_room(void **state)
{
    struct rlimit before, small;
    static char much[1 << 16];
    int why;

    (void)state;
    memset(much, 'x', sizeof much);
    make("a", "old");
    make("b", "old");
    assert_int_equal(link(path_of("b"), path_of("c")), 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &small);
    assert_false(write_whole(path_of("a"), much, sizeof much));
    why = errno;
    assert_false(write_whole(path_of("none"), much, sizeof much));
    assert_false(file_replace(path_of("a"), "old", 3, much, sizeof much));
    assert_false(file_replace(path_of("b"), "old", 3, much, sizeof much));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(why, EFBIG);
    holds("a", "old");
    holds("b", "old");
    assert_int_equal(count(), 3);
    assert_false(write_whole("/dev/full", much, sizeof much));
    assert_int_equal(errno, ENOSPC);
}

static void
in_place(void **state)
{
    struct stat before, after;

    (void)state;
    make("a", "old");
    chmod(path_of("a"), 0640);
    assert_true(file_replace(path_of("a"), "old", 3, "newer", 5));
    holds("a", "newer");
    stat(path_of("a"), &after);
    assert_int_equal(after.st_mode & 07777, 0640);

    /* changed meanwhile: by a byte, by one more, by one less */
    for (int k = 0; k < 3; k++) {
        static const char *const now[] = { "newe2", "newer2", "newe" };

        make("a", now[k]);
        assert_false(file_replace(path_of("a"), "newer", 5, "x", 1));
        assert_int_equal(errno, FILE_CHANGED);
        holds("a", now[k]);
    }
    /* links lead where they led, names name what they named */
    make("b", "old");
    assert_int_equal(symlink(path_of("b"), path_of("soft")), 0);
    assert_true(file_replace(path_of("soft"), "old", 3, "new", 3));
    holds("b", "new");
    lstat(path_of("soft"), &after);
    assert_true(S_ISLNK(after.st_mode));
    assert_int_equal(link(path_of("b"), path_of("hard")), 0);
    stat(path_of("b"), &before);
    assert_true(file_replace(path_of("hard"), "new", 3, "longer", 6));
    holds("b", "longer");
    assert_true(file_replace(path_of("b"), "longer", 6, "", 0));
    holds("hard", "");
    stat(path_of("hard"), &after);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(after.st_nlink, 2);
    assert_false(file_replace(path_of("hard"), "x", 1, "y", 1));
    assert_int_equal(errno, FILE_CHANGED);
    assert_int_equal(count(), 4);
}

/* Owner and attributes, where the system lets a test set them. */
static void
owner_and_attributes(void **state)
{
    struct stat st;

    (void)state;
    make("a", "old");
    if (geteuid() == 0) {
        assert_int_equal(chown(path_of("a"), 12345, 23456), 0);
        chmod(path_of("a"), 0660);
        assert_true(file_replace(path_of("a"), "old", 3, "new", 3));
        stat(path_of("a"), &st);
        assert_int_equal(st.st_uid, 12345);
        assert_int_equal(st.st_gid, 23456);
        assert_int_equal(st.st_mode & 07777, 0660);
    }
    holds("a", geteuid() == 0 ? "new" : "old");
}

/* ---------------------------------------------------------------- someone edits the file in the very moment */

enum edit { NO_EDIT, NEW_FILE, INTO, INTO_WAITING, REMOVED, NEDITS };

/* The edit comes before the exchange of that number, counted from 0, or after it; then as many more, each by the next
 * exchange. */
static struct {
    enum edit kind;
    int at, more, exchanges, failing;
    bool after;
} meanwhile;
static pthread_t editor;
static bool editing, retry;

static void
put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Opens what stands there, waiting where it must, and takes its time. */
static void *
write_into(void *path)
{
    int fd = open(path, O_WRONLY);

    usleep(3000);
    if (fd < 0 || ftruncate(fd, 0) != 0 || write(fd, "edit", 4) != 4 || close(fd) != 0)
        abort();
    return NULL;
}

static void
edit(void)
{
    static char path[512], beside[512];
    int fd;

    snprintf(path, sizeof path, "%s", path_of("a"));
    snprintf(beside, sizeof beside, "%s", path_of("saved"));
    switch (meanwhile.kind) {
    case NEW_FILE:
        put(beside, meanwhile.more ? "earlier edit" : "edit");
        assert_int_equal(rename(beside, path), 0);
        break;
    case REMOVED: unlink(path); break;
    case INTO:
        /* who does not wait is told to come again, and does */
        fd = open(path, O_WRONLY | O_NONBLOCK);
        retry = fd < 0 && errno == EAGAIN;
        if (!retry)
            put(path, "edit");
        if (fd >= 0)
            close(fd);
        break;
    case INTO_WAITING: editing = pthread_create(&editor, NULL, write_into, path) == 0; break;
    default:;
    }
}

static void
edit_if_now(bool after)
{
    int since = meanwhile.exchanges - meanwhile.at;

    if (meanwhile.after != after || since < 0 || meanwhile.more < 0 || editing)
        return;
    edit();
    meanwhile.more--;
}

/* The C library's, with edits before or after. */
int
renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    int result;

    if (flags != RENAME_EXCHANGE)
        return (int)syscall(SYS_renameat2, from, old, to, new, flags);
    if (meanwhile.failing) {
        errno = meanwhile.failing;
        return -1;
    }
    edit_if_now(false);
    result = (int)syscall(SYS_renameat2, from, old, to, new, flags);
    edit_if_now(true);
    meanwhile.exchanges++;
    return result;
}

static bool
replace_while(enum edit kind, int at, bool after, int more)
{
    bool done;

    make("a", "what was read");
    memset(&meanwhile, 0, sizeof meanwhile);
    meanwhile.kind = kind;
    meanwhile.at = at;
    meanwhile.after = after;
    meanwhile.more = more;
    done = file_replace(path_of("a"), "what was read", 13, "new", 3);
    if (editing)
        pthread_join(editor, NULL);
    if (retry)
        put(path_of("a"), "edit");
    editing = retry = false;
    return done;
}

static void
edits_in_the_moment(void **state)
{
    (void)state;
    assert_true(replace_while(NO_EDIT, 0, false, 0));
    holds("a", "new");
    for (int round = 0; round < 20; round++) {
        for (enum edit k = NEW_FILE; k <= INTO_WAITING; k++) {
            for (int more = 0; more < (k == NEW_FILE ? 4 : 1); more++) {
                bool done = replace_while(k, 0, false, more);

                /* who waits may also have come after it */
                assert_true(k == INTO_WAITING || !done);
                holds("a", "edit");
                assert_int_equal(count(), 1);
            }
            /* what is there then is the new text, and the edit is one of it */
            assert_true(replace_while(k, 0, true, 0));
            holds("a", "edit");
            assert_int_equal(count(), 1);
        }
        assert_false(replace_while(REMOVED, 0, false, 0));
        assert_int_equal(count(), 0);
        assert_true(replace_while(REMOVED, 0, true, 0));
        assert_int_equal(count(), 0);
    }
}

/* A program that has it open for writing, and writes when it likes. */
static void
open_for_writing(void **state)
{
    int fd;

    (void)state;
    make("a", "old");
    fd = open(path_of("a"), O_WRONLY | O_APPEND);
    assert_false(file_replace(path_of("a"), "old", 3, "new", 3));
    assert_int_equal(errno, EBUSY);
    assert_int_equal(write(fd, "er", 2), 2);
    close(fd);
    holds("a", "older");
    assert_int_equal(count(), 1);
}

/* A file system that exchanges no files: the text goes into the file. */
static void
without_exchange(void **state)
{
    static const int why[] = { EINVAL, ENOSYS };

    (void)state;
    for (int k = 0; k < 2; k++) {
        meanwhile.failing = why[k];
        make("a", "old");
        assert_true(file_replace(path_of("a"), "old", 3, "new", 3));
        holds("a", "new");
        assert_false(file_replace(path_of("a"), "old", 3, "x", 1));
        assert_int_equal(errno, FILE_CHANGED);
        holds("a", "new");
        assert_int_equal(count(), 1);
    }
    meanwhile.failing = 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(what_is_read_is_not_replaced, begin, end),
                                        cmocka_unit_test_setup_teardown(one_result_a_file, begin, end),
                                        cmocka_unit_test_setup_teardown(read_only_stays, begin, end),
                                        cmocka_unit_test_setup_teardown(aborted, begin, end),
                                        cmocka_unit_test_setup_teardown(no_room, begin, end),
                                        cmocka_unit_test_setup_teardown(in_place, begin, end),
                                        cmocka_unit_test_setup_teardown(owner_and_attributes, begin, end),
                                        cmocka_unit_test_setup_teardown(edits_in_the_moment, begin, end),
                                        cmocka_unit_test_setup_teardown(open_for_writing, begin, end),
                                        cmocka_unit_test_setup_teardown(without_exchange, begin, end) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
