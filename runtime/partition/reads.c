/* reads.c - see reads.h */
#include "reads.h"

typedef void visit(var_reads *r, var_id v, var_id what);

static void
visit_slots(const flat_model *f, var_id v, inst i, var_reads *r, visit *see)
{
    const var_id *slot = inst_slots(f, i);

    for (uint32_t k = 0; inst_known(i) && k < i.n; k++)
        see(r, v, slot[k]);
}

static void
visit_all(const flat_model *f, var_reads *r, visit *see)
{
    for (var_id v = 0; v < f->var.n; v++) {
        const flat_var *x = &f->var.at[v];

        if (x->kind == VAR_RATE && !inst_known(var_def(f, v)))
            see(r, v, x->owner);
        else
            visit_slots(f, v, var_def(f, v), r, see);
    }
    for (size_t w = 0; w < f->when.n; w++)
        for (uint32_t k = 0; k < f->when.at[w].nreinits; k++) {
            const flat_reinit *x = &f->reinit.at[f->when.at[w].reinit0 + k];

            visit_slots(f, x->target, f->when.at[w].condition, r, see);
            visit_slots(f, x->target, x->value, r, see);
        }
    for (size_t i = 0; i < f->delay.n; i++)
        visit_slots(f, f->delay.at[i].var, f->delay.at[i].of, r, see);
}

static void
count(var_reads *r, var_id v, var_id what)
{
    (void)what;
    r->first[v + 2]++;
}

static void
add_read(var_reads *r, var_id v, var_id what)
{
    r->read[r->first[v + 1]++] = what;
}

void
reads_find(const flat_model *f, var_reads *out)
{
    out->first = bg_calloc((size_t)f->var.n + 2, sizeof *out->first);
    visit_all(f, out, count);
    for (size_t v = 2; v < f->var.n + 2; v++)
        out->first[v] += out->first[v - 1];
    out->read = bg_malloc(((size_t)out->first[f->var.n + 1] + 1) * sizeof *out->read);
    visit_all(f, out, add_read);
}

void
reads_free(var_reads *r)
{
    free(r->first);
    free(r->read);
}
