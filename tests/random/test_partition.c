/* test_partition.c - models of two to four subsystems in several domains, coupled in chains and trees and both ways,
 * partitioned as they were built
 *
 * usage    test_partition [first seed [how many]]
 * models   the first subsystem is a heavy oscillator that swings freely; each other hangs on one before it by a shared
 *          bond, a transformer or a gyrator, and is a thousand times lighter (or of so little power), so that the bond
 *          is small where it acts on the heavier one and large where it drives the lighter. Each is of a domain,
 *          translation, rotation or electricity, with its units; a shared bond stays in one. In a quarter of the models
 *          the last two are equals instead, joined rigidly enough (by a bond, a transformer or a gyrator) to exchange
 *          their energy: these must stay one piece. In a third of the models a body is warmed by the losses of a
 *          damper, over pseudo bonds: the signal that was there before makes it driven
 * checks   each subsystem is one subgraph with exactly its elements, and drives what hangs on it and nothing else; no
 *          loop. The conditioned model runs, and the heaviest moves in it as if alone but for a shift of its frequency
 *          by a few thousandths: over 40 rad its error is at most a fifth of its size
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "partition.h"

enum { MOST = 4 };
enum coupling { BY_BOND, BY_TRANSFORMER, BY_GYRATOR, BY_EQUALS, COUPLINGS };
enum { TRANSLATION, ROTATION, ELECTRICITY, DOMAINS };
static const struct {
    const char *name, *inertia, *compliance, *resistance;
} domains[DOMAINS] = { { "translation", "kg", "m/N", "N.s/m" },
                       { "rotation", "kg.m^2", "rad/(N.m)", "N.m.s" },
                       { "electricity", "H", "F", "ohm" } };
/* warmed: the subsystem whose damper warms the body, which is the last subsystem; -1: there is none */
struct made {
    int n, parent[MOST + 1], group[MOST + 1], domain[MOST], warmed;
    enum coupling by[MOST], equal;
    strbuf text;
    bool equals;
};

static uint64_t state;
static double
draw(double from, double to)
{
    state = bg_hash_mix(state, 0x9e3779b97f4a7c15u);
    return from + (to - from) * (double)(state >> 11) / 9007199254740992.0;
}

/* An oscillator on a 1-junction v<k>: inertia, spring, a little damping. */
static void
put_oscillator(strbuf *b, int k, int domain, double inertia, double omega, double start)
{
    strbuf_printf(b, start != 0 ? "    1:v%d in %s { f(0) = %.6g; }\n" : "    1:v%d in %s;\n", k, domains[domain].name,
                  start);
    strbuf_printf(b, "    v%d -> I:m%d = %.6g [%s];\n    v%d -> R:b%d = %.6g [%s];\n", k, k, inertia,
                  domains[domain].inertia, k, k, 0.02 * inertia * omega, domains[domain].resistance);
}

/* A spring to ground. */
static void
put_spring(strbuf *b, const char *at, int k, const char *name, int domain, double inertia, double omega)
{
    strbuf_printf(b, "    %s%d -> C:%s%d = %.9g [%s];\n", at, k, name, k, 1 / (inertia * omega * omega),
                  domains[domain].compliance);
}

static void
make(uint64_t seed, struct made *m)
{
    double inertia[MOST], omega[MOST];

    memset(m, 0, sizeof *m);
    state = seed * 7919 + 1;
    m->n = 2 + (int)draw(0, 3);
    m->equals = draw(0, 4) < 1;
    m->warmed = -1;
    strbuf_puts(&m->text, "domain translation { effort force [N]; flow velocity [m/s]; }\ndomain rotation { effort "
                          "torque [N.m]; flow speed [rad/s]; }\n"
                          "domain electricity { effort voltage [V]; flow current [A]; }\n"
                          "domain heat { effort temperature [K]; flow heat_flow [W]; power = flow; }\nmodel made {\n");
    for (int k = 0; k < m->n; k++) {
        m->parent[k] = k == 0 ? -1 : (int)draw(0, k);
        m->by[k] = k == 0 ? BY_BOND : (enum coupling)(int)draw(0, 3);
        m->group[k] = k;
        if (m->equals && k == m->n - 1) {
            m->parent[k] = k - 1;
            m->by[k] = BY_EQUALS;
            m->equal = (enum coupling)(int)draw(0, 3);
            m->group[k] = m->group[k - 1];
        }
        m->domain[k] = (int)draw(0, DOMAINS);
        if (k && (m->by[k] == BY_BOND || (m->by[k] == BY_EQUALS && m->equal == BY_BOND)))
            m->domain[k] = m->domain[m->parent[k]];
        if (k == 0) {
            inertia[k] = draw(50, 150);
            omega[k] = draw(1.5, 2.5);
        } else if (m->by[k] == BY_EQUALS) {
            inertia[k] = inertia[k - 1];
            omega[k] = omega[k - 1];
        } else {
            inertia[k] = inertia[m->parent[k]] * draw(3e-4, 1e-3);
            omega[k] = omega[m->parent[k]] * draw(1.7, 2.3);
        }
        put_oscillator(&m->text, k, m->domain[k], inertia[k], omega[k], k == 0 ? 1 : 0);
    }
    for (int k = 0; k < m->n; k++) {
        int p = m->parent[k];

        switch (k == 0 ? BY_GYRATOR : m->by[k]) {
        case BY_BOND:
            strbuf_printf(&m->text, "    v%d -> 0:h%d;\n    h%d -> v%d;\n", p, k, k, k);
            put_spring(&m->text, "h", k, "k", m->domain[k], inertia[k], omega[k]);
            break;
        case BY_TRANSFORMER:
            strbuf_printf(&m->text, "    v%d -> TF:t%d = %.6g -> 0:h%d;\n    h%d -> v%d;\n", p, k, draw(0.7, 1.4), k, k,
                          k);
            put_spring(&m->text, "h", k, "k", m->domain[k], inertia[k], omega[k]);
            break;
        case BY_GYRATOR:
            put_spring(&m->text, "v", k, "k", m->domain[k], inertia[k], omega[k]);
            if (k)
                strbuf_printf(&m->text, "    v%d -> GY:g%d = %.6g -> v%d;\n", p, k,
                              inertia[k] * omega[k] * draw(0.7, 1.4), k);
            break;
        case BY_EQUALS:
        case COUPLINGS:
            put_spring(&m->text, "v", k, "k", m->domain[k], inertia[k], omega[k]);
            if (m->equal == BY_GYRATOR) {
                strbuf_printf(&m->text, "    v%d -> GY:g%d = %.6g -> v%d;\n", p, k,
                              inertia[k] * omega[k] * draw(0.7, 1.4), k);
                break;
            }
            if (m->equal == BY_BOND)
                strbuf_printf(&m->text, "    v%d -> 0:h%d;\n    h%d -> v%d;\n", p, k, k, k);
            else
                strbuf_printf(&m->text, "    v%d -> TF:t%d = %.6g -> 0:h%d;\n    h%d -> v%d;\n", p, k, draw(0.9, 1.1),
                              k, k, k);
            put_spring(&m->text, "h", k, "c", m->domain[k], inertia[k], omega[k]);
            break;
        }
    }
    if (draw(0, 3) < 1) {
        int k = m->n;

        m->warmed = (int)draw(0, m->n);
        m->parent[k] = m->warmed;
        m->group[k] = k;
        strbuf_printf(
            &m->text,
            "    0:body%d in heat;\n    body%d -> C:C%d = %.6g [J/K];\n    body%d -> R:R%d { f = e/%.6g [K/W]; }\n"
            "    MSf:W%d = b%d.power -> body%d;\n",
            k, k, k, draw(1, 10), k, k, draw(1, 10), k, m->warmed, k);
    }
    strbuf_puts(&m->text, "    output x = integral(v0.f);\n}\n");
    strbuf_printf(&m->text, "experiment swing of made { stop = %.6g [s]; rtol = 1e-8; }\n", 40 / omega[0]);
}

/* The subsystem whose element that is: its number behind the letter. Two-ports of couplings are of none. */
static int
subsystem_of(const struct made *m, const char *element)
{
    return strchr("tg", element[0]) ? -1 : m->group[element[1] - '0'];
}

static int
failed(void *ctx, const sources *s)
{
    (void)ctx;
    diag_print(s, stdout, false, DIAG_ERRORS);
    return 1;
}

static const char *
check(const struct made *m, const partitioning *p)
{
    const flat_model *f = p->graph.flat;
    const subgraphs *s = &p->subgraphs;
    uint32_t of[MOST + 1] = { NONE, NONE, NONE, NONE, NONE };
    int n = m->n + (m->warmed >= 0);
    size_t groups = 0;

    for (uint32_t i = 0; i < f->element.n; i++) {
        int k = subsystem_of(m, f->element.at[i].name);

        if (k < 0)
            continue;
        groups += of[k] == NONE;
        if (of[k] == NONE)
            of[k] = s->of_element[i];
        else if (of[k] != s->of_element[i])
            return "a subsystem is in pieces";
    }
    if (s->subgraph.n != groups)
        return "not as many subgraphs as subsystems";
    if (s->loop.n)
        return "a loop";
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            bool is = false, should = false;
            const subgraph *x = &s->subgraph.at[of[m->group[k]]];

            for (size_t d = 0; d < x->drives.n; d++)
                is |= x->drives.at[d] == of[m->group[i]];
            for (int j = 0; j < n; j++)
                should |= m->parent[j] >= 0 && m->group[j] == m->group[i] && m->group[m->parent[j]] == m->group[k] &&
                          m->group[j] != m->group[k];
            if (is != should)
                return "other arrows";
        }
    if ((s->partition.n == 1) != (p->one_piece != NULL))
        return "one piece without its reason, or the other way round";
    for (size_t i = 0; i < p->error.n; i++)
        if (!p->error.at[i].state && !(p->error.at[i].rms <= 0.2 * p->error.at[i].size))
            return "the heaviest subsystem does not move as if alone";
    return NULL;
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 200,
             failures = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        struct made m;
        recording r = { .path = "made.bg", .experiment = "swing" };
        partition_options o = { .run = &r, .nruns = 1, .limit = 0.05, .mora = 0.97, .failed = failed };
        partitioning p;
        const char *why;

        make(seed, &m);
        r.text = m.text.at;
        r.length = m.text.n;
        why = partition_find(&o, &p) == PARTITION_DONE ? check(&m, &p) : p.why ? p.why : "it does not run";
        if (why && failures++ < 5)
            printf("seed %llu: %s\n%s\n", (unsigned long long)seed, why, m.text.at);
        partitioning_free(&p);
        strbuf_free(&m.text);
    }
    printf("%llu models of coupled subsystems, %llu not partitioned as built\n", (unsigned long long)count,
           (unsigned long long)failures);
    return failures != 0;
}
