/* reads.h - what each variable of a model is computed from
 *
 * usage    var_reads r;
 *          reads_find(f, &r);
 *          for (const var_id *x = reads_of(&r, v, &n); n--; x++) ...
 * reads    the variables in its definition; of a rate the variable whose rate it is; of a delayed value the delayed
 *          variable; of what events and samples set, the values given and the conditions. Initial values do not count:
 *          they are no signals
 */
#ifndef BG_READS_H
#define BG_READS_H

#include "flat.h"

typedef struct var_reads {
    uint32_t *first; /* variable v reads read[first[v] .. first[v + 1]) */
    var_id *read;
} var_reads;

/* f: as elaborated, before its conditions became modes (STAGE_GRAPH). */
void reads_find(const flat_model *f, var_reads *out);
void reads_free(var_reads *r);

static inline const var_id *
reads_of(const var_reads *r, var_id v, size_t *n)
{
    *n = r->first[v + 1] - r->first[v];
    return r->read + r->first[v];
}

#endif
