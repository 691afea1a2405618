/* components.h - the instances that a model declares, as parts that go whole
 *
 * An instance may go as an element does: with its bonds, by its name; one of a loop or an array by `without` of it.
 */
#ifndef BG_COMPONENTS_H
#define BG_COMPONENTS_H

#include "compile.h"

typedef struct component {
    const char *name; /* interned with the names of the tree */
    uint32_t origin;  /* of the flat model */
    span at;          /* its declaration */
    size_t nelements, nstorages;
    bool keep; /* something in it is kept by the experiment */
} component;
typedef VEC(component) component_list;

/* In the order of their first elements. of: [element] its component, or NONE; malloc'ed. */
uint32_t *components_find(const compilation *c, component_list *out);

#endif
