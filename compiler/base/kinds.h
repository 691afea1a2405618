/* kinds.h - the kinds there are of variables, elements, definitions, conditions and events: what all stages and the
 * runtime call them
 */
#ifndef BG_KINDS_H
#define BG_KINDS_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t var_id;
#define VAR_NONE NONE

enum var_kind {
    VAR_TIME,     /* id 0 */
    VAR_PARAM,    /* parameter, constant, input held constant: def over VAR_PARAM and VAR_LITERAL only */
    VAR_LITERAL,  /* a number of the text; value */
    VAR_SIGNAL,   /* signal, input given by a formula, hidden parts of expressions: def */
    VAR_INTEGRAL, /* integral(e, e0): a state; def is its rate, init its initial value */
    VAR_COMMON,   /* common variable of junction `owner` */
    VAR_PORT,     /* what port `owner` adds to its junction's balance (effort at a 1, flow at a 0) */
    VAR_BOND,     /* own variable of a bond between junctions of one kind, `owner` */
    VAR_STORED,   /* q or p of the storage port `owner` */
    VAR_RATE, /* time derivative of variable `owner`: der(expr) owns a hidden VAR_SIGNAL; defined by the equations stage
               */
    /* made by the equations stage: */
    VAR_MODE, /* a frozen condition (0 or 1), or a table's piece */
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

/* What a `when` of the text is (flat.h) */
enum when_kind { WHEN_TURNS, WHEN_SAMPLES, WHEN_ASSERTS, WHEN_STOPS };

/* What defines a variable: the equation that gives its value, or that is its own among those solved together */
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

/* What a condition that is frozen between events says (g is the value that is watched) */
enum mode_kind {
    MODE_LESS,       /* 1 where g < 0, g the condition's difference */
    MODE_LESS_EQUAL, /* 1 where g <= 0 */
    MODE_EQUAL,      /* 1 where g == 0; its zero is located like the others' */
    MODE_PIECE,      /* piece of a table at g; switches where g passes a corner */
    MODE_FLOOR,      /* floor(g); switches where g passes a whole number */
    MODE_SIGN,       /* slip of sign(x): -1, 0, 1; g = x */
    MODE_DOMAIN, /* nothing switches: 0; g is what a root is taken of, 1 where the root is not asked for. Clearly below
                    0 a run ends. */
    MODE_GIVEN,  /* nothing switches: a number that the runtime gives; g is 0, or what a delayed value is the past of */
    MODE_STICK   /* 1 while sign(x) is what keeps x at 0; g = sign(x), which it may be while within -1..1. Not finite
                    where nothing keeps x. */
};

#endif
