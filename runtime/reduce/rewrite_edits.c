/* rewrite_edits.c - what goes, as edits of chains, values and experiments */
#include <string.h>

#include "rewrite_inside.h"

static bool
gone_at(const struct plan *p, uint32_t o)
{
    uint32_t part = p->occurrence.at[o].part;

    return part != NONE && p->part.at[part].gone;
}

static const ast_node *
node_at(const struct plan *p, uint32_t o)
{
    return &ast_chain(p->model->stmt[p->occurrence.at[o].stmt])[p->occurrence.at[o].node];
}

/* The bond that is cut between occurrence o and the one behind it, or NULL. */
static const rewrite_bond *
cut_behind(const struct plan *p, uint32_t o)
{
    uint32_t cut = p->occurrence.at[o].cut;

    return cut && !p->request[cut - 1].off ? &p->bond[cut - 1] : NULL;
}

/* The source that takes the place of a bond that is cut: it stands before or behind the rest of the chain. A two-port
 * turned source stands where it did. */
static bool
has_source(const rewrite_bond *b, bool forward)
{
    return b && b->source && !b->two_port && b->forward == forward;
}

/* Is occurrence o the last (first) of its piece? */
static bool
ends_piece(const struct plan *p, uint32_t o)
{
    return o + 1 == p->chain0.at[p->occurrence.at[o].stmt + 1] || gone_at(p, o + 1) || cut_behind(p, o);
}

static bool
begins_piece(const struct plan *p, uint32_t o)
{
    return o == p->chain0.at[p->occurrence.at[o].stmt] || gone_at(p, o - 1) || cut_behind(p, o - 1);
}

static bool
source_before(const struct plan *p, uint32_t o)
{
    return o > p->chain0.at[p->occurrence.at[o].stmt] && !gone_at(p, o - 1) && has_source(cut_behind(p, o - 1), true);
}

static bool
source_behind(const struct plan *p, uint32_t o)
{
    return o + 1 < p->chain0.at[p->occurrence.at[o].stmt + 1] && !gone_at(p, o + 1) &&
           has_source(cut_behind(p, o), false);
}

/* Does occurrence o stand in a piece that still says a bond? */
static bool
in_bond(const struct plan *p, uint32_t o)
{
    return !gone_at(p, o) && (!begins_piece(p, o) || !ends_piece(p, o) || source_before(p, o) || source_behind(p, o));
}

/* The rows of occurrences by part, in order of the text. */
struct rows {
    uint32_t *first, *at;
};

static struct rows
occurrence_rows(const struct plan *p)
{
    struct rows r = { bg_calloc(p->part.n + 2, sizeof(uint32_t)), bg_calloc(p->occurrence.n, sizeof(uint32_t)) };

    for (size_t i = 0; i < p->occurrence.n; i++)
        if (p->occurrence.at[i].part != NONE)
            r.first[p->occurrence.at[i].part + 2]++;
    for (size_t i = 2; i < p->part.n + 2; i++)
        r.first[i] += r.first[i - 1];
    for (size_t i = 0; i < p->occurrence.n; i++)
        if (p->occurrence.at[i].part != NONE)
            r.at[r.first[p->occurrence.at[i].part + 1]++] = (uint32_t)i;
    return r;
}

/* Where the declaration at occurrence o can move: the next place that keeps the name, else the first. NONE: nowhere.
 */
static uint32_t
new_home(const struct plan *p, const struct rows *r, uint32_t o)
{
    uint32_t part = p->occurrence.at[o].part, before = NONE;

    for (uint32_t k = r->first[part]; k < r->first[part + 1]; k++) {
        uint32_t i = r->at[k];

        if (i == o || !in_bond(p, i) || node_at(p, i)->own->type || ast_node_nparts(node_at(p, i)) != 1 ||
            ast_node_nindex(node_at(p, i)))
            continue;
        if (i > o)
            return i;
        if (before == NONE)
            before = i;
    }
    return before;
}

void
rewrite_note(struct plan *p, enum rewrite_kind kind, const char *name, span at)
{
    rewrite_item x = { .kind = kind, .name = name, .at = at };

    vec_push(&p->out->item, x);
}

/* Is a lone node worth a statement of its own? A declaration that carries initial values (its block ends the statement)
 * or has nowhere to go. */
static bool
stays_alone(struct plan *p, const struct rows *r, uint32_t o)
{
    const ast_node *n = node_at(p, o);
    uint32_t home;

    if (!n->own->type)
        return false;
    if (ast_has_block(n) || p->part.at[p->occurrence.at[o].part].turned || (home = new_home(p, r, o)) == NONE)
        return true;
    if (ast_node_at(n).end > ast_node_ref_at(n).end && source_behind(p, home))
        return true; /* both would stand behind the name */
    /* `1:` goes before the name's new place, ` in heat` behind it */
    edits_insert(&p->out->edits, node_at(p, home)->begin, p->text + n->begin, ast_node_ref_at(n).begin - n->begin);
    if (ast_node_at(n).end > ast_node_ref_at(n).end)
        edits_insert(&p->out->edits, ast_node_at(node_at(p, home)).end, p->text + ast_node_ref_at(n).end,
                     ast_node_at(n).end - ast_node_ref_at(n).end);
    rewrite_note(p, REWRITE_MOVE, ast_node_name(n), ast_node_at(node_at(p, home))); /* the line that changes */
    return false;
}

static size_t
indentation(const struct plan *p, size_t at, size_t *begin)
{
    size_t end;

    while (at > 0 && p->text[at - 1] != '\n')
        at--;
    *begin = end = at;
    while (end < p->length && rewrite_is_blank(p->text[end]))
        end++;
    return end - at;
}

/* Puts the piece [o, to) of a chain behind what was put before: the text is settled up to *at, *any: some piece was
 * put. */
static void
put_piece(struct plan *p, const ast_stmt *s, uint32_t o, uint32_t to, bool any, size_t *at)
{
    span piece = span_join(ast_node_at(node_at(p, o)), ast_node_at(node_at(p, to - 1)));
    strbuf gap = { 0 };

    if (any) {
        size_t line, n = indentation(p, s->at.begin, &line);

        strbuf_puts(&gap, p->text[*at - 1] == '}' ? "\n" : ";\n"); /* a block ends its statement */
        strbuf_add(&gap, p->text + line, n);
    }
    if (source_before(p, o))
        strbuf_printf(&gap, "%s -> ", cut_behind(p, o - 1)->text);
    if (gap.n)
        edits_replace(&p->out->edits, *at, piece.begin, gap.at, gap.n);
    else
        edits_delete(&p->out->edits, *at, piece.begin);
    *at = piece.end;
    strbuf_free(&gap);
}

/* Notes the bonds of one chain that are cut. */
static bool
note_cuts(struct plan *p, uint32_t first, uint32_t end)
{
    bool any = false;

    for (uint32_t o = first; o + 1 < end; o++) {
        const rewrite_bond *b = cut_behind(p, o);

        if (!b || gone_at(p, o) || gone_at(p, o + 1))
            continue;
        rewrite_note(p, b->source ? REWRITE_CONDITION : REWRITE_DROP_BOND, b->label, b->arrow);
        p->out->item.at[p->out->item.n - 1].bond = p->occurrence.at[o].cut;
        any = true;
    }
    return any;
}

/* Takes the nodes that are gone and the bonds that are cut out of one chain. */
static void
edit_chain(struct plan *p, const struct rows *r, uint32_t stmt)
{
    const ast_stmt *s = p->model->stmt[stmt];
    uint32_t first = p->chain0.at[stmt], end = p->chain0.at[stmt + 1];
    bool touched = false, any = false, last_stays = false, ends_in_source = false;
    size_t at = s->at.begin, tail; /* the text is settled up to here */

    uint32_t mentioned = NONE;
    bool declared = false;

    for (uint32_t o = first; o < end; o++)
        if (gone_at(p, o)) {
            touched = true;
            declared |= node_at(p, o)->own->type != NULL;
            mentioned = mentioned == NONE ? o : mentioned;
        }
    if (touched && !declared)
        rewrite_note(p, REWRITE_BOND, ast_node_name(node_at(p, mentioned)), ast_node_at(node_at(p, mentioned)));
    if (!(note_cuts(p, first, end) || touched))
        return;
    for (uint32_t o = first; o < end;) {
        uint32_t to = o + 1;

        if (gone_at(p, o)) {
            o++;
            continue;
        }
        while (!ends_piece(p, to - 1))
            to++;
        if (to - o > 1 || source_before(p, o) || source_behind(p, o) || stays_alone(p, r, o)) {
            put_piece(p, s, o, to, any, &at);
            ends_in_source = source_behind(p, to - 1);
            if (ends_in_source) {
                strbuf source = { 0 };

                strbuf_printf(&source, " -> %s", cut_behind(p, to - 1)->text);
                edits_insert(&p->out->edits, at, source.at, source.n);
                strbuf_free(&source);
            }
            any = true;
            last_stays = to == end;
        }
        o = to;
    }
    if (!any) {
        vec_push(&p->lost, s->at);
        return;
    }
    if (last_stays && (!begins_piece(p, end - 1) || source_before(p, end - 1)))
        return; /* the last bond stays, and its name */
    if (!ends_in_source && p->text[at - 1] == '}') {
        edits_delete(&p->out->edits, at, s->at.end); /* a block ends its statement */
        return;
    }
    tail = s->named && !(ends_in_source && source_behind(p, end - 2)) ? ast_chain_bond(s).at.end
                                                                      : ast_node_at(node_at(p, end - 1)).end;
    if (tail <= at)
        return;
    if (tail == s->at.end)
        edits_replace(&p->out->edits, at, tail, ";", 1); /* the block that went ended the statement */
    else
        edits_delete(&p->out->edits, at, tail);
}

/* Initial values that go with their part are said, never dropped silently. */
static void
note_initials(struct plan *p, const struct part *x)
{
    for (int i = 0; x->node && i < x->node->own->block->nitems; i++)
        if (x->node->own->block->item[i].kind == AST_LAW_INITIAL)
            rewrite_note(p, REWRITE_INITIAL, x->name, x->node->own->block->item[i].at);
}

/* The changes inside what stays. */
static void
edit_changes(struct plan *p)
{
    for (size_t i = 0; i < p->nchanges; i++) {
        const rewrite_change *c = &p->change[i];
        uint32_t x = !c->owner || c->inner ? MAP_NONE
                     : c->of_value         ? map_get(&p->value_of, map_ptr_key(c->owner))
                                           : rewrite_find_part(p, c->owner);

        if (!c->inner && (x == MAP_NONE || (c->kind == REWRITE_CLAMP && !p->part.at[x].clamped) ||
                          (c->of_value ? !p->live[rewrite_value_entity(p, x)] : p->part.at[x].gone)))
            continue;
        rewrite_note(p, c->kind, c->name, c->at);
        p->out->item.at[p->out->item.n - 1].owner = c->owner;
        p->out->item.at[p->out->item.n - 1].element = c->element;
        p->out->item.at[p->out->item.n - 1].nelements = c->nelements;
        for (size_t k = 0; k < c->npieces; k++) {
            span at = c->piece[k].at;
            const ast_node *n = c->of_value || c->inner ? NULL : p->part.at[x].node;
            const char *text = c->piece[k].text;

            /* the block that went ended the statement */
            if (c->kind == REWRITE_CLAMP && ast_has_block(n) && at.end == ast_node_at(n).end &&
                p->text[at.end - 1] == '}')
                text = " = 0;";
            edits_replace(&p->out->edits, at.begin, at.end, text, strlen(text));
        }
        if (c->kind == REWRITE_CLAMP)
            note_initials(p, &p->part.at[x]);
    }
}

/* Is it no more what it was: a part that went, was clamped or turned, a bond that was cut or lost an end? */
static bool
part_changed(const struct plan *p, uint32_t i)
{
    const struct part *x = &p->part.at[i];

    for (int k = 0; k < 2; k++)
        if (x->kind == TEXT_BOND && x->end[k] != NONE && p->part.at[x->end[k]].gone)
            return true;
    for (size_t k = 0; x->kind == TEXT_BOND && k < p->nbonds; k++)
        if (!p->request[k].off && p->request[k].name == i)
            return true;
    return x->gone || x->clamped || x->turned;
}

/* element: of an activity, a part without a quantity behind it */
struct expecting {
    const struct plan *p;
    const ast_ref *element;
    const char *gone;
};

static void
text_expects_gone(void *ctx, const ast_ref *r)
{
    struct expecting *w = ctx;
    bool of_part = r == w->element || r->nparts > 1;
    uint32_t part = of_part && r->nparts ? rewrite_find_part(w->p, r->part[0].name) : MAP_NONE;
    uint32_t value = !of_part && r->nparts ? map_get(&w->p->value_of, map_ptr_key(r->part[0].name)) : MAP_NONE;

    if (value != MAP_NONE ? w->p->value.at[value].gone : part != MAP_NONE && part_changed(w->p, part))
        w->gone = r->part[0].name;
}

/* Does what an initial value or a `let` sets go, or does it store nothing any more? */
static bool
target_gone(const struct plan *p, uint32_t t)
{
    return t != NONE && (t < p->part.n ? p->part.at[t].gone || p->part.at[t].clamped : p->value.at[t - p->part.n].gone);
}

/* `spring.q(0) = ...;` goes with the spring. */
static void
edit_initials(struct plan *p)
{
    for (int i = 0; i < p->model->nstmt; i++) {
        const ast_stmt *s = p->model->stmt[i];
        const ast_ref *r = &s->initial.ref;

        if (s->kind != AST_STMT_INITIAL || !target_gone(p, rewrite_initial_target(p, r)))
            continue;
        vec_push(&p->lost, s->at);
        rewrite_note(p, REWRITE_INITIAL, r->part[0].name, s->at);
    }
}

void
rewrite_make_edits(struct plan *p)
{
    struct rows r = occurrence_rows(p);

    for (size_t i = 0; i < p->part.n; i++) {
        const struct part *x = &p->part.at[i];

        if (x->turned && !x->gone)
            edits_replace(&p->out->edits, x->node->begin, ast_node_at(x->node).end, x->turned, strlen(x->turned));
        if (!x->gone)
            continue;
        rewrite_note(p,
                     x->wanted != NONE          ? REWRITE_ELEMENT
                     : x->kind == TEXT_TWO_PORT ? REWRITE_TWO_PORT
                                                : REWRITE_JUNCTION,
                     x->name, x->at);
        note_initials(p, x);
    }
    for (int i = 0; i < p->model->nstmt; i++)
        if (p->model->stmt[i]->kind == AST_STMT_CHAIN)
            edit_chain(p, &r, (uint32_t)i);
    for (uint32_t i = 0; i < p->value.n; i++) {
        if (p->live[rewrite_value_entity(p, i)])
            continue;
        p->value.at[i].gone = true;
        vec_push(&p->lost, p->value.at[i].stmt->at);
        rewrite_note(p, REWRITE_VALUE, p->value.at[i].stmt->value.name, p->value.at[i].stmt->at);
    }
    edit_initials(p);
    for (size_t i = 0; i < p->file->ndecls; i++) {
        const ast_experiment *x = p->file->decl[i].kind == AST_DECL_EXPERIMENT ? p->file->decl[i].experiment : NULL;

        if (!x || !rewrite_of_this_model(p, &p->file->decl[i]))
            continue;
        for (int k = x->inherited; k < x->nitems; k++) {
            struct expecting expecting = { p, x->item[k].expect ? &x->item[k].expect->element : NULL, NULL };
            uint32_t t = x->item[k].kind == AST_EXP_LET ? rewrite_initial_target(p, &x->item[k].ref) : NONE;

            if (x->item[k].kind == AST_EXP_EXPECT)
                ast_each_expected(&x->item[k], text_expects_gone, &expecting);
            if (expecting.gone) {
                vec_push(&p->lost, x->item[k].at);
                rewrite_note(p, REWRITE_EXPECT, expecting.gone, x->item[k].at);
            }
            if (!target_gone(p, t))
                continue;
            vec_push(&p->lost, x->item[k].at);
            rewrite_note(p, REWRITE_LET, x->item[k].ref.part[0].name, x->item[k].at);
        }
    }
    rewrite_delete_statements(&p->out->edits, p->text, p->length, p->lost.at, p->lost.n);
    edit_changes(p);
    free(r.first);
    free(r.at);
}
