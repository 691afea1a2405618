/* pieces.c - see pieces.h */
#include "pieces.h"

#include <math.h>
#include <string.h>

#include "reach.h"

/* Greatest number of pieces of a step. A faster function is not followed; once that has happened, later steps have
 * only a few pieces. */
enum { PIECES_MOST = 1 << 18, PIECES_GIVEN_UP = 1 << 6 };
enum { NODES = 5, TESTS = 2 };
/* After so many halvings values at so many neighbouring floating-point numbers show whether there is a function to
 * follow at all. */
enum { DEEP = 6, NEIGHBOURS = 8 };
/* Neighbouring numbers that differ by this part of the required smoothness show rounding; what exceeds the size of the
 * function so far by this factor is no rounding any more. */
static const double NOISE_SHARE = 0.01, NOISE_MARGIN = 1e3;

/* Lobatto's points, and two that are not commensurate with any period. */
static const double sample_place[NODES + TESTS] = { 0, 0.17267316464601142810, 0.5,         0.82732683535398857190,
                                                    1, 0.0724518839,           0.6381966011 };

struct pieces {
    bg_model *model;
    size_t n;
    double *value[NODES + TESTS];
    double *size;                /* greatest magnitude of each function of time so far */
    double *noise;               /* up to this size a function of time is only rounding */
    double weight[TESTS][NODES]; /* weights of the polynomial through the nodes at the other points */
    VEC(double) end, todo;
    double at, share; /* where the next piece begins; required smoothness */
    size_t taken, most;
    size_t unresolved;
    reach *reach;
};

pieces *
pieces_new(bg_model *m, double start, double stop)
{
    size_t n = model_nclocks(m);
    pieces *p;

    if (!n)
        return NULL;
    p = bg_calloc(1, sizeof *p);
    p->model = m;
    p->n = n;
    p->unresolved = NO_INDEX;
    p->reach = reach_new(m, start, stop, true);
    p->size = bg_calloc(n, sizeof *p->size);
    p->noise = bg_calloc(n, sizeof *p->noise);
    for (int k = 0; k < NODES + TESTS; k++)
        p->value[k] = bg_calloc(n, sizeof(double));
    for (int i = 0; i < TESTS; i++)
        for (int k = 0; k < NODES; k++) {
            p->weight[i][k] = 1;
            for (int j = 0; j < NODES; j++)
                if (j != k)
                    p->weight[i][k] *= (sample_place[NODES + i] - sample_place[j]) /
                                       (sample_place[k] - sample_place[j]);
        }
    return p;
}

void
pieces_free(pieces *p)
{
    if (!p)
        return;
    for (int k = 0; k < NODES + TESTS; k++)
        free(p->value[k]);
    reach_free(p->reach);
    free(p->size);
    free(p->noise);
    vec_free(&p->end);
    vec_free(&p->todo);
    free(p);
}

void
pieces_forget(pieces *p)
{
    if (p)
        reach_forget(p->reach);
}

/* The first function of time that is not smooth over a..b, or NO_INDEX. */
static size_t
rough(pieces *p, double a, double b, double share)
{
    for (int k = 0; k < NODES + TESTS; k++) {
        if (model_clocks(p->model, a + sample_place[k] * (b - a), p->value[k]) != 0)
            return NO_INDEX;
        for (size_t i = 0; i < p->n; i++)
            if (fabs(p->value[k][i]) > p->size[i])
                p->size[i] = fabs(p->value[k][i]);
    }
    for (size_t i = 0; i < p->n; i++)
        for (int t = 0; t < TESTS; t++) {
            double smooth = 0;

            for (int k = 0; k < NODES; k++)
                smooth += p->weight[t][k] * p->value[k][i];
            if (fabs(p->value[NODES + t][i] - smooth) > share * p->size[i] && p->size[i] > p->noise[i])
                return i;
        }
    return NO_INDEX;
}

/* A function that should be zero is rounding, which changes from one floating-point number to the next: no shorter
 * piece makes it smooth. */
static bool
is_noise(pieces *p, size_t clock, double t, double share)
{
    double before = 0, jump = 0;

    for (int k = 0; k < NEIGHBOURS; k++, t = nextafter(t, INFINITY)) {
        if (model_clocks(p->model, t, p->value[0]) != 0)
            return false;
        jump = k ? fmax(jump, fabs(p->value[0][clock] - before)) : 0;
        before = p->value[0][clock];
    }
    if (jump < NOISE_SHARE * share * p->size[clock])
        return false;
    p->noise[clock] = NOISE_MARGIN * p->size[clock];
    return true;
}

void
pieces_begin(pieces *p, double t0, double t1, double share)
{
    p->share = share;
    p->at = t0;
    p->taken = 0;
    p->most = p->unresolved == NO_INDEX ? PIECES_MOST : PIECES_GIVEN_UP;
    p->todo.n = 0;
    vec_push(&p->todo, t1);
    reach_step(p->reach, t0, t1 - t0, t1); /* usually all of it is smooth */
}

double
pieces_next(pieces *p)
{
    for (;;) {
        double b = p->todo.at[p->todo.n - 1], middle = p->at + (b - p->at) / 2;
        size_t clock = rough(p, p->at, b, p->share), hidden;

        if (clock != NO_INDEX && p->todo.n > DEEP && is_noise(p, clock, middle, p->share))
            continue;
        if (clock == NO_INDEX && !reach_clear(p->reach, p->at, b, &hidden))
            clock = hidden;
        if (clock != NO_INDEX && p->taken + p->todo.n < p->most && middle > p->at && middle < b) {
            vec_push(&p->todo, middle);
            continue;
        }
        if (clock != NO_INDEX && p->unresolved == NO_INDEX)
            p->unresolved = clock;
        p->taken++;
        p->todo.n--;
        p->at = b;
        return b;
    }
}

void
pieces_cut(pieces *p, double t0, double t1, double share, const double **end, size_t *n)
{
    p->end.n = 0;
    pieces_begin(p, t0, t1, share);
    while (p->todo.n)
        vec_push(&p->end, pieces_next(p));
    *end = p->end.at;
    *n = p->end.n;
}

size_t
pieces_unresolved(const pieces *p)
{
    return p ? p->unresolved : NO_INDEX;
}
