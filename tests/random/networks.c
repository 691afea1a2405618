/* networks.c - see networks.h */
#include "networks.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bgc.h"

enum { MAX_SHOWN = 6, NEWTON = 300, HALVINGS = 60 };
#define AGREES 1e-6

/* ---- numbers ---- */

void
numbers_start(struct network *n, uint64_t seed)
{
    *n = (struct network){ .rng = seed * 0x9e3779b97f4a7c15u | 1 };
    for (int i = 0; i < 8; i++)
        uniform(n, 0, 1);
}

double
uniform(struct network *n, double lo, double hi)
{
    n->rng ^= n->rng << 13;
    n->rng ^= n->rng >> 7;
    n->rng ^= n->rng << 17;
    return lo + (hi - lo) * (double)(n->rng >> 11) * 0x1p-53;
}

int
below(struct network *n, int k)
{
    return (int)uniform(n, 0, k);
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
write_text(const struct network *n, const char *experiment, strbuf *t)
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
    strbuf_printf(t, "}\nexperiment x of network { %s }\n", experiment);
}

/* ---- runs ---- */

struct tally {
    size_t networks, failures, shown;
    double worst;
    bool verbose;
};

static void
check(struct tally *t, network_maker *make, uint64_t seed)
{
    struct network n;
    double p[MAX_NODES], size = 0, worst = 0;
    strbuf text = { 0 };
    bgc_model *m;
    bgc_run *run;
    const char *what = NULL;

    write_text(&n, make(&n, seed, &size), &text);
    t->networks++;
    if (!solve(&n, p)) {
        printf("seed %llu: the reference failed\n", (unsigned long long)seed);
        t->failures++;
        strbuf_free(&text);
        return;
    }
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
    else if (!(worst <= AGREES))
        what = "efforts differ";
    t->worst = fmax(t->worst, worst);
    if (what) {
        t->failures++;
        printf("seed %llu: %s (%.2g)\n", (unsigned long long)seed, what, worst);
        if (t->shown++ < MAX_SHOWN || t->verbose)
            puts(text.at);
    }
    bgc_run_free(run);
    bgc_free(m);
    strbuf_free(&text);
}

/* Comments with the reference's efforts, then the text. */
static int
show(network_maker *make, uint64_t seed)
{
    struct network n;
    double p[MAX_NODES], size = 0;
    strbuf text = { 0 };
    bool solved;

    write_text(&n, make(&n, seed, &size), &text);
    solved = solve(&n, p);
    for (int i = 0; i < n.nodes && solved; i++)
        printf("// e%d = %.12g\n", i, p[i]);
    printf("%s", text.at);
    strbuf_free(&text);
    return !solved;
}

int
networks_main(int argc, char **argv, network_maker *make)
{
    int k = 1;
    struct tally t = { 0 };

    if (argc == 3 && !strcmp(argv[1], "-t"))
        return show(make, strtoull(argv[2], NULL, 10));
    t.verbose = k < argc && !strcmp(argv[k], "-v") && k++;
    uint64_t first = k < argc ? strtoull(argv[k++], NULL, 10) : 1,
             count = k < argc ? strtoull(argv[k++], NULL, 10) : 1000;

    for (uint64_t s = first; s < first + count; s++)
        check(&t, make, s);
    printf("%zu networks: greatest difference %.2g, %zu failures\n", t.networks, t.worst, t.failures);
    return t.failures != 0;
}
