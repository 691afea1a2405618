/* initial.c - see initial.h */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "evaluate.h"
#include "joined.h"
#include "initial.h"

enum {
    MAX_ITERATIONS = 50, /* of Gauss and Newton, for conditions that share states; from zero */
    MAX_DENSE = 2000,    /* conditions and states that are solved for together: a dense least-squares problem */
    MODE_ROUNDS = 8,     /* a mode may depend on the modes of a round before; more than a few such levels are a cycle */
    LAW_ITERATIONS = 200, /* of Newton's method through one law. Many: along a root or an exponential a step only */
    LAW_HALVINGS = 40     /* multiplies the remainder by some factor, and the first steps may overshoot by decades */
};
#define LAW_SOLVED 1e-15 /* of the stored quantity: a shorter step is rounding */
/* Of a stated value: what constraints correct by no more than this was stated with too few digits, which is no mistake.
 */
#define AGREES 1e-6
#define MOVE 1e-7       /* of a state, or of 1: half the step of central differences */
#define DEPENDENT 1e-10 /* of the greatest singular value: below it a condition follows from others */
#define SETTLED 1e-14   /* of the states: a step up to this is rounding, and ends the iteration */
#define MET 1e-9        /* of a stated value: the states found must reproduce it within this, */
#define NOTHING 1e-14   /* plus this, in SI */

struct condition {
    var_id var;
    double value;
    const struct initial_stated *stated; /* NULL: the constraint of a residual source, value 0 */
};

struct solver {
    const struct initial_problem *p;
    const initial_program *g;
    double *number, *room; /* values that formulas read, and scratch for their evaluation */
    bool *set;             /* by state: has a value */
    const struct initial_stated **set_by;
    VEC(struct condition) condition;
    bool settled; /* the modes are those of the values found */
    bool ok;
};

static double
evaluate_formula(const struct solver *s, formula f)
{
    return formula_value(&s->g->book, f, s->number, s->room);
}

/* Copies the present parameters, time and modes to where formulas read them. */
static void
take_present_numbers(struct solver *s)
{
    const struct initial_problem *p = s->p;

    s->number[INITIAL_TIME] = p->t;
    s->number[INITIAL_OWN] = s->number[INITIAL_GIVEN] = 0;
    for (size_t i = 0; i < s->g->read.n; i++) {
        struct initial_read r = s->g->read.at[i];

        s->number[INITIAL_READ + i] = r.mode ? model_modes(p->m)[r.at] : p->value[r.at];
    }
}

static double *
value_of_state(const struct solver *s, uint32_t state)
{
    return &s->p->x[s->p->image->position[s->g->state.at[state]]];
}

/* A value of variable v, in the unit in which `in` states it; NULL: in the unit of other messages. */
static shown_text
shown_as(const struct solver *s, var_id v, const struct initial_stated *in, double si)
{
    const struct model_variable x = model_variable(s->p->m, v);
    const unit *written = in ? in->written : NULL;

    if (written && !(x.unit && unit_dimension(written) == unit_dimension(x.unit)))
        written = NULL;
    return value_shown(x.unit, written ? written : x.shown, si);
}

/* ---------------------------------------------------------------- through the law of a storage element */

/* Root of law(q) = given by Newton's method. Starts at zero; elsewhere if the law or its slope has no value there (a
 * logarithm, a root), on both sides, small and large. */
static bool
newton(struct solver *s, const struct initial_law *law, double given, double *root)
{
    static const double starts[] = { 0, 1, -1, 1e-3, 1e3 };
    double *own = &s->number[INITIAL_OWN];

    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        double q = starts[k];

        for (int i = 0; i < LAW_ITERATIONS; i++) {
            double y, d, step;

            *own = q;
            y = evaluate_formula(s, law->law) - given;
            d = evaluate_formula(s, law->slope);
            if (!isfinite(y) || !isfinite(d) || d == 0)
                break;
            if (y == 0) {
                *root = q;
                return true;
            }
            step = y / d;
            for (int halving = 0; halving < LAW_HALVINGS; halving++) {
                *own = q - step;
                double next = evaluate_formula(s, law->law) - given;

                if (isfinite(next) && fabs(next) < fabs(y))
                    break;
                step /= 2;
            }
            if (fabs(step) <= LAW_SOLVED * fabs(q)) {
                *root = q - step;
                return true;
            }
            q -= step;
        }
    }
    return false;
}

/* The stored value at which the law gives `value` for the effort (C) or flow (I). */
static bool
through_law(struct solver *s, const struct initial_law *law, double value, double *stored)
{
    if (!law->solved)
        return newton(s, law, value, stored);
    s->number[INITIAL_GIVEN] = value;
    *stored = evaluate_formula(s, law->stored);
    return true;
}

/* ---------------------------------------------------------------- stated values */

static void
report_not_finite(struct solver *s, const struct initial_stated *in)
{
    const struct model_variable v = model_variable(s->p->m, in->var);

    if (v.kind == VAR_INTEGRAL)
        diag_error(s->p->image->sources, "initial-value", in->at, "the initial value of \"%s\" is not finite", v.name);
    else
        diag_error(s->p->image->sources, "initial-value", in->at, "this initial value is not finite");
    s->ok = false;
}

static void
report_nothing_stored(struct solver *s, const struct initial_stated *in)
{
    const model_graph *g = model_graph_of(s->p->m);
    uint32_t port = s->p->image->state_port[s->p->image->position[s->g->state.at[in->state]]];

    diag_error(s->p->image->sources, "initial-value", in->at,
               "\"%s\" cannot have this initial value: its law gives no finite stored quantity for it",
               g->element[g->port[port].element].name);
    s->ok = false;
}

static void
take_stated(struct solver *s, const struct initial_stated *in)
{
    double value = evaluate_formula(s, in->value);
    bool state = in->state != NONE && (in->last || !s->set[in->state]);

    if (!isfinite(value)) {
        report_not_finite(s, in);
        return;
    }
    if (!state || (in->law != NONE && !through_law(s, &s->g->law.at[in->law], value, &value))) {
        vec_push(&s->condition, ((struct condition){ in->var, value, in }));
    } else if (!isfinite(value)) {
        report_nothing_stored(s, in);
    } else {
        *value_of_state(s, in->state) = value;
        s->set[in->state] = true;
        s->set_by[in->state] = in;
    }
}

/* ---------------------------------------------------------------- conditions */

/* The conditions, and the routine that computes their values from the states. */
struct system_ {
    struct solver *s;
    const condition_program *g;
    uint32_t *row; /* by condition, then by loose storage port: the index of its variable */
    evaluator *v;
    block_memory memory;
    double *y, *out; /* values of the conditions; values of the variables, in the order of the routine */
};

static bool
condition_values(struct system_ *w)
{
    const struct initial_problem *p = w->s->p;

    if (evaluator_run(w->v, p->t, p->x, model_modes(p->m), w->out))
        return false;
    for (size_t i = 0; i < w->s->condition.n; i++)
        w->y[i] = w->out[w->g->routine->out_index[w->row[i]]];
    return true;
}

static void
report_contradiction(struct system_ *w, uint32_t i)
{
    struct solver *s = w->s;
    const struct condition *c = &s->condition.at[i];
    sources *texts = s->p->image->sources;

    diag_error(texts, "initial-contradiction", c->stated->at,
               "the initial value of \"%s\" is stated as %s, but follows from others as %s",
               model_variable(s->p->m, c->var).name, shown_as(s, c->var, c->stated, c->value).text,
               shown_as(s, c->var, c->stated, w->y[i]).text);
    for (uint32_t k = w->g->first.at[w->row[i]]; k < w->g->first.at[w->row[i] + 1]; k++) {
        uint32_t state = w->g->state.at[k];

        if (s->set[state] && span_known(s->set_by[state]->at))
            diag_note(texts, s->set_by[state]->at, "from the stated value of \"%s\"",
                      model_variable(s->p->m, s->g->state.at[state]).name);
    }
    diag_help(texts, "State only one of them; the other follows.");
    s->ok = false;
}

/* Conditions list[0..n) that share the unset states free[0..nfree): Gauss-Newton steps of least norm, so that states
 * which the conditions leave open stay near zero. */
static void
solve_group(struct system_ *w, const uint32_t *list, size_t n, const uint32_t *free_, size_t nfree)
{
    struct solver *s = w->s;
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
            double *x = value_of_state(s, free_[k]), kept = *x, h = MOVE * fmax(1, fabs(kept));

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
                           sigma, DEPENDENT, &rank))
            break;
        for (size_t k = 0; k < nfree; k++) {
            double *x = value_of_state(s, free_[k]);

            *x += b[k];
            change = fmax(change, fabs(b[k]) / fmax(fabs(*x), DBL_MIN));
        }
        if (change < SETTLED)
            break;
    }
    free(a);
    free(b);
    free(sigma);
}

/* Conditions that share states without a value are solved together. */
static void
solve_groups(struct system_ *w)
{
    const condition_program *g = w->g;
    const bool *set = w->s->set;
    uint32_t n = (uint32_t)w->s->condition.n, *up = bg_malloc((n + 1) * sizeof *up);
    uint32_t *owner = bg_malloc((w->s->g->state.n + 1) * sizeof *owner);

    memset(owner, 0xff, (w->s->g->state.n + 1) * sizeof *owner);
    for (uint32_t i = 0; i < n; i++) {
        up[i] = i;
        for (uint32_t k = g->first.at[w->row[i]]; k < g->first.at[w->row[i] + 1]; k++) {
            uint32_t st = g->state.at[k];

            if (set[st])
                continue;
            if (owner[st] == NONE)
                owner[st] = i;
            up[joined_first(up, i)] = joined_first(up, owner[st]);
        }
    }
    for (uint32_t root = 0; root < n; root++) {
        VEC(uint32_t) list = { 0 }, unset = { 0 };

        if (joined_first(up, root) != root)
            continue;
        for (uint32_t i = 0; i < n; i++)
            if (joined_first(up, i) == root) {
                vec_push(&list, i);
                for (uint32_t k = g->first.at[w->row[i]]; k < g->first.at[w->row[i] + 1]; k++)
                    if (!set[g->state.at[k]] && owner[g->state.at[k]] == i)
                        vec_push(&unset, g->state.at[k]);
            }
        if (list.n <= MAX_DENSE && unset.n <= MAX_DENSE)
            solve_group(w, list.at, list.n, unset.at, unset.n);
        vec_free(&list);
        vec_free(&unset);
    }
    free(up);
    free(owner);
}

/* ---------------------------------------------------------------- loose storage */

/* What the law of a loose storage port gives at q, less what others give. */
static double
disagreement(const struct solver *s, const struct initial_loose *x, double q, double given)
{
    s->number[INITIAL_OWN] = q;
    return evaluate_formula(s, x->law) - given;
}

/* The stored quantity at which the law gives `given`, nearest to 0: between bounds that are doubled on both sides of 0,
 * through all sizes that occur (those of a float), until the law passes the value; halved to the last digit. Newton's
 * method would not do: where such laws are flat, the step is infinite. */
static bool
nearest_to_zero(const struct solver *s, const struct initial_loose *x, double given, double *q)
{
    double at_zero = disagreement(s, x, 0, given), inner = 0;

    *q = 0;
    if (at_zero == 0)
        return true;
    for (double outer = FLT_MIN; outer < FLT_MAX; inner = outer, outer *= 2)
        for (double side = 1; side >= -1; side -= 2) {
            double low = inner * side, high = outer * side;

            if (!(disagreement(s, x, high, given) * at_zero <= 0))
                continue;
            for (;;) {
                double middle = low + (high - low) / 2;

                if (middle == low || middle == high)
                    break;
                if (disagreement(s, x, middle, given) * at_zero <= 0)
                    high = middle;
                else
                    low = middle;
            }
            *q = fabs(disagreement(s, x, low, given)) < fabs(disagreement(s, x, high, given)) ? low : high;
            return true;
        }
    return false;
}

static void
report_loose(const struct solver *s, const struct initial_loose *x, double law, double given)
{
    const struct initial_stated *in = s->set_by[x->state];
    var_id v = s->g->state.at[x->state];

    diag_error(s->p->image->sources, "initial-contradiction", in->at,
               "\"%s\" starts at %s, for which its law gives \"%s\" = %s; from others it is %s",
               model_variable(s->p->m, v).name, shown_as(s, v, in, *value_of_state(s, x->state)).text,
               model_variable(s->p->m, x->given).name, shown_as(s, x->given, NULL, law).text,
               shown_as(s, x->given, NULL, given).text);
    diag_help(s->p->image->sources, "State only one of them, or values at which their laws agree.");
}

/* Stored quantities that are not stated agree with what others give; those that are stated are checked. */
static void
solve_loose(struct system_ *w)
{
    struct solver *s = w->s;

    for (size_t i = 0; i < s->g->loose.n; i++) {
        const struct initial_loose *x = &s->g->loose.at[i];
        double given = w->out[w->g->routine->out_index[w->row[s->condition.n + i]]], *q = value_of_state(s, x->state);

        if (!s->set[x->state]) {
            double found;

            if (nearest_to_zero(s, x, given, &found))
                *q = found;
        } else if (s->settled) {
            double law = disagreement(s, x, *q, 0);

            if (!(fabs(law - given) <= MET * fmax(fabs(law), fabs(given)) + NOTHING)) {
                report_loose(s, x, law, given);
                s->ok = false;
            }
        }
    }
}

/* The program's variable of each condition and of what is given to loose storage: in their order, unless the program
 * has further ones. */
static uint32_t *
rows_of(const struct solver *s, const condition_program *g)
{
    size_t n = s->condition.n, all = n + s->g->loose.n;
    uint32_t *row = bg_malloc((all + 1) * sizeof *row);
    map place = { 0 };

    for (uint32_t i = 0; i < g->var.n; i++)
        map_set(&place, g->var.at[i], i);
    for (uint32_t i = 0; i < all; i++)
        row[i] = g->var.n == all ? i : map_get(&place, i < n ? s->condition.at[i].var : s->g->loose.at[i - n].given);
    map_free(&place);
    return row;
}

static void
solve_conditions(struct solver *s)
{
    const struct initial_problem *p = s->p;
    struct system_ w = { .s = s };
    size_t n = s->condition.n;
    VEC(var_id) var = { 0 };

    for (size_t i = 0; i < n; i++)
        vec_push(&var, s->condition.at[i].var);
    for (size_t i = 0; i < s->g->loose.n; i++)
        vec_push(&var, s->g->loose.at[i].given);
    n = var.n;
    w.g = image_conditions(p->image, p->maker, var.at, n);
    vec_free(&var);
    if (!w.g) {
        s->ok = false;
        return;
    }
    w.memory.start = bg_calloc(p->image->nunknowns + 1, sizeof(double));
    w.memory.seen = bg_calloc(p->image->nunknowns + 1, sizeof(double));
    w.memory.reached = bg_calloc(p->image->nunknowns + 1, sizeof(double));
    w.memory.started = bg_calloc(p->image->nblocks + 1, sizeof(bool));
    w.memory.of_round = bg_calloc(p->image->nblocks + 1, sizeof *w.memory.of_round);
    w.row = rows_of(s, w.g);
    w.y = bg_calloc(n + 1, sizeof(double));
    w.out = bg_calloc(w.g->var.n + 1, sizeof(double));
    w.v = evaluator_new(w.g->routine, &w.memory);
    evaluator_set_parameters(w.v, p->value);
    solve_groups(&w);
    if (condition_values(&w)) {
        for (uint32_t i = 0; i < s->condition.n; i++) {
            const struct condition *c = &s->condition.at[i];

            if (c->stated && !(fabs(w.y[i] - c->value) <= MET * fmax(fabs(c->value), fabs(w.y[i])) + NOTHING))
                report_contradiction(&w, i);
        }
        solve_loose(&w);
    }
    evaluator_free(w.v);
    free(w.memory.start);
    free(w.memory.seen);
    free(w.memory.reached);
    free(w.memory.started);
    free(w.memory.of_round);
    free(w.row);
    free(w.y);
    free(w.out);
}

/* ---------------------------------------------------------------- what is left at zero */

static bool
reads_finite_numbers(const struct solver *s, formula f)
{
    const uint32_t *reads = formula_reads(&s->g->book, &f);

    for (uint32_t k = 0; k < f.n; k++)
        if (!isfinite(s->number[reads[k]]))
            return false;
    return true;
}

static void
report_missing(struct solver *s, uint32_t port)
{
    const model_graph *g = model_graph_of(s->p->m);
    const struct model_port *p = &g->port[port];
    const char *quantity = p->momentum ? "p" : "q", *of = p->own;
    sources *texts = s->p->image->sources;

    diag_error(texts, "initial-missing", g->element[p->element].at,
               "the law of \"%s\" has no value at %s = 0, its initial value", p->name, quantity);
    diag_help(texts, "State its initial value: { ... %s%s%s(0) = ...; }", of ? strrchr(of, '.') + 1 : "", of ? "." : "",
              quantity);
    s->ok = false;
}

static void
check_zero(struct solver *s, const struct initial_zero *z)
{
    s->number[INITIAL_OWN] = 0;
    if (!s->set[z->state] && *value_of_state(s, z->state) == 0 && !isfinite(evaluate_formula(s, z->law)) &&
        reads_finite_numbers(s, z->law))
        report_missing(s, z->port);
}

/* ---------------------------------------------------------------- residual sources */

/* worst: a state whose stated value contradicts the constraints; NONE: there is none */
static void
report_constraint(struct solver *s, uint32_t worst, double before)
{
    const struct model_variable c = model_variable(s->p->m, s->g->constraint.at[0]);
    sources *texts = s->p->image->sources;

    diag_error(texts, "initial-constraint", c.at, "the initial values do not meet the %s%s", c.name,
               s->g->constraint.n > 1 ? ", or their rates do not" : "");
    if (worst != NONE) {
        var_id v = s->g->state.at[worst];

        diag_note(texts, s->set_by[worst]->at, "\"%s\" starts at %s; the nearest value that meets it is %s",
                  model_variable(s->p->m, v).name, shown_as(s, v, s->set_by[worst], before).text,
                  shown_as(s, v, s->set_by[worst], *value_of_state(s, worst)).text);
    }
    diag_help(texts, "State values that meet it, or leave one value unstated for each condition.");
    s->ok = false;
}

/* If the stated values meet the constraints, remaining corrections are rounding. */
static void
meet_constraints(struct solver *s)
{
    const struct initial_problem *p = s->p;
    uint32_t n = (uint32_t)s->g->state.n, worst = NONE;
    double *before = bg_malloc((n + 1) * sizeof *before);
    bool met;

    for (uint32_t i = 0; i < n; i++)
        before[i] = *value_of_state(s, i);
    met = model_project(p->m, p->t, p->x) == 0;
    for (uint32_t i = 0; i < n && met && worst == NONE; i++) {
        double x = *value_of_state(s, i), was = before[i];

        if (s->set[i] && fabs(x - was) > AGREES * fmax(fabs(x), fabs(was)) + NOTHING)
            worst = i;
    }
    if (!met || worst != NONE)
        report_constraint(s, worst, worst == NONE ? 0 : before[worst]);
    free(before);
}

/* Sets the modes of conditions at the start to what these are, in a few rounds, since some depend on others. Modes
 * that the run finds by a search are left alone (ideal switches), or off (what sticks). Did any change? */
static bool
set_initial_modes(const struct initial_problem *p)
{
    size_t n = model_nmodes(p->m);
    bool any = false;
    double *g = bg_calloc(n + 1, sizeof *g), *modes = model_modes(p->m);

    for (int round = 0; round < MODE_ROUNDS; round++) {
        bool changed = false;

        if (model_conditions(p->m, p->t, p->x, g) != 0)
            break;
        for (size_t k = 0; k < n; k++) {
            struct image_mode q = p->image->mode[k];

            if ((model_net_mode(p->m, k) && !q.stored) || q.kind == MODE_GIVEN)
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

/* States from the stated values, with the present modes. */
static bool
solve_stated(const struct initial_problem *p, const initial_program *g, bool settled)
{
    struct solver s = { .p = p, .g = g, .settled = settled, .ok = true };
    size_t n = g->state.n;

    s.number = bg_calloc(INITIAL_READ + g->read.n, sizeof *s.number);
    s.room = bg_calloc(g->book.room + 1, sizeof *s.room);
    s.set = bg_calloc(n + 1, sizeof *s.set);
    s.set_by = bg_calloc(n + 1, sizeof *s.set_by);
    memset(p->x, 0, n * sizeof *p->x);
    take_present_numbers(&s);
    for (size_t i = 0; i < g->stated.n; i++)
        take_stated(&s, &g->stated.at[i]);
    for (size_t i = 0; i < g->constraint.n; i++)
        vec_push(&s.condition, ((struct condition){ g->constraint.at[i], 0, NULL }));
    if (s.ok && s.condition.n + g->loose.n)
        solve_conditions(&s);
    if (s.ok && g->constraint.n)
        meet_constraints(&s);
    for (size_t i = 0; i < g->zero.n && s.ok; i++)
        check_zero(&s, &g->zero.at[i]);
    free(s.number);
    free(s.room);
    free(s.set);
    free(s.set_by);
    vec_free(&s.condition);
    return s.ok;
}

bool
initial_values(const struct initial_problem *p)
{
    const initial_program *g = image_initial_of(p->image, p->maker);
    bool ok;

    if (!p->image->nmodes)
        return solve_stated(p, g, true);
    memset(p->x, 0, p->image->nstates * sizeof *p->x);
    set_initial_modes(p);
    /* a value that goes through a law with conditions may change their modes */
    for (int round = 0; (ok = solve_stated(p, g, false)) && set_initial_modes(p) && round < MODE_ROUNDS; round++)
        ;
    return ok && (!g->loose.n || solve_stated(p, g, true));
}
