/* joined.c - see joined.h */
#include "joined.h"

#include "base.h"

uint32_t *
joined_new(size_t n)
{
    uint32_t *set = bg_calloc(n + 1, sizeof *set);

    for (size_t i = 0; i < n; i++)
        set[i] = (uint32_t)i;
    return set;
}

uint32_t
joined_first(uint32_t *set, size_t i)
{
    while (set[i] != i)
        i = set[i] = set[set[i]];
    return (uint32_t)i;
}

void
joined_join(uint32_t *set, size_t a, size_t b)
{
    uint32_t x = joined_first(set, a), y = joined_first(set, b);

    set[x > y ? x : y] = x > y ? y : x;
}
