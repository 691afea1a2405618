/* domain.h - what depends on the domain of a bond: its power, and the names of its effort and flow */
#ifndef BG_DOMAIN_H
#define BG_DOMAIN_H

#include "flat.h"

/* Power of a bond at this junction, over nodes of its effort and flow; the n variables that its domain also reads are
 * in slots first .. first+n. */
uint32_t flat_power_reads(const flat_model *f, uint32_t junction, const var_id **reads);
node flat_power(flat_model *f, uint32_t junction, node e, node flow, uint32_t first);

/* "temperature" for a bond in a domain, otherwise "effort" or "flow" */
const char *effort_name(const flat_model *f, uint32_t junction);
const char *flow_name(const flat_model *f, uint32_t junction);
/* The same for a variable that is effort or flow of a bond in a domain; NULL for others. */
const char *quantity_name(const flat_model *f, var_id v);

/* ---- names of efforts and flows in expressions ---- */

/* The meaning of a name at a bond of this junction: its domain's names for effort and flow, and the usual letters (F,
 * v; u, i; p, Q; T, w; ...). common_effort: only an effort can be read. False: no such name. */
bool quantity_by_name(const flat_model *f, uint32_t junction, bool common_effort, const char *name, enum quantity *is);
bool quantity_of_domain(const flat_domain *d, const char *name); /* does the domain declare the name? d may be NULL */
/* The unit that belongs to a letter, if it differs from `is`; NULL if it agrees. */
const char *quantity_unit(unit_system *u, const char *name, bool effort, const unit *is);
/* The usual letter for a unit; NULL: there is none. */
const char *quantity_name_of(unit_system *u, bool effort, const unit *is);

#endif
