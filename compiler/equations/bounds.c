/* bounds.c - see bounds.h */
#include "bounds.h"

#include <math.h>
#include <string.h>

#include "mode.h"

#define STRAY 0.05        /* of a term's range: from a straight line, within a step */
#define RANGE_WORK 200000 /* operations spent on a range: the run is looked at in so many parts */
#define RANGE_PARTS 256
#define PEAK_HALVINGS 60

/* Behind ex_op: what stands at leaves. */
enum { OP_TIME = EX_NOPS, OP_GIVEN, OP_MODE, OP_STATE, OP_UNKNOWN };

typedef struct interval {
    double lo, hi;
} interval;
typedef struct course {
    interval v, d, s;
} course; /* value, first and second derivative */

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

/* ---- intervals ---- */

static const interval everything = { -INFINITY, INFINITY }, zero = { 0, 0 };

static double
product(double x, double y)
{
    return x == 0 || y == 0 ? 0 : x * y;
}

static interval
add(interval x, interval y)
{
    return (interval){ x.lo + y.lo, x.hi + y.hi };
}
static interval
negative(interval x)
{
    return (interval){ -x.hi, -x.lo };
}
static interval
sub(interval x, interval y)
{
    return add(x, negative(y));
}
static interval
join(interval x, interval y)
{
    return (interval){ fmin(x.lo, y.lo), fmax(x.hi, y.hi) };
}
static interval
point(double x)
{
    return (interval){ x, x };
}
static bool
is_point(interval x)
{
    return x.lo == x.hi;
}
static bool
is_still(const course *c)
{
    return is_point(c->d) && c->d.lo == 0 && is_point(c->s) && c->s.lo == 0;
}

static interval
mul(interval x, interval y)
{
    double a = product(x.lo, y.lo), b = product(x.lo, y.hi), c = product(x.hi, y.lo), d = product(x.hi, y.hi);

    return (interval){ fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)) };
}

static interval
scaled(double k, interval x)
{
    return mul(point(k), x);
}

static interval
square(interval x)
{
    double a = x.lo * x.lo, b = x.hi * x.hi;

    return (interval){ x.lo <= 0 && x.hi >= 0 ? 0 : fmin(a, b), fmax(a, b) };
}

static interval
reciprocal(interval x)
{
    return x.lo > 0 || x.hi < 0 ? (interval){ 1 / x.hi, 1 / x.lo } : everything;
}

/* Of a function that rises. */
static interval
rising(double (*f)(double), interval x)
{
    interval y = { f(x.lo), f(x.hi) };

    return isnan(y.lo) || isnan(y.hi) ? everything : y;
}

static interval
sine(interval x)
{
    double lo = sin(x.lo), hi = sin(x.hi);
    interval y = { fmin(lo, hi), fmax(lo, hi) };

    if (!(x.hi - x.lo < 2 * M_PI))
        return (interval){ -1, 1 };
    if (M_PI / 2 + 2 * M_PI * ceil((x.lo - M_PI / 2) / (2 * M_PI)) <= x.hi)
        y.hi = 1;
    if (-M_PI / 2 + 2 * M_PI * ceil((x.lo + M_PI / 2) / (2 * M_PI)) <= x.hi)
        y.lo = -1;
    return y;
}

static interval
cosine(interval x)
{
    return sine(add(x, point(M_PI / 2)));
}

/* x^n: of whole n any x, else x from 0 on. */
static interval
power(interval x, double n)
{
    double a = pow(x.lo, n), b = pow(x.hi, n);
    bool even = fmod(n, 2) == 0;

    if (n == 0)
        return point(1);
    if ((n != floor(n) && x.lo < 0) || (n < 0 && x.lo <= 0 && x.hi >= 0) || isnan(a) || isnan(b))
        return everything;
    return (interval){ even && x.lo <= 0 && x.hi >= 0 ? 0 : fmin(a, b), fmax(a, b) };
}

/* g(u) with g and its derivatives over u. */
static course
chain(const course *u, interval g, interval g1, interval g2)
{
    return (course){ g, mul(g1, u->d), add(mul(g2, square(u->d)), mul(g1, u->s)) };
}

static course
multiply(const course *x, const course *y)
{
    return (course){ mul(x->v, y->v), add(mul(x->d, y->v), mul(x->v, y->d)),
                     add(add(mul(x->s, y->v), mul(x->v, y->s)), scaled(2, mul(x->d, y->d))) };
}

static course
inverse(const course *x)
{
    interval r = reciprocal(x->v), r2 = square(r);

    return chain(x, r, negative(r2), scaled(2, mul(r2, r)));
}

static course
unbounded(interval v)
{
    return (course){ v, everything, everything };
}
static course
still(double x)
{
    return (course){ point(x), zero, zero };
}

static course
exponential(const course *u)
{
    interval g = rising(exp, u->v);

    return chain(u, g, g, g);
}

static course
logarithm(const course *u)
{
    interval r = reciprocal(u->v);

    if (!(u->v.lo > 0))
        return unbounded(everything);
    return chain(u, rising(log, u->v), r, negative(square(r)));
}

/* ---- operations ---- */

static course
unary(uint8_t op, const course *u)
{
    interval v = u->v, g, r;

    switch (op) {
    case EX_NEG: return (course){ negative(v), negative(u->d), negative(u->s) };
    case EX_SQRT: return chain(u, power(v, 0.5), scaled(0.5, power(v, -0.5)), scaled(-0.25, power(v, -1.5)));
    case EX_EXP: return exponential(u);
    case EX_LN: return logarithm(u);
    case EX_LOG10: {
        course l = logarithm(u), k = still(1 / M_LN10);
        return multiply(&l, &k);
    }
    case EX_SIN: return chain(u, sine(v), cosine(v), negative(sine(v)));
    case EX_COS: return chain(u, cosine(v), negative(sine(v)), negative(cosine(v)));
    case EX_TAN:
        if (floor(v.lo / M_PI + 0.5) != floor(v.hi / M_PI + 0.5))
            return unbounded(everything);
        g = rising(tan, v);
        r = add(point(1), square(g));
        return chain(u, g, r, scaled(2, mul(g, r)));
    case EX_ASIN:
    case EX_ACOS:
        if (v.lo <= -1 || v.hi >= 1)
            return unbounded((interval){ -M_PI, M_PI });
        r = power(sub(point(1), square(v)), -0.5);
        g = rising(asin, v);
        if (op == EX_ASIN)
            return chain(u, g, r, mul(v, power(r, 3)));
        return chain(u, sub(point(M_PI / 2), g), negative(r), negative(mul(v, power(r, 3))));
    case EX_ATAN:
        r = reciprocal(add(point(1), square(v)));
        return chain(u, rising(atan, v), r, scaled(-2, mul(v, square(r))));
    case EX_SINH: {
        interval c = { v.lo <= 0 && v.hi >= 0 ? 1 : fmin(cosh(v.lo), cosh(v.hi)), fmax(cosh(v.lo), cosh(v.hi)) };
        g = rising(sinh, v);
        return chain(u, g, c, g);
    }
    case EX_COSH: {
        interval c = { v.lo <= 0 && v.hi >= 0 ? 1 : fmin(cosh(v.lo), cosh(v.hi)), fmax(cosh(v.lo), cosh(v.hi)) };
        return chain(u, c, rising(sinh, v), c);
    }
    case EX_TANH:
        g = rising(tanh, v);
        r = sub(point(1), square(g));
        return chain(u, g, r, scaled(-2, mul(g, r)));
    case EX_ASINH:
        r = power(add(point(1), square(v)), -0.5);
        return chain(u, rising(asinh, v), r, negative(mul(v, power(r, 3))));
    case EX_NOT: return is_still(u) && is_point(v) ? still(v.lo == 0) : (course){ { 0, 1 }, zero, zero };
    case EX_FLOOR:
        return is_still(u) && is_point(v) ? still(floor(v.lo)) : unbounded((interval){ floor(v.lo), floor(v.hi) });
    case EX_CEIL:
        return is_still(u) && is_point(v) ? still(ceil(v.lo)) : unbounded((interval){ ceil(v.lo), ceil(v.hi) });
    case EX_ABS: return v.lo >= 0 ? *u : v.hi <= 0 ? unary(EX_NEG, u) : unbounded((interval){ 0, fmax(-v.lo, v.hi) });
    case EX_SIGN: return v.lo > 0 ? still(1) : v.hi < 0 ? still(-1) : unbounded((interval){ -1, 1 });
    default: return unbounded(everything);
    }
}

static course
condition(bool surely, bool never)
{
    return surely ? still(1) : never ? still(0) : (course){ { 0, 1 }, zero, zero };
}

static course
binary(uint8_t op, const course *x, const course *y)
{
    switch (op) {
    case EX_ADD: return (course){ add(x->v, y->v), add(x->d, y->d), add(x->s, y->s) };
    case EX_SUB: return (course){ sub(x->v, y->v), sub(x->d, y->d), sub(x->s, y->s) };
    case EX_MUL: return multiply(x, y);
    case EX_DIV: {
        course r = inverse(y);
        return multiply(x, &r);
    }
    case EX_POW:
        if (is_still(y) && is_point(y->v)) {
            double n = y->v.lo;
            return chain(x, power(x->v, n), scaled(n, power(x->v, n - 1)),
                         n == 1 ? zero : scaled(n * (n - 1), power(x->v, n - 2)));
        } else {
            course l = logarithm(x), m = multiply(&l, y);
            return exponential(&m);
        }
    case EX_ATAN2:
        if (x->v.lo > 0 || x->v.hi < 0 || y->v.lo > 0) {
            course r = inverse(y), q = multiply(x, &r), angle = unary(EX_ATAN, &q);
            if (y->v.lo > 0)
                return angle;
            r = inverse(x), q = multiply(y, &r), angle = unary(EX_ATAN, &q);
            angle = unary(EX_NEG, &angle);
            angle.v = add(angle.v, point(x->v.lo > 0 ? M_PI / 2 : -M_PI / 2));
            return angle;
        }
        return unbounded((interval){ -M_PI, M_PI });
    case EX_LT: return condition(x->v.hi < y->v.lo, x->v.lo >= y->v.hi);
    case EX_LE: return condition(x->v.hi <= y->v.lo, x->v.lo > y->v.hi);
    case EX_EQ:
    case EX_NE: {
        bool apart = x->v.hi < y->v.lo || x->v.lo > y->v.hi,
             same = is_point(x->v) && is_point(y->v) && x->v.lo == y->v.lo;
        return op == EX_EQ ? condition(same, apart) : condition(apart, same);
    }
    case EX_AND:
        return condition(x->v.lo != 0 && y->v.lo != 0,
                         (is_point(x->v) && x->v.lo == 0) || (is_point(y->v) && y->v.lo == 0));
    case EX_OR:
        return condition(x->v.lo > 0 || y->v.lo > 0, is_point(x->v) && x->v.lo == 0 && is_point(y->v) && y->v.lo == 0);
    case EX_MIN:
        return x->v.hi <= y->v.lo   ? *x
               : y->v.hi <= x->v.lo ? *y
                                    : unbounded((interval){ fmin(x->v.lo, y->v.lo), fmin(x->v.hi, y->v.hi) });
    case EX_MAX:
        return x->v.hi <= y->v.lo   ? *y
               : y->v.hi <= x->v.lo ? *x
                                    : unbounded((interval){ fmax(x->v.lo, y->v.lo), fmax(x->v.hi, y->v.hi) });
    default: return unbounded(everything);
    }
}

/* Over the points around x: chords, and what a cubic strays from them and their slopes. inside: it is between its
 * ends. */
static course
smooth_course(const struct op *o, const course *x, bool inside)
{
    const ex_table *t = o->table;
    interval v = { INFINITY, -INFINITY }, slope = v, bend = v;
    course c;

    for (size_t i = 1; i < t->n; i++) {
        double h = t->x[i] - t->x[i - 1], k = (t->y[i] - t->y[i - 1]) / h, most;

        if (!(h > 0) || (t->x[i] < x->v.lo && i + 1 < t->n) || (t->x[i - 1] > x->v.hi && i > 1))
            continue;
        most = t->bend ? fmax(fabs(t->bend[i - 1]), fabs(t->bend[i])) : 0;
        v = join(v, (interval){ fmin(t->y[i - 1], t->y[i]) - most * h * h / 8,
                                fmax(t->y[i - 1], t->y[i]) + most * h * h / 8 });
        slope = join(slope, (interval){ k - most * h / 2, k + most * h / 2 });
        if (t->bend)
            bend = join(bend, (interval){ fmin(t->bend[i - 1], t->bend[i]), fmax(t->bend[i - 1], t->bend[i]) });
    }
    if (!t->bend)
        bend = zero;
    c = o->op == EX_TABLE ? chain(x, v, slope, bend)
        : t->bend         ? (course){ slope, mul(bend, x->d), everything }
                          : unbounded(slope);
    if (inside)
        return c;
    v = o->op == EX_TABLE ? join(point(t->y[0]), point(t->y[t->n - 1])) : zero;
    return (course){ join(c.v, v), join(c.d, zero), join(c.s, zero) };
}

static course
table_course(const struct op *o, const course *x, const course *piece)
{
    const ex_table *t = o->table;
    interval v = everything, slope = { 0, 0 };

    if (t->n == 0)
        return unbounded(everything);
    if (t->nends > 1 && !(piece && is_point(piece->v) && (piece->v.lo < 1 || piece->v.lo >= (double)t->nends)))
        return smooth_course(o, x, piece && is_point(piece->v));
    if (piece && is_point(piece->v)) {
        double k = ex_table_slope(t, piece->v.lo, x->v.lo);
        interval y = { ex_table_at(t, piece->v.lo, x->v.lo), ex_table_at(t, piece->v.lo, x->v.hi) };

        if (o->op == EX_TABLE_SLOPE)
            return still(k);
        return (course){ (interval){ fmin(y.lo, y.hi), fmax(y.lo, y.hi) }, scaled(k, x->d), scaled(k, x->s) };
    }
    v = point(t->y[0]);
    for (size_t i = 1; i < t->n; i++) {
        v = join(v, point(t->y[i]));
        slope = join(slope, point((t->y[i] - t->y[i - 1]) / (t->x[i] - t->x[i - 1])));
    }
    if (o->op == EX_TABLE_SLOPE)
        return (course){ slope, zero, zero };
    return (course){ v, mul(slope, x->d), mul(slope, x->s) };
}

static course
mode_course(const struct op *o, const double *modes)
{
    if (modes)
        return still(modes[o->a]);
    switch (o->kind) {
    case MODE_FLOOR:
    case MODE_GIVEN: return (course){ everything, zero, zero };
    case MODE_PIECE: return (course){ { 0, (double)(o->table ? o->table->n : 0) }, zero, zero };
    case MODE_SIGN: return (course){ { -1, 1 }, zero, zero };
    default: return (course){ { 0, 1 }, zero, zero };
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
        case OP_TIME: *out = (course){ { from, to }, point(1), zero }; break;
        case OP_GIVEN: *out = still(b->value[o->a]); break;
        case OP_MODE: *out = mode_course(o, modes); break;
        case OP_STATE: *out = (course){ b->state ? b->state[o->b] : everything, zero, zero }; break;
        case OP_UNKNOWN: *out = (course){ everything, zero, zero }; break;
        case EX_CONST: *out = still(o->value); break;
        case EX_SELECT: {
            const course *c = &at[o->a], *yes = &at[o->b], *no = &at[o->c];
            if (c->v.lo > 0 || c->v.hi < 0)
                *out = *yes;
            else if (is_point(c->v))
                *out = *no;
            else
                *out = (course){ join(yes->v, no->v), join(yes->d, no->d), join(yes->s, no->s) };
            break;
        }
        case EX_TABLE:
        case EX_TABLE_SLOPE: *out = table_course(o, &at[o->a], o->b == UINT32_MAX ? NULL : &at[o->b]); break;
        default: *out = ex_ops[o->op].arity == 1 ? unary(o->op, &at[o->a]) : binary(o->op, &at[o->a], &at[o->b]);
        }
        if (isnan(out->v.lo) || isnan(out->v.hi))
            out->v = everything;
        if (isnan(out->d.lo) || isnan(out->d.hi))
            out->d = everything;
        if (isnan(out->s.lo) || isnan(out->s.hi))
            out->s = everything;
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

            range[k] = p ? join(range[k], c->v) : c->v;
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
        b->range[i] = point(SOMEWHERE);
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

        b->range[i] = join(join(point(at_u), point(at_v)), join(point(from_u), point(from_v)));
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
