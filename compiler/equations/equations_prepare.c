/* equations_prepare.c - preparation for causality: conditions become modes, delayed and sampled laws, directions in
 * which each law can be solved */
#include <stdlib.h>
#include <string.h>

#include "equations_inside.h"
#include "relays.h"

enum { MOST_CHOICES = 6 }; /* greatest number of conditions in a law whose combinations are tried */

bool
inst_is_parameter(const flat_model *f, inst i)
{
    for (uint32_t k = 0; k < i.n; k++) {
        enum var_kind kind = f->var.at[f->slot.at[i.first + k]].kind;

        if (kind != VAR_PARAM && kind != VAR_LITERAL)
            return false;
    }
    return true;
}

bool
equations_reads_mode(const flat_model *f, inst i)
{
    for (uint32_t k = 0; k < i.n; k++)
        if (f->var.at[f->slot.at[i.first + k]].kind == VAR_MODE)
            return true;
    return false;
}

/* Makes a mode for a number that the runtime sets. */
static void
make_given(equations *e, var_id v, span at)
{
    inst zero = inst_const(e->f, 0);

    e->f->var.at[v].owner = (uint32_t)e->mode.n;
    vec_push(&e->mode, ((eq_mode){ .var = v,
                                   .kind = MODE_GIVEN,
                                   .g = zero,
                                   .known = true,
                                   .slope = zero,
                                   .offset = zero,
                                   .count = NONE,
                                   .at = at }));
}

/* The delayed expression becomes what its mode watches: dependences of a delayed value are found there. */
static void
freeze_delay(equations *e, freezer *z, flat_delay *d)
{
    d->of = freeze(z, d->of, 0, d->at);
    e->mode.at[e->f->var.at[d->var].owner].g = d->of;
}

/* Values of samples are computed at instants: their conditions need not be watched. */
static void
freeze_whens(freezer *z, flat_model *f)
{
    for (size_t i = 0; i < f->when.n; i++) {
        flat_when *w = &f->when.at[i];

        w->condition = freeze(z, w->condition, 0, w->at);
        for (size_t r = w->reinit0; r < w->reinit0 + w->nreinits && w->kind != WHEN_SAMPLES; r++)
            f->reinit.at[r].value = freeze(z, f->reinit.at[r].value, 0, f->reinit.at[r].at);
    }
}

typedef VEC(var_id) var_list;

static void
mark_read_by(const flat_model *f, inst i, bool *read, var_list *open)
{
    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = f->slot.at[i.first + k];

        if (!read[v] && f->var.at[v].kind == VAR_SIGNAL)
            vec_push(open, v);
        read[v] = true;
    }
}

/* [variable] what laws and integrals read, directly or by signals. To be freed. */
static bool *
read_by_rates(const flat_model *f)
{
    bool *read = bg_calloc(f->var.n + 1, sizeof *read);
    var_list open = { 0 };

    for (size_t i = 0; i < f->law.n; i++)
        mark_read_by(f, f->law.at[i].def, read, &open);
    for (uint32_t v = 0; v < f->var.n; v++)
        if (f->var.at[v].kind == VAR_INTEGRAL)
            mark_read_by(f, var_def(f, v), read, &open);
    while (open.n)
        mark_read_by(f, var_def(f, open.at[--open.n]), read, &open);
    vec_free(&open);
    return read;
}

equations *
equations_prepare(flat_model *f)
{
    equations *e = bg_calloc(1, sizeof *e);
    freezer *z;
    relays *r;
    bool *smooth, *of_rates = read_by_rates(f);
    size_t laws;

    e->f = f;
    e->composer = composer_new(f);
    for (size_t i = 0; i < f->draw.n; i++)
        make_given(e, f->draw.at[i].var, f->draw.at[i].at);
    for (size_t i = 0; i < f->delay.n; i++)
        make_given(e, f->delay.at[i].var, f->delay.at[i].at);
    r = relays_new(e);
    smooth = relays_smooth_signals(r);
    z = freezer_new(e, r);
    for (size_t i = 0; i < f->law.n; i++) {
        f->law.at[i].def = freeze(z, f->law.at[i].def,
                                  f->law.at[i].kind == LAW_RESIDUAL ? FREEZE_ROOTS : FREEZE_ROOTS | FREEZE_RELAYS,
                                  f->law.at[i].at);
        f->law.at[i].switched = f->law.at[i].kind == LAW_RESIDUAL && equations_reads_mode(f, f->law.at[i].def);
    }
    for (size_t i = 0; i < f->var.n; i++) {
        enum var_kind kind = f->var.at[i].kind;

        if (kind == VAR_SIGNAL || kind == VAR_INTEGRAL) {
            unsigned roots = kind == VAR_INTEGRAL || of_rates[i] ? FREEZE_ROOTS : 0;
            inst def = freeze(z, var_def(f, i), smooth && smooth[i] ? roots : roots | FREEZE_RELAYS, var_at(f, i));

            var_say(f, i)->def = def;
        }
    }
    laws = e->mode.n;
    for (size_t i = 0; i < f->experiment.record.n; i++)
        f->experiment.record.at[i].def = freeze(z, f->experiment.record.at[i].def, 0, f->experiment.record.at[i].at);
    freeze_whens(z, f);
    for (size_t k = laws; k < e->mode.n; k++)
        e->mode.at[k].apart = true;
    for (size_t i = 0; i < f->delay.n; i++)
        freeze_delay(e, z, &f->delay.at[i]);
    freezer_free(z);
    relays_free(r);
    free(smooth);
    free(of_rates);
    return e;
}

var_id
equations_quantity_var(const flat_port *p, enum quantity q)
{
    switch (q) {
    case Q_EFFORT: return p->e;
    case Q_FLOW: return p->f;
    default: return p->stored;
    }
}

bool
equations_is_zero_somewhere(pool *p, node d)
{
    uint32_t nslots = ex_slot_bound(p, d);
    bool *read = bg_calloc(2 * (size_t)nslots + 1, sizeof *read), *any = read + nslots, found = false;
    node *with = bg_malloc((nslots + 1) * sizeof *with);
    VEC(uint32_t) choice = { 0 };
    size_t count;
    const node *tape = ex_tape(p, d, &count);

    for (size_t i = 0; i < count; i++) {
        if (pool_node(p, tape[i])->op != EX_SELECT)
            continue;
        ex_slots_used(p, pool_node(p, tape[i])->a, read, nslots);
        for (uint32_t k = 0; k < nslots; k++)
            any[k] |= read[k];
    }
    for (uint32_t k = 0; k < nslots; k++) {
        with[k] = NODE_NONE;
        if (any[k])
            vec_push(&choice, k);
    }
    for (uint32_t set = 0; choice.n <= MOST_CHOICES && set < 1u << choice.n && !found; set++) {
        double value;

        for (size_t i = 0; i < choice.n; i++)
            with[choice.at[i]] = ex_const(p, set >> i & 1);
        found = ex_is_const(p, ex_substitute(p, d, with, nslots), &value) && value == 0;
    }
    found |= choice.n > MOST_CHOICES;
    vec_free(&choice);
    free(read);
    free(with);
    return found;
}

bool
equations_is_flat_in(pool *p, node n, uint32_t k)
{
    size_t count;
    const node *tape;

    if (equations_is_zero_somewhere(p, ex_derivative(p, n, k)))
        return true;
    /* constants on both sides of a condition: a jump (sign) */
    tape = ex_tape(p, n, &count);
    for (size_t i = 0; i < count; i++) {
        const ex_node *x = pool_node(p, tape[i]);

        if (x->op == EX_SELECT && ex_is_const(p, x->b, NULL) && ex_is_const(p, x->c, NULL) && x->b != x->c)
            return true;
    }
    return false;
}

static bool
is_flat_once(pool *p, map *known, node n, uint32_t k)
{
    uint64_t key = (uint64_t)n << 32 | k;
    uint32_t flat = map_get(known, key);

    if (flat == MAP_NONE) {
        flat = equations_is_flat_in(p, n, k);
        map_set(known, key, flat);
    }
    return flat;
}

static bool
solvable(equations *e, const flat_law *law, var_id y)
{
    size_t nslots = e->f->slot.n;
    inst r = equations_law_residual(e, law);
    uint32_t k = inst_slot_of(e->f, r, y);
    node solution, divisor;

    e->f->slot.n = nslots; /* only the template was needed */
    return k != NONE && ex_solve(e->f->pool, r.root, k, &solution, &divisor);
}

/* Does the law jump where v, or an expression of it, passes zero? */
static bool
reads_sign_of(const equations *e, inst law, var_id v)
{
    const flat_model *f = e->f;

    for (uint32_t k = 0; k < law.n; k++) {
        const flat_var *s = &f->var.at[f->slot.at[law.first + k]];

        if (s->kind == VAR_AUX && s->owner < e->sign.n && inst_slot_of(f, e->sign.at[s->owner].x, v) != NONE)
            return true;
    }
    return false;
}

void
equations_ways(const equations *eq, enum law_way *way, bool *varying, bool *invertible, bool *stated)
{
    equations *e = (equations *)eq; /* adds templates to the pool; nothing else changes */
    flat_model *f = e->f;

    map flat = { 0 }; /* (template, slot) -> equations_is_flat_in: computed once for each form of law */

    memset(varying, 0, f->element.n * sizeof *varying);
    memset(invertible, 0, f->port.n * sizeof *invertible);
    memset(stated, 0, f->port.n * sizeof *stated);
    for (size_t i = 0; i < f->port.n; i++)
        way[i] = WAY_EITHER;
    for (size_t i = 0; i < f->law.n; i++) {
        flat_law law = f->law.at[i];
        flat_port *p = &f->port.at[law.port];
        flat_element *el = &f->element.at[p->element];

        if (law.kind == LAW_MODULUS) {
            varying[p->element] = !inst_is_parameter(f, law.def);
        } else if (el->type == EL_R && law.kind == LAW_ASSIGN) {
            var_id in = law.out == Q_EFFORT ? p->f : p->e;
            uint32_t k = inst_slot_of(f, law.def, in);

            if (k == NONE || ((is_flat_once(f->pool, &flat, law.def.root, k) || reads_sign_of(e, law.def, in)) &&
                              !solvable(e, &law, in)))
                way[law.port] = law.out == Q_EFFORT ? WAY_GIVES_EFFORT : WAY_GIVES_FLOW;
        } else if (el->type == EL_C || el->type == EL_I) {
            /* nor what is flat somewhere (backlash, a spring that lifts off): there the effort does not tell q */
            uint32_t k = inst_slot_of(f, law.def, p->stored);

            invertible[law.port] = law.out == Q_DISPLACEMENT || law.out == Q_MOMENTUM ||
                                   (solvable(e, &law, p->stored) &&
                                    !(k != NONE && is_flat_once(f->pool, &flat, law.def.root, k)));
        }
    }
    for (size_t i = 0; i < f->initial.n; i++)
        if (f->initial.at[i].port != NONE)
            stated[f->initial.at[i].port] = true;
    map_free(&flat);
}

bool *
equations_loose_storage(const equations *e, const causal *c)
{
    flat_model *f = e->f;
    bool *loose = bg_calloc(f->port.n + 1, sizeof *loose);
    map flat = { 0 }; /* as in equations_ways */

    for (size_t i = 0; i < c->dependent.n; i++) {
        uint32_t port = c->dependent.at[i];
        const flat_law *law = port_law(f, port);
        uint32_t k = law->kind == LAW_ASSIGN ? inst_slot_of(f, law->def, f->port.at[port].stored) : NONE;

        loose[port] = k != NONE && law->out != Q_DISPLACEMENT && law->out != Q_MOMENTUM &&
                      is_flat_once(f->pool, &flat, law->def.root, k);
    }
    map_free(&flat);
    return loose;
}
