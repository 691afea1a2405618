/* components.h - the instances of components that a model declares, as parts that are taken out whole
 *
 * An instance is taken out like an element: with its bonds, by its name; an instance in a loop or an array by
 * `without`.
 */
#ifndef BG_COMPONENTS_H
#define BG_COMPONENTS_H

#include "compile.h"

typedef struct component {
    const char *name; /* interned with the names of the tree */
    uint32_t origin;  /* of the flat model */
    span at;          /* its declaration */
    size_t nelements, nstorages;
    bool keep; /* the experiment keeps something in it */
} component;
typedef VEC(component) component_list;

/* In the order of their first elements. of: [element] its component, or NONE; free() it. */
uint32_t *components_find(const compilation *c, component_list *out);

#endif
