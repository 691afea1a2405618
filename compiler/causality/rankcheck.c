/* rankcheck.c - singular solutions of open components, and the relations that follow from them
 *
 * Unknowns are the common variables of open junctions without a resistor (those with one are zero) and the variables of
 * open links; equations are the balances of all open junctions and the equations of links. If the law of a resistor
 * fixes its causality, an open junction may act on it through decided junctions: these then become unknowns too, and
 * the resistor an equation.
 */
#include <string.h>

#include "nullspace.h"
#include "rankcheck.h"

/* What an open junction acts on, as points: the common variable of junction j (2j), or the sum of the known terms of
 * its balance (2j + 1). */
#define COMMON(j) (2 * (j))
#define BALANCE(j) (2 * (j) + 1)

struct check {
    const strokes *s;
    const uint32_t *coef;
    uint32_t *column;          /* [2 njunction] of COMMON and BALANCE */
    uint32_t *waiting, *value; /* [2 njunction] work arrays of reach and weigh; 0 between calls */
    bool *seen;                /* [2 njunction] */
    VEC(uint32_t) reached, ready;
    nullspace *matrix;
    VEC(uint32_t) owner; /* column -> junction; NONE: variable of a link, or a decided point */
};

static enum element_type
type_of(const strokes *s, uint32_t port)
{
    return s->f->element.at[s->f->port.at[port].element].type;
}

static bool
is_one_port(const strokes *s, uint32_t e)
{
    return e < s->nport && s->partner[e] == END_NONE;
}

static bool
is_resistor_element(const strokes *s, uint32_t e)
{
    return is_one_port(s, e) && port_is_resistive(s->f, e);
}

static bool
has_output(const strokes *s, uint32_t e)
{
    enum element_type t;

    if (!is_one_port(s, e) || port_is_resistive(s->f, e))
        return false;
    t = type_of(s, e);
    return t == EL_SE || t == EL_SF || t == EL_C || t == EL_I;
}

static bool
is_open(const strokes *s, uint32_t j)
{
    return s->strong[j] == END_NONE && !s->free_common[j];
}

/* ---- steps from a point to the points that it acts on ---- */

struct step {
    uint32_t to, factor;
};

/* From the known terms of a balance to the output of its strong end. False where the action ends (a one-port, a
 * state). */
static bool
through_balance(const struct check *c, uint32_t j, struct step *out)
{
    const strokes *s = c->s;
    uint32_t e = s->strong[j], other;

    if (e == END_NONE || s->partner[e] == END_NONE)
        return false;
    other = s->partner[e];
    /* coef[e]*z + balance = 0: z is the partner's common variable (cross) or the link's own, which enters the partner's
     * balance */
    out->factor = gf_neg(gf_inv(c->coef[e]));
    if (s->link[e])
        *out = (struct step){ BALANCE(s->junction[other]), gf_mul(out->factor, c->coef[other]) };
    else
        out->to = COMMON(s->junction[other]);
    return true;
}

/* From a common variable through a weak end e of its junction. */
static bool
through_common(const struct check *c, uint32_t e, struct step *out)
{
    const strokes *s = c->s;
    uint32_t other = s->partner[e];

    if (other == END_NONE || s->at[e] != ST_WEAK)
        return false;
    if (s->link[e])
        *out = (struct step){ COMMON(s->junction[other]), gf_neg(gf_mul(c->coef[e], gf_inv(c->coef[other]))) };
    else
        *out = (struct step){ BALANCE(s->junction[other]), c->coef[other] };
    return true;
}

static void
visit_point(struct check *c, uint32_t point)
{
    c->waiting[point]++;
    if (c->seen[point])
        return;
    c->seen[point] = true;
    vec_push(&c->reached, point);
}

/* Lists in `reached` every point that those put there act on, and counts in `waiting` how many act on each. */
static void
list_reached(struct check *c)
{
    const strokes *s = c->s;
    struct step t;

    for (size_t i = 0; i < c->reached.n; i++) {
        uint32_t point = c->reached.at[i], j = point / 2;

        if (point == BALANCE(j)) {
            if (through_balance(c, j, &t))
                visit_point(c, t.to);
            continue;
        }
        for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++)
            if (through_common(c, s->adjacent[k], &t))
                visit_point(c, t.to);
    }
}

static void
forget_relations(struct check *c)
{
    for (size_t i = 0; i < c->reached.n; i++) {
        uint32_t point = c->reached.at[i];

        c->seen[point] = false;
        c->waiting[point] = c->value[point] = 0;
    }
    c->reached.n = c->ready.n = 0;
}

/* ---- the matrix ---- */

static bool
is_link_here(const strokes *s, uint32_t e)
{
    return s->link[e] && s->partner[e] != END_NONE && s->at[e] == ST_OPEN && e < s->partner[e];
}

/* Gives a column to every point that open junctions act on, where a one-way resistor may be among them. */
static void
extend_columns(struct check *c)
{
    const strokes *s = c->s;
    size_t start;

    for (uint32_t j = 0; j < s->njunction; j++)
        if (c->column[COMMON(j)] != NONE) {
            c->seen[COMMON(j)] = true;
            vec_push(&c->reached, COMMON(j));
        }
    start = c->reached.n;
    list_reached(c);
    for (size_t i = start; i < c->reached.n; i++) {
        if (c->column[c->reached.at[i]] != NONE)
            continue;
        c->column[c->reached.at[i]] = (uint32_t)c->owner.n;
        vec_push(&c->owner, NONE);
    }
    forget_relations(c);
}

/* Equations of these points: target = sum of factor * source; a resistor there is zero. Returns the next row. */
static uint32_t
extended_rows(struct check *c, uint32_t row, bool count_only)
{
    const strokes *s = c->s;
    struct step t;
    uint32_t *row_of = bg_malloc(2 * (size_t)s->njunction * sizeof *row_of);

    for (uint32_t point = 0; point < 2 * s->njunction; point++) {
        uint32_t j = point / 2;

        row_of[point] = NONE;
        if (c->column[point] == NONE || (point == COMMON(j) && is_open(s, j)))
            continue;
        row_of[point] = row++;
        if (!count_only)
            nullspace_add(c->matrix, row_of[point], c->column[point], GF_P - 1);
    }
    for (uint32_t j = 0; j < s->njunction; j++) {
        uint32_t column = c->column[BALANCE(j)];

        if (column != NONE) {
            if (!count_only && through_balance(c, j, &t) && row_of[t.to] != NONE)
                nullspace_add(c->matrix, row_of[t.to], column, t.factor);
            if (s->strong[j] != END_NONE && is_resistor_element(s, s->strong[j])) {
                if (!count_only)
                    nullspace_add(c->matrix, row, column, 1);
                row++;
            }
        }
        column = c->column[COMMON(j)];
        if (column == NONE)
            continue;
        for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
            uint32_t e = s->adjacent[k];

            if (!count_only && through_common(c, e, &t) && row_of[t.to] != NONE)
                nullspace_add(c->matrix, row_of[t.to], column, t.factor);
            if (!is_open(s, j) && is_resistor_element(s, e) && s->at[e] == ST_WEAK) {
                if (!count_only)
                    nullspace_add(c->matrix, row, column, 1);
                row++;
            }
        }
    }
    free(row_of);
    return row;
}

/* Columns, then rows, then entries. False: there is nothing to check. */
static bool
build(struct check *c, bool one_way)
{
    const strokes *s = c->s;
    uint32_t *own = bg_malloc(s->nend * sizeof *own), *row_of = bg_malloc(s->njunction * sizeof *row_of);
    uint32_t rows = 0, links = 0, extra;

    for (uint32_t j = 0; j < s->njunction; j++) {
        bool rest = false;

        row_of[j] = NONE;
        if (!is_open(s, j))
            continue;
        row_of[j] = rows++;
        for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
            uint32_t e = s->adjacent[k];

            rest = rest || is_resistor_element(s, e);
            own[e] = NONE;
            if (is_link_here(s, e)) {
                own[e] = (uint32_t)c->owner.n;
                vec_push(&c->owner, NONE);
                links++;
            }
        }
        if (!rest) {
            c->column[COMMON(j)] = (uint32_t)c->owner.n;
            vec_push(&c->owner, j);
        }
    }
    if (!c->owner.n) {
        free(own);
        free(row_of);
        return false;
    }
    if (one_way)
        extend_columns(c);
    extra = one_way ? extended_rows(c, 0, true) : 0;
    c->matrix = nullspace_new(rows + links + extra, (uint32_t)c->owner.n);
    for (uint32_t j = 0; j < s->njunction; j++) {
        if (row_of[j] == NONE)
            continue;
        for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
            uint32_t e = s->adjacent[k], other = s->partner[e], ends[2] = { e, other };

            if (s->at[e] != ST_OPEN || other == END_NONE)
                continue;
            if (!s->link[e]) {
                if (c->column[COMMON(s->junction[other])] != NONE)
                    nullspace_add(c->matrix, row_of[j], c->column[COMMON(s->junction[other])], c->coef[e]);
                continue;
            }
            if (!is_link_here(s, e))
                continue;
            for (int i = 0; i < 2; i++) {
                uint32_t at = s->junction[ends[i]];

                nullspace_add(c->matrix, row_of[at], own[e], c->coef[ends[i]]);
                if (c->column[COMMON(at)] != NONE)
                    nullspace_add(c->matrix, rows, c->column[COMMON(at)], c->coef[ends[i]]);
            }
            rows++;
        }
    }
    if (one_way)
        extended_rows(c, rows, false);
    free(own);
    free(row_of);
    return true;
}

/* ---- from a solution to its relation ---- */

static void
emit(relations *out, uint32_t of, uint32_t coef)
{
    if (coef)
        vec_push(&out->term, ((relation_term){ of, coef }));
}

static void
hand_on(struct check *c, struct step t, uint32_t value)
{
    c->value[t.to] = gf_add(c->value[t.to], gf_mul(t.factor, value));
    if (--c->waiting[t.to] == 0)
        vec_push(&c->ready, t.to);
}

/* Values of the reached points, in an order in which each is complete before it acts. Decided strokes have no cycle. */
static void
value_reached(struct check *c, relations *out)
{
    const strokes *s = c->s;
    struct step t;

    for (size_t i = 0; i < c->ready.n; i++) {
        uint32_t point = c->ready.at[i], j = point / 2, value = c->value[point];

        if (point == BALANCE(j)) {
            uint32_t e = s->strong[j];

            if (through_balance(c, j, &t))
                hand_on(c, t, value);
            else if (e == END_NONE && s->free_common[j])
                emit(out, s->nport + j, gf_neg(value));
            else if (e != END_NONE && has_output(s, e))
                emit(out, e, gf_neg(value));
            continue;
        }
        for (uint32_t k = s->row[j]; k < s->row[j + 1]; k++) {
            uint32_t e = s->adjacent[k];

            if (through_common(c, e, &t))
                hand_on(c, t, value);
            else if (s->at[e] == ST_WEAK && has_output(s, e))
                emit(out, e, gf_mul(gf_sign(s->sign[e]), value));
        }
    }
}

static void
relate(struct check *c, const struct nullspace_entry *x, size_t n, relations *out)
{
    relation r = { (uint32_t)out->term.n, 0, (uint32_t)out->junction.n, 0 };
    size_t start;

    for (size_t i = 0; i < n; i++) {
        uint32_t j = c->owner.at[x[i].col];

        if (j == NONE)
            continue;
        vec_push(&out->junction, j);
        c->seen[COMMON(j)] = true;
        c->value[COMMON(j)] = x[i].value;
        vec_push(&c->reached, COMMON(j));
    }
    start = c->reached.n;
    for (size_t i = 0; i < start; i++)
        vec_push(&c->ready, c->reached.at[i]);
    list_reached(c);
    value_reached(c, out);
    forget_relations(c);
    r.n = (uint32_t)out->term.n - r.first;
    r.njunction = (uint32_t)out->junction.n - r.junction0;
    vec_push(&out->of, r);
}

void
rankcheck(const strokes *s, const uint32_t *coef, bool one_way, relations *out)
{
    struct check c = { .s = s, .coef = coef };
    size_t points = 2 * (size_t)s->njunction, n;
    const uint32_t *columns;

    out->of.n = out->term.n = out->junction.n = 0;
    c.column = bg_malloc(points * sizeof *c.column);
    c.waiting = bg_calloc(points, sizeof *c.waiting);
    c.value = bg_calloc(points, sizeof *c.value);
    c.seen = bg_calloc(points, sizeof *c.seen);
    memset(c.column, 0xff, points * sizeof *c.column);
    if (build(&c, one_way)) {
        nullspace_eliminate(c.matrix);
        columns = nullspace_free_columns(c.matrix, &n);
        for (size_t i = 0; i < n; i++) {
            size_t entries;
            const struct nullspace_entry *x = nullspace_vector(c.matrix, columns[i], &entries);

            relate(&c, x, entries, out);
        }
    }
    nullspace_free(c.matrix);
    free(c.column);
    free(c.waiting);
    free(c.value);
    free(c.seen);
    vec_free(&c.reached);
    vec_free(&c.ready);
    vec_free(&c.owner);
}

void
relations_free(relations *r)
{
    vec_free(&r->of);
    vec_free(&r->term);
    vec_free(&r->junction);
}
