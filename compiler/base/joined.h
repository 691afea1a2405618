/* joined.h - union of sets: items numbered 0 .. n-1 are joined pair by pair
 *
 * A set is represented by its smallest member. Nearly linear in joins and look-ups.
 */
#ifndef BG_JOINED_H
#define BG_JOINED_H

#include <stddef.h>
#include <stdint.h>

/* Each item is a set of its own. free() it. */
uint32_t *joined_new(size_t n);
/* The smallest member of the set that contains i. */
uint32_t joined_first(uint32_t *set, size_t i);
void joined_join(uint32_t *set, size_t a, size_t b);

#endif
