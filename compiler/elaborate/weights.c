/* weights.c - operands with weights: factor*operand + offset, with hidden parameters of 1 and 0
 *
 * An operand of + or - is identified by its place in the file. It may be elaborated many times, in every instance of a
 * component and every iteration of a loop: all copies share the two parameters, so that derivatives by them give the
 * first-order effect of changing the text. The value of each operand without its weight is recorded after the
 * experiment's own records. Nothing is made unless it is asked for.
 */
#include "elab.h"

static uint64_t
span_key(span at)
{
    return (uint64_t)at.begin << 32 | at.end;
}

/* A parameter without unit, like a bare number: it fits any unit, and no unit follows from it. */
static var_id
hidden_weight(elab *el, const char *name, double x)
{
    var_id v = flat_add_var(el->f, VAR_PARAM, NONE, name, SPAN_NONE);

    var_say(el->f, v)->def = set_inst(el, x);
    return v;
}

void
weights_begin(elab *el)
{
    for (uint32_t i = 0; i < el->opt->nweigh; i++) {
        vec_push(&el->f->weight, ((flat_weight){ VAR_NONE, VAR_NONE }));
        map_set(&el->weights, span_key(el->opt->weigh[i]), i);
    }
}

/* The flows of a transformer field are proportional to others: nothing may be added to them. */
static bool
takes_offset(const builder *b)
{
    return b->own == NONE || b->el->f->element.at[b->own].type != EL_TF;
}

/* Records the operand and returns it with its weight. */
static node
weigh_node(builder *b, uint32_t weight, node n, inst is)
{
    elab *el = b->el;
    const flat_weight *w = &el->f->weight.at[weight];
    node product;

    vec_push(&el->f->weighed, ((flat_weighed){ .weight = weight, .element = el->law_of, .value = is }));
    vec_push(&el->weighed_in, b->in);
    product = ex_mul(el->pool, builder_slot(b, w->factor), n);
    return takes_offset(b) ? ex_add(el->pool, product, builder_slot(b, w->offset)) : product;
}

val
weighed_operand(builder *b, const ast_expr *e, val v)
{
    elab *el = b->el;
    uint32_t i = e->at.file == el->file->file ? map_get(&el->weights, span_key(e->at)) : MAP_NONE;
    flat_weight *w;

    if (i == MAP_NONE || v.bad || v.condition)
        return v;
    w = &el->f->weight.at[i];
    if (w->factor == VAR_NONE) {
        w->factor = hidden_weight(el, "a term's factor", 1);
        w->offset = hidden_weight(el, "a term's offset", 0);
    }
    if (v.m) {
        size_t n = (size_t)v.m->rows * v.m->cols;
        node *entry = bg_calloc(n + 1, sizeof *entry);

        for (size_t k = 0; k < n; k++)
            entry[k] = weigh_node(b, i, v.m->at[k], builder_entry(b, v.m->at[k]));
        v.m = matrix_of(el, v.m->rank, v.m->rows, v.m->cols, entry).m;
        free(entry);
    } else {
        v.n = weigh_node(b, i, v.n, builder_inst(b, v.n));
    }
    return v;
}

/* Does the experiment keep the component of this scope, or one that contains it? */
static bool
component_is_kept(const elab *el, const scope *s)
{
    s = scope_of_text(s);
    return s->outer && el->part.at[s->instance].keep;
}

void
weights_end(elab *el)
{
    flat_model *f = el->f;

    for (size_t i = 0; i < f->weighed.n; i++) {
        flat_weighed *x = &f->weighed.at[i];

        x->keep = component_is_kept(el, el->weighed_in.at[i]) || (x->element != NONE && f->element.at[x->element].keep);
        vec_push(&f->experiment.record, ((flat_output){ .name = "a term", .def = x->value, .at = SPAN_NONE }));
    }
}
