/* without.c - takes parts out of components and arrays, with their bonds, and removes what then dangles
 *
 * A missing bond means no effort at a 1-junction and no flow at a 0-junction. What lost a bond and has the same effect
 * as nothing is removed too, as in a reduction (by the common rule of cleanup.h): a two-port with one side, an element
 * without its junction, a junction without bonds, a dead end (a junction with one bond) on a junction that sums the
 * same variable, and a junction that a dead end holds at rest if everything else there sums zero. Ports of components
 * stay. An element whose effort or flow is named (`mass.f`) becomes a source of zero, which holds its junction.
 *
 * needs     all names declared (take_out_parts); the bonds as written (clean_up)
 * time      linear in parts and bonds
 */
#include "cleanup.h"
#include "elab.h"

/* ---------------------------------------------------------------- named parts */

struct taking {
    elab *el;
    const ast_ref *ref;
    span at;
    bool any, new, instances;
    enum quantity rest;
};

/* Index in elab.taken of the place that takes parts out; consecutive ones share it. */
static uint32_t
taken_by(elab *el, span at)
{
    const span *last = el->taken.n ? &el->taken.at[el->taken.n - 1] : NULL;

    if (!last || last->file != at.file || last->begin != at.begin || last->end != at.end)
        vec_push(&el->taken, at);
    return (uint32_t)el->taken.n - 1;
}

static bool
take_part_out(void *ctx, uint32_t index, uint32_t entry)
{
    struct taking *t = ctx;
    part *p = &t->el->part.at[index];

    (void)entry;
    if (p->kind == DECLARED_BOND) {
        diag_error(t->el->s, "without-bond", t->at,
                   "\"%s\" is a bond; without takes junctions, elements and components out, with their bonds", p->name);
        return false;
    }
    t->any = true;
    t->new |= !p->gone;
    if (p->gone)
        return true;
    p->gone = true;
    map_set(&t->el->taken_by, part_key(index), taken_by(t->el, t->at));
    t->instances |= part_inside(p) != NULL;
    return true;
}

/* Takes out the effort or flow of an element: its junction's common variable becomes zero. */
static bool
take_variable(void *ctx, uint32_t index, uint32_t entry)
{
    struct taking *t = ctx;
    elab *el = t->el;
    part *p = &el->part.at[index];

    (void)entry;
    if (p->kind != DECLARED_ELEMENT || p->field || (p->element != EL_R && p->element != EL_C && p->element != EL_I)) {
        diag_error(el->s, "without-variable", t->at, "only R, C and I with one port can be held at zero; \"%s\" is %s",
                   p->name,
                   p->kind == DECLARED_JUNCTION    ? "a junction"
                   : p->kind == DECLARED_BOND      ? "a bond"
                   : p->field                      ? "a field"
                   : element_is_source(p->element) ? "a source"
                                                   : "a two-port");
        if (p->kind == DECLARED_JUNCTION && p->junction == (t->rest == Q_FLOW))
            diag_help(el->s, "Name one of its elements; they share its %s.", t->rest == Q_FLOW ? "flow" : "effort");
        return false;
    }
    if (p->rests && p->rest != t->rest) {
        diag_error(el->s, "without-variable", t->at,
                   "both the effort and the flow of \"%s\" are taken out; without %s takes it out", p->name, p->name);
        diag_note(el->s, part_rests_at(el, p), "the other one is here");
        return false;
    }
    t->any = true;
    t->new |= !p->rests;
    p->rests = true;
    p->rest = t->rest;
    map_set(&el->taken_by, rest_key(index), taken_by(el, t->at));
    return true;
}

/* Is the rest of a path, after the parts, e or f? */
static bool
variable_asked(const elab *el, const ast_ref *r, const path_end *p, enum quantity *q)
{
    const ast_part *last = &r->part[r->nparts - 1];

    *q = last->name == el->n_e ? Q_EFFORT : Q_FLOW;
    return p->used == r->nparts - 1 && !last->nindex && (last->name == el->n_e || last->name == el->n_f);
}

bool
scope_gone(const elab *el, const scope *s)
{
    s = scope_of_text(s);
    return s->outer && el->part.at[s->instance].gone;
}

/* Its variables stay, as numbers that nothing reads. */
static void
take_value(elab *el, value *v)
{
    v->gone = true;
    for (uint32_t k = 0; k < v->count; k++) {
        el->f->var.at[v->var + k].kind = VAR_PARAM;
        var_say(el->f, v->var + k)->def = set_inst(el, 0);
    }
}

/* Takes out everything in a removed instance. An instance comes before its contents, so that looking one step outward
 * suffices. */
static void
take_insides(elab *el)
{
    size_t whens = 0;

    for (uint32_t k = 0; k < el->part.n; k++) {
        part *p = &el->part.at[k];
        const scope *s = scope_of_text(p->in);

        if (p->gone || !scope_gone(el, s))
            continue;
        p->gone = true;
        map_set(&el->taken_by, part_key(k), map_get(&el->taken_by, part_key(s->instance)));
    }
    for (size_t k = 0; k < el->value.n; k++)
        if (scope_gone(el, el->value.at[k].in))
            take_value(el, &el->value.at[k]);
    for (size_t k = 0; k < el->when.n; k++)
        if (!scope_gone(el, el->when.at[k].in))
            el->when.at[whens++] = el->when.at[k];
    el->when.n = whens;
}

static bool
take_place(void *ctx, const path_end *p)
{
    struct taking *t = ctx;

    if (variable_asked(t->el, t->ref, p, &t->rest))
        return each_item(t->el, p, t->at, false, take_variable, t);
    if (p->used < t->ref->nparts) {
        diag_error(t->el->s, "without-part", t->at,
                   "\"%s\" is no part; without takes junctions, elements and components out", text_of(t->el, t->at));
        return false;
    }
    return each_item(t->el, p, t->at, false, take_part_out, t);
}

void
add_taken(elab *el, scope *in)
{
    for (size_t k = 0; k < el->opt->ntaken; k++) {
        const struct elaborate_taken *t = &el->opt->taken[k];
        ast_ref *ref = arena_new_array(el->a, ast_ref, 1);

        *ref = (ast_ref){ .at = el->f->at, .nparts = t->variable ? 2 : 1, .part = arena_new_array(el->a, ast_part, 2) };
        ref->part[0] = (ast_part){ .at = ref->at, .name = names_intern_z(el->names, t->name) };
        if (t->variable)
            ref->part[1] = (ast_part){ .at = ref->at, .name = names_intern_z(el->names, t->variable) };
        vec_push(&el->without, ((without_made){ ref, in, in }));
    }
}

void
take_out_parts(elab *el)
{
    struct taking t = { .el = el };

    for (size_t k = 0; k < el->without.n; k++) {
        const without_made *w = &el->without.at[k];

        t.ref = w->ref;
        t.at = w->ref->at;
        t.any = t.new = false;
        if (each_place(el, w->in, w->at, w->ref, false, take_place, &t) && t.any && !t.new)
            diag_info(el->s, "without-again", w->ref->at, "\"%s\" was taken out before", text_of(el, w->ref->at));
    }
    if (t.instances)
        take_insides(el);
}

/* ---------------------------------------------------------------- dangling parts */

/* Parts and links as written, without what was taken out so far. */
static void
gather_links(const elab *el, cleanup *c)
{
    cleanup_init(c, el->part.n, 2 * el->link.n);
    for (size_t k = 0; k < el->link.n; k++) {
        const link *l = &el->link.at[k];

        if (l->from != NONE)
            c->part[l->from].nlinks++;
        if (l->to != NONE)
            c->part[l->to].nlinks++;
    }
    cleanup_rows(c);
    for (size_t k = 0; k < el->link.n; k++) {
        const link *l = &el->link.at[k];

        if (l->from != NONE)
            cleanup_put(c, l->from, (cleanup_link){ .to = l->to });
        if (l->to != NONE)
            cleanup_put(c, l->to, (cleanup_link){ .to = l->from });
    }
    for (size_t k = 0; k < el->part.n; k++) {
        const part *p = &el->part.at[k];
        cleanup_part *x = &c->part[k];
        bool passes = p->kind == DECLARED_ELEMENT && element_is_two_port(p->element) && !p->field;

        x->kind = p->kind == DECLARED_JUNCTION ? CLEANUP_JUNCTION : passes ? CLEANUP_TWO_PORT : CLEANUP_OTHER;
        x->type = p->kind == DECLARED_JUNCTION ? p->junction : p->element == EL_GY;
        x->fixed = p->port;
        x->least = p->kind != DECLARED_ELEMENT ? 0 : passes ? 2 : 1;
    }
}

void
clean_up(elab *el)
{
    cleanup c;
    uint32_t by;

    if (!el->without.n)
        return;
    gather_links(el, &c);
    cleanup_begin(&c);
    for (uint32_t p = 0; p < el->part.n; p++)
        if (el->part.at[p].gone)
            cleanup_take(&c, p);
    cleanup_run(&c);
    by = taken_by(el, el->without.at[0].ref->at);
    for (uint32_t p = 0; p < el->part.n; p++)
        if (c.part[p].gone && !el->part.at[p].gone) {
            el->part.at[p].gone = true;
            map_set(&el->taken_by, part_key(p), by);
        }
    for (size_t k = 0; k < el->link.n; k++) {
        link *l = &el->link.at[k];

        l->gone = (l->from != NONE && el->part.at[l->from].gone) || (l->to != NONE && el->part.at[l->to].gone);
        if (l->gone && l->from != NONE)
            el->part.at[l->from].thinned = true;
        if (l->gone && l->to != NONE)
            el->part.at[l->to].thinned = true;
    }
    cleanup_free(&c);
}
