/* cmd_mdk.c - bgc identify --mdk: mass, damping and stiffness matrices from data alone */
#include <math.h>
#include <string.h>

#include "identify_command.h"
#include "mdk.h"
#include "report.h"

static const char *const methods[] = {
    [MDK_PEM] = "pem", [MDK_VARIATIONAL] = "variational", [MDK_COMPANION] = "companion", [MDK_MODAL] = "modal"
};
enum { NMETHODS = sizeof methods / sizeof *methods };

/* Of the time between samples: deviations of the column time up to this are its rounding. */
static const double UNEVEN = 1e-3;
/* Of a matrix's greatest eigenvalue: a least one below this is zero except for rounding. */
static const double SEMIDEFINITE = 1e-9;
/* Share of the variance that a simulation leaves unexplained and that is reported: by how much it exceeds what noise
 * leaves, but at least the second, which is the accuracy of the simulation. */
static const double MORE_THAN_NOISE = 1.25, LEAST_UNEXPLAINED = 1e-6;

/* Number after the letter in a column's name (u3: 3), 0 for other names. */
static size_t
channel_number(const char *name, char letter)
{
    char *end;
    unsigned long k;

    if (name[0] != letter || name[1] < '1' || name[1] > '9')
        return 0;
    k = strtoul(name + 1, &end, 10);
    return *end || k > 10000 ? 0 : k;
}

/* Copies a column in SI. No cell may be missing. */
static int
take_channel(unit_system *units, const char *path, const measured *m, size_t column, double *to)
{
    const unit *u = NULL;
    char *why;

    if (!measured_unit(m, units, column, &u, &why)) {
        complain("%s: %s", path, why);
        free(why);
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < m->rows; i++) {
        double x = m->value[column * m->rows + i];

        if (isnan(x)) {
            complain("%s: line %u: the value of %s is missing; --mdk needs every sample", path, m->line[i],
                     m->name[column]);
            return STATUS_USAGE;
        }
        to[i] = u ? unit_scale(u) * x + unit_offset(u) : x;
    }
    return STATUS_DONE;
}

/* The step from the column time, if there is one; --step must agree with it. */
static int
find_step(const request *q, unit_system *units, const char *path, const measured *m, double *step)
{
    size_t column = measured_column(m, "time");
    double *t, mean;
    int status;

    *step = q->step;
    if (column == NO_INDEX && !(q->given & OPT(OPT_STEP))) {
        complain("%s has no column time: give the time between samples with --step", path);
        return STATUS_USAGE;
    }
    if (column == NO_INDEX || m->rows < 2)
        return STATUS_DONE;
    t = bg_malloc(m->rows * sizeof *t);
    if ((status = take_channel(units, path, m, column, t)) == STATUS_DONE) {
        mean = (t[m->rows - 1] - t[0]) / (double)(m->rows - 1);
        for (size_t i = 1; i < m->rows && status == STATUS_DONE; i++)
            if (!(fabs(t[i] - t[i - 1] - mean) <= UNEVEN * mean)) {
                complain("%s: line %u: the samples are not evenly spaced (%g s here, %g s on average)", path,
                         m->line[i], t[i] - t[i - 1], mean);
                status = STATUS_USAGE;
            }
        if (status == STATUS_DONE && (q->given & OPT(OPT_STEP)) && fabs(q->step - mean) > UNEVEN * mean) {
            complain("--step says %g s, the column time of %s %g s", q->step, path, mean);
            status = STATUS_USAGE;
        }
        *step = q->given & OPT(OPT_STEP) ? q->step : mean;
    }
    free(t);
    return status;
}

/* Sorts channels by number: forces into d->u and d->at, coordinates into d->y. Free the arrays. */
static int
gather_channels(const request *q, const char *path, const measured *m, mdk_data *d)
{
    unit_system *units = units_new();
    size_t *column_u, *column_y, forces = 0, coordinates = 0, *at, k = 0;
    double *u, *y;
    int status = STATUS_DONE;

    if (!units) {
        complain("the database of units (udunits2) cannot be read");
        return STATUS_FILE;
    }
    column_u = bg_calloc(10001, sizeof *column_u);
    column_y = bg_calloc(10001, sizeof *column_y);
    for (size_t c = 0; c < m->columns; c++) {
        size_t force = channel_number(m->name[c], 'u'), coordinate = channel_number(m->name[c], 'y');

        if (force)
            column_u[force] = c + 1, forces++;
        if (coordinate) {
            column_y[coordinate] = c + 1;
            coordinates = coordinate > coordinates ? coordinate : coordinates;
        }
    }
    d->n = coordinates;
    d->m = forces;
    d->samples = m->rows;
    d->u = u = bg_malloc((forces * m->rows + 1) * sizeof *u);
    d->y = y = bg_malloc((coordinates * m->rows + 1) * sizeof *y);
    d->at = at = bg_calloc(forces + 1, sizeof *at);
    if (!forces || !coordinates) {
        complain("%s needs columns u1, u2, ... (forces) and y1, y2, ... (displacements)", path);
        status = STATUS_USAGE;
    }
    for (size_t i = 1; i <= 10000 && status == STATUS_DONE; i++) {
        if (i <= coordinates && !column_y[i]) {
            complain("%s has y%zu but no y%zu", path, coordinates, i);
            status = STATUS_USAGE;
        } else if (i <= coordinates) {
            status = take_channel(units, path, m, column_y[i] - 1, y + (i - 1) * m->rows);
        }
        if (status == STATUS_DONE && column_u[i] && i > coordinates) {
            complain("%s: the force u%zu acts on y%zu, which the data do not have", path, i, i);
            status = STATUS_USAGE;
        } else if (status == STATUS_DONE && column_u[i]) {
            at[k] = i - 1;
            status = take_channel(units, path, m, column_u[i] - 1, u + k++ * m->rows);
        }
    }
    if (status == STATUS_DONE)
        status = find_step(q, units, path, m, &d->step);
    free(column_u);
    free(column_y);
    units_free(units);
    return status;
}

static void
put_matrix_json(json *j, const char *key, size_t n, const double *A)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(j, '[');
        for (size_t c = 0; c < n; c++)
            json_number(j, A[c * n + i]);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void
put_matrix_text(FILE *out, const char *head, size_t n, const double *A)
{
    table t = { .columns = (int)n };

    fprintf(out, "%s\n", head);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < n; c++)
            table_put(&t, "%.6g", A[c * n + i]);
    table_print(&t, out, "  ");
}

static int
write_matrices(const request *q, const mdk_result *r, const char *method)
{
    outfile out;

    if (!outfile_open(&out, q->text[OPT_OUTPUT]))
        return complain_file(q->text[OPT_OUTPUT]);
    if (q->json) {
        json j = { .out = out.out };

        json_open(&j, '{');
        put_matrix_json(&j, "M", r->n, r->M);
        put_matrix_json(&j, "D", r->n, r->D);
        put_matrix_json(&j, "K", r->n, r->K);
        json_key(&j, "cost"), json_number(&j, r->cost);
        json_key(&j, "positive_definite"), json_bool(&j, r->positive_definite);
        json_key(&j, "evaluations"), json_count(&j, r->evaluations);
        json_key(&j, "method"), json_string(&j, method);
        json_key(&j, "noise"), json_number(&j, r->noise);
        json_key(&j, "horizon"), json_count(&j, r->block_rows);
        json_close(&j, '}');
    } else {
        put_matrix_text(out.out, "mass M [kg]", r->n, r->M);
        put_matrix_text(out.out, "damping D [N.s/m]", r->n, r->D);
        put_matrix_text(out.out, "stiffness K [N/m]", r->n, r->K);
        fprintf(out.out, "cost %.6g (noise alone: about %.3g), %zu evaluations, method %s\n", r->cost, r->noise,
                r->evaluations, method);
    }
    return outfile_commit(&out) ? STATUS_DONE : complain_file(q->text[OPT_OUTPUT]);
}

/* Reports what makes the result invalid or doubtful. */
static int
judge_matrices(const request *q, const mdk_data *d, const mdk_result *r, const char *method)
{
    static const char *const name[] = { "mass", "damping", "stiffness" };
    int status = STATUS_DONE;

    for (int i = 0; i < 3; i++)
        if (!(r->lowest[i] > 0)) {
            complain(
                "the %s matrix by method %s is not positive definite: its least eigenvalue is %.3g of its greatest",
                name[i], method, r->lowest[i]);
            status = STATUS_NUMBERS;
        } else if (r->lowest[i] < SEMIDEFINITE && !q->quiet) {
            complain("the %s matrix is positive semidefinite only: the data contain a direction without %s", name[i],
                     name[i]);
        }
    if (!isfinite(r->cost)) {
        complain("the simulation with the matrices by method %s diverges", method);
        status = STATUS_NUMBERS;
    } else if (r->cost > fmax(MORE_THAN_NOISE * r->noise, LEAST_UNEXPLAINED) && !q->quiet) {
        complain("the simulation leaves %.3g of the variance unexplained, noise alone would leave about %.3g: the "
                 "steps of %g s are long for the fastest mode, more coordinates move than are measured, or the "
                 "system is not linear",
                 r->cost, r->noise, d->step);
    }
    return status;
}

int
identify_matrices(const request *q)
{
    const char *method = q->text[OPT_METHOD] ? q->text[OPT_METHOD] : methods[MDK_PEM], *near, *path;
    mdk_data d = { 0 };
    mdk_result r;
    measured m;
    char *why;
    int which = 0, status;

    while (which < NMETHODS && strcmp(methods[which], method))
        which++;
    if (which == NMETHODS) {
        near = nearest_name(method, methods, NMETHODS);
        complain("there is no method \"%s\"%s%s%s; there are pem, variational, companion and modal", method,
                 near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
        return STATUS_USAGE;
    }
    if (q->file.n || q->data.n != 1) {
        complain(q->file.n ? "--mdk takes no model: it finds the matrices from the data alone"
                           : "--mdk needs its data: --data FILE.csv");
        return STATUS_USAGE;
    }
    path = q->data.at[0];
    if ((status = read_data(path, &m)) == STATUS_DONE && (status = gather_channels(q, path, &m, &d)) == STATUS_DONE) {
        if (!mdk_identify(&d, (enum mdk_method)which, q->horizon, &r, &why)) {
            complain("%s: no estimate by method %s: %s", path, method, why);
            free(why);
            status = STATUS_NUMBERS;
        } else if ((status = write_matrices(q, &r, method)) == STATUS_DONE) {
            status = judge_matrices(q, &d, &r, method);
        }
        mdk_free(&r);
    }
    measured_free(&m);
    free((void *)d.u);
    free((void *)d.y);
    free((void *)d.at);
    return status;
}
