/* test_causality.c - strokes, rank check and messages, against a dense determinant of all equations
 *
 * The oracle writes every equation of a linear graph as one matrix over s modulo 2^31-1: the degree in s of its
 * determinant is the number of states the model has, and a zero determinant says that it is singular.
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "causality.h"
#include "residue.h"

/* ---------------------------------------------------------------- a graph by hand */

typedef struct graph {
    flat_model *f;
    VEC(enum law_way) way;
    VEC(bool) varying, invertible, stated; /* by element, by port, by port */
} graph;

static graph *
graph_new(void)
{
    graph *g = bg_calloc(1, sizeof *g);

    g->f = bg_calloc(1, sizeof *g->f);
    g->f->pool = pool_new();
    g->f->arena = arena_new();
    g->f->names = names_new();
    g->f->sources = sources_new();
    flat_add_var(g->f, VAR_TIME, 0, "time", SPAN_NONE);
    return g;
}

static void
graph_free(graph *g)
{
    pool_free(g->f->pool);
    arena_free(g->f->arena);
    names_free(g->f->names);
    sources_free(g->f->sources);
    flat_free(g->f);
    vec_free(&g->way);
    vec_free(&g->varying);
    vec_free(&g->invertible);
    vec_free(&g->stated);
    free(g);
}

static const char *
label(graph *g, const char *name, const char *stem, size_t n)
{
    return name ? name : arena_format(g->f->arena, "%s%zu", stem, n);
}

static uint32_t
junction(graph *g, int type, const char *name)
{
    flat_junction j = { .type = type & 1,
                        .name = label(g, name, "j", g->f->junction.n),
                        .common = VAR_NONE,
                        .at = SPAN_NONE };

    j.common = flat_add_var(g->f, VAR_COMMON, (uint32_t)g->f->junction.n, j.name, SPAN_NONE);
    vec_push(&g->f->junction, j);
    return (uint32_t)g->f->junction.n - 1;
}

static uint32_t
bond(graph *g, uint32_t from, uint32_t to)
{
    flat_bond b = { .from = from, .to = to, .own = VAR_NONE, .at = SPAN_NONE };

    if (g->f->junction.at[from].type == g->f->junction.at[to].type)
        b.own = flat_add_var(g->f, VAR_BOND, (uint32_t)g->f->bond.n, "bond", SPAN_NONE);
    vec_push(&g->f->bond, b);
    return (uint32_t)g->f->bond.n - 1;
}

static uint32_t
add_port(graph *g, uint32_t element, uint32_t j, int sign)
{
    flat_port p = { .element = element, .junction = j, .sign = (int8_t)sign, .stored = VAR_NONE, .at = SPAN_NONE };
    var_id own = flat_add_var(g->f, VAR_PORT, (uint32_t)g->f->port.n, "port", SPAN_NONE);
    bool zero = g->f->junction.at[j].type == 0;

    p.e = zero ? g->f->junction.at[j].common : own;
    p.f = zero ? own : g->f->junction.at[j].common;
    flat_add_port(g->f, p, NULL, NULL);
    vec_push(&g->way, WAY_EITHER);
    vec_push(&g->invertible, true);
    vec_push(&g->stated, false);
    return (uint32_t)g->f->port.n - 1;
}

/* Returns the element's first port. Sources bring power, the others take it. */
static uint32_t
element(graph *g, enum element_type t, uint32_t j, const char *name)
{
    flat_element e = { .type = t,
                       .linear = true,
                       .name = label(g, name, element_type_name(t), g->f->element.n),
                       .port0 = (uint32_t)g->f->port.n,
                       .nports = 1,
                       .parent = UINT32_MAX };

    vec_push(&g->f->element, e);
    vec_push(&g->varying, false);
    return add_port(g, (uint32_t)g->f->element.n - 1, j, t == EL_SE || t == EL_SF ? -1 : 1);
}

/* ratio: an integer that is the modulus, or 0: a parameter of its own. Returns the element. */
static uint32_t
two_port(graph *g, enum element_type t, uint32_t in, uint32_t out, int ratio, bool varying)
{
    flat_element e = { .type = t,
                       .linear = true,
                       .name = label(g, NULL, element_type_name(t), g->f->element.n),
                       .port0 = (uint32_t)g->f->port.n,
                       .nports = 2,
                       .law0 = (uint32_t)g->f->law.n,
                       .nlaws = 1,
                       .parent = UINT32_MAX };
    uint32_t id = (uint32_t)g->f->element.n;
    flat_law law = { .kind = LAW_MODULUS, .port = e.port0 };
    var_id n = ratio ? flat_add_literal(g->f, ratio, "n", SPAN_NONE)
                     : flat_add_var(g->f, varying ? VAR_SIGNAL : VAR_PARAM, 0, "n", SPAN_NONE);

    law.def = flat_inst(g->f, ex_slot(g->f->pool, 0), &n, 1);
    vec_push(&g->f->element, e);
    vec_push(&g->f->law, law);
    vec_push(&g->varying, varying);
    add_port(g, id, in, 1);
    add_port(g, id, out, -1);
    return id;
}

static causal *
assign(graph *g)
{
    flat_connect(g->f);
    return causality(g->f, g->way.at, g->varying.at, g->invertible.at, g->stated.at);
}

static size_t
count_states(const graph *g, const causal *c)
{
    size_t n = c->junction_state.n;

    for (size_t p = 0; p < g->f->port.n; p++)
        n += c->state[p];
    return n;
}

/* ---------------------------------------------------------------- the oracle */

static uint64_t seed = 88172645463325252u;

static uint32_t
any(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 11) % n);
}

typedef struct dense {
    size_t n;
    uint32_t *a;
} dense;
#define AT(m, i, k) ((m)->a[(i) * (m)->n + (k)])

static uint32_t
determinant(dense *m)
{
    uint32_t det = 1;

    for (size_t c = 0; c < m->n; c++) {
        size_t r = c;

        while (r < m->n && !AT(m, r, c))
            r++;
        if (r == m->n)
            return 0;
        for (size_t k = 0; r != c && k < m->n; k++) {
            uint32_t t = AT(m, r, k);

            AT(m, r, k) = AT(m, c, k);
            AT(m, c, k) = t;
        }
        if (r != c)
            det = gf_neg(det);
        det = gf_mul(det, AT(m, c, c));
        for (size_t i = c + 1; i < m->n; i++) {
            uint32_t factor = AT(m, i, c) ? gf_mul(AT(m, i, c), gf_inv(AT(m, c, c))) : 0;

            for (size_t k = c; factor && k < m->n; k++)
                AT(m, i, k) = gf_sub(AT(m, i, k), gf_mul(factor, AT(m, c, k)));
        }
    }
    return det;
}

/* Unknowns: common variables, what ports add, bonds' own. `c` NULL: storages as s times gain. Else with states and
 * rates given: the equation of a storage says that what it brings is 0; `*law` (if asked for) gets the row of every
 * port. */
static void
fill(const graph *g, const uint32_t *gain, uint32_t s, const causal *c, dense *m, size_t *law)
{
    const flat_model *f = g->f;
    size_t nj = f->junction.n, np = f->port.n, row = 0, own = nj + np;
    bool *state = bg_calloc(nj, sizeof *state);

    memset(m->a, 0, m->n * m->n * sizeof *m->a);
    for (size_t i = 0; c && i < c->junction_state.n; i++)
        state[c->junction_state.at[i]] = true;
    for (size_t j = 0; j < nj; j++, row++) {
        if (state[j]) {
            AT(m, row, j) = 1;
            continue;
        }
        for (size_t p = 0; p < np; p++)
            if (f->port.at[p].junction == j)
                AT(m, row, nj + p) = gf_sign(-f->port.at[p].sign);
    }
    for (size_t b = 0; b < f->bond.n; b++) {
        uint32_t from = f->bond.at[b].from, to = f->bond.at[b].to;
        size_t add_from = to, add_to = from;

        if (f->junction.at[from].type == f->junction.at[to].type) {
            AT(m, row, from) = gf_add(AT(m, row, from), 1);
            AT(m, row, to) = gf_sub(AT(m, row, to), 1);
            row++;
            add_from = add_to = own++;
        }
        if (!state[from])
            AT(m, from, add_from) = gf_sub(AT(m, from, add_from), 1);
        if (!state[to])
            AT(m, to, add_to) = gf_add(AT(m, to, add_to), 1);
    }
    for (size_t i = 0; i < f->element.n; i++) {
        const flat_element *el = &f->element.at[i];
        size_t p = el->port0, e[2], w[2];

        for (size_t k = 0; k < el->nports; k++) {
            uint32_t j = f->port.at[p + k].junction;

            e[k] = f->junction.at[j].type == 0 ? j : nj + p + k;
            w[k] = f->junction.at[j].type == 0 ? nj + p + k : j;
        }
        if (law)
            law[p] = row;
        switch (el->type) {
        case EL_SE: AT(m, row++, e[0]) = 1; break;
        case EL_SF: AT(m, row++, w[0]) = 1; break;
        case EL_R:
            AT(m, row, e[0]) = 1;
            AT(m, row++, w[0]) = gf_neg(gain[i]);
            break;
        case EL_C:
        case EL_I:
            if (c) {
                AT(m, row++, (el->type == EL_C) == c->state[p] ? e[0] : w[0]) = 1;
                break;
            }
            AT(m, row, el->type == EL_C ? e[0] : w[0]) = gf_mul(s, gain[i]);
            AT(m, row++, el->type == EL_C ? w[0] : e[0]) = GF_P - 1;
            break;
        case EL_TF:
            AT(m, row, e[0]) = 1;
            AT(m, row, e[1]) = gf_sub(AT(m, row, e[1]), gain[i]);
            row++;
            AT(m, row, w[1]) = 1;
            AT(m, row, w[0]) = gf_sub(AT(m, row, w[0]), gain[i]);
            row++;
            break;
        case EL_GY:
            AT(m, row, e[0]) = 1;
            AT(m, row, w[1]) = gf_sub(AT(m, row, w[1]), gain[i]);
            row++;
            AT(m, row, e[1]) = gf_add(AT(m, row, e[1]), 1);
            AT(m, row, w[0]) = gf_sub(AT(m, row, w[0]), gain[i]);
            row++;
            break;
        }
    }
    assert_int_equal(row, m->n);
    free(state);
}

/* -1: singular. */
static int
pencil_order(const graph *g, const uint32_t *gain)
{
    const flat_model *f = g->f;
    dense m = { f->junction.n + f->port.n, NULL };
    uint32_t d[64], x[64];
    size_t n = 1;
    int degree = -1;

    for (size_t b = 0; b < f->bond.n; b++)
        m.n += f->bond.at[b].own != VAR_NONE;
    for (size_t i = 0; i < f->element.n; i++)
        n += f->element.at[i].type == EL_C || f->element.at[i].type == EL_I;
    assert_true(n <= 64);
    m.a = bg_malloc(m.n * m.n * sizeof *m.a);
    for (size_t i = 0; i < n; i++) {
        x[i] = any(GF_P - 1) + 1;
        fill(g, gain, x[i], NULL, &m, NULL);
        d[i] = determinant(&m);
    }
    free(m.a);
    /* Newton's divided differences: the last that is not zero is the degree */
    for (size_t order = 0; order < n; order++) {
        if (d[order])
            degree = (int)order;
        for (size_t i = n - 1; i > order; i--)
            d[i] = gf_mul(gf_sub(d[i], d[order]), gf_inv(gf_sub(x[i], x[order])));
    }
    return degree;
}

/* With states, sources and rates of dependent storages known the equations have one solution, and what a dependent
 * storage reads does not depend on any rate. */
static bool
solvable(const graph *g, const uint32_t *gain, const causal *c)
{
    const flat_model *f = g->f;
    dense m = { f->junction.n + f->port.n, NULL };
    size_t *law = bg_calloc(f->port.n, sizeof *law);
    bool ok;

    for (size_t b = 0; b < f->bond.n; b++)
        m.n += f->bond.at[b].own != VAR_NONE;
    m.a = bg_malloc(m.n * m.n * sizeof *m.a);
    fill(g, gain, 0, c, &m, law);
    ok = determinant(&m) != 0;
    /* bordered determinant: row d's imposed variable as a function of rate k is a cofactor */
    for (size_t i = 0; ok && i < c->dependent.n; i++)
        for (size_t k = 0; ok && k < c->dependent.n; k++) {
            uint32_t d = c->dependent.at[i], j = f->port.at[d].junction;
            enum element_type t = f->element.at[f->port.at[d].element].type;
            size_t imposed = (f->junction.at[j].type == 0) == (t == EL_C) ? j : f->junction.n + d;

            fill(g, gain, 0, c, &m, NULL);
            /* Cramer: column `imposed` replaced by the unit vector of the rate's equation */
            for (size_t r = 0; r < m.n; r++)
                AT(&m, r, imposed) = r == law[c->dependent.at[k]];
            ok = determinant(&m) == 0;
        }
    free(m.a);
    free(law);
    return ok;
}

/* Every rule of strokes, on the result. */
static void
check_strokes(const graph *g, const causal *c)
{
    const flat_model *f = g->f;
    uint8_t *open = bg_calloc(f->junction.n, 1);

    for (size_t i = 0; i < c->junction_state.n; i++)
        open[c->junction_state.at[i]] = 2;
    for (size_t k = 0; k + 1 < c->component.n; k++) {
        assert_true(c->component.at[k] < c->component.at[k + 1]);
        for (uint32_t i = c->component.at[k]; i < c->component.at[k + 1]; i++) {
            assert_int_equal(open[c->open_junction.at[i]], 0);
            open[c->open_junction.at[i]] = 1;
        }
    }
    for (size_t j = 0; j < f->junction.n; j++) {
        size_t strong = 0, undecided = 0;

        for (uint32_t i = f->junction.at[j].inc0; i < f->junction.at[j].inc0 + f->junction.at[j].ninc; i++) {
            const flat_incidence *in = &f->incidence.at[i];
            int8_t v = !in->is_bond                      ? c->port[in->index]
                       : f->bond.at[in->index].from == j ? c->bond_from[in->index]
                                                         : c->bond_to[in->index];

            strong += v == ST_STRONG;
            undecided += v == ST_OPEN;
            if (v == ST_STRONG)
                assert_int_equal(c->strong[j], i);
        }
        assert_int_equal(strong, open[j] ? 0 : 1);
        assert_int_equal(c->strong[j] == UINT32_MAX, open[j] != 0);
        assert_true(open[j] == 1 ? undecided >= 2 : undecided == 0);
    }
    for (size_t b = 0; b < f->bond.n; b++) {
        bool same = f->bond.at[b].own != VAR_NONE;

        assert_int_equal(c->bond_from[b], same ? -c->bond_to[b] : c->bond_to[b]);
    }
    for (size_t i = 0; i < f->element.n; i++) {
        const flat_element *el = &f->element.at[i];
        uint32_t p = el->port0;
        bool zero = f->junction.at[f->port.at[p].junction].type == 0;

        if (el->type == EL_TF || el->type == EL_GY) {
            bool same = zero == (f->junction.at[f->port.at[p + 1].junction].type == 0);

            assert_int_equal(c->port[p], same != (el->type == EL_GY) ? -c->port[p + 1] : c->port[p + 1]);
        } else if (el->type == EL_SE || el->type == EL_SF) {
            assert_int_equal(c->port[p], (el->type == EL_SE) == zero ? ST_STRONG : ST_WEAK);
        } else if (el->type != EL_R) {
            assert_int_equal(c->port[p], ((el->type == EL_C) == zero) == c->state[p] ? ST_STRONG : ST_WEAK);
        }
    }
    free(open);
}

static uint32_t *
random_gains(const graph *g)
{
    residues r;
    uint32_t *gain = bg_malloc(g->f->element.n * sizeof *gain);

    residues_init(&r, g->f);
    for (size_t i = 0; i < g->f->element.n; i++) {
        const flat_element *el = &g->f->element.at[i];

        gain[i] = el->nlaws ? residue_of(&r, g->f->law.at[el->law0].def) : any(GF_P - 1) + 1;
    }
    residues_free(&r);
    return gain;
}

static const char *
first_code(const graph *g)
{
    for (size_t i = 0; i < diag_count(g->f->sources); i++)
        if (diag_at(g->f->sources, i)->severity == SEV_ERROR)
            return diag_at(g->f->sources, i)->code;
    return "";
}

static const char *
message(const graph *g, size_t i)
{
    return i < diag_count(g->f->sources) ? diag_at(g->f->sources, i)->message : "";
}

static bool
mentions(const graph *g, const char *text)
{
    for (size_t i = 0; i < diag_count(g->f->sources); i++) {
        const diagnostic *d = diag_at(g->f->sources, i);

        if (strstr(d->message, text))
            return true;
        for (size_t k = 0; k < d->nchild; k++)
            if (strstr(d->child[k].message, text))
                return true;
    }
    return false;
}

/* Assigns, checks against the oracle, returns the number of states (-1: refused). */
static int
judge(graph *g)
{
    causal *c = assign(g);
    uint32_t *gain = random_gains(g);
    int n = -1;

    if (c) {
        check_strokes(g, c);
        assert_true(solvable(g, gain, c));
        n = (int)count_states(g, c);
        causal_free(c);
    }
    free(gain);
    return n;
}

/* ---------------------------------------------------------------- hand graphs */

static void
series_circuit(void **unused)
{
    graph *g = graph_new();
    uint32_t j = junction(g, 1, "loop"), c, l, r;
    causal *k;

    (void)unused;
    element(g, EL_SE, j, "u");
    r = element(g, EL_R, j, "r");
    l = element(g, EL_I, j, "l");
    c = element(g, EL_C, j, "c");
    k = assign(g);
    assert_non_null(k);
    check_strokes(g, k);
    assert_int_equal(k->port[l], ST_STRONG);
    assert_int_equal(k->port[r], ST_WEAK);
    assert_true(k->state[l] && k->state[c]);
    assert_int_equal(k->component.n, 1);
    causal_free(k);
    graph_free(g);
}

static void
quarter_car(void **unused)
{
    graph *g = graph_new();
    uint32_t body = junction(g, 1, "body"), wheel = junction(g, 1, "wheel"), strut = junction(g, 0, "strut");
    uint32_t tire = junction(g, 0, "tire"), ts = junction(g, 1, "travel_s"), tt = junction(g, 1, "travel_t");

    (void)unused;
    bond(g, wheel, strut);
    bond(g, strut, body);
    bond(g, strut, ts);
    bond(g, tire, wheel);
    bond(g, tire, tt);
    element(g, EL_I, body, "mass_s");
    element(g, EL_SE, body, "gravity_s");
    element(g, EL_C, ts, "spring_s");
    element(g, EL_R, ts, "damper_s");
    element(g, EL_I, wheel, "mass_t");
    element(g, EL_SE, wheel, "gravity_t");
    element(g, EL_C, tt, "spring_t");
    element(g, EL_R, tt, "damper_t");
    element(g, EL_SF, tire, "ground");
    assert_int_equal(judge(g), 4);
    assert_int_equal(diag_count(g->f->sources), 0);
    graph_free(g);
}

static void
ring_of_capacitors(void **unused)
{
    graph *g = graph_new();
    uint32_t node0[3];

    (void)unused;
    for (int i = 0; i < 3; i++) {
        node0[i] = junction(g, 0, NULL);
        element(g, EL_SF, node0[i], NULL);
    }
    for (int i = 0; i < 3; i++) {
        uint32_t branch = junction(g, 1, NULL);

        bond(g, node0[i], branch);
        bond(g, branch, node0[(i + 1) % 3]);
        element(g, EL_C, branch, NULL);
    }
    /* without a ground the common level of the efforts is free: singular whatever is done */
    assert_int_equal(judge(g), -1);
    assert_string_equal(first_code(g), "causality-singular");
    graph_free(g);

    g = graph_new();
    for (int i = 0; i < 3; i++)
        node0[i] = junction(g, 0, NULL);
    element(g, EL_R, node0[0], "leak");
    for (int i = 0; i < 3; i++) {
        uint32_t branch = junction(g, 1, NULL);

        bond(g, node0[i], branch);
        bond(g, branch, node0[(i + 1) % 3]);
        element(g, EL_C, branch, arena_format(g->f->arena, "c%d", i + 1));
    }
    assert_int_equal(judge(g), 2);
    assert_true(mentions(g, "storage element \"c3\" gets derivative causality"));
    graph_free(g);
}

static void
ring_of_sources(void **unused)
{
    graph *g = graph_new();
    uint32_t n[3];

    (void)unused;
    for (int i = 0; i < 3; i++)
        n[i] = junction(g, 0, NULL);
    element(g, EL_R, n[0], "leak");
    for (int i = 0; i < 3; i++) {
        uint32_t branch = junction(g, 1, NULL);

        bond(g, n[i], branch);
        bond(g, branch, n[(i + 1) % 3]);
        element(g, EL_SE, branch, arena_format(g->f->arena, "u%d", i + 1));
    }
    assert_int_equal(judge(g), -1);
    assert_string_equal(first_code(g), "causality-singular");
    assert_true(mentions(g, "effort(u1) + effort(u2) + effort(u3) = 0"));
    graph_free(g);
}

static void
cutset_of_inductors(void **unused)
{
    graph *g = graph_new();
    uint32_t hub = junction(g, 0, "hub");

    (void)unused;
    for (int i = 0; i < 3; i++) {
        uint32_t branch = junction(g, 1, NULL);

        bond(g, hub, branch);
        element(g, EL_I, branch, NULL);
        element(g, EL_SE, branch, NULL);
    }
    assert_int_equal(judge(g), 2);
    graph_free(g);
}

static void
two_capacitors(void **unused)
{
    graph *g = graph_new();
    uint32_t j = junction(g, 0, "n"), first, second;
    causal *c;

    (void)unused;
    first = element(g, EL_C, j, "c1");
    second = element(g, EL_C, j, "c2");
    element(g, EL_SF, j, "i");
    c = assign(g);
    assert_true(c->state[first] && !c->state[second]);
    assert_string_equal(message(g, 0), "storage element \"c2\" gets derivative causality");
    assert_true(mentions(g, "its effort is already set by \"c1\""));
    causal_free(c);
    graph_free(g);

    /* a stated initial value, or a law that does not invert, decides before the order does */
    g = graph_new();
    j = junction(g, 0, "n");
    first = element(g, EL_C, j, "c1");
    second = element(g, EL_C, j, "c2");
    g->stated.at[second] = true;
    c = assign(g);
    assert_true(!c->state[first] && c->state[second]);
    causal_free(c);
    g->invertible.at[first] = false;
    c = assign(g);
    assert_true(c->state[first] && !c->state[second]);
    causal_free(c);
    graph_free(g);
}

static void
capacitor_on_source(void **unused)
{
    graph *g = graph_new();
    uint32_t j = junction(g, 0, "n");

    (void)unused;
    element(g, EL_SE, j, "u");
    element(g, EL_C, j, "c");
    assert_int_equal(judge(g), 0);
    assert_true(mentions(g, "its effort is already set by \"u\""));
    graph_free(g);
}

static void
two_sources(void **unused)
{
    graph *g = graph_new();
    uint32_t a = junction(g, 0, "a"), b = junction(g, 0, "b"), c = junction(g, 0, "c");

    (void)unused;
    bond(g, a, b);
    bond(g, b, c);
    element(g, EL_SE, a, "u1");
    element(g, EL_SE, c, "u2");
    element(g, EL_R, b, "r");
    assert_int_equal(judge(g), -1);
    assert_string_equal(first_code(g), "causality-conflict");
    assert_true(mentions(g, "\"u2\" and \"u1\" contradict each other"));
    assert_true(mentions(g, "through the bond between \"c\" and \"b\"") ||
                mentions(g, "through the bond between \"b\" and \"c\""));
    graph_free(g);
}

static void
chains_and_cycles(void **unused)
{
    graph *g = graph_new();
    uint32_t a = junction(g, 0, "a"), b = junction(g, 0, "b"), c = junction(g, 0, "c");

    (void)unused;
    bond(g, a, b);
    bond(g, b, c);
    element(g, EL_R, a, NULL);
    element(g, EL_R, c, NULL);
    element(g, EL_SF, b, NULL);
    assert_int_equal(judge(g), 0);
    bond(g, a, c);
    assert_int_equal(judge(g), -1);
    assert_string_equal(first_code(g), "causality-cycle");
    graph_free(g);

    g = graph_new();
    junction(g, 1, "alone");
    assert_int_equal(judge(g), -1);
    assert_string_equal(first_code(g), "causality-singular");
    graph_free(g);
}

static void
pendulum(void **unused)
{
    for (int damped = 0; damped < 2; damped++) {
        graph *g = graph_new();
        uint32_t theta = junction(g, 1, "theta"), x = junction(g, 1, "x"), y = junction(g, 1, "y");
        causal *c;

        (void)unused;
        if (damped)
            element(g, EL_R, theta, "bearing");
        two_port(g, EL_TF, theta, x, 0, true);
        two_port(g, EL_TF, theta, y, 0, true);
        element(g, EL_I, x, "mass_x");
        element(g, EL_I, y, "mass_y");
        element(g, EL_SE, y, "gravity");
        c = assign(g);
        assert_non_null(c);
        check_strokes(g, c);
        assert_int_equal(c->junction_state.n, 1);
        assert_int_equal(c->junction_state.at[0], theta);
        assert_int_equal(c->dependent.n, 2);
        causal_free(c);
        graph_free(g);
    }
}

/* A varying two-port with nothing but a resistor or spring behind makes no state; one that a source drives from behind
 * divides. */
static void
no_junction_state(void **unused)
{
    graph *g = graph_new();
    uint32_t theta = junction(g, 1, "theta"), x = junction(g, 1, "x");
    causal *c;

    (void)unused;
    two_port(g, EL_TF, theta, x, 0, true);
    element(g, EL_C, x, "spring");
    element(g, EL_R, theta, "bearing");
    c = assign(g);
    assert_non_null(c);
    check_strokes(g, c);
    assert_int_equal(c->junction_state.n, 0);
    assert_int_equal(count_states(g, c), 1);
    causal_free(c);
    graph_free(g);

    g = graph_new();
    theta = junction(g, 1, "theta");
    x = junction(g, 1, "x");
    two_port(g, EL_TF, theta, x, 0, true);
    element(g, EL_SF, x, "drive");
    element(g, EL_R, theta, "bearing");
    c = assign(g);
    assert_non_null(c);
    assert_int_equal(c->junction_state.n, 0);
    assert_true(mentions(g, "divides by its modulus"));
    causal_free(c);
    graph_free(g);
}

static void
wheatstone(void **unused)
{
    graph *g = graph_new();
    uint32_t n[4];
    static const int from[] = { 0, 0, 1, 2, 1 }, to[] = { 1, 2, 3, 3, 2 };
    causal *c;

    (void)unused;
    for (int i = 0; i < 4; i++)
        n[i] = junction(g, 0, NULL);
    element(g, EL_SE, n[0], "u");
    element(g, EL_SE, n[3], "ground");
    for (int i = 0; i < 5; i++) {
        uint32_t branch = junction(g, 1, NULL);

        bond(g, n[from[i]], branch);
        bond(g, branch, n[to[i]]);
        element(g, EL_R, branch, NULL);
    }
    c = assign(g);
    assert_non_null(c);
    check_strokes(g, c);
    assert_int_equal(c->component.n, 2);
    assert_int_equal(c->component.at[1], 7);
    for (size_t p = 0; p < g->f->port.n; p++)
        assert_true(c->drawn[p] != ST_OPEN);
    causal_free(c);
    graph_free(g);
}

static void
one_way_resistors(void **unused)
{
    graph *g = graph_new();
    uint32_t j = junction(g, 1, "n"), r, l;
    causal *c;

    (void)unused;
    /* a law that only gives flow does not take the state from a mass */
    r = element(g, EL_R, j, "valve");
    l = element(g, EL_I, j, "mass");
    element(g, EL_SE, j, "u");
    g->way.at[r] = WAY_GIVES_FLOW;
    c = assign(g);
    assert_true(c->state[l]);
    causal_free(c);
    graph_free(g);

    g = graph_new();
    j = junction(g, 1, "n");
    r = element(g, EL_R, j, "valve");
    element(g, EL_SF, j, "pump");
    g->way.at[r] = WAY_GIVES_FLOW;
    /* what gives the flow that a source gives already is solved for its effort */
    c = assign(g);
    assert_non_null(c);
    causal_free(c);
    graph_free(g);
}

/* ---------------------------------------------------------------- random graphs */

struct shape {
    uint32_t junctions, extra_bonds, elements, two_ports;
    bool varying, one_way;
};

static graph *
random_graph(struct shape s)
{
    graph *g = graph_new();
    static const enum element_type kinds[] = { EL_C, EL_I, EL_R, EL_C, EL_I, EL_R, EL_SE, EL_SF };
    uint32_t n = 1 + any(s.junctions);

    for (uint32_t i = 0; i < n; i++)
        junction(g, (int)any(2), NULL);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t k = any(i);

        if (s.two_ports && any(4) == 0)
            two_port(g, any(2) ? EL_TF : EL_GY, i, k, any(3) == 0 ? (int)(1 + any(2)) : 0, s.varying && any(2));
        else if (any(2))
            bond(g, i, k);
        else
            bond(g, k, i);
    }
    for (uint32_t i = any(s.extra_bonds + 1); n > 1 && i > 0; i--) {
        uint32_t a = any(n), b = any(n);

        if (a == b)
            continue;
        if (s.two_ports && any(3) == 0)
            two_port(g, any(2) ? EL_TF : EL_GY, a, b, any(3) == 0 ? (int)(1 + any(2)) : 0, s.varying && any(2));
        else
            bond(g, a, b);
    }
    for (uint32_t i = 1 + any(s.elements); i > 0; i--) {
        enum element_type t = kinds[any(any(3) ? 6 : 8)];
        uint32_t p = element(g, t, any(n), NULL);

        if (t == EL_R && s.one_way && any(3) == 0)
            g->way.at[p] = any(2) ? WAY_GIVES_EFFORT : WAY_GIVES_FLOW;
        g->stated.at[p] = any(6) == 0;
        g->invertible.at[p] = any(6) != 0;
    }
    return g;
}

/* A circuit: nodes and branches. Loops and cutsets abound in it. */
static graph *
random_circuit(uint32_t nodes, uint32_t branches, bool grounded)
{
    graph *g = graph_new();
    static const enum element_type kinds[] = { EL_C, EL_I, EL_R, EL_C, EL_C, EL_I, EL_R, EL_SE };
    uint32_t n = 2 + any(nodes);

    for (uint32_t i = 0; i < n; i++)
        junction(g, 0, NULL);
    for (uint32_t i = 0; i < n - 1 + any(branches); i++) {
        uint32_t a = i + 1 < n ? i + 1 : any(n), b = i + 1 < n ? any(i + 1) : any(n), branch;

        if (a == b)
            continue;
        branch = junction(g, 1, NULL);
        bond(g, a, branch);
        bond(g, branch, b);
        element(g, kinds[any(8)], branch, NULL);
        if (any(4) == 0)
            element(g, kinds[any(8)], branch, NULL);
    }
    if (grounded)
        element(g, EL_SE, 0, "ground");
    return g;
}

struct tally {
    bool one_way;
    int regular, singular, conflicts, dependent, open, states;
};

static void
examine(graph *g, struct tally *t)
{
    uint32_t *gain;
    causal *c = assign(g);
    int order;

    gain = random_gains(g);
    order = pencil_order(g, gain);
    if (!c) {
        const char *code = first_code(g);

        t->singular++;
        t->conflicts += !strcmp(code, "causality-conflict");
        /* laws that go one way only may contradict each other in a model that is regular otherwise */
        if (order != -1 && !(t->one_way && !strcmp(code, "causality-conflict"))) {
            flat_dump(g->f, stderr);
            diag_print(g->f->sources, stderr, false, DIAG_ALL);
            fail_msg("refused a model of order %d", order);
        }
    } else {
        check_strokes(g, c);
        t->regular++;
        t->dependent += c->dependent.n > 0;
        t->open += c->component.n > 1;
        t->states += c->junction_state.n > 0;
        if ((int)count_states(g, c) != order || !solvable(g, gain, c)) {
            flat_dump(g->f, stderr);
            causal_dump(g->f, c, stderr);
            diag_print(g->f->sources, stderr, false, DIAG_ALL);
            fail_msg("%zu states, order %d, %ssolvable", count_states(g, c), order, solvable(g, gain, c) ? "" : "not ");
        }
    }
    causal_free(c);
    free(gain);
    graph_free(g);
}

static void
say(const char *what, const struct tally *t)
{
    print_message("%s: %d regular (%d with dependent storage, %d with open components, %d with junction states), %d "
                  "refused (%d conflicts)\n",
                  what, t->regular, t->dependent, t->open, t->states, t->singular, t->conflicts);
}

#ifdef __SANITIZE_ADDRESS__
enum { GRAPHS = 150 };
#else
enum { GRAPHS = 2000 };
#endif

static void
random_trees(void **unused)
{
    struct tally t = { 0 };

    (void)unused;
    for (int i = 0; i < GRAPHS; i++)
        examine(random_graph((struct shape){ 8, 0, 8, 0, false, false }), &t);
    say("trees", &t);
}

static void
random_loops(void **unused)
{
    struct tally t = { 0 };

    (void)unused;
    for (int i = 0; i < GRAPHS; i++)
        examine(random_graph((struct shape){ 8, 5, 9, 0, false, false }), &t);
    say("loops", &t);
}

static void
random_two_ports(void **unused)
{
    struct tally t = { 0 };

    (void)unused;
    for (int i = 0; i < GRAPHS; i++)
        examine(random_graph((struct shape){ 8, 5, 9, 1, false, false }), &t);
    say("two-ports", &t);
}

static void
random_varying(void **unused)
{
    struct tally t = { 0 };

    (void)unused;
    for (int i = 0; i < GRAPHS; i++)
        examine(random_graph((struct shape){ 8, 4, 9, 1, true, false }), &t);
    say("varying two-ports", &t);
}

static void
random_one_way(void **unused)
{
    struct tally t = { .one_way = true };

    (void)unused;
    for (int i = 0; i < GRAPHS; i++)
        examine(random_graph((struct shape){ 8, 4, 9, i % 2, false, true }), &t);
    say("one-way laws", &t);
}

static void
random_circuits(void **unused)
{
    struct tally t = { 0 };

    (void)unused;
    for (int i = 0; i < GRAPHS; i++)
        examine(random_circuit(6, 8, any(4) != 0), &t);
    say("circuits", &t);
}

/* ---------------------------------------------------------------- size */

static double
seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
time_it(const char *what, graph *g)
{
    double t0, t1;
    causal *c;

    flat_connect(g->f);
    t0 = seconds();
    c = causality(g->f, g->way.at, g->varying.at, g->invertible.at, g->stated.at);
    t1 = seconds();
    print_message("%s: %zu elements, %zu bonds, %.3f s, %.2f us an element%s\n", what, g->f->element.n, g->f->bond.n,
                  t1 - t0, 1e6 * (t1 - t0) / (double)g->f->element.n, c ? "" : " (refused)");
    if (c)
        check_strokes(g, c);
    causal_free(c);
    graph_free(g);
}

static graph *
big_circuit(uint32_t nodes, bool only_capacitors)
{
    graph *g = graph_new();
    static const enum element_type kinds[] = { EL_C, EL_I, EL_R, EL_R };

    for (uint32_t i = 0; i < nodes; i++)
        junction(g, 0, NULL);
    element(g, EL_SE, 0, "ground");
    for (uint32_t i = 1; i < 2 * nodes; i++) {
        uint32_t a = i < nodes ? i : any(nodes), b = i < nodes ? any(i) : any(nodes), branch;

        if (a == b)
            continue;
        branch = junction(g, 1, NULL);
        bond(g, a, branch);
        bond(g, branch, b);
        element(g, only_capacitors ? EL_C : kinds[any(4)], branch, NULL);
    }
    return g;
}

static graph *
big_grid(uint32_t side, enum element_type t)
{
    graph *g = graph_new();

    for (uint32_t i = 0; i < side * side; i++)
        junction(g, 0, NULL);
    element(g, EL_SE, 0, "ground");
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t k = 0; k < side; k++)
            for (int d = 0; d < 2; d++) {
                uint32_t a = i * side + k, b = d ? a + 1 : a + side, branch;

                if (d ? k + 1 == side : i + 1 == side)
                    continue;
                branch = junction(g, 1, NULL);
                bond(g, a, branch);
                bond(g, branch, b);
                element(g, t, branch, NULL);
            }
    return g;
}

static graph *
big_chain(uint32_t n)
{
    graph *g = graph_new();
    uint32_t before = junction(g, 1, "wall");

    element(g, EL_SF, before, "hold");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t gap = junction(g, 0, NULL), strut = junction(g, 1, NULL), mass = junction(g, 1, NULL);

        bond(g, before, gap);
        bond(g, gap, strut);
        bond(g, gap, mass);
        element(g, EL_C, strut, NULL);
        element(g, EL_R, strut, NULL);
        element(g, EL_I, mass, NULL);
        before = mass;
    }
    return g;
}

static graph *
big_hub(uint32_t n)
{
    graph *g = graph_new();
    uint32_t bar = junction(g, 1, "bar");

    for (uint32_t i = 0; i < n; i++) {
        uint32_t gap = junction(g, 0, NULL), mass = junction(g, 1, NULL);

        bond(g, bar, gap);
        bond(g, gap, mass);
        element(g, i % 2 ? EL_R : EL_C, gap, NULL);
        element(g, EL_I, mass, NULL);
    }
    return g;
}

static void
sizes(void **unused)
{
    (void)unused;
    for (uint32_t n = 5000; n <= 100000; n *= n == 5000 ? 4 : 5) {
        time_it("random circuit", big_circuit(n, false));
        time_it("capacitors at random", big_circuit(n / 10, true));
        time_it("chain", big_chain(2 * n / 3));
        time_it("hub", big_hub(n));
    }
    for (uint32_t side = 50; side <= 100; side *= 2) {
        time_it("grid of resistors", big_grid(side, EL_R));
        if (side <= 100)
            time_it("grid of capacitors", big_grid(side, EL_C));
        time_it("grid of inductors", big_grid(side, EL_I));
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(series_circuit),      cmocka_unit_test(quarter_car),
                                        cmocka_unit_test(ring_of_capacitors),  cmocka_unit_test(ring_of_sources),
                                        cmocka_unit_test(cutset_of_inductors), cmocka_unit_test(two_capacitors),
                                        cmocka_unit_test(capacitor_on_source), cmocka_unit_test(two_sources),
                                        cmocka_unit_test(chains_and_cycles),   cmocka_unit_test(pendulum),
                                        cmocka_unit_test(no_junction_state),   cmocka_unit_test(wheatstone),
                                        cmocka_unit_test(one_way_resistors),   cmocka_unit_test(random_trees),
                                        cmocka_unit_test(random_loops),        cmocka_unit_test(random_two_ports),
                                        cmocka_unit_test(random_varying),      cmocka_unit_test(random_one_way),
                                        cmocka_unit_test(random_circuits),     cmocka_unit_test(sizes) };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
