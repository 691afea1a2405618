/* test_scale.c - what a model of n rounds becomes grows with n, and its templates do not grow at all
 *
 * (An output that reads one entry of an array read nowhere else by a number adds a slot's node a round; there is none
 * here.) Counts only, no times: parts, variables and slots of the flat graph and of the equations at n, 2n and 4n
 * rounds. Counts c0 + c1*n have count(4n) - count(2n) == 2*(count(2n) - count(n)) exactly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"

/* loops, components within components, arrays, fields, modulation, switches, jumps and what is taken out */
static const char text[] = "function drag_of(v [m/s], c [N.s^2/m^2]) [N] = c*v*abs(v);\n"
                           "domain warmth { effort temperature [K]; flow heat_flow [W]; power = flow; }\n"
                           "model Buffer {\n"
                           "    port 1:squeeze;\n"
                           "    parameter k = 400 [kN/m];\n"
                           "    squeeze -> C:rubber = 1/k;\n"
                           "    squeeze -> R:loss = 300 [N.s/m];\n"
                           "}\n"
                           "model Strut {\n"
                           "    port 1:bottom, 1:top;\n"
                           "    parameter k = 20 [kN/m];\n"
                           "    input valve = 1;\n"
                           "    bottom -> 0:between -> top;\n"
                           "    between -> 1:travel;\n"
                           "    travel -> C:spring = 1/k;\n"
                           "    travel -> MR:damper = 1 [kN.s/m]*valve;\n"
                           "    travel -> R:friction { e = 5 [N]*tanh(f/1 [mm/s]); }\n"
                           "    Buffer:buffer;\n"
                           "    between -> buffer;\n"
                           "}\n"
                           "model row(n = 8) {\n"
                           "    parameter m[n] = 2 [kg];\n"
                           "    input F[n] [N] = 0;\n"
                           "    1:v[n];\n"
                           "    for i in 1..n {\n"
                           "        v[i] -> I:mass[i] = if i == 1 then 2*m[i] else m[i];\n"
                           "        v[i] -> R:air[i] { e = drag_of(f, 0.4 [N.s^2/m^2]); }\n"
                           "        v[i] -> R:drag[i] = 0.1 [N.s/m];\n"
                           "        v[i] -> R:contact[i] { e = 0.1 [N]*sign(f) + 1 [N.s/m]*f; }\n"
                           "        MSe:force[i] = F[i]*sin(time/1 [s]) -> v[i];\n"
                           "        signal x[i] [m] = integral(v[i].f);\n"
                           "        when x[i] > 1 [m] { reinit mass[i].p = -mass[i].p; }\n"
                           "        C:plate[i] { port gap, charge; energy = charge.q^2*(1 [m] - gap.q)/(2*1 [F.m]); }\n"
                           "        Se:supply[i] = 5 [V] -> 1:loop[i] -> R:lead[i] = 1 [ohm];\n"
                           "        loop[i] -> plate[i].charge;\n"
                           "        v[i] -> plate[i].gap;\n"
                           "        TF:lever[i] { port a -> b, c; b.f = 0.5*a.f; c.f = 2*a.f; }\n"
                           "        v[i] -> lever[i].a;\n"
                           "        lever[i].b -> 1:left[i] -> R:slow[i] = 1 [N.s/m];\n"
                           "        lever[i].c -> 1:right[i] -> R:fast[i] = 1 [N.s/m];\n"
                           "        0:room[i] in warmth;\n"
                           "        room[i] -> C:heat[i] = 1 [J/K];\n"
                           "        MSf:warm[i] = 1*drag[i].power -> room[i];\n"
                           "    }\n"
                           "    Strut:strut[n-1](valve = 2);\n"
                           "    for i in 1..n-1 {\n"
                           "        v[i] -> strut[i].bottom;\n"
                           "        strut[i].top -> v[i+1];\n"
                           "    }\n"
                           "    without strut[2].friction, contact[3..4];\n"
                           "}\n"
                           "experiment e of row { stop = 1 [s]; }\n";

enum { ELEMENTS, JUNCTIONS, BONDS, PORTS, LAWS, VARIABLES, SLOTS, STATES, MODES, BLOCKS, TEMPLATES, COUNTS };
static const char *const what[COUNTS] = { "elements", "junctions",          "bonds",    "ports",
                                          "laws",     "variables",          "slots",    "states",
                                          "modes",    "unknowns of blocks", "templates" };

static void
count(enum compile_stage stage, double n, size_t *of)
{
    struct elaborate_override set = { .name = "n", .value = n };
    compile_options o = { .experiment = "e", .set = &set, .nset = 1 };
    compilation c = { 0 };

    if (!compile_text(&c, "row.bg", text, sizeof text - 1, stage, &o)) {
        diag_print(c.sources, stderr, false, DIAG_ALL);
        fail_msg("not compiled with n = %g", n);
    }
    of[ELEMENTS] = c.flat->element.n;
    of[JUNCTIONS] = c.flat->junction.n;
    of[BONDS] = c.flat->bond.n;
    of[PORTS] = c.flat->port.n;
    of[LAWS] = c.flat->law.n;
    of[VARIABLES] = c.flat->var.n;
    of[SLOTS] = c.flat->slot.n;
    of[STATES] = c.equations ? c.equations->state.n : 0;
    of[MODES] = c.equations ? c.equations->mode.n : 0;
    of[BLOCKS] = c.equations ? c.equations->unknown.n : 0;
    of[TEMPLATES] = pool_count(c.pool);
    compile_free(&c);
}

static void
grows_linearly(enum compile_stage stage)
{
    size_t once[COUNTS], twice[COUNTS], four[COUNTS];

    count(stage, 40, once);
    count(stage, 80, twice);
    count(stage, 160, four);
    for (int k = 0; k < TEMPLATES; k++)
        if (twice[k] < once[k] || four[k] - twice[k] != 2 * (twice[k] - once[k]))
            fail_msg("%s: %zu, %zu, %zu with 40, 80, 160 rounds", what[k], once[k], twice[k], four[k]);
    assert_true(four[ELEMENTS] > 3 * once[ELEMENTS]);
    if (once[TEMPLATES] != twice[TEMPLATES] || twice[TEMPLATES] != four[TEMPLATES])
        fail_msg("templates: %zu, %zu, %zu with 40, 80, 160 rounds", once[TEMPLATES], twice[TEMPLATES],
                 four[TEMPLATES]);
}

static void
graph(void **state)
{
    (void)state;
    grows_linearly(STAGE_GRAPH);
}

static void
equations_of_it(void **state)
{
    (void)state;
    grows_linearly(STAGE_EQUATIONS);
}

int
main(void)
{
    const struct CMUnitTest test[] = { cmocka_unit_test(graph), cmocka_unit_test(equations_of_it) };

    return cmocka_run_group_tests(test, NULL, NULL);
}
