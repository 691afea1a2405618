/* verify_equations.c - see verify_equations.h */
#include "flaw.h"
#include "verify_equations.h"
#include "verify_graph.h"

enum { AT_THE_END = UINT32_MAX };

static const char *
variable_name(const equations *e, var_id v)
{
    return var_name(e->f, v) ? var_name(e->f, v) : "a variable";
}

/* Checks that everything an expression reads has a value before `rank`; unknowns of `block` have one while it is
 * solved. */
static bool
reads(const equations *e, inst i, uint32_t rank, uint32_t block, const char *what, char **flaw)
{
    if (!verify_inst(e->f, i, what, flaw))
        return false;
    for (uint32_t k = 0; inst_known(i) && k < i.n; k++) {
        var_id v = e->f->slot.at[i.first + k];
        const eq_var *d = &e->var.at[v];

        if (d->kind == DEF_NONE)
            return flaw_found(flaw, "%s reads %s, which nothing defines", what, variable_name(e, v));
        if ((d->kind != DEF_EXPLICIT && d->kind != DEF_BLOCK) || (d->kind == DEF_BLOCK && d->index == block))
            continue;
        if (d->kind == DEF_BLOCK && d->index >= e->block.n)
            return flaw_found(flaw, "%s is in no block", variable_name(e, v));
        if (rank != AT_THE_END && eq_rank(e, v) >= rank)
            return flaw_found(flaw, "%s reads %s, which is evaluated behind it", what, variable_name(e, v));
    }
    return true;
}

static bool
is_given(enum var_kind k)
{
    return k == VAR_TIME || k == VAR_PARAM || k == VAR_LITERAL || k == VAR_MODE;
}

static bool
variable_is_sound(const equations *e, var_id v, char **flaw)
{
    const eq_var *d = &e->var.at[v];
    const char *name = variable_name(e, v);

    switch (d->kind) {
    case DEF_NONE: return true;
    case DEF_GIVEN: return is_given(e->f->var.at[v].kind) || flaw_found(flaw, "%s is given, and nobody gives it", name);
    case DEF_STATE:
        if (d->index >= e->state.n || e->state.at[d->index].var != v)
            return flaw_found(flaw, "%s is not the state that it says", name);
        break;
    case DEF_EXPLICIT:
        if (!inst_known(d->def))
            return flaw_found(flaw, "%s has an empty definition", name);
        if (d->rank >= e->nranks)
            return flaw_found(flaw, "%s is evaluated behind the last", name);
        if (!reads(e, d->def, d->rank, NONE, name, flaw))
            return false;
        break;
    case DEF_BLOCK:
        if (d->index >= e->block.n)
            return flaw_found(flaw, "%s is not evaluated with its block", name);
        break;
    case DEF_HELD:
        if (d->index >= e->held.n || e->held.at[d->index] != v)
            return flaw_found(flaw, "%s is not held as it says", name);
        break;
    default: return flaw_found(flaw, "%s has a definition of no kind", name);
    }
    return verify_place(e->f, var_at(e->f, v), name, flaw);
}

static bool
check_states(const equations *e, char **flaw)
{
    for (size_t i = 0; i < e->state.n; i++) {
        const eq_state *s = &e->state.at[i];

        if (s->var >= e->var.n || e->var.at[s->var].kind != DEF_STATE || e->var.at[s->var].index != i)
            return flaw_found(flaw, "state %zu is of a variable that is none", i);
        if (s->rate >= e->var.n || e->var.at[s->rate].kind == DEF_NONE)
            return flaw_found(flaw, "state %s has no rate", variable_name(e, s->var));
    }
    return true;
}

/* Checks that every unknown is in one block, once, and that there are as many conditions. */
static bool
check_blocks(const equations *e, char **flaw)
{
    bool *seen = bg_calloc(e->var.n + 1, sizeof *seen), ok = true;

    for (uint32_t k = 0; ok && k < e->block.n; k++) {
        const eq_block *b = &e->block.at[k];

        if (b->unknown0 > e->unknown.n || b->n > e->unknown.n - b->unknown0 || b->residual0 > e->residual.n ||
            b->n > e->residual.n - b->residual0)
            ok = flaw_found(flaw, "block %u: its unknowns or conditions lie behind the last", k);
        for (uint32_t i = 0; ok && i < b->n; i++) {
            var_id v = e->unknown.at[b->unknown0 + i];

            if (v >= e->var.n || e->var.at[v].kind != DEF_BLOCK || e->var.at[v].index != k || seen[v])
                ok = flaw_found(flaw, "block %u: an unknown is not its own", k);
            else
                seen[v] = true;
            ok = ok && reads(e, e->residual.at[b->residual0 + i], b->rank, k, "a condition of a block", flaw);
        }
    }
    for (var_id v = 0; ok && v < e->var.n; v++)
        if (e->var.at[v].kind == DEF_BLOCK && !seen[v])
            ok = flaw_found(flaw, "%s is an unknown that its block does not have", variable_name(e, v));
    free(seen);
    return ok;
}

static bool
check_modes(const equations *e, char **flaw)
{
    for (uint32_t i = 0; i < e->mode.n; i++) {
        const eq_mode *m = &e->mode.at[i];

        if (m->var >= e->var.n || e->f->var.at[m->var].kind != VAR_MODE || e->f->var.at[m->var].owner != i)
            return flaw_found(flaw, "mode %u is of a variable that is none", i);
        if (!reads(e, m->g, AT_THE_END, NONE, "a condition", flaw) ||
            !verify_inst(e->f, m->slope, "a condition", flaw) || !verify_inst(e->f, m->offset, "a condition", flaw) ||
            !verify_place(e->f, m->at, "a condition", flaw))
            return false;
    }
    return true;
}

static bool
check_nets(const equations *e, char **flaw)
{
    if (e->row.n != e->held.n)
        return flaw_found(flaw, "%zu unknowns are held by %zu conditions", e->held.n, e->row.n);
    for (size_t i = 0; i < e->net.n; i++) {
        const eq_net *n = &e->net.at[i];

        if (n->held0 > e->held.n || n->n > e->held.n - n->held0 || n->watch0 > e->watch.n ||
            n->nwatch > e->watch.n - n->watch0 || n->mode0 > e->net_mode.n || n->nmodes > e->net_mode.n - n->mode0)
            return flaw_found(flaw, "net %zu: its parts lie behind the last", i);
    }
    return true;
}

static bool
results_are_sound(const equations *e, char **flaw)
{
    if (e->power.n && e->power.n != e->f->element.n)
        return flaw_found(flaw, "%zu elements have %zu powers", e->f->element.n, e->power.n);
    for (size_t i = 0; i < e->power.n; i++)
        if (!reads(e, e->power.at[i], AT_THE_END, NONE, "a power", flaw))
            return false;
    if (e->output.n != e->f->output.n + e->f->experiment.record.n)
        return flaw_found(flaw, "outputs and what is recorded do not all have equations");
    for (size_t i = 0; i < e->output.n; i++)
        if (!reads(e, e->output.at[i], AT_THE_END, NONE, "an output", flaw))
            return false;
    for (size_t i = 0; i < e->constraint.n; i++)
        if (e->constraint.at[i] >= e->var.n || e->var.at[e->constraint.at[i]].kind == DEF_NONE)
            return flaw_found(flaw, "constraint %zu is of nothing", i);
    return true;
}

char *
verify_equations(const equations *e)
{
    char *flaw = NULL;
    bool ok = e->var.n == e->f->var.n || flaw_found(&flaw, "%zu variables have %zu definitions", e->f->var.n, e->var.n);

    for (var_id v = 0; ok && v < e->var.n; v++)
        ok = variable_is_sound(e, v, &flaw);
    if (ok && check_states(e, &flaw) && check_blocks(e, &flaw) && check_modes(e, &flaw) && check_nets(e, &flaw))
        results_are_sound(e, &flaw);
    return flaw;
}
