/* habits.c - names used in other languages, and their equivalents here */
#include <string.h>

#include "elab.h"

struct habit {
    const char *names, *help;
};

static const struct habit functions[] = {
    { " log ", "Write ln for the natural logarithm, log10 for that to base 10." },
    { " pow power ", "Write a^b." },
    { " sqr square ", "Write x^2." },
    { " cbrt ", "Write spow(x, 1/3)." },
    { " fabs ", "Write abs(x)." },
    { " sgn signum ", "Write sign(x)." },
    { " arcsin arccos arctan ", "Write asin(x), acos(x) or atan(x)." },
    { " ceiling ", "Write ceil(x)." },
    { " trunc fix integer Integer int ", "Write floor(x) or round(x); what is integrated over time is integral(x)." },
    { " rem remainder fmod modulo ", "Write mod(a, b)." },
    { " ddt derivative diff dt deriv ", "Write der(x)." },
    { " integrate integ integrator sdt cumtrapz ", "Write integral(x), or integral(x, initial)." },
    { " pre last hold ",
      "Write previous(x) within an `every` block; what jumps is set by: when CONDITION { reinit x = ...; }" },
    { " heaviside step unitstep ", "Write: if time < 1 [s] then 0 else 1." },
    { " ramp ", "Write: max(0, time - 1 [s])/1 [s]." },
    { " pulse square ", "Write: if mod(time, 2 [s]) < 1 [s] then 1 else 0." },
    { " interp2 lookup2d table2 map2d combitable2d ", "Write table2d(\"map.csv\", x, y)." },
    { " interp1 lookup lookup1d interpolate ", "Write table(\"file.csv\", \"column\", x)." },
    { " rand random randn gauss ", "Write noise(...) or uniform(...) in an `every` block." },
    { " edge change sample initial terminal reinit ",
      "Write: when CONDITION { reinit spring.q = 0; }, or for what is sampled: every 10 [ms] { ... }" },
    { " abs2 hypot ", "Write norm(a, b)." },
    { " average avg ", "Write mean(v)." },
    { " dot cross inner ", "Between vectors, a*b is the dot product." },
    { " transpose inv inverse det ", "Matrices are written out: [1, 2; 3, 4]; M*v is a product." },
    { " print assert error warning ", "Write it as a statement of the model or of an experiment." },
    { " if ifelse iif switch select where ", "Write: if CONDITION then a else b." },
    { " and or not ", "Write: a and b, a or b, not a." },
    { " noEvent smooth homotopy inStream actualStream ", "Write the expression alone: conditions need no operator "
                                                         "around them." },
    { " zeros ones fill eye repmat ", "Equal entries are written once: parameter x[3] = 0;" },
    { " linspace arange range logspace colon ",
      "Write the entries, [0, 0.5, 1], or a formula for each: for i in 1..3 { signal x[i] = i/3; }" },
    { " piecewise case cases match ", "Write: if time < 1 [s] then 0 else if time < 2 [s] then 1 else 2." },
    { " sind cosd tand ", "Write sin(30 [deg]): units of angles convert by themselves." },
    { " deg2rad radians rad2deg degrees to_rad to_deg ",
      "Write 30 [deg]; an output shows what it has in its unit: output a [deg] = x;" },
    { " clip clamp saturate saturation limit limiter constrain ", "Write max(low, min(x, high))." },
    { " V v I i volts current voltage U ",
      "An effort is read as out.e, a flow as r.f; .u and .i of an electrical bond." },
    { " Q_ Quantity quantity ureg ", "Write the unit behind the number: 5 [kg]." },
    { " len length size numel shape ", "A size is a name of the model, model m(n = 3), and read as n." },
    { " sqrtm nthroot root ", "Write x^(1/3), or spow(x, 1/3) where x may be negative." },
    { " log1p expm1 log2 lg ", "Write ln(1 + x), exp(x) - 1, ln(x)/ln(2), log10(x)." },
};

static const struct habit habit_values[] = {
    { " t T Time TIME clock ", "The time of the run is `time`, in [s]." },
    { " PI Pi ", "Write pi." },
    { " e E exp ", "Write exp(x) for the exponential, exp(1) for its base." },
    { " d D ", "A derivative is written der(x)." },
    { " inf Inf Infinity infinity ", "There is no infinite number; write one that is large enough, as 1e30." },
    { " nan NaN ", "Every value is a number; leave out what has none." },
    { " true True TRUE ", "What is true is a comparison, or a number that is not 0: 1." },
    { " false False FALSE ", "What is false is a comparison, or 0." },
    { " i j I J ", "There are no complex numbers; `bgc linearize` works with frequencies." },
    { " None none null NULL nil undefined missing ", "Leave the value out: `input u;` is given by every experiment." },
    { " g g_n gravity ", "Declare it: constant g = 9.81 [m/s^2];" },
};

/* words for elements, with their TYPE */
static const struct habit types[] = {
    { " resistor Resistor damper Damper friction Friction D B b r load Load dashpot ",
      "Write `junction -> R:name = 3;`." },
    { " capacitor Capacitor spring Spring K k c tank Tank compliance ", "Write `junction -> C:name = 1/k;`." },
    { " inductor Inductor mass Mass inertia Inertia L l m M coil J ", "Write `junction -> I:name = 2;`." },
    { " S V E source Source VoltageSource ForceSource SE effort Effort se ", "Write `Se:name = 12 -> junction;`." },
    { " F CurrentSource FlowSource SF flow Flow sf ", "Write `Sf:name = 2 -> junction;`." },
    { " transformer Transformer gear Gear lever Lever tf T ", "Write `a -> TF:name = 1/20 -> b;`." },
    { " gyrator Gyrator gy G motor ", "Write `a -> GY:name = 0.1 -> b;`; motors of the library: import motors;" },
    { " J0 j0 zero Zero common_effort ZeroJunction ", "Write `0:name;`." },
    { " J1 j1 one One common_flow OneJunction ", "Write `1:name;`." },
    { " diode Diode switch Switch thyristor ", "The library has them: import electrical;" },
};

static const struct habit habit_settings[] = {
    { " tend t_end tstop t_stop tfinal tf StopTime stoptime stop_time duration end tmax finish until ",
      "Write stop = 10 [s];" },
    { " tstart t_start StartTime begin t0 ", "Write start = 0 [s];" },
    { " dt step h stepsize step_size hmax maxstep max_dt Interval interval sample_time ",
      "Steps are chosen automatically; limit them by max_step = 1 [ms]; the points of the table are set by --points "
      "501." },
    { " tolerance Tolerance tol reltol RelTol rel_tol relative_tolerance eps accuracy ", "Write rtol = 1e-8;" },
    { " abstol AbsTol abs_tol absolute_tolerance ", "Write atol = 1e-10;" },
    { " method integrator Method algorithm ", "Write solver = auto; (or explicit, bdf)." },
};

static const struct habit habit_solvers[] = {
    { " rk4 rk45 RK45 ode45 ode23 ode113 dopri dopri5 euler Euler heun runge_kutta rk adams erk ",
      "Write solver = explicit;" },
    { " ode15s ode23s ode23t ode23tb cvode CVODE dassl DASSL ida IDA radau Radau BDF lsoda LSODA gear Gear trap "
      "trapezoidal implicit stiff ",
      "Write solver = bdf;" },
    { " midpoint symplectic verlet leapfrog stormer newmark cayley tustin ",
      "Write solver = variational; and the length of its steps, max_step = 1 [ms];" },
};

static const char *
find_habit(const struct habit *list, size_t n, const char *word)
{
    size_t length = strlen(word);

    for (size_t k = 0; k < n; k++)
        for (const char *s = list[k].names; (s = strstr(s, word)) != NULL; s += length)
            if (s[-1] == ' ' && s[length] == ' ')
                return list[k].help;
    return NULL;
}

/* Names of parts in other languages. */
static const struct habit habit_parts[] = {
    { " GND gnd ground Ground earth world World gnd1 ", "Ground is not drawn: delete this bond. An element between a "
                                                        "junction and ground is `node -> R:r = 10;`." },
    { " self this model Model root ", "Names of the model stand alone: k, spring.q." },
    { " np numpy math Math scipy Modelica ", "Functions and constants stand alone: sin(x), sqrt(x), pi." },
};

const char *
habit_function(const char *name)
{
    return find_habit(functions, sizeof functions / sizeof *functions, name);
}
/* Names of quantities that a part does not have: {} is the part. */
static const struct habit quantities[] = {
    { " angle theta phi position pos displacement x s y way distance travel stroke height h level turns ",
      "A position or an angle is the integral of a flow: signal x = integral({}.f);" },
    { " a acc acceleration alpha slope rate ", "A rate of change is a derivative: der({}.f)." },
    { " energy E work ", "An energy is the integral of a power: integral({}.power)." },
    { " voltage torque pressure force effort temperature ", "The effort is {}.e." },
    { " current speed velocity flow omega rpm n ", "The flow is {}.f." },
};

const char *
habit_quantity(const char *name)
{
    return find_habit(quantities, sizeof quantities / sizeof *quantities, name);
}

const char *
habit_part(const char *name)
{
    return find_habit(habit_parts, sizeof habit_parts / sizeof *habit_parts, name);
}
const char *
habit_value(const char *name)
{
    return find_habit(habit_values, sizeof habit_values / sizeof *habit_values, name);
}
const char *
habit_type(const char *name)
{
    return find_habit(types, sizeof types / sizeof *types, name);
}
const char *
habit_setting(const char *name)
{
    return find_habit(habit_settings, sizeof habit_settings / sizeof *habit_settings, name);
}
const char *
habit_solver(const char *name)
{
    return find_habit(habit_solvers, sizeof habit_solvers / sizeof *habit_solvers, name);
}
