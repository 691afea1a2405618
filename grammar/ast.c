/* ast.c - what can be asked of a tree without knowing what its names stand for */
#include <string.h>

#include "ast.h"

/* The ports of TF and GY that declare none: power goes in at `in` and out at `out`. */
static bool
is_plain_two_port(const ast_node *n)
{
    const char *type = n->type ? n->type + (n->type[0] == 'M') : "";

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
    for (int i = 0; i < n->nitems; i++)
        for (int k = 0; n->item[i].kind == AST_LAW_PORT && k < n->item[i].nports; k++) {
            ports = true;
            if (n->item[i].port[k].name == name)
                return true;
        }
    return !ports && is_plain_two_port(n) && (!strcmp(name, "in") || !strcmp(name, "out"));
}
