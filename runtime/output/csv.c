/* csv.c - trajectories as columns of a CSV file */
#include <math.h>
#include <string.h>

#include "csv.h"
#include "json.h"

static void
put_head(FILE *out, const char *name, const char *unit_name)
{
    bool quote = strpbrk(name, ",\"\n") != NULL || (unit_name && strpbrk(unit_name, ",\""));

    if (quote)
        fputc('"', out);
    for (const char *s = name; *s; s++) {
        if (*s == '"')
            fputc('"', out);
        fputc(*s, out);
    }
    if (unit_name)
        fprintf(out, " [%s]", unit_name);
    if (quote)
        fputc('"', out);
}

static void
put_number(FILE *out, double x)
{
    char buffer[NUMBER_SIZE];

    if (isfinite(x))
        fputs(number_text(x, buffer), out);
}

void
csv_write(FILE *out, const columns *c)
{
    put_head(out, "time", "s");
    for (size_t k = 0; k < c->column.n; k++) {
        fputc(',', out);
        put_head(out, c->column.at[k].name, column_unit(&c->column.at[k]));
    }
    fputc('\n', out);
    for (size_t i = 0; i < c->points; i++) {
        put_number(out, c->time[i]);
        for (size_t k = 0; k < c->column.n; k++) {
            fputc(',', out);
            put_number(out, column_shown(&c->column.at[k], i));
        }
        fputc('\n', out);
    }
}
