/* units_inside.h - declarations shared by the files units*.c; no other file includes it */
#ifndef BG_UNITS_INSIDE_H
#define BG_UNITS_INSIDE_H

#include "units.h"

enum { NBASE = 7 };

/* Exponents are kept in sixtieths: then halves, thirds, quarters, fifths and sixths are integers. */
enum { WHOLE = 60 };

typedef struct dimension {
    int16_t power[NBASE];
} dimension; /* in 1/WHOLE */

struct unit {
    dimension dim;
    double scale, offset; /* value_SI = scale*value + offset */
    const char *text;
    const unit *si; /* coherent unit of the same dimension; a coherent unit points to itself */
};

/* ---- units_text.c ---- */
extern const char *const units_base[NBASE]; /* "kg", "m", ... */
/* A readable form; named: N instead of kg.m/s^2 */
const char *units_dimension_text(arena *a, const dimension *d, bool named);

/* ---- units_meant.c ---- */
/* The unit that was probably meant by a text that is none, or NULL. known: is a text a unit? */
const char *units_meant(arena *a, const char *text, bool (*known)(void *ctx, const char *text), void *ctx);

#endif
