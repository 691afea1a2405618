/* dump.c - state equations in the model's names, for `--dump equations` */
#include <stdlib.h>
#include "equations.h"

/* definitions are substituted where they are read, up to expressions of this many operations */
enum { READABLE_NODES = 80 };

struct dumper {
    equations *e;
    bool *shown; /* by variable: listed, or to be listed */
    VEC(var_id) list;
};

/* The expression with small definitions substituted; the remaining variables are listed afterwards. */
static inst
readable(struct dumper *d, inst i)
{
    flat_model *f = d->e->f;

    for (int round = 0; round < 40; round++) {
        VEC(inst) inner = { 0 };
        bool more = false;
        inst next;

        for (uint32_t k = 0; k < i.n; k++) {
            const eq_var *v = &d->e->var.at[f->slot.at[i.first + k]];
            enum var_kind kind = f->var.at[f->slot.at[i.first + k]].kind;
            inst in = INST_NONE;

            if (v->kind == DEF_EXPLICIT && kind != VAR_SIGNAL && ex_fits(f->pool, v->def.root, READABLE_NODES - 1))
                in = v->def, more = true;
            vec_push(&inner, in);
        }
        next = more ? inst_compact(d->e->composer, inst_compose(d->e->composer, i, inner.at)) : i;
        vec_free(&inner);
        if (!more || !ex_fits(f->pool, next.root, READABLE_NODES))
            break;
        i = next;
    }
    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = f->slot.at[i.first + k];

        if (!d->shown[v] && (d->e->var.at[v].kind == DEF_EXPLICIT || d->e->var.at[v].kind == DEF_BLOCK ||
                             f->var.at[v].kind == VAR_MODE)) {
            d->shown[v] = true;
            vec_push(&d->list, v);
        }
    }
    return i;
}

static void
print_equation(struct dumper *d, FILE *out, const char *left, inst i)
{
    strbuf b = { 0 };

    flat_print(d->e->f, readable(d, i), &b);
    fprintf(out, "%s = %s\n", left, b.at);
    strbuf_free(&b);
}

static void
print_block(struct dumper *d, FILE *out, const eq_block *q)
{
    equations *e = d->e;

    fprintf(out, "%s block of %u for", q->linear ? "linear" : "nonlinear", q->n);
    for (uint32_t i = 0; i < q->n; i++) {
        d->shown[e->unknown.at[q->unknown0 + i]] = true;
        fprintf(out, "%s %s", i ? "," : "", var_name(e->f, e->unknown.at[q->unknown0 + i]));
    }
    fputs(":\n", out);
    for (uint32_t i = 0; i < q->n; i++)
        print_equation(d, out, "    0", e->residual.at[q->residual0 + i]);
}

/* Prints the meaning of a mode in terms of the watched value g. */
static void
print_mode(FILE *out, enum mode_kind kind, const char *g)
{
    switch (kind) { /* no default: the compiler warns when a new kind has no text */
    case MODE_LESS: fprintf(out, "%s < 0\n", g); break;
    case MODE_LESS_EQUAL: fprintf(out, "%s <= 0\n", g); break;
    case MODE_EQUAL: fprintf(out, "%s == 0\n", g); break;
    case MODE_PIECE: fprintf(out, "piece at %s\n", g); break;
    case MODE_FLOOR: fprintf(out, "floor(%s)\n", g); break;
    case MODE_SIGN: fprintf(out, "slip of sign(%s)\n", g); break;
    case MODE_DOMAIN: fprintf(out, "root of %s\n", g); break;
    case MODE_GIVEN: fprintf(out, "given at %s\n", g); break;
    case MODE_STICK: fprintf(out, "stick of %s\n", g); break;
    }
}

void
equations_dump(const equations *eq, FILE *out)
{
    struct dumper d = { .e = (equations *)eq }; /* composing adds templates; the equations do not change */
    flat_model *f = eq->f;
    bool *block_shown = bg_calloc(eq->block.n + 1, sizeof *block_shown);

    d.shown = bg_calloc(eq->var.n + 1, sizeof *d.shown);
    fprintf(out, "model %s: %zu state%s\n", f->name, eq->state.n, eq->state.n == 1 ? "" : "s");
    for (size_t i = 0; i < eq->state.n; i++) {
        char *left = bg_format("der(%s)", var_name(f, eq->state.at[i].var));

        print_equation(&d, out, left, inst_var(f, eq->state.at[i].rate));
        free(left);
    }
    for (size_t i = 0; i < eq->output.n; i++) {
        const char *name = i < f->output.n ? f->output.at[i].name : f->experiment.record.at[i - f->output.n].name;
        char *left = bg_format("output %s", name);
        inst def = eq->output.at[i];

        /* an output is a signal of the same name: shows its definition */
        if (i < f->output.n && def.n == 1 && eq->var.at[f->slot.at[def.first]].kind == DEF_EXPLICIT)
            def = eq->var.at[f->slot.at[def.first]].def;
        print_equation(&d, out, left, def);
        free(left);
    }
    for (size_t i = 0; i < d.list.n; i++) {
        var_id v = d.list.at[i];
        const eq_var *x = &eq->var.at[v];

        if (x->kind == DEF_BLOCK) {
            if (!block_shown[x->index]) {
                block_shown[x->index] = true;
                print_block(&d, out, &eq->block.at[x->index]);
            }
        } else if (f->var.at[v].kind == VAR_MODE) {
            const eq_mode *m = &eq->mode.at[f->var.at[v].owner];
            strbuf g = { 0 };

            flat_print(f, readable(&d, m->g), &g);
            fprintf(out, "%s: ", var_name(f, v));
            print_mode(out, (enum mode_kind)m->kind, g.at);
            strbuf_free(&g);
        } else {
            print_equation(&d, out, var_name(f, v), x->def);
        }
    }
    free(block_shown);
    free(d.shown);
    vec_free(&d.list);
}

size_t
equations_nloops(const equations *e)
{
    return e->nloops;
}
