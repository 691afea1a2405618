/* cases.c - runs one test case file: `bg_cases [-w] BGC FILE`
 *
 * A case is a .bg file whose comment lines that begin in the first column with `// KEYWORD` say what to run and what
 * must come out:
 *
 *   // what     one sentence (required)
 *   // source   where the numbers come from (required)
 *   // example  NAME                     take ../../examples/NAME.bg; what this file holds beside comments
 *               (experiments) is appended
 *   // run      bgc run %s -e swing      begins a run; %s is the file, %o a path for a written model, %d one
 *                                        for a folder (%d/S1.bg a file in it); several runs a case
 *   // compare  COLUMN rel X abs Y UNIT; COLUMN rel X abs Y ...    columns of the run's CSV (or JSON, then SI)
 *   // expect   TIME V1 V2 ...           the compared columns at a time of the grid; `-` is not looked at
 *   // json     PATH == VALUE rel X      a value of the JSON written: == != < <= > >=; a.b[2].c, a[name=mass].index,
 *               list.length
 *   // exit     N                        exit status (0 if not said)
 *   // stderr   FILE                     all that was written to standard error, word for word (FILE beside the case;
 *               default NAME.txt);
 *                                        `...` in it stands for any text within a line, and alone on a line for any
 *                                        lines
 *   // stdout   FILE                     the same for standard output (default NAME.out)
 *   // limit    SECONDS                  of the run (default 60)
 *
 * The case runs in its own directory, so that messages name the file without a path; %o finds that directory's `parts`
 * beside it. With -w the texts of `stderr` and `stdout` are written instead of compared. A column agrees when it is
 * within the greater of `rel` times the expected value and `abs`.
 */
#include "child.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <libgen.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct column {
    char *name, *unit;
    double rel, abs;
};
struct row {
    int line;
    char *text;
}; /* of `expect`: numbers read when the columns are known */
struct check {
    int line;
    char *text;
}; /* of `json` */

struct run {
    int line;
    char *command;
    struct column *column;
    int ncolumns;
    struct row *row;
    int nrows;
    struct check *check;
    int nchecks;
    char *err_file, *out_file;
    int exit_status;
    double limit;
};

struct test {
    const char *file; /* within dir */
    char *dir, *name;
    bool what, source;
    char *example;
    bool has_text; /* anything that is not a comment or blank */
    struct run *run;
    int nruns;
    char *temp;  /* directory for %o and for a composed file */
    char *model; /* what %s stands for */
    int failures;
};

static void fail(struct test *t, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void
fail(struct test *t, int line, const char *fmt, ...)
{
    va_list ap;

    t->failures++;
    printf("%s:%d: ", t->file, line);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

/* ---------------------------------------------------------------- reading the case */

static char *
trimmed(const char *s, size_t n)
{
    char *c;

    while (n && isspace((unsigned char)*s))
        s++, n--;
    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    c = allocate(n + 1);
    memcpy(c, s, n);
    return c;
}

/* The number behind ` word ` in s, which is cut off there. False if it is not there. */
static bool
take_number(char *s, const char *word, double *value, char **rest)
{
    char *at = NULL, *end;

    for (char *p = strstr(s, word); p; p = strstr(p + 1, word))
        at = p; /* the last one: a column's name may hold anything */
    if (!at)
        return false;
    *value = strtod(at + strlen(word), &end);
    if (end == at + strlen(word))
        return false;
    *at = 0;
    *rest = end;
    return true;
}

static void
read_columns(struct test *t, struct run *r, int line, const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ";");
        char *one = trimmed(list, n), *rest = NULL, *unit;
        struct column c = { 0 };

        list += n + (list[n] == ';');
        if (!*one) {
            free(one);
            continue;
        }
        if (!take_number(one, " abs ", &c.abs, &rest)) {
            fail(t, line, "compare: no `abs NUMBER` in `%s`", one);
            free(one);
            continue;
        }
        unit = trimmed(rest, strlen(rest));
        if (!take_number(one, " rel ", &c.rel, &rest)) {
            fail(t, line, "compare: no `rel NUMBER` in `%s`", one);
            free(unit);
            free(one);
            continue;
        }
        c.unit = unit;
        c.name = trimmed(one, strlen(one));
        free(one);
        r->column = resize(r->column, ((size_t)r->ncolumns + 1) * sizeof c);
        r->column[r->ncolumns++] = c;
    }
}

static void
read_directive(struct test *t, int line, const char *word, char *rest)
{
    struct run *r = t->nruns ? &t->run[t->nruns - 1] : NULL;

    if (strcmp(word, "what") == 0) {
        t->what = *rest != 0;
    } else if (strcmp(word, "source") == 0) {
        t->source = *rest != 0;
    } else if (strcmp(word, "example") == 0) {
        free(t->example);
        t->example = trimmed(rest, strlen(rest));
    } else if (strcmp(word, "run") == 0) {
        t->run = resize(t->run, ((size_t)t->nruns + 1) * sizeof *t->run);
        r = &t->run[t->nruns++];
        *r = (struct run){ .line = line, .command = trimmed(rest, strlen(rest)), .limit = 60 };
    } else if (!r) {
        fail(t, line, "`%s` before the first `run`", word);
    } else if (strcmp(word, "compare") == 0) {
        read_columns(t, r, line, rest);
    } else if (strcmp(word, "expect") == 0) {
        r->row = resize(r->row, ((size_t)r->nrows + 1) * sizeof *r->row);
        r->row[r->nrows++] = (struct row){ line, trimmed(rest, strlen(rest)) };
    } else if (strcmp(word, "json") == 0) {
        r->check = resize(r->check, ((size_t)r->nchecks + 1) * sizeof *r->check);
        r->check[r->nchecks++] = (struct check){ line, trimmed(rest, strlen(rest)) };
    } else if (strcmp(word, "exit") == 0) {
        r->exit_status = atoi(rest);
    } else if (strcmp(word, "limit") == 0) {
        r->limit = strtod(rest, NULL);
    } else if (strcmp(word, "stderr") == 0) {
        r->err_file = *rest ? trimmed(rest, strlen(rest)) : format("%s.txt", t->name);
    } else if (strcmp(word, "stdout") == 0) {
        r->out_file = *rest ? trimmed(rest, strlen(rest)) : format("%s.out", t->name);
    }
}

static bool
is_directive(const char *word)
{
    static const char *const all[] = { "what", "source", "example", "run",    "compare", "expect",
                                       "json", "exit",   "limit",   "stderr", "stdout" };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(word, all[i]) == 0)
            return true;
    return false;
}

static void
read_case(struct test *t, const char *s)
{
    for (int line = 1; *s; line++) {
        size_t n = strcspn(s, "\n");
        const char *p = s;

        if (n >= 3 && memcmp(s, "// ", 3) == 0) {
            char *body = trimmed(s + 3, n - 3), word[16];
            size_t k = strcspn(body, " \t");

            if (k < sizeof word) {
                char *rest = trimmed(body + k, strlen(body + k));

                memcpy(word, body, k);
                word[k] = 0;
                if (is_directive(word))
                    read_directive(t, line, word, rest);
                free(rest);
            }
            free(body);
        } else {
            while (p < s + n && isspace((unsigned char)*p))
                p++;
            if (p < s + n && !(p + 1 < s + n && p[0] == '/' && p[1] == '/'))
                t->has_text = true;
        }
        s += n + (s[n] == '\n');
    }
    if (!t->what)
        fail(t, 1, "no `// what`: say what this case shows");
    if (!t->source)
        fail(t, 1, "no `// source`: say where the numbers come from");
    if (!t->nruns)
        fail(t, 1, "no `// run`");
    for (int i = 0; i < t->nruns; i++)
        if (t->run[i].nrows && !t->run[i].ncolumns)
            fail(t, t->run[i].line, "`expect` without `compare`");
}

/* ---------------------------------------------------------------- trajectories */

struct series {
    char *name, *unit;
    double *value;
}; /* unit NULL: not known (JSON) */
struct trajectory {
    size_t n;
    double *time;
    struct series *series;
    size_t nseries;
};

static void
trajectory_free(struct trajectory *j)
{
    for (size_t i = 0; i < j->nseries; i++) {
        free(j->series[i].name);
        free(j->series[i].unit);
        free(j->series[i].value);
    }
    free(j->series);
    free(j->time);
    memset(j, 0, sizeof *j);
}

/* One field of a line of CSV; *s moves behind its comma. free() it. */
static char *
csv_field(const char **s)
{
    const char *p = *s;
    char *f = allocate(strcspn(p, "\n") + 1);
    size_t n = 0;

    if (*p == '"') {
        for (p++; *p && *p != '\n'; p++) {
            if (*p == '"' && *++p != '"')
                break;
            f[n++] = *p;
        }
    }
    while (*p && *p != ',' && *p != '\n' && *p != '\r')
        f[n++] = *p++;
    *s = p + (*p == ',');
    return f;
}

/* `name [unit]` in place */
static void
split_head(struct series *c, char *head)
{
    size_t n = strlen(head);
    char *open = strrchr(head, '[');

    if (n && head[n - 1] == ']' && open && open > head && open[-1] == ' ') {
        c->unit = trimmed(open + 1, (size_t)(head + n - 1 - open - 1));
        c->name = trimmed(head, (size_t)(open - head));
    } else {
        c->unit = trimmed("", 0);
        c->name = trimmed(head, n);
    }
}

static bool
read_csv(const char *s, struct trajectory *j)
{
    size_t lines = 0, columns = 0, row = 0;
    const char *end = s + strcspn(s, "\n");

    for (const char *p = s; *p; p++)
        lines += *p == '\n';
    for (const char *p = s; p < end && *p != '\r';) {
        char *head = csv_field(&p);

        j->series = resize(j->series, (columns + 1) * sizeof *j->series);
        memset(&j->series[columns], 0, sizeof *j->series);
        split_head(&j->series[columns], head);
        j->series[columns].value = allocate((lines + 1) * sizeof(double));
        j->nseries = ++columns;
        free(head);
    }
    if (!columns || strcmp(j->series[0].name, "time") != 0)
        return false;
    for (s = *end ? end + 1 : end; *s; row++) {
        for (size_t i = 0; i < columns; i++) {
            char *field = csv_field(&s), *stop;

            j->series[i].value[row] = strtod(field, &stop);
            if (stop == field)
                j->series[i].value[row] = NAN;
            free(field);
        }
        s += strcspn(s, "\n");
        s += *s == '\n';
    }
    j->n = row;
    j->time = allocate((row + 1) * sizeof(double));
    memcpy(j->time, j->series[0].value, row * sizeof(double));
    return true;
}

static double *
json_numbers(const cJSON *list, size_t *n)
{
    const cJSON *e;
    double *v;

    *n = (size_t)cJSON_GetArraySize(list);
    v = allocate((*n + 1) * sizeof *v);
    *n = 0;
    cJSON_ArrayForEach(e, list) v[(*n)++] = cJSON_IsNumber(e) ? e->valuedouble : NAN;
    return v;
}

static bool
read_json_trajectory(const cJSON *root, struct trajectory *j)
{
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(root, "time"), *e;

    if (!cJSON_IsArray(time))
        return false;
    j->time = json_numbers(time, &j->n);
    cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(root, "columns"))
    {
        size_t n;
        double *v = json_numbers(e, &n);

        v = resize(v, (j->n + 1) * sizeof *v);
        for (; n < j->n; n++)
            v[n] = NAN;
        j->series = resize(j->series, (j->nseries + 1) * sizeof *j->series);
        j->series[j->nseries++] = (struct series){ trimmed(e->string, strlen(e->string)), NULL, v };
    }
    return true;
}

static const struct series *
find_series(struct test *t, const struct run *r, const struct trajectory *j, const struct column *c)
{
    for (size_t i = 0; i < j->nseries; i++) {
        if (strcmp(j->series[i].name, c->name) != 0)
            continue;
        if (j->series[i].unit && strcmp(j->series[i].unit, c->unit) != 0)
            fail(t, r->line, "column `%s` is in [%s], the case compares in [%s]", c->name, j->series[i].unit, c->unit);
        return &j->series[i];
    }
    fail(t, r->line, "there is no column `%s`; there are:", c->name);
    for (size_t i = 0; i < j->nseries; i++)
        printf("    %s\n", j->series[i].name);
    return NULL;
}

static void
compare_row(struct test *t, const struct run *r, const struct row *row, const struct trajectory *j,
            const struct series *const *series)
{
    char *p = row->text, *end;
    double time = strtod(p, &end);
    size_t at = 0;
    int i = 0;

    if (end == p) {
        fail(t, row->line, "expect: a time was expected at `%s`", p);
        return;
    }
    for (size_t k = 1; k < j->n; k++)
        if (fabs(j->time[k] - time) < fabs(j->time[at] - time))
            at = k;
    if (!j->n || fabs(j->time[at] - time) > 1e-9 * fmax(1e-6, fabs(time))) {
        fail(t, row->line, "time %.12g is not on the grid%s", time, j->n ? "" : ": no rows");
        if (j->n)
            printf("    the nearest of %zu times from %.12g to %.12g is %.12g\n", j->n, j->time[0], j->time[j->n - 1],
                   j->time[at]);
        return;
    }
    for (p = end; i < r->ncolumns; i++, p = end) {
        const struct column *c = &r->column[i];
        double want, have, allowed;

        while (*p == ' ' || *p == '\t')
            p++;
        if (*p == '-' && (!p[1] || isspace((unsigned char)p[1]))) {
            end = p + 1;
            continue;
        }
        want = strtod(p, &end);
        if (end == p) {
            fail(t, row->line, "expect: %d numbers are needed, %d are there", r->ncolumns, i);
            return;
        }
        if (!series[i])
            continue;
        have = series[i]->value[at];
        allowed = fmax(c->rel * fabs(want), c->abs);
        if (!(fabs(have - want) <= allowed))
            fail(t, row->line, "at %.12g `%s` is %.15g, expected %.15g: off by %.3g, allowed %.3g %s", time, c->name,
                 have, want, fabs(have - want), allowed, c->unit);
    }
    while (isspace((unsigned char)*p))
        p++;
    if (*p)
        fail(t, row->line, "expect: more than %d numbers", r->ncolumns);
}

static void
compare_rows(struct test *t, const struct run *r, const text *out, const cJSON *root)
{
    struct trajectory j = { 0 };

    if (root ? read_json_trajectory(root, &j) : read_csv(out->at, &j)) {
        const struct series **series = allocate(((size_t)r->ncolumns + 1) * sizeof *series);

        for (int i = 0; i < r->ncolumns; i++)
            series[i] = find_series(t, r, &j, &r->column[i]);
        for (int i = 0; i < r->nrows; i++)
            compare_row(t, r, &r->row[i], &j, series);
        free(series);
    } else {
        fail(t, r->line, "standard output is no table with the column `time` (nor JSON with it): `%.60s`", out->at);
    }
    trajectory_free(&j);
}

/* ---------------------------------------------------------------- values of JSON */

/* The bracket that closes the one p begins with: `[target=drag[3]]` has one inside. NULL: none. */
static char *
closing(char *p)
{
    int open = 0;

    for (; *p; p++) {
        open += (*p == '[') - (*p == ']');
        if (!open)
            return p;
    }
    return NULL;
}

/* The next step of a path from `at`: `.name`, `[3]`, `[key=text]`. *p moves behind it. NULL if it is not there; a
 * list's or text's `.length` is a number in *length. */
static const cJSON *
json_step(const cJSON *at, char **p, cJSON *length)
{
    if (**p == '[') {
        char *close = closing(*p), *equals;
        const cJSON *e, *found = NULL;

        if (!close)
            return NULL;
        *close = 0;
        equals = strchr(*p, '=');
        if (!equals) {
            char *number = *p + 1;

            found = cJSON_GetArrayItem(at, atoi(number));
        } else {
            *equals = 0;
            cJSON_ArrayForEach(e, at)
            {
                const cJSON *key = cJSON_GetObjectItemCaseSensitive(e, *p + 1);

                if (cJSON_IsString(key) && strcmp(key->valuestring, equals + 1) == 0) {
                    found = e;
                    break;
                }
            }
        }
        *p = close + 1;
        return found;
    }
    if (**p == '.')
        ++*p;

    size_t n = strcspn(*p, ".[");
    char *name = trimmed(*p, n);
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(at, name);

    *p += n;
    if (!found && strcmp(name, "length") == 0 && (cJSON_IsArray(at) || cJSON_IsObject(at))) {
        memset(length, 0, sizeof *length);
        length->type = cJSON_Number;
        length->valuedouble = cJSON_GetArraySize(at);
        found = length;
    }
    free(name);
    return found;
}

static bool
json_agrees(const cJSON *have, const char *op, const cJSON *want, double rel, double abs)
{
    bool numbers = cJSON_IsNumber(have) && cJSON_IsNumber(want);
    double a = have->valuedouble, b = want->valuedouble;
    bool equal = numbers ? fabs(a - b) <= fmax(rel * fabs(b), abs) : (bool)cJSON_Compare(have, want, 1);

    if (strcmp(op, "==") == 0)
        return equal;
    if (strcmp(op, "!=") == 0)
        return !equal;
    if (!numbers)
        return false;
    return op[0] == '<' ? a < b || (op[1] == '=' && equal) : a > b || (op[1] == '=' && equal);
}

static void
check_json(struct test *t, const struct check *c, const cJSON *root)
{
    static const char *const ops[] = { " == ", " != ", " <= ", " >= ", " < ", " > " };
    char *line = trimmed(c->text, strlen(c->text)), *at = NULL, *p = line;
    const char *op = NULL, *rest;
    const cJSON *have = root;
    cJSON *want, length;
    double rel = 0, abs = 0;

    for (size_t i = 0; i < sizeof ops / sizeof ops[0] && !at; i++) {
        at = strstr(line, ops[i]);
        op = ops[i];
    }
    if (!at) {
        fail(t, c->line, "json: `PATH == VALUE` was expected");
        free(line);
        return;
    }
    char sign[3] = { op[1], op[2] == ' ' ? 0 : op[2], 0 };
    *at = 0;
    want = cJSON_ParseWithOpts(at + strlen(op), &rest, 0);
    if (!want) {
        fail(t, c->line, "json: `%s` is no JSON value", at + strlen(op));
        free(line);
        return;
    }
    if (strstr(rest, "rel "))
        rel = strtod(strstr(rest, "rel ") + 4, NULL);
    if (strstr(rest, "abs "))
        abs = strtod(strstr(rest, "abs ") + 4, NULL);

    char *path = format("%s", line); /* the steps cut line up */
    while (have && *p)
        have = json_step(have, &p, &length);
    if (!have) {
        fail(t, c->line, "the JSON has no `%s`", path);
    } else if (!json_agrees(have, sign, want, rel, abs)) {
        char *is = have == &length        ? format("%g", length.valuedouble)
                   : cJSON_IsNumber(have) ? format("%.15g", have->valuedouble)
                                          : cJSON_PrintUnformatted(have);

        fail(t, c->line, "`%s` is %s, expected %s %s", path, is, sign, at + strlen(op));
        free(is);
    }
    cJSON_Delete(want);
    free(path);
    free(line);
}

/* ---------------------------------------------------------------- one run */

/* The words of the command with bgc, %s, %o and %d put in; each to free(). */
static char **
command(struct test *t, const struct run *r, const char *bgc)
{
    char *line = trimmed(r->command, strlen(r->command));
    int n;
    char **w = words(line, &n), **argv = allocate(((size_t)n + 1) * sizeof *argv);

    if (n == 0 || strcmp(w[0], "bgc") != 0)
        fail(t, r->line, "run: `bgc ...` was expected");
    for (int i = 0; i < n; i++) {
        if (i == 0)
            argv[i] = format("%s", bgc);
        else if (strcmp(w[i], "%s") == 0)
            argv[i] = format("%s", t->model);
        else if (strcmp(w[i], "%o") == 0)
            argv[i] = format("%s/out.bg", t->temp);
        else if (strncmp(w[i], "%d", 2) == 0 && (w[i][2] == '\0' || w[i][2] == '/'))
            argv[i] = format("%s/out%s", t->temp, w[i] + 2);
        else
            argv[i] = format("%s", w[i]);
    }
    free(w);
    free(line);
    return argv;
}

static void
compare_text(struct test *t, const struct run *r, const char *file, const text *have, const char *label, bool write)
{
    char *path = format("%s/%s", t->dir, file);
    text want;

    if (write && access(path, F_OK) == 0 && file_read(path, &want)) {
        write = !lines_agree(want.at, have->at); /* what agrees keeps its `...` */
        free(want.at);
    }
    if (write) {
        if (!file_write(path, have->at, have->n))
            t->failures++;
    } else if (!file_read(path, &want)) {
        fail(t, r->line, "%s: nothing to compare %s with", file, label);
    } else {
        if (!lines_agree(want.at, have->at)) {
            fail(t, r->line, "%s is not as in %s", label, file);
            show_difference(label, want.at, have->at);
        }
        free(want.at);
    }
    free(path);
}

static void
run_one(struct test *t, const struct run *r, const char *bgc, bool write)
{
    char **argv = command(t, r, bgc);
    int before = t->failures;
    child_result c;

    if (t->failures == before && child_run(argv, t->dir, r->limit, false, &c)) {
        cJSON *root = NULL;

        if (c.status < 0)
            fail(t, r->line, "`%s` %s", r->command, c.why);
        else if (c.status != r->exit_status)
            fail(t, r->line, "`%s` ended with status %d, expected %d", r->command, c.status, r->exit_status);
        else if (child_sanitizer(&c))
            fail(t, r->line, "`%s`: a sanitizer reports", r->command);
        if (r->err_file)
            compare_text(t, r, r->err_file, &c.err, "standard error", write);
        if (r->out_file)
            compare_text(t, r, r->out_file, &c.out, "standard output", write);
        if (r->nchecks || (r->nrows && c.out.at[0] == '{')) {
            root = cJSON_Parse(c.out.at);
            if (!root)
                fail(t, r->line, "standard output is no JSON: `%.60s`", c.out.at);
        }
        if (r->nrows && (root || c.out.at[0] != '{'))
            compare_rows(t, r, &c.out, root);
        for (int i = 0; i < r->nchecks && root; i++)
            check_json(t, &r->check[i], root);
        if (t->failures > before && c.err.n)
            printf("  standard error:\n%.4000s", c.err.at);
        cJSON_Delete(root);
        child_free(&c);
    } else if (t->failures == before) {
        fail(t, r->line, "`%s` could not be started", r->command);
    }
    for (char **a = argv; *a; a++)
        free(*a);
    free(argv);
}

/* ---------------------------------------------------------------- the whole case */

/* What %s stands for: the case itself, the example, or the example followed by the case. */
static bool
choose_model(struct test *t, const text *own)
{
    char *path;
    text example;
    bool ok;

    if (!t->example) {
        t->model = format("%s", t->file);
        return true;
    }
    path = format("%s/../../examples/%s.bg", t->dir, t->example);
    if (!t->has_text) {
        free(path);
        t->model = format("../../examples/%s.bg", t->example);
        return true;
    }
    ok = file_read(path, &example);
    free(path);
    if (!ok)
        return false;
    t->model = format("%s/%s.bg", t->temp, t->example);

    char *all = format("%s\n%s", example.at, own->at);
    ok = file_write(t->model, all, strlen(all));
    free(all);
    free(example.at);
    return ok;
}

/* What a model imports from `parts` is there for a written one too. */
static void
link_parts(const struct test *t)
{
    char *parts = format("%s/parts", t->dir), *real = realpath(parts, NULL), *link = format("%s/parts", t->temp);

    if (real && symlink(real, link) != 0)
        perror(link);
    free(parts);
    free(real);
    free(link);
}

int
main(int argc, char **argv)
{
    bool write = argc > 1 && strcmp(argv[1], "-w") == 0;
    struct test t = { 0 };
    char *bgc, *directory, *base;
    text own;

    if (argc != 3 + write) {
        fputs("usage: bg_cases [-w] BGC FILE\n", stderr);
        return 2;
    }
    bgc = realpath(argv[1 + write], NULL);
    if (!bgc) {
        perror(argv[1 + write]);
        return 2;
    }
    directory = format("%s", argv[2 + write]);
    base = format("%s", argv[2 + write]);
    t.dir = dirname(directory);
    t.file = basename(base);
    t.name = format("%.*s", (int)strcspn(t.file, "."), t.file);
    t.temp = temp_directory();
    link_parts(&t);
    if (!file_read(argv[2 + write], &own))
        return 2;
    read_case(&t, own.at);
    if (t.failures == 0 && !choose_model(&t, &own))
        t.failures++;
    for (int i = 0; i < t.nruns && t.model; i++)
        run_one(&t, &t.run[i], bgc, write);
    if (t.failures)
        printf("%s: %d failure%s\n", t.file, t.failures, t.failures == 1 ? "" : "s");

    for (int i = 0; i < t.nruns; i++) {
        struct run *r = &t.run[i];

        for (int k = 0; k < r->ncolumns; k++) {
            free(r->column[k].name);
            free(r->column[k].unit);
        }
        for (int k = 0; k < r->nrows; k++)
            free(r->row[k].text);
        for (int k = 0; k < r->nchecks; k++)
            free(r->check[k].text);
        free(r->column);
        free(r->row);
        free(r->check);
        free(r->command);
        free(r->err_file);
        free(r->out_file);
    }
    free(t.run);
    tree_remove(t.temp);
    free(t.temp);
    free(t.model);
    free(t.example);
    free(t.name);
    free(own.at);
    free(directory);
    free(base);
    free(bgc);
    return t.failures ? 1 : 0;
}
