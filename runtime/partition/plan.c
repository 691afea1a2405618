/* plan.c - see plan.h */
#include "plan.h"

#include <math.h>

#include "metrics.h"

struct planner {
    const flat_model *f;
    const local_ratios *l;
    arena *a;
    link_plan *out;
};

/* Names the variable that the bonds of a junction share, such as "the flow of v". */
static const char *
common_variable(const struct planner *d, uint32_t junction)
{
    const flat_domain *domain = junction_domain(d->f, junction);
    bool flow = d->f->junction.at[junction].type == 1;
    const char *quantity = !domain ? NULL : flow ? domain->flow_name : domain->effort_name;

    return arena_format(d->a, "the %s of %s",
                        quantity ? quantity
                        : flow   ? "flow"
                                 : "effort",
                        junction_label(d->f, junction, NONE));
}

static const char *
strong_reason(const struct planner *d, const link *x, enum link_end k)
{
    return arena_format(d->a, "it imposes %s, which nothing else determines", common_variable(d, x->end[k]));
}

/* always: reason for which neither end may be left out, whatever flows there; NULL: there is none. */
static void
decide(const struct planner *d, link *x, const char *always)
{
    bool out[2];

    for (int k = 0; k < 2; k++) {
        /* Where no bond carries power, as at a ground, the balance may still matter: the currents that meet at an
         * effort of zero. */
        x->inactive[k] = x->ratio[k] < d->out->limit;
        out[k] = x->inactive[k] && !x->strong[k] && !always;
    }
    x->fate = out[LINK_TAIL] && out[LINK_HEAD] ? LINK_GOES
              : out[LINK_TAIL]                 ? LINK_TO_HEAD
              : out[LINK_HEAD]                 ? LINK_TO_TAIL
                                               : LINK_STAYS;
    for (int k = 0; k < 2; k++) {
        const char *why = !x->inactive[k] || out[k] ? NULL : always ? always : strong_reason(d, x, (enum link_end)k);

        if (why && x->fate == LINK_STAYS && !x->refused)
            x->refused = why;
        else if (why && x->fate != LINK_STAYS)
            x->where = why;
    }
    d->out->conditioned += x->fate != LINK_STAYS;
    d->out->refused += x->refused != NULL;
    vec_push(&d->out->link, *x);
}

void
plan_make(const flat_model *f, const causal *c, const local_ratios *l, double limit, arena *a, link_plan *out)
{
    struct planner d = { f, l, a, out };

    *out = (link_plan){ .limit = limit };
    for (uint32_t i = 0; i < f->bond.n; i++) {
        const flat_bond *b = &f->bond.at[i];
        link x = { .bond = i,
                   .element = LINK_NONE,
                   .port = { LINK_NONE, LINK_NONE },
                   .end = { b->from, b->to },
                   .activity = l ? l->greatest.bond_activity[i] : NAN,
                   .ratio = { l ? l->greatest.bond_from[i] : NAN, l ? l->greatest.bond_to[i] : NAN },
                   .strong = { c->bond_from[i] == ST_STRONG, c->bond_to[i] == ST_STRONG } };

        x.name = b->name
                     ? b->name
                     : arena_format(a, "%s -> %s", junction_label(f, b->from, NONE), junction_label(f, b->to, NONE));
        decide(&d, &x, NULL);
    }
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];

        for (uint32_t k = 0; is_two_port(e) && k + 1 < e->nports; k += 2) {
            uint32_t p = e->port0 + k;
            link x = { .bond = LINK_NONE,
                       .element = i,
                       .port = { p, p + 1 },
                       .end = { f->port.at[p].junction, f->port.at[p + 1].junction },
                       .name = e->name,
                       .activity = l ? fmax(l->greatest.port_activity[p], l->greatest.port_activity[p + 1]) : NAN,
                       .ratio = { l ? l->greatest.port[p] : NAN, l ? l->greatest.port[p + 1] : NAN },
                       .strong = { c->port[p] == ST_STRONG, c->port[p + 1] == ST_STRONG } };

            decide(&d, &x,
                   e->nports > 2 ? "it is one pair of a transformer field, whose ratios belong together"
                   : e->keep     ? "the experiment keeps it"
                                 : NULL);
        }
    }
}

void
plan_free(link_plan *p)
{
    vec_free(&p->link);
}

const char *
link_conditioned(const link *x)
{
    static const char
        *const name[] = { [LINK_STAYS] = NULL, [LINK_TO_HEAD] = "to", [LINK_TO_TAIL] = "from", [LINK_GOES] = "both" };

    return name[x->fate];
}
