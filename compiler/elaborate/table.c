/* table.c - tables from CSV files
 *
 * A file is read once and kept as cells; a column becomes a table of the pool once. The file's text is a source like
 * any other, so that an error in it is shown at its line. Rules: separated by commas, the header is optional, cells may
 * be quoted, empty lines are skipped, the first column ascends strictly. A header may name units, as `bgc run` writes
 * them: `speed [km/h]`; values are then converted to SI.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "elab.h"

struct cell {
    uint32_t begin, end;
}; /* in the file's text, without quotes and blanks around it */

struct csv {
    uint32_t file;    /* in sources */
    const char *name; /* as the model writes it */
    VEC(struct cell) cell;
    VEC(uint32_t) line; /* line number of each row, from 1 */
    uint32_t ncols;
    bool head, ok;
    map column; /* 2*number, + 1 for a spline -> table in the pool */
};

struct csv_store {
    VEC(struct csv) file;
    map by_path; /* interned path -> file */
};

void
tables_free(elab *el)
{
    struct csv_store *s = el->csv_store;

    map_free(&el->planes);
    if (!s)
        return;
    for (size_t k = 0; k < s->file.n; k++) {
        vec_free(&s->file.at[k].cell);
        vec_free(&s->file.at[k].line);
        map_free(&s->file.at[k].column);
    }
    vec_free(&s->file);
    map_free(&s->by_path);
    free(s);
    el->csv_store = NULL;
}

static span
cell_span(const struct csv *t, struct cell c)
{
    return (span){ t->file, c.begin, c.end > c.begin ? c.end : c.begin + 1 };
}

static void
used_here(elab *el, const ast_expr *call)
{
    diag_note(el->s, call->at, "the table is used here");
}

/* ---------------------------------------------------------------- cells */

/* Reads one cell at *p; leaves *p after its comma or at the end of the line. */
static struct cell
next_table_cell(const char *text, uint32_t *p, uint32_t end, bool *more)
{
    uint32_t i = *p, begin, stop;

    while (i < end && (text[i] == ' ' || text[i] == '\t'))
        i++;
    if (i < end && text[i] == '"') {
        begin = ++i;
        while (i < end && (text[i] != '"' || (i + 1 < end && text[i + 1] == '"')))
            i += text[i] == '"' ? 2 : 1;
        stop = i;
        while (i < end && text[i] != ',')
            i++;
    } else {
        begin = i;
        while (i < end && text[i] != ',')
            i++;
        stop = i;
        while (stop > begin && (text[stop - 1] == ' ' || text[stop - 1] == '\t'))
            stop--;
    }
    *more = i < end;
    *p = *more ? i + 1 : i;
    return (struct cell){ begin, stop };
}

/* A plain decimal number and nothing else; what strtod accepts beyond that (hexadecimal, inf, nan) is an error in a
 * table. */
static bool
cell_number(const char *text, struct cell c, double *x)
{
    char buffer[64], *end;
    uint32_t n = c.end - c.begin;

    if (!n || n >= sizeof buffer)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!strchr("0123456789+-.eE", text[c.begin + i]) || !text[c.begin + i])
            return false;
    memcpy(buffer, text + c.begin, n);
    buffer[n] = '\0';
    *x = strtod(buffer, &end);
    return *end == '\0' && isfinite(*x);
}

/* Is it a row of names? Decided by its first cell: not a number in any notation; if other cells are numbers, not even
 * the beginning of one, which would be a typing error. */
static bool
is_head(const char *text, const struct cell *cell, uint32_t n)
{
    char buffer[64], *end;
    size_t length = cell[0].end - cell[0].begin;
    bool numbers = false;
    double x;

    for (uint32_t k = 1; k < n; k++)
        numbers = numbers || cell_number(text, cell[k], &x);
    if (!length || length >= sizeof buffer)
        return true;
    memcpy(buffer, text + cell[0].begin, length);
    buffer[length] = '\0';
    strtod(buffer, &end); /* accepts also -inf, nan and hexadecimal numbers: errors, not names */
    if (end == buffer + length)
        return false;
    return !(numbers && strchr("0123456789+-.", buffer[0]));
}

static bool
read_row(elab *el, struct csv *t, const char *text, uint32_t from, uint32_t to, uint32_t line, const ast_expr *call)
{
    uint32_t n = 0, p = from;
    bool more = true;

    while (more) {
        vec_push(&t->cell, next_table_cell(text, &p, to, &more));
        n++;
    }
    vec_push(&t->line, line);
    if (!t->ncols)
        t->ncols = n;
    if (n == t->ncols)
        return true;
    diag_error(el->s, "table-row", (span){ t->file, from, to },
               "row %u of \"%s\" has %u column%s, the rows above have %u", line, t->name, n, n == 1 ? "" : "s",
               t->ncols);
    used_here(el, call);
    return false;
}

static bool
read_cells(elab *el, struct csv *t, const ast_expr *call)
{
    const char *text = source_text(el->s, t->file);
    size_t n = source_length(el->s, t->file);
    uint32_t line = 0, p = n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

    while (p < n) {
        const char *newline = memchr(text + p, '\n', n - p);
        uint32_t next = newline ? (uint32_t)(newline - text) + 1 : (uint32_t)n, end = newline ? next - 1 : next,
                 blank = p;

        line++;
        if (end > p && text[end - 1] == '\r')
            end--;
        while (blank < end && isspace((unsigned char)text[blank]))
            blank++;
        if (blank < end && !read_row(el, t, text, p, end, line, call))
            return false;
        p = next;
    }
    t->head = t->cell.n && is_head(text, t->cell.at, t->ncols);
    if (t->line.n > (t->head ? 1u : 0u))
        return true;
    diag_error(el->s, "table-empty", call->at, "the table \"%s\" has no rows of numbers", t->name);
    return false;
}

static struct csv *
open_csv(elab *el, const ast_expr *call, const char *name)
{
    const char *seen = path_beside(el, call->at.file, name), *path, *why, *found;
    struct csv_store *store = el->csv_store;
    uint32_t at;
    struct csv t = { .name = name };
    int file = -1;

    if (!store)
        store = el->csv_store = bg_calloc(1, sizeof *store);
    path = names_intern_z(el->names, seen != name || *name == '/' ? seen : arena_format(el->a, "./%s", seen));
    at = map_get(&store->by_path, map_ptr_key(path));
    if (at != MAP_NONE)
        return &store->file.at[at];
    found = find_named(el, call->call.arg[0]->at, name, seen, &why);
    if (found && (file = sources_read_as(el->s, found, path)) < 0)
        why = strerror(errno);
    if (why) {
        diag_error(el->s, "table-unreadable", call->call.arg[0]->at, "the table \"%s\" cannot be read: %s", name, why);
    } else if (file >= 0) {
        t.file = (uint32_t)file;
        t.ok = read_cells(el, &t, call);
    }
    map_set(&store->by_path, map_ptr_key(path), (uint32_t)store->file.n);
    vec_push(&store->file, t);
    return &store->file.at[store->file.n - 1];
}

/* ---------------------------------------------------------------- columns */

/* The name in a header cell, without its unit. */
static struct cell
head_name(const char *text, struct cell c)
{
    for (uint32_t i = c.begin; i < c.end; i++) {
        if (text[i] == '[') {
            c.end = i;
            while (c.end > c.begin && text[c.end - 1] == ' ')
                c.end--;
        }
    }
    return c;
}

/* The name in a header cell without quoting: doubled quotes, and the apostrophe before a name that a spreadsheet would
 * evaluate (base/quote.h). */
static const char *
cell_name(elab *el, const char *text, struct cell c)
{
    char *name = arena_alloc(el->a, c.end - c.begin + 1);
    size_t n = 0;

    if (c.end - c.begin > 1 && text[c.begin] == '\'' && strchr("=+-@", text[c.begin + 1]))
        c.begin++;
    for (uint32_t i = c.begin; i < c.end; i++) {
        name[n++] = text[i];
        i += text[i] == '"' && i + 1 < c.end && text[i + 1] == '"';
    }
    return name;
}

static uint32_t
find_column(elab *el, const struct csv *t, const char *name, double number, span at)
{
    const char *text = source_text(el->s, t->file), **list, *near;

    if (!name) {
        if (number >= 1 && number <= t->ncols && number == floor(number))
            return (uint32_t)number - 1;
        diag_error(el->s, "table-column", at, "\"%s\" has columns 1 to %u, no column %g", t->name, t->ncols, number);
        return NONE;
    }
    if (!t->head) {
        diag_error(el->s, "table-column", at, "\"%s\" has no head, so there is no column \"%s\"", t->name, name);
        diag_help(el->s, "Give the column's number, 1 to %u.", t->ncols);
        return NONE;
    }
    for (uint32_t k = 0; k < t->ncols; k++)
        if (!strcmp(cell_name(el, text, t->cell.at[k]), name) ||
            !strcmp(cell_name(el, text, head_name(text, t->cell.at[k])), name))
            return k;
    diag_error(el->s, "table-column", at, "\"%s\" has no column \"%s\"", t->name, name);
    list = bg_calloc(t->ncols, sizeof *list);
    for (uint32_t k = 0; k < t->ncols; k++)
        list[k] = cell_name(el, text, head_name(text, t->cell.at[k]));
    near = nearest_name(name, list, t->ncols);
    if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
    else
        diag_help(el->s, "Its first columns are \"%s\"%s%s%s.", list[0], t->ncols > 1 ? " and \"" : "",
                  t->ncols > 1 ? list[1] : "", t->ncols > 1 ? "\"" : "");
    free(list);
    return NONE;
}

/* The unit in a header cell, NULL if there is none; false after an error. */
static bool
header_unit(elab *el, const struct csv *t, uint32_t column, const ast_expr *call, const unit **u)
{
    const char *text = source_text(el->s, t->file), *why;
    struct cell c, name;
    char *written;

    *u = NULL;
    if (!t->head)
        return true;
    c = t->cell.at[column];
    name = head_name(text, c);
    while (name.end < c.end && text[name.end] != '[')
        name.end++;
    if (name.end >= c.end || text[c.end - 1] != ']')
        return true;
    written = arena_strndup(el->a, text + name.end + 1, c.end - name.end - 2);
    *u = unit_parse(el->u, written, &why);
    if (*u)
        return true;
    diag_error(el->s, "table-unit", cell_span(t, c), "column %u of \"%s\": %s", column + 1, t->name, why);
    used_here(el, call);
    return false;
}

static bool
read_column(elab *el, const struct csv *t, uint32_t column, const unit *u, double *to, const ast_expr *call)
{
    const char *text = source_text(el->s, t->file);
    size_t first = t->head, rows = t->line.n - first;

    for (size_t r = 0; r < rows; r++) {
        struct cell c = t->cell.at[(r + first) * t->ncols + column];
        double x;

        if (!cell_number(text, c, &x)) {
            diag_error(el->s, "table-number", cell_span(t, c), "row %u, column %u of \"%s\" is \"%s\", not a number",
                       t->line.at[r + first], column + 1, t->name, text_of(el, (span){ t->file, c.begin, c.end }));
            used_here(el, call);
            return false;
        }
        to[r] = u ? unit_scale(u) * x + unit_offset(u) : x;
    }
    return true;
}

/* Checks that x ascends; smooth: an x inside may occur twice, where the spline is divided. */
static bool
rises(elab *el, const struct csv *t, const double *x, bool smooth, const ast_expr *call)
{
    size_t first = t->head, rows = t->line.n - first;

    for (size_t r = 1; r < rows; r++) {
        if (x[r] > x[r - 1] || (smooth && rows > 2 && x[r] == x[r - 1] && (r < 2 || x[r - 1] > x[r - 2]) &&
                                (r + 1 == rows || x[r + 1] > x[r])))
            continue;
        diag_error(el->s, "table-order", cell_span(t, t->cell.at[(r + first) * t->ncols]),
                   "the first column of \"%s\" must rise from row to row; row %u does not, in column 1", t->name,
                   t->line.at[r + first]);
        used_here(el, call);
        return false;
    }
    return true;
}

/* The file name as the importing file would write it: a table of an imported file is named relative to that file. */
static const char *
first_arguments(elab *el, uint32_t file, const char *name, uint32_t column)
{
    const char *path = path_beside(el, file, name), *of_model = source_path(el->s, el->file->file),
               *slash = strrchr(of_model, '/');
    size_t n = slash ? (size_t)(slash - of_model) + 1 : 0;
    strbuf b = { 0 };
    const char *text;

    strbuf_puts(&b, "\"");
    for (const char *s = strncmp(path, of_model, n) == 0 ? path + n : path; *s; s++)
        strbuf_printf(&b, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    strbuf_printf(&b, "\", %u", column);
    text = arena_strdup(el->a, b.at);
    strbuf_free(&b);
    return text;
}

uint32_t
read_table(elab *el, const ast_expr *call, const char *file, const char *column, double number, span column_at,
           bool smooth, const unit **x_unit, const unit **y_unit)
{
    struct csv *t = open_csv(el, call, file);
    uint32_t k, made;
    size_t rows;
    double *x, *y;
    ex_table points;

    if (!t->ok)
        return NONE;
    k = find_column(el, t, column, number, column_at);
    if (k == NONE || !header_unit(el, t, 0, call, x_unit) || !header_unit(el, t, k, call, y_unit))
        return NONE;
    made = map_get(&t->column, (uint64_t)k << 1 | smooth);
    if (made != MAP_NONE)
        return made;
    rows = t->line.n - t->head;
    x = bg_calloc(rows, sizeof *x);
    y = bg_calloc(rows, sizeof *y);
    if (!read_column(el, t, 0, *x_unit, x, call) || !rises(el, t, x, smooth, call) ||
        !read_column(el, t, k, *y_unit, y, call)) {
        free(x);
        free(y);
        return NONE;
    }
    points = (ex_table){ .name = first_arguments(el, call->at.file, t->name, k + 1), .n = rows, .x = x, .y = y };
    made = smooth ? pool_add_spline(el->pool, points) : pool_add_table(el->pool, points);
    map_set(&t->column, (uint64_t)k << 1 | smooth, made);
    return made;
}

/* ---------------------------------------------------------------- two dimensions */

/* The units in brackets in the corner cell: of x, of y, of the values. False after an error. */
static bool
corner_units(elab *el, const struct csv *t, const ast_expr *call, const unit *u[3])
{
    const char *text = source_text(el->s, t->file), *why;
    struct cell c = t->cell.at[0];
    size_t n = 0;

    for (uint32_t i = c.begin; i < c.end; i++) {
        uint32_t close = i + 1;

        if (text[i] != '[')
            continue;
        while (close < c.end && text[close] != ']')
            close++;
        if (n == 3 || close == c.end) {
            diag_error(el->s, "table-unit", cell_span(t, c),
                       n == 3 ? "three units at most: of the first column, of the first row, of the values"
                              : "the `]` of this unit is missing");
            used_here(el, call);
            return false;
        }
        if (!(u[n++] = unit_parse(el->u, arena_strndup(el->a, text + i + 1, close - i - 1), &why))) {
            diag_error(el->s, "table-unit", (span){ t->file, i, close + 1 }, "the first cell of \"%s\": %s", t->name,
                       why);
            used_here(el, call);
            return false;
        }
        i = close;
    }
    return true;
}

static bool
plane_number(elab *el, const struct csv *t, size_t row, size_t column, const unit *u, double *x, const ast_expr *call)
{
    struct cell c = t->cell.at[row * t->ncols + column];

    if (!cell_number(source_text(el->s, t->file), c, x)) {
        diag_error(el->s, "table-number", cell_span(t, c), "row %u, column %zu of \"%s\" is \"%s\", not a number",
                   t->line.at[row], column + 1, t->name, text_of(el, (span){ t->file, c.begin, c.end }));
        used_here(el, call);
        return false;
    }
    if (u)
        *x = unit_scale(u) * *x + unit_offset(u);
    return true;
}

static bool
plane_rises(elab *el, const struct csv *t, const double *x, size_t n, bool column, const ast_expr *call)
{
    for (size_t k = 1; k < n; k++) {
        if (x[k] > x[k - 1])
            continue;
        diag_error(el->s, "table-order", cell_span(t, t->cell.at[column ? (k + 1) * t->ncols : k + 1]),
                   "the first %s of \"%s\" must rise from entry to entry", column ? "column" : "row", t->name);
        used_here(el, call);
        return false;
    }
    return true;
}

bool
read_plane(elab *el, const ast_expr *call, const char *file, plane *p)
{
    struct csv *t = open_csv(el, call, file);
    const unit *u[3] = { NULL, NULL, NULL };
    bool fine = t->ok && corner_units(el, t, call, u);

    if (!fine)
        return false;
    if (t->line.n < 2 || t->ncols < 2) {
        diag_error(el->s, "table-empty", call->at, "the table \"%s\" has no values besides its first row and column",
                   t->name);
        return false;
    }
    p->rows = t->line.n - 1;
    p->cols = t->ncols - 1;
    p->x = bg_calloc(p->rows, sizeof *p->x);
    p->y = bg_calloc(p->cols, sizeof *p->y);
    p->z = bg_calloc(p->rows * p->cols, sizeof *p->z);
    for (size_t j = 0; j < p->cols && fine; j++)
        fine = plane_number(el, t, 0, j + 1, u[1], &p->y[j], call);
    for (size_t i = 0; i < p->rows && fine; i++) {
        fine = plane_number(el, t, i + 1, 0, u[0], &p->x[i], call);
        for (size_t j = 0; j < p->cols && fine; j++)
            fine = plane_number(el, t, i + 1, j + 1, u[2], &p->z[i * p->cols + j], call);
    }
    fine = fine && plane_rises(el, t, p->x, p->rows, true, call) && plane_rises(el, t, p->y, p->cols, false, call);
    p->x_unit = u[0] ? unit_dimension(u[0]) : NULL;
    p->y_unit = u[1] ? unit_dimension(u[1]) : NULL;
    p->z_unit = u[2] ? unit_dimension(u[2]) : NULL;
    p->name = arena_format(el->a, "\"%s\"", t->name);
    return fine;
}

/* A whole file as a matrix; one row or one column is a vector. Units in its header are converted to SI and must have
 * one dimension. */
val
read_matrix(elab *el, const ast_expr *call, const char *file)
{
    struct csv *t = open_csv(el, call, file);
    uint32_t rows, cols = t->ncols;
    const unit *dimension = NULL;
    double *x;
    val v;

    if (!t->ok)
        return val_bad(el);
    rows = (uint32_t)(t->line.n - t->head);
    if ((uint64_t)rows * cols > MOST_ENTRIES) {
        diag_error(el->s, "model-size", call->at, "the matrix in \"%s\" has %llu entries; the most is %d", t->name,
                   (unsigned long long)rows * cols, MOST_ENTRIES);
        return val_bad(el);
    }
    if (!may_write_out(el, (uint64_t)rows * cols, call->at))
        return val_bad(el);
    x = bg_calloc(rows, sizeof *x);
    v = rows == 1 || cols == 1 ? matrix_of(el, 1, rows * cols, 1, NULL) : matrix_of(el, 2, rows, cols, NULL);
    v.fit = FIT_BARE;
    for (uint32_t k = 0; k < cols && !v.bad; k++) {
        const unit *u;

        if (!header_unit(el, t, k, call, &u) || !read_column(el, t, k, u, x, call)) {
            v.bad = true;
            break;
        }
        if (k && (u ? unit_dimension(u) : NULL) != dimension) {
            diag_error(el->s, "table-unit", cell_span(t, t->cell.at[k]),
                       "column %u of the matrix in \"%s\" has another unit than those before", k + 1, t->name);
            used_here(el, call);
            v.bad = true;
        }
        dimension = u ? unit_dimension(u) : NULL;
        for (uint32_t r = 0; r < rows; r++)
            v.m->at[(size_t)r * cols + k] = ex_const(el->pool, x[r]);
    }
    free(x);
    if (v.bad)
        return val_bad(el);
    if (dimension) {
        v.fit = FIT_UNIT;
        v.unit = dimension;
    }
    return v;
}
