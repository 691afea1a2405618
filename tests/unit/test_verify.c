/* test_verify.c - verifiers find what is broken in a graph, in strokes and in equations, and nothing in sound ones
 *
 * One model with everything that the rules speak of: a state, a dependent storage, a bond between junctions of a kind,
 * a two-port, an open component with a block of two unknowns, a condition, a `reinit`. Each case breaks one thing in
 * a fresh compilation; the verifier must name it.
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"
#include "verify_equations.h"
#include "verify_graph.h"
#include "verify_strokes.h"

static const char text[] = "model m {\n"
                           "    parameter k = 3;\n"
                           "    signal twice = 2*mass.f;\n"
                           "    Se:push = k -> 1:v;\n"
                           "    v -> I:mass = 2;\n"
                           "    v -> 1:w;\n"
                           "    w -> I:second = 4;\n"
                           "    w -> C:spring = 0.5 { q(0) = 1; }\n"
                           "    w -> TF:lever = 2 -> 0:n;\n"
                           "    n -> R:leak { f = if e > 1 then e else (e + 1)/2; }\n"
                           "    Se:pressure = 7 -> 1:in;\n"
                           "    in -> R:first { e = f + f^3; }\n"
                           "    in -> 0:mid;\n"
                           "    mid -> R:last { e = f + f^5; }\n"
                           "    mid -> 1:out;\n"
                           "    out -> R:more { e = f + f^7; }\n"
                           "    when spring.q < -1 { reinit spring.q = 1; }\n"
                           "    output x = spring.q;\n"
                           "}\n";

static uint32_t
element(const compilation *c, const char *name)
{
    for (uint32_t i = 0; i < c->flat->element.n; i++)
        if (!strcmp(c->flat->element.at[i].name, name))
            return i;
    fail_msg("no element %s", name);
    return 0;
}

static uint32_t
port(const compilation *c, const char *name)
{
    return c->flat->element.at[element(c, name)].port0;
}

static uint32_t
junction(const compilation *c, const char *name)
{
    for (uint32_t j = 0; j < c->flat->junction.n; j++)
        if (!strcmp(c->flat->junction.at[j].name, name))
            return j;
    fail_msg("no junction %s", name);
    return 0;
}

static uint32_t
own_bond(const compilation *c)
{
    for (uint32_t b = 0; b < c->flat->bond.n; b++)
        if (c->flat->bond.at[b].own != VAR_NONE)
            return b;
    fail_msg("no bond between two of a kind");
    return 0;
}

/* A variable with a definition that reads one with another. */
static var_id
reader(const compilation *c, var_id *of)
{
    const equations *e = c->equations;

    for (var_id v = 0; v < e->var.n; v++)
        for (uint32_t k = 0; e->var.at[v].kind == DEF_EXPLICIT && k < e->var.at[v].def.n; k++) {
            *of = e->f->slot.at[e->var.at[v].def.first + k];
            if (e->var.at[*of].kind == DEF_EXPLICIT)
                return v;
        }
    fail_msg("no definition reads another");
    return 0;
}

/* ---------------------------------------------------------------- what is broken */

static void
row_shifted(compilation *c)
{
    c->flat->junction.at[1].inc0++;
}
static void
sign_turned(compilation *c)
{
    c->flat->incidence.at[0].sign = (int8_t)-c->flat->incidence.at[0].sign;
}
static void
moved_port(compilation *c)
{
    c->flat->port.at[port(c, "spring")].junction = junction(c, "v");
}
static void
shared_port(compilation *c)
{
    c->flat->port.at[port(c, "spring")].element = element(c, "mass");
}
static void
foreign_effort(compilation *c)
{
    c->flat->port.at[port(c, "spring")].e = c->flat->port.at[port(c, "mass")].e;
}
static void
not_stored(compilation *c)
{
    c->flat->port.at[port(c, "mass")].stored = VAR_NONE;
}
static void
slot_of_nothing(compilation *c)
{
    const flat_law *law = port_law(c->flat, port(c, "first"));

    c->flat->slot.at[law->def.first] = (var_id)c->flat->var.n;
}
static void
too_few_slots(compilation *c)
{
    c->flat->law.at[c->flat->element.at[element(c, "first")].law0].def.n = 0;
}
static void
element_nowhere(compilation *c)
{
    c->flat->element.at[element(c, "mass")].node = NULL;
}
static void
law_beyond_the_text(compilation *c)
{
    c->flat->law.at[0].at.end = sizeof text + 1;
}
static void
bond_of_one_kind(compilation *c)
{
    c->flat->bond.at[own_bond(c)].own = VAR_NONE;
}
static void
restless_parameter(compilation *c)
{
    for (size_t v = 0; v < c->flat->var.n; v++)
        if (c->flat->var.at[v].kind == VAR_PARAM)
            var_say(c->flat, (var_id)v)->def = flat_inst(c->flat, ex_slot(c->flat->pool, 0), (var_id[]){ 0 }, 1);
}
static void
reinit_of_nothing(compilation *c)
{
    c->flat->reinit.at[0].target = VAR_NONE;
}

static void
stroke_turned(compilation *c)
{
    int8_t *s = &c->causal->port[port(c, "spring")];

    *s = (int8_t) - *s;
}
static void
no_strong_end(compilation *c)
{
    c->causal->strong[junction(c, "v")] = UINT32_MAX;
}
static void
bond_contradicts(compilation *c)
{
    uint32_t b = own_bond(c);

    c->causal->bond_from[b] = c->causal->bond_to[b] = ST_WEAK;
}
static void
lever_contradicts(compilation *c)
{
    uint32_t p = port(c, "lever");

    c->causal->port[p] = ST_OPEN;
}
static void
state_forgotten(compilation *c)
{
    c->causal->state[port(c, "spring")] = false;
}
static void
state_invented(compilation *c)
{
    c->causal->state[c->causal->dependent.at[0]] = true;
}
static void
dependent_twice(compilation *c)
{
    vec_push(&c->causal->dependent, c->causal->dependent.at[0]);
}
static void
open_forgotten(compilation *c)
{
    c->causal->open_junction.at[0] = c->causal->open_junction.at[1];
}

static void
defined_by_nothing(compilation *c)
{
    var_id of = VAR_NONE;

    reader(c, &of);
    c->equations->var.at[of].kind = DEF_NONE;
}
static void
read_too_early(compilation *c)
{
    var_id of = VAR_NONE, v = reader(c, &of);
    uint32_t rank = c->equations->var.at[v].rank;

    c->equations->var.at[v].rank = c->equations->var.at[of].rank;
    c->equations->var.at[of].rank = rank;
}
static void
given_by_nobody(compilation *c)
{
    var_id of = VAR_NONE;

    reader(c, &of);
    c->equations->var.at[of].kind = DEF_GIVEN;
}
static void
defined_nowhere(compilation *c)
{
    var_id of = VAR_NONE;

    reader(c, &of);
    var_say(c->flat, of)->at = SPAN_NONE;
}
static void
unknown_twice(compilation *c)
{
    const eq_block *b = &c->equations->block.at[0];

    c->equations->unknown.at[b->unknown0] = c->equations->unknown.at[b->unknown0 + 1];
}
static void
block_too_late(compilation *c)
{
    c->equations->block.at[0].rank = c->equations->nranks;
}
static void
state_of_another(compilation *c)
{
    c->equations->state.at[0].var = 0;
}
static void
state_without_rate(compilation *c)
{
    c->equations->var.at[c->equations->state.at[0].rate].kind = DEF_NONE;
}
static void
mode_of_nothing(compilation *c)
{
    c->equations->mode.at[0].var = 0;
}
static void
power_lost(compilation *c)
{
    equations_powers(c->equations);
    c->equations->power.n--;
}
static void
output_lost(compilation *c)
{
    c->equations->output.n--;
}
static void
variable_without_definition(compilation *c)
{
    c->equations->var.n--;
}

static char *
of_graph(const compilation *c)
{
    return verify_graph(c->flat);
}
static char *
of_strokes(const compilation *c)
{
    return verify_strokes(c->flat, c->causal);
}
static char *
of_equations(const compilation *c)
{
    return verify_equations(c->equations);
}

static const struct fault {
    char *(*verify)(const compilation *c);
    void (*make)(compilation *c);
    const char *said; /* what must be in the text */
} faults[] = {
    { of_graph, row_shifted, "its row of incidences" },
    { of_graph, sign_turned, "does not meet the junction" },
    { of_graph, moved_port, "spring does not share its junction's variable" },
    { of_graph, shared_port, "spring has a port of another" },
    { of_graph, foreign_effort, "spring has no variable of its own" },
    { of_graph, not_stored, "mass: a port that stores" },
    { of_graph, slot_of_nothing, "first: slot 0 has no variable" },
    { of_graph, too_few_slots, "first: its template reads more slots" },
    { of_graph, element_nowhere, "mass has no place" },
    { of_graph, law_beyond_the_text, "outside of the text" },
    { of_graph, bond_of_one_kind, "for junctions of one kind" },
    { of_graph, restless_parameter, "reads what is none" },
    { of_graph, reinit_of_nothing, "has no target" },
    { of_strokes, stroke_turned, "w: " },
    { of_strokes, no_strong_end, "v: an end is strong and not noted so" },
    { of_strokes, bond_contradicts, ": " },
    { of_strokes, lever_contradicts, ": " },
    { of_strokes, state_forgotten, "spring: what it stores is a state by its stroke" },
    { of_strokes, state_invented, "no state by its stroke" },
    { of_strokes, dependent_twice, "more is listed as dependent" },
    { of_strokes, open_forgotten, "listed twice" },
    { of_equations, defined_by_nothing, "which nothing defines" },
    { of_equations, read_too_early, "evaluated behind it" },
    { of_equations, given_by_nobody, "nobody gives it" },
    { of_equations, defined_nowhere, "no place in the text" },
    { of_equations, unknown_twice, "an unknown is not its own" },
    { of_equations, block_too_late, "which is evaluated behind it" },
    { of_equations, state_of_another, "is not the state that it says" },
    { of_equations, state_without_rate, "which nothing defines" },
    { of_equations, mode_of_nothing, "is of a variable that is none" },
    { of_equations, power_lost, "powers" },
    { of_equations, output_lost, "do not all have equations" },
    { of_equations, variable_without_definition, "definitions" },
};

static void
compile(compilation *c)
{
    *c = (compilation){ 0 };
    if (!compile_text(c, "m.bg", text, strlen(text), STAGE_EQUATIONS, NULL)) {
        diag_print(c->sources, stderr, false, false);
        fail();
    }
}

static void
test_sound(void **state)
{
    compilation c;

    (void)state;
    compile(&c);
    assert_true(c.causal->dependent.n > 0 && c.causal->open_junction.n > 1);
    assert_true(c.equations->block.n > 0 && c.equations->block.at[0].n > 1 && c.equations->mode.n > 0);
    assert_null(verify_graph(c.flat));
    assert_null(verify_strokes(c.flat, c.causal));
    assert_null(verify_equations(c.equations));
    compile_free(&c);
}

static void
test_broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        compilation c;
        char *flaw;

        compile(&c);
        faults[i].make(&c);
        flaw = faults[i].verify(&c);
        if (!flaw || !strstr(flaw, faults[i].said))
            fail_msg("fault %zu: \"%s\" is not said, but \"%s\"", i, faults[i].said, flaw ? flaw : "nothing");
        free(flaw);
        compile_free(&c);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_sound), cmocka_unit_test(test_broken) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
