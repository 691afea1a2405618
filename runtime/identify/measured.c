/* measured.c - see measured.h */
#include "measured.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "simulate.h"

/* Reads one cell without blanks and quotes around it; doubled quotes are kept. Moves *p behind the separator. */
static void
next_field(const char **p, const char *end, char separator, const char **from, const char **to, bool *more)
{
    const char *s = *p;

    while (s < end && (*s == ' ' || (*s == '\t' && separator != '\t')))
        s++;
    if (s < end && *s == '"') {
        *from = ++s;
        while (s < end && (*s != '"' || (s + 1 < end && s[1] == '"')))
            s += *s == '"' ? 2 : 1;
        *to = s < end ? s : end;
        while (s < end && *s != separator)
            s++;
    } else {
        *from = s;
        while (s < end && *s != separator)
            s++;
        *to = s;
        while (*to > *from && isspace((unsigned char)(*to)[-1]))
            --*to;
    }
    *more = s < end;
    *p = s + (s < end);
}

/* Start of the unit in a header; NULL: it has none. In `y[2] [mm]` the unit is mm: y[2] is an item of an array. */
static const char *
unit_bracket(const char *from, const char *to)
{
    const char *at = to;

    if (to == from || to[-1] != ']')
        return NULL;
    while (at > from && *at != '[')
        at--;
    if (*at != '[')
        return NULL;
    return at > from && !isspace((unsigned char)at[-1]) && strspn(at + 1, "0123456789,") == (size_t)(to - at - 2) ? NULL
                                                                                                                  : at;
}

static bool
read_head(const char *p, const char *end, char separator, measured *m, char **why)
{
    VEC(char *) name = { 0 }, in = { 0 };
    bool more = true;

    while (more) {
        const char *from, *to, *bracket;

        next_field(&p, end, separator, &from, &to, &more);
        bracket = unit_bracket(from, to);
        if (bracket) {
            const char *close = bracket;

            while (close > from && isspace((unsigned char)close[-1]))
                close--;
            vec_push(&name, bg_format("%.*s", (int)(close - from), from));
            vec_push(&in, bg_format("%.*s", (int)(to - bracket - 2), bracket + 1));
        } else {
            vec_push(&name, bg_format("%.*s", (int)(to - from), from));
            vec_push(&in, NULL);
        }
    }
    m->name = name.at;
    m->unit = in.at;
    m->columns = name.n;
    for (size_t c = 0; c < m->columns; c++)
        for (size_t k = 0; k < c; k++)
            if (*m->name[c] && !strcmp(m->name[c], m->name[k])) {
                *why = bg_format("two columns have the name \"%s\"", m->name[c]);
                return false;
            }
    return true;
}

static bool
read_cell_number(const char *from, const char *to, double *x)
{
    char *end;

    if (from == to || (to - from == 2 && !strncmp(from, "NA", 2)) || (to - from == 3 && !strncasecmp(from, "nan", 3))) {
        *x = NAN;
        return true;
    }
    if (isspace((unsigned char)*from))
        return false;
    *x = strtod(from, &end);
    return end == to && isfinite(*x);
}

bool
measured_read(const char *text, size_t length, measured *m, char **why)
{
    const char *p = text, *stop = text + length;
    VEC(double) cell = { 0 };
    VEC(uint32_t) at = { 0 };
    uint32_t line = 0;
    char separator = ',';
    bool fine = true;

    memset(m, 0, sizeof *m);
    *why = NULL;
    if (length >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3))
        p += 3;
    while (p < stop && fine) {
        const char *end = memchr(p, '\n', (size_t)(stop - p)), *next, *s = p;

        next = end ? end + 1 : stop;
        end = end ? end : stop;
        line++;
        while (end > p && isspace((unsigned char)end[-1]) && end[-1] != '\t')
            end--;
        while (s < end && isspace((unsigned char)*s))
            s++;
        if (s == end || *s == '#') {
            p = next;
            continue;
        }
        if (!m->columns) {
            if (memchr(p, ';', (size_t)(end - p)) && !memchr(p, ',', (size_t)(end - p)))
                separator = ';';
            else if (!memchr(p, ',', (size_t)(end - p)) && memchr(p, '\t', (size_t)(end - p)))
                separator = '\t';
            fine = read_head(p, end, separator, m, why);
        } else {
            size_t c = 0;
            bool more = true;

            while (more && fine) {
                const char *from, *to;
                double x;

                next_field(&p, end, separator, &from, &to, &more);
                if (c >= m->columns) {
                    *why = bg_format("line %u has more cells than the head has names (%zu)", line, m->columns);
                    fine = false;
                } else if (!read_cell_number(from, to, &x)) {
                    *why = bg_format("line %u, column %s: \"%.*s\" is not a number", line, m->name[c],
                                     (int)(to - from > 40 ? 40 : to - from), from);
                    fine = false;
                } else {
                    vec_push(&cell, x);
                    c++;
                }
            }
            if (fine && c < m->columns) {
                *why = bg_format("line %u has %zu cells, the head has %zu names", line, c, m->columns);
                fine = false;
            }
            vec_push(&at, line);
            m->rows++;
        }
        p = next;
    }
    if (fine && m->rows == 0) {
        *why = bg_format("there are no rows of numbers");
        fine = false;
    }
    m->line = at.at;
    if (fine) {
        m->value = bg_malloc(m->rows * m->columns * sizeof *m->value);
        for (size_t i = 0; i < m->rows; i++)
            for (size_t c = 0; c < m->columns; c++)
                m->value[c * m->rows + i] = cell.at[i * m->columns + c];
    }
    vec_free(&cell);
    return fine;
}

void
measured_free(measured *m)
{
    for (size_t c = 0; c < m->columns; c++) {
        free(m->name[c]);
        free(m->unit[c]);
    }
    free(m->name);
    free(m->unit);
    free(m->value);
    free(m->line);
    memset(m, 0, sizeof *m);
}

size_t
measured_column(const measured *m, const char *name)
{
    for (size_t c = 0; c < m->columns; c++)
        if (!strcmp(m->name[c], name))
            return c;
    return NO_INDEX;
}

bool
measured_unit(const measured *m, unit_system *units, size_t column, const unit **u, char **why)
{
    const char *what = NULL;

    *u = NULL;
    if (!m->unit[column] || (*u = unit_parse(units, m->unit[column], &what)))
        return true;
    *why = bg_format("column %s: in [%s], %s", m->name[column], m->unit[column], what ? what : "nothing is a unit");
    return false;
}

double
measured_si(const unit *u, double value)
{
    return u ? unit_scale(u) * value + unit_offset(u) : value;
}

static int
by_row_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    return x->t != y->t ? (x->t > y->t) - (x->t < y->t) : (x->row > y->row) - (x->row < y->row);
}

bool
measured_times(const measured *m, unit_system *units, double start, double stop, struct timed *order, char **why)
{
    size_t which = measured_column(m, "time");
    double slack = TIME_SLACK * (stop - start);
    const unit *u;

    if (which == NO_INDEX)
        which = measured_column(m, "t");
    if (which == NO_INDEX) {
        *why = bg_format("there is no column time");
        return false;
    }
    if (!measured_unit(m, units, which, &u, why))
        return false;
    for (size_t i = 0; i < m->rows; i++) {
        double t = measured_si(u, m->value[which * m->rows + i]);

        if (isnan(t)) {
            *why = bg_format("line %u has no time", m->line[i]);
            return false;
        }
        if (t < start - slack || t > stop + slack) {
            *why = bg_format("line %u: %g s is not within the experiment, %g .. %g s", m->line[i], t, start, stop);
            return false;
        }
        order[i] = (struct timed){ fmin(fmax(t, start), stop), i };
    }
    if (m->rows)
        qsort(order, m->rows, sizeof *order, by_row_time);
    return true;
}
