/* csv.c - trajectories as columns of a CSV file */
#include <math.h>

#include "csv.h"
#include "json.h"
#include "quote.h"

static void
put_column_head(FILE *out, const char *name, const char *unit_name)
{
    char *head = unit_name ? bg_format("%s [%s]", name, unit_name) : bg_strdup(name), *cell = quoted(QUOTE_CSV, head);

    fputs(cell, out);
    free(head);
    free(cell);
}

static void
put_csv_number(FILE *out, double x)
{
    char buffer[NUMBER_SIZE];

    if (isfinite(x))
        fputs(number_text(x, buffer), out);
}

void
csv_write(FILE *out, const columns *c)
{
    put_column_head(out, "time", "s");
    for (size_t k = 0; k < c->column.n; k++) {
        fputc(',', out);
        put_column_head(out, c->column.at[k].name, column_unit(&c->column.at[k]));
    }
    fputc('\n', out);
    for (size_t i = 0; i < c->points; i++) {
        put_csv_number(out, c->time[i]);
        for (size_t k = 0; k < c->column.n; k++) {
            fputc(',', out);
            put_csv_number(out, column_shown(&c->column.at[k], i));
        }
        fputc('\n', out);
    }
}
