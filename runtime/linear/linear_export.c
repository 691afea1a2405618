/* linear_export.c - see linear_export.h
 *
 * .npy    NumPy's format 1.0: a head that is a Python dictionary, padded to 64 bytes; then the numbers, little-endian,
 *         by rows
 * .npz    such files in a ZIP archive, stored as they are (PKWARE's APPNOTE.TXT, 4.3)
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "json.h"
#include "linear_export.h"
#include "quote.h"

bool
linear_export_known(const char *path)
{
    return has_suffix(path, ".csv") || has_suffix(path, ".m") || has_suffix(path, ".npz");
}

bool
linear_points_add(linear_points *p, const linearization *l, char **why)
{
    const state_space *s = &l->space;

    *why = NULL;
    if (p->space.n && s->nu != p->nu) {
        *why = bg_format("the rates of inputs matter at one point and not at another: their matrices differ in size");
        return false;
    }
    if (!p->space.n) {
        *p = (linear_points){ .n = s->n,
                              .nu = s->nu,
                              .ny = s->ny,
                              .state = bg_calloc(s->n + 1, sizeof *p->state),
                              .input = bg_calloc(s->nu + 1, sizeof *p->input),
                              .output = bg_calloc(s->ny + 1, sizeof *p->output) };
        for (size_t i = 0; i < s->n; i++)
            p->state[i] = linear_state_name(l, i);
        for (size_t i = 0; i < s->nu; i++)
            p->input[i] = l->input.at[i].name;
        for (size_t i = 0; i < s->ny; i++)
            p->output[i] = model_output_name(l->model, i);
    }
    vec_push(&p->time, l->time);
    vec_push(&p->space, state_space_copy(s));
    return true;
}

void
linear_points_free(linear_points *p)
{
    for (size_t k = 0; k < p->space.n; k++)
        state_space_free(&p->space.at[k]);
    vec_free(&p->space);
    vec_free(&p->time);
    free(p->state);
    free(p->input);
    free(p->output);
    *p = (linear_points){ 0 };
}

static void
put_exported_number(FILE *out, double x)
{
    char buffer[NUMBER_SIZE];

    fputs(isfinite(x) ? number_text(x == 0 ? 0 : x, buffer) : isnan(x) ? "NaN" : x > 0 ? "Inf" : "-Inf", out);
}

/* ---------------------------------------------------------------- CSV */

static void
put_cell(FILE *out, const char *before, const char *name, const char *after)
{
    char *whole = bg_format("%s%s%s", before, name, after), *cell = quoted(QUOTE_CSV, whole);

    fputs(cell, out);
    free(whole);
    free(cell);
}

static void
put_csv(const linear_points *p, FILE *out)
{
    fputs("time [s],row", out);
    for (size_t i = 0; i < p->n + p->nu; i++) {
        fputc(',', out);
        put_cell(out, "", i < p->n ? p->state[i] : p->input[i - p->n], "");
    }
    fputc('\n', out);
    for (size_t k = 0; k < p->space.n; k++)
        for (size_t r = 0; r < p->n + p->ny; r++) {
            const state_space *s = &p->space.at[k];

            put_exported_number(out, p->time.at[k]);
            fputc(',', out);
            if (r < p->n)
                put_cell(out, "d(", p->state[r], ")/dt");
            else
                put_cell(out, "", p->output[r - p->n], "");
            for (size_t c = 0; c < p->n + p->nu; c++) {
                fputc(',', out);
                put_exported_number(out, r < p->n   ? c < p->n ? s->A[r + s->n * c] : s->B[r + s->n * (c - p->n)]
                                           : c < p->n ? s->C[r - p->n + s->ny * c]
                                                    : s->D[r - p->n + s->ny * (c - p->n)]);
            }
            fputc('\n', out);
        }
}

/* ---------------------------------------------------------------- CSV and MATLAB */

enum { A_, B_, C_, D_, MATRICES };
static const char *const matrix_name[MATRICES] = { "A", "B", "C", "D" };

struct matrix {
    size_t rows, columns;
    const double *at;
}; /* by columns */

static struct matrix
exported_matrix(const linear_points *p, int which, size_t k)
{
    const state_space *s = &p->space.at[k];
    const struct matrix all[MATRICES] = { { s->n, s->n, s->A },
                                          { s->n, s->nu, s->B },
                                          { s->ny, s->n, s->C },
                                          { s->ny, s->nu, s->D } };

    return all[which];
}

struct names {
    const char *what;
    const char **at;
    size_t n;
};

static void
names_of(const linear_points *p, struct names to[3])
{
    to[0] = (struct names){ "states", p->state, p->n };
    to[1] = (struct names){ "inputs", p->input, p->nu };
    to[2] = (struct names){ "outputs", p->output, p->ny };
}

/* ---------------------------------------------------------------- MATLAB */

static void
put_script(const linear_points *p, FILE *out)
{
    struct names list[3];

    names_of(p, list);
    fputs("% dx/dt = A x + B u, y = C x + D u for small departures; SI units\n", out);
    for (int i = 0; i < 3; i++) {
        fprintf(out, "%s = {", list[i].what);
        for (size_t k = 0; k < list[i].n; k++) {
            char *text = quoted(QUOTE_GNUPLOT, list[i].at[k]);

            fprintf(out, "%s%s", k ? ", " : "", text);
            free(text);
        }
        fputs("};\n", out);
    }
    fputs("time = [", out);
    for (size_t k = 0; k < p->time.n; k++) {
        fputs(k ? " " : "", out);
        put_exported_number(out, p->time.at[k]);
    }
    fputs("];\n", out);
    for (int which = 0; which < MATRICES; which++) {
        struct matrix first = exported_matrix(p, which, 0);

        /* MATLAB would lose the shape of an empty [] */
        fprintf(out, "%s = zeros(%zu, %zu, %zu);\n", matrix_name[which], first.rows, first.columns, p->space.n);
        for (size_t k = 0; k < p->space.n && first.rows && first.columns; k++) {
            struct matrix m = exported_matrix(p, which, k);

            fprintf(out, "%s(:,:,%zu) = [\n", matrix_name[which], k + 1);
            for (size_t r = 0; r < m.rows; r++)
                for (size_t c = 0; c < m.columns; c++) {
                    fputs(c ? " " : "  ", out);
                    put_exported_number(out, m.at[r + m.rows * c]);
                    fputs(c + 1 == m.columns ? ";\n" : "", out);
                }
            fputs("];\n", out);
        }
    }
}

/* ---------------------------------------------------------------- NumPy */

static void
put_bytes(strbuf *b, uint64_t x, int n)
{
    for (int i = 0; i < n; i++) {
        char c = (char)(x >> 8 * i & 0xff);

        strbuf_add(b, &c, 1);
    }
}

/* The header of an array. shape: without the parentheses. */
static void
put_head(strbuf *b, const char *type, const char *shape)
{
    char *text = bg_format("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    size_t length = strlen(text) + 1, whole = (10 + length + 63) / 64 * 64;

    strbuf_add(b, "\x93NUMPY\x01\x00", 8);
    put_bytes(b, whole - 10, 2);
    strbuf_puts(b, text);
    for (size_t i = 10 + length; i < whole; i++)
        strbuf_puts(b, " ");
    strbuf_puts(b, "\n");
    free(text);
}

static void
put_double(strbuf *b, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    put_bytes(b, bits, 8);
}

static void
put_matrices(strbuf *b, const linear_points *p, int which)
{
    struct matrix first = exported_matrix(p, which, 0);
    char *shape = p->space.n > 1 ? bg_format("%zu, %zu, %zu", p->space.n, first.rows, first.columns)
                                 : bg_format("%zu, %zu", first.rows, first.columns);

    put_head(b, "<f8", shape);
    for (size_t k = 0; k < p->space.n; k++) {
        struct matrix m = exported_matrix(p, which, k);

        for (size_t r = 0; r < m.rows; r++)
            for (size_t c = 0; c < m.columns; c++)
                put_double(b, m.at[r + m.rows * c]);
    }
    free(shape);
}

/* Decodes the characters of a UTF-8 text into `to` (may be NULL); returns their number. */
static size_t
characters(const char *s, uint32_t *to)
{
    size_t n = 0;

    while (*s) {
        unsigned char lead = (unsigned char)*s++;
        uint32_t c = lead < 0x80 ? lead : lead < 0xe0 ? lead & 0x1f : lead < 0xf0 ? lead & 0x0f : lead & 0x07;

        while (((unsigned char)*s & 0xc0) == 0x80)
            c = c << 6 | ((unsigned char)*s++ & 0x3f);
        if (to)
            to[n] = c;
        n++;
    }
    return n;
}

/* An array of texts in UTF-32, all padded to the longest. */
static void
put_name_array(strbuf *b, const struct names *list)
{
    size_t longest = 1;
    char *type, *shape = bg_format("%zu,", list->n);

    for (size_t i = 0; i < list->n; i++)
        longest = characters(list->at[i], NULL) > longest ? characters(list->at[i], NULL) : longest;
    type = bg_format("<U%zu", longest);
    put_head(b, type, shape);
    for (size_t i = 0; i < list->n; i++) {
        uint32_t *text = bg_calloc(longest + 1, sizeof *text);

        characters(list->at[i], text);
        for (size_t k = 0; k < longest; k++)
            put_bytes(b, text[k], 4);
        free(text);
    }
    free(type);
    free(shape);
}

static uint32_t
crc32_of(const char *s, size_t n)
{
    uint32_t table[256], crc = NONE;

    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;

        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ UINT32_C(0xedb88320) : c >> 1;
        table[i] = c;
    }
    for (size_t i = 0; i < n; i++)
        crc = crc >> 8 ^ table[(crc ^ (unsigned char)s[i]) & 0xff];
    return ~crc;
}

struct archive {
    FILE *out;
    strbuf directory;
    uint64_t at;
    size_t files;
    bool full;
};

/* The fields that a file's header and its entry in the directory share. */
static void
put_entry(strbuf *b, const strbuf *data, size_t name)
{
    put_bytes(b, 20, 2); /* version needed: 2.0 */
    put_bytes(b, 0, 2);  /* flags */
    put_bytes(b, 0, 2);  /* stored */
    put_bytes(b, 0, 2);  /* the earliest time and date, so that equal models give equal files */
    put_bytes(b, 0x21, 2);
    put_bytes(b, crc32_of(data->at, data->n), 4);
    put_bytes(b, data->n, 4);
    put_bytes(b, data->n, 4);
    put_bytes(b, name, 2);
    put_bytes(b, 0, 2); /* nothing extra */
}

/* Takes over the data. */
static void
add_file(struct archive *a, const char *name, strbuf *data)
{
    char *file = bg_format("%s.npy", name);
    strbuf head = { 0 };

    a->full = a->full || data->n > UINT32_MAX || a->at + data->n + 1024 > UINT32_MAX;
    put_bytes(&head, 0x04034b50, 4);
    put_entry(&head, data, strlen(file));
    strbuf_puts(&head, file);
    put_bytes(&a->directory, 0x02014b50, 4);
    put_bytes(&a->directory, 20, 2);
    put_entry(&a->directory, data, strlen(file));
    put_bytes(&a->directory, 0, 2); /* no comment, first disk, no attributes */
    put_bytes(&a->directory, 0, 2);
    put_bytes(&a->directory, 0, 2);
    put_bytes(&a->directory, 0, 4);
    put_bytes(&a->directory, a->at, 4);
    strbuf_puts(&a->directory, file);
    if (!a->full) {
        fwrite(head.at, 1, head.n, a->out);
        fwrite(data->at, 1, data->n, a->out);
    }
    a->at += head.n + data->n;
    a->files++;
    free(file);
    strbuf_free(&head);
    strbuf_free(data);
}

static bool
put_archive(const linear_points *p, FILE *out)
{
    struct archive a = { .out = out };
    struct names list[3];
    strbuf data = { 0 }, end = { 0 };

    names_of(p, list);
    for (int which = 0; which < MATRICES && !a.full; which++) {
        put_matrices(&data, p, which);
        add_file(&a, matrix_name[which], &data);
    }
    {
        char *shape = bg_format("%zu,", p->time.n);

        put_head(&data, "<f8", shape);
        for (size_t k = 0; k < p->time.n; k++)
            put_double(&data, p->time.at[k]);
        add_file(&a, "time", &data);
        free(shape);
    }
    for (int i = 0; i < 3; i++) {
        put_name_array(&data, &list[i]);
        add_file(&a, list[i].what, &data);
    }
    put_bytes(&end, 0x06054b50, 4);
    put_bytes(&end, 0, 4);
    put_bytes(&end, a.files, 2);
    put_bytes(&end, a.files, 2);
    put_bytes(&end, a.directory.n, 4);
    put_bytes(&end, a.at, 4);
    put_bytes(&end, 0, 2);
    if (!a.full) {
        fwrite(a.directory.at, 1, a.directory.n, out);
        fwrite(end.at, 1, end.n, out);
    }
    strbuf_free(&a.directory);
    strbuf_free(&end);
    return !a.full;
}

bool
linear_export(const linear_points *p, const char *path, FILE *out, char **why)
{
    *why = NULL;
    if (has_suffix(path, ".npz")) {
        if (!put_archive(p, out))
            *why = bg_strdup("more than 4 GB do not go into a .npz file");
    } else {
        (has_suffix(path, ".m") ? put_script : put_csv)(p, out);
    }
    return !*why;
}
