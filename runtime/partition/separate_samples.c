/* separate_samples.c - values of other partitions in sampled blocks, at the right instant and in the order of the text:
 * see separate.h
 *
 * Blocks that act at one instant do so in the order of the text, and each reads what the blocks before it left. A
 * recorded signal tells the values before and after the instant, not those in between. So what a sampled block reads of
 * another partition is sampled there, by a block at the same place of the text, and the sampled value is recorded:
 *
 *     every T { load_e_sampled = load.e; }
 *
 * A value that is held between samples is held in each partition that reads it. There the same block sets it to the
 * recorded value:
 *
 *     every T { u = u_sampled; }
 */
#include <string.h>

#include "separate_inside.h"

/* ---------------------------------------------------------------- found once */

static void
see_past(void *ctx, const ast_ref *r)
{
    map_set(ctx, r->at.begin, 1);
}

/* The arguments of these functions are read over time, not at the instant. */
static void
see_past_arguments(void *ctx, const ast_expr *e)
{
    if (e->kind != AST_CALL ||
        (strcmp(e->call.name, "delay") && strcmp(e->call.name, "der") && strcmp(e->call.name, "integral")))
        return;
    for (int i = 0; i < e->call.nargs; i++)
        ast_each_ref(e->call.arg[i], see_past, ctx);
}

void
samples_find(struct splitter *d)
{
    const flat_model *f = d->c.flat;

    ast_visit_model(f->ast, see_past_arguments, &d->over_time);
    for (int pass = 0; pass < 2; pass++) /* a value that other events set too does not count as held by samples */
        for (size_t w = 0; w < f->when.n; w++)
            for (uint32_t k = 0; k < f->when.at[w].nreinits; k++) {
                const flat_var *v = &f->var.at[f->reinit.at[f->when.at[w].reinit0 + k].target];

                if (v->kind == VAR_INTEGRAL && v->holds && (f->when.at[w].kind == WHEN_SAMPLES) == (pass == 0))
                    map_set(&d->held,
                            part_key(names_intern_z(d->c.names,
                                                    var_name(f, f->reinit.at[f->when.at[w].reinit0 + k].target))),
                            pass == 0);
            }
}

bool
samples_hold(const struct splitter *d, const char *value)
{
    return map_get(&d->held, part_key(value)) == 1;
}

bool
samples_read(const struct splitter *d, const text_ref *t)
{
    const ast_stmt *s = t->kind == READS_JUMP ? t->item : NULL;

    return s && s->kind == AST_STMT_WHEN && (s->when.period || (turns_of(d, s) && !turns_decide(t)));
}

/* ---------------------------------------------------------------- reads of one part */

/* The name by which both the owner's text and the reader's text know a value that the block reads. */
static uint32_t
sampled_of(struct splitter *d, const ast_stmt *block, const char *text, uint32_t owner)
{
    uint64_t key = bg_hash_bytes(text, strlen(text), block->at.begin);
    uint32_t i = map_get(&d->sampled_at, key);

    if (i != MAP_NONE)
        return i;
    map_set(&d->sampled_at, key, (uint32_t)d->sampled.n);
    vec_push(&d->sampled, ((struct sampled){ block, text, part_new_name(d, text, "_sampled"), owner,
                                             text_variable(&d->names, text) }));
    return (uint32_t)d->sampled.n - 1;
}

/* Notes that the block reads a value of another partition; returns its name here. */
static const char *
read_sampled(struct one *x, const ast_stmt *block, const char *text, uint32_t owner)
{
    uint32_t i = sampled_of(x->d, block, text, owner);
    struct sampled s = x->d->sampled.at[i];

    part_add_need(x, (struct need){ s.name, s.name, owner, s.var, false });
    return s.name;
}

/* A value that depends on several partitions gets a definition of its own for the block. */
static const char *
variant_of(struct one *x, const ast_stmt *block, const ast_stmt *value)
{
    uint64_t key = bg_hash_bytes(value->value.name, strlen(value->value.name), block->at.begin);
    uint32_t i = map_get(&x->variant_at, key);

    if (i == MAP_NONE) {
        map_set(&x->variant_at, key, i = (uint32_t)x->variant.n);
        vec_push(&x->variant,
                 ((struct variant){ block, value, part_new_name(x->d, value->value.name, "_sampled"), NULL }));
    }
    return x->variant.at[i].name;
}

/* What replaces the reference in the block; NULL: the reference stays. */
static const char *
in_block(struct one *x, const ast_stmt *block, const text_ref *t)
{
    struct splitter *d = x->d;
    ast_part room;
    const ast_ref ref = ast_expr_ref(t->expr, &room), *r = &ref;
    const char *name = r->part[0].name;
    bool now = map_get(&d->over_time, r->at.begin) == MAP_NONE;
    uint32_t owner = part_owner(d, r);
    /* a partition that runs before the one that decides does not know when */
    const struct turn *turn = turns_of(d, block);
    var_id v;

    if (now && owner < x->k && (!turn || owner >= turn->owner) && !(r->nparts == 1 && samples_hold(d, name)))
        return read_sampled(x, block, part_source(x, r->at), owner);
    v = now && owner == NONE && r->nparts == 1 ? text_variable(&d->names, name) : VAR_NONE;
    if (v != VAR_NONE && d->sole[v] == MANY_SUBGRAPHS && d->c.flat->var.at[v].kind == VAR_SIGNAL &&
        part_statement(d, name) && part_statement(d, name)->value.value)
        return variant_of(x, block, part_statement(d, name));
    part_meet(x, t);
    return r->nparts > 1 ? part_input(x, r) : NULL;
}

void
samples_meet(struct one *x, const text_ref *t)
{
    const char *name;

    if (map_get(&x->replaced_at, t->expr->at.begin) != MAP_NONE)
        return;
    name = in_block(x, t->item, t);
    if (!name || map_get(&x->replaced_at, t->expr->at.begin) != MAP_NONE)
        return;
    map_set(&x->replaced_at, t->expr->at.begin, 1);
    vec_push(&x->replaced, ((struct replaced){ t->expr->at, name }));
}

void
samples_meet_variants(struct one *x)
{
    for (size_t i = 0; i < x->variant.n; i++) { /* grows */
        struct variant v = x->variant.at[i];
        const ast_expr *e = v.value->value.value;
        text_refs r = { 0 };
        edits change = { 0 };
        strbuf b = { 0 };
        char *why = NULL;

        textrefs_of(e, NULL, (text_ref){ .kind = READS_VALUE, .reader = v.name }, &r);
        for (size_t k = 0; k < r.n; k++) {
            span at = r.at[k].expr->at;
            const char *name = in_block(x, v.block, &r.at[k]);

            if (name)
                edits_replace(&change, at.begin - e->at.begin, at.end - e->at.begin, name, strlen(name));
        }
        if (edits_seal(&change, e->at.end - e->at.begin, &why))
            edits_apply(&change, x->text + e->at.begin, e->at.end - e->at.begin, &b);
        x->variant.at[i].text = arena_strndup(x->d->a, b.n ? b.at : "0", b.n ? b.n : 1);
        free(why);
        strbuf_free(&b);
        edits_free(&change);
        vec_free(&r);
    }
}

/* ---------------------------------------------------------------- the text */

void
samples_declare(const struct one *x, strbuf *out)
{
    const struct splitter *d = x->d;

    for (size_t i = 0; i < x->variant.n; i++) {
        const struct variant *v = &x->variant.at[i];

        strbuf_printf(out, "signal %s%s = %s;\n    ", v->name,
                      part_unit(d, text_variable(&d->names, v->value->value.name)), v->text);
    }
    for (size_t i = 0; i < d->sampled.n; i++)
        if (d->sampled.at[i].owner == x->k)
            strbuf_printf(out, "signal %s%s = 0;\n    ", d->sampled.at[i].name, part_unit(d, d->sampled.at[i].var));
}

void
samples_jumps(const struct one *x, const ast_stmt *block, strbuf *out)
{
    const struct splitter *d = x->d;

    for (size_t i = 0; i < d->sampled.n; i++) {
        const struct sampled *s = &d->sampled.at[i];

        if (s->owner == x->k && s->block == block)
            strbuf_printf(out, "reinit %s = %s; ", s->name, s->text);
    }
}
