/* lower.h - templates as code, through a back end (backend.h) */
#ifndef BG_LOWER_H
#define BG_LOWER_H

#include "backend.h"

/* What is known of a node while a template is walked. Conditions are kept as flags and become numbers only where asked
 * for. */
struct site {
    code_value number, flag;
    bool once;
};

typedef struct lowering {
    pool *p;
    const backend *back;
    void *of;
    VEC(struct site) site; /* by node */
    VEC(code_value) slot;  /* values of the slots of the template that is walked */
    VEC(bool) once;
} lowering;
void lowering_free(lowering *l);

/* A function for one template. used: by slot, does the template read it? */
code_value lower_kernel(lowering *l, node root, const struct gen_slot *slot, const bool *used, uint32_t nslots);
/* A function for assignments one after the other, of bounded size: longer ones are cut. place: number of each place,
 * where the code does not contain them; NULL. */
code_value lower_chunk(lowering *l, const struct gen_assign *a, size_t n, const map *place);
static inline uint64_t
lower_place(struct gen_ref r)
{
    return (uint64_t)r.space << 32 | r.index;
}
/* The number of a place, in the order in which places are first named: where it stands is at[number]. MAP_NONE: time
 * has none. */
uint32_t lower_name_place(map *place, struct gen_ref r, int32_t *at);

#endif
