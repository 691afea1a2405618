/* initial.c - see initial.h */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "evaluate.h"
#include "initial.h"
#include "shown.h"

enum { MAX_ITERATIONS = 50, MAX_DENSE = 2000 };
#define AGREES 1e-6 /* values stated with fewer digits than a constraint asks for */

struct condition {
    var_id var;
    double value;
    span at;
    bool constraint;
}; /* constraint: of a residual source, value 0 */

struct solver {
    const struct initial_problem *p;
    bool *set; /* by state of the equations: has a value */
    span *set_at;
    VEC(struct condition) condition;
    bool ok;
};

static double
evaluate(const struct initial_problem *p, inst i)
{
    VEC(double) slot = { 0 };
    double v;

    for (uint32_t k = 0; k < i.n; k++)
        vec_push(&slot, p->f->slot.at[i.first + k] == 0 ? p->t : p->value[p->f->slot.at[i.first + k]]);
    v = ex_eval(p->f->pool, i.root, slot.at);
    vec_free(&slot);
    return v;
}

/* ---------------------------------------------------------------- through the law of a storage element */

/* Root of law(q) = given by Newton's method from a start where it has a value. */
static bool
newton(pool *pl, node law, uint32_t k, double *slot, double given, double *root)
{
    static const double starts[] = { 0, 1, -1, 1e-3, 1e3 };
    node derivative = ex_derivative(pl, law, k);

    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        double q = starts[s];

        for (int i = 0; i < 200; i++) {
            double y, d, step;

            slot[k] = q;
            y = ex_eval(pl, law, slot) - given;
            d = ex_eval(pl, derivative, slot);
            if (!isfinite(y) || !isfinite(d) || d == 0)
                break;
            if (y == 0) {
                *root = q;
                return true;
            }
            step = y / d;
            for (int halving = 0; halving < 40; halving++) {
                slot[k] = q - step;
                double next = ex_eval(pl, law, slot) - given;

                if (isfinite(next) && fabs(next) < fabs(y))
                    break;
                step /= 2;
            }
            if (fabs(step) <= 1e-15 * fabs(q)) {
                *root = q - step;
                return true;
            }
            q -= step;
        }
    }
    return false;
}

/* The stored value at which the port's law gives `value` for its effort (C) or flow (I). False if the law reads more
 * than its own. */
static bool
through_law(struct solver *s, uint32_t port, double value, double *stored)
{
    const struct initial_problem *p = s->p;
    flat_model *f = p->f;
    const flat_port *q = &f->port.at[port];
    const flat_law *law = port_law(f, port);
    var_id given = port_has_momentum(f, port) ? q->f : q->e;
    bool direct = law->out == Q_DISPLACEMENT || law->out == Q_MOMENTUM;
    VEC(double) slot = { 0 };
    uint32_t own = UINT32_MAX;
    bool found = false;
    node solution, divisor;

    for (uint32_t k = 0; k < law->def.n; k++) {
        var_id v = f->slot.at[law->def.first + k];
        enum var_kind kind = f->var.at[v].kind;

        if (v == (direct ? given : q->stored)) {
            own = k;
            vec_push(&slot, value);
        } else if (kind == VAR_TIME || kind == VAR_PARAM || kind == VAR_LITERAL) {
            vec_push(&slot, v == 0 ? p->t : p->value[v]);
        } else if (kind == VAR_MODE) {
            vec_push(&slot, model_modes(p->m)[f->var.at[v].owner]);
        } else {
            vec_free(&slot);
            return false;
        }
    }
    if (direct) {
        *stored = ex_eval(f->pool, law->def.root, slot.at);
        found = own != UINT32_MAX;
    } else if (own != UINT32_MAX) {
        node residual = ex_sub(f->pool, law->def.root, ex_slot(f->pool, law->def.n));

        vec_push(&slot, value);
        if (ex_solve(f->pool, residual, own, &solution, &divisor)) {
            *stored = ex_eval(f->pool, solution, slot.at);
            found = true;
        } else {
            found = newton(f->pool, law->def.root, own, slot.at, value, stored);
        }
    }
    vec_free(&slot);
    return found;
}

/* ---------------------------------------------------------------- stated values */

static void
set_state(struct solver *s, uint32_t state, double value, span at)
{
    const struct initial_problem *p = s->p;

    p->x[p->position[p->e->state.at[state].var]] = value;
    s->set[state] = true;
    s->set_at[state] = at;
}

static void
add_condition(struct solver *s, var_id v, double value, span at)
{
    vec_push(&s->condition, ((struct condition){ v, value, at, false }));
}

/* A value for the effort or flow that the state's own law gives. */
static void
state_through_law(struct solver *s, uint32_t port, var_id given, double value, span at)
{
    const struct initial_problem *p = s->p;
    uint32_t state = p->e->var.at[p->f->port.at[port].stored].index;
    double stored;

    if (s->set[state] || !through_law(s, port, value, &stored)) {
        add_condition(s, given, value, at);
        return;
    }
    if (!isfinite(stored)) {
        diag_error(p->f->sources, "initial-value", at,
                   "\"%s\" cannot have this initial value: its law gives no finite one for what it stores",
                   p->f->element.at[p->f->port.at[port].element].name);
        s->ok = false;
        return;
    }
    set_state(s, state, stored, at);
}

static void
stated_on_port(struct solver *s, const flat_initial *in, double value)
{
    const struct initial_problem *p = s->p;
    const flat_port *q = &p->f->port.at[in->port];
    var_id v = in->q == Q_EFFORT ? q->e : in->q == Q_FLOW ? q->f : q->stored;

    if (v == q->stored && p->c->state[in->port]) {
        uint32_t state = p->e->var.at[v].index;

        if (!s->set[state])
            set_state(s, state, value, in->at);
        else
            add_condition(s, v, value, in->at);
    } else if (q->stored != VAR_NONE && p->c->state[in->port] &&
               in->q == (port_has_momentum(p->f, in->port) ? Q_FLOW : Q_EFFORT)) {
        state_through_law(s, in->port, v, value, in->at);
    } else {
        add_condition(s, v, value, in->at);
    }
}

static void
stated_on_junction(struct solver *s, const flat_initial *in, double value)
{
    const struct initial_problem *p = s->p;
    flat_model *f = p->f;
    const flat_junction *j = &f->junction.at[in->junction];
    uint32_t strong = p->c->strong[in->junction];

    if (p->e->var.at[j->common].kind == DEF_STATE) {
        set_state(s, p->e->var.at[j->common].index, value, in->at);
        return;
    }
    if (strong != UINT32_MAX && !f->incidence.at[strong].is_bond) {
        uint32_t port = f->incidence.at[strong].index;
        const flat_port *q = &f->port.at[port];

        if (q->stored != VAR_NONE && p->c->state[port]) {
            state_through_law(s, port, j->common, value, in->at);
            return;
        }
    }
    add_condition(s, j->common, value, in->at);
}

/* ---------------------------------------------------------------- conditions */

struct reached {
    uint32_t *at;
    size_t n, cap;
};

/* States that variable v depends on. */
static void
cone(const equations *e, var_id v, uint32_t *stamp, uint32_t mark, uint32_t *todo, struct reached *states)
{
    size_t n = 0;

    todo[n++] = v;
    stamp[v] = mark;
    while (n) {
        var_id w = todo[--n];
        const eq_var *d = &e->var.at[w];
        uint32_t count = d->kind == DEF_EXPLICIT ? 1 : d->kind == DEF_BLOCK ? e->block.at[d->index].n : 0;

        if (d->kind == DEF_STATE)
            vec_push(states, d->index);
        for (uint32_t i = 0; i < count; i++) {
            inst x = d->kind == DEF_EXPLICIT ? d->def : e->residual.at[e->block.at[d->index].residual0 + i];

            for (uint32_t k = 0; k < x.n; k++) {
                var_id u = e->f->slot.at[x.first + k];

                if (stamp[u] != mark) {
                    stamp[u] = mark;
                    todo[n++] = u;
                }
            }
        }
    }
}

static uint32_t
find(uint32_t *up, uint32_t i)
{
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

struct system_ {
    struct solver *s;
    routine *g;
    evaluator *v;
    block_memory memory;
    double *y, *out; /* values of the condition variables */
};

static bool
condition_values(struct system_ *w)
{
    const struct initial_problem *p = w->s->p;

    if (evaluator_run(w->v, p->t, p->x, model_modes(p->m), w->out))
        return false;
    for (size_t i = 0; i < w->s->condition.n; i++)
        w->y[i] = w->out[w->g->out_index[i]];
    return true;
}

static void
report_contradiction(struct solver *s, const struct condition *c, double got, const uint32_t *states, size_t nstates)
{
    const struct initial_problem *p = s->p;
    const char *name = p->f->var.at[c->var].name;

    s->ok = false;
    diag_error(p->f->sources, "initial-contradiction", c->at,
               "the initial value of \"%s\" is stated as %s, but follows as %s", name,
               stated_shown(p->f, c->var, c->at, c->value).text, stated_shown(p->f, c->var, c->at, got).text);
    for (size_t i = 0; i < nstates; i++)
        if (s->set[states[i]] && span_known(s->set_at[states[i]]))
            diag_note(p->f->sources, s->set_at[states[i]], "from the stated value of \"%s\"",
                      p->f->var.at[p->e->state.at[states[i]].var].name);
    diag_help(p->f->sources, "State one of them and leave the other to follow.");
}

/* Conditions list[0..n) that share the unset states free[0..nfree): Gauss-Newton, least norm. */
static void
solve_group(struct system_ *w, const uint32_t *list, size_t n, const uint32_t *free_, size_t nfree)
{
    struct solver *s = w->s;
    const struct initial_problem *p = s->p;
    size_t ld = n > nfree ? n : nfree;
    double *a = bg_calloc(n * nfree + 1, sizeof *a), *b = bg_calloc(ld + 1, sizeof *b),
           *sigma = bg_calloc(ld + 1, sizeof *sigma);

    for (int it = 0; it < MAX_ITERATIONS && nfree; it++) {
        double change = 0;
        int rank;

        if (!condition_values(w))
            break;
        for (size_t i = 0; i < n; i++)
            b[i] = s->condition.at[list[i]].value - w->y[list[i]];
        for (size_t k = 0; k < nfree; k++) {
            double *x = &p->x[p->position[p->e->state.at[free_[k]].var]], kept = *x, h = 1e-7 * fmax(1, fabs(kept));

            *x = kept + h;
            if (condition_values(w))
                for (size_t i = 0; i < n; i++)
                    a[k * n + i] = w->y[list[i]];
            *x = kept - h;
            if (condition_values(w))
                for (size_t i = 0; i < n; i++)
                    a[k * n + i] = (a[k * n + i] - w->y[list[i]]) / (2 * h);
            *x = kept;
        }
        if (LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)nfree, 1, a, (lapack_int)n, b, (lapack_int)ld,
                           sigma, 1e-10, &rank))
            break;
        for (size_t k = 0; k < nfree; k++) {
            double *x = &p->x[p->position[p->e->state.at[free_[k]].var]];

            *x += b[k];
            change = fmax(change, fabs(b[k]) / fmax(fabs(*x), 1e-300));
        }
        if (change < 1e-14)
            break;
    }
    free(a);
    free(b);
    free(sigma);
}

static void
solve_conditions(struct solver *s)
{
    const struct initial_problem *p = s->p;
    equations *e = p->e;
    struct system_ w = { .s = s };
    size_t n = s->condition.n;
    VEC(var_id) var = { 0 };
    struct reached *depends = bg_calloc(n + 1, sizeof *depends);
    uint32_t *stamp = bg_calloc(e->var.n + 1, sizeof *stamp), *todo = bg_malloc((e->var.n + 1) * sizeof *todo);
    uint32_t *up = bg_malloc((n + 1) * sizeof *up), *owner = bg_malloc((e->state.n + 1) * sizeof *owner);

    for (size_t i = 0; i < n; i++)
        vec_push(&var, s->condition.at[i].var);
    w.g = image_conditions(p->image, p->maker, var.at, n);
    w.memory.start = bg_calloc(e->unknown.n + 1, sizeof(double));
    w.memory.started = bg_calloc(e->block.n + 1, sizeof(bool));
    w.memory.of_round = bg_calloc(e->block.n + 1, sizeof *w.memory.of_round);
    w.y = bg_calloc(n + 1, sizeof(double));
    w.out = bg_calloc(n + 1, sizeof(double));
    if (!w.g) {
        s->ok = false;
        n = 0;
    } else {
        w.v = evaluator_new(w.g, &w.memory);
        evaluator_set_parameters(w.v, p->value);
    }
    memset(owner, 0xff, (e->state.n + 1) * sizeof *owner);
    for (uint32_t i = 0; i < n; i++) {
        up[i] = i;
        cone(e, s->condition.at[i].var, stamp, i + 1, todo, &depends[i]);
        for (size_t k = 0; k < depends[i].n; k++) {
            uint32_t st = depends[i].at[k];

            if (s->set[st])
                continue;
            if (owner[st] == UINT32_MAX)
                owner[st] = i;
            up[find(up, i)] = find(up, owner[st]);
        }
    }
    for (uint32_t root = 0; root < n; root++) {
        VEC(uint32_t) list = { 0 }, unset = { 0 };

        if (find(up, root) != root)
            continue;
        for (uint32_t i = 0; i < n; i++)
            if (find(up, i) == root) {
                vec_push(&list, i);
                for (size_t k = 0; k < depends[i].n; k++)
                    if (!s->set[depends[i].at[k]] && owner[depends[i].at[k]] == i)
                        vec_push(&unset, depends[i].at[k]);
            }
        if (list.n <= MAX_DENSE && unset.n <= MAX_DENSE)
            solve_group(&w, list.at, list.n, unset.at, unset.n);
        vec_free(&list);
        vec_free(&unset);
    }
    if (n && condition_values(&w))
        for (size_t i = 0; i < n; i++) {
            const struct condition *c = &s->condition.at[i];

            if (!c->constraint && !(fabs(w.y[i] - c->value) <= 1e-9 * fmax(fabs(c->value), fabs(w.y[i])) + 1e-14))
                report_contradiction(s, c, w.y[i], depends[i].at, depends[i].n);
        }
    evaluator_free(w.v);
    free(w.memory.start);
    free(w.memory.started);
    free(w.memory.of_round);
    free(w.y);
    free(w.out);
    for (size_t i = 0; i < s->condition.n; i++)
        vec_free(&depends[i]);
    free(depends);
    free(stamp);
    free(todo);
    free(up);
    free(owner);
    vec_free(&var);
}

/* ---------------------------------------------------------------- what is left at zero */

static void
check_zero(struct solver *s, uint32_t state)
{
    const struct initial_problem *p = s->p;
    flat_model *f = p->f;
    const eq_state *st = &p->e->state.at[state];
    VEC(double) slot = { 0 };
    const flat_law *law;
    bool own = true;

    if (st->port == UINT32_MAX)
        return;
    law = port_law(f, st->port);
    for (uint32_t k = 0; k < law->def.n; k++) {
        var_id v = f->slot.at[law->def.first + k];
        enum var_kind kind = f->var.at[v].kind;

        own = own && (kind == VAR_TIME || kind == VAR_PARAM || kind == VAR_LITERAL || kind == VAR_MODE || v == st->var);
        vec_push(&slot, v == 0             ? p->t
                        : kind == VAR_MODE ? model_modes(p->m)[f->var.at[v].owner]
                        : v == st->var     ? 0
                                           : p->value[v]);
    }
    if (own && !isfinite(ex_eval(f->pool, law->def.root, slot.at))) {
        bool params = true;

        for (size_t k = 0; k < slot.n; k++)
            params = params && isfinite(slot.at[k]);
        if (params) {
            const char *quantity = port_has_momentum(f, st->port) ? "p" : "q";
            const char *of = f->port.at[st->port].name;
            span at = f->element.at[st->element].at;

            s->ok = false;
            diag_error(f->sources, "initial-missing", at,
                       "the law of \"%s\" has no value at %s = 0, where it would start", port_name(f, st->port),
                       quantity);
            diag_help(f->sources, "State where it starts: { ... %s%s%s(0) = ...; }", of ? strrchr(of, '.') + 1 : "",
                      of ? "." : "", quantity);
        }
    }
    vec_free(&slot);
}

/* ---------------------------------------------------------------- residual sources */

/* What the constraints leave to change is rounding, where the stated values agree with them. */
static void
meet_constraints(struct solver *s)
{
    const struct initial_problem *p = s->p;
    const equations *e = p->e;
    flat_model *f = p->f;
    double *before = bg_malloc((e->state.n + 1) * sizeof *before);
    uint32_t worst = UINT32_MAX;
    bool met;

    memcpy(before, p->x, e->state.n * sizeof *before);
    met = model_project(p->m, p->t, p->x) == 0;
    for (uint32_t i = 0; i < e->state.n && met; i++) {
        double x = p->x[p->position[e->state.at[i].var]], was = before[p->position[e->state.at[i].var]];

        if (s->set[i] && fabs(x - was) > AGREES * fmax(fabs(x), fabs(was)) + 1e-14 && worst == UINT32_MAX)
            worst = i;
    }
    if (!met || worst != UINT32_MAX) {
        const flat_var *c = &f->var.at[e->constraint.at[0]];

        s->ok = false;
        diag_error(f->sources, "initial-constraint", c->at, "the initial values do not meet the %s%s", c->name,
                   e->constraint.n > 1 ? ", or do not move with it" : "");
        if (worst != UINT32_MAX) {
            var_id v = e->state.at[worst].var;
            uint32_t at = p->position[v];

            diag_note(f->sources, s->set_at[worst], "\"%s\" starts at %s; %s would be next to it", f->var.at[v].name,
                      stated_shown(f, v, s->set_at[worst], before[at]).text,
                      stated_shown(f, v, s->set_at[worst], p->x[at]).text);
        }
        diag_help(f->sources, "State values that meet it, and leave as many unstated as there are conditions.");
    }
    free(before);
}

/* Conditions as they hold at the start; a few rounds, since some may read others. Did any change? */
static bool
set_modes(const struct initial_problem *p)
{
    size_t n = model_nmodes(p->m);
    bool any = false;
    double *g = bg_calloc(n + 1, sizeof *g), *modes = model_modes(p->m);

    for (int round = 0; round < 8; round++) {
        bool changed = false;

        model_conditions(p->m, p->t, p->x, g);
        for (size_t k = 0; k < n; k++) {
            struct model_mode q = model_mode(p->m, k);

            if (model_net_mode(p->m, k) || q.kind == MODE_GIVEN)
                continue;
            double v = q.kind == MODE_LESS                             ? g[k] < 0
                       : q.kind == MODE_LESS_EQUAL                     ? g[k] <= 0
                       : q.kind == MODE_EQUAL                          ? g[k] == 0
                       : q.kind == MODE_FLOOR                          ? floor(g[k])
                       : q.kind == MODE_SIGN                           ? (g[k] > 0) - (g[k] < 0)
                       : q.kind == MODE_STICK || q.kind == MODE_DOMAIN ? 0
                                                                       : ex_table_piece(q.table, g[k]);

            changed = changed || v != modes[k];
            modes[k] = v;
        }
        any = any || changed;
        if (!changed)
            break;
    }
    free(g);
    return any;
}

/* States from the stated values, with the modes as they are. */
static bool
solve_stated(const struct initial_problem *p)
{
    struct solver s = { .p = p, .ok = true };
    const equations *e = p->e;
    flat_model *f = p->f;

    s.set = bg_calloc(e->state.n + 1, sizeof *s.set);
    s.set_at = bg_calloc(e->state.n + 1, sizeof *s.set_at);
    memset(p->x, 0, e->state.n * sizeof *p->x);
    for (uint32_t i = 0; i < e->state.n; i++) {
        const flat_var *v = &f->var.at[e->state.at[i].var];

        s.set_at[i] = SPAN_NONE;
        if (v->kind == VAR_INTEGRAL) {
            double value = inst_known(v->init) ? evaluate(p, v->init) : 0;

            if (!isfinite(value)) {
                diag_error(f->sources, "initial-value", v->at, "the initial value of \"%s\" is not finite", v->name);
                s.ok = false;
            }
            set_state(&s, i, value, v->at);
        }
    }
    /* values of what is stored before values that go through laws, so that these fill what is left */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < f->initial.n; i++) {
            const flat_initial *in = &f->initial.at[i];
            bool stored = in->port != UINT32_MAX && (in->q == Q_DISPLACEMENT || in->q == Q_MOMENTUM);
            double value;

            if (stored != (pass == 0))
                continue;
            value = evaluate(p, in->def);
            if (!isfinite(value)) {
                diag_error(f->sources, "initial-value", in->at, "this initial value is not finite");
                s.ok = false;
            } else if (in->port != UINT32_MAX) {
                stated_on_port(&s, in, value);
            } else {
                stated_on_junction(&s, in, value);
            }
        }
    for (size_t i = 0; i < e->constraint.n; i++) {
        const flat_var *v = &f->var.at[e->constraint.at[i]];

        vec_push(&s.condition, ((struct condition){ e->constraint.at[i], 0, v->at, true }));
    }
    if (s.ok && s.condition.n)
        solve_conditions(&s);
    if (s.ok && e->constraint.n)
        meet_constraints(&s);
    for (uint32_t i = 0; i < e->state.n && s.ok; i++)
        if (!s.set[i] && p->x[p->position[e->state.at[i].var]] == 0)
            check_zero(&s, i);
    free(s.set);
    free(s.set_at);
    vec_free(&s.condition);
    return s.ok;
}

bool
initial_values(const struct initial_problem *p)
{
    bool ok;

    if (!model_nmodes(p->m))
        return solve_stated(p);
    memset(p->x, 0, p->e->state.n * sizeof *p->x);
    set_modes(p);
    /* a value that goes through a law with conditions may ask for another side of them */
    for (int round = 0; (ok = solve_stated(p)) && set_modes(p) && round < 8; round++)
        ;
    return ok;
}
