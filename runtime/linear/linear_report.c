/* linear_report.c - see linear_report.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hamiltonian.h"
#include "linear_report.h"
#include "norms.h"
#include "report.h"
#include "model_graph.h"

enum {
    CONDITIONS_SHOWN = 12,
    TEXT_MOST = 12, /* greatest number of states for which matrices are printed for people */
    NORMS_MOST = 300
}; /* and norms are computed without being asked for */

/* ---------------------------------------------------------------- JSON */

static void
number_or_null(json *j, double x)
{
    json_number(j, x == 0 ? 0 : x); /* avoids minus zero */
}

static void
complex_pair(json *j, double complex z)
{
    json_open(j, '[');
    number_or_null(j, creal(z));
    number_or_null(j, cimag(z));
    json_close(j, ']');
}

/* A (rows by columns, by columns) as an array of rows; NULL: null. */
static void
matrix(json *j, const char *key, size_t rows, size_t columns, const double *A)
{
    json_key(j, key);
    if (!A) {
        json_string(j, NULL);
        return;
    }
    json_open(j, '[');
    for (size_t i = 0; i < rows; i++) {
        json_open(j, '[');
        for (size_t k = 0; k < columns; k++)
            number_or_null(j, A[i + rows * k]);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void
name_list(json *j, const char *key, size_t n, const char *(*name)(const linearization *, size_t),
          const linearization *l)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        json_string(j, name(l, i));
    json_close(j, ']');
}

static const char *
input_name(const linearization *l, size_t i)
{
    return l->input.at[i].name;
}
static const char *
output_name(const linearization *l, size_t i)
{
    return model_output_name(l->model, i);
}
static const char *
source_name(const linearization *l, size_t i)
{
    return model_graph_of(l->model)->opening[l->structure.source[i]].name;
}
static const char *
dependent_port_name(const linearization *l, size_t i)
{
    return model_graph_of(l->model)->port[l->structure.dependent[i]].name;
}
static const char *
causal_input(const linearization *l, size_t i)
{
    return l->structure.flow_in[i] ? "f" : "e";
}

static void
structure_json(const linearization *l, json *j)
{
    const structure *s = &l->structure;

    name_list(j, "storage", s->nz, linear_storage_name, l);
    name_list(j, "storage_parameter", s->nz, linear_storage_parameter, l);
    name_list(j, "dissipators", s->nl, linear_dissipator_name, l);
    name_list(j, "dissipator_input", s->nl, causal_input, l);
    name_list(j, "sources", s->nu, source_name, l);
    name_list(j, "dependent_storage", s->nd, dependent_port_name, l);
    for (int k = 0; k < M_COUNT; k++) {
        const structure_block *b = &s->matrix[k];
        bool signals = k == M_J_SX || k == M_J_LX || k == M_L_X;

        if (k == M_A || k == M_B || (signals && !s->modulated && !s->why))
            continue;
        matrix(j, structure_matrix_name(k), b->rows, b->columns, s->why ? NULL : b->value);
    }
    json_key(j, "structure_mismatch"), json_number(j, l->mismatch);
    json_key(j, "no_structure"), json_string(j, s->why);
}

static void
hamiltonian_json(const linearization *l, json *j)
{
    hamiltonian h;

    hamiltonian_make(l, &h);
    json_key(j, "port_hamiltonian");
    json_open(j, '{');
    json_key(j, "states");
    json_open(j, '[');
    for (size_t i = 0; i < h.n; i++)
        json_string(j, linear_state_name(l, h.state[i]));
    json_close(j, ']');
    matrix(j, "J", h.n, h.n, h.why ? NULL : h.J);
    matrix(j, "R", h.n, h.n, h.why ? NULL : h.R);
    matrix(j, "Q", h.n, h.n, h.why ? NULL : h.Q);
    matrix(j, "B", h.n, l->space.nu, h.why ? NULL : h.B);
    json_key(j, "passive");
    if (h.why)
        json_string(j, NULL);
    else
        json_bool(j, h.passive);
    json_key(j, "why"), json_string(j, h.why);
    json_close(j, '}');
    hamiltonian_free(&h);
}

static void
effects_json(const linearization *l, const char *key, const double complex *at, json *j)
{
    const effect_table *t = &l->effect;
    size_t n = l->modes.count;

    json_key(j, key);
    json_open(j, '{');
    for (size_t p = 0; p < t->nparameters; p++) {
        json_key(j, t->parameter[p]);
        json_open(j, '[');
        for (size_t i = 0; i < n; i++)
            complex_pair(j, at[p * n + i]);
        json_close(j, ']');
    }
    json_close(j, '}');
}

static void
vectors_json(json *j, const char *key, size_t rows, size_t columns, const double complex *A)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < rows; i++) {
        json_open(j, '[');
        for (size_t k = 0; k < columns; k++)
            complex_pair(j, A[i + rows * k]);
        json_close(j, ']');
    }
    json_close(j, ']');
}

/* Participation of state k in mode i. */
static double complex
participation(const modes *m, size_t i, size_t k)
{
    return m->U[k + m->n * i] * m->W[i + m->count * k];
}

static void
participation_json(json *j, const modes *m)
{
    static const char *const key[] = { "participation", "participation_re", "participation_im" };
    double *P = bg_calloc(m->count * m->n + 1, sizeof *P);

    for (int part = 0; part < 3; part++) { /* rows are modes */
        for (size_t i = 0; i < m->count; i++)
            for (size_t k = 0; k < m->n; k++) {
                double complex p = participation(m, i, k);

                P[i + m->count * k] = part == 0 ? cabs(p) : part == 1 ? creal(p) : cimag(p);
            }
        matrix(j, key[part], m->count, m->n, P);
    }
    free(P);
}

static void
residues_json(json *j, const linearization *l)
{
    const modes *m = &l->modes;
    const state_space *s = &l->space;

    json_key(j, "residues");
    json_open(j, '[');
    for (size_t i = 0; i < m->count; i++) {
        json_open(j, '[');
        for (size_t y = 0; y < s->ny; y++) {
            json_open(j, '[');
            for (size_t u = 0; u < s->nu; u++)
                complex_pair(j, mode_residue(l, i, u, y));
            json_close(j, ']');
        }
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void
clusters_json(json *j, const linearization *l)
{
    json_key(j, "clusters");
    json_open(j, '[');
    for (size_t k = 0; k < l->modes.nclusters; k++) {
        const cluster *c = &l->modes.cluster[k];

        if (c->n == 1)
            continue;
        json_open(j, '{');
        json_key(j, "eigenvalue"), complex_pair(j, c->eigenvalue);
        json_key(j, "multiplicity"), json_count(j, c->n);
        json_key(j, "defective"), json_bool(j, c->defective);
        json_key(j, "splits_like_a_root"), json_bool(j, l->holder && l->holder[k]);
        json_key(j, "first"), json_count(j, c->first);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
combination_json(json *j, const linearization *l, size_t k)
{
    size_t n = l->space.n;

    json_open(j, '{');
    for (size_t i = 0; i < n; i++)
        if (l->conserved[k * n + i] != 0)
            json_key(j, linear_state_name(l, i)), json_number(j, l->conserved[k * n + i]);
    json_close(j, '}');
}

/* Conserved quantities; separately those that inputs, or rates without inputs, change. */
static void
conserved_json(json *j, const linearization *l)
{
    json_key(j, "conserved");
    json_open(j, '[');
    for (size_t k = 0; k < l->nconserved; k++)
        if (!linear_is_integrator(l, k))
            combination_json(j, l, k);
    json_close(j, ']');
    json_key(j, "integrators");
    json_open(j, '[');
    for (size_t k = 0; k < l->nconserved; k++) {
        if (!linear_is_integrator(l, k))
            continue;
        json_open(j, '{');
        json_key(j, "states");
        combination_json(j, l, k);
        json_key(j, "inputs");
        json_open(j, '[');
        for (size_t u = 0; u < l->input.n; u++)
            if (linear_fed_by(l, k, u))
                json_string(j, l->input.at[u].name);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static double
frequency_of(const modes *m, size_t i)
{
    return cabs(m->eigenvalue[i]);
}
static double
damping_of(const modes *m, size_t i)
{
    return mode_damping(m->eigenvalue[i]);
}
static double
time_constant_of(const modes *m, size_t i)
{
    return creal(m->eigenvalue[i]) == 0 ? INFINITY : -1 / creal(m->eigenvalue[i]);
}
static double
condition_of(const modes *m, size_t i)
{
    return m->condition[i];
}

static void
modes_json(const linearization *l, json *j)
{
    static const struct {
        const char *key;
        double (*of)(const modes *m, size_t i);
    } number[] = { { "frequency", frequency_of },
                   { "damping", damping_of },
                   { "time_constant", time_constant_of },
                   { "condition", condition_of } };
    const modes *m = &l->modes;

    json_key(j, "eigenvalues");
    json_open(j, '[');
    for (size_t i = 0; i < m->count; i++)
        complex_pair(j, m->eigenvalue[i]);
    json_close(j, ']');
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        json_key(j, number[k].key);
        json_open(j, '[');
        for (size_t i = 0; i < m->count; i++)
            number_or_null(j, number[k].of(m, i));
        json_close(j, ']');
    }
    participation_json(j, m);
    vectors_json(j, "right_vectors", m->n, m->count, m->U);
    vectors_json(j, "left_vectors", m->count, m->n, m->W);
    residues_json(j, l);
    clusters_json(j, l);
    conserved_json(j, l);
}

static void
list(json *j, size_t n, const double complex *z)
{
    json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        complex_pair(j, z[i]);
    json_close(j, ']');
}

static void
transfer_json(const linearization *l, const linear_view *v, json *j)
{
    json_key(j, "transfer");
    json_open(j, '[');
    for (size_t i = 0; i < v->ntransfer; i++) {
        struct zeros_poles z;
        bool fine = transfer_function(&l->space, v->transfer[i][0], v->transfer[i][1], &z);

        json_open(j, '{');
        json_key(j, "input"), json_string(j, input_name(l, v->transfer[i][0]));
        json_key(j, "output"), json_string(j, output_name(l, v->transfer[i][1]));
        json_key(j, "zeros"), list(j, fine ? z.nzeros : 0, z.zero);
        json_key(j, "poles"), list(j, fine ? z.npoles : 0, z.pole);
        json_key(j, "gain"), json_number(j, fine ? z.gain : NAN);
        json_key(j, "dc_gain"), json_number(j, fine ? z.dc : NAN);
        json_close(j, '}');
        zeros_poles_free(&z);
    }
    json_close(j, ']');
}

static void
reductions_json(const yardstick *y, json *j)
{
    json_key(j, "reductions");
    json_open(j, '[');
    for (size_t i = 0; i < y->row.n; i++) {
        const yardstick_row *r = &y->row.at[i];

        json_open(j, '{');
        json_key(j, "name"), json_string(j, r->name);
        json_key(j, "states"), json_count(j, r->order);
        json_key(j, "hinf_error"), json_number(j, r->why ? NAN : r->error.lower);
        json_key(j, "hinf_error_upper"), json_number(j, r->why ? NAN : r->error.upper);
        json_key(j, "relative"), json_number(j, r->why ? NAN : r->error.lower / y->norm.lower);
        json_key(j, "bound"), json_number(j, r->bound);
        json_key(j, "passive");
        if (r->why || !y->ports || r->passivity == PASSIVITY_UNKNOWN)
            json_string(j, NULL);
        else
            json_bool(j, r->passivity == PASSIVE);
        json_key(j, "why"), json_string(j, r->why);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
norms_json(const linearization *l, const linear_view *v, json *j)
{
    yardstick own = { 0 };
    const yardstick *y = v->reductions ? v->reductions : &own;

    if (y == &own) {
        if (l->sparse)
            own.why = bg_strdup(l->structure.why);
        else if (l->space.n <= NORMS_MOST)
            yardstick_open(&l->space, &own);
        else
            own.why = bg_format("more than %d states: --truncate finds them", NORMS_MOST);
    }
    json_key(j, "hankel");
    json_open(j, '[');
    for (size_t i = 0; i < y->full.n && y->sigma; i++)
        json_number(j, y->sigma[i]);
    json_close(j, ']');
    json_key(j, "no_hankel"), json_string(j, y->why);
    json_key(j, "hinf_norm"), json_number(j, y->why ? NAN : y->norm.lower);
    json_key(j, "hinf_norm_upper"), json_number(j, y->why ? NAN : y->norm.upper);
    json_key(j, "hinf_frequency"), json_number(j, y->why ? NAN : y->norm.omega);
    json_key(j, "passive_transfer");
    if (y->why)
        json_string(j, NULL);
    else
        json_bool(j, y->ports);
    if (v->reductions)
        reductions_json(y, j);
    yardstick_free(&own);
}

/* The branches of conditions to which the matrices belong: those at the operating point, where they are read. */
static bool
is_condition(const struct model_mode *m)
{
    return m->text && (m->kind == MODE_LESS || m->kind == MODE_LESS_EQUAL || m->kind == MODE_EQUAL);
}

static void
conditions_json(const linearization *l, json *j)
{
    const double *value = model_modes(l->model);

    json_key(j, "conditions"), json_open(j, '[');
    for (size_t k = 0; k < model_nmodes(l->model); k++) {
        struct model_mode m = model_mode(l->model, k);
        int line = 0, column;

        if (!is_condition(&m))
            continue;
        if (span_known(m.at))
            source_place(model_sources(l->model), m.at.file, m.at.begin, &line, &column);
        json_open(j, '{');
        json_key(j, "condition"), json_string(j, m.text);
        json_key(j, "line"), json_number(j, line);
        json_key(j, "holds"), json_bool(j, value[k] != 0);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
conditions_text(const linearization *l, FILE *out)
{
    const double *value = model_modes(l->model);
    size_t n = 0;

    for (size_t k = 0; k < model_nmodes(l->model); k++) {
        struct model_mode m = model_mode(l->model, k);
        int line = 0, column;

        if (!is_condition(&m) || n++ >= CONDITIONS_SHOWN)
            continue;
        if (span_known(m.at))
            source_place(model_sources(l->model), m.at.file, m.at.begin, &line, &column);
        fprintf(out, "%s %s: %s (line %d)\n", n == 1 ? "in the modes that hold there:" : "                            ",
                m.text, value[k] != 0 ? "yes" : "no", line);
    }
    if (n > CONDITIONS_SHOWN)
        fprintf(out, "                             %zu more\n", n - CONDITIONS_SHOWN);
}

void
linear_json(const linearization *l, const linear_view *v, json *j)
{
    const state_space *s = &l->space;
    size_t n = s->n;

    json_open(j, '{');
    json_key(j, "model"), json_string(j, model_name(l->model));
    json_key(j, "experiment"), json_string(j, v->experiment);
    json_key(j, "time"), json_number(j, l->time);
    json_key(j, "equilibrium"), json_bool(j, l->equilibrium);
    json_key(j, "all_eigenvalues"), json_bool(j, l->modes_known && l->modes.count == n);
    json_key(j, "no_eigenvalues"), json_string(j, l->few);
    json_key(j, "held"), json_string(j, "effects: states and inputs stay as they are; effects_total: the equilibrium "
                                        "moves with the parameter");
    name_list(j, "states", n, linear_state_name, l);
    name_list(j, "inputs", l->input.n, input_name, l);
    name_list(j, "outputs", s->ny, output_name, l);
    json_key(j, "x");
    json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        number_or_null(j, l->x[i]);
    json_close(j, ']');
    json_key(j, "rates");
    json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        number_or_null(j, l->rate[i]);
    json_close(j, ']');
    matrix(j, "A", n, n, s->A);
    matrix(j, "B", n, s->nu, s->B);
    matrix(j, "C", s->ny, n, s->C);
    matrix(j, "D", s->ny, s->nu, s->D);
    structure_json(l, j);
    conditions_json(l, j);
    if (l->modes_known)
        modes_json(l, j);
    matrix(j, "E_IC", n, l->structure.nz, l->E_IC);
    matrix(j, "E_R", n, l->structure.nl, l->E_R);
    matrix(j, "E_IC_physical", n, l->structure.nz, l->E_IC_physical);
    matrix(j, "E_R_physical", n, l->structure.nl, l->E_R_physical);
    matrix(j, "E_IC_relative", n, l->structure.nz, l->E_IC_relative);
    matrix(j, "E_R_relative", n, l->structure.nl, l->E_R_relative);
    if (l->structure.nd)
        matrix(j, "E_IC_dependent", n, l->structure.nd, l->E_D);
    if (l->modes_known) {
        effects_json(l, "effects", l->effect.at, j);
        if (l->effect.has_total)
            effects_json(l, "effects_total", l->effect.total, j);
    }
    norms_json(l, v, j);
    hamiltonian_json(l, j);
    if (v->ntransfer)
        transfer_json(l, v, j);
    json_close(j, '}');
}

/* ---------------------------------------------------------------- text */

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
            if (cabs(participation(m, i, k)) > (1 + 1e-9) * cabs(participation(m, i, best)))
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
                    ? "defective: some parameters split it like a root, so that it has no slope there (means are shown)"
                    : "defective, but no parameter splits it like a root");
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
                fprintf(out, "%s%s", fed ? ", " : ", only what comes in does (", l->input.at[u].name);
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
                table_put(&t, "%.4g", size < 1e-12 * m->size ? 0 : size);
        }
    }
    table_print(&t, out, "  ");
}

/* Does it make a difference that the equilibrium moves? */
static bool
totals_differ(const effect_table *e, size_t count, double size)
{
    for (size_t i = 0; i < e->nparameters * count; i++)
        if (!(cabs(e->at[i] - e->total[i]) * fabs(e->value[i / count]) <= 1e-9 * size))
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
    fprintf(out, "effects: |parameter * d(eigenvalue)/d(parameter)| [1/s], states and inputs as they are\n");
    effect_table_text(l, e->at, mode, shown, out);
    if (!e->has_total)
        return;
    if (totals_differ(e, m->count, m->size)) {
        fprintf(out, "total effects: the same, the equilibrium moving with the parameter\n");
        effect_table_text(l, e->total, mode, shown, out);
    } else {
        fprintf(out, "  the same where the equilibrium moves with the parameter\n");
    }
}

static void
transfer_text(const linearization *l, const linear_view *v, FILE *out)
{
    for (size_t i = 0; i < v->ntransfer; i++) {
        struct zeros_poles z;

        if (transfer_function(&l->space, v->transfer[i][0], v->transfer[i][1], &z)) {
            fprintf(out, "%s to %s: gain %.8g, DC gain %.8g\n", input_name(l, v->transfer[i][0]),
                    output_name(l, v->transfer[i][1]), z.gain, z.dc);
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
                fprintf(out, " %s", input_name(l, i));
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
    else if (!(l->mismatch < 1e-8))
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
