/* kinds.h - kinds of variables, elements, definitions, conditions and events, used by all stages and the runtime */
#ifndef BG_KINDS_H
#define BG_KINDS_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t var_id;
#define VAR_NONE NONE

enum var_kind {
    VAR_TIME,     /* id 0 */
    VAR_PARAM,    /* parameter, constant, constant input: def reads only VAR_PARAM and VAR_LITERAL */
    VAR_LITERAL,  /* a number in the text; has a value */
    VAR_SIGNAL,   /* signal, input given by a formula, hidden part of an expression: has a def */
    VAR_INTEGRAL, /* integral(e, e0), a state: def is its rate, init its initial value */
    VAR_COMMON,   /* common variable of the junction `owner` */
    VAR_PORT,     /* term of port `owner` in its junction's balance (effort at a 1-junction, flow at a 0-junction) */
    VAR_BOND,     /* term of the bond `owner` between junctions of one kind */
    VAR_STORED,   /* stored quantity q or p of the storage port `owner` */
    /* time derivative of variable `owner`; for der(expr) of a hidden VAR_SIGNAL; defined by the equations stage */
    VAR_RATE,
    /* made by the equations stage: */
    VAR_MODE, /* a condition frozen between events (0 or 1), or the active piece of a table */
    VAR_AUX
};
/* What the text declares a variable as. */
enum var_role { ROLE_NONE, ROLE_PARAMETER, ROLE_CONSTANT, ROLE_INPUT, ROLE_SIGNAL, ROLE_OUTPUT };
enum element_type { EL_SE, EL_SF, EL_R, EL_C, EL_I, EL_TF, EL_GY };
enum quantity { Q_EFFORT, Q_FLOW, Q_DISPLACEMENT, Q_MOMENTUM }; /* e f q p */
static inline bool
element_is_source(enum element_type t)
{
    return t == EL_SE || t == EL_SF;
}
static inline bool
element_is_two_port(enum element_type t)
{
    return t == EL_TF || t == EL_GY;
}
static inline bool
element_is_storage(enum element_type t)
{
    return t == EL_C || t == EL_I;
}
const char *element_type_name(enum element_type t); /* "Se" */
const char *quantity_letter(enum quantity q);       /* "e" */

/* Kind of a `when` (flat.h) */
enum when_kind { WHEN_TURNS, WHEN_SAMPLES, WHEN_ASSERTS, WHEN_STOPS };

/* What defines a variable: the equation that gives its value, or its equation among those solved together. */
enum defined_by {
    DEF_BY_NOTHING,  /* time, parameters, modes; auxiliary variables */
    DEF_BY_TEXT,     /* a signal, or the rate of an integral */
    DEF_BY_LAW,      /* the law of port `of` */
    DEF_BY_TWO_PORT, /* the modulus between port `of` and the next one */
    DEF_BY_BALANCE,  /* the balance of junction `of` */
    DEF_BY_BOND,     /* bond `of` between two junctions of one kind, whose common variables are equal */
    DEF_BY_RATE,     /* the time derivative of the equation that defines variable `of` */
    DEF_BY_RESIDUAL  /* the condition of the residual source at port `of` */
};
typedef struct defined {
    uint8_t by; /* enum defined_by */
    uint32_t of;
} defined;

/* Meaning of a condition that is frozen between events (g is the value that is watched). */
enum mode_kind {
    MODE_LESS,       /* 1 where g < 0; g is the difference of the two sides */
    MODE_LESS_EQUAL, /* 1 where g <= 0 */
    MODE_EQUAL,      /* 1 where g == 0; its zero is located like that of the others */
    MODE_PIECE,      /* piece of a table at g; switches where g passes a corner */
    MODE_FLOOR,      /* floor(g); switches where g passes an integer */
    MODE_SIGN,       /* sign(x) as slip: -1, 0, 1; g = x */
    /* never switches: 0; g is the argument of a root, 1 where the root is not needed. A run ends where g is clearly
     * below 0 */
    MODE_DOMAIN,
    MODE_GIVEN, /* never switches: a number set by the runtime; g is 0, or the variable whose delayed value it is */
    MODE_STICK  /* 1 while sign(x) is the value that keeps x at 0; g = sign(x), which must be within -1..1. Not finite
                   where nothing keeps x at 0 */
};

#endif
