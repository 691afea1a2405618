/* test_switched.c - random switched circuits against a solver that shares nothing with bgc
 *
 * usage    test_switched [-v] [first seed [how many]]
 * circuits ideal diodes, switches at stated times or by held signals, resistors, coils, capacitors, sources: chains,
 * bridges, loops of capacitors, cutsets of coils; regular by construction (diodes and sources form no loop, no node is
 * left to diodes alone) source   the reference writes node equations E y' = A y for a combination of modes; Wong's
 * sequences (Berger, Ilchmann, Trenn 2012) give where y may be, how it gets there (consistency projector) and with
 * which impulses; between events the matrix exponential; at each event all combinations are tried, and impulses, values
 * and derivatives of what is zero must have the right sign (lexicographic) checks   voltages of nodes, currents of
 * coils and diodes at 101 points: 1e-6 of the greatest prints   seed, text and what differs for each failure; exit
 * status 1 if there was one
 */
#include "bgc.h"
#include "circuits.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_N = 40, POINTS = 101, SUBSTEPS = 40, MAX_SHOWN = 6, DERIVATIVES = 6, MAX_MODES = 6 };
#define STOP 10.0
#define RANK_TOLERANCE 1e-9
#define ZERO 1e-9

/* ---- dense linear algebra, columns first ---- */

typedef struct matrix {
    int m, n;
    double a[MAX_N * 2 * MAX_N];
} matrix;

static double *
at(matrix *x, int i, int j)
{
    return &x->a[j * x->m + i];
}
static double
get(const matrix *x, int i, int j)
{
    return x->a[j * x->m + i];
}

static void
zero(matrix *x, int m, int n)
{
    x->m = m;
    x->n = n;
    memset(x->a, 0, (size_t)(m * n) * sizeof(double));
}

static void
multiply(const matrix *a, const matrix *b, matrix *to)
{
    matrix r;

    zero(&r, a->m, b->n);
    for (int j = 0; j < b->n; j++)
        for (int k = 0; k < a->n; k++)
            for (int i = 0; i < a->m; i++)
                r.a[j * r.m + i] += get(a, i, k) * get(b, k, j);
    *to = r;
}

/* Orthonormal bases: of the null space of x, or of what is orthogonal to its columns. */
static void
decompose(const matrix *x, matrix *null, matrix *complement)
{
    static matrix a, u, vt;
    double s[2 * MAX_N];
    int rank = 0, k = x->m < x->n ? x->m : x->n;

    a = *x;
    zero(&u, x->m, x->m);
    zero(&vt, x->n, x->n);
    if (x->n && x->m)
        LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', x->m, x->n, a.a, x->m, s, u.a, x->m, vt.a, x->n);
    else
        for (int i = 0; i < x->m + x->n; i++)
            *(i < x->m ? at(&u, i, i) : at(&vt, i - x->m, i - x->m)) = 1;
    for (int i = 0; i < k; i++)
        rank += s[i] > RANK_TOLERANCE * s[0] && s[i] > 1e-12;
    if (null) {
        zero(null, x->n, x->n - rank);
        for (int j = rank; j < x->n; j++)
            for (int i = 0; i < x->n; i++)
                *at(null, i, j - rank) = get(&vt, j, i);
    }
    if (complement) {
        zero(complement, x->m, x->m - rank);
        for (int j = rank; j < x->m; j++)
            for (int i = 0; i < x->m; i++)
                *at(complement, i, j - rank) = get(&u, i, j);
    }
}

static void
transpose(const matrix *x, matrix *to)
{
    matrix r;

    zero(&r, x->n, x->m);
    for (int i = 0; i < x->m; i++)
        for (int j = 0; j < x->n; j++)
            *at(&r, j, i) = get(x, i, j);
    *to = r;
}

static void
least_squares(const matrix *a, const matrix *b, matrix *to)
{
    static matrix x, y;
    double s[2 * MAX_N];
    lapack_int rank;

    x = *a;
    y = *b;
    if (a->n && b->n)
        LAPACKE_dgelsd(LAPACK_COL_MAJOR, a->m, a->n, b->n, x.a, a->m, y.a, a->m, s, 1e-12, &rank);
    zero(to, a->n, b->n);
    for (int j = 0; j < b->n; j++)
        for (int i = 0; i < a->n; i++)
            *at(to, i, j) = get(&y, i, j);
}

/* exp(h m) by its series, scaled and squared. */
static void
exponential(const matrix *m, double h, matrix *to)
{
    static matrix x, term, sum;
    double norm = 0;
    int squarings = 0;

    x = *m;
    for (int i = 0; i < m->m * m->n; i++) {
        x.a[i] *= h;
        norm = fmax(norm, fabs(x.a[i]));
    }
    for (norm *= m->n; norm > 0.25; norm /= 2)
        squarings++;
    for (int i = 0; i < m->m * m->n; i++)
        x.a[i] = ldexp(x.a[i], -squarings);
    zero(&sum, m->m, m->n);
    for (int i = 0; i < m->m; i++)
        *at(&sum, i, i) = 1;
    term = sum;
    for (int k = 1; k < 16; k++) {
        multiply(&term, &x, &term);
        for (int i = 0; i < m->m * m->n; i++) {
            term.a[i] /= k;
            sum.a[i] += term.a[i];
        }
    }
    for (; squarings > 0; squarings--)
        multiply(&sum, &sum, &sum);
    *to = sum;
}

/* ---- the reference ---- */

struct reference {
    struct circuit *c;
    int n, diode[MAX_MODES], ndiodes;
    int extra[64]; /* column of a part's own current; of a source: its sine, its cosine behind */
    int closed;    /* of diodes, bits */
    double t, y[MAX_N];
    /* for the present modes */
    bool regular;
    matrix v, w, flow, nilpotent; /* bases of Wong's limits, motion on the first, E by A on the second */
    double scale;
};

static void
layout(struct reference *r)
{
    r->n = r->c->nnodes;
    for (int i = 0; i < r->c->nparts; i++) {
        const struct part *p = &r->c->part[i];

        r->extra[i] = r->n;
        if (p->kind == COIL || p->kind == DIODE || p->kind == SWITCH)
            r->n++;
        else if (p->kind == SOURCE)
            r->n += 3;
        if (p->kind == DIODE)
            r->diode[r->ndiodes++] = i;
    }
}

static void
stamp(matrix *x, int node, int column, double v)
{
    if (node > 0)
        *at(x, node - 1, column) += v;
}

static void
add_voltage(matrix *x, int row, const struct part *p, double v)
{
    if (p->from > 0)
        *at(x, row, p->from - 1) += v;
    if (p->to > 0)
        *at(x, row, p->to - 1) -= v;
}

/* E y' = A y with these diodes closed. */
static void
write_equations(const struct reference *r, int closed, matrix *e, matrix *a)
{
    zero(e, r->n, r->n);
    zero(a, r->n, r->n);
    for (int i = 0; i < r->c->nparts; i++) {
        const struct part *p = &r->c->part[i];
        int x = r->extra[i], ends[2] = { p->from, p->to };
        bool on = p->kind == SWITCH && p->at <= r->t + 1e-12;

        for (int d = 0; d < r->ndiodes; d++)
            on |= r->diode[d] == i && closed >> d & 1;
        switch (p->kind) {
        case RESISTOR:
        case CAPACITOR:
            for (int s = 0; s < 2; s++)
                if (ends[s] > 0)
                    add_voltage(p->kind == RESISTOR ? a : e, ends[s] - 1, p,
                                (s ? 1 : -1) * (p->kind == RESISTOR ? 1 / p->value : -p->value));
            break;
        case SOURCE: /* current into the node; voltage; oscillator */
            stamp(a, p->from, x, 1);
            *at(a, x, p->from - 1) = -1;
            *at(a, x, x) = -p->at;
            *at(a, x, x + 1) = p->value;
            *at(e, x + 1, x + 1) = *at(e, x + 2, x + 2) = 1;
            *at(a, x + 1, x + 2) = p->omega;
            *at(a, x + 2, x + 1) = -p->omega;
            break;
        default:
            stamp(a, p->from, x, -1);
            stamp(a, p->to, x, 1);
            if (p->kind == COIL) {
                *at(e, x, x) = p->value;
                add_voltage(a, x, p, 1);
            } else if (on) {
                add_voltage(a, x, p, 1);
            } else {
                *at(a, x, x) = 1;
            }
        }
    }
}

/* The greatest subspace with X = a^-1(b X) (from everything) or the least (from nothing). */
static void
wong(const matrix *a, const matrix *b, bool everything, matrix *x)
{
    static matrix image, complement, restrict_;

    zero(x, a->n, everything ? a->n : 0);
    for (int i = 0; everything && i < a->n; i++)
        *at(x, i, i) = 1;
    for (int round = 0; round <= a->n; round++) {
        int before = x->n;

        multiply(b, x, &image);
        decompose(&image, NULL, &complement);
        transpose(&complement, &complement);
        multiply(&complement, a, &restrict_);
        decompose(&restrict_, x, NULL);
        if (x->n == before && round > 0)
            break;
    }
}

static void
set_modes(struct reference *r, int closed)
{
    static matrix e, a, left, right, both;

    r->closed = closed;
    write_equations(r, closed, &e, &a);
    wong(&a, &e, true, &r->v);
    wong(&e, &a, false, &r->w);
    r->regular = r->v.n + r->w.n == r->n;
    if (!r->regular)
        return;
    zero(&both, r->n, r->n);
    memcpy(both.a, r->v.a, (size_t)(r->n * r->v.n) * sizeof(double));
    memcpy(both.a + r->n * r->v.n, r->w.a, (size_t)(r->n * r->w.n) * sizeof(double));
    decompose(&both, &left, NULL);
    r->regular = left.n == 0;
    multiply(&e, &r->v, &left);
    multiply(&a, &r->v, &right);
    least_squares(&left, &right, &r->flow);
    multiply(&a, &r->w, &left);
    multiply(&e, &r->w, &right);
    least_squares(&left, &right, &r->nilpotent);
}

/* y = V xi + W eta */
static void
coordinates(const struct reference *r, const double *y, matrix *xi, matrix *eta)
{
    static matrix both, right, x;

    zero(&both, r->n, r->n);
    memcpy(both.a, r->v.a, (size_t)(r->n * r->v.n) * sizeof(double));
    memcpy(both.a + r->n * r->v.n, r->w.a, (size_t)(r->n * r->w.n) * sizeof(double));
    zero(&right, r->n, 1);
    memcpy(right.a, y, (size_t)r->n * sizeof(double));
    least_squares(&both, &right, &x);
    zero(xi, r->v.n, 1);
    zero(eta, r->w.n, 1);
    memcpy(xi->a, x.a, (size_t)r->v.n * sizeof(double));
    memcpy(eta->a, x.a + r->v.n, (size_t)r->w.n * sizeof(double));
}

static double
voltage(const struct part *p, const double *y)
{
    return (p->from > 0 ? y[p->from - 1] : 0) - (p->to > 0 ? y[p->to - 1] : 0);
}

/* What must not be below zero: the current of a closed diode, minus the voltage of an open one. */
static double
slack(const struct reference *r, int d, const double *y)
{
    int i = r->diode[d];

    return r->closed >> d & 1 ? y[r->extra[i]] : -voltage(&r->c->part[i], y);
}

/* Are the present modes right behind the present instant? to: y there. */
static bool
consistent(const struct reference *r, double *to)
{
    static matrix xi, eta, y, impulse;

    coordinates(r, r->y, &xi, &eta);
    multiply(&r->nilpotent, &eta, &impulse);
    for (int i = 0; i < impulse.m; i++)
        impulse.a[i] = -impulse.a[i];
    multiply(&r->w, &impulse, &impulse);
    for (int d = 0; d < r->ndiodes; d++)
        if (slack(r, d, impulse.a) < -ZERO * r->scale)
            return false;
    multiply(&r->v, &xi, &y);
    memcpy(to, y.a, (size_t)r->n * sizeof(double));
    for (int d = 0; d < r->ndiodes; d++) {
        matrix x = xi;

        if (slack(r, d, impulse.a) > ZERO * r->scale)
            continue;
        for (int k = 0; k < DERIVATIVES; k++) {
            double s;

            multiply(&r->v, &x, &y);
            s = slack(r, d, y.a);
            if (s < -ZERO * r->scale)
                return false;
            if (s > ZERO * r->scale)
                break;
            multiply(&r->flow, &x, &x);
        }
    }
    return true;
}

/* Is each combination of modes regular, now and with all switches closed? */
static bool
all_regular(struct reference *r)
{
    bool ok = true;

    for (int late = 0; late < 2; late++) {
        r->t = late ? 2 * STOP : 0;
        for (int set = 0; set < 1 << r->ndiodes && ok; set++) {
            set_modes(r, set);
            ok = r->regular;
        }
    }
    r->t = 0;
    r->closed = 0;
    return ok;
}

/* Modes behind the present instant, those with few changes first; y moves there. */
static bool
choose(struct reference *r)
{
    int before = r->closed;
    double to[MAX_N];

    for (int i = 0; i < r->n; i++)
        r->scale = fmax(r->scale, fabs(r->y[i]));
    for (int changes = 0; changes <= r->ndiodes; changes++)
        for (int set = 0; set < 1 << r->ndiodes; set++) {
            if (__builtin_popcount((unsigned)set) != changes)
                continue;
            set_modes(r, before ^ set);
            if (!r->regular || !consistent(r, to))
                continue;
            memcpy(r->y, to, sizeof to);
            return true;
        }
    return false;
}

static void
at_time(const struct reference *r, const matrix *xi, double h, double *y)
{
    static matrix step, x;

    exponential(&r->flow, h, &step);
    multiply(&step, xi, &x);
    multiply(&r->v, &x, &x);
    memcpy(y, x.a, (size_t)r->n * sizeof(double));
}

static bool
contradicts(const struct reference *r, const double *y)
{
    for (int d = 0; d < r->ndiodes; d++)
        if (slack(r, d, y) < -1e-11 * r->scale)
            return true;
    return false;
}

static double
next_switch(const struct reference *r, double until)
{
    for (int i = 0; i < r->c->nparts; i++)
        if (r->c->part[i].kind == SWITCH && r->c->part[i].at > r->t + 1e-12)
            until = fmin(until, r->c->part[i].at);
    return until;
}

/* Up to `until`, which no switch time lies before. False: no modes. */
static bool
advance(struct reference *r, double until)
{
    double h = STOP / (POINTS - 1) / SUBSTEPS, y[MAX_N];
    int events = 0;

    while (until - r->t > 1e-13) {
        static matrix xi, eta, step, x;
        double lo = 0, hi;
        bool met = false;

        coordinates(r, r->y, &xi, &eta);
        exponential(&r->flow, h, &step);
        x = xi;
        while (!met && until - r->t - lo > 1e-13) {
            static matrix ahead;

            hi = fmin(lo + h, until - r->t);
            if (hi < lo + h) {
                at_time(r, &xi, hi, y);
            } else {
                multiply(&step, &x, &ahead);
                x = ahead;
                multiply(&r->v, &ahead, &ahead);
                memcpy(y, ahead.a, (size_t)r->n * sizeof(double));
            }
            met = contradicts(r, y);
            if (!met)
                lo = hi;
        }
        if (!met) {
            memcpy(r->y, y, sizeof y);
            r->t = until;
            return true;
        }
        while (hi - lo > 1e-14 * fmax(1, r->t)) {
            double middle = (lo + hi) / 2;

            at_time(r, &xi, middle, y);
            *(contradicts(r, y) ? &hi : &lo) = middle;
        }
        at_time(r, &xi, hi, r->y);
        r->t += hi;
        if (++events > 2000 || !choose(r))
            return false;
    }
    return true;
}

/* ---- comparing ---- */

struct tally {
    size_t circuits, left_out, failures;
    double worst;
};

static void
fail(struct tally *t, const struct circuit *c, uint64_t seed, const char *what)
{
    if (t->failures++ < MAX_SHOWN)
        printf("seed %llu: %s\n%s\n", (unsigned long long)seed, what, c->text.at);
}

static void
check(struct tally *t, uint64_t seed)
{
    static struct reference r;
    static double expected[POINTS][MAX_N];
    struct circuit c = { 0 };
    bool ok = true;
    char what[200] = "";

    circuit_generate(&c, seed);
    circuit_write(&c, false, STOP);
    memset(&r, 0, sizeof r);
    r.c = &c;
    layout(&r);
    t->circuits++;
    for (int i = 0; i < c.nparts; i++)
        if (c.part[i].kind == SOURCE) {
            r.y[r.extra[i] + 1] = sin(c.part[i].phase);
            r.y[r.extra[i] + 2] = cos(c.part[i].phase);
        }
    ok = r.n < MAX_N && r.ndiodes <= MAX_MODES && all_regular(&r) && choose(&r);
    for (int k = 0; k < POINTS && ok; k++) {
        double to = STOP * k / (POINTS - 1);

        while (ok && r.t < to) {
            double until = next_switch(&r, to);

            ok = advance(&r, until);
            for (int i = 0; i < c.nparts && ok; i++)
                if (c.part[i].kind == SWITCH && fabs(c.part[i].at - r.t) < 1e-12) {
                    ok = choose(&r);
                    break;
                }
        }
        memcpy(expected[k], r.y, sizeof r.y);
    }
    if (!ok) {
        t->left_out++; /* some combination is not regular: a node that all diodes leave */
    } else {
        bgc_model *m = bgc_open_text("circuit.bg", c.text.at, c.text.n, NULL);
        bgc_run *run = bgc_ok(m) ? bgc_simulate(m, &(bgc_run_options){ .points = POINTS }) : NULL;

        if (!run) {
            snprintf(what, sizeof what, "%s",
                     bgc_diagnostic_count(m) ? bgc_diagnostic_at(m, bgc_diagnostic_count(m) - 1).message : "refused");
        } else {
            double size = 1e-3, worst = 0;
            int worst_k = 0, worst_o = 0;

            for (int k = 0; k < POINTS; k++)
                for (int i = 0; i < r.n; i++)
                    size = fmax(size, fabs(expected[k][i]));
            for (int k = 1; k < POINTS; k++) {
                int o = 0;

                for (int i = 0; i < r.n; i++) {
                    bool shown = i < c.nnodes;

                    for (int p = 0; p < c.nparts; p++)
                        shown |= r.extra[p] == i && (c.part[p].kind == COIL || c.part[p].kind == DIODE);
                    if (!shown)
                        continue;
                    double d = fabs(bgc_run_value(run, (size_t)k, (size_t)o) - expected[k][i]) / size;

                    if (!(d <= worst)) {
                        worst = d;
                        worst_k = k;
                        worst_o = o;
                    }
                    o++;
                }
            }
            t->worst = fmax(t->worst, worst);
            if (!(worst <= 1e-6))
                snprintf(what, sizeof what, "%s differs by %.3g of the greatest value at %.3g s",
                         bgc_output_name(m, (size_t)worst_o), worst, STOP * worst_k / (POINTS - 1));
        }
        bgc_run_free(run);
        bgc_free(m);
    }
    if (what[0])
        fail(t, &c, seed, what);
    circuit_free(&c);
}

int
main(int argc, char **argv)
{
    int k = 1;
    bool verbose = k < argc && !strcmp(argv[k], "-v") && k++;
    uint64_t first = k < argc ? strtoull(argv[k++], NULL, 10) : 1,
             count = k < argc ? strtoull(argv[k++], NULL, 10) : 1000;
    struct tally t = { 0 };

    for (uint64_t s = first; s < first + count; s++) {
        size_t before = t.failures;

        check(&t, s);
        if (verbose && t.failures > before)
            printf("failed: %llu\n", (unsigned long long)s);
    }
    printf("%zu circuits, %zu of them not regular; greatest difference %.2g; %zu failures\n", t.circuits, t.left_out,
           t.worst, t.failures);
    return t.failures != 0;
}
