/* relays.c - see relays.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr_pool.h"
#include "parameters.h"
#include "relays.h"

enum {
    TRIES = 3,          /* points of the border at which branches are compared, until one of them tells */
    MOST_STEPS = 50,    /* of Newton's method onto the border */
    MOST_READERS = 100, /* expressions that are examined for one signal; with more it is taken to jump */
    MOST_AROUND = 2000  /* nodes of an expression that is examined as a whole; in larger ones every choice jumps */
};
#define FARTHER 0.5     /* added to a value of order 1: the branches' size is taken there too, as both may be 0 at 0 */
#define JUMPS 1e-6      /* relative to the branches: smaller differences are rounding */
#define ON_BORDER 1e-12 /* last step of Newton's method, relative to a value of order 1 or greater */

void
relays_values(double *value, uint32_t n, uint64_t number)
{
    for (uint32_t k = 0; k < n; k++)
        value[k] = 1 + (double)(int64_t)bg_hash_mix(k + 1, number) * 0x1p-64;
}

/* Newton's method for g = 0 by slot k. */
static bool
to_border(pool *p, node g, uint32_t k, double *value)
{
    node slope = ex_derivative(p, g, k);

    for (int step = 0; step < MOST_STEPS; step++) {
        double by = ex_eval(p, g, value) / ex_eval(p, slope, value);

        if (!isfinite(by))
            return false;
        value[k] -= by;
        if (fabs(by) <= ON_BORDER * fmax(1, fabs(value[k])))
            return true;
    }
    return false;
}

static node
part_choice(pool *p, node condition, node b, node c)
{
    ex_node q = *pool_node(p, condition);

    switch (q.op) {
    case EX_NOT: return part_choice(p, q.a, c, b);
    case EX_AND: return part_choice(p, q.a, part_choice(p, q.b, b, c), c);
    case EX_OR: return part_choice(p, q.a, b, part_choice(p, q.b, b, c));
    default: return ex_make(p, EX_SELECT, condition, b, c);
    }
}

/* Splits an `if` on a combination of comparisons into a tree of such with one comparison each. */
static node
split_select(void *ctx, pool *p, node at, const ex_node *e)
{
    (void)ctx, (void)at;
    return e->op == EX_SELECT ? part_choice(p, e->a, e->b, e->c) : NODE_NONE;
}

node
relays_split(pool *p, node n)
{
    return ex_replace(p, n, split_select, NULL);
}

/* Do b and c differ where g is zero, for any values of their slots but the known ones (NULL: none is known; NAN: not
 * this one)? `unknown`: the answer if no point of the border is found. */
static bool
differ_at(pool *p, node g, node b, node c, const double *known_values, bool unknown)
{
    uint32_t n = ex_slot_bound(p, g);
    double *value;
    bool differ = unknown, known = false;

    n = ex_slot_bound(p, b) > n ? ex_slot_bound(p, b) : n;
    n = ex_slot_bound(p, c) > n ? ex_slot_bound(p, c) : n;
    value = bg_malloc((n + 1) * sizeof *value);
    for (uint64_t t = 1; t <= TRIES && !known; t++)
        for (uint32_t k = 0; k < n && !known; k++) {
            double below, above, size;

            relays_values(value, n, t);
            for (uint32_t i = 0; i < n && known_values; i++)
                value[i] = isnan(known_values[i]) ? value[i] : known_values[i];
            if ((known_values && !isnan(known_values[k])) || !to_border(p, g, k, value))
                continue;
            below = ex_eval(p, b, value);
            above = ex_eval(p, c, value);
            size = fabs(below) + fabs(above);
            value[k] += FARTHER;
            size += fabs(ex_eval(p, b, value)) + fabs(ex_eval(p, c, value));
            known = isfinite(below) && isfinite(above) && isfinite(size);
            if (known)
                differ = fabs(below - above) > JUMPS * size;
        }
    free(value);
    return differ;
}

/* The nodes of an expression, ascending, and which of them contain the choice `at`. */
struct around {
    node at, by; /* by: what replaces it */
    node *tape;
    bool *holds;
    size_t n;
};

static bool
choice_holds(const struct around *w, node n)
{
    const node *at = bsearch(&n, w->tape, w->n, sizeof *w->tape, bg_compare_numbers);

    return at && w->holds[at - w->tape];
}

/* Replaces the choice. Any other choice around it is replaced by its branch that contains it, since the other branch
 * does not read it. */
static node
put_choice(void *ctx, pool *p, node at, const ex_node *e)
{
    const struct around *w = ctx;
    const ex_node *was = pool_node(p, at);

    if (at == w->at)
        return w->by;
    if (was->op == EX_SELECT && choice_holds(w, was->b))
        return e->b;
    if (was->op == EX_SELECT && choice_holds(w, was->c))
        return e->c;
    if ((was->op == EX_MIN || was->op == EX_MAX) && choice_holds(w, at))
        return choice_holds(w, was->a) ? e->a : e->b;
    return NODE_NONE;
}

/* Does the whole expression jump at the border of its choice n? f = e*(if e > 0 then a else b) does not. known: as of
 * differ_at. */
static bool
whole_jumps(pool *p, node whole, node n, const double *known)
{
    const ex_node x = *pool_node(p, n), q = *pool_node(p, x.a);
    node g = ex_sub(p, q.a, q.b), below, above;
    struct around w = { .at = n };
    const node *shared = ex_tape(p, whole, &w.n);

    if (whole == n || w.n > MOST_AROUND)
        return true;
    w.tape = bg_malloc(w.n * sizeof *w.tape); /* the pool may move its lists while new nodes are made */
    memcpy(w.tape, shared, w.n * sizeof *w.tape);
    w.holds = bg_calloc(w.n, sizeof *w.holds);
    for (size_t i = 0; i < w.n; i++) {
        const ex_node *e = pool_node(p, w.tape[i]);
        const node operand[3] = { e->a, e->b, e->c };

        w.holds[i] = w.tape[i] == n;
        for (int k = 0, m = ex_operands(e); k < m && !w.holds[i]; k++)
            w.holds[i] = choice_holds(&w, operand[k]);
    }
    w.by = x.b;
    below = ex_replace(p, whole, put_choice, &w);
    w.by = x.c;
    above = ex_replace(p, whole, put_choice, &w);
    free(w.tape);
    free(w.holds);
    return differ_at(p, g, below, above, known, true);
}

/* Does the whole jump at the border of its choice n, for most numbers? */
static bool
choice_jumps(pool *p, node whole, node n)
{
    const ex_node *x = pool_node(p, n), *q = pool_node(p, x->a);
    node b = x->b, c = x->c;

    if ((q->op != EX_LT && q->op != EX_LE) || pool_node(p, b)->switching || pool_node(p, c)->switching)
        return false;
    return differ_at(p, ex_sub(p, q->a, q->b), b, c, NULL, false) && whole_jumps(p, whole, n, NULL);
}

/* ---- templates, and the numbers of their uses ---- */

/* What is known of all expressions with this template and with the slots that vary as in the mask. */
struct judged {
    node root, whole;           /* as given; with choices of one comparison each */
    uint32_t mask0, n;          /* [slot] */
    uint32_t choice0, nchoices; /* those that jump for most numbers, ascending */
};

/* The choices of a template that do not jump with these numbers: bits of `smooth`, for the first MOST_CHOICES. */
struct numbered {
    uint32_t judged, value0;
    uint64_t smooth;
};

enum { MOST_CHOICES = 64 }; /* bits of relays_use.smooth */

struct relays {
    equations *e;
    VEC(struct judged) judged;
    VEC(bool) mask; /* varies */
    VEC(node) choice;
    index_set known; /* judged by template and mask */
    VEC(struct numbered) numbered;
    VEC(double) value;   /* [slot] of numbered; NAN: varies */
    index_set known_use; /* numbered by template and values */
    double *given;       /* [ngiven] [variable] parameters and literals, computed at first need; else NAN */
    uint32_t ngiven;
    VEC(double) slot; /* of the expression that is looked at */
    VEC(bool) varying;
};

relays *
relays_new(equations *e)
{
    relays *w = bg_calloc(1, sizeof *w);

    w->e = e;
    return w;
}

void
relays_free(relays *w)
{
    if (!w)
        return;
    vec_free(&w->judged);
    vec_free(&w->mask);
    vec_free(&w->choice);
    index_set_free(&w->known);
    vec_free(&w->numbered);
    vec_free(&w->value);
    index_set_free(&w->known_use);
    vec_free(&w->slot);
    vec_free(&w->varying);
    free(w->given);
    free(w);
}

static uint64_t
hash_of_template(node root, const bool *varying, uint32_t n)
{
    return bg_hash_bytes(varying, n * sizeof *varying, root);
}

static uint64_t
hash_of_judged(const void *ctx, uint32_t k)
{
    const relays *w = ctx;
    const struct judged *v = &w->judged.at[k];

    return hash_of_template(v->root, w->mask.at + v->mask0, v->n);
}

static uint32_t
find_judged(const relays *w, inst i)
{
    uint32_t k;

    for (size_t h = hash_of_template(i.root, w->varying.at, i.n); (k = index_set_at(&w->known, h)) != MAP_NONE; h++) {
        const struct judged *v = &w->judged.at[k];

        if (v->root == i.root && v->n == i.n &&
            (i.n == 0 || !memcmp(w->mask.at + v->mask0, w->varying.at, i.n * sizeof(bool))))
            return k;
    }
    return MAP_NONE;
}

/* Looks for the choices on varying quantities at which the whole jumps. */
static void
judge(relays *w, struct judged *v)
{
    pool *p = w->e->f->pool;
    bool *used = bg_calloc(v->n + 1, sizeof *used);
    size_t count;
    const node *shared = ex_tape(p, v->whole, &count);
    node *tape = bg_malloc(count * sizeof *tape); /* the pool may move its lists while new nodes are made */

    memcpy(tape, shared, count * sizeof *tape);
    for (size_t t = 0; t < count; t++) {
        bool moves = false;

        if (pool_node(p, tape[t])->op != EX_SELECT)
            continue;
        memset(used, 0, v->n * sizeof *used);
        ex_slots_used(p, pool_node(p, tape[t])->a, used, v->n);
        for (uint32_t k = 0; k < v->n; k++)
            moves |= used[k] && w->varying.at[k];
        if (moves && choice_jumps(p, v->whole, tape[t])) {
            vec_push(&w->choice, tape[t]);
            v->nchoices++;
        }
    }
    free(tape);
    free(used);
}

static uint32_t
find_or_judge(relays *w, inst i)
{
    const flat_model *f = w->e->f;
    uint32_t k;

    vec_resize(&w->varying, i.n + 1);
    for (uint32_t s = 0; s < i.n; s++) {
        enum var_kind kind = f->var.at[inst_slots(f, i)[s]].kind;

        w->varying.at[s] = kind != VAR_PARAM && kind != VAR_LITERAL && kind != VAR_TIME;
    }
    k = find_judged(w, i);
    if (k == MAP_NONE) {
        struct judged v = {
            i.root, relays_split(f->pool, ex_odd(f->pool, i.root)), (uint32_t)w->mask.n, i.n, (uint32_t)w->choice.n, 0
        };

        for (uint32_t s = 0; s < i.n; s++)
            vec_push(&w->mask, w->varying.at[s]);
        judge(w, &v);
        k = (uint32_t)w->judged.n;
        vec_push(&w->judged, v);
        index_set_add(&w->known, hash_of_template(i.root, w->varying.at, i.n), k, hash_of_judged, w);
    }
    return k;
}

static uint64_t
hash_of_use(const void *ctx, uint32_t k)
{
    const relays *w = ctx;
    const struct numbered *u = &w->numbered.at[k];

    return bg_hash_bytes(w->value.at + u->value0, w->judged.at[u->judged].n * sizeof(double), u->judged);
}

/* Fills w->slot with the numbers that the model gives. Variables that came later, while conditions became modes, have
 * none. */
static void
read_numbers(relays *w, inst i)
{
    const flat_model *f = w->e->f;

    if (!w->given) {
        w->given = bg_malloc((f->var.n + 1) * sizeof *w->given);
        for (size_t v = 0; v <= f->var.n; v++)
            w->given[v] = NAN;
        parameter_values(f, w->given, NULL);
        w->ngiven = (uint32_t)f->var.n;
    }
    vec_resize(&w->slot, i.n + 1);
    for (uint32_t s = 0; s < i.n; s++) {
        var_id v = inst_slots(f, i)[s];

        w->slot.at[s] = v < w->ngiven && !w->varying.at[s] ? w->given[v] : NAN;
    }
}

/* Which choices of template j do not jump with the numbers of w->slot? */
static uint64_t
find_smooth(relays *w, uint32_t j)
{
    pool *p = w->e->f->pool;
    const struct judged v = w->judged.at[j];
    uint64_t smooth = 0;

    for (uint32_t k = 0; k < v.nchoices && k < MOST_CHOICES; k++) {
        node n = w->choice.at[v.choice0 + k];
        const ex_node x = *pool_node(p, n), q = *pool_node(p, x.a);
        bool jumps = differ_at(p, ex_sub(p, q.a, q.b), x.b, x.c, w->slot.at, true) &&
                     whole_jumps(p, v.whole, n, w->slot.at);

        smooth |= jumps ? 0 : (uint64_t)1 << k;
    }
    return smooth;
}

relays_use
relays_of(relays *w, inst i)
{
    uint32_t j = find_or_judge(w, i), k;
    uint64_t hash;

    if (w->judged.at[j].nchoices == 0)
        return (relays_use){ j, 0 };
    read_numbers(w, i);
    hash = bg_hash_bytes(w->slot.at, i.n * sizeof(double), j);
    for (size_t h = hash; (k = index_set_at(&w->known_use, h)) != MAP_NONE; h++)
        if (w->numbered.at[k].judged == j &&
            !memcmp(w->value.at + w->numbered.at[k].value0, w->slot.at, i.n * sizeof(double)))
            return (relays_use){ j, w->numbered.at[k].smooth };
    k = (uint32_t)w->numbered.n;
    vec_push(&w->numbered, ((struct numbered){ j, (uint32_t)w->value.n, find_smooth(w, j) }));
    for (uint32_t s = 0; s < i.n; s++)
        vec_push(&w->value, w->slot.at[s]);
    index_set_add(&w->known_use, hash, k, hash_of_use, w);
    return (relays_use){ j, w->numbered.at[k].smooth };
}

node
relays_whole(const relays *w, relays_use u)
{
    return w->judged.at[u.judged].whole;
}

bool
relays_is(const relays *w, relays_use u, node n)
{
    const struct judged *v = &w->judged.at[u.judged];
    const node *all = w->choice.at + v->choice0,
               *at = v->nchoices ? bsearch(&n, all, v->nchoices, sizeof n, bg_compare_numbers) : NULL;

    return at && (at - all >= MOST_CHOICES || !(u.smooth >> (at - all) & 1));
}

/* Is there a choice in the expression at which it jumps? */
static bool
has_relay(relays *w, inst i)
{
    relays_use u = relays_of(w, i);

    return w->judged.at[u.judged].nchoices > (uint32_t)__builtin_popcountll(u.smooth);
}

/* ---- signals ---- */

/* What reads a variable: the definition of a signal or integral, or a law. */
struct reader {
    inst def;
    var_id signal; /* VAR_NONE: a law, or an integral */
};

struct signals {
    equations *e;
    relays *relays;
    VEC(struct reader) reader;
    map first;              /* variable -> first of the chain of its readers */
    VEC(uint32_t) of, next; /* of a chain: the reader; the next one */
    int budget;             /* readers that may still be examined for the present signal */
};

static void
add_reader(struct signals *w, inst def, var_id signal)
{
    const flat_model *f = w->e->f;

    if (!inst_known(def))
        return;
    for (uint32_t k = 0; k < def.n; k++) {
        var_id v = inst_slots(f, def)[k];

        if (f->var.at[v].kind != VAR_SIGNAL)
            continue;
        vec_push(&w->next, map_get(&w->first, v));
        map_set(&w->first, v, (uint32_t)w->of.n);
        vec_push(&w->of, (uint32_t)w->reader.n);
    }
    vec_push(&w->reader, ((struct reader){ def, signal }));
}

/* Does anything jump that reads signal v, with its definition in place of it? */
static bool
readers_jump(struct signals *w, var_id v, inst def)
{
    equations *e = w->e;
    bool jumps = map_get(&w->first, v) == MAP_NONE;

    for (uint32_t c = map_get(&w->first, v); c != MAP_NONE && !jumps; c = w->next.at[c]) {
        struct reader r = w->reader.at[w->of.at[c]];
        VEC(inst) inner = { 0 };
        inst with;

        if (w->budget-- <= 0 || !ex_fits(e->f->pool, r.def.root, MOST_AROUND))
            return true;
        for (uint32_t k = 0; k < r.def.n; k++)
            vec_push(&inner, inst_slots(e->f, r.def)[k] == v ? def : INST_NONE);
        with = inst_compose(e->composer, r.def, inner.at);
        vec_free(&inner);
        jumps = !ex_fits(e->f->pool, with.root, MOST_AROUND) ||
                (has_relay(w->relays, with) && (r.signal == VAR_NONE || readers_jump(w, r.signal, with)));
    }
    return jumps;
}

bool *
relays_smooth_signals(relays *r)
{
    equations *e = r->e;
    flat_model *f = e->f;
    struct signals w = { .e = e, .relays = r };
    VEC(var_id) candidate = { 0 };
    bool *smooth = NULL;

    for (uint32_t v = 0; v < f->var.n; v++)
        if (f->var.at[v].kind == VAR_SIGNAL && inst_known(var_def(f, v)) &&
            pool_node(f->pool, var_def(f, v).root)->switching && has_relay(r, var_def(f, v)))
            vec_push(&candidate, v);
    if (candidate.n) {
        smooth = bg_calloc(f->var.n + 1, sizeof *smooth);
        for (size_t i = 0; i < f->law.n; i++)
            add_reader(&w, f->law.at[i].def, VAR_NONE);
        for (uint32_t v = 0; v < f->var.n; v++)
            if (f->var.at[v].kind == VAR_SIGNAL || f->var.at[v].kind == VAR_INTEGRAL)
                add_reader(&w, var_def(f, v), f->var.at[v].kind == VAR_SIGNAL ? v : VAR_NONE);
    }
    for (size_t k = 0; k < candidate.n; k++) {
        w.budget = MOST_READERS;
        smooth[candidate.at[k]] = !readers_jump(&w, candidate.at[k], var_def(f, candidate.at[k]));
    }
    vec_free(&candidate);
    vec_free(&w.reader);
    map_free(&w.first);
    vec_free(&w.of);
    vec_free(&w.next);
    return smooth;
}
