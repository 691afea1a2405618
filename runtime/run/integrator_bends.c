/* integrator_bends.c - does a step miss something inside it? Sharp bends of laws, functions that rise and fall again
 * within the step, and powers in models without states */
#include <math.h>

#include "integrator_inside.h"

#define BEND 2.0        /* in tolerances: greatest difference between the dense output and the integral of its rates */
#define BEND_AGAIN 0.1  /* the same for a repeated step: among several lengths one may pass by chance */
#define BEND_TRIES 5    /* repetitions of a step; a difference that remains then is rounding of the rates */
#define BEND_SAFETY 0.7 /* of the length at which the difference, which falls with its square, would be BEND; */
#define LEAST_AGAIN 0.1 /* bounds of the length of a repeated step, as a part of the one that failed */
#define MOST_AGAIN 0.5
/* Steps of a model without states grow if the deviation is this number of times below the bound. */
#define STRAIGHT_POWERS 40
#define SHORTEST_STATIC 1e-9 /* of the run: a step of such a model is not made shorter */
#define BORDER 1e-6          /* of a step: a remainder before `until` shorter than this is added to the step */
#define UNSEEN_TRIES 60      /* greatest number of times that a step is shortened because of what happens inside it */

/* bend: the greatest coefficient of degree four in the polynomials through the powers at five points of [t, t+h], those
 * of activity.h, relative to each power's greatest value so far. */
static bool
bend_of_powers(integrator *g, double t, double h, double *bend)
{
    const double s[5] = { 0, quartic_place[0], quartic_place[1], quartic_place[2], 1 };
    double none = 0;

    *bend = 0;
    for (int k = 0; k < 5; k++)
        if (model_powers(g->model, t + s[k] * h, &none, g->power[k]) != 0)
            return false;
    for (size_t i = 0; i < g->nelements; i++) {
        double c = 0;
        for (int k = 0; k < 5; k++) {
            double w = 1;
            for (int j = 0; j < 5; j++)
                if (j != k)
                    w *= s[k] - s[j];
            c += g->power[k][i] / w;
            g->top[i] = fmax(g->top[i], fabs(g->power[k][i]));
        }
        if (g->top[i] > 0)
            *bend = fmax(*bend, fabs(c) / g->top[i]);
    }
    return true;
}

/* The greatest difference, in tolerances, between the dense output and the integral of the rates along it from the
 * start of the step, at the three later points of Lobatto's rule of four points. */
static double
bend_of_step(integrator *g)
{
    static const double place[2] = { 0.27639320225002103036, 0.72360679774997896964 };
    static const double w[3][4] = {
        /* collocation at Lobatto's points (Hairer & Wanner II, table IV.5.8: Lobatto IIIA) */
        { 0.11030056647916491413, 0.18969943352083508587, -0.03390736422914388377, 0.01030056647916491413 },
        { 0.07303276685416841919, 0.45057403089581055044, 0.22696723314583158081, -0.02696723314583158081 },
        { 1.0 / 12, 5.0 / 12, 5.0 / 12, 1.0 / 12 }
    };
    double h = g->t[2] - g->t[1], most = 0,
           *at[4] = { integrator_state(g, 1), g->bent[0], g->bent[1], integrator_state(g, 2) };
    const double *f[4] = { g->f[1], g->bent[2], g->bent[3], g->f[2] };
    bool failed = g->failed, ok = true;

    for (int k = 0; k < 2 && ok; k++) {
        double t = g->t[1] + place[k] * h;

        ok = integrator_dense(g, t, at[1 + k]) && integrator_evaluate(g, t, at[1 + k], g->bent[2 + k]) == 0;
    }
    g->failed = failed;
    if (!ok)
        return 0;
    scales_weights(g->scales, integrator_state(g, 2), g->weight);
    for (size_t i = 0; i < g->n; i++)
        for (int k = 0; k < 3; k++) {
            double sum = w[k][0] * f[0][i] + w[k][1] * f[1][i] + w[k][2] * f[2][i] + w[k][3] * f[3][i];

            most = fmax(most, fabs(at[0][i] + h * sum - at[k + 1][i]) * g->weight[i]);
        }
    return most;
}

enum integrator_status
integrator_static_step(integrator *g, double until)
{
    double t = g->t[2], allowed = sqrt(g->rtol), bend, h;

    for (;;) {
        h = fmin(g->static_step, until - t);
        if (g->nelements == 0)
            break;
        if (!bend_of_powers(g, t, h, &bend))
            return STEP_SINGULAR;
        if (bend <= allowed || h < SHORTEST_STATIC * (g->stop - g->start)) {
            if (bend < allowed / STRAIGHT_POWERS)
                g->static_step = fmin(2 * g->static_step, (g->stop - g->start) / STATIC_STEPS);
            break;
        }
        g->static_step = h / 2;
    }
    g->t[1] = t;
    g->t[2] = until - (t + h) < BORDER * h ? until : t + h;
    g->steps++;
    return STEP_OK;
}

bool
integrator_bends(integrator *g, unsigned tries)
{
    if (!g->bent[0] || g->kind != EXPLICIT || g->steps < g->bent_from)
        return false;
    double bend = bend_of_step(g), most = tries ? BEND_AGAIN : BEND;
    if (!(bend > most))
        return false;
    if (tries == BEND_TRIES) {
        g->bent_pause *= 2;
        g->bent_from = g->steps + g->bent_pause;
        return false;
    }
    g->set_out = (g->t[2] - g->t[1]) * fmin(MOST_AGAIN, fmax(LEAST_AGAIN, BEND_SAFETY * sqrt(BEND / bend)));
    return true;
}

bool
integrator_goes_unseen(integrator *g, unsigned tries)
{
    double *f[2] = { g->f[1], g->f[2] }, part;

    if (!g->unseen || tries >= UNSEEN_TRIES)
        return false;
    for (int i = 0; i < 2 && g->kind == BDF; i++) {
        struct _generic_N_Vector v = *g->y[2];
        struct _N_VectorContent_Serial content = *(N_VectorContent_Serial)g->y[2]->content;

        content.data = f[i];
        content.own_data = SUNFALSE;
        v.content = &content;
        if (CVodeGetDky(g->cvode, g->t[1 + i], 1, &v) != 0)
            return false;
    }
    part = model_clear(g->model, &g->t[1], (const double *const[]){ integrator_state(g, 1), integrator_state(g, 2) },
                       (const double *const[]){ f[0], f[1] });
    g->set_out = part * (g->t[2] - g->t[1]);
    return part < 1;
}
