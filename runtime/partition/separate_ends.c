/* separate_ends.c - ends the runs of the parts where the experiment has a `stop when`: see separate.h
 *
 * The last part that the condition reads keeps it and records whether it is true: 0, then 1. Later parts read that
 * record and end at the same instant. Earlier parts cannot know it; they end where the run of the conditioned model
 * ended.
 */
#include <string.h>

#include "separate_inside.h"

/* Does the condition depend on the parts' variables, and not on time alone? */
static bool
reads_parts(const struct splitter *d, const ast_expr *e)
{
    text_refs r = { 0 };
    bool reads = false;

    textrefs_of(e, NULL, (text_ref){ 0 }, &r);
    for (size_t i = 0; i < r.n; i++) {
        ast_part room;
        const ast_ref ref = ast_expr_ref(r.at[i].expr, &room), *x = &ref;
        var_id v = x->nparts > 1 ? VAR_NONE : text_variable(&d->names, x->part[0].name);

        reads |= x->nparts > 1 ? part_owner(d, x) != NONE : v != VAR_NONE && d->last[v] != NONE;
    }
    vec_free(&r);
    return reads;
}

void
ends_find(struct splitter *d)
{
    for (size_t i = 0; i < d->c.ast->ndecls; i++) {
        const ast_experiment *e = d->c.ast->decl[i].kind == AST_DECL_EXPERIMENT ? d->c.ast->decl[i].experiment : NULL;

        for (int k = 0; e && e->model == d->c.flat->ast->name && part_is_asked(d, e) && k < e->nitems; k++) {
            const ast_exp_item *item = &e->item[k];

            if (item->kind != AST_EXP_STOP_WHEN || ends_of(d, item) || !reads_parts(d, item->a))
                continue;
            map_set(&d->ending_at, item->a->at.begin, (uint32_t)d->ending.n);
            vec_push(&d->ending, ((struct ending){ item->a, part_of_expr(d, item->a), part_new_name(d, "stops", ""),
                                                   part_new_name(d, "stops_at", "") }));
        }
    }
}

const struct ending *
ends_of(const struct splitter *d, const ast_exp_item *item)
{
    uint32_t i = item->kind == AST_EXP_STOP_WHEN ? map_get(&d->ending_at, item->a->at.begin) : MAP_NONE;

    return i == MAP_NONE ? NULL : &d->ending.at[i];
}

void
ends_meet(struct one *x, text_refs *read)
{
    for (size_t i = 0; i < x->d->ending.n; i++) {
        const struct ending *e = &x->d->ending.at[i];

        if (e->owner == x->k)
            textrefs_of(e->condition, NULL, (text_ref){ .kind = READS_EXPERIMENT }, read);
        else if (e->owner < x->k)
            part_add_need(x, (struct need){ e->name, e->name, e->owner, VAR_NONE, false });
    }
}

void
ends_declare(const struct one *x, strbuf *out)
{
    for (size_t i = 0; i < x->d->ending.n; i++) {
        const struct ending *e = &x->d->ending.at[i];

        if (e->owner == x->k && x->k + 1 < x->d->out->part.n)
            strbuf_printf(out, "signal %s = 0;\n    when %s { reinit %s = 1; }\n    ", e->name,
                          part_with_inputs(x, e->condition), e->name);
        else if (e->owner > x->k)
            strbuf_printf(out, "input %s [s];\n    ", e->time);
    }
}

const char *
ends_item(const struct one *x, const struct ending *e)
{
    arena *a = x->d->a;

    if (e->owner == x->k)
        return arena_format(a, "stop when %s;", part_with_inputs(x, e->condition));
    return e->owner < x->k ? arena_format(a, "stop when %s > 0.5;", e->name)
                           : arena_format(a, "stop when time >= %s;", e->time);
}

bool
ends_run(struct splitter *d, char **why)
{
    bool fine = true, any = false;

    for (size_t i = 0; i < d->ending.n; i++)
        any |= d->ending.at[i].owner > 0;
    d->end = bg_calloc(d->nruns + 1, sizeof *d->end);
    for (size_t i = 0; any && fine && i < d->nruns; i++) {
        const recording *r = &d->run[i];
        compile_options co = recording_options(r);
        compilation c = { 0 };
        sim_options so = { 0 };
        sim_result result = { 0 };

        fine = compile_text(&c, r->path, r->text, r->length, STAGE_MODEL, &co) &&
               sim_options_from_experiment(c.model, &so);
        if (fine) {
            if (r->adjust)
                r->adjust(r->ctx, c.model, &so);
            fine = simulate(c.model, &so, &result);
            d->end[i] = result.t_end;
        }
        if (!fine)
            *why = bg_format("the conditioned model does not run: %s", diag_first_error(c.sources));
        sim_options_free(&so);
        sim_result_free(&result);
        compile_free(&c);
    }
    return fine;
}
