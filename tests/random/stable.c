/* stable.c - random models that are stable and damped by construction */
#include <math.h>

#include "generate.h"
#include "stable.h"

static uint64_t rng;

static double
uniform(double a, double b)
{
    return rg_uniform(&rng, a, b);
}
static bool
chance(double p)
{
    return uniform(0, 1) < p;
}
static double
magnitude(double decades)
{
    return pow(10, uniform(-decades, decades));
}

/* What a domain calls its parts. A row is of nodes with a common flow. */
struct words {
    const char *node, *inertia, *drag, *source, *between, *spring, *damper;
    bool parallel;
};
static const struct words WORDS[] = {
    { "v", "mass", "drag", "force", "link", "spring", "damper", false },
    { "shaft", "rotor", "bearing", "torque", "coupling", "torsion", "friction", false },
    { "loop", "coil", "wire", "supply", "node", "capacitor", "leak", true }, /* the capacitor is on the node itself */
    { "pipe", "inertance", "wall", "pump", "chamber", "tank", "orifice", true },
};

/* ---------------------------------------------------------------- laws */

/* The law of a C behind its name: k is the text of its stiffness, and no law is weaker than that line. */
static void
put_spring_law(strbuf *s, const char *k)
{
    switch (rg_below(&rng, 6)) {
    case 0: strbuf_printf(s, " { e = %s*q + %.4g*q^3; }\n", k, magnitude(2)); break;
    case 1: strbuf_printf(s, " { e = %s*q + %.4g*q/(1 + q^2); }\n", k, magnitude(1.5)); break;
    case 2:
        strbuf_printf(s, " { e = %s*q + (if q > %.3g then %.4g*(q - %.3g) else 0); }\n", k, 0.125, magnitude(1), 0.125);
        break;
    case 3: strbuf_printf(s, " = 1/%s { q(0) = %.3g; }\n", k, uniform(-0.2, 0.2)); break;
    default: strbuf_printf(s, " = 1/%s;\n", k);
    }
}

/* The law of an R: always with a linear part b. */
static void
put_damper_law(strbuf *s, const char *b)
{
    switch (rg_below(&rng, 7)) {
    case 0: strbuf_printf(s, " { e = %s*f + %.4g*f^3; }\n", b, magnitude(1.5)); break;
    case 1: strbuf_printf(s, " { e = %s*f + %.4g*f*abs(f); }\n", b, magnitude(1.5)); break;
    case 2: strbuf_printf(s, " { e = %s*f + %.4g*tanh(f/%.3g); }\n", b, 0.1 * magnitude(1), uniform(0.05, 0.5)); break;
    default: strbuf_printf(s, " = %s;\n", b);
    }
}

/* What joins two nodes, behind the head of its statements: index is "" or "[i]". */
static void
put_link(strbuf *s, const struct words *w, const char *indent, const char *index, const char *k, const char *b,
         bool two)
{
    const char *at = w->parallel ? w->between : "travel";

    if (!w->parallel)
        strbuf_printf(s, "%s%s%s -> 1:travel%s;\n", indent, w->between, index, index);
    strbuf_printf(s, "%s%s%s -> C:%s%s", indent, at, index, w->spring, index);
    put_spring_law(s, k);
    if (w->parallel) {
        /* a leak beside the capacitor, weak enough to leave it a meaning */
        if (two)
            strbuf_printf(s, "%s%s%s -> R:%s%s = 10/%s;\n", indent, at, index, w->damper, index, b);
    } else {
        strbuf_printf(s, "%s%s%s -> R:%s%s", indent, at, index, w->damper, index);
        put_damper_law(s, b);
        if (two)
            strbuf_printf(s, "%s%s%s -> R:extra%s = 0.01*%s;\n", indent, at, index, index, b);
    }
}

/* ---------------------------------------------------------------- components */

/* A damping of its own, for use within others. */
static void
put_brake(strbuf *s)
{
    strbuf_printf(s, "model Brake {\n    port 1:turn;\n    parameter c = %.4g;\n", magnitude(1));
    strbuf_puts(s, "    turn -> R:pad");
    put_damper_law(s, "c");
    if (chance(0.5))
        strbuf_printf(s, "    turn -> R:seal = %.4g*c;\n", 0.1 * magnitude(1));
    strbuf_puts(s, "}\n\n");
}

static void
put_body(strbuf *s, const struct words *w, bool brake)
{
    bool reads = chance(0.4);

    strbuf_printf(s, "model Body {\n    port 1:hub;\n    parameter m = %.4g;\n    parameter d = %.4g;\n", magnitude(1),
                  magnitude(1));
    if (reads)
        strbuf_printf(s, "    signal wear = 1 + %.3g*tanh(abs(hub.f));\n", uniform(0.01, 0.3));
    strbuf_printf(s, "    hub -> I:%s = m;\n    hub -> R:%s", w->inertia, w->drag);
    put_damper_law(s, "d");
    if (reads)
        strbuf_printf(s, "    hub -> MR:worn { e = %.4g*wear*f; }\n", magnitude(1));
    if (brake)
        strbuf_printf(s, chance(0.5) ? "    Brake:brake(c = 0.5*d);\n    hub -> brake;\n"
                                     : "    Brake:brake;\n    hub -> brake;\n");
    strbuf_puts(s, "}\n\n");
}

static void
put_strut(strbuf *s, const struct words *w)
{
    strbuf_printf(s, "model Strut {\n    port 1:bottom, 1:top;\n    parameter k = %.4g;\n    parameter b = %.4g;\n",
                  magnitude(1), magnitude(1));
    strbuf_printf(s, "    bottom -> 0:%s -> top;\n", w->between);
    put_link(s, w, "    ", "", "k", "b", chance(0.4));
    strbuf_puts(s, "}\n\n");
}

/* A vector of n values. */
static void
put_row(strbuf *s, const char *name, int n, double decades)
{
    strbuf_printf(s, "    parameter %s[%d] = ", name, n);
    if (chance(0.3)) {
        strbuf_printf(s, "%.4g;\n", magnitude(decades));
        return;
    }
    for (int i = 0; i < n; i++)
        strbuf_printf(s, "%s%.4g", i ? ", " : "[", magnitude(decades));
    strbuf_puts(s, "];\n");
}

/* ---------------------------------------------------------------- models */

/* Which of 1..n: one of them, or some. */
static void
put_range(strbuf *s, int n)
{
    int a = 1 + (int)rg_below(&rng, (uint32_t)n);

    if (a < n && chance(0.4))
        strbuf_printf(s, "[%d..%d]", a, n);
    else
        strbuf_printf(s, "[%d]", a);
}

struct stable_model
stable_model(uint64_t number)
{
    struct stable_model m = { 0 };
    strbuf *s = &m.text;
    int n;
    bool bodies, struts, brake, control, side, lever, thinned;
    const struct words *w;

    rng = number * 0x9E3779B97F4A7C15u + 29;
    w = &WORDS[rg_below(&rng, 4)];
    n = 2 + (int)rg_below(&rng, 5);
    bodies = chance(0.5);
    struts = chance(0.5);
    brake = bodies && chance(0.5);
    control = chance(0.3);
    side = chance(0.4);
    lever = chance(0.25);
    thinned = !w->parallel && chance(0.5);
    strbuf_printf(s, "// random model %llu\n", (unsigned long long)number);
    if (brake)
        put_brake(s);
    if (bodies)
        put_body(s, w, brake);
    if (struts)
        put_strut(s, w);
    strbuf_puts(s, "model random {\n");
    put_row(s, "m", n, 1);
    put_row(s, "d", n, 1);
    put_row(s, "k", n, 1.5);
    put_row(s, "b", n, 1);
    strbuf_printf(s, "    input F = 0;\n    input G = 0;\n\n    1:%s[%d];\n", w->node, n);

    /* the nodes */
    if (bodies)
        strbuf_printf(s, "    Body:body[%d](m = %.4g, d = %.4g);\n", n, magnitude(1), magnitude(1));
    strbuf_printf(s, "    for i in 1..%d {\n", n);
    if (bodies) {
        strbuf_printf(s, "        %s[i] -> body[i];\n", w->node);
        if (chance(0.5))
            strbuf_printf(s, "        %s[i] -> I:more[i] = 0.1*m[i];\n", w->node);
        strbuf_printf(s, "        %s[i] -> R:rub[i] = 0.1*d[i];\n", w->node);
    } else {
        strbuf_printf(s, "        %s[i] -> I:%s[i] = m[i]", w->node, w->inertia);
        strbuf_puts(s, chance(0.2) ? " { p(0) = 0.1*m[i]; }\n" : ";\n");
        strbuf_printf(s, "        %s[i] -> R:%s[i]", w->node, w->drag);
        put_damper_law(s, "d[i]");
    }
    if (chance(0.5)) {
        strbuf_printf(s, "        if i > %d {\n            %s[i] -> C:hold[i]", n / 2, w->node);
        put_spring_law(s, "k[i]");
        if (chance(0.5))
            strbuf_printf(s, "        } else {\n            %s[i] -> R:stop[i] = 0.3*b[i];\n", w->node);
        strbuf_puts(s, "        }\n");
    }
    strbuf_puts(s, "    }\n");

    /* what joins them */
    if (struts) {
        strbuf_printf(s, "    Strut:strut[%d](k = %.4g);\n", n - 1, magnitude(1.5));
        strbuf_printf(
            s, "    for i in 1..%d {\n        %s[i] -> strut[i].bottom;\n        strut[i].top -> %s[i+1];\n    }\n",
            n - 1, w->node, w->node);
    } else {
        strbuf_printf(s, "    for i in 1..%d {\n        %s[i] -> 0:%s[i] -> %s[i+1];\n", n - 1, w->node, w->between,
                      w->node);
        put_link(s, w, "        ", "[i]", "k[i]", "b[i]", chance(0.4));
        strbuf_puts(s, "    }\n");
    }
    strbuf_printf(s, "\n    %s[1] -> C:base", w->node);
    put_spring_law(s, "k[1]");
    strbuf_printf(s, "    MSe:%s = F -> %s[1];\n    MSe:second = 0.3*G -> %s[%d];\n", w->source, w->node, w->node, n);
    if (side) {
        strbuf_printf(s, "    1:side -> I:own = %.4g;\n    side -> R:slow = %.4g;\n", magnitude(1), magnitude(1));
        if (struts && chance(0.6))
            strbuf_printf(
                s, "    Strut:last(k = %.4g, b = %.4g)%s%s;\n    %s[%d] -> last.bottom;\n    last.top -> side;\n",
                magnitude(1), magnitude(1), thinned ? " without " : "", thinned ? w->damper : "", w->node, n);
        else
            strbuf_printf(s, "    %s[%d] -> 0:beside -> side;\n    beside -> C:soft = %.4g;\n", w->node, n,
                          magnitude(1));
    }
    if (lever)
        strbuf_printf(s, "    %s[%d] -> TF:lever = %.4g -> 1:far -> R:load = %.4g;\n    far -> I:weight = %.4g;\n",
                      w->node, n, magnitude(0.4), magnitude(1), magnitude(1));
    if (control)
        strbuf_printf(s,
                      "    signal error = 0.1*G - base.q;\n    signal control = %.4g*error - 0.001*%s[1].f;\n    "
                      "MSe:actuator = control -> %s[1];\n",
                      magnitude(1), w->node, w->node);
    if (chance(0.3)) {
        strbuf_puts(s, "    without ");
        if (bodies && brake) {
            strbuf_puts(s, "body");
            put_range(s, n);
            strbuf_puts(s, ".brake.pad;\n");
        } else {
            strbuf_puts(s, bodies ? "rub" : w->drag);
            put_range(s, n);
            strbuf_puts(s, ";\n");
        }
    }
    strbuf_printf(s, "\n    output x = base.q;\n    output v = %s[%d].f;\n}\n", w->node, n);

    /* experiments */
    m.within = chance(0.5) ? WITHIN_SHARE : WITHIN_STATED;
    m.tolerance = 0.01 * magnitude(1);
    m.terms = chance(0.3);
    m.both = chance(0.4);
    m.threshold = uniform(0.8, 0.999);
    m.metric = (enum metric)rg_below(&rng, METRIC_KL_NORMALISED + 1);
    for (int i = 0; i < 2; i++) {
        strbuf_printf(s, "\nexperiment %s of random {\n    stop = 8;\n", i ? "second" : "first");
        strbuf_printf(s, "    let F = %.4g*sin(%.4g*time);\n", magnitude(0.5), uniform(0.3, 4));
        strbuf_printf(s, i ? "    let G = if time < 1 then %.4g else 0;\n" : "    let G = %.4g*cos(1.5*time);\n",
                      magnitude(0.5));
        if (m.within == WITHIN_STATED)
            strbuf_printf(s, "    observe x within %.4g;\n    observe v within %.4g;\n", 0.01 * magnitude(1),
                          0.01 * magnitude(1));
        else if (chance(0.7))
            strbuf_puts(s, "    observe x;\n");
        if (i == 0 && chance(0.7)) {
            if (bodies && chance(0.5))
                strbuf_puts(s, "    keep body[1];\n");
            else if (struts && chance(0.5))
                strbuf_printf(s, "    keep strut[%d];\n", n - 1);
            else
                strbuf_puts(s, "    keep base;\n");
        }
        strbuf_puts(s, "}\n");
    }
    return m;
}
