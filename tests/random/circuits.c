/* circuits.c - see circuits.h */
#include "circuits.h"

#include <string.h>

static double
uniform(uint64_t *rng, double lo, double hi)
{
    *rng ^= *rng << 13;
    *rng ^= *rng >> 7;
    *rng ^= *rng << 17;
    return lo + (hi - lo) * (double)(*rng >> 11) * 0x1p-53;
}

static int
below(uint64_t *rng, int n)
{
    return (int)uniform(rng, 0, n);
}

/* ---- circuits ---- */

static void
add(struct circuit *c, enum kind kind, int from, int to, double value)
{
    c->part[c->nparts++] =
        (struct part){ .kind = kind, .from = from, .to = to, .value = value, .flow = below(&c->rng, 2) };
}

static int
root(int *up, int i)
{
    while (up[i] != i)
        i = up[i];
    return i;
}

void
circuit_generate(struct circuit *c, uint64_t seed)
{
    int up[16], ndiodes = 0, nswitches = 0, want = 1 + (int)(seed % 4);
    bool firm[16] = { true };

    c->rng = seed * 0x9E3779B97F4A7C15u + 12345;
    c->form = seed / 3 % 4;
    for (int i = 0; i < 5; i++)
        uniform(&c->rng, 0, 1);
    c->nnodes = 3 + below(&c->rng, 3);
    for (int i = 0; i <= c->nnodes; i++)
        up[i] = i;
    /* a source with a resistor, or one that starts from zero by itself */
    for (int k = 0; k < 1 + below(&c->rng, 2); k++) {
        int at = 1 + below(&c->rng, c->nnodes);
        bool bare = below(&c->rng, 3) == 0 && root(up, at) != root(up, 0);
        struct part *p = &c->part[c->nparts];

        add(c, SOURCE, at, 0, uniform(&c->rng, 2, 10));
        p->omega = uniform(&c->rng, 0.7, 3);
        p->phase = bare ? 0 : uniform(&c->rng, 0, 6);
        p->at = bare ? 0 : uniform(&c->rng, 0.2, 1); /* its resistance */
        firm[at] = true;
        if (bare)
            up[root(up, at)] = root(up, 0);
    }
    for (int i = 1; i <= c->nnodes; i++) {
        int what = below(&c->rng, 4);

        if (what == 0) {
            add(c, RESISTOR, i, 0, uniform(&c->rng, 0.5, 5));
            firm[i] = true;
        } else if (what == 1) {
            add(c, CAPACITOR, i, 0, uniform(&c->rng, 0.1, 1));
            add(c, RESISTOR, i, 0, uniform(&c->rng, 2, 10));
            firm[i] = true;
        } else {
            int to = below(&c->rng, c->nnodes + 1);

            if (to == i)
                to = 0;
            add(c, COIL, i, to, uniform(&c->rng, 0.2, 2));
        }
    }
    for (int tries = 0; tries < 40 && ndiodes < want; tries++) {
        int a = below(&c->rng, c->nnodes + 1), b = below(&c->rng, c->nnodes + 1);

        if (root(up, a) == root(up, b))
            continue;
        up[root(up, a)] = root(up, b);
        add(c, DIODE, a, b, 0);
        ndiodes++;
    }
    for (int tries = 0; tries < 10 && nswitches < (int)(seed % 3) - 1; tries++) {
        int a = below(&c->rng, c->nnodes + 1), b = below(&c->rng, c->nnodes + 1);

        if (root(up, a) == root(up, b) || root(up, a) == root(up, 0) || root(up, b) == root(up, 0) || !firm[a] ||
            !firm[b])
            continue;
        up[root(up, a)] = root(up, b);
        add(c, SWITCH, a, b, 0);
        c->part[c->nparts - 1].at = uniform(&c->rng, 1, 8);
        nswitches++;
    }
}

static void
write_end(strbuf *b, int node)
{
    strbuf_printf(b, "n%d", node);
}

/* A value, or the parameter that has it. */
static void
write_value(const struct circuit *c, int i, char which, double value, strbuf *b)
{
    if (c->named)
        strbuf_printf(b, "%c%d_", which, i);
    else
        strbuf_printf(b, "%.17g", value);
}

static void
write_parameters(const struct circuit *c, strbuf *b)
{
    for (int i = 0; i < c->nparts && c->named; i++) {
        const struct part *p = &c->part[i];

        if (p->kind == SOURCE)
            strbuf_printf(b, "    parameter p%d_ = %.17g;\n", i, p->phase);
        if (p->kind != DIODE && p->kind != SWITCH)
            strbuf_printf(b, "    parameter v%d_ = %.17g;\n", i, p->value);
        if (p->kind == SWITCH || (p->kind == SOURCE && p->at > 0))
            strbuf_printf(b, "    parameter t%d_ = %.17g;\n", i, p->at);
    }
}

/* A signal that a controller holds closes the switch: set by an event, by a sample, or compared with a held instant. */
static void
write_gate(int i, double when, uint64_t form, strbuf *b)
{
    if (form == 1)
        strbuf_printf(b, "    signal g%d = 0;\n    when time > %.17g { g%d = 1; }\n", i, when, i);
    else if (form == 2)
        strbuf_printf(b, "    signal g%d = 1;\n    every 1000 [s] offset %.17g [s] { g%d = 0; }\n", i, when, i);
    else
        strbuf_printf(b,
                      "    signal at%d = %.17g;\n    when time > 1000 { at%d = 0; }\n"
                      "    signal g%d = if time > at%d then 1 else 0;\n",
                      i, when, i, i, i);
}

void
circuit_write(struct circuit *c, bool named, double stop)
{
    strbuf *b = &c->text;
    uint64_t form = named ? 0 : c->form;

    c->named = named;
    strbuf_puts(b, "model circuit {\n");
    write_parameters(c, b);
    strbuf_puts(b, "    Se:ground = 0 -> 0:n0;\n");
    for (int i = 1; i <= c->nnodes; i++)
        strbuf_printf(b, "    0:n%d;\n", i);
    for (int i = 0; i < c->nparts; i++) {
        const struct part *p = &c->part[i];

        if (p->kind == SWITCH && form)
            write_gate(i, p->at, form, b);
        strbuf_puts(b, "    ");
        if (p->kind == SOURCE) {
            strbuf_printf(b, "MSe:u%d = ", i);
            write_value(c, i, 'v', p->value, b);
            strbuf_printf(b, "*sin(%.17g*time + ", p->omega);
            write_value(c, i, 'p', p->phase, b);
            strbuf_printf(b, ") -> 1:l%d -> n%d;", i, p->from);
            if (p->at > 0) {
                strbuf_printf(b, " l%d -> R:r%d = ", i, i);
                write_value(c, i, 't', p->at, b);
                strbuf_puts(b, ";");
            }
            strbuf_puts(b, "\n");
            continue;
        }
        write_end(b, p->from);
        strbuf_printf(b, " -> 1:l%d -> ", i);
        write_end(b, p->to);
        strbuf_printf(b, "; l%d -> ", i);
        switch (p->kind) {
        case RESISTOR:
        case CAPACITOR:
        case COIL:
            strbuf_printf(b, "%s%d = ", p->kind == RESISTOR ? "R:r" : p->kind == CAPACITOR ? "C:c" : "I:i", i);
            write_value(c, i, 'v', p->value, b);
            strbuf_puts(b, ";\n");
            break;
        case DIODE: strbuf_printf(b, "%s:d%d such that min(d%d.f, -d%d.e);\n", p->flow ? "Sf" : "Se", i, i, i); break;
        default:
            strbuf_printf(b, "%s:s%d such that if ", p->flow ? "Sf" : "Se", i);
            if (form)
                strbuf_printf(b, "g%d %s", i, form == 2 ? "== 0" : "> 0");
            else
                strbuf_puts(b, "time > ");
            if (!form)
                write_value(c, i, 't', p->at, b);
            strbuf_printf(b, " then s%d.e else s%d.f;\n", i, i);
            break;
        }
    }
    for (int i = 1; i <= c->nnodes; i++)
        strbuf_printf(b, "    output v%d = n%d.e;\n", i, i);
    for (int i = 0; i < c->nparts; i++)
        if (c->part[i].kind == COIL || c->part[i].kind == DIODE)
            strbuf_printf(b, "    output f%d = l%d.f;\n", i, i);
    strbuf_printf(b, "}\nexperiment x of circuit { stop = %g; rtol = 1e-9; }\n", stop);
}

void
circuit_free(struct circuit *c)
{
    strbuf_free(&c->text);
}
