/* linear_report_text.c - linear models as text for people: see linear_report.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "effects.h"
#include "hamiltonian.h"
#include "linear_report_inside.h"
#include "norms.h"
#include "report.h"
#include "model_graph.h"

/* Greatest number of conditions that are listed, and of states for which matrices are printed. */
enum { CONDITIONS_SHOWN = 12, TEXT_MOST = 12 };
/* Of the greatest eigenvalue: effects that differ by less are equal, and one table shows both. */
static const double SAME_EFFECT = 1e-9;
/* Relative: a greater difference between the structured form and the Jacobian is reported. */
static const double MISMATCH = 1e-8;

static void
conditions_text(const linearization *l, FILE *out)
{
    const double *value = model_modes(l->model);
    size_t n = 0;

    for (size_t k = 0; k < model_nmodes(l->model); k++) {
        struct model_mode m = model_mode(l->model, k);
        int line = 0, column;

        if (!linear_is_condition(&m) || n++ >= CONDITIONS_SHOWN)
            continue;
        if (span_known(m.at))
            source_place(model_sources(l->model), m.at.file, m.at.begin, &line, &column);
        fprintf(out, "%s %s: %s (line %d)\n", n == 1 ? "in the modes that hold there:" : "                            ",
                m.text, value[k] != 0 ? "yes" : "no", line);
    }
    if (n > CONDITIONS_SHOWN)
        fprintf(out, "                             %zu more\n", n - CONDITIONS_SHOWN);
}

static void
put_complex(table *t, double complex z)
{
    if (cimag(z) == 0)
        table_put(t, "%.6g", creal(z));
    else
        table_put(t, "%.6g %c %.6gi", creal(z), cimag(z) < 0 ? '-' : '+', fabs(cimag(z)));
}

static void
modes_text(const linearization *l, FILE *out)
{
    table t = { .columns = 6, .left = 1 };
    const modes *m = &l->modes;
    static const char *const head[] = { "mode",    "eigenvalue [1/s]",  "frequency [Hz]",
                                        "damping", "time constant [s]", "mostly" };

    for (size_t k = 0; k < 6; k++)
        table_put(&t, "%s", head[k]);
    t.tail = true;
    for (size_t i = 0; i < m->count; i++) {
        double complex z = m->eigenvalue[i];
        size_t best = 0;

        for (size_t k = 0; k < m->n; k++)
            if (cabs(linear_participation(m, i, k)) > CLEARLY_GREATER * cabs(linear_participation(m, i, best)))
                best = k;
        table_put(&t, "%zu", i + 1);
        put_complex(&t, z);
        table_put(&t, "%.5g", cabs(z) / (2 * M_PI));
        table_put(&t, "%.4g", mode_damping(z));
        if (creal(z) == 0)
            table_put(&t, "-");
        else
            table_put(&t, "%.5g", -1 / creal(z));
        table_put(&t, "%s", linear_state_name(l, best));
    }
    table_print(&t, out, "  ");
    for (size_t k = 0; k < m->nclusters; k++) {
        const cluster *c = &m->cluster[k];

        if (c->n == 1)
            continue;
        fprintf(out, "  modes %zu to %zu are one eigenvalue %zu times, %s\n", c->first + 1, c->first + c->n, c->n,
                !c->defective ? "with as many eigenvectors"
                : l->holder && l->holder[k]
                    ? "defective: some parameters split it with a root law, so it has no derivative there (means are "
                      "shown)"
                    : "defective, but no parameter splits it with a root law");
    }
    for (size_t k = 0; k < l->nconserved; k++) {
        bool first = true;

        bool fed = false;

        fputs(linear_is_integrator(l, k) ? "  no state changes " : "  no motion changes ", out);
        for (size_t i = 0; i < m->n; i++) {
            double c = l->conserved[k * m->n + i];

            if (c == 0)
                continue;
            if (fabs(c) == 1)
                fprintf(out, "%s%s", first ? (c < 0 ? "-" : "") : c < 0 ? " - " : " + ", linear_state_name(l, i));
            else
                fprintf(out, "%s%.6g %s",
                        first   ? (c < 0 ? "-" : "")
                        : c < 0 ? " - "
                                : " + ",
                        fabs(c), linear_state_name(l, i));
            first = false;
        }
        for (size_t u = 0; u < l->input.n; u++)
            if (linear_fed_by(l, k, u)) {
                fprintf(out, "%s%s", fed ? ", " : ", only inputs do (", l->input.at[u].name);
                fed = true;
            }
        fputs(fed                          ? "): an integrator, an eigenvalue 0\n"
              : linear_is_integrator(l, k) ? ", which has a rate of its own here: an integrator, an eigenvalue 0\n"
                                           : ": a redundant state, an eigenvalue 0\n",
              out);
    }
}

static void
put_plain_matrix(const char *name, size_t rows, size_t columns, const double *A, FILE *out)
{
    table t = { .columns = (int)columns };

    if (!rows || !columns)
        return;
    fprintf(out, "%s\n", name);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            table_put(&t, "%.6g", A[i + rows * k] == 0 ? 0 : A[i + rows * k]);
    table_print(&t, out, "  ");
}

/* A table of effects relative to the parameter: parameter * dlambda/dparameter, for the modes. */
static void
effect_table_text(const linearization *l, const double complex *at, const size_t *mode, size_t shown, FILE *out)
{
    const effect_table *e = &l->effect;
    const modes *m = &l->modes;
    table t = { .columns = (int)shown + 1, .left = 1 };

    table_put(&t, "parameter");
    for (size_t i = 0; i < shown; i++)
        table_put(&t, "mode %zu", mode[i] + 1);
    for (size_t p = 0; p < e->nparameters; p++) {
        table_put(&t, "%s", e->parameter[p]);
        for (size_t i = 0; i < shown; i++) {
            double size = cabs(at[p * m->count + mode[i]]) * fabs(e->value[p]);

            if (isnan(size))
                table_put(&t, "-");
            else
                table_put(&t, "%.4g", size < EFFECT_ROUNDING * m->size ? 0 : size);
        }
    }
    table_print(&t, out, "  ");
}

/* Does it make a difference that the equilibrium moves? */
static bool
totals_differ(const effect_table *e, size_t count, double size)
{
    for (size_t i = 0; i < e->nparameters * count; i++)
        if (!(cabs(e->at[i] - e->total[i]) * fabs(e->value[i / count]) <= SAME_EFFECT * size))
            return true;
    return false;
}

/* For modes with Im >= 0. */
static void
effects_text(const linearization *l, FILE *out)
{
    const effect_table *e = &l->effect;
    const modes *m = &l->modes;
    size_t shown = 0, mode[TEXT_MOST];

    for (size_t i = 0; i < m->count && shown < TEXT_MOST; i++)
        if (cimag(m->eigenvalue[i]) >= 0 && m->eigenvalue[i] != 0)
            mode[shown++] = i;
    if (!e->nparameters || !shown)
        return;
    fprintf(out, "effects: |parameter * d(eigenvalue)/d(parameter)| [1/s], with unchanged states and inputs\n");
    effect_table_text(l, e->at, mode, shown, out);
    if (!e->has_total)
        return;
    if (totals_differ(e, m->count, m->size)) {
        fprintf(out, "total effects: the same, the equilibrium moving with the parameter\n");
        effect_table_text(l, e->total, mode, shown, out);
        if (!e->determined)
            fprintf(out, "  -: %s\n", NOT_DETERMINED);
    } else {
        fprintf(out, "  the same, with the equilibrium moving with the parameter\n");
    }
}

static void
transfer_text(const linearization *l, const linear_view *v, FILE *out)
{
    for (size_t i = 0; i < v->ntransfer; i++) {
        struct zeros_poles z;

        if (transfer_function(&l->space, v->transfer[i][0], v->transfer[i][1], &z)) {
            fprintf(out, "%s to %s: gain %.8g, DC gain %.8g\n", linear_input_name(l, v->transfer[i][0]),
                    linear_output_name(l, v->transfer[i][1]), z.gain, z.dc);
            for (int kind = 0; kind < 2; kind++) {
                table t = { .columns = 1 };

                fprintf(out, "  %s%s\n", kind ? "poles" : "zeros", (kind ? z.npoles : z.nzeros) ? "" : " none");
                for (size_t k = 0; k < (kind ? z.npoles : z.nzeros); k++)
                    put_complex(&t, kind ? z.pole[k] : z.zero[k]);
                table_print(&t, out, "    ");
            }
        }
        zeros_poles_free(&z);
    }
}

static void
reductions_text(const yardstick *y, FILE *out)
{
    static const char *const head[] = { "reduced by", "states",           "H-infinity error",
                                        "relative",   "bound (relative)", "passive" };
    table t = { .columns = 6, .left = 1 };

    if (y->why) {
        fprintf(out, "no H-infinity norms: %s\n", y->why);
        return;
    }
    fprintf(out, "H-infinity norm %.9g, at %.6g rad/s; proved below %.12g\n", y->norm.lower, y->norm.omega,
            y->norm.upper);
    for (size_t k = 0; k < 6; k++)
        table_put(&t, "%s", head[k]);
    for (size_t i = 0; i < y->row.n; i++) {
        const yardstick_row *r = &y->row.at[i];

        table_put(&t, "%s", r->name);
        table_put(&t, "%zu", r->order);
        table_put(&t, r->why ? "-" : "%.6g", r->error.lower);
        table_put(&t, r->why ? "-" : "%.4e", r->error.lower / y->norm.lower);
        table_put(&t, isnan(r->bound) ? "-" : "%.4e", r->bound / y->norm.lower);
        table_put(&t, "%s", r->why ? "-" : yardstick_passive(y, r));
    }
    table_print(&t, out, "  ");
    for (size_t i = 0; i < y->row.n; i++)
        if (y->row.at[i].why)
            put_text(out, "  %s, %zu states: %s\n", y->row.at[i].name, y->row.at[i].order, y->row.at[i].why);
}

static void
hamiltonian_text(const linearization *l, FILE *out)
{
    hamiltonian h;

    hamiltonian_make(l, &h);
    if (!h.why && h.n <= TEXT_MOST) {
        put_plain_matrix("port-Hamiltonian: d/dt = (J - R) Q x + B u; J", h.n, h.n, h.J, out);
        put_plain_matrix("R", h.n, h.n, h.R, out);
        put_plain_matrix("Q", h.n, h.n, h.Q, out);
    }
    if (!h.why)
        fprintf(out, h.passive ? "passive: without inputs the stored energy only falls\n"
                               : "not passive: the stored energy can rise by itself\n");
    else if (!l->sparse)
        put_text(out, "no port-Hamiltonian form: %s\n", h.why);
    hamiltonian_free(&h);
}

void
linear_text(const linearization *l, const linear_view *v, FILE *out)
{
    const state_space *s = &l->space;

    fprintf(out, "%s at %.6g s, %s: %zu states, %zu inputs, %zu outputs\n", model_name(l->model), l->time,
            l->equilibrium ? "at rest" : "moving", s->n, s->nu, s->ny);
    conditions_text(l, out);
    if (l->sparse && l->modes_known)
        fprintf(out, "%zu eigenvalues, found by sparse matrices:\n", l->modes.count);
    if (l->modes_known)
        modes_text(l, out);
    else if (l->few)
        fprintf(out, "no eigenvalues: %s\n", l->few);
    if (s->n <= TEXT_MOST && !l->sparse) {
        fputs("states", out);
        for (size_t i = 0; i < s->n; i++)
            fprintf(out, " %s", linear_state_name(l, i));
        fputs("\n", out);
        if (s->nu) {
            fputs("inputs", out);
            for (size_t i = 0; i < s->nu; i++)
                fprintf(out, " %s", linear_input_name(l, i));
            fputs("\n", out);
        }
        put_plain_matrix("A", s->n, s->n, s->A, out);
        put_plain_matrix("B", s->n, s->nu, s->B, out);
        put_plain_matrix("C", s->ny, s->n, s->C, out);
        put_plain_matrix("D", s->ny, s->nu, s->D, out);
        for (int k = 0; k < M_A && !l->structure.why; k++)
            if ((k != M_J_SX && k != M_J_LX && k != M_L_X) || l->structure.modulated)
                put_plain_matrix(structure_matrix_name(k), l->structure.matrix[k].rows, l->structure.matrix[k].columns,
                                 l->structure.matrix[k].value, out);
    }
    if (l->structure.why)
        fprintf(out, l->sparse ? "no matrices: %s\n" : "no structured form: %s\n", l->structure.why);
    else if (!(l->mismatch < MISMATCH))
        fprintf(out,
                "the structured form is not the Jacobian here (%.2g): coefficients on the way to dependent storage "
                "vary while it moves\n",
                l->mismatch);
    if (l->modes_known)
        effects_text(l, out);
    hamiltonian_text(l, out);
    if (v->reductions)
        reductions_text(v->reductions, out);
    transfer_text(l, v, out);
}
