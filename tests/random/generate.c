/* generate.c - random bond graphs: structure, laws, text, and texts with a mistake */
#include "generate.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NONE UINT32_MAX

/* ---------------------------------------------------------------- random numbers */
uint64_t
rg_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
uint32_t
rg_below(uint64_t *state, uint32_t n)
{
    return n ? (uint32_t)((rg_random(state) >> 32) * n >> 32) : 0;
}
double
rg_uniform(uint64_t *state, double a, double b)
{
    return a + (b - a) * (double)(rg_random(state) >> 11) * 0x1p-53;
}

/* ---------------------------------------------------------------- making */
typedef struct maker {
    rgraph *g;
    uint64_t rng;
    VEC(uint32_t) readable; /* variables a modulation may read: stored ones and integrals */
    uint32_t scope, round;  /* of the element whose law is made; round 0: not in a row */
    size_t row_param;       /* parameters that the law's first round made are from here on */
} maker;

/* What a domain's quantities are in: effort, its inverse, flow, its inverse, then R, C, I with another spelling, its
 * factor, and their inverses. */
static const struct domain {
    const char *name, *effort, *per_effort, *flow, *per_flow;
    struct {
        const char *unit, *other;
        double factor;
        const char *inverse;
    } of[3], source[2];
} domains[] = {
    { "electric",
      "V",
      "V^-1",
      "A",
      "A^-1",
      { { "ohm", "kohm", 1e3, "S" }, { "F", "mF", 1e-3, "1/F" }, { "H", "mH", 1e-3, "1/H" } },
      { { "V", "mV", 1e-3, "1/V" }, { "A", "mA", 1e-3, "1/A" } } },
    { "translation",
      "N",
      "N^-1",
      "m.s^-1",
      "m^-1.s",
      { { "N.s/m", "kN.s/m", 1e3, "m/N/s" }, { "m/N", "mm/N", 1e-3, "N/m" }, { "kg", "g", 1e-3, "1/kg" } },
      { { "N", "kN", 1e3, "1/N" }, { "m/s", "mm/s", 1e-3, "s/m" } } },
    { "rotation",
      "N.m",
      "N^-1.m^-1",
      "rad.s^-1",
      "s",
      { { "N.m.s", "kN.m.s", 1e3, "1/N/m/s" },
        { "rad/N/m", "rad/kN/m", 1e-3, "N.m/rad" },
        { "kg.m^2", "g.m^2", 1e-3, "1/kg/m^2" } },
      { { "N.m", "kN.m", 1e3, "1/N/m" }, { "rad/s", "1/s", 1, "s" } } },
    { "hydraulic",
      "Pa",
      "Pa^-1",
      "m^3.s^-1",
      "m^-3.s",
      { { "Pa.s/m^3", "kPa.s/m^3", 1e3, "m^3/Pa/s" },
        { "m^3/Pa", "m^3/kPa", 1e-3, "Pa/m^3" },
        { "Pa.s^2/m^3", "kPa.s^2/m^3", 1e3, "m^3/Pa/s^2" } },
      { { "Pa", "bar", 1e5, "1/Pa" }, { "m^3/s", "l/s", 1e-3, "s/m^3" } } },
};
enum { NDOMAINS = sizeof domains / sizeof *domains };
/* The unit a value may be given in: the plain one, another and its factor to the plain one, and that of 1/value. */
typedef struct measure {
    const char *unit, *other;
    double factor;
    const char *inverse;
} measure;
static const measure bare = { 0 };

static bool
chance(maker *m, double p)
{
    return rg_uniform(&m->rng, 0, 1) < p;
}

static uint32_t
expr(maker *m, enum rg_op op, uint32_t a, uint32_t b)
{
    vec_push(&m->g->node, ((rg_node){ .op = op, .a = a, .b = b }));
    return (uint32_t)m->g->node.n - 1;
}
static uint32_t
number(maker *m, double v)
{
    vec_push(&m->g->node, ((rg_node){ .op = RG_CONST, .value = v }));
    return (uint32_t)m->g->node.n - 1;
}
static uint32_t
variable(maker *m, uint32_t v)
{
    return expr(m, RG_VAR, v, 0);
}

/* Four digits, so that text and description hold the same number. */
static double
round4(double v)
{
    char s[32];
    snprintf(s, sizeof s, "%.4g", v);
    return strtod(s, NULL);
}
static double
magnitude(maker *m)
{
    return round4(m->g->wide ? pow(10, rg_uniform(&m->rng, -3, 3)) : rg_uniform(&m->rng, 0.3, 3));
}
/* A positive value: a literal, a parameter of its own, one shared with another element, or computed from one. */
static uint32_t
value_in(maker *m, measure u)
{
    rgraph *g = m->g;
    if (u.unit && chance(m, 0.3))
        u = bare;
    if (chance(m, 0.3)) {
        uint32_t n = number(m, magnitude(m));
        if (u.unit)
            snprintf(g->node.at[n].unit, sizeof g->node.at[n].unit, "%s", u.unit);
        return n;
    }
    uint32_t k = NONE;
    if (!m->round && g->param.n && chance(m, 0.1))
        k = rg_below(&m->rng, (uint32_t)g->param.n);
    if (k != NONE && (g->units || g->shown.at[k].row))
        k = NONE;
    if (k != NONE) {
        if (g->shown.at[k].home != m->scope)
            g->shown.at[k].home = 0;
        uint32_t p = expr(m, RG_PARAM, k, 0);
        if (chance(m, 0.15))
            return expr(m, RG_DIV, number(m, 1), p);
        if (chance(m, 0.1))
            return expr(m, RG_MUL, number(m, 2), p);
        return p;
    }
    rg_param how = { .home = m->round ? 0 : m->scope, .row = m->round > 0, .factor = 1 };
    double v = magnitude(m);
    k = (uint32_t)g->param.n;
    if (m->round) { /* entries of one array, a little larger from round to round */
        size_t first = m->round > 1 ? m->row_param++ : k;
        v = round4(v * (1 + 0.2 * (m->round - 1)));
        snprintf(how.name, sizeof how.name, "p%zu[%u]", first + 1, m->round);
    } else {
        snprintf(how.name, sizeof how.name, "p%u", k + 1);
    }
    vec_push(&g->param, v);
    vec_push(&g->shown, how);
    uint32_t p = expr(m, RG_PARAM, k, 0);
    bool inverse = chance(m, 0.15);
    rg_param *s = &g->shown.at[k];
    if (u.unit && inverse)
        snprintf(s->unit, sizeof s->unit, "%s", u.inverse);
    else if (u.unit && u.other && chance(m, 0.3)) {
        snprintf(s->unit, sizeof s->unit, "%s", u.other);
        s->factor = u.factor;
    } else if (u.unit)
        snprintf(s->unit, sizeof s->unit, "%s", u.unit);
    if (inverse)
        return expr(m, RG_DIV, number(m, 1), p);
    if (chance(m, 0.1))
        return expr(m, RG_MUL, number(m, 2), p);
    return p;
}
static uint32_t
value(maker *m)
{
    return value_in(m, bare);
}
/* The same number where a pure one is asked for: what a bare number multiplies fits any unit (a bare 1 says nothing).
 */
enum { PURE_NUMERATOR = 5, PURE_DENOMINATOR = 4 };
static double
pure_factor(const maker *m)
{
    return m->g->units ? (double)PURE_NUMERATOR / PURE_DENOMINATOR : 1;
}
static uint32_t
pure(maker *m, uint32_t x)
{
    return m->g->units ? expr(m, RG_MUL, number(m, pure_factor(m)), x) : x;
}
/* A bounded wave around zero: of time, or of what may be read. */
static uint32_t
wave(maker *m)
{
    uint32_t arg;
    /* far from 1 a wave of a stored quantity turns many times, and equations that it closes have many solutions; so
     * have those that fields close */
    if (!m->round && !m->g->wide && !m->g->fields && m->readable.n && chance(m, 0.6))
        arg = pure(m, variable(m, m->readable.at[rg_below(&m->rng, (uint32_t)m->readable.n)]));
    else
        arg = expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, 0.5, 3))), expr(m, RG_TIME, 0, 0));
    return expr(m, chance(m, 0.5) ? RG_SIN : RG_COS, arg, 0);
}
/* A modulus that stays away from zero, or (of two-ports) now and then a plain wave. */
static uint32_t
modulus(maker *m, measure u)
{
    uint32_t w = expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, 0.1, 0.6))), wave(m));
    return expr(m, RG_MUL, value_in(m, u), expr(m, RG_ADD, number(m, 1), w));
}

static uint32_t
add_var(maker *m, enum rg_var_kind kind, const char *name)
{
    rg_var v = { .kind = kind, .rate = NONE };
    snprintf(v.name, sizeof v.name, "%s", name);
    vec_push(&m->g->var, v);
    return (uint32_t)m->g->var.n - 1;
}
static uint32_t
add_junction(maker *m, uint8_t type, bool implicit)
{
    vec_push(&m->g->junction, ((rg_junction){ .type = type, .implicit = implicit, .common = NONE }));
    snprintf(m->g->junction.at[m->g->junction.n - 1].name, sizeof m->g->junction.at->name, "j%zu", m->g->junction.n);
    return (uint32_t)m->g->junction.n - 1;
}
/* Variables are numbered after the structure is known; efforts and flows follow in a pass of their own. */
static void
add_bond(maker *m, uint32_t a, uint32_t b)
{
    if (chance(m, 0.5)) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    vec_push(&m->g->bond, ((rg_bond){ .from = a, .to = b, .e = NONE, .f = NONE }));
    m->g->junction.at[a].degree++;
    m->g->junction.at[b].degree++;
}
static rg_element *
add_element(maker *m, enum rg_type type)
{
    rg_element e = { .type = type, .stored = NONE, .rhs = NONE, .lhs = 'n' };
    snprintf(e.name, sizeof e.name, "x%zu", m->g->element.n + 1);
    vec_push(&m->g->element, e);
    return &m->g->element.at[m->g->element.n - 1];
}
static void
set_port(maker *m, rg_element *e, uint32_t junction, int sign)
{
    e->port[e->nports++] = (rg_port){ junction, sign, NONE, NONE };
    m->g->junction.at[junction].degree++;
}
static void
one_port(maker *m, enum rg_type type, uint32_t junction)
{
    rg_element *e = add_element(m, type);
    int sign = (type == RG_SE || type == RG_SF) && chance(m, 0.6) ? -1 : 1;
    set_port(m, e, junction, sign);
}
static void
two_port(maker *m, uint32_t a, uint32_t b)
{
    if (chance(m, 0.5)) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    rg_element *e = add_element(m, chance(m, 0.6) ? RG_TF : RG_GY);
    set_port(m, e, a, 1);
    set_port(m, e, b, -1);
}
static uint32_t
any_junction(maker *m)
{
    uint32_t j;
    do
        j = rg_below(&m->rng, (uint32_t)m->g->junction.n);
    while (m->g->junction.at[j].implicit || m->g->junction.at[j].row);
    return j;
}
/* Storage and resistors of two ports, transformers of three; on any junctions, now and then twice on one. */
static void
field(maker *m)
{
    static const enum rg_type types[] = { RG_C, RG_I, RG_R, RG_TF };
    rg_element *e = add_element(m, types[rg_below(&m->rng, 4)]);
    bool storage = e->type == RG_C || e->type == RG_I, one_in = chance(m, 0.6);
    e->field = true;
    set_port(m, e, any_junction(m), 1);
    set_port(m, e, any_junction(m), e->type == RG_TF ? (one_in ? -1 : 1) : chance(m, 0.7) ? 1 : -1);
    if (e->type == RG_TF)
        set_port(m, e, any_junction(m), -1);
    for (int k = 0; k < 3; k++) {
        e->holds[k] = e->law[k] = NONE;
        e->momentum[k] = storage && (e->type == RG_I) != chance(m, 0.25);
    }
}
static void
connect(maker *m, uint32_t a, uint32_t b, double two)
{
    if (a != b && chance(m, 1 - two)) {
        add_bond(m, a, b);
        return;
    }
    if (a == b)
        return;
    if (chance(m, 0.85)) {
        two_port(m, a, b);
        return;
    }
    uint32_t between = add_junction(m, 1,
                                    true); /* two two-ports in a chain: an implicit junction, arrows head to tail */
    rg_element *e = add_element(m, chance(m, 0.5) ? RG_TF : RG_GY);
    set_port(m, e, a, 1);
    set_port(m, e, between, -1);
    e = add_element(m, chance(m, 0.5) ? RG_TF : RG_GY);
    set_port(m, e, between, 1);
    set_port(m, e, b, -1);
}
static enum rg_type
draw_type(maker *m, double resistive)
{
    double u = rg_uniform(&m->rng, 0, 1);
    if (u < resistive)
        return RG_R;
    u = rg_uniform(&m->rng, 0, 1);
    if (u < 0.42)
        return RG_C;
    if (u < 0.84)
        return RG_I;
    return u < 0.92 ? RG_SE : RG_SF;
}

static void
make_structure(maker *m, uint32_t size)
{
    rgraph *g = m->g;
    uint32_t n = size ? size : 1 + rg_below(&m->rng, 9);
    double alternate = chance(m, 0.6) ? 0.95 : 0.6; /* how often a neighbour is of the other kind */
    double two = chance(m, 0.5) ? 0.1 : 0.35, resistive = rg_uniform(&m->rng, 0.15, 0.6);
    add_junction(m, (uint8_t)rg_below(&m->rng, 2), false);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t from = chance(m, 0.5) ? (uint32_t)g->junction.n - 1 : rg_below(&m->rng, (uint32_t)g->junction.n);
        while (g->junction.at[from].implicit)
            from = rg_below(&m->rng, (uint32_t)g->junction.n);
        uint8_t type = (uint8_t)(chance(m, alternate) ? !g->junction.at[from].type : g->junction.at[from].type);
        uint32_t to = add_junction(m, type, false);
        connect(m, from, to, two);
    }
    if (chance(m, 0.45)) { /* loops and parallel bonds */
        for (uint32_t k = 1 + rg_below(&m->rng, 3); k > 0; k--) {
            uint32_t a = rg_below(&m->rng, (uint32_t)g->junction.n), b = rg_below(&m->rng, (uint32_t)g->junction.n);
            if (!g->junction.at[a].implicit && !g->junction.at[b].implicit)
                connect(m, a, b, 0.3);
        }
    }
    if (m->g->fields)
        for (uint32_t k = 1 + rg_below(&m->rng, 2); k > 0; k--)
            field(m);
    if (chance(m, 0.2)) { /* a ring of capacitors, or its dual, inductors around cuts */
        uint8_t node = (uint8_t)rg_below(&m->rng, 2);
        uint32_t ring = 3 + rg_below(&m->rng, 2), first = (uint32_t)g->junction.n;
        for (uint32_t i = 0; i < ring; i++)
            add_junction(m, node, false);
        for (uint32_t i = 0; i < ring; i++) {
            uint32_t mid = add_junction(m, !node, false);
            add_bond(m, first + i, mid);
            add_bond(m, mid, first + (i + 1) % ring);
            one_port(m, chance(m, 0.85) ? (node ? RG_I : RG_C) : RG_R, mid);
        }
        uint32_t a = rg_below(&m->rng, first);
        if (!g->junction.at[a].implicit)
            connect(m, a, first, two);
    }
    for (uint32_t j = 0; j < g->junction.n; j++) {
        if (g->junction.at[j].implicit)
            continue;
        uint32_t k = rg_below(&m->rng, 3) + (g->junction.at[j].degree < 2);
        while (k-- > 0)
            one_port(m, draw_type(m, resistive), j);
    }
    if (chance(m, 0.06)) { /* two elements alone: joined by an implicit junction */
        uint32_t j = add_junction(m, 1, true);
        rg_element *e = add_element(m, chance(m, 0.5) ? RG_SE : RG_SF);
        set_port(m, e, j, -1);
        enum rg_type t[] = { RG_R, RG_C, RG_I };
        one_port(m, t[rg_below(&m->rng, 3)], j);
    }
}

/* A row: junctions a[1] .. a[n], between neighbours b[i] of the other kind, and elements that are alike from round to
 * round. Written as a loop, or, with what is at a[i] in a component, as an array of instances. */
static void
make_row(maker *m, uint32_t row)
{
    rgraph *g = m->g;
    uint32_t n = 2 + rg_below(&m->rng, 3), at = 1 + rg_below(&m->rng, 2), between = 1 + rg_below(&m->rng, 2),
             to = any_junction(m);
    uint8_t type = (uint8_t)rg_below(&m->rng, 2);
    bool cells = chance(m, 0.5), turn[2] = { chance(m, 0.5), chance(m, 0.5) };
    enum rg_type kind[4];
    int sign[4];
    for (uint32_t k = 0; k < at + between; k++) {
        kind[k] = draw_type(m, 0.35);
        sign[k] = (kind[k] == RG_SE || kind[k] == RG_SF) && chance(m, 0.6) ? -1 : 1;
    }
    if (kind[0] == RG_SE || kind[0] == RG_SF) {
        kind[0] = RG_R;
        sign[0] = 1;
    }
    vec_push(
        &g->row,
        ((rg_row){ .n = n, .cells = cells, .size = chance(m, 0.5), .apart = chance(m, 0.5), .gone = chance(m, 0.4) }));
    uint32_t last = NONE;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t a = add_junction(m, type, false), b = NONE;
        rg_junction *j = &g->junction.at[a];
        j->row = row;
        j->round = i;
        snprintf(j->name, sizeof j->name, cells ? "cell%u[%u].a" : "a%u[%u]", row, i);
        if (last != NONE) {
            b = last;
            vec_push(&g->bond, ((rg_bond){ .from = turn[1] ? a : b,
                                           .to = turn[1] ? b : a,
                                           .e = NONE,
                                           .f = NONE,
                                           .row = row,
                                           .round = i - 1 }));
            g->junction.at[a].degree++;
            g->junction.at[b].degree++;
        }
        if (i < n) {
            b = add_junction(m, !type, false);
            j = &g->junction.at[b];
            j->row = row;
            j->round = i;
            j->link = true;
            snprintf(j->name, sizeof j->name, "b%u[%u]", row, i);
            vec_push(&g->bond, ((rg_bond){ .from = turn[0] ? b : a,
                                           .to = turn[0] ? a : b,
                                           .e = NONE,
                                           .f = NONE,
                                           .row = row,
                                           .round = i }));
            g->junction.at[a].degree++;
            g->junction.at[b].degree++;
        }
        for (uint32_t k = 0; k < at + (i < n ? between : 0); k++) {
            rg_element *e = add_element(m, kind[k]);
            e->row = row;
            e->round = i;
            e->link = k >= at;
            snprintf(e->name, sizeof e->name,
                     cells && k < at ? "cell%u[%u].x%u"
                     : k < at        ? "xa%u_%u[%u]"
                                     : "xb%u_%u[%u]",
                     row, cells && k < at ? i : k + 1, cells && k < at ? k + 1 : i);
            set_port(m, e, k < at ? a : b, sign[k]);
        }
        last = b;
        if (i == 1)
            connect(m, a, to, 0.3);
    }
}

static uint32_t
common_scope(const rgraph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b)
            a = g->scope.at[a].parent; /* parents come first */
        else
            b = g->scope.at[b].parent;
    }
    return a;
}
/* Junctions go into components, one perhaps within the other; what joins two of them stands where both can be reached.
 */
static void
make_scopes(maker *m)
{
    rgraph *g = m->g;
    vec_push(&g->scope, ((rg_scope){ 0 }));
    uint32_t want = g->parts ? 1 + rg_below(&m->rng, 3) : 0;
    for (uint32_t k = 1; k <= want; k++) {
        uint32_t parent = rg_below(&m->rng, k), some = 0;
        rg_scope s = { .parent = parent, .gone = NONE };
        snprintf(s.path, sizeof s.path, "%.16sc%u.", g->scope.at[parent].path, k);
        for (uint32_t j = 0; j < g->junction.n; j++) {
            rg_junction *x = &g->junction.at[j];
            if (x->implicit || x->row || x->scope != parent || !chance(m, 0.4))
                continue;
            if (parent && some + 1 == g->scope.at[parent].junctions)
                break;
            x->scope = k;
            some++;
        }
        if (!some)
            break;
        g->scope.at[parent].junctions -= parent ? some : 0;
        s.junctions = some;
        vec_push(&g->scope, s);
    }
    for (uint32_t j = 0; j < g->junction.n; j++) {
        rg_junction *x = &g->junction.at[j];
        if (!x->row)
            snprintf(x->name, sizeof x->name, "%sj%u", g->scope.at[x->scope].path, j + 1);
        rg_scope *s = &g->scope.at[x->scope];
        if (x->scope && s->gone == NONE && x->degree > 2 && chance(m, 0.4))
            s->gone = j;
    }
    VEC(uint32_t) through = { 0 }; /* where the chain over an implicit junction stands */
    vec_resize(&through, g->junction.n);
    for (size_t j = 0; j < g->junction.n; j++)
        through.at[j] = NONE;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < g->element.n; i++) {
            rg_element *e = &g->element.at[i];
            uint32_t s = NONE, chain = NONE;
            for (int k = 0; k < e->nports; k++) {
                const rg_junction *x = &g->junction.at[e->port[k].junction];
                if (x->implicit) {
                    chain = e->port[k].junction;
                    continue;
                }
                s = s == NONE ? x->scope : common_scope(g, s, x->scope);
            }
            if (s == NONE)
                s = 0;
            if (chain != NONE && !pass)
                through.at[chain] = through.at[chain] == NONE ? s : common_scope(g, through.at[chain], s);
            else if (chain != NONE)
                s = through.at[chain];
            e->scope = s;
        }
    vec_free(&through);
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element *e = &g->element.at[i];
        if (!e->row)
            snprintf(e->name, sizeof e->name, "%sx%zu", g->scope.at[e->scope].path, i + 1);
        for (int k = 0; k < e->nports; k++)
            g->junction.at[e->port[k].junction].joined |= g->junction.at[e->port[k].junction].scope != e->scope;
    }
    for (size_t i = 0; i < g->bond.n; i++) {
        rg_bond *b = &g->bond.at[i];
        b->scope = common_scope(g, g->junction.at[b->from].scope, g->junction.at[b->to].scope);
        g->junction.at[b->from].joined |= g->junction.at[b->from].scope != b->scope;
        g->junction.at[b->to].joined |= g->junction.at[b->to].scope != b->scope;
    }
    for (uint32_t s = 1; s < g->scope.n; s++) { /* a component has a port, needed or not */
        bool port = false;
        for (size_t j = 0; j < g->junction.n; j++)
            port |= g->junction.at[j].scope == s && g->junction.at[j].joined;
        for (size_t j = 0; j < g->junction.n && !port; j++)
            if (g->junction.at[j].scope == s)
                port = g->junction.at[j].joined = true;
    }
}

/* What is bonded by junctions alone is in one domain. */
static void
make_domains(maker *m)
{
    rgraph *g = m->g;
    bool several = chance(m, 0.6);
    uint32_t one = rg_below(&m->rng, NDOMAINS);
    for (uint32_t j = 0; j < g->junction.n; j++)
        g->junction.at[j].region = j;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < g->bond.n; i++) {
            uint32_t *a = &g->junction.at[g->bond.at[i].from].region, *b = &g->junction.at[g->bond.at[i].to].region;
            if (*a == *b)
                continue;
            if (*a < *b)
                *b = *a;
            else
                *a = *b;
            moved = true;
        }
    }
    for (uint32_t j = 0; j < g->junction.n; j++) {
        rg_junction *x = &g->junction.at[j];
        x->domain = x->region != j ? g->junction.at[x->region].domain : several ? rg_below(&m->rng, NDOMAINS) : one;
        x->said = !x->implicit && !x->joined && x->scope == 0 && !x->row && chance(m, 0.25);
    }
}
/* The unit of the coefficient behind = , or, of a one-port's law in a block, of what is right of it by what is left. */
static measure
measure_of(const rgraph *g, const rg_element *e)
{
    if (!g->units)
        return bare;
    const struct domain *d = &domains[g->junction.at[e->port[0].junction].domain];
    switch (e->type) {
    case RG_SE:
    case RG_SF:
        return (measure){ d->source[e->type == RG_SF].unit, d->source[e->type == RG_SF].other,
                          d->source[e->type == RG_SF].factor, d->source[e->type == RG_SF].inverse };
    case RG_R:
    case RG_C:
    case RG_I: {
        int k = e->type == RG_R ? 0 : e->type == RG_C ? 1 : 2;
        return (measure){ d->of[k].unit, d->of[k].other, d->of[k].factor, d->of[k].inverse };
    }
    default: return bare;
    }
}
static measure
inverted(measure u)
{
    return (measure){ u.inverse, NULL, 1, u.unit };
}

static void
make_variables(maker *m)
{
    rgraph *g = m->g;
    char s[72];
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element *e = &g->element.at[i];
        for (int k = 0; k < e->nports; k++) {
            s[0] = 0;
            if (e->nports == 1)
                snprintf(s, sizeof s, "%s.e", e->name);
            else if (e->field)
                snprintf(s, sizeof s, "%s.%c.e", e->name, 'a' + k);
            uint32_t v = add_var(m, RG_EFFORT, s);
            if (s[0])
                s[strlen(s) - 1] = 'f';
            uint32_t w = add_var(m, RG_FLOW, s);
            g->element.at[i].port[k].e = v;
            g->element.at[i].port[k].f = w;
        }
    }
    for (size_t i = 0; i < g->bond.n; i++) {
        g->bond.at[i].e = add_var(m, RG_EFFORT, "");
        g->bond.at[i].f = add_var(m, RG_FLOW, "");
    }
    for (size_t i = 0; i < g->element.n; i++)
        for (int k = 0; k < g->element.at[i].nports; k++) {
            const rg_port *p = &g->element.at[i].port[k];
            rg_junction *j = &g->junction.at[p->junction];
            if (j->common == NONE)
                j->common = j->type ? p->f : p->e;
        }
    for (size_t i = 0; i < g->bond.n; i++) {
        const rg_bond *b = &g->bond.at[i];
        rg_junction *j = &g->junction.at[b->from];
        if (j->common == NONE)
            j->common = j->type ? b->f : b->e;
        j = &g->junction.at[b->to];
        if (j->common == NONE)
            j->common = j->type ? b->f : b->e;
    }
}

/* Signals, integrals, and the differential variables; after this what may be read is known. */
static void
make_signals(maker *m)
{
    rgraph *g = m->g;
    uint32_t n = chance(m, 0.5) ? rg_below(&m->rng, 3) : 0, nint = chance(m, 0.35) ? 1 + rg_below(&m->rng, 2) : 0;
    char s[72];
    for (uint32_t k = 0; k < n + nint; k++) {
        if (k < n)
            snprintf(s, sizeof s, "s%u", k + 1);
        else
            s[0] = 0;
        vec_push(&g->signal, ((rg_signal){ k < n ? add_var(m, RG_SIGNAL, s) : NONE, NONE, k >= n, 0 }));
    }
    g->nalgebraic = g->var.n;
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element *e = &g->element.at[i];
        if (e->type != RG_C && e->type != RG_I)
            continue;
        for (int k = 0; e->field && k < e->nports; k++) {
            snprintf(s, sizeof s, "%s.%c.%c", e->name, 'a' + k, e->momentum[k] ? 'p' : 'q');
            uint32_t v = add_var(m, RG_STORED, s);
            e->holds[k] = v;
            g->var.at[v].rate = e->momentum[k] ? e->port[k].e : e->port[k].f;
            if (chance(m, 0.5))
                vec_push(&m->readable, v);
        }
        if (e->field)
            continue;
        snprintf(s, sizeof s, "%s.%c", e->name, e->type == RG_C ? 'q' : 'p');
        uint32_t v = add_var(m, RG_STORED, s);
        e = &g->element.at[i];
        e->stored = v;
        g->var.at[v].rate = e->type == RG_C ? e->port[0].f : e->port[0].e;
        if (chance(m, 0.5))
            vec_push(&m->readable, v);
        if (chance(m, 0.3) && !e->row) {
            e->stated = true;
            e->initial = round4(rg_uniform(&m->rng, -1, 1));
        }
    }
    for (uint32_t k = n; k < n + nint; k++) {
        snprintf(s, sizeof s, "y%u", k - n + 1);
        uint32_t v = add_var(m, RG_INTEGRAL, s), j = rg_below(&m->rng, (uint32_t)g->junction.n);
        while (g->junction.at[j].implicit || g->junction.at[j].common == NONE)
            j = rg_below(&m->rng, (uint32_t)g->junction.n);
        g->var.at[v].rate = g->junction.at[j].common;
        g->signal.at[k].var = v;
        g->signal.at[k].def = j;
        g->signal.at[k].initial = round4(rg_uniform(&m->rng, -1, 1));
        vec_push(&m->readable, v);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t def = expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, 0.2, 2))), wave(m));
        if (k > 0 && chance(m, 0.5))
            def = expr(m, RG_ADD, def, variable(m, g->signal.at[rg_below(&m->rng, k)].var));
        if (g->feedback && g->element.n && chance(m, 0.7)) {
            uint32_t j = rg_below(&m->rng, (uint32_t)g->element.n);
            if (g->element.at[j].nports == 1)
                def = expr(m, RG_ADD, def,
                           expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, -0.5, 0.5))),
                                variable(m, chance(m, 0.5) ? g->element.at[j].port[0].e : g->element.at[j].port[0].f)));
        }
        g->signal.at[k].def = def;
    }
}

/* value*x + another*x^3, x*|x| or the like: odd and rising, so that one solution exists in either direction. */
static uint32_t
rising(maker *m, measure u, uint32_t x, bool smooth)
{
    uint32_t linear = expr(m, RG_MUL, value_in(m, u), x);
    switch (rg_below(&m->rng, smooth ? 2 : 4)) {
    case 0: return expr(m, RG_ADD, linear, expr(m, RG_MUL, value(m), expr(m, RG_CUBE, x, 0)));
    case 1: return expr(m, RG_ADD, linear, expr(m, RG_MUL, number(m, 0.25), expr(m, RG_SINH, pure(m, x), 0)));
    case 2: return expr(m, RG_ADD, linear, expr(m, RG_MUL, value(m), expr(m, RG_MUL, x, expr(m, RG_ABS, x, 0))));
    default:
        return expr(m, RG_ADD, linear,
                    expr(m, RG_MUL, number(m, 0.125), expr(m, RG_SUB, expr(m, RG_EXP, pure(m, x), 0), number(m, 1))));
    }
}
static uint32_t
source_value(maker *m, measure u)
{
    rgraph *g = m->g;
    if (chance(m, 0.35))
        return value_in(m, u);
    if (chance(m, 0.25))
        return expr(m, RG_NEG, value_in(m, u), 0);
    if (!m->round && g->signal.n && !g->signal.at[0].integral && chance(m, 0.3))
        return expr(m, RG_MUL, value_in(m, u), variable(m, g->signal.at[0].var));
    uint32_t t = expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, 0.5, 3))), expr(m, RG_TIME, 0, 0));
    t = expr(m, RG_MUL, value_in(m, u), expr(m, chance(m, 0.5) ? RG_SIN : RG_COS, t, 0));
    return chance(m, 0.3) ? expr(m, RG_ADD, t, value_in(m, u)) : t;
}

static uint32_t
times(maker *m, double k, uint32_t x)
{
    return expr(m, RG_MUL, number(m, k), x);
}
static uint32_t
given(const rg_element *e, int k, char quantity)
{
    return quantity == 'e' ? e->port[k].e : quantity == 'f' ? e->port[k].f : e->holds[k];
}
/* Two stored quantities x and y: energy (k x^2 + h y^2)/2 + c x y + d (x + y)^4, with k h > c^2. By the energy, or,
 * without d, each law written out, forwards or backwards. */
static void
storage_field(maker *m, rg_element *e, bool nonlinear)
{
    double k = round4(rg_uniform(&m->rng, 0.5, 2)), h = round4(rg_uniform(&m->rng, 0.5, 2)),
           c = round4(rg_uniform(&m->rng, -0.45, 0.45));
    double d = nonlinear ? round4(rg_uniform(&m->rng, 0.02, 0.2)) : 0, own[2] = { k, h };
    bool backwards = !nonlinear && chance(m, 0.2);
    e->by_energy = nonlinear || (!backwards && chance(m, 0.6));
    if (backwards) {
        double det = k * h - c * c;
        own[0] = h / det;
        own[1] = k / det;
        c = -c / det;
    }
    uint32_t x[2], sum;
    for (int i = 0; i < 2; i++) {
        e->left[i] = backwards ? (e->momentum[i] ? 'p' : 'q') : e->momentum[i] ? 'f' : 'e';
        x[i] = variable(m, backwards ? (e->momentum[i] ? e->port[i].f : e->port[i].e) : e->holds[i]);
    }
    sum = expr(m, RG_ADD, pure(m, x[0]), pure(m, x[1]));
    for (int i = 0; i < 2; i++) {
        /* behind an arrow, where power comes out, an effort turns its sign */
        double turn = e->port[i].sign, cross = backwards ? e->port[1 - i].sign : turn;
        uint32_t slope = expr(m, RG_ADD, times(m, turn * own[i], x[i]), times(m, cross * c, x[1 - i]));
        if (nonlinear)
            slope = expr(m, RG_ADD, slope, times(m, turn * 4 * d * pure_factor(m), expr(m, RG_CUBE, sum, 0)));
        e->law[i] = slope;
    }
    uint32_t square = expr(m, RG_ADD, times(m, k / 2, expr(m, RG_MUL, x[0], x[0])),
                           times(m, h / 2, expr(m, RG_MUL, x[1], x[1])));
    e->energy = expr(m, RG_ADD, square, times(m, c, expr(m, RG_MUL, x[0], x[1])));
    if (nonlinear)
        e->energy = expr(m, RG_ADD, e->energy, times(m, d, expr(m, RG_MUL, sum, expr(m, RG_CUBE, sum, 0))));
}
/* All in one direction: efforts from flows or the other way; what couples them may lose power or only pass it on. */
static void
resistor_field(maker *m, rg_element *e, bool nonlinear)
{
    char left = chance(m, 0.5) ? 'e' : 'f', right = left == 'e' ? 'f' : 'e';
    double both = round4(rg_uniform(&m->rng, -0.4, 0.4)), across = round4(rg_uniform(&m->rng, -1, 1));
    for (int i = 0; i < 2; i++) {
        double coupling = (both + (i ? across : -across)) * e->port[0].sign * e->port[1].sign;
        uint32_t x = variable(m, given(e, i, right)), y = variable(m, given(e, 1 - i, right));
        uint32_t own = nonlinear ? rising(m, bare, x, false) : times(m, round4(rg_uniform(&m->rng, 0.5, 2)), x);
        e->left[i] = left;
        /* behind an arrow, where power comes out, what is given turns its sign */
        e->law[i] = expr(m, RG_ADD, e->port[i].sign > 0 ? own : expr(m, RG_NEG, own, 0), times(m, coupling, y));
    }
}
static void
transformer_field(maker *m, rg_element *e)
{
    bool one_in = e->port[1].sign < 0;
    uint32_t n[2];
    for (int i = 0; i < 2; i++)
        n[i] = chance(m, 0.3) ? modulus(m, bare) : chance(m, 0.3) ? expr(m, RG_NEG, value(m), 0) : value(m);
#define V(k, q) variable(m, given(e, k, q))
    if (one_in) {
        e->left[0] = 'e';
        e->left[1] = e->left[2] = 'f';
        e->law[0] = expr(m, RG_ADD, expr(m, RG_MUL, n[0], V(1, 'e')), expr(m, RG_MUL, n[1], V(2, 'e')));
        e->law[1] = expr(m, RG_MUL, n[0], V(0, 'f'));
        e->law[2] = expr(m, RG_MUL, n[1], V(0, 'f'));
    } else {
        e->left[0] = e->left[1] = 'e';
        e->left[2] = 'f';
        e->law[0] = expr(m, RG_MUL, n[0], V(2, 'e'));
        e->law[1] = expr(m, RG_MUL, n[1], V(2, 'e'));
        e->law[2] = expr(m, RG_ADD, expr(m, RG_MUL, n[0], V(0, 'f')), expr(m, RG_MUL, n[1], V(1, 'f')));
    }
#undef V
}

static void
make_laws(maker *m)
{
    rgraph *g = m->g;
    uint64_t after = 0;
    uint64_t before[8] = { 0 }; /* random numbers and parameters of a row's first round, by element */
    size_t param[8] = { 0 }, nth = 0;
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element e = g->element.at[i];
        m->scope = e.scope;
        m->round = e.row ? e.round : 0;
        if (e.row) {
            nth = i && g->element.at[i - 1].row == e.row && g->element.at[i - 1].round == e.round ? nth + 1 : 0;
            if (e.round == 1) {
                before[nth] = m->rng;
                param[nth] = g->param.n;
            } else {
                after = m->rng;
                m->rng = before[nth];
                m->row_param = param[nth];
            }
        }
        if (e.field) {
            bool bent = g->nonlinear && chance(m, 0.4);
            if (e.type == RG_R)
                resistor_field(m, &e, bent);
            else if (e.type == RG_TF)
                transformer_field(m, &e);
            else
                storage_field(m, &e, bent);
            g->element.at[i] = e;
            continue;
        }
        bool nonlinear = g->nonlinear && chance(m, 0.4);
        measure unit = measure_of(g, &e), left;
        char ratio[2][48];
        if (g->units && e.nports == 2) {
            const struct domain *a = &domains[g->junction.at[e.port[0].junction].domain],
                                *b = &domains[g->junction.at[e.port[1].junction].domain];
            snprintf(ratio[0], sizeof ratio[0], "%s.%s", a->effort, e.type == RG_TF ? b->per_effort : b->per_flow);
            snprintf(ratio[1], sizeof ratio[1], "%s.%s", a->per_effort, e.type == RG_TF ? b->effort : b->flow);
            unit = (measure){ ratio[0], NULL, 1, ratio[1] };
        }
        switch (e.type) {
        case RG_SE:
        case RG_SF:
            e.rhs = source_value(m, unit);
            e.modulated = chance(m, 0.3);
            break;
        case RG_TF:
        case RG_GY:
            e.modulated = chance(m, 0.25);
            e.rhs = e.modulated      ? modulus(m, unit)
                    : chance(m, 0.2) ? expr(m, RG_NEG, value_in(m, unit), 0)
                                     : value_in(m, unit);
            break;
        case RG_R: {
            bool e_left = chance(m, 0.6);
            left = e_left ? unit : inverted(unit);
            uint32_t of = variable(m, e_left ? e.port[0].f : e.port[0].e);
            if (nonlinear) {
                e.block = true;
                e.lhs = e_left ? 'e' : 'f';
                e.rhs = rising(m, left, of, false);
            } else if (chance(m, 0.2)) {
                e.block = true;
                e.lhs = e_left ? 'e' : 'f';
                e.rhs = expr(m, RG_MUL, value_in(m, left), of);
            } else {
                e.modulated = chance(m, 0.15);
                e.rhs = e.modulated ? modulus(m, unit) : value_in(m, unit);
            }
            break;
        }
        case RG_C:
        case RG_I: {
            bool power_left = chance(m, 0.8); /* e = .. of q, rather than q = .. of e */
            uint32_t common = e.type == RG_C ? e.port[0].e : e.port[0].f;
            left = power_left ? inverted(unit) : unit;
            uint32_t of = variable(m, power_left ? e.stored : common);
            char pl = e.type == RG_C ? 'e' : 'f', sl = e.type == RG_C ? 'q' : 'p';
            if (nonlinear) {
                e.block = true;
                e.lhs = power_left ? pl : sl;
                e.rhs = rising(m, left, of, true);
            } else if (chance(m, 0.2)) {
                e.block = true;
                e.lhs = power_left ? pl : sl;
                e.rhs = expr(m, RG_MUL, value_in(m, left), of);
            } else {
                e.modulated = chance(m, 0.04);
                e.rhs = e.modulated
                            ? expr(m, RG_MUL, value_in(m, unit),
                                   expr(m, RG_ADD, number(m, 2),
                                        expr(m, RG_SIN, expr(m, RG_MUL, number(m, 1.5), expr(m, RG_TIME, 0, 0)), 0)))
                            : value_in(m, unit);
            }
            break;
        }
        }
        g->element.at[i] = e;
        if (e.row && e.round > 1)
            m->rng = after;
    }
    m->round = 0;
}

static void
residual(maker *m, uint32_t left, uint32_t right)
{
    vec_push(&m->g->residual, expr(m, RG_SUB, left, right));
}

/* One equation a port from the laws, as many as it has bonds from each junction, one a signal. */
static void
make_equations(maker *m)
{
    rgraph *g = m->g;
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element e = g->element.at[i];
        const rg_port *p = e.port;
        if (e.field) {
            for (int k = 0; k < e.nports; k++)
                residual(m, variable(m, given(&e, k, e.left[k])), e.law[k]);
            continue;
        }
        if (e.nports == 2) {
            uint32_t ei = variable(m, p[0].e), fi = variable(m, p[0].f), eo = variable(m, p[1].e),
                     fo = variable(m, p[1].f);
            if (e.type == RG_TF) {
                residual(m, ei, expr(m, RG_MUL, e.rhs, eo));
                residual(m, fo, expr(m, RG_MUL, e.rhs, fi));
            } else {
                residual(m, ei, expr(m, RG_MUL, e.rhs, fo));
                residual(m, eo, expr(m, RG_MUL, e.rhs, fi));
            }
            continue;
        }
        uint32_t ve = variable(m, p[0].e), vf = variable(m, p[0].f),
                 vs = e.stored == NONE ? NONE : variable(m, e.stored);
        if (e.block)
            residual(m, e.lhs == 'e' ? ve : e.lhs == 'f' ? vf : vs, e.rhs);
        else if (e.type == RG_SE)
            residual(m, ve, e.rhs);
        else if (e.type == RG_SF)
            residual(m, vf, e.rhs);
        else if (e.type == RG_R)
            residual(m, ve, expr(m, RG_MUL, e.rhs, vf));
        else
            residual(m, vs, expr(m, RG_MUL, e.rhs, e.type == RG_C ? ve : vf));
    }
    /* incidences of each junction, in compressed rows */
    VEC(uint32_t) first = { 0 }, ve = { 0 }, vf = { 0 };
    VEC(int) sign = { 0 };
    vec_resize(&first, g->junction.n + 1);
    for (size_t j = 0; j < g->junction.n; j++)
        first.at[j + 1] = first.at[j] + g->junction.at[j].degree;
    vec_resize(&ve, first.at[g->junction.n]);
    vec_resize(&vf, first.at[g->junction.n]);
    vec_resize(&sign, first.at[g->junction.n]);
    VEC(uint32_t) fill = { 0 };
    vec_resize(&fill, g->junction.n);
#define PUT(j, E, F, S) \
    do { \
        uint32_t at_ = first.at[j] + fill.at[j]++; \
        ve.at[at_] = (E); \
        vf.at[at_] = (F); \
        sign.at[at_] = (S); \
    } while (0)
    for (size_t i = 0; i < g->element.n; i++)
        for (int k = 0; k < g->element.at[i].nports; k++) {
            const rg_port *p = &g->element.at[i].port[k];
            PUT(p->junction, p->e, p->f, -p->sign);
        }
    for (size_t i = 0; i < g->bond.n; i++) {
        const rg_bond *b = &g->bond.at[i];
        PUT(b->from, b->e, b->f, -1);
        PUT(b->to, b->e, b->f, 1);
    }
#undef PUT
    for (size_t j = 0; j < g->junction.n; j++) {
        uint32_t balance = NONE;
        for (uint32_t k = first.at[j]; k < first.at[j + 1]; k++) {
            bool one = g->junction.at[j].type;
            uint32_t common = one ? vf.at[k] : ve.at[k], summed = one ? ve.at[k] : vf.at[k];
            if (k > first.at[j])
                residual(m, variable(m, common), variable(m, one ? vf.at[first.at[j]] : ve.at[first.at[j]]));
            uint32_t term = variable(m, summed);
            if (balance == NONE)
                balance = sign.at[k] > 0 ? term : expr(m, RG_NEG, term, 0);
            else
                balance = expr(m, sign.at[k] > 0 ? RG_ADD : RG_SUB, balance, term);
        }
        if (balance != NONE)
            vec_push(&g->residual, balance);
    }
    for (size_t k = 0; k < g->signal.n; k++)
        if (!g->signal.at[k].integral)
            residual(m, variable(m, g->signal.at[k].var), g->signal.at[k].def);
    vec_free(&first);
    vec_free(&ve);
    vec_free(&vf);
    vec_free(&sign);
    vec_free(&fill);
}

static void
make_outputs(maker *m)
{
    rgraph *g = m->g;
    for (uint32_t k = 0; k < 5; k++) {
        uint32_t v = rg_below(&m->rng, (uint32_t)g->var.n);
        if (!g->var.at[v].name[0])
            continue;
        uint32_t d = variable(m, v);
        if (k == 3)
            d = expr(m, RG_MUL, d, expr(m, RG_SIN, pure(m, d), 0));
        if (k == 4)
            d = expr(m, RG_ADD, pure(m, expr(m, RG_MUL, d, d)), expr(m, RG_TIME, 0, 0));
        vec_push(&g->output, ((rg_output){ d }));
    }
}

/* ---------------------------------------------------------------- text */
/* Where something is written: names are relative to a component, and in a loop those of its first round carry the
 * loop's variable. */
typedef struct place {
    rgraph *g;
    uint32_t scope;
    bool loop;
    const rg_element *own; /* in whose block */
} place;

/* What a component reads from outside it is given. */
static void
need(rgraph *g, uint32_t scope, bool param, uint32_t index)
{
    rg_scope *s = &g->scope.at[scope];
    for (size_t k = 0; k < s->need.n; k++)
        if (s->need.at[k].param == param && s->need.at[k].index == index)
            return;
    vec_push(&s->need, ((rg_need){ param, index }));
}
/* A name inside this place, or false. */
static bool
put_name(const place *at, const char *name, strbuf *b)
{
    const char *path = at->g->scope.at[at->scope].path;
    size_t n = strlen(path);
    if (strncmp(name, path, n) != 0)
        return false;
    for (const char *s = name + n; *s;) {
        if (at->loop && !strncmp(s, "[1]", 3)) {
            strbuf_puts(b, "[i]");
            s += 3;
        } else if (at->loop && !strncmp(s, "[2]", 3)) {
            strbuf_puts(b, "[i+1]");
            s += 3;
        } else
            strbuf_add(b, s++, 1);
    }
    return true;
}
static void
put_junction(const place *at, uint32_t j, strbuf *b)
{
    put_name(at, at->g->junction.at[j].name, b);
}
static void
put_param(const place *at, uint32_t k, strbuf *b)
{
    const rg_param *p = &at->g->shown.at[k];
    if (at->scope == 0) {
        put_name(at, p->name, b);
        return;
    }
    if (p->home != at->scope)
        need(at->g, at->scope, true, k);
    strbuf_add(b, p->name, strcspn(p->name, "["));
}
static void
put_var(const place *at, uint32_t v, strbuf *b)
{
    const rg_element *e = at->own;
    for (int k = 0; e && k < e->nports; k++) { /* in its own block an element's variables are e f q p, or a.e .. */
        char q = v == e->port[k].e ? 'e' : v == e->port[k].f ? 'f' : 0;
        if (e->field && v == e->holds[k])
            q = e->momentum[k] ? 'p' : 'q';
        if (!e->field && v == e->stored)
            q = e->type == RG_I ? 'p' : 'q';
        if (!q)
            continue;
        if (e->field)
            strbuf_printf(b, "%c.", 'a' + k);
        strbuf_printf(b, "%c", q);
        return;
    }
    if (put_name(at, at->g->var.at[v].name, b))
        return;
    need(at->g, at->scope, false, v);
    strbuf_printf(b, "u%u", v);
}
static void
print_expr(const place *at, uint32_t of, strbuf *b)
{
    const rg_node *n = &at->g->node.at[of];
    static const char
        *const call[] = { [RG_SIN] = "sin", [RG_COS] = "cos", [RG_EXP] = "exp", [RG_SINH] = "sinh", [RG_ABS] = "abs" };
    static const char infix[] = { [RG_ADD] = '+', [RG_SUB] = '-', [RG_MUL] = '*', [RG_DIV] = '/' };
    switch (n->op) { /* trees here are a few levels deep */
    case RG_CONST:
        strbuf_printf(b, n->value < 0 ? "(%.15g)" : "%.15g", n->value);
        if (n->unit[0])
            strbuf_printf(b, " [%s]", n->unit);
        return;
    case RG_PARAM: put_param(at, n->a, b); return;
    case RG_VAR: put_var(at, n->a, b); return;
    case RG_TIME: strbuf_puts(b, "time"); return;
    case RG_NEG:
        strbuf_puts(b, "(-");
        print_expr(at, n->a, b);
        strbuf_puts(b, ")");
        return;
    case RG_CUBE:
        print_expr(at, n->a, b);
        strbuf_puts(b, "^3");
        return;
    case RG_ADD:
    case RG_SUB:
    case RG_MUL:
    case RG_DIV:
        strbuf_puts(b, "(");
        print_expr(at, n->a, b);
        strbuf_printf(b, " %c ", infix[n->op]);
        print_expr(at, n->b, b);
        strbuf_puts(b, ")");
        return;
    default:
        strbuf_printf(b, "%s(", call[n->op]);
        print_expr(at, n->a, b);
        strbuf_puts(b, ")");
    }
}
static const char *const type_name[] = { "Se", "Sf", "R", "C", "I", "TF", "GY" };
/* In its block the ports of a field are a b c; a transformer's efforts follow. */
static void
print_field(const place *at, const rg_element *e, strbuf *b)
{
    place in = *at;
    bool out = false;
    in.own = e;
    strbuf_printf(b, "%s:", type_name[e->type]);
    put_name(at, e->name, b);
    strbuf_puts(b, " { port");
    for (int k = 0; k < e->nports; k++) {
        bool first = !out && e->port[k].sign < 0;
        strbuf_printf(b, "%s %c", first ? " ->" : k ? "," : "", 'a' + k);
        out = out || first;
    }
    strbuf_puts(b, "; ");
    if (e->by_energy) {
        strbuf_puts(b, "energy = ");
        print_expr(&in, e->energy, b);
        strbuf_puts(b, "; ");
    }
    for (int k = 0; k < e->nports && !e->by_energy; k++) {
        if (e->type == RG_TF && e->left[k] == 'e')
            continue;
        strbuf_printf(b, "%c.%c = ", 'a' + k, e->left[k]);
        print_expr(&in, e->law[k], b);
        strbuf_puts(b, "; ");
    }
    strbuf_puts(b, "}");
}
static void
print_element(const place *at, const rg_element *e, strbuf *b)
{
    place in = *at;
    in.own = e;
    strbuf_printf(b, "%s%s:", e->modulated ? "M" : "", type_name[e->type]);
    put_name(at, e->name, b);
    if (!e->block) {
        strbuf_puts(b, " = ");
        print_expr(at, e->rhs, b);
    }
    if (e->block || e->stated) {
        strbuf_puts(b, " { ");
        if (e->block) {
            strbuf_printf(b, "%c = ", e->lhs);
            print_expr(&in, e->rhs, b);
            strbuf_puts(b, "; ");
        }
        if (e->stated)
            strbuf_printf(b, "%c(0) = %.15g; ", e->type == RG_C ? 'q' : 'p', e->initial);
        strbuf_puts(b, "}");
    }
}

typedef VEC(char *) lines;
static void
line_end(lines *l, strbuf *b, bool semicolon)
{
    if (semicolon)
        strbuf_puts(b, ";");
    vec_push(l, bg_strdup(b->at));
    b->n = 0;
}
/* Without an end: a block ends the statement. */
static bool
print_one_port(const place *at, const rg_element *e, strbuf *b)
{
    if (e->port[0].sign > 0) {
        put_junction(at, e->port[0].junction, b);
        strbuf_puts(b, " -> ");
    }
    print_element(at, e, b);
    if (e->port[0].sign < 0) {
        strbuf_puts(b, " -> ");
        put_junction(at, e->port[0].junction, b);
    }
    return (e->block || e->stated) && e->port[0].sign > 0;
}
static void
print_connected(const place *at, const rg_element *e, lines *l, strbuf *b)
{
    const rgraph *g = at->g;
    if (e->field) {
        print_field(at, e, b);
        line_end(l, b, false);
        for (int k = 0; k < e->nports; k++) {
            if (e->port[k].sign > 0) {
                put_junction(at, e->port[k].junction, b);
                strbuf_puts(b, " -> ");
            }
            put_name(at, e->name, b);
            strbuf_printf(b, ".%c", 'a' + k);
            if (e->port[k].sign < 0) {
                strbuf_puts(b, " -> ");
                put_junction(at, e->port[k].junction, b);
            }
            line_end(l, b, true);
        }
        return;
    }
    bool in = false, out = false; /* arrows that another element of the chain writes */
    for (int k = 0; k < e->nports; k++)
        if (g->junction.at[e->port[k].junction].implicit)
            *(e->port[k].sign > 0 ? &in : &out) = true;
    if (in)
        return; /* the other end writes the chain */
    for (int k = 0; k < e->nports; k++)
        if (e->port[k].sign > 0) {
            put_junction(at, e->port[k].junction, b);
            strbuf_puts(b, " -> ");
        }
    print_element(at, e, b);
    bool block = e->block || e->stated;
    for (int k = 0; k < e->nports; k++) {
        if (e->port[k].sign > 0)
            continue;
        strbuf_puts(b, " -> ");
        if (!out) {
            put_junction(at, e->port[k].junction, b);
            block = false;
            continue;
        }
        const rg_element *next = NULL;
        for (size_t q = 0; q < g->element.n; q++)
            for (int z = 0; z < g->element.at[q].nports; z++)
                if (g->element.at[q].port[z].junction == e->port[k].junction && g->element.at[q].port[z].sign > 0)
                    next = &g->element.at[q];
        print_element(at, next, b);
        block = next->block || next->stated;
        if (next->nports == 2) {
            strbuf_puts(b, " -> ");
            put_junction(at, next->port[1].junction, b);
            block = false;
        }
    }
    line_end(l, b, !block);
}
/* A parameter, or, from its first entry, an array of them. */
static void
print_param(const rgraph *g, size_t k, lines *l, strbuf *b)
{
    const rg_param *p = &g->shown.at[k];
    size_t base = strcspn(p->name, "["), n = 0;
    bool equal = true;
    if (!p->row)
        strbuf_printf(b, "parameter %s = %.15g", p->name, g->param.at[k] / p->factor);
    else {
        if (strcmp(p->name + base, "[1]") != 0)
            return;
        strbuf values = { 0 };
        for (size_t q = k; q < g->param.n; q++) {
            if (!g->shown.at[q].row || strncmp(g->shown.at[q].name, p->name, base + 1) != 0)
                continue;
            strbuf_printf(&values, "%s%.15g", n++ ? ", " : "", g->param.at[q] / p->factor);
            equal = equal && g->param.at[q] == g->param.at[k];
        }
        strbuf_printf(b, "parameter %.*s[%zu] = ", (int)base, p->name, n);
        strbuf_printf(b, equal ? "%s" : "[%s]", equal ? "" : values.at);
        if (equal)
            strbuf_printf(b, "%.15g", g->param.at[k] / p->factor);
        strbuf_free(&values);
    }
    if (p->unit[0])
        strbuf_printf(b, " [%s]", p->unit);
    line_end(l, b, true);
}
static void
print_instance(place *at, uint32_t inner, const char *type, const char *name, strbuf *b)
{
    rgraph *g = at->g;
    strbuf_printf(b, "%s:%s", type, name);
    size_t n = g->scope.at[inner].need.n;
    for (int params = 0, some = 0; params < 2; params++)
        for (size_t k = 0; k < n; k++) {
            rg_need x = g->scope.at[inner].need.at[k];
            if (x.param != (params == 1))
                continue;
            strbuf_puts(b, some++ ? ", " : "(");
            if (x.param) {
                strbuf_printf(b, "%.*s = ", (int)strcspn(g->shown.at[x.index].name, "["), g->shown.at[x.index].name);
                put_param(at, x.index, b);
            } else {
                strbuf_printf(b, "u%u = ", x.index);
                put_var(at, x.index, b);
            }
        }
    if (n)
        strbuf_puts(b, ")");
}
/* The elements of a row at one of its places, in the loop's body. */
static void
print_round(const place *at, uint32_t row, bool link, strbuf *b)
{
    const rgraph *g = at->g;
    for (size_t i = 0; i < g->bond.n && link; i++) {
        const rg_bond *x = &g->bond.at[i];
        if (x->row != row || x->round != 1)
            continue;
        put_junction(at, x->from, b);
        strbuf_puts(b, " -> ");
        put_junction(at, x->to, b);
        strbuf_puts(b, "; ");
    }
    for (size_t i = 0; i < g->element.n; i++) {
        const rg_element *e = &g->element.at[i];
        if (e->row != row || e->round != 1 || e->link != link)
            continue;
        strbuf_puts(b, print_one_port(at, e, b) ? " " : "; ");
    }
}
static void
print_row(rgraph *g, uint32_t row, uint32_t cell, lines *l, strbuf *b)
{
    const rg_row *r = &g->row.at[row - 1];
    place at = { g, 0, true, NULL };
    char n[16], type[24], name[24];
    uint8_t kind = 0;
    for (size_t j = g->junction.n; j-- > 0;)
        if (g->junction.at[j].row == row && !g->junction.at[j].link)
            kind = g->junction.at[j].type;
    snprintf(n, sizeof n, r->size ? "n%u" : "%u", r->size ? row : r->n);
    strbuf_printf(b, "%u:b%u[%s-1]", !kind, row, n);
    line_end(l, b, true);
    if (!r->cells) {
        strbuf_printf(b, "%u:a%u[%s]", kind, row, n);
        line_end(l, b, true);
    }
    strbuf_printf(b, "for i in 1..%s { ", n);
    if (r->cells) {
        snprintf(type, sizeof type, "Cell%u", row);
        snprintf(name, sizeof name, "cell%u[i]", row);
        print_instance(&at, cell, type, name, b);
        strbuf_puts(b, r->gone ? " without gone; " : "; ");
    } else {
        print_round(&at, row, false, b);
        if (r->gone)
            strbuf_printf(b, "a%u[i] -> R:gone%u[i] = 2; ", row, row);
    }
    if (r->apart) {
        strbuf_puts(b, "}");
        line_end(l, b, false);
        strbuf_printf(b, "for i in 1..%s-1 { ", n);
        print_round(&at, row, true, b);
    } else {
        strbuf_printf(b, "if i < %s { ", n);
        print_round(&at, row, true, b);
        strbuf_puts(b, "} ");
    }
    strbuf_puts(b, "}");
    line_end(l, b, false);
    if (r->gone && !r->cells) {
        strbuf_printf(b, "without gone%u[1..%s]", row, n);
        line_end(l, b, true);
    }
}

/* Statements of a component, or of the model, in random order, as the language lets them be. */
static void
print_scope(maker *m, uint32_t scope, uint32_t row)
{
    rgraph *g = m->g;
    place at = { g, scope, false, NULL };
    lines l = { 0 };
    strbuf b = { 0 }, ports = { 0 };
    for (uint32_t j = 0; j < g->junction.n && !row; j++) {
        const rg_junction *x = &g->junction.at[j];
        if (x->implicit || x->row || x->scope != scope)
            continue;
        if (x->joined && scope) {
            strbuf_printf(&ports, "%s%u:", ports.n ? ", " : "port ", x->type);
            put_junction(&at, j, &ports);
            continue;
        }
        strbuf_printf(&b, "%u:", x->type);
        put_junction(&at, j, &b);
        if (g->units && x->said)
            strbuf_printf(&b, " in %s", domains[x->domain].name);
        line_end(&l, &b, true);
    }
    for (size_t i = 0; i < g->bond.n && !row; i++) {
        const rg_bond *x = &g->bond.at[i];
        if (x->row || x->scope != scope)
            continue;
        put_junction(&at, x->from, &b);
        strbuf_puts(&b, " -> ");
        put_junction(&at, x->to, &b);
        if (chance(m, 0.1))
            strbuf_printf(&b, " as bond%zu", i + 1);
        line_end(&l, &b, true);
    }
    for (size_t i = 0; i < g->element.n; i++) {
        const rg_element *e = &g->element.at[i];
        if (row ? e->row == row && e->round == 1 && !e->link : !e->row && e->scope == scope)
            print_connected(&at, e, &l, &b);
    }
    if (row)
        strbuf_printf(&ports, "port %u:a", g->junction.at[g->scope.at[scope].gone].type);
    if (scope && g->scope.at[scope].gone != NONE && (!row || g->row.at[row - 1].gone)) {
        put_junction(&at, g->scope.at[scope].gone, &b);
        strbuf_puts(&b, " -> R:gone = 2");
        line_end(&l, &b, true);
    }
    uint32_t cell = (uint32_t)g->scope.n; /* those of rows are the last */
    for (size_t r = 0; r < g->row.n; r++)
        cell -= g->row.at[r].cells;
    for (uint32_t s = scope + 1; s < cell && !row; s++) {
        const rg_scope *x = &g->scope.at[s];
        if (x->parent != scope)
            continue;
        char name[64], type[24];
        snprintf(name, sizeof name, "%s", x->path + strlen(g->scope.at[scope].path));
        name[strlen(name) - 1] = 0;
        snprintf(type, sizeof type, "Part%u", s);
        print_instance(&at, s, type, name, &b);
        if (x->gone != NONE && s % 2)
            strbuf_puts(&b, " without gone");
        line_end(&l, &b, true);
        if (x->gone != NONE && s % 2 == 0) {
            strbuf_printf(&b, "without %s.gone", name);
            line_end(&l, &b, true);
        }
    }
    for (uint32_t r = 1; r <= g->row.n && !scope; r++) {
        print_row(g, r, cell, &l, &b);
        cell += g->row.at[r - 1].cells;
    }
    for (size_t k = 0; k < g->signal.n && !scope; k++) {
        const rg_signal *s = &g->signal.at[k];
        strbuf_printf(&b, "signal %s = ", g->var.at[s->var].name);
        if (s->integral)
            strbuf_printf(&b, "integral(%s.%c, %.15g)", g->junction.at[s->def].name,
                          g->junction.at[s->def].type ? 'f' : 'e', s->initial);
        else
            print_expr(&at, s->def, &b);
        line_end(&l, &b, true);
    }
    for (size_t k = 0; k < g->param.n; k++)
        if (g->shown.at[k].home == scope)
            print_param(g, k, &l, &b);
    for (size_t k = 0; k < g->scope.at[scope].need.n; k++) {
        rg_need x = g->scope.at[scope].need.at[k];
        if (x.param) {
            const rg_param *p = &g->shown.at[x.index];
            strbuf_printf(&b, "parameter %.*s = 1", (int)strcspn(p->name, "["), p->name);
            if (p->unit[0])
                strbuf_printf(&b, " [%s]", p->unit);
        } else
            strbuf_printf(&b, "input u%u", x.index);
        line_end(&l, &b, true);
    }
    if (ports.n) {
        strbuf_puts(&b, ports.at);
        line_end(&l, &b, true);
    }
    for (size_t k = l.n; k > 1; k--) {
        size_t q = rg_below(&m->rng, (uint32_t)k);
        char *t = l.at[k - 1];
        l.at[k - 1] = l.at[q];
        l.at[q] = t;
    }
    for (size_t k = 0; k < g->output.n && !scope; k++) { /* outputs keep their order: the model's do */
        strbuf_printf(&b, "output o%zu = ", k + 1);
        print_expr(&at, g->output.at[k].def, &b);
        line_end(&l, &b, true);
    }
    if (row)
        strbuf_printf(&g->text, "model Cell%u {\n", row);
    else if (scope)
        strbuf_printf(&g->text, "model Part%u {\n", scope);
    else {
        strbuf_puts(&g->text, "model random");
        bool some = false;
        for (size_t r = 0; r < g->row.n; r++)
            if (g->row.at[r].size) {
                strbuf_printf(&g->text, "%sn%zu = %u", some ? ", " : "(", r + 1, g->row.at[r].n);
                some = true;
            }
        strbuf_puts(&g->text, some ? ") {\n" : " {\n");
    }
    for (size_t k = 0; k < l.n; k++) {
        strbuf_printf(&g->text, "    %s\n", l.at[k]);
        free(l.at[k]);
    }
    strbuf_puts(&g->text, "}\n");
    vec_free(&l);
    strbuf_free(&b);
    strbuf_free(&ports);
}
static void
make_text(maker *m)
{
    rgraph *g = m->g;
    bool used[NDOMAINS] = { 0 };
    strbuf_printf(&g->text, "// seed %llu\n", (unsigned long long)g->seed);
    for (size_t j = 0; j < g->junction.n; j++)
        if (g->units && g->junction.at[j].said)
            used[g->junction.at[j].domain] = true;
    for (int k = 0; k < NDOMAINS; k++)
        if (used[k])
            strbuf_printf(&g->text, "domain %s { effort e_%d [%s]; flow f_%d [%s]; }\n", domains[k].name, k,
                          domains[k].effort, k, domains[k].flow);
    uint32_t parts = (uint32_t)g->scope.n;
    for (uint32_t r = 1; r <= g->row.n; r++) { /* what a cell is is known from the first */
        if (!g->row.at[r - 1].cells)
            continue;
        rg_scope s = { .gone = NONE };
        snprintf(s.path, sizeof s.path, "cell%u[1].", r);
        for (uint32_t j = 0; j < g->junction.n; j++)
            if (g->junction.at[j].row == r && g->junction.at[j].round == 1 && !g->junction.at[j].link)
                s.gone = j;
        vec_push(&g->scope, s);
        print_scope(m, (uint32_t)g->scope.n - 1, r);
    }
    for (uint32_t s = parts; s-- > 0;)
        print_scope(m, s, 0); /* what is within says what it needs */
}

rgraph *
rg_generate(uint64_t seed, uint32_t size)
{
    maker m = { .g = bg_calloc(1, sizeof(rgraph)), .rng = seed * 0x2545F4914F6CDD1Du + 1 };
    m.g->seed = seed;
    m.g->nonlinear = chance(&m, 0.45);
    m.g->feedback = chance(&m, 0.12);
    m.g->wide = !m.g->nonlinear && chance(&m, 0.15);
    uint64_t other = seed + 77; /* graphs without fields are what they are without this line */
    m.g->fields = !m.g->wide && rg_uniform(&other, 0, 1) < 0.3;
    m.g->units = rg_uniform(&other, 0, 1) < 0.3;
    m.g->parts = rg_uniform(&other, 0, 1) < 0.35;
    m.g->rows = rg_uniform(&other, 0, 1) < 0.25;
    make_structure(&m, size);
    if (m.g->rows)
        for (uint32_t k = 1, n = 1 + rg_below(&m.rng, 2); k <= n; k++)
            make_row(&m, k);
    make_scopes(&m);
    if (m.g->units)
        make_domains(&m);
    make_variables(&m);
    make_signals(&m);
    make_laws(&m);
    make_equations(&m);
    make_outputs(&m);
    make_text(&m);
    vec_free(&m.readable);
    return m.g;
}
void
rg_free(rgraph *g)
{
    if (!g)
        return;
    vec_free(&g->node);
    vec_free(&g->param);
    vec_free(&g->var);
    vec_free(&g->junction);
    vec_free(&g->element);
    for (size_t k = 0; k < g->scope.n; k++)
        vec_free(&g->scope.at[k].need);
    vec_free(&g->shown);
    vec_free(&g->scope);
    vec_free(&g->row);
    vec_free(&g->bond);
    vec_free(&g->signal);
    vec_free(&g->output);
    vec_free(&g->residual);
    strbuf_free(&g->text);
    free(g);
}
uint32_t
rg_find(const rgraph *g, const char *name)
{
    for (uint32_t v = 0; v < g->var.n; v++)
        if (!strcmp(g->var.at[v].name, name))
            return v;
    size_t n = strlen(name);
    for (size_t j = 0; j < g->junction.n && n > 2; j++) {
        const rg_junction *x = &g->junction.at[j];
        if (strlen(x->name) == n - 2 && !strncmp(x->name, name, n - 2) && name[n - 2] == '.' &&
            name[n - 1] == (x->type ? 'f' : 'e'))
            return x->common;
    }
    return NONE;
}

/* ---------------------------------------------------------------- mistakes */
/* Begin and end of line k (from 1) of a text. */
static bool
line_at(const char *text, int k, size_t *begin, size_t *end)
{
    const char *s = text;
    for (int i = 1; i < k; i++) {
        s = strchr(s, '\n');
        if (!s)
            return false;
        s++;
    }
    const char *e = strchr(s, '\n');
    *begin = (size_t)(s - text);
    *end = e ? (size_t)(e - text) : strlen(text);
    return *end > *begin;
}
static char *
splice(const char *text, size_t begin, size_t end, const char *put)
{
    strbuf b = { 0 };
    strbuf_add(&b, text, begin);
    strbuf_puts(&b, put);
    strbuf_puts(&b, text + end);
    return b.at;
}
/* A line of a model's body that contains `has` (any, where it is empty), starting the search at random. */
static int
find_line(const char *text, uint64_t *rng, const char *has, size_t *at)
{
    int n = 0;
    for (const char *s = text; *s; s++)
        n += *s == '\n';
    if (n < 1)
        return 0;
    int from = (int)rg_below(rng, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        int k = 1 + (from + i) % n;
        size_t b, e;
        if (!line_at(text, k, &b, &e) || text[b] != ' ')
            continue;
        const char *s = strstr(text + b, has);
        if (s && (size_t)(s - text) < e) {
            *at = (size_t)(s - text);
            return k;
        }
    }
    return 0;
}
static char *
insert_line(const char *text, int after, const char *line)
{
    size_t b, e;
    if (!line_at(text, after, &b, &e))
        return NULL;
    char *put = bg_format("\n    %s", line), *r = splice(text, e, e, put);
    free(put);
    return r;
}

/* Mistakes that stand on a line of their own, which is where the error belongs. */
static const struct {
    const char *what, *line;
} one_line[] = {
    { "unknown part", "nowhere_1 -> nowhere_2;" },
    { "unknown type", "Q:zz = 1;" },
    { "unknown value", "output zz = no_such_value + 1;" },
    { "open parenthesis", "parameter zz = (1 + 2;" },
    { "superfluous parenthesis", "parameter zz = 1 + 2);" },
    { "strange character", "parameter zz = 3 $ 4;" },
    { "reserved word as a name", "parameter when = 3;" },
    { "bare decimal point", "parameter zz = 3.;" },
    { "bare decimal point in front", "parameter zz = .5;" },
    { "exponent without digits", "parameter zz = 3e;" },
    { "unknown function", "output zz = frobnicate(1);" },
    { "too many arguments", "output zz = sin(1, 2);" },
    { "too few arguments", "output zz = atan2(1);" },
    { "unknown unit", "parameter zz = 3 [furlongs_per_fortnight_x];" },
    { "unit not closed", "parameter zz = 3 [kg;" },
    { "unlike units", "parameter za = 1 [kg]; parameter zb = 2 [m]; output zc = za + zb;" },
    { "parameters in a circle", "parameter za = zb; parameter zb = za;" },
    { "two sources set one effort", "0:zj; Se:za = 1 -> zj; Se:zb = 2 -> zj;" },
    { "two sources set one flow", "1:zj; Sf:za = 1 -> zj; zj -> Sf:zb = 2;" },
    { "arrow out of a resistor", "1:zj; Se:zs = 1 -> zj; R:zr = 2 -> zj;" },
    { "resistor with two bonds", "1:zj; 1:zk; Se:zs = 1 -> zj -> R:zr = 2; zk -> zr; Se:zt = 1 -> zk;" },
    { "law in a variable it has not", "1:zj; Se:zs = 1 -> zj; zj -> R:zr { e = 2*q; }" },
    { "initial value it has not", "1:zj; Se:zs = 1 -> zj; zj -> R:zr = 2 { q(0) = 1; }" },
    { "same part twice", "1:zj; 1:zj; Se:zs = 1 -> zj -> R:zr = 1;" },
    { "same value twice", "parameter zz = 1; parameter zz = 2;" },
    { "transformer with one bond", "1:zj; Se:zs = 1 -> zj -> TF:zt = 2; zj -> R:zr = 1;" },
    { "two names in a row", "output zz = time time;" },
    { "operator without operand", "output zz = 2*;" },
    { "chain that ends in an arrow", "1:zj -> ;" },
    { "unit of no quantity in a bond", "1:zj; Se:zs = 3 [N] -> zj; zj -> I:zm = 2 [K];" },
    { "index on a single part", "1:zj; Se:zs = 1 -> zj[2]; zj -> R:zr = 1;" },
    { "part of a part that has none", "output zz = time.e;" },
    { "law that is missing", "1:zj; Se:zs = 1 -> zj; zj -> C:zc;" },
    { "condition as a value", "output zz = 1 + (time < 2);" },
    { "index beyond the array", "1:zj[3]; Se:zs = 1 -> zj[4];" },
    { "index below the array", "1:zj[3]; Se:zs = 1 -> zj[0];" },
    { "index that is not whole", "1:zj[3]; Se:zs = 1 -> zj[2.5];" },
    { "index that is missing", "1:zj[3]; Se:zs = 1 -> zj;" },
    { "too many indexes", "1:zj[3]; Se:zs = 1 -> zj[1,2];" },
    { "size that is not known", "1:zj[zn];" },
    { "size that varies", "1:zj[time];" },
    { "array without end", "1:zj[10^12];" },
    { "loop without end", "for zi in 1..10^12 { 1:zj[zi]; }" },
    { "loop that declares one name again and again", "1:zj; for zi in 1..3 { zj -> R:zr = 1; }" },
    { "index beyond the array in a loop", "1:zj[3]; for zi in 1..3 { zj[zi+1] -> R:zr[zi] = 1; }" },
    { "loop variable outside", "1:zj[3]; for zi in 1..3 { zj[zi] -> R:zr[zi] = 1; } output zz = zi;" },
    { "condition that varies", "if time > 1 { 1:zj; }" },
    { "vectors of unlike sizes", "parameter za[2] = [1, 2]; parameter zb[3] = [1, 2, 3]; output zc = za*zb;" },
    { "value of another size", "parameter za[2] = [1, 2, 3];" },
    { "matrix with a short row", "parameter za[2,2] = [1, 2; 3];" },
    { "entries in unlike units", "parameter za[2] = [1 [kg], 2 [m]];" },
    { "without what is not there", "without zz;" },
    { "without an item that is not there", "1:zj[3]; for zi in 1..3 { zj[zi] -> R:zr[zi] = 1; } without zr[4];" },
    { "read what was taken out",
      "1:zj[3]; for zi in 1..3 { zj[zi] -> R:zr[zi] = 1; } without zr[2]; output zz = zr[2].e;" },
    { "unknown port of a field", "1:zj; C:zf { port za, zb; energy = za.q*zb.q; } zj -> zf.zc;" },
    { "port of a field used twice", "1:zj; 1:zk; R:zf { port za; za.e = za.f; } zj -> zf.za; zk -> zf.za;" },
    { "laws that are no slopes of one energy",
      "1:zj; C:zf { port za, zb; za.e = za.q + zb.q; zb.e = 2*za.q + zb.q; } zj -> zf.za; zj -> zf.zb;" },
    { "law of a port that is missing", "1:zj; R:zf { port za, zb; za.e = zb.f; } zj -> zf.za; zj -> zf.zb;" },
    { "domain that is not there", "0:zj in nowhere_1;" },
    { "coefficient that no bond has", "1:zj; zj -> R:zr = 3 [cd];" },
    { "law in a wrong unit", "1:zj; zj -> R:zr = 3 [N.s/m]; Se:zs = 2 [Pa] -> zj;" },
    { "initial value in a wrong unit", "1:zj; zj -> I:zr = 3 [kg] { p(0) = 2 [m]; }" },
    { "component that is not there", "Nothing:zc(k = 1);" },
    { "component within itself", "random:zc;" },
    { "loop variable that is given", "for time in 1..2 { 1:zj[time]; }" },
    { "reinit of what is no state", "when time > 1 { reinit zz.q = 1; }" },
};
/* The same with a component that stands before all models: port p, input u, parameter k, resistor r on the port. */
static const char component[] = "model Zcomp { port 1:zp; input zu; parameter zk = 2 [ohm]; zp -> R:zr = zk; zp -> "
                                "MSe:zs = zu; zp -> 1:zin -> R:zq = 1; }\n";
static const struct {
    const char *what, *line;
} with_component[] = {
    { "unknown argument", "Zcomp:zc(zu = 1, zx = 2); 1:zj; zj -> zc; Se:zt = 1 -> zj;" },
    { "argument given twice", "Zcomp:zc(zu = 1, zu = 2); 1:zj; zj -> zc; Se:zt = 1 -> zj;" },
    { "argument that reads what is not there", "Zcomp:zc(zu = zz); 1:zj; zj -> zc; Se:zt = 1 -> zj;" },
    { "parameter given a signal", "1:zj; Zcomp:zc(zu = 1, zk = zj.f); zj -> zc; Se:zt = 1 -> zj;" },
    { "argument in a wrong unit", "Zcomp:zc(zu = 1, zk = 3 [kg]); 1:zj; zj -> zc; Se:zt = 1 -> zj;" },
    { "unknown port", "Zcomp:zc(zu = 1); 1:zj; zj -> zc.zx; Se:zt = 1 -> zj;" },
    { "bond to what is no port", "Zcomp:zc(zu = 1); 1:zj; zj -> zc.zin; Se:zt = 1 -> zj; zj -> zc;" },
    { "bond to an element within", "Zcomp:zc(zu = 1); 1:zj; zj -> zc.zr; Se:zt = 1 -> zj; zj -> zc;" },
    { "value within that is not there", "Zcomp:zc(zu = 1); 1:zj; zj -> zc; Se:zt = 1 -> zj; output zz = zc.zx;" },
    { "part within that is not there", "Zcomp:zc(zu = 1); 1:zj; zj -> zc; Se:zt = 1 -> zj; output zz = zc.zx.f;" },
    { "without a part that is not there", "Zcomp:zc(zu = 1) without zx; 1:zj; zj -> zc; Se:zt = 1 -> zj;" },
    { "without a part of a part", "Zcomp:zc(zu = 1); without zc.zr.zx; 1:zj; zj -> zc; Se:zt = 1 -> zj;" },
    { "without twice", "Zcomp:zc(zu = 1) without zq, zx.zq; 1:zj; zj -> zc; Se:zt = 1 -> zj;" },
    { "instances without index", "Zcomp:zc[2](zu = 1); 1:zj; zj -> zc; Se:zt = 1 -> zj;" },
    { "instance that is not there", "Zcomp:zc[2](zu = 1); 1:zj; zj -> zc[3]; Se:zt = 1 -> zj;" },
    { "unit that clashes within",
      "Zcomp:zc(zu = 1); 1:zj; zj -> zc; Se:zt = 1 [N] -> zj; Sf:zx = 2 [m/s] -> 0:zy -> zj;" },
    { "size that a component has not", "Zcomp:zc(zu = 1, n = 3); 1:zj; zj -> zc; Se:zt = 1 -> zj;" },
};

char *
rg_mutate(const char *text, uint64_t seed, struct rg_mutation *m)
{
    uint64_t rng = seed ^ 0xD1B54A32D192ED03u;
    size_t at, b, e;
    char *r = NULL;
    *m = (struct rg_mutation){ 0 };
    for (int attempt = 0; attempt < 20 && !r; attempt++) {
        switch (rg_below(&rng, 13)) {
        case 0:
        case 1:
        case 2: { /* a wrong line between two right ones */
            uint32_t k = rg_below(&rng, sizeof one_line / sizeof *one_line);
            int line = find_line(text, &rng, "", &at);
            if (!line)
                break;
            r = insert_line(text, line, one_line[k].line);
            *m = (struct rg_mutation){ one_line[k].what, line + 1, 0, false };
            break;
        }
        case 3: { /* a bond to a junction that is not there */
            int line = find_line(text, &rng, "-> j", &at);
            if (!line)
                break;
            r = splice(text, at + 3, at + 4, "zz");
            *m = (struct rg_mutation){ "unknown junction", line, 0, false };
            break;
        }
        case 4: { /* a statement without its end runs into the next one */
            int line = find_line(text, &rng, ";\n", &at);
            if (!line)
                break;
            r = splice(text, at, at + 1, "");
            *m = (struct rg_mutation){ "missing semicolon", line, line + 1, false };
            break;
        }
        case 5: { /* a declaration said again */
            int line = find_line(text, &rng, "parameter p", &at);
            if (!line || !line_at(text, line, &b, &e))
                break;
            char *copy = bg_format("%.*s", (int)(e - at), text + at);
            r = insert_line(text, line, copy);
            free(copy);
            *m = (struct rg_mutation){ "declared twice", line + 1, line, false };
            break;
        }
        case 8:
        case 9: { /* a wrong use of a component */
            uint32_t k = rg_below(&rng, sizeof with_component / sizeof *with_component);
            int line = find_line(text, &rng, "", &at);
            char *first = line ? insert_line(text, line, with_component[k].line) : NULL;
            if (!first)
                break;
            r = bg_format("%s%s", component, first);
            free(first);
            *m = (struct rg_mutation){ with_component[k].what, line + 2, 0, false };
            break;
        }
        case 10: { /* a neighbour that is not there */
            int line = find_line(text, &rng, "[i+1]", &at);
            if (!line)
                break;
            r = splice(text, at + 3, at + 4, "7");
            *m = (struct rg_mutation){ "wrong index", line, 0, false };
            break;
        }
        case 11: { /* a port that is not there */
            int line = find_line(text, &rng, "-> c1.", &at);
            if (!line)
                break;
            r = splice(text, at + 6, at + 6, "zz");
            *m = (struct rg_mutation){ "unknown port of a component", line, 0, false };
            break;
        }
        case 12: { /* what is taken out is not there */
            int line = find_line(text, &rng, "without ", &at);
            if (!line)
                break;
            r = splice(text, at + 8, at + 8, "zz");
            *m = (struct rg_mutation){ "without another", line, 0, false };
            break;
        }
        case 6: { /* cut off */
            size_t n = strlen(text);
            b = n > 40 ? 30 + rg_below(&rng, (uint32_t)(n - 35)) : n / 2;
            r = splice(text, b, n, "");
            *m = (struct rg_mutation){ "cut off", 0, 0, false };
            break;
        }
        default: { /* bytes changed at random */
            r = bg_strdup(text);
            size_t n = strlen(r);
            for (uint32_t k = 1 + rg_below(&rng, 4); k > 0; k--) {
                static const char byte[] = "(){}[];:=.,+-*/^<>\"'@#%&|~`\\0123456789abcefpqxyRCI \n\t\x7f\x80\xff";
                r[rg_below(&rng, (uint32_t)n)] = byte[rg_below(&rng, sizeof byte - 1)];
            }
            *m = (struct rg_mutation){ "noise", 0, 0, true };
        }
        }
    }
    if (!r) {
        r = splice(text, 0, 0, "?\n");
        *m = (struct rg_mutation){ "strange first line", 1, 0, false };
    }
    return r;
}
