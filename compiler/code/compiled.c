/* compiled.c - see compiled.h */
#include "compiled.h"

#include "codegen_c.h"
#include "maker_inside.h"
#include "model_inside.h"

bg_model *
model_new(flat_model *f, causal *c, equations *e, bool long_run)
{
    maker *k = maker_new(f, c, e, long_run);
    image *i = image_new(k);
    bg_model *m = model_of(i, k, parameter_store_new(i->parameters, f));

    m->owner = true;
    return m;
}

const flat_model *
model_flat(const bg_model *m)
{
    return m->maker->f;
}

const equations *
model_equations(const bg_model *m)
{
    return m->maker->e;
}

const causal *
model_causal(const bg_model *m)
{
    return m->maker->c;
}

inst
model_mode_watched(const bg_model *m, size_t k)
{
    return m->maker->e->mode.at[k].g;
}

double
model_value(const bg_model *m, inst i)
{
    VEC(double) slot = { 0 };
    double value;

    maker_lock(m->maker);
    for (uint32_t k = 0; k < i.n; k++)
        vec_push(&slot, m->value[m->maker->f->slot.at[i.first + k]]);
    value = ex_eval(m->maker->f->pool, i.root, slot.at);
    maker_unlock(m->maker);
    vec_free(&slot);
    return value;
}

char *
model_ir(bg_model *m)
{
    maker *k = m->maker;
    char *text = NULL;
    program *g;

    maker_lock(k);
    g = model_plan_part(k, PART_RHS);
    g->keep_ir = true;
    if (program_code(g, (layout){ m->image->position }, k->long_run)) {
        text = g->ir;
        g->ir = NULL;
    }
    program_free(g);
    maker_unlock(k);
    return text;
}

static void
note_place(strbuf *out, char space, size_t i, const char *what)
{
    strbuf text = { 0 };

    strbuf_printf(&text, "%c[%zu] %s", space, i, what);
    c_comment(out, text.at);
    strbuf_puts(out, "\n");
    strbuf_free(&text);
}

char *
model_c(bg_model *m)
{
    maker *k = m->maker;
    program *g;
    strbuf out = { 0 };

    maker_lock(k);
    strbuf_printf(&out,
                  "/* Rates dx of the states x of %s, in SI units. m: conditions as they are, 0 or 1, pieces of "
                  "tables,\n   signs; then what ideal switches determine. Compile with -ffp-contract=off for the "
                  "bits that bgc computes. */\n",
                  k->f->name);
    for (size_t i = 0; i < m->image->nstates; i++)
        note_place(&out, 'x', i, model_state(m, i).name);
    for (size_t i = 0; i < m->image->nmodes; i++)
        note_place(&out, 'm', i, model_mode(m, i).text);
    g = model_plan_part(k, PART_RHS);
    program_write_c(g, (layout){ m->image->position }, m->value, &out);
    program_free(g);
    maker_unlock(k);
    return out.at;
}
