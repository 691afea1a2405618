/* mock_car.h - the car suspension of the reference results: two masses, cubic springs, a curb; and the same with a
 * filtered step
 *
 * states   tyre deflection, wheel momentum, suspension deflection, body momentum [, filtered position and velocity of
 *          the ground]
 */
#ifndef MOCK_CAR_H
#define MOCK_CAR_H

#include <math.h>
#include "mock_model.h"

enum {
    CAR_GRAVITY_S,
    CAR_SPRING_S,
    CAR_GROUND,
    CAR_MASS_S,
    CAR_DAMPER_S,
    CAR_SPRING_T,
    CAR_GRAVITY_T,
    CAR_MASS_T,
    CAR_DAMPER_T,
    CAR_ELEMENTS
};
static const double car_m_t = 36.6, car_m_s = 267, car_b_t = 200, car_b_s = 700, car_g = 9.81;

struct car {
    double v_r, v_t, v_s, spring_t, damper_t, spring_s, damper_s, a_t, a_s;
};

static struct car
car_at(size_t n, const double *mode, double t, const double *x)
{
    struct car c;

    if (n == 4)
        c.v_r = mode[0] == 0 && mode[1] != 0 ? 0.4 - 0.4 * cos(4 * M_PI * (t - 1)) : 0;
    else
        c.v_r = x[5];
    c.v_t = x[1] / car_m_t;
    c.v_s = x[3] / car_m_s;
    c.spring_t = 193915 * x[0] + 2e8 * x[0] * x[0] * x[0];
    c.damper_t = car_b_t * (c.v_t - c.v_r);
    c.spring_s = 18742 * x[2] + 2e5 * x[2] * x[2] * x[2];
    c.damper_s = car_b_s * (c.v_s - c.v_t);
    c.a_t = (c.spring_s + c.damper_s - c.spring_t - c.damper_t) / car_m_t - car_g;
    c.a_s = -(c.spring_s + c.damper_s) / car_m_s - car_g;
    return c;
}

static void
car_rhs(const mock *m, const double *mode, double t, const double *x, double *dx)
{
    struct car c = car_at(m->nstates, mode, t, x);

    dx[0] = c.v_t - c.v_r;
    dx[1] = car_m_t * c.a_t;
    dx[2] = c.v_s - c.v_t;
    dx[3] = car_m_s * c.a_s;
    if (m->nstates == 6) {
        double w = 100 * M_PI, to = mode[0] != 0 ? 0 : 0.2;
        dx[4] = x[5];
        dx[5] = ((to - x[4]) * w - 1.3617 * x[5]) * (w / 0.6180);
    }
}

static void
car_powers(const mock *m, const double *mode, double t, const double *x, double *p)
{
    struct car c = car_at(m->nstates, mode, t, x);

    p[CAR_GRAVITY_S] = car_m_s * car_g * c.v_s;
    p[CAR_GRAVITY_T] = car_m_t * car_g * c.v_t;
    p[CAR_MASS_S] = car_m_s * c.a_s * c.v_s;
    p[CAR_MASS_T] = car_m_t * c.a_t * c.v_t;
    p[CAR_SPRING_S] = c.spring_s * (c.v_s - c.v_t);
    p[CAR_DAMPER_S] = c.damper_s * (c.v_s - c.v_t);
    p[CAR_SPRING_T] = c.spring_t * (c.v_t - c.v_r);
    p[CAR_DAMPER_T] = c.damper_t * (c.v_t - c.v_r);
    p[CAR_GROUND] = (c.spring_t + c.damper_t) * c.v_r;
}

static void
car_conditions(const mock *m, const double *mode, double t, const double *x, double *g)
{
    (void)m, (void)mode, (void)x;
    g[0] = t - 1;
    g[1] = t - 1.5;
}

static const struct model_mode car_mode[] = {
    { .kind = MODE_LESS, .known = true, .slope = 1, .offset = -1, .text = "time < 1" },
    { .kind = MODE_LESS, .known = true, .slope = 1, .offset = -1.5, .text = "time < 1.5" }
};
static const mock car_smooth = { .nstates = 4,
                                 .nmodes = 2,
                                 .nelements = CAR_ELEMENTS,
                                 .rhs = car_rhs,
                                 .powers = car_powers,
                                 .conditions = car_conditions,
                                 .mode = car_mode };
static const mock car_filtered = { .nstates = 6,
                                   .nmodes = 1,
                                   .nelements = CAR_ELEMENTS,
                                   .rhs = car_rhs,
                                   .powers = car_powers,
                                   .conditions = car_conditions,
                                   .mode = car_mode };

/* J over 10 s */
static const double car_smooth_activity[] = { 2269.9619574318067, 1805.8284511716486, 797.1495710028098,
                                              719.4329333445683,  200.93421603146112, 199.78394378636105,
                                              93.1002162332804,   24.18395948814799,  0.5521539639295557 };
static const double car_filtered_activity[] = { 4277.065129258404, 20012.329626648145, 35776.06729925306,
                                                4556.32969219187,  26975.172388485782, 152050.3464088246,
                                                758.4666846762967, 172249.80018981698, 7118.215892136065 };

#endif
