/* test_linear_export.c - linear models for other programs, and drawn
 *
 * The ZIP archive and NumPy's heads are taken apart here by their specifications; numbers are those of the matrices.
 * Pictures: that what must be named is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "compile.h"
#include "linear_export.h"
#include "linear_figures.h"

static void
open_example(compilation *c, const char *name, linearization *l)
{
    char *path = bg_format("%s/%s.bg", BG_EXAMPLES, name);
    double *x;

    assert_true(compile_path(c, path, STAGE_MODEL, &(compile_options){ .open = true }));
    x = calloc(model_nstates(c->model) + 1, sizeof *x);
    assert_true(model_initial(c->model, 0, x) && linearize_at(c->model, 0, x, l));
    free(x);
    free(path);
}

/* What the export writes: n bytes. */
static char *
exported(const linearization *l, int points, const char *name, size_t *n)
{
    linear_points p = { 0 };
    char *text = NULL, *why;
    FILE *out = open_memstream(&text, n);

    for (int k = 0; k < points; k++)
        assert_true(linear_points_add(&p, l, &why));
    assert_true(linear_export(&p, name, out, &why));
    fclose(out);
    linear_points_free(&p);
    return text;
}

static uint64_t
little(const char *s, int n)
{
    uint64_t x = 0;

    for (int i = n; i-- > 0;)
        x = x << 8 | (unsigned char)s[i];
    return x;
}

/* CRC-32 bit by bit: ISO 3309, as APPNOTE.TXT 4.4.7 wants it. */
static uint32_t
crc(const char *s, size_t n)
{
    uint32_t c = UINT32_MAX;

    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            uint32_t in = (unsigned char)s[i] >> bit & 1;

            c = (c & 1) ^ in ? c >> 1 ^ 0xedb88320u : c >> 1;
        }
    return ~c;
}

/* The file `name` of an archive: its bytes. */
static const char *
member(const char *zip, size_t n, const char *name, size_t *size)
{
    const char *end = zip + n - 22, *at;

    assert_int_equal(little(end, 4), 0x06054b50);
    at = zip + little(end + 16, 4);
    for (uint64_t k = little(end + 10, 2); k > 0; k--) {
        size_t length = little(at + 28, 2);
        const char *head = zip + little(at + 42, 4);

        assert_int_equal(little(at, 4), 0x02014b50);
        if (length == strlen(name) && !strncmp(at + 46, name, length)) {
            const char *data = head + 30 + length;

            assert_int_equal(little(head, 4), 0x04034b50);
            *size = little(head + 22, 4);
            assert_int_equal(little(head + 14, 4), crc(data, *size));
            assert_int_equal(little(at + 16, 4), crc(data, *size));
            return data;
        }
        at += 46 + length;
    }
    fail_msg("no %s in the archive", name);
    return NULL;
}

/* The numbers of an array whose head is `head`. */
static const char *
array(const char *zip, size_t n, const char *name, const char *head)
{
    size_t size, length;
    const char *at = member(zip, n, name, &size);

    assert_memory_equal(at, "\x93NUMPY\x01\x00", 8);
    length = little(at + 8, 2);
    assert_int_equal((10 + length) % 64, 0);
    assert_memory_equal(at + 10, head, strlen(head));
    assert_int_equal(at[10 + length - 1], '\n');
    return at + 10 + length;
}

static double
real_at(const char *s, size_t i)
{
    uint64_t bits = little(s + 8 * i, 8);
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static void
test_numpy(void **state)
{
    compilation c = { 0 };
    linearization l;
    size_t n;
    char *zip;
    const char *A, *list;

    (void)state;
    open_example(&c, "two_masses_modes", &l);
    zip = exported(&l, 1, "m.npz", &n);
    A = array(zip, n, "A.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (5, 5), }");
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++)
            assert_true(real_at(A, 5 * i + k) == l.space.A[i + 5 * k]);
    array(zip, n, "B.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (5, 1), }");
    list = array(zip, n, "states.npy", "{'descr': '<U9', 'fortran_order': False, 'shape': (5,), }");
    for (int i = 0; i < 9; i++)
        assert_int_equal(little(list + 4 * i, 4), (unsigned char)"mass1.p\0\0"[i]);
    free(zip);
    zip = exported(&l, 3, "m.npz", &n);
    A = array(zip, n, "A.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 5, 5), }");
    assert_true(real_at(A, 2 * 25 + 1) == l.space.A[5]);
    array(zip, n, "time.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }");
    free(zip);
    linearization_free(&l);
    compile_free(&c);
}

static void
test_texts(void **state)
{
    compilation c = { 0 };
    linearization l;
    size_t n;
    char *text;

    (void)state;
    open_example(&c, "two_masses_modes", &l);
    text = exported(&l, 1, "m.csv", &n);
    assert_string_equal(text, "time [s],row,mass1.p,mass2.p,spring1.q,spring2.q,spring3.q,F\n"
                              "0,d(mass1.p)/dt,-2,1,-2,-2,0,1\n"
                              "0,d(mass2.p)/dt,1,-2,0,2,-2,0\n"
                              "0,d(spring1.q)/dt,1,0,0,0,0,0\n"
                              "0,d(spring2.q)/dt,1,-1,0,0,0,0\n"
                              "0,d(spring3.q)/dt,0,1,0,0,0,0\n"
                              "0,x1,0,0,1,0,0,0\n");
    free(text);
    text = exported(&l, 2, "m.m", &n);
    assert_non_null(strstr(text, "states = {'mass1.p', 'mass2.p', 'spring1.q', 'spring2.q', 'spring3.q'};\ninputs = "
                                 "{'F'};\noutputs = {'x1'};\ntime = [0 0];\n"));
    assert_non_null(
        strstr(text, "C = zeros(1, 5, 2);\nC(:,:,1) = [\n  0 0 1 0 0;\n];\nC(:,:,2) = [\n  0 0 1 0 0;\n];\n"));
    free(text);
    linearization_free(&l);
    compile_free(&c);
}

/* Does a picture have this text? */
static void
shows(const char *path, const char *what)
{
    FILE *in = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    assert_non_null(in);
    assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
    fclose(in);
    if (!strstr(text, what))
        fail_msg("%s does not show \"%s\"", path, what);
    free(text);
}

static void
test_figures(void **state)
{
    char folder[] = "/tmp/bg_figures_XXXXXX", *path[4], *why;
    static const char *const name[] = { "bode", "step", "poles", "effects" };
    compilation c = { 0 };
    linearization l;
    overlays over = { 0 };

    (void)state;
    assert_non_null(mkdtemp(folder));
    open_example(&c, "two_masses_modes", &l);
    for (int i = 0; i < 4; i++)
        path[i] = bg_format("%s/%s.svg", folder, name[i]);
    vec_push(&over, ((overlay){ "itself", state_space_copy(&l.space) }));
    assert_true(draw_bode(&l, &(figure_choice){ .over = &over }, path[0], &why));
    assert_true(draw_steps(&l, &(figure_choice){ .over = &over }, path[1], &why));
    assert_true(draw_poles(&l, path[2], &why));
    assert_true(draw_effects(&l, path[3], &why));
    shows(path[0], "F to x1: itself");
    shows(path[0], "phase [degrees]");
    shows(path[1], "time after the step [s]");
    shows(path[2], "strongest effect");
    shows(path[3], "-1.5 ± 1.94i");
    shows(path[3], "b2");
    /* nothing to draw, and no form */
    assert_false(draw_bode(&l, &(figure_choice){ 0 }, "x.gif", &why));
    assert_string_equal(why, "x.gif: a figure's name ends in .svg, .png or .pdf");
    free(why);
    overlays_free(&over);
    linearization_free(&l);
    compile_free(&c);
    open_example(&c, "three_masses_effects", &l);
    assert_false(draw_steps(&l, &(figure_choice){ 0 }, path[1], &why));
    assert_string_equal(why, "there is nothing to draw: the model has no inputs");
    free(why);
    linearization_free(&l);
    compile_free(&c);
    for (int i = 0; i < 4; i++) {
        unlink(path[i]);
        free(path[i]);
    }
    rmdir(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_numpy), cmocka_unit_test(test_texts),
                                        cmocka_unit_test(test_figures) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
