/* verify_strokes.c - see verify_strokes.h */
#include "verify_strokes.h"
#include "flaw.h"

/* Strength of the port or bond of incidence i. */
static int
strength_at(const flat_model *f, const causal *c, uint32_t i)
{
    const flat_incidence *x = &f->incidence.at[i];

    if (!x->is_bond)
        return c->port[x->index];
    return x->sign > 0 ? c->bond_to[x->index] : c->bond_from[x->index];
}

static bool
junction_is_sound(const flat_model *f, const causal *c, uint32_t j, char **flaw)
{
    const flat_junction *x = &f->junction.at[j];
    const char *name = x->name ? x->name : "a junction";
    bool closed = c->strong[j] != NONE;

    if (closed && (c->strong[j] < x->inc0 || c->strong[j] >= x->inc0 + x->ninc))
        return flaw_found(flaw, "%s: its strong end is elsewhere", name);
    for (uint32_t i = x->inc0; i < x->inc0 + x->ninc; i++) {
        int s = strength_at(f, c, i);

        if ((s == ST_STRONG) != (closed && i == c->strong[j]))
            return flaw_found(flaw, "%s: %s", name,
                              s == ST_STRONG ? "an end is strong and not noted so" : "its strong end is none");
        if (closed && s == ST_OPEN)
            return flaw_found(flaw, "%s: it has a strong end, and another is open", name);
    }
    return true;
}

/* Do two ends agree: for a cross both alike, for a link exactly one strong? */
static bool
handed_on(int a, int b, bool link)
{
    return link ? a == -b : a == b;
}

static bool
check_bond_ends(const flat_model *f, const causal *c, char **flaw)
{
    for (size_t b = 0; b < f->bond.n; b++) {
        const flat_bond *x = &f->bond.at[b];
        bool alike = f->junction.at[x->from].type == f->junction.at[x->to].type;

        if (!handed_on(c->bond_from[b], c->bond_to[b], alike))
            return flaw_found(flaw, "%s: the strokes at its two ends contradict", x->name ? x->name : "a bond");
    }
    return true;
}

static bool
check_two_port(const flat_model *f, const causal *c, const flat_element *el, char **flaw)
{
    for (uint32_t p = el->port0; p + 1 < el->port0 + el->nports; p += 2) {
        bool alike = f->junction.at[f->port.at[p].junction].type == f->junction.at[f->port.at[p + 1].junction].type;

        if (!handed_on(c->port[p], c->port[p + 1], alike != (el->type == EL_GY)))
            return flaw_found(flaw, "%s: the strokes at its two sides contradict", el->name);
    }
    return true;
}

static enum strength
of_giver(const flat_model *f, uint32_t p, bool gives_effort)
{
    return (f->junction.at[f->port.at[p].junction].type == 0) == gives_effort ? ST_STRONG : ST_WEAK;
}

static bool
check_one_port(const flat_model *f, const causal *c, uint32_t p, size_t *ndependent, char **flaw)
{
    const flat_element *el = &f->element.at[f->port.at[p].element];
    const flat_law *law = port_law(f, p);
    bool storage = el->type == EL_C || el->type == EL_I;

    if ((el->type == EL_SE || el->type == EL_SF) && law->kind == LAW_ASSIGN && !law->switched &&
        c->port[p] != of_giver(f, p, law->out == Q_EFFORT))
        return flaw_found(flaw, "source %s does not give what it imposes", el->name);
    if (c->state[p] != (storage && c->port[p] == of_giver(f, p, !port_has_momentum(f, p))))
        return flaw_found(flaw, "%s: what it stores is %s", el->name,
                          c->state[p] ? "no state by its stroke" : "a state by its stroke, and not noted so");
    if (storage && !c->state[p] && (*ndependent >= c->dependent.n || c->dependent.at[(*ndependent)++] != p))
        return flaw_found(flaw, "%s is not listed among what depends", el->name);
    return true;
}

static bool
check_elements(const flat_model *f, const causal *c, char **flaw)
{
    size_t ndependent = 0;

    for (size_t i = 0; i < f->element.n; i++) {
        const flat_element *el = &f->element.at[i];

        if (el->type == EL_TF || el->type == EL_GY) {
            if (!check_two_port(f, c, el, flaw))
                return false;
        } else {
            for (uint32_t p = el->port0; p < el->port0 + el->nports; p++)
                if (!check_one_port(f, c, p, &ndependent, flaw))
                    return false;
        }
    }
    return ndependent == c->dependent.n || flaw_found(flaw, "more is listed as dependent than there is");
}

/* A junction without a strong end is either a state or in exactly one open component. */
static bool
check_open_junctions(const flat_model *f, const causal *c, char **flaw)
{
    uint8_t *listed = bg_calloc(f->junction.n + 1, sizeof *listed);
    bool ok = true;

    for (size_t k = 0; ok && k + 1 < c->component.n; k++)
        if (c->component.at[k] >= c->component.at[k + 1])
            ok = flaw_found(flaw, "open component %zu is empty", k);
    if (ok && (!c->component.n || c->component.at[0] != 0 || c->component.at[c->component.n - 1] != c->open_junction.n))
        ok = flaw_found(flaw, "the components do not hold all open junctions");
    for (size_t i = 0; ok && i < c->open_junction.n; i++)
        if (c->open_junction.at[i] >= f->junction.n || listed[c->open_junction.at[i]]++)
            ok = flaw_found(flaw, "an open junction is listed twice");
    for (size_t i = 0; ok && i < c->junction_state.n; i++)
        if (c->junction_state.at[i] >= f->junction.n || listed[c->junction_state.at[i]]++)
            ok = flaw_found(flaw, "a junction is a state twice, or open too");
    for (uint32_t j = 0; ok && j < f->junction.n; j++)
        if (listed[j] != (c->strong[j] == NONE))
            ok = flaw_found(flaw, "%s: %s", f->junction.at[j].name ? f->junction.at[j].name : "a junction",
                            listed[j] ? "it is listed as open and has a strong end"
                                      : "it has no strong end, and is neither a state nor open");
    free(listed);
    return ok;
}

static bool
check_relations(const flat_model *f, const causal *c, char **flaw)
{
    for (size_t i = 0; i < c->relation.n; i++) {
        const causal_relation *r = &c->relation.at[i];

        if (r->port >= f->port.n || c->state[r->port] || f->port.at[r->port].stored == VAR_NONE)
            return flaw_found(flaw, "relation %zu is of no dependent storage", i);
        if (r->first > c->term.n || r->n > c->term.n - r->first)
            return flaw_found(flaw, "relation %zu: its terms lie behind the last", i);
        for (uint32_t t = r->first; t < r->first + r->n; t++)
            if (c->term.at[t].port >= f->port.n || c->term.at[t].weight == 0)
                return flaw_found(flaw, "relation %zu has a term of nothing", i);
    }
    return true;
}

char *
verify_strokes(const flat_model *f, const causal *c)
{
    char *flaw = NULL;
    bool ok = true;

    for (uint32_t j = 0; ok && j < f->junction.n; j++)
        ok = junction_is_sound(f, c, j, &flaw);
    if (ok && check_bond_ends(f, c, &flaw) && check_elements(f, c, &flaw) && check_open_junctions(f, c, &flaw))
        check_relations(f, c, &flaw);
    return flaw;
}
