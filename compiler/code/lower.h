/* lower.h - translates templates to code through a back end (backend.h) */
#ifndef BG_LOWER_H
#define BG_LOWER_H

#include "backend.h"

/* State of a node while a template is translated. Conditions are kept as flags and converted to numbers only where
 * needed. */
struct site {
    code_value number, flag;
    bool once;
};

typedef struct lowering {
    pool *p;
    const backend *back;
    void *of;
    VEC(struct site) site; /* by node */
    VEC(code_value) slot;  /* values of the slots of the current template */
    VEC(bool) once;
} lowering;
void lowering_free(lowering *l);

/* A function for one template. used: by slot, does the template read it? */
code_value lower_kernel(lowering *l, node root, const struct gen_slot *slot, const bool *used, uint32_t nslots);
/* A function for a sequence of assignments; long sequences are divided. place: number of each place, for code that does
 * not contain places; NULL. */
code_value lower_chunk(lowering *l, const struct gen_assign *a, size_t n, const map *place);
static inline uint64_t
lower_place(struct gen_ref r)
{
    return (uint64_t)r.space << 32 | r.index;
}
/* The number of a place, in the order of first use; its position is at[number]. MAP_NONE: time has no place. */
uint32_t lower_name_place(map *place, struct gen_ref r, int32_t *at);

#endif
