/* when.c - events of the text: `when condition { reinit target = value; }`, `every period { target = value; }`, `assert
 * condition "text"`, `stop when condition`
 *
 * needs     bonds, ports and values made; for conditions, the units of bonds
 * provides  flat.when, flat.reinit and flat.draw; signals that events set become integrals without a rate, which hold
 *           their value. Which targets are states is known after causality, and checked there (equations.c)
 * reports   targets that are no stored quantity, no integral and no signal with a value of its own, targets set twice,
 *           units that do not fit
 */
#include <string.h>

#include "elab.h"

/* A signal that is fixed before the run and set by an event holds its value. */
static bool
make_held(elab *el, var_id id)
{
    flat_var *x = &el->f->var.at[id];

    if (x->kind != VAR_SIGNAL || (x->role != ROLE_SIGNAL && x->role != ROLE_OUTPUT) ||
        !inst_known(var_def(el->f, id)) ||
        !only_parameters(el->f, inst_slots(el->f, var_def(el->f, id)), var_def(el->f, id).n))
        return false;
    x->kind = VAR_INTEGRAL;
    var_say(el->f, id)->init = var_def(el->f, id);
    var_say(el->f, id)->def = set_inst(el, 0);
    x->holds = true;
    return true;
}

/* The variable that a target names, or VAR_NONE after an error. */
static var_id
find_target(elab *el, scope *in, const ast_ref *r)
{
    builder b = builder_new(el, in, READ_ALL, "reinit");
    val v = read_ref(&b, r);
    inst i = v.bad ? INST_NONE : builder_inst(&b, v.n);
    const flat_model *f = el->f;
    const flat_var *x;
    const value *own;
    var_id id;

    builder_free(&b);
    if (!inst_known(i))
        return VAR_NONE;
    id = i.n == 1 && pool_node(el->pool, i.root)->op == EX_SLOT ? f->slot.at[i.first] : VAR_NONE;
    x = id == VAR_NONE ? NULL : &f->var.at[id];
    if (x && (x->kind == VAR_STORED || x->kind == VAR_INTEGRAL || x->kind == VAR_COMMON || make_held(el, id)))
        return id;
    diag_error(el->s, "reinit-target", r->at, "\"%s\" is not a stored quantity, so an event cannot set it",
               text_of(el, r->at));
    if (x && x->kind != VAR_TIME)
        diag_note(el->s, var_at(f, id), "\"%s\" is declared here", var_name(f, id));
    own = id == VAR_NONE ? NULL : value_of_variable(el, id);
    if (own)
        el->value.at[own - el->value.at].unread = true; /* what it is, and in which unit, is in doubt */
    diag_help(el->s, "An event can set q of a C, p of an I, a signal that is an integral(...), or one that holds a "
                     "value: signal u = 0;");
    return VAR_NONE;
}

/* Makes the assignment of an event to a target that was found before. set: the targets of its assignments so far. */
static void
make_reinit(elab *el, scope *in, const struct ast_reinit *r, var_id target, map *set, uint32_t every)
{
    const char *name = arena_format(el->a, "\"%s\"", text_of(el, r->target.at));
    builder b = builder_new(el, in, READ_ALL, name);
    const unit *want = NULL;
    val v;

    b.every = every;
    v = resolve(&b, r->value, true);
    need_number(el, &v, r->value->at);
    if (target != VAR_NONE)
        want = var_display(el->f, target) ? var_display(el->f, target) : var_unit(el->f, target);
    if (target != VAR_NONE && !v.bad && units_give(el, v, r->value->at, want, name)) {
        flat_model *f = el->f;

        uint32_t before = map_get(set, target);

        if (before != MAP_NONE) {
            diag_error(el->s, "reinit-twice", r->at, "%s is set twice in one event", name);
            diag_note(el->s, f->reinit.at[before].at, "the first one is here");
        } else {
            map_set(set, target, (uint32_t)f->reinit.n);
        }
        if (!want && v.fit == FIT_UNIT) {
            var_set_unit(f, target, unit_dimension(v.unit));
            var_say(f, target)->display = v.written;
        }
        vec_push(&f->reinit, ((flat_reinit){ .target = target,
                                             .value = builder_inst(&b, v.n),
                                             .said = full_name(el, in, text_of(el, r->target.at), 0, NULL),
                                             .at = r->at }));
    }
    builder_free(&b);
}

/* Makes the condition that triggers; for an assertion, its negation. */
static void
make_condition(elab *el, scope *in, const ast_expr *e, flat_when *w)
{
    builder b = builder_new(el, in, READ_ALL, "the condition");
    val c = resolve(&b, e, true);

    need_condition(&b, &c, e->at);
    if (!c.bad) {
        if (w->kind == WHEN_ASSERTS)
            c.n = ex_make(el->pool, EX_NOT, c.n, NODE_NONE, NODE_NONE);
        as_number(el, &c);
        w->condition = builder_inst(&b, c.n);
    }
    builder_free(&b);
}

/* The times of samples, which depend on parameters only. */
static void
make_times(elab *el, scope *in, const ast_stmt *s, flat_when *w)
{
    w->condition = set_inst(el, 0);
    initial_value(el, in, s->when.period, "the period", el->second, &w->period);
    if (s->when.offset)
        initial_value(el, in, s->when.offset, "the offset", el->second, &w->offset);
}

static void
make_when(elab *el, pending_when *p, const var_id *target)
{
    const ast_stmt *s = p->stmt;
    flat_when w = { .kind = s->when.period      ? WHEN_SAMPLES
                            : s->when.assertion ? WHEN_ASSERTS
                                                : WHEN_TURNS,
                    .condition = INST_NONE,
                    .period = INST_NONE,
                    .offset = INST_NONE,
                    .reinit0 = (uint32_t)el->f->reinit.n,
                    .says = s->when.text };
    uint32_t every = w.kind == WHEN_SAMPLES ? (uint32_t)el->f->when.n : NONE;
    map set = { 0 };

    w.at = w.kind == WHEN_SAMPLES ? s->when.head : s->when.cond->at;
    w.text = text_of(el, w.at);
    if (w.kind == WHEN_SAMPLES)
        make_times(el, p->in, s, &w);
    el->remembered.n = 0;
    for (int k = 0; k < s->when.n; k++)
        make_reinit(el, p->in, &s->when.reinit[k], target[k], &set, every);
    map_free(&set);
    for (size_t k = 0; k < el->remembered.n; k++) {
        const struct remembered *m = &el->remembered.at[k];

        vec_push(&el->f->reinit, ((flat_reinit){ .target = m->memory,
                                                 .value = flat_inst(el->f, ex_slot(el->pool, 0), &m->of, 1),
                                                 .remembers = true,
                                                 .at = var_at(el->f, m->memory) }));
    }
    w.nreinits = (uint32_t)el->f->reinit.n - w.reinit0;
    if (w.kind != WHEN_SAMPLES || inst_known(w.period)) {
        p->made = (uint32_t)el->f->when.n;
        vec_push(&el->f->when, w);
    }
}

/* All targets first, so that it is known which signals hold before any value reads them. */
void
make_whens(elab *el)
{
    VEC(var_id) target = { 0 };
    size_t first = 0;

    for (size_t k = 0; k < el->when.n; k++)
        for (int i = 0; i < el->when.at[k].stmt->when.n; i++)
            vec_push(&target, find_target(el, el->when.at[k].in, &el->when.at[k].stmt->when.reinit[i].target));
    for (size_t k = 0; k < el->when.n; k++) {
        make_when(el, &el->when.at[k], target.at + first);
        first += (size_t)el->when.at[k].stmt->when.n;
    }
    vec_free(&target);
}

void
make_when_conditions(elab *el)
{
    for (size_t k = 0; k < el->when.n; k++) {
        const pending_when *p = &el->when.at[k];

        if (!p->stmt->when.period)
            make_condition(el, p->in, p->stmt->when.cond, &el->f->when.at[p->made]);
    }
}

void
make_stop_when(elab *el, const ast_expr *e)
{
    flat_when w = { .kind = WHEN_STOPS,
                    .at = e->at,
                    .text = text_of(el, e->at),
                    .condition = INST_NONE,
                    .period = INST_NONE,
                    .offset = INST_NONE,
                    .reinit0 = (uint32_t)el->f->reinit.n };

    make_condition(el, el->model_scope, e, &w);
    if (inst_known(w.condition))
        vec_push(&el->f->when, w);
}
