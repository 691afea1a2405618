/* carried.c - see carried.h */
#include <math.h>
#include <stdlib.h>

#include "carried.h"
#include "joined.h"

enum { MOST_ROWS = 100, MOST_PIVOTS = 2000 };
#define LEAST_PIVOT 1e-9

struct term {
    uint32_t row, column;
    double by;
};

struct carried {
    const equations *e;
    carried_limits limits;
    uint32_t *same[2]; /* [junction] with equal efforts, and with equal flows (joined.h); NULL: not yet needed */
    uint8_t *known[2]; /* [junction] of efforts and of flows that meet there: 1 no, 2 yes; 0: not yet known */
};

/* The balances of what is joined, in flows (or efforts): a column for each flow that they have in common. */
struct balances {
    const equations *e;
    bool flow;
    uint32_t *same; /* junctions with equal flows: those of `carried` */
    map column_of;  /* 2*junction for a common flow, 2*port + 1, 2*(ports + bond) + 1 -> column */
    VEC(uint8_t) way;
    VEC(bool) imposed; /* by a state */
    VEC(struct term) term;
    uint32_t nrows;
    bool beside;                /* efforts are imposed among them */
    bool other;                 /* there are parts that this does not treat: gyrators, fields, ideal switches */
    map met;                    /* junctions */
    VEC(uint32_t) todo, passed; /* junctions: not yet looked at; through which one gets to others */
};

/* A junction that adds the flows up. */
static bool
balances_here(const struct balances *b, uint32_t junction)
{
    return (b->e->f->junction.at[junction].type == 0) == b->flow;
}

static uint32_t
column_for(struct balances *b, uint32_t key)
{
    uint32_t c = map_get(&b->column_of, key);

    if (c == MAP_NONE) {
        c = (uint32_t)b->way.n;
        map_set(&b->column_of, key, c);
        vec_push(&b->way, CARRIED_UP | CARRIED_DOWN);
        vec_push(&b->imposed, false);
    }
    return c;
}

static uint32_t
column_of_port(struct balances *b, uint32_t port)
{
    uint32_t j = b->e->f->port.at[port].junction;

    return column_for(b, balances_here(b, j) ? 2 * port + 1 : 2 * joined_first(b->same, j));
}

static void
enter(struct balances *b, uint32_t junction)
{
    if (map_get(&b->met, junction) != MAP_NONE)
        return;
    map_set(&b->met, junction, 1);
    vec_push(&b->todo, junction);
}

/* A source that gives what a condition requires: an ideal switch, for instance. */
static bool
has_conditional_port(const flat_model *f, uint32_t port)
{
    const flat_element *el = &f->element.at[f->port.at[port].element];

    return is_source(el) && el->nlaws && port_law(f, port)->kind == LAW_RESIDUAL;
}

/* Does a state or a source give the flow through a port? */
static bool
gives_flow(const struct balances *b, uint32_t port)
{
    const flat_model *f = b->e->f;
    const flat_element *el = &f->element.at[f->port.at[port].element];
    var_id stored = f->port.at[port].stored;

    if (is_source(el))
        return (el->type == EL_SF) == b->flow && !has_conditional_port(f, port);
    return el->nports == 1 && stored != VAR_NONE && b->e->var.at[stored].kind == DEF_STATE &&
           port_has_momentum(f, port) == b->flow;
}

/* Notes what an element does at its port. */
static void
meet_port(struct balances *b, uint32_t port, carried_limits limits)
{
    const flat_model *f = b->e->f;
    uint32_t element = f->port.at[port].element, c = column_of_port(b, port);
    const flat_element *el = &f->element.at[element];
    var_id stored = f->port.at[port].stored;

    if (gives_flow(b, port)) {
        b->imposed.at[c] |= !is_source(el);
        b->way.at[c] = 0;
    } else if (has_conditional_port(f, port)) {
        b->other = true;
    } else if (el->type == EL_TF) {
        enter(b, f->port.at[port == el->port0 ? port + 1 : el->port0].junction);
        b->beside = true; /* its ratio is not known here */
    } else if (el->nports != 1) {
        b->other = true;
    } else if (el->type == EL_R) {
        b->way.at[c] &= (uint8_t)limits.ways(limits.ctx, element, b->flow);
    } else {
        b->beside = true;
        b->other |= stored != VAR_NONE && b->e->var.at[stored].kind != DEF_STATE;
    }
}

/* Notes what is at a junction. False: a flow that is given passes it, so that nothing else there matters. */
static bool
meet_ports(struct balances *b, uint32_t junction, carried_limits limits)
{
    const flat_model *f = b->e->f;
    const flat_junction *at = &f->junction.at[junction];
    bool given = false;

    for (uint32_t i = at->inc0; i < at->inc0 + at->ninc && !balances_here(b, junction); i++)
        given |= !f->incidence.at[i].is_bond && gives_flow(b, f->incidence.at[i].index);
    for (uint32_t i = at->inc0; i < at->inc0 + at->ninc; i++)
        if (!f->incidence.at[i].is_bond && (!given || gives_flow(b, f->incidence.at[i].index)))
            meet_port(b, f->incidence.at[i].index, limits);
    return !given;
}

/* The balances that can be reached from a junction without passing one whose flow is given. */
static void
collect(struct balances *b, uint32_t junction, carried_limits limits)
{
    const flat_model *f = b->e->f;

    enter(b, junction);
    while (b->todo.n) {
        uint32_t j = b->todo.at[--b->todo.n], row = balances_here(b, j) ? b->nrows++ : NONE;
        const flat_junction *at = &f->junction.at[j];
        bool through = meet_ports(b, j, limits);

        if (through)
            vec_push(&b->passed, j);
        for (uint32_t i = at->inc0; i < at->inc0 + at->ninc; i++) {
            flat_incidence x = f->incidence.at[i];
            const flat_bond *bond = x.is_bond ? &f->bond.at[x.index] : NULL;
            uint32_t other = !bond ? j : bond->from == j ? bond->to : bond->from, c;

            if (bond && through)
                enter(b, other);
            if (row == NONE)
                continue;
            c = !bond                     ? column_of_port(b, x.index)
                : balances_here(b, other) ? column_for(b, 2 * ((uint32_t)f->port.n + x.index) + 1)
                                          : column_for(b, 2 * joined_first(b->same, other));
            vec_push(&b->term, ((struct term){ row, c, x.sign }));
        }
    }
}

/* One exchange of the tableau, [rows + 1][columns + 1] by rows with the right-hand sides last: Bland's rule, which does
 * not turn in circles. False: there is none, the last row's right-hand side is the least. */
static bool
exchange_column(double *a, uint32_t rows, uint32_t columns, uint32_t *basis)
{
    uint32_t c = 0, pivot = NONE, wide = columns + 1;
    double *last = a + (size_t)rows * wide;

    while (c < columns && !(last[c] > LEAST_PIVOT))
        c++;
    for (uint32_t r = 0; r < rows && c < columns; r++) {
        double by = a[r * wide + c], ratio = a[r * wide + columns] / by;

        if (by > LEAST_PIVOT && (pivot == NONE || ratio < a[pivot * wide + columns] / a[pivot * wide + c] ||
                                 (ratio == a[pivot * wide + columns] / a[pivot * wide + c] && basis[r] < basis[pivot])))
            pivot = r;
    }
    if (pivot == NONE)
        return false;
    basis[pivot] = c;
    for (uint32_t k = 0, by = c; k <= columns; k++)
        if (k != by)
            a[pivot * wide + k] /= a[pivot * wide + by];
    a[pivot * wide + c] = 1;
    for (uint32_t r = 0; r <= rows; r++) {
        double of = r == pivot ? 0 : a[r * wide + c];

        for (uint32_t k = 0; k <= columns && of != 0; k++)
            a[r * wide + k] -= of * a[pivot * wide + k];
    }
    return true;
}

/* Do the balances have a solution where column `given` is `value`, no other is imposed, and all go the ways they may?
 * The first phase of the simplex method: what is left of the balances is made as small as possible. */
static bool
is_possible(const struct balances *b, uint32_t given, double value)
{
    uint32_t columns = 2 * (uint32_t)b->way.n, wide = columns + 1;
    double *a = bg_calloc((size_t)(b->nrows + 1) * wide, sizeof *a), *last = a + (size_t)b->nrows * wide;
    uint32_t *basis = bg_malloc((b->nrows + 1) * sizeof *basis), left = MOST_PIVOTS;
    bool possible;

    for (size_t i = 0; i < b->term.n; i++) {
        struct term t = b->term.at[i];
        double *row = a + (size_t)t.row * wide;

        if (t.column == given)
            row[columns] -= t.by * value;
        else if (!b->imposed.at[t.column])
            for (int down = 0; down < 2; down++)
                row[2 * t.column + down] += b->way.at[t.column] & (down ? CARRIED_DOWN : CARRIED_UP)
                                                ? (down ? -t.by : t.by)
                                                : 0;
    }
    for (uint32_t r = 0; r < b->nrows; r++) {
        double *row = a + (size_t)r * wide, sign = row[columns] < 0 ? -1 : 1;

        basis[r] = columns + r;
        for (uint32_t k = 0; k <= columns; k++) {
            row[k] *= sign;
            last[k] += row[k];
        }
    }
    while (left-- && exchange_column(a, b->nrows, columns, basis))
        continue;
    possible = last[columns] <= LEAST_PIVOT;
    free(basis);
    free(a);
    return possible;
}

static uint32_t *
junctions_alike(const equations *e, bool flow)
{
    const flat_model *f = e->f;
    uint32_t *same = joined_new(f->junction.n);

    for (size_t i = 0; i < f->bond.n; i++)
        if ((f->junction.at[f->bond.at[i].from].type == 0) != flow &&
            (f->junction.at[f->bond.at[i].to].type == 0) != flow)
            joined_join(same, f->bond.at[i].from, f->bond.at[i].to);
    return same;
}

static bool
is_ended_by_state(const struct balances *b)
{
    bool any = false, ends = false;

    for (size_t c = 0; c < b->way.n; c++)
        any |= b->imposed.at[c];
    if (!any || b->other)
        return false;
    for (uint32_t c = 0; c < b->way.n && !b->beside && b->nrows <= MOST_ROWS && !ends; c++)
        if (b->imposed.at[c])
            ends = !is_possible(b, c, 1) || !is_possible(b, c, -1);
    return ends || b->beside;
}

carried *
carried_new(const equations *e, carried_limits limits)
{
    carried *c = bg_calloc(1, sizeof *c);

    *c = (carried){ .e = e, .limits = limits };
    for (int flow = 0; flow < 2; flow++)
        c->known[flow] = bg_calloc(e->f->junction.n + 1, sizeof *c->known[flow]);
    return c;
}

void
carried_free(carried *c)
{
    if (!c)
        return;
    for (int flow = 0; flow < 2; flow++) {
        free(c->same[flow]);
        free(c->known[flow]);
    }
    free(c);
}

bool
carried_may_end(carried *c, uint32_t element, bool flow)
{
    const flat_model *f = c->e->f;
    uint32_t junction = f->port.at[f->element.at[element].port0].junction;
    uint8_t *known = c->known[flow];
    struct balances b = { .e = c->e, .flow = flow };
    uint8_t answer;

    if (known[junction])
        return known[junction] == 2;
    if (!c->same[flow])
        c->same[flow] = junctions_alike(c->e, flow);
    b.same = c->same[flow];
    collect(&b, junction, c->limits);
    answer = is_ended_by_state(&b) ? 2 : 1;
    for (size_t i = 0; i < b.passed.n; i++)
        known[b.passed.at[i]] = answer;
    map_free(&b.column_of);
    map_free(&b.met);
    vec_free(&b.way);
    vec_free(&b.imposed);
    vec_free(&b.term);
    vec_free(&b.todo);
    vec_free(&b.passed);
    return answer == 2;
}
