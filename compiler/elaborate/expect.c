/* expect.c - expectations of experiments, for `bgc test`
 *
 * They are always checked, and made only on request: the expected quantities are then recorded after the experiment's
 * own records.
 */
#include <string.h>

#include "elab.h"

struct expected_element {
    elab *el;
    const ast_ref *ref;
    uint32_t element;
};

static bool
element_item(void *ctx, uint32_t index, uint32_t entry)
{
    struct expected_element *w = ctx;
    elab *el = w->el;
    const part *p = &el->part.at[index];

    (void)entry;
    if (p->kind != DECLARED_ELEMENT) {
        diag_error(el->s, "expect-element", w->ref->at, "\"%s\" is %s; an activity is expected of an element", p->name,
                   p->kind == DECLARED_BOND       ? "a bond"
                   : p->kind == DECLARED_JUNCTION ? "a junction"
                                                  : "a component");
        diag_note(el->s, part_at(p), "declared here");
        return false;
    }
    if (p->gone) {
        diag_error(el->s, "part-gone", w->ref->at, "\"%s\" was taken out, but its activity is expected", p->name);
        diag_note(el->s, part_gone_at(el, p), "taken out here");
        return false;
    }
    if (w->element != NONE) {
        diag_error(el->s, "expect-element", w->ref->at, "\"%s\" are several elements; an activity is expected of one",
                   text_of(el, w->ref->at));
        return false;
    }
    w->element = p->index;
    return true;
}

static bool
element_place(void *ctx, const path_end *p)
{
    struct expected_element *w = ctx;

    if (p->kind != PLACE_PART || p->used < w->ref->nparts) {
        diag_error(w->el->s, "expect-element", w->ref->at, "\"%s\" is no element", text_of(w->el, w->ref->at));
        return false;
    }
    return each_item(w->el, p, w->ref->at, false, element_item, w);
}

static uint32_t
find_expected_element(elab *el, const ast_ref *r)
{
    struct expected_element w = { el, r, NONE };
    scope *in = el->model_scope;
    const char *name = r->part[0].name, *near;

    if (own_family(el, in, name, true) != NONE)
        return each_place(el, in, in, r, false, element_place, &w) ? w.element : NONE;
    if (refused_before(el, in, name))
        return NONE;
    diag_error(el->s, "name-unknown", r->at, "no element is called \"%s\"", name);
    near = nearest_part(el, in, name);
    if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
    return NONE;
}

/* The expression before `within`, `at` or `=`: one number. */
static bool
make_subject(elab *el, const ast_expr *e, flat_output *o)
{
    builder b = builder_new(el, el->model_scope, READ_ALL, "expect");
    val v;
    bool fine;

    b.only_looks = true;
    v = resolve(&b, e, true);
    if (!v.m)
        as_number(el, &v);
    if (!v.bad && v.m) {
        diag_error(el->s, "expect-number", e->at, "\"%s\" has several entries; one number is expected",
                   text_of(el, e->at));
        diag_help(el->s, "Expect each entry in a line of its own.");
    }
    fine = !v.bad && !v.m;
    if (fine)
        *o = (flat_output){ whole_text_of(el, e->at), builder_inst(&b, v.n), v.fit == FIT_UNIT ? v.unit : NULL,
                            v.written, e->at };
    builder_free(&b);
    return fine;
}

/* A file named by the text; searched only if it will be read. */
static bool
make_path(elab *el, const ast_expect *e, flat_expect *x)
{
    const char *why;

    x->file = x->path = e->path;
    if (!el->opt->expect)
        return true;
    x->path = find_named(el, e->path_at, e->path, path_beside(el, e->path_at.file, e->path), &why);
    if (!x->path && why)
        diag_error(el->s, "expect-file", e->path_at, "\"%s\" cannot be read: %s", e->path, why);
    return x->path != NULL;
}

void
make_expect(elab *el, const ast_exp_item *item)
{
    const ast_expect *e = item->expect;
    flat_expect x = { .kind = e->kind,
                      .element = NONE,
                      .time = INST_NONE,
                      .value = INST_NONE,
                      .within = INST_NONE,
                      .at = item->at };
    flat_output o = { 0 };
    const unit *u = el->one;
    bool fine;

    if (e->kind == AST_EXPECT_ACTIVITY) {
        x.element = find_expected_element(el, &e->element);
        fine = x.element != NONE;
    } else {
        fine = make_subject(el, item->a, &o);
        u = o.display ? o.display : o.unit;
    }
    if (!fine)
        return;
    if (e->time)
        fine &= !initial_value(el, el->model_scope, e->time, "the time of an expectation", el->second, &x.time).bad;
    if (e->value)
        fine &= !initial_value(el, el->model_scope, e->value, "the expected value", u, &x.value).bad;
    /* for a unit with an offset, a difference is given in the SI unit */
    if (u && unit_offset(u) != 0)
        u = o.unit;
    fine &= !offset_in_tolerance(el, item->b) &&
            !initial_value(el, el->model_scope, item->b, "the tolerance of an expectation", u, &x.within).bad;
    if (inst_known(x.time))
        note_timed(el, TIMED_EXPECT, x.time, INST_NONE, e->time->at);
    check_tolerance(el, item->a ? o.name : text_of(el, e->element.at), x.within, item->b->at);
    fine &= !e->path || make_path(el, e, &x);
    if (!fine || !el->opt->expect)
        return;
    x.record = (uint32_t)el->f->experiment.record.n;
    x.name = item->a ? o.name : el->f->element.at[x.element].name;
    if (item->a)
        vec_push(&el->f->experiment.record, o);
    vec_push(&el->f->experiment.expect, x);
}
