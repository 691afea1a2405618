/* quantities.c - efforts and flows read under the names of their domain: spring.F, load.v, room.T
 *
 * The name alone tells effort from flow. The unit of the bond is known only after all laws are made; then it is
 * checked.
 *
 * reports   unit-name: a name that belongs to another unit
 */
#include <string.h>

#include "domain.h"
#include "elab.h"

const ast_part *
plain_quantity(elab *el, uint32_t junction, bool stores_p, bool common_effort, const ast_part *q, ast_part *as)
{
    enum quantity is;

    if (q->name == el->n_e || q->name == el->n_f || q->name == el->n_q || q->name == el->n_power ||
        (q->name == el->n_p && stores_p) || !quantity_by_name(el->f, junction, common_effort, q->name, &is))
        return q;
    *as = *q;
    as->name = is == Q_EFFORT ? el->n_e : el->n_f;
    return as;
}

void
note_quantity(elab *el, uint32_t junction, const ast_part *q, const ast_part *as, val v)
{
    if (q == as || v.bad)
        return;
    vec_push(&el->named_quantity,
             ((named_quantity){ .junction = junction, .effort = as->name == el->n_e, .name = q->name, .at = q->at }));
}

void
check_quantities(elab *el)
{
    map said = { 0 };

    for (size_t k = 0; k < el->named_quantity.n; k++) {
        const named_quantity *x = &el->named_quantity.at[k];
        const flat_junction *j = &el->f->junction.at[x->junction];
        /* the unit of the common variable, effort (0-junction) or flow (1-junction), determines the other one */
        const unit *common = var_unit(el->f, j->common), *is;
        const flat_domain *d = junction_domain(el->f, x->junction);
        const char *better, *what;

        if (!common && !strcmp(x->name, "p")) {
            diag_error(el->s, "name-quantity", x->at,
                       "\".p\" is a pressure, but nothing determines the units of "
                       "this bond");
            diag_help(el->s, "Write .e for the effort; what a C stores is q, what an I stores p.");
        }
        if (!common || (d && d->power != NODE_NONE) || quantity_of_domain(d, x->name))
            continue;
        is = (j->type == 0) == x->effort ? common : unit_divide(el->u, el->watt, common);
        what = quantity_unit(el->u, x->name, x->effort, is);
        if (!what || map_get(&said, bg_hash_mix(x->at.begin, x->at.file)) != MAP_NONE)
            continue;
        map_set(&said, bg_hash_mix(x->at.begin, x->at.file), 1);
        better = quantity_name_of(el->u, x->effort, is);
        diag_error(el->s, "unit-name", x->at, "\".%s\" stands for a quantity in [%s], but the %s here is in %s",
                   x->name, what, x->effort ? "effort" : "flow", unit_said(el, is));
        if (better)
            diag_help(el->s, "Write .%s or .%s for the %s, .%s for the %s.", better, x->effort ? "e" : "f",
                      x->effort ? "effort" : "flow", x->effort ? "f" : "e", x->effort ? "flow" : "effort");
        else
            diag_help(el->s, "Write .%s for the %s, .%s for the %s.", x->effort ? "e" : "f",
                      x->effort ? "effort" : "flow", x->effort ? "f" : "e", x->effort ? "flow" : "effort");
    }
    map_free(&said);
}
