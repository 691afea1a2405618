/* rewrite_parts.c - the parts and values of a text, and who is bonded to whom */
#include <string.h>

#include "rewrite_inside.h"

static bool
two_port_type(const char *type)
{
    return !strcmp(type, "TF") || !strcmp(type, "GY") || !strcmp(type, "MTF") || !strcmp(type, "MGY");
}

static enum text_part_kind
kind_of(const ast_node *n)
{
    if (!strcmp(n->own->type, "0") || !strcmp(n->own->type, "1"))
        return TEXT_JUNCTION;
    if (!two_port_type(n->own->type))
        return TEXT_ELEMENT;
    for (int i = 0; i < n->own->block->nitems; i++)
        if (n->own->block->item[i].kind == AST_LAW_PORT)
            return TEXT_ELEMENT; /* a field: it stands with fewer bonds too */
    return TEXT_TWO_PORT;
}

uint32_t
rewrite_find_part(const struct plan *p, const char *name)
{
    return map_get(&p->part_of, map_ptr_key(name));
}

static void
declare_part(struct plan *p, const char *name, enum text_part_kind kind, const ast_node *where, span at, bool fixed)
{
    struct part x = { .name = name,
                      .kind = kind,
                      .node = where,
                      .at = at,
                      .wanted = NONE,
                      .end = { NONE, NONE },
                      .fixed = fixed,
                      .stored_read = SPAN_NONE };

    if (rewrite_find_part(p, name) != MAP_NONE)
        return;
    map_set(&p->part_of, map_ptr_key(name), (uint32_t)p->part.n);
    vec_push(&p->part, x);
}

void
rewrite_declare(struct plan *p, const ast_stmt *s, bool nested)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int i = 0; i < s->nnodes; i++)
            if (ast_chain(s)[i].own->type && ast_node_nparts(&ast_chain(s)[i]))
                declare_part(p, ast_node_name(&ast_chain(s)[i]), kind_of(&ast_chain(s)[i]), &ast_chain(s)[i],
                             ast_node_at(&ast_chain(s)[i]), nested);
        if (s->named)
            declare_part(p, ast_chain_bond(s).name, TEXT_BOND, NULL, ast_chain_bond(s).name_at, true);
        break;
    case AST_STMT_PORT:
        for (int i = 0; i < s->port.n; i++)
            if (s->port.junction[i].own->type && ast_node_nparts(&s->port.junction[i]))
                declare_part(p, ast_node_name(&s->port.junction[i]), TEXT_JUNCTION, &s->port.junction[i],
                             ast_node_at(&s->port.junction[i]), true);
        break;
    case AST_STMT_VALUE:
        if (map_get(&p->value_of, map_ptr_key(s->value.name)) == MAP_NONE) {
            struct value v = { .stmt = s, .output = nested || s->value.kind == AST_OUTPUT };

            map_set(&p->value_of, map_ptr_key(s->value.name), (uint32_t)p->value.n);
            vec_push(&p->value, v);
        } else { /* a signal, and `output NAME;` that shows it */
            struct value *v = &p->value.at[map_get(&p->value_of, map_ptr_key(s->value.name))];

            v->output |= s->value.kind == AST_OUTPUT;
            if (!v->stmt->value.value)
                v->stmt = s;
        }
        break;
    case AST_STMT_FOR:
        for (int i = 0; i < s->loop.n; i++)
            rewrite_declare(p, s->loop.body[i], true);
        break;
    case AST_STMT_IF:
        for (int i = 0; i < s->cond.nthen; i++)
            rewrite_declare(p, s->cond.then[i], true);
        for (int i = 0; i < s->cond.nother; i++)
            rewrite_declare(p, s->cond.other[i], true);
        break;
    case AST_STMT_WITHOUT:
    case AST_STMT_INITIAL:
    case AST_STMT_WHEN: break;
    }
}

/* Two neighbours in a chain, and the request for their bond. */
struct pair {
    uint32_t end[2], cut;
};

void
rewrite_gather_bonds(struct plan *p)
{
    VEC(struct pair) pair = { 0 };
    map cut_of = { 0 };

    for (size_t i = 0; i < p->nbonds; i++) {
        p->request[i] = (struct request){ NONE, NONE, NONE, true };
        map_set(&cut_of, p->bond[i].arrow.begin, (uint32_t)i);
    }
    for (int i = 0; i < p->model->nstmt; i++) {
        const ast_stmt *s = p->model->stmt[i];
        uint32_t before = NONE;

        vec_push(&p->chain0, (uint32_t)p->occurrence.n);
        if (s->kind != AST_STMT_CHAIN)
            continue;
        for (int k = 0; k < s->nnodes; k++) {
            const ast_node *n = &ast_chain(s)[k];
            struct occurrence o = { (uint32_t)i, (uint32_t)k,
                                    ast_node_nparts(n) ? rewrite_find_part(p, ast_node_name(n)) : NONE, 0 };

            vec_push(&p->occurrence, o);
            if (k && before != NONE && o.part != NONE) {
                uint32_t cut = map_get(&cut_of, ast_chain(s)[k].arrow);

                vec_push(&pair, ((struct pair){ { before, o.part }, cut == MAP_NONE ? 0 : cut + 1 }));
                if (cut != MAP_NONE) {
                    p->occurrence.at[p->occurrence.n - 2].cut = cut + 1;
                    p->request[cut] = (struct request){ before, o.part, NONE, false };
                    if (s->named && k == s->nnodes - 1)
                        p->request[cut].name = rewrite_find_part(p, ast_chain_bond(s).name);
                    if (p->bond[cut].two_port)
                        p->part.at[p->bond[cut].forward ? o.part : before].turned = p->bond[cut].text;
                }
                if (s->named && k == s->nnodes - 1) {
                    struct part *bond = &p->part.at[rewrite_find_part(p, ast_chain_bond(s).name)];

                    bond->end[0] = before;
                    bond->end[1] = o.part;
                }
            }
            before = o.part;
        }
    }
    vec_push(&p->chain0, (uint32_t)p->occurrence.n);
    cleanup_init(&p->clean, p->part.n, 2 * pair.n);
    for (size_t i = 0; i < 2 * pair.n; i++)
        p->clean.part[pair.at[i / 2].end[i % 2]].nlinks++;
    cleanup_rows(&p->clean);
    p->link_cut = bg_calloc(2 * pair.n + 1, sizeof *p->link_cut);
    for (size_t i = 0; i < 2 * pair.n; i++) {
        const struct pair *y = &pair.at[i / 2];
        const cleanup_part *x = &p->clean.part[y->end[i % 2]];

        p->link_cut[x->link0 + x->nlinks] = y->cut;
        cleanup_put(&p->clean, y->end[i % 2], (cleanup_link){ .to = y->end[1 - i % 2] });
    }
    vec_free(&pair);
    map_free(&cut_of);
}
