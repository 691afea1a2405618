/* test_hydraulic.c - random networks of turbulent restrictions against a plain Newton's method
 *
 * usage    test_hydraulic [first seed [how many]]
 * networks nodes of pressure joined to a tree with the tank, and some loops; restrictions by four spellings of a signed
 *          root and of its inverse; a pump of given pressure or of given flow
 * source   node pressures p of sum of f(p_i - p_j) = supply, f(e) = k e/(e^2 + d^2)^(1/4), which is monotone: Newton's
 *          method with a line search, d falling from the pump's pressure to 1e-14 of it
 * checks   pressures of all nodes: 1e-6 of the greatest
 * prints   seed, text and what differs for each failure; exit status 1 if there was one
 */
#include "base.h"
#include "bgc.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NODES = 9, MAX_EDGES = 16, MAX_SHOWN = 6, NEWTON = 200, HALVINGS = 40 };

struct edge {
    int from, to, law;
    double k;
};
struct network {
    int nodes, edges;
    struct edge edge[MAX_EDGES];
    bool flow;
    double pump;
    uint64_t rng;
}; /* node 0: the tank */

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

/* The pump, of pressure, is node 1, else it feeds node 1. */
static void
make(struct network *n, uint64_t seed)
{
    *n = (struct network){ .rng = seed * 0x9e3779b97f4a7c15u | 1 };
    for (int i = 0; i < 8; i++)
        uniform(n, 0, 1);
    n->nodes = 3 + below(n, MAX_NODES - 2);
    n->flow = below(n, 2);
    n->pump = exp(uniform(n, -2, 4)) * (below(n, 4) ? 1 : -1);
    for (int i = 1; i < n->nodes; i++)
        n->edge[n->edges++] = (struct edge){ .from = below(n, i), .to = i };
    for (int more = below(n, n->nodes); more > 0 && n->edges < MAX_EDGES; more--) {
        int a = below(n, n->nodes), b = below(n, n->nodes);

        if (a != b)
            n->edge[n->edges++] = (struct edge){ .from = a, .to = b };
    }
    for (int e = 0; e < n->edges; e++) {
        n->edge[e].law = below(n, 4);
        n->edge[e].k = exp(uniform(n, -2, 2));
        if (below(n, 2)) {
            int from = n->edge[e].from;

            n->edge[e].from = n->edge[e].to;
            n->edge[e].to = from;
        }
    }
}

/* ---- the reference ---- */

static double
flow(double k, double e, double d, double *slope)
{
    double r = e * e + d * d;

    *slope = k * pow(r, -0.25) * (1 - e * e / (2 * r));
    return k * e * pow(r, -0.25);
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
        double slope, f = flow(n->edge[e].k, p[n->edge[e].from] - p[n->edge[e].to], d, &slope);

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

static bool
solve(const struct network *n, double *p)
{
    int first = n->flow ? 1 : 2, m = n->nodes - first;
    double size = fabs(n->pump) * (1 + fabs(n->pump)), r[MAX_NODES], a[MAX_NODES * MAX_NODES], try[MAX_NODES];

    memset(p, 0, MAX_NODES * sizeof *p);
    p[1] = n->flow ? 0 : n->pump;
    for (double d = size; d > 1e-14 * size; d /= 4)
        for (int k = 0; k < NEWTON && m > 0; k++) {
            double left = residual(n, p, d, first, r, a), share = 1;
            lapack_int pivot[MAX_NODES];

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
            memcpy(p, try, sizeof try);
        }
    return true;
}

/* ---- the text ---- */

static void
write_law(const struct edge *e, strbuf *t)
{
    switch (e->law) {
    case 0: strbuf_printf(t, "f = %.17g*sign(e)*sqrt(abs(e));", e->k); break;
    case 1: strbuf_printf(t, "f = %.17g*spow(e, 0.5);", e->k); break;
    case 2: strbuf_printf(t, "f = if e >= 0 then %.17g*sqrt(e) else -%.17g*sqrt(-e);", e->k, e->k); break;
    default: strbuf_printf(t, "e = f*abs(f)/%.17g^2;", e->k);
    }
}

static void
write_text(const struct network *n, strbuf *t)
{
    strbuf_puts(t, "model network {\n    Se:tank = 0 -> 0:n0;\n");
    for (int i = 1; i < n->nodes; i++)
        strbuf_printf(t, "    0:n%d; output p%d = n%d.e;\n", i, i, i);
    strbuf_printf(t, "    %s:pump = %.17g -> n1;\n", n->flow ? "Sf" : "Se", n->pump);
    for (int e = 0; e < n->edges; e++) {
        strbuf_printf(t, "    n%d -> 1:b%d -> n%d; b%d -> R:r%d { ", n->edge[e].from, e, n->edge[e].to, e, e);
        write_law(&n->edge[e], t);
        strbuf_puts(t, " }\n");
    }
    strbuf_puts(t, "}\nexperiment x of network { stop = 1; }\n");
}

struct tally {
    size_t networks, failures, shown;
    double worst;
};

static void
check(struct tally *t, uint64_t seed)
{
    struct network n;
    double p[MAX_NODES], size = 0, worst = 0;
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
    for (int i = 1; i < n.nodes; i++)
        size = fmax(size, fabs(p[i]));
    for (int i = 1; i < n.nodes && run; i++)
        for (size_t k = 0; k < 2; k++) {
            double d = fabs(bgc_run_value(run, k, (size_t)i - 1) - p[i]) / size;

            worst = d <= worst ? worst : d;
        }
    if (!run)
        what = bgc_diagnostic_count(m) ? bgc_diagnostic_at(m, 0).message : "no run";
    else if (!(worst <= 1e-6))
        what = "pressures differ";
    t->worst = fmax(t->worst, worst);
    if (what) {
        t->failures++;
        if (t->shown++ < MAX_SHOWN)
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
    uint64_t first = k < argc ? strtoull(argv[k++], NULL, 10) : 1,
             count = k < argc ? strtoull(argv[k++], NULL, 10) : 1000;
    struct tally t = { 0 };

    for (uint64_t s = first; s < first + count; s++)
        check(&t, s);
    printf("%zu networks: greatest difference %.2g, %zu failures\n", t.networks, t.worst, t.failures);
    return t.failures != 0;
}
