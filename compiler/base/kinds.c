/* kinds.c - see kinds.h */
#include "kinds.h"

const char *
element_type_name(enum element_type t)
{
    static const char *const name[] = { "Se", "Sf", "R", "C", "I", "TF", "GY" };

    return name[t];
}
