/* domains.c - domains of bonds: names and units of effort and flow, and their power
 *
 * `domain heat { effort temperature [K]; flow heat_flow [W]; power = flow; }` names effort and flow and their units.
 * `0:room in heat` declares it for the junction, and so for all bonds connected to it through junctions. Bonds without
 * a declared domain are true bonds: their power is effort times flow, in any unit.
 *
 * needs     junctions and bonds
 * provides  flat.domain, the domain of every junction; the power of a bond as a template
 * reports   domain-unknown, domain-clash (both places), domain-units
 */
#include <string.h>

#include "elab.h"
#include "joined.h"

/* ---------------------------------------------------------------- declarations */

/* Two files may both declare the domain heat if the declarations agree. */
static bool
same_domain(elab *el, const ast_domain *a, const flat_domain *b, const unit *effort, const unit *flow)
{
    bool powers = (a->power != NULL) == (b->ast->power != NULL);

    if (powers && a->power)
        powers = !strcmp(whole_text_of(el, a->power->at), whole_text_of(el, b->ast->power->at));
    return powers && a->effort == b->effort_name && a->flow == b->flow_name && effort == b->effort && flow == b->flow;
}

void
declare_domain(elab *el, const ast_domain *d)
{
    uint32_t before = map_get(&el->domains, map_ptr_key(d->name));
    flat_domain x = { .name = d->name,
                      .effort_name = d->effort,
                      .flow_name = d->flow,
                      .power = NODE_NONE,
                      .at = d->name_at,
                      .ast = d };
    user_function *f;
    ast_function *ast;
    ast_unit *watt;

    x.effort = read_unit(el, d->effort_unit);
    x.flow = read_unit(el, d->flow_unit);
    if (before != MAP_NONE) {
        if (!same_domain(el, d, &el->f->domain.at[before], x.effort, x.flow)) {
            diag_error(el->s, "name-twice", d->name_at, "domain \"%s\" is declared twice, and not in the same way",
                       d->name);
            diag_note(el->s, el->f->domain.at[before].at, "the first one is here");
        }
        return;
    }
    map_set(&el->domains, map_ptr_key(d->name), (uint32_t)el->f->domain.n);
    vec_push(&el->f->domain, x);
    vec_push(&el->domain_function, NONE);
    if (!d->power)
        return;
    /* the power is a function of effort and flow, under either name */
    ast = arena_alloc(el->a, sizeof *ast);
    watt = arena_alloc(el->a, sizeof *watt);
    *watt = (ast_unit){ d->power->at, "W" };
    *ast = (ast_function){ .at = d->at,
                           .name_at = d->name_at,
                           .name = arena_format(el->a, "power of %s", d->name),
                           .body = d->power };
    if (x.effort || x.flow)
        ast->unit = watt;
    ast->arg = arena_new_array(el->a, struct ast_formal, 4);
    ast->arg[ast->nargs++] = (struct ast_formal){ d->name_at, d->effort, d->effort_unit };
    ast->arg[ast->nargs++] = (struct ast_formal){ d->name_at, d->flow, d->flow_unit };
    if (strcmp(d->effort, "effort") != 0 && strcmp(d->flow, "effort") != 0)
        ast->arg[ast->nargs++] = (struct ast_formal){ d->name_at, names_intern_z(el->names, "effort"), d->effort_unit };
    if (strcmp(d->effort, "flow") != 0 && strcmp(d->flow, "flow") != 0)
        ast->arg[ast->nargs++] = (struct ast_formal){ d->name_at, names_intern_z(el->names, "flow"), d->flow_unit };
    el->domain_function.at[el->f->domain.n - 1] = (uint32_t)el->function.n;
    vec_push(&el->function, ((user_function){ .ast = ast, .nargs = (uint32_t)ast->nargs, .root = NODE_NONE }));
    f = &el->function.at[el->function.n - 1];
    f->arg_unit = arena_new_array(el->a, const unit *, f->nargs + 1);
}

/* Makes the power functions as templates over effort and flow. */
void
make_domain_powers(elab *el)
{
    for (size_t k = 0; k < el->f->domain.n; k++) {
        flat_domain *d = &el->f->domain.at[k];
        const user_function *f = el->domain_function.at[k] == NONE ? NULL : &el->function.at[el->domain_function.at[k]];
        node *with;
        var_id *reads;

        if (!f) {
            if (d->effort && d->flow && el->watt &&
                unit_multiply(el->u, unit_dimension(d->effort), unit_dimension(d->flow)) != el->watt) {
                diag_error(el->s, "domain-units", d->at, "%s in [%s] times %s in [%s] is not a power", d->effort_name,
                           unit_text(d->effort), d->flow_name, unit_text(d->flow));
                diag_help(el->s, "Declare the power of such a pseudo bond, as in: power = %s;", d->flow_name);
            }
            continue;
        }
        if (f->bad) {
            el->domains_wrong = true;
            continue;
        }
        with = bg_calloc(f->nargs + f->captured.n, sizeof *with);
        reads = arena_new_array(el->a, var_id, f->captured.n + 1);
        for (uint32_t i = 0; i < f->nargs; i++)
            with[i] = ex_slot(el->pool, i < 2 ? i : !strcmp(f->ast->arg[i].name, "flow"));
        for (uint32_t i = 0; i < f->captured.n; i++) {
            with[f->nargs + i] = ex_slot(el->pool, 2 + i);
            reads[i] = f->captured.at[i];
        }
        d->power = ex_substitute(el->pool, f->root, with, f->nargs + (uint32_t)f->captured.n);
        d->reads = reads;
        d->nreads = (uint32_t)f->captured.n;
        free(with);
    }
}

/* Reads `in NAME` after a junction: 1 + its index, 0 without one or after an error. */
uint32_t
read_domain(elab *el, const ast_node *written)
{
    const char **list, *near;
    uint32_t at;

    if (!written->own->more->domain)
        return 0;
    at = map_get(&el->domains, map_ptr_key(written->own->more->domain));
    if (at != MAP_NONE)
        return at + 1;
    if (el->incomplete)
        return 0;
    el->domains_wrong = true;
    diag_error(el->s, "domain-unknown", written->own->more->domain_at, "there is no domain called \"%s\"",
               written->own->more->domain);
    list = bg_calloc(el->f->domain.n + 1, sizeof *list);
    for (size_t k = 0; k < el->f->domain.n; k++)
        list[k] = el->f->domain.at[k].name;
    near = nearest_name(written->own->more->domain, list, el->f->domain.n);
    free(list);
    if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
    else
        diag_help(el->s,
                  "Declare it, as in: domain %s { effort NAME [unit]; flow NAME [unit]; }, or import a file that does.",
                  written->own->more->domain);
    return 0;
}

/* ---------------------------------------------------------------- propagation through junctions */

/* Junctions connected by bonds form a region. root[j] is the smallest junction of j's region. */
uint32_t *
junction_regions(const flat_model *f)
{
    uint32_t *root = joined_new(f->junction.n);

    for (size_t b = 0; b < f->bond.n; b++)
        joined_join(root, f->bond.at[b].from, f->bond.at[b].to);
    for (uint32_t j = 0; j < f->junction.n; j++)
        root[j] = joined_first(root, j);
    return root;
}

static span
said_at(const flat_junction *j)
{
    return j->node ? span_join(j->at, j->node->own->more->domain_at) : j->at;
}

void
spread_domains(elab *el)
{
    flat_model *f = el->f;
    uint32_t *root, *says;

    if (!f->domain.n)
        return;
    root = junction_regions(f);
    says = bg_calloc(f->junction.n, sizeof *says); /* 1 + the junction that declared it, by root */
    for (uint32_t j = 0; j < f->junction.n; j++) {
        const flat_junction *x = &f->junction.at[j], *other;

        if (!x->domain)
            continue;
        if (!says[root[j]]) {
            says[root[j]] = j + 1;
            continue;
        }
        other = &f->junction.at[says[root[j]] - 1];
        if (other->domain == x->domain)
            continue;
        el->domains_wrong = true;
        diag_error(el->s, "domain-clash", said_at(x),
                   "\"%s\" is in domain %s, but bonds join it to \"%s\" in domain %s", x->name,
                   f->domain.at[x->domain - 1].name, other->name, f->domain.at[other->domain - 1].name);
        diag_note(el->s, said_at(other), "the domain of \"%s\" is declared here", other->name);
        diag_help(el->s, "A TF, a GY or an element with ports of both kinds joins two domains.");
    }
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (says[root[j]])
            f->junction.at[j].domain = f->junction.at[says[root[j]] - 1].domain;
    free(root);
    free(says);
}
