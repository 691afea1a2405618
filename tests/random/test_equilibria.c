/* test_equilibria.c - random networks of stores started from equilibrium, against a plain Newton's method
 *
 * usage    test_equilibria [-v] [first seed [how many]]
 * networks nodes of effort joined to a tree and some loops; stores at most of them, linear or stiffening; conductors of
 *          ten spellings: linear, signed roots and squares, cubes and their inverse, exponentials, one-way with a leak;
 *          inertias in some; fed by a given effort or a given flow; or closed, where what is stored in all is kept
 * starts   from empty, from equal values, from random ones
 * source   all laws rise, so there is one place of rest, and every motion of what dissipates leads to it: efforts e of
 *          sum of f(e_i - e_j) = supply, by Newton's method with a line search, roots made smooth by a d that falls to
 *          1e-14 of the supply; closed networks: one effort for all, by halving
 * checks   efforts of all nodes at the start and a millisecond later: 1e-6 of the greatest
 * prints   seed, text and what differs for each failure; exit status 1 if there was one
 */
#include "base.h"
#include "bgc.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NODES = 24, MAX_EDGES = 40, MAX_SHOWN = 6, NEWTON = 300, HALVINGS = 60 };
enum law { SIGN_ROOT, POWER, BRANCHES, SQUARE, LINEAR, CUBE, CUBE_ROOT, SOFT, EXPONENTIAL, VALVE, LAWS };
enum start { EMPTY, EQUAL, ANY, STARTS };

struct edge {
    int from, to;
    enum law law;
    double k, inertia;
};
struct node {
    double store, stiffening, start; /* e = q/store + stiffening*q^3; store 0: none */
};
struct network {
    int nodes, edges;
    struct edge edge[MAX_EDGES];
    struct node node[MAX_NODES];
    bool flow, closed;
    double pump;
    uint64_t rng;
}; /* node 0: the surroundings, at zero */

static double
uniform(struct network *n, double lo, double hi)
{
    n->rng ^= n->rng << 13;
    n->rng ^= n->rng >> 7;
    n->rng ^= n->rng << 17;
    return lo + (hi - lo) * (double)(n->rng >> 11) * 0x1p-53;
}

static int
below(struct network *n, int k)
{
    return (int)uniform(n, 0, k);
}

/* The pump, of effort, is node 1, else it feeds node 1. In a closed network node 0 is a store like the others. */
static void
make(struct network *n, uint64_t seed)
{
    enum start start;
    bool one_law;

    *n = (struct network){ .rng = seed * 0x9e3779b97f4a7c15u | 1 };
    for (int i = 0; i < 8; i++)
        uniform(n, 0, 1);
    n->nodes = 3 + below(n, below(n, 4) ? 8 : MAX_NODES - 3);
    n->closed = below(n, 8) == 0;
    n->flow = below(n, 2);
    n->pump = exp(uniform(n, -2, 3)) * (below(n, 4) ? 1 : -1);
    start = below(n, STARTS);
    one_law = below(n, 3) == 0;
    for (int i = 1; i < n->nodes; i++)
        n->edge[n->edges++] = (struct edge){ .from = below(n, 4) ? i - 1 : below(n, i), .to = i };
    for (int more = below(n, n->nodes); more > 0 && n->edges < MAX_EDGES; more--) {
        int a = below(n, n->nodes), b = below(n, n->nodes);

        if (a != b)
            n->edge[n->edges++] = (struct edge){ .from = a, .to = b };
    }
    for (int e = 0; e < n->edges; e++) {
        n->edge[e].law = one_law && e > 0 ? n->edge[0].law : (enum law)below(n, LAWS);
        n->edge[e].k = exp(uniform(n, -2, 2));
        if (below(n, 4) == 0)
            n->edge[e].inertia = exp(uniform(n, -2, 2));
        if (below(n, 2)) {
            int from = n->edge[e].from;

            n->edge[e].from = n->edge[e].to;
            n->edge[e].to = from;
        }
    }
    for (int i = 0; i < n->nodes; i++) {
        struct node *q = &n->node[i];

        if (!n->closed && (i == 0 || (i == 1 && !n->flow)))
            continue;
        if (n->closed || below(n, 5))
            q->store = exp(uniform(n, -2, 2));
        if (q->store > 0 && below(n, 4) == 0)
            q->stiffening = exp(uniform(n, -2, 0));
        q->start = start == EMPTY ? 0 : start == EQUAL ? 1 : uniform(n, -2, 5);
    }
    /* a node without a store that only inertias lead to has no flow of its own to give */
    for (int i = 0; i < n->nodes; i++) {
        bool inert = true;

        for (int e = 0; e < n->edges; e++)
            inert &= (n->edge[e].from != i && n->edge[e].to != i) || n->edge[e].inertia > 0;
        if (inert && n->node[i].store == 0 && (n->closed || i > (n->flow ? 0 : 1)))
            n->node[i].store = 1;
    }
}

/* ---- the reference ---- */

/* f(e), and its slope. */
static double
flow(const struct edge *g, double e, double d, double *slope)
{
    double k = g->k, r = e * e + d * d, s;

    switch (g->law) {
    case LINEAR: *slope = k; return k * e;
    case CUBE: *slope = k * (1 + 3 * e * e); return k * e * (1 + e * e);
    case CUBE_ROOT: /* e = s + s^3, f = k s */
        s = cbrt(e);
        for (int i = 0; i < 60; i++)
            s -= (s + s * s * s - e) / (1 + 3 * s * s);
        *slope = k / (1 + 3 * s * s);
        return k * s;
    case SOFT: *slope = k * pow(r, -0.15) * (1 - 0.3 * e * e / r); return k * e * pow(r, -0.15);
    case EXPONENTIAL: *slope = k * cosh(e / 4); return 4 * k * sinh(e / 4);
    case VALVE: *slope = e > 0 ? k : 0.01 * k; return *slope * e;
    default: *slope = k * pow(r, -0.25) * (1 - e * e / (2 * r)); return k * e * pow(r, -0.25);
    }
}

/* What is left at each free node; a: [m*m] its slopes. */
static double
residual(const struct network *n, const double *p, double d, int first, double *r, double *a)
{
    int m = n->nodes - first;
    double most = 0;

    memset(r, 0, (size_t)m * sizeof *r);
    memset(a, 0, (size_t)m * (size_t)m * sizeof *a);
    if (n->flow)
        r[0] = -n->pump;
    for (int e = 0; e < n->edges; e++) {
        int i = n->edge[e].from - first, j = n->edge[e].to - first;
        double slope, f = flow(&n->edge[e], p[n->edge[e].from] - p[n->edge[e].to], d, &slope);

        if (i >= 0)
            r[i] += f, a[i * m + i] += slope;
        if (j >= 0)
            r[j] -= f, a[j * m + j] += slope;
        if (i >= 0 && j >= 0)
            a[i * m + j] -= slope, a[j * m + i] -= slope;
    }
    for (int i = 0; i < m; i++)
        most = fmax(most, fabs(r[i]));
    return most;
}

static double
effort(const struct node *q, double x)
{
    return x / q->store + q->stiffening * x * x * x;
}

/* What a store has at effort e. */
static double
stored(const struct node *q, double e)
{
    double lo = -1e3, hi = 1e3;

    for (int i = 0; i < 200; i++)
        *(effort(q, (lo + hi) / 2) < e ? &lo : &hi) = (lo + hi) / 2;
    return lo;
}

static bool
solve_closed(const struct network *n, double *p)
{
    double all = 0, lo = -1e3, hi = 1e3;

    for (int i = 0; i < n->nodes; i++)
        all += n->node[i].start;
    for (int k = 0; k < 100; k++) {
        double sum = 0;

        for (int i = 0; i < n->nodes; i++)
            sum += stored(&n->node[i], (lo + hi) / 2);
        *(sum < all ? &lo : &hi) = (lo + hi) / 2;
    }
    for (int i = 0; i < n->nodes; i++)
        p[i] = lo;
    return true;
}

static bool
solve(const struct network *n, double *p)
{
    int first = n->flow ? 1 : 2, m = n->nodes - first;
    double size = fabs(n->pump) * (1 + fabs(n->pump)), r[MAX_NODES], a[MAX_NODES * MAX_NODES], try[MAX_NODES],
           left = INFINITY;

    memset(p, 0, MAX_NODES * sizeof *p);
    if (n->closed)
        return solve_closed(n, p);
    p[1] = n->flow ? 0 : n->pump;
    for (double d = size; d > 1e-14 * size; d /= 4)
        for (int k = 0; k < NEWTON && m > 0; k++) {
            double share = 1;
            lapack_int pivot[MAX_NODES];

            left = residual(n, p, d, first, r, a);
            if (left < 1e-13 * fabs(n->pump))
                break;
            if (LAPACKE_dgesv(LAPACK_ROW_MAJOR, m, 1, a, m, pivot, r, 1) != 0)
                return false;
            memcpy(try, p, sizeof try);
            for (int h = 0; h < HALVINGS; h++, share /= 2) {
                double r_try[MAX_NODES], a_try[MAX_NODES * MAX_NODES];

                for (int i = 0; i < m; i++)
                    try[first + i] = p[first + i] - share * r[i];
                if (residual(n, try, d, first, r_try, a_try) < left)
                    break;
            }
            if (!memcmp(try, p, sizeof try))
                break;
            memcpy(p, try, sizeof try);
        }
    return m == 0 || left < 1e-9 * fabs(n->pump);
}

/* ---- the text ---- */

static void
write_law(const struct edge *e, strbuf *t)
{
    switch (e->law) {
    case SIGN_ROOT: strbuf_printf(t, "f = %.17g*sign(e)*sqrt(abs(e));", e->k); break;
    case POWER: strbuf_printf(t, "f = %.17g*spow(e, 0.5);", e->k); break;
    case BRANCHES: strbuf_printf(t, "f = if e >= 0 then %.17g*sqrt(e) else -%.17g*sqrt(-e);", e->k, e->k); break;
    case SQUARE: strbuf_printf(t, "e = f*abs(f)/%.17g^2;", e->k); break;
    case LINEAR: strbuf_printf(t, "f = %.17g*e;", e->k); break;
    case CUBE: strbuf_printf(t, "f = %.17g*(e + e^3);", e->k); break;
    case CUBE_ROOT: strbuf_printf(t, "e = f/%.17g + (f/%.17g)^3;", e->k, e->k); break;
    case SOFT: strbuf_printf(t, "f = %.17g*spow(e, 0.7);", e->k); break;
    case EXPONENTIAL: strbuf_printf(t, "f = %.17g*2*(exp(e/4) - exp(-e/4));", e->k); break;
    default: strbuf_printf(t, "f = %.17g*(max(e, 0) + 0.01*min(e, 0));", e->k);
    }
}

static void
write_text(const struct network *n, strbuf *t)
{
    strbuf_puts(t, "model network {\n");
    if (!n->closed)
        strbuf_printf(t, "    Se:around = 0 -> n0;\n    %s:pump = %.17g -> n1;\n", n->flow ? "Sf" : "Se", n->pump);
    for (int i = 0; i < n->nodes; i++) {
        const struct node *q = &n->node[i];

        strbuf_printf(t, "    0:n%d; output e%d = n%d.e;", i, i, i);
        if (q->store > 0 && q->stiffening > 0)
            strbuf_printf(t, " n%d -> C:c%d { e = q/%.17g + %.17g*q^3; q(0) = %.17g; }", i, i, q->store, q->stiffening,
                          q->start);
        else if (q->store > 0)
            strbuf_printf(t, " n%d -> C:c%d = %.17g { q(0) = %.17g; }", i, i, q->store, q->start);
        strbuf_puts(t, "\n");
    }
    for (int e = 0; e < n->edges; e++) {
        const struct edge *g = &n->edge[e];

        strbuf_printf(t, "    n%d -> 1:b%d -> n%d; b%d -> R:r%d { ", g->from, e, g->to, e, e);
        write_law(g, t);
        strbuf_puts(t, " }");
        if (g->inertia > 0)
            strbuf_printf(t, " b%d -> I:i%d = %.17g;", e, e, g->inertia);
        strbuf_puts(t, "\n");
    }
    strbuf_puts(t, "}\nexperiment x of network { stop = 0.001; start from equilibrium; }\n");
}

struct tally {
    size_t networks, failures, shown;
    double worst;
};

static void
check(struct tally *t, uint64_t seed, bool verbose)
{
    struct network n;
    double p[MAX_NODES], size = 1e-3, worst = 0;
    strbuf text = { 0 };
    bgc_model *m;
    bgc_run *run;
    const char *what = NULL;

    make(&n, seed);
    if (!solve(&n, p)) {
        printf("seed %llu: the reference failed\n", (unsigned long long)seed);
        t->failures++;
        return;
    }
    t->networks++;
    write_text(&n, &text);
    m = bgc_open_text("network.bg", text.at, text.n, NULL);
    run = bgc_ok(m) ? bgc_simulate(m, &(bgc_run_options){ .points = 2 }) : NULL;
    for (int i = 0; i < n.nodes; i++)
        size = fmax(size, fabs(p[i]));
    for (int i = 0; i < n.nodes && run; i++)
        for (size_t k = 0; k < 2; k++) {
            double d = fabs(bgc_run_value(run, k, (size_t)i) - p[i]) / size;

            worst = d <= worst ? worst : d;
        }
    if (!run)
        what = bgc_diagnostic_count(m) ? bgc_diagnostic_at(m, 0).message : "no run";
    else if (!(worst <= 1e-6))
        what = "efforts differ";
    t->worst = fmax(t->worst, worst);
    if (what) {
        t->failures++;
        if (t->shown++ < MAX_SHOWN || verbose)
            printf("seed %llu: %s (%.2g)\n%s\n", (unsigned long long)seed, what, worst, text.at);
    }
    bgc_run_free(run);
    bgc_free(m);
    strbuf_free(&text);
}

int
main(int argc, char **argv)
{
    int k = 1;
    bool verbose = k < argc && !strcmp(argv[k], "-v") && k++;
    uint64_t first = k < argc ? strtoull(argv[k++], NULL, 10) : 1,
             count = k < argc ? strtoull(argv[k++], NULL, 10) : 1000;
    struct tally t = { 0 };

    for (uint64_t s = first; s < first + count; s++)
        check(&t, s, verbose);
    printf("%zu networks: greatest difference %.2g, %zu failures\n", t.networks, t.worst, t.failures);
    return t.failures != 0;
}
