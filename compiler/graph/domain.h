/* domain.h - what reports call effort and flow: the names of their domain */
#ifndef BG_DOMAIN_H
#define BG_DOMAIN_H

#include "flat.h"

/* "temperature" of a bond in a domain, else "effort" and "flow" */
const char *effort_name(const flat_model *f, uint32_t junction);
const char *flow_name(const flat_model *f, uint32_t junction);
/* The same of a variable that is effort or flow of a bond in a domain; NULL for others. */
const char *quantity_name(const flat_model *f, var_id v);

#endif
