/* net_form.h - the nets of a model (equations/switched.h) as its instances share them: which unknowns, conditions and
 * modes belong together, by number
 */
#ifndef BG_NET_FORM_H
#define BG_NET_FORM_H

#include "source.h"

struct equations;

/* Held unknowns that act on each other: as many conditions, the watches whose signs their modes are, and all modes that
 * any of it reads. */
typedef struct net_part {
    uint32_t held0, n, watch0, nwatch, mode0, nmodes;
    bool curved; /* its conditions are not linear in the unknowns */
    span at;
} net_part;

typedef struct net_form {
    size_t n, nmodes, nheld, nwatch, nx;
    net_part *net;   /* [n] */
    uint32_t *watch; /* [nwatch] the mode whose difference it is */
    uint32_t *mode;  /* modes that nets read, one net after the other */
    span *at;        /* [nheld] the ideal switch whose condition it is; SPAN_NONE: another's */
    uint32_t *group; /* [nx] which of ngroups: those of the same unit */
    uint32_t *unit;  /* [nheld] which of nunits */
    size_t ngroups, nunits;
} net_form;

/* position: of states in x, by variable. NULL: there are no nets. */
net_form *net_form_new(const struct equations *e, const uint32_t *position);
void net_form_free(net_form *f);

#endif
