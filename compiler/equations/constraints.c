/* constraints.c - see constraints.h */
#include <stdlib.h>
#include <string.h>
#include "constraints.h"
#include "walks.h"

enum { MAX_DIFFERENTIATIONS = 3 };

/* A step of the search for an unknown: a source, the previous step, and the unknown that led here. */
struct step {
    uint32_t source, up, unknown;
};

struct matcher {
    struct constraints *k;
    struct rates *r;
    map source_of; /* unknown -> source */
    group_walk reads;
    VEC(uint32_t) * reached; /* by source: unknowns on which its residual depends; empty until needed */
    bool *known;             /* by source: `reached` is complete */
    uint32_t *owner;         /* by unknown: the source whose residual determines it */
    uint32_t *seen;          /* by source: last augmentation that visited it */
};

void
constraints_add(struct constraints *k, struct groups *g, var_id unknown, inst residual, uint32_t port)
{
    uint32_t group = group_new(g);

    group_add(g, group, unknown, residual);
    vec_push(&k->source, ((struct residual_source){ unknown, group, port, VAR_NONE }));
}

void
constraints_free(struct constraints *k)
{
    vec_free(&k->source);
}

/* Walks everything on which an expression depends. Calls visit for each source whose unknown is found, until it returns
 * true. */
static bool
walk(struct matcher *m, inst from, bool (*visit)(struct matcher *m, uint32_t s, uint32_t found), uint32_t s)
{
    var_id v;

    group_walk_begin(&m->reads, m->r->e, m->r->g);
    group_walk_read(&m->reads, from);
    while (group_walk_next(&m->reads, &v)) {
        uint32_t source = map_get(&m->source_of, v);

        if (source == MAP_NONE)
            group_walk_enter(&m->reads, v);
        else if (visit(m, s, source))
            return true;
    }
    return false;
}

static inst
residual_of(const struct matcher *m, uint32_t s)
{
    return group_residual(m->r->g, m->k->source.at[s].group, 0);
}

static bool
is_own_unknown(struct matcher *m, uint32_t s, uint32_t found)
{
    (void)m;
    return found == s;
}
static bool
note_reached(struct matcher *m, uint32_t s, uint32_t found)
{
    vec_push(&m->reached[s], found);
    return false;
}

static void
learn(struct matcher *m, uint32_t s)
{
    if (m->known[s])
        return;
    m->reached[s].n = 0;
    walk(m, residual_of(m, s), note_reached, s);
    m->known[s] = true;
}

/* Matches the residual of source `first` to an unknown, reassigning others if necessary (augmenting path by
 * breadth-first search, without recursion). */
static bool
augment(struct matcher *m, uint32_t first, uint32_t mark)
{
    VEC(struct step) queue = { 0 };
    bool done = false;

    vec_push(&queue, ((struct step){ first, NONE, NONE }));
    m->seen[first] = mark;
    for (size_t i = 0; i < queue.n && !done; i++) {
        uint32_t s = queue.at[i].source;

        learn(m, s);
        for (size_t n = 0; n < m->reached[s].n && !done; n++) {
            uint32_t u = m->reached[s].at[n], owner = m->owner[u];

            if (owner == NONE) {
                /* on the way back each source takes the unknown that led to the next one */
                for (uint32_t at = (uint32_t)i; at != NONE; at = queue.at[at].up) {
                    m->owner[u] = queue.at[at].source;
                    u = queue.at[at].unknown;
                }
                done = true;
            } else if (m->seen[owner] != mark) {
                m->seen[owner] = mark;
                vec_push(&queue, ((struct step){ owner, (uint32_t)i, u }));
            }
        }
    }
    vec_free(&queue);
    return done;
}

static const flat_element *
source_element(const struct matcher *m, uint32_t s)
{
    const flat_model *f = m->r->e->f;

    return &f->element.at[f->port.at[m->k->source.at[s].port].element];
}

/* Replaces the residual by its time derivative; at first the residual becomes a variable. */
static void
raise_residual(struct matcher *m, uint32_t s)
{
    struct rates *r = m->r;
    equations *e = r->e;
    flat_model *f = e->f;
    struct residual_source *x = &m->k->source.at[s];
    uint32_t rates;
    var_id d;

    if (x->condition == VAR_NONE) {
        char *name = bg_format("condition of %s", source_element(m, s)->name);

        x->condition = eq_new_var(e, VAR_AUX, NONE, names_intern_z(f->names, name), element_at(source_element(m, s)),
                                  f->var.at[x->unknown].position);
        eq_define(e, x->condition, group_residual(r->g, x->group, 0));
        free(name);
    }
    vec_push(&e->constraint, x->condition);
    d = rate_of(r, x->condition);
    define_rates(r);
    x->condition = d;
    group_set_residual(r->g, x->group, 0, d == VAR_NONE ? inst_const(f, 0) : inst_var(f, d));
    /* its own rate, if it is needed, follows from the new residual */
    rates = map_get(&r->group_of, x->group);
    if (rates != MAP_NONE) {
        inst residual = differentiate(r, group_residual(r->g, x->group, 0));

        group_set_residual(r->g, rates, 0, residual);
        define_rates(r);
    }
    memset(m->known, 0, m->k->source.n * sizeof *m->known);
}

static void
report_free(struct matcher *m, uint32_t s)
{
    equations *e = m->r->e;
    const flat_element *el = source_element(m, s);
    bool effort = el->type == EL_SE;
    const struct residual_source *x = &m->k->source.at[s];

    learn(m, s);
    if (m->reached[s].n) {
        const flat_element *other = source_element(m, m->reached[s].at[0]);

        diag_error(e->f->sources, "residual-twice", element_at(el),
                   "the condition of %s:%s determines \"%s\", which has a condition of its own already",
                   element_type_name(el->type), el->name, other->name);
        diag_note(e->f->sources, element_at(other), "\"%s\" is here", other->name);
    } else {
        diag_error(e->f->sources, "residual-free", element_at(el), "the %s of %s:%s does not influence its condition",
                   effort ? "effort" : "flow", element_type_name(el->type), el->name);
        diag_note(e->f->sources, port_law(e->f, x->port)->at, "the condition is here");
    }
    diag_help(
        e->f->sources,
        "A condition must depend on the source it belongs to, directly or through at most %d derivatives in time.",
        MAX_DIFFERENTIATIONS);
}

/* Finds an unknown for the residual of source s, differentiating it if necessary. */
static bool
settle_source(struct matcher *m, uint32_t s)
{
    size_t kept = m->r->e->constraint.n;
    uint32_t mark = s + 1;

    for (int times = 0;; times++) {
        if (augment(m, s, mark))
            return true;
        /* differentiated only as long as the residual depends on states alone: otherwise other sources hold the
         * unknowns that it could determine */
        if (m->reached[s].n || times == MAX_DIFFERENTIATIONS)
            break;
        raise_residual(m, s);
        if (!m->r->ok)
            return false;
        memset(m->seen, 0, m->k->source.n * sizeof *m->seen);
    }
    m->r->e->constraint.n = kept;
    report_free(m, s);
    return false;
}

bool
constraints_make(struct constraints *k, struct rates *r)
{
    struct matcher m = { .k = k, .r = r };
    size_t n = k->source.n;
    bool *found, ok = true;

    if (!n)
        return true;
    found = bg_calloc(n, sizeof *found);
    m.reached = bg_calloc(n, sizeof *m.reached);
    m.known = bg_calloc(n, sizeof *m.known);
    m.owner = bg_malloc(n * sizeof *m.owner);
    m.seen = bg_calloc(n, sizeof *m.seen);
    for (uint32_t s = 0; s < n; s++) {
        map_set(&m.source_of, k->source.at[s].unknown, s);
        m.owner[s] = NONE;
    }
    /* nearly all read their own unknown */
    for (uint32_t s = 0; s < n; s++)
        if (walk(&m, residual_of(&m, s), is_own_unknown, s)) {
            m.owner[s] = s;
            found[s] = true;
        }
    for (uint32_t s = 0; s < n && r->ok; s++)
        ok = (found[s] || settle_source(&m, s)) && ok;
    free(found);
    for (uint32_t s = 0; s < n; s++)
        vec_free(&m.reached[s]);
    free(m.reached);
    free(m.known);
    free(m.owner);
    free(m.seen);
    map_free(&m.source_of);
    group_walk_free(&m.reads);
    return ok;
}
