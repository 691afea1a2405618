/* without.c - parts taken out of components and arrays, with their bonds, and what dangles after that
 *
 * A bond that is gone is no effort at a 1-junction and no flow at a 0-junction. What lost a bond by it and whose
 * absence says the same as what is left of it goes too, as in a reduction (runtime/reduce/rewrite.c): a two-port with
 * one side, an element whose junction went, a junction without bonds, a dead end (a junction with one bond) on a
 * junction that adds up the same, and a junction that a dead end holds at rest and that meets nothing else but
 * junctions which add up its zero. Ports of components stay. An element whose effort or flow is named (`mass.f`)
 * becomes a source of zero, which holds its junction.
 *
 * needs     all names declared (take_out_parts); the bonds as written (clean_up)
 * time      linear in parts and bonds
 */
#include "elab.h"

/* ---------------------------------------------------------------- what is named */

struct taking {
    elab *el;
    const ast_ref *ref;
    span at;
    bool any, new, instances;
    enum quantity rest;
};

static bool
take(void *ctx, uint32_t index, uint32_t entry)
{
    struct taking *t = ctx;
    part *p = &t->el->part.at[index];

    (void)entry;
    if (p->kind == PART_BOND) {
        diag_error(t->el->s, "without-bond", t->at,
                   "\"%s\" is a bond; without takes junctions, elements and components out, with their bonds", p->name);
        return false;
    }
    t->any = true;
    t->new |= !p->gone;
    if (p->gone)
        return true;
    p->gone = true;
    p->gone_at = t->at;
    t->instances |= p->inside != NULL;
    return true;
}

/* The effort or flow of an element: its junction's common variable is zero. */
static bool
take_variable(void *ctx, uint32_t index, uint32_t entry)
{
    struct taking *t = ctx;
    elab *el = t->el;
    part *p = &el->part.at[index];

    (void)entry;
    if (p->kind != PART_ELEMENT || p->field || (p->element != EL_R && p->element != EL_C && p->element != EL_I)) {
        diag_error(el->s, "without-variable", t->at, "only R, C and I with one port can be held at zero; \"%s\" is %s",
                   p->name,
                   p->kind == PART_JUNCTION ? "a junction"
                   : p->kind == PART_BOND   ? "a bond"
                   : p->field               ? "a field"
                   : is_source(p->element)  ? "a source"
                                            : "a two-port");
        if (p->kind == PART_JUNCTION && p->junction == (t->rest == Q_FLOW))
            diag_help(el->s, "Name one of its elements; they share its %s.", t->rest == Q_FLOW ? "flow" : "effort");
        return false;
    }
    if (p->rests && p->rest != t->rest) {
        diag_error(el->s, "without-variable", t->at,
                   "both the effort and the flow of \"%s\" are taken out; without %s takes it out", p->name, p->name);
        diag_note(el->s, p->rest_at, "the other one is here");
        return false;
    }
    t->any = true;
    t->new |= !p->rests;
    p->rests = true;
    p->rest = t->rest;
    p->rest_at = t->at;
    return true;
}

/* What a path asks of the parts it leads to, if it is one name behind them: e or f. */
static bool
variable_asked(const elab *el, const ast_ref *r, const path_end *p, enum quantity *q)
{
    const ast_part *last = &r->part[r->nparts - 1];

    *q = last->name == el->n_e ? Q_EFFORT : Q_FLOW;
    return p->used == r->nparts - 1 && !last->nindex && (last->name == el->n_e || last->name == el->n_f);
}

bool
scope_gone(const elab *el, const scope *s)
{
    while (s->loop)
        s = s->parent;
    return s->outer && el->part.at[s->instance].gone;
}

/* Its variables stay, as numbers that nothing reads. */
static void
take_value(elab *el, value *v)
{
    v->gone = true;
    for (uint32_t k = 0; k < v->count; k++) {
        el->f->var.at[v->var + k].kind = VAR_PARAM;
        el->f->var.at[v->var + k].def = set_inst(el, 0);
    }
}

/* All that stands in an instance that goes. An instance is declared before what is in it, so that one step outward is
 * enough. */
static void
take_insides(elab *el)
{
    size_t whens = 0;

    for (uint32_t k = 0; k < el->part.n; k++) {
        part *p = &el->part.at[k];
        const scope *s = p->in;

        if (p->gone || !scope_gone(el, s))
            continue;
        while (s->loop)
            s = s->parent;
        p->gone = true;
        p->gone_at = el->part.at[s->instance].gone_at;
    }
    for (size_t k = 0; k < el->value.n; k++)
        if (scope_gone(el, el->value.at[k].in))
            take_value(el, &el->value.at[k]);
    for (size_t k = 0; k < el->when.n; k++)
        if (!scope_gone(el, el->when.at[k].in))
            el->when.at[whens++] = el->when.at[k];
    el->when.n = whens;
}

static bool
take_place(void *ctx, const path_end *p)
{
    struct taking *t = ctx;

    if (variable_asked(t->el, t->ref, p, &t->rest))
        return each_item(t->el, p, t->at, false, take_variable, t);
    if (p->used < t->ref->nparts) {
        diag_error(t->el->s, "without-part", t->at,
                   "\"%s\" is no part; without takes junctions, elements and components out", text_of(t->el, t->at));
        return false;
    }
    return each_item(t->el, p, t->at, false, take, t);
}

void
take_out_parts(elab *el)
{
    struct taking t = { .el = el };

    for (size_t k = 0; k < el->without.n; k++) {
        const without_made *w = &el->without.at[k];

        t.ref = w->ref;
        t.at = w->ref->at;
        t.any = t.new = false;
        if (each_place(el, w->in, w->at, w->ref, false, take_place, &t) && t.any && !t.new)
            diag_info(el->s, "without-again", w->ref->at, "\"%s\" was taken out before", text_of(el, w->ref->at));
    }
    if (t.instances)
        take_insides(el);
}

/* ---------------------------------------------------------------- what dangles */

struct cleaning {
    elab *el;
    uint32_t *first, *at; /* links of each part, in compressed rows */
    uint32_t *degree;     /* links still there */
    uint32_t *passed;     /* a junction's links before this do not keep it */
    bool *at_rest,
        *looked; /* a junction: its effort (0) or flow (1) is zero; whether its first dead ends were looked for */
    VEC(uint32_t) open;
};

static void
count_links(struct cleaning *c)
{
    elab *el = c->el;

    c->first = bg_calloc(el->part.n + 2, sizeof *c->first);
    c->degree = bg_calloc(el->part.n, sizeof *c->degree);
    c->at = bg_calloc(2 * el->link.n, sizeof *c->at);
    c->passed = bg_calloc(el->part.n, sizeof *c->passed);
    c->at_rest = bg_calloc(el->part.n, sizeof *c->at_rest);
    c->looked = bg_calloc(el->part.n, sizeof *c->looked);
    for (size_t k = 0; k < el->link.n; k++) {
        const link *l = &el->link.at[k];

        if (l->from != NONE)
            c->first[l->from + 2]++;
        if (l->to != NONE)
            c->first[l->to + 2]++;
    }
    for (size_t k = 2; k < el->part.n + 2; k++)
        c->first[k] += c->first[k - 1];
    for (uint32_t k = 0; k < el->link.n; k++) {
        const link *l = &el->link.at[k];

        if (l->from != NONE)
            c->at[c->first[l->from + 1]++] = k;
        if (l->to != NONE)
            c->at[c->first[l->to + 1]++] = k;
    }
    for (size_t k = 0; k < el->part.n; k++)
        c->degree[k] = c->first[k + 1] - c->first[k];
}

static void
drop_links(struct cleaning *c, uint32_t p)
{
    elab *el = c->el;

    for (uint32_t k = c->first[p]; k < c->first[p + 1]; k++) {
        link *l = &el->link.at[c->at[k]];
        uint32_t other = l->from == p ? l->to : l->from;

        if (l->gone)
            continue;
        l->gone = true;
        c->degree[p]--;
        if (other == NONE)
            continue;
        c->degree[other]--;
        el->part.at[other].thinned = true;
        if (!el->part.at[other].gone)
            vec_push(&c->open, other);
    }
}

static uint32_t
other_end(const link *l, uint32_t p)
{
    return l->from == p ? l->to : l->from;
}

/* The junction that a link of junction `at` leads to, straight or through one two-port; NONE: none. *like: it adds up
 * what this one's bond has zero of. */
static uint32_t
leads_to(const struct cleaning *c, uint32_t at, const link *l, bool *like)
{
    const elab *el = c->el;
    uint32_t p = other_end(l, at);
    bool turned = false;

    if (p != NONE && el->part.at[p].kind == PART_ELEMENT && is_two_port(el->part.at[p].element) &&
        !el->part.at[p].field && c->first[p + 1] - c->first[p] == 2) {
        const link *a = &el->link.at[c->at[c->first[p]]];

        turned = el->part.at[p].element == EL_GY;
        p = other_end(a == l ? &el->link.at[c->at[c->first[p] + 1]] : a, p);
    }
    if (p == NONE || el->part.at[p].kind != PART_JUNCTION)
        return NONE;
    *like = (el->part.at[p].junction == el->part.at[at].junction) != turned;
    return p;
}

static bool
may_go(const part *p)
{
    return p->kind == PART_JUNCTION && !p->port;
}

/* Is junction `at` at rest, and nothing around it needs to be told? Each link is looked at once: what keeps a junction
 * keeps it until it goes. */
static bool
rests_alone(struct cleaning *c, uint32_t at)
{
    const elab *el = c->el;
    uint32_t n = c->first[at + 1] - c->first[at], p;
    bool like;

    for (uint32_t k = 0; k < n && !c->looked[at]; k++) {
        const link *l = &el->link.at[c->at[c->first[at] + k]];

        p = l->gone ? NONE : leads_to(c, at, l, &like);
        if (p != NONE && !like && !el->part.at[p].gone && c->degree[p] == 1 && may_go(&el->part.at[p]))
            c->at_rest[at] = true;
    }
    c->looked[at] = true;
    for (; c->at_rest[at] && c->passed[at] < n; c->passed[at]++) {
        const link *l = &el->link.at[c->at[c->first[at] + c->passed[at]]];

        if (!l->gone && (leads_to(c, at, l, &like) == NONE || like))
            return false;
    }
    return c->at_rest[at];
}

static bool
dangles(struct cleaning *c, uint32_t at)
{
    const elab *el = c->el;
    const part *p = &el->part.at[at];
    bool like;

    if (p->kind == PART_ELEMENT)
        return c->degree[at] < (is_two_port(p->element) && !p->field ? 2 : 1);
    if (!may_go(p))
        return false;
    for (uint32_t k = c->first[at]; k < c->first[at + 1] && c->degree[at] == 1; k++) {
        const link *l = &el->link.at[c->at[k]];
        uint32_t far = l->gone ? NONE : leads_to(c, at, l, &like);

        if (far == NONE)
            continue;
        if (like)
            return true;
        if (!c->at_rest[far] && may_go(&el->part.at[far])) {
            c->at_rest[far] = true;
            vec_push(&c->open, far);
        }
    }
    return !c->degree[at] || rests_alone(c, at);
}

void
clean_up(elab *el)
{
    struct cleaning c = { .el = el };

    if (!el->without.n)
        return;
    count_links(&c);
    for (uint32_t p = 0; p < el->part.n; p++)
        if (el->part.at[p].gone)
            drop_links(&c, p);
    while (c.open.n) {
        uint32_t p = c.open.at[--c.open.n];

        if (el->part.at[p].gone || !dangles(&c, p))
            continue;
        el->part.at[p].gone = true;
        el->part.at[p].gone_at = el->without.at[0].ref->at;
        drop_links(&c, p);
    }
    free(c.first);
    free(c.at);
    free(c.degree);
    free(c.passed);
    free(c.at_rest);
    free(c.looked);
    vec_free(&c.open);
}
