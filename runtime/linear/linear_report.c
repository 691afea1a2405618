/* linear_report.c - linear models as JSON: see linear_report.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hamiltonian.h"
#include "linear_report_inside.h"
#include "norms.h"
#include "report.h"
#include "model_graph.h"

/* Greatest number of states for which norms are computed without being asked for. */
enum { NORMS_MOST = 300 };

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

const char *
linear_input_name(const linearization *l, size_t i)
{
    return l->input.at[i].name;
}
const char *
linear_output_name(const linearization *l, size_t i)
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
double complex
linear_participation(const modes *m, size_t i, size_t k)
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
                double complex p = linear_participation(m, i, k);

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
        json_key(j, "input"), json_string(j, linear_input_name(l, v->transfer[i][0]));
        json_key(j, "output"), json_string(j, linear_output_name(l, v->transfer[i][1]));
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
bool
linear_is_condition(const struct model_mode *m)
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

        if (!linear_is_condition(&m))
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
    name_list(j, "inputs", l->input.n, linear_input_name, l);
    name_list(j, "outputs", s->ny, linear_output_name, l);
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
        if (l->effect.has_total) {
            effects_json(l, "effects_total", l->effect.total, j);
            json_key(j, "no_effects_total"), json_string(j, l->effect.determined ? NULL : NOT_DETERMINED);
        }
    }
    norms_json(l, v, j);
    hamiltonian_json(l, j);
    if (v->ntransfer)
        transfer_json(l, v, j);
    json_close(j, '}');
}
