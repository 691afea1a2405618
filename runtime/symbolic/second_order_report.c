/* second_order_report.c - see second_order_report.h */
#include "second_order_report.h"

#include <math.h>
#include <string.h>

#include "linear_symbolic.h"
#include "report.h"
#include "second_order.h"

/* relative to the greatest eigenvalue: more is positive, more than minus this is not negative */
#define POSITIVE 1e-10

static void
names_json(const linearization *l, const second_order *s, json *j)
{
    json_key(j, "coordinates");
    json_open(j, '[');
    for (size_t i = 0; i < s->n; i++) {
        char *name = second_order_name(l, s, i);

        json_string(j, name);
        free(name);
    }
    json_close(j, ']');
    json_key(j, "inputs");
    json_open(j, '[');
    for (size_t k = 0; k < l->input.n; k++)
        json_string(j, l->input.at[k].name);
    json_close(j, ']');
}

static void
put_values_json(json *j, const char *name, size_t rows, size_t columns, const double *A)
{
    json_key(j, name);
    json_open(j, '[');
    for (size_t i = 0; i < rows; i++) {
        json_open(j, '[');
        for (size_t k = 0; k < columns; k++)
            json_number(j, A[i + rows * k]);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void
numbers_json(const linearization *l, const char *experiment, const second_order *s, json *j)
{
    static const char *const name[] = { "M", "D", "K" };

    json_key(j, "model"), json_string(j, model_name(l->model));
    if (experiment)
        json_key(j, "experiment"), json_string(j, experiment);
    json_key(j, "time"), json_number(j, l->time);
    names_json(l, s, j);
    put_values_json(j, "M", s->n, s->n, s->M);
    put_values_json(j, "D", s->n, s->n, s->D);
    put_values_json(j, "K", s->n, s->n, s->K);
    put_values_json(j, "L", s->n, s->nu, s->L);
    if (s->integrals)
        put_values_json(j, "L_integral", s->n, s->nu, s->N);
    json_key(j, "symmetric");
    json_open(j, '{');
    for (int k = 0; k < 3; k++)
        json_key(j, name[k]), json_bool(j, s->symmetric[k]);
    json_close(j, '}');
    json_key(j, "positive_definite");
    json_open(j, '{');
    for (int k = 0; k < 3; k++)
        json_key(j, name[k]), json_bool(j, s->least[k] > POSITIVE);
    json_close(j, '}');
}

static void
put_named_matrix(FILE *out, const linearization *l, const second_order *s, const char *name, size_t columns,
                 const double *A)
{
    table t = { .columns = (int)columns + 1, .left = 1 };

    table_put(&t, "%s", name);
    for (size_t k = 0; k < columns; k++) {
        char *head = columns == s->n && A != s->L && A != s->N ? second_order_name(l, s, k)
                                                               : bg_strdup(l->input.at[k].name);

        table_put(&t, "%s", head);
        free(head);
    }
    for (size_t i = 0; i < s->n; i++) {
        char *row = second_order_name(l, s, i);

        table_put(&t, "%s", row);
        free(row);
        for (size_t k = 0; k < columns; k++)
            table_put(&t, "%.6g", A[i + s->n * k]);
    }
    table_print(&t, out, "");
    fputc('\n', out);
}

static void
numbers_text(const linearization *l, const second_order *s, FILE *out)
{
    static const char *const name[] = { "M", "D", "K" };

    fprintf(out, "M q'' + D q' + K q = L u%s at %.6g s, SI units; q: displacements of the inertias from there\n\n",
            s->integrals ? " + N (integral of u)" : "", l->time);
    put_named_matrix(out, l, s, "M", s->n, s->M);
    put_named_matrix(out, l, s, "D", s->n, s->D);
    put_named_matrix(out, l, s, "K", s->n, s->K);
    if (s->nu)
        put_named_matrix(out, l, s, "L", s->nu, s->L);
    if (s->integrals)
        put_named_matrix(out, l, s, "N", s->nu, s->N);
    for (int k = 0; k < 3; k++)
        fprintf(out, "%s is %s, %s\n", name[k], s->symmetric[k] ? "symmetric" : "not symmetric",
                s->least[k] > POSITIVE     ? "positive definite"
                : s->least[k] >= -POSITIVE ? "positive semidefinite"
                                           : "indefinite");
}

bool
second_order_report(const linearization *l, const char *experiment, bool symbolic, bool latex, FILE *out, json *j,
                    char **why)
{
    const char *const name[] = { "M", "D", "K", "L", j ? "L_integral" : "N" };
    structure_block block[5] = { 0 };
    second_order s;

    *why = NULL;
    second_order_make(l, &s);
    if (s.why)
        *why = bg_format("it is not of the form M q'' + D q' + K q = L u: %s", s.why);
    else if (symbolic || latex)
        second_order_write(l, &s, block, why);
    if (!*why && j) {
        json_open(j, '{');
        if (symbolic || latex)
            names_json(l, &s, j);
        else
            numbers_json(l, experiment, &s, j);
    } else if (!*why && !symbolic && !latex) {
        numbers_text(l, &s, out);
    }
    for (int k = 0; k < (s.integrals ? 5 : 4) && !*why && (symbolic || latex); k++)
        linear_symbolic_matrix(l, name[k], &block[k], latex, out, j);
    if (!*why && j)
        json_close(j, '}');
    for (int k = 0; k < 5; k++) {
        free(block[k].value);
        free(block[k].text);
    }
    second_order_free(&s);
    return !*why;
}
