/* rewrite_check.c - compares the graph of a rewritten text with the graph that it must have
 *
 * Both graphs are listed as lines, one for each part, in the model's names. Parts that the plan removes are left out of
 * the first list, clamped ones appear in it as sources of zero, and of a law that lost a term only the kind is
 * compared. The two sorted lists must be equal. Of the model's values the new text may have fewer, but no others.
 * Expressions are compared by a number that does not depend on the order of terms and factors, since that order may
 * differ; their text follows the line, for messages.
 */
#include <string.h>

#include "metrics.h"
#include "rewrite.h"

/* A line: what is compared, '\n', and its expressions as text. */
struct lines {
    strbuf text, shown;
    VEC(size_t) at;
    const char **line;
};
enum { EXPRESSION_MARK = '#', END_OF_KEY = '\n' };

static void
begin_line(struct lines *l)
{
    vec_push(&l->at, l->text.n);
}

static void
end_line(struct lines *l)
{
    strbuf_printf(&l->text, "%c", END_OF_KEY);
    strbuf_add(&l->text, l->shown.n ? l->shown.at : "", l->shown.n);
    strbuf_add(&l->text, "", 1); /* a 0 between lines */
    l->shown.n = 0;
}

static int
key_order(const char *a, const char *b)
{
    while (*a == *b && *a != END_OF_KEY)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

/* Up to the first expression, and the expressions. */
static char *
readable_line(const char *line)
{
    size_t key = strcspn(line, "\n"), head = strcspn(line, "#");

    return bg_format("%.*s%s", (int)(head < key ? head : key), line, line + key + 1);
}

static int
line_order(const void *pa, const void *pb)
{
    return key_order(*(const char *const *)pa, *(const char *const *)pb);
}

static void
sort_lines(struct lines *l)
{
    l->line = bg_calloc(l->at.n, sizeof *l->line);
    for (size_t i = 0; i < l->at.n; i++)
        l->line[i] = l->text.at + l->at.at[i];
    if (l->at.n)
        qsort(l->line, l->at.n, sizeof *l->line, line_order);
}

static void
free_lines(struct lines *l)
{
    strbuf_free(&l->text);
    strbuf_free(&l->shown);
    vec_free(&l->at);
    free(l->line);
}

/* Implicit junctions are identified by what meets there, because their names are just numbers. */
static void
put_junction(const flat_model *f, uint32_t j, strbuf *b)
{
    const flat_junction *x = &f->junction.at[j];

    if (!x->implicit) {
        strbuf_puts(b, x->name);
        return;
    }
    strbuf_puts(b, "(");
    for (uint32_t k = 0; k < x->ninc; k++) {
        const flat_incidence *i = &f->incidence.at[x->inc0 + k];

        if (!i->is_bond)
            strbuf_printf(b, "%s%s", k ? "," : "", f->element.at[f->port.at[i->index].element].name);
    }
    strbuf_puts(b, ")");
}

static bool
has(const map *gone, const char *name)
{
    return name && map_get(gone, bg_hash_bytes(name, strlen(name), 0)) != MAP_NONE;
}

static const char *
initial_of(const flat_model *f, const flat_initial *x)
{
    return x->port != NONE ? f->element.at[f->port.at[x->port].element].name : f->junction.at[x->junction].name;
}

/* The plan's effect on parts and values, by name, and on bonds, by the start of their arrow (1 + index among the plan's
 * bonds). folded: junctions and two-ports that only passed a bond on; into: what took a two-port's modulus. */
struct plan_names {
    map gone, clamped, changed, unstated, cut, folded, into;
    const rewrite *plan;
    map renamed;
    VEC(char *) name; /* variables that folding renames -> their new names */
};

/* From one incidence of a junction through everything folded and through junctions without names: the junction or
 * element where this ends. */
struct beyond {
    uint32_t j, element;
    bool folded;
}; /* folded: something lay in between */

static struct beyond
walk_chain(const flat_model *f, const struct plan_names *plan, uint32_t j, bool by_bond, uint32_t by)
{
    bool folded = false;

    for (size_t steps = 0; steps <= f->bond.n + f->port.n; steps++) {
        const flat_junction *x = &f->junction.at[j];
        const flat_incidence *other;
        uint32_t e, k;

        if (x->ninc != 2 || !(x->implicit || has(&plan->folded, x->name)))
            return (struct beyond){ j, NONE, folded };
        folded |= has(&plan->folded, x->name);
        other = &f->incidence.at[x->inc0];
        if (other->is_bond == by_bond && other->index == by)
            other++;
        by_bond = other->is_bond;
        by = other->index;
        if (by_bond) {
            j = f->bond.at[by].from == j ? f->bond.at[by].to : f->bond.at[by].from;
            continue;
        }
        e = f->port.at[by].element;
        if (!has(&plan->folded, f->element.at[e].name))
            return (struct beyond){ NONE, e, folded };
        folded = true;
        k = f->element.at[e].port0;
        by = by == k ? k + 1 : k; /* only two-ports are folded */
        j = f->port.at[by].junction;
    }
    return (struct beyond){ j, NONE, folded };
}

static void
rename_variable(struct plan_names *plan, var_id v, char *name)
{
    map_set(&plan->renamed, v, (uint32_t)plan->name.n);
    vec_push(&plan->name, name);
}

/* The names of an element's effort and flow when the folded parts beside it are left out: those of its junction, or its
 * own. Two-ports are renamed first: nothing reads theirs, so that variables shared with an element keep the element's
 * name. */
static void
rename_folded(const flat_model *f, struct plan_names *plan)
{
    for (uint32_t k = 0; k < 2 * (uint32_t)f->port.n && plan->folded.n; k++) {
        uint32_t i = k % (uint32_t)f->port.n;
        const flat_port *p = &f->port.at[i];
        const flat_element *e = &f->element.at[p->element];
        struct beyond x;
        const char *side, *other;
        bool flow_shared;

        if (is_two_port(e) != (k < f->port.n))
            continue;
        x = walk_chain(f, plan, p->junction, false, i);
        if (!x.folded || has(&plan->folded, e->name))
            continue;
        side = !is_two_port(e) ? "" : i == e->port0 ? ".in" : ".out";
        flow_shared = x.element != NONE || f->junction.at[x.j].type == 1;
        other = x.element == NONE ? NULL : f->element.at[x.element].name;
        for (int flow = 0; flow < 2; flow++) {
            var_id v = flow ? p->f : p->e;

            if (flow != flow_shared)
                rename_variable(plan, v, bg_format("%s%s.%c", e->name, side, flow ? 'f' : 'e'));
            else if (other)
                rename_variable(
                    plan, v, p->sign > 0 ? bg_format("%s-%s.f", other, e->name) : bg_format("%s-%s.f", e->name, other));
            else
                rename_variable(plan, v, bg_strdup(var_name(f, f->junction.at[x.j].common)));
        }
    }
}

/* The junction of a port when folded parts are left out. */
static void
put_port_junction(const flat_model *f, const struct plan_names *plan, uint32_t port, strbuf *b)
{
    const char *own = f->element.at[f->port.at[port].element].name, *other;
    struct beyond x = walk_chain(f, plan, f->port.at[port].junction, false, port);

    if (x.element == NONE) {
        put_junction(f, x.j, b);
        return;
    }
    other = f->element.at[x.element].name;
    strbuf_printf(b, "(%s,%s)", strcmp(own, other) < 0 ? own : other, strcmp(own, other) < 0 ? other : own);
}

static uint64_t
constant_number(double value)
{
    return bg_hash_mix(bg_hash_mix(EX_CONST, 17), bg_hash_bytes(&value, sizeof value, 1));
}

/* A hash of an expression that does not depend on the order of commutative operands. */
static uint64_t
expression_number(const flat_model *f, const struct plan_names *plan, inst i)
{
    const var_id *slot = inst_slots(f, i);
    VEC(node) todo = { 0 };
    VEC(uint64_t) number = { 0 };
    map done = { 0 };
    uint64_t result;

    vec_push(&todo, i.root);
    while (todo.n) {
        node at = todo.at[todo.n - 1];
        const ex_node *e = pool_node(f->pool, at);
        node operand[3] = { e->a, e->b, e->c };
        uint64_t of[3] = { 0, 0, 0 }, x = bg_hash_mix(e->op, 17);
        bool ready = true;

        if (map_get(&done, at) != MAP_NONE) {
            todo.n--;
            continue;
        }
        if (e->op == EX_CONST) {
            x = constant_number(e->value);
        } else if (e->op == EX_SLOT && slot && e->a < i.n && f->var.at[slot[e->a]].kind == VAR_LITERAL) {
            x = constant_number(var_value(f, slot[e->a]));
        } else if (e->op == EX_SLOT) {
            var_id v = slot && e->a < i.n && slot[e->a] < f->var.n ? slot[e->a] : VAR_NONE;
            uint32_t new_name = v == VAR_NONE ? MAP_NONE : map_get(&plan->renamed, v);
            const char *name = v == VAR_NONE ? "?" : new_name != MAP_NONE ? plan->name.at[new_name] : var_name(f, v);

            x = bg_hash_mix(x, bg_hash_bytes(name, strlen(name), 2));
        } else {
            for (int k = 0; k < ex_ops[e->op].arity; k++) {
                uint32_t known = operand[k] == NODE_NONE ? MAP_NONE : map_get(&done, operand[k]);

                if (known != MAP_NONE) {
                    of[k] = number.at[known];
                } else if (operand[k] != NODE_NONE) {
                    vec_push(&todo, operand[k]);
                    ready = false;
                }
            }
            if (!ready)
                continue;
            if (ex_ops[e->op].commutative && of[0] > of[1]) {
                uint64_t swap = of[0];

                of[0] = of[1];
                of[1] = swap;
            }
            if (e->op == EX_TABLE || e->op == EX_TABLE_SLOPE) {
                const char *name = pool_table(f->pool, e->table)->name;

                x = bg_hash_mix(x, bg_hash_bytes(name, strlen(name), pool_table(f->pool, e->table)->nends ? 4 : 3));
            }
            for (int k = 0; k < 3; k++)
                x = bg_hash_mix(x, of[k]);
        }
        map_set(&done, at, (uint32_t)number.n);
        vec_push(&number, x);
        todo.n--;
    }
    result = number.at[number.n - 1];
    vec_free(&todo);
    vec_free(&number);
    map_free(&done);
    return result;
}

static void
put_inst(const flat_model *f, const struct plan_names *plan, inst i, struct lines *l)
{
    if (!inst_known(i)) {
        strbuf_puts(&l->text, "-");
        return;
    }
    strbuf_printf(&l->text, "%c%016llx", EXPRESSION_MARK, (unsigned long long)expression_number(f, plan, i));
    if (l->shown.n)
        strbuf_puts(&l->shown, ", ");
    flat_print(f, i, &l->shown);
}

static uint64_t
variable_number(const char *name)
{
    return bg_hash_mix(bg_hash_mix(EX_SLOT, 17), bg_hash_bytes(name, strlen(name), 2));
}

static const rewrite_bond *
cut_bond(const struct plan_names *plan, span arrow)
{
    uint32_t i = plan->plan && span_known(arrow) ? map_get(&plan->cut, arrow.begin) : MAP_NONE;

    return i == MAP_NONE || plan->plan->bond.at[i - 1].arrow.file != arrow.file ? NULL : &plan->plan->bond.at[i - 1];
}

/* The source that replaces a bond acts on junction `on` and reads `by`. For a two-port's source the expression is not
 * compared. */
static void
put_source(const flat_model *f, const rewrite_bond *x, uint32_t by, uint32_t on, const char *bond_name, struct lines *l)
{
    strbuf *b = &l->text;
    bool flow = f->junction.at[by].type == 1;
    const char *common = var_name(f, f->junction.at[by].common);

    begin_line(l);
    strbuf_printf(b, "element %s M%s %c", x->source, element_type_name(flow ? EL_SF : EL_SE), x->forward ? '-' : '+');
    put_junction(f, on, b);
    if (bond_name)
        strbuf_printf(b, " as %s", bond_name);
    strbuf_printf(b, "; law %d of port 0, quantity %d: %c%016llx", (int)LAW_ASSIGN, (int)(flow ? Q_FLOW : Q_EFFORT),
                  EXPRESSION_MARK, (unsigned long long)variable_number(common));
    strbuf_puts(&l->shown, common);
    end_line(l);
}

/* A two-port whose driving bond is cut, as the source that it became. */
static void
put_turned(const flat_model *f, const struct plan_names *plan, const flat_element *e, const rewrite_bond *x,
           struct lines *l)
{
    const flat_port *on = &f->port.at[e->port0 + (x->forward ? 1 : 0)],
                    *by = &f->port.at[e->port0 + (x->forward ? 0 : 1)];
    bool flow = (f->junction.at[by->junction].type == 1) != (e->type == EL_GY);

    begin_line(l);
    strbuf_printf(&l->text, "element %s M%s %c", e->name, element_type_name(flow ? EL_SF : EL_SE),
                  x->forward ? '-' : '+');
    put_port_junction(f, plan, (uint32_t)(on - f->port.at), &l->text);
    if (port_bond_name(f, on))
        strbuf_printf(&l->text, " as %s", port_bond_name(f, on));
    strbuf_printf(&l->text, "; changed law %d of port 0", (int)LAW_ASSIGN);
    end_line(l);
}

static void
put_element(const flat_model *f, const flat_element *e, const struct plan_names *plan, struct lines *l)
{
    strbuf *b = &l->text;
    bool clamped = has(&plan->clamped, e->name), changed = has(&plan->changed, e->name);
    bool flow = clamped && f->junction.at[f->port.at[e->port0].junction].type == 1;

    for (uint32_t i = 0; i < e->nports && e->nports == 2; i++)
        if (cut_bond(plan, f->port.at[e->port0 + i].at)) {
            put_turned(f, plan, e, cut_bond(plan, f->port.at[e->port0 + i].at), l);
            return;
        }
    begin_line(l);
    if (has(&plan->into, e->name))
        strbuf_printf(b, "element %s, folded into", e->name); /* its type may have changed */
    else if (clamped)
        strbuf_printf(b, "element %s %s", e->name, element_type_name(flow ? EL_SF : EL_SE));
    else
        strbuf_printf(b, "element %s %s%s", e->name, e->modulated ? "M" : "", element_type_name(e->type));
    for (uint32_t i = 0; i < e->nports; i++) {
        const flat_port *p = &f->port.at[e->port0 + i];

        strbuf_printf(b, " %c", p->sign > 0 ? '+' : '-');
        put_port_junction(f, plan, e->port0 + i, b);
        if (port_bond_name(f, p))
            strbuf_printf(b, " as %s", port_bond_name(f, p));
    }
    for (uint32_t i = 0; i < e->nlaws; i++) {
        const flat_law *law = &f->law.at[e->law0 + i];

        if (clamped) {
            strbuf_printf(b, "; law %d of port 0, quantity %d: %c%016llx", (int)LAW_ASSIGN,
                          (int)(flow ? Q_FLOW : Q_EFFORT), EXPRESSION_MARK, (unsigned long long)constant_number(0));
            strbuf_puts(&l->shown, "0");
        } else if (has(&plan->into, e->name))
            break;
        else if (changed)
            strbuf_printf(b, "; changed law %d of port %u", (int)law->kind, law->port - e->port0);
        else {
            strbuf_printf(b, "; law %d of port %u, quantity %d: ", (int)law->kind, law->port - e->port0, (int)law->out);
            put_inst(f, plan, law->def, l);
        }
    }
    end_line(l);
}

/* Structure: both lists must be equal. */
static void
put_graph(const flat_model *f, const struct plan_names *plan, struct lines *l)
{
    strbuf *b = &l->text;
    const map *gone = &plan->gone;

    for (size_t i = 0; i < f->element.n; i++)
        if (!has(gone, f->element.at[i].name) && !has(&plan->folded, f->element.at[i].name))
            put_element(f, &f->element.at[i], plan, l);
    for (size_t i = 0; i < f->junction.n; i++) {
        const flat_junction *j = &f->junction.at[i];

        if (j->implicit || has(gone, j->name) || has(&plan->folded, j->name))
            continue;
        begin_line(l);
        strbuf_printf(b, "junction %d:%s", j->type, j->name);
        end_line(l);
    }
    for (size_t i = 0; i < f->bond.n; i++) {
        const flat_bond *x = &f->bond.at[i];

        const rewrite_bond *cut = cut_bond(plan, x->at);
        struct beyond end;

        if (cut && cut->source)
            put_source(f, cut, cut->forward ? x->from : x->to, cut->forward ? x->to : x->from, x->name, l);
        if (cut || has(gone, f->junction.at[x->from].name) || has(gone, f->junction.at[x->to].name) ||
            has(&plan->folded, f->junction.at[x->from].name))
            continue;
        end = walk_chain(f, plan, x->to, true, (uint32_t)i);
        if (end.element != NONE)
            continue; /* a port of an element now */
        begin_line(l);
        strbuf_puts(b, "bond ");
        put_junction(f, x->from, b);
        strbuf_puts(b, " -> ");
        put_junction(f, end.j, b);
        if (x->name)
            strbuf_printf(b, " as %s", x->name);
        end_line(l);
    }
    for (size_t i = 0; i < f->initial.n; i++) {
        const flat_initial *x = &f->initial.at[i];
        const char *of = initial_of(f, x);

        if (has(gone, of) || has(&plan->clamped, of) || has(&plan->unstated, of))
            continue;
        begin_line(l);
        strbuf_printf(b, "initial %s quantity %d: ", of, (int)x->q);
        put_inst(f, plan, x->def, l);
        end_line(l);
    }
    for (size_t i = 0; i < f->output.n; i++) {
        begin_line(l);
        strbuf_printf(b, "output %s = ", f->output.at[i].name);
        put_inst(f, plan, f->output.at[i].def, l);
        end_line(l);
    }
    for (size_t i = 0; i < f->experiment.record.n; i++) {
        begin_line(l);
        strbuf_printf(b, "record %s = ", f->experiment.record.at[i].name);
        put_inst(f, plan, f->experiment.record.at[i].def, l);
        end_line(l);
    }
}

/* Values declared in the model: those of the new text must be among those of the old one. */
static void
put_values(const flat_model *f, const struct plan_names *plan, const map *declared, const map *changed, struct lines *l)
{
    for (size_t i = 0; i < f->var.n; i++) {
        const flat_var *v = &f->var.at[i];

        if ((v->kind != VAR_PARAM && v->kind != VAR_SIGNAL) || !has(declared, var_name(f, i)) ||
            has(changed, var_name(f, i)))
            continue;
        begin_line(l);
        strbuf_printf(&l->text, "value %s = ", var_name(f, i));
        put_inst(f, plan, var_def(f, i), l);
        end_line(l);
    }
}

/* Walks two sorted lists. subset: the second may have fewer. */
static bool
compare_lines(const struct lines *a, const struct lines *b, bool subset, char **why)
{
    size_t i = 0, j = 0;

    while (i < a->at.n || j < b->at.n) {
        int order = i == a->at.n ? 1 : j == b->at.n ? -1 : key_order(a->line[i], b->line[j]);

        if (order == 0) {
            i++, j++;
        } else if (order < 0 && subset) {
            i++;
        } else {
            char *line = readable_line(order < 0 ? a->line[i] : b->line[j]);

            *why = bg_format(order < 0 ? "the new text lacks: %s" : "the new text has what it should not: %s", line);
            free(line);
            return false;
        }
    }
    return true;
}

static void
remember_name(map *m, const char *name)
{
    if (name)
        map_set(m, bg_hash_bytes(name, strlen(name), 0), 1);
}

/* An instance is removed with everything that it made. The plan lists its name as that of an element. */
static void
remember_instances(const flat_model *f, map *gone)
{
    bool *in = bg_calloc(f->origin.n + 1, sizeof *in);

    for (uint32_t i = 0; i < f->origin.n; i++) { /* instances inside another one come after it */
        const flat_origin *o = &f->origin.at[i];

        in[i] = (o->name && has(gone, o->name)) || (o->parent != NONE && in[o->parent]);
    }
    for (uint32_t i = 0; i < f->element.n; i++)
        if (f->element.at[i].parent != NONE && in[f->element.at[i].parent])
            remember_name(gone, f->element.at[i].name);
    for (uint32_t i = 0; i < f->junction.n; i++)
        if (f->junction.at[i].parent != NONE && in[f->junction.at[i].parent])
            remember_name(gone, f->junction.at[i].name);
    free(in);
}

static int
span_order(const void *a, const void *b)
{
    const span *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Parts that lose an initial value by a removed text: one `let` may set several parts, or one port of a field. */
static void
remember_unstated(const flat_model *f, const rewrite *r, map *unstated)
{
    VEC(span) lost = { 0 };

    for (size_t i = 0; i < r->item.n; i++)
        if (r->item.at[i].kind == REWRITE_INITIAL || r->item.at[i].kind == REWRITE_LET)
            vec_push(&lost, r->item.at[i].at);
    if (lost.n)
        qsort(lost.at, lost.n, sizeof *lost.at, span_order);
    for (size_t i = 0; i < f->initial.n && lost.n; i++) {
        const flat_initial *x = &f->initial.at[i];
        size_t lo = 0, hi = lost.n;

        while (hi - lo > 1) {
            size_t middle = (lo + hi) / 2;

            *(lost.at[middle].begin <= x->at.begin ? &lo : &hi) = middle;
        }
        if (x->at.file == lost.at[lo].file && lost.at[lo].begin <= x->at.begin && x->at.begin < lost.at[lo].end)
            remember_name(unstated, initial_of(f, x));
    }
    vec_free(&lost);
}

bool
rewrite_check(const flat_model *before, const rewrite *r, const flat_model *after, char **why)
{
    struct lines a = { 0 }, b = { 0 }, va = { 0 }, vb = { 0 };
    struct plan_names plan = { .plan = r }, after_plan = { .plan = NULL };
    map declared = { 0 };
    bool same;

    *why = NULL;
    for (size_t i = 0; i < r->item.n; i++)
        if (r->item.at[i].kind == REWRITE_ELEMENT || r->item.at[i].kind == REWRITE_JUNCTION ||
            r->item.at[i].kind == REWRITE_TWO_PORT)
            remember_name(&plan.gone, r->item.at[i].name);
        else if (r->item.at[i].kind == REWRITE_CLAMP)
            remember_name(&plan.clamped, r->item.at[i].owner);
        else if (r->item.at[i].kind == REWRITE_TERM_DELETE || r->item.at[i].kind == REWRITE_TERM_MEAN) {
            remember_name(&plan.changed, r->item.at[i].owner);
            for (size_t k = 0; k < r->item.at[i].nelements; k++)
                remember_name(&plan.changed, r->item.at[i].element[k]);
        } else if (r->item.at[i].kind == REWRITE_DROP_BOND || r->item.at[i].kind == REWRITE_CONDITION) {
            const rewrite_bond *x = &r->bond.at[r->item.at[i].bond - 1];

            map_set(&plan.cut, x->arrow.begin, r->item.at[i].bond);
            remember_name(&plan.changed, x->two_port ? x->source : NULL);
        } else if (r->item.at[i].kind == REWRITE_FOLD) {
            remember_name(&plan.folded, r->item.at[i].name);
            remember_name(&plan.into, r->item.at[i].owner);
        }
    remember_instances(before, &plan.gone);
    remember_unstated(before, r, &plan.unstated);
    after_plan.changed = plan.changed;
    after_plan.into = plan.into;
    after_plan.unstated = plan.unstated;
    for (int i = 0; i < after->ast->nstmt; i++)
        if (after->ast->stmt[i]->kind == AST_STMT_VALUE)
            remember_name(&declared, after->ast->stmt[i]->value.name);
    rename_folded(before, &plan);
    put_graph(before, &plan, &a);
    put_graph(after, &after_plan, &b);
    put_values(before, &plan, &declared, &plan.changed, &va);
    put_values(after, &after_plan, &declared, &plan.changed, &vb);
    sort_lines(&a);
    sort_lines(&b);
    sort_lines(&va);
    sort_lines(&vb);
    same = compare_lines(&a, &b, false, why) && compare_lines(&va, &vb, true, why);
    free_lines(&a);
    free_lines(&b);
    free_lines(&va);
    free_lines(&vb);
    map_free(&plan.gone);
    map_free(&plan.clamped);
    map_free(&plan.changed);
    map_free(&plan.unstated);
    map_free(&plan.cut);
    map_free(&plan.folded);
    map_free(&plan.into);
    map_free(&plan.renamed);
    for (size_t i = 0; i < plan.name.n; i++)
        free(plan.name.at[i]);
    vec_free(&plan.name);
    map_free(&declared);
    return same;
}
