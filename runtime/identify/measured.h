/* measured.h - reads measured data from a CSV file: named columns with units, cells may be missing
 *
 * The first line is the header: `time [s], y_s [mm], ...`. Cells are separated by commas, semicolons or tabs (whichever
 * the header has) and may be quoted; an empty cell, NaN or NA is a missing value. Lines that are empty or begin with #
 * are skipped.
 */
#ifndef BG_MEASURED_H
#define BG_MEASURED_H

#include "units.h"

typedef struct measured {
    size_t rows, columns;
    char **name, **unit; /* [columns]; unit NULL where the header has none */
    double *value;       /* by columns [columns][rows], as written; NAN: missing */
    uint32_t *line;      /* [rows] line number in the file */
} measured;

/* text: contents of the file, terminated by 0. False: *why (free() it) says what is wrong in which line. Call
 * measured_free in any case. */
bool measured_read(const char *text, size_t length, measured *m, char **why);
void measured_free(measured *m);
/* Number of a column; NO_INDEX: there is none of that name. */
size_t measured_column(const measured *m, const char *name);
/* The unit in a column's header; NULL: there is none, values are SI. False: *why (free() it). */
bool measured_unit(const measured *m, unit_system *units, size_t column, const unit **u, char **why);
double measured_si(const unit *u, double value);

/* The rows in ascending order of time (column time or t), which must lie within start .. stop: order[rows]. False: *why
 * (free() it). */
struct timed {
    double t;
    size_t row;
};
bool measured_times(const measured *m, unit_system *units, double start, double stop, struct timed *order, char **why);

#endif
