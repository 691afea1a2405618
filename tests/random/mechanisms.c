/* mechanisms.c - see mechanisms.h */
#include "mechanisms.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"

enum { BODIES = MECHANISM_BODIES, MOTIONS = 14, WIDE = BODIES + 1, TERMS = 3, PARTS = 50, STATES = 200 };

/* How one motion makes another: by a number, or y = c/w sin(w x + s) of its position x, a ratio c cos(w x + s). */
struct term {
    size_t of;
    bool moves;
    double c, w, s;
};
/* Bodies first. The column behind the bodies is the source's. */
struct motion {
    size_t nterms;
    struct term term[TERMS];
    double by_source, position; /* position: what the integral of its velocity is at the point */
    bool read;
};

enum part_kind { MASS, SPRING, DAMPER, GYRATOR, FORCE };
/* On motions p and q: mass, spring, damper: a symmetric field of both, or (other: NO_MOTION) of p alone; with a cubic
 * term. spring: pushed by `at` at the point. damper: rub: times what damper or spring `by` gives on its motion. */
enum { NO_MOTION = MOTIONS + BODIES, NO_PART = PARTS };
#define MECHANISM_FORCE 0.5
#define MECHANISM_SOURCE 0.3
struct part {
    enum part_kind kind;
    size_t p, q, by, number; /* number: in its name, 0: none */
    double pp, pq, qq, cubic;
    double at[2]; /* of a spring: displacements */
};

struct mechanism {
    uint64_t rng, numbers;
    bool round, moves;
    size_t n, nmotions, nparts, nstates, count;
    struct motion motion[BODIES + MOTIONS];
    struct part part[PARTS];
    struct state {
        char name[48];
        double value;
    } state[STATES];
    double v[WIDE], F;
    strbuf head, text;
};

/* ---------------------------------------------------------------- what is built */

static double
draw(mechanism *g, double least, double most)
{
    return rg_uniform(&g->numbers, least, most);
}

static double
parameter(mechanism *g, double least, double most, const char *name)
{
    double x = draw(g, least, most);

    if (rg_below(&g->numbers, 3) == 0 && g->round)
        x = round(x * 4) / 4 + (least < 0 && fabs(x) < 0.2); /* ones and halves, equal ones among them */
    x = x == 0 ? 1 : x;
    strbuf_printf(&g->head, "    parameter %s = %.17g;\n", name, x);
    return x;
}

static const char *
next_name(mechanism *g, const char *kind, char to[16])
{
    snprintf(to, 16, "%s%zu", kind, ++g->count);
    return to;
}

static void
set_state(mechanism *g, const char *name, double value)
{
    if (g->nstates == STATES)
        abort();
    snprintf(g->state[g->nstates].name, sizeof g->state[0].name, "%s", name);
    g->state[g->nstates++].value = value;
}

static struct part *
new_part(mechanism *g, enum part_kind kind, size_t p, size_t q)
{
    if (g->nparts == PARTS)
        abort();
    g->part[g->nparts] = (struct part){ .kind = kind, .p = p, .q = q, .by = NO_PART };
    return &g->part[g->nparts++];
}

/* The position of a motion, as a signal x3. */
static void
read_position(mechanism *g, size_t k)
{
    char name[16];

    if (g->motion[k].read)
        return;
    g->motion[k].read = true;
    g->motion[k].position = draw(g, -1, 1);
    snprintf(name, sizeof name, "x%zu", k);
    set_state(g, name, g->motion[k].position);
    strbuf_printf(&g->text, "    signal %s = integral(v%zu.f);\n", name, k);
}

/* Motion `at` is moved by another, once. */
static void
add_term(mechanism *g, size_t at, size_t of, bool moves)
{
    struct motion *m = &g->motion[at];
    struct term t = { .of = of, .moves = moves };
    char name[16], w[16], s[16];

    for (size_t i = 0; i < m->nterms; i++)
        if (m->term[i].of == of)
            return;
    t.c = parameter(g, -2, 2, next_name(g, "a", name));
    if (moves) {
        g->moves = true;
        read_position(g, of);
        t.w = parameter(g, 0.5, 2, next_name(g, "w", w));
        t.s = parameter(g, -1, 1, next_name(g, "s", s));
        strbuf_printf(&g->text, "    v%zu -> MTF:t_%s = %s*cos(%s*x%zu + %s) -> s%zu;\n", of, name, name, w, of, s, at);
    } else {
        strbuf_printf(&g->text, "    v%zu -> TF:t_%s = %s -> s%zu;\n", of, name, name, at);
    }
    m->term[m->nterms++] = t;
}

static void
add_motion(mechanism *g)
{
    size_t at = g->nmotions++, terms = 1 + rg_below(&g->rng, TERMS);
    struct motion *m = &g->motion[at];
    char name[16];

    strbuf_printf(&g->text, "    0:s%zu;\n", at);
    for (size_t k = 0; k < terms; k++) {
        size_t of = rg_below(&g->rng, (uint32_t)(rg_below(&g->rng, 3) ? g->n : at));

        add_term(g, at, of, rg_below(&g->rng, 3) == 0);
    }
    if (rg_below(&g->rng, 4) == 0) {
        m->by_source = parameter(g, -2, 2, next_name(g, "c", name));
        strbuf_printf(&g->text, "    Sf:move%zu = %s*w -> s%zu;\n", at, name, at);
    }
    strbuf_printf(&g->text, "    s%zu -> 1:v%zu;\n", at, at);
}

static size_t
any_motion(mechanism *g)
{
    return rg_below(&g->rng, (uint32_t)g->nmotions);
}

static void
add_mass(mechanism *g, size_t p)
{
    struct part *f = new_part(g, MASS, p, NO_MOTION);
    char name[16];

    f->pp = parameter(g, 0.2, 3, next_name(g, "m", name));
    f->number = g->count;
    strbuf_printf(&g->text, "    v%zu -> I:i_%s = %s;\n", p, name, name);
}

/* A symmetric field of two ports on two motions, positive definite. kind: I, C or R. */
static void
add_field(mechanism *g, char kind, size_t p, size_t q)
{
    static const char *const law[] = { ['I'] = "x.p", ['C'] = "x.e", ['R'] = "x.e" },
                             *const by[] = { ['I'] = "x.f", ['C'] = "x.q", ['R'] = "x.f" };
    struct part *f = new_part(g, kind == 'I' ? MASS : kind == 'C' ? SPRING : DAMPER, p, q);
    char name[16], state[48];

    f->pp = draw(g, 1, 3), f->qq = draw(g, 1, 3), f->pq = draw(g, -0.9, 0.9);
    next_name(g, "m", name);
    f->number = g->count;
    strbuf_printf(&g->head, "    parameter %s[2,2] = [%.17g, %.17g; %.17g, %.17g];\n", name, f->pp, f->pq, f->pq,
                  f->qq);
    strbuf_printf(&g->text, "    %c:f_%s { port x[2]; %s = %s*%s; }\n    v%zu -> f_%s.x[1];\n    v%zu -> f_%s.x[2];\n",
                  kind, name, law[(int)kind], name, by[(int)kind], p, name, q, name);
    for (int i = 0; i < 2 && kind == 'C'; i++) {
        f->at[i] = draw(g, -1, 1);
        snprintf(state, sizeof state, "f_%s.x[%d].q", name, i + 1);
        set_state(g, state, f->at[i]);
    }
}

static void
add_series(mechanism *g)
{
    size_t p = any_motion(g), springs = 2 + rg_below(&g->rng, 2), at = ++g->count;
    struct part *f = new_part(g, SPRING, p, NO_MOTION);
    double compliance = 0, force = draw(g, -1, 1);
    char name[16], lever[16], state[48];

    strbuf_printf(&g->text, "    v%zu -> 0:x_%zu;\n", p, at);
    for (size_t k = 0; k < springs; k++) {
        double c = parameter(g, 0.1, 2, next_name(g, "c", name)), a = 1;

        if (k && rg_below(&g->rng, 2)) { /* a shorter arm: e2 = e/a, q2 = c e2, q = q2/a */
            a = parameter(g, 0.5, 3, next_name(g, "a", lever));
            strbuf_printf(&g->text, "    x_%zu -> TF:t_%s = %s -> C:z_%s = %s;\n", at, lever, lever, name, name);
        } else {
            strbuf_printf(&g->text, "    x_%zu -> C:z_%s = %s;\n", at, name, name);
        }
        compliance += c / (a * a);
        snprintf(state, sizeof state, "z_%s.q", name);
        set_state(g, state, c * force / a);
    }
    f->pp = 1 / compliance;
    f->at[0] = force * compliance;
}

/* Friction that what a spring or damper gives makes: e = mu f N. */
static void
add_friction(mechanism *g, size_t p)
{
    size_t by = rg_below(&g->rng, (uint32_t)(g->nparts + 1));
    struct part *f;
    char name[16];

    while (by < g->nparts && (g->part[by].kind > DAMPER || g->part[by].kind < SPRING || g->part[by].q != NO_MOTION ||
                              !g->part[by].number))
        by++;
    if (by >= g->nparts)
        return;
    f = new_part(g, DAMPER, p, NO_MOTION);
    f->by = by;
    f->pp = parameter(g, 0.2, 1, next_name(g, "u", name));
    strbuf_printf(&g->text, "    v%zu -> R:r_%s { e = %s*f*%s%zu.e; }\n", p, name, name,
                  g->part[by].kind == SPRING ? "z_k" : "r_b", g->part[by].number);
}

/* One spring or damper, some of them cubic. */
static void
add_line(mechanism *g, enum part_kind kind, size_t p)
{
    struct part *f = new_part(g, kind, p, NO_MOTION);
    bool spring = kind == SPRING, cubic = rg_below(&g->rng, 4) == 0;
    char name[16], bend[16], state[48];

    f->pp = parameter(g, 0.2, 3, next_name(g, spring ? "k" : "b", name));
    f->number = g->count;
    if (cubic)
        f->cubic = parameter(g, 0.2, 1, next_name(g, "h", bend));
    if (spring) {
        f->at[0] = draw(g, -1, 1);
        snprintf(state, sizeof state, "z_%s.q", name);
        set_state(g, state, f->at[0]);
    }
    if (cubic)
        strbuf_printf(&g->text,
                      spring ? "    v%zu -> C:z_%s { e = %s*q + %s*q^3; }\n"
                             : "    v%zu -> R:r_%s { e = %s*f + %s*f^3; }\n",
                      p, name, name, bend);
    else
        strbuf_printf(&g->text, spring ? "    v%zu -> C:z_%s = 1/%s;\n" : "    v%zu -> R:r_%s = %s;\n", p, name, name);
}

static void
add_gyrator(mechanism *g, size_t p, size_t q)
{
    char name[16], c[16];
    double x = parameter(g, 0.2, 2, next_name(g, "g", name));
    struct part *f;

    if (p != q && p < g->n && q < g->n) { /* e1 = r f2, e2 = r f1 */
        f = new_part(g, GYRATOR, p, q);
        f->pp = x;
        strbuf_printf(&g->text, "    v%zu -> GY:y_%s = %s -> v%zu;\n", p, name, name, q);
    } else { /* a condenser behind one, q = c e2: e1 = r dq/dt = r^2 c df1/dt */
        f = new_part(g, MASS, p, NO_MOTION);
        f->pp = x * x * parameter(g, 0.2, 2, next_name(g, "c", c));
        strbuf_printf(&g->text, "    v%zu -> GY:y_%s = %s -> C:z_%s = %s;\n", p, name, name, c, c);
    }
}

static void
add_part(mechanism *g)
{
    size_t p = any_motion(g), q = any_motion(g);
    struct part *f;
    char name[16];

    switch (rg_below(&g->rng, 10)) {
    case 0:
    case 1:
        if (p >= g->n)
            add_mass(g, p);
        break;
    case 2: add_line(g, SPRING, p); break;
    case 3: add_line(g, DAMPER, p); break;
    case 4: add_series(g); break;
    case 5:
        if (p != q)
            add_field(g, "CR"[rg_below(&g->rng, 2)], p, q);
        break;
    case 6:
        if (p != q && p >= g->n && q >= g->n)
            add_field(g, 'I', p, q);
        break;
    case 7: add_gyrator(g, p, q); break;
    case 8: add_friction(g, p); break;
    default:
        f = new_part(g, FORCE, p, NO_MOTION);
        f->pp = parameter(g, -2, 2, next_name(g, "h", name));
        strbuf_printf(&g->text, "    Se:push_%s = %s*F -> v%zu;\n", name, name, p);
    }
}

/* ---------------------------------------------------------------- positions, and the forces on the bodies */

struct place {
    double complex y, J[WIDE], H[WIDE][WIDE];
};

/* Of all motions, where the coordinates have moved by q. */
static void
place_all(const mechanism *g, const double complex *q, struct place *at)
{
    memset(at, 0, g->nmotions * sizeof *at);
    for (size_t k = 0; k < g->nmotions; k++) {
        const struct motion *m = &g->motion[k];

        at[k].y = m->position;
        if (k < g->n) {
            at[k].y += q[k];
            at[k].J[k] = 1;
            continue;
        }
        at[k].y += m->by_source * q[g->n];
        at[k].J[g->n] += m->by_source;
        for (size_t t = 0; t < m->nterms; t++) {
            const struct term *by = &m->term[t];
            const struct place *of = &at[by->of];
            double x0 = g->motion[by->of].position;
            double complex slope = by->moves ? by->c * ccos(by->w * of->y + by->s) : by->c,
                           bend = by->moves ? -by->c * by->w * csin(by->w * of->y + by->s) : 0;

            at[k].y += by->moves ? by->c / by->w * (csin(by->w * of->y + by->s) - sin(by->w * x0 + by->s))
                                 : by->c * (of->y - x0);
            for (size_t i = 0; i <= g->n; i++) {
                at[k].J[i] += slope * of->J[i];
                for (size_t j = 0; j <= g->n; j++)
                    at[k].H[i][j] += slope * of->H[i][j] + bend * of->J[i] * of->J[j];
            }
        }
    }
}

struct motions {
    double complex y, v, a;
};

static void
move_all(const mechanism *g, const struct place *at, const double complex *v, const double complex *a,
         struct motions *to)
{
    for (size_t k = 0; k < g->nmotions; k++) {
        to[k] = (struct motions){ at[k].y - g->motion[k].position, 0, 0 };
        for (size_t i = 0; i <= g->n; i++) {
            to[k].v += at[k].J[i] * v[i];
            to[k].a += at[k].J[i] * a[i];
            for (size_t j = 0; j <= g->n; j++)
                to[k].a += at[k].H[i][j] * v[i] * v[j];
        }
    }
}

/* What a spring or damper on one motion gives. */
static double complex
line_force(const struct part *f, const struct motions *m)
{
    double complex x = f->kind == SPRING ? f->at[0] + m[f->p].y : m[f->p].v;

    return f->pp * x + f->cubic * x * x * x;
}

/* What moves a motion: forces on the bodies R(a, v, q, F) come first. */
static void
forces(const mechanism *g, const double complex *a, const double complex *v, const double complex *q, double complex F,
       double complex *R)
{
    struct place at[BODIES + MOTIONS];
    struct motions m[BODIES + MOTIONS];

    place_all(g, q, at);
    move_all(g, at, v, a, m);
    for (size_t i = 0; i < g->nmotions; i++)
        R[i] = 0;
    for (size_t k = 0; k < g->nparts; k++) {
        const struct part *f = &g->part[k];
        bool pair = f->q != NO_MOTION;
        double complex on_p = 0, on_q = 0, x, y = 0;

        switch (f->kind) {
        case FORCE: on_p = -f->pp * F; break;
        case GYRATOR: on_p = f->pp * m[f->q].v, on_q = -f->pp * m[f->p].v; break;
        case DAMPER:
        case SPRING:
        case MASS:
            if (!pair && f->by != NO_PART) {
                on_p = f->pp * m[f->p].v * line_force(&g->part[f->by], m);
            } else if (!pair && f->kind != MASS) {
                on_p = line_force(f, m);
            } else {
                x = f->kind == MASS ? m[f->p].a : f->kind == DAMPER ? m[f->p].v : f->at[0] + m[f->p].y;
                if (pair)
                    y = f->kind == MASS ? m[f->q].a : f->kind == DAMPER ? m[f->q].v : f->at[1] + m[f->q].y;
                on_p = f->pp * x + (pair ? f->pq * y : 0);
                on_q = pair ? f->pq * x + f->qq * y : 0;
            }
        }
        R[f->p] += on_p;
        if (pair)
            R[f->q] += on_q;
    }
    for (size_t k = g->nmotions; k-- > g->n;)
        for (size_t t = 0; t < g->motion[k].nterms; t++) {
            const struct term *by = &g->motion[k].term[t];

            R[by->of] += R[k] * (by->moves ? by->c * ccos(by->w * at[by->of].y + by->s) : by->c);
        }
}

/* Column by a step of one of what R depends on. */
static void
column(const mechanism *g, const double complex *a, const double complex *v, const double complex *q, double complex F,
       double *to)
{
    double complex R[BODIES + MOTIONS];

    forces(g, a, v, q, F, R);
    for (size_t i = 0; i < g->n; i++)
        to[i] = cimag(R[i]) * 1e30;
}

/* M a = b, in place of b. */
static void
solve(size_t n, double M[BODIES][BODIES], double *b)
{
    for (size_t k = 0; k < n; k++) /* positive definite: no pivots */
        for (size_t i = k + 1; i < n; i++) {
            double f = M[i][k] / M[k][k];

            for (size_t j = k; j < n; j++)
                M[i][j] -= f * M[k][j];
            b[i] -= f * b[k];
        }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            b[i] -= M[i][j] * b[j];
        b[i] /= M[i][i];
    }
}

/* Accelerations at the point, and M by columns. */
static void
accelerate(const mechanism *g, double complex *a, double *to)
{
    double complex v[WIDE] = { 0 }, q[WIDE] = { 0 }, R[BODIES + MOTIONS];
    double M[BODIES][BODIES] = { { 0 } }, rest[BODIES];
    size_t n = g->n;

    for (size_t i = 0; i <= n; i++)
        v[i] = g->v[i], a[i] = 0;
    forces(g, a, v, q, g->F, R);
    for (size_t j = 0; j < n; j++) {
        rest[j] = -creal(R[j]);
        a[j] = 1e-30 * I;
        column(g, a, v, q, g->F, to + BODIES * j);
        a[j] = 0;
        for (size_t i = 0; i < n; i++)
            M[i][j] = to[i + BODIES * j];
    }
    solve(n, M, rest);
    for (size_t j = 0; j < n; j++)
        a[j] = rest[j];
}

void
mechanism_matrices(const mechanism *g, double *const to[5])
{
    double complex a[WIDE], v[WIDE] = { 0 }, q[WIDE] = { 0 }, h = 1e-30 * I;
    double by[BODIES];
    size_t n = g->n;

    for (size_t i = 0; i <= n; i++)
        v[i] = g->v[i];
    accelerate(g, a, to[0]);
    for (size_t j = 0; j <= n; j++) {
        bool body = j < n;

        v[j] += h;
        column(g, a, v, q, g->F, body ? to[1] + BODIES * j : by);
        v[j] -= h;
        for (size_t i = 0; i < n && !body; i++)
            to[3][i + BODIES] = -by[i];
        q[j] += h;
        column(g, a, v, q, g->F, body ? to[2] + BODIES * j : by);
        q[j] -= h;
        for (size_t i = 0; i < n && !body; i++)
            to[4][i + BODIES] = -by[i];
    }
    column(g, a, v, q, g->F + h, by);
    for (size_t i = 0; i < n; i++)
        to[3][i] = -by[i];
    a[n] = h;
    column(g, a, v, q, g->F, by);
    for (size_t i = 0; i < n; i++)
        to[3][i + 2 * BODIES] = -by[i];
}

/* ---------------------------------------------------------------- the whole */

/* A body without an inertia of its own: a mass hangs on it by two motions. */
static void
hang(mechanism *g, size_t body)
{
    for (int k = 0; k < 2; k++) {
        size_t at = g->nmotions++;

        strbuf_printf(&g->text, "    1:v%zu;\n    0:s%zu;\n    s%zu -> v%zu;\n", at, at, at, at);
        add_term(g, at, body, true);
        add_mass(g, at);
    }
}

static void
add_bodies(mechanism *g)
{
    size_t first = 0, bare = 0, bodies[BODIES];

    for (size_t i = 0; i < g->n; i++)
        strbuf_printf(&g->text, "    1:v%zu;\n", i);
    for (; first + 1 < g->n && rg_below(&g->rng, 2); first += 2)
        add_field(g, 'I', first, first + 1);
    for (size_t i = first; i < g->n; i++)
        if (rg_below(&g->rng, 4))
            add_mass(g, i);
        else
            bodies[bare++] = i;
    for (size_t i = 0; i < bare; i++)
        if (i < 2 && rg_below(&g->rng, 2)) {
            hang(g, bodies[i]);
        } else { /* a field of it and of what depends on it and others */
            size_t at = g->nmotions++;

            strbuf_printf(&g->text, "    1:v%zu;\n    0:s%zu;\n    s%zu -> v%zu;\n", at, at, at, at);
            add_term(g, at, bodies[i], rg_below(&g->rng, 2));
            add_term(g, at, rg_below(&g->rng, (uint32_t)g->n), rg_below(&g->rng, 2));
            add_field(g, 'I', bodies[i], at);
        }
}

/* What momenta and velocities are there. */
static void
set_velocities(mechanism *g)
{
    struct place at[BODIES + MOTIONS];
    struct motions m[BODIES + MOTIONS];
    double complex q[WIDE] = { 0 }, v[WIDE] = { 0 }, a[WIDE] = { 0 };
    char name[48];

    for (size_t i = 0; i < g->n; i++)
        v[i] = g->v[i] = draw(g, -1, 1);
    v[g->n] = g->v[g->n] = MECHANISM_SOURCE;
    place_all(g, q, at);
    move_all(g, at, v, a, m);
    for (size_t k = 0; k < g->nmotions; k++) {
        snprintf(name, sizeof name, "v%zu.f", k);
        set_state(g, name, creal(m[k].v));
    }
    for (size_t k = 0; k < g->nparts; k++) {
        const struct part *f = &g->part[k];
        double p = creal(m[f->p].v);

        if (f->kind != MASS || !f->number)
            continue;
        if (f->q == NO_MOTION) {
            snprintf(name, sizeof name, "i_m%zu.p", f->number);
            set_state(g, name, f->pp * p);
            continue;
        }
        snprintf(name, sizeof name, "f_m%zu.x[1].p", f->number);
        set_state(g, name, f->pp * p + f->pq * creal(m[f->q].v));
        snprintf(name, sizeof name, "f_m%zu.x[2].p", f->number);
        set_state(g, name, f->pq * p + f->qq * creal(m[f->q].v));
    }
}

/* A junction's effort that is a state, as the forces are. */
static void
set_efforts(mechanism *g)
{
    double complex a[WIDE], v[WIDE], q[WIDE] = { 0 }, R[BODIES + MOTIONS];
    double M[BODIES * BODIES];
    char name[48];

    for (size_t i = 0; i <= g->n; i++)
        v[i] = g->v[i];
    accelerate(g, a, M);
    forces(g, a, v, q, g->F, R);
    for (size_t k = g->n; k < g->nmotions; k++) {
        snprintf(name, sizeof name, "s%zu.e", k);
        set_state(g, name, creal(R[k]));
    }
}

mechanism *
mechanism_new(uint64_t seed, uint64_t numbers, bool round)
{
    mechanism *g = calloc(1, sizeof *g);
    size_t motions, parts;

    g->rng = seed, g->numbers = numbers, g->round = round;
    g->F = MECHANISM_FORCE;
    g->nmotions = g->n = 1 + rg_below(&g->rng, BODIES);
    add_bodies(g);
    motions = rg_below(&g->rng, 8);
    for (size_t i = 0; i < motions && g->nmotions < BODIES + MOTIONS; i++)
        add_motion(g);
    parts = 1 + rg_below(&g->rng, 12);
    for (size_t i = 0; i < parts; i++)
        add_part(g);
    set_velocities(g);
    set_efforts(g);
    return g;
}

void
mechanism_free(mechanism *g)
{
    free(g->head.at);
    free(g->text.at);
    free(g);
}

size_t
mechanism_bodies(const mechanism *g)
{
    return g->n;
}

bool
mechanism_moves(const mechanism *g)
{
    return g->moves;
}

char *
mechanism_text(const mechanism *g)
{
    return bg_format("model mechanism {\n%s    input F = %.17g;\n    input w = %.17g;\n%s}\n", g->head.at,
                     MECHANISM_FORCE, MECHANISM_SOURCE, g->text.at);
}

bool
mechanism_state(const mechanism *g, const char *name, double *value)
{
    for (size_t i = 0; i < g->nstates; i++)
        if (!strcmp(g->state[i].name, name)) {
            *value = g->state[i].value;
            return true;
        }
    return false;
}
