/* joined.h - things numbered 0 .. n-1 that are joined into sets, one pair after the other
 *
 * The least of a set stands for it. Nearly linear in joins and questions.
 */
#ifndef BG_JOINED_H
#define BG_JOINED_H

#include <stddef.h>
#include <stdint.h>

/* Each by itself. free() it. */
uint32_t *joined_new(size_t n);
/* The least of the set that i is in. */
uint32_t joined_first(uint32_t *set, size_t i);
void joined_join(uint32_t *set, size_t a, size_t b);

#endif
