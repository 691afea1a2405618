/* verify_graph.c - see verify_graph.h */
#include "verify_graph.h"
#include "flaw.h"

bool
verify_inst(const flat_model *f, inst i, const char *what, char **flaw)
{
    if (!inst_known(i))
        return true;
    if (i.root >= pool_count(f->pool))
        return flaw_found(flaw, "%s: its template %u is not in the pool", what, i.root);
    if (i.first > f->slot.n || i.n > f->slot.n - i.first)
        return flaw_found(flaw, "%s: its slots lie behind the last", what);
    if (ex_slot_bound(f->pool, i.root) > i.n)
        return flaw_found(flaw, "%s: its template reads more slots than its %u", what, i.n);
    for (uint32_t k = 0; k < i.n; k++)
        if (f->slot.at[i.first + k] >= f->var.n)
            return flaw_found(flaw, "%s: slot %u has no variable", what, k);
    return true;
}

bool
verify_place(const flat_model *f, span at, const char *what, char **flaw)
{
    if (!span_known(at))
        return flaw_found(flaw, "%s has no place in the text", what);
    if (at.file >= sources_count(f->sources) || at.begin > at.end || at.end > source_length(f->sources, at.file))
        return flaw_found(flaw, "%s has a place outside of the text", what);
    return true;
}

static bool
is_fixed(const flat_model *f, var_id v)
{
    return f->var.at[v].kind == VAR_PARAM || f->var.at[v].kind == VAR_LITERAL;
}

static bool
check_variables(const flat_model *f, char **flaw)
{
    if (!f->var.n || f->var.at[0].kind != VAR_TIME)
        return flaw_found(flaw, "variable 0 is not the time");
    for (size_t v = 0; v < f->var.n; v++) {
        const flat_var *x = &f->var.at[v];
        const char *name = var_name(f, v) ? var_name(f, v) : "a variable";

        if (v > 0 && x->kind == VAR_TIME)
            return flaw_found(flaw, "%s: there are two times", name);
        if (!verify_inst(f, var_def(f, v), name, flaw) || !verify_inst(f, var_init(f, v), name, flaw))
            return false;
        if (x->kind == VAR_SIGNAL && !inst_known(var_def(f, v)))
            return flaw_found(flaw, "signal %s has no definition", name);
        for (uint32_t k = 0; x->kind == VAR_PARAM && inst_known(var_def(f, v)) && k < var_def(f, v).n; k++)
            if (!is_fixed(f, f->slot.at[var_def(f, v).first + k]))
                return flaw_found(flaw, "parameter %s reads what is none", name);
    }
    return true;
}

static bool
check_junctions(const flat_model *f, char **flaw)
{
    uint32_t next = 0;

    for (uint32_t j = 0; j < f->junction.n; j++) {
        const flat_junction *x = &f->junction.at[j];
        const char *name = x->name ? x->name : "a junction";

        if (x->common >= f->var.n || f->var.at[x->common].kind != VAR_COMMON || f->var.at[x->common].owner != j)
            return flaw_found(flaw, "%s: its common variable is not its own", name);
        if (x->inc0 != next || x->ninc > f->incidence.n - next)
            return flaw_found(flaw, "%s: its row of incidences does not follow the one before", name);
        if (x->domain > f->domain.n)
            return flaw_found(flaw, "%s has no domain", name);
        if (!verify_place(f, x->at, name, flaw))
            return false;
        next += x->ninc;
    }
    return next == f->incidence.n || flaw_found(flaw, "there are incidences that belong to no junction");
}

/* Each port appears once at its junction, each bond at both of its junctions; what leaves has sign -1. */
static bool
check_incidences(const flat_model *f, char **flaw)
{
    uint8_t *met = bg_calloc(f->port.n + 2 * f->bond.n + 1, sizeof *met);
    bool ok = f->incidence.n == f->port.n + 2 * f->bond.n ||
              flaw_found(flaw, "there are %zu incidences of %zu ports and %zu bonds", f->incidence.n, f->port.n,
                         f->bond.n);

    for (uint32_t j = 0; ok && j < f->junction.n; j++)
        for (uint32_t i = f->junction.at[j].inc0; ok && i < f->junction.at[j].inc0 + f->junction.at[j].ninc; i++) {
            const flat_incidence *x = &f->incidence.at[i];
            size_t n = x->is_bond ? f->bond.n : f->port.n;

            if (x->index >= n) {
                ok = flaw_found(flaw, "incidence %u is of nothing", i);
            } else if (x->is_bond) {
                bool arrives = x->sign > 0;

                if ((arrives ? f->bond.at[x->index].to : f->bond.at[x->index].from) != j ||
                    met[f->port.n + 2 * x->index + arrives]++)
                    ok = flaw_found(flaw, "incidence %u: its bond does not %s there", i, arrives ? "arrive" : "leave");
            } else if (f->port.at[x->index].junction != j || x->sign != -f->port.at[x->index].sign || met[x->index]++) {
                ok = flaw_found(flaw, "incidence %u: its port does not meet the junction so", i);
            }
        }
    free(met);
    return ok;
}

static bool
check_port(const flat_model *f, uint32_t p, char **flaw)
{
    const flat_port *x = &f->port.at[p];
    const flat_junction *j = &f->junction.at[x->junction];
    const flat_element *el = &f->element.at[x->element];
    var_id common = j->type ? x->f : x->e, own = j->type ? x->e : x->f;
    bool storage = el->type == EL_C || el->type == EL_I;

    if (p < el->port0 || p >= el->port0 + el->nports)
        return flaw_found(flaw, "a port of %s is not among its ports", el->name);
    if (x->sign != 1 && x->sign != -1)
        return flaw_found(flaw, "a port of %s has no direction", el->name);
    if (common != j->common)
        return flaw_found(flaw, "a port of %s does not share its junction's variable", el->name);
    if (own >= f->var.n || f->var.at[own].kind != VAR_PORT || f->var.at[own].owner != p)
        return flaw_found(flaw, "a port of %s has no variable of its own", el->name);
    if (storage != (x->stored != VAR_NONE))
        return flaw_found(flaw, "%s: a port that stores is one of a C or an I", el->name);
    if (storage &&
        (x->stored >= f->var.n || f->var.at[x->stored].kind != VAR_STORED || f->var.at[x->stored].owner != p))
        return flaw_found(flaw, "%s: what a port stores is not its own", el->name);
    return verify_place(f, x->at, el->name, flaw);
}

static bool
check_element(const flat_model *f, uint32_t i, char **flaw)
{
    const flat_element *x = &f->element.at[i];
    bool pairs = x->type == EL_TF || x->type == EL_GY;

    if (x->type > EL_GY)
        return flaw_found(flaw, "%s is of no type", x->name);
    if (x->port0 > f->port.n || x->nports > f->port.n - x->port0 || (pairs && x->nports % 2))
        return flaw_found(flaw, "%s: its ports lie behind the last", x->name);
    if (x->law0 > f->law.n || x->nlaws > f->law.n - x->law0)
        return flaw_found(flaw, "%s: its laws lie behind the last", x->name);
    if (x->nlaws != (pairs ? x->nports / 2 : x->nports))
        return flaw_found(flaw, "%s has %u laws and %u ports", x->name, x->nlaws, x->nports);
    for (uint32_t p = x->port0; p < x->port0 + x->nports; p++)
        if (f->port.at[p].element != i)
            return flaw_found(flaw, "%s has a port of another", x->name);
    for (uint32_t k = 0; k < x->nlaws; k++) {
        const flat_law *law = &f->law.at[x->law0 + k];

        if (law->port != x->port0 + (pairs ? 2 * k : k))
            return flaw_found(flaw, "%s: law %u is not of its port", x->name, k);
        if (!inst_known(law->def))
            return flaw_found(flaw, "%s: law %u says nothing", x->name, k);
        if (!verify_inst(f, law->def, x->name, flaw) || !verify_place(f, law->at, x->name, flaw))
            return false;
    }
    return verify_place(f, element_at(x), x->name, flaw);
}

static bool
check_bond(const flat_model *f, uint32_t b, char **flaw)
{
    const flat_bond *x = &f->bond.at[b];
    const char *name = x->name ? x->name : "a bond";

    if (x->from >= f->junction.n || x->to >= f->junction.n)
        return flaw_found(flaw, "%s ends at no junction", name);
    if ((f->junction.at[x->from].type == f->junction.at[x->to].type) != (x->own != VAR_NONE))
        return flaw_found(flaw, "%s: a variable of its own is for junctions of one kind", name);
    if (x->own != VAR_NONE &&
        (x->own >= f->var.n || f->var.at[x->own].kind != VAR_BOND || f->var.at[x->own].owner != b))
        return flaw_found(flaw, "%s: its variable is not its own", name);
    return verify_place(f, x->at, name, flaw);
}

static bool
check_parts(const flat_model *f, char **flaw)
{
    for (uint32_t i = 0; i < f->element.n; i++)
        if (!check_element(f, i, flaw))
            return false;
    for (uint32_t p = 0; p < f->port.n; p++)
        if (f->port.at[p].element >= f->element.n || f->port.at[p].junction >= f->junction.n)
            return flaw_found(flaw, "port %u has no element or no junction", p);
        else if (!check_port(f, p, flaw))
            return false;
    for (uint32_t b = 0; b < f->bond.n; b++)
        if (!check_bond(f, b, flaw))
            return false;
    return true;
}

static bool
check_outputs(const flat_model *f, char **flaw)
{
    for (size_t i = 0; i < f->output.n; i++)
        if (!verify_inst(f, f->output.at[i].def, f->output.at[i].name, flaw))
            return false;
    for (size_t i = 0; i < f->experiment.record.n; i++)
        if (!verify_inst(f, f->experiment.record.at[i].def, f->experiment.record.at[i].name, flaw))
            return false;
    for (size_t i = 0; i < f->experiment.observe.n; i++)
        if (f->experiment.observe.at[i].output >= f->output.n)
            return flaw_found(flaw, "what is observed is no output");
    return true;
}

static bool
check_events(const flat_model *f, char **flaw)
{
    for (size_t w = 0; w < f->when.n; w++) {
        const flat_when *x = &f->when.at[w];

        if (x->reinit0 > f->reinit.n || x->nreinits > f->reinit.n - x->reinit0)
            return flaw_found(flaw, "a `when` sets what is not there");
        if (!verify_inst(f, x->condition, "a condition", flaw) || !verify_inst(f, x->period, "a period", flaw) ||
            !verify_place(f, x->at, "a `when`", flaw))
            return false;
    }
    for (size_t i = 0; i < f->reinit.n; i++)
        if (f->reinit.at[i].target >= f->var.n)
            return flaw_found(flaw, "a `reinit` has no target");
        else if (!verify_inst(f, f->reinit.at[i].value, "a `reinit`", flaw))
            return false;
    for (size_t i = 0; i < f->initial.n; i++) {
        const flat_initial *x = &f->initial.at[i];

        if ((x->port == NONE) == (x->junction == NONE) ||
            (x->port != NONE ? x->port >= f->port.n : x->junction >= f->junction.n))
            return flaw_found(flaw, "an initial value is of neither a port nor a junction");
        if (!verify_inst(f, x->def, "an initial value", flaw))
            return false;
    }
    return true;
}

char *
verify_graph(const flat_model *f)
{
    char *flaw = NULL;

    if (check_variables(f, &flaw) && check_junctions(f, &flaw) && check_parts(f, &flaw) && check_incidences(f, &flaw) &&
        check_outputs(f, &flaw))
        check_events(f, &flaw);
    return flaw;
}
