/* model_variables.c - names and places; variables of a model: their kinds, and which equation defines them */
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

size_t
model_nvariables(const bg_model *m)
{
    return m->image->nvars;
}

struct model_variable
model_variable(const bg_model *m, var_id v)
{
    return image_variables_of(m->image, m->maker)->at[v];
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
print_where_defined(const bg_model *m, const struct model_variable *v, FILE *out)
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
        print_where_defined(m, &v, out);
        fputs("\n", out);
    }
}
