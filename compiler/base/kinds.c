/* kinds.c - see kinds.h */
#include "kinds.h"

const char *
element_type_name(enum element_type t)
{
    static const char *const name[] = { "Se", "Sf", "R", "C", "I", "TF", "GY" };

    return name[t];
}

const char *
quantity_letter(enum quantity q)
{
    static const char
        *const letter[] = { [Q_EFFORT] = "e", [Q_FLOW] = "f", [Q_DISPLACEMENT] = "q", [Q_MOMENTUM] = "p" };

    return letter[q];
}
