/* defined.h - what defines a variable: the equation that gives its value, or that is its own among those solved
 * together
 */
#ifndef BG_DEFINED_H
#define BG_DEFINED_H

#include <stdint.h>

enum defined_by {
    DEF_BY_NOTHING,  /* time, parameters, modes; auxiliary variables */
    DEF_BY_TEXT,     /* a signal, or an integral's rate */
    DEF_BY_LAW,      /* of port `of` */
    DEF_BY_TWO_PORT, /* the modulus between port `of` and the next */
    DEF_BY_BALANCE,  /* of junction `of` */
    DEF_BY_BOND,     /* `of`, between two junctions of a kind: their common variables are equal */
    DEF_BY_RATE,     /* a derivative: that of what defines variable `of` */
    DEF_BY_RESIDUAL  /* the condition of the source at port `of` */
};
typedef struct defined {
    uint8_t by; /* enum defined_by */
    uint32_t of;
} defined;

#endif
