/* separate_turns.c - `when` blocks whose condition belongs to one partition and whose jumps belong to others: see
 * separate.h
 *
 * Several conditions that turn true at one instant act in the order of the text. If each partition located the event in
 * its own spline, the instants would differ slightly. So the first partition that can evaluate the condition tells the
 * later ones, through a value that changes at the event,
 *
 *     when y > h { reinit turned = 1 - turned; }
 *
 * and the later ones act on that change, at the block's place in the text; what the block reads of other partitions was
 * sampled at the same place (separate_samples.c):
 *
 *     when abs(turned - turned_seen) > 0.5 and time >= starts_at { reinit b = a_sampled; reinit turned_seen = ...; }
 *
 * A condition that is true at the start is read as 1 from the start; the term with time makes the block act there.
 */
#include <string.h>

#include "separate_inside.h"

/* The partition whose text has the jumps of a target. */
static uint32_t
part_of_target(const struct splitter *d, const char *target)
{
    uint32_t k = map_get(&d->part, part_key(target));

    return k != MAP_NONE ? k : part_of_value(d, target);
}

static bool
find_part_read(const struct splitter *d, const ast_expr *e, uint32_t *first)
{
    ast_part room;
    const ast_ref ref = ast_expr_ref(e, &room), *r = &ref;
    var_id v = r->nparts > 1 ? VAR_NONE : text_variable(&d->names, r->part[0].name);
    uint32_t k = part_owner(d, r);

    if (k == NONE && (v == VAR_NONE || d->last[v] == NONE))
        return false;
    k = k == NONE ? 0 : k; /* several partitions: any of them will do */
    *first = k < *first ? k : *first;
    return true;
}

/* The first partition that can decide the condition: the last one that the condition reads. A condition on time alone
 * can be decided by every partition, but where they read each other one of them tells the others. NONE: nobody has to
 * be told. */
static uint32_t
who_tells(const struct splitter *d, const ast_stmt *s)
{
    uint32_t first = NONE, target = 0, tells = 0;
    bool any = false, across = false;
    text_refs r = { 0 };

    textrefs_of(s->when.cond, NULL, (text_ref){ 0 }, &r);
    for (size_t i = 0; i < r.n; i++)
        any |= find_part_read(d, r.at[i].expr, &first);
    if (any)
        tells = part_of_expr(d, s->when.cond);
    first = NONE;
    for (int k = 0; k < s->when.n; k++) {
        uint32_t of = part_of_target(d, s->when.reinit[k].target.part[0].name);

        r.n = 0;
        textrefs_of(s->when.reinit[k].value, NULL, (text_ref){ 0 }, &r);
        for (size_t i = 0; i < r.n; i++)
            across |= find_part_read(d, r.at[i].expr, &first) && first < of;
        target = of > target ? of : target;
    }
    vec_free(&r);
    if (!any)
        tells = across ? first : target;
    return target > tells ? tells : NONE;
}

void
turns_find(struct splitter *d)
{
    const ast_model *m = d->c.flat->ast;

    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];
        uint32_t tells = s->kind == AST_STMT_WHEN && s->when.cond && s->when.n ? who_tells(d, s) : NONE;

        if (tells == NONE)
            continue;
        if (!d->starts_at)
            d->starts_at = part_new_name(d, "starts_at", "");
        map_set(&d->turn_at, s->at.begin, (uint32_t)d->turn.n);
        vec_push(&d->turn, ((struct turn){ s, tells, part_new_name(d, "turned", ""), NULL }));
        d->turn.at[d->turn.n - 1].seen = part_new_name(d, d->turn.at[d->turn.n - 1].turned, "_seen");
    }
}

const struct turn *
turns_of(const struct splitter *d, const ast_stmt *block)
{
    uint32_t i = map_get(&d->turn_at, block->at.begin);

    return i == MAP_NONE ? NULL : &d->turn.at[i];
}

bool
turns_told(const struct one *x, const ast_stmt *block)
{
    const struct turn *t = turns_of(x->d, block);

    return t && x->k > t->owner;
}

bool
turns_decide(const text_ref *t)
{
    const ast_stmt *s = t->item;

    return t->expr->at.begin >= s->when.cond->at.begin && t->expr->at.end <= s->when.cond->at.end;
}

void
turns_meet(struct one *x, text_refs *read)
{
    for (size_t i = 0; i < x->d->turn.n; i++)
        if (x->d->turn.at[i].owner == x->k)
            textrefs_of(x->d->turn.at[i].block->when.cond, NULL, (text_ref){ .kind = READS_EXPERIMENT }, read);
}

void
turns_listen(struct one *x, const ast_stmt *block)
{
    const struct turn *t = turns_of(x->d, block);

    if (t && x->k > t->owner)
        part_add_need(x, (struct need){ t->turned, t->turned, t->owner, VAR_NONE, false });
}

void
turns_declare(const struct one *x, strbuf *out)
{
    bool told = false;

    for (size_t i = 0; i < x->d->turn.n; i++) {
        const struct turn *t = &x->d->turn.at[i];

        if (t->owner == x->k)
            strbuf_printf(out, "signal %s = 0;\n    ", t->turned);
        if (t->owner < x->k && part_needs(x, t->turned)) {
            strbuf_printf(out, "signal %s = 0;\n    ", t->seen);
            told = true;
        }
    }
    if (told)
        strbuf_printf(out, "input %s [s];\n    ", x->d->starts_at);
}

const char *
turns_condition(const struct one *x, const ast_stmt *block)
{
    const struct turn *t = turns_of(x->d, block);

    return turns_told(x, block)
               ? arena_format(x->d->a, "abs(%s - %s) > 0.5 and time >= %s", t->turned, t->seen, x->d->starts_at)
               : part_with_inputs(x, block->when.cond);
}

void
turns_note(const struct one *x, const ast_stmt *block, strbuf *out)
{
    const struct turn *t = turns_of(x->d, block);
    const char *own = !t                                            ? NULL
                      : t->owner == x->k                            ? t->turned
                      : x->k > t->owner && part_needs(x, t->turned) ? t->seen
                                                                    : NULL;

    if (own)
        strbuf_printf(out, "reinit %s = 1 - %s; ", own, own);
}

void
turns_start(const struct one *x, const ast_experiment *e, strbuf *out)
{
    const char *start = "0 [s]";
    bool told = false;

    for (size_t i = 0; i < x->d->turn.n; i++)
        told |= x->d->turn.at[i].owner < x->k && part_needs(x, x->d->turn.at[i].turned);
    for (int i = 0; told && i < e->nitems; i++)
        if (e->item[i].kind == AST_EXP_SET && !strcmp(e->item[i].ref.part[0].name, "start"))
            start = part_source(x, e->item[i].a->at);
    if (told)
        strbuf_printf(out, "    let %s = %s;\n", x->d->starts_at, start);
}
