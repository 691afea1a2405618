/* net_form.h - the nets of a model (equations/switched.h) as shared by its instances: unknowns, conditions and modes by
 * number */
#ifndef BG_NET_FORM_H
#define BG_NET_FORM_H

#include "source.h"

struct equations;

/* Held unknowns that depend on each other, with as many conditions, the differences whose signs are their modes, and
 * all modes that any of it reads. */
typedef struct net_part {
    uint32_t held0, n, watch0, nwatch, mode0, nmodes;
    bool curved; /* its conditions are nonlinear in the unknowns */
    span at;
} net_part;

typedef struct net_form {
    size_t n, nmodes, nheld, nwatch, nx;
    net_part *net;   /* [n] */
    uint32_t *watch; /* [nwatch] the mode that each difference decides */
    uint32_t *mode;  /* modes that nets read, net by net */
    uint32_t *near;  /* [nheld] the mode that tells how near to its limit a law counts as there (approach.h); NONE */
    span *at;        /* [nheld] the ideal switch whose condition it is; SPAN_NONE: another condition */
    uint32_t *group; /* [nx] group of each state, by unit, of ngroups */
    uint32_t *unit;  /* [nheld] unit of each, of nunits */
    size_t ngroups, nunits;
} net_form;

/* position: index of states in x, by variable. NULL: there are no nets. */
net_form *net_form_new(const struct equations *e, const uint32_t *position);
void net_form_free(net_form *f);
/* Joins modes that one net reads (joined.h). */
void net_form_join(const net_form *f, uint32_t *set);

#endif
