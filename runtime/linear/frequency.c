/* frequency.c - see frequency.h */
#include "frequency.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "response.h"
#include "model_graph.h"

enum { HARMONICS = FREQUENCY_SAMPLES / 2, BANDS_MOST = 13 }; /* number of harmonics; bands are octaves of them */
/* A harmonic whose inputs are below this share of the greatest is rounding. */
static const double ROUNDING = 1e-12;
/* Bands at either end with less than this share of the activity are not shown. */
static const double NOTHING = 1e-6;

/* An input of the linear model: its harmonics; those of its rate are i omega times as large. */
struct drive {
    double complex *harmonic; /* [HARMONICS], the k-th at frequency k/length */
    bool of_rate;
};

struct spectrum {
    bg_model *model;
    const linearization *l;
    struct drive *drive; /* [l->space.nu] */
    double length;
    double *power; /* [elements] scratch */
};

/* ---------------------------------------------------------------- excitation */

/* The output that is the first port's effort: the opened inputs follow the outputs of the ports. */
static size_t
first_port(const model_graph *g)
{
    size_t inputs = 0;

    for (size_t i = 0; i < g->nopenings; i++)
        inputs += g->opening[i].element == NONE;
    return g->ndeclared - inputs - 2 * g->nports;
}

/* The output that records what the opening moves; NO_INDEX: it is constant, or follows the states and drives
 * nothing. */
static size_t
output_of(const model_graph *g, const struct model_opening *o)
{
    size_t before = 0;

    for (const struct model_opening *i = g->opening; o->element == NONE && i < o; i++)
        before += i->element == NONE;
    if (o->element == NONE)
        return first_port(g) + 2 * g->nports + before;
    return o->moves ? first_port(g) + 2 * o->port + (g->element[o->element].type == EL_SF) : NO_INDEX;
}

/* Fast Fourier transform in place; n is a power of two. */
static void
transform(double complex *x, size_t n)
{
    for (size_t i = 1, j = 0; i < n; i++) { /* bits reversed */
        size_t bit = n >> 1;

        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex y = x[i];

            x[i] = x[j];
            x[j] = y;
        }
    }
    for (size_t size = 2; size <= n; size *= 2)
        for (size_t k = 0; k < size / 2; k++) {
            double complex turn = cexp(-2 * M_PI * I * (double)k / (double)size);

            for (size_t i = k; i < n; i += size) {
                double complex a = x[i], b = turn * x[i + size / 2];

                x[i] = a + b;
                x[i + size / 2] = a - b;
            }
        }
}

static double complex *
harmonics(const sim_result *r, size_t output, size_t noutputs)
{
    double complex *x = bg_malloc(FREQUENCY_SAMPLES * sizeof *x);

    for (size_t i = 0; i < FREQUENCY_SAMPLES; i++)
        x[i] = r->output[i * noutputs + output];
    transform(x, FREQUENCY_SAMPLES);
    for (size_t k = 0; k < HARMONICS; k++)
        x[k] *= 2.0 / FREQUENCY_SAMPLES;
    x[0] = 0; /* what rests */
    return x;
}

static const struct model_opening *
opening_of(const model_graph *g, const char *name, bool *of_rate)
{
    for (size_t i = 0; i < g->nopenings; i++) {
        const struct model_opening *o = &g->opening[i];

        *of_rate = o->rate_name == name;
        if (o->name == name || *of_rate)
            return o;
    }
    return NULL;
}

/* A source that varies by itself although the model has inputs: the linear model has inputs only. */
static const char *
left_out(const bg_model *m, const linearization *l)
{
    const model_graph *g = model_graph_of(m);

    if (!l->input.n || l->input.at[0].element != NONE)
        return NULL;
    for (size_t i = 0; i < g->nopenings; i++)
        if (g->opening[i].reads_time)
            return g->opening[i].name;
    return NULL;
}

static char *
find_inputs(struct spectrum *s, const sim_result *r)
{
    const model_graph *g = model_graph_of(s->model);
    const char *other = left_out(s->model, s->l);
    bool any = false;

    if (other)
        return bg_format("source %s varies with time, and the model also has inputs: make this variation an input",
                         other);
    for (size_t k = 0; k < s->l->space.nu; k++) {
        const struct model_opening *o = opening_of(g, s->l->input.at[k].name, &s->drive[k].of_rate);
        size_t output = o ? output_of(g, o) : NO_INDEX;

        if (output == NO_INDEX)
            continue;
        s->drive[k].harmonic = harmonics(r, output, model_noutputs(s->model));
        for (size_t i = 1; i < HARMONICS && !any; i++)
            any = cabs(s->drive[k].harmonic[i]) > 0;
    }
    return any ? NULL : bg_strdup("no input and no source varies in this experiment");
}

/* ---------------------------------------------------------------- powers */

/* Mean of |middle + swing cos|. */
static double
mean_magnitude(double middle, double swing)
{
    middle = fabs(middle);
    if (swing <= middle)
        return middle;
    return 2 / M_PI * (middle * asin(middle / swing) + sqrt((swing - middle) * (swing + middle)));
}

/* The linear model with efforts and flows of the ports as outputs. */
static state_space
of_ports(const struct spectrum *s, size_t nports, size_t first)
{
    const state_space *a = &s->l->space;
    state_space p = state_space_new(a->n, a->nu, 2 * nports);

    memcpy(p.A, a->A, a->n * a->n * sizeof(double));
    memcpy(p.B, a->B, a->n * a->nu * sizeof(double));
    for (size_t i = 0; i < a->n; i++)
        memcpy(p.C + i * p.ny, a->C + i * a->ny + first, p.ny * sizeof(double));
    for (size_t i = 0; i < a->nu; i++)
        memcpy(p.D + i * p.ny, a->D + i * a->ny + first, p.ny * sizeof(double));
    return p;
}

/* The mean magnitude of each element's power at harmonic k. G: response of ports to inputs. */
static void
find_powers(const struct spectrum *s, size_t k, const double complex *G, size_t ny)
{
    const model_graph *g = model_graph_of(s->model);
    double complex rate = 2 * M_PI * I * (double)k / s->length;

    for (uint32_t e = 0; e < g->nelements; e++) {
        const struct model_element *x = &g->element[e];
        double complex net = 0, twice = 0;

        for (uint32_t p = x->port0; p < x->port0 + x->nports; p++) {
            double complex effort = 0, flow = 0;

            for (size_t i = 0; i < s->l->space.nu; i++) {
                double complex u = s->drive[i].harmonic ? s->drive[i].harmonic[k] : 0;

                u *= s->drive[i].of_rate ? rate : 1;
                effort += G[2 * p + ny * i] * u;
                flow += G[2 * p + 1 + ny * i] * u;
            }
            net += effort * conj(flow) / 2;
            twice += effort * flow / 2;
        }
        s->power[e] = mean_magnitude(creal(net), cabs(twice));
    }
}

static double
greatest_drive(const struct spectrum *s, size_t k)
{
    double top = 0;

    for (size_t i = 0; i < s->l->space.nu; i++)
        if (s->drive[i].harmonic)
            top = fmax(top, cabs(s->drive[i].harmonic[k]));
    return top;
}

/* Keeps the bands from the first to the last with any activity. */
static void
trim(frequency_table *t)
{
    double band[BANDS_MOST] = { 0 }, all = 0;
    size_t first = 0, last = t->nbands;

    for (size_t e = 0; e < t->nelements; e++)
        for (size_t b = 0; b < t->nbands; b++) {
            band[b] += t->activity[e * t->nbands + b];
            all += t->activity[e * t->nbands + b];
        }
    while (last > first && !(band[last - 1] > NOTHING * all))
        last--;
    while (first < last && !(band[first] > NOTHING * all))
        first++;
    for (size_t e = 0; e < t->nelements; e++)
        for (size_t b = first; b < last; b++)
            t->activity[e * (last - first) + b - first] = t->activity[e * t->nbands + b];
    for (size_t b = first; b < last; b++) {
        t->from[b - first] = t->from[b];
        t->to[b - first] = t->to[b];
    }
    t->nbands = last - first;
}

static char *
follow_spectrum(struct spectrum *s, frequency_table *t)
{
    const model_graph *g = model_graph_of(s->model);
    size_t nports = g->nports;
    double top = 0;
    char *why = NULL;
    state_space ports;
    responder *r;
    double complex *G = bg_malloc((2 * nports * (s->l->space.nu + 1) + 1) * sizeof *G);

    ports = of_ports(s, nports, first_port(g));
    r = responder_new(&ports);
    for (size_t k = 1; k < HARMONICS; k++)
        top = fmax(top, greatest_drive(s, k));
    for (size_t k = 1, band = 0; k < HARMONICS && r && !why; k++) {
        double frequency = (double)k / s->length;

        while (k >= (size_t)2 << band)
            band++;
        if (!(greatest_drive(s, k) > ROUNDING * top))
            continue;
        if (!response_at(r, 2 * M_PI * frequency, G)) {
            why = bg_format("there is no steady state at %g Hz, where the model resonates without damping", frequency);
            break;
        }
        find_powers(s, k, G, 2 * nports);
        for (size_t e = 0; e < t->nelements; e++)
            t->activity[e * t->nbands + band] += s->power[e] * s->length;
    }
    if (!r)
        why = bg_strdup("the linear model is not finite");
    responder_free(r);
    state_space_free(&ports);
    free(G);
    return why;
}

bool
frequency_table_make(bg_model *m, const linearization *l, const sim_result *r, frequency_table *out)
{
    struct spectrum s = { .model = m, .l = l, .length = r->time[FREQUENCY_SAMPLES] - r->time[0] };
    size_t n = model_nelements(m);

    *out = (frequency_table){ .nelements = n,
                              .nbands = BANDS_MOST,
                              .from = bg_calloc(BANDS_MOST, sizeof(double)),
                              .to = bg_calloc(BANDS_MOST, sizeof(double)),
                              .activity = bg_calloc(n * BANDS_MOST + 1, sizeof(double)) };
    s.drive = bg_calloc(l->space.nu + 1, sizeof *s.drive);
    s.power = bg_calloc(n + 1, sizeof *s.power);
    for (size_t b = 0; b < BANDS_MOST; b++) {
        out->from[b] = (double)((size_t)1 << b) / s.length;
        out->to[b] = 2 * out->from[b];
    }
    if (!l->space.A)
        out->why = bg_format("it has more than %d states", (int)DENSE_MOST);
    else if (!(out->why = find_inputs(&s, r)))
        out->why = follow_spectrum(&s, out);
    if (!out->why)
        trim(out);
    for (size_t k = 0; k < l->space.nu; k++)
        free(s.drive[k].harmonic);
    free(s.drive);
    free(s.power);
    return !out->why;
}

void
frequency_table_free(frequency_table *t)
{
    free(t->from);
    free(t->to);
    free(t->activity);
    free(t->why);
    *t = (frequency_table){ 0 };
}
