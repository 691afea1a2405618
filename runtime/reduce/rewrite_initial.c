/* rewrite_initial.c - see rewrite_initial.h */
#include "rewrite_initial.h"

#include <string.h>

static bool
place_is_within(span at, size_t place)
{
    return at.begin <= place && place < at.end;
}
static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
known_already(const rewrite_changes *list, span at)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].at.begin == at.begin)
            return true;
    return false;
}

/* Takes an item out of a node's block; the last takes the block with it. */
static bool
take_item(const char *text, const ast_node *n, const ast_law_item *item, arena *a, rewrite_changes *out)
{
    rewrite_piece *piece = arena_alloc(a, sizeof *piece);
    size_t begin = item->at.begin;

    while (begin > n->begin && is_blank(text[begin - 1]))
        begin--;
    *piece = (rewrite_piece){ { item->at.file, begin, item->at.end }, "" };
    if (n->own->block->nitems == 1) {
        if (begin == n->begin || text[begin - 1] != '{')
            return false; /* a comment stands in it */
        for (begin--; begin > n->begin && is_blank(text[begin - 1]);)
            begin--;
        *piece = (rewrite_piece){ { item->at.file, begin, ast_node_at(n).end }, ";" };
    }
    vec_push(out, ((rewrite_change){ .kind = REWRITE_INITIAL,
                                     .owner = ast_node_name(n),
                                     .name = ast_node_name(n),
                                     .at = item->at,
                                     .piece = piece,
                                     .npieces = 1 }));
    return true;
}

/* In the model itself, not in loops or conditional parts: their text says several. */
static bool
take_of_model(const char *text, const ast_model *m, size_t place, arena *a, rewrite_changes *out)
{
    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];

        if (s->kind == AST_STMT_INITIAL && place_is_within(s->at, place) && !known_already(out, s->at)) {
            vec_push(out,
                     ((rewrite_change){ .kind = REWRITE_INITIAL,
                                        .at = s->at,
                                        .name = arena_strndup(a, text + s->initial.ref.at.begin,
                                                              s->initial.ref.part[s->initial.ref.nparts - 1].at.begin -
                                                                  1 - s->initial.ref.at.begin) }));
            return true;
        }
        if (s->kind != AST_STMT_CHAIN || !place_is_within(s->at, place))
            continue;
        for (int k = 0; k < s->nnodes; k++) {
            const ast_node *n = &ast_chain(s)[k];

            for (int j = 0; j < n->own->block->nitems && ast_node_nparts(n) == 1; j++)
                if (n->own->block->item[j].kind == AST_LAW_INITIAL && place_is_within(n->own->block->item[j].at, place))
                    return !known_already(out, n->own->block->item[j].at) &&
                           take_item(text, n, &n->own->block->item[j], a, out);
        }
    }
    return false;
}

static bool
take_let(const compilation *now, const ast_experiment *x, size_t place, arena *a, rewrite_changes *out)
{
    for (int i = 0; i < x->nitems; i++) {
        const ast_exp_item *item = &x->item[i];
        const char *text = source_text(now->sources, item->at.file);

        if (item->kind != AST_EXP_LET || !item->initial || !place_is_within(item->at, place) ||
            known_already(out, item->at))
            continue;
        /* spring.q(0): the name in front of the last dot */
        span name = { item->at.file, item->ref.at.begin, item->ref.part[item->ref.nparts - 1].at.begin - 1 };

        vec_push(out, ((rewrite_change){ .kind = REWRITE_LET,
                                         .at = item->at,
                                         .name = arena_strndup(a, text + name.begin, name.end - name.begin) }));
        return true;
    }
    return false;
}

size_t
rewrite_contradicted(const compilation *tried, const edits *e, const compilation *now, arena *a, rewrite_changes *out)
{
    size_t before = out->n;

    for (size_t i = 0; i < diag_count(tried->sources); i++) {
        const diagnostic *x = diag_at(tried->sources, i);
        size_t place = edits_origin(e, x->at.begin);
        bool found;

        if (x->severity != SEV_ERROR || strcmp(x->code, "initial-contradiction") || !span_known(x->at) ||
            x->at.file != tried->ast->file)
            continue;
        found = take_of_model(source_text(now->sources, now->ast->file), now->flat->ast, place, a, out);
        for (size_t k = 0; k < now->ast->ndecls && !found; k++)
            if (now->ast->decl[k].kind == AST_DECL_EXPERIMENT)
                found = take_let(now, now->ast->decl[k].experiment, place, a, out);
    }
    return out->n - before;
}
