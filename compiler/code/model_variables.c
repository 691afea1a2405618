/* model_variables.c - names and places; the variables of a model: what they are, and which equation defines them */
#include <stdlib.h>

#include "model_inside.h"

const char *
model_name(const bg_model *m)
{
    return m->image->name;
}

span
model_place(const bg_model *m)
{
    return m->image->at;
}

span
model_run_place(const bg_model *m)
{
    return m->image->run_at;
}

sources *
model_sources(const bg_model *m)
{
    return m->image->sources;
}

const char *
model_output_name(const bg_model *m, size_t i)
{
    return m->image->output[i];
}

/* Whose equation it is, and where it stands */
static void
name_equation(const flat_model *f, uint32_t of, struct model_variable *v)
{
    switch (v->by) {
    case DEF_BY_LAW:
    case DEF_BY_TWO_PORT:
    case DEF_BY_RESIDUAL:
        v->equation = port_name(f, of);
        v->equation_at = port_law(f, of)->at;
        break;
    case DEF_BY_BALANCE:
        v->equation = f->junction.at[of].name;
        v->equation_at = f->junction.at[of].at;
        break;
    case DEF_BY_BOND:
        v->equation = f->bond.at[of].name;
        v->equation_at = f->bond.at[of].at;
        break;
    case DEF_BY_RATE:
        v->equation = f->var.at[of].name;
        v->equation_at = f->var.at[of].at;
        break;
    case DEF_BY_TEXT: v->equation_at = v->at; break;
    case DEF_BY_NOTHING: break;
    }
}

/* Given as a number: nothing it is computed from is a parameter itself. */
static bool
is_number(const flat_model *f, const flat_var *x)
{
    if (x->kind != VAR_PARAM || x->role != ROLE_PARAMETER || !x->name)
        return false;
    for (uint32_t k = 0; inst_known(x->def) && k < x->def.n; k++)
        if (f->var.at[f->slot.at[x->def.first + k]].kind != VAR_LITERAL)
            return false;
    return true;
}

static struct model_variable *
make_table(image *m, const maker *k)
{
    const flat_model *f = k->f;
    const equations *e = k->e;
    struct model_variable *table = bg_calloc(f->var.n + 1, sizeof *table);

    m->variable_names = arena_new();
    for (uint32_t i = 0; i < f->var.n; i++) {
        const flat_var *v = &f->var.at[i];
        bool state = e->var.at[i].kind == DEF_STATE;
        const eq_var *d = &e->var.at[state ? e->state.at[e->var.at[i].index].rate : i];

        table[i] = (struct model_variable){ .name = v->name ? arena_strdup(m->variable_names, v->name) : NULL,
                                            .at = v->at,
                                            .unit = v->unit,
                                            .display = v->display,
                                            .kind = v->kind,
                                            .role = v->role,
                                            .state = state,
                                            .number = is_number(f, v),
                                            .by = (enum defined_by)d->by,
                                            .equation_at = SPAN_NONE };
        name_equation(f, d->of, &table[i]);
        if (table[i].equation)
            table[i].equation = arena_strdup(m->variable_names, table[i].equation);
    }
    return table;
}

const struct model_variable *
image_variables(image *m, maker *k)
{
    struct model_variable *table = atomic_load(&m->variable);

    if (table)
        return table;
    maker_lock(k);
    table = atomic_load(&m->variable);
    if (!table)
        atomic_store(&m->variable, table = make_table(m, k));
    maker_unlock(k);
    return table;
}

size_t
model_nvariables(const bg_model *m)
{
    return m->image->nvars;
}

struct model_variable
model_variable(const bg_model *m, var_id v)
{
    return image_variables(m->image, m->maker)[v];
}

/* ---------------------------------------------------------------- as text */

static const char *
what_it_is(const struct model_variable *v)
{
    static const char *const by_kind[] = {
        [VAR_TIME] = "time",      [VAR_PARAM] = "parameter",   [VAR_LITERAL] = "number",
        [VAR_SIGNAL] = "signal",  [VAR_INTEGRAL] = "integral", [VAR_COMMON] = "common to a junction",
        [VAR_PORT] = "of a port", [VAR_BOND] = "of a bond",    [VAR_STORED] = "stored",
        [VAR_RATE] = "rate",      [VAR_MODE] = "condition",    [VAR_AUX] = "auxiliary"
    };

    return v->state ? "state" : by_kind[v->kind];
}

static void
print_equation(const bg_model *m, const struct model_variable *v, FILE *out)
{
    static const char *const whose[] = {
        [DEF_BY_LAW] = "law of", [DEF_BY_TWO_PORT] = "ratio of", [DEF_BY_BALANCE] = "balance of",
        [DEF_BY_BOND] = "bond",  [DEF_BY_RATE] = "rate of",      [DEF_BY_RESIDUAL] = "condition of"
    };
    int line, column;

    if (v->by == DEF_BY_TEXT)
        fputs("its definition", out);
    else if (v->by != DEF_BY_NOTHING)
        fprintf(out, "%s %s", whose[v->by], v->equation ? v->equation : "two junctions");
    if (span_known(v->equation_at)) {
        source_place(m->image->sources, v->equation_at.file, v->equation_at.begin, &line, &column);
        fprintf(out, ", line %d", line);
    }
}

void
model_print_variables(const bg_model *m, FILE *out)
{
    for (uint32_t i = 1; i < model_nvariables(m); i++) {
        struct model_variable v = model_variable(m, i);

        if (v.kind == VAR_LITERAL || v.kind == VAR_MODE || v.kind == VAR_AUX)
            continue;
        fputs(v.name, out);
        if (v.unit)
            fprintf(out, " [%s]", unit_text(v.unit));
        fprintf(out, ": %s", what_it_is(&v));
        if (v.by != DEF_BY_NOTHING)
            fputs(v.state ? "; its rate by " : "; by ", out);
        print_equation(m, &v, out);
        fputs("\n", out);
    }
}
