/* bounds.c - see bounds.h */
#include "bounds.h"

#include <math.h>
#include <string.h>

#include "course.h"

#define STRAY 0.05        /* of a term's range: from a straight line, within a step */
#define RANGE_WORK 200000 /* operations spent on a range: the run is looked at in so many parts */
#define RANGE_PARTS 256
#define PEAK_HALVINGS 60

/* Behind ex_op: what stands at leaves. */
enum { OP_TIME = EX_NOPS, OP_GIVEN, OP_MODE, OP_STATE, OP_UNKNOWN };

struct op {
    uint8_t op, kind; /* kind: of a mode */
    uint32_t a, b, c; /* operands; a: the variable, or the mode's place */
    double value;     /* of a constant */
    const ex_table *table;
};

struct term {
    uint32_t op, clock;
    double range, peak, width;
};

struct bounds {
    equations *e;
    const uint32_t *position;
    const double *value;
    VEC(struct op) op;
    VEC(struct term) term;
    size_t driving_ops, driving_terms; /* those of clocks that rates read come first */
    course *at;                        /* [op.n] */
    uint32_t *of_var;                  /* 1 + op, by variable; 0: none yet */
    VEC(uint32_t) place;               /* ops of the tape at hand */
    map place_of;
    double start, stop;
    bool of_states;        /* states and unknowns are no parameters */
    VEC(uint32_t) moving;  /* ops of states */
    const interval *state; /* [moving.n] where they are; NULL: anywhere */
    interval *range;       /* [moving.n] scratch */
};

static course
mode_course(const struct op *o, const double *modes)
{
    if (modes)
        return course_still(modes[o->a]);
    switch (o->kind) {
    case MODE_FLOOR:
    case MODE_GIVEN: return (course){ interval_everything, interval_zero, interval_zero };
    case MODE_PIECE: return (course){ { 0, (double)(o->table ? o->table->n : 0) }, interval_zero, interval_zero };
    case MODE_SIGN: return (course){ { -1, 1 }, interval_zero, interval_zero };
    default: return (course){ { 0, 1 }, interval_zero, interval_zero };
    }
}

/* All of the first n operations over from..to. modes NULL: whatever they may be. */
static void
evaluate(bounds *b, const double *modes, double from, double to, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const struct op *o = &b->op.at[k];
        course *at = b->at, *out = &at[k];

        switch (o->op) {
        case OP_TIME: *out = (course){ { from, to }, interval_point(1), interval_zero }; break;
        case OP_GIVEN: *out = course_still(b->value[o->a]); break;
        case OP_MODE: *out = mode_course(o, modes); break;
        case OP_STATE:
            *out = (course){ b->state ? b->state[o->b] : interval_everything, interval_zero, interval_zero };
            break;
        case OP_UNKNOWN: *out = (course){ interval_everything, interval_zero, interval_zero }; break;
        case EX_CONST: *out = course_still(o->value); break;
        case EX_SELECT: {
            const course *c = &at[o->a], *yes = &at[o->b], *no = &at[o->c];
            if (c->v.lo > 0 || c->v.hi < 0)
                *out = *yes;
            else if (interval_is_point(c->v))
                *out = *no;
            else
                *out = (course){ interval_join(yes->v, no->v), interval_join(yes->d, no->d),
                                 interval_join(yes->s, no->s) };
            break;
        }
        case EX_TABLE:
        case EX_TABLE_SLOPE:
            *out = course_table(o->table, o->op == EX_TABLE_SLOPE, &at[o->a], o->b == UINT32_MAX ? NULL : &at[o->b]);
            break;
        default:
            *out = ex_ops[o->op].arity == 1 ? course_unary(o->op, &at[o->a])
                                            : course_binary(o->op, &at[o->a], &at[o->b]);
        }
        if (isnan(out->v.lo) || isnan(out->v.hi))
            out->v = interval_everything;
        if (isnan(out->d.lo) || isnan(out->d.hi))
            out->d = interval_everything;
        if (isnan(out->s.lo) || isnan(out->s.hi))
            out->s = interval_everything;
    }
}

/* ---- making ---- */

/* Operations of an expression whose variables have theirs; the last one's number. */
static uint32_t
add_expression(bounds *b, inst i)
{
    flat_model *f = b->e->f;
    const var_id *slot = inst_slots(f, i);
    size_t n;
    const node *tape = ex_tape(f->pool, i.root, &n);

    b->place.n = 0;
    map_free(&b->place_of);
    for (size_t k = 0; k < n; k++) {
        const ex_node *x = pool_node(f->pool, tape[k]);
        const node child[3] = { x->a, x->b, x->c };
        uint32_t operand[3] = { UINT32_MAX, UINT32_MAX, UINT32_MAX }, place;

        if (x->op == EX_SLOT) {
            place = b->of_var[slot[x->a]] - 1;
        } else {
            for (int c = 0; c < 3 && x->op != EX_CONST; c++)
                if (child[c] != NODE_NONE)
                    operand[c] = b->place.at[map_get(&b->place_of, child[c])];
            place = (uint32_t)b->op.n;
            vec_push(&b->op,
                     ((struct op){ .op = x->op,
                                   .a = operand[0],
                                   .b = operand[1],
                                   .c = operand[2],
                                   .value = x->value,
                                   .table = x->op == EX_TABLE || x->op == EX_TABLE_SLOPE ? pool_table(f->pool, x->table)
                                                                                         : NULL }));
        }
        map_set(&b->place_of, tape[k], (uint32_t)k);
        vec_push(&b->place, place);
    }
    return b->place.at[n - 1];
}

/* Operations of v and of what it needs: a walk with a list, since definitions may be long chains. */
static void
add_variable(bounds *b, var_id v)
{
    equations *e = b->e;
    VEC(var_id) todo = { 0 };

    vec_push(&todo, v);
    while (todo.n) {
        var_id at = todo.at[todo.n - 1];
        const flat_var *x = &e->f->var.at[at];
        const eq_var *q = &e->var.at[at];
        bool ready = true;
        struct op o = { .a = at };

        if (b->of_var[at]) {
            todo.n--;
            continue;
        }
        for (uint32_t k = 0; k < q->def.n && q->kind == DEF_EXPLICIT; k++) {
            var_id needed = inst_slots(e->f, q->def)[k];
            if (!b->of_var[needed]) {
                vec_push(&todo, needed);
                ready = false;
            }
        }
        if (!ready)
            continue;
        todo.n--;
        if (q->kind == DEF_EXPLICIT) {
            b->of_var[at] = 1 + add_expression(b, q->def);
            continue;
        }
        o.op = at == 0 ? OP_TIME : OP_GIVEN;
        if (x->kind == VAR_MODE) {
            const eq_mode *m = &e->mode.at[x->owner];
            o.op = OP_MODE;
            o.a = b->position[at];
            o.kind = m->kind;
            o.table = m->kind == MODE_PIECE ? pool_table(e->f->pool, m->table) : NULL;
        } else if (b->of_states && q->kind == DEF_STATE) {
            o = (struct op){ .op = OP_STATE, .a = b->position[at], .b = (uint32_t)b->moving.n };
            vec_push(&b->moving, (uint32_t)b->op.n);
        } else if (b->of_states && at != 0 && q->kind != DEF_GIVEN && q->kind != DEF_NONE) {
            o.op = OP_UNKNOWN;
        }
        vec_push(&b->op, o);
        b->of_var[at] = (uint32_t)b->op.n;
    }
    vec_free(&todo);
}

/* The terms that operation k is a sum of. */
static void
add_terms(bounds *b, uint32_t k, uint32_t clock)
{
    VEC(uint32_t) todo = { 0 };

    vec_push(&todo, k);
    while (todo.n) {
        uint32_t at = todo.at[--todo.n];
        const struct op *o = &b->op.at[at];

        if (o->op == EX_ADD || o->op == EX_SUB) {
            vec_push(&todo, o->a);
            vec_push(&todo, o->b);
        } else if (o->op == EX_NEG) {
            vec_push(&todo, o->a);
        } else if (o->op != OP_TIME && o->op != OP_GIVEN && o->op != OP_MODE && o->op != EX_CONST) {
            vec_push(&b->term, ((struct term){ .op = at, .clock = clock }));
        }
    }
    vec_free(&todo);
}

bounds *
bounds_new(equations *e, const clock_list *clocks, const uint32_t *position, const double *value)
{
    bounds *b = bg_calloc(1, sizeof *b);

    b->e = e;
    b->position = position;
    b->value = value;
    b->of_var = bg_calloc(e->var.n + 1, sizeof *b->of_var);
    for (int driving = 1; driving >= 0; driving--) {
        for (uint32_t k = 0; k < clocks->n; k++) {
            inst def = clocks->at[k].def;

            if (clocks->at[k].driving != driving)
                continue;
            for (uint32_t i = 0; i < def.n; i++)
                add_variable(b, inst_slots(e->f, def)[i]);
            add_terms(b, add_expression(b, def), k);
        }
        if (driving) {
            b->driving_ops = b->op.n;
            b->driving_terms = b->term.n;
        }
    }
    b->at = bg_calloc(b->op.n + 1, sizeof *b->at);
    free(b->of_var);
    b->of_var = NULL;
    vec_free(&b->place);
    map_free(&b->place_of);
    return b;
}

void
bounds_free(bounds *b)
{
    if (!b)
        return;
    vec_free(&b->op);
    vec_free(&b->term);
    vec_free(&b->moving);
    free(b->range);
    free(b->at);
    free(b);
}

/* ---- ranges, peaks, steps ---- */

static double
magnitude(interval x)
{
    return fmax(fabs(x.lo), fabs(x.hi));
}

void
bounds_over(bounds *b, double start, double stop)
{
    size_t parts = RANGE_WORK / (b->op.n + 1);
    interval *range = bg_calloc(b->term.n + 1, sizeof *range);
    double *most = bg_calloc(b->term.n + 1, sizeof *most);

    parts = parts < 8 ? 8 : parts > RANGE_PARTS ? RANGE_PARTS : parts;
    b->start = start;
    b->stop = stop;
    for (size_t p = 0; p < parts; p++) {
        double from = start + (stop - start) * (double)p / (double)parts,
               to = start + (stop - start) * (double)(p + 1) / (double)parts;

        evaluate(b, NULL, from, to, b->op.n);
        for (size_t k = 0; k < b->term.n; k++) {
            const course *c = &b->at[b->term.at[k].op];

            range[k] = p ? interval_join(range[k], c->v) : c->v;
            if (p == 0 || magnitude(c->v) > most[k]) {
                most[k] = magnitude(c->v);
                b->term.at[k].peak = from;
                b->term.at[k].width = to - from;
            }
        }
    }
    for (size_t k = 0; k < b->term.n; k++)
        b->term.at[k].range = range[k].hi - range[k].lo;
    free(range);
    free(most);
}

/* Longest step of a term over an interval where its course is c. */
static double
step_of(const struct term *t, const course *c)
{
    double slope = magnitude(c->d), bend = magnitude(c->s), stray = STRAY * t->range;

    if (bend == 0 || slope == 0)
        return INFINITY;
    if (!isfinite(bend) || !isfinite(stray))
        return isfinite(stray) && isfinite(slope) ? stray / slope : 0;
    return fmax(sqrt(8 * stray / bend), stray / slope);
}

double
bounds_step(bounds *b, const double *modes, double from, double to, bool all, size_t *clock)
{
    double least = INFINITY;
    size_t n = all ? b->term.n : b->driving_terms;

    *clock = SIZE_MAX;
    if (n == 0)
        return least;
    evaluate(b, modes, from, to, all ? b->op.n : b->driving_ops);
    for (size_t k = 0; k < n; k++) {
        double step = step_of(&b->term.at[k], &b->at[b->term.at[k].op]);

        if (step < least) {
            least = step;
            *clock = b->term.at[k].clock;
        }
    }
    return least;
}

size_t
bounds_peaks(bounds *b, double *time, double *width, size_t most)
{
    size_t n = b->driving_terms < most ? b->driving_terms : most;

    for (size_t k = 0; k < n; k++) {
        const struct term *t = &b->term.at[k];
        double from = t->peak, to = t->peak + t->width;

        for (int i = 0; i < PEAK_HALVINGS; i++) {
            double middle = from + (to - from) / 2, left;

            evaluate(b, NULL, from, to, b->driving_ops);
            if (step_of(t, &b->at[t->op]) >= to - from)
                break;
            evaluate(b, NULL, from, middle, b->driving_ops);
            left = magnitude(b->at[t->op].v);
            evaluate(b, NULL, middle, to, b->driving_ops);
            if (left >= magnitude(b->at[t->op].v))
                to = middle;
            else
                from = middle;
        }
        time[k] = from + (to - from) / 2;
        width[k] = to - from;
    }
    return n;
}

/* ---- of states ---- */

#define BEND_PARTS 8     /* what moves far within such a part of a step, the step's method may not see */
#define BEND_FAR 0.5     /* of all it can do */
#define SOMEWHERE 1.2345 /* a value of a state, to see what else is not known */

static double
width(interval x)
{
    return x.hi - x.lo;
}

bounds *
bounds_of_bends(equations *e, const bend_list *bends, const uint32_t *position, const double *value,
                const double *modes, double start, double stop)
{
    bounds *b = bg_calloc(1, sizeof *b);
    size_t kept = 0;

    *b = (bounds){ .e = e, .position = position, .value = value, .of_states = true, .start = start, .stop = stop };
    b->of_var = bg_calloc(e->var.n + 1, sizeof *b->of_var);
    for (uint32_t k = 0; k < bends->n; k++) {
        inst def = bends->at[k].def;
        uint32_t op;

        for (uint32_t i = 0; i < def.n; i++)
            add_variable(b, inst_slots(e->f, def)[i]);
        op = add_expression(b, def);
        if (bends->at[k].reciprocal) {
            vec_push(&b->op, ((struct op){ .op = EX_CONST, .value = 1 }));
            vec_push(&b->op, ((struct op){ .op = EX_DIV, .a = (uint32_t)b->op.n - 1, .b = op }));
            op = (uint32_t)b->op.n - 1;
        }
        vec_push(&b->term, ((struct term){ .op = op }));
    }
    free(b->of_var);
    b->of_var = NULL;
    vec_free(&b->place);
    map_free(&b->place_of);
    b->at = bg_calloc(b->op.n + 1, sizeof *b->at);
    b->range = bg_calloc(b->moving.n + 1, sizeof *b->range);

    evaluate(b, NULL, start, stop, b->op.n);
    for (size_t k = 0; k < b->term.n; k++)
        b->term.at[k].range = width(b->at[b->term.at[k].op].v);
    for (size_t i = 0; i < b->moving.n; i++)
        b->range[i] = interval_point(SOMEWHERE);
    b->state = b->range;
    evaluate(b, modes, start, start, b->op.n);
    for (size_t k = 0; k < b->term.n; k++)
        if (isfinite(b->term.at[k].range) && b->term.at[k].range > 0 && width(b->at[b->term.at[k].op].v) == 0)
            b->term.at[kept++] = b->term.at[k];
    b->term.n = kept;
    if (kept > 0)
        return b;
    bounds_free(b);
    return NULL;
}

/* Ranges of the states over the part u..v of a step, of the cubic through its ends: between the points that control it.
 */
static void
states_over(bounds *b, double h, double u, double v, const double *const x[2], const double *const f[2])
{
    for (size_t i = 0; i < b->moving.n; i++) {
        uint32_t s = b->op.at[b->moving.at[i]].a;
        double change = x[1][s] - x[0][s], a = h * f[0][s], c = h * (f[0][s] + f[1][s]) - 2 * change,
               q = change - a - c; /* x0 + a w + q w^2 + c w^3 */
        double at_u = x[0][s] + u * (a + u * (q + u * c)), at_v = x[0][s] + v * (a + v * (q + v * c));
        double from_u = at_u + (v - u) / 3 * (a + u * (2 * q + 3 * u * c)),
               from_v = at_v - (v - u) / 3 * (a + v * (2 * q + 3 * v * c));

        b->range[i] = interval_join(interval_join(interval_point(at_u), interval_point(at_v)),
                                    interval_join(interval_point(from_u), interval_point(from_v)));
    }
}

static bool
moves_far(bounds *b, const double *modes, const double t[2], double u, double v, const double *const x[2],
          const double *const f[2])
{
    double h = t[1] - t[0];

    states_over(b, h, u, v, x, f);
    evaluate(b, modes, t[0] + u * h, t[0] + v * h, b->op.n);
    for (size_t k = 0; k < b->term.n; k++)
        if (!(width(b->at[b->term.at[k].op].v) <= BEND_FAR * b->term.at[k].range))
            return true;
    return false;
}

double
bounds_clear(bounds *b, const double *modes, const double t[2], const double *const x[2], const double *const f[2])
{
    if (!moves_far(b, modes, t, 0, 1, x, f))
        return 1;
    for (int k = 0; k < BEND_PARTS; k++)
        if (moves_far(b, modes, t, (double)k / BEND_PARTS, (double)(k + 1) / BEND_PARTS, x, f))
            return (double)(k > 0 ? k : 1) / BEND_PARTS;
    return 1;
}
