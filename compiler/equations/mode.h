/* mode.h - kinds of modes: what a condition that is frozen between events says (g is the value that is watched) */
#ifndef BG_MODE_H
#define BG_MODE_H

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
