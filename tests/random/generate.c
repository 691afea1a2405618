/* generate.c - random bond graphs: structure, laws, text, and texts with a mistake */
#include "generate.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NONE UINT32_MAX

/* ---------------------------------------------------------------- random numbers */
uint64_t rg_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
uint32_t rg_below(uint64_t *state, uint32_t n) { return n ? (uint32_t)((rg_random(state) >> 32) * n >> 32) : 0; }
double rg_uniform(uint64_t *state, double a, double b) { return a + (b - a) * (double)(rg_random(state) >> 11) * 0x1p-53; }

/* ---------------------------------------------------------------- making */
typedef struct maker {
    rgraph *g;
    uint64_t rng;
    VEC(uint32_t) readable;      /* variables a modulation may read: stored ones and integrals */
} maker;

static bool chance(maker *m, double p) { return rg_uniform(&m->rng, 0, 1) < p; }

static uint32_t expr(maker *m, enum rg_op op, uint32_t a, uint32_t b)
{
    vec_push(&m->g->node, ((rg_node){ op, a, b, 0 }));
    return (uint32_t)m->g->node.n - 1;
}
static uint32_t number(maker *m, double v)
{
    vec_push(&m->g->node, ((rg_node){ RG_CONST, 0, 0, v }));
    return (uint32_t)m->g->node.n - 1;
}
static uint32_t variable(maker *m, uint32_t v) { return expr(m, RG_VAR, v, 0); }

/* Four digits, so that text and description hold the same number. */
static double round4(double v)
{
    char s[32];
    snprintf(s, sizeof s, "%.4g", v);
    return strtod(s, NULL);
}
static double magnitude(maker *m)
{
    return round4(m->g->wide ? pow(10, rg_uniform(&m->rng, -3, 3)) : rg_uniform(&m->rng, 0.3, 3));
}
/* A positive value: a literal, a parameter of its own, one shared with another element, or computed from one. */
static uint32_t value(maker *m)
{
    rgraph *g = m->g;
    if (chance(m, 0.3)) return number(m, magnitude(m));
    uint32_t k;
    if (g->param.n && chance(m, 0.1)) {
        k = rg_below(&m->rng, (uint32_t)g->param.n);
    } else {
        k = (uint32_t)g->param.n;
        vec_push(&g->param, magnitude(m));
    }
    uint32_t p = expr(m, RG_PARAM, k, 0);
    if (chance(m, 0.15)) return expr(m, RG_DIV, number(m, 1), p);
    if (chance(m, 0.1)) return expr(m, RG_MUL, number(m, 2), p);
    return p;
}
/* A bounded wave around zero: of time, or of what may be read. */
static uint32_t wave(maker *m)
{
    uint32_t arg;
    /* far from 1 a wave of a stored quantity turns many times, and equations that it closes have many solutions; so have those that fields close */
    if (!m->g->wide && !m->g->fields && m->readable.n && chance(m, 0.6))
        arg = variable(m, m->readable.at[rg_below(&m->rng, (uint32_t)m->readable.n)]);
    else
        arg = expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, 0.5, 3))), expr(m, RG_TIME, 0, 0));
    return expr(m, chance(m, 0.5) ? RG_SIN : RG_COS, arg, 0);
}
/* A modulus that stays away from zero, or (of two-ports) now and then a plain wave. */
static uint32_t modulus(maker *m)
{
    uint32_t w = expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, 0.1, 0.6))), wave(m));
    return expr(m, RG_MUL, value(m), expr(m, RG_ADD, number(m, 1), w));
}

static uint32_t add_var(maker *m, enum rg_var_kind kind, const char *name)
{
    rg_var v = { .kind = kind, .rate = NONE };
    snprintf(v.name, sizeof v.name, "%s", name);
    vec_push(&m->g->var, v);
    return (uint32_t)m->g->var.n - 1;
}
static uint32_t add_junction(maker *m, uint8_t type, bool implicit)
{
    vec_push(&m->g->junction, ((rg_junction){ type, implicit, NONE, 0 }));
    return (uint32_t)m->g->junction.n - 1;
}
/* Variables are numbered after the structure is known; efforts and flows follow in a pass of their own. */
static void add_bond(maker *m, uint32_t a, uint32_t b)
{
    if (chance(m, 0.5)) { uint32_t t = a; a = b; b = t; }
    vec_push(&m->g->bond, ((rg_bond){ a, b, NONE, NONE }));
    m->g->junction.at[a].degree++;
    m->g->junction.at[b].degree++;
}
static rg_element *add_element(maker *m, enum rg_type type)
{
    rg_element e = { .type = type, .stored = NONE, .rhs = NONE, .lhs = 'n' };
    snprintf(e.name, sizeof e.name, "x%zu", m->g->element.n + 1);
    vec_push(&m->g->element, e);
    return &m->g->element.at[m->g->element.n - 1];
}
static void set_port(maker *m, rg_element *e, uint32_t junction, int sign)
{
    e->port[e->nports++] = (rg_port){ junction, sign, NONE, NONE };
    m->g->junction.at[junction].degree++;
}
static void one_port(maker *m, enum rg_type type, uint32_t junction)
{
    rg_element *e = add_element(m, type);
    int sign = (type == RG_SE || type == RG_SF) && chance(m, 0.6) ? -1 : 1;
    set_port(m, e, junction, sign);
}
static void two_port(maker *m, uint32_t a, uint32_t b)
{
    if (chance(m, 0.5)) { uint32_t t = a; a = b; b = t; }
    rg_element *e = add_element(m, chance(m, 0.6) ? RG_TF : RG_GY);
    set_port(m, e, a, 1);
    set_port(m, e, b, -1);
}
static uint32_t any_junction(maker *m)
{
    uint32_t j;
    do j = rg_below(&m->rng, (uint32_t)m->g->junction.n);
    while (m->g->junction.at[j].implicit);
    return j;
}
/* Storage and resistors of two ports, transformers of three; on any junctions, now and then twice on one. */
static void field(maker *m)
{
    static const enum rg_type types[] = { RG_C, RG_I, RG_R, RG_TF };
    rg_element *e = add_element(m, types[rg_below(&m->rng, 4)]);
    bool storage = e->type == RG_C || e->type == RG_I, one_in = chance(m, 0.6);
    e->field = true;
    set_port(m, e, any_junction(m), 1);
    set_port(m, e, any_junction(m), e->type == RG_TF ? (one_in ? -1 : 1) : chance(m, 0.7) ? 1 : -1);
    if (e->type == RG_TF) set_port(m, e, any_junction(m), -1);
    for (int k = 0; k < 3; k++) {
        e->holds[k] = e->law[k] = NONE;
        e->momentum[k] = storage && (e->type == RG_I) != chance(m, 0.25);
    }
}
static void connect(maker *m, uint32_t a, uint32_t b, double two)
{
    if (a != b && chance(m, 1 - two)) { add_bond(m, a, b); return; }
    if (a == b) return;
    if (chance(m, 0.85)) { two_port(m, a, b); return; }
    uint32_t between = add_junction(m, 1, true);      /* two two-ports in a chain: an implicit junction, arrows head to tail */
    rg_element *e = add_element(m, chance(m, 0.5) ? RG_TF : RG_GY);
    set_port(m, e, a, 1);
    set_port(m, e, between, -1);
    e = add_element(m, chance(m, 0.5) ? RG_TF : RG_GY);
    set_port(m, e, between, 1);
    set_port(m, e, b, -1);
}
static enum rg_type draw_type(maker *m, double resistive)
{
    double u = rg_uniform(&m->rng, 0, 1);
    if (u < resistive) return RG_R;
    u = rg_uniform(&m->rng, 0, 1);
    if (u < 0.42) return RG_C;
    if (u < 0.84) return RG_I;
    return u < 0.92 ? RG_SE : RG_SF;
}

static void make_structure(maker *m, uint32_t size)
{
    rgraph *g = m->g;
    uint32_t n = size ? size : 1 + rg_below(&m->rng, 9);
    double alternate = chance(m, 0.6) ? 0.95 : 0.6;   /* how often a neighbour is of the other kind */
    double two = chance(m, 0.5) ? 0.1 : 0.35, resistive = rg_uniform(&m->rng, 0.15, 0.6);
    add_junction(m, (uint8_t)rg_below(&m->rng, 2), false);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t from = chance(m, 0.5) ? (uint32_t)g->junction.n - 1 : rg_below(&m->rng, (uint32_t)g->junction.n);
        while (g->junction.at[from].implicit) from = rg_below(&m->rng, (uint32_t)g->junction.n);
        uint8_t type = (uint8_t)(chance(m, alternate) ? !g->junction.at[from].type : g->junction.at[from].type);
        uint32_t to = add_junction(m, type, false);
        connect(m, from, to, two);
    }
    if (chance(m, 0.45)) {                            /* loops and parallel bonds */
        for (uint32_t k = 1 + rg_below(&m->rng, 3); k > 0; k--) {
            uint32_t a = rg_below(&m->rng, (uint32_t)g->junction.n), b = rg_below(&m->rng, (uint32_t)g->junction.n);
            if (!g->junction.at[a].implicit && !g->junction.at[b].implicit) connect(m, a, b, 0.3);
        }
    }
    if (m->g->fields)
        for (uint32_t k = 1 + rg_below(&m->rng, 2); k > 0; k--) field(m);
    if (chance(m, 0.2)) {                             /* a ring of capacitors, or its dual, inductors around cuts */
        uint8_t node = (uint8_t)rg_below(&m->rng, 2);
        uint32_t ring = 3 + rg_below(&m->rng, 2), first = (uint32_t)g->junction.n;
        for (uint32_t i = 0; i < ring; i++) add_junction(m, node, false);
        for (uint32_t i = 0; i < ring; i++) {
            uint32_t mid = add_junction(m, !node, false);
            add_bond(m, first + i, mid);
            add_bond(m, mid, first + (i + 1) % ring);
            one_port(m, chance(m, 0.85) ? (node ? RG_I : RG_C) : RG_R, mid);
        }
        uint32_t a = rg_below(&m->rng, first);
        if (!g->junction.at[a].implicit) connect(m, a, first, two);
    }
    for (uint32_t j = 0; j < g->junction.n; j++) {
        if (g->junction.at[j].implicit) continue;
        uint32_t k = rg_below(&m->rng, 3) + (g->junction.at[j].degree < 2);
        while (k-- > 0) one_port(m, draw_type(m, resistive), j);
    }
    if (chance(m, 0.06)) {                            /* two elements alone: joined by an implicit junction */
        uint32_t j = add_junction(m, 1, true);
        rg_element *e = add_element(m, chance(m, 0.5) ? RG_SE : RG_SF);
        set_port(m, e, j, -1);
        enum rg_type t[] = { RG_R, RG_C, RG_I };
        one_port(m, t[rg_below(&m->rng, 3)], j);
    }
}

static void make_variables(maker *m)
{
    rgraph *g = m->g;
    char s[24];
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element *e = &g->element.at[i];
        for (int k = 0; k < e->nports; k++) {
            s[0] = 0;
            if (e->nports == 1) snprintf(s, sizeof s, "%s.e", e->name);
            else if (e->field) snprintf(s, sizeof s, "%s.%c.e", e->name, 'a' + k);
            uint32_t v = add_var(m, RG_EFFORT, s);
            if (s[0]) s[strlen(s) - 1] = 'f';
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
            if (j->common == NONE) j->common = j->type ? p->f : p->e;
        }
    for (size_t i = 0; i < g->bond.n; i++) {
        const rg_bond *b = &g->bond.at[i];
        rg_junction *j = &g->junction.at[b->from];
        if (j->common == NONE) j->common = j->type ? b->f : b->e;
        j = &g->junction.at[b->to];
        if (j->common == NONE) j->common = j->type ? b->f : b->e;
    }
}

/* Signals, integrals, and the differential variables; after this what may be read is known. */
static void make_signals(maker *m)
{
    rgraph *g = m->g;
    uint32_t n = chance(m, 0.5) ? rg_below(&m->rng, 3) : 0, nint = chance(m, 0.35) ? 1 + rg_below(&m->rng, 2) : 0;
    char s[24];
    for (uint32_t k = 0; k < n + nint; k++) {
        if (k < n) snprintf(s, sizeof s, "s%u", k + 1);
        else s[0] = 0;
        vec_push(&g->signal, ((rg_signal){ k < n ? add_var(m, RG_SIGNAL, s) : NONE, NONE, k >= n, 0 }));
    }
    g->nalgebraic = g->var.n;
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element *e = &g->element.at[i];
        if (e->type != RG_C && e->type != RG_I) continue;
        for (int k = 0; e->field && k < e->nports; k++) {
            snprintf(s, sizeof s, "%s.%c.%c", e->name, 'a' + k, e->momentum[k] ? 'p' : 'q');
            uint32_t v = add_var(m, RG_STORED, s);
            e->holds[k] = v;
            g->var.at[v].rate = e->momentum[k] ? e->port[k].e : e->port[k].f;
            if (chance(m, 0.5)) vec_push(&m->readable, v);
        }
        if (e->field) continue;
        snprintf(s, sizeof s, "%s.%c", e->name, e->type == RG_C ? 'q' : 'p');
        uint32_t v = add_var(m, RG_STORED, s);
        e = &g->element.at[i];
        e->stored = v;
        g->var.at[v].rate = e->type == RG_C ? e->port[0].f : e->port[0].e;
        if (chance(m, 0.5)) vec_push(&m->readable, v);
        if (chance(m, 0.3)) { e->stated = true; e->initial = round4(rg_uniform(&m->rng, -1, 1)); }
    }
    for (uint32_t k = n; k < n + nint; k++) {
        snprintf(s, sizeof s, "y%u", k - n + 1);
        uint32_t v = add_var(m, RG_INTEGRAL, s), j = rg_below(&m->rng, (uint32_t)g->junction.n);
        while (g->junction.at[j].implicit || g->junction.at[j].common == NONE) j = rg_below(&m->rng, (uint32_t)g->junction.n);
        g->var.at[v].rate = g->junction.at[j].common;
        g->signal.at[k].var = v;
        g->signal.at[k].def = j;
        g->signal.at[k].initial = round4(rg_uniform(&m->rng, -1, 1));
        vec_push(&m->readable, v);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t def = expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, 0.2, 2))), wave(m));
        if (k > 0 && chance(m, 0.5)) def = expr(m, RG_ADD, def, variable(m, g->signal.at[rg_below(&m->rng, k)].var));
        if (g->feedback && g->element.n && chance(m, 0.7)) {
            uint32_t j = rg_below(&m->rng, (uint32_t)g->element.n);
            if (g->element.at[j].nports == 1)
                def = expr(m, RG_ADD, def, expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, -0.5, 0.5))),
                                                variable(m, chance(m, 0.5) ? g->element.at[j].port[0].e : g->element.at[j].port[0].f)));
        }
        g->signal.at[k].def = def;
    }
}

/* value*x + another*x^3, x*|x| or the like: odd and rising, so that one solution exists in either direction. */
static uint32_t rising(maker *m, uint32_t x, bool smooth)
{
    uint32_t linear = expr(m, RG_MUL, value(m), x);
    switch (rg_below(&m->rng, smooth ? 2 : 4)) {
    case 0: return expr(m, RG_ADD, linear, expr(m, RG_MUL, value(m), expr(m, RG_CUBE, x, 0)));
    case 1: return expr(m, RG_ADD, linear, expr(m, RG_MUL, number(m, 0.25), expr(m, RG_SINH, x, 0)));
    case 2: return expr(m, RG_ADD, linear, expr(m, RG_MUL, value(m), expr(m, RG_MUL, x, expr(m, RG_ABS, x, 0))));
    default: return expr(m, RG_ADD, linear, expr(m, RG_MUL, number(m, 0.125), expr(m, RG_SUB, expr(m, RG_EXP, x, 0), number(m, 1))));
    }
}
static uint32_t source_value(maker *m)
{
    rgraph *g = m->g;
    if (chance(m, 0.35)) return value(m);
    if (chance(m, 0.25)) return expr(m, RG_NEG, value(m), 0);
    if (g->signal.n && !g->signal.at[0].integral && chance(m, 0.3)) return expr(m, RG_MUL, value(m), variable(m, g->signal.at[0].var));
    uint32_t t = expr(m, RG_MUL, number(m, round4(rg_uniform(&m->rng, 0.5, 3))), expr(m, RG_TIME, 0, 0));
    t = expr(m, RG_MUL, value(m), expr(m, chance(m, 0.5) ? RG_SIN : RG_COS, t, 0));
    return chance(m, 0.3) ? expr(m, RG_ADD, t, value(m)) : t;
}

static uint32_t times(maker *m, double k, uint32_t x) { return expr(m, RG_MUL, number(m, k), x); }
static uint32_t given(const rg_element *e, int k, char quantity)
{
    return quantity == 'e' ? e->port[k].e : quantity == 'f' ? e->port[k].f : e->holds[k];
}
/* Two stored quantities x and y: energy (k x^2 + h y^2)/2 + c x y + d (x + y)^4, with k h > c^2. By the energy, or, without d, each law
 * written out, forwards or backwards. */
static void storage_field(maker *m, rg_element *e, bool nonlinear)
{
    double k = round4(rg_uniform(&m->rng, 0.5, 2)), h = round4(rg_uniform(&m->rng, 0.5, 2)), c = round4(rg_uniform(&m->rng, -0.45, 0.45));
    double d = nonlinear ? round4(rg_uniform(&m->rng, 0.02, 0.2)) : 0, own[2] = { k, h };
    bool backwards = !nonlinear && chance(m, 0.2);
    e->by_energy = nonlinear || (!backwards && chance(m, 0.6));
    if (backwards) { double det = k * h - c * c; own[0] = h / det; own[1] = k / det; c = -c / det; }
    uint32_t x[2], sum;
    for (int i = 0; i < 2; i++) {
        e->left[i] = backwards ? (e->momentum[i] ? 'p' : 'q') : e->momentum[i] ? 'f' : 'e';
        x[i] = variable(m, backwards ? (e->momentum[i] ? e->port[i].f : e->port[i].e) : e->holds[i]);
    }
    sum = expr(m, RG_ADD, x[0], x[1]);
    for (int i = 0; i < 2; i++) {
        /* behind an arrow, where power comes out, an effort turns its sign */
        double turn = e->port[i].sign, cross = backwards ? e->port[1 - i].sign : turn;
        uint32_t slope = expr(m, RG_ADD, times(m, turn * own[i], x[i]), times(m, cross * c, x[1 - i]));
        if (nonlinear) slope = expr(m, RG_ADD, slope, times(m, turn * 4 * d, expr(m, RG_CUBE, sum, 0)));
        e->law[i] = slope;
    }
    uint32_t square = expr(m, RG_ADD, times(m, k / 2, expr(m, RG_MUL, x[0], x[0])), times(m, h / 2, expr(m, RG_MUL, x[1], x[1])));
    e->energy = expr(m, RG_ADD, square, times(m, c, expr(m, RG_MUL, x[0], x[1])));
    if (nonlinear) e->energy = expr(m, RG_ADD, e->energy, times(m, d, expr(m, RG_MUL, sum, expr(m, RG_CUBE, sum, 0))));
}
/* All in one direction: efforts from flows or the other way; what couples them may lose power or only pass it on. */
static void resistor_field(maker *m, rg_element *e, bool nonlinear)
{
    char left = chance(m, 0.5) ? 'e' : 'f', right = left == 'e' ? 'f' : 'e';
    double both = round4(rg_uniform(&m->rng, -0.4, 0.4)), across = round4(rg_uniform(&m->rng, -1, 1));
    for (int i = 0; i < 2; i++) {
        double coupling = (both + (i ? across : -across)) * e->port[0].sign * e->port[1].sign;
        uint32_t x = variable(m, given(e, i, right)), y = variable(m, given(e, 1 - i, right));
        uint32_t own = nonlinear ? rising(m, x, false) : times(m, round4(rg_uniform(&m->rng, 0.5, 2)), x);
        e->left[i] = left;
        /* behind an arrow, where power comes out, what is given turns its sign */
        e->law[i] = expr(m, RG_ADD, e->port[i].sign > 0 ? own : expr(m, RG_NEG, own, 0), times(m, coupling, y));
    }
}
static void transformer_field(maker *m, rg_element *e)
{
    bool one_in = e->port[1].sign < 0;
    uint32_t n[2];
    for (int i = 0; i < 2; i++) n[i] = chance(m, 0.3) ? modulus(m) : chance(m, 0.3) ? expr(m, RG_NEG, value(m), 0) : value(m);
#define V(k, q) variable(m, given(e, k, q))
    if (one_in) {
        e->left[0] = 'e'; e->left[1] = e->left[2] = 'f';
        e->law[0] = expr(m, RG_ADD, expr(m, RG_MUL, n[0], V(1, 'e')), expr(m, RG_MUL, n[1], V(2, 'e')));
        e->law[1] = expr(m, RG_MUL, n[0], V(0, 'f'));
        e->law[2] = expr(m, RG_MUL, n[1], V(0, 'f'));
    } else {
        e->left[0] = e->left[1] = 'e'; e->left[2] = 'f';
        e->law[0] = expr(m, RG_MUL, n[0], V(2, 'e'));
        e->law[1] = expr(m, RG_MUL, n[1], V(2, 'e'));
        e->law[2] = expr(m, RG_ADD, expr(m, RG_MUL, n[0], V(0, 'f')), expr(m, RG_MUL, n[1], V(1, 'f')));
    }
#undef V
}

static void make_laws(maker *m)
{
    rgraph *g = m->g;
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element e = g->element.at[i];
        if (e.field) {
            bool bent = g->nonlinear && chance(m, 0.4);
            if (e.type == RG_R) resistor_field(m, &e, bent);
            else if (e.type == RG_TF) transformer_field(m, &e);
            else storage_field(m, &e, bent);
            g->element.at[i] = e;
            continue;
        }
        bool nonlinear = g->nonlinear && chance(m, 0.4);
        switch (e.type) {
        case RG_SE: case RG_SF:
            e.rhs = source_value(m);
            e.modulated = chance(m, 0.3);
            break;
        case RG_TF: case RG_GY:
            e.modulated = chance(m, 0.25);
            e.rhs = e.modulated ? modulus(m) : chance(m, 0.2) ? expr(m, RG_NEG, value(m), 0) : value(m);
            break;
        case RG_R: {
            bool e_left = chance(m, 0.6);
            uint32_t of = variable(m, e_left ? e.port[0].f : e.port[0].e);
            if (nonlinear) {
                e.block = true;
                e.lhs = e_left ? 'e' : 'f';
                e.rhs = rising(m, of, false);
            } else if (chance(m, 0.2)) {
                e.block = true;
                e.lhs = e_left ? 'e' : 'f';
                e.rhs = expr(m, RG_MUL, value(m), of);
            } else {
                e.modulated = chance(m, 0.15);
                e.rhs = e.modulated ? modulus(m) : value(m);
            }
            break;
        }
        case RG_C: case RG_I: {
            bool power_left = chance(m, 0.8);         /* e = .. of q, rather than q = .. of e */
            uint32_t common = e.type == RG_C ? e.port[0].e : e.port[0].f;
            uint32_t of = variable(m, power_left ? e.stored : common);
            char pl = e.type == RG_C ? 'e' : 'f', sl = e.type == RG_C ? 'q' : 'p';
            if (nonlinear) {
                e.block = true;
                e.lhs = power_left ? pl : sl;
                e.rhs = rising(m, of, true);
            } else if (chance(m, 0.2)) {
                e.block = true;
                e.lhs = power_left ? pl : sl;
                e.rhs = expr(m, RG_MUL, value(m), of);
            } else {
                e.modulated = chance(m, 0.04);
                e.rhs = e.modulated ? expr(m, RG_MUL, value(m), expr(m, RG_ADD, number(m, 2), expr(m, RG_SIN, expr(m, RG_MUL, number(m, 1.5), expr(m, RG_TIME, 0, 0)), 0))) : value(m);
            }
            break;
        }
        }
        g->element.at[i] = e;
    }
}

static void residual(maker *m, uint32_t left, uint32_t right) { vec_push(&m->g->residual, expr(m, RG_SUB, left, right)); }

/* One equation a port from the laws, as many as it has bonds from each junction, one a signal. */
static void make_equations(maker *m)
{
    rgraph *g = m->g;
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element e = g->element.at[i];
        const rg_port *p = e.port;
        if (e.field) {
            for (int k = 0; k < e.nports; k++) residual(m, variable(m, given(&e, k, e.left[k])), e.law[k]);
            continue;
        }
        if (e.nports == 2) {
            uint32_t ei = variable(m, p[0].e), fi = variable(m, p[0].f), eo = variable(m, p[1].e), fo = variable(m, p[1].f);
            if (e.type == RG_TF) {
                residual(m, ei, expr(m, RG_MUL, e.rhs, eo));
                residual(m, fo, expr(m, RG_MUL, e.rhs, fi));
            } else {
                residual(m, ei, expr(m, RG_MUL, e.rhs, fo));
                residual(m, eo, expr(m, RG_MUL, e.rhs, fi));
            }
            continue;
        }
        uint32_t ve = variable(m, p[0].e), vf = variable(m, p[0].f), vs = e.stored == NONE ? NONE : variable(m, e.stored);
        if (e.block) residual(m, e.lhs == 'e' ? ve : e.lhs == 'f' ? vf : vs, e.rhs);
        else if (e.type == RG_SE) residual(m, ve, e.rhs);
        else if (e.type == RG_SF) residual(m, vf, e.rhs);
        else if (e.type == RG_R) residual(m, ve, expr(m, RG_MUL, e.rhs, vf));
        else residual(m, vs, expr(m, RG_MUL, e.rhs, e.type == RG_C ? ve : vf));
    }
    /* incidences of each junction, in compressed rows */
    VEC(uint32_t) first = { 0 }, ve = { 0 }, vf = { 0 };
    VEC(int) sign = { 0 };
    vec_resize(&first, g->junction.n + 1);
    for (size_t j = 0; j < g->junction.n; j++) first.at[j + 1] = first.at[j] + g->junction.at[j].degree;
    vec_resize(&ve, first.at[g->junction.n]);
    vec_resize(&vf, first.at[g->junction.n]);
    vec_resize(&sign, first.at[g->junction.n]);
    VEC(uint32_t) fill = { 0 };
    vec_resize(&fill, g->junction.n);
#define PUT(j, E, F, S) do { uint32_t at_ = first.at[j] + fill.at[j]++; ve.at[at_] = (E); vf.at[at_] = (F); sign.at[at_] = (S); } while (0)
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
            if (k > first.at[j]) residual(m, variable(m, common), variable(m, one ? vf.at[first.at[j]] : ve.at[first.at[j]]));
            uint32_t term = variable(m, summed);
            if (balance == NONE) balance = sign.at[k] > 0 ? term : expr(m, RG_NEG, term, 0);
            else balance = expr(m, sign.at[k] > 0 ? RG_ADD : RG_SUB, balance, term);
        }
        if (balance != NONE) vec_push(&g->residual, balance);
    }
    for (size_t k = 0; k < g->signal.n; k++)
        if (!g->signal.at[k].integral) residual(m, variable(m, g->signal.at[k].var), g->signal.at[k].def);
    vec_free(&first); vec_free(&ve); vec_free(&vf); vec_free(&sign); vec_free(&fill);
}

static void make_outputs(maker *m)
{
    rgraph *g = m->g;
    for (uint32_t k = 0; k < 5; k++) {
        uint32_t v = rg_below(&m->rng, (uint32_t)g->var.n);
        if (!g->var.at[v].name[0]) continue;
        uint32_t d = variable(m, v);
        if (k == 3) d = expr(m, RG_MUL, d, expr(m, RG_SIN, d, 0));
        if (k == 4) d = expr(m, RG_ADD, expr(m, RG_MUL, d, d), expr(m, RG_TIME, 0, 0));
        vec_push(&g->output, ((rg_output){ d }));
    }
}

/* ---------------------------------------------------------------- text */
static void print_expr(const rgraph *g, uint32_t at, strbuf *b)
{
    const rg_node *n = &g->node.at[at];
    static const char *const call[] = { [RG_SIN] = "sin", [RG_COS] = "cos", [RG_EXP] = "exp", [RG_SINH] = "sinh", [RG_ABS] = "abs" };
    static const char infix[] = { [RG_ADD] = '+', [RG_SUB] = '-', [RG_MUL] = '*', [RG_DIV] = '/' };
    switch (n->op) {                                  /* trees here are a few levels deep */
    case RG_CONST: strbuf_printf(b, n->value < 0 ? "(%.15g)" : "%.15g", n->value); return;
    case RG_PARAM: strbuf_printf(b, "p%u", n->a + 1); return;
    case RG_VAR: strbuf_puts(b, g->var.at[n->a].name); return;
    case RG_TIME: strbuf_puts(b, "time"); return;
    case RG_NEG: strbuf_puts(b, "(-"); print_expr(g, n->a, b); strbuf_puts(b, ")"); return;
    case RG_CUBE: print_expr(g, n->a, b); strbuf_puts(b, "^3"); return;
    case RG_ADD: case RG_SUB: case RG_MUL: case RG_DIV:
        strbuf_puts(b, "(");
        print_expr(g, n->a, b);
        strbuf_printf(b, " %c ", infix[n->op]);
        print_expr(g, n->b, b);
        strbuf_puts(b, ")");
        return;
    default:
        strbuf_printf(b, "%s(", call[n->op]);
        print_expr(g, n->a, b);
        strbuf_puts(b, ")");
    }
}
/* In its own block an element's variables are e f q p. */
static void print_law(rgraph *g, const rg_element *e, strbuf *b)
{
    char saved[3][24];
    uint32_t v[3] = { e->port[0].e, e->port[0].f, e->stored };
    static const char own[2][3] = { { 'e', 'f', 'q' }, { 'e', 'f', 'p' } };
    for (int k = 0; k < 3; k++)
        if (v[k] != NONE) {
            memcpy(saved[k], g->var.at[v[k]].name, sizeof saved[k]);
            snprintf(g->var.at[v[k]].name, sizeof g->var.at[v[k]].name, "%c", own[e->type == RG_I][k]);
        }
    strbuf_printf(b, "%c = ", e->lhs);
    print_expr(g, e->rhs, b);
    for (int k = 0; k < 3; k++)
        if (v[k] != NONE) memcpy(g->var.at[v[k]].name, saved[k], sizeof saved[k]);
}
/* In its block the ports of a field are a b c; a transformer's efforts follow. */
static void print_field(rgraph *g, const rg_element *e, strbuf *b)
{
    static const char *const type[] = { "Se", "Sf", "R", "C", "I", "TF", "GY" };
    char saved[9][24];
    bool out = false;
    for (int k = 0; k < 9; k++) {
        uint32_t v = k / 3 >= e->nports ? NONE : k % 3 == 0 ? e->port[k / 3].e : k % 3 == 1 ? e->port[k / 3].f : e->holds[k / 3];
        if (v == NONE) continue;
        memcpy(saved[k], g->var.at[v].name, sizeof saved[k]);
        snprintf(g->var.at[v].name, sizeof g->var.at[v].name, "%c.%c", 'a' + k / 3, k % 3 == 0 ? 'e' : k % 3 == 1 ? 'f' : e->momentum[k / 3] ? 'p' : 'q');
    }
    strbuf_printf(b, "%s:%s { port", type[e->type], e->name);
    for (int k = 0; k < e->nports; k++) {
        bool first = !out && e->port[k].sign < 0;
        strbuf_printf(b, "%s %c", first ? " ->" : k ? "," : "", 'a' + k);
        out = out || first;
    }
    strbuf_puts(b, "; ");
    if (e->by_energy) { strbuf_puts(b, "energy = "); print_expr(g, e->energy, b); strbuf_puts(b, "; "); }
    for (int k = 0; k < e->nports && !e->by_energy; k++) {
        if (e->type == RG_TF && e->left[k] == 'e') continue;
        strbuf_printf(b, "%c.%c = ", 'a' + k, e->left[k]);
        print_expr(g, e->law[k], b);
        strbuf_puts(b, "; ");
    }
    strbuf_puts(b, "}");
    for (int k = 0; k < 9; k++) {
        uint32_t v = k / 3 >= e->nports ? NONE : k % 3 == 0 ? e->port[k / 3].e : k % 3 == 1 ? e->port[k / 3].f : e->holds[k / 3];
        if (v != NONE) memcpy(g->var.at[v].name, saved[k], sizeof saved[k]);
    }
}
static void print_element(rgraph *g, const rg_element *e, strbuf *b)
{
    static const char *const type[] = { "Se", "Sf", "R", "C", "I", "TF", "GY" };
    strbuf_printf(b, "%s%s:%s", e->modulated ? "M" : "", type[e->type], e->name);
    if (!e->block) { strbuf_puts(b, " = "); print_expr(g, e->rhs, b); }
    if (e->block || e->stated) {
        strbuf_puts(b, " { ");
        if (e->block) { print_law(g, e, b); strbuf_puts(b, "; "); }
        if (e->stated) strbuf_printf(b, "%c(0) = %.15g; ", e->type == RG_C ? 'q' : 'p', e->initial);
        strbuf_puts(b, "}");
    }
}

typedef VEC(char *) lines;
static void line_end(lines *l, strbuf *b, bool semicolon)
{
    if (semicolon) strbuf_puts(b, ";");
    vec_push(l, bg_strdup(b->at));
    b->n = 0;
}
static void print_name(const rgraph *g, uint32_t j, strbuf *b) { strbuf_printf(b, "j%u", j + 1); (void)g; }

/* Statements in random order, as the language lets them be. */
static void make_text(maker *m)
{
    rgraph *g = m->g;
    lines l = { 0 };
    strbuf b = { 0 };
    for (size_t k = 0; k < g->param.n; k++) { strbuf_printf(&b, "parameter p%zu = %.15g", k + 1, g->param.at[k]); line_end(&l, &b, true); }
    for (uint32_t j = 0; j < g->junction.n; j++) {
        if (g->junction.at[j].implicit) continue;
        strbuf_printf(&b, "%u:", g->junction.at[j].type);
        print_name(g, j, &b);
        line_end(&l, &b, true);
    }
    for (size_t i = 0; i < g->bond.n; i++) {
        print_name(g, g->bond.at[i].from, &b);
        strbuf_puts(&b, " -> ");
        print_name(g, g->bond.at[i].to, &b);
        if (chance(m, 0.1)) strbuf_printf(&b, " as b%zu", i + 1);
        line_end(&l, &b, true);
    }
    for (size_t i = 0; i < g->element.n; i++) {
        rg_element e = g->element.at[i];
        if (e.field) {
            print_field(g, &e, &b);
            line_end(&l, &b, false);
            for (int k = 0; k < e.nports; k++) {
                if (e.port[k].sign > 0) { print_name(g, e.port[k].junction, &b); strbuf_printf(&b, " -> %s.%c", e.name, 'a' + k); }
                else { strbuf_printf(&b, "%s.%c -> ", e.name, 'a' + k); print_name(g, e.port[k].junction, &b); }
                line_end(&l, &b, true);
            }
            continue;
        }
        bool in = false, out = false;                 /* arrows that another element of the chain writes */
        for (int k = 0; k < e.nports; k++)
            if (g->junction.at[e.port[k].junction].implicit) *(e.port[k].sign > 0 ? &in : &out) = true;
        if (in) continue;                             /* the other end writes the chain */
        for (int k = 0; k < e.nports; k++)
            if (e.port[k].sign > 0) { print_name(g, e.port[k].junction, &b); strbuf_puts(&b, " -> "); }
        print_element(g, &e, &b);
        bool block = e.block || e.stated;
        for (int k = 0; k < e.nports; k++) {
            if (e.port[k].sign > 0) continue;
            strbuf_puts(&b, " -> ");
            if (!out) { print_name(g, e.port[k].junction, &b); block = false; continue; }
            const rg_element *next = NULL;
            for (size_t q = 0; q < g->element.n; q++)
                for (int z = 0; z < g->element.at[q].nports; z++)
                    if (g->element.at[q].port[z].junction == e.port[k].junction && g->element.at[q].port[z].sign > 0) next = &g->element.at[q];
            print_element(g, next, &b);
            block = next->block || next->stated;
            if (next->nports == 2) { strbuf_puts(&b, " -> "); print_name(g, next->port[1].junction, &b); block = false; }
        }
        line_end(&l, &b, !block);                     /* a block ends the statement */
    }
    for (size_t k = 0; k < g->signal.n; k++) {
        const rg_signal *s = &g->signal.at[k];
        strbuf_printf(&b, "signal %s = ", g->var.at[s->var].name);
        if (s->integral) strbuf_printf(&b, "integral(j%u.%c, %.15g)", s->def + 1, g->junction.at[s->def].type ? 'f' : 'e', s->initial);
        else print_expr(g, s->def, &b);
        line_end(&l, &b, true);
    }
    for (size_t k = l.n; k > 1; k--) {
        size_t q = rg_below(&m->rng, (uint32_t)k);
        char *t = l.at[k - 1];
        l.at[k - 1] = l.at[q];
        l.at[q] = t;
    }
    for (size_t k = 0; k < g->output.n; k++) {        /* outputs keep their order: the model's do */
        strbuf_printf(&b, "output o%zu = ", k + 1);
        print_expr(g, g->output.at[k].def, &b);
        line_end(&l, &b, true);
    }
    strbuf_printf(&g->text, "// seed %llu\nmodel random {\n", (unsigned long long)g->seed);
    for (size_t k = 0; k < l.n; k++) {
        strbuf_printf(&g->text, "    %s\n", l.at[k]);
        free(l.at[k]);
    }
    strbuf_puts(&g->text, "}\n");
    vec_free(&l);
    strbuf_free(&b);
}

rgraph *rg_generate(uint64_t seed, uint32_t size)
{
    maker m = { .g = bg_calloc(1, sizeof(rgraph)), .rng = seed * 0x2545F4914F6CDD1Du + 1 };
    m.g->seed = seed;
    m.g->nonlinear = chance(&m, 0.45);
    m.g->feedback = chance(&m, 0.12);
    m.g->wide = !m.g->nonlinear && chance(&m, 0.15);
    uint64_t other = seed + 77;                       /* graphs without fields are what they are without this line */
    m.g->fields = !m.g->wide && rg_uniform(&other, 0, 1) < 0.3;
    make_structure(&m, size);
    make_variables(&m);
    make_signals(&m);
    make_laws(&m);
    make_equations(&m);
    make_outputs(&m);
    make_text(&m);
    vec_free(&m.readable);
    return m.g;
}
void rg_free(rgraph *g)
{
    if (!g) return;
    vec_free(&g->node); vec_free(&g->param); vec_free(&g->var); vec_free(&g->junction); vec_free(&g->element);
    vec_free(&g->bond); vec_free(&g->signal); vec_free(&g->output); vec_free(&g->residual);
    strbuf_free(&g->text);
    free(g);
}
uint32_t rg_find(const rgraph *g, const char *name)
{
    for (uint32_t v = 0; v < g->var.n; v++)
        if (!strcmp(g->var.at[v].name, name)) return v;
    unsigned j;
    char c;
    if (sscanf(name, "j%u.%c", &j, &c) == 2 && j >= 1 && j <= g->junction.n && c == (g->junction.at[j - 1].type ? 'f' : 'e'))
        return g->junction.at[j - 1].common;
    return NONE;
}

/* ---------------------------------------------------------------- mistakes */
/* Begin and end of line k (from 1) of a text. */
static bool line_at(const char *text, int k, size_t *begin, size_t *end)
{
    const char *s = text;
    for (int i = 1; i < k; i++) {
        s = strchr(s, '\n');
        if (!s) return false;
        s++;
    }
    const char *e = strchr(s, '\n');
    *begin = (size_t)(s - text);
    *end = e ? (size_t)(e - text) : strlen(text);
    return *end > *begin;
}
static char *splice(const char *text, size_t begin, size_t end, const char *put)
{
    strbuf b = { 0 };
    strbuf_add(&b, text, begin);
    strbuf_puts(&b, put);
    strbuf_puts(&b, text + end);
    return b.at;
}
/* A line of the model's body that contains `has` (any, where it is empty), starting the search at random. */
static int find_line(const char *text, uint64_t *rng, const char *has, size_t *at)
{
    int n = 0;
    for (const char *s = text; *s; s++) n += *s == '\n';
    if (n < 4) return 0;
    int from = (int)rg_below(rng, (uint32_t)n - 3);
    for (int i = 0; i < n - 3; i++) {
        int k = 3 + (from + i) % (n - 3);             /* after the head, before the closing brace */
        size_t b, e;
        if (!line_at(text, k, &b, &e)) continue;
        const char *s = strstr(text + b, has);
        if (s && (size_t)(s - text) < e) { *at = (size_t)(s - text); return k; }
    }
    return 0;
}
static char *insert_line(const char *text, int after, const char *line)
{
    size_t b, e;
    if (!line_at(text, after, &b, &e)) return NULL;
    char *put = bg_format("\n    %s", line), *r = splice(text, e, e, put);
    free(put);
    return r;
}

/* Mistakes that stand on a line of their own, which is where the error belongs. */
static const struct { const char *what, *line; } one_line[] = {
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
};

char *rg_mutate(const char *text, uint64_t seed, struct rg_mutation *m)
{
    uint64_t rng = seed ^ 0xD1B54A32D192ED03u;
    size_t at, b, e;
    char *r = NULL;
    *m = (struct rg_mutation){ 0 };
    for (int attempt = 0; attempt < 20 && !r; attempt++) {
        switch (rg_below(&rng, 8)) {
        case 0: case 1: case 2: {                     /* a wrong line between two right ones */
            uint32_t k = rg_below(&rng, sizeof one_line / sizeof *one_line);
            int line = find_line(text, &rng, "", &at);
            if (!line) break;
            r = insert_line(text, line, one_line[k].line);
            *m = (struct rg_mutation){ one_line[k].what, line + 1, 0, false };
            break;
        }
        case 3: {                                     /* a bond to a junction that is not there */
            int line = find_line(text, &rng, "-> j", &at);
            if (!line) break;
            r = splice(text, at + 3, at + 4, "zz");
            *m = (struct rg_mutation){ "unknown junction", line, 0, false };
            break;
        }
        case 4: {                                     /* a statement without its end runs into the next one */
            int line = find_line(text, &rng, ";\n", &at);
            if (!line) break;
            r = splice(text, at, at + 1, "");
            *m = (struct rg_mutation){ "missing semicolon", line, line + 1, false };
            break;
        }
        case 5: {                                     /* a declaration said again */
            int line = find_line(text, &rng, "parameter p", &at);
            if (!line || !line_at(text, line, &b, &e)) break;
            char *copy = bg_format("%.*s", (int)(e - at), text + at);
            r = insert_line(text, line, copy);
            free(copy);
            *m = (struct rg_mutation){ "declared twice", line + 1, line, false };
            break;
        }
        case 6: {                                     /* cut off */
            size_t n = strlen(text);
            b = n > 40 ? 30 + rg_below(&rng, (uint32_t)(n - 35)) : n / 2;
            r = splice(text, b, n, "");
            *m = (struct rg_mutation){ "cut off", 0, 0, false };
            break;
        }
        default: {                                    /* bytes changed at random */
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
    if (!r) { r = splice(text, 0, 0, "?\n"); *m = (struct rg_mutation){ "strange first line", 1, 0, false }; }
    return r;
}
