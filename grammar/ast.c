/* ast.c - queries on a tree that need no meaning of names */
#include <string.h>

#include "ast.h"

static const ast_block no_block = { .at = { NONE, 0, 0 } };
static const ast_more no_more = { .domain_at = { NONE, 0, 0 }, .args_at = { NONE, 0, 0 } };
const ast_own ast_own_nothing = { .block = &no_block, .more = &no_more };

/* Is it a TF or GY without declared ports? Power enters at `in` and leaves at `out`. */
static bool
is_plain_two_port(const ast_node *n)
{
    const char *type = n->own->type ? n->own->type + (n->own->type[0] == 'M') : "";

    return !strcmp(type, "TF") || !strcmp(type, "GY");
}

bool
ast_own_name(const ast_node *n, const char *name)
{
    bool ports = false;

    if (!n)
        return false;
    if (name[0] && !name[1] && strchr("efqp", name[0]))
        return true;
    for (int i = 0; i < n->own->block->nitems; i++)
        for (int k = 0; n->own->block->item[i].kind == AST_LAW_PORT && k < n->own->block->item[i].nports; k++) {
            ports = true;
            if (n->own->block->item[i].port[k].name == name)
                return true;
        }
    return !ports && is_plain_two_port(n) && (!strcmp(name, "in") || !strcmp(name, "out"));
}

bool
ast_is_component(const ast_model *m)
{
    for (int k = 0; k < m->nstmt; k++)
        if (m->stmt[k]->kind == AST_STMT_PORT)
            return true;
    return false;
}
