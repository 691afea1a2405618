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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_read_is_not_replaced, begin, end),
        cmocka_unit_test_setup_teardown(one_result_a_file, begin, end),
        cmocka_unit_test_setup_teardown(read_only_stays, begin, end),
        cmocka_unit_test_setup_teardown(aborted, begin, end),
        cmocka_unit_test_setup_teardown(no_room, begin, end),
        cmocka_unit_test_setup_teardown(in_place, begin, end),
        cmocka_unit_test_setup_teardown(owner_and_attributes, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
