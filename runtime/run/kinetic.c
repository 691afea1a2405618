/* kinetic.c - see kinetic.h */
#include "kinetic.h"

#include <math.h>
#include <string.h>

#include "model_graph.h"

#define UNKNOWN 1e-3 /* in SI: replaces a velocity that is zero in difference quotients */

struct kinetic {
    bg_model *model;
    size_t nstates, n, ninertias;
    size_t *state;               /* [n] */
    size_t *at;                  /* [ninertias] of {momentum, velocity} among the model's bond values */
    double *x, *value, *V, *P;   /* V, P: ninertias by n */
    double *scale, *moved, *one; /* scale: the velocities used in difference quotients */
};

bool
kinetic_is_velocity(const bg_model *m, size_t i)
{
    const model_graph *g = model_graph_of(m);
    const struct model_state s = model_state(m, i);

    if (s.kind == VAR_STORED)
        return g->port[s.port].momentum;
    return s.kind == VAR_COMMON && g->junction[s.junction].type == 1;
}

kinetic *
kinetic_new(bg_model *m)
{
    const model_graph *g = model_graph_of(m);
    kinetic *k = bg_calloc(1, sizeof *k);
    size_t stores = 0, first;

    *k = (kinetic){ .model = m, .nstates = model_nstates(m) };
    k->state = bg_calloc(k->nstates + 1, sizeof *k->state);
    for (size_t i = 0; i < k->nstates; i++)
        if (kinetic_is_velocity(m, i))
            k->state[k->n++] = i;
    k->at = bg_calloc(g->nports + 1, sizeof *k->at);
    for (size_t i = 0; i < g->nports; i++) {
        if (g->port[i].stored == VAR_NONE)
            continue;
        if (g->port[i].momentum)
            k->at[k->ninertias++] = 2 * stores;
        stores++;
    }
    first = model_nbond_values(m) - 2 * stores;
    for (size_t i = 0; i < k->ninertias; i++)
        k->at[i] += first;
    k->x = bg_calloc(k->nstates + 1, sizeof(double));
    k->moved = bg_calloc(k->nstates + 1, sizeof(double));
    k->value = bg_calloc(model_nbond_values(m) + 1, sizeof(double));
    k->V = bg_calloc(k->ninertias * k->n + 1, sizeof(double));
    k->P = bg_calloc(k->ninertias * k->n + 1, sizeof(double));
    k->scale = bg_calloc(k->n + 1, sizeof(double));
    k->one = bg_calloc(k->n * k->n + 1, sizeof(double));
    return k;
}

void
kinetic_free(kinetic *k)
{
    if (!k)
        return;
    free(k->state);
    free(k->at);
    free(k->x);
    free(k->moved);
    free(k->value);
    free(k->V);
    free(k->P);
    free(k->scale);
    free(k->one);
    free(k);
}

size_t
kinetic_count(const kinetic *k)
{
    return k->n;
}
const size_t *
kinetic_states(const kinetic *k)
{
    return k->state;
}

/* Velocities of their actual size: laws are not evaluated at others. */
static void
take_scales(kinetic *k, const double *x)
{
    for (size_t i = 0; i < k->n; i++)
        k->scale[i] = x[k->state[i]] != 0 ? fabs(x[k->state[i]]) : UNKNOWN;
}

static int
masses_at(kinetic *k, double t, const double *x, double *B)
{
    int status = 0;

    memcpy(k->x, x, k->nstates * sizeof *x);
    for (size_t i = 0; i < k->n; i++)
        k->x[k->state[i]] = 0;
    for (size_t i = 0; i < k->n && status == 0; i++) {
        k->x[k->state[i]] = k->scale[i];
        status = model_bond_values(k->model, t, k->x, k->value);
        k->x[k->state[i]] = 0;
        for (size_t a = 0; a < k->ninertias; a++) {
            k->P[a + k->ninertias * i] = k->value[k->at[a]] / k->scale[i];
            k->V[a + k->ninertias * i] = k->value[k->at[a] + 1] / k->scale[i];
        }
    }
    for (size_t i = 0; i < k->n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;

            for (size_t a = 0; a < k->ninertias; a++)
                sum += (k->V[a + k->ninertias * i] * k->P[a + k->ninertias * j] +
                        k->V[a + k->ninertias * j] * k->P[a + k->ninertias * i]) /
                       2;
            B[i + k->n * j] = B[j + k->n * i] = sum;
        }
    return status;
}

int
kinetic_masses(kinetic *k, double t, const double *x, double *B)
{
    take_scales(k, x);
    return masses_at(k, t, x, B);
}

int
kinetic_rate(kinetic *k, double t, double h, const double *x, const double *rate, double *to)
{
    static const double factor[3] = { 45.0 / 60, -9.0 / 60, 1.0 / 60 }; /* exact to the sixth power */
    double apart = h / 8;
    int status = 0;

    take_scales(k, x);
    memset(to, 0, k->n * k->n * sizeof *to);
    for (int i = 0; i < 6 && status == 0; i++) {
        double side = i < 3 ? 1 : -1, by = side * (i % 3 + 1) * apart, part = side * factor[i % 3] / apart;

        for (size_t s = 0; s < k->nstates; s++)
            k->moved[s] = x[s] + by * rate[s];
        status = masses_at(k, t, k->moved, k->one);
        for (size_t e = 0; e < k->n * k->n; e++)
            to[e] += part * k->one[e];
    }
    return status;
}

double
kinetic_carried(kinetic *k, double t, const double *x)
{
    double carried = 0, most = 0;

    if (model_bond_values(k->model, t, x, k->value) != 0)
        return NAN;
    for (size_t a = 0; a < k->ninertias; a++)
        most = fmax(most, fabs(k->value[k->at[a] + 1]));
    memcpy(k->x, x, k->nstates * sizeof *x);
    for (size_t i = 0; i < k->n; i++)
        k->x[k->state[i]] = 0;
    if (model_bond_values(k->model, t, k->x, k->value) != 0)
        return NAN;
    for (size_t a = 0; a < k->ninertias; a++)
        carried = fmax(carried, fabs(k->value[k->at[a] + 1]));
    return carried > 0 ? carried / fmax(most, carried) : 0;
}
