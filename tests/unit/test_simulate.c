/* test_simulate.c - the runtime on models with known answers: closed forms, published event times, energy balances */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "simulate.h"
#include "mock_car.h"
#include "mock_model.h"

#define UNUSED (void)m, (void)mode, (void)t, (void)x
#define FORMULA const mock *m, const double *mode, double t, const double *x
#define near(a, b, tol) assert_true(fabs((a) - (b)) <= (tol))

static const char *
message(bg_model *m, const char *code)
{
    const sources *s = model_sources(m);

    for (size_t i = 0; i < diag_count(s); i++)
        if (strcmp(diag_at(s, i)->code, code) == 0)
            return diag_at(s, i)->message;
    return NULL;
}

/* ---- oscillator: x' = v, v' = -w² x; powers of spring, mass, and a source that gives nothing ---- */
static void
osc_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = x[1];
    dx[1] = -m->p[0] * m->p[0] * x[0];
}
static void
osc_powers(FORMULA, double *p)
{
    UNUSED;
    p[0] = m->p[0] * m->p[0] * x[0] * x[1];
    p[1] = -p[0];
    p[2] = 0;
}
static void
osc_outputs(FORMULA, double *y)
{
    UNUSED;
    y[0] = x[0];
}
static const double two[] = { 2 }, unit_start[] = { 1, 0 };
static const mock oscillator = { .nstates = 2,
                                 .noutputs = 1,
                                 .nelements = 3,
                                 .p = two,
                                 .rhs = osc_rhs,
                                 .powers = osc_powers,
                                 .outputs = osc_outputs,
                                 .x0 = unit_start };

static void
run_oscillator(enum sim_solver solver, double rtol, double tol_x, double tol_a)
{
    bg_model *m = mock_new(&oscillator);
    double from[] = { 1, 3 }, to[] = { 2, 4 };
    sim_options o = { .stop = 10,
                      .rtol = rtol,
                      .solver = solver,
                      .points = 101,
                      .outputs = true,
                      .states = true,
                      .activity = true };
    sim_result r;

    assert_true(simulate(m, &o, &r));
    near(r.x_end[0], cos(20), tol_x);
    for (size_t i = 0; i < r.points; i++) {
        near(r.time[i], 0.1 * (double)i, 1e-12);
        near(r.output[i], cos(0.2 * (double)i), tol_x);
        near(r.state[2 * i + 1], -2 * sin(0.2 * (double)i), 3 * tol_x);
    }
    /* |P| = 4 |sin 4t|: 12 whole half-periods of pi/4 with 2 each, and the rest */
    double rest = 10 - 12 * M_PI / 4, exact = 12 * 2 + 1 - cos(4 * rest);
    near(r.activity[0] / exact, 1, tol_a);
    near(r.activity[1] / exact, 1, tol_a);
    near(r.net[0], cos(40) - 1, 10 * tol_a);
    near(r.square[0], 80 - sin(80), 80 * tol_a);
    assert_true(r.activity[2] == 0);
    assert_true(r.max_power_sum < 1e-12);
    assert_true(r.time[100] == 10);
    sim_result_free(&r);

    o.points = 0;
    o.nwindows = 2;
    o.window_from = from;
    o.window_to = to;
    assert_true(simulate(m, &o, &r));
    near(r.window_length, 2, 1e-12);
    near(r.net[0], cos(8) - cos(4) + cos(16) - cos(12), 20 * tol_a);
    sim_result_free(&r);
    mock_free(m);
}
static void
test_oscillator(void **state)
{
    (void)state;
    run_oscillator(SIM_EXPLICIT, 1e-6, 1e-4, 2e-5);
    run_oscillator(SIM_EXPLICIT, 1e-9, 1e-7, 2e-8);
    run_oscillator(SIM_BDF, 1e-6, 1e-3, 3e-4);
    run_oscillator(SIM_BDF, 1e-10, 1e-6, 1e-6);
    run_oscillator(SIM_AUTO, 1e-8, 1e-6, 2e-7);
}

/* ---- a ball on a springy floor (q, p): e = q < 0 ? 100 q : 0, m = 1, air 1 N.s/m ---- */
static void
ball_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = x[1];
    dx[1] = -9.81 - x[1] - (mode[0] != 0 ? 100 * x[0] : 0);
}
static void
ball_conditions(FORMULA, double *g)
{
    UNUSED;
    g[0] = x[0];
}
static void
ball_powers(FORMULA, double *p)
{
    double spring = mode[0] != 0 ? 100 * x[0] : 0;

    UNUSED;
    p[0] = 9.81 * x[1];
    p[1] = (-9.81 - x[1] - spring) * x[1];
    p[2] = x[1] * x[1];
    p[3] = spring * x[1];
}
static const struct model_mode ball_mode[] = { { .kind = MODE_LESS, .text = "q < 0" } };
static const double ball_start[] = { 10, 0 };
static const mock ball = { .nstates = 2,
                           .nmodes = 1,
                           .nelements = 4,
                           .rhs = ball_rhs,
                           .powers = ball_powers,
                           .conditions = ball_conditions,
                           .mode = ball_mode,
                           .x0 = ball_start };

static void
test_ball(void **state)
{
    static const double when[] = { 1.86437493, 2.20483805, 3.38201614, 3.74265666,
                                   4.43233760, 4.81831855, 5.25859151, 5.67841035 };
    (void)state;

    for (int k = 0; k < 3; k++) {
        bg_model *m = mock_new(&ball);
        sim_options o = { .stop = 10,
                          .rtol = 1e-10,
                          .solver = k == 0   ? SIM_AUTO
                                    : k == 1 ? SIM_EXPLICIT
                                             : SIM_BDF,
                          .activity = true };
        sim_result r;
        assert_true(simulate(m, &o, &r));
        assert_int_equal(r.nevents, 11);
        near(r.net[0], 9.81 * (r.x_end[0] - 10), 1e-6);
        near(r.net[1], r.x_end[1] * r.x_end[1] / 2, 1e-6);
        near(r.net[3], 50 * r.x_end[0] * r.x_end[0], 1e-6);
        near(r.net[2] + r.net[1] + r.net[3] + r.net[0], 0, 1e-10);
        near(r.activity[2], r.net[2], 1e-12);
        for (size_t i = 0; i < 8; i++)
            near(r.event[i], when[i], 1.5e-8);
        near(r.x_end[0], -.11868001, 2e-7);
        near(r.x_end[1], .06305913, 2e-7);
        sim_result_free(&r);
        mock_free(m);
    }
    /* it comes to rest in the floor */
    bg_model *m = mock_new(&ball);
    double x[] = { 10, 0 };
    assert_true(equilibrium(m, 0, x));
    near(x[0], -0.0981, 1e-13);
    near(x[1], 0, 1e-13);
    mock_free(m);
}

/* A ball dropped from rest exactly at the border: the right limit decides. */
static void
test_right_limit(void **state)
{
    static const double at_border[] = { 0, 0 };
    mock spec = ball;
    sim_options o = { .stop = 0.01, .rtol = 1e-9 };
    sim_result r;
    (void)state;

    spec.x0 = at_border;
    bg_model *m = mock_new(&spec);
    assert_true(simulate(m, &o, &r));
    assert_int_equal(r.nevents, 0);
    assert_true(model_modes(m)[0] == 1);
    sim_result_free(&r);
    mock_free(m);
}

/* ---- dry friction by sign(v): sticks, which a frozen condition cannot ---- */
static void
friction_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = mode[0] != 0 ? 1 : -1;
}
static void
friction_conditions(FORMULA, double *g)
{
    UNUSED;
    g[0] = x[0];
}
static const struct model_mode friction_mode[] = { { .kind = MODE_LESS, .text = "v < 0" } };
static void
test_chattering(void **state)
{
    static const double one[] = { 1 };
    mock spec = { .nstates = 1,
                  .nmodes = 1,
                  .rhs = friction_rhs,
                  .conditions = friction_conditions,
                  .mode = friction_mode,
                  .x0 = one };
    sim_options o = { .stop = 10 };
    sim_result r;
    (void)state;

    for (int k = 0; k < 2; k++) {
        bg_model *m = mock_new(&spec);
        o.solver = k ? SIM_BDF : SIM_EXPLICIT;
        assert_false(simulate(m, &o, &r));
        const char *said = message(m, "run-chattering");
        assert_non_null(said);
        assert_non_null(strstr(said, "v < 0"));
        assert_non_null(strstr(said, "at 1 s"));
        sim_result_free(&r);
        mock_free(m);
    }
}

/* ---- known times: a lag driven by a table; corners at 1, 2, 3 s ---- */
static double table_x[] = { 1, 2, 3 }, table_y[] = { 0, 1, -1 };
static const ex_table ramp = { .name = "ramp", .n = 3, .x = table_x, .y = table_y };
static void
lag_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = ex_table_at(&ramp, mode[0], t) - x[0];
}
static void
lag_conditions(FORMULA, double *g)
{
    UNUSED;
    g[0] = t;
    g[1] = t - 2.5;
    g[2] = 2.5 - t;
}
static void
lag_outputs(FORMULA, double *y)
{
    UNUSED;
    y[0] = mode[1];
    y[1] = mode[2];
}
static double
lag_exact(double t)
{
    double at2 = exp(-1.0), at3 = (at2 - 3) * exp(-1.0) + 1, at;

    if (t <= 1)
        return 0;
    if (t <= 2)
        return t - 2 + exp(1 - t);
    at = (at2 - 3) * exp(2 - t) + (1 - 2 * (t - 2)) + 2;
    return t <= 3 ? at : -1 + (at3 + 1) * exp(3 - t);
}
static void
test_known_times(void **state)
{
    const struct model_mode modes[] = {
        { .kind = MODE_PIECE, .table = &ramp, .known = true, .slope = 1, .text = "ramp(time)" },
        { .kind = MODE_LESS, .known = true, .slope = 1, .offset = -2.5, .text = "time < 2.5" },
        { .kind = MODE_LESS_EQUAL, .known = true, .slope = -1, .offset = 2.5, .text = "time >= 2.5" }
    };
    mock spec = { .nstates = 1,
                  .nmodes = 3,
                  .noutputs = 2,
                  .rhs = lag_rhs,
                  .conditions = lag_conditions,
                  .outputs = lag_outputs,
                  .mode = modes };
    static const enum sim_solver solver[] = { SIM_EXPLICIT, SIM_BDF };
    (void)state;

    for (int k = 0; k < 2; k++) {
        bg_model *m = mock_new(&spec);
        sim_options o = { .stop = 5, .rtol = 1e-9, .solver = solver[k], .points = 51, .states = true, .outputs = true };
        sim_result r;
        assert_true(simulate(m, &o, &r));
        assert_int_equal(r.nevents, 4);
        static const double when[] = { 1, 2, 2.5, 3 };
        for (int i = 0; i < 4; i++)
            assert_true(r.event[i] == when[i]);
        for (size_t i = 0; i < r.points; i++) {
            near(r.state[i], lag_exact(r.time[i]), 2e-8);
            assert_true(r.output[2 * i] == (r.time[i] < 2.5 - 1e-9)); /* at the border the right limit */
            assert_true(r.output[2 * i + 1] == (r.time[i] > 2.5 - 1e-9));
        }
        sim_result_free(&r);
        mock_free(m);
    }
}

/* A table over a state: x' = 1 through its corners, y' = table(x); and floor(x). */
static void
piece_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = cos(t);
    dx[1] = ex_table_at(&ramp, mode[0], 4 * x[0]);
    dx[2] = mode[1];
}
static void
piece_conditions(FORMULA, double *g)
{
    UNUSED;
    g[0] = 4 * x[0];
    g[1] = 2 * x[0];
}
static void
test_pieces(void **state)
{
    static const struct model_mode modes[] = { { .kind = MODE_PIECE, .table = &ramp, .text = "ramp" },
                                               { .kind = MODE_FLOOR, .text = "floor" } };
    mock spec = { .nstates = 3, .nmodes = 2, .rhs = piece_rhs, .conditions = piece_conditions, .mode = modes };
    (void)state;

    for (int k = 0; k < 2; k++) {
        bg_model *m = mock_new(&spec);
        sim_options o = { .stop = 2 * M_PI, .rtol = 1e-10, .solver = k ? SIM_BDF : SIM_EXPLICIT };
        sim_result r;
        assert_true(simulate(m, &o, &r));
        double s = 0, fl = 0;
        int n = 2000000;
        for (int i = 0; i < n; i++) { /* midpoint rule over the exact path */
            double x = sin((i + 0.5) * 2 * M_PI / n);
            s += ex_table_at(&ramp, -1, 4 * x) * 2 * M_PI / n;
            fl += floor(2 * x) * 2 * M_PI / n;
        }
        near(r.x_end[1], s, 2e-6);
        near(r.x_end[2], fl, 1e-5);
        sim_result_free(&r);
        mock_free(m);
    }
}

/* ---- Van der Pol with mu = 1000: the explicit method must hand over ---- */
static void
vdp_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = x[1];
    dx[1] = m->p[0] * (1 - x[0] * x[0]) * x[1] - x[0];
}
static void
test_stiff(void **state)
{
    static const double mu[] = { 1000 }, x0[] = { 2, 0 };
    mock spec = { .nstates = 2, .p = mu, .rhs = vdp_rhs, .x0 = x0 };
    sim_options o = { .stop = 2000, .rtol = 1e-7 };
    sim_result r, again;
    (void)state;

    bg_model *m = mock_new(&spec);
    assert_true(simulate(m, &o, &r));
    assert_true(r.switches >= 1);
    assert_non_null(strstr(r.method, "then bdf"));
    assert_non_null(strstr(r.method, "spectral radius"));
    assert_true(r.steps < 5000);
    near(r.x_end[0], 1.706167732, 2e-4);
    assert_true(simulate(m, &o, &again));
    assert_true(again.steps == r.steps && again.x_end[0] == r.x_end[0] && strcmp(again.method, r.method) == 0);
    sim_result_free(&r);
    sim_result_free(&again);
    mock_free(m);
}

/* ---- equilibrium: two masses joined by a spring, gravity on neither; a third hangs on a cubic spring ---- */
static void
free_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = x[1] - x[2] / 2; /* extension of the spring between masses 1 and 2 kg */
    dx[1] = -50 * x[0];
    dx[2] = 50 * x[0];
    dx[3] = x[4];
    dx[4] = -9.81 - 100 * x[3] - 1e4 * x[3] * x[3] * x[3];
    dx[5] = x[1]; /* a position that only an output reads */
}
static void
test_equilibrium(void **state)
{
    static const bool outputs[] = { 0, 0, 0, 0, 0, 1 }, stated[] = { 1, 0, 0, 0, 0, 0 };
    mock spec = { .nstates = 6, .rhs = free_rhs, .only_outputs = outputs, .stated = stated };
    bg_model *m = mock_new(&spec);
    double x[] = { 0.3, 3, 0, 0, 0.5, 7 };
    (void)state;

    assert_true(equilibrium(m, 0, x));
    near(x[0], 0, 1e-12);
    near(x[1], 1, 1e-7); /* momentum 3 shared by 1 and 2 kg */
    near(x[2], 2, 1e-7);
    near(x[1] - x[2] / 2, 0, 1e-14);
    near(9.81 + 100 * x[3] + 1e4 * x[3] * x[3] * x[3], 0, 1e-12);
    near(x[4], 0, 1e-13);
    assert_true(x[5] == 7);
    const char *said = message(m, "equilibrium-free");
    assert_non_null(said);
    assert_non_null(strstr(said, "x1"));
    assert_null(strstr(said, "x3"));
    mock_free(m);
}

static void
falling_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = -9.81;
    dx[1] = -x[1];
}
static void
test_no_equilibrium(void **state)
{
    static const char *const labels[] = { "body.p", "other.q" };
    mock spec = { .nstates = 2, .rhs = falling_rhs, .state_name = labels };
    bg_model *m = mock_new(&spec);
    double x[] = { 0, 1 };
    (void)state;

    assert_false(equilibrium(m, 0, x));
    const char *said = message(m, "run-equilibrium");
    assert_non_null(said);
    assert_non_null(strstr(said, "body.p"));
    assert_null(strstr(said, "other.q"));
    mock_free(m);
}

/* ---- failures ---- */
static void
pole_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = 1 + x[0] * x[0];
} /* tan t: no further than pi/2 */
static void
root_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = -1 - 0.001 * sqrt(x[0]);
} /* not beyond x = 0 */
static void
test_failures(void **state)
{
    static const double one[] = { 1 };
    mock spec = { .nstates = 1, .rhs = pole_rhs, .explain = "\"valve\": square root of a negative number" };
    sim_options o = { .stop = 3 };
    sim_result r;
    (void)state;

    for (int k = 0; k < 3; k++) {
        bg_model *m = mock_new(&spec);
        o.solver = (enum sim_solver)k;
        assert_false(simulate(m, &o, &r));
        assert_true(message(m, "run-step") || message(m, "run-singular"));
        sim_result_free(&r);
        mock_free(m);
    }
    spec.rhs = root_rhs;
    spec.x0 = one;
    for (int k = 0; k < 3; k++) {
        bg_model *m = mock_new(&spec);
        o.solver = (enum sim_solver)k;
        assert_false(simulate(m, &o, &r));
        const char *said = message(m, "run-singular");
        assert_non_null(said);
        assert_non_null(strstr(said, "valve"));
        assert_non_null(strstr(said, " s"));
        sim_result_free(&r);
        mock_free(m);
    }
    bg_model *m = mock_new(&oscillator);
    o = (sim_options){ .stop = 1000, .max_steps = 100 };
    assert_false(simulate(m, &o, &r));
    assert_non_null(message(m, "run-steps"));
    sim_result_free(&r);
    o = (sim_options){ .start = 1, .stop = 1 };
    assert_false(simulate(m, &o, &r));
    assert_non_null(message(m, "run-span"));
    sim_result_free(&r);
    mock_free(m);
}

/* ---- a square root behind a condition: the frozen branch has no values beyond the border ---- */
static void
guarded_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = mode[0] != 0 ? 0 : -sqrt(x[0]) - 0.5;
    if (mode[0] != 0)
        dx[0] = -0.5;
}
static void
guarded_conditions(FORMULA, double *g)
{
    UNUSED;
    g[0] = x[0];
}
static void
test_guarded(void **state)
{
    static const struct model_mode mode[] = { { .kind = MODE_LESS, .text = "x < 0" } };
    static const double one[] = { 1 };
    mock spec = { .nstates = 1,
                  .nmodes = 1,
                  .rhs = guarded_rhs,
                  .conditions = guarded_conditions,
                  .mode = mode,
                  .x0 = one };
    (void)state;

    for (int k = 0; k < 3; k++) {
        bg_model *m = mock_new(&spec);
        sim_options o = { .stop = 3, .rtol = 1e-8, .solver = (enum sim_solver)k };
        sim_result r;
        assert_true(simulate(m, &o, &r));
        /* sqrt(x) = u: u' = -(u + 1/2)/(2u), so t(0) = 2 - ln 3 */
        near(r.x_end[0], -0.5 * (3 - (2 - log(3))), 1e-6);
        sim_result_free(&r);
        mock_free(m);
    }
}

/* ---- the car suspension from equilibrium: activities of the reference results ---- */
static void
test_car(void **state)
{
    static const struct {
        enum sim_solver solver;
        double rtol, tolerance;
    } with[] = { { SIM_EXPLICIT, 1e-8, 5e-8 }, { SIM_BDF, 1e-10, 5e-8 }, { SIM_AUTO, 1e-9, 5e-8 } };
    (void)state;

    for (int k = 0; k < 6; k++) {
        bg_model *m = mock_new(k < 3 ? &car_smooth : &car_filtered);
        const double *expected = k < 3 ? car_smooth_activity : car_filtered_activity;
        sim_options o = { .stop = 10,
                          .rtol = with[k % 3].rtol,
                          .solver = with[k % 3].solver,
                          .activity = true,
                          .equilibrium = true };
        sim_result r;
        assert_true(simulate(m, &o, &r));
        near(r.x_start[0], -0.013060924783716317, 1e-15);
        near(r.x_start[2], -0.12089737328894307, 1e-14);
        for (int i = 0; i < CAR_ELEMENTS; i++)
            near(r.activity[i] / expected[i], 1, with[k % 3].tolerance);
        assert_true(r.max_power_sum < 1e-12);
        sim_result_free(&r);
        mock_free(m);
    }
}

/* ---- no states: outputs and powers over time, with a condition in time that is not linear ---- */
static void
static_powers(FORMULA, double *p)
{
    UNUSED;
    p[0] = sin(t);
    p[1] = mode[0] != 0 ? 1 : 0;
    p[2] = sin(2000 * t);
}
static void
static_outputs(FORMULA, double *y)
{
    UNUSED;
    y[0] = sin(t);
}
static void
static_conditions(FORMULA, double *g)
{
    UNUSED;
    g[0] = sin(t);
}
static void
nothing(FORMULA, double *dx)
{
    UNUSED;
    (void)dx;
}
static void
test_no_states(void **state)
{
    static const struct model_mode mode[] = { { .kind = MODE_LESS, .text = "sin(time) < 0" } };
    mock spec = { .nmodes = 1,
                  .noutputs = 1,
                  .nelements = 3,
                  .rhs = nothing,
                  .powers = static_powers,
                  .outputs = static_outputs,
                  .conditions = static_conditions,
                  .mode = mode };
    bg_model *m = mock_new(&spec);
    sim_options o = { .stop = 10, .points = 11, .outputs = true, .activity = true, .equilibrium = true };
    sim_result r;
    (void)state;

    assert_true(simulate(m, &o, &r));
    near(r.activity[0], 6 + 1 + cos(10), 1e-9);
    near(r.net[0], 1 - cos(10), 1e-9);
    near(r.activity[1], M_PI + 10 - 3 * M_PI, 1e-9);
    near(r.activity[2] / (20 / M_PI), 1, 1e-4);
    assert_int_equal(r.nevents, 3);
    near(r.output[7], sin(7), 1e-14);
    sim_result_free(&r);
    mock_free(m);
}

/* ---- augmented Jacobian: 40 masses on one massless bar; z = mean velocity ---- */
enum { BAR = 40 };
static void
bar_rhs(FORMULA, double *dx)
{
    double z = 0;

    UNUSED;
    for (size_t i = 0; i < BAR; i++)
        z += x[i] / BAR;
    for (size_t i = 0; i < BAR; i++)
        dx[i] = -1e4 * (x[i] - z) - z;
}
static int64_t bar_column[BAR + 2], bar_row[4 * BAR + 2];
static void
bar_jacobian(FORMULA, double *v)
{
    UNUSED;
    size_t k = 0;
    for (size_t j = 0; j < BAR; j++) {
        v[k++] = -1e4;
        v[k++] = 1.0 / BAR; /* 0 = sum x/n - z */
    }
    for (size_t i = 0; i < BAR; i++)
        v[k++] = 1e4 - 1;
    v[k++] = -1;
}
static void
test_augmented(void **state)
{
    double x0[BAR];
    size_t k = 0;
    (void)state;

    for (size_t j = 0; j < BAR; j++) {
        bar_column[j] = (int64_t)k;
        bar_row[k++] = (int64_t)j;
        bar_row[k++] = BAR;
        x0[j] = 1 + 0.1 * sin((double)j);
    }
    bar_column[BAR] = (int64_t)k;
    for (size_t i = 0; i <= BAR; i++)
        bar_row[k++] = (int64_t)i;
    bar_column[BAR + 1] = (int64_t)k;
    mock spec = { .nstates = BAR,
                  .rhs = bar_rhs,
                  .jacobian = bar_jacobian,
                  .x0 = x0,
                  .pattern = { BAR + 1, BAR, bar_column, bar_row, k } };
    bg_model *m = mock_new(&spec);
    sim_options o = { .stop = 2, .rtol = 1e-8, .solver = SIM_BDF };
    sim_result r;
    double mean = 0;
    assert_true(simulate(m, &o, &r));
    for (size_t i = 0; i < BAR; i++)
        mean += x0[i] / BAR;
    for (size_t i = 0; i < BAR; i++)
        near(r.x_end[i], mean * exp(-2), 1e-6);
    assert_true(r.steps < 1000);
    sim_result_free(&r);
    assert_true(equilibrium(m, 0, x0));
    for (size_t i = 0; i < BAR; i++)
        near(x0[i], 0, 1e-12);
    mock_free(m);
}

/* ---- a long chain of masses: sparse, stiff or not; at rest in the end ---- */
enum { CHAIN = 400 };
static int64_t chain_column[2 * CHAIN + 1], chain_row[8 * CHAIN];
static void
chain_rhs(FORMULA, double *dx)
{
    double before = 0, c = m->p[0];

    UNUSED;
    for (size_t i = 0; i < CHAIN; i++)
        dx[CHAIN + i] = 0;
    for (size_t i = 0; i < CHAIN; i++) {
        double d = x[CHAIN + i] - before, force = 100 * x[i] + 10 * x[i] * x[i] * x[i] + c * d;
        dx[i] = d;
        dx[CHAIN + i] -= force;
        if (i > 0)
            dx[CHAIN + i - 1] += force;
        before = x[CHAIN + i];
    }
}
static void
chain_powers(FORMULA, double *p)
{
    double before = 0, c = m->p[0], force[CHAIN + 1] = { 0 };

    UNUSED;
    for (size_t i = 0; i < CHAIN; i++) {
        double d = x[CHAIN + i] - before, spring = 100 * x[i] + 10 * x[i] * x[i] * x[i];
        p[i] = spring * d;
        p[CHAIN + i] = c * d * d;
        force[i] = spring + c * d;
        before = x[CHAIN + i];
    }
    for (size_t i = 0; i < CHAIN; i++)
        p[2 * CHAIN + i] = (force[i + 1] - force[i]) * x[CHAIN + i];
}
static size_t
chain_fill(const double *x, double c, double *v)
{
    size_t k = 0;

#define ENTRY(r, value) \
    do { \
        chain_row[k] = (int64_t)(r); \
        v[k++] = (value); \
    } while (0)
    for (size_t j = 0; j < CHAIN; j++) {
        double slope = 100 + 30 * x[j] * x[j];
        chain_column[j] = (int64_t)k;
        ENTRY(j, 0);
        if (j > 0)
            ENTRY(CHAIN + j - 1, slope);
        ENTRY(CHAIN + j, -slope);
    }
    for (size_t j = 0; j < CHAIN; j++) {
        chain_column[CHAIN + j] = (int64_t)k;
        ENTRY(j, 1);
        if (j + 1 < CHAIN)
            ENTRY(j + 1, -1);
        if (j > 0)
            ENTRY(CHAIN + j - 1, c);
        ENTRY(CHAIN + j, j + 1 < CHAIN ? -2 * c : -c);
        if (j + 1 < CHAIN)
            ENTRY(CHAIN + j + 1, c);
    }
#undef ENTRY
    chain_column[2 * CHAIN] = (int64_t)k;
    return k;
}
static void
chain_jacobian(FORMULA, double *v)
{
    UNUSED;
    chain_fill(x, m->p[0], v);
}

static void
test_chain(void **state)
{
    static double x0[2 * CHAIN], values[8 * CHAIN];
    (void)state;

    for (size_t i = 0; i < CHAIN; i++)
        x0[i] = 0.1 * sin(0.7 * (double)i);
    for (int k = 0; k < 2; k++) {
        const double c = k ? 5000 : 0.5;
        mock spec = { .nstates = 2 * CHAIN,
                      .nelements = 3 * CHAIN,
                      .p = &c,
                      .rhs = chain_rhs,
                      .powers = chain_powers,
                      .jacobian = chain_jacobian,
                      .x0 = x0 };
        spec.pattern = (struct model_pattern){ 2 * CHAIN, 2 * CHAIN, chain_column, chain_row, 0 };
        spec.pattern.nonzeros = chain_fill(x0, c, values);
        bg_model *m = mock_new(&spec);
        sim_options o = { .stop = 3, .rtol = 1e-7, .activity = true };
        sim_result r, other;
        assert_true(simulate(m, &o, &r));
        assert_true((r.switches > 0) == (k == 1));
        o.rtol = 1e-10;
        o.solver = SIM_BDF;
        assert_true(simulate(m, &o, &other));
        double total = 0, dissipated = 0, before = 0, after = 0;
        for (size_t i = 0; i < 3 * CHAIN; i++)
            total += other.activity[i];
        for (size_t i = 0; i < 3 * CHAIN; i++)
            near(r.activity[i], other.activity[i], 3e-5 * total / CHAIN);
        for (size_t i = 0; i < CHAIN; i++) { /* energy lost is what the dampers took */
            dissipated += r.net[CHAIN + i];
            before += 50 * x0[i] * x0[i] + 2.5 * pow(x0[i], 4);
            after += 50 * r.x_end[i] * r.x_end[i] + 2.5 * pow(r.x_end[i], 4) +
                     0.5 * r.x_end[CHAIN + i] * r.x_end[CHAIN + i];
        }
        near((before - after) / dissipated, 1, 1e-5);
        sim_result_free(&r);
        sim_result_free(&other);
        double rest[2 * CHAIN];
        memcpy(rest, x0, sizeof rest);
        assert_true(equilibrium(m, 0, rest));
        for (size_t i = 0; i < 2 * CHAIN; i++)
            near(rest[i], 0, 1e-9);
        mock_free(m);
    }
}

/* ---- ten thousand corners at known times ---- */
enum { CORNERS = 10000 };
static double many_x[CORNERS], many_y[CORNERS];
static const ex_table many = { .name = "many", .n = CORNERS, .x = many_x, .y = many_y };
static void
many_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = ex_table_at(&many, mode[0], t);
}
static void
test_many_corners(void **state)
{
    static const struct model_mode modes[] = {
        { .kind = MODE_PIECE, .table = &many, .known = true, .slope = 1, .text = "many(time)" }
    };
    mock spec = { .nstates = 1, .nmodes = 1, .rhs = many_rhs, .conditions = lag_conditions, .mode = modes };
    double exact = 0;
    (void)state;

    spec.conditions = piece_conditions;
    for (size_t i = 0; i < CORNERS; i++) {
        many_x[i] = (double)i + 0.25;
        many_y[i] = (double)(i * 7 % 11);
        if (i > 0)
            exact += (many_y[i] + many_y[i - 1]) / 2;
    }
    bg_model *m = mock_new(&spec);
    sim_options o = { .stop = CORNERS - 0.75, .rtol = 1e-6 };
    sim_result r;
    assert_true(simulate(m, &o, &r));
    assert_int_equal(r.nevents, CORNERS - 1);
    near(r.x_end[0] / exact, 1, 1e-12);
    sim_result_free(&r);
    mock_free(m);
}

/* ---- a ball on a hard floor (h, v): as h < 0 turns true, v becomes -p v ---- */
static void
hard_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = x[1];
    dx[1] = -9.81;
}
static void
hard_reinits(FORMULA, double *v)
{
    UNUSED;
    v[0] = mode[0];
    v[1] = -m->p[0] * x[1];
}
static const struct model_when hard_when[] = { { .text = "h < 0", .n = 1 } };
static const size_t hard_state[] = { 1 };
static const double restitution[] = { 0.8 };
static const mock hard = { .nstates = 2,
                           .nmodes = 1,
                           .nwhens = 1,
                           .nreinits = 1,
                           .p = restitution,
                           .rhs = hard_rhs,
                           .conditions = ball_conditions,
                           .mode = ball_mode,
                           .x0 = ball_start,
                           .when = hard_when,
                           .reinit_state = hard_state,
                           .reinits = hard_reinits };
static void
test_impacts(void **state)
{
    double at = sqrt(20 / 9.81), v = 9.81 * at;
    (void)state;

    for (int k = 0; k < 2; k++) {
        bg_model *m = mock_new(&hard);
        sim_options o = { .stop = 8, .solver = k ? SIM_BDF : SIM_EXPLICIT, .rtol = 1e-9 };
        sim_result r;
        assert_true(simulate(m, &o, &r));
        assert_int_equal(r.nevents, 4);
        double t = at, u = v;
        for (size_t i = 0; i < 4; i++) {
            near(r.event[i], t, 1e-7);
            u *= 0.8;
            t += 2 * u / 9.81;
        }
        sim_result_free(&r);

        /* the bounces come to an end at 9 times the first */
        o.stop = 20;
        assert_false(simulate(m, &o, &r));
        const char *said = message(m, "run-chattering");
        assert_non_null(said);
        assert_non_null(strstr(said, "h < 0"));
        assert_non_null(strstr(said, "at 12.8"));
        sim_result_free(&r);
        mock_free(m);
    }
}

/* Two states change places at 1 s, read before either is set; a condition that holds from the start does nothing, one
 * that turns true then acts. */
static void
swap_rhs(FORMULA, double *dx)
{
    UNUSED;
    dx[0] = dx[1] = 0;
}
static void
swap_conditions(FORMULA, double *g)
{
    UNUSED;
    g[0] = m->p[0] - t;
    g[1] = -x[0];
}
static void
swap_reinits(FORMULA, double *v)
{
    UNUSED;
    v[0] = mode[0];
    v[1] = mode[1];
    v[2] = x[1];
    v[3] = x[0];
    v[4] = 100;
}
static void
test_reinit(void **state)
{
    static const struct model_mode mode_[] = {
        { .kind = MODE_LESS_EQUAL, .known = true, .slope = -1, .offset = 1, .text = "time >= 1" },
        { .kind = MODE_LESS, .text = "x > 0" }
    };
    static const struct model_when when[] = { { .text = "time >= 1", .n = 2 },
                                              { .text = "x > 0", .first = 2, .n = 1 } };
    static const size_t states[] = { 0, 1, 1 };
    static const double x0[] = { 3, 7 }, one[] = { 1 };
    const mock spec = { .nstates = 2,
                        .nmodes = 2,
                        .nwhens = 2,
                        .nreinits = 3,
                        .p = one,
                        .rhs = swap_rhs,
                        .conditions = swap_conditions,
                        .mode = mode_,
                        .x0 = x0,
                        .when = when,
                        .reinit_state = states,
                        .reinits = swap_reinits };
    const double start[] = { 0, 1, 1.5 };
    (void)state;

    for (int k = 0; k < 3; k++) { /* from 0: at 1 s; from 1: at once; from 1.5: long past */
        bg_model *m = mock_new(&spec);
        sim_options o = { .start = start[k], .stop = 2 };
        sim_result r;
        assert_true(simulate(m, &o, &r));
        assert_true(r.x_end[0] == (k == 2 ? 3 : 7));
        assert_true(r.x_end[1] == (k == 2 ? 7 : 3));
        assert_int_equal(r.nevents, k < 2);
        sim_result_free(&r);
        mock_free(m);
    }
}

/* ---- sign(v): two masses with friction s*F between, one driven by a force (p_a, p_b of mass 1 and 2). F = 3: s = 2
 * u/9 keeps them together ---- */
static double
rubbing(const mock *m, const double *mode)
{
    return mode[1] != 0 ? 2 * m->p[0] / (3 * m->p[1]) : mode[0];
}
static void
rub_rhs(FORMULA, double *dx)
{
    double s = rubbing(m, mode);

    UNUSED;
    dx[0] = m->p[0] - s * m->p[1];
    dx[1] = s * m->p[1];
}
static void
rub_conditions(FORMULA, double *g)
{
    UNUSED;
    g[0] = x[0] - x[1] / 2;
    g[1] = rubbing(m, mode);
    g[2] = -g[0];
}
static void
test_sticking(void **state)
{
    static const struct model_mode mode_[] = { { .kind = MODE_SIGN, .text = "v", .partner = 1 },
                                               { .kind = MODE_STICK, .text = "s", .partner = 0 },
                                               { .kind = MODE_LESS, .text = "v > 0", .partner = 1, .side = -1 } };
    static const double x0[] = { 2, 1 }, held[] = { 1, 3 }, torn[] = { 9, 3 }, none[] = { 1, 0 };
    mock spec = { .nstates = 2, .nmodes = 3, .rhs = rub_rhs, .conditions = rub_conditions, .mode = mode_ };
    (void)state;

    for (int k = 0; k < 2; k++) {
        sim_options o = { .stop = 10, .solver = k ? SIM_BDF : SIM_EXPLICIT, .rtol = 1e-8 };
        sim_result r;
        bg_model *m;

        /* v = 1.5 - 3.5 t until 3/7 s, then together: total momentum 3 + t, a third of it in the first */
        spec.p = held;
        spec.x0 = x0;
        m = mock_new(&spec);
        assert_true(simulate(m, &o, &r));
        assert_int_equal(r.nevents, 1);
        near(r.event[0], 3 / 7.0, 1e-8);
        near(r.x_end[0], 13 / 3.0, 1e-6);
        near(r.x_end[0] - r.x_end[1] / 2, 0, 1e-12);
        sim_result_free(&r);
        mock_free(m);

        /* from rest: holds or not from the start on */
        spec.x0 = NULL;
        m = mock_new(&spec);
        assert_true(simulate(m, &o, &r));
        assert_int_equal(r.nevents, 0);
        near(r.x_end[0], 10 / 3.0, 1e-6);
        sim_result_free(&r);
        mock_free(m);
        spec.p = torn;
        m = mock_new(&spec);
        assert_true(simulate(m, &o, &r));
        assert_int_equal(r.nevents, 0);
        near(r.x_end[0], 60, 1e-5);
        near(r.x_end[1], 30, 1e-5);
        sim_result_free(&r);
        mock_free(m);

        /* friction of no strength keeps nothing */
        spec.p = none;
        m = mock_new(&spec);
        assert_true(simulate(m, &o, &r));
        near(r.x_end[0], 10, 1e-6);
        sim_result_free(&r);
        mock_free(m);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oscillator),   cmocka_unit_test(test_ball),        cmocka_unit_test(test_right_limit),
        cmocka_unit_test(test_chattering),   cmocka_unit_test(test_known_times), cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_stiff),        cmocka_unit_test(test_equilibrium), cmocka_unit_test(test_no_equilibrium),
        cmocka_unit_test(test_failures),     cmocka_unit_test(test_guarded),     cmocka_unit_test(test_no_states),
        cmocka_unit_test(test_augmented),    cmocka_unit_test(test_car),         cmocka_unit_test(test_chain),
        cmocka_unit_test(test_many_corners), cmocka_unit_test(test_impacts),     cmocka_unit_test(test_reinit),
        cmocka_unit_test(test_sticking)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
