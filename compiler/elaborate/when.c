/* when.c - `when condition { reinit target = value; ... }`
 *
 * needs     bonds, ports and values made
 * provides  flat.when and flat.reinit; which targets are states is known after causality, and checked there (equations.c)
 * reports   targets that are no stored quantity and no integral, targets given twice, units that do not fit
 */
#include "elab.h"

/* The variable that a target names, or VAR_NONE after an error. *want: its unit as written, NULL where nothing is known. */
static var_id
find_target(elab *el, scope *in, const ast_ref *r, const unit **want)
{
    builder b = builder_new(el, in, READ_ALL, "reinit");
    val v = read_ref(&b, r);
    inst i = v.bad ? INST_NONE : builder_inst(&b, v.n);
    const flat_model *f = el->f;
    const flat_var *x;
    var_id id;

    builder_free(&b);
    if (!inst_known(i))
        return VAR_NONE;
    id = i.n == 1 && pool_node(el->pool, i.root)->op == EX_SLOT ? f->slot.at[i.first] : VAR_NONE;
    x = id == VAR_NONE ? NULL : &f->var.at[id];
    if (!x || (x->kind != VAR_STORED && x->kind != VAR_INTEGRAL && x->kind != VAR_COMMON)) {
        diag_error(el->s, "reinit-target", r->at, "\"%s\" is not stored, so it cannot be set anew", text_of(el, r->at));
        if (x && x->kind != VAR_TIME)
            diag_note(el->s, x->at, "\"%s\" is declared here", x->name);
        diag_help(el->s, "What jumps is q of a C, p of an I, or a signal that is an integral(...).");
        return VAR_NONE;
    }
    *want = x->display ? x->display : x->unit;
    return id;
}

static void
make_reinit(elab *el, scope *in, const struct ast_reinit *r, uint32_t first)
{
    const char *name = arena_format(el->a, "\"%s\"", text_of(el, r->target.at));
    const unit *want = NULL;
    var_id target = find_target(el, in, &r->target, &want);
    builder b = builder_new(el, in, READ_ALL, name);
    val v = resolve(&b, r->value, true);

    need_number(el, &v, r->value->at);
    if (target != VAR_NONE && !v.bad && units_give(el, v, r->value->at, want, name)) {
        flat_model *f = el->f;

        for (size_t k = first; k < f->reinit.n; k++) {
            if (f->reinit.at[k].target != target)
                continue;
            diag_error(el->s, "reinit-twice", r->at, "%s is set twice in one event", name);
            diag_note(el->s, f->reinit.at[k].at, "the first one is here");
        }
        vec_push(&f->reinit, ((flat_reinit){ target, builder_inst(&b, v.n), r->at }));
    }
    builder_free(&b);
}

void
make_when(elab *el, scope *in, const ast_stmt *s)
{
    builder b = builder_new(el, in, READ_ALL, "the condition");
    val c = resolve(&b, s->when.cond, true);
    flat_when w = { .at = s->when.cond->at, .text = text_of(el, s->when.cond->at), .condition = INST_NONE, .reinit0 = (uint32_t)el->f->reinit.n };

    need_condition(el, &c, s->when.cond->at);
    if (!c.bad) {
        as_number(el, &c);
        w.condition = builder_inst(&b, c.n);
    }
    builder_free(&b);
    for (int k = 0; k < s->when.n; k++)
        make_reinit(el, in, &s->when.reinit[k], w.reinit0);
    w.nreinits = (uint32_t)el->f->reinit.n - w.reinit0;
    if (inst_known(w.condition))
        vec_push(&el->f->when, w);
}

void
make_whens(elab *el)
{
    for (size_t k = 0; k < el->when.n; k++)
        make_when(el, el->when.at[k].in, el->when.at[k].stmt);
}
