/* program_c.c - a program as C: functions, data, and the schedule that calls them */
#include <stdlib.h>

#include "codegen_c.h"
#include "lower.h"
#include "program_inside.h"

struct writer {
    program *g;
    c_code code;
    lowering lower;
    const char **affine, **tables; /* by class: names of its kernels */
    const char **chunk;            /* by chunk */
    strbuf data, calls;
};

static const char arguments[] = "double t, const double *x, double *w, const double *p, const double *m";

/* ---------------------------------------------------------------- functions */

static const char *
kernel(struct writer *w, const struct class_ *c, bool affine)
{
    struct gen_slot *slot = program_kernel_slots(w->g, c, affine);
    uint32_t n = c->nv + c->np;
    bool *used = bg_calloc(n + 1, sizeof *used);
    const char *name;

    ex_slots_used(w->lower.p, c->root, used, n);
    name = lower_kernel(&w->lower, c->root, slot, used, n);
    free(used);
    free(slot);
    return name;
}

/* Numbers the places of a chunk of a block. */
static void
name_places(const struct writer *w, const chunk *c, map *place)
{
    VEC(bool) used = { 0 };

    for (size_t i = 0; i < c->n; i++) {
        uint32_t bound = ex_slot_bound(w->lower.p, c->assign[i].root);

        used.n = 0;
        vec_resize(&used, bound);
        ex_slots_used(w->lower.p, c->assign[i].root, used.at, bound);
        for (uint32_t k = 0; k < bound; k++)
            if (used.at[k])
                lower_name_place(place, c->assign[i].slot[k], c->place);
        lower_name_place(place, c->assign[i].to, c->place);
    }
    vec_free(&used);
}

static void
write_integers(strbuf *out, const char *type, const char *name, size_t number, const int64_t *wide,
               const int32_t *narrow, size_t n)
{
    strbuf_printf(out, "%s %s_%zu[] = {", type, name, number);
    for (size_t i = 0; i < n; i++)
        strbuf_printf(out, "%s%lld", i % 12 ? ", " : i ? ",\n    " : " ", (long long)(wide ? wide[i] : narrow[i]));
    strbuf_puts(out, n ? " };\n" : " 0 };\n");
}

static const char *
located(struct writer *w, size_t k)
{
    const chunk *c = &w->g->chunk.at[k];
    map place = { 0 };
    const char *name;

    name_places(w, c, &place);
    name = lower_chunk(&w->lower, c->assign, c->n, &place);
    map_free(&place);
    return name;
}

static void
write_functions(struct writer *w)
{
    const program *g = w->g;
    const struct planner *pl = g->planner;

    w->affine = bg_calloc(pl->class_.n + 1, sizeof *w->affine);
    w->tables = bg_calloc(pl->class_.n + 1, sizeof *w->tables);
    w->chunk = bg_calloc(g->chunk.n + 1, sizeof *w->chunk);
    for (size_t k = 0; k < pl->class_.n; k++) {
        if (pl->class_.at[k].has_affine)
            w->affine[k] = kernel(w, &pl->class_.at[k], true);
        if (pl->class_.at[k].has_table)
            w->tables[k] = kernel(w, &pl->class_.at[k], false);
    }
    for (size_t k = 0; k < g->chunk.n; k++)
        w->chunk[k] = g->chunk.at[k].place ? located(w, k)
                                           : lower_chunk(&w->lower, g->chunk.at[k].assign, g->chunk.at[k].n, NULL);
}

/* ---------------------------------------------------------------- schedule */

/* A run of a kernel: its positions, and what it reads through tables. */
static void
call_kernel(struct writer *w, size_t number)
{
    const item *it = &w->g->item.at[number];
    const struct class_ *c = &w->g->planner->class_.at[it->code / 2];
    uint32_t n = c->nv + c->np;

    write_integers(&w->data, "static const int64_t", "base", number, it->base, NULL, n);
    if (it->code & 1) {
        for (uint32_t k = 0; k < c->nv; k++)
            if (c->tables[k]) {
                strbuf name = { 0 };

                strbuf_printf(&name, "table_of_%zu", number);
                write_integers(&w->data, "static const int32_t", name.at, k, NULL, c->tables[k], c->n);
                strbuf_free(&name);
            }
        strbuf_printf(&w->data, "static const int32_t *const through_%zu[] = {", number);
        for (uint32_t k = 0; k < n; k++)
            if (k < c->nv && c->tables[k])
                strbuf_printf(&w->data, "%s table_of_%zu_%u", k ? "," : "", number, (unsigned)k);
            else
                strbuf_puts(&w->data, k ? ", 0" : " 0");
        strbuf_puts(&w->data, n ? " };\n" : " 0 };\n");
        strbuf_printf(&w->calls, "    %s(t, x, w, p, m, %s, base_%zu, through_%zu, %lld, %lld, %lld);\n",
                      w->tables[it->code / 2], it->to_out ? "dx" : "w", number, number, (long long)it->obase,
                      (long long)it->begin, (long long)it->end);
    } else {
        strbuf_printf(&w->calls, "    %s(t, x, w, p, m, %s, base_%zu, 0, %lld, %lld, %lld);\n", w->affine[it->code / 2],
                      it->to_out ? "dx" : "w", number, (long long)it->obase, (long long)it->begin, (long long)it->end);
    }
}

static void
call_chunks(struct writer *w, const block_code *code, size_t n, const char *to, uint32_t block)
{
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&w->data, "    %s(t, x, w, p, m, %s, place_%u + %u);\n", w->chunk[code[i].chunk], to,
                      (unsigned)block, (unsigned)code[i].place0);
}

static void
write_block(struct writer *w, uint32_t k)
{
    const program_block *b = &w->g->routine->block.at[k];
    const block_class *c = &w->g->routine->block_class.at[b->class_];
    strbuf *out = &w->data;

    strbuf_printf(out,
                  "\n/* Block %u: the %u unknowns from w[%u] on make residuals r[] zero. The partial derivatives stand "
                  "column by column:\n   those of unknown j are value[columns_%u[j]] to value[columns_%u[j + 1]], in "
                  "rows_%u[]. */\n",
                  (unsigned)k, (unsigned)b->n, (unsigned)b->w0, (unsigned)k, (unsigned)k, (unsigned)k);
    write_integers(out, "const int64_t", "columns", k, b->column_start, NULL, b->n + 1);
    write_integers(out, "const int64_t", "rows", k, b->row, NULL, (size_t)b->column_start[b->n]);
    write_integers(out, "static const int32_t", "place", k, NULL, b->place, c->nplaces);
    strbuf_printf(out, "void\nresiduals_%u(%s, double *r)\n{\n", (unsigned)k, arguments);
    call_chunks(w, c->residual.at, c->residual.n, "r", k);
    strbuf_printf(out, "}\n\nvoid\npartials_%u(%s, double *value)\n{\n", (unsigned)k, arguments);
    call_chunks(w, c->partial.at, c->partial.n, "value", k);
    strbuf_printf(out, "}\n\n/* Is to be given: finds the unknowns of block %u. */\nvoid solve_%u(%s);\n\n",
                  (unsigned)k, (unsigned)k, arguments);
    strbuf_printf(&w->calls, "    solve_%u(t, x, w, p, m);\n", (unsigned)k);
}

static void
write_schedule(struct writer *w)
{
    for (size_t i = 0; i < w->g->item.n; i++) {
        const item *it = &w->g->item.at[i];

        switch (it->kind) {
        case ITEM_KERNEL: call_kernel(w, i); break;
        case ITEM_CHUNK: strbuf_printf(&w->calls, "    %s(t, x, w, p, m, dx);\n", w->chunk[it->code]); break;
        default:
            for (int64_t k = it->begin; k < it->end; k++)
                write_block(w, (uint32_t)k);
        }
    }
}

/* Parameter data, each with what it is in the words of the text. */
static void
write_parameters(const program *g, const double *value, strbuf *out)
{
    const routine *r = g->routine;
    double *room = bg_calloc(r->book.room + 1, sizeof *room);

    strbuf_puts(out, "/* p, as the model has it */\nconst double parameters[] = {\n");
    for (size_t i = 0; i < r->parameter.n; i++) {
        strbuf text = { 0 };

        strbuf_puts(out, "    ");
        c_number(out, formula_value(&r->book, r->parameter.at[i], value, room));
        strbuf_puts(out, ", ");
        flat_print(g->e->f, g->parameter.at[i], &text);
        c_comment(out, text.at ? text.at : "");
        strbuf_puts(out, "\n");
        strbuf_free(&text);
    }
    strbuf_puts(out, r->parameter.n ? "};\n\n" : "    0\n};\n\n");
    free(room);
}

void
program_write_c(program *g, layout l, const double *value, strbuf *out)
{
    struct writer w = { .g = g };

    c_code_begin(&w.code);
    w.lower = (lowering){ .p = g->e->f->pool, .back = &codegen_c, .of = &w.code };
    program_lay_out(g, l);
    write_functions(&w);
    write_schedule(&w);
    c_code_head(&w.code, out);
    write_parameters(g, value, out);
    strbuf_puts(out, w.code.functions.at ? w.code.functions.at : "");
    strbuf_puts(out, w.data.at ? w.data.at : "");
    strbuf_printf(out, "\n/* w: room for %u numbers */\nvoid rates(%s, double *dx);\n", (unsigned)g->routine->nw,
                  arguments);
    strbuf_printf(out, "void\nrates(%s, double *dx)\n{\n", arguments);
    strbuf_puts(out, w.calls.at ? w.calls.at : "    (void)t, (void)x, (void)w, (void)p, (void)m, (void)dx;\n");
    strbuf_puts(out, "}\n");
    c_code_end(&w.code);
    lowering_free(&w.lower);
    strbuf_free(&w.data);
    strbuf_free(&w.calls);
    free(w.affine);
    free(w.tables);
    free(w.chunk);
}
