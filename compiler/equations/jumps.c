/* jumps.c - see jumps.h */
#include <math.h>

#include "jumps.h"
#include "written.h"

#define IS_ZERO 1e-12 /* of its terms: a condition as small as this switches at this time */
/* A difference between both sides of a switching is a jump if it exceeds rounding: this part of the values on the two
 * sides, plus this part of the greatest number that they are computed from. */
#define JUMP 1e-9
#define JUMP_OF_TERMS 1e-12

struct check {
    equations *e;
    const double *value; /* of parameters and literals, by variable */
    double start, stop;
    VEC(double) slot;
};

static double
value_of(struct check *c, inst i)
{
    flat_model *f = c->e->f;

    c->slot.n = 0;
    for (uint32_t k = 0; k < i.n; k++)
        vec_push(&c->slot, c->value[f->slot.at[i.first + k]]);
    return ex_eval(f->pool, i.root, c->slot.at);
}

/* The condition to which a slot belongs, or NULL. */
static const eq_mode *
mode_of(const equations *e, var_id v)
{
    return e->f->var.at[v].kind == VAR_MODE ? &e->mode.at[e->f->var.at[v].owner] : NULL;
}

/* Can the expression be evaluated at any time without a run? It reads time, parameters and conditions that switch at
 * one known time; not those that repeat (`count`), nor the piece of a table. */
static bool
is_known_before(const equations *e, inst i)
{
    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = e->f->slot.at[i.first + k];
        enum var_kind kind = e->f->var.at[v].kind;
        const eq_mode *m = mode_of(e, v);

        if (m ? !m->known || m->count != NONE || m->kind == MODE_PIECE || m->kind == MODE_GIVEN
              : kind != VAR_TIME && kind != VAR_PARAM && kind != VAR_LITERAL)
            return false;
    }
    return true;
}

/* The value of a known condition just before (side < 0) or just after time t. Where it is zero, or for a floor() a
 * whole number, it has the side that its slope gives it. */
static double
mode_beside(struct check *c, const eq_mode *m, double t, int side)
{
    double slope = value_of(c, m->slope), offset = value_of(c, m->offset), g = offset + slope * t,
           rounding = IS_ZERO * (fabs(offset) + fabs(slope * t));

    if (m->kind == MODE_FLOOR)
        return fabs(g - round(g)) <= rounding ? round(g) - (side * slope < 0) : floor(g);
    return m->kind == MODE_EQUAL ? 0 : (fabs(g) <= rounding ? side * slope : g) < 0;
}

/* The first time after the start at which a known condition switches; NAN: there is none. */
static double
first_switching(struct check *c, const eq_mode *m)
{
    double slope = value_of(c, m->slope), offset = value_of(c, m->offset), at_start = offset + slope * c->start;

    if (slope == 0)
        return NAN;
    if (m->kind == MODE_FLOOR)
        return ((slope > 0 ? floor(at_start) + 1 : ceil(at_start) - 1) - offset) / slope;
    return -offset / slope;
}

/* The expression just before (side < 0) or just after time t. *scale: the largest number in it. */
static double
value_beside(struct check *c, inst i, double t, int side, double *scale)
{
    flat_model *f = c->e->f;
    double *slot = bg_calloc(i.n + 1, sizeof *slot), x;

    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = f->slot.at[i.first + k];
        const eq_mode *m = mode_of(c->e, v);

        if (m) {
            slot[k] = mode_beside(c, m, t, side);
        } else {
            slot[k] = v == 0 ? t : c->value[v];
            *scale = fmax(*scale, fabs(slot[k]));
        }
    }
    x = ex_eval(f->pool, i.root, slot);
    free(slot);
    return x;
}

/* Checks the times at which the variable's own conditions switch, of a floor() the first one. */
static bool
check_variable(struct check *c, var_id v)
{
    flat_model *f = c->e->f;
    inst def = c->e->var.at[v].def;

    for (uint32_t k = 0; k < def.n; k++) {
        const eq_mode *m = mode_of(c->e, f->slot.at[def.first + k]);
        double t = m ? first_switching(c, m) : NAN, scale = 0, before, behind;

        if (!(t > c->start && t <= c->stop))
            continue;
        before = value_beside(c, def, t, -1, &scale);
        behind = value_beside(c, def, t, 1, &scale);
        if (fabs(behind - before) <= JUMP * fmax(fabs(before), fabs(behind)) + JUMP_OF_TERMS * scale ||
            !isfinite(before) || !isfinite(behind))
            continue;
        diag_error(f->sources, "derivative-jump", var_at(f, v),
                   "\"%s\" jumps from %s to %s at %.6g s, but its derivative is needed, which would be an impulse",
                   var_name(f, v), variable_shown(f, v, before).text, variable_shown(f, v, behind).text, t);
        diag_help(f->sources,
                  "Let it follow the jump with finite speed: a filtered source, a signal that is an integral.");
        diag_help(f->sources, "Write the jump of a stored quantity as `when ... { reinit ... }`.");
        return false;
    }
    return true;
}

/* The first argument at which a spline in the expression jumps: a point that is given twice, with two values. NAN: none
 * does. */
static double
parts_with_jump(const flat_model *f, inst i)
{
    size_t n;
    const node *tape = ex_tape(f->pool, i.root, &n);

    for (size_t k = 0; k < n; k++) {
        const ex_node *e = pool_node(f->pool, tape[k]);
        const ex_table *t = e->op == EX_TABLE ? pool_table(f->pool, e->table) : NULL;

        for (size_t p = 1; t && t->nends && p < t->n; p++)
            if (t->x[p] == t->x[p - 1] && t->y[p] != t->y[p - 1])
                return t->x[p];
    }
    return NAN;
}

static bool
check_splines(const flat_model *f, var_id v, inst def)
{
    double at = parts_with_jump(f, def);

    if (isnan(at))
        return true;
    diag_error(f->sources, "derivative-jump", var_at(f, v),
               "\"%s\" reads a spline that jumps at %.6g, but its derivative is needed, which would be an impulse",
               var_name(f, v), at);
    return false;
}

bool
jumps_check(equations *e, const double *value, const var_id *differentiated, size_t n)
{
    flat_model *f = e->f;
    struct check c = { .e = e, .value = value, .stop = INFINITY };
    bool ok = true;

    if (inst_known(f->experiment.start))
        c.start = value_of(&c, f->experiment.start);
    if (inst_known(f->experiment.stop))
        c.stop = value_of(&c, f->experiment.stop);
    for (size_t i = 0; i < n; i++) {
        inst def = e->var.at[differentiated[i]].def;
        bool switches = false;

        for (uint32_t k = 0; k < def.n && !switches; k++)
            switches = mode_of(e, f->slot.at[def.first + k]) != NULL;
        ok = check_splines(f, differentiated[i], def) && ok;
        if (switches && is_known_before(e, def))
            ok = check_variable(&c, differentiated[i]) && ok;
    }
    vec_free(&c.slot);
    return ok;
}
