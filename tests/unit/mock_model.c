/* mock_model.c - see mock_model.h */
#include "mock_model.h"

#include <math.h>
#include <string.h>

struct bg_model {
    mock m;
    sources *sources;
    model_graph graph;
    double *mode;
    int64_t *column, *row; /* of a full pattern */
    char (*name)[24];
    uint64_t rhs_calls;
    span at;
};

static const char text[] = "model mock {\n    x1 -> C:first;\n    x2 -> C:second;\n    x3 -> C:third;\n}\n";

bg_model *
mock_new(const mock *spec)
{
    bg_model *m = bg_calloc(1, sizeof *m);
    size_t n = spec->nstates;

    m->m = *spec;
    m->sources = sources_new();
    uint32_t file = (uint32_t)sources_add_text(m->sources, "mock.bg", text, sizeof text - 1);
    m->at = (span){ file, 0, 10 };
    m->mode = bg_calloc(spec->nmodes + 1, sizeof(double));
    m->name = bg_calloc(n + 1, sizeof *m->name);
    for (size_t i = 0; i < n; i++)
        snprintf(m->name[i], sizeof *m->name, "x%zu", i);
    if (!spec->jacobian) {
        m->column = bg_calloc(n + 1, sizeof *m->column);
        m->row = bg_calloc(n * n + 1, sizeof *m->row);
        for (size_t j = 0; j <= n; j++)
            m->column[j] = (int64_t)(j * n);
        for (size_t k = 0; k < n * n; k++)
            m->row[k] = (int64_t)(k % n);
        m->m.pattern = (struct model_pattern){ n, n, m->column, m->row, n * n };
    }
    return m;
}

void
mock_free(bg_model *m)
{
    sources_free(m->sources);
    free(m->mode);
    free(m->column);
    free(m->row);
    free(m->name);
    free(m);
}

uint64_t
mock_rhs_calls(const bg_model *m)
{
    return m->rhs_calls;
}

bool
model_need(bg_model *m, enum model_part part)
{
    (void)m, (void)part;
    return true;
}
size_t
model_nstates(const bg_model *m)
{
    return m->m.nstates;
}
size_t
model_nmodes(const bg_model *m)
{
    return m->m.nmodes;
}
size_t
model_noutputs(const bg_model *m)
{
    return m->m.noutputs;
}
size_t
model_nelements(const bg_model *m)
{
    return m->m.nelements;
}
sources *
model_sources(const bg_model *m)
{
    return m->sources;
}

span
model_place(const bg_model *m)
{
    return m->at;
}

span
model_run_place(const bg_model *m)
{
    return m->at;
}

const model_graph *
model_graph_of(const bg_model *m)
{
    return &m->graph;
}

shown_text
model_state_shown(const bg_model *m, size_t i, double si)
{
    (void)m, (void)i;
    return value_shown(NULL, NULL, si);
}

struct model_state
model_state(const bg_model *m, size_t i)
{
    span at = { m->at.file, 17 + 20 * (uint32_t)(i % 3), 30 + 20 * (uint32_t)(i % 3) };

    return (struct model_state){ .name = m->m.state_name ? m->m.state_name[i] : m->name[i],
                                 .at = at,
                                 .var = (uint32_t)i,
                                 .kind = VAR_INTEGRAL,
                                 .port = UINT32_MAX,
                                 .junction = UINT32_MAX,
                                 .only_outputs = m->m.only_outputs && m->m.only_outputs[i],
                                 .stated = !m->m.stated || m->m.stated[i] };
}

bool
model_initial(bg_model *m, double t, double *x)
{
    (void)t;
    for (size_t i = 0; i < m->m.nstates; i++)
        x[i] = m->m.x0 ? m->m.x0[i] : 0;
    return true;
}

static int
not_finite(size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 1;
    return 0;
}

int
model_rhs(bg_model *m, double t, const double *x, double *dx)
{
    m->rhs_calls++;
    m->m.rhs(&m->m, m->mode, t, x, dx);
    return m->m.nstates <= 16 ? not_finite(m->m.nstates, dx) : 0;
}
int
model_powers(bg_model *m, double t, const double *x, double *power)
{
    m->m.powers(&m->m, m->mode, t, x, power);
    return 0;
}
int
model_outputs(bg_model *m, double t, const double *x, double *y)
{
    m->m.outputs(&m->m, m->mode, t, x, y);
    return 0;
}
void
model_accept(bg_model *m, double t, const double *x)
{
    (void)m, (void)t, (void)x;
}
void
model_forget(bg_model *m)
{
    (void)m;
}

bool
model_chooses(bg_model *m)
{
    (void)m;
    return false;
}
bool
model_has_blocks(const bg_model *m)
{
    (void)m;
    return false;
}
void
model_hold(bg_model *m, double t)
{
    (void)m, (void)t;
}
void
model_let_go(bg_model *m)
{
    (void)m;
}
bool
model_root_states(bg_model *m, bool *fed)
{
    (void)m, (void)fed;
    return false;
}
struct model_mode
model_mode(const bg_model *m, size_t k)
{
    return m->m.mode[k];
}
double *
model_modes(bg_model *m)
{
    return m->mode;
}
double
model_condition_noise(bg_model *m, size_t k, double t, const double *x)
{
    (void)m, (void)k, (void)t, (void)x;
    return 0;
}

int
model_conditions(bg_model *m, double t, const double *x, double *g)
{
    m->m.conditions(&m->m, m->mode, t, x, g);
    return 0;
}
size_t
model_nquantities(const bg_model *m)
{
    (void)m;
    return 0;
}
struct model_threshold
model_threshold(const bg_model *m, size_t k)
{
    (void)m, (void)k;
    return (struct model_threshold){ .of = NONE };
}
int
model_conditions_apart(bg_model *m, double t, const double *x, double *g, double *quantity)
{
    (void)quantity;
    return model_conditions(m, t, x, g);
}
size_t
model_nwhens(const bg_model *m)
{
    return m->m.nwhens;
}
size_t
model_nreinits(const bg_model *m)
{
    return m->m.nreinits;
}
size_t
model_reinit_state(const bg_model *m, size_t r)
{
    return m->m.reinit_state[r];
}

struct model_when
model_when(const bg_model *m, size_t w)
{
    struct model_when q = m->m.when[w];

    q.at = m->at;
    return q;
}

int
model_reinits(bg_model *m, double t, const double *x, double *value)
{
    m->m.reinits(&m->m, m->mode, t, x, value);
    return 0;
}

size_t
model_nconstraints(const bg_model *m)
{
    (void)m;
    return 0;
}
int
model_constraints(bg_model *m, double t, const double *x, double *c)
{
    (void)m, (void)t, (void)x, (void)c;
    return 0;
}
span
model_constraint_place(const bg_model *m, size_t k)
{
    (void)m, (void)k;
    return SPAN_NONE;
}
int
model_project(bg_model *m, double t, double *x)
{
    (void)m, (void)t, (void)x;
    return 0;
}
bool
model_projects(const bg_model *m)
{
    (void)m;
    return false;
}
bool
model_has_nets(const bg_model *m)
{
    (void)m;
    return false;
}
bool
model_net_mode(const bg_model *m, size_t k)
{
    (void)m, (void)k;
    return false;
}
size_t
model_ngates(const bg_model *m)
{
    (void)m;
    return 0;
}
uint32_t
model_gate(const bg_model *m, size_t i)
{
    (void)m;
    return (uint32_t)i;
}
uint32_t
model_gate_level(const bg_model *m, size_t i)
{
    (void)m, (void)i;
    return 0;
}
int
model_gates(bg_model *m, double t, const double *x, double *g)
{
    (void)m, (void)t, (void)x, (void)g;
    return 0;
}
enum nets_status
model_search(bg_model *m, double t, double *x, double ahead, double farther, bool start, nets_report *r)
{
    (void)m, (void)t, (void)x, (void)ahead, (void)farther, (void)start, (void)r;
    return NETS_SAME;
}
struct model_pattern
model_jacobian_pattern(bg_model *m)
{
    return m->m.pattern;
}

double
model_energy_curvature(bg_model *m, size_t i, const double *x)
{
    (void)m, (void)i, (void)x;
    return NAN;
}
int
model_jacobian(bg_model *m, double t, const double *x, double *value)
{
    size_t n = m->m.nstates;

    if (m->m.jacobian) {
        m->m.jacobian(&m->m, m->mode, t, x, value);
        return 0;
    }
    double *y = bg_calloc(3 * n, sizeof *y), *up = y + n, *down = y + 2 * n;
    for (size_t j = 0; j < n; j++) {
        double h = 6e-6 * fmax(fabs(x[j]), 1e-3);
        memcpy(y, x, n * sizeof *y);
        y[j] = x[j] + h;
        m->m.rhs(&m->m, m->mode, t, y, up);
        y[j] = x[j] - h;
        m->m.rhs(&m->m, m->mode, t, y, down);
        for (size_t i = 0; i < n; i++)
            value[j * n + i] = (up[i] - down[i]) / (2 * h);
    }
    int status = not_finite(n * n, value);
    free(y);
    return status;
}

span
model_explain(bg_model *m, double t, const double *x, char **out)
{
    double *dx = bg_calloc(m->m.nstates + 1, sizeof *dx);

    m->m.rhs(&m->m, m->mode, t, x, dx);
    bool bad = not_finite(m->m.nstates, dx);
    free(dx);
    *out = bad ? bg_strdup(m->m.explain ? m->m.explain : "something is not finite") : NULL;
    return bad ? m->at : SPAN_NONE;
}

double
model_compile_seconds(const bg_model *m)
{
    (void)m;
    return 0;
}

int
model_powers_unordered(bg_model *m, double t, const double *x, double *power)
{
    return model_powers(m, t, x, power);
}
size_t
model_ndelays(const bg_model *m)
{
    (void)m;
    return 0;
}
size_t
model_ndraws(const bg_model *m)
{
    (void)m;
    return 0;
}
size_t
model_nclocks(bg_model *m)
{
    (void)m;
    return 0;
}
const bool *
model_waving(bg_model *m)
{
    (void)m;
    return NULL;
}
bool
model_hides(bg_model *m)
{
    (void)m;
    return false;
}
int
model_clocks(bg_model *m, double t, double *value)
{
    (void)m, (void)t, (void)value;
    return 0;
}
void
model_clocks_over(bg_model *m, double start, double stop)
{
    (void)m, (void)start, (void)stop;
}
double
model_clock_step(bg_model *m, double from, double to, bool all, size_t *clock)
{
    (void)m, (void)from, (void)to, (void)all;
    *clock = SIZE_MAX;
    return INFINITY;
}
size_t
model_clock_peaks(bg_model *m, double *time, double *width, size_t most)
{
    (void)m, (void)time, (void)width, (void)most;
    return 0;
}
span
model_clock_place(bg_model *m, size_t k)
{
    (void)m, (void)k;
    return SPAN_NONE;
}
const uint32_t *
model_power_places(bg_model *m)
{
    (void)m;
    return NULL;
}
size_t
model_npoles(bg_model *m)
{
    (void)m;
    return 0;
}
int
model_poles(bg_model *m, double t, const double *x, double *value)
{
    (void)m, (void)t, (void)x, (void)value;
    return 0;
}
struct model_pole
model_pole(bg_model *m, size_t k)
{
    (void)m, (void)k;
    return (struct model_pole){ .at = SPAN_NONE, .text = "" };
}
size_t
model_nsolved(bg_model *m)
{
    (void)m;
    return 0;
}
void
model_solved(const bg_model *m, double *value)
{
    (void)m, (void)value;
}
struct model_pole
model_solved_pole(const bg_model *m, size_t k)
{
    (void)m, (void)k;
    return (struct model_pole){ .at = SPAN_NONE, .text = "" };
}
char *
model_explain_output(bg_model *m, size_t k, double t, const double *x)
{
    (void)m, (void)k, (void)t, (void)x;
    return NULL;
}

bool
model_bends(bg_model *m)
{
    (void)m;
    return false;
}

bool
model_bends_over(bg_model *m, double start, double stop)
{
    (void)m, (void)start, (void)stop;
    return false;
}

double
model_clear(bg_model *m, const double t[2], const double *const x[2], const double *const f[2])
{
    (void)m, (void)t, (void)x, (void)f;
    return 1;
}
