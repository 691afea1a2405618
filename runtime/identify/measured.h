/* measured.h - measured data from a CSV file: named columns with units, cells that may be missing
 *
 * The first line is the head: `time [s], y_s [mm], ...`. Cells are separated by commas, semicolons or tabs (whichever
 * the head has), may be quoted; an empty cell, NaN or NA is a value that was not measured. Lines that are empty or
 * begin with # are skipped.
 */
#ifndef BG_MEASURED_H
#define BG_MEASURED_H

#include "units.h"

typedef struct measured {
    size_t rows, columns;
    char **name, **unit; /* [columns]; unit NULL where the head has none */
    double *value;       /* by columns [columns][rows], as written; NAN: missing */
    uint32_t *line;      /* [rows] in the file */
} measured;

/* text: the file's, ended by 0. False: *why says what is wrong at which line (free it). measured_free in any case. */
bool measured_read(const char *text, size_t length, measured *m, char **why);
void measured_free(measured *m);
/* Number of a column, NO_INDEX without one of that name. */
size_t measured_column(const measured *m, const char *name);
/* The unit in a column's head; NULL without one: values are SI. False: *why (free it). */
bool measured_unit(const measured *m, unit_system *units, size_t column, const unit **u, char **why);
double measured_si(const unit *u, double value);

/* The rows in order of their times (column time or t), which must lie within start .. stop: order[rows]. False: *why
 * (free it). */
struct timed {
    double t;
    size_t row;
};
bool measured_times(const measured *m, unit_system *units, double start, double stop, struct timed *order, char **why);

#endif
