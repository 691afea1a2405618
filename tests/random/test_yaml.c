/* test_yaml.c - random model files of BondGraphTools through `bgc import`, against the relations of that tool's library
 *
 * usage    test_yaml [-v] [first seed [how many]]
 * checks   rates of all stores at random points agree with a dense solution of all relations: two a bond (efforts are
 *          equal, flows opposite), those of each component as its library states them (every port takes power). Where
 *          the relations do not determine the rates (stores that depend on each other), the model has fewer states or
 *          is refused by name
 * allows   regular models (2 %) that are refused by name because laws of reactions and transistors are read in one
 *          direction: two reactions that give the flow of one 1-junction
 * source   the relations are those of base.json, biochemical.json and electrical.json of version 0.4; nothing of the
 *          importer or of the compiler is used for them
 * prints   seed, file, translation and what differs for each failure; exit status 1 if there was one
 */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compile.h"
#include "yaml_import.h"

enum { MOST_PORTS = 16, POINTS = 3, MAX_SHOWN = 4 };
static const double FIT = 1e-8, REGULAR = 1e-9;

enum kind { K_0, K_1, K_R, K_C, K_I, K_SE, K_SF, K_TF, K_GY, K_CE, K_RE, K_DI, K_BJT, K_Y, K_SS, NKINDS };

struct comp {
    enum kind kind;
    char name[24]; /* full, as the translation has it */
    double v[4];
    int port[MOST_PORTS], nports; /* numbers of ports; their flows go into the component */
    int weight[MOST_PORTS];       /* of a 1-junction and Y */
    int outer;                    /* of SS: what is joined from outside acts at this port */
    int store;                    /* number of the store, -1 */
};
struct model {
    struct comp comp[96];
    int ncomp, nports, nstores;
    int bond[256][2], nbonds;
    strbuf components, netlist, sub, sub_net;
};

static uint64_t seed;

static uint64_t
draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1dULL >> 11;
}
static int
pick(int n)
{
    return (int)(draw() % (uint64_t)n);
}
static double
between(double a, double b)
{
    return a + (b - a) * (double)(draw() % 1000) / 1000;
}

/* ---------------------------------------------------------------- making a file */

static int
new_port(struct model *m, struct comp *c, int weight)
{
    c->weight[c->nports] = weight;
    c->port[c->nports++] = m->nports;
    return m->nports++;
}

static void
join(struct model *m, int a, int b)
{
    m->bond[m->nbonds][0] = a;
    m->bond[m->nbonds++][1] = b;
}

/* Values by name, or the first without names; what the library has a default for may be left out. */
static void
put_component(struct model *m, struct comp *c, strbuf *to, const char *label)
{
    static const struct {
        const char *type, *param[4];
        double otherwise[4];
    } lib[NKINDS] = {
        [K_0] = { "base/0", { NULL }, { 0 } },
        [K_1] = { "base/1", { NULL }, { 0 } },
        [K_R] = { "base/R", { "r" }, { 1000 } },
        [K_C] = { "base/C", { "C" }, { 1000 } },
        [K_I] = { "base/I", { "L" }, { 2000 } },
        [K_SE] = { "base/Se", { "e" }, { NAN } },
        [K_SF] = { "base/Sf", { "f" }, { NAN } },
        [K_TF] = { "base/TF", { "r" }, { 1 } },
        [K_GY] = { "base/GY", { "R" }, { 1 } },
        [K_CE] = { "BioChem/Ce", { "k", "R", "T" }, { NAN, NAN, NAN } },
        [K_RE] = { "BioChem/Re", { "r", "R", "T" }, { NAN, NAN, NAN } },
        [K_DI] = { "elec/Di", { "Is", "n", "Vt" }, { NAN, 1, NAN } },
        [K_BJT] = { "elec/BJT", { "Is", "beta_f", "beta_r", "Vt" }, { NAN, 100, 5, NAN } },
        [K_Y] = { "BioChem/Y", { NULL }, { 0 } },
        [K_SS] = { "base/SS", { NULL }, { 0 } },
    };
    bool named = pick(3) > 0;

    strbuf_printf(to, "    - %s %s", label, lib[c->kind].type);
    for (int k = 0; k < 4 && lib[c->kind].param[k]; k++) {
        if (named && isfinite(lib[c->kind].otherwise[k]) && pick(3) == 0) {
            c->v[k] = lib[c->kind].otherwise[k];
            continue;
        }
        if (named)
            strbuf_printf(to, " %s=%.17g", lib[c->kind].param[k], c->v[k]);
        else
            strbuf_printf(to, " %.17g", c->v[k]);
    }
    strbuf_puts(to, "\n");
    (void)m;
}

static int
add(struct model *m, enum kind kind, strbuf *to, const char *prefix, const char *letter)
{
    struct comp *c = &m->comp[m->ncomp];
    char label[16];

    *c = (struct comp){ .kind = kind, .store = -1, .outer = -1 };
    snprintf(label, sizeof label, "%s%d", letter, m->ncomp);
    snprintf(c->name, sizeof c->name, "%s%s", prefix, label);
    for (int k = 0; k < 4; k++)
        c->v[k] = between(0.5, 2.5) *
                  (kind == K_TF || kind == K_GY || kind == K_SE || kind == K_SF ? 1 - 2 * pick(2) : 1);
    if (kind == K_BJT) {
        c->v[1] = between(20, 60);
        c->v[2] = between(1, 9);
    }
    put_component(m, c, to, label);
    if (kind == K_C || kind == K_I || kind == K_CE)
        c->store = m->nstores++;
    return m->ncomp++;
}

/* A new port of a component, and its text in the netlist. */
static int
port_of(struct model *m, int at, char text[48])
{
    struct comp *c = &m->comp[at];
    const char *label = strchr(c->name, '.') ? strchr(c->name, '.') + 1 : c->name;
    bool turned = pick(2);

    switch (c->kind) {
    case K_1:
        snprintf(text, 48, "%s.%s", label, turned ? "inverting" : "non_inverting");
        return new_port(m, c, turned ? -1 : 1);
    case K_Y: snprintf(text, 48, "%s.%d", label, c->nports); return new_port(m, c, c->nports ? 1 : -1);
    case K_TF:
    case K_GY:
    case K_RE:
    case K_BJT: snprintf(text, 48, "%s.%d", label, c->nports); return new_port(m, c, 1);
    default: snprintf(text, 48, "%s", label); return new_port(m, c, 1);
    }
}

static void
bond_ports(struct model *m, strbuf *to, int pa, const char *a, int pb, const char *b)
{
    bool forward = pick(2);

    join(m, pa, pb);
    strbuf_printf(to, "    - %s %s\n", forward ? a : b, forward ? b : a);
}

static void
bond(struct model *m, strbuf *to, int a, int b)
{
    char ta[48], tb[48];
    int pa = port_of(m, a, ta), pb = port_of(m, b, tb);

    bond_ports(m, to, pa, ta, pb, tb);
}

static const char *const letter[] = { "n",  "j",  "Rx", "Cx", "Lx", "Ux", "Fx", "Tx",
                                      "Gx", "Sp", "Re", "Dx", "Qx", "Yx", "p" };

static void
add_leaf(struct model *m, strbuf *parts, strbuf *net, const char *prefix, int at)
{
    static const enum kind kinds[] = { K_R, K_R, K_C, K_C, K_I, K_SE, K_SF, K_CE, K_DI };
    enum kind k = kinds[pick(sizeof kinds / sizeof *kinds)];
    int leaf = add(m, k, parts, prefix, letter[k]);

    if (pick(6)) {
        bond(m, net, at, leaf);
    } else { /* behind a two-port */
        enum kind two = pick(2) ? K_TF : K_GY;
        int t = add(m, two, parts, prefix, letter[two]);

        bond(m, net, at, t);
        bond(m, net, t, leaf);
    }
}

/* A model with two exposed ports: what is between them, and its two outer ports. */
static void
add_instance(struct model *m, int outer[2])
{
    static const char prefix[] = "part.";
    int ss[2], mid = add(m, pick(2) ? K_0 : K_1, &m->sub, prefix, "m");

    for (int k = 0; k < 2; k++) {
        ss[k] = add(m, K_SS, &m->sub, prefix, "p");
        bond(m, &m->sub_net, ss[k], mid);
        outer[k] = m->comp[ss[k]].outer = m->nports++;
    }
    add_leaf(m, &m->sub, &m->sub_net, prefix, mid);
    add_leaf(m, &m->sub, &m->sub_net, prefix, mid);
    strbuf_printf(&m->sub_net, "    ports:\n    - %s a\n    - %s b\n", m->comp[ss[0]].name + 5,
                  m->comp[ss[1]].name + 5);
}

static void
make(struct model *m)
{
    int at[12], n = 2 + pick(4);
    char text[48];

    for (int i = 0; i < n; i++) {
        enum kind k = pick(8) ? (pick(2) ? K_0 : K_1) : K_Y;

        at[i] = add(m, k, &m->components, "", letter[k]);
    }
    for (int i = 1; i < n; i++) {
        int other = at[pick(i)], kind = pick(6);
        enum kind two = kind == 0 ? K_TF : kind == 1 ? K_GY : K_RE;

        if (kind > 2) {
            bond(m, &m->netlist, at[i], other);
        } else {
            int t = add(m, two, &m->components, "", letter[two]);

            bond(m, &m->netlist, at[i], t);
            bond(m, &m->netlist, t, other);
        }
    }
    if (pick(4) == 0) {
        int q = add(m, K_BJT, &m->components, "", letter[K_BJT]);

        for (int k = 0; k < 3; k++)
            bond(m, &m->netlist, at[pick(n)], q);
    }
    if (pick(3) == 0) {
        int outer[2];

        add_instance(m, outer);
        strbuf_puts(&m->components, "    - part /sub\n");
        for (int k = 0; k < 2; k++) {
            int p = port_of(m, at[pick(n)], text);
            static const char *const by[2][2] = { { "part.a", "part.0" }, { "part.b", "part.1" } };

            bond_ports(m, &m->netlist, p, text, outer[k], by[k][pick(2)]);
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = m->comp[at[i]].nports < 2 ? 1 + pick(2) : pick(3); k > 0; k--)
            add_leaf(m, &m->components, &m->netlist, "", at[i]);
}

static char *
file_text(const struct model *m)
{
    strbuf b = { 0 };

    strbuf_printf(&b, "version: '0.1'\nroot: whole\nmodels:\n  /:\n    components:\n%s    netlist:\n%s",
                  m->components.at, m->netlist.at);
    if (m->sub.n)
        strbuf_printf(&b, "  /sub:\n    components:\n%s    netlist:\n%s", m->sub.at, m->sub_net.at);
    return b.at;
}

/* ---------------------------------------------------------------- its relations */

#define E(p) x[2 * (p)]
#define F(p) x[2 * (p) + 1]

/* Of one component, one residual a port and one more a store; q: what the stores hold, dq: their rates. */
static int
component_residuals(const struct comp *c, const double *x, const double *q, const double *dq, double *r)
{
    const int *p = c->port;
    const double *v = c->v;
    double sum = 0, u, w;
    int n = 0;

    switch (c->kind) {
    case K_0:
        for (int k = 0; k < c->nports; k++)
            sum += F(p[k]);
        for (int k = 1; k < c->nports; k++)
            r[n++] = E(p[k]) - E(p[0]);
        r[n++] = sum;
        break;
    case K_1:
    case K_Y:
        for (int k = 0; k < c->nports; k++)
            sum += c->weight[k] * E(p[k]);
        for (int k = 1; k < c->nports; k++)
            r[n++] = c->weight[k] * F(p[k]) - c->weight[0] * F(p[0]);
        r[n++] = sum;
        break;
    case K_R: r[n++] = E(p[0]) - F(p[0]) * v[0]; break;
    case K_C:
        r[n++] = q[c->store] - v[0] * E(p[0]);
        r[n++] = dq[c->store] - F(p[0]);
        break;
    case K_I:
        r[n++] = q[c->store] - v[0] * F(p[0]);
        r[n++] = dq[c->store] - E(p[0]);
        break;
    case K_SE: r[n++] = E(p[0]) - v[0]; break;
    case K_SF: r[n++] = F(p[0]) + v[0]; break;
    case K_TF:
        r[n++] = E(p[1]) - v[0] * E(p[0]);
        r[n++] = F(p[0]) + v[0] * F(p[1]);
        break;
    case K_GY:
        r[n++] = E(p[1]) + v[0] * F(p[0]);
        r[n++] = E(p[0]) - v[0] * F(p[1]);
        break;
    case K_CE:
        r[n++] = E(p[0]) - v[1] * v[2] * log(v[0] * q[c->store]);
        r[n++] = F(p[0]) - dq[c->store];
        break;
    case K_RE:
        r[n++] = F(p[0]) + F(p[1]);
        r[n++] = F(p[0]) - v[0] * (exp(E(p[0]) / v[1] / v[2]) - exp(E(p[1]) / v[1] / v[2]));
        break;
    case K_DI: r[n++] = F(p[0]) - v[0] * (exp(E(p[0]) / v[1] / v[2]) - 1); break;
    case K_BJT:
        u = exp((E(p[1]) - E(p[2])) / v[3]);
        w = exp((E(p[1]) - E(p[0])) / v[3]);
        r[n++] = F(p[0]) + F(p[1]) + F(p[2]);
        r[n++] = F(p[1]) - v[0] * ((u - 1) / v[1] + (w - 1) / v[2]);
        r[n++] = F(p[2]) - v[0] * ((u - w) + (u - 1) / v[1]);
        break;
    case K_SS:
        r[n++] = E(p[0]) - E(c->outer);
        r[n++] = F(p[0]) + F(c->outer);
        break;
    case NKINDS: break;
    }
    return n;
}

static int
residuals(const struct model *m, const double *x, const double *q, double *r)
{
    const double *dq = x + 2 * m->nports;
    int n = 0;

    for (int b = 0; b < m->nbonds; b++) {
        r[n++] = E(m->bond[b][0]) - E(m->bond[b][1]);
        r[n++] = F(m->bond[b][0]) + F(m->bond[b][1]);
    }
    for (int c = 0; c < m->ncomp; c++)
        n += component_residuals(&m->comp[c], x, q, dq, r + n);
    return n;
}

enum found { FOUND, NOT_REGULAR, NO_ROOT };

/* Newton's method on everything at once, from x; slopes are differences. */
static enum found
solve(const struct model *m, const double *q, double *x, lapack_int n)
{
    double *a = bg_calloc((size_t)(n * n), sizeof *a), *r = bg_calloc((size_t)n, sizeof *r),
           *s = bg_calloc((size_t)n, sizeof *s), *w = bg_calloc((size_t)n, sizeof *w);
    lapack_int *pivot = bg_calloc((size_t)n, sizeof *pivot);
    enum found found = NO_ROOT;

    for (int round = 0; round < 200 && found == NO_ROOT; round++) {
        double size = 0, longest = 0, norm, rcond = 0, step;

        residuals(m, x, q, r);
        for (lapack_int k = 0; k < n; k++)
            size = fmax(size, fabs(r[k]) / (1 + fabs(x[k])));
        for (lapack_int k = 0; k < n; k++) {
            double h = 1e-7 * (1 + fabs(x[k])), was = x[k];

            x[k] = was + h;
            residuals(m, x, q, s);
            x[k] = was - h;
            residuals(m, x, q, w);
            x[k] = was;
            for (lapack_int i = 0; i < n; i++)
                a[i + k * n] = (s[i] - w[i]) / (2 * h);
        }
        norm = LAPACKE_dlange(LAPACK_COL_MAJOR, '1', n, n, a, n);
        if (!isfinite(norm) || LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, a, n, pivot) != 0 ||
            LAPACKE_dgecon(LAPACK_COL_MAJOR, '1', n, a, n, norm, &rcond) != 0 || rcond < REGULAR) {
            found = NOT_REGULAR;
            break;
        }
        LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', n, 1, a, n, pivot, r, n);
        for (lapack_int k = 0; k < n; k++)
            longest = fmax(longest, fabs(r[k]));
        step = longest > 2 ? 2 / longest : 1; /* exponentials want short ones */
        for (lapack_int k = 0; k < n; k++)
            x[k] -= step * r[k];
        if (step == 1 && longest < 1e-11 && size < 1e-9)
            found = FOUND;
    }
    free(a);
    free(r);
    free(s);
    free(w);
    free(pivot);
    return found;
}

/* ---------------------------------------------------------------- comparing */

struct tally {
    size_t files, compared, points, dependent, directed, several, unsure, failures;
    double worst;
};

static void
failure(struct tally *t, uint64_t number, const char *file, const char *text, const sources *s, const char *what)
{
    if (t->failures++ >= MAX_SHOWN)
        return;
    printf("seed %llu: %s\n%s\n%s", (unsigned long long)number, what, file, text ? text : "");
    if (s)
        diag_print(s, stdout, false, DIAG_ERRORS);
}

static int
store_of(const struct model *m, const char *state)
{
    for (int c = 0; c < m->ncomp; c++) {
        size_t n = strlen(m->comp[c].name);

        if (m->comp[c].store >= 0 && !strncmp(state, m->comp[c].name, n) && state[n] == '.' && !state[n + 2])
            return m->comp[c].store;
    }
    return -1;
}

/* Transistors between gyrators make equations of several solutions: is this rate that of another one? */
static bool
is_of_another(const struct model *m, const double *q, int store, double rate, const double *root)
{
    lapack_int unknowns = 2 * m->nports + m->nstores;
    double *x = bg_calloc((size_t)unknowns, sizeof *x);
    bool found = false;

    for (int start = 0; start < 60 && !found; start++) {
        for (lapack_int k = 0; k < unknowns; k++)
            x[k] = start % 2 ? between(-20, 20) : root[k] + between(-2, 2);
        found = solve(m, q, x, unknowns) == FOUND && fabs(x[2 * m->nports + store] - rate) <= FIT * (1 + fabs(rate));
    }
    free(x);
    return found;
}

static void
compare(struct tally *t, const struct model *m, bg_model *b, uint64_t number, const char *file, const char *text)
{
    size_t n = model_nstates(b);
    lapack_int unknowns = 2 * m->nports + m->nstores;
    double *state = bg_calloc(n + 1, sizeof *state), *rate = bg_calloc(n + 1, sizeof *rate);
    double *q = bg_calloc((size_t)m->nstores + 1, sizeof *q), *x = bg_calloc((size_t)unknowns, sizeof *x);

    for (int point = 0; point < POINTS; point++) {
        bool failed = false;

        for (size_t i = 0; i < n; i++) {
            int k = store_of(m, model_state(b, i).name);

            if (k < 0) {
                failure(t, number, file, text, NULL, "a state is no store of the file");
                goto out;
            }
            q[k] = state[i] = between(0.4, 2);
        }
        memset(x, 0, (size_t)unknowns * sizeof *x);
        if (solve(m, q, x, unknowns) != FOUND || model_rhs(b, 0, state, rate) != 0) {
            t->unsure++;
            continue;
        }
        t->points++;
        for (size_t i = 0; i < n; i++) {
            int store = store_of(m, model_state(b, i).name);
            double want = x[2 * m->nports + store], off = fabs(rate[i] - want), size = 1;

            for (int k = 0; k < 2 * m->nports; k++)
                size = fmax(size, fabs(x[k]));
            if (!(off <= FIT * size) && is_of_another(m, q, store, rate[i], x)) {
                t->several++;
                break;
            }
            t->worst = fmax(t->worst, off / size);
            if (!(off <= FIT * size) && !failed) {
                char what[160];

                snprintf(what, sizeof what, "the rate of %s is %.12g, by the relations %.12g", model_state(b, i).name,
                         rate[i], want);
                failure(t, number, file, text, NULL, what);
                failed = true;
            }
        }
    }
    t->compared++;
out:
    free(state);
    free(rate);
    free(q);
    free(x);
}

/* Do the relations determine the rates for whatever the stores hold? */
static enum found
regular(const struct model *m)
{
    lapack_int unknowns = 2 * m->nports + m->nstores;
    double *q = bg_calloc((size_t)m->nstores + 1, sizeof *q), *x = bg_calloc((size_t)unknowns, sizeof *x);
    enum found f;

    for (int k = 0; k < m->nstores; k++)
        q[k] = between(0.4, 2);
    f = solve(m, q, x, unknowns);
    free(q);
    free(x);
    return f;
}

static bool
refused_by_name(const sources *s)
{
    for (size_t i = 0; i < diag_count(s); i++) {
        const diagnostic *d = diag_at(s, i);

        if (d->severity == SEV_ERROR && strncmp(d->code, "causality-", 10) && strcmp(d->code, "derivative-order") &&
            strcmp(d->code, "block-singular"))
            return false;
    }
    return true;
}

static void
try_one(struct tally *t, uint64_t number, bool verbose)
{
    struct model m = { .ncomp = 0 };
    sources *s = sources_new();
    arena *a = arena_new();
    strbuf text = { 0 };
    compilation c = { 0 };
    char *file;
    enum found f;

    seed = number * 0x9e3779b97f4a7c15ULL + 1;
    for (int k = 0; k < 8; k++)
        draw();
    make(&m);
    file = file_text(&m);
    t->files++;
    f = regular(&m);
    if (!yaml_import(s, a, (uint32_t)sources_add_text(s, "model.yaml", file, strlen(file)), &text)) {
        failure(t, number, file, NULL, s, "the file is refused");
    } else if (!compile_text(&c, "model.bg", text.at, text.n, STAGE_MODEL, NULL)) {
        if (!refused_by_name(c.sources))
            failure(t, number, file, text.at, c.sources, "the translation is refused");
        else if (f == FOUND)
            t->directed++;
        else
            t->dependent++;
    } else if (f == FOUND && model_nstates(c.model) != (size_t)m.nstores) {
        failure(t, number, file, text.at, NULL, "the relations leave all stores independent, the translation does not");
    } else if (f == NOT_REGULAR) {
        t->dependent++;
    } else if (f == FOUND) {
        compare(t, &m, c.model, number, file, text.at);
    } else {
        t->unsure++;
    }
    if (verbose)
        printf("%llu: %d components, %d stores, %s\n", (unsigned long long)number, m.ncomp, m.nstores,
               f == FOUND         ? "regular"
               : f == NOT_REGULAR ? "dependent"
                                  : "no root");
    compile_free(&c);
    strbuf_free(&text);
    free(file);
    strbuf_free(&m.components);
    strbuf_free(&m.netlist);
    strbuf_free(&m.sub);
    strbuf_free(&m.sub_net);
    arena_free(a);
    sources_free(s);
}

int
main(int argc, char **argv)
{
    bool verbose = argc > 1 && !strcmp(argv[1], "-v");
    uint64_t first = argc > 1 + verbose ? strtoull(argv[1 + verbose], NULL, 10) : 1;
    uint64_t count = argc > 2 + verbose ? strtoull(argv[2 + verbose], NULL, 10) : 100;
    struct tally t = { 0 };

    for (uint64_t k = 0; k < count; k++)
        try_one(&t, first + k, verbose);
    printf("%zu files: %zu compared at %zu points, %zu with stores that depend on each other, %zu refused for their "
           "direction, %zu points with another solution, %zu unsure; worst %.1e; %zu failures\n",
           t.files, t.compared, t.points, t.dependent, t.directed, t.several, t.unsure, t.worst, t.failures);
    if (50 * t.directed > t.files) {
        puts("too many are refused for the direction of their laws");
        return 1;
    }
    if (3 * t.compared < t.files) {
        puts("hardly a third could be compared");
        return 1;
    }
    return t.failures ? 1 : 0;
}
