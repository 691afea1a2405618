/* units_inside.h - what the units*.c files share; nobody else includes it */
#ifndef BG_UNITS_INSIDE_H
#define BG_UNITS_INSIDE_H

#include "units.h"

enum { NBASE = 7 };

/* Powers are kept in sixtieths: halves, thirds, quarters, fifths and sixths are whole numbers then. */
enum { WHOLE = 60 };

typedef struct dimension {
    int16_t power[NBASE];
} dimension; /* in 1/WHOLE */

struct unit {
    dimension dim;
    double scale, offset; /* value_SI = scale*value + offset */
    const char *text;
    const unit *si; /* coherent unit of the same dimension; itself for those */
};

/* ---- units_text.c ---- */
extern const char *const units_base[NBASE]; /* "kg", "m", ... */
/* A readable form; named: N rather than kg.m/s^2 */
const char *units_dimension_text(arena *a, const dimension *d, bool named);

/* ---- units_meant.c ---- */
/* The unit that a text which is none was probably meant for, or NULL. known tells whether a text is one. */
const char *units_meant(arena *a, const char *text, bool (*known)(void *ctx, const char *text), void *ctx);

#endif
